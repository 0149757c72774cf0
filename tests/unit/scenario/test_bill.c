/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bill.c - what a network is made of, against hand calculations, NVIDIA's reference
 * architecture and a public cost sheet.
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

#include "scenario/scenario.h"

static struct wf_paths paths;

static int find_paths(void **state)
{
	(void)state;
	return wf_paths_init(&paths, NULL, NULL);
}

/* The bills of a topology's fabrics. */
static int load(struct wf_scenario *s, const char *topology, const char *fabric, struct wf_err *err)
{
	const struct wf_scenario_opts opts = { .paths = &paths };
	char text[400];
	int rc;

	snprintf(text, sizeof(text),
	         "topology: {%s}\nfabric: %s\ntraffic: [{kind: permutation, size: 1KB}]\n",
	         topology, fabric);
	rc = wf_scenario_parse(s, text, strlen(text), "x.yaml", &opts, err);
	return rc != 0 ? rc : wf_scenario_build(s, err);
}

static struct wf_bill bill_of(const char *topology, const char *fabric)
{
	struct wf_err err = { "" };
	struct wf_scenario s;
	struct wf_bill bill;

	if (load(&s, topology, fabric, &err) != 0)
		fail_msg("%s", err.text);
	bill = s.fabrics[0].bill;
	wf_scenario_fini(&s);
	return bill;
}

/*
 * 32 servers of 8, by hand. 64 ports: 8 leaves and 4 spines, all ports used but none too many;
 * copper to the hosts, fibre above, a transceiver for each two of its 512 ends.
 */
static void test_by_hand(void **state)
{
	struct wf_bill b = bill_of("kind: auto, hosts: 256, cable: {host: 3m}", "ib-ndr");

	(void)state;
	assert_int_equal(b.switches, 12);
	assert_int_equal(b.tiers, 2);
	assert_int_equal(b.ports, 64);
	assert_int_equal(b.most_ports, 64);
	assert_int_equal(b.ports_used, 12 * 64);
	assert_int_equal(b.host_cables, 256);
	assert_int_equal(b.switch_cables, 256);
	assert_true(b.media_known);
	assert_int_equal(b.copper, 256);
	assert_int_equal(b.fibre, 256);
	assert_int_equal(b.transceivers, 256);
	assert_int_equal(b.dollars.low, 12 * 36000 + 256 * 119 + 256 * 338);
	assert_int_equal(b.dollars.high, 12 * 50000 + 256 * 199 + 256 * 1280);
	/* 12 x 747 + 256 x 0.1 + 256 x 17 = 13,341.6 */
	assert_int_equal(b.watts.low, 13342);
	assert_int_equal(b.watts.high, 13342);

	/* 128 ports: 4 leaves and 2 spines. */
	b = bill_of("kind: auto, hosts: 256", "roce-400g-th5");
	assert_int_equal(b.switches, 6);
	assert_int_equal(b.dollars.low, 6 * 33894 + 256 * 119 + 256 * 338);
	assert_int_equal(b.watts.low, 6 * 640 + 26 + 256 * 17);
	assert_int_equal(b.watts.high, 6 * 913 + 26 + 256 * 17);
	/*
	 * One switch, and copper 2 m long; 4 m, and it is 128 transceivers in hosts and 64 in the
	 * switch.
	 */
	b = bill_of("kind: auto, hosts: 128, cable: {host: 2m}", "roce-400g");
	assert_int_equal(b.switches, 1);
	assert_int_equal(b.tiers, 1);
	assert_int_equal(b.switch_cables, 0);
	assert_int_equal(b.transceivers, 0);
	assert_int_equal(b.dollars.high, 87000 + 128 * 199);
	b = bill_of("kind: auto, hosts: 128, cable: {host: 4m}", "roce-400g");
	assert_int_equal(b.transceivers, 128 + 64);
	assert_int_equal(b.watts.high, 940 + 128 * 9 + 64 * 17);
	/* Copper between switches ends at 2 m. */
	b = bill_of("kind: auto, hosts: 256, cable: {fabric: 2m}", "ib-ndr");
	assert_int_equal(b.fibre, 0);
	b = bill_of("kind: auto, hosts: 256, cable: {fabric: 3m}", "ib-ndr");
	assert_int_equal(b.fibre, 256);
}

/*
 * 32 adapters with two ports in pairs of leaves have 64 cables to 4 leaves of 16 and 16 uplinks; in
 * two planes they have the same in two networks.
 */
static void test_two_ports(void **state)
{
	struct wf_bill b =
		bill_of("kind: leaf-spine, hosts: 32, ports: 2, radix: 32, host_rate: 400Gbps",
	                "roce-400g");

	(void)state;
	assert_int_equal(b.switches, 4 + 2);
	assert_int_equal(b.host_cables, 64);
	assert_int_equal(b.switch_cables, 64);
	assert_int_equal(b.ports_used, 3 * 64);
	assert_int_equal(b.copper, 64);
	assert_int_equal(b.fibre, 64);
	b = bill_of("kind: leaf-spine, hosts: 32, ports: 2, homing: planes, radix: 32",
	            "roce-400g");
	assert_int_equal(b.switches, 2 * (2 + 1));
	assert_int_equal(b.host_cables, 64);
	assert_int_equal(b.switch_cables, 64);
}

/*
 * 1,024 GPUs: the public cost sheet (August 2024) has 48 switches of 36,000 dollars and 2,048 links
 * of 1,280, 1.73 and 2.62 million; all fibre. NVIDIA's RA for the B200 has the same 32 leaves, 16
 * spines and cables. Of watts: 17 W for two ports and 9 W a host are 34.5 W an endpoint in two
 * tiers, 51.5 W in three.
 */
