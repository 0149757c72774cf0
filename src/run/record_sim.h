/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_sim.h - records what a simulation counts and what happens in it while it runs.
 */
#ifndef WF_RUN_RECORD_SIM_H
#define WF_RUN_RECORD_SIM_H

#include "fabric/config.h"
#include "results/record.h"
#include "sim/look/watch.h"

/* Intervals of samples that are no times. */
#define WF_RECORD_AUTO 0              /* as short as a small part of the run's cost allows */
#define WF_RECORD_NEVER WF_TIME_NEVER /* only at the end */
#define WF_RECORD_EVENTS ((1u << WF_INCIDENTS) - 1) /* all kinds */

struct wf_record_job;

struct wf_record_sim_cfg {
	const struct wf_topo *topo;       /* borrowed until wf_record_sim_end() */
	const struct wf_classes *classes; /* the same */
	bool infiniband;                  /* names are InfiniBand's */
	wf_time sample;                   /* interval, or one of the above */
	uint32_t events;                  /* bit per enum wf_incident_kind */
	struct wf_record_job *job; /* drained as well, between windows; NULL: there is none */
};

struct wf_record_sim;

/*
 * Begins to record sim, which has not run yet, to run. On success *rs_p is owned by the caller, who
 * gives it to wf_record_sim_end(). Returns 0, -EIO with err filled, or -ENOMEM.
 */
int wf_record_sim_begin(struct wf_record_run *run, struct wf_sim *sim,
                        const struct wf_record_sim_cfg *cfg, struct wf_record_sim **rs_p,
                        struct wf_err *err) WF_MUST_USE;

/*
 * The run is over, at end: takes the last sample and the last events, and frees rs. end < 0: it
 * failed, and there are none to take. NULL is allowed.
 */
void wf_record_sim_end(struct wf_record_sim *rs, wf_time end);

/* Reads "all", "none" or "pause,drop,...". Returns 0, or -EINVAL with err filled. */
int wf_record_events_parse(const char *text, uint32_t *events_p, struct wf_err *err) WF_MUST_USE;

#endif
