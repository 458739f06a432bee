// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* proto/cc_dcqcn.c */
#include "cc_fixture.h"

#include "../drivers/infiniband/sw/sroce/proto/cc_dcqcn.c"

/* One line of a trace: the state after what happens at a time. */
struct dcqcn_row {
	u32 at_us;
	bool cnp;
	u32 rate;		/* 100 bit/s */
	u32 target;
	u32 alpha;		/* mlx5: 1/1024; as published: 1/1000000 */
};

static u64 rate_at(struct cc_test *t, u64 ns)
{
	return sroce_cc_rate(&t->cc, &t->p, ns);
}

static void cnp_at(struct cc_test *t, u64 ns)
{
	sroce_cc_on_cnp(&t->cc, &t->p, ns);
}

static u32 millionths(u32 alpha)
{
	return (alpha * 1000000ULL + SROCE_CC_ONE / 2) >> SROCE_CC_ONE_SHIFT;
}

static void expect_row(struct kunit *test, struct cc_test *t, const struct dcqcn_row *row)
{
	u64 now = US(row->at_us);

	if (row->cnp)
		cnp_at(t, now);
	/* To the time of alpha too, which the rate alone would not need. */
	t->cc.ops->advance(&t->cc, &t->p, now);
	if (!cc_near(t->cc.rate_bps, row->rate * 100ULL, 100) ||
	    !cc_near(t->cc.dcqcn.target_bps, row->target * 100ULL, 100))
		KUNIT_FAIL(test, "%u us: rate %llu, target %llu", row->at_us,
			   t->cc.rate_bps, t->cc.dcqcn.target_bps);
}

/* ---- as published ---- */

static const struct dcqcn_row paper_trace[] = {
	{ 0, true, 50000000, 100000000, 1000000 },
	{ 50, true, 25000000, 50000000, 1000000 },
	{ 100, true, 12500000, 25000000, 1000000 },
	{ 155, false, 18750000, 25000000, 996094 },
	{ 210, false, 21875000, 25000000, 992203 },
	{ 265, false, 23437500, 25000000, 988327 },
	{ 320, false, 24218750, 25000000, 984466 },
	{ 375, false, 24609375, 25000000, 980621 },
	{ 430, false, 25004688, 25400000, 976790 },
	{ 485, false, 25402344, 25800000, 972975 },
	{ 540, false, 25801172, 26200000, 969174 },
	{ 760, false, 27400073, 27800000, 954119 },
	{ 980, false, 29000005, 29400000, 939298 },
};

static void paper_start(struct cc_test *t)
{
	cc_start(t, SROCE_CC_DCQCN_PAPER);
	t->p.rp_byte_reset = 0;
}

static void dcqcn_paper__golden_trace(struct kunit *test)
{
	struct cc_test *t = test->priv;
	int i;

	paper_start(t);
	for (i = 0; i < ARRAY_SIZE(paper_trace); i++) {
		expect_row(test, t, &paper_trace[i]);
		KUNIT_EXPECT_EQ(test, millionths(t->cc.dcqcn.alpha), paper_trace[i].alpha);
	}
}

/* Whether it is looked at in between or not. */
static void dcqcn_paper__golden_trace_at_once(struct kunit *test)
{
	const struct dcqcn_row *last = &paper_trace[ARRAY_SIZE(paper_trace) - 1];
	struct cc_test *t = test->priv;

	paper_start(t);
	cnp_at(t, 0);
	cnp_at(t, US(50));
	cnp_at(t, US(100));
	expect_row(test, t, last);
	KUNIT_EXPECT_EQ(test, millionths(t->cc.dcqcn.alpha), last->alpha);
}

static void dcqcn_paper__nothing_is_limited_before_a_cnp(struct kunit *test)
{
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_DCQCN_PAPER);
	sroce_cc_on_send(&t->cc, &t->p, 1 << 30, US(1));
	KUNIT_EXPECT_EQ(test, rate_at(t, US(1000000)), SROCE_CC_UNLIMITED);
	KUNIT_EXPECT_EQ(test, t->cc.next_ns, SROCE_NEVER);
	KUNIT_EXPECT_EQ(test, sroce_cc_window(&t->cc, &t->p), SROCE_CC_NO_WINDOW);
}

