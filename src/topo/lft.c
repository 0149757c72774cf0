/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lft.c - linear forwarding tables: one of the minimal ports for every switch and destination.
 *
 * D-mod-k (Zahavi, "Fat-trees routing and node ordering providing contention free traffic for MPI
 * global collectives", 2011), found by counting instead of from the shape of the tree, so that it
 * holds with parallel links, on partial trees and on any other graph. Destinations are taken leaf
 * by leaf. A switch numbers those whose traffic comes to it, in that order, and number i takes port
 * i mod n of the n minimal ones. On a tree of levels with w1, w2, ... ports up, a leaf numbers all,
 * a switch above it every w1-th, so that number i is the destination divided by w1: the digits of
 * d-mod-k. Where a switch has several links down to a leaf, the hosts of that leaf which come to it
 * have successive numbers and so take turns on the links.
 *
 * Two switches of a tier have to give a destination the same number, or its traffic would come down
 * on several ways and meet others'. So a switch counts the destinations below it as well. Switches
 * with hosts number all destinations of a rail alike: where servers have several NICs, those of one
 * position follow each other, as their neighbours in collectives do.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "topo/routes.h"

#define GLOBAL_HOPS 3 /* what a global link counts, as in routes.c */

/* What is needed while the tables are filled; arrays by node id. */
struct work {
	const struct wf_topo *topo;
	const struct wf_routes *routes;
	struct wf_mem *mem;
	uint32_t *hops;   /* to the leaf at hand; WF_TOPO_NONE: not known, or no way */
	uint32_t *stack;  /* of nodes on the way to one whose hops are known */
	uint32_t *order;  /* the switches that reach the leaf, the farthest first */
	uint32_t *places; /* counts by hops */
	uint32_t *number; /* destinations that came so far */
	uint8_t *comes;   /* whether traffic for the destination at hand comes here */
	uint32_t *place;  /* by host: its number at switches with hosts */
	uint32_t *rails;  /* by NIC of a server: hosts so far */
	uint32_t *first;  /* by leaf: its first host in hosts; one more at the end */
	uint32_t *hosts;  /* leaf by leaf */
	uint32_t n_order;
};

static const struct wf_route_set *set_to(const struct work *w, uint32_t sw, uint32_t leaf)
{
	const struct wf_route_switch *rs = &w->routes->switches[sw];

	return &rs->sets[rs->set_of_leaf[leaf]];
}

static const struct wf_topo_port *port_of(const struct work *w, uint32_t sw, uint32_t number)
{
	return &w->topo->ports[w->topo->nodes[sw].first_port + number];
}

static bool is_switch(const struct work *w, uint32_t id)
{
	return w->topo->nodes[id].kind == WF_TOPO_SWITCH;
}

static void work_fini(struct work *w)
{
	w->mem->free(w->mem, w->hosts);
	w->mem->free(w->mem, w->first);
	w->mem->free(w->mem, w->rails);
	w->mem->free(w->mem, w->place);
	w->mem->free(w->mem, w->comes);
	w->mem->free(w->mem, w->number);
	w->mem->free(w->mem, w->places);
	w->mem->free(w->mem, w->order);
	w->mem->free(w->mem, w->stack);
	w->mem->free(w->mem, w->hops);
}

static int work_init(struct work *w, const struct wf_topo *topo, const struct wf_routes *routes)
{
	struct wf_mem *mem = routes->mem;
	size_t n = (size_t)topo->n_nodes + 1;

	*w = (struct work){ .topo = topo, .routes = routes, .mem = mem };
	w->hops = mem->alloc(mem, n * sizeof(*w->hops));
	w->stack = mem->alloc(mem, n * sizeof(*w->stack));
	w->order = mem->alloc(mem, n * sizeof(*w->order));
	w->places = mem->alloc(mem, (GLOBAL_HOPS * n + 1) * sizeof(*w->places));
	w->number = mem->alloc(mem, n * sizeof(*w->number));
	w->comes = mem->alloc(mem, n * sizeof(*w->comes));
	w->place = mem->alloc(mem, ((size_t)routes->n_dests + 1) * sizeof(*w->place));
	w->rails = mem->alloc(mem, n * sizeof(*w->rails));
	w->first = mem->alloc(mem, ((size_t)routes->n_leaves + 2) * sizeof(*w->first));
	w->hosts = mem->alloc(mem, ((size_t)routes->n_dests + 1) * sizeof(*w->hosts));
	if (w->hops == NULL || w->stack == NULL || w->order == NULL || w->places == NULL ||
	    w->number == NULL || w->comes == NULL || w->place == NULL || w->rails == NULL ||
	    w->first == NULL || w->hosts == NULL) {
		work_fini(w);
		return -ENOMEM;
	}
	return 0;
}

/* Lists the hosts leaf by leaf, those of a leaf in ascending order. */
static void sort_hosts(struct work *w)
{
	uint32_t n_hosts = w->routes->n_dests;

	/*
	 * The counts are one place too far, which serves as the place of the next host meanwhile.
	 */
	for (uint32_t h = 0; h < n_hosts; h++)
		w->first[w->routes->leaf_of_host[h] + 2]++;
	for (uint32_t i = 1; i <= w->routes->n_leaves; i++)
		w->first[i + 1] += w->first[i];
	for (uint32_t h = 0; h < n_hosts; h++)
		w->hosts[w->first[w->routes->leaf_of_host[h] + 1]++] = h;
}

/* Which of its server's NICs a host is. */
static uint32_t nic_of(const struct work *w, uint32_t dest)
{
	const struct wf_topo_node *nodes = w->topo->nodes;
	uint32_t host = dest % w->topo->n_hosts;
	uint32_t server = nodes[w->topo->host_node[host]].server, n = 0;

	while (n < host && nodes[w->topo->host_node[host - n - 1]].server == server)
		n++;
	return n;
}

/* Numbers the hosts of each rail; a leaf is of the rail of its first host. */
static void number_hosts(struct work *w)
{
	for (uint32_t leaf = 0; leaf < w->routes->n_leaves; leaf++) {
		uint32_t nic = nic_of(w, w->hosts[w->first[leaf]]);

		for (uint32_t i = w->first[leaf]; i < w->first[leaf + 1]; i++)
			w->place[w->hosts[i]] = w->rails[nic]++;
	}
}

/* Finds the hops from sw to the leaf by walking until they are known, and back. */
static void find_hops(struct work *w, uint32_t sw, uint32_t leaf)
{
	uint32_t n = 0;

	while (w->hops[sw] == WF_TOPO_NONE) {
		const struct wf_route_set *set = set_to(w, sw, leaf);

		if (set->n == 0)
			return;
		w->stack[n++] = sw;
		sw = port_of(w, sw, w->routes->switches[sw].ports[set->first])->peer;
	}
	while (n > 0) {
		uint32_t at = w->stack[--n];
		const struct wf_route_set *set = set_to(w, at, leaf);
		bool global = port_of(w, at, w->routes->switches[at].ports[set->first])->global;

		w->hops[at] = w->hops[sw] + (global ? GLOBAL_HOPS : 1);
		sw = at;
	}
}

/*
 * Puts the switches that reach the leaf in order, the farthest first; the leaf itself is left out.
 */
static void sort_switches(struct work *w, uint32_t leaf)
{
	uint32_t n_nodes = w->topo->n_nodes, most = 0, sum = 0;

	for (uint32_t id = 0; id < n_nodes; id++) {
		bool here = is_switch(w, id) && w->routes->switches[id].leaf == leaf;

		w->hops[id] = here ? 0 : WF_TOPO_NONE;
	}
	for (uint32_t id = 0; id < n_nodes; id++) {
		if (is_switch(w, id))
			find_hops(w, id, leaf);
		if (w->hops[id] != WF_TOPO_NONE && w->hops[id] > most)
			most = w->hops[id];
	}
	memset(w->places, 0, ((size_t)most + 1) * sizeof(*w->places));
	for (uint32_t id = 0; id < n_nodes; id++) {
		if (w->hops[id] != WF_TOPO_NONE)
			w->places[w->hops[id]]++;
	}
	for (uint32_t d = most; d > 0; d--) {
		uint32_t n = w->places[d];

		w->places[d] = sum;
		sum += n;
	}
	w->n_order = sum;
	for (uint32_t id = 0; id < n_nodes; id++) {
		if (w->hops[id] != WF_TOPO_NONE && w->hops[id] != 0)
			w->order[w->places[w->hops[id]]++] = id;
	}
}

/* Counts the host also at the switch to which its leaf would send its traffic up. */
static void count_at_home(struct work *w, uint32_t node, uint32_t dst)
{
	const struct wf_route_switch *rs = &w->routes->switches[node];
	const struct wf_route_set *up = &rs->sets[0];

	for (uint32_t i = 1; i < rs->n_sets; i++) {
		if (rs->sets[i].n > up->n)
			up = &rs->sets[i];
	}
	if (up->n != 0) {
		uint16_t port = rs->ports[up->first + w->place[dst] % up->n];

		w->comes[port_of(w, node, port)->peer] = 1;
	}
}

/* Fills in a destination: from the farthest switches on, so that all know what comes to them. */
static void route_host(struct work *w, uint32_t leaf, uint32_t node, uint32_t dst)
{
	memset(w->comes, 0, w->topo->n_nodes);
	count_at_home(w, node, dst);
	for (uint32_t i = 0; i < w->n_order; i++) {
		uint32_t sw = w->order[i];
		const struct wf_route_switch *rs = &w->routes->switches[sw];
		const struct wf_route_set *set = set_to(w, sw, leaf);
		bool has_hosts = rs->leaf != WF_TOPO_NONE;
		uint32_t number = has_hosts ? w->place[dst] : w->number[sw];
		uint16_t port = rs->ports[set->first + number % set->n];

		rs->lft[dst] = port;
		if (!has_hosts && !w->comes[sw])
			continue;
		w->comes[port_of(w, sw, port)->peer] = 1;
		w->number[sw]++;
	}
}

int wf_routes_fill_lft(struct wf_routes *routes, const struct wf_topo *topo)
{
	struct wf_mem *mem = routes->mem;
	size_t cells = (size_t)(topo->n_nodes - topo->n_hosts) * routes->n_dests;
	uint16_t *next;
	struct work w;
	int ret;

	assert(routes->lft == NULL);
	ret = work_init(&w, topo, routes);
	if (ret != 0)
		return ret;
	routes->lft = mem->alloc(mem, (cells + 1) * sizeof(*routes->lft));
	if (routes->lft == NULL) {
		work_fini(&w);
		return -ENOMEM;
	}
	next = routes->lft;
	for (uint32_t id = 0; id < topo->n_nodes; id++) {
		if (!is_switch(&w, id))
			continue;
		routes->switches[id].lft = next;
		next += routes->n_dests;
	}
	sort_hosts(&w);
	number_hosts(&w);
	for (uint32_t leaf = 0; leaf < routes->n_leaves; leaf++) {
		uint32_t host0 = w.hosts[w.first[leaf]] % topo->n_hosts;
		uint32_t port = w.hosts[w.first[leaf]] / topo->n_hosts;
		uint32_t node =
			topo->ports[topo->nodes[topo->host_node[host0]].first_port + port].peer;

		sort_switches(&w, leaf);
		for (uint32_t i = w.first[leaf]; i < w.first[leaf + 1]; i++)
			route_host(&w, leaf, node, w.hosts[i]);
	}
	work_fini(&w);
	return 0;
}
