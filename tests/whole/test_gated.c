/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: programs are outside, and their packets cross the fabric as anybody's; links change on
 * the way.
 */
#include "rig.h"

#include <errno.h>
#include <stdlib.h>

#include "base/rng.h"
#include "sim/host/gated.h"
#include "sim/look/state.h"
#include "wire/opcode.h"
#include "wire/size.h"

#define MTU 4096
#define MAX_HOSTS 16

/* Who is outside: each host has so many packets to send, and keeps account of what it got. */
struct outside {
	struct rig rig;
	struct side {
		uint32_t to, left;
		uint64_t got, bad, marked;
		wf_time first, last;
		uint32_t next; /* number expected: packets of one sender stay in order */
	} host[MAX_HOSTS];
	wf_time ready; /* nothing can be sent before */
	uint64_t sent, lost;
	wf_time now;
};

static bool next(void *arg, uint32_t host, uint32_t held, wf_time now, struct wf_packet *pkt,
                 wf_time *again_p)
{
	struct outside *o = arg;
	struct side *s = &o->host[host];

	if (s->left == 0 || (held >> 3 & 1) != 0)
		return false;
	if (now < o->ready) {
		*again_p = wf_min_time(*again_p, o->ready);
		return false;
	}
	s->left--;
	o->sent++;
	*pkt = (struct wf_packet){
		.type = WF_PACKET_RDMA,
		.opcode = WF_OP_RC_SEND_ONLY,
		.dst = s->to,
		.cls = 3,
		.flags = WF_PACKET_ECT,
		.length = MTU,
		.qpn = s->left,
		.size = wf_size_packet(
			strcmp(o->rig.fabric.header, "ib") == 0 ? WF_ENCAP_IB : WF_ENCAP_ROCE2_IPV4,
			false, WF_OP_RC_SEND_ONLY, MTU),
	};
	return true;
}

static void deliver(void *arg, uint32_t host, const struct wf_packet *pkt, wf_time now)
{
	struct outside *o = arg;
	struct side *s = &o->host[host];

	assert_int_equal(pkt->dst, host);
	if (s->got++ == 0)
		s->first = now;
	s->last = now;
	s->bad += (pkt->flags & WF_PACKET_BAD) != 0;
	s->marked += (pkt->flags & WF_PACKET_CE) != 0;
	if (pkt->src != 0)
		return;
	assert_true(s->next == 0 || pkt->qpn < s->next);
	s->next = pkt->qpn;
}

static void lost(void *arg, const struct wf_packet *pkt)
{
	struct outside *o = arg;

	assert_int_equal(pkt->cls, 3);
	o->lost++;
}

static bool go_on(void *arg, wf_time now)
{
	(void)arg;
	(void)now;
	return true;
}

static const struct wf_gate_ops ops = { next, deliver, lost, go_on, NULL };

static struct wf_gated_fault fault_of(const struct outside *o, uint32_t link)
{
	struct wf_gated_fault f;

	wf_gated_fault(o->rig.sim, link, &f);
	return f;
}

static struct outside *begin(const char *layer, const char *kind, unsigned hosts)
{
	struct outside *o = calloc(1, sizeof(*o));

	assert_non_null(o);
	rig_init(&o->rig, layer, kind, hosts);
	o->rig.gate = &ops;
	o->rig.gate_arg = o;
	return o;
}

static void build(struct outside *o)
{
	struct wf_err err = { "" };

	if (rig_build(&o->rig, 1, &err) != 0)
		fail_msg("%s", err.text);
}

static void end(struct outside *o)
{
	rig_fini(&o->rig);
	free(o);
}

/* Host from has n packets for to, from now on. */
static void send_some(struct outside *o, uint32_t from, uint32_t to, uint32_t n)
{
	o->host[from].to = to;
	o->host[from].left = n;
	o->host[to].next = 0;
	wf_gated_wake(o->rig.sim, from, o->now);
}

/* Everything before at happens, in pieces of any length. */
static void run_to(struct outside *o, wf_time at)
{
	for (wf_time t = o->now; t < at;) {
		t = wf_min_time(at, t + 777 * WF_NS + t % (3 * WF_US));
		assert_int_equal(wf_gated_run(o->rig.sim, t), 0);
		assert_true(wf_sim_now(o->rig.sim) <= t);
		wf_sim_rest(o->rig.sim, t);
		assert_true(wf_sim_now(o->rig.sim) == t);
	}
	o->now = at;
}

