/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c - groups of ports for adaptive routing, and whether they can make circles of credits. */
#include "subnet/groups.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "subnet/route_priv.h"

#define PORTS (WF_GROUP_MASK * 64)

struct maker {
	const struct wf_sm_net *net;
	const struct wf_tables *tables;
	struct wf_groups *groups;
	uint32_t room;    /* of groups->ports */
	uint8_t *is_leaf; /* by switch: has hosts */
	/* For the search of circles. */
	uint32_t *edge_of;           /* [sw * PORTS + port]: an edge, or WF_SUBNET_NONE */
	struct wf_group_ports *next; /* by edge: ports of the switch it leads to that wait for it */
	struct wf_group_ports *out;  /* by switch: towards the leaf at hand */
	uint32_t *queue;
	uint8_t *seen;
};

static void set_port(struct wf_group_ports *ports, unsigned port)
{
	ports->word[port / 64] |= UINT64_C(1) << port % 64;
}

/* ---- groups ---- */

/* The number of a switch's group with these ports, a new one if need be; 0: there are too many. */
static int number_of(struct maker *m, uint32_t sw, const struct wf_group_ports *ports,
                     uint8_t *number_p)
{
	struct wf_groups *g = m->groups;
	uint32_t first = g->first[sw], n = g->first[sw + 1] - first, i = 0;

	while (i < n && memcmp(&g->ports[first + i], ports, sizeof(*ports)) != 0)
		i++;
	*number_p = 0;
	if (i == WF_GROUPS_MOST) {
		g->left_out++;
		return 0;
	}
	if (first + i == m->room) {
		uint32_t room = m->room == 0 ? 1024 : 2 * m->room;
		struct wf_group_ports *more = g->mem->alloc(g->mem, room * sizeof(*more));

		if (more == NULL)
			return -ENOMEM;
		if (m->room != 0)
			memcpy(more, g->ports, m->room * sizeof(*more));
		g->mem->free(g->mem, g->ports);
		g->ports = more;
		m->room = room;
	}
	if (i == n) {
		g->ports[first + i] = *ports;
		g->first[sw + 1]++;
	}
	*number_p = (uint8_t)(i + 1);
	return 0;
}

static int group_to(struct maker *m, const struct wf_sm_ways *ways, uint32_t sw, uint32_t to)
{
	const struct wf_sm_edge *list[WF_SUBNET_MAX_PORTS];
	struct wf_group_ports ports = { { 0 } };
	unsigned n = wf_sm_ways_list(ways, sw, to, list);

	if (n < 2)
		return 0;
	for (unsigned i = 0; i < n; i++)
		set_port(&ports, list[i]->port);
	return number_of(m, sw, &ports, &m->groups->of[(size_t)sw * m->net->n + to]);
}

static int find_groups(struct maker *m)
{
	struct wf_sm_ways ways;
	int ret;

	if (m->tables->rank != NULL)
		ret = wf_sm_ways_init_updn(&ways, m->net, m->tables->rank);
	else
		ret = wf_sm_ways_init(&ways, m->net);
	if (ret != 0)
		return ret;
	for (uint32_t sw = 0; sw < m->net->n && ret == 0; sw++) {
		m->groups->first[sw + 1] = m->groups->first[sw];
		for (uint32_t to = 0; to < m->net->n && ret == 0; to++) {
			if (to != sw && m->is_leaf[to])
				ret = group_to(m, &ways, sw, to);
		}
	}
	wf_sm_ways_fini(&ways);
	return ret;
}

/* ---- circles ---- */

static bool is_empty(const struct wf_group_ports *ports)
{
	return (ports->word[0] | ports->word[1] | ports->word[2] | ports->word[3]) == 0;
}

/* By which ports each switch may send to the hosts of one: by its group, and by the tables. */
static void find_out(struct maker *m, uint32_t to, const uint16_t *lids, uint32_t n_lids)
{
	const struct wf_groups *g = m->groups;

	for (uint32_t sw = 0; sw < m->net->n; sw++) {
		uint8_t number = g->of[(size_t)sw * m->net->n + to];
		const uint8_t *row = wf_tables_row(m->tables, sw);

		memset(&m->out[sw], 0, sizeof(m->out[sw]));
		if (sw == to)
			continue;
		if (number != 0)
			m->out[sw] = *wf_groups_ports(g, sw, number);
		for (uint32_t i = 0; i < n_lids; i++) {
			if (row[lids[i]] != WF_LFT_NONE)
				set_port(&m->out[sw], row[lids[i]]);
		}
	}
}

