/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_priv.h - what the files of the page share: the results file and its rows.
 */
#ifndef WF_RESULTS_PAGE_PRIV_H
#define WF_RESULTS_PAGE_PRIV_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/mem.h"
#include "text/json.h"
#include "results/page.h"

struct wf_page {
	const char *file;
	struct wf_err *err;
	sqlite3 *db;
	int rc; /* the first thing that went wrong; from then on queries have no rows */
	int64_t study;
	struct wf_json json;
	FILE *samples;    /* little-endian 16-bit integers */
	size_t n_samples; /* so many */
};

/*
 * Opens the results file for reading and finds the study. Returns 0, -EINVAL or -EIO with err
 * filled, or -ENOMEM; wf_page_close() either way.
 */
int wf_page_open(struct wf_page *page, const struct wf_page_request *request,
                 struct wf_err *err) WF_MUST_USE;
void wf_page_close(struct wf_page *page);

/* The rows of sql, whose ?1 and ?2 are a and b; to be walked to their end with wf_page_row(). */
sqlite3_stmt *wf_page_query(struct wf_page *page, const char *sql, int64_t a, int64_t b);

/* Whether there is another row. When there is none the statement is gone. */
bool wf_page_row(struct wf_page *page, sqlite3_stmt *stmt);

/* The first column of the last row; 0 when there is none. */
int64_t wf_page_number(struct wf_page *page, const char *sql, int64_t a, int64_t b);

/* A column as JSON: a number, a text, or null. */
void wf_page_put(struct wf_page *page, sqlite3_stmt *stmt, int column);

/* The samples of all runs: writes the key "series" and to page->samples. */
void wf_page_put_series(struct wf_page *page);

#endif
