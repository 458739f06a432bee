// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The direct path. A packet to a QP of this host goes down through a whole IP stack and
 * up again, though all that matters is at the ends. Here it is queued to the receive
 * path of the other end instead, as an skb like any other: PSNs, ACKs, timers, credits
 * and rates are what they are anywhere. It has no ICRC, since nothing can damage it.
 *
 * Between two netdevs that is done where the one is a veth, and the other its peer and
 * the owner of the destination address; within a namespace, where the route is local.
 * And only as long as nobody could tell: with a capture, a qdisc, tc, XDP or netfilter
 * rules, a bridge, a VRF or IPsec on the way, everything goes the ordinary way. That is
 * looked at for each burst, so that `tcpdump` or `tc qdisc add` work as they always do.
 * What is not asked is the routing of the receiver's namespace (rp_filter, rules for
 * what comes in).
 *
 * Queues are per CPU, each with a NAPI of its own, so that the softirq of the network
 * does the work, within its budget. A netdev is held as long as an skb is queued to it.
 */
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <net/dst.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <net/rtnetlink.h>
#include <net/sch_generic.h>

#include "device.h"
#include "direct.h"
#include "rx.h"

/* skbs that wait on a CPU at most, as many as in the backlog of the stack by default */
#define QUEUE_MAX	1000

struct direct_queue {
	struct napi_struct napi;
	struct sk_buff_head skbs;
};

static DEFINE_PER_CPU(struct direct_queue, queues);

/* A NAPI belongs to a netdev; this one is nothing else. */
static struct net_device *napi_dev;

/* ---- may it be done? ---- */

static bool has_tc(const struct net_device *ndev)
{
#ifdef CONFIG_NET_XGRESS
	return rcu_access_pointer(ndev->tcx_ingress) || rcu_access_pointer(ndev->tcx_egress);
#else
	return rcu_access_pointer(ndev->ingress_queue);
#endif
}

static bool has_netdev_hooks(const struct net_device *ndev)
{
#ifdef CONFIG_NETFILTER_INGRESS
	if (rcu_access_pointer(ndev->nf_hooks_ingress))
		return true;
#endif
#ifdef CONFIG_NETFILTER_EGRESS
	if (rcu_access_pointer(ndev->nf_hooks_egress))
		return true;
#endif
	return false;
}

/* Does anybody look at packets on this netdev, or change what becomes of them? */
static bool is_watched(struct net_device *ndev)
{
	return dev_nit_active(ndev) || has_tc(ndev) || has_netdev_hooks(ndev) ||
	       rcu_access_pointer(ndev->rx_handler) || netif_is_l3_slave(ndev) ||
	       dev_xdp_prog_count(ndev);
}

static bool has_qdisc(const struct net_device *ndev)
{
	const struct Qdisc *qdisc = rcu_dereference_bh(netdev_get_tx_queue(ndev, 0)->qdisc);

	return qdisc->enqueue;
}

/* Are there rules at this hook, besides @ours of this module? */
static bool has_rules(const struct net *net, bool ipv6, enum nf_inet_hooks hook, unsigned int ours)
{
	const struct nf_hook_entries *entries;

	entries = ipv6 ? rcu_dereference(net->nf.hooks_ipv6[hook]) :
			 rcu_dereference(net->nf.hooks_ipv4[hook]);
	return entries && entries->num_hook_entries > ours;
}

static bool is_filtered(const struct net *out, const struct net *in, bool ipv6)
{
	return has_rules(out, ipv6, NF_INET_LOCAL_OUT, 0) ||
	       has_rules(out, ipv6, NF_INET_POST_ROUTING, 0) ||
	       has_rules(in, ipv6, NF_INET_PRE_ROUTING, 0) ||
	       has_rules(in, ipv6, NF_INET_LOCAL_IN, 1);
}

/* The other end of a veth. (A netkit has one too, and a program that decides what passes.) */
static struct net_device *veth_peer(struct net_device *ndev)
{
	const struct net_device_ops *ops = ndev->netdev_ops;

