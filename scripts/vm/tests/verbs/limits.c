// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the device says it can do: each number at its limit and one above. Objects are
 * counted on a device that may have only few (VERBS_B, module parameter max_objects).
 */
#include <sys/mman.h>

#include "lib.h"

#define SOME_QKEY	0x1234

/* ---- how many ---- */

struct kind {
	const char *name;
	const char *resource;		/* what `rdma resource` calls it, if it does */
	void *(*make)(void);
	int (*unmake)(void *object);
	int (*max)(const struct ibv_device_attr *attr);
};

/* What a QP needs. */
static struct ibv_cq *a_cq;

static void *make_pd(void)
{
	return ibv_alloc_pd(node_b.ctx);
}

static int unmake_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static void *make_cq(void)
{
	return ibv_create_cq(node_b.ctx, 1, NULL, NULL, 0);
}

static int unmake_cq(void *cq)
{
	return ibv_destroy_cq(cq);
}

static void *make_qp(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = a_cq, .recv_cq = a_cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return ibv_create_qp(node_b.pd, &init);
}

static int unmake_qp(void *qp)
{
	return ibv_destroy_qp(qp);
}

static void *make_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };

	return ibv_create_srq(node_b.pd, &init);
}

static int unmake_srq(void *srq)
{
	return ibv_destroy_srq(srq);
}

static void *make_mr(void)
{
	static void *page;

	if (!page)
		page = map_pages(PAGE);
	return ibv_reg_mr(node_b.pd, page, PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int unmake_mr(void *mr)
{
	return ibv_dereg_mr(mr);
}

static void *make_mw(void)
{
	return ibv_alloc_mw(node_b.pd, IBV_MW_TYPE_2);
}

static int unmake_mw(void *mw)
{
	return ibv_dealloc_mw(mw);
}

static void *make_ah(void)
{
	struct ibv_ah_attr attr = av_to(&node_b, &node_b);

	return ibv_create_ah(node_b.pd, &attr);
}

static int unmake_ah(void *ah)
{
	return ibv_destroy_ah(ah);
}

#define MAX_OF(field)							\
	static int field##_of(const struct ibv_device_attr *attr)	\
	{								\
		return attr->field;					\
	}

MAX_OF(max_pd)
MAX_OF(max_cq)
MAX_OF(max_qp)
MAX_OF(max_srq)
MAX_OF(max_mr)
MAX_OF(max_mw)
MAX_OF(max_ah)

static const struct kind kinds[] = {
	{ "PDs", "pd", make_pd, unmake_pd, max_pd_of },
	{ "CQs", "cq", make_cq, unmake_cq, max_cq_of },
	{ "QPs", "qp", make_qp, unmake_qp, max_qp_of },
	{ "SRQs", "srq", make_srq, unmake_srq, max_srq_of },
	{ "MRs", "mr", make_mr, unmake_mr, max_mr_of },
	{ "MWs", NULL, make_mw, unmake_mw, max_mw_of },
	{ "AHs", NULL, make_ah, unmake_ah, max_ah_of },
};

/* Objects of the device that are there already: the kernel's, and this process's. */
static int there_are(const struct kind *kind)
{
	char command[128], word[32];
	int n = 0, value;
	FILE *f;

	if (!kind->resource)
		return 0;
	snprintf(command, sizeof(command), "rdma resource show %s", node_b.name);
	f = popen(command, "r");
	CHECK(f);
	CHECK_EQ(fscanf(f, "%*d: %*s"), 0);
	while (fscanf(f, "%31s %d", word, &value) == 2)
		if (!strcmp(word, kind->resource))
			n = value;
	pclose(f);
	/* The port's own QP does not count. */
	return strcmp(kind->resource, "qp") ? n : n - 1;
}

/* Far below the limit none is refused. */
static void many(const struct kind *kind)
{
	int n = quick ? 50 : 500, i;
	void *made[n];

	for (i = 0; i < n; i++)
		CHECK(made[i] = kind->make());
	while (i--)
		CHECK_OK(kind->unmake(made[i]));
}

/* As many as there may be, not one more, and again one when one is gone. */
static void objects(int which)
{
	const struct kind *kind = &kinds[which];
	int max = kind->max(&node_b.attr), n = 0, before;
	void *made[1024];

	if (kind->make == make_qp)
		CHECK(a_cq = make_cq());
	if (max >= (int)ARRAY_SIZE(made)) {
		many(kind);
		return;
	}
	before = there_are(kind);
	while ((made[n] = kind->make()))
		CHECK(++n < (int)ARRAY_SIZE(made));
	CHECK_EQ(errno, ENOMEM);
	CHECK_EQ(before + n, max);
	CHECK_OK(kind->unmake(made[n / 2]));
	CHECK(made[n / 2] = kind->make());
	CHECK(!kind->make());
	CHECK_EQ(errno, ENOMEM);
	while (n--)
		CHECK_OK(kind->unmake(made[n]));
	CHECK_EQ(there_are(kind), before);
}

/* ---- sizes of queues and lists ---- */

enum cap { SEND_WR, RECV_WR, SEND_SGE, RECV_SGE, INLINE };

static struct ibv_qp *qp_with(enum cap which, uint32_t value)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	uint32_t *caps[] = { &init.cap.max_send_wr, &init.cap.max_recv_wr,
			     &init.cap.max_send_sge, &init.cap.max_recv_sge,
			     &init.cap.max_inline_data };
	struct ibv_qp *qp;

	*caps[which] = value;
	init.send_cq = init.recv_cq = a_cq;
	qp = ibv_create_qp(node_a.pd, &init);
	if (qp)
		CHECK_GE(*caps[which], value);
	return qp;
}

static uint32_t limit_of(enum cap which)
{
	switch (which) {
	case SEND_WR:
	case RECV_WR:
		return node_a.attr.max_qp_wr;
	case INLINE:
		return 512;
	default:
		return node_a.attr.max_sge;
	}
}

static void cap_of_qp(int which)
{
	uint32_t max = limit_of(which);
	struct ibv_qp *qp;

	CHECK(a_cq = ibv_create_cq(node_a.ctx, 1, NULL, NULL, 0));
	CHECK(qp = qp_with(which, max));
	CHECK_OK(ibv_destroy_qp(qp));
	CHECK(!qp_with(which, max + 1));
	CHECK_EQ(errno, EINVAL);
}

/* Of the largest queues each entry is there, and no more. Nobody takes the SENDs: RNR. */
static void full_queues(int arg)
{
	uint32_t max = node_a.attr.max_qp_wr, i;
	struct pair p;

	pair_make(&p, SETUP(.depth = max, .sges = 1, .inline_bytes = 0, .bytes = PAGE));
	for (i = 0; i < max; i++)
		CHECK_OK(TRY_POST(&p.a, .id = i, .code = IBV_WR_SEND, .len = 1, .unsignaled = true));
	CHECK_EQ(TRY_POST(&p.a, .id = i, .code = IBV_WR_SEND, .len = 1), ENOMEM);
	for (i = 0; i < max; i++)
		CHECK_OK(try_recv(&p.a, i, NULL, 0));
	CHECK_EQ(try_recv(&p.a, i, NULL, 0), ENOMEM);
	pair_free(&p);
}

static void cq_entries(int arg)
{
	int max = node_a.attr.max_cqe;
	struct ibv_cq *cq;

	CHECK(!ibv_create_cq(node_a.ctx, max + 1, NULL, NULL, 0));
	CHECK_EQ(errno, EINVAL);
	cq = ibv_create_cq(node_a.ctx, quick ? max / 64 : max, NULL, NULL, 0);
	CHECK(cq);
	CHECK(ibv_resize_cq(cq, max + 1));
	CHECK_EQ(cq->cqe, quick ? max / 64 : max);
	CHECK_OK(ibv_destroy_cq(cq));
}

static struct ibv_srq *srq_with(uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = wr, .max_sge = sge } };

	return ibv_create_srq(node_a.pd, &init);
}

