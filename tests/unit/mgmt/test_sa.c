/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sa.c - subnet administration: who is answered at all, and records of nodes, ports and
 * tables, which are what the agents of the network have.
 */
#include "sanet.h"

#define M(c) WF_COMPONENT(c)

static struct sanet *up(struct wf_sm_cfg cfg)
{
	return sanet_up(net_new_of(net_fat_tree(4, 3, 2)), &cfg);
}

/* The node that has a LID, and the port. */
static const struct wf_sma *sma_at(const struct sanet *s, uint16_t lid, unsigned *port_p)
{
	for (uint32_t i = 0; i < s->net->topo->n_nodes; i++) {
		bool is_switch = wf_subnet_is_switch(s->net->topo, i);
		const struct wf_port_info *info =
			wf_sma_port(s->net->nodes[i].sma, is_switch ? 0 : 1);

		if (lid >= info->lid && lid < info->lid + (1 << info->lmc)) {
			*port_p = is_switch ? 0 : 1;
			return s->net->nodes[i].sma;
		}
	}
	fail_msg("nobody has LID %u", lid);
	return NULL;
}

static void assert_same(const struct wf_layout *layout, const void *a, const void *b)
{
	uint8_t x[WF_SA_DATA_LEN], y[WF_SA_DATA_LEN];

	wf_layout_encode(layout, a, x);
	wf_layout_encode(layout, b, y);
	assert_memory_equal(x, y, layout->bytes);
}

/* ---- who is answered ---- */

static void test_not_up(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	struct sanet *s = sanet_new(net_new_of(net_fat_tree(2, 2, 1)), 0, &cfg, wf_mem_heap());
	struct wf_sa_stats stats;

	(void)state;
	s->lid = 1;
	assert_int_equal(sanet_get(s, WF_SA_CLASS_PORT_INFO, 0, NULL), -1);
	assert_true(net_run_up(s->net, s->m, WF_S));
	assert_int_equal(sanet_get(s, WF_SA_CLASS_PORT_INFO, 0, NULL), 0);
	wf_sa_stats(s->sa, &stats);
	assert_int_equal(stats.ignored, 1);
	assert_int_equal(stats.asked, 1);
	assert_int_equal(stats.answered, 1);
	sanet_free(s);
}

static void test_keys_and_strangers(void **state)
{
	struct sanet *s = up(net_cfg());

	(void)state;
	s->key = 1; /* the default SM_Key */
	assert_int_equal(sanet_get(s, WF_SA_CLASS_PORT_INFO, 0, NULL), 0);
	s->key = 2;
	assert_int_equal(sanet_get(s, WF_SA_CLASS_PORT_INFO, 0, NULL), -1);
	s->key = 0;
	s->lid = 1000;
	assert_int_equal(sanet_get(s, WF_SA_CLASS_PORT_INFO, 0, NULL), -1);
	sanet_free(s);
}

static void test_methods(void **state)
{
	static const struct {
		uint16_t attr;
		uint8_t method;
		int status;
	} cases[] = {
		{ WF_SA_CLASS_PORT_INFO, WF_MAD_METHOD_SET, WF_SA_REQ_INVALID },
		{ WF_SA_CLASS_PORT_INFO, WF_MAD_METHOD_GET_TABLE, WF_SA_REQ_INVALID },
		{ WF_SA_NODE, WF_MAD_METHOD_SET, WF_MAD_BAD_ATTRIBUTE },
		{ WF_SA_NODE, WF_MAD_METHOD_DELETE, WF_MAD_BAD_ATTRIBUTE },
		{ WF_SA_PORT_INFO, WF_MAD_METHOD_SET, WF_MAD_BAD_ATTRIBUTE },
		{ WF_SA_GUID_INFO, WF_MAD_METHOD_SET, WF_MAD_BAD_ATTRIBUTE },
		{ WF_SA_PATH, WF_MAD_METHOD_DELETE, WF_MAD_BAD_ATTRIBUTE },
		{ WF_SA_MULTI_PATH, WF_MAD_METHOD_GET, WF_MAD_BAD_ATTRIBUTE },
		{ WF_SA_NODE, WF_MAD_METHOD_GET_MULTI, WF_MAD_BAD_ATTRIBUTE },
		{ WF_SA_INFORM_INFO, WF_MAD_METHOD_GET, WF_MAD_BAD_ATTRIBUTE },
		{ WF_SA_INFORM_INFO_RECORD, WF_MAD_METHOD_SET, WF_MAD_BAD_ATTRIBUTE },
		/* RandomForwardingTableRecord, TraceRecord, and no attribute at all */
		{ 0x0016, WF_MAD_METHOD_GET, -1 },
		{ 0x0039, WF_MAD_METHOD_GET_TRACE_TABLE, -1 },
		{ 0x7777, WF_MAD_METHOD_GET_TABLE, -1 },
		{ WF_SA_NODE, WF_MAD_METHOD_GET_TRACE_TABLE, -1 },
	};
	struct sanet *s = up(net_cfg());

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++)
		assert_int_equal(sanet_ask_bytes(s, cases[i].method, cases[i].attr, 0, NULL, 0),
		                 cases[i].status);
	sanet_free(s);
}

