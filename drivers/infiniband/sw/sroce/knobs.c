// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Knobs of congestion control, as files of the port. Names and units of rp_* and
 * np_* are mlx5's. What each of them does: struct sroce_knobs and, for those of the
 * algorithms, struct sroce_cc_params; for users Documentation/congestion.md.
 */
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <rdma/ib_sysfs.h>

#include "device.h"
#include "knobs.h"
#include "rp.h"

/**
 * struct knob_attr - a file with one number
 * @attr: as the core wants it
 * @offset: of the value in struct sroce_knobs
 * @min: smallest value
 * @max: largest value
 */
struct knob_attr {
	struct ib_port_attribute attr;
	u32 offset;
	u32 min;
	u32 max;
};

static u32 *knob_at(struct sroce_knobs *knobs, u32 offset)
{
	return (u32 *)((char *)knobs + offset);
}

/* ---- a changed copy ---- */

/* A copy to change, with knobs_lock held; publish() or kfree() and unlock. */
static struct sroce_knobs *copy(struct sroce_port_cc *cc)
{
	return kmemdup(rcu_dereference_protected(cc->knobs, lockdep_is_held(&cc->knobs_lock)),
		       sizeof(struct sroce_knobs), GFP_KERNEL);
}

static void publish(struct sroce_port_cc *cc, struct sroce_knobs *knobs)
{
	struct sroce_knobs *old;

	old = rcu_replace_pointer(cc->knobs, knobs, lockdep_is_held(&cc->knobs_lock));
	kfree_rcu(old, rcu);
}

static int set(struct sroce_port_cc *cc, u32 offset, u32 value)
{
	struct sroce_knobs *knobs;

	mutex_lock(&cc->knobs_lock);
	knobs = copy(cc);
	if (knobs) {
		*knob_at(knobs, offset) = value;
		publish(cc, knobs);
	}
	mutex_unlock(&cc->knobs_lock);
	return knobs ? 0 : -ENOMEM;
}

static u32 get(struct sroce_port_cc *cc, u32 offset)
{
	u32 value;

	rcu_read_lock();
	value = *knob_at(rcu_dereference(cc->knobs), offset);
	rcu_read_unlock();
	return value;
}

void sroce_port_cc_set_line(struct sroce_port_cc *cc, u32 mbps)
{
	u64 bps = min(mbps * SROCE_CC_BPS_PER_MBPS, SROCE_CC_MAX_BPS);
	struct sroce_knobs *knobs;
	int i;

	mutex_lock(&cc->knobs_lock);
	knobs = rcu_dereference_protected(cc->knobs, lockdep_is_held(&cc->knobs_lock));
	if (knobs->params[0].line_bps == bps)
		goto unlock;
	knobs = copy(cc);
	if (!knobs)
		goto unlock;
	for (i = 0; i < SROCE_CC_NUM_ALGS; i++)
		knobs->params[i].line_bps = bps;
	publish(cc, knobs);
unlock:
	mutex_unlock(&cc->knobs_lock);
}

/* ---- numbers ---- */

static ssize_t knob_show(struct ib_device *ibdev, u32 port, struct ib_port_attribute *attr,
			 char *buf)
{
	const struct knob_attr *knob = container_of(attr, struct knob_attr, attr);

	return sysfs_emit(buf, "%u\n", get(&to_sdev(ibdev)->cc, knob->offset));
}

static ssize_t knob_store(struct ib_device *ibdev, u32 port, struct ib_port_attribute *attr,
			  const char *buf, size_t count)
{
	const struct knob_attr *knob = container_of(attr, struct knob_attr, attr);
	u32 value;
	int err;

	err = kstrtou32(buf, 0, &value);
	if (err)
		return -EINVAL;
	if (value < knob->min || value > knob->max)
		return -EINVAL;
	err = set(&to_sdev(ibdev)->cc, knob->offset, value);
	return err ?: count;
}

#define KNOB(name, min_, max_)							\
	static struct knob_attr knob_##name = {					\
		.attr = __ATTR(name, 0644, knob_show, knob_store),		\
		.offset = offsetof(struct sroce_knobs, name),			\
		.min = (min_),							\
		.max = (max_),							\
	}

