// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reaction point: see rp.h.
 */
#include <net/inet_ecn.h>

#include "knobs.h"
#include "proto/icrc.h"
#include "qp.h"
#include "rp.h"
#include "trace.h"

/* IPv6, UDP, and the headers of the longest packet beside its payload. */
#define MAX_OVERHEAD	(SROCE_IPV6_BYTES + SROCE_UDP_BYTES + SROCE_MAX_HDR_BYTES + \
			 SROCE_ICRC_BYTES)

/* More CNPs than one in this time do not slow a QP down any further: they are not looked at. */
#define CNP_GAP_NS	1000

static const struct sroce_cc_params *params_of(const struct sroce_qp *qp)
{
	return &sroce_knobs(qp->dev)->params[qp->rp.alg];
}

static void set_paced(struct sroce_rp *rp)
{
	lockdep_assert_held(&rp->lock);
	WRITE_ONCE(rp->paced, rp->limit_bps || rp->cc.rate_bps != SROCE_CC_UNLIMITED);
}

/* ---- events ---- */

void sroce_rp_on_cnp(struct sroce_qp *qp)
{
	struct sroce_rp *rp = &qp->rp;
	u64 now_ns, before;
	bool handled;

	sroce_count_optional(qp->dev, SROCE_CNT_CC_RX_CNP_PKTS);
	spin_lock(&rp->lock);
	now_ns = ktime_get_ns();
	handled = rp->cc.ops->needs & SROCE_CC_NEEDS_CNP && now_ns - rp->cnp_ns >= CNP_GAP_NS;
	if (handled) {
		before = sroce_cc_rate(&rp->cc, params_of(qp), now_ns);
		sroce_cc_on_cnp(&rp->cc, params_of(qp), now_ns);
		rp->cnp_ns = now_ns;
		set_paced(rp);
		trace_sroce_rate(qp, before, rp->cc.rate_bps);
	}
	spin_unlock(&rp->lock);
	sroce_qp_count(qp, handled ? SROCE_CNT_RP_CNP_HANDLED : SROCE_CNT_RP_CNP_IGNORED);
	trace_sroce_cnp_received(qp, qp->resp.dest_qpn, handled);
}

void sroce_rp_on_rtt(struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;
	struct sroce_rp *rp = &qp->rp;
	struct sroce_cc_ack ack = {
		.rtt_ns = req->rtt.last_ns,
		.bytes = req->mtu,
	};
	u64 now_ns, before;

	lockdep_assert_held(&qp->req_lock);
	if (rp->rtt_samples)
		ack.bytes *= (req->una_psn - rp->rtt_psn) & SROCE_PSN_MASK;
	rp->rtt_samples = req->rtt.samples;
	rp->rtt_psn = req->una_psn;
	trace_sroce_rtt(qp, ack.rtt_ns);
	if (!(rp->cc.ops->needs & SROCE_CC_NEEDS_RTT))
		return;
	spin_lock(&rp->lock);
	now_ns = ktime_get_ns();
	before = sroce_cc_rate(&rp->cc, params_of(qp), now_ns);
	sroce_cc_on_ack(&rp->cc, params_of(qp), &ack, now_ns);
	set_paced(rp);
	trace_sroce_rate(qp, before, rp->cc.rate_bps);
	spin_unlock(&rp->lock);
}

void sroce_rp_on_loss(struct sroce_qp *qp, bool timeout)
{
	struct sroce_rp *rp = &qp->rp;

	lockdep_assert_held(&qp->req_lock);
	if (!rp->cc.ops->on_loss)
		return;
	spin_lock(&rp->lock);
	sroce_cc_on_loss(&rp->cc, params_of(qp), timeout, ktime_get_ns());
	set_paced(rp);
	spin_unlock(&rp->lock);
}

/* ---- turns ---- */

/* The rate of the moment, or SROCE_CC_UNLIMITED. */
static u64 rate_now(struct sroce_qp *qp, u64 now_ns)
{
	struct sroce_rp *rp = &qp->rp;
	u64 before = rp->cc.rate_bps, rate;

	rate = sroce_cc_rate(&rp->cc, params_of(qp), now_ns);
	if (rate != before) {
		set_paced(rp);
		trace_sroce_rate(qp, before, rate);
	}
	return rp->limit_bps ? min(rate, rp->limit_bps) : rate;
}

static u32 turn_bytes(const struct sroce_qp *qp, const struct sroce_knobs *knobs, u64 rate_bps)
{
	return sroce_pace_turn_bytes(rate_bps, knobs->tx_burst * SROCE_NS_PER_US,
				     qp->req.mtu + MAX_OVERHEAD);
}

