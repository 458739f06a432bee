/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One stream of random numbers per run: splitmix64, the same on every machine.
 */
#ifndef SROCE_HOST_RNG_H
#define SROCE_HOST_RNG_H

#include "shim.h"

struct rng {
	u64 state;
};

static inline u64 rng_u64(struct rng *r)
{
	u64 z = r->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* rng_below - 0 ... @n - 1; 0 for @n = 0 */
static inline u32 rng_below(struct rng *r, u32 n)
{
	return n ? (rng_u64(r) >> 32) * n >> 32 : 0;
}

/* rng_range - @lo ... @hi, both included */
static inline u32 rng_range(struct rng *r, u32 lo, u32 hi)
{
	return lo + rng_below(r, hi - lo + 1);
}

/* rng_chance - true @ppm times in a million */
static inline bool rng_chance(struct rng *r, u32 ppm)
{
	return rng_below(r, 1000000) < ppm;
}

static inline bool rng_percent(struct rng *r, u32 percent)
{
	return rng_below(r, 100) < percent;
}

static inline void rng_fill(struct rng *r, void *to, u32 bytes)
{
	u8 *p = to;
	u32 i;

	for (i = 0; i + 8 <= bytes; i += 8) {
		u64 v = rng_u64(r);

		memcpy(p + i, &v, 8);
	}
	for (; i < bytes; i++)
		p[i] = rng_u64(r);
}

#define RNG_PICK(r, ...) ({						\
	static const u32 _of[] = { __VA_ARGS__ };			\
	_of[rng_below(r, ARRAY_SIZE(_of))]; })

#endif /* SROCE_HOST_RNG_H */
