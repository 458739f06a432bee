// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A UDP datagram to port 4791 becomes a decoded packet of a QP, or is dropped
 * and counted. The checks come from the outside in: lengths, headers, ICRC, and
 * only then what the packet asks for (the QP, its transport, P_Key, state and
 * addresses), so that nothing is concluded from a damaged packet. The QP is the
 * root of everything after that: its number is unique over all devices, so its
 * device is where the packet belongs, on whatever netdev it came in (loopback,
 * VRF, bridge, another NIC of the same net); only the GSI QP, which every device
 * has, is found by netdev or destination address. The skb may be in fragments
 * and its data shared: it is read where it lies and never changed. UDP calls us
 * in softirq with the RCU read lock held, which keeps QP, device and regions.
 *
 * A batch (GSO skb: a row of segments behind one header, from a local sender or
 * merged by GRO) is taken whole by a netfilter hook behind the administrator's
 * rules; UDP would split it before it called us. Its segments are packets like any
 * other, but answers, completions and further sends wait for the last one. What
 * comes with CHECKSUM_PARTIAL never left this host, unless GRO has merged it: it is
 * trusted as the stack trusts it, unless the device says otherwise.
 */
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/sock.h>

#include "device.h"
#include "proto/icrc.h"
#include "qp.h"
#include "sock.h"
#include "tx.h"

/* Verdict on a packet: the counter of its drop, or this. */
#define RX_ACCEPT	SROCE_CNT_COUNT

/**
 * struct sroce_rx - a packet being received
 * @skb: its data starts with the UDP header, which is linear as is the IP header
 * @net: namespace of the socket
 * @ipv6: family
 * @ce: its IP header says "congestion experienced"; of a batch each packet's did
 * @more: not the last of its skb
 * @index: of the segment in the skb
 * @id_step: what the IPv4 identification goes up by from segment to segment
 * @offset: of its BTH in the skb
 * @bytes: BTH to ICRC
 * @owing_answers: responder that waits for the end of the batch, or NULL
 * @owing_pump: requester that does, or NULL
 * @bth: BTH and extended headers, in the skb or in @buf
 * @pkt: the same, decoded
 * @qp: destination, NULL if there is none
 * @group: destination of a multicast, NULL if there is none
 * @buf: copy of headers that are not linear
 */
struct sroce_rx {
	struct sk_buff *skb;
	struct net *net;
	bool ipv6;
	bool ce;
	bool more;
	u16 index;
	u8 id_step;
	u32 offset;
	u32 bytes;
	struct sroce_qp *owing_answers;
	struct sroce_qp *owing_pump;
	const u8 *bth;
	struct sroce_pkt pkt;
	struct sroce_qp *qp;
	struct sroce_group *group;
	u8 buf[SROCE_MAX_HDR_BYTES];
};

/* CA17-24, CA17-27: IP without options or extension headers, all lengths alike. */
static bool lengths_ok(const struct sroce_rx *rx)
{
	const struct sk_buff *skb = rx->skb;
	u32 ip_hdr_bytes = skb_transport_offset(skb) - skb_network_offset(skb);

	if (ntohs(udp_hdr(skb)->len) != skb->len)
		return false;
	if (rx->ipv6)
		return ip_hdr_bytes == SROCE_IPV6_BYTES &&
		       ntohs(ipv6_hdr(skb)->payload_len) == skb->len;
	return ip_hdr_bytes == SROCE_IPV4_BYTES &&
	       ntohs(ip_hdr(skb)->tot_len) == ip_hdr_bytes + skb->len;
}

static bool parse(struct sroce_rx *rx)
{
	u32 avail = min_t(u32, rx->bytes, sizeof(rx->buf));

	rx->bth = skb_header_pointer(rx->skb, rx->offset, avail, rx->buf);
	return rx->bth && sroce_pkt_parse(rx->bth, avail, rx->bytes, &rx->pkt) == SROCE_PARSE_OK;
}

