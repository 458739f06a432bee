// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the flags of a work request ask for: fence, solicited events, signalling.
 */
#include "wire.h"

#define MAX_SEEN	2048

static struct seen seen[MAX_SEEN];

/* ---- fence (IBA 10.8.3.3) ---- */

/* The number of the first packet of this kind, or -1. */
static int first_of(size_t n, bool from_a, int opcode)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (seen[i].from_a == from_a && seen[i].opcode == opcode)
			return i;
	return -1;
}

/* Behind a READ whose first request is lost: with a fence, a SEND waits for the answer. */
static void fence(int flags)
{
	struct pair p;
	int send, answer;
	size_t n;

	pair_make(&p, SETUP(.timeout = 15));
	wire_open();
	fill(p.b.buf, 5000, 1);
	post_recv(&p.b, 7, 3 * PAGE, PAGE);
	drop('a', OP_READ_REQUEST, 0, 1);
	POST(&p.a, .id = 1, .code = IBV_WR_RDMA_READ, .len = 5000);
	POST(&p.a, .id = 2, .code = IBV_WR_SEND, .off = 3 * PAGE, .len = 10, .flags = flags);
	EXPECT_ALL(p.a.scq, 1, 2, SUCCESS);
	CHECK_FILL(p.a.buf, 5000, 1);
	n = wire_read(seen, MAX_SEEN);
	send = first_of(n, true, OP_SEND_ONLY);
	answer = first_of(n, false, OP_READ_RESP_LAST);
	CHECK(send >= 0 && answer >= 0);
	if (flags & IBV_SEND_FENCE)
		CHECK(send > answer);
	else
		CHECK(send < answer);
	pair_free(&p);
}

/* Nor does an atomic let one with a fence pass; a fenced READ waits too. */
static void fence_atomic(int code)
{
	struct pair p;
	int next, answer;
	size_t n;

	pair_make(&p, SETUP(.timeout = 15));
	wire_open();
	drop('b', OP_ATOMIC_ACK, 0, 1);
	POST(&p.a, .id = 1, .code = IBV_WR_ATOMIC_FETCH_AND_ADD, .len = 8, .add = 1);
	POST(&p.a, .id = 2, .code = code, .off = PAGE, .len = 8, .flags = IBV_SEND_FENCE);
	EXPECT_ALL(p.a.scq, 1, 2, SUCCESS);
	n = wire_read(seen, MAX_SEEN);
	next = first_of(n, true, code == IBV_WR_RDMA_READ ? OP_READ_REQUEST : OP_WRITE_ONLY);
	answer = first_of(n, false, OP_ATOMIC_ACK);
	CHECK(next >= 0 && answer >= 0);
	CHECK(next > answer);
	pair_free(&p);
}

/* WRITEs and SENDs are not waited for: without the ACK of the WRITE the SEND leaves. */
static void fence_write(int arg)
{
	struct pair p;
	size_t n;

	pair_make(&p, SETUP(.timeout = 0));
	wire_open();
	post_recv(&p.b, 7, 3 * PAGE, PAGE);
	drop('b', OP_ACK, 0, 1);
	POST(&p.a, .id = 1, .len = 10);
	EXPECT_NONE(p.a.scq, 50 * MS);
	POST(&p.a, .id = 2, .code = IBV_WR_SEND, .len = 10, .flags = IBV_SEND_FENCE);
	EXPECT_ALL(p.a.scq, 1, 2, SUCCESS);
	n = wire_select(seen, wire_read(seen, MAX_SEEN), true, OP_ANY);
	CHECK_EQ(n, 2);
	CHECK_EQ(dropped(), 1);
	pair_free(&p);
}

/* ---- READs and atomics outstanding ---- */

