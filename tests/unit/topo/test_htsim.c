/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of topo/htsim.c. */
#include "topo/topo_test.h"

static struct wf_topo *read_file(const char *name)
{
	struct wf_err err = { { 0 } };
	struct wf_topo *topo = NULL;
	size_t len;
	char *bytes = test_file(name, &len);

	if (test_read("htsim", bytes, len, wf_mem_heap(), &topo, &err) != 0)
		fail_msg("%s: %s", name, err.text);
	free(bytes);
	return topo;
}

static void test_two_tiers(void **state)
{
	struct wf_topo *topo = read_file("htsim/leaf_spine_64.topo");
	uint32_t leaf0 = 64, spine0 = 68;

	(void)state;
	assert_int_equal(topo->n_hosts, 64);
	assert_int_equal(test_count(topo, 1), 4);
	assert_int_equal(test_count(topo, 2), 2);
	assert_int_equal(topo->n_links, 64 + 16);
	assert_int_equal(test_port(topo, 17, 0)->peer, leaf0 + 1);
	/* Bundles: ports 16, 17 to the first spine, 18, 19 to the second. */
	assert_int_equal(test_port(topo, leaf0, 17)->peer, spine0);
	assert_int_equal(test_port(topo, leaf0, 18)->peer, spine0 + 1);
	assert_int_equal(topo->links[0].delay, 500 * WF_NS);
	assert_int_equal(topo->links[64].delay, 1000 * WF_NS);
	assert_int_equal(topo->links[64].rate, UINT64_C(100000000000));
	assert_false(topo->nodes[0].has_latency);
	assert_true(topo->nodes[leaf0].has_latency && topo->nodes[spine0].has_latency);
	assert_int_equal(topo->nodes[leaf0].latency, 300 * WF_NS);
	assert_int_equal(topo->nodes[spine0].latency, 400 * WF_NS);
	assert_int_equal(topo->nodes[leaf0 + 3].group, 3);
	wf_topo_destroy(topo);
}

static void test_three_tiers(void **state)
{
	struct wf_topo *topo = read_file("htsim/fat_tree_72.topo");
	uint32_t leaf0 = 72, agg0 = 72 + 18, core0 = 72 + 18 + 6;

	(void)state;
	assert_int_equal(topo->n_hosts, 72);
	assert_int_equal(topo->n_nodes, core0 + 2);
	assert_int_equal(topo->n_links, 72 + 18 + 24);
	assert_int_equal(test_port(topo, leaf0 + 3, 4)->peer, agg0 + 1);
	assert_int_equal(test_port(topo, agg0 + 5, 3)->peer, core0);
	assert_int_equal(test_port(topo, agg0 + 5, 4)->peer, core0);
	assert_int_equal(test_port(topo, agg0 + 5, 5)->peer, core0 + 1);
	assert_int_equal(topo->nodes[core0].n_ports, 12);
	assert_int_equal(topo->nodes[71].group, 5);
	assert_int_equal(topo->links[72].rate, UINT64_C(400000000000));
	assert_int_equal(topo->links[72 + 18].delay, 3 * WF_US);
	wf_topo_destroy(topo);
}

