// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A burst of packets to skbs. Segments (BTH ... ICRC) of equal length that follow
 * each other share one skb with one IP and one UDP header in front, a UDP GSO skb:
 * the stack carries it as one packet, and splits it (software or NIC) only where
 * it leaves for something that cannot take it whole. Route, netfilter, qdisc and
 * softirq are so paid once for up to 64 KiB.
 *
 * The ICRC of a segment covers its IP and UDP header as they are on the wire after
 * the split: lengths of one segment, and the IPv4 identification, which software
 * segmentation counts up by one from segment to segment. Where the identification
 * is the NIC's to count (hardware UDP segmentation, IPv4), and where somebody looks
 * at the frames (tcpdump), every packet gets an skb of its own.
 *
 * Segments are built in page fragments of a per-CPU chunk. The payload is copied
 * before the ICRC is taken: its owner may change it at any time, the packet stays
 * consistent. The stack owns the skb after that. Whatever becomes of it is a lost
 * packet at worst, counted, and the transport's to repeat; nothing of it points to
 * the QP.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/percpu.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/sock.h>

#include "direct.h"
#include "mem.h"
#include "proto/icrc.h"
#include "qp.h"
#include "tx.h"

/* Bytes of one QP below us before it waits for them to leave. */
#define BYTES_BELOW	(512 * 1024)

/* Segments of one skb at most: as many as UDP sockets send. */
#define MAX_SEGS	64

static DEFINE_PER_CPU(struct page_frag, chunk);

/* @packets from @psn on did not leave. */
static void lost(struct sroce_tx *tx, enum sroce_counter why, u32 psn, u32 packets)
{
	sroce_qp_count_add(tx->qp, why, packets);
	if (!tx->refused)
		tx->refused_psn = psn;
	tx->refused = true;
}

static u32 ip_hdr_bytes(const struct sroce_tx *tx)
{
	return tx->path->ipv6 ? SROCE_IPV6_BYTES : SROCE_IPV4_BYTES;
}

/* ---- headers ---- */

static void fill_ipv4(const struct sroce_path *path, struct iphdr *iph)
{
	memset(iph, 0, sizeof(*iph));
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->tos = path->tclass;
	iph->frag_off = htons(IP_DF);
	iph->ttl = path->hop_limit;
	iph->protocol = IPPROTO_UDP;
	iph->saddr = path->saddr4;
	iph->daddr = path->daddr4;
}

static void fill_ipv6(const struct sroce_path *path, struct ipv6hdr *ip6h)
{
	ip6_flow_hdr(ip6h, path->tclass, htonl(path->flow_label));
	ip6h->payload_len = 0;
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = path->hop_limit;
	ip6h->saddr = path->saddr6;
	ip6h->daddr = path->daddr6;
}

/* The open fields of the IP header: of one segment for its ICRC, of all for the skb. */
static void set_lengths(const struct sroce_tx *tx, u8 *ip, struct udphdr *uh, u32 bytes, u16 id)
{
	u32 udp_bytes = sizeof(*uh) + bytes;

	if (tx->path->ipv6) {
		((struct ipv6hdr *)ip)->payload_len = htons(udp_bytes);
	} else {
		((struct iphdr *)ip)->tot_len = htons(sizeof(struct iphdr) + udp_bytes);
		((struct iphdr *)ip)->id = htons(id);
	}
	uh->source = tx->path->sport;
	uh->dest = htons(SROCE_UDP_PORT);
	uh->len = htons(udp_bytes);
	uh->check = 0;
}

