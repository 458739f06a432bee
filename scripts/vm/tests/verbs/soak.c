// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Data integrity while the network is bad (that is the script's affair): many QPs,
 * mixed operations, each byte and each completion checked. SOAK_SECONDS says how
 * long (20; quick: 6), SOAK_TIMEOUT is the local ACK timeout (14), SOAK_STARTED a
 * file to make when all are connected.
 */
#include <fcntl.h>

#include "wire.h"

#define QPS		64		/* or SOAK_QPS */
#define DEPTH		16
#define SLOT		(32 * 1024)
#define RECVS		(2 * DEPTH)

/* One work request. Its slot is its number modulo DEPTH, at both ends. */
struct work {
	enum ibv_wr_opcode code;
	uint32_t len;
	uint32_t seed;
	uint64_t orig;		/* FETCH_ADD: what it must find */
	bool sent, received;	/* complete at a; at b, or nothing to be there */
};

struct stream {
	struct pair p;
	struct work work[DEPTH];
	uint64_t posted, done, completed;
	uint64_t recvs_posted, recvs_done;
	uint64_t recv_work[RECVS];	/* which work each receive is for */
	uint64_t recvs_due;		/* works that take a receive, posted */
	uint64_t counter;		/* what FETCH_ADD made of the word at b */
	uint64_t last_ns;
};

static struct stream *streams;
static size_t qps;
static uint64_t ops, bytes, longest_ns;
static uint32_t state;

static uint32_t draw(uint32_t below)
{
	state = state * 1664525 + 1013904223;
	return (uint64_t)(state >> 8) * below >> 24;
}

/* The own buffer: slots, then the result of atomics. The peer's: slots, receives, a word. */
static size_t slot_of(uint64_t n)
{
	return n % DEPTH * SLOT;
}

static size_t recv_of(uint64_t n)
{
	return DEPTH * SLOT + n % RECVS * SLOT;
}

#define WORD	((size_t)(DEPTH + RECVS) * SLOT)
#define BYTES	(WORD + PAGE)

static void post_recvs(struct stream *s)
{
	while (s->recvs_posted - s->recvs_done < RECVS) {
		post_recv(&s->p.b, s->recvs_posted, recv_of(s->recvs_posted), SLOT);
		s->recvs_posted++;
	}
}

static uint32_t draw_len(void)
{
	switch (draw(4)) {
	case 0:
		return draw(64);
	case 1:
		return 1 + draw(SLOT);
	default:
		return 1 + draw(4096);
	}
}

static void post_one(struct stream *s)
{
	static const enum ibv_wr_opcode codes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_RDMA_READ,
		IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	uint64_t n = s->posted++;
	struct work *w = &s->work[n % DEPTH];
	size_t at = slot_of(n);

	*w = (struct work){ .code = codes[draw(ARRAY_SIZE(codes))], .len = draw_len(),
			    .seed = draw(1 << 24), .received = true };
	if (w->code == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		w->len = 8;
		w->orig = s->counter;
		s->counter += w->seed;
		POST(&s->p.a, .id = n, .code = w->code, .off = at, .len = 8, .roff = WORD,
		     .add = w->seed);
		return;
	}
	if (w->code == IBV_WR_RDMA_READ)
		fill(s->p.b.buf + at, w->len, w->seed);
	else
		fill(s->p.a.buf + at, w->len, w->seed);
	if (w->code == IBV_WR_SEND || w->code == IBV_WR_RDMA_WRITE_WITH_IMM) {
		w->received = false;
		s->recv_work[s->recvs_due++ % RECVS] = n;
	}
	POST(&s->p.a, .id = n, .code = w->code, .off = at, .len = w->len, .roff = at,
	     .imm = w->seed);
}

static void on_send(struct stream *s, const struct ibv_wc *wc)
{
	struct work *w = &s->work[wc->wr_id % DEPTH];
	uint64_t t = now(), orig;

	CHECK_EQ(wc->status, IBV_WC_SUCCESS);
	CHECK_EQ(wc->wr_id, s->completed);
	s->completed++;
	CHECK(!w->sent);
	w->sent = true;
	if (w->code == IBV_WR_RDMA_READ) {
		CHECK_FILL(s->p.a.buf + slot_of(wc->wr_id), w->len, w->seed);
	} else if (w->code == IBV_WR_RDMA_WRITE) {
		CHECK_FILL(s->p.b.buf + slot_of(wc->wr_id), w->len, w->seed);
	} else if (w->code == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		memcpy(&orig, s->p.a.buf + slot_of(wc->wr_id), sizeof(orig));
		CHECK_EQ(orig, w->orig);
	}
	ops++;
	bytes += w->len;
	if (t - s->last_ns > longest_ns)
		longest_ns = t - s->last_ns;
	s->last_ns = t;
}

