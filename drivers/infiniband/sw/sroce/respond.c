// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder's shell: executes what proto/resp.c lets through, completes
 * receives, sends the answers. All in the receive softirq; a READ answer longer
 * than the budget goes on in resp_timer's softirq. What comes ahead of its turn is
 * held (ahead.c) and handled as if it came then.
 */
#include "mem.h"
#include "qp.h"
#include "trace.h"
#include "tx.h"

#define RESPOND_BUDGET		256

/* ---- receive completions ---- */

/* Of an XRC SRQ its own; NULL if that SRQ is gone. RCU read lock held. */
static struct sroce_cq *recv_cq(const struct sroce_qp *qp)
{
	const struct sroce_srq *srq;

	if (!sroce_qp_is_xrc_tgt(qp))
		return sroce_qp_rcq(qp);
	srq = sroce_xrc_srq_find(qp->dev, qp->xrcd, qp->rwqe.srqn);
	return srq ? to_scq(srq->ibsrq.ext.cq) : NULL;
}

static void complete_recv(struct sroce_qp *qp, enum sroce_status status,
			  const struct sroce_pkt *pkt, const struct sroce_resp_do *todo)
{
	struct sroce_cqe cqe = {
		.wr_id = qp->rwqe.wr_id,
		.qpn = qp->qpn,
		.src_qpn = qp->resp.dest_qpn,
		.status = status,
		.opcode = IB_WC_RECV,
	};
	struct sroce_cq *cq = recv_cq(qp);

	qp->rwqe.valid = false;
	if (!cq)
		return;
	if (status == SROCE_ST_SUCCESS) {
		cqe.byte_len = todo->msg_bytes;
		if (pkt->headers & SROCE_H_IMMDT) {
			cqe.wc_flags |= SROCE_WC_WITH_IMM;
			cqe.ex = (__force u32)pkt->imm;
		}
		if (pkt->headers & SROCE_H_IETH) {
			cqe.wc_flags |= SROCE_WC_WITH_INV;
			cqe.ex = pkt->inv_rkey;
		}
		if (todo->act == SROCE_ACT_WRITE)
			cqe.opcode = IB_WC_RECV_RDMA_WITH_IMM;
	} else if (status == SROCE_ST_WR_FLUSH_ERR) {
		sroce_qp_count(qp, SROCE_CNT_RESP_CQE_FLUSH_ERROR);
	} else {
		sroce_qp_count(qp, SROCE_CNT_RESP_CQE_ERROR);
	}
	sroce_cqe_set_qp(&cqe, &qp->ibqp);
	sroce_cq_post(cq, &cqe, status != SROCE_ST_SUCCESS || (pkt && pkt->solicited));
}

/*
 * The consumer's own fault. A reliable QP tells its peer first, and goes to ERR when
 * the NAK has left; UC has nobody to tell.
 */
static enum sroce_resp_result fail_recv(struct sroce_qp *qp, enum sroce_status status)
{
	complete_recv(qp, status, NULL, NULL);
	if (!qp->resp.reliable)
		sroce_qp_error(qp, -1);
	return SROCE_RESULT_REM_OP;
}

/* Have a receive WQE in qp->rwqe. */
static enum sroce_resp_result need_recv(struct sroce_qp *qp)
{
	if (sroce_recv_pull(qp, 0))
		return SROCE_RESULT_RNR;
	return qp->rwqe.bad ? fail_recv(qp, SROCE_ST_LOC_QP_OP_ERR) : SROCE_RESULT_OK;
}

/* ---- execution ---- */

/* For whom memory that a request names by key is accessed; XRC: in the PD of the SRQ in hand. */
static struct sroce_accessor requester_of(const struct sroce_qp *qp)
{
	struct sroce_accessor by = sroce_qp_accessor(qp);

	if (sroce_qp_is_xrc_tgt(qp))
		by.pd = qp->srq->ibsrq.pd;
	return by;
}

static bool qp_grants(const struct sroce_qp *qp, int access)
{
	return qp->attr.qp_access_flags & access;
}

