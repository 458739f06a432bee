// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/pace.c"

#define GBPS	1000000000ULL
#define START	(10 * GBPS)	/* ns; late enough to subtract from */

/* A sender that always has something to send; returns the bytes it sent until @end_ns. */
struct sender {
	struct sroce_turn turn;
	u64 bytes;
};

/* Book if need be, and send all that may be sent now. Returns when to look again. */
static u64 send_now(struct sender *s, struct sroce_pace *pace, u64 rate, u32 burst_ns, u32 packet,
		    u64 now)
{
	u32 bytes = sroce_pace_turn_bytes(rate, burst_ns, packet);

	for (;;) {
		if (sroce_turn_is_wanted(&s->turn, now))
			sroce_turn_give(&s->turn, bytes,
					sroce_pace_book(pace, rate, bytes, now));
		if (!sroce_turn_is_open(&s->turn, now))
			return s->turn.at_ns;
		sroce_turn_spend(&s->turn, packet);
		s->bytes += packet;
	}
}

struct rate_case {
	u64 rate;
	u32 burst_ns;
	u32 packet;
	u32 late_ns;	/* the timer comes so much later each time */
};

static const struct rate_case rate_cases[] = {
	{ 1000000, 16000, 1084, 0 },
	{ 100000000, 16000, 1084, 0 },
	{ 10 * GBPS, 16000, 1084, 0 },
	{ 10 * GBPS, 16000, 4156, 9000 },
	{ 10 * GBPS, 16000, 1084, 60000 },
	{ 100 * GBPS, 16000, 4156, 0 },
	{ 100 * GBPS, 0, 1084, 0 },
	{ 1000 * GBPS, 1000000, 4156, 0 },
	{ 333333333, 16000, 297, 100000 },
};

static void rate_desc(const struct rate_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%llu bit/s, burst %u ns, late %u ns",
		 (unsigned long long)c->rate, c->burst_ns, c->late_ns);
}

KUNIT_ARRAY_PARAM(rate, rate_cases, rate_desc);

/* Over a time the bytes are those of the rate, but for the turn and the packet at the end. */
static void pace__holds_the_rate(struct kunit *test)
{
	const struct rate_case *c = test->param_value;
	u32 turn = sroce_pace_turn_bytes(c->rate, c->burst_ns, c->packet);
	u64 ns = div64_u64(3000ULL * turn * 8 * GBPS, c->rate), want = 3000ULL * turn;
	struct sroce_pace pace = { .next_ns = START };
	struct sender s = {};
	u64 now = START;

	while (now < START + ns)
		now = send_now(&s, &pace, c->rate, c->burst_ns, c->packet, now) + c->late_ns;
	KUNIT_EXPECT_LE(test, s.bytes, want + 2 * turn + c->packet);
	if (c->late_ns < SROCE_PACE_LATE_NS)
		KUNIT_EXPECT_GE(test, s.bytes + 2 * turn + c->packet +
				div64_u64(c->rate * (c->late_ns + 1), 8 * GBPS), want);
}

/* Who comes back after a long time finds no more saved than the allowance for late timers. */
static void pace__saves_nothing_up(struct kunit *test)
{
	struct sroce_pace pace = {};
	struct sender s = {};

	send_now(&s, &pace, GBPS, 16000, 1000, START);
	KUNIT_EXPECT_LE(test, s.bytes, SROCE_PACE_LATE_NS / 8 + 2000 + 1000);
	s.bytes = 0;
	send_now(&s, &pace, GBPS, 16000, 1000, 2 * START);
	KUNIT_EXPECT_LE(test, s.bytes, SROCE_PACE_LATE_NS / 8 + 2000 + 1000);
}

/* Two of them on one road: neither waits more than a turn longer than the other. */
static void pace__is_shared_fairly(struct kunit *test)
{
	struct sroce_pace pace = { .next_ns = START };
	struct sender a = {}, b = {};
	u64 at_a = START, at_b = START;
	u32 i;

	for (i = 0; i < 10000; i++) {
		/* The timer that was set first fires first, and at equal times always a's. */
		if (at_a <= at_b)
			at_a = send_now(&a, &pace, GBPS, 16000, 1000, at_a);
		else
			at_b = send_now(&b, &pace, GBPS, 16000, 1000, at_b);
	}
	KUNIT_EXPECT_GT(test, a.bytes, 1000000ULL);
	KUNIT_EXPECT_LE(test, max(a.bytes, b.bytes) - min(a.bytes, b.bytes), 4000ULL);
}

static void pace__turn_is_a_packet_at_least(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sroce_pace_turn_bytes(1000000, 16000, 1084), 1084u);
	KUNIT_EXPECT_EQ(test, sroce_pace_turn_bytes(10 * GBPS, 16000, 1084), 20000u);
	KUNIT_EXPECT_EQ(test, sroce_pace_turn_bytes(1000 * GBPS, 1000000, 1084),
			SROCE_PACE_MAX_TURN);
}

static void turn__exceeded_is_owed(struct kunit *test)
{
	struct sroce_turn turn = {};

	sroce_turn_give(&turn, 1000, START);
	KUNIT_EXPECT_FALSE(test, sroce_turn_is_open(&turn, START - 1));
	KUNIT_EXPECT_TRUE(test, sroce_turn_is_open(&turn, START));
	sroce_turn_spend(&turn, 999);
	KUNIT_EXPECT_TRUE(test, sroce_turn_is_open(&turn, START));
	sroce_turn_spend(&turn, 600);
	KUNIT_EXPECT_FALSE(test, sroce_turn_is_open(&turn, START));
	KUNIT_EXPECT_EQ(test, sroce_turn_sent(&turn), 1599u);
	KUNIT_EXPECT_EQ(test, sroce_turn_sent(&turn), 0u);
	KUNIT_EXPECT_TRUE(test, sroce_turn_is_wanted(&turn, START));
	sroce_turn_give(&turn, 1000, START + 5);
	KUNIT_EXPECT_EQ(test, turn.bytes, 401);
}

static void turn__unused_is_forgotten(struct kunit *test)
{
	struct sroce_turn turn = {};

	sroce_turn_give(&turn, 1000, START);
	KUNIT_EXPECT_FALSE(test, sroce_turn_is_wanted(&turn, START + SROCE_PACE_LATE_NS));
	KUNIT_EXPECT_TRUE(test, sroce_turn_is_wanted(&turn, START + SROCE_PACE_LATE_NS + 1));
	KUNIT_EXPECT_EQ(test, turn.bytes, 0);
}

static struct kunit_case pace_cases[] = {
	KUNIT_CASE_PARAM(pace__holds_the_rate, rate_gen_params),
	KUNIT_CASE(pace__saves_nothing_up),
	KUNIT_CASE(pace__is_shared_fairly),
	KUNIT_CASE(pace__turn_is_a_packet_at_least),
	KUNIT_CASE(turn__exceeded_is_owed),
	KUNIT_CASE(turn__unused_is_forgotten),
	{}
};

SUITE(sroce_pace, pace_cases);
