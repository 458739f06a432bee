/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Operations on the rings that the kernel driver and the userspace provider
 * share. Both sides compile this file.
 *
 * A ring has one producer and one consumer (each serialised by a lock of its
 * own side). Entries are filled and then published, or read and then released:
 *
 *   producer                              consumer
 *
 *   if (LOAD.acq cons shows room) {  (A)  if (LOAD.acq prod shows data) {  (B)
 *     STORE entry                           LOAD entry
 *     STORE.rel prod                 (C)    STORE.rel cons                 (D)
 *   }                                     }
 *
 *   (C) pairs with (B): whoever sees the new prod sees the entry's bytes.
 *   (D) pairs with (A): whoever sees the slot free no longer has it read
 *   by the other side when it writes the next entry there.
 *
 * A consumer that is about to stop looking asks to be woken:
 *
 *   producer (user, SQ)                   consumer (kernel, going idle)
 *
 *   STORE.rel prod                        STORE flags |= NEED_WAKEUP
 *   full fence                     (E)    full fence                     (F)
 *   LOAD flags                            LOAD prod
 *   if (NEED_WAKEUP) doorbell             if (work) { clear flag; go on }
 *
 *   (E) and (F) form a store-buffer pair: at least one side sees the other's
 *   store, so an entry is never published to a consumer that sleeps on.
 *
 * A CQ is armed by the same pattern with the roles exchanged: the user stores
 * arm, fences and polls once more; the kernel publishes the CQE, fences and
 * then takes arm (exchange with 0). At least one of them sees the other.
 *
 * Trust: the kernel treats each word that the user can write as hostile. It
 * keeps its own copy of every index that it owns, bounds what it reads
 * (an index that cannot be is no entry at all), and copies an entry once before looking at it.
 */
#ifndef SROCE_RING_H
#define SROCE_RING_H

#include <rdma/sroce-abi.h>

#ifdef __KERNEL__

#include <asm/barrier.h>
#include <linux/atomic.h>

#define sroce_load_acquire(p)		smp_load_acquire(p)
#define sroce_store_release(p, v)	smp_store_release(p, v)
#define sroce_full_fence()		smp_mb()
#define sroce_load(p)			READ_ONCE(*(p))
#define sroce_store(p, v)		WRITE_ONCE(*(p), v)
#define sroce_exchange(p, v)		xchg(p, v)

#else

#include <stdbool.h>

#define sroce_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define sroce_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define sroce_full_fence()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define sroce_load(p)			__atomic_load_n(p, __ATOMIC_RELAXED)
#define sroce_store(p, v)		__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define sroce_exchange(p, v)		__atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)

#endif

/**
 * struct sroce_ring - one side's view of a ring
 * @ctrl: the shared control words
 * @entries: the shared slots
 * @mask: number of slots - 1
 * @stride: bytes from one slot to the next
 * @prod: this side's copy of the producer index (authoritative if it produces)
 * @cons: this side's copy of the consumer index (authoritative if it consumes)
 *
 * The index that the other side owns is only a snapshot here.
 */
struct sroce_ring {
	struct sroce_ring_ctrl *ctrl;
	void *entries;
	__u32 mask;
	__u32 stride;
	__u32 prod;
	__u32 cons;
};

static inline void sroce_ring_attach(struct sroce_ring *r, void *base, __u32 entries,
				     __u32 stride)
{
	r->ctrl = (struct sroce_ring_ctrl *)base;
	r->entries = (char *)base + SROCE_RING_ENTRIES_OFFSET;
	r->mask = entries - 1;
	r->stride = stride;
	r->prod = 0;
	r->cons = 0;
}

/* sroce_ring_rewind - empty, as after creation; neither side may be using it */
static inline void sroce_ring_rewind(struct sroce_ring *r)
{
	r->prod = 0;
	r->cons = 0;
	sroce_store(&r->ctrl->prod, 0);
	sroce_store(&r->ctrl->cons, 0);
	sroce_store(&r->ctrl->flags, 0);
}

static inline void *sroce_ring_slot(const struct sroce_ring *r, __u32 index)
{
	return (char *)r->entries + (unsigned long)(index & r->mask) * r->stride;
}

/*
 * sroce_ring_space - producer: free slots, refreshing the snapshot of cons (A)
 *
 * A nonsense cons of a hostile peer yields 0 (the ring looks full).
 */
static inline __u32 sroce_ring_space(struct sroce_ring *r)
{
	__u32 used;

	r->cons = sroce_load_acquire(&r->ctrl->cons);
	used = r->prod - r->cons;
	return used > r->mask + 1 ? 0 : r->mask + 1 - used;
}

/* sroce_ring_publish - producer: make @n filled slots visible (C) */
static inline void sroce_ring_publish(struct sroce_ring *r, __u32 n)
{
	r->prod += n;
	sroce_store_release(&r->ctrl->prod, r->prod);
}

/*
 * sroce_ring_used - consumer: filled slots, refreshing the snapshot of prod (B)
 *
 * A nonsense prod of a hostile peer yields 0 (the ring looks empty).
 */
static inline __u32 sroce_ring_used(struct sroce_ring *r)
{
	__u32 used;

	r->prod = sroce_load_acquire(&r->ctrl->prod);
	used = r->prod - r->cons;
	return used > r->mask + 1 ? 0 : used;
}

/* sroce_ring_release - consumer: give @n read slots back (D) */
static inline void sroce_ring_release(struct sroce_ring *r, __u32 n)
{
	r->cons += n;
	sroce_store_release(&r->ctrl->cons, r->cons);
}

/*
 * sroce_ring_must_wake - producer, after publishing: is a doorbell wanted? (E)
 */
static inline bool sroce_ring_must_wake(struct sroce_ring *r)
{
	sroce_full_fence();
	return sroce_load(&r->ctrl->flags) & SROCE_RING_NEED_WAKEUP;
}

/*
 * sroce_ring_ask_wakeup - consumer going idle: ask for the doorbell, look again (F)
 *
 * Returns true when entries arrived meanwhile; the caller then clears the flag
 * with sroce_ring_awake() and goes on.
 */
static inline bool sroce_ring_ask_wakeup(struct sroce_ring *r)
{
	sroce_store(&r->ctrl->flags, sroce_load(&r->ctrl->flags) | SROCE_RING_NEED_WAKEUP);
	sroce_full_fence();
	return sroce_ring_used(r) != 0;
}

static inline void sroce_ring_awake(struct sroce_ring *r)
{
	sroce_store(&r->ctrl->flags, sroce_load(&r->ctrl->flags) & ~SROCE_RING_NEED_WAKEUP);
}

#endif /* SROCE_RING_H */
