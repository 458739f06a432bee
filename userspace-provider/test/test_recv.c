// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_post_recv(), ibv_post_srq_recv() and shared receive queues.
 */
#include "fake.h"

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr)
{
	struct ibv_recv_wr *bad = NULL;
	int err = fake.ops.post_recv(qp, wr, &bad);

	CHECK(err ? bad != NULL : bad == NULL);
	return err;
}

TEST(recv__states)
{
	static const struct { enum ibv_qp_state state; int err; } want[] = {
		{ IBV_QPS_INIT, 0 }, { IBV_QPS_RTR, 0 }, { IBV_QPS_RTS, 0 }, { IBV_QPS_SQD, 0 },
		{ IBV_QPS_SQE, 0 }, { IBV_QPS_ERR, 0 }, { IBV_QPS_RESET, EINVAL },
	};
	struct ibv_qp *qp = fake_qp(IBV_QPT_RC, fake_cq());
	struct ibv_recv_wr wr = {};
	size_t i;

	CHECK_EQ(post_recv(qp, &wr), EINVAL);
	for (i = 0; i < ARRAY_LEN(want); i++) {
		fake_modify(qp, want[i].state);
		CHECK_EQ(post_recv(qp, &wr), want[i].err);
	}
	CHECK(!fake_is_locked(&to_sqp(qp)->rq.lock));
}

TEST(recv__fields_and_limits)
{
	struct ibv_qp *qp = fake_qp(IBV_QPT_RC, fake_cq());
	struct ibv_sge sge[4] = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 }, { 1, 1, 1 } };
	struct ibv_recv_wr wr[3] = {
		{ .wr_id = 70, .sg_list = sge, .num_sge = 3, .next = &wr[1] },
		{ .wr_id = 71, .num_sge = 0, .next = &wr[2] },
		{ .wr_id = 72, .sg_list = sge, .num_sge = 4 },
	}, *bad = NULL;
	const struct sroce_recv_wqe *w;

	fake_modify(qp, IBV_QPS_INIT);
	CHECK_EQ(fake.ops.post_recv(qp, wr, &bad), EINVAL);
	CHECK(bad == &wr[2]);
	w = fake_take(&fake.rq);
	CHECK_EQ(w->wr_id, 70);
	CHECK_EQ(w->num_sge, 3);
	CHECK(!memcmp(w + 1, sge, 3 * sizeof(sge[0])));
	w = fake_take(&fake.rq);
	CHECK_EQ(w->wr_id, 71);
	CHECK_EQ(w->num_sge, 0);
	CHECK(!fake_take(&fake.rq));
	wr[2].num_sge = -1;
	CHECK_EQ(post_recv(qp, &wr[2]), EINVAL);
	CHECK_EQ(fake.doorbells, 0);
}

TEST(recv__full_and_wrap)
{
	struct ibv_recv_wr wr = {};
	const struct sroce_recv_wqe *w;
	struct ibv_qp *qp;
	uint64_t i;

	fake.first_index = UINT32_MAX;
	qp = fake_qp(IBV_QPT_RC, fake_cq());
	fake_modify(qp, IBV_QPS_RTS);
	for (i = 0; i < 8; i++) {
		wr.wr_id = i;
		CHECK_EQ(post_recv(qp, &wr), 0);
	}
	CHECK_EQ(post_recv(qp, &wr), ENOMEM);
	for (i = 0; (w = fake_take(&fake.rq)); i++)
		CHECK_EQ(w->wr_id, i);
	CHECK_EQ(i, 8);
	CHECK_EQ(post_recv(qp, &wr), 0);
}

TEST(recv__doorbell_of_a_qp_in_error)
{
	struct ibv_qp *qp = fake_qp(IBV_QPT_RC, fake_cq());
	struct ibv_recv_wr wr = {};

	fake_modify(qp, IBV_QPS_ERR);
	fake.rq.ctrl->flags = SROCE_RING_NEED_WAKEUP;
	CHECK_EQ(post_recv(qp, &wr), 0);
	CHECK_EQ(fake.doorbells, 1);
	CHECK_EQ(fake.doorbell.hdr.command, IB_USER_VERBS_CMD_POST_RECV);
	CHECK_EQ(fake.doorbell.qp_handle, 5);
	fake.rq.ctrl->flags = SROCE_RING_DEAD;
	CHECK_EQ(post_recv(qp, &wr), EIO);
}

