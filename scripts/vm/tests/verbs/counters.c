// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Each counter counts what Documentation/counters.md says, as often as it happens;
 * and what else there is to see of a QP: tracepoints, `rdma resource show`, the
 * counters of the port. (What only forged packets bring about is in hostile_wire.)
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "wire.h"

#define MTU	1024
#define QKEY	0x11111111

/* ---- watching ---- */

struct watch {
	const struct node *node;
	const char *name;
	uint64_t by;
	bool or_more;		/* it may be lost, or sent, more than once */
	uint64_t before;
};

#define EXACTLY(node_, name_, by_)	{ .node = &(node_), .name = (name_), .by = (by_) }
#define AT_LEAST(node_, name_, by_)	{ .node = &(node_), .name = (name_), .by = (by_), .or_more = true }

/* Do it, and see all of them move. */
static void check_moves(void (*what)(void), struct watch *w, size_t n)
{
	uint64_t is;
	size_t i;

	for (i = 0; i < n; i++)
		w[i].before = counter(w[i].node, w[i].name);
	what();
	for (i = 0; i < n; i++) {
		is = counter(w[i].node, w[i].name) - w[i].before;
		if (w[i].or_more ? is < w[i].by : is != w[i].by)
			FAIL("%s: %s moved by %llu, not %llu", w[i].node->name, w[i].name,
			     (unsigned long long)is, (unsigned long long)w[i].by);
	}
}

#define CHECK_MOVES(what, ...) do {							\
	struct watch w_[] = { __VA_ARGS__ };						\
											\
	check_moves(what, w_, ARRAY_SIZE(w_));						\
} while (0)

static void shell(const char *command)
{
	if (system(command))
		FAIL("failed: %s", command);
}

/* What the command prints has all of these. */
static char output[1 << 20];

static const char *output_of(const char *command)
{
	FILE *f = popen(command, "r");
	size_t n;

	CHECK(f);
	n = fread(output, 1, sizeof(output) - 1, f);
	output[n] = 0;
	CHECK_OK(pclose(f));
	return output;
}

static void check_has(const char *text, const char *want)
{
	if (!strstr(text, want))
		FAIL("no '%s' in: %.2000s", want, text);
}

/* ---- packets and requests ---- */

static void one_write(void)
{
	struct pair p;

	pair_make(&p, SETUP());
	POST(&p.a, .id = 1, .len = 3 * MTU + 1);
	EXPECT(p.a.scq, 1, SUCCESS);
	pair_free(&p);
}

static void one_of_each(void)
{
	struct pair p;

	pair_make(&p, SETUP());
	post_recv(&p.b, 5, 0, 100);
	POST(&p.a, .id = 1, .len = 10);
	POST(&p.a, .id = 2, .code = IBV_WR_RDMA_WRITE_WITH_IMM, .len = 10);
	POST(&p.a, .id = 3, .code = IBV_WR_RDMA_READ, .len = 10);
	POST(&p.a, .id = 4, .code = IBV_WR_ATOMIC_FETCH_AND_ADD, .len = 8);
	POST(&p.a, .id = 5, .code = IBV_WR_ATOMIC_CMP_AND_SWP, .len = 8);
	EXPECT_ALL(p.a.scq, 1, 5, SUCCESS);
	EXPECT(p.b.rcq, 5, SUCCESS);
	pair_free(&p);
}

static void packets(int arg)
{
	/* 4 BTHs and ICRCs, an RETH, 3 bytes of pad */
	const uint64_t bytes = 4 * 16 + 16 + 3 * MTU + 4;

	CHECK_MOVES(one_write,
		    EXACTLY(node_a, "tx_pkts", 4), EXACTLY(node_a, "tx_bytes", bytes),
		    EXACTLY(node_b, "rx_pkts", 4), EXACTLY(node_b, "rx_bytes", bytes),
		    EXACTLY(node_b, "rx_write_requests", 1), EXACTLY(node_a, "tx_retransmits", 0));
	CHECK_MOVES(one_of_each,
		    EXACTLY(node_b, "rx_write_requests", 2), EXACTLY(node_b, "rx_read_requests", 1),
		    EXACTLY(node_b, "rx_atomic_requests", 2));
}

/* ---- failures ---- */

static void send_without_receive(void)
{
	struct pair p;

	pair_make(&p, SETUP(.rnr_retry = 2));
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 10);
	EXPECT(p.a.scq, 1, RNR_RETRY_EXC_ERR);
	pair_free(&p);
}

