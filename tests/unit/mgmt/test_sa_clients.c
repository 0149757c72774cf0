/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sa_clients.c - subnet administration's paths, groups, services and subscriptions: what
 * clients register, what becomes of it when ports and managers go, and when memory runs out.
 */
#include "sanet.h"

#include "../mem_fail.h"
#include "subnet/tables.h"
#include "wire/ib_rate.h"

#define M(c) WF_COMPONENT(c)
#define JOIN (M(WF_MC_C_MGID) | M(WF_MC_C_PORT_GID) | M(WF_MC_C_JOIN_STATE))
#define CREATE                                                                                     \
	(JOIN | M(WF_MC_C_QKEY) | M(WF_MC_C_TCLASS) | M(WF_MC_C_PKEY) | M(WF_MC_C_FLOW_LABEL) |    \
	 M(WF_MC_C_SL))
#define GIDS (M(WF_PATH_C_SGID) | M(WF_PATH_C_DGID))

static struct sanet *up(struct wf_sm_cfg cfg)
{
	return sanet_up(net_new_of(net_fat_tree(4, 3, 2)), &cfg);
}

static struct wf_path_record between(const struct sanet *s, uint32_t a, uint32_t b)
{
	struct wf_path_record r = { 0 };

	sanet_gid(sanet_guid(s, a), r.sgid);
	sanet_gid(sanet_guid(s, b), r.dgid);
	return r;
}

/* ---- paths ---- */

/* A path leads to its DLID, and has the MTU and rate of the links on it. */
static void test_paths(void **state)
{
	struct sanet *s = up(net_cfg());
	struct wf_path_record r;

	(void)state;
	assert_int_equal(sanet_table(s, WF_SA_PATH, 0, NULL), 18 * 18);
	for (unsigned i = 0; i < 18 * 18; i++) {
		uint32_t from = WF_SUBNET_NONE;

		sanet_record(s, i, &r);
		for (uint32_t h = 0; h < 12; h++)
			from = net_lid(s->net, h) == r.slid ? h : from;
		assert_true(r.reversible);
		assert_int_equal(r.numb_path, 0);
		assert_int_equal(r.pkey, 0xffff);
		assert_int_equal(r.mtu_selector, WF_SA_EXACTLY);
		assert_int_equal(r.life, r.slid == r.dlid ? 0 : 18);
		if (from == WF_SUBNET_NONE || r.slid == r.dlid)
			continue;
		for (uint32_t h = 0; h < 12; h++) {
			if (net_lid(s->net, h) != r.dlid)
				continue;
			assert_true(net_walk(s->net, from, r.dlid) > 0);
			assert_int_equal(r.mtu, 4);
			assert_int_equal(wf_ib_rate_decode(r.rate), UINT64_C(400000000000));
		}
	}
	sanet_free(s);
}

/* The least of what is on the way. */
static void test_narrow_path(void **state)
{
	struct net *net = net_new_of(net_fat_tree(2, 2, 1));
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_path_record r, wanted;
	struct sanet *s;

	(void)state;
	net->small = net->topo->n_nodes - 1; /* the spine, which starts once more as it is */
	net_kill(net, net->small, true);
	net_kill(net, net->small, false);
	s = sanet_up(net, &cfg);
	wanted = between(s, 0, 1);
	assert_int_equal(sanet_get(s, WF_SA_PATH, GIDS, &wanted), 0);
	sanet_record(s, 0, &r);
	assert_int_equal(r.mtu, 4);
	wanted = between(s, 0, 3);
	assert_int_equal(sanet_get(s, WF_SA_PATH, GIDS, &wanted), 0);
	sanet_record(s, 0, &r);
	assert_int_equal(r.mtu, 3);
	/* What is more than there is, is not there. */
	wanted.mtu_selector = WF_SA_GREATER;
	wanted.mtu = 3;
	assert_int_equal(sanet_get(s, WF_SA_PATH,
	                           GIDS | M(WF_PATH_C_MTU) | M(WF_PATH_C_MTU_SELECTOR), &wanted),
	                 WF_SA_NO_RECORDS);
	sanet_free(s);
}

