/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory of the shared rings: allocated here, mapped by the process through an
 * rdma_user_mmap_entry, freed when both sides have let go.
 */
#ifndef SROCE_KRING_H
#define SROCE_KRING_H

#include <rdma/ib_verbs.h>
#include <sroce/ring.h>

/**
 * struct sroce_ring_mem - memory of one ring
 * @entry: of the mapping; embedded reference count
 * @base: memory of the ring, zeroed; charged to the process that asked
 * @bytes: its length
 * @mapped: has an entry in a ucontext (a kernel consumer's ring has not)
 */
struct sroce_ring_mem {
	struct rdma_user_mmap_entry entry;
	void *base;
	size_t bytes;
	bool mapped;
};

/**
 * sroce_ring_create - allocate a ring
 * @uctx: of the process, or NULL for a kernel consumer
 * @ring: attached to the new memory
 * @entries: a power of two
 * @stride: bytes, a multiple of 8
 * @info: what the provider is told; may be NULL when @uctx is
 *
 * Process context. Returns the memory or an ERR_PTR.
 */
struct sroce_ring_mem *sroce_ring_create(struct ib_ucontext *uctx, struct sroce_ring *ring,
					 u32 entries, u32 stride, struct sroce_ring_info *info);

/**
 * sroce_ring_destroy - the kernel lets go; NULL and ERR_PTR are fine
 * @mem: from sroce_ring_create()
 */
void sroce_ring_destroy(struct sroce_ring_mem *mem);

/* ib_device_ops */
int sroce_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma);
void sroce_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* SROCE_KRING_H */
