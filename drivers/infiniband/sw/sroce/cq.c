// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues.
 */
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "cq.h"
#include "device.h"

#define COPY_LOCKED	256	/* CQEs that a resize copies with interrupts off */
#define COPY_ROUNDS	16	/* attempts to be left with no more than that */

/* Several threads may resize one CQ. */
static DEFINE_MUTEX(resize_lock);

/* Calls handlers of kernel CQs on the CPUs of their vectors. */
static struct workqueue_struct *upcalls;

int sroce_cq_init(void)
{
	/* Consumers write pages out over us. */
	upcalls = alloc_workqueue("sroce_cq", WQ_HIGHPRI | WQ_MEM_RECLAIM | SROCE_WQ_PERCPU, 0);
	return upcalls ? 0 : -ENOMEM;
}

void sroce_cq_exit(void)
{
	destroy_workqueue(upcalls);
}

/* Creation and resize */

static u32 next_cqn(void)
{
	static atomic_t last;

	return atomic_inc_return(&last);
}

static enum hrtimer_restart held_enough(struct hrtimer *timer);

static struct sroce_objects *cq_objects(const struct sroce_cq *cq)
{
	return &to_sdev(cq->ibcq.device)->objects;
}

static void upcall_work(struct work_struct *work);

/* There are as many vectors as CPUs were online when the device came; fewer may be now. */
static int vector_cpu(int vector)
{
	int cpu, nth = vector % num_online_cpus();

	for_each_online_cpu(cpu)
		if (!nth--)
			return cpu;
	return cpumask_first(cpu_online_mask);
}

static int cq_init(struct sroce_cq *cq, const struct ib_cq_init_attr *attr,
		   struct ib_ucontext *uctx, struct sroce_ring_info *info)
{
	u32 entries;
	int err;

	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > SROCE_MAX_CQE ||
	    attr->comp_vector >= cq->ibcq.device->num_comp_vectors)
		return -EINVAL;

	err = sroce_object_take(cq_objects(cq), SROCE_OBJ_CQ);
	if (err)
		return err;
	entries = roundup_pow_of_two(attr->cqe);
	cq->mem = sroce_ring_create(uctx, &cq->ring, entries, sizeof(struct sroce_cqe), info);
	if (IS_ERR(cq->mem)) {
		sroce_object_put(cq_objects(cq), SROCE_OBJ_CQ);
		return PTR_ERR(cq->mem);
	}

	spin_lock_init(&cq->lock);
	hrtimer_setup(&cq->timer, held_enough, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	cq->is_user = uctx;
	cq->cpu = vector_cpu(attr->comp_vector);
	INIT_WORK(&cq->work, upcall_work);
	cq->ibcq.cqe = entries;
	return 0;
}

static void cq_free(struct sroce_cq *cq)
{
	sroce_ring_destroy(cq->mem);
	sroce_object_put(cq_objects(cq), SROCE_OBJ_CQ);
}

int sroce_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs)
{
	return cq_init(to_scq(ibcq), attr, NULL, NULL);
}

int sroce_create_user_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			 struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = &attrs->driver_udata;
	struct sroce_uresp_create_cq resp = {};
	struct sroce_cq *cq = to_scq(ibcq);
	int err;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;

	err = cq_init(cq, attr, attrs->context, &resp.ring);
	if (err)
		return err;

	resp.cqn = next_cqn();
	err = ib_respond_udata(udata, resp);
	if (err)
		cq_free(cq);
	return err;
}

int sroce_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	/* No QP refers to us any more, and the last one has waited for its users. */
	hrtimer_cancel(&to_scq(ibcq)->timer);
	cancel_work_sync(&to_scq(ibcq)->work);
	cq_free(to_scq(ibcq));
	return 0;
}

/* CQEs the consumer has not taken; as many as fit if its index is nonsense. */
static u32 unread(struct sroce_cq *cq)
{
	struct sroce_ring *ring = &cq->ring;

	lockdep_assert_held(&cq->lock);
	return ring->mask + 1 - sroce_ring_space(ring);
}

