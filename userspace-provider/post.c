// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting of work requests: ibv_post_send(), ibv_post_recv(), ibv_post_srq_recv(),
 * ibv_bind_mw().
 *
 * A list is filled into the ring and published once. If one of it is bad, those
 * before it are published. The doorbell is rung after the lock is free, since the
 * kernel sends packets in that call.
 */
#include "sroce_abi.h"
#include "wqe.h"

#define QPT(type)	(1U << IBV_QPT_##type)
#define QPT_CONNECTED	(QPT(RC) | QPT(UC) | QPT(XRC_SEND))
#define QPT_RELIABLE	(QPT(RC) | QPT(XRC_SEND))

enum wr_form {
	FORM_NONE,		/* not an operation of this call */
	FORM_SEND,
	FORM_RDMA,
	FORM_ATOMIC,
	FORM_LOCAL_INV,
	FORM_BIND_MW,
};

/* What ibv_post_send() takes; FLUSH has no place in struct ibv_send_wr. */
static const struct wr_op {
	enum wr_form form;
	uint32_t qp_types;
	bool may_inline;
} wr_ops[] = {
	[IBV_WR_RDMA_WRITE]		= { FORM_RDMA, QPT_CONNECTED, true },
	[IBV_WR_RDMA_WRITE_WITH_IMM]	= { FORM_RDMA, QPT_CONNECTED, true },
	[IBV_WR_SEND]			= { FORM_SEND, QPT_CONNECTED | QPT(UD), true },
	[IBV_WR_SEND_WITH_IMM]		= { FORM_SEND, QPT_CONNECTED | QPT(UD), true },
	[IBV_WR_SEND_WITH_INV]		= { FORM_SEND, QPT_RELIABLE, true },
	[IBV_WR_RDMA_READ]		= { FORM_RDMA, QPT_RELIABLE },
	[IBV_WR_ATOMIC_CMP_AND_SWP]	= { FORM_ATOMIC, QPT_RELIABLE },
	[IBV_WR_ATOMIC_FETCH_AND_ADD]	= { FORM_ATOMIC, QPT_RELIABLE },
	[IBV_WR_ATOMIC_WRITE]		= { FORM_RDMA, QPT_RELIABLE, true },
	[IBV_WR_LOCAL_INV]		= { FORM_LOCAL_INV, QPT_CONNECTED },
	[IBV_WR_BIND_MW]		= { FORM_BIND_MW, QPT_CONNECTED },
};

#define SEND_FLAGS	(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE)

#define STATE(s)	(1U << IBV_QPS_##s)
#define MAY_SEND	(STATE(RTS) | STATE(SQD) | STATE(SQE) | STATE(ERR))
#define MAY_RECV	(MAY_SEND | STATE(INIT) | STATE(RTR))

/* Under the lock of the queue: may something be posted to it now? */
static int may_post(const struct sroce_qp *qp, const struct sroce_queue *q, uint32_t states)
{
	if (!q->ring.ctrl || !(states & (1U << qp->state)))
		return EINVAL;
	return sroce_queue_is_dead(q) ? EIO : 0;
}

int sroce_qp_may_send(const struct sroce_qp *qp)
{
	return may_post(qp, &qp->sq, MAY_SEND);
}

static int fill_data(const struct sroce_qp *qp, struct sroce_send_wqe *wqe,
		     const struct ibv_send_wr *wr)
{
	int i, err = 0;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->sq.max_sge)
		return EINVAL;
	if (!(wr->send_flags & IBV_SEND_INLINE))
		return sroce_wqe_set_sges(qp, wqe, wr->sg_list, wr->num_sge);
	for (i = 0; i < wr->num_sge && !err; i++)
		err = sroce_wqe_append_inline(qp, wqe, (void *)(uintptr_t)wr->sg_list[i].addr,
					      wr->sg_list[i].length);
	return err;
}

static int fill_send(const struct sroce_qp *qp, struct sroce_send_wqe *wqe,
		     const struct ibv_send_wr *wr)
{
	wqe->ex = wr->invalidate_rkey;		/* shares its place with imm_data */
	if (qp->vqp.qp.qp_type == IBV_QPT_UD) {
		if (!wr->wr.ud.ah)
			return EINVAL;
		wqe->ud.ah_id = to_sah(wr->wr.ud.ah)->ah_id;
		wqe->ud.remote_qpn = wr->wr.ud.remote_qpn;
		wqe->ud.remote_qkey = wr->wr.ud.remote_qkey;
	}
	return fill_data(qp, wqe, wr);
}

static int fill_rdma(const struct sroce_qp *qp, struct sroce_send_wqe *wqe,
		     const struct ibv_send_wr *wr)
{
	wqe->ex = wr->invalidate_rkey;
	wqe->rdma.remote_addr = wr->wr.rdma.remote_addr;
	wqe->rdma.rkey = wr->wr.rdma.rkey;
	return fill_data(qp, wqe, wr);
}

static int fill_atomic(const struct sroce_qp *qp, struct sroce_send_wqe *wqe,
		       const struct ibv_send_wr *wr)
{
	wqe->atomic.remote_addr = wr->wr.atomic.remote_addr;
	wqe->atomic.compare_add = wr->wr.atomic.compare_add;
	wqe->atomic.swap = wr->wr.atomic.swap;
	wqe->atomic.rkey = wr->wr.atomic.rkey;
	return fill_data(qp, wqe, wr);
}

