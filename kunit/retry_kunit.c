// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/retry.c"

#include "req_fixture.h"

/* ---- local ACK timeout (IBA 9.7.6.1.3) ---- */

static void req_on_timer__early_is_nothing(struct kunit *test)
{
	struct req_test *t = test->priv;
	u64 deadline;

	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
	KUNIT_EXPECT_EQ(test, sroce_req_on_timer(&t->req, SROCE_NEVER - 1), 0u);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	deadline = sroce_req_deadline(&t->req);
	KUNIT_EXPECT_EQ(test, deadline, t->now + TIMEOUT_NS);
	KUNIT_EXPECT_EQ(test, sroce_req_on_timer(&t->req, deadline - 1), 0u);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), deadline);
	EXPECT_NOTHING(test, t);
}

static void req_on_timer__goes_back_to_the_oldest(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_WRITE, 3 * MTU);
	send_all(t);
	take_ack(t, ACK, PSN(1));
	KUNIT_EXPECT_EQ(test, fire(t), (u32)(SROCE_REQ_EV_TIMEOUT | SROCE_REQ_EV_RETRY |
					     SROCE_REQ_EV_SLOW_RESTART));
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_MIDDLE, 2);
	KUNIT_EXPECT_TRUE(test, t->out.retransmit);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_LAST, 3);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), t->now + TIMEOUT_NS);
}

/* The timer detects missing progress: later packets do not postpone it. */
static void req_on_timer__sending_does_not_postpone(struct kunit *test)
{
	struct req_test *t = test->priv;
	u64 deadline;

	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	deadline = sroce_req_deadline(&t->req);
	t->now += TIMEOUT_NS / 2;
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), deadline);
}

static void req_on_timer__disabled(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.ack_timeout_ns = SROCE_NEVER;
	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
	take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0));
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
}

static void req_on_timer__gives_up_after_retry_cnt(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, fire(t), (u32)(SROCE_REQ_EV_TIMEOUT | SROCE_REQ_EV_RETRY |
						     SROCE_REQ_EV_SLOW_RESTART));
		KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	}
	KUNIT_EXPECT_EQ(test, fire(t), (u32)(SROCE_REQ_EV_TIMEOUT | SROCE_REQ_EV_FAILED |
					     SROCE_REQ_EV_RETRY_EXC));
	EXPECT_NOTHING(test, t);
	EXPECT_POP(test, t, 0, SROCE_ST_RETRY_EXC_ERR);
	EXPECT_POP(test, t, 1, SROCE_ST_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
}

static void req_on_timer__no_retries_at_all(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.retry_cnt = 0;
	sroce_req_start(&t->req, FIRST_PSN);
	post(t, SROCE_WR_READ, 1);
	send_all(t);
	KUNIT_EXPECT_TRUE(test, fire(t) & SROCE_REQ_EV_RETRY_EXC);
	EXPECT_POP(test, t, 0, SROCE_ST_RETRY_EXC_ERR);
}

static void req_on_timer__progress_gives_all_retries_back(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	post(t, SROCE_WR_WRITE, 10 * MTU);
	for (i = 0; i < 9; i++) {
		send_all(t);
		KUNIT_EXPECT_TRUE(test, fire(t) & SROCE_REQ_EV_RETRY);
		send_all(t);
		KUNIT_EXPECT_TRUE(test, fire(t) & SROCE_REQ_EV_RETRY);
		take_ack(t, ACK, PSN(i));
	}
	KUNIT_EXPECT_EQ(test, t->req.retry_left, 3);
}

/* ---- slow restart ---- */

/* Send all that may be sent: it must be @n packets, and the last of them asks for an ACK. */
static void expect_round(struct kunit *test, u32 n)
{
	struct req_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, send_all(t), n);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
}

static void req_slow_restart__after_a_timeout(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 64 * MTU);
	post(t, SROCE_WR_WRITE, 90 * MTU);
	expect_round(test, 64);
	fire(t);
	expect_round(test, 8);
	take_ack(t, ACK, PSN(7));
	expect_round(test, 16);
	take_ack(t, ACK, PSN(23));
	expect_round(test, 32);
	take_ack(t, ACK, PSN(55));
	expect_round(test, 64);
	KUNIT_EXPECT_EQ(test, t->out.pkt.psn, PSN(119));
	/* No limit any more. */
	take_ack(t, ACK, PSN(119));
	KUNIT_EXPECT_EQ(test, t->req.restart, U32_MAX);
}

