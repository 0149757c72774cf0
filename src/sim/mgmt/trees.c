/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trees.c - trees for reductions in a managed fabric: NVIDIA's aggregation manager, which runs
 * beside the subnet manager and takes the subnet from it.
 *
 * Who is in which tree is decided before the simulation begins (fabric/sharp.h); a tree is set up
 * where the subnet manager has found all of its links, and when it is up its hosts may send. A link
 * that a later sweep does not find ends the groups that have it in a tree, as NVIDIA's manager
 * stops the job, and no others (SHARP 3.2.0, bug 3236363).
 */
#include <errno.h>

#include "fabric/aggregate.h"
#include "fabric/switch.h"
#include "sim/host/reduce.h"
#include "sim/mgmt/site.h"
#include "sim/sim_priv.h"
#include "wire/addr.h"

struct wf_trees {
	struct wf_am_place *places;
	struct wf_am_link *links;
	uint32_t n_places, n_links;
	bool *lost; /* by group */
	bool begun;
	wf_time up;
	wf_time lost_at;
	uint32_t n_lost;
};

static const struct wf_sharp *sharp_of(const struct wf_managed *m)
{
	return m->sim->fabric.sharp;
}

/* ---- agents and the manager ---- */

static void tree_changed(void *arg, const struct wf_ana_tree *tree)
{
	struct wf_site *site = arg;
	struct wf_switch *sw = wf_container_of(site->st.dev, struct wf_switch, dev);

	wf_agg_set_tree(sw, tree->id, tree->enabled, tree->up, tree->down);
}

int wf_trees_make_agent(struct wf_site *site)
{
	const struct wf_sharp *sharp = sharp_of(site->all);
	struct wf_ana_cfg cfg = {
		.n_ports = (uint8_t)site->st.dev->n_ports,
		.trees = UINT16_MAX,
		.tree = tree_changed,
		.arg = site,
	};

	if (sharp == NULL || !site->is_switch)
		return 0;
	cfg.streams = wf_sharp_generation(&sharp->cfg)->streams;
	cfg.operations = (uint16_t)sharp->cfg.operations;
	return wf_ana_create(&cfg, wf_mem_heap(), &site->ana);
}

int wf_trees_make_manager(struct wf_site *site, struct wf_err *err)
{
	struct wf_managed *m = site->all;
	const struct wf_sharp *sharp = sharp_of(m);
	const struct wf_sm_cfg *sm = wf_sm_cfg(site->sm);
	struct wf_trees *t;

	if (sharp == NULL)
		return 0;
	if (sharp->n_groups > WF_AGG_GROUPS)
		return wf_err_say(err,
		                  "sharp.enabled: the trees of %u groups have no numbers in a "
		                  "managed fabric; at most %u have",
		                  sharp->n_groups, WF_AGG_GROUPS);
	t = m->mem->alloc(m->mem, sizeof(*t));
	if (t == NULL)
		return -ENOMEM;
	m->trees = t;
	t->up = t->lost_at = WF_TIME_NEVER;
	t->lost = m->mem->alloc(m->mem, sharp->n_groups * sizeof(*t->lost));
	for (uint32_t g = 0; g < sharp->n_groups; g++) {
		for (unsigned k = 0; k < WF_SHARP_KINDS; k++) {
			const struct wf_reduce_tree *tree = sharp->group[g].tree[k];

			for (uint32_t i = 0; tree != NULL && i < tree->n_nodes; i++) {
				t->n_places++;
				t->n_links += tree->nodes[i].n_down +
				              (tree->nodes[i].parent != WF_TOPO_NONE);
			}
		}
	}
	t->places = m->mem->alloc(m->mem, (t->n_places + 1) * sizeof(*t->places));
	t->links = m->mem->alloc(m->mem, (t->n_links + 1) * sizeof(*t->links));
	if (t->lost == NULL || t->places == NULL || t->links == NULL)
		return -ENOMEM;
	return wf_am_create(&(struct wf_am_cfg){ .max_wire = sharp->cfg.mads,
	                                         .timeout = sm->transaction_timeout,
	                                         .retries = sm->transaction_retries },
	                    wf_mem_heap(), &site->am);
}

