/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: adaptive routing that weft's subnet manager has set up, beside what the fabric does
 * without a manager, and beside tables.
 */
/* ctest: tsan */
#include "managed.h"

#include <inttypes.h>
#include <string.h>

#include "base/rng.h"

/* Every host sends to one, and gets from one: drawn, so that tables collide. */
static void permute(struct rig *r, unsigned n, uint64_t bytes)
{
	uint32_t to[64];

	assert_true(n <= 64);
	for (unsigned i = 0; i < n; i++)
		to[i] = i;
	for (unsigned i = n; i > 1; i--) {
		unsigned k = wf_rand_below(wf_rand64(7, i), i);
		uint32_t was = to[i - 1];

		to[i - 1] = to[k];
		to[k] = was;
	}
	for (unsigned i = 0; i < n; i++) {
		if (to[i] != i)
			rig_flow(r, i, to[i], bytes, 0, 3);
	}
}

static void setup(struct managed *t, const char *kind, unsigned hosts, const char *radix,
                  bool adaptive)
{
	managed_init(t, kind, hosts);
	rig_topo(&t->r, "radix", radix);
	rig_set(&t->r, "routing", adaptive ? "adaptive" : "lft");
	managed_set(t, "adaptive", adaptive ? "true" : "false");
}

static wf_time managed_end(const char *kind, unsigned hosts, const char *radix, const char *engine,
                           bool adaptive)
{
	struct managed t;
	wf_time end;

	setup(&t, kind, hosts, radix, adaptive);
	managed_set(&t, "routing_engine", engine);
	managed_topo(&t);
	permute(&t.r, hosts, 1000000);
	managed_build(&t, 1);
	managed_run(&t);
	assert_true(t.r.result->finished);
	assert_int_equal(t.r.result->packets_dropped, 0);
	assert_int_equal(t.result.stats.last_heavy.adaptive != 0, adaptive);
	end = t.r.result->end;
	managed_fini(&t);
	return end;
}

static wf_time ideal_end(const char *kind, unsigned hosts, const char *radix)
{
	struct managed t;
	wf_time end;

	setup(&t, kind, hosts, radix, true);
	managed_topo(&t);
	permute(&t.r, hosts, 1000000);
	rig_run(&t.r, 1);
	rig_result(&t.r);
	assert_true(t.r.result->finished);
	end = t.r.result->end;
	rig_fini(&t.r);
	return end;
}

/*
 * In fat trees of two and three tiers groups of any engine are all minimal ports, and so a
 * permutation takes as long as where nobody manages the fabric (in two tiers to the picosecond:
 * the same ports are drawn), and nothing is lost. Tables take longer.
 */
static void test_permutation(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "ftree" };
	wf_time ideal2 = ideal_end("leaf-spine", 32, "16"), ideal3 = ideal_end("fat-tree", 54, "6");

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(engines); i++) {
		wf_time two = managed_end("leaf-spine", 32, "16", engines[i], true);
		wf_time three = managed_end("fat-tree", 54, "6", engines[i], true);

		print_message("%s: %" PRIu64 " and %" PRIu64 " ps, ideal %" PRIu64 " and %" PRIu64
		              "\n",
		              engines[i], (uint64_t)two, (uint64_t)three, (uint64_t)ideal2,
		              (uint64_t)ideal3);
		assert_int_equal(two, ideal2);
		assert_in_range(three, ideal3 * 95 / 100, ideal3 * 105 / 100);
		assert_true(managed_end("fat-tree", 54, "6", engines[i], false) > three * 5 / 4);
	}
}

/* The group of a switch for a host: how many ports it has. */
static unsigned group_size(const struct managed *t, const char *sw, uint32_t host)
{
	const struct wf_topo *topo = t->r.topo;
	uint16_t lid = wf_sma_port(wf_managed_sma(t->m, topo->host_node[host]), 1)->lid;
	struct wf_sma_adaptive a;
	unsigned n = 0;

	wf_sma_adaptive(wf_managed_sma(t->m, wf_topo_node_by_name(topo, sw)), &a);
	if (!a.enabled || lid >= a.n_lids || a.group_of[lid] == 0)
		return 0;
	for (unsigned w = 0; w < WF_GROUP_WORDS; w++)
		n += (unsigned)__builtin_popcountll(a.ports[a.group_of[lid] - 1][w]);
	return n;
}

/* Data packets that a switch has dropped at ports that were down. */
static uint64_t drops_at(const struct managed *t, const char *name)
{
	const struct wf_device *dev = t->r.sim->net.devices[wf_topo_node_by_name(t->r.topo, name)];
	uint64_t n = 0;

	for (unsigned p = 0; p < dev->n_ports; p++) {
		for (unsigned q = 0; q < dev->n_queues; q++)
			n += dev->ports[p].lanes[q].drops[WF_DROP_DOWN];
	}
	return n;
}

/*
 * leaf0 loses its two links to one of two spines. Its own packets avoid them at once: of what its
 * hosts send after the loss leaf0 drops nothing, before a manager has swept. With tables it does.
 */
