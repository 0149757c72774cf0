/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of ns3/host.c and ns3/sim.c, the model of the HPCC simulator: what single flows
 * take to the nanosecond, what a loss costs, pacing, chunks, lost pause frames, telemetry.
 */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "cc/algs.h"
#include "fabric/telemetry.h"
#include "ns3/sim.h"

#define STAR 5 /* hosts 0 to 4 on switch 5, 100 Gb/s, 1 us */

struct star {
	struct wf_topo *topo;
	struct wf_fabric_cfg fabric;
	struct wf_ns3_flow flows[64];
	uint32_t n;
	struct wf_ns3_env host;
	uint64_t loss;
	uint64_t seed;
	wf_time until;
};

static void star_init(struct star *s)
{
	char text[512] = "6 1 5\n5\n";
	struct wf_topo_cfg cfg;
	struct wf_err err = { "" };

	memset(s, 0, sizeof(*s));
	for (int i = 0; i < STAR; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
		         "%d 5 100Gbps 0.001ms 0\n", i);
	assert_int_equal(wf_param_defaults(wf_topo_params, wf_topo_n_params, &cfg, &err), 0);
	assert_int_equal(wf_topo_find("hpcc")->build(&cfg, text, strlen(text), "star",
	                                             wf_mem_heap(), &s->topo, &err),
	                 0);
	assert_int_equal(wf_ns3_fabric_cfg(&s->fabric, 1u << 3, &err), 0);
	s->fabric.mtu = 1000;
	s->fabric.buffer_size = 32 << 20;
	s->fabric.class_ecn[0] = '\0';
	s->host = (struct wf_ns3_env){
		.cc = &wf_cc_none,
		.mtu = 1000,
		.header = 48,
		.ack_size = 60,
		.ack_every = 1,
		.chunk = 4000,
		.nack_interval = 500 * WF_US,
		.rate_bound = true,
	};
	s->seed = 1;
	s->until = 3 * WF_S;
}

static void star_fini(struct star *s)
{
	wf_topo_destroy(s->topo);
}

static void add(struct star *s, uint32_t src, uint32_t dst, uint32_t size, const void *param)
{
	s->flows[s->n] = (struct wf_ns3_flow){ .src = src,
		                               .dst = dst,
		                               .size = size,
		                               .sport = (uint16_t)(10000 + s->n),
		                               .cls = 3,
		                               .start = 2 * WF_S,
		                               .cc_param = param };
	s->n++;
}

