// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/ack.c"

#include "req_fixture.h"

/* ---- ACK ---- */

static void req_on_packet__ack_is_coalesced(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_WRITE, 2 * MTU);
	post(t, SROCE_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 4u);
	KUNIT_EXPECT_EQ(test, take_ack(t, ACK, PSN(2)), (u32)SROCE_REQ_EV_PROGRESS);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 1, SROCE_ST_SUCCESS);
	EXPECT_NO_POP(test, t);
	KUNIT_EXPECT_EQ(test, t->req.una_psn, PSN(3));
}

static void req_on_packet__ack_inside_a_message(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 4 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 4u);
	take_ack(t, ACK, PSN(1));
	EXPECT_NO_POP(test, t);
	KUNIT_EXPECT_EQ(test, t->req.una_psn, PSN(2));
}

/* IBA 9.7.7.2.3: acknowledgements of what is not outstanding. */
static void req_on_packet__ghost_acks(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	take_ack(t, ACK, PSN(0));
	KUNIT_EXPECT_EQ(test, take_ack(t, ACK, PSN(0)), (u32)SROCE_REQ_EV_IGNORED);
	KUNIT_EXPECT_EQ(test, take_ack(t, ACK, PSN(2)), (u32)SROCE_REQ_EV_IGNORED);
	KUNIT_EXPECT_EQ(test, take_ack(t, ACK, PSN(0x800000)), (u32)SROCE_REQ_EV_IGNORED);
	KUNIT_EXPECT_EQ(test, take_ack(t, SROCE_NAK_REM_OP, PSN(-1)), (u32)SROCE_REQ_EV_IGNORED);
	KUNIT_EXPECT_EQ(test, t->req.una_psn, PSN(1));
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_NO_POP(test, t);
}

static void req_on_packet__nothing_outstanding(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, take_ack(t, ACK, PSN(i - 2)), (u32)SROCE_REQ_EV_IGNORED);
	KUNIT_EXPECT_EQ(test, take_read(t, SROCE_OP_READ_RESP_ONLY, PSN(0), 0),
			(u32)SROCE_REQ_EV_IGNORED);
}

/* They acknowledge nothing, not even what is before their PSN. */
static void req_on_packet__reserved_syndromes(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 syndrome;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	for (syndrome = 0x40; syndrome < 0x60; syndrome++)
		KUNIT_EXPECT_EQ(test, take_ack(t, syndrome, PSN(1)), (u32)SROCE_REQ_EV_IGNORED);
	for (syndrome = 0x80; syndrome < 0x100; syndrome++)
		KUNIT_EXPECT_EQ(test, take_ack(t, syndrome, PSN(1)), (u32)SROCE_REQ_EV_IGNORED);
	EXPECT_NO_POP(test, t);
	for (syndrome = 0x65; syndrome < 0x80; syndrome++)
		KUNIT_EXPECT_TRUE(test, take_ack(t, syndrome, PSN(0)) & SROCE_REQ_EV_IGNORED);
	EXPECT_NO_POP(test, t);
}

/* A late ACK may overtake the send pointer of a retry. */
static void req_on_packet__ack_overtakes_the_retry(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 4 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 4u);
	sroce_req_seek(&t->req, PSN(0));
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_FIRST, 0);
	take_ack(t, ACK, PSN(2));
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_LAST, 3);
	EXPECT_NOTHING(test, t);
}

static void req_on_packet__restarts_the_timer(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), t->now + TIMEOUT_NS);
	t->now += 300;
	take_ack(t, ACK, PSN(0));
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), t->now + TIMEOUT_NS);
	take_ack(t, ACK, PSN(1));
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
}

/* ---- NAK ---- */

struct nak_param {
	u8 syndrome;
	enum sroce_status status;
	u32 event;
};

static const struct nak_param nak_params[] = {
	{ SROCE_NAK_INV_REQ, SROCE_ST_REM_INV_REQ_ERR, SROCE_REQ_EV_REM_INV_REQ },
	{ SROCE_NAK_REM_ACC, SROCE_ST_REM_ACCESS_ERR, SROCE_REQ_EV_REM_ACCESS },
	{ SROCE_NAK_REM_OP, SROCE_ST_REM_OP_ERR, SROCE_REQ_EV_REM_OP },
};

