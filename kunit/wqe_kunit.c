// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/wqe.c"

#define SGES	4
#define INLINE	128
#define ROOM	(SROCE_MAX_SGE * sizeof(struct sroce_sge))
#define QKEY	0x8001d00dU

struct wqe_test {
	struct sroce_sq_rules rules;
	u8 slot[sizeof(struct sroce_send_wqe) + ROOM] __aligned(8);
	u8 rslot[sizeof(struct sroce_recv_wqe) + ROOM] __aligned(8);
	u8 to[sizeof(struct sroce_swqe) + ROOM] __aligned(8);
	struct sroce_rwqe rwqe;
};

static struct sroce_send_wqe *wqe_of(struct wqe_test *t)
{
	return (struct sroce_send_wqe *)t->slot;
}

static struct sroce_swqe *swqe_of(struct wqe_test *t)
{
	return (struct sroce_swqe *)t->to;
}

static struct sroce_sge *sge_of(struct wqe_test *t)
{
	return (struct sroce_sge *)(wqe_of(t) + 1);
}

static void rules_of(struct wqe_test *t, u8 transport, bool is_user)
{
	t->rules.ops = sroce_sq_ops(transport, is_user);
	t->rules.datagram = transport == SROCE_UD;
	t->rules.max_bytes = transport == SROCE_UD ? 1024 : SROCE_MAX_MSG_BYTES;
}

static int wqe_init(struct kunit *test)
{
	struct wqe_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->rules = (struct sroce_sq_rules){ .max_sge = SGES, .max_inline = INLINE, .qkey = QKEY };
	rules_of(t, SROCE_RC, true);
	/* what is left of a WQE before */
	memset(t->to, 0xa5, sizeof(t->to));
	memset(&t->rwqe, 0xa5, sizeof(t->rwqe));
	test->priv = t;
	return 0;
}

/* A WQE of this operation with one SGE of @length bytes. */
static struct sroce_send_wqe *put(struct wqe_test *t, u8 op, u32 length)
{
	struct sroce_send_wqe *wqe = wqe_of(t);

	memset(t->slot, 0, sizeof(t->slot));
	wqe->wr_id = 0x1122334455667788ULL;
	wqe->opcode = op;
	wqe->num_sge = 1;
	sge_of(t)[0] = (struct sroce_sge){ .addr = 0x1000, .length = length, .lkey = 0x42 };
	return wqe;
}

static struct sroce_swqe *decode(struct wqe_test *t)
{
	sroce_swqe_decode(&t->rules, t->slot, swqe_of(t));
	return swqe_of(t);
}

#define EXPECT_POSTED(test, t) \
	KUNIT_EXPECT_EQ(test, (int)decode(t)->state, (int)SROCE_SWQE_POSTED)

/* It fails, is told apart by the consumer, and leads to no data. */
#define EXPECT_FAILED(test, t, want) do {						\
	const struct sroce_swqe *_wqe = decode(t);					\
											\
	KUNIT_EXPECT_EQ(test, (int)_wqe->state, (int)SROCE_SWQE_FAILED);		\
	KUNIT_EXPECT_EQ(test, (int)_wqe->status, (int)(want));				\
	KUNIT_EXPECT_EQ(test, _wqe->wr_id, (u64)wqe_of(t)->wr_id);			\
	KUNIT_EXPECT_EQ(test, (int)_wqe->op, (int)wqe_of(t)->opcode);			\
	KUNIT_EXPECT_EQ(test, (int)_wqe->num_sge, 0);					\
	KUNIT_EXPECT_EQ(test, _wqe->length, 0u);					\
} while (0)

static void wqe__layout(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizeof(struct sroce_send_wqe), (size_t)64);
	KUNIT_EXPECT_EQ(test, sizeof(struct sroce_recv_wqe), (size_t)16);
	KUNIT_EXPECT_EQ(test, sizeof(struct sroce_sge), (size_t)16);
	KUNIT_EXPECT_EQ(test, sizeof(struct sroce_swqe) % 8, (size_t)0);
	KUNIT_EXPECT_EQ(test, offsetof(struct sroce_swqe, data) % 8, (size_t)0);
	KUNIT_EXPECT_EQ(test, SROCE_MAX_SGE * sizeof(struct sroce_sge), (size_t)SROCE_MAX_INLINE);
}

