// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * sroce as a kernel consumer sees it: a module of its own, loaded in a machine
 * that has a device (parameter device=NAME) with an IPv4 address. A connection
 * of the device with itself is set up through the core's interface (live.c).
 */
#include <linux/module.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "live.h"

#define VLAN		5		/* that the device has, scripts/vm/tests/kernel-verbs */
#define VLAN_NONE	0xffff		/* as the core calls it */

static void send_and_receive(struct kunit *test, enum ib_poll_context context)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };
	struct live l = {};
	struct ib_sge sge;
	struct op recv;

	live_create(test, &l, context);
	live_post_recv(test, &l, &recv, BYTES / 2, 5000);
	memset(l.buf, 0x5a, 5000);
	sge = live_sge(&l, 0, 5000);
	wr.sg_list = &sge;
	wr.num_sge = 1;
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_run(test, &l, l.qp[0], &wr));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_wait(test, &l, &recv));
	KUNIT_EXPECT_EQ(test, 5000u, recv.wc.byte_len);
	KUNIT_EXPECT_PTR_EQ(test, l.qp[1], recv.wc.qp);
	KUNIT_EXPECT_EQ(test, 0, memcmp(l.buf, l.buf + BYTES / 2, 5000));
	live_destroy(&l);
}

static void poll_direct(struct kunit *test)
{
	send_and_receive(test, IB_POLL_DIRECT);
}

static void poll_softirq(struct kunit *test)
{
	send_and_receive(test, IB_POLL_SOFTIRQ);
}

static void poll_workqueue(struct kunit *test)
{
	send_and_receive(test, IB_POLL_WORKQUEUE);
}

static void fast_registration(struct kunit *test)
{
	struct live l = {};
	u32 rkey;
	int i;

	live_create(test, &l, IB_POLL_WORKQUEUE);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS,
				live_reg_mr(test, &l, IB_ACCESS_LOCAL_WRITE |
					    IB_ACCESS_REMOTE_WRITE));
		memset(l.buf, 0x11 + i, PAGE_SIZE + 1);
		KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS,
				live_write_to(test, &l, l.mr->rkey, l.mr->iova + BYTES / 2 - 1,
					      PAGE_SIZE + 1));
		KUNIT_EXPECT_EQ(test, 0, memcmp(l.buf, l.buf + BYTES / 2 - 1, PAGE_SIZE + 1));
		rkey = l.mr->rkey;
		KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_local_inv(test, &l, rkey));
	}
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, live_write_to(test, &l, rkey, l.mr->iova, 8));
	live_destroy(&l);
}

static void stale_key(struct kunit *test)
{
	struct live l = {};
	u32 old;

	live_create(test, &l, IB_POLL_SOFTIRQ);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_reg_mr(test, &l, IB_ACCESS_REMOTE_READ));
	old = l.mr->rkey;
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_local_inv(test, &l, old));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS,
			live_reg_mr(test, &l, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE));
	KUNIT_EXPECT_NE(test, old, l.mr->rkey);
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, live_write_to(test, &l, old, l.mr->iova, 8));
	live_destroy(&l);
}

static void access_is_kept(struct kunit *test)
{
	struct live l = {};

	live_create(test, &l, IB_POLL_SOFTIRQ);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_reg_mr(test, &l, IB_ACCESS_REMOTE_READ));
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR,
			live_write_to(test, &l, l.mr->rkey, l.mr->iova, 8));
	live_destroy(&l);
}

static void range_is_kept(struct kunit *test)
{
	struct live l = {};

	live_create(test, &l, IB_POLL_SOFTIRQ);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS,
			live_reg_mr(test, &l, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS,
			live_write_to(test, &l, l.mr->rkey, l.mr->iova + BYTES - 8, 8));
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR,
			live_write_to(test, &l, l.mr->rkey, l.mr->iova + BYTES - 8, 9));
	live_destroy(&l);
}