static uint64_t total(const struct outside *o, bool pauses)
{
	const struct wf_topo *t = o->rig.topo;
	struct wf_sim_counts c;
	uint64_t n = 0;

	for (uint32_t id = 0; id < t->n_nodes; id++) {
		for (unsigned p = 0; p < t->nodes[id].n_ports; p++) {
			for (unsigned q = 0; wf_sim_port_counts(o->rig.sim, id, p, q, &c); q++)
				n += pauses ? c.pause_tx : c.credit_waits;
		}
	}
	return n;
}

/*
 * The time of one packet through an idle switch is the links' and the switch's, to the picosecond.
 */
static void test_delay_is_exact(void **state)
{
	struct outside *o = begin("pfc", "single", 2);
	struct wf_gated_fault slow = { .delay = 1 * WF_MS };
	wf_time before, after;

	(void)state;
	rig_topo(&o->rig, "host_rate", "100Gbps");
	build(o);
	run_to(o, 5 * WF_US);
	send_some(o, 0, 1, 1);
	run_to(o, 10 * WF_MS);
	assert_int_equal(o->host[1].got, 1);
	before = o->host[1].first - 5 * WF_US;
	assert_true(before > 0 && before < 10 * WF_US);
	/* Twice: nothing stays behind. */
	o->host[1].got = 0;
	send_some(o, 0, 1, 1);
	run_to(o, 20 * WF_MS);
	assert_int_equal(o->host[1].first - 10 * WF_MS, before);
	assert_true(wf_gated_next(o->rig.sim) == WF_TIME_NEVER);
	/* Both links a millisecond longer. */
	assert_int_equal(wf_gated_set_link(o->rig.sim, 0, &slow), 0);
	assert_int_equal(wf_gated_set_link(o->rig.sim, 1, &slow), 0);
	o->host[1].got = 0;
	send_some(o, 0, 1, 1);
	run_to(o, 30 * WF_MS);
	after = o->host[1].first - 20 * WF_MS;
	assert_int_equal(after, before + 2 * WF_MS);
	/* What has not been asked for yet is waited for. */
	o->host[1].got = 0;
	o->ready = 33 * WF_MS;
	send_some(o, 0, 1, 1);
	run_to(o, 40 * WF_MS);
	assert_int_equal(o->host[1].first, 33 * WF_MS + after);
	end(o);
}

/* A port sends at its rate, with Ethernet's preamble and gap, and no faster. */
static void test_rate_is_the_links(void **state)
{
	struct outside *o = begin("pfc", "single", 2);
	uint64_t wire = wf_size_packet(WF_ENCAP_ROCE2_IPV4, false, WF_OP_RC_SEND_ONLY, MTU) + 20;

	(void)state;
	rig_topo(&o->rig, "host_rate", "1Gbps");
	build(o);
	send_some(o, 0, 1, 1001);
	run_to(o, 100 * WF_MS);
	assert_int_equal(o->host[1].got, 1001);
	assert_int_equal((o->host[1].last - o->host[1].first) / (wf_time)(wire * 8 * WF_NS), 1000);
	end(o);
}

/* Two to one: the switch pauses them or gives no credits, and nothing is lost; or it drops. */
static void test_incast(void **state)
{
	static const char *const layer[] = { "pfc", "credit", "none" };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct outside *o = begin(layer[i], "single", 3);

		rig_topo(&o->rig, "host_rate", "10Gbps");
		if (i != 1) {
			rig_set(&o->rig, "buffer.size", "1MB");
			rig_set(&o->rig, "buffer.reserved", "0B");
		}
		build(o);
		send_some(o, 0, 2, 2000);
		send_some(o, 1, 2, 2000);
		run_to(o, 50 * WF_MS);
		assert_int_equal(o->sent, 4000);
		assert_int_equal(o->host[2].got + o->lost, 4000);
		assert_int_equal(o->lost == 0, i < 2);
		assert_int_equal(total(o, true) > 0, i == 0);
		assert_int_equal(total(o, false) > 0, i == 1);
		end(o);
	}
}