static void srq_sizes(int arg)
{
	uint32_t wr = node_a.attr.max_srq_wr, sge = node_a.attr.max_srq_sge, i;
	struct ibv_srq_attr attr = { .max_wr = wr + 1 };
	struct ibv_recv_wr recv = {}, *bad;
	struct ibv_srq *srq;

	CHECK(!srq_with(wr + 1, 1));
	CHECK_EQ(errno, EINVAL);
	CHECK(!srq_with(1, sge + 1));
	CHECK_EQ(errno, EINVAL);
	CHECK(srq = srq_with(wr, sge));
	CHECK(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	for (i = 0; i < wr; i++)
		CHECK_OK(ibv_post_srq_recv(srq, &recv, &bad));
	CHECK_EQ(ibv_post_srq_recv(srq, &recv, &bad), ENOMEM);
	CHECK_OK(ibv_destroy_srq(srq));
}

/* A list as long as may be is read into and sent from; one longer is refused. */
static void list_of_read(int arg)
{
	int max = node_a.attr.max_sge_rd, i;
	struct ibv_sge sg[max + 1];
	struct pair p;

	CHECK_EQ(node_a.attr.max_sge_rd, node_a.attr.max_sge);
	pair_make(&p, SETUP(.sges = max));
	for (i = 0; i <= max; i++)
		sg[i] = (struct ibv_sge){ .addr = (uintptr_t)p.a.buf + 100 * i, .length = 100,
					  .lkey = p.a.mr->lkey };
	fill(p.b.buf, 100 * max, 7);
	POST(&p.a, .id = 1, .code = IBV_WR_RDMA_READ, .sg = sg, .nsg = max);
	EXPECT(p.a.scq, 1, SUCCESS);
	CHECK_FILL(p.a.buf, 100 * max, 7);
	CHECK(TRY_POST(&p.a, .id = 2, .code = IBV_WR_RDMA_READ, .sg = sg, .nsg = max + 1));
	pair_free(&p);
}

/* ---- attributes ---- */

/* Both ends go as far as INIT and RTR, RTS with these; returns the first error. */
static int connect_with(int rd_atomic, int dest_rd_atomic)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.max_dest_rd_atomic = dest_rd_atomic, .max_rd_atomic = rd_atomic,
		.timeout = 17, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 1,
		.ah_attr = av_to(&node_a, &node_b),
	};
	struct pair p;
	int err;

	pair_create(&p, SETUP());
	to_init(&p.a);
	attr.dest_qp_num = p.b.qp->qp_num;
	err = ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			    IBV_QP_MIN_RNR_TIMER);
	attr.qp_state = IBV_QPS_RTS;
	if (!err)
		err = ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
				    IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				    IBV_QP_MAX_QP_RD_ATOMIC);
	pair_free(&p);
	return err;
}

