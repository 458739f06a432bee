// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Swift: a window that is held at a target delay. The target is larger for flows
 * with a small window, so that many of them find their share; below a window of
 * one packet, packets are paced.
 */
#include "cc.h"

#define Q		20		/* windows: packets / 2^20 */
#define ONE_PACKET	(1ULL << Q)
#define INV_SHIFT	27		/* inverse roots */
#define MAX_DELAY_NS	(1ULL << 31)
#define MAX_HOPS	255U
#define D_SHIFT		6		/* delays: ns / 2^6 */
#define RESET_TIMEOUTS	5		/* in a row: down to the smallest window */

static u64 us(u32 n)
{
	return n * SROCE_NS_PER_US;
}

/* packets / 1000 to packets / 2^20 */
static u64 milli(u32 n)
{
	return div_u64((u64)n << Q, 1000);
}

/* 2^27 / sqrt(@packets), for 1/1000 packet or more */
static u32 inverse_root(u64 packets)
{
	/* sqrt(packets * 2^46) is sqrt(packets) * 2^23 */
	return div_u64(1ULL << (23 + INV_SHIFT), int_sqrt64(packets << 26));
}

/* What a window of @cwnd adds to the target delay, ns / 2^6. */
static u64 flow_scaling(const struct sroce_cc_params *p, u64 cwnd)
{
	u32 at_min = inverse_root(milli(p->swift_fs_min)), at_max, here;
	u64 slope, most = us(p->swift_fs_range) << D_SHIFT;

	at_max = inverse_root(milli(p->swift_fs_max));
	here = inverse_root(cwnd);
	if (at_min <= at_max || here <= at_max)
		return 0;
	slope = div_u64(most << INV_SHIFT, at_min - at_max);
	return min(mul_u64_u32_shr(slope, here - at_max, INV_SHIFT), most);
}

static void apply(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 cwnd)
{
	struct sroce_cc_swift *s = &cc->swift;
	u64 gap_ns, bps;

	s->cwnd = max(min(cwnd, (u64)p->swift_max_cwnd << Q), milli(p->swift_min_cwnd));
	if (s->cwnd >= ONE_PACKET || !s->rtt_ns) {
		cc->window = s->cwnd >= ONE_PACKET ? s->cwnd * cc->mtu >> Q : cc->mtu;
		cc->rate_bps = SROCE_CC_UNLIMITED;
		return;
	}
	gap_ns = div64_u64(s->rtt_ns << Q, s->cwnd);
	bps = div64_u64(cc->mtu * 8ULL * 1000000000, max(gap_ns, 1ULL));
	cc->window = cc->mtu;
	cc->rate_bps = clamp(bps, sroce_cc_min_bps(p), sroce_cc_max_bps(p));
}

/* A round trip of the port's rate. */
static void swift_init(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns)
{
	u64 bytes = div_u64(sroce_cc_max_bps(p), 8000000) * p->rp_base_rtt;

	apply(cc, p, max(div_u64(bytes, cc->mtu), 1ULL) << Q);
}

static bool may_cut(const struct sroce_cc_swift *s, u64 now_ns)
{
	return !s->cut || now_ns - s->cut_ns >= s->rtt_ns;
}

static void cut(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 fraction, u64 now_ns)
{
	struct sroce_cc_swift *s = &cc->swift;

	fraction = min(fraction, milli(p->swift_max_mdf));
	s->cut = true;
	s->cut_ns = now_ns;
	apply(cc, p, s->cwnd - (s->cwnd * fraction >> Q));
}

static void swift_on_ack(struct sroce_cc *cc, const struct sroce_cc_params *p,
			 const struct sroce_cc_ack *ack, u64 now_ns)
{
	struct sroce_cc_swift *s = &cc->swift;
	u64 delay, target, add;

	if (!ack->rtt_ns)
		return;
	s->timeouts = 0;
	s->rtt_ns = min(ack->rtt_ns, MAX_DELAY_NS);
	delay = min(ack->delay_ns ? ack->delay_ns : ack->rtt_ns, MAX_DELAY_NS) << D_SHIFT;
	target = us(p->swift_base) + min(ack->num_hops, MAX_HOPS) * us(p->swift_hop);
	target = (target << D_SHIFT) + flow_scaling(p, s->cwnd);
	if (delay < target) {
		add = div_u64((u64)ack->bytes << Q, cc->mtu);
		add = milli(p->swift_ai) * min(add, (u64)p->swift_max_cwnd << Q);
		apply(cc, p, s->cwnd + div64_u64(add, max(s->cwnd, ONE_PACKET)));
	} else if (may_cut(s, now_ns)) {
		/* beta * (delay - target) / delay */
		cut(cc, p, div_u64(div64_u64((delay - target) << Q, delay) * p->swift_beta, 1000),
		    now_ns);
	}
}

static void swift_on_loss(struct sroce_cc *cc, const struct sroce_cc_params *p, bool timeout,
			  u64 now_ns)
{
	struct sroce_cc_swift *s = &cc->swift;

	if (timeout && ++s->timeouts >= RESET_TIMEOUTS)
		apply(cc, p, 0);
	else if (may_cut(s, now_ns))
		cut(cc, p, ONE_PACKET, now_ns);
}

static void get_info(const struct sroce_cc *cc, struct sroce_cc_info *info)
{
	info->rtt_ns = cc->swift.rtt_ns;
}

const struct sroce_cc_ops sroce_cc_swift = {
	.name = "swift",
	.needs = SROCE_CC_NEEDS_RTT,
	.init = swift_init,
	.on_ack = swift_on_ack,
	.on_loss = swift_on_loss,
	.get_info = get_info,
};
