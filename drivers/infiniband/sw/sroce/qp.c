// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Life of a queue pair. The order of teardown is that of Documentation/locking.md:
 *
 *   1. state RESET under both locks: nothing new is sent, taken or timed
 *   2. number withdrawn, socket disconnected: neither packets nor skbs find it
 *   3. grace period: receives and destructors under way are over
 *   4. timers cancelled
 *   5. route cache, socket, rings, memory freed
 */
#include <linux/slab.h>
#include <net/sock.h>
#include <rdma/uverbs_ioctl.h>

#include "context.h"
#include "mw.h"
#include "qp.h"
#include "trace.h"

/* QP numbers of all devices. A number is not reused before the others were. */
static DEFINE_XARRAY_ALLOC(qp_table);
static u32 qpn_next;

/* There was a socket that called write_space(). */
static bool had_sock;

#define QPN_FIRST	16
#define QPN_LAST	0xfffffe

/* PSNs in flight. */
#define REQ_WINDOW	128

int sroce_qp_table_init(void)
{
	qpn_next = QPN_FIRST + get_random_u32_below(QPN_LAST / 2);
	return 0;
}

void sroce_qp_table_exit(void)
{
	WARN_ON(!xa_empty(&qp_table));
	xa_destroy(&qp_table);
	/* A task may have been preempted on its way from sock_wfree() to our write_space(). */
	if (IS_ENABLED(CONFIG_PREEMPTION) && had_sock)
		synchronize_rcu_tasks();
}

struct sroce_qp *sroce_qp_find(u32 qpn)
{
	return xa_load(&qp_table, qpn);
}

/* ---- errors and what follows from them ---- */

static void to_state(struct sroce_qp *qp, enum sroce_qp_state state)
{
	int from = xchg(&qp->state, state);

	if (from != state) {
		trace_sroce_qp_state(qp, from, state);
		set_bit(SROCE_DUE_FLUSH, &qp->due);
	}
}

void sroce_qp_error(struct sroce_qp *qp, int due)
{
	if (READ_ONCE(qp->state) == SROCE_QPS_RESET)
		return;
	to_state(qp, SROCE_QPS_ERR);
	if (due >= 0)
		set_bit(due, &qp->due);
}

void sroce_qp_send_error(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->req_lock);
	if (qp->req.reliable)
		sroce_qp_error(qp, -1);
	else if (READ_ONCE(qp->state) == SROCE_QPS_RTS || READ_ONCE(qp->state) == SROCE_QPS_SQD)
		to_state(qp, SROCE_QPS_SQE);
}

static const struct {
	enum sroce_qp_due due;
	enum ib_event_type event;
} due_events[] = {
	{ SROCE_DUE_EV_COMM_EST, IB_EVENT_COMM_EST },
	{ SROCE_DUE_EV_SQ_DRAINED, IB_EVENT_SQ_DRAINED },
	{ SROCE_DUE_EV_REQ_ERR, IB_EVENT_QP_REQ_ERR },
	{ SROCE_DUE_EV_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR },
	{ SROCE_DUE_EV_FATAL, IB_EVENT_QP_FATAL },
	{ SROCE_DUE_EV_LAST_WQE, IB_EVENT_QP_LAST_WQE_REACHED },
};

static void report_events(struct sroce_qp *qp)
{
	struct ib_event event = { .device = &qp->dev->ibdev };
	int i;

	for (i = 0; i < ARRAY_SIZE(due_events); i++) {
		if (!test_and_clear_bit(due_events[i].due, &qp->due))
			continue;
		event.event = due_events[i].event;
		event.element.qp = &qp->ibqp;
		if (qp->ibqp.event_handler)
			qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
	}
}

