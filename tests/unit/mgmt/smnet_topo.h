/* SPDX-License-Identifier: Apache-2.0 */
/* smnet_topo.h - of smnet.h: topologies, and what must hold in them. */
#ifndef WF_TESTS_SMNET_TOPO_H
#define WF_TESTS_SMNET_TOPO_H

#include "smnet_run.h"

/* ---- topologies ---- */

static inline uint32_t net_add(struct wf_subnet *s, enum wf_subnet_kind kind, unsigned n_ports,
                               const char *name, unsigned number)
{
	struct wf_subnet_node like = { .kind = (uint8_t)kind, .n_ports = (uint8_t)n_ports };
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

static inline struct wf_subnet *net_empty(void)
{
	struct wf_subnet *s;

	assert_int_equal(wf_subnet_create(wf_mem_heap(), &s), 0);
	return s;
}

/*
 * Two tiers: leaves with hosts each, and one link from each leaf to each spine. Hosts come first.
 */
static inline struct wf_subnet *net_fat_tree(unsigned leaves, unsigned hosts, unsigned spines)
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
static inline struct wf_subnet *net_fat_tree3(unsigned pods, unsigned k)
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
static inline struct wf_subnet *net_ring(unsigned switches, unsigned hosts)
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
static inline struct wf_subnet *net_dragonfly(unsigned groups, unsigned a, unsigned hosts)
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
static inline int net_walk(const struct net *net, uint32_t from, uint16_t dlid)
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
static inline unsigned net_unreached(const struct net *net, unsigned step)
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

static inline uint16_t net_lid(const struct net *net, uint32_t id)
{
	return wf_sma_port(net->nodes[id].sma, wf_subnet_is_switch(net->topo, id) ? 0 : 1)->lid;
}

#endif
