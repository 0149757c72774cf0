/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_deadlock.c - queues that wait for one another in a circle: the circle, when it was complete
 * and after what, by hand and as published; and that nothing else is taken for one.
 */
#include "rig.h"
#include "scen.h"

#include "base/rng.h"
#include "sim/look/deadlock.h"
#include "sim/look/stuck.h"

/* ---- by hand ---- */

/*
 * Five switches in a ring (nodes 5 to 9) with a host each (0 to 4), which sends to the one two
 * further on, by the only shortest way once the link from switch 5 to switch 7, number 10, is gone.
 * The cable of host 3 is 20 ns longer. 80 ps a byte.
 */
static void ring_init(struct rig *r, const char *layer)
{
	static const char text[] = "10 5 11\n5 6 7 8 9\n"
				   "0 5 100Gbps 0.00005ms 0\n1 6 100Gbps 0.00005ms 0\n"
				   "2 7 100Gbps 0.00005ms 0\n3 8 100Gbps 0.00007ms 0\n"
				   "4 9 100Gbps 0.00005ms 0\n5 6 100Gbps 0.00001ms 0\n"
				   "6 7 100Gbps 0.00001ms 0\n7 8 100Gbps 0.00001ms 0\n"
				   "8 9 100Gbps 0.00001ms 0\n9 5 100Gbps 0.00001ms 0\n"
				   "5 7 100Gbps 0.00001ms 0\n";
	struct wf_err err = { "" };

	rig_init(r, layer, "hpcc", 5);
	rig_set(r, "link.phy", "0s");
	rig_set(r, "switch.latency", "50ns");
	rig_set(r, "nic.rx", "1us");
	rig_set(r, "sender.timeout", "1s");
	rig_set(r, "mtu", "4096B");
	if (wf_topo_find("hpcc")->build(&r->topo_cfg, text, strlen(text), "ring", wf_mem_heap(),
	                                &r->topo, &err) != 0)
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < 5; i++)
		rig_flow(r, i, (i + 2) % 5, 10 * 4096, 20 * WF_US, 3);
	r->faults[r->n_faults++] = (struct wf_sim_fault){
		.at = 10 * WF_US, .kind = WF_SIM_FAULT_LINK, .on = true, .what = 10
	};
	r->reconverge = 5 * WF_US;
	r->until = 2 * WF_MS;
	r->deadlock_check = 50 * WF_US;
}

/* The ring, which host 3's switch closed at a time; what each of its queues shows. */
static void check_ring(const struct rig *r, wf_time closed)
{
	uint32_t n;
	const struct wf_deadlock *d;

	assert_int_equal(wf_sim_look_for_deadlocks(r->sim, true), 0);
	d = wf_sim_deadlocks(r->sim, &n);
	assert_int_equal(n, 1);
	assert_int_equal(wf_sim_deadlocks_standing(r->sim), 1);
	assert_true(d->certain);
	assert_int_equal(d->formed, closed);
	assert_int_equal(d->ended, WF_TIME_NEVER);
	assert_int_equal(d->times, 1);
	assert_int_equal(d->n, 5);
	assert_int_equal(d->queues, 5);
	assert_int_equal(d->hosts, 5);
	assert_int_equal(d->packets, r->result->packets_inside);
	for (unsigned i = 0; i < 5; i++) {
		const struct wf_deadlock_link *l = &d->link[i];
		unsigned k = (i + 4) % 5; /* the last of the list is switch 8's, with host 3 */

		/*
		 * Switch k, node 5 + k, to the next: port 2 of nodes 6 to 8, which have the ring's
		 * link before them as port 1.
		 */
		assert_int_equal(l->node, 5 + k);
		assert_int_equal(r->topo->ports[r->topo->nodes[l->node].first_port + l->port].peer,
		                 5 + (k + 1) % 5);
		assert_int_equal(l->id, 3);
		assert_int_equal(l->since, k == 3 ? closed : closed - 20 * WF_NS);
		/* The host before it has a packet here, for the host behind it; it came first. */
		assert_int_equal(l->held, 1);
		assert_int_equal(l->src, (k + 4) % 5);
		assert_int_equal(l->dst, (k + 1) % 5);
		assert_int_equal(l->held_src, l->src);
		assert_int_equal(l->held_dst, l->dst);
		assert_false(l->valley);
	}
	assert_int_equal(d->closed, 4);
	assert_int_equal(d->fault.kind, WF_SIM_CHANGE_LINK_DOWN);
	assert_int_equal(d->fault.what, 10);
	assert_int_equal(d->fault.at, 10 * WF_US);
	assert_int_equal(d->routes.kind, WF_SIM_CHANGE_ROUTES);
	assert_int_equal(d->routes.at, 15 * WF_US);
	assert_int_equal(d->routes.switches, 5);
	assert_int_equal(d->routes.behind, 0);
}

/*
 * InfiniBand with buffers for one packet. Host k's first packet leaves it at 20 us; its switch has
 * the first 64 B after 5.12 ns, and cable and pipeline take 50 + 50 ns: at 20,105.12 ns (host 3:
 * 20,125.12) it goes on to the next switch at once, with the only credits of that link, and takes
 * the wire for 4122 B (4096, LRH 8, BTH 12, ICRC 4, VCRC 2), 329.76 ns. There it arrives after 5.12
 * + 60 ns, while that switch's own packet is on the wire of the link that both want, and waits.
 * When the wire is free, at 20,434.88 ns, nobody has credits any more, and nobody will: the next
 * switch's buffer has a packet that waits likewise. Host 3's switch is the last, 20 ns later. Each
 * host's second packet stands behind.
 */
