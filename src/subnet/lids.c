/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lids.c - giving LIDs to ports, in OpenSM's order: those that have good ones keep them.
 *
 * OpenSM keeps its tables by GUID, and has GUIDs as they come on the wire, so that on the machines
 * that it runs on (little-endian ones) their last byte counts most. Its order of ports and switches
 * decides about LIDs, and about which of several equal ports a routing takes.
 */
#include <errno.h>

#include "base/sort.h"
#include "subnet/route_priv.h"

static uint64_t swap64(uint64_t x)
{
	uint64_t y = 0;

	for (unsigned i = 0; i < 8; i++) {
		y = y << 8 | (x & 0xff);
		x >>= 8;
	}
	return y;
}

int wf_subnet_guid_order(uint64_t a, uint64_t b)
{
	uint64_t x = swap64(a), y = swap64(b);

	return (x > y) - (x < y);
}

/* Ports by GUID; those that have none, or the same, as they are in the graph. */
static int port_order(const void *a, const void *b, const void *arg)
{
	const struct wf_subnet *subnet = arg;
	const struct wf_subnet_port *x = &subnet->ports[*(const uint32_t *)a];
	const struct wf_subnet_port *y = &subnet->ports[*(const uint32_t *)b];

	return wf_subnet_guid_order(x->guid, y->guid);
}

bool wf_subnet_is_end(const struct wf_subnet *subnet, uint32_t index)
{
	const struct wf_subnet_port *port = &subnet->ports[index];
	bool zero = index == subnet->nodes[port->node].first_port;

	return wf_subnet_is_switch(subnet, port->node) ? zero
	                                               : !zero && wf_subnet_goes(subnet, port);
}

int wf_sm_order_ends(const struct wf_subnet *subnet, uint32_t **ends_p, uint32_t *n_p)
{
	struct wf_mem *mem = subnet->mem;
	uint32_t *ends = mem->alloc(mem, ((size_t)subnet->n_ports + 1) * sizeof(*ends));
	uint32_t *room = mem->alloc(mem, ((size_t)subnet->n_ports + 1) * sizeof(*room));
	uint32_t n = 0;

	if (ends == NULL || room == NULL) {
		mem->free(mem, ends);
		mem->free(mem, room);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < subnet->n_ports; i++) {
		if (wf_subnet_is_end(subnet, i))
			ends[n++] = i;
	}
	wf_sort(ends, room, n, sizeof(*ends), port_order, subnet);
	mem->free(mem, room);
	*ends_p = ends;
	*n_p = n;
	return 0;
}

static unsigned wants_lmc(const struct wf_subnet *subnet, uint32_t index, unsigned lmc)
{
	const struct wf_subnet_node *node = &subnet->nodes[subnet->ports[index].node];

	return node->kind == WF_SUBNET_SWITCH && !node->enhanced ? 0 : lmc;
}

/* Whether a port has the LIDs that it is to have, and is found by all of them. */
static bool is_good(const struct wf_subnet *subnet, uint32_t index, unsigned lmc)
{
	const struct wf_subnet_port *port = &subnet->ports[index];

	if (port->lid == 0 || port->lmc != lmc)
		return false;
	for (unsigned i = 0; i < 1u << lmc; i++) {
		if (wf_subnet_by_lid(subnet, port->lid + i) != index)
			return false;
	}
	return true;
}

/*
 * The lowest multiple of 2^lmc, not below from, with so many LIDs that are free; 0: there is none.
 */
static uint16_t find_free(const struct wf_subnet *subnet, unsigned from, unsigned lmc)
{
	unsigned n = 1u << lmc;

	for (unsigned lid = (from + n - 1) & ~(n - 1); lid + n - 1 <= WF_LID_MAX; lid += n) {
		unsigned i = 0;

		while (i < n && subnet->port_of[lid + i] == WF_SUBNET_NONE)
			i++;
		if (i == n)
			return (uint16_t)lid;
	}
	return 0;
}

static int give(struct wf_subnet *subnet, uint32_t index, unsigned lmc, unsigned *from)
{
	struct wf_subnet_port *port = &subnet->ports[index];
	unsigned number = wf_subnet_number(subnet, port);
	uint16_t lid;
	int ret;

	lmc = wants_lmc(subnet, index, lmc);
	if (is_good(subnet, index, lmc))
		return 0;
	lid = find_free(subnet, lmc == 0 ? *from : 1, lmc);
	if (lid == 0)
		return -ENOSPC;
	if (lmc == 0)
		*from = lid;
	ret = wf_subnet_set_lid(subnet, port->node, number, lid, (uint8_t)lmc);
	assert(ret == 0);
	return ret;
}

int wf_subnet_assign_lids(struct wf_subnet *subnet, unsigned lmc, uint32_t first)
{
	unsigned from = 1; /* no single LID below it is free */
	uint32_t *ends, n;
	int ret;

	assert(lmc <= WF_SUBNET_MAX_LMC);
	ret = wf_sm_order_ends(subnet, &ends, &n);
	if (ret != 0)
		return ret;
	for (uint32_t i = 0; i < n; i++) {
		const struct wf_subnet_port *port = &subnet->ports[ends[i]];

		if (!is_good(subnet, ends[i], wants_lmc(subnet, ends[i], lmc)))
			(void)wf_subnet_set_lid(subnet, port->node, wf_subnet_number(subnet, port),
			                        0, 0);
	}
	if (first != WF_SUBNET_NONE && wf_subnet_is_end(subnet, first))
		ret = give(subnet, first, lmc, &from);
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = give(subnet, ends[i], lmc, &from);
	subnet->mem->free(subnet->mem, ends);
	return ret;
}