static void nak_desc(const struct nak_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "0x%02x", p->syndrome);
}

KUNIT_ARRAY_PARAM(nak, nak_params, nak_desc);

/* What is before succeeds, the one named fails, the rest is flushed. */
static void req_on_packet__error_nak(struct kunit *test)
{
	const struct nak_param *p = test->param_value;
	struct req_test *t = test->priv;
	u32 i, events;

	for (i = 0; i < 8; i++)
		post(t, SROCE_WR_WRITE, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 8u);
	events = take_ack(t, p->syndrome, PSN(2));
	KUNIT_EXPECT_EQ(test, events, SROCE_REQ_EV_PROGRESS | SROCE_REQ_EV_FAILED | p->event);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 1, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 2, p->status);
	for (i = 3; i < 8; i++)
		EXPECT_POP(test, t, i, SROCE_ST_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
}

static void req_on_packet__error_nak_in_a_message(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 4 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 4u);
	take_ack(t, SROCE_NAK_REM_ACC, PSN(2));
	EXPECT_POP(test, t, 0, SROCE_ST_REM_ACCESS_ERR);
}

static void req_on_packet__sequence_nak(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 events;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_WRITE, 3 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 4u);
	events = take_ack(t, SROCE_NAK_PSN_SEQ, PSN(2));
	KUNIT_EXPECT_EQ(test, events, (u32)(SROCE_REQ_EV_PROGRESS | SROCE_REQ_EV_SEQ_NAK |
					    SROCE_REQ_EV_RETRY));
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_MIDDLE, 2);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_LAST, 3);
	KUNIT_EXPECT_TRUE(test, t->out.retransmit);
}

/* ---- answers ---- */

static void req_on_packet__read_answer(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 2 * MTU + 3);
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	KUNIT_EXPECT_EQ(test, take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(0), MTU),
			(u32)SROCE_REQ_EV_PROGRESS);
	KUNIT_EXPECT_EQ(test, t->in.offset, 0u);
	take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(1), MTU);
	KUNIT_EXPECT_EQ(test, t->in.offset, (u32)MTU);
	KUNIT_EXPECT_EQ(test, t->in.bytes, (u32)MTU);
	EXPECT_NO_POP(test, t);
	take_read(t, SROCE_OP_READ_RESP_LAST, PSN(2), 3);
	KUNIT_EXPECT_EQ(test, t->in.offset, 2u * MTU);
	KUNIT_EXPECT_EQ(test, t->in.bytes, 3u);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 0);
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
}

/* The same packet again is not placed again. */
static void req_on_packet__duplicate_answer(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 2 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(0), MTU);
	KUNIT_EXPECT_EQ(test, take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(0), MTU),
			(u32)SROCE_REQ_EV_IGNORED);
	take_read(t, SROCE_OP_READ_RESP_LAST, PSN(1), MTU);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
}

/* IBA 9.7.7.2.4: the READ resumes at its first missing answer. */
static void req_on_packet__implied_nak_resumes_the_read(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 events;

	post(t, SROCE_WR_READ, 4 * MTU);
	post(t, SROCE_WR_WRITE, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(0), MTU);
	events = take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(2), MTU);	/* 1 is missing */
	KUNIT_EXPECT_EQ(test, events, (u32)(SROCE_REQ_EV_IMPLIED_NAK | SROCE_REQ_EV_RETRY));
	EXPECT_PACKET(test, t, SROCE_OP_READ_REQUEST, 1);
	KUNIT_EXPECT_EQ(test, t->out.pkt.va, 0x10000ULL + MTU);
	KUNIT_EXPECT_EQ(test, t->out.pkt.dma_bytes, 3u * MTU);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, 4);
	/* Once per gap: the rest of the old answer does not trigger another. */
	KUNIT_EXPECT_EQ(test, take_read(t, SROCE_OP_READ_RESP_LAST, PSN(3), MTU),
			(u32)SROCE_REQ_EV_IGNORED);
	KUNIT_EXPECT_EQ(test, take_ack(t, ACK, PSN(4)), (u32)SROCE_REQ_EV_IGNORED);
	EXPECT_NOTHING(test, t);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(1), MTU);
	KUNIT_EXPECT_EQ(test, t->in.offset, (u32)MTU);
	take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(2), MTU);
	take_read(t, SROCE_OP_READ_RESP_LAST, PSN(3), MTU);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	/* The ACK that came too early counts now. */
	EXPECT_POP(test, t, 1, SROCE_ST_SUCCESS);
}