/* Each pair of LIDs once; those without a LID in common first. */
static void test_path_lids(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_path_record r, wanted;
	struct sanet *s;
	uint32_t seen = 0;

	(void)state;
	cfg.lmc = 2;
	s = up(cfg);
	wanted = between(s, 1, 11);
	assert_int_equal(sanet_table(s, WF_SA_PATH, GIDS, &wanted), 16);
	for (unsigned i = 0; i < 16; i++) {
		unsigned a, b;

		sanet_record(s, i, &r);
		a = r.slid - net_lid(s->net, 1);
		b = r.dlid - net_lid(s->net, 11);
		assert_true(a < 4 && b < 4);
		seen |= 1u << (4 * a + b);
		assert_int_equal(r.preference, a == b ? 0 : 2);
		assert_int_equal(a == b, i < 4);
	}
	assert_int_equal(seen, 0xffff);
	wanted.numb_path = 5;
	assert_int_equal(sanet_table(s, WF_SA_PATH, GIDS | M(WF_PATH_C_NUMB_PATH), &wanted), 5);
	sanet_free(s);
}

/* dfsssp's service levels are those of the tables. */
static void test_path_levels(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_path_record r;
	unsigned levels = 0;
	struct sanet *s;

	(void)state;
	(void)snprintf(cfg.routing_engine, sizeof(cfg.routing_engine), "dfsssp");
	s = sanet_up(net_new_of(net_ring(8, 2)), &cfg);
	assert_int_equal(sanet_table(s, WF_SA_PATH, 0, NULL), 24 * 24);
	for (unsigned i = 0; i < s->n; i++) {
		const struct wf_sm_view *view = wf_sm_view(s->m->sm);
		const struct wf_subnet_port *port;
		uint32_t node;

		sanet_record(s, i, &r);
		port = &view->subnet->ports[wf_subnet_by_lid(view->subnet, r.slid)];
		node = wf_subnet_is_switch(view->subnet, port->node) ? port->node : port->peer;
		assert_int_equal(r.sl,
		                 wf_tables_sl(view->tables, view->subnet->nodes[node].sw, r.dlid));
		levels |= 1u << r.sl;
	}
	assert_int_not_equal(levels, 1);
	sanet_free(s);
}

/* ---- groups ---- */

static const uint8_t mgid[16] = { 0xff, 0x15, 0xa0, 0x1b, [15] = 0x42 };

static struct wf_mc_member_record member(const struct sanet *s, uint32_t host, uint8_t join_state)
{
	struct wf_mc_member_record r = { .qkey = 0x11, .pkey = 0xffff, .join_state = join_state };

	memcpy(r.mgid, mgid, sizeof(r.mgid));
	sanet_gid(sanet_guid(s, host), r.port_gid);
	return r;
}

/* As the host itself; how is the request's mask. */
static int join(struct sanet *s, uint32_t host, uint8_t join_state, uint64_t how)
{
	struct wf_mc_member_record r = member(s, host, join_state);

	s->lid = net_lid(s->net, host);
	return sanet_ask(s, WF_MAD_METHOD_SET, WF_SA_MC_MEMBER, how, &r);
}

static int leave(struct sanet *s, uint32_t host, uint8_t join_state)
{
	struct wf_mc_member_record r = member(s, host, join_state);

	s->lid = net_lid(s->net, host);
	return sanet_ask(s, WF_MAD_METHOD_DELETE, WF_SA_MC_MEMBER, JOIN, &r);
}

