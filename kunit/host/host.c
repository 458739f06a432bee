// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a host has once: receives that its QPs share, datagrams on the way that
 * connected QPs use, and the notification point's CNPs.
 */
#include "sim.h"

#define DATAGRAM_QPN	0xfffff0	/* no other has it */
#define QKEY		0x00be1100

/* ---- datagrams ---- */

bool host_is_datagram(const struct sroce_pkt *pkt)
{
	return pkt->qpn == DATAGRAM_QPN && (pkt->opcode & SROCE_TRANSPORT_MASK) == SROCE_UD;
}

/* Everything in it follows from its number. Returns the length. */
static u32 datagram_make(const struct end *from, u32 nr, struct sroce_pkt *pkt, u8 *data)
{
	const struct sim *sim = from->sim;
	struct rng rng = { .state = sim->seed * 128 + 2 * nr + from->host };
	u32 bytes = rng_percent(&rng, 20) ? 0 : rng_range(&rng, 1, sim->mtu);

	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = SROCE_UD | SROCE_OP_SEND_ONLY_IMM;
	pkt->pkey = SROCE_PKEY_DEFAULT;
	pkt->qpn = DATAGRAM_QPN;
	pkt->psn = nr;
	pkt->imm = cpu_to_be32(nr);
	pkt->qkey = QKEY + rng_below(&rng, 256);
	pkt->src_qpn = rng_range(&rng, 2, 0xfffffe);
	pkt->solicited = rng_percent(&rng, 50);
	pkt->payload_bytes = bytes;
	pkt->pad = -bytes & 3;
	rng_fill(&rng, data, bytes);
	return bytes;
}

/* One leaves. */
void host_datagram(struct end *end)
{
	struct sim *sim = end->sim;
	struct datagrams *d = &sim->datagrams[end->host];
	struct link *link = &sim->link[end->host];
	struct sroce_pkt pkt;
	u8 data[4096];
	u32 nr = d->sent++;

	datagram_make(end, nr, &pkt, data);
	link_send(end, &pkt, data);
	d->of[nr].intact = link->intact;
	d->of[nr].corrupted = link->corrupted;
	sim_stats.datagrams++;
	if (d->sent < d->num)
		event_add(sim, sim->now + 1 + rng_below(&sim->rng, d->gap), EVENT_DATAGRAM, end, NULL);
}

void host_on_datagram(struct end *end, const struct sroce_pkt *pkt, const u8 *payload)
{
	struct sim *sim = end->sim;
	struct datagrams *d = &sim->datagrams[1 - end->host];
	u32 nr = be32_to_cpu(pkt->imm);
	struct sroce_pkt want;
	u8 data[4096];

	if (sim_is_hostile(sim))
		return;
	CHECK(sim, nr < d->sent, "datagram %u was never sent", nr);
	datagram_make(end->peer, nr, &want, data);
	CHECK(sim, pkt->opcode == want.opcode && pkt->psn == nr && pkt->qkey == want.qkey &&
	      pkt->src_qpn == want.src_qpn && pkt->solicited == want.solicited && !pkt->ackreq,
	      "datagram %u: wrong headers", nr);
	CHECK(sim, pkt->payload_bytes == want.payload_bytes &&
	      !memcmp(payload, data, want.payload_bytes), "datagram %u: wrong data", nr);
	CHECK(sim, ++d->of[nr].arrived <= d->of[nr].intact + d->of[nr].corrupted,
	      "datagram %u came too often", nr);
	CHECK(sim, !sim->lossless || nr == d->last, "datagram %u out of turn", nr);
	d->last = nr + 1;
}

/* ---- marks ---- */

/* A packet for a QP says that there is congestion on the way: tell the peer. */
void host_on_mark(struct end *end, const struct sroce_pkt *pkt)
{
	static const u8 padding[SROCE_CNP_PAYLOAD_BYTES];
	struct sim *sim = end->sim;
	struct sroce_pkt cnp;

	end->marked++;
	if (end->error || !sroce_cnp_wanted(pkt, end->np_on_ack) ||
	    !sroce_np_due(&end->np, end->np_interval, sim->now))
		return;
	CHECK(sim, !(pkt->flags & SROCE_F_CNP), "%c: a CNP for a CNP", 'A' + end->id);
	CHECK(sim, !end->cnps_out || sim->now >= end->cnp_at + end->np_interval,
	      "%c: two CNPs in %llu ns", 'A' + end->id, sim->now - end->cnp_at);
	end->cnp_at = sim->now;
	sroce_cnp_fill(&cnp, end->peer->qpn, pkt->pkey);
	link_send(end, &cnp, padding);
	end->cnps_out += sim->link[end->host].intact + sim->link[end->host].corrupted;
	sim_stats.cnps++;
}

