// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: resize, limit, errors.
 */
#include "lib.h"

#define BYTES	64

/* Receives of these numbers, each in a place of its own. */
static void post_recvs(struct end *e, uint64_t first, uint64_t last)
{
	for (; first <= last; first++)
		post_recv(e, first, first * BYTES, BYTES);
}

/* Messages that must arrive in the receives of these numbers. */
static void send_to(struct pair *p, uint64_t first, uint64_t last)
{
	for (; first <= last; first++) {
		fill(p->a.buf, BYTES, first);
		POST(&p->a, .id = first, .code = IBV_WR_SEND, .len = BYTES);
		EXPECT(p->a.scq, first, SUCCESS);
		EXPECT(p->b.rcq, first, SUCCESS);
		CHECK_FILL(p->b.buf + first * BYTES, BYTES, first);
	}
}

static int resize(struct ibv_srq *srq, uint32_t max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

static int set_limit(struct ibv_srq *srq, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
}

static struct ibv_srq_attr attr_of(struct ibv_srq *srq)
{
	struct ibv_srq_attr attr;

	CHECK_OK(ibv_query_srq(srq, &attr));
	return attr;
}

static void grow(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.srq_wr = 8));
	post_recvs(&p.b, 1, 5);
	send_to(&p, 1, 3);
	post_recvs(&p.b, 6, 11);
	CHECK_EQ(try_recv(&p.b, 99, NULL, 0), ENOMEM);
	CHECK_OK(resize(p.b.srq, 64));
	CHECK_EQ(attr_of(p.b.srq).max_wr, 64);
	post_recvs(&p.b, 12, 60);
	send_to(&p, 4, 60);
	pair_free(&p);
}

/* Nothing changes where the receives that wait do not fit. */
static void shrink(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.srq_wr = 16));
	post_recvs(&p.b, 1, 10);
	CHECK_EQ(resize(p.b.srq, 8), EINVAL);
	CHECK_EQ(attr_of(p.b.srq).max_wr, 16);
	post_recvs(&p.b, 11, 16);
	send_to(&p, 1, 9);
	CHECK_OK(resize(p.b.srq, 8));
	CHECK_EQ(attr_of(p.b.srq).max_wr, 8);
	post_recvs(&p.b, 17, 17);
	CHECK_EQ(try_recv(&p.b, 99, NULL, 0), ENOMEM);
	send_to(&p, 10, 17);
	pair_free(&p);
}

/* Again and again, at all positions of the rings. */
static void resize_often(int arg)
{
	uint64_t next = 1, got = 1;
	struct pair p;
	int i, rounds = quick ? 30 : 200;

	pair_make(&p, SETUP(.srq_wr = 4));
	for (i = 0; i < rounds; i++) {
		post_recvs(&p.b, next, next + i % 3);
		next += 1 + i % 3;
		CHECK_OK(resize(p.b.srq, i & 1 ? 4 : 8));
		send_to(&p, got, next - 2);
		got = next - 1;
	}
	pair_free(&p);
}

static void bad_attributes(int arg)
{
	struct ibv_device_attr *dev = &node_b.attr;
	struct ibv_srq_init_attr init = { .attr = { .max_wr = dev->max_srq_wr + 1, .max_sge = 1 } };
	struct pair p;

	CHECK(!ibv_create_srq(node_b.pd, &init));
	init.attr.max_wr = 1;
	init.attr.max_sge = dev->max_srq_sge + 1;
	CHECK(!ibv_create_srq(node_b.pd, &init));

	pair_make(&p, SETUP(.srq_wr = 16));
	CHECK_EQ(resize(p.b.srq, dev->max_srq_wr + 1), EINVAL);
	CHECK_EQ(set_limit(p.b.srq, 17), EINVAL);
	CHECK_OK(set_limit(p.b.srq, 0));
	CHECK_EQ(ibv_destroy_srq(p.b.srq), EBUSY);
	CHECK(try_recv(&p.b, 1, &(struct ibv_sge){}, dev->max_srq_sge + 1));
	post_recvs(&p.b, 1, 1);
	send_to(&p, 1, 1);
	pair_free(&p);
}

