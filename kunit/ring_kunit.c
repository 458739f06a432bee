// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include <sroce/ring.h>

#define ENTRIES	8
#define STRIDE	64

struct ring_pair {
	struct sroce_ring prod;
	struct sroce_ring cons;
	void *base;
};

/* Both sides of one ring, whose indices start at @first. */
static int ring_init(struct kunit *test)
{
	struct ring_pair *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->base = kunit_kzalloc(test, SROCE_RING_ENTRIES_OFFSET + ENTRIES * STRIDE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p->base);
	sroce_ring_attach(&p->prod, p->base, ENTRIES, STRIDE);
	sroce_ring_attach(&p->cons, p->base, ENTRIES, STRIDE);
	test->priv = p;
	return 0;
}

static void start_at(struct ring_pair *p, u32 first)
{
	p->prod.prod = first;
	p->prod.cons = first;
	p->cons.prod = first;
	p->cons.cons = first;
	p->prod.ctrl->prod = first;
	p->prod.ctrl->cons = first;
}

static void ring__layout(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizeof(struct sroce_ring_ctrl), (size_t)512);
	KUNIT_EXPECT_EQ(test, offsetof(struct sroce_ring_ctrl, prod), (size_t)0);
	KUNIT_EXPECT_EQ(test, offsetof(struct sroce_ring_ctrl, cons), (size_t)128);
	KUNIT_EXPECT_EQ(test, offsetof(struct sroce_ring_ctrl, flags), (size_t)256);
	KUNIT_EXPECT_EQ(test, offsetof(struct sroce_ring_ctrl, arm), (size_t)384);
	KUNIT_EXPECT_LE(test, sizeof(struct sroce_ring_ctrl), (size_t)SROCE_RING_ENTRIES_OFFSET);
}

static void ring_slot__wraps(struct kunit *test)
{
	struct ring_pair *p = test->priv;
	char *first = (char *)p->base + SROCE_RING_ENTRIES_OFFSET;

	KUNIT_EXPECT_TRUE(test, sroce_ring_slot(&p->prod, 0) == first);
	KUNIT_EXPECT_TRUE(test, sroce_ring_slot(&p->prod, 7) == first + 7 * STRIDE);
	KUNIT_EXPECT_TRUE(test, sroce_ring_slot(&p->prod, 8) == first);
	KUNIT_EXPECT_TRUE(test, sroce_ring_slot(&p->prod, 0xffffffff) == first + 7 * STRIDE);
}

static void ring__fill_and_drain(struct kunit *test)
{
	struct ring_pair *p = test->priv;

	KUNIT_EXPECT_EQ(test, sroce_ring_space(&p->prod), 8u);
	KUNIT_EXPECT_EQ(test, sroce_ring_used(&p->cons), 0u);
	sroce_ring_publish(&p->prod, 3);
	KUNIT_EXPECT_EQ(test, sroce_ring_space(&p->prod), 5u);
	KUNIT_EXPECT_EQ(test, sroce_ring_used(&p->cons), 3u);
	sroce_ring_publish(&p->prod, 5);
	KUNIT_EXPECT_EQ(test, sroce_ring_space(&p->prod), 0u);
	KUNIT_EXPECT_EQ(test, sroce_ring_used(&p->cons), 8u);
	sroce_ring_release(&p->cons, 8);
	KUNIT_EXPECT_EQ(test, sroce_ring_space(&p->prod), 8u);
	KUNIT_EXPECT_EQ(test, sroce_ring_used(&p->cons), 0u);
}

static void ring__fifo_across_32_bits(struct kunit *test)
{
	struct ring_pair *p = test->priv;
	u32 sent = 0, got = 0;

	start_at(p, 0xfffffff0);
	while (got < 100) {
		while (sroce_ring_space(&p->prod) && sent - got < 5) {
			*(u32 *)sroce_ring_slot(&p->prod, p->prod.prod) = sent++;
			sroce_ring_publish(&p->prod, 1);
		}
		while (sroce_ring_used(&p->cons)) {
			KUNIT_ASSERT_EQ(test, *(u32 *)sroce_ring_slot(&p->cons, p->cons.cons),
					got);
			got++;
			sroce_ring_release(&p->cons, 1);
		}
	}
	KUNIT_EXPECT_EQ(test, p->prod.prod, 0xfffffff0 + sent);
}