/* Carriage returns, tabs, comments behind values, no last newline. */
static void test_tolerance(void **state)
{
	static const char text[] =
		"# c\r\nNODES\t4 # four\r\n\r\n  Tiers 2\r\nPodsize 4\r\nTier 0\r\n"
		"Downlink_Speed_GBPS 10\r\nRadix_down 2\r\nRadix_Up 1\r\n"
		"Downlink_Latency_ns 0\r\n#Tier 9\r\n"
		"Tier 1\r\nDownlink_speed_Gbps 10\r\nRadix_Down 2\r\nRadix_Up 3\r\n"
		"Downlink_Latency_ns 1";
	struct wf_err err = { { 0 } };
	struct wf_topo *topo = NULL;

	(void)state;
	if (test_read("htsim", text, sizeof(text) - 1, wf_mem_heap(), &topo, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(topo->n_links, 6);
	wf_topo_destroy(topo);
}

#define HEAD "Nodes 8\nTiers 2\nPodsize 8\n"
#define TIER0 "Tier 0\nDownlink_speed_Gbps 10\nRadix_Down 4\nRadix_Up 2\nDownlink_Latency_ns 5\n"
#define TIER1 "Tier 1\nDownlink_speed_Gbps 10\nRadix_Down 2\nDownlink_Latency_ns 5\n"

static const struct {
	const char *text;
	const char *want; /* part of the message */
} bad[] = {
	{ "", "file:1: Nodes is missing" },
	{ "Nodes\n", "file:1:6: Nodes is missing" },
	{ "Nodes 0\n", "file:1:7: Nodes is \"0\"; a whole number from 1 to 1048576" },
	{ "Nodes 1000000000000000000\n", "file:1:7: Nodes is" },
	{ "Nodes 99999999999999999999999\n", "file:1:7: Nodes is" },
	{ "Nodes -3\n", "file:1:7: Nodes is \"-3\"" },
	{ "Nodes 8 8\n", "file:1:9: \"8\" is too much" },
	{ "Nodes 8\nNodes 9\n", "file:2: Nodes is set a second time; line 1" },
	{ "Knots 8\n", "file:1:1: \"Knots\" is no key" },
	{ "Radix_Up 8\n", "file:1:1: Radix_Up belongs to a tier" },
	{ "Nodes 8\nTiers 4\n", "file:2:7: Tiers is \"4\"; a whole number from 2 to 3" },
	{ "Nodes 8\nTiers 2\n" TIER0 TIER1, "Podsize is missing" },
	{ HEAD "Tier 3\n", "file:4:6: Tier is \"3\"" },
	{ HEAD TIER0 TIER0, "tier 0 is there a second time; line 4" },
	{ HEAD TIER0, "tier 1 is missing; there are tiers 0 to 1" },
	{ HEAD TIER0 TIER1 "Tier 2\n", "there is a tier 2; with Tiers 2 the highest is 1" },
	{ HEAD TIER0 "Tier 1\nRadix_Down 2\nDownlink_Latency_ns 5\n", "no Downlink_speed_Gbps" },
	{ HEAD TIER1 "Tier 0\nDownlink_speed_Gbps 1\nRadix_Down 4\nDownlink_Latency_ns 1\n",
	  "tier 0 has no Radix_Up; every tier but the highest" },
	{ "Nodes 8\nTiers 2\nPodsize 4\n" TIER0 TIER1, "file:3: Podsize is 4; with 2 tiers" },
	{ "Nodes 8\nTiers 3\nPodsize 3\n" TIER0 TIER1 "Radix_Up 1\nTier 2\nDownlink_speed_Gbps 10\n"
	  "Radix_Down 1\nDownlink_Latency_ns 5\n",
	  "8 nodes are not whole pods of 3" },
	{ "Nodes 6\nTiers 2\nPodsize 6\n" TIER0 TIER1,
	  "a pod of 6 hosts is not whole leaves of 4" },
	{ HEAD TIER0 "Bundle 2\n" TIER1, "Bundle 2 of tier 0 does not close; 1 would" },
	{ HEAD TIER0 "Tier 1\nDownlink_speed_Gbps 10\nRadix_Down 3\nDownlink_Latency_ns 5\n",
	  "Radix_Down 3 of tier 1 does not close; 2 would" },
	{ HEAD TIER0 TIER1 "Bundle 3\n", "Radix_Up 2 of tier 0 does not close; 3 would" },
	{ HEAD TIER0 "Oversubscribed 3\n" TIER1,
	  "Oversubscribed 3 of tier 0 does not close; 2 would" },
	{ "Nodes 1048576\nTiers 2\nPodsize 1048576\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down "
	  "1024\n"
	  "Radix_Up 2\nDownlink_Latency_ns 5\nTier 1\nDownlink_speed_Gbps 10\nRadix_Down 1024\n"
	  "Downlink_Latency_ns 5\n",
	  "file:4: a switch of tier 0 has 1026 ports" },
	{ "Nodes 1048576\nTiers 2\nPodsize 1048576\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down "
	  "1024\n"
	  "Radix_Up 0\n",
	  "Radix_Up is \"0\"" },
	{ "Nodes 1048576\nTiers 3\nPodsize 1024\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down 1\n"
	  "Radix_Up 1\nDownlink_Latency_ns 5\nTier 1\nDownlink_speed_Gbps 10\nRadix_Down 1024\n"
	  "Radix_Up 0\n",
	  "Radix_Up is \"0\"" },
	{ "Nodes 1048576\nTiers 3\nPodsize 512\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down 1\n"
	  "Radix_Up 1\nDownlink_Latency_ns 5\nTier 1\nDownlink_speed_Gbps 10\nRadix_Down 512\n"
	  "Radix_Up 1\nDownlink_Latency_ns 5\nTier 2\nDownlink_speed_Gbps 10\nRadix_Down 512\n"
	  "Bundle 2\nDownlink_Latency_ns 5\n",
	  "does not close" },
	{ "Nodes 1048576\nTiers 3\nPodsize 1024\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down 2\n"
	  "Radix_Up 512\nDownlink_Latency_ns 5\nTier 1\nDownlink_speed_Gbps 10\nRadix_Down 512\n"
	  "Radix_Up 512\nDownlink_Latency_ns 5\nTier 2\nDownlink_speed_Gbps 10\nRadix_Down 1024\n"
	  "Downlink_Latency_ns 5\n",
	  "file: this would be" },
	{ "Nodes 8\nTiers 3\nPodsize 4\n" TIER0 "Tier 1\nDownlink_speed_Gbps 10\nRadix_Down 1\n"
	  "Radix_Up 1\nDownlink_Latency_ns 5\nTier 2\nDownlink_speed_Gbps 10\nRadix_Down 3\n"
	  "Downlink_Latency_ns 5\n",
	  "Radix_Down 3 of tier 2 does not close; 2 would" },
	{ "Nodes 8\nTiers 3\nPodsize 4\n" TIER0 TIER1 "Radix_Up 1\nTier 2\nDownlink_speed_Gbps 10\n"
	  "Radix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 5\n",
	  "the highest tier has no Radix_Up" },
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(bad); i++) {
		struct test_mem mem = test_mem_make(-1);
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;

		assert_int_equal(
			test_read("htsim", bad[i].text, strlen(bad[i].text), &mem.mem, &topo, &err),
			-EINVAL);
		if (strstr(err.text, bad[i].want) == NULL || strchr(err.text, ';') == NULL)
			fail_msg("case %zu: %s", i, err.text);
		assert_null(topo);
		assert_int_equal(mem.calls, 0);
	}
}

/* A file cut off anywhere is refused or, after its last needed line, read; never worse. */
static void test_truncations(void **state)
{
	size_t len;
	char *bytes = test_file("htsim/fat_tree_72.topo", &len);
	uint32_t good = 0;

	(void)state;
	for (size_t n = 0; n <= len; n++) {
		struct test_mem mem = test_mem_make(-1);
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;
		int ret = test_read("htsim", bytes, n, &mem.mem, &topo, &err);

		assert_true(ret == 0 || ret == -EINVAL);
		assert_int_equal(ret == 0, err.text[0] == '\0');
		good += ret == 0;
		wf_topo_destroy(topo);
		assert_int_equal(mem.live, 0);
	}
	assert_int_equal(good, 2); /* all, and all but the newline */
	free(bytes);
}

static void test_out_of_memory(void **state)
{
	size_t len;
	char *bytes = test_file("htsim/leaf_spine_64.topo", &len);
	int ret = -ENOMEM;

	(void)state;
	for (long n = 0; ret != 0; n++) {
		struct test_mem mem = test_mem_make(n);
		struct wf_err err = { { 0 } };
		struct wf_topo *topo = NULL;

		ret = test_read("htsim", bytes, len, &mem.mem, &topo, &err);
		assert_true(ret == 0 || ret == -ENOMEM);
		wf_topo_destroy(topo);
		assert_int_equal(mem.live, 0);
		assert_true(n < 20);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_tiers),   cmocka_unit_test(test_three_tiers),
		cmocka_unit_test(test_tolerance),   cmocka_unit_test(test_bad),
		cmocka_unit_test(test_truncations), cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
