// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/req.c"

#include "req_fixture.h"

/* ---- segmentation ---- */

struct op_param {
	const char *name;
	u8 wr, first, middle, last, only;
};

static const struct op_param op_params[] = {
	{ "SEND", SROCE_WR_SEND, 0x00, 0x01, 0x02, 0x04 },
	{ "SEND_IMM", SROCE_WR_SEND_IMM, 0x00, 0x01, 0x03, 0x05 },
	{ "SEND_INV", SROCE_WR_SEND_INV, 0x00, 0x01, 0x16, 0x17 },
	{ "WRITE", SROCE_WR_WRITE, 0x06, 0x07, 0x08, 0x0a },
	{ "WRITE_IMM", SROCE_WR_WRITE_IMM, 0x06, 0x07, 0x09, 0x0b },
};

static void op_desc(const struct op_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->name);
}

KUNIT_ARRAY_PARAM(op, op_params, op_desc);

static void req_next__segments(struct kunit *test)
{
	const struct op_param *p = test->param_value;
	struct req_test *t = test->priv;

	post(t, p->wr, 3 * MTU + 5)->flags = SROCE_WF_SOLICITED;
	EXPECT_PACKET(test, t, p->first, 0);
	KUNIT_EXPECT_FALSE(test, t->out.pkt.ackreq);
	KUNIT_EXPECT_FALSE(test, t->out.pkt.solicited);
	KUNIT_EXPECT_EQ(test, t->out.pkt.dma_bytes, 3u * MTU + 5);
	EXPECT_PACKET(test, t, p->middle, 1);
	KUNIT_EXPECT_EQ(test, t->out.offset, (u32)MTU);
	KUNIT_EXPECT_EQ(test, t->out.pkt.payload_bytes, MTU);
	EXPECT_PACKET(test, t, p->middle, 2);
	EXPECT_PACKET(test, t, p->last, 3);
	KUNIT_EXPECT_EQ(test, t->out.offset, 3u * MTU);
	KUNIT_EXPECT_EQ(test, t->out.pkt.payload_bytes, 5);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.solicited);
	EXPECT_NOTHING(test, t);
}

static void req_next__one_packet(struct kunit *test)
{
	const struct op_param *p = test->param_value;
	struct req_test *t = test->priv;

	post(t, p->wr, 0);
	post(t, p->wr, MTU);
	EXPECT_PACKET(test, t, p->only, 0);
	KUNIT_EXPECT_EQ(test, t->out.pkt.payload_bytes, 0);
	KUNIT_EXPECT_FALSE(test, t->out.pkt.solicited);
	EXPECT_PACKET(test, t, p->only, 1);
	KUNIT_EXPECT_EQ(test, t->out.pkt.payload_bytes, MTU);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
	KUNIT_EXPECT_EQ(test, t->req.max_psn, PSN(2));
}

static void req_next__common_fields(struct kunit *test)
{
	struct req_test *t = test->priv;
	struct sroce_swqe *wqe = post(t, SROCE_WR_WRITE_IMM, 7);

	wqe->imm = cpu_to_be32(0x01020304);
	wqe->srqn = 0x55;
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY_IMM, 0);
	KUNIT_EXPECT_EQ(test, t->out.pkt.qpn, 0x123u);
	KUNIT_EXPECT_EQ(test, t->out.pkt.pkey, 0xffff);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.migreq);
	KUNIT_EXPECT_FALSE(test, t->out.pkt.fecn);
	KUNIT_EXPECT_FALSE(test, t->out.pkt.becn);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(t->out.pkt.imm), 0x01020304u);
	KUNIT_EXPECT_EQ(test, t->out.pkt.va, 0x10000ULL);
	KUNIT_EXPECT_EQ(test, t->out.pkt.rkey, 0x77u);
	KUNIT_EXPECT_EQ(test, t->out.pkt.srqn, 0x55u);
	KUNIT_EXPECT_FALSE(test, t->out.retransmit);
}

static void req_next__xrc_opcode(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.transport = SROCE_XRC;
	post(t, SROCE_WR_SEND, 1);
	EXPECT_PACKET(test, t, SROCE_XRC | SROCE_OP_SEND_ONLY, 0);
}

/* ---- READ, atomics, FLUSH, ATOMIC_WRITE ---- */