void sroce_qp_unwind(struct sroce_qp *qp)
{
	/* Pairs with the barrier after set_bit(SROCE_DUE_PUMP): see sroce_pump(). */
	smp_mb();
	sroce_pump(qp);
	while (test_and_clear_bit(SROCE_DUE_FLUSH, &qp->due)) {
		sroce_pump_flush(qp);
		sroce_respond_flush(qp);
		/* As above: a note may have been left while the flush held req_lock. */
		smp_mb();
		sroce_pump(qp);
	}
	if (READ_ONCE(qp->due))
		report_events(qp);
	if (qp->ibqp.send_cq)
		sroce_cq_upcall(sroce_qp_scq(qp));
	if (qp->ibqp.recv_cq && qp->ibqp.recv_cq != qp->ibqp.send_cq)
		sroce_cq_upcall(sroce_qp_rcq(qp));
	if (qp->ibqp.srq)
		sroce_srq_upcall(to_ssrq(qp->ibqp.srq));
}

/* ---- the socket that owns our skbs ---- */

/* An skb of ours is gone. Any context. */
static void write_space(struct sock *sk)
{
	struct sroce_qp *qp;

	rcu_read_lock();
	qp = rcu_dereference_sk_user_data(sk);
	if (qp && test_and_clear_bit(SROCE_DUE_SPACE_REQ, &qp->due))
		sroce_qp_kick(&qp->req_timer);
	if (qp && test_and_clear_bit(SROCE_DUE_SPACE_RESP, &qp->due))
		sroce_qp_kick(&qp->resp_timer);
	rcu_read_unlock();
}

/*
 * It only counts, and is in the namespace that never goes: an skb may outlive the
 * QP, the module, and the namespace that it was sent from.
 */
static int open_sock(struct sroce_qp *qp)
{
	struct sock *sk;
	int err;

	err = sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, 0, &qp->sock);
	if (err)
		return err;
	sk = qp->sock->sk;
	sk->sk_sndbuf = INT_MAX;
	sk->sk_allocation = GFP_ATOMIC;
	WRITE_ONCE(had_sock, true);
	qp->write_space = sk->sk_write_space;
	WRITE_ONCE(sk->sk_write_space, write_space);
	rcu_assign_sk_user_data(sk, qp);
	return 0;
}

/* From now on nobody enters write_space(); a grace period later nobody finds the QP there. */
static void forget_sock(struct sroce_qp *qp)
{
	struct sock *sk = qp->sock->sk;

	WRITE_ONCE(sk->sk_write_space, qp->write_space);
	rcu_assign_sk_user_data(sk, NULL);
}

/* ---- creation ---- */

/* What a QP of this type must have besides, and must not. */
static bool parts_ok(const struct ib_qp_init_attr *init)
{
	switch (init->qp_type) {
	case IB_QPT_XRC_TGT:
		return init->xrcd;
	case IB_QPT_XRC_INI:
		return init->send_cq && !init->srq;
	case IB_QPT_GSI:
		return init->send_cq && init->recv_cq && !init->srq;
	default:
		return init->send_cq && init->recv_cq &&
		       (!init->srq || init->srq->srq_type == IB_SRQT_BASIC);
	}
}

/* Queues that a QP of this type does not have are not made, whatever was asked for. */
static void trim_cap(const struct ib_qp_init_attr *init, struct ib_qp_cap *cap)
{
	if (init->srq || init->qp_type == IB_QPT_XRC_INI || init->qp_type == IB_QPT_XRC_TGT) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
	}
	if (init->qp_type == IB_QPT_XRC_TGT) {
		cap->max_send_wr = 0;
		cap->max_send_sge = 0;
		cap->max_inline_data = 0;
	}
}

static int check_init(const struct ib_qp_init_attr *init, const struct sroce_qp *qp)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->create_flags)
		return -EOPNOTSUPP;
	if (!parts_ok(init))
		return -EINVAL;
	if (cap->max_send_wr > SROCE_MAX_QP_WR || cap->max_recv_wr > SROCE_MAX_QP_WR ||
	    cap->max_send_sge > SROCE_MAX_SGE || cap->max_recv_sge > SROCE_MAX_SGE ||
	    cap->max_inline_data > SROCE_MAX_INLINE)
		return -EINVAL;
	if (init->qp_type == IB_QPT_GSI && rcu_access_pointer(qp->dev->gsi_qp))
		return -EBUSY;
	return 0;
}

