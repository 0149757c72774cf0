/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: lossless means lossless, nothing is lost count of, buffers hold, credits come home. */
#include "rig.h"

static const char *const lossless[] = { "credit", "pfc" };

/* Steps through a run and checks everything after each window. */
static void run_checked(struct rig *r, unsigned threads)
{
	struct wf_err err = { "" };
	wf_time end = r->until;

	if (rig_build(r, threads, &err) != 0)
		fail_msg("%s", err.text);
	r->sim->until = 0;
	do {
		r->sim->until += 200 * WF_NS;
		assert_int_equal(wf_sim_run(r->sim, NULL, NULL), 0);
		if (wf_sim_check(r->sim, &err) != 0)
			fail_msg("%s", err.text);
		rig_result(r);
	} while (!r->result->finished && r->sim->until < end);
}

/* 32:1 at line rate on one switch: no drop, whatever the seed; all is delivered. */
static void test_incast_is_lossless(void **state)
{
	(void)state;
	for (unsigned k = 0; k < WF_ARRAY_SIZE(lossless); k++) {
		for (uint64_t seed = 1; seed <= 6; seed++) {
			struct rig r;

			rig_init(&r, lossless[k], "single", 33);
			rig_set(&r, "sender.window", "2MB");
			r.seed = seed;
			rig_incast(&r, 32, 32, 1000000);
			rig_run(&r, 1);
			assert_true(r.result->finished);
			assert_int_equal(r.result->packets_dropped, 0);
			assert_int_equal(r.result->resent, 0);
			assert_int_equal(r.result->bytes_delivered, 32000000);
			rig_drain(&r);
			rig_fini(&r);
		}
	}
}

/* The same in a small buffer, so that pauses must come early, and across a fat tree. */
static void test_incast_across_tiers_is_lossless(void **state)
{
	(void)state;
	for (unsigned k = 0; k < WF_ARRAY_SIZE(lossless); k++) {
		for (uint64_t seed = 1; seed <= 3; seed++) {
			struct rig r;

			rig_init(&r, lossless[k], "fat-tree", 54);
			rig_set(&r, "buffer.size", "6MB");
			rig_set(&r, "buffer.alpha", "1/8");
			r.seed = seed;
			rig_incast(&r, 32, 5, 500000);
			rig_shift(&r, 54, 19, 300000);
			rig_run(&r, 1);
			assert_true(r.result->finished);
			assert_int_equal(r.result->packets_dropped, 0);
			assert_int_equal(r.result->resent, 0);
			if (k == 1)
				assert_true(rig_queue(&r, 3)->pause_tx > 0);
			else
				assert_true(rig_queue(&r, 3)->credit_waits > 0);
			rig_drain(&r);
			rig_fini(&r);
		}
	}
}

/* After every window: sent = delivered + dropped + inside, per class, by walking the fabric. */
static void test_conservation_every_window(void **state)
{
	static const char *const layer[] = { "credit", "pfc", "none" };

	(void)state;
	for (unsigned k = 0; k < WF_ARRAY_SIZE(layer); k++) {
		struct rig r;

		rig_init(&r, layer[k], "fat-tree", 16);
		rig_set(&r, "buffer.size", "3MB");
		rig_set(&r, "sender.timeout", "100us");
		rig_incast(&r, 12, 3, 200000);
		for (unsigned i = 0; i < 16; i++)
			rig_flow(&r, i, (i + 5) % 16, 100000, 1 * WF_US, 0);
		run_checked(&r, 1 + k % 2);
		assert_true(r.result->finished);
		rig_fini(&r);
	}
}

/* One priority group, small packets only: each takes a cell, and the headroom still fits. */
static void test_small_packets_fit_the_headroom(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "single", 33);
	rig_set(&r, "mtu", "256B");
	rig_set(&r, "buffer.cell", "256B");
	rig_set(&r, "buffer.size", "24MB");
	rig_set(&r, "buffer.alpha", "1/64");
	rig_incast(&r, 32, 0, 300000);
	rig_run(&r, 1);
	assert_true(r.result->finished);
	assert_int_equal(r.result->packets_dropped, 0);
	assert_true(rig_queue(&r, 3)->pause_tx > 0);
	rig_fini(&r);
}

