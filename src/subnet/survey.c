/* SPDX-License-Identifier: Apache-2.0 */
/* survey.c - hops and load of all pairs, and of permutations. */
#include "subnet/survey.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "subnet/lanes.h"

#define DOMAIN 0x53564259 /* of the random numbers */
#define SHARE_ONE (UINT64_C(1) << 32)

#define LOOPS UINT16_MAX

struct counts {
	uint32_t *hosts;   /* by switch: adapters' ports at it */
	uint64_t *sources; /* by switch, of the LID at hand: paths through it */
	uint16_t *hops;    /* from a switch to the LID; 0: it does not lead there; LOOPS */
};

static bool is_host(const struct wf_sm_end *end)
{
	return end->port != 0;
}

/* All paths to one end. */
static void survey_end(struct wf_survey *v, struct wf_ways_to *ways, struct counts *c,
                       const struct wf_sm_end *end)
{
	const struct wf_sm_net *net = ways->net;
	const struct wf_subnet_node *home = wf_sm_node(net, end->sw);
	bool arrives = wf_tables_port(ways->tables, end->sw, end->lid) == end->port;

	wf_ways_to_find(ways, end->lid);
	for (uint32_t sw = 0; sw < net->n; sw++)
		c->hops[sw] = ways->inputs[sw] != 0 ? LOOPS : 0;
	for (uint32_t i = ways->n_order; i-- > 0;) {
		uint32_t sw = ways->order[i], edge = ways->out[sw];
		uint16_t after = edge == WF_SUBNET_NONE ? 0 : c->hops[net->edges[edge].to];

		if (sw == end->sw)
			c->hops[sw] = arrives ? 1 : 0;
		else
			c->hops[sw] = after == 0 || after == LOOPS ? after : (uint16_t)(after + 1);
	}
	for (uint32_t sw = 0; sw < net->n; sw++) {
		uint64_t n = c->hosts[sw] - (sw == end->sw ? 1 : 0);

		c->sources[sw] = 0;
		if (c->hops[sw] == LOOPS) {
			v->loops += n;
			c->hops[sw] = 0;
		} else if (c->hops[sw] != 0) {
			c->sources[sw] = n;
			v->reached += n;
			v->hops[c->hops[sw] < WF_SURVEY_HOPS ? c->hops[sw] : WF_SURVEY_HOPS] += n;
		}
	}
	for (uint32_t i = 0; i < ways->n_order; i++) {
		uint32_t sw = ways->order[i], edge = ways->out[sw];

		if (edge == WF_SUBNET_NONE || c->hops[sw] == 0)
			continue;
		v->load[wf_sm_node(net, sw)->first_port + net->edges[edge].port] += c->sources[sw];
		c->sources[net->edges[edge].to] += c->sources[sw];
	}
	if (c->hops[end->sw] != 0)
		v->load[home->first_port + end->port] += c->sources[end->sw];
}

static void sum_up(struct wf_survey *v, const struct wf_sm_net *net)
{
	v->busiest = WF_SUBNET_NONE;
	for (uint32_t sw = 0; sw < net->n; sw++) {
		for (uint32_t i = net->first[sw]; i < net->first[sw + 1]; i++) {
			uint32_t at = wf_sm_node(net, sw)->first_port + net->edges[i].port;

			v->links++;
			v->sum += v->load[at];
			v->idle += v->load[at] == 0;
			if (v->busiest == WF_SUBNET_NONE || v->load[at] > v->most) {
				v->most = v->load[at];
				v->busiest = at;
			}
		}
	}
}

