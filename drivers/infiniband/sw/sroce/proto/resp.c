// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "resp.h"

/* A pause after the local stack refused answers, doubled so often. */
#define REFUSED_PAUSE_NS	(100 * SROCE_NS_PER_US)
#define REFUSED_DOUBLINGS	10

void sroce_resp_reset(struct sroce_resp *resp)
{
	sroce_resp_start(resp, 0);
	resp->dead = true;
}

void sroce_resp_start(struct sroce_resp *resp, u32 rq_psn)
{
	resp->epsn = rq_psn & SROCE_PSN_MASK;
	resp->msn = 0;
	resp->msg = SROCE_MSG_NONE;
	resp->skip = false;
	resp->msg_srqn = 0;
	resp->msg_bytes = 0;
	resp->write_left = 0;
	resp->answer = SROCE_ANS_NONE;
	resp->nak_sent = false;
	resp->rnr = false;
	resp->plain = false;
	resp->ahead_psn = resp->epsn;
	resp->dead = false;
	resp->refused = 0;
	resp->credits = SROCE_AETH_NO_CREDITS;
	memset(resp->res, 0, sizeof(resp->res));
	resp->res_pending = 0;
	resp->res_head = 0;
	resp->num_parts = 0;
}

static void queue_nak(struct sroce_resp *resp, u8 syndrome, u32 psn)
{
	resp->answer = SROCE_ANS_NAK;
	resp->nak_syndrome = syndrome;
	resp->nak_psn = psn;
}

/* An error that ends the connection; nothing is executed any more. */
static void fatal_nak(struct sroce_resp *resp, u8 syndrome, u32 psn)
{
	queue_nak(resp, syndrome, psn);
	resp->dead = true;
}

/* ---- checks of a packet that carries the expected PSN ---- */

/*
 * Is the opcode possible at this point of the message (IBA 9.7.4.1.2)? All packets
 * of an XRC message name the same SRQ.
 */
static bool sequence_ok(const struct sroce_resp *resp, const struct sroce_pkt *pkt)
{
	if (pkt->flags & SROCE_F_START)
		return resp->msg == SROCE_MSG_NONE;
	if (pkt->srqn != resp->msg_srqn)
		return false;
	if (pkt->flags & SROCE_F_SEND)
		return resp->msg == SROCE_MSG_SEND;
	return resp->msg == SROCE_MSG_WRITE;
}

/* IBA 9.7.4.1.6: FIRST and MIDDLE are full, LAST is not empty. */
static bool payload_ok(const struct sroce_resp *resp, const struct sroce_pkt *pkt)
{
	if (!(pkt->flags & SROCE_F_END))
		return pkt->payload_bytes == resp->mtu;
	if (!(pkt->flags & SROCE_F_START) && !pkt->payload_bytes)
		return false;
	return pkt->payload_bytes <= resp->mtu;
}

static bool write_length_ok(const struct sroce_resp *resp, const struct sroce_pkt *pkt)
{
	bool start = pkt->flags & SROCE_F_START;
	u32 left = start ? pkt->dma_bytes : resp->write_left;

	if (start && pkt->dma_bytes > SROCE_MAX_MSG_BYTES)
		return false;
	if (pkt->flags & SROCE_F_END)
		return pkt->payload_bytes == left;
	return pkt->payload_bytes < left;
}

/*
 * Is there a resource to remember the request in (IBA 9.7.4.1, too many outstanding)?
 * One whose answer is only sent again is: by its new request the requester shows that
 * it has the old answer (a delayed duplicate asked for it).
 */
static bool resource_free(const struct sroce_resp *resp)
{
	const struct sroce_res *res;

	if (!resp->max_res)
		return false;
	res = &resp->res[(resp->res_head - resp->max_res) % SROCE_RESP_MAX_RES];
	return !res->pending || res->again;
}

static bool request_ok(const struct sroce_resp *resp, const struct sroce_pkt *pkt)
{
	if (!sequence_ok(resp, pkt))
		return false;
	if (pkt->flags & SROCE_F_SEND)
		return payload_ok(resp, pkt) &&
		       (u64)resp->msg_bytes + pkt->payload_bytes <= SROCE_MAX_MSG_BYTES;
	if (pkt->flags & SROCE_F_WRITE)
		return payload_ok(resp, pkt) && write_length_ok(resp, pkt);
	if (!resource_free(resp))
		return false;
	if (pkt->flags & SROCE_F_ATOMIC_WRITE)
		return pkt->payload_bytes == sizeof(u64) && pkt->dma_bytes == sizeof(u64) &&
		       pkt->va % sizeof(u64) == 0;
	if (pkt->flags & SROCE_F_ATOMIC)
		return pkt->va % sizeof(u64) == 0;
	return pkt->dma_bytes <= SROCE_MAX_MSG_BYTES;
}

