/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scenario.c - from text to values, topology, flows and faults. What can be wrong is tested
 * from the command line (tests/cli/bad_input.bats).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "load.h"

static struct wf_paths paths;

static int find_paths(void **state)
{
	(void)state;
	return wf_paths_init(&paths, NULL, NULL);
}

/* Reads and builds text, which must work. */
static void load(struct wf_scenario *s, const char *text, const struct wf_scenario_opts *more)
{
	struct wf_scenario_opts opts = more != NULL ? *more : (struct wf_scenario_opts){ 0 };

	opts.paths = &paths;
	load_scenario(s, text, "x.yaml", &opts);
}

static const char plain[] = "name: plain\n"
			    "seed: 7\n"
			    "topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 100Gbps}\n"
			    "fabric: roce-100g\n"
			    "traffic:\n"
			    "  - {kind: incast, fanin: 3, target: 2, size: 1KB}\n"
			    "  - {kind: permutation, size: 2KB, class: 0, start: 1us}\n"
			    "faults:\n"
			    "  - {link: [spine0, leaf0, 1], down: 20us, up: 80us}\n"
			    "  - {link: [h0, leaf0], down: 1ms}\n"
			    "run: {until: 100ms, reconverge: 2ms}\n";

static void test_values(void **state)
{
	struct wf_scenario s;

	(void)state;
	load(&s, plain, NULL);
	assert_string_equal(s.cfg.name, "plain");
	assert_int_equal(s.cfg.seed, 7);
	assert_int_equal(s.cfg.until, 100 * WF_MS);
	assert_int_equal(s.cfg.reconverge, 2 * WF_MS);
	assert_int_equal(s.n_hosts, 8);
	assert_int_equal(s.host_rate, UINT64_C(100000000000));
	assert_int_equal(s.n_fabrics, 1);
	assert_string_equal(s.fabrics[0].label, "roce-100g");
	assert_int_equal(s.fabrics[0].cfg.ecn_kmin, 400000); /* its own */
	assert_int_equal(s.fabrics[0].cfg.link_gap, 20);     /* its base's */
	assert_int_equal(s.fabrics[0].classes.n, 3);
	assert_int_equal(s.flows.n, 3 + 8);
	assert_int_equal(s.flows.flow[0].src, 3);
	assert_int_equal(s.flows.flow[0].dst, 2);
	assert_int_equal(s.flows.flow[0].cls, 3);
	assert_int_equal(s.flows.flow[5].cls, 0);
	assert_int_equal(s.flows.flow[5].start, WF_US);
	assert_int_equal(s.receivers, 8);
	wf_scenario_fini(&s);
}

static void test_faults(void **state)
{
	struct wf_scenario s;
	const struct wf_topo_link *link;

	(void)state;
	load(&s, plain, NULL);
	assert_int_equal(s.fabrics[0].n_events, 3);
	assert_int_equal(s.fabrics[0].events[0].at, 20 * WF_US);
	assert_true(s.fabrics[0].events[0].on);
	assert_int_equal(s.fabrics[0].events[1].at, 80 * WF_US);
	assert_false(s.fabrics[0].events[1].on);
	assert_int_equal(s.fabrics[0].events[0].what, s.fabrics[0].events[1].what);
	link = &s.nets[0].topo->links[s.fabrics[0].events[0].what];
	assert_true((strcmp(s.nets[0].topo->nodes[link->a].name, "leaf0") == 0 &&
	             strcmp(s.nets[0].topo->nodes[link->b].name, "spine0") == 0) ||
	            (strcmp(s.nets[0].topo->nodes[link->b].name, "leaf0") == 0 &&
	             strcmp(s.nets[0].topo->nodes[link->a].name, "spine0") == 0));
	assert_int_equal(s.fabrics[0].events[2].at, WF_MS);
	wf_scenario_fini(&s);
}

static void test_fabrics(void **state)
{
	static const char text[] = "topology: {kind: single, hosts: 4}\n"
				   "fabric:\n"
				   "  - ib-ndr\n"
				   "  - {profile: ib-ndr, vl.buffer: 8KiB}\n"
				   "  - {name: mine, ecn: {kmin: 1KB}, classes: {lossless: [3, 4], "
				   "weights: {0: 1, 3: 2, "
				   "4: 3}}}\n"
				   "traffic: [{kind: all-to-all}]\n";
	struct wf_scenario s;

	(void)state;
	load(&s, text, NULL);
	assert_int_equal(s.n_fabrics, 3);
	assert_string_equal(s.fabrics[0].label, "ib-ndr");
	assert_string_equal(s.fabrics[1].label, "ib-ndr #2");
	assert_int_equal(s.fabrics[1].cfg.vl_buffer, 8192);
	assert_string_equal(s.fabrics[1].cfg.routing, "adaptive");
	assert_string_equal(s.fabrics[2].label, "mine");
	assert_string_equal(s.fabrics[2].cfg.class_lossless, "3,4");
	assert_string_equal(s.fabrics[2].cfg.class_weights, "0:1,3:2,4:3");
	assert_int_equal(s.fabrics[2].cfg.ecn_kmin, 1000);
	assert_int_equal(s.fabrics[2].classes.n, 4);
	assert_int_equal(s.flows.n, 12);
	wf_scenario_fini(&s);
}

