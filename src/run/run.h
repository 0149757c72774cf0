/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - one simulation of a scenario on one of its fabrics, and what came out of it.
 */
#ifndef WF_RUN_RUN_H
#define WF_RUN_RUN_H

#include "fabric/sharp.h"
#include "job/train_watch.h"
#include "run/job_app.h"
#include "run/notes.h"
#include "run/pcap.h"
#include "run/record_run.h"
#include "scenario/scenario.h"
#include "sim/look/deadlock.h"
#include "sim/mgmt/managed.h"
#include "sim/storage/result.h"

/* A queue of a port where something happened. */
struct wf_run_port {
	uint32_t node;
	unsigned port, queue;
	struct wf_sim_counts counts;
};

/* What a training step came to. */
struct wf_run_train {
	struct wf_train_info info;
	struct wf_train_result result;
	wf_time exposed; /* all kinds together, and what else kept the ranks from computing */
	double scale;    /* the step was simulated at: of the whole, times are times / scale */
};

struct wf_run {
	const struct wf_scenario_fabric *fabric;
	struct wf_sim_result result;
	struct wf_sim_counts total; /* sums over the queues; maxima for max_* */
	uint64_t lossless_drops; /* by congestion, in lossless classes: a promise that was broken */
	wf_time completion;      /* first flow's start to the last byte; -1: not all arrived */
	uint64_t goodput;        /* bits/s of payload over that time, or over the whole run */
	uint64_t headroom;       /* pfc: of the port that needs most, bytes */
	uint64_t headroom_needed;  /* what rate, cable and reaction ask of it */
	struct wf_run_port *ports; /* those with losses, pauses, waits or marks */
	size_t n_ports;
	struct wf_deadlock *deadlocks;         /* circles of queues, with their links */
	uint32_t n_deadlocks, deadlocks_found; /* those, and all that were found */
	struct wf_notes notes;                 /* what this says in words */
	uint64_t wire_checked;           /* packets written as bytes, read back and compared */
	uint64_t cpu_ns, wall_ns;        /* of the simulation itself, and of recording it */
	bool stopped;                    /* progress ended it */
	struct wf_job_result *job;       /* NULL: the scenario has none */
	struct wf_job_group *job_groups; /* of it; names are the run's */
	struct wf_schedule *schedule;    /* that they come from */
	uint32_t sharp[WF_SHARP_NOS];    /* communicators that got trees in switches, and did not */
	uint64_t memory;                 /* bytes a GPU of a training step has at least; 0: none */
	struct wf_run_train *train;      /* of a training step that has finished; else NULL */
	/* Of each entry of the scenario's storage, and of all together; NULL: it has none. */
	struct wf_storage_result *storage;
	size_t n_storage;                  /* entries: all together are behind them */
	struct wf_managed_result *managed; /* NULL: nobody manages the fabric */
};

struct wf_run_opts {
	unsigned threads;
	wf_sim_progress_fn *progress; /* may be NULL */
	void *arg;
	struct wf_pcap *pcap; /* captures what passes its ports; NULL: nothing is captured */
	struct wf_record_opts record;
	bool wire_check; /* packets are written as bytes, read back and compared */
	const struct wf_job_observer *observer; /* of the job; NULL: nobody */
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
