/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs. Locks and lifetime: Documentation/locking.md; in short:
 *
 *   req_lock    requester: SQ ring, swqe array, req_timer
 *   resp_lock   responder: RQ ring, current receive WQE, resp_timer
 *   srq->lock   inside resp_lock
 *   cq->lock    inside either of the first two
 *
 * Both are taken with BH disabled. They nest (req_lock, then resp_lock) in
 * sroce_modify_qp() and sroce_destroy_qp() only. No handler of a consumer is
 * called and no memory is freed under them: what is due is noted in qp->due and
 * done by sroce_qp_unwind() after the unlock.
 */
#ifndef SROCE_QP_H
#define SROCE_QP_H

#include <linux/hrtimer.h>
#include <linux/net.h>
#include <rdma/ib_verbs.h>

#include "ah.h"
#include "ahead.h"
#include "cq.h"
#include "device.h"
#include "mem.h"
#include "proto/qpstate.h"
#include "proto/req.h"
#include "proto/resp.h"
#include "proto/wake.h"
#include "proto/wqe.h"
#include "ring.h"
#include "route.h"
#include "rp.h"
#include "srq.h"

/*
 * Work that has to go on in softirq goes on after this time, not at once: a timer
 * that has expired already runs again in the same pass, and nobody else would.
 */
#define SROCE_KICK_NS	20000

/* How often an ACK is asked for in a long message, unless congestion control has other needs. */
#define SROCE_REQ_ACKREQ	32

/* sroce_qp_kick - run one of a QP's timers soon; any context */
static inline void sroce_qp_kick(struct hrtimer *timer)
{
	hrtimer_start(timer, ktime_add_ns(ktime_get(), SROCE_KICK_NS), HRTIMER_MODE_ABS_SOFT);
}

/* sroce_qp.due: work noted under a lock for after the unlock */
enum sroce_qp_due {
	SROCE_DUE_PUMP,		/* somebody found req_lock taken: pump again */
	SROCE_DUE_SPACE_REQ,	/* the requester waits for room below */
	SROCE_DUE_SPACE_RESP,	/* the responder waits for room below */
	SROCE_DUE_FLUSH,	/* the QP went to ERR or SQE: flush the queues */
	SROCE_DUE_EV_FATAL,	/* IB_EVENT_QP_FATAL */
	SROCE_DUE_EV_REQ_ERR,	/* IB_EVENT_QP_REQ_ERR */
	SROCE_DUE_EV_ACCESS_ERR,/* IB_EVENT_QP_ACCESS_ERR */
	SROCE_DUE_EV_COMM_EST,	/* IB_EVENT_COMM_EST */
	SROCE_DUE_EV_SQ_DRAINED,/* IB_EVENT_SQ_DRAINED */
	SROCE_DUE_EV_LAST_WQE,	/* IB_EVENT_QP_LAST_WQE_REACHED */
};

/**
 * struct sroce_qp - queue pair
 * @ibqp: what ib_core knows
 * @dev: device
 * @qpn: QP number: 24 bits, unique over all sroce devices; 1 for the GSI QP
 * @transport: enum sroce_transport
 * @is_user: rings are mapped by a process
 * @state: enum sroce_qp_state; written under both locks or to ERR/SQE under one,
 *	read with READ_ONCE
 * @attr: attributes as last set, for query_qp
 * @path: connected: the way to the peer
 * @cache: connected: route
 * @node: in sroce_dev.qps from its publication to the end of @cache
 * @uctx: the context it comes to rest with (sroce_qp_rest()); NULL: a kernel
 *	consumer's, or an XRC target
 * @withdrawn: its number was withdrawn, and it stays in RESET; sroce_dev.qps_lock
 * @sock: owner of our skbs: counts the bytes below us, calls back when they left
 * @write_space: the socket's own callback, given back before it is released
 * @ip_id: IPv4 identification of the next packet
 * @due: bits of enum sroce_qp_due
 * @max_recv_sge: entries of the SG list of a receive WQE
 * @windows: type 2 windows bound for it; sroce_dev.window_lock
 * @ece: options agreed on with the peer (SROCE_ECE_*)
 * @counters: where it counts: the device's, or those of the counter that it is bound to
 * @num_groups: multicast groups it is attached to; lock of sroce_dev.mcast
 * @had_group: it was attached to one
 * @rp: congestion control; has a lock of its own
 *
 * @req_lock: requester lock
 * @req: requester; @req_lock
 * @sq_rules: what may be posted; changed under both locks
 * @sq: SQ ring; @req_lock
 * @sq_mem: its memory
 * @post_lock: kernel consumers: serialises post_send
 * @sq_prod: kernel consumers: producer index; @post_lock
 * @req_timer: earliest deadline of @req; armed under @req_lock
 * @req_armed_ns: what it is armed for, or SROCE_NEVER; @req_lock
 * @quiet_una: una_psn of @req when something last happened; @req_lock
 * @quiet_max: max_psn of @req likewise
 * @quiet_ns: from when on answers are late
 * @wake: is the SQ looked at, or is a doorbell asked for; @req_lock
 * @told: the last work request that is complete was signaled
 * @told_end: index in the CQ behind its CQE
 * @wake_msn: MSN of @resp when something was posted last
 * @drained_told: SQ_DRAINED was reported for this stay in SQD
 * @retransmits: packets whose PSN was sent before; @req_lock
 * @req_turn: of the requester, to send; @req_lock
 *
 * @resp_lock: responder lock
 * @resp: responder; @resp_lock
 * @xrcd: XRC target: its domain
 * @srq: takes its receives from here, and has no RQ ring; NULL: from its own RQ.
 *	XRC target: that of the request in hand; @resp_lock
 * @rq: RQ ring; @resp_lock
 * @rq_mem: its memory
 * @rpost_lock: kernel consumers: serialises post_recv
 * @rq_prod: kernel consumers: producer index; @rpost_lock
 * @rwqe: the receive WQE in use; @resp_lock
 * @resp_timer: continues a long READ answer; armed under @resp_lock
 * @comm_est_told: COMM_EST was reported
 * @last_wqe_told: LAST_WQE_REACHED was reported for this stay in ERR; @resp_lock
 * @resp_turn: of the responder, to send READ responses; @resp_lock
 */
