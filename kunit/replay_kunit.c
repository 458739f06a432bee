// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * READs, atomics and what is remembered of them; duplicates (IBA 9.7.5.1.3,
 * 9.7.5.1.4).
 */
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/replay.c"

#include "resp_fixture.h"

static int read_request(struct resp_test *t, u32 n, u64 va, u32 bytes)
{
	address(t, va, 99, bytes);
	return request(t, SROCE_OP_READ_REQUEST, n, 0);
}

static int fetch_add(struct resp_test *t, u32 n, u64 orig)
{
	address(t, 0x2000, 99, 0);
	t->orig = orig;
	return request(t, SROCE_OP_FETCH_ADD, n, 0);
}

#define EXPECT_READ(test, t, op, n, va_, bytes) do {				\
	EXPECT_ANSWER(test, t, SROCE_RESP_READ_DATA, op, n);			\
	KUNIT_EXPECT_EQ(test, (t)->out.va, (u64)(va_));				\
	KUNIT_EXPECT_EQ(test, (u32)(t)->out.pkt.payload_bytes, (u32)(bytes));	\
	KUNIT_EXPECT_EQ(test, (t)->out.rkey, 99u);				\
} while (0)

#define EXPECT_ATOMIC(test, t, n, orig) do {					\
	EXPECT_ANSWER(test, t, SROCE_RESP_PACKET, SROCE_OP_ATOMIC_ACK, n);	\
	KUNIT_EXPECT_EQ(test, (t)->out.pkt.atomic_orig, (u64)(orig));		\
} while (0)

/* ---- answers ---- */

static void resp_next__read_answer(struct kunit *test)
{
	struct resp_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, read_request(t, 0, 0x1000, 2 * MTU + 1), SROCE_ACT_READ);
	KUNIT_EXPECT_EQ(test, t->todo.va, 0x1000ULL);
	KUNIT_EXPECT_EQ(test, t->todo.bytes, 2u * MTU + 1);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_FIRST, 0, 0x1000, MTU);
	KUNIT_EXPECT_EQ(test, t->out.pkt.msn, 1u);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_MIDDLE, 1, 0x1000 + MTU, MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_LAST, 2, 0x1000 + 2 * MTU, 1);
	KUNIT_EXPECT_FALSE(test, t->out.again);
	EXPECT_NO_ANSWER(test, t);
	/* It took three PSNs. */
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_ONLY, 3, 1), SROCE_ACT_SEND);
}

static void resp_more__from_middle_to_middle(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	read_request(t, 0, 0x1000, 5 * MTU);
	read_request(t, 5, 0x9000, 1);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_FIRST, 0, 0x1000, MTU);
	KUNIT_EXPECT_FALSE(test, sroce_resp_more(&t->resp, &t->out));
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_MIDDLE, 1, 0x1000 + MTU, MTU);
	for (i = 2; i < 4; i++) {
		KUNIT_EXPECT_TRUE(test, sroce_resp_more(&t->resp, &t->out));
		KUNIT_EXPECT_EQ(test, t->out.pkt.psn, PSN(i));
		KUNIT_EXPECT_EQ(test, t->out.va, 0x1000ULL + i * MTU);
	}
	KUNIT_EXPECT_FALSE(test, sroce_resp_more(&t->resp, &t->out));
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_LAST, 4, 0x1000 + 4 * MTU, MTU);
	KUNIT_EXPECT_FALSE(test, sroce_resp_more(&t->resp, &t->out));
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_ONLY, 5, 0x9000, 1);
	EXPECT_NO_ANSWER(test, t);
}

static void resp_more__not_where_it_begins_again(struct kunit *test)
{
	struct resp_test *t = test->priv;

	read_request(t, 0, 0x1000, 5 * MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_FIRST, 0, 0x1000, MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_MIDDLE, 1, 0x1000 + MTU, MTU);
	KUNIT_EXPECT_NE(test, sroce_resp_refused(&t->resp, PSN(2)), SROCE_NEVER);
	KUNIT_EXPECT_FALSE(test, sroce_resp_more(&t->resp, &t->out));
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_FIRST, 2, 0x1000 + 2 * MTU, MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_MIDDLE, 3, 0x1000 + 3 * MTU, MTU);
	sroce_resp_read_failed(&t->resp, &t->out);
	KUNIT_EXPECT_FALSE(test, sroce_resp_more(&t->resp, &t->out));
}

