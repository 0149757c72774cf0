/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smnet.h - a little network for tests of subnet managers: an agent (mgmt/sma.h) on every node of a
 * graph, packets that go hop by hop in virtual time, links and nodes that fail, and managers on any of
 * the nodes. There is no fabric in it: a hop takes a fixed time, and nothing waits for anything.
 */
#ifndef WF_TESTS_SMNET_H
#define WF_TESTS_SMNET_H

#include "../check.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "mgmt/route_dr.h"
#include "mgmt/sm/sm.h"
#include "mgmt/sma.h"
#include "subnet/subnet.h"
#include "wire/byte.h"
#include "wire/ib.h"

#define NET_SWITCH_GUID UINT64_C(0x0002c90000000000)
#define NET_HOST_GUID UINT64_C(0x0002c90100000000)
#define NET_SMS 4
#define NET_LOG 64

struct net_node {
	struct net *net;
	struct wf_sma *sma;
	struct wf_sm *sm; /* NULL: none */
	uint32_t id;
	bool dead, mute; /* mute: its agent does not answer */
	wf_time due;     /* of the agent, as it was noted last */
};

struct net_packet {
	wf_time at;
	uint64_t number;
	uint32_t node; /* where it comes to */
	uint32_t next; /* free ones */
	uint16_t dlid, slid;
	uint8_t port;
	bool is_timer;
	uint8_t mad[WF_MAD_LEN];
};

struct net_manager {
	struct wf_sm *sm;
	uint32_t node;
	unsigned port;
	/* What it told. */
	enum wf_sm_state states[NET_LOG];
	unsigned n_states;
	unsigned ups, routed, found, lost, traps, errors, sweeps, notes;
	wf_time up_at, routed_at, state_at;
	uint64_t last_lost;
	uint16_t last_trap;
	char note[128];
};

struct net {
	struct wf_subnet *topo;
	struct net_node *nodes;
	bool *cut; /* by index of the graph's ports: its link is down */
	struct net_manager sms[NET_SMS];
	unsigned n_sms;
	wf_time now, hop;
	uint64_t number;
	uint64_t lose; /* of 2^32 packets */
	uint64_t seed, drawn;
	uint64_t hops; /* that packets have gone */
	uint64_t lost_packets;
	uint32_t *heap;
	uint32_t n_heap, max_heap;
	struct net_packet *packets;
	uint32_t free;
	uint64_t bend;     /* of 2^32 MADs to managers: some bytes are others */
	uint64_t lose_set; /* the n-th Set is lost, from 1; 0: none */
	uint64_t sets;
	double cpu; /* seconds spent in managers, where clock is given */
	double (*clock)(void);
};

/* ---- the heap of what will happen ---- */

static bool net_before(const struct net *net, uint32_t a, uint32_t b)
{
	const struct net_packet *x = &net->packets[a], *y = &net->packets[b];

	return x->at != y->at ? x->at < y->at : x->number < y->number;
}

static void net_room(struct net *net)
{
	uint32_t more = net->max_heap == 0 ? 1024 : 2 * net->max_heap;

	net->packets = realloc(net->packets, more * sizeof(*net->packets));
	net->heap = realloc(net->heap, more * sizeof(*net->heap));
	assert_true(net->packets != NULL && net->heap != NULL);
	for (uint32_t i = net->max_heap; i < more; i++)
		net->packets[i].next = i + 1 < more ? i + 1 : UINT32_MAX;
	net->free = net->max_heap;
	net->max_heap = more;
}

/* A new one, which is put into the heap by net_push(). */
static struct net_packet *net_new(struct net *net)
{
	struct net_packet *p;

	if (net->free == UINT32_MAX || net->max_heap == 0)
		net_room(net);
	p = &net->packets[net->free];
	net->free = p->next;
	p->is_timer = false;
	return p;
}

static void net_push(struct net *net, struct net_packet *p, wf_time at)
{
	uint32_t i = net->n_heap++;

	p->at = at;
	p->number = net->number++;
	net->heap[i] = (uint32_t)(p - net->packets);
	for (; i > 0 && net_before(net, net->heap[i], net->heap[(i - 1) / 2]); i = (i - 1) / 2) {
		uint32_t up = net->heap[(i - 1) / 2];

		net->heap[(i - 1) / 2] = net->heap[i];
		net->heap[i] = up;
	}
}

