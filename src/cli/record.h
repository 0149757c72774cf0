/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - the options --record, --sample and --events, for every command that simulates.
 */
#ifndef WF_CLI_RECORD_H
#define WF_CLI_RECORD_H

#include "run/record_run.h"
#include "study/stale.h"

struct wf_cli_record {
	const char *path; /* --record; NULL: nothing is recorded */
	const char *sample_text, *events_text;
	struct wf_record_opts opts; /* of a run; complete after wf_cli_record_open() */
};

/* Checks what the options say, for the command cmd. Returns 0 or WF_EXIT_USAGE. */
int wf_cli_record_check(struct wf_cli_record *rec, const char *cmd);

/*
 * Opens the file, if there is one, and begins a study of this kind and name. Returns 0, -ENOMEM, or
 * -EINVAL with err filled.
 */
int wf_cli_record_open(struct wf_cli_record *rec, const char *kind, const char *name,
                       struct wf_err *err) WF_MUST_USE;

/* Closes it. Returns 0, or -EIO with err filled. */
int wf_cli_record_close(struct wf_cli_record *rec, struct wf_err *err) WF_MUST_USE;

/* Says which of its runs a command does anew, and why. */
void wf_cli_record_stale(const struct wf_cli_record *rec, const char *cmd,
                         const struct wf_stale *stale);

#endif
