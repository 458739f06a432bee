// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory as the data path uses it: finding a region, copying to and from it.
 */
#include <linux/highmem.h>
#include <linux/libnvdimm.h>
#include <linux/mm.h>
#include <linux/overflow.h>

#include "device.h"
#include "mem.h"

/* What a kernel PD's local_dma_lkey (0) stands for. */
static struct sroce_mr local_dma_mr = {
	.kind = SROCE_MR_DMA,
	.valid = true,
	.access = IB_ACCESS_LOCAL_WRITE,
	.length = U64_MAX,
};

/* Kernel memory, named by a peer: only what is mapped may be touched. */
static bool is_linear(u64 va, u64 bytes)
{
	u64 page = va & PAGE_MASK;
	u64 last = (va + bytes - 1) & PAGE_MASK;

	for (;; page += PAGE_SIZE) {
		if (!virt_addr_valid((void *)(uintptr_t)page))
			return false;
		if (page == last)
			return true;
	}
}

static bool mr_covers(const struct sroce_mr *mr, int access, u64 va, u64 bytes)
{
	if (!bytes)
		return true;
	if (va < mr->iova || va - mr->iova > mr->length || bytes > mr->length - (va - mr->iova))
		return false;
	return mr->kind != SROCE_MR_DMA || !(access & SROCE_REMOTE_ACCESS) || is_linear(va, bytes);
}

/* A window is for peers only; one of type 2 for the peer of one QP (IBA 10.6.7.2.3). */
static bool window_is_for(const struct sroce_mr *mr, u32 qpn)
{
	u32 bound_to = READ_ONCE(mr->qpn);

	return qpn && (!bound_to || bound_to == qpn);
}

static struct sroce_mr *mr_by_key(const struct sroce_accessor *by, u32 key)
{
	struct sroce_mr *mr;

	/* The PD of a process has a uobject. */
	if (!key)
		return by->pd->uobject ? NULL : &local_dma_mr;

	mr = xa_load(&by->dev->mem, key >> 8);
	/* Acquire: whoever sees a FAST region valid sees what it was registered for. */
	if (!mr || !smp_load_acquire(&mr->valid))
		return NULL;
	if (READ_ONCE(mr->key) != key || READ_ONCE(mr->ibmr.pd) != by->pd)
		return NULL;
	return mr->kind != SROCE_MR_WINDOW || window_is_for(mr, by->qpn) ? mr : NULL;
}

struct sroce_mr *sroce_mr_find(const struct sroce_accessor *by, u32 key, int access, u64 va,
			       u64 bytes)
{
	struct sroce_mr *mr = mr_by_key(by, key);

	if (!mr || (READ_ONCE(mr->access) & access) != access)
		return NULL;
	return mr_covers(mr, access, va, bytes) ? mr : NULL;
}

/*
 * Invalidating a FAST region or a window ends with nobody copying any more: those
 * who copy are counted. Regions of the other kinds end with a grace period.
 */
static struct sroce_mr *mr_get(const struct sroce_accessor *by, u32 key, int access, u64 va,
			       u64 bytes)
{
	struct sroce_mr *mr = sroce_mr_find(by, key, access, va, bytes);

	if (!mr || !sroce_mr_is_counted(mr))
		return mr;

	/* Whoever waits may be a softirq. */
	local_bh_disable();
	atomic_inc(&mr->busy);
	smp_mb__after_atomic();		/* pairs with the one in sroce_mr_stop() */
	if (sroce_mr_find(by, key, access, va, bytes) == mr)
		return mr;
	atomic_dec(&mr->busy);
	local_bh_enable();
	return NULL;
}

static void mr_put(struct sroce_mr *mr)
{
	if (!sroce_mr_is_counted(mr))
		return;
	atomic_dec_return_release(&mr->busy);
	local_bh_enable();
}

void sroce_mr_stop(struct sroce_mr *mr)
{
	WRITE_ONCE(mr->valid, false);
	smp_mb();			/* pairs with the one in mr_get() */
	while (atomic_read_acquire(&mr->busy))
		cpu_relax();
}

