/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Congestion control of one QP: how fast it may send, and how much may be in
 * flight. Pure: the shell tells what happens (a CNP, an acknowledgement with a
 * round trip time, bytes sent, a loss), asks for rate and window, and does the
 * pacing.
 *
 *   cc.c         names, knobs, what the algorithms share; none
 *   cc_dcqcn.c   reaction point of DCQCN: as in mlx5, and as published
 *   cc_timely.c  TIMELY, and the patched form that converges
 *   cc_swift.c   Swift
 *   cc_hpcc.c    HPCC, with the records of the switches
 *
 * No timer belongs to it. Between two events the rate follows from the time
 * alone, so it is evaluated when somebody asks (sroce_cc_rate()): what the
 * timers of the hardware would have done since is done then, in the same order,
 * with the same result. An idle QP costs nothing.
 *
 * Units: rates are bit/s, times are ns of one monotonic clock, windows are bytes.
 * Fractions are fixed point: SROCE_CC_ONE is 1.0 (2^30) unless a field says
 * otherwise. There is no floating point and no 128-bit division.
 *
 * All functions on a struct sroce_cc are called under one lock of the shell.
 */
#ifndef SROCE_PROTO_CC_H
#define SROCE_PROTO_CC_H

#include "base.h"

#define SROCE_CC_UNLIMITED	U64_MAX		/* a rate: send as fast as the port can */
#define SROCE_CC_NO_WINDOW	U32_MAX		/* a window: no bound */
#define SROCE_CC_ONE_SHIFT	30
#define SROCE_CC_ONE		BIT_ULL(SROCE_CC_ONE_SHIFT)
#define SROCE_CC_BPS_PER_MBPS	1000000ULL
#define SROCE_CC_MAX_BPS	1000000000000ULL	/* of a port; products with times fit */
#define SROCE_CC_MAX_HOPS	5

enum sroce_cc_alg {
	SROCE_CC_NONE,
	SROCE_CC_DCQCN,			/* reaction point as documented for mlx5 */
	SROCE_CC_DCQCN_PAPER,		/* reaction point as published (SIGCOMM 2015) */
	SROCE_CC_TIMELY,
	SROCE_CC_TIMELY_PATCHED,
	SROCE_CC_SWIFT,
	SROCE_CC_HPCC,
	SROCE_CC_NUM_ALGS,
};

/**
 * struct sroce_cc_params - knobs of the reaction point, for one algorithm
 * @line_bps: no knob: bit/s, rate of the port, 1 Mb/s to SROCE_CC_MAX_BPS; set by
 *	the shell
 * @rp_max_rate: Mb/s; 0: that of the port, as far as it is known. All
 * @rp_min_rate: Mb/s, the rate is never cut below. All
 * @rp_max_inflight: bytes in flight at most while the rate is limited; 0: by itself,
 *	twice the product of the largest rate and @rp_base_rtt, 64 KiB at least. All
 * @rp_base_rtt: us, round trip without queues. All
 * @rp_clamp_tgt_rate: each cut makes the current rate the target. DCQCN as in mlx5
 * @rp_clamp_tgt_rate_ati: likewise if the timer has raised the rate since the last cut.
 *	DCQCN as in mlx5
 * @rp_time_reset: us, period of the increase timer. DCQCN
 * @rp_byte_reset: 64 bytes, period of the byte counter; 0: none. DCQCN
 * @rp_threshold: stages of fast recovery. DCQCN
 * @rp_ai_rate: Mb/s, step of additive increase. DCQCN, TIMELY
 * @rp_hai_rate: Mb/s, step of hyper increase. DCQCN
 * @rp_gd: a cut is by alpha / 2^(gd - 10). DCQCN as in mlx5
 * @rp_min_dec_fac: percent, a cut leaves at least this much of the rate. DCQCN as in mlx5
 * @rp_rate_to_set_on_first_cnp: Mb/s; 0: the maximum. DCQCN as in mlx5
 * @rp_dce_tcp_g: 1/1024, what alpha keeps in each of its periods. DCQCN
 * @rp_dce_tcp_rtt: us, period of alpha. DCQCN
 * @rp_rate_reduce_monitor_period: us, cuts come at most so often. DCQCN as in mlx5
 * @rp_initial_alpha_value: 1/1024, alpha at the first CNP. DCQCN as in mlx5
 * @timely_t_low: us, below it the rate always rises; patched: the reference. TIMELY
 * @timely_t_high: us, above it the rate always falls. TIMELY
 * @timely_min_rtt: us, divides the gradient. TIMELY
 * @timely_alpha: 1/1000, weight of a new difference. TIMELY
 * @timely_beta: 1/1000, of a cut. TIMELY
 * @timely_hai: additive steps in one after five rises in a row. TIMELY
 * @swift_base: us, target delay without scaling. Swift
 * @swift_hop: us, target delay for each hop. Swift
 * @swift_fs_range: us, the most that scaling by flows adds. Swift
 * @swift_fs_min: 1/1000 packets, window at which it adds all of it. Swift
 * @swift_fs_max: 1/1000 packets, window at which it adds nothing. Swift
 * @swift_ai: 1/1000 packets, additive increase a round trip. Swift
 * @swift_beta: 1/1000, of a cut. Swift
 * @swift_max_mdf: 1/1000, the deepest cut. Swift
 * @swift_min_cwnd: 1/1000 packets. Swift
 * @swift_max_cwnd: packets. Swift
 * @hpcc_eta: 1/1000, utilisation aimed at. HPCC
 * @hpcc_max_stage: additive steps before a multiplicative one. HPCC
 * @hpcc_flows: expected flows on a link: divides the headroom into additive steps. HPCC
 *
 * One struct for each algorithm, so that each has its own defaults. It is passed to
 * every call and may be another one each time: a flow keeps nothing of it. Each value
 * in its range is good with any other values in theirs.
 */
