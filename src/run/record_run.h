/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_run.h - records the run of a scenario on one of its fabrics, from head to tail.
 */
#ifndef WF_RUN_RECORD_RUN_H
#define WF_RUN_RECORD_RUN_H

#include "results/record.h"
#include "run/record_job.h"
#include "run/record_sim.h"
#include "scenario/scenario.h"

struct wf_run;

/* What is recorded, and where to. */
struct wf_record_opts {
	struct wf_record *record; /* NULL: nothing is recorded */
	wf_time sample;           /* interval, WF_RECORD_AUTO or WF_RECORD_NEVER */
	uint32_t events;          /* bit per enum wf_incident_kind */
	const char *label;        /* NULL: the fabric's */
	const char *point;        /* of a sweep; NULL */
	bool brief;               /* parameters, values and notes alone */
	/* Adds rows of its own before the run is ended; may be NULL. */
	void (*more)(void *arg, struct wf_record_run *run);
	void *arg; /* of more */
};

/* What a run is of, as results files have it. */
struct wf_recording_head {
	struct wf_record_head head; /* points to what is below, and into the scenario */
	char digest[WF_SHA256_TEXT];
	struct wf_record_input *inputs;
};

/*
 * Of a scenario that was read, on its fabric number index; point, borrowed, is a sweep's or NULL.
 * Returns 0 or -ENOMEM; wf_recording_head_fini() when it is 0.
 */
int wf_recording_head_init(struct wf_recording_head *head, const struct wf_scenario *scenario,
                           unsigned index, const char *point) WF_MUST_USE;
void wf_recording_head_fini(struct wf_recording_head *head);

/* A run that is being recorded; run NULL: it is not. */
struct wf_recording {
	const struct wf_record_opts *opts;
	const struct wf_topo *topo;
	struct wf_record_run *run;
	struct wf_record_sim *sim;
	struct wf_record_job *job; /* the observer of its job, if it has one; the recording's */
};

/*
 * Before the simulation is made, where the scenario has a job: makes rec->job, which observes it.
 * The arguments are borrowed until wf_recording_end(). Returns 0 or -ENOMEM.
 */
int wf_recording_job(struct wf_recording *rec, const struct wf_record_opts *opts,
                     const struct wf_schedule *schedule,
                     const struct wf_cluster *cluster) WF_MUST_USE;

/*
 * Begins to record sim, the built scenario on its fabric number index: head, parameters, topology,
 * then counters and events as it runs. A file that can no longer be written costs the recording,
 * not the run: that is 0, and wf_record_close() says it. Returns 0 or -ENOMEM.
 */
int wf_recording_begin(struct wf_recording *rec, const struct wf_record_opts *opts,
                       const struct wf_scenario *scenario, unsigned index,
                       struct wf_sim *sim) WF_MUST_USE;

/* The last samples and the flows, before sim is destroyed; virtual time came to end. */
void wf_recording_settle(struct wf_recording *rec, const struct wf_scenario *scenario,
                         const struct wf_sim *sim, wf_time end);

/* Ends it with the values of run, or as failed when that is NULL. */
void wf_recording_end(struct wf_recording *rec, const struct wf_scenario *scenario,
                      const struct wf_run *run);

/* The values of parameters, under prefix: "fabric." ... */
void wf_record_settings(struct wf_record_run *run, const char *prefix,
                        const struct wf_settings *settings);

#endif
