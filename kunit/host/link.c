// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The link: packets become real bytes with IP, UDP and ICRC, suffer, and arrive.
 */
#include "sim.h"

#define IP_BYTES(sim)	((sim)->ipv6 ? SROCE_IPV6_BYTES : SROCE_IPV4_BYTES)
#define MAX_FRAME	(SROCE_IPV6_BYTES + SROCE_UDP_BYTES + SROCE_MAX_HDR_BYTES + 4096 + 64)

/* ---- events: a binary heap by time, then by age ---- */

static bool earlier(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void event_add(struct sim *sim, u64 at, enum event_kind kind, struct end *end, struct frame *frame)
{
	struct event event = { .at = at, .order = sim->order++, .kind = kind,
			       .end = end->id, .frame = frame };
	u32 i = sim->num_events++;

	if (sim->num_events > sim->max_events) {
		sim->max_events = sim->max_events * 2 + 256;
		sim->heap = realloc(sim->heap, sim->max_events * sizeof(*sim->heap));
		assert(sim->heap);
	}
	while (i && earlier(&event, &sim->heap[(i - 1) / 2])) {
		sim->heap[i] = sim->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	sim->heap[i] = event;
}

bool event_take(struct sim *sim, struct event *event)
{
	struct event last;
	u32 i = 0;

	if (!sim->num_events)
		return false;
	*event = sim->heap[0];
	last = sim->heap[--sim->num_events];
	for (;;) {
		u32 child = 2 * i + 1;

		if (child >= sim->num_events)
			break;
		if (child + 1 < sim->num_events &&
		    earlier(&sim->heap[child + 1], &sim->heap[child]))
			child++;
		if (!earlier(&sim->heap[child], &last))
			break;
		sim->heap[i] = sim->heap[child];
		i = child;
	}
	sim->heap[i] = last;
	return true;
}

/* ---- frames ---- */

static void put_ip_udp(struct sim *sim, const struct end *from, u8 *p, u32 udp_payload)
{
	u32 udp_bytes = SROCE_UDP_BYTES + udp_payload;
	u32 ip = IP_BYTES(sim);

	memset(p, 0, ip + SROCE_UDP_BYTES);
	if (sim->ipv6) {
		p[0] = 0x60;
		p[1] = 0x20;	/* ECT(0) */
		put_unaligned_be16(udp_bytes, p + 4);
		p[6] = 17;
		p[7] = 64;
		p[23] = 1 + from->host;
		p[39] = 2 - from->host;
	} else {
		p[0] = 0x45;
		p[1] = 0x02;	/* ECT(0) */
		put_unaligned_be16(ip + udp_bytes, p + 2);
		put_unaligned_be16(sim->frames, p + 4);
		p[6] = 0x40;
		p[8] = 64;
		p[9] = 17;
		p[15] = 1 + from->host;
		p[19] = 2 - from->host;
	}
	put_unaligned_be16(sroce_udp_sport(0, from->qpn, from->peer->qpn), p + ip);
	put_unaligned_be16(SROCE_UDP_PORT, p + ip + 2);
	put_unaligned_be16(udp_bytes, p + ip + 4);
}

static __le32 frame_icrc(const struct sim *sim, const u8 *p, u32 bytes)
{
	u32 ip = IP_BYTES(sim);
	u32 bth = ip + SROCE_UDP_BYTES;
	u32 crc = sroce_icrc_begin(p, sim->ipv6, p + ip, p + bth);

	return sroce_icrc_end(sroce_crc32(crc, p + bth + SROCE_BTH_BYTES,
					  bytes - bth - SROCE_BTH_BYTES - SROCE_ICRC_BYTES));
}

static struct frame *frame_make(struct sim *sim, const u8 *bytes, u32 n)
{
	struct frame *frame = sim_alloc(sim, sizeof(*frame) + n);

	frame->bytes = n;
	frame->hdr = IP_BYTES(sim) + SROCE_UDP_BYTES;
	memcpy(frame->data, bytes, n);
	return frame;
}

/* Nonsense from the peer, well wrapped. Returns the new length from the BTH on. */
static u32 make_hostile(struct sim *sim, u8 *bth, u32 bytes, u32 room)
{
	struct rng *rng = &sim->rng;
	u32 at;

	switch (rng_below(rng, 6)) {
	case 0:
		bth[0] = rng_u64(rng);
		break;
	case 1:
		put_unaligned_be24(get_unaligned_be24(bth + 9) + rng_range(rng, 0, 64) - 32,
				   bth + 9);
		break;
	case 2:		/* first byte after the BTH: the syndrome of an AETH */
		bth[12] = rng_u64(rng);
		break;
	case 3:
		at = rng_below(rng, min(bytes, 48u));
		bth[at] = rng_u64(rng);
		break;
	case 4:
		return rng_below(rng, bytes + 1);
	case 5:
		at = rng_range(rng, 1, 32);
		if (bytes + at > room)
			break;
		rng_fill(rng, bth + bytes, at);
		return bytes + at;
	}
	return bytes;
}

static struct frame *frame_build(struct end *from, struct sroce_pkt *pkt, const u8 *payload)
{
	struct sim *sim = from->sim;
	struct link *link = &sim->link[from->host];
	u8 buf[MAX_FRAME];
	u32 bth = IP_BYTES(sim) + SROCE_UDP_BYTES;
	u32 hdr = sroce_pkt_build(pkt, buf + bth);
	u32 n = hdr;
	__le32 icrc;

	CHECK(sim, hdr <= SROCE_MAX_HDR_BYTES && pkt->payload_bytes <= 4096, "packet too long");
	if (pkt->payload_bytes)
		memcpy(buf + bth + n, payload, pkt->payload_bytes);
	n += pkt->payload_bytes;
	memset(buf + bth + n, 0, pkt->pad);
	n += pkt->pad;
	CHECK(sim, n + SROCE_ICRC_BYTES == sroce_pkt_udp_payload(pkt), "lengths disagree");
	if (rng_chance(&sim->rng, link->hostile))
		n = max(make_hostile(sim, buf + bth, n, MAX_FRAME - bth - 8),
			(u32)SROCE_BTH_BYTES);
	put_ip_udp(sim, from, buf, n + SROCE_ICRC_BYTES);
	n += bth + SROCE_ICRC_BYTES;
	icrc = frame_icrc(sim, buf, n);
	memcpy(buf + n - SROCE_ICRC_BYTES, &icrc, SROCE_ICRC_BYTES);
	return frame_make(sim, buf, n);
}

/* Bits flip, or the end is missing. What the ICRC does not cover may change unseen. */
static struct frame *corrupted(struct sim *sim, const struct frame *frame)
{
	struct frame *bad = frame_make(sim, frame->data, frame->bytes);
	u32 i, flips = rng_range(&sim->rng, 1, 3);

	if (rng_percent(&sim->rng, 20)) {
		bad->bytes -= rng_range(&sim->rng, 1, bad->bytes);
		return bad;
	}
	for (i = 0; i < flips; i++)
		bad->data[rng_below(&sim->rng, bad->bytes)] ^= 1 << rng_below(&sim->rng, 8);
	return bad;
}

bool frame_is_marked(const struct sim *sim, const struct frame *frame)
{
	return (frame->data[1] >> (sim->ipv6 ? 4 : 0) & 3) == 3;
}

/* As the net shell does: lengths, headers, ICRC. */
bool frame_parse(struct end *to, const struct frame *frame, struct sroce_pkt *pkt,
		 const u8 **payload)
{
	struct sim *sim = to->sim;
	u32 ip = IP_BYTES(sim);
	const u8 *p = frame->data;
	u32 avail, udp;
	__le32 icrc;

	if (frame->bytes < frame->hdr)
		return false;
	udp = get_unaligned_be16(p + ip + 4);
	if (udp != frame->bytes - ip || udp < SROCE_UDP_BYTES)
		return false;
	udp -= SROCE_UDP_BYTES;
	avail = rng_percent(&sim->rng, 50) ? udp : min(udp, (u32)SROCE_MAX_HDR_BYTES);
	if (sroce_pkt_parse(p + frame->hdr, avail, udp, pkt) != SROCE_PARSE_OK)
		return false;
	icrc = frame_icrc(sim, p, frame->bytes);
	if (memcmp(&icrc, p + frame->bytes - SROCE_ICRC_BYTES, SROCE_ICRC_BYTES))
		return false;
	*payload = p + frame->hdr + pkt->hdr_bytes;
	return true;
}

/* ---- the way ---- */

/*
 * Bad luck has an end: with retry_cnt at 7 the link is perfect while an end has few
 * retries left, so that running out of them is never the link's fault alone. Where
 * nearly all is reordered, what is still on the way brings some NAKs more.
 */
bool link_is_healed(const struct sim *sim)
{
	bool turmoil = max(sim->link[0].path.reorder, sim->link[1].path.reorder) >= 200000;
	u32 i, few = turmoil ? 5 : 3;

	for (i = 0; i < sim->num_ends; i++)
		if (sim->end[i].req.retry_cnt == 7 && sim->end[i].req.retry_left <= few)
			return true;
	return false;
}

static bool is_lost(struct sim *sim, struct link *link)
{
	if (link->burst_left) {
		link->burst_left--;
		return true;
	}
	if (!rng_chance(&sim->rng, link->loss))
		return false;
	link->burst_left = rng_below(&sim->rng, link->burst);
	return true;
}

static void deliver(struct end *from, struct frame *frame, bool healed)
{
	struct sim *sim = from->sim;
	struct link *link = &sim->link[from->host];
	u64 at = link->free_at + link->path.delay;

	/* A router that is congested sets CE; the ICRC is none of its business. */
	if (rng_chance(&sim->rng, link->mark))
		frame->data[1] |= sim->ipv6 ? 0x30 : 0x03;
	if (!healed && rng_chance(&sim->rng, link->path.reorder)) {
		at += rng_below(&sim->rng, link->path.jitter + 1);
	} else {
		at = max(at, link->last_arrival + 1);
		link->last_arrival = at;
	}
	link->in_flight++;
	event_add(sim, at, EVENT_FRAME, from->peer, frame);
}

static const char *const op_names[32] = {
	"SEND_FIRST", "SEND_MIDDLE", "SEND_LAST", "SEND_LAST_IMM", "SEND_ONLY", "SEND_ONLY_IMM",
	"WRITE_FIRST", "WRITE_MIDDLE", "WRITE_LAST", "WRITE_LAST_IMM", "WRITE_ONLY",
	"WRITE_ONLY_IMM", "READ_REQUEST", "READ_RESP_FIRST", "READ_RESP_MIDDLE", "READ_RESP_LAST",
	"READ_RESP_ONLY", "ACK", "ATOMIC_ACK", "CMP_SWP", "FETCH_ADD", "?", "SEND_LAST_INV",
	"SEND_ONLY_INV", "?", "?", "?", "?", "FLUSH", "ATOMIC_WRITE", "?", "?",
};

const char *pkt_text(const struct sroce_pkt *pkt)
{
	static char text[160];
	u32 n;

	n = snprintf(text, sizeof(text), "%s psn %06x, %u bytes", op_names[pkt->opcode & 31],
		     pkt->psn, pkt->payload_bytes);
	if (pkt->headers & SROCE_H_AETH)
		n += snprintf(text + n, sizeof(text) - n, ", syndrome %02x msn %u", pkt->syndrome,
			      pkt->msn);
	if (pkt->headers & (SROCE_H_RETH | SROCE_H_ATOMICETH))
		n += snprintf(text + n, sizeof(text) - n, ", va %llx rkey %x len %u", pkt->va,
			      pkt->rkey, pkt->dma_bytes);
	if (pkt->ackreq)
		snprintf(text + n, sizeof(text) - n, ", AckReq");
	return text;
}

void link_send(struct end *from, struct sroce_pkt *pkt, const u8 *payload)
{
	struct sim *sim = from->sim;
	struct link *link = &sim->link[from->host];
	struct frame *frame = frame_build(from, pkt, payload);
	bool healed = link_is_healed(sim);

	sim->frames++;
	link->free_at = max(link->free_at, sim->now) + link->per_packet;
	link->intact = 0;
	link->corrupted = 0;
	if (link->dead || (!healed && is_lost(sim, link))) {
		sim->dropped++;
		sim_trace(sim, "%c -> %s LOST", 'A' + from->id, pkt_text(pkt));
		sim_free(sim, frame);
		return;
	}
	sim_trace(sim, "%c -> %s", 'A' + from->id, pkt_text(pkt));
	if (!healed && rng_chance(&sim->rng, link->dup)) {
		deliver(from, frame_make(sim, frame->data, frame->bytes), healed);
		link->intact++;
	}
	if (!healed && rng_chance(&sim->rng, link->corrupt)) {
		struct frame *bad = corrupted(sim, frame);

		sim_free(sim, frame);
		frame = bad;
		link->corrupted++;
	} else {
		link->intact++;
	}
	deliver(from, frame, healed);
}
