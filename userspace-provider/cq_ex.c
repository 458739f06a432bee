// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Extended polling of completion queues (ibv_start_poll() and so on).
 *
 * The lock is held from a start_poll() that returned 0 until end_poll(), whatever
 * next_poll() says in between; a start_poll() that fails leaves it free. Entries
 * go back to the kernel together, in end_poll() or when half the ring was read.
 */
#include <errno.h>

#include "sroce.h"

/* Make the entry after the @cq->seen ones current; ENOENT when there is none. */
static int advance(struct sroce_cq *cq)
{
	const struct sroce_cqe *cqe;

	if (sroce_ring_used(&cq->q.ring) <= cq->seen)
		return ENOENT;
	cqe = sroce_ring_slot(&cq->q.ring, cq->q.ring.cons + cq->seen);
	cq->seen++;
	cq->cqe = cqe;
	cq->vcq.cq_ex.wr_id = cqe->wr_id;
	cq->vcq.cq_ex.status = cqe->status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct sroce_cq *cq = to_scq_ex(ibcq);
	int err;

	if (attr->comp_mask)
		return EINVAL;
	sroce_lock(&cq->q.lock);
	cq->seen = 0;
	err = advance(cq);
	if (err) {
		if (sroce_queue_is_dead(&cq->q))
			err = EIO;
		sroce_unlock(&cq->q.lock);
	}
	return err;
}

static int next_poll(struct ibv_cq_ex *ibcq)
{
	struct sroce_cq *cq = to_scq_ex(ibcq);

	/* One long poll over a busy CQ must not look like a full CQ. */
	if (cq->seen > cq->q.ring.mask / 2) {
		sroce_ring_release(&cq->q.ring, cq->seen);
		cq->seen = 0;
	}
	return advance(cq);
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	struct sroce_cq *cq = to_scq_ex(ibcq);

	sroce_ring_release(&cq->q.ring, cq->seen);
	cq->seen = 0;
	cq->cqe = NULL;
	sroce_unlock(&cq->q.lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
	return to_scq_ex(cq)->cqe->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
	return to_scq_ex(cq)->cqe->vendor_err;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
	return to_scq_ex(cq)->cqe->wc_flags;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
	return to_scq_ex(cq)->cqe->byte_len;
}

/* Or the invalidated rkey, which is in the byte order of the host. */
static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
	return (__be32)to_scq_ex(cq)->cqe->ex;
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
	return to_scq_ex(cq)->cqe->qpn;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cq)
{
	return to_scq_ex(cq)->cqe->src_qpn;
}

static uint8_t read_sl(struct ibv_cq_ex *cq)
{
	return to_scq_ex(cq)->cqe->sl;
}

/* RoCE has no LIDs. */
static uint32_t read_slid(struct ibv_cq_ex *cq)
{
	return 0;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	return 0;
}

/* The clock of the device is CLOCK_REALTIME, in nanoseconds. */
static uint64_t read_timestamp_ns(struct ibv_cq_ex *cq)
{
	return to_scq_ex(cq)->cqe->timestamp_ns;
}

#define SUPPORTED_WC_FLAGS						\
	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |			\
	 IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP |		\
	 IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL |			\
	 IBV_WC_EX_WITH_DLID_PATH_BITS |				\
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |				\
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

/**
 * sroce_cq_ex_init - give a CQ the operations of extended polling
 * @wc_flags: the fields that the application wants (IBV_WC_EX_WITH_*)
 *
 * Returns 0, or EOPNOTSUPP if it wants one that we do not have.
 */
int sroce_cq_ex_init(struct sroce_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;

	if (!check_comp_mask(wc_flags, SUPPORTED_WC_FLAGS))
		return EOPNOTSUPP;

	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;

	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		ex->read_imm_data = read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		ex->read_src_qp = read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		ex->read_slid = read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		ex->read_sl = read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->read_completion_ts = read_timestamp_ns;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		ex->read_completion_wallclock_ns = read_timestamp_ns;
	return 0;
}
