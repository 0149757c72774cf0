/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_priv.h - the parts of a comparison: one fabric with one seed (compare_run.c), and what
 * would cure a slow one (compare_cure.c).
 */
#ifndef WF_STUDY_COMPARE_PRIV_H
#define WF_STUDY_COMPARE_PRIV_H

#include "study/compare.h"
#include "run/run.h"

/*
 * Does all that a fabric does with the seed of run, whose seed is set, and fills the rest of it:
 * from the results file, or by simulating, as task of the watch. first: of the fabric's seeds, so
 * that it is recorded in full. Returns 0, -EINTR, or what went wrong with err filled.
 */
int wf_compare_run(const struct wf_compare_cfg *cfg, const struct wf_compare *result,
                   unsigned fabric, bool first, size_t task, struct wf_compare_run *run,
                   struct wf_err *err) WF_MUST_USE;

/* Runs scenario on a fabric, as task of the watch; run is the caller's, zeroed or finished. */
int wf_compare_simulate(const struct wf_compare_cfg *cfg, const struct wf_scenario *scenario,
                        unsigned fabric, size_t task, const struct wf_record_opts *record,
                        struct wf_run *run, struct wf_err *err) WF_MUST_USE;

/* The figures of a job, and whether it finished. */
void wf_compare_take_job(const struct wf_run *run, struct wf_metrics *metrics, bool *finished);

/* Which of a run's notes says best why it is slow; NULL: none does. */
const struct wf_note *wf_compare_cause(const struct wf_notes *notes);

/*
 * Finds the cures of what a fabric's median run says; at most WF_VERDICT_CURES, in order. Returns
 * how many.
 */
unsigned wf_compare_cures(const struct wf_compare *result, unsigned fabric,
                          unsigned found[WF_VERDICT_CURES]);

/* Runs the job once more on a fabric with one of its cures, and keeps what that came to in cure. */
int wf_compare_cure(const struct wf_compare_cfg *cfg, const struct wf_compare *result,
                    unsigned fabric, unsigned which, enum wf_metric decides, size_t task,
                    struct wf_verdict_cure *cure, struct wf_err *err) WF_MUST_USE;

#endif
