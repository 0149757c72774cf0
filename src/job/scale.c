/* SPDX-License-Identifier: Apache-2.0 */
/* scale.c - what a scale does to a plan. */
#include "job/scale.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "job/coll_priv.h"

#define PAIRS 64 /* neighbours of a communicator that are looked at */

/* A rank's items while they are added up. */
struct sum {
	const struct wf_plan *plan;
	const struct wf_coll_cfg *coll;
	const struct wf_scale_net *net;
	uint64_t scale, at;
	uint32_t rank;
	/*
	 * the communicator that was looked at last: its servers, and a mean step between two of
	 * them
	 */
	struct wf_comm comm;
	uint32_t servers;
	wf_time latency;
	struct wf_scale_cost cost;
};

/* A time of the plan at the other scale; and a time of the network at it, were it scaled too. */
static wf_time rescale(const struct sum *s, wf_time time)
{
	return wf_time_cap((unsigned __int128)(uint64_t)time * s->at / s->scale);
}

static wf_time shrunk(const struct sum *s, wf_time time)
{
	return wf_time_cap((unsigned __int128)(uint64_t)time * s->at / WF_RATIO_ONE);
}

static void add(struct sum *s, const struct wf_item *item, wf_time excess, uint32_t ranks)
{
	s->cost.excess += excess;
	if (excess <= s->cost.worst)
		return;
	s->cost.worst = excess;
	s->cost.group = item->group;
	s->cost.ranks = ranks;
}

/*
 * Finds out how many servers a communicator is in, and how far its neighbours are apart on average.
 */
static void look(struct sum *s, const struct wf_comm *comm)
{
	const struct wf_cluster *cluster = &s->plan->cluster;
	uint32_t stride = comm->n / PAIRS | 1, pairs = 0;
	wf_time all = 0;

	if (s->comm.n == comm->n && s->comm.base == comm->base && s->comm.stride == comm->stride &&
	    s->comm.list == comm->list)
		return;
	s->comm = *comm;
	s->servers = 1;
	for (uint32_t i = 0; i + 1 < comm->n; i++) {
		uint32_t a = wf_comm_rank(comm, i), b = wf_comm_rank(comm, i + 1);

		if (wf_cluster_local(cluster, a, b))
			continue;
		s->servers++;
		if (s->servers % stride != 0 && s->servers > 2)
			continue;
		all += s->net->latency(s->net->arg, wf_cluster_host(cluster, a),
		                       wf_cluster_host(cluster, b));
		pairs++;
	}
	s->latency = pairs > 0 ? all / pairs : 0;
}

/* How often the network's delay comes one after the other in a collective. */
static uint32_t chain(const struct sum *s, const struct wf_part *part)
{
	uint32_t log = 0;

	if (part->coll.alg == WF_ALG_RING || part->coll.kind == WF_COLL_BROADCAST)
		return (part->coll.kind == WF_COLL_ALL_REDUCE ? 2 : 1) * (s->servers - 1);
	if (part->coll.alg == WF_ALG_PAIRWISE) /* announced, then sent, some at a time */
		return 2 * ((s->servers - 1 + WF_PAIR_DEPTH - 1) / WF_PAIR_DEPTH);
	while (UINT32_C(1) << log < s->servers)
		log++;
	return 2 * log;
}

/* The time that the bytes of a collective take on a rank's NICs. */
static wf_time line_time(const struct sum *s, const struct wf_part *part)
{
	uint32_t n = part->coll.comm.n;
	unsigned __int128 bits = (unsigned __int128)part->coll.bytes * 8 * (n - 1) / n;
	uint64_t nics;

	assert(s->servers > 0 && s->plan->cluster.nics > 0 && s->net->rate > 0);
	nics = wf_min_u64(s->plan->cluster.nics, wf_max_u64(1, n / s->servers));
	if (part->coll.kind == WF_COLL_ALL_REDUCE)
		bits *= 2;
	return wf_time_cap(bits * (uint64_t)WF_S / s->net->rate / nics);
}

