/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_faults.c - what goes wrong at a time and is right again: links and devices that are down or
 * flap, adapters that pause without end, settings that change, switches that learn of it late.
 */
#include "scen.h"

#define COUNTER(field) offsetof(struct wf_sim_counts, field)

static const struct wf_sim_outage *outage(const struct scen *s, const char *name, const char *peer)
{
	const struct wf_topo *topo = s->fabric->net->topo;
	uint32_t port =
		topo->nodes[scen_device(s, name)->id].first_port + scen_port_to(s, name, peer);

	return &s->sim->faults.outages[topo->ports[port].link];
}

/*
 * A link that flaps goes down for 10 us every 100 us from 20 us on, for the last time at 420 us; a
 * device that dies takes all its links with it, until it is back. Everything arrives in the end.
 */
static void test_flap_and_death(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 16, radix: 8, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: roce, sender: {timeout: 50us}}\n"
		"  - {profile: ib-hdr, name: ib, sender: {timeout: 50us}}\n"
		"traffic: [{kind: permutation, op: write, size: 8MB}]\n"
		"faults:\n"
		"  - {on: leaf0-spine0/1, at: 20us, until: 450us, fault: flap, every: 100us, for: "
		"10us}\n"
		"  - {on: spine1, at: 100us, until: 300us, fault: down}\n"
		"run: {until: 20ms, reconverge: 5us}\n";
	static const char *const leaves[] = { "leaf0", "leaf1", "leaf2", "leaf3" };
	static const char *const fabrics[] = { "roce", "ib" };
	struct scen s;

	(void)state;
	scen_load(&s, text);
	for (size_t f = 0; f < WF_ARRAY_SIZE(fabrics); f++) {
		scen_run(&s, fabrics[f], 1);
		assert_int_equal(s.result->flows_done, 16);
		assert_int_equal(outage(&s, "leaf0", "spine0")->times, 5);
		assert_int_equal(outage(&s, "leaf0", "spine0")->before, 50 * WF_US);
		for (size_t i = 0; i < WF_ARRAY_SIZE(leaves); i++) {
			assert_int_equal(outage(&s, leaves[i], "spine1")->times, 1);
			assert_int_equal(outage(&s, leaves[i], "spine1")->before, 200 * WF_US);
		}
		assert_true(s.total.drops_down > 0);
		assert_int_equal(s.total.drops, s.total.drops_down);
	}
	scen_fini(&s);
}

/* A fabric's own faults happen to it alone, those of the scenario to all. */
static void test_twins(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: healthy}\n"
		"  - {profile: roce-100g, name: ill, sender: {timeout: 50us}, faults: [\n"
		"      {on: h1, at: 10us, until: 20us, fault: down},\n"
		"      {on: h2, at: 0us, set: {nic: {pcie: 10Gbps}}}]}\n"
		"traffic: [{kind: permutation, op: write, size: 1MB}]\n"
		"faults: [{on: h3, at: 200ms, fault: down}]\n"
		"run: {until: 30ms}\n";
	struct scen s;
	wf_time healthy;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "healthy", 1);
	assert_int_equal(s.fabric->n_events, 1);
	assert_int_equal(s.total.drops, 0);
	healthy = s.result->last_delivery;
	scen_run(&s, "ill", 1);
	assert_true(s.fabric->n_events > 3);
	assert_true(s.total.drops_down > 0);
	assert_int_equal(s.result->flows_done, 8);
	/* 1 MB at 10 Gb/s is 800 us; the others take no more than a tenth of it. */
	assert_true(healthy < 100 * WF_US && s.result->last_delivery > 800 * WF_US);
	scen_fini(&s);
}

/*
 * A link that two faults keep down is down until the later of them is over, and has been down once.
 */
static void test_overlap(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 100Gbps}\n"
		"fabric: {profile: roce-100g, name: f, sender: {timeout: 50us}}\n"
		"traffic: [{kind: permutation, op: write, size: 2MB}]\n"
		"faults:\n"
		"  - {on: leaf0, at: 20us, until: 60us, fault: down}\n"
		"  - {on: 'leaf0:h0', at: 40us, until: 90us, fault: down}\n"
		"  - {link: [h1, leaf0], down: 10us, up: 30us}\n"
		"run: {until: 5ms, reconverge: 5us}\n";
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 8);
	assert_int_equal(outage(&s, "leaf0", "h0")->times, 1);
	assert_int_equal(outage(&s, "leaf0", "h0")->before, 70 * WF_US);
	assert_int_equal(outage(&s, "leaf0", "h1")->before, 50 * WF_US);
	scen_fini(&s);
}

