// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions larger than the memory of the machine, made of one file that is mapped
 * many times, and messages of 2 GiB. A few pages have contents of their own: by
 * them it is seen that a page is the right one.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "lib.h"

#define MIB	(1ULL << 20)
#define GIB	(1ULL << 30)
#define HUGE_BYTES	(2 * MIB)
#define FILE_BYTES	(2 * HUGE_BYTES)

static int hugetlb_file(void)
{
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");
	int fd;

	CHECK(f);
	fprintf(f, "%llu\n", FILE_BYTES / HUGE_BYTES);
	fclose(f);
	fd = memfd_create("large", MFD_HUGETLB);
	if (fd >= 0 && !ftruncate(fd, FILE_BYTES) &&
	    mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0) != MAP_FAILED)
		return fd;
	skip("no huge pages");
}

static int small_file(void)
{
	int fd = memfd_create("large", 0);

	CHECK(fd >= 0);
	CHECK_OK(ftruncate(fd, FILE_BYTES));
	return fd;
}

/* Reserved, and mapped over and over; aligned for huge pages. */
static uint8_t *map_large(int fd, uint64_t bytes)
{
	uint8_t *p = mmap(NULL, bytes + 2 * FILE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
			  MAP_NORESERVE, -1, 0);
	uint64_t at, n;

	CHECK(p != MAP_FAILED);
	p += -(uintptr_t)p & (FILE_BYTES - 1);
	for (at = 0; at < bytes; at += n) {
		n = bytes - at < FILE_BYTES ? bytes - at : FILE_BYTES;
		if (mmap(p + at, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		    MAP_FAILED)
			FAIL("mmap at %llu: %s", (unsigned long long)at, strerror(errno));
	}
	return p;
}

/* Memory of its own around two pages at this place, which are in one huge page. */
static void own_pages(uint8_t *p)
{
	p -= (uintptr_t)p & (HUGE_BYTES - 1);
	CHECK(mmap(p, HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		   -1, 0) != MAP_FAILED);
}

/* WRITE and READ of two pages, not aligned. */
static void touch(struct pair *p, const struct ibv_mr *mr, uint64_t at, uint32_t seed)
{
	uint8_t *there = (uint8_t *)mr->addr + at + 100;
	struct remote r = { .addr = (uintptr_t)there, .rkey = mr->rkey };
	uint32_t len = 2 * PAGE - 100;

	fill(p->a.buf, len, seed);
	POST(&p->a, .id = 1, .len = len, .remote = &r);
	EXPECT(p->a.scq, 1, SUCCESS);
	CHECK_FILL(there, len, seed);
	fill(there, len, seed + 1);
	POST(&p->a, .id = 2, .code = IBV_WR_RDMA_READ, .len = len, .remote = &r);
	EXPECT(p->a.scq, 2, SUCCESS);
	CHECK_FILL(p->a.buf, len, seed + 1);
}

static void check_region(int fd, uint64_t bytes)
{
	uint64_t tail = (bytes & -PAGE) - 2 * PAGE, at;
	uint8_t *large = map_large(fd, bytes);
	struct ibv_mr *mr;
	struct pair p;

	own_pages(large + tail);
	for (at = GIB; at + 2 * PAGE < tail; at *= 4)
		own_pages(large + at);
	mr = reg(&node_b, large, bytes, ACCESS_ALL);
	pair_make(&p, SETUP(.bytes = 4 * PAGE));
	touch(&p, mr, 0, 1);
	touch(&p, mr, GIB / 2, 3);
	touch(&p, mr, tail, 5);
	for (at = GIB; at + 2 * PAGE < tail; at *= 4)
		touch(&p, mr, at, at >> 20);
	POST(&p.a, .id = 8, .len = 8,
	     .remote = &(struct remote){ (uintptr_t)large + bytes - 7, mr->rkey });
	EXPECT(p.a.scq, 8, REM_ACCESS_ERR);
	CHECK_OK(ibv_dereg_mr(mr));
	pair_free(&p);
}

static void just_over_1_gib(int arg)
{
	check_region(small_file(), GIB + PAGE);
}

static void odd_4_gib(int arg)
{
	check_region(small_file(), 4 * GIB + 3 * PAGE + 123);
}

static void huge_64_gib(int arg)
{
	if (quick)
		skip("takes long");
	check_region(hugetlb_file(), 64 * GIB);
}

/* ---- messages ---- */

/* Entries that together have @bytes, all in one region. */
static struct ibv_sge *list(struct ibv_mr *mr, uint64_t bytes, int n)
{
	struct ibv_sge *sge = calloc(n, sizeof(*sge));
	int i;

	for (i = 0; i < n; i++) {
		sge[i].addr = (uintptr_t)mr->addr + i * (bytes / n);
		sge[i].length = i + 1 < n ? bytes / n : bytes - (n - 1) * (bytes / n);
		sge[i].lkey = mr->lkey;
	}
	return sge;
}

/* One byte too much: nothing is sent, and the work request fails. */
static void too_long(int entries)
{
	uint64_t bytes = 2 * GIB + 1;
	uint8_t *large = map_large(small_file(), 3 * GIB);
	struct ibv_mr *mr = reg(&node_a, large, 3 * GIB, ACCESS_ALL);
	static const int codes[] = { IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ };
	struct pair p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		pair_make(&p, SETUP());
		if (!TRY_POST(&p.a, .id = 1, .code = codes[i], .sg = list(mr, bytes, entries),
			      .nsg = entries))
			EXPECT(p.a.scq, 1, LOC_LEN_ERR);
		CHECK_EQ(state_of(&p.b), IBV_QPS_RTS);
		EXPECT_NO_EVENT(&p.b, 10 * MS);
		pair_free(&p);
	}
}