static int transport_of(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_RC:
		return SROCE_RC;
	case IB_QPT_UC:
		return SROCE_UC;
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return SROCE_XRC;
	case IB_QPT_UD:
	case IB_QPT_GSI:
		return SROCE_UD;
	default:
		return -EOPNOTSUPP;
	}
}

static void init_struct(struct sroce_qp *qp, const struct ib_qp_init_attr *init, int transport)
{
	qp->transport = transport;
	qp->xrcd = init->xrcd;
	qp->srq = sroce_qp_is_xrc_tgt(qp) ? NULL : to_ssrq(init->srq);
	qp->state = SROCE_QPS_RESET;
	spin_lock_init(&qp->req_lock);
	spin_lock_init(&qp->resp_lock);
	spin_lock_init(&qp->post_lock);
	spin_lock_init(&qp->rpost_lock);
	sroce_rp_init(&qp->rp);
	hrtimer_setup(&qp->req_timer, sroce_req_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	hrtimer_setup(&qp->resp_timer, sroce_resp_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	qp->req_armed_ns = SROCE_NEVER;
	INIT_LIST_HEAD(&qp->windows);
	atomic_set(&qp->ip_id, get_random_u16());
	qp->req.transport = transport;
	qp->req.reliable = transport == SROCE_RC || transport == SROCE_XRC;
	qp->req.window = REQ_WINDOW;
	qp->req.cwnd = U32_MAX;
	qp->req.ackreq_every = SROCE_REQ_ACKREQ;
	qp->sq_rules.ops = sroce_sq_ops(transport, qp->is_user);
	qp->sq_rules.max_bytes = SROCE_MAX_MSG_BYTES;
	qp->sq_rules.datagram = transport == SROCE_UD;
	qp->sq_rules.sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->resp.transport = transport;
	qp->resp.reliable = qp->req.reliable;
}

static int create_sq(struct sroce_qp *qp, struct ib_qp_cap *cap, struct ib_ucontext *uctx,
		     struct sroce_ring_info *info)
{
	u32 entries = roundup_pow_of_two(max(cap->max_send_wr, 1U));
	u32 data;

	if (!sroce_qp_requests(qp))
		return 0;
	data = max_t(u32, cap->max_send_sge * sizeof(struct sroce_sge), cap->max_inline_data);
	data = ALIGN(max_t(u32, data, sizeof(struct sroce_sge)), 64);
	qp->sq_rules.max_sge = cap->max_send_sge;
	qp->sq_rules.max_inline = min_t(u32, data, SROCE_MAX_INLINE);
	qp->req.stride = sizeof(struct sroce_swqe) + data;
	qp->req.mask = entries - 1;
	qp->req.wqes = kvcalloc(entries, qp->req.stride, GFP_KERNEL_ACCOUNT);
	if (!qp->req.wqes)
		return -ENOMEM;
	qp->sq_mem = sroce_ring_create(uctx, &qp->sq, entries,
				       sizeof(struct sroce_send_wqe) + data, info);
	if (IS_ERR(qp->sq_mem))
		return PTR_ERR(qp->sq_mem);
	qp->sq.ctrl->flags = SROCE_RING_NEED_WAKEUP;
	cap->max_send_wr = entries;
	cap->max_inline_data = qp->sq_rules.max_inline;
	return 0;
}

static int create_rq(struct sroce_qp *qp, struct ib_qp_cap *cap, struct ib_ucontext *uctx,
		     struct sroce_ring_info *info)
{
	u32 entries = roundup_pow_of_two(max(cap->max_recv_wr, 1U));

	if (qp->srq || qp->transport == SROCE_XRC)
		return 0;
	qp->max_recv_sge = cap->max_recv_sge;
	qp->rq_mem = sroce_ring_create(uctx, &qp->rq, entries,
				       sizeof(struct sroce_recv_wqe) +
				       cap->max_recv_sge * sizeof(struct sroce_sge), info);
	if (IS_ERR(qp->rq_mem))
		return PTR_ERR(qp->rq_mem);
	cap->max_recv_wr = entries;
	return 0;
}

static int alloc_qpn(struct sroce_qp *qp, enum ib_qp_type type)
{
	int err;

	if (type == IB_QPT_GSI) {
		qp->qpn = SROCE_QPN_GSI;
		return 0;
	}
	err = xa_alloc_cyclic(&qp_table, &qp->qpn, NULL, XA_LIMIT(QPN_FIRST, QPN_LAST), &qpn_next,
			      GFP_KERNEL);
	return err < 0 ? err : 0;
}

static void free_qpn(struct sroce_qp *qp)
{
	if (qp->qpn == SROCE_QPN_GSI)
		rcu_assign_pointer(qp->dev->gsi_qp, NULL);
	else if (qp->qpn)
		xa_erase(&qp_table, qp->qpn);
}

/* From here on packets find it, unless it comes too late. */
static int publish(struct sroce_qp *qp)
{
	struct sroce_dev *dev = qp->dev;
	int err = 0;

	mutex_lock(&dev->qps_lock);
	if (qp->uctx && qp->uctx->at_rest)
		err = -EIO;
	else if (qp->qpn == SROCE_QPN_GSI)
		rcu_assign_pointer(dev->gsi_qp, qp);
	else
		xa_store(&qp_table, qp->qpn, qp, GFP_KERNEL);
	if (!err)
		list_add(&qp->node, &dev->qps);
	mutex_unlock(&dev->qps_lock);
	return err;
}

static void free_parts(struct sroce_qp *qp)
{
	if (qp->sock)
		sock_release(qp->sock);
	sroce_ring_destroy(qp->sq_mem);
	sroce_ring_destroy(qp->rq_mem);
	kvfree(qp->req.wqes);
	if (qp->ibqp.qp_type != IB_QPT_GSI)
		sroce_object_put(&qp->dev->objects, SROCE_OBJ_QP);
}

static int respond_to_user(struct sroce_qp *qp, struct ib_udata *udata,
			   struct sroce_uresp_create_qp *uresp)
{
	if (!udata)
		return 0;
	uresp->qpn = qp->qpn;
	uresp->max_inline = qp->sq_rules.max_inline;
	uresp->max_send_sge = qp->sq_rules.max_sge;
	uresp->max_recv_sge = qp->max_recv_sge;
	if (udata->outlen < sizeof(*uresp))
		return -EINVAL;
	return ib_copy_to_udata(udata, uresp, sizeof(*uresp));
}

int sroce_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct ib_ucontext *uctx = udata ? rdma_udata_to_uverbs_attr_bundle(udata)->context : NULL;
	struct sroce_uresp_create_qp uresp = {};
	struct sroce_qp *qp = to_sqp(ibqp);
	int transport, err;

	transport = transport_of(init->qp_type);
	if (transport < 0)
		return transport;
	qp->dev = to_sdev(ibqp->device);
	qp->counters = qp->dev->counters;
	qp->is_user = udata;
	/* Other contexts may have the same target open. */
	qp->uctx = uctx && init->qp_type != IB_QPT_XRC_TGT ? to_suctx(uctx) : NULL;
	trim_cap(init, &init->cap);
	err = check_init(init, qp);
	if (err)
		return err;
	/* The port's own QP is none of those that there may be. */
	if (init->qp_type != IB_QPT_GSI)
		err = sroce_object_take(&qp->dev->objects, SROCE_OBJ_QP);
	if (err)
		return err;
	init_struct(qp, init, transport);

	err = dst_cache_init(&qp->cache, GFP_KERNEL);
	err = err ?: open_sock(qp);
	err = err ?: create_sq(qp, &init->cap, uctx, &uresp.sq);
	err = err ?: create_rq(qp, &init->cap, uctx, &uresp.rq);
	err = err ?: alloc_qpn(qp, init->qp_type);
	if (err)
		goto free;
	ibqp->qp_num = qp->qpn;
	qp->attr.cap = init->cap;
	sroce_req_reset(&qp->req);
	sroce_wake_reset(&qp->wake);
	sroce_resp_reset(&qp->resp);
	err = respond_to_user(qp, udata, &uresp);
	err = err ?: publish(qp);
	if (err)
		goto free_qpn;
	return 0;

free_qpn:
	free_qpn(qp);
free:
	dst_cache_destroy(&qp->cache);
	free_parts(qp);
	return err;
}

/* ---- the end ---- */

static void cancel_timers(struct sroce_qp *qp)
{
	hrtimer_cancel(&qp->req_timer);
	hrtimer_cancel(&qp->resp_timer);
}

void sroce_qp_quiesce(struct sroce_qp *qp)
{
	spin_lock_bh(&qp->req_lock);
	spin_lock(&qp->resp_lock);
	trace_sroce_qp_state(qp, qp->state, SROCE_QPS_RESET);
	WRITE_ONCE(qp->state, SROCE_QPS_RESET);
	sroce_req_reset(&qp->req);
	sroce_wake_reset(&qp->wake);
	sroce_ahead_drop(qp);
	sroce_resp_reset(&qp->resp);
	qp->rwqe.valid = false;
	qp->ece = 0;
	qp->due = 0;
	spin_unlock(&qp->resp_lock);
	spin_unlock_bh(&qp->req_lock);
	cancel_timers(qp);
	qp->req_armed_ns = SROCE_NEVER;
}

/*
 * To RESET for good, and nobody finds it any more. Returns false if that was done
 * before. Those who found it until now are gone a grace period later, and with
 * them who might start a timer.
 */
static bool withdraw(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->dev->qps_lock);
	if (qp->withdrawn)
		return false;
	/* sroce_modify_qp() looks at it under the locks that come next. */
	WRITE_ONCE(qp->withdrawn, true);
	sroce_qp_quiesce(qp);
	free_qpn(qp);
	forget_sock(qp);
	return true;
}