KNOB(ecn, 0, 2);
KNOB(np_enable, 0, 1);
KNOB(np_min_time_between_cnps, 0, 131071);
KNOB(np_cnp_dscp, 0, 63);
KNOB(np_cnp_prio, 0, 7);
KNOB(np_cnp_prio_mode, 0, 1);
KNOB(np_cnp_ecn, 0, 2);
KNOB(np_cnp_on_ack, 0, 1);
KNOB(rp_cnp_any_source, 0, 1);
KNOB(tx_burst, 0, 1000);
KNOB(tx_rate_limit, 0, 1000000);

static const struct sroce_knobs defaults = {
	.algorithm = SROCE_CC_DCQCN,
	.ecn = 2,
	.np_enable = 1,
	.np_min_time_between_cnps = 4,
	.np_cnp_dscp = 48,
	.np_cnp_prio = 6,
	.np_cnp_ecn = 2,
	.np_cnp_on_ack = 1,
	.tx_burst = 16,
};

/* ---- algorithms ---- */

/* HPCC needs records of switches that no packet of ours carries. */
static bool alg_works(unsigned int alg)
{
	return alg < SROCE_CC_NUM_ALGS && alg != SROCE_CC_HPCC;
}

static ssize_t algorithm_show(struct ib_device *ibdev, u32 port, struct ib_port_attribute *attr,
			      char *buf)
{
	u32 chosen = get(&to_sdev(ibdev)->cc, offsetof(struct sroce_knobs, algorithm));
	int alg, n = 0;

	for (alg = 0; alg < SROCE_CC_NUM_ALGS; alg++)
		if (alg_works(alg))
			n += sysfs_emit_at(buf, n, alg == chosen ? "%s[%s]" : "%s%s", n ? " " : "",
					   sroce_cc_alg_name(alg));
	return n + sysfs_emit_at(buf, n, "\n");
}

static int find_alg(char *name)
{
	unsigned int alg = sroce_cc_alg_find(strim(name));

	return alg_works(alg) ? alg : -EINVAL;
}

static ssize_t algorithm_store(struct ib_device *ibdev, u32 port, struct ib_port_attribute *attr,
			       const char *buf, size_t count)
{
	char name[32];
	int ret;

	if (strscpy(name, buf, sizeof(name)) < 0)
		return -EINVAL;
	ret = find_alg(name);
	if (ret >= 0)
		ret = set(&to_sdev(ibdev)->cc, offsetof(struct sroce_knobs, algorithm), ret);
	return ret ?: count;
}

static IB_PORT_ATTR_RW(algorithm);

/* ---- one QP ---- */

/* "QPN WORD" */
static int split(const char *buf, char *line, size_t bytes, u32 *qpn, char **word)
{
	char *rest;

	if (strscpy(line, buf, bytes) < 0)
		return -EINVAL;
	rest = strim(line);
	*word = rest;
	rest = strsep(word, " \t");
	if (!*word || kstrtou32(rest, 0, qpn))
		return -EINVAL;
	*word = strim(*word);
	return 0;
}

static ssize_t qp_algorithm_store(struct ib_device *ibdev, u32 port,
				  struct ib_port_attribute *attr, const char *buf, size_t count)
{
	char line[48], *word;
	int ret;
	u32 qpn;

	ret = split(buf, line, sizeof(line), &qpn, &word);
	if (!ret)
		ret = find_alg(word);
	if (ret >= 0)
		ret = sroce_rp_choose(to_sdev(ibdev), qpn, ret);
	return ret ?: count;
}

static ssize_t qp_rate_limit_store(struct ib_device *ibdev, u32 port,
				   struct ib_port_attribute *attr, const char *buf, size_t count)
{
	char line[48], *word;
	u32 qpn, mbps;
	int ret;

	ret = split(buf, line, sizeof(line), &qpn, &word);
	if (!ret && (kstrtou32(word, 0, &mbps) || mbps > knob_tx_rate_limit.max))
		ret = -EINVAL;
	if (!ret)
		ret = sroce_rp_limit(to_sdev(ibdev), qpn, mbps);
	return ret ?: count;
}

static IB_PORT_ATTR_WO(qp_algorithm);
static IB_PORT_ATTR_WO(qp_rate_limit);

/* ---- the files ---- */

