/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: flows on RC queue pairs over modelled fabrics. */
/* ctest: tsan=*threads* */
#include "rig.h"

static const enum wf_flow_op ops[] = { WF_FLOW_WRITE, WF_FLOW_SEND, WF_FLOW_READ };
static const char *const layers[] = { "credit", "pfc", "none" };

static void use_op(struct rig *r, enum wf_flow_op op)
{
	for (size_t i = 0; i < r->flows.n; i++)
		r->flows.flow[i].op = (uint8_t)op;
}

/* Every operation over every link layer: all delivered, nothing lost where nothing may be. */
static void test_incast_of_every_operation(void **state)
{
	(void)state;
	for (unsigned k = 0; k < WF_ARRAY_SIZE(layers); k++) {
		for (unsigned i = 0; i < WF_ARRAY_SIZE(ops); i++) {
			struct rig r;

			rig_init(&r, layers[k], "fat-tree", 54);
			rig_set(&r, "buffer.size", "6MB");
			rig_set(&r, "sender.timeout", "200us");
			rig_incast(&r, 32, 5, 300000);
			rig_shift(&r, 54, 19, 200000);
			use_op(&r, ops[i]);
			rig_run(&r, 1);
			assert_true(r.result->finished);
			assert_int_equal(r.result->flows_failed, 0);
			assert_int_equal(r.result->bytes_delivered, 32 * 300000 + 54 * 200000);
			if (k != 2)
				assert_int_equal(r.result->packets_dropped, 0);
			rig_drain(&r);
			rig_fini(&r);
		}
	}
}

/* Packets take different paths, and the messages come out whole. */
static void test_reordering_paths(void **state)
{
	static const char *const routing[] = { "spray", "adaptive" };

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		for (unsigned i = 0; i < WF_ARRAY_SIZE(ops); i++) {
			struct rig r;

			rig_init(&r, layers[k], "fat-tree", 54);
			rig_set(&r, "routing", routing[k]);
			rig_shift(&r, 54, 19, 400000);
			use_op(&r, ops[i]);
			rig_run(&r, 1);
			assert_true(r.result->finished);
			assert_int_equal(r.result->flows_failed, 0);
			assert_int_equal(r.result->packets_dropped, 0);
			rig_fini(&r);
		}
	}
}

/*
 * Eight hosts send a packet each at once to a ninth, on links of 1 Mb/s: the first takes its time
 * on the wire, T, and the last waits for seven others. A packet of 4096 bytes has 4174 with the
 * headers of RoCE v2 and a RETH, and 20 around it on the wire (preamble and gap): T is 33.552 ms.
 */
static void test_long_latency(void **state)
{
	const wf_time t = (4096 + 62 + 16 + 20) * 8 * WF_US;
	struct wf_err err = { "" };
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "single", 9);
	rig_topo(&r, "host_rate", "1Mbps");
	rig_set(&r, "link.gap", "20B");
	rig_set(&r, "sender.timeout", "5s");
	rig_incast(&r, 8, 0, 4096);
	use_op(&r, WF_FLOW_WRITE);
	for (size_t i = 0; i < r.flows.n; i++)
		r.flows.flow[i].start = 5 * WF_S;
	r.until = 10 * WF_S;
	assert_int_equal(rig_build(&r, 1, &err), 0);
	/* Nobody who looks at the packets on their way sees when they left. */
	assert_int_equal(wf_sim_check_wire(r.sim), 0);
	assert_int_equal(wf_sim_run(r.sim, NULL, NULL), 0);
	rig_result(&r);
	assert_true(r.result->finished);
	assert_int_equal(r.result->packet_latency.n, 8);
	assert_in_range(r.result->packet_latency.max, 8 * t, 8 * t + WF_MS);
	assert_in_range(r.result->packet_latency.min, t - 200 * WF_US, t + WF_MS);
	rig_fini(&r);
}

/* Losses are repaired by the transport. */
static void test_losses(void **state)
{
	(void)state;
	for (unsigned k = 0; k < WF_ARRAY_SIZE(layers); k++) {
		struct rig r;

		rig_init(&r, layers[k], "leaf-spine", 16);
		rig_set(&r, "link.ber", "2e-8");
		rig_set(&r, "sender.timeout", "100us");
		rig_shift(&r, 16, 9, 2000000);
		use_op(&r, ops[k]);
		rig_run(&r, 1);
		assert_true(r.result->finished);
		assert_int_equal(r.result->flows_failed, 0);
		assert_int_equal(r.result->bytes_delivered, 32000000);
		assert_true(r.result->packets_dropped > 0);
		rig_fini(&r);
	}
}

