/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The switch between the two hosts: what passes it, and what is lost there.
 * Needs VERBS_WIRE: the directory of dropper.sh.
 */
#ifndef VERBS_WIRE_H
#define VERBS_WIRE_H

#include "lib.h"

/* BTH opcodes of RC */
enum {
	OP_SEND_FIRST		= 0x00,
	OP_SEND_ONLY		= 0x04,
	OP_WRITE_FIRST		= 0x06,
	OP_WRITE_MIDDLE		= 0x07,
	OP_WRITE_LAST		= 0x08,
	OP_WRITE_ONLY		= 0x0a,
	OP_READ_REQUEST		= 0x0c,
	OP_READ_RESP_FIRST	= 0x0d,
	OP_READ_RESP_MIDDLE	= 0x0e,
	OP_READ_RESP_LAST	= 0x0f,
	OP_READ_RESP_ONLY	= 0x10,
	OP_ACK			= 0x11,
	OP_ATOMIC_ACK		= 0x12,
	OP_CMP_SWP		= 0x13,
	OP_FETCH_ADD		= 0x14,
	OP_ATOMIC_WRITE		= 0x1d,
	OP_ANY			= -1,
};

#define SYNDROME_NAK_SEQ	0x60

/*
 * One packet at the switch port of host a. From a: as a sent it, before it can
 * be dropped. To a: what was not dropped.
 */
struct seen {
	uint64_t ns;		/* of CLOCK_REALTIME; they are in order */
	bool from_a;
	uint8_t opcode;
	bool solicited;
	bool ackreq;
	uint32_t qpn;
	uint32_t psn;
	uint8_t syndrome;	/* ACK, and READ response but the middle ones */
	uint32_t bytes;		/* of the UDP payload */
};

/* Look at the packets from now on. */
void wire_open(void);
/* Those seen since, at most @max; waits a little for the last of them. */
size_t wire_read(struct seen *seen, size_t max);
/* Of those, the ones from a (or to a) with this opcode (or OP_ANY): their number. */
size_t wire_select(struct seen *seen, size_t n, bool from_a, int opcode);

/* After a failure: print what was not read yet. */
void wire_dump(void);

/*
 * Of the packets that host (a or b) sends with this opcode from now on, those
 * numbered first (from 0) to first + count - 1 are lost.
 */
void drop(char host, int opcode, unsigned int first, unsigned int count);
/* The same for packets with this PSN. */
void drop_psn(char host, int opcode, uint32_t psn, unsigned int count);
void drop_end(void);
/* How many were lost. */
unsigned int dropped(void);

#endif /* VERBS_WIRE_H */
