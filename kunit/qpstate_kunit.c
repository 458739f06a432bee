// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "suite.h"

#include "../drivers/infiniband/sw/sroce/proto/qpstate.c"

#define ALL (SROCE_MAY_POST_RECV | SROCE_MAY_POST_SEND | SROCE_MAY_RESPOND | SROCE_MAY_REQUEST | \
	     SROCE_MAY_COMPLETE | SROCE_MAY_FLUSH_SEND | SROCE_MAY_FLUSH_RECV)

struct may_param {
	const char *name;
	enum sroce_qp_state state;
	u32 may;
	u32 may_not;
};

/* IBA 10.3.1. */
static const struct may_param may_params[] = {
	{ "RESET may nothing", SROCE_QPS_RESET, 0, ALL },
	{ "INIT takes receives only", SROCE_QPS_INIT, SROCE_MAY_POST_RECV,
	  ALL & ~SROCE_MAY_POST_RECV },
	{ "RTR responds and does not request", SROCE_QPS_RTR,
	  SROCE_MAY_POST_RECV | SROCE_MAY_RESPOND,
	  SROCE_MAY_POST_SEND | SROCE_MAY_REQUEST | SROCE_MAY_COMPLETE | SROCE_MAY_FLUSH_SEND |
	  SROCE_MAY_FLUSH_RECV },
	{ "RTS does all and flushes nothing", SROCE_QPS_RTS,
	  SROCE_MAY_POST_RECV | SROCE_MAY_POST_SEND | SROCE_MAY_RESPOND | SROCE_MAY_REQUEST |
	  SROCE_MAY_COMPLETE,
	  SROCE_MAY_FLUSH_SEND | SROCE_MAY_FLUSH_RECV },
	{ "SQD finishes and starts nothing", SROCE_QPS_SQD,
	  SROCE_MAY_POST_RECV | SROCE_MAY_POST_SEND | SROCE_MAY_RESPOND | SROCE_MAY_COMPLETE,
	  SROCE_MAY_REQUEST | SROCE_MAY_FLUSH_SEND | SROCE_MAY_FLUSH_RECV },
	{ "SQE flushes sends, receives on", SROCE_QPS_SQE,
	  SROCE_MAY_POST_RECV | SROCE_MAY_POST_SEND | SROCE_MAY_RESPOND | SROCE_MAY_FLUSH_SEND,
	  SROCE_MAY_REQUEST | SROCE_MAY_COMPLETE | SROCE_MAY_FLUSH_RECV },
	{ "ERR flushes all", SROCE_QPS_ERR,
	  SROCE_MAY_POST_RECV | SROCE_MAY_POST_SEND | SROCE_MAY_FLUSH_SEND | SROCE_MAY_FLUSH_RECV,
	  SROCE_MAY_RESPOND | SROCE_MAY_REQUEST | SROCE_MAY_COMPLETE },
	{ "one past the last", SROCE_QPS_COUNT, 0, ALL },
	{ "far out of range", (enum sroce_qp_state)0x7fffffff, 0, ALL },
	{ "negative", (enum sroce_qp_state)-1, 0, ALL },
};

static void may_desc(const struct may_param *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->name);
}

KUNIT_ARRAY_PARAM(may, may_params, may_desc);

static void qp_may__table(struct kunit *test)
{
	const struct may_param *p = test->param_value;
	u32 may = sroce_qp_may(p->state);

	KUNIT_EXPECT_EQ(test, may & p->may, p->may);
	KUNIT_EXPECT_EQ(test, may & p->may_not, 0u);
}

static struct kunit_case qpstate_cases[] = {
	KUNIT_CASE_PARAM(qp_may__table, may_gen_params),
	{}
};

SUITE(sroce_qpstate, qpstate_cases);
