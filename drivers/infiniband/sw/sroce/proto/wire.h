/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A RoCEv2 packet between UDP header and ICRC: one host-order struct, filled
 * from the wire by sroce_pkt_parse() and written to it by sroce_pkt_build().
 */
#ifndef SROCE_PROTO_WIRE_H
#define SROCE_PROTO_WIRE_H

#include "opcode.h"
#include "psn.h"

#define SROCE_UDP_PORT		4791
#define SROCE_BTH_PSN		9		/* its offset */
#define SROCE_PKEY_DEFAULT	0xffff
#define SROCE_QKEY_GSI		0x80010000U
#define SROCE_QPN_GSI		1U
#define SROCE_QPN_MULTICAST	0xffffffU
#define SROCE_MAX_MSG_BYTES	(1U << 31)	/* IBA 9.7.6 */

/* AETH.syndrome (IBA 9.7.5.2.1) */
#define SROCE_AETH_TYPE_MASK	0x60
#define SROCE_AETH_ACK		0x00
#define SROCE_AETH_RNR_NAK	0x20
#define SROCE_AETH_RSVD		0x40
#define SROCE_AETH_NAK		0x60
#define SROCE_AETH_VALUE_MASK	0x1f
#define SROCE_AETH_NO_CREDITS	0x1f		/* credit field invalid: no flow control */
#define SROCE_NAK_PSN_SEQ	0x60
#define SROCE_NAK_INV_REQ	0x61
#define SROCE_NAK_REM_ACC	0x62
#define SROCE_NAK_REM_OP	0x63
#define SROCE_NAK_INV_RD_REQ	0x64

/**
 * struct sroce_pkt - one packet's headers, decoded, in host order
 * @opcode: BTH opcode byte
 * @flags: SROCE_F_* of the opcode
 * @headers: SROCE_H_* present
 * @hdr_bytes: BTH and extended headers
 * @payload_bytes: payload without pad and ICRC
 * @psn: BTH.PSN
 * @qpn: BTH.DestQP
 * @pkey: BTH.P_Key
 * @pad: BTH.PadCnt
 * @ackreq: BTH.A
 * @solicited: BTH.SE
 * @migreq: BTH.M; sent as 1 on all but CNPs
 * @fecn: BTH.FECN
 * @becn: BTH.BECN; sent as 1 on CNPs
 * @syndrome: AETH.syndrome
 * @msn: AETH.MSN
 * @va: RETH or AtomicETH virtual address
 * @rkey: RETH or AtomicETH R_Key
 * @dma_bytes: RETH.DMALen
 * @swap_add: AtomicETH.SwapData or AddData
 * @compare: AtomicETH.CompareData
 * @atomic_orig: AtomicAckETH.OriginalRemoteData
 * @imm: ImmDt, as it stands on the wire (opaque to us)
 * @inv_rkey: IETH.R_Key
 * @qkey: DETH.Q_Key
 * @src_qpn: DETH.SrcQP
 * @srqn: XRCETH.XRCSRQ
 * @feth: FETH, SROCE_FETH_*
 * @sack: SACKETH: bit 7 of the first byte is @psn + 2, bit 6 @psn + 3, and so on
 */
struct sroce_pkt {
	u8 opcode;
	u8 pad;
	u16 pkey;
	u32 flags;
	u32 headers;
	u16 hdr_bytes;
	u16 payload_bytes;
	u32 psn;
	u32 qpn;
	bool ackreq;
	bool solicited;
	bool migreq;
	bool fecn;
	bool becn;
	u8 syndrome;
	u32 msn;
	u64 va;
	u32 rkey;
	u32 dma_bytes;
	u64 swap_add;
	u64 compare;
	u64 atomic_orig;
	__be32 imm;
	u32 inv_rkey;
	u32 qkey;
	u32 src_qpn;
	u32 srqn;
	u32 feth;
	u8 sack[SROCE_SACKETH_BYTES];
};

#define SROCE_FETH_PLT_MASK	0x0000000f	/* placement: bit 0 visibility, bit 1 persistence */
#define SROCE_FETH_PLT_VISIBLE		BIT(0)
#define SROCE_FETH_PLT_PERSISTENT	BIT(1)
#define SROCE_FETH_SEL_SHIFT	4
#define SROCE_FETH_SEL_REGION	1
#define SROCE_FETH_SEL_MASK	0x00000030	/* 0: memory range, 1: whole MR */