static enum sroce_resp_result do_send(struct sroce_qp *qp, struct sk_buff *skb, u32 offset,
				      const struct sroce_pkt *pkt,
				      const struct sroce_resp_do *todo)
{
	struct sroce_accessor by = requester_of(qp);
	enum sroce_resp_result result;

	if (todo->recv) {
		result = need_recv(qp);
		if (result != SROCE_RESULT_OK)
			return result;
	}
	if (todo->msg_bytes > qp->rwqe.length) {
		sroce_qp_count(qp, SROCE_CNT_RESP_LOCAL_LENGTH_ERROR);
		/* UC drops the message, and the receive is for the next one. */
		if (qp->resp.reliable)
			complete_recv(qp, SROCE_ST_LOC_LEN_ERR, NULL, NULL);
		return SROCE_RESULT_INV_REQ;
	}
	if (pkt->payload_bytes &&
	    sroce_sgl_write_skb(qp->dev, sroce_qp_recv_pd(qp), qp->rwqe.sge, qp->rwqe.num_sge,
				todo->offset, skb, offset, pkt->payload_bytes))
		return fail_recv(qp, SROCE_ST_LOC_PROT_ERR);
	if (!todo->end)
		return SROCE_RESULT_OK;
	if (pkt->headers & SROCE_H_IETH && sroce_mem_invalidate(&by, pkt->inv_rkey, true)) {
		complete_recv(qp, SROCE_ST_LOC_ACCESS_ERR, NULL, NULL);
		return SROCE_RESULT_REM_ACC;
	}
	complete_recv(qp, SROCE_ST_SUCCESS, pkt, todo);
	return SROCE_RESULT_OK;
}

static enum sroce_resp_result do_write(struct sroce_qp *qp, struct sk_buff *skb, u32 offset,
				       const struct sroce_pkt *pkt,
				       const struct sroce_resp_do *todo)
{
	struct sroce_accessor by = requester_of(qp);
	enum sroce_resp_result result;

	if (!qp_grants(qp, IB_ACCESS_REMOTE_WRITE))
		return SROCE_RESULT_INV_REQ;
	/* The key of an empty WRITE is not checked (C9-88). */
	if (todo->start && todo->bytes &&
	    !sroce_mr_find(&by, todo->rkey, IB_ACCESS_REMOTE_WRITE, todo->va, todo->bytes))
		return SROCE_RESULT_REM_ACC;
	if (todo->recv) {
		result = need_recv(qp);
		if (result != SROCE_RESULT_OK)
			return result;
	}
	if (pkt->payload_bytes &&
	    sroce_mem_write_skb(&by, todo->rkey, IB_ACCESS_REMOTE_WRITE, todo->va, skb, offset,
				pkt->payload_bytes))
		return SROCE_RESULT_REM_ACC;
	if (todo->end)
		sroce_qp_count(qp, SROCE_CNT_RX_WRITE_REQUESTS);
	if (todo->recv)
		complete_recv(qp, SROCE_ST_SUCCESS, pkt, todo);
	return SROCE_RESULT_OK;
}

static enum sroce_resp_result do_read(struct sroce_qp *qp, const struct sroce_resp_do *todo)
{
	struct sroce_accessor by = requester_of(qp);

	if (!qp_grants(qp, IB_ACCESS_REMOTE_READ))
		return SROCE_RESULT_INV_REQ;
	if (todo->bytes &&
	    !sroce_mr_find(&by, todo->rkey, IB_ACCESS_REMOTE_READ, todo->va, todo->bytes))
		return SROCE_RESULT_REM_ACC;
	sroce_qp_count(qp, SROCE_CNT_RX_READ_REQUESTS);
	return SROCE_RESULT_OK;
}

static enum sroce_resp_result do_atomic(struct sroce_qp *qp, const struct sroce_pkt *pkt,
					struct sroce_resp_do *todo)
{
	bool cmp_swp = (pkt->opcode & SROCE_OP_MASK) == SROCE_OP_COMPARE_SWAP;
	struct sroce_accessor by = requester_of(qp);

	if (!qp_grants(qp, IB_ACCESS_REMOTE_ATOMIC))
		return SROCE_RESULT_INV_REQ;
	switch (sroce_mem_atomic(&by, pkt->rkey, pkt->va, cmp_swp, pkt->compare, pkt->swap_add,
				 &todo->orig)) {
	case 0:
		sroce_qp_count(qp, SROCE_CNT_RX_ATOMIC_REQUESTS);
		return SROCE_RESULT_OK;
	case -EINVAL:
		return SROCE_RESULT_INV_REQ;
	default:
		return SROCE_RESULT_REM_ACC;
	}
}

