/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory regions, and the copies between them and packets.
 *
 * Readers on the packet path hold the RCU read lock (or are in softirq) and
 * never take a reference: dereg_mr removes the key and then waits for a grace
 * period before it lets the pages go, so no copy runs after it returned.
 * All lengths and addresses that come from user or wire are checked here with
 * overflow-safe arithmetic. Functions return 0 or -EACCES (key, PD, access or
 * range), never a responder or completion status.
 */
#ifndef SROCE_MEM_H
#define SROCE_MEM_H

#include <linux/skbuff.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/sroce-abi.h>

struct sroce_dev;

#define SROCE_REMOTE_ACCESS						\
	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

enum sroce_mr_kind {
	SROCE_MR_DMA,		/* all kernel memory: iova is a kernel virtual address */
	SROCE_MR_USER,		/* pinned user pages */
	SROCE_MR_FAST,		/* alloc_mr: filled by map_mr_sg, valid after REG_MR */
	SROCE_MR_WINDOW,	/* part of a USER region, valid while bound: mw.h */
};

/**
 * struct sroce_mr - memory region; of a window what the packet path needs
 * @ibmr: what ib_core knows; lkey == rkey == @key; WINDOW: device and pd only
 * @kind: enum sroce_mr_kind
 * @valid: may be used; cleared by invalidate and dereg
 * @key: index << 8 | tag
 * @access: IB_ACCESS_*
 * @iova: address of the first byte as the consumer names it
 * @length: bytes
 * @block_shift: log2 of the bytes in a block: a page, or more where memory is contiguous
 * @first_offset: offset of the first byte in the first block
 * @blocks: first PFN of each block, or NULL (DMA). The first and the last block may
 *	reach beyond the region
 * @max_blocks: FAST: room in @blocks, and in @next_blocks
 * @umem: USER: the pinned memory
 * @next_blocks: FAST: what map_mr_sg laid out, for the next REG_MR; a block is a page
 * @next_nblocks: entries of @next_blocks
 * @next_offset: offset of the first byte in the first of @next_blocks
 * @busy: FAST, WINDOW: copies under way; invalidating waits for them
 * @qpn: WINDOW of type 2: the QP that may use it; else 0
 * @windows: USER: windows bound to it; lock of windows (mw.c)
 * @rcu: what a look-up reads outlives the region by a grace period
 */
struct sroce_mr {
	struct ib_mr ibmr;
	u8 kind;
	bool valid;
	u32 key;
	int access;
	u64 iova;
	u64 length;
	u32 block_shift;
	u32 first_offset;
	unsigned long *blocks;
	u32 max_blocks;
	struct ib_umem *umem;
	unsigned long *next_blocks;
	u32 next_nblocks;
	u32 next_offset;
	atomic_t busy;
	u32 qpn;
	u32 windows;
	struct rcu_head rcu;
};

static inline struct sroce_mr *to_smr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct sroce_mr, ibmr);
}

/**
 * struct sroce_accessor - for whom memory is accessed
 * @dev: device
 * @pd: PD the memory must belong to
 * @qpn: the peer of this QP asks; 0: the consumer itself, who has no use of windows
 */
struct sroce_accessor {
	struct sroce_dev *dev;
	struct ib_pd *pd;
	u32 qpn;
};

/* The regions that come and go by work requests: their users are counted. */
static inline bool sroce_mr_is_counted(const struct sroce_mr *mr)
{
	return mr->kind == SROCE_MR_FAST || mr->kind == SROCE_MR_WINDOW;
}

/**
 * struct sroce_span - a run of bytes within one page of a region
 * @page: the page
 * @offset: in it
 * @bytes: length
 */
struct sroce_span {
	struct page *page;
	u32 offset;
	u32 bytes;
};

/**
 * sroce_mr_find - look a key up and check it
 * @by: for whom
 * @key: lkey or rkey; 0 with a kernel PD's local_dma_lkey: returns the DMA region
 * @access: IB_ACCESS_* that must all be granted
 * @va: first byte
 * @bytes: length; 0 checks no range
 *
 * RCU read lock held. Returns the region (valid under RCU), or NULL.
 */
struct sroce_mr *sroce_mr_find(const struct sroce_accessor *by, u32 key, int access, u64 va,
			       u64 bytes);

/**
 * sroce_mr_span - the first page-bounded piece of a checked range
 * @mr: region
 * @va: first byte, inside the region
 * @bytes: bytes wanted
 * @span: result
 */
void sroce_mr_span(const struct sroce_mr *mr, u64 va, u64 bytes, struct sroce_span *span);

/* Copies by key; RCU read lock held, any context that may not sleep. */
int sroce_mem_read(const struct sroce_accessor *by, u32 key, int access, u64 va, void *to,
		   u32 bytes);
int sroce_mem_write_skb(const struct sroce_accessor *by, u32 key, int access, u64 va,
			const struct sk_buff *skb, u32 skb_offset, u32 bytes);
int sroce_mem_write(const struct sroce_accessor *by, u32 key, int access, u64 va,
		    const void *from, u32 bytes);

/**
 * struct sroce_row - payloads of equal length at equal distances
 * @payload: the first
 * @n: how many
 * @step: from one to the next
 * @bytes: of each
 */
struct sroce_row {
	const u8 *payload;
	u32 n;
	u32 step;
	u32 bytes;
};

/*
 * The same from a row, one payload behind the other. Nothing was written if it fails;
 * to an SG list it does, too, if the row does not lie within one of the entries.
 */
int sroce_mem_write_row(const struct sroce_accessor *by, u32 key, int access, u64 va,
			const struct sroce_row *row);
