/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of cc/swift.c: the target, increase and decrease, pacing below a packet, whole flows.
 */
#include "check.h"

#include <math.h>

#include "cc/bottleneck.h"

#define G UINT64_C(1000000000)
#define LINE (100 * G)
#define MTU 4096

static void defaults(struct wf_cc_swift_param *p)
{
	struct wf_err err;

	assert_int_equal(wf_param_defaults(wf_cc_swift.params, wf_cc_swift.n_params, p, &err), 0);
}

static struct wf_cc *make(const struct wf_cc_swift_param *p)
{
	struct wf_cc *cc = calloc(1, wf_cc_swift.size);

	assert_non_null(cc);
	wf_cc_init(cc, &wf_cc_swift, p, LINE, 0);
	return cc;
}

static void ack(struct wf_cc *cc, wf_time rtt, wf_time now)
{
	struct wf_cc_ack a = { .now = now, .rtt = rtt, .bytes = MTU };

	cc->ops->on_ack(cc, &a);
}

/* From the largest window, 10 packets here: packets of window after an acknowledgement. */
static void test_steps(void **state)
{
	struct wf_cc_swift_param p;
	double cwnd = 10;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.max_cwnd = 10 * WF_RATIO_ONE;
	p.fs_range = 0; /* the target is 28 us */
	cc = make(&p);
	assert_int_equal(cc->window, 10 * MTU);
	assert_int_equal(cc->gap, 0);
	ack(cc, 27 * WF_US, WF_US);
	assert_int_equal(cc->window, 10 * MTU); /* not beyond the largest */
	ack(cc, 35 * WF_US, 2 * WF_US);         /* 1 - 0.8 * 7 / 35 */
	cwnd *= 1 - 0.8 * 7 / 35;
	assert_in_range(cc->window, (uint64_t)(cwnd * MTU) - 1, (uint64_t)(cwnd * MTU));
	ack(cc, 300 * WF_US, 3 * WF_US); /* within an RTT of it */
	assert_in_range(cc->window, (uint64_t)(cwnd * MTU) - 1, (uint64_t)(cwnd * MTU));
	ack(cc, 300 * WF_US, 303 * WF_US); /* half at most */
	cwnd /= 2;
	assert_in_range(cc->window, (uint64_t)(cwnd * MTU) - 1, (uint64_t)(cwnd * MTU));
	for (int i = 0; i < 20; i++) {
		ack(cc, 20 * WF_US, 400 * WF_US + i);
		cwnd += 1 / cwnd;
		assert_in_range(cc->window, (uint64_t)(cwnd * MTU) - 2, (uint64_t)(cwnd * MTU) + 2);
	}
	free(cc);
}

/* At which RTT the window of so many packets begins to fall. */
static wf_time target_of(const struct wf_cc_swift_param *p, uint32_t hops)
{
	wf_time low = WF_US, high = WF_MS;

	while (high - low > 10 * WF_NS) {
		wf_time mid = (low + high) / 2;
		struct wf_cc_int t = { .hops = hops };
		struct wf_cc *cc = make(p);
		uint64_t before = cc->window;
		struct wf_cc_ack a = { .now = 1, .rtt = mid, .bytes = MTU, .telemetry = &t };

		cc->ops->on_ack(cc, &a);
		if (cc->window < before)
			high = mid;
		else
			low = mid;
		free(cc);
	}
	return low;
}

static void test_target(void **state)
{
	static const struct {
		uint32_t hops; /* 0: the setting counts */
		uint32_t cwnd; /* packets */
	} row[] = { { 0, 4 }, { 1, 4 }, { 6, 4 }, { 3, 16 }, { 3, 50 }, { 3, 99 }, { 3, 200 } };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		double low = 1 / sqrt(100), high = 1 / sqrt(0.1), want;
		struct wf_cc_swift_param p;
		wf_time got;

		defaults(&p);
		p.fs_range = 50 * WF_US;
		p.max_cwnd = row[i].cwnd * WF_RATIO_ONE;
		got = target_of(&p, row[i].hops);
		want = fmax(0, (1 / sqrt(row[i].cwnd) - low) / (high - low)) * 50;
		want += 25 + (row[i].hops == 0 ? 3 : row[i].hops);
		assert_true(fabs((double)got / 1e6 - want) < 0.02);
	}
}

