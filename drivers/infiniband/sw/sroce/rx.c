// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A UDP datagram to port 4791 becomes a decoded packet of a QP, or is dropped
 * and counted (rxcheck.c). The skb may be in fragments and its data shared: it is
 * read where it lies and never changed. UDP calls us in softirq with the RCU read
 * lock held, which keeps QP, device and regions.
 *
 * A batch (GSO skb: a row of segments behind one header, from a local sender or
 * merged by GRO) is taken whole by a netfilter hook behind the administrator's
 * rules; UDP would split it before it called us. Its segments are packets like any
 * other, but answers, completions and further sends wait for the last one. What
 * comes with CHECKSUM_PARTIAL never left this host, unless GRO has merged it: it is
 * trusted as the stack trusts it, unless the device says otherwise. Those of its
 * packets that continue a message, with nothing new in their headers, are taken in a
 * row (take_row()): what was checked of the one before holds for them.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/sock.h>

#include "device.h"
#include "qp.h"
#include "rx.h"
#include "sock.h"

static void count(const struct sroce_rx *rx, enum sroce_counter verdict)
{
	struct sroce_counters __percpu *counters;
	struct sroce_dev *dev = NULL;

	if (!rx->qp) {
		dev = sroce_rx_dev(rx);
		if (!dev)
			return;
	}
	counters = dev ? dev->counters : READ_ONCE(rx->qp->counters);
	sroce_count(counters, SROCE_CNT_RX_PKTS);
	sroce_count_add(counters, SROCE_CNT_RX_BYTES, rx->bytes);
	if (rx->index == 1 && !sroce_tx_is_ours(rx->skb))
		sroce_count(counters, SROCE_CNT_RX_MERGED);
	if (verdict == RX_ACCEPT)
		return;
	sroce_count(counters, verdict);
	if (rx->pkt.flags & SROCE_F_CNP)
		sroce_count(counters, SROCE_CNT_RP_CNP_IGNORED);
}

/* Answers and sends that waited for the end of the batch. */
static void settle(struct sroce_rx *rx)
{
	struct sroce_qp *qp;

	qp = rx->owing_answers;
	rx->owing_answers = NULL;
	if (qp)
		sroce_respond_more(qp);
	qp = rx->owing_pump;
	rx->owing_pump = NULL;
	if (qp)
		sroce_pump_more(qp);
}

static void on_response(struct sroce_rx *rx, u32 payload)
{
	if (rx->owing_pump && rx->owing_pump != rx->qp)
		settle(rx);
	if (rx->more)
		rx->owing_pump = rx->qp;
	else if (rx->owing_pump == rx->qp)
		rx->owing_pump = NULL;
	sroce_pump_response(rx->qp, rx->skb, payload, &rx->pkt, rx->more);
}

static void on_request(struct sroce_rx *rx, u32 payload)
{
	if (rx->owing_answers && rx->owing_answers != rx->qp)
		settle(rx);
	if (rx->more)
		rx->owing_answers = rx->qp;
	else if (rx->owing_answers == rx->qp)
		rx->owing_answers = NULL;
	sroce_respond_request(rx->qp, rx->skb, payload, &rx->pkt, rx->more);
}

static void dispatch(struct sroce_rx *rx)
{
	u32 payload = rx->offset + rx->pkt.hdr_bytes;

	if (unlikely(rx->ce) && !rx->group)
		sroce_np_on_ce(rx->qp, rx->skb, &rx->pkt);
	if (rx->group)
		sroce_mcast_deliver(rx->group, rx->skb, payload, &rx->pkt);
	else if (rx->pkt.flags & SROCE_F_CNP)
		sroce_rp_on_cnp(rx->qp);
	else if (rx->qp->transport == SROCE_UD)
		sroce_ud_deliver(rx->qp, rx->skb, payload, &rx->pkt);
	else if (rx->pkt.flags & SROCE_F_RESPONSE)
		on_response(rx, payload);
	else
		on_request(rx, payload);
}

/* ---- rows ---- */

/* Is it possible that the next packets just continue the message of the last one? */
static bool may_continue(const struct sroce_rx *rx)
{
	const struct sroce_pkt *pkt = &rx->pkt;

	return rx->last_ok && !rx->no_rows && !rx->ce && !rx->group &&
	       pkt->flags & (SROCE_F_SEND | SROCE_F_WRITE | SROCE_F_READ_RESP) &&
	       !(pkt->flags & SROCE_F_END) && !pkt->pad &&
	       sroce_rx_is_trusted(rx);
}

/* The row of packets that begins here; the decoded packet becomes the first of it. */
static u32 find_row(struct sroce_rx *rx, u32 step, struct sroce_row *row)
{
	const u8 *p = sroce_rx_in_place(rx, rx->offset, step);
	u32 n;

	if (!p)
		return 0;
	n = (min(rx->skb->len, rx->block_end) - rx->offset) / step;
	row->n = sroce_pkt_row(&rx->pkt, rx->bth, p, n, step);
	row->payload = p + SROCE_BTH_BYTES;
	row->step = step;
	row->bytes = rx->pkt.payload_bytes;
	return row->n;
}

