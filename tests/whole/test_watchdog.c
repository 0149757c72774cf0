/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: tsan=*threads* */
/*
 * test_watchdog.c - PFC watchdogs by the rules of their vendors, adapters that stop sending pauses,
 * and InfiniBand's lifetime limit with its stalls: when they act, on what, what it costs, and when
 * it is over.
 */
#include "scen.h"

#include "fabric/watchdog.h"

#define COUNTER(field) offsetof(struct wf_sim_counts, field)

/* The watchdog of priority 3 of the port of a device that leads to a peer. */
static const struct wf_watchdog_queue *watched(const struct scen *s, const char *name,
                                               const char *peer)
{
	for (unsigned q = 0; q < s->fabric->classes.n; q++) {
		if (s->fabric->classes.queue[q].id == 3)
			return wf_watchdog_look(scen_device(s, name), scen_port_to(s, name, peer),
			                        q);
	}
	fail_msg("there is no priority 3");
	return NULL;
}

/*
 * One switch; h0 sends to h1 all the time, which pauses without end from 130 to 1330 us. At a
 * thousandth of real times, polls at 0, 200, 400 us (SONiC) or 0, 100, 200 us. A pause frame is
 * repeated every 21 us (8192 quanta at 100 Gb/s are 42 us).
 *
 * By hand: at the first poll after 130 us the queue has sent something since the last, and was not
 * paused then: nobody counts it. From the second on each counts.
 *	sonic, nvidia  200 is 1 poll: 400. The last frame comes before 1330: 1400 has some, 1600
 *	               is 200 of quiet
 *	detect 399     2 polls: 600. restore 401: 3 polls: 1600, 1800, 2000
 *	poll 50        150 does not count; 200 to 350 are 4 polls. 1350 had frames, 1400 to 1550
 *	               had none
 *	phase 170      170 does not count; 370. 1370 had frames; 1570
 *	cumulus        3 polls of 100, paused throughout: 300, 400, 500. Quiet at 1500
 *	arista         2 polls: 300, 400. Quiet for 200 at 1500 and 1600
 *	cisco          1 poll: 300. Quiet for 1000, polls 1500 to 2400
 *	alert          is over when packets leave again, which 1400 sees
 *	juniper        2 polls: 400; 200 later it ends whatever happens: 600. Again: 700, 800, 1000;
 *	               1100, 1200, 1400
 */
