// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ccsim alg=dcqcn_paper gbps=40 n=8 ...	one simulation, one line of CSV after its header
 * ccsim --check				some that have to come out as predicted
 *
 * Settings: alg gbps n gap_us packet segment delay_us np_us kmin kmax pmax mark buffer ms warm_ms
 * window_ms sample_us seed trace=FILE, and each knob by its name.
 */
#include "ccsim.h"

static int passed, failed;

static void verdict(const char *name, bool ok, double measured, double predicted)
{
	printf("%s %s: %.4g, predicted %.4g\n", ok ? "ok" : "not ok", name, measured, predicted);
	ok ? passed++ : failed++;
}

static bool within(double measured, double predicted, double part)
{
	return measured >= predicted * (1 - part) && measured <= predicted * (1 + part);
}

/* ---- what has to come out ---- */

/* The mean queue of DCQCN as published: within 30 % of the fixed point. */
static void check_closed(u32 flows)
{
	struct ccsim_setup s;
	struct ccsim_result r;
	struct ccsim_fluid f;
	char name[64];

	ccsim_defaults(&s, SROCE_CC_DCQCN_PAPER, 10000000000ULL, flows);
	s.p.rp_ai_rate = 10;
	s.p.rp_hai_rate = 100;
	s.window_ns = 50000000;
	s.warm_ns = 150000000;
	s.end_ns = 300000000;
	ccsim_run(&s, &r);
	ccsim_fluid(&s, &f);
	snprintf(name, sizeof(name), "10 Gbit/s, %u flows: mean queue", flows);
	verdict(name, within(r.queue_mean, f.queue_approx, 0.3), r.queue_mean, f.queue_approx);
	verdict("  utilisation", r.util >= 0.95, r.util, 1);
	verdict("  fairness", r.jain >= 0.95, r.jain, 1);
	verdict("  drops", !r.drops, r.drops, 0);
}

/* One flow under random marks: R^4 = R_AI / (tau' T^2 p^3), within 25 %. */
static void check_open(u32 mark)
{
	struct ccsim_setup s;
	struct ccsim_result r;
	double predicted;
	char name[64];

	ccsim_defaults(&s, SROCE_CC_DCQCN_PAPER, 10000000000ULL, 1);
	s.p.rp_ai_rate = 5;
	s.p.rp_hai_rate = 50;
	s.mark = mark;
	s.warm_ns = 100000000;
	s.end_ns = 1000000000;
	ccsim_run(&s, &r);
	predicted = ccsim_open_loop_bps(&s);
	snprintf(name, sizeof(name), "%g %% marked: rate", mark / 1e4);
	verdict(name, within(r.rate_mean, predicted, 0.25), r.rate_mean, predicted);
}

/* What TIMELY's steps leave of a link. */
static double least_util(enum sroce_cc_alg alg)
{
	return alg == SROCE_CC_TIMELY ? 0.7 : 0.85;
}

/* The others have no such formula: the link is used, and nothing is lost. */
static void check_alg(enum sroce_cc_alg alg)
{
	struct ccsim_setup s;
	struct ccsim_result r;
	char name[64];

	ccsim_defaults(&s, alg, 10000000000ULL, 4);
	s.p.rp_base_rtt = 12;
	s.warm_ns = 50000000;
	s.end_ns = 150000000;
	ccsim_run(&s, &r);
	snprintf(name, sizeof(name), "%s, 4 flows: utilisation", sroce_cc_alg_name(alg));
	verdict(name, r.util >= least_util(alg), r.util, 1);
	verdict("  drops", !r.drops, r.drops, 0);
}

static int check(void)
{
	enum sroce_cc_alg alg;

	check_closed(2);
	check_closed(8);
	check_open(3000);
	check_open(30000);
	for (alg = SROCE_CC_DCQCN; alg < SROCE_CC_NUM_ALGS; alg++)
		if (alg != SROCE_CC_DCQCN_PAPER)
			check_alg(alg);
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}

/* ---- one simulation ---- */

static bool set_knob(struct ccsim_setup *s, const char *name, double value)
{
	unsigned int i;

	for (i = 0; i < sroce_cc_num_knobs; i++) {
		const struct sroce_cc_knob *k = &sroce_cc_knobs[i];

		if (strcmp(k->name, name))
			continue;
		if (!sroce_cc_knob_valid(k, value))
			return false;
		*sroce_cc_knob_at(&s->p, k) = value;
		return true;
	}
	return false;
}