static void test_credits_by_hand(void **state)
{
	struct rig r;

	(void)state;
	ring_init(&r, "credit");
	rig_set(&r, "vl.buffer", "4160B");
	rig_run(&r, 1);
	assert_int_equal(r.sim->fabric.max_wire, 4122);
	check_ring(&r, 20 * WF_US + 1204880);
	assert_int_equal(r.result->packets_inside, 10);
	rig_fini(&r);
}

/*
 * PFC with a threshold below a packet: who has to wait, stops its sender. The first packets go on
 * from their switches when they have 84 B of them (64, and gap of 20), 6.72 ns, after 50 + 50 ns:
 * at 20,106.72 ns, host 3's at 20,126.72. At the next switch after 6.72 + 10 + 50 ns they find the
 * wire busy, and a pause frame of 84 B takes the same way back. That is obeyed at once, at
 * 20,240.16 ns: before the packet has left, in 4096 + 82 bytes. Host 3's switch is the last, 20 ns
 * later.
 */
static void test_pause_by_hand(void **state)
{
	struct rig r;

	(void)state;
	ring_init(&r, "pfc");
	rig_set(&r, "buffer.alpha", "1/65536");
	rig_set(&r, "buffer.reserved", "0B");
	rig_set(&r, "buffer.size", "4MB");
	rig_set(&r, "pfc.reaction", "0s");
	rig_run(&r, 1);
	assert_true(r.sim->fabric.max_wire > 4096 && r.sim->fabric.gap == 20);
	check_ring(&r, 20 * WF_US + 1010160);
	assert_int_equal(r.result->packets_dropped, 0);
	rig_fini(&r);
}

/* ---- as published ---- */

struct hop {
	const char *from, *to;
};

/* The circle of the i-th deadlock is that of these n links, from any of them on. */
static void check_circle(const struct scen *s, uint32_t i, const struct hop *want, uint32_t n)
{
	const struct wf_topo *topo = s->fabric->net->topo;
	uint32_t all, first = 0;
	const struct wf_deadlock *d = &wf_sim_deadlocks(s->sim, &all)[i];

	assert_true(i < all);
	assert_int_equal(d->n, n);
	while (first < n && strcmp(topo->nodes[d->link[first].node].name, want[0].from) != 0)
		first++;
	for (uint32_t k = 0; k < n; k++) {
		const struct wf_deadlock_link *l = &d->link[(first + k) % n];

		assert_string_equal(topo->nodes[l->node].name, want[k].from);
		assert_string_equal(
			topo->nodes[topo->ports[topo->nodes[l->node].first_port + l->port].peer]
				.name,
			want[k].to);
	}
}

static void load_clos(struct scen *s, const char *more)
{
	char text[4096];

	snprintf(text, sizeof(text),
	         "topology: {kind: hpcc, file: %s/tests/data/deadlock/clos.txt}\n%s",
	         WEFT_SOURCE_DIR, more);
	scen_load(s, text);
}

/* What the two links that are down have made: leaves by which packets go down and up again. */
static void check_valleys(const struct scen *s, const struct wf_deadlock *d)
{
	assert_true(d->certain);
	assert_int_equal(d->fault.kind, WF_SIM_CHANGE_LINK_DOWN);
	assert_int_equal(d->fault.at, 10 * WF_US);
	assert_int_equal(d->routes.at, 15 * WF_US);
	assert_int_equal(d->routes.switches, 4);
	assert_int_equal(d->routes.behind, 2);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(d->link[i].valley,
		                 scen_device(s, "sw6")->id == d->link[i].node ||
		                         scen_device(s, "sw7")->id == d->link[i].node);
}

/*
 * Hu et al., "Deadlocks in datacenter networks: why do they form, and how to avoid them", HotNets
 * 2016: four switches A, B, C, D in a ring; flow 1 goes from A by B and C to a host of D, flow 2
 * from C by D and A to a host of B. Their buffers may wait for one another in a circle, and never
 * do: only two of the four links are ever paused. With flow 3, from a host of B to one of C, all
 * four are, and nothing moves any more.
 *
 * In a Clos network that is what two links down make of it, as in "Tagger", CoNEXT 2017: A and C
 * are the leaves sw6 and sw7, B and D the spines sw10 and sw11; B's host is on leaf sw8, which has
 * lost its link to D, and D's on sw9, which has lost that to B. Leaves have not learned of it: they
 * send up to the spine that has to send down to the other of them, from where packets go up again.
 */
