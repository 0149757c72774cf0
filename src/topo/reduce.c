/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.c - growing trees for reductions.
 */
#include "topo/reduce.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const struct wf_topo_port *port_of(const struct wf_topo *topo, uint32_t id, unsigned port)
{
	return &topo->ports[topo->nodes[id].first_port + port];
}

static bool is_switch(const struct wf_topo *topo, uint32_t id)
{
	return topo->nodes[id].kind == WF_TOPO_SWITCH;
}

void wf_reduce_levels(const struct wf_topo *topo, uint32_t root, uint8_t *level, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	assert(is_switch(topo, root));
	memset(level, WF_REDUCE_FAR, topo->n_nodes);
	level[root] = 0;
	queue[tail++] = root;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (unsigned i = 0; i < topo->nodes[at].n_ports; i++) {
			uint32_t peer = port_of(topo, at, i)->peer;

			if (!is_switch(topo, peer) || level[peer] != WF_REDUCE_FAR ||
			    level[at] + 1 == WF_REDUCE_FAR)
				continue;
			level[peer] = (uint8_t)(level[at] + 1);
			queue[tail++] = peer;
		}
	}
}

/* What a tree is grown in: by node of the topology. */
struct growth {
	const struct wf_topo *topo;
	const uint8_t *level;
	uint32_t pick;
	uint32_t *number; /* in the tree, counted from 1; 0: not in it */
	uint32_t *found;  /* the switches, as they were found */
	uint32_t n;
	uint16_t *up;   /* of those found */
	uint32_t *kids; /* how many children each has */
};

/* A switch's port to its parent, which is one of those that lead nearer to the root. */
static uint16_t port_up(const struct growth *g, uint32_t id)
{
	const struct wf_topo *topo = g->topo;
	uint16_t near[WF_TOPO_MAX_PORTS];
	unsigned n = 0;

	for (unsigned i = 0; i < topo->nodes[id].n_ports; i++) {
		uint32_t peer = port_of(topo, id, i)->peer;

		if (is_switch(topo, peer) && g->level[peer] + 1 == g->level[id])
			near[n++] = (uint16_t)i;
	}
	assert(n > 0); /* what has a level above 0 was reached from the one below */
	return near[g->pick % n];
}

/* Adds a host's switch, and all above it that is not there yet. */
static int climb(struct growth *g, uint32_t host)
{
	uint32_t id = port_of(g->topo, g->topo->host_node[host], 0)->peer;

	if (g->level[id] == WF_REDUCE_FAR)
		return -EHOSTUNREACH;
	for (;;) {
		bool is_new = g->number[id] == 0;
		uint32_t at;

		if (is_new) {
			g->found[g->n++] = id;
			g->number[id] = g->n;
		}
		at = g->number[id] - 1;
		g->kids[at]++;
		if (!is_new || g->level[id] == 0)
			return 0;
		g->up[at] = port_up(g, id);
		id = port_of(g->topo, id, g->up[at])->peer;
	}
}

static uint32_t parent_of(const struct growth *g, uint32_t at)
{
	return port_of(g->topo, g->found[at], g->up[at])->peer;
}

/*
 * The lowest switch that has all hosts below it. What is above it, switches with one child, which
 * is a switch, is taken out of the tree.
 */
static uint32_t cut_top(struct growth *g)
{
	uint32_t top = 0;

	while (g->level[g->found[top]] != 0)
		top = g->number[parent_of(g, top)] - 1;
	while (g->kids[top] == 1) {
		uint32_t child = 0;

		while (child < g->n && (g->level[g->found[child]] == 0 ||
		                        g->number[parent_of(g, child)] != top + 1))
			child++;
		if (child == g->n)
			break;
		g->number[g->found[top]] = 0;
		top = child;
	}
	return top;
}

static void sort_ports(uint16_t *port, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		uint16_t p = port[i];
		unsigned k = i;

		for (; k > 0 && port[k - 1] > p; k--)
			port[k] = port[k - 1];
		port[k] = p;
	}
}

