/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Congestion control of a port: its knobs (Documentation/congestion.md), and what
 * its QPs share.
 *
 * The knobs are one struct that is never changed: who sets one publishes a changed
 * copy. A reader under RCU so has values that were in force together.
 */
#ifndef SROCE_KNOBS_H
#define SROCE_KNOBS_H

#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seqlock.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include "proto/cc.h"
#include "proto/cnp.h"
#include "proto/pace.h"

struct sroce_dev;

/**
 * struct sroce_knobs - knobs of a port
 * @rcu: for the grace period after it was replaced
 * @params: reaction point, one set for each algorithm
 * @algorithm: enum sroce_cc_alg of QPs that connect from now on
 * @ecn: ECN codepoint of packets of QPs with an algorithm, where the traffic class
 *	gives none
 * @np_enable: CE marks are answered by CNPs
 * @np_min_time_between_cnps: us, for a QP or a source of datagrams
 * @np_cnp_dscp: DSCP of CNPs
 * @np_cnp_prio: priority of CNPs
 * @np_cnp_prio_mode: 0: DSCP and priority as above; 1: those of the marked packet
 * @np_cnp_ecn: ECN codepoint of CNPs
 * @np_cnp_on_ack: marked ACKs are answered too
 * @rp_cnp_any_source: CNPs are obeyed whoever sends them (switches may)
 * @tx_burst: us, what passes in this time leaves together
 * @tx_rate_limit: Mb/s of all QPs together; 0: no limit
 */
struct sroce_knobs {
	struct rcu_head rcu;
	struct sroce_cc_params params[SROCE_CC_NUM_ALGS];
	u32 algorithm;
	u32 ecn;
	u32 np_enable;
	u32 np_min_time_between_cnps;
	u32 np_cnp_dscp;
	u32 np_cnp_prio;
	u32 np_cnp_prio_mode;
	u32 np_cnp_ecn;
	u32 np_cnp_on_ack;
	u32 rp_cnp_any_source;
	u32 tx_burst;
	u32 tx_rate_limit;
};

/* Senders of datagrams whose CNPs are moderated one by one. */
#define SROCE_NP_SOURCES	256

/**
 * struct sroce_np_source - a sender of datagrams, as the notification point knows it
 * @key: hash of its address, its QP number and ours
 * @np: its CNPs
 */
struct sroce_np_source {
	u64 key;
	struct sroce_np np;
};

/**
 * struct sroce_port_cc - congestion control of a port
 * @knobs: in force; RCU
 * @knobs_lock: serialises those who set them
 * @lock: of what follows; BH
 * @pace: the way out that all QPs share while tx_rate_limit is set
 * @hash_key: of @sources
 * @sources_seq: of @sources, for a look without @lock
 * @sources: by hash; a newcomer takes the place of who was there
 */
struct sroce_port_cc {
	struct sroce_knobs __rcu *knobs;
	struct mutex knobs_lock;
	spinlock_t lock;
	struct sroce_pace pace;
	siphash_key_t hash_key;
	seqcount_spinlock_t sources_seq;
	struct sroce_np_source sources[SROCE_NP_SOURCES];
};

/* sroce_knobs - the knobs in force; RCU read lock held, and valid as long as it is */
#define sroce_knobs(dev)	rcu_dereference((dev)->cc.knobs)

/* ports/1/cc_params and, for algorithms that mlx5 does not have, ports/1/cc_ALGORITHM */
extern const struct attribute_group *sroce_port_groups[];

/* Module init and exit: the files are made from the tables of knobs. Process context. */
int sroce_knobs_init(void);
void sroce_knobs_exit(void);

/* A device's: defaults, and the end. Process context. */
int sroce_port_cc_init(struct sroce_port_cc *cc);
void sroce_port_cc_fini(struct sroce_port_cc *cc);

/**
 * sroce_port_cc_set_line - the rate of the port is known, or has changed
 * @cc: of the port
 * @mbps: Mb/s, not 0
 *
 * Process context. Without memory for it the old value stays.
 */
void sroce_port_cc_set_line(struct sroce_port_cc *cc, u32 mbps);

#endif /* SROCE_KNOBS_H */
