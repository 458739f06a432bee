/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The requester: send WQEs become request packets, responses become
 * completions. Pure: the shell calls it under the QP's request lock with the
 * current time and does what it says.
 *
 *   sroce_req_next()        what to send now                      (req.c)
 *   sroce_req_on_packet()   an ACK, NAK, READ response arrived    (ack.c)
 *   sroce_req_on_timer()    a deadline passed                     (retry.c)
 *   sroce_req_pop()         which WQE completes, in posting order (req.c)
 *
 * What is lost in between is sent again by itself where possible (repair.h).
 *
 * WQEs are numbered by free-running indices into a power-of-two array:
 *
 *   head        cur              tail
 *    | sent, or   | not yet sent  |
 *    | completed  | (or again)    |
 *
 * PSNs run: una_psn (oldest not acknowledged) <= next_psn (the next to send)
 * <= max_psn (highest ever sent, plus one). A retry sets cur and next_psn back.
 */
#ifndef SROCE_PROTO_REQ_H
#define SROCE_PROTO_REQ_H

#include "repair.h"
#include "rtt.h"
#include "wire.h"

/* Operations: the values of enum ib_uverbs_wr_opcode, and the kernel's REG_MR. */
enum sroce_wr_op {
	SROCE_WR_WRITE		= 0,
	SROCE_WR_WRITE_IMM	= 1,
	SROCE_WR_SEND		= 2,
	SROCE_WR_SEND_IMM	= 3,
	SROCE_WR_READ		= 4,
	SROCE_WR_CMP_SWP	= 5,
	SROCE_WR_FETCH_ADD	= 6,
	SROCE_WR_LOCAL_INV	= 7,
	SROCE_WR_BIND_MW	= 8,
	SROCE_WR_SEND_INV	= 9,
	SROCE_WR_FLUSH		= 14,
	SROCE_WR_ATOMIC_WRITE	= 15,
	SROCE_WR_REG_MR		= 0x20,
};

/* swqe->flags: the values of enum ib_send_flags */
#define SROCE_WF_FENCE		BIT(0)
#define SROCE_WF_SIGNALED	BIT(1)
#define SROCE_WF_SOLICITED	BIT(2)
#define SROCE_WF_INLINE		BIT(3)

/* Completion status: the values of enum ib_wc_status. */
enum sroce_status {
	SROCE_ST_SUCCESS,
	SROCE_ST_LOC_LEN_ERR,
	SROCE_ST_LOC_QP_OP_ERR,
	SROCE_ST_LOC_EEC_OP_ERR,
	SROCE_ST_LOC_PROT_ERR,
	SROCE_ST_WR_FLUSH_ERR,
	SROCE_ST_MW_BIND_ERR,
	SROCE_ST_BAD_RESP_ERR,
	SROCE_ST_LOC_ACCESS_ERR,
	SROCE_ST_REM_INV_REQ_ERR,
	SROCE_ST_REM_ACCESS_ERR,
	SROCE_ST_REM_OP_ERR,
	SROCE_ST_RETRY_EXC_ERR,
	SROCE_ST_RNR_RETRY_EXC_ERR,
};

enum sroce_swqe_state {
	SROCE_SWQE_POSTED,	/* no PSN yet */
	SROCE_SWQE_STARTED,	/* has its PSNs; some packet was sent */
	SROCE_SWQE_DONE,	/* acknowledged, or (unreliable) sent: completes at the head */
	SROCE_SWQE_FAILED,	/* completes at the head with an error, which stops the QP */
};

/**
 * struct sroce_swqe - kernel-private shadow of a send WQE
 * @wr_id: of the consumer; returned in the completion
 * @op: enum sroce_wr_op
 * @flags: SROCE_WF_*
 * @state: enum sroce_swqe_state
 * @status: enum sroce_status, with SROCE_SWQE_FAILED
 * @num_sge: entries of @data when not inline
 * @imm: immediate data, as on the wire
 * @inv_rkey: SEND_INV, LOCAL_INV: the key to invalidate; BIND_MW: key before
 * @length: message bytes, summed over the SGEs
 * @remote_addr: WRITE, READ, ATOMIC, FLUSH
 * @rkey: WRITE, READ, ATOMIC, FLUSH; REG_MR and BIND_MW: the new key
 * @srqn: XRC: remote SRQ
 * @compare_add: CMP_SWP: compare; FETCH_ADD: add; BIND_MW: address
 * @swap: CMP_SWP: swap; BIND_MW: length
 * @feth: FLUSH: FETH; BIND_MW, REG_MR: access flags
 * @mr_key: BIND_MW: lkey of the MR; REG_MR, LOCAL_INV by the kernel: key of the MR
 * @ah_id: UD: address handle
 * @remote_qpn: UD: destination QP
 * @remote_qkey: UD: Q_Key to send
 * @first_psn: PSN of its first packet (READ: of its first response)
 * @npsn: PSNs it takes, at least 1
 * @resp_done: READ: response packets received, up to the first that is missing
 * @held: READ and the like: the peer holds the request (SACK)
 * @partial: READ: parts of it were asked for: responses may end anywhere
 * @ssn: send sequence number (IBA 9.7.7.2.5)
 * @rd_counted: holds one of the max_rd_atomic places
 * @data: @num_sge struct sroce_sge of the ABI, or @length bytes inline
 */
