/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB */
/*
 * ABI between the sroce kernel driver and its rdma-core provider.
 *
 * Everything the two share is here: the responses of the create commands, the
 * layout of the mapped rings and the format of their entries. How the indices
 * and flags of a ring are used is in include/sroce/ring.h, and in words in
 * Documentation/abi.md.
 *
 * Rules: fixed-width types, explicit padding, no field changes its meaning. A
 * change that an older provider could not survive raises SROCE_ABI_VERSION.
 * The memory is mapped read-write into the process: the kernel copies an entry
 * once, checks the copy, and never keeps state of its own in it.
 */
#ifndef SROCE_ABI_USER_H
#define SROCE_ABI_USER_H

#include <linux/types.h>

#define SROCE_ABI_VERSION	1

/* Private driver id ("RoCE"), outside the range of enum rdma_driver_id. */
#define SROCE_DRIVER_ID		0x526f4345

/* Offset of entry 0 from the start of a ring's mapping. */
#define SROCE_RING_ENTRIES_OFFSET	4096

/*
 * Control words at the start of each ring, each on 128 bytes of its own (two
 * cache lines, because of the adjacent-line prefetcher). prod and cons run
 * freely; an entry's slot is index & (entries - 1).
 *
 *            prod      cons      flags              arm
 * SQ         user      kernel    kernel             -
 * RQ, SRQ    user      kernel    kernel             -
 * CQ         kernel    user      kernel             user sets, kernel clears
 */
struct sroce_ring_ctrl {
	__u32 prod;
	__u32 pad0[31];
	__u32 cons;
	__u32 pad1[31];
	__u32 flags;
	__u32 pad2[31];
	__u32 arm;
	__u32 pad3[31];
};

/* sroce_ring_ctrl.flags */
#define SROCE_RING_NEED_WAKEUP	(1U << 0)	/* ring the doorbell after publishing */
#define SROCE_RING_DEAD		(1U << 1)	/* the device is gone: answer EIO */

/* sroce_ring_ctrl.arm of a CQ */
#define SROCE_CQ_ARM_SOLICITED	(1U << 0)
#define SROCE_CQ_ARM_NEXT	(1U << 1)

/* Where a ring is mapped and how it is cut. */
struct sroce_ring_info {
	__aligned_u64 mmap_offset;	/* argument of mmap() */
	__aligned_u64 mmap_bytes;
	__u32 entries;			/* a power of two */
	__u32 stride;			/* bytes from one entry to the next */
};

struct sroce_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/* sroce_send_wqe.flags: the values of enum ibv_send_flags */
#define SROCE_SEND_FENCE	(1U << 0)
#define SROCE_SEND_SIGNALED	(1U << 1)
#define SROCE_SEND_SOLICITED	(1U << 2)
#define SROCE_SEND_INLINE	(1U << 3)

struct sroce_wqe_rdma {
	__aligned_u64 remote_addr;
	__u32 rkey;
	__u32 rsvd0;
	__aligned_u64 rsvd1[2];
};

struct sroce_wqe_atomic {
	__aligned_u64 remote_addr;
	__aligned_u64 compare_add;
	__aligned_u64 swap;
	__u32 rkey;
	__u32 rsvd0;
};

struct sroce_wqe_ud {
	__u32 ah_id;			/* from sroce_uresp_create_ah */
	__u32 remote_qpn;
	__u32 remote_qkey;
	__u32 rsvd0;
	__aligned_u64 rsvd1[2];
};

struct sroce_wqe_bind_mw {
	__aligned_u64 addr;
	__aligned_u64 length;
	__u32 mr_lkey;
	__u32 mw_rkey;			/* the window's rkey before this bind */
	__u32 new_rkey;
	__u32 access;			/* IB_ACCESS_* */
};

struct sroce_wqe_flush {
	__aligned_u64 remote_addr;
	__u32 rkey;
	__u32 length;
	__u32 placement;		/* FETH.PLT, enum ib_placement_type */
	__u32 selectivity;		/* FETH.SEL, enum ib_selectivity_level */
	__aligned_u64 rsvd0;
};

