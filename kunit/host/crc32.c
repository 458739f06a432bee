// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <zlib.h>

#include "base.h"

/* zlib inverts the register on the way in and out; proto/ wants it as it is. */
u32 sroce_crc32(u32 crc, const void *data, size_t bytes)
{
	return ~(u32)crc32(~crc, data, bytes);
}