static void registered_twice(struct kunit *test)
{
	struct live l = {};

	live_create(test, &l, IB_POLL_SOFTIRQ);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_reg_mr(test, &l, IB_ACCESS_REMOTE_READ));
	KUNIT_EXPECT_NE(test, IB_WC_SUCCESS, live_reg_mr(test, &l, IB_ACCESS_REMOTE_READ));
	live_destroy(&l);
}

static void remote_invalidate(struct kunit *test)
{
	struct live l = {};
	struct op recv;
	u32 rkey;

	live_create(test, &l, IB_POLL_WORKQUEUE);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_reg_mr(test, &l, IB_ACCESS_REMOTE_READ));
	rkey = l.mr->rkey;
	live_post_recv(test, &l, &recv, BYTES / 2, 64);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_send_inv(test, &l, rkey));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_wait(test, &l, &recv));
	KUNIT_EXPECT_TRUE(test, recv.wc.wc_flags & IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, rkey, recv.wc.ex.invalidate_rkey);
	/* so it can be registered again */
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS,
			live_reg_mr(test, &l, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE));
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, live_write_to(test, &l, rkey, l.mr->iova, 8));
	live_destroy(&l);
}

/* A peer may invalidate what it has access to, and nothing else. */
static void local_key_is_ours(struct kunit *test)
{
	struct live l = {};
	struct op recv;

	live_create(test, &l, IB_POLL_WORKQUEUE);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_reg_mr(test, &l, IB_ACCESS_LOCAL_WRITE));
	live_post_recv(test, &l, &recv, BYTES / 2, 64);
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, live_send_inv(test, &l, l.mr->rkey));
	KUNIT_EXPECT_NE(test, IB_WC_SUCCESS, live_wait(test, &l, &recv));
	live_destroy(&l);
}

static void too_many_pages(struct kunit *test)
{
	struct live l = {};
	struct ib_mr *small;

	live_create(test, &l, IB_POLL_SOFTIRQ);
	small = ib_alloc_mr(l.pd, IB_MR_TYPE_MEM_REG, 2);
	KUNIT_ASSERT_FALSE(test, IS_ERR(small));
	KUNIT_EXPECT_EQ(test, 2, ib_map_mr_sg(small, l.sg, PAGES, NULL, PAGE_SIZE));
	ib_dereg_mr(small);
	small = ib_alloc_mr(l.pd, IB_MR_TYPE_MEM_REG,
			    live_device->attrs.max_fast_reg_page_list_len + 1);
	KUNIT_EXPECT_TRUE(test, IS_ERR(small));
	small = ib_alloc_mr(l.pd, IB_MR_TYPE_MEM_REG,
			    live_device->attrs.max_fast_reg_page_list_len);
	KUNIT_EXPECT_FALSE(test, IS_ERR(small));
	if (!IS_ERR(small))
		ib_dereg_mr(small);
	live_destroy(&l);
}

/* When ib_drain_qp() returns, everything posted has completed. */
static void drained(struct kunit *test, enum ib_poll_context context)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED };
	struct op *ops = kunit_kcalloc(test, 32, sizeof(*ops), GFP_KERNEL);
	struct live l = {};
	int i;

	KUNIT_ASSERT_NOT_NULL(test, ops);
	live_create(test, &l, context);
	for (i = 0; i < 16; i++) {
		live_op_init(&ops[i]);
		wr.wr_cqe = &ops[i].cqe;
		KUNIT_EXPECT_EQ(test, 0, ib_post_send(l.qp[0], &wr, NULL));
		live_post_recv(test, &l, &ops[16 + i], BYTES / 2, 64);
	}
	ib_drain_qp(l.qp[0]);
	ib_drain_qp(l.qp[1]);
	for (i = 0; i < 32; i++)
		KUNIT_EXPECT_TRUE(test, completion_done(&ops[i].done));
	live_destroy(&l);
}

static void drain_in_softirq(struct kunit *test)
{
	drained(test, IB_POLL_SOFTIRQ);
}

static void drain_in_workqueue(struct kunit *test)
{
	drained(test, IB_POLL_WORKQUEUE);
}

static void drain_polled(struct kunit *test)
{
	drained(test, IB_POLL_DIRECT);
}

