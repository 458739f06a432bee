// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The short way for the packets in the middle of long messages, which differ in their
 * PSNs only and follow each other in an skb: one look at the state of the QP, one
 * look-up of the memory, then nothing but copies. Whatever is not the rule goes the
 * long way, packet by packet (respond.c, pump.c).
 */
#include "mem.h"
#include "qp.h"
#include "trace.h"

static bool execute_row(struct sroce_qp *qp, const struct sroce_row *row,
			const struct sroce_resp_do *todo)
{
	struct sroce_accessor by = sroce_qp_accessor(qp);

	if (todo->act == SROCE_ACT_SEND)
		return qp->rwqe.valid && todo->msg_bytes <= qp->rwqe.length &&
		       !sroce_sgl_write_row(qp->dev, sroce_qp_recv_pd(qp), qp->rwqe.sge,
					    qp->rwqe.num_sge, todo->offset, row);
	return qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE &&
	       !sroce_mem_write_row(&by, todo->rkey, IB_ACCESS_REMOTE_WRITE, todo->va, row);
}

/*
 * Packets in the middle of a message, all like @pkt; sroce_respond_more() follows.
 * Returns how many of them are done; 0: each is for sroce_respond_request(), as is
 * whatever is not the rule. Softirq, RCU read lock held.
 */
u32 sroce_respond_row(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      const struct sroce_row *row)
{
	struct sroce_row part = *row;
	struct sroce_resp_do todo;

	if (sroce_qp_is_xrc_tgt(qp) || trace_sroce_request_enabled())
		return 0;
	part.n = 0;
	spin_lock(&qp->resp_lock);
	if (sroce_qp_allows(qp) & SROCE_MAY_RESPOND)
		part.n = sroce_resp_on_row(&qp->resp, pkt, row->n, &todo);
	if (part.n && !execute_row(qp, &part, &todo))
		part.n = 0;
	if (part.n)
		sroce_resp_row_done(&qp->resp, part.n);
	spin_unlock(&qp->resp_lock);
	return part.n;
}

static bool place_row(struct sroce_qp *qp, const struct sroce_row *row,
		      const struct sroce_req_in *in)
{
	const struct sroce_swqe *wqe = sroce_req_wqe(&qp->req, in->index);
	const struct sroce_sge *sge = (const struct sroce_sge *)wqe->data;

	return !sroce_sgl_write_row(qp->dev, qp->ibqp.pd, sge, wqe->num_sge, in->offset, row);
}

/* The same for READ responses; sroce_pump_more() follows, sroce_pump_response() is the long way. */
u32 sroce_pump_row(struct sroce_qp *qp, const struct sroce_pkt *pkt, const struct sroce_row *row)
{
	struct sroce_row part = *row;
	struct sroce_req_in in;

	if (trace_sroce_response_enabled())
		return 0;
	part.n = 0;
	spin_lock(&qp->req_lock);
	if (sroce_qp_allows(qp) & SROCE_MAY_COMPLETE)
		part.n = sroce_req_on_row(&qp->req, pkt, row->n, &in);
	if (part.n && !place_row(qp, &part, &in))
		part.n = 0;
	if (part.n) {
		sroce_req_row_placed(&qp->req, part.n, ktime_get_ns(), &in);
		if (qp->req.rtt.samples != qp->rp.rtt_samples)
			sroce_rp_on_rtt(qp);
	}
	spin_unlock(&qp->req_lock);
	return part.n;
}