static void copy_cqes(struct sroce_ring *to, const struct sroce_ring *from, u32 begin, u32 end)
{
	for (; begin != end; begin++)
		memcpy(sroce_ring_slot(to, begin), sroce_ring_slot(from, begin), from->stride);
}

/*
 * Copy what is unread, all but a few of the latest, without the lock: a CQ may be
 * very large. Returns up to where; what the consumer takes meanwhile does not matter.
 */
static u32 copy_ahead(struct sroce_cq *cq, struct sroce_ring *next)
{
	struct sroce_ring *ring = &cq->ring;
	u32 rounds, from, to;

	lockdep_assert_held(&resize_lock);
	spin_lock_irq(&cq->lock);
	from = ring->prod - unread(cq);
	for (rounds = 0; ring->prod - from > COPY_LOCKED && rounds < COPY_ROUNDS; rounds++) {
		to = ring->prod;
		spin_unlock_irq(&cq->lock);
		copy_cqes(next, ring, from, to);
		cond_resched();
		from = to;
		spin_lock_irq(&cq->lock);
	}
	spin_unlock_irq(&cq->lock);
	return from;
}

/*
 * Change over to another ring: what is unread goes there, under the indices it
 * has, so that neither side has to renumber. It is there up to @copied already.
 */
static int change_ring(struct sroce_cq *cq, struct sroce_ring *next, u32 copied)
{
	struct sroce_ring *ring = &cq->ring;
	u32 n = unread(cq);

	lockdep_assert_held(&cq->lock);
	if (n > next->mask + 1)
		return -EINVAL;

	next->prod = ring->prod;
	next->cons = ring->prod - n;
	copy_cqes(next, ring, ring->prod - min(n, ring->prod - copied), ring->prod);
	sroce_store(&next->ctrl->cons, next->cons);
	sroce_store(&next->ctrl->arm, sroce_load(&ring->ctrl->arm));
	sroce_store_release(&next->ctrl->prod, next->prod);
	*ring = *next;
	return 0;
}

int sroce_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata)
{
	struct ib_ucontext *uctx = rdma_udata_to_uverbs_attr_bundle(udata)->context;
	struct sroce_uresp_resize_cq resp = {};
	struct sroce_cq *cq = to_scq(ibcq);
	struct sroce_ring_mem *mem;
	struct sroce_ring next;
	u32 copied;
	int err;

	if (!cqe || cqe > SROCE_MAX_CQE || udata->outlen < sizeof(resp))
		return -EINVAL;

	cqe = roundup_pow_of_two(cqe);
	mem = sroce_ring_create(uctx, &next, cqe, sizeof(struct sroce_cqe), &resp.ring);
	if (IS_ERR(mem))
		return PTR_ERR(mem);

	/* Answer first: afterwards there is no way back. */
	err = ib_respond_udata(udata, resp);
	if (!err) {
		mutex_lock(&resize_lock);
		copied = copy_ahead(cq, &next);
		spin_lock_irq(&cq->lock);
		err = change_ring(cq, &next, copied);
		if (!err) {
			swap(cq->mem, mem);
			ibcq->cqe = cqe;
		}
		spin_unlock_irq(&cq->lock);
		mutex_unlock(&resize_lock);
	}
	sroce_ring_destroy(mem);
	return err;
}

/* Producer */

static bool has_room(struct sroce_ring *ring)
{
	/* The snapshot of cons is enough until it says that the ring is full. */
	return ring->prod - ring->cons <= ring->mask || sroce_ring_space(ring);
}

/* Is the event put off until there are more completions, or the period is over? */
static bool is_held(struct sroce_cq *cq, u32 bits)
{
	if (!cq->moderate_count || ++cq->held >= cq->moderate_count) {
		cq->held = 0;
		cq->held_bits = 0;
		return false;
	}
	cq->held_bits |= bits;
	if (cq->held == 1)
		hrtimer_start(&cq->timer, ns_to_ktime(cq->moderate_ns), HRTIMER_MODE_REL_SOFT);
	return true;
}

