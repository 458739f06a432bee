// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The simulation; see ccsim.h. */
#include "ccsim.h"

#define NS_PER_S	1000000000ULL
#define RING		(1U << 17)	/* packets and answers under way */
#define QUEUE_STEP	250		/* bytes, classes of the distribution of the queue */
#define QUEUE_CLASSES	40000
#define CONVERGE_NS	1000000ULL

enum fate {
	FATE_ACKED,
	FATE_LOST,
};

struct packet {
	u32 flow;
	u64 sent_ns;
	bool probe;
};

/* What comes back to a sender. */
struct answer {
	u64 at_ns;
	u32 flow;
	u64 sent_ns;
	u8 fate;
	bool probe;
	bool cnp;
	struct sroce_cc_hop hop;
};

struct flow {
	struct sroce_cc cc;
	struct sroce_cc_hop hops[SROCE_CC_MAX_HOPS];
	u64 next_ns;		/* to send; SROCE_NEVER: waits for its window */
	u64 paced_ns;		/* its pace allows the next packet then */
	u64 start_ns;
	u64 sent, acked;	/* bytes */
	u64 to_probe;
	u64 np_last_ns;
	bool np_sent;
	u64 window_bytes, ms_bytes, measured_bytes;
};

struct sim {
	const struct ccsim_setup *s;
	struct ccsim_result *r;
	struct rng rng;
	u64 now_ns;
	struct flow *flow;
	struct packet *queue;
	u32 queue_head, queue_tail;
	u32 queue_bytes;
	u64 leave_ns;		/* the first packet has left then; SROCE_NEVER: empty */
	u64 tx_bytes;
	struct answer *answers;
	u32 ans_head, ans_tail;
	u64 packets, marks, cnps, rtt_sum, rtts;
	u64 *classes;
	double queue_area, alpha_sum, jain_sum;
	u64 area_ns, alphas, windows;
	u64 next_window_ns, next_ms_ns, next_sample_ns;
};

static bool measuring(const struct sim *m)
{
	return m->now_ns >= m->s->warm_ns;
}

/* ---- senders ---- */

static bool window_open(const struct sim *m, const struct flow *f)
{
	u32 window = sroce_cc_window(&f->cc, &m->s->p);

	return f->sent == f->acked || f->sent - f->acked + m->s->packet <= window;
}

static void schedule(struct sim *m, struct flow *f)
{
	sroce_cc_rate(&f->cc, &m->s->p, m->now_ns);
	f->next_ns = window_open(m, f) ? max(f->paced_ns, m->now_ns) : SROCE_NEVER;
}

static void enqueue(struct sim *m, struct flow *f);

static void send(struct sim *m, struct flow *f)
{
	u64 rate = sroce_cc_rate(&f->cc, &m->s->p, m->now_ns), gap;

	gap = sroce_cc_tx_ns(min(rate, m->s->p.line_bps), m->s->packet);
	/* Clocks are not the same: a pace that differs by up to 5 % each time. */
	f->paced_ns = m->now_ns + gap * rng_range(&m->rng, 950, 1050) / 1000;
	f->sent += m->s->packet;
	sroce_cc_on_send(&f->cc, &m->s->p, m->s->packet, m->now_ns);
	enqueue(m, f);
	schedule(m, f);
}

static void answered(struct sim *m, const struct answer *a)
{
	struct flow *f = &m->flow[a->flow];
	struct sroce_cc_ack ack = {
		.rtt_ns = a->probe ? m->now_ns - a->sent_ns : 0,
		.bytes = m->s->packet,
		.num_hops = 1,
		.hops = &a->hop,
	};

	if (a->cnp)
		sroce_cc_on_cnp(&f->cc, &m->s->p, m->now_ns);
	f->acked += m->s->packet;
	ack.acked = f->acked;
	ack.sent = f->sent;
	if (a->fate == FATE_LOST)
		sroce_cc_on_loss(&f->cc, &m->s->p, false, m->now_ns);
	else
		sroce_cc_on_ack(&f->cc, &m->s->p, &ack, m->now_ns);
	if (measuring(m) && a->probe) {
		m->rtt_sum += ack.rtt_ns;
		m->rtts++;
	}
	schedule(m, f);
}

