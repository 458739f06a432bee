// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "icrc.h"

/* CRC register after the eight bytes of ones that stand for the LRH. */
#define CRC_AFTER_LRH	0xdebb20e3U

static u32 mask_ipv4(const u8 *ip, u8 *to)
{
	memcpy(to, ip, SROCE_IPV4_BYTES);
	to[1] = 0xff;			/* TOS */
	to[8] = 0xff;			/* TTL */
	to[10] = 0xff;			/* header checksum */
	to[11] = 0xff;
	return SROCE_IPV4_BYTES;
}

static u32 mask_ipv6(const u8 *ip, u8 *to)
{
	memcpy(to, ip, SROCE_IPV6_BYTES);
	to[0] |= 0x0f;			/* traffic class and flow label */
	to[1] = 0xff;
	to[2] = 0xff;
	to[3] = 0xff;
	to[7] = 0xff;			/* hop limit */
	return SROCE_IPV6_BYTES;
}

u32 sroce_icrc_mask(const u8 *ip, bool ipv6, const u8 *udp, const u8 *bth, u8 *masked)
{
	u32 n = ipv6 ? mask_ipv6(ip, masked) : mask_ipv4(ip, masked);

	memcpy(masked + n, udp, SROCE_UDP_BYTES);
	masked[n + 6] = 0xff;		/* UDP checksum */
	masked[n + 7] = 0xff;
	n += SROCE_UDP_BYTES;
	memcpy(masked + n, bth, SROCE_BTH_BYTES);
	masked[n + 4] = 0xff;		/* FECN, BECN, reserved */
	return n + SROCE_BTH_BYTES;
}

u32 sroce_icrc_masked(const u8 *masked, u32 bytes)
{
	return sroce_crc32(CRC_AFTER_LRH, masked, bytes);
}

u32 sroce_icrc_begin(const u8 *ip, bool ipv6, const u8 *udp, const u8 *bth)
{
	u8 masked[SROCE_ICRC_MAX_MASKED];

	return sroce_icrc_masked(masked, sroce_icrc_mask(ip, ipv6, udp, bth, masked));
}
