// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the connection manager offers to a peer, by default and if all is asked for.
 * Listener and client are on the host of one device.
 */
#include <rdma/rdma_cma.h>

#include "lib.h"

/* More than this many READs at a time third-party responders refuse. */
#define OF_OTHERS	16

static struct rdma_event_channel *channel;

static struct rdma_cm_event *wait_event(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	CHECK_OK(rdma_get_cm_event(channel, &event));
	if (event->event != type)
		FAIL("%s (%d), not %s", rdma_event_str(event->event), event->status,
		     rdma_event_str(type));
	return event;
}

static void took(enum rdma_cm_event_type type)
{
	CHECK_OK(rdma_ack_cm_event(wait_event(type)));
}

static struct sockaddr_in own_address(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	memcpy(&address.sin_addr, node_a.gid.raw + 12, 4);
	return address;
}

static struct rdma_cm_id *listener(struct sockaddr_in *address)
{
	struct rdma_cm_id *id;

	CHECK_OK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	CHECK_OK(rdma_bind_addr(id, (struct sockaddr *)address));
	CHECK_OK(rdma_listen(id, 1));
	address->sin_port = rdma_get_src_port(id);
	return id;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	CHECK_OK(rdma_create_qp(id, NULL, &init));
}

static int rd_atomic(struct rdma_cm_id *id, bool dest)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_OK(ibv_query_qp(id->qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC,
			      &init));
	return dest ? attr.max_dest_rd_atomic : attr.max_rd_atomic;
}

/* The listener takes what it is told; so the offer is what its QP may have outstanding. */
static void offer(int all)
{
	struct rdma_conn_param ask = {
		.responder_resources = all ? RDMA_MAX_RESP_RES : 4,
		.initiator_depth = all ? RDMA_MAX_INIT_DEPTH : 4,
		.retry_count = 7,
	}, answer = {};
	struct sockaddr_in address = own_address();
	struct rdma_cm_id *server, *client, *accepted;
	struct rdma_cm_event *event;

	channel = rdma_create_event_channel();
	CHECK(channel);
	server = listener(&address);
	CHECK_OK(rdma_create_id(channel, &client, NULL, RDMA_PS_TCP));
	CHECK_OK(rdma_resolve_addr(client, NULL, (struct sockaddr *)&address, 5000));
	took(RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK_OK(rdma_resolve_route(client, 5000));
	took(RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(client);
	CHECK_OK(rdma_connect(client, &ask));

	event = wait_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	accepted = event->id;
	answer = event->param.conn;
	answer.private_data = NULL;
	answer.private_data_len = 0;
	/* as the listener sees it: it may initiate what the other responds to */
	CHECK_EQ(answer.initiator_depth, all ? OF_OTHERS : 4);
	CHECK_GE(OF_OTHERS, answer.initiator_depth);
	note("offered: responder_resources %d, initiator_depth %d", answer.initiator_depth,
	     answer.responder_resources);
	CHECK_OK(rdma_ack_cm_event(event));
	if (answer.responder_resources > OF_OTHERS)
		answer.responder_resources = OF_OTHERS;
	make_qp(accepted);
	CHECK_OK(rdma_accept(accepted, &answer));
	took(RDMA_CM_EVENT_ESTABLISHED);
	took(RDMA_CM_EVENT_ESTABLISHED);
	CHECK_EQ(rd_atomic(client, true), answer.initiator_depth);
	CHECK_EQ(rd_atomic(accepted, false), answer.initiator_depth);
	CHECK_EQ(rd_atomic(accepted, true), answer.responder_resources);
	CHECK_EQ(rd_atomic(client, false), answer.responder_resources);

	CHECK_OK(rdma_disconnect(client));
	took(RDMA_CM_EVENT_DISCONNECTED);
	CHECK_OK(rdma_disconnect(accepted));
	took(RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(client);
	rdma_destroy_qp(accepted);
	CHECK_OK(rdma_destroy_id(client));
	CHECK_OK(rdma_destroy_id(accepted));
	CHECK_OK(rdma_destroy_id(server));
}

static const struct test tests[] = {
	{ "offer of four READs", offer, false },
	{ "offer of as many as there are: no more than others can", offer, true },
};

VERBS_MAIN(tests)
