/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The responder: request packets are checked in PSN order, executed by the
 * shell, and answered. Pure: called under the QP's response lock.
 *
 * A request is handled in two steps, so that nothing is committed before its
 * execution succeeded:
 *
 *   sroce_resp_on_packet(resp, pkt, &do)   verdict: what to execute
 *   ... the shell takes a receive WQE, checks keys, copies ...
 *   sroce_resp_commit(resp, pkt, &do, result)
 *
 * and answers are pulled, in the order the standard asks for:
 *
 *   sroce_resp_next(resp, &out)            an ACK, NAK, READ response, atomic response
 *
 * READs and atomics are remembered in a ring of max_dest_rd_atomic resources for
 * replay (IBA 9.7.5.1.3, 9.7.5.1.4). SENDs and WRITEs that follow a READ are executed
 * while its response is still being sent (ordering between them is the
 * requester's to ask for, by a fence: IBA 10.8.3.3), but their ACK waits for it.
 *
 * What comes ahead of its turn is held (hold.h) if the shell wants that: the
 * verdict is SROCE_ACT_HOLD, the shell keeps the packet and gives it back when
 * sroce_resp_due() hands it out.
 */
#ifndef SROCE_PROTO_RESP_H
#define SROCE_PROTO_RESP_H

#include "hold.h"
#include "wire.h"

/* Replay resources at most (max_dest_rd_atomic); a power of two. */
#define SROCE_RESP_MAX_RES	16

/* Parts of READs that wait to be sent at most. */
#define SROCE_RESP_MAX_PARTS	32

/*
 * Packets beyond a gap before it counts as one and not as reordering, and the
 * NAK leaves. One that asks for an ACK ends the patience.
 */
#define SROCE_RESP_REORDER	3

enum sroce_res_kind {
	SROCE_RES_FREE,
	SROCE_RES_READ,
	SROCE_RES_ATOMIC,
	SROCE_RES_EMPTY,	/* FLUSH, ATOMIC_WRITE: answered by an empty READ response */
};

/**
 * struct sroce_res - one READ or atomic, kept for answer and replay
 * @kind: enum sroce_res_kind
 * @pending: an answer (or part of it) has to be sent
 * @rkey: READ: R_Key of the request
 * @srqn: XRC: SRQ of the request
 * @va: READ: virtual address of the byte answered in @first_psn
 * @bytes: READ: length of the original request
 * @orig: ATOMIC: value before the operation
 * @first_psn: PSN of the first answer packet of the original request
 * @npsn: answer packets of the original request
 * @again: the answer is for a duplicate request
 * @start_psn: of the answer being sent: its first PSN
 * @next_psn: next answer packet to send
 * @end_psn: one past the last answer packet to send
 * @end_bytes: READ: bytes from @first_psn's byte to the end of the answer being sent
 * @msn: MSN of the answers
 */
struct sroce_res {
	u8 kind;
	bool pending;
	bool again;
	u32 rkey;
	u32 srqn;
	u64 va;
	u32 bytes;
	u64 orig;
	u32 first_psn;
	u32 npsn;
	u32 start_psn;
	u32 next_psn;
	u32 end_psn;
	u32 end_bytes;
	u32 msn;
};

/**
 * struct sroce_part - part of a READ that waits while another part of it is sent
 * @res: index of its resource
 * @psn: first answer packet
 * @end_psn: one past the last
 * @end_bytes: as in struct sroce_res
 */
struct sroce_part {
	u8 res;
	u32 psn;
	u32 end_psn;
	u32 end_bytes;
};

/* What kind of message is in progress. */
enum sroce_resp_msg {
	SROCE_MSG_NONE,
	SROCE_MSG_SEND,
	SROCE_MSG_WRITE,
};

enum sroce_resp_answer {
	SROCE_ANS_NONE,
	SROCE_ANS_ACK,
	SROCE_ANS_NAK,		/* nak_syndrome at nak_psn */
};

/**
 * struct sroce_resp - responder of one QP
 * @transport: enum sroce_transport
 * @reliable: RC, XRC: acknowledges
 * @max_res: resources in use: max_dest_rd_atomic
 * @min_rnr_timer: attribute, sent in RNR NAKs
 * @mtu: path MTU, bytes of payload
 * @dest_qpn: of the peer
 * @pkey: P_Key sent
 * @selective: the peer is to be told what is held (SACK); else it gets a NAK
 * @epsn: expected PSN
 * @msn: messages completed
 * @msg: enum sroce_resp_msg
 * @skip: UC: drop up to the next message start
 * @msg_srqn: XRC: SRQ of the message in progress
 * @msg_bytes: payload of the message in progress so far
 * @write_va: WRITE: where its next byte goes
 * @write_rkey: WRITE
 * @write_left: WRITE: RETH bytes still to come
 * @answer: enum sroce_resp_answer waiting to be sent after the pending resources
 * @nak_syndrome: with SROCE_ANS_NAK
 * @nak_psn: with SROCE_ANS_NAK
 * @nak_sent: a sequence or RNR NAK stands for this gap: no other until @epsn arrives
 * @rnr: it is an RNR NAK
 * @plain: the next ACK is no SACK
 * @ahead_psn: PSN of the packet that came ahead last
 * @dead: an error NAK was queued; no request is executed any more
 * @refused: answers were refused so many times since a request arrived
 * @credits: credit code to put in ACKs
 * @res: replay ring: the last @max_res count
 * @res_pending: resources with @pending set
 * @res_head: resource written next, modulo SROCE_RESP_MAX_RES
 * @parts: parts of READs to send
 * @num_parts: how many
 * @hold: what came ahead of @epsn
 */
struct sroce_resp {
	u8 transport;
	bool reliable;
	u8 max_res;
	u8 min_rnr_timer;
	u32 mtu;
	u32 dest_qpn;
	u16 pkey;
	bool selective;

	u32 epsn;
	u32 msn;
	u8 msg;
	bool skip;
	u32 msg_srqn;
	u32 msg_bytes;
	u64 write_va;
	u32 write_rkey;
	u32 write_left;

	u8 answer;
	u8 nak_syndrome;
	u32 nak_psn;
	bool nak_sent;
	bool rnr;
	bool plain;
	u32 ahead_psn;
	bool dead;
	u8 refused;
	u8 credits;

	struct sroce_res res[SROCE_RESP_MAX_RES];
	u8 res_pending;
	u32 res_head;
	struct sroce_part parts[SROCE_RESP_MAX_PARTS];
	u8 num_parts;
	struct sroce_hold hold;
};

/* What the shell has to do for a request packet. */
enum sroce_resp_act {
	SROCE_ACT_DROP,		/* nothing, and do not commit */
	SROCE_ACT_SEND,		/* @start: take a receive WQE; place payload at @offset;
				 * @end: complete the receive
				 */
	SROCE_ACT_WRITE,	/* place payload at @va by @rkey; @end with immediate: take
				 * a receive WQE and complete it
				 */
	SROCE_ACT_READ,		/* check REMOTE_READ of @va, @bytes by @rkey */
	SROCE_ACT_ATOMIC,	/* execute at @va by @rkey, set @orig */
	SROCE_ACT_ATOMIC_WRITE,	/* store the 8 payload bytes at @va by @rkey */
	SROCE_ACT_FLUSH,	/* check REMOTE_FLUSH and flush @va, @bytes by @rkey */
	SROCE_ACT_HOLD,		/* keep it, then sroce_resp_held() instead of a commit */
};

/* Events; the shell counts and traces them. */
#define SROCE_RESP_EV_OUT_OF_SEQ	BIT(0)
#define SROCE_RESP_EV_DUPLICATE		BIT(1)
#define SROCE_RESP_EV_RNR		BIT(2)
#define SROCE_RESP_EV_INV_REQ		BIT(3)
#define SROCE_RESP_EV_REM_ACC		BIT(4)
#define SROCE_RESP_EV_REM_OP		BIT(5)
#define SROCE_RESP_EV_DROPPED		BIT(6)
#define SROCE_RESP_EV_HELD		BIT(7)

/**
 * struct sroce_resp_do - verdict on one request packet
 * @act: enum sroce_resp_act
 * @start: first packet of a message
 * @end: last packet of a message
 * @recv: a receive WQE is used: at @start of a SEND, at @end of a WRITE with
 *	immediate
 * @offset: SEND: payload goes here in the receive buffer
 * @va: WRITE, READ, ATOMIC, FLUSH: address
 * @rkey: WRITE, READ, ATOMIC, FLUSH
 * @bytes: READ, FLUSH: length; WRITE at @start: length of the whole message
 * @msg_bytes: @end: length of the whole message
 * @orig: ATOMIC: filled by the shell: value before the operation
 * @events: SROCE_RESP_EV_*
 */
struct sroce_resp_do {
	u8 act;
	bool start;
	bool end;
	bool recv;
	u32 offset;
	u64 va;
	u32 rkey;
	u32 bytes;
	u32 msg_bytes;
	u64 orig;
	u32 events;
};

enum sroce_resp_result {
	SROCE_RESULT_OK,
	SROCE_RESULT_RNR,		/* no receive WQE */
	SROCE_RESULT_INV_REQ,	/* receive buffer too small, misaligned atomic */
	SROCE_RESULT_REM_ACC,	/* R_Key, access or range */
	SROCE_RESULT_REM_OP,	/* our own trouble */
};

/**
 * sroce_resp_reset - no state, nothing expected (RESET)
 * @resp: responder; the shell has freed what is held
 */
void sroce_resp_reset(struct sroce_resp *resp);

/**
 * sroce_resp_start - expect a PSN (INIT to RTR)
 * @resp: responder, configured
 * @rq_psn: first PSN
 */
void sroce_resp_start(struct sroce_resp *resp, u32 rq_psn);

/**
 * sroce_resp_on_packet - a request packet (F_REQUEST) arrived
 * @resp: responder
 * @pkt: decoded packet
 * @todo: verdict
 *
 * IBA 9.7.4: sequence, opcode order and length checks, duplicates. A verdict
 * other than DROP and HOLD must be followed by sroce_resp_commit() with the same
 * packet, HOLD by sroce_resp_held().
 */
void sroce_resp_on_packet(struct sroce_resp *resp, const struct sroce_pkt *pkt,
			  struct sroce_resp_do *todo);

/**
 * sroce_resp_commit - the verdict was executed
 * @resp: responder
 * @pkt: the packet
 * @todo: the verdict; events are added
 * @result: how it went
 *
 * Afterwards the shell pulls the answers; if resp->dead is set when none is left,
 * the QP goes to ERR.
 */
void sroce_resp_commit(struct sroce_resp *resp, const struct sroce_pkt *pkt,
		       struct sroce_resp_do *todo, enum sroce_resp_result result);

/**
 * sroce_resp_on_row - MIDDLE packets of one message arrived in a row
 * @resp: responder
 * @pkt: the first of them
 * @n: so many, alike but for the PSN, which goes up by one; none asks for an ACK
 * @todo: verdict on them
 *
 * Returns how many of them are to be executed as if they were one long packet, and
 * changes nothing; 0: each is a matter for sroce_resp_on_packet(). If they were
 * executed, sroce_resp_row_done() follows. If not, they may still be given to
 * sroce_resp_on_packet(), one by one.
 */
u32 sroce_resp_on_row(const struct sroce_resp *resp, const struct sroce_pkt *pkt, u32 n,
		      struct sroce_resp_do *todo);

/* sroce_resp_row_done - @n packets of a row, as many as sroce_resp_on_row() said, were executed */
void sroce_resp_row_done(struct sroce_resp *resp, u32 n);

/**
 * sroce_resp_held - the packet of a HOLD verdict was kept, or could not be
 * @resp: responder
 * @pkt: the packet
 * @todo: the verdict; events are added
 * @held: of the packet, @psn and @bytes set; NULL: no memory
 *
 * Returns true if it is held now: it belongs to resp->hold until
 * sroce_resp_due() or sroce_hold_drop() gives it back.
 */
bool sroce_resp_held(struct sroce_resp *resp, const struct sroce_pkt *pkt,
		     struct sroce_resp_do *todo, struct sroce_held *held);

/**
 * sroce_resp_due - a packet that was held and is due now
 * @resp: responder
 *
 * To be called after each commit until it returns NULL: each is to be given to
 * sroce_resp_on_packet() like one that arrives, and freed.
 */
struct sroce_held *sroce_resp_due(struct sroce_resp *resp);

enum sroce_resp_what {
	SROCE_RESP_NOTHING,
	SROCE_RESP_PACKET,	/* send out->pkt */
	SROCE_RESP_READ_DATA,	/* the same, with payload from out->va by out->rkey */
};

/**
 * struct sroce_resp_out - one answer packet
 * @pkt: header fields
 * @va: READ_DATA: where the payload is
 * @rkey: READ_DATA: its key
 * @srqn: READ_DATA, XRC: the SRQ that the request named
 * @again: resent for a duplicate request
 * @res: index of the resource that it answers
 */
struct sroce_resp_out {
	struct sroce_pkt pkt;
	u64 va;
	u32 rkey;
	u32 srqn;
	bool again;
	u8 res;
};

/**
 * sroce_resp_next - choose the next answer and account for it as sent
 * @resp: responder
 * @out: result
 */
enum sroce_resp_what sroce_resp_next(struct sroce_resp *resp, struct sroce_resp_out *out);

/**
 * sroce_resp_more - one more READ response like the last
 * @resp: responder, of which nothing has changed since
 * @out: the last answer; PSN and address become those of the next
 *
 * The short way from one MIDDLE packet to the next, accounted for as sent. Returns
 * false, with nothing changed, if that is not what comes next.
 */
bool sroce_resp_more(struct sroce_resp *resp, struct sroce_resp_out *out);

/* sroce_resp_middle_left - how many READ responses there are from @out on, but for the last */
static inline u32 sroce_resp_middle_left(const struct sroce_resp *resp,
					 const struct sroce_resp_out *out)
{
	return (resp->res[out->res].end_psn - out->pkt.psn - 1) & SROCE_PSN_MASK;
}

/**
 * sroce_resp_read_failed - the data of a READ_DATA answer cannot be read
 * @resp: responder
 * @out: the answer
 *
 * Queues a remote access NAK at its PSN in place of the rest of the answer
 * (IBA 9.7.5.2.4). The QP goes to ERR once the NAK was pulled.
 */
void sroce_resp_read_failed(struct sroce_resp *resp, const struct sroce_resp_out *out);

/**
 * sroce_resp_refused - answers did not leave the host
 * @resp: responder
 * @psn: of the first of them
 *
 * A full queue, a firewall, no route, no memory: they are to be pulled again after
 * a pause, which grows while no request arrives. Returns the pause (ns), or
 * SROCE_NEVER when it is the requester's turn to try again.
 */
u64 sroce_resp_refused(struct sroce_resp *resp, u32 psn);

/* sroce_resp_pending - is there an answer to pull? */
bool sroce_resp_pending(const struct sroce_resp *resp);

/* sroce_resp_next_is_read - is the next answer to pull a READ response? */
bool sroce_resp_next_is_read(struct sroce_resp *resp);

/**
 * sroce_ud_check - may a UD packet be delivered (IBA 9.8.3)?
 * @pkt: decoded packet
 * @qkey: of the QP
 * @mtu: bytes
 */
bool sroce_ud_check(const struct sroce_pkt *pkt, u32 qkey, u32 mtu);

/* Shared by resp.c and replay.c. */

/* A READ, or part of one, again. False: it is not remembered. */
bool sroce_replay_read(struct sroce_resp *resp, const struct sroce_pkt *pkt);
/* Another request of @kind again: answered from the saved result, never executed again. */
bool sroce_replay_saved(struct sroce_resp *resp, const struct sroce_pkt *pkt, u8 kind);
/* A request of @kind was executed: keep it, and queue its answer. */
void sroce_replay_remember(struct sroce_resp *resp, const struct sroce_pkt *pkt,
			   const struct sroce_resp_do *todo, u8 kind);
/* The oldest with an answer to send, or NULL: answers leave in request order (C9-110). */
struct sroce_res *sroce_replay_first(struct sroce_resp *resp);
/* Its next answer. */
enum sroce_resp_what sroce_replay_next(struct sroce_resp *resp, struct sroce_res *res,
				       struct sroce_resp_out *out);
/* A READ whose answer is being sent, or was sent last, goes back to @psn; false: none of these. */
bool sroce_replay_back(struct sroce_resp *resp, u32 psn);
/* Nothing of what waits is to be sent. */
void sroce_replay_forget(struct sroce_resp *resp);

#endif /* SROCE_PROTO_RESP_H */
