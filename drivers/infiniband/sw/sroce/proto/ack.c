// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "req.h"

/* Distance of a PSN from the oldest outstanding one. */
static u32 from_una(const struct sroce_req *req, u32 psn)
{
	return (psn - req->una_psn) & SROCE_PSN_MASK;
}

/*
 * Does the answer to a probe cover just what it asked for, and is nothing known of what
 * was sent after it? Then that did not get there either, unless there is more very soon.
 */
static bool answered_alone(const struct sroce_req *req)
{
	return req->una_psn == req->probe_end && sroce_req_outstanding(req) &&
	       sroce_psn_diff(req->repair.held_psn, req->una_psn) <= 0 &&
	       sroce_psn_diff(req->repair.answer_psn, req->una_psn) <= 0;
}

/* @n PSNs were acknowledged: retries start afresh, the ACK timer too. */
static void progress(struct sroce_req *req, u32 n, u64 now_ns)
{
	bool measured = sroce_rtt_on_acked(&req->rtt, req->una_psn, now_ns);

	sroce_req_relax(req, measured);
	if (req->restart < req->window)
		req->restart += n;
	else
		req->restart = U32_MAX;
	req->retry_left = req->retry_cnt;
	req->rnr_left = req->rnr_retry;
	req->implied_una = 0;
	/* A late answer may overtake the send pointer of a retry under way. */
	if (from_una(req, req->next_psn) > from_una(req, req->max_psn))
		sroce_req_seek(req, req->una_psn);
	req->ack_deadline_ns = SROCE_NEVER;
	if (req->state == SROCE_REQ_READY && sroce_req_outstanding(req) &&
	    req->ack_timeout_ns != SROCE_NEVER)
		req->ack_deadline_ns = now_ns + req->ack_timeout_ns;
	req->rest_lost = answered_alone(req);
	req->probes = 0;
	req->refused = 0;
	sroce_req_restart_probe(req, now_ns);
}

/* An answer of a READ, or the one of an atomic, is there. */
static void answer_taken(struct sroce_req *req, struct sroce_swqe *wqe)
{
	wqe->resp_done++;
	if (wqe->rd_counted)
		req->rd_psns--;
	if (wqe->resp_done < wqe->npsn)
		return;
	wqe->state = SROCE_SWQE_DONE;
	if (wqe->rd_counted)
		req->rd_out--;
	wqe->rd_counted = false;
}

/* How far una gets: over requests that are acknowledged and answers that are there. */
static u32 reach(struct sroce_req *req)
{
	u32 acked = from_una(req, req->acked_psn);
	u32 una = req->una_psn;
	u32 i;

	for (i = req->head; i != req->tail; i++) {
		struct sroce_swqe *wqe = sroce_req_wqe(req, i);
		u32 end = sroce_psn_add(wqe->first_psn, wqe->npsn);

		if (wqe->state == SROCE_SWQE_DONE)
			continue;
		if (wqe->state != SROCE_SWQE_STARTED)
			break;
		if (sroce_wr_takes_rd(wqe->op)) {
			una = sroce_psn_add(wqe->first_psn, wqe->resp_done);
			while (una != end && sroce_repair_take(req, una)) {
				answer_taken(req, wqe);
				una = sroce_psn_add(una, 1);
			}
			if (una != end)
				return una;
			continue;
		}
		if (acked < from_una(req, end))
			return acked > from_una(req, una) ? req->acked_psn : una;
		wqe->state = SROCE_SWQE_DONE;
		una = end;
	}
	return una;
}

static void catch_up(struct sroce_req *req, u64 now_ns, u32 *events)
{
	u32 una = reach(req);
	u32 from = req->una_psn;

	if (una == from)
		return;
	if (from_una(req, req->acked_psn) < from_una(req, una))
		req->acked_psn = una;
	req->una_psn = una;
	if (req->selective)
		sroce_repair_passed(req, from, una);
	progress(req, (una - from) & SROCE_PSN_MASK, now_ns);
	*events |= SROCE_REQ_EV_PROGRESS;
}

/*
 * Acknowledge what is before @psn. Returns false if an answer of a READ or atomic
 * before it is missing: an implied NAK (IBA 9.7.7.2.4).
 */