/* An ACK beyond an atomic does not complete it. */
static void req_on_packet__ack_beyond_an_atomic(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 events;

	post(t, SROCE_WR_WRITE, 1);
	post(t, SROCE_WR_FETCH_ADD, 8);
	post(t, SROCE_WR_WRITE, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 3u);
	events = take_ack(t, ACK, PSN(2));
	KUNIT_EXPECT_TRUE(test, events & SROCE_REQ_EV_IMPLIED_NAK);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_NO_POP(test, t);
	EXPECT_PACKET(test, t, SROCE_OP_FETCH_ADD, 1);
	KUNIT_EXPECT_TRUE(test, t->out.retransmit);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, 2);
	take_atomic(t, PSN(1));
	KUNIT_EXPECT_EQ(test, t->in.index, 1u);
	KUNIT_EXPECT_EQ(test, t->in.bytes, 8u);
	take_ack(t, ACK, PSN(2));
	EXPECT_POP(test, t, 1, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 2, SROCE_ST_SUCCESS);
}

static void req_on_packet__answer_acknowledges_what_is_before(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_READ, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	take_read(t, SROCE_OP_READ_RESP_ONLY, PSN(1), 1);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 1, SROCE_ST_SUCCESS);
}

static void req_on_packet__empty_answers(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_FLUSH, 4 * MTU);
	post(t, SROCE_WR_ATOMIC_WRITE, 8);
	post(t, SROCE_WR_READ, 0);
	KUNIT_EXPECT_EQ(test, send_all(t), 3u);
	take_read(t, SROCE_OP_READ_RESP_ONLY, PSN(0), 0);
	KUNIT_EXPECT_EQ(test, t->in.bytes, 0u);
	take_read(t, SROCE_OP_READ_RESP_ONLY, PSN(1), 0);
	take_read(t, SROCE_OP_READ_RESP_ONLY, PSN(2), 0);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 1, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 2, SROCE_ST_SUCCESS);
}

struct bad_param {
	const char *name;
	u8 wr;
	u32 length;
	u8 op;
	u32 bytes;
};

static const struct bad_param bad_params[] = {
	{ "FIRST is short", SROCE_WR_READ, 2 * MTU, SROCE_OP_READ_RESP_FIRST, MTU - 1 },
	{ "FIRST is long", SROCE_WR_READ, 2 * MTU, SROCE_OP_READ_RESP_FIRST, MTU + 1 },
	{ "ONLY for two", SROCE_WR_READ, 2 * MTU, SROCE_OP_READ_RESP_ONLY, MTU },
	{ "FIRST for one", SROCE_WR_READ, MTU, SROCE_OP_READ_RESP_FIRST, MTU },
	{ "ONLY is short", SROCE_WR_READ, 9, SROCE_OP_READ_RESP_ONLY, 8 },
	{ "ONLY is long", SROCE_WR_READ, 9, SROCE_OP_READ_RESP_ONLY, 10 },
	{ "data for FLUSH", SROCE_WR_FLUSH, 9, SROCE_OP_READ_RESP_ONLY, 9 },
};

static void bad_desc(const struct bad_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->name);
}

KUNIT_ARRAY_PARAM(bad, bad_params, bad_desc);

