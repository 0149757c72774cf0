/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study.h - the options that all subcommands have which simulate a scenario.
 */
#ifndef WF_CLI_STUDY_H
#define WF_CLI_STUDY_H

#include <getopt.h>

#include "cli/record.h"
#include "cli/sets.h"

struct wf_cli_study {
	const char *cmd; /* the subcommand's name */
	const char *scenario;
	const char *fabrics;  /* --fabric; NULL: the scenario's */
	const char *out;      /* NULL: standard output */
	const char *profiles; /* NULL: none */
	const char *seed;     /* as written; NULL: the scenario's */
	uint32_t threads;
	bool json, quiet, help;
	struct wf_cli_sets sets;
	struct wf_cli_record record;
};

enum {
	WF_CLI_SEED = 1000,
	WF_CLI_RECORD,
	WF_CLI_SAMPLE,
	WF_CLI_EVENTS,
	WF_CLI_PROFILES,
};

/* Rows of a table of options, and the short ones. */
#define WF_CLI_STUDY_OPTIONS                                                                       \
	{ "fabric", required_argument, NULL, 'f' }, { "set", required_argument, NULL, 's' },       \
		{ "seed", required_argument, NULL, WF_CLI_SEED },                                  \
		{ "threads", required_argument, NULL, 't' }, { "json", no_argument, NULL, 'j' },   \
		{ "out", required_argument, NULL, 'o' },                                           \
		{ "record", required_argument, NULL, WF_CLI_RECORD },                              \
		{ "sample", required_argument, NULL, WF_CLI_SAMPLE },                              \
		{ "events", required_argument, NULL, WF_CLI_EVENTS },                              \
		{ "profiles", required_argument, NULL, WF_CLI_PROFILES },                          \
		{ "quiet", no_argument, NULL, 'q' },                                               \
	{                                                                                          \
		"help", no_argument, NULL, 'h'                                                     \
	}
#define WF_CLI_STUDY_SHORT "f:s:t:jo:qh"

/* Takes an option that is in the table, with its argument in optarg. Returns 0 or WF_EXIT_USAGE. */
int wf_cli_study_option(struct wf_cli_study *study, int c);

/*
 * Takes the one scenario that argv must name behind its options; example is one to name if it does
 * not. Checks the options against each other. Returns 0 or WF_EXIT_USAGE.
 */
int wf_cli_study_operand(struct wf_cli_study *study, int argc, char **argv, const char *example);

#endif
