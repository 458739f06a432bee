// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/icrc.c"

#include "vectors.h"

struct packet {
	u8 bytes[VECTOR_MAX_BYTES];
	u32 n;
	bool ipv6;
	u32 bth;		/* where it begins */
};

static void load(struct packet *p, const struct vector *v)
{
	p->n = vector_bytes(v->packet, p->bytes);
	p->ipv6 = v->ipv6;
	p->bth = (v->ipv6 ? SROCE_IPV6_BYTES : SROCE_IPV4_BYTES) + SROCE_UDP_BYTES;
}

static u32 icrc_of(const struct packet *p)
{
	u32 crc = sroce_icrc_begin(p->bytes, p->ipv6, p->bytes + p->bth - SROCE_UDP_BYTES,
				   p->bytes + p->bth);
	u32 rest = p->bth + SROCE_BTH_BYTES;

	return ~sroce_crc32(crc, p->bytes + rest, p->n - rest);
}

static void vector_desc(const struct vector *v, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s: %s", v->name, v->about);
}

KUNIT_ARRAY_PARAM(vector, vectors, vector_desc);

static void icrc__vector(struct kunit *test)
{
	const struct vector *v = test->param_value;
	struct packet p;
	u8 want[4];
	__le32 wire;
	u32 crc;

	load(&p, v);
	KUNIT_EXPECT_EQ(test, vector_bytes(v->icrc, want), 4u);
	crc = sroce_icrc_begin(p.bytes, p.ipv6, p.bytes + p.bth - SROCE_UDP_BYTES,
			       p.bytes + p.bth);
	crc = sroce_crc32(crc, p.bytes + p.bth + SROCE_BTH_BYTES,
			  p.n - p.bth - SROCE_BTH_BYTES);
	wire = sroce_icrc_end(crc);
	EXPECT_BYTES(test, &wire, want, 4);
}

/* May this bit change on the way (IBA A17.3.3)? */
static bool is_masked(const struct packet *p, u32 bit)
{
	u32 byte = bit / 8;

	if (byte == p->bth - 2 || byte == p->bth - 1)	/* UDP checksum */
		return true;
	if (byte == p->bth + 4)				/* FECN, BECN, reserved */
		return true;
	if (!p->ipv6)					/* TOS, TTL, checksum */
		return byte == 1 || byte == 8 || byte == 10 || byte == 11;
	/* Traffic class and flow label (the version is covered), hop limit. */
	return (bit >= 4 && bit < 32) || byte == 7;
}

/* Every bit of every vector: masked ones do not matter, all others do. */
static void icrc__each_bit(struct kunit *test)
{
	const struct vector *v = test->param_value;
	struct packet p;
	u32 bit, good;

	load(&p, v);
	good = icrc_of(&p);
	for (bit = 0; bit < p.n * 8; bit++) {
		u8 mask = 0x80 >> (bit % 8);

		p.bytes[bit / 8] ^= mask;
		KUNIT_EXPECT_EQ(test, icrc_of(&p) == good, is_masked(&p, bit));
		p.bytes[bit / 8] ^= mask;
	}
}

static void icrc_begin__leaves_the_packet(struct kunit *test)
{
	const struct vector *v = test->param_value;
	struct packet p, before;

	load(&p, v);
	memcpy(&before, &p, sizeof(p));
	icrc_of(&p);
	EXPECT_BYTES(test, p.bytes, before.bytes, p.n);
}

static void crc32__register_after_the_lrh(struct kunit *test)
{
	static const u8 ones[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	KUNIT_EXPECT_EQ(test, sroce_crc32(~0U, ones, 8), 0xdebb20e3U);
}

static void crc32__check_value(struct kunit *test)
{
	u32 crc = sroce_crc32(~0U, "1234", 4);

	KUNIT_EXPECT_EQ(test, ~sroce_crc32(crc, "56789", 5), 0xcbf43926U);
	KUNIT_EXPECT_EQ(test, sroce_crc32(0x12345678, "", 0), 0x12345678U);
}

static void icrc_end__least_significant_first(struct kunit *test)
{
	__le32 wire = sroce_icrc_end(~0x04030201U);
	const u8 *p = (const u8 *)&wire;

	KUNIT_EXPECT_EQ(test, p[0], 1);
	KUNIT_EXPECT_EQ(test, p[1], 2);
	KUNIT_EXPECT_EQ(test, p[2], 3);
	KUNIT_EXPECT_EQ(test, p[3], 4);
}

static struct kunit_case icrc_cases[] = {
	KUNIT_CASE_PARAM(icrc__vector, vector_gen_params),
	KUNIT_CASE_PARAM(icrc__each_bit, vector_gen_params),
	KUNIT_CASE_PARAM(icrc_begin__leaves_the_packet, vector_gen_params),
	KUNIT_CASE(crc32__register_after_the_lrh),
	KUNIT_CASE(crc32__check_value),
	KUNIT_CASE(icrc_end__least_significant_first),
	{}
};

SUITE(sroce_icrc, icrc_cases);
