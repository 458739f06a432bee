// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The extended post API.
 */
#include "fake.h"

#define ALL_RC								\
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |	\
	 IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |		\
	 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |	\
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |	\
	 IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV |		\
	 IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE)

static struct ibv_qp_ex *ready(enum ibv_qp_type type, uint64_t ops)
{
	struct ibv_qp_ex *ex = fake_qp_ex(type, fake_cq(), ops);

	fake_modify(&ex->qp_base, IBV_QPS_RTS);
	return ex;
}

/* Between start and complete, one operation and what it left in the ring. */
#define ONE(ex, op)							\
	({								\
		ibv_wr_start(ex);					\
		op;							\
		CHECK_EQ(ibv_wr_complete(ex), 0);			\
		(const struct sroce_send_wqe *)fake_take(&fake.sq);	\
	})

/* The error of a batch of one, which must leave nothing. */
#define ERR(ex, op)							\
	({								\
		int err_;						\
		ibv_wr_start(ex);					\
		op;							\
		err_ = ibv_wr_complete(ex);				\
		CHECK(!fake_take(&fake.sq));				\
		CHECK(!fake_is_locked(&to_sqp_ex(ex)->sq.lock));	\
		err_;							\
	})

TEST(wr__operations)
{
	struct ibv_qp_ex *ex = ready(IBV_QPT_RC, ALL_RC);
	struct ibv_mr mr = { .lkey = 9 };
	struct ibv_mw mw = { .rkey = 0x100 };
	struct ibv_mw_bind_info info = { .mr = &mr, .addr = 1, .length = 2, .mw_access_flags = 3 };
	const uint64_t eight = 0x1122334455667788;
	const struct sroce_send_wqe *w;

	ex->wr_id = 42;
	ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_INLINE;
	w = ONE(ex, ibv_wr_send(ex));
	CHECK_EQ(w->opcode, IB_UVERBS_WR_SEND);
	CHECK_EQ(w->wr_id, 42);
	CHECK_EQ(w->flags, SROCE_SEND_SIGNALED | SROCE_SEND_FENCE);
	w = ONE(ex, ibv_wr_send_imm(ex, (__be32)7));
	CHECK_EQ(w->opcode, IB_UVERBS_WR_SEND_WITH_IMM);
	CHECK_EQ(w->ex, 7);
	w = ONE(ex, ibv_wr_send_inv(ex, 8));
	CHECK_EQ(w->opcode, IB_UVERBS_WR_SEND_WITH_INV);
	CHECK_EQ(w->ex, 8);
	w = ONE(ex, ibv_wr_rdma_write(ex, 5, 6));
	CHECK_EQ(w->opcode, IB_UVERBS_WR_RDMA_WRITE);
	CHECK_EQ(w->rdma.rkey, 5);
	CHECK_EQ(w->rdma.remote_addr, 6);
	CHECK_EQ(w->ex, 0);
	w = ONE(ex, ibv_wr_rdma_write_imm(ex, 5, 6, (__be32)77));
	CHECK_EQ(w->opcode, IB_UVERBS_WR_RDMA_WRITE_WITH_IMM);
	CHECK_EQ(w->ex, 77);
	w = ONE(ex, ibv_wr_rdma_read(ex, 11, 12));
	CHECK_EQ(w->opcode, IB_UVERBS_WR_RDMA_READ);
	CHECK_EQ(w->rdma.rkey, 11);
	CHECK_EQ(w->rdma.remote_addr, 12);
	w = ONE(ex, ibv_wr_atomic_cmp_swp(ex, 1, 2, 3, 4));
	CHECK_EQ(w->opcode, IB_UVERBS_WR_ATOMIC_CMP_AND_SWP);
	CHECK_EQ(w->atomic.rkey, 1);
	CHECK_EQ(w->atomic.remote_addr, 2);
	CHECK_EQ(w->atomic.compare_add, 3);
	CHECK_EQ(w->atomic.swap, 4);
	w = ONE(ex, ibv_wr_atomic_fetch_add(ex, 1, 2, 3));
	CHECK_EQ(w->opcode, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD);
	CHECK_EQ(w->atomic.compare_add, 3);
	w = ONE(ex, ibv_wr_atomic_write(ex, 1, 2, &eight));
	CHECK_EQ(w->opcode, IB_UVERBS_WR_ATOMIC_WRITE);
	CHECK_EQ(w->rdma.remote_addr, 2);
	CHECK_EQ(w->length, 8);
	CHECK(w->flags & SROCE_SEND_INLINE);
	CHECK(!memcmp(w + 1, &eight, 8));
	w = ONE(ex, ibv_wr_flush(ex, 1, 2, UINT32_MAX, IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR));
	CHECK_EQ(w->opcode, IB_UVERBS_WR_FLUSH);
	CHECK_EQ(w->flush.rkey, 1);
	CHECK_EQ(w->flush.remote_addr, 2);
	CHECK_EQ(w->flush.length, UINT32_MAX);
	CHECK_EQ(w->flush.placement, 2);
	CHECK_EQ(w->flush.selectivity, 1);
	w = ONE(ex, ibv_wr_local_inv(ex, 13));
	CHECK_EQ(w->opcode, IB_UVERBS_WR_LOCAL_INV);
	CHECK_EQ(w->ex, 13);
	w = ONE(ex, ibv_wr_bind_mw(ex, &mw, 0x101, &info));
	CHECK_EQ(w->opcode, IB_UVERBS_WR_BIND_MW);
	CHECK_EQ(w->bind_mw.mw_rkey, 0x100);
	CHECK_EQ(w->bind_mw.new_rkey, 0x101);
	CHECK_EQ(w->bind_mw.mr_lkey, 9);
	CHECK_EQ(w->bind_mw.access, 3);
}

