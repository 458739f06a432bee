// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "req.h"

/* BTH operation by place in the message; first and middle are 0 where there is only one packet. */
struct op_row {
	u8 first, middle, last, only;
};

static const struct op_row op_rows[] = {
	[SROCE_WR_WRITE] = { SROCE_OP_WRITE_FIRST, SROCE_OP_WRITE_MIDDLE,
			     SROCE_OP_WRITE_LAST, SROCE_OP_WRITE_ONLY },
	[SROCE_WR_WRITE_IMM] = { SROCE_OP_WRITE_FIRST, SROCE_OP_WRITE_MIDDLE,
				 SROCE_OP_WRITE_LAST_IMM, SROCE_OP_WRITE_ONLY_IMM },
	[SROCE_WR_SEND] = { SROCE_OP_SEND_FIRST, SROCE_OP_SEND_MIDDLE,
			    SROCE_OP_SEND_LAST, SROCE_OP_SEND_ONLY },
	[SROCE_WR_SEND_IMM] = { SROCE_OP_SEND_FIRST, SROCE_OP_SEND_MIDDLE,
				SROCE_OP_SEND_LAST_IMM, SROCE_OP_SEND_ONLY_IMM },
	[SROCE_WR_SEND_INV] = { SROCE_OP_SEND_FIRST, SROCE_OP_SEND_MIDDLE,
				SROCE_OP_SEND_LAST_INV, SROCE_OP_SEND_ONLY_INV },
	[SROCE_WR_READ] = { .only = SROCE_OP_READ_REQUEST },
	[SROCE_WR_CMP_SWP] = { .only = SROCE_OP_COMPARE_SWAP },
	[SROCE_WR_FETCH_ADD] = { .only = SROCE_OP_FETCH_ADD },
	[SROCE_WR_FLUSH] = { .only = SROCE_OP_FLUSH },
	[SROCE_WR_ATOMIC_WRITE] = { .only = SROCE_OP_ATOMIC_WRITE },
};

static u8 wire_op(u8 op, bool first, bool last)
{
	const struct op_row *row = &op_rows[op];

	if (first)
		return last ? row->only : row->first;
	return last ? row->last : row->middle;
}

/* Distance of a PSN from the oldest outstanding one; up to 2^24 - 1, never negative. */
static u32 from_una(const struct sroce_req *req, u32 psn)
{
	return (psn - req->una_psn) & SROCE_PSN_MASK;
}

static u32 wqe_npsn(const struct sroce_req *req, const struct sroce_swqe *wqe)
{
	if (sroce_wr_is_atomic(wqe->op) ||
	    (sroce_wr_is_read(wqe->op) && wqe->op != SROCE_WR_READ) || !wqe->length)
		return 1;
	return wqe->length / req->mtu + (wqe->length % req->mtu != 0);
}

/* Has its message to wait for the responder's credits (IBA 9.7.7.2.5)? */
static bool is_limited(const struct sroce_req *req, const struct sroce_swqe *wqe, u32 ssn)
{
	return req->credits_known && sroce_wr_takes_recv(wqe->op) &&
	       sroce_psn_diff(ssn, req->lsn) > 0;
}

void sroce_req_reset(struct sroce_req *req)
{
	req->head = 0;
	req->cur = 0;
	req->tail = 0;
	req->draining = false;
	sroce_req_start(req, 0);
	sroce_req_stop(req);
}

void sroce_req_start(struct sroce_req *req, u32 sq_psn)
{
	req->cur_pkt = 0;
	req->una_psn = sq_psn & SROCE_PSN_MASK;
	req->next_psn = req->una_psn;
	req->max_psn = req->una_psn;
	req->state = SROCE_REQ_READY;
	req->rd_out = 0;
	req->rd_psns = 0;
	req->retry_left = req->retry_cnt;
	req->rnr_left = req->rnr_retry;
	req->since_ackreq = 0;
	req->ssn = 0;
	req->credits_known = false;
	req->lsn = 0;
	req->acked_psn = req->una_psn;
	req->implied_una = 0;
	req->flushing = false;
	req->ack_deadline_ns = SROCE_NEVER;
	req->rnr_deadline_ns = SROCE_NEVER;
	req->probe_deadline_ns = SROCE_NEVER;
	req->probes = 0;
	req->restart = U32_MAX;
	req->probe_end = req->una_psn;
	req->backoff = 0;
	req->rest_lost = false;
	req->resume_ns = SROCE_NEVER;
	req->refused = 0;
	req->refused_psn = req->una_psn;
	req->nak_psn = req->una_psn;
	req->nak_old_ns = 0;
	sroce_rtt_reset(&req->rtt);
	sroce_repair_reset(&req->repair, req->una_psn);
}