/* UC: nobody is told, and the message is lost. */
static void uc_send_without_receive(void)
{
	uint64_t end = now() + 60 * SEC, before = counter(&node_b, "rx_pkts");
	struct pair p;

	pair_make(&p, SETUP(.type = IBV_QPT_UC));
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 10);
	EXPECT(p.a.scq, 1, SUCCESS);
	while (counter(&node_b, "rx_pkts") == before)
		CHECK(now() < end);
	pair_free(&p);
}

static void rnr(int arg)
{
	CHECK_MOVES(send_without_receive,
		    EXACTLY(node_b, "out_of_buffer", 3), EXACTLY(node_a, "rnr_nak_retry_err", 3),
		    EXACTLY(node_a, "req_rnr_retries_exceeded", 1),
		    EXACTLY(node_a, "req_cqe_error", 1), EXACTLY(node_a, "tx_retransmits", 2));
	CHECK_MOVES(uc_send_without_receive,
		    EXACTLY(node_b, "out_of_buffer", 1), EXACTLY(node_b, "rx_drop_request", 1));
}

static void send_too_long(void)
{
	struct pair p;

	pair_make(&p, SETUP());
	post_recv(&p.b, 7, 0, 10);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 11);
	EXPECT(p.a.scq, 1, REM_INV_REQ_ERR);
	EXPECT(p.b.rcq, 7, LOC_LEN_ERR);
	pair_free(&p);
}

static void write_with_bad_key(void)
{
	struct remote r = { .addr = 0x1000, .rkey = 0x77 };
	struct pair p;

	pair_make(&p, SETUP());
	POST(&p.a, .id = 1, .len = 8, .remote = &r);
	EXPECT(p.a.scq, 1, REM_ACCESS_ERR);
	pair_free(&p);
}

static void refused(int arg)
{
	CHECK_MOVES(send_too_long,
		    EXACTLY(node_b, "resp_local_length_error", 1),
		    EXACTLY(node_b, "resp_cqe_error", 1), EXACTLY(node_a, "req_cqe_error", 1),
		    EXACTLY(node_a, "req_remote_invalid_request", 1));
	CHECK_MOVES(write_with_bad_key,
		    EXACTLY(node_b, "resp_remote_access_errors", 1),
		    EXACTLY(node_a, "req_remote_access_errors", 1),
		    EXACTLY(node_a, "req_cqe_error", 1));
}

static void flush_both(void)
{
	struct pair p;

	pair_make(&p, SETUP());
	post_recv(&p.a, 1, 0, 10);
	post_recv(&p.a, 2, 0, 10);
	to_state(&p.a, IBV_QPS_ERR);
	POST(&p.a, .id = 3, .len = 10);
	POST(&p.a, .id = 4, .len = 10);
	POST(&p.a, .id = 5, .len = 10);
	EXPECT_ALL(p.a.rcq, 1, 2, WR_FLUSH_ERR);
	EXPECT_ALL(p.a.scq, 3, 5, WR_FLUSH_ERR);
	pair_free(&p);
}

static void flushed(int arg)
{
	CHECK_MOVES(flush_both,
		    EXACTLY(node_a, "resp_cqe_flush_error", 2),
		    EXACTLY(node_a, "req_cqe_flush_error", 3),
		    EXACTLY(node_a, "req_cqe_error", 0), EXACTLY(node_a, "resp_cqe_error", 0));
}

static void write_to_nobody(void)
{
	struct pair p;

	pair_make(&p, SETUP(.timeout = 12, .retry_cnt = 2));
	to_state(&p.b, IBV_QPS_RESET);
	POST(&p.a, .id = 1, .len = 10);
	EXPECT(p.a.scq, 1, RETRY_EXC_ERR);
	pair_free(&p);
}

static void no_answer(int arg)
{
	CHECK_MOVES(write_to_nobody,
		    EXACTLY(node_a, "local_ack_timeout_err", 3),
		    EXACTLY(node_a, "req_transport_retries_exceeded", 1),
		    EXACTLY(node_a, "req_cqe_error", 1), EXACTLY(node_b, "rx_drop_qp_state", 3));
}

/* ---- loss ---- */

static void lose_first_packet(void)
{
	struct pair p;

	pair_make(&p, SETUP(.timeout = 20));
	drop('a', OP_WRITE_FIRST, 0, 1);
	POST(&p.a, .id = 1, .len = 3 * MTU);
	EXPECT(p.a.scq, 1, SUCCESS);
	drop_end();
	pair_free(&p);
}

