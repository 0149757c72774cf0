/* SPDX-License-Identifier: Apache-2.0 */
/* job_trace.h - a job that is read from other programs' files. */
#ifndef WF_SCENARIO_JOB_TRACE_H
#define WF_SCENARIO_JOB_TRACE_H

#include "scenario/job.h"

/*
 * Adds cfg's files to inputs. Returns 0, -ENOMEM, or -EINVAL with err filled ("<parameter>: ...").
 */
int wf_job_trace_note(const struct wf_job_cfg *cfg, struct wf_infiles *inputs,
                      struct wf_err *err) WF_MUST_USE;

/*
 * Reads cfg's file or files; its collectives are done as coll says, inside servers as
 * wf_plan_schedule() has it with nvlink. cluster has room for as many ranks as it says, and gets
 * those of the trace. Returns 0, -ENOMEM, or -EINVAL with err filled ("<parameter>: ...").
 */
int wf_job_trace(const struct wf_job_cfg *cfg, const struct wf_coll_cfg *coll,
                 const struct wf_nvlink *nvlink, const struct wf_scale_net *net,
                 struct wf_cluster *cluster, struct wf_schedule **schedule_p,
                 struct wf_err *err) WF_MUST_USE;

#endif
