/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_devices.c - one device that is set otherwise than the others, and what comes of it: classes,
 * priorities and queues by maps, PFC on one side, ECN and DCQCN off in one place, MTUs, hashes.
 */
#include "scen.h"

#define COUNTER(field) offsetof(struct wf_sim_counts, field)

/* Seven hosts of one leaf send to the first; each fabric has one mistake. */
static const char incast[] =
	"topology: {kind: leaf-spine, hosts: 16, radix: 16, host_rate: 100Gbps}\n"
	"fabric:\n"
	"  - {profile: roce-100g, name: healthy}\n"
	"  - {profile: roce-100g, name: stock map, devices: {switches: {maps: {dscp_tc: sonic}}}}\n"
	"  - {profile: roce-100g, name: dscp 3,\n"
	"     devices: {switches: {maps: {dscp_tc: sonic}}, hosts: {nic: {dscp: '3:3'}}}}\n"
	"  - {profile: roce-100g, name: no ecn, devices: {leaf0: {classes: {ecn: []}}}}\n"
	"  - {profile: roce-100g, name: no dcqcn, devices: {h1: {cc: {reaction_point: false}}}}\n"
	"  - {profile: roce-100g, name: no cnps, devices: {h0: {cc: {notification_point: "
	"false}}}}\n"
	"traffic: [{kind: incast, op: write, fanin: 7, target: 0, size: 8MB}]\n"
	"run: {until: 10ms}\n";

/*
 * SONiC's stock map makes DSCP 26, which RoCE's packets have by default, traffic class 1. The
 * profile names 0, 3 and 6, so it shares the queue of class 0, which is lossy: nothing pauses,
 * nothing is marked, and the incast loses packets there alone. With DSCP 3, which that map has as
 * class 3, all is as without a map.
 */
static void test_stock_map(void **state)
{
	struct scen s;

	(void)state;
	scen_load(&s, incast);
	scen_run(&s, "healthy", 1);
	assert_int_equal(s.total.drops, 0);
	assert_int_equal(scen_queue(&s, 0).tx_packets, 0);
	scen_run(&s, "stock map", 1);
	assert_true(scen_port(&s, "leaf0", "h0", 0).tx_packets > 5000);
	assert_int_equal(scen_port(&s, "leaf0", "h0", 3).tx_packets, 0);
	assert_true(s.total.drops_buffer > 1000);
	assert_int_equal(scen_queue(&s, 0).drops_buffer, s.total.drops);
	assert_int_equal(s.total.pause_tx, 0);
	assert_int_equal(s.total.ecn_marked, 0);
	assert_int_equal(s.lossless_drops, 0);
	scen_run(&s, "dscp 3", 1);
	assert_int_equal(scen_queue(&s, 0).tx_packets, 0);
	assert_int_equal(s.total.drops, 0);
	assert_true(s.total.ecn_marked > 1000);
	scen_fini(&s);
}

/*
 * Without marks in the one congested switch nobody slows down: PFC stops all seven hosts, the queue
 * is longer. DCQCN off at one adapter: PFC has to stop that one. No CNPs from the receiver: as
 * without marks.
 */
static void test_congestion_control_off(void **state)
{
	struct wf_sim_counts h1;
	uint64_t longest;
	struct scen s;

	(void)state;
	scen_load(&s, incast);
	scen_run(&s, "healthy", 1);
	longest = s.total.max_queue_bytes;
	assert_int_equal(s.total.pause_tx, 0);
	assert_true(s.total.ecn_marked > 1000);
	scen_run(&s, "no ecn", 1);
	assert_int_equal(s.total.ecn_marked, 0);
	assert_int_equal(scen_ports_with(&s, true, COUNTER(pause_rx)), 7);
	assert_true(s.total.max_queue_bytes > longest * 3 / 2);
	scen_run(&s, "no cnps", 1);
	assert_true(s.total.ecn_marked > 1000);
	assert_int_equal(s.result->adapters[WF_CTR_NP_CNP_SENT], 0);
	assert_int_equal(scen_ports_with(&s, true, COUNTER(pause_rx)), 7);
	scen_run(&s, "no dcqcn", 1);
	h1 = scen_port(&s, "h1", "leaf0", 3);
	assert_true(h1.pause_rx > 0);
	assert_int_equal(scen_ports_with(&s, true, COUNTER(pause_rx)), 1);
	scen_fini(&s);
}

/*
 * Two senders whose CNPs come by queues that others, without congestion control, keep full. In a
 * class of their own CNPs overtake them; in the data's class they wait for their turn, the senders
 * hear later, and their receiver's queue gets twice as long. Of five seeds, each.
 */
