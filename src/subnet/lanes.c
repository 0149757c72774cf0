/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.c - channel dependency graphs, their circles, and lanes without any. */
#include "subnet/lanes.h"

#include <errno.h>
#include <string.h>

enum colour { WHITE, GREY, BLACK }; /* not seen; on the stack; no circle behind it */

/* ---- ways to a LID ---- */

int wf_ways_to_init(struct wf_ways_to *ways, const struct wf_sm_net *net,
                    const struct wf_tables *tables)
{
	struct wf_mem *mem = net->mem;
	size_t n = (size_t)net->n + 1, n_ports = (size_t)net->subnet->n_ports + 1;

	*ways = (struct wf_ways_to){ .net = net, .tables = tables };
	ways->edge_of = mem->alloc(mem, n_ports * sizeof(*ways->edge_of));
	ways->out = mem->alloc(mem, n * sizeof(*ways->out));
	ways->inputs = mem->alloc(mem, n * sizeof(*ways->inputs));
	ways->order = mem->alloc(mem, n * sizeof(*ways->order));
	if (ways->edge_of == NULL || ways->out == NULL || ways->inputs == NULL ||
	    ways->order == NULL) {
		wf_ways_to_fini(ways);
		return -ENOMEM;
	}
	memset(ways->edge_of, 0xff, n_ports * sizeof(*ways->edge_of));
	for (uint32_t sw = 0; sw < net->n; sw++) {
		for (uint32_t i = net->first[sw]; i < net->first[sw + 1]; i++)
			ways->edge_of[wf_sm_node(net, sw)->first_port + net->edges[i].port] = i;
	}
	return 0;
}

void wf_ways_to_fini(struct wf_ways_to *ways)
{
	struct wf_mem *mem = ways->net->mem;

	mem->free(mem, ways->order);
	mem->free(mem, ways->inputs);
	mem->free(mem, ways->out);
	mem->free(mem, ways->edge_of);
}

uint32_t wf_ways_to_edge(const struct wf_ways_to *ways, uint32_t sw, unsigned lid)
{
	const struct wf_subnet_node *node = wf_sm_node(ways->net, sw);
	uint8_t port = wf_tables_port(ways->tables, sw, lid);

	return port == 0 || port > node->n_ports ? WF_SUBNET_NONE
	                                         : ways->edge_of[node->first_port + port];
}

void wf_ways_to_find(struct wf_ways_to *ways, unsigned lid)
{
	const struct wf_sm_net *net = ways->net;
	uint32_t head = 0, tail = 0;

	memset(ways->inputs, 0, (size_t)net->n * sizeof(*ways->inputs));
	for (uint32_t sw = 0; sw < net->n; sw++) {
		ways->out[sw] = wf_ways_to_edge(ways, sw, lid);
		if (ways->out[sw] != WF_SUBNET_NONE)
			ways->inputs[net->edges[ways->out[sw]].to]++;
	}
	for (uint32_t sw = 0; sw < net->n; sw++) {
		if (ways->inputs[sw] == 0)
			ways->order[tail++] = sw;
	}
	while (head < tail) {
		uint32_t edge = ways->out[ways->order[head++]];

		if (edge != WF_SUBNET_NONE && --ways->inputs[net->edges[edge].to] == 0)
			ways->order[tail++] = net->edges[edge].to;
	}
	ways->n_order = tail;
}

/* ---- the graph ---- */

static void lay_out(struct wf_cdg *cdg)
{
	const struct wf_sm_net *net = cdg->net;
	size_t first = 0;

	for (uint32_t i = 0; i < net->first[net->n]; i++) {
		uint32_t to = net->edges[i].to;

		cdg->first[i] = first;
		first += net->first[to + 1] - net->first[to];
	}
	cdg->first[net->first[net->n]] = first;
	for (uint32_t i = 0; i < net->n_ends; i++) {
		const struct wf_sm_end *end = &net->ends[i];

		if (end->port != 0)
			cdg->hosts[end->sw] += 1u << end->lmc;
	}
}

