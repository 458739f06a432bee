/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two hosts joined by a bad link, with a pair of connected endpoints or several,
 * each requester and responder, under a virtual clock. Everything a run does
 * follows from its seed.
 *
 *   work.c  what is posted           end.c   requester's shell, timers, completions
 *   link.c  frames, events, faults   exec.c  responder's shell: memory, receives
 *   host.c  what hosts have once: receives that QPs share, datagrams, CNPs
 *   setup.c what a seed draws
 *   run.c   one seed: event loop, final checks
 *   sim.c   command line
 *
 * What is checked, and against what: README.md.
 */
#ifndef SROCE_HOST_SIM_H
#define SROCE_HOST_SIM_H

#include <setjmp.h>

#include "cnp.h"
#include "icrc.h"
#include "req.h"
#include "resp.h"
#include "rng.h"

#define MAX_OPS		200
#define MAX_ENDS	12	/* even ones are of one host, odd ones of the other */
#define MAX_DATAGRAMS	40
#define MAX_PATHS	4
#define MAX_IN_FLIGHT	512	/* frames; requests wait then */
#define GUARD_BYTES	64	/* before and after a memory region */
#define NO_OP		U32_MAX
#define GOOD_RKEY	0x11aa22bbU
#define READ_RKEY	0x33cc44ddU	/* like it, but can be revoked in the middle of a READ */

/* What kind of trouble a run is about; the odds are in setup.c. */
enum scenario {
	SC_CLEAN,		/* perfect link: nothing may ever be sent twice */
	SC_LOSSY,
	SC_RNR,			/* receives are posted late */
	SC_DRAIN,		/* SQD and back */
	SC_UC,
	SC_FEW_RETRIES,		/* lossy, and may run out of retries */
	SC_HOSTILE,		/* valid ICRC, nonsense within */
	SC_BAD_RKEY,
	SC_SHORT_RECV,
	SC_MISALIGNED,
	SC_REM_OP,		/* the responder's own trouble */
	SC_READ_FAILS,		/* its memory vanishes in the middle of the answer */
	SC_LOCAL_SEND,		/* data of a request cannot be read */
	SC_LOCAL_PLACE,		/* an answer cannot be written */
	SC_RNR_EXHAUSTED,
	SC_DEAD_PEER,
	SC_STOPPED,		/* modify to ERR in the middle */
	SC_RESTARTED,		/* one end forgets everything, and expects other PSNs then */
	SC_COUNT,
};

/* One work request. */
struct op {
	u8 op;
	u8 flags;
	u8 status;		/* of its completion */
	bool fails;		/* the one the scenario picks */
	bool executed;		/* by the responder, entirely */
	bool sent;		/* some packet was */
	bool completed;
	u32 length;
	u64 va;
	u32 rkey;
	u32 inv_rkey;
	u32 srqn;
	u32 feth;
	__be32 imm;
	u64 compare_add;
	u64 swap;
	u64 orig;		/* atomics: what the responder found */
	u64 result;		/* atomics: what it left */
	u8 *data;		/* @length bytes to send, or where the answer goes */
	u8 *seen;		/* READ: the memory when it was executed */
};

/* One receive. */
struct recv {
	u8 *buf;
	u32 bytes;
	bool done;
};

/* Receives in the order in which they are taken: of one QP, or of the QPs of a host (SRQ). */
struct rq {
	struct recv *recvs;
	u32 num;
	u32 posted;
	u32 used;
	u64 gap;
	bool shared;
};

/* A request ahead of its turn. */
struct kept {
	struct sroce_held held;
	struct sroce_pkt pkt;
	u8 payload[];
};

struct frame {
	u32 bytes;
	u32 hdr;		/* where the BTH begins */
	u8 data[];
};

enum event_kind {
	EVENT_FRAME,		/* arrives at @end */
	EVENT_PUMP,
	EVENT_TIMER,
	EVENT_POST_SEND,
	EVENT_POST_RECV,
	EVENT_DRAIN,
	EVENT_STOP,
	EVENT_PATH,
	EVENT_DATAGRAM,
};

struct event {
	u64 at;
	u64 order;
	u8 kind;
	u8 end;
	struct frame *frame;
};

/* A way through the network. */
struct path {
	u64 delay;
	u64 jitter;
	u32 reorder;
};

/* One direction of the link, for all QPs; times in ns, odds in parts per million. */
struct link {
	struct path path;	/* the way of now */
	struct path paths[MAX_PATHS];
	u64 per_packet;
	u32 loss, burst, dup, corrupt, hostile, mark;
	u32 intact, corrupted;	/* copies of the last packet that are on the way */
	u32 burst_left;
	u64 free_at;		/* when the last frame has left */
	u64 last_arrival;
	u32 in_flight;
	bool dead;
};

/* Datagrams of one host to the other: number @imm has the bytes that belong to it. */
struct datagrams {
	u32 num;
	u32 sent;
	u64 gap;
	u32 last;		/* number of the last that arrived, and one */
	struct {
		u32 intact, corrupted, arrived;
	} of[MAX_DATAGRAMS];
};

struct end {
	struct sim *sim;
	struct end *peer;
	u8 id;
	u8 host;		/* 0 or 1 */
	u8 transport;
	u64 moved_at;		/* last time anything of the pair was executed or completed */
	bool error;		/* the QP is in ERR */
	bool restarted;		/* and its responder expects another peer */
	u32 qpn;

