/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - leaf-spine, three-tier fat tree and rail-optimised network: how many switches of a given
 * radix, how many links between them, and the wiring.
 *
 * A leaf of radix k has d hosts and u uplinks, with d + u <= k and u the fewest that carry d hosts'
 * traffic divided by the blocking ratio; d is the largest for which that holds. All tiers above
 * carry what comes from below in full. Where fewer pods or leaves exist than a switch above has
 * ports for, several links run between the same two switches, the same number between all, and as
 * few switches are built as that allows; a leaf that is not full may have a few uplinks more for
 * it.
 *
 * Of hosts with several ports a leaf has as many ports, a pair of leaves has the same hosts and
 * counts as two, and planes are networks for one port of each host, all alike.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "topo/topo_priv.h"

#define ALL_HOMINGS                                                                                \
	(WF_HOMING_BIT(WF_HOMING_SAME) | WF_HOMING_BIT(WF_HOMING_PAIR) |                           \
	 WF_HOMING_BIT(WF_HOMING_PLANES))

/* What the plan is made from. */
struct demand {
	const struct wf_topo_cfg *cfg;
	struct wf_wires wires;
	struct wf_homed homed;
	const char *what;
	uint32_t leaf_rails;
	uint32_t leaves;  /* of a unit, in a plane */
	uint32_t columns; /* hosts, or servers when there are several rails */
};

static uint32_t div_up(uint32_t a, uint32_t b)
{
	assert(b > 0);
	return (a + b - 1) / b;
}

/* Uplinks that a leaf with down ports to hosts needs; at least 1. */
static uint64_t uplinks(const struct demand *demand, uint32_t down)
{
	unsigned __int128 have = (unsigned __int128)down * demand->wires.host.rate * WF_RATIO_ONE;
	unsigned __int128 one =
		(unsigned __int128)demand->wires.fabric.rate * demand->cfg->blocking;

	return (uint64_t)((have + one - 1) / one);
}

/* The most hosts' ports for a leaf of that radix; 0 if not even one leaves room for uplinks. */
static uint32_t leaf_down(const struct demand *demand, uint32_t radix)
{
	uint32_t down = radix;

	while (down > 0 && down + uplinks(demand, down) > radix)
		down--;
	return down;
}

/* The most hosts of each of its rails for a leaf of that radix. */
static uint32_t leaf_columns(const struct demand *demand, uint32_t radix)
{
	return leaf_down(demand, radix) / (demand->leaf_rails * demand->homed.leaf_ports);
}

/* The most units of leaves that switches of that radix can join in so many tiers. */
static uint64_t max_units(const struct demand *demand, uint32_t radix, uint32_t tiers)
{
	if (tiers == 2)
		return radix / demand->leaves;
	return (uint64_t)radix * (radix / 2 / demand->leaves);
}

static bool radix_fits(const struct demand *demand, uint32_t radix, uint32_t tiers)
{
	return leaf_columns(demand, radix) * max_units(demand, radix, tiers) >= demand->columns;
}

/* The smallest even radix that fits, or 0. */
static uint32_t smallest_radix(const struct demand *demand, uint32_t tiers)
{
	for (uint32_t radix = 2; radix <= WF_TOPO_MAX_PORTS; radix += 2) {
		if (radix_fits(demand, radix, tiers))
			return radix;
	}
	return 0;
}

static int say_does_not_fit(const struct demand *demand, uint32_t lowest, uint32_t highest,
                            struct wf_err *err)
{
	const struct wf_topo_cfg *cfg = demand->cfg;
	uint32_t smallest = 0, wanted = wf_topo_radix(cfg);
	uint64_t most = 0;

	for (uint32_t t = lowest; t <= highest; t++) {
		uint32_t radix = smallest_radix(demand, t);
		uint64_t units = max_units(demand, wanted, t);

		most = wf_max_u64(most, (uint64_t)leaf_columns(demand, wanted) *
		                                demand->leaf_rails * units * demand->leaves /
		                                demand->homed.twins);
		if (radix != 0 && (smallest == 0 || radix < smallest))
			smallest = radix;
	}
	if (smallest == 0)
		return wf_err_say(
			err,
			"topology.hosts: no radix up to %d makes a %s of %" PRIu32
			" hosts at these rates; fewer hosts, a higher fabric_rate or more "
			"blocking would do",
			WF_TOPO_MAX_PORTS, demand->what, cfg->hosts);
	return wf_err_say(err,
	                  "topology.radix: a %s of %" PRIu32 "-port switches holds at most %" PRIu64
	                  " hosts at these rates and blocking, not %" PRIu32 "; radix %" PRIu32
	                  " or more would do",
	                  demand->what, wanted, most, cfg->hosts, smallest);
}

