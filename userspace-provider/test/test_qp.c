// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Life of queue pairs and domains.
 */
#include "fake.h"

TEST(qp__rings_that_do_not_fit_are_refused)
{
	struct ibv_cq *cq = fake_cq();
	static const struct {
		uint32_t sq_entries, sq_stride, rq_stride, short_bytes, max_inline, max_send_sge;
	} bad[] = {
		{ 6, 128, 64, 0, 60, 4 },	/* not a power of two */
		{ 8, 120, 64, 0, 60, 4 },	/* 4 SGEs need 128 bytes */
		{ 8, 128, 64, 0, 68, 4 },	/* 68 bytes of inline data need more */
		{ 8, 128, 56, 0, 60, 4 },	/* 3 receive SGEs need 64 bytes */
		{ 8, 132, 64, 0, 60, 4 },	/* entries not aligned */
		{ 8, 128, 64, 8, 60, 4 },	/* mapping shorter than its entries */
		{ 8, 8192, 64, 0, 60, 256 },	/* more SGEs than num_sge can say */
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		fake.sq_entries = bad[i].sq_entries;
		fake.sq_stride = bad[i].sq_stride;
		fake.rq_stride = bad[i].rq_stride;
		fake.short_bytes = bad[i].short_bytes;
		fake.max_inline = bad[i].max_inline;
		fake.max_send_sge = bad[i].max_send_sge;
		errno = 0;
		CHECK(!fake_qp(IBV_QPT_RC, cq));
		CHECK_EQ(errno, EPROTO);
		CHECK_EQ(fake.destroyed_qps, i + 1);
		CHECK_EQ(fake.mapped, 1);	/* the CQ */
	}
}

TEST(qp__failed_mapping_leaves_nothing)
{
	struct ibv_cq *cq = fake_cq();
	int n;

	for (n = 1; n <= 2; n++) {
		fake.mmaps_until_fail = n;
		errno = 0;
		CHECK(!fake_qp(IBV_QPT_RC, cq));
		CHECK_EQ(errno, ENOMEM);
		CHECK_EQ(fake.destroyed_qps, n);
		CHECK_EQ(fake.mapped, 1);
	}
}

TEST(qp__create_attributes)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = fake_pd(),
	};
	struct ibv_qp *qp;

	attr.send_cq = attr.recv_cq = fake_cq();
	qp = fake.ops.create_qp_ex(fake.context, &attr);
	CHECK(qp != NULL);
	CHECK(!(to_sqp(qp)->vqp.comp_mask & VERBS_QP_EX));
	fake.ops.destroy_qp(qp);
	attr.create_flags = IBV_QP_CREATE_SCATTER_FCS;
	CHECK(!fake.ops.create_qp_ex(fake.context, &attr));
	CHECK_EQ(errno, EOPNOTSUPP);
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
	CHECK(!fake.ops.create_qp_ex(fake.context, &attr));
	CHECK_EQ(errno, EOPNOTSUPP);
}

TEST(qp__xrc_halves_have_no_receive_queue)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_recv_wr recv = {}, *bad_recv;
	struct ibv_qp *sender = fake_qp(IBV_QPT_XRC_SEND, fake_cq());
	struct ibv_qp *receiver;

	fake_modify(sender, IBV_QPS_RTS);
	CHECK_EQ(fake.ops.post_recv(sender, &recv, &bad_recv), EINVAL);
	CHECK_EQ(fake.ops.post_send(sender, &send, &bad_send), 0);
	/* What is in the CQ pointers of a receiver is nobody's business. */
	receiver = fake_qp(IBV_QPT_XRC_RECV, (struct ibv_cq *)8);
	fake_modify(receiver, IBV_QPS_RTS);
	CHECK_EQ(fake.ops.post_recv(receiver, &recv, &bad_recv), EINVAL);
	CHECK_EQ(fake.ops.post_send(receiver, &send, &bad_send), EINVAL);
	fake_modify(receiver, IBV_QPS_RESET);
}

