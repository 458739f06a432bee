// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Limits of the number of objects.
 */
#include <linux/minmax.h>
#include <linux/module.h>

#include "device.h"

static unsigned int max_objects;
module_param(max_objects, uint, 0644);
MODULE_PARM_DESC(max_objects,
		 "Objects of each kind that a device made from now on may have (0: as many as built for)");

static const u32 built_for[SROCE_OBJ_COUNT] = {
	[SROCE_OBJ_PD] = SROCE_MAX_PD,
	[SROCE_OBJ_AH] = SROCE_MAX_AH,
	[SROCE_OBJ_CQ] = SROCE_MAX_CQ,
	[SROCE_OBJ_QP] = SROCE_MAX_QP,
	[SROCE_OBJ_SRQ] = SROCE_MAX_SRQ,
	[SROCE_OBJ_MR] = SROCE_MAX_MR,
	[SROCE_OBJ_MW] = SROCE_MAX_MW,
};

void sroce_objects_init(struct sroce_objects *objects)
{
	u32 max = READ_ONCE(max_objects) ?: U32_MAX;
	int i;

	for (i = 0; i < SROCE_OBJ_COUNT; i++) {
		objects->max[i] = min(built_for[i], max);
		atomic_set(&objects->num[i], 0);
	}
}

void sroce_objects_fini(struct sroce_objects *objects)
{
	int i;

	for (i = 0; i < SROCE_OBJ_COUNT; i++)
		WARN_ON(atomic_read(&objects->num[i]));
}
