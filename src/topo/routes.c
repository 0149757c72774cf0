/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.c - minimal paths from every switch to every leaf.
 *
 * Leaves are taken 64 at a time, one bit each. A breadth-first search from all 64 at once carries
 * words instead of leaves: where the word of switch v reaches neighbour u for the first time in
 * some bits, the port of u towards v is on a shortest path to just those leaves. Then the 64 leaves
 * of a switch are split into classes with the same ports, and a class is looked up among the sets
 * that the switch has already.
 *
 * A global link of a dragonfly counts as three hops, so that a path crosses one where it can
 * (local, global, local is 5) and not two (6). Elsewhere every link counts as one.
 *
 * While sets are found they lie in one growing pool for all switches; at the end each switch gets
 * its own in one piece. Set 0 of a switch is empty. All is deterministic: ids follow the order of
 * leaves and ports.
 *
 * A search begins at all switches of a leaf at once (its roots). There is one of them unless hosts
 * have several ports; then leaves are found by sorting the hosts by the links that they have left.
 */
#include "topo/routes.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/sort.h"

#define WORD 64
#define GLOBAL_HOPS 3 /* what a global link counts */
#define RING (GLOBAL_HOPS + 1)

/* One end of a link that is up, between switches. */
struct edge {
	uint32_t peer; /* the switch at the other end */
	uint32_t back; /* the edge of peer that leads here */
	bool global;
};

/*
 * The switches alone, numbered from 0, with the edges of each in the order of its ports; the hosts'
 * ports are left out, and with them most of the memory a search would walk through.
 */
struct net {
	struct wf_mem *mem;
	uint32_t n_switches;
	uint32_t n_leaves;
	uint32_t n_edges;
	bool has_global;
	bool shared;     /* a destination has several ports: those of its host */
	uint32_t *node;  /* switch -> node id */
	uint32_t *root;  /* switches from which leaves are reached, leaf by leaf */
	uint32_t *leaf;  /* leaf number -> its first root; one more at the end */
	uint32_t *first; /* switch -> its first edge; one more at the end */
	struct edge *edges;
	uint16_t *port; /* edge -> port number */
};

/* A search: a bit for each of 64 leaves, in words by switch, or in via by edge. */
struct search {
	const struct net *net;
	uint64_t *seen;
	uint64_t *next;
	uint64_t *via;
	/* What was reached at distance d, in place d % RING: words, and switches that have bits. */
	uint64_t *now[RING];
	uint32_t *queue[RING];
	uint32_t len[RING];
};

/* What wf_routes_create() returns is the first member. */
struct routes_block {
	struct wf_routes routes;
	uint16_t *set_of_leaf;
	struct wf_route_set *sets;
	uint16_t *ports;
};

/* A set in the pool. */
struct pool_set {
	uint32_t sw;
	uint32_t first;
	uint32_t n;
	uint32_t id; /* among the sets of sw */
	uint64_t hash;
};

struct pool {
	struct wf_mem *mem;
	struct pool_set *sets;
	uint16_t *ports;
	uint32_t *slots; /* hash table: 0 free, else index into sets + 1 */
	size_t n_sets, max_sets;
	size_t n_ports, max_ports;
	size_t n_slots; /* a power of two, at least twice n_sets */
};

static struct routes_block *to_block(struct wf_routes *routes)
{
	return wf_container_of(routes, struct routes_block, routes);
}

/* ---- the pool ---- */

/* Makes room for n elements of size bytes in *array_p, which has *max_p. */
static int grow(struct wf_mem *mem, void **array_p, size_t *max_p, size_t n, size_t size)
{
	size_t max = *max_p;
	void *array;

	if (n <= max)
		return 0;
	while (max < n)
		max = max == 0 ? 256 : 2 * max;
	array = mem->alloc(mem, max * size);
	if (array == NULL)
		return -ENOMEM;
	if (*max_p > 0)
		memcpy(array, *array_p, *max_p * size);
	mem->free(mem, *array_p);
	*array_p = array;
	*max_p = max;
	return 0;
}

