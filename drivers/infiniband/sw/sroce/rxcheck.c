// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Is a packet let in? From the outside in: lengths, headers, ICRC, and only then
 * what it asks for (the QP, its transport, P_Key, state and addresses), so that
 * nothing is concluded from a damaged packet. The QP is the root of everything after
 * that: its number is unique over all devices, so its device is where the packet
 * belongs, on whatever netdev it came in (loopback, VRF, bridge, another NIC of the
 * same net); only the GSI QP, which every device has, is found by netdev or
 * destination address.
 */
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "device.h"
#include "proto/icrc.h"
#include "rx.h"

/* CA17-24, CA17-27: IP without options or extension headers, all lengths alike. */
bool sroce_rx_lengths_ok(const struct sroce_rx *rx)
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

/* Where @bytes of the skb are, if they are in one piece; @offset never goes back. */
const u8 *sroce_rx_in_place(struct sroce_rx *rx, u32 offset, u32 bytes)
{
	const struct skb_shared_info *info = skb_shinfo(rx->skb);
	const skb_frag_t *frag;

	while (offset >= rx->block_end) {
		if (rx->next_frag == info->nr_frags)
			return NULL;
		frag = &info->frags[rx->next_frag++];
		rx->block = skb_frag_address(frag);
		rx->block_begin = rx->block_end;
		rx->block_end += skb_frag_size(frag);
	}
	if (!rx->block || bytes > rx->block_end - offset)
		return NULL;
	return rx->block + (offset - rx->block_begin);
}

static bool parse(struct sroce_rx *rx)
{
	u32 avail = min_t(u32, rx->bytes, sizeof(rx->buf));

	rx->bth = sroce_rx_in_place(rx, rx->offset, avail);
	if (!rx->bth)
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

static bool icrc_ok(struct sroce_rx *rx)
{
	if (rx->qp && sroce_rx_is_trusted(rx))
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

	return sroce_netdev_has4(ndev, daddr) ? ndev : __ip_dev_find(rx->net, daddr, false);
}

#if IS_ENABLED(CONFIG_IPV6)
static const struct net_device *owner6(const struct sroce_rx *rx, const struct net_device *ndev)
{
	const struct in6_addr *daddr = &ipv6_hdr(rx->skb)->daddr;

	if (sroce_netdev_has6(ndev, daddr))
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
struct sroce_dev *sroce_rx_dev(const struct sroce_rx *rx)
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
		dev = sroce_rx_dev(rx);
		return dev ? rcu_dereference(dev->gsi_qp) : NULL;
	}
	if (rx->pkt.qpn == SROCE_QPN_MULTICAST)
		return NULL;
	qp = sroce_qp_find(rx->pkt.qpn);
	return qp && net_eq(rcu_access_pointer(qp->dev->net), rx->net) ? qp : NULL;
}

static bool to_many(const struct sroce_rx *rx)
{
	if (rx->direct)
		return false;
	if (rx->ipv6)
		return ipv6_addr_is_multicast(&ipv6_hdr(rx->skb)->daddr);
	return skb_rtable(rx->skb)->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST);
}

static struct sroce_group *find_group(const struct sroce_rx *rx)
{
	struct sroce_dev *dev = sroce_rx_dev(rx);
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

enum sroce_counter sroce_rx_check(struct sroce_rx *rx)
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