/* Below a packet: one every RTT / window. It grows by ai for each packet, not ai / window. */
static void test_pacing(void **state)
{
	struct wf_cc_swift_param p;
	struct wf_cc *cc;
	double cwnd = 1;

	(void)state;
	defaults(&p);
	p.max_cwnd = WF_RATIO_ONE;
	p.fs_range = 0;
	p.ai = WF_RATIO_ONE / 4;
	p.min_cwnd = WF_RATIO_ONE / 64;
	cc = make(&p);
	for (int i = 1; i <= 8; i++) {
		double rate;

		ack(cc, 400 * WF_US, i * WF_MS);
		cwnd = fmax(cwnd / 2, 1. / 64);
		rate = MTU * 8 * cwnd / 400e-6;
		assert_int_equal(cc->window, MTU);
		assert_true(fabs((double)cc->rate / rate - 1) < 1e-5);
		assert_true(cc->gap != 0);
	}
	ack(cc, 20 * WF_US, WF_S);
	ack(cc, 20 * WF_US, WF_S);
	assert_true(fabs((double)cc->rate / (MTU * 8 * (cwnd + 0.5) / 20e-6) - 1) < 1e-5);
	free(cc);
}

/* A packet without a time took as long as the one before: below the target the window grows. */
static void test_no_time(void **state)
{
	struct wf_cc_swift_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.max_cwnd = 64 * WF_RATIO_ONE;
	cc = make(&p);
	cc->ops->on_loss(cc, WF_CC_LOSS_NAK, WF_MS);
	ack(cc, 5 * WF_US, WF_MS);
	for (int i = 0; i < 128; i++)
		ack(cc, 0, 2 * WF_MS);
	assert_true(cc->window > 33 * MTU);
	free(cc);
}

static void test_loss(void **state)
{
	struct wf_cc_swift_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.max_cwnd = 64 * WF_RATIO_ONE;
	cc = make(&p);
	cc->ops->on_loss(cc, WF_CC_LOSS_NAK, WF_MS);
	assert_int_equal(cc->window, 32 * MTU);
	cc->ops->on_loss(cc, WF_CC_LOSS_NAK, WF_MS + WF_US); /* the same RTT */
	assert_int_equal(cc->window, 32 * MTU);
	for (int i = 2; i <= 5; i++)
		cc->ops->on_loss(cc, WF_CC_LOSS_TIMEOUT, i * WF_MS);
	assert_int_equal(cc->window, 2 * MTU);
	cc->ops->on_loss(cc, WF_CC_LOSS_TIMEOUT, 6 * WF_MS); /* the fifth */
	assert_int_equal(cc->window, MTU);
	assert_in_range(cc->rate, 1, G);
	free(cc);
}

static void test_convergence(void **state)
{
	static const uint32_t flows[] = { 2, 16 };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(flows); i++) {
		struct bottleneck b = {
			.ops = &wf_cc_swift,
			.flows = flows[i],
			.line = LINE,
			.rtt = 10 * WF_US,
			.stagger = 100 * WF_US,
			.kmin = UINT64_MAX,
			.measure = 20 * WF_MS,
			.end = 40 * WF_MS,
		};

		bn_run(&b);
		assert_true(bn_jain(&b) > 950);
		assert_true(bn_used(&b) >= 95);
		/* The target: 25 us, a hop, and flow scaling. */
		assert_true(bn_mean_queue(&b) < bn_bytes(&b, 30 * WF_US));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),  cmocka_unit_test(test_target),
		cmocka_unit_test(test_pacing), cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_loss),   cmocka_unit_test(test_convergence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
