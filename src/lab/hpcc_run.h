/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcc_run.h - runs the input of the HPCC simulator (ns-3) in its model, and writes its output.
 */
#ifndef WF_LAB_HPCC_RUN_H
#define WF_LAB_HPCC_RUN_H

#include "lab/hpcc_config.h"
#include "sim/hpcc_sim.h"

struct wf_hpcc_run_opts {
	uint64_t seed;
	const char *out; /* folder, made if it is not there: fct.txt and pfc.txt */
};

/* What a run came to. */
struct wf_hpcc_run {
	uint32_t flows, flows_done;
	size_t pauses; /* frames received, of both kinds */
	struct wf_hpcc_sim_counts counts;
	uint64_t cpu_ns, wall_ns; /* of the simulation itself */
};

/*
 * Runs it and writes both files. Returns 0, -EINVAL with err filled (the input cannot be), -EIO with
 * err filled, or -ENOMEM.
 */
int wf_hpcc_run(const struct wf_hpcc_input *in, const struct wf_hpcc_run_opts *opts,
                struct wf_hpcc_run *run, struct wf_err *err) WF_MUST_USE;

#endif