void wf_trees_destroy(struct wf_managed *m)
{
	struct wf_trees *t = m->trees;

	if (t == NULL)
		return;
	m->mem->free(m->mem, t->lost);
	m->mem->free(m->mem, t->places);
	m->mem->free(m->mem, t->links);
	m->mem->free(m->mem, t);
}

/* ---- what the subnet manager has found ---- */

/* A node of the topology in the subnet; WF_SUBNET_NONE: it is not there. */
static uint32_t find(const struct wf_managed *m, const struct wf_subnet *subnet, uint32_t id)
{
	const struct wf_topo_node *node = &m->topo->nodes[id];

	return wf_subnet_find(subnet, node->kind == WF_TOPO_SWITCH ? wf_wire_guid_switch(id)
	                                                           : wf_wire_guid_host(node->host));
}

/* The link at a switch's port; false: the manager did not find it as the topology has it. */
static bool find_link(const struct wf_managed *m, const struct wf_subnet *subnet, uint32_t id,
                      unsigned port, struct wf_am_link *link)
{
	const struct wf_topo_port *tp = &m->topo->ports[m->topo->nodes[id].first_port + port];
	uint32_t here = find(m, subnet, id), there = find(m, subnet, tp->peer);
	const struct wf_subnet_port *p;

	if (here == WF_SUBNET_NONE || there == WF_SUBNET_NONE)
		return false;
	p = wf_subnet_port(subnet, here, port + 1u);
	if (p->peer != there || p->peer_port != tp->peer_port + 1u || p->state == WF_SUBNET_DOWN)
		return false;
	*link = (struct wf_am_link){
		.port = (uint8_t)(port + 1),
		.peer_port = (uint8_t)(tp->peer_port + 1),
		.lid = wf_subnet_port(subnet, there,
		                      wf_subnet_is_switch(subnet, there) ? 0 : p->peer_port)
		               ->lid,
	};
	return true;
}

/* All links of a place in a tree, that to its parent first. */
static bool find_links(const struct wf_managed *m, const struct wf_subnet *subnet,
                       const struct wf_reduce_tree *tree, const struct wf_reduce_node *node,
                       struct wf_am_link *links)
{
	bool all = true;
	uint32_t n = 0;

	if (node->parent != WF_TOPO_NONE)
		all = find_link(m, subnet, node->id, node->up, &links[n++]);
	for (unsigned i = 0; i < node->n_down && all; i++)
		all = find_link(m, subnet, node->id, tree->down[node->first_down + i], &links[n++]);
	return all;
}

/* Whether a group has all of its trees; links is room for those of one place. */
static bool is_whole(const struct wf_managed *m, const struct wf_subnet *subnet,
                     const struct wf_sharp_group *g, struct wf_am_link *links)
{
	bool whole = true;

	for (unsigned k = 0; k < WF_SHARP_KINDS; k++) {
		const struct wf_reduce_tree *tree = g->tree[k];

		for (uint32_t i = 0; tree != NULL && i < tree->n_nodes && whole; i++)
			whole = find_links(m, subnet, tree, &tree->nodes[i], links);
	}
	return whole;
}

/* ---- setting up ---- */

/* Adds a tree's places; links[*n_links_p] is the next one. */
static void add_tree(struct wf_managed *m, const struct wf_subnet *subnet, uint32_t group,
                     unsigned kind, uint32_t *n_places_p, uint32_t *n_links_p)
{
	const struct wf_reduce_tree *tree = sharp_of(m)->group[group].tree[kind];
	struct wf_trees *t = m->trees;

	for (uint32_t i = 0; tree != NULL && i < tree->n_nodes; i++) {
		const struct wf_reduce_node *node = &tree->nodes[i];
		bool root = node->parent == WF_TOPO_NONE;
		struct wf_am_place *p = &t->places[(*n_places_p)++];

		*p = (struct wf_am_place){
			.tree = wf_agg_tree(group, (enum wf_sharp_kind)kind),
			.lid = wf_subnet_port(subnet, find(m, subnet, node->id), 0)->lid,
			.streams = kind == WF_SHARP_STREAM,
			.root = root,
			.first = *n_links_p,
			.n = node->n_down + (root ? 0u : 1u),
		};
		(void)find_links(m, subnet, tree, node, &t->links[p->first]);
		*n_links_p += p->n;
	}
}

