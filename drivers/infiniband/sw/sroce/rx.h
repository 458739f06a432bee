/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A packet being received, between rx.c, which takes it apart and hands it on, and
 * rxcheck.c, which says whether it is let in.
 */
#ifndef SROCE_RX_H
#define SROCE_RX_H

#include <linux/skbuff.h>

#include "qp.h"
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
 * @direct: it came by the direct path: no ICRC, no route
 * @index: of the segment in the skb
 * @id_step: what the IPv4 identification goes up by from segment to segment
 * @no_rows: packets are taken one by one: rows are not possible, or were refused
 * @last_ok: the packet before was accepted
 * @block: piece of the skb that is contiguous in memory; NULL: cannot be read in place
 * @block_begin: its offset in the skb
 * @block_end: where it ends
 * @next_frag: what comes behind it
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
	bool direct;
	u16 index;
	u8 id_step;
	bool no_rows;
	bool last_ok;
	const u8 *block;
	u32 block_begin;
	u32 block_end;
	u32 next_frag;
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

/*
 * sroce_rx_is_trusted - is it from this host, and its CRC taken for granted? @qp is set.
 * What comes with CHECKSUM_PARTIAL never left this host, unless GRO has merged it.
 */
static inline bool sroce_rx_is_trusted(const struct sroce_rx *rx)
{
	const struct sk_buff *skb = rx->skb;

	if (rx->direct)
		return true;
	if (skb_is_gso(skb) ? !sroce_tx_is_ours(skb) : skb->ip_summed != CHECKSUM_PARTIAL)
		return false;
	return READ_ONCE(rx->qp->dev->trust_local);
}

/* sroce_rx_direct - an skb of the direct path (direct.h); softirq, RCU read lock held */
void sroce_rx_direct(struct sk_buff *skb);

/* sroce_rx_lengths_ok - do IP, UDP and skb agree on the length? */
bool sroce_rx_lengths_ok(const struct sroce_rx *rx);

/* sroce_rx_in_place - where @bytes of the skb are, or NULL: in pieces; @offset never goes back */
const u8 *sroce_rx_in_place(struct sroce_rx *rx, u32 offset, u32 bytes);

/* sroce_rx_dev - the device of a packet for which no QP speaks, or NULL */
struct sroce_dev *sroce_rx_dev(const struct sroce_rx *rx);

/**
 * sroce_rx_check - decode the packet at @offset, and find who it is for
 * @rx: packet; @pkt, @bth, @qp and @group are set
 *
 * Returns RX_ACCEPT, or the counter of its drop.
 */
enum sroce_counter sroce_rx_check(struct sroce_rx *rx);

#endif /* SROCE_RX_H */
