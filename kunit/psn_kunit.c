// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/psn.h"

/* Where 24-bit arithmetic goes wrong: zero, the sign bit, the wrap. */
static const u32 edges[] = {
	0, 1, 2, 0xff, 0x100, 0x7ffffe, 0x7fffff, 0x800000, 0x800001, 0xfffffe, 0xffffff,
};

static void psn_add__wraps_at_24_bits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sroce_psn_add(0xffffff, 1), 0u);
	KUNIT_EXPECT_EQ(test, sroce_psn_add(0xfffff0, 0x20), 0x10u);
	KUNIT_EXPECT_EQ(test, sroce_psn_add(0, 0xffffffff), 0xffffffu);
	KUNIT_EXPECT_EQ(test, sroce_psn_add(5, SROCE_PSN_WINDOW), 0x800005u);
}

static void psn_add__stays_in_24_bits(struct kunit *test)
{
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(edges); i++)
		for (j = 0; j < ARRAY_SIZE(edges); j++)
			KUNIT_EXPECT_EQ(test, sroce_psn_add(edges[i], edges[j]) >> 24, 0u);
}

static void psn_diff__wraps_at_24_bits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sroce_psn_diff(0, 0), 0);
	KUNIT_EXPECT_EQ(test, sroce_psn_diff(0, 0xffffff), 1);
	KUNIT_EXPECT_EQ(test, sroce_psn_diff(0xffffff, 0), -1);
	KUNIT_EXPECT_EQ(test, sroce_psn_diff(0x10, 0xfffff0), 0x20);
	KUNIT_EXPECT_EQ(test, sroce_psn_diff(0xfffff0, 0x10), -0x20);
}

/* IBA 9.7.3.1: the farthest ahead is 2^23 - 1; 2^23 away counts as behind. */
static void psn_diff__window_is_half_the_circle(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(edges); i++) {
		u32 a = edges[i];

		KUNIT_EXPECT_EQ(test, sroce_psn_diff(sroce_psn_add(a, 0x7fffff), a), 0x7fffff);
		KUNIT_EXPECT_EQ(test, sroce_psn_diff(sroce_psn_add(a, 0x800000), a), -0x800000);
		KUNIT_EXPECT_EQ(test, sroce_psn_diff(sroce_psn_add(a, 0x800001), a), -0x7fffff);
	}
}

static void psn_diff__undoes_add(struct kunit *test)
{
	u32 x = 12345;
	u32 i;

	for (i = 0; i < 20000; i++) {
		u32 base, n;

		x = x * 1664525 + 1013904223;
		base = x >> 8;
		x = x * 1664525 + 1013904223;
		n = x >> 9;
		KUNIT_ASSERT_EQ(test, sroce_psn_diff(sroce_psn_add(base, n), base), (s32)n);
		KUNIT_ASSERT_EQ(test, sroce_psn_diff(base, sroce_psn_add(base, n)), -(s32)n);
	}
}

static void psn_in__is_half_open(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, sroce_psn_in(9, 10, 3));
	KUNIT_EXPECT_TRUE(test, sroce_psn_in(10, 10, 3));
	KUNIT_EXPECT_TRUE(test, sroce_psn_in(12, 10, 3));
	KUNIT_EXPECT_FALSE(test, sroce_psn_in(13, 10, 3));
	KUNIT_EXPECT_FALSE(test, sroce_psn_in(10, 10, 0));
}

static void psn_in__wraps_at_24_bits(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, sroce_psn_in(0xffffff, 0xfffffe, 4));
	KUNIT_EXPECT_TRUE(test, sroce_psn_in(0, 0xfffffe, 4));
	KUNIT_EXPECT_TRUE(test, sroce_psn_in(1, 0xfffffe, 4));
	KUNIT_EXPECT_FALSE(test, sroce_psn_in(2, 0xfffffe, 4));
	KUNIT_EXPECT_FALSE(test, sroce_psn_in(0xfffffd, 0xfffffe, 4));
}

static struct kunit_case psn_cases[] = {
	KUNIT_CASE(psn_add__wraps_at_24_bits),
	KUNIT_CASE(psn_add__stays_in_24_bits),
	KUNIT_CASE(psn_diff__wraps_at_24_bits),
	KUNIT_CASE(psn_diff__window_is_half_the_circle),
	KUNIT_CASE(psn_diff__undoes_add),
	KUNIT_CASE(psn_in__is_half_open),
	KUNIT_CASE(psn_in__wraps_at_24_bits),
	{}
};

SUITE(sroce_psn, psn_cases);
