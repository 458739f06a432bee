// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * resp.c: requests ahead of their turn are held; NAKs, ACKs and SACKs then.
 */
#include "suite.h"

#include "resp_fixture.h"

/* What the shell keeps; each may be held once. */
static struct sroce_held kept[32];
static u32 num_kept;

static int ahead_init(struct kunit *test)
{
	struct resp_test *t;
	int err = resp_init(test);

	if (err)
		return err;
	t = test->priv;
	t->resp.hold.max_bytes = 100000;
	num_kept = 0;
	return 0;
}

/* A SEND_ONLY arrives; what is ahead is held, what is due then is executed. */
static void send(struct resp_test *t, u32 n, bool ackreq)
{
	struct sroce_held *held;

	t->pkt.ackreq = ackreq;
	t->pkt.opcode = SROCE_OP_SEND_ONLY;
	t->pkt.flags = sroce_opcode_flags(t->pkt.opcode);
	t->pkt.psn = PSN(n);
	t->pkt.payload_bytes = 1;
	sroce_resp_on_packet(&t->resp, &t->pkt, &t->todo);
	if (t->todo.act == SROCE_ACT_HOLD) {
		held = &kept[num_kept++ % ARRAY_SIZE(kept)];
		held->psn = PSN(n);
		held->bytes = 1000;
		sroce_resp_held(&t->resp, &t->pkt, &t->todo, held);
		return;
	}
	if (t->todo.act == SROCE_ACT_DROP)
		return;
	sroce_resp_commit(&t->resp, &t->pkt, &t->todo, t->result);
	while ((held = sroce_resp_due(&t->resp))) {
		t->pkt.psn = held->psn;
		sroce_resp_on_packet(&t->resp, &t->pkt, &t->todo);
		if (t->todo.act != SROCE_ACT_DROP)
			sroce_resp_commit(&t->resp, &t->pkt, &t->todo, t->result);
	}
}

static void expect_sack(struct kunit *test, struct resp_test *t, u32 n, u8 first)
{
	EXPECT_ANSWER(test, t, SROCE_RESP_PACKET, SROCE_OPCODE_SACK, n);
	KUNIT_EXPECT_EQ(test, t->out.pkt.syndrome, ACK);
	KUNIT_EXPECT_EQ(test, t->out.pkt.sack[0], first);
}

/* The gap is filled: all that is held is executed, and the peer is told at once. */
static void ahead__ack_jumps(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	for (i = 1; i < 6; i++)
		send(t, i, false);
	KUNIT_EXPECT_EQ(test, t->resp.hold.packets, 5u);
	EXPECT_ACK(test, t, SROCE_NAK_PSN_SEQ, 0, 0);
	EXPECT_NO_ANSWER(test, t);
	send(t, 0, false);
	KUNIT_EXPECT_EQ(test, t->resp.epsn, PSN(6));
	EXPECT_ACK(test, t, ACK, 5, 6);
	EXPECT_NO_ANSWER(test, t);
	KUNIT_EXPECT_EQ(test, t->resp.hold.packets, 0u);
}

/* A few packets in the wrong order are no gap. */
static void ahead__reordering_is_no_gap(struct kunit *test)
{
	struct resp_test *t = test->priv;

	send(t, 1, false);
	send(t, 2, false);
	EXPECT_NO_ANSWER(test, t);
	send(t, 0, false);
	EXPECT_NO_ANSWER(test, t);
	KUNIT_EXPECT_EQ(test, t->resp.epsn, PSN(3));
	/* But the last one has come when the peer wants to know. */
	send(t, 4, true);
	EXPECT_ACK(test, t, SROCE_NAK_PSN_SEQ, 3, 3);
}

static void ahead__no_memory_is_a_gap(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->resp.hold.max_bytes = 500;
	send(t, 1, false);
	KUNIT_EXPECT_TRUE(test, t->todo.events & SROCE_RESP_EV_DROPPED);
	EXPECT_ACK(test, t, SROCE_NAK_PSN_SEQ, 0, 0);
}

/* The peer goes back, and what fills the gap is lost again: that is another gap. */
static void ahead__second_gap_at_the_same_place(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	for (i = 1; i < 6; i++)
		send(t, i, false);
	EXPECT_ACK(test, t, SROCE_NAK_PSN_SEQ, 0, 0);
	/* Repeated by the network: no. */
	send(t, 5, false);
	EXPECT_NO_ANSWER(test, t);
	for (i = 1; i < 6; i++)
		send(t, i, false);
	EXPECT_ACK(test, t, SROCE_NAK_PSN_SEQ, 0, 0);
	EXPECT_NO_ANSWER(test, t);
}

/* It is the RNR NAK that stands. */
static void ahead__not_while_the_peer_waits_for_us(struct kunit *test)
{
	struct resp_test *t = test->priv;
	u32 i;

	t->result = SROCE_RESULT_RNR;
	send(t, 0, false);
	EXPECT_ACK(test, t, SROCE_AETH_RNR_NAK | 12, 0, 0);
	for (i = 1; i < 5; i++)
		send(t, i, false);
	for (i = 1; i < 5; i++)
		send(t, i, false);
	EXPECT_NO_ANSWER(test, t);
	t->result = SROCE_RESULT_OK;
	send(t, 0, false);
	EXPECT_ACK(test, t, ACK, 4, 5);
}

static void ahead__error_ends_it(struct kunit *test)
{
	struct resp_test *t = test->priv;

	send(t, 1, false);
	send(t, 2, false);
	t->result = SROCE_RESULT_REM_ACC;
	send(t, 0, false);
	EXPECT_ACK(test, t, SROCE_NAK_REM_ACC, 0, 0);
	KUNIT_EXPECT_EQ(test, t->resp.hold.packets, 0u);
}

/* ---- SACK ---- */

static void ahead__sack_per_gap(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->resp.selective = true;
	send(t, 1, false);
	send(t, 2, false);
	send(t, 3, false);
	expect_sack(test, t, -1, 0xe0);
	send(t, 4, false);
	EXPECT_NO_ANSWER(test, t);
	send(t, 6, false);
	expect_sack(test, t, -1, 0xf4);
	send(t, 7, true);
	expect_sack(test, t, -1, 0xf6);
	/* One is filled, one is left. */
	send(t, 0, false);
	expect_sack(test, t, 4, 0xc0);
	send(t, 5, false);
	EXPECT_ACK(test, t, ACK, 7, 8);
	EXPECT_NO_ANSWER(test, t);
}

static void ahead__sack_repeats_on_request(struct kunit *test)
{
	struct resp_test *t = test->priv;

	t->resp.selective = true;
	send(t, 1, true);
	expect_sack(test, t, -1, 0x80);
	send(t, 1, true);
	expect_sack(test, t, -1, 0x80);
	/* The gap stays; a packet that was executed comes again. */
	send(t, -1, true);
	EXPECT_ACK(test, t, ACK, -1, 0);
}

static struct kunit_case ahead_cases[] = {
	KUNIT_CASE(ahead__ack_jumps),
	KUNIT_CASE(ahead__reordering_is_no_gap),
	KUNIT_CASE(ahead__no_memory_is_a_gap),
	KUNIT_CASE(ahead__second_gap_at_the_same_place),
	KUNIT_CASE(ahead__not_while_the_peer_waits_for_us),
	KUNIT_CASE(ahead__error_ends_it),
	KUNIT_CASE(ahead__sack_per_gap),
	KUNIT_CASE(ahead__sack_repeats_on_request),
	{}
};

SUITE_INIT(sroce_ahead, ahead_cases, ahead_init);
