/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - opening a results file to read, and the format of tables: CSV.
 */
#include "results/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "text/csv.h"
#include "results/export_priv.h"
#include "text/file.h"
#include "text/human.h"
#include "results/record_priv.h"

#define BUSY_MS 10000

static const struct wf_export_ops *const all[] = {
	&wf_export_csv,        &wf_export_perfetto, &wf_export_nccl_tests,
	&wf_export_prometheus, &wf_export_counters, NULL,
};

const struct wf_export_ops *const *wf_export_all(void)
{
	return all;
}

const struct wf_export_ops *wf_export_find(const char *name)
{
	for (size_t i = 0; all[i] != NULL; i++) {
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	}
	return NULL;
}

/* The number that a query with one parameter yields; -1 when it yields none. */
static int64_t ask(struct wf_export *ex, const char *sql, int64_t arg, int *rc_p)
{
	sqlite3_stmt *stmt = NULL;
	int64_t v = -1;
	int rc;

	*rc_p = sqlite3_prepare_v2(ex->db, sql, -1, &stmt, NULL);
	if (*rc_p != SQLITE_OK)
		return -1;
	if (sqlite3_bind_parameter_count(stmt) > 0)
		*rc_p = sqlite3_bind_int64(stmt, 1, arg);
	if (*rc_p == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
		v = sqlite3_column_int64(stmt, 0);
	rc = sqlite3_finalize(stmt);
	*rc_p = *rc_p == SQLITE_OK ? rc : *rc_p;
	return v;
}

static int check(struct wf_export *ex, int rc, struct wf_err *err)
{
	int64_t id = -1, version = -1, runs = 0, last = 0;

	if (rc == SQLITE_OK)
		id = ask(ex, "PRAGMA application_id", 0, &rc);
	if (rc == SQLITE_NOMEM)
		return -ENOMEM;
	if (rc == SQLITE_CANTOPEN)
		return wf_err_say(err, "%s: there is no such file", ex->path);
	if (rc == SQLITE_NOTADB || (rc == SQLITE_OK && id != WF_RECORD_APPLICATION))
		return wf_err_say(err, "%s: this is not a results file of weft", ex->path);
	if (rc == SQLITE_OK)
		version = ask(ex, "PRAGMA user_version", 0, &rc);
	if (rc == SQLITE_OK && wf_record_version_check(ex->path, version, err) != 0)
		return -EINVAL;
	if (rc == SQLITE_OK)
		rc = wf_record_view(ex->db, version);
	if (rc == SQLITE_OK && ex->run != 0)
		runs = ask(ex, "SELECT count(*) FROM run WHERE id = ?", ex->run, &rc);
	if (rc == SQLITE_OK && ex->run != 0 && runs == 0)
		last = ask(ex, "SELECT max(id) FROM run", 0, &rc);
	if (rc == SQLITE_NOMEM)
		return -ENOMEM;
	if (rc != SQLITE_OK)
		return wf_err_say(err, "%s: %s", ex->path, wf_record_why(ex->db));
	if (ex->run != 0 && runs == 0)
		return wf_err_say(err, "%s: there is no run %lld; the runs are 1 to %lld", ex->path,
		                  (long long)ex->run, (long long)last);
	return 0;
}

int wf_export_open(const char *path, int64_t run, struct wf_export **ex_p, struct wf_err *err)
{
	struct wf_export *ex = calloc(1, sizeof(*ex) + strlen(path) + 1);
	int rc;

	if (ex == NULL)
		return -ENOMEM;
	memcpy(ex->path, path, strlen(path) + 1);
	ex->run = run;
	rc = check(ex, wf_record_open_to_read(path, BUSY_MS, &ex->db), err);
	if (rc != 0) {
		wf_export_close(ex);
		return rc;
	}
	*ex_p = ex;
	return 0;
}

void wf_export_between(struct wf_export *ex, wf_time from, wf_time until)
{
	ex->from = from;
	ex->until = until;
}

void wf_export_close(struct wf_export *ex)
{
	if (ex == NULL)
		return;
	sqlite3_close(ex->db);
	free(ex);
}

int wf_export_each(struct wf_export *ex, const char *sql, wf_export_row_fn *fn, void *arg,
                   struct wf_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(ex->db, sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK && ex->run != 0 && sqlite3_bind_parameter_count(stmt) > 0)
		sqlite3_bind_int64(stmt, 1, ex->run);
	while (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
		fn(arg, stmt);
	if (rc == SQLITE_OK)
		rc = sqlite3_finalize(stmt);
	if (rc == SQLITE_OK)
		return 0;
	if (rc == SQLITE_NOMEM)
		return -ENOMEM;
	(void)wf_err_say(err, "%s: %s", ex->path, sqlite3_errmsg(ex->db));
	return rc == SQLITE_CORRUPT ? -EINVAL : -EIO;
}

const char *wf_export_text(sqlite3_stmt *row, int column)
{
	const unsigned char *text = sqlite3_column_text(row, column);

	return text == NULL ? "" : (const char *)text;
}

int wf_export_write(struct wf_export *ex, const struct wf_export_ops *ops, const char *out,
                    struct wf_err *err)
{
	struct wf_out file;
	int rc;

	if (ops->one_run && ex->run == 0) {
		int64_t runs = ask(ex, "SELECT count(*) FROM run", 0, &rc);

		if (runs > 1)
			return wf_err_say(
				err, "%s: it has %lld runs, and %s takes one; say which with --run",
				ex->path, (long long)runs, ops->name);
	}
	if (ops->folder && out == NULL)
		return wf_err_say(err,
		                  "%s is a file for each table; say with --out in which folder",
		                  ops->name);
	if (ops->folder)
		return ops->write(ex, out, NULL, err);
	rc = wf_out_open(&file, out, err);
	if (rc != 0)
		return rc;
	rc = ops->write(ex, out, file.file, err);
	if (rc == 0)
		rc = wf_out_commit(&file, err);
	wf_out_abort(&file);
	return rc;
}

/* ---- CSV ---- */

struct csv {
	FILE *file;
	bool begun;
};

/* The names of the columns; before the first row. */
static void csv_head(struct csv *csv, sqlite3_stmt *row)
{
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		if (i > 0)
			fputc(',', csv->file);
		wf_csv_cell(csv->file, sqlite3_column_name(row, i));
	}
	fputc('\n', csv->file);
	csv->begun = true;
}

static void csv_row(void *arg, sqlite3_stmt *row)
{
	struct csv *csv = arg;
	char number[WF_HUMAN_REAL];

	if (!csv->begun)
		csv_head(csv, row);
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		if (i > 0)
			fputc(',', csv->file);
		if (sqlite3_column_type(row, i) == SQLITE_FLOAT) {
			wf_human_real(sqlite3_column_double(row, i), number);
			fputs(number, csv->file);
		} else {
			wf_csv_cell(csv->file, wf_export_text(row, i));
		}
	}
	fputc('\n', csv->file);
}

