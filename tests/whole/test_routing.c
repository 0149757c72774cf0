/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios of routing, against published figures and theory.
 *
 * - D-mod-k tables carry every shift without contention (Zahavi 2011): at least 90 % of the line,
 *   the rest being headers, latency and acknowledgements.
 * - Of random pairs, one random path for each gets 38 % of a Clos of 512 hosts (Geoffray and
 *   Hoefler, Hot Interconnects 2008: MPI_Sendrecv() of 1 MB, 32-port crossbars, mean over pairs
 *   against a pair alone), and adaptive routing 77 %. With 16 KiB of buffers: how large theirs were
 *   is not published.
 * - One path for each destination gets 1 - 1/e of a permutation on two tiers: of n flows thrown on
 *   n links up at random, that many links are used.
 */
#include "rig.h"

#include <stdlib.h>

/* Adds a pattern of RC messages. */
static void add(struct rig *r, const char *kind, const char *op, uint64_t size, uint32_t repeat,
                uint64_t key)
{
	struct wf_traffic_cfg cfg;
	struct wf_err err = { "" };

	assert_int_equal(wf_param_defaults(wf_traffic_params, wf_traffic_n_params, &cfg, &err), 0);
	snprintf(cfg.kind, sizeof(cfg.kind), "%s", kind);
	snprintf(cfg.op, sizeof(cfg.op), "%s", op);
	cfg.size = size;
	cfg.repeat = repeat;
	if (wf_traffic_find(kind)->list(&cfg, r->topo_cfg.hosts, r->topo_cfg.host_rate, key,
	                                &r->flows, &err) != 0)
		fail_msg("%s", err.text);
}

/*
 * The mean over hosts of what each sent, over its time from first to last, in per cent of the line.
 */
static double mean_percent(const struct rig *r)
{
	uint32_t n = r->topo_cfg.hosts;
	double sum = 0;

	for (uint32_t h = 0; h < n; h++) {
		wf_time first = WF_TIME_NEVER, last = 0;
		uint64_t bytes = 0;

		for (size_t i = 0; i < r->flows.n; i++) {
			if (r->flows.flow[i].src != h)
				continue;
			first = wf_min_time(first, wf_sim_flow_start(r->sim, i));
			last = wf_max_time(last, wf_sim_flow_end(r->sim, i));
			bytes += r->flows.flow[i].bytes;
		}
		assert_true(last != WF_TIME_NEVER && last > first);
		sum += (double)bytes * 8e12 / (double)(last - first);
	}
	return 100 * sum / n / (double)r->topo_cfg.host_rate;
}

static void test_shift(void **state)
{
	static const struct {
		const char *kind, *hosts, *radix;
	} row[] = {
		{ "leaf-spine", "32", "32" },
		{ "leaf-spine", "32", "16" },
		{ "fat-tree", "128", "16" },
		{ "rail", "256", "32" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct rig r;
		double percent;

		rig_init(&r, "credit", row[i].kind, (unsigned)atoi(row[i].hosts));
		rig_topo(&r, "radix", row[i].radix);
		rig_set(&r, "switch.latency", "130ns"); /* as ib-ndr */
		add(&r, "shift", "write", 4000000, 1, 1);
		rig_run(&r, 1);
		percent = mean_percent(&r);
		if (percent < 90)
			fail_msg("%s of %s, radix %s: %.1f %%", row[i].kind, row[i].hosts,
			         row[i].radix, percent);
		rig_fini(&r);
	}
}

static void test_permutation_by_destination(void **state)
{
	double sum = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct rig r;

		rig_init(&r, "credit", "leaf-spine", 128);
		rig_topo(&r, "radix", "16");
		add(&r, "permutation", "write", 2000000, 1, seed);
		rig_run(&r, 1);
		sum += mean_percent(&r);
		rig_fini(&r);
	}
	/* A pair alone gets 95 % of the line here; 1 - 1/e is 63 %, and eight links are a few. */
	assert_true(sum / 3 / 0.95 > 58 && sum / 3 / 0.95 < 70);
}

/* Random pairs in a loop of exchanges, per cent of what a pair alone gets. */
static double pairs(const char *hosts, const char *radix, const char *const *settings,
                    uint64_t size, uint32_t repeat, uint64_t seed)
{
	double percent[2];

	for (unsigned alone = 0; alone < 2; alone++) {
		struct rig r;

		rig_init(&r, "credit", "leaf-spine", alone ? 2 : (unsigned)atoi(hosts));
		rig_topo(&r, "radix", alone ? "4" : radix);
		rig_topo(&r, "host_rate", "10Gbps");
		rig_set(&r, "vl.buffer", "16KiB");
		for (const char *const *s = settings; *s != NULL; s += 2)
			rig_set(&r, s[0], s[1]);
		r.seed = seed;
		add(&r, "pairs", "send", size, repeat, seed);
		rig_run(&r, 1);
		assert_true(r.result->finished);
		percent[alone] = mean_percent(&r);
		rig_fini(&r);
	}
	return 100 * percent[0] / percent[1];
}

/* The mean of two seeds on 512 hosts is within five points of what was published. */
static void as_published(const char *routing, double published)
{
	const char *const settings[] = { "routing", routing, NULL };
	double sum = 0;

	for (uint64_t seed = 1; seed <= 2; seed++)
		sum += pairs("512", "32", settings, 1000000, 10, seed);
	print_message("%s: %.1f %%, published %.0f %%\n", routing, sum / 2, published);
	if (sum / 2 < published - 5 || sum / 2 > published + 5)
		fail_msg("%s: %.1f %%, published %.0f %%", routing, sum / 2, published);
}

static void test_published(void **state)
{
	(void)state;
#ifndef NDEBUG
	skip(); /* ten rounds take a minute with sanitizers */
#endif
	as_published("source", 38);
	as_published("adaptive", 77);
}

/* Free packets use all paths, by bytes or by grades; flows that keep theirs are not much better off
 * than with a random one. */
static void test_adaptive(void **state)
{
	static const char *const fixed[] = { "routing", "source", NULL };
	static const char *const exact[] = { "routing", "adaptive", NULL };
	static const char *const graded[] = { "routing", "adaptive", "adaptive.low", "19200B",
		                              NULL };
	static const char *const old[] = { "routing", "adaptive", "adaptive.delay", "16us", NULL };
	static const char *const bound[] = { "routing", "adaptive", "adaptive.bind", "1ms", NULL };
	double one = pairs("128", "16", fixed, 500000, 3, 1);

	(void)state;
	assert_true(pairs("128", "16", exact, 500000, 3, 1) > 70);
	assert_true(pairs("128", "16", graded, 500000, 3, 1) > 70);
	assert_true(pairs("128", "16", old, 500000, 3, 1) > 60);
	assert_true(pairs("128", "16", bound, 500000, 3, 1) < one + 20);
}

/* Grades and flowlets are the same on threads. */
static void test_graded_on_threads(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, "credit", "fat-tree", 128);
	rig_set(&r, "routing", "adaptive");
	rig_set(&r, "adaptive.low", "19200B");
	rig_set(&r, "adaptive.delay", "2us");
	rig_set(&r, "adaptive.bind", "5us");
	rig_shift(&r, 128, 33, 300000);
	rig_same(&r);
	assert_true(r.result->finished);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shift),
		cmocka_unit_test(test_permutation_by_destination),
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_adaptive),
		cmocka_unit_test(test_graded_on_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