static void test_class_port_info(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_class_port_info info;
	struct sanet *s = up(cfg);

	(void)state;
	assert_int_equal(sanet_get(s, WF_SA_CLASS_PORT_INFO, 0, NULL), 0);
	sanet_record(s, 0, &info);
	assert_int_equal(info.base_version, 1);
	assert_int_equal(info.class_version, 2);
	assert_int_equal(info.capability_mask, 0x2602);
	assert_int_equal(info.capability_mask2, 0xb5c8);
	assert_int_equal(info.resp_time_value, 16); /* 268 ms, from 200 ms on */
	sanet_free(s);
	cfg.qos = true;
	cfg.use_mfttop = false;
	cfg.disable_multicast = true;
	s = up(cfg);
	assert_int_equal(sanet_get(s, WF_SA_CLASS_PORT_INFO, 0, NULL), 0);
	sanet_record(s, 0, &info);
	assert_int_equal(info.capability_mask, 0x2402);
	assert_int_equal(info.capability_mask2, 0xb5c2);
	sanet_free(s);
}

/* ---- nodes ---- */

static void check_node(const struct sanet *s, const struct wf_node_record *r)
{
	unsigned port;
	const struct wf_sma *sma = sma_at(s, r->lid, &port);
	struct wf_node_info is = *wf_sma_node(sma);
	uint32_t id = wf_subnet_find(s->net->topo, is.node_guid);

	is.local_port_num = (uint8_t)port;
	is.port_guid = wf_sma_guid(sma, port, 0);
	assert_same(&wf_node_info_layout, &is, &r->info);
	assert_string_equal((const char *)r->description.text, s->net->topo->nodes[id].desc);
}

static void test_nodes(void **state)
{
	struct sanet *s = up(net_cfg());
	struct wf_node_record r, wanted = { .info = { .node_type = WF_NODE_SWITCH } };
	uint16_t seen = 0;

	(void)state;
	assert_int_equal(sanet_table(s, WF_SA_NODE, 0, NULL), 18);
	for (unsigned i = 0; i < 18; i++) {
		sanet_record(s, i, &r);
		check_node(s, &r);
		seen ^= (uint16_t)(1u << (r.lid & 15));
	}
	assert_int_not_equal(seen, 0);
	assert_int_equal(sanet_table(s, WF_SA_NODE, M(WF_NODE_C_NODE_TYPE), &wanted), 6);
	assert_int_equal(sanet_get(s, WF_SA_NODE, M(WF_NODE_C_NODE_TYPE), &wanted),
	                 WF_SA_TOO_MANY_RECORDS);
	wanted.lid = net_lid(s->net, 5);
	assert_int_equal(sanet_get(s, WF_SA_NODE, M(WF_NODE_C_LID), &wanted), 0);
	sanet_record(s, 0, &r);
	check_node(s, &r);
	assert_int_equal(r.lid, wanted.lid);
	wanted.lid = 500;
	assert_int_equal(sanet_get(s, WF_SA_NODE, M(WF_NODE_C_LID), &wanted), WF_SA_NO_RECORDS);
	assert_int_equal(sanet_table(s, WF_SA_NODE, M(WF_NODE_C_LID), &wanted), 0);
	/* What stands behind a text's end does not matter. */
	memcpy(wanted.description.text, "leaf 1\0junk", 11);
	assert_int_equal(sanet_get(s, WF_SA_NODE, M(WF_NODE_C_DESCRIPTION), &wanted), 0);
	sanet_record(s, 0, &r);
	assert_string_equal((const char *)r.description.text, "leaf 1");
	wanted.info.port_guid = sanet_guid(s, 7);
	assert_int_equal(sanet_get(s, WF_SA_NODE, M(WF_NODE_C_PORT_GUID), &wanted), 0);
	sanet_record(s, 0, &r);
	assert_int_equal(r.lid, net_lid(s->net, 7));
	sanet_free(s);
}

