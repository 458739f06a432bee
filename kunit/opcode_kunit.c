// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/opcode.c"

/* The table of the standard, written down a second time and in another form. */
struct op_param {
	u8 op;
	const char *name;
	u32 kind;		/* flags that say what it is */
	u32 place;		/* START, END */
	u32 headers;		/* on RC */
	u32 bytes;		/* BTH and headers on RC */
	bool payload;
	bool uc, ud;		/* all are defined for RC and XRC */
};

#define START	SROCE_F_START
#define END	SROCE_F_END
#define ONLY	(SROCE_F_START | SROCE_F_END)

static const struct op_param op_params[] = {
	{ 0x00, "SEND_FIRST", SROCE_F_SEND, START, 0, 12, true, true, false },
	{ 0x01, "SEND_MIDDLE", SROCE_F_SEND, 0, 0, 12, true, true, false },
	{ 0x02, "SEND_LAST", SROCE_F_SEND, END, 0, 12, true, true, false },
	{ 0x03, "SEND_LAST_IMM", SROCE_F_SEND, END, SROCE_H_IMMDT, 16, true, true, false },
	{ 0x04, "SEND_ONLY", SROCE_F_SEND, ONLY, 0, 12, true, true, true },
	{ 0x05, "SEND_ONLY_IMM", SROCE_F_SEND, ONLY, SROCE_H_IMMDT, 16, true, true, true },
	{ 0x06, "WRITE_FIRST", SROCE_F_WRITE, START, SROCE_H_RETH, 28, true, true, false },
	{ 0x07, "WRITE_MIDDLE", SROCE_F_WRITE, 0, 0, 12, true, true, false },
	{ 0x08, "WRITE_LAST", SROCE_F_WRITE, END, 0, 12, true, true, false },
	{ 0x09, "WRITE_LAST_IMM", SROCE_F_WRITE, END, SROCE_H_IMMDT, 16, true, true, false },
	{ 0x0a, "WRITE_ONLY", SROCE_F_WRITE, ONLY, SROCE_H_RETH, 28, true, true, false },
	{ 0x0b, "WRITE_ONLY_IMM", SROCE_F_WRITE, ONLY, SROCE_H_RETH | SROCE_H_IMMDT, 32,
	  true, true, false },
	{ 0x0c, "READ_REQUEST", SROCE_F_READ, ONLY, SROCE_H_RETH, 28, false, false, false },
	{ 0x0d, "READ_RESP_FIRST", SROCE_F_READ_RESP, START, SROCE_H_AETH, 16, true, false, false },
	{ 0x0e, "READ_RESP_MIDDLE", SROCE_F_READ_RESP, 0, 0, 12, true, false, false },
	{ 0x0f, "READ_RESP_LAST", SROCE_F_READ_RESP, END, SROCE_H_AETH, 16, true, false, false },
	{ 0x10, "READ_RESP_ONLY", SROCE_F_READ_RESP, ONLY, SROCE_H_AETH, 16, true, false, false },
	{ 0x11, "ACKNOWLEDGE", SROCE_F_ACK, ONLY, SROCE_H_AETH, 16, false, false, false },
	{ 0x12, "ATOMIC_ACK", SROCE_F_ATOMIC_ACK, ONLY, SROCE_H_AETH | SROCE_H_ATOMICACKETH, 24,
	  false, false, false },
	{ 0x13, "COMPARE_SWAP", SROCE_F_ATOMIC, ONLY, SROCE_H_ATOMICETH, 40, false, false, false },
	{ 0x14, "FETCH_ADD", SROCE_F_ATOMIC, ONLY, SROCE_H_ATOMICETH, 40, false, false, false },
	{ 0x16, "SEND_LAST_INV", SROCE_F_SEND, END, SROCE_H_IETH, 16, true, false, false },
	{ 0x17, "SEND_ONLY_INV", SROCE_F_SEND, ONLY, SROCE_H_IETH, 16, true, false, false },
	{ 0x1c, "FLUSH", SROCE_F_FLUSH, ONLY, SROCE_H_FETH | SROCE_H_RETH, 32,
	  false, false, false },
	{ 0x1d, "ATOMIC_WRITE", SROCE_F_ATOMIC_WRITE, ONLY, SROCE_H_RETH, 28, true, false, false },
};

#define KINDS (SROCE_F_SEND | SROCE_F_WRITE | SROCE_F_READ | SROCE_F_READ_RESP | SROCE_F_ACK | \
	       SROCE_F_ATOMIC | SROCE_F_ATOMIC_ACK | SROCE_F_FLUSH | SROCE_F_ATOMIC_WRITE | \
	       SROCE_F_CNP)
#define RESPONSES (SROCE_F_READ_RESP | SROCE_F_ACK | SROCE_F_ATOMIC_ACK)

static void op_desc(const struct op_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->name);
}

KUNIT_ARRAY_PARAM(op, op_params, op_desc);

static const struct op_param *find_op(u8 op)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(op_params); i++)
		if (op_params[i].op == op)
			return &op_params[i];
	return NULL;
}

static void opcode_flags__table(struct kunit *test)
{
	const struct op_param *p = test->param_value;
	u32 flags = sroce_opcode_flags(p->op);
	bool response = p->kind & RESPONSES;

	KUNIT_EXPECT_EQ(test, flags & KINDS, p->kind);
	KUNIT_EXPECT_EQ(test, flags & ONLY, p->place);
	KUNIT_EXPECT_EQ(test, !!(flags & SROCE_F_RESPONSE), response);
	KUNIT_EXPECT_EQ(test, !!(flags & SROCE_F_REQUEST), !response);
	KUNIT_EXPECT_EQ(test, !!(flags & SROCE_F_PAYLOAD), p->payload);
}