static void req_on_packet__bad_answer(struct kunit *test)
{
	const struct bad_param *p = test->param_value;
	struct req_test *t = test->priv;

	post(t, p->wr, p->length);
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	KUNIT_EXPECT_EQ(test, take_read(t, p->op, PSN(0), p->bytes),
			(u32)(SROCE_REQ_EV_FAILED | SROCE_REQ_EV_BAD_RESP));
	EXPECT_POP(test, t, 0, SROCE_ST_BAD_RESP_ERR);
}

static void req_on_packet__answer_of_the_wrong_kind(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 8);
	post(t, SROCE_WR_FETCH_ADD, 8);
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	KUNIT_EXPECT_TRUE(test, take_atomic(t, PSN(0)) & SROCE_REQ_EV_IGNORED);
	EXPECT_NO_POP(test, t);
	take_read(t, SROCE_OP_READ_RESP_ONLY, PSN(0), 8);
	KUNIT_EXPECT_TRUE(test, take_read(t, SROCE_OP_READ_RESP_ONLY, PSN(1), 8) &
			  SROCE_REQ_EV_IGNORED);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_NO_POP(test, t);
}

static void req_placed__failed(struct kunit *test)
{
	struct req_test *t = test->priv;
	struct sroce_pkt pkt = {
		.opcode = SROCE_OP_READ_RESP_ONLY, .psn = PSN(0), .payload_bytes = 8,
	};

	post(t, SROCE_WR_READ, 8);
	post(t, SROCE_WR_SEND, 8);
	send_all(t);
	pkt.flags = sroce_opcode_flags(pkt.opcode);
	KUNIT_EXPECT_EQ(test, sroce_req_on_packet(&t->req, &pkt, t->now, &t->in),
			SROCE_REQ_TAKE_PLACE);
	sroce_req_placed(&t->req, &t->in, SROCE_ST_LOC_PROT_ERR, t->now);
	EXPECT_POP(test, t, 0, SROCE_ST_LOC_PROT_ERR);
	EXPECT_POP(test, t, 1, SROCE_ST_WR_FLUSH_ERR);
}

/* An answer to a retry arrives for a WQE that failed locally meanwhile. */
static void req_on_packet__answer_of_a_failed_wqe(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 8);
	send_all(t);
	sroce_req_fail(&t->req, 0, SROCE_ST_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, take_read(t, SROCE_OP_READ_RESP_ONLY, PSN(0), 8),
			(u32)SROCE_REQ_EV_IGNORED);
	KUNIT_EXPECT_EQ(test, take_ack(t, SROCE_NAK_REM_OP, PSN(0)), 0u);
	EXPECT_POP(test, t, 0, SROCE_ST_LOC_PROT_ERR);
}

/* ---- credits ---- */

static void req_on_packet__credits_only_grow(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	KUNIT_EXPECT_FALSE(test, t->req.credits_known);
	take_ack(t, 0x08, PSN(0));		/* code 8: 16 messages */
	KUNIT_EXPECT_TRUE(test, t->req.credits_known);
	KUNIT_EXPECT_EQ(test, t->req.lsn, 16u);
	take_ack(t, 0x02, PSN(1));		/* an older view */
	KUNIT_EXPECT_EQ(test, t->req.lsn, 16u);
	/* The newest ACK repeated may bring fresh ones. */
	KUNIT_EXPECT_TRUE(test, take_ack(t, 0x0a, PSN(1)) & SROCE_REQ_EV_IGNORED);
	KUNIT_EXPECT_EQ(test, t->req.lsn, 32u);
	take_ack(t, ACK, PSN(1));
	KUNIT_EXPECT_FALSE(test, t->req.credits_known);
}

/* ---- rows of answers ---- */

static u32 on_row(struct req_test *t, u32 n, u32 count)
{
	struct sroce_pkt pkt = {
		.opcode = SROCE_OP_READ_RESP_MIDDLE, .psn = PSN(n), .payload_bytes = MTU,
		.flags = sroce_opcode_flags(SROCE_OP_READ_RESP_MIDDLE),
	};

	return sroce_req_on_row(&t->req, &pkt, count, &t->in);
}