static void test_lmc(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_node_record r, wanted = { 0 };
	struct sanet *s;

	(void)state;
	cfg.lmc = 2;
	s = up(cfg);
	for (unsigned i = 0; i < 4; i++) {
		wanted.lid = (uint16_t)(net_lid(s->net, 3) + i);
		assert_int_equal(sanet_get(s, WF_SA_NODE, M(WF_NODE_C_LID), &wanted), 0);
		sanet_record(s, 0, &r);
		assert_int_equal(r.lid, net_lid(s->net, 3));
	}
	sanet_free(s);
}

static void test_ports(void **state)
{
	struct sanet *s = up(net_cfg());
	struct wf_port_info_record r, wanted = { 0 };
	unsigned n;

	(void)state;
	/* 12 adapters' ports; 4 leaves with 5 and 2 spines with 4, and each switch's own */
	assert_int_equal(sanet_table(s, WF_SA_PORT_INFO, 0, NULL), 12 + 4 * 6 + 2 * 5);
	n = s->n;
	for (unsigned i = 0; i < n; i++) {
		unsigned port;
		const struct wf_sma *sma;
		struct wf_port_info info;

		sanet_record(s, i, &r);
		sma = sma_at(s, r.lid, &port);
		info = *wf_sma_port(sma, r.port);
		if (info.link_speed_ext_active != 0) {
			info.link_speed_supported |= 4;
			info.link_speed_enabled |= 4;
			info.link_speed_active |= 4;
		}
		info.client_reregister = r.info.client_reregister;
		info.local_port_num = r.info.local_port_num; /* by which it was asked */
		assert_same(&wf_port_info_layout, &info, &r.info);
	}
	wanted.lid = net_lid(s->net, 12);
	assert_int_equal(sanet_table(s, WF_SA_PORT_INFO, M(WF_PORT_INFO_C_LID), &wanted), 6);
	wanted.port = 3;
	assert_int_equal(sanet_get(s, WF_SA_PORT_INFO,
	                           M(WF_PORT_INFO_C_LID) | M(WF_PORT_INFO_C_PORT), &wanted),
	                 0);
	sanet_record(s, 0, &r);
	assert_int_equal(r.port, 3);
	/* With the option it is as it is. */
	wanted.options = 0x80;
	assert_int_equal(sanet_get(s, WF_SA_PORT_INFO,
	                           M(WF_PORT_INFO_C_LID) | M(WF_PORT_INFO_C_PORT) |
	                                   M(WF_PORT_INFO_C_OPTIONS),
	                           &wanted),
	                 0);
	sanet_record(s, 0, &r);
	assert_int_equal(r.options, 0x80);
	/* The manager's is the one port with a manager, bit by bit. */
	s->mod = WF_PORT_INFO_MATCH_CAP_MASK;
	wanted.info.capability_mask = WF_CAP_SM;
	assert_int_equal(sanet_get(s, WF_SA_PORT_INFO, M(WF_PORT_INFO_C_CAPABILITY_MASK), &wanted),
	                 0);
	sanet_record(s, 0, &r);
	assert_int_equal(r.lid, wf_sm_lid(s->m->sm));
	s->mod = 0;
	assert_int_equal(sanet_get(s, WF_SA_PORT_INFO, M(WF_PORT_INFO_C_CAPABILITY_MASK), &wanted),
	                 WF_SA_NO_RECORDS);
	sanet_free(s);
}

