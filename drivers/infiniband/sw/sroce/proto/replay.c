// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder's memory of READs, atomics and the like: their answers, for the
 * first time and for duplicates (IBA 9.7.5.1.3, 9.7.5.1.4).
 */
#include "resp.h"

static u32 read_npsn(const struct sroce_resp *resp, u32 bytes)
{
	return bytes ? bytes / resp->mtu + (bytes % resp->mtu != 0) : 1;
}

static void answer_pending(struct sroce_resp *resp, struct sroce_res *res, bool pending)
{
	if (res->pending != pending)
		resp->res_pending += pending ? 1 : -1;
	res->pending = pending;
}

/* ---- duplicates ---- */

static void start_part(struct sroce_resp *resp, struct sroce_res *res,
		       const struct sroce_part *part)
{
	res->start_psn = part->psn;
	res->next_psn = part->psn;
	res->end_psn = part->end_psn;
	res->end_bytes = part->end_bytes;
	res->again = true;
	answer_pending(resp, res, true);
}

static void drop_parts(struct sroce_resp *resp, u8 index)
{
	u32 i, left = 0;

	for (i = 0; i < resp->num_parts; i++)
		if (resp->parts[i].res != index)
			resp->parts[left++] = resp->parts[i];
	resp->num_parts = left;
}

/*
 * Part of a READ once more while some of it is being sent. A part before that goes
 * first, and what is being sent goes on after it: the requester misses just the
 * part. One that reaches into it takes its place (C9-110).
 */
static bool replay_part(struct sroce_resp *resp, struct sroce_res *res,
			const struct sroce_part *part)
{
	struct sroce_part rest = {
		.res = part->res, .psn = res->next_psn, .end_psn = res->end_psn,
		.end_bytes = res->end_bytes,
	};
	bool before = sroce_psn_diff(part->end_psn, res->next_psn) <= 0;
	bool behind = sroce_psn_diff(part->psn, res->end_psn) >= 0;

	if (!res->pending) {
		start_part(resp, res, part);
		return true;
	}
	if (before || behind) {
		if (resp->num_parts == SROCE_RESP_MAX_PARTS)
			return false;
		resp->parts[resp->num_parts++] = before ? rest : *part;
		if (before)
			start_part(resp, res, part);
		return true;
	}
	/* It comes anyway. */
	if (sroce_psn_diff(part->psn, res->next_psn) >= 0 &&
	    sroce_psn_diff(part->end_psn, res->end_psn) <= 0)
		return true;
	drop_parts(resp, part->res);
	if (sroce_psn_diff(part->end_psn, res->end_psn) > 0)
		rest = *part;
	rest.psn = part->psn;
	start_part(resp, res, &rest);
	return true;
}

/* What was to be sent of a READ is sent: on with the first of the parts that wait. */
static void next_part(struct sroce_resp *resp, struct sroce_res *res)
{
	u8 index = res - resp->res;
	struct sroce_part part;
	u32 i, at = resp->num_parts;

	answer_pending(resp, res, false);
	for (i = 0; i < resp->num_parts; i++)
		if (resp->parts[i].res == index &&
		    (at == resp->num_parts ||
		     sroce_psn_diff(resp->parts[i].psn, resp->parts[at].psn) < 0))
			at = i;
	if (at == resp->num_parts)
		return;
	part = resp->parts[at];
	resp->num_parts--;
	memmove(&resp->parts[at], &resp->parts[at + 1], (resp->num_parts - at) * sizeof(part));
	start_part(resp, res, &part);
}

bool sroce_replay_read(struct sroce_resp *resp, const struct sroce_pkt *pkt)
{
	u32 i;

	for (i = 1; i <= resp->max_res; i++) {
		struct sroce_res *res = &resp->res[(resp->res_head - i) % SROCE_RESP_MAX_RES];
		struct sroce_part part;
		u32 skip, done;

		if (res->kind != SROCE_RES_READ || res->rkey != pkt->rkey ||
		    res->srqn != pkt->srqn ||
		    !sroce_psn_in(pkt->psn, res->first_psn, res->npsn))
			continue;
		skip = (pkt->psn - res->first_psn) & SROCE_PSN_MASK;
		done = skip * resp->mtu;
		if (pkt->va != res->va + done || pkt->dma_bytes > res->bytes - done)
			return false;
		part.res = res - resp->res;
		part.psn = pkt->psn;
		part.end_psn = sroce_psn_add(pkt->psn, read_npsn(resp, pkt->dma_bytes));
		part.end_bytes = done + pkt->dma_bytes;
		return replay_part(resp, res, &part);
	}
	return false;
}

/* Answered from the saved result, never executed again. */
bool sroce_replay_saved(struct sroce_resp *resp, const struct sroce_pkt *pkt, u8 kind)
{
	u32 i;

	for (i = 1; i <= resp->max_res; i++) {
		struct sroce_res *res = &resp->res[(resp->res_head - i) % SROCE_RESP_MAX_RES];

		if (res->kind != kind || res->first_psn != pkt->psn)
			continue;
		res->next_psn = res->first_psn;
		res->again = true;
		answer_pending(resp, res, true);
		return true;
	}
	return false;
}

/* ---- first time ---- */

