// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/resp.c"

#include "resp_fixture.h"

/* ---- SEND and WRITE in order ---- */

static void resp_on_packet__send(struct kunit *test)
{
	struct resp_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_FIRST, 0, MTU), SROCE_ACT_SEND);
	KUNIT_EXPECT_TRUE(test, t->todo.start && t->todo.recv && !t->todo.end);
	KUNIT_EXPECT_EQ(test, t->todo.offset, 0u);
	EXPECT_NO_ANSWER(test, t);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_MIDDLE, 1, MTU), SROCE_ACT_SEND);
	KUNIT_EXPECT_FALSE(test, t->todo.start || t->todo.recv || t->todo.end);
	KUNIT_EXPECT_EQ(test, t->todo.offset, (u32)MTU);
	t->pkt.ackreq = true;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_LAST, 2, 3), SROCE_ACT_SEND);
	KUNIT_EXPECT_TRUE(test, t->todo.end && !t->todo.start && !t->todo.recv);
	KUNIT_EXPECT_EQ(test, t->todo.offset, 2u * MTU);
	KUNIT_EXPECT_EQ(test, t->todo.msg_bytes, 2u * MTU + 3);
	EXPECT_ACK(test, t, ACK, 2, 1);
	EXPECT_NO_ANSWER(test, t);
	/* The next message starts at offset 0 again. */
	request(t, SROCE_OP_SEND_ONLY, 3, 9);
	KUNIT_EXPECT_EQ(test, t->todo.offset, 0u);
	KUNIT_EXPECT_EQ(test, t->todo.msg_bytes, 9u);
}

static void resp_on_packet__write(struct kunit *test)
{
	struct resp_test *t = test->priv;

	address(t, 0x5000, 77, 2 * MTU + 3);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_WRITE_FIRST, 0, MTU), SROCE_ACT_WRITE);
	KUNIT_EXPECT_TRUE(test, t->todo.start && !t->todo.recv);
	KUNIT_EXPECT_EQ(test, t->todo.va, 0x5000ULL);
	KUNIT_EXPECT_EQ(test, t->todo.rkey, 77u);
	KUNIT_EXPECT_EQ(test, t->todo.bytes, 2u * MTU + 3);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_WRITE_MIDDLE, 1, MTU), SROCE_ACT_WRITE);
	KUNIT_EXPECT_EQ(test, t->todo.va, 0x5000ULL + MTU);
	KUNIT_EXPECT_EQ(test, t->todo.rkey, 77u);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_WRITE_LAST_IMM, 2, 3), SROCE_ACT_WRITE);
	KUNIT_EXPECT_EQ(test, t->todo.va, 0x5000ULL + 2 * MTU);
	KUNIT_EXPECT_TRUE(test, t->todo.end && t->todo.recv);
	KUNIT_EXPECT_EQ(test, t->todo.msg_bytes, 2u * MTU + 3);
	EXPECT_NO_ANSWER(test, t);	/* nobody asked */
}

static void resp_on_packet__zero_length(struct kunit *test)
{
	struct resp_test *t = test->priv;

	address(t, 0xdead, 0xbad, 0);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_WRITE_ONLY, 0, 0), SROCE_ACT_WRITE);
	KUNIT_EXPECT_TRUE(test, t->todo.start && t->todo.end);
	KUNIT_EXPECT_EQ(test, t->todo.bytes, 0u);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_ONLY, 1, 0), SROCE_ACT_SEND);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_READ_REQUEST, 2, 0), SROCE_ACT_READ);
	EXPECT_ANSWER(test, t, SROCE_RESP_PACKET, SROCE_OP_READ_RESP_ONLY, 2);
	KUNIT_EXPECT_EQ(test, t->out.pkt.payload_bytes, 0);
}

static void resp_next__acks_are_coalesced(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	for (i = 0; i < 5; i++) {
		t->pkt.ackreq = true;
		request(t, SROCE_OP_SEND_ONLY, i, 1);
	}
	EXPECT_ACK(test, t, ACK, 4, 5);
	EXPECT_NO_ANSWER(test, t);
}

static void resp_next__credits(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->resp.credits = 7;
	t->pkt.ackreq = true;
	request(t, SROCE_OP_SEND_ONLY, 0, 1);
	EXPECT_ACK(test, t, 7, 0, 1);
}

