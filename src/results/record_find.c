/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_find.c - queries of a results file that is being written.
 */
#include "results/record_find.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "results/build_id.h"
#include "results/record_priv.h"

#ifndef WEFT_VERSION
#define WEFT_VERSION "0"
#endif

/* A query; its first parameter is a number, if it has any. NULL: it cannot be. The lock is held. */
static sqlite3_stmt *query(struct wf_record *record, const char *sql, int64_t first)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(record->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return NULL;
	if (sqlite3_bind_parameter_count(stmt) > 0)
		sqlite3_bind_int64(stmt, 1, first);
	return stmt;
}

/* ---- studies ---- */

int64_t wf_record_study_find(struct wf_record *record)
{
	const struct wf_record_study *about = record->about;
	sqlite3_stmt *stmt =
		query(record,
	              "SELECT max(id) FROM study WHERE ?1 = 0 AND kind = ?2 AND scenario = ?3 "
	              "AND overrides = ?4",
	              0);
	int64_t id = 0;

	if (stmt == NULL)
		return 0;
	sqlite3_bind_text(stmt, 2, about->kind, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 3, about->scenario, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 4, about->overrides, -1, SQLITE_STATIC);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		id = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return id;
}

int wf_record_drop_runs(struct wf_record *record, const char *which)
{
	char sql[512 + 64];
	sqlite3_stmt *stmt;
	int rc;

	snprintf(sql, sizeof(sql), "SELECT EXISTS %s", which);
	stmt = query(record, sql, 0);
	if (stmt == NULL)
		return sqlite3_errcode(record->db);
	rc = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int(stmt, 0) : 0;
	if (sqlite3_finalize(stmt) != SQLITE_OK || rc == 0)
		return sqlite3_errcode(record->db);
	rc = SQLITE_OK;
	/* All that a run has before the run, so that which still yields it. */
	for (unsigned i = 0; i <= WF_RECORD_TABLES && rc == SQLITE_OK; i++) {
		bool last = i == WF_RECORD_TABLES;

		snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE %s IN %s",
		         last ? "run" : wf_record_table_name(i), last ? "id" : "run", which);
		rc = sqlite3_exec(record->db, sql, NULL, NULL, NULL);
	}
	return rc;
}

/* Takes away what did not finish. In a transaction of the caller's. */
static int clear_study(struct wf_record *record)
{
	long long study = record->study;
	char sql[256];
	int rc;

	snprintf(sql, sizeof(sql), "DELETE FROM note WHERE study = %lld AND run IS NULL", study);
	rc = sqlite3_exec(record->db, sql, NULL, NULL, NULL);
	snprintf(sql, sizeof(sql),
	         "(SELECT id FROM run WHERE study = %lld AND state IN ('interrupted', 'failed'))",
	         study);
	return rc == SQLITE_OK ? wf_record_drop_runs(record, sql) : rc;
}

#define OTHERS                                                                                     \
	"FROM run o JOIN run r ON r.id = %lld WHERE o.study = r.study AND o.id <> r.id AND "       \
	"o.state = 'finished' AND o.overrides = r.overrides AND o.fabric = r.fabric AND "          \
	"o.place = r.place AND o.point IS r.point AND o.seed = r.seed"

int wf_record_replace(struct wf_record *record, int64_t run)
{
	char which[512];
	int rc;

	snprintf(which, sizeof(which),
	         "(SELECT r.id " OTHERS " AND o.digest = r.digest AND o.build = r.build AND "
	         "o.finished_unix > r.started_unix)",
	         (long long)run);
	rc = wf_record_drop_runs(record, which);
	/* Where this took away the run itself, it has no others. */
	snprintf(which, sizeof(which), "(SELECT o.id " OTHERS ")", (long long)run);
	return rc == SQLITE_OK ? wf_record_drop_runs(record, which) : rc;
}

static int touch_study(struct wf_record *record)
{
	sqlite3_stmt *stmt =
		query(record,
	              "UPDATE study SET last_unix = ?2, weft_version = '" WEFT_VERSION "' "
	              "WHERE id = ?1",
	              record->study);

	if (stmt == NULL)
		return SQLITE_ERROR;
	sqlite3_bind_double(stmt, 2, wf_record_now());
	(void)sqlite3_step(stmt);
	return sqlite3_finalize(stmt);
}