/* Whoever had the packet before is owed an end of the batch already. */
static u32 hand_row(struct sroce_rx *rx, const struct sroce_row *row)
{
	u32 n;

	if (rx->pkt.flags & SROCE_F_RESPONSE) {
		n = sroce_pump_row(rx->qp, &rx->pkt, row);
		rx->owing_pump = rx->qp;
	} else {
		n = sroce_respond_row(rx->qp, &rx->pkt, row);
		rx->owing_answers = rx->qp;
	}
	return n;
}

/* Take as many packets as possible in one go; returns false if there are none. */
static bool take_row(struct sroce_rx *rx, u32 step)
{
	struct sroce_row row;
	u32 n;

	if (!may_continue(rx))
		return false;
	/* What was looked at is what the packet before was. */
	rx->last_ok = false;
	if (!find_row(rx, step, &row))
		return false;
	n = hand_row(rx, &row);
	rx->no_rows = !n;
	if (!n)
		return false;
	rx->last_ok = true;
	rx->pkt.psn = sroce_psn_add(rx->pkt.psn, n - 1);
	rx->offset += n * step;
	rx->index += n;
	sroce_qp_count_add(rx->qp, SROCE_CNT_RX_PKTS, n);
	sroce_qp_count_add(rx->qp, SROCE_CNT_RX_BYTES, n * step);
	return true;
}

static bool is_ce(const struct sk_buff *skb)
{
	return INET_ECN_is_ce(skb->protocol == htons(ETH_P_IPV6) ?
			      ipv6_get_dsfield(ipv6_hdr(skb)) : ip_hdr(skb)->tos);
}

/* All packets of an skb whose data starts with the UDP header; consumes it. */
static void receive(struct net *net, struct sk_buff *skb, bool direct)
{
	u32 step = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : skb->len;
	struct sroce_rx rx = {
		.skb = skb,
		.net = net,
		.ipv6 = skb->protocol == htons(ETH_P_IPV6),
		.ce = is_ce(skb),
		.direct = direct,
		.id_step = 1,
		.block = skb->data,
		.block_end = skb_headlen(skb),
		.offset = SROCE_UDP_BYTES,
		.bytes = skb->len - SROCE_UDP_BYTES,
	};
	enum sroce_counter verdict;
	bool good = true;

	if (!sroce_rx_lengths_ok(&rx)) {
		count(&rx, SROCE_CNT_RX_DROP_MALFORMED);
		kfree_skb(skb);
		return;
	}
	while (rx.offset < skb->len) {
		if (take_row(&rx, step))
			continue;
		rx.bytes = min(step, skb->len - rx.offset);
		rx.more = rx.offset + step < skb->len;
		verdict = sroce_rx_check(&rx);
		count(&rx, verdict);
		rx.last_ok = verdict == RX_ACCEPT;
		if (rx.last_ok)
			dispatch(&rx);
		else
			good = false;
		rx.offset += step;
		rx.index++;
	}
	settle(&rx);
	sroce_ahead_part(skb);
	if (good)
		consume_skb(skb);
	else
		kfree_skb(skb);
}

int sroce_rx_udp(struct sock *sk, struct sk_buff *skb)
{
	lockdep_assert(rcu_read_lock_held());
	lockdep_assert(in_softirq());
	receive(sock_net(sk), skb, false);
	return 0;
}

void sroce_rx_direct(struct sk_buff *skb)
{
	__skb_pull(skb, skb_transport_offset(skb));
	receive(dev_net(skb->dev), skb, true);
}

/* Is it a batch for us? The headers are made linear if it may be. */
static bool is_batch(struct sk_buff *skb, bool ipv6)
{
	u8 proto;

	if (!skb_is_gso(skb) || !(skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4) ||
	    skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST || !skb_shinfo(skb)->gso_size)
		return false;
	proto = ipv6 ? ipv6_hdr(skb)->nexthdr : ip_hdr(skb)->protocol;
	if (proto != IPPROTO_UDP ||
	    !pskb_may_pull(skb, skb_transport_offset(skb) + sizeof(struct udphdr)))
		return false;
	return udp_hdr(skb)->dest == htons(SROCE_UDP_PORT);
}

static unsigned int take_batch(struct net *net, struct sk_buff *skb, bool ipv6)
{
	if (!is_batch(skb, ipv6))
		return NF_ACCEPT;
	__skb_pull(skb, skb_transport_offset(skb));
	receive(net, skb, false);
	return NF_STOLEN;
}

static unsigned int hook4(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	return take_batch(state->net, skb, false);
}

static unsigned int hook6(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	return take_batch(state->net, skb, true);
}

static const struct nf_hook_ops hooks[] = {
	{
		.hook = hook4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	}, {
		.hook = hook6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
};

int sroce_rx_hook(struct net *net)
{
	return nf_register_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}

void sroce_rx_unhook(struct net *net)
{
	nf_unregister_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}
