// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester's shell. One pump per QP at a time: whoever finds req_lock taken
 * leaves a note (SROCE_DUE_PUMP), and the holder pumps again after its unlock.
 *
 * The pump runs in the doorbell's system call, in the receive softirq when
 * responses open the window, and in the timer's softirq. While responses are
 * outstanding one of the latter two will come, so a QP asks for a doorbell only
 * when it has nothing outstanding and nothing to send, or when the response is
 * late: the ACK timeout can be long, or never come. Of a process that streams the
 * timer looks at the SQ some more before a doorbell is asked for (proto/wake.h).
 */
#include "mem.h"
#include "mw.h"
#include "qp.h"
#include "trace.h"
#include "tx.h"

/* Packets sent in one go before others get the CPU. */
#define PUMP_BUDGET		256
/* Times it looks at the SQ again before it lets go, however busy the producer is. */
#define PUMP_ROUNDS		4
/* A response that takes longer than this may be lost. */
#define PUMP_QUIET_NS		NSEC_PER_MSEC

static u64 now_ns(void)
{
	return ktime_get_ns();
}

/* ---- timer ---- */

static void arm(struct sroce_qp *qp, u64 when_ns)
{
	if (when_ns == SROCE_NEVER || when_ns >= qp->req_armed_ns)
		return;
	/* write_space() may have asked for an earlier one. */
	if (hrtimer_is_queued(&qp->req_timer) &&
	    ktime_to_ns(hrtimer_get_expires(&qp->req_timer)) <= when_ns)
		return;
	qp->req_armed_ns = when_ns;
	hrtimer_start(&qp->req_timer, ns_to_ktime(when_ns), HRTIMER_MODE_ABS_SOFT);
}

/* ---- events ---- */

static const struct {
	u32 event;
	enum sroce_counter counter;
} event_counters[] = {
	{ SROCE_REQ_EV_TIMEOUT, SROCE_CNT_LOCAL_ACK_TIMEOUT_ERR },
	{ SROCE_REQ_EV_RNR_NAK, SROCE_CNT_RNR_NAK_RETRY_ERR },
	{ SROCE_REQ_EV_SEQ_NAK, SROCE_CNT_PACKET_SEQ_ERR },
	{ SROCE_REQ_EV_IMPLIED_NAK, SROCE_CNT_IMPLIED_NAK_SEQ_ERR },
	{ SROCE_REQ_EV_IGNORED, SROCE_CNT_RX_GHOST_ACK },
	{ SROCE_REQ_EV_PROBE, SROCE_CNT_ROCE_ADP_RETRANS },
	{ SROCE_REQ_EV_SLOW_RESTART, SROCE_CNT_ROCE_SLOW_RESTART },
	{ SROCE_REQ_EV_AHEAD, SROCE_CNT_RX_RESP_AHEAD },
	{ SROCE_REQ_EV_REM_INV_REQ, SROCE_CNT_REQ_REMOTE_INVALID_REQUEST },
	{ SROCE_REQ_EV_REM_ACCESS, SROCE_CNT_REQ_REMOTE_ACCESS_ERRORS },
	{ SROCE_REQ_EV_RETRY_EXC, SROCE_CNT_REQ_TRANSPORT_RETRIES_EXCEEDED },
	{ SROCE_REQ_EV_RNR_EXC, SROCE_CNT_REQ_RNR_RETRIES_EXCEEDED },
};

static void count_events(struct sroce_qp *qp, u32 events)
{
	int i;

	if (!(events & ~SROCE_REQ_EV_PROGRESS))
		return;
	for (i = 0; i < ARRAY_SIZE(event_counters); i++)
		if (events & event_counters[i].event)
			sroce_qp_count(qp, event_counters[i].counter);
	if (events & SROCE_REQ_EV_HOLE && !(events & SROCE_REQ_EV_IMPLIED_NAK))
		sroce_qp_count(qp, SROCE_CNT_RX_SACK);
	if (events & (SROCE_REQ_EV_RETRY | SROCE_REQ_EV_PROBE))
		trace_sroce_retry(qp, events);
}

/* Congestion control hears of round trips and losses. */
static void tell_rp(struct sroce_qp *qp, u32 events)
{
	if (qp->req.rtt.samples != qp->rp.rtt_samples)
		sroce_rp_on_rtt(qp);
	if (unlikely(events & (SROCE_REQ_EV_TIMEOUT | SROCE_REQ_EV_SEQ_NAK |
			       SROCE_REQ_EV_IMPLIED_NAK | SROCE_REQ_EV_HOLE)))
		sroce_rp_on_loss(qp, events & SROCE_REQ_EV_TIMEOUT);
}