/*
 * h5 lets nobody send to it from 100 us to 600 us. Its leaf's port is stopped for those 500 us, but
 * for the time that a frame takes (some us); the leaf fills up and stops hosts that have nothing to
 * do with h5. With InfiniBand credits do the same. Nothing is lost.
 */
static void test_storm(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 16, radix: 8, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: roce}\n"
		"  - {profile: ib-hdr, name: ib}\n"
		"traffic:\n"
		"  - {kind: permutation, op: write, size: 10MB}\n"
		"  - {kind: incast, op: write, fanin: 4, target: 5, size: 4MB}\n"
		"faults: [{on: h5, at: 100us, until: 600us, fault: pause-storm}]\n"
		"run: {until: 20ms}\n";
	struct wf_sim_counts port;
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "roce", 1);
	assert_int_equal(s.result->flows_done, 20);
	assert_int_equal(s.total.drops, 0);
	port = scen_port(&s, "leaf1", "h5", 3);
	assert_in_range(port.paused_ps, 498 * WF_US, 502 * WF_US);
	assert_true(scen_ports_with(&s, true, COUNTER(pause_rx)) > 4);
	scen_run(&s, "ib", 1);
	assert_int_equal(s.result->flows_done, 20);
	assert_int_equal(s.total.drops, 0);
	assert_true(scen_port(&s, "leaf1", "h5", 3).credit_wait_ps > 480 * WF_US);
	assert_true(scen_ports_with(&s, true, COUNTER(credit_wait_ps)) > 4);
	scen_fini(&s);
}

/*
 * One flow of 5 MB by a link that comes up with a quarter of its rate for 200 us: it is late by the
 * 150 us of line time that are missing, within the time of a few packets (a packet of 4.2 KB takes
 * 0.33 us, 1.3 us at 25 Gb/s).
 */
static void test_slow_link(void **state)
{
	static const char slow[] =
		"faults: [{on: h1-leaf0, at: 100us, until: 300us, set: {link: {rate: 25Gbps}}}]\n";
	wf_time end[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		char whole[1024];
		struct scen s;

		snprintf(whole, sizeof(whole), "%s%s",
		         "topology: {kind: single, hosts: 2, host_rate: 100Gbps}\n"
		         "fabric: {profile: roce-100g, name: f}\n"
		         "traffic: [{kind: incast, op: write, fanin: 1, target: 0, size: 5MB}]\n"
		         "run: {until: 5ms}\n",
		         i == 1 ? slow : "");
		scen_load(&s, whole);
		scen_run(&s, "f", 1);
		assert_int_equal(s.result->flows_done, 1);
		end[i] = s.result->last_delivery;
		scen_fini(&s);
	}
	assert_in_range(end[1] - end[0], 147 * WF_US, 153 * WF_US);
}

/*
 * All that h1 sends is lost on its link, and nothing that is sent to it, from 100 to 200 us. So
 * h1's flow stops, and that of h0 to h1 loses nothing but acknowledgements; what is lost is counted
 * where h1's packets should have come in.
 */
static void test_one_way_loss(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 3, host_rate: 100Gbps}\n"
		"fabric: {profile: roce-100g, name: f, sender: {timeout: 30us}}\n"
		"traffic: [{kind: shift, op: write, distance: 1, size: 4MB}]\n"
		"faults: [{on: 'leaf0:h1', at: 100us, until: 200us, set: {link: {loss: 100%}}}]\n"
		"run: {until: 5ms}\n";
	uint64_t lost = 0;
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 3);
	for (unsigned q = 0; q < s.result->n_queues; q++)
		lost += scen_port(&s, "leaf0", "h1", s.result->queue_id[q]).drops_error;
	/* At 100 Gb/s, less what go-back-N waits for. */
	assert_true(lost > 50);
	assert_int_equal(s.total.drops, lost);
	scen_fini(&s);
}

/* What a switch makes of packets changes: those of class 3 are in the others' queue for a while. */
static void test_maps_change(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 4, host_rate: 100Gbps}\n"
		"fabric: {profile: roce-100g, name: f}\n"
		"traffic: [{kind: shift, op: write, distance: 2, size: 4MB}]\n"
		"faults: [{on: leaf0, at: 100us, until: 200us, set: {maps: {dscp_tc: sonic}}}]\n"
		"run: {until: 5ms}\n";
	struct wf_sim_counts other, three;
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 4);
	assert_int_equal(s.total.drops, 0);
	other = scen_port(&s, "leaf0", "h0", 0);
	three = scen_port(&s, "leaf0", "h0", 3);
	/* 100 us of 100 Gb/s are 1.25 MB; acknowledgements are a part of it. */
	assert_in_range(other.tx_bytes, 1150000, 1300000);
	assert_true(three.tx_bytes > 2700000);
	scen_fini(&s);
}