/* CRC of the bytes [from, to) of the skb; a piece may go on beyond @to. */
static bool crc_skb(struct sk_buff *skb, u32 from, u32 to, u32 *crc)
{
	struct skb_seq_state state;
	u32 n, done = 0;
	const u8 *data;

	skb_prepare_seq_read(skb, from, to, &state);
	while ((n = skb_seq_read(done, &data, &state)) != 0) {
		n = min(n, to - from - done);
		*crc = sroce_crc32(*crc, data, n);
		done += n;
	}
	return done == to - from;
}

/* CRC over the headers of this segment as they were, or would be, on the wire. */
static u32 crc_headers(const struct sroce_rx *rx)
{
	u32 udp_bytes = SROCE_UDP_BYTES + rx->bytes;
	u8 ip[SROCE_IPV6_BYTES] __aligned(4);
	struct udphdr uh = *udp_hdr(rx->skb);

	uh.len = htons(udp_bytes);
	if (rx->ipv6) {
		memcpy(ip, ipv6_hdr(rx->skb), SROCE_IPV6_BYTES);
		((struct ipv6hdr *)ip)->payload_len = htons(udp_bytes);
	} else {
		struct iphdr *iph = (struct iphdr *)ip;

		memcpy(iph, ip_hdr(rx->skb), SROCE_IPV4_BYTES);
		iph->tot_len = htons(SROCE_IPV4_BYTES + udp_bytes);
		iph->id = htons(ntohs(iph->id) + rx->index * rx->id_step);
	}
	return sroce_icrc_begin(ip, rx->ipv6, (u8 *)&uh, rx->bth);
}

static bool icrc_matches(const struct sroce_rx *rx)
{
	u32 end = rx->offset + rx->bytes - SROCE_ICRC_BYTES;
	struct sk_buff *skb = rx->skb;
	u32 crc = crc_headers(rx);
	__le32 icrc;

	if (!crc_skb(skb, rx->offset + SROCE_BTH_BYTES, end, &crc) ||
	    skb_copy_bits(skb, end, &icrc, sizeof(icrc)))
		return false;
	return icrc == sroce_icrc_end(crc);
}

static bool is_local(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? sroce_tx_is_ours(skb) : skb->ip_summed == CHECKSUM_PARTIAL;
}

static bool icrc_ok(struct sroce_rx *rx)
{
	if (is_local(rx->skb) && rx->qp && READ_ONCE(rx->qp->dev->trust_local))
		return true;
	if (icrc_matches(rx))
		return true;
	if (!rx->index || rx->ipv6)
		return false;
	/* GRO merges packets of constant identification too. */
	rx->id_step ^= 1;
	if (icrc_matches(rx))
		return true;
	rx->id_step ^= 1;
	return false;
}

/* The netdev it came in by: of a VRF the one below, not the VRF. */
static const struct net_device *ingress(const struct sroce_rx *rx)
{
	int sdif = rx->ipv6 ? inet6_sdif(rx->skb) : inet_sdif(rx->skb);

	return sdif ? dev_get_by_index_rcu(rx->net, sdif) : rx->skb->dev;
}

/* The netdev that has the destination address: @ndev if it does. */
static const struct net_device *owner4(const struct sroce_rx *rx, const struct net_device *ndev)
{
	__be32 daddr = ip_hdr(rx->skb)->daddr;
	const struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (in_dev)
		in_dev_for_each_ifa_rcu(ifa, in_dev)
			if (ifa->ifa_local == daddr)
				return ndev;
	return __ip_dev_find(rx->net, daddr, false);
}

#if IS_ENABLED(CONFIG_IPV6)
static const struct net_device *owner6(const struct sroce_rx *rx, const struct net_device *ndev)
{
	const struct in6_addr *daddr = &ipv6_hdr(rx->skb)->daddr;

	if (ipv6_chk_addr(rx->net, daddr, ndev, 1))
		return ndev;
	return ipv6_dev_find(rx->net, daddr, NULL);
}
#else
static const struct net_device *owner6(const struct sroce_rx *rx, const struct net_device *ndev)
{
	return ndev;
}
#endif

/*
 * The device of a packet for which no QP speaks. Packets from this host come in by
 * the loopback, and from a network with two of our NICs maybe by the other one:
 * the netdev that has the destination address counts.
 */
