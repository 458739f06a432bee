/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * BTH opcodes (IBA 9.2.1, A17, A19): what each one is and which extended
 * headers it carries. The table in opcode.c is the only description of a packet
 * type; lengths and offsets are derived from it.
 */
#ifndef SROCE_PROTO_OPCODE_H
#define SROCE_PROTO_OPCODE_H

#include "base.h"

/* BTH.opcode[7:5] */
enum sroce_transport {
	SROCE_RC	= 0x00,
	SROCE_UC	= 0x20,
	SROCE_UD	= 0x60,
	SROCE_CNP	= 0x80,
	SROCE_XRC	= 0xa0,
};

#define SROCE_TRANSPORT_MASK	0xe0
#define SROCE_OP_MASK		0x1f

/* BTH.opcode[4:0] */
enum sroce_op {
	SROCE_OP_SEND_FIRST		= 0x00,
	SROCE_OP_SEND_MIDDLE		= 0x01,
	SROCE_OP_SEND_LAST		= 0x02,
	SROCE_OP_SEND_LAST_IMM		= 0x03,
	SROCE_OP_SEND_ONLY		= 0x04,
	SROCE_OP_SEND_ONLY_IMM		= 0x05,
	SROCE_OP_WRITE_FIRST		= 0x06,
	SROCE_OP_WRITE_MIDDLE		= 0x07,
	SROCE_OP_WRITE_LAST		= 0x08,
	SROCE_OP_WRITE_LAST_IMM		= 0x09,
	SROCE_OP_WRITE_ONLY		= 0x0a,
	SROCE_OP_WRITE_ONLY_IMM		= 0x0b,
	SROCE_OP_READ_REQUEST		= 0x0c,
	SROCE_OP_READ_RESP_FIRST	= 0x0d,
	SROCE_OP_READ_RESP_MIDDLE	= 0x0e,
	SROCE_OP_READ_RESP_LAST		= 0x0f,
	SROCE_OP_READ_RESP_ONLY		= 0x10,
	SROCE_OP_ACKNOWLEDGE		= 0x11,
	SROCE_OP_ATOMIC_ACK		= 0x12,
	SROCE_OP_COMPARE_SWAP		= 0x13,
	SROCE_OP_FETCH_ADD		= 0x14,
	SROCE_OP_SEND_LAST_INV		= 0x16,
	SROCE_OP_SEND_ONLY_INV		= 0x17,
	SROCE_OP_FLUSH			= 0x1c,
	SROCE_OP_ATOMIC_WRITE		= 0x1d,
};

#define SROCE_OPCODE_CNP	0x81
/* Between two of us that agreed on it: a selective acknowledgement (manufacturer's opcodes). */
#define SROCE_OPCODE_SACK	0xf1

/* What a packet is. START and END: it begins, it ends a message. */
#define SROCE_F_START		BIT(0)
#define SROCE_F_END		BIT(1)
#define SROCE_F_REQUEST		BIT(2)
#define SROCE_F_RESPONSE	BIT(3)
#define SROCE_F_SEND		BIT(4)
#define SROCE_F_WRITE		BIT(5)
#define SROCE_F_READ		BIT(6)	/* READ request */
#define SROCE_F_READ_RESP	BIT(7)
#define SROCE_F_ACK		BIT(8)
#define SROCE_F_ATOMIC		BIT(9)	/* COMPARE_SWAP, FETCH_ADD */
#define SROCE_F_ATOMIC_ACK	BIT(10)
#define SROCE_F_FLUSH		BIT(11)
#define SROCE_F_ATOMIC_WRITE	BIT(12)
#define SROCE_F_CNP		BIT(13)
#define SROCE_F_PAYLOAD		BIT(14)	/* may carry payload */
#define SROCE_F_SACK		BIT(15)	/* an ACK that says what is held beyond it */

/* Extended headers, in wire order. */
#define SROCE_H_XRCETH		BIT(0)
#define SROCE_H_DETH		BIT(1)
#define SROCE_H_FETH		BIT(2)
#define SROCE_H_RETH		BIT(3)
#define SROCE_H_ATOMICETH	BIT(4)
#define SROCE_H_AETH		BIT(5)
#define SROCE_H_ATOMICACKETH	BIT(6)
#define SROCE_H_IMMDT		BIT(7)
#define SROCE_H_IETH		BIT(8)
#define SROCE_H_SACKETH		BIT(9)

/* Bytes of each (IBA 9.2-9.3). */
#define SROCE_BTH_BYTES		12
#define SROCE_XRCETH_BYTES	4
#define SROCE_DETH_BYTES	8
#define SROCE_FETH_BYTES	4
#define SROCE_RETH_BYTES	16
#define SROCE_ATOMICETH_BYTES	28
#define SROCE_AETH_BYTES	4
#define SROCE_ATOMICACKETH_BYTES 8
#define SROCE_IMMDT_BYTES	4
#define SROCE_IETH_BYTES	4
#define SROCE_SACKETH_BYTES	32
#define SROCE_ICRC_BYTES	4
#define SROCE_GRH_BYTES		40
#define SROCE_CNP_PAYLOAD_BYTES	16

/* The longest BTH + extended headers: SACK. */
#define SROCE_MAX_HDR_BYTES	(SROCE_BTH_BYTES + SROCE_AETH_BYTES + SROCE_SACKETH_BYTES)

/**
 * sroce_opcode_flags - what a packet with this BTH opcode is
 * @opcode: the whole BTH opcode byte
 *
 * Returns SROCE_F_* or 0 if the opcode is not defined for its transport.
 */
u32 sroce_opcode_flags(u8 opcode);

/**
 * sroce_opcode_headers - the extended headers that follow the BTH
 * @opcode: a defined BTH opcode
 *
 * Returns SROCE_H_*, with the DETH of UD and the XRCETH of XRC requests.
 */
u32 sroce_opcode_headers(u8 opcode);

/**
 * sroce_headers_bytes - bytes of BTH and the given extended headers
 * @headers: SROCE_H_*
 */
u32 sroce_headers_bytes(u32 headers);

#endif /* SROCE_PROTO_OPCODE_H */
