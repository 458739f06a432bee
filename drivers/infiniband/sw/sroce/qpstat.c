// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters of QPs: `rdma statistic qp set link DEV/1 auto type on` and the like. A
 * QP that is bound to a counter of the core counts there, and nowhere else; the
 * core adds all of them, also those that are gone, when it shows the port. What
 * we report of the port by ourselves (PMA, query_port) is summed up here.
 */
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "counters.h"
#include "device.h"
#include "qp.h"

/**
 * struct sroce_counter_set - behind a struct rdma_counter, by its id
 * @counters: per CPU
 */
struct sroce_counter_set {
	struct sroce_counters __percpu *counters;
};

static struct sroce_counter_set *set_create(void)
{
	struct sroce_counter_set *set = kzalloc(sizeof(*set), GFP_KERNEL);

	if (!set)
		return NULL;
	set->counters = sroce_counters_create();
	if (set->counters)
		return set;
	kfree(set);
	return NULL;
}

static void set_free(struct sroce_counter_set *set)
{
	free_percpu(set->counters);
	kfree(set);
}

/* The core serialises calls for one counter, and has zeroed the id of a new one. */
static struct sroce_counter_set *set_get(struct sroce_dev *dev, struct rdma_counter *counter)
{
	struct sroce_counter_set *set;

	if (counter->id)
		return xa_load(&dev->counter_sets, counter->id);
	set = set_create();
	if (set && xa_alloc(&dev->counter_sets, &counter->id, set, xa_limit_31b, GFP_KERNEL)) {
		set_free(set);
		return NULL;
	}
	return set;
}

int sroce_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port)
{
	struct sroce_counter_set *set = set_get(to_sdev(ibqp->device), counter);

	if (!set)
		return -ENOMEM;
	WRITE_ONCE(to_sqp(ibqp)->counters, set->counters);
	ibqp->counter = counter;
	return 0;
}

int sroce_counter_unbind_qp(struct ib_qp *ibqp, u32 port)
{
	WRITE_ONCE(to_sqp(ibqp)->counters, to_sdev(ibqp->device)->counters);
	ibqp->counter = NULL;
	return 0;
}

int sroce_counter_dealloc(struct rdma_counter *counter)
{
	struct sroce_dev *dev = to_sdev(counter->device);
	struct sroce_counter_set *set;
	int i;

	mutex_lock(&dev->counter_lock);
	set = xa_erase(&dev->counter_sets, counter->id);
	synchronize_rcu();		/* QPs that were bound to it count elsewhere now */
	for (i = 0; set && i < SROCE_CNT_COUNT; i++)
		dev->counted[i] += sroce_counters_sum(set->counters, i);
	mutex_unlock(&dev->counter_lock);
	if (set)
		set_free(set);
	return 0;
}

struct rdma_hw_stats *sroce_counter_alloc_stats(struct rdma_counter *counter)
{
	return sroce_alloc_hw_port_stats(counter->device, counter->port);
}

int sroce_counter_update_stats(struct rdma_counter *counter)
{
	struct sroce_dev *dev = to_sdev(counter->device);
	struct sroce_counter_set *set = xa_load(&dev->counter_sets, counter->id);
	int i;

	if (!set)
		return -EINVAL;
	for (i = 0; i < counter->stats->num_counters; i++)
		counter->stats->value[i] = sroce_counters_sum(set->counters, i);
	return 0;
}

u64 sroce_counters_total(struct sroce_dev *dev, enum sroce_counter id)
{
	struct sroce_counter_set *set;
	unsigned long index;
	u64 sum;

	mutex_lock(&dev->counter_lock);
	sum = sroce_counters_sum(dev->counters, id) + dev->counted[id];
	xa_for_each(&dev->counter_sets, index, set)
		sum += sroce_counters_sum(set->counters, id);
	mutex_unlock(&dev->counter_lock);
	return sum;
}