/* Ten expiries of the byte counter, without the timer: 5 of recovery, then additive. */
static void dcqcn_paper__byte_counter(struct kunit *test)
{
	struct cc_test *t = test->priv;
	int i;

	cc_start(t, SROCE_CC_DCQCN_PAPER);
	cnp_at(t, 0);
	for (i = 0; i < 5; i++) {
		sroce_cc_on_send(&t->cc, &t->p, 9999999, 1);
		KUNIT_EXPECT_EQ(test, t->cc.dcqcn.byte_stage, i);
		sroce_cc_on_send(&t->cc, &t->p, 1, 1);
		KUNIT_EXPECT_EQ(test, t->cc.dcqcn.byte_stage, i + 1);
	}
	KUNIT_EXPECT_EQ(test, rate_at(t, 1), MBPS(9843) + 750000);
	KUNIT_EXPECT_EQ(test, t->cc.dcqcn.target_bps, MBPS(10000));
	/* What is left over of one period counts for the next. */
	sroce_cc_on_send(&t->cc, &t->p, 15000000, 1);
	KUNIT_EXPECT_EQ(test, t->cc.dcqcn.byte_stage, 6u);
	KUNIT_EXPECT_EQ(test, t->cc.bytes_left, 5000000ULL);
	cnp_at(t, 2);
	KUNIT_EXPECT_EQ(test, t->cc.dcqcn.byte_stage, 0u);
	KUNIT_EXPECT_EQ(test, t->cc.bytes_left, 10000000ULL);
}

/* Hyper increase needs both counters above the threshold, and grows with the lesser. */
static void dcqcn_paper__hyper_increase(struct kunit *test)
{
	struct cc_test *t = test->priv;
	struct sroce_cc_dcqcn *d = &t->cc.dcqcn;
	u64 before;
	int i;

	cc_start(t, SROCE_CC_DCQCN_PAPER);
	t->p.line_bps = MBPS(100000);
	for (i = 0; i < 5; i++)
		cnp_at(t, US(i));
	for (i = 0; i < 6; i++)
		sroce_cc_on_send(&t->cc, &t->p, 10000000, US(4));
	before = d->target_bps;
	/* The seventh finds 6 expiries of each. */
	rate_at(t, US(4 + 55 * 6));
	KUNIT_EXPECT_EQ(test, d->time_stage, 6u);
	KUNIT_EXPECT_EQ(test, d->target_bps, before + MBPS(40) * 6);
	before = d->target_bps;
	rate_at(t, US(4 + 55 * 7));
	KUNIT_EXPECT_EQ(test, d->target_bps, before + MBPS(400));
	sroce_cc_on_send(&t->cc, &t->p, 10000000, US(4 + 55 * 7));
	KUNIT_EXPECT_EQ(test, d->target_bps, before + MBPS(800));
	sroce_cc_on_send(&t->cc, &t->p, 10000000, US(4 + 55 * 7));
	KUNIT_EXPECT_EQ(test, d->target_bps, before + MBPS(1600));
}

/* alpha after 177 idle periods is a half; and it goes on while nothing is limited. */
static void dcqcn_paper__alpha_decays(struct kunit *test)
{
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_DCQCN_PAPER);
	cnp_at(t, 0);
	t->cc.ops->advance(&t->cc, &t->p, US(55 * 177));
	KUNIT_EXPECT_TRUE(test, cc_near(millionths(t->cc.dcqcn.alpha), 500190, 10));
	rate_at(t, US(1000000));
	KUNIT_EXPECT_EQ(test, t->cc.rate_bps, SROCE_CC_UNLIMITED);
	t->cc.ops->advance(&t->cc, &t->p, US(2000000));
	KUNIT_EXPECT_EQ(test, t->cc.dcqcn.alpha, 0u);
	/* The next CNP cuts by what alpha is then: nothing. */
	cnp_at(t, US(2000000));
	KUNIT_EXPECT_EQ(test, t->cc.rate_bps, MBPS(10000));
	KUNIT_EXPECT_EQ(test, millionths(t->cc.dcqcn.alpha), 3906u);
}