static void moderated(struct kunit *test)
{
	struct live l = {};

	live_create(test, &l, IB_POLL_WORKQUEUE);
	/* 64 completions will not come: the period ends it */
	KUNIT_EXPECT_EQ(test, 0, rdma_set_cq_moderation(l.cq, 64, 1000));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_reg_mr(test, &l, IB_ACCESS_REMOTE_READ));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_local_inv(test, &l, l.mr->rkey));
	KUNIT_EXPECT_EQ(test, 0, rdma_set_cq_moderation(l.cq, 0, 0));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_reg_mr(test, &l, IB_ACCESS_REMOTE_READ));
	live_destroy(&l);
}

/* Of a CQ's completions its consumer is told on the CPU of its vector, whoever causes them. */
static void vectors(struct kunit *test, enum ib_poll_context context)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };
	cpumask_var_t before;
	struct live l = {};
	int vector, cpu, on;
	struct op recv;

	KUNIT_ASSERT_TRUE(test, alloc_cpumask_var(&before, GFP_KERNEL));
	cpumask_copy(before, current->cpus_ptr);
	KUNIT_EXPECT_EQ(test, num_online_cpus(), (unsigned int)live_device->num_comp_vectors);
	vector = 0;
	for_each_online_cpu(cpu) {
		live_create_on(test, &l, context, vector++);
		for_each_online_cpu(on) {
			set_cpus_allowed_ptr(current, cpumask_of(on));
			live_post_recv(test, &l, &recv, BYTES / 2, 64);
			KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_run(test, &l, l.qp[0], &wr));
			KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_wait(test, &l, &recv));
			KUNIT_EXPECT_EQ(test, cpu, recv.cpu);
		}
		set_cpus_allowed_ptr(current, before);
		live_destroy(&l);
	}
	free_cpumask_var(before);
}

static void vectors_in_softirq(struct kunit *test)
{
	vectors(test, IB_POLL_SOFTIRQ);
}

static void vectors_in_workqueue(struct kunit *test)
{
	vectors(test, IB_POLL_WORKQUEUE);
}

static void no_such_vector(struct kunit *test)
{
	struct ib_cq *cq = ib_alloc_cq(live_device, NULL, 16, live_device->num_comp_vectors,
				       IB_POLL_WORKQUEUE);

	KUNIT_EXPECT_TRUE(test, IS_ERR(cq));
	if (!IS_ERR(cq))
		ib_free_cq(cq);
}

/* ---- datagrams ---- */

#define QKEY	0x11223344

/* The first GID of an IPv4 address in this VLAN. */
static const struct ib_gid_attr *gid_in_vlan(u16 vlan)
{
	const struct ib_gid_attr *attr;
	u16 has;
	int i;

	for (i = 0; i < 64; i++) {
		attr = rdma_get_gid_attr(live_device, 1, i);
		if (IS_ERR(attr))
			continue;
		if (ipv6_addr_v4mapped((struct in6_addr *)attr->gid.raw) &&
		    !rdma_read_gid_l2_fields(attr, &has, NULL) && has == vlan)
			return attr;
		rdma_put_gid_attr(attr);
	}
	return NULL;
}

static struct ib_qp *create_ud(struct kunit *test, struct live *l)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_UD, .sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.send_cq = l->cq, .recv_cq = l->cq,
	};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct ib_qp *qp = ib_create_qp(l->pd, &init);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_ASSERT_EQ(test, 0, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
					      IB_QP_PORT | IB_QP_QKEY));
	attr.qp_state = IB_QPS_RTR;
	KUNIT_ASSERT_EQ(test, 0, ib_modify_qp(qp, &attr, IB_QP_STATE));
	attr.qp_state = IB_QPS_RTS;
	KUNIT_ASSERT_EQ(test, 0, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN));
	return qp;
}

