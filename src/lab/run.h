/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - one simulation of a scenario on one of its fabrics, and what came out of it.
 */
#ifndef WF_LAB_RUN_H
#define WF_LAB_RUN_H

#include "lab/pcap.h"
#include "lab/scenario.h"

/* A queue of a port where something happened. */
struct wf_run_port {
	uint32_t node;
	unsigned port, queue;
	struct wf_sim_counts counts;
};

struct wf_run {
	const struct wf_scenario_fabric *fabric;
	struct wf_sim_result result;
	struct wf_sim_counts total; /* sums over the queues; maxima for max_* */
	uint64_t lossless_drops;
	wf_time completion;        /* first flow's start to the last byte; -1: not all arrived */
	uint64_t goodput;          /* bits/s of payload over that time, or over the whole run */
	struct wf_run_port *ports; /* those with drops, pauses, waits or marks */
	size_t n_ports;
	uint64_t wire_checked;    /* packets written as bytes, read back and compared */
	uint64_t cpu_ns, wall_ns; /* of the simulation itself */
};

struct wf_run_opts {
	unsigned threads;
	wf_sim_progress_fn *progress; /* may be NULL */
	void *arg;
	struct wf_pcap *pcap; /* captures what passes its ports; NULL: nothing is captured */
	bool wire_check;      /* packets are written as bytes, read back and compared */
};

/*
 * Runs the built scenario on its fabric number index. On success *run is filled and owned by the
 * caller, who gives it to wf_run_fini(). Returns 0, -EINVAL with err filled (the fabric cannot be),
 * -ENOMEM, -EAGAIN when threads cannot be started, or -EBADMSG with err filled when the wire check
 * found a difference.
 */
int wf_run_fabric(const struct wf_scenario *scenario, unsigned index,
                  const struct wf_run_opts *opts, struct wf_run *run,
                  struct wf_err *err) WF_MUST_USE;

/* Frees what a run holds. */
void wf_run_fini(struct wf_run *run);

#endif
