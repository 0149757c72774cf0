/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios: programs of hosts ask subnet administration, by packets that the fabric carries. */
#include "managed.h"

#include "mgmt/mux.h"
#include "wire/sa.h"

/* A program of a host, with what its kernel does for it. */
struct client {
	struct managed *t;
	uint32_t host;
	struct wf_mux *mux;
	struct wf_mux_agent *agent;
	struct wf_mux_agent_cfg cfg;
	uint16_t lid;
	int status;
	unsigned records;
	unsigned packets;
	wf_time answered;
	wf_time now;
};

static void client_event(void *arg, const struct wf_mux_event *event)
{
	struct client *c = arg;
	struct wf_mad head;
	struct wf_sa_hdr hdr;

	if (event->type != WF_MUX_RECV)
		return;
	wf_mad_decode(event->data, &head);
	wf_sa_hdr_decode(event->data, &hdr);
	c->status = head.status;
	c->answered = c->now;
	c->records = hdr.attr_offset == 0
	                     ? 0
	                     : (unsigned)((event->length - WF_SA_DATA) / (hdr.attr_offset * 8u));
}

/* Within the simulation: what came waits in the mux's own lists. */
static void client_mad(void *arg, uint32_t host, const struct wf_managed_mad *mad, wf_time now)
{
	struct client *c = arg;
	const struct wf_mux_addr from = { .lid = mad->lid, .sl = mad->sl, .qpn = mad->qpn };

	assert_int_equal(host, c->host);
	assert_true(mad->gmp);
	c->packets++;
	c->now = now;
	wf_mux_rx(c->mux, mad->own_qpn, &from, mad->bytes, now);
}

static void client_sends(struct client *c, wf_time now)
{
	struct wf_mux_packet p;

	while (wf_mux_tx(c->mux, WF_MUX_QPS, now, &p)) {
		struct wf_managed_mad mad = { .gmp = true,
			                      .lid = p.addr.lid,
			                      .pkey = 0xffff,
			                      .qpn = p.addr.qpn,
			                      .qkey = WF_QKEY_GMP,
			                      .own_qpn = 1 };

		memcpy(mad.bytes, p.mad, WF_MAD_LEN);
		wf_managed_send(c->t->m, c->host, &mad, now);
	}
}

static void client_waits(struct client *c, wf_time *now)
{
	wf_time until = *now + 100 * WF_US;

	assert_int_equal(wf_sim_run_until(c->t->r.sim, until, now), 0);
	wf_sim_rest(c->t->r.sim, until);
	*now = wf_sim_now(c->t->r.sim);
}

/* Asks the administration at lid for a table; returns its status, or -1. */
static int client_asks(struct client *c, uint16_t lid, uint16_t attr, wf_time *now)
{
	struct wf_mad head = {
		.base_version = WF_MAD_BASE_VERSION,
		.mgmt_class = WF_MAD_CLASS_SA,
		.class_version = WF_SA_CLASS_VERSION,
		.method = WF_MAD_METHOD_GET_TABLE,
		.tid = attr,
		.attr_id = attr,
	};
	const struct wf_mux_addr to = { .lid = lid, .qpn = 1 };
	uint8_t mad[WF_MAD_LEN] = { 0 };

	wf_mad_encode(&head, mad);
	c->status = -1;
	assert_int_equal(wf_mux_send(c->agent, &to, mad, sizeof(mad), WF_S, 0, NULL), 0);
	for (unsigned i = 0; i < 400 && c->status < 0; i++) {
		client_sends(c, *now);
		client_waits(c, now);
	}
	client_sends(c, *now);
	return c->status;
}

static void test_administration(void **state)
{
	static const uint32_t hosts[] = { 9, 0 }; /* far from the manager, and at it */
	struct managed t;

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(hosts); i++) {
		struct client c = { .t = &t, .host = hosts[i] };
		const struct wf_managed_users users = { client_mad, &c };
		wf_time now = 0, begin;
		uint16_t lid;

		managed_init(&t, "leaf-spine", 16);
		rig_topo(&t.r, "radix", "8");
		t.cfg.n_managers = 2;
		t.cfg.manager[1] = 15;
		managed_topo(&t);
		rig_flow(&t.r, 1, 2, 1000, WF_S / 2, 3); /* until then there is nothing else */
		t.r.flows.flow[0].op = WF_FLOW_WRITE;    /* hosts with queue pairs */
		managed_build(&t, 1);
		c.cfg = (struct wf_mux_agent_cfg){ .qp = 1,
			                           .mgmt_class = WF_MAD_CLASS_SA,
			                           .class_version = WF_SA_CLASS_VERSION,
			                           .rmpp = true,
			                           .event = client_event,
			                           .arg = &c };
		assert_int_equal(wf_mux_create(wf_mem_heap(), &c.mux), 0);
		assert_int_equal(wf_mux_register(c.mux, &c.cfg, &c.agent), 0);
		wf_managed_set_users(t.m, &users);
		client_waits(&c, &now);
		lid = wf_sm_lid(wf_managed_sm(t.m, 0));
		begin = now;
		assert_int_equal(client_asks(&c, lid, WF_SA_NODE, &now), 0);
		assert_int_equal(c.records, t.r.topo->n_nodes);
		/* It came in segments, each of which has taken the manager its time. */
		assert_true(c.packets >= t.r.topo->n_nodes * 112 / 200);
		assert_true(c.answered - begin > 5 * WF_US * c.packets);
		assert_int_equal(client_asks(&c, lid, WF_SA_LINK, &now), 0);
		assert_int_equal(c.records, 2 * t.r.topo->n_links);
		assert_int_equal(client_asks(&c, lid, WF_SA_PATH, &now), 0);
		assert_int_equal(c.records, t.r.topo->n_nodes * t.r.topo->n_nodes);
		/* Who is not master does not answer. */
		lid = wf_sma_port(wf_managed_sma(t.m, t.r.topo->host_node[15]), 1)->lid;
		assert_int_equal(client_asks(&c, lid, WF_SA_NODE, &now), -1);
		wf_mux_destroy(c.mux);
		managed_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_administration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
