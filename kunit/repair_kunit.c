// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/repair.c"

#include "req_fixture.h"

static int repair_init(struct kunit *test)
{
	struct req_test *t;
	int err = req_init(test);

	if (err)
		return err;
	t = test->priv;
	t->req.hold = true;
	return 0;
}

/* A SACK: all before @n is acknowledged, and of what follows @n the bits say what is held. */
static u32 take_sack(struct req_test *t, u32 n, u8 first, u8 second)
{
	struct sroce_pkt pkt = {
		.opcode = SROCE_OPCODE_SACK, .syndrome = ACK, .psn = PSN(n - 1),
		.sack = { first, second },
	};

	take(t, &pkt);
	return t->in.events;
}

#define EXPECT_AGAIN(test, t, op, n) do {					\
	EXPECT_PACKET(test, t, op, n);						\
	KUNIT_EXPECT_TRUE(test, (t)->out.retransmit);				\
} while (0)

/* ---- answers ---- */

/* The middle of a READ is missing: just that is asked for, when the READ is over. */
static void repair_answers__part_of_a_read(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 5 * MTU + 7);
	send_all(t);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(0), MTU);
	KUNIT_EXPECT_EQ(test, take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(3), MTU),
			(u32)SROCE_REQ_EV_AHEAD);
	KUNIT_EXPECT_EQ(test, t->in.offset, 3u * MTU);
	take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(4), MTU);
	EXPECT_NOTHING(test, t);
	KUNIT_EXPECT_EQ(test, take_read(t, SROCE_OP_READ_RESP_LAST, PSN(5), 7),
			(u32)(SROCE_REQ_EV_AHEAD | SROCE_REQ_EV_HOLE | SROCE_REQ_EV_IMPLIED_NAK));
	EXPECT_AGAIN(test, t, SROCE_OP_READ_REQUEST, 1);
	KUNIT_EXPECT_EQ(test, t->out.pkt.va, 0x10000ULL + MTU);
	KUNIT_EXPECT_EQ(test, t->out.pkt.dma_bytes, 2u * MTU);
	EXPECT_NOTHING(test, t);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(1), MTU);
	EXPECT_NO_POP(test, t);
	take_read(t, SROCE_OP_READ_RESP_LAST, PSN(2), MTU);
	KUNIT_EXPECT_EQ(test, t->req.una_psn, PSN(6));
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 0);
	KUNIT_EXPECT_EQ(test, t->req.rd_psns, 0u);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
}

/* A standard responder is asked once, for all from the first to the last that is missing. */
static void repair_answers__one_request_covers_all(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 6 * MTU);
	send_all(t);
	take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(2), MTU);
	take_read(t, SROCE_OP_READ_RESP_LAST, PSN(5), MTU);
	EXPECT_AGAIN(test, t, SROCE_OP_READ_REQUEST, 0);
	KUNIT_EXPECT_EQ(test, t->out.pkt.dma_bytes, 5u * MTU);
	EXPECT_NOTHING(test, t);
}

/* One of us sends the parts beside of what it is sending: each gap, at once. */
static void repair_answers__each_gap_of_ours(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.selective = true;
	post(t, SROCE_WR_READ, 9 * MTU);
	send_all(t);
	take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(1), MTU);
	take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(4), MTU);
	EXPECT_AGAIN(test, t, SROCE_OP_READ_REQUEST, 0);
	KUNIT_EXPECT_EQ(test, t->out.pkt.dma_bytes, (u32)MTU);
	EXPECT_NOTHING(test, t);
	take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(6), MTU);
	EXPECT_AGAIN(test, t, SROCE_OP_READ_REQUEST, 2);
	KUNIT_EXPECT_EQ(test, t->out.pkt.dma_bytes, 2u * MTU);
	EXPECT_NOTHING(test, t);
}

static void repair_answers__duplicates_are_ignored(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 4 * MTU);
	send_all(t);
	take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(2), MTU);
	KUNIT_EXPECT_EQ(test, take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(2), MTU),
			(u32)SROCE_REQ_EV_IGNORED);
}

