/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Round-trip time of one QP. One packet at a time is a probe: it asks for an ACK
 * (BTH.A), its sending is timed until the acknowledgement that covers it. Karn's
 * rule: if the probe is sent again it counts no more, since nobody knows which of
 * the two was answered.
 *
 * That time says when an answer is late, so each of them is smoothed as TCP does
 * (RFC 6298). It is a sample of the path only if the answer waited for nothing else,
 * neither for the answers of READs nor for a gap to be filled.
 *
 * Pure; all under the QP's request lock; times are nanoseconds of the requester's
 * clock.
 */
#ifndef SROCE_PROTO_RTT_H
#define SROCE_PROTO_RTT_H

#include "psn.h"

/* The minimum is over at least this time, and at most twice of it. */
#define SROCE_RTT_MIN_WINDOW_NS	5000000000ULL

/**
 * struct sroce_rtt - estimator
 * @samples: of the path, taken so far (saturates)
 * @last_ns: newest sample of the path
 * @known: there was an answer to a probe
 * @srtt_ns: time to an answer, smoothed; 0 as long as there was none
 * @rttvar_ns: smoothed deviation from it
 * @min_ns: smallest sample of the path of late; 0 as long as there is none
 * @probing: a probe is on its way
 * @alone: its answer waits for nothing else
 * @probe_psn: PSN of the probe
 * @probe_ns: when it was sent
 * @min_before_ns: smallest sample of the window before this one
 * @min_now_ns: smallest sample of this window
 * @window_ns: when this window began
 */
struct sroce_rtt {
	u32 samples;
	u64 last_ns;
	bool known;
	u64 srtt_ns;
	u64 rttvar_ns;
	u64 min_ns;

	bool probing;
	bool alone;
	u32 probe_psn;
	u64 probe_ns;
	u64 min_before_ns;
	u64 min_now_ns;
	u64 window_ns;
};

/**
 * sroce_rtt_reset - no sample, no probe (a new connection or a new path)
 * @rtt: estimator
 */
void sroce_rtt_reset(struct sroce_rtt *rtt);

/**
 * sroce_rtt_on_sent - a packet that asks for an ACK was sent for the first time
 * @rtt: estimator
 * @psn: of the packet whose acknowledgement answers it
 * @alone: no answer to a READ or atomic comes before
 * @now_ns: current time
 *
 * It becomes the probe unless one is on its way.
 */
void sroce_rtt_on_sent(struct sroce_rtt *rtt, u32 psn, bool alone, u64 now_ns);

/**
 * sroce_rtt_on_acked - all before @una_psn is acknowledged
 * @rtt: estimator
 * @una_psn: oldest PSN not acknowledged
 * @now_ns: current time
 *
 * Returns true if that was an answer to a probe: @srtt_ns is new, and all the rest if
 * @samples is.
 */
bool sroce_rtt_on_acked(struct sroce_rtt *rtt, u32 una_psn, u64 now_ns);

/**
 * sroce_rtt_on_repair - one packet is sent again
 * @rtt: estimator
 * @psn: of it; if it is the probe, that does not count (Karn)
 */
void sroce_rtt_on_repair(struct sroce_rtt *rtt, u32 psn);

/**
 * sroce_rtt_on_retry - all is sent again: the probe does not count (Karn)
 * @rtt: estimator
 */
void sroce_rtt_on_retry(struct sroce_rtt *rtt);

#endif /* SROCE_PROTO_RTT_H */
