/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_db.c - the results file under a page: opening it, and queries whose errors wait until the
 * end.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "results/page_priv.h"
#include "results/record_priv.h"

#define BUSY_MS 5000 /* how long to wait for somebody who writes */

static void failed(struct wf_page *page)
{
	int code = sqlite3_errcode(page->db);

	if (page->rc != 0)
		return;
	if (code == SQLITE_NOMEM) {
		page->rc = -ENOMEM;
	} else if (code == SQLITE_NOTADB) {
		page->rc = wf_err_at(page->err, page->file, 0, 0,
		                     "it is not a results file; weft run --record FILE writes one");
	} else {
		wf_err_at(page->err, page->file, 0, 0, "cannot read it: %s",
		          wf_record_why(page->db));
		page->rc = code == SQLITE_CORRUPT ? -EINVAL : -EIO;
	}
}

sqlite3_stmt *wf_page_query(struct wf_page *page, const char *sql, int64_t a, int64_t b)
{
	sqlite3_stmt *stmt = NULL;
	int wanted;

	if (page->rc != 0)
		return NULL;
	if (sqlite3_prepare_v2(page->db, sql, -1, &stmt, NULL) != SQLITE_OK) {
		failed(page);
		return NULL;
	}
	wanted = sqlite3_bind_parameter_count(stmt);
	if (wanted > 0)
		sqlite3_bind_int64(stmt, 1, a);
	if (wanted > 1)
		sqlite3_bind_int64(stmt, 2, b);
	return stmt;
}

bool wf_page_row(struct wf_page *page, sqlite3_stmt *stmt)
{
	int code = SQLITE_DONE;

	if (stmt != NULL && page->rc == 0) {
		code = sqlite3_step(stmt);
		if (code == SQLITE_ROW)
			return true;
	}
	if (code != SQLITE_DONE)
		failed(page);
	sqlite3_finalize(stmt);
	return false;
}

int64_t wf_page_number(struct wf_page *page, const char *sql, int64_t a, int64_t b)
{
	sqlite3_stmt *stmt = wf_page_query(page, sql, a, b);
	int64_t v = 0;

	while (wf_page_row(page, stmt))
		v = sqlite3_column_int64(stmt, 0);
	return v;
}

void wf_page_put(struct wf_page *page, sqlite3_stmt *stmt, int column)
{
	int type = sqlite3_column_type(stmt, column);
	const char *text;

	if (type == SQLITE_INTEGER && sqlite3_column_int64(stmt, column) >= 0) {
		wf_json_u64(&page->json, NULL, (uint64_t)sqlite3_column_int64(stmt, column));
	} else if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
		wf_json_real(&page->json, NULL, sqlite3_column_double(stmt, column));
	} else if (type == SQLITE_NULL) {
		wf_json_null(&page->json, NULL);
	} else {
		text = (const char *)sqlite3_column_text(stmt, column);
		wf_json_text(&page->json, NULL, text != NULL ? text : "");
	}
}

/* Whether what was opened is a file that the recorder made, of a version that we know. */
static void check_schema(struct wf_page *page)
{
	int64_t application = wf_page_number(page, "PRAGMA application_id", 0, 0);
	int64_t version = wf_page_number(page, "PRAGMA user_version", 0, 0);

	if (page->rc != 0)
		return;
	if (application != WF_RECORD_APPLICATION)
		page->rc = wf_err_at(page->err, page->file, 0, 0,
		                     "it is not a results file; weft run --record FILE writes one");
	else
		page->rc = wf_record_version_check(page->file, version, page->err);
	if (page->rc == 0 && wf_record_view(page->db, version) != SQLITE_OK)
		failed(page);
}

/* The study that is wanted, or else the one that was last written to. */
static void find_study(struct wf_page *page, int64_t wanted)
{
	static const char last[] = "SELECT id FROM study WHERE ?1 IN (0, id) AND id IN "
				   "(SELECT study FROM run) ORDER BY last_unix, id";

	page->study = wf_page_number(page, last, wanted, 0);
	if (page->rc != 0 || page->study != 0)
		return;
	if (wanted != 0 && wf_page_number(page, last, 0, 0) != 0)
		page->rc = wf_err_at(
			page->err, page->file, 0, 0, "it has no study %lld; its last is %lld",
			(long long)wanted,
			(long long)wf_page_number(page, "SELECT max(id) FROM study", 0, 0));
	else
		page->rc = wf_err_at(page->err, page->file, 0, 0,
		                     "there is no run in it, so there is nothing to report");
}

int wf_page_open(struct wf_page *page, const struct wf_page_request *request, struct wf_err *err)
{
	memset(page, 0, sizeof(*page));
	page->file = request->file;
	page->err = err;
	/* SQLite would say the same of all of these: unable to open. */
	if (access(request->file, R_OK) != 0)
		page->rc =
			wf_err_at(err, request->file, 0, 0, "cannot open it: %s", strerror(errno));
	else if (wf_record_open_to_read(request->file, BUSY_MS, &page->db) != SQLITE_OK)
		failed(page);
	check_schema(page);
	/* One moment of the file, though somebody may be writing it. */
	wf_page_number(page, "BEGIN", 0, 0);
	find_study(page, request->study);
	return page->rc;
}

void wf_page_close(struct wf_page *page)
{
	sqlite3_close(page->db);
}