/* Without a request for a part the answer ends where the READ does. */
static void repair_answers__end_in_the_middle(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 4 * MTU);
	send_all(t);
	KUNIT_EXPECT_TRUE(test, take_read(t, SROCE_OP_READ_RESP_LAST, PSN(2), MTU) &
			  SROCE_REQ_EV_BAD_RESP);
	EXPECT_POP(test, t, 0, SROCE_ST_BAD_RESP_ERR);
}

/* An ACK beyond answers that are missing: what it says is remembered. */
static void repair_answers__ack_beyond(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 2 * MTU);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	KUNIT_EXPECT_TRUE(test, take_ack(t, ACK, PSN(2)) & SROCE_REQ_EV_IMPLIED_NAK);
	EXPECT_NO_POP(test, t);
	EXPECT_AGAIN(test, t, SROCE_OP_READ_REQUEST, 0);
	EXPECT_NOTHING(test, t);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(0), MTU);
	take_read(t, SROCE_OP_READ_RESP_LAST, PSN(1), MTU);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 1, SROCE_ST_SUCCESS);
}

/* All that may come behind a lost answer can be kept: no more READs are out than that. */
static void repair_answers__no_more_than_can_be_kept(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, (SROCE_REPAIR_AHEAD - 3) * MTU);
	post(t, SROCE_WR_READ, 2 * MTU);
	post(t, SROCE_WR_READ, MTU);
	EXPECT_PACKET(test, t, SROCE_OP_READ_REQUEST, 0);
	EXPECT_PACKET(test, t, SROCE_OP_READ_REQUEST, SROCE_REPAIR_AHEAD - 3);
	EXPECT_NOTHING(test, t);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(0), MTU);
	EXPECT_PACKET(test, t, SROCE_OP_READ_REQUEST, SROCE_REPAIR_AHEAD - 1);
}

static void repair_answers__atomic(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_FETCH_ADD, 8);
	post(t, SROCE_WR_FETCH_ADD, 8);
	send_all(t);
	KUNIT_EXPECT_TRUE(test, take_atomic(t, PSN(1)) & SROCE_REQ_EV_HOLE);
	EXPECT_AGAIN(test, t, SROCE_OP_FETCH_ADD, 0);
	take_atomic(t, PSN(0));
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 1, SROCE_ST_SUCCESS);
}

/* The part is lost too: an answer to what was asked for after it shows that. */
static void repair_answers__part_lost_again(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.selective = true;
	post(t, SROCE_WR_READ, 2 * MTU);
	send_all(t);
	take_read(t, SROCE_OP_READ_RESP_LAST, PSN(1), MTU);
	EXPECT_AGAIN(test, t, SROCE_OP_READ_REQUEST, 0);
	post(t, SROCE_WR_READ, 2 * MTU);
	EXPECT_PACKET(test, t, SROCE_OP_READ_REQUEST, 2);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(2), MTU);
	EXPECT_AGAIN(test, t, SROCE_OP_READ_REQUEST, 0);
	EXPECT_NOTHING(test, t);
}

/* ---- requests ---- */

static void repair_sack__only_what_is_missing(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.selective = true;
	post(t, SROCE_WR_WRITE, 8 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 8u);
	/* 1 is missing, 2 is held, 3 and 4 are missing, 5 is held; of 6 and 7 nothing is known. */
	KUNIT_EXPECT_EQ(test, take_sack(t, 1, 0x90, 0),
			(u32)(SROCE_REQ_EV_PROGRESS | SROCE_REQ_EV_HOLE));
	EXPECT_AGAIN(test, t, SROCE_OP_WRITE_MIDDLE, 1);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
	KUNIT_EXPECT_EQ(test, t->out.offset, (u32)MTU);
	EXPECT_AGAIN(test, t, SROCE_OP_WRITE_MIDDLE, 3);
	EXPECT_AGAIN(test, t, SROCE_OP_WRITE_MIDDLE, 4);
	EXPECT_NOTHING(test, t);
	/* The same once more says nothing new. */
	KUNIT_EXPECT_EQ(test, take_sack(t, 1, 0x90, 0), 0u);
	EXPECT_NOTHING(test, t);
	take_ack(t, ACK, PSN(7));
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	KUNIT_EXPECT_EQ(test, t->req.retry_left, t->req.retry_cnt);
}

