/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locality.c - tiers and groups of a graph that was read rather than built.
 *
 * The tier of a switch is its distance from the nearest host. Without the switches of the highest
 * tier a tree falls apart: into leaves, if it has two tiers, or pods, if it has three. These parts
 * are the groups, and the switches of the highest tier are shared out over them. Where all switches
 * have hosts, each is its own group.
 */
#include <assert.h>
#include <errno.h>

#include "topo/topo_priv.h"

#define MAX_TIER UINT8_MAX

/* Sets tier, from all hosts at once; returns the highest. What cannot be reached keeps tier 1. */
static uint8_t find_tiers(struct wf_topo *topo, uint32_t *queue, uint8_t *seen)
{
	uint32_t head = 0, tail = 0;
	uint8_t top = 1;

	for (uint32_t i = 0; i < topo->n_hosts; i++) {
		queue[tail++] = topo->host_node[i];
		seen[topo->host_node[i]] = 1;
	}
	while (head < tail) {
		const struct wf_topo_node *node = &topo->nodes[queue[head++]];
		const struct wf_topo_port *port = &topo->ports[node->first_port];

		for (uint32_t i = 0; i < node->n_ports; i++) {
			struct wf_topo_node *peer = &topo->nodes[port[i].peer];

			if (seen[port[i].peer] != 0)
				continue;
			seen[port[i].peer] = 1;
			queue[tail++] = port[i].peer;
			peer->tier = node->tier < MAX_TIER ? (uint8_t)(node->tier + 1) : MAX_TIER;
			if (peer->tier > top)
				top = peer->tier;
		}
	}
	return top;
}

/*
 * Gives a group to all that is connected with start below the top tier; of tier 1, to start alone.
 */
static void fill_group(struct wf_topo *topo, uint32_t start, uint8_t top, uint32_t group,
                       uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	topo->nodes[start].group = group;
	queue[tail++] = start;
	while (head < tail) {
		const struct wf_topo_node *node = &topo->nodes[queue[head++]];
		const struct wf_topo_port *port = &topo->ports[node->first_port];

		for (uint32_t i = 0; i < node->n_ports; i++) {
			struct wf_topo_node *peer = &topo->nodes[port[i].peer];

			if (peer->group != WF_TOPO_NONE || peer->tier >= top)
				continue;
			peer->group = group;
			queue[tail++] = port[i].peer;
		}
	}
}

/* Groups of all but the switches of the top tier; returns how many. */
static uint32_t find_groups(struct wf_topo *topo, uint8_t top, uint32_t *queue)
{
	uint32_t groups = 0;

	for (uint32_t i = 0; i < topo->n_nodes; i++)
		topo->nodes[i].group = WF_TOPO_NONE;
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		struct wf_topo_node *node = &topo->nodes[i];

		if (node->kind == WF_TOPO_SWITCH && node->group == WF_TOPO_NONE &&
		    (node->tier < top || top == 1))
			fill_group(topo, i, top, groups++, queue);
	}
	return groups;
}

int wf_locality_derive(struct wf_topo *topo)
{
	struct wf_mem *mem = topo->mem;
	uint32_t groups, n_top = 0, i_top = 0;
	uint32_t *queue;
	uint8_t *seen;
	uint8_t top;

	queue = mem->alloc(mem, topo->n_nodes * sizeof(*queue));
	if (queue == NULL)
		return -ENOMEM;
	seen = mem->alloc(mem, topo->n_nodes);
	if (seen == NULL) {
		mem->free(mem, queue);
		return -ENOMEM;
	}

	top = find_tiers(topo, queue, seen);
	groups = find_groups(topo, top, queue);
	for (uint32_t i = 0; i < topo->n_nodes; i++)
		n_top += topo->nodes[i].group == WF_TOPO_NONE;
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		if (topo->nodes[i].group == WF_TOPO_NONE)
			topo->nodes[i].group = (uint32_t)((uint64_t)i_top++ * groups / n_top);
	}
	assert(i_top == n_top);
	mem->free(mem, seen);
	mem->free(mem, queue);
	return 0;
}
