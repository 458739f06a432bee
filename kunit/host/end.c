// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester's shell: posts, pumps, timers, answers and completions; checks
 * what the requester promises.
 */
#include "sim.h"

#define EV_RETRIES (SROCE_REQ_EV_PROBE | SROCE_REQ_EV_HOLE | SROCE_REQ_EV_RETRY | SROCE_REQ_EV_TIMEOUT | SROCE_REQ_EV_SEQ_NAK | \
		    SROCE_REQ_EV_IMPLIED_NAK)

/* ---- posting ---- */

static void fill_swqe(struct end *end, const struct op *op, struct sroce_swqe *wqe)
{
	memset(wqe, 0xa5, sizeof(*wqe));	/* what the requester must set itself */
	wqe->wr_id = op - end->ops;
	wqe->op = op->op;
	wqe->flags = op->flags;
	wqe->state = SROCE_SWQE_POSTED;
	wqe->status = SROCE_ST_SUCCESS;
	wqe->num_sge = 0;
	wqe->rd_counted = false;
	wqe->imm = op->imm;
	wqe->inv_rkey = op->inv_rkey;
	wqe->length = op->length;
	wqe->remote_addr = op->va;
	wqe->rkey = op->rkey;
	wqe->srqn = op->srqn;
	wqe->compare_add = op->compare_add;
	wqe->swap = op->swap;
	wqe->feth = op->feth;
}

static bool queue_full(const struct end *end)
{
	return end->req.tail - end->req.head > end->req.mask;
}

void end_want_post(struct end *end)
{
	if (end->post_queued || end->posted == end->num_ops || queue_full(end))
		return;
	end->post_queued = true;
	event_add(end->sim, end->sim->now + 1 + rng_below(&end->sim->rng, end->post_gap),
		  EVENT_POST_SEND, end, NULL);
}

/* Post a few, if there is room; with a full queue the next completion brings us back. */
void end_post_send(struct end *end)
{
	u32 n = rng_range(&end->sim->rng, 1, 8);

	end->post_queued = false;
	while (n-- && end->posted < end->num_ops && !queue_full(end)) {
		fill_swqe(end, &end->ops[end->posted], sroce_req_wqe(&end->req, end->req.tail));
		end->posted++;
		end->req.tail++;
	}
	end_want_post(end);
	end_want_pump(end, 0);
}

/* ---- sending ---- */

void end_want_pump(struct end *end, u64 delay)
{
	if (end->pump_queued)
		return;
	end->pump_queued = true;
	event_add(end->sim, end->sim->now + delay, EVENT_PUMP, end, NULL);
}

/* Fence (IBA 10.8.3.3): the READs and atomics before it are over. */
static void check_fence(struct end *end, u32 index)
{
	u32 i;

	if (!(end_op(end, index)->flags & SROCE_WF_FENCE))
		return;
	for (i = end->req.head; i != index; i++)
		CHECK(end->sim, !sroce_wr_takes_rd(end_op(end, i)->op) ||
		      sroce_req_wqe(&end->req, i)->state == SROCE_SWQE_DONE,
		      "%c: fenced WQE %u started before READ or atomic %u was over",
		      'A' + end->id, index - end->first_index, i - end->first_index);
}

static void check_rd_limit(struct end *end)
{
	u32 i, n = 0;

	for (i = end->req.head; i != end->req.tail; i++)
		if (sroce_wr_takes_rd(end_op(end, i)->op) &&
		    sroce_req_wqe(&end->req, i)->state == SROCE_SWQE_STARTED)
			n++;
	CHECK(end->sim, n <= end->req.max_rd_atomic, "%c: %u READs and atomics outstanding, limit %u",
	      'A' + end->id, n, end->req.max_rd_atomic);
}

