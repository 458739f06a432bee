/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What proto/ may use of its surroundings: types, byte order, bits. No skb, no
 * lock, no allocation, no clock, no ib_core object. In the kernel these are the
 * kernel's own headers, on the host kunit/host/shim.h provides the same names.
 */
#ifndef SROCE_PROTO_BASE_H
#define SROCE_PROTO_BASE_H

#ifdef __KERNEL__
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>
#else
#include "shim.h"
#endif

/**
 * sroce_crc32 - continue a reflected CRC-32 (polynomial 0xedb88320), no final inversion
 * @crc: the register so far (start with ~0)
 * @data: bytes
 * @bytes: how many
 *
 * Supplied by the surroundings: the kernel's accelerated CRC, zlib on the host.
 */
u32 sroce_crc32(u32 crc, const void *data, size_t bytes);

#define SROCE_NEVER	U64_MAX		/* a deadline that is not armed */
#define SROCE_NS_PER_US	1000ULL

#endif /* SROCE_PROTO_BASE_H */