static void resp_next__read_answer_of_one_packet(struct kunit *test)
{
	struct resp_test *t = test->priv;

	read_request(t, 0, 0x1000, MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_ONLY, 0, 0x1000, MTU);
	EXPECT_NO_ANSWER(test, t);
}

/* Answers leave in the order of the requests, an ACK after the READ before it. */
static void resp_next__in_request_order(struct kunit *test)
{
	struct resp_test *t = test->priv;

	read_request(t, 0, 0x1000, MTU + 1);
	fetch_add(t, 2, 41);
	t->pkt.ackreq = true;
	request(t, SROCE_OP_SEND_ONLY, 3, 1);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_FIRST, 0, 0x1000, MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_LAST, 1, 0x1000 + MTU, 1);
	EXPECT_ATOMIC(test, t, 2, 41);
	KUNIT_EXPECT_EQ(test, t->out.pkt.msn, 2u);
	EXPECT_ACK(test, t, ACK, 3, 3);
	EXPECT_NO_ANSWER(test, t);
}

static void resp_next__empty_answers(struct kunit *test)
{
	struct resp_test *t = test->priv;

	address(t, 0x3000, 99, 4 * MTU);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_FLUSH, 0, 0), SROCE_ACT_FLUSH);
	KUNIT_EXPECT_EQ(test, t->todo.bytes, 4u * MTU);
	address(t, 0x3000, 99, 8);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_ATOMIC_WRITE, 1, 8), SROCE_ACT_ATOMIC_WRITE);
	EXPECT_ANSWER(test, t, SROCE_RESP_PACKET, SROCE_OP_READ_RESP_ONLY, 0);
	EXPECT_ANSWER(test, t, SROCE_RESP_PACKET, SROCE_OP_READ_RESP_ONLY, 1);
	KUNIT_EXPECT_EQ(test, t->out.pkt.payload_bytes, 0);
	EXPECT_NO_ANSWER(test, t);
}

/* IBA 9.7.5.2.4: the memory vanishes in the middle of the answer. */
static void resp_read_failed__naks_in_place(struct kunit *test)
{
	struct resp_test *t = test->priv;

	read_request(t, 0, 0x1000, 3 * MTU);
	fetch_add(t, 3, 1);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_FIRST, 0, 0x1000, MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_MIDDLE, 1, 0x1000 + MTU, MTU);
	sroce_resp_read_failed(&t->resp, &t->out);
	KUNIT_EXPECT_TRUE(test, t->resp.dead);
	EXPECT_ACK(test, t, SROCE_NAK_REM_ACC, 1, 2);
	EXPECT_NO_ANSWER(test, t);
}

/* ---- resources ---- */

static void resp_on_packet__too_many_reads(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, fetch_add(t, i, i), SROCE_ACT_ATOMIC);
	KUNIT_EXPECT_EQ(test, fetch_add(t, 4, 4), SROCE_ACT_DROP);
	KUNIT_EXPECT_EQ(test, t->todo.events, (u32)SROCE_RESP_EV_INV_REQ);
	for (i = 0; i < 4; i++)
		EXPECT_ATOMIC(test, t, i, i);
	EXPECT_ACK(test, t, SROCE_NAK_INV_REQ, 4, 4);
}

static void resp_on_packet__reads_not_enabled(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->resp.max_res = 0;
	KUNIT_EXPECT_EQ(test, read_request(t, 0, 0x1000, 1), SROCE_ACT_DROP);
	EXPECT_ACK(test, t, SROCE_NAK_INV_REQ, 0, 0);
	KUNIT_EXPECT_TRUE(test, t->resp.dead);
}

/* A replay that nobody waits for does not hold the resource. */
static void resp_on_packet__replay_gives_way(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	for (i = 0; i < 4; i++) {
		fetch_add(t, i, i);
		EXPECT_ATOMIC(test, t, i, i);
	}
	KUNIT_EXPECT_EQ(test, fetch_add(t, 0, 7), SROCE_ACT_DROP);	/* delayed duplicate */
	KUNIT_EXPECT_EQ(test, fetch_add(t, 4, 4), SROCE_ACT_ATOMIC);
	EXPECT_ATOMIC(test, t, 4, 4);
	EXPECT_NO_ANSWER(test, t);
}