TEST(wr__flush_beyond_4_gib)
{
	struct ibv_qp_ex *ex = ready(IBV_QPT_RC, ALL_RC);

	CHECK_EQ(ERR(ex, ibv_wr_flush(ex, 1, 2, 1UL << 32, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE)),
		 EINVAL);
}

TEST(wr__addresses)
{
	struct ibv_ah_attr attr = {};
	struct ibv_ah *ah = fake.ops.create_ah(fake_pd(), &attr);
	struct ibv_qp_ex *ud = ready(IBV_QPT_UD, IBV_QP_EX_WITH_SEND), *xrc;
	const struct sroce_send_wqe *w;

	w = ONE(ud, (ibv_wr_send(ud), ibv_wr_set_ud_addr(ud, ah, 0x20, 0x30)));
	CHECK_EQ(w->ud.ah_id, 0xa5);
	CHECK_EQ(w->ud.remote_qpn, 0x20);
	CHECK_EQ(w->ud.remote_qkey, 0x30);
	fake.ops.destroy_ah(ah);

	xrc = ready(IBV_QPT_XRC_SEND, ALL_RC);
	w = ONE(xrc, (ibv_wr_send(xrc), ibv_wr_set_xrc_srqn(xrc, 0x40)));
	CHECK_EQ(w->srqn, 0x40);
}

TEST(wr__sge_limits)
{
	struct ibv_qp_ex *ex = ready(IBV_QPT_RC, ALL_RC);
	struct ibv_sge sge[5] = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 }, { 10, 11, 12 } };
	const struct sroce_sge one = { 0xabcdef0123, 100, 200 };
	const struct sroce_send_wqe *w;

	w = ONE(ex, (ibv_wr_send(ex), ibv_wr_set_sge(ex, 200, 0xabcdef0123, 100)));
	CHECK_EQ(w->num_sge, 1);
	CHECK(!memcmp(w + 1, &one, sizeof(one)));
	w = ONE(ex, (ibv_wr_send(ex), ibv_wr_set_sge_list(ex, 4, sge)));
	CHECK_EQ(w->num_sge, 4);
	CHECK(!memcmp(w + 1, sge, 4 * sizeof(sge[0])));
	CHECK_EQ(ERR(ex, (ibv_wr_send(ex), ibv_wr_set_sge_list(ex, 5, sge))), EINVAL);
	CHECK_EQ(ERR(ex, (ibv_wr_send(ex), ibv_wr_set_sge_list(ex, (1UL << 32) + 1, sge))),
		 EINVAL);
	w = ONE(ex, (ibv_wr_send(ex), ibv_wr_set_sge_list(ex, 0, NULL)));
	CHECK_EQ(w->num_sge, 0);
}

