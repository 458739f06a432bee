/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared receive queues. Locks: Documentation/locking.md; srq->lock comes after
 * resp_lock.
 */
#ifndef SROCE_SRQ_H
#define SROCE_SRQ_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "proto/wqe.h"
#include "ring.h"

/**
 * struct sroce_srq - shared receive queue
 * @ibsrq: what ib_core knows
 * @dev: device
 * @srqn: number: 24 bits, unique in the device
 * @max_sge: entries of the SG list of a WQE
 * @is_user: the ring is mapped by a process
 * @resize_lock: one resize at a time
 * @lock: serialises those who take WQEs, kernel consumers' posts, and a change of rings
 * @ring: the ring; @lock
 * @mem: its memory; @lock
 * @prod: kernel consumers: producer index; @lock
 * @limit: armed: fewer WQEs than this are an event; 0: not armed; @lock
 * @limit_event: bit 0: the event is due
 */
struct sroce_srq {
	struct ib_srq ibsrq;
	struct sroce_dev *dev;
	u32 srqn;
	u32 max_sge;
	bool is_user;
	struct mutex resize_lock;
	spinlock_t lock;
	struct sroce_ring ring;
	struct sroce_ring_mem *mem;
	u32 prod;
	u32 limit;
	unsigned long limit_event;
};

struct sroce_xrcd {
	struct ib_xrcd ibxrcd;
};

static inline struct sroce_srq *to_ssrq(struct ib_srq *ibsrq)
{
	return ibsrq ? container_of(ibsrq, struct sroce_srq, ibsrq) : NULL;
}

/**
 * sroce_xrc_srq_find - the XRC SRQ of a number
 * @dev: device
 * @xrcd: domain it must be in
 * @srqn: 24 bits
 *
 * RCU read lock held, and the SRQ with its PD and CQ is valid as long as it is.
 */
struct sroce_srq *sroce_xrc_srq_find(struct sroce_dev *dev, const struct ib_xrcd *xrcd, u32 srqn);

/**
 * sroce_srq_pull - take one receive WQE
 * @srq: shared receive queue
 * @rwqe: result
 * @bytes: of the message; a WQE for less stays in the queue
 *
 * BH disabled; takes @srq->lock. Returns 0, -ENOENT if there is none, or
 * -EMSGSIZE. The caller calls sroce_srq_upcall() when it holds no lock any more.
 */
int sroce_srq_pull(struct sroce_srq *srq, struct sroce_rwqe *rwqe, u64 bytes);

/**
 * sroce_srq_upcall - report the events that are due, on the CQ of an XRC SRQ too
 * @srq: shared receive queue
 *
 * No lock held, BH or process context.
 */
void sroce_srq_upcall(struct sroce_srq *srq);

/* Verbs; all but sroce_post_srq_recv() in process context */
int sroce_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata);
int sroce_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int sroce_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int sroce_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int sroce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);
int sroce_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int sroce_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/* post.c: a receive WQE of a kernel consumer into its slot */
int sroce_rwqe_fill(struct sroce_recv_wqe *wqe, const struct ib_recv_wr *wr, u32 max_sge);

#endif /* SROCE_SRQ_H */
