// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/slab.h>

#include "ahead.h"
#include "qp.h"

static struct sroce_ahead *to_ahead(struct sroce_held *held)
{
	return held ? container_of(held, struct sroce_ahead, held) : NULL;
}

/*
 * Packets of one skb keep one skb in memory. Mostly they come in PSN order and are
 * held one behind the other: then the last of them answers for the skb, since it is
 * the last to go.
 */
static u32 memory_of(struct sroce_qp *qp, const struct sk_buff *skb, u32 psn)
{
	struct sroce_ahead *last = to_ahead(qp->resp.hold.last);

	if (last && last->skb == skb && sroce_psn_add(last->held.psn, 1) == psn)
		sroce_hold_resize(&qp->resp.hold, &last->held, sizeof(*last));
	return sizeof(*last) + skb->truesize;
}

void sroce_ahead_keep(struct sroce_qp *qp, struct sk_buff *skb, u32 payload,
		      const struct sroce_pkt *pkt, struct sroce_resp_do *todo)
{
	struct sroce_ahead *ahead = kmalloc(sizeof(*ahead), GFP_ATOMIC | __GFP_NOWARN);

	lockdep_assert_held(&qp->resp_lock);
	if (ahead) {
		ahead->held.psn = pkt->psn;
		ahead->held.bytes = memory_of(qp, skb, pkt->psn);
		ahead->skb = skb_get(skb);
		ahead->payload = payload;
		ahead->pkt = *pkt;
	}
	if (!sroce_resp_held(&qp->resp, pkt, todo, ahead ? &ahead->held : NULL))
		sroce_ahead_free(ahead);
}

struct sroce_ahead *sroce_ahead_due(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->resp_lock);
	return to_ahead(sroce_resp_due(&qp->resp));
}

void sroce_ahead_free(struct sroce_ahead *ahead)
{
	if (!ahead)
		return;
	consume_skb(ahead->skb);
	kfree(ahead);
}

void sroce_ahead_drop(struct sroce_qp *qp)
{
	struct sroce_ahead *ahead;

	lockdep_assert_held(&qp->resp_lock);
	while ((ahead = to_ahead(sroce_hold_drop(&qp->resp.hold))))
		sroce_ahead_free(ahead);
}
