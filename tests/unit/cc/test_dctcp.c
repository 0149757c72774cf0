/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of cc/dctcp.c: windows of marks step by step, against floating point, whole flows. */
#include "check.h"

#include <math.h>

#include "cc/bottleneck.h"

#define G UINT64_C(1000000000)
#define M UINT64_C(1000000)
#define LINE (100 * G)

static void defaults(struct wf_cc_dctcp_param *p)
{
	struct wf_err err;

	assert_int_equal(wf_param_defaults(wf_cc_dctcp.params, wf_cc_dctcp.n_params, p, &err), 0);
	p->mtu = 1000;
	p->window = 104000;
}

static void by_rate(struct wf_cc_dctcp_param *p)
{
	defaults(p);
	strcpy(p->mode, "rate");
	p->count_acks = true;
	p->loss_reacts = false;
	p->rate_ai = 615 * M;
	p->min_rate = G;
}

static struct wf_cc *make(const struct wf_cc_dctcp_param *p)
{
	struct wf_cc *cc = calloc(1, wf_cc_dctcp.size);

	assert_non_null(cc);
	wf_cc_init(cc, &wf_cc_dctcp, p, LINE, 0);
	return cc;
}

static void ack(struct wf_cc *cc, bool ecn, uint64_t inflight)
{
	struct wf_cc_ack a = { .bytes = 1000, .inflight = inflight, .ecn = ecn };

	cc->ops->on_ack(cc, &a);
}

/* Window: alpha falls without marks, a mark cuts once a window, then one packet more an RTT. */
static void test_window(void **state)
{
	struct wf_cc_dctcp_param p;
	struct wf_cc *cc;
	double alpha = 1;
	uint64_t size;

	(void)state;
	defaults(&p);
	cc = make(&p);
	assert_int_equal(cc->window, 104000);
	assert_int_equal(cc->gap, 0);
	assert_int_equal(cc->rate, LINE);
	ack(cc, false, 0); /* each acknowledgement is a window */
	assert_int_equal(cc->window, 105000);
	for (int i = 0; i < 10; i++) {
		ack(cc, false, 0);
		alpha *= 15. / 16;
	}
	size = cc->window;
	assert_int_equal(size, 115000);
	ack(cc, true, 5000); /* this window was marked in full */
	alpha = alpha * 15 / 16 + 1. / 16;
	assert_in_range(cc->window, (uint64_t)((double)size * (1 - alpha / 2)) - 1,
	                (uint64_t)((double)size * (1 - alpha / 2)) + 1);
	size = cc->window;
	for (int i = 0; i < 5; i++) { /* still the same window: no second cut, no increase */
		ack(cc, true, 5000);
		assert_int_equal(cc->window, size);
	}
	ack(cc, false, 5000);
	assert_int_equal(cc->window, size + 1000);
	cc->ops->on_loss(cc, WF_CC_LOSS_NAK, 0);
	assert_in_range(cc->window, (size + 1000) / 2 - 1, (size + 1000) / 2 + 1);
	cc->ops->on_loss(cc, WF_CC_LOSS_TIMEOUT, 0);
	assert_int_equal(cc->window, 1000);
	free(cc);
}

static void test_slow_start(void **state)
{
	struct wf_cc_dctcp_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.window = 10000;
	p.window_max = 50000;
	p.slow_start = true;
	cc = make(&p);
	for (int i = 1; i <= 10; i++) {
		ack(cc, false, 10000);
		assert_int_equal(cc->window, 10000 + i * 1000);
	}
	for (int i = 0; i < 100; i++)
		ack(cc, false, 10000);
	assert_int_equal(cc->window, 50000);
	ack(cc, true, 10000);
	assert_in_range(cc->window, 25000, 50000);
	free(cc);
}

/* Rate: the same as in floating point, acknowledgement by acknowledgement. */
static void test_rate(void **state)
{
	struct wf_cc_dctcp_param p;

	(void)state;
	by_rate(&p);
	for (uint64_t seed = 0; seed < 5; seed++) {
		uint64_t acked = 0, update = 0, recover = 0;
		double rate = (double)LINE, alpha = 1, marks = 0, batch = 0;
		struct wf_cc *cc = make(&p);
		bool cut = false;

		for (uint64_t i = 0; i < 20000; i++) {
			uint64_t r = wf_rand64(seed, i);
			uint64_t inflight = (r >> 32) % 100 * 1000;
			bool ecn = r % 1000 < (i / 1000 % 2 == 0 ? 5 : 300), done;

			ack(cc, ecn, inflight);
			acked += 1000;
			marks += ecn;
			done = acked > update;
			if (done && update != 0) {
				alpha = alpha * 15 / 16 + fmin(1, marks / batch) / 16;
				marks = 0;
			}
			if (done) {
				batch = (double)((update == 0 ? acked + inflight : inflight) /
				                         1000 +
				                 1);
				update = acked + inflight;
			}
			if (cut && acked > recover)
				cut = false;
			if (ecn && !cut) {
				rate = fmax(rate * (1 - alpha / 2), 1e9);
				cut = true;
				recover = acked + inflight;
			}
			if (!cut && done)
				rate = fmin(rate + 615e6, (double)LINE);
			assert_true(fabs((double)cc->rate / rate - 1) < 1e-7);
			assert_int_equal(cc->window, (wf_u128)104000 * cc->rate / LINE);
		}
		cc->ops->on_loss(cc, WF_CC_LOSS_TIMEOUT, 0);
		assert_true(fabs((double)cc->rate / rate - 1) < 1e-7);
		free(cc);
	}
}

static void test_convergence(void **state)
{
	static const struct {
		uint32_t flows;
		const char *mode;
	} row[] = { { 2, "window" }, { 16, "window" }, { 2, "rate" }, { 16, "rate" } };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_cc_dctcp_param p;
		struct wf_err err;
		struct bottleneck b = {
			.ops = &wf_cc_dctcp,
			.param = &p,
			.flows = row[i].flows,
			.line = LINE,
			.rtt = 8 * WF_US,
			.stagger = 100 * WF_US,
			.kmin = 65000,
			.kmax = 65001,
			.pmax = WF_PROB_ONE,
			.measure = 10 * WF_MS,
			.end = 30 * WF_MS,
		};

		assert_int_equal(
			wf_param_defaults(wf_cc_dctcp.params, wf_cc_dctcp.n_params, &p, &err), 0);
		strcpy(p.mode, row[i].mode);
		p.window_slack = 4095;
		bn_run(&b);
		assert_true(bn_jain(&b) > 950);
		assert_true(bn_used(&b) >= 95);
		assert_true(b.q_max < 300000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_slow_start),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_convergence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
