/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.h - what a run in a results file counted, as evidence; and what a file of evidence in
 * the formats of real tools has of it (export_evidence.c).
 */
#ifndef WF_RESULTS_EVIDENCE_H
#define WF_RESULTS_EVIDENCE_H

#include "evidence/evidence.h"
#include "results/export.h"

/* What a run is called, and how long its writes took. */
struct wf_results_run {
	int64_t id;
	char label[96];
	bool infiniband;
	wf_time end;
	bool has_flows;
	wf_time flow_p99;      /* 0: not known */
	wf_time step;          /* of a job, the mean of collectives or the step; 0: not known */
	uint64_t flows_undone; /* that never ended */
};

/* A flow that was slow although neither it nor its receiver had a part in the congestion. */
typedef void wf_results_flow_fn(void *arg, uint64_t id, const char *src, const char *dst,
                                uint64_t bytes, wf_time took);

/*
 * Reads run number ex->run: ports, what they are connected to, and the last value of every counter;
 * or, where from or to (ps) are not 0, what was counted up to these times as two snapshots; to 0:
 * the end. Besides counters it has what only a simulation knows: links that went down, queues found
 * in a circle, the highest rate of each port. Fills *run_p. ev is not finished yet. Returns 0,
 * -ENOMEM, -EIO or -EINVAL with err filled.
 */
int wf_results_evidence(struct wf_export *ex, wf_time from, wf_time to, struct wf_evidence *ev,
                        struct wf_results_run *run_p, struct wf_err *err) WF_MUST_USE;

/* How many runs there are, and the numbers of the first and the last. */
int wf_results_runs(struct wf_export *ex, int64_t *first_p, int64_t *last_p,
                    struct wf_err *err) WF_MUST_USE;

/*
 * The slowest flows between nodes of which is_hot says false, five times as slow as the fastest
 * tenth of their size, at most n, the slowest first. Returns 0, -EIO or -EINVAL with err filled.
 */
int wf_results_victims(struct wf_export *ex, unsigned n,
                       bool (*is_hot)(void *arg, const char *node), wf_results_flow_fn *fn,
                       void *arg, struct wf_err *err) WF_MUST_USE;

#endif
