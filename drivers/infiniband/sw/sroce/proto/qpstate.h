/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What work a QP does in each of its states (IBA 10.3.1): one table look-up
 * instead of comparisons spread over the code.
 *
 *   RESET --> INIT --> RTR --> RTS <--> SQD
 *                               |  \
 *     any state --> ERR         |   `-> SQE (UC, UD only) --> RTS
 *     any state --> RESET
 */
#ifndef SROCE_PROTO_QPSTATE_H
#define SROCE_PROTO_QPSTATE_H

#include "base.h"

/* The values of enum ib_qp_state. */
enum sroce_qp_state {
	SROCE_QPS_RESET,
	SROCE_QPS_INIT,
	SROCE_QPS_RTR,
	SROCE_QPS_RTS,
	SROCE_QPS_SQD,
	SROCE_QPS_SQE,
	SROCE_QPS_ERR,
	SROCE_QPS_COUNT,
};

#define SROCE_MAY_POST_RECV	BIT(0)
#define SROCE_MAY_POST_SEND	BIT(1)	/* accept; in ERR and SQE: to be flushed */
#define SROCE_MAY_RESPOND	BIT(2)	/* requests are executed */
#define SROCE_MAY_REQUEST	BIT(3)	/* new messages are started */
#define SROCE_MAY_COMPLETE	BIT(4)	/* responses to our requests are taken, retries sent */
#define SROCE_MAY_FLUSH_SEND	BIT(5)
#define SROCE_MAY_FLUSH_RECV	BIT(6)

/**
 * sroce_qp_may - SROCE_MAY_* of a state
 * @state: any value; one out of range may nothing
 */
u32 sroce_qp_may(enum sroce_qp_state state);

#endif /* SROCE_PROTO_QPSTATE_H */
