/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links of every rate, from the slowest to the fastest: packets take the time that the rate says.
 */
#include "rig.h"

#include <inttypes.h>

#include "base/rate.h"

#define MTU 4096
#define PACKETS 8
#define CUT 64 /* bytes that a cut-through switch reads before it acts */

/* Bytes at a rate, by plain division. */
static wf_time takes(uint64_t bytes, uint64_t rate)
{
	return (wf_time)((unsigned __int128)bytes * 8 * (uint64_t)WF_S / rate);
}

/* Two hosts on a switch, from a file of the HPCC simulator. */
static void read_topo(struct rig *r, const char *rate)
{
	const struct wf_topo_ops *ops = wf_topo_find("hpcc");
	struct wf_err err = { "" };
	char text[128];
	int len = snprintf(text, sizeof(text), "3 1 2\n2\n0 2 %s 0.001ms 0\n1 2 %s 0.001ms 0\n",
	                   rate, rate);

	if (ops->build(&r->topo_cfg, text, (size_t)len, "f", wf_mem_heap(), &r->topo, &err) != 0)
		fail_msg("%s", err.text);
}

/*
 * By hand: eight packets of 4096 bytes, header and gap leave one after the other; the last is cut
 * through by the switch after 64 bytes and a gap, and passes two links of 1 us. A picosecond for
 * each time that is cut off, and a millionth.
 */
static void test_eight_packets(void **state)
{
	static const struct {
		const char *text;
		uint64_t rate;
	} rates[] = {
		{ "1Mbps", 1000000 },
		{ "10Mbps", 10000000 },
		{ "121Mbps", 121000000 },
		{ "123Mbps", 123000000 },
		{ "56Gbps", UINT64_C(56000000000) },
		{ "400Gbps", UINT64_C(400000000000) },
		{ "1.3Tbps", UINT64_C(1300000000000) },
		{ "10Tbps", UINT64_C(10000000000000) },
	};
	static const char *const layer[] = { "pfc", "credit", "none" };

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(rates) * WF_ARRAY_SIZE(layer); i++) {
		uint64_t rate = rates[i / 3].rate;
		wf_time want, got, ways = 2 * (1 * WF_US + 100 * WF_NS) + 300 * WF_NS + 70 * WF_NS;
		struct rig r;
		uint64_t gap;

		rig_init(&r, layer[i % 3], "single", 2);
		rig_set(&r, "link.phy", "100ns");
		rig_set(&r, "switch.latency", "300ns");
		rig_set(&r, "nic.doorbell", "0");
		rig_set(&r, "nic.fetch", "0");
		rig_set(&r, "nic.tx", "0");
		rig_set(&r, "nic.rx", "70ns");
		rig_set(&r, "sender.timeout", "1000s");
		r.until = 1000 * WF_S;
		read_topo(&r, rates[i / 3].text);
		rig_flow(&r, 0, 1, (uint64_t)PACKETS * MTU, 0, 3);
		rig_run(&r, 1);
		gap = r.sim->fabric.gap;
		want = takes(PACKETS * (MTU + r.sim->fabric.header + gap), rate) +
		       takes(CUT + gap, rate) + ways;
		got = (wf_time)r.result->flow_time.max;
		assert_in_range(got, want - PACKETS - want / 1000000,
		                want + PACKETS + want / 1000000);
		rig_fini(&r);
	}
}

/* What a file may say of a rate ends where a port's representation does, with its place. */
static void test_refused(void **state)
{
	static const char *const bad[] = { "999kbps", "0bps", "10.001Tbps", "100Tbps" };
	const struct wf_topo_ops *ops = wf_topo_find("hpcc");

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(bad); i++) {
		struct wf_topo_cfg cfg = { 0 };
		struct wf_topo *topo = NULL;
		struct wf_err err = { "" };
		char text[128];
		int len = snprintf(text, sizeof(text), "3 1 2\n2\n0 2 10Gbps 1us 0\n1 2 %s 1us 0\n",
		                   bad[i]);

		assert_int_not_equal(
			ops->build(&cfg, text, (size_t)len, "f", wf_mem_heap(), &topo, &err), 0);
		assert_non_null(strstr(err.text, "f:4:5: the rate: "));
		assert_non_null(strstr(err.text, "1Mbps to 10Tbps"));
	}
}

/* The smallest packets at the highest rate take time: nothing is faster than the line. */
static void test_small_and_fast(void **state)
{
	const uint64_t flows = 400;
	struct rig r;

	(void)state;
	rig_init(&r, "none", "single", 2);
	rig_set(&r, "link.gap", "0B");
	read_topo(&r, "10Tbps");
	for (unsigned i = 0; i < flows; i++)
		rig_flow(&r, 0, 1, 1, 0, 3);
	rig_run(&r, 1);
	assert_true(r.result->flows_done == flows);
	/* 63 bytes each, and at most a picosecond of its time cut off. */
	assert_true(r.result->last_delivery >=
	            takes(flows * 63, (uint64_t)WF_RATE_MAX) - (wf_time)flows + 2 * WF_US);
	rig_fini(&r);
}

/*
 * The first packet of a WRITE has 16 bytes more than those inside a message, 128 us at 1 Mb/s. The
 * wheel has a power of two of windows: here 16,384, and without these bytes they would just do.
 */
static void test_wheel_has_room(void **state)
{
	struct wf_flow_spec f = { .dst = 1, .bytes = MTU, .cls = 3, .op = WF_FLOW_WRITE };
	const uint64_t rate = WF_RATE_MIN;
	const wf_time plain = takes(MTU + 62 + 20, rate), window = plain * 10 / 163795;
	char latency[32];
	struct rig r;

	(void)state;
	rig_init(&r, "none", "single", 2);
	rig_set(&r, "switch.cut_through", "no");
	rig_set(&r, "link.phy", "0");
	rig_set(&r, "nic.rx", "0");
	snprintf(latency, sizeof(latency), "%" PRId64 "ps", window - 1 * WF_US);
	rig_set(&r, "switch.latency", latency);
	rig_set(&r, "sender.timeout", "1000s");
	read_topo(&r, "1Mbps");
	assert_int_equal(wf_flow_list_add(&r.flows, &f), 0);
	rig_run(&r, 1);
	assert_int_equal(r.result->flows_done, 1);
	/*
	 * By hand: stored by the switch, so twice on a wire, and so is the ACK; 750 ns to post it.
	 */
	assert_int_equal(r.result->flow_time.max, 2 * takes(MTU + 62 + 16 + 20, rate) +
	                                                  2 * takes(62 + 4 + 20, rate) +
	                                                  2 * (window + WF_US) + 750 * WF_NS);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_eight_packets),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_small_and_fast),
		cmocka_unit_test(test_wheel_has_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