static uint32_t net_pop(struct net *net)
{
	uint32_t first = net->heap[0], i = 0;

	net->heap[0] = net->heap[--net->n_heap];
	for (;;) {
		uint32_t least = i, swap;

		for (uint32_t c = 2 * i + 1; c <= 2 * i + 2 && c < net->n_heap; c++) {
			if (net_before(net, net->heap[c], net->heap[least]))
				least = c;
		}
		if (least == i)
			return first;
		swap = net->heap[least];
		net->heap[least] = net->heap[i];
		net->heap[i] = swap;
		i = least;
	}
}

/* ---- nodes ---- */

static void net_changed(void *arg, unsigned port, unsigned what)
{
	(void)arg;
	(void)port;
	(void)what;
}

static bool net_link_is_up(const struct net *net, uint32_t index)
{
	const struct wf_subnet_port *port = &net->topo->ports[index];
	const struct wf_subnet_port *peer = wf_subnet_peer(net->topo, port);

	return peer != NULL && !net->cut[index] && !net->cut[peer - net->topo->ports] &&
	       !net->nodes[port->node].dead && !net->nodes[peer->node].dead;
}

/* The timer of an agent: once for each time that it names. */
static void net_note_due(struct net *net, uint32_t id)
{
	struct net_node *node = &net->nodes[id];
	wf_time at = wf_sma_deadline(node->sma);
	struct net_packet *p;

	if (node->dead || at == WF_TIME_NEVER || (node->due != WF_TIME_NEVER && node->due <= at))
		return;
	node->due = at;
	p = net_new(net);
	p->is_timer = true;
	p->node = id;
	net_push(net, p, wf_max_time(at, net->now));
}

static void net_train(struct net *net, uint32_t index)
{
	const struct wf_subnet_port *port = &net->topo->ports[index];
	const struct wf_port_info *info;
	unsigned number = wf_subnet_number(net->topo, port);

	if (!net_link_is_up(net, index))
		return;
	info = wf_sma_port(net->nodes[port->node].sma, number);
	if (info->port_state == WF_PORT_DOWN && info->port_physical_state != WF_PHYS_DISABLED)
		wf_sma_link_up(net->nodes[port->node].sma, number, WF_WIDTH_4X, WF_SPEED_NDR,
		               net->now);
	net_note_due(net, port->node);
}

/* A manager has reset a link, or disabled a port: both ends lose it, and it trains again. */
static void net_physical(void *arg, unsigned port, enum wf_port_phys to)
{
	struct net_node *node = arg;
	struct net *net = node->net;
	const struct wf_subnet_port *at = wf_subnet_port(net->topo, node->id, port);
	const struct wf_subnet_port *peer = wf_subnet_peer(net->topo, at);

	if (peer == NULL)
		return;
	wf_sma_link_down(net->nodes[peer->node].sma, at->peer_port, net->now);
	if (to != WF_PHYS_POLLING)
		return;
	for (unsigned i = 0; i < 2; i++) { /* an event of its own: not within the agent */
		struct net_packet *p = net_new(net);

		p->is_timer = true;
		p->node = UINT32_MAX - (uint32_t)((i == 0 ? at : peer) - net->topo->ports);
		net_push(net, p, net->now);
	}
}

static const struct wf_sma_ops net_ops = { net_changed, net_physical };

static void net_agent(struct net *net, uint32_t id)
{
	const struct wf_subnet_node *node = &net->topo->nodes[id];
	bool is_switch = wf_subnet_is_switch(net->topo, id);
	struct wf_sma_cfg cfg;

	wf_sma_cfg_init(&cfg, is_switch);
	cfg.n_ports = node->n_ports;
	cfg.node_guid = node->guid;
	cfg.system_image_guid = node->guid;
	cfg.port_guid = is_switch ? node->guid : wf_subnet_port(net->topo, id, 1)->guid;
	cfg.description = node->desc;
	cfg.mtu = 2048;
	cfg.vls = 8;
	cfg.widths = WF_WIDTH_4X;
	cfg.speeds = WF_SPEED_NDR;
	cfg.ops = &net_ops;
	cfg.arg = &net->nodes[id];
	net->nodes[id] = (struct net_node){ .net = net, .id = id, .due = WF_TIME_NEVER };
	assert_int_equal(wf_sma_create(&cfg, wf_mem_heap(), &net->nodes[id].sma), 0);
}

