/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_priv.h - reading rows of a results file, for the formats.
 */
#ifndef WF_RESULTS_EXPORT_PRIV_H
#define WF_RESULTS_EXPORT_PRIV_H

#include <sqlite3.h>

#include "results/export.h"

struct wf_export {
	sqlite3 *db;
	int64_t run;         /* 0: all */
	wf_time from, until; /* of counters: 0: the beginning, and the end */
	char path[];
};

/* Told of a row. */
typedef void wf_export_row_fn(void *arg, sqlite3_stmt *row);

/*
 * Calls fn for every row of a query, in which ?1 is the run, or NULL for all of them. Returns 0, or
 * -EIO with err filled.
 */
int wf_export_each(struct wf_export *ex, const char *sql, wf_export_row_fn *fn, void *arg,
                   struct wf_err *err) WF_MUST_USE;

/* A column as text; "" where it is NULL. Valid until the next row. */
const char *wf_export_text(sqlite3_stmt *row, int column);

extern const struct wf_export_ops wf_export_counters;
extern const struct wf_export_ops wf_export_csv;
extern const struct wf_export_ops wf_export_perfetto;
extern const struct wf_export_ops wf_export_nccl_tests;
extern const struct wf_export_ops wf_export_prometheus;

#endif
