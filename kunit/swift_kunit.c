// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* proto/cc_swift.c */
#include "cc_fixture.h"

#include "../drivers/infiniband/sw/sroce/proto/cc_swift.c"

/* The window after an acknowledgement, in millionths of a packet. */
static u64 acked(struct cc_test *t, u32 at_us, u32 delay_us, u32 packets, u32 rtt_us)
{
	const struct sroce_cc_ack ack = {
		.rtt_ns = US(rtt_us),
		.delay_ns = US(delay_us),
		.bytes = packets * MTU,
	};

	sroce_cc_on_ack(&t->cc, &t->p, &ack, US(at_us));
	return t->cc.swift.cwnd * 1000000 >> Q;
}

static void start(struct cc_test *t, u32 packets)
{
	cc_start(t, SROCE_CC_SWIFT);
	t->cc.swift.cwnd = (u64)packets << Q;
}

static const struct {
	u32 at_us, delay_us, packets, rtt_us;
	u32 cwnd;	/* millionths of a packet */
} swift_trace[] = {
	{ 0, 15, 1, 20, 10100000 }, { 5, 18, 1, 20, 10199010 }, { 40, 60, 1, 25, 5705974 },
	{ 45, 60, 1, 25, 5705974 }, { 70, 200, 1, 30, 2852987 }, { 110, 22, 1, 30, 3203497 },
	{ 150, 300, 2, 30, 1601748 }, { 200, 20, 1, 30, 2226066 },
};

static void swift__golden_trace(struct kunit *test)
{
	struct cc_test *t = test->priv;
	int i;

	start(t, 10);
	for (i = 0; i < ARRAY_SIZE(swift_trace); i++) {
		u64 cwnd = acked(t, swift_trace[i].at_us, swift_trace[i].delay_us,
				 swift_trace[i].packets, swift_trace[i].rtt_us);

		if (!cc_near(cwnd, swift_trace[i].cwnd, 10))
			KUNIT_FAIL(test, "%u us: %llu", swift_trace[i].at_us, cwnd);
	}
}

static u64 scaling_ns(struct cc_test *t, u64 cwnd)
{
	return flow_scaling(&t->p, cwnd) >> D_SHIFT;
}

/* 32.655432 us / sqrt(cwnd) - 3.265543 us, between 0 and 100 us */
static void swift__scaling_by_flows(struct kunit *test)
{
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_SWIFT);
	KUNIT_EXPECT_TRUE(test, cc_near(scaling_ns(t, 10ULL << Q), 7061, 1));
	KUNIT_EXPECT_TRUE(test, cc_near(scaling_ns(t, 1ULL << Q), 29389, 2));
	KUNIT_EXPECT_TRUE(test, cc_near(scaling_ns(t, milli(100)), 100000, 10));
	KUNIT_EXPECT_EQ(test, scaling_ns(t, milli(10)), 100000ULL);
	KUNIT_EXPECT_EQ(test, scaling_ns(t, 100ULL << Q), 0ULL);
	KUNIT_EXPECT_EQ(test, scaling_ns(t, 1000ULL << Q), 0ULL);
	t->p.swift_fs_min = t->p.swift_fs_max;
	KUNIT_EXPECT_EQ(test, scaling_ns(t, 1ULL << Q), 0ULL);
}

/* It begins with a round trip of the port: 10 Gbit/s * 50 us */
static void swift__first_window(struct kunit *test)
{
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_SWIFT);
	KUNIT_EXPECT_EQ(test, t->cc.swift.cwnd >> Q, 61ULL);
	KUNIT_EXPECT_EQ(test, sroce_cc_window(&t->cc, &t->p), 61u * MTU);
	KUNIT_EXPECT_EQ(test, t->cc.rate_bps, SROCE_CC_UNLIMITED);
}

/* Below a packet: one at a time, a round trip / cwnd apart. */
static void swift__paces_below_a_packet(struct kunit *test)
{
	struct cc_test *t = test->priv;

	start(t, 1);
	KUNIT_EXPECT_EQ(test, acked(t, 1000, 10000, 1, 100), 500000ULL);
	KUNIT_EXPECT_EQ(test, sroce_cc_window(&t->cc, &t->p), (u32)MTU);
	/* 1024 bytes in 200 us */
	KUNIT_EXPECT_EQ(test, t->cc.rate_bps, 40960000ULL);
	/* And additively up: one packet acknowledged is one packet more. */
	KUNIT_EXPECT_EQ(test, acked(t, 1010, 10, 1, 100), 1500000ULL);
	KUNIT_EXPECT_EQ(test, t->cc.rate_bps, SROCE_CC_UNLIMITED);
	KUNIT_EXPECT_EQ(test, sroce_cc_window(&t->cc, &t->p), (u32)MTU * 3 / 2);
}

