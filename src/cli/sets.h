/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets.h - changes of parameters from the command line: --set PARAMETER=VALUE, --seed N.
 */
#ifndef WF_CLI_SETS_H
#define WF_CLI_SETS_H

#include "cli/option.h"
#include "scenario/scenario.h"

#define WF_CLI_MAX_SETS 64
#define WF_CLI_SET_NAME 128 /* of a parameter */

struct wf_cli_sets {
	struct wf_override set[WF_CLI_MAX_SETS];
	size_t n;
	struct {
		char where[512];
		char name[WF_CLI_SET_NAME];
	} text[WF_CLI_MAX_SETS]; /* what they point into */
};

/*
 * Adds a change, as arg was written behind option; arg and value are borrowed. cmd is the
 * command's name, for what is said if it cannot be. Returns 0 or WF_EXIT_USAGE.
 */
int wf_cli_sets_add(struct wf_cli_sets *sets, const char *cmd, const char *option, const char *arg,
                    const char *name, const char *value);

/* The same for "PARAMETER=VALUE" behind --set. */
int wf_cli_sets_parse(struct wf_cli_sets *sets, const char *cmd, const char *arg);

/* The same for an option's row, which keeps a struct wf_cli_sets. */
int wf_cli_take_set(const struct wf_opt_call *call);

#endif
