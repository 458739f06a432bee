// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * limit -- how fast this machine copies memory, and copies it and takes the CRC-32 of it: what no data
 * path that does these in software can exceed. zlib's CRC stands for the kernel's. Blocks of 1 KiB from
 * and to 1 MiB.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BYTES	(1U << 20)
#define BLOCK	1024
#define RUN_NS	300000000ULL

/* Debian's package of zlib's header is not in the test machine. */
unsigned long crc32(unsigned long crc, const unsigned char *buf, unsigned int len);

static uint8_t from[BYTES], to[BYTES];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void measure(const char *name, int with_crc)
{
	uint64_t start, t, bytes = 0;
	volatile unsigned long crc = 0;
	unsigned int i;

	memset(from, 1, sizeof(from));
	memset(to, 2, sizeof(to));
	start = now();
	do {
		for (i = 0; i < BYTES; i += BLOCK) {
			memcpy(to + i, from + i, BLOCK);
			if (with_crc)
				crc = crc32(0, to + i, BLOCK);
			__asm__ volatile("" : : "r"(to) : "memory");
		}
		bytes += BYTES;
		t = now();
	} while (t - start < RUN_NS);
	(void)crc;
	printf("bw %s %u 1 1 bytes_s=%.0f\n", name, BLOCK, bytes * 1e9 / (t - start));
}

int main(void)
{
	measure("memcpy", 0);
	measure("memcpy+crc32", 1);
	return 0;
}
