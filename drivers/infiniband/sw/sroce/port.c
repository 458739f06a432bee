// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The port of a device: what its netdev is like, as the verbs say it.
 */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_mad.h>

#include "device.h"

/* IPv6, UDP, and the longest headers before a payload: BTH, XRCETH, RETH, ImmDt; ICRC */
#define OVERHEAD_BYTES	(40 + 8 + 12 + 4 + 16 + 4 + 4)

/* For netdevs that do not know, in Mb/s. */
#define DEFAULT_SPEED	SPEED_10000

static const struct {
	u32 mbps;
	u8 width;
	u16 speed;
} rates[] = {
	{ SPEED_2500,	IB_WIDTH_1X,	IB_SPEED_SDR },
	{ SPEED_5000,	IB_WIDTH_1X,	IB_SPEED_DDR },
	{ SPEED_10000,	IB_WIDTH_1X,	IB_SPEED_FDR10 },
	{ SPEED_20000,	IB_WIDTH_4X,	IB_SPEED_DDR },
	{ SPEED_25000,	IB_WIDTH_1X,	IB_SPEED_EDR },
	{ SPEED_40000,	IB_WIDTH_4X,	IB_SPEED_FDR10 },
	{ SPEED_50000,	IB_WIDTH_1X,	IB_SPEED_HDR },
	{ SPEED_100000,	IB_WIDTH_4X,	IB_SPEED_EDR },
	{ SPEED_200000,	IB_WIDTH_4X,	IB_SPEED_HDR },
	{ SPEED_400000,	IB_WIDTH_4X,	IB_SPEED_NDR },
	{ U32_MAX,	IB_WIDTH_8X,	IB_SPEED_NDR },
};

static u32 netdev_mbps(struct net_device *ndev)
{
	struct ethtool_link_ksettings ks = {};
	u32 mbps = SPEED_UNKNOWN;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED && !__ethtool_get_link_ksettings(ndev, &ks))
		mbps = ks.base.speed;
	rtnl_unlock();
	return mbps && mbps != (u32)SPEED_UNKNOWN ? mbps : DEFAULT_SPEED;
}

static void fill_rate(struct sroce_dev *dev, struct ib_port_attr *attr)
{
	u32 mbps = netdev_mbps(dev->ndev);
	unsigned int i = 0;

	sroce_port_cc_set_line(&dev->cc, mbps);
	while (mbps > rates[i].mbps)
		i++;
	attr->active_width = rates[i].width;
	attr->active_speed = rates[i].speed;
}

static enum ib_mtu active_mtu(const struct net_device *ndev)
{
	unsigned int bytes = READ_ONCE(ndev->mtu);
	enum ib_mtu mtu = IB_MTU_4096;

	while (mtu > IB_MTU_256 && ib_mtu_enum_to_int(mtu) + OVERHEAD_BYTES > bytes)
		mtu--;
	return mtu;
}

static bool is_up(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev);
}

static enum ib_port_phys_state phys_state(const struct net_device *ndev)
{
	if (!netif_running(ndev))
		return IB_PORT_PHYS_STATE_DISABLED;
	return netif_carrier_ok(ndev) ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_POLLING;
}

int sroce_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct sroce_dev *dev = to_sdev(ibdev);

	attr->state = is_up(dev->ndev) ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = phys_state(dev->ndev);
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = active_mtu(dev->ndev);
	attr->gid_tbl_len = SROCE_MAX_GID;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = SROCE_MAX_MSG_BYTES;
	attr->bad_pkey_cntr = sroce_counters_total(dev, SROCE_CNT_RX_DROP_PKEY);
	attr->qkey_viol_cntr = sroce_counters_total(dev, SROCE_CNT_RX_DROP_QKEY);
	attr->pkey_tbl_len = 1;
	attr->max_vl_num = 1;
	fill_rate(dev, attr);
	return 0;
}

void sroce_port_init(struct sroce_dev *dev)
{
	ASSERT_RTNL();
	dev->port_up = is_up(dev->ndev);
	dev->port_mtu = active_mtu(dev->ndev);
}

void sroce_port_changed(struct sroce_dev *dev)
{
	enum ib_mtu mtu = active_mtu(dev->ndev);
	bool up = is_up(dev->ndev);
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = 1,
		.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};
	bool same = up == dev->port_up && (!up || mtu == dev->port_mtu);

	ASSERT_RTNL();
	dev->port_up = up;
	dev->port_mtu = mtu;
	/* There is no event for another MTU; this one makes consumers query the port. */
	if (same || !ib_device_try_get(&dev->ibdev))
		return;
	ib_dispatch_event(&event);
	ib_device_put(&dev->ibdev);
}

/* Later kernels would report for us, but not for bonds: link.c tells us of all netdevs. */
void sroce_report_port_event(struct ib_device *ibdev, struct net_device *ndev, unsigned long event)
{
}
