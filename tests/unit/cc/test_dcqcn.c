/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of cc/dcqcn.c: each rule, the laziness of its timers, bounds, and convergence. */
#include "check.h"

#include <math.h>

#include "cc/bottleneck.h"

#define G UINT64_C(1000000000)
#define M UINT64_C(1000000)
#define LINE (100 * G)

static void defaults(struct wf_cc_dcqcn_param *p)
{
	struct wf_err err;

	assert_int_equal(wf_param_defaults(wf_cc_dcqcn.params, wf_cc_dcqcn.n_params, p, &err), 0);
}

/* As MODEL "mlx" and as adapters: everything by timers, no byte counter. */
static void by_timers(struct wf_cc_dcqcn_param *p)
{
	defaults(p);
	strcpy(p->alpha_update, "timer");
	strcpy(p->rate_decrease, "timer");
	p->dce_tcp_rtt = WF_US;
	p->rate_reduce_monitor_period = 4 * WF_US;
	p->rpg_time_reset = 300 * WF_US;
	p->rpg_byte_reset = 0;
	p->rpg_threshold = 1;
	p->rpg_ai_rate = 20 * M;
	p->rpg_hai_rate = 200 * M;
	p->rpg_min_rate = G;
	p->clamp_tgt_rate = false;
	p->cnp_on_ack = true;
}

static struct wf_cc *make(const struct wf_cc_dcqcn_param *p)
{
	struct wf_cc *cc = calloc(1, wf_cc_dcqcn.size);

	assert_non_null(cc);
	wf_cc_init(cc, &wf_cc_dcqcn, p, LINE, 0);
	return cc;
}

static void look(struct wf_cc *cc, wf_time now)
{
	if (now >= cc->timer)
		cc->ops->on_timer(cc, now);
}

static void cnp(struct wf_cc *cc, wf_time now)
{
	look(cc, now);
	cc->ops->on_cnp(cc, now);
}

/* The published algorithm, step by step: cut, fast recovery, additive and hyper increase. */
static void test_paper_steps(void **state)
{
	/* Rates at 100 Gb/s with ai 100 Mb/s after the ticks of the timer. */
	static const struct {
		wf_time at;
		uint64_t rate;
	} row[] = {
		{ 0, 50 * G }, /* alpha is 1: half */
		{ 54, 50 * G },       { 55, 75 * G },     { 110, 87500 * M },
		{ 165, 93750 * M },   { 220, 96875 * M }, { 275, 98437500000 },
		{ 330, 99218750000 }, /* additive, but the target is the line rate already */
		{ 385, 99609375000 },
	};
	struct wf_cc_dcqcn_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.rpg_byte_reset = 0;
	cc = make(&p);
	assert_int_equal(cc->rate, LINE);
	assert_true(cc->timer == WF_TIME_NEVER);
	cnp(cc, 0);
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		look(cc, row[i].at * WF_US);
		assert_int_equal(cc->rate, row[i].rate);
	}
	free(cc);
}

/* alpha: one tick of decay, then a cut with what is left; the CNP raises it again. */
static void test_paper_alpha(void **state)
{
	struct wf_cc_dcqcn_param p;
	struct wf_cc *cc;
	double alpha = 1, rate;

	(void)state;
	defaults(&p);
	p.rpg_byte_reset = 0;
	p.rpg_time_reset = WF_S;
	p.rpg_min_rate = G;
	cc = make(&p);
	cnp(cc, 0);
	rate = (double)cc->rate;
	for (int i = 1; i < 200; i++) {
		/* Two ticks of alpha between CNPs that are 130 us apart. */
		alpha *= (1 - 1. / 256) * (1 - 1. / 256);
		rate *= 1 - alpha / 2;
		rate = fmax(rate, 1e9);
		alpha += (1 - alpha) / 256;
		cnp(cc, i * 130 * WF_US);
		assert_true(fabs((double)cc->rate / rate - 1) < 1e-7);
	}
	free(cc);
}

/* The target, seen by where fast recovery leads. */
static uint64_t goal(struct wf_cc *cc, wf_time now)
{
	look(cc, now);
	return cc->rate;
}

