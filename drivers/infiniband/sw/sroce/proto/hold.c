// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "hold.h"

/* The last one that is not beyond @psn: packets mostly come in order, so from the end. */
static struct sroce_held *find_last(const struct sroce_hold *hold, u32 psn)
{
	struct sroce_held *at = hold->last;

	while (at && sroce_psn_diff(at->psn, psn) > 0)
		at = at->prev;
	return at;
}

static void unlink(struct sroce_hold *hold, struct sroce_held *held)
{
	if (held->prev)
		held->prev->next = held->next;
	else
		hold->first = held->next;
	if (held->next)
		held->next->prev = held->prev;
	else
		hold->last = held->prev;
	hold->packets--;
	hold->bytes -= held->bytes;
}

bool sroce_hold_has(const struct sroce_hold *hold, u32 psn)
{
	const struct sroce_held *at = find_last(hold, psn);

	return at && at->psn == psn;
}

bool sroce_hold_add(struct sroce_hold *hold, struct sroce_held *held)
{
	struct sroce_held *before = find_last(hold, held->psn);

	if ((before && before->psn == held->psn) || hold->packets >= SROCE_HOLD_PACKETS ||
	    hold->bytes > hold->max_bytes || held->bytes > hold->max_bytes - hold->bytes)
		return false;
	held->prev = before;
	held->next = before ? before->next : hold->first;
	if (before)
		before->next = held;
	else
		hold->first = held;
	if (held->next)
		held->next->prev = held;
	else
		hold->last = held;
	hold->packets++;
	hold->bytes += held->bytes;
	return true;
}

struct sroce_held *sroce_hold_take(struct sroce_hold *hold, u32 epsn)
{
	struct sroce_held *held = hold->first;

	if (!held || sroce_psn_diff(held->psn, epsn) > 0)
		return NULL;
	unlink(hold, held);
	return held;
}

void sroce_hold_resize(struct sroce_hold *hold, struct sroce_held *held, u32 bytes)
{
	hold->bytes += bytes - held->bytes;
	held->bytes = bytes;
}

struct sroce_held *sroce_hold_drop(struct sroce_hold *hold)
{
	struct sroce_held *held = hold->first;

	if (held)
		unlink(hold, held);
	return held;
}

void sroce_hold_map(const struct sroce_hold *hold, u32 base, u8 *map, u32 bytes)
{
	const struct sroce_held *at;

	memset(map, 0, bytes);
	for (at = hold->first; at; at = at->next) {
		s32 bit = sroce_psn_diff(at->psn, base);

		if (bit < 0)
			continue;
		if (bit / 8 >= (s32)bytes)
			break;
		map[bit / 8] |= 0x80 >> (bit % 8);
	}
}
