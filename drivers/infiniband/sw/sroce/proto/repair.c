// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "req.h"

static u32 from_una(const struct sroce_req *req, u32 psn)
{
	return (psn - req->una_psn) & SROCE_PSN_MASK;
}

/* Later of two PSNs outstanding. */
static u32 later(const struct sroce_req *req, u32 a, u32 b)
{
	/* One that una went beyond is the earlier one. */
	if (sroce_psn_diff(a, req->una_psn) < 0)
		a = req->una_psn;
	if (sroce_psn_diff(b, req->una_psn) < 0)
		b = req->una_psn;
	return from_una(req, a) > from_una(req, b) ? a : b;
}

/* ---- what is there ---- */

static u32 *word_of(struct sroce_repair *repair, u32 psn)
{
	return &repair->ahead[psn % SROCE_REPAIR_AHEAD / 32];
}

void sroce_repair_reset(struct sroce_repair *repair, u32 psn)
{
	memset(repair, 0, sizeof(*repair));
	repair->held_psn = psn;
	repair->answer_psn = psn;
	repair->held_scan = psn;
	repair->answer_scan = psn;
}

bool sroce_repair_has(const struct sroce_req *req, u32 psn)
{
	return from_una(req, psn) < SROCE_REPAIR_AHEAD &&
	       req->repair.ahead[psn % SROCE_REPAIR_AHEAD / 32] & BIT(psn % 32);
}

bool sroce_repair_take(struct sroce_req *req, u32 psn)
{
	u32 *word = word_of(&req->repair, psn);
	bool has = *word & BIT(psn % 32);

	*word &= ~BIT(psn % 32);
	return has;
}

static void set_ahead(struct sroce_req *req, u32 psn)
{
	*word_of(&req->repair, psn) |= BIT(psn % 32);
}

void sroce_repair_passed(struct sroce_req *req, u32 from, u32 to)
{
	u32 n = min((to - from) & SROCE_PSN_MASK, (u32)SROCE_REPAIR_AHEAD);

	while (n--)
		sroce_repair_take(req, from++);
}

void sroce_repair_forget(struct sroce_req *req)
{
	u32 i;

	for (i = req->head; i != req->tail; i++) {
		struct sroce_swqe *wqe = sroce_req_wqe(req, i);
		u32 psn, end;

		if (wqe->state == SROCE_SWQE_POSTED)
			break;
		wqe->held = false;
		if (wqe->state != SROCE_SWQE_STARTED || sroce_wr_takes_rd(wqe->op))
			continue;
		psn = later(req, wqe->first_psn, req->una_psn);
		end = sroce_psn_add(wqe->first_psn, wqe->npsn);
		for (; psn != end && from_una(req, psn) < SROCE_REPAIR_AHEAD;
		     psn = sroce_psn_add(psn, 1))
			sroce_repair_take(req, psn);
	}
	req->repair.held_psn = req->una_psn;
	req->repair.held_scan = req->una_psn;
}

/* ---- what is missing ---- */

static void no_holes(struct sroce_repair *repair)
{
	repair->first = repair->end;
	repair->sent = repair->end;
}

void sroce_repair_go_back(struct sroce_req *req)
{
	struct sroce_repair *repair = &req->repair;

	no_holes(repair);
	repair->held_scan = req->max_psn;
	repair->answer_psn = req->una_psn;
	repair->answer_scan = req->una_psn;
}

static bool add_hole(struct sroce_repair *repair, u32 psn, bool answer)
{
	struct sroce_hole *hole = &repair->holes[repair->end % SROCE_REPAIR_HOLES];

	if (repair->end - repair->first == SROCE_REPAIR_HOLES)
		return false;
	hole->psn = psn;
	hole->answer = answer;
	repair->end++;
	return true;
}

/* The started WQE that a PSN belongs to, or NULL. */
static struct sroce_swqe *find_wqe(const struct sroce_req *req, u32 psn, u32 *index)
{
	u32 i;

	for (i = req->head; i != req->tail; i++) {
		struct sroce_swqe *wqe = sroce_req_wqe(req, i);

		if (wqe->state == SROCE_SWQE_POSTED || wqe->state == SROCE_SWQE_FAILED)
			break;
		if (wqe->state == SROCE_SWQE_STARTED &&
		    sroce_psn_in(psn, wqe->first_psn, wqe->npsn)) {
			*index = i;
			return wqe;
		}
	}
	return NULL;
}

