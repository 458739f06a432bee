// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What one end posts: random work requests, one of which fails if the scenario
 * says so.
 */
#include "sim.h"

/* A message of so many packets fits everywhere. */
u32 work_max_packets(u32 mtu)
{
	return mtu > 512 ? 8 : 48;
}

static u32 pick_length(struct sim *sim)
{
	struct rng *rng = &sim->rng;
	u32 most = rng_percent(rng, 5) ? work_max_packets(sim->mtu) : sim->mtu > 1024 ? 4 : 8;

	switch (rng_below(rng, 8)) {
	case 0:
		return 0;
	case 1:
		return rng_range(rng, 1, 16);
	case 2:
		return sim->mtu * rng_range(rng, 1, most);
	case 3:
		return sim->mtu * rng_range(rng, 1, most) - rng_range(rng, 0, 4);
	case 4:
		return sim->mtu * rng_range(rng, 1, most - 1) + rng_range(rng, 1, 4);
	case 5:
		return rng_range(rng, 1, sim->mtu * most);
	default:
		return rng_range(rng, 1, sim->mtu);
	}
}

static u8 pick_op(struct end *end)
{
	static const u8 ops[] = {
		SROCE_WR_WRITE, SROCE_WR_WRITE, SROCE_WR_WRITE, SROCE_WR_WRITE_IMM,
		SROCE_WR_SEND, SROCE_WR_SEND, SROCE_WR_SEND, SROCE_WR_SEND_IMM,
		/* the rest is for reliable transports */
		SROCE_WR_READ, SROCE_WR_READ, SROCE_WR_READ, SROCE_WR_READ,
		SROCE_WR_SEND_INV, SROCE_WR_CMP_SWP, SROCE_WR_FETCH_ADD, SROCE_WR_FETCH_ADD,
		SROCE_WR_FLUSH, SROCE_WR_ATOMIC_WRITE, SROCE_WR_LOCAL_INV, SROCE_WR_BIND_MW,
	};

	return ops[rng_below(&end->sim->rng, end_is_uc(end) ? 8 : ARRAY_SIZE(ops))];
}

/* Operations that can fail in the way of the scenario. */
static u8 pick_failing_op(struct end *end)
{
	struct sim *sim = end->sim;
	struct rng *rng = &sim->rng;

	switch (sim->scenario) {
	case SC_BAD_RKEY:
		return RNG_PICK(rng, SROCE_WR_WRITE, SROCE_WR_WRITE_IMM, SROCE_WR_READ,
				SROCE_WR_CMP_SWP, SROCE_WR_FETCH_ADD, SROCE_WR_FLUSH,
				SROCE_WR_ATOMIC_WRITE);
	case SC_SHORT_RECV:
		return RNG_PICK(rng, SROCE_WR_SEND, SROCE_WR_SEND_IMM, SROCE_WR_SEND_INV);
	case SC_MISALIGNED:
		return RNG_PICK(rng, SROCE_WR_CMP_SWP, SROCE_WR_FETCH_ADD, SROCE_WR_ATOMIC_WRITE);
	case SC_READ_FAILS:
		return SROCE_WR_READ;
	case SC_LOCAL_PLACE:
		return RNG_PICK(rng, SROCE_WR_READ, SROCE_WR_CMP_SWP, SROCE_WR_FETCH_ADD);
	case SC_RNR_EXHAUSTED:
		return RNG_PICK(rng, SROCE_WR_SEND, SROCE_WR_SEND_IMM, SROCE_WR_SEND_INV,
				SROCE_WR_WRITE_IMM);
	case SC_REM_OP:
		return RNG_PICK(rng, SROCE_WR_WRITE, SROCE_WR_SEND, SROCE_WR_READ,
				SROCE_WR_FETCH_ADD, SROCE_WR_FLUSH);
	default:
		return pick_op(end);
	}
}

static bool is_eight(u8 op)
{
	return sroce_wr_is_atomic(op) || op == SROCE_WR_ATOMIC_WRITE;
}

static void make_op(struct end *end, struct op *op, u8 kind)
{
	const struct end *peer = end->peer;
	struct sim *sim = end->sim;
	struct rng *rng = &sim->rng;

	op->op = kind;
	op->flags = (rng_percent(rng, 60) ? SROCE_WF_SIGNALED : 0) |
		    (rng_percent(rng, 25) ? SROCE_WF_SOLICITED : 0) |
		    (rng_percent(rng, 15) ? SROCE_WF_FENCE : 0);
	op->length = is_eight(kind) ? 8 : sroce_wr_is_local(kind) ? 0 : pick_length(sim);
	op->va = peer->mr_va + (is_eight(kind) ? 8 * rng_below(rng, 64) :
				rng_below(rng, peer->mr_bytes - op->length + 1));
	op->rkey = GOOD_RKEY;
	if (!op->length) {		/* C9-88: nobody looks at them */
		op->va = rng_u64(rng);
		op->rkey = rng_u64(rng);
	}
	op->imm = rng_u64(rng);
	op->inv_rkey = rng_u64(rng);
	op->srqn = rng_u64(rng) & 0xffffff;
	op->feth = rng_range(rng, 1, 3) | rng_below(rng, 2) << SROCE_FETH_SEL_SHIFT;
	op->compare_add = rng_percent(rng, 50) ? rng_below(rng, 3) : rng_u64(rng);
	op->swap = rng_percent(rng, 50) ? rng_below(rng, 3) : rng_u64(rng);
	op->data = sim_alloc(sim, kind == SROCE_WR_FLUSH ? 0 : op->length);
	if (kind == SROCE_WR_READ)
		op->seen = sim_alloc(sim, op->length);
	else if (kind != SROCE_WR_FLUSH)
		rng_fill(rng, op->data, op->length);
}

