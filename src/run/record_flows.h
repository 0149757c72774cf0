/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_flows.h - some flows of a simulation over time, for the recorder.
 */
#ifndef WF_RUN_RECORD_FLOWS_H
#define WF_RUN_RECORD_FLOWS_H

#include "results/record.h"
#include "sim/sim.h"

#define WF_RECORD_FLOWS 64 /* that are followed at most: every so manieth */

struct wf_record_flows;

/* Borrows both. Returns NULL when there is no memory. */
struct wf_record_flows *wf_record_flows_create(struct wf_record_run *run, const struct wf_sim *sim);

/*
 * Writes what has changed of those that have begun, between windows of the engine. Returns the
 * rows.
 */
uint64_t wf_record_flows_sample(struct wf_record_flows *flows, wf_time t);

/* NULL is allowed. */
void wf_record_flows_destroy(struct wf_record_flows *flows);

#endif
