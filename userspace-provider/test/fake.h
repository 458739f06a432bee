/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A stand-in for libibverbs and the kernel, and the little of a test framework.
 *
 * The provider is used as libibverbs uses it: through the operations that it
 * registers. Rings are pages of a memory file, which is the context's cmd_fd, so
 * the provider maps them as it would map the kernel's.
 */
#ifndef SROCE_TEST_FAKE_H
#define SROCE_TEST_FAKE_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sroce.h"

/* TEST(name) { ... }: registers itself; runs on a fresh fake. */
struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
};
void test_register(struct test *t);
void test_fail(const char *file, int line, const char *what);

#define TEST(name)							\
	static void test_##name(void);					\
	static __attribute__((constructor)) void register_##name(void)	\
	{								\
		static struct test t = { #name, test_##name, NULL };	\
		test_register(&t);					\
	}								\
	static void test_##name(void)

#define CHECK(cond)							\
	do {								\
		if (!(cond))						\
			test_fail(__FILE__, __LINE__, #cond);		\
	} while (0)

#define CHECK_EQ(a, b)							\
	do {								\
		long long a_ = (long long)(a), b_ = (long long)(b);	\
		if (a_ != b_) {						\
			char what_[256];				\
			snprintf(what_, sizeof(what_), "%s == %s (%lld, %lld)", #a, #b, a_, b_); \
			test_fail(__FILE__, __LINE__, what_);		\
		}							\
	} while (0)

#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

/* What the kernel would be told or would answer. Set before a create call. */
struct fake {
	/* in: the rings that create calls make */
	uint32_t sq_entries, rq_entries, srq_entries, cq_entries;
	uint32_t sq_stride, rq_stride, cq_stride;
	uint32_t first_index;		/* of both indices of a new ring */
	uint32_t short_bytes;		/* mmap_bytes too small by this */
	uint32_t max_inline, max_send_sge, max_recv_sge;
	uint32_t features, ece_options;

	/* in: faults */
	int modify_error;		/* what modify_qp returns */
	int resize_error;
	int write_error;		/* errno of the doorbell */
	int write_interrupts;		/* so many EINTR before it works */
	int mmaps_until_fail;		/* 0: never; 1: the next one */

	/* out: rings of the last create calls, the kernel's side */
	struct sroce_ring sq, rq, srq, cq;

	/* out: calls */
	int doorbells;			/* writes that arrived */
	struct ibv_post_send doorbell;	/* the last one */
	void (*on_doorbell)(void);
	int mapped;			/* mappings of the provider, now */
	int destroyed_qps, destroyed_cqs;
	size_t modify_bytes;		/* command size of the last modify_qp */
	uint32_t modify_ece;

	int fd;
	struct ibv_context *context;
	struct verbs_context_ops ops;	/* all that the provider set */
};
extern struct fake fake;

/* Objects as an application makes them; they live in the provider. */
struct ibv_pd *fake_pd(void);
struct ibv_cq *fake_cq(void);
struct ibv_cq_ex *fake_cq_ex(uint64_t wc_flags, uint32_t flags);
struct ibv_qp *fake_qp(enum ibv_qp_type type, struct ibv_cq *cq);
struct ibv_qp_ex *fake_qp_ex(enum ibv_qp_type type, struct ibv_cq *cq, uint64_t ops);
int fake_modify(struct ibv_qp *qp, enum ibv_qp_state state);
void fake_destroy_all(void);
bool fake_is_locked(struct sroce_lock *lock);

/* The kernel at work. */
const void *fake_take(struct sroce_ring *ring);	/* the next entry, or NULL */
void fake_complete(struct sroce_ring *ring, const struct sroce_cqe *cqe);
void fake_complete_simple(struct sroce_ring *ring, uint64_t wr_id, uint32_t qpn);

/* The data behind a send or receive header. */
static inline const struct sroce_sge *wqe_sge(const void *wqe, size_t header)
{
	return (const struct sroce_sge *)((const char *)wqe + header);
}

#endif /* SROCE_TEST_FAKE_H */
