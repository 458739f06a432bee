// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * sim --seeds N | FROM..TO   run seeds 1 ... N or FROM ... TO
 *     --seed N               run one, and tell what happens
 *     --scenario NAME        all of this kind (changes what a seed means)
 *     -j N                   in N processes
 *     --quiet                no summary of what was run
 *
 * A seed that fails is named, with the command to replay it. Last line:
 * `N passed, N failed`.
 */
#include <getopt.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim.h"

struct sim_stats sim_stats;

/* Sanitizers end the process by SIGABRT, so that the seed is named. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "abort_on_error=1";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

static u64 current_seed;

static void on_abort(int sig)
{
	fprintf(stderr, "seed %llu: died\n    replay: make -C kunit/host sim && kunit/host/sim --seed %llu\n",
		current_seed, current_seed);
	signal(sig, SIG_DFL);
	raise(sig);
}

struct result {
	u64 passed, failed;
	struct sim_stats stats;
};

static void run_seeds(u64 from, u64 to, u32 step, int scenario, struct result *result)
{
	u64 seed;

	for (seed = from; seed <= to; seed += step) {
		current_seed = seed;
		if (sim_run(seed, false, scenario))
			result->passed++;
		else
			result->failed++;
		if (result->failed >= 10)	/* enough to look at */
			break;
	}
	result->stats = sim_stats;
}

static void add(struct result *sum, const struct result *part)
{
	u32 i;

	sum->passed += part->passed;
	sum->failed += part->failed;
	sum->stats.frames += part->stats.frames;
	sum->stats.retransmitted += part->stats.retransmitted;
	sum->stats.held += part->stats.held;
	sum->stats.ahead += part->stats.ahead;
	sum->stats.holes += part->stats.holes;
	sum->stats.probes += part->stats.probes;
	sum->stats.refused += part->stats.refused;
	sum->stats.shared += part->stats.shared;
	sum->stats.srq += part->stats.srq;
	sum->stats.datagrams += part->stats.datagrams;
	sum->stats.cnps += part->stats.cnps;
	sum->stats.rows += part->stats.rows;
	for (i = 0; i < SC_COUNT; i++)
		sum->stats.runs[i] += part->stats.runs[i];
}

struct job {
	pid_t pid;
	int fd;
};

static void start_job(struct job *job, u64 from, u64 to, u32 step, int scenario)
{
	struct result part = {};
	int fd[2];

	if (pipe(fd) || (job->pid = fork()) < 0) {
		perror("sim");
		exit(2);
	}
	if (job->pid) {
		close(fd[1]);
		job->fd = fd[0];
		return;
	}
	run_seeds(from, to, step, scenario, &part);
	exit(write(fd[1], &part, sizeof(part)) == sizeof(part) ? 0 : 2);
}

/* A job that dies counts as one failed seed. */
static void end_job(struct job *job, struct result *sum)
{
	struct result part = {};
	int status;

	if (read(job->fd, &part, sizeof(part)) != sizeof(part))
		part.failed = 1;
	close(job->fd);
	waitpid(job->pid, &status, 0);
	add(sum, &part);
}

static void run_jobs(u64 from, u64 to, u32 jobs, int scenario, struct result *sum)
{
	struct job job[64];
	u32 i;

	for (i = 0; i < jobs; i++)
		start_job(&job[i], from + i, to, jobs, scenario);
	for (i = 0; i < jobs; i++)
		end_job(&job[i], sum);
}

static int find_scenario(const char *name)
{
	int i;

	for (i = 0; i < SC_COUNT; i++)
		if (!strcmp(scenario_names[i], name))
			return i;
	fprintf(stderr, "no such scenario: %s\n", name);
	exit(2);
}

static void print_summary(const struct result *sum)
{
	u32 i;

	for (i = 0; i < SC_COUNT; i++)
		if (sum->stats.runs[i])
			printf("%s %u, ", scenario_names[i], sum->stats.runs[i]);
	printf("%llu frames, %llu sent again; requests held %llu, answers ahead %llu, holes %llu, probes %llu, refused %llu; many QPs %llu, SRQs %llu, datagrams %llu, CNPs %llu, in rows %llu\n",
	       sum->stats.frames, sum->stats.retransmitted, sum->stats.held, sum->stats.ahead,
	       sum->stats.holes, sum->stats.probes, sum->stats.refused, sum->stats.shared,
	       sum->stats.srq, sum->stats.datagrams, sum->stats.cnps, sum->stats.rows);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: sim --seeds N|FROM..TO [-j JOBS] [--scenario NAME] [--quiet]\n"
		"       sim --seed N [--scenario NAME]\n");
	exit(2);
}

static void parse_seeds(const char *text, u64 *from, u64 *to)
{
	char *end;

	*from = 1;
	*to = strtoull(text, &end, 0);
	if (!strncmp(end, "..", 2)) {
		*from = *to;
		*to = strtoull(end + 2, &end, 0);
	}
	if (*end || *to < *from)
		usage();
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seeds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'o' },
		{ "scenario", required_argument, NULL, 'c' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'q' },
		{}
	};
	struct result sum = {};
	u64 from = 1, to = 1000;
	bool one = false, quiet = false;
	int scenario = -1, jobs = 1, c;

	while ((c = getopt_long(argc, argv, "j:", options, NULL)) != -1) {
		switch (c) {
		case 's':
			parse_seeds(optarg, &from, &to);
			break;
		case 'o':
			from = strtoull(optarg, NULL, 0);
			one = true;
			break;
		case 'c':
			scenario = find_scenario(optarg);
			break;
		case 'j':
			jobs = clamp(atoi(optarg), 1, 64);
			break;
		case 'q':
			quiet = true;
			break;
		default:
			usage();
		}
	}
	if (optind != argc)
		usage();
	signal(SIGABRT, on_abort);
	if (one) {
		current_seed = from;
		return !sim_run(from, true, scenario);
	}
	if (jobs == 1)
		run_seeds(from, to, 1, scenario, &sum);
	else
		run_jobs(from, to, jobs, scenario, &sum);
	if (!quiet)
		print_summary(&sum);
	printf("%llu passed, %llu failed\n", sum.passed, sum.failed);
	return sum.failed || !sum.passed;
}
