// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "req.h"

/* A probe is not sent sooner, however short the round trip is: hosts are busy at times. */
#define PROBE_MIN_NS		(1000 * SROCE_NS_PER_US)
/* As long as no round trip was measured. */
#define PROBE_FIRST_NS		(20000 * SROCE_NS_PER_US)
/* Without an answer there are no more; each waits twice as long as the one before. */
#define PROBES_MAX		8
#define BACKOFF_MAX		8
/* So many doublings are kept when there was one. */
#define BACKOFF_KEPT		4

/*
 * A pause after the local stack refused packets, doubled so often while none of them leaves:
 * it is never longer than the trouble has lasted already.
 */
#define REFUSED_PAUSE_NS	(50 * SROCE_NS_PER_US)
#define REFUSED_DOUBLINGS	12

/* PSNs, in the first round after all may have been lost. */
#define RESTART_PSNS		8

/* ---- probes ---- */

/* When an answer is late. */
static u64 late_ns(const struct sroce_req *req)
{
	const struct sroce_rtt *rtt = &req->rtt;

	/* The path is alive, and the rest is not behind by more than a round trip. */
	if (req->rest_lost)
		return rtt->known ? max(rtt->srtt_ns, PROBE_MIN_NS / 4) : PROBE_FIRST_NS;
	if (!rtt->known)
		return PROBE_FIRST_NS << req->backoff;
	return max(rtt->srtt_ns + max(4 * rtt->rttvar_ns, rtt->srtt_ns),
		   PROBE_MIN_NS) << req->backoff;
}

void sroce_req_restart_probe(struct sroce_req *req, u64 now_ns)
{
	req->probe_deadline_ns = SROCE_NEVER;
	if (req->early && req->state == SROCE_REQ_READY && sroce_req_outstanding(req) &&
	    req->probes < PROBES_MAX)
		req->probe_deadline_ns = now_ns + late_ns(req);
}

void sroce_req_relax(struct sroce_req *req, bool measured)
{
	if (measured)
		req->backoff = 0;
	req->backoff = min_t(u8, req->backoff, BACKOFF_KEPT);
	if (req->backoff && sroce_psn_diff(req->una_psn, req->backoff_psn) > 0) {
		req->backoff--;
		req->backoff_psn = req->max_psn;
	}
}

/*
 * All that is outstanding may be lost, and with it the measure of what the way can take: a
 * few PSNs first, twice as many each round (slow start, RFC 5681).
 */
static void slow_restart(struct sroce_req *req)
{
	req->restart = RESTART_PSNS;
}

static u32 probe(struct sroce_req *req, u64 now_ns)
{
	u32 events = SROCE_REQ_EV_PROBE;

	req->probe_deadline_ns = SROCE_NEVER;
	/* Nothing of it is sent now if that is to be sent again anyway. */
	if (req->state != SROCE_REQ_READY || !sroce_req_outstanding(req) ||
	    req->next_psn == req->una_psn)
		return 0;
	req->probes++;
	if (req->rest_lost) {
		events |= SROCE_REQ_EV_SLOW_RESTART;
		slow_restart(req);
		sroce_req_seek(req, req->una_psn);
	} else {
		req->probe_end = sroce_psn_add(req->una_psn, sroce_repair_probe(req));
		req->backoff = min(req->backoff + 1, BACKOFF_MAX);
		req->backoff_psn = req->max_psn;
	}
	req->rest_lost = false;
	sroce_req_restart_probe(req, now_ns);
	return events;
}

/* ---- going back ---- */

void sroce_req_refused(struct sroce_req *req, u32 psn, u64 now_ns)
{
	u32 sent = (req->next_psn - req->una_psn) & SROCE_PSN_MASK;

	if (req->state != SROCE_REQ_READY || !req->reliable ||
	    !sroce_psn_in(psn, req->una_psn, sent))
		return;
	slow_restart(req);
	sroce_req_seek(req, psn);
	/* Whoever asked for an ACK may have been refused. */
	req->since_ackreq = max(req->since_ackreq, 1U);
	req->probe_deadline_ns = SROCE_NEVER;
	if (psn != req->refused_psn)
		req->refused = 0;
	req->refused_psn = psn;
	/* There are several attempts before an ACK timeout. */
	req->resume_ns = now_ns + min(REFUSED_PAUSE_NS << req->refused, req->ack_timeout_ns / 4);
	if (req->refused < REFUSED_DOUBLINGS)
		req->refused++;
}