int wf_cdg_init(struct wf_cdg *cdg, const struct wf_sm_net *net, const struct wf_tables *tables)
{
	struct wf_mem *mem = net->mem;
	size_t n = (size_t)net->n + 1, edges = (size_t)net->first[net->n] + 1;
	int ret;

	*cdg = (struct wf_cdg){ .net = net };
	ret = wf_ways_to_init(&cdg->ways, net, tables);
	if (ret != 0)
		return ret;
	cdg->first = mem->alloc(mem, edges * sizeof(*cdg->first));
	cdg->hosts = mem->alloc(mem, n * sizeof(*cdg->hosts));
	cdg->sources = mem->alloc(mem, n * sizeof(*cdg->sources));
	cdg->colour = mem->alloc(mem, edges);
	cdg->stack = mem->alloc(mem, edges * sizeof(*cdg->stack));
	cdg->next = mem->alloc(mem, edges * sizeof(*cdg->next));
	if (cdg->first == NULL || cdg->hosts == NULL || cdg->sources == NULL ||
	    cdg->colour == NULL || cdg->stack == NULL || cdg->next == NULL) {
		wf_cdg_fini(cdg);
		return -ENOMEM;
	}
	lay_out(cdg);
	cdg->uses = mem->alloc(mem, (cdg->first[edges - 1] + 1) * sizeof(*cdg->uses));
	if (cdg->uses == NULL) {
		wf_cdg_fini(cdg);
		return -ENOMEM;
	}
	return 0;
}

void wf_cdg_fini(struct wf_cdg *cdg)
{
	struct wf_mem *mem = cdg->net->mem;

	mem->free(mem, cdg->uses);
	mem->free(mem, cdg->next);
	mem->free(mem, cdg->stack);
	mem->free(mem, cdg->colour);
	mem->free(mem, cdg->sources);
	mem->free(mem, cdg->hosts);
	mem->free(mem, cdg->first);
	wf_ways_to_fini(&cdg->ways);
}

uint32_t *wf_cdg_uses(const struct wf_cdg *cdg, uint32_t a, uint32_t b)
{
	const struct wf_sm_net *net = cdg->net;
	uint32_t to = net->edges[a].to;

	assert(b >= net->first[to] && b < net->first[to + 1]);
	return &cdg->uses[cdg->first[a] + (b - net->first[to])];
}

/* ---- counting paths ---- */

static uint64_t count_lid(struct wf_cdg *cdg, unsigned lid, const uint8_t *lane_of, uint8_t lane)
{
	const struct wf_sm_net *net = cdg->net;
	const struct wf_ways_to *ways = &cdg->ways;
	uint64_t paths = 0;

	wf_ways_to_find(&cdg->ways, lid);
	for (uint32_t sw = 0; sw < net->n; sw++) {
		bool counts =
			lane_of == NULL || lane_of[(size_t)sw * ways->tables->n_lids + lid] == lane;

		cdg->sources[sw] = counts ? cdg->hosts[sw] : 0;
		paths += cdg->sources[sw];
	}
	for (uint32_t i = 0; i < ways->n_order; i++) {
		uint32_t sw = ways->order[i], edge = ways->out[sw], to;

		if (edge == WF_SUBNET_NONE)
			continue;
		to = net->edges[edge].to;
		cdg->sources[to] += cdg->sources[sw];
		if (ways->out[to] != WF_SUBNET_NONE)
			*wf_cdg_uses(cdg, edge, ways->out[to]) += cdg->sources[sw];
	}
	return paths;
}

uint64_t wf_cdg_count(struct wf_cdg *cdg, const uint8_t *lane_of, uint8_t lane)
{
	const struct wf_sm_net *net = cdg->net;
	size_t edges = net->first[net->n];
	uint64_t paths = 0;

	memset(cdg->uses, 0, cdg->first[edges] * sizeof(*cdg->uses));
	memset(cdg->colour, WHITE, edges);
	cdg->depth = 0;
	cdg->start = 0;
	for (uint32_t i = 0; i < net->n_ends; i++) {
		const struct wf_sm_end *end = &net->ends[i];

		for (unsigned k = 0; end->port != 0 && k < 1u << end->lmc; k++)
			paths += count_lid(cdg, end->lid + k, lane_of, lane);
	}
	return paths;
}

/* ---- circles ---- */

static void push(struct wf_cdg *cdg, uint32_t edge)
{
	cdg->colour[edge] = GREY;
	cdg->next[cdg->depth] = 0;
	cdg->stack[cdg->depth++] = edge;
}

