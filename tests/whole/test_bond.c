/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bond.c - hosts with two ports: which of them queue pairs use, what a link or a switch that
 * dies costs, and that all goes on by the other port.
 *
 * A WRITE of 8 MB is 1953 packets of 4096 bytes, with 62 around each and 20 between them on the
 * wire, and one of 512; with the first one's RETH that is 8,160,244 bytes: 326.4 us at 200 Gb/s
 * (LINE).
 */
/* ctest: tsan=*threads* */
#include "scen.h"

#include <errno.h>

#define LINE (UINT64_C(8160244) * 8 * 5) /* ps at 200 Gb/s */
#define SLACK (8 * WF_US) /* a path, an acknowledgement, what goes again after a NAK */

/* A scenario of n flows of 8 MB, or other traffic, and what else it says. */
static void load(struct scen *s, const char *topology, const char *nic, const char *traffic,
                 unsigned n, const char *rest)
{
	const char *rates = strstr(topology, "host_rate") == NULL
	                            ? "host_rate: 200Gbps, fabric_rate: 200Gbps, "
	                            : "";
	char text[8192];
	int len = snprintf(text, sizeof(text),
	                   "topology: {%s%s}\n"
	                   "fabric: {profile: roce-400g, name: f, nic: {rate_min: 0, %s}, "
	                   "sender: {timeout: 1ms}, cc: {algorithm: none}}\n%s\ntraffic:\n",
	                   rates, topology, nic, rest);

	for (unsigned i = 0; i < n; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "  - {%s}\n", traffic);
	scen_load(s, text);
}

/* Payload packets are counted by their bytes: what a port of a host sent in class 3. */
static uint64_t sent(const struct scen *s, uint32_t host, unsigned port)
{
	struct wf_sim_counts c;

	for (unsigned q = 0; q < s->result->n_queues; q++) {
		assert_true(wf_sim_port_counts(s->sim, s->fabric->net->topo->host_node[host], port,
		                               q, &c));
		if (s->result->queue_id[q] == 3)
			return c.tx_bytes;
	}
	fail_msg("there is no class 3");
	return 0;
}

/* Everything was delivered, by that time or at most SLACK later. */
static void check_end(const struct scen *s, uint64_t flows, wf_time end)
{
	assert_int_equal(s->result->flows_done, flows);
	assert_int_equal(s->result->flows_failed, 0);
	assert_int_equal(s->lossless_drops, 0);
	if (s->result->last_delivery < end || s->result->last_delivery > end + SLACK)
		fail_msg("%lld us, not %lld", (long long)(s->result->last_delivery / WF_US),
		         (long long)(end / WF_US));
}

#define TO_H0 "kind: incast, fanin: 1, target: 0, op: write, size: 8MB"
#define PLANES "kind: single, hosts: 2, ports: 2, homing: planes"
#define SAME "kind: single, hosts: 2, ports: 2, homing: same"

/* A queue pair has one port's rate; of two, and of eight, each port carries half. */
static void test_affinity(void **state)
{
	static const unsigned n[] = { 1, 2, 8 };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(n); i++) {
		struct scen s;

		load(&s, PLANES, "bond: affinity", TO_H0, n[i], "");
		assert_int_equal(s.scenario.host_rate, UINT64_C(400000000000));
		scen_run(&s, "f", 1);
		check_end(&s, n[i], (wf_time)LINE * ((n[i] + 1) / 2));
		if (n[i] > 1)
			assert_int_equal(sent(&s, 1, 0), sent(&s, 1, 1));
		else
			assert_int_equal(sent(&s, 1, 1), 0);
		assert_int_equal(s.total.drops, 0);
		scen_fini(&s);
	}
}

/*
 * Two flows by hash have one port together in one of two cases, and then take twice as long. Of 40
 * seeds that is 20, and with a chance of 0.9995 9 to 31.
 */
static void test_hash(void **state)
{
	unsigned together = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 40; seed++) {
		char rest[32];
		struct scen s;
		bool one;

		snprintf(rest, sizeof(rest), "seed: %u", seed);
		load(&s, PLANES, "bond: hash",
		     "kind: incast, fanin: 1, target: 0, op: write, size: 800KB", 2, rest);
		scen_run(&s, "f", 1);
		one = sent(&s, 1, 0) == 0 || sent(&s, 1, 1) == 0;
		if (!one)
			assert_int_equal(sent(&s, 1, 0), sent(&s, 1, 1));
		check_end(&s, 2, (wf_time)LINE / 10 * (one ? 2 : 1));
		together += one;
		scen_fini(&s);
	}
	assert_in_range(together, 9, 31);
}

