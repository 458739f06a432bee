// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that may not be touched: which work request fails, with which status,
 * and what is told to whom (IBA 9.7.4.1.5, 9.9, 11.6.2).
 */
#include "lib.h"

#define BAD	3		/* of the 8 work requests */
#define CANARY	0x5a

/* ---- remote keys ---- */

/* What is wrong; the pair is as SETUP() makes it, and @r names all of b's buffer. */
typedef void spoil(struct pair *p, struct remote *r);

static void wrong_key(struct pair *p, struct remote *r)
{
	r->rkey ^= 0x40000000;
}

static void wrong_tag(struct pair *p, struct remote *r)
{
	r->rkey ^= 1;
}

static void key_0(struct pair *p, struct remote *r)
{
	r->rkey = 0;
}

static void deregistered(struct pair *p, struct remote *r)
{
	struct ibv_mr *mr = reg(&node_b, p->b.buf, p->b.bytes, ACCESS_ALL);

	r->rkey = mr->rkey;
	CHECK_OK(ibv_dereg_mr(mr));
}

/* The key's place is taken by another region of the same memory. */
static void replaced(struct pair *p, struct remote *r)
{
	deregistered(p, r);
	CHECK(reg(&node_b, p->b.buf, p->b.bytes, ACCESS_ALL)->rkey != r->rkey);
}

static void other_pd(struct pair *p, struct remote *r)
{
	struct ibv_pd *pd = ibv_alloc_pd(node_b.ctx);
	struct ibv_mr *mr;

	CHECK(pd);
	mr = ibv_reg_mr(pd, p->b.buf, p->b.bytes, ACCESS_ALL);
	CHECK(mr);
	r->rkey = mr->rkey;
}

static void with_access(struct pair *p, struct remote *r, int access)
{
	r->rkey = reg(&node_b, p->b.buf, p->b.bytes, access)->rkey;
}

static void no_remote_write(struct pair *p, struct remote *r)
{
	with_access(p, r, ACCESS_ALL & ~IBV_ACCESS_REMOTE_WRITE);
}

static void no_remote_read(struct pair *p, struct remote *r)
{
	with_access(p, r, ACCESS_ALL & ~IBV_ACCESS_REMOTE_READ);
}

static void local_only(struct pair *p, struct remote *r)
{
	with_access(p, r, IBV_ACCESS_LOCAL_WRITE);
}

/* The messages have 100 bytes. */
static void one_past_the_end(struct pair *p, struct remote *r)
{
	r->addr += p->b.bytes - 99;
}

static void one_before(struct pair *p, struct remote *r)
{
	r->addr -= 1;
}

static void far_away(struct pair *p, struct remote *r)
{
	r->addr += 1ULL << 63;
}

static void end_of_addresses(struct pair *p, struct remote *r)
{
	r->addr = -50ULL;
}

static void zero_address(struct pair *p, struct remote *r)
{
	r->addr = 0;
}

struct wrong {
	spoil *spoil;
	enum ibv_wr_opcode code;
};

static const struct wrong wrongs[] = {
	{ wrong_key, IBV_WR_RDMA_WRITE },
	{ wrong_tag, IBV_WR_RDMA_WRITE },
	{ key_0, IBV_WR_RDMA_WRITE },
	{ deregistered, IBV_WR_RDMA_WRITE },
	{ replaced, IBV_WR_RDMA_WRITE },
	{ other_pd, IBV_WR_RDMA_WRITE },
	{ no_remote_write, IBV_WR_RDMA_WRITE },
	{ local_only, IBV_WR_RDMA_WRITE },
	{ one_past_the_end, IBV_WR_RDMA_WRITE },
	{ one_before, IBV_WR_RDMA_WRITE },
	{ far_away, IBV_WR_RDMA_WRITE },
	{ end_of_addresses, IBV_WR_RDMA_WRITE },
	{ zero_address, IBV_WR_RDMA_WRITE },
	{ wrong_key, IBV_WR_RDMA_READ },
	{ deregistered, IBV_WR_RDMA_READ },
	{ other_pd, IBV_WR_RDMA_READ },
	{ no_remote_read, IBV_WR_RDMA_READ },
	{ one_past_the_end, IBV_WR_RDMA_READ },
	{ end_of_addresses, IBV_WR_RDMA_READ },
};