/* No more than max_rd_atomic requests without answer. */
static void rd_limit(int limit)
{
	int out = 0, most = 0, i;
	struct pair p;
	size_t n, k;

	pair_make(&p, SETUP(.rd_atomic = limit));
	wire_open();
	for (i = 0; i < 40; i++)
		POST(&p.a, .id = i, .off = 8 * i, .len = 8, .add = 1,
		     .code = i & 1 ? IBV_WR_RDMA_READ : IBV_WR_ATOMIC_FETCH_AND_ADD);
	EXPECT_ALL(p.a.scq, 0, 39, SUCCESS);
	n = wire_read(seen, MAX_SEEN);
	for (k = 0; k < n; k++) {
		if (seen[k].opcode == OP_READ_REQUEST || seen[k].opcode == OP_FETCH_ADD)
			out++;
		else if (seen[k].opcode == OP_READ_RESP_ONLY || seen[k].opcode == OP_ATOMIC_ACK)
			out--;
		if (out > most)
			most = out;
	}
	CHECK_GE(limit, most);
	CHECK_EQ(out, 0);
	pair_free(&p);
}

/* A peer that sends more than there are places for is refused (IBA 9.7.4.1.1). */
static void too_many_reads(int arg)
{
	struct pair p;
	int i;

	pair_make(&p, SETUP(.rd_atomic = 16, .dest_rd_atomic = 0));
	POST(&p.a, .id = 0, .len = 8);
	EXPECT(p.a.scq, 0, SUCCESS);
	POST(&p.a, .id = 1, .code = IBV_WR_RDMA_READ, .len = 8);
	EXPECT(p.a.scq, 1, REM_INV_REQ_ERR);
	EXPECT_EVENT(&p.b, QP_REQ_ERR);
	pair_free(&p);

	/* no READ without a place for it at the requester */
	pair_make(&p, SETUP(.rd_atomic = 0));
	POST(&p.a, .id = 0, .len = 8);
	EXPECT(p.a.scq, 0, SUCCESS);
	POST(&p.a, .id = 1, .code = IBV_WR_RDMA_READ, .len = 8);
	EXPECT(p.a.scq, 1, LOC_QP_OP_ERR);
	for (i = 2; i < 4; i++)
		POST(&p.a, .id = i, .len = 8);
	EXPECT_ALL(p.a.scq, 2, 3, WR_FLUSH_ERR);
	pair_free(&p);
}

/* ---- solicited events ---- */

static void solicited(int code)
{
	struct pair p;
	int i;

	pair_make(&p, SETUP());
	for (i = 0; i < 8; i++)
		post_recv(&p.b, i, i * 100, 100);
	CHECK_OK(ibv_req_notify_cq(p.b.rcq, 1));
	POST(&p.a, .id = 1, .code = code, .len = 50);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK(!comp_event(&p.b, 100 * MS));
	POST(&p.a, .id = 2, .code = code, .len = 50, .flags = IBV_SEND_SOLICITED);
	CHECK(comp_event(&p.b, AT_LAST));
	EXPECT_ALL(p.b.rcq, 0, 1, SUCCESS);
	/* only once for each request */
	POST(&p.a, .id = 3, .code = code, .len = 50, .flags = IBV_SEND_SOLICITED);
	EXPECT(p.b.rcq, 2, SUCCESS);
	CHECK(!comp_event(&p.b, 100 * MS));
	/* any completion when that is asked for */
	CHECK_OK(ibv_req_notify_cq(p.b.rcq, 0));
	POST(&p.a, .id = 4, .code = code, .len = 50);
	CHECK(comp_event(&p.b, AT_LAST));
	EXPECT(p.b.rcq, 3, SUCCESS);
	/* an error is an event too */
	CHECK_OK(ibv_req_notify_cq(p.b.rcq, 1));
	to_state(&p.b, IBV_QPS_ERR);
	CHECK(comp_event(&p.b, AT_LAST));
	EXPECT_ALL(p.b.rcq, 4, 7, WR_FLUSH_ERR);
	pair_free(&p);
}

/* The bit is on the last packet of a message that asked for it, and no other. */
static void solicited_bit(int arg)
{
	struct pair p;
	size_t n, i;

	pair_make(&p, SETUP());
	wire_open();
	post_recv(&p.b, 7, 0, 10000);
	post_recv(&p.b, 8, 0, 10000);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 10000, .flags = IBV_SEND_SOLICITED);
	POST(&p.a, .id = 2, .code = IBV_WR_SEND, .len = 10000);
	EXPECT_ALL(p.a.scq, 1, 2, SUCCESS);
	n = wire_select(seen, wire_read(seen, MAX_SEEN), true, OP_ANY);
	CHECK_EQ(n, 20);
	for (i = 0; i < n; i++)
		CHECK_EQ(seen[i].solicited, i == 9);
	pair_free(&p);
}

