/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.h - a list of flows as a trace: each is a message that starts at its time, from a rank to
 * another, on a connection that no other flow shares unless there are over 256 between two ranks.
 */
#ifndef WF_JOB_FLOWS_H
#define WF_JOB_FLOWS_H

#include "job/trace.h"

struct wf_job_flow {
	uint64_t bytes;
	wf_time start;
	uint32_t src, dst; /* ranks; different */
	uint32_t line;     /* for messages; 0: none */

	/* filled: their operations in the trace */
	uint32_t send, recv;
};

/*
 * Adds the flows to a trace without operations. Flow i has the tag i. Returns 0, -ENOMEM or -E2BIG.
 */
int wf_flows_add(struct wf_trace *trace, struct wf_job_flow *flows, uint32_t n,
                 struct wf_mem *mem) WF_MUST_USE;

#endif
