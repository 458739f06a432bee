// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions of processes: pinned pages.
 */
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/log2.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "device.h"
#include "mem.h"
#include "mw.h"

#define ACCESS_SUPPORTED						\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
	 IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_HUGETLB |	\
	 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT |		\
	 IB_ACCESS_OPTIONAL)

#define PAGES_PER_BREATH	65536

/* Of blocks: what the page tables of processes know, and all in between. */
#define BLOCK_SIZES	GENMASK(30, PAGE_SHIFT)

static int check_range(u64 start, u64 length, u64 iova)
{
	u64 end;

	if (!length || length > SROCE_MAX_MR_BYTES)
		return -EINVAL;
	if (check_add_overflow(start, length, &end) || check_add_overflow(iova, length - 1, &end))
		return -EINVAL;
	return 0;
}

/* Does what is written there survive a loss of power, once it left the CPU's caches? */
static bool is_persistent(struct page *page)
{
	return is_zone_device_page(page) &&
	       region_intersects(page_to_phys(page), PAGE_SIZE, IORESOURCE_MEM,
				 IORES_DESC_PERSISTENT_MEMORY) == REGION_INTERSECTS;
}

/*
 * One entry for each block. Blocks are as large as the memory is contiguous, so that
 * the list of many gigabytes of huge pages is short.
 */
static int list_blocks(struct sroce_mr *mr)
{
	struct ib_umem *umem = mr->umem;
	unsigned long size = ib_umem_find_best_pgsz(umem, BLOCK_SIZES, umem->address);
	unsigned long in_block, pages_per_block, n = 0, i = 0;
	bool persistent = mr->access & IB_ACCESS_FLUSH_PERSISTENT;
	struct sg_page_iter it;
	struct page *page;

	if (WARN_ON_ONCE(!size))
		return -EINVAL;
	mr->block_shift = ilog2(size);
	mr->first_offset = umem->address & (size - 1);
	mr->blocks = kvmalloc_array((mr->first_offset + umem->length + size - 1) >> mr->block_shift,
				    sizeof(*mr->blocks), GFP_KERNEL_ACCOUNT);
	if (!mr->blocks)
		return -ENOMEM;

	pages_per_block = size >> PAGE_SHIFT;
	in_block = mr->first_offset >> PAGE_SHIFT;
	for_each_sgtable_page(&umem->sgt_append.sgt, &it, 0) {
		page = sg_page_iter_page(&it);
		if (persistent && !is_persistent(page))
			return -EINVAL;
		if (!n || !in_block)
			mr->blocks[n++] = page_to_pfn(page) - in_block;
		if (++in_block == pages_per_block)
			in_block = 0;
		if (!(++i % PAGES_PER_BREATH))
			cond_resched();
	}
	return 0;
}

static int pin(struct sroce_mr *mr, u64 start, u64 length, int access)
{
	struct ib_umem *umem = ib_umem_get_va(mr->ibmr.device, start, length, access);

	if (IS_ERR(umem))
		return PTR_ERR(umem);
	mr->umem = umem;
	return list_blocks(mr);
}

struct ib_mr *sroce_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr,
				int access, struct ib_dmah *dmah, struct ib_udata *udata)
{
	u64 iova = access & IB_ZERO_BASED ? 0 : virt_addr;
	struct sroce_mr *mr;
	int err;

	if (access & ~ACCESS_SUPPORTED || dmah)
		return ERR_PTR(-EOPNOTSUPP);
	err = check_range(start, length, iova);
	if (err)
		return ERR_PTR(err);

	mr = sroce_mr_alloc(pd, SROCE_MR_USER);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->access = access;
	mr->iova = iova;
	mr->length = length;
	mr->ibmr.iova = iova;
	mr->ibmr.length = length;

	err = pin(mr, start, length, access);
	if (err) {
		sroce_mr_free(mr);
		return ERR_PTR(err);
	}
	return sroce_mr_publish(mr);
}

/* In place when the pages stay as they are pinned; else a new region replaces the old. */
struct ib_mr *sroce_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length,
				  u64 virt_addr, int access, struct ib_pd *pd,
				  struct ib_udata *udata)
{
	struct sroce_mr *mr = to_smr(ibmr);
	int err;

	if (flags & ~IB_MR_REREG_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	if (access & ~ACCESS_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	err = sroce_mw_none_bound(mr, false);
	if (err)
		return ERR_PTR(err);

	if (flags & IB_MR_REREG_TRANS)
		return sroce_reg_user_mr(pd, start, length, virt_addr, access, NULL, udata);
	if ((ib_access_writable(access) && !mr->umem->writable) ||
	    access & ~mr->access & IB_ACCESS_FLUSH_PERSISTENT)
		return sroce_reg_user_mr(pd, mr->umem->address, mr->length, mr->iova, access,
					 NULL, udata);

	WRITE_ONCE(mr->access, access);
	return NULL;
}