static int pool_reserve(struct pool *pool, size_t ports)
{
	void *sets = pool->sets, *list = pool->ports, *slots = pool->slots;
	size_t n_slots = 0;
	int ret;

	ret = grow(pool->mem, &sets, &pool->max_sets, pool->n_sets + 1, sizeof(*pool->sets));
	pool->sets = sets;
	if (ret != 0)
		return ret;
	ret = grow(pool->mem, &list, &pool->max_ports, pool->n_ports + ports + 1,
	           sizeof(*pool->ports));
	pool->ports = list;
	if (ret != 0 || 2 * (pool->n_sets + 1) <= pool->n_slots)
		return ret;

	slots = NULL;
	ret = grow(pool->mem, &slots, &n_slots, 4 * (pool->n_sets + 1), sizeof(*pool->slots));
	if (ret != 0)
		return ret;
	assert(slots != NULL);
	pool->mem->free(pool->mem, pool->slots);
	pool->slots = slots;
	pool->n_slots = n_slots;
	for (size_t i = 0; i < pool->n_sets; i++) {
		size_t at = pool->sets[i].hash & (n_slots - 1);

		while (pool->slots[at] != 0)
			at = (at + 1) & (n_slots - 1);
		pool->slots[at] = (uint32_t)i + 1;
	}
	return 0;
}

static void pool_fini(struct pool *pool)
{
	pool->mem->free(pool->mem, pool->slots);
	pool->mem->free(pool->mem, pool->ports);
	pool->mem->free(pool->mem, pool->sets);
}