static void resp_next__address_of_answers(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->pkt.ackreq = true;
	request(t, SROCE_OP_SEND_ONLY, 0, 1);
	EXPECT_ACK(test, t, ACK, 0, 1);
	KUNIT_EXPECT_EQ(test, t->out.pkt.qpn, 0x321u);
	KUNIT_EXPECT_EQ(test, t->out.pkt.pkey, 0xffff);
	KUNIT_EXPECT_TRUE(test, t->out.pkt.migreq);
	KUNIT_EXPECT_FALSE(test, t->out.again);
}

/* ---- rows ---- */

/* @n packets with this operation arrive in a row, from number @first on. */
static u32 row(struct resp_test *t, u8 op, u32 first, u32 n)
{
	t->pkt.opcode = op;
	t->pkt.flags = sroce_opcode_flags(op);
	t->pkt.headers = sroce_opcode_headers(op);
	t->pkt.psn = PSN(first);
	t->pkt.payload_bytes = MTU;
	return sroce_resp_on_row(&t->resp, &t->pkt, n, &t->todo);
}

static void resp_on_row__write(struct kunit *test)
{
	struct resp_test *t = test->priv;

	address(t, 0x5000, 77, 6 * MTU);
	request(t, SROCE_OP_WRITE_FIRST, 0, MTU);
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_WRITE_MIDDLE, 1, 3), 3u);
	KUNIT_EXPECT_EQ(test, (int)t->todo.act, (int)SROCE_ACT_WRITE);
	KUNIT_EXPECT_EQ(test, t->todo.va, 0x5000ULL + MTU);
	KUNIT_EXPECT_EQ(test, t->todo.rkey, 77u);
	KUNIT_EXPECT_EQ(test, t->todo.msg_bytes, 4u * MTU);
	/* It was not executed, so nothing has happened. */
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_WRITE_MIDDLE, 1, 3), 3u);
	t->resp.refused = 1;
	sroce_resp_row_done(&t->resp, 3);
	KUNIT_EXPECT_EQ(test, t->resp.refused, 0);
	EXPECT_NO_ANSWER(test, t);
	/* A byte is left for the last packet. */
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_WRITE_MIDDLE, 4, 3), 1u);
	sroce_resp_row_done(&t->resp, 1);
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_WRITE_MIDDLE, 5, 1), 0u);
	t->pkt.ackreq = true;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_WRITE_LAST, 5, MTU), SROCE_ACT_WRITE);
	KUNIT_EXPECT_EQ(test, t->todo.va, 0x5000ULL + 5 * MTU);
	KUNIT_EXPECT_EQ(test, t->todo.msg_bytes, 6u * MTU);
	EXPECT_ACK(test, t, ACK, 5, 1);
}

static void resp_on_row__send(struct kunit *test)
{
	struct resp_test *t = test->priv;

	request(t, SROCE_OP_SEND_FIRST, 0, MTU);
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_WRITE_MIDDLE, 1, 2), 0u);
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 1, 2), 2u);
	KUNIT_EXPECT_EQ(test, (int)t->todo.act, (int)SROCE_ACT_SEND);
	KUNIT_EXPECT_EQ(test, t->todo.offset, (u32)MTU);
	KUNIT_EXPECT_EQ(test, t->todo.msg_bytes, 3u * MTU);
	sroce_resp_row_done(&t->resp, 2);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_LAST, 3, 1), SROCE_ACT_SEND);
	KUNIT_EXPECT_EQ(test, t->todo.offset, 3u * MTU);
	KUNIT_EXPECT_EQ(test, t->todo.msg_bytes, 3u * MTU + 1);
}

static void resp_on_row__longest_send(struct kunit *test)
{
	struct resp_test *t = test->priv;

	request(t, SROCE_OP_SEND_FIRST, 0, MTU);
	t->resp.msg_bytes = SROCE_MAX_MSG_BYTES - 2 * MTU;
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 1, 9), 2u);
	t->resp.msg_bytes = SROCE_MAX_MSG_BYTES - MTU + 1;
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 1, 9), 0u);
}

