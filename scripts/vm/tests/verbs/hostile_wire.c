// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that no peer would send, from host a to live QPs of host b: every opcode,
 * wrong lengths, damaged ICRCs, foreign addresses, nonsense keys. What the standard
 * has no answer for is dropped and counted; nothing is written outside the region;
 * other connections do not notice. HOSTILE_SECONDS is how long the random part runs.
 */
#include "forge.h"

/* A WRITE of 8 bytes that would be executed if it came from the peer. */
static size_t put_write(uint8_t *p, const struct end *to, uint32_t psn)
{
	uint64_t va = htobe64((uintptr_t)to->buf);
	uint32_t key = htonl(to->mr->rkey), len = htonl(8);

	forge_bth(p, 0x0a, to, psn);
	memcpy(p + 12, &va, 8);
	memcpy(p + 20, &key, 4);
	memcpy(p + 24, &len, 4);
	memset(p + 28, 0xee, 8);
	return 36;
}

static void works(struct pair *p, uint64_t id)
{
	fill(p->a.buf, PAGE, id);
	POST(&p->a, .id = id, .code = IBV_WR_RDMA_WRITE, .len = PAGE);
	EXPECT(p->a.scq, id, SUCCESS);
	CHECK_FILL(p->b.buf, PAGE, id);
}

/* The whole packet is right but for one thing; it is dropped and counted there. */
static void one_wrong(int which)
{
	static const char * const counters[] = {
		"rx_drop_address", "rx_icrc_encapsulated", "rx_drop_no_qp", "rx_drop_qp_type",
		"rx_drop_pkey", "rx_drop_malformed",
	};
	uint8_t bth[64];
	uint64_t before;
	struct pair p;
	size_t n;
	int i;

	forge_open();
	pair_make(&p, SETUP());
	before = counter(p.b.node, counters[which]);
	for (i = 0; i < 50; i++) {
		n = put_write(bth, &p.b, p.b.setup->psn_a);
		if (which == 2)
			memcpy(bth + 5, "\xff\xff\xf0", 3);
		if (which == 3)
			bth[0] |= 0x20;
		if (which == 4)
			bth[2] = 0x12;
		if (which == 5)
			bth[1] |= 0x01;
		forge(&p.b, which == 0 ? HOST_X : HOST_A, bth, n, which == 1);
	}
	CHECK_GE(counter(p.b.node, counters[which]) - before, 50);
	CHECK_BYTE(p.b.buf, PAGE, 0);
	works(&p, 1);
	pair_free(&p);
	forge_close();
}

/* And the same packet with nothing wrong is executed: the tests above test something. */
static void none_wrong(int arg)
{
	uint64_t end = now() + 20 * SEC;
	uint8_t bth[64];
	struct pair p;

	(void)arg;
	forge_open();
	pair_make(&p, SETUP());
	forge(&p.b, HOST_A, bth, put_write(bth, &p.b, p.b.setup->psn_a), false);
	while (*(volatile uint8_t *)p.b.buf != 0xee)
		CHECK(now() < end);
	pair_free(&p);
	forge_close();
}

/* Every opcode in every length, with the expected PSN and with others. */
static void every_opcode(int arg)
{
	uint8_t bth[256];
	struct pair p, other;
	int opcode, i;
	size_t n;

	(void)arg;
	forge_open();
	pair_make(&other, SETUP(.timeout = 20));
	for (opcode = 0; opcode < 256; opcode++) {
		pair_make(&p, SETUP());
		for (n = 0; n < (quick ? 48 : 100); n++) {
			for (i = 0; i < (int)sizeof(bth); i++)
				bth[i] = forge_rnd();
			forge_bth(bth, opcode, &p.b, p.b.setup->psn_a + n % 3);
			forge(&p.b, HOST_A, bth, n, false);
		}
		pair_free(&p);
		if (opcode % 64 == 0)
			works(&other, opcode + 1);
	}
	works(&other, 1000);
	pair_free(&other);
	forge_close();
}

static void random_packet(const struct pair *p)
{
	static const uint8_t ops[] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23, 28, 29,
	};
	const struct end *to = &p->b;
	uint64_t va = htobe64((uintptr_t)to->buf + forge_rnd() % (2 * to->bytes) - to->bytes / 2);
	uint32_t key = htonl(forge_rnd() % 4 ? to->mr->rkey : forge_rnd());
	uint32_t len = htonl(forge_rnd() % 4 ? forge_rnd() % 3000 : forge_rnd());
	uint8_t bth[1400];
	size_t n = forge_rnd() % 3 ? 28 + forge_rnd() % 64 : forge_rnd() % sizeof(bth), i;

	for (i = 0; i < sizeof(bth); i++)
		bth[i] = forge_rnd();
	forge_bth(bth, ops[forge_rnd() % ARRAY_SIZE(ops)], to, to->setup->psn_a + forge_rnd() % 8);
	bth[1] = forge_rnd() & 0xf0;
	bth[8] = forge_rnd();
	memcpy(bth + 12, &va, 8);
	memcpy(bth + 20, &key, 4);
	memcpy(bth + 24, &len, 4);
	if (forge_rnd() % 8 == 0)
		forge_flip(bth, 12);
	forge(to, forge_rnd() % 16 ? HOST_A : HOST_X, bth, n, forge_rnd() % 16 == 0);
}

/* Valid requests among them are executed, so only what lies outside the region is looked at. */
static void random_packets(int arg)
{
	uint64_t end = now() + forge_seconds() * SEC / 5;
	struct pair p, other;
	uint8_t *around;
	struct ibv_mr *mr;
	unsigned int i;

	(void)arg;
	forge_open();
	around = map_pages(16 * PAGE);
	memset(around, 0x5a, 16 * PAGE);
	pair_make(&other, SETUP(.timeout = 20));
	forge_spare(&other);
	while (now() < end) {
		pair_make(&p, SETUP(.timeout = 10, .retry_cnt = 1));
		mr = reg(p.b.node, around + 4 * PAGE + 100, 8 * PAGE, ACCESS_ALL);
		for (i = 0; i < 8; i++)
			post_recv(&p.b, i, 0, 512);
		for (i = 0; i < 500; i++) {
			struct pair aim = p;

			if (i % 2) {
				aim.b.mr = mr;
				aim.b.buf = around + 4 * PAGE + 100;
				aim.b.bytes = 8 * PAGE;
			}
			random_packet(&aim);
		}
		CHECK_OK(ibv_dereg_mr(mr));
		pair_free(&p);
		CHECK_BYTE(around, 4 * PAGE + 100, 0x5a);
		CHECK_BYTE(around + 12 * PAGE + 100, 4 * PAGE - 100, 0x5a);
		works(&other, now());
	}
	pair_free(&other);
	forge_close();
}

static const struct test tests[] = {
	{ "the forged packet is good", none_wrong },
	{ "foreign source address", one_wrong, 0 },
	{ "wrong ICRC", one_wrong, 1 },
	{ "no such QP", one_wrong, 2 },
	{ "opcode of another transport", one_wrong, 3 },
	{ "foreign P_Key", one_wrong, 4 },
	{ "transport header version", one_wrong, 5 },
	{ "every opcode in every length", every_opcode },
	{ "random packets", random_packets },
};

VERBS_MAIN(tests)