/* A switch's packets to the leaf at hand wait for what comes behind its ports. */
static void go_out(struct maker *m, uint32_t sw, uint32_t *tail_p)
{
	for (unsigned w = 0; w < WF_GROUP_MASK; w++) {
		for (uint64_t bits = m->out[sw].word[w]; bits != 0; bits &= bits - 1) {
			unsigned port = w * 64 + (unsigned)__builtin_ctzll(bits);
			uint32_t edge = m->edge_of[(size_t)sw * PORTS + port], next;

			if (edge == WF_SUBNET_NONE)
				continue;
			next = m->net->edges[edge].to;
			for (unsigned i = 0; i < WF_GROUP_MASK; i++)
				m->next[edge].word[i] |= m->out[next].word[i];
			if (!m->seen[next]) {
				m->seen[next] = 1;
				m->queue[(*tail_p)++] = next;
			}
		}
	}
}

/* What waits for what, of packets between hosts: from all leaves on, to the hosts of one. */
static void add_waits(struct maker *m, uint32_t to, const uint16_t *lids, uint32_t n_lids)
{
	uint32_t tail = 0;

	find_out(m, to, lids, n_lids);
	memset(m->seen, 0, m->net->n);
	for (uint32_t sw = 0; sw < m->net->n; sw++) {
		if (m->is_leaf[sw] && sw != to && !is_empty(&m->out[sw])) {
			m->seen[sw] = 1;
			m->queue[tail++] = sw;
		}
	}
	for (uint32_t head = 0; head < tail; head++)
		go_out(m, m->queue[head], &tail);
}

/* The next edge that an edge waits for, which is taken out of its set; WF_SUBNET_NONE: none. */
static uint32_t take_next(struct maker *m, uint32_t edge)
{
	uint32_t sw = m->net->edges[edge].to;

	for (unsigned w = 0; w < WF_GROUP_MASK; w++) {
		while (m->next[edge].word[w] != 0) {
			unsigned bit = (unsigned)__builtin_ctzll(m->next[edge].word[w]);
			uint32_t next = m->edge_of[(size_t)sw * PORTS + w * 64 + bit];

			m->next[edge].word[w] &= m->next[edge].word[w] - 1;
			if (next != WF_SUBNET_NONE)
				return next;
		}
	}
	return WF_SUBNET_NONE;
}

enum { NEW, ON_THE_WAY, DONE };

/* Depth first; queue is the way, which has no edge twice. */
static bool has_circle(struct maker *m, uint8_t *state)
{
	uint32_t n = m->net->first[m->net->n];

	for (uint32_t start = 0; start < n; start++) {
		uint32_t depth = 0;

		if (state[start] != NEW)
			continue;
		m->queue[depth++] = start;
		state[start] = ON_THE_WAY;
		while (depth > 0) {
			uint32_t edge = m->queue[depth - 1], next = take_next(m, edge);

			if (next == WF_SUBNET_NONE) {
				state[edge] = DONE;
				depth--;
			} else if (state[next] == ON_THE_WAY) {
				return true;
			} else if (state[next] == NEW) {
				state[next] = ON_THE_WAY;
				m->queue[depth++] = next;
			}
		}
	}
	return false;
}

static void list_edges(struct maker *m)
{
	memset(m->edge_of, 0xff, (size_t)m->net->n * PORTS * sizeof(*m->edge_of));
	for (uint32_t sw = 0; sw < m->net->n; sw++) {
		for (uint32_t i = m->net->first[sw]; i < m->net->first[sw + 1]; i++)
			m->edge_of[(size_t)sw * PORTS + m->net->edges[i].port] = i;
	}
}

/* The LIDs of a leaf's hosts; at most n_lids. */
static uint32_t lids_of(const struct wf_groups *g, uint32_t leaf, uint16_t *lids)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid < g->n_lids; lid++) {
		if (g->at[lid] == leaf)
			lids[n++] = (uint16_t)lid;
	}
	return n;
}