static enum sroce_resp_result do_atomic_write(struct sroce_qp *qp, struct sk_buff *skb,
					      u32 offset, const struct sroce_pkt *pkt)
{
	struct sroce_accessor by = requester_of(qp);
	u64 value;

	if (!qp_grants(qp, IB_ACCESS_REMOTE_WRITE))
		return SROCE_RESULT_INV_REQ;
	if (skb_copy_bits(skb, offset, &value, sizeof(value)))
		return SROCE_RESULT_REM_OP;
	if (sroce_mem_atomic_write(&by, pkt->rkey, pkt->va, value))
		return SROCE_RESULT_REM_ACC;
	return SROCE_RESULT_OK;
}

static int flush_access(u32 feth)
{
	return (feth & SROCE_FETH_PLT_VISIBLE ? IB_ACCESS_FLUSH_GLOBAL : 0) |
	       (feth & SROCE_FETH_PLT_PERSISTENT ? IB_ACCESS_FLUSH_PERSISTENT : 0);
}

static enum sroce_resp_result do_flush(struct sroce_qp *qp, const struct sroce_pkt *pkt,
				       const struct sroce_resp_do *todo)
{
	u32 selectivity = (pkt->feth & SROCE_FETH_SEL_MASK) >> SROCE_FETH_SEL_SHIFT;
	struct sroce_accessor by = requester_of(qp);
	int access = flush_access(pkt->feth);

	if (!access || (qp->attr.qp_access_flags & access) != access ||
	    selectivity > SROCE_FETH_SEL_REGION)
		return SROCE_RESULT_INV_REQ;
	return sroce_mem_flush(&by, todo->rkey, access, selectivity == SROCE_FETH_SEL_REGION,
			       todo->va, todo->bytes) ? SROCE_RESULT_REM_ACC : SROCE_RESULT_OK;
}

static enum sroce_resp_result execute(struct sroce_qp *qp, struct sk_buff *skb, u32 offset,
				      const struct sroce_pkt *pkt, struct sroce_resp_do *todo)
{
	if (sroce_qp_is_xrc_tgt(qp) && !qp->srq)
		return SROCE_RESULT_INV_REQ;
	switch (todo->act) {
	case SROCE_ACT_SEND:
		return do_send(qp, skb, offset, pkt, todo);
	case SROCE_ACT_WRITE:
		return do_write(qp, skb, offset, pkt, todo);
	case SROCE_ACT_READ:
		return do_read(qp, todo);
	case SROCE_ACT_ATOMIC:
		return do_atomic(qp, pkt, todo);
	case SROCE_ACT_ATOMIC_WRITE:
		return do_atomic_write(qp, skb, offset, pkt);
	case SROCE_ACT_FLUSH:
		return do_flush(qp, pkt, todo);
	}
	return SROCE_RESULT_REM_OP;
}

/* ---- answers ---- */

/* Where the data of a READ response are; false if the SRQ that an XRC READ named is gone. */
static bool describe_read(const struct sroce_qp *qp, const struct sroce_resp_out *out,
			  struct sroce_payload *payload)
{
	const struct sroce_srq *srq = NULL;

	if (sroce_qp_is_xrc_tgt(qp)) {
		srq = sroce_xrc_srq_find(qp->dev, qp->xrcd, out->srqn);
		if (!srq)
			return false;
	}
	payload->kind = SROCE_PAYLOAD_MR;
	payload->pd = srq ? srq->ibsrq.pd : qp->ibqp.pd;
	payload->va = out->va;
	payload->rkey = out->rkey;
	return true;
}

static void read_failed(struct sroce_qp *qp, const struct sroce_resp_out *out)
{
	sroce_qp_count(qp, SROCE_CNT_RESP_REMOTE_ACCESS_ERRORS);
	sroce_resp_read_failed(&qp->resp, out);
}

static void send_answer(struct sroce_qp *qp, struct sroce_tx *tx, struct sroce_resp_out *out,
			enum sroce_resp_what what)
{
	struct sroce_payload payload = { .kind = SROCE_PAYLOAD_NONE };

