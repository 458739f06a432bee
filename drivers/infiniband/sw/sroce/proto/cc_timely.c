// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * TIMELY: the rate follows the gradient of the round trip time; and its patched
 * form (CoNEXT 2016), which follows the distance to a reference too and so has
 * one fixed point, a fair one.
 *
 * One sample is one completion of a segment (16 to 64 KiB). Samples are cut off
 * at 2^31 ns: against a minimum of 1 us that is 2^51 of SROCE_CC_ONE, and times
 * beta fits still.
 */
#include "cc.h"

#define MAX_RTT_NS	(1ULL << 31)
#define RISES_FOR_HAI	5

static u64 us(u32 n)
{
	return n * SROCE_NS_PER_US;
}

/* At the maximum nothing is limited. */
static u64 current_bps(const struct sroce_cc *cc, const struct sroce_cc_params *p)
{
	return min(cc->rate_bps, sroce_cc_max_bps(p));
}

static void set_rate(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 bps)
{
	bps = max(bps, sroce_cc_min_bps(p));
	cc->rate_bps = bps < sroce_cc_max_bps(p) ? bps : SROCE_CC_UNLIMITED;
}

/* @fraction of @bps, SROCE_CC_ONE or more is all of it */
static u64 part(u64 bps, u64 fraction)
{
	return fraction < SROCE_CC_ONE ? mul_u64_u32_shr(bps, fraction, SROCE_CC_ONE_SHIFT) : bps;
}

/* Take a sample. Returns the gradient: SROCE_CC_ONE is a minimal round trip per completion. */
static s64 gradient(struct sroce_cc_timely *t, const struct sroce_cc_params *p, u64 rtt_ns)
{
	s64 diff = ((s64)rtt_ns - (s64)t->prev_ns) * 1024;

	t->prev_ns = rtt_ns;
	t->diff = div_s64(t->diff * (1000 - (s32)p->timely_alpha) + diff * p->timely_alpha, 1000);
	return div64_s64(t->diff * (1 << (SROCE_CC_ONE_SHIFT - 10)), us(p->timely_min_rtt));
}

/* The first sample has nothing to be compared with. */
static bool is_first(struct sroce_cc_timely *t, u64 rtt_ns)
{
	if (t->prev_ns)
		return false;
	t->prev_ns = rtt_ns;
	return true;
}

static void timely_on_ack(struct sroce_cc *cc, const struct sroce_cc_params *p,
			  const struct sroce_cc_ack *ack, u64 now_ns)
{
	u64 rtt = min(ack->rtt_ns, MAX_RTT_NS), bps = current_bps(cc, p), high, over;
	struct sroce_cc_timely *t = &cc->timely;
	u64 add = sroce_cc_mbps(p->rp_ai_rate);
	s64 g;

	if (!rtt || is_first(t, rtt))
		return;
	g = gradient(t, p, rtt);
	high = us(p->timely_t_high);
	if (rtt < us(p->timely_t_low)) {
		t->rises = 0;
		set_rate(cc, p, bps + add);
	} else if (rtt > high) {
		t->rises = 0;
		over = div64_u64((rtt - high) << SROCE_CC_ONE_SHIFT, rtt);
		set_rate(cc, p, bps - part(bps, div_u64(over * p->timely_beta, 1000)));
	} else if (g <= 0) {
		t->rises++;
		set_rate(cc, p, bps + add * (t->rises >= RISES_FOR_HAI ? p->timely_hai : 1));
	} else {
		t->rises = 0;
		set_rate(cc, p, bps - part(bps, div_u64(g * p->timely_beta, 1000)));
	}
}

/* Weight of the gradient: 0 below -1/4, SROCE_CC_ONE above 1/4, straight between them. */
static u64 weight(s64 g)
{
	s64 quarter = SROCE_CC_ONE / 4;

	if (g <= -quarter)
		return 0;
	return g >= quarter ? SROCE_CC_ONE : 2 * (g + quarter);
}

static void patched_on_ack(struct sroce_cc *cc, const struct sroce_cc_params *p,
			   const struct sroce_cc_ack *ack, u64 now_ns)
{
	u64 rtt = min(ack->rtt_ns, MAX_RTT_NS), ref = us(p->timely_t_low), bps = current_bps(cc, p);
	u64 w, off, change;

	if (!rtt || is_first(&cc->timely, rtt))
		return;
	w = weight(gradient(&cc->timely, p, rtt));
	off = rtt > ref ? rtt - ref : ref - rtt;
	/* beta * w * |rtt - ref| / ref */
	off = div64_u64(off << SROCE_CC_ONE_SHIFT, ref);
	change = part(div_u64(off * p->timely_beta, 1000), w);
	if (rtt > ref)
		bps -= part(bps, change);
	else
		bps += part(bps, change);
	set_rate(cc, p, bps + part(sroce_cc_mbps(p->rp_ai_rate), SROCE_CC_ONE - w));
}

static void get_info(const struct sroce_cc *cc, struct sroce_cc_info *info)
{
	info->rtt_ns = cc->timely.prev_ns;
}

const struct sroce_cc_ops sroce_cc_timely = {
	.name = "timely",
	.needs = SROCE_CC_NEEDS_RTT,
	.on_ack = timely_on_ack,
	.get_info = get_info,
};

const struct sroce_cc_ops sroce_cc_timely_patched = {
	.name = "timely_patched",
	.needs = SROCE_CC_NEEDS_RTT,
	.on_ack = patched_on_ack,
	.get_info = get_info,
};
