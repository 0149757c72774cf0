/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observer.h - who wants to know what a job does while it runs.
 *
 * Each function may be NULL and costs nothing then. They are called on the thread that runs the
 * rank, so calls for different ranks come at the same time from different threads; calls for one
 * rank come in the order of virtual time, but for op(), which is called when an operation ends.
 */
#ifndef WF_JOB_OBSERVER_H
#define WF_JOB_OBSERVER_H

#include "job/schedule.h"

struct wf_job_observer {
	void *arg;
	/* An operation of rank ended: started when nothing held it back, ended at end. */
	void (*op)(void *arg, uint32_t rank, uint32_t stream, const struct wf_op *op, wf_time start,
	           wf_time end);
	/*
	 * A message is there, told by its receiver: posted is when its sender had it ready and its
	 * receiver wanted it, done when its last byte is in the receiver's memory. net: it went
	 * over the fabric; else over NVLink.
	 */
	void (*message)(void *arg, uint32_t src, uint32_t dst, uint64_t bytes, wf_time posted,
	                wf_time done, bool net);
	/* A group begins or is over on a rank. */
	void (*begin)(void *arg, uint32_t rank, uint32_t group, wf_time now);
	void (*end)(void *arg, uint32_t rank, uint32_t group, wf_time now);
};

#endif