/* ---- which operations ---- */

struct ops_param {
	const char *name;
	u8 transport;
	bool is_user;
	u64 ops;
};

#define SENDS	(BIT_ULL(2) | BIT_ULL(3))
#define WRITES	(BIT_ULL(0) | BIT_ULL(1))
#define INV	BIT_ULL(7)
#define BIND	BIT_ULL(8)
#define REG	BIT_ULL(32)
/* READ, both atomics, SEND with invalidate, FLUSH, ATOMIC_WRITE */
#define RELIABLE_OPS (BIT_ULL(4) | BIT_ULL(5) | BIT_ULL(6) | BIT_ULL(9) | BIT_ULL(14) | BIT_ULL(15))

static const struct ops_param ops_params[] = {
	{ "RC of a process", SROCE_RC, true, SENDS | WRITES | INV | BIND | RELIABLE_OPS },
	{ "RC of the kernel", SROCE_RC, false, SENDS | WRITES | INV | REG | RELIABLE_OPS },
	{ "XRC of a process", SROCE_XRC, true, SENDS | WRITES | INV | BIND | RELIABLE_OPS },
	{ "XRC of the kernel", SROCE_XRC, false, SENDS | WRITES | INV | RELIABLE_OPS },
	{ "UC of a process", SROCE_UC, true, SENDS | WRITES | INV | BIND },
	{ "UC of the kernel", SROCE_UC, false, SENDS | WRITES | INV },
	{ "UD of a process", SROCE_UD, true, SENDS },
	{ "UD of the kernel", SROCE_UD, false, SENDS },
	{ "no transport", SROCE_CNP, true, 0 },
};

static void ops_desc(const struct ops_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->name);
}

KUNIT_ARRAY_PARAM(ops, ops_params, ops_desc);

/* Each of the 256 values of the byte is taken or refused as the table says. */
static void decode_op__of_the_type_only(struct kunit *test)
{
	const struct ops_param *p = test->param_value;
	struct wqe_test *t = test->priv;
	u32 op;

	KUNIT_EXPECT_EQ(test, sroce_sq_ops(p->transport, p->is_user), p->ops);
	rules_of(t, p->transport, p->is_user);
	for (op = 0; op < 256; op++) {
		bool taken = op < 64 && p->ops & BIT_ULL(op);

		KUNIT_EXPECT_EQ(test, sroce_sq_takes(p->ops, op), taken);
		put(t, op, 8);
		if (taken)
			EXPECT_POSTED(test, t);
		else
			EXPECT_FAILED(test, t, SROCE_ST_LOC_QP_OP_ERR);
	}
}

/* ---- gather lists ---- */

static void decode_sges__copied_and_summed(struct kunit *test)
{
	struct wqe_test *t = test->priv;
	struct sroce_send_wqe *wqe = put(t, SROCE_WR_SEND, 0);
	u32 i;

	wqe->num_sge = SGES;
	for (i = 0; i < SGES; i++)
		sge_of(t)[i] = (struct sroce_sge){ .addr = i, .length = 100 + i, .lkey = i };
	EXPECT_POSTED(test, t);
	KUNIT_EXPECT_EQ(test, (int)swqe_of(t)->num_sge, SGES);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->length, 406u);
	EXPECT_BYTES(test, swqe_of(t)->data, sge_of(t), SGES * sizeof(struct sroce_sge));
	/* not a byte more */
	KUNIT_EXPECT_EQ(test, (int)swqe_of(t)->data[SGES * sizeof(struct sroce_sge)], 0xa5);
}

static void decode_sges__too_many(struct kunit *test)
{
	struct wqe_test *t = test->priv;
	u32 n;

	for (n = SGES + 1; n < 256; n++) {
		put(t, SROCE_WR_WRITE, 0)->num_sge = n;
		EXPECT_FAILED(test, t, SROCE_ST_LOC_QP_OP_ERR);
		KUNIT_EXPECT_EQ(test, (int)swqe_of(t)->data[0], 0xa5);
	}
}

