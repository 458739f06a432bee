// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the suites' proto/ files take from their surroundings, in the module.
 */
#include <linux/crc32.h>
#include <linux/module.h>

#include "../drivers/infiniband/sw/sroce/proto/base.h"

u32 sroce_crc32(u32 crc, const void *data, size_t bytes)
{
	return crc32_le(crc, data, bytes);
}

MODULE_DESCRIPTION("KUnit suites of the Soft-RoCEv2 protocol core");
MODULE_LICENSE("Dual BSD/GPL");
