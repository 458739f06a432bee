// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every verb that makes or changes something, and each allocation and copy on its way
 * that can fail, one after the other (/proc/thread-self/fail-nth): the verb fails or
 * does not, nothing is left behind, and the same verb works when nothing fails. Which
 * of the kernel's functions count is for the script to say, by the stack filter.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "lib.h"

#define MAX_NTH		3000
#define BYTES		(4UL << 20)

static int nth_fd = -1;
static unsigned int failures;

/* ---- one fault ---- */

static void arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	CHECK_EQ(pwrite(nth_fd, text, len, 0), len);
}

/* Was the fault made? If it was not, reading and writing may come upon it. */
static bool disarm(void)
{
	char text[16] = {};
	bool made = pread(nth_fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);
	int i;

	for (i = 0; i < 3 && pwrite(nth_fd, "0", 1, 0) != 1; i++)
		;
	return made;
}

/*
 * @make with a fault at each place until there is none left; @unmake, without faults,
 * what has come of it. @make returns 0 or an error. The result is how many faults were made.
 */
static unsigned int each_fault(const char *name, int (*make)(void), void (*unmake)(void))
{
	unsigned int n, failed = 0;
	bool made = true;
	int err;

	for (n = 1; made; n++) {
		CHECK(n < MAX_NTH);
		arm(n);
		err = make();
		made = disarm();
		if (err)
			failed++;
		else
			unmake();
		if (err && !made)
			FAIL("%s: %s without a fault (%u)", name, strerror(err), n);
	}
	failures += failed;
	note("%s: %u faults, %u failures", name, n - 2, failed);
	return n - 2;
}

static int of(const void *object)
{
	return object ? 0 : errno ? errno : EIO;
}

/* ---- objects ---- */

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_comp_channel *chan;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_mw *mw;
static struct ibv_ah *ah;
static struct ibv_srq *srq;
static struct ibv_xrcd *xrcd;
static struct ibv_qp *qp;
static enum ibv_qp_type qp_type;
static uint8_t *memory;

static int open_device(void)
{
	ctx = ibv_open_device(node_a.ctx->device);
	return of(ctx);
}

static void close_device(void)
{
	CHECK_OK(ibv_close_device(ctx));
}

static int make_pd(void)
{
	pd = ibv_alloc_pd(node_a.ctx);
	return of(pd);
}

static void free_pd(void)
{
	CHECK_OK(ibv_dealloc_pd(pd));
}

static int make_chan(void)
{
	chan = ibv_create_comp_channel(node_a.ctx);
	return of(chan);
}

static void free_chan(void)
{
	CHECK_OK(ibv_destroy_comp_channel(chan));
}

static int make_cq(void)
{
	cq = ibv_create_cq(node_a.ctx, 1000, NULL, NULL, 0);
	return of(cq);
}

static void free_cq(void)
{
	CHECK_OK(ibv_destroy_cq(cq));
}

static int make_mr(void)
{
	mr = ibv_reg_mr(node_a.pd, memory, BYTES, ACCESS_ALL | IBV_ACCESS_MW_BIND);
	return of(mr);
}

static void free_mr(void)
{
	CHECK_OK(ibv_dereg_mr(mr));
}

static int make_mw(void)
{
	mw = ibv_alloc_mw(node_a.pd, IBV_MW_TYPE_2);
	return of(mw);
}

static void free_mw(void)
{
	CHECK_OK(ibv_dealloc_mw(mw));
}

static int make_ah(void)
{
	struct ibv_ah_attr attr = av_to(&node_a, &node_b);

	ah = ibv_create_ah(node_a.pd, &attr);
	return of(ah);
}

static void free_ah(void)
{
	CHECK_OK(ibv_destroy_ah(ah));
}

static int make_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 100, .max_sge = 3 } };

	srq = ibv_create_srq(node_a.pd, &init);
	return of(srq);
}

static void free_srq(void)
{
	CHECK_OK(ibv_destroy_srq(srq));
}

static int make_xrcd(void)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	xrcd = ibv_open_xrcd(node_a.ctx, &init);
	return of(xrcd);
}