static void test_cnps_in_the_data_class(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 10, host_rate: 100Gbps}\n"
		"seed: %u\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: own class}\n"
		"  - {profile: roce-100g, name: data class, cc: {cnp_802p_prio: 3}}\n"
		"devices:\n"
		"  h?: {cc: {reaction_point: false}}\n"
		"  h1: {cc: {reaction_point: true}}\n"
		"  h2: {cc: {reaction_point: true}}\n"
		"traffic:\n"
		"  - {kind: incast, op: write, fanin: 2, target: 0, size: 8MB, start: 1ms}\n"
		"  - {kind: incast, op: write, fanin: 6, target: 1, size: 20MB}\n"
		"  - {kind: incast, op: write, fanin: 6, target: 2, size: 20MB}\n"
		"run: {until: 2ms}\n";

	(void)state;
	for (unsigned seed = 1; seed <= 5; seed++) {
		struct wf_sim_counts own, data;
		char with_seed[1024];
		struct scen s;

		snprintf(with_seed, sizeof(with_seed), text, seed);
		scen_load(&s, with_seed);
		scen_run(&s, "own class", 1);
		own = scen_port(&s, "leaf0", "h0", 3);
		assert_true(scen_port(&s, "leaf0", "h1", 6).tx_packets > 10);
		scen_run(&s, "data class", 1);
		data = scen_port(&s, "leaf0", "h0", 3);
		assert_int_equal(scen_port(&s, "leaf0", "h1", 6).tx_packets, 0);
		assert_true(data.max_queue_bytes > 2 * own.max_queue_bytes);
		assert_true(data.ecn_marked > 4 * own.ecn_marked);
		scen_fini(&s);
	}
}

/*
 * All hosts of two leaves send to the first host by one spine, whose pauses, or whose peer's, one
 * side does not know of.
 */
static const char sides[] =
	"topology: {kind: leaf-spine, hosts: 8, radix: 8, blocking: 4, host_rate: 100Gbps}\n"
	"fabric:\n"
	"  - {profile: roce-100g, name: healthy, cc: {algorithm: none}}\n"
	"  - {profile: roce-100g, name: deaf, cc: {algorithm: none},\n"
	"     devices: {'spine0:leaf0': {pfc: {rx: none}}}}\n"
	"  - {profile: roce-100g, name: mute, cc: {algorithm: none},\n"
	"     devices: {'leaf0:spine0': {pfc: {tx: none}}}}\n"
	"  - {profile: roce-100g, name: other priority, cc: {algorithm: none},\n"
	"     devices: {'spine0:leaf0': {maps: {pfc_queue: '3:5'}}}}\n"
	"traffic: [{kind: incast, op: write, fanin: 7, target: 0, size: 4MB}]\n"
	"run: {until: 20ms}\n";

/*
 * One side of one link disagrees about PFC: the class is lossless everywhere else, and loses
 * packets at the port by which they come to the leaf.
 */
static void test_sides_that_disagree(void **state)
{
	static const char *const wrong[] = { "deaf", "mute", "other priority" };
	struct scen s;

	(void)state;
	scen_load(&s, sides);
	scen_run(&s, "healthy", 1);
	assert_int_equal(s.total.drops, 0);
	assert_true(s.total.pause_tx > 0);
	for (size_t i = 0; i < WF_ARRAY_SIZE(wrong); i++) {
		uint64_t at_leaf;

		scen_run(&s, wrong[i], 1);
		at_leaf = scen_port(&s, "leaf0", "spine0", 3).drops_buffer;
		assert_true(at_leaf > 0);
		assert_int_equal(s.total.drops, at_leaf);
		assert_int_equal(s.lossless_drops, at_leaf);
		/* Who may hear of it is still paused: hosts, by their leaves. */
		assert_true(s.total.pause_tx > 0);
	}
	scen_fini(&s);
}

/*
 * Packets of 4096 bytes of payload do not pass a port of 1500: all are dropped there, and a flow of
 * smaller ones, by another way, is not.
 */
static void test_mtu(void **state)
{
	static const char text[] = "topology: {kind: single, hosts: 4, host_rate: 100Gbps}\n"
				   "fabric:\n"
				   "  - {profile: roce-100g, name: large, mtu: 4096B, devices: "
				   "{'leaf0:h1': {port: {mtu: 1500B}}}}\n"
				   "  - {profile: roce-100g, name: small, mtu: 1024B, devices: "
				   "{'leaf0:h1': {port: {mtu: 1500B}}}}\n"
				   "traffic: [{kind: shift, op: write, distance: 1, size: 100KB}]\n"
				   "run: {until: 1ms}\n";
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "large", 1);
	assert_int_equal(s.result->flows_done, 2);
	/*
	 * 100,000 B are 25 packets, to h1 and from it; the last, of 1,696 B, is too large as well.
	 */
	assert_int_equal(s.total.drops_mtu, 50);
	assert_int_equal(scen_port(&s, "leaf0", "h1", 3).drops_mtu, 50);
	scen_run(&s, "small", 1);
	assert_int_equal(s.result->flows_done, 4);
	assert_int_equal(s.total.drops, 0);
	scen_fini(&s);
}

/*
 * A switch that serves its two classes otherwise than the rest: two flows share one link for the
 * whole run; 90:10 by weight gives the first nine tenths. Each flow's share of what the port sent
 * is within one per cent of its weight's.
 */