/* Settles radix and number of tiers. */
static int choose_radix(const struct demand *demand, uint32_t tiers, uint32_t *radix_p,
                        uint32_t *tiers_p, struct wf_err *err)
{
	uint32_t lowest = tiers == 0 ? 2 : tiers;
	uint32_t highest = tiers == 0 ? 3 : tiers;

	for (uint32_t t = lowest; t <= highest; t++) {
		uint32_t radix = wf_topo_radix(demand->cfg);

		if (radix == 0)
			radix = smallest_radix(demand, t);
		if (radix != 0 && radix_fits(demand, radix, t)) {
			*radix_p = radix;
			*tiers_p = t;
			return 0;
		}
	}
	return say_does_not_fit(demand, lowest, highest, err);
}

/*
 * The switches above leaves with up uplinks each, or more but at most most, and at most bundle of
 * them to the same switch: as few switches as can be, each with the same number of links to every
 * leaf.
 */
static void plan_aggs(struct wf_tree *tree, uint32_t up, uint32_t most, uint32_t bundle)
{
	assert(up > 0 && up <= most && bundle > 0);
	tree->aggs = div_up(up, bundle);
	while (tree->aggs * div_up(up, tree->aggs) > most)
		tree->aggs++;
	tree->agg_bundle = div_up(up, tree->aggs);
}

/* Cores above one agg position: as few as the radix allows. */
static void plan_cores(struct wf_tree *tree, uint32_t radix, uint32_t agg_down)
{
	uint32_t most = radix / tree->pods;
	uint32_t bundle = agg_down < most ? agg_down : most;

	while (agg_down + bundle * div_up(agg_down, bundle) > radix)
		bundle--;
	tree->cores = div_up(agg_down, bundle);
	tree->core_bundle = div_up(agg_down, tree->cores);
	assert(tree->core_bundle * tree->pods <= radix);
}

static void plan_tiers(struct wf_tree *tree, const struct demand *demand, uint32_t radix)
{
	uint32_t down, up, pod_leaves;

	tree->leaf_hosts = leaf_columns(demand, radix);
	tree->units = div_up(demand->columns, tree->leaf_hosts);
	if (tree->units == 1) {
		/* A tree has at least two leaves: hosts that would fit one switch are divided. */
		tree->units = demand->leaves == demand->homed.twins && demand->columns > 1 ? 2 : 1;
		tree->leaf_hosts = div_up(demand->columns, tree->units);
	}
	down = tree->leaf_hosts * demand->leaf_rails * demand->homed.leaf_ports;
	up = (uint32_t)uplinks(demand, down);

	if (tree->tiers == 2) {
		tree->pods = 1;
		plan_aggs(tree, up, radix - down, radix / (tree->units * demand->leaves));
		return;
	}

	tree->pods = div_up(tree->units, radix / 2 / demand->leaves);
	if (tree->pods == 1 && tree->units > 1)
		tree->pods = 2;
	pod_leaves = div_up(tree->units, tree->pods) * demand->leaves;
	assert(pod_leaves > 0);
	plan_aggs(tree, up, radix - down, radix / 2 / pod_leaves);
	plan_cores(tree, radix, pod_leaves * tree->agg_bundle);
}

static void set_leaf_rails(struct demand *demand, uint32_t rails, uint32_t leaf_rails)
{
	demand->leaf_rails = leaf_rails;
	demand->leaves = rails / leaf_rails * demand->homed.twins;
}

/* The fewest rails to a leaf with which the leaves are more than half full together. */
static void choose_leaf_rails(struct demand *demand, uint32_t rails)
{
	uint32_t radix = wf_topo_radix(demand->cfg);

	set_leaf_rails(demand, rails, 1);
	for (uint32_t n = 2; n <= rails && radix > 0; n++) {
		uint64_t full = leaf_down(demand, radix) / demand->homed.leaf_ports;
		uint64_t units, columns = leaf_columns(demand, radix);

		if (columns == 0)
			return;
		units = (demand->columns + columns - 1) / columns;
		if (2 * (uint64_t)demand->cfg->hosts * demand->homed.twins >
		    units * demand->leaves * full)
			return;
		if (rails % n == 0 && full >= n)
			set_leaf_rails(demand, rails, n);
	}
}

static int check_ask(const struct wf_topo_cfg *cfg, const struct wf_tree_ask *ask,
                     struct wf_err *err)
{
	uint32_t rails = ask->rails;