static struct page *dma_page(u64 va)
{
	void *p = (void *)(uintptr_t)va;

	return is_vmalloc_addr(p) ? vmalloc_to_page(p) : virt_to_page(p);
}

void sroce_mr_span(const struct sroce_mr *mr, u64 va, u64 bytes, struct sroce_span *span)
{
	u64 at = va;

	if (mr->kind == SROCE_MR_DMA) {
		span->page = dma_page(va);
	} else {
		at = va - mr->iova + mr->first_offset;
		span->page = pfn_to_page(mr->blocks[at >> mr->block_shift] +
					 ((at & (BIT_ULL(mr->block_shift) - 1)) >> PAGE_SHIFT));
	}
	span->offset = offset_in_page(at);
	span->bytes = min_t(u64, bytes, PAGE_SIZE - span->offset);
}

/* Between a checked range and memory of ours. */
static void copy_out(const struct sroce_mr *mr, u64 va, void *to, u32 bytes)
{
	struct sroce_span span;

	for (; bytes; bytes -= span.bytes, va += span.bytes, to += span.bytes) {
		sroce_mr_span(mr, va, bytes, &span);
		memcpy_from_page(to, span.page, span.offset, span.bytes);
	}
}

static void copy_in(const struct sroce_mr *mr, u64 va, const void *from, u32 bytes)
{
	struct sroce_span span;

	for (; bytes; bytes -= span.bytes, va += span.bytes, from += span.bytes) {
		sroce_mr_span(mr, va, bytes, &span);
		memcpy_to_page(span.page, span.offset, from, span.bytes);
	}
}

int sroce_mem_read(const struct sroce_accessor *by, u32 key, int access, u64 va, void *to,
		   u32 bytes)
{
	struct sroce_mr *mr;

	if (!bytes)
		return 0;
	mr = mr_get(by, key, access, va, bytes);
	if (!mr)
		return -EACCES;

	copy_out(mr, va, to, bytes);
	mr_put(mr);
	return 0;
}

int sroce_mem_write(const struct sroce_accessor *by, u32 key, int access, u64 va,
		    const void *from, u32 bytes)
{
	struct sroce_mr *mr;

	if (!bytes)
		return 0;
	mr = mr_get(by, key, access, va, bytes);
	if (!mr)
		return -EACCES;

	copy_in(mr, va, from, bytes);
	mr_put(mr);
	return 0;
}

int sroce_mem_write_row(const struct sroce_accessor *by, u32 key, int access, u64 va,
			const struct sroce_row *row)
{
	const u8 *from = row->payload;
	struct sroce_mr *mr;
	u32 i;

	mr = mr_get(by, key, access, va, (u64)row->n * row->bytes);
	if (!mr)
		return -EACCES;

	for (i = 0; i < row->n; i++, from += row->step, va += row->bytes)
		copy_in(mr, va, from, row->bytes);
	mr_put(mr);
	return 0;
}

void sroce_stretch_open(struct sroce_stretch *stretch, const struct sroce_accessor *by, u32 key,
			int access, u64 va, u64 bytes)
{
	struct sroce_mr *mr = bytes ? sroce_mr_find(by, key, access, va, bytes) : NULL;

	*stretch = (struct sroce_stretch){};
	if (!mr || sroce_mr_is_counted(mr))
		return;
	stretch->mr = mr;
	stretch->pd = key ? by->pd : mr->ibmr.pd;
	stretch->access = access;
	stretch->va = va;
	stretch->left = bytes;
}

bool sroce_stretch_read(struct sroce_stretch *stretch, void *to, u32 bytes)
{
	const struct sroce_mr *mr = stretch->mr;

	if (stretch->left < bytes || !READ_ONCE(mr->valid) ||
	    READ_ONCE(mr->ibmr.pd) != stretch->pd ||
	    (READ_ONCE(mr->access) & stretch->access) != stretch->access)
		return false;
	copy_out(mr, stretch->va, to, bytes);
	stretch->va += bytes;
	stretch->left -= bytes;
	return true;
}