static void test_two_flows_and_three(void **state)
{
	static const char text[] =
		"fabric:\n"
		"  profile: roce-40g-azure\n"
		"  name: f\n"
		"  routing: lft\n"
		"  buffer: {size: 2MB, alpha: 1/32}\n"
		"  sender: {window: 64MB, timeout: 1s}\n"
		"devices: {sw6: {switch: {reconverge: 1s}}, sw7: {switch: {reconverge: 1s}}}\n"
		"traffic: [{kind: incast, fanin: 3, target: 3, size: 5MB}]\n"
		"faults: [{on: sw8-sw11, at: 10us, fault: down}, {on: sw9-sw10, at: 10us, fault: "
		"down}]\n"
		"run: {until: 20ms, reconverge: 5us}\n";
	static const struct hop ring[] = {
		{ "sw6", "sw10" }, { "sw10", "sw7" }, { "sw7", "sw11" }, { "sw11", "sw6" }
	};
	/*
	 * Flow 1: h0 of sw6 to h2 of sw9. Flow 2: h1 of sw7 to h3 of sw8. Flow 3: h4 of sw8 to h5
	 * of sw7.
	 */
	static const uint32_t flows[][2] = { { 0, 2 }, { 1, 3 }, { 4, 5 } };
	struct scen s;

	(void)state;
	load_clos(&s, text);
	for (size_t n = 2; n <= 3; n++) {
		const struct wf_deadlock *d;
		uint32_t found;

		for (size_t i = 0; i < 3; i++)
			s.scenario.flows.flow[i] = (struct wf_flow_spec){ .src = flows[i][0],
				                                          .dst = flows[i][1],
				                                          .bytes = 20000000,
				                                          .cls = 3,
				                                          .start = 50 * WF_US };
		s.scenario.flows.n = n;
		scen_run(&s, "f", 1);
		d = wf_sim_deadlocks(s.sim, &found);
		for (size_t i = 0; i < 4; i++) {
			uint64_t paused = scen_port(&s, ring[i].from, ring[i].to, 3).paused_ps;

			/* Those down to where the flows join; with flow 3 all, until the end. */
			assert_true(n == 2 ? (paused > 0) == (i % 2 == 1) : paused > 19 * WF_MS);
		}
		if (n == 2) {
			assert_true(s.result->finished);
			assert_int_equal(found, 0);
			continue;
		}
		assert_false(s.result->finished);
		assert_int_equal(found, 1);
		check_circle(&s, 0, ring, 4);
		check_valleys(&s, d);
	}
	scen_fini(&s);
}

/*
 * From the same paper: packets that go round a loop of n links of rate B, injected at rate r, each
 * of which goes over TTL links until it is dropped, fill all of the loop, and stop it, when r > n B
 * / TTL. Here a switch does not know that the link behind the other is gone: n = 2, B = 40 Gb/s, a
 * packet passes 63 switches: 1.27 Gb/s. Below it packets are dropped for their hops, and all goes
 * on.
 */
static void test_loop_threshold(void **state)
{
	static const struct {
		const char *rate;
		bool stops;
	} row[] = {
		{ "1Gbps", false }, { "1.25Gbps", false }, { "1.3Gbps", true }, { "2Gbps", true }
	};
	static const struct hop ring[] = { { "sw2", "sw3" }, { "sw3", "sw2" } };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		char text[2048];
		struct scen s;

		snprintf(
			text, sizeof(text),
			"topology: {kind: hpcc, file: %s/tests/data/deadlock/loop.txt}\n"
			"fabric:\n"
			"  profile: roce-40g-azure\n"
			"  name: f\n"
			"  cc: {algorithm: none}\n"
			"  buffer: {size: 2MB, alpha: 1/32}\n"
			"  sender: {timeout: 1s}\n"
			"devices: {sw3: {switch: {reconverge: 1s}}, h0-sw2: {link: {rate: %s}}}\n"
			"traffic: [{kind: shift, op: write, distance: 1, size: 4MB, start: 50us}]\n"
			"faults: [{on: sw2-sw4, at: 10us, fault: down}]\n"
			"run: {until: 20ms, reconverge: 5us}\n",
			WEFT_SOURCE_DIR, row[i].rate);
		scen_load(&s, text);
		s.scenario.flows.n = 1; /* from h0, on sw2, to h1, on sw4 */
		scen_run(&s, "f", 1);
		assert_int_equal(wf_sim_look_for_deadlocks(s.sim, true), 0);
		assert_int_equal(wf_sim_deadlocks_standing(s.sim), row[i].stops);
		assert_true(s.total.drops_hops > 0);
		if (row[i].stops)
			check_circle(&s, 0, ring, 2);
		scen_fini(&s);
	}
}

/* ---- what holds of all ---- */

/*
 * Packets that a queue of a circle has sent, and what was lost of it: neither changes while the
 * deadlock stands.
 */
static uint64_t left_queue(const struct wf_sim *sim, const struct wf_deadlock_link *l)
{
	struct wf_sim_counts c;

	assert_true(wf_sim_port_counts(sim, l->node, l->port, l->queue, &c));
	return c.tx_packets + c.tx_discards;
}

/* Marks all that a queue waits for, by their places, one after the other. */
static void mark(const struct wf_stuck *s, uint32_t at, bool *seen)
{
	for (uint32_t e = s->first[at]; e < s->first[at + 1]; e++) {
		if (seen[s->to[e]])
			continue;
		seen[s->to[e]] = true;
		mark(s, s->to[e], seen);
	}
}

