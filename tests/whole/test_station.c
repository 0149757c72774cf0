/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: a managed fabric without a manager. Stations have the tables that the test gives
 * them: the way of MADs, and what settings do to data.
 */
/* ctest: tsan */
#include "rig.h"

#include "fabric/station.h"

#define N_HOSTS 32
#define MAX_NODES 64
#define MAX_GOT 4096

/* What a station does: sends MADs every so often, and answers those that ask. */
struct node {
	struct wf_station st;
	uint8_t lft[256];
	uint16_t dlid_of[N_HOSTS];
	uint16_t lid;
	uint16_t pkeys[2];
	struct fake *fake;
	uint32_t left; /* MADs to send */
	wf_time every;
	struct wf_station_to to;
	bool smp;
	uint32_t got, answers, links, refused;
	wf_time longest; /* that an SMP took */
	uint64_t sum;    /* of what came, and when */
};

struct fake {
	struct rig *rig;
	struct node *node; /* by node id */
	struct wf_store *mads;
	uint16_t lids[MAX_NODES];
	struct wf_sim_manager manager;
};

static struct node *to_node(struct wf_station *st)
{
	return wf_container_of(st, struct node, st);
}

static void fake_rx(struct wf_station *st, unsigned port, const struct wf_packet *pkt, uint8_t *mad,
                    wf_time now)
{
	struct node *n = to_node(st);
	struct wf_station_to back = {
		.dlid = (uint16_t)pkt->src,
		.slid = n->lid,
		.sl = pkt->cls,
		.pkey = pkt->pkey,
		.dst_qpn = pkt->u.deth.src_qpn,
		.src_qpn = pkt->qpn,
	};
	wf_time sent;

	memcpy(&sent, mad, sizeof(sent));
	n->got++;
	n->sum = n->sum * 31 + (uint64_t)now + port + mad[8];
	n->longest = wf_max_time(n->longest, now - sent);
	if (mad[8] == 1) { /* a question */
		mad[8] = 2;
		if (pkt->type == WF_PACKET_SMP)
			(void)wf_station_route_smp(st, 0, &back, mad, now);
		else
			(void)wf_station_send_gmp(st, 0, &back, mad, now);
	} else if (mad[8] == 2) {
		n->answers++;
	}
}

static void fake_timer(struct wf_station *st, wf_time now)
{
	struct node *n = to_node(st);
	uint8_t mad[WF_MAD_LEN] = { 0 };

	if (n->left == 0)
		return;
	n->left--;
	memcpy(mad, &now, sizeof(now));
	mad[8] = 1;
	if (n->smp)
		(void)wf_station_route_smp(st, 0, &n->to, mad, now);
	else
		(void)wf_station_send_gmp(st, 0, &n->to, mad, now);
	wf_station_call_at(st, now + n->every);
}

static void fake_link(struct wf_station *st, unsigned port, bool up, wf_time now)
{
	to_node(st)->links++;
	if (up)
		wf_station_set_state(st, port, true, true, now);
}

static void fake_group(struct wf_station *st, uint16_t mlid, uint64_t ports[WF_STATION_WORDS])
{
	(void)st;
	(void)mlid;
	memset(ports, 0, WF_STATION_WORDS * sizeof(ports[0]));
}

static void fake_pkey(struct wf_station *st, unsigned port, const struct wf_packet *pkt,
                      wf_time now)
{
	(void)port;
	(void)pkt;
	(void)now;
	to_node(st)->refused++;
}

static const struct wf_station_ops fake_ops = {
	.rx = fake_rx,
	.timer = fake_timer,
	.link = fake_link,
	.group = fake_group,
	.pkey = fake_pkey,
};

/* Hosts have LIDs 1 and up, switches those behind them; tables are those of routing lft. */
static int fake_make(void *arg, struct wf_sim *sim, struct wf_device *dev, struct wf_store *mads,
                     struct wf_err *err)
{
	struct fake *f = arg;
	const struct wf_topo *topo = sim->topo;
	const struct wf_route_switch *r = &sim->fabric.routes->switches[dev->id];
	struct node *n = &f->node[dev->id];

