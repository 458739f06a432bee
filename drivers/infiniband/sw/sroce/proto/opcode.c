// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "opcode.h"

/* Transports an operation is defined for. */
#define ON_RC	BIT(0)
#define ON_UC	BIT(1)
#define ON_UD	BIT(2)
#define ON_XRC	BIT(3)

#define F_REQ(x)	(SROCE_F_REQUEST | (x))
#define F_RSP(x)	(SROCE_F_RESPONSE | (x))
#define F_DATA		SROCE_F_PAYLOAD
#define F_ONLY		(SROCE_F_START | SROCE_F_END)

struct opcode_info {
	u16 flags;
	u16 headers;
	u8 transports;
};

#define CONNECTED	(ON_RC | ON_UC | ON_XRC)
#define RELIABLE	(ON_RC | ON_XRC)

static const struct opcode_info opcode_table[32] = {
	[SROCE_OP_SEND_FIRST] = {
		F_REQ(SROCE_F_SEND | SROCE_F_START | F_DATA), 0, CONNECTED },
	[SROCE_OP_SEND_MIDDLE] = {
		F_REQ(SROCE_F_SEND | F_DATA), 0, CONNECTED },
	[SROCE_OP_SEND_LAST] = {
		F_REQ(SROCE_F_SEND | SROCE_F_END | F_DATA), 0, CONNECTED },
	[SROCE_OP_SEND_LAST_IMM] = {
		F_REQ(SROCE_F_SEND | SROCE_F_END | F_DATA), SROCE_H_IMMDT, CONNECTED },
	[SROCE_OP_SEND_ONLY] = {
		F_REQ(SROCE_F_SEND | F_ONLY | F_DATA), 0, CONNECTED | ON_UD },
	[SROCE_OP_SEND_ONLY_IMM] = {
		F_REQ(SROCE_F_SEND | F_ONLY | F_DATA), SROCE_H_IMMDT, CONNECTED | ON_UD },
	[SROCE_OP_WRITE_FIRST] = {
		F_REQ(SROCE_F_WRITE | SROCE_F_START | F_DATA), SROCE_H_RETH, CONNECTED },
	[SROCE_OP_WRITE_MIDDLE] = {
		F_REQ(SROCE_F_WRITE | F_DATA), 0, CONNECTED },
	[SROCE_OP_WRITE_LAST] = {
		F_REQ(SROCE_F_WRITE | SROCE_F_END | F_DATA), 0, CONNECTED },
	[SROCE_OP_WRITE_LAST_IMM] = {
		F_REQ(SROCE_F_WRITE | SROCE_F_END | F_DATA), SROCE_H_IMMDT, CONNECTED },
	[SROCE_OP_WRITE_ONLY] = {
		F_REQ(SROCE_F_WRITE | F_ONLY | F_DATA), SROCE_H_RETH, CONNECTED },
	[SROCE_OP_WRITE_ONLY_IMM] = {
		F_REQ(SROCE_F_WRITE | F_ONLY | F_DATA), SROCE_H_RETH | SROCE_H_IMMDT, CONNECTED },
	[SROCE_OP_READ_REQUEST] = {
		F_REQ(SROCE_F_READ | F_ONLY), SROCE_H_RETH, RELIABLE },
	[SROCE_OP_READ_RESP_FIRST] = {
		F_RSP(SROCE_F_READ_RESP | SROCE_F_START | F_DATA), SROCE_H_AETH, RELIABLE },
	[SROCE_OP_READ_RESP_MIDDLE] = {
		F_RSP(SROCE_F_READ_RESP | F_DATA), 0, RELIABLE },
	[SROCE_OP_READ_RESP_LAST] = {
		F_RSP(SROCE_F_READ_RESP | SROCE_F_END | F_DATA), SROCE_H_AETH, RELIABLE },
	[SROCE_OP_READ_RESP_ONLY] = {
		F_RSP(SROCE_F_READ_RESP | F_ONLY | F_DATA), SROCE_H_AETH, RELIABLE },
	[SROCE_OP_ACKNOWLEDGE] = {
		F_RSP(SROCE_F_ACK | F_ONLY), SROCE_H_AETH, RELIABLE },
	[SROCE_OP_ATOMIC_ACK] = {
		F_RSP(SROCE_F_ATOMIC_ACK | F_ONLY), SROCE_H_AETH | SROCE_H_ATOMICACKETH, RELIABLE },
	[SROCE_OP_COMPARE_SWAP] = {
		F_REQ(SROCE_F_ATOMIC | F_ONLY), SROCE_H_ATOMICETH, RELIABLE },
	[SROCE_OP_FETCH_ADD] = {
		F_REQ(SROCE_F_ATOMIC | F_ONLY), SROCE_H_ATOMICETH, RELIABLE },
	[SROCE_OP_SEND_LAST_INV] = {
		F_REQ(SROCE_F_SEND | SROCE_F_END | F_DATA), SROCE_H_IETH, RELIABLE },
	[SROCE_OP_SEND_ONLY_INV] = {
		F_REQ(SROCE_F_SEND | F_ONLY | F_DATA), SROCE_H_IETH, RELIABLE },
	[SROCE_OP_FLUSH] = {
		F_REQ(SROCE_F_FLUSH | F_ONLY), SROCE_H_FETH | SROCE_H_RETH, RELIABLE },
	[SROCE_OP_ATOMIC_WRITE] = {
		F_REQ(SROCE_F_ATOMIC_WRITE | F_ONLY | F_DATA), SROCE_H_RETH, RELIABLE },
};