/* A datagram from a GID to itself. */
static void send_to(struct kunit *test, struct live *l, struct ib_qp *qp,
		    const struct ib_gid_attr *gid)
{
	struct rdma_ah_attr attr = { .type = rdma_ah_find_type(live_device, 1) };
	struct ib_sge sge = live_sge(l, 0, 64);
	struct ib_ud_wr wr = {
		.wr = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 },
		.remote_qpn = qp->qp_num, .remote_qkey = QKEY,
	};

	rdma_ah_set_grh(&attr, (union ib_gid *)&gid->gid, 0, gid->index, 64, 0);
	rdma_ah_set_port_num(&attr, 1);
	wr.ah = rdma_create_ah(l->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(wr.ah));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_run(test, l, qp, &wr.wr));
	rdma_destroy_ah(wr.ah, RDMA_DESTROY_AH_SLEEPABLE);
}

/* By the completion the core finds out from where to answer. */
static void datagram_through(struct kunit *test, u16 vlan)
{
	const struct ib_gid_attr *gid = gid_in_vlan(vlan);
	struct rdma_ah_attr answer = {};
	struct live l = {};
	struct ib_qp *qp;
	struct op recv;

	KUNIT_ASSERT_NOT_NULL(test, gid);
	live_create(test, &l, IB_POLL_WORKQUEUE);
	qp = create_ud(test, &l);
	swap(l.qp[1], qp);
	live_post_recv(test, &l, &recv, BYTES / 2, 40 + 64);
	swap(l.qp[1], qp);
	send_to(test, &l, qp, gid);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, live_wait(test, &l, &recv));
	KUNIT_EXPECT_TRUE(test, recv.wc.wc_flags & IB_WC_GRH);
	KUNIT_EXPECT_EQ(test, vlan != VLAN_NONE, !!(recv.wc.wc_flags & IB_WC_WITH_VLAN));
	if (vlan != VLAN_NONE)
		KUNIT_EXPECT_EQ(test, vlan, recv.wc.vlan_id);
	KUNIT_EXPECT_EQ(test, 0, ib_init_ah_attr_from_wc(live_device, 1, &recv.wc,
							 (struct ib_grh *)(l.buf + BYTES / 2),
							 &answer));
	if (answer.grh.sgid_attr) {
		KUNIT_EXPECT_EQ(test, gid->index, answer.grh.sgid_index);
		rdma_destroy_ah_attr(&answer);
	}
	ib_destroy_qp(qp);
	live_destroy(&l);
	rdma_put_gid_attr(gid);
}

static void datagram_without_vlan(struct kunit *test)
{
	datagram_through(test, VLAN_NONE);
}

static void datagram_in_vlan(struct kunit *test)
{
	datagram_through(test, VLAN);
}

static int suite_init(struct kunit_suite *suite)
{
	return live_open();
}

static void suite_exit(struct kunit_suite *suite)
{
	live_close();
}

static struct kunit_case cases[] = {
	KUNIT_CASE(poll_direct),
	KUNIT_CASE(poll_softirq),
	KUNIT_CASE(poll_workqueue),
	KUNIT_CASE(fast_registration),
	KUNIT_CASE(stale_key),
	KUNIT_CASE(access_is_kept),
	KUNIT_CASE(range_is_kept),
	KUNIT_CASE(registered_twice),
	KUNIT_CASE(remote_invalidate),
	KUNIT_CASE(local_key_is_ours),
	KUNIT_CASE(too_many_pages),
	KUNIT_CASE(drain_polled),
	KUNIT_CASE(drain_in_softirq),
	KUNIT_CASE(drain_in_workqueue),
	KUNIT_CASE(moderated),
	KUNIT_CASE(vectors_in_softirq),
	KUNIT_CASE(vectors_in_workqueue),
	KUNIT_CASE(no_such_vector),
	KUNIT_CASE(datagram_without_vlan),
	KUNIT_CASE(datagram_in_vlan),
	{}
};

static struct kunit_suite live = {
	.name = "sroce_live",
	.suite_init = suite_init,
	.suite_exit = suite_exit,
	.test_cases = cases,
};

kunit_test_suite(live);

MODULE_DESCRIPTION("KUnit suite that uses an sroce device as kernel consumers do");
MODULE_LICENSE("Dual BSD/GPL");
