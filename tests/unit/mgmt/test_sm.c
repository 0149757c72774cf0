/* SPDX-License-Identifier: Apache-2.0 */
/* test_sm.c - the subnet manager brings a network up, and keeps it up whatever fails. */
#include "smnet.h"

/* ---- bringing up ---- */

static void check_all_up(const struct net *net, unsigned step)
{
	for (uint32_t i = 0; i < net->topo->n_ports; i++) {
		const struct wf_subnet_port *port = &net->topo->ports[i];
		const struct wf_sma *sma = net->nodes[port->node].sma;

		if (net_link_is_up(net, i))
			assert_int_equal(
				wf_sma_port(sma, wf_subnet_number(net->topo, port))->port_state,
				WF_PORT_ACTIVE);
	}
	assert_int_equal(net_unreached(net, step), 0);
}

static uint64_t total(const struct wf_sm_stats *stats, bool answered)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < WF_SM_KINDS; i++)
		n += answered ? stats->count[i].answered : stats->count[i].sent;
	return n;
}

static void bring_up(struct wf_subnet *topo, const char *engine)
{
	struct net *net = net_new_of(topo);
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m;
	struct wf_sm_stats stats;

	(void)snprintf(cfg.routing_engine, sizeof(cfg.routing_engine), "%s", engine);
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	check_all_up(net, 1);
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(m->errors, 0);
	assert_int_equal(stats.stray, 0);
	assert_int_equal(total(&stats, true), total(&stats, false));
	assert_int_equal(stats.last_heavy.nodes, topo->n_nodes);
	assert_int_equal(stats.last_heavy.switches, topo->n_switches);
	/* All is new: every node has got a LID, and every link's two ports became active. */
	assert_int_equal(stats.last_heavy.lids, topo->n_nodes);
	assert_int_equal(stats.last_heavy.links_up, 2 * stats.last_heavy.links);
	assert_int_equal(m->found, topo->n_nodes);
	assert_int_equal(wf_sm_state(m->sm), WF_SM_MASTER);
	assert_string_equal(wf_sm_view(m->sm)->tables->engine, engine);
	net_free(net);
}

static void test_topologies(void **state)
{
	(void)state;
	bring_up(net_fat_tree(4, 4, 2), "ftree");
	bring_up(net_fat_tree3(4, 4), "updn");
	bring_up(net_ring(5, 2), "minhop");
	bring_up(net_dragonfly(5, 2, 2), "minhop");
	bring_up(net_dragonfly(4, 3, 1), "dfsssp");
	bring_up(net_fat_tree(1, 2, 0), "minhop"); /* one switch */
}

/* Requests and their counts of one leaf with two hosts, by hand. */
static void test_requests(void **state)
{
	static const uint64_t want[WF_SM_KINDS] = {
		[WF_SM_GET_NODE_INFO] = 3, /* itself, the switch, the other host */
		[WF_SM_GET_NODE_DESCRIPTION] = 3,
		[WF_SM_GET_SWITCH_INFO] = 1,
		[WF_SM_GET_PORT_INFO] = 5,  /* two hosts, ports 0 to 2 */
		[WF_SM_GET_GUID_INFO] = 3,  /* two hosts, port 0 */
		[WF_SM_CLEAR_CHANGE] = 1,   /* its links had come up */
		[WF_SM_SET_PORT_INFO] = 13, /* all five; four that are armed, and active */
		[WF_SM_SET_SWITCH_INFO] = 1,
		[WF_SM_SET_LINEAR_FT] = 1,
		[WF_SM_SET_PKEYS] = 2, /* of the switch's two ports */
	};
	struct net *net = net_new_of(net_fat_tree(1, 2, 0));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	struct wf_sm_stats stats;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	wf_sm_stats(m->sm, &stats);
	for (unsigned i = 0; i < WF_SM_KINDS; i++) {
		if (i != WF_SM_GET_PKEYS) /* by what tables can hold */
			assert_int_equal(stats.count[i].sent, want[i]);
	}
	net_free(net);
}

