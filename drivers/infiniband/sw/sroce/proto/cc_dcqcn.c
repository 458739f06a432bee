// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The reaction point of DCQCN, in two forms that share how the rate rises:
 *
 *   dcqcn        as documented for mlx5: flags set by CNPs, looked at by periodic
 *                timers; alpha is an integer in 1/1024
 *   dcqcn_paper  as published: each CNP cuts at once and restarts the timers
 *
 * At equal times the timers come in the order alpha, cut, raise, and then a CNP.
 */
#include "cc.h"

static u64 us(u32 n)
{
	return n * SROCE_NS_PER_US;
}

/* ---- raising ---- */

/*
 * What the next expiry of timer or byte counter adds to the target. The stages
 * are compared before they are counted up: a threshold of 5 is 5 steps of fast
 * recovery. Without a byte counter mlx5 raises by the timer alone; as published,
 * there is no hyper increase then.
 */
static u64 raise_step(const struct sroce_cc_dcqcn *d, const struct sroce_cc_params *p, bool paper)
{
	u32 least = min(d->time_stage, d->byte_stage);

	if (!paper && !p->rp_byte_reset)
		least = d->time_stage;
	if (max(d->time_stage, d->byte_stage) < p->rp_threshold)
		return 0;
	if (least <= p->rp_threshold)
		return sroce_cc_mbps(p->rp_ai_rate);
	return sroce_cc_mbps(p->rp_hai_rate) * (paper ? least - p->rp_threshold : 1);
}

static void raise(struct sroce_cc_dcqcn *d, u64 step, u64 max_bps)
{
	d->target_bps = min(d->target_bps + step, max_bps);
	d->current_bps = min((d->current_bps + d->target_bps + 1) / 2, max_bps);
}

/* Is the step @step from now on, however often the timer expires? */
static bool step_stays(const struct sroce_cc_dcqcn *d, const struct sroce_cc_params *p,
		       u64 step, bool paper)
{
	return d->time_stage > p->rp_threshold && (!paper || d->byte_stage <= d->time_stage) &&
	       step && raise_step(d, p, paper) == step;
}

/* Has the rate been raised to the maximum, within the resolution of the knobs? */
static bool is_recovered(const struct sroce_cc_dcqcn *d, u64 max_bps)
{
	return (d->time_stage || d->byte_stage) &&
	       d->current_bps + SROCE_CC_BPS_PER_MBPS >= max_bps;
}

/*
 * All expiries of the timer until @until_ns. The distance of the two rates is
 * (distance + step) / 2 after each, rounded down; once it does not change any
 * more, what is left is one multiplication, however long ago the last call was.
 */
static void raise_until(struct sroce_cc_dcqcn *d, const struct sroce_cc_params *p, u64 until_ns,
			bool paper)
{
	u64 max_bps = sroce_cc_max_bps(p), period = us(p->rp_time_reset), step, gap, n;

	while (d->raise_ns <= until_ns && !is_recovered(d, max_bps)) {
		step = raise_step(d, p, paper);
		gap = d->target_bps - d->current_bps;
		raise(d, step, max_bps);
		d->time_stage++;
		d->raise_ns += period;
		if (d->target_bps - d->current_bps != gap || d->raise_ns > until_ns ||
		    d->target_bps == max_bps || !step_stays(d, p, step, paper))
			continue;
		n = min(div64_u64(until_ns - d->raise_ns, period) + 1,
			div64_u64(max_bps - d->target_bps, step));
		d->target_bps += n * step;
		d->current_bps += n * step;
		d->time_stage += n;
		d->raise_ns += n * period;
	}
}

static u64 byte_period(const struct sroce_cc_params *p)
{
	return p->rp_byte_reset ? p->rp_byte_reset * 64ULL : U64_MAX;
}

static void restart_raising(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns)
{
	struct sroce_cc_dcqcn *d = &cc->dcqcn;

	d->time_stage = 0;
	d->byte_stage = 0;
	d->raise_ns = now_ns + us(p->rp_time_reset);
	cc->bytes_left = byte_period(p);
}

/* Rates back at the maximum: nothing is limited, nothing is due. */
static void release(struct sroce_cc *cc)
{
	cc->dcqcn.raise_ns = SROCE_NEVER;
	cc->rate_bps = SROCE_CC_UNLIMITED;
	cc->next_ns = SROCE_NEVER;
	cc->bytes_left = U64_MAX;
}