/* IBA 9.7.7.2.5: without a credit only when everything before is acknowledged. */
static void check_credits(struct end *end, u32 index)
{
	const struct sroce_req *req = &end->req;
	const struct sroce_swqe *wqe = sroce_req_wqe(req, index);

	if (req->credits_known && sroce_wr_takes_recv(wqe->op))
		CHECK(end->sim, sroce_psn_diff(wqe->ssn, req->lsn) <= 0 ||
		      req->una_psn == wqe->first_psn, "%c: WQE %u started without a credit",
		      'A' + end->id, index - end->first_index);
}

static void check_sent(struct end *end, const struct sroce_req_out *out)
{
	const struct sroce_req *req = &end->req;
	struct op *op = end_op(end, out->index);
	struct sim *sim = end->sim;
	u32 done;

	CHECK(sim, out->index - req->head < req->tail - req->head, "sent a WQE that is not there");
	CHECK(sim, sim->now >= end->quiet_until, "%c: sent before the RNR timer ended",
	      'A' + end->id);
	CHECK(sim, !op->completed, "sent a WQE that is complete");
	CHECK(sim, ((req->max_psn - req->una_psn) & SROCE_PSN_MASK) <= SROCE_PSN_WINDOW,
	      "more than 2^23 PSNs outstanding");
	CHECK(sim, !sim->lossless || !out->retransmit || sim->scenario == SC_RNR_EXHAUSTED ||
	      sim->scenario == SC_RNR || end->timeouts || end->probes || end->refused,
	      "%c: sent again on a perfect link",
	      'A' + end->id);
	if (sroce_wr_takes_rd(op->op)) {
		check_rd_limit(end);
	} else {
		done = out->offset / sim->mtu;
		CHECK(sim, out->offset == done * sim->mtu &&
		      out->offset + out->pkt.payload_bytes <= op->length &&
		      sroce_psn_add(sroce_req_wqe(req, out->index)->first_psn, done) ==
		      out->pkt.psn, "payload offset %u does not fit its PSN", out->offset);
	}
	CHECK(sim, out->pkt.solicited == ((op->flags & SROCE_WF_SOLICITED) &&
					  sroce_opcode_flags(out->pkt.opcode) & SROCE_F_END &&
					  !sroce_wr_takes_rd(op->op)), "%c: solicited event",
	      'A' + end->id);
	if (op->sent)
		return;
	check_credits(end, out->index);
	CHECK(sim, !req->draining, "%c: a new message in SQD", 'A' + end->id);
	check_fence(end, out->index);
	op->sent = true;
}

static void send_request(struct end *end, struct sroce_req_out *out)
{
	struct op *op = end_op(end, out->index);

	check_sent(end, out);
	end->sim->retransmitted += out->retransmit;
	if (op->fails && end->sim->scenario == SC_LOCAL_SEND &&
	    (out->offset || op->length <= end->sim->mtu || sroce_wr_takes_rd(op->op))) {
		sroce_req_fail(&end->req, out->index, SROCE_ST_LOC_PROT_ERR);
		return;
	}
	if (!link_is_healed(end->sim) && rng_chance(&end->sim->rng, end->refused)) {
		sim_trace(end->sim, "%c -> %s REFUSED", 'A' + end->id, pkt_text(&out->pkt));
		sim_stats.refused++;
		sroce_req_refused(&end->req, out->pkt.psn, end->sim->now);
		return;
	}
	link_send(end, &out->pkt, op->data + out->offset);
}

static void run_local(struct end *end, u32 index)
{
	struct op *op = end_op(end, index);

	CHECK(end->sim, sroce_wr_is_local(op->op), "not a local operation");
	CHECK(end->sim, !op->executed, "%c: local operation %u executed again", 'A' + end->id,
	      index - end->first_index);
	CHECK(end->sim, !end->req.draining, "%c: a local operation started in SQD", 'A' + end->id);
	check_fence(end, index);
	op->executed = true;
	sim_trace(end->sim, "%c    local operation %u", 'A' + end->id, index - end->first_index);
	if (op->fails)
		sroce_req_local_done(&end->req, SROCE_ST_LOC_QP_OP_ERR);
	else
		sroce_req_local_done(&end->req, SROCE_ST_SUCCESS);
}

