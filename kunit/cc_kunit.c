// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* proto/cc.c */
#include "cc_fixture.h"

#include "../drivers/infiniband/sw/sroce/proto/cc.c"

static void cc_alg__names(struct kunit *test)
{
	enum sroce_cc_alg alg;

	for (alg = 0; alg < SROCE_CC_NUM_ALGS; alg++)
		KUNIT_EXPECT_EQ(test, (int)sroce_cc_alg_find(sroce_cc_alg_name(alg)), (int)alg);
	KUNIT_EXPECT_EQ(test, (int)sroce_cc_alg_find("dcqc"), (int)SROCE_CC_NUM_ALGS);
	KUNIT_EXPECT_EQ(test, (int)sroce_cc_alg_find(""), (int)SROCE_CC_NUM_ALGS);
}

/* Every member has a knob, and defaults are valid. */
static void cc_knobs__cover_the_parameters(struct kunit *test)
{
	struct sroce_cc_params p;
	enum sroce_cc_alg alg;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, sizeof(p), sizeof(u64) + sroce_cc_num_knobs * sizeof(u32) +
			(sroce_cc_num_knobs & 1) * sizeof(u32));
	for (i = 0; i < sroce_cc_num_knobs; i++) {
		const struct sroce_cc_knob *k = &sroce_cc_knobs[i];

		KUNIT_EXPECT_EQ(test, (size_t)k->offset, sizeof(u64) + i * sizeof(u32));
		KUNIT_EXPECT_LT(test, k->min, k->max);
		KUNIT_EXPECT_TRUE(test, k->algs != 0);
		for (alg = 0; alg < SROCE_CC_NUM_ALGS; alg++) {
			sroce_cc_params_init(&p, alg);
			KUNIT_EXPECT_TRUE(test, sroce_cc_knob_valid(k, *sroce_cc_knob_at(&p, k)));
		}
		KUNIT_EXPECT_TRUE(test, sroce_cc_knob_valid(k, k->min));
		KUNIT_EXPECT_TRUE(test, sroce_cc_knob_valid(k, k->max));
		KUNIT_EXPECT_FALSE(test, sroce_cc_knob_valid(k, k->max + 1ULL));
		if (k->min)
			KUNIT_EXPECT_FALSE(test, sroce_cc_knob_valid(k, k->min - 1ULL));
	}
}

/* The units and defaults that mlx5 has. */
static void cc_params__as_mlx5(struct kunit *test)
{
	struct sroce_cc_params p;

	sroce_cc_params_init(&p, SROCE_CC_DCQCN);
	KUNIT_EXPECT_EQ(test, p.rp_clamp_tgt_rate, 0u);
	KUNIT_EXPECT_EQ(test, p.rp_clamp_tgt_rate_ati, 1u);
	KUNIT_EXPECT_EQ(test, p.rp_time_reset, 300u);
	KUNIT_EXPECT_EQ(test, p.rp_byte_reset, 32767u);
	KUNIT_EXPECT_EQ(test, p.rp_threshold, 1u);
	KUNIT_EXPECT_EQ(test, p.rp_max_rate, 0u);
	KUNIT_EXPECT_EQ(test, p.rp_ai_rate, 5u);
	KUNIT_EXPECT_EQ(test, p.rp_hai_rate, 50u);
	KUNIT_EXPECT_EQ(test, p.rp_gd, 11u);
	KUNIT_EXPECT_EQ(test, p.rp_min_dec_fac, 50u);
	KUNIT_EXPECT_EQ(test, p.rp_min_rate, 1u);
	KUNIT_EXPECT_EQ(test, p.rp_rate_to_set_on_first_cnp, 0u);
	KUNIT_EXPECT_EQ(test, p.rp_dce_tcp_g, 1019u);
	KUNIT_EXPECT_EQ(test, p.rp_dce_tcp_rtt, 1u);
	KUNIT_EXPECT_EQ(test, p.rp_rate_reduce_monitor_period, 4u);
	KUNIT_EXPECT_EQ(test, p.rp_initial_alpha_value, 1023u);
}