/* Why a packet is dropped before it reaches a QP. */
enum sroce_parse_error {
	SROCE_PARSE_OK = 0,
	SROCE_PARSE_SHORT,		/* shorter than its headers, pad and ICRC */
	SROCE_PARSE_VERSION,		/* BTH.TVer is not 0 */
	SROCE_PARSE_OPCODE,		/* not defined for its transport */
	SROCE_PARSE_LENGTH,		/* payload where none may be, or a wrong fixed length */
	SROCE_PARSE_QPN,		/* DestQP 0 */
};

/**
 * sroce_pkt_parse - decode the headers of a received packet
 * @hdr: first bytes of the UDP payload
 * @hdr_avail: how many of them are at @hdr: the whole UDP payload or at least
 *	SROCE_MAX_HDR_BYTES of it
 * @udp_payload_bytes: length of the UDP payload: BTH ... ICRC
 * @pkt: result
 *
 * Pure; any context.
 */
enum sroce_parse_error sroce_pkt_parse(const u8 *hdr, u32 hdr_avail, u32 udp_payload_bytes,
				       struct sroce_pkt *pkt);

/**
 * sroce_pkt_build - write BTH and extended headers
 * @pkt: opcode and every field that its headers carry; @flags, @headers,
 *	@hdr_bytes and @pad are derived here from @opcode and @payload_bytes
 * @hdr: room for SROCE_MAX_HDR_BYTES
 *
 * Returns the number of bytes written.
 */
u32 sroce_pkt_build(struct sroce_pkt *pkt, u8 *hdr);

/**
 * sroce_pkt_row - MIDDLE packets that just continue a message
 * @pkt: the packet before them, of a SEND, WRITE or READ response; becomes the first of them
 * @bth: its BTH
 * @at: BTH of the first
 * @n: packets there are at most
 * @step: bytes of each, ICRC included, and from one to the next
 *
 * Returns how many of them differ from the packet before in nothing but opcode, PSN and
 * an AckReq that they do not have. 0: @pkt is nothing any more.
 */
u32 sroce_pkt_row(struct sroce_pkt *pkt, const u8 *bth, const u8 *at, u32 n, u32 step);

/* sroce_pkt_udp_payload - bytes from BTH to ICRC of a built packet */
static inline u32 sroce_pkt_udp_payload(const struct sroce_pkt *pkt)
{
	return pkt->hdr_bytes + pkt->payload_bytes + pkt->pad + SROCE_ICRC_BYTES;
}

/**
 * sroce_udp_sport - UDP source port of a flow (IBA A17.3.2.1)
 * @flow_label: of the address vector; 0: derived from the QP numbers
 * @lqpn: local QP number
 * @rqpn: remote QP number
 *
 * Returns a port in 0xC000 ... 0xFFFF, the same at both ends of a connection.
 */
u16 sroce_udp_sport(u32 flow_label, u32 lqpn, u32 rqpn);

/**
 * sroce_rnr_timer_ns - RNR NAK timer field to nanoseconds (IBA table 45)
 * @code: 5 bits
 */
u64 sroce_rnr_timer_ns(u8 code);

/**
 * sroce_ack_timeout_ns - local ACK timeout field to nanoseconds (IBA 9.7.6.1.3)
 * @code: 5 bits; 0 is infinite
 *
 * Returns 4.096 us * 2^code, or SROCE_NEVER.
 */
u64 sroce_ack_timeout_ns(u8 code);

/**
 * sroce_credits_encode - largest AETH credit code that promises no more than @n
 * @n: receive WQEs available
 */
u8 sroce_credits_encode(u32 n);

/**
 * sroce_credits_decode - AETH credit code to a number of messages
 * @code: 0 ... 0x1e
 */
u32 sroce_credits_decode(u8 code);

/* sroce_mtu_bytes - enum ib_mtu 1 ... 5 to bytes; 0 for any other value */
static inline u32 sroce_mtu_bytes(u32 ib_mtu)
{
	return ib_mtu >= 1 && ib_mtu <= 5 ? 128U << ib_mtu : 0;
}

/* sroce_pkey_match - IBA 10.9.3: same key, and not both limited members */
static inline bool sroce_pkey_match(u16 a, u16 b)
{
	return ((a ^ b) & 0x7fff) == 0 && (a & 0x7fff) != 0 && ((a | b) & 0x8000);
}

#endif /* SROCE_PROTO_WIRE_H */