static uint32_t switches(const struct wf_scenario *s, unsigned fabric)
{
	return s->fabrics[fabric].net->topo->n_nodes - s->n_hosts;
}

/*
 * Each fabric has the network of its switch, counted by hand: NVIDIA's reference architecture has 8
 * leaves and 4 spines of 64 ports for 256 NICs; of 128 ports, 2 spines do.
 */
static void test_nets(void **state)
{
	static const char text[] = "topology: {kind: rail, hosts: 256, gpus: 8}\n"
				   "fabric: [ib-ndr, roce-400g, ib-ndr-static]\n"
				   "traffic: [{kind: permutation, size: 1KB}]\n"
				   "faults: [{link: [group0-rail7, spine1, 7], down: 1us}]\n";
	static const struct wf_override ends[][1] = {
		{ { "--set", "topology.radix", "0" } },
		{ { "--set", "topology.radix", "1024" } },
		{ { "--set", "fabric.switch.ports", "0" } },
		{ { "--set", "fabric.switch.ports", "1024" } },
		{ { "--set", "topology.kind", "single" } },
	};
	static const unsigned counts[] = { 24 + 12, 8 + 1, 24 + 12, 8 + 1, 1 };
	struct wf_scenario s;
	char words[80];

	(void)state;
	load(&s, text, NULL);
	assert_int_equal(s.n_nets, 2);
	assert_ptr_equal(s.fabrics[0].net, s.fabrics[2].net);
	assert_int_equal(switches(&s, 0), 12);
	assert_int_equal(switches(&s, 1), 10);
	assert_int_equal(s.fabrics[1].net->cfg.radix, 128);
	assert_int_equal(s.fabrics[1].n_events, 1);
	assert_int_equal(s.n_hosts, 256);
	assert_int_equal(s.host_rate, UINT64_C(400000000000));
	wf_scenario_net_text(&s, true, words, sizeof(words));
	assert_string_equal(words, "12 (ib-ndr, ib-ndr-static) or 10 (roce-400g) switches, "
	                           "512 or 512 links");
	wf_scenario_fini(&s);
	for (size_t i = 0; i < WF_ARRAY_SIZE(ends); i++) {
		const struct wf_scenario_opts opts = { .overrides = ends[i], .n_overrides = 1 };

		/* The fault's link is not there in all of them. */
		load(&s,
		     "topology: {kind: rail, hosts: 256, gpus: 8}\n"
		     "fabric: [ib-ndr, roce-400g]\n"
		     "traffic: [{kind: permutation, size: 1KB}]\n",
		     &opts);
		assert_int_equal(s.n_nets, 1);
		assert_int_equal(switches(&s, 1), counts[i]);
		wf_scenario_fini(&s);
	}
}

/* Why it is refused. */
static struct wf_err why_not(const char *text)
{
	const struct wf_scenario_opts opts = { .paths = &paths };
	struct wf_err err = { "" };
	struct wf_scenario s;
	int rc = wf_scenario_parse(&s, text, strlen(text), "x.yaml", &opts, &err);

	if (rc == 0)
		rc = wf_scenario_build(&s, &err);
	assert_int_equal(rc, -EINVAL);
	wf_scenario_fini(&s);
	return err;
}

static void refuse(const char *text, const char *words)
{
	struct wf_err err = why_not(text);

	if (strstr(err.text, words) == NULL)
		fail_msg("'%s' is not in '%s'", words, err.text);
}

/*
 * What only one of the fabrics has is an error that names the other; so is what its switch cannot.
 */