static void free_xrcd(void)
{
	CHECK_OK(ibv_close_xrcd(xrcd));
}

static int make_xrc_srq(void)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = 16, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = node_a.pd,
		.xrcd = xrcd,
		.cq = cq,
	};

	srq = ibv_create_srq_ex(node_a.ctx, &init);
	return of(srq);
}

static int make_qp(void)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = qp_type,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 100, .max_recv_wr = 100, .max_send_sge = 2, .max_recv_sge = 2 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = node_a.pd,
	};

	if (qp_type == IBV_QPT_XRC_SEND)
		init.recv_cq = NULL;
	if (qp_type == IBV_QPT_XRC_RECV) {
		init = (struct ibv_qp_init_attr_ex) {
			.qp_type = qp_type,
			.comp_mask = IBV_QP_INIT_ATTR_XRCD,
			.xrcd = xrcd,
		};
	}
	qp = ibv_create_qp_ex(node_a.ctx, &init);
	return of(qp);
}

static void free_qp(void)
{
	CHECK_OK(ibv_destroy_qp(qp));
}

static const struct {
	const char *name;
	int (*make)(void);
	void (*unmake)(void);
} kinds[] = {
	{ "context", open_device, close_device },
	{ "PD", make_pd, free_pd },
	{ "completion channel", make_chan, free_chan },
	{ "CQ", make_cq, free_cq },
	{ "region", make_mr, free_mr },
	{ "window", make_mw, free_mw },
	{ "address handle", make_ah, free_ah },
	{ "SRQ", make_srq, free_srq },
	{ "XRC domain", make_xrcd, free_xrcd },
};

static void objects(int arg)
{
	static const struct { const char *name; enum ibv_qp_type type; } types[] = {
		{ "RC QP", IBV_QPT_RC }, { "UC QP", IBV_QPT_UC }, { "UD QP", IBV_QPT_UD },
		{ "XRC initiator", IBV_QPT_XRC_SEND }, { "XRC target", IBV_QPT_XRC_RECV },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		each_fault(kinds[i].name, kinds[i].make, kinds[i].unmake);
	CHECK_OK(make_cq());
	CHECK_OK(make_xrcd());
	each_fault("XRC SRQ", make_xrc_srq, free_srq);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		qp_type = types[i].type;
		each_fault(types[i].name, make_qp, free_qp);
	}
	free_xrcd();
	free_cq();
	CHECK_GE(failures, 20);
}

/* ---- the end of an object: if it fails the object is there, and can be destroyed again ---- */

static int destroy_cq(void) { return ibv_destroy_cq(cq); }
static int destroy_mr(void) { return ibv_dereg_mr(mr); }
static int destroy_mw(void) { return ibv_dealloc_mw(mw); }
static int destroy_ah(void) { return ibv_destroy_ah(ah); }
static int destroy_srq(void) { return ibv_destroy_srq(srq); }
static int destroy_qp(void) { return ibv_destroy_qp(qp); }

static void ends(int arg)
{
	static const struct {
		const char *name;
		int (*make)(void);
		int (*destroy)(void);
		void (*unmake)(void);
	} list[] = {
		{ "end of a region", make_mr, destroy_mr, free_mr },
		{ "end of a window", make_mw, destroy_mw, free_mw },
		{ "end of an address handle", make_ah, destroy_ah, free_ah },
		{ "end of an SRQ", make_srq, destroy_srq, free_srq },
		{ "end of a QP", make_qp, destroy_qp, free_qp },
		{ "end of a CQ", make_cq, destroy_cq, free_cq },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		unsigned int n = 1;
		bool made = true;

		if (list[i].destroy == destroy_qp) {
			CHECK_OK(make_cq());
			qp_type = IBV_QPT_RC;
		}
		for (; made; n++) {
			int err;

			CHECK(n < MAX_NTH);
			CHECK_OK(list[i].make());
			arm(n);
			err = list[i].destroy();
			made = disarm();
			if (err && !made)
				FAIL("%s: %s without a fault", list[i].name, strerror(err));
			if (err)
				list[i].unmake();
		}
		note("%s: %u faults", list[i].name, n - 2);
		if (list[i].destroy == destroy_qp)
			free_cq();
	}
}

