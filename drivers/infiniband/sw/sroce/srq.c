// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues. A process posts into a mapped ring like that of an RQ;
 * the QPs take from it, each under its own resp_lock and then srq->lock. What a
 * QP has taken is a private copy in the QP, so an SRQ never waits for a QP.
 *
 * Requests of XRC name the SRQ by its number. A QP looks it up for each packet,
 * under RCU, and keeps nothing of it: an XRC SRQ may go at any time.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/uverbs_ioctl.h>

#include "context.h"
#include "cq.h"
#include "srq.h"

#define SRQN_MAX	0xffffff

static bool is_xrc(const struct sroce_srq *srq)
{
	return srq->ibsrq.srq_type == IB_SRQT_XRC;
}

struct sroce_srq *sroce_xrc_srq_find(struct sroce_dev *dev, const struct ib_xrcd *xrcd, u32 srqn)
{
	/* Only XRC SRQs are in the table; of others the number is taken. */
	struct sroce_srq *srq = xa_load(&dev->srq, srqn);

	return srq && srq->ibsrq.ext.xrc.xrcd == xrcd ? srq : NULL;
}

/* ---- taking ---- */

/* After the number of WQEs fell or the limit rose. */
static void check_limit(struct sroce_srq *srq)
{
	lockdep_assert_held(&srq->lock);
	if (!srq->limit || sroce_ring_used(&srq->ring) >= srq->limit)
		return;
	srq->limit = 0;
	set_bit(0, &srq->limit_event);
}

int sroce_srq_pull(struct sroce_srq *srq, struct sroce_rwqe *rwqe, u64 bytes)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&srq->lock, flags);
	if (!sroce_ring_used(&srq->ring)) {
		err = -ENOENT;
		goto out;
	}
	sroce_rwqe_decode(sroce_ring_slot(&srq->ring, srq->ring.cons), srq->max_sge, rwqe);
	if (!rwqe->bad && rwqe->length < bytes) {
		rwqe->valid = false;
		err = -EMSGSIZE;
		goto out;
	}
	rwqe->srqn = is_xrc(srq) ? srq->srqn : 0;
	sroce_ring_release(&srq->ring, 1);
	check_limit(srq);
out:
	spin_unlock_irqrestore(&srq->lock, flags);
	return err;
}