/* A manager may be on a switch as well. */
static void test_on_switch(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 2, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 4, &cfg);

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	check_all_up(net, 1);
	assert_int_equal(wf_sm_lid(m->sm), net_lid(net, 4));
	net_free(net);
}

/*
 * Requests under way: one at a time takes a round trip for each; four take less, never more than
 * four.
 */
static void test_under_way(void **state)
{
	wf_time took[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct net *net = net_new_of(net_fat_tree(4, 4, 2));
		struct wf_sm_cfg cfg = net_cfg();
		struct net_manager *m;

		cfg.max_wire_smps = i == 0 ? 1 : 4;
		cfg.max_wire_smps2 = cfg.max_wire_smps;
		m = net_manage(net, 0, &cfg);
		assert_true(net_run_up(net, m, WF_S));
		took[i] = m->up_at;
		net_free(net);
	}
	assert_true(took[1] < took[0] / 2);
	assert_true(took[1] >= took[0] / 4);
}

/* One that is not answered takes the only place; after a while there is one more. */
static void test_more_under_way(void **state)
{
	struct wf_node_info info = { .node_type = WF_NODE_CA,
		                     .num_ports = 1,
		                     .node_guid = 0x77,
		                     .port_guid = 0x78,
		                     .local_port_num = 1 };
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_err err = { "" };
	struct wf_sm_addr to;
	uint8_t mad[WF_MAD_LEN];
	struct wf_sm *sm;

	(void)state;
	cfg.max_wire_smps = 1;
	cfg.max_wire_smps2 = 2;
	cfg.max_smps_timeout = 30 * WF_MS;
	assert_int_equal(wf_sm_create(&cfg, NULL, NULL, wf_mem_heap(), &sm, &err), 0);
	wf_sm_tick(sm, 0);
	assert_true(wf_sm_tx(sm, &to, mad));
	mad[3] = WF_MAD_METHOD_GET_RESP;
	wf_node_info_encode(&info, mad + WF_SMP_DATA);
	wf_sm_rx(sm, &to, mad, 0);
	assert_true(wf_sm_tx(sm, &to, mad)); /* the description; PortInfo waits */
	assert_false(wf_sm_tx(sm, &to, mad));
	assert_true(wf_sm_deadline(sm) == 30 * WF_MS);
	wf_sm_tick(sm, 30 * WF_MS - 1);
	assert_false(wf_sm_tx(sm, &to, mad));
	wf_sm_tick(sm, 30 * WF_MS);
	assert_true(wf_sm_tx(sm, &to, mad));
	assert_int_equal(wf_be16_get(mad + 16), WF_SMP_PORT_INFO);
	assert_true(wf_sm_deadline(sm) == 200 * WF_MS); /* the description's */
	wf_sm_destroy(sm);
}

/* ---- light sweeps ---- */