/* ---- changes ---- */

static struct pair pair;

static void nothing(void)
{
}

static int resize_cq(void)
{
	static int n;

	return ibv_resize_cq(cq, ++n & 1 ? 200 : 3000);
}

static int resize_srq(void)
{
	static int n;
	struct ibv_srq_attr attr = { .max_wr = ++n & 1 ? 64 : 500 };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

static int rereg(void)
{
	static int n;

	if (!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory + (++n & 1 ? PAGE : 0),
			  BYTES / 2, 0))
		return 0;
	return errno;
}

static int to_init_rtr_rts(void)
{
	struct setup *s = &pair.setup;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS_ALL };
	int err = ibv_modify_qp(pair.a.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				IBV_QP_ACCESS_FLAGS);

	if (err)
		return err;
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR, .path_mtu = s->mtu, .dest_qp_num = pair.b.qp->qp_num,
		.rq_psn = s->psn_b, .max_dest_rd_atomic = 4, .min_rnr_timer = 1,
		.ah_attr = av_of_peer(&pair.a),
	};
	err = ibv_modify_qp(pair.a.qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 4,
		.sq_psn = s->psn_a,
	};
	return ibv_modify_qp(pair.a.qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void to_reset(void)
{
	to_state(&pair.a, IBV_QPS_RESET);
}

static union ibv_gid group = { .raw = { [10] = 0xff, [11] = 0xff, 239, 1, 2, 3 } };

static int attach(void)
{
	return ibv_attach_mcast(qp, &group, 0);
}

static void detach(void)
{
	CHECK_OK(ibv_detach_mcast(qp, &group, 0));
}

static int query_qp(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(pair.a.qp, &attr, IBV_QP_STATE, &init);
}

static void changes(int arg)
{
	CHECK_OK(make_cq());
	CHECK_OK(make_srq());
	CHECK_OK(make_mr());
	each_fault("resize of a CQ", resize_cq, nothing);
	each_fault("resize of an SRQ", resize_srq, nothing);
	each_fault("rereg", rereg, nothing);
	free_mr();
	free_srq();
	qp_type = IBV_QPT_UD;
	CHECK_OK(make_qp());
	each_fault("group", attach, detach);
	free_qp();
	free_cq();
}

/* From RESET to RTS; one that failed on the way is begun again. */
static int connect_again(void)
{
	to_reset();
	return to_init_rtr_rts();
}

static void connections(int arg)
{
	unsigned int n, faults;
	bool made = true;

	pair_create(&pair, SETUP());
	to_init(&pair.b);
	to_rtr(&pair.b);
	to_rts(&pair.b);
	for (n = 1; made; n++) {
		int err;

		CHECK(n < MAX_NTH);
		arm(n);
		err = to_init_rtr_rts();
		made = disarm();
		if (err && !made)
			FAIL("%s without a fault", strerror(err));
		to_reset();
	}
	faults = n - 2;
	note("connection: %u faults", faults);
	faults += each_fault("query of a QP", query_qp, nothing);
	CHECK_OK(connect_again());
	POST(&pair.a, .id = 1, .len = 5000);
	EXPECT(pair.a.scq, 1, SUCCESS);
	pair_free(&pair);
	if (!faults)
		skip("no allocation below this driver; FAULTS_ALL=1 has some");
}

/* ---- traffic: packets that cannot be built are lost ones ---- */

static void posts(int arg)
{
	static const int codes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	uint64_t id = 0, before = counter(&node_a, "tx_no_memory");
	size_t i;

	pair_make(&pair, SETUP(.timeout = 14));
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		uint32_t len = codes[i] == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : 6000;
		unsigned int n, idle = 0;
		bool made = true;

		for (n = 1; made; n++) {
			CHECK(n < MAX_NTH);
			id++;
			if (codes[i] == IBV_WR_SEND)
				post_recv(&pair.b, id, 0, 8000);
			arm(n);
			TRY_POST(&pair.a, .id = id, .code = codes[i], .len = len);
			made = disarm();
			EXPECT(pair.a.scq, id, SUCCESS);
			if (codes[i] == IBV_WR_SEND)
				EXPECT(pair.b.rcq, id, SUCCESS);
			/* the kernel was still awake, and needed no call to send it */
			if (!made && n == 1 && idle++ < 100) {
				sleep_ns(10 * MS);
				made = true;
				n = 0;
			}
		}
		CHECK_GE(n, 3);
	}
	CHECK_GE(counter(&node_a, "tx_no_memory") - before, 1);
	pair_free(&pair);
}