/* Hosts that a packet to the group reaches from one of them, by what switches have. */
static unsigned reach(const struct net *net, uint32_t from, uint16_t mlid)
{
	uint32_t at[64], n = 1;
	uint8_t in[64];
	unsigned reached = 0;

	at[0] = wf_subnet_port(net->topo, from, 1)->peer;
	in[0] = wf_subnet_port(net->topo, from, 1)->peer_port;
	while (n > 0) {
		uint32_t sw = at[--n];
		uint8_t by = in[n];

		for (unsigned p = 1; p <= net->topo->nodes[sw].n_ports; p++) {
			const struct wf_subnet_port *port = wf_subnet_port(net->topo, sw, p);

			if (p == by || !wf_sma_mft(net->nodes[sw].sma, mlid, p))
				continue;
			if (wf_subnet_is_switch(net->topo, port->peer)) {
				assert_true(n < 64);
				at[n] = port->peer;
				in[n++] = port->peer_port;
			} else {
				assert_int_equal(reached >> port->peer & 1, 0);
				reached |= 1u << port->peer;
			}
		}
	}
	return reached;
}

static void test_join_and_leave(void **state)
{
	struct sanet *s = up(net_cfg());
	struct wf_mc_member_record r;
	uint16_t mlid;

	(void)state;
	assert_int_equal(join(s, 1, WF_MC_FULL_MEMBER, JOIN), WF_SA_INSUFFICIENT_COMPONENTS);
	assert_int_equal(join(s, 1, WF_MC_NON_MEMBER, CREATE), WF_SA_REQ_INVALID);
	assert_int_equal(join(s, 1, WF_MC_FULL_MEMBER, CREATE & ~M(WF_MC_C_MGID)),
	                 WF_SA_INSUFFICIENT_COMPONENTS);
	assert_int_equal(join(s, 1, WF_MC_FULL_MEMBER, CREATE), 0);
	sanet_record(s, 0, &r);
	mlid = r.mlid;
	assert_int_equal(mlid, WF_LID_MULTICAST + 1); /* behind the broadcast group */
	assert_int_equal(r.mtu, 4);
	assert_int_equal(wf_ib_rate_decode(r.rate), UINT64_C(400000000000));
	assert_int_equal(join(s, 5, WF_MC_FULL_MEMBER, JOIN), 0);
	assert_int_equal(join(s, 8, WF_MC_NON_MEMBER, JOIN), 0);
	assert_int_equal(join(s, 11, WF_MC_SEND_ONLY_NON_MEMBER, JOIN), 0);
	sanet_run(s, s->net->now + WF_S);
	assert_int_equal(reach(s->net, 1, mlid), 1u << 5 | 1u << 8 | 1u << 11);
	assert_int_equal(reach(s->net, 8, mlid), 1u << 1 | 1u << 5 | 1u << 11);
	/* Only a member may leave, with what it has joined as, and nobody else for it. */
	assert_int_equal(leave(s, 5, WF_MC_NON_MEMBER), WF_SA_REQ_INVALID);
	assert_int_equal(leave(s, 6, WF_MC_FULL_MEMBER), WF_SA_REQ_INVALID);
	r = member(s, 5, WF_MC_FULL_MEMBER);
	s->lid = net_lid(s->net, 6);
	assert_int_equal(sanet_ask(s, WF_MAD_METHOD_DELETE, WF_SA_MC_MEMBER, JOIN, &r),
	                 WF_SA_REQ_INVALID);
	assert_int_equal(leave(s, 5, WF_MC_FULL_MEMBER), 0);
	sanet_run(s, s->net->now + WF_S);
	assert_int_equal(reach(s->net, 1, mlid), 1u << 8 | 1u << 11);
	/* With its last full member a group goes, and its LID is free. */
	assert_int_equal(leave(s, 1, WF_MC_FULL_MEMBER), 0);
	sanet_run(s, s->net->now + WF_S);
	assert_int_equal(reach(s->net, 1, mlid), 0);
	assert_int_equal(leave(s, 8, WF_MC_NON_MEMBER), WF_SA_REQ_INVALID);
	assert_int_equal(join(s, 9, WF_MC_FULL_MEMBER, CREATE), 0);
	sanet_record(s, 0, &r);
	assert_int_equal(r.mlid, mlid);
	sanet_free(s);
}

