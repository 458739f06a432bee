// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/udp.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include <net/udp_tunnel.h>

#include "proto/wire.h"
#include "sock.h"

/* udp_sock.encap_type: any value but 0 makes UDP call encap_rcv */
#define ENCAP_TYPE	1

/**
 * struct sroce_net - what the module keeps for a network namespace
 * @lock: of all below
 * @users: devices
 * @sk4: IPv4 socket, open while there are users
 * @sk6: IPv6 socket, the same, or NULL when it could not be opened
 */
struct sroce_net {
	struct mutex lock;
	unsigned int users;
	struct socket *sk4;
	struct socket *sk6;
};

static unsigned int sroce_net_id;

/*
 * Before Linux 6.10 GRO merges IPv4 packets of any identification, which the ICRC
 * covers: those of what is merged cannot be known.
 */
static bool rx_gro;
module_param(rx_gro, bool, 0644);
MODULE_PARM_DESC(rx_gro, "let the stack merge received packets (GRO), for sockets opened from then on");

/*
 * Packets of one flow are merged to one skb on their way to the socket, and taken
 * as a batch (rx.c). If it cannot be, they come one by one.
 */
static void ask_for_gro(struct socket *sock)
{
	int on = 1;

	if (READ_ONCE(rx_gro))
		sock->ops->setsockopt(sock, SOL_UDP, UDP_GRO, KERNEL_SOCKPTR(&on), sizeof(on));
}

static int open_socket(struct net *net, u8 family, struct socket **sock)
{
	/* UDP checksums are neither sent nor asked for: the ICRC covers everything. */
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(SROCE_UDP_PORT),
		.ipv6_v6only = true,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = ENCAP_TYPE,
		.encap_rcv = sroce_rx_udp,
	};
	int err;

	err = udp_sock_create(net, &port, sock);
	if (err) {
		*sock = NULL;
		return err;
	}
	setup_udp_tunnel_sock(net, (*sock)->sk, &tunnel);
	ask_for_gro(*sock);
	return 0;
}

/*
 * UDP finds the socket under the RCU read lock and keeps it over encap_rcv: some may
 * be in sroce_rx_udp() for a grace period. Whoever frees what they use waits.
 */
static void close_sockets(struct net *net, struct sroce_net *sn)
{
	sroce_rx_unhook(net);
	if (sn->sk6)
		sock_release(sn->sk6);
	if (sn->sk4)
		sock_release(sn->sk4);
	sn->sk4 = NULL;
	sn->sk6 = NULL;
}

static void say_why(struct net *net, const char *family, int err)
{
	if (err == -EADDRINUSE)
		pr_err("sroce: %s UDP port %u is taken in network namespace %u, most likely by rdma_rxe: unload rdma_rxe or remove its links\n",
		       family, SROCE_UDP_PORT, net->ns.inum);
	else
		pr_err("sroce: cannot open %s UDP port %u in network namespace %u: error %d\n",
		       family, SROCE_UDP_PORT, net->ns.inum, err);
}

static int open_sockets(struct net *net, struct sroce_net *sn)
{
	int err;

	err = open_socket(net, AF_INET, &sn->sk4);
	if (err) {
		say_why(net, "IPv4", err);
		return err;
	}
	err = sroce_rx_hook(net);
	if (err) {
		sock_release(sn->sk4);
		sn->sk4 = NULL;
		return err;
	}

	/*
	 * A kernel without IPv6, or booted so, is fine (asking for a socket would call
	 * modprobe, with RTNL held); any other trouble leaves us IPv4.
	 */
	if (!ipv6_mod_enabled())
		return 0;
	err = open_socket(net, AF_INET6, &sn->sk6);
	if (err) {
		say_why(net, "IPv6", err);
		pr_warn("sroce: IPv4 only in network namespace %u\n", net->ns.inum);
	}
	return 0;
}

int sroce_sock_get(struct net *net)
{
	struct sroce_net *sn = net_generic(net, sroce_net_id);
	int err = 0;

	mutex_lock(&sn->lock);
	if (!sn->users)
		err = open_sockets(net, sn);
	if (!err)
		sn->users++;
	mutex_unlock(&sn->lock);
	return err;
}

void sroce_sock_put(struct net *net)
{
	struct sroce_net *sn = net_generic(net, sroce_net_id);

	mutex_lock(&sn->lock);
	if (!WARN_ON(!sn->users) && !--sn->users)
		close_sockets(net, sn);
	mutex_unlock(&sn->lock);
}

static int __net_init sroce_net_init(struct net *net)
{
	struct sroce_net *sn = net_generic(net, sroce_net_id);

	mutex_init(&sn->lock);
	return 0;
}

/*
 * A subsystem exits after the netdevs of the namespace, which wait for our devices
 * (see link.c): no user is left. If there is one all the same, its put would come
 * too late to close anything.
 */
static void __net_exit sroce_net_exit(struct net *net)
{
	struct sroce_net *sn = net_generic(net, sroce_net_id);

	if (WARN_ON(sn->users))
		close_sockets(net, sn);
}

static struct pernet_operations sroce_net_ops = {
	.init = sroce_net_init,
	.exit = sroce_net_exit,
	.id = &sroce_net_id,
	.size = sizeof(struct sroce_net),
};

int sroce_sock_init(void)
{
	return register_pernet_subsys(&sroce_net_ops);
}

void sroce_sock_exit(void)
{
	unregister_pernet_subsys(&sroce_net_ops);
}
