// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device: its operations, its attributes, its beginning and its end.
 */
#include <linux/etherdevice.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/sysfs.h>
#include <linux/unaligned.h>
#include <net/addrconf.h>
#include <rdma/ib_mad.h>
#include <rdma/uverbs_ioctl.h>

#include "ah.h"
#include "compat/ops.h"
#include "context.h"
#include "counters.h"
#include "cq.h"
#include "device.h"
#include "mem.h"
#include "mw.h"
#include "qp.h"
#include "ring.h"
#include "srq.h"

#define FW_STRING	"1.0"

struct sroce_pd {
	struct ib_pd ibpd;
};

/* Attributes */

static int sroce_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			      struct ib_udata *udata)
{
	const u32 *max = to_sdev(ibdev)->objects.max;

	/* From 7.2 on there is none when the core asks. */
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;

	*attr = (struct ib_device_attr) {
		.sys_image_guid = ibdev->node_guid,
		.max_mr_size = SROCE_MAX_MR_BYTES,
		.page_size_cap = GENMASK(31, PAGE_SHIFT),
		.vendor_id = SROCE_ECE_VENDOR_ID,
		.vendor_part_id = 1,
		.hw_ver = 1,
		.device_cap_flags = IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_CURR_QP_STATE_MOD |
				    IB_DEVICE_RC_RNR_NAK_GEN |
				    IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B |
				    IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_FLUSH_GLOBAL |
				    IB_DEVICE_FLUSH_PERSISTENT | IB_DEVICE_ATOMIC_WRITE |
				    IB_DEVICE_PORT_ACTIVE_EVENT | IB_DEVICE_BAD_PKEY_CNTR |
				    IB_DEVICE_BAD_QKEY_CNTR | IB_DEVICE_SRQ_RESIZE |
				    IB_DEVICE_XRC,
		.kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_ALLOW_USER_UNREG,
		.max_qp = max[SROCE_OBJ_QP],
		.max_qp_wr = SROCE_MAX_QP_WR,
		.max_send_sge = SROCE_MAX_SGE,
		.max_recv_sge = SROCE_MAX_SGE,
		.max_sge_rd = SROCE_MAX_SGE,
		.max_cq = max[SROCE_OBJ_CQ],
		.max_cqe = SROCE_MAX_CQE,
		.max_mr = max[SROCE_OBJ_MR],
		.max_mw = max[SROCE_OBJ_MW],
		.max_pd = max[SROCE_OBJ_PD],
		.max_ah = max[SROCE_OBJ_AH],
		.max_srq = max[SROCE_OBJ_SRQ],
		.max_srq_wr = SROCE_MAX_SRQ_WR,
		.max_srq_sge = SROCE_MAX_SRQ_SGE,
		.max_mcast_grp = SROCE_MAX_MCAST_GRP,
		.max_mcast_qp_attach = SROCE_MAX_MCAST_QP,
		.max_total_mcast_qp_attach = SROCE_MAX_MCAST_GRP * SROCE_MAX_MCAST_QP,
		.max_qp_rd_atom = SROCE_MAX_RD_ATOMIC,
		.max_qp_init_rd_atom = SROCE_MAX_INIT_RD_ATOMIC,
		.max_res_rd_atom = SROCE_MAX_RD_ATOMIC * max[SROCE_OBJ_QP],
		.atomic_cap = IB_ATOMIC_GLOB,
		.max_fast_reg_page_list_len = SROCE_MAX_FAST_PAGES,
		.max_pkeys = 1,
		.cq_caps = { .max_cq_moderation_count = U16_MAX,
			     .max_cq_moderation_period = U16_MAX },
		.local_ca_ack_delay = SROCE_ACK_DELAY,
		.timestamp_mask = U64_MAX,
		.hca_core_clock = 1000000,	/* kHz: timestamps are nanoseconds */
	};
	return 0;
}

static int sroce_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	memcpy(ibdev->node_desc, modify->node_desc, sizeof(ibdev->node_desc));
	return 0;
}

static void sroce_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	strscpy(str, FW_STRING, IB_FW_VERSION_NAME_MAX);
}

