// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_post_send(), ibv_bind_mw().
 */
#include "fake.h"

#define ALL_OPS		16

static struct ibv_qp *ready_qp(enum ibv_qp_type type)
{
	struct ibv_qp *qp = fake_qp(type, fake_cq());

	fake_modify(qp, IBV_QPS_RTS);
	return qp;
}

static struct ibv_ah *make_ah(void)
{
	struct ibv_ah_attr attr = {};

	return fake.ops.create_ah(fake_pd(), &attr);
}

static int post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int err = fake.ops.post_send(qp, wr, &bad);

	CHECK(err ? bad != NULL : bad == NULL);
	return err;
}

TEST(send__states)
{
	static const struct { enum ibv_qp_state state; int err; } want[] = {
		{ IBV_QPS_INIT, EINVAL }, { IBV_QPS_RTR, EINVAL }, { IBV_QPS_RTS, 0 },
		{ IBV_QPS_SQD, 0 }, { IBV_QPS_SQE, 0 }, { IBV_QPS_ERR, 0 },
		{ IBV_QPS_RESET, EINVAL },
	};
	struct ibv_qp *qp = fake_qp(IBV_QPT_RC, fake_cq());
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	size_t i;

	CHECK_EQ(post(qp, &wr), EINVAL);
	for (i = 0; i < ARRAY_LEN(want); i++) {
		CHECK_EQ(fake_modify(qp, want[i].state), 0);
		CHECK_EQ(post(qp, &wr), want[i].err);
	}
	CHECK(!fake_is_locked(&to_sqp(qp)->sq.lock));
}

TEST(send__state_of_a_failed_modify_stays)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	fake.modify_error = EINVAL;
	CHECK_EQ(fake_modify(qp, IBV_QPS_RESET), EINVAL);
	CHECK_EQ(fake_modify(qp, IBV_QPS_INIT), EINVAL);
	CHECK_EQ(post(qp, &wr), 0);
}

TEST(send__opcodes_of_each_type)
{
	enum { RC = 1, UC = 2, UD = 4, XRC = 8 };
	static const struct { enum ibv_qp_type type; int bit; } types[] = {
		{ IBV_QPT_RC, RC }, { IBV_QPT_UC, UC }, { IBV_QPT_UD, UD }, { IBV_QPT_XRC_SEND, XRC },
	};
	static const int allowed[ALL_OPS + 1] = {
		[IBV_WR_RDMA_WRITE] = RC | UC | XRC,
		[IBV_WR_RDMA_WRITE_WITH_IMM] = RC | UC | XRC,
		[IBV_WR_SEND] = RC | UC | UD | XRC,
		[IBV_WR_SEND_WITH_IMM] = RC | UC | UD | XRC,
		[IBV_WR_RDMA_READ] = RC | XRC,
		[IBV_WR_ATOMIC_CMP_AND_SWP] = RC | XRC,
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = RC | XRC,
		[IBV_WR_LOCAL_INV] = RC | UC | XRC,
		[IBV_WR_BIND_MW] = RC | UC | XRC,
		[IBV_WR_SEND_WITH_INV] = RC | XRC,
		[IBV_WR_ATOMIC_WRITE] = RC | XRC,
	};
	struct ibv_ah *ah = make_ah();
	struct ibv_mw mw = {};
	size_t t;
	int op;

	for (t = 0; t < ARRAY_LEN(types); t++) {
		struct ibv_qp *qp = ready_qp(types[t].type);

		for (op = -1; op <= ALL_OPS; op++) {
			struct ibv_send_wr wr = { .opcode = op };
			bool ok = op >= 0 && allowed[op] & types[t].bit;

			if (op == IBV_WR_BIND_MW)
				wr.bind_mw.mw = &mw;
			else
				wr.wr.ud.ah = ah;
			CHECK_EQ(post(qp, &wr), ok ? 0 : EINVAL);
			CHECK_EQ(fake_take(&fake.sq) != NULL, ok);
		}
	}
	fake.ops.destroy_ah(ah);
}

