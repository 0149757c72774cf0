/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_names.h - the names that values of a run can have in a results file.
 */
#ifndef WF_RUN_RECORD_NAMES_H
#define WF_RUN_RECORD_NAMES_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Whether runs have values of that name: 0, or -EINVAL with err filled, and what may have been
 * meant.
 */
int wf_record_name_check(const char *name, struct wf_err *err) WF_MUST_USE;

#endif
