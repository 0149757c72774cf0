/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dfsssp.c - shortest ways on any graph, spread by weights, and kept free of deadlock by lanes.
 *
 * Domke, Hoefler, Nagel, "Deadlock-Free Oblivious Routing for Arbitrary Topologies", IPDPS 2011, as
 * OpenSM has it. First, end by end, a tree of shortest ways to it (Dijkstra), where each link
 * weighs as much as there are paths through it already, on top of a weight that no number of paths
 * reaches, so that ways have the fewest hops.
 *
 * Then lanes. A packet on a link waits for the next link of its path: links and what waits for what
 * are the channel dependency graph of a lane, which must have no circle. All paths begin in lane 0.
 * While there is a circle, the dependency in it that the fewest paths make is taken out, its paths
 * with it, to the next lane. Lanes that are left over are given to those that have the most paths.
 *
 * A path is a switch and a LID, and has as many sources as there are adapters' ports at the switch.
 * Paths between adapters count; packets from and to switches, which are management, have SL 0.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/sort.h"
#include "subnet/lanes.h"
#include "subnet/route_priv.h"

#define DEFAULT_VLS 8
#define HEAP_ARITY 4

struct sssp {
	const struct wf_sm_net *net;
	struct wf_tables *tables;
	uint64_t *weight; /* by edge: of the way on it towards its first switch, from the second */
	uint32_t *hosts;  /* by switch: LIDs of it and at it */
	/* Of the end at hand, by switch. */
	uint64_t *distance;
	uint32_t *edge; /* by which it was reached; WF_SUBNET_NONE: not, or it is the first */
	uint32_t *from; /* where that edge begins */
	uint64_t *through;
	uint32_t *done; /* switches in the order in which they were reached */
	uint32_t n_done;
	uint32_t *heap, *place; /* switches; where each is, WF_SUBNET_NONE: it is out */
	uint32_t n_heap;
};

/*
 * ---- a heap of switches by distance, four below each ----
 *
 * Which of several that are equally far comes first decides between ways that weigh the same, so it
 * is done as OpenSM's heap does it.
 */

static void heap_set(struct sssp *s, uint32_t at, uint32_t sw)
{
	s->heap[at] = sw;
	s->place[sw] = at;
}

static void heap_rise(struct sssp *s, uint32_t at)
{
	uint32_t sw = s->heap[at];

	while (at > 0) {
		uint32_t up = (at - 1) / HEAP_ARITY;

		if (s->distance[s->heap[up]] <= s->distance[sw])
			break;
		heap_set(s, at, s->heap[up]);
		at = up;
	}
	heap_set(s, at, sw);
}

static void heap_sink(struct sssp *s, uint32_t at)
{
	uint32_t sw = s->heap[at];

	for (;;) {
		uint32_t first = at * HEAP_ARITY + 1, best = first;

		if (first >= s->n_heap)
			break;
		for (uint32_t i = first + 1; i < first + HEAP_ARITY && i < s->n_heap; i++) {
			if (s->distance[s->heap[i]] <= s->distance[s->heap[best]])
				best = i;
		}
		if (s->distance[sw] <= s->distance[s->heap[best]])
			break;
		heap_set(s, at, s->heap[best]);
		at = best;
	}
	heap_set(s, at, sw);
}

static uint32_t heap_take(struct sssp *s)
{
	uint32_t sw = s->heap[0];

	s->place[sw] = WF_SUBNET_NONE;
	if (--s->n_heap > 0) {
		heap_set(s, 0, s->heap[s->n_heap]);
		heap_sink(s, 0);
	}
	return sw;
}

/* ---- trees of shortest ways ---- */

/* Links of a switch that has been reached. */
static void relax(struct sssp *s, uint32_t at)
{
	const struct wf_sm_net *net = s->net;

	for (uint32_t i = net->first[at]; i < net->first[at + 1]; i++) {
		uint32_t next = net->edges[i].to;
		uint64_t distance = s->distance[at] + s->weight[i];

		if (s->place[next] == WF_SUBNET_NONE || distance >= s->distance[next])
			continue;
		s->distance[next] = distance;
		s->edge[next] = i;
		s->from[next] = at;
		heap_rise(s, s->place[next]);
	}
}

/*
 * The tree of ways to a switch; adapter: to one that is connected to it, which is in the heap, too.
 */
static void find_tree(struct sssp *s, uint32_t to, bool adapter)
{
	const struct wf_sm_net *net = s->net;
	uint32_t source = adapter ? net->n : to;

	memset(s->distance, 0xff, ((size_t)net->n + 1) * sizeof(*s->distance));
	memset(s->edge, 0xff, (size_t)net->n * sizeof(*s->edge));
	for (uint32_t i = 0; i < net->n; i++)
		heap_set(s, i, net->order[i]);
	if (adapter)
		heap_set(s, net->n, net->n);
	s->n_heap = net->n + adapter;
	s->n_done = 0;
	s->distance[source] = 0;
	heap_rise(s, s->place[source]);
	while (s->n_heap > 0) {
		uint32_t at = heap_take(s);

		if (s->distance[at] == UINT64_MAX)
			break;
		if (at == net->n) {
			s->distance[to] = 1;
			heap_rise(s, s->place[to]);
			continue;
		}
		s->done[s->n_done++] = at;
		relax(s, at);
	}
}