TEST(reset__starts_the_rings_anew)
{
	struct ibv_send_wr send = { .wr_id = 1, .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_recv_wr recv = { .wr_id = 2 }, *bad_recv;
	struct ibv_qp *qp = fake_qp(IBV_QPT_RC, fake_cq());
	const struct sroce_send_wqe *s;
	const struct sroce_recv_wqe *r;
	int i;

	fake_modify(qp, IBV_QPS_RTS);
	for (i = 0; i < 5; i++) {
		CHECK_EQ(fake.ops.post_send(qp, &send, &bad_send), 0);
		CHECK_EQ(fake.ops.post_recv(qp, &recv, &bad_recv), 0);
	}
	CHECK_EQ(fake_modify(qp, IBV_QPS_RESET), 0);
	CHECK_EQ(fake.ops.post_send(qp, &send, &bad_send), EINVAL);
	fake_modify(qp, IBV_QPS_RTS);
	for (i = 0; i < 8; i++) {	/* the whole ring is free */
		send.wr_id = 100 + i;
		recv.wr_id = 200 + i;
		CHECK_EQ(fake.ops.post_send(qp, &send, &bad_send), 0);
		CHECK_EQ(fake.ops.post_recv(qp, &recv, &bad_recv), 0);
	}
	for (i = 0; (s = fake_take(&fake.sq)); i++)
		CHECK_EQ(s->wr_id, 100 + i);
	CHECK_EQ(i, 8);
	for (i = 0; (r = fake_take(&fake.rq)); i++)
		CHECK_EQ(r->wr_id, 200 + i);
	CHECK_EQ(i, 8);
}

/* Of 12 entries those of the QP (0x11) vanish; the others stay, in order. */
static void check_forgotten(void (*act)(struct ibv_qp *qp))
{
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_wc wc[16];
	int i, n;

	fake.first_index = UINT32_MAX - 5;
	cq = fake_cq();
	qp = fake_qp(IBV_QPT_RC, cq);
	for (i = 0; i < 12; i++)
		fake_complete_simple(&fake.cq, i, i % 3 ? 0x11 : 0x22);
	act(qp);
	n = fake.ops.poll_cq(cq, 16, wc);
	CHECK_EQ(n, 4);
	for (i = 0; i < n; i++) {
		CHECK_EQ(wc[i].qp_num, 0x22);
		CHECK_EQ(wc[i].wr_id, i * 3);
	}
	CHECK_EQ(sroce_ring_space(&fake.cq), 16);
	CHECK(!fake_is_locked(&to_scq(cq)->q.lock));
}

static void reset(struct ibv_qp *qp)
{
	fake_modify(qp, IBV_QPS_RESET);
}

TEST(reset__drops_completions_of_the_qp)
{
	check_forgotten(reset);
}

static void destroy(struct ibv_qp *qp)
{
	sroce_cq_forget_qp(qp->send_cq, qp->qp_num);
}

TEST(destroy__drops_completions_of_the_qp)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	struct ibv_wc wc;
	struct ibv_qp *qp;

	attr.send_cq = fake_cq();
	attr.recv_cq = fake_cq();	/* its ring is fake.cq now */
	qp = fake.ops.create_qp(fake_pd(), &attr);
	fake_complete_simple(&fake.cq, 1, 0x11);
	fake.ops.destroy_qp(qp);
	CHECK_EQ(fake.ops.poll_cq(attr.recv_cq, 1, &wc), 0);
	fake_destroy_all();
	check_forgotten(destroy);
}

