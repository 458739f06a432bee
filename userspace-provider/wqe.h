/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Filling a send WQE; used by post_send and by the extended post API.
 *
 * The entry is written in place, in its slot of the ring. It is not published
 * before it is complete, so an error half way leaves nothing behind.
 */
#ifndef SROCE_PROVIDER_WQE_H
#define SROCE_PROVIDER_WQE_H

#include <errno.h>
#include <string.h>

#include "sroce.h"

static_assert(sizeof(struct sroce_send_wqe) == 64, "the header is a cache line");
static_assert(sizeof(struct sroce_sge) == sizeof(struct ibv_sge) &&
	      offsetof(struct sroce_sge, addr) == offsetof(struct ibv_sge, addr) &&
	      offsetof(struct sroce_sge, length) == offsetof(struct ibv_sge, length) &&
	      offsetof(struct sroce_sge, lkey) == offsetof(struct ibv_sge, lkey),
	      "scatter/gather lists are copied as they are");
static_assert(SROCE_SEND_FENCE == IBV_SEND_FENCE && SROCE_SEND_SIGNALED == IBV_SEND_SIGNALED &&
	      SROCE_SEND_SOLICITED == IBV_SEND_SOLICITED &&
	      SROCE_SEND_INLINE == IBV_SEND_INLINE, "send flags are passed on");

/* Start an entry: everything 0 but the header. @flags are SROCE_SEND_*. */
static inline void sroce_wqe_init(const struct sroce_qp *qp, struct sroce_send_wqe *wqe,
				  uint64_t wr_id, uint8_t opcode, unsigned int flags)
{
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr_id;
	wqe->opcode = opcode;
	wqe->flags = flags | (qp->sig_all ? SROCE_SEND_SIGNALED : 0);
}

/*
 * Append inline data. What is there never exceeds max_inline, so the difference
 * cannot wrap, and no sum of lengths is ever formed that could.
 */
static inline int sroce_wqe_append_inline(const struct sroce_qp *qp, struct sroce_send_wqe *wqe,
					  const void *data, size_t length)
{
	if (length > qp->max_inline - wqe->length)
		return EINVAL;
	if (length)
		memcpy((char *)(wqe + 1) + wqe->length, data, length);
	wqe->length += length;
	wqe->flags |= SROCE_SEND_INLINE;
	return 0;
}

static inline int sroce_wqe_set_sges(const struct sroce_qp *qp, struct sroce_send_wqe *wqe,
				     const struct ibv_sge *sge, size_t num_sge)
{
	if (num_sge > qp->sq.max_sge)
		return EINVAL;
	if (num_sge)
		memcpy(wqe + 1, sge, num_sge * sizeof(*sge));
	wqe->num_sge = num_sge;
	return 0;
}

static inline void sroce_wqe_set_bind_mw(struct sroce_send_wqe *wqe, const struct ibv_mw *mw,
					 uint32_t new_rkey, const struct ibv_mw_bind_info *info)
{
	wqe->bind_mw.addr = info->addr;
	wqe->bind_mw.length = info->length;
	wqe->bind_mw.mr_lkey = info->mr ? info->mr->lkey : 0;
	wqe->bind_mw.mw_rkey = mw->rkey;
	wqe->bind_mw.new_rkey = new_rkey;
	wqe->bind_mw.access = info->mw_access_flags;
}

#endif /* SROCE_PROVIDER_WQE_H */
