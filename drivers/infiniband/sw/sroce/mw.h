/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory windows (IBA 10.6.7.2): type 1, and of type 2 the variant 2B, which belongs
 * to a QP and a PD. To the packet path a bound window is a region of its own whose
 * pages are those of the region below; see mem.h.
 */
#ifndef SROCE_MW_H
#define SROCE_MW_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>
#include "mem.h"

struct sroce_qp;
struct sroce_swqe;

/**
 * struct sroce_mw - memory window
 * @ibmw: what ib_core knows
 * @mr: as the packet path finds it; valid while bound
 * @region: what it is bound to, or NULL
 * @of_qp: type 2: in sroce_qp.windows while bound
 *
 * All but @ibmw under sroce_dev.window_lock.
 */
struct sroce_mw {
	struct ib_mw ibmw;
	struct sroce_mr mr;
	struct sroce_mr *region;
	struct list_head of_qp;
};

/* ib_device_ops */
int sroce_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int sroce_dealloc_mw(struct ib_mw *ibmw);

/**
 * sroce_mw_bind - execute BIND_MW
 * @qp: poster; request lock held
 * @wqe: the work request
 *
 * Returns 0 or -EINVAL.
 */
int sroce_mw_bind(struct sroce_qp *qp, const struct sroce_swqe *wqe);

/**
 * sroce_mw_invalidate - unbind a window of type 2
 * @mr: of the window
 * @qpn: QP it must be bound to
 * @key: its key
 *
 * BH disabled, RCU read lock held. Returns 0 or -EINVAL.
 */
int sroce_mw_invalidate(struct sroce_mr *mr, u32 qpn, u32 key);

/**
 * sroce_mw_none_bound - may the region go, or change?
 * @mr: region
 * @stop: it goes: it is invalid from now on, and nothing can be bound to it
 *
 * Process context. Returns 0, or -EBUSY while windows are bound to it (IBA 10.6.7.2.6).
 */
int sroce_mw_none_bound(struct sroce_mr *mr, bool stop);

/* sroce_mw_qp_gone - unbind what is bound for a QP that sends no more; process context */
void sroce_mw_qp_gone(struct sroce_qp *qp);

#endif /* SROCE_MW_H */
