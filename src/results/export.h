/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - results files in the formats of other tools.
 */
#ifndef WF_RESULTS_EXPORT_H
#define WF_RESULTS_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct wf_export;

struct wf_export_ops {
	const char *name; /* "csv" */
	const char *help; /* one line */
	bool folder;      /* a file for each table, in a folder */
	bool one_run;     /* of one run only */
	/*
	 * Writes to file, or, for a folder, to files below path. Returns 0, or -EIO with err
	 * filled.
	 */
	int (*write)(struct wf_export *ex, const char *path, FILE *file, struct wf_err *err);
};

/* The table of formats; ends with NULL. */
const struct wf_export_ops *const *wf_export_all(void);

/* The format called name, or NULL. */
const struct wf_export_ops *wf_export_find(const char *name);

/*
 * Opens a results file for reading; run is the one to export, 0 for all. On success *ex_p is owned
 * by the caller. Returns 0, -ENOMEM, or -EINVAL with err filled (no such file or run, or not
 * weft's).
 */
int wf_export_open(const char *path, int64_t run, struct wf_export **ex_p,
                   struct wf_err *err) WF_MUST_USE;

/* Between which times counters are told of; 0: from the beginning, to the end. */
void wf_export_between(struct wf_export *ex, wf_time from, wf_time until);

/*
 * Writes in a format to out: a file, or a folder that is made if it is not there; NULL is standard
 * output. A file appears whole or not at all. Returns 0, -EINVAL with err filled (out does not go
 * with the format, or it takes one run and there are several), or -EIO with err filled.
 */
int wf_export_write(struct wf_export *ex, const struct wf_export_ops *ops, const char *out,
                    struct wf_err *err) WF_MUST_USE;

/* Closes the file. NULL is allowed. */
void wf_export_close(struct wf_export *ex);

#endif