/* Whatever is not the rule is for sroce_resp_on_packet(). */
static void resp_on_row__only_the_rule(struct kunit *test)
{
	struct resp_test *t = test->priv;
	struct sroce_resp saved;

	request(t, SROCE_OP_SEND_FIRST, 0, MTU);
	saved = t->resp;
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 0, 2), 0u);
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 2, 2), 0u);
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_LAST, 1, 1), 0u);
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_FIRST, 1, 1), 0u);
	t->pkt.ackreq = true;
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 1, 2), 0u);
	t->pkt.ackreq = false;
	t->pkt.srqn = 5;
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 1, 2), 0u);
	t->pkt.srqn = 0;
	t->resp.mtu = 2 * MTU;
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 1, 2), 0u);
	t->resp = saved;
	t->resp.nak_sent = true;
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 1, 2), 0u);
	t->resp = saved;
	t->resp.answer = SROCE_ANS_NAK;
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 1, 2), 0u);
	t->resp = saved;
	t->resp.hold.packets = 1;
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 1, 2), 0u);
	t->resp = saved;
	t->resp.skip = true;
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 1, 2), 0u);
	t->resp = saved;
	t->resp.dead = true;
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 1, 2), 0u);
	t->resp = saved;
	KUNIT_EXPECT_EQ(test, row(t, SROCE_OP_SEND_MIDDLE, 1, 2), 2u);
}

/* ---- sequence (IBA 9.7.5.1.1) ---- */

static void resp_on_packet__one_nak_per_gap(struct kunit *test)
{
	struct resp_test *t = test->priv;

	request(t, SROCE_OP_SEND_ONLY, 0, 1);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_ONLY, 2, 1), SROCE_ACT_DROP);
	KUNIT_EXPECT_EQ(test, t->todo.events, (u32)SROCE_RESP_EV_OUT_OF_SEQ);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_ONLY, 3, 1), SROCE_ACT_DROP);
	EXPECT_ACK(test, t, SROCE_NAK_PSN_SEQ, 1, 1);
	EXPECT_NO_ANSWER(test, t);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_ONLY, 4, 1), SROCE_ACT_DROP);
	EXPECT_NO_ANSWER(test, t);
	/* The gap is filled; the next one has its own NAK. */
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_ONLY, 1, 1), SROCE_ACT_SEND);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_ONLY, 3, 1), SROCE_ACT_DROP);
	EXPECT_ACK(test, t, SROCE_NAK_PSN_SEQ, 2, 2);
}

static void resp_on_packet__nak_not_sent_is_withdrawn(struct kunit *test)
{
	struct resp_test *t = test->priv;

	request(t, SROCE_OP_SEND_ONLY, 1, 1);
	request(t, SROCE_OP_SEND_ONLY, 0, 1);
	EXPECT_NO_ANSWER(test, t);
}

static void resp_on_packet__half_the_circle(struct kunit *test)
{
	struct resp_test *t = test->priv;

	request(t, SROCE_OP_SEND_ONLY, 0x7fffff, 1);
	KUNIT_EXPECT_EQ(test, t->todo.events, (u32)SROCE_RESP_EV_OUT_OF_SEQ);
	request(t, SROCE_OP_SEND_ONLY, 0x800000, 1);
	KUNIT_EXPECT_EQ(test, t->todo.events, (u32)SROCE_RESP_EV_DUPLICATE);
}

struct order_param {
	const char *name;
	u8 first;	/* 0xff: none */
	u8 then;
	bool ok;
};