/* ---- completions ---- */

static u8 wc_opcode(u8 op)
{
	switch (op) {
	case SROCE_WR_WRITE:
	case SROCE_WR_WRITE_IMM:
		return IB_WC_RDMA_WRITE;
	case SROCE_WR_READ:
		return IB_WC_RDMA_READ;
	case SROCE_WR_CMP_SWP:
		return IB_WC_COMP_SWAP;
	case SROCE_WR_FETCH_ADD:
		return IB_WC_FETCH_ADD;
	case SROCE_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	case SROCE_WR_REG_MR:
		return IB_WC_REG_MR;
	case SROCE_WR_BIND_MW:
		return IB_UVERBS_WC_BIND_MW;
	case SROCE_WR_FLUSH:
		return IB_UVERBS_WC_FLUSH;
	case SROCE_WR_ATOMIC_WRITE:
		return IB_UVERBS_WC_ATOMIC_WRITE;
	default:
		return IB_WC_SEND;
	}
}

static void post_cqe(struct sroce_qp *qp, const struct sroce_swqe *wqe, enum sroce_status status)
{
	struct sroce_cqe cqe = {
		.wr_id = wqe->wr_id,
		.qpn = qp->qpn,
		.status = status,
		.opcode = wc_opcode(wqe->op),
		.byte_len = wqe->length,
	};

	if (status == SROCE_ST_WR_FLUSH_ERR)
		sroce_qp_count(qp, SROCE_CNT_REQ_CQE_FLUSH_ERROR);
	else if (status != SROCE_ST_SUCCESS)
		sroce_qp_count(qp, SROCE_CNT_REQ_CQE_ERROR);
	sroce_cqe_set_qp(&cqe, &qp->ibqp);
	qp->told_end = sroce_cq_post(sroce_qp_scq(qp), &cqe, status != SROCE_ST_SUCCESS);
}

/* Give back the slots of all that is complete. */
static void release_slots(struct sroce_qp *qp)
{
	if (qp->sq.cons != qp->req.head)
		sroce_ring_release(&qp->sq, qp->req.head - qp->sq.cons);
}

/*
 * Complete what is ready, in posting order. The slots come first: who sees the
 * completion may fill them at once.
 */
static void complete_ready(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	enum sroce_status status;
	u32 index;

	while (sroce_req_pop(req, &index, &status)) {
		const struct sroce_swqe *wqe = sroce_req_wqe(req, index);

		qp->told = status != SROCE_ST_SUCCESS || wqe->flags & SROCE_WF_SIGNALED;
		if (qp->told) {
			release_slots(qp);
			post_cqe(qp, wqe, status);
		}
		if (status != SROCE_ST_SUCCESS && status != SROCE_ST_WR_FLUSH_ERR)
			sroce_qp_send_error(qp);
	}
	release_slots(qp);
	if (sroce_req_drained(req) && !qp->drained_told) {
		qp->drained_told = true;
		set_bit(SROCE_DUE_EV_SQ_DRAINED, &qp->due);
	}
}

/* ---- sending ---- */

static enum sroce_status execute_local(struct sroce_qp *qp, const struct sroce_swqe *wqe)
{
	struct sroce_accessor by = sroce_qp_accessor(qp);

	if (wqe->op == SROCE_WR_REG_MR)
		return sroce_mr_register_fast(by.dev, by.pd, wqe->mr_key, wqe->rkey, wqe->feth) ?
		       SROCE_ST_MW_BIND_ERR : SROCE_ST_SUCCESS;
	if (wqe->op == SROCE_WR_BIND_MW)
		return sroce_mw_bind(qp, wqe) ? SROCE_ST_MW_BIND_ERR : SROCE_ST_SUCCESS;
	return sroce_mem_invalidate(&by, wqe->inv_rkey, false) ?
	       SROCE_ST_LOC_QP_OP_ERR : SROCE_ST_SUCCESS;
}

static void describe_payload(const struct sroce_qp *qp, const struct sroce_swqe *wqe,
			     const struct sroce_req_out *out, struct sroce_payload *payload)
{
	memset(payload, 0, sizeof(*payload));
	if (!out->pkt.payload_bytes)
		return;
	if (wqe->flags & SROCE_WF_INLINE) {
		payload->kind = SROCE_PAYLOAD_LINEAR;
		payload->linear = wqe->data + out->offset;
		return;
	}
	payload->kind = SROCE_PAYLOAD_SGL;
	payload->pd = qp->ibqp.pd;
	payload->sge = (const struct sroce_sge *)wqe->data;
	payload->num_sge = wqe->num_sge;
	payload->offset = out->offset;
}

