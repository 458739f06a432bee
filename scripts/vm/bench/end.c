// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One end of a measurement: device, memory, queue pairs, counters.
 */
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "rdma.h"

#define CM_PORT		18600
#define ACK_TIMEOUT	19		/* 2 s: nothing is retried that was not lost */

void tell(struct end *e, const void *what, size_t bytes)
{
	if (send(e->ctl, what, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
		fail("the other process is gone");
}

void hear(struct end *e, void *what, size_t bytes)
{
	if (recv(e->ctl, what, bytes, MSG_WAITALL) != (ssize_t)bytes)
		fail("the other process is gone");
}

static void exchange(struct end *e, const void *mine, void *others, size_t bytes)
{
	tell(e, mine, bytes);
	hear(e, others, bytes);
}

/* ---- device ---- */

/* What rdma_cm connects belongs to its own context of the device. */
static struct ibv_context *cm_context(const char *name)
{
	struct ibv_context **list = rdma_get_devices(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]->device), name))
			return list[i];
	return NULL;
}

static void open_device(struct end *e, const char *name)
{
	struct ibv_device **list = e->cm ? NULL : ibv_get_device_list(NULL);
	int i;

	if (e->cm)
		e->ctx = cm_context(name);

	for (i = 0; list && list[i] && !e->ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			e->ctx = ibv_open_device(list[i]);
	if (!e->ctx)
		fail("cannot open %s", name);
	if (list)
		ibv_free_device_list(list);
}

static void make_memory(struct end *e)
{
	struct { uint64_t addr; uint32_t rkey; union ibv_gid gid; } mine = {}, others;
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	e->buf = mmap(NULL, BUF_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 16384, NULL, NULL, 0);
	if (e->buf == MAP_FAILED || !e->pd || !e->cq)
		fail("no memory");
	e->mr = ibv_reg_mr(e->pd, e->buf, BUF_BYTES, access);
	if (!e->mr)
		fail("reg_mr: %s", strerror(errno));
	if (!e->cm && ibv_query_gid(e->ctx, 1, e->gid_index, &e->gid))
		fail("no GID %d", e->gid_index);
	mine.addr = (uintptr_t)e->buf;
	mine.rkey = e->mr->rkey;
	mine.gid = e->gid;
	exchange(e, &mine, &others, sizeof(mine));
	e->peer_addr = others.addr;
	e->peer_rkey = others.rkey;
	e->peer_gid = others.gid;
}

static void resolve(const char *address, struct sockaddr_in *sin)
{
	*sin = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(CM_PORT) };
	if (inet_pton(AF_INET, address, &sin->sin_addr) != 1)
		fail("address %s", address);
}

static void start_cm(struct end *e)
{
	struct sockaddr_in sin;
	char ok = 1;

	e->channel = rdma_create_event_channel();
	if (!e->channel)
		fail("rdma_cm: %s", strerror(errno));
	if (!e->server) {
		hear(e, &ok, 1);
		return;
	}
	resolve(e->address, &sin);
	if (rdma_create_id(e->channel, &e->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(e->listener, (struct sockaddr *)&sin) || rdma_listen(e->listener, 64))
		fail("rdma_listen: %s", strerror(errno));
	tell(e, &ok, 1);
}

void open_end(struct end *e, const char *mine, const char *others)
{
	char *dev = strdup(mine), *peer = strdup(others), *gid, *address;

	gid = strchr(dev, ',');
	address = gid ? strchr(gid + 1, ',') : NULL;
	if (!address)
		fail("DEV,GID,ADDRESS, not %s", mine);
	*gid++ = 0;
	*address++ = 0;
	e->gid_index = atoi(gid);
	e->address = address;
	e->peer_address = strrchr(peer, ',') + 1;
	open_device(e, dev);
	make_memory(e);
	if (e->cm)
		start_cm(e);
}

/* ---- queue pairs ---- */

static struct ibv_qp_init_attr qp_init(struct end *e)
{
	return (struct ibv_qp_init_attr){
		.send_cq = e->cq, .recv_cq = e->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 2 * MAX_DEPTH, .max_recv_wr = RECEIVES,
			 .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 64 },
	};
}

void post_receives(struct end *e, uint32_t qp, uint32_t n)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)e->buf + LANDING, .length = MAX_SIZE, .lkey = e->mr->lkey,
	};
	struct ibv_recv_wr wr[RECEIVES], *bad;
	uint32_t i;

	if (!n)
		return;
	for (i = 0; i < n; i++)
		wr[i] = (struct ibv_recv_wr){
			.wr_id = qp, .sg_list = &sge, .num_sge = 1,
			.next = i + 1 < n ? &wr[i + 1] : NULL,
		};
	if (ibv_post_recv(e->qp[qp], wr, &bad))
		fail("post_recv");
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int err = ibv_modify_qp(qp, attr, mask);

	if (err)
		fail("modify_qp to %d: %s", attr->qp_state, strerror(err));
}

