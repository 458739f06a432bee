// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows. Binding and unbinding are rare: one lock a device serialises
 * them with each other and with the end of the regions below.
 */
#include "device.h"
#include "mw.h"
#include "qp.h"

#define ACCESS_SUPPORTED	(SROCE_REMOTE_ACCESS | IB_ACCESS_LOCAL_WRITE | IB_ZERO_BASED |	\
				 IB_ACCESS_OPTIONAL)

static struct sroce_mw *to_smw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct sroce_mw, ibmw);
}

static struct sroce_dev *mw_dev(const struct sroce_mw *mw)
{
	return to_sdev(mw->ibmw.device);
}

int sroce_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct sroce_mw *mw = to_smw(ibmw);
	int err;

	mw->mr.kind = SROCE_MR_WINDOW;
	mw->mr.ibmr.pd = ibmw->pd;
	mw->mr.ibmr.device = ibmw->device;
	INIT_LIST_HEAD(&mw->of_qp);
	err = sroce_mem_give_key(mw_dev(mw), &mw->mr);
	if (!err)
		ibmw->rkey = mw->mr.key;
	return err;
}

static void unbind(struct sroce_mw *mw)
{
	lockdep_assert_held(&mw_dev(mw)->window_lock);
	sroce_mr_stop(&mw->mr);
	if (mw->region)
		mw->region->windows--;
	mw->region = NULL;
	list_del_init(&mw->of_qp);
}

/* The key goes first: after the grace period nobody can have found the window to bind it. */
int sroce_dealloc_mw(struct ib_mw *ibmw)
{
	struct sroce_mw *mw = to_smw(ibmw);
	struct sroce_dev *dev = mw_dev(mw);

	sroce_mem_take_key(dev, &mw->mr);
	synchronize_rcu_expedited();
	spin_lock_bh(&dev->window_lock);
	unbind(mw);
	spin_unlock_bh(&dev->window_lock);
	return 0;
}

static bool window_ok(const struct sroce_mw *mw, const struct sroce_qp *qp,
		      const struct sroce_swqe *wqe)
{
	if (mw->ibmw.pd != qp->ibqp.pd || wqe->feth & ~ACCESS_SUPPORTED)
		return false;
	if (mw->ibmw.type == IB_MW_TYPE_1)
		return !(wqe->feth & IB_ZERO_BASED);
	/* Type 2 has to be unbound, by an invalidation. */
	return !mw->mr.valid && wqe->swap;
}

static bool region_ok(const struct sroce_mr *mr, const struct sroce_qp *qp,
		      const struct sroce_swqe *wqe)
{
	u64 addr = wqe->compare_add, bytes = wqe->swap;

	if (!mr || mr->kind != SROCE_MR_USER || !mr->valid || mr->key != wqe->mr_key ||
	    mr->ibmr.pd != qp->ibqp.pd || !(mr->access & IB_ACCESS_MW_BIND))
		return false;
	if (wqe->feth & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	return addr >= mr->iova && addr - mr->iova <= mr->length &&
	       bytes <= mr->length - (addr - mr->iova);
}

static void bind(struct sroce_mw *mw, struct sroce_mr *region, struct sroce_qp *qp,
		 const struct sroce_swqe *wqe)
{
	u64 at = wqe->compare_add - region->iova + region->first_offset;
	struct sroce_mr *mr = &mw->mr;

	mr->block_shift = region->block_shift;
	mr->blocks = region->blocks + (at >> region->block_shift);
	mr->first_offset = at & (BIT_ULL(region->block_shift) - 1);
	mr->length = wqe->swap;
	mr->iova = wqe->feth & IB_ZERO_BASED ? 0 : wqe->compare_add;
	WRITE_ONCE(mr->access, wqe->feth & SROCE_REMOTE_ACCESS);
	WRITE_ONCE(mr->qpn, mw->ibmw.type == IB_MW_TYPE_2 ? qp->qpn : 0);
	if (mr->qpn)
		list_add(&mw->of_qp, &qp->windows);
	mw->region = region;
	region->windows++;
	/* Whoever sees it valid sees all of the above: pairs with mr_by_key(). */
	smp_store_release(&mr->valid, true);
}

/* Under the lock. A type 1 window of no length is unbound, and has its new key all the same. */
static int bind_locked(struct sroce_mw *mw, struct sroce_qp *qp, const struct sroce_swqe *wqe)
{
	struct sroce_mr *region = NULL;

	if (!window_ok(mw, qp, wqe))
		return -EINVAL;
	if (wqe->swap) {
		region = xa_load(&qp->dev->mem, wqe->mr_key >> 8);
		if (!region_ok(region, qp, wqe))
			return -EINVAL;
	}
	unbind(mw);
	WRITE_ONCE(mw->mr.key, wqe->rkey);
	if (region)
		bind(mw, region, qp, wqe);
	return 0;
}

/*
 * The index in the key names the window, the tag is the consumer's choice. (A library
 * need not know which tag the window has: only that of the new key counts.)
 */
int sroce_mw_bind(struct sroce_qp *qp, const struct sroce_swqe *wqe)
{
	struct sroce_dev *dev = qp->dev;
	struct sroce_mr *mr;
	int err;

	lockdep_assert_held(&qp->req_lock);
	mr = xa_load(&dev->mem, wqe->inv_rkey >> 8);
	if (!mr || mr->kind != SROCE_MR_WINDOW || (wqe->inv_rkey ^ wqe->rkey) >> 8)
		return -EINVAL;
	spin_lock(&dev->window_lock);
	err = bind_locked(container_of(mr, struct sroce_mw, mr), qp, wqe);
	spin_unlock(&dev->window_lock);
	return err;
}

int sroce_mw_invalidate(struct sroce_mr *mr, u32 qpn, u32 key)
{
	struct sroce_mw *mw = container_of(mr, struct sroce_mw, mr);
	struct sroce_dev *dev = mw_dev(mw);
	int err = -EINVAL;

	spin_lock(&dev->window_lock);
	if (mr->valid && mr->key == key && mr->qpn && mr->qpn == qpn) {
		unbind(mw);
		err = 0;
	}
	spin_unlock(&dev->window_lock);
	return err;
}

int sroce_mw_none_bound(struct sroce_mr *mr, bool stop)
{
	struct sroce_dev *dev = to_sdev(mr->ibmr.device);
	int err = 0;

	spin_lock_bh(&dev->window_lock);
	if (mr->windows)
		err = -EBUSY;
	else if (stop)
		WRITE_ONCE(mr->valid, false);
	spin_unlock_bh(&dev->window_lock);
	return err;
}

void sroce_mw_qp_gone(struct sroce_qp *qp)
{
	struct sroce_mw *mw, *next;

	spin_lock_bh(&qp->dev->window_lock);
	list_for_each_entry_safe(mw, next, &qp->windows, of_qp)
		unbind(mw);
	spin_unlock_bh(&qp->dev->window_lock);
}