TEST(recv__not_with_an_srq)
{
	struct ibv_srq_init_attr srq_attr = {};
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	struct ibv_pd *pd = fake_pd();
	struct ibv_recv_wr wr = {};
	struct ibv_qp *qp;

	attr.send_cq = attr.recv_cq = fake_cq();
	attr.srq = fake.ops.create_srq(pd, &srq_attr);
	qp = fake.ops.create_qp(pd, &attr);
	fake_modify(qp, IBV_QPS_RTS);
	CHECK_EQ(post_recv(qp, &wr), EINVAL);
	fake.ops.destroy_qp(qp);
	fake.ops.destroy_srq(attr.srq);
}

TEST(srq__post_resize_number)
{
	struct ibv_srq_init_attr attr = {};
	struct ibv_srq_attr change = { .max_wr = 16 };
	struct ibv_srq *srq = fake.ops.create_srq(fake_pd(), &attr);
	struct ibv_recv_wr wr = {}, *bad = NULL;
	const struct sroce_recv_wqe *w;
	uint32_t number = 0;
	uint64_t i;

	for (i = 0; i < 8; i++) {
		wr.wr_id = i;
		CHECK_EQ(fake.ops.post_srq_recv(srq, &wr, &bad), 0);
	}
	CHECK_EQ(fake.ops.post_srq_recv(srq, &wr, &bad), ENOMEM);
	CHECK(bad == &wr);
	w = fake_take(&fake.srq);
	CHECK_EQ(w->wr_id, 0);

	CHECK_EQ(fake.ops.modify_srq(srq, &change, IBV_SRQ_LIMIT), 0);
	CHECK_EQ(fake.mapped, 1);
	CHECK_EQ(fake.ops.modify_srq(srq, &change, IBV_SRQ_MAX_WR), 0);
	CHECK_EQ(fake.mapped, 1);
	for (; i < 17; i++) {
		wr.wr_id = i;
		CHECK_EQ(fake.ops.post_srq_recv(srq, &wr, &bad), 0);
	}
	CHECK_EQ(fake.ops.post_srq_recv(srq, &wr, &bad), ENOMEM);
	for (i = 1; (w = fake_take(&fake.srq)); i++)
		CHECK_EQ(w->wr_id, i);
	CHECK_EQ(i, 17);
	CHECK(!fake_is_locked(&to_ssrq(srq)->q.lock));

	fake.srq.ctrl->flags = SROCE_RING_NEED_WAKEUP;
	CHECK_EQ(fake.ops.post_srq_recv(srq, &wr, &bad), 0);
	CHECK_EQ(fake.doorbell.hdr.command, IB_USER_VERBS_CMD_POST_SRQ_RECV);
	CHECK_EQ(fake.doorbell.qp_handle, 9);
	CHECK_EQ(fake.ops.get_srq_num(srq, &number), 0);
	CHECK_EQ(number, 0x51);

	fake.mmaps_until_fail = 1;
	CHECK_EQ(fake.ops.modify_srq(srq, &change, IBV_SRQ_MAX_WR), ENOMEM);
	CHECK_EQ(fake.ops.post_srq_recv(srq, &wr, &bad), EIO);
	fake.ops.destroy_srq(srq);
}

TEST(srq__shrinks)
{
	struct ibv_srq_init_attr attr = {};
	struct ibv_srq_attr change = { .max_wr = 2 };
	struct ibv_srq *srq = fake.ops.create_srq(fake_pd(), &attr);
	struct ibv_recv_wr wr = {}, *bad = NULL;

	CHECK_EQ(fake.ops.post_srq_recv(srq, &wr, &bad), 0);
	CHECK_EQ(fake.ops.modify_srq(srq, &change, IBV_SRQ_MAX_WR), 0);
	CHECK_EQ(fake.ops.post_srq_recv(srq, &wr, &bad), 0);
	CHECK_EQ(fake.ops.post_srq_recv(srq, &wr, &bad), ENOMEM);
	fake.ops.destroy_srq(srq);
}