/* For whom somebody else has joined, whoever is in the partition may leave. */
static void test_proxy(void **state)
{
	struct sanet *s = up(net_cfg());
	struct wf_mc_member_record r = member(s, 3, WF_MC_FULL_MEMBER);

	(void)state;
	s->lid = net_lid(s->net, 4);
	assert_int_equal(sanet_ask(s, WF_MAD_METHOD_SET, WF_SA_MC_MEMBER, CREATE, &r), 0);
	s->lid = net_lid(s->net, 7);
	assert_int_equal(sanet_ask(s, WF_MAD_METHOD_DELETE, WF_SA_MC_MEMBER, JOIN, &r), 0);
	sanet_free(s);
}

/* Who is in a group is for those with the key; groups of other partitions are nobody's business. */
static void test_groups_of_partitions(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_subnet *topo = net_fat_tree(4, 3, 2);
	char text[400];
	struct wf_mc_member_record r;
	struct sanet *s;

	(void)state;
	(void)snprintf(text, sizeof(text),
	               "Default=0x7fff,ipoib:ALL=full;a=0x10,ipoib,mtu=3:\n"
	               "mgid=ff15:a01b::1,Q_Key=7,scope=5\n0x%llx=full,0x%llx=full;",
	               (unsigned long long)wf_subnet_port(topo, 3, 1)->guid,
	               (unsigned long long)wf_subnet_port(topo, 4, 1)->guid);
	cfg.partitions = text;
	s = sanet_up(net_new_of(topo), &cfg);
	assert_int_equal(sanet_table(s, WF_SA_MC_MEMBER, 0, NULL), 1);
	s->lid = net_lid(s->net, 3);
	assert_int_equal(sanet_table(s, WF_SA_MC_MEMBER, 0, NULL), 3);
	/* They are there without members; those come and go, and the group stays. */
	r = member(s, 3, WF_MC_FULL_MEMBER);
	memset(r.mgid, 0, sizeof(r.mgid));
	memcpy(r.mgid, "\xff\x15\xa0\x1b", 4);
	r.mgid[15] = 1;
	assert_int_equal(sanet_ask(s, WF_MAD_METHOD_SET, WF_SA_MC_MEMBER, JOIN, &r), 0);
	s->key = 1;
	assert_int_equal(sanet_table(s, WF_SA_MC_MEMBER, 0, NULL), 1);
	sanet_record(s, 0, &r);
	assert_int_equal(wf_be64_get(r.port_gid + 8), sanet_guid(s, 3));
	assert_int_equal(r.qkey, 7);
	s->key = 0;
	sanet_table(s, WF_SA_MC_MEMBER, M(WF_MC_C_MGID), &r);
	sanet_record(s, 0, &r);
	assert_int_equal(wf_be64_get(r.port_gid + 8), 0);
	/* Who is not in the partition cannot join. */
	sanet_gid(sanet_guid(s, 9), r.port_gid);
	r.join_state = WF_MC_FULL_MEMBER;
	s->lid = net_lid(s->net, 9);
	assert_int_equal(sanet_ask(s, WF_MAD_METHOD_SET, WF_SA_MC_MEMBER, JOIN, &r),
	                 WF_SA_REQ_INVALID);
	s->lid = net_lid(s->net, 3);
	sanet_gid(sanet_guid(s, 3), r.port_gid);
	assert_int_equal(sanet_ask(s, WF_MAD_METHOD_DELETE, WF_SA_MC_MEMBER, JOIN, &r), 0);
	assert_int_equal(sanet_table(s, WF_SA_MC_MEMBER, 0, NULL), 3);
	sanet_free(s);
}

/* ---- services ---- */