static int span_from_skb(const struct sroce_span *span, const struct sk_buff *skb, u32 skb_offset)
{
	void *p = kmap_local_page(span->page);
	int err = skb_copy_bits(skb, skb_offset, p + span->offset, span->bytes);

	flush_dcache_page(span->page);
	kunmap_local(p);
	return err;
}

int sroce_mem_write_skb(const struct sroce_accessor *by, u32 key, int access, u64 va,
			const struct sk_buff *skb, u32 skb_offset, u32 bytes)
{
	struct sroce_span span;
	struct sroce_mr *mr;
	int err = 0;

	if (!bytes)
		return 0;
	mr = mr_get(by, key, access, va, bytes);
	if (!mr)
		return -EACCES;

	for (; bytes && !err; bytes -= span.bytes, va += span.bytes, skb_offset += span.bytes) {
		sroce_mr_span(mr, va, bytes, &span);
		err = span_from_skb(&span, skb, skb_offset);
	}
	mr_put(mr);
	return err ? -EACCES : 0;
}

/* The 8 bytes at @va, mapped, or an ERR_PTR; undone by put_word(). */
static atomic64_t *get_word(const struct sroce_accessor *by, u32 rkey, int access, u64 va,
			    struct sroce_mr **mr)
{
	struct sroce_span span;

	if (va % sizeof(u64))
		return ERR_PTR(-EINVAL);
	*mr = mr_get(by, rkey, access, va, sizeof(u64));
	if (!*mr)
		return ERR_PTR(-EACCES);

	sroce_mr_span(*mr, va, sizeof(u64), &span);
	/* A region whose addresses begin at 0 may begin anywhere in memory. */
	if (span.offset % sizeof(u64)) {
		mr_put(*mr);
		return ERR_PTR(-EINVAL);
	}
	return kmap_local_page(span.page) + span.offset;
}

static void put_word(atomic64_t *word, struct sroce_mr *mr)
{
	kunmap_local(word);
	mr_put(mr);
}

int sroce_mem_atomic(const struct sroce_accessor *by, u32 rkey, u64 va, bool cmp_swp,
		     u64 compare, u64 swap_add, u64 *orig)
{
	struct sroce_mr *mr;
	atomic64_t *word = get_word(by, rkey, IB_ACCESS_REMOTE_ATOMIC, va, &mr);

	if (IS_ERR(word))
		return PTR_ERR(word);

	*orig = cmp_swp ? atomic64_cmpxchg(word, compare, swap_add) :
			  atomic64_fetch_add(swap_add, word);
	put_word(word, mr);
	return 0;
}

int sroce_mem_atomic_write(const struct sroce_accessor *by, u32 rkey, u64 va, u64 value)
{
	struct sroce_mr *mr;
	atomic64_t *word = get_word(by, rkey, IB_ACCESS_REMOTE_WRITE, va, &mr);

	if (IS_ERR(word))
		return PTR_ERR(word);

	atomic64_set_release(word, value);
	put_word(word, mr);
	return 0;
}

/*
 * What was copied is visible to the CPUs already; to survive a loss of power it
 * has to leave their caches.
 */
static void write_back(const struct sroce_mr *mr, u64 va, u64 bytes)
{
	struct sroce_span span;
	void *p;

	for (; bytes; bytes -= span.bytes, va += span.bytes) {
		sroce_mr_span(mr, va, bytes, &span);
		p = kmap_local_page(span.page);
		arch_wb_cache_pmem(p + span.offset, span.bytes);
		kunmap_local(p);
	}
}

int sroce_mem_flush(const struct sroce_accessor *by, u32 rkey, int access, bool whole, u64 va,
		    u64 bytes)
{
	struct sroce_mr *mr = mr_get(by, rkey, access, va, whole ? 0 : bytes);

	if (!mr)
		return -EACCES;
	if (access & IB_ACCESS_FLUSH_PERSISTENT)
		write_back(mr, whole ? mr->iova : va, whole ? mr->length : bytes);
	mr_put(mr);
	return 0;
}

