// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/hold.c"

#define PSN(n)		sroce_psn_add(0xfffffe, n)

struct hold_test {
	struct sroce_hold hold;
	struct sroce_held held[8];
};

static int hold_init(struct kunit *test)
{
	struct hold_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->hold.max_bytes = 1000;
	for (i = 0; i < ARRAY_SIZE(t->held); i++) {
		t->held[i].psn = PSN(i);
		t->held[i].bytes = 100;
	}
	test->priv = t;
	return 0;
}

static bool add(struct hold_test *t, u32 n)
{
	return sroce_hold_add(&t->hold, &t->held[n]);
}

static void hold_add__keeps_psn_order(struct kunit *test)
{
	static const u8 order[] = { 3, 1, 5, 4, 2 };
	struct hold_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		KUNIT_EXPECT_TRUE(test, add(t, order[i]));
	KUNIT_EXPECT_EQ(test, t->hold.packets, 5u);
	KUNIT_EXPECT_EQ(test, t->hold.bytes, 500u);
	for (i = 1; i <= 5; i++)
		KUNIT_EXPECT_TRUE(test, sroce_hold_take(&t->hold, PSN(i)) == &t->held[i]);
	KUNIT_EXPECT_TRUE(test, !t->hold.first);
	KUNIT_EXPECT_TRUE(test, !t->hold.last);
	KUNIT_EXPECT_EQ(test, t->hold.packets, 0u);
	KUNIT_EXPECT_EQ(test, t->hold.bytes, 0u);
}

static void hold_add__once(struct kunit *test)
{
	struct hold_test *t = test->priv;

	KUNIT_EXPECT_TRUE(test, add(t, 2));
	KUNIT_EXPECT_TRUE(test, add(t, 4));
	t->held[7].psn = PSN(2);
	KUNIT_EXPECT_FALSE(test, add(t, 7));
	KUNIT_EXPECT_TRUE(test, sroce_hold_has(&t->hold, PSN(2)));
	KUNIT_EXPECT_FALSE(test, sroce_hold_has(&t->hold, PSN(3)));
	KUNIT_EXPECT_EQ(test, t->hold.packets, 2u);
}

static void hold_add__bounded_in_bytes(struct kunit *test)
{
	struct hold_test *t = test->priv;

	t->hold.max_bytes = 250;
	KUNIT_EXPECT_TRUE(test, add(t, 1));
	KUNIT_EXPECT_TRUE(test, add(t, 2));
	KUNIT_EXPECT_FALSE(test, add(t, 3));
	t->held[4].bytes = 50;
	KUNIT_EXPECT_TRUE(test, add(t, 4));
	t->held[5].bytes = 0xffffffff;
	KUNIT_EXPECT_FALSE(test, add(t, 5));
	KUNIT_EXPECT_EQ(test, t->hold.bytes, 250u);
	/* The limit may be lowered while something is held. */
	t->hold.max_bytes = 10;
	t->held[6].bytes = 1;
	KUNIT_EXPECT_FALSE(test, add(t, 6));
}

static void hold_add__bounded_in_packets(struct kunit *test)
{
	struct sroce_held *held = kunit_kzalloc(test, (SROCE_HOLD_PACKETS + 1) * sizeof(*held),
						GFP_KERNEL);
	struct hold_test *t = test->priv;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, held);
	for (i = 0; i <= SROCE_HOLD_PACKETS; i++) {
		held[i].psn = PSN(i);
		KUNIT_EXPECT_EQ(test, sroce_hold_add(&t->hold, &held[i]), i < SROCE_HOLD_PACKETS);
	}
}

static void hold_take__only_what_is_due(struct kunit *test)
{
	struct hold_test *t = test->priv;

	KUNIT_EXPECT_TRUE(test, !sroce_hold_take(&t->hold, PSN(0)));
	add(t, 1);
	add(t, 3);
	KUNIT_EXPECT_TRUE(test, !sroce_hold_take(&t->hold, PSN(0)));
	/* What the expected PSN went beyond is handed out too. */
	KUNIT_EXPECT_TRUE(test, sroce_hold_take(&t->hold, PSN(2)) == &t->held[1]);
	KUNIT_EXPECT_TRUE(test, !sroce_hold_take(&t->hold, PSN(2)));
	KUNIT_EXPECT_TRUE(test, sroce_hold_take(&t->hold, PSN(3)) == &t->held[3]);
}

static void hold_resize__counts(struct kunit *test)
{
	struct hold_test *t = test->priv;

	add(t, 1);
	add(t, 2);
	sroce_hold_resize(&t->hold, &t->held[1], 30);
	KUNIT_EXPECT_EQ(test, t->hold.bytes, 130u);
	sroce_hold_take(&t->hold, PSN(1));
	KUNIT_EXPECT_EQ(test, t->hold.bytes, 100u);
}

static void hold_drop__all(struct kunit *test)
{
	struct hold_test *t = test->priv;
	u32 n = 0;

	add(t, 3);
	add(t, 1);
	add(t, 2);
	while (sroce_hold_drop(&t->hold))
		n++;
	KUNIT_EXPECT_EQ(test, n, 3u);
	KUNIT_EXPECT_EQ(test, t->hold.bytes, 0u);
}

static void hold_map__bits(struct kunit *test)
{
	struct hold_test *t = test->priv;
	u8 map[2] = { 0xff, 0xff };

	add(t, 0);
	add(t, 1);
	add(t, 3);
	t->held[5].psn = PSN(10);
	add(t, 5);
	t->held[6].psn = PSN(17);
	add(t, 6);
	sroce_hold_map(&t->hold, PSN(1), map, sizeof(map));
	KUNIT_EXPECT_EQ(test, map[0], 0xa0);
	KUNIT_EXPECT_EQ(test, map[1], 0x40);
}

static struct kunit_case hold_cases[] = {
	KUNIT_CASE(hold_add__keeps_psn_order),
	KUNIT_CASE(hold_add__once),
	KUNIT_CASE(hold_add__bounded_in_bytes),
	KUNIT_CASE(hold_add__bounded_in_packets),
	KUNIT_CASE(hold_take__only_what_is_due),
	KUNIT_CASE(hold_resize__counts),
	KUNIT_CASE(hold_drop__all),
	KUNIT_CASE(hold_map__bits),
	{}
};

SUITE_INIT(sroce_hold, hold_cases, hold_init);
