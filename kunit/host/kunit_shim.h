/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The part of KUnit that the suites use, for the host: the same source files,
 * run at once and under the sanitizers.
 */
#ifndef SROCE_KUNIT_SHIM_H
#define SROCE_KUNIT_SHIM_H

#include <setjmp.h>

#include "shim.h"

#define KUNIT_PARAM_DESC_SIZE	128

struct kunit {
	const char *name;
	const void *param_value;
	void *priv;
	unsigned int failures;
	jmp_buf abort;
	void *allocated[16];
	unsigned int num_allocated;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(struct kunit *test, const void *prev, char *desc);
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
	struct kunit_suite *next;
};

#define KUNIT_CASE(fn)		{ .run_case = fn, .name = #fn }
#define KUNIT_CASE_PARAM(fn, gen) \
	{ .run_case = fn, .name = #fn, .generate_params = gen }

#define KUNIT_ARRAY_PARAM(name_, array, get_desc)					\
	static const void *name_##_gen_params(struct kunit *test, const void *prev,	\
					      char *desc)				\
	{										\
		typeof((array)[0]) *next = prev ? ((typeof(next))prev) + 1 : (array);	\
											\
		(void)test;								\
		if (next - (array) >= (ptrdiff_t)ARRAY_SIZE(array))			\
			return NULL;							\
		get_desc(next, desc);							\
		return next;								\
	}

#define kunit_test_suite(suite)						\
	static __attribute__((constructor)) void suite##_register(void)	\
	{								\
		kunit_register(&suite);					\
	}								\
	_Static_assert(1, "so that a semicolon may follow")

#define GFP_KERNEL 0

void kunit_register(struct kunit_suite *suite);
void *kunit_kzalloc(struct kunit *test, size_t bytes, int gfp);
void kunit_fail(struct kunit *test, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#define KUNIT_FAIL(test, ...)	kunit_fail(test, __FILE__, __LINE__, __VA_ARGS__)

#define KUNIT_SHIM_CMP(test, a, op, b, abort_) do {					\
	const typeof(a) _a = (a);							\
	const typeof(b) _b = (b);							\
											\
	if (!(_a op _b)) {								\
		kunit_fail(test, __FILE__, __LINE__,					\
			   "%s %s %s: %lld (0x%llx), %lld (0x%llx)", #a, #op, #b,	\
			   (long long)_a, (long long)_a, (long long)_b, (long long)_b);	\
		if (abort_)								\
			longjmp((test)->abort, 1);					\
	}										\
} while (0)

#define KUNIT_EXPECT_EQ(test, a, b)	KUNIT_SHIM_CMP(test, a, ==, b, false)
#define KUNIT_EXPECT_NE(test, a, b)	KUNIT_SHIM_CMP(test, a, !=, b, false)
#define KUNIT_EXPECT_LT(test, a, b)	KUNIT_SHIM_CMP(test, a, <, b, false)
#define KUNIT_EXPECT_LE(test, a, b)	KUNIT_SHIM_CMP(test, a, <=, b, false)
#define KUNIT_EXPECT_GT(test, a, b)	KUNIT_SHIM_CMP(test, a, >, b, false)
#define KUNIT_EXPECT_GE(test, a, b)	KUNIT_SHIM_CMP(test, a, >=, b, false)
#define KUNIT_EXPECT_TRUE(test, c)	KUNIT_SHIM_CMP(test, !!(c), ==, 1, false)
#define KUNIT_EXPECT_FALSE(test, c)	KUNIT_SHIM_CMP(test, !!(c), ==, 0, false)
#define KUNIT_ASSERT_EQ(test, a, b)	KUNIT_SHIM_CMP(test, a, ==, b, true)
#define KUNIT_ASSERT_NE(test, a, b)	KUNIT_SHIM_CMP(test, a, !=, b, true)
#define KUNIT_ASSERT_LE(test, a, b)	KUNIT_SHIM_CMP(test, a, <=, b, true)
#define KUNIT_ASSERT_GE(test, a, b)	KUNIT_SHIM_CMP(test, a, >=, b, true)
#define KUNIT_ASSERT_TRUE(test, c)	KUNIT_SHIM_CMP(test, !!(c), ==, 1, true)
#define KUNIT_ASSERT_FALSE(test, c)	KUNIT_SHIM_CMP(test, !!(c), ==, 0, true)
#define KUNIT_ASSERT_NOT_NULL(test, p)	KUNIT_SHIM_CMP(test, !(p), ==, 0, true)

#endif /* SROCE_KUNIT_SHIM_H */
