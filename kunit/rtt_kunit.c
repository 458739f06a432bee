// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/rtt.c"

#include "req_fixture.h"

/* One packet there and back. */
static void sample(struct sroce_rtt *rtt, u64 at_ns, u64 rtt_ns)
{
	sroce_rtt_on_sent(rtt, 7, true, at_ns);
	sroce_rtt_on_acked(rtt, 8, at_ns + rtt_ns);
}

static void rtt__nothing_known(struct kunit *test)
{
	struct sroce_rtt rtt;

	sroce_rtt_reset(&rtt);
	KUNIT_EXPECT_FALSE(test, sroce_rtt_on_acked(&rtt, 5, 100));
	KUNIT_EXPECT_EQ(test, rtt.samples, 0u);
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, rtt.min_ns, 0ULL);
}

/* RFC 6298, 2.2 and 2.3 by hand. */
static void rtt__is_smoothed(struct kunit *test)
{
	struct sroce_rtt rtt;

	sroce_rtt_reset(&rtt);
	sample(&rtt, 1000, 8000);
	KUNIT_EXPECT_EQ(test, rtt.samples, 1u);
	KUNIT_EXPECT_EQ(test, rtt.last_ns, 8000ULL);
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 8000ULL);
	KUNIT_EXPECT_EQ(test, rtt.rttvar_ns, 4000ULL);
	sample(&rtt, 20000, 16000);
	KUNIT_EXPECT_EQ(test, rtt.last_ns, 16000ULL);
	KUNIT_EXPECT_EQ(test, rtt.rttvar_ns, 5000ULL);
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 9000ULL);
	sample(&rtt, 50000, 1000);
	KUNIT_EXPECT_EQ(test, rtt.rttvar_ns, 5750ULL);
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 8000ULL);
	KUNIT_EXPECT_EQ(test, rtt.samples, 3u);
}

static void rtt__constant_rtt_has_no_deviation(struct kunit *test)
{
	struct sroce_rtt rtt;
	u32 i;

	sroce_rtt_reset(&rtt);
	for (i = 0; i < 100; i++)
		sample(&rtt, i * 100000ULL, 40000);
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 40000ULL);
	KUNIT_EXPECT_LT(test, rtt.rttvar_ns, 10ULL);
}

static void rtt__covers_the_probe_or_not(struct kunit *test)
{
	struct sroce_rtt rtt;

	sroce_rtt_reset(&rtt);
	sroce_rtt_on_sent(&rtt, 0xffffff, true, 10);
	KUNIT_EXPECT_FALSE(test, sroce_rtt_on_acked(&rtt, 0xffffff, 20));
	KUNIT_EXPECT_FALSE(test, sroce_rtt_on_acked(&rtt, 0xfffff0, 20));
	KUNIT_EXPECT_TRUE(test, sroce_rtt_on_acked(&rtt, 0, 30));
	KUNIT_EXPECT_EQ(test, rtt.last_ns, 20ULL);
	KUNIT_EXPECT_FALSE(test, sroce_rtt_on_acked(&rtt, 1, 40));
}

static void rtt__one_probe_at_a_time(struct kunit *test)
{
	struct sroce_rtt rtt;

	sroce_rtt_reset(&rtt);
	sroce_rtt_on_sent(&rtt, 1, true, 10);
	sroce_rtt_on_sent(&rtt, 2, true, 20);
	KUNIT_EXPECT_TRUE(test, sroce_rtt_on_acked(&rtt, 2, 60));
	KUNIT_EXPECT_EQ(test, rtt.last_ns, 50ULL);
}

static void rtt__karn(struct kunit *test)
{
	struct sroce_rtt rtt;

	sroce_rtt_reset(&rtt);
	sroce_rtt_on_sent(&rtt, 1, true, 10);
	sroce_rtt_on_retry(&rtt);
	KUNIT_EXPECT_FALSE(test, sroce_rtt_on_acked(&rtt, 2, 60));
	KUNIT_EXPECT_EQ(test, rtt.samples, 0u);
}

/* An answer that waits for others tells when one is late, not how long the path is. */
static void rtt__behind_others(struct kunit *test)
{
	struct sroce_rtt rtt;

	sroce_rtt_reset(&rtt);
	sroce_rtt_on_sent(&rtt, 1, false, 10);
	KUNIT_EXPECT_TRUE(test, sroce_rtt_on_acked(&rtt, 2, 60));
	KUNIT_EXPECT_TRUE(test, rtt.known);
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 50ULL);
	KUNIT_EXPECT_EQ(test, rtt.samples, 0u);
	KUNIT_EXPECT_EQ(test, rtt.min_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, rtt.last_ns, 0ULL);
}

static void rtt__repair(struct kunit *test)
{
	struct sroce_rtt rtt;

	sroce_rtt_reset(&rtt);
	sroce_rtt_on_sent(&rtt, 5, true, 10);
	sroce_rtt_on_repair(&rtt, 4);
	KUNIT_EXPECT_TRUE(test, sroce_rtt_on_acked(&rtt, 6, 60));
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 50ULL);
	KUNIT_EXPECT_EQ(test, rtt.samples, 0u);
	sroce_rtt_on_sent(&rtt, 6, true, 70);
	sroce_rtt_on_repair(&rtt, 6);
	KUNIT_EXPECT_FALSE(test, sroce_rtt_on_acked(&rtt, 7, 90));
	KUNIT_EXPECT_EQ(test, rtt.srtt_ns, 50ULL);
}

