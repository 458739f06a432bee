/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a process has open on a device, and its end.
 */
#ifndef SROCE_CONTEXT_H
#define SROCE_CONTEXT_H

#include <rdma/ib_verbs.h>

struct sroce_dev;

/**
 * struct sroce_ucontext - a device opened by a process
 * @ibuc: what ib_core knows
 * @at_rest: none of its QPs does anything any more, and it gets no other; set once,
 *	under sroce_dev.qps_lock
 * @lends: it has, or had, an XRC SRQ: QPs of other contexts may use its memory; set
 *	under sroce_dev.qps_lock, and not when @at_rest
 */
struct sroce_ucontext {
	struct ib_ucontext ibuc;
	bool at_rest;
	bool lends;
};

static inline struct sroce_ucontext *to_suctx(struct ib_ucontext *ibuc)
{
	return container_of(ibuc, struct sroce_ucontext, ibuc);
}

/**
 * sroce_context_leaves - an object of a process is about to be destroyed
 * @udata: of the verb; NULL: nobody's, or a kernel consumer's
 *
 * If it is destroyed because its process ends or the device goes, all others will
 * be, one after the other, and nobody may need to wait for a grace period each time:
 * the first one waits for all. Process context.
 *
 * Returns true if no QP uses the memory of the process any more.
 */
bool sroce_context_leaves(struct ib_udata *udata);

/**
 * sroce_context_lend - a context is about to have an XRC SRQ
 * @ibuc: context
 *
 * Process context. Returns -EIO if it is too late for that.
 */
int sroce_context_lend(struct ib_ucontext *ibuc);

/* The client that learns of the end of a device; before the first device and after the last. */
int sroce_context_init(void);
void sroce_context_exit(void);

/* ib_device_ops */
int sroce_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata);
struct uverbs_attr_bundle;
int sroce_query_ucontext(struct ib_ucontext *ibuc, struct uverbs_attr_bundle *attrs);
void sroce_dealloc_ucontext(struct ib_ucontext *ibuc);
void sroce_disassociate_ucontext(struct ib_ucontext *ibuc);

#endif /* SROCE_CONTEXT_H */
