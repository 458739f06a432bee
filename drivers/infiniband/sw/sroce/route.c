// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/inetdevice.h>
#include <linux/ipv6.h>
#include <net/addrconf.h>
#include <net/dst_cache.h>
#include <net/inet_dscp.h>
#include <net/ip6_route.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "proto/wire.h"
#include "route.h"

bool sroce_netdev_has4(const struct net_device *ndev, __be32 addr)
{
	const struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (in_dev)
		in_dev_for_each_ifa_rcu(ifa, in_dev)
			if (ifa->ifa_local == addr)
				return true;
	return false;
}

bool sroce_netdev_has6(const struct net_device *ndev, const struct in6_addr *addr)
{
	return IS_ENABLED(CONFIG_IPV6) && ipv6_chk_addr(dev_net(ndev), addr, ndev, 1);
}

/* GIDs to addresses: an IPv4 address is a mapped one (IBA A17.4.5), both must be of one family. */
static int set_addresses(struct sroce_path *path, const union ib_gid *sgid,
			 const union ib_gid *dgid)
{
	memcpy(&path->saddr6, sgid->raw, sizeof(path->saddr6));
	memcpy(&path->daddr6, dgid->raw, sizeof(path->daddr6));
	path->saddr4 = path->saddr6.s6_addr32[3];
	path->daddr4 = path->daddr6.s6_addr32[3];

	path->ipv6 = !ipv6_addr_v4mapped(&path->saddr6);
	if (path->ipv6 == ipv6_addr_v4mapped(&path->daddr6))
		return -EINVAL;
	if (path->ipv6) {
		path->multicast = ipv6_addr_is_multicast(&path->daddr6);
		return ipv6_addr_any(&path->daddr6) ? -EINVAL : 0;
	}
	path->multicast = ipv4_is_multicast(path->daddr4);
	return path->daddr4 ? 0 : -EINVAL;
}

/* The netdev of a GID that is in the table, when it is not that of the device. */
static int other_ifindex(const struct ib_gid_attr *sgid_attr)
{
	const struct net_device *ndev;
	int ifindex = 0;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid_attr);
	if (!IS_ERR(ndev) && ndev != to_sdev(sgid_attr->device)->ndev)
		ifindex = ndev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

int sroce_path_init(struct sroce_path *path, const struct rdma_ah_attr *attr, u32 lqpn, u32 rqpn)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	struct sroce_path p = {};
	int err;

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE || !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return -EINVAL;
	if (!grh->sgid_attr || grh->sgid_attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EINVAL;

	err = set_addresses(&p, &grh->sgid_attr->gid, &grh->dgid);
	if (err)
		return err;
	p.sgid_attr = grh->sgid_attr;
	p.ifindex = other_ifindex(grh->sgid_attr);
	p.tclass = grh->traffic_class;
	p.priority = rdma_ah_get_sl(attr) ?: sroce_dscp_priority(p.tclass >> 2);
	p.max_mbps = max(ib_rate_to_mbps(rdma_ah_get_static_rate(attr)), 0);
	p.hop_limit = grh->hop_limit ?: IPDEFTTL;
	p.flow_label = grh->flow_label & 0xfffff;
	p.sport = htons(sroce_udp_sport(p.flow_label, lqpn, rqpn));
	*path = p;
	return 0;
}