static void req_slow_restart__reads(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	for (i = 0; i < 3; i++)
		post(t, SROCE_WR_READ, 4 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 3u);
	fire(t);
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(0), MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	KUNIT_EXPECT_EQ(test, t->out.pkt.psn, PSN(8));
}

/* What was in flight before a refused packet may not have asked for an ACK. */
static void req_slow_restart__after_a_refusal(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 14 * MTU);
	expect_round(test, 14);
	sroce_req_refused(&t->req, PSN(10), t->now);
	t->now = t->req.resume_ns;
	sroce_req_on_timer(&t->req, t->now);
	expect_round(test, 1);
	KUNIT_EXPECT_EQ(test, t->out.pkt.psn, PSN(10));
	take_ack(t, ACK, PSN(10));
	expect_round(test, 3);
}

/* A READ is asked for from its first missing byte on (recipe R3). */
static void req_on_timer__read_resumes(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 3 * MTU + 1);
	send_all(t);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(0), MTU);
	take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(1), MTU);
	fire(t);
	EXPECT_PACKET(test, t, SROCE_OP_READ_REQUEST, 2);
	KUNIT_EXPECT_EQ(test, t->out.pkt.va, 0x10000ULL + 2 * MTU);
	KUNIT_EXPECT_EQ(test, t->out.pkt.dma_bytes, (u32)MTU + 1);
	KUNIT_EXPECT_EQ(test, t->req.next_psn, PSN(4));
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(2), MTU);
	KUNIT_EXPECT_EQ(test, t->in.offset, 2u * MTU);
	take_read(t, SROCE_OP_READ_RESP_LAST, PSN(3), 1);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
}

/* As long as no round trip was measured, one may take this long. */
#define NAK_OLD_NS	(20000 * SROCE_NS_PER_US)

/* A sequence NAK uses up a retry, too. */
static void req_retry__naks_count(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	post(t, SROCE_WR_SEND, 1);
	for (i = 0; i < 3; i++) {
		send_all(t);
		KUNIT_EXPECT_TRUE(test, take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0)) &
				  SROCE_REQ_EV_RETRY);
		t->now += NAK_OLD_NS;
	}
	send_all(t);
	KUNIT_EXPECT_TRUE(test, take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0)) & SROCE_REQ_EV_RETRY_EXC);
	EXPECT_POP(test, t, 0, SROCE_ST_RETRY_EXC_ERR);
}

/* The same NAK once more, made before what is sent again can have come there: no retry. */
static void req_retry__old_naks_do_not_count(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	KUNIT_EXPECT_TRUE(test, take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0)) & SROCE_REQ_EV_RETRY);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 0);
	t->now += NAK_OLD_NS - 1;
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0)),
				(u32)SROCE_REQ_EV_SEQ_NAK);
	KUNIT_EXPECT_EQ(test, t->req.retry_left, 2);
	/* It goes on where it was; one for another PSN counts at once. */
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 1);
	KUNIT_EXPECT_TRUE(test, take_ack(t, SROCE_NAK_PSN_SEQ, PSN(1)) & SROCE_REQ_EV_RETRY);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 1);
}

/* Once round trips are measured, half of one is that long. */
static void req_retry__old_naks_by_round_trip(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.rtt.samples = 1;
	t->req.rtt.last_ns = 1000;
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0));
	send_all(t);
	t->now += 499;
	KUNIT_EXPECT_EQ(test, take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0)), (u32)SROCE_REQ_EV_SEQ_NAK);
	t->now++;
	KUNIT_EXPECT_TRUE(test, take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0)) & SROCE_REQ_EV_RETRY);
	KUNIT_EXPECT_EQ(test, t->req.retry_left, 1);
}

static void req_retry__restarts_the_timer(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	t->now += 400;
	take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0));
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), t->now + TIMEOUT_NS);
}

