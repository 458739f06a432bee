// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC: an initiator on a, a target and SRQs on b.
 */
#include <fcntl.h>

#include "forge.h"

#define BYTES	5000		/* some packets */

struct queue {
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	uint32_t srqn;
};

struct xrc {
	struct end a, b;	/* b.qp is the target */
	struct setup setup;
	struct ibv_xrcd *xrcd;
	struct queue q;
};

static struct ibv_xrcd *open_xrcd(struct ibv_context *ctx, int fd)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = O_CREAT,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(ctx, &init);

	if (!xrcd)
		FAIL("no XRC domain: %s", strerror(errno));
	return xrcd;
}

static struct queue make_queue(struct ibv_xrcd *xrcd, struct ibv_pd *pd)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = 16, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = xrcd,
	};
	struct queue q;

	q.cq = ibv_create_cq(node_b.ctx, 64, NULL, NULL, 0);
	CHECK(q.cq);
	init.cq = q.cq;
	q.srq = ibv_create_srq_ex(node_b.ctx, &init);
	if (!q.srq)
		FAIL("no XRC SRQ: %s", strerror(errno));
	CHECK_OK(ibv_get_srq_num(q.srq, &q.srqn));
	CHECK(q.srqn);
	return q;
}

static void free_queue(struct queue *q)
{
	CHECK_OK(ibv_destroy_srq(q->srq));
	CHECK_OK(ibv_destroy_cq(q->cq));
}

static void make_end(struct end *e, struct node *node, struct end *peer, struct setup *setup)
{
	e->node = node;
	e->peer = peer;
	e->setup = setup;
	e->bytes = setup->bytes;
	e->buf = map_pages(e->bytes);
	e->mr = reg(node, e->buf, e->bytes, setup->mr_access);
}

static void make_qp(struct end *e, struct ibv_qp_init_attr_ex *init)
{
	e->qp = ibv_create_qp_ex(e->node->ctx, init);
	if (!e->qp)
		FAIL("no QP of type %d: %s", init->qp_type, strerror(errno));
	to_init(e);
}

static void connect_end(struct end *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = e->peer->qp->qp_num,
		.rq_psn = e->peer->psn,
		.max_dest_rd_atomic = e->setup->dest_rd_atomic,
		.min_rnr_timer = e->setup->min_rnr_timer,
		.ah_attr = av_of_peer(e),
	};
	bool target = e->qp->qp_type == IBV_QPT_XRC_RECV;

	CHECK_OK(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			       (target ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = e->setup->timeout;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.sq_psn = e->psn;
	attr.max_rd_atomic = e->setup->rd_atomic;
	CHECK_OK(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN |
			       (target ? 0 : IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					     IBV_QP_MAX_QP_RD_ATOMIC)));
}

static void make(struct xrc *x)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_SEND,
		.cap = { .max_send_wr = 64, .max_send_sge = 2 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = node_a.pd,
	};

	memset(x, 0, sizeof(*x));
	x->setup = SETUP(.min_rnr_timer = 14);
	make_end(&x->a, &node_a, &x->b, &x->setup);
	make_end(&x->b, &node_b, &x->a, &x->setup);
	x->a.scq = ibv_create_cq(node_a.ctx, 64, NULL, NULL, 0);
	CHECK(x->a.scq);
	init.send_cq = x->a.scq;
	make_qp(&x->a, &init);
	x->xrcd = open_xrcd(node_b.ctx, -1);
	x->q = make_queue(x->xrcd, node_b.pd);
	init = (struct ibv_qp_init_attr_ex) {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = x->xrcd,
	};
	make_qp(&x->b, &init);
	connect_end(&x->b);
	connect_end(&x->a);
}

static void free_all(struct xrc *x)
{
	CHECK_OK(ibv_destroy_qp(x->a.qp));
	CHECK_OK(ibv_destroy_qp(x->b.qp));
	free_queue(&x->q);
	CHECK_OK(ibv_close_xrcd(x->xrcd));
	CHECK_OK(ibv_destroy_cq(x->a.scq));
	CHECK_OK(ibv_dereg_mr(x->a.mr));
	CHECK_OK(ibv_dereg_mr(x->b.mr));
}

