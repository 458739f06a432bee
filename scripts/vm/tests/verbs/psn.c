// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Loss at chosen places of a WRITE, a READ, a WRITE and a SEND, with PSNs that
 * wrap in one of them. Data is intact, completions come in posting order, and a
 * READ goes on at the first response that is missing (IBA 9.7.5.2, 9.7.7.2).
 */
#include "wire.h"

#define MTU		1024
#define WRITE1		40
#define READ		41
#define WRITE2		42
#define SENT		3000
#define MAX_SEEN	4096

/* In units of MTU; the same in the buffers of both ends. */
#define AT_WRITE1	0
#define AT_READ		(AT_WRITE1 + WRITE1)
#define AT_WRITE2	(AT_READ + READ)
#define AT_SEND		(AT_WRITE2 + WRITE2)
#define BUFFER		((AT_SEND + 4) * MTU)

static struct seen seen[MAX_SEEN];

/* First PSNs of the four, from that of the first WRITE. */
#define PSN_READ(psn)	(((psn) + WRITE1) & PSN_MASK)
#define PSN_WRITE2(psn)	(((psn) + WRITE1 + READ) & PSN_MASK)
#define PSN_SEND(psn)	(((psn) + WRITE1 + READ + WRITE2) & PSN_MASK)

static void start(struct pair *p, uint32_t psn, uint8_t timeout)
{
	pair_make(p, SETUP(.psn_a = psn, .psn_b = psn, .timeout = timeout, .bytes = BUFFER));
	fill(p->a.buf + AT_WRITE1 * MTU, WRITE1 * MTU, 1);
	fill(p->b.buf + AT_READ * MTU, READ * MTU, 2);
	fill(p->a.buf + AT_WRITE2 * MTU, WRITE2 * MTU, 3);
	fill(p->a.buf + AT_SEND * MTU, SENT, 4);
	wire_open();
}

static void post_all(struct pair *p)
{
	post_recv(&p->b, 9, AT_SEND * MTU, SENT);
	POST(&p->a, .id = 1, .off = AT_WRITE1 * MTU, .len = WRITE1 * MTU, .roff = AT_WRITE1 * MTU);
	POST(&p->a, .id = 2, .code = IBV_WR_RDMA_READ, .off = AT_READ * MTU, .len = READ * MTU,
	     .roff = AT_READ * MTU);
	POST(&p->a, .id = 3, .off = AT_WRITE2 * MTU, .len = WRITE2 * MTU, .roff = AT_WRITE2 * MTU);
	POST(&p->a, .id = 4, .code = IBV_WR_SEND, .off = AT_SEND * MTU, .len = SENT);
}

static void check_all(struct pair *p)
{
	EXPECT_ALL(p->a.scq, 1, 4, SUCCESS);
	EXPECT(p->b.rcq, 9, SUCCESS);
	EXPECT_NONE(p->a.scq, 10 * MS);
	EXPECT_NONE(p->b.rcq, 10 * MS);
	CHECK_FILL(p->b.buf + AT_WRITE1 * MTU, WRITE1 * MTU, 1);
	CHECK_FILL(p->a.buf + AT_READ * MTU, READ * MTU, 2);
	CHECK_FILL(p->b.buf + AT_WRITE2 * MTU, WRITE2 * MTU, 3);
	CHECK_FILL(p->b.buf + AT_SEND * MTU, SENT, 4);
	CHECK_EQ(state_of(&p->a), IBV_QPS_RTS);
	CHECK_EQ(state_of(&p->b), IBV_QPS_RTS);
}

/* The second READ request on the wire asks from this PSN on. */
static void check_resumed(size_t n, uint32_t psn)
{
	n = wire_select(seen, n, true, OP_READ_REQUEST);
	CHECK_GE(n, 2);
	CHECK_EQ(seen[1].psn, psn);
}

/* Where the PSN wraps: in the first WRITE, in the READ, in the second WRITE, before the SEND. */
static const uint32_t starts[] = {
	0xfffff0, 0xffffff - WRITE1 - 20, 0xffffff - WRITE1 - READ - 20,
	0x1000000 - WRITE1 - READ - WRITE2,
};

struct loss {
	char host;
	int opcode;
	unsigned int first, count;
	int resumed;		/* response at which the READ goes on; -1: not looked at */
};