static void test_times_by_hand(void **state)
{
	static const struct {
		const char *set;
		wf_time first, acted; /* us */
		unsigned times;
	} want[] = {
		{ "rules: sonic, phase: 0", 400, 1200, 1 },
		{ "rules: sonic-nvidia, phase: 0", 400, 1200, 1 },
		{ "rules: sonic-nvidia-2023, phase: 0", 400, 1200, 1 },
		{ "rules: sonic, phase: 0, detect: 400ms", 600, 1000, 1 },
		{ "rules: sonic, phase: 0, detect: 399ms", 600, 1000, 1 },
		{ "rules: sonic, phase: 0, restore: 401ms", 400, 1600, 1 },
		{ "rules: sonic, phase: 0, poll: 50ms", 350, 1200, 1 },
		{ "rules: sonic, phase: 170ms", 370, 1200, 1 },
		{ "rules: cumulus, phase: 0", 500, 1000, 1 },
		{ "rules: arista, phase: 0", 400, 1200, 1 },
		{ "rules: cisco, phase: 0", 300, 2100, 1 },
		{ "rules: juniper, phase: 0", 400, 600, 3 },
		{ "rules: sonic, phase: 0, action: forward", 400, 1200, 1 },
		{ "rules: sonic, phase: 0, action: alert", 400, 1000, 1 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(want); i++) {
		const struct wf_watchdog_queue *w;
		char text[1024];
		struct scen s;
		wf_time end;

		snprintf(text, sizeof(text),
		         "topology: {kind: single, hosts: 4, host_rate: 100Gbps}\n"
		         "fabric: {profile: roce-100g, name: f, pfc: {quanta: 8192}, cc: "
		         "{algorithm: "
		         "none}, watchdog: {speedup: 1000, %s}}\n"
		         "traffic: [{kind: incast, op: write, fanin: 1, target: 1, size: 100MB}]\n"
		         "faults: [{on: h1, at: 130us, until: 1330us, fault: pause-storm}]\n"
		         "run: {until: 3ms}\n",
		         want[i].set);
		scen_load(&s, text);
		scen_build(&s, "f", 1);
		w = watched(&s, "leaf0", "h1");
		assert_int_equal(wf_sim_run_until(s.sim, want[i].first * WF_US - 1, &end), 0);
		assert_int_equal(w->times, 0);
		assert_int_equal(wf_sim_run_until(s.sim, (want[i].first + 1) * WF_US, &end), 0);
		assert_int_equal(w->times, 1);
		assert_int_equal(w->since, want[i].first * WF_US);
		assert_int_equal(wf_sim_run_until(s.sim, 3 * WF_MS, &end), 0);
		if (w->times != want[i].times || w->ends != want[i].times ||
		    w->acted_ps != want[i].acted * WF_US)
			fail_msg("%s: acted %u times, ended %u, %lld us", want[i].set, w->times,
			         w->ends, (long long)(w->acted_ps / WF_US));
		scen_add_up(&s);
		assert_int_equal(s.total.drops, s.total.drops_watchdog);
		assert_int_equal(s.total.drops, s.total.tx_watchdog + s.total.rx_watchdog);
		assert_int_equal(s.total.tx_watchdog > 100, strstr(text, "action") == NULL);
		assert_int_equal(s.lossless_drops, 0);
		scen_fini(&s);
	}
}

/*
 * The queue to h1 is empty until 140 us, when pauses have come for 10 us, so that nothing left
 * since the poll at 0. By the rules of Broadcom's SONiC and of NVIDIA's old one it is stuck at 200
 * us, after 60 us of it; NVIDIA's new ones want it paused for 99 % of the time, which it is at 400
 * us. If a packet left since the last poll, if only one, nothing is stuck before 400 us.
 */
static void test_idle_then_paused(void **state)
{
	static const struct {
		const char *rules, *before;
		wf_time since;
	} want[] = {
		{ "sonic", "", 200 * WF_US },
		{ "sonic-nvidia-2023", "", 200 * WF_US },
		{ "sonic-nvidia", "", 400 * WF_US },
		{ "sonic",
		  ", {kind: incast, op: write, fanin: 1, target: 1, size: 100B, start: 100us}",
		  400 * WF_US },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(want); i++) {
		char text[1024];
		struct scen s;

		snprintf(text, sizeof(text),
		         "topology: {kind: single, hosts: 4, host_rate: 100Gbps}\n"
		         "fabric: {profile: roce-100g, name: f, pfc: {quanta: 8192}, watchdog: "
		         "{speedup: 1000, phase: 0, rules: %s}}\n"
		         "traffic: [{kind: incast, op: write, fanin: 1, target: 1, size: 1MB, "
		         "start: "
		         "140us}%s]\n"
		         "faults: [{on: h1, at: 130us, fault: pause-storm}]\n"
		         "run: {until: 500us}\n",
		         want[i].rules, want[i].before);
		scen_load(&s, text);
		scen_run(&s, "f", 1);
		assert_int_equal(watched(&s, "leaf0", "h1")->times, 1);
		assert_int_equal(watched(&s, "leaf0", "h1")->since, want[i].since);
		scen_fini(&s);
	}
}

#define STORM                                                                                      \
	"topology: {kind: leaf-spine, hosts: 16, radix: 8, host_rate: 100Gbps}\n"                  \
	"fabric:\n"                                                                                \
	"  - {profile: roce-100g, name: none}\n"                                                   \
	"  - {profile: roce-100g, name: drop, watchdog: {rules: sonic, speedup: 1000}}\n"          \
	"  - {profile: roce-100g, name: forward, watchdog: {rules: sonic, speedup: 1000, action: " \
	"forward}}\n"                                                                              \
	"  - {profile: roce-100g, name: alert, watchdog: {rules: sonic, speedup: 1000, action: "   \
	"alert}}\n"                                                                                \
	"  - {profile: roce-100g, name: port, devices: {'leaf1:h5': {watchdog: {rules: sonic}}}, " \
	"watchdog: {speedup: 1000}}\n"                                                             \
	"  - {profile: roce-100g, name: elsewhere, devices: {'leaf0': {watchdog: {rules: "         \
	"sonic}}}, watchdog: {speedup: 1000}}\n"                                                   \
	"traffic:\n"                                                                               \
	"  - {kind: permutation, op: write, size: 10MB}\n"                                         \
	"  - {kind: incast, op: write, fanin: 4, target: 5, size: 4MB}\n"

/* Flows that have not come to their end: those from or to h5, or all others. */
static unsigned unfinished(const struct scen *s, bool of_h5)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < s->scenario.flows.n; i++) {
		const struct wf_flow_spec *f = &s->scenario.flows.flow[i];

		n += wf_sim_flow_end(s->sim, i) == WF_TIME_NEVER &&
		     (f->src == 5 || f->dst == 5) == of_h5;
	}
	return n;
}