/* The short way (sroce_req_more()) has to lead where sroce_req_next() does. */
static enum sroce_req_what next_request(struct end *end, struct sroce_req_out *out)
{
	struct sroce_req req = end->req;
	struct sroce_req_out like = *out;
	bool more = sroce_req_more(&req, &like);
	enum sroce_req_what what;

	CHECK(end->sim, more || !memcmp(&req, &end->req, sizeof(req)), "no more, but a change");
	what = sroce_req_next(&end->req, end->sim->now, out);
	if (!more)
		return what;
	sim_stats.rows++;
	CHECK(end->sim, what == SROCE_REQ_PACKET && !memcmp(&req, &end->req, sizeof(req)),
	      "%c: the short way leads elsewhere", 'A' + end->id);
	CHECK(end->sim, like.index == out->index && like.offset == out->offset &&
	      like.retransmit == out->retransmit && like.pkt.opcode == out->pkt.opcode &&
	      like.pkt.psn == out->pkt.psn && like.pkt.payload_bytes == out->pkt.payload_bytes &&
	      like.pkt.ackreq == out->pkt.ackreq && like.pkt.solicited == out->pkt.solicited &&
	      like.pkt.qpn == out->pkt.qpn && like.pkt.srqn == out->pkt.srqn,
	      "%c: another packet by the short way", 'A' + end->id);
	return what;
}

/* Answers go first or last; what does not fit the budget waits for the next round. */
void end_pump(struct end *end)
{
	struct sim *sim = end->sim;
	struct link *link = &sim->link[end->host];
	struct sroce_req_out out = { .index = end->req.head - 1 };
	struct sroce_resp_out answer = {};
	u32 n = rng_range(&sim->rng, 1, end->budget);
	u32 answers = rng_range(&sim->rng, 1, end->budget);

	end->pump_queued = false;
	/* Congestion control has changed its mind. */
	if (end->req.cwnd != U32_MAX && rng_percent(&sim->rng, 10))
		end->req.cwnd = RNG_PICK(&sim->rng, 1, 2, 3, 8, 40);
	while (answers && exec_pull(end, &answer))
		answers--;
	while (n && link->in_flight < MAX_IN_FLIGHT && !end->error) {
		enum sroce_req_what what = next_request(end, &out);

		if (what == SROCE_REQ_NOTHING)
			break;
		if (what == SROCE_REQ_LOCAL)
			run_local(end, out.index);
		else
			send_request(end, &out);
		n--;
	}
	if (!n || !answers)
		end_want_pump(end, 1 + rng_below(&sim->rng, 2000));
	end_after(end);
}

/* ---- completions ---- */

static bool status_may_be(const struct end *end, const struct op *op)
{
	const struct sim *sim = end->sim;

	if (op->status == SROCE_ST_RETRY_EXC_ERR &&
	    (sim->scenario == SC_FEW_RETRIES || end->peer->restarted || sim->link[end->host].dead ||
	     (end->peer->error && !(sim->lossless && end->failing != NO_OP))))
		return true;
	if (!op->fails)
		return false;
	switch (sim->scenario) {
	case SC_BAD_RKEY:
	case SC_READ_FAILS:
		return op->status == SROCE_ST_REM_ACCESS_ERR;
	case SC_SHORT_RECV:
	case SC_MISALIGNED:
		return op->status == SROCE_ST_REM_INV_REQ_ERR;
	case SC_REM_OP:
		return op->status == SROCE_ST_REM_OP_ERR;
	case SC_LOCAL_SEND:
		return op->status == (sroce_wr_is_local(op->op) ? SROCE_ST_LOC_QP_OP_ERR :
				      SROCE_ST_LOC_PROT_ERR);
	case SC_LOCAL_PLACE:
		return op->status == SROCE_ST_LOC_PROT_ERR;
	case SC_RNR_EXHAUSTED:
		return op->status == SROCE_ST_RNR_RETRY_EXC_ERR;
	default:
		return false;
	}
}

