/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_managed_ports.c - hosts with two ports in fabrics that weft's subnet manager manages: a LID,
 * a state and P_Keys for each port, MADs by the port that they are for, and path migration while
 * the manager sweeps.
 *
 * sender.timeout 30us is 4.096 us * 2^3; a path is given up after eight of these (GIVE_UP).
 */
/* ctest: tsan=*threads* */
#include "managed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "sim/mgmt/site.h"
#include "wire/addr.h"
#include "wire/byte.h"
#include "wire/perf.h"

#define GIVE_UP (8 * (4096 * WF_NS << 3)) /* 262.144 us */

static void init(struct managed *t, const char *kind, const char *homing, unsigned hosts)
{
	managed_init(t, kind, hosts);
	rig_topo(&t->r, "ports", "2");
	rig_topo(&t->r, "homing", homing);
	if (strcmp(kind, "single") != 0)
		rig_topo(&t->r, "radix", "8");
	rig_topo(&t->r, "host_rate", "200Gbps");
	rig_topo(&t->r, "fabric_rate", "200Gbps");
	rig_set(&t->r, "sender.timeout", "30us");
	rig_set(&t->r, "nic.rate_min", "0");
	managed_set(t, "subnet_timeout", "8"); /* between two traps of a kind: 1.05 ms */
}

static void flow(struct rig *r, uint32_t src, uint32_t dst, uint64_t bytes, wf_time start,
                 enum wf_flow_op op)
{
	rig_flow(r, src, dst, bytes, start, 3);
	r->flows.flow[r->flows.n - 1].op = (uint8_t)op;
}

static const struct wf_port_info *info_of(const struct managed *t, uint32_t host, unsigned port)
{
	return wf_sma_port(wf_managed_sma(t->m, t->r.topo->host_node[host]), port);
}

static uint64_t migrations(const struct managed *t)
{
	return t->r.result->adapters[WF_CTR_PATH_MIGRATIONS];
}

/* Bytes that a port of a host sent. */
static uint64_t sent(const struct managed *t, uint32_t host, unsigned port)
{
	uint64_t bytes = 0;

	for (unsigned q = 0; q < t->r.result->n_queues; q++) {
		struct wf_sim_counts c;

		assert_true(
			wf_sim_port_counts(t->r.sim, t->r.topo->host_node[host], port - 1, q, &c));
		bytes += c.tx_bytes;
	}
	return bytes;
}

/* ---- bringing it up ---- */

/* From a switch by its tables to that LID: the node and the port to which that comes. */
static void follow(const struct managed *t, uint32_t at, uint16_t lid, uint32_t host, unsigned port)
{
	const struct wf_topo *topo = t->r.topo;
	const struct wf_topo_port *tp = NULL;

	for (unsigned hops = 0; topo->nodes[at].kind == WF_TOPO_SWITCH; hops++) {
		uint8_t out = wf_sma_lft(wf_managed_sma(t->m, at), lid);

		assert_in_range(out, 1, topo->nodes[at].n_ports);
		assert_in_range(hops, 0, 4);
		tp = &topo->ports[topo->nodes[at].first_port + out - 1u];
		at = tp->peer;
	}
	assert_int_equal(topo->nodes[at].host, host);
	assert_int_equal(tp->peer_port + 1, port);
}

