/* SPDX-License-Identifier: Apache-2.0 */
/* smnet_packets.h - of smnet.h: how packets go from node to node. */
#ifndef WF_TESTS_SMNET_PACKETS_H
#define WF_TESTS_SMNET_PACKETS_H

#include "smnet_nodes.h"

static inline void net_deliver(struct net *net, uint32_t id, unsigned port, uint16_t dlid,
                               uint16_t slid, uint8_t *mad);

/* Sends a packet by a port of a node. */
static inline void net_out(struct net *net, uint32_t id, unsigned port, uint16_t dlid,
                           uint16_t slid, const uint8_t *mad)
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
static inline void net_by_lid(struct net *net, uint32_t id, unsigned port, uint16_t dlid,
                              uint16_t slid, uint8_t *mad, bool own)
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

static inline struct net_manager *net_manager_at(struct net *net, uint32_t id)
{
	for (unsigned i = 0; i < net->n_sms; i++) {
		if (net->sms[i].node == id && net->sms[i].sm != NULL)
			return &net->sms[i];
	}
	return NULL;
}

/* Carries what a manager has to send. */
static inline void net_pump(struct net *net, struct net_manager *m)
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

static inline void net_bend(struct net *net, uint8_t *mad)
{
	unsigned n = 1 + (unsigned)(wf_rand64(net->seed, net->drawn++) % 4);

	for (unsigned i = 0; i < n; i++) {
		uint64_t x = wf_rand64(net->seed, net->drawn++);

		mad[x % WF_MAD_LEN] = (uint8_t)(x >> 32);
	}
}

static inline void net_to_manager(struct net *net, uint32_t id, uint16_t dlid, uint16_t slid,
                                  uint8_t *mad)
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
static inline void net_answer(struct net *net, uint32_t id, unsigned port, uint16_t dlid,
                              uint16_t slid, uint8_t *mad)
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

static inline void net_deliver(struct net *net, uint32_t id, unsigned port, uint16_t dlid,
                               uint16_t slid, uint8_t *mad)
{
	if (net->nodes[id].mute || wf_be16_get(mad + 16) == net->nodes[id].deaf_to)
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

static inline void net_arrive(struct net *net, uint32_t id, unsigned port, uint16_t dlid,
                              uint16_t slid, uint8_t *mad)
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
static inline void net_timer(struct net *net, uint32_t id)
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

/* Takes over the graph, with what is set of *like. */
static inline struct net *net_new_like(struct wf_subnet *topo, const struct net *like)
{
	struct net *net = calloc(1, sizeof(*net));

	net->topo = topo;
	net->speed = like->speed;
	net->group_cap = like->group_cap;
	net->plain = like->plain;
	net->hop = 500 * WF_NS;
	net->free = UINT32_MAX;
	net->small = UINT32_MAX;
	net->seed = 1;
	net->nodes = calloc(topo->n_nodes, sizeof(*net->nodes));
	net->cut = calloc(topo->n_ports, sizeof(*net->cut));
	for (uint32_t i = 0; i < topo->n_nodes; i++)
		net_agent(net, i);
	for (uint32_t i = 0; i < topo->n_ports; i++)
		net_train(net, i);
	return net;
}

/* The same; links of a speed. */
static inline struct net *net_new_speed(struct wf_subnet *topo, unsigned speed)
{
	return net_new_like(topo, &(struct net){ .speed = speed });
}

/* The same; switches have groups of ports (0: none), but not the plain one. */
static inline struct net *net_new_adaptive(struct wf_subnet *topo, uint8_t group_cap,
                                           uint32_t plain)
{
	return net_new_like(
		topo,
		&(struct net){ .speed = WF_SPEED_NDR, .group_cap = group_cap, .plain = plain });
}

static inline struct net *net_new_of(struct wf_subnet *topo)
{
	return net_new_speed(topo, WF_SPEED_NDR);
}

#endif