/* Recipe 5: 8 signalled requests, the third with a bad key. */
static void bad_third(int nr)
{
	const struct wrong *w = &wrongs[nr];
	struct remote r;
	struct pair p;
	int i;

	pair_make(&p, SETUP());
	r = (struct remote){ .addr = (uintptr_t)p.b.buf, .rkey = p.b.mr->rkey };
	w->spoil(&p, &r);
	memset(p.a.buf, 0x11, PAGE);
	memset(p.b.buf, CANARY, p.b.bytes);
	for (i = 1; i <= 8; i++)
		POST(&p.a, .id = i, .code = w->code, .len = 100, .roff = 1000,
		     .remote = i == BAD ? &r : NULL);
	EXPECT_ALL(p.a.scq, 1, BAD - 1, SUCCESS);
	EXPECT(p.a.scq, BAD, REM_ACCESS_ERR);
	EXPECT_ALL(p.a.scq, BAD + 1, 8, WR_FLUSH_ERR);
	EXPECT_EVENT(&p.b, QP_ACCESS_ERR);
	EXPECT_NO_EVENT(&p.b, 10 * MS);
	EXPECT_NO_EVENT(&p.a, 10 * MS);
	WAIT_STATE(&p.a, IBV_QPS_ERR);
	WAIT_STATE(&p.b, IBV_QPS_ERR);
	CHECK_BYTE(p.b.buf, 1000, CANARY);
	CHECK_BYTE(p.b.buf + 1100, p.b.bytes - 1100, CANARY);
	EXPECT_NONE(p.a.scq, 10 * MS);
}

/* A WRITE with immediate and a bad key takes no receive; those posted are flushed. */
static void bad_imm(int len)
{
	struct remote r = {};
	struct pair p;

	pair_make(&p, SETUP());
	post_recv(&p.b, 11, 0, 100);
	post_recv(&p.b, 12, 0, 100);
	r.addr = (uintptr_t)p.b.buf;
	r.rkey = p.b.mr->rkey + 0x100;
	POST(&p.a, .id = 1, .code = IBV_WR_RDMA_WRITE_WITH_IMM, .len = len, .remote = &r);
	POST(&p.a, .id = 2, .code = IBV_WR_SEND, .len = 1);
	EXPECT(p.a.scq, 1, REM_ACCESS_ERR);
	EXPECT(p.a.scq, 2, WR_FLUSH_ERR);
	EXPECT_ALL(p.b.rcq, 11, 12, WR_FLUSH_ERR);
	CHECK_BYTE(p.b.buf, p.b.bytes, 0);
	pair_free(&p);
}

/* The QP itself does not grant it. */
static void qp_refuses(int code)
{
	struct pair p;

	pair_make(&p, SETUP(.qp_access = IBV_ACCESS_LOCAL_WRITE));
	POST(&p.a, .id = 1, .code = code, .len = 100);
	EXPECT(p.a.scq, 1, REM_INV_REQ_ERR);
	EXPECT_EVENT(&p.b, QP_REQ_ERR);
	CHECK_BYTE(p.b.buf, PAGE, 0);
	CHECK_BYTE(p.a.buf, PAGE, 0);
	pair_free(&p);
}

/* A region whose addresses end with the last one there is. */
static void last_addresses(int arg)
{
	uint64_t iova = -(uint64_t)(2 * PAGE);
	struct remote r = { .addr = -100ULL };
	struct ibv_mr *mr;
	struct pair p;

	pair_make(&p, SETUP());
	fill(p.a.buf, 100, 5);
	mr = ibv_reg_mr_iova(node_b.pd, p.b.buf, 2 * PAGE, iova, ACCESS_ALL);
	if (!mr)
		skip("no region up to the last address");
	r.rkey = mr->rkey;
	POST(&p.a, .id = 1, .len = 100, .remote = &r);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_FILL(p.b.buf + 2 * PAGE - 100, 100, 5);
	POST(&p.a, .id = 2, .code = IBV_WR_RDMA_READ, .off = PAGE, .len = 100, .remote = &r);
	EXPECT(p.a.scq, 2, SUCCESS);
	CHECK_FILL(p.a.buf + PAGE, 100, 5);
	memset(p.b.buf, CANARY, p.b.bytes);
	POST(&p.a, .id = 3, .len = 101, .remote = &r);
	EXPECT(p.a.scq, 3, REM_ACCESS_ERR);
	CHECK_BYTE(p.b.buf, p.b.bytes, CANARY);
}