static struct attribute *const port_attrs[] = {
	&ib_port_attr_algorithm.attr,
	&ib_port_attr_qp_algorithm.attr,
	&ib_port_attr_qp_rate_limit.attr,
	&knob_ecn.attr.attr,
	&knob_np_enable.attr.attr,
	&knob_np_min_time_between_cnps.attr.attr,
	&knob_np_cnp_dscp.attr.attr,
	&knob_np_cnp_prio.attr.attr,
	&knob_np_cnp_prio_mode.attr.attr,
	&knob_np_cnp_ecn.attr.attr,
	&knob_np_cnp_on_ack.attr.attr,
	&knob_rp_cnp_any_source.attr.attr,
	&knob_tx_burst.attr.attr,
	&knob_tx_rate_limit.attr.attr,
};

/* mlx5 has the form of DCQCN that is ours by default: its knobs are where mlx5's are. */
static struct attribute_group groups[SROCE_CC_NUM_ALGS] = {
	[SROCE_CC_DCQCN] = { .name = "cc_params" },
	[SROCE_CC_DCQCN_PAPER] = { .name = "cc_dcqcn_paper" },
	[SROCE_CC_TIMELY] = { .name = "cc_timely" },
	[SROCE_CC_TIMELY_PATCHED] = { .name = "cc_timely_patched" },
	[SROCE_CC_SWIFT] = { .name = "cc_swift" },
};

const struct attribute_group *sroce_port_groups[] = {
	&groups[SROCE_CC_DCQCN],
	&groups[SROCE_CC_DCQCN_PAPER],
	&groups[SROCE_CC_TIMELY],
	&groups[SROCE_CC_TIMELY_PATCHED],
	&groups[SROCE_CC_SWIFT],
	NULL
};

static void make_file(struct knob_attr *file, unsigned int alg, const struct sroce_cc_knob *knob)
{
	sysfs_attr_init(&file->attr.attr);
	file->attr.attr.name = knob->name;
	file->attr.attr.mode = 0644;
	file->attr.show = knob_show;
	file->attr.store = knob_store;
	file->offset = offsetof(struct sroce_knobs, params[alg]) + knob->offset;
	file->min = knob->min;
	file->max = knob->max;
}

/* Files of an algorithm; their memory is that of the list, which comes first. */
static int make_group(unsigned int alg)
{
	unsigned int i, n = 0, fixed = alg == SROCE_CC_DCQCN ? ARRAY_SIZE(port_attrs) : 0;
	unsigned int max = fixed + sroce_cc_num_knobs;
	struct attribute **list;
	struct knob_attr *files;

	list = kzalloc((max + 1) * sizeof(*list) + sroce_cc_num_knobs * sizeof(*files),
		       GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	files = (struct knob_attr *)(list + max + 1);
	for (; n < fixed; n++)
		list[n] = port_attrs[n];
	for (i = 0; i < sroce_cc_num_knobs; i++) {
		if (!(sroce_cc_knobs[i].algs & BIT(alg)))
			continue;
		make_file(files, alg, &sroce_cc_knobs[i]);
		list[n++] = &files++->attr.attr;
	}
	groups[alg].attrs = list;
	return 0;
}

int sroce_knobs_init(void)
{
	int alg, err = 0;

	for (alg = 0; alg < SROCE_CC_NUM_ALGS && !err; alg++)
		if (groups[alg].name)
			err = make_group(alg);
	if (err)
		sroce_knobs_exit();
	return err;
}

void sroce_knobs_exit(void)
{
	int alg;

	for (alg = 0; alg < SROCE_CC_NUM_ALGS; alg++) {
		kfree(groups[alg].attrs);
		groups[alg].attrs = NULL;
	}
}

/* ---- a device's ---- */

int sroce_port_cc_init(struct sroce_port_cc *cc)
{
	struct sroce_knobs *knobs = kmemdup(&defaults, sizeof(defaults), GFP_KERNEL);
	int alg;

	mutex_init(&cc->knobs_lock);
	spin_lock_init(&cc->lock);
	seqcount_spinlock_init(&cc->sources_seq, &cc->lock);
	get_random_bytes(&cc->hash_key, sizeof(cc->hash_key));
	if (!knobs)
		return -ENOMEM;
	for (alg = 0; alg < SROCE_CC_NUM_ALGS; alg++) {
		sroce_cc_params_init(&knobs->params[alg], alg);
		knobs->params[alg].line_bps = 10000 * SROCE_CC_BPS_PER_MBPS;
	}
	RCU_INIT_POINTER(cc->knobs, knobs);
	return 0;
}

void sroce_port_cc_fini(struct sroce_port_cc *cc)
{
	kfree(rcu_access_pointer(cc->knobs));
}
