// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * req.c: completions, failures, SQD, going back, beginning anew.
 */
#include "suite.h"

#include "req_fixture.h"

static void req_fail__what_follows_is_flushed(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 1);
	post(t, SROCE_WR_WRITE, 2 * MTU);
	post(t, SROCE_WR_LOCAL_INV, 0);
	post(t, SROCE_WR_WRITE, 1);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, 0);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_FIRST, 1);
	sroce_req_fail(&t->req, 1, SROCE_ST_LOC_PROT_ERR);
	EXPECT_NOTHING(test, t);
	EXPECT_NO_POP(test, t);		/* the one before is not acknowledged yet */
	take_ack(t, ACK, PSN(0));
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 1, SROCE_ST_LOC_PROT_ERR);
	EXPECT_POP(test, t, 2, SROCE_ST_WR_FLUSH_ERR);
	EXPECT_POP(test, t, 3, SROCE_ST_WR_FLUSH_ERR);
	EXPECT_NO_POP(test, t);
	post(t, SROCE_WR_SEND, 1);
	EXPECT_NOTHING(test, t);
	EXPECT_POP(test, t, 4, SROCE_ST_WR_FLUSH_ERR);
}

/* Also when more was sent already: what is behind the failure is not sent again. */
static void req_fail__behind_the_send_pointer(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	for (i = 0; i < 4; i++)
		post(t, SROCE_WR_WRITE, 1);
	for (i = 0; i < 3; i++)
		EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, i);
	sroce_req_fail(&t->req, 1, SROCE_ST_LOC_PROT_ERR);
	EXPECT_NOTHING(test, t);
	take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0));
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, 0);
	EXPECT_NOTHING(test, t);
	take_ack(t, ACK, PSN(2));
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 1, SROCE_ST_LOC_PROT_ERR);
	EXPECT_POP(test, t, 2, SROCE_ST_WR_FLUSH_ERR);
	EXPECT_POP(test, t, 3, SROCE_ST_WR_FLUSH_ERR);
}

static void req_pop__no_success_after_an_error(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 1);
	post(t, SROCE_WR_LOCAL_INV, 0);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, 0);
	KUNIT_EXPECT_EQ(test, next(t), SROCE_REQ_LOCAL);
	sroce_req_local_done(&t->req, SROCE_ST_SUCCESS);
	take_ack(t, SROCE_NAK_REM_ACC, PSN(0));
	EXPECT_POP(test, t, 0, SROCE_ST_REM_ACCESS_ERR);
	EXPECT_POP(test, t, 1, SROCE_ST_WR_FLUSH_ERR);
}

static void req_stop__flushes_in_order(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	for (i = 0; i < 4; i++)
		post(t, SROCE_WR_SEND, 1);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 0);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 1);
	take_ack(t, ACK, PSN(0));
	sroce_req_stop(&t->req);
	EXPECT_NOTHING(test, t);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);	/* acknowledged before */
	for (i = 1; i < 4; i++)
		EXPECT_POP(test, t, i, SROCE_ST_WR_FLUSH_ERR);
	KUNIT_EXPECT_TRUE(test, take_ack(t, ACK, PSN(1)) & SROCE_REQ_EV_IGNORED);
}

static void req_pop__index_wraps_at_32_bits(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	t->req.head = 0xfffffffe;
	t->req.cur = 0xfffffffe;
	t->req.tail = 0xfffffffe;
	for (i = 0; i < 5; i++)
		post(t, SROCE_WR_WRITE, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 5u);
	take_ack(t, ACK, PSN(4));
	for (i = 0; i < 5; i++)
		EXPECT_POP(test, t, 0xfffffffe + i, SROCE_ST_SUCCESS);
	EXPECT_NO_POP(test, t);
}

