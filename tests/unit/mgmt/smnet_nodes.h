/* SPDX-License-Identifier: Apache-2.0 */
/* smnet_nodes.h - of smnet.h: what will happen, nodes with their agents, and links. */
#ifndef WF_TESTS_SMNET_NODES_H
#define WF_TESTS_SMNET_NODES_H

#include "../check.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "mgmt/route_dr.h"
#include "mgmt/sm/sm.h"
#include "mgmt/sma.h"
#include "subnet/subnet.h"
#include "wire/addr.h"
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
	bool dead, mute;  /* mute: its agent does not answer */
	uint16_t deaf_to; /* an attribute to which it does not */
	unsigned reregistered;
	wf_time due; /* of the agent, as it was noted last */
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
	wf_sm_event_fn *also; /* who else is told; NULL: nobody */
	void *also_arg;
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
	unsigned speed;    /* of all links */
	uint8_t group_cap; /* of switches that route adaptively; 0: there are none */
	uint32_t plain;    /* a switch that does not */
	uint32_t small;    /* a node with half the MTU, and two lanes; UINT32_MAX: none */
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

static inline bool net_before(const struct net *net, uint32_t a, uint32_t b)
{
	const struct net_packet *x = &net->packets[a], *y = &net->packets[b];

	return x->at != y->at ? x->at < y->at : x->number < y->number;
}

static inline void net_room(struct net *net)
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
static inline struct net_packet *net_new(struct net *net)
{
	struct net_packet *p;

	if (net->free == UINT32_MAX || net->max_heap == 0)
		net_room(net);
	p = &net->packets[net->free];
	net->free = p->next;
	p->is_timer = false;
	return p;
}

static inline void net_push(struct net *net, struct net_packet *p, wf_time at)
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

static inline uint32_t net_pop(struct net *net)
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

static inline void net_changed(void *arg, unsigned port, unsigned what)
{
	struct net_node *node = arg;

	(void)port;
	node->reregistered += (what & WF_SMA_REREGISTER) != 0;
}

static inline bool net_link_is_up(const struct net *net, uint32_t index)
{
	const struct wf_subnet_port *port = &net->topo->ports[index];
	const struct wf_subnet_port *peer = wf_subnet_peer(net->topo, port);

	return peer != NULL && !net->cut[index] && !net->cut[peer - net->topo->ports] &&
	       !net->nodes[port->node].dead && !net->nodes[peer->node].dead;
}

/* The timer of an agent: once for each time that it names. */
static inline void net_note_due(struct net *net, uint32_t id)
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

static inline void net_train(struct net *net, uint32_t index)
{
	const struct wf_subnet_port *port = &net->topo->ports[index];
	const struct wf_port_info *info;
	unsigned number = wf_subnet_number(net->topo, port);

	if (!net_link_is_up(net, index))
		return;
	info = wf_sma_port(net->nodes[port->node].sma, number);
	if (info->port_state == WF_PORT_DOWN && info->port_physical_state != WF_PHYS_DISABLED)
		wf_sma_link_up(net->nodes[port->node].sma, number, WF_WIDTH_4X, net->speed,
		               net->now);
	net_note_due(net, port->node);
}

/* A manager has reset a link, or disabled a port: both ends lose it, and it trains again. */
static inline void net_physical(void *arg, unsigned port, enum wf_port_phys to)
{
	struct net_node *node = arg;
	struct net *net = node->net;
	const struct wf_subnet_port *at = wf_subnet_port(net->topo, node->id, port);
	const struct wf_subnet_port *peer = wf_subnet_peer(net->topo, at);

	if (peer == NULL)
		return;
	if (to == WF_PHYS_LINK_UP) {
		wf_sma_link_reset(net->nodes[peer->node].sma, at->peer_port, net->now);
		net_note_due(net, peer->node);
		return;
	}
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

static inline void net_agent(struct net *net, uint32_t id)
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
	cfg.mtu = id == net->small ? 1024 : 2048;
	cfg.vls = id == net->small ? 2 : 8;
	cfg.widths = WF_WIDTH_4X;
	cfg.speeds = net->speed;
	cfg.ops = &net_ops;
	cfg.arg = &net->nodes[id];
	if (net->group_cap != 0 && id != net->plain) {
		cfg.vendor_id = WF_WIRE_VENDOR;
		cfg.group_cap = is_switch ? net->group_cap : 0;
	}
	net->nodes[id] = (struct net_node){ .net = net, .id = id, .due = WF_TIME_NEVER };
	assert_int_equal(wf_sma_create(&cfg, wf_mem_heap(), &net->nodes[id].sma), 0);
}

static inline void net_free(struct net *net)
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

#endif