/* After publishing: does the consumer wait for this? See include/sroce/ring.h. */
static void note_upcall(struct sroce_cq *cq, bool solicited)
{
	u32 wanted = SROCE_CQ_ARM_NEXT | (solicited ? SROCE_CQ_ARM_SOLICITED : 0);
	u32 *arm = &cq->ring.ctrl->arm;

	sroce_full_fence();
	if (sroce_load(arm) & wanted && !is_held(cq, wanted) && sroce_exchange(arm, 0) & wanted)
		set_bit(0, &cq->notify);
}

u32 sroce_cq_post(struct sroce_cq *cq, struct sroce_cqe *cqe, bool solicited)
{
	struct sroce_ring *ring = &cq->ring;
	unsigned long flags;
	u32 end;

	cqe->timestamp_ns = ktime_get_real_ns();
	if (cq->is_user)
		memset(cqe->rsvd1, 0, sizeof(cqe->rsvd1));

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->overrun)
		goto out;
	if (!has_room(ring)) {
		cq->overrun = true;
		set_bit(0, &cq->overrun_event);
		goto out;
	}
	memcpy(sroce_ring_slot(ring, ring->prod), cqe, sizeof(*cqe));
	sroce_ring_publish(ring, 1);
	note_upcall(cq, solicited);
out:
	end = ring->prod;
	spin_unlock_irqrestore(&cq->lock, flags);
	return end;
}

bool sroce_cq_is_read(struct sroce_cq *cq, u32 end)
{
	unsigned long flags;
	bool is_read;

	spin_lock_irqsave(&cq->lock, flags);
	is_read = (s32)(sroce_load(&cq->ring.ctrl->cons) - end) >= 0;
	spin_unlock_irqrestore(&cq->lock, flags);
	return is_read;
}