/* No two circles wait for each other: they would be one knot, of which one circle is told. */
static void check_knots(const struct wf_sim *sim)
{
	bool seen[WF_DEADLOCKS_MAX][1024] = { { false } };
	uint32_t n, place[WF_DEADLOCKS_MAX];
	const struct wf_deadlock *list = wf_sim_deadlocks(sim, &n);
	struct wf_stuck s;

	assert_int_equal(wf_stuck_find(&s, sim, WF_STUCK_FOR_GOOD, 0), 0);
	assert_true(s.n <= WF_ARRAY_SIZE(seen[0]));
	for (uint32_t i = 0; i < n; i++) {
		const struct wf_deadlock_link *l = &list[i].link[0];

		place[i] = s.of_lane[wf_stuck_lane(&s, l->node, l->port, l->queue)];
		assert_true(place[i]-- > 0);
		mark(&s, place[i], seen[i]);
		assert_true(seen[i][place[i]]);
		for (uint32_t k = 0; k < i; k++)
			assert_false(seen[i][place[k]] && seen[k][place[i]]);
	}
	wf_stuck_fini(&s);
}

/*
 * Runs in steps of 20 us. As soon as the detector is certain of a circle, no packet leaves it any
 * more. Returns whether there was one; a run that does not finish has one, or its packets would
 * have gone on.
 */
static bool watch_run(struct rig *r)
{
	uint64_t left[WF_DEADLOCKS_MAX][64];
	const struct wf_deadlock *list;
	struct wf_err err = { "" };
	uint32_t n = 0, seen = 0;
	wf_time end;

	if (rig_build(r, 1, &err) != 0)
		fail_msg("%s", err.text);
	for (wf_time at = 0; at < r->until; at += 20 * WF_US) {
		assert_int_equal(wf_sim_run_until(r->sim, at, &end), 0);
		list = wf_sim_deadlocks(r->sim, &n);
		for (uint32_t i = 0; i < n; i++) {
			assert_true(list[i].n <= WF_ARRAY_SIZE(left[i]));
			assert_true(list[i].certain && list[i].ended == WF_TIME_NEVER);
			for (uint32_t k = 0; k < list[i].n; k++) {
				uint64_t is = left_queue(r->sim, &list[i].link[k]);

				if (i < seen)
					assert_int_equal(left[i][k], is);
				left[i][k] = is;
			}
		}
		seen = n;
	}
	rig_result(r);
	assert_int_equal(wf_sim_look_for_deadlocks(r->sim, true), 0);
	assert_int_equal(wf_sim_deadlocks_standing(r->sim), wf_sim_deadlocks_found(r->sim));
	assert_int_equal(r->result->finished, wf_sim_deadlocks_found(r->sim) == 0);
	if (!r->result->finished)
		assert_true(r->result->packets_inside > 0);
	check_knots(r->sim);
	return wf_sim_deadlocks_found(r->sim) > 0;
}

/*
 * In some runs a host lets nobody send to it for a while, in some all of them do: then all queues
 * stand still, round any circle there is, and go on if nothing but hosts was in their way.
 */
static void add_storms(struct rig *r, uint64_t seed)
{
	unsigned first = (unsigned)wf_rand_below(wf_rand64(seed, 1000), r->topo_cfg.hosts);
	unsigned n = seed / 4 % 3 == 0 ? 0 : seed / 4 % 3 == 1 ? 1 : r->topo_cfg.hosts;

	for (unsigned i = 0; i < 2 * n; i++)
		r->faults[r->n_faults++] = (struct wf_sim_fault){
			.at = i < n ? 10 * WF_US : 150 * WF_US,
			.kind = WF_SIM_FAULT_STORM,
			.on = i < n,
			.what = (first + i % n) % r->topo_cfg.hosts,
		};
}

/* Dragonflies with minimal routing on one VL, under two shifts. */
static void dragonfly_init(struct rig *r, unsigned by)
{
	rig_init(r, "credit", "dragonfly", 72);
	rig_set(r, "vl.count", "1");
	rig_set(r, "vl.buffer", "8KiB");
	rig_shift(r, 72, by, 100000);
	rig_shift(r, 72, 72 - by, 100000);
}

/*
 * A ring of switches with a host each, flows between any of them, two lossless classes, a buffer of
 * which each takes a part.
 */
static void random_ring_init(struct rig *r, uint64_t seed)
{
	unsigned n = 5 + (unsigned)(seed % 4);
	struct wf_err err = { "" };
	char text[2048];
	size_t used;

	rig_init(r, "pfc", "hpcc", n);
	rig_set(r, "classes.lossless", "3,4");
	rig_set(r, "classes.weights", "0:50,3:50,4:50");
	rig_set(r, "buffer.size", seed % 2 == 0 ? "1500KB" : "2MB");
	rig_set(r, "buffer.alpha", seed % 3 == 0 ? "1/4" : "1/64");
	rig_set(r, "buffer.reserved", "0B");
	used = (size_t)snprintf(text, sizeof(text), "%u %u %u\n", 2 * n, n, 2 * n);
	for (unsigned i = 0; i < n; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%u ", n + i);
	for (unsigned i = 0; i < n; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
		                         "\n%u %u 100Gbps 0.0002ms 0\n%u %u 100Gbps 0.0002ms 0", i,
		                         n + i, n + i, n + (i + 1) % n);
	snprintf(text + used, sizeof(text) - used, "\n");
	if (wf_topo_find("hpcc")->build(&r->topo_cfg, text, strlen(text), "ring", wf_mem_heap(),
	                                &r->topo, &err) != 0)
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < 3 * n; i++) {
		unsigned src = (unsigned)wf_rand_below(wf_rand64(seed, 4 * i), n);
		unsigned by = 1 + (unsigned)wf_rand_below(wf_rand64(seed, 4 * i + 1), n - 1);

		rig_flow(r, src, (src + by) % n,
		         50000 + wf_rand_below(wf_rand64(seed, 4 * i + 2), 3000000),
		         (wf_time)wf_rand_below(wf_rand64(seed, 4 * i + 3), (uint64_t)(50 * WF_US)),
		         i % 5 == 0 ? 4 : 3);
	}
}