/* Whether a host sends something to h5. */
static bool sends_to_h5(const struct scen *s, uint32_t host)
{
	for (uint32_t i = 0; i < s->scenario.flows.n; i++) {
		if (s->scenario.flows.flow[i].src == host && s->scenario.flows.flow[i].dst == 5)
			return true;
	}
	return false;
}

/* Ports of switches, or of hosts that send nothing to h5, that were paused for 1 ms or more. */
static unsigned paused(const struct scen *s, bool hosts)
{
	const struct wf_topo *topo = s->fabric->net->topo;
	unsigned n = 0;

	for (uint32_t id = 0; id < topo->n_nodes; id++) {
		bool host = topo->nodes[id].kind == WF_TOPO_HOST;

		for (uint32_t p = 0; p < topo->nodes[id].n_ports; p++) {
			struct wf_sim_counts c;

			wf_sim_port_total(s->sim, id, p, &c);
			n += host == hosts && c.paused_ps >= WF_MS &&
			     !(host && sends_to_h5(s, topo->nodes[id].host));
		}
	}
	return n;
}

/*
 * h5 pauses without end. Without a watchdog the pause spreads over leaves and spines to hosts that
 * send nothing to it, and their flows stop. With one, a single queue is lost, that of leaf1 to h5,
 * and the flows of all others come to their end; with forward, h5's as well. alert tells only, and
 * of the queues that were stopped on the way back, too. It is enough to have it at that port; at a
 * leaf elsewhere it finds the wrong queue, that to a spine.
 */
static void test_storm(void **state)
{
	static const char text[] = STORM "faults: [{on: h5, at: 100us, fault: pause-storm}]\n"
					 "run: {until: 5ms}\n";
	static const char *const cured[] = { "drop", "port" };
	struct wf_sim_counts port;
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "none", 1);
	assert_null(watched(&s, "leaf1", "h5"));
	assert_in_range(paused(&s, false), 5, 12);
	assert_in_range(paused(&s, true), 2, 12);
	assert_in_range(unfinished(&s, false), 5, 15);
	assert_int_equal(s.total.drops, 0);
	for (size_t i = 0; i < WF_ARRAY_SIZE(cured); i++) {
		scen_run(&s, cured[i], 1);
		assert_int_equal(paused(&s, false), 1);
		assert_int_equal(paused(&s, true), 0);
		assert_int_equal(unfinished(&s, false), 0);
		assert_int_equal(unfinished(&s, true), 6); /* 1 + 4 to it, 1 from it */
		port = scen_port(&s, "leaf1", "h5", 3);
		assert_true(port.tx_watchdog > 1000 && port.rx_watchdog > 1000);
		assert_int_equal(s.total.drops, port.drops_watchdog);
		assert_int_equal(s.total.watchdog_acted, 1);
		assert_int_equal(s.total.watchdog_restored, 0);
		assert_int_equal(s.lossless_drops, 0);
	}
	scen_run(&s, "forward", 1);
	assert_int_equal(s.result->flows_done, 20);
	assert_int_equal(s.total.drops, 0);
	assert_int_equal(s.total.watchdog_acted, 1);
	scen_run(&s, "alert", 1);
	assert_in_range(paused(&s, false), 5, 12);
	assert_true(s.total.watchdog_acted > 3);
	assert_int_equal(s.total.drops, 0);
	scen_run(&s, "elsewhere", 1);
	assert_in_range(paused(&s, false), 3, 12);
	assert_int_equal(watched(&s, "leaf1", "h5")->times, 0);
	assert_true(watched(&s, "leaf0", "spine1")->times > 0);
	assert_true(unfinished(&s, false) > 0);
	scen_fini(&s);
}