/* Headroom of less than a packet: drops, counted at the ports they came in by, in their class. */
static void test_small_headroom_drops_where_it_happens(void **state)
{
	struct wf_sim_counts c;
	uint64_t at_senders = 0;
	struct rig r;

	(void)state;
	rig_init(&r, "pfc", "single", 9);
	rig_set(&r, "buffer.size", "2MB");
	rig_set(&r, "buffer.headroom", "2KB");
	rig_set(&r, "buffer.alpha", "1/8");
	rig_set(&r, "sender.timeout", "200us");
	rig_set(&r, "sender.window", "1MB");
	rig_incast(&r, 8, 8, 2000000);
	rig_run(&r, 1);
	assert_true(r.result->finished);
	assert_true(r.result->packets_dropped > 0);
	assert_true(r.result->resent > 0);
	assert_int_equal(r.result->packets_dropped, rig_queue(&r, 3)->drops_buffer);
	assert_int_equal(rig_queue(&r, 0)->drops, 0);
	for (unsigned p = 0; p < 9; p++) {
		/* The switch is node 9, its port p leads to host p; queue 1 is priority 3. */
		assert_true(wf_sim_port_counts(r.sim, 9, p, 1, &c));
		if (p == 8)
			assert_int_equal(c.drops, 0);
		at_senders += c.drops_buffer;
	}
	assert_int_equal(at_senders, r.result->packets_dropped);
	assert_false(wf_sim_port_counts(r.sim, 9, 9, 1, &c));
	rig_fini(&r);
}

/* Without PFC the same incast drops, and the sender gets everything across all the same. */
static void test_none_drops(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, "none", "single", 33);
	rig_set(&r, "buffer.size", "2MB");
	rig_set(&r, "sender.timeout", "100us");
	rig_incast(&r, 32, 32, 500000);
	rig_run(&r, 1);
	assert_true(r.result->finished);
	assert_true(r.result->packets_dropped > 0);
	assert_int_equal(rig_queue(&r, 3)->pause_tx, 0);
	assert_int_equal(r.result->bytes_delivered, 16000000);
	rig_fini(&r);
}

/* The receive buffer of a lane is never exceeded, whatever its size; throughput depends on it. */
static void test_credit_buffer_sizes(void **state)
{
	static const char *const size[] = { "8KiB", "16KiB", "64KiB", "128KiB" };
	wf_time last = WF_TIME_NEVER;

	(void)state;
	for (unsigned k = 0; k < WF_ARRAY_SIZE(size); k++) {
		struct rig r;

		rig_init(&r, "credit", "leaf-spine", 32);
		rig_set(&r, "vl.buffer", size[k]);
		rig_shift(&r, 32, 17, 1000000);
		rig_run(&r, 1);
		assert_true(r.result->finished);
		assert_int_equal(r.result->packets_dropped, 0);
		assert_true(r.result->end <= last);
		last = r.result->end;
		rig_drain(&r);
		rig_fini(&r);
	}
}

/* A dragonfly under load on two VLs: no deadlock, everything home. */
static void test_dragonfly_does_not_deadlock(void **state)
{
	(void)state;
	for (unsigned by = 1; by < 40; by += 7) {
		struct rig r;

		rig_init(&r, "credit", "dragonfly", 72);
		rig_set(&r, "vl.count", "2");
		rig_set(&r, "vl.buffer", "8KiB");
		rig_set(&r, "routing", "adaptive");
		rig_shift(&r, 72, by, 400000);
		rig_shift(&r, 72, 72 - by, 400000);
		r.until = 100 * WF_MS;
		rig_run(&r, 1);
		assert_true(r.result->finished);
		assert_int_equal(r.result->packets_dropped, 0);
		assert_int_equal(r.result->resent, 0);
		rig_drain(&r);
		rig_fini(&r);
	}
}

/* A configuration that cannot be is refused with its parameter's name. */
static void test_impossible_configurations(void **state)
{
	static const struct {
		const char *layer, *name, *value, *want;
	} row[] = {
		{ "pfc", "link_layer", "infiniband", "flowctl: pfc does not go with" },
		{ "credit", "link_layer", "ethernet", "flowctl: credit does not go with" },
		{ "pfc", "buffer.size", "100KB", "buffer.size: " },
	};

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_err err = { "" };
		struct rig r;

		rig_init(&r, row[i].layer, "single", 4);
		rig_set(&r, row[i].name, row[i].value);
		assert_int_equal(rig_build(&r, 1, &err), -22);
		if (strncmp(err.text, row[i].want, strlen(row[i].want)) != 0)
			fail_msg("%s", err.text);
		rig_fini(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_incast_is_lossless),
		cmocka_unit_test(test_incast_across_tiers_is_lossless),
		cmocka_unit_test(test_conservation_every_window),
		cmocka_unit_test(test_small_packets_fit_the_headroom),
		cmocka_unit_test(test_small_headroom_drops_where_it_happens),
		cmocka_unit_test(test_none_drops),
		cmocka_unit_test(test_credit_buffer_sizes),
		cmocka_unit_test(test_dragonfly_does_not_deadlock),
		cmocka_unit_test(test_impossible_configurations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
