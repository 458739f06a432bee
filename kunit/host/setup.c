// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a seed draws: the conditions of a run.
 */
#include "sim.h"

#define MS		1000000ULL

static const u8 scenario_odds[SC_COUNT] = {
	10, 30, 10, 5, 5, 5, 8, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
};

/* ---- conditions ---- */

static void pick_scenario(struct sim *sim, int forced)
{
	u32 sum = 0, i, x;

	for (i = 0; i < SC_COUNT; i++)
		sum += scenario_odds[i];
	x = rng_below(&sim->rng, sum);
	for (i = 0; x >= scenario_odds[i]; i++)
		x -= scenario_odds[i];
	sim->scenario = forced >= 0 ? (enum scenario)forced : (enum scenario)i;
	/* Half of the runs have one pair of QPs. */
	sim->num_ends = rng_percent(&sim->rng, 50) ? 2 : 2 * rng_range(&sim->rng, 2, MAX_ENDS / 2);
	sim->fail_end = rng_below(&sim->rng, sim->num_ends);
}

/* Ways of which one after the other is taken; the first is there from the beginning. */
static void pick_paths(struct sim *sim, struct link *link, u32 severity)
{
	struct rng *rng = &sim->rng;
	u32 i;

	for (i = 0; i < MAX_PATHS; i++) {
		struct path *path = &link->paths[i];

		path->delay = RNG_PICK(rng, 1000, 10000, 100000, 1000000);
		/* UC cannot tell an old message from a new one */
		if (sim->lossless || sim->scenario == SC_UC || rng_percent(rng, 50))
			continue;
		/* a little all the time, or nearly everything for a while */
		path->reorder = rng_percent(rng, 70) ? rng_below(rng, severity) :
						       rng_range(rng, 200000, 900000);
		path->jitter = path->delay * rng_range(rng, 1, 4);
	}
	link->path = link->paths[0];
}

static void pick_link(struct sim *sim, struct link *link, u32 severity)
{
	struct rng *rng = &sim->rng;

	pick_paths(sim, link, severity);
	link->per_packet = rng_range(rng, 50, 500);
	link->mark = rng_percent(rng, 30) ? 200000 : 0;
	if (sim->lossless)
		return;
	link->burst = rng_percent(rng, 30) ? rng_range(rng, 2, 12) : 1;
	link->loss = rng_below(rng, severity / link->burst);
	link->corrupt = rng_percent(rng, 50) ? rng_below(rng, severity) : 0;
	if (sim->scenario == SC_UC)
		return;
	link->dup = rng_percent(rng, 50) ? rng_below(rng, severity) : 0;
	if (sim_is_hostile(sim))
		link->hostile = rng_range(rng, 1000, 200000);
}

/* SACKs that nobody understands are as good as lost. */
static bool sacks_get_lost(const struct sim *sim, u32 id)
{
	return sim->end[id ^ 1].sack && !sim->end[id].sack;
}

static bool any_sacks_get_lost(const struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->num_ends; i++)
		if (sacks_get_lost(sim, i))
			return true;
	return false;
}

static void pick_times(struct sim *sim)
{
	struct rng *rng = &sim->rng;
	u64 longest[2] = {}, way;
	u32 code = 1;
	u32 i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < MAX_PATHS; k++)
			longest[i] = max(longest[i], sim->link[i].paths[k].delay +
						     sim->link[i].paths[k].jitter);
	/* QPs wait for each other. */
	way = longest[0] + longest[1] + sim->num_ends * MS;
	while (sroce_ack_timeout_ns(code) < way)
		code++;
	code += rng_below(rng, 3);
	sim->ack_timeout = sroce_ack_timeout_ns(code);
	if ((sim->scenario == SC_CLEAN || sim->scenario == SC_RNR) && sim->lossless &&
	    !any_sacks_get_lost(sim) && rng_percent(rng, 50))
		sim->ack_timeout = SROCE_NEVER;
}

static u32 pick_psn(struct rng *rng)
{
	switch (rng_below(rng, 4)) {
	case 0:
		return 0xffffff - rng_below(rng, 100);
	case 1:
		return 0x7fffff - rng_below(rng, 100);
	default:
		return rng_u64(rng) & SROCE_PSN_MASK;
	}
}

/* In an unreliable run the first pair is; others may be what they like. */
static u8 pick_transport(struct sim *sim, u32 pair)
{
	if (sim->scenario == SC_UC && (!pair || rng_percent(&sim->rng, 50)))
		return SROCE_UC;
	return rng_percent(&sim->rng, 15) ? SROCE_XRC : SROCE_RC;
}

