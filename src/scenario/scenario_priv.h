/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_priv.h - what the files of the scenario share.
 */
#ifndef WF_SCENARIO_SCENARIO_PRIV_H
#define WF_SCENARIO_SCENARIO_PRIV_H

#include "scenario/scenario.h"

/*
 * Reads the files that the values of a scenario name, but profiles and what a job names: its
 * topology, distributions of sizes, the parts of its networks. Returns 0, -ENOMEM, or -EINVAL with
 * err filled.
 */
int wf_scenario_load(struct wf_scenario *s, const struct wf_paths *paths,
                     struct wf_err *err) WF_MUST_USE;

#endif
