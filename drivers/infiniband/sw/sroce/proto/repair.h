/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requester: what is there beyond the oldest PSN not acknowledged, and what is
 * therefore missing and sent again by itself, while the send pointer goes on.
 *
 *   answers    READ responses and atomic acknowledgements are taken as they come;
 *              a READ is asked for the parts that are missing
 *   requests   between two of us (req->selective) a SACK says which requests the
 *              peer holds; those before that it does not are sent again
 *
 * Both mark PSNs in one bitmap, since a PSN belongs to a request or to an answer.
 * What is missing is in a queue of holes:
 *
 *   first         sent             end
 *    | sent again  | to be sent     |
 *
 * A hole that was sent again at a time when mark was the next new PSN was lost
 * once more if something from mark on arrived and it did not.
 */
#ifndef SROCE_PROTO_REPAIR_H
#define SROCE_PROTO_REPAIR_H

#include "wire.h"

/* PSNs beyond the oldest not acknowledged that are kept account of; a power of two. */
#define SROCE_REPAIR_AHEAD	2048
/* Holes in the queue at most; a power of two. */
#define SROCE_REPAIR_HOLES	128
/* Answers beyond a gap inside a READ before it counts as one and not as reordering. */
#define SROCE_REPAIR_REORDER	3

struct sroce_req;
struct sroce_req_out;

/**
 * struct sroce_hole - something missing
 * @psn: of a packet of SEND or WRITE; of a request; of the first answer missing
 * @mark: the next new PSN when it was sent again
 * @answer: an answer is missing
 */
struct sroce_hole {
	u32 psn;
	u32 mark;
	bool answer;
};

/**
 * struct sroce_repair - what is there, what is missing
 * @ahead: ring of bits by PSN: the answer was taken, the peer holds the request
 * @held_psn: one past the highest request that the peer holds
 * @answer_psn: one past the highest answer that came, or that an ACK says was sent
 * @held_scan: requests before it have been looked at for holes
 * @answer_scan: answers before it have been
 * @holes: ring
 * @first: oldest hole sent again; free running
 * @sent: next hole to send
 * @end: one past the newest hole
 *
 * All under the QP's request lock.
 */
struct sroce_repair {
	u32 ahead[SROCE_REPAIR_AHEAD / 32];
	u32 held_psn;
	u32 answer_psn;
	u32 held_scan;
	u32 answer_scan;
	struct sroce_hole holes[SROCE_REPAIR_HOLES];
	u32 first;
	u32 sent;
	u32 end;
};

/* sroce_repair_reset - nothing is ahead of @psn, nothing is missing */
void sroce_repair_reset(struct sroce_repair *repair, u32 psn);

/* sroce_repair_go_back - all from the send pointer on is sent again: no holes are in that */
void sroce_repair_go_back(struct sroce_req *req);

/**
 * sroce_repair_forget - do not rely on what the peer said it holds
 * @req: requester
 *
 * For the cases in which it may have let go: its NAKs, and the ACK timeout.
 */
void sroce_repair_forget(struct sroce_req *req);

/* sroce_repair_has - did the answer @psn come, does the peer hold the request @psn? */
bool sroce_repair_has(const struct sroce_req *req, u32 psn);

/* sroce_repair_take - the same for the oldest PSN, and forget it: una goes beyond */
bool sroce_repair_take(struct sroce_req *req, u32 psn);

/* sroce_repair_answered - the answer @psn, in [una, una + SROCE_REPAIR_AHEAD), was taken */
void sroce_repair_answered(struct sroce_req *req, u32 psn);

/* sroce_repair_passed - una goes from @from to @to over requests: forget these */
void sroce_repair_passed(struct sroce_req *req, u32 from, u32 to);

/**
 * sroce_repair_sack - the peer says what it holds
 * @req: requester
 * @pkt: SACK; its cumulative part has been dealt with
 *
 * Returns true if there are new holes.
 */
bool sroce_repair_sack(struct sroce_req *req, const struct sroce_pkt *pkt);

/**
 * sroce_repair_answers - look for answers that are missing
 * @req: requester
 * @psn: answers before it were sent
 *
 * Returns true if there are new holes.
 */
bool sroce_repair_answers(struct sroce_req *req, u32 psn);

/**
 * sroce_repair_probe - the oldest is to be sent again, and nothing else for now
 * @req: requester
 *
 * Returns the PSNs that this is: one, or the answers of a READ that are asked for.
 */
u32 sroce_repair_probe(struct sroce_req *req);

/**
 * sroce_repair_next - the next hole to send again
 * @req: requester
 * @out: result, as of sroce_req_next()
 *
 * Returns false if there is none.
 */
bool sroce_repair_next(struct sroce_req *req, struct sroce_req_out *out);

#endif /* SROCE_PROTO_REPAIR_H */
