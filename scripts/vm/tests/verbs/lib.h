/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Functional tests on libibverbs. One process opens two devices (VERBS_A and
 * VERBS_B: sroce_a and sroce_b; both may name the same one) and connects queue
 * pairs of one with queue pairs of the other.
 *
 * A program is a table of tests. Each test runs in a process of its own, with
 * the devices open, and ends there at the first check that fails; what it had is
 * cleaned up by the kernel. Times are of CLOCK_MONOTONIC, in ns. Deadlines are
 * generous: a slow machine makes no test fail.
 */
#ifndef VERBS_LIB_H
#define VERBS_LIB_H

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define US		1000ULL
#define MS		(1000 * US)
#define SEC		(1000 * MS)
#define PAGE		4096UL
#define PSN_MASK	0xffffffU

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- tests ---- */

struct test {
	const char *name;
	void (*run)(int arg);
	int arg;
	bool wire;		/* needs the switch: packets are looked at or dropped */
};

/* Shorter loops: the argument `quick` was given. */
extern bool quick;

/* The main() of each program. Last line: N passed, N failed. */
int verbs_main(int argc, char **argv, const struct test *tests, size_t n);

#define VERBS_MAIN(tests)						\
	int main(int argc, char **argv)					\
	{								\
		return verbs_main(argc, argv, tests, ARRAY_SIZE(tests));	\
	}