static void req_on_row__read(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 5 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	KUNIT_EXPECT_EQ(test, on_row(t, 1, 2), 0u);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(0), MTU);
	KUNIT_EXPECT_EQ(test, on_row(t, 1, 2), 2u);
	/* Never the last one. */
	KUNIT_EXPECT_EQ(test, on_row(t, 1, 9), 3u);
	KUNIT_EXPECT_EQ(test, t->in.index, 0u);
	KUNIT_EXPECT_EQ(test, t->in.offset, (u32)MTU);
	KUNIT_EXPECT_EQ(test, t->in.bytes, 3u * MTU);
	sroce_req_row_placed(&t->req, 3, t->now, &t->in);
	KUNIT_EXPECT_EQ(test, t->in.events, (u32)SROCE_REQ_EV_PROGRESS);
	KUNIT_EXPECT_EQ(test, t->req.una_psn, PSN(4));
	KUNIT_EXPECT_EQ(test, t->req.rd_psns, 1u);
	KUNIT_EXPECT_EQ(test, on_row(t, 4, 1), 0u);
	EXPECT_NO_POP(test, t);
	take_read(t, SROCE_OP_READ_RESP_LAST, PSN(4), MTU);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 0);
}

/* Whatever is not the rule is for sroce_req_on_packet(). */
static void req_on_row__only_the_rule(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 1);
	post(t, SROCE_WR_READ, 6 * MTU);
	t->req.hold = true;
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	/* The ACK of what is before is in an answer, too. */
	KUNIT_EXPECT_EQ(test, on_row(t, 1, 2), 0u);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(1), MTU);
	KUNIT_EXPECT_EQ(test, on_row(t, 1, 2), 0u);
	KUNIT_EXPECT_EQ(test, on_row(t, 3, 2), 0u);
	KUNIT_EXPECT_EQ(test, on_row(t, 2, 2), 2u);
	/* One came ahead, be it behind the row. */
	take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(4), MTU);
	KUNIT_EXPECT_EQ(test, on_row(t, 2, 1), 1u);
	KUNIT_EXPECT_EQ(test, on_row(t, 2, 2), 0u);
	t->req.mtu = 2 * MTU;
	KUNIT_EXPECT_EQ(test, on_row(t, 2, 1), 0u);
	t->req.mtu = MTU;
	sroce_req_stop(&t->req);
	KUNIT_EXPECT_EQ(test, on_row(t, 2, 1), 0u);
}

static struct kunit_case ack_cases[] = {
	KUNIT_CASE(req_on_packet__ack_is_coalesced),
	KUNIT_CASE(req_on_packet__ack_inside_a_message),
	KUNIT_CASE(req_on_packet__ghost_acks),
	KUNIT_CASE(req_on_packet__nothing_outstanding),
	KUNIT_CASE(req_on_packet__reserved_syndromes),
	KUNIT_CASE(req_on_packet__ack_overtakes_the_retry),
	KUNIT_CASE(req_on_packet__restarts_the_timer),
	KUNIT_CASE_PARAM(req_on_packet__error_nak, nak_gen_params),
	KUNIT_CASE(req_on_packet__error_nak_in_a_message),
	KUNIT_CASE(req_on_packet__sequence_nak),
	KUNIT_CASE(req_on_packet__read_answer),
	KUNIT_CASE(req_on_packet__duplicate_answer),
	KUNIT_CASE(req_on_packet__implied_nak_resumes_the_read),
	KUNIT_CASE(req_on_packet__ack_beyond_an_atomic),
	KUNIT_CASE(req_on_packet__answer_acknowledges_what_is_before),
	KUNIT_CASE(req_on_packet__empty_answers),
	KUNIT_CASE_PARAM(req_on_packet__bad_answer, bad_gen_params),
	KUNIT_CASE(req_on_packet__answer_of_the_wrong_kind),
	KUNIT_CASE(req_placed__failed),
	KUNIT_CASE(req_on_packet__answer_of_a_failed_wqe),
	KUNIT_CASE(req_on_packet__credits_only_grow),
	KUNIT_CASE(req_on_row__read),
	KUNIT_CASE(req_on_row__only_the_rule),
	{}
};

SUITE_INIT(sroce_ack, ack_cases, req_init);
