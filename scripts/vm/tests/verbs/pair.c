// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pairs of queue pairs, and what is done with them.
 */
#include <poll.h>
#include <sys/mman.h>

#include "lib.h"

/* How long something may take that is bound to happen. */
static uint64_t patience(void)
{
	const char *seconds = getenv("VERBS_PATIENCE");

	return (seconds ? strtoul(seconds, NULL, 10) : 60) * SEC;
}

/* ---- creation ---- */

struct ibv_mr *reg(struct node *node, void *addr, size_t bytes, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(node->pd, addr, bytes, access);

	if (!mr)
		FAIL("%s: region of %zu bytes: %s", node->name, bytes, strerror(errno));
	return mr;
}

static void create_srq(struct end *e)
{
	struct ibv_srq_init_attr init = {
		.srq_context = e,
		.attr = { .max_wr = e->setup->srq_wr, .max_sge = e->setup->sges },
	};

	e->srq = ibv_create_srq(e->node->pd, &init);
	if (!e->srq)
		FAIL("%s: no SRQ: %s", e->node->name, strerror(errno));
}

static void create_qp(struct end *e)
{
	const struct setup *s = e->setup;
	struct ibv_qp_init_attr_ex init = {
		.qp_context = e,
		.send_cq = e->scq,
		.recv_cq = e->rcq,
		.srq = e->srq,
		.qp_type = s->type,
		.cap = {
			.max_send_wr = s->depth,
			.max_recv_wr = s->depth,
			.max_send_sge = s->sges,
			.max_recv_sge = s->sges,
			.max_inline_data = s->inline_bytes,
		},
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     (s->ex_ops ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
		.pd = e->node->pd,
		.send_ops_flags = s->ex_ops,
	};

	e->qp = ibv_create_qp_ex(e->node->ctx, &init);
	if (!e->qp)
		FAIL("%s: no QP: %s", e->node->name, strerror(errno));
}

static void create_end(struct end *e, struct node *node, struct end *peer,
		       const struct setup *setup, uint32_t psn)
{
	e->node = node;
	e->peer = peer;
	e->setup = setup;
	e->psn = psn;
	e->bytes = setup->bytes;
	e->buf = map_pages(e->bytes);
	e->mr = reg(node, e->buf, e->bytes, setup->mr_access);
	e->chan = ibv_create_comp_channel(node->ctx);
	CHECK(e->chan);
	e->scq = ibv_create_cq(node->ctx, 2 * setup->depth, e, NULL, 0);
	e->rcq = ibv_create_cq(node->ctx, 2 * setup->depth, e, e->chan, 0);
	CHECK(e->scq && e->rcq);
	if (setup->srq_wr)
		create_srq(e);
	create_qp(e);
}

void pair_create(struct pair *p, struct setup setup)
{
	memset(p, 0, sizeof(*p));
	p->setup = setup;
	create_end(&p->a, &node_a, &p->b, &p->setup, setup.psn_a);
	create_end(&p->b, &node_b, &p->a, &p->setup, setup.psn_b);
}

/* As applications do that exchange these options by hand. */
static void agree(struct end *a, struct end *b)
{
	struct ibv_ece ece = {};
	int err = ibv_query_ece(a->qp, &ece);

	/* Nothing is offered. */
	if (err == EOPNOTSUPP)
		return;
	CHECK_OK(err);
	CHECK_OK(ibv_set_ece(b->qp, &ece));
	CHECK_OK(ibv_query_ece(b->qp, &ece));
	CHECK_OK(ibv_set_ece(a->qp, &ece));
}

void pair_make(struct pair *p, struct setup setup)
{
	pair_create(p, setup);
	if (setup.ece)
		agree(&p->a, &p->b);
	to_init(&p->a);
	to_init(&p->b);
	to_rtr(&p->a);
	to_rtr(&p->b);
	to_rts(&p->a);
	to_rts(&p->b);
}

static void free_end(struct end *e)
{
	CHECK_OK(ibv_destroy_qp(e->qp));
	if (e->srq)
		CHECK_OK(ibv_destroy_srq(e->srq));
	CHECK_OK(ibv_destroy_cq(e->scq));
	CHECK_OK(ibv_destroy_cq(e->rcq));
	CHECK_OK(ibv_destroy_comp_channel(e->chan));
	if (e->mr)
		CHECK_OK(ibv_dereg_mr(e->mr));
	CHECK_EQ(munmap(e->buf, e->bytes), 0);
}

void pair_free(struct pair *p)
{
	free_end(&p->a);
	free_end(&p->b);
}

/* ---- states ---- */

struct ibv_ah_attr av_of_peer(const struct end *e)
{
	return av_to(e->node, e->peer->node);
}

void to_init(struct end *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = e->setup->qp_access,
	};

	CHECK_OK(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			       IBV_QP_ACCESS_FLAGS));
}

