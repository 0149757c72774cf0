/* SPDX-License-Identifier: Apache-2.0 */
/* test_sm_tables.c - what a subnet manager writes besides linear tables: lanes, and multicast. */
#include "smnet.h"

#include <errno.h>

/* ---- lanes ---- */

static void test_no_lanes(void **state)
{
	struct net *net = net_new_of(net_ring(4, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	struct wf_sm_stats stats;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(stats.count[WF_SM_SET_SL_TO_VL].sent, 0);
	assert_int_equal(stats.count[WF_SM_SET_VL_ARB].sent, 0);
	net_free(net);
}

static void test_qos(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 1, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m;
	struct wf_sm_stats stats;
	const struct wf_sma *leaf = net->nodes[2].sma;
	struct wf_vl_arb_entry e;
	uint64_t sent;

	(void)state;
	cfg.qos = true;
	cfg.qos_high_limit = 77;
	(void)snprintf(cfg.qos_sl2vl, sizeof(cfg.qos_sl2vl), "0,1,2,3,3,2,1,0,9,15,0,0,0,0,0,7");
	(void)snprintf(cfg.qos_vlarb_high, sizeof(cfg.qos_vlarb_high), "2:100,14:7");
	(void)snprintf(cfg.qos_vlarb_low, sizeof(cfg.qos_vlarb_low), "0:5,1:10");
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	for (unsigned in = 0; in <= 2; in++) {
		for (unsigned out = 1; out <= 2; out++) {
			static const uint8_t want[16] = { 0, 1,  2, 3, 3, 2, 1, 0,
				                          1, 15, 0, 0, 0, 0, 0, 7 };

			if (in == out)
				continue;
			for (uint8_t sl = 0; sl < 16; sl++) /* eight lanes: 9 is 1 */
				assert_int_equal(wf_sma_vl(leaf, in, out, sl), want[sl]);
		}
	}
	assert_int_equal(wf_sma_vl(net->nodes[1].sma, 0, 1, 5), 2);
	assert_int_equal(wf_sma_port(leaf, 1)->vl_high_limit, 77);
	e = wf_sma_vl_arb(leaf, 1, true, 0);
	assert_true(e.vl == 2 && e.weight == 100);
	e = wf_sma_vl_arb(leaf, 1, true, 1);
	assert_true(e.vl == 6 && e.weight == 7); /* 14 of eight lanes */
	e = wf_sma_vl_arb(net->nodes[1].sma, 1, false, 1);
	assert_true(e.vl == 1 && e.weight == 10);

	/* Not again for links that stay up. */
	wf_sm_stats(m->sm, &stats);
	sent = stats.count[WF_SM_SET_SL_TO_VL].sent;
	assert_int_equal(sent, 3 * 2 * 2 + 2 + 3 * 2); /* two leaves, two hosts, the spine */
	wf_sm_resweep(m->sm, true, net->now);
	net_pump(net, m);
	assert_true(net_run_up(net, m, WF_S));
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(stats.count[WF_SM_SET_SL_TO_VL].sent, sent);

	/* A link that was down gets its tables anew: its two ports. */
	net_cut(net, 3, 2, true);
	net_cut(net, 3, 2, false);
	assert_true(net_run_up(net, m, 3 * WF_S));
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(stats.count[WF_SM_SET_SL_TO_VL].sent, sent + 3 + 3);
	net_free(net);
}

/* A routing with lanes of its own needs service level i on lane i, also without qos. */
static void test_dfsssp(void **state)
{
	struct net *net = net_new_of(net_ring(6, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m;
	const struct wf_tables *tables;

	(void)state;
	(void)snprintf(cfg.routing_engine, sizeof(cfg.routing_engine), "dfsssp");
	cfg.vls = 4;
	(void)snprintf(cfg.qos_sl2vl, sizeof(cfg.qos_sl2vl), "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	tables = wf_sm_view(m->sm)->tables;
	assert_true(tables->n_vls > 1 && tables->no_credit_loop);
	for (uint8_t sl = 0; sl < tables->n_vls; sl++) {
		assert_int_equal(wf_sma_vl(net->nodes[7].sma, 1, 2, sl), sl);
		assert_int_equal(wf_sma_vl(net->nodes[3].sma, 0, 1, sl), sl);
	}
	assert_int_equal(net_unreached(net, 1), 0);
	net_free(net);
}

/* Where the first engine cannot route, the next does, and it is said why. */
static void test_fallback(void **state)
{
	struct net *net = net_new_of(net_ring(6, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m;

	(void)state;
	(void)snprintf(cfg.routing_engine, sizeof(cfg.routing_engine), "ftree,updn");
	(void)snprintf(cfg.root_guids, sizeof(cfg.root_guids), "0x%016llx",
	               (unsigned long long)net->topo->nodes[6].guid);
	m = net_manage(net, 0, &cfg);
	assert_true(net_run_up(net, m, WF_S));
	assert_string_equal(wf_sm_view(m->sm)->tables->engine, "updn");
	assert_true(m->notes > 0);
	assert_non_null(strstr(m->note, "ftree"));
	assert_int_equal(net_unreached(net, 1), 0);
	net_free(net);
}

/* ---- multicast ---- */

/* How often each node gets a packet that a host sends to a group. */
static void flood(const struct net *net, uint32_t node, unsigned in, uint16_t mlid, unsigned *got,
                  unsigned depth)
{
	assert_true(depth < 32);
	for (unsigned out = 1; out <= net->topo->nodes[node].n_ports; out++) {
		const struct wf_subnet_port *port = wf_subnet_port(net->topo, node, out);

		if (out == in || !wf_sma_mft(net->nodes[node].sma, mlid, out) ||
		    !net_link_is_up(net, (uint32_t)(port - net->topo->ports)))
			continue;
		if (wf_subnet_is_switch(net->topo, port->peer))
			flood(net, port->peer, port->peer_port, mlid, got, depth + 1);
		else
			got[port->peer]++;
	}
}

static void check_group(const struct net *net, uint16_t mlid, uint64_t members)
{
	unsigned n_hosts = net->topo->n_nodes - net->topo->n_switches;

	for (uint32_t from = 0; from < n_hosts; from++) {
		const struct wf_subnet_port *port = wf_subnet_port(net->topo, from, 1);
		unsigned got[64] = { 0 };

		if ((members >> from & 1) == 0)
			continue;
		flood(net, port->peer, port->peer_port, mlid, got, 0);
		for (uint32_t to = 0; to < n_hosts; to++)
			assert_int_equal(got[to], to != from && (members >> to & 1) != 0);
	}
}

static void set_group(struct net *net, struct net_manager *m, uint16_t mlid, uint64_t members)
{
	uint64_t guids[64];
	uint32_t n = 0;

	for (uint32_t i = 0; i < 64; i++) {
		if ((members >> i & 1) != 0)
			guids[n++] = wf_subnet_port(net->topo, i, 1)->guid;
	}
	assert_int_equal(wf_sm_set_group(m->sm, mlid, guids, n), 0);
}

static void test_multicast(void **state)
{
	struct net *net = net_new_of(net_fat_tree(4, 4, 2));
	struct wf_sm_cfg cfg = net_cfg();
	struct net_manager *m = net_manage(net, 0, &cfg);
	struct wf_sm_stats stats;
	uint64_t sent;

	(void)state;
	assert_true(net_run_up(net, m, WF_S));
	set_group(net, m, 0xc000, 0xffff);
	set_group(net, m, 0xc001, 0x0003);
	set_group(net, m, 0xc025, 0x8421);
	wf_sm_multicast(m->sm, net->now);
	net_pump(net, m);
	net_run(net, net->now + WF_S);
	check_group(net, 0xc000, 0xffff);
	check_group(net, 0xc001, 0x0003);
	check_group(net, 0xc025, 0x8421);
	/* Two blocks of 32 LIDs, and ports below 16: two for each of six switches. */
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(stats.count[WF_SM_SET_MULTICAST_FT].sent, 12);

	/* The same again costs nothing. */
	wf_sm_multicast(m->sm, net->now);
	net_pump(net, m);
	net_run(net, net->now + WF_S);
	wf_sm_stats(m->sm, &stats);
	assert_int_equal(stats.count[WF_SM_SET_MULTICAST_FT].sent, 12);

	/* A switch is lost: the trees go another way. */
	net_kill(net, 20, true);
	assert_true(net_run_up(net, m, 5 * WF_S));
	check_group(net, 0xc000, 0xffff);
	check_group(net, 0xc025, 0x8421);
	net_kill(net, 20, false);
	assert_true(net_run_up(net, m, 5 * WF_S));
	check_group(net, 0xc000, 0xffff);

	/* One is left, one is gone. */
	set_group(net, m, 0xc000, 0x0101);
	set_group(net, m, 0xc025, 0);
	wf_sm_stats(m->sm, &stats);
	sent = stats.count[WF_SM_SET_MULTICAST_FT].sent;
	wf_sm_multicast(m->sm, net->now);
	net_pump(net, m);
	net_run(net, net->now + WF_S);
	check_group(net, 0xc000, 0x0101);
	for (unsigned p = 1; p <= 6; p++)
		assert_false(wf_sma_mft(net->nodes[16].sma, 0xc025, p));
	wf_sm_stats(m->sm, &stats);
	assert_true(stats.count[WF_SM_SET_MULTICAST_FT].sent > sent);
	assert_int_equal(wf_sm_set_group(m->sm, 0xbfff, NULL, 0), -EINVAL);
	assert_int_equal(wf_sm_set_group(m->sm, 0xffff, NULL, 0), -EINVAL);
	net_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_lanes),  cmocka_unit_test(test_qos),
		cmocka_unit_test(test_dfsssp),    cmocka_unit_test(test_fallback),
		cmocka_unit_test(test_multicast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
