/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Objects of the provider, and what its files offer each other.
 *
 * The rings are memory of the kernel, mapped shared: a fork()ed child has the
 * same pages, nothing is copied on write, so they need no ibv_dontfork_range().
 *
 * Locks: one per ring. Where two are held, the SQ's comes before the RQ's. The
 * lock of a CQ is never held together with another one.
 */
#ifndef SROCE_PROVIDER_H
#define SROCE_PROVIDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/driver.h>
#include <sroce/ring.h>

/* A spinlock that does nothing for objects of a single thread. */
struct sroce_lock {
	pthread_spinlock_t spin;
	bool needed;
};

static inline void sroce_lock_init(struct sroce_lock *l, bool needed)
{
	l->needed = needed;
	pthread_spin_init(&l->spin, PTHREAD_PROCESS_PRIVATE);
}

static inline void sroce_lock(struct sroce_lock *l)
{
	if (l->needed)
		pthread_spin_lock(&l->spin);
}

static inline void sroce_unlock(struct sroce_lock *l)
{
	if (l->needed)
		pthread_spin_unlock(&l->spin);
}

/**
 * struct sroce_queue - a mapped ring and the lock over our side of it
 * @lock: serialises the threads of this process
 * @ring: our view; ring.ctrl is NULL where an object has no such queue
 * @bytes: length of the mapping; 0 when there is none to undo
 * @room: producer: slots behind ring.prod that are known to be free
 * @max_sge: scatter/gather entries that a slot holds
 */
struct sroce_queue {
	struct sroce_lock lock;
	struct sroce_ring ring;
	size_t bytes;
	uint32_t room;
	uint32_t max_sge;
};

struct sroce_context {
	struct verbs_context vctx;
	uint32_t ece_options;	/* that the kernel offers */
};

struct sroce_td {
	struct ibv_td td;
	atomic_uint users;	/* parent domains */
};

/* A protection domain, or (@of set) a parent domain that stands for @of. */
struct sroce_pd {
	struct ibv_pd pd;
	struct sroce_pd *of;
	struct sroce_td *td;
	atomic_uint users;	/* parent domains that stand for this one */
};

struct sroce_ah {
	struct ibv_ah ah;
	uint32_t ah_id;
};

/**
 * struct sroce_cq - completion queue
 * @vcq: the verbs object
 * @q: the ring; we consume
 * @cqe: extended poll: the current entry
 * @seen: extended poll: entries read and not yet given back, @cqe included
 */
struct sroce_cq {
	struct verbs_cq vcq;
	struct sroce_queue q;
	const struct sroce_cqe *cqe;
	uint32_t seen;
};

struct sroce_srq {
	struct verbs_srq vsrq;
	struct sroce_queue q;
	uint32_t srqn;
};

/**
 * struct sroce_qp - queue pair
 * @vqp: the verbs object
 * @sq: send ring; we produce
 * @rq: receive ring; we produce; none with an SRQ or for XRC
 * @state: what modify_qp last set; changes under both locks. The kernel may
 *	have gone on to an error state, in which posting is allowed as well.
 * @sig_all: every send completes with a CQE
 * @max_inline: bytes of inline data that an SQ slot holds
 * @has_ece: set_ece was called; @ece_options go along with modify_qp
 * @ece_options: chosen, or before that what the kernel offers
 * @batch: wr_start() to wr_complete(), under the lock of @sq
 * @batch.wqe: the entry that setters work on; NULL after an error
 * @batch.count: entries filled and not yet published
 * @batch.error: the first error; nothing will be published
 */
struct sroce_qp {
	struct verbs_qp vqp;
	struct sroce_queue sq;
	struct sroce_queue rq;
	enum ibv_qp_state state;
	bool sig_all;
	bool has_ece;
	uint32_t max_inline;
	uint32_t ece_options;
	struct {
		struct sroce_send_wqe *wqe;
		uint32_t count;
		int error;
	} batch;
};

static inline struct sroce_context *to_sctx(struct ibv_context *context)
{
	return container_of(context, struct sroce_context, vctx.context);
}

static inline struct sroce_pd *to_spd(struct ibv_pd *pd)
{
	return container_of(pd, struct sroce_pd, pd);
}

static inline struct sroce_td *to_std(struct ibv_td *td)
{
	return container_of(td, struct sroce_td, td);
}

static inline struct sroce_ah *to_sah(struct ibv_ah *ah)
{
	return container_of(ah, struct sroce_ah, ah);
}