TEST(send__rdma_fields)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_sge sge[2] = { { 0x1111, 22, 33 }, { 0x4444, 55, 66 } };
	struct ibv_send_wr wr = {
		.wr_id = 0x123456789abcdef0,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED,
		.imm_data = (__be32)0x01020304,
		.sg_list = sge,
		.num_sge = 2,
		.wr.rdma = { .remote_addr = 0x777777777777, .rkey = 0x88 },
	};
	const struct sroce_send_wqe *w;

	CHECK_EQ(post(qp, &wr), 0);
	w = fake_take(&fake.sq);
	CHECK(w != NULL);
	CHECK_EQ(w->wr_id, 0x123456789abcdef0);
	CHECK_EQ(w->opcode, IB_UVERBS_WR_RDMA_WRITE_WITH_IMM);
	CHECK_EQ(w->flags, SROCE_SEND_SIGNALED | SROCE_SEND_FENCE | SROCE_SEND_SOLICITED);
	CHECK_EQ(w->ex, 0x01020304);
	CHECK_EQ(w->rdma.remote_addr, 0x777777777777);
	CHECK_EQ(w->rdma.rkey, 0x88);
	CHECK_EQ(w->num_sge, 2);
	CHECK(!memcmp(w + 1, sge, sizeof(sge)));
	CHECK(!fake_take(&fake.sq));
}

TEST(send__atomic_fields)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_sge sge = { 0x1000, 8, 3 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.atomic = { .remote_addr = 1, .compare_add = 2, .swap = 3, .rkey = 4 },
	};
	const struct sroce_send_wqe *w;

	CHECK_EQ(post(qp, &wr), 0);
	w = fake_take(&fake.sq);
	CHECK_EQ(w->atomic.remote_addr, 1);
	CHECK_EQ(w->atomic.compare_add, 2);
	CHECK_EQ(w->atomic.swap, 3);
	CHECK_EQ(w->atomic.rkey, 4);
	CHECK_EQ(w->num_sge, 1);
	CHECK_EQ(w->flags, 0);
}

TEST(send__ud_fields)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_UD);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.wr.ud = { .ah = NULL, .remote_qpn = 0x22, .remote_qkey = 0x33 },
	};
	const struct sroce_send_wqe *w;

	CHECK_EQ(post(qp, &wr), EINVAL);
	wr.wr.ud.ah = make_ah();
	CHECK_EQ(post(qp, &wr), 0);
	w = fake_take(&fake.sq);
	CHECK_EQ(w->ud.ah_id, 0xa5);
	CHECK_EQ(w->ud.remote_qpn, 0x22);
	CHECK_EQ(w->ud.remote_qkey, 0x33);
	fake.ops.destroy_ah(wr.wr.ud.ah);
}

TEST(send__xrc_and_invalidate_fields)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_XRC_SEND);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_INV,
		.invalidate_rkey = 0x99,
		.qp_type.xrc.remote_srqn = 0x44,
	};
	const struct sroce_send_wqe *w;

	CHECK_EQ(post(qp, &wr), 0);
	w = fake_take(&fake.sq);
	CHECK_EQ(w->srqn, 0x44);
	CHECK_EQ(w->ex, 0x99);
	wr.opcode = IBV_WR_LOCAL_INV;
	CHECK_EQ(post(qp, &wr), 0);
	w = fake_take(&fake.sq);
	CHECK_EQ(w->opcode, IB_UVERBS_WR_LOCAL_INV);
	CHECK_EQ(w->ex, 0x99);
}

TEST(send__old_bytes_of_a_slot_are_gone)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV };
	const struct sroce_send_wqe *w;

	memset(fake.sq.entries, 0xff, fake.sq_entries * fake.sq_stride);
	CHECK_EQ(post(qp, &wr), 0);
	w = fake_take(&fake.sq);
	CHECK_EQ(w->num_sge, 0);
	CHECK_EQ(w->length, 0);
	CHECK_EQ(w->atomic.swap, 0);
	CHECK_EQ(w->rsvd0, 0);
}

