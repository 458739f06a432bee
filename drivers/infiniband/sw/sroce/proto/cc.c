// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "cc.h"

/* Below this no window of bytes makes sense: a batch of packets. */
#define MIN_INFLIGHT	65536
#define MAX_INFLIGHT	(1U << 30)

/* Algorithms that live on round trips want one in so many bytes. */
#define RTT_BYTES	16384
/* ACKs in one ACK timeout, however slowly the packets leave. */
#define ACKS_IN_TIMEOUT	4

static const struct sroce_cc_ops *const algs[] = {
	[SROCE_CC_NONE]			= &sroce_cc_none,
	[SROCE_CC_DCQCN]		= &sroce_cc_dcqcn,
	[SROCE_CC_DCQCN_PAPER]		= &sroce_cc_dcqcn_paper,
	[SROCE_CC_TIMELY]		= &sroce_cc_timely,
	[SROCE_CC_TIMELY_PATCHED]	= &sroce_cc_timely_patched,
	[SROCE_CC_SWIFT]		= &sroce_cc_swift,
	[SROCE_CC_HPCC]			= &sroce_cc_hpcc,
};

const char *sroce_cc_alg_name(enum sroce_cc_alg alg)
{
	return algs[alg]->name;
}

enum sroce_cc_alg sroce_cc_alg_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(algs); i++)
		if (!strcmp(algs[i]->name, name))
			break;
	return i;
}

/* ---- knobs ---- */

#define MLX		BIT(SROCE_CC_DCQCN)
#define PAPER		BIT(SROCE_CC_DCQCN_PAPER)
#define DCQCN		(MLX | PAPER)
#define TIMELY		(BIT(SROCE_CC_TIMELY) | BIT(SROCE_CC_TIMELY_PATCHED))
#define SWIFT		BIT(SROCE_CC_SWIFT)
#define HPCC		BIT(SROCE_CC_HPCC)
#define ALL		(DCQCN | TIMELY | SWIFT | HPCC)

#define KNOB(name_, unit_, algs_, min_, max_) {				\
	.name = #name_,							\
	.unit = (unit_),						\
	.offset = offsetof(struct sroce_cc_params, name_),		\
	.algs = (algs_),						\
	.min = (min_),							\
	.max = (max_),							\
}

#define MAX_17_BITS	131071	/* the width of mlx5's */
#define MAX_MBPS	1000000	/* SROCE_CC_MAX_BPS */