static void check_success(struct end *end, struct op *op, u32 nr)
{
	struct sim *sim = end->sim;

	CHECK(sim, end->failed_at == NO_OP, "%c: WQE %u completes with success after a failure",
	      'A' + end->id, nr);
	if (end_is_uc(end))
		return;
	CHECK(sim, op->executed, "%c: WQE %u completes before it was executed", 'A' + end->id, nr);
	CHECK(sim, !op->fails, "%c: WQE %u completes with success", 'A' + end->id, nr);
	if (op->op == SROCE_WR_READ)
		exec_check_read(end->peer, op, nr);
	if (sroce_wr_is_atomic(op->op))
		CHECK(sim, !memcmp(op->data, &op->orig, sizeof(op->orig)),
		      "%c: atomic %u returned a wrong value", 'A' + end->id, nr);
}

static void check_completion(struct end *end, u32 nr)
{
	struct op *op = &end->ops[nr];
	struct sim *sim = end->sim;

	if (sim_is_hostile(sim))
		return;
	if (op->status == SROCE_ST_SUCCESS) {
		check_success(end, op, nr);
	} else if (end->error || end->failed_at != NO_OP) {
		CHECK(sim, op->status == SROCE_ST_WR_FLUSH_ERR,
		      "%c: WQE %u has status %u after the QP failed", 'A' + end->id, nr, op->status);
	} else {
		CHECK(sim, status_may_be(end, op), "%c: WQE %u (op %u) fails with status %u",
		      'A' + end->id, nr, op->op, op->status);
		CHECK(sim, op->status != SROCE_ST_RETRY_EXC_ERR || !sim->lossless ||
		      end->timeouts == end->req.retry_cnt + 1,
		      "%c: gave up after %u timeouts, retry_cnt %u", 'A' + end->id, end->timeouts,
		      end->req.retry_cnt);
		CHECK(sim, op->status != SROCE_ST_RNR_RETRY_EXC_ERR ||
		      end->rnr_naks == end->req.rnr_retry + 1,
		      "%c: gave up after %u RNR NAKs, rnr_retry %u", 'A' + end->id, end->rnr_naks,
		      end->req.rnr_retry);
	}
	if (op->status != SROCE_ST_SUCCESS && end->failed_at == NO_OP)
		end->failed_at = nr;
}

static void check_invariants(struct end *end)
{
	const struct sroce_req *req = &end->req;
	u32 out = (req->max_psn - req->una_psn) & SROCE_PSN_MASK;

	CHECK(end->sim, req->cur - req->head <= req->tail - req->head &&
	      req->tail - req->head <= req->mask + 1, "%c: head %u cur %u tail %u", 'A' + end->id,
	      req->head, req->cur, req->tail);
	CHECK(end->sim, out <= SROCE_PSN_WINDOW &&
	      ((req->next_psn - req->una_psn) & SROCE_PSN_MASK) <= out,
	      "%c: una %06x next %06x max %06x", 'A' + end->id, req->una_psn, req->next_psn,
	      req->max_psn);
	CHECK(end->sim, req->rd_out <= req->max_rd_atomic, "%c: rd_out %u", 'A' + end->id,
	      req->rd_out);
}

void end_error(struct end *end)
{
	if (!end->error)
		sim_trace(end->sim, "%c    goes to ERR", 'A' + end->id);
	end->error = true;
	sroce_req_stop(&end->req);
}