/* Outstanding READs and atomics count once however often they are sent. */
static void req_retry__rd_out_is_counted_anew(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	for (i = 0; i < 4; i++)
		post(t, SROCE_WR_FETCH_ADD, 8);
	KUNIT_EXPECT_EQ(test, send_all(t), 4u);
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 4);
	take_atomic(t, PSN(0));
	fire(t);
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 0);
	KUNIT_EXPECT_EQ(test, send_all(t), 3u);
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 3);
	for (i = 1; i < 4; i++)
		take_atomic(t, PSN(i));
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 0);
	KUNIT_EXPECT_EQ(test, t->req.rd_psns, 0u);
}

/* ---- RNR (recipe R1) ---- */

struct rnr_param {
	u8 code;
};

static const struct rnr_param rnr_params[] = {
	{ 0 }, { 1 }, { 2 }, { 3 }, { 12 }, { 20 }, { 24 }, { 25 }, { 30 }, { 31 },
};

static void rnr_desc(const struct rnr_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "timer %u", p->code);
}

KUNIT_ARRAY_PARAM(rnr, rnr_params, rnr_desc);

/* Nothing is sent before the timer, whatever happens meanwhile. */
static void req_rnr__waits(struct kunit *test)
{
	const struct rnr_param *p = test->param_value;
	struct req_test *t = test->priv;
	u64 end;

	post(t, SROCE_WR_WRITE, 1);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	KUNIT_EXPECT_TRUE(test, take_ack(t, SROCE_AETH_RNR_NAK | p->code, PSN(1)) &
			  SROCE_REQ_EV_RNR_NAK);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	end = t->now + sroce_rnr_timer_ns(p->code);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), end);
	EXPECT_NOTHING(test, t);
	post(t, SROCE_WR_WRITE, 1);
	EXPECT_NOTHING(test, t);
	KUNIT_EXPECT_EQ(test, sroce_req_on_timer(&t->req, end - 1), 0u);
	take_ack(t, ACK, PSN(0));
	EXPECT_NOTHING(test, t);
	t->now = end;
	sroce_req_on_timer(&t->req, end);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 1);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, 2);
}

static void req_rnr__gives_up_after_rnr_retry(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_SEND, 1);
	for (i = 0; i < 2; i++) {
		send_all(t);
		KUNIT_EXPECT_EQ(test, take_ack(t, SROCE_AETH_RNR_NAK | 1, PSN(0)),
				(u32)SROCE_REQ_EV_RNR_NAK);
		fire(t);
	}
	send_all(t);
	KUNIT_EXPECT_TRUE(test, take_ack(t, SROCE_AETH_RNR_NAK | 1, PSN(0)) &
			  SROCE_REQ_EV_RNR_EXC);
	EXPECT_POP(test, t, 0, SROCE_ST_RNR_RETRY_EXC_ERR);
	EXPECT_POP(test, t, 1, SROCE_ST_WR_FLUSH_ERR);
}

static void req_rnr__seven_is_for_ever(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	t->req.rnr_retry = 7;
	sroce_req_start(&t->req, FIRST_PSN);
	post(t, SROCE_WR_SEND, 1);
	for (i = 0; i < 1000; i++) {
		KUNIT_ASSERT_EQ(test, send_all(t), 1u);
		KUNIT_ASSERT_EQ(test, take_ack(t, SROCE_AETH_RNR_NAK | 1, PSN(0)),
				(u32)SROCE_REQ_EV_RNR_NAK);
		fire(t);
	}
	send_all(t);
	take_ack(t, ACK, PSN(0));
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	KUNIT_EXPECT_EQ(test, t->req.retry_left, 3);
}

/* The same NAK again neither counts nor prolongs. */
static void req_rnr__duplicate_nak(struct kunit *test)
{
	struct req_test *t = test->priv;
	u64 end;

	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	take_ack(t, SROCE_AETH_RNR_NAK | 2, PSN(0));
	end = sroce_req_deadline(&t->req);
	t->now += 100;
	KUNIT_EXPECT_EQ(test, take_ack(t, SROCE_AETH_RNR_NAK | 2, PSN(0)),
			(u32)SROCE_REQ_EV_IGNORED);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), end);
	KUNIT_EXPECT_EQ(test, t->req.rnr_left, 1);
}