static bool acknowledge_before(struct sroce_req *req, u32 psn, u64 now_ns, u32 *events)
{
	if (from_una(req, psn) > from_una(req, req->acked_psn))
		req->acked_psn = psn;
	catch_up(req, now_ns, events);
	return sroce_psn_diff(req->una_psn, psn) >= 0;
}

/* Answers before @psn were sent, and some are missing: they are asked for. */
static void ask_for_missing(struct sroce_req *req, u32 psn, u32 *events)
{
	if (sroce_repair_answers(req, psn))
		*events |= SROCE_REQ_EV_IMPLIED_NAK | SROCE_REQ_EV_HOLE;
}

/* An answer beyond a missing READ or atomic answer: once per gap, go back to the gap. */
static void implied_nak(struct sroce_req *req, u64 now_ns, u32 *events)
{
	if (req->implied_una == req->una_psn + 1) {
		*events |= SROCE_REQ_EV_IGNORED;
		return;
	}
	req->implied_una = req->una_psn + 1;
	*events |= SROCE_REQ_EV_IMPLIED_NAK | sroce_req_retry(req, req->una_psn, now_ns);
}

static void fail_oldest(struct sroce_req *req, enum sroce_status status, u32 event, u32 *events)
{
	u32 index;

	if (sroce_req_oldest(req, &index)) {
		sroce_req_fail(req, index, status);
		*events |= SROCE_REQ_EV_FAILED | event;
	}
}

static void take_credits(struct sroce_req *req, const struct sroce_pkt *pkt)
{
	u8 code = pkt->syndrome & SROCE_AETH_VALUE_MASK;
	u32 lsn;

	if ((pkt->syndrome & SROCE_AETH_TYPE_MASK) != SROCE_AETH_ACK)
		return;
	if (code == SROCE_AETH_NO_CREDITS) {
		req->credits_known = false;
		return;
	}
	lsn = sroce_psn_add(pkt->msn, sroce_credits_decode(code));
	if (!req->credits_known || sroce_psn_diff(lsn, req->lsn) > 0)
		req->lsn = lsn;
	req->credits_known = true;
}

static void on_nak(struct sroce_req *req, const struct sroce_pkt *pkt, u64 now_ns, u32 *events)
{
	switch (pkt->syndrome) {
	case SROCE_NAK_PSN_SEQ:
		*events |= sroce_req_seq_nak(req, pkt->psn, now_ns);
		break;
	case SROCE_NAK_INV_REQ:
		fail_oldest(req, SROCE_ST_REM_INV_REQ_ERR, SROCE_REQ_EV_REM_INV_REQ, events);
		break;
	case SROCE_NAK_REM_ACC:
		fail_oldest(req, SROCE_ST_REM_ACCESS_ERR, SROCE_REQ_EV_REM_ACCESS, events);
		break;
	case SROCE_NAK_REM_OP:
		fail_oldest(req, SROCE_ST_REM_OP_ERR, SROCE_REQ_EV_REM_OP, events);
		break;
	default:
		*events |= SROCE_REQ_EV_IGNORED;
	}
}

static void on_ack(struct sroce_req *req, const struct sroce_pkt *pkt, u64 now_ns, u32 *events)
{
	u8 type = pkt->syndrome & SROCE_AETH_TYPE_MASK;
	bool ack = type == SROCE_AETH_ACK;
	/* An ACK covers its own PSN, a NAK those before it. */
	u32 psn = ack ? sroce_psn_add(pkt->psn, 1) : pkt->psn;
	bool complete;

	if (type == SROCE_AETH_RSVD || pkt->syndrome & 0x80 ||
	    (pkt->flags & SROCE_F_SACK && !ack)) {
		*events |= SROCE_REQ_EV_IGNORED;
		return;
	}
	take_credits(req, pkt);
	complete = acknowledge_before(req, psn, now_ns, events);
	if (!complete && !req->hold) {
		implied_nak(req, now_ns, events);
		return;
	}
	if (type == SROCE_AETH_RNR_NAK)
		*events |= sroce_req_rnr(req, pkt->psn, pkt->syndrome & SROCE_AETH_VALUE_MASK,
					 now_ns);
	else if (!ack && (complete || pkt->syndrome == SROCE_NAK_PSN_SEQ))
		on_nak(req, pkt, now_ns, events);
	if (!complete)
		ask_for_missing(req, psn, events);
	if (pkt->flags & SROCE_F_SACK && req->selective && sroce_repair_sack(req, pkt))
		*events |= SROCE_REQ_EV_HOLE;
}

