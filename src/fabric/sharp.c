/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sharp.c - giving trees to communicators.
 */
#include "fabric/sharp.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static uint8_t top_tier(const struct wf_topo *topo)
{
	uint8_t top = 0;

	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		if (topo->nodes[i].kind == WF_TOPO_SWITCH && topo->nodes[i].tier > top)
			top = topo->nodes[i].tier;
	}
	return top;
}

static int find_roots(struct wf_sharp *s)
{
	const struct wf_topo *topo = s->topo;
	uint8_t top = top_tier(topo);

	s->root = s->mem->alloc(s->mem, topo->n_nodes * sizeof(*s->root));
	if (s->root == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		if (topo->nodes[i].kind == WF_TOPO_SWITCH && topo->nodes[i].tier == top)
			s->root[s->n_roots++] = i;
	}
	s->level = s->mem->alloc(s->mem, s->n_roots * sizeof(uint8_t *));
	return s->level == NULL ? -ENOMEM : 0;
}

static int make_tables(struct wf_sharp *s)
{
	struct wf_mem *mem = s->mem;
	bool by_port = wf_sharp_generation(&s->cfg)->by_port;
	int ret = find_roots(s);

	s->queue = mem->alloc(mem, s->topo->n_nodes * sizeof(*s->queue));
	s->low_use = mem->alloc(mem, s->n_trees * sizeof(uint16_t *));
	s->taken = mem->alloc(mem, s->n_trees * sizeof(*s->taken));
	s->busy =
		mem->alloc(mem, (by_port ? s->topo->n_ports : s->topo->n_nodes) * sizeof(*s->busy));
	s->jobs = mem->alloc(mem, s->topo->n_hosts * sizeof(*s->jobs));
	s->last_job = mem->alloc(mem, s->topo->n_hosts * sizeof(*s->last_job));
	if (s->queue == NULL || s->low_use == NULL || s->taken == NULL || s->busy == NULL ||
	    s->jobs == NULL || s->last_job == NULL)
		return -ENOMEM;
	return ret;
}

/* Links of a topology's file may lose packets, too. */
static int check_links(const struct wf_topo *topo, const struct wf_fabric_cfg *cfg,
                       struct wf_err *err)
{
	for (uint32_t i = 0; i < topo->n_links && strcmp(cfg->link_retry, "none") == 0; i++) {
		if (topo->links[i].loss != 0)
			return wf_err_say(err,
			                  "sharp.enabled: the topology's link between %s and %s "
			                  "loses packets, which switches that reduce do not send "
			                  "again; write false, or link.retry: llr",
			                  topo->nodes[topo->links[i].a].name,
			                  topo->nodes[topo->links[i].b].name);
	}
	return 0;
}

int wf_sharp_create(const struct wf_topo *topo, const struct wf_fabric_cfg *cfg, struct wf_mem *mem,
                    struct wf_sharp **sharp_p, struct wf_err *err)
{
	int ret = check_links(topo, cfg, err);
	struct wf_sharp *s;

	if (ret != 0)
		return ret;
	assert(topo->host_ports == 1); /* wf_fabric_check_ports(): InfiniBand has no bonds */
	s = mem->alloc(mem, sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	s->topo = topo;
	s->cfg = cfg->sharp;
	s->mtu = wf_narrow_u32(cfg->mtu);
	s->mem = mem;
	s->n_trees = wf_sharp_trees(&cfg->sharp);
	ret = make_tables(s);
	if (ret != 0) {
		wf_sharp_destroy(s);
		return ret;
	}
	*sharp_p = s;
	return 0;
}

static void drop_group(struct wf_sharp *s, struct wf_sharp_group *g)
{
	s->mem->free(s->mem, g->hosts);
	for (unsigned k = 0; k < WF_SHARP_KINDS; k++)
		wf_reduce_tree_destroy(g->tree[k]);
}

void wf_sharp_destroy(struct wf_sharp *s)
{
	struct wf_mem *mem;

	if (s == NULL)
		return;
	mem = s->mem;
	for (uint32_t i = 0; i < s->n_groups; i++)
		drop_group(s, &s->group[i]);
	for (uint32_t i = 0; s->level != NULL && i < s->n_roots; i++)
		mem->free(mem, s->level[i]);
	for (uint32_t i = 0; s->low_use != NULL && i < s->n_trees; i++)
		mem->free(mem, s->low_use[i]);
	mem->free(mem, s->group);
	mem->free(mem, s->root);
	mem->free(mem, s->level);
	mem->free(mem, s->queue);
	mem->free(mem, s->low_use);
	mem->free(mem, s->taken);
	mem->free(mem, s->busy);
	mem->free(mem, s->jobs);
	mem->free(mem, s->last_job);
	mem->free(mem, s);
}

uint32_t wf_sharp_window(const struct wf_sharp_cfg *cfg, enum wf_sharp_kind kind, uint32_t mtu)
{
	if (kind == WF_SHARP_LOW)
		return cfg->operations;
	return (uint32_t)wf_max_u64(1, cfg->buffer / mtu);
}

enum wf_sharp_kind wf_sharp_kind_of(const struct wf_sharp *s, const struct wf_sharp_group *g,
                                    uint64_t bytes)
{
	return g->tree[WF_SHARP_STREAM] != NULL && bytes >= s->cfg.streaming ? WF_SHARP_STREAM
	                                                                     : WF_SHARP_LOW;
}

/* ---- trees ---- */

/* Grows tree number t for the hosts of a group. */
static int grow(struct wf_sharp *s, const struct wf_sharp_group *g, uint32_t t,
                struct wf_reduce_tree **tree_p)
{
	uint32_t r = t % s->n_roots;

