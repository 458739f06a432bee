/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COMPAT_UDP_TUNNEL_H
#define SROCE_COMPAT_UDP_TUNNEL_H

#include_next <net/udp_tunnel.h>

#ifdef SROCE_COMPAT_TUNNEL_SOCKET
#define setup_udp_tunnel_sock(net, sk, cfg)	setup_udp_tunnel_sock(net, (sk)->sk_socket, cfg)
#define udp_tunnel_sock_release(sk)		udp_tunnel_sock_release((sk)->sk_socket)
#endif

#ifdef SROCE_COMPAT_TUNNEL_XMIT
#define udp_tunnel_xmit_skb(rt, sk, skb, src, dst, tos, ttl, df, sport, dport, xnet, nocheck,	\
			    flags)								\
	udp_tunnel_xmit_skb(rt, sk, skb, src, dst, tos, ttl, df, sport, dport, xnet, nocheck)
#define udp_tunnel6_xmit_skb(dst, sk, skb, dev, saddr, daddr, prio, ttl, label, sport, dport,	\
			     nocheck, flags)							\
	udp_tunnel6_xmit_skb(dst, sk, skb, dev, saddr, daddr, prio, ttl, label, sport, dport,	\
			     nocheck)
#endif

#endif /* SROCE_COMPAT_UDP_TUNNEL_H */
