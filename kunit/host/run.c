// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One seed: events happen under the conditions of setup.c; then what is left is looked at.
 */
#include <stdarg.h>

#include "sim.h"

#define MS		1000000ULL
#define MAX_STEPS	1000000
#define HOSTILE_STEPS	20000

const char *const scenario_names[SC_COUNT] = {
	"clean", "lossy", "rnr", "drain", "uc", "few-retries", "hostile", "bad-rkey", "short-recv",
	"misaligned", "rem-op", "read-fails", "local-send", "local-place", "rnr-exhausted",
	"dead-peer", "stopped", "restarted",
};

/* ---- memory of a run: all of it goes when the run is over, even by sim_fail() ---- */

struct block {
	struct block *next, **at;
	u64 pad;
};

void *sim_alloc(struct sim *sim, u32 bytes)
{
	struct block *b = malloc(sizeof(*b) + bytes);

	assert(b);
	b->next = sim->blocks;
	b->at = (struct block **)&sim->blocks;
	if (b->next)
		b->next->at = &b->next;
	sim->blocks = b;
	memset(b + 1, 0, bytes);
	return b + 1;
}

void sim_free(struct sim *sim, void *p)
{
	struct block *b = (struct block *)p - 1;

	(void)sim;
	*b->at = b->next;
	if (b->next)
		b->next->at = b->at;
	free(b);
}

void sim_trace(struct sim *sim, const char *fmt, ...)
{
	va_list args;

	if (!sim->verbose)
		return;
	printf("%12.3f us  ", sim->now / 1000.0);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

void sim_fail(struct sim *sim, const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "seed %llu (%s), %.3f us: ", sim->seed, scenario_names[sim->scenario],
		sim->now / 1000.0);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n    replay: make -C kunit/host sim && kunit/host/sim --seed %llu\n",
		sim->seed);
	longjmp(sim->failed, 1);
}

/* ---- events ---- */

/* To whom a packet is: as a host finds it. */
static struct end *find_end(struct sim *sim, u32 host, u32 qpn)
{
	u32 i;

	for (i = host; i < sim->num_ends; i += 2)
		if (sim->end[i].qpn == qpn)
			return &sim->end[i];
	return NULL;
}

/* There is room again on the way to @host. */
static void on_room(struct sim *sim, u32 host)
{
	u32 i;

	for (i = 1 - host; i < sim->num_ends; i += 2)
		end_want_pump(&sim->end[i], 0);
}

static void on_packet(struct end *end, const struct sroce_pkt *pkt, const u8 *payload)
{
	struct sim *sim = end->sim;

	if (pkt->flags & SROCE_F_CNP)
		host_on_cnp(end, pkt, payload);
	else if (pkt->opcode == SROCE_OPCODE_SACK && !end->sack)
		sim_trace(sim, "%c    dropped: no SACK was agreed on", 'A' + end->id);
	else if (end->error && !(end->restarted && pkt->flags & SROCE_F_REQUEST))
		sim_trace(sim, "%c    dropped: in ERR", 'A' + end->id);
	else if (pkt->flags & SROCE_F_REQUEST)
		exec_request(end, pkt, payload);
	else
		end_answer(end, pkt, payload);
}

static bool speaks(const struct end *end, const struct sroce_pkt *pkt)
{
	return (pkt->opcode & SROCE_TRANSPORT_MASK) == end->transport ||
	       pkt->opcode == SROCE_OPCODE_SACK || pkt->flags & SROCE_F_CNP;
}

static void on_frame(struct sim *sim, struct end *end, struct frame *frame)
{
	struct end *to = end;
	struct sroce_pkt pkt;
	const u8 *payload;

	if (sim->link[1 - end->host].in_flight-- == MAX_IN_FLIGHT)
		on_room(sim, end->host);
	if (!frame_parse(end, frame, &pkt, &payload)) {
		sim_trace(sim, "%c    a corrupt frame", 'A' + end->id);
		sim_free(sim, frame);
		return;
	}
	sim_trace(sim, "%c <- %s", 'A' + end->id, pkt_text(&pkt));
	if (host_is_datagram(&pkt)) {
		host_on_datagram(end, &pkt, payload);
	} else {
		to = find_end(sim, end->host, pkt.qpn);
		CHECK(sim, sim_is_hostile(sim) || (to == end && speaks(end, &pkt)),
		      "%c: a packet for somebody else", 'A' + end->id);
		if (to && speaks(to, &pkt)) {
			if (frame_is_marked(sim, frame))
				host_on_mark(to, &pkt);
			on_packet(to, &pkt, payload);
		}
	}
	sim_free(sim, frame);
	if (!to)
		return;
	end_want_pump(to, rng_below(&sim->rng, to->lag));
	end_after(to);
}

