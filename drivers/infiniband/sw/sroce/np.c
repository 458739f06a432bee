// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Notification point: packets that were marked on the way (ECN: congestion
 * experienced) are answered by CNPs (IBA A17.9.3, CA17-44). Connected QPs answer to
 * their peer; for datagrams each source has its own moderation, and the CNP goes
 * back to where the datagram came from. Multicast is not answered: each member
 * would.
 *
 * A CNP leaves at once, in the softirq of the packet that asked for it, in an skb
 * of its own with its own DSCP, ECN bits and priority. It waits for no turn. What
 * a flood of marked packets costs is counting them, and a look at when the last CNP
 * left: only a packet that may be due one takes the lock.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/dsfield.h>

#include "qp.h"
#include "rp.h"
#include "trace.h"
#include "tx.h"

static bool due_to_peer(struct sroce_qp *qp, u64 interval_ns, u64 now_ns)
{
	struct sroce_rp *rp = &qp->rp;
	bool due;

	if (!sroce_np_may_be_due(&rp->np, interval_ns, now_ns))
		return false;
	spin_lock(&rp->lock);
	due = sroce_np_due(&rp->np, interval_ns, now_ns);
	spin_unlock(&rp->lock);
	return due;
}

/* What tells senders of datagrams from each other. */
struct source_id {
	struct in6_addr saddr;
	u32 src_qpn;
	u32 qpn;
} __aligned(8);

static u64 source_key(const struct sroce_port_cc *cc, const struct sroce_qp *qp,
		      const struct sk_buff *skb, const struct sroce_pkt *pkt)
{
	struct source_id id = { .src_qpn = pkt->src_qpn, .qpn = qp->qpn };

	if (skb->protocol == htons(ETH_P_IPV6))
		id.saddr = ipv6_hdr(skb)->saddr;
	else
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &id.saddr);
	return siphash(&id, sizeof(id), &cc->hash_key);
}

/* Without the lock: as sroce_np_may_be_due(). The place may be another source's meanwhile. */
static bool may_be_due_to_source(const struct sroce_port_cc *cc,
				 const struct sroce_np_source *source, u64 key,
				 u64 interval_ns, u64 now_ns)
{
	unsigned int seq = raw_seqcount_begin(&cc->sources_seq);
	bool may = READ_ONCE(source->key) != key ||
		   sroce_np_may_be_due(&source->np, interval_ns, now_ns);

	return may || read_seqcount_retry(&cc->sources_seq, seq);
}

static bool due_to_source(struct sroce_qp *qp, const struct sk_buff *skb,
			  const struct sroce_pkt *pkt, u64 interval_ns, u64 now_ns)
{
	struct sroce_port_cc *cc = &qp->dev->cc;
	u64 key = source_key(cc, qp, skb, pkt);
	struct sroce_np_source *source = &cc->sources[key % SROCE_NP_SOURCES];
	bool due;

	if (!may_be_due_to_source(cc, source, key, interval_ns, now_ns))
		return false;
	spin_lock(&cc->lock);
	write_seqcount_begin(&cc->sources_seq);
	if (source->key != key) {
		WRITE_ONCE(source->key, key);
		sroce_np_reset(&source->np);
	}
	due = sroce_np_due(&source->np, interval_ns, now_ns);
	write_seqcount_end(&cc->sources_seq);
	spin_unlock(&cc->lock);
	return due;
}

/* Back to where a datagram came from. Its route is looked up: there is nothing to keep it in. */
static void path_back(const struct sk_buff *skb, struct sroce_path *path)
{
	memset(path, 0, sizeof(*path));
	path->ndev = skb->dev;
	path->ipv6 = skb->protocol == htons(ETH_P_IPV6);
	path->hop_limit = IPDEFTTL;
	path->sport = udp_hdr(skb)->source;
	if (path->ipv6) {
		path->saddr6 = ipv6_hdr(skb)->daddr;
		path->daddr6 = ipv6_hdr(skb)->saddr;
	} else {
		path->saddr4 = ip_hdr(skb)->daddr;
		path->daddr4 = ip_hdr(skb)->saddr;
	}
}

/* DSCP, ECN bits and priority of the CNP. */
static void set_class(struct sroce_path *path, const struct sroce_knobs *knobs,
		      const struct sk_buff *skb)
{
	u8 dscp = knobs->np_cnp_dscp;

	path->priority = knobs->np_cnp_prio;
	if (knobs->np_cnp_prio_mode) {
		dscp = (path->ipv6 ? ipv6_get_dsfield(ipv6_hdr(skb)) :
				     ipv4_get_dsfield(ip_hdr(skb))) >> 2;
		path->priority = sroce_dscp_priority(dscp);
	}
	path->tclass = dscp << 2 | knobs->np_cnp_ecn;
}

static void send_cnp(struct sroce_qp *qp, const struct sk_buff *skb, const struct sroce_pkt *pkt,
		     const struct sroce_knobs *knobs)
{
	struct sroce_payload payload = { .kind = SROCE_PAYLOAD_NONE };
	bool connected = qp->transport != SROCE_UD;
	struct sroce_path path;
	struct sroce_pkt cnp;
	struct sroce_tx tx;

	lockdep_assert_held(&qp->resp_lock);
	if (connected)
		path = qp->path;
	else
		path_back(skb, &path);
	set_class(&path, knobs, skb);
	sroce_cnp_fill(&cnp, connected ? qp->resp.dest_qpn : pkt->src_qpn, pkt->pkey);
	sroce_tx_begin(&tx, qp, &path, connected ? &qp->cache : NULL);
	sroce_tx_add(&tx, &cnp, &payload);
	sroce_tx_end(&tx);
	sroce_qp_count(qp, SROCE_CNT_NP_CNP_SENT);
	sroce_count_optional(qp->dev, SROCE_CNT_CC_TX_CNP_PKTS);
	trace_sroce_cnp_sent(qp, cnp.qpn);
}

void sroce_np_on_ce(struct sroce_qp *qp, const struct sk_buff *skb, const struct sroce_pkt *pkt)
{
	const struct sroce_knobs *knobs = sroce_knobs(qp->dev);
	u64 interval_ns = knobs->np_min_time_between_cnps * SROCE_NS_PER_US;
	u64 now_ns = ktime_get_ns();

	sroce_qp_count(qp, SROCE_CNT_NP_ECN_MARKED);
	sroce_count_optional(qp->dev, SROCE_CNT_CC_RX_CE_PKTS);
	if (!knobs->np_enable || !sroce_cnp_wanted(pkt, knobs->np_cnp_on_ack))
		return;
	if (!(qp->transport == SROCE_UD ? due_to_source(qp, skb, pkt, interval_ns, now_ns) :
					  due_to_peer(qp, interval_ns, now_ns)))
		return;
	spin_lock(&qp->resp_lock);
	/* Looked at again under the lock: the path may be another one's by now. */
	if (sroce_qp_allows(qp) & (SROCE_MAY_RESPOND | SROCE_MAY_COMPLETE))
		send_cnp(qp, skb, pkt, knobs);
	spin_unlock(&qp->resp_lock);
	sroce_qp_unwind(qp);
}