/* Goes back to where the way on the stack has been cut since. */
static void unwind(struct wf_cdg *cdg)
{
	uint32_t i = 1;

	while (i < cdg->depth && *wf_cdg_uses(cdg, cdg->stack[i - 1], cdg->stack[i]) != 0)
		i++;
	while (cdg->depth > i)
		cdg->colour[cdg->stack[--cdg->depth]] = WHITE;
	/* The successor that closed the circle, or is cut off, is looked at again. */
	if (cdg->depth > 0 && cdg->next[cdg->depth - 1] > 0)
		cdg->next[cdg->depth - 1]--;
}

static uint32_t take_circle(const struct wf_cdg *cdg, uint32_t first, uint32_t *circle)
{
	uint32_t at = cdg->depth - 1, n = 0;

	while (cdg->stack[at] != first)
		at--;
	while (at < cdg->depth)
		circle[n++] = cdg->stack[at++];
	return n;
}

uint32_t wf_cdg_circle(struct wf_cdg *cdg, uint32_t *circle)
{
	const struct wf_sm_net *net = cdg->net;
	uint32_t edges = net->first[net->n];

	unwind(cdg);
	for (;;) {
		uint32_t edge, to, k, n;

		if (cdg->depth == 0) {
			while (cdg->start < edges && cdg->colour[cdg->start] != WHITE)
				cdg->start++;
			if (cdg->start == edges)
				return 0;
			push(cdg, cdg->start);
		}
		edge = cdg->stack[cdg->depth - 1];
		to = net->edges[edge].to;
		n = net->first[to + 1] - net->first[to];
		k = cdg->next[cdg->depth - 1];
		while (k < n && (cdg->uses[cdg->first[edge] + k] == 0 ||
		                 cdg->colour[net->first[to] + k] == BLACK))
			k++;
		cdg->next[cdg->depth - 1] = k + 1;
		if (k == n) {
			cdg->colour[edge] = BLACK;
			cdg->depth--;
		} else if (cdg->colour[net->first[to] + k] == GREY) {
			return take_circle(cdg, net->first[to] + k, circle);
		} else {
			push(cdg, net->first[to] + k);
		}
	}
}

/* ---- lanes ---- */

struct lanes {
	struct wf_cdg cdg;
	struct wf_tables *tables;
	uint32_t *circle;
	uint64_t paths[WF_SM_MAX_VLS];
	unsigned n; /* lanes in use */
};

/* Whether the path from sw to a LID passes edge a, and b behind it. */
static bool passes(const struct lanes *l, uint32_t sw, unsigned lid, uint32_t a)
{
	const struct wf_sm_net *net = l->cdg.net;

	for (uint32_t steps = 0; steps <= net->n; steps++) {
		uint32_t edge = wf_ways_to_edge(&l->cdg.ways, sw, lid);

		if (edge == WF_SUBNET_NONE || edge == a)
			return edge == a;
		sw = net->edges[edge].to;
	}
	return false;
}

/* Takes a path out of the graph. */
static void take_out(struct lanes *l, uint32_t sw, unsigned lid)
{
	const struct wf_sm_net *net = l->cdg.net;
	uint32_t hosts = l->cdg.hosts[sw], edge = wf_ways_to_edge(&l->cdg.ways, sw, lid);

	while (edge != WF_SUBNET_NONE) {
		uint32_t after = wf_ways_to_edge(&l->cdg.ways, net->edges[edge].to, lid);

		if (after != WF_SUBNET_NONE)
			*wf_cdg_uses(&l->cdg, edge, after) -= hosts;
		edge = after;
	}
}

/* Moves the paths to one LID that go from edge a, which is at switch at, to edge b. */
static void move_lid(struct lanes *l, unsigned lid, uint32_t a, uint8_t lane)
{
	const struct wf_sm_net *net = l->cdg.net;

	for (uint32_t sw = 0; sw < net->n; sw++) {
		uint8_t *of = &l->tables->sl[(size_t)sw * l->tables->n_lids + lid];

		if (l->cdg.hosts[sw] == 0 || *of != lane || !passes(l, sw, lid, a))
			continue;
		take_out(l, sw, lid);
		*of = (uint8_t)(lane + 1);
		l->paths[lane] -= l->cdg.hosts[sw];
		l->paths[lane + 1] += l->cdg.hosts[sw];
	}
}

