/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dragonfly.c - groups of a switches, each switch with p hosts, a link to each other switch of its
 * group and h global links (Kim, Dally, Scott, Abts, ISCA 2008). Balanced is a = 2p = 2h.
 *
 * The a h global links of a group are shared out evenly over the other groups, and the links of a
 * group are dealt out to its switches in turn. What is left over after each pair of groups has its
 * equal share goes to the groups at distance 1, 2, ... around the ring of groups; if the number of
 * groups and what is left over are both odd, one port of each group cannot be used and is not
 * built.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "topo/topo_priv.h"

struct dragonfly {
	uint32_t hosts;
	uint32_t p, a, h;
	uint32_t groups;
	uint32_t shares; /* links between each two groups */
	uint32_t extra;  /* more links of each group, to those nearest on the ring */
	struct wf_wires wires;
};

static uint64_t capacity(const struct dragonfly *fly)
{
	return (uint64_t)fly->p * fly->a * ((uint64_t)fly->a * fly->h + 1);
}

/* Fills p, a and h: what cfg says, the rest balanced around n. */
static void balance(struct dragonfly *fly, const struct wf_topo_cfg *cfg, uint32_t n)
{
	fly->p = cfg->switch_hosts != 0 ? cfg->switch_hosts : n;
	fly->a = cfg->group_switches != 0 ? cfg->group_switches : 2 * n;
	fly->h = cfg->global_links != 0 ? cfg->global_links : n;
}

static uint32_t switch_ports(const struct dragonfly *fly)
{
	return fly->p + fly->a - 1 + fly->h;
}

/* Settles p, a and h; whether hosts fit is not looked at yet. */
static void choose_shape(struct dragonfly *fly, const struct wf_topo_cfg *cfg)
{
	uint32_t n = 1;

	if (cfg->global_links != 0) {
		n = cfg->global_links;
	} else if (cfg->switch_hosts != 0) {
		n = cfg->switch_hosts;
	} else if (cfg->group_switches != 0) {
		n = (cfg->group_switches + 1) / 2;
	} else if (wf_topo_radix(cfg) != 0) {
		n = wf_topo_radix(cfg) < 3 ? 1 : (wf_topo_radix(cfg) + 1) / 4;
	} else {
		balance(fly, cfg, n);
		while (capacity(fly) < cfg->hosts)
			balance(fly, cfg, ++n);
	}
	balance(fly, cfg, n);
}

static int plan(struct dragonfly *fly, const struct wf_topo_cfg *cfg, struct wf_err *err)
{
	uint32_t radix = wf_topo_radix(cfg) == 0 ? WF_TOPO_MAX_PORTS : wf_topo_radix(cfg);
	uint32_t others;

	choose_shape(fly, cfg);
	if (switch_ports(fly) > radix)
		return wf_err_say(err,
		                  "topology.radix: %" PRIu32 " hosts, %" PRIu32
		                  " local and %" PRIu32 " global links of a switch need %" PRIu32
		                  " ports, not %" PRIu32
		                  "; set a larger radix, or switch_hosts, group_switches and "
		                  "global_links to less",
		                  fly->p, fly->a - 1, fly->h, switch_ports(fly), radix);
	if (cfg->hosts == 0 || cfg->hosts > capacity(fly))
		return wf_err_say(err,
		                  "topology.hosts: a dragonfly with p %" PRIu32 ", a %" PRIu32
		                  ", h %" PRIu32 " has 1 to %" PRIu64 " hosts, not %" PRIu32
		                  "; a larger radix or other switch_hosts, group_switches and "
		                  "global_links would do",
		                  fly->p, fly->a, fly->h, capacity(fly), cfg->hosts);

	fly->hosts = cfg->hosts;
	fly->groups = (fly->hosts + fly->p * fly->a - 1) / (fly->p * fly->a);
	if (fly->groups == 1) {
		fly->a = (fly->hosts + fly->p - 1) / fly->p;
		return 0;
	}
	others = fly->groups - 1;
	fly->shares = fly->a * fly->h / others;
	fly->extra = fly->a * fly->h % others;
	if (fly->extra % 2 == 1 && fly->groups % 2 == 1)
		fly->extra--;
	assert(fly->shares > 0);
	return 0;
}

