// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/wire.c"

#include "vectors.h"

/* Parse a vector as the net shell does: its bytes and the four of the ICRC. */
static enum sroce_parse_error parse_vector(const char *name, struct sroce_pkt *pkt)
{
	u8 bytes[VECTOR_MAX_BYTES];
	u32 n = vector_bth(name, bytes);

	return sroce_pkt_parse(bytes, n, n + SROCE_ICRC_BYTES, pkt);
}

static void pkt_parse__send(struct kunit *test)
{
	struct sroce_pkt pkt;

	KUNIT_ASSERT_EQ(test, parse_vector("G1", &pkt), SROCE_PARSE_OK);
	KUNIT_EXPECT_EQ(test, pkt.opcode, SROCE_RC | SROCE_OP_SEND_ONLY);
	KUNIT_EXPECT_TRUE(test, pkt.solicited);
	KUNIT_EXPECT_TRUE(test, pkt.migreq);
	KUNIT_EXPECT_TRUE(test, pkt.ackreq);
	KUNIT_EXPECT_EQ(test, pkt.pad, 3);
	KUNIT_EXPECT_EQ(test, pkt.payload_bytes, 9);
	KUNIT_EXPECT_EQ(test, pkt.hdr_bytes, 12);
	KUNIT_EXPECT_EQ(test, pkt.pkey, 0xffff);
	KUNIT_EXPECT_EQ(test, pkt.qpn, 0x11u);
	KUNIT_EXPECT_EQ(test, pkt.psn, 0x100u);
}

static void pkt_parse__write(struct kunit *test)
{
	struct sroce_pkt pkt;

	KUNIT_ASSERT_EQ(test, parse_vector("G2", &pkt), SROCE_PARSE_OK);
	KUNIT_EXPECT_EQ(test, pkt.opcode, SROCE_RC | SROCE_OP_WRITE_ONLY);
	KUNIT_EXPECT_EQ(test, pkt.va, 0x7f0000001000ULL);
	KUNIT_EXPECT_EQ(test, pkt.rkey, 0x12345678u);
	KUNIT_EXPECT_EQ(test, pkt.dma_bytes, 4u);
	KUNIT_EXPECT_EQ(test, pkt.payload_bytes, 4);
	KUNIT_EXPECT_EQ(test, pkt.hdr_bytes, 28);
}

static void pkt_parse__ack_and_nak(struct kunit *test)
{
	struct sroce_pkt pkt;

	KUNIT_ASSERT_EQ(test, parse_vector("G3", &pkt), SROCE_PARSE_OK);
	KUNIT_EXPECT_EQ(test, pkt.opcode, SROCE_RC | SROCE_OP_ACKNOWLEDGE);
	KUNIT_EXPECT_EQ(test, pkt.syndrome, 0x1f);
	KUNIT_EXPECT_EQ(test, pkt.msn, 2u);
	KUNIT_EXPECT_EQ(test, pkt.psn, 0x101u);
	KUNIT_ASSERT_EQ(test, parse_vector("G4", &pkt), SROCE_PARSE_OK);
	KUNIT_EXPECT_EQ(test, pkt.syndrome, SROCE_NAK_PSN_SEQ);
	KUNIT_EXPECT_EQ(test, pkt.psn, 0x102u);
}

static void pkt_parse__read_ud_cnp(struct kunit *test)
{
	struct sroce_pkt pkt;

	KUNIT_ASSERT_EQ(test, parse_vector("G6", &pkt), SROCE_PARSE_OK);
	KUNIT_EXPECT_EQ(test, pkt.opcode, SROCE_RC | SROCE_OP_READ_REQUEST);
	KUNIT_EXPECT_EQ(test, pkt.dma_bytes, 8192u);
	KUNIT_EXPECT_EQ(test, pkt.payload_bytes, 0);
	KUNIT_ASSERT_EQ(test, parse_vector("G8", &pkt), SROCE_PARSE_OK);
	KUNIT_EXPECT_EQ(test, pkt.qkey, SROCE_QKEY_GSI);
	KUNIT_EXPECT_EQ(test, pkt.src_qpn, 1u);
	KUNIT_EXPECT_EQ(test, pkt.payload_bytes, 4);
	KUNIT_ASSERT_EQ(test, parse_vector("G5", &pkt), SROCE_PARSE_OK);
	KUNIT_EXPECT_EQ(test, pkt.flags & SROCE_F_CNP, (u32)SROCE_F_CNP);
	KUNIT_EXPECT_TRUE(test, pkt.becn);
	KUNIT_EXPECT_FALSE(test, pkt.fecn);
	KUNIT_EXPECT_FALSE(test, pkt.migreq);
	KUNIT_EXPECT_EQ(test, pkt.payload_bytes, SROCE_CNP_PAYLOAD_BYTES);
}