static void test_leases(void **state)
{
	struct sanet *s = up(net_cfg());
	struct wf_service_record r = { .service_id = 0x77, .pkey = 0xffff, .lease = 30 }, has;
	uint64_t mask = M(WF_SERVICE_C_ID) | M(WF_SERVICE_C_GID) | M(WF_SERVICE_C_PKEY) |
	                M(WF_SERVICE_C_LEASE);

	(void)state;
	sanet_gid(sanet_guid(s, 2), r.gid);
	assert_int_equal(sanet_ask(s, WF_MAD_METHOD_SET, WF_SA_SERVICE, mask, &r), 0);
	r.service_id = 0x78;
	assert_int_equal(
		sanet_ask(s, WF_MAD_METHOD_SET, WF_SA_SERVICE, mask & ~M(WF_SERVICE_C_LEASE), &r),
		0);
	assert_int_equal(sanet_table(s, WF_SA_SERVICE, 0, NULL), 2);
	sanet_run(s, s->net->now + 29 * WF_S);
	r.service_id = 0x77;
	assert_int_equal(sanet_get(s, WF_SA_SERVICE, M(WF_SERVICE_C_ID), &r), 0);
	sanet_record(s, 0, &has);
	assert_int_equal(has.lease, 1);
	/* Registered again, it begins anew. */
	assert_int_equal(sanet_ask(s, WF_MAD_METHOD_SET, WF_SA_SERVICE, mask, &r), 0);
	sanet_run(s, s->net->now + 20 * WF_S);
	assert_int_equal(sanet_get(s, WF_SA_SERVICE, M(WF_SERVICE_C_ID), &r), 0);
	sanet_run(s, s->net->now + 11 * WF_S);
	assert_int_equal(sanet_get(s, WF_SA_SERVICE, M(WF_SERVICE_C_ID), &r), WF_SA_NO_RECORDS);
	assert_int_equal(sanet_table(s, WF_SA_SERVICE, 0, NULL), 1);
	sanet_free(s);
}

/* ---- subscriptions ---- */

static int subscribe(struct sanet *s, uint32_t host, uint16_t trap, uint8_t on)
{
	const struct wf_inform_info info = {
		.lid_range_begin = 0xffff,
		.is_generic = 1,
		.subscribe = on,
		.type = 0xffff,
		.trap_number = trap,
		.qpn = on ? 0 : 1,
		.producer_type = 0xffffff,
	};

	s->lid = net_lid(s->net, host);
	return sanet_ask(s, WF_MAD_METHOD_SET, WF_SA_INFORM_INFO, 0, &info);
}

static bool reported(const struct sanet *s, unsigned i, uint16_t trap, uint64_t guid)
{
	struct wf_trap_gid about;

	if (i >= s->n_reports || s->reports[i].notice.trap_number != trap)
		return false;
	wf_trap_gid_decode(s->reports[i].notice.details, &about);
	return guid == 0 || wf_be64_get(about.gid + 8) == guid;
}

