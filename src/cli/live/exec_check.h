/* SPDX-License-Identifier: Apache-2.0 */
/* exec_check.h - whether weft's library gets into a program that is about to be run. */
#ifndef WF_CLI_LIVE_EXEC_CHECK_H
#define WF_CLI_LIVE_EXEC_CHECK_H

/*
 * Why the program, which is looked for as execvp() does, will not see the fabric: it loads no
 * libraries, or none of those that it is told to. NULL: nothing speaks against it, or it cannot be
 * read.
 */
const char *wf_exec_check(const char *program);

#endif
