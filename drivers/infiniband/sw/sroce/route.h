/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The way to a peer: addresses and header fields of an address vector, and the
 * route to it, cached.
 */
#ifndef SROCE_ROUTE_H
#define SROCE_ROUTE_H

#include <linux/in6.h>
#include <net/dst_cache.h>
#include <rdma/ib_verbs.h>

struct sroce_dev;

/**
 * struct sroce_path - an address vector as the stack wants it
 * @sgid_attr: the source GID; its reference is held by ib_core's copy of the attributes
 * @ifindex: of the netdev of the source GID, if that is another one than the device's
 * @ndev: where there is no @sgid_attr: the netdev that what is answered came in by
 * @ipv6: family
 * @tclass: traffic class / TOS byte, ECN bits included
 * @priority: of skbs: class of the qdisc, PCP of a VLAN
 * @max_mbps: static rate, Mb/s; 0: none
 * @hop_limit: hop limit / TTL
 * @flow_label: 20 bits
 * @sport: UDP source port
 * @saddr4: source (IPv4)
 * @daddr4: destination (IPv4)
 * @saddr6: source (IPv6)
 * @daddr6: destination (IPv6)
 * @multicast: the destination is a group
 */
struct sroce_path {
	const struct ib_gid_attr *sgid_attr;
	int ifindex;
	const struct net_device *ndev;
	bool ipv6;
	bool multicast;
	u8 tclass;
	u8 hop_limit;
	u8 priority;
	u32 max_mbps;
	u32 flow_label;
	__be16 sport;
	__be32 saddr4;
	__be32 daddr4;
	struct in6_addr saddr6;
	struct in6_addr daddr6;
};

/* sroce_dscp_priority - the priority of a DSCP: its class, as NICs that trust DSCP have it */
static inline u8 sroce_dscp_priority(u8 dscp)
{
	return dscp >> 3;
}

/**
 * sroce_path_init - translate an address vector
 * @path: result
 * @attr: address vector with a RoCE v2 GID (else -EINVAL)
 * @lqpn: local QPN, for the source port when there is no flow label
 * @rqpn: remote QPN, the same
 *
 * Any context.
 */
int sroce_path_init(struct sroce_path *path, const struct rdma_ah_attr *attr, u32 lqpn, u32 rqpn);

/**
 * sroce_path_route - a referenced route, from @cache or looked up
 * @path: where to
 * @dev: device
 * @cache: of the QP or AH; refreshed by the stack's own invalidation of routes;
 *	dst_cache_reset() it when @path changes. NULL: always looked up
 *
 * BH disabled, RCU read lock held. Returns a dst the caller releases, or an ERR_PTR.
 *
 * A destination that is an address of this host is reached through the loopback;
 * anything else leaves through the netdev of the source GID. That need not be in
 * the table any more: an address that went and came back goes on where it was.
 */
struct dst_entry *sroce_path_route(const struct sroce_path *path, struct sroce_dev *dev,
				   struct dst_cache *cache);

/* sroce_netdev_has4, 6 - is the address one of this netdev's? RCU read lock held. */
bool sroce_netdev_has4(const struct net_device *ndev, __be32 addr);
bool sroce_netdev_has6(const struct net_device *ndev, const struct in6_addr *addr);

#endif /* SROCE_ROUTE_H */