/* All LIDs of all ports lead to that port from everywhere, and no two have the same. */
static void check_lids(const struct managed *t)
{
	const struct wf_topo *topo = t->r.topo;
	static bool used[1 << 16];

	memset(used, 0, sizeof(used));
	for (uint32_t host = 0; host < topo->n_hosts; host++) {
		const struct wf_sma *sma = wf_managed_sma(t->m, topo->host_node[host]);

		assert_int_equal(wf_sma_node(sma)->num_ports, 2);
		for (unsigned port = 1; port <= 2; port++) {
			const struct wf_port_info *info = wf_sma_port(sma, port);

			assert_int_equal(info->port_state, WF_PORT_ACTIVE);
			assert_int_equal(wf_sma_guid(sma, port, 0),
			                 wf_wire_guid_host(host) + (port - 1) * WF_WIRE_GUID_PORT);
			for (unsigned i = 0; i < 1u << info->lmc; i++) {
				uint16_t lid = (uint16_t)(info->lid + i);

				assert_true(lid != 0 && !used[lid]);
				used[lid] = true;
				for (uint32_t at = 0; at < topo->n_nodes; at++) {
					if (topo->nodes[at].kind == WF_TOPO_SWITCH)
						follow(t, at, lid, host, port);
				}
			}
		}
	}
}

static void test_lids(void **state)
{
	static const char *const how[][2] = { { "single", "same" },
		                              { "leaf-spine", "same" },
		                              { "leaf-spine", "pair" } };

	(void)state;
	for (size_t i = 0; i < 4 * WF_ARRAY_SIZE(how); i++) {
		struct managed t;

		init(&t, how[i / 4][0], how[i / 4][1], 8);
		t.cfg.cold = i % 2 != 0;
		t.sm.lmc = i % 4 < 2 ? 0 : 1;
		flow(&t.r, 1, 6, 100000, 500 * WF_MS, WF_FLOW_WRITE);
		flow(&t.r, 1, 6, 100000, 500 * WF_MS, WF_FLOW_WRITE);
		managed_build(&t, 1);
		managed_run(&t);
		assert_true(t.r.result->finished);
		check_lids(&t);
		assert_true(sent(&t, 1, 1) > 100000 && sent(&t, 1, 2) > 100000);
		assert_int_equal(t.r.result->packets_dropped, 0);
		assert_int_equal(t.result.lost, 0);
		assert_int_equal(wf_sm_view(wf_managed_sm(t.m, 0))->subnet->n_nodes,
		                 t.r.topo->n_nodes);
		managed_fini(&t);
	}
}

/* Where there is one way, it is the same as without a manager, to the picosecond. */
static void test_as_without(void **state)
{
	static const enum wf_flow_op op[] = { WF_FLOW_WRITE, WF_FLOW_SEND, WF_FLOW_READ };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(op); i++) {
		static struct same managed, without;
		struct wf_err err = { "" };
		struct managed t;

		for (int m = 1; m >= 0; m--) {
			init(&t, "single", "same", 8);
			rig_set(&t.r, "nic.apm", "armed");
			for (uint32_t k = 0; k < 40; k++)
				flow(&t.r, k % 8, (k * 3 + 1) % 8 == k % 8 ? 7 : (k * 3 + 1) % 8,
				     1000000, k * 10 * WF_US, op[i]);
			t.r.flows.flow[7].dst = 2;
			if (m != 0) {
				managed_build(&t, 1);
				assert_int_equal(wf_sim_check_wire(t.r.sim), 0);
				managed_run(&t);
				assert_true(wf_sim_wire_checked(t.r.sim) > 1000);
				assert_int_equal(wf_sim_wire_result(t.r.sim, &err), 0);
			} else {
				rig_run(&t.r, 1);
			}
			assert_int_equal(t.r.result->flows_done, 40);
			same_take(t.r.sim, 0, m != 0 ? &managed : &without);
			managed_fini(&t);
		}
		assert_int_equal(managed.flows, without.flows);
		assert_int_equal(managed.result.hops, without.result.hops);
		assert_int_equal(managed.result.last_delivery, without.result.last_delivery);
	}
}

/* ---- links that are lost ---- */

/*
 * A link of a host is lost for good, or comes back: who belongs to that port migrates when its
 * retries are used up, long before the manager has new tables. With nic.apm_return queue pairs go
 * back, but only when the manager has made the port active: when the link alone is up, no packet
 * would pass.
 */
