/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h - the commands of weft and what they share.
 *
 * A command is one file with one struct wf_cmd and one row of commands.h. Everything that is said
 * of a command is in its struct: parsing (option.h), its page of help and of the manual (manual.h)
 * and completion (complete.h) are made from it.
 *
 * Exit status: 0 it worked, 1 it could not be done (no memory, no space on the disk), 2 what was
 * asked is wrong, 128 and the signal's number when it was interrupted.
 */
#ifndef WF_CLI_CLI_H
#define WF_CLI_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "cli/commands.h"
#include "cli/option.h"

enum wf_exit { WF_EXIT_OK = 0, WF_EXIT_FAILED = 1, WF_EXIT_USAGE = 2 };

/* A part of a page behind the options: text as manual.h has it. */
struct wf_cmd_section {
	const char *title; /* "Exit status" */
	const char *text;
};

struct wf_cmd {
	const char *name;
	const char *summary;  /* one line: "simulate a scenario and print what happened" */
	const char *operands; /* what follows the options: "SCENARIO.yaml"; NULL: nothing */
	/* What may stand there, for completion, the last for all that follow; ends with NULL. */
	const struct wf_values *const *values;
	/* Ends with a zero row; NULL: none but --help, which every command has anyway. */
	const struct wf_opt_row *options;
	bool stops; /* what follows the first operand is not weft's */
	/*
	 * Ways to write it, where the one that is made of operands and options does not do:
	 * "run --hpcc CONFIG --out DIR"; ends with NULL.
	 */
	const char *const *forms;
	const char *text;                      /* what it does, as manual.h has it */
	const struct wf_cmd_section *sections; /* ends with a zero row; NULL: none */
	const char *see; /* pages of the manual: "weft-run(1), weft-show(1)"; NULL: none */
	/* argv[0] is the command's name. Returns the exit status. */
	int (*run)(int argc, char **argv);
};

#define WF_CLI_DECLARE(name) extern const struct wf_cmd wf_cmd_##name;
WF_CLI_COMMANDS(WF_CLI_DECLARE)
#undef WF_CLI_DECLARE

/* The table of all commands that there are in this build; ends with NULL. */
const struct wf_cmd *const *wf_cmd_all(void);

/* The command called name, or NULL. */
const struct wf_cmd *wf_cmd_find(const char *name);

/*
 * Says that there is no command called name, and which was meant, or that other builds have it:
 * live fabrics need Linux. Returns WF_EXIT_USAGE, or in the latter case WF_EXIT_FAILED.
 */
int wf_cmd_unknown(const char *in, const char *name);

/* Says "weft NAME: ..." on standard error, and how to get help. Always returns WF_EXIT_USAGE. */
int wf_cli_usage(const char *name, const char *fmt, ...) WF_PRINTF(2, 3);

/*
 * Says what failed: err's text, or what the error number rc means. Returns the exit status that
 * goes with rc.
 */
int wf_cli_fail(int rc, const struct wf_err *err);

/* Makes sure that standard output was written. Returns the exit status. */
int wf_cli_finish(void);

#endif