	if (s->level[r] == NULL) {
		s->level[r] = s->mem->alloc(s->mem, s->topo->n_nodes);
		if (s->level[r] == NULL)
			return -ENOMEM;
		wf_reduce_levels(s->topo, s->root[r], s->level[r], s->queue);
	}
	return wf_reduce_tree_create(s->topo, g->hosts, g->n_hosts, s->level[r], t / s->n_roots,
	                             s->mem, tree_p);
}

/* Whether a tree of low latency has room in all of its switches; with by, it is taken, or not. */
static int use_low(struct wf_sharp *s, const struct wf_reduce_tree *tree, uint32_t t, int by,
                   bool *room_p)
{
	if (s->low_use[t] == NULL) {
		s->low_use[t] = s->mem->alloc(s->mem, s->topo->n_nodes * sizeof(uint16_t));
		if (s->low_use[t] == NULL)
			return -ENOMEM;
	}
	*room_p = true;
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		uint16_t *use = &s->low_use[t][tree->nodes[i].id];

		*room_p &= *use < s->cfg.tree_jobs;
		*use = (uint16_t)(*use + by);
	}
	return 0;
}

/* What of the fabric a streaming tree has to itself is marked, or asked for. */
static bool use_stream(struct wf_sharp *s, const struct wf_reduce_tree *tree, bool mark, bool on)
{
	bool by_port = wf_sharp_generation(&s->cfg)->by_port, is_free = true;

	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		const struct wf_reduce_node *node = &tree->nodes[i];
		uint32_t first = s->topo->nodes[node->id].first_port;
		unsigned n = by_port ? node->n_down + (node->parent != WF_TOPO_NONE ? 1u : 0u) : 1;

		for (unsigned k = 0; k < n; k++) {
			uint32_t at = !by_port           ? node->id
			              : k < node->n_down ? first + tree->down[node->first_down + k]
			                                 : first + node->up;

			is_free &= !s->busy[at];
			if (mark)
				s->busy[at] = on;
		}
	}
	return is_free;
}

/* Whether no streaming tree at all can have the group's first links: then none need be grown. */
static bool is_blocked(const struct wf_sharp *s, const struct wf_sharp_group *g)
{
	const struct wf_topo *topo = s->topo;

	for (uint32_t i = 0; i < g->n_hosts; i++) {
		const struct wf_topo_node *host = &topo->nodes[topo->host_node[g->hosts[i]]];
		const struct wf_topo_port *port = &topo->ports[host->first_port];

		if (wf_sharp_generation(&s->cfg)->by_port
		            ? s->busy[topo->nodes[port->peer].first_port + port->peer_port]
		            : s->busy[port->peer])
			return true;
	}
	return false;
}

/* Grows tree t for a group if the group can have it; else *tree_p is NULL. */
static int try_tree(struct wf_sharp *s, const struct wf_sharp_group *g, enum wf_sharp_kind kind,
                    uint32_t t, struct wf_reduce_tree **tree_p, enum wf_sharp_no *no_p)
{
	struct wf_reduce_tree *tree;
	bool room = false;
	int ret;

	*tree_p = NULL;
	if (kind == WF_SHARP_STREAM && s->taken[t])
		return 0;
	ret = grow(s, g, t, &tree);
	if (ret == -EHOSTUNREACH)
		*no_p = WF_SHARP_FAR;
	if (ret != 0)
		return ret == -EHOSTUNREACH ? 0 : ret;
	if (kind == WF_SHARP_STREAM)
		room = use_stream(s, tree, false, false);
	else
		ret = use_low(s, tree, t, 0, &room);
	if (ret == 0 && room)
		*tree_p = tree;
	else
		wf_reduce_tree_destroy(tree);
	return ret;
}

