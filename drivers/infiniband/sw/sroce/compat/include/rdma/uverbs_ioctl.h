/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COMPAT_UVERBS_IOCTL_H
#define SROCE_COMPAT_UVERBS_IOCTL_H

#include_next <rdma/uverbs_ioctl.h>

/* 7.2 */
#ifndef ib_respond_udata
#define ib_respond_udata(udata, resp) \
	ib_copy_to_udata(udata, &(resp), min(sizeof(resp), (udata)->outlen))
#endif

#endif /* SROCE_COMPAT_UVERBS_IOCTL_H */