/* Runs; end[i] is when flow i ended, in ns after its start, -1: never. Returns pauses received. */
static size_t star_run(struct star *s, int64_t *end, struct wf_ns3_sim_counts *counts)
{
	struct wf_ns3_sim_cfg cfg = {
		.topo = s->topo,
		.fabric = &s->fabric,
		.flows = s->flows,
		.n_flows = s->n,
		.host = s->host,
		.loss = s->loss,
		.until = s->until,
		.seed = s->seed,
	};
	struct wf_ns3_pause *notes;
	struct wf_ns3_sim_counts own;
	struct wf_err err = { "" };
	struct wf_ns3_sim *sim;
	size_t n;

	if (wf_ns3_sim_create(&cfg, &sim, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(wf_ns3_sim_run(sim), 0);
	for (uint32_t i = 0; i < s->n; i++) {
		wf_time at = wf_ns3_sim_end(sim, i);

		end[i] = at == WF_TIME_NEVER ? -1 : (at - 2 * WF_S) / WF_NS;
	}
	assert_int_equal(wf_ns3_sim_pauses(sim, &notes, &n), 0);
	wf_mem_heap()->free(wf_mem_heap(), notes);
	wf_ns3_sim_counts(sim, counts != NULL ? counts : &own);
	wf_ns3_sim_destroy(sim);
	return n;
}

/*
 * n packets over two hops and back: 83 ns each on the first link, the last one 83 on the second,
 * four links of 1000, and an acknowledgement of 4 on two of them. A whole number of ns is one
 * less.
 */
static void test_alone(void **state)
{
	static const uint32_t sizes[] = { 1, 999, 1000, 1100, 10000, 1000000 };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(sizes); i++) {
		uint32_t n = (sizes[i] + 999) / 1000, last = sizes[i] - (n - 1) * 1000 + 48;
		int64_t tx = (last * 8 * 10 - 1) / 1000, end;
		struct star s;

		star_init(&s);
		add(&s, 0, 1, sizes[i], NULL);
		(void)star_run(&s, &end, NULL);
		/* A last packet that is shorter waits for the one before at the switch. */
		assert_int_equal(end, (n - 1) * 83 + (n > 1 ? 83 : tx) + tx + 4000 + 4 + 4);
		star_fini(&s);
	}
}

/* A loss that no other is near to costs 4316 ns: a round trip of packets that are sent again. */
static void test_losses(void **state)
{
	int64_t whole, end;
	unsigned lone = 0, runs = 0;
	struct star s;

	(void)state;
	star_init(&s);
	add(&s, 0, 1, 1000000, NULL);
	(void)star_run(&s, &whole, NULL);
	s.loss = WF_PROB_ONE / 2000;
	for (s.seed = 1; s.seed <= 40; s.seed++) {
		struct wf_ns3_sim_counts counts;

		(void)star_run(&s, &end, &counts);
		if (end < 0 || counts.dropped == 0)
			continue;
		runs++;
		lone += (end - whole) % 4316 == 0;
		assert_true(end >= whole);
	}
	assert_true(runs > 10 && lone > runs / 2);
	star_fini(&s);
}

/*
 * In whole chunks: what ends in the middle of one is never done, and a loss repeats from its
 * start.
 */
static void test_chunks(void **state)
{
	int64_t end[2], whole;
	struct star s;

	(void)state;
	star_init(&s);
	add(&s, 0, 1, 400000, NULL);
	(void)star_run(&s, &whole, NULL);
	add(&s, 2, 3, 401000, NULL);
	s.host.back_to_zero = true;
	(void)star_run(&s, end, NULL);
	assert_int_equal(end[0], whole);
	assert_int_equal(end[1], -1);
	star_fini(&s);
}

/* 10 Gb/s: 838 ns from packet to packet; with rate_bound off, the line's 83. */
static void test_pace(void **state)
{
	struct wf_cc_fixed_param ten = { .rate = UINT64_C(10000000000) };
	int64_t end;
	struct star s;

	(void)state;
	star_init(&s);
	s.host.cc = &wf_cc_fixed;
	add(&s, 0, 1, 10000, &ten);
	(void)star_run(&s, &end, NULL);
	assert_int_equal(end, 9 * 838 + 2 * 83 + 4008);
	s.host.rate_bound = false;
	(void)star_run(&s, &end, NULL);
	assert_int_equal(end, 9 * 83 + 2 * 83 + 4008);
	star_fini(&s);
}

static void incast(struct star *s, const void *param)
{
	for (uint32_t i = 0; i < 4; i++)
		add(s, i, 4, 3000000, param);
}

/* Pause frames come in twos: stop and go. Lost ones leave a port stopped, or never stop it. */
static void test_pauses(void **state)
{
	int64_t end[4];
	unsigned hung = 0;
	struct star s;
	size_t n;

	(void)state;
	star_init(&s);
	s.fabric.buffer_size = 1 << 20;
	incast(&s, NULL);
	n = star_run(&s, end, NULL);
	assert_true(n > 100 && n % 2 == 0);
	for (int i = 0; i < 4; i++)
		assert_true(end[i] > 0);
	s.loss = WF_PROB_ONE / 20;
	s.until = 2 * WF_S + 20 * WF_MS;
	for (s.seed = 1; s.seed < 4; s.seed++) {
		(void)star_run(&s, end, NULL);
		for (int i = 0; i < 4; i++)
			hung += end[i] < 0;
	}
	assert_true(hung > 0);
	star_fini(&s);
}

/* HPCC with every kind of telemetry, losses too: the same every time, and not too slow. */
static void test_telemetry(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 4; kind++) {
		struct wf_cc_hpcc_ns3_param p;
		struct wf_err err = { "" };
		int64_t first[4], end[4];
		struct star s;

		star_init(&s);
		assert_int_equal(
			wf_param_defaults(wf_cc_hpcc_ns3.params, wf_cc_hpcc_ns3.n_params, &p, &err),
			0);
		p.base_rtt = 4160 * WF_NS;
		p.window = 52000;
		p.multi_rate = kind == 1;
		p.pint = kind == 2;
		strcpy(s.fabric.switch_int, kind == 2 ? "pint" : "int");
		s.fabric.pint_rtt = p.base_rtt;
		s.host.cc = &wf_cc_hpcc_ns3;
		s.host.telemetry = true;
		s.host.header = 48 + (kind == 2 ? 2 : 42);
		s.loss = kind == 3 ? WF_PROB_ONE / 10000 : 0;
		incast(&s, &p);
		(void)star_run(&s, first, NULL);
		(void)star_run(&s, end, NULL);
		assert_memory_equal(first, end, sizeof(end));
		for (int i = 0; i < 4 && kind != 3; i++)
			assert_in_range(first[i], 3000000 * 4 * 8 / 100 / 2, 3000000 * 4 * 8 / 80);
		star_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),  cmocka_unit_test(test_losses),
		cmocka_unit_test(test_chunks), cmocka_unit_test(test_pace),
		cmocka_unit_test(test_pauses), cmocka_unit_test(test_telemetry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