/* Takes over the graph. */
static struct net *net_new_of(struct wf_subnet *topo)
{
	struct net *net = calloc(1, sizeof(*net));

	net->topo = topo;
	net->hop = 500 * WF_NS;
	net->free = UINT32_MAX;
	net->seed = 1;
	net->nodes = calloc(topo->n_nodes, sizeof(*net->nodes));
	net->cut = calloc(topo->n_ports, sizeof(*net->cut));
	for (uint32_t i = 0; i < topo->n_nodes; i++)
		net_agent(net, i);
	for (uint32_t i = 0; i < topo->n_ports; i++)
		net_train(net, i);
	return net;
}

static void net_free(struct net *net)
{
	for (unsigned i = 0; i < net->n_sms; i++)
		wf_sm_destroy(net->sms[i].sm);
	for (uint32_t i = 0; i < net->topo->n_nodes; i++)
		wf_sma_destroy(net->nodes[i].sma);
	wf_subnet_destroy(net->topo);
	free(net->packets);
	free(net->heap);
	free(net->cut);
	free(net->nodes);
	free(net);
}

/* ---- packets ---- */

static void net_deliver(struct net *net, uint32_t id, unsigned port, uint16_t dlid, uint16_t slid,
                        uint8_t *mad);

/* Sends a packet by a port of a node. */
static void net_out(struct net *net, uint32_t id, unsigned port, uint16_t dlid, uint16_t slid,
                    const uint8_t *mad)
{
	const struct wf_subnet_port *at;
	struct net_packet *p;

	if (port == 0 || port > net->topo->nodes[id].n_ports)
		return;
	at = wf_subnet_port(net->topo, id, port);
	if (!net_link_is_up(net, (uint32_t)(at - net->topo->ports)))
		return;
	if (net->lose != 0 && (wf_rand64(net->seed, net->drawn++) >> 32) < net->lose) {
		net->lost_packets++;
		return;
	}
	net->hops++;
	p = net_new(net);
	p->node = at->peer;
	p->port = at->peer_port;
	p->dlid = dlid;
	p->slid = slid;
	memcpy(p->mad, mad, WF_MAD_LEN);
	net_push(net, p, net->now + net->hop);
}

/* A packet with a LID that the node has, or that it sends. */
static void net_by_lid(struct net *net, uint32_t id, unsigned port, uint16_t dlid, uint16_t slid,
                       uint8_t *mad, bool own)
{
	const struct wf_sma *sma = net->nodes[id].sma;
	bool is_switch = wf_subnet_is_switch(net->topo, id);
	const struct wf_port_info *info = wf_sma_port(sma, is_switch ? 0 : port);

	if (dlid >= info->lid && dlid < info->lid + (1u << info->lmc))
		net_deliver(net, id, own ? 0 : port, dlid, slid, mad);
	else if (is_switch)
		net_out(net, id, wf_sma_lft(sma, dlid), dlid, slid, mad);
	else if (own)
		net_out(net, id, port, dlid, slid, mad);
}

static struct net_manager *net_manager_at(struct net *net, uint32_t id)
{
	for (unsigned i = 0; i < net->n_sms; i++) {
		if (net->sms[i].node == id && net->sms[i].sm != NULL)
			return &net->sms[i];
	}
	return NULL;
}

