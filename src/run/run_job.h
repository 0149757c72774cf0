/* SPDX-License-Identifier: Apache-2.0 */
/* run_job.h - the job of a scenario in a run on one of its fabrics. */
#ifndef WF_RUN_RUN_JOB_H
#define WF_RUN_RUN_JOB_H

#include "fabric/sharp.h"
#include "job/train_watch.h"
#include "run/record_run.h"
#include "run/run.h"

/* Zeroed: no job. */
struct wf_run_job {
	struct wf_job_app *app;
	struct wf_cluster cluster;
	struct wf_train_watch *watch; /* of a training step */
	struct wf_train_info info;
	struct wf_job_observer both;          /* tells the watch and the caller's observer */
	struct wf_job_observer own;           /* the watch's */
	const struct wf_job_observer *theirs; /* the caller's, or NULL */
	struct wf_sharp *sharp;               /* who reduces in switches; NULL: nobody */
};

/*
 * Makes the job of a scenario that has one; run gets its schedule. Where no observer is given, a
 * recording that is to be made in rec observes. *job may be handed to wf_run_job_fini() whatever is
 * returned: 0, -ENOMEM, or -EINVAL with err filled.
 */
int wf_run_job_make(const struct wf_scenario *scenario, const struct wf_run_opts *opts,
                    struct wf_recording *rec, struct wf_run *run, struct wf_run_job *job,
                    struct wf_err *err) WF_MUST_USE;

/* Keeps what it did in *run. Returns 0, -ENOMEM, or -EIO with err filled when that says nothing. */
int wf_run_job_keep(const struct wf_scenario *scenario, const struct wf_run_job *job,
                    struct wf_run *run, struct wf_err *err) WF_MUST_USE;

void wf_run_job_fini(struct wf_run_job *job);

#endif
