/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.c - what minhop and updn of OpenSM have in common: each switch shares the ends out over
 * its ports on shortest ways.
 *
 * Ends come switch by switch, those switches first that have most of them, and adapters before the
 * switches themselves. Each goes to the port that has been given the fewest adapters' LIDs, of
 * equal ones to the lowest. With LMC, all first LIDs come before all second ones, and a further LID
 * of an end avoids the systems, then the switches, through which its others go already.
 */
#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "subnet/route_priv.h"

#define MAX_LIDS (1u << WF_SUBNET_MAX_LMC)

/* Neighbours through which a switch sends to an end, and by how many of its LIDs. */
struct used {
	unsigned n;
	struct {
		uint32_t sw;
		uint32_t lids;
	} at[MAX_LIDS];
};

struct spread {
	const struct wf_sm_ways *ways;
	const struct wf_sm_net *net;
	struct wf_tables *tables;
	uint32_t *order;    /* of ends */
	struct used *used;  /* by place in order; NULL: all have one LID */
	uint32_t *n_hosts;  /* by switch: ends that are connected to it */
	uint32_t *switches; /* by n_hosts */
	/* Of the switch at hand. */
	uint32_t sw;
	uint32_t count[WF_SUBNET_MAX_PORTS + 1]; /* by port */
	uint32_t to; /* the switch that list leads to; WF_SUBNET_NONE: none yet */
	const struct wf_sm_edge *list[WF_SUBNET_MAX_PORTS];
	unsigned n_list;
};

static int most_hosts(const void *a, const void *b, const void *arg)
{
	const struct spread *s = arg;
	uint32_t x = s->n_hosts[*(const uint32_t *)a], y = s->n_hosts[*(const uint32_t *)b];

	return (y > x) - (y < x);
}

/* Puts the ends in order: those of each switch by its ports, then the switches. */
static int order_ends(struct spread *s, uint32_t *room)
{
	const struct wf_sm_net *net = s->net;
	const struct wf_subnet *subnet = net->subnet;
	uint32_t *end_at, n = 0;

	for (uint32_t i = 0; i < net->n_ends; i++)
		s->n_hosts[net->ends[i].sw] += net->ends[i].port != 0;
	memcpy(s->switches, net->order, (size_t)net->n * sizeof(*s->switches));
	wf_sort(s->switches, room, net->n, sizeof(*room), most_hosts, s);

	/* Which end is at a port. */
	end_at = net->mem->alloc(net->mem, ((size_t)subnet->n_ports + 1) * sizeof(*end_at));
	if (end_at == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < net->n_ends; i++) {
		const struct wf_sm_end *end = &net->ends[i];
		const struct wf_subnet_node *node = wf_sm_node(net, end->sw);

		if (end->port != 0)
			end_at[node->first_port + end->port] = i + 1;
	}
	for (uint32_t i = 0; i < net->n; i++) {
		const struct wf_subnet_node *node = wf_sm_node(net, s->switches[i]);

		for (uint32_t p = 1; p <= node->n_ports; p++) {
			if (end_at[node->first_port + p] != 0)
				s->order[n++] = end_at[node->first_port + p] - 1;
		}
	}
	net->mem->free(net->mem, end_at);
	for (uint32_t i = 0; i < net->n_ends; i++) {
		if (net->ends[i].port == 0)
			s->order[n++] = i;
	}
	assert(n == net->n_ends);
	return 0;
}

static bool same_system(const struct spread *s, uint32_t a, uint32_t b)
{
	uint64_t system = wf_sm_node(s->net, a)->system;

	return a == b || (system != 0 && system == wf_sm_node(s->net, b)->system);
}

