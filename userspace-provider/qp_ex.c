// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The extended post API: ibv_wr_start(), operations and setters, ibv_wr_complete().
 *
 * The lock of the SQ is held from start to complete or abort. Operations fill one
 * slot after the other; complete publishes all of them, or none after an error.
 * The first error is kept, and what is called after it does nothing.
 */
#include "sroce_abi.h"
#include "wqe.h"

static void fail(struct sroce_qp *qp, int err)
{
	if (!qp->batch.error)
		qp->batch.error = err;
	qp->batch.wqe = NULL;
}

static void wr_start(struct ibv_qp_ex *ibqp)
{
	struct sroce_qp *qp = to_sqp_ex(ibqp);

	sroce_lock(&qp->sq.lock);
	qp->batch.wqe = NULL;
	qp->batch.count = 0;
	qp->batch.error = sroce_qp_may_send(qp);
}

static int wr_complete(struct ibv_qp_ex *ibqp)
{
	struct sroce_qp *qp = to_sqp_ex(ibqp);
	int err = qp->batch.error;
	bool wake = false;

	if (!err)
		wake = sroce_queue_publish(&qp->sq, qp->batch.count);
	qp->batch.wqe = NULL;
	sroce_unlock(&qp->sq.lock);

	if (!wake)
		return err;
	return sroce_doorbell(qp->vqp.qp.context, IB_USER_VERBS_CMD_POST_SEND,
			      qp->vqp.qp.handle);
}

static void wr_abort(struct ibv_qp_ex *ibqp)
{
	struct sroce_qp *qp = to_sqp_ex(ibqp);

	qp->batch.wqe = NULL;
	sroce_unlock(&qp->sq.lock);
}

#define WR_FLAGS	(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED)

/* Begin the next entry; NULL after an error. Whether its data is inline, a setter says. */
static struct sroce_send_wqe *begin(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode)
{
	struct sroce_qp *qp = to_sqp_ex(ibqp);
	struct sroce_send_wqe *wqe;

	if (qp->batch.error)
		return NULL;
	if (!sroce_queue_has_room(&qp->sq, qp->batch.count)) {
		fail(qp, ENOMEM);
		return NULL;
	}
	wqe = sroce_queue_slot(&qp->sq, qp->batch.count++);
	sroce_wqe_init(qp, wqe, ibqp->wr_id, opcode, ibqp->wr_flags & WR_FLAGS);
	qp->batch.wqe = wqe;
	return wqe;
}

static void begin_rdma(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode, uint32_t rkey,
		       uint64_t remote_addr, uint32_t ex)
{
	struct sroce_send_wqe *wqe = begin(ibqp, opcode);

	if (!wqe)
		return;
	wqe->rdma.remote_addr = remote_addr;
	wqe->rdma.rkey = rkey;
	wqe->ex = ex;
}

static void begin_atomic(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode, uint32_t rkey,
			 uint64_t remote_addr, uint64_t compare_add, uint64_t swap)
{
	struct sroce_send_wqe *wqe = begin(ibqp, opcode);

	if (!wqe)
		return;
	wqe->atomic.remote_addr = remote_addr;
	wqe->atomic.compare_add = compare_add;
	wqe->atomic.swap = swap;
	wqe->atomic.rkey = rkey;
}

static void begin_ex(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode, uint32_t ex)
{
	struct sroce_send_wqe *wqe = begin(ibqp, opcode);

	if (wqe)
		wqe->ex = ex;
}

static void wr_send(struct ibv_qp_ex *ibqp)
{
	begin_ex(ibqp, IBV_WR_SEND, 0);
}

static void wr_send_imm(struct ibv_qp_ex *ibqp, __be32 imm_data)
{
	begin_ex(ibqp, IBV_WR_SEND_WITH_IMM, (uint32_t)imm_data);
}

static void wr_send_inv(struct ibv_qp_ex *ibqp, uint32_t invalidate_rkey)
{
	begin_ex(ibqp, IBV_WR_SEND_WITH_INV, invalidate_rkey);
}