static void fill_verdict(const struct sroce_resp *resp, const struct sroce_pkt *pkt,
			 struct sroce_resp_do *todo)
{
	bool imm = pkt->headers & SROCE_H_IMMDT;

	todo->start = pkt->flags & SROCE_F_START;
	todo->end = pkt->flags & SROCE_F_END;
	todo->va = pkt->va;
	todo->rkey = pkt->rkey;
	todo->bytes = pkt->dma_bytes;
	todo->msg_bytes = (todo->start ? 0 : resp->msg_bytes) + pkt->payload_bytes;
	if (pkt->flags & SROCE_F_SEND) {
		todo->act = SROCE_ACT_SEND;
		todo->recv = todo->start;
		todo->offset = todo->start ? 0 : resp->msg_bytes;
	} else if (pkt->flags & SROCE_F_WRITE) {
		todo->act = SROCE_ACT_WRITE;
		todo->recv = todo->end && imm;
		if (!todo->start) {
			todo->va = resp->write_va;
			todo->rkey = resp->write_rkey;
		}
	} else if (pkt->flags & SROCE_F_READ) {
		todo->act = SROCE_ACT_READ;
	} else if (pkt->flags & SROCE_F_ATOMIC) {
		todo->act = SROCE_ACT_ATOMIC;
	} else if (pkt->flags & SROCE_F_ATOMIC_WRITE) {
		todo->act = SROCE_ACT_ATOMIC_WRITE;
	} else {
		todo->act = SROCE_ACT_FLUSH;
	}
}

/*
 * Our ACKs do not get there, or the peer does not know a SACK when it sees one (the
 * two did not agree): the next one is plain.
 */
static void on_data_again(struct sroce_resp *resp, const struct sroce_pkt *pkt)
{
	resp->plain = true;
	if ((pkt->ackreq || pkt->flags & SROCE_F_END) && resp->answer == SROCE_ANS_NONE)
		resp->answer = SROCE_ANS_ACK;
}

static void on_duplicate(struct sroce_resp *resp, const struct sroce_pkt *pkt,
			 struct sroce_resp_do *todo)
{
	bool known = true;

	todo->events |= SROCE_RESP_EV_DUPLICATE;
	if (pkt->flags & SROCE_F_READ)
		known = sroce_replay_read(resp, pkt);
	else if (pkt->flags & SROCE_F_ATOMIC)
		known = sroce_replay_saved(resp, pkt, SROCE_RES_ATOMIC);
	else if (pkt->flags & (SROCE_F_FLUSH | SROCE_F_ATOMIC_WRITE))
		known = sroce_replay_saved(resp, pkt, SROCE_RES_EMPTY);
	else
		on_data_again(resp, pkt);
	if (!known)
		todo->events |= SROCE_RESP_EV_DROPPED;
}

/* ---- the two steps ---- */

/* UC (IBA 9.8.2.2): a gap costs the message it falls into; nobody is told. */
static bool uc_in_order(struct sroce_resp *resp, const struct sroce_pkt *pkt,
			struct sroce_resp_do *todo)
{
	bool start = pkt->flags & SROCE_F_START;

	if (pkt->psn != resp->epsn || (start && resp->msg != SROCE_MSG_NONE)) {
		todo->events |= SROCE_RESP_EV_OUT_OF_SEQ;
		resp->msg = SROCE_MSG_NONE;
		resp->skip = true;
	}
	resp->epsn = pkt->psn;
	if (start)
		resp->skip = false;
	if (resp->skip) {
		todo->events |= SROCE_RESP_EV_DROPPED;
		resp->epsn = sroce_psn_add(pkt->psn, 1);
	}
	return !resp->skip;
}

/* ---- ahead of their turn ---- */

/* One NAK per gap (IBA 9.7.5.2.1). */
static void tell_gap(struct sroce_resp *resp)
{
	if (!resp->nak_sent)
		queue_nak(resp, SROCE_NAK_PSN_SEQ, resp->epsn);
	resp->nak_sent = true;
}

/*
 * What is held comes once more, after something later: the peer went back, so the
 * packet that fills the gap was lost again. That is a gap of its own.
 */