static struct sroce_dev *find_dev(const struct sroce_rx *rx)
{
	const struct net_device *in = ingress(rx), *owner;
	struct sroce_dev *dev;

	if (!in)
		return NULL;
	owner = rx->ipv6 ? owner6(rx, in) : owner4(rx, in);
	dev = sroce_dev_by_netdev_rcu(owner ?: in);
	/* A VLAN may be in another namespace than the netdev below it. */
	return dev && net_eq(rcu_access_pointer(dev->net), rx->net) ? dev : NULL;
}

static struct sroce_qp *find_qp(const struct sroce_rx *rx)
{
	struct sroce_dev *dev;
	struct sroce_qp *qp;

	if (rx->pkt.qpn == SROCE_QPN_GSI) {
		dev = find_dev(rx);
		return dev ? rcu_dereference(dev->gsi_qp) : NULL;
	}
	if (rx->pkt.qpn == SROCE_QPN_MULTICAST)
		return NULL;
	qp = sroce_qp_find(rx->pkt.qpn);
	return qp && net_eq(rcu_access_pointer(qp->dev->net), rx->net) ? qp : NULL;
}

static bool to_many(const struct sroce_rx *rx)
{
	if (rx->ipv6)
		return ipv6_addr_is_multicast(&ipv6_hdr(rx->skb)->daddr);
	return skb_rtable(rx->skb)->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST);
}

static struct sroce_group *find_group(const struct sroce_rx *rx)
{
	struct sroce_dev *dev = find_dev(rx);
	struct in6_addr gid;

	if (!dev)
		return NULL;
	if (rx->ipv6)
		return sroce_mcast_find(dev, &ipv6_hdr(rx->skb)->daddr);
	ipv6_addr_set_v4mapped(ip_hdr(rx->skb)->daddr, &gid);
	return sroce_mcast_find(dev, &gid);
}

/* What is the same for all members; the rest each of them looks at by itself. */
static enum sroce_counter check_multicast(struct sroce_rx *rx)
{
	if (rx->pkt.flags & SROCE_F_CNP ||
	    (rx->pkt.opcode & SROCE_TRANSPORT_MASK) != SROCE_UD)
		return SROCE_CNT_RX_DROP_QP_TYPE;
	if (!sroce_pkey_match(rx->pkt.pkey, SROCE_PKEY_DEFAULT))
		return SROCE_CNT_RX_DROP_PKEY;
	if (!to_many(rx))
		return SROCE_CNT_RX_DROP_ADDR;
	rx->group = find_group(rx);
	return rx->group ? RX_ACCEPT : SROCE_CNT_RX_DROP_NO_QP;
}

/*
 * A connection is between two addresses. A datagram may come from anywhere, but
 * groups are reached by SROCE_QPN_MULTICAST only (IBA 9.6.1.5).
 */
static bool addresses_ok(const struct sroce_rx *rx)
{
	const struct sroce_path *path = &rx->qp->path;
	const struct ipv6hdr *ip6h = ipv6_hdr(rx->skb);
	const struct iphdr *iph = ip_hdr(rx->skb);

	if (rx->qp->transport == SROCE_UD)
		return !to_many(rx);
	if (path->ipv6 != rx->ipv6)
		return false;
	if (rx->ipv6)
		return ipv6_addr_equal(&ip6h->saddr, &path->daddr6) &&
		       ipv6_addr_equal(&ip6h->daddr, &path->saddr6);
	return iph->saddr == path->daddr4 && iph->daddr == path->saddr4;
}

/* A CNP of somebody else than the peer: only where switches send them. */
static bool is_switch_cnp(const struct sroce_rx *rx)
{
	return rx->pkt.flags & SROCE_F_CNP && !to_many(rx) &&
	       sroce_knobs(rx->qp->dev)->rp_cnp_any_source;
}