/* ---- the switch ---- */

static void answer(struct sim *m, const struct packet *p, enum fate fate, bool cnp)
{
	m->answers[m->ans_tail++ % RING] = (struct answer){
		.at_ns = m->now_ns + m->s->delay_ns,
		.flow = p->flow,
		.sent_ns = p->sent_ns,
		.fate = fate,
		.probe = p->probe,
		.cnp = cnp,
		.hop = {
			.link_bps = m->s->p.line_bps,
			.ts_ns = m->now_ns,
			.tx_bytes = m->tx_bytes,
			.queue_bytes = m->queue_bytes,
		},
	};
	assert(m->ans_tail - m->ans_head < RING);
}

static void enqueue(struct sim *m, struct flow *f)
{
	struct packet p = { .flow = f - m->flow, .sent_ns = m->now_ns };

	p.probe = f->to_probe <= m->s->packet;
	f->to_probe = p.probe ? m->s->segment : f->to_probe - m->s->packet;
	if (m->queue_bytes + m->s->packet > m->s->buffer) {
		m->r->drops += measuring(m);
		answer(m, &p, FATE_LOST, false);
		return;
	}
	m->queue[m->queue_tail++ % RING] = p;
	assert(m->queue_tail - m->queue_head < RING);
	m->queue_bytes += m->s->packet;
	m->r->queue_max = max(m->r->queue_max, (double)m->queue_bytes);
	if (m->leave_ns == SROCE_NEVER)
		m->leave_ns = m->now_ns + sroce_cc_tx_ns(m->s->p.line_bps, m->s->packet);
}

/* RED on the queue as it is, the leaving packet included. */
static bool marked(struct sim *m)
{
	const struct ccsim_setup *s = m->s;

	if (s->mark)
		return rng_chance(&m->rng, s->mark);
	if (m->queue_bytes <= s->kmin)
		return false;
	if (m->queue_bytes > s->kmax)
		return true;
	return rng_chance(&m->rng, (u64)s->pmax * (m->queue_bytes - s->kmin) /
				   (s->kmax - s->kmin));
}

/* The notification point of a flow: a CNP for the first mark after an interval. */
static bool cnp_due(struct sim *m, struct flow *f)
{
	if (f->np_sent && m->now_ns - f->np_last_ns < m->s->np_ns)
		return false;
	f->np_sent = true;
	f->np_last_ns = m->now_ns;
	m->cnps += measuring(m);
	return true;
}

static void leave(struct sim *m)
{
	struct packet p = m->queue[m->queue_head++ % RING];
	struct flow *f = &m->flow[p.flow];
	bool mark = marked(m);

	m->queue_bytes -= m->s->packet;
	m->tx_bytes += m->s->packet;
	f->window_bytes += m->s->packet;
	f->ms_bytes += m->s->packet;
	if (measuring(m)) {
		f->measured_bytes += m->s->packet;
		m->packets++;
		m->marks += mark;
	}
	answer(m, &p, FATE_ACKED, mark && cnp_due(m, f));
	m->leave_ns = m->queue_head == m->queue_tail ? SROCE_NEVER :
		      m->leave_ns + sroce_cc_tx_ns(m->s->p.line_bps, m->s->packet);
}

/* ---- measuring ---- */

static void account(struct sim *m, u64 until_ns)
{
	u64 from = max(m->now_ns, m->s->warm_ns), ns;

	if (until_ns <= from)
		return;
	ns = until_ns - from;
	m->queue_area += (double)m->queue_bytes * ns;
	m->area_ns += ns;
	m->classes[min(m->queue_bytes / QUEUE_STEP, QUEUE_CLASSES - 1U)] += ns;
}

