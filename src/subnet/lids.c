/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lids.c - giving LIDs to ports, in OpenSM's order: those that have good ones keep them.
 *
 * OpenSM keeps its tables by GUID, and has GUIDs as they come on the wire, so that on the machines
 * that it runs on (little-endian ones) their last byte counts most. Its order of ports and switches
 * decides about LIDs, and about which of several equal ports a routing takes.
 */
#include "subnet/lids.h"

#include <errno.h>
#include <string.h>

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

/* ---- what is free ---- */

void wf_lids_init(struct wf_lids *lids, struct wf_subnet *subnet)
{
	lids->subnet = subnet;
	for (unsigned i = 0; i <= WF_SUBNET_MAX_LMC; i++)
		lids->from[i] = 1;
	memset(lids->away, 0, sizeof(lids->away));
}

void wf_lids_keep(struct wf_lids *lids, unsigned lid, unsigned lmc)
{
	for (unsigned i = lid; i < lid + (1u << lmc); i++)
		lids->away[i / 64] |= UINT64_C(1) << (i % 64);
}

bool wf_lids_fit(const struct wf_lids *lids, unsigned lid, unsigned lmc)
{
	if (lid == 0 || lid % (1u << lmc) != 0 || lid + (1u << lmc) - 1 > WF_LID_MAX)
		return false;
	for (unsigned i = lid; i < lid + (1u << lmc); i++) {
		if (wf_subnet_by_lid(lids->subnet, i) != WF_SUBNET_NONE ||
		    (lids->away[i / 64] >> (i % 64) & 1) != 0)
			return false;
	}
	return true;
}

static void set(struct wf_subnet *subnet, uint32_t index, unsigned lid, unsigned lmc)
{
	const struct wf_subnet_port *port = &subnet->ports[index];
	int ret = wf_subnet_set_lid(subnet, port->node, wf_subnet_number(subnet, port),
	                            (uint16_t)lid, (uint8_t)lmc);

	assert(ret == 0);
	(void)ret;
}

/*
 * The first run of free LIDs in which there is room for 2^lmc, aligned; those before them in that
 * run are not given any more. So OpenSM has it: without an LMC nothing is left out.
 */
int wf_lids_give(struct wf_lids *lids, uint32_t index, unsigned lmc)
{
	unsigned n = 1u << lmc, lid = lids->from[lmc];

	while (lid <= WF_LID_MAX) {
		unsigned first, at;

		while (lid <= WF_LID_MAX && !wf_lids_fit(lids, lid, 0))
			lid++;
		first = lid;
		at = (first + n - 1) & ~(n - 1);
		while (lid < at + n && wf_lids_fit(lids, lid, 0))
			lid++;
		if (lid < at + n)
			continue;
		for (unsigned i = first; i < at; i++)
			wf_lids_keep(lids, i, 0);
		set(lids->subnet, index, at, lmc);
		lids->from[lmc] = at + n;
		return 0;
	}
	return -ENOSPC;
}

/* ---- all ports ---- */

/* OpenSM's default gives switches no LMC, also where their port 0 is enhanced (lmc_esp0). */
static unsigned wants_lmc(const struct wf_subnet *subnet, uint32_t index, unsigned lmc)
{
	const struct wf_subnet_port *port = &subnet->ports[index];
	const struct wf_subnet_node *node = &subnet->nodes[port->node];

	if (node->kind != WF_SUBNET_SWITCH || (node->enhanced && port->lmc == lmc))
		return lmc;
	return 0;
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

static int give(struct wf_lids *lids, uint32_t index, unsigned lmc)
{
	lmc = wants_lmc(lids->subnet, index, lmc);
	return is_good(lids->subnet, index, lmc) ? 0 : wf_lids_give(lids, index, lmc);
}

int wf_subnet_assign_lids(struct wf_subnet *subnet, unsigned lmc, uint32_t first)
{
	struct wf_lids lids;
	uint32_t *ends, n;
	int ret;

	assert(lmc <= WF_SUBNET_MAX_LMC);
	ret = wf_sm_order_ends(subnet, &ends, &n);
	if (ret != 0)
		return ret;
	for (uint32_t i = 0; i < n; i++) {
		if (!is_good(subnet, ends[i], wants_lmc(subnet, ends[i], lmc)))
			set(subnet, ends[i], 0, 0);
	}
	wf_lids_init(&lids, subnet);
	if (first != WF_SUBNET_NONE && wf_subnet_is_end(subnet, first))
		ret = give(&lids, first, lmc);
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = give(&lids, ends[i], lmc);
	subnet->mem->free(subnet->mem, ends);
	return ret;
}