	if (rails == 0 || cfg->blocking == 0 || cfg->host_rate == 0 || cfg->fabric_rate == 0)
		return wf_err_say(
			err, "topology: gpus, blocking, host_rate and fabric_rate are 1 or more");
	if (cfg->hosts < 2)
		return wf_err_say(err,
		                  "topology.hosts: a %s of %" PRIu32
		                  " hosts; at least 2, or kind: single",
		                  ask->what, cfg->hosts);
	if (cfg->hosts % rails != 0)
		return wf_err_say(err,
		                  "topology.hosts: %" PRIu32
		                  " hosts are not whole servers of %" PRIu32 " GPUs; %" PRIu32
		                  " would be",
		                  cfg->hosts, rails, div_up(cfg->hosts, rails) * rails);
	if (ask->leaf_rails != 0 && rails % ask->leaf_rails != 0)
		return wf_err_say(err,
		                  "topology.leaf_rails: %" PRIu32 " of %" PRIu32
		                  " rails to a leaf do not come out even; write a number that "
		                  "divides them",
		                  ask->leaf_rails, rails);
	return 0;
}

int wf_tree_plan(struct wf_tree *tree, const struct wf_topo_cfg *cfg, const struct wf_tree_ask *ask,
                 struct wf_err *err)
{
	struct demand demand = { .cfg = cfg, .what = ask->what };
	uint32_t radix = 0;
	int ret = check_ask(cfg, ask, err);

	if (ret == 0)
		ret = wf_homed_init(&demand.homed, cfg, ask->what, ALL_HOMINGS, err);
	if (ret != 0)
		return ret;
	wf_wires_init(&demand.wires, cfg);
	demand.columns = cfg->hosts / ask->rails;
	if (ask->leaf_rails != 0)
		set_leaf_rails(&demand, ask->rails, ask->leaf_rails);
	else
		choose_leaf_rails(&demand, ask->rails);

	memset(tree, 0, sizeof(*tree));
	ret = choose_radix(&demand, ask->tiers, &radix, &tree->tiers, err);
	if (ret != 0)
		return ret;
	tree->hosts = cfg->hosts;
	tree->homed = demand.homed;
	tree->rails = ask->rails;
	tree->leaf_rails = demand.leaf_rails;
	tree->wires = demand.wires;
	plan_tiers(tree, &demand, radix);
	return 0;
}

/* Leaves of a unit, in a plane: those of a rail lie together. */
static uint32_t unit_leaves(const struct wf_tree *tree)
{
	assert(tree->leaf_rails > 0);
	return tree->rails / tree->leaf_rails * tree->homed.twins;
}

/* What there is of each kind of switch in a plane. */
static uint32_t n_leaves(const struct wf_tree *tree)
{
	return tree->units * unit_leaves(tree);
}

static uint32_t n_aggs(const struct wf_tree *tree)
{
	return tree->pods * tree->aggs;
}

static uint32_t n_cores(const struct wf_tree *tree)
{
	return tree->aggs * tree->cores;
}

static uint32_t unit_of_host(const struct wf_tree *tree, uint32_t host)
{
	return host / tree->rails / tree->leaf_hosts;
}

/* The units are shared out over the pods (or any other number of places) evenly and in order. */
static uint32_t share(uint32_t i, uint32_t n, uint32_t places)
{
	return (uint32_t)((uint64_t)i * places / n);
}

/* Locality: with 3 tiers and no rails what shares a pod, else what shares a unit of leaves. */
static uint32_t n_groups(const struct wf_tree *tree)
{
	return tree->tiers == 3 && tree->rails == 1 ? tree->pods : tree->units;
}

static void set_latency(struct wf_graph *graph, uint32_t id, const struct wf_tree_latency *latency)
{
	struct wf_topo_node *node = &graph->topo->nodes[id];

	node->has_latency = latency->said;
	node->latency = latency->time;
}

/* Adds leaf i of a plane. A unit of one leaf, or of one pair, is no group of rails. */
static uint32_t add_leaf(const struct wf_tree *tree, struct wf_graph *graph, uint32_t i,
                         uint32_t group)
{
	uint32_t leaves = unit_leaves(tree), twins = tree->homed.twins;
	uint32_t id;

	if (leaves == twins)
		return wf_graph_add_switch(graph, 1, group, "leaf", i, NULL, 0);
	id = wf_graph_add_switch(graph, 1, group, "group", i / leaves, "-rail",
	                         i % leaves / twins * tree->leaf_rails);
	if (twins > 1)
		wf_graph_name_behind(graph, id, "leaf", i % twins);
	return id;
}

