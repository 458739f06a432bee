/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests that came ahead of their turn, with the skbs they are in. Order and
 * limits are those of proto/hold.h.
 */
#ifndef SROCE_AHEAD_H
#define SROCE_AHEAD_H

#include <linux/skbuff.h>
#include <net/dst.h>
#include "proto/resp.h"

struct sroce_qp;

/**
 * struct sroce_ahead - a request that is held
 * @held: its place
 * @skb: where its payload is, referenced; several may be in one
 * @payload: offset of the payload in @skb
 * @pkt: its headers
 */
struct sroce_ahead {
	struct sroce_held held;
	struct sk_buff *skb;
	u32 payload;
	struct sroce_pkt pkt;
};

/**
 * sroce_ahead_keep - hold a request, as a SROCE_ACT_HOLD verdict asks for
 * @qp: queue pair; resp_lock held
 * @skb: it is in
 * @payload: offset of its payload in @skb
 * @pkt: its headers
 * @todo: the verdict
 */
void sroce_ahead_keep(struct sroce_qp *qp, struct sk_buff *skb, u32 payload,
		      const struct sroce_pkt *pkt, struct sroce_resp_do *todo);

/* sroce_ahead_due - the next that is due, or NULL; resp_lock held */
struct sroce_ahead *sroce_ahead_due(struct sroce_qp *qp);

/* sroce_ahead_free - what sroce_ahead_due() gave */
void sroce_ahead_free(struct sroce_ahead *ahead);

/* sroce_ahead_drop - let go of all; resp_lock held */
void sroce_ahead_drop(struct sroce_qp *qp);

/**
 * sroce_ahead_part - before an skb is given back that may be held: let go of all else
 * @skb: whose packets have been dealt with
 *
 * What is held for long must not keep a netdev, a route or a connection tracked.
 */
static inline void sroce_ahead_part(struct sk_buff *skb)
{
	if (!skb_shared(skb))
		return;
	skb_dst_drop(skb);
	skb_ext_reset(skb);
	nf_reset_ct(skb);
	skb->dev = NULL;
}

#endif /* SROCE_AHEAD_H */