/* Reported once for each time it is armed. */
static void limit(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.srq_wr = 16));
	post_recvs(&p.b, 1, 5);
	CHECK_OK(set_limit(p.b.srq, 3));
	CHECK_EQ(attr_of(p.b.srq).srq_limit, 3);
	send_to(&p, 1, 2);
	EXPECT_NO_EVENT(&p.b, 100 * MS);
	send_to(&p, 3, 3);
	EXPECT_SRQ_EVENT(&node_b, p.b.srq, SRQ_LIMIT_REACHED);
	CHECK_EQ(attr_of(p.b.srq).srq_limit, 0);
	send_to(&p, 4, 4);
	EXPECT_NO_EVENT(&p.b, 100 * MS);
	/* below it already */
	CHECK_OK(set_limit(p.b.srq, 3));
	EXPECT_SRQ_EVENT(&node_b, p.b.srq, SRQ_LIMIT_REACHED);
	pair_free(&p);
}

/* The limit stays armed over a resize. */
static void limit_and_resize(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.srq_wr = 16));
	post_recvs(&p.b, 1, 5);
	CHECK_OK(set_limit(p.b.srq, 5));
	CHECK_EQ(resize(p.b.srq, 4), EINVAL);
	CHECK_OK(resize(p.b.srq, 32));
	CHECK_EQ(attr_of(p.b.srq).srq_limit, 5);
	send_to(&p, 1, 1);
	EXPECT_SRQ_EVENT(&node_b, p.b.srq, SRQ_LIMIT_REACHED);
	pair_free(&p);
}

/* A QP in ERR takes no more, and says so once; the others go on. */
static void last_wqe(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.srq_wr = 16));
	post_recvs(&p.b, 1, 3);
	send_to(&p, 1, 1);
	to_state(&p.b, IBV_QPS_ERR);
	EXPECT_EVENT(&p.b, QP_LAST_WQE_REACHED);
	to_state(&p.b, IBV_QPS_ERR);
	EXPECT_NO_EVENT(&p.b, 100 * MS);
	EXPECT_NONE(p.b.rcq, 100 * MS);

	/* its next life */
	to_state(&p.a, IBV_QPS_RESET);
	to_state(&p.b, IBV_QPS_RESET);
	to_init(&p.a);
	to_init(&p.b);
	to_rtr(&p.a);
	to_rtr(&p.b);
	to_rts(&p.a);
	to_rts(&p.b);
	send_to(&p, 2, 3);
	to_state(&p.b, IBV_QPS_ERR);
	EXPECT_EVENT(&p.b, QP_LAST_WQE_REACHED);
	pair_free(&p);
}

/* The receive of a message whose rest will never come is the QP's to complete. */
static void in_use(int arg)
{
	uint64_t before = counter(&node_b, "rx_pkts");
	struct ibv_sge sg[2];
	struct pair p;

	pair_make(&p, SETUP(.srq_wr = 16));
	sg[0] = (struct ibv_sge){ (uintptr_t)p.a.buf, 2048, p.a.mr->lkey };
	sg[1] = (struct ibv_sge){ (uintptr_t)p.a.buf, 2048, ~p.a.mr->lkey };
	post_recv(&p.b, 1, 0, PAGE);
	post_recv(&p.b, 2, 0, PAGE);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .sg = sg, .nsg = 2);
	EXPECT(p.a.scq, 1, LOC_PROT_ERR);
	while (counter(&node_b, "rx_pkts") < before + 2)
		sleep_ns(5 * MS);
	to_state(&p.b, IBV_QPS_ERR);
	EXPECT(p.b.rcq, 1, WR_FLUSH_ERR);
	EXPECT_EVENT(&p.b, QP_LAST_WQE_REACHED);
	EXPECT_NONE(p.b.rcq, 100 * MS);
	pair_free(&p);
}