/*
 * struct sgl_walk - the pieces of a stretch of a scatter/gather list
 * @sge: next entry
 * @n: entries left
 * @offset: bytes to skip
 * @left: bytes still wanted
 * @va: result: address of the piece
 * @key: result: its lkey
 * @bytes: result: its length
 */
struct sgl_walk {
	const struct sroce_sge *sge;
	u32 n;
	u32 offset;
	u32 left;
	u64 va;
	u32 key;
	u32 bytes;
};

/* The next piece. Returns 0 at the end, -EACCES if the list is too short, else 1. */
static int sgl_next(struct sgl_walk *w)
{
	if (!w->left)
		return 0;

	for (; w->n && w->offset >= w->sge->length; w->sge++, w->n--)
		w->offset -= w->sge->length;
	if (!w->n || check_add_overflow(w->sge->addr, w->offset, &w->va))
		return -EACCES;

	w->key = w->sge->lkey;
	w->bytes = min(w->left, w->sge->length - w->offset);
	w->left -= w->bytes;
	w->offset += w->bytes;
	return 1;
}

int sroce_sgl_read(struct sroce_dev *dev, struct ib_pd *pd, const struct sroce_sge *sge, u32 n,
		   u32 offset, void *to, u32 bytes)
{
	struct sgl_walk w = { .sge = sge, .n = n, .offset = offset, .left = bytes };
	struct sroce_accessor by = { .dev = dev, .pd = pd };
	int more, err;

	while ((more = sgl_next(&w)) > 0) {
		err = sroce_mem_read(&by, w.key, 0, w.va, to, w.bytes);
		if (err)
			return err;
		to += w.bytes;
	}
	return more;
}

int sroce_sgl_write(struct sroce_dev *dev, struct ib_pd *pd, const struct sroce_sge *sge, u32 n,
		    u32 offset, const void *from, u32 bytes)
{
	struct sgl_walk w = { .sge = sge, .n = n, .offset = offset, .left = bytes };
	struct sroce_accessor by = { .dev = dev, .pd = pd };
	int more, err;

	while ((more = sgl_next(&w)) > 0) {
		err = sroce_mem_write(&by, w.key, IB_ACCESS_LOCAL_WRITE, w.va, from, w.bytes);
		if (err)
			return err;
		from += w.bytes;
	}
	return more;
}

void sroce_sgl_stretch(struct sroce_stretch *stretch, const struct sroce_accessor *by,
		       const struct sroce_sge *sge, u32 n, u32 offset)
{
	struct sgl_walk w = { .sge = sge, .n = n, .offset = offset, .left = U32_MAX };

	if (sgl_next(&w) > 0)
		sroce_stretch_open(stretch, by, w.key, 0, w.va, w.bytes);
	else
		*stretch = (struct sroce_stretch){};
}

int sroce_sgl_write_row(struct sroce_dev *dev, struct ib_pd *pd, const struct sroce_sge *sge,
			u32 n, u32 offset, const struct sroce_row *row)
{
	u32 bytes = row->n * row->bytes;
	struct sgl_walk w = { .sge = sge, .n = n, .offset = offset, .left = bytes };
	struct sroce_accessor by = { .dev = dev, .pd = pd };

	/* Only into one of its entries. */
	if (sgl_next(&w) <= 0 || w.bytes != bytes)
		return -EACCES;
	return sroce_mem_write_row(&by, w.key, IB_ACCESS_LOCAL_WRITE, w.va, row);
}

int sroce_sgl_write_skb(struct sroce_dev *dev, struct ib_pd *pd, const struct sroce_sge *sge,
			u32 n, u32 offset, const struct sk_buff *skb, u32 skb_offset, u32 bytes)
{
	struct sgl_walk w = { .sge = sge, .n = n, .offset = offset, .left = bytes };
	struct sroce_accessor by = { .dev = dev, .pd = pd };
	int more, err;

	while ((more = sgl_next(&w)) > 0) {
		err = sroce_mem_write_skb(&by, w.key, IB_ACCESS_LOCAL_WRITE, w.va, skb,
					  skb_offset, w.bytes);
		if (err)
			return err;
		skb_offset += w.bytes;
	}
	return more;
}