static void vector_desc(const struct vector *v, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s: %s", v->name, v->about);
}

KUNIT_ARRAY_PARAM(vector, vectors, vector_desc);

/* What was parsed builds the same bytes again. */
static void pkt_build__vector(struct kunit *test)
{
	const struct vector *v = test->param_value;
	u8 bytes[VECTOR_MAX_BYTES], built[SROCE_MAX_HDR_BYTES];
	struct sroce_pkt pkt;
	u32 n = vector_bth(v->name, bytes);

	KUNIT_ASSERT_EQ(test, sroce_pkt_parse(bytes, n, n + 4, &pkt), SROCE_PARSE_OK);
	KUNIT_EXPECT_EQ(test, sroce_pkt_build(&pkt, built), (u32)pkt.hdr_bytes);
	EXPECT_BYTES(test, bytes, built, pkt.hdr_bytes);
	KUNIT_EXPECT_EQ(test, sroce_pkt_udp_payload(&pkt), n + 4);
}

/* Short of any byte of its headers: refused. */
static void pkt_parse__truncated_vector(struct kunit *test)
{
	const struct vector *v = test->param_value;
	u8 bytes[VECTOR_MAX_BYTES];
	struct sroce_pkt pkt;
	u32 hdr, avail, n;

	n = vector_bth(v->name, bytes);
	KUNIT_ASSERT_EQ(test, sroce_pkt_parse(bytes, n, n + 4, &pkt), SROCE_PARSE_OK);
	hdr = pkt.hdr_bytes;
	for (avail = 0; avail < hdr; avail++) {
		KUNIT_EXPECT_EQ(test, sroce_pkt_parse(bytes, avail, n + 4, &pkt),
				SROCE_PARSE_SHORT);
		KUNIT_EXPECT_EQ(test, sroce_pkt_parse(bytes, n, avail + 4, &pkt),
				SROCE_PARSE_SHORT);
	}
	KUNIT_EXPECT_NE(test, sroce_pkt_parse(bytes, hdr, n + 4, &pkt), SROCE_PARSE_SHORT);
}

/* Different bytes everywhere, so that no two fields can be mistaken for each other. */
static void fill_pkt(struct sroce_pkt *pkt, u8 opcode, u32 payload)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = opcode;
	pkt->payload_bytes = payload;
	pkt->pkey = 0x1234;
	pkt->psn = 0xabcdef;
	pkt->qpn = 0x13579b;
	pkt->syndrome = 0x65;
	pkt->msn = 0x010203;
	pkt->va = 0x1122334455667788ULL;
	pkt->rkey = 0x99aabbcc;
	pkt->dma_bytes = 0x10203040;
	pkt->swap_add = 0xa1a2a3a4a5a6a7a8ULL;
	pkt->compare = 0xb1b2b3b4b5b6b7b8ULL;
	pkt->atomic_orig = 0xc1c2c3c4c5c6c7c8ULL;
	pkt->imm = cpu_to_be32(0xd1d2d3d4);
	pkt->inv_rkey = 0xe1e2e3e4;
	pkt->qkey = 0xf1f2f3f4;
	pkt->src_qpn = 0x515253;
	pkt->srqn = 0x616263;
	pkt->feth = 0x21;
}

