/* SPDX-License-Identifier: Apache-2.0 */
/* partition.c - sharing the nodes out so that neighbours stay together. */
#include <assert.h>
#include <errno.h>

#include "topo/topo_priv.h"

/* Appends a switch and the hosts whose first port is on it; returns the new length of order. */
static uint32_t place(const struct wf_topo *topo, uint32_t id, uint32_t *order, uint32_t n)
{
	const struct wf_topo_node *node = &topo->nodes[id];
	const struct wf_topo_port *port = &topo->ports[node->first_port];

	order[n++] = id;
	for (uint32_t i = 0; i < node->n_ports; i++) {
		if (topo->nodes[port[i].peer].kind == WF_TOPO_HOST && port[i].peer_port == 0)
			order[n++] = port[i].peer;
	}
	return n;
}

/*
 * Switches sorted by group, in the order of their ids within one (hosts are placed with their
 * switch): a counting sort, with start[g] where group g begins.
 */
static void sort_switches(const struct wf_topo *topo, uint32_t *sorted, uint32_t *start,
                          uint32_t groups)
{
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		if (topo->nodes[i].kind == WF_TOPO_SWITCH)
			start[topo->nodes[i].group + 1]++;
	}
	for (uint32_t g = 0; g < groups; g++)
		start[g + 1] += start[g];
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		if (topo->nodes[i].kind == WF_TOPO_SWITCH)
			sorted[start[topo->nodes[i].group]++] = i;
	}
}

/* Cuts order into parts of equal weight: a node goes where the middle of its weight falls. */
static void cut(const struct wf_topo *topo, uint32_t parts, const uint32_t *order, uint32_t *part)
{
	uint64_t total = 2 * (uint64_t)topo->n_ports;
	uint64_t before = 0;

	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		uint64_t weight = 2 * (uint64_t)topo->nodes[order[i]].n_ports;
		uint64_t middle = before + weight / 2;

		part[order[i]] = (uint32_t)(middle * parts / total);
		assert(part[order[i]] < parts);
		before += weight;
	}
}

int wf_topo_partition(const struct wf_topo *topo, uint32_t parts, uint32_t *order, uint32_t *part)
{
	struct wf_mem *mem = topo->mem;
	uint32_t *sorted, *start;
	uint32_t switches = topo->n_nodes - topo->n_hosts;
	uint32_t groups = 0, n = 0;

	if (parts == 0)
		return -EINVAL;
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		if (topo->nodes[i].group >= groups)
			groups = topo->nodes[i].group + 1;
	}
	assert(groups <= topo->n_nodes);

	sorted = mem->alloc(mem, (switches + groups + 1) * sizeof(*sorted));
	if (sorted == NULL)
		return -ENOMEM;
	start = sorted + switches;
	sort_switches(topo, sorted, start, groups);
	for (uint32_t i = 0; i < switches; i++)
		n = place(topo, sorted[i], order, n);
	assert(n == topo->n_nodes);
	mem->free(mem, sorted);

	cut(topo, parts, order, part);
	return 0;
}