/* Does the answer packet fit as number @k of the operation that waits for it? */
static bool answer_fits(const struct sroce_req *req, const struct sroce_swqe *wqe, u32 k,
			const struct sroce_pkt *pkt)
{
	bool last = k + 1 == wqe->npsn;
	bool end = pkt->flags & SROCE_F_END;

	if (pkt->flags & SROCE_F_ATOMIC_ACK)
		return true;
	/* The answer to a request for a part ends where the part does. */
	if (last ? !end : end && !wqe->partial)
		return false;
	if (wqe->op != SROCE_WR_READ)
		return pkt->payload_bytes == 0;
	return pkt->payload_bytes == (last ? wqe->length - k * req->mtu : req->mtu);
}

/* The operation that waits for this answer: it may be ahead of its turn. */
static struct sroce_swqe *find_answered(const struct sroce_req *req, const struct sroce_pkt *pkt,
					u32 *index)
{
	u32 i;

	for (i = req->head; i != req->tail; i++) {
		struct sroce_swqe *wqe = sroce_req_wqe(req, i);

		if (wqe->state == SROCE_SWQE_DONE)
			continue;
		if (wqe->state != SROCE_SWQE_STARTED)
			break;
		if (!sroce_psn_in(pkt->psn, wqe->first_psn, wqe->npsn))
			continue;
		*index = i;
		if (pkt->flags & SROCE_F_ATOMIC_ACK ? sroce_wr_is_atomic(wqe->op) :
						      sroce_wr_is_read(wqe->op))
			return wqe;
		break;
	}
	return NULL;
}

/* A READ response or atomic acknowledgement, the next one missing or one ahead of it. */
static enum sroce_req_take on_answer(struct sroce_req *req, const struct sroce_pkt *pkt,
				     u64 now_ns, struct sroce_req_in *in)
{
	bool in_turn = acknowledge_before(req, pkt->psn, now_ns, &in->events);
	struct sroce_swqe *wqe;
	u32 k;

	if (!in_turn && (!req->hold || from_una(req, pkt->psn) >= SROCE_REPAIR_AHEAD)) {
		implied_nak(req, now_ns, &in->events);
		return SROCE_REQ_TAKE_DONE;
	}
	wqe = find_answered(req, pkt, &in->index);
	if (!wqe || sroce_repair_has(req, pkt->psn)) {
		in->events |= SROCE_REQ_EV_IGNORED;
		return SROCE_REQ_TAKE_DONE;
	}
	k = (pkt->psn - wqe->first_psn) & SROCE_PSN_MASK;
	if (!answer_fits(req, wqe, k, pkt)) {
		sroce_req_fail(req, in->index, SROCE_ST_BAD_RESP_ERR);
		in->events |= SROCE_REQ_EV_FAILED | SROCE_REQ_EV_BAD_RESP;
		return SROCE_REQ_TAKE_DONE;
	}
	in->psn = pkt->psn;
	in->offset = k * req->mtu;
	in->bytes = pkt->flags & SROCE_F_ATOMIC_ACK ? sizeof(u64) : pkt->payload_bytes;
	return SROCE_REQ_TAKE_PLACE;
}

/* Is it for us? A SACK may acknowledge nothing new. */
static bool is_outstanding(const struct sroce_req *req, const struct sroce_pkt *pkt)
{
	u32 out = from_una(req, req->max_psn);

	return sroce_psn_in(pkt->psn, req->una_psn, out) ||
	       (out && pkt->flags & SROCE_F_SACK &&
		pkt->psn == ((req->una_psn - 1) & SROCE_PSN_MASK));
}