/* A host goes and comes back: subscribers are told, and what it had registered is gone. */
static void test_ports_go(void **state)
{
	struct sanet *s = up(net_cfg());
	struct wf_service_record service = { .service_id = 1, .pkey = 0xffff };
	struct wf_sa_stats stats;
	uint64_t guid = sanet_guid(s, 4);

	(void)state;
	assert_int_equal(subscribe(s, 2, 0xffff, 1), 0);
	assert_int_equal(subscribe(s, 4, 0xffff, 1), 0);
	assert_int_equal(join(s, 4, WF_MC_FULL_MEMBER, CREATE), 0);
	assert_int_equal(s->n_reports, 2); /* the group is there: both know */
	assert_true(reported(s, 0, WF_TRAP_MGID_CREATED, 0));
	sanet_gid(guid, service.gid);
	assert_int_equal(sanet_ask(s, WF_MAD_METHOD_SET, WF_SA_SERVICE,
	                           M(WF_SERVICE_C_ID) | M(WF_SERVICE_C_GID) | M(WF_SERVICE_C_PKEY),
	                           &service),
	                 0);
	wf_sa_stats(s->sa, &stats);
	assert_int_equal(stats.groups, 2);
	assert_int_equal(stats.members, 1);
	assert_int_equal(stats.services, 1);
	assert_int_equal(stats.subscriptions, 2);
	s->n_reports = 0;
	net_kill(s->net, 4, true);
	sanet_run(s, s->net->now + 2 * WF_S);
	wf_sa_stats(s->sa, &stats);
	assert_int_equal(stats.groups, 1);
	assert_int_equal(stats.members, 0);
	assert_int_equal(stats.services, 0);
	assert_int_equal(stats.subscriptions, 1);
	assert_int_equal(stats.reports_lost, 0);
	/* The link's state, for the lost one as well; the port; and the group that went with it. */
	assert_int_equal(s->n_reports, 4);
	assert_int_equal(s->reports[0].notice.trap_number, WF_TRAP_LINK_STATE);
	assert_int_equal(s->reports[1].notice.trap_number, WF_TRAP_LINK_STATE);
	assert_true(reported(s, 2, WF_TRAP_GID_OUT_OF_SERVICE, guid));
	assert_true(reported(s, 3, WF_TRAP_MGID_DESTROYED, 0));
	s->n_reports = 0;
	net_kill(s->net, 4, false);
	sanet_run(s, s->net->now + 2 * WF_S);
	assert_true(reported(s, s->n_reports - 1, WF_TRAP_GID_IN_SERVICE, guid));
	assert_int_equal(s->net->nodes[4].reregistered, 1);
	/* Who has ended it is told no more. */
	assert_int_equal(subscribe(s, 2, 0xffff, 0), 0);
	assert_int_equal(subscribe(s, 2, 0xffff, 0), WF_SA_REQ_INVALID);
	s->n_reports = 0;
	assert_int_equal(join(s, 5, WF_MC_FULL_MEMBER, CREATE), 0);
	assert_int_equal(s->n_reports, 0);
	sanet_free(s);
}

/* A report that nobody acknowledges is sent again, and given up. */
static void test_report_retries(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	struct wf_sa_stats stats;
	struct sanet *s;

	(void)state;
	cfg.transaction_retries = 3;
	s = up(cfg);
	assert_int_equal(subscribe(s, 2, WF_TRAP_MGID_CREATED, 1), 0);
	s->silent = true;
	assert_int_equal(join(s, 4, WF_MC_FULL_MEMBER, CREATE), 0);
	assert_int_equal(s->n_reports, 1);
	sanet_run(s, s->net->now + 5 * WF_S);
	assert_int_equal(s->n_reports, 4);
	wf_sa_stats(s->sa, &stats);
	assert_int_equal(stats.reports, 1);
	assert_int_equal(stats.reports_lost, 1);
	/* Traps of security are for who is trusted. */
	assert_int_equal(subscribe(s, 2, WF_TRAP_BAD_PKEY, 1), WF_SA_REQ_INVALID);
	s->key = 1;
	assert_int_equal(subscribe(s, 2, WF_TRAP_BAD_PKEY, 1), 0);
	sanet_free(s);
}

/* ---- another manager ---- */

/* It steps back: all is forgotten, and clients are told so by the next one. */
static void test_handover(void **state)
{
	struct wf_sm_cfg cfg = net_cfg(), higher = net_cfg();
	struct wf_sa_stats stats;
	struct net_manager *other;
	struct sanet *s;

	(void)state;
	higher.priority = 5;
	s = up(cfg);
	assert_int_equal(subscribe(s, 2, 0xffff, 1), 0);
	assert_int_equal(join(s, 4, WF_MC_FULL_MEMBER, CREATE), 0);
	assert_int_equal(join(s, 8, WF_MC_FULL_MEMBER, JOIN), 0);
	sanet_run(s, s->net->now + WF_S);
	other = net_manage(s->net, 9, &higher);
	sanet_run(s, s->net->now + 60 * WF_S);
	assert_int_equal(wf_sm_state(s->m->sm), WF_SM_STANDBY);
	assert_int_equal(wf_sm_state(other->sm), WF_SM_MASTER);
	wf_sa_stats(s->sa, &stats);
	assert_int_equal(stats.groups + stats.members + stats.subscriptions, 0);
	assert_int_equal(join(s, 4, WF_MC_FULL_MEMBER, CREATE), -1);
	assert_true(s->net->nodes[4].reregistered >= 1);
	sanet_free(s);
}