/* The loss is repaired by a NAK or an implied one, so the timeout is long. */
static void lose(const struct loss *l)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		uint32_t psn = starts[i];
		struct pair p;

		if (quick && i > 1)
			break;
		start(&p, psn, 21);
		drop(l->host, l->opcode, l->first, l->count);
		post_all(&p);
		check_all(&p);
		CHECK_EQ(dropped(), l->count);
		drop_end();
		if (l->resumed >= 0)
			check_resumed(wire_read(seen, MAX_SEEN),
				      (PSN_READ(psn) + l->resumed) & PSN_MASK);
		pair_free(&p);
	}
}

static const struct loss losses[] = {
	{ 'a', OP_READ_REQUEST, 0, 1, 0 },
	{ 'b', OP_READ_RESP_FIRST, 0, 1, 0 },
	{ 'b', OP_READ_RESP_MIDDLE, 18, 1, 19 },
	{ 'b', OP_READ_RESP_LAST, 0, 1, READ - 1 },
	{ 'b', OP_READ_RESP_MIDDLE, 5, 20, 6 },
	{ 'b', OP_ACK, 0, 1, -1 },
	{ 'b', OP_ACK, 0, 3, -1 },
	{ 'a', OP_WRITE_FIRST, 0, 1, -1 },
	{ 'a', OP_WRITE_MIDDLE, 14, 1, -1 },
	{ 'a', OP_WRITE_MIDDLE, WRITE1 - 2 + 20, 3, -1 },
	{ 'a', OP_WRITE_LAST, 0, 1, -1 },
	{ 'a', OP_SEND_FIRST, 0, 1, -1 },
};

static void lose_nr(int nr)
{
	lose(&losses[nr]);
}

/* The last packet of all, or its ACK: only the timer helps. */
static void lose_last(int acks)
{
	uint32_t psn = 0x1000000 - WRITE1 - READ - WRITE2 - 3;
	uint64_t before;
	struct pair p;

	start(&p, psn, 15);
	if (acks)
		drop_psn('b', OP_ACK, 0xffffff, acks);
	else
		drop_psn('a', OP_ANY, 0xffffff, 1);
	before = now();
	post_all(&p);
	check_all(&p);
	CHECK_GE(now() - before, timeout_ns(15) * (acks ? acks : 1));
	CHECK_EQ(dropped(), acks ? acks : 1);
	pair_free(&p);
}

/* A request lost several times is sent again by the timer only, and never before it. */
static void lost_request(int times)
{
	uint64_t before;
	struct pair p;
	size_t n, i;

	start(&p, 0xfffff0, 15);
	drop('a', OP_READ_REQUEST, 0, times);
	before = now();
	POST(&p.a, .id = 2, .code = IBV_WR_RDMA_READ, .off = AT_READ * MTU, .len = READ * MTU,
	     .roff = AT_READ * MTU);
	EXPECT(p.a.scq, 2, SUCCESS);
	CHECK_GE(now() - before, times * timeout_ns(15));
	CHECK_EQ(dropped(), times);
	CHECK_FILL(p.a.buf + AT_READ * MTU, READ * MTU, 2);
	n = wire_select(seen, wire_read(seen, MAX_SEEN), true, OP_READ_REQUEST);
	CHECK_GE(n, times + 1);
	for (i = 0; i < n; i++)
		CHECK_EQ(seen[i].psn, 0xfffff0);
	pair_free(&p);
}

/* Without a timer: a gap is found by what comes behind it. */
static void no_timer(int nr)
{
	const struct loss *l = &losses[nr];
	struct pair p;

	start(&p, 0xfffff0, 0);
	drop(l->host, l->opcode, l->first, l->count);
	post_all(&p);
	check_all(&p);
	CHECK_EQ(dropped(), l->count);
	pair_free(&p);
}

/* Without a timer and with nothing behind it, a lost packet waits. */
static void no_timer_last(int arg)
{
	struct pair p;

	start(&p, 0xffffff, 0);
	drop('a', OP_WRITE_ONLY, 0, 1);
	POST(&p.a, .id = 1, .len = 100);
	EXPECT_NONE(p.a.scq, 500 * MS);
	POST(&p.a, .id = 2, .len = 100, .roff = 100);
	EXPECT_ALL(p.a.scq, 1, 2, SUCCESS);
	CHECK_FILL(p.b.buf, 100, 1);
	CHECK_FILL(p.b.buf + 100, 100, 1);
	pair_free(&p);
}

/*
 * The ACK of the first is lost, and the timeout is two hours away: what is posted
 * then leaves all the same, and its ACK covers both.
 */