struct sroce_swqe {
	u64 wr_id;
	u8 op;
	u8 flags;
	u8 state;
	u8 status;
	u8 num_sge;
	bool rd_counted;
	__be32 imm;
	u32 inv_rkey;
	u32 length;
	u64 remote_addr;
	u32 rkey;
	u32 srqn;
	u64 compare_add;
	u64 swap;
	u32 feth;
	u32 mr_key;
	u32 ah_id;
	u32 remote_qpn;
	u32 remote_qkey;
	u32 first_psn;
	u32 npsn;
	u32 resp_done;
	bool held;
	bool partial;
	u32 ssn;
	u8 data[] __aligned(8);
};

enum sroce_req_state {
	SROCE_REQ_READY,
	SROCE_REQ_RNR_WAIT,	/* nothing is sent before rnr_deadline_ns */
	SROCE_REQ_STOPPED,	/* an error: everything left is flushed */
};

/* Events a requester function reports; the shell counts and traces them. */
#define SROCE_REQ_EV_PROGRESS		BIT(0)	/* something was acknowledged */
#define SROCE_REQ_EV_RETRY		BIT(1)	/* the send pointer went back */
#define SROCE_REQ_EV_TIMEOUT		BIT(2)	/* local ACK timeout */
#define SROCE_REQ_EV_RNR_NAK		BIT(3)
#define SROCE_REQ_EV_SEQ_NAK		BIT(4)
#define SROCE_REQ_EV_IMPLIED_NAK	BIT(5)
#define SROCE_REQ_EV_IGNORED		BIT(6)	/* ghost ACK, stale or duplicate response */
#define SROCE_REQ_EV_FAILED		BIT(7)	/* a WQE failed */
#define SROCE_REQ_EV_REM_INV_REQ	BIT(8)
#define SROCE_REQ_EV_REM_ACCESS		BIT(9)
#define SROCE_REQ_EV_REM_OP		BIT(10)
#define SROCE_REQ_EV_RETRY_EXC		BIT(11)
#define SROCE_REQ_EV_RNR_EXC		BIT(12)
#define SROCE_REQ_EV_BAD_RESP		BIT(13)
#define SROCE_REQ_EV_AHEAD		BIT(14)	/* an answer ahead of its turn was taken */
#define SROCE_REQ_EV_HOLE		BIT(15)	/* something is to be sent again by itself */
#define SROCE_REQ_EV_PROBE		BIT(16)	/* no answer for long: the oldest is sent again */
#define SROCE_REQ_EV_SLOW_RESTART	BIT(17)	/* all is sent again, a few packets first */

