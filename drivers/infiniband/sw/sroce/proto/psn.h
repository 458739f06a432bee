/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * 24-bit packet and message sequence numbers (IBA 9.7.1). All values in u32,
 * always reduced to 24 bits; distances are signed and lie in [-2^23, 2^23).
 */
#ifndef SROCE_PROTO_PSN_H
#define SROCE_PROTO_PSN_H

#include "base.h"

#define SROCE_PSN_MASK		0xffffffU
#define SROCE_PSN_WINDOW	(1U << 23)	/* IBA 9.7.3.1: at most this many outstanding */

static inline u32 sroce_psn_add(u32 psn, u32 n)
{
	return (psn + n) & SROCE_PSN_MASK;
}

/* sroce_psn_diff - circular a - b */
static inline s32 sroce_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

/* sroce_psn_in - is @psn in the half-open range [@first, @first + @n)? */
static inline bool sroce_psn_in(u32 psn, u32 first, u32 n)
{
	return ((psn - first) & SROCE_PSN_MASK) < n;
}

#endif /* SROCE_PROTO_PSN_H */
