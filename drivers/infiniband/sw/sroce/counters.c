// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Event counters.
 */
#include <rdma/ib_verbs.h>

#include "counters.h"
#include "device.h"

/* In the order of the enum: the optional ones are the last. */
static const struct rdma_stat_desc descs[] = {
#define X(id, str, what) { .name = str },
	SROCE_PLAIN_COUNTERS(X)
#undef X
#define X(id, str, what) { .name = str, .flags = IB_STAT_FLAG_OPTIONAL },
	SROCE_OPTIONAL_COUNTERS(X)
#undef X
};

struct sroce_counters __percpu *sroce_counters_create(void)
{
	struct sroce_counters __percpu *counters = alloc_percpu(struct sroce_counters);
	int cpu;

	if (!counters)
		return NULL;
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(counters, cpu)->sync);
	return counters;
}

u64 sroce_counters_sum(struct sroce_counters __percpu *counters, enum sroce_counter id)
{
	unsigned int start;
	u64 sum = 0, value;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct sroce_counters *c = per_cpu_ptr(counters, cpu);

		do {
			start = u64_stats_fetch_begin(&c->sync);
			value = u64_stats_read(&c->value[id]);
		} while (u64_stats_fetch_retry(&c->sync, start));
		sum += value;
	}
	return sum;
}

struct rdma_hw_stats *sroce_alloc_hw_port_stats(struct ib_device *ibdev, u32 port)
{
	struct rdma_hw_stats *stats = rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs),
								 RDMA_HW_STATS_DEFAULT_LIFESPAN);
	unsigned int i;

	/* The core takes them to be on, unless told. */
	for (i = 0; stats && i < ARRAY_SIZE(descs); i++)
		if (descs[i].flags & IB_STAT_FLAG_OPTIONAL)
			set_bit(i, stats->is_disabled);
	return stats;
}

int sroce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct sroce_dev *dev = to_sdev(ibdev);
	unsigned int i;

	if (!port || !stats)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(descs); i++)
		stats->value[i] = sroce_counters_sum(dev->counters, i);
	return ARRAY_SIZE(descs);
}

int sroce_modify_hw_stat(struct ib_device *ibdev, u32 port, unsigned int index, bool enable)
{
	struct sroce_dev *dev = to_sdev(ibdev);

	if (index >= ARRAY_SIZE(descs) || !(descs[index].flags & IB_STAT_FLAG_OPTIONAL))
		return -EINVAL;
	assign_bit(index, dev->optional, enable);
	return 0;
}