static void outstanding_reads(int arg)
{
	int init = node_a.attr.max_qp_init_rd_atom, resp = node_a.attr.max_qp_rd_atom;

	/* Peers have a byte for it, and many no more than 16. */
	CHECK_EQ(resp, 16);
	CHECK_OK(connect_with(init, resp));
	CHECK_EQ(connect_with(init + 1, resp), EINVAL);
	CHECK_EQ(connect_with(init, resp + 1), EINVAL);
	CHECK_EQ(node_a.attr.max_res_rd_atom, resp * node_a.attr.max_qp);
}

static void tables(int arg)
{
	union ibv_gid gid;
	uint16_t pkey;

	CHECK_EQ(node_a.attr.max_pkeys, 1);
	CHECK_EQ(node_a.port.pkey_tbl_len, 1);
	CHECK_OK(ibv_query_pkey(node_a.ctx, 1, 0, &pkey));
	CHECK_EQ(pkey, 0xffff);
	CHECK(ibv_query_pkey(node_a.ctx, 1, 1, &pkey));
	CHECK_OK(ibv_query_gid(node_a.ctx, 1, node_a.port.gid_tbl_len - 1, &gid));
	CHECK(ibv_query_gid(node_a.ctx, 1, node_a.port.gid_tbl_len, &gid));
	CHECK_EQ(node_a.attr.phys_port_cnt, 1);
	CHECK(ibv_query_gid(node_a.ctx, 2, 0, &gid));
}

static void vectors(int arg)
{
	int n = node_a.ctx->num_comp_vectors;
	struct ibv_cq *cq;

	CHECK_EQ(n, sysconf(_SC_NPROCESSORS_ONLN));
	CHECK(cq = ibv_create_cq(node_a.ctx, 1, NULL, NULL, n - 1));
	CHECK_OK(ibv_destroy_cq(cq));
	CHECK(!ibv_create_cq(node_a.ctx, 1, NULL, NULL, n));
	CHECK_EQ(errno, EINVAL);
}

/* Nobody has 512 GiB: that there is no such memory is found out only if the length may be. */
static void region_length(int arg)
{
	uint64_t max = node_a.attr.max_mr_size;
	void *p = mmap(NULL, max + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK(!ibv_reg_mr(node_a.pd, p, max, IBV_ACCESS_LOCAL_WRITE));
	if (errno != EFAULT && errno != ENOMEM)
		FAIL("the largest region: %s", strerror(errno));
	CHECK(!ibv_reg_mr(node_a.pd, p, max + 1, IBV_ACCESS_LOCAL_WRITE));
	CHECK_EQ(errno, EINVAL);
}

/* ---- multicast ---- */

static struct ibv_qp *ud_qp(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = a_cq, .recv_cq = a_cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = SOME_QKEY };
	struct ibv_qp *qp = ibv_create_qp(node_a.pd, &init);

	CHECK(qp);
	CHECK_OK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			       IBV_QP_QKEY));
	return qp;
}

static union ibv_gid group(int n)
{
	return (union ibv_gid){ .raw = { 0xff, 0x0e, [10] = 0x77, [14] = n >> 8, [15] = n } };
}