static void on_held_again(struct sroce_resp *resp, const struct sroce_pkt *pkt)
{
	if (!resp->selective && !resp->rnr &&
	    sroce_psn_diff(pkt->psn, resp->ahead_psn) < 0) {
		resp->nak_sent = false;
		tell_gap(resp);
	}
	resp->ahead_psn = pkt->psn;
}

static void on_ahead(struct sroce_resp *resp, const struct sroce_pkt *pkt,
		     struct sroce_resp_do *todo)
{
	todo->events |= SROCE_RESP_EV_OUT_OF_SEQ;
	if (!resp->hold.max_bytes) {
		tell_gap(resp);
		return;
	}
	if (sroce_hold_has(&resp->hold, pkt->psn)) {
		todo->events |= SROCE_RESP_EV_DUPLICATE;
		on_held_again(resp, pkt);
		if (resp->selective && pkt->ackreq && resp->answer == SROCE_ANS_NONE)
			resp->answer = SROCE_ANS_ACK;
		return;
	}
	todo->act = SROCE_ACT_HOLD;
}

/* Is it the first behind a gap of its own? */
static bool opens_gap(const struct sroce_held *held)
{
	return !held->prev || held->psn != sroce_psn_add(held->prev->psn, 1);
}

bool sroce_resp_held(struct sroce_resp *resp, const struct sroce_pkt *pkt,
		     struct sroce_resp_do *todo, struct sroce_held *held)
{
	if (!held || !sroce_hold_add(&resp->hold, held)) {
		todo->events |= SROCE_RESP_EV_DROPPED;
		tell_gap(resp);
		return false;
	}
	todo->events |= SROCE_RESP_EV_HELD;
	resp->ahead_psn = pkt->psn;
	if (resp->hold.packets >= SROCE_RESP_REORDER || pkt->ackreq)
		tell_gap(resp);
	/* A SACK for each new gap, and whenever the peer asks. */
	if (resp->selective && resp->nak_sent && resp->answer == SROCE_ANS_NONE &&
	    (pkt->ackreq || opens_gap(held)))
		resp->answer = SROCE_ANS_ACK;
	return true;
}

struct sroce_held *sroce_resp_due(struct sroce_resp *resp)
{
	if (resp->dead)
		return sroce_hold_drop(&resp->hold);
	return sroce_hold_take(&resp->hold, resp->epsn);
}

static bool rc_in_order(struct sroce_resp *resp, const struct sroce_pkt *pkt,
			struct sroce_resp_do *todo)
{
	s32 ahead = sroce_psn_diff(pkt->psn, resp->epsn);

	if (ahead < 0) {
		on_duplicate(resp, pkt, todo);
		return false;
	}
	if (ahead > 0) {
		on_ahead(resp, pkt, todo);
		return false;
	}
	return true;
}

void sroce_resp_on_packet(struct sroce_resp *resp, const struct sroce_pkt *pkt,
			  struct sroce_resp_do *todo)
{
	memset(todo, 0, sizeof(*todo));
	todo->act = SROCE_ACT_DROP;
	resp->refused = 0;
	if (resp->dead) {
		todo->events = SROCE_RESP_EV_DROPPED;
		return;
	}
	if (!(resp->reliable ? rc_in_order(resp, pkt, todo) : uc_in_order(resp, pkt, todo)))
		return;
	if (request_ok(resp, pkt)) {
		fill_verdict(resp, pkt, todo);
		return;
	}
	if (resp->reliable) {
		todo->events |= SROCE_RESP_EV_INV_REQ;
		fatal_nak(resp, SROCE_NAK_INV_REQ, pkt->psn);
	} else {
		todo->events |= SROCE_RESP_EV_DROPPED;
		resp->msg = SROCE_MSG_NONE;
		resp->skip = true;
		resp->epsn = sroce_psn_add(pkt->psn, 1);
	}
}

static void advance(struct sroce_resp *resp, const struct sroce_pkt *pkt,
		    const struct sroce_resp_do *todo)
{
	if (todo->end)
		resp->msn = sroce_psn_add(resp->msn, 1);
	switch (todo->act) {
	case SROCE_ACT_READ:
		sroce_replay_remember(resp, pkt, todo, SROCE_RES_READ);
		return;
	case SROCE_ACT_ATOMIC:
		sroce_replay_remember(resp, pkt, todo, SROCE_RES_ATOMIC);
		return;
	case SROCE_ACT_ATOMIC_WRITE:
	case SROCE_ACT_FLUSH:
		sroce_replay_remember(resp, pkt, todo, SROCE_RES_EMPTY);
		return;
	}

	resp->epsn = sroce_psn_add(resp->epsn, 1);
	resp->msg_srqn = pkt->srqn;
	resp->msg_bytes = todo->end ? 0 : todo->msg_bytes;
	if (todo->end)
		resp->msg = SROCE_MSG_NONE;
	else
		resp->msg = todo->act == SROCE_ACT_SEND ? SROCE_MSG_SEND : SROCE_MSG_WRITE;
	if (todo->act == SROCE_ACT_WRITE) {
		resp->write_left = (todo->start ? todo->bytes : resp->write_left) -
				   pkt->payload_bytes;
		resp->write_va = todo->va + pkt->payload_bytes;
		resp->write_rkey = todo->rkey;
	}
}

