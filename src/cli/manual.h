/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual.h - the page of a command: one source, as plain text (--help) and as a manual page.
 *
 * A text is a string of lines, and each line is a paragraph that is filled, however long it is:
 *
 *	Words of a paragraph.
 *	- an item of a list
 *	:WORD<tab>what the word stands for
 *	  two blanks: as it is, like a command to type
 *
 * Between `backquotes` is what is typed as it is. Options (--name, -n) and the names of operands
 * and arguments (FILE) need no mark. A page has all of its command: synopsis, text, options,
 * sections, other pages.
 */
#ifndef WF_CLI_MANUAL_H
#define WF_CLI_MANUAL_H

#include <stdio.h>

#include "cli/cli.h"

/* cmd NULL: the program's own page, with all commands. */
void wf_manual_text(const struct wf_cmd *cmd, FILE *file);
void wf_manual_roff(const struct wf_cmd *cmd, FILE *file);

#endif