/* A region with addresses of its own. */
static void own_iova(int arg)
{
	uint64_t iova = 0x123456789000ULL + 0x300;
	struct remote r = { .addr = iova + PAGE };
	struct ibv_mr *mr;
	struct pair p;

	pair_make(&p, SETUP());
	fill(p.a.buf, 3 * PAGE, 5);
	mr = ibv_reg_mr_iova(node_b.pd, p.b.buf + 0x300, 8 * PAGE, iova, ACCESS_ALL);
	CHECK(mr);
	r.rkey = mr->rkey;
	POST(&p.a, .id = 1, .len = 3 * PAGE, .remote = &r);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_FILL(p.b.buf + 0x300 + PAGE, 3 * PAGE, 5);
	CHECK_BYTE(p.b.buf, 0x300 + PAGE, 0);
	CHECK_BYTE(p.b.buf + 0x300 + 4 * PAGE, PAGE, 0);
	r.addr = iova - 1;
	POST(&p.a, .id = 2, .len = 1, .remote = &r);
	EXPECT(p.a.scq, 2, REM_ACCESS_ERR);
}

/* ---- local keys ---- */

static void local_key(int code)
{
	struct ibv_sge sge;
	struct pair p;

	pair_make(&p, SETUP());
	memset(p.b.buf, CANARY, PAGE);
	sge = (struct ibv_sge){ .addr = (uintptr_t)p.a.buf, .length = 8, .lkey = p.a.mr->lkey + 1 };
	post_recv(&p.b, 9, PAGE, 100);
	POST(&p.a, .id = 1, .len = 10, .roff = 2 * PAGE);
	POST(&p.a, .id = 2, .code = code, .sg = &sge, .nsg = 1);
	POST(&p.a, .id = 3, .len = 10);
	EXPECT(p.a.scq, 1, SUCCESS);
	EXPECT(p.a.scq, 2, LOC_PROT_ERR);
	EXPECT(p.a.scq, 3, WR_FLUSH_ERR);
	WAIT_STATE(&p.a, IBV_QPS_ERR);
	if (code != IBV_WR_ATOMIC_FETCH_AND_ADD)
		CHECK_BYTE(p.b.buf, PAGE, CANARY);
	CHECK_EQ(state_of(&p.b), IBV_QPS_RTS);
	EXPECT_NO_EVENT(&p.a, 10 * MS);
	pair_free(&p);
}

static void local_end(int arg)
{
	struct pair p;

	pair_make(&p, SETUP());
	POST(&p.a, .id = 1, .len = 100, .off = p.a.bytes - 100);
	POST(&p.a, .id = 2, .len = 101, .off = p.a.bytes - 100);
	EXPECT(p.a.scq, 1, SUCCESS);
	EXPECT(p.a.scq, 2, LOC_PROT_ERR);
	pair_free(&p);
}

/* What comes in needs LOCAL_WRITE; what goes out does not. */
static void read_only_buffer(int arg)
{
	struct ibv_sge sge;
	struct pair p;

	pair_make(&p, SETUP());
	fill(p.b.buf, 100, 1);
	sge = (struct ibv_sge){ .addr = (uintptr_t)p.a.buf, .length = 100 };
	sge.lkey = reg(&node_a, p.a.buf, PAGE, 0)->lkey;
	fill(p.a.buf, 100, 2);
	POST(&p.a, .id = 1, .sg = &sge, .nsg = 1, .roff = 200);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_FILL(p.b.buf + 200, 100, 2);
	POST(&p.a, .id = 2, .code = IBV_WR_RDMA_READ, .sg = &sge, .nsg = 1);
	EXPECT(p.a.scq, 2, LOC_PROT_ERR);
	CHECK_FILL(p.a.buf, 100, 2);
}

