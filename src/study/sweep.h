/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - a scenario at every combination of the values of some parameters, into one results
 * file.
 *
 * A point is one combination, "fabric.ecn.kmin=50KB fabric.ecn.pmax=1%"; a run is one point on one
 * of the scenario's fabrics. Runs that the file has already, finished and of the same files and
 * build of weft, are not done again, so that a sweep that was interrupted goes on where it was when
 * it is begun again.
 */
#ifndef WF_STUDY_SWEEP_H
#define WF_STUDY_SWEEP_H

#include <stdio.h>

#include "study/axis.h"
#include "study/stale.h"
#include "run/record_run.h"
#include "run/watch.h"

#define WF_SWEEP_MAX_AXES 8
#define WF_SWEEP_MAX_RUNS 100000
#define WF_SWEEP_MAX_SHOWN 16
#define WF_SWEEP_POINT 512

struct wf_sweep_cfg {
	const char *scenario;         /* a file, not "-" */
	struct wf_scenario_opts opts; /* overrides of all points */
	const struct wf_axis *axes;
	unsigned n_axes;
	unsigned at_once;             /* simulations */
	struct wf_record_opts record; /* its record is set */
	const struct wf_watch *watch;
};

struct wf_sweep;

/*
 * Reads the scenario at each point, so that what is wrong is known before anything runs. *sweep_p
 * is the caller's, cfg is borrowed while it lives. Returns 0, -EINVAL with err filled, or -ENOMEM.
 */
int wf_sweep_create(const struct wf_sweep_cfg *cfg, struct wf_sweep **sweep_p,
                    struct wf_err *err) WF_MUST_USE;

/*
 * Runs what is not there yet. Returns 0, or what went wrong with err filled; -EINTR: watch said so.
 */
int wf_sweep_run(struct wf_sweep *sweep, struct wf_err *err) WF_MUST_USE;

/* How many runs there are, and how many the file had before. */
size_t wf_sweep_runs(const struct wf_sweep *sweep);
size_t wf_sweep_found(const struct wf_sweep *sweep);

/* Those that it had and that are done anew, for what went into them is not what it was. */
const struct wf_stale *wf_sweep_stale(const struct wf_sweep *sweep);

/*
 * The runs as a table or as CSV, with the values called show, n of them. In CSV every value is in
 * its unit as results files have it.
 */
void wf_sweep_table(const struct wf_sweep *sweep, const char *const *show, unsigned n, FILE *file);
void wf_sweep_csv(const struct wf_sweep *sweep, const char *const *show, unsigned n, FILE *file);

/*
 * The same as JSON (schemas/weft.sweep.1.schema.json); results is the file that the runs are in.
 */
void wf_sweep_json(const struct wf_sweep *sweep, const char *results, const char *const *show,
                   unsigned n, FILE *file);

/* NULL is allowed. */
void wf_sweep_destroy(struct wf_sweep *sweep);

#endif