static void end_window(struct sim *m)
{
	double sum = 0, squares = 0, jain;
	u32 i;

	for (i = 0; i < m->s->flows; i++) {
		double x = m->flow[i].window_bytes;

		sum += x;
		squares += x * x;
		m->flow[i].window_bytes = 0;
	}
	m->next_window_ns += m->s->window_ns;
	if (!measuring(m) || !squares)
		return;
	jain = sum * sum / (m->s->flows * squares);
	m->jain_sum += jain;
	m->r->jain_min = m->windows++ ? min(m->r->jain_min, jain) : jain;
}

static void end_ms(struct sim *m)
{
	u64 least = U64_MAX, share, started = (u64)(m->s->flows - 1) * m->s->start_gap_ns;
	u32 i;

	for (i = 0; i < m->s->flows; i++) {
		struct sroce_cc_info info;

		least = min(least, m->flow[i].ms_bytes);
		m->flow[i].ms_bytes = 0;
		if (!measuring(m))
			continue;
		sroce_cc_get_info(&m->flow[i].cc, &m->s->p, &info);
		m->alpha_sum += info.alpha / 1024.0;
		m->alphas++;
	}
	share = div_u64(m->s->p.line_bps, 8000) / m->s->flows;
	if (m->now_ns > started && least * 10 >= share * 9 && m->r->converged_ns == U64_MAX)
		m->r->converged_ns = m->now_ns - started;
	m->next_ms_ns += CONVERGE_NS;
}

static void sample(struct sim *m)
{
	u32 i;

	fprintf(m->s->trace, "%.3f,%u", m->now_ns / 1e3, m->queue_bytes);
	for (i = 0; i < m->s->flows; i++) {
		struct flow *f = &m->flow[i];
		u64 rate = sroce_cc_rate(&f->cc, &m->s->p, m->now_ns);

		if (rate == SROCE_CC_UNLIMITED)
			rate = m->s->p.line_bps;
		/* A window without a rate: what it makes in the round trip there is now. */
		if (f->cc.window != SROCE_CC_NO_WINDOW)
			rate = min(rate, f->cc.window * 8ULL * NS_PER_S / (m->s->delay_ns +
				   sroce_cc_tx_ns(m->s->p.line_bps, m->queue_bytes + m->s->packet)));
		fprintf(m->s->trace, ",%.3f", m->now_ns < f->start_ns ? 0 : rate / 1e6);
	}
	fputc('\n', m->s->trace);
	m->next_sample_ns += m->s->sample_ns;
}

static double percentile(const struct sim *m, double part)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < QUEUE_CLASSES - 1; i++) {
		sum += m->classes[i];
		if (sum >= part * m->area_ns)
			break;
	}
	return i * QUEUE_STEP;
}

static void results(struct sim *m)
{
	double seconds = (m->s->end_ns - m->s->warm_ns) / 1e9, bytes = 0;
	struct ccsim_result *r = m->r;
	u32 i;

	for (i = 0; i < m->s->flows; i++)
		bytes += m->flow[i].measured_bytes;
	r->queue_mean = m->queue_area / m->area_ns;
	r->queue_50 = percentile(m, 0.5);
	r->queue_99 = percentile(m, 0.99);
	r->util = bytes * 8 / seconds / m->s->p.line_bps;
	r->rate_mean = bytes * 8 / seconds / m->s->flows;
	r->marked = m->packets ? (double)m->marks / m->packets : 0;
	r->cnp_rate = m->cnps / seconds / m->s->flows;
	r->alpha = m->alphas ? m->alpha_sum / m->alphas : 0;
	r->jain = m->windows ? m->jain_sum / m->windows : 0;
	r->rtt_mean = m->rtts ? (double)m->rtt_sum / m->rtts : 0;
}

/* ---- the clock ---- */