int wf_record_resume(struct wf_record *record, const char *name, const char *scenario,
                     const char *overrides, struct wf_err *err)
{
	int rc, ret;

	if (!wf_record_study_set(record, record->about->kind, name, scenario, overrides))
		return -ENOMEM;
	pthread_mutex_lock(&record->lock);
	record->resumed = true;
	rc = sqlite3_exec(record->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (rc == SQLITE_OK) {
		record->study = wf_record_study_find(record);
		if (record->study != 0)
			rc = clear_study(record);
		if (rc == SQLITE_OK && record->study != 0)
			rc = touch_study(record);
		if (rc == SQLITE_OK)
			rc = sqlite3_exec(record->db, "COMMIT", NULL, NULL, NULL);
	}
	if (rc != SQLITE_OK) {
		wf_record_fail(record);
		(void)sqlite3_exec(record->db, "ROLLBACK", NULL, NULL, NULL);
	}
	ret = wf_record_said(record, err);
	pthread_mutex_unlock(&record->lock);
	return ret;
}

/* ---- runs ---- */

/* The newest run of the study that finished and is of head, ?8 and ?9 apart; -1: none. */
static int64_t find_run(struct wf_record *record, const struct wf_record_head *head,
                        const char *digest, const char *build)
{
	static const char sql[] =
		"SELECT max(id) FROM run WHERE study = ?1 AND state = 'finished' "
		"AND overrides = ?2 AND fabric = ?3 AND point IS ?4 AND seed = ?5 AND place = ?6 "
		"AND (?7 IS NULL OR digest = ?7) AND (?8 IS NULL OR build = ?8)";
	sqlite3_stmt *stmt = query(record, sql, record->study);
	int64_t id = -1;

	if (stmt == NULL)
		return -1;
	sqlite3_bind_text(stmt, 2, head->overrides, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 3, head->fabric, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 4, head->point, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 5, (int64_t)head->seed);
	sqlite3_bind_int64(stmt, 6, head->place);
	sqlite3_bind_text(stmt, 7, digest, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 8, build, -1, SQLITE_STATIC);
	if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		id = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return id;
}

int64_t wf_record_find(struct wf_record *record, const struct wf_record_head *head)
{
	int64_t id = -1;

	pthread_mutex_lock(&record->lock);
	if (head->digest != NULL)
		id = find_run(record, head, head->digest, wf_build_id());
	pthread_mutex_unlock(&record->lock);
	return id;
}

static bool is_column(sqlite3_stmt *stmt, int column, const char *text)
{
	const unsigned char *have = sqlite3_column_text(stmt, column);

	return have != NULL && strcmp((const char *)have, text) == 0;
}

/* Whether a row of kind, name and hash is among what goes in now. */
static bool is_input(const struct wf_record_head *head, sqlite3_stmt *row)
{
	for (size_t i = 0; i < head->n_inputs; i++) {
		const struct wf_record_input *in = &head->inputs[i];

		if (is_column(row, 0, in->kind) && is_column(row, 1, in->name) &&
		    is_column(row, 2, in->hash))
			return true;
	}
	return false;
}

static void put_change(const char *file, char *what, size_t size)
{
	const char *slash = strrchr(file, '/');

	snprintf(what, size, "an older %s", slash != NULL ? slash + 1 : file);
}

/* Finds a file that went into a run, or goes into it now, and not both, nor as it was. */
static void name_change(struct wf_record *record, const struct wf_record_head *head, int64_t id,
                        char *what, size_t size)
{
	sqlite3_stmt *stmt = query(
		record, "SELECT kind, name, hash, file FROM input WHERE run = ?1 ORDER BY id", id);
	const char *file = NULL;
	size_t n = 0;

	while (file == NULL && stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW) {
		if (!is_input(head, stmt))
			file = (const char *)sqlite3_column_text(stmt, 3);
		else if (is_column(stmt, 1, head->inputs[n].name))
			n += n + 1 < head->n_inputs;
		else
			break;
	}
	/* Where all that went in is as it was, this one is new. */
	if (file == NULL && n < head->n_inputs)
		file = head->inputs[n].file;
	put_change(file != NULL ? file : "scenario", what, size);
	sqlite3_finalize(stmt);
}

bool wf_record_stale(struct wf_record *record, const struct wf_record_head *head, char *what,
                     size_t size)
{
	sqlite3_stmt *stmt;
	int64_t id;

	pthread_mutex_lock(&record->lock);
	id = find_run(record, head, NULL, NULL);
	stmt = id < 0 ? NULL : query(record, "SELECT build FROM run WHERE id = ?1", id);
	if (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW && !is_column(stmt, 0, wf_build_id()))
		snprintf(what, size, "another build of weft");
	else if (id >= 0)
		name_change(record, head, id, what, size);
	sqlite3_finalize(stmt);
	pthread_mutex_unlock(&record->lock);
	return id >= 0;
}

/* A column as text; "" where it is NULL, which it is only in files that weft did not write. */
static const char *text_of(sqlite3_stmt *row, int column)
{
	const unsigned char *text = sqlite3_column_text(row, column);

	return text != NULL ? (const char *)text : "";
}

/* A row of table value; the lock is held while it lives. */
static sqlite3_stmt *find_value(struct wf_record *record, int64_t run, const char *name)
{
	sqlite3_stmt *stmt =
		query(record, "SELECT value, unit FROM value WHERE run = ?1 AND name = ?2", run);

	if (stmt != NULL)
		sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC);
	if (stmt == NULL || sqlite3_step(stmt) == SQLITE_ROW)
		return stmt;
	sqlite3_finalize(stmt);
	return NULL;
}

