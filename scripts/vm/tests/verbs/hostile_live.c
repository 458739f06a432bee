// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets aimed at live QPs of each transport, at both ends while messages go to and
 * fro: numbers, PSNs, keys and addresses are right most of the time. They may break
 * the connection; they must not write outside of the region, nor disturb others.
 * hostile_wire.c has those that are known to be dropped; that of XRC is in xrc.c.
 */
#include "forge.h"

#define AROUND	(16 * PAGE)
#define START	(4 * PAGE + 100)
#define LENGTH	(8 * PAGE)
#define QKEY	0x1234

static void works(struct pair *p, uint64_t id)
{
	fill(p->a.buf, PAGE, id);
	POST(&p->a, .id = id, .code = IBV_WR_RDMA_WRITE, .len = PAGE);
	EXPECT(p->a.scq, id, SUCCESS);
	CHECK_FILL(p->b.buf, PAGE, id);
}

/* ---- datagrams ---- */

static void ready_ud(struct end *e)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };

	CHECK_OK(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			       IBV_QP_QKEY));
	to_state(e, IBV_QPS_RTR);
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = e->psn;
	CHECK_OK(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static struct ibv_ah *ah_of_peer(const struct end *e)
{
	struct ibv_ah_attr attr = av_of_peer(e);
	struct ibv_ah *ah = ibv_create_ah(e->node->pd, &attr);

	CHECK(ah);
	return ah;
}

static void send_datagram(struct end *e, struct ibv_ah *ah)
{
	struct ibv_sge sge = { .addr = (uintptr_t)e->buf, .length = 100, .lkey = e->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.ud = { .ah = ah, .remote_qpn = e->peer->qp->qp_num, .remote_qkey = QKEY },
	};

	ibv_post_send(e->qp, &wr, &bad);
}

/* ---- traffic: whatever comes of it ---- */

static void post_some(struct end *e, struct ibv_ah *ah)
{
	static const int codes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	size_t kinds = e->setup->type == IBV_QPT_RC ? ARRAY_SIZE(codes) : 3;
	int code = codes[forge_rnd() % kinds];
	struct ibv_wc wc[8];
	struct ibv_sge sge = { .addr = (uintptr_t)e->buf + PAGE, .length = 3000, .lkey = e->mr->lkey };

	try_recv(e, 1, &sge, 1);
	if (ah)
		send_datagram(e, ah);
	else
		TRY_POST(e, .id = 2, .code = code, .off = 4 * PAGE, .roff = 8 * PAGE,
			 .len = code == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : forge_rnd() % 2900);
	ibv_poll_cq(e->scq, ARRAY_SIZE(wc), wc);
	ibv_poll_cq(e->rcq, ARRAY_SIZE(wc), wc);
}

static void attack(struct pair *p, uint8_t transport, struct ibv_mr *mr, const uint8_t *at)
{
	struct ibv_ah *ah_a = NULL, *ah_b = NULL;
	int i;

	if (transport == FORGE_UD) {
		ah_a = ah_of_peer(&p->a);
		ah_b = ah_of_peer(&p->b);
	}
	for (i = 0; i < 300; i++) {
		bool to_b = forge_rnd() % 3;
		struct aim aim = {
			.to = to_b ? &p->b : &p->a,
			.transport = transport,
			.va = (uintptr_t)(to_b ? at : p->a.buf),
			.bytes = to_b ? LENGTH : p->a.bytes,
			.rkey = to_b ? mr->rkey : p->a.mr->rkey,
			.qkey = QKEY,
		};

		if (i % 8 == 0) {
			post_some(&p->a, ah_a);
			post_some(&p->b, ah_b);
		}
		forge_random(&aim);
	}
	if (ah_a) {
		CHECK_OK(ibv_destroy_ah(ah_a));
		CHECK_OK(ibv_destroy_ah(ah_b));
	}
}

static void make(struct pair *p, uint8_t transport)
{
	static const enum ibv_qp_type types[] = {
		[FORGE_RC >> 5] = IBV_QPT_RC, [FORGE_UC >> 5] = IBV_QPT_UC, [FORGE_UD >> 5] = IBV_QPT_UD,
	};
	struct setup s = SETUP(.type = types[transport >> 5], .timeout = 10, .retry_cnt = 1, .rnr_retry = 1,
			       .psn_a = PSN_MASK - 5, .ece = transport == FORGE_RC);

	if (transport != FORGE_UD) {
		pair_make(p, s);
		return;
	}
	pair_create(p, s);
	ready_ud(&p->a);
	ready_ud(&p->b);
}

static void live(int transport)
{
	uint64_t end, before[2], rounds = 0;
	uint8_t *around;
	struct pair other;
	struct ibv_mr *mr;

	forge_open();
	around = map_pages(AROUND);
	memset(around, 0x5a, AROUND);
	pair_make(&other, SETUP(.timeout = 20));
	forge_spare(&other);
	before[0] = counter(&node_a, "rx_ghost_acks");
	before[1] = counter(&node_b, "rx_drop_malformed");
	for (end = now() + forge_seconds() * SEC / 5; now() < end || !rounds; rounds++) {
		struct pair p;

		make(&p, transport);
		mr = reg(p.b.node, around + START, LENGTH, ACCESS_ALL);
		attack(&p, transport, mr, around + START);
		CHECK_OK(ibv_dereg_mr(mr));
		pair_free(&p);
		CHECK_BYTE(around, START, 0x5a);
		CHECK_BYTE(around + START + LENGTH, AROUND - START - LENGTH, 0x5a);
		works(&other, now());
	}
	/* they were looked at, and not just lost */
	if (transport == FORGE_RC)
		CHECK_GE(counter(&node_a, "rx_ghost_acks") - before[0], 1);
	CHECK_GE(counter(&node_b, "rx_drop_malformed") - before[1], 1);
	note("%llu times 300 packets", (unsigned long long)rounds);
	pair_free(&other);
	forge_close();
}

/* ---- a ghost: an ACK of what was never sent ---- */

static size_t put_ack(uint8_t *bth, const struct end *to, uint32_t psn)
{
	forge_bth(bth, 0x11, to, psn);
	bth[8] = 0;
	memset(bth + 12, 0, 4);
	bth[12] = 0x1f;
	return 16;
}

/* Softirqs may be late. */
static void wait_ghosts(uint64_t count)
{
	uint64_t end = now() + 60 * SEC, is;

	while ((is = counter(&node_a, "rx_ghost_acks")) < count)
		CHECK(now() < end);
	CHECK_EQ(is, count);
}

/* Ignored and counted, whether it is of the past or of the future. */
static void ghost(int ahead)
{
	uint64_t before;
	uint8_t bth[16];
	struct pair p;
	int i;

	forge_open();
	pair_make(&p, SETUP(.timeout = 18));
	works(&p, 1);
	before = counter(&node_a, "rx_ghost_acks");
	for (i = 0; i < 20; i++)
		forge(&p.a, HOST_B, bth, put_ack(bth, &p.a, p.a.psn + ahead + i), false);
	wait_ghosts(before + 20);
	CHECK_EQ(state_of(&p.a), IBV_QPS_RTS);
	EXPECT_NONE(p.a.scq, 10 * MS);
	/* nobody answers: were a ghost taken for the answer, this would complete */
	to_state(&p.b, IBV_QPS_ERR);
	POST(&p.a, .id = 2, .len = 8);
	for (i = 0; i < 20; i++)
		forge(&p.a, HOST_B, bth, put_ack(bth, &p.a, p.a.psn + ahead + 8 + i), false);
	EXPECT_NONE(p.a.scq, 50 * MS);
	wait_ghosts(before + 40);
	pair_free(&p);
	forge_close();
}

static const struct test tests[] = {
	{ "ghost ACKs of the future are ignored and counted", ghost, 100 },
	{ "ghost ACKs from far away are ignored and counted", ghost, 0x700000 },
	{ "RC, both ends, with SACKs and CNPs among them", live, FORGE_RC },
	{ "UC, both ends", live, FORGE_UC },
	{ "UD, both ends", live, FORGE_UD },
};

VERBS_MAIN(tests)