/* Not agreed on: the SACK acknowledges what an ACK would. */
static void repair_sack__not_agreed_on(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 8 * MTU);
	send_all(t);
	take_sack(t, 2, 0xf0, 0);
	KUNIT_EXPECT_EQ(test, t->req.una_psn, PSN(2));
	EXPECT_NOTHING(test, t);
}

/* A SACK is an ACK. */
static void repair_sack__no_nak(struct kunit *test)
{
	struct req_test *t = test->priv;
	struct sroce_pkt pkt = {
		.opcode = SROCE_OPCODE_SACK, .syndrome = SROCE_NAK_PSN_SEQ, .psn = PSN(-1),
		.sack = { 0xff },
	};

	t->req.selective = true;
	post(t, SROCE_WR_WRITE, 8 * MTU);
	send_all(t);
	take(t, &pkt);
	KUNIT_EXPECT_EQ(test, t->in.events, (u32)SROCE_REQ_EV_IGNORED);
	KUNIT_EXPECT_EQ(test, t->req.acked_psn, PSN(0));
	EXPECT_NOTHING(test, t);
}

static void repair_sack__lost_again(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.selective = true;
	post(t, SROCE_WR_WRITE, 4 * MTU);
	send_all(t);
	take_sack(t, 1, 0xc0, 0);
	EXPECT_AGAIN(test, t, SROCE_OP_WRITE_MIDDLE, 1);
	post(t, SROCE_WR_WRITE, 2 * MTU);
	send_all(t);
	/* What was sent before the packet that was sent again says nothing about it. */
	KUNIT_EXPECT_EQ(test, take_sack(t, 1, 0xc0, 0), 0u);
	EXPECT_NOTHING(test, t);
	KUNIT_EXPECT_EQ(test, take_sack(t, 1, 0xe0, 0), (u32)SROCE_REQ_EV_HOLE);
	EXPECT_AGAIN(test, t, SROCE_OP_WRITE_MIDDLE, 1);
	EXPECT_NOTHING(test, t);
}

static void repair_sack__request_of_a_read(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.selective = true;
	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_READ, 3 * MTU);
	post(t, SROCE_WR_READ, MTU);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	/* 0 and the first READ (1) are missing; the second (4) and the SEND (5) are held. */
	take_sack(t, 0, 0x18, 0);
	EXPECT_AGAIN(test, t, SROCE_OP_SEND_ONLY, 0);
	EXPECT_AGAIN(test, t, SROCE_OP_READ_REQUEST, 1);
	KUNIT_EXPECT_EQ(test, t->out.pkt.dma_bytes, 3u * MTU);
	EXPECT_NOTHING(test, t);
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 2);
}

/* After going back, what the peer holds is not sent. */
static void repair_has__is_left_out(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.selective = true;
	post(t, SROCE_WR_WRITE, 4 * MTU);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	take_sack(t, 0, 0xe0, 0);
	sroce_req_seek(&t->req, PSN(0));
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_FIRST, 0);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 4);
	EXPECT_NOTHING(test, t);
}

/* The peer may let go of what it held: a timeout does not rely on it. */
static void repair_forget__by_the_timeout(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.selective = true;
	post(t, SROCE_WR_WRITE, 4 * MTU);
	send_all(t);
	take_sack(t, 0, 0xe0, 0);
	t->now += TIMEOUT_NS;
	sroce_req_on_timer(&t->req, t->now);
	KUNIT_EXPECT_EQ(test, send_all(t), 4u);
}

static void repair__queue_is_bounded(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	for (i = 0; i < SROCE_REPAIR_HOLES; i++)
		KUNIT_EXPECT_TRUE(test, add_hole(&t->req.repair, PSN(i), false));
	KUNIT_EXPECT_FALSE(test, add_hole(&t->req.repair, PSN(i), false));
}

/* ---- probes ---- */