static void on_drain(struct end *end)
{
	struct sim *sim = end->sim;

	end->req.draining = !end->req.draining;
	sim_trace(sim, "%c    %s", 'A' + end->id, end->req.draining ? "to SQD" : "back to RTS");
	end_want_pump(end, 0);
}

static void on_stop(struct end *end)
{
	struct sim *sim = end->sim;

	sim_trace(sim, "%c    %s", 'A' + end->id, scenario_names[sim->scenario]);
	if (sim->scenario == SC_DEAD_PEER) {
		sim->link[0].dead = true;
		sim->link[1].dead = true;
		return;
	}
	end_error(end);
	if (sim->scenario == SC_RESTARTED) {
		/* Whatever was posted is flushed; what comes is for its former life. */
		end->restarted = true;
		end_restart(end);
	}
	end_after(end);
}

/* From now on packets take another way, faster or slower, with or without reordering. */
static void on_path(struct sim *sim)
{
	u32 i;

	for (i = 0; i < 2; i++)
		sim->link[i].path = sim->link[i].paths[rng_below(&sim->rng, MAX_PATHS)];
	sim_trace(sim, "     delays %.3f us and %.3f us from now on", sim->link[0].path.delay / 1000.0,
		  sim->link[1].path.delay / 1000.0);
}

static void check_drained(struct end *end)
{
	struct sim *sim = end->sim;

	if (!end->req.draining || end->drain_seen || !sroce_req_drained(&end->req))
		return;
	CHECK(sim, !sroce_req_outstanding(&end->req), "%c: drained, but something is outstanding",
	      'A' + end->id);
	end_moved(end);
	end->drain_seen = true;
	event_add(sim, sim->now + rng_below(&sim->rng, 5 * MS), EVENT_DRAIN, end, NULL);
}

static void step(struct sim *sim, struct event *event)
{
	struct end *end = &sim->end[event->end];

	switch (event->kind) {
	case EVENT_FRAME:
		on_frame(sim, end, event->frame);
		break;
	case EVENT_PUMP:
		end_pump(end);
		break;
	case EVENT_TIMER:
		end_timer(end);
		break;
	case EVENT_POST_SEND:
		end_post_send(end);
		break;
	case EVENT_POST_RECV:
		exec_post_recv(end);
		break;
	case EVENT_DRAIN:
		on_drain(end);
		break;
	case EVENT_STOP:
		on_stop(end);
		break;
	case EVENT_PATH:
		on_path(sim);
		break;
	case EVENT_DATAGRAM:
		host_datagram(end);
		break;
	}
	check_drained(end);
}

static bool is_complete(const struct end *end)
{
	return end->completed == end->num_ops && end->peer->completed == end->peer->num_ops;
}

/* Nobody stands still, whatever the others do. */
static void check_moves(struct sim *sim, u64 at)
{
	u32 i;

	for (i = 0; i < sim->num_ends; i++) {
		const struct end *end = &sim->end[i];

		CHECK(sim, at < end->moved_at + sim->stall_ns || is_complete(end),
		      "%c: stalled since %.3f us, %u of %u complete", 'A' + i,
		      end->moved_at / 1000.0, end->completed, end->num_ops);
	}
}

static void run_events(struct sim *sim)
{
	struct event event;

	while (event_take(sim, &event)) {
		sim->steps++;
		if (sim_is_hostile(sim) && sim->steps > HOSTILE_STEPS)
			return;
		CHECK(sim, sim->steps < MAX_STEPS, "no end in sight");
		if (!sim_is_hostile(sim))
			check_moves(sim, event.at);
		sim->now = event.at;
		step(sim, &event);
	}
	if (!sim_is_hostile(sim))
		check_moves(sim, SROCE_NEVER);
}

/* ---- what is left ---- */