/* Carries what a manager has to send. */
static void net_pump(struct net *net, struct net_manager *m)
{
	const struct wf_dr_node node = { wf_subnet_is_switch(net->topo, m->node),
		                         net->topo->nodes[m->node].n_ports };
	struct wf_sm_addr to;
	uint8_t mad[WF_MAD_LEN];
	double begin = net->clock != NULL ? net->clock() : 0;

	while (!net->nodes[m->node].dead && wf_sm_tx(m->sm, &to, mad)) {
		struct wf_dr_next next;
		bool set = mad[3] == WF_MAD_METHOD_SET && ++net->sets == net->lose_set;

		if (net->clock != NULL)
			net->cpu += net->clock() - begin;
		if (set) {
			net->lost_packets++;
		} else if (mad[1] != WF_MAD_CLASS_SUBN_DR) {
			uint16_t slid = wf_sma_port(net->nodes[m->node].sma, m->port)->lid;

			net_by_lid(net, m->node, m->port, to.lid, slid, mad, true);
		} else {
			assert_int_equal(to.lid, WF_LID_PERMISSIVE);
			switch (wf_dr_tx(&node, mad, &next)) {
			case WF_DR_OUT:
				net_out(net, m->node, next.port, 0, 0, mad);
				break;
			case WF_DR_MINE:
				net_deliver(net, m->node, 0, 0, 0, mad);
				break;
			case WF_DR_DROP:
			case WF_DR_BY_LID:
				break;
			}
		}
		if (net->clock != NULL)
			begin = net->clock();
	}
	if (net->clock != NULL)
		net->cpu += net->clock() - begin;
}

static void net_bend(struct net *net, uint8_t *mad)
{
	unsigned n = 1 + (unsigned)(wf_rand64(net->seed, net->drawn++) % 4);

	for (unsigned i = 0; i < n; i++) {
		uint64_t x = wf_rand64(net->seed, net->drawn++);

		mad[x % WF_MAD_LEN] = (uint8_t)(x >> 32);
	}
}

static void net_to_manager(struct net *net, uint32_t id, uint16_t dlid, uint16_t slid, uint8_t *mad)
{
	struct net_manager *m = net_manager_at(net, id);
	struct wf_sm_addr from = { .lid = dlid == 0 ? WF_LID_PERMISSIVE : slid };
	double begin = net->clock != NULL ? net->clock() : 0;

	if (m == NULL)
		return;
	if (mad[1] == WF_MAD_CLASS_SUBN_LID)
		from.lid = slid;
	if (net->bend != 0 && (wf_rand64(net->seed, net->drawn++) >> 32) < net->bend)
		net_bend(net, mad);
	wf_sm_rx(m->sm, &from, mad, net->now);
	if (net->clock != NULL)
		net->cpu += net->clock() - begin;
}

/* What a node's agent answered, back to where it came from. */
static void net_answer(struct net *net, uint32_t id, unsigned port, uint16_t dlid, uint16_t slid,
                       uint8_t *mad)
{
	const struct wf_dr_node node = { wf_subnet_is_switch(net->topo, id),
		                         net->topo->nodes[id].n_ports };
	struct wf_dr_next next;

	if (mad[1] != WF_MAD_CLASS_SUBN_DR) {
		net_by_lid(net, id, port == 0 ? 1 : port, slid, dlid, mad, true);
		return;
	}
	switch (wf_dr_tx(&node, mad, &next)) {
	case WF_DR_OUT:
		net_out(net, id, next.port, 0, 0, mad);
		break;
	case WF_DR_MINE: {
		/* It asked itself: as an event, so that managers are not called from within. */
		struct net_packet *p = net_new(net);

		p->node = id;
		p->port = 0;
		p->dlid = 0;
		p->slid = 0;
		memcpy(p->mad, mad, WF_MAD_LEN);
		net_push(net, p, net->now);
		break;
	}
	case WF_DR_DROP:
	case WF_DR_BY_LID:
		break;
	}
}

static void net_deliver(struct net *net, uint32_t id, unsigned port, uint16_t dlid, uint16_t slid,
                        uint8_t *mad)
{
	if (net->nodes[id].mute)
		return;
	switch (wf_sma_rx(net->nodes[id].sma, port, mad, net->now)) {
	case WF_SMA_ANSWER:
		net_answer(net, id, port, dlid, slid, mad);
		break;
	case WF_SMA_FOR_SM:
		net_to_manager(net, id, dlid, slid, mad);
		break;
	case WF_SMA_DROP:
		break;
	}
	net_note_due(net, id);
}

