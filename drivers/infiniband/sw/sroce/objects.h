/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How many objects of each kind a device has, and may have.
 */
#ifndef SROCE_OBJECTS_H
#define SROCE_OBJECTS_H

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/types.h>

enum sroce_object {
	SROCE_OBJ_PD,
	SROCE_OBJ_AH,
	SROCE_OBJ_CQ,
	SROCE_OBJ_QP,
	SROCE_OBJ_SRQ,
	SROCE_OBJ_MR,
	SROCE_OBJ_MW,
	SROCE_OBJ_COUNT
};

/**
 * struct sroce_objects - the objects of a device
 * @max: of each kind; what query_device says; does not change
 * @num: that there are, those of the kernel included
 */
struct sroce_objects {
	u32 max[SROCE_OBJ_COUNT];
	atomic_t num[SROCE_OBJ_COUNT];
};

/**
 * sroce_objects_init - no objects, and the limits
 * @objects: of a new device
 *
 * The limits are those of device.h, or the module parameter max_objects where that is
 * less. Process context.
 */
void sroce_objects_init(struct sroce_objects *objects);

/* sroce_objects_fini - there should be none any more */
void sroce_objects_fini(struct sroce_objects *objects);

/**
 * sroce_object_take - there will be one more
 * @objects: of the device
 * @kind: of object
 *
 * Any context. Returns 0, or -ENOMEM if there are as many as may be.
 */
static inline int sroce_object_take(struct sroce_objects *objects, enum sroce_object kind)
{
	return atomic_add_unless(&objects->num[kind], 1, objects->max[kind]) ? 0 : -ENOMEM;
}

/* sroce_object_put - one is gone, or was not made after all; any context */
static inline void sroce_object_put(struct sroce_objects *objects, enum sroce_object kind)
{
	atomic_dec(&objects->num[kind]);
}

#endif /* SROCE_OBJECTS_H */
