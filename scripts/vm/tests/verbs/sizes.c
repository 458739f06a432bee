// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every path MTU with lengths around its multiples, so that each kind of packet
 * comes with each number of pad bytes; scatter/gather lists of every shape.
 */
#include "lib.h"

#define GUARD	64
#define CANARY	0xa5

static uint32_t lengths[64];
static size_t num_lengths;

static void choose_lengths(uint32_t mtu)
{
	uint32_t around[] = { mtu, 2 * mtu, 3 * mtu, 5 * mtu }, d;
	size_t i;

	num_lengths = 0;
	for (d = 1; d <= 9; d++)
		lengths[num_lengths++] = d;
	for (i = 0; i < ARRAY_SIZE(around); i++)
		for (d = 0; d < (quick ? 5 : 9); d++)
			lengths[num_lengths++] = around[i] + d - 4;
}

/* From one end to the other, with an offset of its own at each. */
static void one_length(struct pair *p, enum ibv_wr_opcode code, uint32_t len, uint64_t id)
{
	bool read = code == IBV_WR_RDMA_READ;
	bool recv = code != IBV_WR_RDMA_WRITE && !read;
	uint32_t off = GUARD + id % 7, roff = GUARD + id % 5;
	uint8_t *from = read ? p->b.buf + roff : p->a.buf + off;
	uint8_t *to = read ? p->a.buf + off : p->b.buf + roff;

	memset(to - GUARD, CANARY, len + 2 * GUARD);
	fill(from, len, id);
	if (recv)
		post_recv(&p->b, id, roff, len);
	POST(&p->a, .id = id, .code = code, .off = off, .roff = roff, .len = len, .imm = id);
	CHECK_EQ(EXPECT(p->a.scq, id, SUCCESS).opcode,
		 read ? IBV_WC_RDMA_READ :
		 code == IBV_WR_SEND || code == IBV_WR_SEND_WITH_IMM ? IBV_WC_SEND :
								       IBV_WC_RDMA_WRITE);
	if (recv) {
		struct ibv_wc wc = EXPECT(p->b.rcq, id, SUCCESS);

		CHECK_EQ(wc.byte_len, len);
		CHECK_EQ(wc.qp_num, p->b.qp->qp_num);
		if (code != IBV_WR_SEND)
			CHECK_EQ(ntohl(wc.imm_data), id);
	}
	CHECK_FILL(to, len, id);
	CHECK_BYTE(to - GUARD, GUARD, CANARY);
	CHECK_BYTE(to + len, GUARD, CANARY);
}

static void all_lengths(int mtu)
{
	static const enum ibv_wr_opcode codes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_READ,
	};
	uint64_t id = 1;
	struct pair p;
	size_t i, c;

	if ((enum ibv_mtu)mtu > node_a.port.active_mtu || (enum ibv_mtu)mtu > node_b.port.active_mtu)
		skip("the link's MTU is too small");
	choose_lengths(128 << mtu);
	pair_make(&p, SETUP(.mtu = mtu));
	for (i = 0; i < num_lengths; i++)
		for (c = 0; c < ARRAY_SIZE(codes); c++)
			one_length(&p, codes[c], lengths[i], id++);
	pair_free(&p);
}

static void mtu_too_large(int arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	struct pair p;

	pair_create(&p, SETUP());
	to_init(&p.a);
	attr.path_mtu = node_a.port.active_mtu + 1;
	attr.dest_qp_num = p.b.qp->qp_num;
	attr.max_dest_rd_atomic = 1;
	attr.ah_attr = av_of_peer(&p.a);
	CHECK(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			    IBV_QP_MIN_RNR_TIMER));
	CHECK_EQ(state_of(&p.a), IBV_QPS_INIT);
	to_rtr(&p.a);
	pair_free(&p);
}

/* ---- scatter and gather ---- */

#define MAX_PARTS	32

/* Parts of @lens, @gap bytes apart, from @off on; returns their sum. */
static uint32_t parts(struct end *e, struct ibv_sge *sge, int n, const uint32_t *lens, size_t off,
		      uint32_t gap)
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < n; i++) {
		sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)e->buf + off, .length = lens[i], .lkey = e->mr->lkey,
		};
		off += lens[i] + gap;
		sum += lens[i];
	}
	return sum;
}