/* A peer is told: it slows down, by less in flight. */
void host_on_cnp(struct end *end, const struct sroce_pkt *pkt, const u8 *payload)
{
	struct sim *sim = end->sim;
	u32 i;

	if (sim_is_hostile(sim))
		return;
	CHECK(sim, ++end->cnps_in <= end->peer->cnps_out, "%c: a CNP that nobody sent", 'A' + end->id);
	CHECK(sim, pkt->pkey == SROCE_PKEY_DEFAULT && !pkt->psn && !pkt->ackreq && !pkt->solicited &&
	      pkt->payload_bytes == SROCE_CNP_PAYLOAD_BYTES, "%c: an odd CNP", 'A' + end->id);
	/* the ICRC does not cover it */
	CHECK(sim, pkt->becn || sim->link[1 - end->host].corrupt, "%c: a CNP without BECN",
	      'A' + end->id);
	for (i = 0; i < pkt->payload_bytes; i++)
		CHECK(sim, !payload[i], "%c: an odd CNP", 'A' + end->id);
	end->req.cwnd = max(min(end->req.cwnd, 256U) / 2, 1U);
}

/* ---- a run ---- */

/* May messages of any QP land in the same receives? */
static bool may_share(struct sim *sim)
{
	u32 i;

	if (sim->scenario == SC_SHORT_RECV || sim->scenario == SC_RNR_EXHAUSTED)
		return false;
	for (i = 0; i < sim->num_ends; i++)
		if (end_is_uc(&sim->end[i]))
			return false;
	return true;
}

void host_set_up(struct sim *sim, u32 host)
{
	struct datagrams *d = &sim->datagrams[host];

	if (may_share(sim) && rng_percent(&sim->rng, 30))
		work_srq(sim, host);
	if (!rng_percent(&sim->rng, 30))
		return;
	d->num = rng_range(&sim->rng, 1, MAX_DATAGRAMS);
	d->gap = RNG_PICK(&sim->rng, 100, 10000, 500000);
	event_add(sim, rng_below(&sim->rng, 1000000), EVENT_DATAGRAM, &sim->end[host], NULL);
}

/*
 * Of receives that QPs share as many are done as messages wanted one. A QP that
 * failed in the middle of a message keeps the one it was filling.
 */
static void check_srq(struct sim *sim, u32 host)
{
	const struct rq *srq = &sim->srq[host];
	u32 need = 0, filling = 0, done = 0;
	u32 i, k;

	for (i = host; i < sim->num_ends; i += 2) {
		const struct end *end = &sim->end[i];

		filling += end->filling != NO_OP;
		for (k = 0; k < end->peer->num_ops; k++)
			need += sroce_wr_takes_recv(end->peer->ops[k].op) &&
				end->peer->ops[k].executed;
	}
	for (i = 0; i < srq->num; i++) {
		done += srq->recvs[i].done;
		CHECK(sim, i < srq->used || !srq->recvs[i].done, "SRQ: receive %u was not taken", i);
	}
	CHECK(sim, done == need && srq->used == done + filling,
	      "SRQ: %u messages, %u receives taken, %u done, %u being filled", need, srq->used,
	      done, filling);
}

void host_check(struct sim *sim, u32 host)
{
	const struct datagrams *d = &sim->datagrams[host];
	u32 i;

	if (sim_is_hostile(sim))
		return;
	if (sim->srq[host].shared)
		check_srq(sim, host);
	CHECK(sim, d->sent == d->num, "%u of %u datagrams", d->sent, d->num);
	for (i = 0; i < d->num; i++)
		CHECK(sim, d->of[i].arrived >= d->of[i].intact, "datagram %u did not arrive", i);
	/* The ICRC does not cover the bits of a mark. */
	for (i = host; i < sim->num_ends; i += 2)
		CHECK(sim, sim->link[1 - host].mark || sim->link[1 - host].corrupt ||
		      !sim->end[i].cnps_out, "CNPs without marks");
}