TEST(send__flags)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .sq_sig_all = 1 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_IP_CSUM };
	const struct sroce_send_wqe *w;
	struct ibv_qp *qp;

	attr.send_cq = attr.recv_cq = fake_cq();
	qp = fake.ops.create_qp(fake_pd(), &attr);
	fake_modify(qp, IBV_QPS_RTS);
	CHECK_EQ(post(qp, &wr), EINVAL);
	wr.send_flags = 0;
	CHECK_EQ(post(qp, &wr), 0);
	w = fake_take(&fake.sq);
	CHECK_EQ(w->flags, SROCE_SEND_SIGNALED);
	fake.ops.destroy_qp(qp);
}

TEST(send__sge_limits)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_sge sge[5] = { { 1, 1, 1 }, { 2, 2, 2 }, { 3, 3, 3 }, { 4, 4, 4 }, { 5, 5, 5 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = 4 };
	const struct sroce_send_wqe *w;

	CHECK_EQ(post(qp, &wr), 0);
	w = fake_take(&fake.sq);
	CHECK_EQ(w->num_sge, 4);
	CHECK(!memcmp(w + 1, sge, 4 * sizeof(sge[0])));
	wr.num_sge = 5;
	CHECK_EQ(post(qp, &wr), EINVAL);
	wr.num_sge = -1;
	CHECK_EQ(post(qp, &wr), EINVAL);
	wr.num_sge = 0;
	CHECK_EQ(post(qp, &wr), 0);
	w = fake_take(&fake.sq);
	CHECK_EQ(w->num_sge, 0);
	CHECK(!fake_take(&fake.sq));
}

TEST(send__inline_limits)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	char data[61];
	struct ibv_sge sge[2] = { { (uintptr_t)data, 40, 0 }, { (uintptr_t)data + 40, 20, 0 } };
	struct ibv_sge many[5] = { { (uintptr_t)data, 1, 0 }, { (uintptr_t)data, 1, 0 },
				   { (uintptr_t)data, 1, 0 }, { (uintptr_t)data, 1, 0 },
				   { (uintptr_t)data, 1, 0 } };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
		.sg_list = sge,
		.num_sge = 2,
	};
	const struct sroce_send_wqe *w;
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 3;
	CHECK_EQ(post(qp, &wr), 0);		/* 60 */
	w = fake_take(&fake.sq);
	CHECK_EQ(w->flags, SROCE_SEND_INLINE);
	CHECK_EQ(w->length, 60);
	CHECK_EQ(w->num_sge, 0);
	CHECK(!memcmp(w + 1, data, 60));

	sge[1].length = 21;
	CHECK_EQ(post(qp, &wr), EINVAL);	/* 61, two pieces */
	sge[0].length = 61;
	wr.num_sge = 1;
	CHECK_EQ(post(qp, &wr), EINVAL);	/* 61, one piece */
	wr.num_sge = -1;
	CHECK_EQ(post(qp, &wr), EINVAL);
	wr.sg_list = many;
	wr.num_sge = 5;
	CHECK_EQ(post(qp, &wr), EINVAL);	/* 5 bytes, but too many pieces */
	wr.num_sge = 0;
	CHECK_EQ(post(qp, &wr), 0);		/* nothing */
	w = fake_take(&fake.sq);
	CHECK_EQ(w->length, 0);
	CHECK_EQ(w->flags, SROCE_SEND_INLINE);
	CHECK(!fake_take(&fake.sq));
}

/* 32-bit sums of these lengths are small: 0x80000000 * 2 + 8 and so on. */
TEST(send__inline_lengths_beyond_4_gib)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	char data[60] = {};
	struct ibv_sge sge[4] = {
		{ (uintptr_t)data, 0x80000000, 0 }, { (uintptr_t)data, 0x80000000, 0 },
		{ (uintptr_t)data, 8, 0 },
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_INLINE,
		.sg_list = sge,
		.num_sge = 3,
	};

	CHECK_EQ(post(qp, &wr), EINVAL);
	sge[0].length = 16;
	sge[1].length = UINT32_MAX - 7;		/* 16 + this == 8, in 32 bits */
	wr.num_sge = 2;
	CHECK_EQ(post(qp, &wr), EINVAL);
	sge[0].length = UINT32_MAX;
	wr.num_sge = 1;
	CHECK_EQ(post(qp, &wr), EINVAL);
	CHECK(!fake_take(&fake.sq));
}