struct sroce_qp {
	struct ib_qp ibqp;
	struct sroce_dev *dev;
	u32 qpn;
	u8 transport;
	bool is_user;
	int state;
	struct ib_qp_attr attr;
	struct sroce_path path;
	struct dst_cache cache;
	struct list_head node;
	struct sroce_ucontext *uctx;
	bool withdrawn;
	struct socket *sock;
	void (*write_space)(struct sock *sk);
	atomic_t ip_id;
	unsigned long due;
	u32 max_recv_sge;
	struct list_head windows;
	u32 ece;
	struct sroce_counters __percpu *counters;
	u32 num_groups;
	bool had_group;
	struct sroce_rp rp;

	spinlock_t req_lock ____cacheline_aligned_in_smp;
	struct sroce_req req;
	struct sroce_sq_rules sq_rules;
	struct sroce_ring sq;
	struct sroce_ring_mem *sq_mem;
	spinlock_t post_lock;
	u32 sq_prod;
	struct hrtimer req_timer;
	u64 req_armed_ns;
	u32 quiet_una;
	u32 quiet_max;
	u64 quiet_ns;
	struct sroce_wake wake;
	bool told;
	u32 told_end;
	u32 wake_msn;
	bool drained_told;
	u64 retransmits;
	struct sroce_turn req_turn;

	spinlock_t resp_lock ____cacheline_aligned_in_smp;
	struct sroce_resp resp;
	struct ib_xrcd *xrcd;
	struct sroce_srq *srq;
	struct sroce_ring rq;
	struct sroce_ring_mem *rq_mem;
	spinlock_t rpost_lock;
	u32 rq_prod;
	struct sroce_rwqe rwqe;
	struct hrtimer resp_timer;
	bool comm_est_told;
	bool last_wqe_told;
	struct sroce_turn resp_turn;
};

static inline struct sroce_qp *to_sqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct sroce_qp, ibqp);
}

static inline struct sroce_cq *sroce_qp_scq(const struct sroce_qp *qp)
{
	return to_scq(qp->ibqp.send_cq);
}

static inline struct sroce_cq *sroce_qp_rcq(const struct sroce_qp *qp)
{
	return to_scq(qp->ibqp.recv_cq);
}

static inline bool sroce_qp_is_xrc_tgt(const struct sroce_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_XRC_TGT;
}

/* sroce_qp_requests - does it have a requester? Only the target half of XRC has none. */
static inline bool sroce_qp_requests(const struct sroce_qp *qp)
{
	return !sroce_qp_is_xrc_tgt(qp);
}

/* sroce_qp_responds - does it have a responder? Only the initiator half of XRC has none. */
static inline bool sroce_qp_responds(const struct sroce_qp *qp)
{
	return qp->ibqp.qp_type != IB_QPT_XRC_INI;
}

/* sroce_qp_recv_pd - the PD of the memory of qp->rwqe; resp_lock held */
static inline struct ib_pd *sroce_qp_recv_pd(const struct sroce_qp *qp)
{
	return qp->srq ? qp->srq->ibsrq.pd : qp->ibqp.pd;
}

/* For whom memory is accessed when the peer asks, and when it or the consumer invalidates. */
static inline struct sroce_accessor sroce_qp_accessor(const struct sroce_qp *qp)
{
	return (struct sroce_accessor){ .dev = qp->dev, .pd = qp->ibqp.pd, .qpn = qp->qpn };
}

/* sroce_qp_count, sroce_qp_count_add - a counter of a QP; RCU read lock held, BH disabled */
static inline void sroce_qp_count_add(const struct sroce_qp *qp, enum sroce_counter id, u64 n)
{
	sroce_count_add(READ_ONCE(qp->counters), id, n);
}

