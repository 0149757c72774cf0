/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: fabrics that weft's subnet manager manages, by packets that the fabric carries. */
/* ctest: tsan */
#include "managed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "wire/addr.h"

/* Every pair of hosts: the LFTs that the manager has set lead there, over as many links. */
static void check_paths(const struct managed *t)
{
	const struct wf_topo *topo = t->r.topo;
	const struct wf_routes *routes = t->r.sim->fabric.routes;

	for (uint32_t src = 0; src < topo->n_hosts; src++) {
		for (uint32_t dst = 0; dst < topo->n_hosts; dst++) {
			const struct wf_topo_node *n = &topo->nodes[topo->host_node[src]];
			uint16_t lid =
				wf_sma_port(wf_managed_sma(t->m, topo->host_node[dst]), 1)->lid;
			uint32_t at = topo->ports[n->first_port].peer;
			unsigned hops = 0;

			while (topo->nodes[at].host != dst) {
				uint8_t port = wf_sma_lft(wf_managed_sma(t->m, at), lid);

				n = &topo->nodes[at];
				assert_in_range(port, 1, n->n_ports);
				at = topo->ports[n->first_port + port - 1u].peer;
				assert_true(topo->nodes[at].kind == WF_TOPO_SWITCH ||
				            topo->nodes[at].host == dst);
				hops++;
			}
			assert_in_range(hops, 1, topo->nodes[at].kind == WF_TOPO_HOST ? 5 : 0);
			if (routes->leaf_of_host[src] == routes->leaf_of_host[dst])
				assert_int_equal(hops, 1);
		}
	}
}

/* ---- bringing it up ---- */

/* Before time begins, or in it: every port is active, every host is reached, flows pass. */
static void test_up(void **state)
{
	static const char *const kinds[] = { "single", "leaf-spine", "fat-tree" };
	struct managed t;

	(void)state;
	for (size_t i = 0; i < 2 * WF_ARRAY_SIZE(kinds); i++) {
		bool cold = i % 2 != 0;

		managed_init(&t, kinds[i / 2], 32);
		t.cfg.cold = cold;
		managed_topo(&t);
		rig_shift(&t.r, 32, 9, 200000);
		managed_build(&t, 1);
		managed_run(&t);
		assert_true(t.r.result->finished);
		check_paths(&t);
		assert_int_equal(t.result.master, 0);
		assert_int_equal(t.result.lost, 0);
		assert_int_equal(t.result.smps == 0, !cold);
		if (!cold)
			assert_int_equal(t.result.up, 0);
		managed_fini(&t);
	}
}

/*
 * The time of a first sweep by hand, on one switch with two hosts and nothing under way beside: a
 * request to the switch takes the manager's host's wire, the switch's agent and back: it is the
 * agents' times and the manager's, and 2 x 2 times some 0.8 us of wires and pipelines. What the
 * manager asks of its own adapter crosses no wire; what it asks of the other host crosses the
 * switch, whose agent handles it both ways.
 */
static void test_sweep_by_hand(void **state)
{
	struct managed t;
	wf_time least = 0, most = 0;

	(void)state;
	managed_init(&t, "single", 2);
	t.cfg.cold = true;
	t.sm.max_wire_smps = 1;
	managed_topo(&t);
	rig_flow(&t.r, 0, 1, 4096, 50 * WF_MS, 3);
	managed_build(&t, 1);
	managed_run(&t);
	assert_true(t.r.result->finished);
	for (unsigned k = 0; k < WF_SM_KINDS; k++) {
		uint64_t n = t.result.stats.count[k].sent;

		/* To its own adapter at the least, to the other host at the most. */
		least += (wf_time)n * (20 + 5) * WF_US;
		most += (wf_time)n * (3 * 20 + 5 + 4) * WF_US;
		assert_int_equal(t.result.stats.count[k].again, 0);
		assert_int_equal(t.result.stats.count[k].lost, 0);
	}
	assert_int_equal(t.result.stats.heavy, 1);
	assert_in_range(t.result.up, least, most);
	managed_fini(&t);
}

/* ---- links that are lost ---- */

/* From and to the hosts of leaf0 (0 to 3), over all spines, about the time when the link goes. */
static void lossy_flows(struct managed *t)
{
	for (uint32_t i = 0; i < 4; i++) {
		rig_flow(&t->r, i, 4 + 3 * i, 6000000, 900 * WF_US, 3);
		rig_flow(&t->r, 4 + 3 * i, i, 6000000, 900 * WF_US, 3);
	}
}