/*
 * What is sprayed has a port for each packet. A queue pair has one packet that is next: in the time
 * of one there go two where the second has the other port, else one, on average 1.5.
 */
static void test_sprayed(void **state)
{
	struct scen s;

	(void)state;
	load(&s, PLANES, "bond: hash, pcie: 4Tbps", TO_H0, 1, "");
	s.scenario.fabrics[0].cfg.sender_spray = true;
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 1);
	assert_in_range(sent(&s, 1, 0), LINE / 40 * 45 / 100, LINE / 40 * 55 / 100);
	assert_in_range(sent(&s, 1, 1), LINE / 40 * 45 / 100, LINE / 40 * 55 / 100);
	assert_in_range(s.result->last_delivery, LINE * 64 / 100, LINE * 70 / 100);
	scen_fini(&s);
}

/* All flows have the first port, and the second when that is down: from 100 us + 50 us on. */
static void test_backup(void **state)
{
	struct scen s;

	(void)state;
	load(&s, SAME, "bond: active-backup, bond_failover: 50us", TO_H0, 4, "");
	scen_run(&s, "f", 1);
	check_end(&s, 4, 4 * (wf_time)LINE);
	assert_int_equal(sent(&s, 1, 1), 0);
	scen_fini(&s);
	load(&s, SAME, "bond: active-backup, bond_failover: 50us", TO_H0, 4,
	     "faults: [{on: h1-leaf0/1, at: 100us, fault: down}]");
	scen_run(&s, "f", 1);
	check_end(&s, 4, 4 * (wf_time)LINE + 50 * WF_US);
	/* 100 us at 200 Gb/s are 2.5 MB, of which one in 209 is the gap. */
	assert_in_range(sent(&s, 1, 0), 2450000, 2500000);
	scen_fini(&s);
}

/*
 * The sender's link goes down at 100 us. What is on it is lost: the link, PHY and the switch's
 * pipeline take 735 ns, in which 4.4 packets are sent; its queue pair sends by the other port from
 * 150 us on, the receiver misses them and says so, and nobody waits for a timer (1 ms). When the
 * link is back at 300 us, and has been for 30 us, so is the queue pair: in between the second port
 * sent for 180 us, 4.5 MB.
 */
static void test_failover(void **state)
{
	struct scen s;

	(void)state;
	load(&s, SAME, "bond_failover: 50us, bond_return: 30us", TO_H0, 1,
	     "faults: [{on: h1-leaf0/1, at: 100us, until: 300us, fault: down}]");
	scen_run(&s, "f", 1);
	check_end(&s, 1, (wf_time)LINE + 50 * WF_US);
	assert_int_equal(s.total.drops, s.total.drops_down);
	assert_in_range(s.total.drops_down, 4, 7);
	assert_int_equal(s.result->adapters[WF_CTR_LOCAL_ACK_TIMEOUT_ERR], 0);
	assert_in_range(s.result->resent, s.total.drops_down - 2, 80);
	assert_in_range(sent(&s, 1, 1), 4400000, 4500000);
	scen_fini(&s);

	/* For less time than the bond takes to notice: the queue pair waits, and stays. */
	load(&s, SAME, "bond_failover: 50us", TO_H0, 1,
	     "faults: [{on: h1-leaf0/1, at: 100us, until: 120us, fault: down}]");
	scen_run(&s, "f", 1);
	check_end(&s, 1, (wf_time)LINE + 20 * WF_US);
	assert_int_equal(sent(&s, 1, 1), 0);
	scen_fini(&s);
}

/*
 * h0 lets nobody send to it from 50 us on; the leaves are full after some 50 us more and stop h1,
 * which has a packet at the head of its queue for each port. When one of its links goes down, that
 * packet is lost with it, and is repeated by the other port.
 */