/* The receive that a message failed in completes, and no other one. */
static void too_long(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.srq_wr = 16));
	post_recvs(&p.b, 1, 3);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = BYTES + 1);
	EXPECT(p.a.scq, 1, REM_INV_REQ_ERR);
	EXPECT(p.b.rcq, 1, LOC_LEN_ERR);
	EXPECT_EVENT(&p.b, QP_REQ_ERR);
	EXPECT_EVENT(&p.b, QP_LAST_WQE_REACHED);
	EXPECT_NONE(p.b.rcq, 100 * MS);
	pair_free(&p);
}

static struct ibv_qp *ud_qp(struct node *node, struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = { .max_send_wr = 8, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 5 };
	struct ibv_qp *qp = ibv_create_qp(node->pd, &init);

	CHECK(qp);
	CHECK_OK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			       IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	CHECK_OK(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	CHECK_OK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

static void ud_send(struct ibv_qp *qp, struct ibv_ah *ah, uint32_t qpn, struct ibv_mr *mr,
		    uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, length, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.ud = { .ah = ah, .remote_qpn = qpn, .remote_qkey = 5 },
	};

	CHECK_OK(ibv_post_send(qp, &wr, &bad));
	EXPECT(qp->send_cq, 0, SUCCESS);
}

/* A datagram too long for the next receive leaves it, to the other QPs too. */
static void datagram_too_long(int arg)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_ah_attr to_b = av_to(&node_a, &node_b);
	struct ibv_cq *acq = ibv_create_cq(node_a.ctx, 16, NULL, NULL, 0);
	struct ibv_cq *bcq = ibv_create_cq(node_b.ctx, 16, NULL, NULL, 0);
	struct ibv_mr *amr = reg(&node_a, map_pages(PAGE), PAGE, ACCESS_ALL);
	struct ibv_mr *bmr = reg(&node_b, map_pages(PAGE), PAGE, ACCESS_ALL);
	struct ibv_srq *srq = ibv_create_srq(node_b.pd, &init);
	struct ibv_ah *ah = ibv_create_ah(node_a.pd, &to_b);
	struct ibv_sge sge = { (uintptr_t)bmr->addr, 40 + 10, bmr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 };
	struct ibv_qp *from, *one, *two;
	struct ibv_wc wc;

	CHECK(acq && bcq && srq && ah);
	from = ud_qp(&node_a, acq, NULL);
	one = ud_qp(&node_b, bcq, srq);
	two = ud_qp(&node_b, bcq, srq);
	CHECK_OK(ibv_post_srq_recv(srq, &wr, &bad));
	wr.wr_id = 2;
	sge.length = 40 + 11;
	CHECK_OK(ibv_post_srq_recv(srq, &wr, &bad));

	ud_send(from, ah, one->qp_num, amr, 11);
	ud_send(from, ah, two->qp_num, amr, 10);
	wc = EXPECT(bcq, 1, SUCCESS);
	CHECK_EQ(wc.qp_num, two->qp_num);
	ud_send(from, ah, one->qp_num, amr, 11);
	wc = EXPECT(bcq, 2, SUCCESS);
	CHECK_EQ(wc.qp_num, one->qp_num);
	CHECK_EQ(wc.byte_len, 40 + 11);
}

static void rnr(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.srq_wr = 16, .min_rnr_timer = 14));
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = BYTES);
	EXPECT_NONE(p.a.scq, 20 * MS);
	post_recvs(&p.b, 1, 1);
	EXPECT(p.a.scq, 1, SUCCESS);
	EXPECT(p.b.rcq, 1, SUCCESS);
	pair_free(&p);
}

static const struct test tests[] = {
	{ "a larger ring", grow },
	{ "a smaller ring", shrink },
	{ "resized again and again", resize_often },
	{ "bad attributes", bad_attributes },
	{ "limit", limit },
	{ "limit and resize", limit_and_resize },
	{ "last WQE reached", last_wqe },
	{ "receive in use", in_use },
	{ "message too long", too_long },
	{ "datagram too long", datagram_too_long },
	{ "receiver not ready", rnr },
};

VERBS_MAIN(tests)
