// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The tables of the standard that wire.c computes: timers, credits, ports, keys.
 */
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/wire.h"

struct rnr_param {
	u8 code;
	u32 us;
};

/* IBA table 45. */
static const struct rnr_param rnr_params[] = {
	{ 0x00, 655360 }, { 0x01, 10 }, { 0x02, 20 }, { 0x03, 30 },
	{ 0x04, 40 }, { 0x05, 60 }, { 0x06, 80 }, { 0x07, 120 },
	{ 0x08, 160 }, { 0x09, 240 }, { 0x0a, 320 }, { 0x0b, 480 },
	{ 0x0c, 640 }, { 0x0d, 960 }, { 0x0e, 1280 }, { 0x0f, 1920 },
	{ 0x10, 2560 }, { 0x11, 3840 }, { 0x12, 5120 }, { 0x13, 7680 },
	{ 0x14, 10240 }, { 0x15, 15360 }, { 0x16, 20480 }, { 0x17, 30720 },
	{ 0x18, 40960 }, { 0x19, 61440 }, { 0x1a, 81920 }, { 0x1b, 122880 },
	{ 0x1c, 163840 }, { 0x1d, 245760 }, { 0x1e, 327680 }, { 0x1f, 491520 },
};

static void rnr_desc(const struct rnr_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "0x%02x: %u us", p->code, p->us);
}

KUNIT_ARRAY_PARAM(rnr, rnr_params, rnr_desc);

static void rnr_timer_ns__table(struct kunit *test)
{
	const struct rnr_param *p = test->param_value;

	KUNIT_EXPECT_EQ(test, sroce_rnr_timer_ns(p->code), p->us * 1000ULL);
	KUNIT_EXPECT_EQ(test, sroce_rnr_timer_ns(p->code | 0xe0), p->us * 1000ULL);
}

static void ack_timeout_ns__powers_of_two(struct kunit *test)
{
	u64 ns = 4096;
	u32 code;

	KUNIT_EXPECT_EQ(test, sroce_ack_timeout_ns(0), SROCE_NEVER);
	KUNIT_EXPECT_EQ(test, sroce_ack_timeout_ns(0x20), SROCE_NEVER);
	for (code = 1; code < 32; code++) {
		ns *= 2;
		KUNIT_EXPECT_EQ(test, sroce_ack_timeout_ns(code), ns);
	}
	KUNIT_EXPECT_EQ(test, sroce_ack_timeout_ns(14), 67108864ULL);
}

/* IBA table 46. */
static const u32 credits[] = {
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

static void credits_decode__table(struct kunit *test)
{
	u32 code;

	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(credits), (size_t)SROCE_AETH_NO_CREDITS);
	for (code = 0; code < ARRAY_SIZE(credits); code++)
		KUNIT_EXPECT_EQ(test, sroce_credits_decode(code), credits[code]);
}

static void credits_encode__never_promises_more(struct kunit *test)
{
	u32 code = 0;
	u32 n;

	for (n = 0; n < 40000; n++) {
		if (code + 1 < ARRAY_SIZE(credits) && n >= credits[code + 1])
			code++;
		KUNIT_ASSERT_EQ(test, (u32)sroce_credits_encode(n), code);
	}
	KUNIT_EXPECT_EQ(test, sroce_credits_encode(U32_MAX), SROCE_AETH_NO_CREDITS - 1);
}

struct sport_param {
	u32 label, lqpn, rqpn;
	u16 port;
};

static const struct sport_param sport_params[] = {
	{ 0x12345, 0, 0, 0xe341 },
	{ 0x12345, 0x123456, 0xabcdef, 0xe341 },
	{ 0, 0x11, 0x12, 0xc132 },
	{ 0, 0x12, 0x11, 0xc132 },
	{ 0, 0x11, 0x11, 0xc121 },
	{ 0, 0x123456, 0xabcdef, 0xc3c8 },
	{ 0, 0xabcdef, 0x123456, 0xc3c8 },
	{ 0, 1, 1, 0xc001 },
	{ 0x132, 7, 8, 0xc132 },
	{ 0xac3e3, 0, 0, 0xc3c8 },
	{ 0xfff00000, 1, 1, 0xc001 },	/* the label has 20 bits */
};

static void sport_desc(const struct sport_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "0x%x (0x%x, 0x%x)", p->label, p->lqpn, p->rqpn);
}

KUNIT_ARRAY_PARAM(sport, sport_params, sport_desc);

static void udp_sport__vectors(struct kunit *test)
{
	const struct sport_param *p = test->param_value;

	KUNIT_EXPECT_EQ(test, sroce_udp_sport(p->label, p->lqpn, p->rqpn), p->port);
}

static void udp_sport__range_and_symmetry(struct kunit *test)
{
	u32 x = 7;
	u32 i;

	for (i = 0; i < 10000; i++) {
		u32 a, b;

		x = x * 1664525 + 1013904223;
		a = x >> 8;
		x = x * 1664525 + 1013904223;
		b = x >> 8;
		KUNIT_ASSERT_GE(test, sroce_udp_sport(0, a, b), 0xc000);
		KUNIT_ASSERT_GE(test, sroce_udp_sport(a, a, b), 0xc000);
		KUNIT_ASSERT_EQ(test, sroce_udp_sport(0, a, b), sroce_udp_sport(0, b, a));
	}
}

static void mtu_bytes__values(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sroce_mtu_bytes(0), 0u);
	KUNIT_EXPECT_EQ(test, sroce_mtu_bytes(1), 256u);
	KUNIT_EXPECT_EQ(test, sroce_mtu_bytes(2), 512u);
	KUNIT_EXPECT_EQ(test, sroce_mtu_bytes(3), 1024u);
	KUNIT_EXPECT_EQ(test, sroce_mtu_bytes(4), 2048u);
	KUNIT_EXPECT_EQ(test, sroce_mtu_bytes(5), 4096u);
	KUNIT_EXPECT_EQ(test, sroce_mtu_bytes(6), 0u);
	KUNIT_EXPECT_EQ(test, sroce_mtu_bytes(U32_MAX), 0u);
}

/* IBA 10.9.3: two limited members do not talk, key 0 matches nothing. */
static void pkey_match__membership(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, sroce_pkey_match(0xffff, 0xffff));
	KUNIT_EXPECT_TRUE(test, sroce_pkey_match(0xffff, 0x7fff));
	KUNIT_EXPECT_TRUE(test, sroce_pkey_match(0x7fff, 0xffff));
	KUNIT_EXPECT_FALSE(test, sroce_pkey_match(0x7fff, 0x7fff));
	KUNIT_EXPECT_FALSE(test, sroce_pkey_match(0xffff, 0xfffe));
	KUNIT_EXPECT_FALSE(test, sroce_pkey_match(0x8000, 0x8000));
	KUNIT_EXPECT_FALSE(test, sroce_pkey_match(0, 0x8000));
	KUNIT_EXPECT_TRUE(test, sroce_pkey_match(0x8001, 0x0001));
}

static struct kunit_case tables_cases[] = {
	KUNIT_CASE_PARAM(rnr_timer_ns__table, rnr_gen_params),
	KUNIT_CASE(ack_timeout_ns__powers_of_two),
	KUNIT_CASE(credits_decode__table),
	KUNIT_CASE(credits_encode__never_promises_more),
	KUNIT_CASE_PARAM(udp_sport__vectors, sport_gen_params),
	KUNIT_CASE(udp_sport__range_and_symmetry),
	KUNIT_CASE(mtu_bytes__values),
	KUNIT_CASE(pkey_match__membership),
	{}
};

SUITE(sroce_tables, tables_cases);
