/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - the switches of a subnet as a graph of their own, and the ways through it. */
#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "subnet/route_priv.h"

static int switch_order(const void *a, const void *b, const void *arg)
{
	const struct wf_sm_net *net = arg;

	return wf_subnet_guid_order(wf_sm_node(net, *(const uint32_t *)a)->guid,
	                            wf_sm_node(net, *(const uint32_t *)b)->guid);
}

static int sort_switches(struct wf_sm_net *net)
{
	uint32_t *room = net->mem->alloc(net->mem, ((size_t)net->n + 1) * sizeof(*room));

	if (room == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < net->n; i++)
		net->order[i] = i;
	wf_sort(net->order, room, net->n, sizeof(*room), switch_order, net);
	net->mem->free(net->mem, room);
	return 0;
}

/* Calls for each link between switches; returns how many there are. */
static uint32_t list_edges(struct wf_sm_net *net)
{
	const struct wf_subnet *subnet = net->subnet;
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < net->n; sw++) {
		uint32_t id = subnet->switches[sw];

		net->first[sw] = n;
		for (unsigned i = 1; i <= subnet->nodes[id].n_ports; i++) {
			const struct wf_subnet_port *port = wf_subnet_port(subnet, id, i);

			if (!wf_subnet_goes(subnet, port) || port->peer == id ||
			    !wf_subnet_is_switch(subnet, port->peer))
				continue;
			if (net->edges != NULL)
				net->edges[n] = (struct wf_sm_edge){
					.to = subnet->nodes[port->peer].sw,
					.port = (uint8_t)i,
					.to_port = port->peer_port,
				};
			n++;
		}
	}
	net->first[net->n] = n;
	return n;
}

static int list_ends(struct wf_sm_net *net)
{
	const struct wf_subnet *subnet = net->subnet;
	uint32_t *index, n;
	int ret = wf_sm_order_ends(subnet, &index, &n);

	if (ret != 0)
		return ret;
	net->ends = net->mem->alloc(net->mem, ((size_t)n + 1) * sizeof(*net->ends));
	if (net->ends == NULL) {
		net->mem->free(net->mem, index);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct wf_subnet_port *port = &subnet->ports[index[i]];
		bool own = wf_subnet_is_switch(subnet, port->node);
		uint32_t at = own ? port->node : port->peer;

		if (port->lid == 0 || wf_subnet_by_lid(subnet, port->lid) != index[i] ||
		    !wf_subnet_is_switch(subnet, at))
			continue;
		net->ends[net->n_ends++] = (struct wf_sm_end){
			.index = index[i],
			.sw = subnet->nodes[at].sw,
			.lid = port->lid,
			.lmc = port->lmc,
			.port = own ? 0 : port->peer_port,
		};
		if (port->lmc > net->max_lmc)
			net->max_lmc = port->lmc;
	}
	net->mem->free(net->mem, index);
	return 0;
}

int wf_sm_net_init(struct wf_sm_net *net, const struct wf_subnet *subnet)
{
	struct wf_mem *mem = subnet->mem;
	int ret = -ENOMEM;

	*net = (struct wf_sm_net){ .subnet = subnet, .mem = mem, .n = subnet->n_switches };
	net->first = mem->alloc(mem, ((size_t)net->n + 1) * sizeof(*net->first));
	net->order = mem->alloc(mem, ((size_t)net->n + 1) * sizeof(*net->order));
	if (net->first != NULL && net->order != NULL) {
		uint32_t n = list_edges(net);

		net->edges = mem->alloc(mem, ((size_t)n + 1) * sizeof(*net->edges));
		ret = net->edges == NULL ? -ENOMEM : sort_switches(net);
	}
	if (ret == 0) {
		list_edges(net);
		ret = list_ends(net);
	}
	if (ret != 0)
		wf_sm_net_fini(net);
	return ret;
}

void wf_sm_net_fini(struct wf_sm_net *net)
{
	net->mem->free(net->mem, net->ends);
	net->mem->free(net->mem, net->edges);
	net->mem->free(net->mem, net->order);
	net->mem->free(net->mem, net->first);
}