void sroce_req_stop(struct sroce_req *req)
{
	req->state = SROCE_REQ_STOPPED;
	req->ack_deadline_ns = SROCE_NEVER;
	req->rnr_deadline_ns = SROCE_NEVER;
	req->probe_deadline_ns = SROCE_NEVER;
	req->resume_ns = SROCE_NEVER;
}

bool sroce_req_oldest(const struct sroce_req *req, u32 *index)
{
	u32 i;

	for (i = req->head; i != req->tail; i++) {
		u8 state = sroce_req_wqe(req, i)->state;

		if (state == SROCE_SWQE_STARTED) {
			*index = i;
			return true;
		}
		if (state != SROCE_SWQE_DONE)
			break;
	}
	return false;
}

static void count_rd(struct sroce_req *req, struct sroce_swqe *wqe)
{
	wqe->rd_counted = true;
	req->rd_out++;
	req->rd_psns += wqe->npsn - wqe->resp_done;
}

void sroce_req_seek(struct sroce_req *req, u32 psn)
{
	struct sroce_swqe *wqe = NULL;
	u32 i;

	sroce_rtt_on_retry(&req->rtt);
	req->rd_out = 0;
	req->rd_psns = 0;
	for (i = req->head; i != req->tail; i++) {
		wqe = sroce_req_wqe(req, i);
		if (wqe->state == SROCE_SWQE_POSTED || wqe->state == SROCE_SWQE_FAILED)
			break;
		if (wqe->state == SROCE_SWQE_DONE)
			continue;
		if (sroce_psn_in(psn, wqe->first_psn, wqe->npsn))
			break;
		if (sroce_wr_takes_rd(wqe->op))
			count_rd(req, wqe);
	}
	req->cur = i;
	req->cur_pkt = 0;
	req->next_psn = psn;
	sroce_repair_go_back(req);
	if (i != req->tail && wqe->state == SROCE_SWQE_STARTED && !sroce_wr_takes_rd(wqe->op))
		req->cur_pkt = (psn - wqe->first_psn) & SROCE_PSN_MASK;
	for (; i != req->tail; i++) {
		wqe = sroce_req_wqe(req, i);
		if (wqe->state == SROCE_SWQE_POSTED)
			break;
		wqe->rd_counted = false;
	}
}

/* May the message at cur begin (or, after a retry, begin again)? */
static bool may_begin(const struct sroce_req *req, const struct sroce_swqe *wqe)
{
	bool posted = wqe->state == SROCE_SWQE_POSTED;

	if (posted && req->draining)
		return false;
	if ((wqe->flags & SROCE_WF_FENCE) && req->rd_out)
		return false;
	if (sroce_wr_takes_rd(wqe->op) && req->rd_out >= req->max_rd_atomic)
		return false;
	/* A limited message starts only when nothing else is in flight. */
	if (posted && is_limited(req, wqe, sroce_psn_add(req->ssn, 1)))
		return !sroce_req_outstanding(req);
	return true;
}

/* Is there room in the window for another packet of this message? */
static bool has_window(const struct sroce_req *req, const struct sroce_swqe *wqe)
{
	u32 out = from_una(req, req->next_psn);

	if (!req->reliable || !out)
		return true;
	if (sroce_wr_takes_rd(wqe->op)) {
		u32 npsn = wqe->state == SROCE_SWQE_POSTED ? wqe_npsn(req, wqe) : wqe->npsn;

		if (out >= req->restart && !req->since_ackreq)
			return false;
		/* Answers that come after one is lost are to be kept, all of them. */
		return out + npsn < (req->hold ? SROCE_REPAIR_AHEAD : SROCE_PSN_WINDOW);
	}
	if (out + 1 >= SROCE_PSN_WINDOW)
		return false;
	out -= req->rd_psns;
	if (out >= req->window)
		return false;
	/* If nobody was asked to acknowledge what is in flight, one more packet asks. */
	return out < min(req->cwnd, req->restart) || req->since_ackreq;
}

