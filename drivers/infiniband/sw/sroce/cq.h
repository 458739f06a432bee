/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion queues. CQEs are written into the ring the process has mapped.
 * Completion handlers are never called under a lock: posting only notes that
 * one is due, sroce_cq_upcall() calls it after the QP's locks are dropped.
 */
#ifndef SROCE_CQ_H
#define SROCE_CQ_H

#include <linux/hrtimer.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "ring.h"

/**
 * struct sroce_cq - completion queue
 * @ibcq: what ib_core knows
 * @lock: serialises producers, resize and (kernel) consumers; innermost of all locks
 * @ring: the ring; we produce. Kernel CQ: we consume too
 * @mem: its memory
 * @cons: kernel CQ: consumer index
 * @is_user: mapped by a process
 * @overrun: a CQE was lost; the CQ is in error
 * @moderate_count: completions that make an event; 0: every one; @lock
 * @moderate_ns: an event comes no later than this after the first of them; @lock
 * @held: completions that an armed CQ has not told of; @lock
 * @held_bits: SROCE_CQ_ARM_* that these answer to; @lock
 * @timer: ends @moderate_ns
 * @cpu: kernel CQ: of the completion vector; where the handler is called
 * @work: kernel CQ: calls it there
 * @notify: bit 0: the handler is due
 * @overrun_event: bit 0: the CQ_ERR event is due
 */
struct sroce_cq {
	struct ib_cq ibcq;
	spinlock_t lock;
	struct sroce_ring ring;
	struct sroce_ring_mem *mem;
	u32 cons;
	bool is_user;
	bool overrun;
	u32 moderate_count;
	u64 moderate_ns;
	u32 held;
	u32 held_bits;
	struct hrtimer timer;
	int cpu;
	struct work_struct work;
	unsigned long notify;
	unsigned long overrun_event;
};

static inline struct sroce_cq *to_scq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct sroce_cq, ibcq);
}

/*
 * A kernel CQ's CQE carries in the reserved words what only the kernel can have:
 * the VLAN a UD message came through, and the QP for ib_wc.qp. They are cleared
 * in the CQE of a user CQ.
 */
#define SROCE_CQE_VLAN		(1U << 31)
#define SROCE_NO_VLAN		0xffff

static inline void sroce_cqe_set_vlan(struct sroce_cqe *cqe, u16 vlan_id)
{
	cqe->rsvd1[0] = vlan_id == SROCE_NO_VLAN ? 0 : SROCE_CQE_VLAN | vlan_id;
}

static inline void sroce_cqe_set_qp(struct sroce_cqe *cqe, struct ib_qp *qp)
{
	memcpy(&cqe->rsvd1[1], &qp, sizeof(qp));
}

/**
 * sroce_cq_post - add a CQE
 * @cq: completion queue
 * @cqe: complete; timestamp_ns is filled here
 * @solicited: a solicited event or an error: counts for IB_CQ_SOLICITED
 *
 * Takes @cq->lock, with interrupts off: kernel consumers poll in any context. On
 * overrun the CQE is lost and the CQ_ERR event noted. The caller calls
 * sroce_cq_upcall() when it holds no lock any more. Returns the producer index.
 */
u32 sroce_cq_post(struct sroce_cq *cq, struct sroce_cqe *cqe, bool solicited);

/**
 * sroce_cq_is_read - has the consumer taken all CQEs before an index?
 * @cq: completion queue
 * @end: what sroce_cq_post() returned
 *
 * Takes @cq->lock. Only a hint: a process may write what it likes there.
 */
bool sroce_cq_is_read(struct sroce_cq *cq, u32 end);

/**
 * sroce_cq_upcall - call the handlers that are due; no lock held, BH or process context
 * @cq: completion queue
 *
 * The handler of a kernel CQ is called on the CPU of the CQ's completion vector with BH
 * disabled: at once if that is this one, else soon. So it is never called twice at a time.
 * That of a user CQ only wakes somebody, and is called here.
 */
void sroce_cq_upcall(struct sroce_cq *cq);

/**
 * sroce_cq_settle - what is held or on its way to a kernel CQ's handler has got there
 * @cq: completion queue
 *
 * When a QP is gone nothing of it comes any more: consumers free what their handler
 * needs when all QPs are. Process context; not from the handler.
 */
void sroce_cq_settle(struct sroce_cq *cq);

/* cq.c: process context */
int sroce_cq_init(void);
void sroce_cq_exit(void);

/* ib_device_ops */
struct uverbs_attr_bundle;
int sroce_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs);
int sroce_create_user_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			 struct uverbs_attr_bundle *attrs);
int sroce_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);
int sroce_modify_cq(struct ib_cq *ibcq, u16 count, u16 period_us);
int sroce_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int sroce_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int sroce_peek_cq(struct ib_cq *ibcq, int wc_cnt);
int sroce_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* SROCE_CQ_H */