/* The responder begins anew, at a PSN far from where the peer is. */
void end_restart(struct end *end)
{
	struct sroce_held *held;

	while ((held = sroce_hold_drop(&end->resp.hold)))
		sim_free(end->sim, container_of(held, struct kept, held));
	sroce_resp_reset(&end->resp);
	sroce_resp_start(&end->resp, sroce_psn_add(end->peer->req.max_psn,
						   rng_range(&end->sim->rng, 100000, 16000000)));
}

static void pop_all(struct end *end)
{
	enum sroce_status status;
	u32 index;

	while (sroce_req_pop(&end->req, &index, &status)) {
		struct op *op = end_op(end, index);

		CHECK(end->sim, index - end->first_index == end->completed,
		      "%c: WQE %u completes out of order", 'A' + end->id, index - end->first_index);
		CHECK(end->sim, end->completed < end->posted, "completed what was not posted");
		op->status = status;
		op->completed = true;
		sim_trace(end->sim, "%c    WQE %u completes with status %u", 'A' + end->id,
			  end->completed, status);
		check_completion(end, end->completed++);
		end_moved(end);
		if (status != SROCE_ST_SUCCESS)
			end_error(end);
	}
}

/* After each event: completions, the next deadline. */
void end_after(struct end *end)
{
	u64 deadline;

	pop_all(end);
	check_invariants(end);
	if (end->resp.dead && !sroce_resp_pending(&end->resp) && !end->error) {
		end_error(end);
		pop_all(end);
	}
	end_want_post(end);
	deadline = sroce_req_deadline(&end->req);
	if (deadline == SROCE_NEVER || deadline >= end->timer_at)
		return;
	end->timer_at = deadline + rng_below(&end->sim->rng, 5000);
	event_add(end->sim, end->timer_at, EVENT_TIMER, end, NULL);
}

/* ---- events ---- */

static void on_events(struct end *end, u32 events, u64 rnr_ns)
{
	struct sim *sim = end->sim;

	if (events & SROCE_REQ_EV_PROGRESS) {
		end->progress_at = sim->now;
		end->timeouts = 0;
		end->rnr_naks = 0;
		CHECK(sim, events & EV_RETRIES || end->req.retry_left == end->req.retry_cnt,
		      "%c: progress, and only %u retries left", 'A' + end->id,
		      end->req.retry_left);
	}
	if (events & SROCE_REQ_EV_RNR_NAK) {
		end->rnr_naks++;
		if (!(events & SROCE_REQ_EV_FAILED))
			end->quiet_until = sim->now + rnr_ns;
	}
	if (events & SROCE_REQ_EV_TIMEOUT) {
		end->timeouts++;
		CHECK(sim, sim->now >= end->progress_at + end->req.ack_timeout_ns || end->timeouts > 1,
		      "%c: timed out too early", 'A' + end->id);
	}
	if (events & SROCE_REQ_EV_PROBE) {
		end->probes++;
		sim_stats.probes++;
	}
	sim_stats.ahead += !!(events & SROCE_REQ_EV_AHEAD);
	sim_stats.holes += !!(events & SROCE_REQ_EV_HOLE);
	CHECK(sim, sim->scenario != SC_CLEAN || !(events & EV_RETRIES),
	      "%c: events %x on a perfect link", 'A' + end->id, events);
}

void end_timer(struct end *end)
{
	if (end->sim->now < end->timer_at)	/* replaced by an earlier one */
		return;
	end->timer_at = SROCE_NEVER;
	CHECK(end->sim, end->sim->now < sroce_req_deadline(&end->req) ||
	      sroce_req_deadline(&end->req) != SROCE_NEVER, "no deadline");
	on_events(end, sroce_req_on_timer(&end->req, end->sim->now), 0);
	end_want_pump(end, rng_below(&end->sim->rng, end->lag));
	end_after(end);
}

static void place(struct end *end, const struct sroce_pkt *pkt, const u8 *payload,
		  struct sroce_req_in *in)
{
	struct sim *sim = end->sim;
	struct op *op = end_op(end, in->index);
	enum sroce_status status = SROCE_ST_SUCCESS;

