/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel's accelerated CRC-32; sroce_crc32() itself is declared in proto/base.h.
 */
#ifndef SROCE_COMPAT_CRC32_H
#define SROCE_COMPAT_CRC32_H

#ifdef SROCE_COMPAT_CRC32_SHASH
void sroce_crc32_init(void);
void sroce_crc32_exit(void);
#else
static inline void sroce_crc32_init(void) {}
static inline void sroce_crc32_exit(void) {}
#endif

#endif /* SROCE_COMPAT_CRC32_H */
