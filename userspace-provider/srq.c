// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues and XRC domains.
 */
#include <errno.h>
#include <stdlib.h>

#include "sroce.h"
#include "sroce_abi.h"

static size_t entry_bytes(uint32_t max_sge)
{
	return sizeof(struct sroce_recv_wqe) + max_sge * sizeof(struct sroce_sge);
}

static int setup(struct sroce_srq *srq, struct ibv_pd *pd,
		 const struct sroce_uresp_create_srq *resp)
{
	int err;

	if (!resp->ring.entries)
		return EPROTO;
	err = sroce_queue_map(&srq->q, pd->context, &resp->ring, entry_bytes(resp->max_sge));
	if (err)
		return err;
	sroce_lock_init(&srq->q.lock, sroce_pd_is_shared(pd));
	srq->q.max_sge = resp->max_sge;
	srq->srqn = resp->srqn;
	return 0;
}

struct ibv_srq *sroce_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct sroce_create_srq_resp resp = {};
	struct sroce_create_srq cmd = {};
	struct sroce_srq *srq;
	int err;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	err = ibv_cmd_create_srq(pd, &srq->vsrq.srq, attr, &cmd.ibv_cmd, sizeof(cmd),
				 &resp.ibv_resp, sizeof(resp));
	if (err)
		goto free_srq;
	err = setup(srq, pd, &resp.drv_payload);
	if (err)
		goto destroy_srq;
	return &srq->vsrq.srq;

destroy_srq:
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
free_srq:
	free(srq);
	errno = err;
	return NULL;
}

struct ibv_srq *sroce_create_srq_ex(struct ibv_context *context,
				    struct ibv_srq_init_attr_ex *attr)
{
	struct sroce_create_xsrq_resp resp = {};
	struct sroce_create_xsrq cmd = {};
	struct sroce_srq *srq;
	int err;

	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type != IBV_SRQT_BASIC &&
	    attr->srq_type != IBV_SRQT_XRC) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	err = ibv_cmd_create_srq_ex(context, &srq->vsrq, attr, &cmd.ibv_cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp));
	if (err)
		goto free_srq;
	err = setup(srq, attr->pd, &resp.drv_payload);
	if (err)
		goto destroy_srq;
	return &srq->vsrq.srq;

destroy_srq:
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
free_srq:
	free(srq);
	errno = err;
	return NULL;
}

/*
 * A resize moves the work requests that are still waiting to a new ring, so
 * nobody may post meanwhile.
 */
int sroce_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int attr_mask)
{
	struct sroce_uresp_modify_srq resp = {};
	struct sroce_modify_srq cmd = { .resp_addr = (uintptr_t)&resp };
	struct sroce_srq *srq = to_ssrq(ibsrq);
	int err;

	sroce_lock(&srq->q.lock);
	err = ibv_cmd_modify_srq(ibsrq, attr, attr_mask, &cmd.ibv_cmd, sizeof(cmd));
	if (!err && resp.ring.entries)
		err = sroce_queue_replace(&srq->q, ibsrq->context, &resp.ring,
					  entry_bytes(srq->q.max_sge));
	sroce_unlock(&srq->q.lock);
	return err;
}

int sroce_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd = {};

	return ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
}

int sroce_destroy_srq(struct ibv_srq *ibsrq)
{
	struct sroce_srq *srq = to_ssrq(ibsrq);
	int err;

	err = ibv_cmd_destroy_srq(ibsrq);
	if (err)
		return err;
	sroce_queue_unmap(&srq->q);
	pthread_spin_destroy(&srq->q.lock.spin);
	free(srq);
	return 0;
}

int sroce_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num)
{
	*srq_num = to_ssrq(ibsrq)->srqn;
	return 0;
}

struct ibv_xrcd *sroce_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	struct ib_uverbs_open_xrcd_resp resp = {};
	struct ibv_open_xrcd cmd = {};
	struct verbs_xrcd *xrcd;

	xrcd = calloc(1, sizeof(*xrcd));
	if (!xrcd)
		return NULL;
	if (ibv_cmd_open_xrcd(context, xrcd, sizeof(*xrcd), attr, &cmd, sizeof(cmd),
			      &resp, sizeof(resp))) {
		free(xrcd);
		return NULL;
	}
	return &xrcd->xrcd;
}

int sroce_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct verbs_xrcd *xrcd = container_of(ibxrcd, struct verbs_xrcd, xrcd);
	int err = ibv_cmd_close_xrcd(xrcd);

	if (!err)
		free(xrcd);
	return err;
}