/*
 * With forward packets leave at once when the watchdog acts at 400 us, whatever pause is left (335
 * us at 100 Gb/s): some 20 of 4.2 KB in 10 us.
 */
static void test_forward_at_once(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 4, host_rate: 100Gbps}\n"
		"fabric: {profile: roce-100g, name: f, watchdog: {rules: sonic, action: forward, "
		"phase: 0, speedup: 1000}}\n"
		"traffic: [{kind: incast, op: write, fanin: 1, target: 1, size: 10MB}]\n"
		"faults: [{on: h1, at: 130us, fault: pause-storm}]\n"
		"run: {until: 1ms}\n";
	uint64_t before;
	struct scen s;
	wf_time end;

	(void)state;
	scen_load(&s, text);
	scen_build(&s, "f", 1);
	assert_int_equal(wf_sim_run_until(s.sim, 399 * WF_US, &end), 0);
	scen_add_up(&s);
	before = scen_port(&s, "leaf0", "h1", 3).tx_packets;
	free(s.result);
	assert_int_equal(wf_sim_run_until(s.sim, 410 * WF_US, &end), 0);
	scen_add_up(&s);
	assert_in_range(scen_port(&s, "leaf0", "h1", 3).tx_packets, before + 20, before + 40);
	scen_fini(&s);
}

/*
 * After a storm all is as before: what was lost is sent again, and a second storm is detected like
 * the first.
 */
static void test_two_storms(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 4, host_rate: 100Gbps}\n"
		"fabric: {profile: roce-100g, name: f, sender: {timeout: 500us}, watchdog: {rules: "
		"sonic, phase: 0, speedup: 1000}}\n"
		"traffic: [{kind: shift, op: write, distance: 1, size: 40MB}]\n"
		"faults:\n"
		"  - {on: h1, at: 130us, until: 730us, fault: pause-storm}\n"
		"  - {on: h1, at: 2130us, until: 2730us, fault: pause-storm}\n"
		"run: {until: 20ms}\n";
	const struct wf_watchdog_queue *w;
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "f", 1);
	w = watched(&s, "leaf0", "h1");
	assert_int_equal(w->times, 2);
	assert_int_equal(w->ends, 2);
	assert_int_equal(w->since, 2400 * WF_US);
	assert_int_equal(w->acted_ps, 1200 * WF_US); /* 400 to 1000, 2400 to 3000 */
	assert_int_equal(w->due, WF_TIME_NEVER);     /* nobody looks any more */
	assert_int_equal(s.result->flows_done, 4);
	assert_true(s.result->resent > 0);
	assert_int_equal(s.total.drops, s.total.drops_watchdog);
	scen_fini(&s);
}

/*
 * 15 hosts send to one without congestion control: senders are paused all the time, and queues move
 * all the time. No watchdog acts. Then the receiver's link comes up with 10 Mb/s: the queue to it
 * is not stopped and moves, so its leaf does nothing; but a packet takes 3.3 ms now, so that spine
 * and leaves stop those behind them for longer than 200 us. That is no storm, and packets are lost
 * all the same.
 */
static void test_false_alarm(void **state)
{
	static const char ordinary[] =
		"topology: {kind: leaf-spine, hosts: 16, radix: 8, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: sonic, cc: {algorithm: none}, watchdog: {rules: "
		"sonic, "
		"speedup: 1000}}\n"
		"  - {profile: roce-100g, name: cumulus, cc: {algorithm: none}, watchdog: {rules: "
		"cumulus, speedup: 1000}}\n"
		"traffic: [{kind: incast, op: write, fanin: 15, target: 0, size: 2MB}]\n"
		"run: {until: 10ms}\n";
	static const char slow[] =
		"faults: [{on: h0-leaf0, at: 500us, until: 4ms, set: {link: {rate: 10Mbps}}}]\n";
	static const char *const fabrics[] = { "sonic", "cumulus" };
	char whole[2048];
	struct scen s;

	(void)state;
	scen_load(&s, ordinary);
	for (size_t i = 0; i < WF_ARRAY_SIZE(fabrics); i++) {
		scen_run(&s, fabrics[i], 1);
		assert_int_equal(s.result->flows_done, 15);
		assert_true(s.total.pause_rx > 20);
		assert_int_equal(s.total.watchdog_acted, 0);
		assert_int_equal(s.total.drops, 0);
	}
	scen_fini(&s);
	snprintf(whole, sizeof(whole), "%s%s", ordinary, slow);
	scen_load(&s, whole);
	for (size_t i = 0; i < WF_ARRAY_SIZE(fabrics); i++) {
		scen_run(&s, fabrics[i], 1);
		assert_int_equal(watched(&s, "leaf0", "h0")->times, 0);
		assert_true(s.total.watchdog_acted >= 1);
		assert_true(s.total.drops_watchdog > 100);
	}
	scen_fini(&s);
}

