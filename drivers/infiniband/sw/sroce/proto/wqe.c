// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "wqe.h"

#define OPS_UD	(BIT_ULL(SROCE_WR_SEND) | BIT_ULL(SROCE_WR_SEND_IMM))
#define OPS_UC	(OPS_UD | BIT_ULL(SROCE_WR_WRITE) | BIT_ULL(SROCE_WR_WRITE_IMM) |	\
		 BIT_ULL(SROCE_WR_LOCAL_INV))
#define OPS_RC	(OPS_UC | BIT_ULL(SROCE_WR_READ) | BIT_ULL(SROCE_WR_CMP_SWP) |		\
		 BIT_ULL(SROCE_WR_FETCH_ADD) | BIT_ULL(SROCE_WR_SEND_INV) |		\
		 BIT_ULL(SROCE_WR_FLUSH) | BIT_ULL(SROCE_WR_ATOMIC_WRITE))

u64 sroce_sq_ops(u8 transport, bool is_user)
{
	u64 bind = is_user ? BIT_ULL(SROCE_WR_BIND_MW) : 0;

	switch (transport) {
	case SROCE_RC:
		return OPS_RC | (is_user ? bind : BIT_ULL(SROCE_WR_REG_MR));
	case SROCE_XRC:
		return OPS_RC | bind;
	case SROCE_UC:
		return OPS_UC | bind;
	case SROCE_UD:
		return OPS_UD;
	default:
		return 0;
	}
}

/* The slot is not read again for what was copied before this. */
static __always_inline void copy_once(void *to, const void *slot, size_t bytes)
{
	memcpy(to, slot, bytes);
	barrier();
}

static enum sroce_status take_sges(const struct sroce_sq_rules *rules, const void *data,
				   struct sroce_swqe *to)
{
	const struct sroce_sge *sge = (const struct sroce_sge *)to->data;
	u64 length = 0;
	u32 i;

	if (to->num_sge > rules->max_sge)
		return SROCE_ST_LOC_QP_OP_ERR;
	copy_once(to->data, data, to->num_sge * sizeof(*sge));
	for (i = 0; i < to->num_sge; i++)
		length += sge[i].length;
	if (length > rules->max_bytes)
		return SROCE_ST_LOC_LEN_ERR;
	to->length = length;
	return SROCE_ST_SUCCESS;
}

static enum sroce_status take_inline(const struct sroce_sq_rules *rules, const void *data,
				     u32 length, struct sroce_swqe *to)
{
	to->num_sge = 0;
	if (length > rules->max_inline || length > rules->max_bytes)
		return SROCE_ST_LOC_LEN_ERR;
	copy_once(to->data, data, length);
	to->length = length;
	return SROCE_ST_SUCCESS;
}

static void take_destination(const struct sroce_sq_rules *rules, const struct sroce_wqe_ud *ud,
			     struct sroce_swqe *to)
{
	to->ah_id = ud->ah_id;
	to->remote_qpn = ud->remote_qpn & SROCE_PSN_MASK;
	/* A controlled Q_Key stands for the QP's own (IBA 10.2.5). */
	to->remote_qkey = ud->remote_qkey & BIT(31) ? rules->qkey : ud->remote_qkey;
}

static void take_flush(const struct sroce_wqe_flush *flush, struct sroce_swqe *to)
{
	to->remote_addr = flush->remote_addr;
	to->rkey = flush->rkey;
	to->length = flush->length;
	to->feth = (flush->placement & SROCE_FETH_PLT_MASK) |
		   (flush->selectivity << SROCE_FETH_SEL_SHIFT & SROCE_FETH_SEL_MASK);
}

static void take_bind(const struct sroce_wqe_bind_mw *bind, struct sroce_swqe *to)
{
	to->compare_add = bind->addr;
	to->swap = bind->length;
	to->inv_rkey = bind->mw_rkey;
	to->mr_key = bind->mr_lkey;
	to->rkey = bind->new_rkey;
	to->feth = bind->access;
}