static void recv_into(struct xrc *x, struct queue *q, uint64_t id, size_t off)
{
	x->b.srq = q->srq;
	post_recv(&x->b, id, off, BYTES);
}

static void expect_sent(struct xrc *x, struct queue *q, uint64_t id, size_t off)
{
	struct ibv_wc wc;

	EXPECT(x->a.scq, id, SUCCESS);
	wc = EXPECT(q->cq, id, SUCCESS);
	CHECK_EQ(wc.qp_num, x->b.qp->qp_num);
	CHECK_EQ(wc.byte_len, BYTES);
	CHECK_FILL(x->b.buf + off, BYTES, id);
}

static void send_one(struct xrc *x, struct queue *q, uint64_t id)
{
	fill(x->a.buf, BYTES, id);
	recv_into(x, q, id, 8 * PAGE);
	POST(&x->a, .id = id, .code = IBV_WR_SEND, .len = BYTES, .srqn = q->srqn);
	expect_sent(x, q, id, 8 * PAGE);
}

static void operations(int arg)
{
	uint64_t *word;
	struct xrc x;

	make(&x);
	send_one(&x, &x.q, 1);

	fill(x.a.buf, BYTES, 2);
	POST(&x.a, .id = 2, .code = IBV_WR_RDMA_WRITE, .len = BYTES, .roff = 16 * PAGE,
	     .srqn = x.q.srqn);
	EXPECT(x.a.scq, 2, SUCCESS);
	CHECK_FILL(x.b.buf + 16 * PAGE, BYTES, 2);

	fill(x.a.buf, BYTES, 3);
	recv_into(&x, &x.q, 3, 0);
	POST(&x.a, .id = 3, .code = IBV_WR_RDMA_WRITE_WITH_IMM, .len = BYTES, .roff = 16 * PAGE,
	     .srqn = x.q.srqn, .imm = 77);
	expect_sent(&x, &x.q, 3, 16 * PAGE);

	fill(x.b.buf + 32 * PAGE, BYTES, 4);
	POST(&x.a, .id = 4, .code = IBV_WR_RDMA_READ, .off = 32 * PAGE, .len = BYTES,
	     .roff = 32 * PAGE, .srqn = x.q.srqn);
	EXPECT(x.a.scq, 4, SUCCESS);
	CHECK_FILL(x.a.buf + 32 * PAGE, BYTES, 4);

	word = (uint64_t *)(x.b.buf + 40 * PAGE);
	*word = 40;
	POST(&x.a, .id = 5, .code = IBV_WR_ATOMIC_FETCH_AND_ADD, .len = 8, .roff = 40 * PAGE,
	     .add = 2, .srqn = x.q.srqn);
	EXPECT(x.a.scq, 5, SUCCESS);
	CHECK_EQ(*(uint64_t *)x.a.buf, 40);
	CHECK_EQ(*word, 42);
	free_all(&x);
}

/* One target, several queues: each receive completes on the CQ of its own. */
static void two_queues(int arg)
{
	struct queue other;
	struct xrc x;
	int i;

	make(&x);
	other = make_queue(x.xrcd, node_b.pd);
	CHECK(other.srqn != x.q.srqn);
	for (i = 1; i < 20; i += 2) {
		send_one(&x, &x.q, i);
		send_one(&x, &other, i + 1);
	}
	EXPECT_NONE(x.q.cq, MS);
	EXPECT_NONE(other.cq, MS);
	free_queue(&other);
	free_all(&x);
}

static void expect_invalid(struct xrc *x, uint32_t srqn)
{
	POST(&x->a, .id = 9, .code = IBV_WR_SEND, .len = BYTES, .srqn = srqn);
	EXPECT(x->a.scq, 9, REM_INV_REQ_ERR);
	EXPECT_EVENT(&x->b, QP_REQ_ERR);
}

static void unknown_number(int arg)
{
	struct xrc x;

	make(&x);
	send_one(&x, &x.q, 1);
	expect_invalid(&x, x.q.srqn + 1);
	free_all(&x);
}

