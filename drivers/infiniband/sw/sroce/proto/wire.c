// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "wire.h"

/* BTH byte 1 */
#define BTH_SE			0x80
#define BTH_MIGREQ		0x40
#define BTH_PAD_SHIFT		4
#define BTH_PAD_MASK		0x30
#define BTH_TVER_MASK		0x0f
/* BTH byte 4 */
#define BTH_FECN		0x80
#define BTH_BECN		0x40
/* BTH byte 8 */
#define BTH_ACKREQ		0x80

static const u8 *parse_bth(const u8 *p, struct sroce_pkt *pkt)
{
	pkt->opcode = p[0];
	pkt->solicited = p[1] & BTH_SE;
	pkt->migreq = p[1] & BTH_MIGREQ;
	pkt->pad = (p[1] & BTH_PAD_MASK) >> BTH_PAD_SHIFT;
	pkt->pkey = get_unaligned_be16(p + 2);
	pkt->fecn = p[4] & BTH_FECN;
	pkt->becn = p[4] & BTH_BECN;
	pkt->qpn = get_unaligned_be24(p + 5);
	pkt->ackreq = p[8] & BTH_ACKREQ;
	pkt->psn = get_unaligned_be24(p + 9);
	return p + SROCE_BTH_BYTES;
}

static const u8 *parse_reth(const u8 *p, struct sroce_pkt *pkt)
{
	pkt->va = get_unaligned_be64(p);
	pkt->rkey = get_unaligned_be32(p + 8);
	pkt->dma_bytes = get_unaligned_be32(p + 12);
	return p + SROCE_RETH_BYTES;
}

static const u8 *parse_atomiceth(const u8 *p, struct sroce_pkt *pkt)
{
	pkt->va = get_unaligned_be64(p);
	pkt->rkey = get_unaligned_be32(p + 8);
	pkt->swap_add = get_unaligned_be64(p + 12);
	pkt->compare = get_unaligned_be64(p + 20);
	return p + SROCE_ATOMICETH_BYTES;
}

static void parse_extended(const u8 *p, struct sroce_pkt *pkt)
{
	u32 headers = pkt->headers;

	if (headers & SROCE_H_XRCETH) {
		pkt->srqn = get_unaligned_be24(p + 1);
		p += SROCE_XRCETH_BYTES;
	}
	if (headers & SROCE_H_DETH) {
		pkt->qkey = get_unaligned_be32(p);
		pkt->src_qpn = get_unaligned_be24(p + 5);
		p += SROCE_DETH_BYTES;
	}
	if (headers & SROCE_H_FETH) {
		pkt->feth = get_unaligned_be32(p);
		p += SROCE_FETH_BYTES;
	}
	if (headers & SROCE_H_RETH)
		p = parse_reth(p, pkt);
	if (headers & SROCE_H_ATOMICETH)
		p = parse_atomiceth(p, pkt);
	if (headers & SROCE_H_AETH) {
		pkt->syndrome = p[0];
		pkt->msn = get_unaligned_be24(p + 1);
		p += SROCE_AETH_BYTES;
	}
	if (headers & SROCE_H_ATOMICACKETH) {
		pkt->atomic_orig = get_unaligned_be64(p);
		p += SROCE_ATOMICACKETH_BYTES;
	}
	if (headers & SROCE_H_IMMDT) {
		memcpy(&pkt->imm, p, sizeof(pkt->imm));
		p += SROCE_IMMDT_BYTES;
	}
	if (headers & SROCE_H_IETH)
		pkt->inv_rkey = get_unaligned_be32(p);
	if (headers & SROCE_H_SACKETH)
		memcpy(pkt->sack, p, sizeof(pkt->sack));
}

/* Lengths that the opcode alone determines; those that need the MTU are checked by the QP. */
static bool payload_fits(const struct sroce_pkt *pkt)
{
	if (pkt->flags & SROCE_F_CNP)
		return pkt->payload_bytes == SROCE_CNP_PAYLOAD_BYTES;
	if (!(pkt->flags & SROCE_F_PAYLOAD))
		return pkt->payload_bytes == 0 && pkt->pad == 0;
	return true;
}

enum sroce_parse_error sroce_pkt_parse(const u8 *hdr, u32 hdr_avail, u32 udp_payload_bytes,
				       struct sroce_pkt *pkt)
{
	u32 overhead;