bool wf_sm_is_up(const struct wf_sm_net *net, const uint32_t *rank, uint32_t a, uint32_t b)
{
	if (rank[a] != rank[b])
		return rank[b] < rank[a];
	return wf_sm_node(net, b)->guid < wf_sm_node(net, a)->guid;
}

/*
 * Goes outward from switch to, which queue[0] is; hops and falls are its rows, falls may be NULL.
 */
static void flood(const struct wf_sm_ways *ways, uint32_t to, uint8_t *hops, uint8_t *falls,
                  uint32_t *queue)
{
	const struct wf_sm_net *net = ways->net;
	uint32_t head = 0, tail = 0;

	memset(hops, WF_HOPS_NONE, net->n);
	hops[to] = 0;
	if (falls != NULL)
		falls[to] = 1;
	queue[tail++] = to;
	while (head < tail) {
		uint32_t at = queue[head++];
		uint8_t next = (uint8_t)(hops[at] + 1);

		for (uint32_t i = net->first[at]; i < net->first[at + 1] && next <= WF_HOPS_MAX;
		     i++) {
			uint32_t from = net->edges[i].to;
			bool down = falls != NULL && wf_sm_is_up(net, ways->rank, at, from);

			if (hops[from] < next || (down && !falls[at]))
				continue;
			/* A way down all along is preferred: it serves those above, too. */
			if (down)
				falls[from] = 1;
			if (hops[from] == WF_HOPS_NONE)
				queue[tail++] = from;
			hops[from] = next;
		}
	}
}

static int find_ways(struct wf_sm_ways *ways, const struct wf_sm_net *net, const uint32_t *rank)
{
	struct wf_mem *mem = net->mem;
	size_t cells = (size_t)net->n * net->n + 1;
	uint32_t *queue = mem->alloc(mem, ((size_t)net->n + 1) * sizeof(*queue));

	*ways = (struct wf_sm_ways){ .net = net, .rank = rank };
	ways->hops = mem->alloc(mem, cells);
	if (rank != NULL)
		ways->falls = mem->alloc(mem, cells);
	if (queue == NULL || ways->hops == NULL || (rank != NULL && ways->falls == NULL)) {
		mem->free(mem, queue);
		wf_sm_ways_fini(ways);
		return -ENOMEM;
	}
	for (uint32_t to = 0; to < net->n; to++) {
		size_t row = (size_t)to * net->n;

		flood(ways, to, ways->hops + row, rank != NULL ? ways->falls + row : NULL, queue);
	}
	mem->free(mem, queue);
	return 0;
}

int wf_sm_ways_init(struct wf_sm_ways *ways, const struct wf_sm_net *net)
{
	return find_ways(ways, net, NULL);
}

int wf_sm_ways_init_updn(struct wf_sm_ways *ways, const struct wf_sm_net *net, const uint32_t *rank)
{
	return find_ways(ways, net, rank);
}

void wf_sm_ways_fini(struct wf_sm_ways *ways)
{
	ways->net->mem->free(ways->net->mem, ways->falls);
	ways->net->mem->free(ways->net->mem, ways->hops);
}

unsigned wf_sm_ways_list(const struct wf_sm_ways *ways, uint32_t from, uint32_t to,
                         const struct wf_sm_edge *list[WF_SUBNET_MAX_PORTS])
{
	const struct wf_sm_net *net = ways->net;
	const uint8_t *hops = ways->hops + (size_t)to * net->n;
	const uint8_t *falls = ways->falls == NULL ? NULL : ways->falls + (size_t)to * net->n;
	unsigned n = 0;

	if (hops[from] == WF_HOPS_NONE)
		return 0;
	for (uint32_t i = net->first[from]; i < net->first[from + 1]; i++) {
		const struct wf_sm_edge *edge = &net->edges[i];

		if (hops[edge->to] + 1 != hops[from])
			continue;
		if (falls != NULL) {
			bool up = wf_sm_is_up(net, ways->rank, from, edge->to);

			if (up == falls[from] || (!up && !falls[edge->to]))
				continue;
		}
		list[n++] = edge;
	}
	return n;
}