/*
 * Settings over settings: a device has what devices: says, then what the newer of two faults says,
 * then the older's, and in the end what it had.
 */
static void test_before_and_after(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 4, host_rate: 100Gbps}\n"
		"fabric: {profile: roce-100g, name: f}\n"
		"devices: {leaf0: {ecn: {kmin: 1MB, kmax: 2MB}}}\n"
		"traffic: [{kind: shift, op: write, distance: 2, size: 40MB}]\n"
		"faults:\n"
		"  - {on: switches, at: 100us, until: 400us, set: {ecn: {kmin: 100KB}}}\n"
		"  - {on: leaf0, at: 200us, until: 300us, set: {ecn: {kmin: 200KB, kmax: 300KB}}}\n"
		"  - {on: 'leaf0:2', at: 250us, set: {ecn: {kmax: 4MB}}}\n"
		"run: {until: 50ms}\n";
	static const struct {
		wf_time at;
		uint64_t kmin, kmax, port_kmax;
	} want[] = {
		{ 50 * WF_US, 1000000, 2000000, 2000000 },
		{ 150 * WF_US, 100000, 2000000, 2000000 },
		{ 225 * WF_US, 200000, 300000, 300000 },
		{ 275 * WF_US, 200000, 300000, 4000000 },
		{ 350 * WF_US, 100000, 2000000, 4000000 },
		{ 450 * WF_US, 1000000, 2000000, 4000000 },
	};
	const struct wf_device *leaf;
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_build(&s, "f", 1);
	leaf = scen_device(&s, "leaf0");
	for (size_t i = 0; i < WF_ARRAY_SIZE(want); i++) {
		wf_time end;

		assert_int_equal(wf_sim_run_until(s.sim, want[i].at, &end), 0);
		assert_int_equal(leaf->setup->cfg.ecn_kmin, want[i].kmin);
		assert_int_equal(leaf->setup->cfg.ecn_kmax, want[i].kmax);
		assert_int_equal(leaf->ports[2].setup->cfg.ecn_kmax, want[i].port_kmax);
		assert_int_equal(leaf->ports[1].setup->cfg.ecn_kmax, want[i].kmax);
	}
	scen_fini(&s);
}

/*
 * PFC goes off at one side of a link in the middle of an incast, and on again: the class loses
 * packets in between, and is lossless after that. A setting that changes while a peer is stopped
 * leaves nobody stopped for good.
 */
static void test_pfc_off_for_a_while(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 8, host_rate: 100Gbps}\n"
		"fabric: {profile: roce-100g, name: f, cc: {algorithm: none}, sender: {timeout: "
		"100us}}\n"
		"traffic: [{kind: incast, op: write, fanin: 7, target: 0, size: 4MB}]\n"
		"faults:\n"
		"  - {on: 'h?', at: 200us, until: 500us, set: {pfc: {rx: none}}}\n"
		"  - {on: leaf0, at: 700us, until: 710us, set: {pfc: {tx: none}}}\n"
		"run: {until: 50ms}\n";
	struct scen s;
	uint64_t lost;
	wf_time end;

	(void)state;
	scen_load(&s, text);
	scen_build(&s, "f", 1);
	assert_int_equal(wf_sim_run_until(s.sim, 200 * WF_US, &end), 0);
	scen_add_up(&s);
	assert_int_equal(s.total.drops, 0);
	assert_true(s.total.pause_tx > 0);
	free(s.result);
	assert_int_equal(wf_sim_run_until(s.sim, 690 * WF_US, &end), 0);
	scen_add_up(&s);
	lost = s.lossless_drops;
	assert_true(lost > 10);
	assert_int_equal(s.total.drops, lost);
	free(s.result);
	assert_int_equal(wf_sim_run_until(s.sim, 50 * WF_MS, &end), 0);
	scen_add_up(&s);
	assert_int_equal(s.result->flows_done, 7);
	scen_fini(&s);
}

