/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sm_scale.c - the subnet manager and a fat tree of 16,384 hosts and 1,280 switches of 64
 * ports: what it sends, counted by hand, and how long that takes.
 */
/* ctest: long */
#include "smnet.h"

#include <time.h>

#define PODS 16
#define K 64
#define HOSTS (PODS * K / 2 * K / 2)
#define SWITCHES (2 * PODS * K / 2 + K / 2 * (PODS * K / 2 / K))
#define LINKS (3 * HOSTS)
#define NODES (HOSTS + SWITCHES)

static double cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t blocks(unsigned n, unsigned each)
{
	return (n + each - 1) / each;
}

/* Requests of the first sweep: nothing is lost, and nothing is asked twice. */
static void check_counts(const struct wf_sm_stats *stats)
{
	struct wf_sma_cfg host, sw;
	uint64_t want[WF_SM_KINDS] = { 0 };

	wf_sma_cfg_init(&host, false);
	wf_sma_cfg_init(&sw, true);
	want[WF_SM_GET_NODE_INFO] = LINKS + 1; /* one end of each link, and its own */
	want[WF_SM_GET_NODE_DESCRIPTION] = NODES;
	want[WF_SM_GET_SWITCH_INFO] = SWITCHES;
	want[WF_SM_CLEAR_CHANGE] = SWITCHES;
	want[WF_SM_GET_PORT_INFO] = SWITCHES * (K + 1) + HOSTS;
	want[WF_SM_GET_GUID_INFO] = NODES;
	want[WF_SM_GET_PKEYS] = HOSTS * (blocks(host.partition_cap, WF_PKEYS_PER_BLOCK) +
	                                 blocks(sw.enforcement_cap, WF_PKEYS_PER_BLOCK)) +
	                        SWITCHES * blocks(sw.partition_cap, WF_PKEYS_PER_BLOCK);
	want[WF_SM_SET_PKEYS] = HOSTS; /* a switch's port to each */
	/* Each port and each switch's own; then both ends of each link are armed, and active. */
	want[WF_SM_SET_PORT_INFO] = 2 * LINKS + SWITCHES + 2 * (2 * LINKS);
	want[WF_SM_SET_SWITCH_INFO] = SWITCHES;
	want[WF_SM_SET_LINEAR_FT] = SWITCHES * blocks(NODES + 1, WF_LFT_PER_BLOCK);
	for (unsigned i = 0; i < WF_SM_KINDS; i++) {
		assert_true(stats->count[i].sent == want[i]);
		assert_true(stats->count[i].answered == want[i]);
	}
}

static void test_three_tiers(void **state)
{
	struct net *net = net_new_of(net_fat_tree3(PODS, K));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m;
	struct wf_sm_stats stats;
	double begin = cpu_seconds();
	wf_time cut_at;

	(void)state;
	assert_int_equal(net->topo->n_nodes, 16384 + 1280);
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, 60 * WF_S));
	wf_sm_stats(m->sm, &stats);
	check_counts(&stats);
	print_message("up: %llu packets, %.3f s of virtual time (0.5 us a hop, 4 under way), "
	              "%.1f s of CPU with the network\n",
	              (unsigned long long)stats.last_heavy.smps, (double)m->up_at / (double)WF_S,
	              cpu_seconds() - begin);
	assert_int_equal(net_unreached(net, 997), 0);

	/* A link between the second tier and the third: all is looked at, and little is written. */
	begin = cpu_seconds();
	cut_at = net->now;
	net_cut(net, HOSTS + PODS * K / 2 + 3, K, true);
	assert_true(net_run_up(net, m, 60 * WF_S));
	wf_sm_stats(m->sm, &stats);
	assert_true(stats.last_heavy.lft_blocks > 0);
	assert_true(stats.last_heavy.lft_blocks <
	            SWITCHES * blocks(NODES + 1, WF_LFT_PER_BLOCK) / 8);
	assert_int_equal(stats.last_heavy.lids, 0);
	assert_int_equal(net_unreached(net, 997), 0);
	print_message(
		"a link lost: routed after %.3f s, %u blocks of %llu packets, %.1f s of CPU\n",
		(double)(m->routed_at - cut_at) / (double)WF_S, stats.last_heavy.lft_blocks,
		(unsigned long long)stats.last_heavy.smps, cpu_seconds() - begin);
	net_free(net);
}

/*
 * With groups of ports, for every engine that has them: a leaf and a switch of the second tier have
 * one, of all ports up. A core has four links to each pod, a group for each, two in a block.
 */
static void test_adaptive(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "ftree" };
	const uint64_t below = 2 * PODS * K / 2, lids = blocks(NODES + 1, WF_LFT_PER_BLOCK);

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(engines); i++) {
		struct net *net =
			net_new_adaptive(net_fat_tree3(PODS, K), WF_GROUPS_MAX, UINT32_MAX);
		struct wf_sm_cfg cfg = net_cfg();
		struct net_manager *m;
		struct wf_sm_stats stats;
		double begin = cpu_seconds();

		cfg.adaptive = true;
		(void)snprintf(cfg.routing_engine, sizeof(cfg.routing_engine), "%s", engines[i]);
		m = net_manage(net, 0, &cfg);
		assert_true(net_run_up(net, m, 60 * WF_S));
		wf_sm_stats(m->sm, &stats);
		assert_string_equal(wf_sm_view(m->sm)->tables->engine, engines[i]);
		assert_string_equal(wf_sm_view(m->sm)->groups->note, "");
		assert_int_equal(stats.last_heavy.adaptive, SWITCHES);
		assert_true(stats.count[WF_SM_GET_ADAPTIVE].sent == SWITCHES);
		assert_true(stats.count[WF_SM_SET_ADAPTIVE].sent == SWITCHES);
		assert_true(stats.count[WF_SM_SET_ADAPTIVE_GROUPS].sent ==
		            below + (SWITCHES - below) * PODS / 2);
		assert_true(stats.count[WF_SM_SET_ADAPTIVE_LIDS].sent == SWITCHES * lids);
		print_message("%s with groups: %llu packets, %.1f s of CPU with the network\n",
		              engines[i], (unsigned long long)stats.last_heavy.smps,
		              cpu_seconds() - begin);
		net_free(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_tiers),
		cmocka_unit_test(test_adaptive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