static void net_arrive(struct net *net, uint32_t id, unsigned port, uint16_t dlid, uint16_t slid,
                       uint8_t *mad)
{
	const struct wf_dr_node node = { wf_subnet_is_switch(net->topo, id),
		                         net->topo->nodes[id].n_ports };
	struct wf_dr_next next;

	if (net->nodes[id].dead)
		return;
	if (mad[1] != WF_MAD_CLASS_SUBN_DR) {
		net_by_lid(net, id, port, dlid, slid, mad, false);
		return;
	}
	if (port == 0) { /* its own answer */
		net_to_manager(net, id, 0, 0, mad);
		return;
	}
	switch (wf_dr_rx(&node, port, mad, &next)) {
	case WF_DR_OUT:
		net_out(net, id, next.port, 0, 0, mad);
		break;
	case WF_DR_MINE:
		net_deliver(net, id, port, 0, 0, mad);
		break;
	case WF_DR_DROP:
	case WF_DR_BY_LID:
		break;
	}
}

/* An agent's traps. */
static void net_timer(struct net *net, uint32_t id)
{
	struct net_node *node = &net->nodes[id];
	struct wf_sma_packet packet;
	uint8_t mad[WF_MAD_LEN];

	if (id > UINT32_MAX / 2) {
		net_train(net, UINT32_MAX - id);
		return;
	}
	node->due = WF_TIME_NEVER;
	if (node->dead)
		return;
	wf_sma_tick(node->sma, net->now);
	while (wf_sma_tx(node->sma, net->now, &packet, mad)) {
		const struct wf_port_info *info = wf_sma_port(node->sma, packet.port);

		if (packet.dlid == info->lid)
			net_to_manager(net, id, packet.dlid, info->lid, mad);
		else
			net_by_lid(net, id, packet.port, packet.dlid, info->lid, mad, true);
	}
	net_note_due(net, id);
}

/* ---- time ---- */

static void net_step(struct net *net)
{
	uint32_t i = net_pop(net);
	struct net_packet p = net->packets[i];

	net->packets[i].next = net->free;
	net->free = i;
	net->now = p.at;
	if (p.is_timer)
		net_timer(net, p.node);
	else
		net_arrive(net, p.node, p.port, p.dlid, p.slid, p.mad);
	for (unsigned m = 0; m < net->n_sms; m++) {
		if (net->sms[m].sm != NULL)
			net_pump(net, &net->sms[m]);
	}
}

static wf_time net_next(const struct net *net)
{
	wf_time at = net->n_heap == 0 ? WF_TIME_NEVER : net->packets[net->heap[0]].at;

	for (unsigned m = 0; m < net->n_sms; m++) {
		if (net->sms[m].sm != NULL && !net->nodes[net->sms[m].node].dead)
			at = wf_min_time(at, wf_sm_deadline(net->sms[m].sm));
	}
	return at;
}

/* One thing happens; false: nothing will before end. */
static bool net_go(struct net *net, wf_time end)
{
	wf_time at = net_next(net);

	if (at > end)
		return false;
	if (net->n_heap > 0 && net->packets[net->heap[0]].at <= at) {
		net_step(net);
		return true;
	}
	net->now = wf_max_time(at, net->now);
	for (unsigned m = 0; m < net->n_sms; m++) {
		struct net_manager *manager = &net->sms[m];
		double begin = net->clock != NULL ? net->clock() : 0;

		if (manager->sm == NULL || net->nodes[manager->node].dead)
			continue;
		if (wf_sm_deadline(manager->sm) <= net->now)
			wf_sm_tick(manager->sm, net->now);
		if (net->clock != NULL)
			net->cpu += net->clock() - begin;
		net_pump(net, manager);
	}
	return true;
}

static void net_run(struct net *net, wf_time end)
{
	while (net_go(net, end))
		;
	net->now = wf_max_time(net->now, end);
}

/* Until a manager has had the subnet up once more; false: not within the time. */
static bool net_run_up(struct net *net, struct net_manager *m, wf_time limit)
{
	unsigned ups = m->ups;
	wf_time end = net->now + limit;

	while (m->ups == ups) {
		if (!net_go(net, end))
			return false;
	}
	return true;
}

/* ---- managers ---- */

