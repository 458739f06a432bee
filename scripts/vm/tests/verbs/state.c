// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * States of a QP (IBA 10.3.1): what is drained, flushed and told, and what
 * query_qp says.
 */
#include "wire.h"

#define MAX_SEEN	2048

static struct seen seen[MAX_SEEN];

/* ---- SQD ---- */

static void to_sqd(struct end *e, bool tell)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = tell };

	CHECK_OK(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
}

static bool is_draining(const struct end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_OK(ibv_query_qp(e->qp, &attr, IBV_QP_STATE, &init));
	CHECK_EQ(attr.qp_state, IBV_QPS_SQD);
	return attr.sq_draining;
}

/* What was begun is finished, its retry included; what was not begun waits for RTS. */
static void drain(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.timeout = 19));
	fill(p.a.buf, 64 * PAGE, 1);
	drop('b', OP_ACK, 0, 2);
	POST(&p.a, .id = 1, .len = 5000);
	POST(&p.a, .id = 2, .len = 8);
	/* both have left before they are told of */
	while (dropped() < 2)
		EXPECT_NONE(p.a.scq, MS);
	to_sqd(&p.a, true);
	POST(&p.a, .id = 3, .len = 100, .roff = PAGE);
	EXPECT_EVENT(&p.a, SQ_DRAINED);
	CHECK(!is_draining(&p.a));
	EXPECT_ALL(p.a.scq, 1, 2, SUCCESS);
	POST(&p.a, .id = 4, .len = 100, .roff = 2 * PAGE);
	EXPECT_NONE(p.a.scq, 100 * MS);
	EXPECT_NO_EVENT(&p.a, 10 * MS);
	to_state(&p.a, IBV_QPS_RTS);
	EXPECT_ALL(p.a.scq, 3, 4, SUCCESS);
	CHECK_FILL(p.b.buf + 2 * PAGE, 100, 1);
	pair_free(&p);
}

/* A long message is finished; what had not begun at that moment is not. */
static void drain_long(int arg)
{
	int rounds = quick ? 3 : 10, i, id;
	struct pair p;

	pair_make(&p, SETUP(.bytes = 64 * PAGE));
	for (i = 0; i < rounds; i++) {
		for (id = 0; id < 8; id++)
			POST(&p.a, .id = id, .len = 64 * PAGE);
		to_sqd(&p.a, true);
		EXPECT_EVENT(&p.a, SQ_DRAINED);
		/* each completion that comes has come */
		for (id = 0; id < 8; id++) {
			struct ibv_wc wc;

			if (ibv_poll_cq(p.a.scq, 1, &wc) != 1)
				break;
			CHECK_EQ(wc.wr_id, id);
			CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		}
		EXPECT_NONE(p.a.scq, 20 * MS);
		to_state(&p.a, IBV_QPS_RTS);
		for (; id < 8; id++)
			EXPECT(p.a.scq, id, SUCCESS);
	}
	pair_free(&p);
}

/* The other direction goes on; without the wish there is no event; attributes may be changed. */
static void drained_idle(int arg)
{
	struct ibv_qp_attr attr = { .timeout = 15, .retry_cnt = 3, .min_rnr_timer = 5 };
	struct pair p;

	pair_make(&p, SETUP());
	to_sqd(&p.a, false);
	EXPECT_NO_EVENT(&p.a, 50 * MS);
	post_recv(&p.a, 9, 0, 100);
	POST(&p.b, .id = 1, .code = IBV_WR_SEND, .len = 100);
	POST(&p.b, .id = 2, .len = 100);
	POST(&p.b, .id = 3, .code = IBV_WR_RDMA_READ, .len = 100);
	EXPECT_ALL(p.b.scq, 1, 3, SUCCESS);
	EXPECT(p.a.rcq, 9, SUCCESS);
	attr.qp_state = IBV_QPS_SQD;
	CHECK_OK(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			       IBV_QP_MIN_RNR_TIMER));
	CHECK_EQ(state_of(&p.a), IBV_QPS_SQD);
	/* again, with the wish: it is drained already */
	to_state(&p.a, IBV_QPS_RTS);
	to_sqd(&p.a, true);
	EXPECT_EVENT(&p.a, SQ_DRAINED);
	to_state(&p.a, IBV_QPS_RTS);
	POST(&p.a, .id = 4, .len = 100);
	EXPECT(p.a.scq, 4, SUCCESS);
	to_sqd(&p.a, true);
	EXPECT_EVENT(&p.a, SQ_DRAINED);
	POST(&p.a, .id = 5, .len = 100);
	to_state(&p.a, IBV_QPS_ERR);
	EXPECT(p.a.scq, 5, WR_FLUSH_ERR);
	pair_free(&p);
}