/* Numbers the switches that are left, gives each its place in down. */
static void lay_out(struct growth *g, struct wf_reduce_tree *t, uint32_t top)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t id = g->found[i];

		if (g->number[id] == 0)
			continue;
		t->nodes[t->n_nodes++] = (struct wf_reduce_node){ .id = id, .first_down = first };
		first += g->kids[i];
	}
	for (uint32_t i = 0, k = 0; i < g->n; i++) {
		if (g->number[g->found[i]] == 0)
			continue;
		t->nodes[k].up = i == top ? 0 : g->up[i];
		t->nodes[k].parent = i == top ? WF_TOPO_NONE : parent_of(g, i);
		g->number[g->found[i]] = ++k;
	}
}

static void add_child(struct wf_reduce_tree *t, uint32_t at, uint16_t port)
{
	struct wf_reduce_node *node = &t->nodes[at];

	t->down[node->first_down + node->n_down++] = port;
}

/* Each switch's ports to its children. */
static void join(const struct growth *g, struct wf_reduce_tree *t, const uint32_t *hosts,
                 uint32_t n)
{
	const struct wf_topo *topo = g->topo;

	for (uint32_t i = 0; i < n; i++) {
		const struct wf_topo_port *port = port_of(topo, topo->host_node[hosts[i]], 0);

		add_child(t, g->number[port->peer] - 1, port->peer_port);
	}
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		struct wf_reduce_node *node = &t->nodes[i];

		if (node->parent == WF_TOPO_NONE)
			continue;
		node->parent = g->number[node->parent] - 1;
		add_child(t, node->parent, port_of(topo, node->id, node->up)->peer_port);
	}
	for (uint32_t i = 0; i < t->n_nodes; i++)
		sort_ports(t->down + t->nodes[i].first_down, t->nodes[i].n_down);
}

static int grow(struct growth *g, const uint32_t *hosts, uint32_t n, struct wf_mem *mem,
                struct wf_reduce_tree *t)
{
	uint32_t kids = 0, top;

	for (uint32_t i = 0; i < n; i++) {
		int ret = climb(g, hosts[i]);

		if (ret != 0)
			return ret;
	}
	top = cut_top(g);
	for (uint32_t i = 0; i < g->n; i++)
		kids += g->kids[i];
	t->nodes = mem->alloc(mem, g->n * sizeof(*t->nodes));
	t->down = mem->alloc(mem, kids * sizeof(*t->down));
	if (t->nodes == NULL || t->down == NULL)
		return -ENOMEM;
	lay_out(g, t, top);
	join(g, t, hosts, n);
	return 0;
}

int wf_reduce_tree_create(const struct wf_topo *topo, const uint32_t *hosts, uint32_t n,
                          const uint8_t *level, uint32_t pick, struct wf_mem *mem,
                          struct wf_reduce_tree **tree_p)
{
	struct growth g = { .topo = topo, .level = level, .pick = pick };
	struct wf_reduce_tree *t = mem->alloc(mem, sizeof(*t));
	int ret = -ENOMEM;

	assert(n > 0);
	g.number = mem->alloc(mem, 3 * (size_t)topo->n_nodes * sizeof(*g.number));
	g.up = mem->alloc(mem, topo->n_nodes * sizeof(*g.up));
	if (t != NULL)
		t->mem = mem;
	if (t != NULL && g.number != NULL && g.up != NULL) {
		g.found = g.number + topo->n_nodes;
		g.kids = g.found + topo->n_nodes;
		ret = grow(&g, hosts, n, mem, t);
	}
	mem->free(mem, g.number);
	mem->free(mem, g.up);
	if (ret != 0)
		wf_reduce_tree_destroy(t);
	else
		*tree_p = t;
	return ret;
}

void wf_reduce_tree_destroy(struct wf_reduce_tree *t)
{
	struct wf_mem *mem;

	if (t == NULL)
		return;
	mem = t->mem;
	mem->free(mem, t->nodes);
	mem->free(mem, t->down);
	mem->free(mem, t);
}