	/* requester */
	struct sroce_req req;
	void *wqes;
	u32 first_index;	/* of WQE 0: indices run freely */
	u32 first_psn;
	struct op ops[MAX_OPS];
	u32 num_ops;
	u32 posted;
	u32 completed;
	u32 failing;		/* the op that fails, or NO_OP */
	u32 failed_at;		/* the first completion in error, or NO_OP */
	u64 quiet_until;	/* RNR: no request packet before */
	u32 rnr_psn;		/* what the last RNR NAK was for, or NO_OP */
	u64 progress_at;
	u32 timeouts;		/* in a row, without progress */
	u32 rnr_naks;
	u64 timer_at;
	bool sack;		/* believes in SACKs */
	u32 no_memory;		/* odds that what should be held is not */
	u32 refused;		/* odds that the local stack refuses a packet */
	u32 probes;		/* so far */
	bool pump_queued;
	bool post_queued;
	bool drain_seen;
	u32 budget;
	u32 lag;		/* from an event to the packets it causes, at most */
	u64 post_gap;

	/* responder */
	struct sroce_resp resp;
	u64 mr_va;
	u8 *mr;
	u32 mr_bytes;
	u8 *mr_start;		/* what was in it at the beginning */
	u32 exec;		/* the peer's op that is executed next */
	u32 exec_bytes;		/* of which so much is done */
	u32 executed;		/* messages */
	u32 nak_epsn;		/* of the last sequence NAK, or NO_OP */
	struct rq own_rq;
	struct rq *rq;
	u32 filling;		/* the receive that is being filled, or NO_OP */
	u32 reads_pulled;

	/* notification point */
	struct sroce_np np;
	u64 np_interval;
	bool np_on_ack;
	u64 cnp_at;		/* when the last CNP left */
	u32 marked, cnps_out, cnps_in;
};

struct sim {
	u64 seed;
	bool verbose;
	jmp_buf failed;
	struct rng rng;
	u64 now;
	enum scenario scenario;
	bool lossless;
	u8 fail_end;		/* where the op that fails is posted */
	bool ipv6;
	bool credits;
	u32 mtu;
	u64 ack_timeout;
	u64 rnr_ns;
	u64 stall_ns;
	u32 num_ends;
	struct end end[MAX_ENDS];
	struct link link[2];	/* from that host */
	struct rq srq[2];
	struct datagrams datagrams[2];

	struct event *heap;
	u32 num_events, max_events;
	u64 order;
	u64 steps;
	void *blocks;		/* all memory of the run */

	u64 frames, dropped, retransmitted;
};

struct sim_stats {
	u32 runs[SC_COUNT];
	u64 frames, retransmitted, held, ahead, holes, probes, refused, shared, srq, datagrams, cnps, rows;
};

/* run.c */
extern struct sim_stats sim_stats;
extern const char *const scenario_names[SC_COUNT];
bool sim_run(u64 seed, bool verbose, int scenario);
void *sim_alloc(struct sim *sim, u32 bytes);
void sim_free(struct sim *sim, void *p);
void sim_fail(struct sim *sim, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
void sim_trace(struct sim *sim, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define CHECK(sim, cond, ...) do {				\
	if (unlikely(!(cond)))					\
		sim_fail(sim, __VA_ARGS__);			\
} while (0)

/* setup.c */
void setup_make(struct sim *sim, int forced);

/* work.c */
u32 work_max_packets(u32 mtu);
void work_make(struct end *end);
void work_recvs(struct end *end);
void work_srq(struct sim *sim, u32 host);

/* host.c */
void host_set_up(struct sim *sim, u32 host);
void host_datagram(struct end *end);
void host_on_datagram(struct end *end, const struct sroce_pkt *pkt, const u8 *payload);
bool host_is_datagram(const struct sroce_pkt *pkt);
void host_on_mark(struct end *end, const struct sroce_pkt *pkt);
void host_on_cnp(struct end *end, const struct sroce_pkt *pkt, const u8 *payload);
void host_check(struct sim *sim, u32 host);

/* link.c */
void event_add(struct sim *sim, u64 at, enum event_kind kind, struct end *end, struct frame *frame);
bool event_take(struct sim *sim, struct event *event);
bool link_is_healed(const struct sim *sim);
void link_send(struct end *from, struct sroce_pkt *pkt, const u8 *payload);
bool frame_is_marked(const struct sim *sim, const struct frame *frame);
bool frame_parse(struct end *to, const struct frame *frame, struct sroce_pkt *pkt,
		 const u8 **payload);
const char *pkt_text(const struct sroce_pkt *pkt);

/* end.c */
void end_post_send(struct end *end);
void end_want_post(struct end *end);
void end_pump(struct end *end);
void end_want_pump(struct end *end, u64 delay);
void end_timer(struct end *end);
void end_answer(struct end *end, const struct sroce_pkt *pkt, const u8 *payload);
void end_after(struct end *end);
void end_error(struct end *end);

/* exec.c */
void exec_request(struct end *end, const struct sroce_pkt *pkt, const u8 *payload);
void exec_post_recv(struct end *end);
void end_restart(struct end *end);
bool exec_pull(struct end *end, struct sroce_resp_out *out);
void exec_check_read(struct end *end, struct op *op, u32 index);
bool exec_memory(struct end *end, u64 va, u64 bytes, u32 rkey, u8 **at);

static inline struct op *end_op(struct end *end, u32 index)
{
	return &end->ops[index - end->first_index];
}

static inline bool end_is_uc(const struct end *end)
{
	return end->transport == SROCE_UC;
}

static inline void end_moved(struct end *end)
{
	end->moved_at = end->sim->now;
	end->peer->moved_at = end->sim->now;
}

static inline bool sim_is_hostile(const struct sim *sim)
{
	return sim->scenario == SC_HOSTILE;
}

#endif /* SROCE_HOST_SIM_H */