/* ---- as in mlx5 ---- */

static const struct dcqcn_row mlx_trace[] = {
	{ 0, true, 100000000, 100000000, 1023 },
	{ 2, true, 100000000, 100000000, 1013 },
	{ 4, false, 50781250, 100000000, 1008 },
	{ 10, true, 50781250, 100000000, 978 },
	{ 12, false, 26655197, 100000000, 973 },
	{ 312, false, 63327599, 100000000, 156 },
	{ 612, false, 81663799, 100000000, 0 },
	{ 912, false, 90831900, 100000000, 0 },
	{ 1000, true, 90831900, 100000000, 0 },
	{ 1004, false, 90743197, 90831900, 2 },
	{ 1304, false, 90787548, 90831900, 0 },
	{ 1604, false, 90834724, 90881900, 0 },
	{ 1904, false, 91108312, 91381900, 0 },
	{ 2204, false, 91495106, 91881900, 0 },
	{ 2504, false, 91938503, 92381900, 0 },
};

static void mlx_start(struct cc_test *t)
{
	cc_start(t, SROCE_CC_DCQCN);
	t->p.rp_byte_reset = 0;
}

static void dcqcn_mlx__golden_trace(struct kunit *test)
{
	struct cc_test *t = test->priv;
	int i;

	mlx_start(t);
	for (i = 0; i < ARRAY_SIZE(mlx_trace); i++) {
		expect_row(test, t, &mlx_trace[i]);
		KUNIT_EXPECT_EQ(test, t->cc.dcqcn.alpha, mlx_trace[i].alpha);
	}
}

static void dcqcn_mlx__golden_trace_at_once(struct kunit *test)
{
	struct cc_test *t = test->priv;
	int i;

	mlx_start(t);
	for (i = 0; i < ARRAY_SIZE(mlx_trace); i++)
		if (mlx_trace[i].cnp)
			cnp_at(t, US(mlx_trace[i].at_us));
	expect_row(test, t, &mlx_trace[ARRAY_SIZE(mlx_trace) - 1]);
}

static void dcqcn_mlx__first_cnp(struct kunit *test)
{
	struct cc_test *t = test->priv;

	mlx_start(t);
	KUNIT_EXPECT_EQ(test, rate_at(t, 0), SROCE_CC_UNLIMITED);
	t->p.rp_rate_to_set_on_first_cnp = 4000;
	t->p.rp_initial_alpha_value = 512;
	cnp_at(t, US(7));
	KUNIT_EXPECT_EQ(test, t->cc.rate_bps, MBPS(4000));
	KUNIT_EXPECT_EQ(test, t->cc.dcqcn.target_bps, MBPS(4000));
	KUNIT_EXPECT_EQ(test, t->cc.dcqcn.alpha, 512u);
	KUNIT_EXPECT_EQ(test, t->cc.next_ns, US(11));
	/* alpha 512, 509, 506, 503, 500: 4000 * (1 - 500 / 2048) */
	KUNIT_EXPECT_EQ(test, rate_at(t, US(11)), MBPS(3023) + 437500);
	/* Not again for the second. */
	t->p.rp_rate_to_set_on_first_cnp = 1;
	cnp_at(t, US(13));
	KUNIT_EXPECT_EQ(test, t->cc.rate_bps, MBPS(3023) + 437500);
}

/* Many CNPs within a period are one cut, at its end. */
static void dcqcn_mlx__one_cut_a_period(struct kunit *test)
{
	struct cc_test *t = test->priv;
	u64 ns, cut;

	mlx_start(t);
	cnp_at(t, 0);
	cut = rate_at(t, US(4));
	for (ns = US(4); ns < US(8); ns += 100) {
		cnp_at(t, ns);
		KUNIT_EXPECT_EQ(test, rate_at(t, ns), cut);
	}
	KUNIT_EXPECT_LT(test, rate_at(t, US(8)), cut);
	cut = rate_at(t, US(8));
	KUNIT_EXPECT_EQ(test, rate_at(t, US(300)), cut);
}

struct clamp_param {
	const char *name;
	bool clamp, ati, by_timer, by_bytes;
	bool clamped;
};