static void test_link_lost(void **state)
{
	(void)state;
	for (int comes_back = 0; comes_back < 2; comes_back++) {
		uint16_t lid[2];
		struct managed t;

		init(&t, "leaf-spine", "pair", 16);
		rig_set(&t.r, "nic.apm", "armed");
		rig_set(&t.r, "nic.apm_load", "50us");
		if (comes_back)
			rig_set(&t.r, "nic.apm_return", "10us");
		t.cfg.switch_time = t.cfg.host_time = t.cfg.manager_time = WF_US;
		managed_topo(&t);
		fault(&t, "h5", "leaf2", 100 * WF_US, true);
		if (comes_back)
			fault(&t, "h5", "leaf2", 2 * WF_MS, false);
		/* One queue pair by each port, 4.03 ms each. */
		flow(&t.r, 5, 12, 100000000, 0, WF_FLOW_WRITE);
		flow(&t.r, 5, 12, 100000000, 0, WF_FLOW_WRITE);
		flow(&t.r, 1, 2, 100000, 20 * WF_MS, WF_FLOW_WRITE);
		managed_build(&t, 1);
		for (unsigned p = 0; p < 2; p++)
			lid[p] = info_of(&t, 5, p + 1)->lid;
		managed_run(&t);
		assert_int_equal(t.r.result->flows_done, 3);
		assert_int_equal(migrations(&t), 2 + 2 * (uint64_t)comes_back);
		assert_int_equal(t.result.reroutes, 1 + (uint32_t)comes_back);
		assert_false(t.result.pending);
		assert_in_range(t.result.reroute_max, 100 * WF_US, 2 * WF_MS);
		assert_int_equal(info_of(&t, 5, 1)->port_state,
		                 comes_back ? WF_PORT_ACTIVE : WF_PORT_DOWN);
		assert_int_equal(info_of(&t, 5, 2)->port_state, WF_PORT_ACTIVE);
		if (comes_back)
			check_lids(&t);
		for (unsigned p = 0; p < 2; p++)
			assert_int_equal(info_of(&t, 5, p + 1)->lid, lid[p]);
		managed_fini(&t);
	}
}

/*
 * A link is away for 10 us. Without a manager nobody migrates, since the next retry passes. With
 * one the port has to be made active first, which takes longer than all retries: what queue pairs
 * send to it meanwhile is lost, and they go.
 */
static void test_flap(void **state)
{
	(void)state;
	for (int m = 0; m < 2; m++) {
		struct managed t;

		init(&t, "single", "same", 4);
		rig_set(&t.r, "nic.apm", "armed");
		rig_set(&t.r, "nic.qp_port", "first");
		managed_topo(&t);
		t.r.reconverge = WF_US;
		fault(&t, "h1", "leaf0", 100 * WF_US, true);
		t.r.n_faults = 1; /* of the two links the first */
		fault(&t, "h1", "leaf0", 110 * WF_US, false);
		t.r.n_faults = 2;
		flow(&t.r, 1, 2, 8000000, 0, WF_FLOW_WRITE);
		if (m != 0) {
			managed_build(&t, 1);
			managed_run(&t);
		} else {
			rig_run(&t.r, 1);
		}
		assert_int_equal(t.r.result->flows_done, 1);
		assert_int_equal(migrations(&t), m != 0 ? 2 : 0);
		if (m != 0)
			assert_in_range(wf_sim_flow_end(t.r.sim, 0), 322 * WF_US + GIVE_UP,
			                340 * WF_US + GIVE_UP);
		managed_fini(&t);
	}
}

/*
 * The manager's own link: its host goes on by its other port, as all others do, and the manager,
 * whose only port that was, sees nothing any more.
 */