	if (!ndev->rtnl_link_ops || strcmp(ndev->rtnl_link_ops->kind, "veth") ||
	    !ops->ndo_get_peer_dev)
		return NULL;
	return ops->ndo_get_peer_dev(ndev);
}

/* Is the destination the next hop? */
static bool is_on_link(const struct sroce_path *path, const struct dst_entry *dst)
{
	const struct rtable *rt;

	if (path->ipv6)
		return ipv6_addr_equal(rt6_nexthop(dst_rt6_info(dst), &path->daddr6),
				       &path->daddr6);
	rt = container_of(dst, const struct rtable, dst);
	return !rt->rt_gw_family;
}

static bool owns_destination(const struct net_device *ndev, const struct sroce_path *path)
{
	if (path->ipv6)
		return sroce_netdev_has6(ndev, &path->daddr6);
	return sroce_netdev_has4(ndev, path->daddr4);
}

/* Where what leaves by @out comes in; NULL: not at a device of ours. */
static struct net_device *other_end(struct net_device *out, const struct sroce_path *path,
				    const struct dst_entry *dst)
{
	struct net_device *in;

	if (out->flags & IFF_LOOPBACK)
		return out;
	in = veth_peer(out);
	if (!in || !netif_running(in) || !netif_carrier_ok(out) ||
	    READ_ONCE(in->mtu) < READ_ONCE(out->mtu) || !sroce_dev_by_netdev_rcu(in))
		return NULL;
	return is_on_link(path, dst) && owns_destination(in, path) ? in : NULL;
}

struct net_device *sroce_direct_netdev(const struct sroce_path *path, const struct sroce_dev *dev,
				       const struct dst_entry *dst)
{
	struct net_device *out = dst_dev(dst), *in;

	if (!READ_ONCE(dev->direct_local) || path->multicast || dst_xfrm(dst) || dst->lwtstate)
		return NULL;
	in = other_end(out, path, dst);
	if (!in || is_watched(out) || (in != out && is_watched(in)) || has_qdisc(out) ||
	    is_filtered(dev_net(out), dev_net(in), path->ipv6))
		return NULL;
	return in;
}

/* ---- the way ---- */

int sroce_direct_xmit(struct net_device *in, struct sk_buff *skb)
{
	struct direct_queue *queue = this_cpu_ptr(&queues);

	if (skb_queue_len_lockless(&queue->skbs) >= QUEUE_MAX) {
		kfree_skb(skb);
		return -ENOBUFS;
	}
	dev_hold(in);
	skb->dev = in;
	skb_queue_tail(&queue->skbs, skb);
	napi_schedule(&queue->napi);
	return 0;
}

static void deliver(struct sk_buff *skb)
{
	struct net_device *in = skb->dev;

	/* The sender may fill its room again. */
	skb_orphan(skb);
	rcu_read_lock();
	sroce_rx_direct(skb);
	rcu_read_unlock();
	dev_put(in);
}

static int poll(struct napi_struct *napi, int budget)
{
	struct direct_queue *queue = container_of(napi, struct direct_queue, napi);
	struct sk_buff *skb;
	int done = 0;

	while (done < budget && (skb = skb_dequeue(&queue->skbs))) {
		deliver(skb);
		done++;
	}
	if (done < budget)
		napi_complete_done(napi, done);
	return done;
}

int sroce_direct_init(void)
{
	int cpu;

	napi_dev = alloc_netdev_dummy(0);
	if (!napi_dev)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct direct_queue *queue = per_cpu_ptr(&queues, cpu);

		skb_queue_head_init(&queue->skbs);
		netif_napi_add(napi_dev, &queue->napi, poll);
		napi_enable(&queue->napi);
	}
	return 0;
}

/* No QP is left, so nothing is added, and nobody receives what is still there. */
void sroce_direct_exit(void)
{
	struct sk_buff *skb;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct direct_queue *queue = per_cpu_ptr(&queues, cpu);

		napi_disable(&queue->napi);
		netif_napi_del(&queue->napi);
		while ((skb = skb_dequeue(&queue->skbs))) {
			dev_put(skb->dev);
			kfree_skb(skb);
		}
	}
	free_netdev(napi_dev);
}