static int sroce_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int sroce_get_port_immutable(struct ib_device *ibdev, u32 port,
				    struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->gid_tbl_len = SROCE_MAX_GID;
	immutable->pkey_tbl_len = 1;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer sroce_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static ssize_t parent_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct sroce_dev *dev = rdma_device_to_drv_device(device, struct sroce_dev, ibdev);

	return sysfs_emit(buf, "%s\n", netdev_name(dev->ndev));
}

static DEVICE_ATTR_RO(parent);

/* 0 or 1. */
#define SWITCH(name)									\
static ssize_t name##_show(struct device *device, struct device_attribute *attr,	\
			   char *buf)							\
{											\
	struct sroce_dev *dev = rdma_device_to_drv_device(device, struct sroce_dev, ibdev); \
											\
	return sysfs_emit(buf, "%d\n", READ_ONCE(dev->name));				\
}											\
											\
static ssize_t name##_store(struct device *device, struct device_attribute *attr,	\
			    const char *buf, size_t count)				\
{											\
	struct sroce_dev *dev = rdma_device_to_drv_device(device, struct sroce_dev, ibdev); \
	bool on;									\
	int err = kstrtobool(buf, &on);							\
											\
	if (err)									\
		return err;								\
	WRITE_ONCE(dev->name, on);							\
	return count;									\
}											\
											\
static DEVICE_ATTR_RW(name)

/* Parts of the fast path, each to be switched off on its own. */
SWITCH(tx_batch);
SWITCH(trust_local);
SWITCH(direct_local);

/* What is done about losses, of QPs that are connected from then on. */
SWITCH(selective);
SWITCH(early_retransmit);

/* A number up to @max. */
#define NUMBER(name, max)								\
static ssize_t name##_show(struct device *device, struct device_attribute *attr,	\
			   char *buf)							\
{											\
	struct sroce_dev *dev = rdma_device_to_drv_device(device, struct sroce_dev, ibdev); \
											\
	return sysfs_emit(buf, "%u\n", READ_ONCE(dev->name));				\
}											\
											\
static ssize_t name##_store(struct device *device, struct device_attribute *attr,	\
			    const char *buf, size_t count)				\
{											\
	struct sroce_dev *dev = rdma_device_to_drv_device(device, struct sroce_dev, ibdev); \
	u32 value;									\
	int err = kstrtou32(buf, 0, &value);						\
											\
	if (err)									\
		return err;								\
	if (value > (max))								\
		return -EINVAL;								\
	WRITE_ONCE(dev->name, value);							\
	return count;									\
}											\
											\
static DEVICE_ATTR_RW(name)

NUMBER(look_us, SROCE_MAX_LOOK_US);
NUMBER(hold_bytes, SROCE_MAX_HOLD_BYTES);

static struct attribute *sroce_attrs[] = {
	&dev_attr_parent.attr,
	&dev_attr_tx_batch.attr,
	&dev_attr_trust_local.attr,
	&dev_attr_direct_local.attr,
	&dev_attr_look_us.attr,
	&dev_attr_hold_bytes.attr,
	&dev_attr_selective.attr,
	&dev_attr_early_retransmit.attr,
	NULL
};

static const struct attribute_group sroce_attr_group = {
	.attrs = sroce_attrs,
};

u32 sroce_ece_offer(const struct sroce_dev *dev)
{
	return READ_ONCE(dev->selective) && READ_ONCE(dev->hold_bytes) ? SROCE_ECE_SACK : 0;
}

/* Protection domains: we count them, ib_core has all else there is to them */

static int sroce_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return sroce_object_take(&to_sdev(pd->device)->objects, SROCE_OBJ_PD);
}

static int sroce_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	sroce_object_put(&to_sdev(pd->device)->objects, SROCE_OBJ_PD);
	return 0;
}

/* Life: the order in which a device goes is in link.c */

static int sroce_enable_driver(struct ib_device *ibdev)
{
	struct sroce_dev *dev = to_sdev(ibdev);

	/* Again, maybe: in another RDMA namespace. */
	WRITE_ONCE(dev->leaving, false);
	return sroce_link_may_start(dev) ? 0 : -ENODEV;
}