static void decode_sges__none(struct kunit *test)
{
	struct wqe_test *t = test->priv;

	put(t, SROCE_WR_SEND, 77)->num_sge = 0;
	EXPECT_POSTED(test, t);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->length, 0u);
}

struct sum_param {
	u32 first, second, third;
	bool fits;
};

static const struct sum_param sum_params[] = {
	{ 0x80000000, 0, 0, true },
	{ 0x80000001, 0, 0, false },
	{ 0x7fffffff, 1, 0, true },
	{ 0x7fffffff, 1, 1, false },
	/* sums that are small in 32 bits */
	{ 0x80000000, 0x80000000, 0, false },
	{ 0xffffffff, 1, 8, false },
	{ 0xffffffff, 0xffffffff, 0xffffffff, false },
};

static void sum_desc(const struct sum_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%x+%x+%x", p->first, p->second, p->third);
}

KUNIT_ARRAY_PARAM(sum, sum_params, sum_desc);

static void decode_sges__sum_to_2_31(struct kunit *test)
{
	const struct sum_param *p = test->param_value;
	struct wqe_test *t = test->priv;

	put(t, SROCE_WR_READ, p->first)->num_sge = 3;
	sge_of(t)[1].length = p->second;
	sge_of(t)[2].length = p->third;
	if (p->fits)
		EXPECT_POSTED(test, t);
	else
		EXPECT_FAILED(test, t, SROCE_ST_LOC_LEN_ERR);
}

static void decode_sges__a_datagram_fits_the_mtu(struct kunit *test)
{
	struct wqe_test *t = test->priv;

	rules_of(t, SROCE_UD, true);
	put(t, SROCE_WR_SEND, 1024);
	EXPECT_POSTED(test, t);
	put(t, SROCE_WR_SEND, 1025);
	EXPECT_FAILED(test, t, SROCE_ST_LOC_LEN_ERR);
}

/* ---- inline data ---- */

static struct sroce_send_wqe *put_inline(struct wqe_test *t, u8 op, u32 length)
{
	struct sroce_send_wqe *wqe = put(t, op, 0);
	u32 i;

	wqe->flags = SROCE_SEND_INLINE;
	wqe->length = length;
	for (i = 0; i < ROOM; i++)
		((u8 *)(wqe + 1))[i] = i + 1;
	return wqe;
}

static void decode_inline__copied(struct kunit *test)
{
	static const u32 lengths[] = { 0, 1, 7, INLINE - 1, INLINE };
	struct wqe_test *t = test->priv;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		n = lengths[i];
		put_inline(t, SROCE_WR_WRITE, n);
		memset(t->to, 0xa5, sizeof(t->to));
		EXPECT_POSTED(test, t);
		KUNIT_EXPECT_EQ(test, swqe_of(t)->length, n);
		KUNIT_EXPECT_EQ(test, (int)swqe_of(t)->num_sge, 0);
		KUNIT_EXPECT_EQ(test, (int)swqe_of(t)->flags, (int)SROCE_WF_INLINE);
		EXPECT_BYTES(test, swqe_of(t)->data, wqe_of(t) + 1, n);
		KUNIT_EXPECT_EQ(test, (int)swqe_of(t)->data[n], 0xa5);
	}
}

static void decode_inline__too_long(struct kunit *test)
{
	static const u32 lengths[] = { INLINE + 1, SROCE_MAX_INLINE, 0x7fffffff, 0xffffffff };
	struct wqe_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		put_inline(t, SROCE_WR_SEND, lengths[i]);
		EXPECT_FAILED(test, t, SROCE_ST_LOC_LEN_ERR);
		KUNIT_EXPECT_EQ(test, (int)swqe_of(t)->data[0], 0xa5);
	}
	rules_of(t, SROCE_UD, true);
	t->rules.max_bytes = INLINE - 1;
	put_inline(t, SROCE_WR_SEND, INLINE);
	EXPECT_FAILED(test, t, SROCE_ST_LOC_LEN_ERR);
}

