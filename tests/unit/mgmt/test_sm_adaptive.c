/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of mgmt/sm/adaptive.c: what switches have of groups, and how little is written. */
#include "smnet.h"

static struct net_manager *manage(struct net *net, const char *engine)
{
	struct wf_sm_cfg cfg = net_cfg();

	cfg.adaptive = true;
	(void)snprintf(cfg.routing_engine, sizeof(cfg.routing_engine), "%s", engine);
	return net_manage(net, 0, &cfg);
}

static uint64_t sent(const struct net_manager *m, enum wf_sm_kind kind)
{
	struct wf_sm_stats stats;

	wf_sm_stats(m->sm, &stats);
	assert_true(stats.count[kind].sent == stats.count[kind].answered);
	return stats.count[kind].sent;
}

/* The ports of a switch's group for a host, as its agent has them; 0: it has none. */
static uint64_t ports_to(const struct net *net, uint32_t sw, uint32_t host)
{
	uint16_t lid = net_lid(net, host);
	struct wf_sma_adaptive a;

	wf_sma_adaptive(net->nodes[sw].sma, &a);
	if (!a.enabled || lid >= a.n_lids || a.group_of[lid] == 0)
		return 0;
	return a.ports[a.group_of[lid] - 1][0];
}

/*
 * 4 leaves (nodes 16 to 19) of 4 hosts below 2 spines (20, 21): a leaf sends to hosts of others by
 * ports 5 and 6. A spine has one port to each leaf, and no groups; nothing is set there.
 */
static void check_tree(const struct net *net, uint64_t up)
{
	for (uint32_t sw = 16; sw < 22; sw++) {
		for (uint32_t host = 0; host < 16; host++)
			assert_true(ports_to(net, sw, host) ==
			            (sw < 20 && host / 4 != sw - 16 ? up : 0));
	}
}

static void test_set(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "ftree" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(engines); i++) {
		struct net *net =
			net_new_adaptive(net_fat_tree(4, 4, 2), WF_GROUPS_MAX, UINT32_MAX);
		struct net_manager *m = manage(net, engines[i]);
		struct wf_sm_stats stats;

		assert_true(net_run_up(net, m, WF_S));
		assert_string_equal(wf_sm_view(m->sm)->tables->engine, engines[i]);
		check_tree(net, 0x60);
		assert_int_equal(sent(m, WF_SM_GET_ADAPTIVE), 6);
		assert_int_equal(sent(m, WF_SM_SET_ADAPTIVE), 4);
		assert_int_equal(sent(m, WF_SM_SET_ADAPTIVE_GROUPS), 4);
		assert_int_equal(sent(m, WF_SM_SET_ADAPTIVE_LIDS), 4); /* 22 LIDs: one block */
		wf_sm_stats(m->sm, &stats);
		assert_int_equal(stats.last_heavy.adaptive, 4);
		assert_int_equal(stats.last_heavy.group_blocks, 8);
		assert_true(stats.last_heavy.phase_end[WF_SM_PHASE_ADAPTIVE] >
		            stats.last_heavy.phase_end[WF_SM_PHASE_ROUTES]);

		/* Another sweep asks, and writes nothing. */
		wf_sm_resweep(m->sm, true, net->now);
		net_pump(net, m);
		assert_true(net_run_up(net, m, net->now + WF_S));
		assert_int_equal(sent(m, WF_SM_GET_ADAPTIVE), 12);
		assert_int_equal(sent(m, WF_SM_SET_ADAPTIVE), 4);
		assert_int_equal(sent(m, WF_SM_SET_ADAPTIVE_GROUPS), 4);
		assert_int_equal(sent(m, WF_SM_SET_ADAPTIVE_LIDS), 4);
		net_free(net);
	}
}

/* A link of leaf 16 is lost, and comes back: its one group is another, and others get one more. */
static void test_link_lost(void **state)
{
	struct net *net = net_new_adaptive(net_fat_tree(4, 4, 3), WF_GROUPS_MAX, UINT32_MAX);
	struct net_manager *m = manage(net, "minhop");
	uint64_t groups, lids;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	check_tree(net, 0xe0);
	groups = sent(m, WF_SM_SET_ADAPTIVE_GROUPS);
	lids = sent(m, WF_SM_SET_ADAPTIVE_LIDS);
	net_cut(net, 16, 6, true);
	assert_true(net_run_up(net, m, net->now + 5 * WF_S));
	for (uint32_t sw = 16; sw < 20; sw++) {
		for (uint32_t host = 0; host < 16; host++)
			assert_true(ports_to(net, sw, host) == (host / 4 == sw - 16 ? 0
			                                        : sw == 16 || host / 4 == 0
			                                                ? 0xa0
			                                                : 0xe0));
	}
	/*
	 * One block of groups of each leaf; LIDs of leaf 16's hosts in three of them. And the spine
	 * without its link has a detour by three leaves, which no host's packets take.
	 */
	assert_int_equal(sent(m, WF_SM_SET_ADAPTIVE_GROUPS) - groups, 5);
	assert_int_equal(sent(m, WF_SM_SET_ADAPTIVE_LIDS) - lids, 4);
	assert_true(ports_to(net, 21, 0) == 0x1c && ports_to(net, 20, 0) == 0);
	assert_int_equal(net_unreached(net, 1), 0);
	net_cut(net, 16, 6, false);
	assert_true(net_run_up(net, m, net->now + 5 * WF_S));
	check_tree(net, 0xe0);
	net_free(net);
}