/* Of the QP's own way out: @bytes, from when on. */
static u64 book_own(struct sroce_qp *qp, const struct sroce_knobs *knobs, u64 now_ns, u32 *bytes)
{
	u64 rate = rate_now(qp, now_ns);

	lockdep_assert_held(&qp->rp.lock);
	if (rate == SROCE_CC_UNLIMITED) {
		/* A datagram with a limit of its own may still be on its way. */
		if (qp->rp.pace.next_ns <= now_ns)
			set_paced(&qp->rp);
		return max(qp->rp.pace.next_ns, now_ns);
	}
	*bytes = turn_bytes(qp, knobs, rate);
	return sroce_pace_book(&qp->rp.pace, rate, *bytes, now_ns);
}

/* Of the way that all QPs of the port share. */
static u64 book_port(struct sroce_qp *qp, const struct sroce_knobs *knobs, u64 now_ns, u32 *bytes)
{
	u64 rate = sroce_cc_mbps(knobs->tx_rate_limit);
	struct sroce_port_cc *cc = &qp->dev->cc;
	u64 at_ns;

	if (!*bytes)
		*bytes = turn_bytes(qp, knobs, rate);
	spin_lock(&cc->lock);
	at_ns = sroce_pace_book(&cc->pace, rate, *bytes, now_ns);
	spin_unlock(&cc->lock);
	return at_ns;
}

static void book(struct sroce_qp *qp, const struct sroce_knobs *knobs, struct sroce_turn *turn)
{
	u64 at_ns, now_ns;
	u32 bytes = 0;

	/* The time is told in the order of the lock: see sroce_cc_rate(). */
	spin_lock(&qp->rp.lock);
	now_ns = ktime_get_ns();
	/* The byte counter hears of a turn when the next is booked: before that nobody asks. */
	sroce_cc_on_send(&qp->rp.cc, params_of(qp), sroce_turn_sent(turn), now_ns);
	at_ns = book_own(qp, knobs, now_ns, &bytes);
	spin_unlock(&qp->rp.lock);
	if (knobs->tx_rate_limit)
		at_ns = max(at_ns, book_port(qp, knobs, ktime_get_ns(), &bytes));
	/* Nothing slows it down any more: the flag says so by now. */
	if (!bytes)
		bytes = SROCE_PACE_MAX_TURN;
	sroce_turn_give(turn, bytes, at_ns);
}

bool sroce_rp_wait(struct sroce_qp *qp, struct sroce_turn *turn, u64 *until_ns)
{
	if (sroce_turn_is_wanted(turn, ktime_get_ns()))
		book(qp, sroce_knobs(qp->dev), turn);
	if (sroce_turn_is_open(turn, ktime_get_ns()))
		return false;
	*until_ns = turn->at_ns;
	return true;
}

void sroce_rp_sent(struct sroce_qp *qp, struct sroce_turn *turn, u32 bytes)
{
	bytes += SROCE_UDP_BYTES + (qp->path.ipv6 ? SROCE_IPV6_BYTES : SROCE_IPV4_BYTES);
	sroce_turn_spend(turn, bytes);
}

void sroce_rp_sent_limited(struct sroce_qp *qp, struct sroce_turn *turn, u32 mbps, u32 bytes)
{
	struct sroce_rp *rp = &qp->rp;

	spin_lock(&rp->lock);
	sroce_pace_book(&rp->pace, sroce_cc_mbps(mbps), bytes, ktime_get_ns());
	turn->bytes = 0;
	WRITE_ONCE(rp->paced, true);
	spin_unlock(&rp->lock);
}

/* ---- what may be in flight ---- */

void sroce_rp_bound(struct sroce_qp *qp)
{
	struct sroce_rp *rp = &qp->rp;
	u64 rate;
	u32 bytes;

	lockdep_assert_held(&qp->req_lock);
	spin_lock(&rp->lock);
	rate = rate_now(qp, ktime_get_ns());
	bytes = sroce_cc_window(&rp->cc, params_of(qp));
	qp->req.ackreq_every = sroce_cc_ackreq_every(&rp->cc, rate, qp->req.ack_timeout_ns,
						     SROCE_REQ_ACKREQ);
	qp->req.cwnd = bytes == SROCE_CC_NO_WINDOW ? U32_MAX : max(bytes / qp->req.mtu, 1U);
	rp->bound = rate != SROCE_CC_UNLIMITED || bytes != SROCE_CC_NO_WINDOW;
	spin_unlock(&rp->lock);
}

/* ---- life ---- */

