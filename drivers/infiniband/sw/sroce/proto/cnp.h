/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Congestion notification packets (IBA A17.9.3). A packet whose IP header says
 * "congestion experienced" makes the receiver send one to the QP that the packet
 * came from: the notification point.
 */
#ifndef SROCE_PROTO_CNP_H
#define SROCE_PROTO_CNP_H

#include "wire.h"

/**
 * struct sroce_np - notification point of one flow
 * @last_ns: when the last CNP was sent
 * @sent: one was sent at all
 */
struct sroce_np {
	u64 last_ns;
	bool sent;
};

/**
 * sroce_np_may_be_due - may a CNP be due? May be asked without the lock of sroce_np_due()
 * @np: notification point of its flow
 * @interval_ns: as for sroce_np_due()
 * @now_ns: current time
 *
 * "No" is final: the last CNP can only have been later than what is read here. "Yes"
 * has to be asked again with sroce_np_due().
 */
static inline bool sroce_np_may_be_due(const struct sroce_np *np, u64 interval_ns, u64 now_ns)
{
	/* Two CPUs may tell the time in either order. */
	return !READ_ONCE(np->sent) ||
	       (s64)(now_ns - READ_ONCE(np->last_ns)) >= (s64)interval_ns;
}

/**
 * sroce_np_due - a marked packet came: is a CNP to be sent?
 * @np: notification point of its flow
 * @interval_ns: CNPs come at most so often; 0: for each mark
 * @now_ns: current time
 *
 * The first mark after the interval has one sent at once; nothing is sent when the
 * interval ends (CA17-44: one CNP may stand for many marks).
 */
static inline bool sroce_np_due(struct sroce_np *np, u64 interval_ns, u64 now_ns)
{
	if (!sroce_np_may_be_due(np, interval_ns, now_ns))
		return false;
	WRITE_ONCE(np->last_ns, now_ns);
	WRITE_ONCE(np->sent, true);
	return true;
}

/* sroce_np_reset - no CNP was sent yet */
static inline void sroce_np_reset(struct sroce_np *np)
{
	WRITE_ONCE(np->sent, false);
}

/**
 * sroce_cnp_wanted - may this packet, marked, be answered by a CNP?
 * @pkt: decoded packet
 * @on_ack: packets without payload that only acknowledge may
 *
 * CA17-44 says any valid packet. A CNP never: the answers would go on for ever.
 */
static inline bool sroce_cnp_wanted(const struct sroce_pkt *pkt, bool on_ack)
{
	if (pkt->flags & SROCE_F_CNP)
		return false;
	return on_ack || !(pkt->flags & SROCE_F_RESPONSE) || pkt->flags & SROCE_F_PAYLOAD;
}

/**
 * sroce_cnp_fill - header fields of a CNP (IBA figure A17-6)
 * @pkt: result
 * @dest_qpn: QP that sent the marked packet
 * @pkey: P_Key of the marked packet
 *
 * BECN is reserved in the standard and set by real NICs; its byte is outside of
 * the ICRC. The SROCE_CNP_PAYLOAD_BYTES of payload are zero.
 */
static inline void sroce_cnp_fill(struct sroce_pkt *pkt, u32 dest_qpn, u16 pkey)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = SROCE_OPCODE_CNP;
	pkt->becn = true;
	pkt->qpn = dest_qpn;
	pkt->pkey = pkey;
	pkt->payload_bytes = SROCE_CNP_PAYLOAD_BYTES;
}

#endif /* SROCE_PROTO_CNP_H */
