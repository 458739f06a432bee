// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * HPCC: the window follows what the switches on the way recorded in each packet,
 * so that the fullest link is used to just below its capacity.
 */
#include "cc.h"

#define U_SHIFT		24		/* utilisation: 1 / 2^24 */
#define MAX_UTIL	(64ULL << U_SHIFT)
#define W_SHIFT		8		/* windows: bytes / 2^8 */
#define MAX_WINDOW	(1ULL << 30)
#define MAX_BYTES	(1ULL << 28)	/* of a queue, or between two records */

static u64 rtt_ns(const struct sroce_cc_params *p)
{
	return p->rp_base_rtt * SROCE_NS_PER_US;
}

/* What the port sends in a round trip. */
static u64 full_window(const struct sroce_cc_params *p)
{
	u64 bytes = div_u64(sroce_cc_max_bps(p), 8000) * p->rp_base_rtt;

	return min(div_u64(bytes, 1000), MAX_WINDOW / 2) << W_SHIFT;
}

static void hpcc_init(struct sroce_cc *cc, const struct sroce_cc_params *p, u64 now_ns)
{
	cc->hpcc.window = full_window(p);
	cc->hpcc.ref_window = cc->hpcc.window;
}

/* How long @bytes keep a link busy, as a part of @ns. */
static u64 share(u64 bytes, u64 bps, u64 ns)
{
	u64 busy_ns = div64_u64(min(bytes, MAX_BYTES) * 8 * 1000000000, bps);

	return min(div64_u64(min(busy_ns, 1ULL << 38) << U_SHIFT, ns), MAX_UTIL);
}

/* Utilisation of the fullest link since the last records, smoothed over a round trip. */
static void measure(struct sroce_cc *cc, const struct sroce_cc_params *p,
		    const struct sroce_cc_hop *now)
{
	u64 rtt = rtt_ns(p), fullest = 0, weight = 0, dt, u;
	struct sroce_cc_hpcc *h = &cc->hpcc;
	u32 i;

	for (i = 0; i < h->num_hops; i++) {
		const struct sroce_cc_hop *old = &cc->hops[i];

		dt = max(now[i].ts_ns - old->ts_ns, 1ULL);
		u = share(min(now[i].queue_bytes, old->queue_bytes), now[i].link_bps, rtt) +
		    share(now[i].tx_bytes - old->tx_bytes, now[i].link_bps, dt);
		if (u >= fullest) {
			fullest = u;
			weight = min(dt, rtt);
		}
	}
	h->util = div64_u64(h->util * (rtt - weight) + fullest * weight, rtt);
}

static void adjust(struct sroce_cc *cc, const struct sroce_cc_params *p, bool commit)
{
	u64 eta = div_u64((u64)p->hpcc_eta << U_SHIFT, 1000), full = full_window(p);
	bool scale = cc->hpcc.util >= eta || cc->hpcc.stage >= p->hpcc_max_stage;
	struct sroce_cc_hpcc *h = &cc->hpcc;
	u64 add;

	add = div_u64(div_u64(full * (1000 - p->hpcc_eta), 1000), p->hpcc_flows);
	h->window = h->ref_window;
	if (scale)
		h->window = div64_u64(div_u64(h->window * p->hpcc_eta, 1000) << U_SHIFT,
				      max(h->util, 1ULL << (U_SHIFT - 4)));
	h->window = max(min(h->window + add, 2 * full), 1ULL << W_SHIFT);
	if (!commit)
		return;
	h->ref_window = h->window;
	h->stage = scale ? 0 : h->stage + 1;
}

/* The window as a window and, spread over a round trip, as a rate. */
static void apply(struct sroce_cc *cc, const struct sroce_cc_params *p)
{
	u64 bytes = cc->hpcc.window >> W_SHIFT, bps;

	bps = max(div64_u64(bytes * 8 * 1000000000, rtt_ns(p)), sroce_cc_min_bps(p));
	cc->window = bytes;
	cc->rate_bps = bps < sroce_cc_max_bps(p) ? bps : SROCE_CC_UNLIMITED;
}

static void hpcc_on_ack(struct sroce_cc *cc, const struct sroce_cc_params *p,
			const struct sroce_cc_ack *ack, u64 now_ns)
{
	u32 n = min_t(u32, ack->num_hops, SROCE_CC_MAX_HOPS);
	struct sroce_cc_hpcc *h = &cc->hpcc;
	bool commit = ack->acked > h->update;

	if (!cc->hops || !ack->hops || !n)
		return;
	if (n == h->num_hops) {
		measure(cc, p, ack->hops);
		adjust(cc, p, commit);
		apply(cc, p);
	}
	if (n != h->num_hops || commit)
		h->update = ack->sent;
	h->num_hops = n;
	memcpy(cc->hops, ack->hops, n * sizeof(*cc->hops));
}

const struct sroce_cc_ops sroce_cc_hpcc = {
	.name = "hpcc",
	.needs = SROCE_CC_NEEDS_INT,
	.init = hpcc_init,
	.on_ack = hpcc_on_ack,
};