static void groups(int arg)
{
	int max = node_a.attr.max_mcast_grp, i;
	union ibv_gid gid;
	struct ibv_qp *qp;

	CHECK(a_cq = ibv_create_cq(node_a.ctx, 1, NULL, NULL, 0));
	qp = ud_qp();
	for (i = 0; i < max; i++) {
		gid = group(i);
		CHECK_OK(ibv_attach_mcast(qp, &gid, 0));
	}
	gid = group(max);
	CHECK_EQ(ibv_attach_mcast(qp, &gid, 0), ENOMEM);
	gid = group(0);
	CHECK_OK(ibv_detach_mcast(qp, &gid, 0));
	gid = group(max);
	CHECK_OK(ibv_attach_mcast(qp, &gid, 0));
	/* the context takes them with it */
}

static void members(int arg)
{
	int max = node_a.attr.max_mcast_qp_attach, i;
	struct ibv_qp *qp[max + 1];
	union ibv_gid gid = group(1);

	CHECK_EQ(node_a.attr.max_total_mcast_qp_attach, max * node_a.attr.max_mcast_grp);
	CHECK(a_cq = ibv_create_cq(node_a.ctx, 1, NULL, NULL, 0));
	for (i = 0; i <= max; i++)
		qp[i] = ud_qp();
	for (i = 0; i < max; i++)
		CHECK_OK(ibv_attach_mcast(qp[i], &gid, 0));
	CHECK_EQ(ibv_attach_mcast(qp[max], &gid, 0), ENOMEM);
	CHECK_OK(ibv_detach_mcast(qp[0], &gid, 0));
	CHECK_OK(ibv_attach_mcast(qp[max], &gid, 0));
	/* the context takes them with it */
}

/* ---- what is not claimed ---- */

static void not_claimed(int arg)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RAW_PACKET,
					 .cap = { .max_send_wr = 1, .max_recv_wr = 1 } };
	struct ibv_qp_attr attr = { .path_mig_state = IBV_MIG_ARMED };
	struct ibv_device_attr_ex ex = {};
	struct ibv_alloc_dm_attr dm = { .length = PAGE };
	void *page = map_pages(PAGE);
	struct pair p;

	CHECK_OK(ibv_query_device_ex(node_a.ctx, NULL, &ex));
	CHECK(!(ex.orig_attr.device_cap_flags & (IBV_DEVICE_AUTO_PATH_MIG | IBV_DEVICE_RESIZE_MAX_WR |
						 IBV_DEVICE_RAW_MULTI)));
	CHECK_EQ(ex.odp_caps.general_caps, 0);
	CHECK(!ibv_reg_mr(node_a.pd, page, PAGE, IBV_ACCESS_ON_DEMAND));
	CHECK_EQ(ex.max_dm_size, 0);
	CHECK(!ibv_alloc_dm(node_a.ctx, &dm));
	CHECK_EQ(ex.tso_caps.max_tso, 0);
	CHECK_EQ(ex.raw_packet_caps, 0);
	CHECK_EQ(ex.orig_attr.max_raw_ethy_qp, 0);
	CHECK(a_cq = ibv_create_cq(node_a.ctx, 1, NULL, NULL, 0));
	init.send_cq = init.recv_cq = a_cq;
	CHECK(!ibv_create_qp(node_a.pd, &init));
	pair_make(&p, SETUP());
	CHECK(ibv_modify_qp(p.a.qp, &attr, IBV_QP_PATH_MIG_STATE));
	CHECK_EQ(state_of(&p.a), IBV_QPS_RTS);
	pair_free(&p);
}

static const struct test tests[] = {
	{ "as many PDs as the device says", objects, 0 },
	{ "as many CQs", objects, 1 },
	{ "as many QPs", objects, 2 },
	{ "as many SRQs", objects, 3 },
	{ "as many MRs", objects, 4 },
	{ "as many MWs", objects, 5 },
	{ "as many AHs", objects, 6 },
	{ "max_qp_wr, of sends", cap_of_qp, SEND_WR },
	{ "max_qp_wr, of receives", cap_of_qp, RECV_WR },
	{ "max_qp_wr: the longest queues can be filled", full_queues },
	{ "max_sge, of sends", cap_of_qp, SEND_SGE },
	{ "max_sge, of receives", cap_of_qp, RECV_SGE },
	{ "max_sge_rd", list_of_read },
	{ "inline data", cap_of_qp, INLINE },
	{ "max_cqe", cq_entries },
	{ "max_srq_wr, max_srq_sge", srq_sizes },
	{ "max_qp_rd_atom, max_qp_init_rd_atom", outstanding_reads },
	{ "tables of P_Keys and GIDs, ports", tables },
	{ "completion vectors", vectors },
	{ "max_mr_size", region_length },
	{ "max_mcast_grp", groups },
	{ "max_mcast_qp_attach", members },
	{ "what is not claimed is refused", not_claimed },
};

VERBS_MAIN(tests)