static void expect_fields(struct kunit *test, const struct sroce_pkt *a, const struct sroce_pkt *b)
{
	u32 h = a->headers;

	KUNIT_EXPECT_EQ(test, a->opcode, b->opcode);
	KUNIT_EXPECT_EQ(test, a->psn, b->psn);
	KUNIT_EXPECT_EQ(test, a->qpn, b->qpn);
	KUNIT_EXPECT_EQ(test, a->pkey, b->pkey);
	KUNIT_EXPECT_EQ(test, b->payload_bytes, a->payload_bytes);
	KUNIT_EXPECT_EQ(test, b->syndrome, h & SROCE_H_AETH ? a->syndrome : 0);
	KUNIT_EXPECT_EQ(test, b->msn, h & SROCE_H_AETH ? a->msn : 0);
	KUNIT_EXPECT_EQ(test, b->va, h & (SROCE_H_RETH | SROCE_H_ATOMICETH) ? a->va : 0);
	KUNIT_EXPECT_EQ(test, b->rkey, h & (SROCE_H_RETH | SROCE_H_ATOMICETH) ? a->rkey : 0);
	KUNIT_EXPECT_EQ(test, b->dma_bytes, h & SROCE_H_RETH ? a->dma_bytes : 0);
}

static void expect_more_fields(struct kunit *test, const struct sroce_pkt *a,
			       const struct sroce_pkt *b)
{
	u32 h = a->headers;

	KUNIT_EXPECT_EQ(test, b->swap_add, h & SROCE_H_ATOMICETH ? a->swap_add : 0);
	KUNIT_EXPECT_EQ(test, b->compare, h & SROCE_H_ATOMICETH ? a->compare : 0);
	KUNIT_EXPECT_EQ(test, b->atomic_orig, h & SROCE_H_ATOMICACKETH ? a->atomic_orig : 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(b->imm), h & SROCE_H_IMMDT ? be32_to_cpu(a->imm) : 0);
	KUNIT_EXPECT_EQ(test, b->inv_rkey, h & SROCE_H_IETH ? a->inv_rkey : 0);
	KUNIT_EXPECT_EQ(test, b->qkey, h & SROCE_H_DETH ? a->qkey : 0);
	KUNIT_EXPECT_EQ(test, b->src_qpn, h & SROCE_H_DETH ? a->src_qpn : 0);
	KUNIT_EXPECT_EQ(test, b->srqn, h & SROCE_H_XRCETH ? a->srqn : 0);
	KUNIT_EXPECT_EQ(test, b->feth, h & SROCE_H_FETH ? a->feth : 0);
}

static void pkt_build__parse_undoes_it(struct kunit *test)
{
	u8 hdr[SROCE_MAX_HDR_BYTES + 4];
	struct sroce_pkt out, in;
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		u32 flags = sroce_opcode_flags(opcode);
		u32 payload = flags & SROCE_F_PAYLOAD ? 101 : 0;

		if (!flags)
			continue;
		fill_pkt(&out, opcode, flags & SROCE_F_CNP ? SROCE_CNP_PAYLOAD_BYTES : payload);
		memset(hdr, 0xee, sizeof(hdr));
		KUNIT_EXPECT_EQ(test, sroce_pkt_build(&out, hdr),
				sroce_headers_bytes(sroce_opcode_headers(opcode)));
		KUNIT_EXPECT_EQ(test, hdr[out.hdr_bytes], 0xee);
		KUNIT_EXPECT_EQ(test, sroce_pkt_parse(hdr, sizeof(hdr), sroce_pkt_udp_payload(&out),
						      &in), SROCE_PARSE_OK);
		expect_fields(test, &out, &in);
		expect_more_fields(test, &out, &in);
	}
}

static void pkt_build__bits_of_the_bth(struct kunit *test)
{
	u8 hdr[SROCE_MAX_HDR_BYTES];
	struct sroce_pkt pkt;
	u32 i;

	for (i = 0; i < 32; i++) {
		fill_pkt(&pkt, SROCE_OP_SEND_ONLY, 0);
		pkt.solicited = i & 1;
		pkt.migreq = i & 2;
		pkt.fecn = i & 4;
		pkt.becn = i & 8;
		pkt.ackreq = i & 16;
		sroce_pkt_build(&pkt, hdr);
		KUNIT_EXPECT_EQ(test, hdr[1], (i & 1 ? 0x80 : 0) | (i & 2 ? 0x40 : 0));
		KUNIT_EXPECT_EQ(test, hdr[4], (i & 4 ? 0x80 : 0) | (i & 8 ? 0x40 : 0));
		KUNIT_EXPECT_EQ(test, hdr[8], i & 16 ? 0x80 : 0);
	}
}

