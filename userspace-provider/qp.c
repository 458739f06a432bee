// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: creation, state changes, destruction.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sroce.h"
#include "sroce_abi.h"

static void free_qp(struct sroce_qp *qp)
{
	sroce_queue_unmap(&qp->sq);
	sroce_queue_unmap(&qp->rq);
	pthread_spin_destroy(&qp->sq.lock.spin);
	pthread_spin_destroy(&qp->rq.lock.spin);
	free(qp);
}

static struct sroce_qp *alloc_qp(bool shared)
{
	struct sroce_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	sroce_lock_init(&qp->sq.lock, shared);
	sroce_lock_init(&qp->rq.lock, shared);
	qp->state = IBV_QPS_RESET;
	return qp;
}

/* Map both rings; what they hold must fit into their slots. */
static int map_rings(struct sroce_qp *qp, struct ibv_context *context,
		     const struct sroce_uresp_create_qp *resp)
{
	size_t sq_bytes, rq_bytes;
	int err;

	if (resp->max_send_sge > UINT8_MAX)
		return EPROTO;
	sq_bytes = resp->max_send_sge * sizeof(struct sroce_sge);
	if (sq_bytes < resp->max_inline)
		sq_bytes = resp->max_inline;
	sq_bytes += sizeof(struct sroce_send_wqe);
	rq_bytes = sizeof(struct sroce_recv_wqe) + resp->max_recv_sge * sizeof(struct sroce_sge);

	qp->max_inline = resp->max_inline;
	qp->sq.max_sge = resp->max_send_sge;
	qp->rq.max_sge = resp->max_recv_sge;
	err = sroce_queue_map(&qp->sq, context, &resp->sq, sq_bytes);
	return err ? err : sroce_queue_map(&qp->rq, context, &resp->rq, rq_bytes);
}

static struct sroce_qp *create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct sroce_create_qp_resp resp = {};
	struct sroce_create_qp cmd = {};
	struct sroce_qp *qp;
	int err;

	qp = alloc_qp(!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || sroce_pd_is_shared(attr->pd));
	if (!qp)
		return NULL;
	qp->sig_all = attr->sq_sig_all;
	qp->ece_options = to_sctx(context)->ece_options;
	err = ibv_cmd_create_qp_ex(context, &qp->vqp, attr, &cmd.ibv_cmd, sizeof(cmd),
				   &resp.ibv_resp, sizeof(resp));
	if (err)
		goto free_qp;

	err = map_rings(qp, context, &resp.drv_payload);
	if (!err && attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		err = sroce_qp_ex_init(qp, attr->send_ops_flags);
	if (err)
		goto destroy_qp;
	return qp;

destroy_qp:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
free_qp:
	free_qp(qp);
	errno = err;
	return NULL;
}

struct ibv_qp *sroce_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct sroce_qp *qp;

	qp = create_qp(pd->context, &ex);
	if (!qp)
		return NULL;
	attr->cap = ex.cap;
	return &qp->vqp.qp;
}

struct ibv_qp *sroce_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_init_attr_ex ex = *attr;
	struct sroce_qp *qp;

	/* No flag of creation concerns us, but naming none is all right. */
	if (ex.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && !ex.create_flags)
		ex.comp_mask &= ~IBV_QP_INIT_ATTR_CREATE_FLAGS;
	if (!check_comp_mask(ex.comp_mask, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = create_qp(context, &ex);
	if (!qp)
		return NULL;
	attr->cap = ex.cap;
	return &qp->vqp.qp;
}

/* A QP of another process (XRC receiver): it has no rings here. */
struct ibv_qp *sroce_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	struct ib_uverbs_create_qp_resp resp = {};
	struct ibv_open_qp cmd = {};
	struct sroce_qp *qp;
	int err;

	qp = alloc_qp(true);
	if (!qp)
		return NULL;
	err = ibv_cmd_open_qp(context, &qp->vqp, sizeof(qp->vqp), attr, &cmd, sizeof(cmd),
			      &resp, sizeof(resp));
	if (err) {
		free_qp(qp);
		errno = err;
		return NULL;
	}
	return &qp->vqp.qp;
}