static void test_light(void **state)
{
	struct net *net = net_new_of(net_ring(3, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	struct wf_sm_stats before, after;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	wf_sm_stats(m->sm, &before);
	net_run(net, m->up_at + 10 * WF_S - 1);
	wf_sm_stats(m->sm, &after);
	assert_int_equal(after.light, 0);
	net_run(net, m->up_at + 15 * WF_S);
	wf_sm_stats(m->sm, &after);
	assert_int_equal(after.light, 1);
	assert_int_equal(after.heavy, 1);
	/* Three switches, and six descriptions; nothing is set. */
	assert_int_equal(after.last_light.smps, 9);
	for (unsigned i = WF_SM_CLEAR_CHANGE; i < WF_SM_KINDS; i++)
		assert_int_equal(after.count[i].sent, before.count[i].sent);
	net_free(net);
}

/* A heavy sweep of what has not changed asks all, and sets nothing. */
static void test_nothing_new(void **state)
{
	struct net *net = net_new_of(net_fat_tree(3, 3, 2));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	struct wf_sm_stats before, after;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	wf_sm_stats(m->sm, &before);
	wf_sm_resweep(m->sm, true, net->now);
	net_pump(net, m);
	assert_true(net_run_up(net, m, WF_S));
	wf_sm_stats(m->sm, &after);
	assert_int_equal(after.heavy, 2);
	assert_int_equal(after.count[WF_SM_GET_PORT_INFO].sent,
	                 2 * before.count[WF_SM_GET_PORT_INFO].sent);
	for (unsigned i = WF_SM_CLEAR_CHANGE; i < WF_SM_KINDS; i++)
		assert_int_equal(after.count[i].sent, before.count[i].sent);
	assert_int_equal(m->routed, 1);
	net_free(net);
}

/* Something changes while it discovers: it does so again, within the same sweep. */
static void test_changes_meanwhile(void **state)
{
	struct net *net = net_new_of(net_fat_tree(3, 3, 2));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	struct wf_sm_stats stats;

	(void)state;
	while (wf_sm_phase(m->sm) != WF_SM_PHASE_DISCOVER)
		assert_true(net_go(net, WF_S));
	wf_sm_resweep(m->sm, true, net->now);
	assert_true(net_run_up(net, m, WF_S));
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(stats.heavy, 1);
	assert_int_equal(stats.count[WF_SM_GET_NODE_DESCRIPTION].sent, 2 * 14);
	net_run(net, net->now + WF_S);
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(stats.heavy, 1);
	assert_int_equal(net_unreached(net, 1), 0);
	net_free(net);
}

/* ---- what fails ---- */

static void test_link_pulled(void **state)
{
	struct net *net = net_new_of(net_fat_tree(4, 4, 2));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	const uint32_t leaf0 = 16;
	struct wf_sm_stats stats;
	wf_time cut_at;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	net_run(net, 3 * WF_S);
	cut_at = net->now;
	net_cut(net, leaf0 + 1, 5, true); /* leaf 1 to the first spine */
	assert_true(net_unreached(net, 1) > 0);
	assert_true(net_run_up(net, m, WF_S)); /* long before the next sweep: by trap 128 */
	check_all_up(net, 1);
	wf_sm_stats(m->sm, &stats);
	/* From both ends, if the way was not by the link that is cut. */
	assert_true(stats.traps[0] >= 1 && stats.traps[0] <= 2);
	assert_int_equal(m->traps, stats.traps[0]);
	assert_int_equal(m->last_trap, WF_TRAP_LINK_STATE);
	assert_int_equal(stats.light, 0); /* at once a heavy one */
	assert_true(m->routed_at > cut_at && m->routed_at < cut_at + WF_MS);
	/*
	 * Only what has to be different: of six tables of a block each, leaf 1's, and the
	 * others'.
	 */
	assert_true(stats.last_heavy.lft_blocks >= 2 && stats.last_heavy.lft_blocks <= 6);
	assert_int_equal(stats.last_heavy.lids, 0);
	assert_int_equal(m->lost, 0);

	/* It comes back, and is used again: a port traps once in 2^18 * 4.096 us. */
	net_cut(net, leaf0 + 1, 5, false);
	assert_true(net_run_up(net, m, 2 * WF_S));
	check_all_up(net, 1);
	net_free(net);
}

/* Nobody says so by trap: the light sweep sees that a port has changed. */
static void test_link_pulled_silently(void **state)
{
	struct net *net = net_new_of(net_fat_tree(4, 2, 2));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m;

	(void)state;
	cfg.sweep_on_trap = false;
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	net_run(net, m->up_at + 3 * WF_S);
	net_cut(net, 9, 3, true);
	assert_false(net_run_up(net, m, 6 * WF_S));
	assert_true(net_unreached(net, 1) > 0);
	/* 7 s after the cut, or 800 ms later where the way to the switch was by that link. */
	assert_true(net_run_up(net, m, 2 * WF_S));
	check_all_up(net, 1);
	net_free(net);
}

static void test_switch_dies(void **state)
{
	struct net *net = net_new_of(net_fat_tree(4, 4, 2));
	struct wf_sm_cfg cfg = net_cfg();
	const uint32_t spine = 16 + 4, late = 15;
	struct net_manager *m;
	uint16_t lid;

	(void)state;
	net_kill(net, late, true);
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	lid = net_lid(net, spine);
	net_run(net, WF_S);
	net_kill(net, spine, true);
	assert_true(net_run_up(net, m, 5 * WF_S));
	check_all_up(net, 1);
	assert_int_equal(m->lost, 1);
	assert_int_equal(m->last_lost, net->topo->nodes[spine].guid);

	/* A host that is new meanwhile gets another LID, though that one is the lowest. */
	net_run(net, net->now + 30 * WF_S);
	assert_true(lid < 21);
	net_kill(net, late, false);
	assert_true(net_run_up(net, m, 5 * WF_S));
	assert_int_equal(net_lid(net, late), 22);

	/* It comes back without a LID, and the one that it had is its own still. */
	net_kill(net, spine, false);
	assert_int_equal(net_lid(net, spine), 0);
	assert_true(net_run_up(net, m, 5 * WF_S));
	assert_int_equal(net_lid(net, spine), lid);
	check_all_up(net, 1);
	/* Its tables were empty, and are whole again. */
	for (uint16_t i = 1; i <= 22; i++)
		assert_true(wf_sma_lft(net->nodes[spine].sma, i) != 255);
	net_free(net);
}

/* A switch is reset so quickly that its links are there again before anybody looks. */
static void test_switch_reset(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 2, 2));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	net_kill(net, 6, true);
	net_kill(net, 6, false);
	assert_true(net_run_up(net, m, 15 * WF_S));
	check_all_up(net, 1);
	net_free(net);
}

