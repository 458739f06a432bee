// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Atomics (IBA 9.4.5) and their replay (9.7.5.1.4): executed once, whatever is lost.
 */
#include <pthread.h>

#include "wire.h"

#define DEEP	16

static volatile uint64_t *word(struct end *e, size_t off)
{
	return (volatile uint64_t *)(e->buf + off);
}

static void wait_word(struct end *e, size_t off, uint64_t value)
{
	uint64_t end = now() + 60 * SEC;

	while (*word(e, off) != value) {
		if (now() > end)
			FAIL("the word is %llu", (unsigned long long)*word(e, off));
		sleep_ns(MS);
	}
}

static void plain(int arg)
{
	struct pair p;

	pair_make(&p, SETUP());
	*word(&p.b, 0) = 41;
	POST(&p.a, .id = 1, .code = IBV_WR_ATOMIC_FETCH_AND_ADD, .off = 64, .len = 8, .add = -2ULL);
	CHECK_EQ(EXPECT(p.a.scq, 1, SUCCESS).opcode, IBV_WC_FETCH_ADD);
	CHECK_EQ(*word(&p.a, 64), 41);
	CHECK_EQ(*word(&p.b, 0), 39);
	POST(&p.a, .id = 2, .code = IBV_WR_ATOMIC_CMP_AND_SWP, .off = 64, .len = 8, .add = 38,
	     .swap = 7);
	CHECK_EQ(EXPECT(p.a.scq, 2, SUCCESS).opcode, IBV_WC_COMP_SWAP);
	CHECK_EQ(*word(&p.a, 64), 39);
	CHECK_EQ(*word(&p.b, 0), 39);
	POST(&p.a, .id = 3, .code = IBV_WR_ATOMIC_CMP_AND_SWP, .off = 64, .len = 8, .add = 39,
	     .swap = 0x123456789abcdef0);
	EXPECT(p.a.scq, 3, SUCCESS);
	CHECK_EQ(*word(&p.a, 64), 39);
	CHECK_EQ(*word(&p.b, 0), 0x123456789abcdef0);
	pair_free(&p);
}

/* Recipe 2; with the memory changed between execution and replay. */
static void lost_answer(int change)
{
	struct seen seen[64];
	uint64_t start;
	struct pair p;
	size_t n;

	pair_make(&p, SETUP(.timeout = change ? 18 : 15));
	*word(&p.b, 8) = 41;
	wire_open();
	drop('b', OP_ATOMIC_ACK, 0, 1);
	start = now();
	POST(&p.a, .id = 1, .code = IBV_WR_ATOMIC_FETCH_AND_ADD, .off = 64, .len = 8, .roff = 8,
	     .add = 1);
	if (change) {
		wait_word(&p.b, 8, 42);
		*word(&p.b, 8) = 1000;
	}
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_GE(now() - start, timeout_ns(p.setup.timeout));
	EXPECT_NONE(p.a.scq, 20 * MS);
	CHECK_EQ(*word(&p.a, 64), 41);
	CHECK_EQ(*word(&p.b, 8), change ? 1000 : 42);
	CHECK_EQ(dropped(), 1);
	n = wire_select(seen, wire_read(seen, ARRAY_SIZE(seen)), true, OP_FETCH_ADD);
	CHECK_GE(n, 2);
	CHECK_EQ(seen[1].psn, seen[0].psn);
	pair_free(&p);
}

/* All that may be outstanding; the answers from @first on are lost, @count of them. */
static void many_lost(unsigned int first, unsigned int lose)
{
	struct pair p;
	int i;

	pair_make(&p, SETUP(.timeout = 15));
	*word(&p.b, 0) = 1000;
	drop('b', OP_ATOMIC_ACK, first, lose);
	for (i = 0; i < DEEP; i++)
		POST(&p.a, .id = i, .code = IBV_WR_ATOMIC_FETCH_AND_ADD, .off = 64 + 8 * i,
		     .len = 8, .add = 3);
	EXPECT_ALL(p.a.scq, 0, DEEP - 1, SUCCESS);
	CHECK_EQ(dropped(), lose);
	for (i = 0; i < DEEP; i++)
		CHECK_EQ(*word(&p.a, 64 + 8 * i), 1000 + 3 * i);
	CHECK_EQ(*word(&p.b, 0), 1000 + 3 * DEEP);
	pair_free(&p);
}