static struct dst_entry *lookup4(const struct sroce_path *path, struct net *net, int oif,
				 bool *local)
{
	struct flowi4 fl4;
	struct rtable *rt;

	flowi4_init_output(&fl4, oif, 0, path->tclass & INET_DSCP_MASK, RT_SCOPE_UNIVERSE,
			   IPPROTO_UDP, 0, path->daddr4, path->saddr4, htons(SROCE_UDP_PORT),
			   path->sport, sock_net_uid(net, NULL));
	rt = ip_route_output_flow(net, &fl4, NULL);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	if (rt->rt_flags & RTCF_BROADCAST) {
		ip_rt_put(rt);
		return ERR_PTR(-EACCES);
	}
	*local = rt->rt_type == RTN_LOCAL;
	return &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
/* IPv6 takes an interface for a wish unless told that it is strict. */
static struct dst_entry *lookup6(const struct sroce_path *path, struct net *net, int oif,
				 bool *local)
{
	struct flowi6 fl6 = {
		.flowi6_oif = oif,
		.flowi6_proto = IPPROTO_UDP,
		.flowi6_uid = sock_net_uid(net, NULL),
		.flowlabel = ip6_make_flowinfo(path->tclass, htonl(path->flow_label)),
		.daddr = path->daddr6,
		.saddr = path->saddr6,
		.fl6_dport = htons(SROCE_UDP_PORT),
		.fl6_sport = path->sport,
	};
	struct dst_entry *dst;
	int err;

	if (!ipv6_mod_enabled())
		return ERR_PTR(-EAFNOSUPPORT);
	dst = ip6_route_output_flags(net, NULL, &fl6, oif ? RT6_LOOKUP_F_IFACE : 0);
	if (dst->error) {
		err = dst->error;
		dst_release(dst);
		return ERR_PTR(err);
	}
	*local = (dst_rt6_info(dst)->rt6i_flags & RTF_LOCAL) ||
		 (dst_dev(dst)->flags & IFF_LOOPBACK);
	return xfrm_lookup_route(net, dst, flowi6_to_flowi(&fl6), NULL, 0);
}
#else
static struct dst_entry *lookup6(const struct sroce_path *path, struct net *net, int oif,
				 bool *local)
{
	return ERR_PTR(-EAFNOSUPPORT);
}
#endif

static struct dst_entry *lookup(const struct sroce_path *path, struct net *net, int oif,
				bool *local)
{
	return path->ipv6 ? lookup6(path, net, oif, local) : lookup4(path, net, oif, local);
}

/* Does only the interface say where such an address is? */
static bool is_scoped(const struct sroce_path *path)
{
	return path->multicast ||
	       (path->ipv6 && ((ipv6_addr_type(&path->daddr6) & IPV6_ADDR_LINKLOCAL) ||
			       (ipv6_addr_type(&path->saddr6) & IPV6_ADDR_LINKLOCAL)));
}

/*
 * The GID may have left the table meanwhile, with the address, or for a new MAC
 * address. That is not the end of a connection: the stack knows whether the address
 * is there.
 */
static const struct net_device *source_netdev(const struct sroce_path *path,
					      const struct sroce_dev *dev, struct net *net)
{
	const struct net_device *ndev;

	if (!path->sgid_attr)
		return path->ndev;
	ndev = rdma_read_gid_attr_ndev_rcu(path->sgid_attr);
	if (!IS_ERR(ndev))
		return ndev;
	return path->ifindex ? dev_get_by_index_rcu(net, path->ifindex) : dev->ndev;
}

/*
 * The first look-up is as an unbound socket's: it finds our own addresses, on
 * whatever netdev they are, and the routes of the administrator. For a netdev in
 * a VRF it is as that of a socket bound to the VRF. Only if it leads another way
 * than through the netdev of the source GID, that netdev is insisted upon. An
 * error that the administrator put there (unreachable, prohibit, blackhole) is
 * the answer: with an interface given, IPv4 would take the destination for a
 * neighbour on its link.
 */
static struct dst_entry *find_route(const struct sroce_path *path, const struct sroce_dev *dev,
				    struct net *net)
{
	const struct net_device *ndev = source_netdev(path, dev, net);
	struct dst_entry *dst;
	bool local = false;

	if (!ndev)
		return ERR_PTR(-ENODEV);
	if (is_scoped(path))
		return lookup(path, net, ndev->ifindex, &local);

	dst = lookup(path, net, l3mdev_master_ifindex_rcu(ndev), &local);
	if (IS_ERR(dst)) {
		if (PTR_ERR(dst) != -ENETUNREACH)
			return dst;
	} else {
		if (local || dst_dev(dst) == ndev)
			return dst;
		dst_release(dst);
	}
	return lookup(path, net, ndev->ifindex, &local);
}

static struct dst_entry *cache_get(struct dst_cache *cache, const struct sroce_path *path)
{
	struct rtable *rt;
	__be32 saddr;

#if IS_ENABLED(CONFIG_IPV6)
	if (path->ipv6) {
		struct in6_addr saddr6;
		struct dst_entry *dst = dst_cache_get_ip6(cache, &saddr6);

		if (!dst || ipv6_addr_equal(&saddr6, &path->saddr6))
			return dst;
		dst_release(dst);
		return NULL;
	}
#endif
	rt = dst_cache_get_ip4(cache, &saddr);
	if (!rt)
		return NULL;
	if (saddr == path->saddr4)
		return &rt->dst;
	ip_rt_put(rt);
	return NULL;
}

static void cache_set(struct dst_cache *cache, const struct sroce_path *path,
		      struct dst_entry *dst)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (path->ipv6) {
		dst_cache_set_ip6(cache, dst, &path->saddr6);
		return;
	}
#endif
	dst_cache_set_ip4(cache, dst, path->saddr4);
}

/*
 * A cached route is checked by the stack itself each time it is taken: every
 * change of addresses, routes or netdevs makes it obsolete.
 */
struct dst_entry *sroce_path_route(const struct sroce_path *path, struct sroce_dev *dev,
				   struct dst_cache *cache)
{
	struct net *net = rcu_dereference(dev->net);
	struct dst_entry *dst;

	/* Between two namespaces nobody touches @cache: see follow() in link.c. */
	if (!net)
		return ERR_PTR(-ENETDOWN);
	dst = cache ? cache_get(cache, path) : NULL;
	if (dst)
		return dst;
	dst = find_route(path, dev, net);
	if (!IS_ERR(dst) && cache)
		cache_set(cache, path, dst);
	return dst;
}