/*
 * An SQ entry: this header, then sge[num_sge], or (SROCE_SEND_INLINE) length
 * bytes of data in the same place.
 */
struct sroce_send_wqe {
	__aligned_u64 wr_id;
	__u8 opcode;			/* enum ib_uverbs_wr_opcode */
	__u8 num_sge;
	__u16 flags;			/* SROCE_SEND_* */
	__u32 ex;			/* immediate data (big endian) or rkey to invalidate */
	__u32 length;			/* bytes of inline data; else ignored */
	__u32 srqn;			/* XRC: the remote SRQ */
	union {
		struct sroce_wqe_rdma rdma;
		struct sroce_wqe_atomic atomic;
		struct sroce_wqe_ud ud;
		struct sroce_wqe_bind_mw bind_mw;
		struct sroce_wqe_flush flush;
	};
	__aligned_u64 rsvd0;
};

/* An RQ or SRQ entry: this header, then sge[num_sge]. */
struct sroce_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 rsvd0;
};

/* sroce_cqe.wc_flags: the values of enum ibv_wc_flags */
#define SROCE_WC_GRH		(1U << 0)
#define SROCE_WC_WITH_IMM	(1U << 1)
#define SROCE_WC_WITH_INV	(1U << 3)

/* A CQ entry. */
struct sroce_cqe {
	__aligned_u64 wr_id;
	__aligned_u64 timestamp_ns;	/* CLOCK_REALTIME at completion */
	__u32 byte_len;
	__u32 ex;			/* immediate data (big endian) or invalidated rkey */
	__u32 qpn;			/* of the local QP */
	__u32 src_qpn;			/* UD: of the sender */
	__u32 vendor_err;
	__u8 status;			/* enum ib_wc_status == enum ibv_wc_status */
	__u8 opcode;			/* enum ib_uverbs_wc_opcode */
	__u8 wc_flags;			/* SROCE_WC_* */
	__u8 sl;
	__u16 pkey_index;
	__u8 network_hdr_type;		/* enum rdma_network_type; valid with SROCE_WC_GRH */
	__u8 rsvd0;
	__u32 rsvd1[5];
};

/* sroce_uresp_alloc_ucontext.features */
#define SROCE_FEAT_SRQ		(1U << 0)
#define SROCE_FEAT_XRC		(1U << 1)

/* Vendor id (a locally administered OUI) of our ECE options in CM messages. */
#define SROCE_ECE_VENDOR_ID	0x02526f
/* Selective retransmission: both ends of a QP understand SACK packets. */
#define SROCE_ECE_SACK		(1U << 0)

struct sroce_uresp_alloc_ucontext {
	__u32 features;
	__u32 ece_options;		/* of SROCE_ECE_VENDOR_ID, that this kernel can do */
};

struct sroce_uresp_create_cq {
	struct sroce_ring_info ring;
	__u32 cqn;
	__u32 rsvd0;
};

struct sroce_uresp_resize_cq {
	struct sroce_ring_info ring;
};

struct sroce_uresp_create_qp {
	struct sroce_ring_info sq;	/* entries == 0: no send queue */
	struct sroce_ring_info rq;	/* entries == 0: no receive queue (SRQ, XRC) */
	__u32 qpn;
	__u32 max_inline;		/* bytes an SQ entry holds inline */
	__u32 max_send_sge;
	__u32 max_recv_sge;
};

/* Optional input of modify_qp, after the core's part: sent once ECE options are agreed. */
struct sroce_ureq_modify_qp {
	__u32 ece_options;
	__u32 rsvd0;
};

struct sroce_uresp_create_srq {
	struct sroce_ring_info ring;
	__u32 srqn;
	__u32 max_sge;
};

/*
 * Input of modify_srq: this command has no response of its own, so the kernel
 * writes its answer (a struct sroce_uresp_modify_srq) to resp_addr.
 */
struct sroce_ureq_modify_srq {
	__aligned_u64 resp_addr;
};

struct sroce_uresp_modify_srq {
	struct sroce_ring_info ring;	/* entries == 0: not resized */
};

struct sroce_uresp_create_ah {
	__u32 ah_id;
	__u32 rsvd0;
};

#endif /* SROCE_ABI_USER_H */
