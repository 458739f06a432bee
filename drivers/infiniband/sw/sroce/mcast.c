// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast. The stack does what is its own: the netdev joins the group by IGMP or
 * MLD, and loops packets of this host back to its members here. (The sockets get
 * packets of every group that the netdev is in, by default.)
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "device.h"
#include "mcast.h"
#include "qp.h"

/**
 * struct member - a QP in a group
 * @entry: in sroce_group.members
 * @qp: the QP
 * @rcu: it outlives the membership by a grace period
 */
struct member {
	struct list_head entry;
	struct sroce_qp *qp;
	struct rcu_head rcu;
};

void sroce_mcast_init(struct sroce_mcast *mcast)
{
	mutex_init(&mcast->lock);
}

/* ---- the netdev ---- */

#if IS_ENABLED(CONFIG_IPV6)
static int join6(struct net_device *ndev, const struct in6_addr *gid)
{
	return ipv6_mod_enabled() ? ipv6_dev_mc_inc(ndev, gid) : -EAFNOSUPPORT;
}

static void leave6(struct net_device *ndev, const struct in6_addr *gid)
{
	ipv6_dev_mc_dec(ndev, gid);
}
#else
static int join6(struct net_device *ndev, const struct in6_addr *gid)
{
	return -EAFNOSUPPORT;
}

static void leave6(struct net_device *ndev, const struct in6_addr *gid)
{
}
#endif

static int join4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, addr);
	return 0;
}

/* Nothing if the netdev has lost its addresses: the group went with them. */
static void leave4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (in_dev)
		ip_mc_dec_group(in_dev, addr);
}

static int join(struct net_device *ndev, const struct in6_addr *gid)
{
	return ipv6_addr_v4mapped(gid) ? join4(ndev, gid->s6_addr32[3]) : join6(ndev, gid);
}

static void leave(struct net_device *ndev, const struct in6_addr *gid)
{
	if (ipv6_addr_v4mapped(gid))
		leave4(ndev, gid->s6_addr32[3]);
	else
		leave6(ndev, gid);
}

/* ---- groups ---- */

static struct hlist_head *bucket(struct sroce_dev *dev, const struct in6_addr *gid)
{
	u32 hash = jhash2((const u32 *)gid->s6_addr32, ARRAY_SIZE(gid->s6_addr32), 0);

	return &dev->mcast.groups[hash % SROCE_MCAST_BUCKETS];
}

struct sroce_group *sroce_mcast_find(struct sroce_dev *dev, const struct in6_addr *gid)
{
	struct sroce_group *group;

	hlist_for_each_entry_rcu(group, bucket(dev, gid), node,
				 lockdep_is_held(&dev->mcast.lock))
		if (ipv6_addr_equal(&group->gid, gid))
			return group;
	return NULL;
}

static struct sroce_group *group_alloc(const struct in6_addr *gid)
{
	struct sroce_group *group = kzalloc(sizeof(*group), GFP_KERNEL);

	if (!group)
		return NULL;
	group->gid = *gid;
	INIT_LIST_HEAD(&group->members);
	return group;
}

static struct sroce_group *group_create(struct sroce_dev *dev, const struct in6_addr *gid)
{
	struct sroce_group *group = NULL;
	int err;

	if (dev->mcast.num_groups < SROCE_MAX_MCAST_GRP)
		group = group_alloc(gid);
	if (!group)
		return ERR_PTR(-ENOMEM);
	rtnl_lock();
	err = join(dev->ndev, gid);
	if (!err)
		hlist_add_head_rcu(&group->node, bucket(dev, gid));
	rtnl_unlock();
	if (err) {
		kfree(group);
		return ERR_PTR(err);
	}
	dev->mcast.num_groups++;
	return group;
}

static void group_put(struct sroce_dev *dev, struct sroce_group *group)
{
	if (group->num_members)
		return;
	rtnl_lock();
	hlist_del_rcu(&group->node);
	leave(dev->ndev, &group->gid);
	rtnl_unlock();
	dev->mcast.num_groups--;
	kfree_rcu(group, rcu);
}

