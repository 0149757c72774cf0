/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of cc/hpcc.c: against the formulas in floating point, and whole flows. */
#include "check.h"

#include <math.h>

#include "cc/bottleneck.h"

#define G UINT64_C(1000000000)
#define M UINT64_C(1000000)
#define LINE (100 * G)
#define RTT (8320 * WF_NS)
#define WINDOW 104000

static void defaults(struct wf_cc_hpcc_param *p)
{
	struct wf_err err;

	assert_int_equal(wf_param_defaults(wf_cc_hpcc.params, wf_cc_hpcc.n_params, p, &err), 0);
	p->base_rtt = RTT;
	p->window = WINDOW;
	p->rate_ai = 50 * M;
	p->min_rate = G;
	p->max_stage = 0;
}

static struct wf_cc *make(const struct wf_cc_hpcc_param *p)
{
	struct wf_cc *cc = calloc(1, wf_cc_hpcc.size);

	assert_non_null(cc);
	wf_cc_init(cc, &wf_cc_hpcc, p, LINE, 0);
	return cc;
}

/* ---- against the formulas ---- */

struct model {
	double u, rate, ref;
	uint64_t acked, update;
	uint32_t stage;
	struct wf_cc_hop hop[WF_CC_HOPS];
};

static double hop_use(const struct wf_cc_hop *old, const struct wf_cc_hop *x, double *dt_p)
{
	double t0 = (double)old->at / 1000, t1 = (double)x->at / 1000; /* ns */
	double b0 = (double)old->tx_bytes, b1 = (double)x->tx_bytes;
	double q0 = (double)old->queued, q1 = (double)x->queued;

	*dt_p = t1 - t0;
	return (b1 - b0) * 8e9 / *dt_p / (double)x->rate +
	       fmin(q0, q1) * (double)LINE / (double)x->rate / WINDOW;
}

static void model_ack(struct model *m, const struct wf_cc_hpcc_param *p,
                      const struct wf_cc_ack *ack)
{
	double most = 0, at = 0, rtt = (double)RTT / 1000, c, rate;
	uint64_t next = (m->acked += ack->bytes) + ack->inflight;
	bool full = m->acked > m->update;

	if (m->update == 0) {
		m->update = next;
		memcpy(m->hop, ack->telemetry->hop, sizeof(m->hop));
		return;
	}
	if (!full && !p->fast_react)
		return;
	for (uint32_t i = 0; i < ack->telemetry->hops; i++) {
		double dt, u = hop_use(&m->hop[i], &ack->telemetry->hop[i], &dt);

		if (u > most) {
			most = u;
			at = dt;
		}
		m->hop[i] = ack->telemetry->hop[i];
	}
	at = fmin(at, rtt);
	m->u = (m->u * (rtt - at) + most * at) / rtt;
	c = m->u / 0.95;
	if (c >= 1 || m->stage >= p->max_stage)
		rate = m->ref / c + 50e6;
	else
		rate = m->ref + 50e6;
	rate = fmin(fmax(rate, 1e9), (double)LINE);
	m->rate = rate;
	if (full) {
		m->stage = c >= 1 || m->stage >= p->max_stage ? 0 : m->stage + 1;
		m->ref = rate;
		if (next > m->update)
			m->update = next;
	}
}

/* Bytes and queues of hops that are used by about what the flow sends, and a little more. */
static void next_hops(struct wf_cc_int *t, uint64_t r, wf_time now)
{
	for (uint32_t h = 0; h < t->hops; h++) {
		struct wf_cc_hop *x = &t->hop[h];
		uint64_t dt = (uint64_t)(now - x->at);
		uint64_t share = (r >> (6 * h)) % 128; /* of 128 */

		x->tx_bytes += dt / 1000 * (x->rate / G) / 8 * share / 128;
		x->at = now;
		x->queued = (r >> (5 * h)) % 4 == 0 ? (r >> (7 * h)) % 300000 : 0;
	}
}