struct sroce_cc_params {
	u64 line_bps;
	u32 rp_max_rate;
	u32 rp_min_rate;
	u32 rp_max_inflight;
	u32 rp_base_rtt;
	u32 rp_clamp_tgt_rate;
	u32 rp_clamp_tgt_rate_ati;
	u32 rp_time_reset;
	u32 rp_byte_reset;
	u32 rp_threshold;
	u32 rp_ai_rate;
	u32 rp_hai_rate;
	u32 rp_gd;
	u32 rp_min_dec_fac;
	u32 rp_rate_to_set_on_first_cnp;
	u32 rp_dce_tcp_g;
	u32 rp_dce_tcp_rtt;
	u32 rp_rate_reduce_monitor_period;
	u32 rp_initial_alpha_value;
	u32 timely_t_low;
	u32 timely_t_high;
	u32 timely_min_rtt;
	u32 timely_alpha;
	u32 timely_beta;
	u32 timely_hai;
	u32 swift_base;
	u32 swift_hop;
	u32 swift_fs_range;
	u32 swift_fs_min;
	u32 swift_fs_max;
	u32 swift_ai;
	u32 swift_beta;
	u32 swift_max_mdf;
	u32 swift_min_cwnd;
	u32 swift_max_cwnd;
	u32 hpcc_eta;
	u32 hpcc_max_stage;
	u32 hpcc_flows;
};

/**
 * struct sroce_cc_knob - what the shell has to know of one member of the parameters
 * @name: that of the member, and of the file
 * @unit: for users; empty: a number
 * @offset: of the member
 * @algs: BIT(enum sroce_cc_alg) of those that have it
 * @min: smallest value
 * @max: largest value
 */
struct sroce_cc_knob {
	const char *name;
	const char *unit;
	u16 offset;
	u16 algs;
	u32 min;
	u32 max;
};

extern const struct sroce_cc_knob sroce_cc_knobs[];
extern const unsigned int sroce_cc_num_knobs;

/**
 * struct sroce_cc_hop - what a switch recorded in a packet (INT)
 * @link_bps: capacity of the egress link
 * @ts_ns: when the packet left, clock of the switch
 * @tx_bytes: bytes the link has sent since ever
 * @queue_bytes: queue when the packet left
 */
struct sroce_cc_hop {
	u64 link_bps;
	u64 ts_ns;
	u64 tx_bytes;
	u32 queue_bytes;
};

/**
 * struct sroce_cc_ack - what an acknowledgement tells
 * @rtt_ns: round trip of the packet that asked for it; 0: none was measured. Not of
 *	packets that were sent again
 * @delay_ns: the part of it spent in the network; 0: all of it
 * @bytes: newly acknowledged
 * @acked: all bytes acknowledged so far
 * @sent: all bytes sent so far
 * @num_hops: switches on the way, if known
 * @hops: what each of them recorded, or NULL
 */
