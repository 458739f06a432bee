// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder's shell: memory, keys, receives. Each verdict is compared with
 * what the peer posted: the next bytes of the next message, once, in order.
 */
#include "sim.h"

/* ---- memory ---- */

/* Where [@va, @va + @bytes) is, if @rkey allows it. */
bool exec_memory(struct end *end, u64 va, u64 bytes, u32 rkey, u8 **at)
{
	*at = end->mr;
	if (!bytes)
		return true;		/* C9-88: not checked for zero length */
	if (rkey != GOOD_RKEY && rkey != READ_RKEY)
		return false;
	if (va < end->mr_va || bytes > end->mr_bytes || va - end->mr_va > end->mr_bytes - bytes)
		return false;
	*at = end->mr + (va - end->mr_va);
	return true;
}

static u64 load_u64(const u8 *at)
{
	u64 v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static void store_u64(u8 *at, u64 v)
{
	memcpy(at, &v, sizeof(v));
}

/* ---- what should come ---- */

/* The peer's op that a request must belong to; moves over those that send nothing. */
static struct op *next_op(struct end *end)
{
	struct end *peer = end->peer;

	while (end->exec < peer->posted && sroce_wr_is_local(peer->ops[end->exec].op))
		end->exec++;
	CHECK(end->sim, end->exec < peer->posted, "%c: executes what was never posted",
	      'A' + end->id);
	return &peer->ops[end->exec];
}

/* UC: messages may be missing; the PSN tells which one this is. */
static struct op *uc_op(struct end *end, const struct sroce_pkt *pkt, bool start)
{
	struct end *peer = end->peer;
	u32 psn = peer->first_psn;
	u32 i;

	for (i = 0; i < peer->posted; i++) {
		u32 n = max(1U, DIV_ROUND_UP(peer->ops[i].length, end->sim->mtu));

		if (sroce_psn_in(pkt->psn, psn, n))
			break;
		psn = sroce_psn_add(psn, n);
	}
	CHECK(end->sim, i < peer->posted, "%c: a PSN never sent", 'A' + end->id);
	if (start) {
		CHECK(end->sim, i >= end->exec, "%c: message %u again", 'A' + end->id, i);
		end->exec = i;
		end->exec_bytes = 0;
	}
	CHECK(end->sim, i == end->exec && ((pkt->psn - psn) & SROCE_PSN_MASK) * end->sim->mtu ==
	      end->exec_bytes, "%c: message %u is incomplete", 'A' + end->id, i);
	return &peer->ops[i];
}

static u8 act_of(u8 op)
{
	switch (op) {
	case SROCE_WR_SEND:
	case SROCE_WR_SEND_IMM:
	case SROCE_WR_SEND_INV:
		return SROCE_ACT_SEND;
	case SROCE_WR_WRITE:
	case SROCE_WR_WRITE_IMM:
		return SROCE_ACT_WRITE;
	case SROCE_WR_READ:
		return SROCE_ACT_READ;
	case SROCE_WR_FLUSH:
		return SROCE_ACT_FLUSH;
	case SROCE_WR_ATOMIC_WRITE:
		return SROCE_ACT_ATOMIC_WRITE;
	default:
		return SROCE_ACT_ATOMIC;
	}
}

static void check_data(struct end *end, const struct op *op, const struct sroce_pkt *pkt,
		       const struct sroce_resp_do *todo, const u8 *payload)
{
	struct sim *sim = end->sim;
	u32 bytes = pkt->payload_bytes;
	u32 at = end->exec_bytes;

	CHECK(sim, todo->start == (at == 0), "%c: start at byte %u", 'A' + end->id, at);
	CHECK(sim, at + bytes <= op->length && todo->end == (at + bytes == op->length),
	      "%c: message %u ends at byte %u of %u", 'A' + end->id, end->exec, at + bytes,
	      op->length);
	CHECK(sim, !bytes || !memcmp(op->data + at, payload, bytes), "%c: message %u: wrong data",
	      'A' + end->id, end->exec);
	CHECK(sim, !todo->end || todo->msg_bytes == op->length, "%c: msg_bytes %u of %u",
	      'A' + end->id, todo->msg_bytes, op->length);
	if (todo->act == SROCE_ACT_SEND) {
		CHECK(sim, todo->offset == at && todo->recv == todo->start,
		      "%c: SEND offset %u, not %u", 'A' + end->id, todo->offset, at);
		return;
	}
	CHECK(sim, !op->length || (todo->va == op->va + at && todo->rkey == op->rkey),
	      "%c: WRITE to %llx, not %llx", 'A' + end->id, todo->va, op->va + at);
	CHECK(sim, !todo->start || todo->bytes == op->length, "%c: WRITE of %u, not %u",
	      'A' + end->id, todo->bytes, op->length);
	CHECK(sim, todo->recv == (todo->end && op->op == SROCE_WR_WRITE_IMM), "%c: receive taken",
	      'A' + end->id);
}

static void check_rd(struct end *end, const struct op *op, const struct sroce_pkt *pkt,
		     const struct sroce_resp_do *todo, const u8 *payload)
{
	struct sim *sim = end->sim;

	CHECK(sim, todo->va == op->va && todo->rkey == op->rkey, "%c: message %u at %llx, not %llx",
	      'A' + end->id, end->exec, todo->va, op->va);
	CHECK(sim, sroce_wr_is_atomic(op->op) || todo->bytes == op->length, "%c: %u bytes, not %u",
	      'A' + end->id, todo->bytes, op->length);
	CHECK(sim, op->op != SROCE_WR_ATOMIC_WRITE || !memcmp(payload, op->data, 8),
	      "%c: ATOMIC_WRITE: wrong data", 'A' + end->id);
	CHECK(sim, op->op != SROCE_WR_FLUSH || pkt->feth == op->feth, "%c: FETH", 'A' + end->id);
	CHECK(sim, op->op != SROCE_WR_FETCH_ADD || pkt->swap_add == op->compare_add,
	      "%c: FETCH_ADD operand", 'A' + end->id);
	CHECK(sim, op->op != SROCE_WR_CMP_SWP ||
	      (pkt->compare == op->compare_add && pkt->swap_add == op->swap),
	      "%c: CMP_SWP operands", 'A' + end->id);
}

static struct op *check_verdict(struct end *end, const struct sroce_pkt *pkt,
				const struct sroce_resp_do *todo, const u8 *payload)
{
	struct op *op = end_is_uc(end) ? uc_op(end, pkt, todo->start) : next_op(end);

	CHECK(end->sim, todo->act == act_of(op->op), "%c: verdict %u for message %u (op %u)",
	      'A' + end->id, todo->act, end->exec, op->op);
	CHECK(end->sim, !(pkt->headers & SROCE_H_XRCETH) || pkt->srqn == op->srqn, "SRQ number");
	if (todo->act == SROCE_ACT_SEND || todo->act == SROCE_ACT_WRITE)
		check_data(end, op, pkt, todo, payload);
	else
		check_rd(end, op, pkt, todo, payload);
	return op;
}

/* ---- receives ---- */

void exec_post_recv(struct end *end)
{
	u32 n = rng_range(&end->sim->rng, 1, 4);
	struct rq *rq = end->rq;

	rq->posted = min(rq->posted + n, rq->num);
	if (rq->posted < rq->num)
		event_add(end->sim, end->sim->now + 1 + rng_below(&end->sim->rng, rq->gap),
			  EVENT_POST_RECV, end, NULL);
}

static bool take_recv(struct end *end)
{
	struct rq *rq = end->rq;

	if (end->filling != NO_OP)	/* UC: the message it was taken for was cut off */
		return true;
	if (rq->used == rq->posted)
		return false;
	end->filling = rq->used++;
	return true;
}

/* A receive completes: everything in it must be there. */
static void complete_recv(struct end *end, const struct sroce_pkt *pkt,
			  const struct sroce_resp_do *todo, const struct op *op)
{
	u32 nr = end->filling;
	struct recv *recv = &end->rq->recvs[nr];
	struct sim *sim = end->sim;

	CHECK(sim, !recv->done, "%c: receive %u completes again", 'A' + end->id, nr);
	end->filling = NO_OP;
	recv->done = true;
	sim_trace(sim, "%c    receive %u completes, %u bytes", 'A' + end->id, nr, todo->msg_bytes);
	if (!op)
		return;
	CHECK(sim, sroce_wr_takes_recv(op->op), "%c: a receive for op %u", 'A' + end->id, op->op);
	CHECK(sim, todo->act == SROCE_ACT_WRITE || !memcmp(recv->buf, op->data, op->length),
	      "%c: receive %u: wrong data", 'A' + end->id, nr);
	CHECK(sim, !!(pkt->headers & SROCE_H_IMMDT) ==
	      (op->op == SROCE_WR_SEND_IMM || op->op == SROCE_WR_WRITE_IMM), "immediate data");
	CHECK(sim, !(pkt->headers & SROCE_H_IMMDT) || pkt->imm == op->imm, "immediate data differ");
	CHECK(sim, !!(pkt->headers & SROCE_H_IETH) == (op->op == SROCE_WR_SEND_INV), "IETH");
	CHECK(sim, !(pkt->headers & SROCE_H_IETH) || pkt->inv_rkey == op->inv_rkey, "IETH differs");
	CHECK(sim, pkt->solicited == !!(op->flags & SROCE_WF_SOLICITED), "%c: solicited event",
	      'A' + end->id);
}

/* ---- execution ---- */

static enum sroce_resp_result do_send(struct end *end, const struct sroce_pkt *pkt,
				      const struct sroce_resp_do *todo, const u8 *payload,
				      const struct op *op)
{
	struct recv *recv;

	if (todo->recv && !take_recv(end))
		return SROCE_RESULT_RNR;
	if (end->filling == NO_OP)
		return SROCE_RESULT_REM_OP;
	recv = &end->rq->recvs[end->filling];
	if (todo->offset > recv->bytes || pkt->payload_bytes > recv->bytes - todo->offset) {
		end->filling = NO_OP;
		return SROCE_RESULT_INV_REQ;
	}
	if (pkt->payload_bytes)
		memcpy(recv->buf + todo->offset, payload, pkt->payload_bytes);
	if (todo->end)
		complete_recv(end, pkt, todo, op);
	return SROCE_RESULT_OK;
}

static enum sroce_resp_result do_write(struct end *end, const struct sroce_pkt *pkt,
				       const struct sroce_resp_do *todo, const u8 *payload,
				       const struct op *op)
{
	u8 *at;

	if (todo->start && !exec_memory(end, todo->va, todo->bytes, todo->rkey, &at))
		return SROCE_RESULT_REM_ACC;
	if (!exec_memory(end, todo->va, pkt->payload_bytes, todo->rkey, &at))
		return SROCE_RESULT_REM_ACC;
	if (todo->recv && !take_recv(end))
		return SROCE_RESULT_RNR;
	if (pkt->payload_bytes)
		memcpy(at, payload, pkt->payload_bytes);
	if (todo->recv)
		complete_recv(end, pkt, todo, op);
	return SROCE_RESULT_OK;
}

static enum sroce_resp_result do_atomic(struct end *end, const struct sroce_pkt *pkt,
					struct sroce_resp_do *todo, struct op *op)
{
	u64 result;
	u8 *at;

	if (!exec_memory(end, todo->va, sizeof(u64), todo->rkey, &at))
		return SROCE_RESULT_REM_ACC;
	todo->orig = load_u64(at);
	if ((pkt->opcode & SROCE_OP_MASK) == SROCE_OP_FETCH_ADD)
		result = todo->orig + pkt->swap_add;
	else
		result = todo->orig == pkt->compare ? pkt->swap_add : todo->orig;
	store_u64(at, result);
	if (op) {
		op->orig = todo->orig;
		op->result = result;
	}
	return SROCE_RESULT_OK;
}

static enum sroce_resp_result execute(struct end *end, const struct sroce_pkt *pkt,
				      struct sroce_resp_do *todo, const u8 *payload, struct op *op)
{
	u8 *at;

	if (op && op->fails && end->sim->scenario == SC_REM_OP && todo->end)
		return SROCE_RESULT_REM_OP;
	switch (todo->act) {
	case SROCE_ACT_SEND:
		return do_send(end, pkt, todo, payload, op);
	case SROCE_ACT_WRITE:
		return do_write(end, pkt, todo, payload, op);
	case SROCE_ACT_ATOMIC:
		return do_atomic(end, pkt, todo, op);
	}
	if (!exec_memory(end, todo->va, todo->bytes, todo->rkey, &at))
		return SROCE_RESULT_REM_ACC;
	if (todo->act == SROCE_ACT_ATOMIC_WRITE)
		memcpy(at, payload, sizeof(u64));
	if (todo->act == SROCE_ACT_READ && op && op->length)
		memcpy(op->seen, at, op->length);
	return SROCE_RESULT_OK;
}

/* The message goes on, or is over. */
static void executed(struct end *end, struct op *op, const struct sroce_pkt *pkt, bool over)
{
	end_moved(end);
	end->nak_epsn = NO_OP;
	if (!over) {
		end->exec_bytes += pkt->payload_bytes;
		return;
	}
	CHECK(end->sim, !op->executed, "%c: message %u executed again", 'A' + end->id, end->exec);
	op->executed = true;
	end->exec++;
	end->exec_bytes = 0;
	end->executed++;
}

static void keep(struct end *end, const struct sroce_pkt *pkt, struct sroce_resp_do *todo,
		 const u8 *payload)
{
	struct sim *sim = end->sim;
	struct kept *kept = NULL;

	if (!rng_chance(&sim->rng, end->no_memory)) {
		kept = sim_alloc(sim, sizeof(*kept) + pkt->payload_bytes);
		kept->held.psn = pkt->psn;
		kept->held.bytes = sizeof(*kept) + pkt->payload_bytes;
		kept->pkt = *pkt;
		memcpy(kept->payload, payload, pkt->payload_bytes);
	}
	if (sroce_resp_held(&end->resp, pkt, todo, kept ? &kept->held : NULL)) {
		sim_stats.held++;
		sim_trace(sim, "%c    held", 'A' + end->id);
	} else if (kept) {
		sim_free(sim, kept);
	}
}

/* A row of one packet is that packet: what was told of it before, and where it leads. */
static void check_row(struct end *end, struct sroce_resp *resp, const struct sroce_resp_do *row,
		      const struct sroce_resp_do *todo, enum sroce_resp_result result)
{
	struct sim *sim = end->sim;

	sim_stats.rows++;
	CHECK(sim, row->act == todo->act && row->va == todo->va && row->rkey == todo->rkey &&
	      row->offset == todo->offset && row->msg_bytes == todo->msg_bytes &&
	      !todo->start && !todo->end && !todo->recv, "%c: another verdict on a row",
	      'A' + end->id);
	if (result != SROCE_RESULT_OK)
		return;
	resp->credits = end->resp.credits;
	sroce_resp_row_done(resp, 1);
	CHECK(sim, !memcmp(resp, &end->resp, sizeof(*resp)), "%c: a row leads elsewhere",
	      'A' + end->id);
}

static void handle(struct end *end, const struct sroce_pkt *pkt, const u8 *payload)
{
	struct sroce_resp resp = end->resp;
	struct sroce_resp_do todo, row;
	enum sroce_resp_result result;
	struct op *op = NULL;
	bool in_row = sroce_resp_on_row(&resp, pkt, 1, &row);

	sroce_resp_on_packet(&end->resp, pkt, &todo);
	CHECK(end->sim, !in_row || todo.act != SROCE_ACT_DROP, "%c: drops what a row may have",
	      'A' + end->id);
	if (todo.act == SROCE_ACT_DROP)
		return;
	if (todo.act == SROCE_ACT_HOLD) {
		keep(end, pkt, &todo, payload);
		return;
	}
	CHECK(end->sim, !end->restarted, "%c: executes for its former life", 'A' + end->id);
	if (!sim_is_hostile(end->sim))
		op = check_verdict(end, pkt, &todo, payload);
	result = execute(end, pkt, &todo, payload, op);
	sim_trace(end->sim, "%c    message %u: result %u", 'A' + end->id, end->exec, result);
	if (end->sim->credits && !end->rq->shared)
		end->resp.credits = sroce_credits_encode(end->rq->posted - end->rq->used);
	if (result == SROCE_RESULT_OK && op)
		executed(end, op, pkt, todo.end);
	sroce_resp_commit(&end->resp, pkt, &todo, result);
	if (in_row)
		check_row(end, &resp, &row, &todo, result);
}

/* What is due after it was held is as if it arrived now. */
void exec_request(struct end *end, const struct sroce_pkt *pkt, const u8 *payload)
{
	struct sroce_held *held;

	handle(end, pkt, payload);
	while ((held = sroce_resp_due(&end->resp))) {
		struct kept *kept = container_of(held, struct kept, held);

		if (!end->resp.dead && kept->pkt.psn == end->resp.epsn)
			handle(end, &kept->pkt, kept->payload);
		sim_free(end->sim, kept);
	}
}

/* ---- answers ---- */

static void check_ack(struct end *end, const struct sroce_pkt *pkt)
{
	struct sim *sim = end->sim;

	if (end->restarted)
		return;
	CHECK(sim, pkt->msn == (end->executed & SROCE_PSN_MASK), "%c: MSN %u after %u messages",
	      'A' + end->id, pkt->msn, end->executed);
	if ((pkt->syndrome & SROCE_AETH_TYPE_MASK) == SROCE_AETH_ACK)
		CHECK(sim, pkt->psn == sroce_psn_add(end->resp.epsn, SROCE_PSN_MASK),
		      "%c: ACK of %06x, expected %06x", 'A' + end->id, pkt->psn, end->resp.epsn);
	if (pkt->syndrome != SROCE_NAK_PSN_SEQ)
		return;
	CHECK(sim, pkt->psn == end->resp.epsn, "%c: NAK at %06x, expected %06x", 'A' + end->id,
	      pkt->psn, end->resp.epsn);
	CHECK(sim, end->resp.hold.max_bytes || end->refused || end->nak_epsn != pkt->psn, "%c: second NAK for one gap", 'A' + end->id);
	end->nak_epsn = pkt->psn;
}

/* Has the memory of the READ that the scenario picks vanished now? */
static bool revoked(struct end *end, u32 rkey)
{
	return rkey == READ_RKEY && end->sim->scenario == SC_READ_FAILS && end->reads_pulled++ > 0;
}

/* Send one answer, if there is one. */
/* The short way (sroce_resp_more()) has to lead where sroce_resp_next() does. */
static enum sroce_resp_what next_answer(struct end *end, struct sroce_resp_out *out)
{
	struct sroce_resp resp = end->resp;
	struct sroce_resp_out like = *out;
	bool more = sroce_resp_more(&resp, &like);
	enum sroce_resp_what what;

	CHECK(end->sim, more || !memcmp(&resp, &end->resp, sizeof(resp)), "no more, but a change");
	what = sroce_resp_next(&end->resp, out);
	if (!more)
		return what;
	sim_stats.rows++;
	CHECK(end->sim, what == SROCE_RESP_READ_DATA && !memcmp(&resp, &end->resp, sizeof(resp)),
	      "%c: the short way leads elsewhere", 'A' + end->id);
	CHECK(end->sim, like.va == out->va && like.rkey == out->rkey && like.srqn == out->srqn &&
	      like.again == out->again && like.pkt.opcode == out->pkt.opcode &&
	      like.pkt.psn == out->pkt.psn && like.pkt.payload_bytes == out->pkt.payload_bytes,
	      "%c: another answer by the short way", 'A' + end->id);
	return what;
}

bool exec_pull(struct end *end, struct sroce_resp_out *out)
{
	enum sroce_resp_what what;
	u8 *at = end->mr;

	if (end->error && !end->restarted)
		return false;
	what = next_answer(end, out);
	if (what == SROCE_RESP_NOTHING) {
		CHECK(end->sim, !sroce_resp_pending(&end->resp), "%c: pending, but nothing to send",
		      'A' + end->id);
		return false;
	}
	if (what == SROCE_RESP_READ_DATA &&
	    (revoked(end, out->rkey) ||
	     !exec_memory(end, out->va, out->pkt.payload_bytes, out->rkey, &at))) {
		sroce_resp_read_failed(&end->resp, out);
		return true;
	}
	if (!link_is_healed(end->sim) && rng_chance(&end->sim->rng, end->refused)) {
		u64 pause = sroce_resp_refused(&end->resp, out->pkt.psn);

		sim_trace(end->sim, "%c -> %s REFUSED", 'A' + end->id, pkt_text(&out->pkt));
		sim_stats.refused++;
		if (pause != SROCE_NEVER)
			event_add(end->sim, end->sim->now + pause, EVENT_PUMP, end, NULL);
		return false;
	}
	if ((out->pkt.opcode & SROCE_OP_MASK) == SROCE_OP_ACKNOWLEDGE && !sim_is_hostile(end->sim))
		check_ack(end, &out->pkt);
	CHECK(end->sim, end->sack || out->pkt.opcode != SROCE_OPCODE_SACK, "a SACK");
	link_send(end, &out->pkt, at);
	return true;
}

/* ---- what a READ may return ---- */

/* Did a message after READ @index, executed since, write @value at @va? */
static bool written_since(struct end *end, u32 index, u64 va, u8 value)
{
	struct end *peer = end->peer;
	u32 i;

	for (i = index + 1; i <= end->exec && i < peer->posted; i++) {
		const struct op *op = &peer->ops[i];
		u32 done = i == end->exec ? end->exec_bytes : op->length;
		const u8 *bytes = op->data;

		if (sroce_wr_is_atomic(op->op))
			bytes = (const u8 *)&op->result;
		else if (op->op != SROCE_WR_WRITE && op->op != SROCE_WR_WRITE_IMM &&
			 op->op != SROCE_WR_ATOMIC_WRITE)
			continue;
		if (va - op->va < done && bytes[va - op->va] == value)
			return true;
	}
	return false;
}

/*
 * Each byte is what the memory held when the READ was executed, or what a later
 * message of the peer, not fenced, has written since.
 */
void exec_check_read(struct end *end, struct op *op, u32 index)
{
	u32 i;

	for (i = 0; i < op->length; i++)
		CHECK(end->sim, op->data[i] == op->seen[i] ||
		      written_since(end, index, op->va + i, op->data[i]),
		      "%c: READ %u returned a wrong byte at %u", 'A' + end->peer->id, index, i);
}