/* Is the packet for a QP of this transport, and for the half of it that it has (XRC)? */
static bool transport_ok(const struct sroce_rx *rx)
{
	if (rx->pkt.flags & SROCE_F_CNP)
		return true;
	if (rx->pkt.flags & SROCE_F_SACK)
		return rx->qp->req.reliable && sroce_qp_requests(rx->qp);
	if ((rx->pkt.opcode & SROCE_TRANSPORT_MASK) != rx->qp->transport)
		return false;
	return rx->pkt.flags & SROCE_F_RESPONSE ? sroce_qp_requests(rx->qp) :
						   sroce_qp_responds(rx->qp);
}

/* Any of these lets the packet in. */
static u32 needed_state(const struct sroce_pkt *pkt)
{
	if (pkt->flags & SROCE_F_CNP)
		return SROCE_MAY_RESPOND | SROCE_MAY_COMPLETE;
	return pkt->flags & SROCE_F_RESPONSE ? SROCE_MAY_COMPLETE : SROCE_MAY_RESPOND;
}

/*
 * sroce_modify_qp() writes qp->path while the state does not let packets in, and
 * publishes it by smp_store_release() of the state that does: the state is read
 * first, by smp_load_acquire(), and the path only if it allows. (A packet that
 * races with the next life of the QP may see either path; the transport, which
 * looks at the state again under its lock, has no PSN for it.)
 */
static enum sroce_counter check_qp(const struct sroce_rx *rx)
{
	/* Before qp->path, see above. */
	u32 may = sroce_qp_may(smp_load_acquire(&rx->qp->state));

	if (!transport_ok(rx))
		return SROCE_CNT_RX_DROP_QP_TYPE;
	if (!sroce_pkey_match(rx->pkt.pkey, SROCE_PKEY_DEFAULT))
		return SROCE_CNT_RX_DROP_PKEY;
	if (!(may & needed_state(&rx->pkt)))
		return SROCE_CNT_RX_DROP_STATE;
	if (!addresses_ok(rx) && !is_switch_cnp(rx))
		return SROCE_CNT_RX_DROP_ADDR;
	return RX_ACCEPT;
}

static enum sroce_counter check(struct sroce_rx *rx)
{
	rx->group = NULL;
	if (!parse(rx))
		return SROCE_CNT_RX_DROP_MALFORMED;
	rx->qp = find_qp(rx);
	if (!icrc_ok(rx))
		return SROCE_CNT_RX_ICRC_ENCAPSULATED;
	if (rx->pkt.qpn == SROCE_QPN_MULTICAST)
		return check_multicast(rx);
	if (!rx->qp)
		return SROCE_CNT_RX_DROP_NO_QP;
	return check_qp(rx);
}

static void count(const struct sroce_rx *rx, enum sroce_counter verdict)
{
	struct sroce_counters __percpu *counters;
	struct sroce_dev *dev = NULL;

	if (!rx->qp) {
		dev = find_dev(rx);
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

static bool is_ce(const struct sk_buff *skb)
{
	return INET_ECN_is_ce(skb->protocol == htons(ETH_P_IPV6) ?
			      ipv6_get_dsfield(ipv6_hdr(skb)) : ip_hdr(skb)->tos);
}

/* All packets of an skb whose data starts with the UDP header; consumes it. */
static void receive(struct net *net, struct sk_buff *skb)
{
	u32 step = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : skb->len;
	struct sroce_rx rx = {
		.skb = skb,
		.net = net,
		.ipv6 = skb->protocol == htons(ETH_P_IPV6),
		.ce = is_ce(skb),
		.id_step = 1,
		.offset = SROCE_UDP_BYTES,
		.bytes = skb->len - SROCE_UDP_BYTES,
	};
	enum sroce_counter verdict;
	bool good = true;

	if (!lengths_ok(&rx)) {
		count(&rx, SROCE_CNT_RX_DROP_MALFORMED);
		kfree_skb(skb);
		return;
	}
	for (; rx.offset < skb->len; rx.offset += step, rx.index++) {
		rx.bytes = min(step, skb->len - rx.offset);
		rx.more = rx.offset + step < skb->len;
		verdict = check(&rx);
		count(&rx, verdict);
		if (verdict == RX_ACCEPT)
			dispatch(&rx);
		else
			good = false;
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
	receive(sock_net(sk), skb);
	return 0;
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
	receive(net, skb);
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
