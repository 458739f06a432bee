// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* proto/cc_timely.c */
#include "cc_fixture.h"

#include "../drivers/infiniband/sw/sroce/proto/cc_timely.c"

static u64 sample(struct cc_test *t, u32 rtt_us)
{
	const struct sroce_cc_ack ack = { .rtt_ns = US(rtt_us), .bytes = 16384 };

	sroce_cc_on_ack(&t->cc, &t->p, &ack, 0);
	return t->cc.rate_bps;
}

static const struct {
	u32 rtt_us;
	u32 rate;	/* 100 bit/s */
} timely_trace[] = {
	{ 30, 10000000 }, { 30, 10100000 }, { 40, 10200000 }, { 100, 100000 }, { 110, 100000 },
	{ 110, 100000 }, { 105, 200000 }, { 100, 300000 }, { 98, 400000 }, { 97, 500000 },
	{ 96, 1000000 }, { 95, 1500000 }, { 94, 2000000 }, { 600, 1733333 }, { 90, 1833333 },
};

static void timely__golden_trace(struct kunit *test)
{
	struct cc_test *t = test->priv;
	int i;

	cc_start(t, SROCE_CC_TIMELY);
	t->cc.rate_bps = MBPS(1000);
	for (i = 0; i < ARRAY_SIZE(timely_trace); i++)
		KUNIT_EXPECT_TRUE(test, cc_near(sample(t, timely_trace[i].rtt_us),
						timely_trace[i].rate * 100ULL, 100));
}

/* The gradients of the trace: rttDiff 53.59375 and -4.1336 us. */
static void timely__smoothed_difference(struct kunit *test)
{
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_TIMELY);
	sample(t, 30);
	sample(t, 30);
	sample(t, 40);
	sample(t, 100);
	KUNIT_EXPECT_EQ(test, (s64)t->cc.timely.diff, 53593750LL * 1024 / 1000);
	sample(t, 110);
	sample(t, 110);
	sample(t, 105);
	KUNIT_EXPECT_TRUE(test, cc_near(-t->cc.timely.diff, 4133606LL * 1024 / 1000, 1024));
}

static void timely__full_speed_is_no_limit(struct kunit *test)
{
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_TIMELY);
	KUNIT_EXPECT_EQ(test, sample(t, 30), SROCE_CC_UNLIMITED);
	KUNIT_EXPECT_EQ(test, sample(t, 30), SROCE_CC_UNLIMITED);
	/* 10000 * (1 - 0.8 * (1 - 500 / 1000)) */
	KUNIT_EXPECT_TRUE(test, cc_near(sample(t, 1000), MBPS(6000), 100));
	t->cc.rate_bps = MBPS(9995);
	KUNIT_EXPECT_EQ(test, sample(t, 30), SROCE_CC_UNLIMITED);
}

/* No sample, nothing changes. */
static void timely__without_round_trip(struct kunit *test)
{
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_TIMELY);
	sample(t, 30);
	t->cc.rate_bps = MBPS(1000);
	KUNIT_EXPECT_EQ(test, sample(t, 0), MBPS(1000));
	KUNIT_EXPECT_EQ(test, t->cc.timely.prev_ns, US(30));
}

/*
 * Patched, by hand: rtt 50 then 60, reference 50: diff 8.75, gradient 0.4375, weight 1:
 * 1000 * (1 - 0.008 * 0.2). Then 60 again: diff 1.09375, gradient 0.0546875, weight
 * 0.609375: 998.4 * (1 - 0.008 * 0.609375 * 0.2) + 10 * 0.390625.
 */
static void patched__by_hand(struct kunit *test)
{
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_TIMELY_PATCHED);
	t->cc.rate_bps = MBPS(1000);
	sample(t, 50);
	KUNIT_EXPECT_TRUE(test, cc_near(sample(t, 60), 998400000, 100));
	KUNIT_EXPECT_TRUE(test, cc_near(sample(t, 60), 1001332810, 100));
	/* Falling fast: weight 0, additive only. */
	KUNIT_EXPECT_TRUE(test, cc_near(sample(t, 40), 1011332810, 100));
}

/* Below the reference with a rising delay: up by the distance. */
static void patched__below_the_reference(struct kunit *test)
{
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_TIMELY_PATCHED);
	t->cc.rate_bps = MBPS(1000);
	sample(t, 20);
	/* diff 17.5, gradient .875, weight 1: 1000 * (1 + 0.008 * 0.2) */
	KUNIT_EXPECT_TRUE(test, cc_near(sample(t, 40), 1001600000, 100));
}

/* A rising delay ends a row of rises. */
static void timely__rises_in_a_row(struct kunit *test)
{
	struct cc_test *t = test->priv;
	int i;

	cc_start(t, SROCE_CC_TIMELY);
	t->cc.rate_bps = MBPS(1000);
	for (i = 0; i < 6; i++)
		sample(t, 100);
	KUNIT_EXPECT_EQ(test, t->cc.rate_bps, MBPS(1090));
	sample(t, 101);
	sample(t, 90);
	t->cc.rate_bps = MBPS(1000);
	KUNIT_EXPECT_EQ(test, sample(t, 90), MBPS(1010));
}

static void timely__random(struct kunit *test)
{
	struct cc_test *t = test->priv;
	u32 seed = 99, run, i;

	for (run = 0; run < 200; run++) {
		cc_start(t, run & 1 ? SROCE_CC_TIMELY : SROCE_CC_TIMELY_PATCHED);
		for (i = 0; i < sroce_cc_num_knobs; i++) {
			const struct sroce_cc_knob *k = &sroce_cc_knobs[i];
			u32 span = min(k->max - k->min, 1U << cc_random(&seed, 20));

			*sroce_cc_knob_at(&t->p, k) = k->min + cc_random(&seed, span + 1);
		}
		t->p.line_bps = MBPS(1 + cc_random(&seed, 1 << cc_random(&seed, 20)));
		for (i = 0; i < 100; i++) {
			u64 rate = sample(t, cc_random(&seed, 1 << cc_random(&seed, 25)));

			KUNIT_ASSERT_TRUE(test, rate == SROCE_CC_UNLIMITED ||
					  (rate >= sroce_cc_min_bps(&t->p) &&
					   rate <= sroce_cc_max_bps(&t->p)));
		}
	}
}

static struct kunit_case timely_cases[] = {
	KUNIT_CASE(timely__golden_trace),
	KUNIT_CASE(timely__smoothed_difference),
	KUNIT_CASE(timely__full_speed_is_no_limit),
	KUNIT_CASE(timely__without_round_trip),
	KUNIT_CASE(patched__by_hand),
	KUNIT_CASE(patched__below_the_reference),
	KUNIT_CASE(timely__rises_in_a_row),
	KUNIT_CASE(timely__random),
	{}
};

SUITE_INIT(sroce_timely, timely_cases, cc_test_init);
