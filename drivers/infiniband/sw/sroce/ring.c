// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of the shared rings. The pages of a mapping are reference counted, so a
 * process that still has a ring mapped when we free it keeps its pages, and reads
 * there that the ring is dead.
 */
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ring.h"

static struct sroce_ring_mem *to_ring_mem(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct sroce_ring_mem, entry);
}

/*
 * What a process asks for counts as its memory, and more than there is gets it an
 * error, not the OOM killer's attention. vmalloc_user() has no such choice. The
 * mapping owns the pages and their list: vfree() frees all three.
 */
static void *ring_vmap(size_t bytes)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL;
	size_t i, n = bytes >> PAGE_SHIFT;
	struct page **pages = kvmalloc_array(n, sizeof(*pages), gfp);
	void *base;

	if (!pages)
		return NULL;
	for (i = 0; i < n; i++) {
		pages[i] = alloc_page(gfp | __GFP_ZERO);
		if (!pages[i])
			goto free;
		cond_resched();
	}
	base = vmap(pages, n, VM_MAP | VM_USERMAP | VM_MAP_PUT_PAGES, PAGE_KERNEL);
	if (base)
		return base;
free:
	while (i--)
		__free_page(pages[i]);
	kvfree(pages);
	return NULL;
}

static void ring_free(struct sroce_ring_mem *mem)
{
	vfree(mem->base);
	kfree(mem);
}

static struct sroce_ring_mem *ring_alloc(u32 entries, u32 stride)
{
	struct sroce_ring_mem *mem = kzalloc(sizeof(*mem), GFP_KERNEL);

	if (!mem)
		return NULL;
	mem->bytes = PAGE_ALIGN(size_add(SROCE_RING_ENTRIES_OFFSET, size_mul(entries, stride)));
	mem->base = ring_vmap(mem->bytes);
	if (!mem->base) {
		kfree(mem);
		return NULL;
	}
	return mem;
}

static int ring_offer(struct sroce_ring_mem *mem, struct ib_ucontext *uctx)
{
	int err = rdma_user_mmap_entry_insert(uctx, &mem->entry, mem->bytes);

	mem->mapped = !err;
	return err;
}

struct sroce_ring_mem *sroce_ring_create(struct ib_ucontext *uctx, struct sroce_ring *ring,
					 u32 entries, u32 stride, struct sroce_ring_info *info)
{
	struct sroce_ring_mem *mem = ring_alloc(entries, stride);
	int err;

	if (!mem)
		return ERR_PTR(-ENOMEM);

	if (uctx) {
		err = ring_offer(mem, uctx);
		if (err) {
			ring_free(mem);
			return ERR_PTR(err);
		}
		*info = (struct sroce_ring_info) {
			.mmap_offset = rdma_user_mmap_get_offset(&mem->entry),
			.mmap_bytes = mem->bytes,
			.entries = entries,
			.stride = stride,
		};
	}
	sroce_ring_attach(ring, mem->base, entries, stride);
	return mem;
}

void sroce_ring_destroy(struct sroce_ring_mem *mem)
{
	struct sroce_ring_ctrl *ctrl;

	if (IS_ERR_OR_NULL(mem))
		return;

	ctrl = mem->base;
	sroce_store(&ctrl->flags, SROCE_RING_DEAD);
	if (mem->mapped)
		rdma_user_mmap_entry_remove(&mem->entry);
	else
		ring_free(mem);
}

int sroce_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(uctx, vma);
	int err;

	if (!entry)
		return -EINVAL;
	err = remap_vmalloc_range(vma, to_ring_mem(entry)->base, 0);
	rdma_user_mmap_entry_put(entry);
	return err;
}

void sroce_mmap_free(struct rdma_user_mmap_entry *entry)
{
	ring_free(to_ring_mem(entry));
}