static void test_own_link_lost(void **state)
{
	struct managed t;

	(void)state;
	init(&t, "leaf-spine", "pair", 16);
	rig_set(&t.r, "nic.apm", "armed");
	rig_set(&t.r, "nic.qp_port", "first");
	managed_topo(&t);
	fault(&t, "h0", "leaf0", 100 * WF_US, true);
	flow(&t.r, 0, 12, 8000000, 0, WF_FLOW_WRITE);
	flow(&t.r, 9, 0, 8000000, 0, WF_FLOW_READ);
	flow(&t.r, 3, 4, 100000, 100 * WF_MS, WF_FLOW_WRITE);
	managed_build(&t, 1);
	managed_run(&t);
	assert_int_equal(t.r.result->flows_done, 3);
	assert_int_equal(migrations(&t), 4);
	assert_true(t.result.pending);
	assert_int_equal(t.result.reroutes, 0);
	managed_fini(&t);
}

/* The same on any number of threads, with a first sweep that is a part of the run. */
static void test_threads(void **state)
{
	static struct same one, more;
	struct wf_managed_result first;

	(void)state;
	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		struct managed t;

		init(&t, "leaf-spine", "pair", 16);
		rig_set(&t.r, "nic.apm", "armed");
		rig_set(&t.r, "nic.apm_load", "50us");
		rig_set(&t.r, "nic.apm_return", "100us");
		t.cfg.cold = true;
		t.cfg.n_managers = 2;
		t.cfg.manager[1] = 15;
		t.sm.polling_timeout = WF_MS;
		managed_topo(&t);
		fault(&t, "h5", "leaf3", 150 * WF_MS + 40 * WF_US, true);
		fault(&t, "h5", "leaf3", 220 * WF_MS, false);
		fault(&t, "leaf6", "spine1", 150 * WF_MS + 50 * WF_US, true);
		for (uint32_t h = 0; h < 16; h++) {
			flow(&t.r, h, (h + 5) % 16, 1000000, 150 * WF_MS, WF_FLOW_WRITE);
			flow(&t.r, h, (h + 5) % 16, 1000000, 150 * WF_MS, WF_FLOW_READ);
			flow(&t.r, h, (h + 5) % 16, 1000000, 300 * WF_MS, WF_FLOW_SEND);
		}
		managed_build(&t, threads);
		managed_run(&t);
		assert_int_equal(t.r.result->flows_done, 48);
		assert_true(migrations(&t) > 0 && t.result.reroutes > 0);
		same_take(t.r.sim, 0, threads == 1 ? &one : &more);
		if (threads == 1) {
			first = t.result;
		} else {
			same_check(&one, &more);
			assert_int_equal(first.smps, t.result.smps);
			assert_int_equal(first.reroute_max, t.result.reroute_max);
			assert_memory_equal(&first.stats, &t.result.stats, sizeof(first.stats));
		}
		managed_fini(&t);
	}
}

/* ---- what is a port's own ---- */

/*
 * The second ports of h1 and h2 are limited members that cannot hear one another; their first are
 * full members. Of two queue pairs the first's data passes, and the second's is refused, counted
 * and told to the manager by the port that it came to.
 */
