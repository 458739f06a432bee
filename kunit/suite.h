/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * First include of each suite: KUnit in the module, its stand-in on the host.
 *
 * Each suite file includes the one proto .c file that it tests, so that its
 * static functions are in reach and each is compiled once; the other suites'
 * files supply what it calls.
 */
#ifndef SROCE_SUITE_H
#define SROCE_SUITE_H

#ifdef __KERNEL__
#include <kunit/test.h>
#else
#include "kunit_shim.h"
#endif

#define SUITE_INIT(name_, cases_, init_)		\
	static struct kunit_suite name_ = {		\
		.name = #name_,				\
		.init = init_,				\
		.test_cases = cases_,			\
	};						\
	kunit_test_suite(name_)
#define SUITE(name_, cases_)	SUITE_INIT(name_, cases_, NULL)

/* KUNIT_EXPECT_MEMEQ() came with 6.2. */
#define EXPECT_BYTES(test, left, right, bytes) \
	KUNIT_EXPECT_EQ(test, memcmp(left, right, bytes), 0)

#endif /* SROCE_SUITE_H */
