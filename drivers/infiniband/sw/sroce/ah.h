/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Address handles. A send WQE names one by its id.
 */
#ifndef SROCE_AH_H
#define SROCE_AH_H

#include <net/dst_cache.h>
#include <rdma/ib_verbs.h>
#include "route.h"

/**
 * struct sroce_ah - what the data path needs of an address handle
 * @rcu: it outlives the handle by a grace period
 * @pd: of the handle; compared only
 * @id: in sroce_dev.ah
 * @path: the address vector; we hold the reference of its sgid_attr
 * @cache: route
 */
struct sroce_ah {
	struct rcu_head rcu;
	struct ib_pd *pd;
	u32 id;
	struct sroce_path path;
	struct dst_cache cache;
};

/**
 * struct sroce_ibah - address handle
 * @ibah: what ib_core knows, and frees
 * @attr: for query_ah; without the references
 * @ah: as published in sroce_dev.ah
 */
struct sroce_ibah {
	struct ib_ah ibah;
	struct rdma_ah_attr attr;
	struct sroce_ah *ah;
};

static inline struct sroce_ibah *to_sibah(struct ib_ah *ibah)
{
	return container_of(ibah, struct sroce_ibah, ibah);
}

static inline struct sroce_ah *to_sah(struct ib_ah *ibah)
{
	return to_sibah(ibah)->ah;
}

/**
 * sroce_ah_find - look an address handle up
 * @dev: device
 * @pd: PD it must belong to
 * @id: its id
 *
 * RCU read lock held. Returns NULL if there is none.
 */
struct sroce_ah *sroce_ah_find(struct sroce_dev *dev, struct ib_pd *pd, u32 id);

/**
 * sroce_ah_forget_routes - no cache of an address handle holds a route any more
 * @dev: device; its net is NULL, and a grace period has passed since
 *
 * Sleeps: handles that were destroyed lately are waited for.
 */
void sroce_ah_forget_routes(struct sroce_dev *dev);

/* ib_device_ops */
int sroce_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init_attr,
		    struct ib_udata *udata);
int sroce_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int sroce_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int sroce_destroy_ah(struct ib_ah *ibah, u32 flags);

#endif /* SROCE_AH_H */
