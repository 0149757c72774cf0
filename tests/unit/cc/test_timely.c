/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of cc/timely.c: each branch of the update, against floating point, and whole flows. */
#include "check.h"

#include <math.h>

#include "cc/bottleneck.h"

#define G UINT64_C(1000000000)
#define M UINT64_C(1000000)
#define LINE (100 * G)

static void defaults(struct wf_cc_timely_param *p)
{
	struct wf_err err;

	assert_int_equal(wf_param_defaults(wf_cc_timely.params, wf_cc_timely.n_params, p, &err), 0);
	p->segment = 0;
	p->ai_rate = 100 * M;
	p->hai_rate = 500 * M;
	p->min_rate = G;
}

static struct wf_cc *make(const struct wf_cc_timely_param *p)
{
	struct wf_cc *cc = calloc(1, wf_cc_timely.size);

	assert_non_null(cc);
	wf_cc_init(cc, &wf_cc_timely, p, LINE, 0);
	return cc;
}

static void ack(struct wf_cc *cc, wf_time rtt, uint64_t inflight)
{
	struct wf_cc_ack a = { .rtt = rtt, .bytes = 1000, .inflight = inflight };

	cc->ops->on_ack(cc, &a);
}

/* RTTs one after the other, each a window of its own, and the rates they lead to. */
static void test_steps(void **state)
{
	static const struct {
		wf_time us;
		uint64_t rate;
	} row[] = {
		{ 100, 100 * G },  /* the first is only kept */
		{ 110, 65 * G },   /* gradient 8.75 / 20 = 0.4375: 1 - 0.8 * 0.4375 */
		{ 90, 65100 * M }, /* falls */
		{ 40, 65200 * M }, /* below t_low */
		{ 40, 65300 * M },   { 40, 65400 * M },
		{ 40, 65500 * M },   { 40, 66000 * M }, /* the sixth in a row: hyper */
		{ 1000, 39600 * M }, /* above t_high: 1 - 0.8 * (1 - 500 / 1000) */
		{ 499, 39700 * M },  /* between, falling */
	};
	struct wf_cc_timely_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	cc = make(&p);
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		ack(cc, row[i].us * WF_US, 0);
		assert_in_range(cc->rate, row[i].rate - 100, row[i].rate + 100);
	}
	ack(cc, 0, 0); /* not known */
	assert_in_range(cc->rate, 39700 * M - 100, 39700 * M + 100);
	free(cc);
}

/*
 * After a rise the RTT stays: the gradient fades, but is never nothing, so the rate does not grow.
 */
static void test_sign(void **state)
{
	struct wf_cc_timely_param p;
	struct wf_cc *cc;
	uint64_t rate;

	(void)state;
	defaults(&p);
	cc = make(&p);
	ack(cc, 100 * WF_US, 0);
	ack(cc, 101 * WF_US, 0);
	for (int i = 0; i < 1000; i++) {
		rate = cc->rate;
		ack(cc, 101 * WF_US, 0);
		assert_true(cc->rate <= rate);
	}
	assert_in_range(cc->rate, 90 * G, 97 * G);
	free(cc);
}

/* Once an RTT, or once a segment. */
static void test_when(void **state)
{
	struct wf_cc_timely_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.window = 100000;
	p.window_scales = true;
	cc = make(&p);
	ack(cc, 600 * WF_US, 5000);
	for (int i = 0; i < 5; i++) {
		ack(cc, 600 * WF_US, 5000);
		assert_int_equal(cc->rate, LINE);
		assert_int_equal(cc->window, 100000);
	}
	ack(cc, 1000 * WF_US, 5000);
	assert_in_range(cc->rate, 60 * G - 100, 60 * G + 100);
	assert_in_range(cc->window, 59999, 60000);
	free(cc);
	p.segment = 3000;
	cc = make(&p);
	for (int i = 0; i < 4; i++) {
		ack(cc, 1000 * WF_US, 50000);
		assert_int_equal(cc->rate, LINE);
	}
	ack(cc, 1000 * WF_US, 50000);
	assert_in_range(cc->rate, 60 * G - 100, 60 * G + 100);
	free(cc);
}

/* Random RTTs against the same in floating point. */
static void test_formulas(void **state)
{
	struct wf_cc_timely_param p;

	(void)state;
	defaults(&p);
	for (uint64_t seed = 0; seed < 5; seed++) {
		struct wf_cc *cc = make(&p);
		double rate = (double)LINE, diff = 0, last = 0;
		uint32_t rising = 0;

		for (uint64_t i = 0; i < 5000; i++) {
			uint64_t r = wf_rand64(seed, i);
			wf_time rtt = r % 50 == 0 ? 600 * WF_US : 20 * WF_US + (wf_time)(r >> 46);
			double c = 2, t = (double)rtt;

			ack(cc, rtt, 0);
			if (i != 0) {
				diff = diff * 0.125 + (t - last) * 0.875;
				if (rtt > 500 * WF_US)
					c = 1 - 0.8 * (1 - 5e8 / t);
				else if (rtt >= 50 * WF_US && diff > 0)
					c = fmax(0, 1 - 0.8 * diff / 2e7);
				if (c > 1)
					rate = fmin(rate + (rising++ < 5 ? 1e8 : 5e8),
					            (double)LINE);
				else
					rate = fmax(rate * c, 1e9);
				if (c <= 1)
					rising = 0;
			}
			last = t;
			assert_true(fabs((double)cc->rate / rate - 1) < 1e-7);
		}
		free(cc);
	}
}

/* One flow fills the link; two keep it full within t_high. Fairness is not TIMELY's to promise. */
static void test_flows(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 2; n++) {
		struct bottleneck b = {
			.ops = &wf_cc_timely,
			.flows = n,
			.line = LINE,
			.rtt = 20 * WF_US,
			.stagger = 100 * WF_US,
			.kmin = UINT64_MAX,
			.measure = 20 * WF_MS,
			.end = 60 * WF_MS,
		};

		bn_run(&b);
		assert_true(bn_used(&b) >= 90);
		assert_true(b.q_max < bn_bytes(&b, 500 * WF_US));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps), cmocka_unit_test(test_sign),
		cmocka_unit_test(test_when),  cmocka_unit_test(test_formulas),
		cmocka_unit_test(test_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