/* FNV-1a over the switch and its ports, with the high bits folded in. */
static uint64_t hash_of(uint32_t sw, const uint16_t *ports, uint32_t n)
{
	uint64_t hash = (UINT64_C(0xcbf29ce484222325) ^ sw) * UINT64_C(0x100000001b3);

	for (uint32_t i = 0; i < n; i++)
		hash = (hash ^ ports[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

/*
 * The id of the set of n ports of switch sw, which are at the end of the pool's ports (room for
 * them was reserved); the set is added if it is new. -EOVERFLOW when the switch has too many.
 */
static int pool_intern(struct pool *pool, struct wf_route_switch *rs, uint32_t sw, uint32_t n,
                       uint16_t *id_p)
{
	const uint16_t *ports = pool->ports + pool->n_ports;
	uint64_t hash = hash_of(sw, ports, n);
	size_t at = hash & (pool->n_slots - 1);

	for (; pool->slots[at] != 0; at = (at + 1) & (pool->n_slots - 1)) {
		const struct pool_set *set = &pool->sets[pool->slots[at] - 1];

		if (set->hash == hash && set->sw == sw && set->n == n &&
		    memcmp(pool->ports + set->first, ports, n * sizeof(*ports)) == 0) {
			*id_p = (uint16_t)set->id;
			return 0;
		}
	}
	if (rs->n_sets > UINT16_MAX || pool->n_ports + n > UINT32_MAX)
		return -EOVERFLOW;

	pool->sets[pool->n_sets] = (struct pool_set){
		.sw = sw, .first = (uint32_t)pool->n_ports, .n = n, .id = rs->n_sets, .hash = hash
	};
	pool->slots[at] = (uint32_t)++pool->n_sets;
	pool->n_ports += n;
	*id_p = (uint16_t)rs->n_sets++;
	return 0;
}

/* ---- the switches alone ---- */

static bool is_switch(const struct wf_topo *topo, uint32_t id)
{
	return topo->nodes[id].kind == WF_TOPO_SWITCH;
}

static bool is_edge(const struct wf_topo *topo, const uint8_t *down,
                    const struct wf_topo_port *port)
{
	return is_switch(topo, port->peer) && (down == NULL || down[port->link] == 0);
}

static void net_fini(struct net *net)
{
	net->mem->free(net->mem, net->port);
	net->mem->free(net->mem, net->edges);
	net->mem->free(net->mem, net->first);
	net->mem->free(net->mem, net->leaf);
	net->mem->free(net->mem, net->root);
	net->mem->free(net->mem, net->node);
}

/* Every leaf has a host, and every root a port of one. */
static size_t most_leaves(const struct wf_topo *topo, bool shared)
{
	return shared ? topo->n_hosts : topo->n_nodes - topo->n_hosts;
}

static int net_alloc(struct net *net, const struct wf_topo *topo)
{
	size_t leaves = most_leaves(topo, net->shared);
	size_t roots = leaves * (net->shared ? topo->host_ports : 1);
	struct wf_mem *mem = net->mem;
	uint32_t n = topo->n_nodes - topo->n_hosts;

	net->node = mem->alloc(mem, (n + 1) * sizeof(*net->node));
	net->root = mem->alloc(mem, (roots + 1) * sizeof(*net->root));
	net->leaf = mem->alloc(mem, (leaves + 1) * sizeof(*net->leaf));
	net->first = mem->alloc(mem, (n + 1) * sizeof(*net->first));
	net->edges = mem->alloc(mem, (topo->n_ports + 1) * sizeof(*net->edges));
	net->port = mem->alloc(mem, (topo->n_ports + 1) * sizeof(*net->port));
	if (net->node == NULL || net->root == NULL || net->leaf == NULL || net->first == NULL ||
	    net->edges == NULL || net->port == NULL) {
		net_fini(net);
		return -ENOMEM;
	}
	return 0;
}

/*
 * Numbers the switches and their edges; edge_of[port] says which edge a port became. Where what is
 * to be reached has one port, each switch that has hosts is a leaf.
 */
static void net_collect(struct net *net, const struct wf_topo *topo, const uint8_t *down,
                        uint32_t *edge_of)
{
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		const struct wf_topo_node *node = &topo->nodes[i];
		bool is_leaf = false;

		if (!is_switch(topo, i))
			continue;
		for (uint32_t p = 0; p < node->n_ports; p++) {
			const struct wf_topo_port *port = &topo->ports[node->first_port + p];

			is_leaf = is_leaf || !is_switch(topo, port->peer);
			if (!is_edge(topo, down, port))
				continue;
			edge_of[node->first_port + p] = net->n_edges;
			net->port[net->n_edges++] = (uint16_t)p;
		}
		if (is_leaf && !net->shared) {
			net->root[net->n_leaves++] = net->n_switches;
			net->leaf[net->n_leaves] = net->n_leaves;
		}
		net->node[net->n_switches] = i;
		net->first[++net->n_switches] = net->n_edges;
	}
}

/* Sets both fields of every edge. */
static void net_join(struct net *net, const struct wf_topo *topo, const uint32_t *edge_of)
{
	for (uint32_t s = 0; s < net->n_switches; s++) {
		const struct wf_topo_node *node = &topo->nodes[net->node[s]];

		for (uint32_t e = net->first[s]; e < net->first[s + 1]; e++) {
			const struct wf_topo_port *port =
				&topo->ports[node->first_port + net->port[e]];
			uint32_t back =
				edge_of[topo->nodes[port->peer].first_port + port->peer_port];

			net->edges[e].back = back;
			net->edges[e].global = port->global;
			net->edges[back].peer = s;
			net->has_global = net->has_global || port->global;
		}
	}
}

static int net_init(struct net *net, const struct wf_topo *topo, const uint8_t *down, bool shared,
                    struct wf_mem *mem)
{
	uint32_t *edge_of;
	int ret;

	*net = (struct net){ .mem = mem, .shared = shared };
	ret = net_alloc(net, topo);
	if (ret != 0)
		return ret;
	edge_of = mem->alloc(mem, (topo->n_ports + 1) * sizeof(*edge_of));
	if (edge_of == NULL) {
		net_fini(net);
		return -ENOMEM;
	}
	net_collect(net, topo, down, edge_of);
	net_join(net, topo, edge_of);
	mem->free(mem, edge_of);
	return 0;
}

/* ---- hosts with several ports ---- */

static const struct wf_topo_port *host_port(const struct wf_topo *topo, uint32_t host,
                                            uint32_t number)
{
	return &topo->ports[topo->nodes[topo->host_node[host]].first_port + number];
}

/* Lists the links of hosts that are up, or all of a host that has none up. */
static void list_links(struct wf_routes *routes, const struct wf_topo *topo, const uint8_t *down)
{
	uint32_t n = 0;

	for (uint32_t host = 0; host < topo->n_hosts; host++) {
		for (int any = 0; any < 2 && n == routes->first_link[host]; any++) {
			for (uint32_t p = 0; p < topo->host_ports; p++) {
				const struct wf_topo_port *port = host_port(topo, host, p);

				if (any == 0 && down != NULL && down[port->link] != 0)
					continue;
				routes->links[n++] =
					(struct wf_route_link){ port->peer, port->peer_port };
			}
		}
		routes->first_link[host + 1] = n;
	}
}

/* Hosts by the switches of their links, in the order of their numbers where these are the same. */
static int by_switches(const void *a, const void *b, const void *arg)
{
	const struct wf_routes *routes = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b, n_x, n_y;
	const struct wf_route_link *of_x = wf_routes_links(routes, x, &n_x);
	const struct wf_route_link *of_y = wf_routes_links(routes, y, &n_y);

	for (uint32_t i = 0; i < n_x && i < n_y; i++) {
		if (of_x[i].node != of_y[i].node)
			return of_x[i].node < of_y[i].node ? -1 : 1;
	}
	return n_x < n_y ? -1 : n_x > n_y;
}

/* Makes a leaf of what reaches a host: its switches, each once. */
static void add_leaf(struct net *net, const uint32_t *number, const struct wf_route_link *link,
                     uint32_t n)
{
	uint32_t first = net->leaf[net->n_leaves], end = first;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t root = number[link[i].node], k = first;

		while (k < end && net->root[k] != root)
			k++;
		net->root[k] = root;
		end += k == end;
	}
	net->leaf[++net->n_leaves] = end;
}

/* Finds the leaves of hosts with several ports, and which of them each host belongs to. */
static int find_leaves(struct net *net, const struct wf_topo *topo, const uint8_t *down,
                       struct wf_routes *routes)
{
	struct wf_mem *mem = net->mem;
	uint32_t n = topo->n_hosts;
	/* Hosts in order, as many again to sort in; and the numbers of switches among these. */
	uint32_t *order = mem->alloc(mem, (2 * (size_t)n + topo->n_nodes) * sizeof(*order));
	uint32_t *number = order + 2 * (size_t)n;

	routes->links = mem->alloc(mem, (size_t)n * topo->host_ports * sizeof(*routes->links));
	routes->first_link = mem->alloc(mem, ((size_t)n + 1) * sizeof(*routes->first_link));
	routes->leaf_of_host = mem->alloc(mem, ((size_t)n + 1) * sizeof(*routes->leaf_of_host));
	if (order == NULL || routes->links == NULL || routes->first_link == NULL ||
	    routes->leaf_of_host == NULL) {
		mem->free(mem, order);
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < net->n_switches; s++)
		number[net->node[s]] = s;
	list_links(routes, topo, down);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	wf_sort(order, order + n, n, sizeof(*order), by_switches, routes);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t links;
		const struct wf_route_link *link = wf_routes_links(routes, order[i], &links);

		if (i == 0 || by_switches(&order[i - 1], &order[i], routes) != 0)
			add_leaf(net, number, link, links);
		routes->leaf_of_host[order[i]] = net->n_leaves - 1;
	}
	mem->free(mem, order);
	return 0;
}