/* ---- SQE ---- */

/* UC: a failed send stops the send queue only, and RTS lets it go on (IBA 10.3.1.6). */
static void sqe(int arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE };
	struct ibv_sge bad;
	struct pair p;
	int i;

	pair_make(&p, SETUP(.type = IBV_QPT_UC));
	for (i = 0; i < 4; i++)
		post_recv(&p.b, i, i * 100, 100);
	post_recv(&p.a, 9, 0, 100);
	bad = (struct ibv_sge){ .addr = (uintptr_t)p.a.buf, .length = 50, .lkey = p.a.mr->lkey + 1 };
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 50);
	POST(&p.a, .id = 2, .code = IBV_WR_SEND, .sg = &bad, .nsg = 1);
	POST(&p.a, .id = 3, .code = IBV_WR_SEND, .len = 50);
	EXPECT(p.a.scq, 1, SUCCESS);
	EXPECT(p.a.scq, 2, LOC_PROT_ERR);
	EXPECT(p.a.scq, 3, WR_FLUSH_ERR);
	EXPECT(p.b.rcq, 0, SUCCESS);
	WAIT_STATE(&p.a, IBV_QPS_SQE);
	POST(&p.a, .id = 4, .code = IBV_WR_SEND, .len = 50);
	EXPECT(p.a.scq, 4, WR_FLUSH_ERR);
	/* it receives meanwhile */
	POST(&p.b, .id = 1, .code = IBV_WR_SEND, .len = 50);
	EXPECT(p.a.rcq, 9, SUCCESS);
	CHECK_OK(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
	for (i = 5; i < 7; i++) {
		POST(&p.a, .id = i, .code = IBV_WR_SEND, .len = 50);
		EXPECT(p.a.scq, i, SUCCESS);
	}
	EXPECT_ALL(p.b.rcq, 1, 2, SUCCESS);
	EXPECT_NO_EVENT(&p.a, 10 * MS);
	pair_free(&p);
}

/* ---- ERR ---- */

/* Both queues are flushed in order, what is posted afterwards too. */
static void flush(int arg)
{
	struct pair p;
	int i;

	pair_make(&p, SETUP(.min_rnr_timer = 25));
	for (i = 0; i < 20; i++)
		post_recv(&p.a, 100 + i, 0, 100);
	/* the peer has no receive: these wait */
	for (i = 0; i < 20; i++)
		POST(&p.a, .id = i, .code = i % 4 ? IBV_WR_RDMA_WRITE : IBV_WR_SEND, .len = 100,
		     .unsignaled = i % 3);
	EXPECT_NONE(p.a.scq, 20 * MS);
	to_state(&p.a, IBV_QPS_ERR);
	EXPECT_ALL(p.a.scq, 0, 19, WR_FLUSH_ERR);
	EXPECT_ALL(p.a.rcq, 100, 119, WR_FLUSH_ERR);
	for (i = 20; i < 40; i++) {
		POST(&p.a, .id = i, .len = 100);
		post_recv(&p.a, 100 + i, 0, 100);
	}
	EXPECT_ALL(p.a.scq, 20, 39, WR_FLUSH_ERR);
	EXPECT_ALL(p.a.rcq, 120, 139, WR_FLUSH_ERR);
	/* to ERR once more changes nothing */
	to_state(&p.a, IBV_QPS_ERR);
	EXPECT_NONE(p.a.scq, 10 * MS);
	EXPECT_NONE(p.a.rcq, 10 * MS);
	EXPECT_NO_EVENT(&p.a, 10 * MS);
	pair_free(&p);
}