static void req_drained__finishes_what_was_started(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 2 * MTU);
	post(t, SROCE_WR_WRITE, 1);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_FIRST, 0);
	t->req.draining = true;
	KUNIT_EXPECT_FALSE(test, sroce_req_drained(&t->req));
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_LAST, 1);
	EXPECT_NOTHING(test, t);
	/* A retry goes on in SQD, and is not mistaken for the end. */
	take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0));
	KUNIT_EXPECT_FALSE(test, sroce_req_drained(&t->req));
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	take_ack(t, ACK, PSN(1));
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	KUNIT_EXPECT_TRUE(test, sroce_req_drained(&t->req));
	EXPECT_NOTHING(test, t);
	t->req.draining = false;
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, 2);
}

static void req_seek__into_a_message(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_WRITE, 4 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 5u);
	sroce_req_seek(&t->req, PSN(3));
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_MIDDLE, 3);
	KUNIT_EXPECT_EQ(test, t->out.offset, 2u * MTU);
	KUNIT_EXPECT_TRUE(test, t->out.retransmit);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_LAST, 4);
	EXPECT_NOTHING(test, t);
	KUNIT_EXPECT_EQ(test, t->req.max_psn, PSN(5));
}

/* The READ behind which it goes on still holds its place. */
static void req_seek__over_a_read(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 2 * MTU);
	post(t, SROCE_WR_WRITE, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	sroce_req_seek(&t->req, PSN(2));
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 1);
	KUNIT_EXPECT_EQ(test, t->req.rd_psns, 2u);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, 2);
}

/* Back to a READ, and its late answer comes before it is asked for again. */
static void req_seek__read_gives_its_place_back(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_FETCH_ADD, 8);
	post(t, SROCE_WR_READ, 2 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	sroce_req_seek(&t->req, PSN(0));
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 0);
	KUNIT_EXPECT_EQ(test, t->req.rd_psns, 0u);
	take_atomic(t, PSN(0));
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(1), MTU);
	take_read(t, SROCE_OP_READ_RESP_LAST, PSN(2), MTU);
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 0);
	KUNIT_EXPECT_EQ(test, t->req.rd_psns, 0u);
	EXPECT_NOTHING(test, t);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 1, SROCE_ST_SUCCESS);
}

/* All is acknowledged while it is sent again: on with what was never sent. */
static void req_seek__to_the_end(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 2 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	sroce_req_seek(&t->req, PSN(0));
	post(t, SROCE_WR_READ, 1);
	take_ack(t, ACK, PSN(1));
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 0);
	EXPECT_PACKET(test, t, SROCE_OP_READ_REQUEST, 2);
	KUNIT_EXPECT_FALSE(test, t->out.retransmit);
}

static void req_reset__sends_nothing(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	sroce_req_reset(&t->req);
	EXPECT_NO_POP(test, t);
	post(t, SROCE_WR_SEND, 1);
	EXPECT_NOTHING(test, t);
	sroce_req_start(&t->req, FIRST_PSN);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 0);
}

/* What start sets up does not depend on what was there; only attributes stay. */
static void req_start__forgets_everything(struct kunit *test)
{
	struct req_test *t = test->priv;
	struct sroce_req fresh = t->req;
	struct sroce_req *req = &t->req;

	memset(req, 0x5a, sizeof(*req));
	req->transport = fresh.transport;
	req->reliable = fresh.reliable;
	req->retry_cnt = fresh.retry_cnt;
	req->rnr_retry = fresh.rnr_retry;
	req->max_rd_atomic = fresh.max_rd_atomic;
	req->ack_timeout_ns = fresh.ack_timeout_ns;
	req->wqes = fresh.wqes;
	req->stride = fresh.stride;
	req->mask = fresh.mask;
	sroce_req_reset(req);
	sroce_req_start(req, FIRST_PSN);
	KUNIT_EXPECT_EQ(test, req->head, 0u);
	KUNIT_EXPECT_EQ(test, req->cur, 0u);
	KUNIT_EXPECT_EQ(test, req->tail, 0u);
	KUNIT_EXPECT_EQ(test, req->cur_pkt, 0u);
	KUNIT_EXPECT_EQ(test, req->una_psn, FIRST_PSN);
	KUNIT_EXPECT_EQ(test, req->next_psn, FIRST_PSN);
	KUNIT_EXPECT_EQ(test, req->max_psn, FIRST_PSN);
	KUNIT_EXPECT_EQ(test, req->state, SROCE_REQ_READY);
	KUNIT_EXPECT_FALSE(test, req->draining);
	KUNIT_EXPECT_FALSE(test, req->flushing);
}

