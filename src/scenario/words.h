/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - the words of a scenario that a comparison goes by: what matters, and how operators have
 * a fabric.
 */
#ifndef WF_SCENARIO_WORDS_H
#define WF_SCENARIO_WORDS_H

#include "base/err.h"

/* What may matter, besides the job's time. */
enum wf_matter {
	WF_MATTER_LATENCY = 1,  /* small messages */
	WF_MATTER_COST = 2,     /* of switches and optics */
	WF_MATTER_ETHERNET = 4, /* an Ethernet network and its tools are there already */
	WF_MATTER_SHARED = 8,   /* other traffic shares the fabric */
	WF_MATTER_STAFF = 16,   /* nobody has the time to tune and watch it */
};

/*
 * Reads "latency, cost": words separated by commas or blanks. Returns 0 or -EINVAL with err filled.
 */
int wf_matters_parse(const char *text, unsigned *matters, struct wf_err *err) WF_MUST_USE;

/* How operators have a fabric; it may be in several states, or in none. */
enum wf_state { WF_STATE_BEST = 1, WF_STATE_DEFAULT = 2, WF_STATE_NEGLECTED = 4 };

/* Reads "best, default", or "none". Returns 0 or -EINVAL with err filled. */
int wf_states_parse(const char *text, unsigned *states, struct wf_err *err) WF_MUST_USE;

#endif