void sroce_replay_remember(struct sroce_resp *resp, const struct sroce_pkt *pkt,
		     const struct sroce_resp_do *todo, u8 kind)
{
	u32 oldest = resp->res_head - resp->max_res;
	struct sroce_res *res = &resp->res[resp->res_head++ % SROCE_RESP_MAX_RES];

	/* The oldest is forgotten; a replay of it may still be waiting. */
	answer_pending(resp, &resp->res[oldest % SROCE_RESP_MAX_RES], false);
	answer_pending(resp, res, false);
	drop_parts(resp, oldest % SROCE_RESP_MAX_RES);
	drop_parts(resp, res - resp->res);
	memset(res, 0, sizeof(*res));
	res->kind = kind;
	res->rkey = pkt->rkey;
	res->srqn = pkt->srqn;
	res->va = pkt->va;
	res->bytes = kind == SROCE_RES_READ ? pkt->dma_bytes : 0;
	res->orig = todo->orig;
	res->first_psn = pkt->psn;
	res->npsn = read_npsn(resp, res->bytes);
	res->start_psn = pkt->psn;
	res->next_psn = pkt->psn;
	res->end_psn = sroce_psn_add(pkt->psn, res->npsn);
	res->end_bytes = res->bytes;
	res->msn = resp->msn;
	answer_pending(resp, res, true);
	resp->epsn = res->end_psn;
}

/* ---- answers ---- */

/* The oldest resource with an answer to send: answers leave in request order (C9-110). */
struct sroce_res *sroce_replay_first(struct sroce_resp *resp)
{
	u32 i;

	if (!resp->res_pending)
		return NULL;
	for (i = 0; i < SROCE_RESP_MAX_RES; i++) {
		struct sroce_res *res = &resp->res[(resp->res_head + i) % SROCE_RESP_MAX_RES];

		if (res->pending)
			return res;
	}
	return NULL;
}

static u8 read_resp_op(bool first, bool last)
{
	if (first)
		return last ? SROCE_OP_READ_RESP_ONLY : SROCE_OP_READ_RESP_FIRST;
	return last ? SROCE_OP_READ_RESP_LAST : SROCE_OP_READ_RESP_MIDDLE;
}

static enum sroce_resp_what next_read(struct sroce_resp *resp, struct sroce_res *res,
				      struct sroce_resp_out *out)
{
	u32 done = ((res->next_psn - res->first_psn) & SROCE_PSN_MASK) * resp->mtu;
	bool first = res->next_psn == res->start_psn;
	bool last;

	out->pkt.psn = res->next_psn;
	res->next_psn = sroce_psn_add(res->next_psn, 1);
	last = res->next_psn == res->end_psn;
	out->pkt.opcode = resp->transport | read_resp_op(first, last);
	out->pkt.payload_bytes = min(resp->mtu, res->end_bytes - done);
	out->va = res->va + done;
	out->rkey = res->rkey;
	out->srqn = res->srqn;
	if (last)
		next_part(resp, res);
	return out->pkt.payload_bytes ? SROCE_RESP_READ_DATA : SROCE_RESP_PACKET;
}

static enum sroce_resp_what next_saved(struct sroce_resp *resp, struct sroce_res *res,
				       struct sroce_resp_out *out)
{
	answer_pending(resp, res, false);
	out->pkt.psn = res->first_psn;
	out->pkt.atomic_orig = res->orig;
	out->pkt.opcode = resp->transport | (res->kind == SROCE_RES_ATOMIC ?
					     SROCE_OP_ATOMIC_ACK : SROCE_OP_READ_RESP_ONLY);
	return SROCE_RESP_PACKET;
}

enum sroce_resp_what sroce_replay_next(struct sroce_resp *resp, struct sroce_res *res,
				       struct sroce_resp_out *out)
{
	out->pkt.msn = res->msn;
	out->again = res->again;
	out->res = res - resp->res;
	return res->kind == SROCE_RES_READ ? next_read(resp, res, out) :
					     next_saved(resp, res, out);
}

bool sroce_resp_more(struct sroce_resp *resp, struct sroce_resp_out *out)
{
	struct sroce_res *res = &resp->res[out->res];
	u32 psn = sroce_psn_add(out->pkt.psn, 1);

	if ((out->pkt.opcode & SROCE_OP_MASK) != SROCE_OP_READ_RESP_MIDDLE || !res->pending ||
	    res->kind != SROCE_RES_READ || res->next_psn != psn || psn == res->start_psn ||
	    sroce_psn_add(psn, 1) == res->end_psn)
		return false;
	res->next_psn = sroce_psn_add(psn, 1);
	out->pkt.psn = psn;
	out->va += resp->mtu;
	return true;
}

bool sroce_replay_back(struct sroce_resp *resp, u32 psn)
{
	u32 i;

	for (i = 0; i < SROCE_RESP_MAX_RES; i++) {
		struct sroce_res *res = &resp->res[i];
		u32 n = (res->end_psn - res->start_psn) & SROCE_PSN_MASK;

		if (res->kind == SROCE_RES_FREE || !sroce_psn_in(psn, res->start_psn, n))
			continue;
		res->start_psn = psn;
		res->next_psn = psn;
		/* It gives way to a new request: then the requester has it. */
		res->again = true;
		answer_pending(resp, res, true);
		return true;
	}
	return false;
}

void sroce_replay_forget(struct sroce_resp *resp)
{
	u32 i;

	for (i = 0; i < SROCE_RESP_MAX_RES; i++)
		answer_pending(resp, &resp->res[i], false);
	resp->num_parts = 0;
}