static int copy_payload(const struct sroce_tx *tx, const struct sroce_payload *from, u8 *to,
			u32 bytes)
{
	struct sroce_accessor by = sroce_qp_accessor(tx->qp);

	if (from->stretch && sroce_stretch_read(from->stretch, to, bytes))
		return 0;
	by.pd = from->pd;
	switch (from->kind) {
	case SROCE_PAYLOAD_LINEAR:
		memcpy(to, from->linear, bytes);
		return 0;
	case SROCE_PAYLOAD_SGL:
		return sroce_sgl_read(by.dev, by.pd, from->sge, from->num_sge, from->offset, to,
				      bytes);
	case SROCE_PAYLOAD_MR:
		return sroce_mem_read(&by, from->rkey, IB_ACCESS_REMOTE_READ, from->va, to, bytes);
	default:
		memset(to, 0, bytes);
		return 0;
	}
}

/* ---- segments ---- */

/* ICRC from the masked headers and all that is between @bth and @end, to @end. */
static void put_icrc(const struct sroce_tx *tx, const u8 *bth, u8 *end)
{
	u32 crc = sroce_icrc_masked(tx->masked, tx->masked_bytes);
	__le32 icrc;

	crc = sroce_crc32(crc, bth + SROCE_BTH_BYTES, end - bth - SROCE_BTH_BYTES);
	icrc = sroce_icrc_end(crc);
	memcpy(end, &icrc, sizeof(icrc));
}

/* Nobody looks at the ICRC of what is handed over directly. */
static void put_no_icrc(u8 *end)
{
	memset(end, 0, SROCE_ICRC_BYTES);
}

/* BTH and extended headers (@hdr), payload, pad, ICRC to @bth. */
static int put_segment(struct sroce_tx *tx, const struct sroce_pkt *pkt, const u8 *hdr,
		       const struct sroce_payload *payload, u8 *bth)
{
	u8 *data = bth + pkt->hdr_bytes;
	u8 *pad = data + pkt->payload_bytes;
	u8 *end = pad + pkt->pad;
	struct udphdr uh;

	memcpy(bth, hdr, pkt->hdr_bytes);
	if (copy_payload(tx, payload, data, pkt->payload_bytes))
		return -EACCES;
	memset(pad, 0, pkt->pad);
	if (tx->direct) {
		put_no_icrc(end);
		return 0;
	}

	set_lengths(tx, tx->ip, &uh, sroce_pkt_udp_payload(pkt), tx->first_id + tx->segs);
	tx->masked_bytes = sroce_icrc_mask(tx->ip, tx->path->ipv6, (u8 *)&uh, bth, tx->masked);
	put_icrc(tx, bth, end);
	return 0;
}

/* The same of a packet like the last, which has neither extended headers nor pad. */
static int put_next(struct sroce_tx *tx, const struct sroce_pkt *pkt,
		    const struct sroce_payload *payload, u8 *bth)
{
	u8 *data = bth + SROCE_BTH_BYTES;

	put_unaligned_be24(pkt->psn, tx->bth + SROCE_BTH_PSN);
	memcpy(bth, tx->bth, SROCE_BTH_BYTES);
	if (copy_payload(tx, payload, data, pkt->payload_bytes))
		return -EACCES;
	if (tx->direct) {
		put_no_icrc(data + pkt->payload_bytes);
		return 0;
	}

	put_unaligned_be24(pkt->psn,
			   tx->masked + tx->masked_bytes - SROCE_BTH_BYTES + SROCE_BTH_PSN);
	if (!tx->path->ipv6)
		put_unaligned_be16(tx->first_id + tx->segs,
				   tx->masked + offsetof(struct iphdr, id));
	put_icrc(tx, bth, data + pkt->payload_bytes);
	return 0;
}

/* Room for a segment in this CPU's chunk; NULL: not in one piece. */
static u8 *frag_room(u32 bytes)
{
	struct page_frag *frag = this_cpu_ptr(&chunk);

	if (!skb_page_frag_refill(bytes, frag, GFP_ATOMIC) || frag->offset + bytes > frag->size)
		return NULL;
	return (u8 *)page_address(frag->page) + frag->offset;
}

