// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Running tests, and what belongs to no object: time, devices, data.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "wire.h"

#define EXIT_SKIP	77
#define TEST_SECONDS	600		/* or VERBS_SECONDS */

bool quick;
struct node node_a, node_b;

void fail_at(const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("# %s:%d: ", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	wire_dump();
	fflush(stdout);
	_exit(1);
}

void note(const char *format, ...)
{
	va_list args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

void skip(const char *why)
{
	note("skipped: %s", why);
	_exit(EXIT_SKIP);
}

uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / SEC, .tv_nsec = ns % SEC };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* ---- devices ---- */

/* The first RoCE v2 GID with an IPv4 address, or with VERBS_FAMILY=6 a global IPv6 address. */
static void find_gid(struct node *node)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const char *family = getenv("VERBS_FAMILY");
	bool six = family && !strcmp(family, "6");
	struct ibv_gid_entry e[64];
	ssize_t n = ibv_query_gid_table(node->ctx, e, ARRAY_SIZE(e), 0);
	ssize_t i;

	for (i = 0; i < n; i++) {
		bool is_four = !memcmp(e[i].gid.raw, mapped, sizeof(mapped));
		bool is_local = e[i].gid.raw[0] == 0xfe;

		if (e[i].gid_type != IBV_GID_TYPE_ROCE_V2 || (six ? is_four || is_local : !is_four))
			continue;
		node->gid = e[i].gid;
		node->gid_index = e[i].gid_index;
		return;
	}
	FAIL("%s has no GID that fits", node->name);
}

static void open_node(struct node *node, const char *variable, const char *name)
{
	struct ibv_device **list;
	int n, i;

	node->name = getenv(variable) ? getenv(variable) : name;
	list = ibv_get_device_list(&n);
	if (!list)
		FAIL("no list of devices: %s", strerror(errno));
	for (i = 0; i < n && strcmp(ibv_get_device_name(list[i]), node->name); i++)
		;
	if (i == n)
		FAIL("there is no device %s", node->name);
	node->ctx = ibv_open_device(list[i]);
	if (!node->ctx)
		FAIL("%s: %s", node->name, strerror(errno));
	ibv_free_device_list(list);
	node->pd = ibv_alloc_pd(node->ctx);
	CHECK(node->pd);
	CHECK_OK(ibv_query_device(node->ctx, &node->attr));
	CHECK_OK(ibv_query_port(node->ctx, 1, &node->port));
	find_gid(node);
}

struct ibv_ah_attr av_to(const struct node *from, const struct node *to)
{
	return (struct ibv_ah_attr) {
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = to->gid, .sgid_index = from->gid_index, .hop_limit = 64 },
	};
}

bool is_sroce(const struct node *node)
{
	return !strncmp(node->name, "sroce", 5);
}

uint64_t counter(const struct node *node, const char *name)
{
	unsigned long long value = 0;
	char path[256];
	FILE *f;

	/* they are read afresh every 10 ms at most */
	sleep_ns(20 * MS);
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
		 node->name, name);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%llu", &value) != 1)
		FAIL("%s cannot be read", path);
	fclose(f);
	return value;
}

/* ---- data ---- */

void *map_pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		FAIL("no %zu bytes", bytes);
	return p;
}

static uint8_t pattern(size_t i, uint32_t seed)
{
	return (i * 7 + (i >> 8) * 13 + (i >> 16) * 29 + seed * 101 + 1) & 0xff;
}

void fill(void *to, size_t bytes, uint32_t seed)
{
	uint8_t *p = to;
	size_t i;

	for (i = 0; i < bytes; i++)
		p[i] = pattern(i, seed);
}

void check_fill_at(const char *file, int line, const void *at, size_t bytes, uint32_t seed)
{
	const uint8_t *p = at;
	size_t i;

	for (i = 0; i < bytes; i++)
		if (p[i] != pattern(i, seed))
			fail_at(file, line, "byte %zu of %zu is 0x%02x, not 0x%02x", i, bytes,
				p[i], pattern(i, seed));
}

void check_byte_at(const char *file, int line, const void *at, size_t bytes, uint8_t value)
{
	const uint8_t *p = at;
	size_t i;

	for (i = 0; i < bytes; i++)
		if (p[i] != value)
			fail_at(file, line, "byte %zu of %zu is 0x%02x, not 0x%02x", i, bytes,
				p[i], value);
}

/* ---- running ---- */

static void run_child(const struct test *test)
{
	const char *seconds = getenv("VERBS_SECONDS");

	/* whoever ends the program ends its test too */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(seconds ? strtoul(seconds, NULL, 10) : TEST_SECONDS);
	open_node(&node_a, "VERBS_A", "sroce_a");
	open_node(&node_b, "VERBS_B", "sroce_b");
	test->run(test->arg);
	fflush(stdout);
	_exit(0);
}

static int run_test(const struct test *test)
{
	uint64_t start = now();
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return 1;
	if (!pid)
		run_child(test);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	if (test->wire && getenv("VERBS_WIRE"))
		drop_end();
	if (now() - start > 10 * SEC)
		note("%llu s", (unsigned long long)((now() - start) / SEC));
	if (WIFSIGNALED(status))
		printf("# %s\n", WTERMSIG(status) == SIGALRM ? "not done in time" :
							       strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Is it the one, or one of those, to be run? */
static bool chosen(const struct test *test, const char *only)
{
	if (test->wire && !getenv("VERBS_WIRE"))
		return false;
	return *only == '=' ? !strcmp(test->name, only + 1) : strstr(test->name, only) != NULL;
}

/* Arguments: `quick`; part of a name, or =NAME. */
int verbs_main(int argc, char **argv, const struct test *tests, size_t n)
{
	int passed = 0, failed = 0, number = 0, status, i;
	const char *only = "";
	size_t t;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "quick"))
			quick = true;
		else
			only = argv[i];
	}
	for (t = 0; t < n; t++) {
		if (!chosen(&tests[t], only))
			continue;
		status = run_test(&tests[t]);
		number++;
		passed += !status;
		failed += status && status != EXIT_SKIP;
		printf("%s %d - %s%s\n", status && status != EXIT_SKIP ? "not ok" : "ok", number,
		       tests[t].name, status == EXIT_SKIP ? " # SKIP" : "");
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