/* A storm stops who sends to the host, and later whoever shares a buffer with them. */
static void test_storm(void **state)
{
	static const char *const layer[] = { "pfc", "credit" };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct outside *o = begin(layer[i], "single", 3);
		uint64_t got;

		rig_topo(&o->rig, "host_rate", "10Gbps");
		if (i == 0)
			rig_set(&o->rig, "buffer.size", "1MB");
		build(o);
		wf_gated_storm(o->rig.sim, 1, true);
		run_to(o, 1 * WF_MS);
		send_some(o, 0, 1, 4000);
		run_to(o, 50 * WF_MS);
		got = o->host[1].got;
		assert_true(got < 100 && o->host[0].left > 1000);
		run_to(o, 80 * WF_MS);
		assert_int_equal(o->host[1].got, got);
		/* Host 2 wants to be sent to by host 0, whose port the switch keeps paused. */
		o->host[0].to = 2;
		run_to(o, 90 * WF_MS);
		assert_int_equal(o->host[2].got, 0);
		wf_gated_storm(o->rig.sim, 1, false);
		run_to(o, 200 * WF_MS);
		assert_int_equal(o->host[1].got + o->host[2].got, 4000);
		assert_true(o->host[2].got > 1000 && o->lost == 0);
		end(o);
	}
}

/* On a longer link that becomes shorter again, packets stay in order. */
/*
 * An adapter that takes in 20 Gb/s: packets go to the program one after another, each as long after
 * the one before as its bytes take, whatever stops the sender meanwhile. When it is over they come
 * at the link's rate, and what waited is not lost.
 */
static void test_slow_adapter(void **state)
{
	static const char *const layers[] = { "pfc", "credit" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(layers); i++) {
		struct outside *o = begin(layers[i], "single", 2);
		wf_time wire;

		rig_topo(&o->rig, "host_rate", "100Gbps");
		build(o);
		wf_sim_slow_fault(o->rig.sim, 1, true, UINT64_C(20000000000), o->now);
		send_some(o, 0, 1, 500);
		run_to(o, 5 * WF_MS);
		assert_int_equal(o->host[1].got, 500);
		assert_int_equal(o->host[1].last - o->host[1].first, 499 * MTU * 400);
		assert_true(total(o, i == 0) > 0);
		/* In the middle. */
		o->host[1].got = 0;
		send_some(o, 0, 1, 500);
		run_to(o, o->now + 100 * WF_US);
		assert_in_range(o->host[1].got, 55, 61);
		wf_gated_mend_host(o->rig.sim, 1);
		wire = o->host[1].last;
		run_to(o, 10 * WF_MS);
		assert_int_equal(o->host[1].got, 500);
		assert_int_equal(o->lost, 0);
		/* 440 packets, of which the buffer's come at once, at 0.33 us each. */
		assert_in_range(o->host[1].last - wire, 390 * MTU * 80, 450 * (MTU + 100) * 80);
		assert_true(wf_gated_next(o->rig.sim) == WF_TIME_NEVER);
		end(o);
	}
}

static void test_shorter_link_keeps_order(void **state)
{
	struct outside *o = begin("pfc", "single", 2);
	struct wf_gated_fault f = { .delay = 200 * WF_US };

	(void)state;
	rig_topo(&o->rig, "host_rate", "10Gbps");
	build(o);
	send_some(o, 0, 1, 3000);
	for (unsigned i = 0; i < 20; i++) {
		run_to(o, o->now + 300 * WF_US);
		f.delay = i % 3 * 100 * WF_US;
		assert_int_equal(wf_gated_set_link(o->rig.sim, i % 2, &f), 0);
	}
	run_to(o, 100 * WF_MS);
	assert_int_equal(o->host[1].got, 3000);
	f.delay = wf_gated_delay_max(o->rig.sim) + 1;
	assert_int_equal(wf_gated_set_link(o->rig.sim, 0, &f), -ERANGE);
	end(o);
}