/* The segment in the chunk becomes part of the skb. */
static void take_frag(struct sk_buff *skb, u32 bytes)
{
	struct page_frag *frag = this_cpu_ptr(&chunk);
	int n = skb_shinfo(skb)->nr_frags;

	if (skb_can_coalesce(skb, n, frag->page, frag->offset)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[n - 1], bytes);
	} else {
		get_page(frag->page);
		skb_fill_page_desc(skb, n, frag->page, frag->offset, bytes);
	}
	frag->offset += bytes;
	skb->len += bytes;
	skb->data_len += bytes;
	skb->truesize += bytes;
}

/* ---- skbs ---- */

/* alloc_skb() leaves skb->cb (IPCB, IP6CB), mark and ip_summed (CHECKSUM_NONE) zero. */
static bool open_skb(struct sroce_tx *tx, u32 psn, u32 seg_bytes, u32 linear)
{
	const struct net_device *ndev = dst_dev(tx->dst);
	u32 head = LL_RESERVED_SPACE(ndev) + tx->dst->header_len + ip_hdr_bytes(tx) +
		   SROCE_UDP_BYTES;
	u32 tail = READ_ONCE(ndev->needed_tailroom) + tx->dst->trailer_len;

	tx->skb = alloc_skb(head + linear + tail, GFP_ATOMIC);
	if (!tx->skb)
		return false;
	skb_reserve(tx->skb, head);
	tx->first_psn = psn;
	tx->seg_bytes = seg_bytes;
	tx->bytes = 0;
	tx->segs = 0;
	tx->first_id = atomic_add_return(MAX_SEGS, &tx->qp->ip_id);
	return true;
}

static void push_headers(struct sroce_tx *tx)
{
	struct sk_buff *skb = tx->skb;
	struct udphdr *uh;

	uh = skb_push(skb, sizeof(*uh));
	skb_reset_transport_header(skb);
	skb_push(skb, ip_hdr_bytes(tx));
	skb_reset_network_header(skb);
	memcpy(skb->data, tx->ip, ip_hdr_bytes(tx));
	set_lengths(tx, skb->data, uh, tx->bytes, tx->first_id);
	skb->protocol = tx->path->ipv6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
}

/*
 * UDP segmentation needs a checksum to complete. What leaves alone between batches
 * has one too: GRO at the receiver keeps back what it may merge, and lets datagrams
 * without a checksum overtake it.
 */
