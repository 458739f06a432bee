/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets that no peer sends, made by raw sockets in the namespaces of hosts a and b.
 */
#ifndef VERBS_FORGE_H
#define VERBS_FORGE_H

#include "lib.h"

#define HOST_A	0x0a010001U
#define HOST_B	0x0a010002U
#define HOST_X	0x0a01004dU

/* Opcodes of transports: BTH.opcode[7:5] */
#define FORGE_RC	0x00
#define FORGE_UC	0x20
#define FORGE_UD	0x60
#define FORGE_XRC	0xa0

#define FORGE_BYTES	1400

void forge_open(void);
void forge_close(void);

uint64_t forge_rnd(void);

/* HOSTILE_SECONDS, or few. */
uint64_t forge_seconds(void);

/* IP, UDP and ICRC around @n bytes from the BTH on, to @to's host. @bad: a wrong ICRC. */
void forge(const struct end *to, uint32_t from, const uint8_t *bth, size_t n, bool bad);

void forge_bth(uint8_t *p, uint8_t opcode, const struct end *to, uint32_t psn);

/* From now on, until forge_open(), no bit is flipped that makes a packet one to a QP of this pair. */
void forge_spare(const struct pair *bystander);

/*
 * Flip a bit in the first @n bytes of a packet, from the BTH on. QPs made one after the other have
 * numbers that differ in a bit or two, and PSNs in the tests that are near: a bit of the destination
 * QPN could make it a packet that a bystander takes for its peer's, and rightly dies of. Then nothing
 * is flipped.
 */
void forge_flip(uint8_t *bth, size_t n);

/* What a random packet is aimed at: numbers, keys and addresses that are right, most of the time. */
struct aim {
	const struct end *to;
	uint8_t transport;
	uint64_t va, bytes;
	uint32_t rkey, qkey, srqn;
};

/* A packet that might be right, but for something: from the peer, if it is. */
void forge_random(const struct aim *aim);

#endif /* VERBS_FORGE_H */