void to_rtr(struct end *e)
{
	const struct setup *s = e->setup;
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = s->mtu,
		.dest_qp_num = e->peer->qp->qp_num,
		.rq_psn = e->peer->psn,
		.max_dest_rd_atomic = s->dest_rd_atomic,
		.min_rnr_timer = s->min_rnr_timer,
		.ah_attr = av_of_peer(e),
	};

	if (s->type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	CHECK_OK(ibv_modify_qp(e->qp, &attr, mask));
}

void to_rts(struct end *e)
{
	const struct setup *s = e->setup;
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = e->psn,
		.timeout = s->timeout,
		.retry_cnt = s->retry_cnt,
		.rnr_retry = s->rnr_retry,
		.max_rd_atomic = s->rd_atomic,
	};

	if (s->type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	CHECK_OK(ibv_modify_qp(e->qp, &attr, mask));
}

void to_state(struct end *e, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	CHECK_OK(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE));
}

enum ibv_qp_state state_of(const struct end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_OK(ibv_query_qp(e->qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

void wait_state_at(const char *file, int line, const struct end *e, enum ibv_qp_state state)
{
	uint64_t end = now() + patience();

	while (state_of(e) != state) {
		if (now() > end)
			fail_at(file, line, "the QP is in state %d, not %d", state_of(e), state);
		sleep_ns(5 * MS);
	}
}

/* ---- work requests ---- */

static bool is_atomic(enum ibv_wr_opcode code)
{
	return code == IBV_WR_ATOMIC_CMP_AND_SWP || code == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

int try_post(struct end *e, const struct op *op)
{
	struct end *peer = e->peer;
	struct ibv_sge sge = {
		.addr = (uintptr_t)e->buf + op->off,
		.length = op->len,
		.lkey = e->mr ? e->mr->lkey : 0,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = op->id,
		.opcode = op->code,
		.send_flags = op->flags | (op->unsignaled ? 0 : IBV_SEND_SIGNALED),
		.sg_list = op->sg ? op->sg : &sge,
		.num_sge = op->sg ? op->nsg : 1,
		.imm_data = htonl(op->imm),
	};
	uint64_t addr = op->remote ? op->remote->addr : (uintptr_t)peer->buf + op->roff;
	uint32_t rkey = op->remote ? op->remote->rkey : peer->mr ? peer->mr->rkey : 0;

	wr.qp_type.xrc.remote_srqn = op->srqn;
	if (op->code == IBV_WR_SEND_WITH_INV || op->code == IBV_WR_LOCAL_INV)
		wr.invalidate_rkey = op->imm;
	if (is_atomic(op->code)) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = op->add;
		wr.wr.atomic.swap = op->swap;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	return ibv_post_send(e->qp, &wr, &bad);
}

void post_at(const char *file, int line, struct end *e, const struct op *op)
{
	int err = try_post(e, op);

	if (err)
		fail_at(file, line, "post_send: %s", strerror(err));
}

int try_recv(struct end *e, uint64_t id, struct ibv_sge *sg, int nsg)
{
	struct ibv_recv_wr *bad, wr = { .wr_id = id, .sg_list = sg, .num_sge = nsg };

	return e->srq ? ibv_post_srq_recv(e->srq, &wr, &bad) : ibv_post_recv(e->qp, &wr, &bad);
}

void post_recv(struct end *e, uint64_t id, size_t off, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)e->buf + off,
		.length = len,
		.lkey = e->mr ? e->mr->lkey : 0,
	};

	CHECK_OK(try_recv(e, id, &sge, 1));
}

/* ---- completions ---- */

struct ibv_wc wait_wc_at(const char *file, int line, struct ibv_cq *cq)
{
	uint64_t start = now();
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc))) {
		uint64_t waited = now() - start;

		if (waited > MS && waited > patience())
			fail_at(file, line, "no completion");
		if (waited > MS)
			sleep_ns(200 * US);
	}
	if (n < 0)
		fail_at(file, line, "poll_cq: %d", n);
	return wc;
}

