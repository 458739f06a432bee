// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The way of a WQE into the driver: kernel consumers write the same ring format
 * as the provider, and from the ring every WQE is decoded once (proto/wqe.c) into
 * memory that no process can reach.
 */
#include "qp.h"

/* Take over what was published on the SQ. Slots stay the producer's until completion. */
void sroce_sq_pull(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	u32 end;

	lockdep_assert_held(&qp->req_lock);
	if (!qp->sq_mem)
		return;
	end = qp->sq.cons + sroce_ring_used(&qp->sq);
	/* A hostile producer may take entries back; those we have stay ours. */
	if (end - qp->sq.cons < req->tail - qp->sq.cons)
		return;
	for (; req->tail != end; req->tail++)
		sroce_swqe_decode(&qp->sq_rules, sroce_ring_slot(&qp->sq, req->tail),
				  sroce_req_wqe(req, req->tail));
}

/* Take one receive WQE out of the RQ; false when it is empty. */
bool sroce_rq_pull(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->resp_lock);
	if (!qp->rq_mem || !sroce_ring_used(&qp->rq))
		return false;
	sroce_rwqe_decode(sroce_ring_slot(&qp->rq, qp->rq.cons), qp->max_recv_sge, &qp->rwqe);
	sroce_ring_release(&qp->rq, 1);
	return true;
}

int sroce_recv_pull(struct sroce_qp *qp, u64 bytes)
{
	struct sroce_rwqe *rwqe = &qp->rwqe;

	lockdep_assert_held(&qp->resp_lock);
	if (!rwqe->valid && qp->srq)
		return sroce_srq_pull(qp->srq, rwqe, bytes);
	if (!rwqe->valid && !sroce_rq_pull(qp))
		return -ENOENT;
	return rwqe->bad || rwqe->length >= bytes ? 0 : -EMSGSIZE;
}

/* ---- kernel consumers ---- */

static int fill_sges(struct sroce_sge *to, const struct ib_sge *from, int n, u32 max)
{
	int i;

	if (n < 0 || n > max)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		to[i].addr = from[i].addr;
		to[i].length = from[i].length;
		to[i].lkey = from[i].lkey;
	}
	return 0;
}

static int fill_inline(struct sroce_qp *qp, struct sroce_send_wqe *wqe,
		       const struct ib_send_wr *wr)
{
	u8 *to = (u8 *)(wqe + 1);
	u32 bytes = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > qp->sq_rules.max_inline - bytes)
			return -EINVAL;
		memcpy(to + bytes, (void *)(uintptr_t)sge->addr, sge->length);
		bytes += sge->length;
	}
	wqe->length = bytes;
	return 0;
}

static int fill_operands(struct sroce_send_wqe *wqe, struct sroce_qp *qp,
			 const struct ib_send_wr *wr)
{
	if (qp->transport == SROCE_UD) {
		if (!ud_wr(wr)->ah)
			return -EINVAL;
		wqe->ud.ah_id = to_sah(ud_wr(wr)->ah)->id;
		wqe->ud.remote_qpn = ud_wr(wr)->remote_qpn;
		wqe->ud.remote_qkey = ud_wr(wr)->remote_qkey;
		return 0;
	}
	switch ((u32)wr->opcode) {
	case SROCE_WR_WRITE:
	case SROCE_WR_WRITE_IMM:
	case SROCE_WR_READ:
	case SROCE_WR_ATOMIC_WRITE:
		wqe->rdma.remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rdma.rkey = rdma_wr(wr)->rkey;
		break;
	case SROCE_WR_CMP_SWP:
	case SROCE_WR_FETCH_ADD:
		wqe->atomic.remote_addr = atomic_wr(wr)->remote_addr;
		wqe->atomic.compare_add = atomic_wr(wr)->compare_add;
		wqe->atomic.swap = atomic_wr(wr)->swap;
		wqe->atomic.rkey = atomic_wr(wr)->rkey;
		break;
	case SROCE_WR_REG_MR:
		wqe->bind_mw.mr_lkey = reg_wr(wr)->mr->lkey;
		wqe->bind_mw.new_rkey = reg_wr(wr)->key;
		wqe->bind_mw.access = reg_wr(wr)->access;
		break;
	default:
		break;
	}
	return 0;
}