static const u8 header_bytes[] = {
	SROCE_XRCETH_BYTES, SROCE_DETH_BYTES, SROCE_FETH_BYTES,
	SROCE_RETH_BYTES, SROCE_ATOMICETH_BYTES, SROCE_AETH_BYTES,
	SROCE_ATOMICACKETH_BYTES, SROCE_IMMDT_BYTES, SROCE_IETH_BYTES, SROCE_SACKETH_BYTES,
};

static u8 transport_bit(u8 opcode)
{
	switch (opcode & SROCE_TRANSPORT_MASK) {
	case SROCE_RC:
		return ON_RC;
	case SROCE_UC:
		return ON_UC;
	case SROCE_UD:
		return ON_UD;
	case SROCE_XRC:
		return ON_XRC;
	default:
		return 0;
	}
}

u32 sroce_opcode_flags(u8 opcode)
{
	const struct opcode_info *info = &opcode_table[opcode & SROCE_OP_MASK];

	if (opcode == SROCE_OPCODE_CNP)
		return SROCE_F_CNP | SROCE_F_PAYLOAD;
	if (opcode == SROCE_OPCODE_SACK)
		return SROCE_F_RESPONSE | SROCE_F_ACK | SROCE_F_SACK | F_ONLY;
	return info->transports & transport_bit(opcode) ? info->flags : 0;
}

u32 sroce_opcode_headers(u8 opcode)
{
	const struct opcode_info *info = &opcode_table[opcode & SROCE_OP_MASK];

	if (opcode == SROCE_OPCODE_SACK)
		return SROCE_H_AETH | SROCE_H_SACKETH;
	switch (opcode & SROCE_TRANSPORT_MASK) {
	case SROCE_CNP:
		return 0;
	case SROCE_UD:
		return info->headers | SROCE_H_DETH;
	case SROCE_XRC:
		if (info->flags & SROCE_F_REQUEST)
			return info->headers | SROCE_H_XRCETH;
		fallthrough;
	default:
		return info->headers;
	}
}

u32 sroce_headers_bytes(u32 headers)
{
	u32 bytes = SROCE_BTH_BYTES;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(header_bytes); i++)
		if (headers & BIT(i))
			bytes += header_bytes[i];
	return bytes;
}
