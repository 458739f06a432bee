// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device that the suite is about, its connection with itself, and work on it.
 */
#include <linux/module.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "live.h"

#define PATIENCE	(60 * HZ)

static char *device = "sroce0";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "name of the RDMA device");

struct ib_device *live_device;

/* ---- the device ---- */

static int add_device(struct ib_device *ibdev)
{
	if (strcmp(dev_name(&ibdev->dev), device))
		return -EOPNOTSUPP;
	live_device = ibdev;
	return 0;
}

static void remove_device(struct ib_device *ibdev, void *data)
{
	live_device = NULL;
}

static struct ib_client client = {
	.name = "sroce_live",
	.add = add_device,
	.remove = remove_device,
};

int live_open(void)
{
	int err = ib_register_client(&client);

	if (!err && !live_device) {
		ib_unregister_client(&client);
		err = -ENODEV;
	}
	return err;
}

void live_close(void)
{
	if (live_device)
		ib_unregister_client(&client);
}

static int find_gid(union ib_gid *gid)
{
	int i;

	for (i = 0; i < 64; i++)
		if (!rdma_query_gid(live_device, 1, i, gid) &&
		    ipv6_addr_v4mapped((struct in6_addr *)gid->raw))
			return i;
	return -ENOENT;
}

/* ---- the connection ---- */

static void connect_qp(struct kunit *test, struct ib_qp *qp, u32 peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = 1, .path_mtu = IB_MTU_1024,
		.max_dest_rd_atomic = 4, .max_rd_atomic = 4, .timeout = 19, .retry_cnt = 7,
		.rnr_retry = 7, .min_rnr_timer = 1, .dest_qp_num = peer,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};
	union ib_gid gid;
	int index = find_gid(&gid);

	KUNIT_ASSERT_GE(test, index, 0);
	attr.ah_attr.type = rdma_ah_find_type(live_device, 1);
	rdma_ah_set_grh(&attr.ah_attr, &gid, 0, index, 64, 0);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	KUNIT_ASSERT_EQ(test, 0, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
					      IB_QP_PORT | IB_QP_ACCESS_FLAGS));
	attr.qp_state = IB_QPS_RTR;
	KUNIT_ASSERT_EQ(test, 0, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV |
					      IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
					      IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER));
	attr.qp_state = IB_QPS_RTS;
	KUNIT_ASSERT_EQ(test, 0, ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
					      IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
					      IB_QP_MAX_QP_RD_ATOMIC));
}

static void create_qps(struct kunit *test, struct live *l)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = 64, .max_recv_wr = 64,
			 .max_send_sge = 2, .max_recv_sge = 2 },
		.send_cq = l->cq, .recv_cq = l->cq,
	};
	int i;

	for (i = 0; i < 2; i++) {
		l->qp[i] = ib_create_qp(l->pd, &init);
		KUNIT_ASSERT_FALSE(test, IS_ERR(l->qp[i]));
	}
	connect_qp(test, l->qp[0], l->qp[1]->qp_num);
	connect_qp(test, l->qp[1], l->qp[0]->qp_num);
}

void live_create_on(struct kunit *test, struct live *l, enum ib_poll_context context, int vector)
{
	int i;

	l->pd = ib_alloc_pd(live_device, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(l->pd));
	l->cq = ib_alloc_cq(live_device, NULL, 256, vector, context);
	KUNIT_ASSERT_FALSE(test, IS_ERR(l->cq));
	create_qps(test, l);
	l->pages = alloc_pages(GFP_KERNEL | __GFP_ZERO, get_order(BYTES));
	KUNIT_ASSERT_NOT_NULL(test, l->pages);
	l->buf = page_address(l->pages);
	l->mr = ib_alloc_mr(l->pd, IB_MR_TYPE_MEM_REG, PAGES);
	KUNIT_ASSERT_FALSE(test, IS_ERR(l->mr));
	sg_init_table(l->sg, PAGES);
	for (i = 0; i < PAGES; i++)
		sg_set_page(&l->sg[i], l->pages + i, PAGE_SIZE, 0);
	KUNIT_ASSERT_EQ(test, PAGES,
			ib_dma_map_sg(live_device, l->sg, PAGES, DMA_BIDIRECTIONAL));
}