static void connect_by_hand(struct end *e, uint32_t n)
{
	struct ibv_qp_init_attr init = qp_init(e);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};
	struct ibv_qp *qp = ibv_create_qp(e->pd, &init);
	uint32_t others;

	if (!qp)
		fail("create_qp %u: %s", n, strerror(errno));
	e->qp[n] = qp;
	e->max_inline = init.cap.max_inline_data;
	exchange(e, &qp->qp_num, &others, sizeof(others));
	modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	post_receives(e, n, RECEIVES);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = e->mtu == 4096 ? IBV_MTU_4096 : e->mtu == 2048 ? IBV_MTU_2048 :
									     IBV_MTU_1024,
		.dest_qp_num = others,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = e->peer_gid, .sgid_index = e->gid_index, .hop_limit = 64 } },
	};
	modify(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
	       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = ACK_TIMEOUT, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 16,
	};
	modify(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* The next event, which must be this one; the identifier it is about. */
static struct rdma_cm_id *await(struct end *e, enum rdma_cm_event_type want)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(e->channel, &event))
		fail("rdma_cm: %s", strerror(errno));
	if (event->event != want)
		fail("rdma_cm: %s, not %s", rdma_event_str(event->event), rdma_event_str(want));
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

static void make_cm_qp(struct end *e, struct rdma_cm_id *id, uint32_t n)
{
	struct ibv_qp_init_attr init = qp_init(e);

	if (rdma_create_qp(id, e->pd, &init))
		fail("rdma_create_qp: %s", strerror(errno));
	e->qp[n] = id->qp;
	e->max_inline = init.cap.max_inline_data;
	post_receives(e, n, RECEIVES);
}

static void connect_by_cm(struct end *e, uint32_t n)
{
	struct rdma_conn_param param = {
		.responder_resources = 16, .initiator_depth = 16, .retry_count = 7, .rnr_retry_count = 7,
	};
	struct sockaddr_in from, to;
	struct rdma_cm_id *id;

	if (e->server) {
		id = await(e, RDMA_CM_EVENT_CONNECT_REQUEST);
		make_cm_qp(e, id, n);
		if (rdma_accept(id, &param))
			fail("rdma_accept: %s", strerror(errno));
		await(e, RDMA_CM_EVENT_ESTABLISHED);
		return;
	}
	resolve(e->address, &from);
	from.sin_port = 0;
	resolve(e->peer_address, &to);
	if (rdma_create_id(e->channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&to, 5000))
		fail("rdma_resolve_addr: %s", strerror(errno));
	await(e, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, 5000))
		fail("rdma_resolve_route: %s", strerror(errno));
	await(e, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_cm_qp(e, id, n);
	if (rdma_connect(id, &param))
		fail("rdma_connect: %s", strerror(errno));
	await(e, RDMA_CM_EVENT_ESTABLISHED);
}

void need_qps(struct end *e, uint32_t n)
{
	char ok = 1, others;

	if (e->num_qps >= n)
		return;
	for (; e->num_qps < n; e->num_qps++) {
		if (e->cm)
			connect_by_cm(e, e->num_qps);
		else
			connect_by_hand(e, e->num_qps);
	}
	/* The other end takes packets from here on. */
	exchange(e, &ok, &others, 1);
}

/* ---- counters ---- */

/* Time in the kernel: system, irq, softirq, of all processors, in units of 10 ms. */
static double kernel_us(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	FILE *f = fopen("/proc/stat", "r");
	int n = 0;

	if (f) {
		n = fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
			   &iowait, &irq, &softirq);
		fclose(f);
	}
	return n == 7 ? (system + irq + softirq) * 1e4 : 0;
}

static int open_syscall_counter(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr) };
	FILE *f = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "r");
	unsigned long long id;
	int n;

	if (!f)
		return -1;
	n = fscanf(f, "%llu", &id);
	fclose(f);
	if (n != 1)
		return -1;
	attr.config = id;
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static int syscall_fd = -1;

static bool counting(void)
{
	return syscall_fd >= 0;
}

/* Counts from the first call to the second one, which closes the counter: it slows all system calls. */
static int64_t syscalls(bool want)
{
	int64_t n = -1;

	if (!want)
		return -1;
	if (syscall_fd < 0) {
		syscall_fd = open_syscall_counter();
		return syscall_fd < 0 ? -1 : 0;
	}
	if (read(syscall_fd, &n, sizeof(n)) != sizeof(n))
		n = -1;
	else
		n--;			/* this one */
	close(syscall_fd);
	syscall_fd = -1;
	return n;
}

/* Written by icount.c: four words a processor, the third being the module's part. */
static void instructions(const struct end *e, uint64_t insn[3])
{
	uint64_t lane[16][4];
	ssize_t n;
	int i, k;

	memset(insn, 0, 3 * sizeof(*insn));
	if (e->insn_fd <= 0)
		return;
	n = pread(e->insn_fd, lane, sizeof(lane), 0);
	for (i = 0; i < n / (ssize_t)sizeof(lane[0]); i++)
		for (k = 0; k < 3; k++)
			insn[k] += lane[i][k];
}

void profile(const struct end *e, bool on)
{
	uint64_t word = on;

	if (e->insn_fd > 0 && pwrite(e->insn_fd, &word, sizeof(word), (16 * 4 + 2) * sizeof(word)) < 0)
		fail("the counters of instructions cannot be written");
}

void take_sample(struct end *e, struct sample *s, bool want_syscalls)
{
	bool first = want_syscalls && !counting();

	/* What taking the sample costs is not counted. */
	if (!first)
		s->syscalls = syscalls(want_syscalls);
	s->kernel_us = kernel_us();
	instructions(e, s->insn);
	if (first)
		s->syscalls = syscalls(want_syscalls);
	s->ns = now();
}
