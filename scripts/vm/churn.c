// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * churn -s ADDRESS COUNT		accept COUNT connections of rdma_cm, one after the other
 * churn -c ADDRESS COUNT		make them
 *
 * Each carries one message, and everything of it is made anew and destroyed. What a peer that asks for nothing
 * special offers to answer, READs and atomics at a time, must not be more than MAX_OFFER: there are targets that
 * reject more.
 * Exit status: 0 if all of them worked.
 */
#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT		"7471"
#define MAX_OFFER	16

static const char *address;
static char buf[4096];

static void die(const char *what)
{
	fprintf(stderr, "churn: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct rdma_cm_id *endpoint(int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP };
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	if (rdma_getaddrinfo(address, PORT, &hints, &info))
		die("getaddrinfo");
	if (rdma_create_ep(&id, info, NULL, &attr))
		die("create_ep");
	rdma_freeaddrinfo(info);
	return id;
}

static void serve_one(struct rdma_cm_id *listener)
{
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_wc wc;

	if (rdma_get_request(listener, &id))
		die("get_request");
	/* the peer's responder resources are what we may initiate */
	if (id->event->param.conn.initiator_depth > MAX_OFFER) {
		fprintf(stderr, "churn: responder resources %d\n", id->event->param.conn.initiator_depth);
		exit(1);
	}
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	if (!mr || rdma_post_recv(id, NULL, buf, sizeof(buf), mr) || rdma_accept(id, NULL))
		die("accept");
	if (rdma_get_recv_comp(id, &wc) != 1 || wc.status != IBV_WC_SUCCESS || strcmp(buf, "hello"))
		die("receive");
	rdma_disconnect(id);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
}

static void connect_one(void)
{
	struct rdma_cm_id *id = endpoint(0);
	struct ibv_mr *mr = rdma_reg_msgs(id, buf, sizeof(buf));
	struct ibv_wc wc;

	strcpy(buf, "hello");
	if (!mr || rdma_connect(id, NULL))
		die("connect");
	if (rdma_post_send(id, NULL, buf, sizeof(buf), mr, 0) ||
	    rdma_get_send_comp(id, &wc) != 1 || wc.status != IBV_WC_SUCCESS)
		die("send");
	rdma_disconnect(id);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *listener;
	int i, count;

	if (argc != 4) {
		fprintf(stderr, "usage: churn -s|-c ADDRESS COUNT\n");
		return 1;
	}
	address = argv[2];
	count = atoi(argv[3]);
	if (!strcmp(argv[1], "-c")) {
		for (i = 0; i < count; i++)
			connect_one();
		return 0;
	}
	listener = endpoint(RAI_PASSIVE);
	if (rdma_listen(listener, 16))
		die("listen");
	for (i = 0; i < count; i++)
		serve_one(listener);
	rdma_destroy_ep(listener);
	return 0;
}