static inline struct sroce_cq *to_scq(struct ibv_cq *cq)
{
	return container_of(cq, struct sroce_cq, vcq.cq);
}

static inline struct sroce_cq *to_scq_ex(struct ibv_cq_ex *cq)
{
	return container_of(cq, struct sroce_cq, vcq.cq_ex);
}

static inline struct sroce_srq *to_ssrq(struct ibv_srq *srq)
{
	return container_of(srq, struct sroce_srq, vsrq.srq);
}

static inline struct sroce_qp *to_sqp(struct ibv_qp *qp)
{
	return container_of(qp, struct sroce_qp, vqp.qp);
}

static inline struct sroce_qp *to_sqp_ex(struct ibv_qp_ex *qp)
{
	return container_of(qp, struct sroce_qp, vqp.qp_ex);
}

/* May objects of this domain be used by several threads at a time? */
static inline bool sroce_pd_is_shared(struct ibv_pd *pd)
{
	return !pd || !to_spd(pd)->td;
}

static inline bool sroce_queue_is_dead(const struct sroce_queue *q)
{
	return sroce_load(&q->ring.ctrl->flags) & SROCE_RING_DEAD;
}

/* Producer: is there a free slot behind @filled unpublished ones? */
static inline bool sroce_queue_has_room(struct sroce_queue *q, uint32_t filled)
{
	if (filled < q->room)
		return true;
	q->room = sroce_ring_space(&q->ring);
	return filled < q->room;
}

/* Producer: the free slot behind @filled unpublished ones. */
static inline void *sroce_queue_slot(const struct sroce_queue *q, uint32_t filled)
{
	return sroce_ring_slot(&q->ring, q->ring.prod + filled);
}

/* Producer: publish; returns whether the kernel wants a doorbell. */
static inline bool sroce_queue_publish(struct sroce_queue *q, uint32_t filled)
{
	if (!filled)
		return false;
	sroce_ring_publish(&q->ring, filled);
	q->room -= filled;
	return sroce_ring_must_wake(&q->ring);
}

/* queue.c */
int sroce_queue_map(struct sroce_queue *q, struct ibv_context *context,
		    const struct sroce_ring_info *info, size_t entry_bytes);
int sroce_queue_replace(struct sroce_queue *q, struct ibv_context *context,
			const struct sroce_ring_info *info, size_t entry_bytes);
void sroce_queue_restart(struct sroce_queue *q);
void sroce_queue_unmap(struct sroce_queue *q);
int sroce_doorbell(struct ibv_context *context, uint32_t command, uint32_t handle);

/* cq.c */
struct ibv_cq *sroce_create_cq(struct ibv_context *context, int cqe,
			       struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *sroce_create_cq_ex(struct ibv_context *context,
				     struct ibv_cq_init_attr_ex *attr);
int sroce_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr);
int sroce_resize_cq(struct ibv_cq *ibcq, int cqe);
int sroce_destroy_cq(struct ibv_cq *ibcq);
int sroce_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc);
int sroce_req_notify_cq(struct ibv_cq *ibcq, int solicited_only);
void sroce_cq_forget_qp(struct ibv_cq *ibcq, uint32_t qpn);

/* cq_ex.c */
int sroce_cq_ex_init(struct sroce_cq *cq, uint64_t wc_flags);

/* qp.c */
struct ibv_qp *sroce_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *sroce_create_qp_ex(struct ibv_context *context,
				  struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *sroce_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr);
int sroce_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask);
int sroce_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		   struct ibv_qp_init_attr *init_attr);
int sroce_destroy_qp(struct ibv_qp *ibqp);
int sroce_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece);
int sroce_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece);

/* post.c */
int sroce_qp_may_send(const struct sroce_qp *qp);
int sroce_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int sroce_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int sroce_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr);
int sroce_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* qp_ex.c */
int sroce_qp_ex_init(struct sroce_qp *qp, uint64_t send_ops);

/* srq.c */
struct ibv_srq *sroce_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
struct ibv_srq *sroce_create_srq_ex(struct ibv_context *context,
				    struct ibv_srq_init_attr_ex *attr);
int sroce_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int attr_mask);
int sroce_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int sroce_destroy_srq(struct ibv_srq *ibsrq);
int sroce_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num);

/* xrcd: in srq.c as well, since a shared receive queue is what it shares */
struct ibv_xrcd *sroce_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int sroce_close_xrcd(struct ibv_xrcd *ibxrcd);

#endif /* SROCE_PROVIDER_H */
