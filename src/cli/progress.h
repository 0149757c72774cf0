/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - one line on the terminal while a simulation runs, and the wish to stop it.
 */
#ifndef WF_CLI_PROGRESS_H
#define WF_CLI_PROGRESS_H

#include <stdbool.h>

#include "base/base.h"
#include "run/watch.h"

struct wf_progress {
	const char *label; /* of the fabric that runs */
	size_t n, done;    /* fabrics, and those that are over */
	uint64_t hops;     /* of them */
	wf_time until;
	bool shown; /* standard error is a terminal, and nobody said --quiet */
	bool drawn; /* there is a line to take away */
	uint64_t start_ns, last_ns;
};

/* For n runs, one after the other. From now on an interrupt (Ctrl-C) is remembered, not deadly. */
void wf_progress_init(struct wf_progress *progress, size_t n, bool quiet);

/* Begins with a run. */
void wf_progress_begin(struct wf_progress *progress, const char *label, wf_time until);

/* A wf_sim_progress_fn; arg is the struct wf_progress. False once there was an interrupt. */
bool wf_progress_step(void *arg, wf_time now, uint64_t hops, uint32_t share);

/* The run is over, with so many packet-hops: takes the line away. */
void wf_progress_end(struct wf_progress *progress, uint64_t hops);

/* Several simulations at once: how many are over, and how fast it goes. */
struct wf_progress_team;

/*
 * What a struct wf_watch needs; what is counted ("runs") is borrowed. Returns NULL when there is no
 * more memory. From now on an interrupt is remembered, not deadly.
 */
struct wf_progress_team *wf_progress_team_create(const char *what, bool quiet,
                                                 struct wf_watch *watch) WF_MUST_USE;

/* Takes the line away. NULL is allowed. */
void wf_progress_team_destroy(struct wf_progress_team *team);

/* From now on the first interrupt is remembered; a system call that waits ends with EINTR. */
void wf_progress_catch(void);

/* Whether there was an interrupt. */
bool wf_progress_interrupted(void);

/* The exit status that says so: 130 after SIGINT, 143 after SIGTERM. */
int wf_progress_status(void);

#endif