static void pick_sim(struct sim *sim, int forced)
{
	struct rng *rng = &sim->rng;
	u32 severity, i;

	pick_scenario(sim, forced);
	sim->lossless = sim->scenario == SC_CLEAN || sim->scenario == SC_RNR_EXHAUSTED;
	if (sim->scenario == SC_RNR || sim->scenario == SC_DRAIN || sim->scenario == SC_UC ||
	    sim->scenario >= SC_BAD_RKEY)
		sim->lossless |= rng_percent(rng, 60);
	severity = RNG_PICK(rng, 3000, 20000, 60000, 150000);
	sim->ipv6 = rng_percent(rng, 30);
	sim->mtu = sroce_mtu_bytes(rng_range(rng, 1, 5));
	sim->credits = sim->scenario != SC_UC && rng_percent(rng, 40);
	for (i = 0; i < sim->num_ends; i++) {
		struct end *end = &sim->end[i];

		end->transport = i & 1 ? sim->end[i - 1].transport : pick_transport(sim, i / 2);
		end->sack = !end_is_uc(end) && rng_percent(rng, 60);
	}
	pick_link(sim, &sim->link[0], severity);
	pick_link(sim, &sim->link[1], severity);
	pick_times(sim);
}

/* ---- endpoints ---- */

static void make_memory(struct end *end)
{
	struct sim *sim = end->sim;
	u8 *p;

	end->mr_bytes = sim->mtu * work_max_packets(sim->mtu) + 8 * rng_range(&sim->rng, 64, 1024);
	p = sim_alloc(sim, end->mr_bytes + 2 * GUARD_BYTES);
	memset(p, 0x5a, end->mr_bytes + 2 * GUARD_BYTES);
	end->mr = p + GUARD_BYTES;
	rng_fill(&sim->rng, end->mr, end->mr_bytes);
	end->mr_start = sim_alloc(sim, end->mr_bytes);
	memcpy(end->mr_start, end->mr, end->mr_bytes);
	switch (rng_below(&sim->rng, 3)) {
	case 0:
		end->mr_va = 0x1000;
		break;
	case 1:		/* the last byte of the address space, nearly */
		end->mr_va = -(u64)((end->mr_bytes + 31) & ~7U);
		break;
	case 2:
		end->mr_va = 0x7f0000000000ULL + (rng_u64(&sim->rng) & 0xfffffff8);
		break;
	}
}

static void configure_req(struct end *end)
{
	struct sim *sim = end->sim;
	struct rng *rng = &sim->rng;
	struct sroce_req *req = &end->req;

	memset(req, 0xa5, sizeof(*req));
	req->transport = end->transport;
	req->reliable = !end_is_uc(end);
	req->retry_cnt = sim->lossless && !sacks_get_lost(sim, end->id) ? rng_below(rng, 8) : 7;
	if (sim->scenario == SC_FEW_RETRIES)
		req->retry_cnt = rng_below(rng, 3);
	req->rnr_retry = 7;
	if (sim->scenario == SC_RNR_EXHAUSTED)
		req->rnr_retry = rng_below(rng, 7);
	req->max_rd_atomic = rng_percent(rng, 30) ? 1 : rng_range(rng, 1, 16);
	req->pkey = SROCE_PKEY_DEFAULT;
	req->mtu = sim->mtu;
	req->dest_qpn = end->peer->qpn;
	req->window = RNG_PICK(rng, 1, 2, 3, 4, 8, 16, 64, 128, 1024);
	req->cwnd = RNG_PICK(rng, U32_MAX, U32_MAX, 1, 2, 7, 100);
	req->ackreq_every = RNG_PICK(rng, 1, 2, 4, 16, 64);
	req->ack_timeout_ns = sim->ack_timeout;
	req->hold = rng_percent(rng, 70);
	req->selective = end->sack;
	req->early = rng_percent(rng, 70);
	req->stride = sizeof(struct sroce_swqe) + 8 * rng_below(rng, 4);
	req->mask = RNG_PICK(rng, 1, 2, 4, 8, 16, 64) - 1;
	end->wqes = sim_alloc(sim, (req->mask + 1) * req->stride);
	req->wqes = end->wqes;
	sroce_req_reset(req);
	end->first_index = rng_percent(rng, 30) ? -rng_below(rng, 32) : 0;
	req->head = end->first_index;
	req->cur = end->first_index;
	req->tail = end->first_index;
	end->first_psn = pick_psn(rng);
	sroce_req_start(req, end->first_psn);
}

static void configure_resp(struct end *end)
{
	struct sim *sim = end->sim;
	struct rng *rng = &sim->rng;
	struct sroce_resp *resp = &end->resp;

	memset(resp, 0xa5, sizeof(*resp));
	resp->transport = end->transport;
	resp->reliable = !end_is_uc(end);
	resp->max_res = end->peer->req.max_rd_atomic;
	if (rng_percent(rng, 30))
		resp->max_res = rng_range(rng, resp->max_res, SROCE_RESP_MAX_RES);
	resp->min_rnr_timer = rng_percent(rng, 5) ? rng_below(rng, 32) : rng_range(rng, 1, 18);
	resp->mtu = sim->mtu;
	resp->dest_qpn = end->peer->qpn;
	resp->pkey = SROCE_PKEY_DEFAULT;
	resp->selective = end->sack;
	memset(&resp->hold, 0, sizeof(resp->hold));
	if (end->sack || rng_percent(rng, 70))
		resp->hold.max_bytes = RNG_PICK(rng, 3000, 20000, 200000, 4000000);
	sroce_resp_reset(resp);
	sroce_resp_start(resp, end->peer->first_psn);
	sim->rnr_ns = max(sim->rnr_ns, sroce_rnr_timer_ns(resp->min_rnr_timer));
}

