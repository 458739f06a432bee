// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receiver not ready (IBA 9.7.5.2.8): nothing leaves before the timer ends, the
 * retries are counted, and 7 is for ever.
 */
#include "wire.h"

#define MAX_SEEN	4096

static struct seen seen[MAX_SEEN];

/* IBA table 45, in us. */
static const uint32_t timer_us[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920,
	2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920, 122880,
	163840, 245760, 327680, 491520,
};

/* The transmissions of one PSN are apart by the timer at least. */
static void check_gaps(size_t n, uint64_t gap)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (seen[i].ns - seen[i - 1].ns < gap)
			FAIL("transmission %zu after %llu us, before the timer of %llu us", i,
			     (unsigned long long)(seen[i].ns - seen[i - 1].ns) / 1000,
			     (unsigned long long)gap / 1000);
}

/* Recipe a: 1 + rnr_retry transmissions, then the error and a flush. */
static void count(int retries)
{
	struct pair p;
	size_t n, i;

	pair_make(&p, SETUP(.min_rnr_timer = 20, .rnr_retry = retries));
	wire_open();
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 100);
	EXPECT(p.a.scq, 1, RNR_RETRY_EXC_ERR);
	POST(&p.a, .id = 2, .code = IBV_WR_SEND, .len = 100);
	POST(&p.a, .id = 3, .len = 100);
	EXPECT_ALL(p.a.scq, 2, 3, WR_FLUSH_ERR);
	CHECK_EQ(state_of(&p.a), IBV_QPS_ERR);
	CHECK_EQ(state_of(&p.b), IBV_QPS_RTS);
	n = wire_select(seen, wire_read(seen, MAX_SEEN), true, OP_ANY);
	CHECK_EQ(n, 1 + retries);
	for (i = 0; i < n; i++)
		CHECK_EQ(seen[i].psn, p.setup.psn_a);
	check_gaps(n, timer_us[20] * US);
	pair_free(&p);
}

/* Those behind the SEND are flushed when they were posted before the error too. */
static void flush_behind(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.min_rnr_timer = 24, .rnr_retry = 2));
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 100);
	POST(&p.a, .id = 2, .len = 100);
	POST(&p.a, .id = 3, .code = IBV_WR_RDMA_READ, .len = 100);
	POST(&p.a, .id = 4, .code = IBV_WR_SEND, .len = 100);
	EXPECT(p.a.scq, 1, RNR_RETRY_EXC_ERR);
	EXPECT_ALL(p.a.scq, 2, 4, WR_FLUSH_ERR);
	pair_free(&p);
}

static void one_code(int code)
{
	struct pair p;
	uint64_t start;
	size_t n;

	pair_make(&p, SETUP(.min_rnr_timer = code, .rnr_retry = 1));
	wire_open();
	start = now();
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 4);
	EXPECT(p.a.scq, 1, RNR_RETRY_EXC_ERR);
	CHECK_GE(now() - start, timer_us[code] * US);
	n = wire_select(seen, wire_read(seen, MAX_SEEN), true, OP_SEND_ONLY);
	CHECK_EQ(n, 2);
	check_gaps(n, timer_us[code] * US);
	if (code == 25)
		note("code 25: %.3f ms between transmissions", (seen[1].ns - seen[0].ns) / 1e6);
	pair_free(&p);
}

static void all_codes(int arg)
{
	int code;

	for (code = 0; code < 32; code++)
		if (!quick || code % 4 == 0)
			one_code(code);
}

/* The NAK carries the code of the QP that has no receive. */
static void nak_code(int code)
{
	struct pair p;
	size_t n;

	pair_make(&p, SETUP(.min_rnr_timer = code, .rnr_retry = 0));
	wire_open();
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 4);
	EXPECT(p.a.scq, 1, RNR_RETRY_EXC_ERR);
	n = wire_select(seen, wire_read(seen, MAX_SEEN), false, OP_ACK);
	CHECK_EQ(n, 1);
	CHECK_EQ(seen[0].syndrome, 0x20 | code);
	pair_free(&p);
}

/* Recipe b */
static void forever(int arg)
{
	struct pair p;
	size_t n;

	pair_make(&p, SETUP(.min_rnr_timer = 20, .rnr_retry = 7));
	wire_open();
	fill(p.a.buf, 300, 1);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 300);
	EXPECT_NONE(p.a.scq, quick ? 2 * SEC : 10 * SEC);
	n = wire_select(seen, wire_read(seen, MAX_SEEN), true, OP_SEND_ONLY);
	CHECK_GE(n, 10);
	check_gaps(n, timer_us[20] * US);
	post_recv(&p.b, 7, 0, 300);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_EQ(EXPECT(p.b.rcq, 7, SUCCESS).byte_len, 300);
	CHECK_FILL(p.b.buf, 300, 1);
	pair_free(&p);
}