/* A datagram goes its own way. */
static int send_ud(struct sroce_qp *qp, struct sroce_req_out *out,
		   const struct sroce_payload *payload)
{
	const struct sroce_swqe *wqe = sroce_req_wqe(&qp->req, out->index);
	struct sroce_ah *ah = sroce_ah_find(qp->dev, qp->ibqp.pd, wqe->ah_id);
	struct sroce_tx tx;
	int err;

	if (!ah)
		return -EINVAL;
	out->pkt.src_qpn = qp->qpn;
	sroce_tx_begin(&tx, qp, &ah->path, &ah->cache);
	err = sroce_tx_add(&tx, &out->pkt, payload);
	sroce_tx_end(&tx);
	if (ah->path.max_mbps)
		sroce_rp_sent_limited(qp, &qp->req_turn, ah->path.max_mbps,
				      sroce_pkt_udp_payload(&out->pkt));
	return err;
}

static void send_packet(struct sroce_qp *qp, struct sroce_tx *tx, struct sroce_req_out *out)
{
	const struct sroce_swqe *wqe = sroce_req_wqe(&qp->req, out->index);
	struct sroce_payload payload;
	int err;

	describe_payload(qp, wqe, out, &payload);
	trace_sroce_send(qp, &out->pkt, out->retransmit);
	if (out->retransmit) {
		qp->retransmits++;
		sroce_qp_count(qp, SROCE_CNT_TX_RETRANSMIT);
	}
	if (qp->transport == SROCE_UD)
		err = send_ud(qp, out, &payload);
	else
		err = sroce_tx_add(tx, &out->pkt, &payload);
	if (err)
		sroce_req_fail(&qp->req, out->index, err == -EINVAL ? SROCE_ST_LOC_QP_OP_ERR :
								     SROCE_ST_LOC_PROT_ERR);
}

/*
 * The packets of a message that follow @out and are like it: what they have in common
 * is found out once. Returns how many.
 */
static int send_row(struct sroce_qp *qp, struct sroce_tx *tx, struct sroce_req_out *out, int budget)
{
	const struct sroce_swqe *wqe = sroce_req_wqe(&qp->req, out->index);
	struct sroce_accessor by = { .dev = qp->dev, .pd = qp->ibqp.pd };
	struct sroce_payload payload;
	struct sroce_stretch stretch;
	int n = 0;

	if (wqe->flags & SROCE_WF_INLINE)
		return 0;
	while (n < budget && sroce_tx_row_goes_on(tx, SROCE_DUE_SPACE_REQ) &&
	       sroce_req_more(&qp->req, out)) {
		if (!n++) {
			describe_payload(qp, wqe, out, &payload);
			payload.stretch = &stretch;
			sroce_sgl_stretch(&stretch, &by, payload.sge, payload.num_sge, out->offset);
		}
		payload.offset = out->offset;
		trace_sroce_send(qp, &out->pkt, false);
		if (sroce_tx_more(tx, &out->pkt, &payload)) {
			sroce_req_fail(&qp->req, out->index, SROCE_ST_LOC_PROT_ERR);
			break;
		}
	}
	return n;
}

/*
 * Send what may be sent. Returns true if the budget ended it. @turn_ns: when the
 * turn begins that it waits for, else SROCE_NEVER.
 */
static bool send_some(struct sroce_qp *qp, u64 *turn_ns)
{
	struct sroce_req *req = &qp->req;
	struct sroce_req_out out;
	enum sroce_req_what what;
	struct sroce_tx tx = { .refused = false };
	int budget = PUMP_BUDGET;
	bool paced, begun = false;

	*turn_ns = SROCE_NEVER;
	if (sroce_rp_is_paced(qp) || unlikely(qp->rp.bound))
		sroce_rp_bound(qp);
	while (budget-- && !tx.refused && sroce_tx_has_room(qp, SROCE_DUE_SPACE_REQ)) {
		paced = sroce_rp_is_paced(qp);
		if (paced && req->cur != req->tail && sroce_rp_wait(qp, &qp->req_turn, turn_ns))
			break;
		what = sroce_req_next(req, now_ns(), &out);
		if (what == SROCE_REQ_NOTHING)
			break;
		if (what == SROCE_REQ_LOCAL) {
			sroce_req_local_done(req, execute_local(qp, sroce_req_wqe(req, out.index)));
			continue;
		}
		if (!begun && qp->transport != SROCE_UD)
			sroce_tx_begin(&tx, qp, &qp->path, &qp->cache);
		begun = true;
		send_packet(qp, &tx, &out);
		if (paced)
			sroce_rp_sent(qp, &qp->req_turn, sroce_pkt_udp_payload(&out.pkt));
		else if (qp->transport != SROCE_UD)
			budget -= send_row(qp, &tx, &out, budget);
	}
	if (begun && qp->transport != SROCE_UD)
		sroce_tx_end(&tx);
	if (tx.refused)
		sroce_req_refused(req, tx.refused_psn, now_ns());
	return budget < 0;
}