static void late_answer(int timeout)
{
	struct pair p;
	int i;

	start(&p, 0xffffff, timeout);
	drop('b', OP_ACK, 0, 1);
	POST(&p.a, .id = 1, .len = 100);
	EXPECT_NONE(p.a.scq, 50 * MS);
	CHECK_EQ(dropped(), 1);
	drop('b', OP_ACK, 0, 3);
	for (i = 0; i < 3; i++) {
		POST(&p.a, .id = 2 + i, .len = 100, .roff = 100 * i);
		EXPECT_NONE(p.a.scq, 50 * MS);
	}
	CHECK_EQ(dropped(), 4);
	POST(&p.a, .id = 5, .len = 100);
	EXPECT_ALL(p.a.scq, 1, 5, SUCCESS);
	pair_free(&p);
}

/* Losses in both directions, many messages, several QPs. */
#define QPS	4

static enum ibv_wr_opcode nth_code(int i)
{
	if (i & 1)
		return IBV_WR_RDMA_READ;
	return i % 3 == 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE;
}

static void lossy(int arg)
{
	int messages = quick ? 12 : 60, q, i, n, host;
	struct pair p[QPS];

	for (q = 0; q < QPS; q++)
		pair_make(&p[q], SETUP(.timeout = 14, .depth = 128, .bytes = 128 * PAGE,
				       .psn_a = 0xffff00, .psn_b = 0xfffff8));
	for (n = 0; n < (quick ? 6 : 24); n++)
		for (host = 'a'; host <= 'b'; host++)
			drop(host, OP_ANY, 5 + 31 * n, 2);
	for (i = 0; i < messages; i++) {
		for (q = 0; q < QPS; q++) {
			struct end *from = i & 1 ? &p[q].b : &p[q].a;
			size_t at = i * PAGE;

			fill(from->buf + at, PAGE, i + q);
			if (nth_code(i) == IBV_WR_SEND)
				post_recv(&p[q].b, i, at, PAGE);
			POST(&p[q].a, .id = i, .code = nth_code(i), .off = at, .roff = at,
			     .len = PAGE - i);
		}
	}
	for (q = 0; q < QPS; q++) {
		EXPECT_ALL(p[q].a.scq, 0, messages - 1, SUCCESS);
		for (i = 0; i < messages; i++)
			CHECK_FILL((i & 1 ? p[q].a : p[q].b).buf + i * PAGE, PAGE - i, i + q);
	}
	CHECK_GE(dropped(), 1);
	drop_end();
	for (q = 0; q < QPS; q++)
		pair_free(&p[q]);
}

static const struct test tests[] = {
	{ "lost: READ request", lose_nr, 0, true },
	{ "lost: first READ response", lose_nr, 1, true },
	{ "lost: a READ response in the middle", lose_nr, 2, true },
	{ "lost: last READ response", lose_nr, 3, true },
	{ "lost: 20 READ responses", lose_nr, 4, true },
	{ "lost: first ACK", lose_nr, 5, true },
	{ "lost: first three ACKs", lose_nr, 6, true },
	{ "lost: first packet of a WRITE", lose_nr, 7, true },
	{ "lost: a packet in the middle of a WRITE", lose_nr, 8, true },
	{ "lost: three packets of the second WRITE", lose_nr, 9, true },
	{ "lost: last packet of a WRITE", lose_nr, 10, true },
	{ "lost: first packet of the SEND", lose_nr, 11, true },
	{ "lost: the last packet, of PSN 0xffffff", lose_last, 0, true },
	{ "lost: the ACK of PSN 0xffffff, once", lose_last, 1, true },
	{ "lost: the ACK of PSN 0xffffff, three times", lose_last, 3, true },
	{ "a READ request lost once", lost_request, 1, true },
	{ "a READ request lost four times: no retry before the timeout", lost_request, 4, true },
	{ "no timeout, lost: READ request", no_timer, 0, true },
	{ "no timeout, lost: a READ response in the middle", no_timer, 2, true },
	{ "no timeout, lost: last READ response", no_timer, 3, true },
	{ "no timeout, lost: a packet in the middle of a WRITE", no_timer, 8, true },
	{ "no timeout, nothing behind: it waits until something comes", no_timer_last, 0, true },
	{ "no timeout, lost ACK: what is posted later leaves", late_answer, 0, true },
	{ "timeout 31, lost ACK: what is posted later leaves", late_answer, 31, true },
	{ "loss all over, four QPs", lossy, 0, true },
};

VERBS_MAIN(tests)