/* IBA 9.7.4.1.2: which opcode may follow which. */
static const struct order_param order_params[] = {
	{ "SEND_MIDDLE at the start", 0xff, SROCE_OP_SEND_MIDDLE, false },
	{ "SEND_LAST at the start", 0xff, SROCE_OP_SEND_LAST, false },
	{ "WRITE_LAST at the start", 0xff, SROCE_OP_WRITE_LAST, false },
	{ "SEND_FIRST, SEND_FIRST", SROCE_OP_SEND_FIRST, SROCE_OP_SEND_FIRST, false },
	{ "SEND_FIRST, SEND_ONLY", SROCE_OP_SEND_FIRST, SROCE_OP_SEND_ONLY, false },
	{ "SEND_FIRST, WRITE_MIDDLE", SROCE_OP_SEND_FIRST, SROCE_OP_WRITE_MIDDLE, false },
	{ "SEND_FIRST, READ", SROCE_OP_SEND_FIRST, SROCE_OP_READ_REQUEST, false },
	{ "SEND_FIRST, FETCH_ADD", SROCE_OP_SEND_FIRST, SROCE_OP_FETCH_ADD, false },
	{ "SEND_FIRST, SEND_MIDDLE", SROCE_OP_SEND_FIRST, SROCE_OP_SEND_MIDDLE, true },
	{ "SEND_FIRST, SEND_LAST_INV", SROCE_OP_SEND_FIRST, SROCE_OP_SEND_LAST_INV, true },
	{ "WRITE_FIRST, SEND_LAST", SROCE_OP_WRITE_FIRST, SROCE_OP_SEND_LAST, false },
	{ "WRITE_FIRST, WRITE_ONLY", SROCE_OP_WRITE_FIRST, SROCE_OP_WRITE_ONLY, false },
	{ "WRITE_FIRST, FLUSH", SROCE_OP_WRITE_FIRST, SROCE_OP_FLUSH, false },
	{ "WRITE_FIRST, WRITE_LAST", SROCE_OP_WRITE_FIRST, SROCE_OP_WRITE_LAST, true },
	{ "WRITE_FIRST, WRITE_LAST_IMM", SROCE_OP_WRITE_FIRST, SROCE_OP_WRITE_LAST_IMM, true },
};

static void order_desc(const struct order_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->name);
}

KUNIT_ARRAY_PARAM(order, order_params, order_desc);

static void resp_on_packet__opcode_order(struct kunit *test)
{
	const struct order_param *p = test->param_value;
	struct resp_test *t = test->priv;
	u32 n = 0;

	address(t, 0x1000, 1, 2 * MTU);
	if (p->first != 0xff)
		KUNIT_EXPECT_NE(test, request(t, p->first, n++, MTU), SROCE_ACT_DROP);
	if (p->ok) {
		KUNIT_EXPECT_NE(test, request(t, p->then, n, MTU), SROCE_ACT_DROP);
		EXPECT_NO_ANSWER(test, t);
		return;
	}
	KUNIT_EXPECT_EQ(test, request(t, p->then, n, MTU), SROCE_ACT_DROP);
	KUNIT_EXPECT_EQ(test, t->todo.events, (u32)SROCE_RESP_EV_INV_REQ);
	EXPECT_ACK(test, t, SROCE_NAK_INV_REQ, n, 0);
	KUNIT_EXPECT_TRUE(test, t->resp.dead);
}

struct length_param {
	const char *name;
	u8 op;
	u32 payload;
	u32 dma;
	u64 va;
	bool ok;
};

/* IBA 9.7.4.1.6 and 9.7.4.1.7; single packets. */
static const struct length_param length_params[] = {
	{ "SEND_FIRST, full", SROCE_OP_SEND_FIRST, MTU, 0, 0, true },
	{ "SEND_FIRST, short", SROCE_OP_SEND_FIRST, MTU - 1, 0, 0, false },
	{ "SEND_FIRST, long", SROCE_OP_SEND_FIRST, MTU + 1, 0, 0, false },
	{ "SEND_ONLY, full", SROCE_OP_SEND_ONLY, MTU, 0, 0, true },
	{ "SEND_ONLY, long", SROCE_OP_SEND_ONLY, MTU + 1, 0, 0, false },
	{ "WRITE_ONLY, as announced", SROCE_OP_WRITE_ONLY, 5, 5, 0, true },
	{ "WRITE_ONLY, less", SROCE_OP_WRITE_ONLY, 5, 6, 0, false },
	{ "WRITE_ONLY, more", SROCE_OP_WRITE_ONLY, 5, 4, 0, false },
	{ "WRITE_FIRST, all at once", SROCE_OP_WRITE_FIRST, MTU, MTU, 0, false },
	{ "WRITE_FIRST, 2^31", SROCE_OP_WRITE_FIRST, MTU, 0x80000000U, 0, true },
	{ "WRITE_FIRST, 2^31 + 1", SROCE_OP_WRITE_FIRST, MTU, 0x80000001U, 0, false },
	{ "READ, 2^31", SROCE_OP_READ_REQUEST, 0, 0x80000000U, 0, true },
	{ "READ, 2^31 + 1", SROCE_OP_READ_REQUEST, 0, 0x80000001U, 0, false },
	{ "FETCH_ADD, aligned", SROCE_OP_FETCH_ADD, 0, 0, 0x1008, true },
	{ "FETCH_ADD, misaligned", SROCE_OP_FETCH_ADD, 0, 0, 0x100c, false },
	{ "COMPARE_SWAP, misaligned", SROCE_OP_COMPARE_SWAP, 0, 0, 0x1001, false },
	{ "ATOMIC_WRITE", SROCE_OP_ATOMIC_WRITE, 8, 8, 0x1000, true },
	{ "ATOMIC_WRITE, misaligned", SROCE_OP_ATOMIC_WRITE, 8, 8, 0x1004, false },
	{ "ATOMIC_WRITE, short", SROCE_OP_ATOMIC_WRITE, 4, 8, 0x1000, false },
	{ "ATOMIC_WRITE, announces 4", SROCE_OP_ATOMIC_WRITE, 8, 4, 0x1000, false },
};