/* A receive that is partly written is flushed like the others, and first. */
static void flush_begun(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.timeout = 0));
	drop('a', OP_ANY, 3, 1000);
	post_recv(&p.b, 7, 0, 10000);
	post_recv(&p.b, 8, 0, 10000);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 10000);
	EXPECT_NONE(p.b.rcq, 100 * MS);
	to_state(&p.b, IBV_QPS_ERR);
	EXPECT_ALL(p.b.rcq, 7, 8, WR_FLUSH_ERR);
	EXPECT_NONE(p.b.rcq, 10 * MS);
	pair_free(&p);
}

/* From INIT on, receives may be posted; they are flushed from there too. */
static void flush_init(int arg)
{
	struct pair p;

	pair_create(&p, SETUP());
	CHECK(try_recv(&p.b, 1, NULL, 0) != 0);
	CHECK(TRY_POST(&p.b, .id = 1, .len = 0) != 0);
	to_init(&p.b);
	post_recv(&p.b, 2, 0, 100);
	CHECK(TRY_POST(&p.b, .id = 1, .len = 0) != 0);
	EXPECT_NONE(p.b.rcq, 10 * MS);
	to_state(&p.b, IBV_QPS_ERR);
	EXPECT(p.b.rcq, 2, WR_FLUSH_ERR);
	EXPECT_NONE(p.b.scq, 10 * MS);
	pair_free(&p);
}

/* RESET throws everything away, and the QP can be connected anew. */
static void reset(int arg)
{
	struct pair p;
	int i;

	pair_make(&p, SETUP(.min_rnr_timer = 25));
	for (i = 0; i < 10; i++) {
		post_recv(&p.a, i, 0, 100);
		POST(&p.a, .id = i, .code = IBV_WR_SEND, .len = 100);
	}
	to_state(&p.a, IBV_QPS_RESET);
	to_state(&p.b, IBV_QPS_RESET);
	EXPECT_NONE(p.a.scq, 100 * MS);
	EXPECT_NONE(p.a.rcq, 10 * MS);
	CHECK_EQ(state_of(&p.a), IBV_QPS_RESET);
	p.a.psn = 5000;
	p.b.psn = 6000;
	for (i = 0; i < 2; i++)
		to_init(i ? &p.b : &p.a);
	for (i = 0; i < 2; i++)
		to_rtr(i ? &p.b : &p.a);
	for (i = 0; i < 2; i++)
		to_rts(i ? &p.b : &p.a);
	fill(p.a.buf, 3000, 7);
	post_recv(&p.b, 50, 0, 3000);
	POST(&p.a, .id = 60, .code = IBV_WR_SEND, .len = 3000);
	EXPECT(p.a.scq, 60, SUCCESS);
	EXPECT(p.b.rcq, 50, SUCCESS);
	CHECK_FILL(p.b.buf, 3000, 7);
	pair_free(&p);
}

/* ---- a peer that does not answer ---- */

/* 1 + retry_cnt transmissions, none before its time, and no ACK timeout less. */
static void unreachable(int retries)
{
	struct pair p;
	uint64_t before;
	size_t n, i;

	pair_make(&p, SETUP(.timeout = 12, .retry_cnt = retries));
	wire_open();
	drop('a', OP_ANY, 0, 100000);
	before = now();
	POST(&p.a, .id = 1, .len = 100);
	POST(&p.a, .id = 2, .code = IBV_WR_RDMA_READ, .len = 100);
	EXPECT(p.a.scq, 1, RETRY_EXC_ERR);
	CHECK_GE(now() - before, (1 + retries) * timeout_ns(12));
	EXPECT(p.a.scq, 2, WR_FLUSH_ERR);
	WAIT_STATE(&p.a, IBV_QPS_ERR);
	CHECK_EQ(state_of(&p.b), IBV_QPS_RTS);
	n = wire_select(seen, wire_read(seen, MAX_SEEN), true, OP_WRITE_ONLY);
	CHECK_EQ(n, 1 + retries);
	for (i = 0; i < n; i++)
		CHECK_EQ(seen[i].psn, p.setup.psn_a);
	EXPECT_NO_EVENT(&p.a, 10 * MS);
	pair_free(&p);
}

