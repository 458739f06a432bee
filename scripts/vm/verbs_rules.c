// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * verbs_rules DEVICE GID-INDEX GROUP [receive|send] -- in the test machine: rules of datagrams, multicast and memory windows.
 *
 * Everything is sent from the device to itself, in order, so that what must not arrive is known not to by what
 * comes after it. GROUP is an IPv4 or IPv6 multicast address of the GID's family. One line a rule; exit status
 * 0 if all hold. With receive or send nothing but datagrams from one host to a group with a member on another.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QKEY		0x11111111
#define GRH		40
#define BUF_BYTES	65536
#define POLLS		2000000000UL
#define ALL_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

#define CHECK(condition) check(condition, #condition, __LINE__)

static struct ibv_context *ctx;
static struct ibv_pd *pd, *other_pd;
static struct ibv_mr *mr;
static char *buf;
static union ibv_gid gid, group;
static int gid_index;
static uint32_t mtu;
static int bad, failed;

static void check(int ok, const char *what, int line)
{
	if (ok)
		return;
	printf("# line %d: %s (errno %d)\n", line, what, errno);
	bad++;
}

static void rule(const char *what, void (*test)(void))
{
	bad = 0;
	test();
	printf("%s - %s\n", bad ? "not ok" : "ok", what);
	failed += !!bad;
	fflush(stdout);
}

static void need(const void *p, const char *what)
{
	if (p)
		return;
	perror(what);
	exit(1);
}

/* ---- queue pairs ---- */

static struct ibv_qp *create_qp(enum ibv_qp_type type, struct ibv_pd *in)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp;

	init.send_cq = init.recv_cq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	need(init.send_cq, "create_cq");
	qp = ibv_create_qp(in, &init);
	need(qp, "create_qp");
	return qp;
}

static void destroy_qp(struct ibv_qp *qp)
{
	struct ibv_cq *cq = qp->send_cq;

	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_cq(cq));
}

static struct ibv_qp *ud_qp(void)
{
	struct ibv_qp *qp = create_qp(IBV_QPT_UD, pd);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };

	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

static void connect_to(struct ibv_qp *qp, struct ibv_qp *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .path_mtu = IBV_MTU_1024, .max_dest_rd_atomic = 1,
		.max_rd_atomic = 1, .timeout = 19, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 1,
		.dest_qp_num = peer->qp_num,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		.ah_attr = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .sgid_index = gid_index } },
	};

	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

/* A connection with itself: qp[0] asks, qp[1] answers. */
struct pair {
	struct ibv_qp *qp[2];
};

static struct pair rc_pair(struct ibv_pd *of_first)
{
	struct pair p = { { create_qp(IBV_QPT_RC, of_first), create_qp(IBV_QPT_RC, pd) } };

	connect_to(p.qp[0], p.qp[1]);
	connect_to(p.qp[1], p.qp[0]);
	return p;
}

static void destroy_pair(struct pair p)
{
	destroy_qp(p.qp[0]);
	destroy_qp(p.qp[1]);
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

/* ---- work ---- */

static struct ibv_wc next_wc(struct ibv_qp *qp)
{
	struct ibv_wc wc = { .status = -1 };
	unsigned long i;

	for (i = 0; i < POLLS; i++)
		if (ibv_poll_cq(qp->send_cq, 1, &wc))
			return wc;
	CHECK(!"a completion came");
	return wc;
}

static void post_recv(struct ibv_qp *qp, uint64_t wr_id, uint32_t offset, uint32_t bytes)
{
	struct ibv_sge sge = { (uintptr_t)buf + offset, bytes, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad_wr;

	CHECK(!ibv_post_recv(qp, &wr, &bad_wr));
}

static struct ibv_ah *ah_to(const union ibv_gid *to)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1,
				    .grh = { .dgid = *to, .sgid_index = gid_index, .hop_limit = 1 } };
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);

	need(ah, "create_ah");
	return ah;
}

static int post_ud(struct ibv_qp *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey, uint32_t bytes)
{
	struct ibv_sge sge = { (uintptr_t)buf, bytes, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .wr.ud = { .ah = ah, .remote_qpn = qpn, .remote_qkey = qkey } }, *bad_wr;

	return ibv_post_send(qp, &wr, &bad_wr);
}