static void rtt__minimum_is_forgotten(struct kunit *test)
{
	const u64 window = SROCE_RTT_MIN_WINDOW_NS;
	struct sroce_rtt rtt;

	sroce_rtt_reset(&rtt);
	sample(&rtt, 0, 500);
	sample(&rtt, 1000, 9000);
	KUNIT_EXPECT_EQ(test, rtt.min_ns, 500ULL);
	sample(&rtt, window + 1000, 8000);
	KUNIT_EXPECT_EQ(test, rtt.min_ns, 500ULL);
	sample(&rtt, window + 20000, 7000);
	sample(&rtt, 2 * window + 20000, 9000);
	KUNIT_EXPECT_EQ(test, rtt.min_ns, 7000ULL);
	sample(&rtt, 2 * window + 40000, 300);
	KUNIT_EXPECT_EQ(test, rtt.min_ns, 300ULL);
}

/* ---- in the requester ---- */

static void req_rtt__from_ackreq_to_ack(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_WRITE, 2 * MTU);
	KUNIT_EXPECT_EQ(test, next(t), SROCE_REQ_PACKET);
	KUNIT_EXPECT_FALSE(test, t->req.rtt.probing);
	t->now += 100;
	KUNIT_EXPECT_EQ(test, next(t), SROCE_REQ_PACKET);
	t->now += 3000;
	take_ack(t, ACK, PSN(0));
	KUNIT_EXPECT_EQ(test, t->req.rtt.samples, 0u);
	t->now += 1000;
	take_ack(t, ACK, PSN(1));
	KUNIT_EXPECT_EQ(test, t->req.rtt.samples, 1u);
	KUNIT_EXPECT_EQ(test, t->req.rtt.last_ns, 4000ULL);
}

/* To the first response. */
static void req_rtt__of_a_read(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_READ, 3 * MTU);
	post(t, SROCE_WR_READ, MTU);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	t->now += 700;
	take_read(t, SROCE_OP_READ_RESP_FIRST, PSN(0), MTU);
	KUNIT_EXPECT_EQ(test, t->req.rtt.last_ns, 700ULL);
	KUNIT_EXPECT_EQ(test, t->req.rtt.srtt_ns, 700ULL);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	t->now += 1500;
	take_read(t, SROCE_OP_READ_RESP_MIDDLE, PSN(1), MTU);
	take_read(t, SROCE_OP_READ_RESP_LAST, PSN(2), MTU);
	take_read(t, SROCE_OP_READ_RESP_ONLY, PSN(3), MTU);
	take_ack(t, ACK, PSN(5));
	KUNIT_EXPECT_EQ(test, t->req.rtt.samples, 1u);
	KUNIT_EXPECT_EQ(test, t->req.rtt.last_ns, 700ULL);
	KUNIT_EXPECT_EQ(test, t->req.rtt.srtt_ns, 800ULL);
}

static void req_rtt__not_of_what_is_sent_again(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	take_ack(t, SROCE_NAK_PSN_SEQ, PSN(0));
	KUNIT_EXPECT_EQ(test, send_all(t), 2u);
	t->now += 500;
	take_ack(t, ACK, PSN(1));
	KUNIT_EXPECT_EQ(test, t->req.rtt.samples, 0u);
	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	t->now += 600;
	take_ack(t, ACK, PSN(2));
	KUNIT_EXPECT_EQ(test, t->req.rtt.last_ns, 600ULL);
}

static void req_rtt__restarts_with_the_connection(struct kunit *test)
{
	struct req_test *t = test->priv;

	post(t, SROCE_WR_SEND, 1);
	send_all(t);
	t->now += 500;
	take_ack(t, ACK, PSN(0));
	KUNIT_EXPECT_EQ(test, t->req.rtt.samples, 1u);
	sroce_req_start(&t->req, FIRST_PSN);
	KUNIT_EXPECT_EQ(test, t->req.rtt.samples, 0u);
}

static struct kunit_case rtt_cases[] = {
	KUNIT_CASE(rtt__nothing_known),
	KUNIT_CASE(rtt__is_smoothed),
	KUNIT_CASE(rtt__constant_rtt_has_no_deviation),
	KUNIT_CASE(rtt__covers_the_probe_or_not),
	KUNIT_CASE(rtt__one_probe_at_a_time),
	KUNIT_CASE(rtt__karn),
	KUNIT_CASE(rtt__behind_others),
	KUNIT_CASE(rtt__repair),
	KUNIT_CASE(rtt__minimum_is_forgotten),
	KUNIT_CASE(req_rtt__from_ackreq_to_ack),
	KUNIT_CASE(req_rtt__of_a_read),
	KUNIT_CASE(req_rtt__not_of_what_is_sent_again),
	KUNIT_CASE(req_rtt__restarts_with_the_connection),
	{}
};

SUITE_INIT(sroce_rtt, rtt_cases, req_init);
