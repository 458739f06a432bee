/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A requester with 16 WQEs for the suites of req.c, ack.c and retry.c: MTU 256,
 * first PSN 0xfffffe so that all of them wrap.
 */
#ifndef SROCE_REQ_FIXTURE_H
#define SROCE_REQ_FIXTURE_H

#include "../drivers/infiniband/sw/sroce/proto/req.h"

#define SLOTS		16
#define MTU		256
#define FIRST_PSN	0xfffffeU
#define PSN(n)		sroce_psn_add(FIRST_PSN, n)
#define TIMEOUT_NS	1000000ULL

struct req_test {
	struct sroce_req req;
	struct sroce_req_out out;
	struct sroce_req_in in;
	u64 now;
};

static int req_init(struct kunit *test)
{
	struct req_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->req.stride = sizeof(struct sroce_swqe);
	t->req.mask = SLOTS - 1;
	t->req.wqes = kunit_kzalloc(test, SLOTS * sizeof(struct sroce_swqe), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->req.wqes);
	t->req.transport = SROCE_RC;
	t->req.reliable = true;
	t->req.retry_cnt = 3;
	t->req.rnr_retry = 2;
	t->req.max_rd_atomic = 4;
	t->req.pkey = 0xffff;
	t->req.mtu = MTU;
	t->req.dest_qpn = 0x123;
	t->req.window = 64;
	t->req.cwnd = U32_MAX;
	t->req.ackreq_every = 16;
	t->req.ack_timeout_ns = TIMEOUT_NS;
	sroce_req_reset(&t->req);
	sroce_req_start(&t->req, FIRST_PSN);
	t->now = 5000;
	test->priv = t;
	return 0;
}

static inline struct sroce_swqe *post(struct req_test *t, u8 op, u32 length)
{
	struct sroce_swqe *wqe = sroce_req_wqe(&t->req, t->req.tail++);

	memset(wqe, 0, sizeof(*wqe));
	wqe->op = op;
	wqe->length = length;
	wqe->remote_addr = 0x10000;
	wqe->rkey = 0x77;
	return wqe;
}

static inline enum sroce_req_what next(struct req_test *t)
{
	return sroce_req_next(&t->req, t->now, &t->out);
}

/* Send all that may be sent; returns the number of packets. */
static inline u32 send_all(struct req_test *t)
{
	u32 n = 0;

	while (next(t) == SROCE_REQ_PACKET)
		n++;
	return n;
}

/* Time passes until the next deadline; returns the events. */
static inline u32 fire(struct req_test *t)
{
	t->now = sroce_req_deadline(&t->req);
	return sroce_req_on_timer(&t->req, t->now);
}

static inline void take(struct req_test *t, struct sroce_pkt *pkt)
{
	pkt->flags = sroce_opcode_flags(pkt->opcode);
	pkt->headers = sroce_opcode_headers(pkt->opcode);
	if (sroce_req_on_packet(&t->req, pkt, t->now, &t->in) == SROCE_REQ_TAKE_PLACE)
		sroce_req_placed(&t->req, &t->in, SROCE_ST_SUCCESS, t->now);
}

/* An ACKNOWLEDGE arrives; returns the events. */
static inline u32 take_ack(struct req_test *t, u8 syndrome, u32 psn)
{
	struct sroce_pkt pkt = {
		.opcode = SROCE_OP_ACKNOWLEDGE, .syndrome = syndrome, .psn = psn,
	};

	take(t, &pkt);
	return t->in.events;
}

static inline u32 take_read(struct req_test *t, u8 op, u32 psn, u32 bytes)
{
	struct sroce_pkt pkt = {
		.opcode = op, .syndrome = SROCE_AETH_NO_CREDITS, .psn = psn,
		.payload_bytes = bytes,
	};

	take(t, &pkt);
	return t->in.events;
}

static inline u32 take_atomic(struct req_test *t, u32 psn)
{
	struct sroce_pkt pkt = {
		.opcode = SROCE_OP_ATOMIC_ACK, .syndrome = SROCE_AETH_NO_CREDITS, .psn = psn,
	};

	take(t, &pkt);
	return t->in.events;
}

#define ACK SROCE_AETH_NO_CREDITS	/* a plain ACK's syndrome */

#define EXPECT_PACKET(test, t, op, n) do {					\
	KUNIT_EXPECT_EQ(test, next(t), SROCE_REQ_PACKET);			\
	KUNIT_EXPECT_EQ(test, (int)(t)->out.pkt.opcode, (int)(op));		\
	KUNIT_EXPECT_EQ(test, (t)->out.pkt.psn, PSN(n));			\
} while (0)

#define EXPECT_NOTHING(test, t) \
	KUNIT_EXPECT_EQ(test, next(t), SROCE_REQ_NOTHING)

/* The next completion is WQE @nr with @want. */
#define EXPECT_POP(test, t, nr, want) do {					\
	enum sroce_status _status = SROCE_ST_SUCCESS;				\
	u32 _index = ~0U;							\
										\
	KUNIT_EXPECT_TRUE(test, sroce_req_pop(&(t)->req, &_index, &_status));	\
	KUNIT_EXPECT_EQ(test, _index, (u32)(nr));				\
	KUNIT_EXPECT_EQ(test, (int)_status, (int)(want));			\
} while (0)

#define EXPECT_NO_POP(test, t) do {						\
	enum sroce_status _status;						\
	u32 _index;								\
										\
	KUNIT_EXPECT_FALSE(test, sroce_req_pop(&(t)->req, &_index, &_status));	\
} while (0)

#endif /* SROCE_REQ_FIXTURE_H */
