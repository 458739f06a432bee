// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* proto/cc_hpcc.c */
#include "cc_fixture.h"

#include "../drivers/infiniband/sw/sroce/proto/cc_hpcc.c"

struct hpcc_row {
	u32 at_us, tx_bytes, queue, acked, sent;
	u32 util;	/* millionths */
	u32 window;	/* bytes / 10000 */
	u32 ref;
	u32 stage;
};

/* 10 Gbit/s, 20 us, one hop, every second acknowledgement commits */
static const struct hpcc_row hpcc_trace[] = {
	{ 0, 0, 0, 1000, 25000, 0, 250000000, 250000000, 0 },
	{ 10, 12500, 0, 12500, 37000, 500000, 251250000, 250000000, 0 },
	{ 20, 25000, 5000, 25100, 49000, 750000, 251250000, 251250000, 1 },
	{ 30, 37500, 10000, 37100, 61000, 975000, 246057692, 251250000, 1 },
	{ 40, 50000, 10000, 49100, 72000, 1187500, 202250000, 202250000, 0 },
	{ 50, 62000, 4000, 61100, 82000, 1153750, 167783044, 202250000, 0 },
	{ 60, 70000, 0, 72100, 92000, 896875, 203500000, 203500000, 1 },
	{ 70, 76000, 0, 82100, 102000, 688438, 204750000, 203500000, 1 },
	{ 80, 82000, 0, 92100, 112000, 584219, 204750000, 204750000, 2 },
	{ 90, 88000, 0, 102100, 122000, 532109, 206000000, 204750000, 2 },
	{ 100, 94000, 0, 112100, 132000, 506055, 206000000, 206000000, 3 },
	{ 110, 100000, 0, 122100, 142000, 493027, 207250000, 206000000, 3 },
	{ 120, 106000, 0, 132100, 152000, 486514, 207250000, 207250000, 4 },
	{ 130, 112000, 0, 142100, 162000, 483257, 208500000, 207250000, 4 },
};

static void start(struct cc_test *t)
{
	sroce_cc_params_init(&t->p, SROCE_CC_HPCC);
	t->p.line_bps = MBPS(10000);
	t->p.rp_base_rtt = 20;
	sroce_cc_init(&t->cc, &t->p, SROCE_CC_HPCC, MTU, 0);
	t->cc.hops = t->hops;
}

static void acked(struct cc_test *t, const struct hpcc_row *row)
{
	const struct sroce_cc_hop hop = {
		.link_bps = MBPS(10000),
		.ts_ns = US(row->at_us),
		.tx_bytes = row->tx_bytes,
		.queue_bytes = row->queue,
	};
	const struct sroce_cc_ack ack = {
		.acked = row->acked,
		.sent = row->sent,
		.num_hops = 1,
		.hops = &hop,
	};

	sroce_cc_on_ack(&t->cc, &t->p, &ack, US(row->at_us));
}

/* Are @got / 2^@shift and @ref / @scale the same to a part in a million? */
static bool same(u64 got, u32 shift, u64 ref, u32 scale)
{
	return cc_near(got * scale >> shift, ref, 1 + ref / 1000000);
}

static void hpcc__golden_trace(struct kunit *test)
{
	struct cc_test *t = test->priv;
	const struct sroce_cc_hpcc *h = &t->cc.hpcc;
	int i;

	start(t);
	for (i = 0; i < ARRAY_SIZE(hpcc_trace); i++) {
		const struct hpcc_row *row = &hpcc_trace[i];

		acked(t, row);
		if (!same(h->util, U_SHIFT, row->util, 1000000) ||
		    !cc_near(h->window * 10000 >> W_SHIFT, row->window, 100) ||
		    !cc_near(h->ref_window * 10000 >> W_SHIFT, row->ref, 100) ||
		    h->stage != row->stage)
			KUNIT_FAIL(test, "%u us: util %llu, window %llu, ref %llu, stage %u",
				   row->at_us, h->util, h->window, h->ref_window, h->stage);
	}
	/* 20850 bytes in 20 us */
	KUNIT_EXPECT_EQ(test, sroce_cc_window(&t->cc, &t->p), 20850u);
	KUNIT_EXPECT_EQ(test, t->cc.rate_bps, MBPS(8340));
}

/* The fullest of several links counts, and another way begins anew. */
static void hpcc__several_hops(struct kunit *test)
{
	struct cc_test *t = test->priv;
	struct sroce_cc_hop hops[2] = {
		{ .link_bps = MBPS(10000) },
		{ .link_bps = MBPS(100000) },
	};
	struct sroce_cc_ack ack = { .num_hops = 2, .hops = hops };

	start(t);
	sroce_cc_on_ack(&t->cc, &t->p, &ack, 0);
	hops[0].ts_ns = US(20);
	hops[0].tx_bytes = 20000;	/* eight tenths */
	hops[1].ts_ns = US(20);
	hops[1].tx_bytes = 25000;	/* a tenth */
	sroce_cc_on_ack(&t->cc, &t->p, &ack, 0);
	KUNIT_EXPECT_TRUE(test, same(t->cc.hpcc.util, U_SHIFT, 800000, 1000000));
	ack.num_hops = 1;
	hops[0].ts_ns = US(40);
	hops[0].tx_bytes = 1000000;
	sroce_cc_on_ack(&t->cc, &t->p, &ack, 0);
	KUNIT_EXPECT_TRUE(test, same(t->cc.hpcc.util, U_SHIFT, 800000, 1000000));
	KUNIT_EXPECT_EQ(test, t->cc.hpcc.num_hops, 1u);
}