/* The memory is what the executed messages make of it, in order. */
static void check_memory(struct end *end)
{
	const struct end *peer = end->peer;
	struct sim *sim = end->sim;
	u8 *model = end->mr_start;
	u32 i;

	for (i = 0; i <= end->exec && i < peer->posted; i++) {
		const struct op *op = &peer->ops[i];
		u32 done = i == end->exec ? end->exec_bytes : op->length;
		u64 at = op->va - end->mr_va;

		if (!op->executed && i != end->exec)
			continue;
		if (op->op == SROCE_WR_WRITE || op->op == SROCE_WR_WRITE_IMM ||
		    op->op == SROCE_WR_ATOMIC_WRITE)
			memcpy(model + (done ? at : 0), op->data, done);
		else if (sroce_wr_is_atomic(op->op) && done)
			memcpy(model + at, &op->result, 8);
	}
	CHECK(sim, !memcmp(model, end->mr, end->mr_bytes), "%c: the memory is wrong", 'A' + end->id);
}

/* May work of this end fail? What goes wrong with one pair is nothing to the others. */
static bool is_of_trouble(const struct end *end)
{
	const struct sim *sim = end->sim;

	if (sim->scenario == SC_FEW_RETRIES || sim->scenario == SC_DEAD_PEER)
		return true;
	return sim->scenario >= SC_BAD_RKEY && end->id / 2 == sim->fail_end / 2;
}

static void check_end(struct end *end)
{
	const struct rq *rq = end->rq;
	struct sim *sim = end->sim;
	u32 i, need = 0;

	for (i = 1; i <= GUARD_BYTES; i++)
		CHECK(sim, end->mr[-(int)i] == 0x5a && end->mr[end->mr_bytes + i - 1] == 0x5a,
		      "%c: written outside the memory region", 'A' + end->id);
	if (sim_is_hostile(sim))
		return;
	CHECK(sim, sroce_req_deadline(&end->req) == SROCE_NEVER, "%c: a timer is left",
	      'A' + end->id);
	CHECK(sim, end->failing == NO_OP || end->failed_at <= end->failing, "%c: WQE %u did not fail",
	      'A' + end->id, end->failing);
	CHECK(sim, end->failed_at == NO_OP || is_of_trouble(end), "%c: the trouble of others",
	      'A' + end->id);
	if (end_is_uc(end) && !sim->lossless)
		return;
	check_memory(end);
	for (i = 0; i < end->peer->num_ops; i++)
		CHECK(sim, !end_is_uc(end) || end->peer->ops[i].executed,
		      "%c: message %u did not arrive", 'A' + end->id, i);
	for (i = 0; i < end->peer->num_ops; i++)
		need += sroce_wr_takes_recv(end->peer->ops[i].op) && end->peer->ops[i].executed;
	for (i = 0; i < rq->num && !rq->shared; i++)
		CHECK(sim, rq->recvs[i].done == (i < need), "%c: receive %u of %u", 'A' + end->id, i,
		      need);
}

static void clean_up(struct sim *sim)
{
	while (sim->blocks)
		sim_free(sim, (struct block *)sim->blocks + 1);
	free(sim->heap);
}

bool sim_run(u64 seed, bool verbose, int scenario)
{
	static struct sim sim;
	volatile bool ok = false;
	volatile u32 i;

	memset(&sim, 0, sizeof(sim));
	sim.seed = seed;
	sim.rng.state = seed * 0x9e3779b97f4a7c15ULL;
	sim.verbose = verbose;
	if (!setjmp(sim.failed)) {
		setup_make(&sim, scenario);
		run_events(&sim);
		for (i = 0; i < sim.num_ends; i++)
			check_end(&sim.end[i]);
		host_check(&sim, 0);
		host_check(&sim, 1);
		sim_trace(&sim, "over: %llu frames, %llu lost, %llu sent again", sim.frames,
			  sim.dropped, sim.retransmitted);
		ok = true;
	}
	sim_stats.runs[sim.scenario]++;
	sim_stats.frames += sim.frames;
	sim_stats.retransmitted += sim.retransmitted;
	sim_stats.shared += sim.num_ends > 2;
	sim_stats.srq += sim.srq[0].shared + sim.srq[1].shared;
	clean_up(&sim);
	return ok;
}