/* Where the answer has to be put somewhere there is no inline data. */
static void decode_inline__not_for_answers(struct kunit *test)
{
	struct wqe_test *t = test->priv;

	put_inline(t, SROCE_WR_READ, 8);
	EXPECT_FAILED(test, t, SROCE_ST_LOC_QP_OP_ERR);
	put_inline(t, SROCE_WR_CMP_SWP, 8);
	EXPECT_FAILED(test, t, SROCE_ST_LOC_LEN_ERR);
	put_inline(t, SROCE_WR_FETCH_ADD, 8);
	EXPECT_FAILED(test, t, SROCE_ST_LOC_LEN_ERR);
	put_inline(t, SROCE_WR_ATOMIC_WRITE, 8);
	EXPECT_POSTED(test, t);
}

/* ---- the header ---- */

static void decode_flags__known_ones_only(struct kunit *test)
{
	struct wqe_test *t = test->priv;

	put(t, SROCE_WR_SEND, 8)->flags = 0xfff7;
	EXPECT_POSTED(test, t);
	KUNIT_EXPECT_EQ(test, (int)swqe_of(t)->flags,
			(int)(SROCE_WF_FENCE | SROCE_WF_SIGNALED | SROCE_WF_SOLICITED));
	put(t, SROCE_WR_SEND, 8)->flags = SROCE_SEND_FENCE;
	EXPECT_POSTED(test, t);
	KUNIT_EXPECT_EQ(test, (int)swqe_of(t)->flags, (int)SROCE_WF_FENCE);
	t->rules.sig_all = true;
	EXPECT_POSTED(test, t);
	KUNIT_EXPECT_EQ(test, (int)swqe_of(t)->flags, (int)(SROCE_WF_FENCE | SROCE_WF_SIGNALED));
}

/* What the last WQE in the same place had is gone. */
static void decode__starts_from_nothing(struct kunit *test)
{
	struct wqe_test *t = test->priv;
	const struct sroce_swqe *wqe = swqe_of(t);

	put(t, SROCE_WR_SEND, 8);
	EXPECT_POSTED(test, t);
	KUNIT_EXPECT_EQ(test, (int)wqe->status, (int)SROCE_ST_SUCCESS);
	KUNIT_EXPECT_FALSE(test, wqe->rd_counted);
	KUNIT_EXPECT_EQ(test, wqe->npsn | wqe->first_psn | wqe->resp_done | wqe->ssn, 0u);
	KUNIT_EXPECT_EQ(test, wqe->feth | wqe->mr_key | wqe->ah_id | wqe->remote_qpn, 0u);
}

static void decode_send__extra_word_and_srq(struct kunit *test)
{
	struct wqe_test *t = test->priv;
	struct sroce_send_wqe *wqe = put(t, SROCE_WR_SEND_IMM, 8);

	wqe->ex = 0x12345678;
	wqe->srqn = 0xff654321;
	EXPECT_POSTED(test, t);
	KUNIT_EXPECT_EQ(test, (__force u32)swqe_of(t)->imm, 0x12345678u);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->inv_rkey, 0x12345678u);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->srqn, 0x654321u);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->wr_id, 0x1122334455667788ULL);
}

static void decode_rdma__operands(struct kunit *test)
{
	static const u8 ops[] = { SROCE_WR_WRITE, SROCE_WR_WRITE_IMM, SROCE_WR_READ,
				  SROCE_WR_ATOMIC_WRITE };
	struct wqe_test *t = test->priv;
	struct sroce_send_wqe *wqe;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		wqe = put(t, ops[i], 8);
		wqe->rdma.remote_addr = 0xfedcba9876543210ULL;
		wqe->rdma.rkey = 0x89abcdef;
		EXPECT_POSTED(test, t);
		KUNIT_EXPECT_EQ(test, swqe_of(t)->remote_addr, 0xfedcba9876543210ULL);
		KUNIT_EXPECT_EQ(test, swqe_of(t)->rkey, 0x89abcdefu);
	}
}