static void test_nets_differ(void **state)
{
	struct wf_err err;

	(void)state;
	refuse("topology: {kind: rail, hosts: 256, gpus: 8}\n"
	       "fabric: [ib-ndr, roce-400g]\n"
	       "traffic: [{kind: permutation}]\n"
	       "faults:\n  - {link: [group0-rail7, spine3], down: 1us}\n",
	       "x.yaml:5:12: link: the topology of roce-400g has no node 'spine3'");
	refuse("topology: {kind: leaf-spine, hosts: 4096, cable.host: 2m}\n"
	       "fabric: [roce-400g, ib-ndr]\n"
	       "traffic: [{kind: permutation}]\n",
	       "x.yaml:1:37: radix: a leaf-spine of 64-port switches holds at most 2048 hosts at "
	       "these rates and blocking, not 4096; radix 92 or more would do (ib-ndr: "
	       "switch.ports 64)");
	/* What has nothing to do with the switch's ports does not name them. */
	err = why_not("topology: {kind: rail, hosts: 15, gpus: 8}\n"
	              "fabric: ib-ndr\n"
	              "traffic: [{kind: permutation}]\n");
	assert_string_equal(
		err.text,
		"x.yaml:1:31: hosts: 15 hosts are not whole servers of 8 GPUs; 16 would be");
	refuse("topology: {kind: dragonfly, hosts: 4000, global_links: 2}\n"
	       "fabric: {profile: ib-ndr, switch.ports: 8}\n"
	       "traffic: [{kind: permutation}]\n",
	       "(ib-ndr: switch.ports 8)");
	refuse("topology: {kind: rail, hosts: 16, gpus: 8}\n"
	       "fabric: {profile: ib-ndr, switch.ports: 1025}\n"
	       "traffic: [{kind: permutation}]\n",
	       "1025");
}

static void test_command_line(void **state)
{
	static const struct wf_override overrides[] = {
		{ "--seed 9", "seed", "9" },          { "--set", "fabric.mtu", "1KiB" },
		{ "--set", "topology.hosts", "4" },   { "--set", "traffic.size", "5KB" },
		{ "--set", "traffic.1.size", "6KB" }, { "--set", "run.until", "1ms" },
	};
	const struct wf_scenario_opts opts = {
		.fabrics = "ib-ndr,roce-400g",
		.overrides = overrides,
		.n_overrides = WF_ARRAY_SIZE(overrides),
	};
	struct wf_scenario s;

	(void)state;
	load(&s, plain, &opts);
	assert_int_equal(s.cfg.seed, 9);
	assert_int_equal(s.n_fabrics, 2);
	assert_string_equal(s.fabrics[1].label, "roce-400g");
	assert_int_equal(s.fabrics[0].cfg.mtu, 1024);
	assert_int_equal(s.fabrics[1].cfg.mtu, 1024);
	assert_int_equal(s.n_hosts, 4);
	assert_int_equal(s.flows.flow[0].bytes, 5000);
	assert_int_equal(s.flows.flow[3].bytes, 6000);
	assert_int_equal(s.cfg.until, WF_MS);
	wf_scenario_fini(&s);
}

static void test_sizes(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 8}\n"
		"fabric: roce-400g\n"
		"traffic: [{kind: random, sizes: hadoop, load: 30%, duration: 1ms}]\n";
	struct wf_scenario s;

	(void)state;
	load(&s, text, NULL);
	assert_int_equal(s.traffic[0].cfg.cdf.n, 20);
	assert_true(s.flows.n > 500);
	wf_scenario_fini(&s);
}

/* Every profile stands: it reads, fits itself, and its lossless classes are as it says. */
static void test_profiles(void **state)
{
	struct wf_arena arena;
	const char *const *names;
	size_t n;

	(void)state;
	wf_arena_init(&arena);
	assert_int_equal(wf_paths_list(&paths, "", ".yaml", &arena, &names, &n), 0);
	assert_true(n >= 7);
	for (size_t i = 0; i < n; i++) {
		/* Whatever rates it is made for. */
		const struct wf_override any[] = {
			{ .where = "-s", .name = "fabric.nic.rate_min", .value = "0" },
			{ .where = "-s", .name = "fabric.nic.rate_max", .value = "0" },
		};
		const struct wf_scenario_opts opts = { .fabrics = names[i],
			                               .overrides = any,
			                               .n_overrides = WF_ARRAY_SIZE(any) };
		struct wf_scenario s;
		bool lossless = false;

		load(&s, plain, &opts);
		for (unsigned q = 0; q < s.fabrics[0].classes.n; q++)
			lossless |= s.fabrics[0].classes.queue[q].lossless;
		assert_int_equal(lossless, strcmp(s.fabrics[0].cfg.flowctl, "none") != 0);
		wf_scenario_fini(&s);
	}
	wf_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),  cmocka_unit_test(test_faults),
		cmocka_unit_test(test_fabrics), cmocka_unit_test(test_command_line),
		cmocka_unit_test(test_nets),    cmocka_unit_test(test_nets_differ),
		cmocka_unit_test(test_sizes),   cmocka_unit_test(test_profiles),
	};

	return cmocka_run_group_tests(tests, find_paths, NULL);
}