static void test_clamp(void **state)
{
	struct wf_cc_dcqcn_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.rpg_byte_reset = 0;
	p.rpg_threshold = 64;
	p.dce_tcp_rtt = WF_S; /* alpha stays 1 */
	for (int clamp = 0; clamp < 2; clamp++) {
		p.clamp_tgt_rate = clamp != 0;
		cc = make(&p);
		cnp(cc, 0);
		cnp(cc, 10 * WF_US); /* no increase in between */
		assert_int_equal(cc->rate, 25 * G);
		assert_int_equal(goal(cc, 50 * 55 * WF_US), clamp ? 50 * G : 100 * G);
		cnp(cc, 50 * 55 * WF_US + 20 * WF_US); /* after an increase: always */
		assert_int_equal(cc->rate, clamp ? 25 * G : 50 * G);
		assert_int_equal(goal(cc, 100 * 55 * WF_US), clamp ? 50 * G : 100 * G);
		free(cc);
	}
}

/* What one CNP leads to, for one setting each. */
static void test_settings(void **state)
{
	static const struct {
		const char *name, *value;
		uint64_t rate;
	} row[] = {
		{ "rpg_gd", "12", 75 * G },
		{ "rpg_gd", "10", 50 * G }, /* all of it, but for rpg_min_dec_fac */
		{ "rpg_min_dec_fac", "80", 80 * G },
		{ "rpg_min_rate", "60Gbps", 60 * G },
		{ "rpg_max_rate", "40Gbps", 20 * G },
		{ "initial_alpha_value", "512", 75 * G },
		{ "initial_alpha_value", "0", 100 * G },
		{ "rate_to_set_on_first_cnp", "3Gbps", 3 * G },
		{ "rate_to_set_on_first_cnp", "300Gbps", 100 * G },
		{ "rate_to_set_on_first_cnp", "auto", 50 * G },
		{ "rate_to_set_on_first_cnp", "0", 85 * G }, /* NVIDIA, "DCQCN CC Parameters" */
		{ "clamp_tgt_rate", "false", 50 * G },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_cc_dcqcn_param p;
		struct wf_err err;
		struct wf_cc *cc;

		defaults(&p);
		assert_int_equal(wf_param_set(wf_param_find(wf_cc_dcqcn.params,
		                                            wf_cc_dcqcn.n_params, row[i].name),
		                              &p, row[i].value, &err),
		                 0);
		cc = make(&p);
		cnp(cc, WF_US);
		assert_int_equal(cc->rate, row[i].rate);
		free(cc);
	}
}

/* Not more than one decrease in rate_reduce_monitor_period; a released limiter starts anew. */
static void test_monitor_and_release(void **state)
{
	struct wf_cc_dcqcn_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.rpg_byte_reset = 0;
	p.rate_to_set_on_first_cnp = 10 * G;
	p.release = true;
	cc = make(&p);
	cnp(cc, WF_US);
	cnp(cc, 2 * WF_US);
	assert_int_equal(cc->rate, 10 * G);
	cnp(cc, 5 * WF_US);
	assert_int_equal(cc->rate, 5 * G);
	look(cc, WF_S);
	assert_int_equal(cc->rate, LINE);
	assert_true(cc->timer == WF_TIME_NEVER);
	cnp(cc, WF_S);
	assert_int_equal(cc->rate, 10 * G);
	free(cc);
}

/* The byte counter alone, then both: hyper increase only when both are past the threshold. */
static void test_bytes(void **state)
{
	struct wf_cc_dcqcn_param p;
	struct wf_cc *cc;
	uint64_t rate;

	(void)state;
	defaults(&p);
	p.rpg_byte_reset = 10000;
	p.rpg_time_reset = WF_S;
	p.rpg_threshold = 2;
	p.rpg_ai_rate = G;
	p.rpg_hai_rate = 8 * G;
	p.dce_tcp_rtt = WF_S;
	cc = make(&p);
	cc->ops->on_send(cc, 50000, 0);
	assert_int_equal(cc->rate, LINE);
	cnp(cc, 0);
	cnp(cc, 10 * WF_US);
	cnp(cc, 20 * WF_US); /* rate 12.5, target 25 */
	assert_int_equal(cc->rate, 12500 * M);
	cc->ops->on_send(cc, 9999, 21 * WF_US);
	assert_int_equal(cc->rate, 12500 * M);
	cc->ops->on_send(cc, 1, 21 * WF_US);
	assert_int_equal(cc->rate, 18750 * M);
	cc->ops->on_send(cc, 10001, 22 * WF_US);
	assert_int_equal(cc->rate, 21875 * M);
	cc->ops->on_send(cc, 9999, 23 * WF_US); /* additive: target 26 */
	assert_int_equal(cc->rate, 23937500000);
	cc->ops->on_send(cc, 50000, 24 * WF_US); /* five more: target 31 */
	rate = cc->rate;
	assert_in_range(rate, 29 * G, 31 * G);
	/* The timer catches up: at its fourth tick both are past the threshold. */
	look(cc, 3 * WF_S + 20 * WF_US);
	assert_in_range(cc->rate, 32900 * M, 33100 * M);
	look(cc, 4 * WF_S + 20 * WF_US);
	assert_in_range(cc->rate, 37400 * M, 37600 * M);
	free(cc);
}

