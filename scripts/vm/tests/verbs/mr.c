// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: keys, kinds of memory, large ones, and their end while in use.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "lib.h"

#define MIB	(1ULL << 20)

/* ---- keys ---- */

#define LIVE	8

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* A WRITE by this key must fail. */
static void check_dead(uint32_t rkey)
{
	struct remote r = { .rkey = rkey };
	struct pair p;

	pair_make(&p, SETUP(.bytes = PAGE, .depth = 1));
	r.addr = (uintptr_t)p.b.buf;
	POST(&p.a, .id = 1, .len = 8, .remote = &r);
	EXPECT(p.a.scq, 1, REM_ACCESS_ERR);
	pair_free(&p);
}

struct registrar {
	pthread_t thread;
	uint32_t *given;
	size_t n;
};

/* A few regions at a time; each makes place for the next. */
static void *give_keys(void *arg)
{
	struct registrar *r = arg;
	struct ibv_mr *live[LIVE] = {};
	void *page = map_pages(PAGE);
	size_t i;

	for (i = 0; i < r->n; i++) {
		struct ibv_mr **mr = &live[i % LIVE];

		if (*mr)
			CHECK_OK(ibv_dereg_mr(*mr));
		*mr = reg(&node_b, page, PAGE, ACCESS_ALL);
		r->given[i] = (*mr)->rkey;
	}
	for (i = 0; i < LIVE; i++)
		CHECK_OK(ibv_dereg_mr(live[i]));
	return NULL;
}

/* Recipe 11a: no key is given twice, and an old one is dead. */
static void keys(int arg)
{
	size_t total = quick ? 3000 : 66000, i;
	uint32_t *given = calloc(total, sizeof(*given));
	struct registrar r[8];

	for (i = 0; i < ARRAY_SIZE(r); i++) {
		r[i].n = total / ARRAY_SIZE(r);
		r[i].given = given + i * r[i].n;
		CHECK_OK(pthread_create(&r[i].thread, NULL, give_keys, &r[i]));
	}
	for (i = 0; i < ARRAY_SIZE(r); i++)
		CHECK_OK(pthread_join(r[i].thread, NULL));
	for (i = 0; i < total; i += total / 16)
		check_dead(given[i]);
	qsort(given, total, sizeof(*given), by_value);
	for (i = 1; i < total; i++)
		if (given[i] == given[i - 1])
			FAIL("key 0x%x was given twice in %zu", given[i], total);
}

/* ---- access to other places than the buffer of a pair ---- */

static void write_to(struct pair *p, struct ibv_mr *mr, uint64_t off, uint32_t len, uint32_t seed)
{
	struct remote r = { .addr = (uintptr_t)mr->addr + off, .rkey = mr->rkey };

	fill(p->a.buf, len, seed);
	POST(&p->a, .id = seed, .len = len, .remote = &r);
	EXPECT(p->a.scq, seed, SUCCESS);
	CHECK_FILL((uint8_t *)mr->addr + off, len, seed);
}

static void read_from(struct pair *p, struct ibv_mr *mr, uint64_t off, uint32_t len, uint32_t seed)
{
	struct remote r = { .addr = (uintptr_t)mr->addr + off, .rkey = mr->rkey };

	fill((uint8_t *)mr->addr + off, len, seed);
	memset(p->a.buf, 0, len);
	POST(&p->a, .id = seed, .code = IBV_WR_RDMA_READ, .len = len, .remote = &r);
	EXPECT(p->a.scq, seed, SUCCESS);
	CHECK_FILL(p->a.buf, len, seed);
}

static void refused(struct ibv_mr *mr, uint64_t off, uint32_t len)
{
	struct remote r = { .addr = (uintptr_t)mr->addr + off, .rkey = mr->rkey };
	struct pair p;

	pair_make(&p, SETUP());
	POST(&p.a, .id = 1, .len = len, .remote = &r);
	EXPECT(p.a.scq, 1, REM_ACCESS_ERR);
	pair_free(&p);
}

/* ---- kinds of memory ---- */