static void cc_none__limits_nothing(struct kunit *test)
{
	const struct sroce_cc_ack ack = { .rtt_ns = US(1000), .bytes = 1 };
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_NONE);
	sroce_cc_on_cnp(&t->cc, &t->p, US(1));
	sroce_cc_on_ack(&t->cc, &t->p, &ack, US(2));
	sroce_cc_on_loss(&t->cc, &t->p, true, US(3));
	sroce_cc_on_send(&t->cc, &t->p, 1 << 30, US(4));
	KUNIT_EXPECT_EQ(test, sroce_cc_rate(&t->cc, &t->p, U64_MAX - 1), SROCE_CC_UNLIMITED);
	KUNIT_EXPECT_EQ(test, sroce_cc_window(&t->cc, &t->p), SROCE_CC_NO_WINDOW);
}

/* Bytes in flight while a rate is limited: a knob, or twice the port's round trip. */
static void cc_window__of_a_limited_rate(struct kunit *test)
{
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_DCQCN);
	KUNIT_EXPECT_EQ(test, sroce_cc_window(&t->cc, &t->p), SROCE_CC_NO_WINDOW);
	sroce_cc_on_cnp(&t->cc, &t->p, 0);
	t->p.rp_base_rtt = 100;
	KUNIT_EXPECT_EQ(test, sroce_cc_window(&t->cc, &t->p), 250000u);
	t->p.rp_base_rtt = 10;
	KUNIT_EXPECT_EQ(test, sroce_cc_window(&t->cc, &t->p), 65536u);
	t->p.rp_max_inflight = 5000;
	KUNIT_EXPECT_EQ(test, sroce_cc_window(&t->cc, &t->p), 5000u);
}

struct ackreq_case {
	enum sroce_cc_alg alg;
	u32 mtu;
	u64 rate_bps;
	u64 timeout_ns;
	u32 every;		/* of 32 at most */
};

static const struct ackreq_case ackreq_cases[] = {
	/* Nothing is slow, or nobody waits. */
	{ SROCE_CC_NONE, 1024, SROCE_CC_UNLIMITED, US(67109), 32 },
	{ SROCE_CC_DCQCN, 1024, SROCE_CC_UNLIMITED, SROCE_NEVER, 32 },
	{ SROCE_CC_DCQCN, 1024, MBPS(1), SROCE_NEVER, 32 },
	/* A packet takes 8192 us, 819 us, 8 us. */
	{ SROCE_CC_DCQCN, 1024, MBPS(1), US(131072), 4 },
	{ SROCE_CC_DCQCN, 1024, MBPS(1), US(131071), 3 },
	{ SROCE_CC_NONE, 1024, MBPS(10), US(131072), 32 },
	{ SROCE_CC_DCQCN, 1024, MBPS(1000), US(1048), 31 },
	{ SROCE_CC_DCQCN, 1024, MBPS(1000), US(1049), 32 },
	/* Longer than the timeout: each packet. */
	{ SROCE_CC_DCQCN, 4096, MBPS(1), US(8), 1 },
	{ SROCE_CC_DCQCN, 4096, 1, US(67109), 1 },
	/* Less than a nanosecond; the longest timeout there is. */
	{ SROCE_CC_NONE, 256, 4000000000000000ULL, US(8), 32 },
	{ SROCE_CC_DCQCN, 256, SROCE_CC_MAX_BPS, US(8796093022ULL), 32 },
	/* Round trips are wanted, once in 16 KiB. */
	{ SROCE_CC_TIMELY, 1024, SROCE_CC_UNLIMITED, US(67109), 16 },
	{ SROCE_CC_TIMELY_PATCHED, 4096, SROCE_CC_UNLIMITED, SROCE_NEVER, 4 },
	{ SROCE_CC_SWIFT, 256, SROCE_CC_UNLIMITED, US(67109), 32 },
	{ SROCE_CC_SWIFT, 1024, MBPS(1), US(131072), 4 },
	{ SROCE_CC_SWIFT, 1024, MBPS(1), US(1048576), 16 },
};

