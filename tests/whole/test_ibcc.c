/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: InfiniBand congestion control, from the switch that marks to the adapter that slows.
 */
/* ctest: tsan=*threads* */
#include "rig.h"

#define LEAF 16 /* hosts of a leaf */
#define FANIN 16
#define HOT 0
#define VICTIM_SRC 17
#define VICTIM_DST 1

/*
 * Four leaves of 16 hosts. 16 hosts of two leaves send to host 0; a neighbour of theirs sends to
 * host 1, from when the others have been at it for start, over the same spines to a port nobody
 * else uses.
 */
static void hot_spot(struct rig *r, uint64_t bytes, wf_time start, uint64_t victim)
{
	rig_init(r, "credit", "leaf-spine", 4 * LEAF);
	rig_topo(r, "radix", "32");
	rig_set(r, "routing", "adaptive");
	rig_set(r, "sender.timeout", "67ms");
	for (uint32_t i = 0; i < FANIN; i++)
		rig_flow(r, LEAF + i * 2, HOT, bytes, 0, 0);
	rig_flow(r, VICTIM_SRC, VICTIM_DST, victim, start, 0);
	for (size_t i = 0; i < r->flows.n; i++)
		r->flows.flow[i].op = WF_FLOW_WRITE;
}

static void control(struct rig *r)
{
	rig_set(r, "fecn.threshold", "8");
	rig_cc(r, "cc.algorithm", "ibcc");
	rig_cc(r, "cc.ibcc.ccti_timer", "40us");
}

/* Bytes of the victim's flow per microsecond; its line carries 50,000. */
static uint64_t victim_rate(const struct rig *r)
{
	const struct wf_flow_spec *f = &r->flows.flow[FANIN];

	return f->bytes / (uint64_t)((wf_sim_flow_end(r->sim, FANIN) - f->start) / WF_US);
}

/* Marks of switch ports towards hosts, and of those towards switches. */
static void count_marks(const struct rig *r, uint64_t *to_hosts, uint64_t *to_switches)
{
	*to_hosts = *to_switches = 0;
	for (uint32_t n = 0; n < r->topo->n_nodes; n++) {
		const struct wf_topo_node *node = &r->topo->nodes[n];

		for (unsigned p = 0; p < node->n_ports; p++) {
			uint32_t peer = r->topo->ports[node->first_port + p].peer;
			struct wf_sim_counts c;

			assert_true(wf_sim_port_counts(r->sim, n, p, 0, &c));
			if (r->topo->nodes[peer].kind == WF_TOPO_HOST)
				*to_hosts += c.ecn_marked;
			else
				*to_switches += c.ecn_marked;
		}
	}
}

/*
 * Without congestion control the tree that grows from the hot port stops the victim, though nobody
 * wants its port: it gets less than an eighth of its line. With it the victim has its line, and the
 * hot port goes on at nine tenths.
 */
static void test_victim_recovers(void **state)
{
	struct rig r;

	(void)state;
	hot_spot(&r, 40000000, 3 * WF_MS, 40000000);
	rig_run(&r, 1);
	assert_true(r.result->finished);
	assert_in_range(victim_rate(&r), 1, 50000 / 8);
	rig_again(&r);
	control(&r);
	rig_run(&r, 1);
	assert_true(r.result->finished);
	assert_int_equal(r.result->packets_dropped, 0);
	assert_in_range(victim_rate(&r), 48000, 50000);
	assert_in_range(r.result->last_delivery / WF_US, 12800, 14300);
	rig_fini(&r);
}

/* Notices in packets of their own do as well as those in acknowledgements. */
static void test_notices_in_cn_packets(void **state)
{
	struct rig r;

	(void)state;
	hot_spot(&r, 40000000, 3 * WF_MS, 40000000);
	control(&r);
	rig_cc(&r, "cc.ibcc.becn_on_ack", "false");
	rig_run(&r, 1);
	assert_true(r.result->finished);
	assert_in_range(victim_rate(&r), 48000, 50000);
	rig_fini(&r);
}

