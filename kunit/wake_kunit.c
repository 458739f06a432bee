// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/wake.c"

#define WAIT	50000ULL

/* A queue whose process posts @n, all of which completes at once; when to look again. */
static u64 post(struct sroce_wake *wake, u32 n, bool waited, u64 now)
{
	sroce_wake_on_post(wake, n, waited);
	return sroce_wake_on_dry(wake, now, WAIT);
}

/* Doorbells until the queue stays awake; @max if it does not. */
static u32 doorbells(struct sroce_wake *wake, u32 max, u64 now)
{
	u32 n = 0;

	while (n < max && post(wake, 1, false, now) == SROCE_NEVER)
		n++;
	return n;
}

static void wake__stream_stays_awake(struct kunit *test)
{
	struct sroce_wake wake;
	u64 now = 1000, look;
	int i;

	sroce_wake_reset(&wake);
	KUNIT_EXPECT_LT(test, doorbells(&wake, 100, now), 5u);
	KUNIT_EXPECT_EQ(test, wake.look_ns, now + WAIT);
	for (i = 0; i < 100; i++) {
		now = wake.look_ns;
		look = post(&wake, 2 + i % 3, false, now);
		KUNIT_ASSERT_EQ(test, look, now + WAIT);
	}
}

/* One that waits for each answer is never made to wait for a look. */
static void wake__ping_pong_sleeps(struct kunit *test)
{
	struct sroce_wake wake;
	u64 now = 1000;
	int i;

	sroce_wake_reset(&wake);
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_EQ(test, post(&wake, 1 + i % 16, true, now++), SROCE_NEVER);
	/* Not even if its way of waiting is not always understood. */
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_EQ(test, post(&wake, 1, i % 3 == 0, now++), SROCE_NEVER);
}

/* From streaming to waiting: a few looks, then doorbells again, and no way back for free. */
static void wake__a_change_of_mind_is_seen(struct kunit *test)
{
	struct sroce_wake wake;
	u64 now = 1000;
	int i;

	sroce_wake_reset(&wake);
	doorbells(&wake, 100, now);
	for (i = 0; i < 100; i++)
		post(&wake, 20, false, now = wake.look_ns);
	for (i = 0; post(&wake, 1, true, now = wake.look_ns) != SROCE_NEVER; i++)
		KUNIT_ASSERT_LE(test, i, SROCE_WAKE_MAX_TRUST);
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_EQ(test, post(&wake, 1, true, now++), SROCE_NEVER);
}

/* One at a time is not worth the waiting, whatever is known of the process. */
static void wake__looks_for_one_end(struct kunit *test)
{
	struct sroce_wake wake;
	u64 now = 1000;
	int i;

	sroce_wake_reset(&wake);
	doorbells(&wake, 100, now);
	for (i = 0; post(&wake, 1, false, now = wake.look_ns) != SROCE_NEVER; i++)
		KUNIT_ASSERT_LE(test, i, SROCE_WAKE_MAX_TRUST);
}

static void wake__looks_in_vain_end(struct kunit *test)
{
	struct sroce_wake wake;
	u64 now = 1000, look;
	int i;

	sroce_wake_reset(&wake);
	doorbells(&wake, 100, now);
	for (i = 1; i < SROCE_WAKE_EMPTY; i++) {
		now = wake.look_ns;
		look = sroce_wake_on_dry(&wake, now, WAIT);
		KUNIT_ASSERT_GE(test, look, now + 1);
		KUNIT_ASSERT_NE(test, look, SROCE_NEVER);
	}
	KUNIT_EXPECT_EQ(test, sroce_wake_on_dry(&wake, wake.look_ns, WAIT), SROCE_NEVER);
	KUNIT_EXPECT_FALSE(test, wake.awake);
}

/* Stays in vain become rarer, and one that paid makes them easy again. */
static void wake__backs_off(struct kunit *test)
{
	struct sroce_wake wake;
	u64 now = 1000;
	u32 n, last = 0;
	int i;

	sroce_wake_reset(&wake);
	for (i = 0; i < 5; i++) {
		n = doorbells(&wake, 100, now);
		KUNIT_EXPECT_LT(test, n, SROCE_WAKE_MAX_TRUST);
		KUNIT_EXPECT_GE(test, n, last);
		last = n;
		while (sroce_wake_on_dry(&wake, now = wake.look_ns, WAIT) != SROCE_NEVER)
			;
	}
	KUNIT_EXPECT_GT(test, last, 2 * SROCE_WAKE_TRUST);
	doorbells(&wake, 100, now);
	post(&wake, 9, false, now = wake.look_ns);
	while (sroce_wake_on_dry(&wake, now = wake.look_ns, WAIT) != SROCE_NEVER)
		;
	KUNIT_EXPECT_LT(test, doorbells(&wake, 100, now), 5u);
}

/* A pump that comes before its time neither counts as a look nor puts it off. */
static void wake__early_pumps_change_nothing(struct kunit *test)
{
	struct sroce_wake wake;
	u64 look;
	int i;

	sroce_wake_reset(&wake);
	doorbells(&wake, 100, 1000);
	look = wake.look_ns;
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_EQ(test, sroce_wake_on_dry(&wake, 1001 + i, WAIT), look);
}

/* The knob, and states that send nothing: asleep at once. */
static void wake__no_wait_no_looks(struct kunit *test)
{
	struct sroce_wake wake;
	int i;

	sroce_wake_reset(&wake);
	for (i = 0; i < 100; i++) {
		sroce_wake_on_post(&wake, 8, false);
		KUNIT_ASSERT_EQ(test, sroce_wake_on_dry(&wake, 1000 + i, 0), SROCE_NEVER);
	}
	KUNIT_EXPECT_NE(test, sroce_wake_on_dry(&wake, 2000, WAIT), SROCE_NEVER);
	KUNIT_EXPECT_EQ(test, sroce_wake_on_dry(&wake, 2001, 0), SROCE_NEVER);
	KUNIT_EXPECT_FALSE(test, wake.awake);
}

static struct kunit_case wake_cases[] = {
	KUNIT_CASE(wake__stream_stays_awake),
	KUNIT_CASE(wake__ping_pong_sleeps),
	KUNIT_CASE(wake__a_change_of_mind_is_seen),
	KUNIT_CASE(wake__looks_for_one_end),
	KUNIT_CASE(wake__looks_in_vain_end),
	KUNIT_CASE(wake__backs_off),
	KUNIT_CASE(wake__early_pumps_change_nothing),
	KUNIT_CASE(wake__no_wait_no_looks),
	{}
};

SUITE(wake, wake_cases);