TEST(wr__inline_limits)
{
	struct ibv_qp_ex *ex = ready(IBV_QPT_RC, ALL_RC);
	char data[61];
	struct ibv_data_buf buf[3] = { { data, 30 }, { NULL, 0 }, { data + 30, 30 } };
	const struct sroce_send_wqe *w;
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 5;
	w = ONE(ex, (ibv_wr_send(ex), ibv_wr_set_inline_data(ex, data, 60)));
	CHECK_EQ(w->length, 60);
	CHECK_EQ(w->flags, SROCE_SEND_INLINE);
	CHECK(!memcmp(w + 1, data, 60));
	CHECK_EQ(ERR(ex, (ibv_wr_send(ex), ibv_wr_set_inline_data(ex, data, 61))), EINVAL);

	w = ONE(ex, (ibv_wr_send(ex), ibv_wr_set_inline_data_list(ex, 3, buf)));
	CHECK_EQ(w->length, 60);
	CHECK(!memcmp(w + 1, data, 60));
	buf[2].length = 31;
	CHECK_EQ(ERR(ex, (ibv_wr_send(ex), ibv_wr_set_inline_data_list(ex, 3, buf))), EINVAL);
	w = ONE(ex, (ibv_wr_send(ex), ibv_wr_set_inline_data_list(ex, 0, NULL)));
	CHECK_EQ(w->length, 0);
	CHECK_EQ(w->flags, SROCE_SEND_INLINE);
}

/* Sums that are small modulo 2^32 or 2^64. */
TEST(wr__inline_lengths_that_overflow)
{
	struct ibv_qp_ex *ex = ready(IBV_QPT_RC, ALL_RC);
	char data[60] = {};
	struct ibv_data_buf buf[2] = { { data, 16 }, { data, (1UL << 32) - 8 } };

	CHECK_EQ(ERR(ex, (ibv_wr_send(ex), ibv_wr_set_inline_data_list(ex, 2, buf))), EINVAL);
	buf[1].length = SIZE_MAX - 7;
	CHECK_EQ(ERR(ex, (ibv_wr_send(ex), ibv_wr_set_inline_data_list(ex, 2, buf))), EINVAL);
	CHECK_EQ(ERR(ex, (ibv_wr_send(ex), ibv_wr_set_inline_data(ex, data, 1UL << 32))), EINVAL);
}

TEST(wr__one_bad_drops_the_batch)
{
	struct ibv_qp_ex *ex = ready(IBV_QPT_RC, ALL_RC);
	char data[61] = {};

	fake.sq.ctrl->flags = SROCE_RING_NEED_WAKEUP;
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, data, 61);	/* bad */
	ibv_wr_rdma_write(ex, 1, 2);
	ibv_wr_set_sge(ex, 1, 2, 3);
	ibv_wr_flush(ex, 1, 2, 1UL << 33, 0, 0);
	ibv_wr_atomic_write(ex, 1, 2, data);
	CHECK_EQ(ibv_wr_complete(ex), EINVAL);
	CHECK(!fake_take(&fake.sq));
	CHECK_EQ(fake.doorbells, 0);
	CHECK(ONE(ex, ibv_wr_send(ex)) != NULL);	/* the next batch is fine */
}

TEST(wr__complete_rings_once)
{
	struct ibv_qp_ex *ex = ready(IBV_QPT_RC, ALL_RC);
	const struct sroce_send_wqe *w;
	int i;

	fake.sq.ctrl->flags = SROCE_RING_NEED_WAKEUP;
	ibv_wr_start(ex);
	for (i = 0; i < 5; i++) {
		ex->wr_id = i;
		ibv_wr_send(ex);
		CHECK(!sroce_ring_used(&fake.sq));	/* nothing before complete */
	}
	CHECK_EQ(ibv_wr_complete(ex), 0);
	CHECK_EQ(fake.doorbells, 1);
	CHECK_EQ(fake.doorbell.hdr.command, IB_USER_VERBS_CMD_POST_SEND);
	for (i = 0; (w = fake_take(&fake.sq)); i++)
		CHECK_EQ(w->wr_id, i);
	CHECK_EQ(i, 5);
	ibv_wr_start(ex);
	CHECK_EQ(ibv_wr_complete(ex), 0);		/* an empty batch */
	CHECK_EQ(fake.doorbells, 1);
	fake.write_error = EIO;
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	CHECK_EQ(ibv_wr_complete(ex), EIO);
}