static void opcode_headers__table(struct kunit *test)
{
	const struct op_param *p = test->param_value;
	bool response = p->kind & RESPONSES;

	KUNIT_EXPECT_EQ(test, sroce_opcode_headers(SROCE_RC | p->op), p->headers);
	KUNIT_EXPECT_EQ(test, sroce_headers_bytes(p->headers), p->bytes);
	if (p->uc)
		KUNIT_EXPECT_EQ(test, sroce_opcode_headers(SROCE_UC | p->op), p->headers);
	if (p->ud)
		KUNIT_EXPECT_EQ(test, sroce_opcode_headers(SROCE_UD | p->op),
				p->headers | SROCE_H_DETH);
	KUNIT_EXPECT_EQ(test, sroce_opcode_headers(SROCE_XRC | p->op),
			response ? p->headers : p->headers | SROCE_H_XRCETH);
}

/* Nothing else is defined: RD, manufacturer opcodes, RC ones on UC and UD, ... */
static void opcode_flags__all_bytes(struct kunit *test)
{
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		const struct op_param *p = find_op(opcode & SROCE_OP_MASK);
		bool defined = false;

		switch (opcode & SROCE_TRANSPORT_MASK) {
		case SROCE_RC:
		case SROCE_XRC:
			defined = p;
			break;
		case SROCE_UC:
			defined = p && p->uc;
			break;
		case SROCE_UD:
			defined = p && p->ud;
			break;
		case SROCE_CNP:
			defined = opcode == SROCE_OPCODE_CNP;
			break;
		default:
			defined = opcode == SROCE_OPCODE_SACK;
			break;
		}
		KUNIT_EXPECT_EQ(test, sroce_opcode_flags(opcode) != 0, defined);
		if (defined && p && opcode != SROCE_OPCODE_CNP && opcode != SROCE_OPCODE_SACK)
			KUNIT_EXPECT_EQ(test, sroce_opcode_flags(opcode),
					sroce_opcode_flags(p->op));
	}
}

static void opcode_flags__sack(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sroce_opcode_flags(SROCE_OPCODE_SACK),
			(u32)(SROCE_F_RESPONSE | SROCE_F_ACK | SROCE_F_SACK | SROCE_F_START |
			      SROCE_F_END));
	KUNIT_EXPECT_EQ(test, sroce_opcode_headers(SROCE_OPCODE_SACK),
			(u32)(SROCE_H_AETH | SROCE_H_SACKETH));
	KUNIT_EXPECT_EQ(test, sroce_headers_bytes(SROCE_H_AETH | SROCE_H_SACKETH), 48u);
}

static void opcode_flags__cnp(struct kunit *test)
{
	u32 flags = sroce_opcode_flags(SROCE_OPCODE_CNP);

	KUNIT_EXPECT_EQ(test, flags & KINDS, (u32)SROCE_F_CNP);
	KUNIT_EXPECT_EQ(test, flags & (SROCE_F_REQUEST | SROCE_F_RESPONSE), 0u);
	KUNIT_EXPECT_TRUE(test, flags & SROCE_F_PAYLOAD);
	KUNIT_EXPECT_EQ(test, sroce_opcode_headers(SROCE_OPCODE_CNP), 0u);
}

static void headers_bytes__sums(struct kunit *test)
{
	u32 all = SROCE_H_XRCETH | SROCE_H_DETH | SROCE_H_FETH | SROCE_H_RETH |
		  SROCE_H_ATOMICETH | SROCE_H_AETH | SROCE_H_ATOMICACKETH | SROCE_H_IMMDT |
		  SROCE_H_IETH;

	KUNIT_EXPECT_EQ(test, sroce_headers_bytes(0), 12u);
	KUNIT_EXPECT_EQ(test, sroce_headers_bytes(SROCE_H_DETH), 20u);
	KUNIT_EXPECT_EQ(test, sroce_headers_bytes(SROCE_H_XRCETH), 16u);
	KUNIT_EXPECT_EQ(test, sroce_headers_bytes(SROCE_H_IETH), 16u);
	KUNIT_EXPECT_EQ(test, sroce_headers_bytes(all), 12u + 4 + 8 + 4 + 16 + 28 + 4 + 8 + 4 + 4);
}

static void headers_bytes__max_is_the_longest(struct kunit *test)
{
	u32 longest = 0;
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++)
		if (sroce_opcode_flags(opcode))
			longest = max(longest, sroce_headers_bytes(sroce_opcode_headers(opcode)));
	KUNIT_EXPECT_EQ(test, longest, (u32)SROCE_MAX_HDR_BYTES);
}

static struct kunit_case opcode_cases[] = {
	KUNIT_CASE_PARAM(opcode_flags__table, op_gen_params),
	KUNIT_CASE_PARAM(opcode_headers__table, op_gen_params),
	KUNIT_CASE(opcode_flags__all_bytes),
	KUNIT_CASE(opcode_flags__sack),
	KUNIT_CASE(opcode_flags__cnp),
	KUNIT_CASE(headers_bytes__sums),
	KUNIT_CASE(headers_bytes__max_is_the_longest),
	{}
};

SUITE(sroce_opcode, opcode_cases);