/* Finds a group a tree of a kind, and takes it. */
static int find_tree(struct wf_sharp *s, struct wf_sharp_group *g, enum wf_sharp_kind kind,
                     enum wf_sharp_no *no_p)
{
	bool stream = kind == WF_SHARP_STREAM, room;
	int ret = 0;

	*no_p = stream ? WF_SHARP_STREAMS : WF_SHARP_TREES;
	if (stream && is_blocked(s, g))
		return 0;
	for (uint32_t i = 0; i < s->n_trees && ret == 0 && g->tree[kind] == NULL; i++) {
		g->number[kind] = (s->n_groups + i) % s->n_trees;
		ret = try_tree(s, g, kind, g->number[kind], &g->tree[kind], no_p);
	}
	if (ret != 0 || g->tree[kind] == NULL)
		return ret;
	*no_p = WF_SHARP_YES;
	if (!stream)
		return use_low(s, g->tree[kind], g->number[kind], 1, &room);
	s->taken[g->number[kind]] = true;
	(void)use_stream(s, g->tree[kind], true, true);
	return 0;
}

/* ---- communicators ---- */

/* A group's trees go to others again. */
static void leave(struct wf_sharp *s, const struct wf_sharp_group *g)
{
	bool ok;

	if (g->tree[WF_SHARP_LOW] != NULL)
		(void)!use_low(s, g->tree[WF_SHARP_LOW], g->number[WF_SHARP_LOW], -1, &ok);
	if (g->tree[WF_SHARP_STREAM] != NULL) {
		s->taken[g->number[WF_SHARP_STREAM]] = false;
		(void)use_stream(s, g->tree[WF_SHARP_STREAM], true, false);
	}
}

static int join_group(struct wf_sharp *s, const uint32_t *hosts, uint32_t n, enum wf_sharp_no *no_p)
{
	struct wf_sharp_group *g = &s->group[s->n_groups];
	bool streams = wf_sharp_generation(&s->cfg)->streams &&
	               s->cfg.streaming != (uint64_t)WF_PARAM_AUTO;
	int ret;

	*g = (struct wf_sharp_group){ .n_hosts = n };
	g->hosts = s->mem->alloc(s->mem, n * sizeof(*g->hosts));
	if (g->hosts == NULL)
		return -ENOMEM;
	memcpy(g->hosts, hosts, n * sizeof(*g->hosts));
	ret = find_tree(s, g, WF_SHARP_LOW, no_p);
	if (ret == 0 && *no_p == WF_SHARP_YES && streams)
		ret = find_tree(s, g, WF_SHARP_STREAM, no_p);
	s->n_groups++;
	return ret;
}

static int make_room(struct wf_sharp *s, uint32_t more)
{
	uint32_t room = s->room == 0 ? 8 : s->room;
	struct wf_sharp_group *group;

	while (room < s->n_groups + more)
		room *= 2;
	if (room == s->room)
		return 0;
	group = s->mem->alloc(s->mem, room * sizeof(*group));
	if (group == NULL)
		return -ENOMEM;
	if (s->n_groups > 0)
		memcpy(group, s->group, s->n_groups * sizeof(*group));
	s->mem->free(s->mem, s->group);
	s->group = group;
	s->room = room;
	return 0;
}

/* Whether each adapter serves one communicator more; counts it. */
static bool take_adapters(struct wf_sharp *s, const uint32_t *hosts, uint32_t n)
{
	for (uint32_t i = 0; i < n && s->cfg.jobs != 0; i++) {
		if (s->jobs[hosts[i]] >= s->cfg.jobs)
			return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		s->jobs[hosts[i]] += s->last_job[hosts[i]] != s->n_jobs;
		s->last_job[hosts[i]] = s->n_jobs;
	}
	return true;
}

int wf_sharp_join(struct wf_sharp *s, const uint32_t *hosts, uint32_t n, uint32_t n_groups,
                  uint32_t *first_p, enum wf_sharp_no *no_p)
{
	uint32_t first = s->n_groups;
	int ret = make_room(s, n_groups);

	if (ret != 0)
		return ret;
	*no_p = WF_SHARP_YES;
	s->n_jobs++;
	for (uint32_t i = 0; i < n_groups && ret == 0 && *no_p == WF_SHARP_YES; i++)
		ret = join_group(s, hosts + (size_t)i * n, n, no_p);
	if (ret == 0 && *no_p == WF_SHARP_YES && !take_adapters(s, hosts, n * n_groups))
		*no_p = WF_SHARP_ADAPTER;
	if (ret != 0)
		return ret;
	s->no[*no_p]++;
	*first_p = first;
	while (*no_p != WF_SHARP_YES && s->n_groups > first) {
		leave(s, &s->group[--s->n_groups]);
		drop_group(s, &s->group[s->n_groups]);
	}
	return 0;
}
