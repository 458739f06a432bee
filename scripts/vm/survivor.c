// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * survivor DEV GID-INDEX -- a process that outlives its device, and says what it sees.
 *
 * It has an RC QP connected to itself, which WRITEs without a pause while one thread polls its CQ, another
 * waits for completion events of a second CQ, and a third for asynchronous events. One line a fact:
 *
 *	ready				the QP works
 *	event NAME			an asynchronous event
 *	completion STATUS		of a WRITE that failed; there are no more WRITEs then
 *	poll ERRNO, wait ERRNO		the poller, the waiter has ended
 *	VERB ERRNO			after the device is gone: what a call answers
 *	gone				all of it was as it should be
 *
 * It ends after IB_EVENT_DEVICE_FATAL. Exit status: 0 if poller and waiter ended, every verb failed with EIO,
 * and everything could be destroyed and closed; 1 if not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEPTH	16
#define BYTES	4096

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq, *idle_cq;
static struct ibv_qp *qp;
static char buf[2 * BYTES];
static atomic_bool written, stopped, fatal, failed;

static void die(const char *what)
{
	fprintf(stderr, "survivor: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Name of an errno value that matters here. */
static const char *name(int err)
{
	static _Thread_local char number[16];

	if (!err)
		return "ok";
	if (err == EIO)
		return "EIO";
	snprintf(number, sizeof(number), "%d", err);
	return number;
}

static void must(const char *verb, int err, int wanted)
{
	printf("%s %s\n", verb, name(err));
	if (err != wanted)
		failed = true;
}

static int write_one(void)
{
	struct ibv_sge sge = { .addr = (uintptr_t)buf, .length = BYTES, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)buf + BYTES, .rkey = mr->rkey },
	};

	return ibv_post_send(qp, &wr, &bad);
}

static void *poller(void *arg)
{
	struct ibv_wc wc;
	int i, n;

	for (i = 0; i < DEPTH; i++)
		write_one();
	while ((n = ibv_poll_cq(cq, 1, &wc)) >= 0) {
		if (!n)
			continue;
		if (wc.status == IBV_WC_SUCCESS) {
			written = true;
			write_one();
		} else if (!stopped) {
			stopped = true;
			printf("completion %s\n", ibv_wc_status_str(wc.status));
		}
	}
	must("poll", -n, EIO);
	return NULL;
}

/* Nothing ever completes on this CQ. */
static void *waiter(void *arg)
{
	struct ibv_cq *which;
	void *ctx;

	if (!ibv_get_cq_event(channel, &which, &ctx)) {
		printf("wait: an event\n");
		failed = true;
	} else {
		must("wait", errno, EIO);
	}
	return NULL;
}

static const char *event_name(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_DEVICE_FATAL:	return "DEVICE_FATAL";
	case IBV_EVENT_PORT_ACTIVE:	return "PORT_ACTIVE";
	case IBV_EVENT_PORT_ERR:	return "PORT_ERR";
	case IBV_EVENT_GID_CHANGE:	return "GID_CHANGE";
	case IBV_EVENT_QP_FATAL:	return "QP_FATAL";
	case IBV_EVENT_COMM_EST:	return "COMM_EST";
	default:			return ibv_event_type_str(type);
	}
}

static void *listener(void *arg)
{
	struct ibv_async_event event;

	while (!ibv_get_async_event(context, &event)) {
		printf("event %s\n", event_name(event.event_type));
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			fatal = true;
	}
	if (!fatal)
		printf("no more events: %s\n", name(errno));
	return NULL;
}

static void open_device(const char *dev)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), dev))
			context = ibv_open_device(list[i]);
	if (!context)
		die(dev);
	ibv_free_device_list(list);
}

static void create_objects(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	pd = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	if (!pd || !channel)
		die("PD or channel");
	mr = ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	cq = ibv_create_cq(context, 2 * DEPTH, NULL, NULL, 0);
	idle_cq = ibv_create_cq(context, DEPTH, NULL, channel, 0);
	if (!mr || !cq || !idle_cq || ibv_req_notify_cq(idle_cq, 0))
		die("MR or CQ");
	init.send_cq = cq;
	init.recv_cq = cq;
	qp = ibv_create_qp(pd, &init);
	if (!qp)
		die("QP");
}

static void connect_to_self(int gid_index)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	union ibv_gid gid;

	if (ibv_query_gid(context, 1, gid_index, &gid) ||
	    ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("INIT");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 64 },
		},
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		die("RTR");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("RTS");
}

/* The answer of a verb that makes something. */
static int of(const void *object)
{
	return object ? 0 : errno;
}

static void try_verbs(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_recv_wr *bad, wr = {};
	struct ibv_port_attr port;
	struct ibv_wc wc;

	must("query_port", ibv_query_port(context, 1, &port), EIO);
	must("alloc_pd", of(ibv_alloc_pd(context)), EIO);
	must("reg_mr", of(ibv_reg_mr(pd, buf, BYTES, 0)), EIO);
	must("create_cq", of(ibv_create_cq(context, 1, NULL, NULL, 0)), EIO);
	must("create_qp", of(ibv_create_qp(pd, &init)), EIO);
	must("modify_qp", ibv_modify_qp(qp, &attr, IBV_QP_STATE), EIO);
	must("query_qp", ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), EIO);
	must("post_send", write_one(), EIO);
	must("post_recv", ibv_post_recv(qp, &wr, &bad), EIO);
	must("poll_cq", -ibv_poll_cq(idle_cq, 1, &wc), EIO);
	must("req_notify_cq", ibv_req_notify_cq(cq, 0), EIO);
}

static void destroy_objects(void)
{
	must("destroy_qp", ibv_destroy_qp(qp), 0);
	must("destroy_cq", ibv_destroy_cq(cq), 0);
	must("destroy_cq", ibv_destroy_cq(idle_cq), 0);
	must("destroy_comp_channel", ibv_destroy_comp_channel(channel), 0);
	must("dereg_mr", ibv_dereg_mr(mr), 0);
	must("dealloc_pd", ibv_dealloc_pd(pd), 0);
}

static void join(pthread_t thread, const char *what)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 100;
	if (pthread_timedjoin_np(thread, NULL, &until)) {
		printf("%s goes on\n", what);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	pthread_t poll_thread, wait_thread, listen_thread;

	if (argc != 3)
		die("usage: survivor DEV GID-INDEX");
	setlinebuf(stdout);
	open_device(argv[1]);
	create_objects();
	connect_to_self(atoi(argv[2]));
	pthread_create(&listen_thread, NULL, listener, NULL);
	pthread_create(&poll_thread, NULL, poller, NULL);
	pthread_create(&wait_thread, NULL, waiter, NULL);
	while (!written)
		usleep(1000);
	printf("ready\n");

	while (!fatal)
		usleep(10000);
	join(poll_thread, "poller");
	join(wait_thread, "waiter");
	try_verbs();
	destroy_objects();
	/* the listener still has it; closing is the end of both */
	must("close_device", ibv_close_device(context), 0);
	if (failed)
		return 1;
	printf("gone\n");
	return 0;
}