/* PFC stops one class of a host; what it sends in another goes on at once. */
static void test_paused_class_stops_no_other(void **state)
{
	struct wf_sim_counts c;
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "single", 10);
	rig_set(&r, "buffer.size", "4MB");
	rig_set(&r, "sender.window", "4MB");
	rig_incast(&r, 8, 9, 4000000);
	rig_flow(&r, 0, 8, 400000, 100 * WF_US, 0);
	use_op(&r, WF_FLOW_WRITE);
	rig_run(&r, 1);
	assert_true(r.result->finished);
	assert_int_equal(r.result->packets_dropped, 0);
	/*
	 * Host 0 was paused in priority 3 (its second queue), and its share of the incast took
	 * long.
	 */
	assert_true(wf_sim_port_counts(r.sim, 0, 0, 1, &c));
	assert_true(c.paused_ps > 200 * WF_US);
	assert_true(wf_sim_flow_end(r.sim, 0) > 500 * WF_US);
	/* 400 KB take 8 us alone and 16 us beside the other class. */
	assert_true(wf_sim_flow_end(r.sim, 8) < 125 * WF_US);
	rig_fini(&r);
}

/* A host that is cut off for good: its queue pairs give up, and the run says so. */
static void test_retries_run_out(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "single", 4);
	rig_set(&r, "sender.timeout", "20us");
	rig_flow(&r, 0, 1, 5000000, 0, 3);
	rig_flow(&r, 2, 3, 5000000, 0, 3);
	use_op(&r, WF_FLOW_WRITE);
	r.faults[0] = (struct wf_sim_fault){ .at = 20 * WF_US, .what = 1, .on = true };
	r.n_faults = 1;
	rig_run(&r, 1);
	assert_true(r.result->finished);
	assert_int_equal(r.result->flows_failed, 1);
	assert_int_equal(r.result->flows_done, 1);
	assert_int_equal(wf_sim_flow_end(r.sim, 0), WF_TIME_NEVER);
	assert_true(wf_sim_flow_end(r.sim, 1) < 200 * WF_US);
	rig_fini(&r);
}

/* The first packet of a small WRITE: doorbell, adapter, link, switch, link, adapter, and back. */
static void test_small_write_adds_up(void **state)
{
	wf_time there, back;
	struct rig r;

	(void)state;
	rig_init(&r, "credit", "single", 2);
	rig_topo(&r, "cable.host", "2m");
	rig_topo(&r, "cable.delay", "5ns");
	rig_set(&r, "link.phy", "100ns");
	rig_set(&r, "switch.latency", "130ns");
	rig_set(&r, "nic.doorbell", "140ns");
	rig_set(&r, "nic.tx", "110ns");
	rig_set(&r, "nic.rx", "300ns");
	rig_flow(&r, 0, 1, 8, 1 * WF_US, 3);
	use_op(&r, WF_FLOW_WRITE);
	rig_run(&r, 1);
	/* LRH 8, BTH 12, RETH 16, payload 8, ICRC 4, VCRC 2; the ACK has 4 bytes of AETH. */
	there = 140 * WF_NS + 110 * WF_NS + 50 * 20 + 110 * WF_NS + 130 * WF_NS + 50 * 20 +
	        110 * WF_NS + 300 * WF_NS;
	back = 30 * 20 + 110 * WF_NS + 130 * WF_NS + 30 * 20 + 110 * WF_NS + 300 * WF_NS;
	assert_int_equal(r.result->flow_time.max, there + back);
	rig_fini(&r);
}

/* 1, 2 and 4 threads: the same to the last counter. */
static void test_same_on_threads(void **state)
{
	(void)state;
	for (unsigned k = 0; k < WF_ARRAY_SIZE(layers); k++) {
		struct rig r;

		rig_init(&r, layers[k], "fat-tree", 54);
		rig_set(&r, "link.ber", "1e-9");
		rig_set(&r, "sender.timeout", "200us");
		rig_shift(&r, 54, 19, 300000);
		rig_incast(&r, 20, 40, 100000);
		use_op(&r, ops[k]);
		rig_same(&r);
		assert_true(r.result->finished);
		rig_fini(&r);
	}
}

static void test_bad_configurations(void **state)
{
	struct wf_err err = { "" };
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "single", 4);
	rig_set(&r, "mtu", "1500B");
	rig_flow(&r, 0, 1, 1000, 0, 3);
	use_op(&r, WF_FLOW_WRITE);
	assert_int_equal(rig_build(&r, 1, &err), -22);
	assert_non_null(strstr(err.text, "mtu: "));
	rig_set(&r, "mtu", "1024B");
	rig_flow(&r, 1, 2, 1000, 0, 3);
	err.text[0] = '\0';
	assert_int_equal(rig_build(&r, 1, &err), -22);
	assert_non_null(strstr(err.text, "op window does not go together"));
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_incast_of_every_operation),
		cmocka_unit_test(test_reordering_paths),
		cmocka_unit_test(test_long_latency),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_paused_class_stops_no_other),
		cmocka_unit_test(test_retries_run_out),
		cmocka_unit_test(test_small_write_adds_up),
		cmocka_unit_test(test_same_on_threads),
		cmocka_unit_test(test_bad_configurations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
