/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * For live_kunit.c: a device of this machine (module parameter device=NAME), two RC
 * queue pairs of it that are connected with each other, and work requests on them.
 * What cannot be had ends the test.
 */
#ifndef SROCE_LIVE_H
#define SROCE_LIVE_H

#include <kunit/test.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#define PAGES		8
#define BYTES		(PAGES * PAGE_SIZE)

/**
 * struct op - a work request under way
 * @cqe: its completion
 * @done: it came
 * @wc: what it was
 * @cpu: where we were told
 */
struct op {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
	int cpu;
};

/**
 * struct live - what a test has
 * @pd: domain of all
 * @cq: completion queue of all
 * @qp: a connection: two queue pairs
 * @pages: of @buf
 * @buf: half of it is sent from, half received to; the pages of the FAST region
 * @sg: the same for ib_map_mr_sg()
 * @mr: FAST region
 */
struct live {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp[2];
	struct page *pages;
	u8 *buf;
	struct scatterlist sg[PAGES];
	struct ib_mr *mr;
};

/* The device, between live_open() and live_close(). */
extern struct ib_device *live_device;

/* -ENODEV: there is none of that name. */
int live_open(void);
void live_close(void);

/* Completions are polled in @context, and are told on the CPU of @vector. */
void live_create_on(struct kunit *test, struct live *l, enum ib_poll_context context, int vector);
void live_create(struct kunit *test, struct live *l, enum ib_poll_context context);
void live_destroy(struct live *l);

/* ---- work ---- */

struct ib_sge live_sge(struct live *l, u32 offset, u32 bytes);
void live_op_init(struct op *op);
/* Until it is complete; its status. */
int live_wait(struct kunit *test, struct live *l, struct op *op);
/* Post one and wait for it; its status, also of those below. */
int live_run(struct kunit *test, struct live *l, struct ib_qp *qp, struct ib_send_wr *wr);
/* Receives are those of qp[1], and so is the FAST region; qp[0] sends. */
void live_post_recv(struct kunit *test, struct live *l, struct op *op, u32 offset, u32 bytes);
int live_reg_mr(struct kunit *test, struct live *l, int access);
int live_local_inv(struct kunit *test, struct live *l, u32 rkey);
int live_send_inv(struct kunit *test, struct live *l, u32 rkey);
/* A WRITE of the first @bytes of the buffer to the address @to. */
int live_write_to(struct kunit *test, struct live *l, u32 rkey, u64 to, u32 bytes);

#endif /* SROCE_LIVE_H */