static int survey_all(struct wf_survey *v, const struct wf_sm_net *net,
                      const struct wf_tables *tables)
{
	struct wf_mem *mem = net->mem;
	size_t n = (size_t)net->n + 1;
	struct wf_ways_to ways;
	struct counts c;
	int ret = wf_ways_to_init(&ways, net, tables);

	if (ret != 0)
		return ret;
	c.hosts = mem->alloc(mem, n * sizeof(*c.hosts));
	c.sources = mem->alloc(mem, n * sizeof(*c.sources));
	c.hops = mem->alloc(mem, n * sizeof(*c.hops));
	ret = c.hosts == NULL || c.sources == NULL || c.hops == NULL ? -ENOMEM : 0;
	for (uint32_t i = 0; ret == 0 && i < net->n_ends; i++) {
		c.hosts[net->ends[i].sw] += is_host(&net->ends[i]);
		v->n_ends += is_host(&net->ends[i]);
	}
	v->pairs = v->n_ends == 0 ? 0 : (uint64_t)v->n_ends * (v->n_ends - 1);
	for (uint32_t i = 0; ret == 0 && i < net->n_ends; i++) {
		if (is_host(&net->ends[i]))
			survey_end(v, &ways, &c, &net->ends[i]);
	}
	if (ret == 0)
		sum_up(v, net);
	mem->free(mem, c.hops);
	mem->free(mem, c.sources);
	mem->free(mem, c.hosts);
	wf_ways_to_fini(&ways);
	return ret;
}

int wf_survey_all(const struct wf_subnet *subnet, const struct wf_tables *tables,
                  struct wf_survey *survey)
{
	struct wf_sm_net net;
	int ret = wf_sm_net_init(&net, subnet);

	if (ret != 0)
		return ret;
	*survey = (struct wf_survey){ .mem = subnet->mem };
	survey->load = subnet->mem->alloc(subnet->mem,
	                                  ((size_t)subnet->n_ports + 1) * sizeof(*survey->load));
	ret = survey->load == NULL ? -ENOMEM : survey_all(survey, &net, tables);
	if (ret != 0)
		wf_survey_fini(survey);
	wf_sm_net_fini(&net);
	return ret;
}

void wf_survey_fini(struct wf_survey *survey)
{
	survey->mem->free(survey->mem, survey->load);
}

/* ---- permutations ---- */

struct flows {
	const struct wf_sm_net *net;
	const struct wf_tables *tables;
	uint32_t *hosts; /* ends */
	uint32_t n;
	uint32_t *to; /* by host: which host it sends to */
	uint32_t *on; /* by edge: flows */
	struct wf_ways_to ways;
};

/* Shuffles (Fisher and Yates); nobody sends to itself. */
static void shuffle(struct flows *f, uint64_t seed)
{
	uint64_t key = wf_rand_key(seed, DOMAIN, 0);

	for (uint32_t i = 0; i < f->n; i++)
		f->to[i] = i;
	for (uint32_t i = f->n; i-- > 1;) {
		uint32_t k = wf_rand_below(wf_rand64(key, i), i);
		uint32_t t = f->to[i];

		/* k is below i, not up to it: what comes of it is one circle (Sattolo). */
		f->to[i] = f->to[k];
		f->to[k] = t;
	}
}

/* Goes along a flow's path; add: counts it; most_p: the most flows on a link. False: no path. */
static bool follow(const struct flows *f, uint32_t i, uint32_t add, uint32_t *most_p)
{
	const struct wf_sm_end *from = &f->net->ends[f->hosts[i]];
	const struct wf_sm_end *to = &f->net->ends[f->hosts[f->to[i]]];
	uint32_t sw = from->sw;

	*most_p = 0;
	for (uint32_t steps = 0; steps <= f->net->n; steps++) {
		uint32_t edge;

		if (sw == to->sw)
			return wf_tables_port(f->tables, sw, to->lid) == to->port;
		edge = wf_ways_to_edge(&f->ways, sw, to->lid);
		if (edge == WF_SUBNET_NONE)
			return false;
		f->on[edge] += add;
		if (f->on[edge] > *most_p)
			*most_p = f->on[edge];
		sw = f->net->edges[edge].to;
	}
	return false;
}