/* Also undoes a sroce_device_add() that failed at any point. */
static void sroce_dealloc_driver(struct ib_device *ibdev)
{
	struct sroce_dev *dev = to_sdev(ibdev);

	sroce_link_detach(dev);
	synchronize_rcu_expedited();	/* receivers that found us, or our sockets, have left */

	rcu_barrier();			/* AHs put their GIDs, */
	flush_workqueue(ib_wq);		/* which are freed before their table is */

	sroce_objects_fini(&dev->objects);
	WARN_ON(!xa_empty(&dev->mem));
	WARN_ON(!xa_empty(&dev->ah));
	WARN_ON(!xa_empty(&dev->srq));
	WARN_ON(!xa_empty(&dev->counter_sets));
	xa_destroy(&dev->mem);
	xa_destroy(&dev->ah);
	xa_destroy(&dev->srq);
	xa_destroy(&dev->counter_sets);
	sroce_port_cc_fini(&dev->cc);
	free_percpu(dev->counters);
	netdev_put(dev->ndev, &dev->ndev_tracker);
}

static const struct ib_device_ops sroce_ops = {
	.owner = THIS_MODULE,
	.driver_id = (enum rdma_driver_id)SROCE_DRIVER_ID,
	.uverbs_abi_ver = SROCE_ABI_VERSION,
	.device_group = &sroce_attr_group,

	.enable_driver = sroce_enable_driver,
	.dealloc_driver = sroce_dealloc_driver,
	.process_mad = sroce_process_mad,
	.query_device = sroce_query_device,
	.modify_device = sroce_modify_device,
	.get_dev_fw_str = sroce_get_dev_fw_str,
	.query_port = sroce_query_port,
	.query_pkey = sroce_query_pkey,
	.get_port_immutable = sroce_get_port_immutable,
	.get_link_layer = sroce_get_link_layer,
	.port_groups = sroce_port_groups,
	.alloc_hw_port_stats = sroce_alloc_hw_port_stats,
	.modify_hw_stat = sroce_modify_hw_stat,
	.fill_res_qp_entry = sroce_fill_res_qp_entry,
	.get_hw_stats = sroce_get_hw_stats,
	.counter_dealloc = sroce_counter_dealloc,
	.counter_alloc_stats = sroce_counter_alloc_stats,
	.counter_update_stats = sroce_counter_update_stats,

	.alloc_ucontext = sroce_alloc_ucontext,
	.query_ucontext = sroce_query_ucontext,
	.dealloc_ucontext = sroce_dealloc_ucontext,
	.disassociate_ucontext = sroce_disassociate_ucontext,
	.mmap = sroce_mmap,
	.mmap_free = sroce_mmap_free,
	.alloc_pd = sroce_alloc_pd,
	.dealloc_pd = sroce_dealloc_pd,

	.create_ah = sroce_create_ah,
	.create_user_ah = sroce_create_ah,
	.modify_ah = sroce_modify_ah,
	.query_ah = sroce_query_ah,
	.destroy_ah = sroce_destroy_ah,

	SROCE_COMPAT_DEVICE_OPS,	/* those whose type depends on the kernel */
	.modify_cq = sroce_modify_cq,
	.destroy_cq = sroce_destroy_cq,
	.poll_cq = sroce_poll_cq,
	.peek_cq = sroce_peek_cq,
	.req_notify_cq = sroce_req_notify_cq,

	.get_dma_mr = sroce_get_dma_mr,
	.rereg_user_mr = sroce_rereg_user_mr,
	.dereg_mr = sroce_dereg_mr,
	.alloc_mr = sroce_alloc_mr,
	.map_mr_sg = sroce_map_mr_sg,
	.alloc_mw = sroce_alloc_mw,
	.dealloc_mw = sroce_dealloc_mw,

	.create_qp = sroce_create_qp,
	.modify_qp = sroce_modify_qp,
	.query_qp = sroce_query_qp,
	.destroy_qp = sroce_destroy_qp,
	.post_send = sroce_post_send,
	.post_recv = sroce_post_recv,
	.attach_mcast = sroce_attach_mcast,
	.detach_mcast = sroce_detach_mcast,

	.create_srq = sroce_create_srq,
	.modify_srq = sroce_modify_srq,
	.query_srq = sroce_query_srq,
	.destroy_srq = sroce_destroy_srq,
	.post_srq_recv = sroce_post_srq_recv,
	.alloc_xrcd = sroce_alloc_xrcd,
	.dealloc_xrcd = sroce_dealloc_xrcd,

	INIT_RDMA_OBJ_SIZE(ib_ah, sroce_ibah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, sroce_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, sroce_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, sroce_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, sroce_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, sroce_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, sroce_ucontext, ibuc),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, sroce_xrcd, ibxrcd),
};