static void gone(int arg)
{
	struct queue other;
	struct xrc x;

	make(&x);
	other = make_queue(x.xrcd, node_b.pd);
	send_one(&x, &other, 1);
	recv_into(&x, &other, 2, 0);
	free_queue(&other);
	send_one(&x, &x.q, 3);
	expect_invalid(&x, other.srqn);
	free_all(&x);
}

static void other_domain(int arg)
{
	struct ibv_xrcd *xrcd;
	struct queue other;
	struct xrc x;

	make(&x);
	xrcd = open_xrcd(node_b.ctx, -1);
	other = make_queue(xrcd, node_b.pd);
	recv_into(&x, &other, 1, 0);
	expect_invalid(&x, other.srqn);
	EXPECT_NONE(other.cq, MS);
	free_queue(&other);
	CHECK_OK(ibv_close_xrcd(xrcd));
	free_all(&x);
}

/* An SRQ that is not of XRC cannot be reached. */
static void basic_srq(int arg)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *basic = ibv_create_srq(node_b.pd, &init);
	uint32_t srqn;
	struct xrc x;

	CHECK(basic);
	CHECK_OK(ibv_get_srq_num(basic, &srqn));
	make(&x);
	expect_invalid(&x, srqn);
	CHECK_OK(ibv_destroy_srq(basic));
	free_all(&x);
}

/* Keys must belong to the PD of the SRQ that the request names. */
static void protection_domain(int code)
{
	struct ibv_pd *pd = ibv_alloc_pd(node_b.ctx);
	struct queue other;
	struct xrc x;

	CHECK(pd);
	make(&x);
	other = make_queue(x.xrcd, pd);
	POST(&x.a, .id = 1, .code = code, .len = 8, .srqn = x.q.srqn);
	EXPECT(x.a.scq, 1, SUCCESS);
	POST(&x.a, .id = 2, .code = code, .len = 8, .srqn = other.srqn);
	EXPECT(x.a.scq, 2, REM_ACCESS_ERR);
	EXPECT_EVENT(&x.b, QP_ACCESS_ERR);
	free_queue(&other);
	CHECK_OK(ibv_dealloc_pd(pd));
	free_all(&x);
}

static void rnr(int arg)
{
	struct xrc x;

	make(&x);
	fill(x.a.buf, BYTES, 1);
	POST(&x.a, .id = 1, .code = IBV_WR_SEND, .len = BYTES, .srqn = x.q.srqn);
	EXPECT_NONE(x.a.scq, 20 * MS);
	recv_into(&x, &x.q, 1, 0);
	expect_sent(&x, &x.q, 1, 0);
	free_all(&x);
}

/* A process that opens the target keeps it alive. */
static void shared(int arg)
{
	char name[] = "/tmp/xrcd.XXXXXX";
	struct ibv_qp_open_attr open = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_context *ctx = ibv_open_device(node_b.ctx->device);
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};
	struct ibv_xrcd *xrcd;
	int fd = mkstemp(name);
	struct ibv_qp *again;
	struct queue q;
	struct xrc x;

	CHECK(ctx && fd >= 0);
	make(&x);
	to_state(&x.a, IBV_QPS_RESET);
	to_init(&x.a);
	CHECK_OK(ibv_destroy_qp(x.b.qp));
	init.xrcd = open_xrcd(node_b.ctx, fd);
	q = make_queue(init.xrcd, node_b.pd);
	make_qp(&x.b, &init);
	connect_end(&x.b);
	connect_end(&x.a);
	xrcd = open_xrcd(ctx, fd);
	open.xrcd = xrcd;
	open.qp_num = x.b.qp->qp_num;
	again = ibv_open_qp(ctx, &open);
	CHECK(again);
	send_one(&x, &q, 1);
	CHECK_OK(ibv_destroy_qp(x.b.qp));
	x.b.qp = again;
	send_one(&x, &q, 2);
	free_queue(&q);
	CHECK_OK(ibv_close_xrcd(init.xrcd));
	CHECK_OK(ibv_destroy_qp(again));
	CHECK_OK(ibv_close_xrcd(xrcd));
	CHECK_OK(ibv_close_device(ctx));
	unlink(name);
}