static void send_ud(struct ibv_qp *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey, uint32_t bytes)
{
	CHECK(!post_ud(qp, ah, qpn, qkey, bytes));
	CHECK(next_wc(qp).status == IBV_WC_SUCCESS);
}

static enum ibv_wc_status run(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad_wr;

	wr->send_flags = IBV_SEND_SIGNALED;
	if (ibv_post_send(qp, wr, &bad_wr))
		return IBV_WC_GENERAL_ERR;
	return next_wc(qp).status;
}

static enum ibv_wc_status write_to(struct ibv_qp *qp, uint32_t rkey, uint64_t at, uint32_t bytes)
{
	struct ibv_sge sge = { (uintptr_t)buf, bytes, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
				  .wr.rdma = { .remote_addr = at, .rkey = rkey } };

	return run(qp, &wr);
}

/* ---- datagrams ---- */

static void grh(void)
{
	struct ibv_qp *to = ud_qp(), *from = ud_qp();
	struct ibv_ah *ah = ah_to(&gid);
	struct ibv_wc wc;
	char *at = buf + 4096;

	memset(buf, 0x5a, 64);
	memset(at, 0, 4096);
	post_recv(to, 7, 4096, GRH + 64);
	send_ud(from, ah, to->qp_num, QKEY, 64);
	wc = next_wc(to);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == 7);
	CHECK(wc.wc_flags & IBV_WC_GRH);
	CHECK(wc.byte_len == GRH + 64);
	CHECK(wc.src_qp == from->qp_num);
	if (gid.raw[10] == 0xff) {
		CHECK(at[20] == 0x45);
		CHECK(!memcmp(at + 32, gid.raw + 12, 4) && !memcmp(at + 36, gid.raw + 12, 4));
	} else {
		CHECK((at[0] & 0xf0) == 0x60);
		CHECK(!memcmp(at + 8, gid.raw, 16) && !memcmp(at + 24, gid.raw, 16));
	}
	CHECK(!memcmp(at + GRH, buf, 64));
	CHECK(!ibv_destroy_ah(ah));
	destroy_qp(to);
	destroy_qp(from);
}

static void short_buffer(void)
{
	struct ibv_qp *to = ud_qp(), *from = ud_qp();
	struct ibv_ah *ah = ah_to(&gid);
	struct ibv_wc wc;

	post_recv(to, 1, 4096, GRH + 63);
	send_ud(from, ah, to->qp_num, QKEY, 64);
	send_ud(from, ah, to->qp_num, QKEY, 63);
	wc = next_wc(to);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == 1 && wc.byte_len == GRH + 63);
	CHECK(state_of(to) == IBV_QPS_RTS);
	CHECK(!ibv_destroy_ah(ah));
	destroy_qp(to);
	destroy_qp(from);
}

static void too_long(void)
{
	struct ibv_qp *qp = ud_qp();
	struct ibv_ah *ah = ah_to(&gid);

	post_recv(qp, 1, 4096, GRH + 8192);
	if (!post_ud(qp, ah, qp->qp_num, QKEY, mtu + 1))
		CHECK(next_wc(qp).status == IBV_WC_LOC_LEN_ERR);
	CHECK(!ibv_destroy_ah(ah));
	destroy_qp(qp);
}

static void wrong_qkey(void)
{
	struct ibv_qp *to = ud_qp(), *from = ud_qp();
	struct ibv_ah *ah = ah_to(&gid);

	post_recv(to, 1, 4096, GRH + 64);
	send_ud(from, ah, to->qp_num, QKEY + 1, 64);
	send_ud(from, ah, to->qp_num, QKEY, 32);
	CHECK(next_wc(to).byte_len == GRH + 32);
	/* the highest bit: the sender's own */
	post_recv(to, 2, 4096, GRH + 64);
	send_ud(from, ah, to->qp_num, 0x80000000, 16);
	CHECK(next_wc(to).byte_len == GRH + 16);
	CHECK(!ibv_destroy_ah(ah));
	destroy_qp(to);
	destroy_qp(from);
}

/* ---- multicast ---- */

