/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios: what a sender makes of pause frames that come close together, and what it accounts for
 * when its link goes down. Frames are handed to a host's port, and it is asked when it may send.
 * By hand, from 802.1Qbb and 802.3 31B: a frame acts a reaction time after it came in, a quantum is
 * 512 bit times, and of two frames the later one counts.
 */
#include "rig.h"

#include "fabric/flowctl/headroom.h"

#define MOST UINT16_MAX

struct port {
	struct rig rig;
	struct wf_device *dev;
	struct wf_port *port;
	struct wf_lane *lane;
	unsigned queue;
	wf_time reaction;
};

static void begin(struct port *p)
{
	struct wf_err err = { "" };

	rig_init(&p->rig, "pfc", "single", 2);
	rig_topo(&p->rig, "host_rate", "100Gbps");
	rig_set(&p->rig, "pfc.reaction", "2us");
	if (rig_build(&p->rig, 1, &err) != 0)
		fail_msg("%s", err.text);
	p->dev = p->rig.sim->net.devices[p->rig.topo->host_node[0]];
	p->port = &p->dev->ports[0];
	p->queue = p->rig.sim->fabric.classes.of[3];
	p->lane = &p->port->lanes[p->queue];
	p->reaction =
		wf_pfc_reaction(&p->rig.fabric, p->port->rate, &p->rig.topo->nodes[p->dev->id]);
	assert_true(p->reaction > 100 * WF_NS && p->reaction <= 2 * WF_US);
}

static void frame(struct port *p, wf_time at, uint16_t quanta)
{
	struct wf_packet pkt = { .type = WF_PACKET_PAUSE };

	pkt.u.pause.mask = 1u << 3;
	pkt.u.pause.quanta[0] = quanta;
	p->rig.sim->fabric.flowctl->control(p->dev, p->port, &pkt, at);
}

static bool sends(const struct port *p, wf_time at)
{
	return wf_flowctl_ready(p->rig.sim->fabric.flowctl, p->port, p->lane, p->queue, 100, at) <=
	       at;
}

/* Runs from one picosecond to the next, and only there. */
static void changes(const struct port *p, wf_time at, bool to)
{
	assert_int_equal(sends(p, at - 1), !to);
	assert_int_equal(sends(p, at), to);
}

static uint64_t paused(const struct port *p)
{
	struct wf_sim_counts c;

	assert_true(wf_sim_port_counts(p->rig.sim, p->dev->id, 0, p->queue, &c));
	return c.paused_ps;
}

/* Stop, go, and stop again before the sender has gone: it goes in between, and stops twice. */
static void test_stop_within_the_reaction(void **state)
{
	struct port p;
	wf_time r, t[] = { 10 * WF_US, 20 * WF_US, 0, 40 * WF_US };

	(void)state;
	begin(&p);
	r = p.reaction;
	t[2] = t[1] + r / 2;
	frame(&p, t[0], MOST);
	changes(&p, t[0] + r, false);
	frame(&p, t[1], 0);
	changes(&p, t[1] + r, true);
	frame(&p, t[2], MOST);
	changes(&p, t[1] + r, true);
	changes(&p, t[2] + r, false);
	assert_int_equal(p.lane->stops, 2);
	frame(&p, t[3], 0);
	changes(&p, t[3] + r, true);
	/* A frame later, both are over and counted. */
	frame(&p, 60 * WF_US, 0);
	assert_int_equal(p.lane->stopped_ps, t[1] - t[0] + t[3] - t[2]);
	assert_int_equal(p.lane->pause_rx, 2);
	rig_fini(&p.rig);
}

/* A refresh goes on with the pause; without one the quanta run out: 100 of 64 bytes at 100 Gb/s. */
static void test_quanta(void **state)
{
	struct port p;
	wf_time r;

	(void)state;
	begin(&p);
	r = p.reaction;
	frame(&p, 10 * WF_US, 100);
	changes(&p, 10 * WF_US + r, false);
	changes(&p, 10 * WF_US + r + 512 * WF_NS, true);
	frame(&p, 10400 * WF_NS, 100);
	changes(&p, 10400 * WF_NS + r + 512 * WF_NS, true);
	assert_int_equal(p.lane->stops, 1);
	frame(&p, 20 * WF_US, 0);
	assert_int_equal(p.lane->stopped_ps, 912 * WF_NS);
	rig_fini(&p.rig);
}

/* The link goes down in the middle of a pause: what was of it counts, then and afterwards. */
static void test_pause_and_link_down(void **state)
{
	struct port p;
	wf_time r;

	(void)state;
	begin(&p);
	r = p.reaction;
	frame(&p, 10 * WF_US, MOST);
	/* Gone and stopped again, neither of which has come by then. */
	frame(&p, 30 * WF_US - r / 2, 0);
	frame(&p, 30 * WF_US - r / 4, MOST);
	wf_network_set_link(&p.rig.sim->net, 0, false, 30 * WF_US);
	assert_int_equal(p.lane->stopped_ps, 20 * WF_US - r);
	wf_network_set_link(&p.rig.sim->net, 0, true, 31 * WF_US);
	assert_int_equal(paused(&p), 20 * WF_US - r);
	assert_true(sends(&p, 31 * WF_US) && sends(&p, 35 * WF_US));
	/* And the next pause is added to it. */
	frame(&p, 40 * WF_US, MOST);
	wf_network_set_link(&p.rig.sim->net, 0, false, 50 * WF_US);
	assert_int_equal(paused(&p), 30 * WF_US - 2 * r);
	assert_int_equal(p.lane->stops, 3);
	rig_fini(&p.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stop_within_the_reaction),
		cmocka_unit_test(test_quanta),
		cmocka_unit_test(test_pause_and_link_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