static void test_stopped_and_down(void **state)
{
	static const char *const until[] = { "250us", "50ms" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct wf_device *h1;
		char rest[256];
		struct scen s;

		snprintf(rest, sizeof(rest),
		         "faults:\n"
		         "  - {on: h0, at: 50us, until: 300us, fault: pause-storm}\n"
		         "  - {on: h1-leaf0, at: 200us, fault: down}\n"
		         "run: {until: %s}",
		         until[i]);
		load(&s, PLANES, "bond_failover: 20us", TO_H0, 4, rest);
		s.scenario.fabrics[0].cfg.buffer_size = 2000000;
		s.scenario.fabrics[0].cfg.sender_timeout = 300 * WF_US;
		strcpy(s.scenario.fabrics[0].cfg.nic_bond_path, "follow");
		scen_run(&s, "f", 1);
		h1 = scen_device(&s, "h1");
		assert_int_equal(h1->lanes[1].drops[WF_DROP_DOWN], 1);
		assert_true(h1->ports[1].lanes[1].wait_since == WF_TIME_NEVER || i == 0);
		assert_int_equal(s.result->flows_done, i == 0 ? 0 : 4);
		assert_int_equal(s.total.drops, s.total.drops_down);
		scen_fini(&s);
	}
}

/* Both links are down for a while: whoever is back first takes all, at once. */
static void test_both_down(void **state)
{
	struct scen s;

	(void)state;
	load(&s, SAME, "bond_failover: 10us, bond_return: 500us", TO_H0, 2,
	     "faults:\n"
	     "  - {on: h1-leaf0/1, at: 100us, until: 200us, fault: down}\n"
	     "  - {on: h1-leaf0/2, at: 100us, until: 5ms, fault: down}");
	scen_run(&s, "f", 1);
	/* 100 us of work are done at 100 us; the rest goes by one port from 200 us on. */
	check_end(&s, 2, 200 * WF_US + 2 * ((wf_time)LINE - 100 * WF_US) + SLACK / 2);
	scen_fini(&s);
}

/*
 * Queue pairs take turns, whichever they are for: where each host sends and receives by turns, all
 * that it sends by has one port.
 */
static void test_turns(void **state)
{
	struct scen s;

	(void)state;
	load(&s, PLANES, "bond: affinity", "kind: shift, distance: 1, op: write, size: 800KB", 4,
	     "");
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 8);
	/* h0 makes a sender, then a receiver; h1 the other way round. What is left are ACKs. */
	assert_true(sent(&s, 0, 0) > 3200000 && sent(&s, 0, 1) < 100000);
	assert_true(sent(&s, 1, 1) > 3200000 && sent(&s, 1, 0) < 100000);
	scen_fini(&s);
}

/*
 * Two senders and two receivers on two planes of one switch each; four times 8 MB for each, two by
 * each port. One switch dies at 100 us: all its flows go on by the other 50 us later, which was
 * busy all the time and has 2 LINE + 2 LINE - 100 us to carry. Nobody's queue pair fails.
 */
static void test_plane_dies(void **state)
{
	struct scen s;

	(void)state;
	load(&s, "kind: single, hosts: 4, ports: 2, homing: planes", "bond_failover: 50us",
	     TO_H0 "}\n  - {kind: incast, fanin: 1, target: 2, op: write, size: 8MB", 4,
	     "faults: [{on: leaf0, at: 100us, fault: down}]");
	scen_run(&s, "f", 1);
	check_end(&s, 8, 4 * (wf_time)LINE - 100 * WF_US);
	assert_int_equal(s.total.drops, s.total.drops_down);
	scen_fini(&s);
}

#define LEAF_DIES                                                                                  \
	"faults: [{on: leaf0, at: 100us, %s fault: down}]\n"                                       \
	"run: {reconverge: 20us, until: 100ms}"
/* Between the two pairs of leaves: h4 to h3, and h0 to h7. */
#define ACROSS                                                                                     \
	"kind: incast, fanin: 1, target: 3, op: write, size: 8MB}\n"                               \
	"  - {kind: incast, fanin: 1, target: 7, op: write, size: 8MB"

/*
 * What two leaves are for: one dies for good, and all hosts go on with what is left. h0 had two
 * ports of 200 Gb/s for 100 us, and has one for the rest of 4 LINE; before, its flows may meet at
 * h7's ports, as the spines' hash has it, and then more is left. The same of what h3 receives. With
 * one leaf (its twin, of the same rate to a host) the queue pairs of both are out of retries.
 */