static void test_loss_and_corruption(void **state)
{
	struct outside *o = begin("credit", "single", 2);
	struct wf_gated_fault f = { .loss = WF_PROB_ONE / 10, .corrupt = WF_PROB_ONE / 10 };

	(void)state;
	rig_topo(&o->rig, "host_rate", "10Gbps");
	build(o);
	assert_int_equal(wf_gated_set_link(o->rig.sim, 0, &f), 0);
	send_some(o, 0, 1, 5000);
	run_to(o, 100 * WF_MS);
	assert_int_equal(o->host[1].got + o->lost, 5000);
	assert_true(o->lost > 350 && o->lost < 650);
	assert_true(o->host[1].bad > 300 && o->host[1].bad < 600);
	assert_true(fault_of(o, 0).loss == f.loss && fault_of(o, 1).loss == 0);
	/* All is well again: credits are none the fewer. */
	f = (struct wf_gated_fault){ .loss = 0 };
	assert_int_equal(wf_gated_set_link(o->rig.sim, 0, &f), 0);
	o->host[1].got = o->host[1].bad = o->lost = 0;
	send_some(o, 0, 1, 5000);
	run_to(o, 200 * WF_MS);
	assert_int_equal(o->host[1].got, 5000);
	assert_int_equal(o->host[1].bad + o->lost, 0);
	end(o);
}

/* The links of a node that lead to switches. */
static uint32_t uplinks(const struct wf_topo *t, uint32_t node, uint32_t *links)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_links; i++) {
		const struct wf_topo_link *l = &t->links[i];

		if ((l->a == node || l->b == node) && t->nodes[l->a].kind != WF_TOPO_HOST &&
		    t->nodes[l->b].kind != WF_TOPO_HOST)
			links[n++] = i;
	}
	return n;
}

/*
 * All ways up from the sender's switch but one go down: what was on them is lost, then the rest
 * goes by the one; without that, nothing arrives; when all is mended, everything does.
 */
static void test_links_go_down(void **state)
{
	struct outside *o = begin("pfc", "leaf-spine", 8);
	struct wf_gated_fault down = { .down = true }, up = { .down = false };
	const struct wf_topo_node *host;
	uint32_t links[64], n;
	uint64_t got;

	(void)state;
	rig_topo(&o->rig, "host_rate", "10Gbps");
	rig_topo(&o->rig, "radix", "4");
	o->rig.reconverge = 100 * WF_US;
	build(o);
	host = &o->rig.topo->nodes[o->rig.topo->host_node[0]];
	n = uplinks(o->rig.topo, o->rig.topo->ports[host->first_port].peer, links);
	assert_int_equal(n, 2);
	assert_int_equal(wf_gated_set_link(o->rig.sim, links[0], &down), 0);
	run_to(o, 1 * WF_MS);
	send_some(o, 0, 7, 100);
	run_to(o, 5 * WF_MS);
	assert_int_equal(o->host[7].got, 100);
	assert_int_equal(wf_gated_set_link(o->rig.sim, links[1], &down), 0);
	run_to(o, 6 * WF_MS);
	send_some(o, 0, 7, 100);
	run_to(o, 10 * WF_MS);
	assert_int_equal(o->host[7].got, 100);
	assert_int_equal(o->lost, 100);
	assert_int_equal(wf_gated_set_link(o->rig.sim, links[0], &up), 0);
	run_to(o, 11 * WF_MS);
	send_some(o, 0, 7, 100);
	run_to(o, 15 * WF_MS);
	assert_int_equal(o->host[7].got, 200);
	/* The host's own link, with packets on it. */
	n = o->rig.topo->ports[host->first_port].link;
	send_some(o, 0, 7, 1000);
	run_to(o, 16 * WF_MS);
	got = o->host[7].got;
	assert_true(got > 200 && got < 1200);
	assert_int_equal(wf_gated_set_link(o->rig.sim, n, &down), 0);
	run_to(o, 30 * WF_MS);
	assert_true(o->host[0].left > 0);
	assert_int_equal(wf_gated_set_link(o->rig.sim, n, &up), 0);
	wf_gated_wake(o->rig.sim, 0, o->now);
	run_to(o, 60 * WF_MS);
	assert_int_equal(o->host[0].left, 0);
	assert_int_equal(o->host[7].got + o->lost, 1300);
	assert_true(o->host[7].got > 1190);
	end(o);
}

/* Packets that ports have counted as dropped. */
static uint64_t drops_of(const struct outside *o)
{
	const struct wf_topo *t = o->rig.topo;
	struct wf_sim_counts c;
	uint64_t n = 0;

	for (uint32_t id = 0; id < t->n_nodes; id++) {
		for (unsigned p = 0; p < t->nodes[id].n_ports; p++) {
			for (unsigned q = 0; wf_sim_port_counts(o->rig.sim, id, p, q, &c); q++)
				n += c.drops_congestion + c.drops_error + c.drops_down +
				     c.drops_route;
		}
	}
	return n;
}

