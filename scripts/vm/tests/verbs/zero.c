// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages of no bytes: address and key are not looked at (IBA 9.4.3, 9.7.4.1.5).
 */
#include "wire.h"

static const struct remote nonsense = { .addr = 0xdeadbeefdeadbeef, .rkey = 0xabad1dea };

static void simple(int code)
{
	struct pair p;

	pair_make(&p, SETUP());
	memset(p.a.buf, 1, PAGE);
	POST(&p.a, .id = 1, .code = code, .len = 0, .remote = &nonsense);
	CHECK_EQ(EXPECT(p.a.scq, 1, SUCCESS).byte_len, 0);
	/* without any scatter/gather entry */
	POST(&p.a, .id = 2, .code = code, .remote = &nonsense, .sg = (struct ibv_sge[1]){}, .nsg = 0);
	EXPECT(p.a.scq, 2, SUCCESS);
	/* and with some of no bytes */
	POST(&p.a, .id = 3, .code = code, .remote = &nonsense, .sg = (struct ibv_sge[3]){}, .nsg = 3);
	EXPECT(p.a.scq, 3, SUCCESS);
	CHECK_EQ(state_of(&p.b), IBV_QPS_RTS);
	CHECK_BYTE(p.a.buf, PAGE, 1);
	CHECK_BYTE(p.b.buf, PAGE, 0);
	pair_free(&p);
}

static void with_receive(int code)
{
	struct ibv_wc wc;
	struct pair p;

	pair_make(&p, SETUP());
	post_recv(&p.b, 7, 0, 100);
	CHECK_OK(try_recv(&p.b, 8, NULL, 0));
	POST(&p.a, .id = 1, .code = code, .len = 0, .remote = &nonsense, .imm = 0x12345678);
	EXPECT(p.a.scq, 1, SUCCESS);
	POST(&p.a, .id = 2, .code = code, .len = 0, .remote = &nonsense, .imm = 0x12345678);
	EXPECT(p.a.scq, 2, SUCCESS);
	EXPECT(p.b.rcq, 7, SUCCESS);
	wc = EXPECT(p.b.rcq, 8, SUCCESS);
	CHECK_EQ(wc.byte_len, 0);
	CHECK_EQ(wc.opcode, code == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM :
								 IBV_WC_RECV);
	CHECK_EQ(wc.wc_flags & IBV_WC_WITH_IMM, code == IBV_WR_SEND ? 0 : IBV_WC_WITH_IMM);
	if (code != IBV_WR_SEND)
		CHECK_EQ(ntohl(wc.imm_data), 0x12345678);
	CHECK_BYTE(p.b.buf, PAGE, 0);
	pair_free(&p);
}

static void read_is_one_packet(int arg)
{
	struct seen seen[16];
	struct pair p;
	size_t n;

	pair_make(&p, SETUP());
	wire_open();
	POST(&p.a, .id = 1, .code = IBV_WR_RDMA_READ, .len = 0, .remote = &nonsense);
	EXPECT(p.a.scq, 1, SUCCESS);
	n = wire_select(seen, wire_read(seen, ARRAY_SIZE(seen)), false, OP_ANY);
	CHECK_EQ(n, 1);
	CHECK_EQ(seen[0].opcode, OP_READ_RESP_ONLY);
	CHECK_EQ(seen[0].bytes, 12 + 4 + 4);
	pair_free(&p);
}

/* Permission of the QP is needed all the same. */
static void qp_access(int code)
{
	struct pair p;

	pair_make(&p, SETUP(.qp_access = IBV_ACCESS_LOCAL_WRITE));
	POST(&p.a, .id = 1, .code = code, .len = 0, .remote = &nonsense);
	EXPECT(p.a.scq, 1, REM_INV_REQ_ERR);
	pair_free(&p);
}

/* Lost, it is repeated like any other. */
static void lost(int code)
{
	struct pair p;

	pair_make(&p, SETUP(.timeout = 14));
	drop(code == IBV_WR_RDMA_READ ? 'b' : 'a', OP_ANY, 0, 2);
	post_recv(&p.b, 7, 0, 100);
	POST(&p.a, .id = 1, .code = code, .len = 0, .remote = &nonsense);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_EQ(dropped(), 2);
	if (code == IBV_WR_SEND)
		EXPECT(p.b.rcq, 7, SUCCESS);
	EXPECT_NONE(p.b.rcq, 10 * MS);
	pair_free(&p);
}

static const struct test tests[] = {
	{ "WRITE", simple, IBV_WR_RDMA_WRITE },
	{ "READ", simple, IBV_WR_RDMA_READ },
	{ "SEND", with_receive, IBV_WR_SEND },
	{ "SEND with immediate", with_receive, IBV_WR_SEND_WITH_IMM },
	{ "WRITE with immediate", with_receive, IBV_WR_RDMA_WRITE_WITH_IMM },
	{ "READ is answered by one empty packet", read_is_one_packet, 0, true },
	{ "WRITE to a QP without REMOTE_WRITE", qp_access, IBV_WR_RDMA_WRITE },
	{ "READ of a QP without REMOTE_READ", qp_access, IBV_WR_RDMA_READ },
	{ "lost SEND", lost, IBV_WR_SEND, true },
	{ "lost WRITE", lost, IBV_WR_RDMA_WRITE, true },
	{ "lost READ response", lost, IBV_WR_RDMA_READ, true },
};

VERBS_MAIN(tests)