/* Takes the weakest dependency of a circle out of a lane, with all its paths. */
static void break_circle(struct lanes *l, uint32_t n, uint8_t lane)
{
	const struct wf_sm_net *net = l->cdg.net;
	uint32_t at = 0, least = UINT32_MAX, a, b, from = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t uses = *wf_cdg_uses(&l->cdg, l->circle[i], l->circle[(i + 1) % n]);

		if (uses < least) {
			least = uses;
			at = i;
		}
	}
	a = l->circle[at];
	b = l->circle[(at + 1) % n];
	while (net->first[from + 1] <= a)
		from++;
	for (uint32_t i = 0; i < net->n_ends; i++) {
		const struct wf_sm_end *end = &net->ends[i];

		for (unsigned k = 0; end->port != 0 && k < 1u << end->lmc; k++) {
			if (wf_ways_to_edge(&l->cdg.ways, from, end->lid + k) == a &&
			    wf_ways_to_edge(&l->cdg.ways, net->edges[a].to, end->lid + k) == b)
				move_lid(l, end->lid + k, a, lane);
		}
	}
	assert(*wf_cdg_uses(&l->cdg, a, b) == 0);
}

/* Gives lanes that are left over to those with the most paths, and each path its service level. */
static void share_out(struct lanes *l, unsigned vls)
{
	const struct wf_sm_net *net = l->cdg.net;
	unsigned parts[WF_SM_MAX_VLS], first[WF_SM_MAX_VLS];
	uint64_t turn[WF_SM_MAX_VLS] = { 0 };

	for (unsigned i = 0; i < l->n; i++)
		parts[i] = 1;
	for (unsigned left = vls - l->n; left > 0; left--) {
		unsigned most = 0;

		for (unsigned i = 1; i < l->n; i++) {
			if (l->paths[i] * parts[most] > l->paths[most] * parts[i])
				most = i;
		}
		parts[most]++;
	}
	for (unsigned i = 0, sum = 0; i < l->n; sum += parts[i++])
		first[i] = sum;
	for (uint32_t i = 0; i < net->n_ends; i++) {
		const struct wf_sm_end *end = &net->ends[i];

		for (unsigned k = 0; end->port != 0 && k < 1u << end->lmc; k++) {
			for (uint32_t sw = 0; sw < net->n; sw++) {
				size_t at = (size_t)sw * l->tables->n_lids + end->lid + k;
				unsigned lane = l->tables->sl[at];

				if (l->cdg.hosts[sw] == 0)
					continue;
				l->tables->sl[at] =
					(uint8_t)(first[lane] + turn[lane]++ % parts[lane]);
			}
		}
	}
	l->tables->n_vls = vls;
}

int wf_lanes_assign(const struct wf_sm_net *net, struct wf_tables *tables, unsigned vls,
                    unsigned *needed_p)
{
	struct wf_mem *mem = net->mem;
	struct lanes l = { .tables = tables, .n = 1 };
	int ret = wf_tables_want_sl(tables);

	assert(vls >= 1 && vls <= WF_SM_MAX_VLS);
	if (ret == 0)
		ret = wf_cdg_init(&l.cdg, net, tables);
	if (ret != 0)
		return ret;
	l.circle = mem->alloc(mem, ((size_t)net->first[net->n] + 1) * sizeof(*l.circle));
	if (l.circle == NULL)
		ret = -ENOMEM;
	for (uint8_t lane = 0; ret == 0 && lane < l.n; lane++) {
		uint64_t paths = wf_cdg_count(&l.cdg, tables->sl, lane);
		uint32_t n;

		l.paths[lane] = paths;
		while (ret == 0 && (n = wf_cdg_circle(&l.cdg, l.circle)) != 0) {
			if (lane + 1u == vls) {
				*needed_p = vls + 1;
				ret = -EINVAL;
				break;
			}
			l.n = lane + 2u;
			break_circle(&l, n, lane);
		}
	}
	if (ret == 0)
		share_out(&l, vls);
	mem->free(mem, l.circle);
	wf_cdg_fini(&l.cdg);
	return ret;
}
