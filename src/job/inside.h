/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside.h - how long collectives take that stay inside a server.
 *
 * Nothing but the collective itself uses the NVLinks of its GPUs while it runs, so it takes the
 * same time whenever it runs. That time is found once, by executing it chunk by chunk on a server
 * of its own; ranks of a job then only meet and wait (WF_OP_MEET).
 */
#ifndef WF_JOB_INSIDE_H
#define WF_JOB_INSIDE_H

#include "base/mem.h"
#include "job/coll.h"
#include "job/nvlink.h"

struct wf_inside;

/* cfg and cluster are borrowed while it lives. Returns 0 or -ENOMEM. */
int wf_inside_create(const struct wf_cluster *cluster, const struct wf_coll_cfg *cfg,
                     const struct wf_nvlink *nvlink, struct wf_mem *mem,
                     struct wf_inside **inside_p) WF_MUST_USE;

/* NULL is allowed. */
void wf_inside_destroy(struct wf_inside *in);

/* Whether all ranks of a group are in one server. */
bool wf_inside_has(const struct wf_cluster *cluster, const struct wf_comm *comm);

/* Finds the time of a collective that stays inside, unless it is known. Returns 0 or -ENOMEM. */
int wf_inside_learn(struct wf_inside *in, const struct wf_coll *coll) WF_MUST_USE;

/* The time of a collective that was learnt, from when its last rank begins, its launch included. */
wf_time wf_inside_time(const struct wf_inside *in, const struct wf_coll *coll);

#endif