/* Is all sent, with answers to come? */
static bool is_waiting(const struct sroce_qp *qp)
{
	return qp->req.head != qp->req.tail && qp->req.cur == qp->req.tail;
}

/* Has nothing been sent or acknowledged for PUMP_QUIET_NS? */
static bool is_quiet(struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;

	if (qp->quiet_una != req->una_psn || qp->quiet_max != req->max_psn) {
		qp->quiet_una = req->una_psn;
		qp->quiet_max = req->max_psn;
		qp->quiet_ns = now_ns() + PUMP_QUIET_NS;
		return false;
	}
	return now_ns() >= qp->quiet_ns;
}

/*
 * Nothing outstanding, nothing to send: nobody but a doorbell will call us again.
 * Or an answer is late: what is posted now should not wait for it.
 */
static bool is_idle(struct sroce_qp *qp)
{
	return qp->req.head == qp->req.tail || (is_waiting(qp) && is_quiet(qp));
}

/*
 * May the process have waited for all that it had posted before @from? For a
 * completion, or for a message that answers the one it sent.
 */
static bool has_waited(struct sroce_qp *qp, u32 from)
{
	const struct sroce_req *req = &qp->req;
	u32 msn = READ_ONCE(qp->resp.msn), i;
	bool answered = msn != qp->wake_msn;

	qp->wake_msn = msn;
	if (answered && req->tail - from == 1)
		return true;
	/* What it posted behind one of these did not wait for it. */
	for (i = from; i != req->tail - 1; i++)
		if (sroce_req_wqe(req, i)->flags & SROCE_WF_SIGNALED)
			return false;
	return qp->told && sroce_cq_is_read(sroce_qp_scq(qp), qp->told_end);
}

static void pull(struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;
	bool dry = req->head == req->tail;
	u32 from = req->tail;

	sroce_sq_pull(qp);
	if (dry && req->tail != from && qp->is_user)
		sroce_wake_on_post(&qp->wake, req->tail - from, has_waited(qp, from));
}

/* When to look at the SQ again without being asked to if it is dry, or SROCE_NEVER. */
static u64 next_look(struct sroce_qp *qp)
{
	u32 wait_us = READ_ONCE(qp->dev->look_us);

	/* Kernel consumers fill no ring by themselves: each post of theirs pumps. */
	if (!qp->is_user || qp->req.head != qp->req.tail)
		return SROCE_NEVER;
	if (!(sroce_qp_allows(qp) & SROCE_MAY_REQUEST))
		wait_us = 0;
	return sroce_wake_on_dry(&qp->wake, now_ns(), wait_us * SROCE_NS_PER_US);
}

/* Ask for a doorbell. Returns false if something new was posted meanwhile. */
static bool ask_doorbell(struct sroce_qp *qp)
{
	if (!sroce_ring_ask_wakeup(&qp->sq))
		return true;
	/* What is outstanding is in the ring still. */
	return qp->sq.cons + sroce_ring_used(&qp->sq) == qp->req.tail;
}

static void pump_locked(struct sroce_qp *qp)
{
	u64 when, look_ns = SROCE_NEVER, turn_ns = SROCE_NEVER;
	bool more = false, asked = false;
	int rounds = PUMP_ROUNDS;
	u32 may;

	lockdep_assert_held(&qp->req_lock);
	if (!qp->sq_mem)
		return;
	do {
		may = sroce_qp_allows(qp);
		if (!(may & SROCE_MAY_POST_SEND))
			return;
		sroce_ring_awake(&qp->sq);
		pull(qp);
		if (may & SROCE_MAY_COMPLETE)
			more = send_some(qp, &turn_ns);
		complete_ready(qp);
		if (more || !is_idle(qp))
			break;
		look_ns = next_look(qp);
		if (look_ns != SROCE_NEVER)
			break;
		asked = ask_doorbell(qp);
		more = !asked && !--rounds;
	} while (!asked && !more);

	when = more ? now_ns() + SROCE_KICK_NS : sroce_req_deadline(&qp->req);
	if (!asked && is_waiting(qp))
		when = min(when, qp->quiet_ns);
	arm(qp, min3(when, turn_ns, look_ns));
}