static void req_next__read_takes_the_psns_of_its_answer(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 2 * MTU + 1);
	post(t, SROCE_WR_READ, 0);
	post(t, SROCE_WR_SEND, 0);
	EXPECT_PACKET(test, t, SROCE_OP_READ_REQUEST, 0);
	KUNIT_EXPECT_EQ(test, t->out.pkt.dma_bytes, 2u * MTU + 1);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
	KUNIT_EXPECT_EQ(test, t->out.pkt.payload_bytes, 0);
	EXPECT_PACKET(test, t, SROCE_OP_READ_REQUEST, 3);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 4);
	KUNIT_EXPECT_EQ(test, t->req.rd_out, 2);
}

static void req_next__atomics(struct kunit *test)
{
	struct req_test *t = test->priv;
	struct sroce_swqe *wqe;

	wqe = post(t, SROCE_WR_CMP_SWP, 8);
	wqe->compare_add = 11;
	wqe->swap = 22;
	wqe = post(t, SROCE_WR_FETCH_ADD, 8);
	wqe->compare_add = 33;
	EXPECT_PACKET(test, t, SROCE_OP_COMPARE_SWAP, 0);
	KUNIT_EXPECT_EQ(test, t->out.pkt.compare, 11ULL);
	KUNIT_EXPECT_EQ(test, t->out.pkt.swap_add, 22ULL);
	EXPECT_PACKET(test, t, SROCE_OP_FETCH_ADD, 1);
	KUNIT_EXPECT_EQ(test, t->out.pkt.swap_add, 33ULL);
}

static void req_next__flush_and_atomic_write(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_FLUSH, 10 * MTU)->feth = 0x12;
	post(t, SROCE_WR_ATOMIC_WRITE, 8);
	EXPECT_PACKET(test, t, SROCE_OP_FLUSH, 0);
	KUNIT_EXPECT_EQ(test, t->out.pkt.feth, 0x12u);
	KUNIT_EXPECT_EQ(test, t->out.pkt.dma_bytes, 10u * MTU);
	EXPECT_PACKET(test, t, SROCE_OP_ATOMIC_WRITE, 1);
	KUNIT_EXPECT_EQ(test, t->out.pkt.payload_bytes, 8);
	KUNIT_EXPECT_EQ(test, t->out.pkt.dma_bytes, 8u);
	KUNIT_EXPECT_EQ(test, t->req.next_psn, PSN(2));
}

static void req_next__no_more_than_max_rd_atomic(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	t->req.max_rd_atomic = 2;
	for (i = 0; i < 3; i++)
		post(t, SROCE_WR_FETCH_ADD, 8);
	post(t, SROCE_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	take_atomic(t, PSN(0));
	EXPECT_PACKET(test, t, SROCE_OP_FETCH_ADD, 2);
	/* The SEND needs no place, but must not overtake. */
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 3);
}

static void req_next__rd_not_enabled(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.max_rd_atomic = 0;
	post(t, SROCE_WR_READ, 1);
	post(t, SROCE_WR_SEND, 1);
	EXPECT_NOTHING(test, t);
	EXPECT_POP(test, t, 0, SROCE_ST_LOC_QP_OP_ERR);
	EXPECT_POP(test, t, 1, SROCE_ST_WR_FLUSH_ERR);
}

static void req_next__fence_waits_for_reads(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 1);
	post(t, SROCE_WR_SEND, 1)->flags = SROCE_WF_FENCE;
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	take_read(t, SROCE_OP_READ_RESP_ONLY, PSN(0), 1);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 1);
}

static void req_next__fence_does_not_wait_for_writes(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 1);
	post(t, SROCE_WR_SEND, 1)->flags = SROCE_WF_FENCE;
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
}

/* ---- window and AckReq ---- */

static void req_next__window(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.window = 4;
	post(t, SROCE_WR_WRITE, 10 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 4u);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);	/* or nothing would open it */
	take_ack(t, ACK, PSN(1));
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
	KUNIT_EXPECT_EQ(test, t->req.next_psn, PSN(6));
}

static void req_next__congestion_window(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.cwnd = 3;
	post(t, SROCE_WR_WRITE, 10 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 3u);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
	take_ack(t, ACK, PSN(0));
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
}

/* It falls below what is in flight, and nobody was asked for an ACK: one more packet asks. */
static void req_next__congestion_window_falls(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	post(t, SROCE_WR_WRITE, 10 * MTU);
	for (i = 0; i < 5; i++) {
		EXPECT_PACKET(test, t, i ? SROCE_OP_WRITE_MIDDLE : SROCE_OP_WRITE_FIRST, i);
		KUNIT_EXPECT_FALSE(test, t->out.pkt.ackreq);
	}
	t->req.cwnd = 1;
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
	take_ack(t, ACK, PSN(5));
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
}