static void fill_parts(const struct ibv_sge *sge, int n, uint32_t sum, uint32_t seed)
{
	uint8_t *data = malloc(sum), *at = data;
	int i;

	fill(data, sum, seed);
	for (i = 0; i < n; at += sge[i++].length)
		memcpy((void *)(uintptr_t)sge[i].addr, at, sge[i].length);
	free(data);
}

static void check_parts(const struct ibv_sge *sge, int n, uint32_t sum, uint32_t seed)
{
	uint8_t *data = malloc(sum), *at = data;
	int i;

	for (i = 0; i < n; at += sge[i++].length)
		memcpy(at, (void *)(uintptr_t)sge[i].addr, sge[i].length);
	CHECK_FILL(data, sum, seed);
	free(data);
}

/* The same bytes cut differently at both ends; some parts have none. */
static void lists(int code)
{
	uint32_t a_lens[MAX_PARTS], b_lens[MAX_PARTS], sum, i, n = MAX_PARTS;
	struct ibv_sge a[MAX_PARTS], b[MAX_PARTS];
	bool read = code == IBV_WR_RDMA_READ;
	struct pair p;

	pair_make(&p, SETUP(.sges = n, .bytes = 128 * PAGE));
	for (i = 0; i < n; i++)
		a_lens[i] = i % 5 == 3 ? 0 : i % 4 ? 37 * i + 1 : 5000 + i;
	sum = parts(&p.a, a, n, a_lens, 4000, 123);
	for (i = 0; i < n; i++)
		b_lens[i] = i == n - 1 ? sum - (n - 1) * (sum / n) : sum / n;
	CHECK_EQ(parts(&p.b, b, n, b_lens, 1, 777), sum);
	memset(read ? p.a.buf : p.b.buf, CANARY, p.a.bytes);
	if (read)
		fill(p.b.buf + 50, sum, 9);
	else
		fill_parts(a, n, sum, 9);
	if (code == IBV_WR_SEND)
		CHECK_OK(try_recv(&p.b, 7, b, n));
	POST(&p.a, .id = 1, .code = code, .sg = a, .nsg = n, .roff = 50);
	EXPECT(p.a.scq, 1, SUCCESS);
	if (code == IBV_WR_SEND) {
		CHECK_EQ(EXPECT(p.b.rcq, 7, SUCCESS).byte_len, sum);
		check_parts(b, n, sum, 9);
		CHECK_BYTE(p.b.buf + 1 + sum / n, 777, CANARY);
	} else if (read) {
		check_parts(a, n, sum, 9);
		CHECK_BYTE(p.a.buf + 4000 + a_lens[0], 123, CANARY);
	} else {
		CHECK_FILL(p.b.buf + 50, sum, 9);
		CHECK_BYTE(p.b.buf + 50 + sum, PAGE, CANARY);
	}
	pair_free(&p);
}

/* As many parts as the QP was given, and one more, which cannot be posted. */
static void list_limit(int max)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_sge sge[256] = {};
	uint32_t n, i;
	struct pair p;

	pair_make(&p, SETUP(.sges = max < 0 ? node_a.attr.max_sge : max));
	CHECK_OK(ibv_query_qp(p.a.qp, &attr, IBV_QP_CAP, &init));
	n = init.cap.max_send_sge;
	CHECK_GE(n, p.setup.sges);
	CHECK(n < ARRAY_SIZE(sge));
	for (i = 0; i <= n; i++)
		sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)p.a.buf + 8 * i, .length = 8, .lkey = p.a.mr->lkey,
		};
	fill(p.a.buf, 8 * n, 3);
	POST(&p.a, .id = 1, .sg = sge, .nsg = n);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_FILL(p.b.buf, 8 * n, 3);
	CHECK(TRY_POST(&p.a, .id = 2, .sg = sge, .nsg = n + 1) != 0);
	for (i = 0; i <= n; i++)
		sge[i].lkey = p.b.mr->lkey;
	CHECK(try_recv(&p.b, 7, sge, init.cap.max_recv_sge + 1) != 0);
	CHECK_OK(try_recv(&p.b, 8, sge, init.cap.max_recv_sge));
	EXPECT_NONE(p.a.scq, 10 * MS);
	/* the refused one left nothing behind */
	POST(&p.a, .id = 3, .len = 8);
	EXPECT(p.a.scq, 3, SUCCESS);
	pair_free(&p);
}