static void decode_atomic__operands(struct kunit *test)
{
	static const u8 ops[] = { SROCE_WR_CMP_SWP, SROCE_WR_FETCH_ADD };
	struct wqe_test *t = test->priv;
	struct sroce_send_wqe *wqe;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		wqe = put(t, ops[i], 8);
		wqe->atomic.remote_addr = 0x1000;
		wqe->atomic.compare_add = 2;
		wqe->atomic.swap = 3;
		wqe->atomic.rkey = 4;
		EXPECT_POSTED(test, t);
		KUNIT_EXPECT_EQ(test, swqe_of(t)->remote_addr, 0x1000ULL);
		KUNIT_EXPECT_EQ(test, swqe_of(t)->compare_add, 2ULL);
		KUNIT_EXPECT_EQ(test, swqe_of(t)->swap, 3ULL);
		KUNIT_EXPECT_EQ(test, swqe_of(t)->rkey, 4u);
	}
}

static void decode_8_bytes__exactly(struct kunit *test)
{
	static const u8 ops[] = { SROCE_WR_CMP_SWP, SROCE_WR_FETCH_ADD, SROCE_WR_ATOMIC_WRITE };
	static const u32 lengths[] = { 0, 4, 7, 9, 16 };
	struct wqe_test *t = test->priv;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			put(t, ops[i], lengths[j]);
			EXPECT_FAILED(test, t, SROCE_ST_LOC_LEN_ERR);
		}
		/* in two pieces */
		put(t, ops[i], 3)->num_sge = 2;
		sge_of(t)[1].length = 5;
		EXPECT_POSTED(test, t);
	}
}

static void decode_ud__destination(struct kunit *test)
{
	struct wqe_test *t = test->priv;
	struct sroce_send_wqe *wqe = put(t, SROCE_WR_SEND, 8);

	rules_of(t, SROCE_UD, true);
	wqe->ud.ah_id = 5;
	wqe->ud.remote_qpn = 0xab123456;
	wqe->ud.remote_qkey = 0x7fffffff;
	EXPECT_POSTED(test, t);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->ah_id, 5u);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->remote_qpn, 0x123456u);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->remote_qkey, 0x7fffffffu);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->remote_addr, 0ULL);
	/* a controlled Q_Key is the QP's own */
	wqe->ud.remote_qkey = 0x80000000;
	EXPECT_POSTED(test, t);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->remote_qkey, QKEY);
}

static void decode_flush__operands(struct kunit *test)
{
	struct wqe_test *t = test->priv;
	struct sroce_send_wqe *wqe = put(t, SROCE_WR_FLUSH, 0);

	wqe->num_sge = 0;
	wqe->flush.remote_addr = 0x2000;
	wqe->flush.rkey = 7;
	wqe->flush.length = 0xffffffff;
	wqe->flush.placement = 0xfffffff3;
	wqe->flush.selectivity = 0xfffffff1;
	EXPECT_POSTED(test, t);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->remote_addr, 0x2000ULL);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->rkey, 7u);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->length, 0xffffffffu);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->feth, 0x13u);
}

static void decode_bind__operands(struct kunit *test)
{
	struct wqe_test *t = test->priv;
	struct sroce_send_wqe *wqe = put(t, SROCE_WR_BIND_MW, 0);

	wqe->num_sge = 0;
	wqe->bind_mw.addr = 0x3000;
	wqe->bind_mw.length = 0x123456789ULL;
	wqe->bind_mw.mr_lkey = 1;
	wqe->bind_mw.mw_rkey = 2;
	wqe->bind_mw.new_rkey = 3;
	wqe->bind_mw.access = 4;
	EXPECT_POSTED(test, t);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->compare_add, 0x3000ULL);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->swap, 0x123456789ULL);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->mr_key, 1u);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->inv_rkey, 2u);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->rkey, 3u);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->feth, 4u);
	rules_of(t, SROCE_RC, false);
	wqe->opcode = SROCE_WR_REG_MR;
	EXPECT_POSTED(test, t);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->mr_key, 1u);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->rkey, 3u);
	KUNIT_EXPECT_EQ(test, swqe_of(t)->feth, 4u);
}

/* ---- receives ---- */

static struct sroce_sge *put_recv(struct wqe_test *t, u32 num_sge)
{
	struct sroce_recv_wqe *wqe = (struct sroce_recv_wqe *)t->rslot;

	memset(t->rslot, 0, sizeof(t->rslot));
	wqe->wr_id = 0x99;
	wqe->num_sge = num_sge;
	return (struct sroce_sge *)(wqe + 1);
}