/* Drops at a node that were noted, all of them of packets from host 0 on a link that was down. */
static uint64_t noted(const struct outside *o, uint32_t node)
{
	uint64_t n = 0;

	for (const struct wf_incident_chunk *c = o->rig.sim->net.shards[0]->first_incident;
	     c != NULL; c = c->next) {
		for (uint32_t i = 0; i < c->n; i++) {
			if (c->note[i].node != node || c->note[i].kind != WF_INCIDENT_DROP)
				continue;
			assert_int_equal(c->note[i].src, 0);
			assert_int_equal(c->note[i].why, WF_DROP_DOWN);
			n++;
		}
	}
	return n;
}

/* Every packet that was taken from outside is in one count, and only in one. */
static void check_counts(struct outside *o)
{
	struct wf_err err = { "" };

	rig_result(&o->rig);
	assert_int_equal(o->rig.result->packets_sent, o->sent);
	assert_int_equal(o->rig.result->packets_dropped, o->lost);
	assert_int_equal(drops_of(o), o->lost);
	if (wf_sim_check(o->rig.sim, &err) != 0)
		fail_msg("%s", err.text);
}

/*
 * The link of a host goes down while a packet waits at the head of its queue for flow control:
 * whoever is outside has it back, and it counts as sent and as dropped.
 */
static void test_link_goes_down_with_a_head(void **state)
{
	static const char *const layer[] = { "pfc", "credit" };
	struct wf_gated_fault down = { .down = true }, up = { .down = false };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct outside *o = begin(layer[i], "single", 2);
		struct wf_endpoint *ep;
		uint64_t lost_before;

		rig_topo(&o->rig, "host_rate", "10Gbps");
		if (i == 0)
			rig_set(&o->rig, "buffer.size", "1MB");
		build(o);
		o->rig.sim->fabric.incidents = 1u << WF_INCIDENT_DROP;
		ep = wf_endpoint_of_device(wf_network_host(&o->rig.sim->net, 0));
		wf_gated_storm(o->rig.sim, 1, true);
		run_to(o, 1 * WF_MS);
		send_some(o, 0, 1, 1000);
		run_to(o, 20 * WF_MS);
		/* The switch is full, nothing moves, and one waits. */
		assert_int_equal(o->lost, 0);
		assert_int_equal(__builtin_popcount(ep->waiting), 1);
		rig_result(&o->rig);
		assert_int_equal(o->rig.result->packets_sent, o->sent - 1);
		lost_before = o->lost;
		assert_int_equal(wf_gated_set_link(o->rig.sim, 0, &down), 0);
		assert_int_equal(o->lost, lost_before + 1);
		assert_int_equal(ep->waiting, 0);
		assert_int_equal(noted(o, o->rig.topo->host_node[0]), 1);
		check_counts(o);
		wf_gated_storm(o->rig.sim, 1, false);
		run_to(o, 30 * WF_MS);
		assert_int_equal(wf_gated_set_link(o->rig.sim, 0, &up), 0);
		wf_gated_wake(o->rig.sim, 0, o->now);
		run_to(o, 60 * WF_MS);
		assert_int_equal(o->sent, 1000);
		assert_int_equal(o->host[1].got + o->lost, 1000);
		assert_int_equal(o->lost, 1);
		check_counts(o);
		end(o);
	}
}

/*
 * A link that has come up becomes longer: what is on it was sent after that, and none of it is
 * lost.
 */
static void test_longer_link_after_up(void **state)
{
	struct outside *o = begin("credit", "single", 2);
	struct wf_gated_fault f = { .down = true };

	(void)state;
	rig_topo(&o->rig, "host_rate", "100Gbps");
	build(o);
	assert_int_equal(wf_gated_set_link(o->rig.sim, 0, &f), 0);
	run_to(o, 20 * WF_US);
	f.down = false;
	assert_int_equal(wf_gated_set_link(o->rig.sim, 0, &f), 0);
	send_some(o, 0, 1, 200);
	run_to(o, 22 * WF_US);
	f.delay = 300 * WF_US;
	assert_int_equal(wf_gated_set_link(o->rig.sim, 0, &f), 0);
	run_to(o, 10 * WF_MS);
	assert_int_equal(o->lost, 0);
	assert_int_equal(o->host[1].got, 200);
	end(o);
}

