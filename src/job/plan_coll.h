/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_coll.h - the plan of a benchmark: one collective over and over, as nccl-tests runs it.
 */
#ifndef WF_JOB_PLAN_COLL_H
#define WF_JOB_PLAN_COLL_H

#include "job/plan.h"

/*
 * iterations of coll, each a group of its own, one after the other without a barrier between them.
 * coll is copied; a list of ranks in it is borrowed. Returns 0 or -ENOMEM.
 */
int wf_plan_coll_create(const struct wf_cluster *cluster, const struct wf_coll *coll,
                        uint32_t iterations, struct wf_mem *mem,
                        struct wf_plan **plan_p) WF_MUST_USE;

#endif
