/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An sroce device: one ib_device on one netdev.
 */
#ifndef SROCE_DEVICE_H
#define SROCE_DEVICE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "counters.h"
#include "knobs.h"
#include "mcast.h"
#include "objects.h"
#include "proto/wqe.h"

/*
 * Limits, all true: Documentation/architecture.md says what each rests on. More are in
 * proto/wqe.h and proto/wire.h.
 */
#define SROCE_MAX_QP		65536
#define SROCE_MAX_QP_WR		16384
#define SROCE_MAX_CQ		65536
#define SROCE_MAX_CQE		4194304
#define SROCE_MAX_MR		1048576
#define SROCE_MEM_INDEX_MAX	0xffffff	/* of regions and windows together */
#define SROCE_MAX_PD		65536
#define SROCE_MAX_AH		1048576
#define SROCE_MAX_SRQ		65536
#define SROCE_MAX_SRQ_WR	16384
#define SROCE_MAX_SRQ_SGE	32
/* Memory that a QP may hold of what comes ahead of its turn: at first, at most. */
#define SROCE_HOLD_BYTES	(4U << 20)
#define SROCE_MAX_HOLD_BYTES	(64U << 20)
/* When a dry send queue of a process that streams is looked at again: at first, at most. */
#define SROCE_LOOK_US		50
#define SROCE_MAX_LOOK_US	1000
#define SROCE_MAX_RD_ATOMIC	16	/* as responder: replay resources */
#define SROCE_MAX_INIT_RD_ATOMIC 128	/* as requester: costs nothing here */
#define SROCE_MAX_MR_BYTES	(1ULL << 39)	/* the list of its pages fits kvmalloc() */
#define SROCE_MAX_FAST_PAGES	512
#define SROCE_MAX_MW		1048576
#define SROCE_MAX_MCAST_GRP	1024
#define SROCE_MAX_MCAST_QP	256	/* in one group */
#define SROCE_MAX_GID		1024
#define SROCE_ACK_DELAY		15	/* local_ca_ack_delay: 134 ms */

/**
 * struct sroce_dev - one device
 * @ibdev: what ib_core knows; first, so that ib_alloc_device() can size it
 * @ndev: the netdev; we hold it (@ndev_tracker) from link creation until dealloc
 * @ndev_tracker: of the hold
 * @net: network namespace of @ndev, whose sockets we use as long as we are in the
 *	table; NULL while it changes, and when there is none; RCU, written under the
 *	lock of the table
 * @node: in the module's table of devices (link.c)
 * @going: set once when removal begins: nothing new is accepted
 * @port_up: what the last port event said; RTNL
 * @port_mtu: active MTU at the last port event; RTNL
 * @mem: indices (of keys: 24-bit index, 8-bit tag) to struct sroce_mr; RCU for readers
 * @mem_next: where the next search for a free index starts; lock of @mem
 * @mem_tag: tag of the next key; lock of @mem
 * @window_lock: memory windows, and what they are bound to; BH
 * @ah: ids to struct sroce_ah; RCU for readers
 * @ah_next: where the next search for a free id starts
 * @srq: numbers of SRQs
 * @srq_next: where the next search for a free number starts; lock of @srq
 * @gsi_qp: QP 1; RCU
 * @mcast: multicast groups
 * @cc: congestion control of the port
 * @tx_batch: equal-length segments leave in one skb (GSO)
 * @trust_local: no ICRC check of what never left this host
 * @direct_local: the direct path to peers on this host is taken where it can be
 * @look_us: after so long a dry SQ of a process that streams is looked at; 0: never
 * @hold_bytes: memory a QP may hold of what comes ahead of its turn; 0: nothing is held
 * @selective: SACK is offered (ECE)
 * @early_retransmit: probes when an answer is late by the round-trip time
 * @counters: per CPU
 * @counter_sets: of counters that QPs are bound to, by id
 * @counter_lock: sums over @counter_sets and @counted
 * @counted: by counters that are gone; @counter_lock
 * @optional: which of the optional counters count; bits of enum sroce_counter
 * @objects: how many there are of each kind
 * @qps: all QPs, as long as they have a cache of routes; @qps_lock
 * @qps_lock: of @qps, and of what puts QPs to rest
 * @leaving: the RDMA core takes it away from processes
 */
