/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Whole packets, from the IP header up to the ICRC, and their ICRC as it stands
 * on the wire. V1-V3 were captured from other implementations (as published by
 * scapy), G1-G8 computed by two independent programs.
 */
#ifndef SROCE_VECTORS_H
#define SROCE_VECTORS_H

struct vector {
	const char *name;
	const char *about;
	bool ipv6;
	const char *packet;	/* hexadecimal */
	const char *icrc;
};

static const struct vector vectors[] = {
	{ "V1", "CNP of a ConnectX-4 Lx", false,
	  "45c2003c718c4000401191610a0011010a001201"
	  "000012b700280000"
	  "8100ffff4000011800000000"
	  "00000000000000000000000000000000",
	  "82fd002a" },
	{ "V2", "UC SEND_ONLY, two pad bytes", false,
	  "45010040047840004011b4d5c0a80007c0a80007"
	  "c00012b7002caca2"
	  "2460ffff000000d300cf1710"
	  "4630818be28935d90e9a95505401be885e500000",
	  "78f353f3" },
	{ "V3", "UC SEND_ONLY over IPv6", true,
	  "6e21face002c11ff2022000000000000000000000000102320230000000000000000000000001024"
	  "c00012b7002ce7c5"
	  "2460ffff000000d300cf1710"
	  "4630818be28935d90e9a95505401be885e500000",
	  "3e5b743b" },
	{ "G1", "SEND_ONLY, ECT(0)", false,
	  "45020038123440004011932bc0a80a01c0a80a02"
	  "c13212b700240000"
	  "04f0ffff0000001180000100"
	  "010203040506070809000000",
	  "4a273798" },
	{ "G1ce", "G1 after a router: CE, TTL", false,
	  "45030038123440003f11942ac0a80a01c0a80a02"
	  "c13212b700240000"
	  "04f0ffff0000001180000100"
	  "010203040506070809000000",
	  "4a273798" },
	{ "G2", "WRITE_ONLY", false,
	  "450200401235400040119322c0a80a01c0a80a02"
	  "c13212b7002c0000"
	  "0a40ffff0000001180000101"
	  "00007f00000010001234567800000004deadbeef",
	  "defddfaa" },
	{ "G3", "ACK", false,
	  "450200302000400040118567c0a80a02c0a80a01"
	  "c13212b7001c0000"
	  "1140ffff0000001200000101"
	  "1f000002",
	  "436b5312" },
	{ "G4", "NAK, PSN sequence error", false,
	  "450200302001400040118566c0a80a02c0a80a01"
	  "c13212b7001c0000"
	  "1140ffff0000001200000102"
	  "60000002",
	  "f0aa2628" },
	{ "G5", "CNP", false,
	  "45c0003c200240004011849bc0a80a02c0a80a01"
	  "c13212b700280000"
	  "8100ffff4000001200000000"
	  "00000000000000000000000000000000",
	  "3a1afa61" },
	{ "G6", "READ_REQUEST over IPv6", true,
	  "6021234500281140fe800000000000000000000000000001fe800000000000000000000000000002"
	  "e34112b700280000"
	  "0c40ffff0000001180000103"
	  "00007f00000020001234567800002000",
	  "fb1bb49e" },
	{ "G7", "CNP over IPv6", true,
	  "6c01234500281140fe800000000000000000000000000002fe800000000000000000000000000001"
	  "e34112b700280000"
	  "8100ffff4000001200000000"
	  "00000000000000000000000000000000",
	  "d4c8ee8e" },
	{ "G8", "UD SEND_ONLY to QP1", false,
	  "45000038200340004011855ec0a80a01c0a80a02"
	  "c00012b700240000"
	  "6440ffff0000000100000007"
	  "800100000000000100000000",
	  "4893691f" },
};

#define VECTOR_MAX_BYTES	128

static inline int vector_digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* vector_bytes - hexadecimal to bytes; returns how many */
static inline u32 vector_bytes(const char *hex, u8 *to)
{
	u32 n = 0;

	for (; hex[0] && hex[1]; hex += 2)
		to[n++] = vector_digit(hex[0]) << 4 | vector_digit(hex[1]);
	return n;
}

/* vector_bth - the bytes of vector @name from the BTH on; returns how many */
static inline u32 vector_bth(const char *name, u8 *to)
{
	u32 i, n, skip;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		if (strcmp(vectors[i].name, name))
			continue;
		n = vector_bytes(vectors[i].packet, to);
		skip = (vectors[i].ipv6 ? 40 : 20) + 8;
		memmove(to, to + skip, n - skip);
		return n - skip;
	}
	return 0;
}

#endif /* SROCE_VECTORS_H */