static void test_pkeys(void **state)
{
	char conf[1000] = "Default=0x7fff : ALL_SWITCHES=full";
	uint64_t traps = 0;
	struct managed t;

	(void)state;
	init(&t, "single", "same", 4);
	for (uint32_t h = 0; h < 4; h++) {
		for (unsigned p = 0; p < 2; p++) {
			size_t len = strlen(conf);

			snprintf(conf + len, sizeof(conf) - len, ", 0x%" PRIx64 "=%s",
			         wf_wire_guid_host(h) + p * WF_WIRE_GUID_PORT,
			         p == 1 && (h == 1 || h == 2) ? "limited" : "full");
		}
	}
	strcat(conf, " ;\n");
	t.sm.partitions = conf;
	t.sm.partitions_name = "partitions.conf";
	managed_set(&t, "part_enforce", "off"); /* the hosts' own check */
	flow(&t.r, 1, 2, 100000, 0, WF_FLOW_WRITE);
	flow(&t.r, 1, 2, 100000, 0, WF_FLOW_WRITE);
	flow(&t.r, 0, 3, 100000, 0, WF_FLOW_WRITE);
	flow(&t.r, 0, 3, 100000, 0, WF_FLOW_WRITE);
	t.r.until = 20 * WF_MS;
	managed_build(&t, 1);
	managed_run(&t);
	for (uint32_t h = 1; h <= 2; h++) {
		const struct wf_sma *sma = wf_managed_sma(t.m, t.r.topo->host_node[h]);

		assert_int_equal(wf_sma_pkey(sma, 1, 0), 0xffff);
		assert_int_equal(wf_sma_pkey(sma, 2, 0), 0x7fff);
	}
	assert_int_equal(t.r.result->flows_done, 3);
	assert_true(wf_sim_flow_end(t.r.sim, 0) != WF_TIME_NEVER);
	assert_int_equal(wf_sim_flow_end(t.r.sim, 1), WF_TIME_NEVER);
	assert_int_equal(info_of(&t, 2, 1)->pkey_violations, 0);
	assert_true(info_of(&t, 2, 2)->pkey_violations > 0);
	for (unsigned k = 0; k <= WF_SM_TRAPS; k++)
		traps += t.result.stats.traps[k];
	assert_true(traps > 0);
	managed_fini(&t);
}

/* Six switches in a ring, each with the first port of one host and the second of another. */
static void make_ring(struct managed *t)
{
	struct wf_err err = { "" };
	char text[2000];
	int len = 0;

	managed_init(t, "ibnetdiscover", 6);
	rig_topo(&t->r, "ports", "2");
	for (unsigned i = 0; i < 6; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len,
		                "Switch 8 \"S-0%u\"\n[1] \"H-0%u\"[1]\n[2] \"H-0%u\"[2]\n"
		                "[7] \"S-0%u\"[8]\n[8] \"S-0%u\"[7]\n",
		                i + 1, i + 1, (i + 5) % 6 + 1, (i + 1) % 6 + 1, (i + 5) % 6 + 1);
	if (wf_topo_find("ibnetdiscover")
	            ->build(&t->r.topo_cfg, text, (size_t)len, "ring", wf_mem_heap(), &t->r.topo,
	                    &err) != 0)
		fail_msg("%s", err.text);
}

/* Of paths with levels each port has those that begin at the switch which it is connected to. */
static void test_levels(void **state)
{
	const struct wf_sm_view *view;
	unsigned differ = 0;
	struct managed t;

	(void)state;
	make_ring(&t);
	rig_set(&t.r, "vl.count", "4");
	managed_set(&t, "routing_engine", "dfsssp");
	managed_set(&t, "vls", "4");
	for (uint32_t h = 0; h < 12; h++)
		flow(&t.r, h % 6, (h + 3) % 6, 1000000, h / 6, WF_FLOW_WRITE);
	managed_build(&t, 1);
	managed_run(&t);
	assert_int_equal(t.r.result->flows_done, 12);
	assert_int_equal(t.r.result->packets_dropped, 0);
	view = wf_sm_view(wf_managed_sm(t.m, 0));
	assert_non_null(view->tables->sl);
	for (uint32_t h = 0; h < 6; h++) {
		const struct wf_site *site = t.m->site[t.r.topo->host_node[h]];
		uint32_t id = wf_subnet_find(view->subnet, wf_sma_node(site->sma)->node_guid);

		for (unsigned p = 0; p < 2; p++) {
			uint32_t sw = wf_subnet_port(view->subnet, id, p + 1)->peer;
			const uint8_t *row = view->tables->sl + (size_t)view->subnet->nodes[sw].sw *
			                                                view->tables->n_lids;

			assert_int_equal(site->st.n_path_sl, view->tables->n_lids);
			assert_memory_equal(site->st.port[p].path_sl, row, view->tables->n_lids);
		}
		differ += memcmp(site->st.port[0].path_sl, site->st.port[1].path_sl,
		                 view->tables->n_lids) != 0;
	}
	assert_true(differ > 0);
	managed_fini(&t);
}