static void repair_probe__oldest_only(struct kunit *test)
{
	struct req_test *t = test->priv;
	u64 deadline;

	t->req.early = true;
	t->req.ack_timeout_ns = 1000000000ULL;
	post(t, SROCE_WR_WRITE, 4 * MTU);
	send_all(t);
	deadline = sroce_req_deadline(&t->req);
	KUNIT_EXPECT_LT(test, deadline, t->now + t->req.ack_timeout_ns);
	KUNIT_EXPECT_EQ(test, sroce_req_on_timer(&t->req, deadline - 1), 0u);
	t->now = deadline;
	KUNIT_EXPECT_EQ(test, sroce_req_on_timer(&t->req, t->now), (u32)SROCE_REQ_EV_PROBE);
	EXPECT_AGAIN(test, t, SROCE_OP_WRITE_FIRST, 0);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
	EXPECT_NOTHING(test, t);
	KUNIT_EXPECT_EQ(test, t->req.retry_left, t->req.retry_cnt);
	/* It waits longer each time, and the ACK timeout is not put off by it. */
	KUNIT_EXPECT_GT(test, sroce_req_deadline(&t->req) - t->now, deadline - 5000);
	KUNIT_EXPECT_EQ(test, t->req.ack_deadline_ns, 5000 + t->req.ack_timeout_ns);
}

/* The time to an answer is known: 1 ms, so one is late after 2. */
static void know_the_path(struct req_test *t)
{
	t->req.early = true;
	t->req.ack_timeout_ns = 1000000000ULL;
	t->req.rtt.known = true;
	t->req.rtt.srtt_ns = 1000000;
}

static u64 late(const struct req_test *t)
{
	return (sroce_req_deadline(&t->req) - t->now) / 1000000;
}

/* A WRITE of four packets, no answer, and the probe. */
static void send_and_probe(struct req_test *t)
{
	know_the_path(t);
	post(t, SROCE_WR_WRITE, 4 * MTU);
	send_all(t);
	fire(t);
	send_all(t);
}

/* Only the probe got there: the rest was lost too. */
static void repair_probe__answered_alone(struct kunit *test)
{
	struct req_test *t = test->priv;

	send_and_probe(t);
	take_ack(t, ACK, PSN(0));
	/* A moment for the ACKs of what may have been late only. */
	EXPECT_NOTHING(test, t);
	KUNIT_EXPECT_EQ(test, late(t), 1ULL);
	fire(t);
	EXPECT_AGAIN(test, t, SROCE_OP_WRITE_MIDDLE, 1);
	EXPECT_AGAIN(test, t, SROCE_OP_WRITE_MIDDLE, 2);
	EXPECT_AGAIN(test, t, SROCE_OP_WRITE_LAST, 3);
}

/* The READ that was asked for again is answered, and nothing else. */
static void repair_probe__read_answered_alone(struct kunit *test)
{
	struct req_test *t = test->priv;

	know_the_path(t);
	post(t, SROCE_WR_READ, 2 * MTU);
	post(t, SROCE_WR_READ, MTU);
	send_all(t);
	fire(t);
	EXPECT_AGAIN(test, t, SROCE_OP_READ_REQUEST, 0);
	EXPECT_NOTHING(test, t);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(0), MTU);
	KUNIT_EXPECT_EQ(test, late(t), 4ULL);
	take_read(t, SROCE_OP_READ_RESP_LAST, PSN(1), MTU);
	KUNIT_EXPECT_EQ(test, late(t), 1ULL);
	fire(t);
	EXPECT_AGAIN(test, t, SROCE_OP_READ_REQUEST, 2);
}

/* Everything got there, only the ACK did not: nothing else is sent again. */
static void repair_probe__answered_for_all(struct kunit *test)
{
	struct req_test *t = test->priv;

	send_and_probe(t);
	take_ack(t, ACK, PSN(3));
	EXPECT_NOTHING(test, t);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
}

static void repair_probe__ends(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 n = 0;

	t->req.early = true;
	t->req.ack_timeout_ns = SROCE_NEVER;
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	while (sroce_req_deadline(&t->req) != SROCE_NEVER && n < 100) {
		if (fire(t) & SROCE_REQ_EV_PROBE)
			n++;
		send_all(t);
	}
	KUNIT_EXPECT_EQ(test, n, 8u);
}

/* Karn: the path is slower than we thought until it was measured. */
static void repair_probe__backoff_is_kept(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	know_the_path(t);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, late(t), 2ULL << i);
		fire(t);
		EXPECT_AGAIN(test, t, SROCE_OP_SEND_ONLY, 0);
	}
	/* Of which of the three? */
	take_ack(t, ACK, PSN(0));
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	KUNIT_EXPECT_EQ(test, late(t), 8ULL);
	t->now += 3000000;
	take_ack(t, ACK, PSN(1));
	/* 1.25 ms, give or take 0.5. */
	KUNIT_EXPECT_EQ(test, t->req.rtt.srtt_ns, 1250000ULL);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	KUNIT_EXPECT_EQ(test, late(t), 3ULL);
}