/* ---- the search ---- */

static void search_fini(struct search *s)
{
	struct wf_mem *mem = s->net->mem;

	for (uint32_t i = 0; i < RING; i++) {
		mem->free(mem, s->queue[i]);
		mem->free(mem, s->now[i]);
	}
	mem->free(mem, s->via);
	mem->free(mem, s->next);
	mem->free(mem, s->seen);
}

static int search_init(struct search *s, const struct net *net)
{
	struct wf_mem *mem = net->mem;
	size_t n = (size_t)net->n_switches + 1;
	bool failed = false;

	*s = (struct search){ .net = net };
	s->seen = mem->alloc(mem, n * sizeof(*s->seen));
	s->next = mem->alloc(mem, n * sizeof(*s->next));
	s->via = mem->alloc(mem, ((size_t)net->n_edges + 1) * sizeof(*s->via));
	for (uint32_t i = 0; i < RING; i++) {
		s->now[i] = mem->alloc(mem, n * sizeof(*s->now[i]));
		s->queue[i] = mem->alloc(mem, n * sizeof(*s->queue[i]));
		failed = failed || s->now[i] == NULL || s->queue[i] == NULL;
	}
	if (failed || s->seen == NULL || s->next == NULL || s->via == NULL) {
		search_fini(s);
		return -ENOMEM;
	}
	return 0;
}