static inline void sroce_qp_count(const struct sroce_qp *qp, enum sroce_counter id)
{
	sroce_qp_count_add(qp, id, 1);
}

/* sroce_rp_is_paced - does anything slow the QP down? RCU read lock held. */
static inline bool sroce_rp_is_paced(const struct sroce_qp *qp)
{
	return unlikely(READ_ONCE(qp->rp.paced) || sroce_knobs(qp->dev)->tx_rate_limit);
}

static inline u32 sroce_qp_allows(const struct sroce_qp *qp)
{
	return sroce_qp_may(READ_ONCE(qp->state));
}

/* qp.c: life of a QP and its verbs; process context */
int sroce_qp_table_init(void);
void sroce_qp_table_exit(void);
int sroce_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int sroce_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

/**
 * sroce_qp_rest - the QPs of a context do nothing any more, and it gets no other
 * @uctx: context
 *
 * Targets of XRC are left out: they are not one context's alone. Sleeps for a grace
 * period.
 */
void sroce_qp_rest(struct sroce_ucontext *uctx);

/* sroce_qp_forget_routes - no cache of a QP holds a route any more; sroce_dev.net is NULL */
void sroce_qp_forget_routes(struct sroce_dev *dev);

/* modify.c: its states and attributes; process context */
int sroce_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int sroce_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);

/**
 * sroce_qp_quiesce - to RESET: nothing is sent, taken or timed any more
 * @qp: queue pair
 *
 * Process context. The timers are cancelled; packets on their way are dropped
 * by the state check. Takes both locks.
 */
void sroce_qp_quiesce(struct sroce_qp *qp);

/**
 * sroce_qp_find - the QP of a number
 * @qpn: 24 bits
 *
 * RCU read lock held, and the QP is valid as long as it is. QP 1 is not found
 * here but in sroce_dev.gsi_qp.
 */
struct sroce_qp *sroce_qp_find(u32 qpn);

/**
 * sroce_qp_error - to ERR, from the data path
 * @qp: queue pair; req_lock or resp_lock held
 * @due: SROCE_DUE_EV_* to report, or -1
 *
 * The queues are flushed by sroce_qp_unwind().
 */
void sroce_qp_error(struct sroce_qp *qp, int due);

/**
 * sroce_qp_send_error - a send failed: RC to ERR, UC and UD to SQE (IBA 10.3.1.6)
 * @qp: queue pair; req_lock held
 */
void sroce_qp_send_error(struct sroce_qp *qp);

/**
 * sroce_qp_unwind - do what was noted in @due: pump, flush, events, CQ handlers
 * @qp: queue pair; no lock held, BH disabled, RCU read lock held or the caller owns the QP
 *
 * Everyone who has held req_lock or resp_lock calls this after the unlock.
 */
void sroce_qp_unwind(struct sroce_qp *qp);

/* restrack.c; process context */
int sroce_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);

/* post.c: kernel consumers' posts, and taking WQEs out of a ring */
int sroce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);
int sroce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);
void sroce_sq_pull(struct sroce_qp *qp);
bool sroce_rq_pull(struct sroce_qp *qp);

/**
 * sroce_recv_pull - have a receive WQE in qp->rwqe, of the RQ or the SRQ
 * @qp: queue pair; resp_lock held
 * @bytes: of the message, if one that is too small is not to be used up
 *
 * Returns 0, -ENOENT if there is none, or -EMSGSIZE if the next one is too small.
 */
int sroce_recv_pull(struct sroce_qp *qp, u64 bytes);

/* pump.c: the requester's shell */
void sroce_pump(struct sroce_qp *qp);
void sroce_pump_post(struct sroce_qp *qp);
void sroce_pump_response(struct sroce_qp *qp, struct sk_buff *skb, u32 payload_offset,
			 const struct sroce_pkt *pkt, bool more);
void sroce_pump_more(struct sroce_qp *qp);
void sroce_pump_flush(struct sroce_qp *qp);
enum hrtimer_restart sroce_req_timer(struct hrtimer *timer);

/* respond.c: the responder's shell */
void sroce_respond_request(struct sroce_qp *qp, struct sk_buff *skb, u32 payload_offset,
			   const struct sroce_pkt *pkt, bool more);
void sroce_respond_post(struct sroce_qp *qp);
void sroce_respond_more(struct sroce_qp *qp);
void sroce_respond_flush(struct sroce_qp *qp);
enum hrtimer_restart sroce_resp_timer(struct hrtimer *timer);

/* row.c: packets in the middle of a message, alike but for the PSN: how many are done */
u32 sroce_respond_row(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      const struct sroce_row *row);
u32 sroce_pump_row(struct sroce_qp *qp, const struct sroce_pkt *pkt, const struct sroce_row *row);

/* ud.c: receive side of UD and GSI */
void sroce_ud_deliver(struct sroce_qp *qp, struct sk_buff *skb, u32 payload_offset,
		      const struct sroce_pkt *pkt);

#endif /* SROCE_QP_H */