/* The best of the ports for one LID of many: a new system, else a new switch, else the least. */
static const struct wf_sm_edge *choose_apart(const struct spread *s, const struct used *used,
                                             unsigned start)
{
	const struct wf_sm_edge *best[3] = { NULL, NULL, NULL };
	uint32_t least_lids = UINT32_MAX;

	/* From the port behind that of the LID before on, around. */
	for (unsigned turn = 0; turn < 2; turn++) {
		for (unsigned i = 0; i < s->n_list; i++) {
			const struct wf_sm_edge *edge = s->list[i];
			uint32_t count = s->count[edge->port], lids = 0;
			bool system = false, node = false;

			if ((edge->port >= start) != (turn == 0))
				continue;
			for (unsigned k = 0; k < used->n; k++) {
				system |= same_system(s, used->at[k].sw, edge->to);
				if (used->at[k].sw == edge->to) {
					node = true;
					lids = used->at[k].lids;
				}
			}
			if (!system && (best[0] == NULL || count < s->count[best[0]->port]))
				best[0] = edge;
			if (system && !node && (best[1] == NULL || count < s->count[best[1]->port]))
				best[1] = edge;
			if (best[2] == NULL || count < s->count[best[2]->port]) {
				best[2] = edge;
				least_lids = node ? lids : 0;
			} else if (node && count == s->count[best[2]->port] && lids < least_lids) {
				best[2] = edge;
				least_lids = lids;
			}
		}
	}
	return best[0] != NULL ? best[0] : best[1] != NULL ? best[1] : best[2];
}

static const struct wf_sm_edge *choose(const struct spread *s)
{
	const struct wf_sm_edge *best = s->list[0];

	for (unsigned i = 1; i < s->n_list; i++) {
		if (s->count[s->list[i]->port] < s->count[best->port])
			best = s->list[i];
	}
	return best;
}

static void note_used(struct used *used, uint32_t sw)
{
	unsigned i = 0;

	while (i < used->n && used->at[i].sw != sw)
		i++;
	if (i == used->n) {
		assert(used->n < MAX_LIDS);
		used->at[used->n].sw = sw;
		used->at[used->n++].lids = 0;
	}
	used->at[i].lids++;
}

/* The port by which the switch at hand sends to one LID of an end. */
static void route_end(struct spread *s, uint32_t at, unsigned offset)
{
	const struct wf_sm_end *end = &s->net->ends[s->order[at]];
	uint8_t *row = wf_tables_row(s->tables, s->sw);
	unsigned lid = end->lid + offset;
	const struct wf_sm_edge *edge;

	if (end->sw == s->sw) {
		row[lid] = end->port;
		return;
	}
	if (end->sw != s->to) {
		s->to = end->sw;
		s->n_list = wf_sm_ways_list(s->ways, s->sw, s->to, s->list);
	}
	if (s->n_list == 0)
		return;
	if (s->used == NULL)
		edge = choose(s);
	else
		edge = choose_apart(s, &s->used[at], offset == 0 ? 1 : row[lid - 1] + 1u);
	row[lid] = edge->port;
	if (end->port == 0)
		return;
	s->count[edge->port]++;
	if (s->used != NULL)
		note_used(&s->used[at], edge->to);
}

static void route_switch(struct spread *s)
{
	const struct wf_sm_net *net = s->net;

	memset(s->count, 0, sizeof(s->count));
	s->to = WF_SUBNET_NONE;
	for (uint32_t i = 0; s->used != NULL && i < net->n_ends; i++)
		s->used[i].n = 0;
	for (unsigned offset = 0; offset < 1u << net->max_lmc; offset++) {
		for (uint32_t i = 0; i < net->n_ends; i++) {
			if (offset < 1u << net->ends[s->order[i]].lmc)
				route_end(s, i, offset);
		}
	}
}

int wf_sm_spread(const struct wf_sm_ways *ways, struct wf_tables *tables)
{
	const struct wf_sm_net *net = ways->net;
	struct wf_mem *mem = net->mem;
	struct spread s = { .ways = ways, .net = net, .tables = tables };
	size_t n = (size_t)net->n + 1;
	uint32_t *room = mem->alloc(mem, n * sizeof(*room));
	int ret = -ENOMEM;

	s.order = mem->alloc(mem, ((size_t)net->n_ends + 1) * sizeof(*s.order));
	s.n_hosts = mem->alloc(mem, n * sizeof(*s.n_hosts));
	s.switches = mem->alloc(mem, n * sizeof(*s.switches));
	if (net->max_lmc > 0)
		s.used = mem->alloc(mem, ((size_t)net->n_ends + 1) * sizeof(*s.used));
	if (room != NULL && s.order != NULL && s.n_hosts != NULL && s.switches != NULL &&
	    (net->max_lmc == 0 || s.used != NULL))
		ret = order_ends(&s, room);
	for (s.sw = 0; ret == 0 && s.sw < net->n; s.sw++)
		route_switch(&s);
	mem->free(mem, s.used);
	mem->free(mem, s.switches);
	mem->free(mem, s.n_hosts);
	mem->free(mem, s.order);
	mem->free(mem, room);
	return ret;
}