/* This test cannot be run here. */
void skip(const char *why) __attribute__((noreturn));
void fail_at(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define FAIL(...)	fail_at(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(cond)							\
	do {								\
		if (!(cond))						\
			FAIL("not so: %s", #cond);			\
	} while (0)

#define CHECK_EQ(is, want)						\
	do {								\
		long long is_ = (is), want_ = (want);			\
									\
		if (is_ != want_)					\
			FAIL("%s is %lld (0x%llx), not %lld (0x%llx)", #is,	\
			     is_, is_, want_, want_);			\
	} while (0)

#define CHECK_GE(is, min)						\
	do {								\
		long long is_ = (is), min_ = (min);			\
									\
		if (is_ < min_)						\
			FAIL("%s is %lld, less than %lld", #is, is_, min_);	\
	} while (0)

/* For calls that return 0, or an error in errno or as their value. */
#define CHECK_OK(call)							\
	do {								\
		int err_ = (call);					\
									\
		if (err_)						\
			FAIL("%s: %s", #call, strerror(err_ > 0 ? err_ : errno));	\
	} while (0)

uint64_t now(void);
/* The local ACK timeout of an attribute's value (IBA 9.7.6.1.3). */
static inline uint64_t timeout_ns(uint8_t code)
{
	return 4096ULL << code;
}

void sleep_ns(uint64_t ns);

/* ---- devices ---- */

struct node {
	const char *name;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int gid_index;
};

extern struct node node_a, node_b;

/* A hardware counter of the device, fresh; 0 if it has none of that name. */
uint64_t counter(const struct node *node, const char *name);
bool is_sroce(const struct node *node);

/* The address vector by which one device reaches the other. */
struct ibv_ah_attr av_to(const struct node *from, const struct node *to);

/* ---- pairs ---- */

#define ACCESS_ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |	\
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

struct setup {
	enum ibv_qp_type type;
	enum ibv_mtu mtu;
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
	uint32_t psn_a, psn_b;		/* first PSN that a, b sends */
	uint8_t rd_atomic, dest_rd_atomic;
	int qp_access, mr_access;
	uint32_t depth, sges, inline_bytes;
	uint32_t srq_wr;		/* not 0: receives are those of an SRQ of this depth */
	size_t bytes;			/* of the buffer of each end */
	uint64_t ex_ops;		/* IBV_QP_EX_WITH_*: extended posting */
	bool ece;			/* the ends agree on what both can do beyond the standard */
};

#define SETUP(...)							\
	((struct setup){ .type = IBV_QPT_RC, .mtu = IBV_MTU_1024,	\
			 .timeout = 17, .retry_cnt = 7, .rnr_retry = 7,	\
			 .min_rnr_timer = 1, .psn_a = 100, .psn_b = 200,	\
			 .rd_atomic = 16, .dest_rd_atomic = 16,		\
			 .qp_access = ACCESS_ALL, .mr_access = ACCESS_ALL,	\
			 .depth = 64, .sges = 4, .inline_bytes = 64,	\
			 .bytes = 64 * PAGE, ##__VA_ARGS__ })

struct end {
	struct node *node;
	struct end *peer;
	const struct setup *setup;
	uint32_t psn;
	struct ibv_comp_channel *chan;
	struct ibv_cq *scq, *rcq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
	size_t bytes;
};

struct pair {
	struct end a, b;
	struct setup setup;
};

/* Everything but the connection; both QPs are in RESET. */
void pair_create(struct pair *p, struct setup setup);
/* The same and connected: both in RTS. */
void pair_make(struct pair *p, struct setup setup);
void pair_free(struct pair *p);

struct ibv_ah_attr av_of_peer(const struct end *e);

void to_init(struct end *e);
void to_rtr(struct end *e);
void to_rts(struct end *e);
void to_state(struct end *e, enum ibv_qp_state state);
enum ibv_qp_state state_of(const struct end *e);

/* Until the QP is in this state. */
void wait_state_at(const char *file, int line, const struct end *e, enum ibv_qp_state state);
#define WAIT_STATE(e, state)	wait_state_at(__FILE__, __LINE__, e, state)

void *map_pages(size_t bytes);
struct ibv_mr *reg(struct node *node, void *addr, size_t bytes, int access);

/* ---- work requests ---- */

/* Where in the peer's memory, if not at .roff in its buffer. */
struct remote {
	uint64_t addr;
	uint32_t rkey;
};

struct op {
	enum ibv_wr_opcode code;	/* 0 is IBV_WR_RDMA_WRITE */
	uint64_t id;
	size_t off;			/* in the own buffer */
	uint32_t len;
	uint64_t roff;			/* in the peer's buffer */
	const struct remote *remote;
	struct ibv_sge *sg;		/* instead of off and len */
	int nsg;
	unsigned int flags;		/* IBV_SEND_*, besides SIGNALED */
	bool unsignaled;
	uint32_t imm;			/* or the key to invalidate */
	uint64_t add, swap;		/* add or compare; swap */
	uint32_t srqn;			/* XRC */
};

int try_post(struct end *e, const struct op *op);
void post_at(const char *file, int line, struct end *e, const struct op *op);
#define POST(e, ...)	post_at(__FILE__, __LINE__, e, &(struct op){ __VA_ARGS__ })
#define TRY_POST(e, ...)	try_post(e, &(struct op){ __VA_ARGS__ })

int try_recv(struct end *e, uint64_t id, struct ibv_sge *sg, int nsg);
void post_recv(struct end *e, uint64_t id, size_t off, uint32_t len);

/* ---- completions and events ---- */

/* The next completion. */
struct ibv_wc wait_wc_at(const char *file, int line, struct ibv_cq *cq);
#define WAIT_WC(cq)	wait_wc_at(__FILE__, __LINE__, cq)

/* The next completion, which must be this. */
struct ibv_wc expect_at(const char *file, int line, struct ibv_cq *cq, uint64_t id,
			enum ibv_wc_status status);
#define EXPECT(cq, id, status)	expect_at(__FILE__, __LINE__, cq, id, IBV_WC_##status)

/* The completions of first to last, in this order. */
void expect_all_at(const char *file, int line, struct ibv_cq *cq, uint64_t first, uint64_t last,
		   enum ibv_wc_status status);
#define EXPECT_ALL(cq, first, last, status)	\
	expect_all_at(__FILE__, __LINE__, cq, first, last, IBV_WC_##status)

/* No completion for so long. */
void expect_none_at(const char *file, int line, struct ibv_cq *cq, uint64_t ns);
#define EXPECT_NONE(cq, ns)	expect_none_at(__FILE__, __LINE__, cq, ns)

/* The next asynchronous event, which must be this, of this QP. */
void expect_event_at(const char *file, int line, const struct end *e, enum ibv_event_type type);
#define EXPECT_EVENT(e, type)	expect_event_at(__FILE__, __LINE__, e, IBV_EVENT_##type)
/* The same, of an SRQ. */
void expect_srq_event_at(const char *file, int line, const struct node *node,
			 const struct ibv_srq *srq, enum ibv_event_type type);
#define EXPECT_SRQ_EVENT(node, srq, type)	\
	expect_srq_event_at(__FILE__, __LINE__, node, srq, IBV_EVENT_##type)
void expect_no_event_at(const char *file, int line, const struct end *e, uint64_t ns);
#define EXPECT_NO_EVENT(e, ns)	expect_no_event_at(__FILE__, __LINE__, e, ns)

/* As long as for what is bound to happen. */
#define AT_LAST		UINT64_MAX

/* Does the completion channel have an event within that time? It is acknowledged. */
bool comp_event(struct end *e, uint64_t ns);

/* ---- data ---- */

/* Bytes that depend on seed and place. */
void fill(void *to, size_t bytes, uint32_t seed);
void check_fill_at(const char *file, int line, const void *at, size_t bytes, uint32_t seed);
#define CHECK_FILL(at, bytes, seed)	check_fill_at(__FILE__, __LINE__, at, bytes, seed)
void check_byte_at(const char *file, int line, const void *at, size_t bytes, uint8_t value);
#define CHECK_BYTE(at, bytes, value)	check_byte_at(__FILE__, __LINE__, at, bytes, value)

#endif /* VERBS_LIB_H */
