/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Reaction point of a QP: how fast it may send. Three things may slow it down:
 * its congestion control (proto/cc.h), a limit of its own (static rate of the
 * address vector, or set by hand), and a limit of the port.
 *
 * Requester and responder are two senders on the same way: requests, READ
 * responses and whatever is sent again wait for their turn (proto/pace.h). ACKs,
 * NAKs, atomic responses and CNPs never do. As long as nothing slows a QP down all
 * this is one look at a flag. There is no timer but those the QP has: who finds its
 * turn not open has its timer set to when it is.
 *
 * rp->lock is a leaf; requester and responder take it with req_lock or resp_lock
 * held.
 */
#ifndef SROCE_RP_H
#define SROCE_RP_H

#include <linux/spinlock.h>
#include "proto/cc.h"
#include "proto/cnp.h"
#include "proto/pace.h"

struct sk_buff;
struct sroce_dev;
struct sroce_qp;

/**
 * struct sroce_rp - reaction point, and notification point, of a QP
 * @lock: of all below; BH
 * @paced: something slows it down; written under @lock, read at any time
 * @chosen: @alg was set by hand and outlives RESET
 * @alg: enum sroce_cc_alg
 * @bound: req.cwnd and req.ackreq_every are not what they are by default; req_lock
 * @limit_bps: of its own; 0: none
 * @hand_bps: set by hand; 0: none
 * @cc: congestion control
 * @pace: the way out of the QP
 * @cnp_ns: when a CNP was handled last
 * @np: notification point
 * @rtt_samples: of req.rtt that were told; req_lock
 * @rtt_psn: req.una_psn at the last of them; req_lock
 */
struct sroce_rp {
	spinlock_t lock;
	bool paced;
	bool chosen;
	bool bound;
	u8 alg;
	u64 limit_bps;
	u64 hand_bps;
	struct sroce_cc cc;
	struct sroce_pace pace;
	u64 cnp_ns;
	struct sroce_np np;
	u32 rtt_samples;
	u32 rtt_psn;
};

/* sroce_rp_init - of a new QP */
void sroce_rp_init(struct sroce_rp *rp);

/**
 * sroce_rp_start - a QP connects: choose the algorithm, forget all that was
 * @qp: both of its locks held, the path set
 */
void sroce_rp_start(struct sroce_qp *qp);

/**
 * sroce_rp_set_path - the path of a QP was set: ECN bits, static rate
 * @qp: both of its locks held
 */
void sroce_rp_set_path(struct sroce_qp *qp);

/**
 * sroce_rp_on_cnp - a CNP for the QP arrived from whom it may come
 * @qp: softirq, RCU read lock held, no lock
 */
void sroce_rp_on_cnp(struct sroce_qp *qp);

/**
 * sroce_rp_on_rtt - there is a new sample of the round trip
 * @qp: req_lock and RCU read lock held
 */
void sroce_rp_on_rtt(struct sroce_qp *qp);

/**
 * sroce_rp_on_loss - something is sent again because it was lost
 * @qp: req_lock and RCU read lock held
 * @timeout: the ACK timeout said so
 */
void sroce_rp_on_loss(struct sroce_qp *qp, bool timeout);

/**
 * sroce_rp_wait - must a sender wait? Only asked when sroce_rp_is_paced()
 * @qp: req_lock (@turn is qp->req_turn) or resp_lock (qp->resp_turn) held; RCU read
 *	lock held
 * @turn: of the sender
 * @until_ns: result, when it must: until then
 */
bool sroce_rp_wait(struct sroce_qp *qp, struct sroce_turn *turn, u64 *until_ns);

/**
 * sroce_rp_bound - tell the requester how much may be in flight, how often to ask for ACKs
 * @qp: req_lock and RCU read lock held
 *
 * Before it sends, while the QP is paced and once after that.
 */
void sroce_rp_bound(struct sroce_qp *qp);

/**
 * sroce_rp_sent - a packet was sent in a turn
 * @qp: as for sroce_rp_wait()
 * @turn: of the sender
 * @bytes: UDP payload
 */
void sroce_rp_sent(struct sroce_qp *qp, struct sroce_turn *turn, u32 bytes);

/**
 * sroce_rp_sent_limited - a datagram was sent whose address vector has a static rate
 * @qp: UD; req_lock held
 * @turn: qp->req_turn
 * @mbps: the rate
 * @bytes: UDP payload
 *
 * The QP sends nothing more until it has passed.
 */
void sroce_rp_sent_limited(struct sroce_qp *qp, struct sroce_turn *turn, u32 mbps, u32 bytes);

/**
 * sroce_rp_choose - an algorithm for one QP, now and when it connects again
 * @dev: device
 * @qpn: number of the QP
 * @alg: algorithm
 *
 * Process context. Returns 0, -ENOENT, or -EOPNOTSUPP for datagrams.
 */
int sroce_rp_choose(struct sroce_dev *dev, u32 qpn, enum sroce_cc_alg alg);

/**
 * sroce_rp_limit - a limit for one QP
 * @dev: device
 * @qpn: number of the QP
 * @mbps: Mb/s; 0: none
 *
 * Process context. Returns 0 or -ENOENT.
 */
int sroce_rp_limit(struct sroce_dev *dev, u32 qpn, u32 mbps);

/* np.c */

/**
 * sroce_np_on_ce - a valid packet with a CE mark arrived: count, maybe send a CNP
 * @qp: to which
 * @skb: its data starts with the UDP header
 * @pkt: the packet
 *
 * Softirq, RCU read lock held, no lock.
 */
void sroce_np_on_ce(struct sroce_qp *qp, const struct sk_buff *skb, const struct sroce_pkt *pkt);

#endif /* SROCE_RP_H */
