/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a packet takes through switches whose topology's file says so (htsim,
 * Switch_Latency_ns), by hand: with it, without it, and where switch.latency says something else.
 */
#include "rig.h"

#define MTU 4096
#define WIRE (MTU + 62 + 20)
#define HEAD (64 + 20) /* after which a switch sends on */

/* Eight hosts, two leaves, four spines; a line more for each tier. */
static void read_topo(struct rig *r, const char *leaf, const char *spine)
{
	struct wf_err err = { "" };
	char text[512];
	int len = snprintf(text, sizeof(text),
	                   "Nodes 8\nTiers 2\nPodsize 8\n\n"
	                   "Tier 0\nDownlink_speed_Gbps 400\nRadix_Down 4\nRadix_Up 4\n"
	                   "Downlink_Latency_ns 100\n%s\n\n"
	                   "Tier 1\nDownlink_speed_Gbps 400\nRadix_Down 2\n"
	                   "Downlink_Latency_ns 250\n%s\n",
	                   leaf, spine);

	if (wf_topo_find("htsim")->build(&r->topo_cfg, text, (size_t)len, "f", wf_mem_heap(),
	                                 &r->topo, &err) != 0)
		fail_msg("%s", err.text);
}

static wf_time bytes400(uint64_t bytes)
{
	return (wf_time)(bytes * 20);
}

/* One packet from a host of the first leaf to one of the second: two leaves and a spine. */
static void test_one_way(void **state)
{
	static const struct {
		const char *leaf, *spine;
		wf_time switches; /* all three */
	} row[] = {
		{ "", "", 3 * 300 * WF_NS }, /* switch.latency */
		{ "Switch_Latency_ns 50000", "Switch_Latency_ns 20000", 120 * WF_US },
		{ "Switch_Latency_ns 500", "", 2 * 500 * WF_NS + 300 * WF_NS },
		{ "", "Switch_Latency_ns 0", 2 * 300 * WF_NS }, /* nothing is also said */
	};

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(row); i++) {
		wf_time links = 2 * 100 * WF_NS + 2 * 250 * WF_NS + 4 * 10 * WF_NS;
		struct rig r;

		rig_init(&r, "pfc", "single", 8);
		rig_set(&r, "buffer.size", "1GB");
		rig_set(&r, "link.phy", "10ns");
		rig_set(&r, "switch.latency", "300ns");
		rig_set(&r, "nic.rx", "70ns");
		read_topo(&r, row[i].leaf, row[i].spine);
		rig_flow(&r, 0, 7, MTU, 0, 3);
		rig_run(&r, 1);
		assert_int_equal(r.result->packet_latency.max,
		                 links + row[i].switches + 70 * WF_NS + bytes400(3 * HEAD + WIRE));
		rig_fini(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
