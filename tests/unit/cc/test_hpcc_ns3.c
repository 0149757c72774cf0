/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of cc/hpcc_ns3.c: what is decided by the last bit of a double, the header's widths, a
 * rate for each hop, and what happens without a window. That whole runs agree with the simulator is
 * for scripts/compare_ns3.py to say.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "cc/algs.h"
#include "cc/cc_priv.h"

#define G UINT64_C(1000000000)
#define M UINT64_C(1000000)
#define LINE (100 * G)
#define RTT 8320 /* ns */
#define WINDOW 104000

static struct wf_cc_hpcc_ns3_param defaults(void)
{
	struct wf_cc_hpcc_ns3_param p;
	struct wf_err err;

	assert_int_equal(
		wf_param_defaults(wf_cc_hpcc_ns3.params, wf_cc_hpcc_ns3.n_params, &p, &err), 0);
	p.base_rtt = RTT * WF_NS;
	p.window = WINDOW;
	p.rate_ai = 50 * M;
	p.min_rate = G;
	p.max_stage = 0;
	return p;
}

static struct wf_cc *make(const struct wf_cc_hpcc_ns3_param *p)
{
	struct wf_cc *cc = calloc(1, wf_cc_hpcc_ns3.size);

	assert_non_null(cc);
	wf_cc_init(cc, &wf_cc_hpcc_ns3, p, LINE, 0);
	return cc;
}

static void ack(struct wf_cc *cc, const struct wf_cc_int *t, uint64_t inflight)
{
	struct wf_cc_ack a = { .now = 1, .bytes = 1000, .inflight = inflight, .telemetry = t };

	cc->ops->on_ack(cc, &a);
}

/* Says that a hop was used for ns by bytes more. */
static void move(struct wf_cc_hop *hop, uint64_t ns, uint64_t bytes)
{
	hop->at += (wf_time)ns * WF_NS;
	hop->tx_bytes += bytes;
}

/* The rate after an update, from the utilisation, as the simulator has it. */
static uint64_t want(double u, uint64_t ref)
{
	return (uint64_t)((double)ref / (u / 0.95)) + 50 * M;
}

static void test_exact(void **state)
{
	struct wf_cc_int t = { .hops = 1, .hop = { { .rate = LINE } } };
	struct wf_cc_hpcc_ns3_param p = defaults();
	struct wf_cc *cc = make(&p);
	double u = 1, rate;

	(void)state;
	ack(cc, &t, 0);
	for (int i = 0; i < 200; i++) {
		/* 128 B a unit: what is less than one is not seen before the next. */
		move(&t.hop[0], 700 + (uint64_t)i, 128 * (77 + (uint64_t)i % 9));
		rate = (double)(128 * (77 + (uint64_t)i % 9) * 8) / ((double)(700 + i) * 1e-9);
		u = (u * (double)(RTT - 700 - i) + rate / 1e11 * (double)(700 + i)) / RTT;
		ack(cc, &t, 500000); /* a full update now and then */
		if (i == 0)
			assert_int_equal(cc->rate, wf_min_u64(want(u, LINE), LINE));
	}
	assert_in_range(cc->rate, G, LINE);
	assert_int_equal(cc->window, (wf_u128)WINDOW * cc->rate / LINE);
	free(cc);
}

/*
 * Two hops are used to the same degree, 10.24 Gb/s, over 100 and 200 ns; in doubles one of them is
 * more by a bit, and it is the one that counts, wherever it is on the path.
 */
static void test_tie(void **state)
{
	static const uint64_t ns[] = { 100, 200, 300, 600, 700, 1400 };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(ns); i += 2) {
		struct wf_cc_hpcc_ns3_param p = defaults();
		uint64_t rate[2];
		double u[2], all;
		unsigned busy;

		for (unsigned k = 0; k < 2; k++)
			u[k] = (double)(ns[i + k] / 100 * 128 * 8) / ((double)ns[i + k] * 1e-9) /
			       1e11;
		for (unsigned order = 0; order < 2; order++) {
			struct wf_cc_int t = { .hops = 2,
				               .hop = { { .rate = LINE }, { .rate = LINE } } };
			struct wf_cc *cc = make(&p);

			ack(cc, &t, 0);
			for (unsigned k = 0; k < 2; k++) {
				uint64_t dt = ns[i + (k ^ order)];

				move(&t.hop[k], dt, dt / 100 * 128);
			}
			ack(cc, &t, 0);
			/* The first of equals. */
			busy = u[order ^ 1] > u[order] ? order ^ 1 : order;
			all = (1. * (double)(RTT - ns[i + busy]) + u[busy] * (double)ns[i + busy]) /
			      RTT;
			rate[order] = wf_min_u64(want(all, LINE), LINE);
			assert_int_equal(cc->rate, rate[order]);
			free(cc);
		}
	}
}

