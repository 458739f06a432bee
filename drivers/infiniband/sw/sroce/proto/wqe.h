/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work requests as they lie in the rings: bytes that a process can write at any
 * time become a request that was checked as a whole, or one that completes with
 * an error. Pure.
 *
 * Each byte of a slot is read once. What is checked is the copy, and what is
 * used later is the copy that was checked.
 */
#ifndef SROCE_PROTO_WQE_H
#define SROCE_PROTO_WQE_H

#include <rdma/sroce-abi.h>

#include "req.h"

/* What a WQE holds at most. */
#define SROCE_MAX_SGE		32
#define SROCE_MAX_INLINE	512	/* bytes of 32 SGEs, which are in the same place */

/**
 * struct sroce_sq_rules - what may be posted to a send queue
 * @ops: BIT_ULL() of each enum sroce_wr_op
 * @max_sge: entries of a gather list, at most SROCE_MAX_SGE
 * @max_inline: bytes of inline data, at most SROCE_MAX_INLINE
 * @max_bytes: of a message
 * @qkey: UD: the QP's own Q_Key
 * @datagram: UD: the WQE names its destination
 * @sig_all: each WQE is signalled
 */
struct sroce_sq_rules {
	u64 ops;
	u32 max_sge;
	u32 max_inline;
	u32 max_bytes;
	u32 qkey;
	bool datagram;
	bool sig_all;
};

/**
 * struct sroce_rwqe - private copy of a receive WQE
 * @wr_id: of the consumer
 * @length: sum of the SGEs
 * @num_sge: entries of @sge
 * @valid: taken from the queue and not completed
 * @bad: the entry was malformed: no SGEs, completes with LOC_QP_OP_ERR
 * @srqn: XRC: of the SRQ it is from, on whose CQ it completes
 * @sge: scatter list
 */
struct sroce_rwqe {
	u64 wr_id;
	u64 length;
	u32 num_sge;
	bool valid;
	bool bad;
	u32 srqn;
	struct sroce_sge sge[SROCE_MAX_SGE];
};

/**
 * sroce_sq_ops - the operations of a QP type
 * @transport: enum sroce_transport
 * @is_user: the queue belongs to a process, which has windows; the kernel has fast
 *	registration
 *
 * Returns sroce_sq_rules.ops.
 */
u64 sroce_sq_ops(u8 transport, bool is_user);

/* sroce_sq_takes - is this operation one of @ops? */
static inline bool sroce_sq_takes(u64 ops, u32 op)
{
	return op < 64 && ops & BIT_ULL(op);
}

/**
 * sroce_swqe_decode - take a WQE out of a slot of a send queue
 * @rules: of the queue
 * @slot: struct sroce_send_wqe, then room for @rules->max_sge SGEs or
 *	@rules->max_inline bytes; may change while it is read
 * @to: result, with the same room behind it
 *
 * What is wrong makes it SROCE_SWQE_FAILED, with the status it completes with and
 * no data; else it is SROCE_SWQE_POSTED. wr_id and operation are those of the slot
 * in any case, since they are in the completion.
 */
void sroce_swqe_decode(const struct sroce_sq_rules *rules, const void *slot,
		       struct sroce_swqe *to);

/**
 * sroce_rwqe_decode - take a WQE out of a slot of a receive queue
 * @slot: struct sroce_recv_wqe, then room for @max_sge SGEs; may change while it is read
 * @max_sge: of the queue, at most SROCE_MAX_SGE
 * @to: result; srqn stays as it is
 */
void sroce_rwqe_decode(const void *slot, u32 max_sge, struct sroce_rwqe *to);

#endif /* SROCE_PROTO_WQE_H */