static void begin(struct sroce_req *req, struct sroce_swqe *wqe)
{
	wqe->state = SROCE_SWQE_STARTED;
	wqe->first_psn = req->next_psn;
	wqe->npsn = wqe_npsn(req, wqe);
	wqe->resp_done = 0;
	wqe->held = false;
	wqe->partial = false;
	req->ssn = sroce_psn_add(req->ssn, 1);
	wqe->ssn = req->ssn;
}

static void fill_common(const struct sroce_req *req, const struct sroce_swqe *wqe,
			struct sroce_pkt *pkt)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->pkey = req->pkey;
	pkt->migreq = true;
	pkt->qpn = req->transport == SROCE_UD ? wqe->remote_qpn : req->dest_qpn;
	pkt->qkey = wqe->remote_qkey;
	pkt->srqn = wqe->srqn;
	pkt->imm = wqe->imm;
	pkt->inv_rkey = wqe->inv_rkey;
	pkt->rkey = wqe->rkey;
	pkt->va = wqe->remote_addr;
	pkt->dma_bytes = wqe->length;
}

/* READ, atomics, FLUSH, ATOMIC_WRITE: one packet that takes all PSNs of its answer. */
void sroce_req_fill_rd(const struct sroce_req *req, const struct sroce_swqe *wqe, u32 k, u32 n,
		       struct sroce_req_out *out)
{
	struct sroce_pkt *pkt = &out->pkt;
	u32 done = k * req->mtu;

	fill_common(req, wqe, pkt);
	out->offset = 0;
	pkt->opcode = req->transport | op_rows[wqe->op].only;
	pkt->psn = wqe->first_psn;
	pkt->ackreq = true;
	pkt->feth = wqe->feth;
	switch (wqe->op) {
	case SROCE_WR_READ:
		pkt->psn = sroce_psn_add(wqe->first_psn, k);
		pkt->va = wqe->remote_addr + done;
		pkt->dma_bytes = k + n == wqe->npsn ? wqe->length - done : n * req->mtu;
		break;
	case SROCE_WR_CMP_SWP:
		pkt->compare = wqe->compare_add;
		pkt->swap_add = wqe->swap;
		break;
	case SROCE_WR_FETCH_ADD:
		pkt->swap_add = wqe->compare_add;
		break;
	case SROCE_WR_ATOMIC_WRITE:
		pkt->payload_bytes = sizeof(u64);
		pkt->dma_bytes = sizeof(u64);
		break;
	}
}

static void send_rd(struct sroce_req *req, struct sroce_swqe *wqe, struct sroce_req_out *out)
{
	sroce_req_fill_rd(req, wqe, wqe->resp_done, wqe->npsn - wqe->resp_done, out);
	count_rd(req, wqe);
	req->next_psn = sroce_psn_add(wqe->first_psn, wqe->npsn);
	req->cur++;
	req->cur_pkt = 0;
	req->since_ackreq = 0;
}

/* Does the next packet of this message, not its last, ask for an ACK? */
static bool asks_now(const struct sroce_req *req, const struct sroce_swqe *wqe)
{
	u32 out = from_una(req, req->next_psn) - req->rd_psns;
	u32 window = min3(req->window, req->cwnd, req->restart);

	return req->since_ackreq + 1 >= req->ackreq_every || out + 1 >= window ||
	       is_limited(req, wqe, wqe->ssn);
}

static bool wants_ack(struct sroce_req *req, const struct sroce_swqe *wqe, bool last)
{
	if (!req->reliable)
		return false;
	if (!last && !asks_now(req, wqe)) {
		req->since_ackreq++;
		return false;
	}
	req->since_ackreq = 0;
	return true;
}