void sroce_srq_upcall(struct sroce_srq *srq)
{
	struct ib_event event = {
		.device = &srq->dev->ibdev,
		.element.srq = &srq->ibsrq,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	if (test_bit(0, &srq->limit_event) && test_and_clear_bit(0, &srq->limit_event) &&
	    srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
	if (is_xrc(srq))
		sroce_cq_upcall(to_scq(srq->ibsrq.ext.cq));
}

/* ---- kernel consumers ---- */

int sroce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	struct sroce_srq *srq = to_ssrq(ibsrq);
	struct sroce_ring *ring = &srq->ring;
	unsigned long flags;
	int err = 0;

	/* The WQEs of a process are in the ring, and nobody asks for a doorbell. */
	if (srq->is_user)
		return 0;
	spin_lock_irqsave(&srq->lock, flags);
	for (; wr; wr = wr->next) {
		if (srq->prod - ring->cons > ring->mask)
			err = -ENOMEM;
		else
			err = sroce_rwqe_fill(sroce_ring_slot(ring, srq->prod), wr, srq->max_sge);
		if (err) {
			*bad_wr = wr;
			break;
		}
		srq->prod++;
	}
	/* (C) of sroce/ring.h */
	smp_store_release(&ring->ctrl->prod, srq->prod);
	spin_unlock_irqrestore(&srq->lock, flags);
	return err;
}

/* ---- life ---- */

static int check_init(const struct ib_srq_init_attr *init)
{
	const struct ib_srq_attr *attr = &init->attr;

	if (init->srq_type != IB_SRQT_BASIC && init->srq_type != IB_SRQT_XRC)
		return -EOPNOTSUPP;
	if (init->srq_type == IB_SRQT_XRC && (!init->ext.xrc.xrcd || !init->ext.cq))
		return -EINVAL;
	if (!attr->max_wr || attr->max_wr > SROCE_MAX_SRQ_WR || attr->max_sge > SROCE_MAX_SRQ_SGE)
		return -EINVAL;
	return 0;
}

static int alloc_srqn(struct sroce_srq *srq)
{
	struct sroce_dev *dev = srq->dev;
	int err;

	err = sroce_object_take(&dev->objects, SROCE_OBJ_SRQ);
	if (err)
		return err;
	err = xa_alloc_cyclic(&dev->srq, &srq->srqn, NULL, XA_LIMIT(1, SRQN_MAX), &dev->srq_next,
			      GFP_KERNEL);
	if (err >= 0)
		return 0;
	sroce_object_put(&dev->objects, SROCE_OBJ_SRQ);
	return err;
}

static void free_srqn(struct sroce_srq *srq)
{
	xa_erase(&srq->dev->srq, srq->srqn);
	sroce_object_put(&srq->dev->objects, SROCE_OBJ_SRQ);
}

static struct sroce_ring_mem *create_ring(struct sroce_srq *srq, struct sroce_ring *ring,
					  u32 max_wr, struct sroce_ring_info *info)
{
	struct ib_ucontext *uctx = srq->is_user ? srq->ibsrq.pd->uobject->context : NULL;

	return sroce_ring_create(uctx, ring, roundup_pow_of_two(max_wr),
				 sizeof(struct sroce_recv_wqe) +
				 srq->max_sge * sizeof(struct sroce_sge), info);
}

int sroce_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct sroce_uresp_create_srq uresp = {};
	struct sroce_srq *srq = to_ssrq(ibsrq);
	int err;

	if (udata && udata->outlen < sizeof(uresp))
		return -EINVAL;
	err = check_init(init);
	if (err)
		return err;
	srq->dev = to_sdev(ibsrq->device);
	srq->is_user = udata;
	srq->max_sge = init->attr.max_sge;
	mutex_init(&srq->resize_lock);
	spin_lock_init(&srq->lock);

	srq->mem = create_ring(srq, &srq->ring, init->attr.max_wr, &uresp.ring);
	if (IS_ERR(srq->mem))
		return PTR_ERR(srq->mem);
	err = alloc_srqn(srq);
	if (err)
		goto free_ring;
	uresp.srqn = srq->srqn;
	uresp.max_sge = srq->max_sge;
	err = udata && is_xrc(srq) ? sroce_context_lend(ibsrq->pd->uobject->context) : 0;
	if (!err && udata)
		err = ib_copy_to_udata(udata, &uresp, sizeof(uresp));
	if (err)
		goto free_srqn;
	if (is_xrc(srq)) {
		ibsrq->ext.xrc.srq_num = srq->srqn;
		/* From here on packets find it. */
		xa_store(&srq->dev->srq, srq->srqn, srq, GFP_KERNEL);
	}
	init->attr.max_wr = srq->ring.mask + 1;
	return 0;

free_srqn:
	free_srqn(srq);
free_ring:
	sroce_ring_destroy(srq->mem);
	return err;
}

int sroce_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct sroce_srq *srq = to_ssrq(ibsrq);

	/*
	 * Basic: no QP refers to us any more, and the last one has waited for its users.
	 * XRC: packets no longer find us; those being received are waited for.
	 */
	free_srqn(srq);
	if (is_xrc(srq)) {
		synchronize_rcu_expedited();
		sroce_cq_settle(to_scq(ibsrq->ext.cq));
	}
	sroce_ring_destroy(srq->mem);
	return 0;
}

/* XRC domains: ib_core has all there is to them. */
int sroce_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}

int sroce_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}

int sroce_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct sroce_srq *srq = to_ssrq(ibsrq);

	spin_lock_irq(&srq->lock);
	attr->max_wr = srq->ring.mask + 1;
	attr->max_sge = srq->max_sge;
	attr->srq_limit = srq->limit;
	spin_unlock_irq(&srq->lock);
	return 0;
}

/* ---- modify: all of it or nothing ---- */

static void copy_wqes(struct sroce_ring *to, const struct sroce_ring *from, u32 begin, u32 end)
{
	for (; begin != end; begin++)
		memcpy(sroce_ring_slot(to, begin), sroce_ring_slot(from, begin), from->stride);
}