/* The peer's QP is gone. */
static void peer_gone(int state)
{
	struct pair p;

	pair_make(&p, SETUP(.timeout = 12, .retry_cnt = 2));
	POST(&p.a, .id = 1, .len = 100);
	EXPECT(p.a.scq, 1, SUCCESS);
	to_state(&p.b, state);
	POST(&p.a, .id = 2, .len = 100);
	EXPECT(p.a.scq, 2, RETRY_EXC_ERR);
	pair_free(&p);
}

/* A peer that comes late is not too late. */
static void peer_late(int arg)
{
	struct pair p;

	pair_create(&p, SETUP(.timeout = 16));
	to_init(&p.a);
	to_init(&p.b);
	to_rtr(&p.a);
	to_rts(&p.a);
	POST(&p.a, .id = 1, .len = 100);
	EXPECT_NONE(p.a.scq, 100 * MS);
	to_rtr(&p.b);
	EXPECT(p.a.scq, 1, SUCCESS);
	pair_free(&p);
}

/* ---- communication established ---- */

static void comm_est(int arg)
{
	struct pair p;

	pair_create(&p, SETUP());
	to_init(&p.a);
	to_init(&p.b);
	to_rtr(&p.a);
	to_rtr(&p.b);
	to_rts(&p.a);
	EXPECT_NO_EVENT(&p.b, 20 * MS);
	post_recv(&p.b, 7, 0, 100);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 100);
	POST(&p.a, .id = 2, .len = 100);
	EXPECT_EVENT(&p.b, COMM_EST);
	EXPECT_ALL(p.a.scq, 1, 2, SUCCESS);
	EXPECT(p.b.rcq, 7, SUCCESS);
	EXPECT_NO_EVENT(&p.b, 20 * MS);
	to_rts(&p.b);
	POST(&p.b, .id = 3, .len = 100);
	EXPECT(p.b.scq, 3, SUCCESS);
	EXPECT_NO_EVENT(&p.a, 20 * MS);
	pair_free(&p);
}

/* ---- query_qp ---- */

