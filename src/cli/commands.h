/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - the table of commands: the only place that names them all.
 *
 * The row X(name) is the command that wf_cmd_name describes, in a file of its own; declaration and
 * list are made from it (cli.h, commands.c), and from those help, manual and completion. The rows
 * of a block are in the order in which the overview has them.
 */
#ifndef WF_CLI_COMMANDS_H
#define WF_CLI_COMMANDS_H

/* Simulations and what comes of them. */
#define WF_CLI_STUDY_COMMANDS(X)                                                                   \
	X(run)                                                                                     \
	X(compare)                                                                                 \
	X(sweep)                                                                                   \
	X(perf)                                                                                    \
	X(report)                                                                                  \
	X(export)                                                                                  \
	X(ib)                                                                                      \
	X(audit)                                                                                   \
	X(diagnose)                                                                                \
	X(list)                                                                                    \
	X(show)

/* Live fabrics: src/cli/live, where src/live is built. */
#define WF_CLI_LIVE_COMMANDS(X)                                                                    \
	X(up)                                                                                      \
	X(exec)                                                                                    \
	X(status)                                                                                  \
	X(capture)                                                                                 \
	X(fault)                                                                                   \
	X(down)

/* The program itself. */
#define WF_CLI_OWN_COMMANDS(X)                                                                     \
	X(help)                                                                                    \
	X(completion)

#ifdef WEFT_LIVE
#define WF_CLI_COMMANDS(X)                                                                         \
	WF_CLI_STUDY_COMMANDS(X)                                                                   \
	WF_CLI_LIVE_COMMANDS(X)                                                                    \
	WF_CLI_OWN_COMMANDS(X)
#else
#define WF_CLI_COMMANDS(X)                                                                         \
	WF_CLI_STUDY_COMMANDS(X)                                                                   \
	WF_CLI_OWN_COMMANDS(X)
#endif

#endif