static void multicast(void)
{
	struct ibv_qp *qp[3] = { ud_qp(), ud_qp(), ud_qp() };
	struct ibv_ah *to_group = ah_to(&group), *to_self = ah_to(&gid);
	uint32_t i, n;

	for (i = 0; i < 3; i++)
		for (n = 0; n < 4; n++)
			post_recv(qp[i], n, 4096 + 512 * (4 * i + n), GRH + 64);
	CHECK(!ibv_attach_mcast(qp[0], &group, 0));
	CHECK(!ibv_attach_mcast(qp[1], &group, 0));
	/* twice is once */
	CHECK(!ibv_attach_mcast(qp[1], &group, 0));
	send_ud(qp[2], to_group, 0xffffff, QKEY, 1);
	send_ud(qp[2], to_group, 0xffffff, QKEY, 2);
	for (i = 0; i < 2; i++)
		for (n = 1; n <= 2; n++)
			CHECK(next_wc(qp[i]).byte_len == GRH + n);
	CHECK(!ibv_detach_mcast(qp[1], &group, 0));
	CHECK(ibv_detach_mcast(qp[1], &group, 0));
	send_ud(qp[2], to_group, 0xffffff, QKEY, 3);
	CHECK(next_wc(qp[0]).byte_len == GRH + 3);
	/* neither who left nor who never was in it got anything, nor a QP by its number at the group's address */
	send_ud(qp[2], to_group, qp[1]->qp_num, QKEY, 4);
	for (i = 1; i < 3; i++) {
		post_recv(qp[i], 9, 4096, GRH + 64);
		send_ud(qp[0], to_self, qp[i]->qp_num, QKEY, 5);
		CHECK(next_wc(qp[i]).byte_len == GRH + 5);
	}
	CHECK(!ibv_destroy_ah(to_group));
	CHECK(!ibv_destroy_ah(to_self));
	CHECK(!ibv_detach_mcast(qp[0], &group, 0));
	for (i = 0; i < 3; i++)
		destroy_qp(qp[i]);
}

static void mcast_limits(void)
{
	struct ibv_qp *qp = ud_qp(), *rc = create_qp(IBV_QPT_RC, pd);
	union ibv_gid g = group;
	struct ibv_device_attr attr;
	int i;

	CHECK(ibv_attach_mcast(qp, &gid, 0));
	CHECK(ibv_attach_mcast(rc, &group, 0));
	CHECK(!ibv_query_device(ctx, &attr));
	for (i = 0; i < attr.max_mcast_grp; i++) {
		g.raw[14] = i >> 8;
		g.raw[15] = i;
		if (ibv_attach_mcast(qp, &g, 0))
			break;
	}
	CHECK(i == attr.max_mcast_grp);
	g.raw[14] = i >> 8;
	g.raw[15] = i;
	CHECK(ibv_attach_mcast(qp, &g, 0));
	while (i--) {
		g.raw[14] = i >> 8;
		g.raw[15] = i;
		CHECK(!ibv_detach_mcast(qp, &g, 0));
	}
	destroy_qp(qp);
	destroy_qp(rc);
}

static void to_members_elsewhere(void)
{
	struct ibv_ah *ah = ah_to(&group);
	struct ibv_qp *qp = ud_qp();
	uint32_t n;

	for (n = 1; n <= 5; n++)
		send_ud(qp, ah, 0xffffff, QKEY, n);
	CHECK(!ibv_destroy_ah(ah));
	destroy_qp(qp);
}

static void from_elsewhere(void)
{
	struct ibv_qp *qp = ud_qp();
	uint32_t n;

	for (n = 0; n < 5; n++)
		post_recv(qp, n, 4096 + 512 * n, GRH + 64);
	CHECK(!ibv_attach_mcast(qp, &group, 0));
	printf("attached\n");
	fflush(stdout);
	for (n = 1; n <= 5; n++)
		CHECK(next_wc(qp).byte_len == GRH + n);
	CHECK(!ibv_detach_mcast(qp, &group, 0));
	destroy_qp(qp);
}

/* ---- memory windows ---- */

static enum ibv_wc_status bind_to(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mr *to, uint64_t addr,
				  uint64_t bytes, unsigned int access)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey),
			     .bind_info = { .mr = to, .addr = addr, .length = bytes, .mw_access_flags = access } },
	};
	enum ibv_wc_status status = run(qp, &wr);

	if (status == IBV_WC_SUCCESS)
		mw->rkey = wr.bind_mw.rkey;
	return status;
}