const struct sroce_cc_knob sroce_cc_knobs[] = {
	KNOB(rp_max_rate, "Mb/s", ALL, 0, MAX_MBPS),
	KNOB(rp_min_rate, "Mb/s", ALL, 1, MAX_MBPS),
	KNOB(rp_max_inflight, "bytes", ALL, 0, MAX_INFLIGHT),
	KNOB(rp_base_rtt, "us", ALL, 1, MAX_17_BITS),
	KNOB(rp_clamp_tgt_rate, "", MLX, 0, 1),
	KNOB(rp_clamp_tgt_rate_ati, "", MLX, 0, 1),
	KNOB(rp_time_reset, "us", DCQCN, 1, MAX_17_BITS),
	KNOB(rp_byte_reset, "64 bytes", DCQCN, 0, U32_MAX),
	KNOB(rp_threshold, "", DCQCN, 0, 31),
	KNOB(rp_ai_rate, "Mb/s", DCQCN | TIMELY, 1, MAX_17_BITS),
	KNOB(rp_hai_rate, "Mb/s", DCQCN, 1, MAX_17_BITS),
	KNOB(rp_gd, "", MLX, 0, 15),
	KNOB(rp_min_dec_fac, "percent", MLX, 1, 100),
	KNOB(rp_rate_to_set_on_first_cnp, "Mb/s", MLX, 0, MAX_MBPS),
	KNOB(rp_dce_tcp_g, "1/1024", DCQCN, 1, 1023),
	KNOB(rp_dce_tcp_rtt, "us", DCQCN, 1, MAX_17_BITS),
	KNOB(rp_rate_reduce_monitor_period, "us", MLX, 1, MAX_17_BITS),
	KNOB(rp_initial_alpha_value, "1/1024", MLX, 0, 1023),
	KNOB(timely_t_low, "us", TIMELY, 1, MAX_17_BITS),
	KNOB(timely_t_high, "us", TIMELY, 1, MAX_17_BITS),
	KNOB(timely_min_rtt, "us", TIMELY, 1, MAX_17_BITS),
	KNOB(timely_alpha, "1/1000", TIMELY, 1, 1000),
	KNOB(timely_beta, "1/1000", TIMELY, 1, 1000),
	KNOB(timely_hai, "", TIMELY, 1, 100),
	KNOB(swift_base, "us", SWIFT, 1, MAX_17_BITS),
	KNOB(swift_hop, "us", SWIFT, 0, MAX_17_BITS),
	KNOB(swift_fs_range, "us", SWIFT, 0, MAX_17_BITS),
	KNOB(swift_fs_min, "packets/1000", SWIFT, 1, 1000000),
	KNOB(swift_fs_max, "packets/1000", SWIFT, 1, 10000000),
	KNOB(swift_ai, "packets/1000", SWIFT, 1, 100000),
	KNOB(swift_beta, "1/1000", SWIFT, 1, 1000),
	KNOB(swift_max_mdf, "1/1000", SWIFT, 1, 999),
	KNOB(swift_min_cwnd, "packets/1000", SWIFT, 1, 1000),
	KNOB(swift_max_cwnd, "packets", SWIFT, 1, 65536),
	KNOB(hpcc_eta, "1/1000", HPCC, 100, 1000),
	KNOB(hpcc_max_stage, "", HPCC, 0, 100),
	KNOB(hpcc_flows, "", HPCC, 1, 100000),
};

const unsigned int sroce_cc_num_knobs = ARRAY_SIZE(sroce_cc_knobs);

/* As mlx5 ships, where it has the knob. */
static const struct sroce_cc_params defaults = {
	.rp_min_rate = 1,
	.rp_base_rtt = 50,
	.rp_clamp_tgt_rate_ati = 1,
	.rp_time_reset = 300,
	.rp_byte_reset = 32767,
	.rp_threshold = 1,
	.rp_ai_rate = 5,
	.rp_hai_rate = 50,
	.rp_gd = 11,
	.rp_min_dec_fac = 50,
	.rp_dce_tcp_g = 1019,
	.rp_dce_tcp_rtt = 1,
	.rp_rate_reduce_monitor_period = 4,
	.rp_initial_alpha_value = 1023,
	.timely_t_low = 50,
	.timely_t_high = 500,
	.timely_min_rtt = 20,
	.timely_alpha = 875,
	.timely_beta = 800,
	.timely_hai = 5,
	.swift_base = 20,
	.swift_hop = 0,
	.swift_fs_range = 100,
	.swift_fs_min = 100,
	.swift_fs_max = 100000,
	.swift_ai = 1000,
	.swift_beta = 800,
	.swift_max_mdf = 500,
	.swift_min_cwnd = 10,
	.swift_max_cwnd = 1000,
	.hpcc_eta = 950,
	.hpcc_max_stage = 5,
	.hpcc_flows = 10,
};

void sroce_cc_params_init(struct sroce_cc_params *params, enum sroce_cc_alg alg)
{
	*params = defaults;
	if (alg == SROCE_CC_DCQCN_PAPER) {
		/* SIGCOMM 2015, for 40 Gbit/s */
		params->rp_min_rate = 10;
		params->rp_time_reset = 55;
		params->rp_byte_reset = 10000000 / 64;
		params->rp_threshold = 5;
		params->rp_ai_rate = 40;
		params->rp_hai_rate = 400;
		params->rp_dce_tcp_g = 1020;
		params->rp_dce_tcp_rtt = 55;
	}
	if (alg == SROCE_CC_TIMELY || alg == SROCE_CC_TIMELY_PATCHED) {
		params->rp_min_rate = 10;
		params->rp_ai_rate = 10;
	}
	if (alg == SROCE_CC_TIMELY_PATCHED)
		params->timely_beta = 8;
}