/* modify_qp may give more resources; what was remembered stays. */
static void resp_on_packet__more_resources(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	t->resp.max_res = 1;
	for (i = 0; i < 3; i++) {
		fetch_add(t, i, i);
		EXPECT_ATOMIC(test, t, i, i);
	}
	t->resp.max_res = 2;
	KUNIT_EXPECT_EQ(test, fetch_add(t, 3, 3), SROCE_ACT_ATOMIC);
	KUNIT_EXPECT_EQ(test, fetch_add(t, 4, 4), SROCE_ACT_ATOMIC);
	EXPECT_ATOMIC(test, t, 3, 3);
	EXPECT_ATOMIC(test, t, 4, 4);
	fetch_add(t, 3, 9);
	EXPECT_ATOMIC(test, t, 3, 3);
	fetch_add(t, 4, 9);
	EXPECT_ATOMIC(test, t, 4, 4);
	EXPECT_NO_ANSWER(test, t);
}

/* The ring holds 16; all of them can be in use. */
static void resp_on_packet__sixteen_resources(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	t->resp.max_res = SROCE_RESP_MAX_RES;
	for (i = 0; i < SROCE_RESP_MAX_RES; i++)
		KUNIT_EXPECT_EQ(test, fetch_add(t, i, i), SROCE_ACT_ATOMIC);
	for (i = 0; i < SROCE_RESP_MAX_RES; i++)
		EXPECT_ATOMIC(test, t, i, i);
	EXPECT_NO_ANSWER(test, t);
	for (i = 0; i < SROCE_RESP_MAX_RES; i++) {
		fetch_add(t, i, 99);
		EXPECT_ATOMIC(test, t, i, i);
		KUNIT_EXPECT_TRUE(test, t->out.again);
	}
	/* Once more round: nothing is left of the first round. */
	fetch_add(t, SROCE_RESP_MAX_RES, 7);
	EXPECT_ATOMIC(test, t, SROCE_RESP_MAX_RES, 7);
	KUNIT_EXPECT_FALSE(test, t->out.again);
}

/* ---- duplicates ---- */

static void resp_on_packet__duplicate_send(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	for (i = 0; i < 3; i++)
		request(t, SROCE_OP_SEND_ONLY, i, 1);
	t->pkt.ackreq = true;
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_SEND_ONLY, 0, 1), SROCE_ACT_DROP);
	KUNIT_EXPECT_EQ(test, t->todo.events, (u32)SROCE_RESP_EV_DUPLICATE);
	/* C9-105: with the newest PSN, not its own */
	EXPECT_ACK(test, t, ACK, 2, 3);
	EXPECT_NO_ANSWER(test, t);
}

static void resp_on_packet__duplicate_that_asks_for_nothing(struct kunit *test)
{
	struct resp_test *t = test->priv;

	request(t, SROCE_OP_SEND_FIRST, 0, MTU);
	request(t, SROCE_OP_SEND_LAST, 1, 1);
	request(t, SROCE_OP_SEND_FIRST, 0, MTU);
	EXPECT_NO_ANSWER(test, t);
	request(t, SROCE_OP_SEND_LAST, 1, 1);	/* the end of a message always does */
	EXPECT_ACK(test, t, ACK, 1, 1);
}

/* A NAK that waits is not replaced by the ACK of a duplicate. */
static void resp_on_packet__duplicate_behind_a_gap(struct kunit *test)
{
	struct resp_test *t = test->priv;

	request(t, SROCE_OP_SEND_ONLY, 0, 1);
	request(t, SROCE_OP_SEND_ONLY, 2, 1);
	t->pkt.ackreq = true;
	request(t, SROCE_OP_SEND_ONLY, 0, 1);
	EXPECT_ACK(test, t, SROCE_NAK_PSN_SEQ, 1, 1);
	EXPECT_NO_ANSWER(test, t);
}

/* Recipe R2: the saved value, not another execution. */
static void resp_on_packet__duplicate_atomic(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	for (i = 0; i < 4; i++) {
		fetch_add(t, i, 41 + i);
		EXPECT_ATOMIC(test, t, i, 41 + i);
	}
	t->orig = 1000;
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, fetch_add(t, i, 1000), SROCE_ACT_DROP);
		KUNIT_EXPECT_EQ(test, t->todo.events, (u32)SROCE_RESP_EV_DUPLICATE);
		EXPECT_ATOMIC(test, t, i, 41 + i);
		KUNIT_EXPECT_TRUE(test, t->out.again);
		KUNIT_EXPECT_EQ(test, t->out.pkt.msn, i + 1);
	}
	EXPECT_NO_ANSWER(test, t);
}

