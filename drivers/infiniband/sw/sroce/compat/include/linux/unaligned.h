/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifdef SROCE_COMPAT_ASM_UNALIGNED
#include <asm/unaligned.h>
#else
#include_next <linux/unaligned.h>
#endif