void sroce_req_fill_data(const struct sroce_req *req, const struct sroce_swqe *wqe, u32 k,
			 struct sroce_req_out *out)
{
	struct sroce_pkt *pkt = &out->pkt;
	bool last = k + 1 == wqe->npsn;

	fill_common(req, wqe, pkt);
	out->offset = k * req->mtu;
	pkt->opcode = req->transport | wire_op(wqe->op, k == 0, last);
	pkt->psn = sroce_psn_add(wqe->first_psn, k);
	pkt->payload_bytes = last ? wqe->length - out->offset : req->mtu;
	pkt->solicited = last && (wqe->flags & SROCE_WF_SOLICITED);
}

/* SEND and WRITE: the packet at cur_pkt. */
static void send_data(struct sroce_req *req, struct sroce_swqe *wqe, struct sroce_req_out *out)
{
	bool last = req->cur_pkt + 1 == wqe->npsn;

	sroce_req_fill_data(req, wqe, req->cur_pkt, out);
	out->pkt.ackreq = wants_ack(req, wqe, last);
	req->next_psn = sroce_psn_add(req->next_psn, 1);
	req->cur_pkt++;
	if (!last)
		return;
	req->cur++;
	req->cur_pkt = 0;
	if (!req->reliable)
		wqe->state = SROCE_SWQE_DONE;
}

static void account_sent(struct sroce_req *req, u64 now_ns)
{
	if (!req->reliable) {
		req->max_psn = req->next_psn;
		req->una_psn = req->next_psn;
		return;
	}
	if (from_una(req, req->next_psn) > from_una(req, req->max_psn))
		req->max_psn = req->next_psn;
	if (req->ack_deadline_ns == SROCE_NEVER && req->ack_timeout_ns != SROCE_NEVER)
		req->ack_deadline_ns = now_ns + req->ack_timeout_ns;
	if (req->probe_deadline_ns == SROCE_NEVER)
		sroce_req_restart_probe(req, now_ns);
}

/*
 * After a retry the way forward leads over local operations already done, and over
 * packets that the peer holds.
 */
static void skip_done(struct sroce_req *req)
{
	while (req->cur != req->tail) {
		struct sroce_swqe *wqe = sroce_req_wqe(req, req->cur);

		if (wqe->state == SROCE_SWQE_STARTED && !sroce_wr_takes_rd(wqe->op) &&
		    req->next_psn != req->max_psn && sroce_repair_has(req, req->next_psn)) {
			req->next_psn = sroce_psn_add(req->next_psn, 1);
			if (++req->cur_pkt < wqe->npsn)
				continue;
		} else if (wqe->state != SROCE_SWQE_DONE) {
			break;
		}
		req->cur++;
		req->cur_pkt = 0;
	}
}

enum sroce_req_what sroce_req_next(struct sroce_req *req, u64 now_ns, struct sroce_req_out *out)
{
	struct sroce_swqe *wqe;
	bool alone;

	if (req->state != SROCE_REQ_READY ||
	    (req->resume_ns != SROCE_NEVER && now_ns < req->resume_ns))
		return SROCE_REQ_NOTHING;
	if (sroce_repair_next(req, out)) {
		account_sent(req, now_ns);
		return SROCE_REQ_PACKET;
	}
	skip_done(req);
	if (req->cur == req->tail)
		return SROCE_REQ_NOTHING;

	wqe = sroce_req_wqe(req, req->cur);
	out->index = req->cur;
	out->offset = 0;
	if (wqe->state == SROCE_SWQE_FAILED)
		return SROCE_REQ_NOTHING;
	if (sroce_wr_takes_rd(wqe->op) && !req->max_rd_atomic) {
		sroce_req_fail(req, req->cur, SROCE_ST_LOC_QP_OP_ERR);
		return SROCE_REQ_NOTHING;
	}
	if (req->cur_pkt == 0 && !may_begin(req, wqe))
		return SROCE_REQ_NOTHING;
	if (sroce_wr_is_local(wqe->op))
		return SROCE_REQ_LOCAL;
	if (!has_window(req, wqe))
		return SROCE_REQ_NOTHING;
	/* The rest of a limited message waits until its first packet found a receive WQE. */
	if (req->cur_pkt && req->una_psn == wqe->first_psn && is_limited(req, wqe, wqe->ssn))
		return SROCE_REQ_NOTHING;