static void test_leaf_dies(void **state)
{
	char rest[256];
	struct scen s;

	(void)state;
	snprintf(rest, sizeof(rest), LEAF_DIES, "");
	load(&s, "kind: leaf-spine, hosts: 8, radix: 8, ports: 2", "bond_failover: 50us", ACROSS, 4,
	     rest);
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 8);
	assert_int_equal(s.total.drops, s.total.drops_down);
	assert_int_equal(s.lossless_drops, 0);
	assert_in_range(s.result->last_delivery, 4 * LINE - 100 * WF_US, 4 * LINE + 50 * WF_US);
	assert_true(sent(&s, 0, 0) < 2500000);
	scen_fini(&s);

	load(&s, "kind: leaf-spine, hosts: 8, radix: 8, host_rate: 400Gbps, fabric_rate: 400Gbps",
	     "bond: hash", ACROSS, 4, rest);
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_failed, 8);
	scen_fini(&s);
}

/*
 * The leaf is dead from 100 us to 300 us. h0's queue pairs of that port are on the other from 150
 * us to 340 us, and have half of it; so they have 2 LINE - 100 us - 95 us left then, and their port
 * has sent for 2 LINE - 95 us at the end: 13.9 MB.
 */
static void test_leaf_returns(void **state)
{
	char rest[256];
	struct scen s;

	(void)state;
	snprintf(rest, sizeof(rest), LEAF_DIES, "until: 300us,");
	load(&s, "kind: leaf-spine, hosts: 8, radix: 8, ports: 2",
	     "bond_failover: 50us, bond_return: 40us", ACROSS, 4, rest);
	strcpy(s.scenario.fabrics[0].cfg.routing, "adaptive");
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 8);
	assert_int_equal(s.total.drops, s.total.drops_down);
	assert_in_range(sent(&s, 0, 0), 13400000, 14400000);
	scen_fini(&s);
}

/*
 * On planes that do not meet, a sender whose own link is up does not hear that the receiver's is
 * down: what it sends there is lost, until its queue pairs fail; or, if they look for another path,
 * until they have one.
 */
static void test_path(void **state)
{
	static const char *const path[] = { "bond_failover: 20us",
		                            "bond_failover: 20us, bond_path: follow" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct scen s;

		load(&s, PLANES, path[i], TO_H0, 4,
		     "faults: [{on: leaf0:h0, at: 100us, fault: down}]\nrun: {until: 1s}");
		scen_run(&s, "f", 1);
		assert_int_equal(s.result->flows_failed, i == 0 ? 2 : 0);
		assert_int_equal(s.result->flows_done, i == 0 ? 2 : 4);
		scen_fini(&s);
	}
}

/*
 * The simple sender: a flow leaves by the port of its hash, whichever its answers come by; of eight
 * seeds both ports are taken, but for one case in 128.
 */
static void test_windowed_port(void **state)
{
	unsigned first = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 8; seed++) {
		char rest[32];
		struct scen s;

		snprintf(rest, sizeof(rest), "seed: %u", seed);
		load(&s, SAME, "bond: hash", "kind: incast, fanin: 1, target: 0, size: 400KB", 1,
		     rest);
		/* Every few packets wait for an answer. */
		s.scenario.fabrics[0].cfg.sender_window = 32768;
		scen_run(&s, "f", 1);
		assert_int_equal(s.result->flows_done, 1);
		assert_true(sent(&s, 1, 0) == 0 || sent(&s, 1, 1) == 0);
		first += sent(&s, 1, 0) != 0;
		scen_fini(&s);
	}
	assert_in_range(first, 1, 7);
}