struct sroce_dev {
	struct ib_device ibdev;
	struct net_device *ndev;
	netdevice_tracker ndev_tracker;
	struct net __rcu *net;
	struct hlist_node node;
	bool going;
	bool port_up;
	enum ib_mtu port_mtu;

	struct xarray mem;
	u32 mem_next;
	u8 mem_tag;
	spinlock_t window_lock;
	struct xarray ah;
	u32 ah_next;
	struct xarray srq;
	u32 srq_next;
	struct sroce_qp __rcu *gsi_qp;
	struct sroce_mcast mcast;
	struct sroce_port_cc cc;

	bool tx_batch;
	bool trust_local;
	bool direct_local;
	u32 look_us;
	u32 hold_bytes;
	bool selective;
	bool early_retransmit;
	struct sroce_counters __percpu *counters;
	struct xarray counter_sets;
	struct mutex counter_lock;
	u64 counted[SROCE_CNT_COUNT];
	DECLARE_BITMAP(optional, SROCE_CNT_COUNT);
	struct sroce_objects objects;
	struct list_head qps;
	struct mutex qps_lock;
	bool leaving;
};

/* sroce_count_optional - count what is off by default; softirq or BH disabled */
static inline void sroce_count_optional(struct sroce_dev *dev, enum sroce_counter id)
{
	if (test_bit(id, dev->optional))
		sroce_count(dev->counters, id);
}

static inline struct sroce_dev *to_sdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct sroce_dev, ibdev);
}

/* device.c: process context */

/* sroce_ece_offer - ECE options that a QP of this device can agree on: SROCE_ECE_* */
u32 sroce_ece_offer(const struct sroce_dev *dev);
int sroce_device_add(const char *name, struct net_device *ndev);

/* port.c: ib_device_ops */
int sroce_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr);
void sroce_report_port_event(struct ib_device *ibdev, struct net_device *ndev,
			     unsigned long event);

/* sroce_port_init - the port as it is now; RTNL held */
void sroce_port_init(struct sroce_dev *dev);

/**
 * sroce_port_changed - report to the consumers, if there are any, what changed on the netdev
 * @dev: device
 *
 * RTNL held.
 */
void sroce_port_changed(struct sroce_dev *dev);

/* link.c: process context */
int sroce_link_init(void);
void sroce_link_exit(void);

/* sroce_newlink - rdma_link_ops: refuses, with a message, netdevs that cannot work */
int sroce_newlink(const char *name, struct net_device *ndev);

/**
 * sroce_link_attach - from now on the device is found, has sockets in the namespace
 * of its netdev, and is told what its netdev does
 * @dev: not registered yet
 *
 * Takes RTNL. Returns -EEXIST if the netdev has a device, -ENODEV if it is leaving,
 * or what sroce_sock_get() says.
 */
int sroce_link_attach(struct sroce_dev *dev);

/**
 * sroce_link_detach - undo; nothing if it was not attached
 * @dev: device
 *
 * A grace period later no receive uses the device.
 */
void sroce_link_detach(struct sroce_dev *dev);

/* sroce_link_may_start - did removal of the netdev or namespace begin meanwhile? */
bool sroce_link_may_start(struct sroce_dev *dev);

/**
 * sroce_dev_by_netdev_rcu - the device on a netdev
 * @ndev: netdev; for a VLAN the real device below it counts too
 *
 * RCU read lock held, and the device is valid as long as it is. Devices that
 * are going are not found.
 */
struct sroce_dev *sroce_dev_by_netdev_rcu(const struct net_device *ndev);

#endif /* SROCE_DEVICE_H */
