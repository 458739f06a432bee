// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: creation, polling, arming, resizing.
 *
 * The kernel produces, we consume. Entries between cons and prod are ours: the
 * kernel does not look at them again, so they may be moved (sroce_cq_forget_qp()).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sroce.h"
#include "sroce_abi.h"

static struct sroce_cq *create_cq(struct ibv_context *context, int cqe,
				  struct ibv_comp_channel *channel, int comp_vector, bool shared)
{
	struct sroce_create_cq_resp resp = {};
	struct sroce_create_cq cmd = {};
	struct sroce_cq *cq;
	int err;

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	err = ibv_cmd_create_cq(context, cqe, channel, comp_vector, &cq->vcq.cq,
				&cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (err)
		goto free_cq;

	err = resp.ring.entries ? sroce_queue_map(&cq->q, context, &resp.ring,
						  sizeof(struct sroce_cqe)) : EPROTO;
	if (err)
		goto destroy_cq;
	sroce_lock_init(&cq->q.lock, shared);
	return cq;

destroy_cq:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
free_cq:
	free(cq);
	errno = err;
	return NULL;
}

struct ibv_cq *sroce_create_cq(struct ibv_context *context, int cqe,
			       struct ibv_comp_channel *channel, int comp_vector)
{
	struct sroce_cq *cq = create_cq(context, cqe, channel, comp_vector, true);

	return cq ? &cq->vcq.cq : NULL;
}

/*
 * The kernel needs none of the extended attributes: entries always carry all
 * fields and a time stamp, and threads are a matter of this process.
 */
struct ibv_cq_ex *sroce_create_cq_ex(struct ibv_context *context,
				     struct ibv_cq_init_attr_ex *attr)
{
	struct sroce_cq *cq;
	bool shared = true;
	int err;

	if (!check_comp_mask(attr->comp_mask,
			     IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD))
		goto unsupported;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) {
		if (attr->flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
			goto unsupported;
		shared = !attr->flags;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD)
		shared = shared && sroce_pd_is_shared(attr->parent_domain);

	cq = create_cq(context, attr->cqe, attr->channel, attr->comp_vector, shared);
	if (!cq)
		return NULL;
	err = sroce_cq_ex_init(cq, attr->wc_flags);
	if (err) {
		sroce_destroy_cq(&cq->vcq.cq);
		errno = err;
		return NULL;
	}
	return &cq->vcq.cq_ex;

unsupported:
	errno = EOPNOTSUPP;
	return NULL;
}

int sroce_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(ibcq, attr, &cmd, sizeof(cmd));
}

/*
 * The kernel copies the entries that we have not consumed to a new ring, and
 * continues there. Nobody may consume in the meantime, so all is under the lock.
 */
int sroce_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct sroce_resize_cq_resp resp = {};
	struct sroce_resize_cq cmd = {};
	struct sroce_cq *cq = to_scq(ibcq);
	int err;

	sroce_lock(&cq->q.lock);
	err = ibv_cmd_resize_cq(ibcq, cqe, &cmd.ibv_cmd, sizeof(cmd),
				&resp.ibv_resp, sizeof(resp));
	if (!err)
		err = sroce_queue_replace(&cq->q, ibcq->context, &resp.ring,
					  sizeof(struct sroce_cqe));
	sroce_unlock(&cq->q.lock);
	return err;
}

int sroce_destroy_cq(struct ibv_cq *ibcq)
{
	struct sroce_cq *cq = to_scq(ibcq);
	int err;

	err = ibv_cmd_destroy_cq(ibcq);
	if (err)
		return err;
	sroce_queue_unmap(&cq->q);
	pthread_spin_destroy(&cq->q.lock.spin);
	free(cq);
	return 0;
}

static void cqe_to_wc(const struct sroce_cqe *cqe, struct ibv_wc *wc)
{
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->invalidated_rkey = cqe->ex;		/* shares its place with imm_data */
	wc->qp_num = cqe->qpn;
	wc->src_qp = cqe->src_qpn;
	wc->wc_flags = cqe->wc_flags;
	wc->pkey_index = cqe->pkey_index;
	wc->slid = 0;
	wc->sl = cqe->sl;
	wc->dlid_path_bits = 0;
}

int sroce_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct sroce_cq *cq = to_scq(ibcq);
	struct sroce_ring *ring = &cq->q.ring;
	uint32_t i, n;
	int ret;

	sroce_lock(&cq->q.lock);
	n = sroce_ring_used(ring);
	if (!n && sroce_queue_is_dead(&cq->q)) {
		ret = -EIO;
	} else {
		if (num_entries < 0)
			n = 0;
		else if (n > (uint32_t)num_entries)
			n = num_entries;
		for (i = 0; i < n; i++)
			cqe_to_wc(sroce_ring_slot(ring, ring->cons + i), wc + i);
		if (n)
			sroce_ring_release(ring, n);
		ret = n;
	}
	sroce_unlock(&cq->q.lock);
	return ret;
}

/*
 * Arm, no system call: the user's half of the pattern in ring.h. The caller polls
 * again after this; the fence keeps that poll behind the store of arm. A CQ that
 * is armed for any completion stays so.
 */
int sroce_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct sroce_cq *cq = to_scq(ibcq);
	struct sroce_ring_ctrl *ctrl;
	int err = 0;

	sroce_lock(&cq->q.lock);
	ctrl = cq->q.ring.ctrl;
	if (sroce_queue_is_dead(&cq->q))
		err = EIO;
	else
		__atomic_fetch_or(&ctrl->arm, solicited_only ? SROCE_CQ_ARM_SOLICITED :
				  SROCE_CQ_ARM_NEXT, __ATOMIC_SEQ_CST);
	sroce_full_fence();
	sroce_unlock(&cq->q.lock);
	return err;
}

/**
 * sroce_cq_forget_qp - drop the unread completions of a QP
 * @ibcq: one of its CQs, or NULL
 * @qpn: its number, which the kernel may give to the next QP
 *
 * For a QP that was destroyed or reset: the kernel adds no more of them. Those
 * of other QPs keep their order: from the newest to the oldest they move up.
 */
void sroce_cq_forget_qp(struct ibv_cq *ibcq, uint32_t qpn)
{
	struct sroce_cqe *from, *to;
	struct sroce_ring *ring;
	struct sroce_cq *cq;
	uint32_t kept = 0, n, i;

	if (!ibcq)
		return;
	cq = to_scq(ibcq);
	ring = &cq->q.ring;

	sroce_lock(&cq->q.lock);
	n = sroce_ring_used(ring);
	for (i = n; i-- > 0; ) {
		from = sroce_ring_slot(ring, ring->cons + i);
		if (from->qpn == qpn)
			continue;
		kept++;
		to = sroce_ring_slot(ring, ring->cons + n - kept);
		if (to != from)
			memcpy(to, from, sizeof(*to));
	}
	if (kept < n)
		sroce_ring_release(ring, n - kept);
	sroce_unlock(&cq->q.lock);
}
