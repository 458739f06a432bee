// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/cnp.h"
#include "../drivers/infiniband/sw/sroce/proto/icrc.h"
#include "vectors.h"

#define US	SROCE_NS_PER_US

static const char *const cnps[] = { "G5", "G7" };

static void cnp_desc(const char *const *name, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", *name);
}

KUNIT_ARRAY_PARAM(cnp, cnps, cnp_desc);

static const struct vector *find(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		if (!strcmp(vectors[i].name, name))
			return &vectors[i];
	return NULL;
}

/* All bytes of the CNP, and its ICRC behind the IP header of the vector. */
static void cnp__vector(struct kunit *test)
{
	const struct vector *v = find(*(const char *const *)test->param_value);
	u8 want[VECTOR_MAX_BYTES], built[SROCE_MAX_HDR_BYTES + SROCE_CNP_PAYLOAD_BYTES] = {};
	u8 want_icrc[4];
	struct sroce_pkt pkt;
	__le32 icrc;
	u32 n, bth, crc;

	KUNIT_ASSERT_NOT_NULL(test, v);
	n = vector_bytes(v->packet, want);
	vector_bytes(v->icrc, want_icrc);
	bth = (v->ipv6 ? SROCE_IPV6_BYTES : SROCE_IPV4_BYTES) + SROCE_UDP_BYTES;

	sroce_cnp_fill(&pkt, 0x12, 0xffff);
	KUNIT_EXPECT_EQ(test, sroce_pkt_build(&pkt, built), (u32)SROCE_BTH_BYTES);
	KUNIT_EXPECT_EQ(test, sroce_pkt_udp_payload(&pkt), n - bth + SROCE_ICRC_BYTES);
	EXPECT_BYTES(test, built, want + bth, n - bth);

	crc = sroce_icrc_begin(want, v->ipv6, want + bth - SROCE_UDP_BYTES, built);
	crc = sroce_crc32(crc, built + SROCE_BTH_BYTES, SROCE_CNP_PAYLOAD_BYTES);
	icrc = sroce_icrc_end(crc);
	EXPECT_BYTES(test, &icrc, want_icrc, 4);
}

static struct sroce_pkt packet(u8 opcode)
{
	return (struct sroce_pkt){ .opcode = opcode, .flags = sroce_opcode_flags(opcode) };
}

static void cnp_wanted__for_any_packet_but_a_cnp(struct kunit *test)
{
	static const u8 opcodes[] = {
		SROCE_RC | SROCE_OP_SEND_ONLY, SROCE_RC | SROCE_OP_READ_REQUEST,
		SROCE_RC | SROCE_OP_READ_RESP_MIDDLE, SROCE_UC | SROCE_OP_WRITE_MIDDLE,
		SROCE_UD | SROCE_OP_SEND_ONLY, SROCE_XRC | SROCE_OP_FETCH_ADD,
	};
	struct sroce_pkt pkt;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		pkt = packet(opcodes[i]);
		KUNIT_EXPECT_TRUE(test, sroce_cnp_wanted(&pkt, true));
		KUNIT_EXPECT_TRUE(test, sroce_cnp_wanted(&pkt, false));
	}
	pkt = packet(SROCE_RC | SROCE_OP_ACKNOWLEDGE);
	KUNIT_EXPECT_TRUE(test, sroce_cnp_wanted(&pkt, true));
	KUNIT_EXPECT_FALSE(test, sroce_cnp_wanted(&pkt, false));
	pkt = packet(SROCE_OPCODE_CNP);
	KUNIT_EXPECT_FALSE(test, sroce_cnp_wanted(&pkt, true));
	KUNIT_EXPECT_FALSE(test, sroce_cnp_wanted(&pkt, false));
}

struct moderation_case {
	u64 every_ns;		/* a mark so often */
	u64 interval_ns;
	u32 marks;
};

static const struct moderation_case moderation_cases[] = {
	{ 1 * US, 50 * US, 10000 },
	{ 3 * US, 50 * US, 10000 },
	{ 50 * US, 50 * US, 1000 },
	{ 60 * US, 50 * US, 1000 },
	{ 1 * US, 4 * US, 10000 },
	{ 100, 4 * US, 10000 },
	{ 1, 0, 100 },
};

static void moderation_desc(const struct moderation_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "a mark in %llu ns, a CNP in %llu ns",
		 (unsigned long long)c->every_ns, (unsigned long long)c->interval_ns);
}

KUNIT_ARRAY_PARAM(moderation, moderation_cases, moderation_desc);