static void lose_ack(void)
{
	struct pair p;

	pair_make(&p, SETUP(.timeout = 14));
	drop('b', OP_ACK, 0, 1);
	POST(&p.a, .id = 1, .len = 10);
	EXPECT(p.a.scq, 1, SUCCESS);
	drop_end();
	pair_free(&p);
}

static void lose_read_response(void)
{
	struct pair p;

	pair_make(&p, SETUP(.timeout = 20));
	drop('b', OP_READ_RESP_ONLY, 0, 1);
	POST(&p.a, .id = 1, .code = IBV_WR_RDMA_READ, .len = 10);
	POST(&p.a, .id = 2, .len = 10);
	EXPECT_ALL(p.a.scq, 1, 2, SUCCESS);
	drop_end();
	pair_free(&p);
}

#define UC_SEND_FIRST	0x20

static void lose_first_of_uc(void)
{
	uint64_t end = now() + 60 * SEC, before = counter(&node_b, "rx_pkts");
	struct pair p;

	pair_make(&p, SETUP(.type = IBV_QPT_UC));
	post_recv(&p.b, 1, 0, 4 * MTU);
	drop('a', UC_SEND_FIRST, 0, 1);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 3 * MTU);
	EXPECT(p.a.scq, 1, SUCCESS);
	while (counter(&node_b, "rx_pkts") < before + 2)
		CHECK(now() < end);
	drop_end();
	pair_free(&p);
}

static void lost(int arg)
{
	CHECK_MOVES(lose_first_packet,
		    AT_LEAST(node_b, "out_of_sequence", 1), AT_LEAST(node_a, "packet_seq_err", 1),
		    AT_LEAST(node_a, "tx_retransmits", 1));
	CHECK_MOVES(lose_ack,
		    AT_LEAST(node_a, "local_ack_timeout_err", 1),
		    AT_LEAST(node_b, "duplicate_request", 1),
		    AT_LEAST(node_a, "tx_retransmits", 1));
	CHECK_MOVES(lose_read_response, AT_LEAST(node_a, "implied_nak_seq_err", 1));
	CHECK_MOVES(lose_first_of_uc, EXACTLY(node_b, "rx_drop_request", 2));
}

/* ---- what does not get out ---- */

/* The QP stays as it is, and the WRITE succeeds when the way is free again. */
static void write_meanwhile(const char *close, const char *open, const char *name)
{
	uint64_t end = now() + 60 * SEC, before = counter(&node_a, name);
	struct pair p;

	pair_make(&p, SETUP(.timeout = 17));
	shell(close);
	POST(&p.a, .id = 1, .len = 10);
	while (counter(&node_a, name) == before)
		CHECK(now() < end);
	shell(open);
	EXPECT(p.a.scq, 1, SUCCESS);
	pair_free(&p);
}

static void firewall(void)
{
	write_meanwhile("ip netns exec a nft 'add table ip shut; add chain ip shut out "
			"{ type filter hook output priority 0; }; "
			"add rule ip shut out udp dport 4791 drop'",
			"ip netns exec a nft delete table ip shut", "tx_local_drops");
}

static void no_route(void)
{
	write_meanwhile("ip -n a route add unreachable 10.1.0.2", "ip -n a route del unreachable 10.1.0.2",
			"tx_no_route");
}

static void kept_in(int arg)
{
	CHECK_MOVES(firewall, AT_LEAST(node_a, "tx_local_drops", 1),
		    EXACTLY(node_a, "req_cqe_error", 0));
	CHECK_MOVES(no_route, AT_LEAST(node_a, "tx_no_route", 1),
		    EXACTLY(node_a, "req_cqe_error", 0));
}

#define FAILSLAB	"/sys/kernel/debug/failslab/"

/* What this process allocates without sleeping fails: its packets cannot be built. */
static void no_memory(void)
{
	uint64_t end = now() + 60 * SEC, before = counter(&node_a, "tx_no_memory");
	int fd = open("/proc/self/make-it-fail", O_WRONLY);
	struct pair p;

	CHECK(fd >= 0);
	pair_make(&p, SETUP(.timeout = 17));
	shell("cd " FAILSLAB " && echo Y >task-filter && echo 0 >verbose && echo 1 >interval && "
	      "echo 0 >space && echo -1 >times && echo 100 >probability");
	CHECK_EQ(pwrite(fd, "1", 1, 0), 1);
	POST(&p.a, .id = 1, .len = 10);
	CHECK_EQ(pwrite(fd, "0", 1, 0), 1);
	shell("echo 0 >" FAILSLAB "probability");
	close(fd);
	while (counter(&node_a, "tx_no_memory") == before)
		CHECK(now() < end);
	EXPECT(p.a.scq, 1, SUCCESS);
	pair_free(&p);
}

