/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets between two QPs of this host, handed straight to the receive path: past the
 * IP stack, not past the transport. It is done only where nobody could tell the
 * difference; see direct.c.
 */
#ifndef SROCE_DIRECT_H
#define SROCE_DIRECT_H

#include <linux/skbuff.h>
#include "route.h"

/* Module init and exit: the queues of the CPUs; process context. */
int sroce_direct_init(void);
void sroce_direct_exit(void);

/**
 * sroce_direct_netdev - where packets of a connection may come in without the IP stack
 * @path: of the connection
 * @dev: sender
 * @dst: route
 *
 * BH disabled, RCU read lock held, and the netdev is valid as long as it is. Returns
 * NULL if the packets are to go the ordinary way.
 */
struct net_device *sroce_direct_netdev(const struct sroce_path *path, const struct sroce_dev *dev,
				       const struct dst_entry *dst);

/**
 * sroce_direct_xmit - queue an skb to the receive path
 * @in: netdev that it comes in by
 * @skb: its data starts with the IP header; consumed. The ICRCs in it are not looked at
 *
 * BH disabled. The packets are received in this CPU's softirq, after everything that
 * was queued here before. Returns -ENOBUFS if too much is: the skb is freed.
 */
int sroce_direct_xmit(struct net_device *in, struct sk_buff *skb);

#endif /* SROCE_DIRECT_H */
