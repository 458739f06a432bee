/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Round-trip time of one QP. One packet at a time is a probe: it asks for an ACK
 * (BTH.A), its sending is timed, and the acknowledgement that covers it is a
 * sample. Karn's rule: while anything is sent again there is no probe, since
 * nobody knows which of the two was answered, or how long the answer waited for
 * a gap to be filled. A packet whose answer waits for the answers of READs is no
 * probe either.
 *
 * Smoothed as TCP does (RFC 6298). Pure; all under the QP's request lock; times
 * are nanoseconds of the requester's clock.
 */
#ifndef SROCE_PROTO_RTT_H
#define SROCE_PROTO_RTT_H

#include "psn.h"

/* The minimum is over at least this time, and at most twice of it. */
#define SROCE_RTT_MIN_WINDOW_NS	5000000000ULL

/**
 * struct sroce_rtt - estimator
 * @samples: taken so far (saturates)
 * @last_ns: newest sample
 * @srtt_ns: smoothed; 0 as long as there is no sample
 * @rttvar_ns: smoothed deviation from it
 * @min_ns: smallest sample of late; 0 as long as there is none
 * @probing: a probe is on its way
 * @probe_psn: PSN of the probe
 * @probe_ns: when it was sent
 * @min_before_ns: smallest sample of the window before this one
 * @min_now_ns: smallest sample of this window
 * @window_ns: when this window began
 */
struct sroce_rtt {
	u32 samples;
	u64 last_ns;
	u64 srtt_ns;
	u64 rttvar_ns;
	u64 min_ns;

	bool probing;
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
 * @now_ns: current time
 *
 * It becomes the probe unless one is on its way.
 */
void sroce_rtt_on_sent(struct sroce_rtt *rtt, u32 psn, u64 now_ns);

/**
 * sroce_rtt_on_acked - all before @una_psn is acknowledged
 * @rtt: estimator
 * @una_psn: oldest PSN not acknowledged
 * @now_ns: current time
 *
 * Returns true if that was a sample: @last_ns and all the rest are new.
 */
bool sroce_rtt_on_acked(struct sroce_rtt *rtt, u32 una_psn, u64 now_ns);

/**
 * sroce_rtt_on_retry - something is sent again: the probe does not count (Karn)
 * @rtt: estimator
 */
void sroce_rtt_on_retry(struct sroce_rtt *rtt);

#endif /* SROCE_PROTO_RTT_H */