/* ---- the variant with timers, against a plain event by event one in floating point ---- */

struct model {
	double alpha, rate, target;
	wf_time alpha_at, dec_at, rp_at;
	bool first, alpha_cnp, dec_cnp;
	uint32_t stage;
};

static void model_advance(struct model *m, const struct wf_cc_dcqcn_param *p, wf_time now)
{
	for (;;) {
		wf_time at = wf_min_time(m->alpha_at, wf_min_time(m->dec_at, m->rp_at));

		if (m->first || at > now)
			return;
		if (at == m->rp_at) {
			if (m->stage >= p->rpg_threshold)
				m->target +=
					(double)(m->stage == p->rpg_threshold ? p->rpg_ai_rate
				                                              : p->rpg_hai_rate);
			m->target = fmin(m->target, (double)LINE);
			m->rate = (m->rate + m->target) / 2;
			m->stage++;
			m->rp_at += p->rpg_time_reset;
		} else if (at == m->alpha_at) {
			m->alpha = m->alpha * 255 / 256 + (m->alpha_cnp ? 1. / 256 : 0);
			m->alpha_cnp = false;
			m->alpha_at += p->dce_tcp_rtt;
		} else {
			m->dec_at += p->rate_reduce_monitor_period;
			if (!m->dec_cnp)
				continue;
			if (p->clamp_tgt_rate || m->stage != 0)
				m->target = m->rate;
			m->rate = fmax((double)p->rpg_min_rate, m->rate * (1 - m->alpha / 2));
			m->stage = 0;
			m->dec_cnp = false;
			m->rp_at = at + p->rpg_time_reset;
		}
	}
}

static void model_cnp(struct model *m, const struct wf_cc_dcqcn_param *p, wf_time now)
{
	m->alpha_cnp = m->dec_cnp = true;
	if (!m->first)
		return;
	m->first = m->alpha_cnp = false;
	m->alpha = 1;
	m->target = m->rate;
	m->alpha_at = now + p->dce_tcp_rtt;
	m->dec_at = now + p->rate_reduce_monitor_period + WF_NS;
	m->rp_at = WF_TIME_NEVER;
}

static void against_model(const struct wf_cc_dcqcn_param *p, uint64_t seed)
{
	struct model m = { .rate = (double)LINE, .target = (double)LINE, .first = true };
	struct wf_cc *cc = make(p);
	uint64_t key = wf_rand_key(seed, 3, 0);
	wf_time now = 0;

	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t r = wf_rand64(key, i);
		struct wf_cc_ack ack = { .ecn = r % 3 == 0 };

		/* Bursts of acknowledgements, and silence of up to 3 ms. */
		now += r % 500 == 0 ? (wf_time)(r >> 20) % (3 * WF_MS) : (wf_time)(r >> 20) % WF_US;
		now -= now % WF_NS;
		ack.now = now;
		model_advance(&m, p, now);
		look(cc, now);
		if (ack.ecn)
			model_cnp(&m, p, now);
		cc->ops->on_ack(cc, &ack);
		assert_true(fabs((double)cc->rate / m.rate - 1) < 1e-8);
	}
	free(cc);
}

static void test_timer_variant(void **state)
{
	struct wf_cc_dcqcn_param p;

	(void)state;
	for (uint64_t seed = 0; seed < 4; seed++) {
		by_timers(&p);
		against_model(&p, seed);
		p.clamp_tgt_rate = true;
		p.rpg_threshold = 5;
		against_model(&p, seed + 10);
		p.dce_tcp_rtt = p.rate_reduce_monitor_period = 50 * WF_US;
		p.rpg_time_reset = 55 * WF_US;
		against_model(&p, seed + 20);
	}
}

/* ---- laziness ---- */