/* An agent does not answer, though its link is up: it is left out, and taken in when it does. */
static void test_mute(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 3, 2));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m;
	struct wf_sm_stats stats;

	(void)state;
	net->nodes[4].mute = true;
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, 5 * WF_S));
	wf_sm_stats(m->sm, &stats);
	/* Four times 200 ms. */
	assert_true(m->up_at >= 800 * WF_MS && m->up_at < 801 * WF_MS);
	assert_int_equal(stats.count[WF_SM_GET_NODE_INFO].again, 3);
	assert_int_equal(stats.count[WF_SM_GET_NODE_INFO].lost, 1);
	assert_int_equal(stats.last_heavy.silent, 1);
	assert_int_equal(net_lid(net, 4), 0);
	net->nodes[4].mute = false;
	assert_true(net_run_up(net, m, 12 * WF_S));
	assert_true(net_lid(net, 4) != 0);
	check_all_up(net, 1);
	net_free(net);
}

/* A switch that answers half is left out, and nothing goes by it; the next sweep is a heavy one. */
static void test_half(void **state)
{
	static const uint16_t attrs[] = { WF_SMP_SWITCH_INFO, WF_SMP_PORT_INFO };

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(attrs); i++) {
		struct net *net = net_new_of(net_fat_tree(2, 3, 2));
		struct wf_sm_cfg cfg = net_cfg();
		struct net_manager *m;

		net->nodes[8].deaf_to = attrs[i];
		m = net_manage(net, 0, &cfg);
		assert_false(net_run_up(net, m, 5 * WF_S));
		assert_int_equal(net_unreached(net, 1), 0);
		net->nodes[8].deaf_to = 0;
		assert_true(net_run_up(net, m, 12 * WF_S));
		check_all_up(net, 1);
		net_free(net);
	}
}

/* What is given up makes the next sweep a heavy one, though nothing changes. */
static void test_given_up(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 2, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m;
	struct wf_sm_stats stats;

	(void)state;
	cfg.transaction_retries = 0;
	net->lose_set = 20; /* some port's */
	m = net_manage(net, 0, &cfg);
	assert_false(net_run_up(net, m, 5 * WF_S));
	assert_int_equal(m->sweeps, 1);
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(stats.last_heavy.errors, 1);
	assert_true(net_run_up(net, m, 6 * WF_S));
	wf_sm_stats(m->sm, &stats);
	assert_true(stats.heavy >= 2);
	assert_int_equal(stats.light, 0);
	check_all_up(net, 1);
	net_free(net);
}

