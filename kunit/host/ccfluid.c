// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fluid model of DCQCN as published (CoNEXT 2016): its fixed point for flows
 * on one link, and the rate of one flow under marks with a constant probability.
 * In packets and packets/s.
 */
#include <math.h>

#include "ccsim.h"

struct model {
	double c;	/* link, packets/s */
	double rai;	/* additive increase, packets/s */
	double b;	/* byte counter, packets */
	double t;	/* timer, s */
	double tau;	/* interval of CNPs, s */
	double taup;	/* period of alpha, s */
	double f;	/* stages of fast recovery */
};

static void to_model(const struct ccsim_setup *s, struct model *m)
{
	double bits = s->packet * 8.0;

	m->c = s->p.line_bps / bits;
	m->rai = s->p.rp_ai_rate * 1e6 / bits;
	m->b = s->p.rp_byte_reset ? s->p.rp_byte_reset * 64.0 / s->packet : 1e12;
	m->t = s->p.rp_time_reset * 1e-6;
	m->tau = s->np_ns * 1e-9;
	m->taup = s->p.rp_dce_tcp_rtt * 1e-6;
	m->f = s->p.rp_threshold;
}

/* Increase events of one kind for each packet: p / ((1 - p)^-n - 1) */
static double events(double p, double n)
{
	double x = -n * log1p(-p);

	return x > 600 ? 0 : p / expm1(x);
}

/* Grows with @p; 0 at the fixed point of rate @r. */
static double imbalance(const struct model *m, double p, double r)
{
	double l = -log1p(-p);
	double a = -expm1(-m->tau * r * l), alpha = -expm1(-m->taup * r * l);
	double b = events(p, m->b), c = b * exp(-fmin(m->f * m->b * l, 700));
	double d = events(p, m->t * r), e = d * exp(-fmin(m->f * m->t * r * l, 700));
	double up = (b + d) * (c + e) * m->tau * m->tau * m->rai * r;

	return a * a * alpha - up;
}

static double queue(const struct ccsim_setup *s, double p)
{
	double pmax = s->pmax / 1e6;

	return p > pmax ? s->kmax : s->kmin + p / pmax * (s->kmax - s->kmin);
}

void ccsim_fluid(const struct ccsim_setup *s, struct ccsim_fluid *f)
{
	double lo = 1e-12, hi = 0.999999, mid, r, per;
	struct model m;
	int i;

	to_model(s, &m);
	r = m.c / s->flows;
	for (i = 0; i < 200; i++) {
		mid = sqrt(lo * hi);
		if (imbalance(&m, mid, r) > 0)
			hi = mid;
		else
			lo = mid;
	}
	f->p_exact = lo;
	per = 1 / m.b + 1 / (m.t * r);
	f->p_approx = cbrt(m.rai / (m.taup * r * r) * per * per);
	f->alpha = -expm1(m.taup * r * log1p(-lo));
	f->queue_exact = queue(s, f->p_exact);
	f->queue_approx = queue(s, f->p_approx);
}

/* p^3 tau' R^2 = R_AI (1/B + 1/(T R))^2 */
double ccsim_open_loop_bps(const struct ccsim_setup *s)
{
	double lo = 1, hi = 1e10, p = s->mark / 1e6, mid, per;
	struct model m;
	int i;

	to_model(s, &m);
	for (i = 0; i < 200; i++) {
		mid = sqrt(lo * hi);
		per = 1 / m.b + 1 / (m.t * mid);
		if (p * p * p * m.taup * mid * mid > m.rai * per * per)
			hi = mid;
		else
			lo = mid;
	}
	return fmin(lo * s->packet * 8, s->p.line_bps);
}