/* ---- inline data ---- */

static void inline_limit(int want)
{
	struct ibv_qp_init_attr init;
	struct ibv_sge sge = {};
	struct ibv_qp_attr attr;
	uint32_t max;
	struct pair p;

	pair_make(&p, SETUP(.inline_bytes = want));
	CHECK_OK(ibv_query_qp(p.a.qp, &attr, IBV_QP_CAP, &init));
	max = init.cap.max_inline_data;
	CHECK_GE(max, want);
	/* no region is needed, and the buffer may be used again at once */
	fill(p.a.buf, max, 4);
	sge = (struct ibv_sge){ .addr = (uintptr_t)p.a.buf, .length = max, .lkey = 0xbad };
	POST(&p.a, .id = 1, .sg = &sge, .nsg = 1, .flags = IBV_SEND_INLINE);
	memset(p.a.buf, 0, max);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_FILL(p.b.buf, max, 4);
	sge.length = max + 1;
	CHECK(TRY_POST(&p.a, .id = 2, .sg = &sge, .nsg = 1, .flags = IBV_SEND_INLINE) != 0);
	/* nor can what must be written to */
	sge.length = 8;
	CHECK(TRY_POST(&p.a, .id = 3, .code = IBV_WR_RDMA_READ, .sg = &sge, .nsg = 1,
		       .flags = IBV_SEND_INLINE) != 0);
	EXPECT_NONE(p.a.scq, 10 * MS);
	POST(&p.a, .id = 4, .len = 8);
	EXPECT(p.a.scq, 4, SUCCESS);
	pair_free(&p);
}

static void inline_list(int code)
{
	struct ibv_sge sge[MAX_PARTS];
	uint32_t i, sum = 0;
	struct pair p;

	pair_make(&p, SETUP(.sges = MAX_PARTS, .inline_bytes = 500, .mtu = IBV_MTU_256));
	for (i = 0; i < MAX_PARTS; i++) {
		sge[i] = (struct ibv_sge){ .addr = (uintptr_t)p.a.buf + 40 * i, .length = i };
		sum += i;
	}
	fill_parts(sge, MAX_PARTS, sum, 6);
	post_recv(&p.b, 7, 0, PAGE);
	POST(&p.a, .id = 1, .code = code, .sg = sge, .nsg = MAX_PARTS, .imm = 5,
	     .flags = IBV_SEND_INLINE);
	memset(p.a.buf, 0, 2 * PAGE);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_EQ(EXPECT(p.b.rcq, 7, SUCCESS).byte_len, sum);
	CHECK_FILL(p.b.buf, sum, 6);
	pair_free(&p);
}

static const struct test tests[] = {
	{ "MTU 256: lengths around its multiples", all_lengths, IBV_MTU_256 },
	{ "MTU 512: lengths around its multiples", all_lengths, IBV_MTU_512 },
	{ "MTU 1024: lengths around its multiples", all_lengths, IBV_MTU_1024 },
	{ "MTU 2048: lengths around its multiples", all_lengths, IBV_MTU_2048 },
	{ "MTU 4096: lengths around its multiples", all_lengths, IBV_MTU_4096 },
	{ "a path MTU above the link's is refused", mtu_too_large },
	{ "WRITE from 32 parts", lists, IBV_WR_RDMA_WRITE },
	{ "READ into 32 parts", lists, IBV_WR_RDMA_READ },
	{ "SEND from 32 parts into 32 parts", lists, IBV_WR_SEND },
	{ "as many parts as asked for, and one more", list_limit, 5 },
	{ "as many parts as the device can, and one more", list_limit, -1 },
	{ "inline data of max_inline, and one byte more", inline_limit, 100 },
	{ "inline data of none", inline_limit, 0 },
	{ "inline data of 512 bytes", inline_limit, 512 },
	{ "inline SEND of 32 parts in two packets", inline_list, IBV_WR_SEND },
	{ "inline WRITE with immediate of 32 parts", inline_list, IBV_WR_RDMA_WRITE_WITH_IMM },
};

VERBS_MAIN(tests)