/* ---- devices, by the netlink message of `rdma link add` ---- */

static int netlink = -1;

struct message {
	struct nlmsghdr hdr;
	uint8_t attrs[256];
};

static void put_attr(struct message *m, uint16_t type, const char *value)
{
	struct nlattr *a = (struct nlattr *)((uint8_t *)m + NLMSG_ALIGN(m->hdr.nlmsg_len));
	size_t bytes = strlen(value) + 1;

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + bytes;
	memcpy(a + 1, value, bytes);
	m->hdr.nlmsg_len = NLMSG_ALIGN(m->hdr.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

static int add_link(void)
{
	struct message m = {
		.hdr = {
			.nlmsg_len = NLMSG_HDRLEN,
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
	};
	struct {
		struct nlmsghdr hdr;
		struct nlmsgerr err;
		uint8_t more[512];
	} answer;

	put_attr(&m, RDMA_NLDEV_ATTR_DEV_NAME, "s0");
	put_attr(&m, RDMA_NLDEV_ATTR_NDEV_NAME, "d0");
	put_attr(&m, RDMA_NLDEV_ATTR_LINK_TYPE, "sroce");
	if (send(netlink, &m, m.hdr.nlmsg_len, 0) < 0)
		return errno;
	/* without an answer there is a device or not */
	if (recv(netlink, &answer, sizeof(answer), MSG_DONTWAIT) < 0)
		return errno;
	return answer.hdr.nlmsg_type == NLMSG_ERROR ? -answer.err.error : EPROTO;
}

static int run(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void devices(int arg)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	unsigned int n, failed = 0;
	bool made = true;

	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	CHECK_GE(netlink, 0);
	CHECK_OK(bind(netlink, (struct sockaddr *)&addr, sizeof(addr)));
	CHECK_EQ(run("ip link add d0 type dummy && ip link set d0 up && ip addr add 10.7.0.1/24 dev d0"), 0);
	/* quick: some of the places, others each time */
	for (n = quick ? 1 + now() % 16 : 1; made; n += quick ? 16 : 1) {
		int err;

		CHECK(n < MAX_NTH);
		arm(n);
		err = add_link();
		made = disarm();
		if (err && !made)
			FAIL("%s without a fault", strerror(err));
		if (err)
			failed++;
		CHECK_EQ(access("/sys/class/infiniband/s0", F_OK), err ? -1 : 0);
		if (!err)
			CHECK_EQ(run("rdma link del s0"), 0);
	}
	note("device: up to fault %u, %u failures", n, failed);
	CHECK_GE(failed, 5);
	CHECK_EQ(run("ip link del d0"), 0);
}

static void prepare(void (*test)(int), int arg)
{
	memory = map_pages(2 * BYTES);
	memset(memory, 1, 2 * BYTES);
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	CHECK_GE(nth_fd, 0);
	test(arg);
}

static void run_objects(int arg) { prepare(objects, arg); }
static void run_ends(int arg) { prepare(ends, arg); }
static void run_changes(int arg) { prepare(changes, arg); }
static void run_connections(int arg) { prepare(connections, arg); }
static void run_posts(int arg) { prepare(posts, arg); }
static void run_devices(int arg) { prepare(devices, arg); }

static const struct test tests[] = {
	{ "objects of each kind", run_objects },
	{ "the end of objects", run_ends },
	{ "changes of objects", run_changes },
	{ "connections", run_connections },
	{ "work requests: packets that cannot be built are sent later", run_posts },
	{ "devices", run_devices },
};

VERBS_MAIN(tests)
