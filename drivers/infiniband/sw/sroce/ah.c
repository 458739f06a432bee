// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles. ib_core frees a handle as soon as destroy_ah returns, which
 * may not sleep, so what the data path reads is an object of its own that lives
 * on for a grace period, with its reference of the source GID.
 */
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/sroce-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "ah.h"
#include "device.h"

static struct sroce_dev *ah_dev(const struct ib_ah *ibah)
{
	return to_sdev(ibah->device);
}

struct sroce_ah *sroce_ah_find(struct sroce_dev *dev, struct ib_pd *pd, u32 id)
{
	struct sroce_ah *ah = xa_load(&dev->ah, id);

	return ah && ah->pd == pd ? ah : NULL;
}

static void ah_free(struct sroce_ah *ah)
{
	dst_cache_destroy(&ah->cache);
	rdma_put_gid_attr(ah->path.sgid_attr);
	kfree(ah);
}

static void ah_free_rcu(struct rcu_head *rcu)
{
	ah_free(container_of(rcu, struct sroce_ah, rcu));
}

void sroce_ah_forget_routes(struct sroce_dev *dev)
{
	struct sroce_ah *ah;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&dev->ah, id, ah)
		dst_cache_reset_now(&ah->cache);
	rcu_read_unlock();
	/* Those we did not find have their callback queued, once who removed them has left. */
	xa_lock_irq(&dev->ah);
	xa_unlock_irq(&dev->ah);
	rcu_barrier();
}

static struct sroce_ah *ah_create(struct ib_pd *pd, const struct rdma_ah_attr *attr, gfp_t gfp)
{
	struct sroce_ah *ah = kzalloc(sizeof(*ah), gfp);
	int err;

	if (!ah)
		return ERR_PTR(-ENOMEM);

	err = sroce_path_init(&ah->path, attr, 0, 0);
	if (err)
		goto err_free;
	err = dst_cache_init(&ah->cache, gfp);
	if (err)
		goto err_free;

	rdma_hold_gid_attr(ah->path.sgid_attr);
	ah->pd = pd;
	return ah;

err_free:
	kfree(ah);
	return ERR_PTR(err);
}

/* GFP_ATOMIC: some callers may not sleep, and one way for all is enough. */
static int ah_publish(struct sroce_dev *dev, struct sroce_ah *ah)
{
	unsigned long flags;
	int err;

	err = sroce_object_take(&dev->objects, SROCE_OBJ_AH);
	if (err)
		return err;
	xa_lock_irqsave(&dev->ah, flags);
	err = __xa_alloc_cyclic(&dev->ah, &ah->id, ah, XA_LIMIT(1, SROCE_MAX_AH), &dev->ah_next,
				GFP_ATOMIC);
	xa_unlock_irqrestore(&dev->ah, flags);
	if (err >= 0)
		return 0;
	sroce_object_put(&dev->objects, SROCE_OBJ_AH);
	return err;
}

static void ah_unpublish(struct sroce_dev *dev, struct sroce_ah *ah)
{
	unsigned long flags;

	xa_lock_irqsave(&dev->ah, flags);
	__xa_erase(&dev->ah, ah->id);
	/* in the lock: see sroce_ah_forget_routes() */
	call_rcu(&ah->rcu, ah_free_rcu);
	xa_unlock_irqrestore(&dev->ah, flags);
	sroce_object_put(&dev->objects, SROCE_OBJ_AH);
}

static int respond(struct ib_udata *udata, const struct sroce_ah *ah)
{
	struct sroce_uresp_create_ah resp = { .ah_id = ah->id };

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	return ib_respond_udata(udata, resp);
}

static void keep_attr(struct sroce_ibah *sibah, const struct rdma_ah_attr *attr)
{
	sibah->attr = *attr;
	sibah->attr.grh.sgid_attr = NULL;
}

int sroce_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init_attr,
		    struct ib_udata *udata)
{
	gfp_t gfp = init_attr->flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL : GFP_ATOMIC;
	struct sroce_ibah *sibah = to_sibah(ibah);
	struct sroce_ah *ah;
	int err;

	ah = ah_create(ibah->pd, init_attr->ah_attr, gfp);
	if (IS_ERR(ah))
		return PTR_ERR(ah);

	err = ah_publish(ah_dev(ibah), ah);
	if (err) {
		ah_free(ah);
		return err;
	}

	if (udata) {
		err = respond(udata, ah);
		if (err) {
			ah_unpublish(ah_dev(ibah), ah);
			return err;
		}
	}
	sibah->ah = ah;
	keep_attr(sibah, init_attr->ah_attr);
	return 0;
}

/* Everyone keeps using the id; sends that are under way may use the old path. */
int sroce_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct sroce_ibah *sibah = to_sibah(ibah);
	struct sroce_dev *dev = ah_dev(ibah);
	struct sroce_ah *old = sibah->ah;
	struct sroce_ah *ah;
	unsigned long flags;

	ah = ah_create(ibah->pd, attr, GFP_ATOMIC);
	if (IS_ERR(ah))
		return PTR_ERR(ah);

	ah->id = old->id;
	xa_lock_irqsave(&dev->ah, flags);
	__xa_store(&dev->ah, ah->id, ah, GFP_ATOMIC);	/* the slot is there */
	call_rcu(&old->rcu, ah_free_rcu);
	xa_unlock_irqrestore(&dev->ah, flags);

	sibah->ah = ah;
	keep_attr(sibah, attr);
	return 0;
}

int sroce_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_sibah(ibah)->attr;
	return 0;
}

int sroce_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	ah_unpublish(ah_dev(ibah), to_sah(ibah));
	return 0;
}