/*
 * Traffic that stops in a circle or does not, as chance has it: what the detector says is so to the
 * end, and what does not finish it has found.
 */
static void test_nothing_moves(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		unsigned stopped = 0, went = 0;

		for (unsigned i = 1; i < (k == 0 ? 72u : 64u);
		     i += (unsigned)check_step(k == 0 ? 9 : 4)) {
			struct rig r;
			bool stops;

			if (k == 0)
				dragonfly_init(&r, i);
			else
				random_ring_init(&r, i);
			rig_set(&r, "sender.timeout", "1s");
			r.until = 8 * WF_MS;
			r.deadlock_check = WF_US / 2;
			add_storms(&r, i);
			r.seed = i;
			stops = watch_run(&r);
			*(stops ? &stopped : &went) += 1;
			rig_fini(&r);
		}
		assert_true(stopped >= 2 && went >= 2);
	}
}

/*
 * Heavy incast over two tiers with small buffers, adapters that pause for a while, a slow one:
 * everything waits for everything, and goes on in the end. Looking every microsecond, at whatever
 * has waited for one, finds no deadlock.
 */
static void test_no_false_positives(void **state)
{
	static const char *const layer[] = { "credit", "pfc" };

	(void)state;
	for (size_t k = 0; k < WF_ARRAY_SIZE(layer); k++) {
		for (uint64_t seed = 1; seed <= 6; seed += check_step(3)) {
			struct rig r;

			rig_init(&r, layer[k], seed % 2 == 0 ? "fat-tree" : "leaf-spine", 54);
			rig_set(&r, "vl.buffer", "8KiB");
			rig_set(&r, "buffer.size", "4MB");
			rig_set(&r, "buffer.alpha", "1/512");
			rig_set(&r, "buffer.reserved", "0B");
			rig_set(&r, "sender.timeout", "1s");
			r.seed = seed;
			rig_incast(&r, 32, (unsigned)(5 * seed), 60000);
			rig_incast(&r, 20, (unsigned)(7 * seed), 40000);
			rig_shift(&r, 54, (unsigned)(11 + seed), 40000);
			for (unsigned i = 0; i < 4; i++) {
				uint32_t host = (uint32_t)wf_rand_below(wf_rand64(seed, i), 54);

				r.faults[r.n_faults++] =
					(struct wf_sim_fault){ .at = (10 + i) * WF_US,
					                       .kind = WF_SIM_FAULT_STORM,
					                       .on = true,
					                       .what = host };
				r.faults[r.n_faults++] =
					(struct wf_sim_fault){ .at = (60 + 20 * i) * WF_US,
					                       .kind = WF_SIM_FAULT_STORM,
					                       .what = host };
			}
			r.deadlock_check = 1 * WF_US;
			rig_run(&r, 1);
			assert_true(r.result->finished);
			assert_true(k == 0 ? rig_queue(&r, 3)->credit_waits > 100
			                   : rig_queue(&r, 3)->pause_tx > 100);
			assert_int_equal(wf_sim_look_for_deadlocks(r.sim, true), 0);
			assert_int_equal(wf_sim_deadlocks_found(r.sim), 0);
			rig_fini(&r);
		}
	}
}

/* How many queues stand still, of a kind. */
static uint32_t count_stuck(const struct wf_sim *sim, enum wf_stuck_kind kind)
{
	struct wf_stuck s;
	uint32_t n;

	assert_int_equal(wf_stuck_find(&s, sim, kind, 20 * WF_US), 0);
	n = s.n;
	wf_stuck_fini(&s);
	return n;
}

/*
 * All queues of a ring are stopped, each by the next, and it is no deadlock: what fills the buffers
 * is mostly for hosts, which let nobody send to them for a while. What goes on in the ring is so
 * little that it does not stop anybody. All arrives when the hosts take it in.
 */
static void test_circle_of_live(void **state)
{
	static const char *const layer[] = { "credit", "pfc", "pfc" };

	(void)state;
	for (size_t k = 0; k < WF_ARRAY_SIZE(layer); k++) {
		wf_time end;
		struct rig r;

		ring_init(&r, layer[k]);
		rig_set(&r, "vl.buffer", "32KiB");
		rig_set(&r, "buffer.size", "1MB");
		rig_set(&r, "buffer.reserved", "0B");
		rig_set(&r, "buffer.alpha", k == 1 ? "1/32" : "1");
		rig_set(&r, "buffer.xon", k == 1 ? "4KB" : "250KB");
		for (unsigned i = 0; i < 5; i++) {
			r.flows.flow[i].bytes = 400000;
			r.flows.flow[i].start = 21 * WF_US;
			for (unsigned n = 0; n < (k == 0 ? 1 : 3); n++)
				rig_flow(&r, i, (i + 1) % 5, 2000000, 20 * WF_US, 3);
		}
		for (unsigned i = 0; i < 10; i++)
			r.faults[r.n_faults++] = (struct wf_sim_fault){
				.at = i < 5 ? 25 * WF_US : 400 * WF_US,
				.kind = WF_SIM_FAULT_STORM,
				.on = i < 5,
				.what = i % 5,
			};
		r.deadlock_check = 1 * WF_US;
		r.until = 10 * WF_MS;
		assert_int_equal(rig_build(&r, 1, NULL), 0);
		assert_int_equal(wf_sim_run_until(r.sim, 300 * WF_US, &end), 0);
		wf_sim_rest(r.sim, 300 * WF_US); /* with credits nothing happens any more */
		/* Those of the ring, and those to hosts. */
		assert_int_equal(count_stuck(r.sim, WF_STUCK_NOW), 10);
		assert_int_equal(count_stuck(r.sim, WF_STUCK_FOR_GOOD), 0);
		assert_int_equal(wf_sim_run_until(r.sim, r.until, &end), 0);
		rig_result(&r);
		assert_true(r.result->finished);
		assert_int_equal(wf_sim_deadlocks_found(r.sim), 0);
		rig_fini(&r);
	}
}