bool wf_record_read(struct wf_record *record, int64_t run, const char *name, double *value,
                    char *unit, size_t size)
{
	sqlite3_stmt *stmt;
	bool is = false;

	pthread_mutex_lock(&record->lock);
	stmt = find_value(record, run, name);
	if (stmt != NULL) {
		int type = sqlite3_column_type(stmt, 0);

		is = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
		*value = is ? sqlite3_column_double(stmt, 0) : 0;
		snprintf(unit, size, "%s", text_of(stmt, 1));
	}
	sqlite3_finalize(stmt);
	pthread_mutex_unlock(&record->lock);
	return is;
}

bool wf_record_read_text(struct wf_record *record, int64_t run, const char *name, char *text,
                         size_t size)
{
	sqlite3_stmt *stmt;
	bool is = false;

	text[0] = '\0';
	pthread_mutex_lock(&record->lock);
	stmt = find_value(record, run, name);
	if (stmt != NULL && sqlite3_column_type(stmt, 0) == SQLITE_TEXT) {
		is = true;
		snprintf(text, size, "%s", text_of(stmt, 0));
	}
	sqlite3_finalize(stmt);
	pthread_mutex_unlock(&record->lock);
	return is;
}

void wf_record_read_bandwidth(struct wf_record *record, int64_t run, wf_record_bandwidth_fn *fn,
                              void *arg)
{
	sqlite3_stmt *stmt;

	pthread_mutex_lock(&record->lock);
	stmt = query(record,
	             "SELECT collective, algorithm, ranks, bytes, time_ps, algbw, busbw "
	             "FROM bandwidth WHERE run = ?1 ORDER BY 1, 2, 4",
	             run);
	while (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW) {
		const struct wf_record_bandwidth point = {
			.collective = text_of(stmt, 0),
			.algorithm = text_of(stmt, 1),
			.ranks = (uint32_t)sqlite3_column_int64(stmt, 2),
			.bytes = (uint64_t)sqlite3_column_int64(stmt, 3),
			.time = sqlite3_column_int64(stmt, 4),
			.algbw = sqlite3_column_double(stmt, 5),
			.busbw = sqlite3_column_double(stmt, 6),
		};

		fn(arg, &point);
	}
	sqlite3_finalize(stmt);
	pthread_mutex_unlock(&record->lock);
}

void wf_record_read_notes(struct wf_record *record, int64_t run, wf_record_note_fn *fn, void *arg)
{
	sqlite3_stmt *stmt;

	pthread_mutex_lock(&record->lock);
	stmt = query(record, "SELECT kind, rule, text FROM note WHERE run = ?1 ORDER BY rowid",
	             run);
	while (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW)
		fn(arg, text_of(stmt, 0), (const char *)sqlite3_column_text(stmt, 1),
		   text_of(stmt, 2));
	sqlite3_finalize(stmt);
	pthread_mutex_unlock(&record->lock);
}