static const struct clamp_param clamp_params[] = {
	{ "nothing since the last cut", false, true, false, false, false },
	{ "always", true, false, false, false, true },
	{ "after the timer", false, true, true, false, true },
	{ "after the timer, off", false, false, true, false, false },
	{ "after the byte counter", false, false, false, true, true },
};

static void clamp_desc(const struct clamp_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->name);
}

KUNIT_ARRAY_PARAM(clamp, clamp_params, clamp_desc);

/* When a cut makes the current rate the target. */
static void dcqcn_mlx__clamp(struct kunit *test)
{
	const struct clamp_param *p = test->param_value;
	struct cc_test *t = test->priv;
	u64 now = US(4), before;

	cc_start(t, SROCE_CC_DCQCN);
	t->p.rp_clamp_tgt_rate_ati = p->ati;
	cnp_at(t, 0);
	rate_at(t, now);
	t->p.rp_clamp_tgt_rate = p->clamp;
	if (p->by_timer)
		now += US(300);
	if (p->by_bytes)
		sroce_cc_on_send(&t->cc, &t->p, 32767 * 64, now);
	before = rate_at(t, now);
	cnp_at(t, now);
	rate_at(t, now + US(4));
	KUNIT_EXPECT_EQ(test, t->cc.dcqcn.target_bps, p->clamped ? before : MBPS(10000));
	KUNIT_EXPECT_LT(test, t->cc.rate_bps, before);
}

/* However large alpha: rp_min_dec_fac percent are left. */
static void dcqcn_mlx__deepest_cut(struct kunit *test)
{
	struct cc_test *t = test->priv;

	mlx_start(t);
	t->p.rp_gd = 10;
	t->p.rp_min_dec_fac = 80;
	cnp_at(t, 0);
	KUNIT_EXPECT_EQ(test, rate_at(t, US(4)), MBPS(8000));
}

static void dcqcn_mlx__floor(struct kunit *test)
{
	struct cc_test *t = test->priv;
	u64 ns;

	mlx_start(t);
	t->p.rp_min_rate = 77;
	for (ns = 0; ns < US(1000); ns += US(4))
		cnp_at(t, ns);
	KUNIT_EXPECT_EQ(test, rate_at(t, US(1000)), MBPS(77));
}

/* At the maximum the limit ends, and the next CNP is a first one. */
static void dcqcn_mlx__release(struct kunit *test)
{
	struct cc_test *t = test->priv;

	mlx_start(t);
	cnp_at(t, 0);
	KUNIT_EXPECT_EQ(test, rate_at(t, US(4)), 5102539063ULL);
	/* 10000 - 4897.461 / 2^13 is within 1 Mb/s, 2^12 is not */
	KUNIT_EXPECT_LT(test, rate_at(t, US(4 + 12 * 300)), MBPS(10000));
	KUNIT_EXPECT_EQ(test, rate_at(t, US(4 + 13 * 300)), SROCE_CC_UNLIMITED);
	KUNIT_EXPECT_EQ(test, t->cc.next_ns, SROCE_NEVER);
	cnp_at(t, US(10000));
	KUNIT_EXPECT_EQ(test, t->cc.dcqcn.alpha, 1023u);
	KUNIT_EXPECT_EQ(test, rate_at(t, US(10004)), 5102539063ULL);
}

/* A cut that is due is not lost when the byte counter reaches the maximum first. */
static void dcqcn_mlx__release_waits_for_the_cut(struct kunit *test)
{
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_DCQCN);
	cnp_at(t, 0);
	sroce_cc_on_send(&t->cc, &t->p, 32767 * 64, US(1));
	KUNIT_EXPECT_EQ(test, rate_at(t, US(3)), MBPS(10000));
	KUNIT_EXPECT_EQ(test, rate_at(t, US(4)), 5102539063ULL);
}