/* Forgets what a place of the ring holds. */
static void clear_place(struct search *s, uint32_t place)
{
	for (uint32_t i = 0; i < s->len[place]; i++)
		s->now[place][s->queue[place][i]] = 0;
	s->len[place] = 0;
}

/*
 * Sends the words at place from over the links, global ones or the others, to the neighbours. Their
 * words go to next and their numbers join the queue at place to.
 */
static void spread(struct search *s, uint32_t from, uint32_t to, bool global)
{
	const struct net *net = s->net;

	for (uint32_t i = 0; i < s->len[from]; i++) {
		uint32_t v = s->queue[from][i];
		uint64_t word = s->now[from][v];

		for (uint32_t e = net->first[v]; e < net->first[v + 1]; e++) {
			uint32_t u = net->edges[e].peer;
			uint64_t fresh = word & ~s->seen[u];

			if (fresh == 0 || net->edges[e].global != global)
				continue;
			if (s->next[u] == 0)
				s->queue[to][s->len[to]++] = u;
			s->next[u] |= fresh;
			s->via[net->edges[e].back] |= fresh;
		}
	}
}

/* Finds all that is at distance d, where all nearer is known. */
static void step(struct search *s, uint32_t d)
{
	uint32_t to = d % RING;

	clear_place(s, to);
	spread(s, (d - 1) % RING, to, false);
	if (s->net->has_global && d >= GLOBAL_HOPS)
		spread(s, (d - GLOBAL_HOPS) % RING, to, true);
	for (uint32_t i = 0; i < s->len[to]; i++) {
		uint32_t u = s->queue[to][i];

		s->seen[u] |= s->next[u];
		s->now[to][u] = s->next[u];
		s->next[u] = 0;
	}
}

/* Searches from the n leaves that start at first; the result is in via. */
static void search_run(struct search *s, uint32_t first, uint32_t n)
{
	const struct net *net = s->net;
	uint32_t idle = 0; /* distances in a row at which there was nothing */
	uint32_t patience = net->has_global ? GLOBAL_HOPS : 1;

	memset(s->seen, 0, net->n_switches * sizeof(*s->seen));
	memset(s->via, 0, net->n_edges * sizeof(*s->via));
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t r = net->leaf[first + i]; r < net->leaf[first + i + 1]; r++) {
			uint32_t root = net->root[r];

			if (s->now[0][root] == 0)
				s->queue[0][s->len[0]++] = root;
			s->now[0][root] |= UINT64_C(1) << i;
			s->seen[root] |= UINT64_C(1) << i;
		}
	}
	for (uint32_t d = 1; idle < patience; d++) {
		step(s, d);
		idle = s->len[d % RING] == 0 ? idle + 1 : 0;
	}
	for (uint32_t i = 0; i < RING; i++)
		clear_place(s, i);
}

/* Splits the leaves in all into classes that use the same edges; returns how many. */
static uint32_t split(const uint64_t *via, uint32_t n_edges, uint64_t all, uint64_t *classes)
{
	uint32_t n = 1;

	classes[0] = all;
	for (uint32_t e = 0; e < n_edges; e++) {
		if (via[e] == 0)
			continue;
		for (uint32_t i = 0, end = n; i < end; i++) {
			uint64_t in = classes[i] & via[e];

			if (in == 0 || in == classes[i])
				continue;
			classes[i] &= ~in;
			assert(n < WORD);
			classes[n++] = in;
		}
	}
	return n;
}

