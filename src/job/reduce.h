/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.h - which communicators reduce in the network's switches.
 *
 * NCCL asks the network when it creates a communicator of several servers (its collnet plugin), and
 * the network may have no trees left: then the communicator does without for good. So does a plan
 * here, before it becomes a schedule: each communicator, in the order in which the ranks' lanes
 * name them, asks whoever knows the network (struct wf_net_reducer). Each lane of a communicator
 * has groups of its own, one for each head: a GPU that has a NIC, at the same place in each server.
 */
#ifndef WF_JOB_REDUCE_H
#define WF_JOB_REDUCE_H

#include "base/mem.h"
#include "job/coll.h"

/* Who knows the network. */
struct wf_net_reducer {
	void *arg;
	/*
	 * n_groups groups of n ranks each, one group's after the other's, are to reduce: *first_p
	 * is the number of the first, behind which the others follow, or WF_GROUP_NONE. Returns 0
	 * or -ENOMEM.
	 */
	int (*join)(void *arg, const uint32_t *ranks, uint32_t n, uint32_t n_groups,
	            uint32_t *first_p);
};

struct wf_grants;

/* Nobody has asked. Returns 0 or -ENOMEM. */
int wf_grants_create(struct wf_mem *mem, struct wf_grants **grants_p) WF_MUST_USE;

/* NULL is allowed. */
void wf_grants_destroy(struct wf_grants *g);

/* A lane has collectives on comm, whose list is borrowed. Returns 0 or -ENOMEM. */
int wf_grants_learn(struct wf_grants *g, const struct wf_cluster *cluster,
                    const struct wf_coll_cfg *cfg, const struct wf_comm *comm,
                    uint32_t lane) WF_MUST_USE;

/* All of them ask. Returns 0 or -ENOMEM. */
int wf_grants_ask(struct wf_grants *g, const struct wf_net_reducer *net) WF_MUST_USE;

/* Whether a communicator reduces in the network, on every lane that it is on. */
bool wf_grants_has(const struct wf_grants *g, const struct wf_comm *comm);

/* The number of its first group on a lane; WF_GROUP_NONE: it has none. */
uint32_t wf_grants_first(const struct wf_grants *g, const struct wf_comm *comm, uint32_t lane);

#endif