/* A switch that forgets all, since it was off, gets all again. */
static void test_reset(void **state)
{
	struct net *net = net_new_adaptive(net_fat_tree(4, 4, 2), WF_GROUPS_MAX, UINT32_MAX);
	struct net_manager *m = manage(net, "ftree");
	uint64_t lids;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	lids = sent(m, WF_SM_SET_ADAPTIVE_LIDS);
	net_kill(net, 17, true);
	assert_true(net_run_up(net, m, net->now + 5 * WF_S));
	net_kill(net, 17, false);
	assert_true(net_run_up(net, m, net->now + 5 * WF_S));
	check_tree(net, 0x60);
	assert_true(sent(m, WF_SM_SET_ADAPTIVE_LIDS) > lids);
	net_free(net);
}

/*
 * A switch of another vendor's is not asked, and one of weft's that cannot says so: the manager
 * goes without there, and the subnet is up.
 */
static void test_others(void **state)
{
	struct net *net = net_new_adaptive(net_fat_tree(4, 4, 2), WF_GROUPS_MAX, 17);
	struct net_manager *m = manage(net, "minhop");
	struct wf_sm_stats stats;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	assert_int_equal(sent(m, WF_SM_GET_ADAPTIVE), 5);
	for (uint32_t sw = 16; sw < 20; sw++)
		assert_true(ports_to(net, sw, (sw - 15) % 4 * 4) == (sw == 17 ? 0 : 0x60));
	assert_int_equal(net_unreached(net, 1), 0);
	net_free(net);

	net = net_new_adaptive(net_fat_tree(4, 4, 2), 0, UINT32_MAX);
	m = manage(net, "minhop");
	assert_true(net_run_up(net, m, WF_S));
	assert_int_equal(sent(m, WF_SM_GET_ADAPTIVE), 0);
	net_free(net);

	/* Weft's, and deaf to the attribute; then it is asked as often as any, and given up. */
	net = net_new_adaptive(net_fat_tree(4, 4, 2), WF_GROUPS_MAX, UINT32_MAX);
	net->nodes[17].deaf_to = WF_SMP_ADAPTIVE_INFO;
	m = manage(net, "minhop");
	assert_true(net_run_up(net, m, 5 * WF_S));
	wf_sm_stats(m->sm, &stats);
	assert_true(stats.count[WF_SM_GET_ADAPTIVE].lost == 1);
	assert_true(ports_to(net, 17, 0) == 0 && ports_to(net, 16, 4) == 0x60);
	net_free(net);
}

/* Fewer groups than there are: hosts of some leaves have one, the others' go by the table. */
static void test_few(void **state)
{
	struct wf_subnet *s = net_fat_tree(4, 2, 2);
	struct net *net;
	struct net_manager *m;
	unsigned with = 0;

	(void)state;
	net = net_new_adaptive(s, 1, UINT32_MAX);
	m = manage(net, "minhop");
	assert_true(net_run_up(net, m, WF_S));
	net_cut(net, 8, 3, true);
	assert_true(net_run_up(net, m, net->now + 5 * WF_S));
	/* Leaf 8 has one way up: no group; the others reach each other by both spines. */
	for (uint32_t host = 0; host < 8; host++)
		with += ports_to(net, 9, host) != 0;
	assert_int_equal(with, 4);
	assert_true(ports_to(net, 8, 4) == 0);
	assert_int_equal(net_unreached(net, 1), 0);
	net_free(net);
}

/* Where groups could make a circle there are none, also where there were: it is switched off. */
static void test_refused(void **state)
{
	struct net *net = net_new_adaptive(net_ring(6, 1), WF_GROUPS_MAX, UINT32_MAX);
	struct net_manager *m = manage(net, "minhop");

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	assert_non_null(strstr(m->note, "minhop"));
	assert_int_equal(sent(m, WF_SM_SET_ADAPTIVE), 0);
	for (uint32_t sw = 6; sw < 12; sw++)
		assert_true(ports_to(net, sw, (sw - 6 + 3) % 6) == 0);
	net_free(net);
}

/* Packets are lost, Sets among them: in the end all is as it should be. */
static void test_lossy(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct net *net =
			net_new_adaptive(net_fat_tree(4, 4, 2), WF_GROUPS_MAX, UINT32_MAX);
		struct net_manager *m;

		net->seed = seed;
		net->lose = UINT64_C(0x100000000) / 40;
		m = manage(net, "ftree");
		assert_true(net_run_up(net, m, 100 * WF_S));
		check_tree(net, 0x60);
		net_free(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),   cmocka_unit_test(test_link_lost),
		cmocka_unit_test(test_reset), cmocka_unit_test(test_others),
		cmocka_unit_test(test_few),   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_lossy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