/*
 * An adapter that has sent pauses for 100 us (a thousandth of 100 ms) sends no more: its first
 * frame leaves at 130 us, its last before 230 us, each for 42 us, so that its port is free again by
 * 272 us and the packets go to it. When it has no reason for pauses any more, it may send them
 * again; by Microsoft's rules never.
 */
static void test_adapter(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 4, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: auto, pfc: {quanta: 8192}, watchdog: {adapter: "
		"connectx-auto, speedup: 1000}}\n"
		"  - {profile: roce-100g, name: late, pfc: {quanta: 8192}, watchdog: {adapter: "
		"connectx, speedup: 20000}}\n"
		"  - {profile: roce-100g, name: ever, pfc: {quanta: 8192}, watchdog: {adapter: "
		"microsoft, speedup: 1000}}\n"
		"  - {profile: roce-100g, name: own, pfc: {quanta: 8192}, watchdog: {adapter: "
		"microsoft, adapter_detect: 25ms, speedup: 1000}}\n"
		"traffic: [{kind: incast, op: write, fanin: 1, target: 1, size: 20MB, start: "
		"140us}]\n"
		"faults:\n"
		"  - {on: h1, at: 130us, until: 800us, fault: pause-storm}\n"
		"  - {on: h1, at: 900us, until: 1500us, fault: pause-storm}\n"
		"run: {until: 5ms}\n";
	static const struct {
		const char *name;
		unsigned times, ends;
		wf_time first, acted, least, most; /* us; the last two: paused */
	} want[] = {
		{ "auto", 2, 2, 230, 570 + 500, 2 * 110, 2 * 145 },
		{ "late", 2, 2, 530, 270 + 200, 2 * 410, 2 * 445 },
		{ "ever", 1, 0, 230, 0, 110, 145 },
		{ "own", 1, 0, 155, 0, 40, 70 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(want); i++) {
		const struct wf_watchdog_queue *w;
		struct scen s;
		wf_time end;

		scen_load(&s, text);
		scen_build(&s, want[i].name, 1);
		w = watched(&s, "h1", "leaf0");
		assert_int_equal(wf_sim_run_until(s.sim, 850 * WF_US, &end), 0);
		assert_int_equal(w->times, 1);
		assert_in_range(w->since, want[i].first * WF_US, want[i].first * WF_US + WF_US);
		assert_int_equal(wf_sim_run_until(s.sim, 5 * WF_MS, &end), 0);
		scen_add_up(&s);
		assert_int_equal(w->times, want[i].times);
		assert_int_equal(w->ends, want[i].ends);
		assert_in_range(w->acted_ps / WF_US, want[i].acted - (want[i].acted != 0),
		                want[i].acted);
		assert_in_range(scen_port(&s, "leaf0", "h1", 3).paused_ps, want[i].least * WF_US,
		                want[i].most * WF_US);
		assert_int_equal(s.total.storm_errors, want[i].times);
		assert_int_equal(s.result->flows_done, 1);
		assert_int_equal(s.total.drops, 0);
		scen_fini(&s);
	}
}

/*
 * A watchdog that is switched on in a storm begins then, and one that is switched off ends what it
 * has done.
 */
static void test_switched_on_and_off(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 4, host_rate: 100Gbps}\n"
		"fabric: {profile: roce-100g, name: f, pfc: {quanta: 8192}, watchdog: {phase: 0, "
		"speedup: 1000}}\n"
		"traffic: [{kind: incast, op: write, fanin: 1, target: 1, size: 100MB}]\n"
		"faults:\n"
		"  - {on: h1, at: 130us, fault: pause-storm}\n"
		"  - {on: leaf0, at: 470us, until: 1110us, set: {watchdog: {rules: arista}}}\n"
		"run: {until: 2ms}\n";
	const struct wf_watchdog_queue *w;
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "f", 1);
	w = watched(&s, "leaf0", "h1");
	assert_int_equal(w->times, 1);
	assert_int_equal(w->since, 600 * WF_US); /* polls at 500 and 600 find it paused */
	assert_int_equal(w->ends, 1);
	assert_int_equal(w->acted_ps, 510 * WF_US);
	assert_int_equal(w->due, WF_TIME_NEVER);
	/* What comes after that waits again. */
	assert_true(scen_device(&s, "leaf0")->ports[scen_port_to(&s, "leaf0", "h1")].nonempty != 0);
	scen_fini(&s);
}

