/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets.h - changes of parameters from the command line: --set PARAMETER=VALUE, --seed N.
 */
#ifndef WF_CLI_SETS_H
#define WF_CLI_SETS_H

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
 * subcommand's name, for what is said if it cannot be. Returns 0 or WF_EXIT_USAGE.
 */
int wf_cli_sets_add(struct wf_cli_sets *sets, const char *cmd, const char *option, const char *arg,
                    const char *name, const char *value);

/* The same for "PARAMETER=VALUE" behind --set. */
int wf_cli_sets_parse(struct wf_cli_sets *sets, const char *cmd, const char *arg);

/* Reads a number of threads, 1 to 64. Returns 0 or WF_EXIT_USAGE. */
int wf_cli_threads(const char *cmd, const char *arg, uint32_t *threads);

#endif