static void ackreq_desc(const struct ackreq_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, MTU %u, %llu bit/s, timeout %llu ns",
		 sroce_cc_alg_name(c->alg), c->mtu, (unsigned long long)c->rate_bps,
		 (unsigned long long)c->timeout_ns);
}

KUNIT_ARRAY_PARAM(ackreq, ackreq_cases, ackreq_desc);

static void cc_ackreq__often_enough(struct kunit *test)
{
	const struct ackreq_case *c = test->param_value;
	struct cc_test *t = test->priv;

	cc_start(t, c->alg);
	t->cc.mtu = c->mtu;
	KUNIT_EXPECT_EQ(test, sroce_cc_ackreq_every(&t->cc, c->rate_bps, c->timeout_ns, 32),
			c->every);
	/* Never more than what the caller wants. */
	KUNIT_EXPECT_EQ(test, sroce_cc_ackreq_every(&t->cc, c->rate_bps, c->timeout_ns, 2),
			min(c->every, 2U));
}

static void cc_tx_ns__exact(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sroce_cc_tx_ns(MBPS(10000), 1250), 1000ULL);
	KUNIT_EXPECT_EQ(test, sroce_cc_tx_ns(MBPS(1), 1 << 20), 8388608000ULL);
	KUNIT_EXPECT_EQ(test, sroce_cc_tx_ns(SROCE_CC_MAX_BPS, (1U << 30) - 1), 8589934ULL);
	KUNIT_EXPECT_EQ(test, sroce_cc_tx_ns(SROCE_CC_UNLIMITED, 1 << 20), 0ULL);
}

static void cc_max__of_port_and_knob(struct kunit *test)
{
	struct cc_test *t = test->priv;

	cc_start(t, SROCE_CC_DCQCN);
	KUNIT_EXPECT_EQ(test, sroce_cc_max_bps(&t->p), MBPS(10000));
	t->p.rp_max_rate = 400;
	KUNIT_EXPECT_EQ(test, sroce_cc_max_bps(&t->p), MBPS(400));
	/* What the port is said to have may be wrong. */
	t->p.rp_max_rate = 20000;
	KUNIT_EXPECT_EQ(test, sroce_cc_max_bps(&t->p), MBPS(20000));
	t->p.rp_min_rate = 30000;
	KUNIT_EXPECT_EQ(test, sroce_cc_min_bps(&t->p), MBPS(20000));
}

static void cc_info__of_a_limited_flow(struct kunit *test)
{
	struct cc_test *t = test->priv;
	struct sroce_cc_info info;

	cc_start(t, SROCE_CC_DCQCN_PAPER);
	sroce_cc_get_info(&t->cc, &t->p, &info);
	KUNIT_EXPECT_EQ(test, info.rate_bps, SROCE_CC_UNLIMITED);
	KUNIT_EXPECT_EQ(test, info.target_bps, SROCE_CC_UNLIMITED);
	sroce_cc_on_cnp(&t->cc, &t->p, 0);
	sroce_cc_get_info(&t->cc, &t->p, &info);
	KUNIT_EXPECT_EQ(test, info.rate_bps, MBPS(5000));
	KUNIT_EXPECT_EQ(test, info.target_bps, MBPS(10000));
	KUNIT_EXPECT_EQ(test, info.alpha, 1024u);
	KUNIT_EXPECT_EQ(test, info.window, 125000u);
}

static struct kunit_case cc_cases[] = {
	KUNIT_CASE(cc_alg__names),
	KUNIT_CASE(cc_knobs__cover_the_parameters),
	KUNIT_CASE(cc_params__as_mlx5),
	KUNIT_CASE(cc_none__limits_nothing),
	KUNIT_CASE(cc_window__of_a_limited_rate),
	KUNIT_CASE_PARAM(cc_ackreq__often_enough, ackreq_gen_params),
	KUNIT_CASE(cc_tx_ns__exact),
	KUNIT_CASE(cc_max__of_port_and_knob),
	KUNIT_CASE(cc_info__of_a_limited_flow),
	{}
};

SUITE_INIT(sroce_cc, cc_cases, cc_test_init);