/* A table without rows has a head, too. */
static int csv_empty(struct wf_export *ex, const char *sql, struct csv *csv)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(ex->db, sql, -1, &stmt, NULL) == SQLITE_OK)
		csv_head(csv, stmt);
	return sqlite3_finalize(stmt) == SQLITE_OK ? 0 : -EIO;
}

static int csv_table(struct wf_export *ex, const char *folder, const char *table, const char *where,
                     struct wf_err *err)
{
	char path[WF_PATH_MAX], sql[160];
	struct csv csv = { NULL, false };
	struct wf_out out;
	int rc;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s.csv", folder, table) >= sizeof(path)) {
		return wf_err_say(err, "%s: the name is too long", folder);
	}
	snprintf(sql, sizeof(sql), "SELECT * FROM %s WHERE ?1 IS NULL OR %s", table, where);
	rc = wf_out_open(&out, path, err);
	if (rc != 0)
		return rc;
	csv.file = out.file;
	rc = wf_export_each(ex, sql, csv_row, &csv, err);
	if (rc == 0 && !csv.begun)
		rc = csv_empty(ex, sql, &csv);
	if (rc == 0)
		rc = wf_out_commit(&out, err);
	wf_out_abort(&out);
	return rc;
}

static int csv_write(struct wf_export *ex, const char *folder, FILE *file, struct wf_err *err)
{
	static const struct {
		const char *name, *where;
	} table[] = {
		{ "study", "id = (SELECT study FROM run WHERE id = ?1)" },
		{ "run", "id = ?1" },
		{ "input", "run = ?1" },
		{ "parameter", "run = ?1" },
		{ "value", "run = ?1" },
		{ "node", "run = ?1" },
		{ "link", "run = ?1" },
		{ "counter", "1" },
		{ "sample", "run = ?1" },
		{ "tick", "run = ?1" },
		{ "event", "run = ?1" },
		{ "event_count", "run = ?1" },
		{ "flow", "run = ?1" },
		{ "flow_sample", "run = ?1" },
		{ "rank", "run = ?1" },
		{ "message", "run = ?1" },
		{ "collective", "run = ?1" },
		{ "collective_rank", "run = ?1" },
		{ "span", "run = ?1" },
		{ "bandwidth", "run = ?1" },
		{ "latency", "run = ?1" },
		{ "note",
		  "run = ?1 OR (run IS NULL AND study = (SELECT study FROM run WHERE id = ?1))" },
	};

	(void)file;
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return wf_file_refused(folder, errno, err);
	for (size_t i = 0; i < WF_ARRAY_SIZE(table); i++) {
		int rc = csv_table(ex, folder, table[i].name, table[i].where, err);

		if (rc != 0)
			return rc;
	}
	return 0;
}

const struct wf_export_ops wf_export_csv = {
	.name = "csv",
	.help = "every table as a file of comma-separated values, in a folder",
	.folder = true,
	.write = csv_write,
};