/* The simple sender: flows are hashed, and move as queue pairs do. */
static void test_windowed(void **state)
{
	struct scen s;

	(void)state;
	load(&s, PLANES, "bond_failover: 20us", "kind: incast, fanin: 1, target: 0, size: 2MB", 16,
	     "");
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 16);
	/* Two to fourteen of sixteen have a port, but for a chance of 5e-4. */
	assert_true(sent(&s, 1, 0) > 3900000 && sent(&s, 1, 1) > 3900000);
	scen_fini(&s);
	load(&s, "kind: leaf-spine, hosts: 8, radix: 8, ports: 2",
	     "bond_failover: 20us, bond_return: 40us", "kind: shift, distance: 4, size: 4MB", 4,
	     "faults:\n"
	     "  - {on: h0-leaf0, at: 40us, until: 100us, fault: down}\n"
	     "  - {on: h5-leaf3, at: 60us, fault: down}\n"
	     "  - {on: h2-leaf1, at: 60us, until: 400us, fault: flap, every: 50us, for: 10us}\n"
	     "run: {reconverge: 10us}");
	s.scenario.fabrics[0].cfg.sender_timeout = 100 * WF_US;
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 32);
	assert_int_equal(s.result->bytes_delivered, 32 * 4000000);
	assert_int_equal(s.total.drops, s.total.drops_down);
	assert_true(s.total.drops_down > 0);
	scen_fini(&s);
}

/* An adapter that lets nobody send to it stops both of its ports for as long. */
static void test_storm(void **state)
{
	struct scen s;

	(void)state;
	load(&s, PLANES, "bond: affinity", TO_H0, 4,
	     "faults: [{on: h0, at: 50us, until: 250us, fault: pause-storm}]");
	scen_run(&s, "f", 1);
	check_end(&s, 4, 2 * (wf_time)LINE + 200 * WF_US);
	assert_in_range(scen_port(&s, "leaf0", "h0", 3).paused_ps, 198 * WF_US, 202 * WF_US);
	assert_in_range(scen_port(&s, "leaf1", "h0", 3).paused_ps, 198 * WF_US, 202 * WF_US);
	assert_int_equal(s.total.drops, 0);
	scen_fini(&s);
}

/*
 * An adapter that takes in 100 Gb/s of 400 pauses both leaves, and loses nothing: 4 times 8 MB take
 * 2.56 ms. The same of the simple sender, whose packets and answers share the buffer.
 */
static void test_slow_receiver(void **state)
{
	static const char *const traffic[] = { TO_H0,
		                               "kind: incast, fanin: 1, target: 0, size: 8MB" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		uint64_t paused[2];
		struct scen s;

		load(&s, PLANES, "bond: affinity", traffic[i], 4,
		     "devices: {h0: {nic: {rx_full: pause, rx_rate: 100Gbps}}}");
		s.scenario.fabrics[0].cfg.sender_window = 64000000;
		s.scenario.fabrics[0].cfg.sender_timeout = 100 * WF_MS;
		scen_run(&s, "f", 1);
		check_end(&s, 4, 2560 * WF_US);
		assert_int_equal(s.total.drops, 0);
		paused[0] = scen_port(&s, "leaf0", "h0", 3).paused_ps;
		paused[1] = scen_port(&s, "leaf1", "h0", 3).paused_ps;
		/* By their hash the flows may all be on one port. */
		assert_true(paused[0] + paused[1] > WF_MS);
		assert_true(i == 1 || (paused[0] > WF_MS && paused[1] > WF_MS));
		scen_fini(&s);
	}
}

/* A storm of the simple sender's host, and its link down in it: all is as it was, afterwards. */
static void test_windowed_storm(void **state)
{
	struct scen s;

	(void)state;
	load(&s, PLANES, "bond_failover: 10us, bond_return: 10us",
	     "kind: shift, distance: 1, size: 2MB", 8,
	     "faults:\n"
	     "  - {on: h0, at: 20us, until: 80us, fault: pause-storm}\n"
	     "  - {on: h0-leaf1, at: 40us, until: 60us, fault: down}");
	s.scenario.fabrics[0].cfg.sender_timeout = 200 * WF_US;
	scen_run(&s, "f", 1);
	assert_int_equal(s.result->flows_done, 16);
	assert_int_equal(s.total.drops, s.total.drops_down);
	assert_true(sent(&s, 0, 0) > 1900000 && sent(&s, 0, 1) > 1900000);
	scen_fini(&s);
}