/* Two hosts with one GUID: the second link is left out, and it is said. */
static void test_same_guid(void **state)
{
	struct wf_subnet *topo = net_fat_tree(1, 4, 0);
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m;
	struct wf_sm_stats stats;
	struct net *net;

	(void)state;
	topo->nodes[3].guid = topo->nodes[2].guid;
	wf_subnet_port(topo, 3, 1)->guid = wf_subnet_port(topo, 2, 1)->guid;
	net = net_new_of(topo);
	m = net_manage(net, 0, &cfg);
	net_run(net, WF_S);
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(stats.last_heavy.duplicates, 1);
	assert_int_equal(m->ups, 0);
	assert_int_equal(wf_sma_port(net->nodes[1].sma, 1)->port_state, WF_PORT_ACTIVE);
	assert_true((net_lid(net, 2) == 0) != (net_lid(net, 3) == 0));
	net_free(net);
}

/* The manager's own link is down, and comes back. */
static void test_cut_off(void **state)
{
	struct net *net = net_new_of(net_ring(3, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	net_cut(net, 0, 1, true);
	assert_false(net_run_up(net, m, 30 * WF_S));
	assert_int_equal(wf_sm_state(m->sm), WF_SM_DISCOVERING);
	assert_null(wf_sm_view(m->sm));
	assert_int_equal(m->lost, 5);
	net_cut(net, 0, 1, false);
	assert_true(net_run_up(net, m, 11 * WF_S));
	check_all_up(net, 1);
	net_free(net);
}

static void test_lost_packets(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 5; seed++) {
		struct net *net = net_new_of(net_fat_tree(4, 3, 2));
		struct wf_sm_cfg cfg = net_cfg();
		struct net_manager *m;
		struct wf_sm_stats stats;

		net->seed = seed;
		net->lose = (UINT64_C(1) << 32) / 20; /* one hop of twenty */
		m = net_manage(net, 0, &cfg);
		/* What is given up makes the next sweep a heavy one, so in the end all is up. */
		assert_true(net_run_up(net, m, 600 * WF_S));
		net->lose = 0;
		net_run(net, net->now + 25 * WF_S);
		check_all_up(net, 1);
		wf_sm_stats(m->sm, &stats);
		assert_true(net->lost_packets > 0);
		assert_true(stats.count[WF_SM_GET_PORT_INFO].again > 0);
		net_free(net);
	}
}

/* Any one Set may be lost, or its answer: it is sent again, and means the same. */
static void test_lost_set(void **state)
{
	uint64_t sets = 1;

	(void)state;
	for (uint64_t n = 1; n <= sets; n += check_step(7)) {
		struct net *net = net_new_of(net_fat_tree(2, 2, 1));
		struct wf_sm_cfg cfg = net_cfg();
		struct net_manager *m;

		net->lose_set = n;
		m = net_manage(net, 0, &cfg);
		assert_true(net_run_up(net, m, WF_S));
		assert_int_equal(m->errors, 0);
		assert_int_equal(net->lost_packets, 1);
		check_all_up(net, 1);
		sets = net->sets - 1;
		net_free(net);
	}
	assert_true(sets > 30);
}

/* ---- LIDs ---- */

static void test_lids_stay(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 3, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	uint16_t lids[16] = { 0 };

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	for (uint32_t i = 0; i < net->topo->n_nodes; i++)
		lids[i] = net_lid(net, i);

	/* Another manager, somewhere else: it takes over what there is. */
	wf_sm_destroy(m->sm);
	m->sm = NULL;
	m = net_manage(net, 3, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	for (uint32_t i = 0; i < net->topo->n_nodes; i++)
		assert_int_equal(net_lid(net, i), lids[i]);
	net_free(net);
}

static void test_lids_reassigned(void **state)
{
	struct net *net = net_new_of(net_fat_tree(1, 3, 0));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	assert_int_equal(net_lid(net, 0), 1);
	wf_sm_destroy(m->sm);
	m->sm = NULL;
	cfg.reassign_lids = true;
	m = net_manage(net, 2, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	assert_int_equal(net_lid(net, 2), 1); /* the manager's own comes first */
	assert_int_equal(net_unreached(net, 1), 0);
	net_free(net);
}

/* ---- keys ---- */

static void test_mkey(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 2, 1));
	struct wf_sm_cfg cfg = net_cfg(), other = net_cfg();
	struct net_manager *m, *thief;
	struct wf_sm_stats stats;
	uint16_t lids[16] = { 0 };

	(void)state;
	(void)snprintf(cfg.m_key, sizeof(cfg.m_key), "0x1234567890abcdef");
	cfg.m_key_protection_level = 2;
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(wf_sma_port(net->nodes[i].sma, 1)->mkey,
		                 UINT64_C(0x1234567890abcdef));
		assert_int_equal(wf_sma_port(net->nodes[i].sma, 1)->mkey_protect_bits, 2);
	}
	for (uint32_t i = 0; i < net->topo->n_nodes; i++)
		lids[i] = net_lid(net, i);

	/* It knows another key, and a better priority; nothing of the subnet is its. */
	(void)snprintf(other.m_key, sizeof(other.m_key), "0x1");
	other.priority = 15;
	other.lmc = 1;
	thief = net_manage(net, 3, &other);
	net_run(net, net->now + 30 * WF_S);
	assert_int_equal(thief->ups, 0);
	assert_null(wf_sm_view(thief->sm));
	for (uint32_t i = 0; i < net->topo->n_nodes; i++)
		assert_int_equal(net_lid(net, i), lids[i]);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(wf_sma_port(net->nodes[i].sma, 1)->lmc, 0);
	wf_sm_stats(m->sm, &stats);
	assert_true(stats.traps[6] > 0); /* 256: its own node says so */
	assert_int_equal(wf_sm_state(m->sm), WF_SM_MASTER);

	/* The manager itself goes on with the key. */
	net_cut(net, 4, 3, true);
	net_run(net, net->now + WF_S);
	net_cut(net, 4, 3, false);
	net_run(net, net->now + 25 * WF_S);
	check_all_up(net, 1);
	net_free(net);
}