	if (wqe->state == SROCE_SWQE_POSTED)
		begin(req, wqe);
	out->retransmit = from_una(req, req->next_psn) < from_una(req, req->max_psn);
	alone = !req->rd_out;
	if (sroce_wr_takes_rd(wqe->op))
		send_rd(req, wqe, out);
	else
		send_data(req, wqe, out);
	if (req->reliable && !out->retransmit && out->pkt.ackreq)
		sroce_rtt_on_sent(&req->rtt, out->pkt.psn, alone, now_ns);
	account_sent(req, now_ns);
	return SROCE_REQ_PACKET;
}

/* Is @out the MIDDLE packet before next_psn, and was nothing after it sent before? */
static bool is_newest(const struct sroce_req *req, const struct sroce_req_out *out)
{
	return req->state == SROCE_REQ_READY && req->cur != req->tail && req->cur == out->index &&
	       req->cur_pkt > 1 && req->next_psn == req->max_psn &&
	       req->next_psn == sroce_psn_add(out->pkt.psn, 1) && !out->pkt.ackreq &&
	       req->repair.sent == req->repair.end;
}

bool sroce_req_more(struct sroce_req *req, struct sroce_req_out *out)
{
	const struct sroce_swqe *wqe = sroce_req_wqe(req, req->cur);

	if (!is_newest(req, out) || wqe->state != SROCE_SWQE_STARTED ||
	    req->cur_pkt + 1 >= wqe->npsn)
		return false;
	if (req->reliable) {
		if (!has_window(req, wqe) || asks_now(req, wqe))
			return false;
		req->since_ackreq++;
	}
	out->pkt.psn = req->next_psn;
	out->offset += req->mtu;
	out->retransmit = false;
	req->cur_pkt++;
	req->next_psn = sroce_psn_add(req->next_psn, 1);
	req->max_psn = req->next_psn;
	if (!req->reliable)
		req->una_psn = req->next_psn;
	return true;
}

void sroce_req_local_done(struct sroce_req *req, enum sroce_status status)
{
	struct sroce_swqe *wqe = sroce_req_wqe(req, req->cur);

	if (status != SROCE_ST_SUCCESS) {
		sroce_req_fail(req, req->cur, status);
		return;
	}
	wqe->state = SROCE_SWQE_DONE;
	req->cur++;
}

void sroce_req_fail(struct sroce_req *req, u32 index, enum sroce_status status)
{
	struct sroce_swqe *wqe = sroce_req_wqe(req, index);

	wqe->state = SROCE_SWQE_FAILED;
	wqe->status = status;
	if (req->cur - req->head >= index - req->head) {
		req->cur = index;
		req->cur_pkt = 0;
	}
}

bool sroce_req_pop(struct sroce_req *req, u32 *index, enum sroce_status *status)
{
	struct sroce_swqe *wqe;

	if (req->head == req->tail)
		return false;
	wqe = sroce_req_wqe(req, req->head);
	if (req->flushing) {
		*status = SROCE_ST_WR_FLUSH_ERR;
	} else if (wqe->state == SROCE_SWQE_DONE) {
		*status = SROCE_ST_SUCCESS;
	} else if (wqe->state == SROCE_SWQE_FAILED) {
		*status = wqe->status;
		sroce_req_stop(req);
	} else if (req->state == SROCE_REQ_STOPPED) {
		*status = SROCE_ST_WR_FLUSH_ERR;
	} else {
		return false;
	}
	/* After the first that did not succeed none does, a local operation done early neither. */
	req->flushing = *status != SROCE_ST_SUCCESS;
	if (req->cur == req->head)
		req->cur++;
	*index = req->head++;
	return true;
}

bool sroce_req_drained(const struct sroce_req *req)
{
	return req->draining && req->cur_pkt == 0 && req->head == req->cur &&
	       !sroce_req_outstanding(req);
}