	trace_sroce_answer(qp, &out->pkt, out->again);
	if ((what == SROCE_RESP_READ_DATA && !describe_read(qp, out, &payload)) ||
	    sroce_tx_add(tx, &out->pkt, &payload))
		read_failed(qp, out);
}

/* All of the next responses of a READ, at most @budget, but the last. */
static void open_stretch(const struct sroce_qp *qp, const struct sroce_resp_out *out, u32 budget,
			 const struct sroce_payload *payload, struct sroce_stretch *stretch)
{
	u32 n = sroce_resp_middle_left(&qp->resp, out);
	struct sroce_accessor by = sroce_qp_accessor(qp);

	by.pd = payload->pd;
	sroce_stretch_open(stretch, &by, out->rkey, IB_ACCESS_REMOTE_READ, out->va,
			   min(n, budget) * qp->resp.mtu);
}

/* The READ responses that follow @out and are like it; returns how many. */
static int send_read_row(struct sroce_qp *qp, struct sroce_tx *tx, struct sroce_resp_out *out,
			 int budget)
{
	struct sroce_payload payload = { .kind = SROCE_PAYLOAD_NONE };
	struct sroce_stretch stretch;
	int n = 0;

	while (n < budget && sroce_tx_row_goes_on(tx, SROCE_DUE_SPACE_RESP) &&
	       sroce_resp_more(&qp->resp, out)) {
		if (!n) {
			if (!describe_read(qp, out, &payload)) {
				read_failed(qp, out);
				return 1;
			}
			open_stretch(qp, out, budget, &payload, &stretch);
			payload.stretch = &stretch;
		}
		n++;
		payload.va = out->va;
		trace_sroce_answer(qp, &out->pkt, out->again);
		if (sroce_tx_more(tx, &out->pkt, &payload)) {
			read_failed(qp, out);
			break;
		}
	}
	return n;
}

static void refused(struct sroce_qp *qp, u32 psn)
{
	u64 pause = sroce_resp_refused(&qp->resp, psn);

	if (pause != SROCE_NEVER)
		hrtimer_start(&qp->resp_timer, ktime_add_ns(ktime_get(), pause),
			      HRTIMER_MODE_ABS_SOFT);
}

/* Unless it comes sooner anyway. */
static void wake_at(struct hrtimer *timer, u64 when_ns)
{
	if (!hrtimer_is_queued(timer) || ktime_to_ns(hrtimer_get_expires(timer)) > when_ns)
		hrtimer_start(timer, ns_to_ktime(when_ns), HRTIMER_MODE_ABS_SOFT);
}

static void send_answers(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;
	enum sroce_resp_what what;
	struct sroce_resp_out out;
	int budget = RESPOND_BUDGET;
	struct sroce_tx tx;
	bool paced;
	u64 turn_ns;

	/* What is in a shared queue is promised to nobody (IBA 9.7.7.2). */
	resp->credits = qp->rq_mem ? sroce_credits_encode(sroce_ring_used(&qp->rq)) :
				     SROCE_AETH_NO_CREDITS;
	sroce_tx_begin(&tx, qp, &qp->path, &qp->cache);
	while (budget-- && !tx.refused && sroce_tx_has_room(qp, SROCE_DUE_SPACE_RESP)) {
		paced = sroce_rp_is_paced(qp) && sroce_resp_next_is_read(resp);
		if (paced && sroce_rp_wait(qp, &qp->resp_turn, &turn_ns)) {
			wake_at(&qp->resp_timer, turn_ns);
			break;
		}
		what = sroce_resp_next(resp, &out);
		if (what == SROCE_RESP_NOTHING)
			break;
		send_answer(qp, &tx, &out, what);
		if (paced)
			sroce_rp_sent(qp, &qp->resp_turn, sroce_pkt_udp_payload(&out.pkt));
		else if (what == SROCE_RESP_READ_DATA)
			budget -= send_read_row(qp, &tx, &out, budget);
	}
	sroce_tx_end(&tx);
	if (tx.refused)
		refused(qp, tx.refused_psn);
	else if (budget < 0)
		sroce_qp_kick(&qp->resp_timer);
}