/* Marks over a time D: the CNPs are D / interval, one more at most. */
static void np__moderates(struct kunit *test)
{
	const struct moderation_case *c = test->param_value;
	u64 gap = max(c->every_ns, c->interval_ns), took = c->every_ns * (c->marks - 1), last = 0;
	u64 now = 0;
	struct sroce_np np = {};
	u32 i, sent = 0;

	for (i = 0; i < c->marks; i++, now += c->every_ns) {
		if (!sroce_np_due(&np, c->interval_ns, now))
			continue;
		if (sent)
			KUNIT_EXPECT_GE(test, now - last, c->interval_ns);
		last = now;
		sent++;
	}
	KUNIT_EXPECT_LE(test, (u64)sent, div64_u64(took, gap) + 1);
	/* No later than at the first mark after the interval. */
	KUNIT_EXPECT_GE(test, (u64)sent, div64_u64(took, gap + c->every_ns));
}

static void np__first_mark_at_once(struct kunit *test)
{
	struct sroce_np np = {};

	KUNIT_EXPECT_TRUE(test, sroce_np_due(&np, 50 * US, 0));
	KUNIT_EXPECT_FALSE(test, sroce_np_due(&np, 50 * US, 50 * US - 1));
	KUNIT_EXPECT_TRUE(test, sroce_np_due(&np, 50 * US, 50 * US));
	/* Told a time before the last one: no reason for another. */
	KUNIT_EXPECT_FALSE(test, sroce_np_due(&np, 50 * US, 50 * US - 10));
}

static void np__reset_forgets(struct kunit *test)
{
	struct sroce_np np = {};

	KUNIT_EXPECT_TRUE(test, sroce_np_due(&np, 50 * US, 100 * US));
	KUNIT_EXPECT_FALSE(test, sroce_np_due(&np, 50 * US, 101 * US));
	sroce_np_reset(&np);
	KUNIT_EXPECT_TRUE(test, sroce_np_may_be_due(&np, 50 * US, 101 * US));
	KUNIT_EXPECT_TRUE(test, sroce_np_due(&np, 50 * US, 101 * US));
	KUNIT_EXPECT_FALSE(test, sroce_np_due(&np, 50 * US, 102 * US));
}

static void np_look__at_the_bounds(struct kunit *test)
{
	struct sroce_np np = {}, same;

	KUNIT_EXPECT_TRUE(test, sroce_np_may_be_due(&np, 50 * US, 0));
	/* A look is no CNP. */
	KUNIT_EXPECT_TRUE(test, sroce_np_due(&np, 50 * US, 0));
	same = np;
	KUNIT_EXPECT_FALSE(test, sroce_np_may_be_due(&np, 50 * US, 0));
	KUNIT_EXPECT_FALSE(test, sroce_np_may_be_due(&np, 50 * US, 50 * US - 1));
	KUNIT_EXPECT_TRUE(test, sroce_np_may_be_due(&np, 50 * US, 50 * US));
	KUNIT_EXPECT_TRUE(test, sroce_np_may_be_due(&np, 0, 0));
	/* Told a time before the last one. */
	KUNIT_EXPECT_FALSE(test, sroce_np_may_be_due(&np, 50 * US, -10ULL));
	KUNIT_EXPECT_EQ(test, np.last_ns, same.last_ns);
	KUNIT_EXPECT_EQ(test, np.sent, same.sent);
}

/*
 * Asked first or not, the same marks have a CNP. That holds too for who looks at what
 * was true some marks ago: then it is only asked for nothing.
 */
static void np_look__changes_no_answer(struct kunit *test)
{
	const struct moderation_case *c = test->param_value;
	struct sroce_np always = {}, asked = {}, old = {};
	u32 i, in_vain = 0;
	u64 now = 0;

	for (i = 0; i < c->marks; i++, now += c->every_ns) {
		bool may = sroce_np_may_be_due(&asked, c->interval_ns, now);
		bool may_by_old = sroce_np_may_be_due(&old, c->interval_ns, now);
		bool due = sroce_np_due(&always, c->interval_ns, now);

		KUNIT_EXPECT_EQ(test, may && sroce_np_due(&asked, c->interval_ns, now), due);
		KUNIT_EXPECT_TRUE(test, may_by_old || !due);
		in_vain += may && !due;
		if (i % 7 == 0)
			old = asked;
	}
	KUNIT_EXPECT_EQ(test, in_vain, 0u);
}

static struct kunit_case cnp_cases[] = {
	KUNIT_CASE_PARAM(cnp__vector, cnp_gen_params),
	KUNIT_CASE(cnp_wanted__for_any_packet_but_a_cnp),
	KUNIT_CASE_PARAM(np__moderates, moderation_gen_params),
	KUNIT_CASE(np__first_mark_at_once),
	KUNIT_CASE(np__reset_forgets),
	KUNIT_CASE(np_look__at_the_bounds),
	KUNIT_CASE_PARAM(np_look__changes_no_answer, moderation_gen_params),
	{}
};

SUITE(sroce_cnp, cnp_cases);