struct sroce_cc_ack {
	u64 rtt_ns;
	u64 delay_ns;
	u32 bytes;
	u64 acked;
	u64 sent;
	u32 num_hops;
	const struct sroce_cc_hop *hops;
};

/* What an algorithm lives on; sroce_cc_ops.needs */
#define SROCE_CC_NEEDS_CNP	BIT(0)
#define SROCE_CC_NEEDS_RTT	BIT(1)	/* sroce_cc_ack.rtt_ns, once in some 16 KiB */
#define SROCE_CC_NEEDS_INT	BIT(2)

struct sroce_cc;
struct sroce_cc_info;

/**
 * struct sroce_cc_ops - an algorithm
 * @name: for users
 * @needs: SROCE_CC_NEEDS_*
 * @init: a new flow: rate, window and the state of the algorithm; the rest is zero
 * @advance: do what was due until @now_ns and set next_ns; may be NULL
 * @on_cnp: a CNP. May be NULL
 * @on_ack: an acknowledgement. May be NULL
 * @on_bytes: the byte counter (bytes_left) ran out; @advance was called. May be NULL
 * @on_loss: packets have to be sent again. May be NULL
 * @get_info: what is its own of struct sroce_cc_info. May be NULL
 */
struct sroce_cc_ops {
	const char *name;
	u32 needs;
	void (*init)(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns);
	void (*advance)(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns);
	void (*on_cnp)(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns);
	void (*on_ack)(struct sroce_cc *cc, const struct sroce_cc_params *p,
		       const struct sroce_cc_ack *ack, u64 now_ns);
	void (*on_bytes)(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns);
	void (*on_loss)(struct sroce_cc *cc, const struct sroce_cc_params *p, bool timeout,
			u64 now_ns);
	void (*get_info)(const struct sroce_cc *cc, struct sroce_cc_info *info);
};

/**
 * struct sroce_cc_dcqcn - reaction point of DCQCN
 * @active: a CNP has come, and the rate has not been released since
 * @cut_due: a CNP since the last look for one
 * @alpha_due: a CNP since the last step of alpha
 * @target_bps: target rate
 * @current_bps: current rate
 * @alpha: 1/1024; as published: SROCE_CC_ONE is 1
 * @time_stage: expiries of the timer since the last cut
 * @byte_stage: those of the byte counter
 * @alpha_ns: next step of alpha
 * @cut_ns: next look for CNPs
 * @raise_ns: next expiry of the timer
 */
struct sroce_cc_dcqcn {
	bool active;
	bool cut_due;
	bool alpha_due;
	u64 target_bps;
	u64 current_bps;
	u32 alpha;
	u32 time_stage;
	u32 byte_stage;
	u64 alpha_ns;
	u64 cut_ns;
	u64 raise_ns;
};

/**
 * struct sroce_cc_timely - state of TIMELY
 * @prev_ns: round trip before; 0: none yet
 * @diff: smoothed difference of round trips, ns / 1024
 * @rises: completions in a row that raised the rate
 */
struct sroce_cc_timely {
	u64 prev_ns;
	s64 diff;
	u32 rises;
};

/**
 * struct sroce_cc_swift - state of Swift
 * @cwnd: window, packets / 2^20
 * @cut_ns: when it was cut last
 * @cut: it was cut at all
 * @rtt_ns: latest round trip
 * @timeouts: in a row
 */
struct sroce_cc_swift {
	u64 cwnd;
	u64 cut_ns;
	bool cut;
	u64 rtt_ns;
	u32 timeouts;
};

/**
 * struct sroce_cc_hpcc - state of HPCC
 * @window: bytes / 2^8
 * @ref_window: the window once a round trip, bytes / 2^8
 * @util: smoothed utilisation of the fullest link, 1 / 2^24
 * @stage: additive steps since a multiplicative one
 * @update: bytes sent when @ref_window was set
 * @num_hops: records of the last acknowledgement; 0: none yet
 */
struct sroce_cc_hpcc {
	u64 window;
	u64 ref_window;
	u64 util;
	u32 stage;
	u64 update;
	u32 num_hops;
};