static void pkt_build__pads_to_four(struct kunit *test)
{
	u8 hdr[SROCE_MAX_HDR_BYTES];
	struct sroce_pkt pkt, in;
	u32 n;

	for (n = 0; n < 9; n++) {
		fill_pkt(&pkt, SROCE_OP_SEND_ONLY, n);
		sroce_pkt_build(&pkt, hdr);
		KUNIT_EXPECT_EQ(test, (n + pkt.pad) % 4, 0u);
		KUNIT_EXPECT_LT(test, pkt.pad, 4);
		KUNIT_EXPECT_EQ(test, sroce_pkt_parse(hdr, 12, sroce_pkt_udp_payload(&pkt), &in),
				SROCE_PARSE_OK);
		KUNIT_EXPECT_EQ(test, (u32)in.payload_bytes, n);
		KUNIT_EXPECT_EQ(test, in.pad, pkt.pad);
	}
}

static void pkt_parse__refuses(struct kunit *test)
{
	u8 hdr[SROCE_MAX_HDR_BYTES];
	struct sroce_pkt pkt;

	fill_pkt(&pkt, SROCE_OP_SEND_ONLY, 0);
	sroce_pkt_build(&pkt, hdr);
	KUNIT_EXPECT_EQ(test, sroce_pkt_parse(hdr, 12, 16, &pkt), SROCE_PARSE_OK);
	KUNIT_EXPECT_EQ(test, sroce_pkt_parse(hdr, 12, 15, &pkt), SROCE_PARSE_SHORT);
	hdr[1] |= 1;
	KUNIT_EXPECT_EQ(test, sroce_pkt_parse(hdr, 12, 16, &pkt), SROCE_PARSE_VERSION);
	hdr[1] = 0x30;		/* three pad bytes that are not there */
	KUNIT_EXPECT_EQ(test, sroce_pkt_parse(hdr, 12, 18, &pkt), SROCE_PARSE_SHORT);
	hdr[1] = 0;
	hdr[0] = 0x15;
	KUNIT_EXPECT_EQ(test, sroce_pkt_parse(hdr, 12, 16, &pkt), SROCE_PARSE_OPCODE);
	hdr[0] = SROCE_OP_SEND_ONLY;
	memset(hdr + 5, 0, 3);
	KUNIT_EXPECT_EQ(test, sroce_pkt_parse(hdr, 12, 16, &pkt), SROCE_PARSE_QPN);
}

static void pkt_parse__refuses_wrong_lengths(struct kunit *test)
{
	u8 hdr[SROCE_MAX_HDR_BYTES];
	struct sroce_pkt pkt;

	fill_pkt(&pkt, SROCE_OP_ACKNOWLEDGE, 0);
	sroce_pkt_build(&pkt, hdr);
	KUNIT_EXPECT_EQ(test, sroce_pkt_parse(hdr, 16, 24, &pkt), SROCE_PARSE_LENGTH);
	fill_pkt(&pkt, SROCE_OP_READ_REQUEST, 0);
	sroce_pkt_build(&pkt, hdr);
	KUNIT_EXPECT_EQ(test, sroce_pkt_parse(hdr, 28, 36, &pkt), SROCE_PARSE_LENGTH);
	fill_pkt(&pkt, SROCE_OPCODE_CNP, 0);
	sroce_pkt_build(&pkt, hdr);
	KUNIT_EXPECT_EQ(test, sroce_pkt_parse(hdr, 12, 12 + 12 + 4, &pkt), SROCE_PARSE_LENGTH);
	KUNIT_EXPECT_EQ(test, sroce_pkt_parse(hdr, 12, 12 + 16 + 4, &pkt), SROCE_PARSE_OK);
}

#define ROW_STEP	(SROCE_BTH_BYTES + 256 + SROCE_ICRC_BYTES)