static uint64_t lost_upwards(bool adaptive)
{
	struct managed t;
	uint64_t drops;

	setup(&t, "leaf-spine", 16, "8", adaptive);
	rig_set(&t.r, "sender.timeout", "1ms");
	/* No trap and no sweep: only what the switch does by itself. */
	managed_set(&t, "sweep_on_trap", "false");
	managed_topo(&t);
	fault(&t, "leaf0", "spine0", WF_MS, true);
	for (uint32_t i = 0; i < 4; i++)
		rig_flow(&t.r, i, 4 + 3 * i, 1000000, 1100 * WF_US, 3);
	managed_build(&t, 1);
	t.r.sim->until = 3 * WF_MS;
	managed_run(&t);
	assert_int_equal(t.result.reroutes, 0);
	if (adaptive)
		assert_int_equal(group_size(&t, "leaf0", 15), 4);
	drops = drops_at(&t, "leaf0");
	managed_fini(&t);
	return drops;
}

static void test_lost_at_once(void **state)
{
	(void)state;
	assert_true(lost_upwards(true) == 0);
	assert_true(lost_upwards(false) > 100);
}

/* Others learn of it from the manager, and groups are whole again when the link is. */
static void test_lost_and_back(void **state)
{
	struct managed t;

	(void)state;
	for (int back = 0; back < 2; back++) {
		setup(&t, "leaf-spine", 16, "8", true);
		rig_set(&t.r, "sender.timeout", "1ms");
		/* Traps may follow one another. */
		managed_set(&t, "subnet_timeout", "8");
		managed_topo(&t);
		fault(&t, "leaf0", "spine0", WF_MS, true);
		if (back)
			fault(&t, "leaf0", "spine0", 100 * WF_MS, false);
		rig_flow(&t.r, 0, 15, 1000000, 900 * WF_US, 3);
		/* After the sweep: all sixteen hosts, over what is left. */
		for (uint32_t i = 0; i < 16; i++)
			rig_flow(&t.r, i, (i + 5) % 16, 1000000, 300 * WF_MS, 3);
		managed_build(&t, 1);
		managed_run(&t);
		assert_true(t.r.result->finished);
		assert_int_equal(t.result.reroutes, 1 + back);
		assert_int_equal(group_size(&t, "leaf0", 15), 2 + 2 * back);
		assert_int_equal(group_size(&t, "leaf1", 0), 2 + 2 * back);
		assert_int_equal(group_size(&t, "leaf1", 15), 4);
		managed_fini(&t);
	}
}

/* Where the engine has no groups packets go by the table. */
static void test_no_groups(void **state)
{
	struct managed t;
	uint64_t end[2];

	(void)state;
	for (int adaptive = 0; adaptive < 2; adaptive++) {
		setup(&t, "leaf-spine", 16, "8", true);
		managed_set(&t, "adaptive", adaptive ? "true" : "false");
		managed_set(&t, "routing_engine", "dfsssp");
		managed_topo(&t);
		permute(&t.r, 16, 300000);
		managed_build(&t, 1);
		managed_run(&t);
		assert_true(t.r.result->finished);
		assert_int_equal(group_size(&t, "leaf0", 15), 0);
		end[adaptive] = t.r.result->end;
		managed_fini(&t);
	}
	assert_true(end[0] == end[1]);
}

/* A fabric whose routing does not choose among ports has no such switches. */
static void test_lft(void **state)
{
	struct managed t;

	(void)state;
	setup(&t, "leaf-spine", 16, "8", false);
	managed_set(&t, "adaptive", "true");
	managed_topo(&t);
	rig_shift(&t.r, 16, 5, 100000);
	managed_build(&t, 1);
	managed_run(&t);
	assert_true(t.r.result->finished);
	assert_int_equal(t.result.stats.last_heavy.adaptive, 0);
	assert_true(t.result.stats.count[WF_SM_GET_ADAPTIVE].refused == 6);
	managed_fini(&t);
}

/* What is drawn does not depend on threads, whatever is set meanwhile. */
static void test_same_on_threads(void **state)
{
	struct wf_sim_result first;
	struct wf_managed_result managed;
	struct managed t;

	(void)state;
	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		setup(&t, "fat-tree", 54, "6", true);
		rig_set(&t.r, "sender.timeout", "1ms");
		managed_set(&t, "routing_engine", "ftree");
		t.cfg.cold = true;
		managed_topo(&t);
		fault(&t, "leaf1", "pod0-agg1", 60 * WF_MS, true);
		fault(&t, "leaf1", "pod0-agg1", 130 * WF_MS, false);
		permute(&t.r, 54, 200000);
		for (size_t k = 0; k < t.r.flows.n; k++)
			t.r.flows.flow[k].start = 50 * WF_MS + (wf_time)k * 3 * WF_MS;
		managed_build(&t, threads);
		managed_run(&t);
		assert_true(t.r.result->finished);
		if (threads == 1) {
			first = *t.r.result;
			managed = t.result;
		}
		assert_true(t.result.stats.last_heavy.adaptive > 0);
		assert_int_equal(first.end, t.r.result->end);
		assert_int_equal(first.hops, t.r.result->hops);
		assert_int_equal(first.packets_dropped, t.r.result->packets_dropped);
		assert_int_equal(managed.smps, t.result.smps);
		assert_memory_equal(&managed.stats, &t.result.stats, sizeof(managed.stats));
		managed_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_permutation),   cmocka_unit_test(test_lost_at_once),
		cmocka_unit_test(test_lost_and_back), cmocka_unit_test(test_no_groups),
		cmocka_unit_test(test_lft),           cmocka_unit_test(test_same_on_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