static void test_published(void **state)
{
	struct wf_bill b = bill_of("kind: auto, hosts: 1024, cable: {host: 20m}", "ib-ndr");
	uint64_t sheet = UINT64_C(48) * 36000 + UINT64_C(2048) * 1280;

	(void)state;
	assert_int_equal(b.switches, 48);
	assert_int_equal(b.fibre, 2048);
	assert_int_equal(b.copper, 0);
	assert_int_equal(sheet / 10000, 434);
	assert_true(b.dollars.low < sheet && sheet < b.dollars.high);
	assert_int_equal(b.dollars.high - sheet, 48 * (50000 - 36000));
	assert_int_equal(b.watts.low, 48 * 747 + 1024 * 69 / 2);

	b = bill_of("kind: auto, hosts: 4096, cable: {host: 20m}", "ib-ndr");
	assert_int_equal(b.switches, 320);
	assert_int_equal(b.tiers, 3);
	assert_int_equal(b.watts.low, 320 * 747 + 4096 * 103 / 2);
}

/* What nobody said is not known, and nothing is put in its place. */
static void test_not_known(void **state)
{
	struct wf_bill b = bill_of("kind: rail, hosts: 64, host_rate: 200Gbps", "ib-hdr");

	(void)state;
	assert_int_equal(b.switches, 8 + 2);
	assert_int_equal(b.host_cables, 64);
	assert_false(b.media_known);
	assert_int_equal(b.transceivers, 0);
	assert_int_equal(b.dollars.high, 0);
	assert_int_equal(b.watts.high, 0);
	/* Uplinks of a rate without a file; a switch without a model; more ports than it has. */
	b = bill_of("kind: rail, hosts: 64, fabric_rate: 800Gbps", "ib-ndr");
	assert_false(b.media_known);
	assert_int_equal(b.dollars.high, 0);
	b = bill_of("kind: single, hosts: 8", "{profile: ib-ndr, switch: {model: ''}}");
	assert_true(b.media_known);
	assert_int_equal(b.copper, 8);
	assert_int_equal(b.dollars.high, 0);
	b = bill_of("kind: single, hosts: 65", "ib-ndr");
	assert_int_equal(b.most_ports, 65);
	assert_int_equal(b.dollars.high, 0);
	assert_int_equal(b.watts.high, 0);
	/* Dragonfly: links between groups are the long ones. */
	b = bill_of("kind: dragonfly, hosts: 72, global_links: 2, cable: {fabric: 1m}", "ib-ndr");
	assert_int_equal(b.fibre, 36);
	assert_int_equal(b.copper, 72 + 54);
}

static void test_refusals(void **state)
{
	struct wf_err err = { "" };
	struct wf_scenario s;

	(void)state;
	assert_int_equal(load(&s, "kind: single, hosts: 8",
	                      "{profile: ib-ndr, switch: {model: qm970}}", &err),
	                 -EINVAL);
	assert_string_equal(err.text,
	                    "x.yaml:2:43: there is no switch 'qm970'; did you mean qm9700?");
	wf_scenario_fini(&s);
}

/* Every parameter at both ends of its range, and the sums from them. */
static void test_ends(void **state)
{
	static struct wf_switch_part sw;
	static struct wf_cable_part cable;
	const struct wf_bill_parts parts = { .sw = &sw, .host = &cable, .fabric = &cable };
	const struct {
		const struct wf_param *table;
		size_t n;
		void *config;
	} of[] = { { wf_switch_params, wf_switch_n_params, &sw },
		   { wf_cable_params, wf_cable_n_params, &cable } };
	struct wf_err err = { "" };
	struct wf_scenario s;
	struct wf_bill b;

	(void)state;
	assert_int_equal(load(&s, "kind: single, hosts: 3, cable: {host: 100m}", "ib-ndr", &err),
	                 0);
	for (int end = 0; end < 2; end++) {
		for (size_t k = 0; k < 2; k++) {
			for (size_t i = 0; i < of[k].n; i++) {
				const struct wf_param *row = &of[k].table[i];
				char text[40], more[40];

				snprintf(text, sizeof(text), "%lld%s",
				         (long long)(end == 0 ? row->min : row->max),
				         row->kind == WF_PARAM_LENGTH ? "mm" : "");
				snprintf(more, sizeof(more), "%lld%s", (long long)row->max + 1,
				         row->kind == WF_PARAM_LENGTH ? "mm" : "");
				assert_int_equal(wf_param_set(row, of[k].config, more, &err),
				                 -EINVAL);
				assert_int_equal(wf_param_set(row, of[k].config, text, &err), 0);
			}
		}
		wf_bill_count(&s.nets[0], &parts, &b);
		/* All 0: nothing is known, all is fibre. All at most: copper reaches. */
		assert_int_equal(b.fibre, end == 0 ? 3 : 0);
		assert_int_equal(b.transceivers, end == 0 ? 6 : 0);
		assert_int_equal(b.dollars.high, end == 0 ? 0 : UINT64_C(400000000));
		assert_int_equal(b.watts.high, end == 0 ? 0 : UINT64_C(1003000));
	}
	cable.copper_reach = 0;
	wf_bill_count(&s.nets[0], &parts, &b);
	assert_int_equal(b.transceivers, 3 + 1);
	assert_int_equal(b.watts.high, UINT64_C(1000000) + 3 * 1000 + 1000);
	wf_scenario_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),   cmocka_unit_test(test_two_ports),
		cmocka_unit_test(test_published), cmocka_unit_test(test_not_known),
		cmocka_unit_test(test_refusals),  cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, find_paths, NULL);
}