/* A link between switches goes: the trap makes the manager sweep, and traffic goes round it. */
static void test_link_lost(void **state)
{
	static const enum wf_flow_op ops[] = { WF_FLOW_WINDOW, WF_FLOW_WRITE };
	struct managed t;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(ops); i++) {
		managed_init(&t, "leaf-spine", 16);
		rig_topo(&t.r, "radix", "8");
		rig_set(&t.r, "sender.timeout", "1ms");
		managed_topo(&t);
		fault(&t, "leaf0", "spine0", WF_MS, true);
		lossy_flows(&t);
		/* Queue pairs try again for eight times at least this long. */
		if (ops[i] == WF_FLOW_WRITE)
			rig_set(&t.r, "sender.timeout", "8ms");
		for (size_t k = 0; k < t.r.flows.n; k++)
			t.r.flows.flow[k].op = (uint8_t)ops[i];
		managed_build(&t, 1);
		managed_run(&t);
		assert_true(t.r.result->finished);
		assert_int_equal(t.r.result->flows_failed, 0);
		assert_true(t.r.result->packets_dropped > 0);
		check_paths(&t);
		assert_int_equal(t.result.reroutes, 1);
		assert_false(t.result.pending);
		/* A heavy sweep of 22 nodes, in which four requests are under way. */
		assert_in_range(t.result.reroute_max, 2 * WF_MS, 40 * WF_MS);
		assert_true(t.result.stats.traps[0] > 0);
		managed_fini(&t);
	}
}

/* Without traps it takes until the next sweep. */
static void test_link_lost_without_traps(void **state)
{
	wf_time with = 0;
	struct managed t;

	(void)state;
	for (int trap = 1; trap >= 0; trap--) {
		managed_init(&t, "leaf-spine", 16);
		rig_topo(&t.r, "radix", "8");
		rig_set(&t.r, "sender.timeout", "1ms");
		managed_topo(&t);
		managed_set(&t, "sweep_on_trap", trap ? "true" : "false");
		managed_set(&t, "sweep_interval", "30ms");
		/* What the light sweep asks may be lost on the old paths. */
		managed_set(&t, "transaction_timeout", "1ms");
		fault(&t, "leaf0", "spine0", WF_MS, true);
		lossy_flows(&t);
		managed_build(&t, 1);
		managed_run(&t);
		assert_true(t.r.result->finished);
		assert_int_equal(t.result.reroutes, 1);
		if (trap)
			with = t.result.reroute_max;
		else
			assert_in_range(t.result.reroute_max, 29 * WF_MS,
			                29 * WF_MS + 2 * with + 4 * 4 * 2 * WF_MS);
		managed_fini(&t);
	}
}

/* What is done in the fabric does not depend on threads, whatever the manager does meanwhile. */
static void test_same_on_threads(void **state)
{
	struct wf_sim_result first;
	struct wf_managed_result managed;
	struct managed t;

	(void)state;
	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		managed_init(&t, "leaf-spine", 16);
		rig_topo(&t.r, "radix", "8");
		rig_set(&t.r, "sender.timeout", "1ms");
		t.cfg.n_managers = 2;
		t.cfg.manager[1] = 15;
		t.cfg.cold = true;
		t.sm.polling_timeout = WF_MS;
		managed_topo(&t);
		fault(&t, "leaf1", "spine1", 12 * WF_MS, true);
		fault(&t, "leaf1", "spine1", 30 * WF_MS, false);
		rig_shift(&t.r, 16, 5, 1000000);
		for (size_t k = 0; k < t.r.flows.n; k++)
			t.r.flows.flow[k].start = (wf_time)k * 3 * WF_MS;
		managed_build(&t, threads);
		managed_run(&t);
		assert_true(t.r.result->finished);
		if (threads == 1) {
			first = *t.r.result;
			managed = t.result;
		}
		assert_int_equal(first.end, t.r.result->end);
		assert_int_equal(first.hops, t.r.result->hops);
		assert_int_equal(first.packets_dropped, t.r.result->packets_dropped);
		assert_int_equal(managed.smps, t.result.smps);
		assert_int_equal(managed.reroute_max, t.result.reroute_max);
		assert_memory_equal(&managed.stats, &t.result.stats, sizeof(managed.stats));
		managed_fini(&t);
	}
}

/* ---- two managers ---- */

/*
 * Links that send again what they lose (LLR) do so in a managed fabric as well: nothing is lost,
 * and without it it is. Errors spare the manager's packets, as all link control.
 */
static void test_link_retry(void **state)
{
	static const char *const retry[] = { "llr", "none" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(retry); i++) {
		uint64_t again = 0;
		struct managed t;

		managed_init(&t, "leaf-spine", 8);
		rig_topo(&t.r, "radix", "8");
		rig_set(&t.r, "link.ber", "1e-6");
		rig_set(&t.r, "link.retry", retry[i]);
		rig_set(&t.r, "link.retry_max", "15");
		rig_set(&t.r, "sender.timeout", "100us");
		managed_topo(&t);
		for (uint32_t h = 0; h < 8; h++)
			rig_flow(&t.r, h, (h + 4) % 8, 1000000, 0, 3);
		managed_build(&t, 1);
		managed_run(&t);
		assert_true(t.r.result->finished);
		for (uint32_t k = 0; k < t.r.topo->n_nodes; k++) {
			for (uint32_t p = 0; p < t.r.topo->nodes[k].n_ports; p++) {
				for (unsigned q = 0; q < t.r.result->n_queues; q++) {
					struct wf_sim_counts c;

					assert_true(wf_sim_port_counts(t.r.sim, k, p, q, &c));
					again += c.link_retries;
				}
			}
		}
		/* 8 times 245 packets over four links, and 3.3 % of the packets on each. */
		if (i == 0)
			assert_in_range(again, 200, 340);
		else
			assert_int_equal(again, 0);
		assert_int_equal(t.r.result->packets_dropped == 0, i == 0);
		managed_fini(&t);
	}
}