/* PCIe has to bring what both ports send: with a quarter of their rate both have the same share. */
static void test_slow_pcie(void **state)
{
	struct scen s;

	(void)state;
	load(&s, PLANES, "pcie: 100Gbps", TO_H0, 2, "");
	scen_run(&s, "f", 1);
	/* 16 MB at 100 Gb/s are 1.28 ms, and end together. */
	check_end(&s, 2, 1280 * WF_US);
	assert_true(wf_sim_flow_end(s.sim, 0) > 1270 * WF_US);
	assert_true(wf_sim_flow_end(s.sim, 1) > 1270 * WF_US);
	scen_fini(&s);
}

/*
 * Every operation, every way to give out ports, links that go down and come back all the time, and
 * every packet's bytes checked: all arrives, whole and once, with nothing lost but with links; and
 * the same with 1, 2 and 4 threads.
 */
static void test_threads_and_operations(void **state)
{
	static const char *const bonds[] = { "bond: affinity", "bond: hash",
		                             "bond: active-backup" };
	static const char *const ops[] = { "write", "send", "read" };

	(void)state;
	for (unsigned k = 0; k < WF_ARRAY_SIZE(bonds) * WF_ARRAY_SIZE(ops); k++) {
		char nic[96], traffic[96];
		struct scen s;

		snprintf(nic, sizeof(nic), "%s, bond_failover: 8us, bond_return: 12us",
		         bonds[k % 3]);
		snprintf(traffic, sizeof(traffic), "kind: permutation, op: %s, size: 400KB",
		         ops[k / 3]);
		load(&s, "kind: leaf-spine, hosts: 16, radix: 16, ports: 2", nic, traffic, 4,
		     "faults:\n"
		     "  - {on: h3-leaf0, at: 10us, until: 90us, fault: flap, every: 30us, for: "
		     "20us}\n"
		     "  - {on: h7-leaf1, at: 15us, until: 40us, fault: down}\n"
		     "  - {on: leaf2, at: 20us, until: 60us, fault: down}\n"
		     "run: {reconverge: 5us, until: 50ms}");
		s.scenario.fabrics[0].cfg.sender_timeout = 50 * WF_US;
		s.wire = true;
		scen_same(&s, "f");
		assert_int_equal(s.result->flows_done, 64);
		assert_int_equal(s.result->bytes_delivered, 64 * 400000);
		assert_int_equal(s.total.drops, s.total.drops_down);
		assert_true(s.total.drops > 0);
		assert_int_equal(s.lossless_drops, 0);
		scen_fini(&s);
	}
}

/*
 * Hosts of live fabrics have one port, and routes that name one port for each host are not for
 * two.
 */
static void test_refused(void **state)
{
	static const struct wf_gate_ops gate = { .next = NULL };
	struct scen s;

	(void)state;
	load(&s, PLANES, "bond: hash", TO_H0, 1, "");
	for (int i = 0; i < 3; i++) {
		struct wf_fabric_cfg fabric = s.scenario.fabrics[0].cfg;
		struct wf_sim_cfg cfg = { .topo = s.scenario.nets[0].topo,
			                  .fabric = &fabric,
			                  .gate = i == 0 ? &gate : NULL,
			                  .until = WF_MS,
			                  .threads = 1 };
		struct wf_err err = { "" };
		struct wf_sim *sim;

		if (i == 1)
			strcpy(fabric.routing, "lft");
		if (i == 2) {
			strcpy(fabric.link_layer, "infiniband");
			strcpy(fabric.flowctl, "credit");
			strcpy(fabric.header, "ib");
		}
		assert_int_equal(wf_sim_create(&cfg, &sim, &err), -EINVAL);
		assert_non_null(strstr(err.text, i == 0   ? "topology.ports: hosts of a live fabric"
		                                 : i == 1 ? "routing: lft"
		                                          : "topology.ports: on InfiniBand"));
	}
	scen_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_affinity),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_sprayed),
		cmocka_unit_test(test_backup),
		cmocka_unit_test(test_failover),
		cmocka_unit_test(test_stopped_and_down),
		cmocka_unit_test(test_both_down),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_plane_dies),
		cmocka_unit_test(test_leaf_dies),
		cmocka_unit_test(test_leaf_returns),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_windowed_port),
		cmocka_unit_test(test_windowed),
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_slow_receiver),
		cmocka_unit_test(test_windowed_storm),
		cmocka_unit_test(test_slow_pcie),
		cmocka_unit_test(test_threads_and_operations),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
