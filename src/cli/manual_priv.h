/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual_priv.h - what the two ways to print a page share: what is on it.
 */
#ifndef WF_CLI_MANUAL_PRIV_H
#define WF_CLI_MANUAL_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/manual.h"

enum wf_manual_kind { WF_MANUAL_PLAIN, WF_MANUAL_ITEM, WF_MANUAL_TERM, WF_MANUAL_LITERAL };

/* A line of a text, which it borrows. */
struct wf_manual_line {
	enum wf_manual_kind kind;
	const char *term; /* of WF_MANUAL_TERM */
	int term_len;
	const char *text;
	int len;
};

/* Takes the next line from *at. Returns false at the end. */
bool wf_manual_next(const char **at, struct wf_manual_line *line);

/* The page of the whole program, whose list of commands is in the caller's memory text. */
#define WF_MANUAL_OVERVIEW 4096
void wf_manual_overview(struct wf_cmd *cmd, char text[WF_MANUAL_OVERVIEW]);

/*
 * Writes the n-th way to write the command, without "weft" before it. Returns false where there are
 * not so many.
 */
bool wf_manual_form(const struct wf_cmd *cmd, size_t n, char *text, size_t size);

/* Writes "-o, --out PATH", or where padded "    --seed N". */
void wf_manual_option(const struct wf_opt *opt, bool padded, char *text, size_t size);

/* Writes all that is said of an option. */
void wf_manual_option_help(const struct wf_opt_row *row, char *text, size_t size);

/*
 * The rows of cmd that are told of, then that of --help: the n-th, or NULL. Rows of an older
 * version are left out.
 */
const struct wf_opt_row *wf_manual_row(const struct wf_cmd *cmd, size_t n);

#endif