/* 2^31 bytes get as far as the peer, which does not know the key. */
static void long_enough(int entries)
{
	uint64_t bytes = 2 * GIB;
	uint8_t *large = map_large(small_file(), 2 * GIB);
	struct ibv_mr *mr = reg(&node_a, large, 2 * GIB, ACCESS_ALL);
	static const int codes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ };
	struct remote nowhere = { .addr = 0x1000, .rkey = 0x77 };
	struct pair p;
	size_t i;

	CHECK_GE(node_a.port.max_msg_sz, 2 * GIB);
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		pair_make(&p, SETUP());
		POST(&p.a, .id = 1, .code = codes[i], .sg = list(mr, bytes, entries),
		     .nsg = entries, .remote = &nowhere);
		EXPECT(p.a.scq, 1, REM_ACCESS_ERR);
		pair_free(&p);
	}
}

/* All of it: the end is told by the last bytes and the length that the receiver is told. */
static void whole(int arg)
{
	uint64_t bytes = 2 * GIB;
	struct ibv_mr *from, *to;
	struct ibv_wc wc;
	uint8_t *a, *b;
	struct pair p;

	if (quick)
		skip("takes long");
	a = map_large(small_file(), bytes);
	b = map_large(small_file(), bytes);
	own_pages(a + bytes - 2 * PAGE);
	own_pages(b + bytes - 2 * PAGE);
	own_pages(a + GIB);
	own_pages(b + GIB);
	from = reg(&node_a, a, bytes, ACCESS_ALL);
	to = reg(&node_b, b, bytes, ACCESS_ALL);
	fill(a + GIB, 2 * PAGE, 2);
	fill(a + bytes - 2 * PAGE, 2 * PAGE, 3);
	pair_make(&p, SETUP(.mtu = IBV_MTU_4096, .timeout = 18));
	CHECK_OK(try_recv(&p.b, 7, list(to, 0, 1), 1));
	POST(&p.a, .id = 1, .code = IBV_WR_RDMA_WRITE_WITH_IMM, .sg = list(from, bytes, 1), .nsg = 1,
	     .remote = &(struct remote){ (uintptr_t)b, to->rkey });
	/* there is no deadline but that of the whole test */
	while (!ibv_poll_cq(p.a.scq, 1, &wc))
		sleep_ns(10 * MS);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK_EQ(EXPECT(p.b.rcq, 7, SUCCESS).byte_len, bytes);
	CHECK_FILL(b + GIB, 2 * PAGE, 2);
	CHECK_FILL(b + bytes - 2 * PAGE, 2 * PAGE, 3);
	pair_free(&p);
}

static const struct test tests[] = {
	{ "region of 1 GiB + 4 KiB", just_over_1_gib },
	{ "region of 4 GiB and some", odd_4_gib },
	{ "region of 64 GiB", huge_64_gib },
	{ "message of 2^31 + 1 bytes: LOC_LEN_ERR", too_long, 1 },
	{ "message of 2^31 + 1 bytes in 3 parts: LOC_LEN_ERR", too_long, 3 },
	{ "message of 2^31 bytes is sent", long_enough, 1 },
	{ "message of 2^31 bytes in 3 parts is sent", long_enough, 3 },
	{ "2^31 bytes arrive", whole },
};

VERBS_MAIN(tests)