static void set_state(struct sroce_qp *qp, enum ibv_qp_state state)
{
	sroce_lock(&qp->sq.lock);
	sroce_lock(&qp->rq.lock);
	qp->state = state;
	sroce_unlock(&qp->rq.lock);
	sroce_unlock(&qp->sq.lock);
}

/* A half of XRC has no queue, and there the CQ pointer says nothing. */
static void forget_completions(struct sroce_qp *qp)
{
	struct ibv_qp *ibqp = &qp->vqp.qp;

	if (ibqp->qp_type == IBV_QPT_XRC_RECV)
		return;
	sroce_cq_forget_qp(ibqp->send_cq, ibqp->qp_num);
	if (ibqp->qp_type != IBV_QPT_XRC_SEND && ibqp->recv_cq != ibqp->send_cq)
		sroce_cq_forget_qp(ibqp->recv_cq, ibqp->qp_num);
}

static int cmd_modify_qp(struct sroce_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct sroce_modify_qp cmd = { .ece_options = qp->ece_options };

	return ibv_cmd_modify_qp(&qp->vqp.qp, attr, attr_mask, &cmd.ibv_cmd,
				 qp->has_ece ? sizeof(cmd) : sizeof(cmd.ibv_cmd));
}

/*
 * The kernel empties the rings (indices 0) and the QP's share of the CQs is void.
 * The state is RESET beforehand, so that nobody posts meanwhile.
 */
static int modify_to_reset(struct sroce_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	enum ibv_qp_state before = qp->state;
	int err;

	set_state(qp, IBV_QPS_RESET);
	err = cmd_modify_qp(qp, attr, attr_mask);
	if (err) {
		set_state(qp, before);
		return err;
	}
	sroce_lock(&qp->sq.lock);
	sroce_queue_restart(&qp->sq);
	sroce_unlock(&qp->sq.lock);
	sroce_lock(&qp->rq.lock);
	sroce_queue_restart(&qp->rq);
	sroce_unlock(&qp->rq.lock);
	forget_completions(qp);

	qp->has_ece = false;
	qp->ece_options = to_sctx(qp->vqp.qp.context)->ece_options;
	return 0;
}

int sroce_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	int err;

	if (attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		return modify_to_reset(qp, attr, attr_mask);
	err = cmd_modify_qp(qp, attr, attr_mask);
	if (!err && attr_mask & IBV_QP_STATE)
		set_state(qp, attr->qp_state);
	return err;
}

int sroce_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		   struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd = {};

	return ibv_cmd_query_qp(ibqp, attr, attr_mask, init_attr, &cmd, sizeof(cmd));
}

int sroce_destroy_qp(struct ibv_qp *ibqp)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	int err;

	err = ibv_cmd_destroy_qp(ibqp);
	if (err)
		return err;
	forget_completions(qp);
	free_qp(qp);
	return 0;
}

/*
 * Options that both ends know of are agreed before the connection is made. The
 * kernel hears of them with the next modify_qp. With a kernel that has none to
 * offer, CM messages carry no ECE at all.
 */
int sroce_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	uint32_t offered = to_sctx(ibqp->context)->ece_options;
	struct sroce_qp *qp = to_sqp(ibqp);

	if (!offered)
		return EOPNOTSUPP;
	if (ece->comp_mask || ece->vendor_id != SROCE_ECE_VENDOR_ID)
		return EINVAL;
	qp->ece_options = ece->options & offered;
	qp->has_ece = true;
	return 0;
}

int sroce_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	if (!to_sctx(ibqp->context)->ece_options)
		return EOPNOTSUPP;
	ece->vendor_id = SROCE_ECE_VENDOR_ID;
	ece->options = to_sqp(ibqp)->ece_options;
	ece->comp_mask = 0;
	return 0;
}
