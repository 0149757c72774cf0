/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete.h - what may come next on a command line, by the tables of options.
 */
#ifndef WF_CLI_COMPLETE_H
#define WF_CLI_COMPLETE_H

#include <stdio.h>

/*
 * Prints what the last of the n words may become; it may be empty, and word[0] is "weft". A line
 * for each candidate, which stands for the whole word: CANDIDATE<tab>what it means. Where files can
 * stand there a line ":files PREFIX<tab>PATTERN" says so, the word without PREFIX being the path;
 * ":folders PREFIX" is for folders, and ":program N" says that a command line of another program
 * begins at the word N.
 */
void wf_complete(int n, char **word, FILE *file);

#endif
