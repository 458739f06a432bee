// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * States and attributes of a queue pair. A modify is checked as a whole before
 * any of it takes effect.
 */
#include "qp.h"
#include "trace.h"

static int check_path(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask,
		      struct sroce_path *path)
{
	u32 dest = mask & IB_QP_DEST_QPN ? attr->dest_qp_num : qp->attr.dest_qp_num;

	if (!(mask & IB_QP_AV))
		return 0;
	return sroce_path_init(path, &attr->ah_attr, qp->qpn, dest);
}

static int check_mtu(struct sroce_qp *qp, const struct ib_qp_attr *attr)
{
	struct ib_port_attr port;
	int err;

	err = ib_query_port(&qp->dev->ibdev, 1, &port);
	if (err)
		return err;
	return sroce_mtu_bytes(attr->path_mtu) && attr->path_mtu <= port.active_mtu ? 0 : -EINVAL;
}

static int check_attr(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index != 0)
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU && check_mtu(qp, attr))
		return -EINVAL;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > SROCE_MAX_INIT_RD_ATOMIC)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > SROCE_MAX_RD_ATOMIC)
		return -EINVAL;
	if ((mask & IB_QP_TIMEOUT && attr->timeout > 31) ||
	    (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31) ||
	    (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7) ||
	    (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7))
		return -EINVAL;
	if (mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE))
		return -EOPNOTSUPP;
	return 0;
}

static void apply_requester(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct sroce_req *req = &qp->req;

	if (mask & IB_QP_TIMEOUT) {
		qp->attr.timeout = attr->timeout;
		req->ack_timeout_ns = sroce_ack_timeout_ns(attr->timeout);
	}
	if (mask & IB_QP_RETRY_CNT) {
		qp->attr.retry_cnt = attr->retry_cnt;
		req->retry_cnt = attr->retry_cnt;
		req->retry_left = attr->retry_cnt;
	}
	if (mask & IB_QP_RNR_RETRY) {
		qp->attr.rnr_retry = attr->rnr_retry;
		req->rnr_retry = attr->rnr_retry;
		req->rnr_left = attr->rnr_retry;
	}
	if (mask & IB_QP_MAX_QP_RD_ATOMIC) {
		qp->attr.max_rd_atomic = attr->max_rd_atomic;
		req->max_rd_atomic = attr->max_rd_atomic;
	}
	if (mask & IB_QP_SQ_PSN)
		qp->attr.sq_psn = attr->sq_psn & SROCE_PSN_MASK;
}

static void apply_responder(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_MIN_RNR_TIMER) {
		qp->attr.min_rnr_timer = attr->min_rnr_timer;
		qp->resp.min_rnr_timer = attr->min_rnr_timer;
	}
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC) {
		qp->attr.max_dest_rd_atomic = attr->max_dest_rd_atomic;
		qp->resp.max_res = attr->max_dest_rd_atomic;
	}
	if (mask & IB_QP_RQ_PSN)
		qp->attr.rq_psn = attr->rq_psn & SROCE_PSN_MASK;
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->attr.qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_QKEY) {
		qp->attr.qkey = attr->qkey;
		qp->sq_rules.qkey = attr->qkey;
	}
}

static void set_mtu(struct sroce_qp *qp, enum ib_mtu mtu)
{
	qp->attr.path_mtu = mtu;
	qp->req.mtu = sroce_mtu_bytes(mtu);
	qp->resp.mtu = qp->req.mtu;
	if (qp->transport == SROCE_UD)
		qp->sq_rules.max_bytes = qp->req.mtu;
}

static void apply_both(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask,
		       const struct sroce_path *path)
{
	if (mask & IB_QP_PORT)
		qp->attr.port_num = attr->port_num;
	if (mask & IB_QP_PKEY_INDEX) {
		qp->attr.pkey_index = attr->pkey_index;
		qp->req.pkey = SROCE_PKEY_DEFAULT;
		qp->resp.pkey = SROCE_PKEY_DEFAULT;
	}
	if (mask & IB_QP_PATH_MTU)
		set_mtu(qp, attr->path_mtu);
	if (mask & IB_QP_DEST_QPN) {
		qp->attr.dest_qp_num = attr->dest_qp_num & SROCE_PSN_MASK;
		qp->req.dest_qpn = qp->attr.dest_qp_num;
		qp->resp.dest_qpn = qp->attr.dest_qp_num;
	}
	if (mask & IB_QP_AV) {
		qp->attr.ah_attr = attr->ah_attr;
		qp->path = *path;
		dst_cache_reset(&qp->cache);
	}
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		qp->attr.en_sqd_async_notify = attr->en_sqd_async_notify;
}

/* The datagram QPs send up to the port's MTU. */
static void begin_ud(struct sroce_qp *qp)
{
	struct ib_port_attr port;

	if (qp->transport == SROCE_UD && !ib_query_port(&qp->dev->ibdev, 1, &port))
		set_mtu(qp, port.active_mtu);
}

/* Reliable transports only: what is done about losses, by what is set now. */
static void begin_responder(struct sroce_qp *qp)
{
	sroce_resp_start(&qp->resp, qp->attr.rq_psn);
	if (!qp->resp.reliable)
		return;
	qp->resp.hold.max_bytes = READ_ONCE(qp->dev->hold_bytes);
	qp->resp.selective = qp->ece & SROCE_ECE_SACK && qp->resp.hold.max_bytes;
}