static void length_desc(const struct length_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->name);
}

KUNIT_ARRAY_PARAM(length, length_params, length_desc);

static void resp_on_packet__lengths(struct kunit *test)
{
	const struct length_param *p = test->param_value;
	struct resp_test *t = test->priv;

	address(t, p->va, 1, p->dma);
	KUNIT_EXPECT_EQ(test, request(t, p->op, 0, p->payload) != SROCE_ACT_DROP, p->ok);
	if (p->ok)
		return;
	EXPECT_ACK(test, t, SROCE_NAK_INV_REQ, 0, 0);
}

static void resp_on_packet__write_longer_than_announced(struct kunit *test)
{
	struct resp_test *t = test->priv;

	address(t, 0x1000, 1, 2 * MTU + 5);
	request(t, SROCE_OP_WRITE_FIRST, 0, MTU);
	request(t, SROCE_OP_WRITE_MIDDLE, 1, MTU);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_WRITE_MIDDLE, 2, MTU), SROCE_ACT_DROP);
	EXPECT_ACK(test, t, SROCE_NAK_INV_REQ, 2, 0);
}

/* A SEND of 2^31 bytes, its last packet. */
static void resp_on_packet__longest_send(struct kunit *test)
{
	struct resp_test *t = test->priv;

	request(t, SROCE_OP_SEND_FIRST, 0, MTU);
	t->resp.msg_bytes = SROCE_MAX_MSG_BYTES - MTU;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_LAST, 1, MTU), SROCE_ACT_SEND);
	KUNIT_EXPECT_EQ(test, t->todo.msg_bytes, SROCE_MAX_MSG_BYTES);
	request(t, SROCE_OP_SEND_FIRST, 2, MTU);
	t->resp.msg_bytes = SROCE_MAX_MSG_BYTES - MTU + 1;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_LAST, 3, MTU), SROCE_ACT_DROP);
	EXPECT_ACK(test, t, SROCE_NAK_INV_REQ, 3, 1);
}

static void resp_on_packet__empty_last(struct kunit *test)
{
	struct resp_test *t = test->priv;

	request(t, SROCE_OP_SEND_FIRST, 0, MTU);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_LAST, 1, 0), SROCE_ACT_DROP);
	EXPECT_ACK(test, t, SROCE_NAK_INV_REQ, 1, 0);
}

/* ---- results ---- */

struct result_param {
	enum sroce_resp_result result;
	u8 syndrome;
	u32 event;
};

static const struct result_param result_params[] = {
	{ SROCE_RESULT_INV_REQ, SROCE_NAK_INV_REQ, SROCE_RESP_EV_INV_REQ },
	{ SROCE_RESULT_REM_ACC, SROCE_NAK_REM_ACC, SROCE_RESP_EV_REM_ACC },
	{ SROCE_RESULT_REM_OP, SROCE_NAK_REM_OP, SROCE_RESP_EV_REM_OP },
};

static void result_desc(const struct result_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "0x%02x", p->syndrome);
}

