// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC-32. Since 6.14 the library is accelerated. Before, only the crypto API's
 * "crc32" is; it may be absent (a small initramfs, a kernel without it), then
 * the library does it with tables.
 */
#include <crypto/hash.h>
#include <linux/crc32.h>
#include <linux/module.h>

#include "../proto/base.h"
#include "crc32.h"

#ifndef SROCE_COMPAT_CRC32_SHASH

u32 sroce_crc32(u32 crc, const void *data, size_t bytes)
{
	return crc32_le(crc, data, bytes);
}

#else

MODULE_SOFTDEP("pre: crc32");

/* Below this the calls cost more than the instructions save. */
#define SHASH_MIN_BYTES		64

static struct crypto_shash *tfm;

void sroce_crc32_init(void)
{
	struct crypto_shash *found = crypto_alloc_shash("crc32", 0, 0);

	if (IS_ERR(found)) {
		pr_notice("no crc32 in the crypto API: checksums will be slow\n");
		return;
	}
	/* sroce_crc32() keeps the state of the hash on the stack and puts the CRC into it. */
	if (crypto_shash_descsize(found) == sizeof(u32))
		tfm = found;
	else
		crypto_free_shash(found);
}

void sroce_crc32_exit(void)
{
	crypto_free_shash(tfm);
	tfm = NULL;
}

/* SHASH_DESC_ON_STACK() has room for any hash, and a kernel may zero what is on the stack. */
static u32 crc32_shash(u32 crc, const void *data, unsigned int bytes)
{
	u8 room[sizeof(struct shash_desc) + sizeof(u32)] __aligned(__alignof__(struct shash_desc));
	struct shash_desc *desc = (struct shash_desc *)room;
	u32 *state = shash_desc_ctx(desc);

	desc->tfm = tfm;
	*state = crc;
	if (crypto_shash_update(desc, data, bytes))
		return crc32_le(crc, data, bytes);
	return *state;
}

u32 sroce_crc32(u32 crc, const void *data, size_t bytes)
{
	if (!tfm || bytes < SHASH_MIN_BYTES || bytes > UINT_MAX)
		return crc32_le(crc, data, bytes);
	return crc32_shash(crc, data, bytes);
}

#endif
