// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Devices and their netdevs: creation by `rdma link add`, the events of the
 * netdev, and the many ways to go.
 *
 * A device is in the table below from before its registration until its
 * dealloc_driver. As long as it is there it has sockets in the namespace of its
 * netdev, and goes with the netdev from one namespace to another (follow()).
 *
 * It ends because of `rdma link del`, because its netdev goes, for itself or with
 * its namespace, or because the module does. All of them end in
 * ib_unregister_device(), which may be called several times and at once. The order
 * is that of Documentation/locking.md:
 *
 *   1. going is set, if we are the ones who know first (netdev): the receive path
 *      finds the device no more.
 *   2. ib_unregister_device() removes the clients, and with them all objects:
 *      those of processes too, since we can disassociate a context.
 *   3. dealloc_driver: off the table, sockets put; a grace period; what AHs left
 *      to RCU; memory, counters, netdev.
 *
 * The netdev waits for us, since we hold it, and a namespace for its netdevs. So
 * neither can be gone before the sockets are.
 *
 * Lock order: RTNL, then table_lock, then what sroce_sock_get() takes.
 */
#include <linux/hashtable.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <rdma/sroce-abi.h>

#include "ah.h"
#include "device.h"
#include "mcast.h"
#include "qp.h"
#include "sock.h"

static DEFINE_MUTEX(table_lock);
static DEFINE_HASHTABLE(table, 8);	/* by netdev; written under table_lock, read by RCU */

static struct sroce_dev *find(const struct net_device *ndev)
{
	struct sroce_dev *dev;

	lockdep_assert_held(&table_lock);
	hash_for_each_possible(table, dev, node, (unsigned long)ndev)
		if (dev->ndev == ndev)
			return dev;
	return NULL;
}

static struct sroce_dev *find_rcu(const struct net_device *ndev)
{
	struct sroce_dev *dev;

	hash_for_each_possible_rcu(table, dev, node, (unsigned long)ndev)
		if (dev->ndev == ndev && !READ_ONCE(dev->going))
			return dev;
	return NULL;
}

struct sroce_dev *sroce_dev_by_netdev_rcu(const struct net_device *ndev)
{
	struct sroce_dev *dev = find_rcu(ndev);

	if (!dev && is_vlan_dev(ndev))
		dev = find_rcu(vlan_dev_real_dev(ndev));
	return dev;
}

static struct net *net_of(struct sroce_dev *dev)
{
	return rcu_dereference_protected(dev->net, lockdep_is_held(&table_lock));
}

static int attach(struct sroce_dev *dev)
{
	struct net_device *ndev = dev->ndev;
	int err;

	/* A netdev that is registered now tells us when it goes. */
	if (ndev->reg_state != NETREG_REGISTERED)
		return -ENODEV;
	if (find(ndev))
		return -EEXIST;
	err = sroce_sock_get(dev_net(ndev));
	if (err)
		return err;
	rcu_assign_pointer(dev->net, dev_net(ndev));
	sroce_port_init(dev);
	hash_add_rcu(table, &dev->node, (unsigned long)ndev);
	return 0;
}

int sroce_link_attach(struct sroce_dev *dev)
{
	int err;

	rtnl_lock();
	mutex_lock(&table_lock);
	err = attach(dev);
	mutex_unlock(&table_lock);
	rtnl_unlock();
	return err;
}

void sroce_link_detach(struct sroce_dev *dev)
{
	struct net *net;

	mutex_lock(&table_lock);
	WRITE_ONCE(dev->going, true);
	net = net_of(dev);
	if (hash_hashed(&dev->node))
		hash_del_rcu(&dev->node);
	RCU_INIT_POINTER(dev->net, NULL);
	if (net)
		sroce_sock_put(net);
	mutex_unlock(&table_lock);
}

bool sroce_link_may_start(struct sroce_dev *dev)
{
	bool may;

	mutex_lock(&table_lock);
	may = !dev->going;
	mutex_unlock(&table_lock);
	return may;
}

/* rdma link add */

static int refuse(const struct net_device *ndev, int err, const char *why)
{
	netdev_err(ndev, "no sroce device on this netdev: %s\n", why);
	return err;
}