struct ibv_wc expect_at(const char *file, int line, struct ibv_cq *cq, uint64_t id,
			enum ibv_wc_status status)
{
	struct ibv_wc wc = wait_wc_at(file, line, cq);

	if (wc.wr_id != id || wc.status != status)
		fail_at(file, line, "completion of %llu: %s; expected: of %llu: %s",
			(unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status),
			(unsigned long long)id, ibv_wc_status_str(status));
	return wc;
}

void expect_all_at(const char *file, int line, struct ibv_cq *cq, uint64_t first, uint64_t last,
		   enum ibv_wc_status status)
{
	for (; first <= last; first++)
		expect_at(file, line, cq, first, status);
}

void expect_none_at(const char *file, int line, struct ibv_cq *cq, uint64_t ns)
{
	uint64_t end = now() + ns;
	struct ibv_wc wc;

	do {
		if (ibv_poll_cq(cq, 1, &wc))
			fail_at(file, line, "a completion: of %llu: %s",
				(unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
		sleep_ns(MS);
	} while (now() < end);
}

/* ---- events ---- */

static bool readable(int fd, uint64_t ns)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ns / MS) == 1;
}

void expect_event_at(const char *file, int line, const struct end *e, enum ibv_event_type type)
{
	struct ibv_async_event event;

	if (!readable(e->node->ctx->async_fd, patience()))
		fail_at(file, line, "no event");
	CHECK_OK(ibv_get_async_event(e->node->ctx, &event));
	if (event.event_type != type || event.element.qp != e->qp)
		fail_at(file, line, "event '%s', expected '%s'%s",
			ibv_event_type_str(event.event_type), ibv_event_type_str(type),
			event.event_type == type ? " of another QP" : "");
	ibv_ack_async_event(&event);
}

void expect_srq_event_at(const char *file, int line, const struct node *node,
			 const struct ibv_srq *srq, enum ibv_event_type type)
{
	struct ibv_async_event event;

	if (!readable(node->ctx->async_fd, patience()))
		fail_at(file, line, "no event");
	CHECK_OK(ibv_get_async_event(node->ctx, &event));
	if (event.event_type != type || event.element.srq != srq)
		fail_at(file, line, "event '%s', expected '%s'%s",
			ibv_event_type_str(event.event_type), ibv_event_type_str(type),
			event.event_type == type ? " of another SRQ" : "");
	ibv_ack_async_event(&event);
}

void expect_no_event_at(const char *file, int line, const struct end *e, uint64_t ns)
{
	struct ibv_async_event event;

	if (!readable(e->node->ctx->async_fd, ns))
		return;
	CHECK_OK(ibv_get_async_event(e->node->ctx, &event));
	fail_at(file, line, "an event: %s", ibv_event_type_str(event.event_type));
}

bool comp_event(struct end *e, uint64_t ns)
{
	struct ibv_cq *cq;
	void *context;

	if (!readable(e->chan->fd, ns == AT_LAST ? patience() : ns))
		return false;
	CHECK_OK(ibv_get_cq_event(e->chan, &cq, &context));
	CHECK(cq == e->rcq);
	ibv_ack_cq_events(cq, 1);
	return true;
}
