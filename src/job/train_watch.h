/* SPDX-License-Identifier: Apache-2.0 */
/*
 * train_watch.h - where the time of a training step goes: an observer of a job that runs the
 * schedule of a training plan.
 *
 * Whenever a rank begins to compute later than it had ended computing before, the time between is
 * laid to the communication that ended last in it, from when that began; what is before that to the
 * one that ended last then, and so on: that is what it waited for. What is left at the end of the
 * step, when others still work, is waiting for the pipeline, where there is one. So for each rank
 *
 *	step = busy + exposed[tp] + exposed[pp] + exposed[ep] + exposed[dp] + other
 *
 * Waiting for the pipeline is then split in what waits even on a network that takes no time
 * (bubble) and the rest.
 */
#ifndef WF_JOB_TRAIN_WATCH_H
#define WF_JOB_TRAIN_WATCH_H

#include "base/mem.h"
#include "job/observer.h"
#include "job/train.h"

struct wf_train_watch;

/* All times but the step are means over the ranks. */
struct wf_train_result {
	wf_time step;                    /* until the last rank ends */
	wf_time busy;                    /* computing */
	wf_time exposed[WF_TRAIN_KINDS]; /* of kinds that communicate */
	wf_time bubble;
	wf_time other; /* launching, and what could not be told */
	double mfu;
};

/* Watches a schedule that was made of a training plan. Returns 0 or -ENOMEM. */
int wf_train_watch_create(const struct wf_schedule *schedule, struct wf_mem *mem,
                          struct wf_train_watch **watch_p) WF_MUST_USE;

/* NULL is allowed. */
void wf_train_watch_destroy(struct wf_train_watch *watch);

/* The observer to hand to the job, which borrows the watch. */
void wf_train_watch_observer(struct wf_train_watch *watch, struct wf_job_observer *observer);

/* What came out, once the job has finished at end. */
void wf_train_watch_result(const struct wf_train_watch *watch, const struct wf_train_info *info,
                           const struct wf_gpu_cfg *gpu, wf_time end,
                           struct wf_train_result *result);

#endif
