// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sched.h>
#include <sys/socket.h>

#include "forge.h"

#define OPCODE_CNP	0x81
#define OPCODE_SACK	0xf1
#define MTU		1024

static int raw_a = -1, raw_b = -1;
static uint32_t spared[4];
static size_t num_spared;
static uint64_t seed = 88172645463325252ULL;

uint64_t forge_rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static bool one_in(unsigned int n)
{
	return forge_rnd() % n == 0;
}

uint64_t forge_seconds(void)
{
	const char *s = getenv("HOSTILE_SECONDS");

	return s ? strtoull(s, NULL, 0) : 10;
}

/* ---- packets ---- */

static uint32_t crc32_of(uint32_t crc, const uint8_t *p, size_t n)
{
	while (n--) {
		int bit;

		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return crc;
}

/* A raw socket in another namespace; the rest of the process stays where it is. */
static int raw_in(const char *netns)
{
	int here = open("/proc/self/ns/net", O_RDONLY), there = open(netns, O_RDONLY), fd;

	CHECK_GE(here, 0);
	CHECK_GE(there, 0);
	CHECK_OK(setns(there, CLONE_NEWNET));
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	CHECK_GE(fd, 0);
	CHECK_OK(setns(here, CLONE_NEWNET));
	close(here);
	close(there);
	return fd;
}

void forge_open(void)
{
	raw_a = raw_in("/run/netns/a");
	raw_b = raw_in("/run/netns/b");
	num_spared = 0;
}

void forge_close(void)
{
	close(raw_a);
	close(raw_b);
}

void forge(const struct end *to, uint32_t from, const uint8_t *bth, size_t n, bool bad)
{
	bool to_a = to->node == &node_a;
	uint32_t host = to_a ? HOST_A : HOST_B;
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(host) };
	uint8_t frame[2048] = {}, masked[2048];
	struct iphdr *ip = (struct iphdr *)frame;
	struct udphdr *udp = (struct udphdr *)(ip + 1);
	size_t bytes = sizeof(*ip) + sizeof(*udp) + n;
	uint32_t crc;

	ip->version = 4;
	ip->ihl = 5;
	ip->tot_len = htons(bytes + 4);
	ip->id = htons(1);
	ip->frag_off = htons(IP_DF);
	ip->ttl = 64;
	ip->protocol = IPPROTO_UDP;
	ip->saddr = htonl(from);
	ip->daddr = htonl(host);
	udp->source = htons(0xc123);
	udp->dest = htons(4791);
	udp->len = htons(sizeof(*udp) + n + 4);
	memcpy(udp + 1, bth, n);

	memcpy(masked, frame, bytes);
	masked[1] = masked[8] = masked[10] = masked[11] = masked[26] = masked[27] = 0xff;
	if (n > 4)
		masked[32] = 0xff;
	crc = ~crc32_of(0xdebb20e3, masked, bytes) ^ bad;
	memcpy(frame + bytes, &crc, 4);
	sendto(to_a ? raw_b : raw_a, frame, bytes + 4, 0, (struct sockaddr *)&addr, sizeof(addr));
}

static void put24(uint8_t *p, uint32_t v)
{
	p[0] = v >> 16;
	p[1] = v >> 8;
	p[2] = v;
}

static uint8_t *put32(uint8_t *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, 4);
	return p + 4;
}

void forge_bth(uint8_t *p, uint8_t opcode, const struct end *to, uint32_t psn)
{
	memset(p, 0, 12);
	p[0] = opcode;
	p[1] = 0x40;
	p[2] = p[3] = 0xff;
	put24(p + 5, to->qp->qp_num);
	p[8] = 0x80;
	put24(p + 9, psn);
}

/* ---- random ones ---- */

void forge_spare(const struct pair *bystander)
{
	CHECK(num_spared + 2 <= ARRAY_SIZE(spared));
	spared[num_spared++] = bystander->a.qp->qp_num;
	spared[num_spared++] = bystander->b.qp->qp_num;
}

static bool is_spared(const uint8_t *bth)
{
	uint32_t qpn = bth[5] << 16 | bth[6] << 8 | bth[7];
	size_t i;

	for (i = 0; i < num_spared; i++)
		if (spared[i] == qpn)
			return true;
	return false;
}