/* Switch i of a plane in a tier: 0 leaves, 1 aggs, 2 cores. */
static void add_switch(const struct wf_tree *tree, struct wf_graph *graph, uint32_t plane,
                       uint32_t tier, uint32_t i)
{
	uint32_t groups = n_groups(tree);
	uint32_t id;

	if (tier == 0)
		id = add_leaf(tree, graph, i, share(i / unit_leaves(tree), tree->units, groups));
	else if (tier == 2)
		id = wf_graph_add_switch(graph, 3, share(i, n_cores(tree), groups), "core", i, NULL,
		                         0);
	else if (tree->tiers == 2)
		id = wf_graph_add_switch(graph, 2, share(i, n_aggs(tree), groups), "spine", i, NULL,
		                         0);
	else
		id = wf_graph_add_switch(graph, 2, share(i, n_aggs(tree), groups), "pod",
		                         i / tree->aggs, "-agg", i % tree->aggs);
	if (tree->homed.planes > 1)
		wf_graph_name_before(graph, id, "plane", plane);
	set_latency(graph, id, &tree->latency[tier]);
}

static void add_nodes(const struct wf_tree *tree, struct wf_graph *graph)
{
	uint32_t n[] = { n_leaves(tree), n_aggs(tree), n_cores(tree) };

	for (uint32_t i = 0; i < tree->hosts; i++) {
		uint32_t group = share(unit_of_host(tree, i), tree->units, n_groups(tree));

		wf_graph_add_host(graph, i / tree->rails, group);
	}
	for (uint32_t tier = 0; tier < WF_ARRAY_SIZE(n); tier++) {
		for (uint32_t plane = 0; plane < tree->homed.planes; plane++) {
			for (uint32_t i = 0; i < n[tier]; i++)
				add_switch(tree, graph, plane, tier, i);
		}
	}
}

/* The leaf to which a port of a host leads, over all planes. */
static uint32_t leaf_of_port(const struct wf_tree *tree, uint32_t host, uint32_t port)
{
	uint32_t leaf = unit_of_host(tree, host) * unit_leaves(tree) +
	                host % tree->rails / tree->leaf_rails * tree->homed.twins;

	return port % tree->homed.planes * n_leaves(tree) + leaf + port % tree->homed.twins;
}

/* The links between the switches of a plane, whose leaves, aggs and cores begin there. */
static void join_plane(const struct wf_tree *tree, struct wf_graph *graph, uint32_t leaf0,
                       uint32_t agg0, uint32_t core0)
{
	for (uint32_t i = 0; i < n_leaves(tree); i++) {
		uint32_t pod = share(i / unit_leaves(tree), tree->units, tree->pods);

		for (uint32_t j = 0; j < tree->aggs * tree->agg_bundle; j++)
			wf_graph_add_link(graph, leaf0 + i,
			                  agg0 + pod * tree->aggs + j / tree->agg_bundle,
			                  &tree->wires.fabric);
	}
	for (uint32_t i = 0; i < n_aggs(tree); i++) {
		for (uint32_t j = 0; j < tree->cores * tree->core_bundle; j++) {
			uint32_t core = j / tree->core_bundle * tree->aggs + i % tree->aggs;

			wf_graph_add_link(graph, agg0 + i, core0 + core, &tree->wires.core);
		}
	}
}

static void add_links(const struct wf_tree *tree, struct wf_graph *graph)
{
	uint32_t planes = tree->homed.planes;
	uint32_t leaf0 = tree->hosts;
	uint32_t agg0 = leaf0 + planes * n_leaves(tree);
	uint32_t core0 = agg0 + planes * n_aggs(tree);

	for (uint32_t i = 0; i < tree->hosts; i++) {
		for (uint32_t p = 0; p < tree->homed.ports; p++)
			wf_graph_add_link(graph, i, leaf0 + leaf_of_port(tree, i, p),
			                  &tree->wires.host);
	}
	for (uint32_t p = 0; p < planes; p++)
		join_plane(tree, graph, leaf0 + p * n_leaves(tree), agg0 + p * n_aggs(tree),
		           core0 + p * n_cores(tree));
}

int wf_tree_build(const struct wf_tree *tree, const char *name, struct wf_mem *mem,
                  struct wf_topo **topo_p, struct wf_err *err)
{
	uint64_t leaves = (uint64_t)tree->units * unit_leaves(tree);
	uint64_t aggs = (uint64_t)tree->pods * tree->aggs;
	uint64_t switches = leaves + aggs + (uint64_t)tree->aggs * tree->cores;
	uint64_t links =
		leaves * tree->aggs * tree->agg_bundle + aggs * tree->cores * tree->core_bundle;
	uint64_t nodes = tree->hosts + switches * tree->homed.planes;
	struct wf_graph graph;
	int ret;

	links = links * tree->homed.planes + (uint64_t)tree->hosts * tree->homed.ports;
	ret = wf_graph_init(&graph, nodes, links, name, mem, err);
	if (ret != 0)
		return ret;
	graph.topo->host_ports = tree->homed.ports;
	add_nodes(tree, &graph);
	add_links(tree, &graph);
	return wf_graph_finish(&graph, name, topo_p, err);
}