static void out_of_memory(int arg)
{
	if (access(FAILSLAB "probability", F_OK))
		skip("this kernel cannot inject faults");
	CHECK_MOVES(no_memory, AT_LEAST(node_a, "tx_no_memory", 1),
		    EXACTLY(node_a, "req_cqe_error", 0));
}

/* ---- datagrams ---- */

struct ud_end {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	void *buf;
};

static void ud_make(struct ud_end *e, struct node *node)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };

	e->buf = map_pages(PAGE);
	e->mr = reg(node, e->buf, PAGE, IBV_ACCESS_LOCAL_WRITE);
	e->cq = ibv_create_cq(node->ctx, 16, NULL, NULL, 0);
	CHECK(e->cq);
	init.send_cq = init.recv_cq = e->cq;
	e->qp = ibv_create_qp(node->pd, &init);
	CHECK(e->qp);
	CHECK_OK(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			       IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	CHECK_OK(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	CHECK_OK(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static void ud_free(struct ud_end *e)
{
	CHECK_OK(ibv_destroy_qp(e->qp));
	CHECK_OK(ibv_destroy_cq(e->cq));
	CHECK_OK(ibv_dereg_mr(e->mr));
}

/* One datagram of 100 bytes to a QP with a receive of @room bytes (0: with none). */
static void datagram(uint32_t qkey, uint32_t room)
{
	struct ibv_ah_attr to = av_to(&node_a, &node_b);
	uint64_t before = counter(&node_b, "rx_pkts"), end = now() + 60 * SEC;
	struct ibv_ah *ah = ibv_create_ah(node_a.pd, &to);
	struct ud_end a, b;
	struct ibv_sge sge;
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};

	CHECK(ah);
	ud_make(&a, &node_a);
	ud_make(&b, &node_b);
	sge = (struct ibv_sge){ (uintptr_t)b.buf, room, b.mr->lkey };
	if (room)
		CHECK_OK(ibv_post_recv(b.qp, &recv, &bad_recv));
	sge = (struct ibv_sge){ (uintptr_t)a.buf, 100, a.mr->lkey };
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = qkey;
	CHECK_OK(ibv_post_send(a.qp, &wr, &bad));
	EXPECT(a.cq, 0, SUCCESS);
	while (counter(&node_b, "rx_pkts") == before)
		CHECK(now() < end);
	EXPECT_NONE(b.cq, 20 * MS);
	ud_free(&a);
	ud_free(&b);
	CHECK_OK(ibv_destroy_ah(ah));
}

static void wrong_qkey(void)
{
	datagram(QKEY + 1, 140);
}

static void short_receive(void)
{
	datagram(QKEY, 139);
}

static void no_receive(void)
{
	datagram(QKEY, 0);
}

static void datagrams(int arg)
{
	CHECK_MOVES(wrong_qkey, EXACTLY(node_b, "rx_drop_qkey", 1));
	CHECK_MOVES(short_receive, EXACTLY(node_b, "rx_drop_length", 1));
	CHECK_MOVES(no_receive, EXACTLY(node_b, "out_of_buffer", 1));
}

/* ---- counters of the port ---- */

static uint64_t port_counter(const struct node *node, const char *name)
{
	unsigned long long value;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/counters/%s", node->name,
		 name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &value) != 1)
		FAIL("%s cannot be read", path);
	fclose(f);
	return value;
}

static void port(int arg)
{
	static const char * const names[] = {
		"port_xmit_packets", "port_xmit_data", "unicast_xmit_packets",
		"port_rcv_packets", "port_rcv_data", "unicast_rcv_packets",
	};
	uint64_t before[ARRAY_SIZE(names)], discards = port_counter(&node_a, "port_xmit_discards");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		before[i] = port_counter(i < 3 ? &node_a : &node_b, names[i]);
	one_write();
	for (i = 0; i < ARRAY_SIZE(names); i++)
		CHECK_EQ(port_counter(i < 3 ? &node_a : &node_b, names[i]) - before[i],
			 strstr(names[i], "data") ? (4 * 16 + 16 + 3 * MTU + 4) / 4 : 4);
	no_route();
	CHECK_GE(port_counter(&node_a, "port_xmit_discards"), discards + 1);
}

