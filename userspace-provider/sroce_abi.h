/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The commands that carry driver data: which struct of sroce-abi.h travels
 * behind which struct of the core, in each direction.
 */
#ifndef SROCE_PROVIDER_ABI_H
#define SROCE_PROVIDER_ABI_H

#include <infiniband/kern-abi.h>
#include <rdma/sroce-abi.h>
#include <kernel-abi/sroce-abi.h>

DECLARE_DRV_CMD(sroce_get_context, IB_USER_VERBS_CMD_GET_CONTEXT,
		empty, sroce_uresp_alloc_ucontext);
DECLARE_DRV_CMD(sroce_create_ah, IB_USER_VERBS_CMD_CREATE_AH,
		empty, sroce_uresp_create_ah);
DECLARE_DRV_CMD(sroce_create_cq, IB_USER_VERBS_CMD_CREATE_CQ,
		empty, sroce_uresp_create_cq);
DECLARE_DRV_CMD(sroce_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ,
		empty, sroce_uresp_resize_cq);
DECLARE_DRV_CMD(sroce_create_qp, IB_USER_VERBS_CMD_CREATE_QP,
		empty, sroce_uresp_create_qp);
DECLARE_DRV_CMD(sroce_modify_qp, IB_USER_VERBS_CMD_MODIFY_QP,
		sroce_ureq_modify_qp, empty);
DECLARE_DRV_CMD(sroce_create_srq, IB_USER_VERBS_CMD_CREATE_SRQ,
		empty, sroce_uresp_create_srq);
DECLARE_DRV_CMD(sroce_create_xsrq, IB_USER_VERBS_CMD_CREATE_XSRQ,
		empty, sroce_uresp_create_srq);
DECLARE_DRV_CMD(sroce_modify_srq, IB_USER_VERBS_CMD_MODIFY_SRQ,
		sroce_ureq_modify_srq, empty);

#endif /* SROCE_PROVIDER_ABI_H */