static int fill_wqe(const struct sroce_qp *qp, struct sroce_send_wqe *wqe,
		    const struct ibv_send_wr *wr)
{
	const struct wr_op *op;

	if ((unsigned int)wr->opcode >= sizeof(wr_ops) / sizeof(wr_ops[0]))
		return EINVAL;
	op = &wr_ops[wr->opcode];
	if (!(op->qp_types & (1U << qp->vqp.qp.qp_type)) || (wr->send_flags & ~SEND_FLAGS) ||
	    ((wr->send_flags & IBV_SEND_INLINE) && !op->may_inline))
		return EINVAL;

	sroce_wqe_init(qp, wqe, wr->wr_id, wr->opcode, wr->send_flags);
	if (qp->vqp.qp.qp_type == IBV_QPT_XRC_SEND)
		wqe->srqn = wr->qp_type.xrc.remote_srqn;
	switch (op->form) {
	case FORM_SEND:
		return fill_send(qp, wqe, wr);
	case FORM_RDMA:
		return fill_rdma(qp, wqe, wr);
	case FORM_ATOMIC:
		return fill_atomic(qp, wqe, wr);
	case FORM_LOCAL_INV:
		wqe->ex = wr->invalidate_rkey;
		return 0;
	case FORM_BIND_MW:
		sroce_wqe_set_bind_mw(wqe, wr->bind_mw.mw, wr->bind_mw.rkey,
				      &wr->bind_mw.bind_info);
		return 0;
	case FORM_NONE:
		break;
	}
	return EINVAL;
}

int sroce_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	struct ibv_send_wr *first = wr;
	uint32_t filled = 0;
	int err, lost;
	bool wake;

	sroce_lock(&qp->sq.lock);
	err = sroce_qp_may_send(qp);
	while (wr && !err) {
		if (!sroce_queue_has_room(&qp->sq, filled))
			err = ENOMEM;
		else
			err = fill_wqe(qp, sroce_queue_slot(&qp->sq, filled), wr);
		if (!err) {
			filled++;
			wr = wr->next;
		}
	}
	wake = sroce_queue_publish(&qp->sq, filled);
	sroce_unlock(&qp->sq.lock);

	if (err)
		*bad_wr = wr;
	if (!wake)
		return err;
	lost = sroce_doorbell(ibqp->context, IB_USER_VERBS_CMD_POST_SEND, ibqp->handle);
	if (lost)
		*bad_wr = first;
	return lost ? lost : err;
}

/* Under the lock of @q: fill and publish a list. */
static int post_recv_list(struct sroce_queue *q, struct ibv_recv_wr *wr,
			  struct ibv_recv_wr **bad_wr, bool *wake)
{
	struct sroce_recv_wqe *wqe;
	uint32_t filled = 0;
	int err = 0;

	for (; wr; wr = wr->next) {
		if (wr->num_sge < 0 || (uint32_t)wr->num_sge > q->max_sge) {
			err = EINVAL;
			break;
		}
		if (!sroce_queue_has_room(q, filled)) {
			err = ENOMEM;
			break;
		}
		wqe = sroce_queue_slot(q, filled++);
		wqe->wr_id = wr->wr_id;
		wqe->num_sge = wr->num_sge;
		wqe->rsvd0 = 0;
		if (wr->num_sge)
			memcpy(wqe + 1, wr->sg_list, wr->num_sge * sizeof(*wr->sg_list));
	}
	*wake = sroce_queue_publish(q, filled);
	if (err)
		*bad_wr = wr;
	return err;
}

int sroce_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	bool wake = false;
	int err, lost = 0;

	sroce_lock(&qp->rq.lock);
	err = may_post(qp, &qp->rq, MAY_RECV);
	if (err)
		*bad_wr = wr;
	else
		err = post_recv_list(&qp->rq, wr, bad_wr, &wake);
	sroce_unlock(&qp->rq.lock);

	if (wake)
		lost = sroce_doorbell(ibqp->context, IB_USER_VERBS_CMD_POST_RECV, ibqp->handle);
	if (lost)
		*bad_wr = wr;
	return lost ? lost : err;
}

int sroce_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr)
{
	struct sroce_srq *srq = to_ssrq(ibsrq);
	bool wake = false;
	int err, lost = 0;

	sroce_lock(&srq->q.lock);
	err = sroce_queue_is_dead(&srq->q) ? EIO : 0;
	if (err)
		*bad_wr = wr;
	else
		err = post_recv_list(&srq->q, wr, bad_wr, &wake);
	sroce_unlock(&srq->q.lock);

	if (wake)
		lost = sroce_doorbell(ibsrq->context, IB_USER_VERBS_CMD_POST_SRQ_RECV,
				      ibsrq->handle);
	if (lost)
		*bad_wr = wr;
	return lost ? lost : err;
}

/* Type 1 windows; the library has checked that. */
int sroce_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr *bad_wr, wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags & ~IBV_SEND_INLINE,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = bind->bind_info,
		},
	};
	int err;

	if (bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED)
		return EINVAL;
	err = sroce_post_send(ibqp, &wr, &bad_wr);
	if (!err)
		mw->rkey = wr.bind_mw.rkey;
	return err;
}
