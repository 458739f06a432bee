/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COMPAT_IB_UMEM_H
#define SROCE_COMPAT_IB_UMEM_H

#include_next <rdma/ib_umem.h>

#ifdef SROCE_COMPAT_UMEM_GET
#define ib_umem_get_va(device, addr, size, access)	ib_umem_get(device, addr, size, access)
#endif

#endif /* SROCE_COMPAT_IB_UMEM_H */