static enum ibv_wc_status local_inv(struct ibv_qp *qp, uint32_t rkey)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = rkey };

	return run(qp, &wr);
}

static struct ibv_mw *window(enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, type);

	need(mw, "alloc_mw");
	return mw;
}

static uint64_t at(uint32_t offset)
{
	return (uintptr_t)buf + offset;
}

/* What a bind is answered with; then everything is over. */
static enum ibv_wc_status try_bind(struct ibv_pd *of_qp, enum ibv_mw_type type, struct ibv_mr *to, uint64_t addr,
				   uint64_t bytes, unsigned int access)
{
	struct pair p = rc_pair(of_qp);
	struct ibv_mw *mw = window(type);
	enum ibv_wc_status status = bind_to(p.qp[0], mw, to, addr, bytes, access);

	CHECK(!ibv_dealloc_mw(mw));
	destroy_pair(p);
	return status;
}

static void type_1(void)
{
	struct pair p = rc_pair(pd);
	struct ibv_mw *mw = window(IBV_MW_TYPE_1);
	struct ibv_mw_bind unbind = { .send_flags = IBV_SEND_SIGNALED };
	struct ibv_mw_bind info = { .send_flags = IBV_SEND_SIGNALED,
				    .bind_info = { mr, at(8192), 100, IBV_ACCESS_REMOTE_WRITE } };
	uint32_t old;

	CHECK(!ibv_bind_mw(p.qp[1], mw, &info));
	CHECK(next_wc(p.qp[1]).status == IBV_WC_SUCCESS);
	memset(buf, 0x33, 100);
	CHECK(write_to(p.qp[0], mw->rkey, at(8192), 100) == IBV_WC_SUCCESS);
	CHECK(!memcmp(buf, buf + 8192, 100));
	/* bound again, under another key */
	old = mw->rkey;
	info.bind_info.addr = at(12288);
	CHECK(!ibv_bind_mw(p.qp[1], mw, &info));
	CHECK(next_wc(p.qp[1]).status == IBV_WC_SUCCESS);
	CHECK(mw->rkey != old);
	CHECK(write_to(p.qp[0], mw->rkey, at(12288), 100) == IBV_WC_SUCCESS);
	CHECK(write_to(p.qp[0], old, at(12288), 100) == IBV_WC_REM_ACCESS_ERR);
	destroy_pair(p);

	p = rc_pair(pd);
	CHECK(write_to(p.qp[0], mw->rkey, at(12288), 101) == IBV_WC_REM_ACCESS_ERR);
	destroy_pair(p);

	p = rc_pair(pd);
	CHECK(!ibv_bind_mw(p.qp[1], mw, &unbind));
	CHECK(next_wc(p.qp[1]).status == IBV_WC_SUCCESS);
	CHECK(write_to(p.qp[0], mw->rkey, at(12288), 100) == IBV_WC_REM_ACCESS_ERR);
	destroy_pair(p);

	p = rc_pair(pd);
	CHECK(local_inv(p.qp[0], mw->rkey) != IBV_WC_SUCCESS);
	CHECK(!ibv_dealloc_mw(mw));
	destroy_pair(p);
}