static void against_model(const struct wf_cc_hpcc_param *p, uint64_t seed)
{
	static const uint64_t rates[] = { 100 * G, 400 * G, 200 * G, 400 * G, 100 * G };
	struct model m = { .u = 1, .rate = (double)LINE, .ref = (double)LINE };
	struct wf_cc_int t = { .hops = 5 };
	struct wf_cc *cc = make(p);
	uint64_t key = wf_rand_key(seed, 1, 0);
	wf_time now = WF_MS;

	for (uint32_t h = 0; h < t.hops; h++)
		t.hop[h] = (struct wf_cc_hop){ .at = now, .rate = rates[h], .tx_bytes = 12345 * h };
	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t r = wf_rand64(key, i);
		struct wf_cc_ack ack = {
			.bytes = 1000,
			.inflight = (r >> 40) % 100 * 1000,
			.telemetry = &t,
		};

		now += r % 300 == 0 ? 20 * WF_US : 80 * WF_NS + (wf_time)(r >> 44) % WF_US;
		next_hops(&t, r, now);
		ack.now = now;
		model_ack(&m, p, &ack);
		cc->ops->on_ack(cc, &ack);
		assert_true(fabs((double)cc->rate / m.rate - 1) < 1e-7);
		assert_int_equal(cc->window, (wf_u128)WINDOW * cc->rate / LINE + p->window_slack);
	}
	free(cc);
}

static void test_formulas(void **state)
{
	struct wf_cc_hpcc_param p;

	(void)state;
	for (uint64_t seed = 0; seed < 3; seed++) {
		defaults(&p);
		against_model(&p, seed);
		p.max_stage = 5;
		against_model(&p, seed);
		p.fast_react = false;
		against_model(&p, seed);
		defaults(&p);
		p.window_slack = 999;
		against_model(&p, seed);
	}
}

/* ---- single steps ---- */

static void ack_hop(struct wf_cc *cc, struct wf_cc_int *t, wf_time now, uint64_t inflight)
{
	struct wf_cc_ack ack = { .now = now, .bytes = 1000, .inflight = inflight, .telemetry = t };

	t->hop[0].at = now;
	cc->ops->on_ack(cc, &ack);
}

static void test_steps(void **state)
{
	struct wf_cc_int t = { .hops = 1, .hop = { { .rate = LINE } } };
	struct wf_cc_hpcc_param p;
	struct wf_cc *cc;
	uint64_t rate;

	(void)state;
	defaults(&p);
	cc = make(&p);
	assert_int_equal(cc->rate, LINE);
	assert_int_equal(cc->window, WINDOW);
	assert_true(cc->repace);
	ack_hop(cc, &t, WF_US, 0); /* stored */
	assert_int_equal(cc->rate, LINE);
	/* A base RTT at exactly half of the port: as fast again, but not beyond the line. */
	t.hop[0].tx_bytes += WINDOW / 2;
	ack_hop(cc, &t, WF_US + RTT, 0);
	assert_int_equal(cc->rate, LINE);
	/* A full port and a queue of one window: u is 2. */
	t.hop[0].queued = WINDOW;
	t.hop[0].tx_bytes += WINDOW;
	ack_hop(cc, &t, WF_US + 2 * RTT, 0);
	t.hop[0].tx_bytes += WINDOW;
	ack_hop(cc, &t, WF_US + 3 * RTT, 0);
	rate = LINE / 100 * 95 + 50 * M; /* after the third, where the smaller queue was 0 */
	rate = rate / 2 / 100 * 95 + 50 * M;
	assert_in_range(cc->rate, rate - 100, rate + 100);
	/* No telemetry, a record that comes late: nothing. */
	rate = cc->rate;
	cc->ops->on_ack(cc, &(struct wf_cc_ack){ .now = WF_MS, .bytes = 1000 });
	ack_hop(cc, &t, WF_US, 0);
	assert_in_range(cc->rate, G, LINE);
	/* Another path is stored only. */
	rate = cc->rate;
	t.hops = 2;
	t.hop[1].rate = 4 * LINE;
	ack_hop(cc, &t, 2 * WF_MS, 0);
	t.hop[0].tx_bytes = 0;
	ack_hop(cc, &t, 3 * WF_MS, 0);
	assert_int_equal(cc->rate, rate);
	free(cc);
}