/* The same CNPs and packets; one of the two is also looked at every now and then. */
static void lazy(const struct wf_cc_dcqcn_param *p, uint64_t seed)
{
	struct wf_cc *busy = make(p), *calm = make(p);
	uint64_t key = wf_rand_key(seed, 4, 0);
	wf_time now = 0;

	for (uint64_t i = 0; i < 2000; i++) {
		uint64_t r = wf_rand64(key, i);
		wf_time gap = (wf_time)(r >> 20) % (r % 16 == 0 ? 20 * WF_MS : 60 * WF_US);

		for (int k = 1; k < 40; k++) {
			wf_time at = now + gap * k / 40;

			busy->ops->on_timer(busy, at);
			assert_true(busy->timer > at);
		}
		now += gap;
		busy->ops->on_timer(busy, now);
		calm->ops->on_timer(calm, now);
		if (r % 4 == 0) {
			busy->ops->on_cnp(busy, now);
			calm->ops->on_cnp(calm, now);
		} else {
			busy->ops->on_send(busy, (uint32_t)r & 0xffff, now);
			calm->ops->on_send(calm, (uint32_t)r & 0xffff, now);
		}
		assert_memory_equal(busy, calm, wf_cc_dcqcn.size);
	}
	free(busy);
	free(calm);
}

static void test_lazy(void **state)
{
	struct wf_cc_dcqcn_param p;

	(void)state;
	for (uint64_t seed = 0; seed < 3; seed++) {
		defaults(&p);
		lazy(&p, seed);
		p.rpg_byte_reset = 32767;
		p.rpg_ai_rate = 7777777;
		p.rpg_hai_rate = 33333333;
		lazy(&p, seed);
		by_timers(&p);
		lazy(&p, seed);
	}
}

/* Tick by tick for a long time is the same as once; hours and months cost nothing. */
static void test_idle(void **state)
{
	struct wf_cc_dcqcn_param p;
	struct wf_cc *a, *b;

	(void)state;
	by_timers(&p);
	p.rpg_ai_rate = p.rpg_hai_rate = 1000001; /* 100,000 ticks to the line rate */
	a = make(&p);
	b = make(&p);
	for (int i = 0; i < 200; i++) {
		cnp(a, i * 5 * WF_US);
		cnp(b, i * 5 * WF_US);
	}
	for (wf_time now = WF_MS; now < 45 * WF_S; now += 299 * WF_US)
		look(a, now);
	a->ops->on_timer(a, 45 * WF_S);
	b->ops->on_timer(b, 45 * WF_S);
	assert_int_equal(a->rate, LINE);
	assert_memory_equal(a, b, wf_cc_dcqcn.size);
	for (int i = 0; i < 100000; i++)
		cnp(a, 45 * WF_S + (wf_time)i * 80 * WF_S);
	assert_in_range(a->rate, p.rpg_min_rate, LINE);
	free(a);
	free(b);
}

/* ---- whole flows ---- */

/* Two and sixteen flows, with what is published for 40 Gb/s and what is deployed at 100 Gb/s. */
static void test_convergence(void **state)
{
	static const struct {
		uint32_t flows;
		uint64_t line, kmin, kmax, pmax;
		wf_time measure, end;
	} row[] = {
		{ 2, 40 * G, 5000, 200000, WF_PROB_ONE / 100, 50 * WF_MS, 150 * WF_MS },
		{ 16, 40 * G, 5000, 200000, WF_PROB_ONE / 100, 50 * WF_MS, 150 * WF_MS },
		{ 2, 100 * G, 100000, 400000, WF_PROB_ONE / 5, 30 * WF_MS, 80 * WF_MS },
		{ 16, 100 * G, 100000, 400000, WF_PROB_ONE / 5, 30 * WF_MS, 80 * WF_MS },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct bottleneck b = {
			.ops = &wf_cc_dcqcn,
			.flows = row[i].flows,
			.line = row[i].line,
			.rtt = 8 * WF_US,
			.stagger = WF_MS,
			.kmin = row[i].kmin,
			.kmax = row[i].kmax,
			.pmax = row[i].pmax,
			.cnp_interval = 50 * WF_US,
			.measure = row[i].measure,
			.end = row[i].end,
		};

		bn_run(&b);
		assert_true(bn_jain(&b) > 950);
		assert_true(bn_used(&b) >= 90);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paper_steps),
		cmocka_unit_test(test_paper_alpha),
		cmocka_unit_test(test_clamp),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_monitor_and_release),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_timer_variant),
		cmocka_unit_test(test_lazy),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_convergence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