static void req_next__window_does_not_count_answers(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.window = 2;
	post(t, SROCE_WR_READ, 100 * MTU);
	post(t, SROCE_WR_WRITE, 4 * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 3u);
}

/* IBA 9.7.3.1: never more than 2^23 PSNs outstanding. */
static void req_next__psn_window(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	for (i = 0; i < 4; i++)
		post(t, SROCE_WR_READ, 0x7fffffffU);
	post(t, SROCE_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);		/* 2^23 PSNs by itself */
	KUNIT_EXPECT_EQ(test, t->req.max_psn, PSN(SROCE_PSN_WINDOW));
	EXPECT_NOTHING(test, t);
}

/* The last PSN that fits, behind one that is outstanding, and one more. */
static void req_next__psn_window_edge(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 1);
	post(t, SROCE_WR_READ, (SROCE_PSN_WINDOW - 1) * MTU);
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	take_ack(t, ACK, PSN(0));
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	post(t, SROCE_WR_WRITE, 1);
	post(t, SROCE_WR_FETCH_ADD, 8);
	EXPECT_NOTHING(test, t);
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(1), MTU);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, SROCE_PSN_WINDOW);
	EXPECT_NOTHING(test, t);
}

static void req_next__psn_window_of_reads(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 1);
	post(t, SROCE_WR_READ, (SROCE_PSN_WINDOW - 2) * MTU);
	post(t, SROCE_WR_READ, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
}

static void req_next__asks_for_acks(struct kunit *test)
{
	struct req_test *t = test->priv;
	u32 i;

	t->req.ackreq_every = 4;
	post(t, SROCE_WR_SEND, 10 * MTU);
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, next(t), SROCE_REQ_PACKET);
		KUNIT_EXPECT_EQ(test, t->out.pkt.ackreq, i == 3 || i == 7 || i == 9);
	}
}

/* ---- local operations ---- */

static void req_next__local_once(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 1);
	post(t, SROCE_WR_LOCAL_INV, 0);
	post(t, SROCE_WR_WRITE, 1);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, 0);
	KUNIT_EXPECT_EQ(test, next(t), SROCE_REQ_LOCAL);
	KUNIT_EXPECT_EQ(test, t->out.index, 1u);
	sroce_req_local_done(&t->req, SROCE_ST_SUCCESS);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, 1);
	/* Going back over it does not repeat it; it completes in its turn. */
	EXPECT_NO_POP(test, t);
	sroce_req_seek(&t->req, PSN(0));
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, 0);
	KUNIT_EXPECT_TRUE(test, t->out.retransmit);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_ONLY, 1);
	take_ack(t, ACK, PSN(1));
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 1, SROCE_ST_SUCCESS);
	EXPECT_POP(test, t, 2, SROCE_ST_SUCCESS);
}

static void req_next__local_fails(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_BIND_MW, 0);
	post(t, SROCE_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, next(t), SROCE_REQ_LOCAL);
	sroce_req_local_done(&t->req, SROCE_ST_MW_BIND_ERR);
	EXPECT_NOTHING(test, t);
	EXPECT_POP(test, t, 0, SROCE_ST_MW_BIND_ERR);
	EXPECT_POP(test, t, 1, SROCE_ST_WR_FLUSH_ERR);
}

static void req_next__local_obeys_fence(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 1);
	post(t, SROCE_WR_LOCAL_INV, 0)->flags = SROCE_WF_FENCE;
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	EXPECT_NOTHING(test, t);
	take_read(t, SROCE_OP_READ_RESP_ONLY, PSN(0), 1);
	KUNIT_EXPECT_EQ(test, next(t), SROCE_REQ_LOCAL);
}

/* ---- credits (IBA 9.7.7.2.5) ---- */

static void req_next__limited_by_credits(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	take_ack(t, 0x01, PSN(0));		/* one credit; the fixture's MSN is 0: LSN 1 */
	post(t, SROCE_WR_SEND, 2 * MTU);	/* SSN 2: limited, may go one packet ahead */
	post(t, SROCE_WR_SEND, 1);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_FIRST, 1);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
	EXPECT_NOTHING(test, t);
	take_ack(t, 0x01, PSN(1));
	EXPECT_PACKET(test, t, SROCE_OP_SEND_LAST, 2);
	EXPECT_NOTHING(test, t);
	take_ack(t, 0x08, PSN(2));
	EXPECT_PACKET(test, t, SROCE_OP_SEND_ONLY, 3);
}