static enum sroce_status take_atomic(const struct sroce_wqe_atomic *atomic, struct sroce_swqe *to)
{
	to->remote_addr = atomic->remote_addr;
	to->compare_add = atomic->compare_add;
	to->swap = atomic->swap;
	to->rkey = atomic->rkey;
	return to->length == sizeof(u64) && !(to->flags & SROCE_WF_INLINE) ?
	       SROCE_ST_SUCCESS : SROCE_ST_LOC_LEN_ERR;
}

/* The operation's own fields, from the private copy of the header. */
static enum sroce_status take_operands(const struct sroce_sq_rules *rules,
				       const struct sroce_send_wqe *wqe, struct sroce_swqe *to)
{
	switch (to->op) {
	case SROCE_WR_CMP_SWP:
	case SROCE_WR_FETCH_ADD:
		return take_atomic(&wqe->atomic, to);
	case SROCE_WR_FLUSH:
		take_flush(&wqe->flush, to);
		return SROCE_ST_SUCCESS;
	case SROCE_WR_BIND_MW:
	case SROCE_WR_REG_MR:
		take_bind(&wqe->bind_mw, to);
		return SROCE_ST_SUCCESS;
	default:
		break;
	}
	if (rules->datagram) {
		take_destination(rules, &wqe->ud, to);
		return SROCE_ST_SUCCESS;
	}
	to->remote_addr = wqe->rdma.remote_addr;
	to->rkey = wqe->rdma.rkey;
	if (to->op == SROCE_WR_READ && to->flags & SROCE_WF_INLINE)
		return SROCE_ST_LOC_QP_OP_ERR;
	if (to->op == SROCE_WR_ATOMIC_WRITE && to->length != sizeof(u64))
		return SROCE_ST_LOC_LEN_ERR;
	return SROCE_ST_SUCCESS;
}

static enum sroce_status take(const struct sroce_sq_rules *rules, const struct sroce_send_wqe *wqe,
			      const void *data, struct sroce_swqe *to)
{
	enum sroce_status status;

	if (!sroce_sq_takes(rules->ops, to->op))
		return SROCE_ST_LOC_QP_OP_ERR;
	if (to->flags & SROCE_WF_INLINE)
		status = take_inline(rules, data, wqe->length, to);
	else
		status = take_sges(rules, data, to);
	return status == SROCE_ST_SUCCESS ? take_operands(rules, wqe, to) : status;
}

void sroce_swqe_decode(const struct sroce_sq_rules *rules, const void *slot, struct sroce_swqe *to)
{
	struct sroce_send_wqe wqe;
	enum sroce_status status;

	copy_once(&wqe, slot, sizeof(wqe));
	memset(to, 0, sizeof(*to));
	to->wr_id = wqe.wr_id;
	to->op = wqe.opcode;
	to->flags = wqe.flags & (SROCE_WF_FENCE | SROCE_WF_SIGNALED | SROCE_WF_SOLICITED |
				 SROCE_WF_INLINE);
	if (rules->sig_all)
		to->flags |= SROCE_WF_SIGNALED;
	to->num_sge = wqe.num_sge;
	to->imm = (__force __be32)wqe.ex;
	to->inv_rkey = wqe.ex;
	to->srqn = wqe.srqn & SROCE_PSN_MASK;
	to->state = SROCE_SWQE_POSTED;

	status = take(rules, &wqe, slot + sizeof(wqe), to);
	if (status != SROCE_ST_SUCCESS) {
		to->state = SROCE_SWQE_FAILED;
		to->status = status;
		to->num_sge = 0;
		to->length = 0;
	}
}

void sroce_rwqe_decode(const void *slot, u32 max_sge, struct sroce_rwqe *to)
{
	struct sroce_recv_wqe wqe;
	u32 i;

	copy_once(&wqe, slot, sizeof(wqe));
	to->wr_id = wqe.wr_id;
	to->length = 0;
	to->bad = wqe.num_sge > max_sge;
	to->num_sge = to->bad ? 0 : wqe.num_sge;
	to->valid = true;
	copy_once(to->sge, slot + sizeof(wqe), to->num_sge * sizeof(to->sge[0]));
	for (i = 0; i < to->num_sge; i++)
		to->length += to->sge[i].length;
}
