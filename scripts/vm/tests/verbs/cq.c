// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: resize while completions come, overrun, time stamps; and the
 * agreement on enhanced connections (ECE) that goes with a QP.
 */
#include <poll.h>
#include <pthread.h>
#include <time.h>

#include "lib.h"

/* ---- resize ---- */

struct resizer {
	struct ibv_cq *cq;
	int resizes;
	bool stop;
};

static void *resizer(void *arg)
{
	static const int entries[] = { 128, 1024, 200, 4000, 130 };
	struct resizer *r = arg;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
		CHECK_OK(ibv_resize_cq(r->cq, entries[r->resizes % ARRAY_SIZE(entries)]));
		__atomic_add_fetch(&r->resizes, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Each completion comes once, in order, however often the CQ is resized meanwhile. */
static void resize_under_load(int arg)
{
	int want = quick ? 20 : 300;
	uint64_t posted = 0, seen = 0;
	struct resizer r = {};
	pthread_t thread;
	struct pair p;
	int got, i;

	pair_make(&p, SETUP(.depth = 64));
	r.cq = p.a.scq;
	CHECK_OK(pthread_create(&thread, NULL, resizer, &r));
	while (__atomic_load_n(&r.resizes, __ATOMIC_RELAXED) < want || seen < 2000) {
		struct ibv_wc wc[7];

		while (posted - seen < 64)
			POST(&p.a, .id = posted++, .len = 8);
		got = ibv_poll_cq(r.cq, ARRAY_SIZE(wc), wc);
		CHECK_GE(got, 0);
		for (i = 0; i < got; i++) {
			CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
			CHECK_EQ(wc[i].wr_id, seen);
			seen++;
		}
	}
	__atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
	CHECK_OK(pthread_join(thread, NULL));
	for (; seen < posted; seen++)
		EXPECT(r.cq, seen, SUCCESS);
	EXPECT_NONE(r.cq, 10 * MS);
	pair_free(&p);
}

/* What waits in a CQ stays in it; where that does not fit, nothing changes. */
static void resize_full(int arg)
{
	struct pair p;
	int i;

	pair_make(&p, SETUP(.depth = 32));
	CHECK_OK(ibv_resize_cq(p.a.scq, 16));
	CHECK_EQ(p.a.scq->cqe, 16);
	for (i = 0; i < 12; i++)
		POST(&p.a, .id = i, .len = 8, .unsignaled = i % 2);
	/* seven completions, the last of them that of a READ that ends behind all */
	POST(&p.a, .id = 12, .code = IBV_WR_RDMA_READ, .len = 8);
	while (p.a.buf[0] != 1) {
		p.b.buf[0] = 1;
		POST(&p.a, .id = 13, .code = IBV_WR_RDMA_READ, .len = 1, .unsignaled = true);
		sleep_ns(10 * MS);
	}
	CHECK_EQ(ibv_resize_cq(p.a.scq, 4), EINVAL);
	CHECK_EQ(p.a.scq->cqe, 16);
	CHECK_OK(ibv_resize_cq(p.a.scq, 8));
	CHECK_EQ(p.a.scq->cqe, 8);
	CHECK_OK(ibv_resize_cq(p.a.scq, 64));
	for (i = 0; i < 12; i += 2)
		EXPECT(p.a.scq, i, SUCCESS);
	EXPECT(p.a.scq, 12, SUCCESS);
	EXPECT_NONE(p.a.scq, 10 * MS);
	pair_free(&p);
}

/* The event that was asked for comes from the new ring. */
static void resize_armed(int arg)
{
	struct pair p;

	pair_make(&p, SETUP());
	CHECK_OK(ibv_req_notify_cq(p.b.rcq, 0));
	CHECK_OK(ibv_resize_cq(p.b.rcq, 500));
	CHECK(!comp_event(&p.b, 20 * MS));
	post_recv(&p.b, 1, 0, 100);
	POST(&p.a, .id = 1, .code = IBV_WR_SEND, .len = 100);
	CHECK(comp_event(&p.b, AT_LAST));
	EXPECT(p.b.rcq, 1, SUCCESS);
	pair_free(&p);
}

/* ---- overrun ---- */

static bool next_event(const struct node *node, struct ibv_async_event *event, uint64_t ns)
{
	struct pollfd fd = { .fd = node->ctx->async_fd, .events = POLLIN };

	if (poll(&fd, 1, ns == AT_LAST ? -1 : (int)(ns / MS)) != 1)
		return false;
	CHECK_OK(ibv_get_async_event(node->ctx, event));
	ibv_ack_async_event(event);
	return true;
}

/* One event for a CQ that overran; what it has got before is there. */
static void overrun(int arg)
{
	struct ibv_async_event event;
	struct pair p;
	int i;

	pair_make(&p, SETUP(.depth = 64));
	CHECK_OK(ibv_resize_cq(p.a.scq, 4));
	for (i = 0; i < 4; i++)
		POST(&p.a, .id = i, .len = 8);
	CHECK(!next_event(&node_a, &event, 100 * MS));
	for (; i < 20; i++)
		POST(&p.a, .id = i, .len = 8);
	CHECK(next_event(&node_a, &event, AT_LAST));
	CHECK_EQ(event.event_type, IBV_EVENT_CQ_ERR);
	CHECK(event.element.cq == p.a.scq);
	CHECK(!next_event(&node_a, &event, 100 * MS));
	EXPECT_ALL(p.a.scq, 0, 3, SUCCESS);
	/* nothing comes after a hole */
	for (; i < 30; i++)
		POST(&p.a, .id = i, .len = 8);
	EXPECT_NONE(p.a.scq, 100 * MS);
	CHECK(!next_event(&node_a, &event, 10 * MS));
	pair_free(&p);
}

/* ---- time stamps ---- */

static uint64_t realtime(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

static uint64_t stamp_of(struct ibv_cq_ex *cq, uint64_t id, bool wall)
{
	struct ibv_poll_cq_attr attr = {};
	uint64_t stamp;
	int err;

	while ((err = ibv_start_poll(cq, &attr)) == ENOENT)
		sleep_ns(100 * US);
	CHECK_OK(err);
	CHECK_EQ(cq->wr_id, id);
	CHECK_EQ(cq->status, IBV_WC_SUCCESS);
	stamp = wall ? ibv_wc_read_completion_wallclock_ns(cq) : ibv_wc_read_completion_ts(cq);
	ibv_end_poll(cq);
	return stamp;
}

/* Two completions that are some time apart. The raw clock ticks as the device says it does. */
static void stamps(int wall)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 16,
		.wc_flags = wall ? IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK :
				   IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(node_a.ctx, &init);
	struct ibv_qp_init_attr qp_init = {
		.send_cq = ibv_cq_ex_to_cq(cq), .recv_cq = ibv_cq_ex_to_cq(cq),
		.qp_type = IBV_QPT_RC, .cap = { 8, 8, 1, 1, 0 },
	};
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	uint64_t before, first, middle, last, after;
	struct ibv_device_attr_ex attr;
	struct pair p;

	CHECK(cq);
	CHECK_OK(ibv_query_device_ex(node_a.ctx, NULL, &attr));
	CHECK_EQ(attr.completion_timestamp_mask, UINT64_MAX);
	CHECK_EQ(attr.hca_core_clock, 1000000);
	pair_create(&p, SETUP());
	CHECK_OK(ibv_destroy_qp(p.a.qp));
	p.a.qp = ibv_create_qp(node_a.pd, &qp_init);
	CHECK(p.a.qp);
	to_init(&p.a);
	to_init(&p.b);
	to_rtr(&p.a);
	to_rtr(&p.b);
	to_rts(&p.a);
	before = realtime();
	POST(&p.a, .id = 1, .len = 8);
	first = stamp_of(cq, 1, wall);
	middle = realtime();
	sleep_ns(50 * MS);
	POST(&p.a, .id = 2, .len = 8);
	last = stamp_of(cq, 2, wall);
	CHECK_OK(ibv_query_rt_values_ex(node_a.ctx, &values));
	CHECK(values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK);
	after = realtime();
	CHECK_GE(last - first, 50 * MS);
	if (wall) {
		CHECK_GE(first, before);
		CHECK_GE(middle, first);
		CHECK_GE(after, last);
	} else {
		uint64_t raw = values.raw_clock.tv_sec * SEC + values.raw_clock.tv_nsec;

		CHECK_GE(raw, last);
		CHECK_GE(after, raw);
	}
}

/* ---- ECE ---- */

/* What one end offers the other accepts, and the first is told; an offer of others is declined. */
static void ece(int arg)
{
	struct ibv_ece offer, theirs = { .vendor_id = 0x15b3, .options = 1 };
	struct pair p;
	int err;

	pair_create(&p, SETUP());
	err = ibv_query_ece(p.a.qp, &offer);
	if (err == EOPNOTSUPP) {
		CHECK_EQ(ibv_set_ece(p.a.qp, &theirs), EOPNOTSUPP);
		skip("the kernel has no options to offer");
	}
	CHECK_OK(err);
	CHECK(offer.vendor_id);
	CHECK_OK(ibv_set_ece(p.b.qp, &offer));
	to_init(&p.a);
	to_init(&p.b);
	to_rtr(&p.a);
	to_rtr(&p.b);
	to_rts(&p.a);
	CHECK_OK(ibv_query_ece(p.b.qp, &theirs));
	CHECK_EQ(theirs.vendor_id, offer.vendor_id);
	CHECK_EQ(theirs.options & ~offer.options, 0);
	POST(&p.a, .id = 1, .len = 8);
	EXPECT(p.a.scq, 1, SUCCESS);
	theirs = (struct ibv_ece){ .vendor_id = 0x15b3, .options = 1 };
	CHECK(ibv_set_ece(p.a.qp, &theirs));
	pair_free(&p);
}

static const struct test tests[] = {
	{ "resize under load loses nothing", resize_under_load },
	{ "resize keeps what waits, or changes nothing", resize_full },
	{ "resize keeps the wish for an event", resize_armed },
	{ "overrun: one event", overrun },
	{ "time stamps of the raw clock", stamps, false },
	{ "time stamps of the wall clock", stamps, true },
	{ "ECE: offer, answer, refusal", ece },
};

VERBS_MAIN(tests)