/* An EUI-64 from the MAC; without one, random for as long as the device is there. */
static __be64 node_guid(const struct net_device *ndev)
{
	u8 raw[8];

	if (ndev->addr_len == ETH_ALEN && is_valid_ether_addr(ndev->dev_addr)) {
		addrconf_addr_eui48(raw, ndev->dev_addr);
	} else {
		get_random_bytes(raw, sizeof(raw));
		raw[0] &= ~3;		/* local, of one node */
		raw[7] |= 1;		/* not 0 */
	}
	return (__force __be64)get_unaligned((u64 *)raw);
}

static void init_ibdev(struct ib_device *ibdev, const struct net_device *ndev)
{
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_online_cpus();
	ibdev->local_dma_lkey = 0;
	ibdev->node_guid = node_guid(ndev);
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				  BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
				  BIT_ULL(IB_USER_VERBS_CMD_POST_SRQ_RECV);
	strscpy(ibdev->node_desc, "sroce", sizeof(ibdev->node_desc));
}

static struct sroce_dev *device_alloc(struct net_device *ndev)
{
	struct sroce_dev *dev;

	/* Where devices are in one namespace each, it is that of who asks for it. */
	dev = ib_alloc_device_with_net(sroce_dev, ibdev, current->nsproxy->net_ns);
	if (!dev)
		return NULL;
	ib_set_device_ops(&dev->ibdev, &sroce_ops);
	init_ibdev(&dev->ibdev, ndev);

	dev->ndev = ndev;
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
	sroce_objects_init(&dev->objects);
	spin_lock_init(&dev->window_lock);
	sroce_mcast_init(&dev->mcast);
	INIT_LIST_HEAD(&dev->qps);
	mutex_init(&dev->qps_lock);
	xa_init_flags(&dev->mem, XA_FLAGS_ALLOC1);
	xa_init_flags(&dev->ah, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->srq, XA_FLAGS_ALLOC1);
	xa_init_flags(&dev->counter_sets, XA_FLAGS_ALLOC1);
	mutex_init(&dev->counter_lock);
	/* Keys of a device that was here before should not work. */
	dev->mem_next = 1 + get_random_u32_below(SROCE_MEM_INDEX_MAX);
	dev->mem_tag = get_random_u8();
	return dev;
}

static int device_start(struct sroce_dev *dev, const char *name)
{
	int err;

	dev->tx_batch = true;
	dev->trust_local = true;
	dev->direct_local = true;
	dev->look_us = SROCE_LOOK_US;
	dev->hold_bytes = SROCE_HOLD_BYTES;
	dev->selective = true;
	dev->early_retransmit = true;
	dev->counters = sroce_counters_create();
	if (!dev->counters)
		return -ENOMEM;
	err = sroce_port_cc_init(&dev->cc);
	if (err)
		return err;

	err = sroce_link_attach(dev);
	if (err)
		return err;
	err = ib_device_set_netdev(&dev->ibdev, dev->ndev, 1);
	if (err)
		return err;
	/* Once this has succeeded the device may be gone at any time. */
	return ib_register_device(&dev->ibdev, name, NULL);
}

int sroce_device_add(const char *name, struct net_device *ndev)
{
	struct sroce_dev *dev = device_alloc(ndev);
	int err;

	if (!dev)
		return -ENOMEM;
	err = device_start(dev, name);
	if (err)
		ib_dealloc_device(&dev->ibdev);
	return err;
}