static void ask_for_checksum(struct sroce_tx *tx)
{
	const struct sroce_path *path = tx->path;
	struct sk_buff *skb = tx->skb;
	u32 bytes = sizeof(struct udphdr) + tx->bytes;

	if (path->ipv6)
		udp_hdr(skb)->check = ~csum_ipv6_magic(&path->saddr6, &path->daddr6, bytes,
						       IPPROTO_UDP, 0);
	else
		udp_hdr(skb)->check = ~csum_tcpudp_magic(path->saddr4, path->daddr4, bytes,
							 IPPROTO_UDP, 0);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

/* How to cut it. */
static void make_gso(struct sroce_tx *tx)
{
	struct sk_buff *skb = tx->skb;

	skb_shinfo(skb)->gso_size = tx->seg_bytes;
	skb_shinfo(skb)->gso_segs = tx->segs;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	skb_shinfo(skb)->tskey = SROCE_OWN_BATCH;
}

/*
 * The route needs no reference of its own: the RCU read lock is held, and whoever
 * keeps the skb for longer takes one.
 */
static int hand_over(const struct sroce_tx *tx, struct sk_buff *skb)
{
	const struct sroce_qp *qp = tx->qp;
	struct sock *sk = qp->sock ? qp->sock->sk : NULL;
	struct net *net = rcu_dereference(qp->dev->net);
	int err;

	/* The netdev is about to move; the route was found before. */
	if (!net) {
		kfree_skb(skb);
		return -ENETDOWN;
	}

	if (sk)
		skb_set_owner_w(skb, sk);
	if (tx->direct)
		return sroce_direct_xmit(tx->direct, skb);

	skb->priority = tx->path->priority;
	skb_dst_set_noref(skb, tx->dst);
	if (tx->path->ipv6)
		err = ip6_local_out(net, sk, skb);
	else
		err = ip_local_out(net, sk, skb);
	return net_xmit_eval(err);
}

static void flush(struct sroce_tx *tx)
{
	struct sk_buff *skb = tx->skb;

	if (!skb)
		return;
	if (!tx->segs) {
		kfree_skb(skb);
	} else {
		push_headers(tx);
		if (tx->batch && !tx->direct)
			ask_for_checksum(tx);
		if (tx->segs > 1)
			make_gso(tx);
		if (hand_over(tx, skb)) {
			lost(tx, SROCE_CNT_TX_DROP_LOCAL, tx->first_psn, tx->segs);
		} else {
			sroce_qp_count_add(tx->qp, SROCE_CNT_TX_PKTS, tx->segs);
			sroce_qp_count_add(tx->qp, SROCE_CNT_TX_BYTES, tx->bytes);
			if (tx->direct)
				sroce_qp_count_add(tx->qp, SROCE_CNT_TX_DIRECT, tx->segs);
		}
	}
	tx->skb = NULL;
}

/* May the skb take another segment of this length? Only the last may be shorter. */
static bool fits(const struct sroce_tx *tx, u32 bytes)
{
	return tx->batch && tx->segs < MAX_SEGS && bytes <= tx->seg_bytes &&
	       tx->bytes == tx->segs * tx->seg_bytes && tx->bytes + bytes <= tx->max_bytes &&
	       skb_shinfo(tx->skb)->nr_frags < MAX_SKB_FRAGS;
}

static void segment_done(struct sroce_tx *tx, u32 bytes)
{
	tx->bytes += bytes;
	tx->segs++;
}

/* One packet in an skb of its own, linear. */
static int add_alone(struct sroce_tx *tx, const struct sroce_pkt *pkt, const u8 *hdr,
		     const struct sroce_payload *payload, u32 bytes)
{
	flush(tx);
	if (!open_skb(tx, pkt->psn, bytes, bytes)) {
		lost(tx, SROCE_CNT_TX_NO_MEMORY, pkt->psn, 1);
		return 0;
	}
	if (put_segment(tx, pkt, hdr, payload, tx->skb->data)) {
		flush(tx);
		return -EACCES;
	}
	skb_put(tx->skb, bytes);
	segment_done(tx, bytes);
	flush(tx);
	return 0;
}

static int add_to_batch(struct sroce_tx *tx, const struct sroce_pkt *pkt, const u8 *hdr,
			const struct sroce_payload *payload, u32 bytes)
{
	u8 *room;

	if (tx->skb && !fits(tx, bytes))
		flush(tx);
	room = frag_room(bytes);
	if (!room)
		return add_alone(tx, pkt, hdr, payload, bytes);
	if (!tx->skb && !open_skb(tx, pkt->psn, bytes, 0)) {
		lost(tx, SROCE_CNT_TX_NO_MEMORY, pkt->psn, 1);
		return 0;
	}
	if (put_segment(tx, pkt, hdr, payload, room))
		return -EACCES;
	take_frag(tx->skb, bytes);
	segment_done(tx, bytes);
	if (pkt->hdr_bytes == SROCE_BTH_BYTES && !pkt->pad) {
		memcpy(tx->bth, hdr, SROCE_BTH_BYTES);
		tx->more_bytes = bytes;
	}
	return 0;
}

/* ---- bursts ---- */

/* May segments share an skb on the way out of this netdev? See the head of this file. */
static bool may_batch(const struct sroce_tx *tx)
{
	struct net_device *ndev = dst_dev(tx->dst);

	if (!READ_ONCE(tx->qp->dev->tx_batch) || dst_xfrm(tx->dst) || dev_nit_active(ndev))
		return false;
	return tx->path->ipv6 || !ndev->dev.parent || !(ndev->features & NETIF_F_GSO_UDP_L4);
}

bool sroce_tx_has_room(struct sroce_qp *qp, unsigned int due)
{
	if (!qp->sock || refcount_read(&qp->sock->sk->sk_wmem_alloc) < BYTES_BELOW)
		return true;
	set_bit(due, &qp->due);
	/* Either we see that skbs left, or their write_space() sees the bit. */
	smp_mb__after_atomic();
	return refcount_read(&qp->sock->sk->sk_wmem_alloc) < BYTES_BELOW;
}

bool sroce_tx_row_goes_on(const struct sroce_tx *tx, unsigned int due)
{
	return !tx->refused && !sroce_rp_is_paced(tx->qp) && sroce_tx_has_room(tx->qp, due);
}

void sroce_tx_begin(struct sroce_tx *tx, struct sroce_qp *qp, const struct sroce_path *path,
		    struct dst_cache *cache)
{
	tx->qp = qp;
	tx->path = path;
	tx->skb = NULL;
	tx->refused = false;
	tx->more_bytes = 0;
	tx->dst = sroce_path_route(path, qp->dev, cache);
	if (IS_ERR(tx->dst))
		return;
	tx->direct = qp->transport == SROCE_UD ? NULL :
						  sroce_direct_netdev(path, qp->dev, tx->dst);
	tx->batch = may_batch(tx);
	tx->max_bytes = min_t(u32, READ_ONCE(dst_dev(tx->dst)->gso_max_size), U16_MAX) -
			SROCE_IPV6_BYTES - SROCE_UDP_BYTES;
	if (path->ipv6)
		fill_ipv6(path, (struct ipv6hdr *)tx->ip);
	else
		fill_ipv4(path, (struct iphdr *)tx->ip);
}

int sroce_tx_add(struct sroce_tx *tx, struct sroce_pkt *pkt, const struct sroce_payload *payload)
{
	u8 hdr[SROCE_MAX_HDR_BYTES];
	u32 bytes;

	lockdep_assert(lockdep_is_held(&tx->qp->req_lock) || lockdep_is_held(&tx->qp->resp_lock));
	lockdep_assert(rcu_read_lock_held());

	tx->more_bytes = 0;
	sroce_pkt_build(pkt, hdr);
	bytes = sroce_pkt_udp_payload(pkt);
	if (IS_ERR(tx->dst)) {
		lost(tx, SROCE_CNT_TX_NO_ROUTE, pkt->psn, 1);
		return 0;
	}
	if (ip_hdr_bytes(tx) + SROCE_UDP_BYTES + bytes > dst_mtu(tx->dst)) {
		lost(tx, SROCE_CNT_TX_DROP_LOCAL, pkt->psn, 1);
		return 0;
	}
	if (tx->batch)
		return add_to_batch(tx, pkt, hdr, payload, bytes);
	return add_alone(tx, pkt, hdr, payload, bytes);
}

int sroce_tx_more(struct sroce_tx *tx, struct sroce_pkt *pkt, const struct sroce_payload *payload)
{
	u32 bytes = tx->more_bytes;
	u8 *room;

	if (!bytes || !tx->skb || tx->seg_bytes != bytes || !fits(tx, bytes))
		return sroce_tx_add(tx, pkt, payload);
	room = frag_room(bytes);
	if (!room)
		return sroce_tx_add(tx, pkt, payload);
	if (put_next(tx, pkt, payload, room))
		return -EACCES;
	take_frag(tx->skb, bytes);
	segment_done(tx, bytes);
	return 0;
}

void sroce_tx_end(struct sroce_tx *tx)
{
	flush(tx);
	if (!IS_ERR(tx->dst))
		dst_release(tx->dst);
}

void sroce_tx_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct page_frag *frag = per_cpu_ptr(&chunk, cpu);

		if (frag->page)
			put_page(frag->page);
		frag->page = NULL;
	}
}
