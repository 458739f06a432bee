/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COMPAT_NETDEVICE_H
#define SROCE_COMPAT_NETDEVICE_H

#include_next <linux/netdevice.h>

#ifdef SROCE_COMPAT_NETDEV_DUMMY
#include <linux/slab.h>

/*
 * init_dummy_netdev() clears all of it, so it is nothing that the real free_netdev()
 * could free; the module has no other netdevs than dummies.
 */
static inline struct net_device *sroce_alloc_netdev_dummy(int sizeof_priv)
{
	struct net_device *ndev = kzalloc(sizeof(*ndev) + sizeof_priv, GFP_KERNEL);

	if (ndev)
		init_dummy_netdev(ndev);
	return ndev;
}

#define alloc_netdev_dummy(sizeof_priv)	sroce_alloc_netdev_dummy(sizeof_priv)
#define free_netdev(ndev)		kfree(ndev)
#endif

#endif /* SROCE_COMPAT_NETDEVICE_H */