static void add_nodes(const struct dragonfly *fly, struct wf_graph *graph)
{
	assert(fly->p > 0 && fly->a > 0);
	for (uint32_t i = 0; i < fly->hosts; i++)
		wf_graph_add_host(graph, i, i / fly->p / fly->a);
	for (uint32_t i = 0; i < fly->groups * fly->a; i++)
		wf_graph_add_switch(graph, 1, i / fly->a, "group", i / fly->a, "-sw", i % fly->a);
}

/* The switch of a group that takes the group's next global link. */
static uint32_t next_switch(const struct dragonfly *fly, uint32_t *dealt, uint32_t group)
{
	assert(fly->a > 0);
	return fly->hosts + group * fly->a + dealt[group]++ % fly->a;
}

/* One link between each two groups that are at that distance on the ring. */
static void add_ring(const struct dragonfly *fly, struct wf_graph *graph, uint32_t *dealt,
                     uint32_t distance)
{
	uint32_t n = 2 * distance == fly->groups ? distance : fly->groups;

	assert(fly->groups > 1);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = next_switch(fly, dealt, i);
		uint32_t b = next_switch(fly, dealt, (i + distance) % fly->groups);

		wf_graph_add_link(graph, a, b, &fly->wires.core);
	}
}

static void add_links(const struct dragonfly *fly, struct wf_graph *graph, uint32_t *dealt)
{
	for (uint32_t i = 0; i < fly->hosts; i++)
		wf_graph_add_link(graph, i, fly->hosts + i / fly->p, &fly->wires.host);
	for (uint32_t g = 0; g < fly->groups; g++) {
		uint32_t first = fly->hosts + g * fly->a;

		for (uint32_t i = 0; i < fly->a; i++) {
			for (uint32_t j = i + 1; j < fly->a; j++)
				wf_graph_add_link(graph, first + i, first + j, &fly->wires.fabric);
		}
	}
	for (uint32_t share = 0; share < fly->shares; share++) {
		for (uint32_t d = 1; d <= fly->groups / 2; d++)
			add_ring(fly, graph, dealt, d);
	}
	for (uint32_t d = 1; d <= fly->extra / 2; d++)
		add_ring(fly, graph, dealt, d);
	if (fly->extra % 2 == 1)
		add_ring(fly, graph, dealt, fly->groups / 2);
}

static void mark_global(struct wf_topo *topo)
{
	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *link = &topo->links[i];
		const struct wf_topo_node *a = &topo->nodes[link->a];
		const struct wf_topo_node *b = &topo->nodes[link->b];
		bool global = a->group != b->group;

		topo->ports[a->first_port + link->a_port].global = global;
		topo->ports[b->first_port + link->b_port].global = global;
	}
}

static int dragonfly_build(const struct wf_topo_cfg *cfg, const char *text, size_t len,
                           const char *name, struct wf_mem *mem, struct wf_topo **topo_p,
                           struct wf_err *err)
{
	struct dragonfly fly = { 0 };
	struct wf_homed homed;
	struct wf_graph graph;
	uint64_t switches, links;
	uint32_t *dealt;
	int ret = wf_homed_init(&homed, cfg, "dragonfly", 0, err);

	(void)text;
	(void)len;
	(void)name;
	if (ret == 0)
		ret = plan(&fly, cfg, err);
	if (ret != 0)
		return ret;
	wf_wires_init(&fly.wires, cfg);

	switches = (uint64_t)fly.groups * fly.a;
	links = fly.hosts + switches * (fly.a - 1) / 2 +
	        fly.groups * ((uint64_t)fly.shares * (fly.groups - 1) + fly.extra) / 2;
	ret = wf_graph_init(&graph, fly.hosts + switches, links, WF_TOPO_SECTION, mem, err);
	if (ret != 0)
		return ret;
	dealt = mem->alloc(mem, fly.groups * sizeof(*dealt));
	if (dealt == NULL) {
		wf_graph_abort(&graph);
		return -ENOMEM;
	}
	add_nodes(&fly, &graph);
	add_links(&fly, &graph, dealt);
	mem->free(mem, dealt);
	wf_graph_lay_out(&graph);
	mark_global(graph.topo);
	return wf_graph_finish(&graph, WF_TOPO_SECTION, topo_p, err);
}

const struct wf_topo_ops wf_topo_dragonfly = {
	.name = "dragonfly",
	.help = "groups of fully linked switches, joined by global links",
	.build = dragonfly_build,
};
