/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A flow under congestion control, for the suites of proto/cc*.c. Rates in the
 * tables of the traces are in units of 100 bit/s, four digits after the point of
 * a number of Mb/s.
 */
#ifndef SROCE_CC_FIXTURE_H
#define SROCE_CC_FIXTURE_H

#include "suite.h"
#include "../drivers/infiniband/sw/sroce/proto/cc.h"

#define US(n)		((n) * 1000ULL)
#define MBPS(n)		((n) * 1000000ULL)
#define MTU		1024

struct cc_test {
	struct sroce_cc_params p;
	struct sroce_cc cc;
	struct sroce_cc_hop hops[SROCE_CC_MAX_HOPS];
};

/* 10 Gbit/s, defaults of the algorithm */
static void __maybe_unused cc_start(struct cc_test *t, enum sroce_cc_alg alg)
{
	sroce_cc_params_init(&t->p, alg);
	t->p.line_bps = MBPS(10000);
	sroce_cc_init(&t->cc, &t->p, alg, MTU, 0);
	t->cc.hops = t->hops;
}

/* The same for one that must not change: a second one at the same point. */
static bool __maybe_unused cc_same(const struct cc_test *a, const struct cc_test *b)
{
	return !memcmp(&a->cc.rate_bps, &b->cc.rate_bps,
		       sizeof(a->cc) - offsetof(struct sroce_cc, rate_bps));
}

/* |@a - @b| is at most @by */
static bool __maybe_unused cc_near(u64 a, u64 b, u64 by)
{
	return (a > b ? a - b : b - a) <= by;
}

/* A stream of numbers for the tests of properties: xorshift, never 0. */
static u32 __maybe_unused cc_random(u32 *state, u32 below)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % below;
}

static int __maybe_unused cc_test_init(struct kunit *test)
{
	struct cc_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	return 0;
}

#endif /* SROCE_CC_FIXTURE_H */