static void req_rnr__progress_gives_all_retries_back(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	for (i = 0; i < 6; i++)
		post(t, SROCE_WR_SEND, 1);
	for (i = 0; i < 6; i++) {
		send_all(t);
		KUNIT_EXPECT_TRUE(test, take_ack(t, SROCE_AETH_RNR_NAK | 1, PSN(i)) &
				  SROCE_REQ_EV_RNR_NAK);
		fire(t);
	}
	KUNIT_EXPECT_EQ(test, t->req.rnr_left, 1);
	for (i = 0; i < 5; i++)
		EXPECT_POP(test, t, i, SROCE_ST_SUCCESS);
}

/* The one waited for was taken after all, the next one was not. */
static void req_rnr__for_the_next_message(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	take_ack(t, SROCE_AETH_RNR_NAK | 1, PSN(0));
	t->now += 1000;
	KUNIT_EXPECT_EQ(test, take_ack(t, SROCE_AETH_RNR_NAK | 12, PSN(1)),
			(u32)(SROCE_REQ_EV_PROGRESS | SROCE_REQ_EV_RNR_NAK));
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), t->now + sroce_rnr_timer_ns(12));
	EXPECT_NOTHING(test, t);
	fire(t);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 1);
}

/* After a timeout, before anything was sent again: a NAK of the first time counts. */
static void req_rnr__late_for_a_retry(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	fire(t);
	KUNIT_EXPECT_EQ(test, take_ack(t, SROCE_AETH_RNR_NAK | 5, PSN(0)),
			(u32)SROCE_REQ_EV_RNR_NAK);
	EXPECT_NOTHING(test, t);
}

/* The ACK timer rests during the wait and starts with the next packet. */
static void req_rnr__ack_timer_rests(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	take_ack(t, SROCE_AETH_RNR_NAK, PSN(0));	/* 655 ms, much longer */
	fire(t);
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), t->now + TIMEOUT_NS);
	KUNIT_EXPECT_EQ(test, t->req.retry_left, 3);
}

/* A sequence NAK for those behind arrives during the wait: it changes and costs nothing. */
static void req_rnr__late_sequence_nak(struct kunit *test)
{
	struct req_test *t = test->priv;
	u64 end;

	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	take_ack(t, SROCE_AETH_RNR_NAK | 20, PSN(0));
	end = sroce_req_deadline(&t->req);
	t->now += 10;
	KUNIT_EXPECT_EQ(test, take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0)), (u32)SROCE_REQ_EV_SEQ_NAK);
	EXPECT_NOTHING(test, t);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), end);
	KUNIT_EXPECT_EQ(test, t->req.retry_left, 3);
	fire(t);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 0);
}

static struct kunit_case retry_cases[] = {
	KUNIT_CASE(req_on_timer__early_is_nothing),
	KUNIT_CASE(req_on_timer__goes_back_to_the_oldest),
	KUNIT_CASE(req_on_timer__sending_does_not_postpone),
	KUNIT_CASE(req_on_timer__disabled),
	KUNIT_CASE(req_on_timer__gives_up_after_retry_cnt),
	KUNIT_CASE(req_on_timer__no_retries_at_all),
	KUNIT_CASE(req_on_timer__progress_gives_all_retries_back),
	KUNIT_CASE(req_slow_restart__after_a_timeout),
	KUNIT_CASE(req_slow_restart__reads),
	KUNIT_CASE(req_slow_restart__after_a_refusal),
	KUNIT_CASE(req_on_timer__read_resumes),
	KUNIT_CASE(req_retry__naks_count),
	KUNIT_CASE(req_retry__old_naks_do_not_count),
	KUNIT_CASE(req_retry__old_naks_by_round_trip),
	KUNIT_CASE(req_retry__restarts_the_timer),
	KUNIT_CASE(req_retry__rd_out_is_counted_anew),
	KUNIT_CASE_PARAM(req_rnr__waits, rnr_gen_params),
	KUNIT_CASE(req_rnr__gives_up_after_rnr_retry),
	KUNIT_CASE(req_rnr__seven_is_for_ever),
	KUNIT_CASE(req_rnr__duplicate_nak),
	KUNIT_CASE(req_rnr__progress_gives_all_retries_back),
	KUNIT_CASE(req_rnr__for_the_next_message),
	KUNIT_CASE(req_rnr__late_for_a_retry),
	KUNIT_CASE(req_rnr__ack_timer_rests),
	KUNIT_CASE(req_rnr__late_sequence_nak),
	{}
};

SUITE_INIT(sroce_retry, retry_cases, req_init);