/* ---- receives ---- */

static void recv_too_small(int len)
{
	struct pair p;

	pair_make(&p, SETUP());
	post_recv(&p.b, 7, 0, len - 1);
	post_recv(&p.b, 8, 0, len);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = len);
	POST(&p.a, .id = 2, .code = IBV_WR_SEND, .len = len);
	EXPECT(p.a.scq, 1, REM_INV_REQ_ERR);
	EXPECT(p.a.scq, 2, WR_FLUSH_ERR);
	EXPECT(p.b.rcq, 7, LOC_LEN_ERR);
	EXPECT(p.b.rcq, 8, WR_FLUSH_ERR);
	WAIT_STATE(&p.b, IBV_QPS_ERR);
	CHECK_BYTE(p.b.buf + len - 1, PAGE, 0);
	pair_free(&p);
}

/* The receive's own memory cannot be written. */
static void recv_bad_memory(int read_only)
{
	struct ibv_sge sge;
	struct pair p;

	pair_make(&p, SETUP());
	sge = (struct ibv_sge){ .addr = (uintptr_t)p.b.buf, .length = 100 };
	sge.lkey = read_only ? reg(&node_b, p.b.buf, PAGE, 0)->lkey : p.b.mr->lkey + 0x100;
	CHECK_OK(try_recv(&p.b, 7, &sge, 1));
	post_recv(&p.b, 8, 0, 100);
	memset(p.a.buf, 1, 100);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 100);
	EXPECT(p.a.scq, 1, REM_OP_ERR);
	EXPECT(p.b.rcq, 7, LOC_PROT_ERR);
	EXPECT(p.b.rcq, 8, WR_FLUSH_ERR);
	EXPECT_EVENT(&p.b, QP_FATAL);
	CHECK_BYTE(p.b.buf, 100, 0);
}

/* UC: nobody is told of a message that is too long, and its receive is for the next one. */
static void uc_too_long(int len)
{
	struct pair p;

	pair_make(&p, SETUP(.type = IBV_QPT_UC));
	post_recv(&p.b, 7, 0, 100);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = len);
	POST(&p.a, .id = 2, .code = IBV_WR_RDMA_WRITE, .len = 10,
	     .remote = &(struct remote){ 0x1000, 0x77 });
	fill(p.a.buf, 100, 5);
	POST(&p.a, .id = 3, .code = IBV_WR_SEND, .len = 100);
	EXPECT_ALL(p.a.scq, 1, 3, SUCCESS);
	CHECK_EQ(EXPECT(p.b.rcq, 7, SUCCESS).byte_len, 100);
	CHECK_FILL(p.b.buf, 100, 5);
	CHECK_EQ(state_of(&p.b), IBV_QPS_RTS);
	EXPECT_NO_EVENT(&p.b, 10 * MS);
	pair_free(&p);
}

/* UC: what the consumer did wrong itself completes with the error, and the QP is in ERR. */
static void uc_bad_memory(int arg)
{
	struct ibv_sge sge;
	struct pair p;

	pair_make(&p, SETUP(.type = IBV_QPT_UC));
	sge = (struct ibv_sge){ (uintptr_t)p.b.buf, 100, p.b.mr->lkey + 0x100 };
	CHECK_OK(try_recv(&p.b, 7, &sge, 1));
	post_recv(&p.b, 8, 0, 100);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 100);
	EXPECT(p.a.scq, 1, SUCCESS);
	EXPECT(p.b.rcq, 7, LOC_PROT_ERR);
	EXPECT(p.b.rcq, 8, WR_FLUSH_ERR);
	WAIT_STATE(&p.b, IBV_QPS_ERR);
	pair_free(&p);
}