/* Which event tells the consumer why the responder gave up. */
static int fatal_event(const struct sroce_resp *resp)
{
	if (resp->nak_syndrome == SROCE_NAK_REM_ACC)
		return SROCE_DUE_EV_ACCESS_ERR;
	if (resp->nak_syndrome == SROCE_NAK_INV_REQ)
		return SROCE_DUE_EV_REQ_ERR;
	return SROCE_DUE_EV_FATAL;
}

static void respond_locked(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;

	lockdep_assert_held(&qp->resp_lock);
	if (sroce_resp_pending(resp))
		send_answers(qp);
	/* The NAK is the last thing the peer hears from this connection. */
	if (resp->dead && !sroce_resp_pending(resp) &&
	    sroce_qp_allows(qp) & SROCE_MAY_RESPOND)
		sroce_qp_error(qp, fatal_event(resp));
}

static const struct {
	u32 event;
	enum sroce_counter counter;
} event_counters[] = {
	{ SROCE_RESP_EV_OUT_OF_SEQ, SROCE_CNT_OUT_OF_SEQUENCE },
	{ SROCE_RESP_EV_DUPLICATE, SROCE_CNT_DUPLICATE_REQUEST },
	{ SROCE_RESP_EV_RNR, SROCE_CNT_OUT_OF_BUFFER },
	{ SROCE_RESP_EV_REM_ACC, SROCE_CNT_RESP_REMOTE_ACCESS_ERRORS },
	{ SROCE_RESP_EV_DROPPED, SROCE_CNT_RX_DROP_REQUEST },
	{ SROCE_RESP_EV_HELD, SROCE_CNT_RX_HELD },
};

static void count_events(struct sroce_qp *qp, u32 events)
{
	int i;

	if (!events)
		return;
	for (i = 0; i < ARRAY_SIZE(event_counters); i++)
		if (events & event_counters[i].event)
			sroce_qp_count(qp, event_counters[i].counter);
}

static void handle(struct sroce_qp *qp, struct sk_buff *skb, u32 payload_offset,
		   const struct sroce_pkt *pkt)
{
	struct sroce_resp_do todo;

	trace_sroce_request(qp, pkt, false);
	sroce_resp_on_packet(&qp->resp, pkt, &todo);
	if (todo.act == SROCE_ACT_HOLD)
		sroce_ahead_keep(qp, skb, payload_offset, pkt, &todo);
	else if (todo.act != SROCE_ACT_DROP)
		sroce_resp_commit(&qp->resp, pkt, &todo,
				  execute(qp, skb, payload_offset, pkt, &todo));
	count_events(qp, todo.events);
}

static void handle_ahead(struct sroce_qp *qp, const struct sroce_ahead *ahead)
{
	/* It may have come by another way meanwhile, or the connection is over. */
	if (!qp->resp.dead && ahead->held.psn == qp->resp.epsn)
		handle(qp, ahead->skb, ahead->payload, &ahead->pkt);
}

/* XRC: the SRQ of a request is looked up for it, and told after the unlock. */
static struct sroce_srq *begin_xrc(struct sroce_qp *qp, u32 srqn)
{
	if (sroce_qp_is_xrc_tgt(qp))
		qp->srq = sroce_xrc_srq_find(qp->dev, qp->xrcd, srqn);
	return sroce_qp_is_xrc_tgt(qp) ? qp->srq : NULL;
}

static void end_xrc(struct sroce_qp *qp)
{
	if (sroce_qp_is_xrc_tgt(qp))
		qp->srq = NULL;
}

/* What was held and is due, one by one. RCU read lock held. */
static void respond_due(struct sroce_qp *qp)
{
	struct sroce_ahead *ahead;
	struct sroce_srq *srq;

	do {
		srq = NULL;
		spin_lock(&qp->resp_lock);
		ahead = sroce_ahead_due(qp);
		if (ahead && sroce_qp_allows(qp) & SROCE_MAY_RESPOND) {
			srq = begin_xrc(qp, ahead->pkt.srqn);
			handle_ahead(qp, ahead);
			end_xrc(qp);
		}
		spin_unlock(&qp->resp_lock);
		if (srq)
			sroce_srq_upcall(srq);
		sroce_ahead_free(ahead);
	} while (ahead);
}

/*
 * A request packet of RC, UC or XRC. @more: sroce_respond_more() follows.
 * Softirq, RCU read lock held.
 */