enum sroce_req_take sroce_req_on_packet(struct sroce_req *req, const struct sroce_pkt *pkt,
					u64 now_ns, struct sroce_req_in *in)
{
	memset(in, 0, sizeof(*in));
	if (req->state == SROCE_REQ_STOPPED || !req->reliable ||
	    !is_outstanding(req, pkt)) {
		/* Fresh credits may come with the ACK of the newest PSN repeated. */
		if (req->state != SROCE_REQ_STOPPED && pkt->flags & SROCE_F_ACK &&
		    pkt->psn == ((req->una_psn - 1) & SROCE_PSN_MASK))
			take_credits(req, pkt);
		in->events = SROCE_REQ_EV_IGNORED;
		return SROCE_REQ_TAKE_DONE;
	}
	if (pkt->flags & SROCE_F_ACK) {
		on_ack(req, pkt, now_ns, &in->events);
		return SROCE_REQ_TAKE_DONE;
	}
	return on_answer(req, pkt, now_ns, in);
}

void sroce_req_placed(struct sroce_req *req, struct sroce_req_in *in, enum sroce_status status,
		      u64 now_ns)
{
	if (status != SROCE_ST_SUCCESS) {
		sroce_req_fail(req, in->index, status);
		in->events |= SROCE_REQ_EV_FAILED;
		return;
	}
	sroce_repair_answered(req, in->psn);
	catch_up(req, now_ns, &in->events);
	if (in->events & SROCE_REQ_EV_PROGRESS && sroce_psn_diff(in->psn, req->una_psn) < 0)
		return;
	/* Ahead of its turn: the responder is alive. */
	in->events |= SROCE_REQ_EV_AHEAD;
	if (req->ack_deadline_ns != SROCE_NEVER)
		req->ack_deadline_ns = now_ns + req->ack_timeout_ns;
	sroce_req_restart_probe(req, now_ns);
	ask_for_missing(req, sroce_psn_add(in->psn, 1), &in->events);
}

/* ---- rows of answers ---- */

/* Answers that are the next ones missing, with none that came ahead of them. */
static bool row_ok(const struct sroce_req *req, const struct sroce_pkt *pkt, u32 n)
{
	u32 i;

	if (req->state == SROCE_REQ_STOPPED || !req->reliable || pkt->psn != req->una_psn ||
	    !(pkt->flags & SROCE_F_READ_RESP) || pkt->flags & (SROCE_F_START | SROCE_F_END) ||
	    pkt->payload_bytes != req->mtu || n >= SROCE_REPAIR_AHEAD)
		return false;
	/* The one behind them neither. */
	for (i = 0; i <= n; i++)
		if (sroce_repair_has(req, sroce_psn_add(pkt->psn, i)))
			return false;
	return true;
}

u32 sroce_req_on_row(const struct sroce_req *req, const struct sroce_pkt *pkt, u32 n,
		     struct sroce_req_in *in)
{
	u32 out = from_una(req, req->max_psn), k;
	const struct sroce_swqe *wqe;

	n = min(n, out);
	if (!n || !row_ok(req, pkt, n))
		return 0;
	memset(in, 0, sizeof(*in));
	wqe = find_answered(req, pkt, &in->index);
	if (!wqe || wqe->op != SROCE_WR_READ)
		return 0;
	k = (pkt->psn - wqe->first_psn) & SROCE_PSN_MASK;
	if (k != wqe->resp_done || k + 1 >= wqe->npsn)
		return 0;
	n = min(n, wqe->npsn - 1 - k);
	in->psn = pkt->psn;
	in->offset = k * req->mtu;
	in->bytes = n * req->mtu;
	return n;
}

void sroce_req_row_placed(struct sroce_req *req, u32 n, u64 now_ns, struct sroce_req_in *in)
{
	struct sroce_swqe *wqe = sroce_req_wqe(req, in->index);
	u32 una = sroce_psn_add(req->una_psn, n);

	wqe->resp_done += n;
	if (wqe->rd_counted)
		req->rd_psns -= n;
	if (from_una(req, req->acked_psn) < from_una(req, una))
		req->acked_psn = una;
	req->una_psn = una;
	progress(req, n, now_ns);
	in->events |= SROCE_REQ_EV_PROGRESS;
}