/*
 * The first packet that waits takes just what its group may have (three cells, 6144 bytes, a 22nd
 * of 140 KB, at switches with three ports), and the pause comes before a second is sent: nothing
 * lies in the headroom. Then groups may have much more: they are far below the threshold, but a
 * group is asked for when a packet leaves it, and none can. It is a deadlock as before.
 */
static void test_small_groups(void **state)
{
	uint64_t left[5];
	uint32_t n;
	struct rig r;
	wf_time end;

	(void)state;
	ring_init(&r, "pfc");
	rig_set(&r, "buffer.alpha", "1/22");
	rig_set(&r, "buffer.cell", "2KiB");
	rig_set(&r, "buffer.reserved", "0B");
	rig_set(&r, "buffer.headroom", "20KB");
	rig_set(&r, "buffer.size", "200KB");
	rig_set(&r, "pfc.reaction", "0s");
	assert_int_equal(rig_build(&r, 1, NULL), 0);
	assert_int_equal(wf_sim_run_until(r.sim, 100 * WF_US, &end), 0);
	assert_int_equal(wf_sim_look_for_deadlocks(r.sim, false), 0);
	assert_int_equal(wf_sim_deadlocks_standing(r.sim), 1);
	for (unsigned sw = 5; sw < 10; sw++) {
		struct wf_device *dev = r.sim->net.devices[sw];

		for (unsigned i = 0; i < dev->n_ports * dev->n_queues; i++)
			dev->lanes[i].alpha = 8 << 16;
	}
	for (unsigned run = 0; run < 2; run++) {
		const struct wf_deadlock *d = wf_sim_deadlocks(r.sim, &n);
		unsigned low = 0;

		assert_int_equal(wf_sim_look_for_deadlocks(r.sim, false), 0);
		assert_true(n == 1 && d->certain && d->ended == WF_TIME_NEVER);
		for (unsigned i = 0; i < 5; i++) {
			const struct wf_deadlock_link *before = &d->link[(i + 4) % 5];
			const struct wf_device *dev = r.sim->net.devices[d->link[i].node];
			unsigned in = wf_stuck_peer(r.sim, before->node, before->port)->peer_port;

			low += wf_buffer_is_low(
				&wf_container_of(dev, const struct wf_switch, dev)->buffer,
				&dev->ports[in].lanes[d->link[i].queue]);
			if (run == 0)
				left[i] = left_queue(r.sim, &d->link[i]);
			assert_int_equal(left_queue(r.sim, &d->link[i]), left[i]);
		}
		assert_true(low >= 3);
		assert_int_equal(wf_sim_run_until(r.sim, r.until, &end), 0);
	}
	rig_fini(&r);
}

/*
 * Pauses so short that one may end before it is said again, if a packet is on the wire just then:
 * the ring stands still, since none is, but that is not proved; at the end it is said so.
 */
static void test_short_pauses(void **state)
{
	const struct wf_deadlock *d;
	struct rig r;
	uint32_t n;

	(void)state;
	ring_init(&r, "pfc");
	rig_set(&r, "buffer.alpha", "1/65536");
	rig_set(&r, "buffer.reserved", "0B");
	rig_set(&r, "buffer.size", "4MB");
	rig_set(&r, "pfc.reaction", "0s");
	rig_set(&r, "pfc.quanta", "80"); /* of 5.12 ns; a packet takes 335 ns */
	r.deadlock_check = 1 * WF_US;
	rig_run(&r, 1);
	assert_int_equal(wf_sim_deadlocks_found(r.sim), 0);
	assert_int_equal(wf_sim_look_for_deadlocks(r.sim, true), 0);
	d = wf_sim_deadlocks(r.sim, &n);
	assert_int_equal(n, 1);
	assert_false(d->certain);
	assert_int_equal(d->n, 5);
	assert_int_equal(wf_sim_deadlocks_standing(r.sim), 0);
	rig_fini(&r);
}

/*
 * h5 pauses without end: its leaf's queue to it stands still, and behind it a tree of others. None
 * of that is a deadlock, and it is told whose adapter it hangs on, since when.
 */