static void bind_rules(void)
{
	struct ibv_mr *no_bind = ibv_reg_mr(pd, buf, 4096, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *read_only = ibv_reg_mr(pd, buf, 4096, IBV_ACCESS_MW_BIND);
	struct ibv_mr *other = ibv_reg_mr(other_pd, buf, 4096, ALL_ACCESS);
	enum ibv_mw_type type;

	need(no_bind && read_only && other ? buf : NULL, "reg_mr");
	for (type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
		const enum ibv_wc_status err = IBV_WC_MW_BIND_ERR;

		CHECK(!try_bind(pd, type, mr, at(1), 1, IBV_ACCESS_REMOTE_READ));
		CHECK(!try_bind(pd, type, mr, at(0), BUF_BYTES, IBV_ACCESS_REMOTE_WRITE));
		CHECK(try_bind(pd, type, mr, at(0), BUF_BYTES + 1, IBV_ACCESS_REMOTE_READ) == err);
		CHECK(try_bind(pd, type, mr, at(0) - 1, 1, IBV_ACCESS_REMOTE_READ) == err);
		CHECK(try_bind(pd, type, mr, at(1), -1ULL, IBV_ACCESS_REMOTE_READ) == err);
		CHECK(try_bind(pd, type, no_bind, at(0), 8, IBV_ACCESS_REMOTE_READ) == err);
		CHECK(!try_bind(pd, type, read_only, at(0), 8, IBV_ACCESS_REMOTE_READ));
		CHECK(try_bind(pd, type, read_only, at(0), 8, IBV_ACCESS_REMOTE_WRITE) == err);
		CHECK(try_bind(pd, type, read_only, at(0), 8, IBV_ACCESS_REMOTE_ATOMIC) == err);
		CHECK(try_bind(pd, type, other, at(0), 8, IBV_ACCESS_REMOTE_READ) == err);
		CHECK(try_bind(other_pd, type, mr, at(0), 8, IBV_ACCESS_REMOTE_READ) == err);
		CHECK(try_bind(pd, type, mr, at(0), 8, 0x80) == err);
	}
	CHECK(try_bind(pd, IBV_MW_TYPE_1, mr, at(0), 8, IBV_ACCESS_ZERO_BASED) == IBV_WC_MW_BIND_ERR);
	CHECK(try_bind(pd, IBV_MW_TYPE_2, mr, at(0), 0, IBV_ACCESS_REMOTE_READ) == IBV_WC_MW_BIND_ERR);
	CHECK(!ibv_dereg_mr(no_bind));
	CHECK(!ibv_dereg_mr(read_only));
	CHECK(!ibv_dereg_mr(other));
}

static void type_2(void)
{
	struct pair p = rc_pair(pd), q = rc_pair(pd);
	struct ibv_mw *mw = window(IBV_MW_TYPE_2);
	unsigned int access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED;

	CHECK(bind_to(p.qp[1], mw, mr, at(8191), 64, access) == IBV_WC_SUCCESS);
	memset(buf, 0x44, 64);
	CHECK(write_to(p.qp[0], mw->rkey, 0, 64) == IBV_WC_SUCCESS);
	CHECK(!memcmp(buf, buf + 8191, 64));
	/* it is for the peer of one QP */
	CHECK(write_to(q.qp[0], mw->rkey, 0, 64) == IBV_WC_REM_ACCESS_ERR);
	destroy_pair(q);
	/* and invalidated through that QP only */
	q = rc_pair(pd);
	CHECK(local_inv(q.qp[0], mw->rkey) != IBV_WC_SUCCESS);
	destroy_pair(q);
	CHECK(local_inv(p.qp[1], mw->rkey) == IBV_WC_SUCCESS);
	CHECK(write_to(p.qp[0], mw->rkey, 0, 64) == IBV_WC_REM_ACCESS_ERR);
	destroy_pair(p);

	p = rc_pair(pd);
	CHECK(bind_to(p.qp[1], mw, mr, at(0), 64, access) == IBV_WC_SUCCESS);
	CHECK(bind_to(p.qp[1], mw, mr, at(0), 64, access) == IBV_WC_MW_BIND_ERR);
	destroy_pair(p);
	/* the end of the QP has unbound it */
	p = rc_pair(pd);
	CHECK(bind_to(p.qp[1], mw, mr, at(0), 64, access) == IBV_WC_SUCCESS);
	CHECK(!ibv_dealloc_mw(mw));
	CHECK(write_to(p.qp[0], mw->rkey, 0, 64) == IBV_WC_REM_ACCESS_ERR);
	destroy_pair(p);
}

static void remote_inv(void)
{
	struct pair p = rc_pair(pd);
	struct ibv_mw *mw = window(IBV_MW_TYPE_2);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_INV };
	struct ibv_wc wc;

	CHECK(bind_to(p.qp[1], mw, mr, at(0), 64, IBV_ACCESS_REMOTE_READ) == IBV_WC_SUCCESS);
	wr.invalidate_rkey = mw->rkey;
	post_recv(p.qp[1], 1, 4096, 64);
	CHECK(run(p.qp[0], &wr) == IBV_WC_SUCCESS);
	wc = next_wc(p.qp[1]);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == mw->rkey);
	/* what is not bound, and what is no window, cannot be invalidated */
	post_recv(p.qp[1], 1, 4096, 64);
	CHECK(run(p.qp[0], &wr) == IBV_WC_REM_ACCESS_ERR);
	destroy_pair(p);

	p = rc_pair(pd);
	wr.invalidate_rkey = mr->rkey;
	post_recv(p.qp[1], 1, 4096, 64);
	CHECK(run(p.qp[0], &wr) == IBV_WC_REM_ACCESS_ERR);
	CHECK(!ibv_dealloc_mw(mw));
	destroy_pair(p);
}