void sroce_qp_rest(struct sroce_ucontext *uctx)
{
	struct sroce_dev *dev = to_sdev(uctx->ibuc.device);
	struct sroce_qp *qp;

	mutex_lock(&dev->qps_lock);
	list_for_each_entry(qp, &dev->qps, node)
		if (qp->uctx == uctx)
			withdraw(qp);
	synchronize_rcu_expedited();
	list_for_each_entry(qp, &dev->qps, node)
		if (qp->uctx == uctx)
			cancel_timers(qp);
	/* Pairs with the acquire in sroce_context_leaves(). */
	smp_store_release(&uctx->at_rest, true);
	mutex_unlock(&dev->qps_lock);
}

int sroce_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	struct sroce_dev *dev = qp->dev;
	bool found;

	sroce_context_leaves(udata);
	mutex_lock(&dev->qps_lock);
	found = withdraw(qp);
	mutex_unlock(&dev->qps_lock);
	sroce_mw_qp_gone(qp);
	if (qp->num_groups)
		sroce_mcast_qp_gone(qp);
	/* A packet to a group may have found it later than the others. */
	if (found || qp->had_group) {
		synchronize_rcu_expedited();
		cancel_timers(qp);
	}

	if (ibqp->send_cq)
		sroce_cq_settle(sroce_qp_scq(qp));
	if (ibqp->recv_cq)
		sroce_cq_settle(sroce_qp_rcq(qp));

	mutex_lock(&dev->qps_lock);
	list_del(&qp->node);
	dst_cache_destroy(&qp->cache);
	mutex_unlock(&dev->qps_lock);
	free_parts(qp);
	return 0;
}

void sroce_qp_forget_routes(struct sroce_dev *dev)
{
	struct sroce_qp *qp;

	mutex_lock(&dev->qps_lock);
	list_for_each_entry(qp, &dev->qps, node)
		dst_cache_reset_now(&qp->cache);
	mutex_unlock(&dev->qps_lock);
}
