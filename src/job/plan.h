/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - a workload as people think of it: calculations, collectives and messages, rank by rank.
 *
 * A plan gives each rank some lanes (think of CUDA streams: compute, tensor-parallel communication,
 * data-parallel communication). A lane is a sequence of items that run one after the other; an item
 * may also wait for items of the rank's other lanes. Items are generated when they are needed.
 * wf_plan_schedule() makes a schedule of it: each collective becomes the sends, receives and
 * reductions of its algorithm on this rank's channels, an item ends on a rank when all of them
 * have.
 *
 * All ranks of a communicator have the same collectives on it in the same order, on lanes of the
 * same number; a message is a SEND of one rank and a RECV of another with the same tag, bytes and
 * lane. Dependencies across lanes point backwards in one order that all lanes' sequences follow.
 */
#ifndef WF_JOB_PLAN_H
#define WF_JOB_PLAN_H

#include "base/mem.h"
#include "job/cluster.h"
#include "job/coll.h"
#include "job/nvlink.h"
#include "job/reduce.h"
#include "job/schedule.h"

#define WF_ITEM_DEPS 4
#define WF_PLAN_MAX_LANES 32

enum wf_item_kind {
	WF_ITEM_CALC, /* the GPU computes for a time (WF_UNIT_COMPUTE: one after the other) */
	/* Nothing but its dependencies, then a delay of time without occupying the GPU. */
	WF_ITEM_WAIT,
	WF_ITEM_COLL,
	WF_ITEM_SEND,
	WF_ITEM_RECV,
};

struct wf_item_dep {
	uint32_t number; /* of the item in its lane, from 0 */
	uint32_t lane;
};

struct wf_item {
	enum wf_item_kind kind;
	uint32_t group; /* of the plan's table, or WF_GROUP_NONE */
	uint32_t n_deps;
	struct wf_item_dep dep[WF_ITEM_DEPS];
	wf_time time;        /* CALC, WAIT */
	struct wf_coll coll; /* COLL: what, over whom, how many bytes (job/coll.h) */
	uint32_t peer, tag;  /* SEND, RECV; tag below 2^20 */
	uint64_t bytes;      /* SEND, RECV */
};

struct wf_plan;

/* Every function is set. Like struct wf_schedule_ops: only destroy() may change *plan. */
struct wf_plan_ops {
	const char *name;
	size_t cursor; /* bytes of the state of one lane of one rank */
	/* Sets cursor, zeroed, to the beginning of a rank's lane. */
	void (*start)(const struct wf_plan *plan, uint32_t rank, uint32_t lane, void *cursor);
	/* The next item; *item comes zeroed, with group none. False: there is none. */
	bool (*next)(const struct wf_plan *plan, void *cursor, struct wf_item *item);
	/* cfg: how collectives are done, for wf_coll_group(). */
	void (*group)(const struct wf_plan *plan, uint32_t group, const struct wf_coll_cfg *cfg,
	              struct wf_group *group_p);
	void (*destroy)(struct wf_plan *plan);
};

/* The first member of every kind of plan. */
struct wf_plan {
	const struct wf_plan_ops *ops;
	struct wf_cluster cluster;
	uint32_t n_lanes; /* of every rank, 1..WF_PLAN_MAX_LANES */
	uint32_t n_groups;
};

/*
 * The schedule of a plan. plan is taken over, also on failure; cfg is copied. With nvlink, how GPUs
 * of a server are connected, collectives that stay inside servers are calculated where nothing can
 * collide with them (job/inside.h), and with its lines rings that pass through servers are
 * estimated; NULL: all is executed. reducer, asked until this returns: whether the network's
 * switches reduce for a communicator; NULL: nobody knows, and where cfg has collnet it is
 * calculated. Returns 0 or -ENOMEM.
 */
int wf_plan_schedule(struct wf_plan *plan, const struct wf_coll_cfg *cfg,
                     const struct wf_nvlink *nvlink, const struct wf_net_reducer *reducer,
                     struct wf_mem *mem, struct wf_schedule **schedule_p) WF_MUST_USE;

#endif