void sroce_rp_init(struct sroce_rp *rp)
{
	spin_lock_init(&rp->lock);
	rp->cc.ops = &sroce_cc_none;
	rp->cc.rate_bps = SROCE_CC_UNLIMITED;
	rp->cc.next_ns = SROCE_NEVER;
	rp->cc.bytes_left = U64_MAX;
}

/* ECN bits: those of the traffic class, or the knob's. A host does not send CE. */
static void set_ecn(struct sroce_qp *qp, const struct sroce_knobs *knobs)
{
	u8 tclass = qp->attr.ah_attr.grh.traffic_class;

	if (qp->rp.alg != SROCE_CC_NONE &&
	    (INET_ECN_is_not_ect(tclass) || INET_ECN_is_ce(tclass)))
		tclass = (tclass & ~INET_ECN_MASK) | knobs->ecn;
	qp->path.tclass = tclass;
}

/* The lower of the limits of its own; one that is no less than the port's rate is none. */
static void set_limit(struct sroce_qp *qp)
{
	u64 av_bps = sroce_cc_mbps(qp->path.max_mbps);
	struct sroce_rp *rp = &qp->rp;

	if (av_bps >= params_of(qp)->line_bps)
		av_bps = 0;
	rp->limit_bps = av_bps && rp->hand_bps ? min(av_bps, rp->hand_bps) : av_bps ?: rp->hand_bps;
}

void sroce_rp_set_path(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->req_lock);
	lockdep_assert_held(&qp->resp_lock);
	rcu_read_lock();
	spin_lock(&qp->rp.lock);
	set_ecn(qp, sroce_knobs(qp->dev));
	set_limit(qp);
	set_paced(&qp->rp);
	spin_unlock(&qp->rp.lock);
	rcu_read_unlock();
}

void sroce_rp_start(struct sroce_qp *qp)
{
	struct sroce_rp *rp = &qp->rp;

	rcu_read_lock();
	spin_lock(&rp->lock);
	if (!rp->chosen)
		rp->alg = sroce_knobs(qp->dev)->algorithm;
	/* Datagrams have no peer whose CNPs could be believed. */
	if (qp->transport == SROCE_UD)
		rp->alg = SROCE_CC_NONE;
	sroce_cc_init(&rp->cc, params_of(qp), rp->alg, qp->req.mtu, ktime_get_ns());
	rp->pace = (struct sroce_pace){};
	sroce_np_reset(&rp->np);
	rp->rtt_samples = 0;
	rp->bound = true;
	spin_unlock(&rp->lock);
	rcu_read_unlock();
	qp->req_turn = (struct sroce_turn){};
	qp->resp_turn = (struct sroce_turn){};
	sroce_rp_set_path(qp);
}

/* ---- by hand ---- */

/* A QP of the device, or NULL. RCU read lock held. */
static struct sroce_qp *find_qp(struct sroce_dev *dev, u32 qpn)
{
	struct sroce_qp *qp = sroce_qp_find(qpn);

	return qp && qp->dev == dev ? qp : NULL;
}

static void lock_qp(struct sroce_qp *qp)
	__acquires(&qp->req_lock) __acquires(&qp->resp_lock)
{
	spin_lock_bh(&qp->req_lock);
	spin_lock(&qp->resp_lock);
}

static void unlock_qp(struct sroce_qp *qp)
	__releases(&qp->resp_lock) __releases(&qp->req_lock)
{
	spin_unlock(&qp->resp_lock);
	spin_unlock_bh(&qp->req_lock);
	/* What was slowed down may go on, and who found req_lock taken relies on us. */
	sroce_pump_post(qp);
}

int sroce_rp_choose(struct sroce_dev *dev, u32 qpn, enum sroce_cc_alg alg)
{
	struct sroce_qp *qp;
	int err = -ENOENT;

	rcu_read_lock();
	qp = find_qp(dev, qpn);
	if (qp) {
		lock_qp(qp);
		err = qp->transport == SROCE_UD ? -EOPNOTSUPP : 0;
		if (!err) {
			qp->rp.chosen = true;
			qp->rp.alg = alg;
			/* Not connected yet: when it will be. */
			if (READ_ONCE(qp->state) >= SROCE_QPS_RTR)
				sroce_rp_start(qp);
		}
		unlock_qp(qp);
	}
	rcu_read_unlock();
	return err;
}

int sroce_rp_limit(struct sroce_dev *dev, u32 qpn, u32 mbps)
{
	struct sroce_qp *qp;

	rcu_read_lock();
	qp = find_qp(dev, qpn);
	if (qp) {
		lock_qp(qp);
		qp->rp.hand_bps = sroce_cc_mbps(mbps);
		sroce_rp_set_path(qp);
		unlock_qp(qp);
	}
	rcu_read_unlock();
	return qp ? 0 : -ENOENT;
}