	CHECK(sim, in->index - end->req.head < end->req.tail - end->req.head && !op->completed,
	      "placed for a WQE that is not there");
	CHECK(sim, (u64)in->offset + in->bytes <= op->length, "placed beyond the WQE's buffer");
	if (op->fails && sim->scenario == SC_LOCAL_PLACE)
		status = SROCE_ST_LOC_PROT_ERR;
	else if (pkt->flags & SROCE_F_ATOMIC_ACK)
		memcpy(op->data + in->offset, &pkt->atomic_orig, in->bytes);
	else if (in->bytes)
		memcpy(op->data + in->offset, payload, in->bytes);
	CHECK(sim, pkt->flags & SROCE_F_ATOMIC_ACK || in->bytes == pkt->payload_bytes,
	      "%u of %u bytes placed", in->bytes, pkt->payload_bytes);
	sroce_req_placed(&end->req, in, status, sim->now);
}

/* Only what is not outstanding, or was NAKed before, may be ignored. */
static void check_rnr_nak(struct end *end, const struct sroce_pkt *pkt, u32 events)
{
	bool outstanding = sroce_psn_in(pkt->psn, end->req.una_psn,
					(end->req.max_psn - end->req.una_psn) & SROCE_PSN_MASK);

	if (!(pkt->flags & SROCE_F_ACK) ||
	    (pkt->syndrome & SROCE_AETH_TYPE_MASK) != SROCE_AETH_RNR_NAK)
		return;
	CHECK(end->sim, !(events & SROCE_REQ_EV_IGNORED) || !outstanding ||
	      pkt->psn == end->rnr_psn || events & SROCE_REQ_EV_IMPLIED_NAK ||
	      sroce_wr_takes_rd(end_op(end, end->req.head)->op),
	      "%c: RNR NAK ignored", 'A' + end->id);
	if (events & SROCE_REQ_EV_RNR_NAK)
		end->rnr_psn = pkt->psn;
}

/* A row of one answer is that answer; @wqe: its WQE before. */
static void check_row(struct end *end, struct sroce_req *req, const struct sroce_swqe *wqe,
		      struct sroce_req_in *row, const struct sroce_req_in *in)
{
	struct sroce_swqe *now = sroce_req_wqe(&end->req, row->index);
	struct sroce_swqe after = *now;
	struct sim *sim = end->sim;

	sim_stats.rows++;
	CHECK(sim, row->index == in->index && row->offset == in->offset &&
	      row->bytes == in->bytes && row->psn == in->psn, "%c: another place for a row",
	      'A' + end->id);
	if (in->events & SROCE_REQ_EV_FAILED)
		return;
	*now = *wqe;
	sroce_req_row_placed(req, 1, sim->now, row);
	CHECK(sim, row->events == in->events && !memcmp(req, &end->req, sizeof(*req)) &&
	      !memcmp(now, &after, sizeof(after)), "%c: a row of answers leads elsewhere",
	      'A' + end->id);
	*now = after;
}

void end_answer(struct end *end, const struct sroce_pkt *pkt, const u8 *payload)
{
	struct sroce_req req = end->req;
	struct sroce_req_in in, row;
	bool in_row = sroce_req_on_row(&req, pkt, 1, &row);
	struct sroce_swqe wqe = {};

	if (in_row)
		wqe = *sroce_req_wqe(&req, row.index);
	if (sroce_req_on_packet(&end->req, pkt, end->sim->now, &in) == SROCE_REQ_TAKE_PLACE)
		place(end, pkt, payload, &in);
	if (in_row)
		check_row(end, &req, &wqe, &row, &in);
	if (!sim_is_hostile(end->sim))
		check_rnr_nak(end, pkt, in.events);
	on_events(end, in.events, sroce_rnr_timer_ns(pkt->syndrome & 0x1f));
}