static void use_tree(struct sssp *s, const struct wf_sm_end *end, unsigned lid)
{
	memset(s->through, 0, (size_t)s->net->n * sizeof(*s->through));
	wf_tables_row(s->tables, end->sw)[lid] = end->port;
	/* The farthest first: all that comes through a switch is known before it goes on. */
	for (uint32_t i = s->n_done; i-- > 1;) {
		uint32_t sw = s->done[i], edge = s->edge[sw];

		wf_tables_row(s->tables, sw)[lid] = s->net->edges[edge].to_port;
		s->through[sw] += s->hosts[sw];
		s->weight[edge] += s->through[sw];
		s->through[s->from[sw]] += s->through[sw];
	}
}

static int most_hosts(const void *a, const void *b, const void *arg)
{
	const struct sssp *s = arg;
	uint32_t x = s->hosts[*(const uint32_t *)a], y = s->hosts[*(const uint32_t *)b];

	return (y > x) - (y < x);
}

/* Adapters by switches, those first that have most; then the switches themselves. */
static void route_ends(struct sssp *s, const uint32_t *switches, const uint32_t *end_at)
{
	const struct wf_sm_net *net = s->net;

	for (unsigned own = 0; own < 2; own++) {
		for (uint32_t i = 0; i < net->n; i++) {
			const struct wf_subnet_node *node = wf_sm_node(net, switches[i]);
			unsigned first = own ? 0 : 1, last = own ? 0 : node->n_ports;

			for (unsigned p = first; p <= last; p++) {
				uint32_t at = end_at[node->first_port + p];
				const struct wf_sm_end *end = &net->ends[at - 1];

				for (unsigned k = 0; at != 0 && k < 1u << end->lmc; k++) {
					find_tree(s, end->sw, end->port != 0);
					use_tree(s, end, end->lid + k);
				}
			}
		}
	}
}

static int route_all(struct sssp *s)
{
	const struct wf_sm_net *net = s->net;
	struct wf_mem *mem = net->mem;
	size_t n = (size_t)net->n + 1;
	uint32_t *switches = mem->alloc(mem, n * sizeof(*switches));
	uint32_t *room = mem->alloc(mem, n * sizeof(*room));
	uint32_t *end_at = mem->alloc(mem, ((size_t)net->subnet->n_ports + 1) * sizeof(*end_at));
	uint64_t lids = 0;
	int ret = -ENOMEM;

	if (switches == NULL || room == NULL || end_at == NULL)
		goto out;
	for (uint32_t i = 0; i < net->n_ends; i++) {
		const struct wf_sm_end *end = &net->ends[i];

		s->hosts[end->sw] += 1u << end->lmc;
		lids += 1u << end->lmc;
		end_at[wf_sm_node(net, end->sw)->first_port + end->port] = i + 1;
	}
	for (uint32_t i = 0; i < net->first[net->n]; i++)
		s->weight[i] = lids * lids;
	memcpy(switches, net->order, (size_t)net->n * sizeof(*switches));
	wf_sort(switches, room, net->n, sizeof(*room), most_hosts, s);
	route_ends(s, switches, end_at);
	ret = 0;
out:
	mem->free(mem, end_at);
	mem->free(mem, room);
	mem->free(mem, switches);
	return ret;
}

static int find_trees(const struct wf_sm_net *net, struct wf_tables *tables)
{
	struct wf_mem *mem = net->mem;
	struct sssp s = { .net = net, .tables = tables };
	size_t n = (size_t)net->n + 1; /* the last is the adapter at hand */
	int ret = -ENOMEM;

	s.weight = mem->alloc(mem, ((size_t)net->first[net->n] + 1) * sizeof(*s.weight));
	s.hosts = mem->alloc(mem, n * sizeof(*s.hosts));
	s.distance = mem->alloc(mem, n * sizeof(*s.distance));
	s.edge = mem->alloc(mem, n * sizeof(*s.edge));
	s.from = mem->alloc(mem, n * sizeof(*s.from));
	s.through = mem->alloc(mem, n * sizeof(*s.through));
	s.done = mem->alloc(mem, n * sizeof(*s.done));
	s.heap = mem->alloc(mem, n * sizeof(*s.heap));
	s.place = mem->alloc(mem, n * sizeof(*s.place));
	if (s.weight != NULL && s.hosts != NULL && s.distance != NULL && s.edge != NULL &&
	    s.from != NULL && s.through != NULL && s.done != NULL && s.heap != NULL &&
	    s.place != NULL)
		ret = route_all(&s);
	mem->free(mem, s.place);
	mem->free(mem, s.heap);
	mem->free(mem, s.done);
	mem->free(mem, s.through);
	mem->free(mem, s.from);
	mem->free(mem, s.edge);
	mem->free(mem, s.distance);
	mem->free(mem, s.hosts);
	mem->free(mem, s.weight);
	return ret;
}

static int dfsssp_route(const struct wf_subnet *subnet, const struct wf_sm_route_cfg *cfg,
                        struct wf_tables *tables, struct wf_err *err)
{
	unsigned vls = cfg->vls == 0 ? DEFAULT_VLS : cfg->vls, needed = 0;
	struct wf_sm_net net;
	int ret = wf_sm_net_init(&net, subnet);

	if (ret != 0)
		return ret;
	ret = find_trees(&net, tables);
	if (ret == 0)
		ret = wf_lanes_assign(&net, tables, vls, &needed);
	if (ret == -EINVAL)
		ret = wf_err_say(err,
		                 "dfsssp: %u virtual lanes are too few to break all circles; "
		                 "at least %u are needed",
		                 vls, needed);
	wf_sm_net_fini(&net);
	return ret;
}

const struct wf_sm_route_ops wf_sm_route_dfsssp = {
	.name = "dfsssp",
	.help = "any graph: shortest ways by weights, no credit loop by virtual lanes",
	.no_credit_loop = true,
	.route = dfsssp_route,
};