static int check_netdev(struct net_device *ndev)
{
	if (is_vlan_dev(ndev)) {
		netdev_err(ndev, "no sroce device on a VLAN: create it on %s, the addresses of this VLAN become its GIDs\n",
			   netdev_name(vlan_dev_real_dev(ndev)));
		return -EOPNOTSUPP;
	}
	if (netif_is_lag_port(ndev))
		return refuse(ndev, -EOPNOTSUPP, "it is a port of a bond or team; use that");
	if (netif_is_bridge_port(ndev) || netif_is_ovs_port(ndev))
		return refuse(ndev, -EOPNOTSUPP, "it is a port of a bridge; use that");
	if (ndev->type != ARPHRD_ETHER && ndev->type != ARPHRD_LOOPBACK)
		return refuse(ndev, -EOPNOTSUPP, "it is not Ethernet, the RDMA core gives it no GIDs");
	return 0;
}

int sroce_newlink(const char *name, struct net_device *ndev)
{
	int err = check_netdev(ndev);

	if (err)
		return err;

	err = sroce_device_add(name, ndev);
	if (err == -EEXIST)
		return refuse(ndev, err, "it has one");
	if (err == -ENFILE)
		return refuse(ndev, err, "there is an RDMA device of this name");
	if (err)
		netdev_err(ndev, "no sroce device on this netdev: error %d\n", err);
	return err;
}

/* Events of netdevs */

/* A registration that is under way sees it in sroce_link_may_start(). */
static void remove_later(struct sroce_dev *dev)
{
	WRITE_ONCE(dev->going, true);
	/* Holds off the end of the registration. */
	if (!ib_device_try_get(&dev->ibdev))
		return;
	ib_unregister_device_queued(&dev->ibdev);
	ib_device_put(&dev->ibdev);
}

/*
 * The netdev is in another namespace now. Between the two, dev->net is NULL: packets
 * are lost, and after a grace period nobody uses the caches of routes, which would
 * keep something of a namespace that may soon be gone. QPs go on; whether they
 * reach anybody is for the addresses and routes over there to say.
 */
static void follow(struct sroce_dev *dev)
{
	struct net *from = net_of(dev), *to = dev_net(dev->ndev);

	RCU_INIT_POINTER(dev->net, NULL);
	synchronize_net();
	sroce_qp_forget_routes(dev);
	sroce_ah_forget_routes(dev);
	sroce_sock_put(from);
	if (sroce_sock_get(to)) {
		netdev_err(dev->ndev, "%s cannot go to this namespace, and is removed\n",
			   dev_name(&dev->ibdev.dev));
		remove_later(dev);
		return;
	}
	rcu_assign_pointer(dev->net, to);
	sroce_mcast_rejoin(dev);
}

static void on_event(struct sroce_dev *dev, unsigned long event)
{
	lockdep_assert_held(&table_lock);

	switch (event) {
	case NETDEV_REGISTER:
		if (!dev->going && !net_eq(dev_net(dev->ndev), net_of(dev)))
			follow(dev);
		break;
	case NETDEV_UNREGISTER:
		/* Else it only moves: NETDEV_REGISTER is next, and nothing before is for us. */
		if (dev->ndev->reg_state != NETREG_REGISTERED)
			remove_later(dev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		sroce_port_changed(dev);
		break;
	case NETDEV_CHANGEADDR:
		/* The RDMA core renews the GIDs; the GUID of the node stays. */
		break;
	}
}

static int on_netdev(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct sroce_dev *dev;

	mutex_lock(&table_lock);
	dev = find(ndev);
	if (dev)
		on_event(dev, event);
	mutex_unlock(&table_lock);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = on_netdev,
};

int sroce_link_init(void)
{
	return register_netdevice_notifier(&netdev_notifier);
}

void sroce_link_exit(void)
{
	/* Waits for those that are queued, too. */
	ib_unregister_driver((enum rdma_driver_id)SROCE_DRIVER_ID);
	unregister_netdevice_notifier(&netdev_notifier);
}
