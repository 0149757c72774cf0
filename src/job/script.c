/* SPDX-License-Identifier: Apache-2.0 */
/* script.c - a plan whose items lie in memory. */
#include "job/script.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define FIRST_ROOM 16

struct lane {
	struct wf_step *steps;
	uint32_t n, room;
};

struct comm {
	uint32_t n, stride;
	const uint32_t *list;
};

struct group {
	const char *name, *kind;
	struct wf_coll coll;
	bool collective;
	uint64_t bytes; /* of a message */
};

struct wf_script {
	struct wf_plan plan;
	struct wf_mem *mem;
	struct wf_arena arena; /* everything but the script itself */
	uint32_t n_roles, role_ranks;
	struct lane *lanes; /* [role][lane] */
	struct comm *comms;
	uint32_t n_comms, room_comms;
	struct group *groups;
	uint32_t room_groups;
};

struct cursor {
	uint32_t rank;
	uint32_t next;
	const struct lane *lane;
};

static struct wf_script *script_of(const struct wf_plan *plan)
{
	return wf_container_of(plan, struct wf_script, plan);
}

static void script_start(const struct wf_plan *plan, uint32_t rank, uint32_t lane, void *cursor)
{
	const struct wf_script *s = script_of(plan);
	struct cursor *c = cursor;

	c->rank = rank;
	c->lane = &s->lanes[rank / s->role_ranks % s->n_roles * plan->n_lanes + lane];
}

/* The communicator around a rank. */
static struct wf_comm comm_of(const struct wf_script *s, uint32_t comm, uint32_t rank)
{
	const struct comm *c = &s->comms[comm];
	uint32_t pos = rank / c->stride % c->n;

	return (struct wf_comm){ .n = c->n,
		                 .base = c->list == NULL ? rank - pos * c->stride : 0,
		                 .stride = c->stride,
		                 .list = c->list };
}

static bool script_next(const struct wf_plan *plan, void *cursor, struct wf_item *item)
{
	const struct wf_script *s = script_of(plan);
	struct cursor *c = cursor;
	const struct wf_step *step;

	if (c->next == c->lane->n)
		return false;
	step = &c->lane->steps[c->next++];
	item->kind = step->kind;
	item->group = step->group;
	item->n_deps = step->n_deps;
	memcpy(item->dep, step->dep, sizeof(item->dep));
	item->time = step->time;
	if (step->kind == WF_ITEM_COLL) {
		item->coll = (struct wf_coll){ .kind = (uint8_t)step->coll,
			                       .alg = WF_ALG_AUTO,
			                       .proto = WF_PROTO_AUTO,
			                       .root = step->root,
			                       .bytes = step->bytes,
			                       .comm = comm_of(s, step->comm, c->rank) };
	} else if (step->kind == WF_ITEM_SEND || step->kind == WF_ITEM_RECV) {
		item->peer = (uint32_t)(c->rank + step->delta);
		item->tag = step->tag;
		item->bytes = step->bytes;
	}
	return true;
}

static void script_group(const struct wf_plan *plan, uint32_t group, const struct wf_coll_cfg *cfg,
                         struct wf_group *group_p)
{
	const struct group *g = &script_of(plan)->groups[group];

	memset(group_p, 0, sizeof(*group_p));
	if (g->collective)
		wf_coll_group(&g->coll, &plan->cluster, cfg, group_p);
	else
		group_p->bytes = g->bytes;
	group_p->name = g->name;
	group_p->kind = g->kind;
}

static void script_free(struct wf_plan *plan)
{
	wf_script_destroy(script_of(plan));
}

static const struct wf_plan_ops script_ops = {
	.name = "script",
	.cursor = sizeof(struct cursor),
	.start = script_start,
	.next = script_next,
	.group = script_group,
	.destroy = script_free,
};