/* Hours between acknowledgements, and nonsense in the telemetry. */
static void test_extremes(void **state)
{
	struct wf_cc_int t = { .hops = 1, .hop = { { .rate = 1 } } };
	struct wf_cc_hpcc_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	cc = make(&p);
	for (int i = 1; i < 10000; i++) {
		t.hop[0].tx_bytes = i % 3 == 0 ? UINT64_MAX : (uint64_t)i << 40;
		t.hop[0].queued = UINT64_MAX >> (i % 64);
		t.hop[0].rate = UINT64_MAX >> (i / 100 % 64);
		t.hops = i % 500 == 0 ? UINT32_MAX : 1;
		ack_hop(cc, &t, i % 2 == 0 ? i * 600 * WF_S : (i - 1) * 600 * WF_S + i, 0);
		assert_in_range(cc->rate, G, LINE);
		assert_true(cc->window > 0);
	}
	free(cc);
}

/* ---- PINT ---- */

/* A utilisation that is all there is is taken as it is, on the share of ACKs that is asked for. */
static void test_pint(void **state)
{
	struct wf_cc_int t = { .use = 2 * WF_Q32_ONE };
	struct wf_cc_ack ack = { .now = 1, .bytes = 1000, .telemetry = &t };
	struct wf_cc_hpcc_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	cc = make(&p);
	cc->ops->on_ack(cc, &ack);
	cc->ops->on_ack(cc, &ack);
	assert_in_range(cc->rate, 47550 * M - 100, 47550 * M + 100);
	free(cc);
	p.pint_prob = 0;
	cc = make(&p);
	for (int i = 0; i < 100; i++)
		cc->ops->on_ack(cc, &ack);
	assert_int_equal(cc->rate, LINE);
	free(cc);
}

/* ---- whole flows ---- */

/* 16:1: after the first RTTs the queue is nearly empty, and the link nearly full. */
static void test_incast(void **state)
{
	struct wf_cc_hpcc_param p;
	struct wf_err err;
	struct bottleneck b = {
		.ops = &wf_cc_hpcc,
		.param = &p,
		.flows = 16,
		.line = LINE,
		.rtt = 8 * WF_US,
		.kmin = UINT64_MAX,
		.measure = 200 * WF_US,
		.end = 5 * WF_MS,
	};

	(void)state;
	assert_int_equal(wf_param_defaults(wf_cc_hpcc.params, wf_cc_hpcc.n_params, &p, &err), 0);
	bn_run(&b);
	assert_true(bn_mean_queue(&b) < 8000); /* two packets */
	assert_true(b.q_max < 60000);
	assert_true(bn_used(&b) >= 80);
}

static void test_fairness(void **state)
{
	static const uint32_t flows[] = { 2, 16 };
	struct wf_cc_hpcc_param p;
	struct wf_err err;

	(void)state;
	assert_int_equal(wf_param_defaults(wf_cc_hpcc.params, wf_cc_hpcc.n_params, &p, &err), 0);
	/* 16 flows share 500 KB; in 100 KB they would have a packet or two each. */
	p.base_rtt = 42 * WF_US;
	for (size_t i = 0; i < WF_ARRAY_SIZE(flows); i++) {
		struct bottleneck b = {
			.ops = &wf_cc_hpcc,
			.param = &p,
			.flows = flows[i],
			.line = LINE,
			.rtt = 40 * WF_US,
			.stagger = 50 * WF_US,
			.kmin = UINT64_MAX,
			.measure = 40 * WF_MS,
			.end = 60 * WF_MS,
		};

		bn_run(&b);
		assert_true(bn_jain(&b) > 950);
		assert_true(bn_mean_queue(&b) < 4200);
		assert_true(bn_used(&b) >= 90);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formulas), cmocka_unit_test(test_steps),
		cmocka_unit_test(test_extremes), cmocka_unit_test(test_pint),
		cmocka_unit_test(test_incast),   cmocka_unit_test(test_fairness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