static void req_start__forgets_all_counters(struct kunit *test)
{
	struct req_test *t = test->priv;
	struct sroce_req *req = &t->req;

	req->rd_out = 9;
	req->rd_psns = 9;
	req->retry_left = 1;
	req->rnr_left = 1;
	req->since_ackreq = 9;
	req->ssn = 9;
	req->credits_known = true;
	req->lsn = 9;
	req->implied_una = 9;
	req->ack_deadline_ns = 9;
	req->rnr_deadline_ns = 9;
	sroce_req_start(req, FIRST_PSN);
	KUNIT_EXPECT_EQ(test, req->rd_out, 0);
	KUNIT_EXPECT_EQ(test, req->rd_psns, 0u);
	KUNIT_EXPECT_EQ(test, req->retry_left, 3);
	KUNIT_EXPECT_EQ(test, req->rnr_left, 2);
	KUNIT_EXPECT_EQ(test, req->since_ackreq, 0u);
	KUNIT_EXPECT_EQ(test, req->ssn, 0u);
	KUNIT_EXPECT_FALSE(test, req->credits_known);
	KUNIT_EXPECT_EQ(test, req->lsn, 0u);
	KUNIT_EXPECT_EQ(test, req->implied_una, 0u);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(req), SROCE_NEVER);
	KUNIT_EXPECT_EQ(test, req->rnr_deadline_ns, SROCE_NEVER);
}

static void req_stop__ends_an_rnr_wait(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	take_ack(t, SROCE_AETH_RNR_NAK | 1, PSN(0));
	sroce_req_stop(&t->req);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
	KUNIT_EXPECT_EQ(test, sroce_req_on_timer(&t->req, SROCE_NEVER), 0u);
	EXPECT_NOTHING(test, t);
	EXPECT_POP(test, t, 0, SROCE_ST_WR_FLUSH_ERR);
}

static void req_reset__drops_timers(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	KUNIT_EXPECT_NE(test, sroce_req_deadline(&t->req), SROCE_NEVER);
	sroce_req_reset(&t->req);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
	KUNIT_EXPECT_FALSE(test, sroce_req_outstanding(&t->req));
}

/* A PSN of more than 24 bits is cut. */
static void req_start__psn(struct kunit *test)
{
	struct req_test *t = test->priv;

	sroce_req_start(&t->req, 0xff000005);
	post(t, SROCE_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, next(t), SROCE_REQ_PACKET);
	KUNIT_EXPECT_EQ(test, t->out.pkt.psn, 5u);
}

static struct kunit_case complete_cases[] = {
	KUNIT_CASE(req_fail__what_follows_is_flushed),
	KUNIT_CASE(req_fail__behind_the_send_pointer),
	KUNIT_CASE(req_pop__no_success_after_an_error),
	KUNIT_CASE(req_stop__flushes_in_order),
	KUNIT_CASE(req_pop__index_wraps_at_32_bits),
	KUNIT_CASE(req_drained__finishes_what_was_started),
	KUNIT_CASE(req_seek__into_a_message),
	KUNIT_CASE(req_reset__sends_nothing),
	KUNIT_CASE(req_reset__drops_timers),
	KUNIT_CASE(req_start__forgets_everything),
	KUNIT_CASE(req_start__forgets_all_counters),
	KUNIT_CASE(req_stop__ends_an_rnr_wait),
	KUNIT_CASE(req_start__psn),
	KUNIT_CASE(req_seek__over_a_read),
	KUNIT_CASE(req_seek__read_gives_its_place_back),
	KUNIT_CASE(req_seek__to_the_end),
	{}
};

SUITE_INIT(sroce_complete, complete_cases, req_init);
