/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric_table.h - everything a fabric's profile can set: the fabric, its congestion control, and
 * how it is used.
 */
#ifndef WF_SCENARIO_FABRIC_TABLE_H
#define WF_SCENARIO_FABRIC_TABLE_H

#include "fabric/config.h"
#include "sim/mgmt/config.h"
#include "sim/prog/cc_choice.h"

/* How operators have it, and what jobs do with it. */
struct wf_fabric_use {
	char state[32];       /* words: best, default, neglected (scenario/words.h); "" */
	char convergence[16]; /* a name of wf_convergences */
	uint32_t job_qps;     /* queue pairs of a connection, where the job does not say */
};

/* How long switches take to find new routes, where nobody manages them, by what they go by. */
struct wf_convergence {
	const char *name;
	wf_time time; /* 0: run.reconverge */
};

extern const struct wf_convergence wf_convergences[]; /* ends with a name that is NULL */

struct wf_fabric_values {
	struct wf_fabric_cfg cfg;
	struct wf_cc_choice cc;
	struct wf_fabric_use use;
	struct wf_manage_cfg manage;
};

/* The time from a link's change to new routes, of a fabric in a run with that run.reconverge. */
wf_time wf_fabric_convergence(const struct wf_fabric_values *values, wf_time reconverge);

/*
 * The rows for a struct wf_fabric_values, in the arena's memory: those of the fabric, those of
 * congestion control, those of its use, those of its hosts' drives, and those of its management.
 * Returns 0 or -ENOMEM.
 */
int wf_fabric_table(struct wf_arena *arena, const struct wf_param **rows_p,
                    size_t *n_p) WF_MUST_USE;

#endif