/* No two QPs of a host have the same number. */
static u32 pick_qpn(struct sim *sim)
{
	u32 i, qpn = rng_range(&sim->rng, 2, 0xffff00);

	for (i = 0; i < sim->num_ends; i++)
		if (sim->end[i].qpn == qpn)
			return pick_qpn(sim);
	return qpn;
}

static void make_end(struct sim *sim, u32 i)
{
	struct end *end = &sim->end[i];

	end->sim = sim;
	end->peer = &sim->end[i ^ 1];
	end->id = i;
	end->host = i & 1;
	end->filling = NO_OP;
	end->np_interval = RNG_PICK(&sim->rng, 0, 4000, 50000, 1000000);
	end->np_on_ack = rng_percent(&sim->rng, 50);
	end->failed_at = NO_OP;
	end->nak_epsn = NO_OP;
	end->rnr_psn = NO_OP;
	end->timer_at = SROCE_NEVER;
	end->budget = RNG_PICK(&sim->rng, 1, 2, 8, 64);
	end->lag = RNG_PICK(&sim->rng, 1, 1000, 10000, 100000);
	end->post_gap = RNG_PICK(&sim->rng, 1000, 20000, 1000000);
	end->qpn = pick_qpn(sim);
	if (!sim->lossless) {
		end->no_memory = rng_percent(&sim->rng, 30) ? 100000 : 0;
		end->refused = rng_percent(&sim->rng, 30) ? rng_below(&sim->rng, 100000) : 0;
	}
	make_memory(end);
}

static void start_end(struct end *end)
{
	struct sim *sim = end->sim;
	bool late = sim->scenario == SC_RNR || sim_is_hostile(sim) ||
		    (end_is_uc(end) && !sim->lossless);
	struct rq *rq = end->rq;

	rq->gap = late ? 1 + rng_below(&sim->rng, 2 * min(sim->rnr_ns, 20 * MS)) : 1;
	if (!late)
		rq->posted = rq->num;
	if (sim->credits && !rq->shared)
		end->resp.credits = sroce_credits_encode(rq->posted);
	if (!rq->shared || end->id == end->host)
		event_add(sim, 0, EVENT_POST_RECV, end, NULL);
	end_want_post(end);
}

static void plan_trouble(struct sim *sim)
{
	struct end *end = &sim->end[sim->fail_end];
	u64 at = 0;
	u32 i;

	if (sim->scenario == SC_DRAIN)
		event_add(sim, rng_below(&sim->rng, MS), EVENT_DRAIN, end, NULL);
	if (sim->scenario == SC_STOPPED || sim->scenario == SC_DEAD_PEER ||
	    sim->scenario == SC_RESTARTED)
		event_add(sim, rng_below(&sim->rng, 2 * MS), EVENT_STOP, end, NULL);
	for (i = rng_below(&sim->rng, MAX_PATHS); i && !sim->lossless; i--) {
		at += rng_below(&sim->rng, 5 * MS);
		event_add(sim, at, EVENT_PATH, sim->end, NULL);
	}
}

static void trace_set_up(struct sim *sim)
{
	u32 i;

	sim_trace(sim, "%s, MTU %u, ACK timeout %.3f us, credits %u, SRQs %u %u, datagrams %u %u",
		  scenario_names[sim->scenario], sim->mtu, sim->ack_timeout / 1000.0, sim->credits,
		  sim->srq[0].num, sim->srq[1].num, sim->datagrams[0].num, sim->datagrams[1].num);
	for (i = 0; i < sim->num_ends; i++) {
		const struct end *end = &sim->end[i];

		sim_trace(sim, "%c: QP %06x, transport %02x, %u WRs, SACK %u, answers ahead %u, hold %u bytes, probes %u",
			  'A' + i, end->qpn, end->transport, end->num_ops, end->sack, end->req.hold,
			  end->resp.hold.max_bytes, end->req.early);
	}
}

void setup_make(struct sim *sim, int forced)
{
	struct end *end = sim->end;
	u32 i;

	pick_sim(sim, forced);
	for (i = 0; i < sim->num_ends; i++)
		make_end(sim, i);
	for (i = 0; i < sim->num_ends; i++)
		configure_req(&end[i]);
	for (i = 0; i < sim->num_ends; i++)
		configure_resp(&end[i]);
	for (i = 0; i < sim->num_ends; i++)
		work_make(&end[i]);
	for (i = 0; i < sim->num_ends; i++)
		work_recvs(&end[i]);
	host_set_up(sim, 0);
	host_set_up(sim, 1);
	for (i = 0; i < sim->num_ends; i++)
		start_end(&end[i]);
	sim->stall_ns = 20 * (sim->ack_timeout == SROCE_NEVER ? 50 * MS : sim->ack_timeout) +
			20 * sim->rnr_ns + 100 * MS;
	plan_trouble(sim);
	trace_set_up(sim);
}
