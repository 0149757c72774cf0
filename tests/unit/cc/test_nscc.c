/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of cc/nscc.c: the four quadrants, fulfil, quick adapt, bounds, whole flows. */
#include "check.h"

#include <math.h>

#include "cc/bottleneck.h"

#define G UINT64_C(1000000000)
#define LINE (100 * G)
#define MTU 4096
#define BASE (12 * WF_US)
#define TARGET (9 * WF_US)

/* The reference network: 100 Gb/s and 12 us, where no constant is scaled. */
static void defaults(struct wf_cc_nscc_param *p)
{
	struct wf_err err;

	assert_int_equal(wf_param_defaults(wf_cc_nscc.params, wf_cc_nscc.n_params, p, &err), 0);
	p->base_rtt = BASE;
	p->window = 100000;
}

static struct wf_cc *make(const struct wf_cc_nscc_param *p)
{
	struct wf_cc *cc = calloc(1, wf_cc_nscc.size);

	assert_non_null(cc);
	wf_cc_init(cc, &wf_cc_nscc, p, LINE, 0);
	return cc;
}

static void ack(struct wf_cc *cc, wf_time delay, bool ecn, wf_time now)
{
	struct wf_cc_ack a = {
		.now = now, .rtt = BASE + delay, .bytes = MTU, .inflight = 50000, .ecn = ecn
	};

	cc->ops->on_ack(cc, &a);
}

/* What nine acknowledgements within a microsecond change: the ninth fulfils. */
static void test_quadrants(void **state)
{
	static const struct {
		wf_time delay;
		bool ecn;
		double more; /* bytes * bytes / window */
	} row[] = {
		/* 4 packets * 9/12 (target / reference RTT) * (target - delay) / target */
		{ 3 * WF_US, false, 4 * 0.75 * 2 / 3. * MTU * 9 * MTU / 100000. },
		{ 6 * WF_US, false, 4 * 0.75 * 1 / 3. * MTU * 9 * MTU / 100000. },
		{ 9 * WF_US, false, 5. * MTU * 9 * MTU / 100000. }, /* fair */
		{ 20 * WF_US, false, 5. * MTU * 9 * MTU / 100000. },
		{ 3 * WF_US, true, 0 },  /* the path's trouble */
		{ 20 * WF_US, true, 0 }, /* the average delay is still small */
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_cc_nscc_param p;
		struct wf_cc *cc;

		defaults(&p);
		p.quick_adapt = false;
		cc = make(&p);
		assert_int_equal(cc->window, 100000);
		for (int k = 0; k < 9; k++) {
			assert_int_equal(cc->window, 100000);
			ack(cc, row[i].delay, row[i].ecn, k * WF_NS);
		}
		assert_true(fabs((double)cc->window - 100000 - row[i].more) < 2);
		free(cc);
	}
}

/* A window of hardly any delay: a quarter of each packet at once. And eta every RTT. */
static void test_fast(void **state)
{
	struct wf_cc_nscc_param p;
	uint64_t before;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.quick_adapt = false;
	p.prop = 0;
	p.eta = 0;
	cc = make(&p);
	for (int k = 0; k < 24; k++)
		ack(cc, 0, false, k * WF_NS);
	assert_int_equal(cc->window, 100000);
	for (int k = 1; k <= 5; k++) {
		ack(cc, 0, false, 100 * WF_NS);
		assert_int_equal(cc->window, 100000 + k * MTU / 4);
	}
	ack(cc, 2 * WF_US, false, 100 * WF_NS); /* over */
	before = cc->window;
	ack(cc, 0, false, 100 * WF_NS);
	assert_int_equal(cc->window, before);
	for (int k = 0; k < 1000; k++)
		ack(cc, 0, false, 200 * WF_NS);
	assert_int_equal(cc->window, 225000); /* 1.5 bandwidth-delay products */
	free(cc);
	p.eta = WF_RATIO_ONE;
	cc = make(&p);
	ack(cc, TARGET / 2, false, 13 * WF_US);
	assert_int_equal(cc->window, 100000 + MTU);
	ack(cc, TARGET / 2, false, 24 * WF_US);
	assert_int_equal(cc->window, 100000 + MTU);
	ack(cc, TARGET / 2, false, 25 * WF_US);
	assert_int_equal(cc->window, 100000 + 2 * MTU);
	free(cc);
}

