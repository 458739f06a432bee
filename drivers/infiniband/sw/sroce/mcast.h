/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Multicast groups: which QPs of a device get what is sent to a group's address.
 * The netdev joins a group with its first QP and leaves it with its last.
 */
#ifndef SROCE_MCAST_H
#define SROCE_MCAST_H

#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct sroce_dev;
struct sroce_pkt;
struct sroce_qp;

#define SROCE_MCAST_BUCKETS	64

/**
 * struct sroce_mcast - the groups of a device
 * @lock: for changes; outside of RTNL
 * @groups: hash table by address; RCU for readers; changed under RTNL too
 * @num_groups: in @groups
 */
struct sroce_mcast {
	struct mutex lock;
	struct hlist_head groups[SROCE_MCAST_BUCKETS];
	u32 num_groups;
};

/**
 * struct sroce_group - a group with members
 * @node: in sroce_mcast.groups
 * @gid: IPv6 address, or a mapped IPv4 address
 * @members: list of QPs; RCU for readers
 * @num_members: its length
 * @rcu: it outlives its last member by a grace period
 */
struct sroce_group {
	struct hlist_node node;
	struct in6_addr gid;
	struct list_head members;
	u32 num_members;
	struct rcu_head rcu;
};

void sroce_mcast_init(struct sroce_mcast *mcast);

/* ib_device_ops; process context, RTNL not held */
int sroce_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int sroce_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* sroce_mcast_qp_gone - detach a QP from all its groups; process context */
void sroce_mcast_qp_gone(struct sroce_qp *qp);

/* sroce_mcast_rejoin - the netdev has lost its groups, in another namespace; RTNL held */
void sroce_mcast_rejoin(struct sroce_dev *dev);

/**
 * sroce_mcast_find - the group of an address
 * @dev: device
 * @gid: IPv6 address, or a mapped IPv4 address
 *
 * RCU read lock held, and the group is valid as long as it is. NULL if no QP is attached.
 */
struct sroce_group *sroce_mcast_find(struct sroce_dev *dev, const struct in6_addr *gid);

/* sroce_mcast_deliver - a datagram to every member; softirq, RCU read lock held */
void sroce_mcast_deliver(struct sroce_group *group, struct sk_buff *skb, u32 payload_offset,
			 const struct sroce_pkt *pkt);

#endif /* SROCE_MCAST_H */