/* Nothing can be measured, but a round needs no probe any more. */
static void repair_probe__backoff_by_rounds(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	know_the_path(t);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	for (i = 0; i < 6; i++) {
		fire(t);
		send_all(t);
	}
	take_ack(t, ACK, PSN(0));
	KUNIT_EXPECT_EQ(test, t->req.backoff, 4u);
	for (i = 1; i < 5; i++) {
		post(t, SROCE_WR_SEND, 1);
		send_all(t);
		KUNIT_EXPECT_EQ(test, late(t), 64ULL >> i);
		t->req.rtt.probing = false;
		take_ack(t, ACK, PSN(i));
		KUNIT_EXPECT_EQ(test, t->req.backoff, 4 - i);
	}
}

/* ---- refused by the local stack ---- */

static void req_refused__again_after_a_pause(struct kunit *test)
{
	struct req_test *t = test->priv;
	u64 pause;

	post(t, SROCE_WR_WRITE, 4 * MTU);
	send_all(t);
	sroce_req_refused(&t->req, PSN(2), t->now);
	EXPECT_NOTHING(test, t);
	pause = sroce_req_deadline(&t->req) - t->now;
	KUNIT_EXPECT_LT(test, pause, TIMEOUT_NS);
	t->now = sroce_req_deadline(&t->req);
	KUNIT_EXPECT_EQ(test, sroce_req_on_timer(&t->req, t->now), 0u);
	EXPECT_AGAIN(test, t, SROCE_OP_WRITE_MIDDLE, 2);
	/* The same again: a longer pause. */
	sroce_req_refused(&t->req, PSN(2), t->now);
	KUNIT_EXPECT_GT(test, sroce_req_deadline(&t->req) - t->now, pause);
	KUNIT_EXPECT_EQ(test, t->req.retry_left, t->req.retry_cnt);
	/* Another one: the way is open, but narrow. */
	fire(t);
	send_all(t);
	sroce_req_refused(&t->req, PSN(3), t->now);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req) - t->now, pause);
}

static void req_refused__not_outstanding(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 4 * MTU);
	send_all(t);
	sroce_req_refused(&t->req, PSN(4), t->now);
	EXPECT_NOTHING(test, t);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), t->now + TIMEOUT_NS);
}

static struct kunit_case repair_cases[] = {
	KUNIT_CASE(repair_answers__part_of_a_read),
	KUNIT_CASE(repair_answers__one_request_covers_all),
	KUNIT_CASE(repair_answers__each_gap_of_ours),
	KUNIT_CASE(repair_answers__duplicates_are_ignored),
	KUNIT_CASE(repair_answers__end_in_the_middle),
	KUNIT_CASE(repair_answers__ack_beyond),
	KUNIT_CASE(repair_answers__no_more_than_can_be_kept),
	KUNIT_CASE(repair_answers__atomic),
	KUNIT_CASE(repair_answers__part_lost_again),
	KUNIT_CASE(repair_sack__only_what_is_missing),
	KUNIT_CASE(repair_sack__not_agreed_on),
	KUNIT_CASE(repair_sack__no_nak),
	KUNIT_CASE(repair_sack__lost_again),
	KUNIT_CASE(repair_sack__request_of_a_read),
	KUNIT_CASE(repair_has__is_left_out),
	KUNIT_CASE(repair_forget__by_the_timeout),
	KUNIT_CASE(repair__queue_is_bounded),
	KUNIT_CASE(repair_probe__oldest_only),
	KUNIT_CASE(repair_probe__answered_alone),
	KUNIT_CASE(repair_probe__read_answered_alone),
	KUNIT_CASE(repair_probe__answered_for_all),
	KUNIT_CASE(repair_probe__ends),
	KUNIT_CASE(repair_probe__backoff_is_kept),
	KUNIT_CASE(repair_probe__backoff_by_rounds),
	KUNIT_CASE(req_refused__again_after_a_pause),
	KUNIT_CASE(req_refused__not_outstanding),
	{}
};

SUITE_INIT(sroce_repair, repair_cases, repair_init);
