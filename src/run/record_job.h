/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_job.h - records what the ranks of a job do while it runs.
 *
 * It is an observer of the job, called on the threads that run the ranks, and keeps what it is told
 * by rank; between windows that is written to the run. Timelines are of up to WF_RECORD_RANKS
 * ranks, evenly spaced; messages are thinned out.
 */
#ifndef WF_RUN_RECORD_JOB_H
#define WF_RUN_RECORD_JOB_H

#include "job/cluster.h"
#include "job/observer.h"
#include "run/job_app.h"
#include "results/record.h"

#define WF_RECORD_RANKS 64

struct wf_record_job;

/* For the ranks of schedule, which, like cluster, is borrowed while it lives. NULL: no memory. */
struct wf_record_job *wf_record_job_create(const struct wf_schedule *schedule,
                                           const struct wf_cluster *cluster) WF_MUST_USE;

/* What the job has to be given. */
const struct wf_job_observer *wf_record_job_observer(const struct wf_record_job *rj);

/* The ranks, and where they are. */
void wf_record_job_ranks(const struct wf_record_job *rj, struct wf_record_run *run,
                         const struct wf_topo *topo);

/* Writes what has come to its end since the last time; while no rank runs. */
void wf_record_job_drain(struct wf_record_job *rj, struct wf_record_run *run);

/*
 * What is left, and what came of it: collectives, latencies, values; and, if nobody else has a
 * curve of bandwidths, that of a job that is one collective.
 */
void wf_record_job_end(struct wf_record_job *rj, struct wf_record_run *run,
                       const struct wf_job_result *result, const struct wf_job_group *groups,
                       bool curve);

/* NULL is allowed. */
void wf_record_job_destroy(struct wf_record_job *rj);

#endif
