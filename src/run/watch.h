/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - who wants to know how several simulations at once are getting on.
 */
#ifndef WF_RUN_WATCH_H
#define WF_RUN_WATCH_H

#include <stdbool.h>

#include "base/base.h"

/* Every function is set; they are called from several threads. */
struct wf_watch {
	void *arg;
	/* There are n tasks. */
	void (*tasks)(void *arg, size_t n);
	/* A task begins, called label. */
	void (*begin)(void *arg, size_t task, const char *label);
	/*
	 * It has come to virtual time now and so many packet-hops, and has done share of its work,
	 * of WF_SIM_ALL. False: stop everything.
	 */
	bool (*step)(void *arg, size_t task, wf_time now, uint64_t hops, uint32_t share);
	/* It is over. */
	void (*end)(void *arg, size_t task);
};

/* One task of it, as the argument of wf_watch_step(). */
struct wf_watch_task {
	const struct wf_watch *watch;
	size_t task;
};

/* A wf_sim_progress_fn. */
static inline bool wf_watch_step(void *arg, wf_time now, uint64_t hops, uint32_t share)
{
	const struct wf_watch_task *t = arg;

	return t->watch->step(t->watch->arg, t->task, now, hops, share);
}

#endif