static void *huge_pages(size_t bytes)
{
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");
	void *p;

	CHECK(f);
	fprintf(f, "%llu\n", bytes / (2 * MIB) + 2);
	fclose(f);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
		 -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void everywhere(void *at, size_t bytes, int access)
{
	struct ibv_mr *mr = reg(&node_b, at, bytes, access);
	struct pair p;

	pair_make(&p, SETUP(.bytes = 4 * PAGE));
	write_to(&p, mr, 0, 4 * PAGE, 1);
	write_to(&p, mr, bytes - 3 * PAGE - 1, 3 * PAGE + 1, 2);
	write_to(&p, mr, bytes / 2 - 777, 2 * PAGE, 3);
	read_from(&p, mr, 0, 4 * PAGE, 4);
	read_from(&p, mr, bytes - 3 * PAGE - 1, 3 * PAGE + 1, 5);
	read_from(&p, mr, bytes / 2 - 777, 2 * PAGE, 6);
	refused(mr, bytes - 7, 8);
	CHECK_OK(ibv_dereg_mr(mr));
	pair_free(&p);
}

static void hugetlb(int flags)
{
	void *p = huge_pages(4 * MIB);

	if (!p)
		skip("no huge pages");
	everywhere(p, 4 * MIB, ACCESS_ALL | flags);
	everywhere((uint8_t *)p + 5000, 3 * MIB + 1234, ACCESS_ALL | flags);
}

static void thp(int arg)
{
	uint8_t *p = map_pages(8 * MIB);

	p += -(uintptr_t)p & (2 * MIB - 1);
	if (madvise(p, 4 * MIB, MADV_HUGEPAGE))
		skip("no transparent huge pages");
	memset(p, 0, 4 * MIB);
	everywhere(p, 4 * MIB, ACCESS_ALL);
	everywhere(p + 2 * MIB - 5000, 40001, ACCESS_ALL);
}

/* A window that begins in one huge page and ends in the next. */
static void window_on_huge(int arg)
{
	uint8_t *at = huge_pages(4 * MIB), *from = at + 2 * MIB - 5000;
	struct ibv_mw *mw = ibv_alloc_mw(node_b.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr *bad, wr = {
		.wr_id = 7, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
	};
	struct remote r = { .addr = (uintptr_t)from };
	const uint32_t bytes = 10001;
	struct ibv_mr *mr;
	struct pair p;

	if (!at)
		skip("no huge pages");
	CHECK(mw);
	mr = reg(&node_b, at, 4 * MIB, ACCESS_ALL | IBV_ACCESS_MW_BIND);
	pair_make(&p, SETUP());
	r.rkey = wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.mw = mw;
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
		.mr = mr, .addr = r.addr, .length = bytes,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	CHECK_OK(ibv_post_send(p.b.qp, &wr, &bad));
	EXPECT(p.b.scq, 7, SUCCESS);
	fill(p.a.buf, bytes, 3);
	POST(&p.a, .id = 1, .len = bytes, .remote = &r);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_FILL(from, bytes, 3);
	CHECK_BYTE(from - 100, 100, 0);
	CHECK_BYTE(from + bytes, 100, 0);
	POST(&p.a, .id = 2, .len = bytes + 1, .remote = &r);
	EXPECT(p.a.scq, 2, REM_ACCESS_ERR);
	CHECK_OK(ibv_dealloc_mw(mw));
	CHECK_OK(ibv_dereg_mr(mr));
	pair_free(&p);
}

static void small(int arg)
{
	uint8_t *p = map_pages(4 * PAGE);
	struct ibv_mr *mr;
	struct pair pair;
	int i;

	pair_make(&pair, SETUP());
	for (i = 0; i < 70; i++) {
		mr = reg(&node_b, p + PAGE - 35 + i % 70, 1 + i % 3, ACCESS_ALL);
		write_to(&pair, mr, 0, 1 + i % 3, i);
		CHECK_OK(ibv_dereg_mr(mr));
	}
	mr = reg(&node_b, p + PAGE - 1, 2, ACCESS_ALL);
	refused(mr, 0, 3);
	refused(mr, 1, 2);
	pair_free(&pair);
}

/* One page in several places. */
static void aliases(int arg)
{
	int fd = memfd_create("alias", 0), i;
	uint8_t *p = map_pages(8 * PAGE);
	struct pair pair;

	CHECK_OK(ftruncate(fd, PAGE));
	for (i = 0; i < 8; i++)
		CHECK(mmap(p + i * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			   0) != MAP_FAILED);
	pair_make(&pair, SETUP());
	write_to(&pair, reg(&node_b, p, 8 * PAGE, ACCESS_ALL), 3 * PAGE + 100, PAGE - 100, 1);
	CHECK_FILL(p + 100, PAGE - 100, 1);
	pair_free(&pair);
}

/* A mapping that may be read only: without LOCAL_WRITE it can be registered. */
static void read_only(int private)
{
	int fd = memfd_create("ro", 0);
	uint8_t data[2 * PAGE];
	struct ibv_mr *mr;
	struct remote r;
	struct pair p;
	void *at;

	fill(data, sizeof(data), 9);
	CHECK(write(fd, data, sizeof(data)) == sizeof(data));
	at = mmap(NULL, sizeof(data), PROT_READ, private ? MAP_PRIVATE : MAP_SHARED, fd, 0);
	CHECK(at != MAP_FAILED);

	mr = ibv_reg_mr(node_b.pd, at, sizeof(data), IBV_ACCESS_LOCAL_WRITE);
	CHECK(!mr);
	CHECK(errno == EFAULT || errno == EPERM || errno == EACCES);
	CHECK(!ibv_reg_mr(node_b.pd, at, sizeof(data), ACCESS_ALL));

	mr = reg(&node_b, at, sizeof(data), IBV_ACCESS_REMOTE_READ);
	pair_make(&p, SETUP());
	r = (struct remote){ .addr = (uintptr_t)at, .rkey = mr->rkey };
	POST(&p.a, .id = 1, .code = IBV_WR_RDMA_READ, .len = sizeof(data), .remote = &r);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_FILL(p.a.buf, sizeof(data), 9);
	POST(&p.a, .id = 2, .len = 8, .remote = &r);
	EXPECT(p.a.scq, 2, REM_ACCESS_ERR);
	CHECK_FILL(at, sizeof(data), 9);
}

/* The page cache of a file on a disk: peers read it, and nobody can write to it. */
static void file_on_disk(int arg)
{
	size_t bytes = 16 * PAGE;
	int fd = open("/bin/bash", O_RDONLY);
	uint8_t *data = map_pages(bytes);
	struct ibv_mr *mr;
	struct remote r;
	struct pair p;
	void *at;

	CHECK(fd >= 0 && pread(fd, data, bytes, 8 * PAGE) == (ssize_t)bytes);
	at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 8 * PAGE);
	CHECK(at != MAP_FAILED);
	CHECK(!ibv_reg_mr(node_b.pd, at, bytes, ACCESS_ALL));
	mr = reg(&node_b, at, bytes, IBV_ACCESS_REMOTE_READ);
	pair_make(&p, SETUP());
	r = (struct remote){ .addr = (uintptr_t)at, .rkey = mr->rkey };
	POST(&p.a, .id = 1, .code = IBV_WR_RDMA_READ, .len = bytes, .remote = &r);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK(!memcmp(p.a.buf, data, bytes));
	CHECK_OK(ibv_dereg_mr(mr));
	pair_free(&p);
	close(fd);
}

/* ---- the end of the process ---- */

/* Pages that are pinned now, by anybody. */
static long long pinned(void)
{
	long long acquired = -1, released = -1, value;
	char name[64];
	FILE *f;

	/* what each CPU has counted by itself is added up by this */
	f = fopen("/proc/sys/vm/stat_refresh", "w");
	CHECK(f);
	fprintf(f, "1\n");
	fclose(f);
	f = fopen("/proc/vmstat", "r");
	CHECK(f);
	while (fscanf(f, "%63s %lld", name, &value) == 2) {
		if (!strcmp(name, "nr_foll_pin_acquired"))
			acquired = value;
		if (!strcmp(name, "nr_foll_pin_released"))
			released = value;
	}
	fclose(f);
	CHECK(acquired >= 0 && released >= 0);
	return acquired - released;
}

/* A process with a device, a region and a queue of its own. */
static void hold_region(size_t bytes, int tell)
{
	struct ibv_context *ctx = ibv_open_device(node_b.ctx->device);
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;

	/* not to be left over when the test fails */
	CHECK_OK(prctl(PR_SET_PDEATHSIG, SIGKILL));
	if (!pd || !ibv_reg_mr(pd, map_pages(bytes), bytes, ACCESS_ALL) ||
	    !ibv_create_cq(ctx, 64, NULL, NULL, 0) || write(tell, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* What a killed process had pinned is free again. */
static void killed(int signal)
{
	const size_t bytes = 4096 * PAGE;
	long long before = pinned();
	int i, tell[2], status;
	char byte;
	pid_t pid;

	for (i = 0; i < 5; i++) {
		uint64_t end = now() + 60 * SEC;

		CHECK_OK(pipe(tell));
		pid = fork();
		CHECK(pid >= 0);
		if (!pid)
			hold_region(bytes, tell[1]);
		close(tell[1]);
		CHECK(read(tell[0], &byte, 1) == 1);
		close(tell[0]);
		CHECK_GE(pinned() - before, bytes / PAGE);
		CHECK_OK(kill(pid, signal));
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signal);
		while (pinned() != before) {
			if (now() > end)
				FAIL("%lld pages are pinned still", pinned() - before);
			sleep_ns(10 * MS);
		}
	}
}

static void bad_registrations(int arg)
{
	uint8_t *p = map_pages(4 * PAGE);
	int limit = node_b.attr.max_mr_size < SIZE_MAX;

	/* REMOTE_WRITE needs LOCAL_WRITE (IBA 10.6.3.1), and so do atomics */
	CHECK(!ibv_reg_mr(node_b.pd, p, PAGE, IBV_ACCESS_REMOTE_WRITE));
	CHECK(!ibv_reg_mr(node_b.pd, p, PAGE, IBV_ACCESS_REMOTE_ATOMIC));
	/* a hole */
	munmap(p + 2 * PAGE, PAGE);
	CHECK(!ibv_reg_mr(node_b.pd, p, 4 * PAGE, ACCESS_ALL));
	CHECK(!ibv_reg_mr(node_b.pd, NULL, PAGE, ACCESS_ALL));
	/* beyond all addresses */
	CHECK(!ibv_reg_mr(node_b.pd, p, -(uintptr_t)p, ACCESS_ALL));
	if (limit)
		CHECK(!ibv_reg_mr(node_b.pd, p, node_b.attr.max_mr_size + 1, ACCESS_ALL));
	reg(&node_b, p, 2 * PAGE, ACCESS_ALL);
}

/* ---- another registration of the same region ---- */

static void rereg_access(int arg)
{
	struct pair p;

	pair_make(&p, SETUP());
	write_to(&p, p.b.mr, 0, 100, 1);
	CHECK_OK(ibv_rereg_mr(p.b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
	read_from(&p, p.b.mr, 0, 100, 2);
	refused(p.b.mr, 0, 8);
	pair_free(&p);
}

static void rereg_memory(int arg)
{
	uint8_t *other = map_pages(4 * PAGE);
	struct remote old;
	struct pair p;

	pair_make(&p, SETUP());
	old = (struct remote){ .addr = (uintptr_t)p.b.buf, .rkey = p.b.mr->rkey };
	CHECK_OK(ibv_rereg_mr(p.b.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, other, 4 * PAGE, 0));
	write_to(&p, p.b.mr, 3 * PAGE - 10, PAGE + 10, 1);
	CHECK_FILL(other + 3 * PAGE - 10, PAGE + 10, 1);
	refused(p.b.mr, 4 * PAGE - 1, 2);
	POST(&p.a, .id = 7, .len = 8, .remote = &old);
	EXPECT(p.a.scq, 7, REM_ACCESS_ERR);
	CHECK_BYTE(p.b.buf, 8, 0);
	pair_free(&p);
}

static void rereg_pd(int arg)
{
	struct ibv_pd *pd = ibv_alloc_pd(node_b.ctx);
	struct pair p;

	pair_make(&p, SETUP());
	CHECK_OK(ibv_rereg_mr(p.b.mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0));
	refused(p.b.mr, 0, 8);
	CHECK_OK(ibv_rereg_mr(p.b.mr, IBV_REREG_MR_CHANGE_PD, node_b.pd, NULL, 0, 0));
	write_to(&p, p.b.mr, 0, 100, 1);
	CHECK_OK(ibv_dealloc_pd(pd));
	pair_free(&p);
}

/* ---- dereg while a peer uses it ---- */

#define LATE	0xee		/* what is written after dereg returned */

/* Neighbours of a fill() differ. */
static void check_nothing_late(const uint8_t *p, size_t bytes)
{
	size_t i;

	for (i = 2; i < bytes; i++)
		if (p[i] == LATE && p[i - 1] == LATE && p[i - 2] == LATE)
			FAIL("byte %zu is from after dereg", i);
}

/* Requests succeed or fail; dereg is the last moment at which the memory is touched. */
static void dereg_under(int code)
{
	int rounds = quick ? 15 : 60, i, failed = 0;
	size_t bytes = 64 * PAGE;

	for (i = 0; i < rounds; i++) {
		struct ibv_wc wc;
		struct pair p;

		pair_make(&p, SETUP(.bytes = bytes));
		fill(p.b.buf, bytes, i);
		fill(p.a.buf, bytes, code == IBV_WR_RDMA_READ ? 1000 : i);
		POST(&p.a, .id = 1, .code = code, .len = bytes);
		sleep_ns((i * 350 % 5000) * US);
		CHECK_OK(ibv_dereg_mr(p.b.mr));
		p.b.mr = NULL;
		memset(p.b.buf, LATE, bytes);
		wc = WAIT_WC(p.a.scq);
		if (wc.status != IBV_WC_SUCCESS) {
			CHECK_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
			failed++;
		}
		CHECK_BYTE(p.b.buf, bytes, LATE);
		check_nothing_late(p.a.buf, bytes);
		if (wc.status == IBV_WC_SUCCESS)
			CHECK_FILL(p.a.buf, bytes, i);
		pair_free(&p);
	}
	note("%d of %d failed, as they may", failed, rounds);
}

/* The same with the receives of a SEND. */
static void dereg_under_send(int arg)
{
	int rounds = quick ? 15 : 60, i, failed = 0;
	size_t bytes = 64 * PAGE;

	for (i = 0; i < rounds; i++) {
		struct ibv_wc wc, rwc;
		struct pair p;

		pair_make(&p, SETUP(.bytes = bytes));
		fill(p.a.buf, bytes, i);
		post_recv(&p.b, 7, 0, bytes);
		POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = bytes);
		sleep_ns((i * 350 % 5000) * US);
		CHECK_OK(ibv_dereg_mr(p.b.mr));
		p.b.mr = NULL;
		memset(p.b.buf, LATE, bytes);
		wc = WAIT_WC(p.a.scq);
		rwc = WAIT_WC(p.b.rcq);
		if (wc.status != IBV_WC_SUCCESS) {
			CHECK_EQ(wc.status, IBV_WC_REM_OP_ERR);
			CHECK_EQ(rwc.status, IBV_WC_LOC_PROT_ERR);
			failed++;
		}
		CHECK_BYTE(p.b.buf, bytes, LATE);
		pair_free(&p);
	}
	note("%d of %d failed, as they may", failed, rounds);
}

static const struct test tests[] = {
	{ "no key is given twice, and an old one is dead", keys },
	{ "regions of 1 to 3 bytes, across a page boundary", small },
	{ "one page in several places of a region", aliases },
	{ "transparent huge pages", thp },
	{ "huge pages", hugetlb, 0 },
	{ "huge pages, with IBV_ACCESS_HUGETLB", hugetlb, IBV_ACCESS_HUGETLB },
	{ "window across two huge pages", window_on_huge },
	{ "read-only shared mapping", read_only, 0 },
	{ "read-only private mapping", read_only, 1 },
	{ "read-only mapping of a file on disk", file_on_disk },
	{ "registrations that are refused", bad_registrations },
	{ "rereg of access", rereg_access },
	{ "rereg of memory", rereg_memory },
	{ "rereg of the PD", rereg_pd },
	{ "dereg during a READ", dereg_under, IBV_WR_RDMA_READ },
	{ "dereg during a WRITE", dereg_under, IBV_WR_RDMA_WRITE },
	{ "dereg of the memory of a receive", dereg_under_send },
	{ "a process that is killed pins nothing any more", killed, SIGKILL },
};

VERBS_MAIN(tests)