void forge_flip(uint8_t *bth, size_t n)
{
	size_t i = forge_rnd() % n;
	uint8_t bit = 1U << forge_rnd() % 8;

	bth[i] ^= bit;
	if (i >= 5 && i <= 7 && is_spared(bth))
		bth[i] ^= bit;
}

static uint8_t random_opcode(uint8_t transport)
{
	switch (forge_rnd() % 16) {
	case 0:	return OPCODE_CNP;
	case 1:	return OPCODE_SACK;
	case 2:	return transport | 0x11;	/* ACK */
	case 3:	return forge_rnd();
	}
	return transport | forge_rnd() % 32;
}

static bool is_response(uint8_t opcode)
{
	uint8_t op = opcode & 0x1f;

	return opcode == OPCODE_SACK || (op >= 0x0d && op <= 0x12);
}

static uint8_t *put_reth(uint8_t *p, const struct aim *aim)
{
	uint64_t va = aim->va + forge_rnd() % (2 * aim->bytes) - aim->bytes / 2;

	p = put32(p, va >> 32);
	p = put32(p, va);
	p = put32(p, one_in(6) ? forge_rnd() : aim->rkey);
	return put32(p, one_in(6) ? forge_rnd() : forge_rnd() % (4 * MTU));
}

/* ACKs with credits, RNR NAKs, NAKs of all codes, and what is reserved. */
static uint8_t *put_aeth(uint8_t *p)
{
	static const uint8_t kinds[] = { 0x00, 0x20, 0x40, 0x60 };
	uint8_t syndrome = one_in(6) ? forge_rnd() : kinds[forge_rnd() % 4] | forge_rnd() % 8;

	return put32(p, (uint32_t)syndrome << 24 | forge_rnd() % 16);
}

/* Extended headers in their order; what is not written is random. */
static uint8_t *put_headers(uint8_t *p, uint8_t opcode, const struct aim *aim)
{
	uint8_t transport = opcode & 0xe0, op = opcode & 0x1f;

	if (transport == FORGE_UD) {
		p = put32(p, one_in(6) ? forge_rnd() : aim->qkey);
		p += 4;
	}
	if (transport == FORGE_XRC && !is_response(opcode))
		p = put32(p, one_in(6) ? forge_rnd() : aim->srqn);
	if (opcode == OPCODE_SACK)
		return put_aeth(p) + 32;
	switch (op) {
	case 0x06: case 0x0a: case 0x0b: case 0x0c: case 0x1d:	/* WRITE, READ, ATOMIC_WRITE */
		p = put_reth(p, aim);
		break;
	case 0x1c:						/* FLUSH */
		p = put_reth(p + 4, aim);
		break;
	case 0x13: case 0x14:					/* atomics */
		p = put_reth(p, aim) + 12;
		break;
	case 0x0d: case 0x0f: case 0x10: case 0x11:		/* READ responses, ACK */
		p = put_aeth(p);
		break;
	case 0x12:						/* answer of an atomic */
		p = put_aeth(p) + 8;
		break;
	}
	if (op == 0x03 || op == 0x05 || op == 0x09 || op == 0x0b || op == 0x16 || op == 0x17)
		p += 4;
	return p;
}

void forge_random(const struct aim *aim)
{
	const struct end *to = aim->to;
	uint8_t bth[FORGE_BYTES], opcode = random_opcode(aim->transport);
	uint32_t from = to->node == &node_a ? HOST_B : HOST_A;
	uint32_t psn = is_response(opcode) ? to->psn : to->peer->psn;
	size_t i, n, payload;

	for (i = 0; i < sizeof(bth); i++)
		bth[i] = forge_rnd();
	forge_bth(bth, opcode, to, psn + forge_rnd() % 24 - 4);
	bth[1] |= one_in(2) ? forge_rnd() & 0xb0 : 0;
	bth[8] = forge_rnd() & 0x80;
	n = put_headers(bth + 12, opcode, aim) - bth;
	payload = one_in(2) ? MTU : forge_rnd() % (MTU / 4) * 4;
	if (one_in(4) || opcode == OPCODE_SACK || (opcode & 0x1f) == 0x11)
		payload = 0;
	n += payload;
	if (one_in(8))
		n = forge_rnd() % n + 1;
	if (one_in(4))
		forge_flip(bth, n < 60 ? n : 60);
	forge(to, one_in(32) ? HOST_X : from, bth, n, one_in(32));
}