/* ---- signalling ---- */

static void selective(int arg)
{
	struct pair p;
	int i;

	pair_make(&p, SETUP(.depth = 16));
	for (i = 0; i < 160; i++) {
		POST(&p.a, .id = i, .len = 100, .roff = i, .unsignaled = i % 8 != 7);
		if (i % 8 == 7)
			EXPECT(p.a.scq, i, SUCCESS);
	}
	EXPECT_NONE(p.a.scq, 10 * MS);
	/* an error is told of all the same */
	POST(&p.a, .id = 200, .len = 1, .unsignaled = true,
	     .remote = &(struct remote){ 0x1000, 0x77 });
	EXPECT(p.a.scq, 200, REM_ACCESS_ERR);
	POST(&p.a, .id = 201, .len = 1, .unsignaled = true);
	EXPECT(p.a.scq, 201, WR_FLUSH_ERR);
	pair_free(&p);
}

static struct ibv_qp_cap caps(const struct end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_OK(ibv_query_qp(e->qp, &attr, IBV_QP_CAP, &init));
	return init.cap;
}

/* The queues hold as much as they say; then posting fails, and works again later. */
static void full_queue(int arg)
{
	uint32_t max, rmax, i;
	struct pair p;

	pair_make(&p, SETUP(.depth = 20, .min_rnr_timer = 20));
	max = caps(&p.a).max_send_wr;
	rmax = caps(&p.b).max_recv_wr;
	CHECK_GE(max, 20);
	CHECK_GE(rmax, 20);
	CHECK(max <= 2 * 20 && rmax <= 2 * 20);
	for (i = 0; i < max; i++)
		POST(&p.a, .id = i, .code = IBV_WR_SEND, .len = 1);
	CHECK_EQ(TRY_POST(&p.a, .id = 99, .code = IBV_WR_SEND, .len = 1), ENOMEM);
	for (i = 0; i < max; i++) {
		post_recv(&p.b, i, 0, 100);
		EXPECT(p.b.rcq, i, SUCCESS);
		EXPECT(p.a.scq, i, SUCCESS);
	}
	for (i = 0; i < rmax; i++)
		post_recv(&p.b, i, 0, 100);
	CHECK_EQ(try_recv(&p.b, 99, NULL, 0), ENOMEM);
	POST(&p.a, .id = 100, .code = IBV_WR_SEND, .len = 1);
	EXPECT(p.a.scq, 100, SUCCESS);
	EXPECT(p.b.rcq, 0, SUCCESS);
	post_recv(&p.b, 98, 0, 100);
	pair_free(&p);
}

static const struct test tests[] = {
	{ "a SEND with fence waits for the READ before it", fence, IBV_SEND_FENCE, true },
	{ "a SEND without fence does not", fence, 0, true },
	{ "a WRITE with fence waits for the atomic before it", fence_atomic, IBV_WR_RDMA_WRITE, true },
	{ "a READ with fence waits for the atomic before it", fence_atomic, IBV_WR_RDMA_READ, true },
	{ "a SEND with fence does not wait for the WRITE before it", fence_write, 0, true },
	{ "max_rd_atomic 1", rd_limit, 1, true },
	{ "max_rd_atomic 3", rd_limit, 3, true },
	{ "max_rd_atomic 16", rd_limit, 16, true },
	{ "READs that have no place are refused", too_many_reads },
	{ "solicited event by a SEND", solicited, IBV_WR_SEND },
	{ "solicited event by a SEND with immediate", solicited, IBV_WR_SEND_WITH_IMM },
	{ "solicited event by a WRITE with immediate", solicited, IBV_WR_RDMA_WRITE_WITH_IMM },
	{ "the solicited bit is on the last packet only", solicited_bit, 0, true },
	{ "selective signalling", selective },
	{ "queues that are full", full_queue },
};

VERBS_MAIN(tests)
