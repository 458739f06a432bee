/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The driver is written for Linux 7.2. What older kernels (down to 6.1) do
 * differently is in this directory and nowhere else: this header, which every
 * file includes first, and include/, whose headers come before the kernel's.
 * Newest differences first; each says when it may go.
 */
#ifndef SROCE_COMPAT_H
#define SROCE_COMPAT_H

#include <linux/version.h>

/*
 * 7.2: struct ib_device_ops has create_user_cq, resize_user_cq (resize_cq
 * before) and report_port_event, reg_user_mr takes a struct ib_dmah, counters are
 * bound for a port and allocated by size; struct rdma_link_ops has dellink. See
 * compat/ops.h.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define SROCE_COMPAT_OLD_VERBS
#endif

/* 7.2: ib_umem_get() became ib_umem_get_va(). See include/rdma/ib_umem.h. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define SROCE_COMPAT_UMEM_GET
#endif

/* 7.2: tunnel sockets are passed as struct sock. See include/net/udp_tunnel.h. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define SROCE_COMPAT_TUNNEL_SOCKET
#endif

/* 7.2 is told that a workqueue is not unbound; what older ones have of that differs. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define SROCE_WQ_PERCPU 0
#else
#define SROCE_WQ_PERCPU WQ_PERCPU
#endif

/* 6.17: one more argument of udp_tunnel{,6}_xmit_skb(). Likewise. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define SROCE_COMPAT_TUNNEL_XMIT
#endif

/* 6.16: from_timer() was renamed */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define timer_container_of(var, timer, field) from_timer(var, timer, field)
#endif

/* 6.14: crc32_le() uses the CPU's instructions; before, only the crypto API does */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define SROCE_COMPAT_CRC32_SHASH
#endif

/* 6.13: hrtimer_setup() */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define hrtimer_setup(timer, fn, clock, mode)			\
do {								\
	struct hrtimer *compat_timer = (timer);			\
								\
	hrtimer_init(compat_timer, clock, mode);		\
	compat_timer->function = (fn);				\
} while (0)
#endif

/* 6.12: asm/unaligned.h became linux/unaligned.h. See include/linux/unaligned.h. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define SROCE_COMPAT_ASM_UNALIGNED
#endif

/* 6.11: create_cq takes the bundle of attributes */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define SROCE_COMPAT_CREATE_CQ_UDATA
#endif

/* 6.10: alloc_netdev_dummy(). See include/linux/netdevice.h. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define SROCE_COMPAT_NETDEV_DUMMY
#endif

/* 6.2: FLUSH and ATOMIC WRITE. Older cores refuse these access flags before we see them. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define IB_UVERBS_WC_FLUSH		8
#define IB_UVERBS_WC_ATOMIC_WRITE	9
#define IB_ACCESS_FLUSH_GLOBAL		(1 << 8)
#define IB_ACCESS_FLUSH_PERSISTENT	(1 << 9)
#define IB_DEVICE_FLUSH_GLOBAL		0
#define IB_DEVICE_FLUSH_PERSISTENT	0
#define IB_DEVICE_ATOMIC_WRITE		0
#endif

#endif /* SROCE_COMPAT_H */