u32 sroce_req_retry(struct sroce_req *req, u32 psn, u64 now_ns)
{
	u32 oldest;

	if (!req->retry_left) {
		if (sroce_req_oldest(req, &oldest))
			sroce_req_fail(req, oldest, SROCE_ST_RETRY_EXC_ERR);
		return SROCE_REQ_EV_FAILED | SROCE_REQ_EV_RETRY_EXC;
	}
	req->retry_left--;
	sroce_req_seek(req, psn);
	/* It runs from when the first of them is sent. */
	req->probe_deadline_ns = SROCE_NEVER;
	if (req->state == SROCE_REQ_READY && req->ack_timeout_ns != SROCE_NEVER)
		req->ack_deadline_ns = now_ns + req->ack_timeout_ns;
	return SROCE_REQ_EV_RETRY;
}

u32 sroce_req_seq_nak(struct sroce_req *req, u32 psn, u64 now_ns)
{
	const struct sroce_rtt *rtt = &req->rtt;

	/*
	 * What was sent again for the same NAK cannot have been missed yet: this one is
	 * older. Packets that overtake each other make many of them at a time.
	 */
	if (psn == req->nak_psn && now_ns < req->nak_old_ns)
		return SROCE_REQ_EV_SEQ_NAK;
	sroce_repair_forget(req);
	/* In an RNR wait for this PSN: those behind it were dropped, we knew that. */
	if (req->state == SROCE_REQ_RNR_WAIT && psn == req->rnr_psn)
		return SROCE_REQ_EV_SEQ_NAK;
	req->nak_psn = psn;
	req->nak_old_ns = now_ns + (rtt->samples ? rtt->last_ns / 2 : PROBE_FIRST_NS);
	return SROCE_REQ_EV_SEQ_NAK | sroce_req_retry(req, psn, now_ns);
}

u32 sroce_req_rnr(struct sroce_req *req, u32 psn, u8 timer, u64 now_ns)
{
	u32 oldest;

	/* The same NAK once more: the wait has begun already. */
	if (req->state == SROCE_REQ_RNR_WAIT && psn == req->rnr_psn)
		return SROCE_REQ_EV_IGNORED;
	if (req->rnr_retry != 7) {
		if (!req->rnr_left) {
			if (sroce_req_oldest(req, &oldest))
				sroce_req_fail(req, oldest, SROCE_ST_RNR_RETRY_EXC_ERR);
			return SROCE_REQ_EV_RNR_NAK | SROCE_REQ_EV_FAILED | SROCE_REQ_EV_RNR_EXC;
		}
		req->rnr_left--;
	}
	/* What was held may have been tried, and be dropped. */
	sroce_repair_forget(req);
	sroce_req_seek(req, psn);
	req->state = SROCE_REQ_RNR_WAIT;
	req->rnr_psn = psn;
	req->rnr_deadline_ns = now_ns + sroce_rnr_timer_ns(timer);
	req->ack_deadline_ns = SROCE_NEVER;
	req->probe_deadline_ns = SROCE_NEVER;
	req->resume_ns = SROCE_NEVER;
	return SROCE_REQ_EV_RNR_NAK;
}

/* ---- timers ---- */

u64 sroce_req_deadline(const struct sroce_req *req)
{
	return min(min(req->ack_deadline_ns, req->rnr_deadline_ns),
		   min(req->probe_deadline_ns, req->resume_ns));
}

static u32 on_ack_timeout(struct sroce_req *req, u64 now_ns)
{
	u32 events;

	req->ack_deadline_ns = SROCE_NEVER;
	if (req->state != SROCE_REQ_READY || !sroce_req_outstanding(req))
		return 0;
	sroce_repair_forget(req);
	events = SROCE_REQ_EV_TIMEOUT | sroce_req_retry(req, req->una_psn, now_ns);
	if (events & SROCE_REQ_EV_RETRY) {
		slow_restart(req);
		events |= SROCE_REQ_EV_SLOW_RESTART;
	}
	return events;
}

u32 sroce_req_on_timer(struct sroce_req *req, u64 now_ns)
{
	u32 events = 0;

	if (req->state == SROCE_REQ_RNR_WAIT) {
		if (now_ns < req->rnr_deadline_ns)
			return 0;
		req->state = SROCE_REQ_READY;
		req->rnr_deadline_ns = SROCE_NEVER;
		return SROCE_REQ_EV_RETRY;
	}
	if (req->resume_ns != SROCE_NEVER && now_ns >= req->resume_ns)
		req->resume_ns = SROCE_NEVER;
	if (req->probe_deadline_ns != SROCE_NEVER && now_ns >= req->probe_deadline_ns)
		events |= probe(req, now_ns);
	if (req->ack_deadline_ns != SROCE_NEVER && now_ns >= req->ack_deadline_ns)
		events |= on_ack_timeout(req, now_ns);
	return events;
}
