// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process that writes what it likes into the rings it shares with the kernel,
 * from a second thread, while the first posts and polls. It may harm itself; the
 * kernel and everybody else must not notice. HOSTILE_SECONDS is how long all of it
 * takes together.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "forge.h"

struct map {
	uint8_t *at;
	size_t bytes;
};

static struct map maps[32];
static atomic_int num_maps;

static uint64_t rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The rings are what this process has mapped of /dev/infiniband. */
static void find_rings(void)
{
	char line[512], perms[8];
	unsigned long from, to;
	int n = 0;
	FILE *f;

	num_maps = 0;
	f = fopen("/proc/self/maps", "r");
	CHECK(f);
	while (fgets(line, sizeof(line), f) && n < (int)ARRAY_SIZE(maps)) {
		if (!strstr(line, "uverbs") || sscanf(line, "%lx-%lx %7s", &from, &to, perms) != 3)
			continue;
		CHECK_EQ(perms[1], 'w');
		maps[n].at = (uint8_t *)from;
		maps[n++].bytes = to - from;
	}
	fclose(f);
	CHECK_GE(n, 4);
	num_maps = n;
}

/* Control words near the start, entries from the second page on. */
static void spoil(uint64_t *seed)
{
	int n = num_maps;
	struct map *m;
	size_t offset, i, bytes;

	if (!n)
		return;
	m = &maps[rnd(seed) % n];
	switch (rnd(seed) % 4) {
	case 0:		/* an index or flag, a little off */
		*(volatile uint32_t *)(m->at + 128 * (rnd(seed) % 4)) += rnd(seed) % 5 - 2;
		break;
	case 1:		/* or anything */
		*(volatile uint32_t *)(m->at + 128 * (rnd(seed) % 4)) = rnd(seed);
		break;
	default:	/* a piece of an entry */
		if (m->bytes <= PAGE)
			break;
		offset = PAGE + rnd(seed) % (m->bytes - PAGE);
		bytes = rnd(seed) % 64 + 1;
		for (i = 0; i < bytes && offset + i < m->bytes; i++)
			m->at[offset + i] = rnd(seed);
	}
}

static void *spoiler(void *arg)
{
	uint64_t seed = (uintptr_t)arg | 1;

	for (;;)
		spoil(&seed);
	return NULL;
}

/* The rings of an SRQ are replaced meanwhile, and its limit is set. */
static void change_srq(struct ibv_srq *srq, uint64_t *seed)
{
	struct ibv_srq_attr attr = {
		.max_wr = 16 << rnd(seed) % 4,
		.srq_limit = rnd(seed) % 16,
	};

	ibv_modify_srq(srq, &attr, rnd(seed) % 2 ? IBV_SRQ_MAX_WR : IBV_SRQ_LIMIT);
	find_rings();
}

static void use(struct pair *p, uint64_t *seed)
{
	static const int codes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	struct ibv_wc wc[16];
	int i;

	for (i = 0; i < 200; i++) {
		int code = codes[rnd(seed) % ARRAY_SIZE(codes)];
		bool atomic = code == IBV_WR_ATOMIC_FETCH_AND_ADD || code == IBV_WR_ATOMIC_CMP_AND_SWP;

		TRY_POST(&p->a, .id = i, .code = code, .len = atomic ? 8 : rnd(seed) % 5000);
		try_recv(&p->b, i, NULL, 0);
		if (p->b.srq && i % 20 == 0) {
			num_maps = 0;
			change_srq(p->b.srq, seed);
		}
		ibv_poll_cq(p->a.scq, 16, wc);
		ibv_poll_cq(p->b.rcq, 16, wc);
	}
}

/* In a process of its own, which may die of what it does to itself. */
static void attack(unsigned int number)
{
	struct setup setup = SETUP(.timeout = 10);
	uint64_t seed = 0x9e3779b97f4a7c15ULL * (number + 1) ^ now();
	pthread_t thread;

	if (number % 3 == 1)
		setup.type = IBV_QPT_UC;
	if (number % 3 == 2)
		setup.srq_wr = 64;
	CHECK_EQ(pthread_create(&thread, NULL, spoiler, (void *)(uintptr_t)seed), 0);
	for (;;) {
		struct pair p;

		num_maps = 0;
		pair_make(&p, setup);
		find_rings();
		use(&p, &seed);
		num_maps = 0;
		sleep_ns(MS);
		pair_free(&p);
	}
}

static void works(struct pair *p, uint64_t id)
{
	fill(p->a.buf, PAGE, id);
	POST(&p->a, .id = id, .code = IBV_WR_RDMA_WRITE, .len = PAGE);
	EXPECT(p->a.scq, id, SUCCESS);
	CHECK_FILL(p->b.buf, PAGE, id);
}

/* Its own devices: contexts do not survive a fork. */
static pid_t start_attack(int number)
{
	pid_t pid = fork();

	CHECK_GE(pid, 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CHECK(freopen("/dev/null", "w", stdout));
		execl("/proc/self/exe", "hostile_ring", "attack", (char[2]){ '0' + number, 0 }, NULL);
		_exit(1);
	}
	return pid;
}

/* The bystander has its rings and regions in another process. */
static void rings(int attackers)
{
	uint64_t end = now() + forge_seconds() * SEC / 2;
	pid_t pids[8];
	struct pair p;
	int i, n, status, deaths = 0;

	for (i = 0; i < attackers; i++)
		pids[i] = start_attack(i);
	pair_make(&p, SETUP(.timeout = 20));
	for (n = 1; now() < end; n++) {
		works(&p, n);
		sleep_ns(10 * MS);
		for (i = 0; i < attackers; i++)
			if (waitpid(pids[i], &status, WNOHANG) == pids[i]) {
				pids[i] = start_attack(i);
				deaths++;
			}
	}
	for (i = 0; i < attackers; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
	}
	works(&p, 1u << 30);
	note("attackers died %d times of themselves", deaths);
	pair_free(&p);
}

static unsigned int attack_number;

static void run_attack(int arg)
{
	(void)arg;
	attack(attack_number);
}

static const struct test tests[] = {
	{ "rings rewritten while in use, by one process", rings, 1 },
	{ "rings rewritten while in use, by three processes", rings, 3 },
};

static const struct test attack_test[] = {
	{ "attack", run_attack },
};

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "attack")) {
		attack_number = atoi(argv[2]);
		return verbs_main(1, argv, attack_test, 1);
	}
	return verbs_main(argc, argv, tests, ARRAY_SIZE(tests));
}