/* Keys of ports are for who has the manager's. */
static void test_m_key(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_port_info_record r, wanted = { 0 };
	struct sanet *s;

	(void)state;
	(void)snprintf(cfg.m_key, sizeof(cfg.m_key), "0x1234");
	s = up(cfg);
	wanted.lid = net_lid(s->net, 4);
	wanted.info.mkey = 0x1234;
	assert_int_equal(sanet_get(s, WF_SA_PORT_INFO, M(WF_PORT_INFO_C_LID), &wanted), 0);
	sanet_record(s, 0, &r);
	assert_int_equal(r.info.mkey, 0);
	/* ... and is not guessed, either. */
	assert_int_equal(sanet_table(s, WF_SA_PORT_INFO, M(WF_PORT_INFO_C_INFO), &wanted), 0);
	s->key = 1;
	assert_int_equal(sanet_get(s, WF_SA_PORT_INFO, M(WF_PORT_INFO_C_LID), &wanted), 0);
	sanet_record(s, 0, &r);
	assert_int_equal(r.info.mkey, 0x1234);
	sanet_free(s);
}

static void test_switches(void **state)
{
	struct sanet *s = up(net_cfg());
	struct wf_switch_info_record r;
	struct wf_guid_info_record guids, wanted = { 0 };
	unsigned port;

	(void)state;
	assert_int_equal(sanet_table(s, WF_SA_SWITCH_INFO, 0, NULL), 6);
	for (unsigned i = 0; i < 6; i++) {
		struct wf_switch_info is;

		sanet_record(s, i, &r);
		is = *wf_sma_switch(sma_at(s, r.lid, &port));
		is.port_state_change = r.info.port_state_change;
		assert_same(&wf_switch_info_layout, &is, &r.info);
	}
	assert_true(sanet_table(s, WF_SA_GUID_INFO, 0, NULL) >= 18);
	wanted.lid = net_lid(s->net, 2);
	assert_int_equal(sanet_get(s, WF_SA_GUID_INFO,
	                           M(WF_GUID_INFO_C_LID) | M(WF_GUID_INFO_C_BLOCK), &wanted),
	                 0);
	sanet_record(s, 0, &guids);
	assert_int_equal(guids.info.guid[0], sanet_guid(s, 2));
	assert_int_equal(guids.info.guid[1], 0);
	wanted.block = 200;
	assert_int_equal(sanet_get(s, WF_SA_GUID_INFO,
	                           M(WF_GUID_INFO_C_LID) | M(WF_GUID_INFO_C_BLOCK), &wanted),
	                 WF_SA_NO_RECORDS);
	sanet_free(s);
}

static void test_links(void **state)
{
	struct sanet *s = up(net_cfg());
	struct wf_link_record r, wanted = { 0 };

	(void)state;
	assert_int_equal(sanet_table(s, WF_SA_LINK, 0, NULL), 2 * (12 + 8));
	for (unsigned i = 0; i < 40; i++) {
		uint32_t index;
		const struct wf_subnet_port *peer;
		uint32_t node = WF_SUBNET_NONE, far = WF_SUBNET_NONE;

		sanet_record(s, i, &r);
		for (uint32_t n = 0; n < s->net->topo->n_nodes; n++) {
			node = net_lid(s->net, n) == r.from_lid ? n : node;
			far = net_lid(s->net, n) == r.to_lid ? n : far;
		}
		assert_int_not_equal(node, WF_SUBNET_NONE);
		index = s->net->topo->nodes[node].first_port + r.from_port;
		peer = wf_subnet_peer(s->net->topo, &s->net->topo->ports[index]);
		assert_int_equal(peer->node, far);
		assert_int_equal(wf_subnet_number(s->net->topo, peer), r.to_port);
	}
	wanted.from_lid = net_lid(s->net, 12);
	assert_int_equal(sanet_table(s, WF_SA_LINK, M(WF_LINK_C_FROM_LID), &wanted), 5);
	wanted.to_lid = net_lid(s->net, 1);
	assert_int_equal(
		sanet_get(s, WF_SA_LINK, M(WF_LINK_C_FROM_LID) | M(WF_LINK_C_TO_LID), &wanted), 0);
	wanted.to_port = 2;
	assert_int_equal(
		sanet_table(s, WF_SA_LINK, M(WF_LINK_C_TO_LID) | M(WF_LINK_C_TO_PORT), &wanted), 0);
	sanet_free(s);
}