static int search(struct maker *m, bool *circle_p)
{
	struct wf_mem *mem = m->net->mem;
	uint32_t n_edges = m->net->first[m->net->n];
	size_t most = (size_t)m->net->n + n_edges + 1;
	uint8_t *state = mem->alloc(mem, most);
	uint16_t *lids = mem->alloc(mem, ((size_t)m->groups->n_lids + 1) * sizeof(*lids));
	int ret = -ENOMEM;

	m->edge_of = mem->alloc(mem, ((size_t)m->net->n * PORTS + 1) * sizeof(*m->edge_of));
	m->next = mem->alloc(mem, most * sizeof(*m->next));
	m->out = mem->alloc(mem, most * sizeof(*m->out));
	m->queue = mem->alloc(mem, most * sizeof(*m->queue));
	m->seen = mem->alloc(mem, most);
	if (state != NULL && lids != NULL && m->edge_of != NULL && m->next != NULL &&
	    m->out != NULL && m->queue != NULL && m->seen != NULL) {
		list_edges(m);
		for (uint32_t to = 0; to < m->net->n; to++) {
			if (m->is_leaf[to])
				add_waits(m, to, lids, lids_of(m->groups, to, lids));
		}
		*circle_p = has_circle(m, state);
		ret = 0;
	}
	mem->free(mem, m->seen);
	mem->free(mem, m->queue);
	mem->free(mem, m->out);
	mem->free(mem, m->next);
	mem->free(mem, m->edge_of);
	mem->free(mem, lids);
	mem->free(mem, state);
	return ret;
}

/* ---- together ---- */

static void forget(struct wf_groups *g)
{
	memset(g->of, 0, (size_t)g->n_switches * g->n_switches);
	memset(g->first, 0, ((size_t)g->n_switches + 1) * sizeof(*g->first));
	g->left_out = 0;
}

static int fill(struct maker *m)
{
	struct wf_groups *g = m->groups;
	bool circle = false;
	int ret;

	for (uint32_t i = 0; i < m->net->n_ends; i++) {
		const struct wf_sm_end *end = &m->net->ends[i];

		if (end->port == 0)
			continue;
		m->is_leaf[end->sw] = 1;
		for (uint32_t k = 0; k < 1u << end->lmc && end->lid + k < g->n_lids; k++)
			g->at[end->lid + k] = end->sw;
	}
	if (m->tables->sl != NULL) {
		(void)snprintf(
			g->note, sizeof(g->note),
			"adaptive routing: lanes of %s go with one path each; choose updn or "
			"ftree",
			m->tables->engine);
		return 0;
	}
	ret = find_groups(m);
	if (ret == 0)
		ret = search(m, &circle);
	if (ret != 0 || !circle)
		return ret;
	forget(g);
	(void)snprintf(g->note, sizeof(g->note),
	               "adaptive routing: links could wait for one another in a circle on the "
	               "shortest ways of %s; choose updn or ftree",
	               m->tables->engine);
	return 0;
}

static int make(const struct wf_subnet *subnet, const struct wf_tables *tables, struct wf_groups *g)
{
	struct wf_mem *mem = subnet->mem;
	struct wf_sm_net net;
	struct maker m = { .net = &net, .tables = tables, .groups = g };
	int ret = wf_sm_net_init(&net, subnet);

	if (ret != 0)
		return ret;
	assert(tables->n_switches == net.n);
	g->of = mem->alloc(mem, (size_t)net.n * net.n + 1);
	g->at = mem->alloc(mem, ((size_t)g->n_lids + 1) * sizeof(*g->at));
	g->first = mem->alloc(mem, ((size_t)net.n + 1) * sizeof(*g->first));
	m.is_leaf = mem->alloc(mem, (size_t)net.n + 1);
	ret = -ENOMEM;
	if (g->of != NULL && g->at != NULL && g->first != NULL && m.is_leaf != NULL) {
		memset(g->at, 0xff, ((size_t)g->n_lids + 1) * sizeof(*g->at));
		ret = fill(&m);
	}
	mem->free(mem, m.is_leaf);
	wf_sm_net_fini(&net);
	return ret;
}

int wf_groups_create(const struct wf_subnet *subnet, const struct wf_tables *tables,
                     struct wf_groups **groups_p)
{
	struct wf_groups *g = subnet->mem->alloc(subnet->mem, sizeof(*g));
	int ret;

	if (g == NULL)
		return -ENOMEM;
	g->mem = subnet->mem;
	g->n_switches = tables->n_switches;
	g->n_lids = tables->n_lids;
	ret = make(subnet, tables, g);
	if (ret == 0)
		*groups_p = g;
	else
		wf_groups_destroy(g);
	return ret;
}

void wf_groups_destroy(struct wf_groups *groups)
{
	if (groups == NULL)
		return;
	groups->mem->free(groups->mem, groups->ports);
	groups->mem->free(groups->mem, groups->first);
	groups->mem->free(groups->mem, groups->at);
	groups->mem->free(groups->mem, groups->of);
	groups->mem->free(groups->mem, groups);
}
