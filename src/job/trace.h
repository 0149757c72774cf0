/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a schedule whose operations all lie in memory: what readers of traces make.
 *
 *	wf_trace_create()	no operations yet
 *	wf_trace_op()		an operation of a rank, in any order
 *	wf_trace_after()	that one waits for another of the same rank, in any order
 *	wf_trace_finish()	checks it and makes it a schedule
 *
 * An operation takes about 50 bytes and a dependency 16; while it is being made, some more.
 */
#ifndef WF_JOB_TRACE_H
#define WF_JOB_TRACE_H

#include "base/err.h"
#include "base/mem.h"
#include "job/schedule.h"

#define WF_TRACE_MAX_RANKS (UINT32_C(1) << 20)
#define WF_TRACE_MAX_OPS (UINT32_C(1) << 30) /* all ranks together, with what joins them */

struct wf_trace;

/* An empty trace of 1 to WF_TRACE_MAX_RANKS ranks. Returns 0 or -ENOMEM. */
int wf_trace_create(uint32_t n_ranks, struct wf_mem *mem, struct wf_trace **trace_p) WF_MUST_USE;

/* Frees a trace that was not finished. NULL is allowed. */
void wf_trace_destroy(struct wf_trace *trace);

/*
 * Adds an operation of a rank: *op without dependencies, group and flags. line is where it comes
 * from, for messages (0: nowhere). Returns 0 and its number among all ranks' operations, -ENOMEM,
 * or -E2BIG.
 */
int wf_trace_op(struct wf_trace *trace, uint32_t rank, const struct wf_op *op, uint32_t line,
                uint32_t *number_p) WF_MUST_USE;

/*
 * Operation number waits for the end, or for the start, of operation dep; both are of one rank.
 * Returns 0, -ENOMEM, or -E2BIG.
 */
int wf_trace_after(struct wf_trace *trace, uint32_t number, uint32_t dep, bool start) WF_MUST_USE;

/*
 * Sees that no operations wait for one another in a circle and that every message is sent and
 * received as often; a receive gets the size of its send. file names what was read. On success the
 * schedule is the trace, which is not to be used any more. Returns 0, -ENOMEM, or -EINVAL with err
 * filled.
 */
int wf_trace_finish(struct wf_trace *trace, const char *file, struct wf_schedule **schedule_p,
                    struct wf_err *err) WF_MUST_USE;

#endif