void live_create(struct kunit *test, struct live *l, enum ib_poll_context context)
{
	live_create_on(test, l, context, 0);
}

void live_destroy(struct live *l)
{
	int i;

	for (i = 0; i < 2; i++)
		ib_destroy_qp(l->qp[i]);
	ib_dma_unmap_sg(live_device, l->sg, PAGES, DMA_BIDIRECTIONAL);
	ib_dereg_mr(l->mr);
	__free_pages(l->pages, get_order(BYTES));
	ib_free_cq(l->cq);
	ib_dealloc_pd(l->pd);
}

/* ---- work ---- */

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct op *op = container_of(wc->wr_cqe, struct op, cqe);

	op->wc = *wc;
	op->cpu = raw_smp_processor_id();
	complete(&op->done);
}

void live_op_init(struct op *op)
{
	memset(op, 0, sizeof(*op));
	op->cqe.done = op_done;
	init_completion(&op->done);
}

int live_wait(struct kunit *test, struct live *l, struct op *op)
{
	unsigned long end = jiffies + PATIENCE;

	if (l->cq->poll_ctx != IB_POLL_DIRECT) {
		KUNIT_EXPECT_NE(test, 0UL, wait_for_completion_timeout(&op->done, PATIENCE));
		return op->wc.status;
	}
	while (!try_wait_for_completion(&op->done)) {
		if (time_after(jiffies, end)) {
			KUNIT_FAIL(test, "no completion");
			break;
		}
		ib_process_cq_direct(l->cq, -1);
		cond_resched();
	}
	return op->wc.status;
}

int live_run(struct kunit *test, struct live *l, struct ib_qp *qp, struct ib_send_wr *wr)
{
	struct op op;

	live_op_init(&op);
	wr->wr_cqe = &op.cqe;
	wr->send_flags |= IB_SEND_SIGNALED;
	KUNIT_ASSERT_EQ(test, 0, ib_post_send(qp, wr, NULL));
	return live_wait(test, l, &op);
}

struct ib_sge live_sge(struct live *l, u32 offset, u32 bytes)
{
	return (struct ib_sge){
		.addr = (uintptr_t)l->buf + offset, .length = bytes,
		.lkey = l->pd->local_dma_lkey,
	};
}

void live_post_recv(struct kunit *test, struct live *l, struct op *op, u32 offset, u32 bytes)
{
	struct ib_sge sge = live_sge(l, offset, bytes);
	struct ib_recv_wr wr = { .wr_cqe = &op->cqe, .sg_list = &sge, .num_sge = 1 };

	live_op_init(op);
	KUNIT_ASSERT_EQ(test, 0, ib_post_recv(l->qp[1], &wr, NULL));
}

int live_send_inv(struct kunit *test, struct live *l, u32 rkey)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND_WITH_INV, .ex.invalidate_rkey = rkey };

	return live_run(test, l, l->qp[0], &wr);
}

int live_local_inv(struct kunit *test, struct live *l, u32 rkey)
{
	struct ib_send_wr wr = { .opcode = IB_WR_LOCAL_INV, .ex.invalidate_rkey = rkey };

	return live_run(test, l, l->qp[1], &wr);
}

int live_write_to(struct kunit *test, struct live *l, u32 rkey, u64 to, u32 bytes)
{
	struct ib_sge sge = live_sge(l, 0, bytes);
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = to, .rkey = rkey,
	};

	return live_run(test, l, l->qp[0], &wr.wr);
}

int live_reg_mr(struct kunit *test, struct live *l, int access)
{
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR }, .mr = l->mr, .access = access,
	};

	KUNIT_ASSERT_EQ(test, PAGES, ib_map_mr_sg(l->mr, l->sg, PAGES, NULL, PAGE_SIZE));
	ib_update_fast_reg_key(l->mr, ib_inc_rkey(l->mr->rkey));
	wr.key = l->mr->rkey;
	return live_run(test, l, l->qp[1], &wr.wr);
}
