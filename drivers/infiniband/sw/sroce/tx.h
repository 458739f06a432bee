/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets to skbs to the IP stack. A burst of one QP is built with
 *
 *   sroce_tx_begin(&tx, qp, &path, &cache);
 *   sroce_tx_add(&tx, &pkt, &payload);     any number of times
 *   sroce_tx_end(&tx);
 *
 * so that what is common to the burst is done once.
 */
#ifndef SROCE_TX_H
#define SROCE_TX_H

#include <linux/skbuff.h>
#include "proto/icrc.h"
#include "proto/wire.h"
#include "route.h"

struct ib_pd;
struct sroce_qp;
struct sroce_sge;
struct sroce_stretch;

enum sroce_payload_kind {
	SROCE_PAYLOAD_NONE,
	SROCE_PAYLOAD_LINEAR,	/* @linear */
	SROCE_PAYLOAD_SGL,	/* local SGEs, from @offset of their sum */
	SROCE_PAYLOAD_MR,	/* @va by @rkey: a READ response */
};

/**
 * struct sroce_payload - where the pkt->payload_bytes of a packet come from
 * @kind: enum sroce_payload_kind
 * @linear: LINEAR
 * @sge: SGL
 * @num_sge: SGL
 * @offset: SGL
 * @pd: SGL, MR: that the keys must belong to
 * @va: MR
 * @rkey: MR
 * @stretch: SGL, MR: the same memory, looked up already; NULL: not
 */
struct sroce_payload {
	u8 kind;
	const void *linear;
	const struct sroce_sge *sge;
	u32 num_sge;
	u32 offset;
	struct ib_pd *pd;
	u64 va;
	u32 rkey;
	struct sroce_stretch *stretch;
};

/**
 * struct sroce_tx - a burst being built
 * @qp: sender
 * @path: where to
 * @dst: route, referenced; ERR_PTR when there is none (packets are then lost)
 * @direct: the netdev that packets come in by if they are handed over directly, or NULL
 * @batch: equal-length segments may share an skb
 * @skb: being filled, or NULL; its headers are written when it leaves
 * @seg_bytes: length of its segments, BTH to ICRC; the last may be shorter
 * @bytes: of all its segments
 * @segs: its segments
 * @max_bytes: at most so many
 * @first_psn: of the first of them
 * @refused: packets did not leave: no route, no memory, refused by the stack
 * @refused_psn: the first of those
 * @first_id: IPv4 identification of the first; software segmentation counts up from it
 * @more_bytes: length of the last segment if another one like it may follow; else 0
 * @ip: IP header of a packet of this path, lengths and identification left open
 * @bth: BTH of the last segment
 * @masked: its headers as the ICRC takes them
 * @masked_bytes: length of @masked
 */
struct sroce_tx {
	struct sroce_qp *qp;
	const struct sroce_path *path;
	struct dst_entry *dst;
	struct net_device *direct;
	bool batch;
	struct sk_buff *skb;
	u32 seg_bytes;
	u32 bytes;
	u32 segs;
	u32 max_bytes;
	u32 first_psn;
	u32 refused_psn;
	bool refused;
	u16 first_id;
	u32 more_bytes;
	u8 ip[SROCE_IPV6_BYTES];
	u8 bth[SROCE_BTH_BYTES];
	u8 masked[SROCE_ICRC_MAX_MASKED];
	u32 masked_bytes;
};

/*
 * Batches that have come from here whole are known by a word of the skb that means
 * nothing without a time stamp to take. No wire carries it and no copy has it, so
 * what GRO has merged, which is CHECKSUM_PARTIAL too, is without it.
 */
#define SROCE_OWN_BATCH		0x73726365

/* sroce_tx_is_ours - did this batch never leave the host? */
static inline bool sroce_tx_is_ours(const struct sk_buff *skb)
{
	return skb->ip_summed == CHECKSUM_PARTIAL && skb_shinfo(skb)->tskey == SROCE_OWN_BATCH;
}

/* BH disabled, RCU read lock held, the QP's request or response lock held. */
void sroce_tx_begin(struct sroce_tx *tx, struct sroce_qp *qp, const struct sroce_path *path,
		    struct dst_cache *cache);

/**
 * sroce_tx_add - send one packet
 * @tx: burst
 * @pkt: header fields; payload_bytes set
 * @payload: its data
 *
 * The packet may stay in the burst until sroce_tx_end(); @payload is read at once.
 * Returns 0 when the packet was sent or lost (no memory, no route, refused by
 * the stack: counted; to the transport all the same), -EACCES when the payload
 * cannot be read (nothing was sent).
 */
int sroce_tx_add(struct sroce_tx *tx, struct sroce_pkt *pkt, const struct sroce_payload *payload);

/**
 * sroce_tx_more - send one more packet, like the last but for PSN and payload
 * @tx: burst
 * @pkt: what was given to sroce_tx_add() last, or to this function, with another PSN
 * @payload: its data
 *
 * Returns what sroce_tx_add() does.
 */
int sroce_tx_more(struct sroce_tx *tx, struct sroce_pkt *pkt, const struct sroce_payload *payload);

void sroce_tx_end(struct sroce_tx *tx);

/**
 * sroce_tx_has_room - may more go to the stack below us?
 * @qp: whose socket the skbs are accounted to
 * @due: SROCE_DUE_SPACE_REQ or SROCE_DUE_SPACE_RESP
 *
 * If not, write_space() of the socket serves @due when there is room.
 */
bool sroce_tx_has_room(struct sroce_qp *qp, unsigned int due);

/* sroce_tx_row_goes_on - may a row go on: nothing refused, no pacing, room (@due as above)? */
bool sroce_tx_row_goes_on(const struct sroce_tx *tx, unsigned int due);

/* Module exit: give the page fragments back. */
void sroce_tx_exit(void);

#endif /* SROCE_TX_H */