static void query(int arg)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct pair p;

	pair_make(&p, SETUP(.mtu = IBV_MTU_512, .timeout = 13, .retry_cnt = 5, .rnr_retry = 6,
			    .min_rnr_timer = 17, .psn_a = 0xfffffe, .psn_b = 0x123456,
			    .rd_atomic = 7, .dest_rd_atomic = 9,
			    .qp_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
	CHECK_OK(ibv_query_qp(p.a.qp, &attr, -1 & 0x1fffff, &init));
	CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
	CHECK_EQ(attr.cur_qp_state, IBV_QPS_RTS);
	CHECK_EQ(attr.path_mtu, IBV_MTU_512);
	CHECK_EQ(attr.timeout, 13);
	CHECK_EQ(attr.retry_cnt, 5);
	CHECK_EQ(attr.rnr_retry, 6);
	CHECK_EQ(attr.min_rnr_timer, 17);
	CHECK_EQ(attr.sq_psn, 0xfffffe);
	CHECK_EQ(attr.rq_psn, 0x123456);
	CHECK_EQ(attr.dest_qp_num, p.b.qp->qp_num);
	CHECK_EQ(attr.max_rd_atomic, 7);
	CHECK_EQ(attr.max_dest_rd_atomic, 9);
	CHECK_EQ(attr.qp_access_flags, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	CHECK_EQ(attr.port_num, 1);
	CHECK_EQ(attr.pkey_index, 0);
	CHECK_EQ(attr.sq_draining, 0);
	CHECK_EQ(attr.ah_attr.is_global, 1);
	CHECK_EQ(attr.ah_attr.port_num, 1);
	CHECK_EQ(attr.ah_attr.grh.hop_limit, 64);
	CHECK_EQ(attr.ah_attr.grh.sgid_index, node_a.gid_index);
	CHECK(!memcmp(&attr.ah_attr.grh.dgid, &node_b.gid, sizeof(node_b.gid)));
	CHECK_GE(init.cap.max_send_wr, p.setup.depth);
	CHECK_GE(init.cap.max_recv_wr, p.setup.depth);
	CHECK_GE(init.cap.max_send_sge, p.setup.sges);
	CHECK_GE(init.cap.max_recv_sge, p.setup.sges);
	CHECK_GE(init.cap.max_inline_data, p.setup.inline_bytes);
	CHECK(init.send_cq == p.a.scq && init.recv_cq == p.a.rcq);
	CHECK_EQ(init.qp_type, IBV_QPT_RC);
	CHECK_EQ(init.sq_sig_all, 0);
	/* the PSNs move on, and wrap */
	POST(&p.a, .id = 1, .len = 3 * 512);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_OK(ibv_query_qp(p.a.qp, &attr, IBV_QP_SQ_PSN, &init));
	CHECK_EQ(attr.sq_psn, 1);
	CHECK_OK(ibv_query_qp(p.b.qp, &attr, IBV_QP_RQ_PSN, &init));
	CHECK_EQ(attr.rq_psn, 1);
	pair_free(&p);
}

/* A modify that is refused changes nothing. */
static void refused(int arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct ibv_qp_init_attr init;
	struct pair p;

	pair_make(&p, SETUP(.min_rnr_timer = 17));
	attr.min_rnr_timer = 32;
	CHECK(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER));
	attr.min_rnr_timer = 3;
	CHECK(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MTU));
	attr.qp_state = IBV_QPS_INIT;
	CHECK(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_SQD;
	attr.cur_qp_state = IBV_QPS_SQD;
	CHECK(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
	CHECK_OK(ibv_query_qp(p.a.qp, &attr, IBV_QP_MIN_RNR_TIMER, &init));
	CHECK_EQ(attr.min_rnr_timer, 17);
	CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
	/* and what is allowed in RTS does */
	attr.min_rnr_timer = 3;
	attr.qp_access_flags = 0;
	CHECK_OK(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER |
			       IBV_QP_ACCESS_FLAGS));
	POST(&p.b, .id = 1, .len = 8);
	EXPECT(p.b.scq, 1, REM_INV_REQ_ERR);
	pair_free(&p);
}

static const struct test tests[] = {
	{ "SQD: begun is finished, the rest waits for RTS", drain, 0, true },
	{ "SQD in the middle of long messages", drain_long },
	{ "SQD: receiving goes on, attributes change, event only if asked for", drained_idle },
	{ "SQE of a UC QP, and back to RTS", sqe },
	{ "ERR: both queues are flushed, in order", flush },
	{ "ERR: a receive in use is flushed first", flush_begun, 0, true },
	{ "ERR: receives of a QP in INIT are flushed", flush_init },
	{ "RESET forgets everything, and the QP can be used again", reset },
	{ "no answer: retry_cnt 0", unreachable, 0, true },
	{ "no answer: retry_cnt 3", unreachable, 3, true },
	{ "no answer: retry_cnt 7 is seven", unreachable, 7, true },
	{ "the peer's QP is in ERR", peer_gone, IBV_QPS_ERR },
	{ "the peer's QP is in RESET", peer_gone, IBV_QPS_RESET },
	{ "the peer's QP comes to RTR later", peer_late },
	{ "COMM_EST, once", comm_est },
	{ "query_qp tells what was set", query },
	{ "a modify_qp that is refused changes nothing", refused },
};

VERBS_MAIN(tests)
