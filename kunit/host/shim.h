/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What proto/base.h takes from the kernel, for a program on the host. Only
 * names that proto/ and its suites use; the same meaning, never a wider one.
 */
#ifndef SROCE_HOST_SHIM_H
#define SROCE_HOST_SHIM_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;

#define U8_MAX		((u8)~0U)
#define U16_MAX		((u16)~0U)
#define U32_MAX		((u32)~0U)
#define S32_MAX		((s32)(U32_MAX >> 1))
#define U64_MAX		((u64)~0ULL)

#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))
#define GENMASK(h, l)	((~0UL << (l)) & (~0UL >> (63 - (h))))
#define GENMASK_ULL(h, l) ((~0ULL << (l)) & (~0ULL >> (63 - (h))))
#define FIELD_SHIFT(m)	__builtin_ctzll(m)
#define FIELD_PREP(m, v) ((typeof(m))(((typeof(m))(v) << FIELD_SHIFT(m)) & (m)))
#define FIELD_GET(m, v)	((typeof(m))(((v) & (m)) >> FIELD_SHIFT(m)))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define SZ_4K		4096
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))

#define BUILD_BUG_ON(c)	_Static_assert(!(c), #c)

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define fallthrough	__attribute__((__fallthrough__))
#define noinline	__attribute__((__noinline__))
#define __must_check	__attribute__((__warn_unused_result__))
#define __maybe_unused	__attribute__((__unused__))
#define __aligned(n)	__attribute__((__aligned__(n)))
#define __packed	__attribute__((__packed__))
#define __force

#define shim_cmp(x, y, op) ({ \
	typeof(x) _x = (x); \
	typeof(y) _y = (y); \
	_x op _y ? _x : _y; })
#define min(x, y)	shim_cmp(x, y, <)
#define max(x, y)	shim_cmp(x, y, >)
#define min_t(t, x, y)	shim_cmp((t)(x), (t)(y), <)
#define max_t(t, x, y)	shim_cmp((t)(x), (t)(y), >)
#define min3(x, y, z)	min(min(x, y), z)
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define clamp_t(t, v, lo, hi) min_t(t, max_t(t, v, lo), hi)

#define check_add_overflow(a, b, d) __builtin_add_overflow(a, b, d)
#define check_sub_overflow(a, b, d) __builtin_sub_overflow(a, b, d)
#define check_mul_overflow(a, b, d) __builtin_mul_overflow(a, b, d)

#define barrier()	__asm__ __volatile__("" : : : "memory")
#define READ_ONCE(x)	(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile typeof(x) *)&(x) = (v))

/* A condition the kernel would warn about is a bug: stop where it is. */
static inline void shim_warn(const char *cond, const char *file, int line)
{
	fflush(stdout);
	fprintf(stderr, "%s:%d: WARN_ON(%s)\n", file, line, cond);
	abort();
}

#define WARN_ON(c) ({ \
	bool _c = !!(c); \
	if (unlikely(_c)) \
		shim_warn(#c, __FILE__, __LINE__); \
	_c; })
#define WARN_ON_ONCE(c)	WARN_ON(c)

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline s64 div_s64(s64 a, s32 b)
{
	return a / b;
}

static inline s64 div64_s64(s64 a, s64 b)
{
	return a / b;
}

static inline u64 mul_u64_u32_shr(u64 a, u32 mul, unsigned int shift)
{
	return (unsigned __int128)a * mul >> shift;
}

/* The largest integer whose square is not above @x, digit by digit. */
static inline u32 int_sqrt64(u64 x)
{
	u64 root = 0, bit = 1ULL << 62;

	while (bit > x)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

static inline u16 get_unaligned_be16(const void *at)
{
	const u8 *p = at;

	return p[0] << 8 | p[1];
}

static inline u32 get_unaligned_be24(const void *at)
{
	const u8 *p = at;

	return p[0] << 16 | p[1] << 8 | p[2];
}

static inline u32 get_unaligned_be32(const void *at)
{
	const u8 *p = at;

	return (u32)p[0] << 24 | get_unaligned_be24(p + 1);
}

static inline u64 get_unaligned_be64(const void *at)
{
	const u8 *p = at;

	return (u64)get_unaligned_be32(p) << 32 | get_unaligned_be32(p + 4);
}

static inline u32 get_unaligned_le32(const void *at)
{
	const u8 *p = at;

	return (u32)p[3] << 24 | p[2] << 16 | p[1] << 8 | p[0];
}

static inline void put_unaligned_be16(u16 v, void *at)
{
	u8 *p = at;

	p[0] = v >> 8;
	p[1] = v;
}

static inline void put_unaligned_be24(u32 v, void *at)
{
	u8 *p = at;

	p[0] = v >> 16;
	p[1] = v >> 8;
	p[2] = v;
}

static inline void put_unaligned_be32(u32 v, void *at)
{
	u8 *p = at;

	p[0] = v >> 24;
	put_unaligned_be24(v, p + 1);
}

static inline void put_unaligned_be64(u64 v, void *at)
{
	put_unaligned_be32(v >> 32, at);
	put_unaligned_be32(v, (u8 *)at + 4);
}

static inline void put_unaligned_le32(u32 v, void *at)
{
	u8 *p = at;

	p[0] = v;
	p[1] = v >> 8;
	p[2] = v >> 16;
	p[3] = v >> 24;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define cpu_to_be16(v)	((__be16)__builtin_bswap16(v))
#define cpu_to_be32(v)	((__be32)__builtin_bswap32(v))
#define cpu_to_be64(v)	((__be64)__builtin_bswap64(v))
#define cpu_to_le32(v)	((__le32)(v))
#else
#define cpu_to_be16(v)	((__be16)(v))
#define cpu_to_be32(v)	((__be32)(v))
#define cpu_to_be64(v)	((__be64)(v))
#define cpu_to_le32(v)	((__le32)__builtin_bswap32(v))
#endif
#define be16_to_cpu(v)	((u16)cpu_to_be16(v))
#define be32_to_cpu(v)	((u32)cpu_to_be32(v))
#define be64_to_cpu(v)	((u64)cpu_to_be64(v))
#define le32_to_cpu(v)	((u32)cpu_to_le32(v))

#endif /* SROCE_HOST_SHIM_H */