/* A buffer is divided up once: a link that became longer has no more headroom when it comes up. */
static void test_headroom_stays(void **state)
{
	struct outside *o = begin("pfc", "single", 3);
	struct wf_gated_fault f = { .delay = 300 * WF_US };
	struct wf_err err = { "" };
	uint32_t sw;

	(void)state;
	rig_topo(&o->rig, "host_rate", "100Gbps");
	rig_set(&o->rig, "buffer.size", "1MB");
	build(o);
	sw = o->rig.topo->links[0].a == o->rig.topo->host_node[0] ? o->rig.topo->links[0].b
	                                                          : o->rig.topo->links[0].a;
	for (unsigned link = 0; link < 3; link++) {
		struct wf_sim_lane_state before, after;
		unsigned q = o->rig.sim->fabric.classes.of[3];

		assert_true(wf_sim_lane_state(o->rig.sim, sw, link, q, &before));
		f.down = true;
		assert_int_equal(wf_gated_set_link(o->rig.sim, link, &f), 0);
		f.down = false;
		assert_int_equal(wf_gated_set_link(o->rig.sim, link, &f), 0);
		assert_true(wf_sim_lane_state(o->rig.sim, sw, link, q, &after));
		assert_true(before.capacity > 0);
		assert_int_equal(after.capacity, before.capacity);
	}
	send_some(o, 0, 2, 3000);
	send_some(o, 1, 2, 3000);
	run_to(o, 10 * WF_MS);
	assert_int_equal(o->host[2].got + o->lost, 6000);
	if (wf_sim_check(o->rig.sim, &err) != 0)
		fail_msg("%s", err.text);
	end(o);
}

static uint32_t draw(uint32_t *n, uint32_t below)
{
	return wf_rand_below(wf_rand64(wf_rand_key(1, 77, 0), (*n)++), below);
}

/* Links go down, come up, and change their length, in any order and as often as one likes. */
static void test_links_change_at_random(void **state)
{
	static const char *const layer[] = { "pfc", "credit" };
	uint32_t n = 0;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct outside *o = begin(layer[i], "single", 3);
		struct wf_gated_fault f = { .down = false };
		struct wf_err err = { "" };

		rig_topo(&o->rig, "host_rate", "10Gbps");
		rig_set(&o->rig, "switch.cut_through", "false");
		if (i == 1)
			rig_set(&o->rig, "vl.buffer", "16KiB");
		build(o);
		send_some(o, 0, 2, 100000);
		send_some(o, 1, 2, 100000);
		for (unsigned k = 0; k < 600; k++) {
			run_to(o, o->now + (wf_time)(1 + draw(&n, 10000)) * WF_NS);
			f.down = draw(&n, 4) == 0;
			f.delay = (wf_time)draw(&n, 4) * 3 * WF_US;
			assert_int_equal(wf_gated_set_link(o->rig.sim, draw(&n, 3), &f), 0);
			wf_gated_wake(o->rig.sim, k % 2, o->now);
			if (wf_sim_check(o->rig.sim, &err) != 0)
				fail_msg("%s", err.text);
		}
		/* All is well again: what was sent has come or is lost, and credits are home. */
		o->host[0].left = o->host[1].left = 0;
		f = (struct wf_gated_fault){ .down = false };
		for (unsigned link = 0; link < 3; link++)
			assert_int_equal(wf_gated_set_link(o->rig.sim, link, &f), 0);
		run_to(o, o->now + 5 * WF_MS);
		assert_true(o->lost > 50 && o->host[2].got > 300);
		assert_int_equal(o->host[2].got + o->lost, o->sent);
		if (wf_sim_check(o->rig.sim, &err) != 0)
			fail_msg("%s", err.text);
		end(o);
	}
}

/* ---- two programs on a host, a class each ---- */

struct two {
	struct rig rig;
	struct {
		uint8_t cls;
		uint32_t left, got;
		wf_time end;
	} prog[2];
	unsigned turn; /* whose packet is next, if both have one */
};