/* Each switch is asked once of itself. */
static void mark_again(struct wf_managed *m, uint32_t n)
{
	uint64_t seen[(WF_LID_MAX + 64) / 64] = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		struct wf_am_place *p = &m->trees->places[i];

		p->again = (seen[p->lid / 64] >> (p->lid % 64) & 1) != 0;
		seen[p->lid / 64] |= UINT64_C(1) << (p->lid % 64);
	}
}

static void begin(struct wf_site *site, const struct wf_subnet *subnet)
{
	struct wf_managed *m = site->all;
	const struct wf_sharp *sharp = sharp_of(m);
	struct wf_trees *t = m->trees;
	uint32_t n_places = 0, n_links = 0;

	t->begun = true;
	for (uint32_t g = 0; g < sharp->n_groups; g++) {
		/* What is found is written to where its own links would be: there is room. */
		if (!is_whole(m, subnet, &sharp->group[g], &t->links[n_links]))
			continue;
		for (unsigned k = 0; k < WF_SHARP_KINDS; k++)
			add_tree(m, subnet, g, k, &n_places, &n_links);
	}
	mark_again(m, n_places);
	wf_am_begin(site->am, t->places, n_places, t->links);
	t->n_places = n_places;
}

void wf_trees_work(struct wf_site *site)
{
	struct wf_managed *m = site->all;
	const struct wf_sm_view *view = wf_sm_view(site->sm);

	if (m->trees->begun) {
		m->shards[site->st.dev->shard->number].trees |=
			wf_am_is_over(site->am) && m->trees->up == WF_TIME_NEVER;
		return;
	}
	if (wf_sm_state(site->sm) == WF_SM_MASTER && wf_sm_phase(site->sm) == WF_SM_PHASE_IDLE &&
	    site->deeds.up != WF_TIME_NEVER && view != NULL)
		begin(site, view->subnet);
}

/* ---- while no node runs ---- */

static void lose(struct wf_managed *m, uint32_t group, wf_time now)
{
	const struct wf_sharp_group *g = &sharp_of(m)->group[group];
	struct wf_trees *t = m->trees;

	t->lost[group] = true;
	t->lost_at = wf_min_time(t->lost_at, now);
	t->n_lost++;
	for (uint32_t i = 0; i < g->n_hosts; i++)
		wf_adapter_reduce_lost(m->sim->adapters[g->hosts[i]], group, now);
}

void wf_trees_open(struct wf_managed *m, wf_time now)
{
	struct wf_trees *t = m->trees;
	const struct wf_am *am;

	if (t == NULL || t->up != WF_TIME_NEVER)
		return;
	am = m->site[m->topo->host_node[m->cfg.manager[0]]]->am;
	if (!wf_am_is_over(am))
		return;
	t->up = now;
	m->sim->fabric.sharp_shut = false;
	for (uint32_t i = 0; i < t->n_places; i++) {
		uint32_t group = t->places[i].tree / WF_SHARP_KINDS;

		if (t->places[i].failed && !t->lost[group])
			lose(m, group, now);
	}
	wf_trees_check(m, now);
	if (m->starting || now == 0)
		return;
	for (uint32_t host = 0; host < m->topo->n_hosts; host++)
		wf_adapter_reduce_open(m->sim->adapters[host], now);
}

void wf_trees_check(struct wf_managed *m, wf_time now)
{
	const struct wf_sm_view *view = wf_managed_view(m);
	const struct wf_sharp *sharp = sharp_of(m);
	struct wf_am_link room[256];

	if (m->trees == NULL || m->trees->up == WF_TIME_NEVER || view == NULL)
		return;
	for (uint32_t g = 0; g < sharp->n_groups; g++) {
		if (!m->trees->lost[g] && !is_whole(m, view->subnet, &sharp->group[g], room))
			lose(m, g, now);
	}
}

void wf_trees_result(const struct wf_managed *m, struct wf_managed_result *result)
{
	const struct wf_trees *t = m->trees;

	result->trees_up = result->trees_lost_at = WF_TIME_NEVER;
	if (t == NULL)
		return;
	result->trees_up = t->up;
	result->trees_lost = t->n_lost;
	result->trees_lost_at = t->lost_at;
	wf_am_stats(m->site[m->topo->host_node[m->cfg.manager[0]]]->am, &result->trees);
}