static void deep_first_lost(int arg)
{
	many_lost(0, 1);
}

static void deep_last_lost(int arg)
{
	many_lost(DEEP - 1, 1);
}

static void deep_all_lost(int arg)
{
	many_lost(0, DEEP);
}

static void lost_swap(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.timeout = 15));
	drop('b', OP_ATOMIC_ACK, 0, 2);
	*word(&p.b, 0) = 5;
	POST(&p.a, .id = 1, .code = IBV_WR_ATOMIC_CMP_AND_SWP, .off = 64, .len = 8, .add = 5,
	     .swap = 6);
	POST(&p.a, .id = 2, .code = IBV_WR_ATOMIC_CMP_AND_SWP, .off = 72, .len = 8, .add = 6,
	     .swap = 5);
	EXPECT_ALL(p.a.scq, 1, 2, SUCCESS);
	CHECK_EQ(dropped(), 2);
	CHECK_EQ(*word(&p.a, 64), 5);
	CHECK_EQ(*word(&p.a, 72), 6);
	CHECK_EQ(*word(&p.b, 0), 5);
	pair_free(&p);
}

static void misaligned(int off)
{
	struct pair p;

	pair_make(&p, SETUP());
	memset(p.b.buf, 0x11, 64);
	POST(&p.a, .id = 1, .code = IBV_WR_ATOMIC_FETCH_AND_ADD, .off = 64, .len = 8, .roff = off,
	     .add = 1);
	POST(&p.a, .id = 2, .len = 8);
	EXPECT(p.a.scq, 1, REM_INV_REQ_ERR);
	EXPECT(p.a.scq, 2, WR_FLUSH_ERR);
	CHECK_BYTE(p.b.buf, 64, 0x11);
	EXPECT_EVENT(&p.b, QP_REQ_ERR);
	WAIT_STATE(&p.b, IBV_QPS_ERR);
	pair_free(&p);
}

static void no_access(int qp)
{
	struct pair p;

	if (qp)
		pair_make(&p, SETUP(.qp_access = ACCESS_ALL & ~IBV_ACCESS_REMOTE_ATOMIC));
	else
		pair_make(&p, SETUP(.mr_access = ACCESS_ALL & ~IBV_ACCESS_REMOTE_ATOMIC));
	*word(&p.b, 0) = 41;
	POST(&p.a, .id = 1, .code = IBV_WR_ATOMIC_FETCH_AND_ADD, .off = 64, .len = 8, .add = 1);
	if (qp) {
		EXPECT(p.a.scq, 1, REM_INV_REQ_ERR);
		EXPECT_EVENT(&p.b, QP_REQ_ERR);
	} else {
		EXPECT(p.a.scq, 1, REM_ACCESS_ERR);
		EXPECT_EVENT(&p.b, QP_ACCESS_ERR);
	}
	CHECK_EQ(*word(&p.b, 0), 41);
	CHECK_EQ(*word(&p.a, 64), 0);
	pair_free(&p);
}

/* The answer is 8 bytes; posting room for more or less is an error, with nothing sent. */
static void wrong_length(int len)
{
	struct pair p;

	pair_make(&p, SETUP());
	if (!TRY_POST(&p.a, .id = 1, .code = IBV_WR_ATOMIC_FETCH_AND_ADD, .off = 64, .len = len,
		      .add = 1))
		EXPECT(p.a.scq, 1, LOC_LEN_ERR);
	CHECK_EQ(*word(&p.b, 0), 0);
	pair_free(&p);
}

static void atomic_write(struct end *e, uint64_t id, size_t off, uint64_t value)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(e->qp);

	ibv_wr_start(qpx);
	qpx->wr_id = id;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qpx, e->peer->mr->rkey, (uintptr_t)e->peer->buf + off, &value);
	CHECK_OK(ibv_wr_complete(qpx));
}