static void begin_requester(struct sroce_qp *qp)
{
	if (qp->req.reliable) {
		qp->req.hold = READ_ONCE(qp->dev->hold_bytes);
		qp->req.early = READ_ONCE(qp->dev->early_retransmit);
		qp->req.selective = qp->ece & SROCE_ECE_SACK;
	}
	sroce_req_start(&qp->req, qp->attr.sq_psn);
}

static void enter_state(struct sroce_qp *qp, enum sroce_qp_state from, enum sroce_qp_state to)
{
	switch (to) {
	case SROCE_QPS_RTR:
		if (from == SROCE_QPS_INIT)
			begin_responder(qp);
		break;
	case SROCE_QPS_RTS:
		if (from == SROCE_QPS_RTR)
			begin_requester(qp);
		else if (from == SROCE_QPS_SQE)
			sroce_req_start(&qp->req, qp->req.next_psn);
		qp->req.draining = false;
		break;
	case SROCE_QPS_SQD:
		qp->req.draining = true;
		if (from != SROCE_QPS_SQD)
			qp->drained_told = !qp->attr.en_sqd_async_notify;
		break;
	case SROCE_QPS_ERR:
		if (from != SROCE_QPS_ERR)
			set_bit(SROCE_DUE_FLUSH, &qp->due);
		break;
	default:
		break;
	}
	/* Pairs with the acquire in rx.c: who sees the state sees path and numbers. */
	smp_store_release(&qp->state, to);
	if (from != to)
		trace_sroce_qp_state(qp, from, to);
}

/* To RESET: queues emptied, both sides of the rings begin at 0 again. */
static void reset(struct sroce_qp *qp)
{
	sroce_qp_quiesce(qp);
	spin_lock_bh(&qp->req_lock);
	if (qp->sq_mem) {
		sroce_ring_rewind(&qp->sq);
		qp->sq.ctrl->flags = SROCE_RING_NEED_WAKEUP;
	}
	if (qp->rq_mem)
		sroce_ring_rewind(&qp->rq);
	qp->sq_prod = 0;
	qp->rq_prod = 0;
	qp->comm_est_told = false;
	qp->last_wqe_told = false;
	spin_unlock_bh(&qp->req_lock);
}

static int check_transition(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask,
			    enum ib_qp_state *from, enum ib_qp_state *to)
{
	*from = READ_ONCE(qp->state);
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != *from)
		return -EINVAL;
	*to = mask & IB_QP_STATE ? attr->qp_state : *from;
	return ib_modify_qp_is_ok(*from, *to, qp->ibqp.qp_type, mask) ? 0 : -EINVAL;
}

/* The options that the two ends agreed on, if the provider brings some. */
static int take_ece(struct sroce_qp *qp, struct ib_udata *udata, u32 *ece)
{
	struct sroce_ureq_modify_qp ureq;
	int err;

	*ece = qp->ece;
	if (!udata || udata->inlen < sizeof(ureq))
		return 0;
	err = ib_copy_from_udata(&ureq, udata, sizeof(ureq));
	if (!err)
		*ece = ureq.ece_options & sroce_ece_offer(qp->dev);
	return err;
}

int sroce_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	enum ib_qp_state from, to;
	struct sroce_path path;
	u32 ece;
	int err;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	err = check_transition(qp, attr, mask, &from, &to);
	err = err ?: check_attr(qp, attr, mask);
	err = err ?: check_path(qp, attr, mask, &path);
	err = err ?: take_ece(qp, udata, &ece);
	if (err)
		return err;
	if (to == IB_QPS_RESET) {
		reset(qp);
		return 0;
	}
	if (from == IB_QPS_INIT && to == IB_QPS_RTR)
		begin_ud(qp);

	spin_lock_bh(&qp->req_lock);
	spin_lock(&qp->resp_lock);
	/* The data path may have moved it to an error state meanwhile. */
	if (READ_ONCE(qp->withdrawn)) {
		err = -EIO;
	} else if (READ_ONCE(qp->state) != from && to != IB_QPS_ERR) {
		err = -EINVAL;
	} else {
		qp->ece = ece;
		apply_requester(qp, attr, mask);
		apply_responder(qp, attr, mask);
		apply_both(qp, attr, mask, &path);
		if (from == IB_QPS_INIT && to == IB_QPS_RTR)
			sroce_rp_start(qp);
		else if (mask & IB_QP_AV)
			sroce_rp_set_path(qp);
		enter_state(qp, READ_ONCE(qp->state), (enum sroce_qp_state)to);
	}
	spin_unlock(&qp->resp_lock);
	spin_unlock_bh(&qp->req_lock);
	sroce_pump_post(qp);
	return err;
}

int sroce_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct sroce_qp *qp = to_sqp(ibqp);

	spin_lock_bh(&qp->req_lock);
	spin_lock(&qp->resp_lock);
	*attr = qp->attr;
	attr->qp_state = (enum ib_qp_state)qp->state;
	attr->cur_qp_state = attr->qp_state;
	attr->sq_psn = qp->req.next_psn;
	attr->rq_psn = qp->resp.epsn;
	attr->sq_draining = qp->state == SROCE_QPS_SQD && !sroce_req_drained(&qp->req);
	spin_unlock(&qp->resp_lock);
	spin_unlock_bh(&qp->req_lock);
	/* Who found req_lock taken meanwhile relies on us. */
	sroce_pump_post(qp);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sq_rules.sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	return 0;
}