/**
 * struct sroce_cc - congestion control of one QP
 * @ops: algorithm
 * @hops: needs INT: memory for SROCE_CC_MAX_HOPS records, set by the shell after
 *	sroce_cc_init(); without it nothing is ever limited
 * @mtu: path MTU, bytes of payload
 * @rate_bps: as of the last evaluation, or SROCE_CC_UNLIMITED
 * @next_ns: the rate may change by itself then, or SROCE_NEVER
 * @bytes_left: until the byte counter runs out; U64_MAX: no byte counter
 * @window: bytes in flight at most, or SROCE_CC_NO_WINDOW
 * @dcqcn: state of DCQCN
 * @timely: state of TIMELY
 * @swift: state of Swift
 * @hpcc: state of HPCC
 */
struct sroce_cc {
	const struct sroce_cc_ops *ops;
	struct sroce_cc_hop *hops;
	u32 mtu;
	u64 rate_bps;
	u64 next_ns;
	u64 bytes_left;
	u32 window;
	union {
		struct sroce_cc_dcqcn dcqcn;
		struct sroce_cc_timely timely;
		struct sroce_cc_swift swift;
		struct sroce_cc_hpcc hpcc;
	};
};

extern const struct sroce_cc_ops sroce_cc_none;
extern const struct sroce_cc_ops sroce_cc_dcqcn;
extern const struct sroce_cc_ops sroce_cc_dcqcn_paper;
extern const struct sroce_cc_ops sroce_cc_timely;
extern const struct sroce_cc_ops sroce_cc_timely_patched;
extern const struct sroce_cc_ops sroce_cc_swift;
extern const struct sroce_cc_ops sroce_cc_hpcc;

/**
 * sroce_cc_alg_name - name of an algorithm for users
 * @alg: which
 */
const char *sroce_cc_alg_name(enum sroce_cc_alg alg);

/**
 * sroce_cc_alg_find - the algorithm of a name
 * @name: terminated by 0, without white space around it
 *
 * Returns SROCE_CC_NUM_ALGS if there is none.
 */
enum sroce_cc_alg sroce_cc_alg_find(const char *name);

/**
 * sroce_cc_params_init - the defaults of an algorithm
 * @params: result
 * @alg: which
 */
void sroce_cc_params_init(struct sroce_cc_params *params, enum sroce_cc_alg alg);

/**
 * sroce_cc_knob_valid - is a value in a knob's range?
 * @knob: which
 * @value: in its unit
 */
static inline bool sroce_cc_knob_valid(const struct sroce_cc_knob *knob, u64 value)
{
	return value >= knob->min && value <= knob->max;
}

static inline u32 *sroce_cc_knob_at(struct sroce_cc_params *params,
				    const struct sroce_cc_knob *knob)
{
	return (u32 *)((char *)params + knob->offset);
}

/**
 * sroce_cc_init - a new flow: nothing is limited yet
 * @cc: congestion control of a QP
 * @p: knobs
 * @alg: algorithm
 * @mtu: path MTU, bytes of payload
 * @now_ns: current time; in all calls never earlier than one told before
 */
void sroce_cc_init(struct sroce_cc *cc, const struct sroce_cc_params *p, enum sroce_cc_alg alg,
		   u32 mtu, u64 now_ns);

/**
 * sroce_cc_rate - the rate at a time
 * @cc: congestion control of a QP
 * @p: knobs
 * @now_ns: current time
 *
 * While it is SROCE_CC_UNLIMITED it stays so until a CNP (DCQCN) or an
 * acknowledgement (the others) comes. Time taken is bounded however long ago the
 * last call was. Returns bit/s, or SROCE_CC_UNLIMITED.
 */
static inline u64 sroce_cc_rate(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns)
{
	if (unlikely(now_ns >= cc->next_ns))
		cc->ops->advance(cc, p, now_ns);
	return cc->rate_bps;
}

/**
 * sroce_cc_window - bytes in flight at most
 * @cc: congestion control of a QP; sroce_cc_rate() was called for now
 * @p: knobs
 *
 * One packet may always be sent when nothing is in flight. Returns bytes, or
 * SROCE_CC_NO_WINDOW.
 */
u32 sroce_cc_window(const struct sroce_cc *cc, const struct sroce_cc_params *p);

/**
 * sroce_cc_tx_ns - how long bytes take at a rate
 * @rate_bps: bit/s, or SROCE_CC_UNLIMITED
 * @bytes: on the wire; below 2^30
 */