/*
 * A leaf that learns late of a link that is down closes a circle of full buffers (test_faults.c),
 * and nobody moves for ever. A watchdog takes one queue out of it, and all flows come to their end.
 */
static void test_breaks_deadlock(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 12, radix: 8, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: none, sender: {timeout: 1ms}}\n"
		"  - {profile: roce-100g, name: sonic, sender: {timeout: 1ms}, watchdog: {rules: "
		"sonic, "
		"speedup: 1000}}\n"
		"devices: {leaf1: {switch: {reconverge: 2ms}}}\n"
		"traffic: [{kind: shift, op: write, distance: 8, size: 10MB}]\n"
		"faults: [{on: leaf0-spine0, at: 100us, fault: down}]\n"
		"run: {until: 50ms, reconverge: 5us}\n";
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "none", 1);
	assert_true(s.result->flows_done < 12);
	scen_run(&s, "sonic", 1);
	assert_int_equal(s.result->flows_done, 12);
	assert_true(s.total.watchdog_acted > 0 && s.total.drops_watchdog > 0);
	assert_int_equal(s.total.watchdog_acted, s.total.watchdog_restored);
	scen_fini(&s);
}

/*
 * InfiniBand, h1 gives no credits from 100 to 1600 us. The leaf's port to it has credits for 128
 * KiB then, 10.5 us at 100 Gb/s. From about 111 us on a head waits, and is dropped after 20 us: 74
 * of them. With a stall count of 7 the seventh, after 140 us, takes all packets with it, and all
 * that come in 160 us more; then it begins again, every 300 us: stalls at about 251, 551, 851, 1151
 * and 1451 us.
 */
static void test_head_of_queue(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: ib-hdr, name: never}\n"
		"  - {profile: ib-hdr, name: life, vl: {hoq_life: 20us}}\n"
		"  - {profile: ib-hdr, name: leaf, vl: {leaf_hoq_life: 20us}}\n"
		"  - {profile: ib-hdr, name: other, vl: {hoq_life: 20us, leaf_hoq_life: 1s}}\n"
		"  - {profile: ib-hdr, name: stall, vl: {leaf_hoq_life: 20us, stall_count: 7}}\n"
		"  - {profile: ib-hdr, name: leafstall, vl: {leaf_hoq_life: 20us, "
		"leaf_stall_count: "
		"7}}\n"
		"  - {profile: ib-hdr, name: nostall, vl: {leaf_hoq_life: 20us, stall_count: 7, "
		"leaf_stall_count: 0}}\n"
		"traffic:\n"
		"  - {kind: incast, op: write, fanin: 5, target: 1, size: 100MB}\n"
		"faults: [{on: h1, at: 100us, until: 1600us, fault: pause-storm}]\n"
		"run: {until: 1600us}\n";
	static const struct {
		const char *name;
		unsigned drops, more, stalls;
		bool elsewhere; /* other ports drop heads, too */
	} want[] = {
		{ "never", 0, 0, 0, false },        { "life", 74, 3, 0, true },
		{ "leaf", 74, 3, 0, false },        { "other", 0, 0, 0, true },
		{ "stall", 1000, 22000, 5, false }, { "leafstall", 1000, 22000, 5, false },
		{ "nostall", 74, 3, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(want); i++) {
		struct wf_sim_counts port;
		struct scen s;

		scen_load(&s, text);
		scen_run(&s, want[i].name, 1);
		port = scen_port(&s, "leaf0", "h1", 3);
		assert_in_range(port.drops_life, want[i].drops, want[i].drops + want[i].more);
		assert_int_equal(port.vl_stalls, want[i].stalls);
		assert_int_equal(s.total.vl_stalls, want[i].stalls);
		assert_int_equal(s.total.drops, s.total.drops_life);
		assert_int_equal(s.total.drops_life > port.drops_life, want[i].elsewhere);
		scen_fini(&s);
	}
}