static void resp_on_packet__forgotten_atomic(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	for (i = 0; i < 5; i++) {
		fetch_add(t, i, i);
		EXPECT_ATOMIC(test, t, i, i);
	}
	KUNIT_EXPECT_EQ(test, fetch_add(t, 0, 0), SROCE_ACT_DROP);
	KUNIT_EXPECT_EQ(test, t->todo.events,
			(u32)(SROCE_RESP_EV_DUPLICATE | SROCE_RESP_EV_DROPPED));
	EXPECT_NO_ANSWER(test, t);
}

/* What was an atomic is not answered as another kind. */
static void resp_on_packet__duplicate_of_another_kind(struct kunit *test)
{
	struct resp_test *t = test->priv;

	fetch_add(t, 0, 41);
	EXPECT_ATOMIC(test, t, 0, 41);
	KUNIT_EXPECT_EQ(test, read_request(t, 0, 0x2000, 8), SROCE_ACT_DROP);
	address(t, 0x2000, 99, 8);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_FLUSH, 0, 0), SROCE_ACT_DROP);
	EXPECT_NO_ANSWER(test, t);
}

static void resp_on_packet__duplicate_read(struct kunit *test)
{
	struct resp_test *t = test->priv;

	read_request(t, 0, 0x1000, 2 * MTU + 1);
	while (sroce_resp_pending(&t->resp))
		sroce_resp_next(&t->resp, &t->out);
	/* From the second packet on, as a requester does that has the first. */
	KUNIT_EXPECT_EQ(test, read_request(t, 1, 0x1000 + MTU, MTU + 1), SROCE_ACT_DROP);
	KUNIT_EXPECT_EQ(test, t->todo.events, (u32)SROCE_RESP_EV_DUPLICATE);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_FIRST, 1, 0x1000 + MTU, MTU);
	KUNIT_EXPECT_TRUE(test, t->out.again);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_LAST, 2, 0x1000 + 2 * MTU, 1);
	EXPECT_NO_ANSWER(test, t);
	read_request(t, 2, 0x1000 + 2 * MTU, 1);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_ONLY, 2, 0x1000 + 2 * MTU, 1);
	/* Only the beginning */
	read_request(t, 0, 0x1000, MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_ONLY, 0, 0x1000, MTU);
	read_request(t, 0, 0x1000, MTU + 7);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_FIRST, 0, 0x1000, MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_LAST, 1, 0x1000 + MTU, 7);
	EXPECT_NO_ANSWER(test, t);
}

/* In the middle of the first answer: it starts over where the duplicate says. */
static void resp_on_packet__duplicate_read_pre_empts(struct kunit *test)
{
	struct resp_test *t = test->priv;

	read_request(t, 0, 0x1000, 4 * MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_FIRST, 0, 0x1000, MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_MIDDLE, 1, 0x1000 + MTU, MTU);
	read_request(t, 1, 0x1000 + MTU, 3 * MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_FIRST, 1, 0x1000 + MTU, MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_MIDDLE, 2, 0x1000 + 2 * MTU, MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_LAST, 3, 0x1000 + 3 * MTU, MTU);
	EXPECT_NO_ANSWER(test, t);
}

/* C9-110: a logically earlier duplicate goes first. */
static void resp_on_packet__earlier_duplicate_first(struct kunit *test)
{
	struct resp_test *t = test->priv;

	read_request(t, 0, 0x1000, 1);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_ONLY, 0, 0x1000, 1);
	read_request(t, 1, 0x2000, 2 * MTU);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_FIRST, 1, 0x2000, MTU);
	read_request(t, 0, 0x1000, 1);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_ONLY, 0, 0x1000, 1);
	EXPECT_READ(test, t, SROCE_OP_READ_RESP_LAST, 2, 0x2000 + MTU, MTU);
}

struct outside_param {
	const char *name;
	u32 n;
	u64 va;
	u32 rkey, bytes;
};