static void bound_region(void)
{
	struct ibv_mr *m = ibv_reg_mr(pd, buf, 4096, ALL_ACCESS);
	struct pair p = rc_pair(pd);
	struct ibv_mw *mw = window(IBV_MW_TYPE_1);

	need(m, "reg_mr");
	CHECK(bind_to(p.qp[1], mw, m, at(0), 64, IBV_ACCESS_REMOTE_WRITE) == IBV_WC_SUCCESS);
	CHECK(ibv_dereg_mr(m) == EBUSY);
	CHECK(ibv_rereg_mr(m, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL_ACCESS));
	CHECK(write_to(p.qp[0], mw->rkey, at(0), 64) == IBV_WC_SUCCESS);
	CHECK(!ibv_dealloc_mw(mw));
	CHECK(!ibv_dereg_mr(m));
	destroy_pair(p);
}

/* A key of a window is for peers. */
static void window_is_no_lkey(void)
{
	struct pair p = rc_pair(pd);
	struct ibv_mw *mw = window(IBV_MW_TYPE_1);
	struct ibv_sge sge = { at(0), 64, 0 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
				  .wr.rdma = { .remote_addr = at(64), .rkey = mr->rkey } };

	CHECK(bind_to(p.qp[0], mw, mr, at(0), 64, IBV_ACCESS_REMOTE_READ) == IBV_WC_SUCCESS);
	sge.lkey = mw->rkey;
	CHECK(run(p.qp[0], &wr) == IBV_WC_LOC_PROT_ERR);
	CHECK(!ibv_dealloc_mw(mw));
	destroy_pair(p);
}

/* ---- all ---- */

static void open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;
	int i;

	need(list, "get_device_list");
	for (i = 0; list[i] && strcmp(ibv_get_device_name(list[i]), name); i++)
		;
	need(list[i], name);
	ctx = ibv_open_device(list[i]);
	need(ctx, "open_device");
	ibv_free_device_list(list);
	CHECK(!ibv_query_port(ctx, 1, &port));
	mtu = 128 << port.active_mtu;
	CHECK(!ibv_query_gid(ctx, 1, gid_index, &gid));
	pd = ibv_alloc_pd(ctx);
	other_pd = ibv_alloc_pd(ctx);
	need(pd && other_pd ? pd : NULL, "alloc_pd");
	buf = aligned_alloc(4096, BUF_BYTES);
	need(buf, "memory");
	mr = ibv_reg_mr(pd, buf, BUF_BYTES, ALL_ACCESS);
	need(mr, "reg_mr");
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	gid_index = atoi(argv[2]);
	if (!inet_pton(AF_INET6, argv[3], group.raw)) {
		memset(group.raw + 10, 0xff, 2);
		if (!inet_pton(AF_INET, argv[3], group.raw + 12))
			return 2;
	}
	open_device(argv[1]);
	if (argc > 4) {
		rule(argv[4], argv[4][0] == 's' ? to_members_elsewhere : from_elsewhere);
		return failed;
	}
	rule("UD: 40 bytes of header, and what the completion says", grh);
	rule("UD: too small a receive costs the datagram, not the receive", short_buffer);
	rule("UD: longer than the MTU is an error of the sender", too_long);
	rule("UD: another Q_Key", wrong_qkey);
	rule("multicast: one copy for each member", multicast);
	rule("multicast: limits", mcast_limits);
	rule("window type 1", type_1);
	rule("window: what may be bound", bind_rules);
	rule("window type 2", type_2);
	rule("window: invalidated by the peer", remote_inv);
	rule("window: the region below stays", bound_region);
	rule("window: not for the consumer itself", window_is_no_lkey);
	CHECK(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_dealloc_pd(other_pd));
	CHECK(!ibv_close_device(ctx));
	return failed || bad;
}
