// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams to UD QPs and to the GSI QP. What does not fit is dropped and
 * counted; a datagram never moves the QP to an error state (IBA 9.8.3.1).
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "mem.h"
#include "qp.h"
#include "trace.h"

/*
 * The 40 bytes in front of the payload: the IPv6 header, or 20 bytes that mean
 * nothing and the IPv4 header (IBA A17.4.5.2).
 */
static void build_grh(const struct sk_buff *skb, u8 *grh)
{
	memset(grh, 0, SROCE_GRH_BYTES);
	if (skb->protocol == htons(ETH_P_IP))
		memcpy(grh + SROCE_GRH_BYTES - sizeof(struct iphdr), ip_hdr(skb),
		       sizeof(struct iphdr));
	else
		memcpy(grh, ipv6_hdr(skb), sizeof(struct ipv6hdr));
}

static int place(struct sroce_qp *qp, struct sk_buff *skb, u32 payload_offset,
		 const struct sroce_pkt *pkt)
{
	struct ib_pd *pd = sroce_qp_recv_pd(qp);
	u8 grh[SROCE_GRH_BYTES];
	int err;

	build_grh(skb, grh);
	err = sroce_sgl_write(qp->dev, pd, qp->rwqe.sge, qp->rwqe.num_sge, 0, grh, sizeof(grh));
	if (!err && pkt->payload_bytes)
		err = sroce_sgl_write_skb(qp->dev, pd, qp->rwqe.sge, qp->rwqe.num_sge,
					  SROCE_GRH_BYTES, skb, payload_offset,
					  pkt->payload_bytes);
	return err;
}

/*
 * The VLAN of the address that it was sent to, as it is in the GID table: the core looks
 * for the source of an answer by both. Its netdev need not be the one the packet came in
 * by: this host's own packets come by the loopback.
 */
static u16 vlan_of(const struct sroce_qp *qp, const struct sk_buff *skb)
{
	struct net_device *ndev = skb->dev->flags & IFF_LOOPBACK ? NULL : skb->dev;
	const struct ib_gid_attr *attr;
	u16 vlan_id = SROCE_NO_VLAN;
	union ib_gid gid;

	if (skb->protocol == htons(ETH_P_IP))
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, (struct in6_addr *)gid.raw);
	else
		memcpy(gid.raw, &ipv6_hdr(skb)->daddr, sizeof(gid.raw));
	attr = rdma_find_gid_by_port(&qp->dev->ibdev, &gid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1, ndev);
	if (IS_ERR(attr) && ndev)
		attr = rdma_find_gid_by_port(&qp->dev->ibdev, &gid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1,
					     NULL);
	if (IS_ERR(attr))
		return SROCE_NO_VLAN;
	if (rdma_read_gid_l2_fields(attr, &vlan_id, NULL))
		vlan_id = SROCE_NO_VLAN;
	rdma_put_gid_attr(attr);
	return vlan_id;
}

static void complete_recv(struct sroce_qp *qp, const struct sk_buff *skb,
			  const struct sroce_pkt *pkt, enum sroce_status status)
{
	struct sroce_cqe cqe = {
		.wr_id = qp->rwqe.wr_id,
		.qpn = qp->qpn,
		.src_qpn = pkt->src_qpn,
		.status = status,
		.opcode = IB_WC_RECV,
		.byte_len = pkt->payload_bytes + SROCE_GRH_BYTES,
		.wc_flags = SROCE_WC_GRH,
		.network_hdr_type = skb->protocol == htons(ETH_P_IP) ? RDMA_NETWORK_IPV4 :
								       RDMA_NETWORK_IPV6,
	};

	if (pkt->headers & SROCE_H_IMMDT) {
		cqe.wc_flags |= SROCE_WC_WITH_IMM;
		cqe.ex = (__force u32)pkt->imm;
	}
	qp->rwqe.valid = false;
	sroce_cqe_set_qp(&cqe, &qp->ibqp);
	if (!sroce_qp_rcq(qp)->is_user)
		sroce_cqe_set_vlan(&cqe, vlan_of(qp, skb));
	sroce_cq_post(sroce_qp_rcq(qp), &cqe, status != SROCE_ST_SUCCESS || pkt->solicited);
}

static void deliver(struct sroce_qp *qp, struct sk_buff *skb, u32 payload_offset,
		    const struct sroce_pkt *pkt)
{
	enum sroce_status status = SROCE_ST_SUCCESS;
	u32 qkey = qp->qpn == SROCE_QPN_GSI ? SROCE_QKEY_GSI : qp->attr.qkey;
	int err;

	if (!sroce_ud_check(pkt, qkey, qp->req.mtu)) {
		sroce_qp_count(qp, pkt->qkey == qkey ? SROCE_CNT_RX_DROP_LENGTH :
								  SROCE_CNT_RX_DROP_QKEY);
		return;
	}
	err = sroce_recv_pull(qp, pkt->payload_bytes + SROCE_GRH_BYTES);
	if (err) {
		/* A receive WQE that is too small stays for the next one. */
		sroce_qp_count(qp, err == -EMSGSIZE ? SROCE_CNT_RX_DROP_LENGTH :
								  SROCE_CNT_OUT_OF_BUFFER);
		return;
	}
	if (qp->rwqe.bad)
		status = SROCE_ST_LOC_QP_OP_ERR;
	else if (place(qp, skb, payload_offset, pkt))
		status = SROCE_ST_LOC_PROT_ERR;
	complete_recv(qp, skb, pkt, status);
	if (status != SROCE_ST_SUCCESS)
		sroce_qp_error(qp, -1);
}

void sroce_ud_deliver(struct sroce_qp *qp, struct sk_buff *skb, u32 payload_offset,
		      const struct sroce_pkt *pkt)
{
	spin_lock(&qp->resp_lock);
	if (sroce_qp_allows(qp) & SROCE_MAY_RESPOND) {
		trace_sroce_request(qp, pkt, false);
		deliver(qp, skb, payload_offset, pkt);
	}
	spin_unlock(&qp->resp_lock);
	sroce_qp_unwind(qp);
}