static bool set(struct ccsim_setup *s, const char *name, const char *value)
{
	double v = atof(value);
	const struct {
		const char *name;
		u64 *u64_at;
		u32 *u32_at;
		double unit;
	} all[] = {
		{ "gbps", &s->p.line_bps, NULL, 1e9 }, { "n", NULL, &s->flows, 1 },
		{ "gap_us", &s->start_gap_ns, NULL, 1e3 }, { "packet", NULL, &s->packet, 1 },
		{ "segment", NULL, &s->segment, 1 }, { "delay_us", &s->delay_ns, NULL, 1e3 },
		{ "np_us", &s->np_ns, NULL, 1e3 }, { "kmin", NULL, &s->kmin, 1 },
		{ "kmax", NULL, &s->kmax, 1 }, { "pmax", NULL, &s->pmax, 1e6 },
		{ "mark", NULL, &s->mark, 1e6 }, { "buffer", NULL, &s->buffer, 1 },
		{ "ms", &s->end_ns, NULL, 1e6 }, { "warm_ms", &s->warm_ns, NULL, 1e6 },
		{ "window_ms", &s->window_ns, NULL, 1e6 }, { "sample_us", &s->sample_ns, NULL, 1e3 },
		{ "seed", &s->seed, NULL, 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (strcmp(all[i].name, name))
			continue;
		if (all[i].u64_at)
			*all[i].u64_at = v * all[i].unit + 0.5;
		else
			*all[i].u32_at = v * all[i].unit + 0.5;
		return true;
	}
	if (strcmp(name, "trace"))
		return set_knob(s, name, v);
	s->trace = fopen(value, "w");
	return s->trace;
}

static void print(const struct ccsim_setup *s, const struct ccsim_result *r)
{
	struct ccsim_fluid f;

	ccsim_fluid(s, &f);
	puts("alg,gbps,n,queue_mean,queue_50,queue_99,queue_max,util,marked,alpha,cnp_per_s,jain,"
	     "jain_min,rate_mbps,rtt_us,drops,converged_ms,fluid_p,fluid_p_approx,fluid_queue,"
	     "fluid_queue_approx,fluid_alpha,open_loop_mbps");
	printf("%s,%g,%u,%.0f,%.0f,%.0f,%.0f,%.4f,%.6f,%.4f,%.0f,%.4f,%.4f,%.2f,%.2f,%llu,%.0f,"
	       "%.6f,%.6f,%.0f,%.0f,%.4f,%.2f\n", sroce_cc_alg_name(s->alg), s->p.line_bps / 1e9,
	       s->flows, r->queue_mean, r->queue_50, r->queue_99, r->queue_max, r->util, r->marked,
	       r->alpha, r->cnp_rate, r->jain, r->jain_min, r->rate_mean / 1e6, r->rtt_mean / 1e3,
	       r->drops, r->converged_ns == U64_MAX ? -1 : r->converged_ns / 1e6, f.p_exact,
	       f.p_approx, f.queue_exact, f.queue_approx, f.alpha,
	       s->mark ? ccsim_open_loop_bps(s) / 1e6 : 0);
}

int main(int argc, char **argv)
{
	enum sroce_cc_alg alg = SROCE_CC_DCQCN_PAPER;
	struct ccsim_setup s;
	struct ccsim_result r;
	u64 bps = 40000000000ULL;
	char *value;
	int i;

	if (argc == 2 && !strcmp(argv[1], "--check"))
		return check();
	/* What the defaults depend on comes first. */
	for (i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "alg=", 4))
			alg = sroce_cc_alg_find(argv[i] + 4);
		if (!strncmp(argv[i], "gbps=", 5))
			bps = atof(argv[i] + 5) * 1e9;
	}
	if (alg == SROCE_CC_NUM_ALGS)
		return fprintf(stderr, "no such algorithm\n"), 2;
	ccsim_defaults(&s, alg, bps, 2);
	for (i = 1; i < argc; i++) {
		value = strchr(argv[i], '=');
		if (value)
			*value++ = 0;
		if (value && !strcmp(argv[i], "alg"))
			continue;
		if (!value || !set(&s, argv[i], value))
			return fprintf(stderr, "no setting %s, or not with this value\n", argv[i]), 2;
	}
	if (!s.flows || s.flows > CCSIM_MAX_FLOWS || s.kmin >= s.kmax || s.warm_ns >= s.end_ns)
		return fprintf(stderr, "settings do not fit\n"), 2;
	ccsim_run(&s, &r);
	print(&s, &r);
	if (s.trace)
		fclose(s.trace);
	return 0;
}
