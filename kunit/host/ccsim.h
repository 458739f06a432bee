/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A bottleneck with flows under congestion control: the real proto/cc*.c, a
 * switch that marks when a packet leaves its queue, and a notification point for
 * each flow. Everything follows from the settings and a seed.
 *
 *   senders --- queue, RED ---> receivers
 *      ^                            |
 *      +---- ACK, CNP (delay_ns) ---+
 *
 * The whole round trip without queue is on the way back.
 */
#ifndef SROCE_HOST_CCSIM_H
#define SROCE_HOST_CCSIM_H

#include "cc.h"
#include "rng.h"

#define CCSIM_MAX_FLOWS	256

/**
 * struct ccsim_setup - what is simulated
 * @alg: congestion control of all flows
 * @p: its knobs; line_bps is that of the bottleneck and of the senders' ports
 * @flows: how many
 * @start_gap_ns: each begins so much later than the one before
 * @packet: bytes of each packet on the wire
 * @segment: bytes between two measurements of the round trip
 * @delay_ns: round trip without queue
 * @np_ns: smallest interval of two CNPs of a flow
 * @kmin: bytes of queue at which marking begins
 * @kmax: bytes of queue above which everything is marked
 * @pmax: probability at @kmax, 1/1000000
 * @mark: marks with this probability instead, 1/1000000, whatever the queue; 0: by the queue
 * @buffer: bytes the queue can hold
 * @end_ns: duration
 * @warm_ns: what is before it is not measured
 * @window_ns: of fairness
 * @sample_ns: between two lines of @trace
 * @trace: time series, or NULL
 * @seed: of marks and small variations of the pace
 */
struct ccsim_setup {
	enum sroce_cc_alg alg;
	struct sroce_cc_params p;
	u32 flows;
	u64 start_gap_ns;
	u32 packet;
	u32 segment;
	u64 delay_ns;
	u64 np_ns;
	u32 kmin;
	u32 kmax;
	u32 pmax;
	u32 mark;
	u32 buffer;
	u64 end_ns;
	u64 warm_ns;
	u64 window_ns;
	u64 sample_ns;
	FILE *trace;
	u64 seed;
};

/**
 * struct ccsim_result - what was measured after the warm-up
 * @queue_mean: bytes
 * @queue_50: median
 * @queue_99: 99th percentile
 * @queue_max: largest, also before
 * @util: part of the bottleneck's capacity used
 * @marked: part of the packets marked
 * @alpha: mean (DCQCN)
 * @cnp_rate: CNPs of a flow in a second
 * @jain: fairness index, the mean over the windows
 * @jain_min: of the least fair window
 * @rate_mean: bit/s of a flow
 * @rtt_mean: ns
 * @drops: packets for which there was no room
 * @converged_ns: from when on the slowest flow had 9/10 of its share in each ms; U64_MAX: never
 */
struct ccsim_result {
	double queue_mean;
	double queue_50;
	double queue_99;
	double queue_max;
	double util;
	double marked;
	double alpha;
	double cnp_rate;
	double jain;
	double jain_min;
	double rate_mean;
	double rtt_mean;
	u64 drops;
	u64 converged_ns;
};

void ccsim_defaults(struct ccsim_setup *s, enum sroce_cc_alg alg, u64 bps, u32 flows);
void ccsim_run(const struct ccsim_setup *s, struct ccsim_result *r);

/* The fluid model of DCQCN (CoNEXT 2016): what is to be expected; ccfluid.c */
struct ccsim_fluid {
	double p_exact, p_approx;
	double queue_exact, queue_approx;
	double alpha;
};

void ccsim_fluid(const struct ccsim_setup *s, struct ccsim_fluid *f);
double ccsim_open_loop_bps(const struct ccsim_setup *s);

#endif /* SROCE_HOST_CCSIM_H */
