/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self.h - which files this code runs from. POSIX has no way to say it, systems have theirs.
 */
#ifndef WF_SCENARIO_SELF_H
#define WF_SCENARIO_SELF_H

#include "base/err.h"
#include "text/file.h"

/* The program's file. Returns 0, or -ENOENT where the system does not say. */
int wf_self_program(char out[WF_PATH_MAX]) WF_MUST_USE;

/*
 * The file that has this code: a shared library, or the program. Returns 0, or -ENOENT where the
 * system does not say.
 */
int wf_self_object(char out[WF_PATH_MAX]) WF_MUST_USE;

#endif