static bool two_next(void *arg, uint32_t host, uint32_t held, wf_time now, struct wf_packet *pkt,
                     wf_time *again_p)
{
	struct two *t = arg;

	if (now < WF_US) {
		*again_p = wf_min_time(*again_p, WF_US); /* both have something from then on */
		return false;
	}
	for (unsigned n = 0; host == 0 && n < 2; n++) {
		unsigned i = t->turn++ % 2;

		if (t->prog[i].left == 0 || (held >> t->prog[i].cls & 1) != 0)
			continue;
		t->prog[i].left--;
		*pkt = (struct wf_packet){
			.type = WF_PACKET_RDMA,
			.opcode = WF_OP_RC_SEND_ONLY,
			.dst = 1,
			.cls = t->prog[i].cls & WF_PACKET_CLASS,
			.length = MTU,
			.qpn = i,
			.size = wf_size_packet(wf_header_encap(t->rig.fabric.header), false,
			                       WF_OP_RC_SEND_ONLY, MTU),
		};
		return true;
	}
	return false;
}

static void two_deliver(void *arg, uint32_t host, const struct wf_packet *pkt, wf_time now)
{
	struct two *t = arg;

	assert_int_equal(host, 1);
	t->prog[pkt->qpn].got++;
	t->prog[pkt->qpn].end = now;
}

static void two_lost(void *arg, const struct wf_packet *pkt)
{
	(void)arg;
	(void)pkt;
	fail_msg("nothing is lost");
}

static const struct wf_gate_ops two_ops = { two_next, two_deliver, two_lost, go_on, NULL };

/*
 * Both have as many packets for the same host, and take turns when they are asked. Returns when
 * class a's are through, in thousandths of when b's are: (1 / share) / 2.
 */
static uint64_t race(struct two *t, uint8_t a, uint8_t b)
{
	struct wf_err err = { "" };
	uint64_t share;

	t->rig.gate = &two_ops;
	t->rig.gate_arg = t;
	rig_topo(&t->rig, "host_rate", "100Gbps");
	if (rig_build(&t->rig, 1, &err) != 0)
		fail_msg("%s", err.text);
	t->prog[0].cls = b;
	t->prog[1].cls = a;
	t->prog[0].left = t->prog[1].left = 2000;
	wf_gated_wake(t->rig.sim, 0, 0);
	assert_int_equal(wf_gated_run(t->rig.sim, 10 * WF_MS), 0);
	assert_int_equal(t->prog[0].got, 2000);
	assert_int_equal(t->prog[1].got, 2000);
	share = (uint64_t)(t->prog[1].end * 1000 / t->prog[0].end);
	rig_fini(&t->rig);
	return share;
}

/* The port of a gate chooses among classes as any port: by weight (802.1Qaz), by VL (IBTA). */
static void test_classes_share_by_weight(void **state)
{
	struct two t = { .turn = 0 };

	(void)state;
	rig_init(&t.rig, "pfc", "single", 2);
	rig_set(&t.rig, "classes.weights", "0:25,3:75");
	assert_in_range(race(&t, 3, 0), 656, 676); /* (1 / 0.75) / 2 */
	t = (struct two){ .turn = 0 };
	rig_init(&t.rig, "pfc", "single", 2);
	rig_set(&t.rig, "classes.weights", "0:75,3:25");
	assert_in_range(race(&t, 0, 3), 656, 676);
	t = (struct two){ .turn = 0 };
	rig_init(&t.rig, "pfc", "single", 2);
	rig_set(&t.rig, "classes.strict", "6");
	assert_in_range(race(&t, 6, 3), 490, 510); /* (1 / 1) / 2 */
	t = (struct two){ .turn = 0 };
	rig_init(&t.rig, "credit", "single", 2);
	rig_set(&t.rig, "vl.arb_high", "");
	rig_set(&t.rig, "vl.count", "2");
	rig_set(&t.rig, "vl.arb_low", "0:64,1:192");
	assert_in_range(race(&t, 1, 0), 646, 686);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delay_is_exact),
		cmocka_unit_test(test_rate_is_the_links),
		cmocka_unit_test(test_incast),
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_slow_adapter),
		cmocka_unit_test(test_shorter_link_keeps_order),
		cmocka_unit_test(test_loss_and_corruption),
		cmocka_unit_test(test_links_go_down),
		cmocka_unit_test(test_link_goes_down_with_a_head),
		cmocka_unit_test(test_longer_link_after_up),
		cmocka_unit_test(test_headroom_stays),
		cmocka_unit_test(test_links_change_at_random),
		cmocka_unit_test(test_classes_share_by_weight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