static void test_managers(void **state)
{
	struct sanet *s = up(net_cfg());
	struct wf_sm_cfg lower = net_cfg();
	struct wf_sm_info_record r, wanted = { .info = { .sm_state = WF_SM_STANDBY } };

	(void)state;
	(void)net_manage(s->net, 9, &lower);
	sanet_run(s, s->net->now + 11 * WF_S);
	wf_sm_resweep(s->m->sm, true, s->net->now);
	net_pump(s->net, s->m);
	assert_true(net_run_up(s->net, s->m, WF_S));
	assert_int_equal(sanet_table(s, WF_SA_SM_INFO, 0, NULL), 2);
	assert_int_equal(sanet_get(s, WF_SA_SM_INFO, M(WF_SM_INFO_C_STATE), &wanted), 0);
	sanet_record(s, 0, &r);
	assert_int_equal(r.lid, net_lid(s->net, 9));
	assert_int_equal(r.info.guid, sanet_guid(s, 9));
	assert_int_equal(r.info.sm_key, 0);
	wanted.lid = net_lid(s->net, 0);
	assert_int_equal(sanet_get(s, WF_SA_SM_INFO, M(WF_SM_INFO_C_LID), &wanted), 0);
	sanet_record(s, 0, &r);
	assert_int_equal(r.info.sm_state, WF_SM_MASTER);
	sanet_free(s);
}

/* ---- tables ---- */

static void test_linear_tables(void **state)
{
	struct sanet *s = up(net_cfg());
	struct wf_linear_ft_record r, wanted = { .block = 1 };
	unsigned port;

	(void)state;
	assert_int_equal(sanet_table(s, WF_SA_LINEAR_FT, 0, NULL), 6);
	for (unsigned i = 0; i < 6; i++) {
		const struct wf_sma *sma;

		sanet_record(s, i, &r);
		sma = sma_at(s, r.lid, &port);
		for (unsigned lid = 0; lid < 64; lid++)
			assert_int_equal(r.table.port[lid], wf_sma_lft(sma, (uint16_t)lid));
	}
	assert_int_equal(sanet_table(s, WF_SA_LINEAR_FT, M(WF_LINEAR_FT_C_BLOCK), &wanted), 0);
	sanet_free(s);
}

static void test_pkeys(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_pkey_table_record r, wanted = { 0 };
	struct sanet *s;

	(void)state;
	cfg.partitions = "Default=0x7fff:ALL=full;a=0x10:ALL_CAS=full;";
	s = up(cfg);
	assert_int_equal(sanet_get(s, WF_SA_PKEY_TABLE, 0, NULL), WF_SA_REQ_INVALID);
	s->key = 1;
	assert_true(sanet_table(s, WF_SA_PKEY_TABLE, 0, NULL) >= 18);
	for (unsigned i = 0; i < s->n; i++) {
		unsigned port;
		const struct wf_sma *sma;

		sanet_record(s, i, &r);
		sma = sma_at(s, r.lid, &port);
		for (unsigned k = 0; k < WF_PKEYS_PER_BLOCK; k++)
			assert_int_equal(r.table.pkey[k],
			                 wf_sma_pkey(sma, r.port, r.block * 32u + k));
	}
	wanted.lid = net_lid(s->net, 3);
	assert_int_equal(sanet_get(s, WF_SA_PKEY_TABLE,
	                           M(WF_PKEY_TABLE_C_LID) | M(WF_PKEY_TABLE_C_BLOCK), &wanted),
	                 0);
	sanet_free(s);
}