TEST(ece__agreement)
{
	struct ibv_ece ece = {};
	struct ibv_qp *qp = fake_qp(IBV_QPT_RC, fake_cq());

	CHECK_EQ(fake.ops.query_ece(qp, &ece), 0);
	CHECK_EQ(ece.vendor_id, SROCE_ECE_VENDOR_ID);
	CHECK_EQ(ece.options, 5);
	fake_modify(qp, IBV_QPS_INIT);
	CHECK_EQ(fake.modify_bytes, sizeof(struct ibv_modify_qp));

	ece.options = 6;
	CHECK_EQ(fake.ops.set_ece(qp, &ece), 0);
	CHECK_EQ(fake.ops.query_ece(qp, &ece), 0);
	CHECK_EQ(ece.options, 4);
	fake_modify(qp, IBV_QPS_RTR);
	CHECK_EQ(fake.modify_ece, 4);
	ece.vendor_id = 1;
	CHECK_EQ(fake.ops.set_ece(qp, &ece), EINVAL);
	fake_modify(qp, IBV_QPS_RESET);
	fake.ops.query_ece(qp, &ece);
	CHECK_EQ(ece.options, 5);
	fake_modify(qp, IBV_QPS_INIT);
	CHECK_EQ(fake.modify_bytes, sizeof(struct ibv_modify_qp));
}

TEST(pd__in_use)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr attr = {};
	struct ibv_pd *pd = fake.ops.alloc_pd(fake.context), *parent;
	struct ibv_td *td = fake.ops.alloc_td(fake.context, &td_attr);

	attr.pd = pd;
	attr.td = td;
	parent = fake.ops.alloc_parent_domain(fake.context, &attr);
	CHECK(parent != NULL);
	CHECK_EQ(parent->handle, pd->handle);
	CHECK_EQ(fake.ops.dealloc_pd(pd), EBUSY);
	CHECK_EQ(fake.ops.dealloc_td(td), EBUSY);
	CHECK_EQ(fake.ops.dealloc_pd(parent), 0);
	CHECK_EQ(fake.ops.dealloc_td(td), 0);
	CHECK_EQ(fake.ops.dealloc_pd(pd), 0);

	attr.pd = NULL;
	CHECK(!fake.ops.alloc_parent_domain(fake.context, &attr));
	CHECK_EQ(errno, EINVAL);
	attr.pd = pd = fake_pd();
	attr.comp_mask = 1U << 31;
	CHECK(!fake.ops.alloc_parent_domain(fake.context, &attr));
	CHECK_EQ(errno, EOPNOTSUPP);
	td_attr.comp_mask = 1;
	CHECK(!fake.ops.alloc_td(fake.context, &td_attr));
}

static void *never_alloc(struct ibv_pd *pd, void *context, size_t size, size_t alignment,
			 uint64_t type)
{
	abort();
}

static void never_free(struct ibv_pd *pd, void *context, void *p, uint64_t type)
{
	abort();
}

/* Queues are memory of the kernel. */
TEST(pd__allocators_are_accepted)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = fake_pd(),
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = never_alloc,
		.free = never_free,
	};
	struct ibv_qp_init_attr qp_attr = { .qp_type = IBV_QPT_RC };
	struct ibv_pd *parent = fake.ops.alloc_parent_domain(fake.context, &attr);
	struct ibv_qp *qp;

	CHECK(parent != NULL);
	qp_attr.send_cq = qp_attr.recv_cq = fake_cq();
	qp = fake.ops.create_qp(parent, &qp_attr);
	CHECK(qp != NULL);
	fake.ops.destroy_qp(qp);
	CHECK_EQ(fake.ops.dealloc_pd(parent), 0);
}

TEST(pd__thread_domain_spares_the_locks)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr attr = {};
	struct ibv_qp_init_attr qp_attr = { .qp_type = IBV_QPT_RC };
	struct ibv_pd *parent;
	struct ibv_qp *qp;

	attr.pd = fake_pd();
	attr.td = fake.ops.alloc_td(fake.context, &td_attr);
	parent = fake.ops.alloc_parent_domain(fake.context, &attr);
	qp_attr.send_cq = qp_attr.recv_cq = fake_cq();
	qp = fake.ops.create_qp(parent, &qp_attr);
	CHECK(!to_sqp(qp)->sq.lock.needed);
	CHECK(!to_sqp(qp)->rq.lock.needed);
	fake.ops.destroy_qp(qp);
	qp = fake.ops.create_qp(attr.pd, &qp_attr);
	CHECK(to_sqp(qp)->sq.lock.needed);
	fake.ops.destroy_qp(qp);
	fake.ops.dealloc_pd(parent);
	fake.ops.dealloc_td(attr.td);
}