int sroce_sgl_write_row(struct sroce_dev *dev, struct ib_pd *pd, const struct sroce_sge *sge,
			u32 n, u32 offset, const struct sroce_row *row);

/**
 * struct sroce_stretch - memory that is read packet by packet
 * @mr: its region
 * @pd: that the region must belong to
 * @access: IB_ACCESS_* that it needs
 * @va: the next byte
 * @left: bytes from there on; 0: look it up for each packet
 *
 * Valid as long as the RCU read lock is held. Regions whose users are counted have none.
 */
struct sroce_stretch {
	const struct sroce_mr *mr;
	const struct ib_pd *pd;
	int access;
	u64 va;
	u64 left;
};

/* sroce_stretch_open - look a range up; parameters are those of sroce_mr_find() */
void sroce_stretch_open(struct sroce_stretch *stretch, const struct sroce_accessor *by, u32 key,
			int access, u64 va, u64 bytes);

/* sroce_sgl_stretch - the rest of the entry that has byte @offset of an SG list */
void sroce_sgl_stretch(struct sroce_stretch *stretch, const struct sroce_accessor *by,
		       const struct sroce_sge *sge, u32 n, u32 offset);

/* sroce_stretch_read - the next @bytes; false: not all there, or its region was invalidated */
bool sroce_stretch_read(struct sroce_stretch *stretch, void *to, u32 bytes);

/**
 * sroce_mem_atomic - 64-bit compare-and-swap or fetch-and-add, atomic with the CPU's own
 * @by: for whom
 * @rkey: key; needs IB_ACCESS_REMOTE_ATOMIC
 * @va: address
 * @cmp_swp: which
 * @compare: compared with (CAS)
 * @swap_add: stored or added
 * @orig: result: value before
 *
 * Host byte order. Returns 0, -EACCES, or -EINVAL if @va is not a multiple of 8.
 */
int sroce_mem_atomic(const struct sroce_accessor *by, u32 rkey, u64 va, bool cmp_swp,
		     u64 compare, u64 swap_add, u64 *orig);

/* sroce_mem_atomic_write - store 8 bytes at once; IB_ACCESS_REMOTE_WRITE */
int sroce_mem_atomic_write(const struct sroce_accessor *by, u32 rkey, u64 va, u64 value);

/**
 * sroce_mem_flush - make what was written visible, or persistent
 * @by: for whom
 * @rkey: key
 * @access: IB_ACCESS_FLUSH_* that it needs
 * @whole: the whole region, whatever @va and @bytes are
 * @va: address
 * @bytes: length
 *
 * Returns 0 or -EACCES.
 */
int sroce_mem_flush(const struct sroce_accessor *by, u32 rkey, int access, bool whole, u64 va,
		    u64 bytes);

/* The same over a scatter/gather list, from byte @offset of its sum. */
int sroce_sgl_read(struct sroce_dev *dev, struct ib_pd *pd, const struct sroce_sge *sge, u32 n,
		   u32 offset, void *to, u32 bytes);
int sroce_sgl_write_skb(struct sroce_dev *dev, struct ib_pd *pd, const struct sroce_sge *sge,
			u32 n, u32 offset, const struct sk_buff *skb, u32 skb_offset, u32 bytes);
int sroce_sgl_write(struct sroce_dev *dev, struct ib_pd *pd, const struct sroce_sge *sge, u32 n,
		    u32 offset, const void *from, u32 bytes);

/**
 * sroce_mem_give_key - publish a region or window under a key not used lately
 * @dev: device
 * @mr: region, @mr->key is set
 *
 * Process context. Returns 0, or -ENOMEM, also if there are as many as may be.
 */
int sroce_mem_give_key(struct sroce_dev *dev, struct sroce_mr *mr);

/* sroce_mem_take_key - undo: a grace period later nobody finds it by its key; process context */
void sroce_mem_take_key(struct sroce_dev *dev, struct sroce_mr *mr);

/* sroce_mr_stop - nobody begins to use it any more, and those who did (counted ones) are done */
void sroce_mr_stop(struct sroce_mr *mr);

/* mr.c: process context. A region without key, or NULL; and the end of it. */
struct sroce_mr *sroce_mr_alloc(struct ib_pd *pd, enum sroce_mr_kind kind);
void sroce_mr_free(struct sroce_mr *mr);

/**
 * sroce_mr_publish - give a new region its key
 * @mr: complete, all but the key; FAST regions stay invalid
 *
 * Process context. Returns what the verb returns: the region, or an ERR_PTR
 * after freeing it.
 */
struct ib_mr *sroce_mr_publish(struct sroce_mr *mr);

/* Verbs; process context */
struct ib_dmah;
struct ib_mr *sroce_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr,
				int access, struct ib_dmah *dmah, struct ib_udata *udata);
struct ib_mr *sroce_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length,
				  u64 virt_addr, int access, struct ib_pd *pd,
				  struct ib_udata *udata);
struct ib_mr *sroce_get_dma_mr(struct ib_pd *pd, int access);
int sroce_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
struct ib_mr *sroce_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg);
int sroce_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset);

/* The requester's local operations; softirq. Return 0 or -EINVAL. */
int sroce_mr_register_fast(struct sroce_dev *dev, struct ib_pd *pd, u32 mr_key, u32 new_key,
			   int access);

/**
 * sroce_mem_invalidate - LOCAL_INV, or SEND with invalidate by a peer
 * @by: for whom
 * @key: key of a FAST region or of a type 2 window
 * @remote: by a peer: only keys that give it access
 *
 * BH disabled, RCU read lock held. Returns 0 or -EINVAL.
 */
int sroce_mem_invalidate(const struct sroce_accessor *by, u32 key, bool remote);

#endif /* SROCE_MEM_H */