/* ---- MADs of programs ---- */

struct answers {
	unsigned n;
	struct wf_managed_mad last;
	uint32_t host;
};

static void arrive(void *arg, uint32_t host, const struct wf_managed_mad *mad, wf_time now)
{
	struct answers *a = arg;

	(void)now;
	a->n++;
	a->host = host;
	a->last = *mad;
}

/* A program asks ports by their LIDs, and each answers with its own and by itself. */
static void test_ask_ports(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		static const uint32_t host[] = { 3, 3, 0, 0 };
		unsigned port = k % 2 + 1;
		struct answers a = { 0 };
		struct wf_managed_users users = { arrive, &a };
		struct wf_managed_mad mad = { .gmp = k < 2 };
		struct wf_mad h = {
			.base_version = WF_MAD_BASE_VERSION,
			.mgmt_class = k < 2 ? WF_MAD_CLASS_PERF : WF_MAD_CLASS_SUBN_LID,
			.class_version = 1,
			.method = WF_MAD_METHOD_GET,
			.attr_id = k < 2 ? WF_PERF_COUNTERS : WF_SMP_NODE_INFO,
			.tid = UINT64_C(0x100000001),
		};
		struct wf_node_info info;
		struct managed t;

		init(&t, "leaf-spine", "pair", 8);
		flow(&t.r, 1, 2, 100000, WF_MS, WF_FLOW_WRITE);
		managed_build(&t, 1);
		wf_managed_set_users(t.m, &users);
		wf_mad_encode(&h, mad.bytes);
		mad.lid = info_of(&t, host[k], port)->lid;
		mad.pkey = WF_PKEY_DEFAULT;
		mad.qpn = mad.own_qpn = k < 2;
		mad.qkey = WF_QKEY_GMP;
		if (k < 2)
			mad.bytes[64 + 1] = (uint8_t)port; /* PortSelect */
		wf_managed_send(t.m, 0, &mad, 0);
		managed_run(&t);
		assert_true(t.r.result->finished);
		assert_int_equal(a.n, 1);
		assert_int_equal(a.host, 0);
		assert_int_equal(a.last.lid, mad.lid);
		assert_int_equal(a.last.dlid, info_of(&t, 0, 1)->lid);
		assert_int_equal(wf_be16_get(a.last.bytes + 4), 0); /* Status */
		if (k >= 2) {
			wf_node_info_decode(a.last.bytes + WF_SMP_DATA, &info);
			assert_int_equal(info.local_port_num, port);
			/* What it asks itself needs no wire, but by another port. */
			assert_int_equal(t.m->site[t.r.topo->host_node[0]]->st.port[1].vl15_sent,
			                 port - 1);
		}
		managed_fini(&t);
	}
}

/* ---- what cannot be ---- */

/* Two planes are two subnets, and a manager has one. */
static void test_planes(void **state)
{
	struct wf_err err = { "" };
	struct managed t;

	(void)state;
	init(&t, "single", "planes", 4);
	managed_topo(&t);
	assert_int_equal(wf_managed_create(&t.cfg, t.r.topo, wf_mem_heap(), &t.m, &err), -EINVAL);
	assert_string_equal(err.text,
	                    "topology.homing: port 2 of h0 is in a subnet of its own, and a subnet "
	                    "manager has one; write homing: same or pair, or sm: ideal");
	managed_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lids),          cmocka_unit_test(test_as_without),
		cmocka_unit_test(test_link_lost),     cmocka_unit_test(test_flap),
		cmocka_unit_test(test_own_link_lost), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_pkeys),         cmocka_unit_test(test_levels),
		cmocka_unit_test(test_ask_ports),     cmocka_unit_test(test_planes),
	};

	return cmocka_run_group_tests_name("managed_ports", tests, NULL, NULL);
}