/*
 * Who marks. All 16 ports towards the hot leaf have more in their queues than the threshold, but
 * for want of credits: they mark only where the victim mask says so. (A packet counts where it is
 * marked first.)
 */
static void test_the_root_marks(void **state)
{
	static const char *const mask[] = { "none", "hosts", "all" };
	uint64_t hosts[3], switches[3];

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct rig r;

		hot_spot(&r, 4000000, 0, 4096);
		rig_set(&r, "fecn.threshold", "8");
		rig_set(&r, "fecn.victim_mask", mask[k]);
		rig_run(&r, 1);
		count_marks(&r, &hosts[k], &switches[k]);
		rig_fini(&r);
	}
	assert_true(hosts[0] > 14000);
	assert_int_equal(switches[0], 0);
	assert_int_equal(hosts[1], hosts[0]);
	assert_true(switches[2] > 14000);
	assert_in_range(hosts[2] + switches[2], hosts[0], hosts[0] + 100);
}

/* Of the packets that qualify one in marking_rate + 1 is marked; those too short, never. */
static void test_marking_rate_and_size(void **state)
{
	/* A packet of 4096 bytes has 4122 with its headers: 65 blocks would be 4160. */
	static const char *const set[][2] = {
		{ "0", "0" }, { "7", "0" }, { "0", "64" }, { "0", "65" }
	};
	uint64_t hosts[4], switches;

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		struct rig r;

		hot_spot(&r, 4000000, 0, 4096);
		rig_set(&r, "fecn.threshold", "8");
		rig_set(&r, "fecn.marking_rate", set[k][0]);
		rig_set(&r, "fecn.packet_size", set[k][1]);
		rig_run(&r, 1);
		count_marks(&r, &hosts[k], &switches);
		rig_fini(&r);
	}
	assert_in_range(hosts[1], hosts[0] / 9, hosts[0] / 7);
	assert_in_range(hosts[2], hosts[0] * 95 / 100, hosts[0]);
	assert_int_equal(hosts[3], 0);
}

/* A higher threshold number marks earlier; 0 marks nothing. */
static void test_thresholds(void **state)
{
	static const char *const threshold[] = { "0", "1", "8", "15" };
	uint64_t last = 0;

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		uint64_t hosts, switches;
		struct rig r;

		hot_spot(&r, 400000, 0, 4096);
		rig_set(&r, "fecn.threshold", threshold[k]);
		rig_run(&r, 1);
		count_marks(&r, &hosts, &switches);
		if (k == 0)
			assert_int_equal(hosts + switches, 0);
		else
			assert_true(hosts + switches > last);
		last = hosts + switches;
		rig_fini(&r);
	}
}

/* The same on any number of threads. */
static void test_threads(void **state)
{
	struct rig r;

	(void)state;
	hot_spot(&r, 1000000, 50 * WF_US, 1000000);
	control(&r);
	rig_set(&r, "fecn.marking_rate", "3");
	rig_same(&r);
	rig_fini(&r);
}

/* Marked packets and notices have a form in bytes, and come back the same. */
static void test_wire(void **state)
{
	struct wf_err err = { "" };
	struct rig r;

	(void)state;
	hot_spot(&r, 400000, 0, 4096);
	control(&r);
	rig_cc(&r, "cc.ibcc.becn_on_ack", "false");
	assert_int_equal(rig_build(&r, 1, &err), 0);
	assert_int_equal(wf_sim_check_wire(r.sim), 0);
	if (wf_sim_run(r.sim, NULL, NULL) != 0)
		fail_msg("%d", wf_sim_wire_result(r.sim, &err));
	assert_int_equal(wf_sim_wire_result(r.sim, &err), 0);
	assert_true(wf_sim_wire_checked(r.sim) > 1000);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_victim_recovers),
		cmocka_unit_test(test_notices_in_cn_packets),
		cmocka_unit_test(test_the_root_marks),
		cmocka_unit_test(test_marking_rate_and_size),
		cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_wire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