/* Of a READ of 2 * MTU at 0x1000 with key 99 and PSN 0. */
static const struct outside_param outside_params[] = {
	{ "beyond the end", 0, 0x1000, 99, 2 * MTU + 1 },
	{ "beyond the end from the second packet", 1, 0x1000 + MTU, 99, MTU + 1 },
	{ "before the beginning", 0, 0xfff, 99, MTU },
	{ "elsewhere", 0, 0x1000 + MTU, 99, MTU },
	{ "address does not fit the PSN", 1, 0x1000, 99, MTU },
	{ "another key", 0, 0x1000, 98, MTU },
	{ "a PSN before", 0xffffff, 0x1000 - MTU, 99, MTU },
};

static void outside_desc(const struct outside_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->name);
}

KUNIT_ARRAY_PARAM(outside, outside_params, outside_desc);

static void resp_on_packet__duplicate_read_outside(struct kunit *test)
{
	const struct outside_param *p = test->param_value;
	struct resp_test *t = test->priv;

	read_request(t, 0, 0x1000, 2 * MTU);
	while (sroce_resp_pending(&t->resp))
		sroce_resp_next(&t->resp, &t->out);
	address(t, p->va, p->rkey, p->bytes);
	KUNIT_EXPECT_EQ(test, request(t, SROCE_OP_READ_REQUEST, p->n, 0), SROCE_ACT_DROP);
	KUNIT_EXPECT_TRUE(test, t->todo.events & SROCE_RESP_EV_DROPPED);
	EXPECT_NO_ANSWER(test, t);
}

/* The data of an XRC READ are those of the SRQ it named, and a duplicate names it too. */
static void resp_on_packet__xrc_read_again(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->resp.transport = SROCE_XRC;
	t->pkt.srqn = 7;
	address(t, 0x1000, 99, MTU + 1);
	request(t, SROCE_XRC | SROCE_OP_READ_REQUEST, 0, 0);
	EXPECT_READ(test, t, SROCE_XRC | SROCE_OP_READ_RESP_FIRST, 0, 0x1000, MTU);
	KUNIT_EXPECT_EQ(test, t->out.srqn, 7u);
	EXPECT_READ(test, t, SROCE_XRC | SROCE_OP_READ_RESP_LAST, 1, 0x1000 + MTU, 1);
	KUNIT_EXPECT_EQ(test, t->out.srqn, 7u);

	request(t, SROCE_XRC | SROCE_OP_READ_REQUEST, 0, 0);
	EXPECT_READ(test, t, SROCE_XRC | SROCE_OP_READ_RESP_FIRST, 0, 0x1000, MTU);
	KUNIT_EXPECT_EQ(test, t->out.srqn, 7u);
	EXPECT_READ(test, t, SROCE_XRC | SROCE_OP_READ_RESP_LAST, 1, 0x1000 + MTU, 1);

	t->pkt.srqn = 8;
	request(t, SROCE_XRC | SROCE_OP_READ_REQUEST, 0, 0);
	EXPECT_NO_ANSWER(test, t);
	KUNIT_EXPECT_FALSE(test, t->resp.dead);
}

/* ---- parts of READs ---- */

#define EXPECT_DATA(test, t, op, n) \
	EXPECT_ANSWER(test, t, SROCE_RESP_READ_DATA, op, n)

/* A part that was sent already goes first; the rest goes on after it. */
static void replay_part__before_the_rest(struct kunit *test)
{
	struct resp_test *t = test->priv;

	read_request(t, 0, 0x1000, 6 * MTU);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_FIRST, 0);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_MIDDLE, 1);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_MIDDLE, 2);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_MIDDLE, 3);
	read_request(t, 2, 0x1000 + 2 * MTU, MTU);
	read_request(t, 0, 0x1000, MTU);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_ONLY, 0);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_ONLY, 2);
	KUNIT_EXPECT_EQ(test, t->out.va, 0x1000ULL + 2 * MTU);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_FIRST, 4);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_LAST, 5);
	EXPECT_NO_ANSWER(test, t);
}

static void replay_part__one_after_the_other(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	read_request(t, 0, 0x1000, 6 * MTU);
	for (i = 0; i < 6; i++)
		sroce_resp_next(&t->resp, &t->out);
	read_request(t, 0, 0x1000, MTU);
	read_request(t, 4, 0x1000 + 4 * MTU, MTU);
	read_request(t, 2, 0x1000 + 2 * MTU, MTU);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_ONLY, 0);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_ONLY, 2);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_ONLY, 4);
	EXPECT_NO_ANSWER(test, t);
}