static void spoil_rkey(struct end *end, struct op *op)
{
	struct rng *rng = &end->sim->rng;

	switch (rng_below(rng, 3)) {
	case 0:
		op->rkey ^= 1U << rng_below(rng, 32);
		break;
	case 1:			/* one step beyond the end */
		op->va = end->peer->mr_va + end->peer->mr_bytes - op->length +
			 (is_eight(op->op) ? 8 : 1);
		break;
	case 2:			/* around the end of the address space */
		op->va = -(u64)8;
		if (!is_eight(op->op))
			op->va += rng_below(rng, 8);
		else
			op->va -= 8 * rng_below(rng, 2);
		break;
	}
}

/* Make the one that fails. Its receive is cut in recv_bytes(), or missing: work_recvs(). */
static void make_failing_op(struct end *end, struct op *op)
{
	struct sim *sim = end->sim;

	do {
		make_op(end, op, pick_failing_op(end));
	} while (!op->length && sim->scenario != SC_REM_OP && sim->scenario != SC_RNR_EXHAUSTED &&
		 sim->scenario != SC_LOCAL_SEND);
	op->fails = true;
	if (sim->scenario == SC_BAD_RKEY)
		spoil_rkey(end, op);
	if (sim->scenario == SC_MISALIGNED)
		op->va += rng_range(&sim->rng, 1, 7);
	if (sim->scenario == SC_READ_FAILS) {
		op->rkey = READ_RKEY;
		/* Of a short answer the only packet fails, of a long one the second. */
		end->peer->reads_pulled = op->length <= sim->mtu;
	}
}

static bool has_failing_op(enum scenario scenario)
{
	return scenario >= SC_BAD_RKEY && scenario <= SC_RNR_EXHAUSTED;
}

void work_make(struct end *end)
{
	struct sim *sim = end->sim;
	struct rng *rng = &sim->rng;
	bool fails = has_failing_op(sim->scenario) && sim->fail_end == end->id;
	u32 failing, i;

	end->num_ops = rng_range(rng, 1, RNG_PICK(rng, 3, 40, 40, 40, MAX_OPS));
	end->num_ops = DIV_ROUND_UP(2 * end->num_ops, sim->num_ends);
	if (rng_percent(rng, 10) && !fails)
		end->num_ops = 0;	/* one direction only */
	failing = fails ? rng_below(rng, end->num_ops) : NO_OP;
	for (i = 0; i < end->num_ops; i++) {
		if (i == failing)
			make_failing_op(end, &end->ops[i]);
		else
			make_op(end, &end->ops[i], pick_op(end));
	}
	end->failing = failing;
}

static u32 num_needed(const struct end *end)
{
	u32 i, n = 0;

	for (i = 0; i < end->peer->num_ops; i++)
		n += sroce_wr_takes_recv(end->peer->ops[i].op);
	return n;
}

static u32 recv_bytes(struct end *end, const struct op *op)
{
	struct sim *sim = end->sim;

	if (end_is_uc(end))		/* any message may land in it */
		return sim->mtu * work_max_packets(sim->mtu);
	if (op->fails && sim->scenario == SC_SHORT_RECV)
		return rng_below(&sim->rng, op->length);
	return (op->op == SROCE_WR_WRITE_IMM ? 0 : op->length) +
	       (rng_percent(&sim->rng, 30) ? rng_below(&sim->rng, 100) : 0);
}

static void add_recv(struct end *end, struct rq *rq, u32 bytes)
{
	struct recv *recv = &rq->recvs[rq->num++];

	recv->bytes = bytes;
	recv->buf = sim_alloc(end->sim, bytes);
}

/* The receives that the peer's work needs, in @end. */
void work_recvs(struct end *end)
{
	struct rq *rq = &end->own_rq;
	struct sim *sim = end->sim;
	struct end *peer = end->peer;
	u32 i, more = rng_below(&sim->rng, 4);

	end->rq = rq;
	rq->recvs = sim_alloc(sim, (num_needed(end) + more) * sizeof(*rq->recvs));
	for (i = 0; i < peer->num_ops; i++) {
		const struct op *op = &peer->ops[i];

		if (!sroce_wr_takes_recv(op->op))
			continue;
		if (op->fails && sim->scenario == SC_RNR_EXHAUSTED)
			break;
		add_recv(end, rq, recv_bytes(end, op));
	}
	if (sim->scenario == SC_RNR_EXHAUSTED)
		return;
	while (more--)
		add_recv(end, rq, 64);
}

/*
 * One queue of receives for all QPs of a host, in which any message may land. A QP
 * that fails takes one with it.
 */
void work_srq(struct sim *sim, u32 host)
{
	struct rq *srq = &sim->srq[host];
	u32 i, n = 0;

	for (i = host; i < sim->num_ends; i += 2)
		n += num_needed(&sim->end[i]) + 1;
	srq->recvs = sim_alloc(sim, n * sizeof(*srq->recvs));
	srq->shared = true;
	while (srq->num < n)
		add_recv(&sim->end[host], srq, sim->mtu * work_max_packets(sim->mtu));
	for (i = host; i < sim->num_ends; i += 2)
		sim->end[i].rq = srq;
}