	memset(pkt, 0, sizeof(*pkt));
	if (udp_payload_bytes > U16_MAX || udp_payload_bytes < SROCE_BTH_BYTES + SROCE_ICRC_BYTES ||
	    hdr_avail < SROCE_BTH_BYTES)
		return SROCE_PARSE_SHORT;
	if (hdr[1] & BTH_TVER_MASK)
		return SROCE_PARSE_VERSION;

	parse_bth(hdr, pkt);
	pkt->flags = sroce_opcode_flags(pkt->opcode);
	if (!pkt->flags)
		return SROCE_PARSE_OPCODE;
	pkt->headers = sroce_opcode_headers(pkt->opcode);
	pkt->hdr_bytes = sroce_headers_bytes(pkt->headers);
	overhead = pkt->hdr_bytes + pkt->pad + SROCE_ICRC_BYTES;
	if (udp_payload_bytes < overhead || hdr_avail < pkt->hdr_bytes)
		return SROCE_PARSE_SHORT;
	pkt->payload_bytes = udp_payload_bytes - overhead;
	if (!payload_fits(pkt))
		return SROCE_PARSE_LENGTH;
	if (!pkt->qpn)
		return SROCE_PARSE_QPN;
	parse_extended(hdr + SROCE_BTH_BYTES, pkt);
	return SROCE_PARSE_OK;
}

static u8 *build_bth(const struct sroce_pkt *pkt, u8 *p)
{
	p[0] = pkt->opcode;
	p[1] = (pkt->solicited ? BTH_SE : 0) | (pkt->migreq ? BTH_MIGREQ : 0) |
	       pkt->pad << BTH_PAD_SHIFT;
	put_unaligned_be16(pkt->pkey, p + 2);
	p[4] = (pkt->fecn ? BTH_FECN : 0) | (pkt->becn ? BTH_BECN : 0);
	put_unaligned_be24(pkt->qpn, p + 5);
	p[8] = pkt->ackreq ? BTH_ACKREQ : 0;
	put_unaligned_be24(pkt->psn, p + 9);
	return p + SROCE_BTH_BYTES;
}

static u8 *build_reth(const struct sroce_pkt *pkt, u8 *p)
{
	put_unaligned_be64(pkt->va, p);
	put_unaligned_be32(pkt->rkey, p + 8);
	put_unaligned_be32(pkt->dma_bytes, p + 12);
	return p + SROCE_RETH_BYTES;
}

static u8 *build_atomiceth(const struct sroce_pkt *pkt, u8 *p)
{
	put_unaligned_be64(pkt->va, p);
	put_unaligned_be32(pkt->rkey, p + 8);
	put_unaligned_be64(pkt->swap_add, p + 12);
	put_unaligned_be64(pkt->compare, p + 20);
	return p + SROCE_ATOMICETH_BYTES;
}

static u8 *build_deth(const struct sroce_pkt *pkt, u8 *p)
{
	put_unaligned_be32(pkt->qkey, p);
	put_unaligned_be32(pkt->src_qpn, p + 4);
	return p + SROCE_DETH_BYTES;
}

static u8 *build_extended(const struct sroce_pkt *pkt, u8 *p)
{
	u32 headers = pkt->headers;

	if (headers & SROCE_H_XRCETH) {
		put_unaligned_be32(pkt->srqn, p);
		p += SROCE_XRCETH_BYTES;
	}
	if (headers & SROCE_H_DETH)
		p = build_deth(pkt, p);
	if (headers & SROCE_H_FETH) {
		put_unaligned_be32(pkt->feth, p);
		p += SROCE_FETH_BYTES;
	}
	if (headers & SROCE_H_RETH)
		p = build_reth(pkt, p);
	if (headers & SROCE_H_ATOMICETH)
		p = build_atomiceth(pkt, p);
	if (headers & SROCE_H_AETH) {
		p[0] = pkt->syndrome;
		put_unaligned_be24(pkt->msn, p + 1);
		p += SROCE_AETH_BYTES;
	}
	if (headers & SROCE_H_ATOMICACKETH) {
		put_unaligned_be64(pkt->atomic_orig, p);
		p += SROCE_ATOMICACKETH_BYTES;
	}
	if (headers & SROCE_H_IMMDT) {
		memcpy(p, &pkt->imm, sizeof(pkt->imm));
		p += SROCE_IMMDT_BYTES;
	}
	if (headers & SROCE_H_IETH) {
		put_unaligned_be32(pkt->inv_rkey, p);
		p += SROCE_IETH_BYTES;
	}
	if (headers & SROCE_H_SACKETH) {
		memcpy(p, pkt->sack, sizeof(pkt->sack));
		p += SROCE_SACKETH_BYTES;
	}
	return p;
}