/* 24 bits of ns and 20 of bytes wrap; a rate that the header does not know is 25 Gb/s. */
static void test_header(void **state)
{
	struct wf_cc_int t = { .hops = 1, .hop = { { .rate = LINE } } };
	struct wf_cc_hpcc_ns3_param p = defaults();
	struct wf_cc *cc = make(&p);
	uint64_t rate;

	(void)state;
	t.hop[0].at = ((1 << 24) - 100) * WF_NS;
	t.hop[0].tx_bytes = 128 * ((UINT64_C(1) << 20) - 10);
	ack(cc, &t, 0);
	move(&t.hop[0], RTT, (UINT64_C(128) << 20) + 128 * 1000); /* as many as 1000 units */
	ack(cc, &t, 0);
	rate = want(128000. * 8 / (RTT * 1e-9) / 1e11, LINE);
	assert_int_equal(cc->rate, rate); /* 77 Gb/s */
	free(cc);

	for (unsigned known = 0; known < 2; known++) {
		t.hop[0] = (struct wf_cc_hop){ .rate = known ? 25 * G : 40 * G };
		cc = make(&p);
		ack(cc, &t, 0);
		move(&t.hop[0], RTT, 128 * 203); /* 25 Gb/s, nearly */
		ack(cc, &t, 0);
		if (known)
			assert_int_equal(cc->rate, rate);
		rate = cc->rate;
		free(cc);
	}
	assert_in_range(rate, 94 * G, 97 * G);
}

/* A hop that was busy and is not any more still bounds the rate, if each has its own. */
static void test_multi_rate(void **state)
{
	(void)state;
	for (unsigned multi = 0; multi < 2; multi++) {
		struct wf_cc_int t = { .hops = 2, .hop = { { .rate = LINE }, { .rate = LINE } } };
		struct wf_cc_hpcc_ns3_param p = defaults();
		struct wf_cc *cc;

		p.multi_rate = multi != 0;
		cc = make(&p);
		ack(cc, &t, 0);
		/* The first hop is full for a RTT, with a queue of half a window that stays. */
		t.hop[0].queued = t.hop[1].queued = 0;
		move(&t.hop[0], RTT, 128 * 812);
		move(&t.hop[1], RTT, 128 * 406);
		ack(cc, &t, 0);
		assert_in_range(cc->rate, 95 * G, 96 * G);
		/*
		 * Now the second: one rate for all falls again from there, its own from the line's.
		 */
		move(&t.hop[0], RTT, 128 * 812);
		move(&t.hop[1], RTT, 128 * 812);
		ack(cc, &t, 0);
		assert_in_range(cc->rate, 90 * G, 92 * G);
		move(&t.hop[0], RTT, 128 * 81);
		move(&t.hop[1], RTT, 128 * 812);
		ack(cc, &t, 0);
		if (multi)
			assert_in_range(cc->rate, 90 * G, 92 * G); /* of the second's 95 */
		else
			assert_in_range(cc->rate, 85 * G, 87 * G);
		free(cc);
	}
}

/* Hops without a queue are left out until the next full update. */
static void test_sample_feedback(void **state)
{
	struct wf_cc_int t = { .hops = 1, .hop = { { .rate = LINE } } };
	struct wf_cc_hpcc_ns3_param p = defaults();
	struct wf_cc *cc;

	(void)state;
	p.sample_feedback = true;
	cc = make(&p);
	ack(cc, &t, 100000);
	move(&t.hop[0], RTT / 2, 128 * 812);
	ack(cc, &t, 100000);
	assert_int_equal(cc->rate, LINE);
	t.hop[0].queued = 40000; /* and the last that counted had none: the smaller is 0 */
	move(&t.hop[0], RTT / 2, 128 * 812);
	ack(cc, &t, 100000);
	assert_in_range(cc->rate, 47 * G, 48 * G); /* twice the line rate, over the whole RTT */
	free(cc);
}

/*
 * Without a window a queue is divided by 0: none is not a number and not looked at, one is endless.
 */
static void test_no_window(void **state)
{
	struct wf_cc_int t = { .hops = 1, .hop = { { .rate = LINE } } };
	struct wf_cc_hpcc_ns3_param p = defaults();
	struct wf_cc *cc;

	(void)state;
	p.window = 0;
	cc = make(&p);
	assert_int_equal(cc->window, WF_CC_NO_WINDOW);
	ack(cc, &t, 0);
	move(&t.hop[0], RTT / 2, 128 * 4000);
	ack(cc, &t, 0);
	assert_in_range(cc->rate, 95 * G, 96 * G); /* u stays 1 */
	t.hop[0].queued = 1000;
	move(&t.hop[0], RTT / 2, 128);
	ack(cc, &t, 0);
	move(&t.hop[0], RTT / 2, 128);
	ack(cc, &t, 0);
	assert_int_equal(cc->rate, G);
	t.hop[0].queued = 0;
	move(&t.hop[0], RTT / 2, 128);
	ack(cc, &t, 0);
	assert_int_equal(cc->rate, G);
	free(cc);
}

static void test_pint(void **state)
{
	struct wf_cc_int t = { .use = 2 * WF_Q32_ONE };
	struct wf_cc_hpcc_ns3_param p = defaults();
	struct wf_cc *cc;

	(void)state;
	p.pint = true;
	cc = make(&p);
	ack(cc, &t, 0);
	ack(cc, &t, 0);
	assert_int_equal(cc->rate, 47550 * M);
	free(cc);
	p.pint_prob = 0;
	cc = make(&p);
	for (int i = 0; i < 100; i++)
		ack(cc, &t, 0);
	assert_int_equal(cc->rate, LINE);
	free(cc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_tie),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_multi_rate),
		cmocka_unit_test(test_sample_feedback),
		cmocka_unit_test(test_no_window),
		cmocka_unit_test(test_pint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
