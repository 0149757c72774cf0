/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_scale.h - whether a job's scale keeps what it may not break: the share of the fabric's
 * delays.
 */
#ifndef WF_SCENARIO_JOB_SCALE_H
#define WF_SCENARIO_JOB_SCALE_H

#include "fabric/config.h"
#include "job/scale.h"
#include "topo/topo.h"

/* The network of a scale's check: a fabric on a topology, both borrowed. */
struct wf_job_fabric {
	const struct wf_topo *topo;
	const struct wf_fabric_cfg *cfg;
	uint32_t *queue; /* nodes of the topology, in the order they were found */
	wf_time *delay;  /* by node, from where it began; -1: not found */
	struct wf_scale_net net;
};

/* Returns 0 or -ENOMEM. rate: bits/s, the slowest host's. */
int wf_job_fabric_init(struct wf_job_fabric *f, const struct wf_topo *topo,
                       const struct wf_fabric_cfg *cfg, uint64_t rate) WF_MUST_USE;

void wf_job_fabric_fini(struct wf_job_fabric *f);

/*
 * Refuses a scale at which the fabric's delays could lengthen a plan by more than error; both are
 * of 2^16, and coll is scaled. *excess_p is the share by which they could. Returns 0, -ENOMEM, or
 * -EINVAL with err filled: it says which scale would do.
 */
int wf_job_scale_check(const struct wf_plan *plan, const struct wf_coll_cfg *coll, uint64_t scale,
                       uint64_t error, const struct wf_scale_net *net, uint64_t *excess_p,
                       struct wf_err *err) WF_MUST_USE;

#endif
