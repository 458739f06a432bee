// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: keys, life and death, and what only kernel consumers have.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "context.h"
#include "device.h"
#include "mem.h"
#include "mw.h"

static struct sroce_dev *mr_dev(const struct sroce_mr *mr)
{
	return to_sdev(mr->ibmr.device);
}

struct sroce_mr *sroce_mr_alloc(struct ib_pd *pd, enum sroce_mr_kind kind)
{
	struct sroce_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return NULL;
	mr->kind = kind;
	mr->block_shift = PAGE_SHIFT;
	mr->ibmr.pd = pd;
	mr->ibmr.device = pd->device;
	return mr;
}

void sroce_mr_free(struct sroce_mr *mr)
{
	ib_umem_release(mr->umem);
	kvfree(mr->blocks);
	kvfree(mr->next_blocks);
	kfree_rcu(mr, rcu);
}

static enum sroce_object object_of(const struct sroce_mr *mr)
{
	return mr->kind == SROCE_MR_WINDOW ? SROCE_OBJ_MW : SROCE_OBJ_MR;
}

/*
 * Indices go round before one is used again, and with each round the tag
 * changes: a key comes back after 2^32 registrations.
 */
int sroce_mem_give_key(struct sroce_dev *dev, struct sroce_mr *mr)
{
	u32 index;
	int err;

	err = sroce_object_take(&dev->objects, object_of(mr));
	if (err)
		return err;
	xa_lock(&dev->mem);
	err = __xa_alloc_cyclic(&dev->mem, &index, mr, XA_LIMIT(1, SROCE_MEM_INDEX_MAX),
				&dev->mem_next, GFP_KERNEL);
	if (err > 0)
		dev->mem_tag++;
	if (err >= 0)
		WRITE_ONCE(mr->key, index << 8 | dev->mem_tag);
	xa_unlock(&dev->mem);
	if (err < 0)
		sroce_object_put(&dev->objects, object_of(mr));
	return min(err, 0);
}

void sroce_mem_take_key(struct sroce_dev *dev, struct sroce_mr *mr)
{
	xa_erase(&dev->mem, READ_ONCE(mr->key) >> 8);
	sroce_object_put(&dev->objects, object_of(mr));
}

struct ib_mr *sroce_mr_publish(struct sroce_mr *mr)
{
	int err = sroce_mem_give_key(mr_dev(mr), mr);

	if (err) {
		sroce_mr_free(mr);
		return ERR_PTR(err);
	}
	mr->ibmr.lkey = mr->key;
	mr->ibmr.rkey = mr->key;
	/* Whoever sees it valid sees all of it: pairs with mr_by_key(). */
	smp_store_release(&mr->valid, mr->kind != SROCE_MR_FAST);
	return &mr->ibmr;
}

int sroce_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct sroce_mr *mr = to_smr(ibmr);
	int err = sroce_mw_none_bound(mr, true);

	if (err)
		return err;
	sroce_mem_take_key(mr_dev(mr), mr);
	if (!sroce_context_leaves(udata))
		synchronize_rcu_expedited();
	sroce_mr_free(mr);
	return 0;
}

struct ib_mr *sroce_get_dma_mr(struct ib_pd *pd, int access)
{
	struct sroce_mr *mr = sroce_mr_alloc(pd, SROCE_MR_DMA);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->access = access;
	mr->length = U64_MAX;
	return sroce_mr_publish(mr);
}

struct ib_mr *sroce_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg)
{
	struct sroce_mr *mr;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > SROCE_MAX_FAST_PAGES)
		return ERR_PTR(-EINVAL);

	mr = sroce_mr_alloc(pd, SROCE_MR_FAST);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->max_blocks = max_num_sg;
	mr->blocks = kvcalloc(max_num_sg, sizeof(*mr->blocks), GFP_KERNEL);
	mr->next_blocks = kvcalloc(max_num_sg, sizeof(*mr->blocks), GFP_KERNEL);
	if (!mr->blocks || !mr->next_blocks) {
		sroce_mr_free(mr);
		return ERR_PTR(-ENOMEM);
	}
	return sroce_mr_publish(mr);
}

/* ib_sg_to_pages() calls this for each of the consumer's pages, which may be larger. */
static int set_page(struct ib_mr *ibmr, u64 addr)
{
	struct sroce_mr *mr = to_smr(ibmr);
	u32 i, n = ibmr->page_size >> PAGE_SHIFT;

	if (n > mr->max_blocks - mr->next_nblocks)
		return -ENOMEM;
	for (i = 0; i < n; i++, addr += PAGE_SIZE)
		mr->next_blocks[mr->next_nblocks++] =
			page_to_pfn(virt_to_page((void *)(uintptr_t)addr));
	return 0;
}

/* The region may be valid still: consumers post LOCAL_INV and REG_MR in one go afterwards. */
int sroce_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset)
{
	struct sroce_mr *mr = to_smr(ibmr);
	int n;

	/* page_size_cap says so. */
	if (ibmr->page_size < PAGE_SIZE)
		return -EINVAL;

	mr->next_nblocks = 0;
	n = ib_sg_to_pages(ibmr, sg, nents, offset, set_page);
	mr->next_offset = ibmr->iova & (ibmr->page_size - 1);
	return n;
}

/* The key's index names the region; the tag may be the one to come. */
static struct sroce_mr *fast_mr(struct sroce_dev *dev, struct ib_pd *pd, u32 key)
{
	struct sroce_mr *mr = xa_load(&dev->mem, key >> 8);

	return mr && mr->kind == SROCE_MR_FAST && mr->ibmr.pd == pd ? mr : NULL;
}

int sroce_mr_register_fast(struct sroce_dev *dev, struct ib_pd *pd, u32 mr_key, u32 new_key,
			   int access)
{
	struct sroce_mr *mr = fast_mr(dev, pd, mr_key);

	if (!mr || (mr_key ^ new_key) >> 8 || READ_ONCE(mr->valid))
		return -EINVAL;

	memcpy(mr->blocks, mr->next_blocks, mr->next_nblocks * sizeof(*mr->blocks));
	mr->first_offset = mr->next_offset;
	mr->iova = mr->ibmr.iova;
	mr->length = mr->ibmr.length;
	WRITE_ONCE(mr->access, access);
	WRITE_ONCE(mr->key, new_key);
	/* Whoever sees it valid sees all of the above: pairs with mr_by_key(). */
	smp_store_release(&mr->valid, true);
	return 0;
}

int sroce_mem_invalidate(const struct sroce_accessor *by, u32 key, bool remote)
{
	struct sroce_mr *mr = xa_load(&by->dev->mem, key >> 8);

	if (!mr || READ_ONCE(mr->ibmr.pd) != by->pd || READ_ONCE(mr->key) != key)
		return -EINVAL;
	if (mr->kind == SROCE_MR_WINDOW)
		return sroce_mw_invalidate(mr, by->qpn, key);
	if (mr->kind != SROCE_MR_FAST || (remote && !(READ_ONCE(mr->access) & SROCE_REMOTE_ACCESS)))
		return -EINVAL;
	sroce_mr_stop(mr);
	return 0;
}