TEST(send__inline_only_where_data_goes_out)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_LOCAL_INV,
	};
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_send_wr wr = { .send_flags = IBV_SEND_INLINE };
	size_t i;

	for (i = 0; i < ARRAY_LEN(ops); i++) {
		wr.opcode = ops[i];
		CHECK_EQ(post(qp, &wr), EINVAL);
	}
}

TEST(send__those_before_a_bad_one_go)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_send_wr wr[4] = {}, *bad = NULL;
	int i;

	for (i = 0; i < 4; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = i == 2 ? IBV_WR_TSO : IBV_WR_SEND;
		wr[i].next = i < 3 ? &wr[i + 1] : NULL;
	}
	fake.sq.ctrl->flags = SROCE_RING_NEED_WAKEUP;
	CHECK_EQ(fake.ops.post_send(qp, wr, &bad), EINVAL);
	CHECK(bad == &wr[2]);
	CHECK_EQ(sroce_ring_used(&fake.sq), 2);
	CHECK_EQ(fake.doorbells, 1);
}

TEST(send__full)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	int i;

	for (i = 0; i < 8; i++)
		CHECK_EQ(post(qp, &wr), 0);
	CHECK_EQ(post(qp, &wr), ENOMEM);
	CHECK_EQ(sroce_ring_used(&fake.sq), 8);
	fake_take(&fake.sq);
	CHECK_EQ(post(qp, &wr), 0);
	CHECK_EQ(post(qp, &wr), ENOMEM);
}

/* A list longer than the ring: what fits is published. */
TEST(send__full_within_a_list)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_send_wr wr[9] = {}, *bad = NULL;
	int i;

	for (i = 0; i < 9; i++) {
		wr[i].opcode = IBV_WR_SEND;
		wr[i].next = i < 8 ? &wr[i + 1] : NULL;
	}
	CHECK_EQ(fake.ops.post_send(qp, wr, &bad), ENOMEM);
	CHECK(bad == &wr[8]);
	CHECK_EQ(sroce_ring_used(&fake.sq), 8);
}

TEST(send__index_wraps_at_2_32)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	const struct sroce_send_wqe *w;
	struct ibv_qp *qp;
	uint64_t i, taken = 0;

	fake.first_index = UINT32_MAX - 4;
	qp = ready_qp(IBV_QPT_RC);
	for (i = 0; i < 8; i++) {
		wr.wr_id = i;
		CHECK_EQ(post(qp, &wr), 0);
	}
	CHECK_EQ(post(qp, &wr), ENOMEM);
	CHECK_EQ(fake.sq.ctrl->prod, 3);
	for (i = 8; i < 40; i++) {
		w = fake_take(&fake.sq);
		CHECK(w && w->wr_id == taken++);
		wr.wr_id = i;
		CHECK_EQ(post(qp, &wr), 0);
	}
	while ((w = fake_take(&fake.sq)))
		CHECK_EQ(w->wr_id, taken++);
	CHECK_EQ(taken, 40);
}

TEST(send__doorbell_only_when_asked)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_send_wr wr[2] = { { .opcode = IBV_WR_SEND }, { .opcode = IBV_WR_SEND } };

	CHECK_EQ(post(qp, wr), 0);
	CHECK_EQ(fake.doorbells, 0);
	fake.sq.ctrl->flags = SROCE_RING_NEED_WAKEUP;
	wr[0].next = &wr[1];
	CHECK_EQ(post(qp, wr), 0);
	CHECK_EQ(fake.doorbells, 1);
	CHECK_EQ(fake.doorbell.hdr.command, IB_USER_VERBS_CMD_POST_SEND);
	CHECK_EQ(fake.doorbell.hdr.in_words * 4, sizeof(struct ibv_post_send));
	CHECK_EQ(fake.doorbell.hdr.out_words * 4, sizeof(struct ib_uverbs_post_send_resp));
	CHECK(fake.doorbell.response != 0);
	CHECK_EQ(fake.doorbell.qp_handle, 5);
	CHECK_EQ(fake.doorbell.wr_count, 0);
	CHECK_EQ(fake.doorbell.sge_count, 0);
	CHECK(fake.doorbell.wqe_size >= sizeof(struct ib_uverbs_send_wr));
}