/*
 * A ring's step takes as long as its bytes on the line, or as its chain if that is longer: its own
 * delay, the network's, and its channel's part of the line; the first step's delay is always seen.
 * Chosen by the runs that docs/training.md has. In other collectives delays come on top of the
 * bytes.
 */
static void add_coll(struct sum *s, const struct wf_item *item)
{
	struct wf_part part = { 0 };
	wf_time line, own, delay, least;
	uint32_t steps;

	look(s, &item->coll.comm);
	if (s->servers == 1 ||
	    wf_part_init(&part, &s->plan->cluster, s->coll, NULL, &item->coll, s->rank, 0) == NULL)
		return;
	steps = chain(s, &part);
	delay = s->latency * steps;
	if (part.coll.alg != WF_ALG_RING) {
		add(s, item, delay - shrunk(s, delay), item->coll.comm.n);
		return;
	}
	line = rescale(s, line_time(s, &part));
	own = rescale(s, part.step_net) * steps + line / part.active;
	least = wf_max_time(line, own + shrunk(s, delay)) + shrunk(s, s->latency);
	add(s, item, wf_max_time(line, own + delay) + s->latency - least, item->coll.comm.n);
}

static void add_message(struct sum *s, const struct wf_item *item)
{
	const struct wf_cluster *cluster = &s->plan->cluster;
	wf_time delay;

	if (wf_cluster_local(cluster, s->rank, item->peer))
		return;
	delay = s->net->latency(s->net->arg, wf_cluster_host(cluster, item->peer),
	                        wf_cluster_host(cluster, s->rank));
	add(s, item, delay - shrunk(s, delay), 0);
}

static void add_lane(struct sum *s, uint32_t lane, void *cursor)
{
	struct wf_item item = { .group = WF_GROUP_NONE };

	memset(cursor, 0, s->plan->ops->cursor);
	s->plan->ops->start(s->plan, s->rank, lane, cursor);
	while (s->plan->ops->next(s->plan, cursor, &item)) {
		switch (item.kind) {
		case WF_ITEM_CALC:
			s->cost.compute += rescale(s, item.time);
			break;
		case WF_ITEM_COLL:
			add_coll(s, &item);
			break;
		case WF_ITEM_RECV:
			add_message(s, &item);
			break;
		case WF_ITEM_WAIT:
		case WF_ITEM_SEND:
			break;
		}
		item = (struct wf_item){ .group = WF_GROUP_NONE };
	}
}

/* Whether a suffers more than b. */
static bool is_worse(const struct wf_scale_cost *a, const struct wf_scale_cost *b)
{
	return (unsigned __int128)(uint64_t)a->excess * (uint64_t)b->compute >
	       (unsigned __int128)(uint64_t)b->excess * (uint64_t)a->compute;
}

int wf_plan_scale_cost(const struct wf_plan *plan, const struct wf_coll_cfg *coll, uint64_t scale,
                       uint64_t at, const struct wf_scale_net *net, struct wf_mem *mem,
                       struct wf_scale_cost *cost)
{
	void *cursor = mem->alloc(mem, plan->ops->cursor + 1);
	uint32_t ranks[2] = { 0, plan->cluster.n_ranks - 1 };

	assert(scale > 0 && at > 0 && at <= WF_RATIO_ONE && net->rate > 0);
	if (cursor == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < 2; i++) {
		struct sum s = { .plan = plan,
			         .coll = coll,
			         .net = net,
			         .scale = scale,
			         .at = at,
			         .rank = ranks[i],
			         .cost = { .group = WF_GROUP_NONE } };

		for (uint32_t lane = 0; lane < plan->n_lanes; lane++)
			add_lane(&s, lane, cursor);
		if (i == 0 || is_worse(&s.cost, cost))
			*cost = s.cost;
	}
	mem->free(mem, cursor);
	return 0;
}
