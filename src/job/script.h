/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.h - a plan whose items lie in memory, once for all ranks that do the same.
 *
 * Ranks with one role share their items: rank r has role r / role_ranks % n_roles. What differs
 * from rank to rank follows from its number: a communicator is "the n ranks around me, stride
 * apart", the other side of a message is "the rank delta from me".
 */
#ifndef WF_JOB_SCRIPT_H
#define WF_JOB_SCRIPT_H

#include "base/mem.h"
#include "job/plan.h"

struct wf_script;

/* One item. */
struct wf_step {
	enum wf_item_kind kind;
	uint32_t group; /* from wf_script_group(), or WF_GROUP_NONE */
	uint32_t n_deps;
	struct wf_item_dep dep[WF_ITEM_DEPS];
	wf_time time;   /* CALC, WAIT */
	uint64_t bytes; /* COLL, SEND, RECV */
	enum wf_coll_kind coll;
	uint32_t comm; /* COLL: from wf_script_comm() */
	uint32_t root; /* COLL: a position in it */
	int64_t delta; /* SEND, RECV: the other rank less this one */
	uint32_t tag;
};

/*
 * An empty script. n_lanes and n_roles are at least 1, role_ranks too; for each rank a role comes
 * out. Returns 0 or -ENOMEM.
 */
int wf_script_create(const struct wf_cluster *cluster, uint32_t n_lanes, uint32_t n_roles,
                     uint32_t role_ranks, struct wf_mem *mem,
                     struct wf_script **script_p) WF_MUST_USE;

/* Frees a script that is not yet somebody's plan. NULL is allowed. */
void wf_script_destroy(struct wf_script *script);

/*
 * Memory that lives as long as the script: names, lists of ranks. Zeroed; NULL when there is none.
 */
void *wf_script_keep(struct wf_script *script, size_t size) WF_MUST_USE;

/*
 * A kind of communicator: of n ranks, with a list (kept by the caller, ascending) the same for
 * every rank in it; without, ranks base + i * stride, where base follows from the rank. Returns 0
 * and its number, or -ENOMEM.
 */
int wf_script_comm(struct wf_script *script, uint32_t n, uint32_t stride, const uint32_t *list,
                   uint32_t *comm_p) WF_MUST_USE;

/*
 * What items belong to; name and kind are kept by the caller. coll is what is collective about it,
 * with its comm's n; NULL: nothing. Returns 0 and its number, or -ENOMEM.
 */
int wf_script_group(struct wf_script *script, const char *name, const char *kind,
                    const struct wf_coll *coll, uint32_t *group_p) WF_MUST_USE;

/*
 * Adds an item to the end of a role's lane. Returns 0, and in *dep_p (unless NULL) how others wait
 * for it; or -ENOMEM.
 */
int wf_script_add(struct wf_script *script, uint32_t role, uint32_t lane,
                  const struct wf_step *step, struct wf_item_dep *dep_p) WF_MUST_USE;

/* The items of a role's lane. */
const struct wf_step *wf_script_lane(const struct wf_script *script, uint32_t role, uint32_t lane,
                                     uint32_t *n_p);

/* The plan that the script is; it owns the script. */
struct wf_plan *wf_script_plan(struct wf_script *script);

#endif