/* The byte counter has run out. Returns false when nothing is limited any more. */
static bool raise_by_bytes(struct sroce_cc *cc, const struct sroce_cc_params *p, bool paper)
{
	struct sroce_cc_dcqcn *d = &cc->dcqcn;
	u64 max_bps = sroce_cc_max_bps(p);

	raise(d, raise_step(d, p, paper), max_bps);
	d->byte_stage++;
	cc->bytes_left = byte_period(p);
	cc->rate_bps = d->current_bps;
	if (d->cut_due || !is_recovered(d, max_bps))
		return true;
	release(cc);
	return false;
}

static void get_info(const struct sroce_cc *cc, struct sroce_cc_info *info, u32 alpha)
{
	if (cc->rate_bps != SROCE_CC_UNLIMITED)
		info->target_bps = cc->dcqcn.target_bps;
	info->alpha = alpha;
}

/* ---- as in mlx5 ---- */

/* Steps of alpha until @until_ns; it is 0 after some hundred. */
static void mlx_alpha_until(struct sroce_cc_dcqcn *d, const struct sroce_cc_params *p,
			    u64 until_ns)
{
	u64 period = us(p->rp_dce_tcp_rtt), n;

	if (until_ns < d->alpha_ns)
		return;
	n = div64_u64(until_ns - d->alpha_ns, period) + 1;
	d->alpha_ns += n * period;
	if (d->alpha_due) {
		d->alpha_due = false;
		d->alpha = (p->rp_dce_tcp_g * d->alpha >> 10) + 1024 - p->rp_dce_tcp_g;
		n--;
	}
	while (n-- && d->alpha)
		d->alpha = p->rp_dce_tcp_g * d->alpha >> 10;
}

static void mlx_cut(struct sroce_cc *cc, const struct sroce_cc_params *p)
{
	struct sroce_cc_dcqcn *d = &cc->dcqcn;
	u64 by;

	d->cut_due = false;
	if (p->rp_clamp_tgt_rate || d->byte_stage || (p->rp_clamp_tgt_rate_ati && d->time_stage))
		d->target_bps = d->current_bps;
	by = min(d->current_bps * d->alpha >> p->rp_gd,
		 div_u64(d->current_bps * (100 - p->rp_min_dec_fac), 100));
	d->current_bps = max(d->current_bps - by, sroce_cc_min_bps(p));
	d->target_bps = max(d->target_bps, d->current_bps);
	restart_raising(cc, p, d->cut_ns);
}

static void mlx_advance(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns)
{
	struct sroce_cc_dcqcn *d = &cc->dcqcn;
	bool recovered;

	if (!d->active)
		return;
	/* A cut comes at most once: only a CNP makes it due. */
	if (d->cut_due && d->cut_ns <= now_ns) {
		raise_until(d, p, d->cut_ns - 1, false);
		mlx_alpha_until(d, p, d->cut_ns);
		mlx_cut(cc, p);
	}
	raise_until(d, p, now_ns, false);
	mlx_alpha_until(d, p, now_ns);
	recovered = is_recovered(d, sroce_cc_max_bps(p));
	if (recovered && !d->cut_due) {
		d->active = false;
		release(cc);
		return;
	}
	cc->rate_bps = d->current_bps;
	cc->next_ns = recovered ? SROCE_NEVER : d->raise_ns;
	if (d->cut_due)
		cc->next_ns = min(cc->next_ns, d->cut_ns);
}

static void mlx_first_cnp(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns)
{
	struct sroce_cc_dcqcn *d = &cc->dcqcn;
	u64 first = sroce_cc_mbps(p->rp_rate_to_set_on_first_cnp), max_bps = sroce_cc_max_bps(p);

	d->active = true;
	d->alpha_due = false;
	d->alpha = p->rp_initial_alpha_value;
	d->current_bps = first ? clamp(first, sroce_cc_min_bps(p), max_bps) : max_bps;
	d->target_bps = d->current_bps;
	d->alpha_ns = now_ns + us(p->rp_dce_tcp_rtt);
	d->cut_ns = now_ns + us(p->rp_rate_reduce_monitor_period);
	restart_raising(cc, p, now_ns);
}