static void check_lanes(bool qos)
{
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_sl_to_vl_record map;
	struct wf_vl_arb_record arb;
	struct sanet *s;
	unsigned port;

	cfg.qos = qos;
	s = up(cfg);
	/* An adapter has one, a switch of n ports (n + 1) squared. */
	assert_int_equal(sanet_table(s, WF_SA_SL_TO_VL, 0, NULL), 12 + 4 * 36 + 2 * 25);
	for (unsigned i = 0; i < s->n; i++) {
		const struct wf_sma *sma;

		sanet_record(s, i, &map);
		sma = sma_at(s, map.lid, &port);
		for (uint8_t sl = 0; sl < WF_SLS; sl++) {
			if (!qos)
				assert_int_equal(map.table.vl[sl], 0);
			else if (port == 1 || map.out_port != 0)
				assert_int_equal(map.table.vl[sl],
				                 wf_sma_vl(sma, port == 1 ? 0 : map.in_port,
				                           port == 1 ? 1 : map.out_port, sl));
		}
	}
	assert_int_equal(sanet_table(s, WF_SA_VL_ARB, 0, NULL), 4 * (12 + 4 * 6 + 2 * 5));
	for (unsigned i = 0; i < s->n; i++) {
		const struct wf_sma *sma;

		sanet_record(s, i, &arb);
		sma = sma_at(s, arb.lid, &port);
		for (unsigned k = 0; k < WF_VL_ARB_PER_BLOCK && arb.port != 0; k++) {
			struct wf_vl_arb_entry is = wf_sma_vl_arb(
				sma, arb.port, arb.block > 2, k + (arb.block % 2 == 0 ? 32 : 0));

			assert_int_equal(arb.table.entry[k].vl, qos ? is.vl : 0);
			assert_int_equal(arb.table.entry[k].weight, qos ? is.weight : 0);
		}
	}
	sanet_free(s);
}

static void test_lanes(void **state)
{
	(void)state;
	check_lanes(false);
	check_lanes(true);
}

/* A port is only told of to those with whom it shares a partition. */
static void test_partitions_hide(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	char text[512];
	struct wf_subnet *topo = net_fat_tree(4, 3, 2);
	struct sanet *s;

	(void)state;
	/* Hosts 0 to 5 in one, 6 to 11 in the other; nobody but the manager is a full member */
	(void)snprintf(text, sizeof(text), "Default=0x7fff:ALL=limited,SELF=full;a=0x10:");
	for (unsigned i = 3; i < 6; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "0x%llx=full,",
		               (unsigned long long)wf_subnet_port(topo, i, 1)->guid);
	(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), ";");
	cfg.partitions = text;
	s = sanet_up(net_new_of(topo), &cfg);
	assert_int_equal(sanet_table(s, WF_SA_NODE, 0, NULL), 18); /* the manager's port */
	s->lid = net_lid(s->net, 4);
	assert_int_equal(sanet_table(s, WF_SA_NODE, 0, NULL), 1 + 3);
	s->lid = net_lid(s->net, 8);
	assert_int_equal(sanet_table(s, WF_SA_NODE, 0, NULL), 1 + 1); /* and itself */
	assert_int_equal(sanet_table(s, WF_SA_SWITCH_INFO, 0, NULL), 0);
	assert_int_equal(sanet_table(s, WF_SA_LINEAR_FT, 0, NULL), 0);
	sanet_free(s);
}

/* Long answers survive what gets lost. */
static void test_lost_segments(void **state)
{
	struct sanet *s = up(net_cfg());

	(void)state;
	for (unsigned lost = 1; lost <= 20; lost++) {
		s->drop = lost;
		assert_int_equal(sanet_ask(s, WF_MAD_METHOD_GET_TABLE, WF_SA_NODE, 0, NULL),
		                 lost <= 11 ? -1 : 0);
		s->drop = 0;
		sanet_run(s, s->net->now + 5 * WF_S);
		assert_int_equal(s->n, 18);
	}
	sanet_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_up),          cmocka_unit_test(test_keys_and_strangers),
		cmocka_unit_test(test_methods),         cmocka_unit_test(test_class_port_info),
		cmocka_unit_test(test_nodes),           cmocka_unit_test(test_lmc),
		cmocka_unit_test(test_ports),           cmocka_unit_test(test_m_key),
		cmocka_unit_test(test_switches),        cmocka_unit_test(test_links),
		cmocka_unit_test(test_managers),        cmocka_unit_test(test_linear_tables),
		cmocka_unit_test(test_pkeys),           cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_partitions_hide), cmocka_unit_test(test_lost_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