void sroce_respond_request(struct sroce_qp *qp, struct sk_buff *skb, u32 payload_offset,
			   const struct sroce_pkt *pkt, bool more)
{
	struct sroce_srq *srq;
	bool ahead = false;

	spin_lock(&qp->resp_lock);
	srq = begin_xrc(qp, pkt->srqn);
	if (sroce_qp_allows(qp) & SROCE_MAY_RESPOND) {
		if (READ_ONCE(qp->state) == SROCE_QPS_RTR && !qp->comm_est_told) {
			qp->comm_est_told = true;
			set_bit(SROCE_DUE_EV_COMM_EST, &qp->due);
		}
		handle(qp, skb, payload_offset, pkt);
		ahead = qp->resp.hold.packets;
		if (!more && !ahead)
			respond_locked(qp);
	}
	end_xrc(qp);
	spin_unlock(&qp->resp_lock);
	if (ahead)
		respond_due(qp);
	if (!more && ahead)
		sroce_respond_more(qp);
	else if (!more)
		sroce_qp_unwind(qp);
	if (srq)
		sroce_srq_upcall(srq);
}

/* Go on with the answers that are left. BH disabled, RCU read lock held. */
void sroce_respond_more(struct sroce_qp *qp)
{
	spin_lock(&qp->resp_lock);
	if (sroce_qp_allows(qp) & SROCE_MAY_RESPOND)
		respond_locked(qp);
	spin_unlock(&qp->resp_lock);
	sroce_qp_unwind(qp);
}

enum hrtimer_restart sroce_resp_timer(struct hrtimer *timer)
{
	struct sroce_qp *qp = container_of(timer, struct sroce_qp, resp_timer);

	rcu_read_lock();
	if (sroce_qp_allows(qp) & SROCE_MAY_FLUSH_RECV)
		sroce_respond_flush(qp);
	else
		sroce_respond_more(qp);
	sroce_qp_unwind(qp);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* ---- flush ---- */

/* All receives, the one in use first, complete with a flush error. */
static void flush_rq(struct sroce_qp *qp)
{
	u32 budget = RESPOND_BUDGET;

	sroce_ring_awake(&qp->rq);
	while (budget-- && (qp->rwqe.valid || sroce_rq_pull(qp)))
		complete_recv(qp, SROCE_ST_WR_FLUSH_ERR, NULL, NULL);
	if (sroce_ring_ask_wakeup(&qp->rq))
		sroce_qp_kick(&qp->resp_timer);
}

/* Only the receive in use is this QP's, and it takes no other one (IBA 10.2.9.5). */
static void flush_srq(struct sroce_qp *qp)
{
	if (qp->rwqe.valid)
		complete_recv(qp, SROCE_ST_WR_FLUSH_ERR, NULL, NULL);
	if (qp->last_wqe_told)
		return;
	qp->last_wqe_told = true;
	set_bit(SROCE_DUE_EV_LAST_WQE, &qp->due);
}

/* The QP is in ERR. RCU read lock held. */
void sroce_respond_flush(struct sroce_qp *qp)
{
	struct sroce_cq *xrc_cq = NULL;

	spin_lock(&qp->resp_lock);
	if (sroce_qp_allows(qp) & SROCE_MAY_FLUSH_RECV) {
		sroce_ahead_drop(qp);
		if (sroce_qp_is_xrc_tgt(qp) && qp->rwqe.valid)
			xrc_cq = recv_cq(qp);
		if (qp->srq || sroce_qp_is_xrc_tgt(qp))
			flush_srq(qp);
		else if (qp->rq_mem)
			flush_rq(qp);
	}
	spin_unlock(&qp->resp_lock);
	if (xrc_cq)
		sroce_cq_upcall(xrc_cq);
}

/* After a post to the receive queue: only a QP in ERR has to be told. */
void sroce_respond_post(struct sroce_qp *qp)
{
	if (!(sroce_qp_allows(qp) & SROCE_MAY_FLUSH_RECV))
		return;
	if (in_hardirq() || irqs_disabled()) {
		sroce_qp_kick(&qp->resp_timer);
		return;
	}
	local_bh_disable();
	rcu_read_lock();
	sroce_respond_flush(qp);
	sroce_qp_unwind(qp);
	rcu_read_unlock();
	local_bh_enable();
}
