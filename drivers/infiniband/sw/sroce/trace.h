/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tracepoints: every packet of a connection, every retry, every change of state.
 *   trace-cmd record -e sroce
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sroce

#if !defined(SROCE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SROCE_TRACE_H

#include <linux/tracepoint.h>
#include "qp.h"

DECLARE_EVENT_CLASS(sroce_packet,
	TP_PROTO(const struct sroce_qp *qp, const struct sroce_pkt *pkt, bool again),
	TP_ARGS(qp, pkt, again),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, bytes)
		__field(u32, msn)
		__field(u8, opcode)
		__field(u8, syndrome)
		__field(bool, ackreq)
		__field(bool, again)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->psn = pkt->psn;
		__entry->bytes = pkt->payload_bytes;
		__entry->msn = pkt->msn;
		__entry->opcode = pkt->opcode;
		__entry->syndrome = pkt->syndrome;
		__entry->ackreq = pkt->ackreq;
		__entry->again = again;
	),
	TP_printk("qpn=0x%06x psn=0x%06x opcode=0x%02x bytes=%u syndrome=0x%02x msn=%u ackreq=%d again=%d",
		  __entry->qpn, __entry->psn, __entry->opcode, __entry->bytes, __entry->syndrome,
		  __entry->msn, __entry->ackreq, __entry->again)
);

/* A request leaves. */
DEFINE_EVENT(sroce_packet, sroce_send,
	TP_PROTO(const struct sroce_qp *qp, const struct sroce_pkt *pkt, bool again),
	TP_ARGS(qp, pkt, again));

/* A response or acknowledgement leaves. */
DEFINE_EVENT(sroce_packet, sroce_answer,
	TP_PROTO(const struct sroce_qp *qp, const struct sroce_pkt *pkt, bool again),
	TP_ARGS(qp, pkt, again));

/* A request arrives. */
DEFINE_EVENT(sroce_packet, sroce_request,
	TP_PROTO(const struct sroce_qp *qp, const struct sroce_pkt *pkt, bool again),
	TP_ARGS(qp, pkt, again));

/* A response or acknowledgement arrives. */
DEFINE_EVENT(sroce_packet, sroce_response,
	TP_PROTO(const struct sroce_qp *qp, const struct sroce_pkt *pkt, bool again),
	TP_ARGS(qp, pkt, again));

/* The requester goes back: @events are SROCE_REQ_EV_* and say why. */
TRACE_EVENT(sroce_retry,
	TP_PROTO(const struct sroce_qp *qp, u32 events),
	TP_ARGS(qp, events),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, events)
		__field(u32, una_psn)
		__field(u32, max_psn)
		__field(u8, retry_left)
		__field(u8, rnr_left)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->events = events;
		__entry->una_psn = qp->req.una_psn;
		__entry->max_psn = qp->req.max_psn;
		__entry->retry_left = qp->req.retry_left;
		__entry->rnr_left = qp->req.rnr_left;
	),
	TP_printk("qpn=0x%06x why=%s una=0x%06x max=0x%06x retry_left=%u rnr_left=%u",
		  __entry->qpn,
		  __print_flags(__entry->events, "|",
				{ SROCE_REQ_EV_PROGRESS, "progress" },
				{ SROCE_REQ_EV_RETRY, "retry" },
				{ SROCE_REQ_EV_TIMEOUT, "timeout" },
				{ SROCE_REQ_EV_RNR_NAK, "rnr" },
				{ SROCE_REQ_EV_SEQ_NAK, "seq" },
				{ SROCE_REQ_EV_IMPLIED_NAK, "implied" },
				{ SROCE_REQ_EV_HOLE, "hole" },
				{ SROCE_REQ_EV_PROBE, "probe" },
				{ SROCE_REQ_EV_SLOW_RESTART, "slow_restart" }),
		  __entry->una_psn, __entry->max_psn, __entry->retry_left, __entry->rnr_left)
);

/* A CNP leaves. */
TRACE_EVENT(sroce_cnp_sent,
	TP_PROTO(const struct sroce_qp *qp, u32 peer_qpn),
	TP_ARGS(qp, peer_qpn),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, peer_qpn)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->peer_qpn = peer_qpn;
	),
	TP_printk("qpn=0x%06x peer=0x%06x", __entry->qpn, __entry->peer_qpn)
);

/* A CNP arrives; @counted: it was handled, not ignored. */
TRACE_EVENT(sroce_cnp_received,
	TP_PROTO(const struct sroce_qp *qp, u32 peer_qpn, bool counted),
	TP_ARGS(qp, peer_qpn, counted),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, peer_qpn)
		__field(bool, counted)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->peer_qpn = peer_qpn;
		__entry->counted = counted;
	),
	TP_printk("qpn=0x%06x peer=0x%06x counted=%d", __entry->qpn, __entry->peer_qpn,
		  __entry->counted)
);

/* The rate of a QP is another one; 0: not limited. */
TRACE_EVENT(sroce_rate,
	TP_PROTO(const struct sroce_qp *qp, u64 before_bps, u64 after_bps),
	TP_ARGS(qp, before_bps, after_bps),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u64, before_bps)
		__field(u64, after_bps)
		__field(u64, target_bps)
		__field(u32, alpha)
	),
	TP_fast_assign(
		struct sroce_cc_info info;

		sroce_cc_get_info(&qp->rp.cc, &sroce_knobs(qp->dev)->params[qp->rp.alg], &info);
		__entry->qpn = qp->qpn;
		__entry->before_bps = before_bps == SROCE_CC_UNLIMITED ? 0 : before_bps;
		__entry->after_bps = after_bps == SROCE_CC_UNLIMITED ? 0 : after_bps;
		__entry->target_bps = info.target_bps;
		__entry->alpha = info.alpha;
	),
	TP_printk("qpn=0x%06x %llu -> %llu bit/s target=%llu alpha=%u", __entry->qpn,
		  __entry->before_bps, __entry->after_bps, __entry->target_bps, __entry->alpha)
);

TRACE_EVENT(sroce_rtt,
	TP_PROTO(const struct sroce_qp *qp, u64 rtt_ns),
	TP_ARGS(qp, rtt_ns),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u64, rtt_ns)
		__field(u64, srtt_ns)
		__field(u64, min_ns)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->rtt_ns = rtt_ns;
		__entry->srtt_ns = qp->req.rtt.srtt_ns;
		__entry->min_ns = qp->req.rtt.min_ns;
	),
	TP_printk("qpn=0x%06x rtt=%llu srtt=%llu min=%llu ns", __entry->qpn, __entry->rtt_ns,
		  __entry->srtt_ns, __entry->min_ns)
);

TRACE_EVENT(sroce_qp_state,
	TP_PROTO(const struct sroce_qp *qp, int from, int to),
	TP_ARGS(qp, from, to),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("qpn=0x%06x %s -> %s", __entry->qpn,
		  __print_symbolic(__entry->from, { 0, "RESET" }, { 1, "INIT" }, { 2, "RTR" },
				   { 3, "RTS" }, { 4, "SQD" }, { 5, "SQE" }, { 6, "ERR" }),
		  __print_symbolic(__entry->to, { 0, "RESET" }, { 1, "INIT" }, { 2, "RTR" },
				   { 3, "RTS" }, { 4, "SQD" }, { 5, "SQE" }, { 6, "ERR" }))
);

#endif /* SROCE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