/* No key of a process can be invalidated: there are no windows, and regions may not be. */
static void send_inv(int own)
{
	struct pair p;

	pair_make(&p, SETUP());
	post_recv(&p.b, 7, 0, 100);
	if (TRY_POST(&p.a, .id = 1, .code = IBV_WR_SEND_WITH_INV, .len = 10,
		     .imm = own ? p.b.mr->rkey : 0x12345600))
		skip("SEND with invalidate cannot be posted");
	EXPECT(p.a.scq, 1, REM_ACCESS_ERR);
	CHECK(WAIT_WC(p.b.rcq).status != IBV_WC_SUCCESS);
	WAIT_STATE(&p.b, IBV_QPS_ERR);
	pair_free(&p);

	/* the region is still there */
	pair_make(&p, SETUP());
	if (!TRY_POST(&p.a, .id = 1, .code = IBV_WR_LOCAL_INV, .imm = p.a.mr->lkey))
		CHECK(WAIT_WC(p.a.scq).status != IBV_WC_SUCCESS);
	pair_free(&p);
}

static const struct test tests[] = {
	{ "third of 8 WRITEs: no such key", bad_third, 0 },
	{ "third of 8 WRITEs: another tag", bad_third, 1 },
	{ "third of 8 WRITEs: key 0", bad_third, 2 },
	{ "third of 8 WRITEs: region deregistered", bad_third, 3 },
	{ "third of 8 WRITEs: region deregistered and another registered", bad_third, 4 },
	{ "third of 8 WRITEs: region of another PD", bad_third, 5 },
	{ "third of 8 WRITEs: no REMOTE_WRITE", bad_third, 6 },
	{ "third of 8 WRITEs: no remote access at all", bad_third, 7 },
	{ "third of 8 WRITEs: one byte past the end", bad_third, 8 },
	{ "third of 8 WRITEs: one byte before the start", bad_third, 9 },
	{ "third of 8 WRITEs: address of the other half", bad_third, 10 },
	{ "third of 8 WRITEs: address and length pass 2^64", bad_third, 11 },
	{ "third of 8 WRITEs: address 0", bad_third, 12 },
	{ "third of 8 READs: no such key", bad_third, 13 },
	{ "third of 8 READs: region deregistered", bad_third, 14 },
	{ "third of 8 READs: region of another PD", bad_third, 15 },
	{ "third of 8 READs: no REMOTE_READ", bad_third, 16 },
	{ "third of 8 READs: one byte past the end", bad_third, 17 },
	{ "third of 8 READs: address and length pass 2^64", bad_third, 18 },
	{ "WRITE with immediate, bad key", bad_imm, 100 },
	{ "WRITE with immediate of several packets, bad key", bad_imm, 5000 },
	{ "QP without REMOTE_WRITE", qp_refuses, IBV_WR_RDMA_WRITE },
	{ "QP without REMOTE_READ", qp_refuses, IBV_WR_RDMA_READ },
	{ "region up to address 2^64 - 1", last_addresses },
	{ "region with addresses of its own", own_iova },
	{ "bad lkey of a WRITE", local_key, IBV_WR_RDMA_WRITE },
	{ "bad lkey of a SEND", local_key, IBV_WR_SEND },
	{ "bad lkey of a READ", local_key, IBV_WR_RDMA_READ },
	{ "bad lkey of an atomic", local_key, IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "local buffer one byte too short", local_end },
	{ "READ into a region without LOCAL_WRITE", read_only_buffer },
	{ "receive one byte too small", recv_too_small, 100 },
	{ "receive one byte too small for several packets", recv_too_small, 3000 },
	{ "receive with a bad lkey", recv_bad_memory, 0 },
	{ "receive into a region without LOCAL_WRITE", recv_bad_memory, 1 },
	{ "UC: a message one byte too long", uc_too_long, 101 },
	{ "UC: a message too long by packets", uc_too_long, 5000 },
	{ "UC: a receive with a bad lkey", uc_bad_memory },
	{ "SEND with invalidate of nothing", send_inv, 0 },
	{ "SEND with invalidate of a region of a process", send_inv, 1 },
};

VERBS_MAIN(tests)
