/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - a scenario from text, for tests in which it must be right.
 */
#ifndef WF_TESTS_LOAD_H
#define WF_TESTS_LOAD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/scenario.h"

/* Reads and builds text, as if it were in the file called name; opts names the paths. */
static inline void load_scenario(struct wf_scenario *s, const char *text, const char *name,
                                 const struct wf_scenario_opts *opts)
{
	struct wf_err err = { "" };

	if (wf_scenario_parse(s, text, strlen(text), name, opts, &err) != 0 ||
	    wf_scenario_build(s, &err) != 0)
		fail_msg("%s", err.text);
}

#endif