static void on_recv(struct stream *s, const struct ibv_wc *wc)
{
	uint64_t n = s->recv_work[s->recvs_done % RECVS];
	struct work *w = &s->work[n % DEPTH];

	CHECK_EQ(wc->status, IBV_WC_SUCCESS);
	CHECK_EQ(wc->wr_id, s->recvs_done);
	CHECK(s->recvs_done < s->recvs_due);
	CHECK(!w->received);
	CHECK_EQ(wc->byte_len, w->len);
	if (w->code == IBV_WR_SEND) {
		CHECK_FILL(s->p.b.buf + recv_of(wc->wr_id), w->len, w->seed);
	} else {
		CHECK_EQ(ntohl(wc->imm_data), w->seed);
		CHECK_FILL(s->p.b.buf + slot_of(n), w->len, w->seed);
	}
	w->received = true;
	s->recvs_done++;
}

/* What has completed. Returns how much. */
static int poll(struct stream *s)
{
	struct ibv_wc wc[8];
	int n, i, sum = 0;

	n = ibv_poll_cq(s->p.b.rcq, ARRAY_SIZE(wc), wc);
	CHECK_GE(n, 0);
	for (i = 0; i < n; i++)
		on_recv(s, &wc[i]);
	sum += n;
	n = ibv_poll_cq(s->p.a.scq, ARRAY_SIZE(wc), wc);
	CHECK_GE(n, 0);
	for (i = 0; i < n; i++)
		on_send(s, &wc[i]);
	while (s->done != s->posted && s->work[s->done % DEPTH].sent &&
	       s->work[s->done % DEPTH].received)
		s->done++;
	return sum + n;
}

/* Post until @end, then wait for the rest. */
static void run(uint64_t end)
{
	uint64_t moved = now(), t;
	bool left = true;
	size_t i;

	while (left) {
		t = now();
		left = t < end;
		for (i = 0; i < qps; i++) {
			struct stream *s = &streams[i];

			if (poll(s))
				moved = t;
			if (t < end && s->posted - s->done < DEPTH) {
				/* those that wait for nothing are no stall */
				if (s->posted == s->done)
					s->last_ns = t;
				post_recvs(s);
				post_one(s);
			}
			left |= s->posted != s->done;
		}
		if (t - moved > 60 * SEC)
			FAIL("nothing completes any more");
	}
}

static void soak(int ece)
{
	const char *seconds = getenv("SOAK_SECONDS"), *timeout = getenv("SOAK_TIMEOUT");
	const char *started = getenv("SOAK_STARTED"), *n = getenv("SOAK_QPS");
	uint64_t time = seconds ? strtoull(seconds, NULL, 0) : quick ? 6 : 20;
	uint64_t word;
	size_t i;

	qps = n ? strtoul(n, NULL, 0) : QPS;
	state = 1;
	streams = map_pages(qps * sizeof(*streams));
	for (i = 0; i < qps; i++)
		pair_make(&streams[i].p, SETUP(.depth = 2 * RECVS, .bytes = BYTES,
					       .timeout = timeout ? atoi(timeout) : 14,
					       .psn_a = PSN_MASK - 10 * i, .ece = ece));
	if (started)
		CHECK(!close(open(started, O_CREAT | O_WRONLY, 0644)));
	run(now() + time * SEC);
	for (i = 0; i < qps; i++) {
		struct stream *s = &streams[i];

		memcpy(&word, s->p.b.buf + WORD, sizeof(word));
		CHECK_EQ(word, s->counter);
		CHECK_EQ(s->recvs_done, s->recvs_due);
		EXPECT_NONE(s->p.a.scq, i ? 0 : 100 * MS);
		EXPECT_NONE(s->p.b.rcq, 0);
	}
	CHECK_GE(ops, qps);
	note("%llu operations, %llu MB, longest wait of a QP %llu ms", (unsigned long long)ops,
	     (unsigned long long)bytes / 1000000, (unsigned long long)(longest_ns / MS));
}

static const struct test tests[] = {
	{ "mixed operations on many QPs, each byte checked", soak, false },
	{ "the same, selective retransmission", soak, true },
};

VERBS_MAIN(tests)
