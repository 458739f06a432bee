/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The entries of struct ib_device_ops and struct rdma_link_ops whose type or name
 * depends on the kernel; for device.c and main.c only.
 */
#ifndef SROCE_COMPAT_OPS_H
#define SROCE_COMPAT_OPS_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "../cq.h"
#include "../counters.h"
#include "../mem.h"
#include "../device.h"

/* 6.17: before, all devices begin in the initial namespace. */
#ifndef ib_alloc_device_with_net
#define ib_alloc_device_with_net(drv_struct, member, net)	ib_alloc_device(drv_struct, member)
#endif

#ifndef SROCE_COMPAT_OLD_VERBS

struct sroce_rdma_counter {
	struct rdma_counter counter;
};

#define SROCE_COMPAT_DEVICE_OPS				\
	.counter_bind_qp = sroce_counter_bind_qp,	\
	.counter_unbind_qp = sroce_counter_unbind_qp,	\
	INIT_RDMA_OBJ_SIZE(rdma_counter, sroce_rdma_counter, counter), \
	.create_cq = sroce_create_cq,			\
	.create_user_cq = sroce_create_user_cq,		\
	.resize_user_cq = sroce_resize_user_cq,		\
	.reg_user_mr = sroce_reg_user_mr,		\
	.report_port_event = sroce_report_port_event

#else

static inline int sroce_compat_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	return sroce_counter_bind_qp(counter, ibqp, 1);
}

static inline int sroce_compat_unbind_qp(struct ib_qp *ibqp)
{
	return sroce_counter_unbind_qp(ibqp, 1);
}

static inline int sroce_compat_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
					 struct uverbs_attr_bundle *attrs)
{
	return attrs ? sroce_create_user_cq(ibcq, attr, attrs) : sroce_create_cq(ibcq, attr, NULL);
}

static inline int sroce_compat_create_cq_udata(struct ib_cq *ibcq,
					       const struct ib_cq_init_attr *attr,
					       struct ib_udata *udata)
{
	return sroce_compat_create_cq(ibcq, attr,
				      udata ? rdma_udata_to_uverbs_attr_bundle(udata) : NULL);
}

static inline int sroce_compat_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	return sroce_resize_user_cq(ibcq, cqe, udata);
}

static inline struct ib_mr *sroce_compat_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
						     u64 virt_addr, int access,
						     struct ib_udata *udata)
{
	return sroce_reg_user_mr(pd, start, length, virt_addr, access, NULL, udata);
}

#ifdef SROCE_COMPAT_CREATE_CQ_UDATA
#define SROCE_COMPAT_CREATE_CQ	sroce_compat_create_cq_udata
#else
#define SROCE_COMPAT_CREATE_CQ	sroce_compat_create_cq
#endif

#define SROCE_COMPAT_DEVICE_OPS				\
	.counter_bind_qp = sroce_compat_bind_qp,	\
	.counter_unbind_qp = sroce_compat_unbind_qp,	\
	.create_cq = SROCE_COMPAT_CREATE_CQ,		\
	.resize_cq = sroce_compat_resize_cq,		\
	.reg_user_mr = sroce_compat_reg_user_mr

#endif

#endif /* SROCE_COMPAT_OPS_H */
