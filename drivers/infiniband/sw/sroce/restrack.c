// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What `rdma resource show -dd` tells about a QP, to see why it does not move.
 */
#include <net/sock.h>
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>
#include <uapi/rdma/rdma_netlink.h>

#include "qp.h"

static bool put_req(struct sk_buff *msg, const struct sroce_req *req)
{
	return !rdma_nl_put_driver_u32_hex(msg, "una_psn", req->una_psn) &&
	       !rdma_nl_put_driver_u32_hex(msg, "next_psn", req->next_psn) &&
	       !rdma_nl_put_driver_u32_hex(msg, "max_psn", req->max_psn) &&
	       !rdma_nl_put_driver_u32(msg, "outstanding",
				       (req->max_psn - req->una_psn) & SROCE_PSN_MASK) &&
	       !rdma_nl_put_driver_u64(msg, "inflight_bytes", (u64)req->mtu *
				       ((req->max_psn - req->una_psn - req->rd_psns) &
					SROCE_PSN_MASK)) &&
	       !rdma_nl_put_driver_u32(msg, "sq_posted", req->tail - req->head) &&
	       !rdma_nl_put_driver_u32(msg, "rd_out", req->rd_out) &&
	       !rdma_nl_put_driver_u32(msg, "retry_left", req->retry_left) &&
	       !rdma_nl_put_driver_u32(msg, "rnr_left", req->rnr_left) &&
	       !rdma_nl_put_driver_u32(msg, "rnr_wait", req->state == SROCE_REQ_RNR_WAIT);
}

static bool put_resp(struct sk_buff *msg, struct sroce_qp *qp)
{
	const struct sroce_resp *resp = &qp->resp;

	return !rdma_nl_put_driver_u32_hex(msg, "epsn", resp->epsn) &&
	       !rdma_nl_put_driver_u32(msg, "msn", resp->msn) &&
	       !rdma_nl_put_driver_u32(msg, "answers_pending", resp->res_pending) &&
	       !rdma_nl_put_driver_u32(msg, "rq_posted",
				       qp->rq_mem ? sroce_ring_used(&qp->rq) : 0);
}

static u64 bps_or_0(u64 bps)
{
	return bps == SROCE_CC_UNLIMITED ? 0 : bps;
}

/* Rates of 0 are no limit. */
static bool put_cc(struct sk_buff *msg, const struct sroce_rp *rp,
		   const struct sroce_cc_info *info)
{
	return !rdma_nl_put_driver_string(msg, "cc_algorithm", sroce_cc_alg_name(rp->alg)) &&
	       !rdma_nl_put_driver_u64(msg, "cc_rate_bps", bps_or_0(info->rate_bps)) &&
	       !rdma_nl_put_driver_u64(msg, "cc_target_bps", bps_or_0(info->target_bps)) &&
	       !rdma_nl_put_driver_u32(msg, "cc_alpha", info->alpha) &&
	       !rdma_nl_put_driver_u64(msg, "cc_rtt_ns", info->rtt_ns) &&
	       !rdma_nl_put_driver_u32(msg, "cc_window", info->window) &&
	       !rdma_nl_put_driver_u64(msg, "limit_bps", rp->limit_bps);
}

/* Congestion control as it is now: what was due since the last packet is done first. */
static bool put_rp(struct sk_buff *msg, struct sroce_qp *qp)
{
	const struct sroce_cc_params *params;
	struct sroce_rp *rp = &qp->rp;
	struct sroce_cc_info info;
	bool ok;

	rcu_read_lock();
	spin_lock_bh(&rp->lock);
	params = &sroce_knobs(qp->dev)->params[rp->alg];
	sroce_cc_rate(&rp->cc, params, ktime_get_ns());
	sroce_cc_get_info(&rp->cc, params, &info);
	ok = put_cc(msg, rp, &info);
	spin_unlock_bh(&rp->lock);
	rcu_read_unlock();
	return ok;
}

int sroce_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	struct nlattr *table;
	bool ok;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	spin_lock_bh(&qp->req_lock);
	ok = put_req(msg, &qp->req) &&
	     !rdma_nl_put_driver_u64(msg, "retransmits", qp->retransmits);
	spin_unlock_bh(&qp->req_lock);
	spin_lock_bh(&qp->resp_lock);
	ok = ok && put_resp(msg, qp);
	spin_unlock_bh(&qp->resp_lock);
	/* Who found req_lock taken meanwhile relies on us. */
	sroce_pump_post(qp);
	ok = ok && put_rp(msg, qp);

	if (!ok || rdma_nl_put_driver_u32(msg, "bytes_below",
					  qp->sock ? sk_wmem_alloc_get(qp->sock->sk) : 0)) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}
