/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.h - what a scale does to a plan: how much longer it takes because the network's delays
 * stay.
 *
 * A scaled plan has its bytes, its computing and its own delays multiplied by the scale; the
 * network's delays are what they are, and weigh 1 / scale as much. A ring of many ranks has one of
 * them for each rank. This adds up what that can come to, before anything runs.
 */
#ifndef WF_JOB_SCALE_H
#define WF_JOB_SCALE_H

#include "job/plan.h"

/* The network, as far as it matters here. */
struct wf_scale_net {
	/* From a post on one host to a small message in the memory of another. */
	wf_time (*latency)(const void *arg, uint32_t from, uint32_t to);
	const void *arg;
	uint64_t rate;   /* bits/s of a host */
	uint64_t packet; /* bytes of data in a full one */
	/* Whether its switches reduce, which scales do not ask; NULL: nobody knows. */
	const struct wf_net_reducer *reducer;
};

/* Times are those of the plan at the scale that was asked for. */
struct wf_scale_cost {
	wf_time compute; /* of the rank that suffers most */
	wf_time excess;  /* that the network's delays add to it at most */
	wf_time worst;   /* the most that one group adds */
	uint32_t group;  /* that group; WF_GROUP_NONE: none does */
	uint32_t ranks;  /* of the communicator, 0: a message */
};

/*
 * What a plan that was made at a scale, with coll scaled too, would cost at another. Scales are of
 * 2^16. Looked at are the first and the last rank. Nothing is taken to be hidden behind computing;
 * the GPU's work on a message is left out, which docs/training.md has the consequences of. Returns
 * 0 or -ENOMEM.
 */
int wf_plan_scale_cost(const struct wf_plan *plan, const struct wf_coll_cfg *coll, uint64_t scale,
                       uint64_t at, const struct wf_scale_net *net, struct wf_mem *mem,
                       struct wf_scale_cost *cost) WF_MUST_USE;

#endif