static void net_event(void *arg, const struct wf_sm_event *event)
{
	struct net_manager *m = arg;

	switch (event->type) {
	case WF_SM_EV_STATE:
		assert_true(m->n_states < NET_LOG);
		m->states[m->n_states++] = event->state;
		m->state_at = event->now;
		break;
	case WF_SM_EV_UP:
		m->ups++;
		m->up_at = event->now;
		break;
	case WF_SM_EV_ROUTED:
		m->routed++;
		m->routed_at = event->now;
		break;
	case WF_SM_EV_PORT_FOUND:
		m->found++;
		break;
	case WF_SM_EV_PORT_LOST:
		m->lost++;
		m->last_lost = event->guid;
		break;
	case WF_SM_EV_TRAP:
		m->traps++;
		m->last_trap = event->notice->trap_number;
		break;
	case WF_SM_EV_ERROR:
		m->errors++;
		break;
	case WF_SM_EV_SWEEP_END:
		m->sweeps++;
		break;
	case WF_SM_EV_NOTE:
		m->notes++;
		(void)snprintf(m->note, sizeof(m->note), "%s", event->text);
		break;
	case WF_SM_EV_SWEEP_BEGIN:
		break;
	}
}

static struct wf_sm_cfg net_cfg(void)
{
	struct wf_err err = { "" };
	struct wf_sm_cfg cfg;

	assert_int_equal(wf_sm_cfg_init(&cfg, &err), 0);
	return cfg;
}

/* A manager on a node: at its port (a switch: 0). */
static struct net_manager *net_manage_in(struct net *net, uint32_t node,
                                         const struct wf_sm_cfg *cfg, struct wf_mem *mem)
{
	struct net_manager *m = &net->sms[net->n_sms++];
	struct wf_err err = { "" };

	*m = (struct net_manager){ .node = node,
		                   .port = wf_subnet_is_switch(net->topo, node) ? 0 : 1 };
	assert_int_equal(wf_sm_create(cfg, net_event, m, mem, &m->sm, &err), 0);
	net->nodes[node].sm = m->sm;
	wf_sma_set_capability(net->nodes[node].sma, m->port, WF_CAP_SM, 0, net->now);
	if (net->now > 0) { /* not in the past */
		wf_sm_resweep(m->sm, true, net->now);
		net_pump(net, m);
	}
	return m;
}

static struct net_manager *net_manage(struct net *net, uint32_t node, const struct wf_sm_cfg *cfg)
{
	return net_manage_in(net, node, cfg, wf_mem_heap());
}

/* ---- what fails ---- */

static void net_update_link(struct net *net, uint32_t index, bool was_up)
{
	const struct wf_subnet_port *port = &net->topo->ports[index];
	unsigned number = wf_subnet_number(net->topo, port);

	if (net_link_is_up(net, index))
		net_train(net, index);
	else if (was_up && !net->nodes[port->node].dead)
		wf_sma_link_down(net->nodes[port->node].sma, number, net->now);
	if (!net->nodes[port->node].dead)
		net_note_due(net, port->node);
}

static void net_cut(struct net *net, uint32_t node, unsigned number, bool cut)
{
	const struct wf_subnet_port *port = wf_subnet_port(net->topo, node, number);
	uint32_t index = (uint32_t)(port - net->topo->ports);
	uint32_t far = (uint32_t)(wf_subnet_peer(net->topo, port) - net->topo->ports);
	bool was_up = net_link_is_up(net, index);

	net->cut[index] = cut;
	net_update_link(net, index, was_up);
	net_update_link(net, far, was_up);
}

/* A node is gone with all its links; when it comes back, it remembers nothing. */
static void net_kill(struct net *net, uint32_t id, bool dead)
{
	const struct wf_subnet_node *node = &net->topo->nodes[id];
	bool was[WF_SUBNET_MAX_PORTS + 1];

	for (unsigned i = 1; i <= node->n_ports; i++)
		was[i] = net_link_is_up(net, node->first_port + i);
	net->nodes[id].dead = dead;
	if (!dead) {
		wf_sma_destroy(net->nodes[id].sma);
		net_agent(net, id);
	}
	for (unsigned i = 1; i <= node->n_ports; i++) {
		const struct wf_subnet_port *peer =
			wf_subnet_peer(net->topo, wf_subnet_port(net->topo, id, i));

		if (peer == NULL)
			continue;
		net_update_link(net, node->first_port + i, was[i]);
		net_update_link(net, (uint32_t)(peer - net->topo->ports), was[i]);
	}
}

/* ---- topologies ---- */