/* `rdma statistic` shows what sysfs shows. */
static void statistic(int arg)
{
	char want[64];

	one_write();
	snprintf(want, sizeof(want), "rx_write_requests %llu",
		 (unsigned long long)counter(&node_b, "rx_write_requests"));
	check_has(output_of("rdma statistic show link sroce_b/1"), want);
}

/* ---- why a QP does not move ---- */

static void resource(int arg)
{
	static const char * const names[] = {
		"una_psn 0x", "next_psn 0x", "max_psn 0x", "outstanding 2", "sq_posted 2", "rd_out 1",
		"retry_left 5", "rnr_left 6", "rnr_wait 0", "epsn 0x", "msn 0", "answers_pending 0",
		"rq_posted 1", "bytes_below ",
	};
	char command[128];
	struct pair p;
	size_t i;

	pair_make(&p, SETUP(.timeout = 0, .retry_cnt = 5, .rnr_retry = 6));
	to_state(&p.b, IBV_QPS_RESET);
	post_recv(&p.a, 9, 0, 10);
	POST(&p.a, .id = 1, .len = 10);
	POST(&p.a, .id = 2, .code = IBV_WR_RDMA_READ, .len = 10);
	snprintf(command, sizeof(command), "rdma -dd resource show qp link sroce_a/1 lqpn %u",
		 p.a.qp->qp_num);
	output_of(command);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		check_has(output, names[i]);
	pair_free(&p);
}

/* ---- tracepoints ---- */

#define TRACING	"/sys/kernel/tracing/"

/* A line of the trace with all three. */
static void check_traced(const char *event, uint32_t qpn, const char *what)
{
	char name[64], number[32];
	const char *line = output;

	snprintf(name, sizeof(name), " %s: ", event);
	snprintf(number, sizeof(number), "qpn=0x%06x ", qpn);
	while (line) {
		const char *next = strchr(line, '\n');
		char copy[512];

		snprintf(copy, sizeof(copy), "%.*s", (int)(next ? next - line : 500), line);
		if (strstr(copy, name) && strstr(copy, number) && strstr(copy, what))
			return;
		line = next ? next + 1 : NULL;
	}
	FAIL("no%s%s... %s in: %.4000s", name, number, what, output);
}

static void tracepoints(int arg)
{
	uint32_t a, b;
	struct pair p;

	shell("echo 1 >" TRACING "events/sroce/enable");
	shell("echo >" TRACING "trace");
	pair_make(&p, SETUP(.timeout = 14));
	a = p.a.qp->qp_num;
	b = p.b.qp->qp_num;
	drop('b', OP_ACK, 0, 1);
	POST(&p.a, .id = 1, .len = 10);
	EXPECT(p.a.scq, 1, SUCCESS);
	drop_end();
	drop('a', OP_WRITE_FIRST, 0, 1);
	POST(&p.a, .id = 2, .len = 3 * MTU);
	EXPECT(p.a.scq, 2, SUCCESS);
	drop_end();
	to_state(&p.a, IBV_QPS_ERR);
	pair_free(&p);
	shell("echo 0 >" TRACING "events/sroce/enable");
	output_of("cat " TRACING "trace");

	check_traced("sroce_qp_state", a, "RESET -> INIT");
	check_traced("sroce_qp_state", a, "INIT -> RTR");
	check_traced("sroce_qp_state", a, "RTR -> RTS");
	check_traced("sroce_qp_state", a, "RTS -> ERR");
	check_traced("sroce_send", a, "opcode=0x0a bytes=10");
	check_traced("sroce_request", b, "opcode=0x0a bytes=10");
	check_traced("sroce_answer", b, "opcode=0x11");
	check_traced("sroce_response", a, "opcode=0x11");
	check_traced("sroce_retry", a, "timeout");
	check_traced("sroce_send", a, "again=1");
	check_traced("sroce_answer", b, "syndrome=0x60");
	check_traced("sroce_retry", a, "seq");
}

static const struct test tests[] = {
	{ "packets, bytes, requests", packets },
	{ "no receive", rnr },
	{ "requests that are refused", refused },
	{ "flushed work requests", flushed },
	{ "no answer: timeouts, retries exceeded, QP in the wrong state", no_answer },
	{ "lost packets", lost, 0, true },
	{ "packets that the local stack does not take", kept_in, 0, true },
	{ "packets that there is no memory for", out_of_memory },
	{ "datagrams that are dropped", datagrams },
	{ "counters of the port", port, 0, true },
	{ "rdma statistic", statistic },
	{ "rdma resource show qp -dd", resource },
	{ "tracepoints", tracepoints, 0, true },
};

VERBS_MAIN(tests)