static void wr_rdma_write(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t remote_addr)
{
	begin_rdma(ibqp, IBV_WR_RDMA_WRITE, rkey, remote_addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t remote_addr,
			      __be32 imm_data)
{
	begin_rdma(ibqp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr, (uint32_t)imm_data);
}

static void wr_rdma_read(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t remote_addr)
{
	begin_rdma(ibqp, IBV_WR_RDMA_READ, rkey, remote_addr, 0);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t remote_addr,
			      uint64_t compare, uint64_t swap)
{
	begin_atomic(ibqp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t remote_addr,
				uint64_t add)
{
	begin_atomic(ibqp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, add, 0);
}

/* The 8 bytes travel inline. */
static void wr_atomic_write(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t remote_addr,
			    const void *data)
{
	struct sroce_qp *qp = to_sqp_ex(ibqp);
	int err;

	begin_rdma(ibqp, IBV_WR_ATOMIC_WRITE, rkey, remote_addr, 0);
	if (!qp->batch.wqe)
		return;
	err = sroce_wqe_append_inline(qp, qp->batch.wqe, data, 8);
	if (err)
		fail(qp, err);
}

static void wr_flush(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t remote_addr, size_t length,
		     uint8_t type, uint8_t level)
{
	struct sroce_send_wqe *wqe = begin(ibqp, IBV_WR_FLUSH);

	if (!wqe)
		return;
	if (length > UINT32_MAX) {
		fail(to_sqp_ex(ibqp), EINVAL);
		return;
	}
	wqe->flush.remote_addr = remote_addr;
	wqe->flush.rkey = rkey;
	wqe->flush.length = length;
	wqe->flush.placement = type;
	wqe->flush.selectivity = level;
}

static void wr_local_inv(struct ibv_qp_ex *ibqp, uint32_t invalidate_rkey)
{
	begin_ex(ibqp, IBV_WR_LOCAL_INV, invalidate_rkey);
}

static void wr_bind_mw(struct ibv_qp_ex *ibqp, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct sroce_send_wqe *wqe = begin(ibqp, IBV_WR_BIND_MW);

	if (wqe)
		sroce_wqe_set_bind_mw(wqe, mw, rkey, info);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ibqp, struct ibv_ah *ah, uint32_t remote_qpn,
			   uint32_t remote_qkey)
{
	struct sroce_send_wqe *wqe = to_sqp_ex(ibqp)->batch.wqe;

	if (!wqe)
		return;
	wqe->ud.ah_id = to_sah(ah)->ah_id;
	wqe->ud.remote_qpn = remote_qpn;
	wqe->ud.remote_qkey = remote_qkey;
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ibqp, uint32_t remote_srqn)
{
	struct sroce_send_wqe *wqe = to_sqp_ex(ibqp)->batch.wqe;

	if (wqe)
		wqe->srqn = remote_srqn;
}

static void wr_set_sge_list(struct ibv_qp_ex *ibqp, size_t num_sge, const struct ibv_sge *sg_list)
{
	struct sroce_qp *qp = to_sqp_ex(ibqp);
	int err;

	if (!qp->batch.wqe)
		return;
	err = sroce_wqe_set_sges(qp, qp->batch.wqe, sg_list, num_sge);
	if (err)
		fail(qp, err);
}

static void wr_set_sge(struct ibv_qp_ex *ibqp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(ibqp, 1, &sge);
}

/* An empty list of inline data is a message of no bytes. */
static void wr_set_inline_data_list(struct ibv_qp_ex *ibqp, size_t num_buf,
				    const struct ibv_data_buf *buf_list)
{
	struct sroce_qp *qp = to_sqp_ex(ibqp);
	int err = 0;
	size_t i;

	if (!qp->batch.wqe)
		return;
	qp->batch.wqe->length = 0;
	qp->batch.wqe->flags |= SROCE_SEND_INLINE;
	for (i = 0; i < num_buf && !err; i++)
		err = sroce_wqe_append_inline(qp, qp->batch.wqe, buf_list[i].addr,
					      buf_list[i].length);
	if (err)
		fail(qp, err);
}

static void wr_set_inline_data(struct ibv_qp_ex *ibqp, void *addr, size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(ibqp, 1, &buf);
}

#define UD_OPS		(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define UC_OPS		(UD_OPS | IBV_QP_EX_WITH_RDMA_WRITE |				\
			 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_LOCAL_INV |	\
			 IBV_QP_EX_WITH_BIND_MW)
#define RC_OPS		(UC_OPS | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_SEND_WITH_INV |	\
			 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |				\
			 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_FLUSH |	\
			 IBV_QP_EX_WITH_ATOMIC_WRITE)

static uint64_t ops_of_type(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return RC_OPS;
	case IBV_QPT_UC:
		return UC_OPS;
	case IBV_QPT_UD:
		return UD_OPS;
	default:
		return 0;
	}
}

static void set_operations(struct ibv_qp_ex *ex, uint64_t ops)
{
	if (ops & IBV_QP_EX_WITH_SEND)
		ex->wr_send = wr_send;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = wr_send_imm;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = wr_send_inv;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = wr_rdma_write;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = wr_rdma_write_imm;
	if (ops & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = wr_rdma_read;
	if (ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	if (ops & IBV_QP_EX_WITH_ATOMIC_WRITE)
		ex->wr_atomic_write = wr_atomic_write;
	if (ops & IBV_QP_EX_WITH_FLUSH)
		ex->wr_flush = wr_flush;
	if (ops & IBV_QP_EX_WITH_LOCAL_INV)
		ex->wr_local_inv = wr_local_inv;
	if (ops & IBV_QP_EX_WITH_BIND_MW)
		ex->wr_bind_mw = wr_bind_mw;
}

/**
 * sroce_qp_ex_init - give a QP the extended post API
 * @send_ops: the operations that the application wants (IBV_QP_EX_WITH_*)
 *
 * Returns 0, or EOPNOTSUPP if the QP's type does not have one of them.
 */
int sroce_qp_ex_init(struct sroce_qp *qp, uint64_t send_ops)
{
	enum ibv_qp_type type = qp->vqp.qp.qp_type;
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	if (!check_comp_mask(send_ops, ops_of_type(type)))
		return EOPNOTSUPP;

	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	set_operations(ex, send_ops);
	if (type == IBV_QPT_UD)
		ex->wr_set_ud_addr = wr_set_ud_addr;
	if (type == IBV_QPT_XRC_SEND)
		ex->wr_set_xrc_srqn = wr_set_xrc_srqn;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	qp->vqp.comp_mask |= VERBS_QP_EX;
	return 0;
}