/**
 * struct sroce_req - requester of one QP
 * @transport: enum sroce_transport
 * @reliable: RC, XRC: acknowledged and retried
 * @draining: SQD: finish what was started, start nothing
 * @retry_cnt: attribute, 0-7
 * @rnr_retry: attribute, 0-7; 7 is for ever
 * @max_rd_atomic: READs and atomics outstanding at most
 * @mtu: path MTU, bytes of payload
 * @dest_qpn: of the peer (connected)
 * @pkey: P_Key sent
 * @window: PSNs outstanding at most
 * @cwnd: likewise, as congestion control has it; changes at any time
 * @restart: likewise, after all that was outstanding may be lost; U32_MAX: no limit
 * @ackreq_every: at least each so many packets ask for an ACK
 * @ack_timeout_ns: local ACK timeout, or SROCE_NEVER
 * @hold: answers ahead of their turn are taken
 * @selective: SACK was agreed on with the peer
 * @early: probe when an answer is late by the round-trip time
 * @wqes: array of (@mask + 1) slots of @stride bytes
 * @stride: bytes
 * @mask: slots - 1
 * @head: oldest WQE not completed
 * @cur: WQE to send from
 * @tail: one past the newest WQE
 * @cur_pkt: packets of @cur sent in this pass
 * @una_psn: oldest PSN not acknowledged
 * @next_psn: next PSN to send
 * @max_psn: one past the highest PSN ever sent
 * @state: enum sroce_req_state
 * @rd_out: READs and atomics outstanding
 * @rd_psns: PSNs of their responses still to come: not counted against @window
 * @retry_left: retries before RETRY_EXC_ERR
 * @rnr_left: RNR retries before RNR_RETRY_EXC_ERR
 * @since_ackreq: packets since one asked for an ACK
 * @ssn: of the message started last
 * @credits_known: the responder sends credits: obey @lsn
 * @lsn: limit sequence number: messages that need a receive WQE may start up to it
 * @acked_psn: one past the newest request acknowledged; beyond una_psn if answers of
 *	READs before it are missing
 * @implied_una: una_psn + 1 when an implied NAK was acted upon; 0: none
 * @flushing: a WQE completed in error: all later ones are flushed
 * @rnr_psn: in RNR_WAIT: PSN of the RNR NAK
 * @ack_deadline_ns: when the ACK timeout fires, or SROCE_NEVER
 * @rnr_deadline_ns: when an RNR wait ends, or SROCE_NEVER
 * @probe_deadline_ns: when the oldest is sent again for want of an answer, or
 *	SROCE_NEVER
 * @probes: so many times without progress
 * @probe_end: one past what the last one sent again, or asked for
 * @backoff: doublings of the time after which an answer is late
 * @backoff_psn: with @backoff: the first PSN not sent when it was last changed
 * @rest_lost: the answer to a probe says that what was sent after it is lost too
 * @resume_ns: the local stack refused packets: nothing is sent before, or SROCE_NEVER
 * @refused: so many times in a row, the same packet first
 * @refused_psn: that packet
 * @nak_psn: of the sequence NAK that was acted upon last
 * @nak_old_ns: the same one before this time does not tell of what was sent since
 * @rtt: round-trip time
 * @repair: what came ahead, what is missing
 *
 * All under the QP's request lock. Times are of one monotonic clock.
 */
struct sroce_req {
	u8 transport;
	bool reliable;
	bool draining;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 max_rd_atomic;
	u16 pkey;
	u32 mtu;
	u32 dest_qpn;
	u32 window;
	u32 cwnd;
	u32 restart;
	u32 ackreq_every;
	u64 ack_timeout_ns;
	bool hold;
	bool selective;
	bool early;

	void *wqes;
	u32 stride;
	u32 mask;
	u32 head;
	u32 cur;
	u32 tail;
	u32 cur_pkt;

	u32 una_psn;
	u32 next_psn;
	u32 max_psn;
	u8 state;
	u8 rd_out;
	u8 retry_left;
	u8 rnr_left;
	u32 rd_psns;
	u32 since_ackreq;
	u32 ssn;
	bool credits_known;
	u32 lsn;
	u32 acked_psn;
	u32 implied_una;
	bool flushing;
	u32 rnr_psn;
	u64 ack_deadline_ns;
	u64 rnr_deadline_ns;
	u64 probe_deadline_ns;
	u8 probes;
	u32 probe_end;
	u8 backoff;
	u32 backoff_psn;
	bool rest_lost;
	u64 resume_ns;
	u8 refused;
	u32 refused_psn;
	u32 nak_psn;
	u64 nak_old_ns;
	struct sroce_rtt rtt;
	struct sroce_repair repair;
};

static inline struct sroce_swqe *sroce_req_wqe(const struct sroce_req *req, u32 index)
{
	return (struct sroce_swqe *)((char *)req->wqes +
				     (unsigned long)(index & req->mask) * req->stride);
}

/* sroce_req_outstanding - is a response awaited? */
static inline bool sroce_req_outstanding(const struct sroce_req *req)
{
	return req->reliable && req->una_psn != req->max_psn;
}

/* sroce_wr_is_local - executed by the shell, nothing on the wire */
static inline bool sroce_wr_is_local(u8 op)
{
	return op == SROCE_WR_LOCAL_INV || op == SROCE_WR_BIND_MW || op == SROCE_WR_REG_MR;
}

/* sroce_wr_is_read - answered by READ responses: READ, FLUSH, ATOMIC_WRITE */
static inline bool sroce_wr_is_read(u8 op)
{
	return op == SROCE_WR_READ || op == SROCE_WR_FLUSH || op == SROCE_WR_ATOMIC_WRITE;
}