TEST(wr__abort)
{
	struct ibv_qp_ex *ex = ready(IBV_QPT_RC, ALL_RC);
	int i;

	for (i = 0; i < 3; i++) {
		ibv_wr_start(ex);
		CHECK(fake_is_locked(&to_sqp_ex(ex)->sq.lock));
		ibv_wr_send(ex);
		ibv_wr_send(ex);
		ibv_wr_abort(ex);
		CHECK(!fake_is_locked(&to_sqp_ex(ex)->sq.lock));
	}
	CHECK(!fake_take(&fake.sq));
	ibv_wr_start(ex);
	for (i = 0; i < 8; i++)
		ibv_wr_send(ex);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	CHECK_EQ(sroce_ring_used(&fake.sq), 8);
}

TEST(wr__full_and_wrap)
{
	struct ibv_qp_ex *ex;
	const struct sroce_send_wqe *w;
	int i;

	fake.first_index = UINT32_MAX - 2;
	ex = ready(IBV_QPT_RC, ALL_RC);
	ibv_wr_start(ex);
	for (i = 0; i < 9; i++)
		ibv_wr_send(ex);
	CHECK_EQ(ibv_wr_complete(ex), ENOMEM);
	CHECK(!fake_take(&fake.sq));
	ibv_wr_start(ex);
	for (i = 0; i < 8; i++) {
		ex->wr_id = i;
		ibv_wr_send(ex);
	}
	CHECK_EQ(ibv_wr_complete(ex), 0);
	for (i = 0; (w = fake_take(&fake.sq)); i++)
		CHECK_EQ(w->wr_id, i);
	CHECK_EQ(i, 8);
	CHECK_EQ(fake.sq.ctrl->prod, 5);
}

TEST(wr__states)
{
	struct ibv_qp_ex *ex = ready(IBV_QPT_RC, ALL_RC);

	fake_modify(&ex->qp_base, IBV_QPS_RTR);
	CHECK_EQ(ERR(ex, (ibv_wr_send(ex), ibv_wr_set_sge(ex, 1, 2, 3))), EINVAL);
	fake_modify(&ex->qp_base, IBV_QPS_ERR);
	CHECK(ONE(ex, ibv_wr_send(ex)) != NULL);
	fake.sq.ctrl->flags = SROCE_RING_DEAD;
	CHECK_EQ(ERR(ex, ibv_wr_send(ex)), EIO);
}

TEST(wr__operations_of_each_type)
{
	struct ibv_qp_ex *ex = ready(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);

	CHECK(to_sqp_ex(ex)->vqp.comp_mask & VERBS_QP_EX);
	CHECK(ex->wr_send && !ex->wr_rdma_write && !ex->wr_set_ud_addr && !ex->wr_send_tso);
	CHECK(!fake_qp_ex(IBV_QPT_RC, fake_cq(), IBV_QP_EX_WITH_TSO));
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(!fake_qp_ex(IBV_QPT_UC, fake_cq(), IBV_QP_EX_WITH_RDMA_READ));
	CHECK(!fake_qp_ex(IBV_QPT_UC, fake_cq(), IBV_QP_EX_WITH_SEND_WITH_INV));
	CHECK(!fake_qp_ex(IBV_QPT_UD, fake_cq(), IBV_QP_EX_WITH_RDMA_WRITE));
	CHECK(fake_qp_ex(IBV_QPT_UC, fake_cq(), IBV_QP_EX_WITH_RDMA_WRITE) != NULL);
	CHECK_EQ(fake.destroyed_qps, 4);
}
