/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Sending at a rate. A pace is a stretch of road that bytes pass one after the
 * other, each taking its time at the rate of the moment. Who wants to send books
 * a turn: some bytes, and the time from when on they may leave. Turns follow each
 * other, so several senders on one road (requester and responder of a QP, the QPs
 * of a port) share it in the order in which they came, and none of them starves.
 *
 * A turn is one packet at low rates, and as many as pass in the burst time at high
 * ones, so that packets can leave in batches. What a turn was exceeded by is paid
 * by the next one: over any time t a sender puts no more on a road of rate R than
 *
 *	R * (t + SROCE_PACE_LATE_NS) + one turn + one packet
 *
 * Pure. Locks are the shell's: a pace has one, a turn belongs to its sender.
 */
#ifndef SROCE_PROTO_PACE_H
#define SROCE_PROTO_PACE_H

#include "base.h"

/* A timer that comes late by no more than this costs nothing of the rate. */
#define SROCE_PACE_LATE_NS	100000ULL
/* Bytes of a turn at most: a batch. */
#define SROCE_PACE_MAX_TURN	65536U

/**
 * struct sroce_pace - a road
 * @next_ns: it is booked until then
 * @rem: the fraction of a nanosecond left over, in 1 / rate
 */
struct sroce_pace {
	u64 next_ns;
	u64 rem;
};

/**
 * struct sroce_turn - what a sender may send, and from when on
 * @bytes: left; negative: owed
 * @at_ns: the time
 * @sent: bytes that left since the owner last asked
 */
struct sroce_turn {
	s64 bytes;
	u64 at_ns;
	u32 sent;
};

/**
 * sroce_pace_turn_bytes - how much to book in one turn
 * @rate_bps: bit/s, not 0
 * @burst_ns: what passes in this time leaves together
 * @packet_bytes: at least so much
 */
static inline u32 sroce_pace_turn_bytes(u64 rate_bps, u32 burst_ns, u32 packet_bytes)
{
	u64 bytes = div64_u64((rate_bps / 8) * burst_ns, 1000000000);

	return clamp_t(u64, bytes, packet_bytes, SROCE_PACE_MAX_TURN);
}

/**
 * sroce_pace_book - take a stretch of road
 * @pace: the road
 * @rate_bps: its rate now, bit/s, not 0
 * @bytes: to pass; below 2^30
 * @now_ns: current time
 *
 * Returns when the first of them may leave; in the past if the road was free.
 */
u64 sroce_pace_book(struct sroce_pace *pace, u64 rate_bps, u32 bytes, u64 now_ns);

/**
 * sroce_turn_is_open - may a packet leave?
 * @turn: of the sender
 * @now_ns: current time
 */
static inline bool sroce_turn_is_open(const struct sroce_turn *turn, u64 now_ns)
{
	return turn->bytes > 0 && turn->at_ns <= now_ns;
}

/**
 * sroce_turn_is_wanted - must the sender book before it can go on?
 * @turn: of the sender; what was not used in time is forgotten
 * @now_ns: current time
 */
bool sroce_turn_is_wanted(struct sroce_turn *turn, u64 now_ns);

/* sroce_turn_give - @bytes more, which may leave from @at_ns on */
static inline void sroce_turn_give(struct sroce_turn *turn, u32 bytes, u64 at_ns)
{
	turn->bytes += bytes;
	turn->at_ns = at_ns;
}

/* sroce_turn_spend - @bytes were sent */
static inline void sroce_turn_spend(struct sroce_turn *turn, u32 bytes)
{
	turn->bytes -= bytes;
	turn->sent += bytes;
}

/* sroce_turn_sent - what was sent since this was asked last; below 2^32 */
static inline u32 sroce_turn_sent(struct sroce_turn *turn)
{
	u32 sent = turn->sent;

	turn->sent = 0;
	return sent;
}

#endif /* SROCE_PROTO_PACE_H */