static struct member *find_member(const struct sroce_group *group, const struct sroce_qp *qp)
{
	struct member *member;

	list_for_each_entry(member, &group->members, entry)
		if (member->qp == qp)
			return member;
	return NULL;
}

static struct member *member_alloc(struct sroce_qp *qp)
{
	struct member *member = kzalloc(sizeof(*member), GFP_KERNEL);

	if (member)
		member->qp = qp;
	return member;
}

static int add_member(struct sroce_group *group, struct sroce_qp *qp)
{
	struct member *member = NULL;

	if (find_member(group, qp))
		return 0;
	if (group->num_members < SROCE_MAX_MCAST_QP)
		member = member_alloc(qp);
	if (!member)
		return -ENOMEM;
	list_add_tail_rcu(&member->entry, &group->members);
	group->num_members++;
	qp->num_groups++;
	qp->had_group = true;
	return 0;
}

static bool remove_member(struct sroce_group *group, struct sroce_qp *qp)
{
	struct member *member = find_member(group, qp);

	if (!member)
		return false;
	list_del_rcu(&member->entry);
	group->num_members--;
	qp->num_groups--;
	kfree_rcu(member, rcu);
	return true;
}

void sroce_mcast_rejoin(struct sroce_dev *dev)
{
	struct sroce_group *group;
	int i;

	ASSERT_RTNL();
	for (i = 0; i < SROCE_MCAST_BUCKETS; i++)
		hlist_for_each_entry_rcu(group, &dev->mcast.groups[i], node, lockdep_rtnl_is_held())
			if (join(dev->ndev, &group->gid))
				netdev_warn(dev->ndev, "left the multicast group %pI6c of %s\n",
					    &group->gid, dev_name(&dev->ibdev.dev));
}

/* ---- verbs ---- */

int sroce_attach_mcast(struct ib_qp *ibqp, union ib_gid *ibgid, u16 lid)
{
	const struct in6_addr *gid = (const struct in6_addr *)ibgid->raw;
	struct sroce_qp *qp = to_sqp(ibqp);
	struct sroce_dev *dev = qp->dev;
	struct sroce_group *group;
	int err;

	mutex_lock(&dev->mcast.lock);
	group = sroce_mcast_find(dev, gid) ?: group_create(dev, gid);
	err = PTR_ERR_OR_ZERO(group);
	if (!err) {
		err = add_member(group, qp);
		group_put(dev, group);
	}
	mutex_unlock(&dev->mcast.lock);
	return err;
}

int sroce_detach_mcast(struct ib_qp *ibqp, union ib_gid *ibgid, u16 lid)
{
	const struct in6_addr *gid = (const struct in6_addr *)ibgid->raw;
	struct sroce_qp *qp = to_sqp(ibqp);
	struct sroce_dev *dev = qp->dev;
	struct sroce_group *group;
	int err = -EINVAL;

	mutex_lock(&dev->mcast.lock);
	group = sroce_mcast_find(dev, gid);
	if (group && remove_member(group, qp)) {
		group_put(dev, group);
		err = 0;
	}
	mutex_unlock(&dev->mcast.lock);
	return err;
}

void sroce_mcast_qp_gone(struct sroce_qp *qp)
{
	struct sroce_dev *dev = qp->dev;
	struct sroce_group *group;
	struct hlist_node *next;
	int i;

	mutex_lock(&dev->mcast.lock);
	for (i = 0; i < SROCE_MCAST_BUCKETS && qp->num_groups; i++)
		hlist_for_each_entry_safe(group, next, &dev->mcast.groups[i], node)
			if (remove_member(group, qp))
				group_put(dev, group);
	mutex_unlock(&dev->mcast.lock);
}

void sroce_mcast_deliver(struct sroce_group *group, struct sk_buff *skb, u32 payload_offset,
			 const struct sroce_pkt *pkt)
{
	struct member *member;

	list_for_each_entry_rcu(member, &group->members, entry)
		sroce_ud_deliver(member->qp, skb, payload_offset, pkt);
}
