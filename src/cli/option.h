/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option.h - the options of commands, each a row of a table.
 *
 * A struct wf_opt is what an option is: its names, its argument, its meaning. There is one for each
 * name in the whole program (common.h has those of several commands), so that an option means the
 * same wherever it is. A struct wf_opt_row is its place in one command's table: what it sets there,
 * and what is to be said of it there alone.
 */
#ifndef WF_CLI_OPTION_H
#define WF_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/param.h"

struct wf_cmd;
struct wf_opt_row;

/* Is told of a word that may stand somewhere, and what it means ("": nothing to say). */
typedef void wf_values_fn(void *arg, const char *word, const char *help);

/* What may stand for an argument or an operand: for completion. One of the three is there. */
struct wf_values {
	const char *const *words; /* all that may stand there; ends with NULL */
	const char *files;        /* files with this pattern for a name, "*.yaml"; "/": folders;
	                             "!": a program and its arguments */
	void (*each)(wf_values_fn *fn, void *arg); /* tells fn what there is at the time */
	bool list; /* several may stand there, with commas between */
};

struct wf_opt {
	const char *name; /* --name */
	char letter;      /* -l; 0: none */
	const char *arg;  /* what its argument is called: "FILE"; NULL: it takes none */
	const char *help; /* as manual.h has texts */
	const struct wf_values *values; /* of its argument; NULL: anything */
};

/* An option that was given. */
struct wf_opt_call {
	const char *cmd; /* the command's name */
	const struct wf_opt_row *row;
	const char *arg; /* as written; NULL: it takes none */
	void *request;   /* what the command keeps */
	void *field;     /* row->at bytes further on */
};

struct wf_opt_row {
	const struct wf_opt *is;
	/* Returns 0, or says what is wrong with the argument and returns WF_EXIT_USAGE. */
	int (*take)(const struct wf_opt_call *call);
	size_t at;                    /* where it is kept in the request */
	const struct wf_param *param; /* for wf_opt_take_param() */
	const char *more;             /* what its help adds in this command */
	/* Spellings of an older version, taken in this one, with a word about it; or NULL, 0. */
	const char *old;
	char old_letter;
	bool required; /* the command does nothing without it */
	bool many;     /* may be given several times */
	bool gone;     /* of an older version: it is taken, does nothing, and is not told of */
};

/* What to do with an argument: keep the text (const char *), note that it is there (bool). */
int wf_opt_take_text(const struct wf_opt_call *call);
int wf_opt_take_flag(const struct wf_opt_call *call);

/* Reads it as row->param says, into a field of that kind. */
int wf_opt_take_param(const struct wf_opt_call *call);

/* --help, which every command has. */
extern const struct wf_opt wf_opt_help;

/*
 * Reads the options in argv into *request, which the rows know. Returns -1 to go on, with optind at
 * the first operand, or the exit status: of --help, which it has then printed, or WF_EXIT_USAGE
 * when something is wrong, of which it has then said what.
 */
int wf_opt_parse(const struct wf_cmd *cmd, int argc, char **argv, void *request);

#endif
