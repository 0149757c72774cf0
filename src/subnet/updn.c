/* SPDX-License-Identifier: Apache-2.0 */
/*
 * updn.c - shortest ways that never go up after having gone down, so that no credit loop can be.
 *
 * Up is nearer to the roots, and between switches that are equally near to the one with the lower
 * GUID. Roots are given, or, as OpenSM finds them, the switches from which nearly all adapters are
 * equally far: more than nine tenths at one distance, and no other distance has a twentieth.
 */
#include <errno.h>
#include <string.h>

#include "subnet/route_priv.h"

#define UNRANKED UINT32_MAX
#define MAX_DISTANCE 64 /* hops further than that do not count, as in OpenSM */

static bool is_root(const struct wf_sm_ways *ways, const uint32_t *hosts, uint32_t n_hosts,
                    uint32_t sw)
{
	const struct wf_sm_net *net = ways->net;
	uint64_t at[MAX_DISTANCE] = { 0 };
	unsigned most = 0, some = 0;

	for (uint32_t to = 0; to < net->n; to++) {
		unsigned hops = ways->hops[(size_t)to * net->n + sw];

		if (hops < MAX_DISTANCE)
			at[hops] += hosts[to];
	}
	for (unsigned i = 0; i < MAX_DISTANCE; i++) {
		most += 10 * at[i] > 9 * (uint64_t)n_hosts;
		some += 20 * at[i] > n_hosts;
	}
	return most == 1 && some == 1;
}

static int find_roots(const struct wf_sm_net *net, uint32_t *rank, uint32_t *n_p)
{
	struct wf_mem *mem = net->mem;
	struct wf_sm_ways ways;
	uint32_t *hosts = mem->alloc(mem, ((size_t)net->n + 1) * sizeof(*hosts));
	uint32_t n_hosts = 0;
	int ret = hosts == NULL ? -ENOMEM : wf_sm_ways_init(&ways, net);

	if (ret != 0) {
		mem->free(mem, hosts);
		return ret;
	}
	for (uint32_t i = 0; i < net->n_ends; i++) {
		hosts[net->ends[i].sw] += net->ends[i].port != 0;
		n_hosts += net->ends[i].port != 0;
	}
	for (uint32_t sw = 0; sw < net->n; sw++) {
		if (is_root(&ways, hosts, n_hosts, sw)) {
			rank[sw] = 0;
			++*n_p;
		}
	}
	wf_sm_ways_fini(&ways);
	mem->free(mem, hosts);
	return 0;
}

uint32_t wf_sm_take_roots(const struct wf_sm_net *net, const struct wf_sm_route_cfg *cfg,
                          uint32_t *rank)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < cfg->n_roots; i++) {
		uint32_t id = wf_subnet_find(net->subnet, cfg->roots[i]);

		if (id == WF_SUBNET_NONE || !wf_subnet_is_switch(net->subnet, id))
			continue;
		rank[net->subnet->nodes[id].sw] = 0;
		n++;
	}
	return n;
}

int wf_sm_rank_down(const struct wf_sm_net *net, uint32_t *rank)
{
	struct wf_mem *mem = net->mem;
	uint32_t *queue = mem->alloc(mem, ((size_t)net->n + 1) * sizeof(*queue));
	uint32_t head = 0, tail = 0;

	if (queue == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < net->n; i++) {
		if (rank[net->order[i]] == 0)
			queue[tail++] = net->order[i];
	}
	while (head < tail) {
		uint32_t at = queue[head++];

		for (uint32_t i = net->first[at]; i < net->first[at + 1]; i++) {
			uint32_t to = net->edges[i].to;

			if (rank[to] != UNRANKED)
				continue;
			rank[to] = rank[at] + 1;
			queue[tail++] = to;
		}
	}
	mem->free(mem, queue);
	return 0;
}

static int rank_and_route(const struct wf_sm_net *net, const struct wf_sm_route_cfg *cfg,
                          struct wf_tables *tables, uint32_t *rank, struct wf_err *err)
{
	struct wf_sm_ways ways;
	uint32_t roots = 0;
	int ret = 0;

	memset(rank, 0xff, (size_t)net->n * sizeof(*rank));
	if (cfg->roots != NULL)
		roots = wf_sm_take_roots(net, cfg, rank);
	else
		ret = find_roots(net, rank, &roots);
	if (ret != 0)
		return ret;
	if (roots == 0 && cfg->roots != NULL)
		return wf_err_say(err, "updn: none of the root GUIDs is a switch of this subnet");
	if (roots == 0)
		return wf_err_say(err, "updn: no switch is equally far from nearly all adapters; "
		                       "name the roots");
	ret = wf_sm_rank_down(net, rank);
	if (ret == 0)
		ret = wf_sm_ways_init_updn(&ways, net, rank);
	if (ret != 0)
		return ret;
	ret = wf_sm_spread(&ways, tables);
	wf_sm_ways_fini(&ways);
	return ret;
}

static int updn_route(const struct wf_subnet *subnet, const struct wf_sm_route_cfg *cfg,
                      struct wf_tables *tables, struct wf_err *err)
{
	struct wf_mem *mem = subnet->mem;
	struct wf_sm_net net;
	uint32_t *rank;
	int ret = wf_sm_net_init(&net, subnet);

	if (ret != 0)
		return ret;
	rank = mem->alloc(mem, ((size_t)net.n + 1) * sizeof(*rank));
	ret = rank == NULL ? -ENOMEM : rank_and_route(&net, cfg, tables, rank, err);
	if (ret == 0)
		tables->rank = rank;
	else
		mem->free(mem, rank);
	wf_sm_net_fini(&net);
	return ret;
}

const struct wf_sm_route_ops wf_sm_route_updn = {
	.name = "updn",
	.help = "the fewest hops that never go up after having gone down: no credit loop",
	.no_credit_loop = true,
	.route = updn_route,
};