static void req_next__credits_up_to_the_limit(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	take_ack(t, 0x03, PSN(0));		/* LSN 3 */
	post(t, SROCE_WR_SEND, 1);		/* SSN 2 */
	post(t, SROCE_WR_SEND, 2 * MTU);	/* SSN 3: the last with a credit */
	post(t, SROCE_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 3u);
}

static void req_next__credits_do_not_limit_writes(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 1u);
	take_ack(t, 0x00, PSN(0));
	post(t, SROCE_WR_WRITE, 1);
	post(t, SROCE_WR_READ, 1);
	post(t, SROCE_WR_WRITE, 1);
	KUNIT_EXPECT_EQ(test, send_all(t), 3u);
	post(t, SROCE_WR_WRITE_IMM, 1);
	EXPECT_NOTHING(test, t);
}

/* ---- unreliable ---- */

static void req_next__unreliable_completes_when_sent(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.transport = SROCE_UC;
	t->req.reliable = false;
	post(t, SROCE_WR_SEND, MTU + 1);
	EXPECT_PACKET(test, t, SROCE_UC | SROCE_OP_SEND_FIRST, 0);
	EXPECT_NO_POP(test, t);
	EXPECT_PACKET(test, t, SROCE_UC | SROCE_OP_SEND_LAST, 1);
	KUNIT_EXPECT_FALSE(test, t->out.pkt.ackreq);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
	KUNIT_EXPECT_EQ(test, t->req.una_psn, PSN(2));
	KUNIT_EXPECT_FALSE(test, sroce_req_outstanding(&t->req));
	KUNIT_EXPECT_EQ(test, sroce_req_deadline(&t->req), SROCE_NEVER);
}

static void req_next__ud_takes_the_wqes_address(struct kunit *test)
{
	struct req_test *t = test->priv;
	struct sroce_swqe *wqe;

	t->req.transport = SROCE_UD;
	t->req.reliable = false;
	wqe = post(t, SROCE_WR_SEND, 1);
	wqe->remote_qpn = 0x456;
	wqe->remote_qkey = 0x11111111;
	EXPECT_PACKET(test, t, SROCE_UD | SROCE_OP_SEND_ONLY, 0);
	KUNIT_EXPECT_EQ(test, t->out.pkt.qpn, 0x456u);
	KUNIT_EXPECT_EQ(test, t->out.pkt.qkey, 0x11111111u);
}

/* ---- the short way ---- */

/* The short way leads to packet @n. */
static void expect_more(struct kunit *test, struct req_test *t, u32 n)
{
	KUNIT_EXPECT_TRUE(test, sroce_req_more(&t->req, &t->out));
	KUNIT_EXPECT_EQ(test, t->out.pkt.psn, PSN(n));
	KUNIT_EXPECT_EQ(test, t->out.offset, n * MTU);
	KUNIT_EXPECT_EQ(test, t->out.pkt.payload_bytes, MTU);
	KUNIT_EXPECT_FALSE(test, t->out.retransmit || t->out.pkt.ackreq);
	KUNIT_EXPECT_EQ(test, t->req.max_psn, PSN(n + 1));
}

static void req_more__from_middle_to_middle(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 5 * MTU + 5);
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_FIRST, 0);
	KUNIT_EXPECT_FALSE(test, sroce_req_more(&t->req, &t->out));
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_MIDDLE, 1);
	expect_more(test, t, 2);
	expect_more(test, t, 3);
	expect_more(test, t, 4);
	KUNIT_EXPECT_FALSE(test, sroce_req_more(&t->req, &t->out));
	EXPECT_PACKET(test, t, SROCE_OP_WRITE_LAST, 5);
	KUNIT_EXPECT_EQ(test, t->out.pkt.payload_bytes, 5);
	KUNIT_EXPECT_FALSE(test, sroce_req_more(&t->req, &t->out));
	EXPECT_NOTHING(test, t);
}

static void req_more__stops_where_an_ack_is_asked_for(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.ackreq_every = 4;
	post(t, SROCE_WR_SEND, 9 * MTU);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_FIRST, 0);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_MIDDLE, 1);
	expect_more(test, t, 2);
	KUNIT_EXPECT_FALSE(test, sroce_req_more(&t->req, &t->out));
	EXPECT_PACKET(test, t, SROCE_OP_SEND_MIDDLE, 3);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
	KUNIT_EXPECT_FALSE(test, sroce_req_more(&t->req, &t->out));
	EXPECT_PACKET(test, t, SROCE_OP_SEND_MIDDLE, 4);
	expect_more(test, t, 5);
}