/* ---- rows of packets ---- */

/*
 * Only where nothing else is to be thought of than the next bytes of a message: no
 * gap that was filled, no NAK that is withdrawn by progress.
 */
static bool row_ok(const struct sroce_resp *resp, const struct sroce_pkt *pkt)
{
	if (resp->dead || resp->skip || resp->nak_sent || resp->hold.packets ||
	    resp->answer == SROCE_ANS_NAK)
		return false;
	return pkt->psn == resp->epsn && pkt->flags & (SROCE_F_SEND | SROCE_F_WRITE) &&
	       !(pkt->flags & (SROCE_F_START | SROCE_F_END)) && !pkt->ackreq &&
	       sequence_ok(resp, pkt) && payload_ok(resp, pkt);
}

u32 sroce_resp_on_row(const struct sroce_resp *resp, const struct sroce_pkt *pkt, u32 n,
		      struct sroce_resp_do *todo)
{
	u32 left;

	if (!row_ok(resp, pkt))
		return 0;
	/* A WRITE has a byte left for its LAST packet. */
	if (resp->msg == SROCE_MSG_SEND)
		left = SROCE_MAX_MSG_BYTES - resp->msg_bytes;
	else
		left = resp->write_left - min(resp->write_left, 1U);
	n = min(n, left / resp->mtu);
	if (!n)
		return 0;
	memset(todo, 0, sizeof(*todo));
	fill_verdict(resp, pkt, todo);
	todo->msg_bytes = resp->msg_bytes + n * resp->mtu;
	return n;
}

void sroce_resp_row_done(struct sroce_resp *resp, u32 n)
{
	u32 bytes = n * resp->mtu;

	resp->refused = 0;
	resp->epsn = sroce_psn_add(resp->epsn, n);
	resp->msg_bytes += bytes;
	if (resp->msg != SROCE_MSG_WRITE)
		return;
	resp->write_left -= bytes;
	resp->write_va += bytes;
}

/* ---- commit ---- */

static void commit_unreliable(struct sroce_resp *resp, const struct sroce_pkt *pkt,
			      struct sroce_resp_do *todo, enum sroce_resp_result result)
{
	if (result == SROCE_RESULT_OK) {
		advance(resp, pkt, todo);
		return;
	}
	todo->events |= SROCE_RESP_EV_DROPPED;
	if (result == SROCE_RESULT_RNR)
		todo->events |= SROCE_RESP_EV_RNR;
	resp->msg = SROCE_MSG_NONE;
	resp->skip = true;
	resp->epsn = sroce_psn_add(pkt->psn, 1);
}

static void commit_ok(struct sroce_resp *resp, const struct sroce_pkt *pkt,
		      const struct sroce_resp_do *todo)
{
	bool ack = pkt->ackreq && (todo->act == SROCE_ACT_SEND || todo->act == SROCE_ACT_WRITE);

	advance(resp, pkt, todo);
	/* The peer learns at once how far the packet that filled a gap brought us. */
	if (resp->nak_sent && resp->answer != SROCE_ANS_NAK && resp->hold.packets)
		ack = true;
	resp->nak_sent = false;
	resp->rnr = false;
	/* A NAK that still waits speaks of a gap that is filled. */
	if (resp->answer == SROCE_ANS_NAK)
		resp->answer = SROCE_ANS_NONE;
	if (ack)
		resp->answer = SROCE_ANS_ACK;
}