/* Gives the n leaves from first on their sets at switch sw. */
static int assign_sets(const struct search *s, struct pool *pool, struct wf_route_switch *rs,
                       uint32_t sw, uint32_t first, uint32_t n)
{
	uint32_t edge0 = s->net->first[sw];
	uint32_t n_edges = s->net->first[sw + 1] - edge0;
	const uint64_t *via = &s->via[edge0];
	uint64_t all = n == WORD ? UINT64_MAX : (UINT64_C(1) << n) - 1;
	uint64_t classes[WORD];
	uint32_t n_classes = split(via, n_edges, all, classes);

	for (uint32_t i = 0; i < n_classes; i++) {
		uint64_t class = classes[i];
		uint32_t used = 0;
		uint16_t id;
		int ret;

		ret = pool_reserve(pool, n_edges);
		if (ret != 0)
			return ret;
		for (uint32_t e = 0; e < n_edges; e++) {
			if ((via[e] & class) != 0)
				pool->ports[pool->n_ports + used++] = s->net->port[edge0 + e];
		}
		ret = pool_intern(pool, rs, sw, used, &id);
		if (ret != 0)
			return ret;
		for (; class != 0; class &= class - 1)
			rs->set_of_leaf[first + (uint32_t)__builtin_ctzll(class)] = id;
	}
	return 0;
}

/* Finds all sets of all switches. */
static int find_sets(const struct net *net, struct pool *pool, struct wf_route_switch *switches)
{
	struct search s;
	uint16_t empty;
	int ret;

	ret = search_init(&s, net);
	if (ret != 0)
		return ret;
	for (uint32_t sw = 0; sw < net->n_switches && ret == 0; sw++) {
		ret = pool_reserve(pool, 0);
		if (ret == 0)
			ret = pool_intern(pool, &switches[net->node[sw]], sw, 0, &empty);
	}
	for (uint32_t first = 0; first < net->n_leaves && ret == 0; first += WORD) {
		uint32_t n = net->n_leaves - first < WORD ? net->n_leaves - first : WORD;

		search_run(&s, first, n);
		for (uint32_t sw = 0; sw < net->n_switches && ret == 0; sw++)
			ret = assign_sets(&s, pool, &switches[net->node[sw]], sw, first, n);
	}
	search_fini(&s);
	return ret;
}

/* ---- the result ---- */

/* Moves the sets out of the pool, those of each switch together. */
static int settle(struct routes_block *block, const struct net *net, const struct pool *pool)
{
	struct wf_mem *mem = block->routes.mem;
	uint32_t *n_ports;
	size_t n_sets = 0, ports = 0;

	block->sets = mem->alloc(mem, (pool->n_sets + 1) * sizeof(*block->sets));
	block->ports = mem->alloc(mem, (pool->n_ports + 1) * sizeof(*block->ports));
	n_ports = mem->alloc(mem, (net->n_switches + 1) * sizeof(*n_ports));
	if (block->sets == NULL || block->ports == NULL || n_ports == NULL) {
		mem->free(mem, n_ports);
		return -ENOMEM;
	}
	for (size_t i = 0; i < pool->n_sets; i++)
		n_ports[pool->sets[i].sw] += pool->sets[i].n;
	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		struct wf_route_switch *rs = &block->routes.switches[net->node[sw]];

		rs->sets = block->sets + n_sets;
		rs->ports = block->ports + ports;
		n_sets += rs->n_sets;
		ports += n_ports[sw];
	}
	assert(n_sets == pool->n_sets && ports == pool->n_ports);
	for (size_t i = 0; i < pool->n_sets; i++) {
		const struct pool_set *from = &pool->sets[i];
		struct wf_route_switch *rs = &block->routes.switches[net->node[from->sw]];
		struct wf_route_set *set = &rs->sets[from->id];

		/* Ids rise in the order of the pool, so the set before this one is in place. */
		set->first = from->id == 0 ? 0 : set[-1].first + set[-1].n;
		set->n = from->n;
		memcpy(rs->ports + set->first, pool->ports + from->first,
		       from->n * sizeof(*rs->ports));
	}
	mem->free(mem, n_ports);
	return 0;
}

