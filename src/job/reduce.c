/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.c - asking for communicators, and remembering what was said.
 */
#include "job/reduce.h"

#include <errno.h>
#include <string.h>

#include "job/coll_priv.h"

/* A communicator on a lane. */
struct grant {
	struct wf_comm comm;
	uint32_t lane;
	uint32_t nodes, gpus, heads;
	uint32_t first; /* WF_GROUP_NONE: it was refused, or cannot at all */
};

struct wf_grants {
	struct wf_mem *mem;
	struct grant *grant;
	uint32_t n, room;
};

int wf_grants_create(struct wf_mem *mem, struct wf_grants **grants_p)
{
	struct wf_grants *g = mem->alloc(mem, sizeof(*g));

	if (g == NULL)
		return -ENOMEM;
	g->mem = mem;
	*grants_p = g;
	return 0;
}

void wf_grants_destroy(struct wf_grants *g)
{
	if (g == NULL)
		return;
	g->mem->free(g->mem, g->grant);
	g->mem->free(g->mem, g);
}

static bool same(const struct wf_comm *a, const struct wf_comm *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		if (wf_comm_rank(a, i) != wf_comm_rank(b, i))
			return false;
	}
	return true;
}

/* The same without looking at every rank, where that can be. */
static bool is_same(const struct wf_comm *a, const struct wf_comm *b)
{
	if (a->n == b->n && a->base == b->base && a->stride == b->stride && a->list == b->list)
		return true;
	return (a->list != NULL || b->list != NULL) && same(a, b);
}

static struct grant *find(const struct wf_grants *g, const struct wf_comm *comm, uint32_t lane)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (g->grant[i].lane == lane && is_same(&g->grant[i].comm, comm))
			return &g->grant[i];
	}
	return NULL;
}

static int make_room(struct wf_grants *g)
{
	uint32_t room = g->room == 0 ? 16 : 2 * g->room;
	struct grant *more;

	if (g->n < g->room)
		return 0;
	more = g->mem->alloc(g->mem, room * sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	if (g->n > 0)
		memcpy(more, g->grant, g->n * sizeof(*more));
	g->mem->free(g->mem, g->grant);
	g->grant = more;
	g->room = room;
	return 0;
}

int wf_grants_learn(struct wf_grants *g, const struct wf_cluster *cluster,
                    const struct wf_coll_cfg *cfg, const struct wf_comm *comm, uint32_t lane)
{
	struct wf_tune_comm look;
	struct wf_tune tune;
	struct grant *grant;

	if (comm->n < 2 || find(g, comm, lane) != NULL)
		return 0;
	if (make_room(g) != 0)
		return -ENOMEM;
	wf_coll_look(cfg, cluster, comm, &look);
	wf_tune_init(&tune, &look);
	grant = &g->grant[g->n++];
	*grant = (struct grant){ .comm = *comm,
		                 .lane = lane,
		                 .nodes = look.nodes,
		                 .gpus = look.gpus,
		                 .first = WF_GROUP_NONE };
	if (tune.comm.collnet && look.nodes > 1)
		grant->heads = wf_coll_heads(&tune);
	return 0;
}

/* The heads' ranks, group by group. */
static int ask(struct wf_grants *g, struct grant *grant, const struct wf_net_reducer *net)
{
	uint32_t n = grant->nodes, at = 0;
	uint32_t *ranks = g->mem->alloc(g->mem, (size_t)n * grant->heads * sizeof(*ranks));
	int ret;

	if (ranks == NULL)
		return -ENOMEM;
	for (uint32_t h = 0; h < grant->heads; h++) {
		for (uint32_t s = 0; s < n; s++)
			ranks[at++] = wf_comm_rank(
				&grant->comm,
				s * grant->gpus + wf_coll_head(grant->gpus, grant->heads, h));
	}
	ret = net->join(net->arg, ranks, n, grant->heads, &grant->first);
	g->mem->free(g->mem, ranks);
	return ret;
}

int wf_grants_ask(struct wf_grants *g, const struct wf_net_reducer *net)
{
	int ret = 0;

	for (uint32_t i = 0; i < g->n && ret == 0; i++) {
		if (g->grant[i].heads > 0)
			ret = ask(g, &g->grant[i], net);
	}
	return ret;
}

bool wf_grants_has(const struct wf_grants *g, const struct wf_comm *comm)
{
	bool has = false;

	for (uint32_t i = 0; i < g->n; i++) {
		if (!is_same(&g->grant[i].comm, comm))
			continue;
		if (g->grant[i].first == WF_GROUP_NONE)
			return false;
		has = true;
	}
	return has;
}

uint32_t wf_grants_first(const struct wf_grants *g, const struct wf_comm *comm, uint32_t lane)
{
	const struct grant *grant = g != NULL ? find(g, comm, lane) : NULL;

	return grant != NULL ? grant->first : WF_GROUP_NONE;
}