/*
 * Five times h1 gives no credits for 100 us, in which 4 heads are dropped: 89 us are left of them
 * behind what its buffer takes. That is never 7 in a row, as packets leave in between; with a count
 * of 4 it is a stall each time.
 */
static void test_stalls_in_a_row(void **state)
{
	static const char text[] =
		"topology: {kind: single, hosts: 4, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: ib-hdr, name: seven, vl: {hoq_life: 20us, stall_count: 7}}\n"
		"  - {profile: ib-hdr, name: four, vl: {hoq_life: 20us, stall_count: 4}}\n"
		"traffic: [{kind: incast, op: write, fanin: 2, target: 1, size: 100MB}]\n"
		"faults:\n"
		"  - {on: h1, at: 100us, until: 200us, fault: pause-storm}\n"
		"  - {on: h1, at: 500us, until: 600us, fault: pause-storm}\n"
		"  - {on: h1, at: 900us, until: 1000us, fault: pause-storm}\n"
		"  - {on: h1, at: 1300us, until: 1400us, fault: pause-storm}\n"
		"  - {on: h1, at: 1700us, until: 1800us, fault: pause-storm}\n"
		"run: {until: 2100us}\n";
	struct scen s;

	(void)state;
	scen_load(&s, text);
	scen_run(&s, "seven", 1);
	assert_int_equal(s.total.drops_life, 5 * 4);
	assert_int_equal(s.total.vl_stalls, 0);
	scen_run(&s, "four", 1);
	assert_int_equal(s.total.vl_stalls, 5);
	scen_fini(&s);
}

/* All of it at once, on 1, 2 and 4 threads: the same to the last byte. */
static void test_same_on_threads(void **state)
{
	static const char text[] =
		"topology: {kind: leaf-spine, hosts: 32, radix: 16, host_rate: 100Gbps}\n"
		"fabric:\n"
		"  - {profile: roce-100g, name: roce, sender: {timeout: 300us}, pfc: {quanta: "
		"4096}, "
		"watchdog: {rules: juniper, speedup: 2000}, devices: {h9: {watchdog: {adapter: "
		"connectx-auto}}}}\n"
		"  - {profile: ib-hdr, name: ib, sender: {timeout: 300us}, vl: {leaf_hoq_life: "
		"10us, "
		"stall_count: 3}}\n"
		"traffic:\n"
		"  - {kind: permutation, op: write, size: 2MB}\n"
		"  - {kind: incast, op: write, fanin: 20, target: 3, size: 400KB}\n"
		"faults:\n"
		"  - {on: h3, at: 20us, until: 600us, fault: pause-storm}\n"
		"  - {on: h9, at: 30us, until: 400us, fault: pause-storm}\n"
		"  - {on: h9, at: 700us, until: 800us, fault: pause-storm}\n"
		"  - {on: leaf1-spine0, at: 300us, until: 500us, fault: down}\n"
		"run: {until: 1500us, reconverge: 10us}\n";
	static const char *const fabrics[] = { "roce", "ib" };
	struct scen s;

	(void)state;
	scen_load(&s, text);
	for (size_t f = 0; f < WF_ARRAY_SIZE(fabrics); f++) {
		scen_same(&s, fabrics[f]);
		if (f == 1)
			assert_true(s.total.vl_stalls > 0);
		else
			assert_true(s.total.storm_errors > 0 &&
			            s.total.watchdog_acted > s.total.storm_errors + 1);
	}
	scen_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_by_hand),   cmocka_unit_test(test_idle_then_paused),
		cmocka_unit_test(test_storm),           cmocka_unit_test(test_forward_at_once),
		cmocka_unit_test(test_two_storms),      cmocka_unit_test(test_false_alarm),
		cmocka_unit_test(test_adapter),         cmocka_unit_test(test_switched_on_and_off),
		cmocka_unit_test(test_breaks_deadlock), cmocka_unit_test(test_head_of_queue),
		cmocka_unit_test(test_stalls_in_a_row), cmocka_unit_test(test_same_on_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