/* What is asked for comes anyway. */
static void replay_part__under_way(struct kunit *test)
{
	struct resp_test *t = test->priv;

	read_request(t, 0, 0x1000, 3 * MTU);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_FIRST, 0);
	read_request(t, 2, 0x1000 + 2 * MTU, MTU);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_MIDDLE, 1);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_LAST, 2);
	EXPECT_NO_ANSWER(test, t);
}

/* C9-110: all from a PSN on, once more; what waits is in it. */
static void replay_part__starts_again(struct kunit *test)
{
	struct resp_test *t = test->priv;

	read_request(t, 0, 0x1000, 4 * MTU);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_FIRST, 0);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_MIDDLE, 1);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_MIDDLE, 2);
	read_request(t, 1, 0x1000 + MTU, MTU);
	read_request(t, 1, 0x1000 + MTU, 3 * MTU);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_FIRST, 1);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_MIDDLE, 2);
	EXPECT_DATA(test, t, SROCE_OP_READ_RESP_LAST, 3);
	EXPECT_NO_ANSWER(test, t);
}

static void replay_part__bounded(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	read_request(t, 0, 0x1000, 200 * MTU);
	for (i = 0; i < 150; i++)
		sroce_resp_next(&t->resp, &t->out);
	for (i = 0; i < SROCE_RESP_MAX_PARTS; i++)
		read_request(t, 140 - 2 * i, 0x1000 + (140 - 2 * i) * MTU, MTU);
	KUNIT_EXPECT_FALSE(test, t->todo.events & SROCE_RESP_EV_DROPPED);
	read_request(t, 2, 0x1000 + 2 * MTU, MTU);
	KUNIT_EXPECT_TRUE(test, t->todo.events & SROCE_RESP_EV_DROPPED);
	/* With a resource its parts are forgotten. */
	for (i = 0; i < 4; i++)
		fetch_add(t, 200 + i, 0);
	KUNIT_EXPECT_EQ(test, t->resp.num_parts, 0);
}

static struct kunit_case replay_cases[] = {
	KUNIT_CASE(resp_next__read_answer),
	KUNIT_CASE(resp_next__read_answer_of_one_packet),
	KUNIT_CASE(resp_next__in_request_order),
	KUNIT_CASE(resp_next__empty_answers),
	KUNIT_CASE(resp_read_failed__naks_in_place),
	KUNIT_CASE(resp_on_packet__too_many_reads),
	KUNIT_CASE(resp_on_packet__reads_not_enabled),
	KUNIT_CASE(resp_on_packet__replay_gives_way),
	KUNIT_CASE(resp_on_packet__more_resources),
	KUNIT_CASE(resp_on_packet__sixteen_resources),
	KUNIT_CASE(resp_on_packet__duplicate_send),
	KUNIT_CASE(resp_on_packet__duplicate_that_asks_for_nothing),
	KUNIT_CASE(resp_on_packet__duplicate_behind_a_gap),
	KUNIT_CASE(resp_on_packet__duplicate_atomic),
	KUNIT_CASE(resp_on_packet__forgotten_atomic),
	KUNIT_CASE(resp_on_packet__duplicate_of_another_kind),
	KUNIT_CASE(resp_on_packet__duplicate_read),
	KUNIT_CASE(resp_on_packet__duplicate_read_pre_empts),
	KUNIT_CASE(resp_on_packet__earlier_duplicate_first),
	KUNIT_CASE_PARAM(resp_on_packet__duplicate_read_outside, outside_gen_params),
	KUNIT_CASE(resp_on_packet__xrc_read_again),
	KUNIT_CASE(replay_part__before_the_rest),
	KUNIT_CASE(replay_part__one_after_the_other),
	KUNIT_CASE(replay_part__under_way),
	KUNIT_CASE(replay_part__starts_again),
	KUNIT_CASE(replay_part__bounded),
	KUNIT_CASE(resp_more__from_middle_to_middle),
	KUNIT_CASE(resp_more__not_where_it_begins_again),
	{}
};

SUITE_INIT(sroce_replay, replay_cases, resp_init);