static void ring_space__hostile_cons(struct kunit *test)
{
	struct ring_pair *p = test->priv;

	start_at(p, 100);
	p->prod.ctrl->cons = 101;		/* ahead of the producer */
	KUNIT_EXPECT_EQ(test, sroce_ring_space(&p->prod), 0u);
	p->prod.ctrl->cons = 91;		/* more than a ring behind */
	KUNIT_EXPECT_EQ(test, sroce_ring_space(&p->prod), 0u);
	p->prod.ctrl->cons = 92;		/* exactly full */
	KUNIT_EXPECT_EQ(test, sroce_ring_space(&p->prod), 0u);
	p->prod.ctrl->cons = 93;
	KUNIT_EXPECT_EQ(test, sroce_ring_space(&p->prod), 1u);
}

static void ring_used__hostile_prod(struct kunit *test)
{
	struct ring_pair *p = test->priv;

	start_at(p, 100);
	p->cons.ctrl->prod = 108;
	KUNIT_EXPECT_EQ(test, sroce_ring_used(&p->cons), 8u);
	p->cons.ctrl->prod = 109;
	KUNIT_EXPECT_EQ(test, sroce_ring_used(&p->cons), 0u);
	p->cons.ctrl->prod = 99;
	KUNIT_EXPECT_EQ(test, sroce_ring_used(&p->cons), 0u);
	p->cons.ctrl->prod = 100;
	KUNIT_EXPECT_EQ(test, sroce_ring_used(&p->cons), 0u);
}

/* The other side's words are read, never trusted as one's own index. */
static void ring__own_index_is_private(struct kunit *test)
{
	struct ring_pair *p = test->priv;

	sroce_ring_publish(&p->prod, 2);
	p->prod.ctrl->prod = 77;
	sroce_ring_publish(&p->prod, 1);
	KUNIT_EXPECT_EQ(test, p->prod.ctrl->prod, 3u);
	p->cons.ctrl->cons = 55;
	sroce_ring_release(&p->cons, 1);
	KUNIT_EXPECT_EQ(test, p->cons.ctrl->cons, 1u);
}

static void ring_wakeup__asked_for_and_given(struct kunit *test)
{
	struct ring_pair *p = test->priv;

	p->cons.ctrl->flags = SROCE_RING_DEAD;
	KUNIT_EXPECT_FALSE(test, sroce_ring_must_wake(&p->prod));
	KUNIT_EXPECT_FALSE(test, sroce_ring_ask_wakeup(&p->cons));
	KUNIT_EXPECT_TRUE(test, sroce_ring_must_wake(&p->prod));
	KUNIT_EXPECT_EQ(test, p->cons.ctrl->flags, SROCE_RING_DEAD | SROCE_RING_NEED_WAKEUP);
	sroce_ring_awake(&p->cons);
	KUNIT_EXPECT_FALSE(test, sroce_ring_must_wake(&p->prod));
	KUNIT_EXPECT_EQ(test, p->cons.ctrl->flags, SROCE_RING_DEAD);
}

static void ring_wakeup__entry_came_first(struct kunit *test)
{
	struct ring_pair *p = test->priv;

	sroce_ring_publish(&p->prod, 1);
	KUNIT_EXPECT_FALSE(test, sroce_ring_must_wake(&p->prod));
	KUNIT_EXPECT_TRUE(test, sroce_ring_ask_wakeup(&p->cons));
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(ring__layout),
	KUNIT_CASE(ring_slot__wraps),
	KUNIT_CASE(ring__fill_and_drain),
	KUNIT_CASE(ring__fifo_across_32_bits),
	KUNIT_CASE(ring_space__hostile_cons),
	KUNIT_CASE(ring_used__hostile_prod),
	KUNIT_CASE(ring__own_index_is_private),
	KUNIT_CASE(ring_wakeup__asked_for_and_given),
	KUNIT_CASE(ring_wakeup__entry_came_first),
	{}
};

SUITE_INIT(sroce_ring, ring_cases, ring_init);