int wf_script_create(const struct wf_cluster *cluster, uint32_t n_lanes, uint32_t n_roles,
                     uint32_t role_ranks, struct wf_mem *mem, struct wf_script **script_p)
{
	struct wf_script *s = mem->alloc(mem, sizeof(*s));

	assert(n_lanes >= 1 && n_lanes <= WF_PLAN_MAX_LANES && n_roles >= 1 && role_ranks >= 1);
	if (s == NULL)
		return -ENOMEM;
	s->mem = mem;
	s->plan.ops = &script_ops;
	s->plan.cluster = *cluster;
	s->plan.n_lanes = n_lanes;
	s->n_roles = n_roles;
	s->role_ranks = role_ranks;
	wf_arena_init(&s->arena);
	s->lanes = wf_script_keep(s, (size_t)n_roles * n_lanes * sizeof(*s->lanes));
	if (s->lanes == NULL) {
		wf_script_destroy(s);
		return -ENOMEM;
	}
	*script_p = s;
	return 0;
}

void wf_script_destroy(struct wf_script *script)
{
	if (script == NULL)
		return;
	wf_arena_fini(&script->arena);
	script->mem->free(script->mem, script);
}

void *wf_script_keep(struct wf_script *script, size_t size)
{
	return wf_arena_alloc(&script->arena, size, sizeof(uint64_t));
}

/* Makes room for one more; what was there before stays in the arena. */
static int make_room(struct wf_script *s, void **array, size_t size, uint32_t n, uint32_t *room)
{
	uint32_t more = *room == 0 ? FIRST_ROOM : 2 * *room;
	void *larger;

	if (n < *room)
		return 0;
	larger = wf_script_keep(s, more * size);
	if (larger == NULL)
		return -ENOMEM;
	if (n > 0)
		memcpy(larger, *array, n * size);
	*array = larger;
	*room = more;
	return 0;
}

int wf_script_comm(struct wf_script *script, uint32_t n, uint32_t stride, const uint32_t *list,
                   uint32_t *comm_p)
{
	void *array = script->comms;
	int ret = make_room(script, &array, sizeof(*script->comms), script->n_comms,
	                    &script->room_comms);

	assert(n >= 1 && (stride >= 1 || list != NULL));
	if (ret != 0)
		return ret;
	script->comms = array;
	script->comms[script->n_comms] =
		(struct comm){ .n = n, .stride = list != NULL ? 1 : stride, .list = list };
	*comm_p = script->n_comms++;
	return 0;
}

int wf_script_group(struct wf_script *script, const char *name, const char *kind,
                    const struct wf_coll *coll, uint32_t *group_p)
{
	void *array = script->groups;
	int ret = make_room(script, &array, sizeof(*script->groups), script->plan.n_groups,
	                    &script->room_groups);

	if (ret != 0)
		return ret;
	script->groups = array;
	script->groups[script->plan.n_groups] =
		(struct group){ .name = name, .kind = kind, .collective = coll != NULL };
	if (coll != NULL)
		script->groups[script->plan.n_groups].coll = *coll;
	*group_p = script->plan.n_groups++;
	return 0;
}

/* The group of a message says how long that is: so it is known for communication. */
static void note_message(struct wf_script *s, const struct wf_step *step)
{
	if (step->group != WF_GROUP_NONE)
		s->groups[step->group].bytes = step->bytes;
}

int wf_script_add(struct wf_script *script, uint32_t role, uint32_t lane,
                  const struct wf_step *step, struct wf_item_dep *dep_p)
{
	struct lane *l = &script->lanes[role * script->plan.n_lanes + lane];
	void *array = l->steps;
	int ret = make_room(script, &array, sizeof(*l->steps), l->n, &l->room);

	assert(role < script->n_roles && lane < script->plan.n_lanes);
	assert(step->kind != WF_ITEM_COLL || step->comm < script->n_comms);
	assert(step->group == WF_GROUP_NONE || step->group < script->plan.n_groups);
	if (ret != 0)
		return ret;
	l->steps = array;
	l->steps[l->n] = *step;
	if (step->kind == WF_ITEM_SEND || step->kind == WF_ITEM_RECV)
		note_message(script, step);
	if (dep_p != NULL)
		*dep_p = (struct wf_item_dep){ .number = l->n, .lane = lane };
	l->n++;
	return 0;
}

const struct wf_step *wf_script_lane(const struct wf_script *script, uint32_t role, uint32_t lane,
                                     uint32_t *n_p)
{
	const struct lane *l = &script->lanes[role * script->plan.n_lanes + lane];

	*n_p = l->n;
	return l->steps;
}

struct wf_plan *wf_script_plan(struct wf_script *script)
{
	return &script->plan;
}