static inline bool sroce_wr_is_atomic(u8 op)
{
	return op == SROCE_WR_CMP_SWP || op == SROCE_WR_FETCH_ADD;
}

/* sroce_wr_takes_rd - holds one of the max_rd_atomic places */
static inline bool sroce_wr_takes_rd(u8 op)
{
	return sroce_wr_is_read(op) || sroce_wr_is_atomic(op);
}

/* sroce_wr_takes_recv - consumes a receive WQE of the peer */
static inline bool sroce_wr_takes_recv(u8 op)
{
	return op == SROCE_WR_SEND || op == SROCE_WR_SEND_IMM || op == SROCE_WR_SEND_INV ||
	       op == SROCE_WR_WRITE_IMM;
}

/**
 * sroce_req_reset - empty queue, no PSN, not able to send (RESET)
 * @req: requester; @wqes, @stride and @mask stay
 */
void sroce_req_reset(struct sroce_req *req);

/**
 * sroce_req_start - begin at a PSN (INIT or RTR to RTS)
 * @req: requester, configured
 * @sq_psn: first PSN
 */
void sroce_req_start(struct sroce_req *req, u32 sq_psn);

/**
 * sroce_req_stop - stop sending and completing (to ERR or SQE); the rest is flushed
 * @req: requester
 */
void sroce_req_stop(struct sroce_req *req);

enum sroce_req_what {
	SROCE_REQ_NOTHING,	/* done, blocked or waiting */
	SROCE_REQ_PACKET,	/* send out->pkt with payload bytes from out->offset */
	SROCE_REQ_LOCAL,	/* execute WQE out->index, then sroce_req_local_done() */
};

/**
 * struct sroce_req_out - what to send
 * @pkt: header fields; lengths and pad are filled by sroce_pkt_build()
 * @index: of the WQE
 * @offset: payload starts here in the WQE's data
 * @retransmit: the PSN was sent before
 */
struct sroce_req_out {
	struct sroce_pkt pkt;
	u32 index;
	u32 offset;
	bool retransmit;
};

/**
 * sroce_req_next - choose the next packet and account for it as sent
 * @req: requester
 * @now_ns: current time
 * @out: result
 *
 * If the packet cannot be built or sent, nothing has to be undone: to the
 * protocol it is a lost packet.
 */
enum sroce_req_what sroce_req_next(struct sroce_req *req, u64 now_ns, struct sroce_req_out *out);

/**
 * sroce_req_more - one more packet like the last
 * @req: requester, of which nothing has changed since
 * @out: the last packet; PSN and offset become those of the next
 *
 * The short way from one MIDDLE packet to the next, accounted for as sent. Returns
 * false, with nothing changed, if there is none, or anything else is to be thought
 * of: that is for sroce_req_next(). It is never one that asks for an ACK, nor one
 * that was sent before.
 */
bool sroce_req_more(struct sroce_req *req, struct sroce_req_out *out);

/**
 * sroce_req_refused - packets did not leave the host
 * @req: requester
 * @psn: the first of them, one that sroce_req_next() gave
 * @now_ns: current time
 *
 * A full queue, a firewall, no route, no memory: they are sent again after a
 * pause, which grows while that goes on. No retry is counted: the ACK timeout
 * runs as for any packet lost.
 */
void sroce_req_refused(struct sroce_req *req, u32 psn, u64 now_ns);

/**
 * sroce_req_local_done - a local operation (the WQE at cur) was executed
 * @req: requester
 * @status: SROCE_ST_SUCCESS, or why it failed
 */
void sroce_req_local_done(struct sroce_req *req, enum sroce_status status);

/**
 * sroce_req_fail - a WQE cannot be carried out
 * @req: requester
 * @index: of the WQE, in [head, tail)
 * @status: its completion status
 *
 * It completes with @status after those before it, and the rest is flushed.
 * Nothing from it on is sent any more.
 */
void sroce_req_fail(struct sroce_req *req, u32 index, enum sroce_status status);

/**
 * sroce_req_pop - the next WQE to complete, in posting order
 * @req: requester
 * @index: result; the slot may be used until the next call into the requester
 * @status: result
 *
 * Returns false when none is ready. When a failed WQE is popped, the requester
 * is STOPPED from then on and the shell moves the QP to ERR or SQE.
 */
bool sroce_req_pop(struct sroce_req *req, u32 *index, enum sroce_status *status);

/* sroce_req_drained - SQD: is all that was started complete? */
bool sroce_req_drained(const struct sroce_req *req);