/* Nothing was posted, so there is nothing to wake the kernel for. */
TEST(send__no_doorbell_without_work)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_send_wr wr = { .opcode = IBV_WR_TSO };

	fake.sq.ctrl->flags = SROCE_RING_NEED_WAKEUP;
	CHECK_EQ(post(qp, &wr), EINVAL);
	CHECK_EQ(post(qp, NULL), 0);
	CHECK_EQ(fake.doorbells, 0);
}

static struct ibv_qp *locked_qp;

static void doorbell_with_free_lock(void)
{
	CHECK(!fake_is_locked(&to_sqp(locked_qp)->sq.lock));
}

TEST(send__doorbell_outside_the_lock)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	locked_qp = ready_qp(IBV_QPT_RC);
	fake.sq.ctrl->flags = SROCE_RING_NEED_WAKEUP;
	fake.on_doorbell = doorbell_with_free_lock;
	CHECK_EQ(post(locked_qp, &wr), 0);
	CHECK_EQ(fake.doorbells, 1);
}

TEST(send__device_gone)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	fake.sq.ctrl->flags = SROCE_RING_NEED_WAKEUP;
	fake.write_interrupts = 3;
	CHECK_EQ(post(qp, &wr), 0);
	CHECK_EQ(fake.write_interrupts, 0);
	fake.write_error = EIO;
	CHECK_EQ(post(qp, &wr), EIO);
	fake_take(&fake.sq);
	fake_take(&fake.sq);
	fake.sq.ctrl->flags = SROCE_RING_DEAD;
	fake.doorbells = 0;
	CHECK_EQ(post(qp, &wr), EIO);
	CHECK(!fake_take(&fake.sq));
	CHECK_EQ(fake.doorbells, 0);
}

TEST(bind_mw__counts_the_rkey_on)
{
	struct ibv_qp *qp = ready_qp(IBV_QPT_RC);
	struct ibv_mr mr = { .lkey = 0x77 };
	struct ibv_mw mw = { .rkey = 0x123456ff, .type = IBV_MW_TYPE_1 };
	struct ibv_mw_bind bind = {
		.wr_id = 4,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = &mr, .addr = 0x1000, .length = 0x200000000,
			       .mw_access_flags = IBV_ACCESS_REMOTE_WRITE },
	};
	const struct sroce_send_wqe *w;
	int i;

	CHECK_EQ(fake.ops.bind_mw(qp, &mw, &bind), 0);
	CHECK_EQ(mw.rkey, 0x12345600);
	w = fake_take(&fake.sq);
	CHECK_EQ(w->opcode, IB_UVERBS_WR_BIND_MW);
	CHECK_EQ(w->flags, SROCE_SEND_SIGNALED);
	CHECK_EQ(w->bind_mw.mw_rkey, 0x123456ff);
	CHECK_EQ(w->bind_mw.new_rkey, 0x12345600);
	CHECK_EQ(w->bind_mw.mr_lkey, 0x77);
	CHECK_EQ(w->bind_mw.addr, 0x1000);
	CHECK_EQ(w->bind_mw.length, 0x200000000);
	CHECK_EQ(w->bind_mw.access, IBV_ACCESS_REMOTE_WRITE);

	bind.bind_info.mr = NULL;	/* unbind */
	bind.bind_info.length = 0;
	CHECK_EQ(fake.ops.bind_mw(qp, &mw, &bind), 0);
	w = fake_take(&fake.sq);
	CHECK_EQ(w->bind_mw.mr_lkey, 0);

	bind.bind_info.mw_access_flags = IBV_ACCESS_ZERO_BASED;
	CHECK_EQ(fake.ops.bind_mw(qp, &mw, &bind), EINVAL);
	bind.bind_info.mw_access_flags = 0;
	for (i = 0; i < 8; i++)
		CHECK_EQ(fake.ops.bind_mw(qp, &mw, &bind), 0);
	CHECK_EQ(fake.ops.bind_mw(qp, &mw, &bind), ENOMEM);
	CHECK_EQ(mw.rkey, 0x12345609);
}