/* With a byte counter, both must be above the threshold for hyper increase. */
static void dcqcn_mlx__hyper_increase(struct kunit *test)
{
	struct cc_test *t = test->priv;
	struct sroce_cc_dcqcn *d = &t->cc.dcqcn;
	u64 before;

	cc_start(t, SROCE_CC_DCQCN);
	t->p.line_bps = MBPS(100000);
	cnp_at(t, 0);
	rate_at(t, US(4));
	cnp_at(t, US(5));
	t->p.rp_clamp_tgt_rate = 1;
	rate_at(t, US(8));
	before = d->target_bps;
	rate_at(t, US(8 + 300 * 5));
	KUNIT_EXPECT_EQ(test, d->target_bps, before + MBPS(5) * 4);
	sroce_cc_on_send(&t->cc, &t->p, 32767 * 64 * 2, US(8 + 300 * 5));
	KUNIT_EXPECT_EQ(test, d->target_bps, before + MBPS(5) * 6);
	rate_at(t, US(8 + 300 * 6));
	KUNIT_EXPECT_EQ(test, d->target_bps, before + MBPS(5) * 6 + MBPS(50));
}

/* The timer expires when a cut is due: the cut comes first and restarts it. */
static void dcqcn_mlx__cut_before_raise(struct kunit *test)
{
	struct cc_test *t = test->priv;
	u64 before;

	mlx_start(t);
	cnp_at(t, 0);
	before = rate_at(t, US(4));
	cnp_at(t, US(301));
	KUNIT_EXPECT_LT(test, rate_at(t, US(304)), before);
	KUNIT_EXPECT_EQ(test, t->cc.dcqcn.time_stage, 0u);
	KUNIT_EXPECT_EQ(test, t->cc.dcqcn.target_bps, MBPS(10000));
	KUNIT_EXPECT_EQ(test, t->cc.next_ns, US(604));
}

/* ---- properties ---- */

struct form_param {
	u32 alg;
};

static const struct form_param form_params[] = { { SROCE_CC_DCQCN }, { SROCE_CC_DCQCN_PAPER } };

static void form_desc(const struct form_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", sroce_cc_alg_name(p->alg));
}

KUNIT_ARRAY_PARAM(form, form_params, form_desc);

/* Knobs somewhere in their ranges, more often near the small end. */
static void random_knobs(struct cc_test *t, u32 *seed)
{
	unsigned int i;

	for (i = 0; i < sroce_cc_num_knobs; i++) {
		const struct sroce_cc_knob *k = &sroce_cc_knobs[i];
		u32 span = min(k->max - k->min, 1U << cc_random(seed, 20));

		if (cc_random(seed, 3))
			*sroce_cc_knob_at(&t->p, k) = k->min + cc_random(seed, span + 1);
	}
	t->p.line_bps = MBPS(1 + cc_random(seed, 1 << cc_random(seed, 20)));
}

static void expect_bounds(struct kunit *test, const struct cc_test *t, u64 now)
{
	u64 rate = t->cc.rate_bps;

	KUNIT_ASSERT_TRUE(test, rate == SROCE_CC_UNLIMITED ||
			  (rate >= sroce_cc_min_bps(&t->p) && rate <= sroce_cc_max_bps(&t->p)));
	KUNIT_EXPECT_GT(test, t->cc.next_ns, now);
	KUNIT_EXPECT_TRUE(test, t->cc.bytes_left > 0);
}

/*
 * Whatever the knobs and whatever happens: the rate is within its bounds, and it
 * does not matter when and how often it was asked for.
 */
static void dcqcn__random(struct kunit *test)
{
	const struct form_param *p = test->param_value;
	struct cc_test *t = test->priv, *often;
	u32 seed = 4711, run, i;
	u64 now;

	often = kunit_kzalloc(test, sizeof(*often), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, often);
	for (run = 0; run < 300; run++) {
		cc_start(t, p->alg);
		random_knobs(t, &seed);
		*often = *t;
		now = 0;
		for (i = 0; i < 40; i++) {
			u64 until = now + cc_random(&seed, 1 << cc_random(&seed, 31)), step;
			u32 bytes = cc_random(&seed, 1 << cc_random(&seed, 22));

			step = 1 + (until - now) / (1 + cc_random(&seed, 50));
			for (; now < until; now += step) {
				rate_at(often, now);
				expect_bounds(test, often, now);
			}
			now = until;
			if (cc_random(&seed, 2)) {
				cnp_at(t, now);
				cnp_at(often, now);
			} else {
				sroce_cc_on_send(&t->cc, &t->p, bytes, now);
				sroce_cc_on_send(&often->cc, &t->p, bytes, now);
			}
			rate_at(often, now);
			expect_bounds(test, often, now);
		}
		cnp_at(t, now);
		cnp_at(often, now);
		KUNIT_ASSERT_TRUE(test, cc_same(t, often));
	}
}