static void decode_recv__copied_and_summed(struct kunit *test)
{
	struct wqe_test *t = test->priv;
	struct sroce_sge *sge = put_recv(t, SROCE_MAX_SGE);
	u32 i;

	/* more than 32 bits hold */
	for (i = 0; i < SROCE_MAX_SGE; i++)
		sge[i] = (struct sroce_sge){ .addr = i, .length = 0xfffffff0 + i % 8, .lkey = i };
	sroce_rwqe_decode(t->rslot, SROCE_MAX_SGE, &t->rwqe);
	KUNIT_EXPECT_TRUE(test, t->rwqe.valid);
	KUNIT_EXPECT_FALSE(test, t->rwqe.bad);
	KUNIT_EXPECT_EQ(test, t->rwqe.wr_id, 0x99ULL);
	KUNIT_EXPECT_EQ(test, t->rwqe.num_sge, (u32)SROCE_MAX_SGE);
	KUNIT_EXPECT_EQ(test, t->rwqe.length, 32 * 0xfffffff0ULL + 4 * 28);
	EXPECT_BYTES(test, t->rwqe.sge, sge, sizeof(t->rwqe.sge));
}

static void decode_recv__empty(struct kunit *test)
{
	struct wqe_test *t = test->priv;

	put_recv(t, 0);
	sroce_rwqe_decode(t->rslot, 0, &t->rwqe);
	KUNIT_EXPECT_FALSE(test, t->rwqe.bad);
	KUNIT_EXPECT_EQ(test, t->rwqe.num_sge, 0u);
	KUNIT_EXPECT_EQ(test, t->rwqe.length, 0ULL);
}

static void decode_recv__too_many_sges(struct kunit *test)
{
	static const u32 numbers[] = { SGES + 1, 33, 256, 0x10000000, 0xffffffff };
	struct wqe_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		put_recv(t, numbers[i])->length = 8;
		memset(&t->rwqe, 0xa5, sizeof(t->rwqe));
		sroce_rwqe_decode(t->rslot, SGES, &t->rwqe);
		KUNIT_EXPECT_TRUE(test, t->rwqe.bad);
		KUNIT_EXPECT_TRUE(test, t->rwqe.valid);
		KUNIT_EXPECT_EQ(test, t->rwqe.wr_id, 0x99ULL);
		KUNIT_EXPECT_EQ(test, t->rwqe.num_sge, 0u);
		KUNIT_EXPECT_EQ(test, t->rwqe.length, 0ULL);
		KUNIT_EXPECT_EQ(test, t->rwqe.sge[0].lkey, 0xa5a5a5a5u);
	}
}

static struct kunit_case wqe_cases[] = {
	KUNIT_CASE(wqe__layout),
	KUNIT_CASE_PARAM(decode_op__of_the_type_only, ops_gen_params),
	KUNIT_CASE(decode_sges__copied_and_summed),
	KUNIT_CASE(decode_sges__too_many),
	KUNIT_CASE(decode_sges__none),
	KUNIT_CASE_PARAM(decode_sges__sum_to_2_31, sum_gen_params),
	KUNIT_CASE(decode_sges__a_datagram_fits_the_mtu),
	KUNIT_CASE(decode_inline__copied),
	KUNIT_CASE(decode_inline__too_long),
	KUNIT_CASE(decode_inline__not_for_answers),
	KUNIT_CASE(decode_flags__known_ones_only),
	KUNIT_CASE(decode__starts_from_nothing),
	KUNIT_CASE(decode_send__extra_word_and_srq),
	KUNIT_CASE(decode_rdma__operands),
	KUNIT_CASE(decode_atomic__operands),
	KUNIT_CASE(decode_8_bytes__exactly),
	KUNIT_CASE(decode_ud__destination),
	KUNIT_CASE(decode_flush__operands),
	KUNIT_CASE(decode_bind__operands),
	KUNIT_CASE(decode_recv__copied_and_summed),
	KUNIT_CASE(decode_recv__empty),
	KUNIT_CASE(decode_recv__too_many_sges),
	{}
};

SUITE_INIT(sroce_wqe, wqe_cases, wqe_init);