/* A message stops half way; @destroy: its SRQ goes, and the receive with it. */
static void in_use(int destroy)
{
	uint64_t before = counter(&node_b, "rx_pkts");
	struct ibv_sge sg[2];
	struct queue other;
	struct xrc x;

	make(&x);
	other = make_queue(x.xrcd, node_b.pd);
	sg[0] = (struct ibv_sge){ (uintptr_t)x.a.buf, 2048, x.a.mr->lkey };
	sg[1] = (struct ibv_sge){ (uintptr_t)x.a.buf, 2048, ~x.a.mr->lkey };
	recv_into(&x, &other, 1, 0);
	POST(&x.a, .id = 1, .code = IBV_WR_SEND, .sg = sg, .nsg = 2, .srqn = other.srqn);
	EXPECT(x.a.scq, 1, LOC_PROT_ERR);
	while (counter(&node_b, "rx_pkts") < before + 2)
		sleep_ns(5 * MS);
	if (destroy)
		free_queue(&other);
	to_state(&x.b, IBV_QPS_ERR);
	if (!destroy)
		EXPECT(other.cq, 1, WR_FLUSH_ERR);
	EXPECT_EVENT(&x.b, QP_LAST_WQE_REACHED);
	if (!destroy)
		free_queue(&other);
	free_all(&x);
}

static void target_in_error(int arg)
{
	struct xrc x;

	make(&x);
	recv_into(&x, &x.q, 1, 0);
	to_state(&x.b, IBV_QPS_ERR);
	EXPECT_EVENT(&x.b, QP_LAST_WQE_REACHED);
	/* what is in the queue is not the target's */
	EXPECT_NONE(x.q.cq, 100 * MS);
	to_state(&x.b, IBV_QPS_RESET);
	free_all(&x);
}

/* Packets aimed at a target and at its initiator, while messages go; the SRQ survives. */
static void forged(int arg)
{
	uint64_t end = now() + forge_seconds() * SEC / 5;
	struct xrc x;
	int i;

	forge_open();
	do {
		make(&x);
		for (i = 0; i < 300; i++) {
			struct aim aim = {
				.to = forge_rnd() % 3 ? &x.b : &x.a,
				.transport = FORGE_XRC,
				.srqn = x.q.srqn,
			};
			struct ibv_wc wc[8];

			aim.va = (uintptr_t)aim.to->buf;
			aim.bytes = aim.to->bytes;
			aim.rkey = aim.to->mr->rkey;
			if (i % 8 == 0) {
				x.b.srq = x.q.srq;
				try_recv(&x.b, 1, NULL, 0);
				TRY_POST(&x.a, .id = 2, .len = i, .srqn = x.q.srqn,
					 .code = i % 16 ? IBV_WR_SEND : IBV_WR_RDMA_READ);
				ibv_poll_cq(x.a.scq, ARRAY_SIZE(wc), wc);
				ibv_poll_cq(x.q.cq, ARRAY_SIZE(wc), wc);
			}
			forge_random(&aim);
		}
		free_all(&x);
	} while (now() < end);
	make(&x);
	send_one(&x, &x.q, 3);
	free_all(&x);
	forge_close();
}

static const struct test tests[] = {
	{ "all operations", operations },
	{ "two queues", two_queues },
	{ "unknown SRQ number", unknown_number },
	{ "SRQ destroyed", gone },
	{ "SRQ of another domain", other_domain },
	{ "SRQ that is not of XRC", basic_srq },
	{ "WRITE to another PD", protection_domain, IBV_WR_RDMA_WRITE },
	{ "READ from another PD", protection_domain, IBV_WR_RDMA_READ },
	{ "receiver not ready", rnr },
	{ "a shared target", shared },
	{ "target in ERR", target_in_error },
	{ "receive in use", in_use, false },
	{ "receive in use of an SRQ that is gone", in_use, true },
	{ "forged packets to both ends", forged, 0, true },
};

VERBS_MAIN(tests)