static u8 *row_room(struct kunit *test)
{
	u8 *bytes = kunit_kzalloc(test, 5 * ROW_STEP + 16, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	return bytes;
}

/* Four MIDDLE packets of RC behind a FIRST one, PSNs from 0xfffffe; @pkt is the FIRST. */
static u8 *make_row(struct kunit *test, u8 *bytes, struct sroce_pkt *pkt)
{
	u32 i;

	for (i = 0; i < 5; i++) {
		*pkt = (struct sroce_pkt){
			.opcode = i ? SROCE_OP_WRITE_MIDDLE : SROCE_OP_WRITE_FIRST,
			.psn = sroce_psn_add(0xfffffd, i), .qpn = 0x123456, .pkey = 0xffff,
			.payload_bytes = 256, .migreq = true,
		};
		sroce_pkt_build(pkt, bytes + (i ? 16 : 0) + i * ROW_STEP);
	}
	KUNIT_ASSERT_EQ(test, (int)sroce_pkt_parse(bytes, SROCE_MAX_HDR_BYTES, ROW_STEP + 16, pkt),
			(int)SROCE_PARSE_OK);
	return bytes + 16 + ROW_STEP;
}

static void pkt_row__continues(struct kunit *test)
{
	struct sroce_pkt pkt;
	u8 *bth = row_room(test), *at = make_row(test, bth, &pkt);

	KUNIT_EXPECT_EQ(test, sroce_pkt_row(&pkt, bth, at, 4, ROW_STEP), 4u);
	KUNIT_EXPECT_EQ(test, (int)pkt.opcode, (int)SROCE_OP_WRITE_MIDDLE);
	KUNIT_EXPECT_EQ(test, pkt.psn, 0xfffffeu);
	KUNIT_EXPECT_EQ(test, pkt.payload_bytes, 256u);
	KUNIT_EXPECT_EQ(test, pkt.hdr_bytes, (u32)SROCE_BTH_BYTES);
	make_row(test, bth, &pkt);
	KUNIT_EXPECT_EQ(test, sroce_pkt_row(&pkt, bth, at, 2, ROW_STEP), 2u);
}

/* Whatever byte of the third BTH is another one: two packets, or none if it is the first's. */
static void pkt_row__ends_where_a_bth_differs(struct kunit *test)
{
	u8 *bth = row_room(test), *at;
	struct sroce_pkt pkt;
	u32 i;

	for (i = 0; i < SROCE_BTH_BYTES; i++) {
		at = make_row(test, bth, &pkt);
		at[2 * ROW_STEP + i] ^= 0x80;
		KUNIT_EXPECT_EQ(test, sroce_pkt_row(&pkt, bth, at, 4, ROW_STEP), 2u);
		at = make_row(test, bth, &pkt);
		at[i] ^= 0x80;
		KUNIT_EXPECT_EQ(test, sroce_pkt_row(&pkt, bth, at, 4, ROW_STEP), 0u);
	}
}

/* XRC requests have an extended header in each packet. */
static void pkt_row__not_with_headers(struct kunit *test)
{
	struct sroce_pkt pkt;
	u8 *bth = row_room(test), *at = make_row(test, bth, &pkt);

	pkt.opcode = SROCE_XRC | SROCE_OP_WRITE_FIRST;
	at[0] = SROCE_XRC | SROCE_OP_WRITE_MIDDLE;
	KUNIT_EXPECT_EQ(test, sroce_pkt_row(&pkt, bth, at, 4, ROW_STEP), 0u);
}

/* Nothing but a BTH and an ICRC: no payload to take. */
static void pkt_row__not_without_payload(struct kunit *test)
{
	struct sroce_pkt pkt;
	u8 *bth = row_room(test), *at = make_row(test, bth, &pkt);
	u32 step = SROCE_BTH_BYTES + SROCE_ICRC_BYTES;

	KUNIT_EXPECT_EQ(test, sroce_pkt_row(&pkt, bth, at, 1, step), 0u);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(pkt_parse__send),
	KUNIT_CASE(pkt_parse__write),
	KUNIT_CASE(pkt_parse__ack_and_nak),
	KUNIT_CASE(pkt_parse__read_ud_cnp),
	KUNIT_CASE_PARAM(pkt_build__vector, vector_gen_params),
	KUNIT_CASE_PARAM(pkt_parse__truncated_vector, vector_gen_params),
	KUNIT_CASE(pkt_build__parse_undoes_it),
	KUNIT_CASE(pkt_build__bits_of_the_bth),
	KUNIT_CASE(pkt_build__pads_to_four),
	KUNIT_CASE(pkt_parse__refuses),
	KUNIT_CASE(pkt_parse__refuses_wrong_lengths),
	KUNIT_CASE(pkt_row__continues),
	KUNIT_CASE(pkt_row__ends_where_a_bth_differs),
	KUNIT_CASE(pkt_row__not_with_headers),
	KUNIT_CASE(pkt_row__not_without_payload),
	{}
};

SUITE(sroce_wire, wire_cases);
