// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rtt.h"

void sroce_rtt_reset(struct sroce_rtt *rtt)
{
	memset(rtt, 0, sizeof(*rtt));
}

void sroce_rtt_on_sent(struct sroce_rtt *rtt, u32 psn, bool alone, u64 now_ns)
{
	if (rtt->probing)
		return;
	rtt->probing = true;
	rtt->alone = alone;
	rtt->probe_psn = psn;
	rtt->probe_ns = now_ns;
}

/* The minimum of two windows, this one and the one before: an old path is forgotten. */
static void take_min(struct sroce_rtt *rtt, u64 sample_ns, u64 now_ns)
{
	if (!rtt->samples || now_ns - rtt->window_ns >= SROCE_RTT_MIN_WINDOW_NS) {
		rtt->min_before_ns = rtt->samples ? rtt->min_now_ns : sample_ns;
		rtt->min_now_ns = sample_ns;
		rtt->window_ns = now_ns;
	}
	rtt->min_now_ns = min(rtt->min_now_ns, sample_ns);
	rtt->min_ns = min(rtt->min_now_ns, rtt->min_before_ns);
}

/* RFC 6298, 2.2 and 2.3. */
static void smooth(struct sroce_rtt *rtt, u64 sample_ns)
{
	u64 off;

	if (!rtt->known) {
		rtt->known = true;
		rtt->srtt_ns = sample_ns;
		rtt->rttvar_ns = sample_ns / 2;
		return;
	}
	off = sample_ns > rtt->srtt_ns ? sample_ns - rtt->srtt_ns : rtt->srtt_ns - sample_ns;
	rtt->rttvar_ns = rtt->rttvar_ns - rtt->rttvar_ns / 4 + off / 4;
	rtt->srtt_ns = rtt->srtt_ns - rtt->srtt_ns / 8 + sample_ns / 8;
}

bool sroce_rtt_on_acked(struct sroce_rtt *rtt, u32 una_psn, u64 now_ns)
{
	u64 sample_ns;

	if (!rtt->probing || sroce_psn_diff(una_psn, rtt->probe_psn) <= 0)
		return false;
	rtt->probing = false;
	/* 0 means no sample. */
	sample_ns = max(now_ns - rtt->probe_ns, 1ULL);
	smooth(rtt, sample_ns);
	if (!rtt->alone)
		return true;
	take_min(rtt, sample_ns, now_ns);
	rtt->last_ns = sample_ns;
	if (rtt->samples != U32_MAX)
		rtt->samples++;
	return true;
}

void sroce_rtt_on_repair(struct sroce_rtt *rtt, u32 psn)
{
	if (psn == rtt->probe_psn)
		rtt->probing = false;
	rtt->alone = false;
}

void sroce_rtt_on_retry(struct sroce_rtt *rtt)
{
	rtt->probing = false;
}
