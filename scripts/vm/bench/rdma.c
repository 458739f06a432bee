// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma -- bandwidth, message rate and latency between two RDMA devices of one machine.
 *
 *	rdma -c DEV,GID,ADDRESS -s DEV,GID,ADDRESS [-m MTU] [-t MS] [-i FILE] [-R]
 *
 * Client and server are two processes that connect once and then measure one
 * point after the other. A point is a line of standard input, "KIND OP SIZE QPS LIST":
 *
 *	bw    bandwidth: QPs kept full with messages of SIZE, posted LIST at a time
 *	sys   the same, and the system calls of the client are counted (which slows them)
 *	lat   latency: one message at a time, and back
 *
 * with OP write, read or send. The answer is a line with the point and key=value
 * pairs, or "failed" and why. -t is how long a point is measured. -R connects by
 * rdma_cm (iWARP), else QPs are set up by hand. -i names the counters of icount.c.
 */
#include "rdma.h"

#define MAX_SAMPLES	200000
#define SYS_POSTS	500		/* at least, when system calls are counted */
#define STOP		255		/* last byte of the WRITE that ends a latency run */
#define WAIT_NS		(60 * SEC)

uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SEC + t.tv_nsec;
}

void fail(const char *format, ...)
{
	va_list args;

	printf("failed ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	exit(1);
}

/* ---- messages at a time ---- */

static uint32_t depth_of(const struct point *p)
{
	uint32_t depth = BYTES_IN_FLIGHT / p->size;

	if (depth > MAX_DEPTH)
		depth = MAX_DEPTH;
	depth /= p->qps;
	if (depth < 2)
		depth = 2;
	if (p->qps == 1 && depth < 4)
		depth = 4;
	return depth < p->list ? p->list : depth;
}

static enum ibv_wr_opcode opcode_of(const struct point *p)
{
	switch (p->op) {
	case 'w':
		return IBV_WR_RDMA_WRITE;
	case 'r':
		return IBV_WR_RDMA_READ;
	default:
		return IBV_WR_SEND;
	}
}

struct list {
	struct ibv_send_wr wr[MAX_LIST];
	struct ibv_sge sge;
};

/* All of a list send the same bytes. */
static void make_list(struct list *l, const struct end *e, const struct point *p, uint64_t offset)
{
	uint32_t i;

	l->sge = (struct ibv_sge){
		.addr = (uintptr_t)e->buf, .length = p->size, .lkey = e->mr->lkey,
	};
	for (i = 0; i < p->list; i++) {
		l->wr[i] = (struct ibv_send_wr){
			.sg_list = &l->sge,
			.num_sge = 1,
			.opcode = opcode_of(p),
			.wr.rdma.remote_addr = e->peer_addr + offset,
			.wr.rdma.rkey = e->peer_rkey,
			.next = i + 1 < p->list ? &l->wr[i + 1] : NULL,
		};
		if (p->size <= e->max_inline && p->op != 'r')
			l->wr[i].send_flags = IBV_SEND_INLINE;
	}
}

static void post(struct end *e, uint32_t qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int err = ibv_post_send(e->qp[qp], wr, &bad);

	if (err)
		fail("post: %s", strerror(err));
}

static int poll_some(struct end *e, struct ibv_wc *wc, int n)
{
	int i, got = ibv_poll_cq(e->cq, n, wc);

	if (got < 0)
		fail("poll");
	for (i = 0; i < got; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			fail("completion: %s", ibv_wc_status_str(wc[i].status));
	return got;
}

static void poll_one(struct end *e)
{
	uint64_t end = now() + WAIT_NS;
	struct ibv_wc wc;

	while (!poll_some(e, &wc, 1))
		if (now() > end)
			fail("no completion");
}

/* ---- bandwidth, client ---- */

struct bw {
	struct list list;
	uint32_t depth;
	uint32_t sig_every;
	uint32_t out[MAX_QPS];
	uint32_t unsignaled[MAX_QPS];
	uint64_t posted;
	uint64_t done;
};

static void post_list(struct end *e, struct bw *bw, uint32_t q, bool signal)
{
	struct ibv_send_wr *last = bw->list.wr;
	uint32_t n = 1;

	for (; last->next; last = last->next)
		n++;
	bw->unsignaled[q] += n;
	last->send_flags &= ~IBV_SEND_SIGNALED;
	if (signal || n > 1 || bw->unsignaled[q] >= bw->sig_every) {
		last->send_flags |= IBV_SEND_SIGNALED;
		last->wr_id = (uint64_t)q << 32 | bw->unsignaled[q];
		bw->unsignaled[q] = 0;
	}
	post(e, q, bw->list.wr);
	bw->out[q] += n;
	bw->posted += n;
}

static void reap(struct end *e, struct bw *bw)
{
	struct ibv_wc wc[32];
	int i, n = poll_some(e, wc, 32);

	for (i = 0; i < n; i++) {
		bw->out[wc[i].wr_id >> 32] -= (uint32_t)wc[i].wr_id;
		bw->done += (uint32_t)wc[i].wr_id;
	}
}

static void keep_full(struct end *e, struct bw *bw, const struct point *p)
{
	uint32_t q;

	for (q = 0; q < p->qps; q++)
		while (bw->out[q] + p->list <= bw->depth)
			post_list(e, bw, q, false);
}

static void drain(struct end *e, struct bw *bw, const struct point *p)
{
	uint64_t end = now() + WAIT_NS;
	uint32_t q;

	bw->list.wr[0].next = NULL;
	for (q = 0; q < p->qps; q++)
		if (bw->unsignaled[q])
			post_list(e, bw, q, true);
	while (bw->done < bw->posted) {
		reap(e, bw);
		if (now() > end)
			fail("does not end: %llu of %llu", (unsigned long long)bw->done,
			     (unsigned long long)bw->posted);
	}
}

static void print_bw(const struct point *p, const struct sample *a, const struct sample *z,
		     uint64_t messages, uint64_t posts)
{
	double s = (z->ns - a->ns) / 1e9;
	double mib = (double)messages * p->size / (1 << 20);

	printf("%s bytes_s=%.0f msgs_s=%.1f kcpu_us_msg=%.4f kcpu_ms_mib=%.5f", p->text,
	       messages * p->size / s, messages / s, (z->kernel_us - a->kernel_us) / messages,
	       (z->kernel_us - a->kernel_us) / 1e3 / mib);
	if (p->kind == 's' && a->syscalls >= 0)
		printf(" syscalls_mpost=%.1f", (z->syscalls - a->syscalls) * 1e6 / posts);
	if (z->insn[0])
		printf(" iuser_msg=%.1f ikernel_msg=%.1f imodule_msg=%.1f ikernel_mib=%.0f imodule_mib=%.0f",
		       (double)(z->insn[0] - a->insn[0]) / messages,
		       (double)(z->insn[1] - a->insn[1]) / messages,
		       (double)(z->insn[2] - a->insn[2]) / messages,
		       (z->insn[1] - a->insn[1]) / mib, (z->insn[2] - a->insn[2]) / mib);
	printf("\n");
}

static uint64_t run_bw(struct end *e, const struct point *p)
{
	uint64_t start = now(), limit = start + WAIT_NS, done, posted, t;
	static struct bw bw;
	struct sample a, z;
	bool begun = false;

	memset(&bw, 0, sizeof(bw));
	make_list(&bw.list, e, p, 0);
	bw.depth = depth_of(p);
	bw.sig_every = bw.depth / 4 > 16 ? 16 : bw.depth / 4 ? bw.depth / 4 : 1;
	for (;;) {
		done = bw.done;
		keep_full(e, &bw, p);
		reap(e, &bw);
		t = now();
		if (t > limit)
			fail("too slow");
		if (bw.done == done)
			continue;
		if (!begun && t > start + e->warm_ns && bw.done >= bw.depth) {
			begun = true;
			done = bw.done;
			posted = bw.posted;
			take_sample(e, &a, p->kind == 's');
			a.done = bw.done;
			a.posted = posted;
			profile(e, true);
		}
		if (begun && t - a.ns >= e->run_ns && bw.done - a.done >= 4 &&
		    (p->kind != 's' || bw.posted - a.posted >= SYS_POSTS)) {
			profile(e, false);
			take_sample(e, &z, p->kind == 's');
			break;
		}
	}
	print_bw(p, &a, &z, bw.done - a.done, bw.posted - a.posted);
	drain(e, &bw, p);
	return bw.posted;
}

/* ---- latency, client ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* WRITEs land in the second half of the buffer, their last byte says that they are there. */
static volatile uint8_t *landing(const struct end *e, const struct point *p)
{
	return (volatile uint8_t *)e->buf + LANDING + p->size - 1;
}

static void wait_for_byte(const volatile uint8_t *byte, uint8_t want)
{
	uint64_t end = now() + WAIT_NS;
	uint32_t i = 0;

	while (*byte != want)
		if (!(++i % 65536) && now() > end)
			fail("nothing arrives");
}

static void ping(struct end *e, const struct point *p, struct list *l, uint8_t seq)
{
	e->buf[p->size - 1] = seq;
	l->wr[0].send_flags |= IBV_SEND_SIGNALED;
	l->wr[0].wr_id = 0;
	post(e, 0, l->wr);
}

/* Until the answer to what was sent is there; the completion of the send, too. */
static void await_pong(struct end *e, const struct point *p, uint8_t seq)
{
	struct ibv_wc wc;
	int need = 2;

	if (p->op == 'w')
		wait_for_byte(landing(e, p), seq);
	if (p->op != 's') {
		poll_one(e);
		return;
	}
	while (need) {
		if (!poll_some(e, &wc, 1))
			continue;
		if (wc.opcode == IBV_WC_RECV)
			post_receives(e, 0, 1);
		need--;
	}
}

static uint64_t run_lat(struct end *e, const struct point *p)
{
	static double us[MAX_SAMPLES];
	uint64_t start = now(), begin = start + e->warm_ns, t, sent = 0;
	double half = p->op == 'r' ? 1 : 2;
	struct sample a, z;
	uint8_t seq = 0;
	struct list l;
	int n = 0;

	make_list(&l, e, p, LANDING);
	take_sample(e, &a, false);
	for (t = start; n < MAX_SAMPLES && (t < begin + e->run_ns || n < 5);) {
		uint64_t before = t;

		if (t < begin)
			take_sample(e, &a, false);
		seq = seq % (STOP - 1) + 1;
		ping(e, p, &l, seq);
		await_pong(e, p, seq);
		sent++;
		t = now();
		if (before >= begin)
			us[n++] = (t - before) / 1e3 / half;
	}
	take_sample(e, &z, false);
	if (p->op == 'w') {
		ping(e, p, &l, STOP);
		poll_one(e);
	}
	qsort(us, n, sizeof(us[0]), by_value);
	printf("%s us=%.2f us99=%.2f", p->text, us[n / 2], us[n * 99 / 100]);
	if (z.insn[0])
		printf(" iuser_msg=%.1f ikernel_msg=%.1f imodule_msg=%.1f",
		       (z.insn[0] - a.insn[0]) / half / n, (z.insn[1] - a.insn[1]) / half / n,
		       (z.insn[2] - a.insn[2]) / half / n);
	printf("\n");
	return sent;
}

/* ---- server ---- */

/* Takes messages until the client has said how many there were; @echo sends each back. */
static void serve_sends(struct end *e, const struct point *p, bool echo)
{
	uint64_t got = 0, echoed = 0, total = UINT64_MAX, end = now() + 2 * WAIT_NS;
	uint32_t idle = 0, fresh[MAX_QPS] = {};
	struct ibv_wc wc[32];
	struct list l;
	uint32_t q;
	int i, n;

	make_list(&l, e, p, 0);
	while (got < total || (echo && echoed < got)) {
		n = poll_some(e, wc, 32);
		for (i = 0; i < n; i++) {
			if (wc[i].opcode != IBV_WC_RECV) {
				echoed++;
				continue;
			}
			if (echo)
				ping(e, p, &l, 0);
			q = wc[i].wr_id;
			got++;
			if (++fresh[q] >= (echo ? 1 : 16)) {
				post_receives(e, q, fresh[q]);
				fresh[q] = 0;
			}
		}
		if (n)
			continue;
		if (!(++idle % 1024) && now() > end)
			fail("server: messages are missing");
		if (!(idle % 256) && recv(e->ctl, &total, sizeof(total), MSG_DONTWAIT) == 0)
			exit(0);
	}
	for (q = 0; q < p->qps; q++)
		post_receives(e, q, fresh[q]);
}

static void serve_pings(struct end *e, const struct point *p)
{
	volatile uint8_t *byte = landing(e, p);
	uint8_t seq = 0;
	struct list l;

	make_list(&l, e, p, LANDING);
	for (;;) {
		uint64_t end = now() + WAIT_NS;
		uint8_t next = seq % (STOP - 1) + 1;
		uint32_t i = 0;

		while (*byte != next && *byte != STOP)
			if (!(++i % 65536) && now() > end)
				fail("server: nothing arrives");
		if (*byte == STOP)
			break;
		seq = next;
		ping(e, p, &l, seq);
		poll_one(e);
	}
}

static void serve(struct end *e)
{
	struct point p;
	uint64_t total;
	char ok = 1;

	while (recv(e->ctl, &p, sizeof(p), MSG_WAITALL) == sizeof(p)) {
		need_qps(e, p.qps);
		*landing(e, &p) = 0;
		tell(e, &ok, 1);
		if (p.op == 's') {
			serve_sends(e, &p, p.kind == 'l');
		} else {
			if (p.op == 'w' && p.kind == 'l')
				serve_pings(e, &p);
			hear(e, &total, sizeof(total));
		}
		tell(e, &ok, 1);
	}
	exit(0);
}

/* ---- client ---- */

static bool parse(const char *line, struct point *p)
{
	char kind[16], op[16];

	memset(p, 0, sizeof(*p));
	if (sscanf(line, "%15s %15s %u %u %u", kind, op, &p->size, &p->qps, &p->list) != 5)
		return false;
	p->kind = kind[0];
	p->op = op[0];
	snprintf(p->text, sizeof(p->text), "%s %s %u %u %u", kind, op, p->size, p->qps, p->list);
	return p->size && p->size <= MAX_SIZE && p->qps && p->qps <= MAX_QPS && p->list &&
	       p->list <= MAX_LIST;
}

static void client(struct end *e)
{
	char line[256], ok;
	struct point p;
	uint64_t total;

	while (fgets(line, sizeof(line), stdin)) {
		if (!parse(line, &p))
			fail("what is \"%s\"?", line);
		tell(e, &p, sizeof(p));
		need_qps(e, p.qps);
		*landing(e, &p) = 0;
		hear(e, &ok, 1);
		total = p.kind == 'l' ? run_lat(e, &p) : run_bw(e, &p);
		tell(e, &total, sizeof(total));
		hear(e, &ok, 1);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *names[2] = { NULL, NULL };
	struct end e = { .mtu = 1024, .run_ns = 300 * MS };
	int c, pair[2], status = 0;
	pid_t child;

	while ((c = getopt(argc, argv, "c:s:m:t:i:R")) != -1) {
		switch (c) {
		case 'c':
			names[0] = optarg;
			break;
		case 's':
			names[1] = optarg;
			break;
		case 'm':
			e.mtu = atoi(optarg);
			break;
		case 't':
			e.run_ns = atoi(optarg) * MS;
			break;
		case 'i':
			e.insn_fd = open(optarg, O_RDWR);
			break;
		case 'R':
			e.cm = true;
			break;
		default:
			return 2;
		}
	}
	if (!names[0] || !names[1])
		return 2;
	e.warm_ns = e.run_ns / 4;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		fail("socketpair");
	child = fork();
	e.server = child == 0;
	e.ctl = pair[e.server];
	close(pair[!e.server]);
	open_end(&e, names[e.server], names[!e.server]);
	if (e.server)
		serve(&e);
	client(&e);
	close(e.ctl);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