static void permute(struct flows *f, uint64_t seed, struct wf_permutation *p)
{
	uint32_t most;

	*p = (struct wf_permutation){ .share_min = SHARE_ONE };
	memset(f->on, 0, (size_t)f->net->first[f->net->n] * sizeof(*f->on));
	shuffle(f, seed);
	for (uint32_t i = 0; i < f->n; i++) {
		/* What does not arrive is not there. */
		if (follow(f, i, 0, &most))
			(void)follow(f, i, 1, &most);
	}
	for (uint32_t i = 0; i < f->n; i++) {
		uint64_t share;

		if (!follow(f, i, 0, &most))
			continue;
		share = most <= 1 ? SHARE_ONE : SHARE_ONE / most;
		p->all++;
		p->flows += most > 0;
		p->share_sum += share;
		p->share_min = wf_min_u64(p->share_min, share);
		if (most > p->most)
			p->most = most;
	}
}

int wf_survey_permute(const struct wf_subnet *subnet, const struct wf_tables *tables,
                      uint64_t first, unsigned n_seeds, struct wf_permutation *permutations)
{
	struct wf_mem *mem = subnet->mem;
	struct wf_sm_net net;
	struct flows f = { .net = &net, .tables = tables };
	int ret = wf_sm_net_init(&net, subnet);

	if (ret != 0)
		return ret;
	ret = wf_ways_to_init(&f.ways, &net, tables);
	if (ret != 0) {
		wf_sm_net_fini(&net);
		return ret;
	}
	f.hosts = mem->alloc(mem, ((size_t)net.n_ends + 1) * sizeof(*f.hosts));
	f.to = mem->alloc(mem, ((size_t)net.n_ends + 1) * sizeof(*f.to));
	f.on = mem->alloc(mem, ((size_t)net.first[net.n] + 1) * sizeof(*f.on));
	ret = f.hosts == NULL || f.to == NULL || f.on == NULL ? -ENOMEM : 0;
	for (uint32_t i = 0; ret == 0 && i < net.n_ends; i++) {
		if (is_host(&net.ends[i]))
			f.hosts[f.n++] = i;
	}
	for (unsigned i = 0; ret == 0 && i < n_seeds; i++)
		permute(&f, first + i, &permutations[i]);
	mem->free(mem, f.on);
	mem->free(mem, f.to);
	mem->free(mem, f.hosts);
	wf_ways_to_fini(&f.ways);
	wf_sm_net_fini(&net);
	return ret;
}

/* ---- one path ---- */

int wf_survey_path(const struct wf_subnet *subnet, const struct wf_tables *tables, uint32_t from,
                   unsigned lid, void (*step)(void *arg, uint32_t port), void *arg)
{
	const struct wf_subnet_port *port = &subnet->ports[from];
	uint32_t to = wf_subnet_by_lid(subnet, lid), node = port->node;
	int passed = 0;

	if (to == WF_SUBNET_NONE)
		return -1;
	if (!wf_subnet_is_switch(subnet, node)) {
		if (from == to)
			return 0;
		step(arg, from);
		node = port->peer;
	}
	while (node != WF_SUBNET_NONE && wf_subnet_is_switch(subnet, node)) {
		uint8_t out = wf_tables_port(tables, subnet->nodes[node].sw, lid);

		if (passed > (int)subnet->n_switches)
			return -2;
		passed++;
		if (out == 0)
			return node == subnet->ports[to].node ? passed : -1;
		if (out > subnet->nodes[node].n_ports)
			return -1;
		port = wf_subnet_port(subnet, node, out);
		step(arg, (uint32_t)(port - subnet->ports));
		node = wf_subnet_goes(subnet, port) ? port->peer : WF_SUBNET_NONE;
	}
	return node == subnet->ports[to].node &&
	                       port->peer_port == wf_subnet_number(subnet, &subnet->ports[to])
	               ? passed
	               : -1;
}