static int fill_send(struct sroce_qp *qp, struct sroce_send_wqe *wqe, const struct ib_send_wr *wr)
{
	int err;

	/* There is no ib_send_wr for FLUSH: only processes can ask for it. */
	if (wr->opcode > U8_MAX || (u32)wr->opcode == SROCE_WR_FLUSH ||
	    !sroce_sq_takes(qp->sq_rules.ops, wr->opcode))
		return -EOPNOTSUPP;
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags & (IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED |
				       IB_SEND_INLINE);
	wqe->ex = wr->opcode == IB_WR_LOCAL_INV || wr->opcode == IB_WR_SEND_WITH_INV ?
		  wr->ex.invalidate_rkey : (__force u32)wr->ex.imm_data;
	if (wr->opcode == IB_WR_REG_MR || wr->opcode == IB_WR_LOCAL_INV)
		return fill_operands(wqe, qp, wr);
	if (wr->send_flags & IB_SEND_INLINE)
		err = fill_inline(qp, wqe, wr);
	else
		err = fill_sges((struct sroce_sge *)(wqe + 1), wr->sg_list, wr->num_sge,
				qp->sq_rules.max_sge);
	wqe->num_sge = wr->num_sge;
	return err ?: fill_operands(wqe, qp, wr);
}

static int post_send_list(struct sroce_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad_wr)
{
	struct sroce_ring_ctrl *ctrl = qp->sq.ctrl;
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&qp->post_lock, flags);
	for (; wr; wr = wr->next) {
		/* (A) of sroce/ring.h */
		if (qp->sq_prod - smp_load_acquire(&ctrl->cons) > qp->sq.mask)
			err = -ENOMEM;
		else
			err = fill_send(qp, sroce_ring_slot(&qp->sq, qp->sq_prod), wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		qp->sq_prod++;
	}
	/* (C) of sroce/ring.h */
	smp_store_release(&ctrl->prod, qp->sq_prod);
	spin_unlock_irqrestore(&qp->post_lock, flags);
	return err;
}

int sroce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	int err = 0;

	if (!(sroce_qp_allows(qp) & SROCE_MAY_POST_SEND) || !qp->sq_mem) {
		*bad_wr = wr;
		return -EINVAL;
	}
	/* A process rings the doorbell with an empty list; its WQEs are in the ring. */
	if (!qp->is_user)
		err = post_send_list(qp, wr, bad_wr);
	sroce_pump_post(qp);
	return err;
}

int sroce_rwqe_fill(struct sroce_recv_wqe *wqe, const struct ib_recv_wr *wr, u32 max_sge)
{
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	return fill_sges((struct sroce_sge *)(wqe + 1), wr->sg_list, wr->num_sge, max_sge);
}

int sroce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	struct sroce_ring_ctrl *ctrl = qp->rq.ctrl;
	unsigned long flags;
	int err = 0;

	if (!(sroce_qp_allows(qp) & SROCE_MAY_POST_RECV) || !qp->rq_mem) {
		*bad_wr = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->rpost_lock, flags);
	for (; wr && !qp->is_user; wr = wr->next) {
		struct sroce_recv_wqe *wqe = sroce_ring_slot(&qp->rq, qp->rq_prod);

		/* (A) of sroce/ring.h */
		if (qp->rq_prod - smp_load_acquire(&ctrl->cons) > qp->rq.mask)
			err = -ENOMEM;
		else
			err = sroce_rwqe_fill(wqe, wr, qp->max_recv_sge);
		if (err) {
			*bad_wr = wr;
			break;
		}
		/* (C) of sroce/ring.h */
		smp_store_release(&ctrl->prod, ++qp->rq_prod);
	}
	spin_unlock_irqrestore(&qp->rpost_lock, flags);
	sroce_respond_post(qp);
	return err;
}
