/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of tcp/cc.c, cubic.c and dctcp.c: the formulas, and the laws that connections follow
 * which use them: windows by loss rate, queues by threshold, shares of a line.
 */
#include "tcp/line.h"

#include <math.h>

#define ONE ((double)WF_TCP_CC_ONE)
#define MSS 1448

/* RFC 9438, 4.2: K = cbrt((W_max - cwnd) / C) and C t^3, with C = 0.4. */
static void test_cubic_formula(void **state)
{
	(void)state;
	for (double below = 0.5; below < 30000; below *= 1.7) {
		double k = pow(below / 0.4, 1.0 / 3) * 1e6;

		assert_true(fabs((double)wf_tcp_cubic_k((uint64_t)(below * ONE)) - k) <
		            2 + k * 2e-5);
	}
	for (double t = 1e3; t < 1e8; t *= 1.9) {
		double w = 0.4 * pow(floor(t) / 1e6, 3) * ONE;

		assert_true(fabs((double)wf_tcp_cubic_offset((uint64_t)t) - w) < 2 + w * 1e-9);
	}
}

static struct wf_tcp_cc make(const struct wf_tcp_cc_ops *ops, uint32_t cwnd)
{
	struct wf_tcp_cc cc = { .ops = ops, .cwnd = (uint64_t)cwnd * WF_TCP_CC_ONE, .ssthresh = 1 };

	ops->init(&cc);
	return cc;
}

/* The window K after a loss is what it was before, and it is flat there; without Reno's part. */
static void test_cubic_shape(void **state)
{
	struct wf_tcp_cc cc = make(&wf_tcp_cubic, 1000);
	struct wf_tcp_cc_ack ack = { .srtt = 100 * WF_MS, .segs = 1 };
	double k = pow(300 / 0.4, 1.0 / 3), half = 0, at_k = 0, near_k = 0;

	(void)state;
	assert_int_equal(cc.ops->reduce(&cc, true), 700);
	cc.cwnd = (uint64_t)700 * WF_TCP_CC_ONE;
	for (wf_time t = 0; t < (wf_time)(k * 1.05 * 1e12); t += 100 * WF_MS) {
		ack.now = t;
		cc.ops->avoid(&cc, &ack, wf_tcp_cc_cwnd(&cc));
		if (t < (wf_time)(k / 2 * 1e12))
			half = (double)cc.cwnd / ONE;
		if (t < (wf_time)(k * 0.9 * 1e12))
			near_k = (double)cc.cwnd / ONE;
		if (t < (wf_time)(k * 1e12))
			at_k = (double)cc.cwnd / ONE;
	}
	/* W(K / 2) = W_max - 0.4 (K / 2)^3 = 1000 - 300 / 8. */
	assert_true(fabs(half - (1000 - 300.0 / 8)) < 5);
	assert_true(fabs(at_k - 1000) < 1);
	assert_true(near_k > 999);
	/* Fast convergence: who lost before it was where it had been asks for less: 0.85 of it. */
	cc = make(&wf_tcp_cubic, 1000);
	(void)cc.ops->reduce(&cc, true);
	cc.cwnd = (uint64_t)800 * WF_TCP_CC_ONE;
	(void)cc.ops->reduce(&cc, true);
	assert_int_equal(cc.cubic.w_max / WF_TCP_CC_ONE, 680);
}

/* RFC 8257: alpha = 15/16 alpha + F/16, and the window goes down by alpha / 2. */
static void test_dctcp_alpha(void **state)
{
	struct wf_tcp_cc cc = make(&wf_tcp_dctcp, 100);
	double alpha = 1;
	uint64_t at = 0;

	(void)state;
	for (int window = 0; window < 60; window++) {
		/* A quarter is marked. */
		for (int i = 0; i < 100; i++) {
			struct wf_tcp_cc_ack ack = { .segs = 1, .bytes = MSS, .ece = i % 4 == 0 };

			at += MSS;
			ack.una = at;
			ack.nxt = at + 99 * MSS;
			cc.ops->came(&cc, &ack);
		}
		alpha = alpha * 15 / 16 + 0.25 / 16;
	}
	assert_true(fabs(cc.dctcp.alpha / 1024.0 - alpha) < 0.02);
	assert_true(fabs(alpha - 0.25) < 0.02);
	assert_int_equal(cc.ops->reduce(&cc, false),
	                 (uint32_t)(100 * (1 - cc.dctcp.alpha / 2048.0)));
	assert_int_equal(cc.ops->reduce(&cc, true), 50);
}

/* Segments a round trip of one connection, every period-th of whose segments is lost. */
static double window_at(const char *cc, wf_time rtt, uint64_t period, wf_time time)
{
	struct wf_tcp_conn_cfg cfg;
	struct wf_tcp_conn_state s;
	struct line l;
	double window;
	uint64_t from;

	line_defaults(&cfg, cc);
	cfg.burst = MSS;
	line_init(&l, 1, &cfg);
	l.delay = rtt / 2;
	/* So fast that there is no queue, but segments do not come all at once. */
	l.rate = UINT64_C(10000000000);
	l.drop = line_drop_periodic;
	l.period = period;
	line_send(&l, 0, UINT64_C(1) << 40);
	line_run(&l, time / 4);
	wf_tcp_conn_state(l.tx[0], &s);
	from = s.una;
	line_run(&l, time);
	wf_tcp_conn_state(l.tx[0], &s);
	window = (double)(s.una - from) / MSS * ((double)rtt / (double)(time - time / 4));
	assert_int_equal(l.count[0][WF_TCP_CTR_TIMEOUTS], 0);
	line_fini(&l);
	return window;
}