/*
 * spine0 loses its links to leaf0, and knows of other ways after 5 us; leaf1 goes on to send by
 * spine0 for 2 ms. Of what comes there spine0 sends a part by leaf2, from where it goes up again by
 * spine1: a valley. The rest it sends back to leaf1, which sends it to spine0 again: it circles
 * until its hop limit, since it is not enough to fill a buffer. Once leaf1 knows, all arrives.
 */
static void test_late_leaf(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 12, radix: 8, host_rate: 100Gbps}\n"
		"fabric: {profile: roce-100g, name: f, sender: {timeout: 400us}}\n"
		"devices: {leaf1: {switch: {reconverge: 2ms}}}\n"
		"traffic: [{kind: incast, op: write, fanin: 7, target: 0, size: 20KB, repeat: "
		"20}]\n"
		"faults: [{on: leaf0-spine0, at: 20us, fault: down}]\n"
		"run: {until: 20ms, reconverge: 5us}\n";
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 140);
	assert_int_equal(s.result->flows_failed, 0);
	/* No host of leaf2 sends anything. */
	assert_true(scen_port(&s, "leaf2", "spine1", 3).tx_packets > 10);
	assert_true(s.total.drops_hops > 10);
	assert_int_equal(s.total.drops, s.total.drops_down + s.total.drops_hops);
	assert_true(s.result->last_delivery > 2020 * WF_US);
	scen_fini(&s);
}

/*
 * The same under load: with packets that go down and up again, the buffers of leaf1, spine0, leaf2
 * and spine1 wait for one another in a circle, and nobody ever moves again, also when leaf1 has
 * learned. Without PFC there is nothing to wait for.
 */
static void test_late_leaf_under_load(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 12, radix: 8, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: lossless, sender: {timeout: 1ms}}\n"
		"  - {profile: roce-100g, name: lossy, flowctl: none, sender: {timeout: 1ms}}\n"
		"devices: {leaf1: {switch: {reconverge: 2ms}}}\n"
		"traffic: [{kind: shift, op: write, distance: 8, size: 10MB}]\n"
		"faults: [{on: leaf0-spine0, at: 100us, fault: down}]\n"
		"run: {until: 50ms, reconverge: 5us}\n";
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "lossless", 1);
	assert_true(s.result->flows_done < 12);
	assert_true(s.result->packets_inside > 1000);
	assert_int_equal(s.lossless_drops, 0);
	scen_run(&s, "lossy", 1);
	assert_int_equal(s.result->flows_done, 12);
	assert_int_equal(s.result->packets_inside, 0);
	scen_fini(&s);
}

/* All kinds at once, on 1, 2 and 4 threads. */
static void test_same_on_threads(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 32, radix: 16, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: roce, sender: {timeout: 100us}}\n"
		"  - {profile: ib-hdr, name: ib, sender: {timeout: 100us}}\n"
		"devices: {leaf1: {switch: {reconverge: 100us}}}\n"
		"traffic:\n"
		"  - {kind: permutation, op: write, size: 1MB}\n"
		"  - {kind: incast, op: write, fanin: 20, target: 3, size: 200KB}\n"
		"faults:\n"
		"  - {on: leaf0-spine0, at: 20us, until: 200us, fault: flap, every: 50us, for: "
		"10us}\n"
		"  - {on: spine1, at: 50us, until: 150us, fault: down}\n"
		"  - {on: h9, at: 30us, until: 100us, fault: pause-storm}\n"
		"  - {on: leaf2-spine0/2, at: 10us, until: 300us, set: {link: {ber: 1e-7, rate: "
		"40Gbps}}}\n"
		"  - {on: h*, at: 60us, until: 90us, set: {nic: {pcie: 50Gbps}}}\n"
		"run: {until: 3ms, reconverge: 10us}\n";
	static const char *const fabrics[] = { "roce", "ib" };
	struct scen s;

	(void)state;
	scen_load(&s, text);
	for (size_t f = 0; f < WF_ARRAY_SIZE(fabrics); f++) {
		scen_same(&s, fabrics[f]);
		assert_true(s.total.drops_error > 0 && s.total.drops_down > 0);
	}
	scen_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flap_and_death),
		cmocka_unit_test(test_twins),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_slow_link),
		cmocka_unit_test(test_one_way_loss),
		cmocka_unit_test(test_maps_change),
		cmocka_unit_test(test_before_and_after),
		cmocka_unit_test(test_pfc_off_for_a_while),
		cmocka_unit_test(test_late_leaf),
		cmocka_unit_test(test_late_leaf_under_load),
		cmocka_unit_test(test_same_on_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