u32 sroce_pkt_build(struct sroce_pkt *pkt, u8 *hdr)
{
	u8 *end;

	pkt->flags = sroce_opcode_flags(pkt->opcode);
	pkt->headers = sroce_opcode_headers(pkt->opcode);
	pkt->pad = -pkt->payload_bytes & 3;
	end = build_extended(pkt, build_bth(pkt, hdr));
	pkt->hdr_bytes = end - hdr;
	return pkt->hdr_bytes;
}

static u8 middle_op(const struct sroce_pkt *pkt)
{
	if (pkt->flags & SROCE_F_READ_RESP)
		return SROCE_OP_READ_RESP_MIDDLE;
	return pkt->flags & SROCE_F_SEND ? SROCE_OP_SEND_MIDDLE : SROCE_OP_WRITE_MIDDLE;
}

u32 sroce_pkt_row(struct sroce_pkt *pkt, const u8 *bth, const u8 *at, u32 n, u32 step)
{
	u8 opcode = (pkt->opcode & SROCE_TRANSPORT_MASK) | middle_op(pkt);
	u32 i, psn = sroce_psn_add(pkt->psn, 1);
	u64 alike;

	pkt->opcode = opcode;
	pkt->flags = sroce_opcode_flags(opcode);
	pkt->headers = sroce_opcode_headers(opcode);
	if (pkt->headers || step <= SROCE_BTH_BYTES + SROCE_ICRC_BYTES)
		return 0;
	pkt->hdr_bytes = SROCE_BTH_BYTES;
	pkt->payload_bytes = step - SROCE_BTH_BYTES - SROCE_ICRC_BYTES;
	pkt->psn = psn;
	pkt->ackreq = false;

	/* All up to the DestQP is as it was, and nothing but the PSN follows: no AckReq. */
	alike = (get_unaligned_be64(bth) << 8 >> 8) | (u64)opcode << 56;
	for (i = 0; i < n; i++, at += step, psn = sroce_psn_add(psn, 1))
		if (get_unaligned_be64(at) != alike || get_unaligned_be32(at + 8) != psn)
			break;
	return i;
}

u16 sroce_udp_sport(u32 flow_label, u32 lqpn, u32 rqpn)
{
	u32 label = flow_label & 0xfffff;

	if (!label) {
		u64 v = (u64)lqpn * rqpn;

		v ^= v >> 20;
		v ^= v >> 40;
		label = v & 0xfffff;
	}
	return ((label & 0x3fff) ^ ((label & 0xfc000) >> 14)) | 0xc000;
}

u64 sroce_rnr_timer_ns(u8 code)
{
	/* Units of 10 us: the codes go in pairs, 2 and 3 times a power of two. */
	u32 c = code & 0x1f;
	u64 units;

	if (c == 0)
		units = 65536;
	else if (c == 1)
		units = 1;
	else
		units = (u64)(c & 1 ? 3 : 2) << (c / 2 - 1);
	return units * 10 * SROCE_NS_PER_US;
}

u64 sroce_ack_timeout_ns(u8 code)
{
	return code & 0x1f ? 4096ULL << (code & 0x1f) : SROCE_NEVER;
}

u32 sroce_credits_decode(u8 code)
{
	u32 c = code & 0x1f;

	/* 0 1 2 3 4 6 8 12 16 24 ...: from 2 on, 2 and 3 times a power of two */
	if (c < 2)
		return c;
	return (c & 1 ? 3U : 2U) << (c / 2 - 1);
}

u8 sroce_credits_encode(u32 n)
{
	u8 code = 0;

	while (code < SROCE_AETH_NO_CREDITS - 1 && sroce_credits_decode(code + 1) <= n)
		code++;
	return code;
}