static uint32_t net_add(struct wf_subnet *s, enum wf_subnet_kind kind, unsigned n_ports,
                        const char *name, unsigned number)
{
	struct wf_subnet_node like = { .kind = kind, .n_ports = (uint8_t)n_ports };
	uint32_t id;

	like.guid =
		(kind == WF_SUBNET_SWITCH ? NET_SWITCH_GUID : NET_HOST_GUID) + 0x10 * (number + 1);
	like.system = like.guid;
	(void)snprintf(like.desc, sizeof(like.desc), "%s%u", name, number);
	assert_int_equal(wf_subnet_add(s, &like, &id), 0);
	for (unsigned i = 1; kind != WF_SUBNET_SWITCH && i <= n_ports; i++)
		assert_int_equal(wf_subnet_set_guid(s, id, i, like.guid + i), 0);
	return id;
}

static struct wf_subnet *net_empty(void)
{
	struct wf_subnet *s;

	assert_int_equal(wf_subnet_create(wf_mem_heap(), &s), 0);
	return s;
}

/* Two tiers: leaves with hosts each, and one link from each leaf to each spine. Hosts come first. */
static struct wf_subnet *net_fat_tree(unsigned leaves, unsigned hosts, unsigned spines)
{
	struct wf_subnet *s = net_empty();
	uint32_t leaf0;

	for (unsigned i = 0; i < leaves * hosts; i++)
		(void)net_add(s, WF_SUBNET_ADAPTER, 1, "host ", i);
	leaf0 = s->n_nodes;
	for (unsigned i = 0; i < leaves; i++)
		(void)net_add(s, WF_SUBNET_SWITCH, hosts + spines, "leaf ", i);
	for (unsigned i = 0; i < spines; i++)
		(void)net_add(s, WF_SUBNET_SWITCH, leaves, "spine ", leaves + i);
	for (unsigned i = 0; i < leaves; i++) {
		for (unsigned j = 0; j < hosts; j++)
			wf_subnet_join(s, i * hosts + j, 1, leaf0 + i, j + 1);
		for (unsigned j = 0; j < spines; j++)
			wf_subnet_join(s, leaf0 + i, hosts + j + 1, leaf0 + leaves + j, i + 1);
	}
	return s;
}

/* Three tiers: pods of k / 2 leaves and k / 2 switches above, with k / 2 hosts at a leaf. */
static struct wf_subnet *net_fat_tree3(unsigned pods, unsigned k)
{
	struct wf_subnet *s = net_empty();
	unsigned h = k / 2, cores_each = h * pods / k;
	uint32_t leaf0, agg0, core0;

	for (unsigned i = 0; i < pods * h * h; i++)
		(void)net_add(s, WF_SUBNET_ADAPTER, 1, "host ", i);
	leaf0 = s->n_nodes;
	for (unsigned i = 0; i < 2 * pods * h; i++)
		(void)net_add(s, WF_SUBNET_SWITCH, k, i < pods * h ? "leaf " : "agg ", i);
	agg0 = leaf0 + pods * h;
	core0 = s->n_nodes;
	for (unsigned i = 0; i < h * cores_each; i++)
		(void)net_add(s, WF_SUBNET_SWITCH, k, "core ", 2 * pods * h + i);
	for (unsigned p = 0; p < pods; p++) {
		for (unsigned i = 0; i < h; i++) {
			uint32_t leaf = leaf0 + p * h + i, agg = agg0 + p * h + i;

			for (unsigned j = 0; j < h; j++) {
				wf_subnet_join(s, (p * h + i) * h + j, 1, leaf, j + 1);
				wf_subnet_join(s, leaf, h + j + 1, agg0 + p * h + j, i + 1);
			}
			/* Up from agg i of each pod: to core group i, links in a row. */
			for (unsigned j = 0; j < h; j++) {
				unsigned per = k / pods; /* links of one pod to one core */
				uint32_t core = core0 + i * cores_each + j / per;

				wf_subnet_join(s, agg, h + j + 1, core, p * per + j % per + 1);
			}
		}
	}
	return s;
}

/* Switches in a ring, with hosts at each. */
static struct wf_subnet *net_ring(unsigned switches, unsigned hosts)
{
	struct wf_subnet *s = net_empty();

