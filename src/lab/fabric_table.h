/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric_table.h - everything a fabric's profile can set: the fabric and its congestion control.
 */
#ifndef WF_LAB_FABRIC_TABLE_H
#define WF_LAB_FABRIC_TABLE_H

#include "fabric/config.h"
#include "sim/cc_choice.h"

struct wf_fabric_values {
	struct wf_fabric_cfg cfg;
	struct wf_cc_choice cc;
};

/*
 * The rows for a struct wf_fabric_values, in the arena's memory: those of the fabric, then those of
 * congestion control. Returns 0 or -ENOMEM.
 */
int wf_fabric_table(struct wf_arena *arena, const struct wf_param **rows_p,
                    size_t *n_p) WF_MUST_USE;

#endif