enum sroce_req_take {
	SROCE_REQ_TAKE_DONE,	/* dealt with */
	SROCE_REQ_TAKE_PLACE,	/* put the payload (or atomic_orig) at out->offset of WQE
				 * out->index, then call sroce_req_placed()
				 */
};

/**
 * struct sroce_req_in - what to do with a response
 * @index: PLACE: the WQE
 * @offset: PLACE: bytes into its data
 * @bytes: PLACE: how many
 * @psn: PLACE: of the answer
 * @events: SROCE_REQ_EV_*
 */
struct sroce_req_in {
	u32 psn;
	u32 index;
	u32 offset;
	u32 bytes;
	u32 events;
};

/**
 * sroce_req_on_packet - a response packet (F_RESPONSE) arrived
 * @req: requester
 * @pkt: decoded packet
 * @now_ns: current time
 * @in: result
 *
 * IBA 9.7.5: coalesced and implied acknowledgement, NAK codes, ghost ACKs.
 */
enum sroce_req_take sroce_req_on_packet(struct sroce_req *req, const struct sroce_pkt *pkt,
					u64 now_ns, struct sroce_req_in *in);

/**
 * sroce_req_placed - the data of a PLACE verdict was written
 * @req: requester
 * @in: of the verdict
 * @status: SROCE_ST_SUCCESS, or why it could not be written
 * @now_ns: current time
 */
void sroce_req_placed(struct sroce_req *req, struct sroce_req_in *in, enum sroce_status status,
		      u64 now_ns);

/**
 * sroce_req_on_row - READ responses of one message arrived in a row
 * @req: requester
 * @pkt: the first of them, a MIDDLE packet
 * @n: so many, alike but for the PSN, which goes up by one
 * @in: result
 *
 * Returns how many of them are to be placed as if they were one long packet, and
 * changes nothing; 0: each is a matter for sroce_req_on_packet(). If they were placed,
 * sroce_req_row_placed() follows. If not, they may still be given to
 * sroce_req_on_packet(), one by one.
 */
u32 sroce_req_on_row(const struct sroce_req *req, const struct sroce_pkt *pkt, u32 n,
		     struct sroce_req_in *in);

/* sroce_req_row_placed - @n answers, as many as sroce_req_on_row() said, were placed */
void sroce_req_row_placed(struct sroce_req *req, u32 n, u64 now_ns, struct sroce_req_in *in);

/**
 * sroce_req_deadline - when sroce_req_on_timer() is due, or SROCE_NEVER
 * @req: requester
 */
u64 sroce_req_deadline(const struct sroce_req *req);

/**
 * sroce_req_on_timer - deadlines that have passed are acted upon
 * @req: requester
 * @now_ns: current time
 *
 * Early calls do nothing. Returns SROCE_REQ_EV_*.
 */
u32 sroce_req_on_timer(struct sroce_req *req, u64 now_ns);

/* Shared by req.c, ack.c and retry.c. */

/* The oldest WQE not acknowledged: its index in @index, or false. */
bool sroce_req_oldest(const struct sroce_req *req, u32 *index);
/* Set the send pointer to @psn, a PSN in [una_psn, max_psn]. */
void sroce_req_seek(struct sroce_req *req, u32 psn);
/* Go back to @psn for a retry; fails the oldest WQE when no retry is left. */
u32 sroce_req_retry(struct sroce_req *req, u32 psn, u64 now_ns);
/*
 * Something was acknowledged: how late an answer may be is known anew (@measured), or a
 * round without a probe has ended.
 */
void sroce_req_relax(struct sroce_req *req, bool measured);
/* Something arrived, or is sent with nothing outstanding: the next probe is due later. */
void sroce_req_restart_probe(struct sroce_req *req, u64 now_ns);
/* Packet @k of a SEND or WRITE. */
void sroce_req_fill_data(const struct sroce_req *req, const struct sroce_swqe *wqe, u32 k,
			 struct sroce_req_out *out);
/* The request of a READ for @n answers from number @k on; of all that have one answer. */
void sroce_req_fill_rd(const struct sroce_req *req, const struct sroce_swqe *wqe, u32 k, u32 n,
		       struct sroce_req_out *out);
/* A sequence NAK: @psn is the first that is missing (IBA 9.7.5.2.1). */
u32 sroce_req_seq_nak(struct sroce_req *req, u32 psn, u64 now_ns);
/* An RNR NAK for @psn with this timer code. */
u32 sroce_req_rnr(struct sroce_req *req, u32 psn, u8 timer, u64 now_ns);

#endif /* SROCE_PROTO_REQ_H */