/*
 * Copy the WQEs that are waiting to @next without the lock, under the indices they
 * have. What is taken meanwhile does not matter. Returns up to where they are there.
 */
static int copy_ahead(struct sroce_srq *srq, struct sroce_ring *next, u32 *end)
{
	struct sroce_ring *ring = &srq->ring;
	u32 begin, n;

	lockdep_assert_held(&srq->resize_lock);
	spin_lock_irq(&srq->lock);
	begin = ring->cons;
	n = sroce_ring_used(ring);
	spin_unlock_irq(&srq->lock);
	if (n > next->mask + 1)
		return -EINVAL;
	copy_wqes(next, ring, begin, begin + n);
	*end = begin + n;
	return 0;
}

/* Change over to @next, which has the waiting WQEs up to @copied already. */
static int change_ring(struct sroce_srq *srq, struct sroce_ring *next, u32 copied)
{
	struct sroce_ring *ring = &srq->ring;
	u32 n = sroce_ring_used(ring);

	lockdep_assert_held(&srq->lock);
	if (n > next->mask + 1)
		return -EINVAL;
	next->cons = ring->cons;
	next->prod = ring->cons + n;
	/* It is not among them if all of those were taken, or the process set its index back. */
	if (copied - next->cons > n)
		copied = next->cons;
	copy_wqes(next, ring, copied, next->prod);
	sroce_store(&next->ctrl->cons, next->cons);
	sroce_store_release(&next->ctrl->prod, next->prod);
	*ring = *next;
	return 0;
}

static void set_limit(struct sroce_srq *srq, u32 limit)
{
	lockdep_assert_held(&srq->lock);
	srq->limit = limit;
	check_limit(srq);
}

static int resize(struct sroce_srq *srq, const struct ib_srq_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct sroce_uresp_modify_srq uresp = {};
	struct sroce_ureq_modify_srq ureq;
	struct sroce_ring_mem *mem;
	struct sroce_ring next;
	u32 copied;
	int err;

	if (udata && udata->inlen < sizeof(ureq))
		return -EINVAL;
	err = udata ? ib_copy_from_udata(&ureq, udata, sizeof(ureq)) : 0;
	if (err)
		return err;
	mem = create_ring(srq, &next, attr->max_wr, &uresp.ring);
	if (IS_ERR(mem))
		return PTR_ERR(mem);

	/* Answer first: afterwards there is no way back. */
	if (udata && copy_to_user(u64_to_user_ptr(ureq.resp_addr), &uresp, sizeof(uresp)))
		err = -EFAULT;
	err = err ?: copy_ahead(srq, &next, &copied);
	if (!err) {
		spin_lock_irq(&srq->lock);
		err = change_ring(srq, &next, copied);
		if (!err) {
			swap(srq->mem, mem);
			if (mask & IB_SRQ_LIMIT)
				set_limit(srq, attr->srq_limit);
		}
		spin_unlock_irq(&srq->lock);
	}
	sroce_ring_destroy(mem);
	return err;
}

int sroce_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct sroce_srq *srq = to_ssrq(ibsrq);
	u32 max_wr, limit;
	int err = 0;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	if (mask & IB_SRQ_MAX_WR && (!attr->max_wr || attr->max_wr > SROCE_MAX_SRQ_WR))
		return -EINVAL;

	mutex_lock(&srq->resize_lock);
	max_wr = mask & IB_SRQ_MAX_WR ? roundup_pow_of_two(attr->max_wr) : srq->ring.mask + 1;
	limit = mask & IB_SRQ_LIMIT ? attr->srq_limit : READ_ONCE(srq->limit);
	if (limit > max_wr) {
		err = -EINVAL;
	} else if (mask & IB_SRQ_MAX_WR) {
		err = resize(srq, attr, mask, udata);
	} else if (mask & IB_SRQ_LIMIT) {
		spin_lock_irq(&srq->lock);
		set_limit(srq, limit);
		spin_unlock_irq(&srq->lock);
	}
	mutex_unlock(&srq->resize_lock);

	sroce_srq_upcall(srq);
	return err;
}
