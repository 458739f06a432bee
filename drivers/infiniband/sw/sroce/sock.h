/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The UDP 4791 sockets of a network namespace: opened with its first device,
 * closed with its last, IPv4 and IPv6 independent of each other.
 */
#ifndef SROCE_SOCK_H
#define SROCE_SOCK_H

#include <linux/skbuff.h>
#include <net/net_namespace.h>

/**
 * sroce_sock_get - a device in @net starts to use the sockets
 * @net: network namespace
 *
 * Process context, under RTNL or not. Returns 0; -EADDRINUSE with a message that
 * names the port and the likely owner when another socket has it (rdma_rxe); other
 * errors as given.
 * A kernel without IPv6 is fine.
 */
int sroce_sock_get(struct net *net);

/**
 * sroce_sock_put - it stops using them; no packet is delivered a grace period after the last put
 * @net: network namespace
 */
void sroce_sock_put(struct net *net);

int sroce_sock_init(void);
void sroce_sock_exit(void);

/* rx.c: a UDP datagram to port 4791; consumes @skb. Softirq. */
int sroce_rx_udp(struct sock *sk, struct sk_buff *skb);

/* rx.c: take GSO skbs to port 4791 in @net whole; process context */
int sroce_rx_hook(struct net *net);
void sroce_rx_unhook(struct net *net);

#endif /* SROCE_SOCK_H */