KUNIT_ARRAY_PARAM(result, result_params, result_desc);

/* An error is answered once, and nothing is executed any more. */
static void resp_commit__error(struct kunit *test)
{
	const struct result_param *p = test->param_value;
	struct resp_test *t = test->priv;

	request(t, SROCE_OP_SEND_ONLY, 0, 1);
	t->result = p->result;
	request(t, SROCE_OP_SEND_ONLY, 1, 1);
	KUNIT_EXPECT_EQ(test, t->todo.events, p->event);
	KUNIT_EXPECT_TRUE(test, t->resp.dead);
	t->result = SROCE_RESULT_OK;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_ONLY, 1, 1), SROCE_ACT_DROP);
	KUNIT_EXPECT_EQ(test, t->todo.events, (u32)SROCE_RESP_EV_DROPPED);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_ONLY, 2, 1), SROCE_ACT_DROP);
	EXPECT_ACK(test, t, p->syndrome, 1, 1);
	EXPECT_NO_ANSWER(test, t);
}

static void resp_commit__rnr(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->result = SROCE_RESULT_RNR;
	request(t, SROCE_OP_SEND_FIRST, 0, MTU);
	KUNIT_EXPECT_EQ(test, t->todo.events, (u32)SROCE_RESP_EV_RNR);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_LAST, 1, 1), SROCE_ACT_DROP);
	EXPECT_ACK(test, t, SROCE_AETH_RNR_NAK | 12, 0, 0);
	EXPECT_NO_ANSWER(test, t);	/* no sequence NAK on top */
	/* Again, still nothing there; then it works. */
	request(t, SROCE_OP_SEND_FIRST, 0, MTU);
	EXPECT_ACK(test, t, SROCE_AETH_RNR_NAK | 12, 0, 0);
	t->result = SROCE_RESULT_OK;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_FIRST, 0, MTU), SROCE_ACT_SEND);
	KUNIT_EXPECT_TRUE(test, t->todo.recv);
	t->pkt.ackreq = true;
	request(t, SROCE_OP_SEND_LAST, 1, 1);
	EXPECT_ACK(test, t, ACK, 1, 1);
}

static void resp_reset__answers_nothing(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->pkt.ackreq = true;
	request(t, SROCE_OP_SEND_ONLY, 0, 1);
	sroce_resp_reset(&t->resp);
	EXPECT_NO_ANSWER(test, t);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_ONLY, 1, 1), SROCE_ACT_DROP);
	EXPECT_NO_ANSWER(test, t);
}

/* What start sets up does not depend on what was there; only attributes stay. */
static void resp_start__forgets_everything(struct kunit *test)
{
	struct resp_test *t = test->priv;
	struct sroce_resp fresh = t->resp;

	memset(&t->resp, 0x5a, sizeof(t->resp));
	t->resp.transport = fresh.transport;
	t->resp.reliable = fresh.reliable;
	t->resp.max_res = fresh.max_res;
	t->resp.min_rnr_timer = fresh.min_rnr_timer;
	t->resp.mtu = fresh.mtu;
	t->resp.dest_qpn = fresh.dest_qpn;
	t->resp.pkey = fresh.pkey;
	sroce_resp_start(&t->resp, FIRST_PSN);
	KUNIT_EXPECT_EQ(test, t->resp.epsn, FIRST_PSN);
	KUNIT_EXPECT_EQ(test, t->resp.msn, 0u);
	KUNIT_EXPECT_EQ(test, t->resp.msg, SROCE_MSG_NONE);
	KUNIT_EXPECT_EQ(test, t->resp.msg_bytes, 0u);
	KUNIT_EXPECT_EQ(test, t->resp.write_left, 0u);
	KUNIT_EXPECT_EQ(test, t->resp.credits, SROCE_AETH_NO_CREDITS);
	KUNIT_EXPECT_EQ(test, t->resp.res_pending, 0);
	KUNIT_EXPECT_EQ(test, t->resp.res_head, 0u);
	KUNIT_EXPECT_FALSE(test, t->resp.skip || t->resp.dead || t->resp.nak_sent);
	EXPECT_BYTES(test, t->resp.res, fresh.res, sizeof(fresh.res));
	EXPECT_NO_ANSWER(test, t);
}