static void test_weights(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 3, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: same, cc: {algorithm: none}, classes: {lossless: "
		"[3, 4], weights: {3: 50, 4: 50}}}\n"
		"  - {profile: roce-100g, name: other, cc: {algorithm: none}, classes: {lossless: "
		"[3, 4], weights: {3: 50, 4: 50}},\n"
		"     devices: {'leaf0:h0': {classes: {weights: {3: 90, 4: 10}}}}}\n"
		"traffic:\n"
		"  - {kind: incast, op: write, fanin: 2, target: 0, size: 100MB, class: 3}\n"
		"  - {kind: incast, op: write, fanin: 2, target: 0, size: 100MB, class: 4}\n"
		"run: {until: 12ms}\n";
	static const unsigned want[2] = { 50, 90 };
	static const char *const name[2] = { "same", "other" };
	struct scen s;

	(void)state;
	scen_load(&s, text);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t three, four;

		scen_run(&s, name[i], 1);
		three = scen_port(&s, "leaf0", "h0", 3).tx_bytes;
		four = scen_port(&s, "leaf0", "h0", 4).tx_bytes;
		assert_in_range(three * 1000 / (three + four), want[i] * 10 - 10,
		                want[i] * 10 + 10);
	}
	scen_fini(&s);
}

/* Of the ports that lead up from the second tier, how many carried something. */
static unsigned uplinks_used(const struct scen *s, unsigned *all_p)
{
	const struct wf_topo *topo = s->fabric->net->topo;
	unsigned used = 0;

	*all_p = 0;
	for (uint32_t id = 0; id < topo->n_nodes; id++) {
		const struct wf_topo_node *node = &topo->nodes[id];

		for (uint32_t p = 0; node->tier == 2 && p < node->n_ports; p++) {
			struct wf_sim_counts c;
			uint64_t packets = 0;

			if (topo->nodes[topo->ports[node->first_port + p].peer].tier != 3)
				continue;
			for (unsigned q = 0; q < s->result->n_queues; q++) {
				assert_true(wf_sim_port_counts(s->sim, id, p, q, &c));
				packets += c.tx_packets;
			}
			++*all_p;
			used += packets != 0;
		}
	}
	return used;
}

/*
 * Three tiers whose switches hash alike: what an edge switch sends up by its port i, the switch
 * above sends up by its port i as well. So of the 4 uplinks of each only one is used: 32 of 128.
 * With seeds of their own all are, and flows take less time.
 */
static void test_polarisation(void **state)
{
	static const char text[] =
		"topology: {kind: fat-tree, hosts: 128, radix: 8, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: healthy, ecn: {kmin: 1KB, kmax: 2KB}}\n"
		"  - {profile: roce-100g, name: polarised, ecn: {kmin: 1KB, kmax: 2KB}, hash: "
		"{seed: 7}}\n"
		"seed: %u\n"
		"traffic: [{kind: permutation, op: write, size: 1MB}]\n"
		"run: {until: 10ms}\n";

	(void)state;
	for (unsigned seed = 1; seed <= 3; seed++) {
		uint64_t healthy;
		unsigned all;
		char with_seed[1024];
		struct scen s;

		snprintf(with_seed, sizeof(with_seed), text, seed);
		scen_load(&s, with_seed);
		scen_run(&s, "healthy", 1);
		healthy = wf_hist_mean(&s.result->flow_time);
		assert_true(uplinks_used(&s, &all) > 100);
		scen_run(&s, "polarised", 1);
		assert_int_equal(uplinks_used(&s, &all), 32);
		assert_int_equal(all, 128);
		assert_true(wf_hist_mean(&s.result->flow_time) > healthy * 6 / 5);
		scen_fini(&s);
	}
}

/* All of it at once, on 1, 2 and 4 threads. */
static void test_same_on_threads(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 32, radix: 16, host_rate: 100Gbps}\n"
		"fabric: {profile: roce-100g, name: all}\n"
		"devices:\n"
		"  leaf0: {maps: {dscp_tc: sonic}}\n"
		"  leaf1: {classes: {ecn: []}, pfc: {tx: none}}\n"
		"  spine0: {pfc: {rx: none}, hash: {seed: 3}}\n"
		"  h*: {nic: {dscp: '3:26,6:40'}}\n"
		"  h9: {cc: {reaction_point: false}, nic: {pcie: 50Gbps}}\n"
		"  leaf2-spine1: {link: {ber: 1e-6}}\n"
		"  'leaf3:h24': {port: {mtu: 1500B}}\n"
		"traffic:\n"
		"  - {kind: permutation, op: write, size: 500KB}\n"
		"  - {kind: incast, op: write, fanin: 20, target: 3, size: 1MB}\n"
		"run: {until: 3ms}\n";
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_same(&s, "all");
	assert_true(s.total.drops_mtu > 0 && s.total.drops_error > 0);
	assert_true(s.total.drops_buffer > 0);
	scen_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stock_map),
		cmocka_unit_test(test_congestion_control_off),
		cmocka_unit_test(test_cnps_in_the_data_class),
		cmocka_unit_test(test_sides_that_disagree),
		cmocka_unit_test(test_mtu),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_polarisation),
		cmocka_unit_test(test_same_on_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