/* Is what a hole stands for still missing, and not about to be sent anyway? */
static bool is_missing(const struct sroce_req *req, u32 psn)
{
	return from_una(req, psn) < from_una(req, req->next_psn) && !sroce_repair_has(req, psn);
}

/* Those sent again long enough ago are to be sent once more if they did not get there. */
static bool lost_again(struct sroce_req *req)
{
	struct sroce_repair *repair = &req->repair;
	bool any = false;

	while (repair->first != repair->sent) {
		struct sroce_hole hole = repair->holes[repair->first % SROCE_REPAIR_HOLES];
		u32 arrived = hole.answer ? repair->answer_psn : repair->held_psn;
		bool missing = is_missing(req, hole.psn);

		if (missing && from_una(req, arrived) <= from_una(req, hole.mark))
			break;
		repair->first++;
		if (missing)
			any |= add_hole(repair, hole.psn, hole.answer);
	}
	return any;
}

/* ---- requests ---- */

/* Look at the requests in [@from, held_psn). Stops where the queue is full. */
static bool scan_requests(struct sroce_req *req, u32 from)
{
	struct sroce_repair *repair = &req->repair;
	struct sroce_swqe *wqe = NULL;
	bool any = false;
	u32 psn, index;

	for (psn = from; sroce_psn_diff(psn, repair->held_psn) < 0; ) {
		if (!wqe || !sroce_psn_in(psn, wqe->first_psn, wqe->npsn))
			wqe = find_wqe(req, psn, &index);
		if (!wqe)
			break;
		if (sroce_wr_takes_rd(wqe->op)) {
			if (psn == wqe->first_psn && !wqe->held && is_missing(req, psn)) {
				if (!add_hole(repair, psn, false))
					break;
				any = true;
			}
			psn = sroce_psn_add(wqe->first_psn, wqe->npsn);
			continue;
		}
		if (is_missing(req, psn)) {
			if (!add_hole(repair, psn, false))
				break;
			any = true;
		}
		psn = sroce_psn_add(psn, 1);
	}
	repair->held_scan = psn;
	return any;
}

/* The peer holds the request @psn. */
static void on_held(struct sroce_req *req, u32 psn)
{
	struct sroce_swqe *wqe;
	u32 index;

	if (from_una(req, psn) >= from_una(req, req->max_psn) ||
	    from_una(req, psn) >= SROCE_REPAIR_AHEAD)
		return;
	wqe = find_wqe(req, psn, &index);
	if (!wqe)
		return;
	if (!sroce_wr_takes_rd(wqe->op))
		set_ahead(req, psn);
	else if (psn == wqe->first_psn)
		wqe->held = true;
	else
		return;
	req->repair.held_psn = later(req, req->repair.held_psn, sroce_psn_add(psn, 1));
}

bool sroce_repair_sack(struct sroce_req *req, const struct sroce_pkt *pkt)
{
	struct sroce_repair *repair = &req->repair;
	u32 i;
	bool any;

	for (i = 0; i < 8 * sizeof(pkt->sack); i++)
		if (pkt->sack[i / 8] & (0x80 >> (i % 8)))
			on_held(req, sroce_psn_add(pkt->psn, 2 + i));
	repair->held_psn = later(req, repair->held_psn, req->una_psn);
	any = lost_again(req);
	/* What is acknowledged was executed, even if answers before it are missing. */
	any |= scan_requests(req, later(req, repair->held_scan, req->acked_psn));
	return any;
}

/* ---- answers ---- */

void sroce_repair_answered(struct sroce_req *req, u32 psn)
{
	set_ahead(req, psn);
}

/* Gaps of one READ (or atomic) in [@from, @to). Stops where the queue is full. */
static u32 scan_answer(struct sroce_req *req, u32 from, u32 to, bool *any)
{
	bool in_gap = false;
	u32 psn;

	for (psn = from; sroce_psn_diff(psn, to) < 0; psn = sroce_psn_add(psn, 1)) {
		bool missing = is_missing(req, psn);

		if (missing && !in_gap) {
			if (!add_hole(&req->repair, psn, true))
				break;
			*any = true;
			/* Others are asked for all that is missing at once. */
			if (!req->selective)
				return to;
		}
		in_gap = missing;
	}
	return psn;
}

