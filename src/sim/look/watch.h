/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - looking at a simulation while it runs: counters at chosen times, and notes of events.
 *
 * Looking changes nothing: windows are where they would be, and the results are the same.
 */
#ifndef WF_SIM_LOOK_WATCH_H
#define WF_SIM_LOOK_WATCH_H

#include "fabric/incident.h"
#include "rdma/counter.h"
#include "sim/sim.h"

/*
 * Called between windows on the thread that runs the simulation; everything has run up to now, and
 * nothing happens before next (WF_TIME_NEVER: ever). Returns the time from which on it wants to be
 * called again.
 */
typedef wf_time wf_sim_tick_fn(void *arg, wf_time now, wf_time next);

/*
 * Has fn called at the end of the first window that reaches the time that it wants, or of the one
 * before where nothing happens in between: then it is called earlier. first is that time at first;
 * before the run.
 */
void wf_sim_set_tick(struct wf_sim *sim, wf_time first, wf_sim_tick_fn *fn, void *arg);

/* Packets put on links so far, control included. */
uint64_t wf_sim_hops(const struct wf_sim *sim);

/* Whether a queue may have counted anything at a node: what can be skipped when it may not. */
bool wf_sim_queue_used(const struct wf_sim *sim, uint32_t node, unsigned queue);

/* A counter of the transport's adapter on a host; 0 where the simulation has no adapters. */
uint64_t wf_sim_host_counter(const struct wf_sim *sim, uint32_t host, enum wf_counter counter);

/* Keeps notes of these kinds, a bit per enum wf_incident_kind; before the run. */
void wf_sim_keep_incidents(struct wf_sim *sim, uint32_t kinds);

/* Notes the pauses and deadlocks that last until the run's end; after the run. */
void wf_sim_end_incidents(struct wf_sim *sim);

/*
 * Gives every note since the last time to fn, in no particular order, and forgets it. (A pause is
 * noted when it is over, so one that began before the notes of the last time may be among them.)
 * Call between windows or after the run.
 */
typedef void wf_sim_incident_fn(void *arg, const struct wf_incident *note);
void wf_sim_take_incidents(struct wf_sim *sim, wf_sim_incident_fn *fn, void *arg);

#endif