static void mlx_on_cnp(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns)
{
	struct sroce_cc_dcqcn *d = &cc->dcqcn;
	u64 period = us(p->rp_rate_reduce_monitor_period);

	mlx_advance(cc, p, now_ns);
	if (d->active) {
		d->alpha_due = true;
		/* Looks for a CNP that would have found none. */
		if (d->cut_ns <= now_ns)
			d->cut_ns += (div64_u64(now_ns - d->cut_ns, period) + 1) * period;
	} else {
		mlx_first_cnp(cc, p, now_ns);
	}
	d->cut_due = true;
	cc->rate_bps = d->current_bps;
	cc->next_ns = min(d->cut_ns, d->raise_ns);
}

static void mlx_on_bytes(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns)
{
	if (cc->dcqcn.active && !raise_by_bytes(cc, p, false))
		cc->dcqcn.active = false;
}

static void mlx_get_info(const struct sroce_cc *cc, struct sroce_cc_info *info)
{
	get_info(cc, info, cc->dcqcn.alpha);
}

const struct sroce_cc_ops sroce_cc_dcqcn = {
	.name = "dcqcn",
	.needs = SROCE_CC_NEEDS_CNP,
	.advance = mlx_advance,
	.on_cnp = mlx_on_cnp,
	.on_bytes = mlx_on_bytes,
	.get_info = mlx_get_info,
};

/* ---- as published ---- */

/* Steps of alpha until @until_ns, rounded so that it is 0 after some thousand. */
static void paper_alpha_until(struct sroce_cc_dcqcn *d, const struct sroce_cc_params *p,
			      u64 until_ns)
{
	u64 period = us(p->rp_dce_tcp_rtt), g = 1024 - p->rp_dce_tcp_g, n;

	if (until_ns < d->alpha_ns)
		return;
	n = div64_u64(until_ns - d->alpha_ns, period) + 1;
	d->alpha_ns += n * period;
	while (n-- && d->alpha)
		d->alpha -= (d->alpha * g + 1023) >> 10;
}

static void paper_advance(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns)
{
	struct sroce_cc_dcqcn *d = &cc->dcqcn;

	if (!d->active)
		return;
	paper_alpha_until(d, p, now_ns);
	if (d->raise_ns == SROCE_NEVER)
		return;
	raise_until(d, p, now_ns, true);
	if (is_recovered(d, sroce_cc_max_bps(p))) {
		release(cc);
		return;
	}
	cc->rate_bps = d->current_bps;
	cc->next_ns = d->raise_ns;
}

static void paper_on_cnp(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns)
{
	struct sroce_cc_dcqcn *d = &cc->dcqcn;

	paper_advance(cc, p, now_ns);
	if (!d->active) {
		d->active = true;
		d->alpha = SROCE_CC_ONE;
	}
	/* When it was not limited, it sent at the maximum. */
	if (cc->rate_bps == SROCE_CC_UNLIMITED)
		d->current_bps = sroce_cc_max_bps(p);
	d->target_bps = d->current_bps;
	d->current_bps -= mul_u64_u32_shr(d->current_bps, d->alpha, SROCE_CC_ONE_SHIFT + 1);
	d->current_bps = max(d->current_bps, sroce_cc_min_bps(p));
	d->target_bps = max(d->target_bps, d->current_bps);
	d->alpha += (SROCE_CC_ONE - d->alpha) * (1024 - p->rp_dce_tcp_g) >> 10;
	d->alpha_ns = now_ns + us(p->rp_dce_tcp_rtt);
	restart_raising(cc, p, now_ns);
	cc->rate_bps = d->current_bps;
	cc->next_ns = d->raise_ns;
}

static void paper_on_bytes(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns)
{
	raise_by_bytes(cc, p, true);
}

static void paper_get_info(const struct sroce_cc *cc, struct sroce_cc_info *info)
{
	get_info(cc, info, cc->dcqcn.alpha >> (SROCE_CC_ONE_SHIFT - 10));
}

const struct sroce_cc_ops sroce_cc_dcqcn_paper = {
	.name = "dcqcn_paper",
	.needs = SROCE_CC_NEEDS_CNP,
	.advance = paper_advance,
	.on_cnp = paper_on_cnp,
	.on_bytes = paper_on_bytes,
	.get_info = paper_get_info,
};