static void test_storm_is_none(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 16, radix: 8, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: roce, buffer: {size: 4MB}}\n"
		"  - {profile: ib-hdr, name: ib}\n"
		"traffic:\n"
		"  - {kind: permutation, op: write, size: 4MB}\n"
		"  - {kind: incast, op: write, fanin: 8, target: 5, size: 4MB}\n"
		"faults: [{on: h5, at: 100us, fault: pause-storm}]\n"
		"run: {until: 3ms}\n";
	static const char *const fabrics[] = { "roce", "ib" };
	struct scen s;

	(void)state;
	scen_load(&s, text);
	for (size_t f = 0; f < WF_ARRAY_SIZE(fabrics); f++) {
		struct wf_standstill tree[2];

		scen_run(&s, fabrics[f], 1);
		assert_false(s.result->finished);
		assert_int_equal(wf_sim_look_for_deadlocks(s.sim, true), 0);
		assert_int_equal(wf_sim_deadlocks_found(s.sim), 0);
		assert_int_equal(wf_sim_standstills(s.sim, 100 * WF_US, tree, 2), 1);
		assert_int_equal(tree[0].host, 5);
		/*
		 * The frame comes a reaction time later, and is a microsecond on its way; a buffer
		 * of credits goes on for some us.
		 */
		assert_in_range(tree[0].since, 100 * WF_US, 110 * WF_US);
		assert_true(tree[0].queues >= 4);
		assert_int_equal(tree[0].packets <= s.result->packets_inside, 1);
		assert_true(tree[0].packets * 10 > s.result->packets_inside * 9);
	}
	scen_fini(&s);
}

/* ---- how it ends ---- */

#define RING(more)                                                                                 \
	"topology: {kind: hpcc, file: " WEFT_SOURCE_DIR "/examples/topologies/ring.txt}\n"         \
	"fabric:\n"                                                                                \
	"  - {profile: roce-400g-nocc, name: roce, buffer: {size: 3MB, alpha: 1/16, reserved: "    \
	"4608B}, sender: {timeout: 200ms}}\n"                                                      \
	"  - {profile: ib-ndr, name: ib, sender: {timeout: 200ms}, nic: {rate_min: 0, rate_max: "  \
	"0}" more "}\n"                                                                            \
	"traffic: [{kind: shift, distance: 2, size: 20MB}]\n"

/*
 * A link of the ring goes down for a while: what waited for it is lost, the circle is open, and the
 * others go on. It was one deadlock, and it is known by when it was over; without the fault it
 * stands.
 */
static void test_broken_by_a_link(void **state)
{
	static const char *const fabrics[] = { "roce", "ib" };
	struct scen s;

	(void)state;
	for (int broken = 0; broken < 2; broken++) {
		scen_load(&s, broken ? RING("") "faults: [{on: sw5-sw6, at: 5ms, "
		                                "fault: down}]\n"
		                                "run: {until: 6ms, reconverge: 1s, deadlock_check: "
		                                "50us}\n"
		                     : RING("") "run: {until: 6ms, deadlock_check: 50us}\n");
		for (size_t f = 0; f < WF_ARRAY_SIZE(fabrics); f++) {
			const struct wf_deadlock *d;
			uint32_t n;

			scen_run(&s, fabrics[f], 1);
			assert_int_equal(wf_sim_look_for_deadlocks(s.sim, true), 0);
			d = wf_sim_deadlocks(s.sim, &n);
			assert_true(n >= 1 && d->certain && d->n == 5);
			/*
			 * Where nobody moves, events are rare: pause frames every 168 us, with
			 * credits the fault.
			 */
			assert_true(d->formed < d->found);
			if (f == 0)
				assert_true(d->found <= d->formed + 400 * WF_US);
			if (!broken) {
				assert_int_equal(d->ended, WF_TIME_NEVER);
				assert_int_equal(wf_sim_deadlocks_standing(s.sim), 1);
				continue;
			}
			assert_in_range(d->ended, 5 * WF_MS, 5 * WF_MS + 60 * WF_US);
			assert_int_equal(d->fault.kind, WF_SIM_CHANGE_NONE);
		}
		scen_fini(&s);
	}
}

/*
 * InfiniBand's lifetime at the head of a queue breaks it, again and again: one deadlock, that
 * formed several times.
 */
static void test_broken_by_age(void **state)
{
	const struct wf_deadlock *d;
	uint32_t n, times = 0;
	struct scen s;

	(void)state;
	scen_load(&s, RING(", vl: {hoq_life: 500us}") "run: {until: 8ms, deadlock_check: 20us}\n");
	scen_run(&s, "ib", 1);
	d = wf_sim_deadlocks(s.sim, &n);
	assert_true(n >= 1 && s.total.drops_life > 0);
	/* Half a millisecond after it was complete the first is dropped. */
	assert_in_range(d->formed_last, d->formed + 500 * WF_US, 8 * WF_MS);
	for (uint32_t i = 0; i < n; i++)
		times += d[i].times;
	assert_true(times >= 2);
	scen_fini(&s);
}

