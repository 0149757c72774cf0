/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_coll.c - one lane, one collective, some times.
 */
#include "job/plan_coll.h"

#include <errno.h>

struct plan_coll {
	struct wf_plan plan;
	struct wf_coll coll;
	struct wf_mem *mem;
};

struct cursor {
	uint32_t next, n;
};

static const struct plan_coll *of(const struct wf_plan *plan)
{
	return wf_container_of(plan, const struct plan_coll, plan);
}

static void coll_start(const struct wf_plan *plan, uint32_t rank, uint32_t lane, void *cursor)
{
	struct cursor *c = cursor;

	(void)lane;
	if (wf_comm_pos(&of(plan)->coll.comm, rank) != UINT32_MAX)
		c->n = plan->n_groups;
}

static bool coll_next(const struct wf_plan *plan, void *cursor, struct wf_item *item)
{
	struct cursor *c = cursor;

	if (c->next == c->n)
		return false;
	item->kind = WF_ITEM_COLL;
	item->coll = of(plan)->coll;
	item->group = c->next++;
	return true;
}

static void coll_group(const struct wf_plan *plan, uint32_t group, const struct wf_coll_cfg *cfg,
                       struct wf_group *group_p)
{
	(void)group;
	wf_coll_group(&of(plan)->coll, &plan->cluster, cfg, group_p);
	group_p->name = group_p->kind;
}

static void coll_destroy(struct wf_plan *plan)
{
	struct plan_coll *p = wf_container_of(plan, struct plan_coll, plan);

	p->mem->free(p->mem, p);
}

static const struct wf_plan_ops coll_ops = {
	.name = "collective",
	.cursor = sizeof(struct cursor),
	.start = coll_start,
	.next = coll_next,
	.group = coll_group,
	.destroy = coll_destroy,
};

int wf_plan_coll_create(const struct wf_cluster *cluster, const struct wf_coll *coll,
                        uint32_t iterations, struct wf_mem *mem, struct wf_plan **plan_p)
{
	struct plan_coll *p = mem->alloc(mem, sizeof(*p));

	if (p == NULL)
		return -ENOMEM;
	p->plan.ops = &coll_ops;
	p->plan.cluster = *cluster;
	p->plan.n_lanes = 1;
	p->plan.n_groups = iterations;
	p->coll = *coll;
	p->mem = mem;
	*plan_p = &p->plan;
	return 0;
}
