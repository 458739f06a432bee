/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The invariant CRC (IBA 7.8.1, A17.3.3): CRC-32 over eight bytes of ones in
 * place of the LRH, then IP header, UDP header and BTH with the fields that may
 * change on the way taken as ones, then everything up to the ICRC.
 */
#ifndef SROCE_PROTO_ICRC_H
#define SROCE_PROTO_ICRC_H

#include "opcode.h"

#define SROCE_IPV4_BYTES	20
#define SROCE_IPV6_BYTES	40
#define SROCE_UDP_BYTES		8

/* IP, UDP and BTH */
#define SROCE_ICRC_MAX_MASKED	(SROCE_IPV6_BYTES + SROCE_UDP_BYTES + SROCE_BTH_BYTES)

/**
 * sroce_icrc_begin - CRC register after IP, UDP and BTH
 * @ip: IPv4 (20 bytes, no options) or IPv6 header, with its final lengths and
 *	identification
 * @ipv6: which
 * @udp: UDP header with its final length
 * @bth: SROCE_BTH_BYTES of BTH
 *
 * Continue with sroce_crc32() over extended headers, payload and pad.
 */
u32 sroce_icrc_begin(const u8 *ip, bool ipv6, const u8 *udp, const u8 *bth);

/**
 * sroce_icrc_mask - the headers as the CRC takes them
 * @ip: as of sroce_icrc_begin(), and so are the next three
 * @ipv6: which
 * @udp: UDP header
 * @bth: BTH
 * @masked: room for SROCE_ICRC_MAX_MASKED; the BTH comes last, the IP header first
 *
 * Where packets are alike, one copy serves them all: lengths, identification and PSN
 * stand in it as they do in the headers. Returns the number of bytes.
 */
u32 sroce_icrc_mask(const u8 *ip, bool ipv6, const u8 *udp, const u8 *bth, u8 *masked);

/* sroce_icrc_masked - CRC register after headers that sroce_icrc_mask() has made */
u32 sroce_icrc_masked(const u8 *masked, u32 bytes);

/* sroce_icrc_end - CRC register to the value on the wire (least significant byte first) */
static inline __le32 sroce_icrc_end(u32 crc)
{
	return cpu_to_le32(~crc);
}

#endif /* SROCE_PROTO_ICRC_H */