static void swift__target_by_hops(struct kunit *test)
{
	struct cc_test *t = test->priv;
	struct sroce_cc_ack ack = { .rtt_ns = US(29), .bytes = MTU, .num_hops = 2 };

	start(t, 10);
	t->p.swift_hop = 1;
	/* 27.06 + 2 */
	sroce_cc_on_ack(&t->cc, &t->p, &ack, US(10));
	KUNIT_EXPECT_GT(test, t->cc.swift.cwnd, 10ULL << Q);
	ack.num_hops = 1;
	sroce_cc_on_ack(&t->cc, &t->p, &ack, US(10));
	KUNIT_EXPECT_LT(test, t->cc.swift.cwnd, 10ULL << Q);
}

/* A loss cuts as deep as may be, once in a round trip; many timeouts to the end. */
static void swift__loss(struct kunit *test)
{
	struct cc_test *t = test->priv;
	int i;

	start(t, 16);
	acked(t, 0, 30, 0, 30);
	t->cc.swift.cwnd = 16ULL << Q;
	t->cc.swift.cut = false;
	sroce_cc_on_loss(&t->cc, &t->p, false, US(100));
	KUNIT_EXPECT_EQ(test, t->cc.swift.cwnd, 8ULL << Q);
	sroce_cc_on_loss(&t->cc, &t->p, false, US(129));
	KUNIT_EXPECT_EQ(test, t->cc.swift.cwnd, 8ULL << Q);
	sroce_cc_on_loss(&t->cc, &t->p, false, US(130));
	KUNIT_EXPECT_EQ(test, t->cc.swift.cwnd, 4ULL << Q);
	for (i = 0; i < 4; i++)
		sroce_cc_on_loss(&t->cc, &t->p, true, US(131));
	KUNIT_EXPECT_EQ(test, t->cc.swift.cwnd, 4ULL << Q);
	sroce_cc_on_loss(&t->cc, &t->p, true, US(131));
	KUNIT_EXPECT_EQ(test, t->cc.swift.cwnd, milli(10));
	/* An answer begins the count anew. */
	acked(t, 140, 10, 1, 30);
	sroce_cc_on_loss(&t->cc, &t->p, true, US(141));
	KUNIT_EXPECT_GT(test, t->cc.swift.cwnd, ONE_PACKET / 2);
}

static void swift__random(struct kunit *test)
{
	struct cc_test *t = test->priv;
	u32 seed = 7, run, i;
	u64 now;

	for (run = 0; run < 200; run++) {
		cc_start(t, SROCE_CC_SWIFT);
		for (i = 0; i < sroce_cc_num_knobs; i++) {
			const struct sroce_cc_knob *k = &sroce_cc_knobs[i];
			u32 span = min(k->max - k->min, 1U << cc_random(&seed, 24));

			*sroce_cc_knob_at(&t->p, k) = k->min + cc_random(&seed, span + 1);
		}
		t->p.line_bps = MBPS(1 + cc_random(&seed, 1 << cc_random(&seed, 20)));
		sroce_cc_init(&t->cc, &t->p, SROCE_CC_SWIFT, MTU, 0);
		for (i = 0, now = 0; i < 100; i++) {
			now += cc_random(&seed, 100);
			if (cc_random(&seed, 5))
				acked(t, now, cc_random(&seed, 1 << cc_random(&seed, 25)),
				      cc_random(&seed, 1000), 1 + cc_random(&seed, 1000000));
			else
				sroce_cc_on_loss(&t->cc, &t->p, cc_random(&seed, 2), US(now));
			KUNIT_ASSERT_TRUE(test, t->cc.rate_bps == SROCE_CC_UNLIMITED ||
					  (t->cc.rate_bps >= sroce_cc_min_bps(&t->p) &&
					   t->cc.rate_bps <= sroce_cc_max_bps(&t->p)));
			KUNIT_ASSERT_GE(test, sroce_cc_window(&t->cc, &t->p), (u32)MTU);
			KUNIT_ASSERT_LE(test, sroce_cc_window(&t->cc, &t->p),
					t->p.swift_max_cwnd * MTU);
		}
	}
}

static struct kunit_case swift_cases[] = {
	KUNIT_CASE(swift__golden_trace),
	KUNIT_CASE(swift__scaling_by_flows),
	KUNIT_CASE(swift__first_window),
	KUNIT_CASE(swift__paces_below_a_packet),
	KUNIT_CASE(swift__target_by_hops),
	KUNIT_CASE(swift__loss),
	KUNIT_CASE(swift__random),
	{}
};

SUITE_INIT(sroce_swift, swift_cases, cc_test_init);