static inline u64 sroce_cc_tx_ns(u64 rate_bps, u32 bytes)
{
	return rate_bps == SROCE_CC_UNLIMITED ? 0 :
	       div64_u64((u64)bytes * 8 * 1000000000, rate_bps);
}

/**
 * sroce_cc_ackreq_every - how often is an ACK to be asked for within a message?
 * @cc: congestion control of a QP
 * @rate_bps: at which the QP sends, by whatever it is limited; or SROCE_CC_UNLIMITED
 * @ack_timeout_ns: local ACK timeout, or SROCE_NEVER
 * @most: packets, if nothing else is needed; not 0
 *
 * More often than @most for an algorithm that lives on round trips, and at a rate so
 * low that the ACK timeout would not see the progress: several ACKs come in it, or one
 * for each packet. Returns packets, 1 to @most.
 */
u32 sroce_cc_ackreq_every(const struct sroce_cc *cc, u64 rate_bps, u64 ack_timeout_ns, u32 most);

/* The byte counter runs out; for sroce_cc_on_send(). */
void sroce_cc_on_bytes(struct sroce_cc *cc, const struct sroce_cc_params *p, u32 bytes,
		       u64 now_ns);

/**
 * sroce_cc_on_send - bytes were sent, first or again
 * @cc: congestion control of a QP
 * @p: knobs
 * @bytes: payload and headers
 * @now_ns: when
 *
 * May be left out while the rate is not limited.
 */
static inline void sroce_cc_on_send(struct sroce_cc *cc, const struct sroce_cc_params *p,
				    u32 bytes, u64 now_ns)
{
	/* A cut that is due restarts the counter first. */
	sroce_cc_rate(cc, p, now_ns);
	if (cc->bytes_left == U64_MAX)
		return;
	if (likely(cc->bytes_left > bytes))
		cc->bytes_left -= bytes;
	else
		sroce_cc_on_bytes(cc, p, bytes, now_ns);
}

/**
 * sroce_cc_on_cnp - a CNP came (IBA A17.9.3, CA17-45)
 * @cc: congestion control of a QP
 * @p: knobs
 * @now_ns: when
 */
void sroce_cc_on_cnp(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns);

/**
 * sroce_cc_on_ack - an acknowledgement came
 * @cc: congestion control of a QP
 * @p: knobs
 * @ack: what it tells
 * @now_ns: when
 */
void sroce_cc_on_ack(struct sroce_cc *cc, const struct sroce_cc_params *p,
		     const struct sroce_cc_ack *ack, u64 now_ns);

/**
 * sroce_cc_on_loss - the requester goes back
 * @cc: congestion control of a QP
 * @p: knobs
 * @timeout: by its timer; false: by a NAK
 * @now_ns: when
 *
 * No sign of congestion to DCQCN, TIMELY and HPCC; Swift cuts its window.
 */
void sroce_cc_on_loss(struct sroce_cc *cc, const struct sroce_cc_params *p, bool timeout,
		      u64 now_ns);

/**
 * struct sroce_cc_info - what there is to see
 * @rate_bps: current rate, or SROCE_CC_UNLIMITED
 * @target_bps: target rate (DCQCN); others: the current one
 * @alpha: 1/1024 (DCQCN); others: 0
 * @rtt_ns: latest round trip (TIMELY, Swift); others: 0
 * @window: bytes, or SROCE_CC_NO_WINDOW
 */
struct sroce_cc_info {
	u64 rate_bps;
	u64 target_bps;
	u32 alpha;
	u64 rtt_ns;
	u32 window;
};

/**
 * sroce_cc_get_info - state for users
 * @cc: congestion control of a QP; sroce_cc_rate() was called for now
 * @p: knobs
 * @info: result
 */
void sroce_cc_get_info(const struct sroce_cc *cc, const struct sroce_cc_params *p,
		       struct sroce_cc_info *info);

/* ---- for the algorithms ---- */

static inline u64 sroce_cc_mbps(u32 mbps)
{
	return mbps * SROCE_CC_BPS_PER_MBPS;
}

static inline u64 sroce_cc_max_bps(const struct sroce_cc_params *p)
{
	return p->rp_max_rate ? sroce_cc_mbps(p->rp_max_rate) : p->line_bps;
}

static inline u64 sroce_cc_min_bps(const struct sroce_cc_params *p)
{
	return min(sroce_cc_mbps(p->rp_min_rate), sroce_cc_max_bps(p));
}

#endif /* SROCE_PROTO_CC_H */