static void start(struct sim *m)
{
	u32 i;

	m->leave_ns = SROCE_NEVER;
	m->next_window_ns = m->s->warm_ns + m->s->window_ns;
	m->next_ms_ns = CONVERGE_NS;
	m->next_sample_ns = m->s->trace ? 0 : SROCE_NEVER;
	m->r->converged_ns = U64_MAX;
	for (i = 0; i < m->s->flows; i++) {
		struct flow *f = &m->flow[i];

		sroce_cc_init(&f->cc, &m->s->p, m->s->alg, m->s->packet, 0);
		f->cc.hops = f->hops;
		f->start_ns = i * m->s->start_gap_ns + rng_below(&m->rng, 1000);
		f->next_ns = f->start_ns;
		f->paced_ns = f->start_ns;
	}
}

/* The flow that sends first. */
static struct flow *first_sender(const struct sim *m)
{
	struct flow *first = m->flow;
	u32 i;

	for (i = 1; i < m->s->flows; i++)
		if (m->flow[i].next_ns < first->next_ns)
			first = &m->flow[i];
	return first;
}

static void observe(struct sim *m, u64 until_ns)
{
	u64 next;

	while ((next = min3(m->next_window_ns, m->next_ms_ns, m->next_sample_ns)) <= until_ns) {
		account(m, next);
		m->now_ns = next;
		if (next == m->next_window_ns)
			end_window(m);
		if (next == m->next_ms_ns)
			end_ms(m);
		if (next == m->next_sample_ns)
			sample(m);
	}
	account(m, until_ns);
	m->now_ns = until_ns;
}

static void loop(struct sim *m)
{
	for (;;) {
		struct flow *f = first_sender(m);
		u64 back = m->ans_head == m->ans_tail ? SROCE_NEVER :
			   m->answers[m->ans_head % RING].at_ns;
		u64 next = min3(f->next_ns, back, m->leave_ns);

		if (next >= m->s->end_ns)
			break;
		observe(m, next);
		if (next == back)
			answered(m, &m->answers[m->ans_head++ % RING]);
		else if (next == m->leave_ns)
			leave(m);
		else
			send(m, f);
	}
	observe(m, m->s->end_ns);
}

void ccsim_run(const struct ccsim_setup *s, struct ccsim_result *r)
{
	struct sim m = {
		.s = s,
		.r = r,
		.rng.state = s->seed,
		.flow = calloc(s->flows, sizeof(struct flow)),
		.queue = calloc(RING, sizeof(struct packet)),
		.answers = calloc(RING, sizeof(struct answer)),
		.classes = calloc(QUEUE_CLASSES, sizeof(u64)),
	};

	memset(r, 0, sizeof(*r));
	start(&m);
	loop(&m);
	results(&m);
	free(m.flow);
	free(m.queue);
	free(m.answers);
	free(m.classes);
}

/* The marking of SIGCOMM 2015, and knobs that fit a port of @bps. */
void ccsim_defaults(struct ccsim_setup *s, enum sroce_cc_alg alg, u64 bps, u32 flows)
{
	memset(s, 0, sizeof(*s));
	s->alg = alg;
	sroce_cc_params_init(&s->p, alg);
	s->p.line_bps = bps;
	s->p.rp_max_inflight = 1U << 30;
	s->flows = flows;
	s->packet = 1000;
	s->segment = alg == SROCE_CC_TIMELY || alg == SROCE_CC_TIMELY_PATCHED ? 16000 : 1;
	s->delay_ns = 10000;
	s->np_ns = alg == SROCE_CC_DCQCN ? 4000 : 50000;
	s->kmin = 5000;
	s->kmax = 200000;
	s->pmax = bps >= 40000000000ULL ? 10000 : 100000;
	s->buffer = 12000000;
	s->end_ns = 400000000;
	s->warm_ns = 200000000;
	s->window_ns = 100000000;
	s->sample_ns = 10000;
	s->seed = 1;
}