	for (unsigned i = 0; i < switches * hosts; i++)
		(void)net_add(s, WF_SUBNET_ADAPTER, 1, "host ", i);
	for (unsigned i = 0; i < switches; i++)
		(void)net_add(s, WF_SUBNET_SWITCH, hosts + 2, "switch ", i);
	for (unsigned i = 0; i < switches; i++) {
		uint32_t sw = switches * hosts + i, next = switches * hosts + (i + 1) % switches;

		for (unsigned j = 0; j < hosts; j++)
			wf_subnet_join(s, i * hosts + j, 1, sw, j + 1);
		wf_subnet_join(s, sw, hosts + 1, next, hosts + 2);
	}
	return s;
}

/* Groups of switches that are all connected, and one link between each two groups. */
static struct wf_subnet *net_dragonfly(unsigned groups, unsigned a, unsigned hosts)
{
	struct wf_subnet *s = net_empty();
	unsigned n = groups * a, more = (groups - 1 + a - 1) / a;
	uint32_t sw0 = n * hosts;

	for (unsigned i = 0; i < n * hosts; i++)
		(void)net_add(s, WF_SUBNET_ADAPTER, 1, "host ", i);
	for (unsigned i = 0; i < n; i++)
		(void)net_add(s, WF_SUBNET_SWITCH, hosts + a - 1 + more, "switch ", i);
	for (unsigned i = 0; i < n; i++) {
		for (unsigned j = 0; j < hosts; j++)
			wf_subnet_join(s, i * hosts + j, 1, sw0 + i, j + 1);
		for (unsigned j = i % a + 1; j < a; j++)
			wf_subnet_join(s, sw0 + i, hosts + j, sw0 + i / a * a + j,
			               hosts + i % a + 1);
	}
	for (unsigned g = 0; g < groups; g++) {
		for (unsigned o = g + 1; o < groups; o++) {
			unsigned x = o - 1, y = g; /* which of the group's links it is */

			wf_subnet_join(s, sw0 + g * a + x / more, hosts + a + x % more,
			               sw0 + o * a + y / more, hosts + a + y % more);
		}
	}
	return s;
}

/* ---- what must hold ---- */

/* A data packet from one host to another, hop by hop by what is set; switches passed, or -1. */
static int net_walk(const struct net *net, uint32_t from, uint16_t dlid)
{
	uint32_t at = from;
	unsigned port = 1;
	int n = 0;

	for (;;) {
		const struct wf_subnet_port *out = wf_subnet_port(net->topo, at, port);
		const struct wf_subnet_port *in = wf_subnet_peer(net->topo, out);
		const struct wf_port_info *info;

		if (in == NULL || !net_link_is_up(net, (uint32_t)(out - net->topo->ports)) ||
		    wf_sma_port(net->nodes[at].sma, port)->port_state != WF_PORT_ACTIVE ||
		    wf_sma_port(net->nodes[in->node].sma, out->peer_port)->port_state !=
		            WF_PORT_ACTIVE)
			return -1;
		at = in->node;
		if (!wf_subnet_is_switch(net->topo, at)) {
			info = wf_sma_port(net->nodes[at].sma, out->peer_port);
			return dlid >= info->lid && dlid < info->lid + (1u << info->lmc) ? n : -1;
		}
		if (++n > 64)
			return -1;
		port = wf_sma_lft(net->nodes[at].sma, dlid);
		if (port == 0 || port > net->topo->nodes[at].n_ports)
			return -1;
	}
}

/* Pairs of hosts that cannot reach each other. */
static unsigned net_unreached(const struct net *net, unsigned step)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < net->topo->n_nodes; i += step) {
		if (wf_subnet_is_switch(net->topo, i) || net->nodes[i].dead)
			continue;
		for (uint32_t j = 0; j < net->topo->n_nodes; j += step) {
			uint16_t lid;

			if (i == j || wf_subnet_is_switch(net->topo, j) || net->nodes[j].dead)
				continue;
			lid = wf_sma_port(net->nodes[j].sma, 1)->lid;
			n += lid == 0 || net_walk(net, i, lid) < 0;
		}
	}
	return n;
}

static uint16_t net_lid(const struct net *net, uint32_t id)
{
	return wf_sma_port(net->nodes[id].sma, wf_subnet_is_switch(net->topo, id) ? 0 : 1)->lid;
}

#endif