static void req_more__obeys_the_window(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.window = 4;
	post(t, SROCE_WR_SEND, 9 * MTU);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_FIRST, 0);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_MIDDLE, 1);
	expect_more(test, t, 2);
	KUNIT_EXPECT_FALSE(test, sroce_req_more(&t->req, &t->out));
	EXPECT_PACKET(test, t, SROCE_OP_SEND_MIDDLE, 3);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.ackreq);
	EXPECT_NOTHING(test, t);
}

static void req_more__not_after_a_retry(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 9 * MTU);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_FIRST, 0);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_MIDDLE, 1);
	expect_more(test, t, 2);
	expect_more(test, t, 3);
	sroce_req_seek(&t->req, PSN(1));
	KUNIT_EXPECT_FALSE(test, sroce_req_more(&t->req, &t->out));
	EXPECT_PACKET(test, t, SROCE_OP_SEND_MIDDLE, 1);
	KUNIT_EXPECT_FALSE(test, sroce_req_more(&t->req, &t->out));
	EXPECT_PACKET(test, t, SROCE_OP_SEND_MIDDLE, 2);
	EXPECT_PACKET(test, t, SROCE_OP_SEND_MIDDLE, 3);
	KUNIT_EXPECT_TRUE(test, t->out.retransmit);
	expect_more(test, t, 4);
	sroce_req_fail(&t->req, 0, SROCE_ST_LOC_PROT_ERR);
	KUNIT_EXPECT_FALSE(test, sroce_req_more(&t->req, &t->out));
}

static void req_more__unreliable(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->req.transport = SROCE_UC;
	t->req.reliable = false;
	post(t, SROCE_WR_SEND, 5 * MTU);
	EXPECT_PACKET(test, t, SROCE_UC | SROCE_OP_SEND_FIRST, 0);
	EXPECT_PACKET(test, t, SROCE_UC | SROCE_OP_SEND_MIDDLE, 1);
	expect_more(test, t, 2);
	expect_more(test, t, 3);
	KUNIT_EXPECT_EQ(test, t->req.una_psn, PSN(4));
	KUNIT_EXPECT_FALSE(test, sroce_req_more(&t->req, &t->out));
	EXPECT_PACKET(test, t, SROCE_UC | SROCE_OP_SEND_LAST, 4);
	EXPECT_POP(test, t, 0, SROCE_ST_SUCCESS);
}

static struct kunit_case req_cases[] = {
	KUNIT_CASE_PARAM(req_next__segments, op_gen_params),
	KUNIT_CASE_PARAM(req_next__one_packet, op_gen_params),
	KUNIT_CASE(req_next__common_fields),
	KUNIT_CASE(req_next__xrc_opcode),
	KUNIT_CASE(req_next__read_takes_the_psns_of_its_answer),
	KUNIT_CASE(req_next__atomics),
	KUNIT_CASE(req_next__flush_and_atomic_write),
	KUNIT_CASE(req_next__no_more_than_max_rd_atomic),
	KUNIT_CASE(req_next__rd_not_enabled),
	KUNIT_CASE(req_next__fence_waits_for_reads),
	KUNIT_CASE(req_next__fence_does_not_wait_for_writes),
	KUNIT_CASE(req_next__window),
	KUNIT_CASE(req_next__congestion_window),
	KUNIT_CASE(req_next__congestion_window_falls),
	KUNIT_CASE(req_next__window_does_not_count_answers),
	KUNIT_CASE(req_next__psn_window),
	KUNIT_CASE(req_next__psn_window_edge),
	KUNIT_CASE(req_next__psn_window_of_reads),
	KUNIT_CASE(req_next__asks_for_acks),
	KUNIT_CASE(req_next__local_once),
	KUNIT_CASE(req_next__local_fails),
	KUNIT_CASE(req_next__local_obeys_fence),
	KUNIT_CASE(req_next__limited_by_credits),
	KUNIT_CASE(req_next__credits_do_not_limit_writes),
	KUNIT_CASE(req_next__unreliable_completes_when_sent),
	KUNIT_CASE(req_next__ud_takes_the_wqes_address),
	KUNIT_CASE(req_next__credits_up_to_the_limit),
	KUNIT_CASE(req_more__from_middle_to_middle),
	KUNIT_CASE(req_more__stops_where_an_ack_is_asked_for),
	KUNIT_CASE(req_more__obeys_the_window),
	KUNIT_CASE(req_more__not_after_a_retry),
	KUNIT_CASE(req_more__unreliable),
	{}
};

SUITE_INIT(sroce_req, req_cases, req_init);