/* Pump, or leave a note to the one who does. BH disabled, RCU read lock held. */
void sroce_pump(struct sroce_qp *qp)
{
	while (test_bit(SROCE_DUE_PUMP, &qp->due)) {
		if (!spin_trylock(&qp->req_lock))
			return;
		clear_bit(SROCE_DUE_PUMP, &qp->due);
		/* A note left after this is seen in the next round. */
		smp_mb__after_atomic();
		pump_locked(qp);
		spin_unlock(&qp->req_lock);
		/* Pairs with the barrier after set_bit(SROCE_DUE_PUMP). */
		smp_mb();
	}
}

static void note_pump(struct sroce_qp *qp)
{
	set_bit(SROCE_DUE_PUMP, &qp->due);
	/* Either we get req_lock, or its holder sees the note after its unlock. */
	smp_mb__after_atomic();
}

/* After a post: in the caller's context if that may transmit, else in the timer's. */
void sroce_pump_post(struct sroce_qp *qp)
{
	note_pump(qp);
	if (in_hardirq() || irqs_disabled()) {
		sroce_qp_kick(&qp->req_timer);
		return;
	}
	local_bh_disable();
	rcu_read_lock();
	sroce_qp_unwind(qp);
	rcu_read_unlock();
	local_bh_enable();
}

/* The QP went to ERR or SQE: everything posted is flushed. */
void sroce_pump_flush(struct sroce_qp *qp)
{
	spin_lock(&qp->req_lock);
	if (sroce_qp_allows(qp) & SROCE_MAY_FLUSH_SEND) {
		sroce_req_stop(&qp->req);
		pump_locked(qp);
	}
	spin_unlock(&qp->req_lock);
}

enum hrtimer_restart sroce_req_timer(struct hrtimer *timer)
{
	struct sroce_qp *qp = container_of(timer, struct sroce_qp, req_timer);
	u32 events;

	rcu_read_lock();
	spin_lock(&qp->req_lock);
	qp->req_armed_ns = SROCE_NEVER;
	if (sroce_qp_allows(qp) & SROCE_MAY_COMPLETE) {
		events = sroce_req_on_timer(&qp->req, now_ns());
		count_events(qp, events);
		tell_rp(qp, events);
	}
	clear_bit(SROCE_DUE_PUMP, &qp->due);
	pump_locked(qp);
	spin_unlock(&qp->req_lock);
	sroce_qp_unwind(qp);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* ---- responses ---- */

static enum sroce_status place(struct sroce_qp *qp, const struct sroce_req_in *in,
			       struct sk_buff *skb, u32 payload_offset,
			       const struct sroce_pkt *pkt)
{
	const struct sroce_swqe *wqe = sroce_req_wqe(&qp->req, in->index);
	const struct sroce_sge *sge = (const struct sroce_sge *)wqe->data;
	int err;

	if (!in->bytes)
		return SROCE_ST_SUCCESS;
	if (pkt->flags & SROCE_F_ATOMIC_ACK)
		err = sroce_sgl_write(qp->dev, qp->ibqp.pd, sge, wqe->num_sge, 0,
				      &pkt->atomic_orig, sizeof(pkt->atomic_orig));
	else
		err = sroce_sgl_write_skb(qp->dev, qp->ibqp.pd, sge, wqe->num_sge, in->offset,
					  skb, payload_offset, in->bytes);
	return err ? SROCE_ST_LOC_PROT_ERR : SROCE_ST_SUCCESS;
}

/*
 * An ACK, NAK, READ response or atomic response. @more: sroce_pump_more() follows.
 * Softirq, RCU read lock held.
 */
void sroce_pump_response(struct sroce_qp *qp, struct sk_buff *skb, u32 payload_offset,
			 const struct sroce_pkt *pkt, bool more)
{
	struct sroce_req_in in;

	spin_lock(&qp->req_lock);
	if (sroce_qp_allows(qp) & SROCE_MAY_COMPLETE) {
		trace_sroce_response(qp, pkt, false);
		if (sroce_req_on_packet(&qp->req, pkt, now_ns(), &in) == SROCE_REQ_TAKE_PLACE)
			sroce_req_placed(&qp->req, &in, place(qp, &in, skb, payload_offset, pkt),
					 now_ns());
		count_events(qp, in.events);
		tell_rp(qp, in.events);
		if (!more) {
			complete_ready(qp);
			pump_locked(qp);
		}
	}
	spin_unlock(&qp->req_lock);
	if (!more)
		sroce_qp_unwind(qp);
}

/* After the last response of a batch. Softirq, RCU read lock held. */
void sroce_pump_more(struct sroce_qp *qp)
{
	note_pump(qp);
	sroce_qp_unwind(qp);
}
