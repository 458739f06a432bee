/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A responder for the suites of resp.c: MTU 256, four resources, first PSN
 * 0xfffffe so that all of them wrap.
 */
#ifndef SROCE_RESP_FIXTURE_H
#define SROCE_RESP_FIXTURE_H

#include "../drivers/infiniband/sw/sroce/proto/resp.h"

#define MTU		256
#define FIRST_PSN	0xfffffeU
#define PSN(n)		sroce_psn_add(FIRST_PSN, n)
#define ACK		SROCE_AETH_NO_CREDITS

struct resp_test {
	struct sroce_resp resp;
	struct sroce_pkt pkt;		/* fields of the next request */
	struct sroce_resp_do todo;	/* its verdict */
	enum sroce_resp_result result;	/* how its execution ends */
	u64 orig;			/* what an atomic finds */
	struct sroce_resp_out out;	/* the last answer */
};

static int resp_init(struct kunit *test)
{
	struct resp_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->resp.transport = SROCE_RC;
	t->resp.reliable = true;
	t->resp.max_res = 4;
	t->resp.min_rnr_timer = 12;
	t->resp.mtu = MTU;
	t->resp.dest_qpn = 0x321;
	t->resp.pkey = 0xffff;
	sroce_resp_reset(&t->resp);
	sroce_resp_start(&t->resp, FIRST_PSN);
	test->priv = t;
	return 0;
}

/* RETH or AtomicETH of the requests to come */
static inline void address(struct resp_test *t, u64 va, u32 rkey, u32 bytes)
{
	t->pkt.va = va;
	t->pkt.rkey = rkey;
	t->pkt.dma_bytes = bytes;
}

/* A request arrives and is executed with t->result; returns the verdict. */
static inline int request(struct resp_test *t, u8 op, u32 n, u32 payload)
{
	t->pkt.opcode = op;
	t->pkt.flags = sroce_opcode_flags(op);
	t->pkt.headers = sroce_opcode_headers(op);
	t->pkt.psn = PSN(n);
	t->pkt.payload_bytes = payload;
	sroce_resp_on_packet(&t->resp, &t->pkt, &t->todo);
	t->todo.orig = t->orig;
	if (t->todo.act != SROCE_ACT_DROP)
		sroce_resp_commit(&t->resp, &t->pkt, &t->todo, t->result);
	t->pkt.ackreq = false;
	return t->todo.act;
}

#define EXPECT_ANSWER(test, t, what_, op, n) do {				\
	KUNIT_EXPECT_TRUE(test, sroce_resp_pending(&(t)->resp));		\
	KUNIT_EXPECT_EQ(test, (int)sroce_resp_next(&(t)->resp, &(t)->out), (int)(what_)); \
	KUNIT_EXPECT_EQ(test, (int)(t)->out.pkt.opcode, (int)(op));		\
	KUNIT_EXPECT_EQ(test, (t)->out.pkt.psn, PSN(n));			\
} while (0)

#define EXPECT_ACK(test, t, syndrome_, n, msn_) do {				\
	EXPECT_ANSWER(test, t, SROCE_RESP_PACKET, SROCE_OP_ACKNOWLEDGE, n);	\
	KUNIT_EXPECT_EQ(test, (int)(t)->out.pkt.syndrome, (int)(syndrome_));	\
	KUNIT_EXPECT_EQ(test, (t)->out.pkt.msn, (u32)(msn_));			\
} while (0)

#define EXPECT_NO_ANSWER(test, t) do {						\
	KUNIT_EXPECT_FALSE(test, sroce_resp_pending(&(t)->resp));		\
	KUNIT_EXPECT_EQ(test, sroce_resp_next(&(t)->resp, &(t)->out), SROCE_RESP_NOTHING); \
} while (0)

#endif /* SROCE_RESP_FIXTURE_H */