/* The master's host is cut off: the other one sees it, takes over, and routes around what fails. */
static void test_handover(void **state)
{
	struct managed t;

	(void)state;
	managed_init(&t, "leaf-spine", 16);
	rig_topo(&t.r, "radix", "8");
	rig_set(&t.r, "sender.timeout", "1ms");
	t.cfg.n_managers = 2;
	t.cfg.manager[1] = 15;
	managed_set(&t, "sm_priority", "3");
	managed_set(&t, "sminfo_polling_timeout", "2ms");
	managed_set(&t, "polling_retry_number", "2");
	managed_set(&t, "transaction_timeout", "1ms");
	managed_topo(&t);
	fault(&t, "h0", "leaf0", WF_MS, true);
	fault(&t, "leaf1", "spine0", 40 * WF_MS, true);
	for (uint32_t h = 1; h < 15; h++)
		rig_flow(&t.r, h, h == 1 ? 15 : h - 1, 1000000, h * 7 * WF_MS, 3);
	managed_build(&t, 1);
	managed_run(&t);
	assert_true(t.r.result->finished);
	assert_int_equal(t.result.master, 15);
	/* Both changes: that of the master's own link, and the later one. */
	assert_true(t.result.reroutes >= 2);
	assert_false(t.result.pending);
	assert_int_equal(wf_sm_state(wf_managed_sm(t.m, 15)), WF_SM_MASTER);
	managed_fini(&t);
}

/* ---- partitions ---- */

/* Two tenants cannot exchange a packet; who tries is counted and told to the manager. */
static void test_tenants(void **state)
{
	static const char text[] = "Default=0x7fff : SELF=full, ALL_SWITCHES=full ;\n"
				   "red=0x8001 : %s=full, %s=full ;\n"
				   "blue=0x8002 : %s=full, %s=full ;\n";
	char conf[400], guid[4][24];
	struct managed t;
	uint64_t traps = 0;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		snprintf(guid[i], sizeof(guid[i]), "0x%" PRIx64, wf_wire_guid_host(1 + i));
	snprintf(conf, sizeof(conf), text, guid[0], guid[1], guid[2], guid[3]);
	managed_init(&t, "single", 8);
	t.sm.partitions = conf;
	t.sm.partitions_name = "partitions.conf";
	managed_topo(&t);
	rig_flow(&t.r, 1, 2, 100000, 0, 3); /* both red: but with the default key */
	t.r.flows.flow[0].op = WF_FLOW_WRITE;
	t.r.until = 20 * WF_MS;
	managed_build(&t, 1);
	managed_run(&t);
	assert_int_equal(wf_sim_flow_end(t.r.sim, 0), WF_TIME_NEVER);
	assert_true(t.r.result->packets_dropped > 0);
	for (unsigned k = 0; k <= WF_SM_TRAPS; k++)
		traps += t.result.stats.traps[k];
	assert_true(traps > 0);
	assert_int_equal(wf_sma_pkey(wf_managed_sma(t.m, t.r.topo->host_node[1]), 1, 1), 0x8001);
	assert_int_equal(wf_sma_pkey(wf_managed_sma(t.m, t.r.topo->host_node[3]), 1, 1), 0x8002);
	managed_fini(&t);
}

/* ---- lanes of paths ---- */

/*
 * A dragonfly whose hosts all send over its global links. Minimal routing on one lane closes
 * circles; dfsssp's paths have service levels, so that nothing stands still.
 */
static void test_levels(void **state)
{
	struct managed t;

	(void)state;
	managed_init(&t, "dragonfly", 72);
	rig_set(&t.r, "vl.count", "4");
	rig_set(&t.r, "vl.buffer", "8KiB");
	managed_set(&t, "routing_engine", "dfsssp");
	managed_set(&t, "vls", "4");
	managed_topo(&t);
	rig_shift(&t.r, t.r.topo->n_hosts, 19, 2000000);
	t.r.until = 20 * WF_MS;
	managed_build(&t, 1);
	managed_run(&t);
	assert_true(t.r.result->finished);
	assert_int_equal(t.r.result->packets_dropped, 0);
	/* More than one lane is used between switches. */
	assert_true(t.r.result->queue[1].tx_bytes > 0);
	managed_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_up),
		cmocka_unit_test(test_sweep_by_hand),
		cmocka_unit_test(test_link_lost),
		cmocka_unit_test(test_link_lost_without_traps),
		cmocka_unit_test(test_same_on_threads),
		cmocka_unit_test(test_link_retry),
		cmocka_unit_test(test_handover),
		cmocka_unit_test(test_tenants),
		cmocka_unit_test(test_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