	(void)err;
	assert_true(topo->n_nodes <= MAX_NODES);
	f->mads = mads;
	n->fake = f;
	n->lid =
		(uint16_t)(topo->nodes[dev->id].host != WF_TOPO_NONE ? topo->nodes[dev->id].host + 1
	                                                             : 100 + dev->id);
	f->lids[dev->id] = n->lid;
	assert_int_equal(wf_station_init(&n->st, dev, mads, &fake_ops), 0);
	for (unsigned i = 0; i < dev->n_ports; i++) {
		n->st.port[i].armed = n->st.port[i].active = true;
		n->st.port[i].lid = n->lid;
	}
	memset(n->lft, UINT8_MAX, sizeof(n->lft));
	for (uint32_t h = 0; h < topo->n_hosts; h++) {
		n->dlid_of[h] = (uint16_t)(h + 1);
		if (topo->nodes[dev->id].kind == WF_TOPO_HOST)
			continue;
		if (sim->fabric.routes->leaf_of_host[h] == r->leaf)
			n->lft[h + 1] = (uint8_t)(sim->fabric.routes->port_of_host[h] + 1);
		else
			n->lft[h + 1] = (uint8_t)(r->lft[h] + 1);
	}
	n->lft[n->lid] = 0;
	n->st.dlid_of = n->dlid_of;
	n->st.lft = n->lft;
	n->st.n_lft = sizeof(n->lft);
	return 0;
}

static struct node *named(const struct fake *f, const char *name)
{
	return &f->node[wf_topo_node_by_name(f->rig->topo, name)];
}

static void fake_init(struct fake *f, struct rig *r)
{
	rig_init(r, "credit", "leaf-spine", N_HOSTS);
	rig_topo(r, "host_rate", "100Gbps");
	rig_topo(r, "radix", "16");
	memset(f, 0, sizeof(*f));
	f->rig = r;
	f->node = wf_mem_heap()->alloc(wf_mem_heap(), MAX_NODES * sizeof(*f->node));
	assert_non_null(f->node);
	f->manager = (struct wf_sim_manager){ .make = fake_make, .arg = f };
	r->manager = &f->manager;
}

static void fake_build(struct fake *f, unsigned threads)
{
	struct wf_err err = { "" };

	if (rig_build(f->rig, threads, &err) != 0)
		fail_msg("%s", err.text);
}

