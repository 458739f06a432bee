/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests that arrived ahead of the expected PSN, kept until the gap before them
 * is filled: a list in PSN order, bounded in bytes and in packets. What is kept is
 * the shell's: it embeds a struct sroce_held and owns the memory.
 *
 * Pure; all under the QP's response lock.
 */
#ifndef SROCE_PROTO_HOLD_H
#define SROCE_PROTO_HOLD_H

#include "psn.h"

/* Packets held at most, however small they are. */
#define SROCE_HOLD_PACKETS	1024

/**
 * struct sroce_held - a packet that is held
 * @prev: the one before, NULL at the beginning
 * @next: the one behind, NULL at the end
 * @psn: its PSN
 * @bytes: memory it keeps
 */
struct sroce_held {
	struct sroce_held *prev;
	struct sroce_held *next;
	u32 psn;
	u32 bytes;
};

/**
 * struct sroce_hold - what a responder holds
 * @first: lowest PSN
 * @last: highest PSN
 * @packets: how many
 * @bytes: sum of their memory
 * @max_bytes: limit of @bytes; 0: nothing is held
 */
struct sroce_hold {
	struct sroce_held *first;
	struct sroce_held *last;
	u32 packets;
	u32 bytes;
	u32 max_bytes;
};

/* sroce_hold_has - is a packet of this PSN held? */
bool sroce_hold_has(const struct sroce_hold *hold, u32 psn);

/**
 * sroce_hold_add - keep a packet
 * @hold: list
 * @held: of the packet, @psn and @bytes set
 *
 * Returns false if it is there already or exceeds the limits; then it is the
 * caller's again.
 */
bool sroce_hold_add(struct sroce_hold *hold, struct sroce_held *held);

/**
 * sroce_hold_take - the packet of the lowest PSN, if it is not beyond @epsn
 * @hold: list
 * @epsn: expected PSN
 *
 * Returns NULL if none is due. One of a PSN below @epsn is taken too: it came by
 * another way meanwhile and is to be freed.
 */
struct sroce_held *sroce_hold_take(struct sroce_hold *hold, u32 epsn);

/* sroce_hold_resize - one that is held keeps so many bytes now */
void sroce_hold_resize(struct sroce_hold *hold, struct sroce_held *held, u32 bytes);

/* sroce_hold_drop - take any; NULL when none is left */
struct sroce_held *sroce_hold_drop(struct sroce_hold *hold);

/**
 * sroce_hold_map - which PSNs are held
 * @hold: list
 * @base: PSN of the first bit
 * @map: result: bit 7 of the first byte is @base, bit 6 the next PSN, and so on
 * @bytes: of @map
 */
void sroce_hold_map(const struct sroce_hold *hold, u32 base, u8 *map, u32 bytes);

#endif /* SROCE_PROTO_HOLD_H */
