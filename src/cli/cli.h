/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h - the subcommands of weft and what they share.
 *
 * A subcommand is one file with one struct wf_cmd, listed in main.c. Exit status: 0 it worked, 1 it
 * could not be done (no memory, no space on the disk), 2 what was asked is wrong.
 */
#ifndef WF_CLI_CLI_H
#define WF_CLI_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

enum wf_exit { WF_EXIT_OK = 0, WF_EXIT_FAILED = 1, WF_EXIT_USAGE = 2, WF_EXIT_INTERRUPTED = 130 };

struct wf_cmd {
	const char *name;
	const char *summary; /* one line for weft --help */
	const char *help;    /* all of weft help NAME */
	/* argv[0] is the subcommand's name. Returns the exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct wf_cmd wf_cmd_run;
extern const struct wf_cmd wf_cmd_compare;
extern const struct wf_cmd wf_cmd_sweep;
extern const struct wf_cmd wf_cmd_perf;
extern const struct wf_cmd wf_cmd_report;
extern const struct wf_cmd wf_cmd_list;
extern const struct wf_cmd wf_cmd_show;
extern const struct wf_cmd wf_cmd_export;
extern const struct wf_cmd wf_cmd_up;
extern const struct wf_cmd wf_cmd_exec;
extern const struct wf_cmd wf_cmd_status;
extern const struct wf_cmd wf_cmd_capture;
extern const struct wf_cmd wf_cmd_fault;
extern const struct wf_cmd wf_cmd_down;
extern const struct wf_cmd wf_cmd_help;

/* The table of all subcommands that there are in this build; ends with NULL. */
const struct wf_cmd *const *wf_cmd_all(void);

/* Whether other builds have a subcommand of that name: those of live fabrics need Linux. */
bool wf_cmd_is_left_out(const char *name);

/*
 * The next option of argv, as getopt_long() gives it; options ends with a zero row. Says what is
 * wrong with one that is not known and returns '?'; -1 at the end. --help must be among them as
 * 'h'.
 */
int wf_cli_option(int argc, char **argv, const char *short_options, const struct option *options);

/* Says "weft NAME: ..." on standard error, and how to get help. Always returns WF_EXIT_USAGE. */
int wf_cli_usage(const char *name, const char *fmt, ...) WF_PRINTF(2, 3);

/*
 * Says what failed: err's text, or what the error number rc means. Returns the exit status that
 * goes with rc.
 */
int wf_cli_fail(int rc, const struct wf_err *err);

/* Makes sure that standard output was written. Returns the exit status. */
int wf_cli_finish(void);

/* Prints a subcommand's help. Returns the exit status. */
int wf_cli_help(const struct wf_cmd *cmd);

#endif