/* Runs to the end of the flows, and a while longer. Nothing is left anywhere. */
static void fake_run(struct fake *f)
{
	struct wf_err err = { "" };

	assert_int_equal(wf_sim_run(f->rig->sim, NULL, NULL), 0);
	rig_drain(f->rig);
	rig_result(f->rig);
	if (wf_sim_check(f->rig->sim, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(wf_store_in_use(f->mads), 0);
}

static void fake_fini(struct fake *f)
{
	wf_mem_heap()->free(wf_mem_heap(), f->node);
	rig_fini(f->rig);
}

static void send(struct node *n, uint16_t dlid, bool smp, uint32_t mads, wf_time every)
{
	n->to = (struct wf_station_to){
		.dlid = dlid,
		.slid = n->lid,
		.sl = 3,
		.pkey = 0xffff,
		.dst_qpn = !smp,
		.src_qpn = !smp,
	};
	n->smp = smp;
	n->left = mads;
	n->every = every;
	wf_station_call_at(&n->st, 1);
}

/* With the tables of an ideal fabric a managed one does what that does, to the picosecond. */
static void test_as_without(void **state)
{
	static const enum wf_flow_op ops[] = { WF_FLOW_WINDOW, WF_FLOW_WRITE, WF_FLOW_READ };
	struct wf_sim_result ideal;
	struct rig r;
	struct fake f;

	(void)state;
	for (size_t i = 0; i < 2 * WF_ARRAY_SIZE(ops); i++) {
		bool managed = i % 2 != 0;

		fake_init(&f, &r);
		if (!managed)
			r.manager = NULL;
		rig_shift(&r, N_HOSTS, 9, 300000);
		rig_incast(&r, 5, 20, 200000);
		for (size_t k = 0; k < r.flows.n; k++)
			r.flows.flow[k].op = (uint8_t)ops[i / 2];
		rig_run(&r, 1);
		assert_true(r.result->finished);
		if (managed) {
			assert_int_equal(ideal.end, r.result->end);
			assert_int_equal(ideal.hops, r.result->hops);
			assert_int_equal(ideal.packets_sent, r.result->packets_sent);
			assert_int_equal(ideal.last_delivery, r.result->last_delivery);
		}
		ideal = *r.result;
		fake_fini(&f);
	}
}

/* All hosts send as much as they can to each other, into one that is too slow for it. */
static void load(struct rig *r)
{
	rig_shift(r, N_HOSTS, 9, 2000000);
	rig_incast(r, 16, 20, 500000);
}

static void write_all(struct rig *r)
{
	for (size_t i = 0; i < r->flows.n; i++)
		r->flows.flow[i].op = WF_FLOW_WRITE;
}

/*
 * Management does not wait for data: of an SMP's four links each may be busy with one packet of
 * 4,096 B and headers (4,126 B, 330 ns at 100 Gb/s) and with credits of all its queues, 8 B each;
 * itself it takes 23 ns a link. A GMP waits as data does.
 */
static void test_smp_before_data(void **state)
{
	wf_time most, gmp = 0;
	struct wf_station *st;
	struct rig r;
	struct fake f;

	(void)state;
	for (int smp = 1; smp >= 0; smp--) {
		wf_time idle = 0;

		for (int loaded = 0; loaded <= 1; loaded++) {
			fake_init(&f, &r);
			if (loaded)
				load(&r);
			else
				rig_flow(&r, 30, 31, 2000000, 0, 3);
			write_all(&r);
			fake_build(&f, 1);
			send(named(&f, "h0"), 21, smp, 50, WF_US);
			fake_run(&f);
			st = &named(&f, "h20")->st;
			assert_int_equal(named(&f, "h20")->got, 50);
			assert_int_equal(named(&f, "h0")->answers, 50);
			assert_int_equal(st->port[0].vl15_received, smp ? 50 : 0);
			most = named(&f, "h20")->longest;
			if (!loaded)
				idle = most;
			else if (smp)
				assert_in_range(most - idle, 100 * WF_NS, 4 * 360 * WF_NS);
			else
				gmp = most;
			fake_fini(&f);
		}
	}
	assert_true(gmp > 20 * WF_US);
}

/* A switch has a LID, and answers by its own port, on a busy fabric too. */
static void test_switch_answers(void **state)
{
	uint64_t sum = 0;
	struct rig r;
	struct fake f;

	(void)state;
	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		uint64_t is = 0;

		fake_init(&f, &r);
		load(&r);
		write_all(&r);
		fake_build(&f, threads);
		for (uint32_t id = 0; id < r.topo->n_nodes; id++) {
			struct node *n = &f.node[id];
			struct node *leaf = named(&f, "leaf0");

			/* The way of others to it is not asked for. */
			n->lft[leaf->lid] = n == leaf ? 0 : UINT8_MAX;
		}
		for (uint32_t h = 0; h < 8; h++)
			send(&f.node[r.topo->host_node[h]], named(&f, "leaf0")->lid, h % 2 != 0,
			     100, 300 * WF_NS);
		fake_run(&f);
		assert_int_equal(named(&f, "leaf0")->got, 800);
		for (uint32_t h = 0; h < 8; h++) {
			struct node *n = &f.node[r.topo->host_node[h]];

			assert_int_equal(n->answers, 100);
			is = is * 31 + n->sum;
		}
		is = is * 31 + (uint64_t)r.result->end;
		assert_true(sum == 0 || sum == is);
		sum = is;
		fake_fini(&f);
	}
}

/* A switch without an entry drops; so does one whose table leads to the wrong host. */
static void test_no_entry(void **state)
{
	const struct wf_station *st;
	struct rig r;
	struct fake f;

	(void)state;
	for (int wrong = 0; wrong <= 1; wrong++) {
		fake_init(&f, &r);
		rig_flow(&r, 0, 1, 100000, 0, 3);
		rig_flow(&r, 0, 20, 100000, 0, 3);
		r.until = 5 * WF_MS;
		fake_build(&f, 1);
		named(&f, "leaf0")->lft[2] = wrong ? 4 : UINT8_MAX;
		send(named(&f, "h0"), 2, true, 10, WF_US);
		fake_run(&f);
		assert_false(r.result->finished);
		assert_int_equal(r.result->flows_done, 1);
		assert_int_equal(wf_sim_flow_end(r.sim, 0), WF_TIME_NEVER);
		st = &named(&f, wrong ? "h3" : "leaf0")->st;
		assert_int_equal(r.result->packets_dropped,
		                 st->port[0].relay_errors - (wrong ? 0 : 10));
		assert_true(r.result->packets_dropped > 20);
		/* An SMP is for whom it reaches. */
		assert_int_equal(named(&f, "h3")->got, wrong ? 10 : 0);
		assert_int_equal(named(&f, "h1")->got, 0);
		fake_fini(&f);
	}
}

/* A port that is not active passes management and nothing else. */
static void test_inactive(void **state)
{
	static const char *const where[] = { "h0", "leaf0" };
	struct rig r;
	struct fake f;
	wf_time end;

	(void)state;
	for (size_t i = 0; i < 2 * WF_ARRAY_SIZE(where); i++) {
		struct node *n;

		fake_init(&f, &r);
		rig_set(&r, "sender.timeout", "50us");
		rig_flow(&r, 0, 1, 100000, 0, 3);
		rig_flow(&r, 2, 3, 100000, 0, 3);
		for (size_t k = 0; k < r.flows.n && i >= WF_ARRAY_SIZE(where); k++)
			r.flows.flow[k].op = WF_FLOW_WRITE;
		fake_build(&f, 1);
		n = named(&f, where[i % 2]);
		wf_station_set_state(&n->st, 0, true, false, 0);
		n->st.port[0].armed = false;
		send(named(&f, "h0"), named(&f, "leaf0")->lid, true, 10, WF_US);
		assert_int_equal(wf_sim_run_until(r.sim, 80 * WF_US, &end), 0);
		wf_sim_rest(r.sim, 80 * WF_US);
		assert_int_equal(wf_sim_flow_end(r.sim, 0), WF_TIME_NEVER);
		assert_int_not_equal(wf_sim_flow_end(r.sim, 1), WF_TIME_NEVER);
		assert_int_equal(named(&f, "h0")->answers, 10);
		if (i % 2 == 0)
			assert_int_equal(wf_network_host(&r.sim->net, 0)->lanes[3].tx_packets, 0);
		wf_station_set_state(&n->st, 0, true, true, wf_sim_now(r.sim));
		r.sim->until = r.until;
		fake_run(&f);
		assert_true(r.result->finished);
		assert_true(wf_sim_flow_end(r.sim, 0) > 80 * WF_US);
		fake_fini(&f);
	}
}

/* Partitions: who is in none with the port does not pass it, either way. */
static void test_partitions(void **state)
{
	/* The port's table, whether data of P_Key 0xffff passes. */
	static const struct {
		uint16_t pkeys[2];
		bool passes;
	} rows[] = {
		{ { 0xffff, 0x8001 }, true },
		{ { 0x7fff, 0x8001 }, true },
		{ { 0x8001, 0x8002 }, false },
		{ { 0x8001, 0x0002 }, false },
	};
	struct rig r;
	struct fake f;

	(void)state;
	for (size_t i = 0; i < 2 * WF_ARRAY_SIZE(rows); i++) {
		bool in = i % 2 == 0;
		struct wf_station_port *p;
		struct node *leaf;

		fake_init(&f, &r);
		rig_flow(&r, 0, 1, 100000, 0, 3);
		r.flows.flow[0].op = WF_FLOW_WRITE;
		r.until = 3 * WF_MS;
		fake_build(&f, 1);
		leaf = named(&f, "leaf0");
		p = &leaf->st.port[in ? 0 : 1];
		memcpy(leaf->pkeys, rows[i / 2].pkeys, sizeof(leaf->pkeys));
		p->pkeys = leaf->pkeys;
		p->n_pkeys = 2;
		p->guard_in = in;
		p->guard_out = !in;
		fake_run(&f);
		assert_int_equal(wf_sim_flow_end(r.sim, 0) != WF_TIME_NEVER, rows[i / 2].passes);
		assert_int_equal(leaf->refused != 0, !rows[i / 2].passes);
		assert_int_equal(in ? p->pkey_in : p->pkey_out, leaf->refused);
		assert_int_equal(in ? p->pkey_out : p->pkey_in, 0);
		assert_int_equal(r.result->whole.drops, 0);
		assert_int_equal(r.result->packets_dropped, leaf->refused);
		fake_fini(&f);
	}
}

/* A link that goes down takes with it what waits and what is on it, and nothing leaks. */
static void test_link_down(void **state)
{
	struct rig r;
	struct fake f;

	(void)state;
	for (int smp = 0; smp <= 1; smp++) {
		fake_init(&f, &r);
		load(&r);
		write_all(&r);
		r.until = 3 * WF_MS;
		/* The link of h20, for as long as its MADs come, and the one of a leaf. */
		for (unsigned k = 0; k < 2; k++) {
			for (unsigned on = 0; on < 2; on++)
				r.faults[r.n_faults++] = (struct wf_sim_fault){
					.at = (50 + 100 * on) * WF_US,
					.kind = WF_SIM_FAULT_LINK,
					.on = on == 0,
					.what = k == 0 ? 20 : N_HOSTS + 1,
				};
		}
		fake_build(&f, 1);
		for (uint32_t h = 0; h < 16; h++)
			send(&f.node[r.topo->host_node[h]], 21, smp, 2000, 100 * WF_NS);
		fake_run(&f);
		assert_int_equal(named(&f, "h20")->links, 2);
		if (smp)
			assert_true(named(&f, "h20")->got > 1000);
		fake_fini(&f);
	}
}

/* VL15 has no credits: what does not fit is dropped, and counted. */
static void test_vl15_overrun(void **state)
{
	uint32_t dropped = 0;
	struct rig r;
	struct fake f;

	(void)state;
	fake_init(&f, &r);
	rig_flow(&r, 30, 31, 4000000, 0, 3);
	fake_build(&f, 1);
	for (uint32_t h = 0; h < 16; h++)
		send(&f.node[r.topo->host_node[h]], 21, true, 300, 50 * WF_NS);
	fake_run(&f);
	for (uint32_t id = 0; id < r.topo->n_nodes; id++) {
		struct wf_station *st = &f.node[id].st;

		for (unsigned p = 0; p < st->dev->n_ports; p++)
			dropped += st->port[p].vl15_dropped;
	}
	/* 16 hosts send an SMP in 50 ns each, the link to h20 takes 23.2 ns for one. */
	assert_true(dropped > 1000 && named(&f, "h20")->got > 500);
	assert_int_equal(dropped + named(&f, "h20")->got, 16 * 300);
	fake_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_without),     cmocka_unit_test(test_smp_before_data),
		cmocka_unit_test(test_switch_answers), cmocka_unit_test(test_no_entry),
		cmocka_unit_test(test_inactive),       cmocka_unit_test(test_partitions),
		cmocka_unit_test(test_link_down),      cmocka_unit_test(test_vl15_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
