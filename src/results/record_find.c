/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_find.c - queries of a results file that is being written.
 */
#include "results/record_find.h"

#include <errno.h>
#include <stdio.h>

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

/* The study that is the same as about, or 0. */
static int64_t find_study(struct wf_record *record)
{
	const struct wf_record_study *about = record->about;
	sqlite3_stmt *stmt =
		query(record,
	              "SELECT max(id) FROM study WHERE ?1 = 0 AND kind = ?2 AND scenario = ?3 "
	              "AND overrides = ?4 AND weft_version = '" WEFT_VERSION "'",
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

/* Takes away what did not finish. In a transaction of the caller's. */
static int clear_study(struct wf_record *record)
{
#define DEAD "(SELECT id FROM run WHERE study = %lld AND state IN ('interrupted', 'failed'))"
	long long study = record->study;
	char sql[256];
	int rc;

	snprintf(sql, sizeof(sql), "DELETE FROM note WHERE study = %lld AND run IS NULL", study);
	rc = sqlite3_exec(record->db, sql, NULL, NULL, NULL);
	for (unsigned i = 0; i < WF_RECORD_TABLES && rc == SQLITE_OK; i++) {
		snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE EXISTS " DEAD " AND run IN " DEAD,
		         wf_record_table_name(i), study, study);
		rc = sqlite3_exec(record->db, sql, NULL, NULL, NULL);
	}
	if (rc == SQLITE_OK) {
		snprintf(sql, sizeof(sql), "DELETE FROM run WHERE id IN " DEAD, study);
		rc = sqlite3_exec(record->db, sql, NULL, NULL, NULL);
	}
#undef DEAD
	return rc;
}

static int touch_study(struct wf_record *record)
{
	sqlite3_stmt *stmt =
		query(record, "UPDATE study SET last_unix = ?2 WHERE id = ?1", record->study);

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
	rc = sqlite3_exec(record->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (rc == SQLITE_OK) {
		record->study = find_study(record);
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

int64_t wf_record_find(struct wf_record *record, const struct wf_record_head *head)
{
	static const char sql[] =
		"SELECT max(id) FROM run WHERE study = ?1 AND state = 'finished' AND scenario = ?2 "
		"AND overrides = ?3 AND fabric = ?4 AND point IS ?5 AND seed = ?6 AND place = ?7";
	sqlite3_stmt *stmt;
	int64_t id = -1;

	pthread_mutex_lock(&record->lock);
	stmt = query(record, sql, record->study);
	if (stmt != NULL) {
		sqlite3_bind_text(stmt, 2, head->scenario, -1, SQLITE_STATIC);
		sqlite3_bind_text(stmt, 3, head->overrides, -1, SQLITE_STATIC);
		sqlite3_bind_text(stmt, 4, head->fabric, -1, SQLITE_STATIC);
		if (head->point != NULL)
			sqlite3_bind_text(stmt, 5, head->point, -1, SQLITE_STATIC);
		sqlite3_bind_int64(stmt, 6, (int64_t)head->seed);
		sqlite3_bind_int64(stmt, 7, head->place);
		if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
			id = sqlite3_column_int64(stmt, 0);
	}
	sqlite3_finalize(stmt);
	pthread_mutex_unlock(&record->lock);
	return id;
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
		snprintf(unit, size, "%s", (const char *)sqlite3_column_text(stmt, 1));
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
		snprintf(text, size, "%s", (const char *)sqlite3_column_text(stmt, 0));
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
			.collective = (const char *)sqlite3_column_text(stmt, 0),
			.algorithm = (const char *)sqlite3_column_text(stmt, 1),
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
		fn(arg, (const char *)sqlite3_column_text(stmt, 0),
		   (const char *)sqlite3_column_text(stmt, 1),
		   (const char *)sqlite3_column_text(stmt, 2));
	sqlite3_finalize(stmt);
	pthread_mutex_unlock(&record->lock);
}