void sroce_resp_commit(struct sroce_resp *resp, const struct sroce_pkt *pkt,
		       struct sroce_resp_do *todo, enum sroce_resp_result result)
{
	if (!resp->reliable) {
		commit_unreliable(resp, pkt, todo, result);
		return;
	}
	switch (result) {
	case SROCE_RESULT_OK:
		commit_ok(resp, pkt, todo);
		break;
	case SROCE_RESULT_RNR:
		todo->events |= SROCE_RESP_EV_RNR;
		queue_nak(resp, SROCE_AETH_RNR_NAK | resp->min_rnr_timer, pkt->psn);
		resp->nak_sent = true;
		resp->rnr = true;
		break;
	case SROCE_RESULT_INV_REQ:
		todo->events |= SROCE_RESP_EV_INV_REQ;
		fatal_nak(resp, SROCE_NAK_INV_REQ, pkt->psn);
		break;
	case SROCE_RESULT_REM_ACC:
		todo->events |= SROCE_RESP_EV_REM_ACC;
		fatal_nak(resp, SROCE_NAK_REM_ACC, pkt->psn);
		break;
	case SROCE_RESULT_REM_OP:
		todo->events |= SROCE_RESP_EV_REM_OP;
		fatal_nak(resp, SROCE_NAK_REM_OP, pkt->psn);
		break;
	}
}

/* ---- answers ---- */

/* A SACK in place of an ACK or a sequence NAK: both say what the bitmap says better. */
static bool is_sack(const struct sroce_resp *resp)
{
	if (!resp->selective || !resp->hold.packets)
		return false;
	if (resp->answer == SROCE_ANS_ACK)
		return !resp->plain;
	return resp->nak_syndrome == SROCE_NAK_PSN_SEQ;
}

static void next_ack(struct sroce_resp *resp, struct sroce_resp_out *out)
{
	out->pkt.opcode = resp->transport | SROCE_OP_ACKNOWLEDGE;
	out->pkt.msn = resp->msn;
	if (is_sack(resp)) {
		resp->nak_sent = true;
		out->pkt.opcode = SROCE_OPCODE_SACK;
		out->pkt.psn = (resp->epsn - 1) & SROCE_PSN_MASK;
		sroce_hold_map(&resp->hold, sroce_psn_add(resp->epsn, 1), out->pkt.sack,
			       sizeof(out->pkt.sack));
	} else if (resp->answer == SROCE_ANS_NAK) {
		out->pkt.syndrome = resp->nak_syndrome;
		out->pkt.psn = resp->nak_psn;
	} else {
		out->pkt.psn = (resp->epsn - 1) & SROCE_PSN_MASK;
	}
	resp->answer = SROCE_ANS_NONE;
	resp->plain = false;
}

enum sroce_resp_what sroce_resp_next(struct sroce_resp *resp, struct sroce_resp_out *out)
{
	struct sroce_res *res = sroce_replay_first(resp);

	if (!res && resp->answer == SROCE_ANS_NONE)
		return SROCE_RESP_NOTHING;
	memset(out, 0, sizeof(*out));
	out->pkt.qpn = resp->dest_qpn;
	out->pkt.pkey = resp->pkey;
	out->pkt.migreq = true;
	out->pkt.syndrome = SROCE_AETH_ACK | resp->credits;
	if (!res) {
		next_ack(resp, out);
		return SROCE_RESP_PACKET;
	}
	return sroce_replay_next(resp, res, out);
}

void sroce_resp_read_failed(struct sroce_resp *resp, const struct sroce_resp_out *out)
{
	sroce_replay_forget(resp);
	fatal_nak(resp, SROCE_NAK_REM_ACC, out->pkt.psn);
}

/* The answer to say last, if it is neither a READ's nor an atomic's. */
static void say_again(struct sroce_resp *resp)
{
	if (resp->answer != SROCE_ANS_NONE)
		return;
	if (resp->rnr)
		queue_nak(resp, SROCE_AETH_RNR_NAK | resp->min_rnr_timer, resp->epsn);
	else if (resp->nak_sent)
		queue_nak(resp, SROCE_NAK_PSN_SEQ, resp->epsn);
	else
		resp->answer = SROCE_ANS_ACK;
}

u64 sroce_resp_refused(struct sroce_resp *resp, u32 psn)
{
	if (resp->dead || !resp->reliable || resp->refused > REFUSED_DOUBLINGS)
		return SROCE_NEVER;
	if (!sroce_replay_back(resp, psn))
		say_again(resp);
	return REFUSED_PAUSE_NS << resp->refused++;
}

bool sroce_resp_pending(const struct sroce_resp *resp)
{
	return resp->res_pending || resp->answer != SROCE_ANS_NONE;
}

bool sroce_resp_next_is_read(struct sroce_resp *resp)
{
	const struct sroce_res *res = sroce_replay_first(resp);

	return res && res->kind == SROCE_RES_READ;
}

bool sroce_ud_check(const struct sroce_pkt *pkt, u32 qkey, u32 mtu)
{
	return pkt->qkey == qkey && pkt->payload_bytes <= mtu;
}