static void report_overrun(struct sroce_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	ibdev_warn_ratelimited(cq->ibcq.device, "CQ overrun: %d entries are too few\n",
			       cq->ibcq.cqe);
	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

static void call_handler(struct sroce_cq *cq)
{
	if (test_and_clear_bit(0, &cq->notify) && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

static void upcall_work(struct work_struct *work)
{
	struct sroce_cq *cq = container_of(work, struct sroce_cq, work);

	local_bh_disable();
	call_handler(cq);
	local_bh_enable();
}

/* With BH disabled nobody else is in the handler on this CPU. */
static void upcall_at_vector(struct sroce_cq *cq)
{
	local_bh_disable();
	if (smp_processor_id() == cq->cpu)
		call_handler(cq);
	else
		queue_work_on(cq->cpu, upcalls, &cq->work);
	local_bh_enable();
}

void sroce_cq_upcall(struct sroce_cq *cq)
{
	if (test_bit(0, &cq->notify)) {
		if (cq->is_user)
			call_handler(cq);
		else
			upcall_at_vector(cq);
	}

	if (test_bit(0, &cq->overrun_event) && test_and_clear_bit(0, &cq->overrun_event))
		report_overrun(cq);
}

/* Moderation */

static void release_held(struct sroce_cq *cq)
{
	u32 bits = cq->held_bits;

	lockdep_assert_held(&cq->lock);
	cq->held = 0;
	cq->held_bits = 0;
	if (bits && sroce_exchange(&cq->ring.ctrl->arm, 0) & bits)
		set_bit(0, &cq->notify);
}

static enum hrtimer_restart held_enough(struct hrtimer *timer)
{
	struct sroce_cq *cq = container_of(timer, struct sroce_cq, timer);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	release_held(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	sroce_cq_upcall(cq);
	return HRTIMER_NORESTART;
}

void sroce_cq_settle(struct sroce_cq *cq)
{
	if (cq->is_user)
		return;
	spin_lock_irq(&cq->lock);
	release_held(cq);
	spin_unlock_irq(&cq->lock);
	hrtimer_cancel(&cq->timer);
	sroce_cq_upcall(cq);
	flush_work(&cq->work);
}

/* One of the two alone makes no sense: a count without a period might never be reached. */
int sroce_modify_cq(struct ib_cq *ibcq, u16 count, u16 period_us)
{
	struct sroce_cq *cq = to_scq(ibcq);

	spin_lock_irq(&cq->lock);
	cq->moderate_count = count > 1 && period_us ? count : 0;
	cq->moderate_ns = period_us * NSEC_PER_USEC;
	release_held(cq);
	spin_unlock_irq(&cq->lock);
	local_bh_disable();
	sroce_cq_upcall(cq);
	local_bh_enable();
	return 0;
}

/* Kernel consumer */

static u32 cqe_wc_flags(const struct sroce_cqe *cqe)
{
	u32 flags = 0;

	if (cqe->wc_flags & SROCE_WC_GRH)
		flags |= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
	if (cqe->wc_flags & SROCE_WC_WITH_IMM)
		flags |= IB_WC_WITH_IMM;
	if (cqe->wc_flags & SROCE_WC_WITH_INV)
		flags |= IB_WC_WITH_INVALIDATE;
	if (cqe->rsvd1[0] & SROCE_CQE_VLAN)
		flags |= IB_WC_WITH_VLAN;
	return flags;
}

static void cqe_to_wc(const struct sroce_cqe *cqe, struct ib_wc *wc)
{
	*wc = (struct ib_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = cqe->opcode,
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.ex.invalidate_rkey = cqe->ex,	/* shares its place with imm_data */
		.src_qp = cqe->src_qpn,
		.wc_flags = cqe_wc_flags(cqe),
		.pkey_index = cqe->pkey_index,
		.sl = cqe->sl,
		.port_num = 1,
		.network_hdr_type = cqe->network_hdr_type,
		.vlan_id = cqe->rsvd1[0] & ~SROCE_CQE_VLAN,
	};
	memcpy(&wc->qp, &cqe->rsvd1[1], sizeof(wc->qp));
}

int sroce_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct sroce_cq *cq = to_scq(ibcq);
	unsigned long flags;
	int i;

	if (cq->is_user)
		return -EOPNOTSUPP;

	spin_lock_irqsave(&cq->lock, flags);
	num = min_t(u32, max(num, 0), cq->ring.prod - cq->cons);
	for (i = 0; i < num; i++)
		cqe_to_wc(sroce_ring_slot(&cq->ring, cq->cons++), &wc[i]);
	sroce_store_release(&cq->ring.ctrl->cons, cq->cons);
	spin_unlock_irqrestore(&cq->lock, flags);
	return num;
}

static u32 kernel_unread(struct sroce_cq *cq)
{
	return sroce_load_acquire(&cq->ring.ctrl->prod) - READ_ONCE(cq->cons);
}

int sroce_peek_cq(struct ib_cq *ibcq, int wc_cnt)
{
	struct sroce_cq *cq = to_scq(ibcq);

	if (cq->is_user)
		return -EOPNOTSUPP;
	return min_t(u32, max(wc_cnt, 0), kernel_unread(cq));
}

int sroce_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct sroce_cq *cq = to_scq(ibcq);
	unsigned long irq;
	u32 *arm, wanted;

	if (cq->is_user)
		return -EOPNOTSUPP;

	wanted = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED ? SROCE_CQ_ARM_SOLICITED :
								     SROCE_CQ_ARM_NEXT;
	arm = &cq->ring.ctrl->arm;
	spin_lock_irqsave(&cq->lock, irq);
	/* Asking for less does not take back what was asked for before. */
	sroce_store(arm, sroce_load(arm) | wanted);
	spin_unlock_irqrestore(&cq->lock, irq);
	sroce_full_fence();
	return flags & IB_CQ_REPORT_MISSED_EVENTS && kernel_unread(cq);
}