/* Half used: five additive steps, and then at once to what fills it. */
static void hpcc__multiplies_after_the_stages(struct kunit *test)
{
	struct hpcc_row row = { 0 };
	struct cc_test *t = test->priv;
	int i;

	start(t);
	t->cc.hpcc.ref_window = 10000 << W_SHIFT;
	for (i = 0; i < 7; i++) {
		row.acked = row.sent + 1;
		row.sent = row.acked + 1;
		acked(t, &row);
		row.at_us += 20;
		row.tx_bytes += 12500;
		if (i == 5) {
			KUNIT_EXPECT_EQ(test, t->cc.hpcc.stage, 5u);
			KUNIT_EXPECT_EQ(test, t->cc.hpcc.ref_window >> W_SHIFT, 10625ULL);
		}
	}
	/* 10625 * 0.95 / 0.5 + 125 */
	KUNIT_EXPECT_EQ(test, t->cc.hpcc.ref_window >> W_SHIFT, 20312ULL);
	KUNIT_EXPECT_EQ(test, t->cc.hpcc.stage, 0u);
}

static void hpcc__needs_records(struct kunit *test)
{
	struct cc_test *t = test->priv;
	struct sroce_cc_ack ack = { .num_hops = 1, .bytes = 1000 };

	start(t);
	sroce_cc_on_ack(&t->cc, &t->p, &ack, 0);
	t->cc.hops = NULL;
	acked(t, &hpcc_trace[0]);
	acked(t, &hpcc_trace[1]);
	KUNIT_EXPECT_EQ(test, sroce_cc_window(&t->cc, &t->p), SROCE_CC_NO_WINDOW);
	KUNIT_EXPECT_EQ(test, t->cc.rate_bps, SROCE_CC_UNLIMITED);
}

static u64 random_u64(u32 *seed)
{
	return (u64)cc_random(seed, ~0U) << cc_random(seed, 32);
}

static void random_hop(struct sroce_cc_hop *hop, u32 *seed)
{
	hop->link_bps = MBPS(1 + cc_random(seed, 400000));
	hop->ts_ns = random_u64(seed);
	hop->tx_bytes = random_u64(seed);
	hop->queue_bytes = cc_random(seed, ~0U);
}

/* Records that make no sense lead nowhere outside of the bounds. */
static void hpcc__random(struct kunit *test)
{
	struct cc_test *t = test->priv;
	struct sroce_cc_hop hops[SROCE_CC_MAX_HOPS + 1];
	struct sroce_cc_ack ack = { .hops = hops };
	u32 seed = 5, run, i, j;

	for (run = 0; run < 200; run++) {
		start(t);
		for (i = 0; i < sroce_cc_num_knobs; i++) {
			const struct sroce_cc_knob *k = &sroce_cc_knobs[i];
			u32 span = min(k->max - k->min, 1U << cc_random(&seed, 20));

			*sroce_cc_knob_at(&t->p, k) = k->min + cc_random(&seed, span + 1);
		}
		t->p.line_bps = MBPS(1 + cc_random(&seed, 1 << cc_random(&seed, 20)));
		sroce_cc_init(&t->cc, &t->p, SROCE_CC_HPCC, MTU, 0);
		t->cc.hops = t->hops;
		ack.num_hops = cc_random(&seed, SROCE_CC_MAX_HOPS + 2);
		for (i = 0; i < 50; i++) {
			for (j = 0; j < ARRAY_SIZE(hops); j++)
				random_hop(&hops[j], &seed);
			ack.acked += cc_random(&seed, 10000);
			ack.sent += cc_random(&seed, 10000);
			sroce_cc_on_ack(&t->cc, &t->p, &ack, i);
			KUNIT_ASSERT_TRUE(test, t->cc.rate_bps == SROCE_CC_UNLIMITED ||
					  (t->cc.rate_bps >= sroce_cc_min_bps(&t->p) &&
					   t->cc.rate_bps <= sroce_cc_max_bps(&t->p)));
			KUNIT_ASSERT_TRUE(test, sroce_cc_window(&t->cc, &t->p) > 0);
		}
	}
}

static struct kunit_case hpcc_cases[] = {
	KUNIT_CASE(hpcc__golden_trace),
	KUNIT_CASE(hpcc__several_hops),
	KUNIT_CASE(hpcc__multiplies_after_the_stages),
	KUNIT_CASE(hpcc__needs_records),
	KUNIT_CASE(hpcc__random),
	{}
};

SUITE_INIT(sroce_hpcc, hpcc_cases, cc_test_init);