/* ---- a flow ---- */

void sroce_cc_init(struct sroce_cc *cc, const struct sroce_cc_params *p, enum sroce_cc_alg alg,
		   u32 mtu, u64 now_ns)
{
	memset(cc, 0, sizeof(*cc));
	cc->ops = algs[alg];
	cc->mtu = mtu;
	cc->rate_bps = SROCE_CC_UNLIMITED;
	cc->next_ns = SROCE_NEVER;
	cc->bytes_left = U64_MAX;
	cc->window = SROCE_CC_NO_WINDOW;
	if (cc->ops->init)
		cc->ops->init(cc, p, now_ns);
}

u32 sroce_cc_window(const struct sroce_cc *cc, const struct sroce_cc_params *p)
{
	u64 bytes;

	if (cc->window != SROCE_CC_NO_WINDOW || cc->rate_bps == SROCE_CC_UNLIMITED)
		return cc->window;
	if (p->rp_max_inflight)
		return p->rp_max_inflight;
	/* bit/s / 8 * us / 10^6, twice */
	bytes = div_u64(sroce_cc_max_bps(p), 4000000) * p->rp_base_rtt;
	return clamp_t(u64, bytes, MIN_INFLIGHT, MAX_INFLIGHT);
}

u32 sroce_cc_ackreq_every(const struct sroce_cc *cc, u64 rate_bps, u64 ack_timeout_ns, u32 most)
{
	u64 packet_ns;

	if (cc->ops->needs & SROCE_CC_NEEDS_RTT)
		most = min(most, RTT_BYTES / cc->mtu);
	if (rate_bps == SROCE_CC_UNLIMITED || ack_timeout_ns == SROCE_NEVER)
		return most;
	packet_ns = max_t(u64, sroce_cc_tx_ns(rate_bps, cc->mtu), 1);
	return clamp_t(u64, div64_u64(ack_timeout_ns / ACKS_IN_TIMEOUT, packet_ns), 1, most);
}

void sroce_cc_on_bytes(struct sroce_cc *cc, const struct sroce_cc_params *p, u32 bytes,
		       u64 now_ns)
{
	while (cc->bytes_left <= bytes) {
		bytes -= cc->bytes_left;
		cc->ops->on_bytes(cc, p, now_ns);
	}
	if (cc->bytes_left != U64_MAX)
		cc->bytes_left -= bytes;
}

void sroce_cc_on_cnp(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns)
{
	if (cc->ops->on_cnp)
		cc->ops->on_cnp(cc, p, now_ns);
}

void sroce_cc_on_ack(struct sroce_cc *cc, const struct sroce_cc_params *p,
		     const struct sroce_cc_ack *ack, u64 now_ns)
{
	if (cc->ops->on_ack)
		cc->ops->on_ack(cc, p, ack, now_ns);
}

void sroce_cc_on_loss(struct sroce_cc *cc, const struct sroce_cc_params *p, bool timeout,
		      u64 now_ns)
{
	if (cc->ops->on_loss)
		cc->ops->on_loss(cc, p, timeout, now_ns);
}

void sroce_cc_get_info(const struct sroce_cc *cc, const struct sroce_cc_params *p,
		       struct sroce_cc_info *info)
{
	memset(info, 0, sizeof(*info));
	info->rate_bps = cc->rate_bps;
	info->target_bps = cc->rate_bps;
	info->window = sroce_cc_window(cc, p);
	if (cc->ops->get_info)
		cc->ops->get_info(cc, info);
}

const struct sroce_cc_ops sroce_cc_none = {
	.name = "none",
};