/* The average must be above the target; then once an RTT. */
static void test_decrease(void **state)
{
	struct wf_cc_nscc_param p;
	double avg = 0, cwnd = 100000;
	struct wf_cc *cc;
	wf_time last = 0;

	(void)state;
	defaults(&p);
	p.quick_adapt = false;
	p.eta = 0;
	cc = make(&p);
	for (int k = 1; k < 400; k++) {
		wf_time now = k * WF_US;

		avg += (20 - avg) * 0.0125;
		if (avg > 9 && now - last > BASE) {
			cwnd *= fmax(1 - 0.8 * (avg - 9) / avg, 0.5);
			cwnd = fmax(cwnd, MTU);
			last = now;
		}
		ack(cc, 20 * WF_US, true, now);
		assert_true(fabs((double)cc->window - cwnd) < 20);
	}
	assert_true(cwnd < 10000);
	free(cc);
}

/* After a loss the window is what got through since the last look; then it ignores the flight. */
static void test_quick_adapt(void **state)
{
	struct wf_cc_nscc_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.eta = 0;
	cc = make(&p);
	ack(cc, 5 * WF_US, true, WF_US); /* the first look ends at 22 us */
	for (int k = 2; k < 6; k++)
		ack(cc, 5 * WF_US, true, k * WF_US);
	cc->ops->on_loss(cc, WF_CC_LOSS_NAK, 10 * WF_US);
	assert_int_equal(cc->window, 100000 - MTU); /* not yet time: the packet only */
	ack(cc, 5 * WF_US, true, 23 * WF_US);
	assert_int_equal(cc->window, 5 * MTU); /* what got through since */
	for (int k = 24; k < 36; k++)
		ack(cc, 50 * WF_US, true, k * WF_US);
	assert_int_equal(cc->window, 5 * MTU); /* 50,000 bytes are ignored */
	for (int k = 1; k < 100; k++) {
		cc->ops->on_loss(cc, WF_CC_LOSS_TIMEOUT, WF_MS * k);
		assert_in_range(cc->window, MTU, 225000);
	}
	assert_int_equal(cc->window, MTU);
	free(cc);
}

/* A smaller RTT than was thought: the largest window shrinks. */
static void test_base(void **state)
{
	struct wf_cc_ack a = { .now = 1, .rtt = 4 * WF_US, .bytes = MTU };
	struct wf_cc_nscc_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.window = WF_PARAM_AUTO;
	cc = make(&p);
	assert_int_equal(cc->window, 225000);
	cc->ops->on_ack(cc, &a);
	assert_int_equal(cc->window, 75000);
	free(cc);
}

/*
 * Packets that were sent again after a timeout have no time; the window grows from one packet all
 * the same.
 */
static void test_no_time(void **state)
{
	struct wf_cc_ack a = { .bytes = MTU, .inflight = MTU };
	struct wf_cc_nscc_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.window = MTU;
	cc = make(&p);
	for (int i = 1; i <= 20; i++) {
		a.now = i * BASE;
		cc->ops->on_ack(cc, &a);
	}
	assert_true(cc->window > 4 * MTU);
	free(cc);
}

static void test_flows(void **state)
{
	static const uint32_t flows[] = { 2, 16 };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(flows); i++) {
		struct wf_cc_nscc_param p;
		struct bottleneck b = {
			.ops = &wf_cc_nscc,
			.param = &p,
			.flows = flows[i],
			.line = LINE,
			.rtt = BASE - 400 * WF_NS,
			.kmin = 30000,
			.kmax = 120000,
			.pmax = WF_PROB_ONE,
			.measure = 5 * WF_MS,
			.end = 60 * WF_MS,
		};

		defaults(&p);
		p.window = WF_PARAM_AUTO;
		bn_run(&b);
		assert_true(bn_jain(&b) > 900);
		assert_true(bn_used(&b) >= 90);
		assert_true(bn_mean_queue(&b) < 250000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quadrants), cmocka_unit_test(test_fast),
		cmocka_unit_test(test_decrease),  cmocka_unit_test(test_quick_adapt),
		cmocka_unit_test(test_base),      cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
