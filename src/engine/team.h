/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - a few threads that do rounds of numbered tasks together.
 *
 * The leader (the caller's thread) starts a round of n tasks; every thread, the leader too, takes
 * first those that lie in its own share and then helps with what is left of the others'; the round
 * ends when all are done. Waiting spins briefly and then sleeps, so that on a busy machine a
 * waiting thread does not hold the core that the working one needs.
 */
#ifndef WF_ENGINE_TEAM_H
#define WF_ENGINE_TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/base.h"

#define WF_TEAM_MAX 64

typedef void wf_team_fn(void *arg, unsigned task);

struct wf_team_member {
	struct wf_team *team;
	pthread_t thread;
	unsigned number;
	atomic_uint_least64_t share; /* tasks not yet taken: end << 32 | next */
} WF_ALIGNED(WF_CACHE_LINE);

struct wf_team {
	unsigned n; /* threads, with the leader */
	wf_team_fn *fn;
	void *arg;
	atomic_bool stop;
	pthread_mutex_t lock;
	pthread_cond_t start; /* a round began */
	pthread_cond_t done;  /* the last task was done */
	atomic_uint round WF_ALIGNED(WF_CACHE_LINE);
	atomic_uint left WF_ALIGNED(WF_CACHE_LINE); /* tasks of the round not yet done */
	atomic_uint sleepers;                       /* workers asleep between rounds */
	atomic_bool leader_sleeps;
	struct wf_team_member member[WF_TEAM_MAX];
};

/*
 * Starts n - 1 threads, n in 1..WF_TEAM_MAX. fn(arg, task) is called for each task of each round,
 * by one thread at a time for one task. Returns 0, or -EAGAIN when a thread cannot be started; then
 * none runs.
 */
int wf_team_start(struct wf_team *team, unsigned n, wf_team_fn *fn, void *arg) WF_MUST_USE;

/* Does tasks 0..n_tasks-1 with all threads and returns when all are done. */
void wf_team_round(struct wf_team *team, unsigned n_tasks);

/* Ends the threads. */
void wf_team_stop(struct wf_team *team);

#endif