/* Allocates what has a known size, and fills in what follows from the topology alone. */
static int block_init(struct routes_block *block, const struct wf_topo *topo, const struct net *net)
{
	struct wf_routes *routes = &block->routes;
	struct wf_mem *mem = routes->mem;
	size_t cells = (size_t)net->n_switches * net->n_leaves;

	routes->n_leaves = net->n_leaves;
	if (routes->leaf_of_host == NULL)
		routes->leaf_of_host =
			mem->alloc(mem, (routes->n_dests + 1) * sizeof(*routes->leaf_of_host));
	routes->port_of_host =
		mem->alloc(mem, (routes->n_dests + 1) * sizeof(*routes->port_of_host));
	routes->switches = mem->alloc(mem, (topo->n_nodes + 1) * sizeof(*routes->switches));
	block->set_of_leaf = mem->alloc(mem, (cells + 1) * sizeof(*block->set_of_leaf));
	if (routes->leaf_of_host == NULL || routes->port_of_host == NULL ||
	    routes->switches == NULL || block->set_of_leaf == NULL)
		return -ENOMEM;

	for (uint32_t sw = 0; sw < net->n_switches; sw++) {
		struct wf_route_switch *rs = &routes->switches[net->node[sw]];

		rs->leaf = WF_TOPO_NONE;
		rs->set_of_leaf = block->set_of_leaf + (size_t)sw * net->n_leaves;
	}
	for (uint32_t i = 0; i < routes->n_dests; i++)
		routes->port_of_host[i] =
			host_port(topo, i % topo->n_hosts, i / topo->n_hosts)->peer_port;
	if (net->shared)
		return 0;
	for (uint32_t i = 0; i < net->n_leaves; i++)
		routes->switches[net->node[net->root[i]]].leaf = i;
	for (uint32_t i = 0; i < routes->n_dests; i++) {
		const struct wf_topo_port *port =
			host_port(topo, i % topo->n_hosts, i / topo->n_hosts);

		routes->leaf_of_host[i] = routes->switches[port->peer].leaf;
	}
	return 0;
}

static int create(const struct wf_topo *topo, const uint8_t *down, bool by_port, struct wf_mem *mem,
                  struct wf_routes **routes_p)
{
	struct pool pool = { .mem = mem };
	struct routes_block *block;
	struct net net;
	int ret;

	ret = net_init(&net, topo, down, topo->host_ports > 1 && !by_port, mem);
	if (ret != 0)
		return ret;
	block = mem->alloc(mem, sizeof(*block));
	if (block == NULL) {
		ret = -ENOMEM;
		goto fini_net;
	}
	block->routes.mem = mem;
	block->routes.n_dests = topo->n_hosts * (by_port ? topo->host_ports : 1);

	if (net.shared)
		ret = find_leaves(&net, topo, down, &block->routes);
	if (ret == 0)
		ret = block_init(block, topo, &net);
	if (ret != 0)
		goto destroy_block;
	ret = find_sets(&net, &pool, block->routes.switches);
	if (ret == 0)
		ret = settle(block, &net, &pool);
	pool_fini(&pool);
	if (ret != 0)
		goto destroy_block;

	net_fini(&net);
	*routes_p = &block->routes;
	return 0;

destroy_block:
	wf_routes_destroy(&block->routes);
fini_net:
	net_fini(&net);
	return ret;
}

int wf_routes_create(const struct wf_topo *topo, const uint8_t *down, struct wf_mem *mem,
                     struct wf_routes **routes_p)
{
	return create(topo, down, false, mem, routes_p);
}

int wf_routes_create_by_port(const struct wf_topo *topo, const uint8_t *down, struct wf_mem *mem,
                             struct wf_routes **routes_p)
{
	return create(topo, down, true, mem, routes_p);
}

void wf_routes_destroy(struct wf_routes *routes)
{
	struct routes_block *block;
	struct wf_mem *mem;

	if (routes == NULL)
		return;

	block = to_block(routes);
	mem = routes->mem;
	mem->free(mem, routes->lft);
	mem->free(mem, block->ports);
	mem->free(mem, block->sets);
	mem->free(mem, block->set_of_leaf);
	mem->free(mem, routes->switches);
	mem->free(mem, routes->first_link);
	mem->free(mem, routes->links);
	mem->free(mem, routes->port_of_host);
	mem->free(mem, routes->leaf_of_host);
	mem->free(mem, block);
}