/* With equal steps of both kinds, and more bytes than time: the step grows still. */
static void dcqcn_paper__hyper_grows_at_once(struct kunit *test)
{
	struct cc_test *t = test->priv, *often;
	u64 us;

	often = kunit_kzalloc(test, sizeof(*often), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, often);
	cc_start(t, SROCE_CC_DCQCN_PAPER);
	t->p.rp_hai_rate = t->p.rp_ai_rate;
	t->p.line_bps = SROCE_CC_MAX_BPS;
	for (us = 0; us < 10; us++)
		cnp_at(t, US(us));
	sroce_cc_on_send(&t->cc, &t->p, 1000000000, US(us));
	KUNIT_EXPECT_EQ(test, t->cc.dcqcn.byte_stage, 100u);
	*often = *t;
	for (; us < 55 * 90; us++)
		rate_at(often, US(us));
	rate_at(t, US(us));
	rate_at(often, US(us));
	KUNIT_EXPECT_EQ(test, t->cc.rate_bps, often->cc.rate_bps);
	KUNIT_EXPECT_EQ(test, t->cc.dcqcn.target_bps, often->cc.dcqcn.target_bps);
}

/* After an hour it is not slower: the steps are not taken one by one. */
static void dcqcn__long_idle(struct kunit *test)
{
	const struct form_param *p = test->param_value;
	struct cc_test *t = test->priv;

	cc_start(t, p->alg);
	t->p.line_bps = SROCE_CC_MAX_BPS;
	t->p.rp_ai_rate = 1;
	t->p.rp_hai_rate = 1;
	t->p.rp_clamp_tgt_rate = 1;
	cnp_at(t, 0);
	cnp_at(t, US(4));
	rate_at(t, US(8));
	t->p.rp_time_reset = 1;
	KUNIT_EXPECT_LT(test, rate_at(t, US(200000)), SROCE_CC_MAX_BPS);
	KUNIT_EXPECT_GT(test, t->cc.dcqcn.time_stage, 190000u);
	KUNIT_EXPECT_EQ(test, rate_at(t, US(3600000000)), SROCE_CC_UNLIMITED);
	cnp_at(t, US(3600000000));
}

static struct kunit_case dcqcn_cases[] = {
	KUNIT_CASE(dcqcn_paper__golden_trace),
	KUNIT_CASE(dcqcn_paper__golden_trace_at_once),
	KUNIT_CASE(dcqcn_paper__nothing_is_limited_before_a_cnp),
	KUNIT_CASE(dcqcn_paper__byte_counter),
	KUNIT_CASE(dcqcn_paper__hyper_increase),
	KUNIT_CASE(dcqcn_paper__alpha_decays),
	KUNIT_CASE(dcqcn_mlx__golden_trace),
	KUNIT_CASE(dcqcn_mlx__golden_trace_at_once),
	KUNIT_CASE(dcqcn_mlx__first_cnp),
	KUNIT_CASE(dcqcn_mlx__one_cut_a_period),
	KUNIT_CASE_PARAM(dcqcn_mlx__clamp, clamp_gen_params),
	KUNIT_CASE(dcqcn_mlx__deepest_cut),
	KUNIT_CASE(dcqcn_mlx__floor),
	KUNIT_CASE(dcqcn_mlx__release),
	KUNIT_CASE(dcqcn_mlx__release_waits_for_the_cut),
	KUNIT_CASE(dcqcn_mlx__hyper_increase),
	KUNIT_CASE(dcqcn_mlx__cut_before_raise),
	KUNIT_CASE(dcqcn_paper__hyper_grows_at_once),
	KUNIT_CASE_PARAM(dcqcn__random, form_gen_params),
	KUNIT_CASE_PARAM(dcqcn__long_idle, form_gen_params),
	{}
};

SUITE_INIT(sroce_dcqcn, dcqcn_cases, cc_test_init);