/*
 * Mathis et al. (1997): a window that is halved at each loss and grows by one a round trip is on
 * average sqrt(3/2 / p) segments.
 */
static void test_mathis(void **state)
{
	static const uint64_t period[] = { 100, 400, 2000 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		double law = sqrt(1.5 * (double)period[i]);
		double is = window_at("reno", 20 * WF_MS, period[i], 60 * WF_S);

		if (fabs(is - law) > law * 0.1)
			fail_msg("p = 1/%u: %g segments, not %g", (unsigned)period[i], is, law);
	}
}

/*
 * RFC 9438, table 1 (RTT 0.1 s): 187 segments at p = 1e-4; where Reno has more, as Reno (38 at
 * 1e-3).
 */
static void test_cubic_window(void **state)
{
	double is = window_at("cubic", 100 * WF_MS, 10000, 400 * WF_S);

	(void)state;
	if (fabs(is - 187) > 187 * 0.1)
		fail_msg("%g segments, not 187", is);
	is = window_at("cubic", 10 * WF_MS, 1000, 60 * WF_S);
	if (fabs(is - 38) > 38 * 0.1)
		fail_msg("%g segments, not 38", is);
}

/* Two connections, the second of which begins late, share a line fairly in the end. */
static void test_fairness(void **state)
{
	static const char *const names[] = { "reno", "cubic", "dctcp" };

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct wf_tcp_conn_cfg cfg;
		uint64_t from[2];
		struct line l;
		double share;

		line_defaults(&cfg, names[k]);
		cfg.burst = 4 * MSS;
		line_init(&l, 2, &cfg);
		l.rate = UINT64_C(100000000);
		l.delay = 5 * WF_MS;
		l.room = 100 * 1500;
		l.marking = 20 * 1500;
		line_send(&l, 0, UINT64_C(1) << 40);
		line_send_at(&l, 1, UINT64_C(1) << 40, WF_S);
		line_run(&l, 20 * WF_S);
		for (unsigned i = 0; i < 2; i++)
			from[i] = wf_tcp_conn_acked(l.tx[i]);
		line_run(&l, 80 * WF_S);
		for (unsigned i = 0; i < 2; i++)
			from[i] = wf_tcp_conn_acked(l.tx[i]) - from[i];
		share = (double)from[0] / (double)(from[0] + from[1]);
		if (share < 0.4 || share > 0.6)
			fail_msg("%s: a share of %g", names[k], share);
		/* The line is full: MSS of the 1514 + 4 bytes of a packet. */
		share = (double)(from[0] + from[1]) * 8 / 60 / 1e8;
		if (share < 0.9 * MSS / 1518)
			fail_msg("%s: %g of the line", names[k], share);
		line_fini(&l);
	}
}

/*
 * Alizadeh et al., SIGCOMM 2010, 3.3: N connections in step have a queue of at most K + N
 * packets, which goes up and down by A = sqrt(2 N (C RTT + K)) / 2.
 */
static void test_dctcp_queue(void **state)
{
	static const unsigned flows[] = { 1, 2 };

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct wf_tcp_conn_cfg cfg;
		double bdp = 1e9 * 1e-3 / 8 / 1518, mark = 40, n = flows[k], amplitude, most, least;
		struct line l;

		line_defaults(&cfg, "dctcp");
		cfg.burst = MSS;
		line_init(&l, flows[k], &cfg);
		l.rate = UINT64_C(1000000000);
		l.delay = 500 * WF_US;
		l.marking = 40 * 1518;
		for (unsigned i = 0; i < flows[k]; i++)
			line_send(&l, i, UINT64_C(1) << 40);
		l.watch_from = WF_S;
		line_run(&l, 5 * WF_S);
		amplitude = sqrt(2 * n * (bdp + mark)) / 2;
		most = (double)l.longest / 1518;
		least = (double)l.shortest / 1518;
		if (most > mark + n + 3 || most < mark)
			fail_msg("%g flows: a queue of up to %g packets", n, most);
		if (least > most - amplitude / 2 || least < most - amplitude * 2.5)
			fail_msg("%g flows: %g to %g packets, amplitude %g", n, least, most,
			         amplitude);
		assert_int_equal(l.count[0][WF_TCP_CTR_RETRANS_SEGS], 0);
		line_fini(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cubic_formula), cmocka_unit_test(test_cubic_shape),
		cmocka_unit_test(test_dctcp_alpha),   cmocka_unit_test(test_mathis),
		cmocka_unit_test(test_cubic_window),  cmocka_unit_test(test_fairness),
		cmocka_unit_test(test_dctcp_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