/* Its answer is an empty READ response. */
static void write_once(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.timeout = 18, .ex_ops = IBV_QP_EX_WITH_ATOMIC_WRITE));
	drop('b', OP_READ_RESP_ONLY, 0, 1);
	atomic_write(&p.a, 1, 16, 0x1122334455667788);
	wait_word(&p.b, 16, 0x1122334455667788);
	*word(&p.b, 16) = 9;
	CHECK_EQ(EXPECT(p.a.scq, 1, SUCCESS).opcode, IBV_WC_ATOMIC_WRITE);
	CHECK_EQ(dropped(), 1);
	CHECK_EQ(*word(&p.b, 16), 9);
	atomic_write(&p.a, 2, 20, 1);
	EXPECT(p.a.scq, 2, REM_INV_REQ_ERR);
	pair_free(&p);
}

/* Adding by the CPU and by two QPs at the same time. */

struct adder {
	struct pair p;
	int n;
};

static void *add_remotely(void *arg)
{
	struct adder *adder = arg;
	int i;

	for (i = 0; i < adder->n; i++) {
		POST(&adder->p.a, .id = i, .code = IBV_WR_ATOMIC_FETCH_AND_ADD, .off = 64,
		     .len = 8, .add = 1);
		if (i >= 8)
			EXPECT(adder->p.a.scq, i - 8, SUCCESS);
	}
	EXPECT_ALL(adder->p.a.scq, adder->n - 8, adder->n - 1, SUCCESS);
	return NULL;
}

static void concurrent(int arg)
{
	struct adder adders[2];
	pthread_t threads[2];
	uint64_t *target;
	int n = quick ? 100 : 1000, i;

	for (i = 0; i < 2; i++) {
		pair_make(&adders[i].p, SETUP());
		adders[i].n = n;
	}
	/* both to the memory of the first */
	adders[1].p.b.buf = adders[0].p.b.buf;
	ibv_dereg_mr(adders[1].p.b.mr);
	adders[1].p.b.mr = reg(&node_b, adders[0].p.b.buf, PAGE, ACCESS_ALL);
	target = (uint64_t *)adders[0].p.b.buf;
	for (i = 0; i < 2; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, add_remotely, &adders[i]));
	for (i = 0; i < n; i++) {
		__atomic_fetch_add(target, 1, __ATOMIC_SEQ_CST);
		sleep_ns(10 * US);
	}
	for (i = 0; i < 2; i++)
		CHECK_OK(pthread_join(threads[i], NULL));
	CHECK_EQ(*target, 3 * n);
}

static const struct test tests[] = {
	{ "FETCH_ADD and COMPARE_SWAP", plain },
	{ "lost answer: the saved value comes, the word was changed once", lost_answer, 0, true },
	{ "lost answer, memory changed before the replay", lost_answer, 1, true },
	{ "16 outstanding, first answer lost", deep_first_lost, 0, true },
	{ "16 outstanding, last answer lost", deep_last_lost, 0, true },
	{ "16 outstanding, all answers lost", deep_all_lost, 0, true },
	{ "COMPARE_SWAP, two answers lost", lost_swap, 0, true },
	{ "misaligned by 4: REM_INV_REQ_ERR, nothing changed", misaligned, 4 },
	{ "misaligned by 1: REM_INV_REQ_ERR, nothing changed", misaligned, 1 },
	{ "region without REMOTE_ATOMIC: REM_ACCESS_ERR", no_access, 0 },
	{ "QP without REMOTE_ATOMIC: REM_INV_REQ_ERR", no_access, 1 },
	{ "room of 4 bytes for the answer", wrong_length, 4 },
	{ "room of 16 bytes for the answer", wrong_length, 16 },
	{ "ATOMIC_WRITE, lost answer: written once", write_once, 0, true },
	{ "atomic with the CPU and between QPs", concurrent },
};

VERBS_MAIN(tests)
