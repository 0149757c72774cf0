/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcc_run.h - reads the input files of the HPCC simulator (ns-3), runs them in its model, and
 * writes its output files.
 */
#ifndef WF_RUN_HPCC_RUN_H
#define WF_RUN_HPCC_RUN_H

#include "ns3/config.h"
#include "ns3/sim.h"

/*
 * Reads config and what it names (looked for beside it, then one and two folders further up), and
 * paths unless that is NULL. On success the caller gives *in to wf_ns3_input_fini(). Returns 0,
 * -EINVAL with err filled, or -ENOMEM.
 */
int wf_hpcc_input_read(struct wf_ns3_input *in, const char *config, const char *paths,
                       struct wf_err *err) WF_MUST_USE;

struct wf_hpcc_run_opts {
	uint64_t seed;
	const char *out; /* folder, made if it is not there: fct.txt and pfc.txt */
};

/* What a run came to. */
struct wf_hpcc_run {
	uint32_t flows, flows_done;
	size_t pauses; /* frames received, of both kinds */
	struct wf_ns3_sim_counts counts;
	uint64_t cpu_ns, wall_ns; /* of the simulation itself */
};

/*
 * Runs it and writes both files. Returns 0, -EINVAL with err filled (the input cannot be), -EIO
 * with err filled, or -ENOMEM.
 */
int wf_hpcc_run(const struct wf_ns3_input *in, const struct wf_hpcc_run_opts *opts,
                struct wf_hpcc_run *run, struct wf_err *err) WF_MUST_USE;

#endif