/* So does a watchdog (here 1,000 times as fast), by dropping what waits. */
static void test_broken_by_watchdog(void **state)
{
	const struct wf_deadlock *d;
	struct scen s;
	uint32_t n;

	(void)state;
	scen_load(&s,
	          "topology: {kind: hpcc, file: " WEFT_SOURCE_DIR "/examples/topologies/ring.txt}\n"
	          "fabric:\n"
	          "  profile: roce-400g-nocc\n"
	          "  name: f\n"
	          "  buffer: {size: 3MB, alpha: 1/16, reserved: 4608B}\n"
	          "  pfc: {quanta: 8192}\n"
	          "  watchdog: {rules: sonic, speedup: 1000}\n"
	          "  sender: {timeout: 200ms}\n"
	          "traffic: [{kind: shift, distance: 2, size: 20MB}]\n"
	          "run: {until: 6ms, deadlock_check: 20us}\n");
	scen_run(&s, "f", 1);
	d = wf_sim_deadlocks(s.sim, &n);
	assert_true(n >= 1 && d->certain);
	assert_true(s.total.drops_watchdog > 0);
	assert_true(d->times > 1 || d->ended != WF_TIME_NEVER);
	scen_fini(&s);
}

/* run.stop_at_deadlock: the run is over when it is found. */
static void test_stops(void **state)
{
	const struct wf_deadlock *d;
	struct scen s;
	uint32_t n;

	(void)state;
	scen_load(&s, RING("") "run: {until: 50ms, stop_at_deadlock: true}\n");
	scen_run(&s, "roce", 1);
	d = wf_sim_deadlocks(s.sim, &n);
	assert_int_equal(n, 1);
	assert_int_equal(s.result->end, d->found);
	assert_true(d->found < d->formed + 500 * WF_US);
	scen_fini(&s);
}

/*
 * Packets are buffered as class 4 and leave by the queue of class 3: full groups of priority 4 stop
 * queues of priority 3. The circle is the same; who looked for buffer and queue under one number
 * would not find it.
 */
static void test_maps(void **state)
{
	static const struct hop ring[] = { { "sw5", "sw6" },
		                           { "sw6", "sw7" },
		                           { "sw7", "sw8" },
		                           { "sw8", "sw9" },
		                           { "sw9", "sw5" } };
	const struct wf_deadlock *d;
	struct scen s;
	uint32_t n;

	(void)state;
	scen_load(&s,
	          "topology: {kind: hpcc, file: " WEFT_SOURCE_DIR "/examples/topologies/ring.txt}\n"
	          "fabric:\n"
	          "  profile: roce-400g-nocc\n"
	          "  name: f\n"
	          "  classes: {lossless: [3, 4], weights: \"0:50,3:50,4:50\"}\n"
	          "  buffer: {size: 3MB, alpha: 1/16, reserved: 4608B}\n"
	          "  maps: {tc_pg: \"3:4\", pfc_queue: \"4:3\"}\n"
	          "  sender: {timeout: 200ms}\n"
	          "traffic: [{kind: shift, distance: 2, size: 20MB}]\n"
	          "run: {until: 6ms}\n");
	scen_run(&s, "f", 1);
	assert_int_equal(wf_sim_look_for_deadlocks(s.sim, true), 0);
	d = wf_sim_deadlocks(s.sim, &n);
	assert_int_equal(s.lossless_drops, 0);
	assert_int_equal(n, 1);
	assert_true(d->certain);
	check_circle(&s, 0, ring, 5);
	assert_int_equal(d->link[0].id, 3);
	scen_fini(&s);
}

/* ---- looking changes nothing ---- */

static void test_same_on_threads_and_without(void **state)
{
	const struct wf_deadlock *d;
	static struct same looked, other;
	wf_time formed;
	struct scen s;
	uint32_t n, queues;

	(void)state;
	scen_load(&s, "topology: {kind: leaf-spine, hosts: 12, radix: 8, host_rate: 100Gbps}\n"
	              "fabric: {profile: roce-100g, name: f, sender: {timeout: 1ms}}\n"
	              "devices: {leaf1: {switch: {reconverge: 2ms}}}\n"
	              "traffic: [{kind: shift, op: write, distance: 8, size: 10MB}]\n"
	              "faults: [{on: leaf0-spine0, at: 100us, fault: down}]\n"
	              "run: {until: 4ms, reconverge: 5us}\n");
	s.scenario.cfg.deadlock_check = 100 * WF_US;
	scen_same(&s, "f");
	same_take(s.sim, 0, &looked);
	d = wf_sim_deadlocks(s.sim, &n);
	assert_int_equal(n, 1);
	queues = d->n;
	formed = d->formed;
	/* Whoever looks more often finds it sooner, the same one; who does not look finds none. */
	for (size_t i = 0; i < 2; i++) {
		s.scenario.cfg.deadlock_check = i * WF_US;
		scen_run(&s, "f", 1);
		same_take(s.sim, 0, &other);
		other.deadlocks = looked.deadlocks;
		same_check(&looked, &other);
		d = wf_sim_deadlocks(s.sim, &n);
		assert_int_equal(n, i);
	}
	assert_int_equal(d->formed, formed);
	assert_int_equal(d->n, queues);
	scen_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_credits_by_hand),
		cmocka_unit_test(test_pause_by_hand),
		cmocka_unit_test(test_two_flows_and_three),
		cmocka_unit_test(test_loop_threshold),
		cmocka_unit_test(test_nothing_moves),
		cmocka_unit_test(test_no_false_positives),
		cmocka_unit_test(test_circle_of_live),
		cmocka_unit_test(test_small_groups),
		cmocka_unit_test(test_short_pauses),
		cmocka_unit_test(test_storm_is_none),
		cmocka_unit_test(test_broken_by_a_link),
		cmocka_unit_test(test_broken_by_age),
		cmocka_unit_test(test_broken_by_watchdog),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_same_on_threads_and_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