/*
 * How far the answers of a READ can be judged. A standard responder gives up what
 * it is sending when it is asked for an earlier part (C9-110): it is let finish.
 */
static u32 judged_to(const struct sroce_req *req, const struct sroce_swqe *wqe)
{
	u32 end = sroce_psn_add(wqe->first_psn, wqe->npsn);
	u32 high = req->repair.answer_psn;

	if (sroce_psn_diff(end, high) <= 0)
		return end;
	if (!req->selective)
		return wqe->first_psn;
	return sroce_psn_add(high, -SROCE_REPAIR_REORDER);
}

bool sroce_repair_answers(struct sroce_req *req, u32 psn)
{
	struct sroce_repair *repair = &req->repair;
	bool any;
	u32 i;

	repair->answer_psn = later(req, repair->answer_psn, psn);
	repair->answer_scan = later(req, repair->answer_scan, req->una_psn);
	any = lost_again(req);
	for (i = req->head; i != req->tail; i++) {
		struct sroce_swqe *wqe = sroce_req_wqe(req, i);
		u32 from, to;

		if (wqe->state == SROCE_SWQE_DONE || !sroce_wr_takes_rd(wqe->op))
			continue;
		if (wqe->state != SROCE_SWQE_STARTED ||
		    sroce_psn_diff(wqe->first_psn, repair->answer_psn) >= 0)
			break;
		from = later(req, repair->answer_scan, wqe->first_psn);
		to = judged_to(req, wqe);
		if (sroce_psn_diff(from, to) >= 0)
			continue;
		repair->answer_scan = scan_answer(req, from, to, &any);
		if (repair->answer_scan != to)
			break;
	}
	return any;
}

/* ---- sending again ---- */

/* Which answers of a READ to ask for, from number @k on; 0: none. */
static u32 answers_missing(const struct sroce_req *req, const struct sroce_swqe *wqe, u32 k)
{
	u32 i, n = 1;

	for (i = k + 1; i < wqe->npsn; i++) {
		u32 psn = sroce_psn_add(wqe->first_psn, i);

		/* Nothing beyond the bitmap has come. */
		if (from_una(req, psn) >= SROCE_REPAIR_AHEAD)
			return wqe->npsn - k;
		if (!sroce_repair_has(req, psn))
			n = i + 1 - k;
		else if (req->selective)
			break;
	}
	return n;
}

u32 sroce_repair_probe(struct sroce_req *req)
{
	struct sroce_repair *repair = &req->repair;
	u32 psn = req->una_psn, n = 1;
	struct sroce_swqe *wqe;
	bool answer;
	u32 index;

	no_holes(repair);
	wqe = find_wqe(req, psn, &index);
	if (!wqe)
		return 0;
	answer = sroce_wr_takes_rd(wqe->op);
	add_hole(repair, psn, answer);
	repair->held_scan = sroce_psn_add(psn, 1);
	repair->answer_scan = psn;
	if (answer) {
		n = answers_missing(req, wqe, (psn - wqe->first_psn) & SROCE_PSN_MASK);
		repair->answer_scan = sroce_psn_add(psn, n);
	}
	return n;
}

static void send_again(struct sroce_req *req, struct sroce_swqe *wqe, u32 psn,
		       struct sroce_req_out *out)
{
	u32 k = (psn - wqe->first_psn) & SROCE_PSN_MASK;

	out->retransmit = true;
	if (!sroce_wr_takes_rd(wqe->op)) {
		sroce_req_fill_data(req, wqe, k, out);
		out->pkt.ackreq = true;
		return;
	}
	k = max(k, wqe->resp_done);
	wqe->partial = true;
	sroce_req_fill_rd(req, wqe, k, answers_missing(req, wqe, k), out);
}

bool sroce_repair_next(struct sroce_req *req, struct sroce_req_out *out)
{
	struct sroce_repair *repair = &req->repair;

	while (repair->sent != repair->end) {
		struct sroce_hole *hole = &repair->holes[repair->sent++ % SROCE_REPAIR_HOLES];
		struct sroce_swqe *wqe;

		hole->mark = req->max_psn;
		if (!is_missing(req, hole->psn))
			continue;
		wqe = find_wqe(req, hole->psn, &out->index);
		if (!wqe)
			continue;
		sroce_rtt_on_repair(&req->rtt, hole->psn);
		send_again(req, wqe, hole->psn, out);
		return true;
	}
	return false;
}