/* Recipe c: WRITEs are posted behind the SEND all the while. */
static void nothing_before_the_timer(int arg)
{
	size_t n, i, last = 0;
	uint64_t end;
	struct pair p;
	int id = 2;

	pair_make(&p, SETUP(.min_rnr_timer = 29, .depth = 512));
	wire_open();
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 100);
	for (end = now() + 600 * MS; now() < end && id < 300; sleep_ns(2 * MS))
		POST(&p.a, .id = id++, .len = 2000);
	post_recv(&p.b, 7, 0, 300);
	EXPECT_ALL(p.a.scq, 1, id - 1, SUCCESS);
	n = wire_read(seen, MAX_SEEN);
	for (i = 0; i < n; i++) {
		if (!seen[i].from_a && seen[i].opcode == OP_ACK && (seen[i].syndrome & 0x60) == 0x20)
			last = i;
		else if (last && seen[i].from_a &&
			 seen[i].ns - seen[last].ns < timer_us[29] * US)
			FAIL("PSN %u left %llu us after the NAK", seen[i].psn,
			     (unsigned long long)(seen[i].ns - seen[last].ns) / 1000);
	}
	CHECK(last);
	pair_free(&p);
}

/* A SEND of several packets: only the first of them need be sent to be refused. */
static void long_send(int arg)
{
	struct pair p;

	pair_make(&p, SETUP(.min_rnr_timer = 16, .bytes = 32 * PAGE));
	fill(p.a.buf, 100000, 3);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 100000);
	POST(&p.a, .id = 2, .code = IBV_WR_SEND_WITH_IMM, .len = 5000, .imm = 77);
	EXPECT_NONE(p.a.scq, 100 * MS);
	CHECK_BYTE(p.b.buf, p.b.bytes, 0);
	post_recv(&p.b, 7, 0, 100000);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_EQ(EXPECT(p.b.rcq, 7, SUCCESS).byte_len, 100000);
	CHECK_FILL(p.b.buf, 100000, 3);
	EXPECT_NONE(p.a.scq, 100 * MS);
	post_recv(&p.b, 8, 0, 100000);
	EXPECT(p.a.scq, 2, SUCCESS);
	CHECK_EQ(ntohl(EXPECT(p.b.rcq, 8, SUCCESS).imm_data), 77);
	CHECK_FILL(p.b.buf, 5000, 3);
	pair_free(&p);
}

/* A WRITE with immediate needs a receive at its last packet. */
static void write_imm(int len)
{
	struct ibv_wc wc;
	struct pair p;

	pair_make(&p, SETUP(.min_rnr_timer = 16));
	fill(p.a.buf, len, 3);
	POST(&p.a, .id = 1, .code = IBV_WR_RDMA_WRITE_WITH_IMM, .len = len, .imm = 99);
	EXPECT_NONE(p.a.scq, 100 * MS);
	post_recv(&p.b, 7, 0, 0);
	EXPECT(p.a.scq, 1, SUCCESS);
	wc = EXPECT(p.b.rcq, 7, SUCCESS);
	CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(ntohl(wc.imm_data), 99);
	CHECK_EQ(wc.byte_len, len);
	CHECK_FILL(p.b.buf, len, 3);
	pair_free(&p);
}

/* A receiver that posts slowly gets each message once and in order. */
static void slow_receiver(int arg)
{
	int total = quick ? 40 : 300, i;
	struct pair p;

	pair_make(&p, SETUP(.min_rnr_timer = 14, .depth = 512, .bytes = 512 * PAGE));
	for (i = 0; i < total; i++) {
		fill(p.a.buf + i * PAGE, 1500, i);
		POST(&p.a, .id = i, .off = i * PAGE, .len = 1500,
		     .code = i % 3 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, .imm = i);
	}
	for (i = 0; i < total; i++) {
		post_recv(&p.b, i, i * PAGE, PAGE);
		if (i % 8 == 7)
			sleep_ns(5 * MS);
	}
	EXPECT_ALL(p.a.scq, 0, total - 1, SUCCESS);
	for (i = 0; i < total; i++) {
		struct ibv_wc wc = EXPECT(p.b.rcq, i, SUCCESS);

		CHECK_EQ(wc.byte_len, 1500);
		CHECK_EQ(wc.wc_flags & IBV_WC_WITH_IMM, i % 3 ? IBV_WC_WITH_IMM : 0);
		if (i % 3)
			CHECK_EQ(ntohl(wc.imm_data), i);
		CHECK_FILL(p.b.buf + i * PAGE, 1500, i);
	}
	pair_free(&p);
}

static const struct test tests[] = {
	{ "three RNR retries: four transmissions, never early, then the error", count, 3, true },
	{ "no RNR retry: one transmission, then the error", count, 0, true },
	{ "what was posted behind is flushed", flush_behind },
	{ "timer code 25 is 61.44 ms", one_code, 25, true },
	{ "no retransmission before the timer, other timer codes", all_codes, 0, true },
	{ "the RNR NAK carries min_rnr_timer", nak_code, 21, true },
	{ "rnr_retry 7 goes on until a receive is posted", forever, 0, true },
	{ "WRITEs posted meanwhile do not leave before the timer", nothing_before_the_timer, 0, true },
	{ "SENDs of several packets wait for their receives", long_send },
	{ "a WRITE with immediate waits for its receive", write_imm, 100 },
	{ "a WRITE with immediate of several packets waits for its receive", write_imm, 70000 },
	{ "an empty WRITE with immediate waits for its receive", write_imm, 0 },
	{ "a receiver that posts slowly loses nothing", slow_receiver },
};

VERBS_MAIN(tests)