/* ---- UC (IBA 9.8.2.2), UD ---- */

/* All packets of an XRC message name the same SRQ. */
static void resp_on_packet__xrc_srq_of_a_message(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->resp.transport = SROCE_XRC;
	t->pkt.srqn = 7;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_XRC | SROCE_OP_SEND_FIRST, 0, MTU), SROCE_ACT_SEND);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_XRC | SROCE_OP_SEND_LAST, 1, 1), SROCE_ACT_SEND);
	/* the next message may go elsewhere */
	t->pkt.srqn = 8;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_XRC | SROCE_OP_SEND_FIRST, 2, MTU), SROCE_ACT_SEND);
	t->pkt.srqn = 7;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_XRC | SROCE_OP_SEND_MIDDLE, 3, MTU), SROCE_ACT_DROP);
	KUNIT_EXPECT_TRUE(test, t->resp.dead);
	EXPECT_ANSWER(test, t, SROCE_RESP_PACKET, SROCE_XRC | SROCE_OP_ACKNOWLEDGE, 3);
	KUNIT_EXPECT_EQ(test, (int)t->out.pkt.syndrome, SROCE_NAK_INV_REQ);
	KUNIT_EXPECT_EQ(test, t->out.pkt.srqn, 0u);
}

/* The shell did not find the SRQ. */
static void resp_commit__xrc_srq_unknown(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->resp.transport = SROCE_XRC;
	t->result = SROCE_RESULT_INV_REQ;
	request(t, SROCE_XRC | SROCE_OP_WRITE_ONLY, 0, 0);
	KUNIT_EXPECT_TRUE(test, t->resp.dead);
	EXPECT_ANSWER(test, t, SROCE_RESP_PACKET, SROCE_XRC | SROCE_OP_ACKNOWLEDGE, 0);
	KUNIT_EXPECT_EQ(test, (int)t->out.pkt.syndrome, SROCE_NAK_INV_REQ);
}

static void resp_on_packet__uc_drops_to_the_next_message(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->resp.reliable = false;
	t->resp.transport = SROCE_UC;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_UC | SROCE_OP_SEND_FIRST, 0, MTU), SROCE_ACT_SEND);
	KUNIT_EXPECT_EQ(test, t->todo.events, 0u);
	/* 1 is lost */
	KUNIT_EXPECT_EQ(test, request(t, SROCE_UC | SROCE_OP_SEND_MIDDLE, 2, MTU), SROCE_ACT_DROP);
	KUNIT_EXPECT_EQ(test, t->todo.events,
			(u32)(SROCE_RESP_EV_OUT_OF_SEQ | SROCE_RESP_EV_DROPPED));
	KUNIT_EXPECT_EQ(test, request(t, SROCE_UC | SROCE_OP_SEND_LAST, 3, 1), SROCE_ACT_DROP);
	KUNIT_EXPECT_EQ(test, t->todo.events, (u32)SROCE_RESP_EV_DROPPED);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_UC | SROCE_OP_SEND_ONLY, 4, 1), SROCE_ACT_SEND);
	KUNIT_EXPECT_EQ(test, t->todo.events, 0u);
	KUNIT_EXPECT_TRUE(test, t->todo.start && t->todo.end && t->todo.recv);
	/* 5 and 6 are lost; a whole message is taken whatever its PSN */
	KUNIT_EXPECT_EQ(test, request(t, SROCE_UC | SROCE_OP_SEND_ONLY, 7, 1), SROCE_ACT_SEND);
	EXPECT_NO_ANSWER(test, t);
}

/* A message that is not ended: the next one begins all the same. */
static void resp_on_packet__uc_message_cut_off(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->resp.reliable = false;
	t->resp.transport = SROCE_UC;
	request(t, SROCE_UC | SROCE_OP_SEND_FIRST, 0, MTU);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_UC | SROCE_OP_SEND_ONLY, 1, 1), SROCE_ACT_SEND);
	KUNIT_EXPECT_EQ(test, t->todo.offset, 0u);
	/* A gap, and a message of two packets behind it. */
	KUNIT_EXPECT_EQ(test, request(t, SROCE_UC | SROCE_OP_SEND_FIRST, 7, MTU), SROCE_ACT_SEND);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_UC | SROCE_OP_SEND_LAST, 8, 1), SROCE_ACT_SEND);
	KUNIT_EXPECT_EQ(test, t->todo.msg_bytes, MTU + 1u);
}