/* ---- memory ---- */

/* A session of everything; whatever is refused, it goes on. */
static void session(struct sanet *s)
{
	static const uint16_t attrs[] = { WF_SA_NODE,        WF_SA_PORT_INFO, WF_SA_LINK,
		                          WF_SA_PATH,        WF_SA_LINEAR_FT, WF_SA_MC_MEMBER,
		                          WF_SA_SWITCH_INFO, WF_SA_SERVICE,   WF_SA_PKEY_TABLE };
	struct wf_service_record service = { .service_id = 1, .pkey = 0xffff };
	struct wf_path_record path = between(s, 1, 2);

	s->key = 1;
	s->lid = net_lid(s->net, 1);
	for (size_t i = 0; i < WF_ARRAY_SIZE(attrs); i++)
		(void)sanet_ask(s, WF_MAD_METHOD_GET_TABLE, attrs[i], 0, NULL);
	(void)sanet_get(s, WF_SA_PATH, GIDS, &path);
	(void)subscribe(s, 2, 0xffff, 1);
	(void)join(s, 4, WF_MC_FULL_MEMBER, CREATE);
	(void)join(s, 5, WF_MC_FULL_MEMBER, JOIN);
	sanet_gid(sanet_guid(s, 4), service.gid);
	(void)sanet_ask(s, WF_MAD_METHOD_SET, WF_SA_SERVICE,
	                M(WF_SERVICE_C_ID) | M(WF_SERVICE_C_GID), &service);
	net_kill(s->net, 4, true);
	sanet_run(s, s->net->now + 2 * WF_S);
	net_kill(s->net, 4, false);
	sanet_run(s, s->net->now + 2 * WF_S);
	(void)leave(s, 5, WF_MC_FULL_MEMBER);
	sanet_run(s, s->net->now + 2 * WF_S);
}

/* One call fails, or all from one on; then there is memory again, and it answers as ever. */
static void test_no_memory(void **state)
{
	struct wf_sm_cfg cfg = net_cfg();
	bool through = false;
	long n = 0;

	(void)state;
	for (; !through && n < 2000; n += 1 + n / 16) {
		struct mem_fail mem = mem_fail_after(n);
		struct sanet *s = sanet_new(net_new_of(net_fat_tree(2, 3, 1)), 0, &cfg, &mem.mem);

		assert_true(net_run_up(s->net, s->m, WF_S));
		if (s->sa != NULL) {
			session(s);
			through = mem.left > 0;
			mem.left = 1000000;
			sanet_run(s, s->net->now + 60 * WF_S);
			assert_int_equal(sanet_table(s, WF_SA_NODE, 0, NULL), 9);
			assert_int_equal(join(s, 5, WF_MC_FULL_MEMBER, CREATE), 0);
			assert_int_equal(sanet_table(s, WF_SA_PATH, 0, NULL), 81);
		}
		sanet_free(s);
		assert_int_equal(mem.held, 0);
	}
	assert_true(n > 40);
	assert_true(through);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_narrow_path),
		cmocka_unit_test(test_path_lids),
		cmocka_unit_test(test_path_levels),
		cmocka_unit_test(test_join_and_leave),
		cmocka_unit_test(test_proxy),
		cmocka_unit_test(test_groups_of_partitions),
		cmocka_unit_test(test_leases),
		cmocka_unit_test(test_ports_go),
		cmocka_unit_test(test_report_retries),
		cmocka_unit_test(test_handover),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