/* ---- ports ---- */

static void test_ports(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 2, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m;
	const struct wf_port_info *info;

	(void)state;
	cfg.subnet_timeout = 15;
	cfg.head_of_queue_lifetime = 11;
	cfg.leaf_head_of_queue_lifetime = 9;
	cfg.vl_stall_count = 5;
	cfg.leaf_vl_stall_count = 3;
	cfg.packet_life_time = 12;
	cfg.max_op_vls = 2;
	cfg.sm_sl = 4;
	cfg.local_phy_errors_threshold = 3;
	cfg.overrun_errors_threshold = 2;
	m = net_manage(net, 1, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	info = wf_sma_port(net->nodes[3].sma, 1);
	assert_int_equal(info->subnet_timeout, 15);
	assert_int_equal(info->master_sm_lid, net_lid(net, 1));
	assert_int_equal(info->master_sm_sl, 4);
	assert_int_equal(info->operational_vls, 2);
	assert_int_equal(info->neighbor_mtu, 4);
	assert_int_equal(info->local_phy_errors, 3);
	assert_int_equal(info->overrun_errors, 2);
	assert_int_equal(info->gid_prefix, UINT64_C(0xfe80000000000000));
	info = wf_sma_port(net->nodes[4].sma, 1); /* to a host */
	assert_int_equal(info->hoq_life, 9);
	assert_int_equal(info->vl_stall_count, 3);
	assert_true(info->partition_enforcement_inbound && info->partition_enforcement_outbound);
	info = wf_sma_port(net->nodes[4].sma, 3); /* to the spine */
	assert_int_equal(info->hoq_life, 11);
	assert_int_equal(info->vl_stall_count, 5);
	assert_false(info->partition_enforcement_inbound || info->partition_enforcement_outbound);
	assert_int_equal(wf_sma_switch(net->nodes[4].sma)->life_time_value, 12);
	assert_int_equal(wf_sma_switch(net->nodes[4].sma)->linear_fdb_top, 7);
	net_free(net);
}

/* Both ends of a link get what both can do. */
static void test_unequal_ports(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 2, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m;

	(void)state;
	net->small = 3;
	net_kill(net, 3, true);
	net_kill(net, 3, false);
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	for (unsigned i = 0; i < 2; i++) { /* the host, and the leaf's port to it */
		const struct wf_port_info *info =
			wf_sma_port(net->nodes[i == 0 ? 3 : 5].sma, i == 0 ? 1 : 2);

		assert_int_equal(info->neighbor_mtu, 3);
		assert_int_equal(info->operational_vls, 2);
	}
	assert_int_equal(wf_sma_port(net->nodes[5].sma, 1)->neighbor_mtu, 4);
	assert_int_equal(wf_sma_port(net->nodes[5].sma, 1)->operational_vls, 4);
	net_free(net);
}

/* Other lanes on links that are in use: they go down for it, and come up again. */
static void test_other_lanes(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 2, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	struct wf_sm_stats stats;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	wf_sm_destroy(m->sm);
	m->sm = NULL;
	cfg.max_op_vls = 2;
	m = net_manage(net, 1, &cfg);
	net_run(net, net->now + 30 * WF_S);
	assert_int_equal(wf_sma_port(net->nodes[5].sma, 3)->operational_vls, 2);
	assert_int_equal(wf_sma_port(net->nodes[0].sma, 1)->operational_vls, 2);
	check_all_up(net, 1);
	assert_true(m->ups > 0);
	wf_sm_stats(m->sm, &stats);
	assert_true(stats.traps[0] > 0); /* switches' ports have seen them go */
	net_free(net);
}

/* Clients are told to register when they are new to a manager, or the manager is new. */
static void test_reregister(void **state)
{
	struct net *net = net_new_of(net_fat_tree(1, 3, 0));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	wf_sm_resweep(m->sm, true, net->now);
	net_pump(net, m);
	assert_true(net_run_up(net, m, WF_S));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(net->nodes[i].reregistered, 1);
	/* A manager that begins anew where the last one was: all LIDs are as they were. */
	for (unsigned no = 0; no < 2; no++) {
		wf_sm_destroy(m->sm);
		m->sm = NULL;
		cfg.no_clients_rereg = no != 0;
		m = net_manage(net, 0, &cfg);
		assert_true(net_run_up(net, m, WF_S));
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(net->nodes[i].reregistered, 2);
	}
	net_free(net);
}

/* ---- traps ---- */

static void test_traps(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 2, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	struct wf_trap_key key = { .key = 0x8001, .lid1 = 5, .lid2 = 6 };
	struct wf_sm_stats stats;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	wf_sma_violation(net->nodes[3].sma, 1, WF_TRAP_BAD_PKEY, &key, net->now);
	net_note_due(net, 3);
	net_run(net, net->now + 2 * WF_S);
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(stats.traps[7], 1); /* once: it was repressed */
	assert_int_equal(m->last_trap, WF_TRAP_BAD_PKEY);
	assert_int_equal(stats.light, 1);

	/* A new description is read. */
	wf_sma_set_description(net->nodes[2].sma, "a new name", net->now);
	net_note_due(net, 2);
	net_run(net, net->now + 2 * WF_S);
	assert_string_equal(
		wf_sm_view(m->sm)
			->subnet
			->nodes[wf_subnet_find(wf_sm_view(m->sm)->subnet, net->topo->nodes[2].guid)]
			.desc,
		"a new name");
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(stats.heavy, 1);
	assert_int_equal(stats.count[WF_SM_GET_NODE_DESCRIPTION].answered, 7 + 7 + 1);

	/* A capability calls for a sweep. */
	wf_sma_set_capability(net->nodes[2].sma, 1, WF_CAP_DEVICE_MGMT, 0, net->now);
	net_note_due(net, 2);
	net_run(net, net->now + 2 * WF_S);
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(stats.heavy, 2);
	net_free(net);
}

static void feed_trap(struct net *net, struct net_manager *m, uint16_t number, uint16_t lid,
                      unsigned port)
{
	struct wf_trap_port at = { .lid = lid, .port = (uint8_t)port };
	struct wf_notice notice = { .is_generic = true, .trap_number = number, .issuer_lid = lid };
	struct wf_mad head = { .base_version = 1,
		               .mgmt_class = WF_MAD_CLASS_SUBN_LID,
		               .class_version = 1,
		               .method = WF_MAD_METHOD_TRAP,
		               .attr_id = WF_SMP_NOTICE };
	struct wf_sm_addr from = { .lid = lid };
	uint8_t mad[WF_MAD_LEN] = { 0 };

	wf_mad_encode(&head, mad);
	wf_trap_port_encode(&at, notice.details);
	wf_notice_encode(&notice, mad + WF_SMP_DATA);
	wf_sm_rx(m->sm, &from, mad, net->now);
	net_pump(net, m);
	net_run(net, net->now + WF_MS);
}

static void test_babbling(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 2, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m;
	struct wf_sm_stats stats;

	(void)state;
	cfg.babbling_port_policy = true;
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	for (unsigned i = 1; i <= 251; i++) {
		feed_trap(net, m, WF_TRAP_LINK_INTEGRITY, net_lid(net, 5), 1);
		wf_sm_stats(m->sm, &stats);
		assert_int_equal(stats.heavy, i <= 10 ? 1 : i <= 250 ? 2 : 3);
		assert_int_equal(stats.traps_suppressed, i <= 11 ? 0 : i - 11);
	}
	assert_int_equal(stats.traps[1], 251);
	/* The port of the second leaf to its first host is off now. */
	assert_int_equal(wf_sma_port(net->nodes[5].sma, 1)->port_physical_state, WF_PHYS_DISABLED);
	assert_int_equal(m->lost, 1);
	net_free(net);
}

/* ---- the graph that others see ---- */

static void test_view(void **state)
{
	struct net *net = net_new_of(net_dragonfly(4, 3, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	const struct wf_sm_view *view;

	(void)state;
	assert_null(wf_sm_view(m->sm));
	assert_true(net_run_up(net, m, WF_S));
	view = wf_sm_view(m->sm);
	for (uint32_t i = 0; i < net->topo->n_nodes; i++) {
		const struct wf_subnet_node *node = &net->topo->nodes[i];
		uint32_t id = wf_subnet_find(view->subnet, node->guid);

		assert_int_not_equal(id, WF_SUBNET_NONE);
		assert_string_equal(view->subnet->nodes[id].desc, node->desc);
		for (unsigned p = 1; p <= node->n_ports; p++) {
			const struct wf_subnet_port *is = wf_subnet_port(view->subnet, id, p);
			const struct wf_subnet_port *port = wf_subnet_port(net->topo, i, p);
			const struct wf_subnet_port *far = wf_subnet_peer(net->topo, port);

			assert_int_equal(is->peer == WF_SUBNET_NONE, far == NULL);
			if (far == NULL)
				continue;
			assert_true(view->subnet->nodes[is->peer].guid ==
			            net->topo->nodes[far->node].guid);
			assert_int_equal(is->peer_port, port->peer_port);
			assert_int_equal(is->width, 4);
			assert_int_equal(is->speed, WF_SUBNET_NDR);
			assert_int_equal(is->state, WF_SUBNET_ACTIVE);
		}
	}
	assert_int_equal(view->subnet->ports[wf_sm_self(view)].guid, wf_sm_guid(m->sm));
	assert_int_equal(wf_sm_lid(m->sm), 1);
	net_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_topologies),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_on_switch),
		cmocka_unit_test(test_under_way),
		cmocka_unit_test(test_more_under_way),
		cmocka_unit_test(test_light),
		cmocka_unit_test(test_nothing_new),
		cmocka_unit_test(test_changes_meanwhile),
		cmocka_unit_test(test_link_pulled),
		cmocka_unit_test(test_link_pulled_silently),
		cmocka_unit_test(test_switch_dies),
		cmocka_unit_test(test_switch_reset),
		cmocka_unit_test(test_mute),
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_same_guid),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_lost_packets),
		cmocka_unit_test(test_lost_set),
		cmocka_unit_test(test_lids_stay),
		cmocka_unit_test(test_lids_reassigned),
		cmocka_unit_test(test_mkey),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_unequal_ports),
		cmocka_unit_test(test_other_lanes),
		cmocka_unit_test(test_reregister),
		cmocka_unit_test(test_traps),
		cmocka_unit_test(test_babbling),
		cmocka_unit_test(test_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