static void resp_commit__uc_without_receive(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->resp.reliable = false;
	t->resp.transport = SROCE_UC;
	t->result = SROCE_RESULT_RNR;
	request(t, SROCE_UC | SROCE_OP_SEND_FIRST, 0, MTU);
	KUNIT_EXPECT_EQ(test, t->todo.events, (u32)(SROCE_RESP_EV_DROPPED | SROCE_RESP_EV_RNR));
	t->result = SROCE_RESULT_OK;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_UC | SROCE_OP_SEND_LAST, 1, 1), SROCE_ACT_DROP);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_UC | SROCE_OP_SEND_ONLY, 2, 1), SROCE_ACT_SEND);
	EXPECT_NO_ANSWER(test, t);
	KUNIT_EXPECT_FALSE(test, t->resp.dead);
}

static void resp_on_packet__uc_bad_length_is_dropped(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->resp.reliable = false;
	t->resp.transport = SROCE_UC;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_UC | SROCE_OP_SEND_FIRST, 0, 1), SROCE_ACT_DROP);
	KUNIT_EXPECT_EQ(test, t->todo.events, (u32)SROCE_RESP_EV_DROPPED);
	EXPECT_NO_ANSWER(test, t);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_UC | SROCE_OP_SEND_ONLY, 1, 1), SROCE_ACT_SEND);
}

static void ud_check__key_and_length(struct kunit *test)
{
	struct sroce_pkt pkt = { .qkey = 5, .payload_bytes = MTU };

	KUNIT_EXPECT_TRUE(test, sroce_ud_check(&pkt, 5, MTU));
	KUNIT_EXPECT_FALSE(test, sroce_ud_check(&pkt, 6, MTU));
	KUNIT_EXPECT_FALSE(test, sroce_ud_check(&pkt, 5, MTU - 1));
}

static struct kunit_case resp_cases[] = {
	KUNIT_CASE(resp_on_packet__send),
	KUNIT_CASE(resp_on_packet__write),
	KUNIT_CASE(resp_on_packet__zero_length),
	KUNIT_CASE(resp_next__acks_are_coalesced),
	KUNIT_CASE(resp_next__credits),
	KUNIT_CASE(resp_next__address_of_answers),
	KUNIT_CASE(resp_on_row__write),
	KUNIT_CASE(resp_on_row__send),
	KUNIT_CASE(resp_on_row__longest_send),
	KUNIT_CASE(resp_on_row__only_the_rule),
	KUNIT_CASE(resp_on_packet__one_nak_per_gap),
	KUNIT_CASE(resp_on_packet__nak_not_sent_is_withdrawn),
	KUNIT_CASE(resp_on_packet__half_the_circle),
	KUNIT_CASE_PARAM(resp_on_packet__opcode_order, order_gen_params),
	KUNIT_CASE_PARAM(resp_on_packet__lengths, length_gen_params),
	KUNIT_CASE(resp_on_packet__write_longer_than_announced),
	KUNIT_CASE(resp_on_packet__longest_send),
	KUNIT_CASE(resp_on_packet__empty_last),
	KUNIT_CASE_PARAM(resp_commit__error, result_gen_params),
	KUNIT_CASE(resp_commit__rnr),
	KUNIT_CASE(resp_reset__answers_nothing),
	KUNIT_CASE(resp_start__forgets_everything),
	KUNIT_CASE(resp_on_packet__xrc_srq_of_a_message),
	KUNIT_CASE(resp_commit__xrc_srq_unknown),
	KUNIT_CASE(resp_on_packet__uc_drops_to_the_next_message),
	KUNIT_CASE(resp_on_packet__uc_message_cut_off),
	KUNIT_CASE(resp_commit__uc_without_receive),
	KUNIT_CASE(resp_on_packet__uc_bad_length_is_dropped),
	KUNIT_CASE(ud_check__key_and_length),
	{}
};

SUITE_INIT(sroce_resp, resp_cases, resp_init);
