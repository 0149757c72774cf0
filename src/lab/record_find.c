/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_find.c - queries of a results file that is being written.
 */
#include "lab/record_find.h"

#include <stdio.h>

#include "lab/record_priv.h"

#ifndef WEFT_VERSION
#define WEFT_VERSION "0"
#endif

int64_t wf_record_find(struct wf_record *record, const struct wf_record_head *head)
{
	static const char sql[] =
		"SELECT max(id) FROM run WHERE state = 'finished' AND scenario = ?1 AND "
		"overrides = ?2 AND fabric = ?3 AND point IS ?4 AND seed = ?5 AND "
		"weft_version = '" WEFT_VERSION "'";
	sqlite3_stmt *stmt = NULL;
	int64_t id = -1;

	pthread_mutex_lock(&record->lock);
	if (sqlite3_prepare_v2(record->db, sql, -1, &stmt, NULL) == SQLITE_OK) {
		sqlite3_bind_text(stmt, 1, head->scenario, -1, SQLITE_STATIC);
		sqlite3_bind_text(stmt, 2, head->overrides, -1, SQLITE_STATIC);
		sqlite3_bind_text(stmt, 3, head->fabric, -1, SQLITE_STATIC);
		if (head->point != NULL)
			sqlite3_bind_text(stmt, 4, head->point, -1, SQLITE_STATIC);
		sqlite3_bind_int64(stmt, 5, (int64_t)head->seed);
		if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
			id = sqlite3_column_int64(stmt, 0);
	}
	sqlite3_finalize(stmt);
	pthread_mutex_unlock(&record->lock);
	return id;
}

bool wf_record_read(struct wf_record *record, int64_t run, const char *name, double *value,
                    char *unit, size_t size)
{
	sqlite3_stmt *stmt = NULL;
	bool is = false;

	pthread_mutex_lock(&record->lock);
	if (sqlite3_prepare_v2(record->db,
	                       "SELECT value, unit FROM value WHERE run = ? AND name = ?", -1,
	                       &stmt, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(stmt, 1, run);
		sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC);
		is = sqlite3_step(stmt) == SQLITE_ROW &&
		     (sqlite3_column_type(stmt, 0) == SQLITE_INTEGER ||
		      sqlite3_column_type(stmt, 0) == SQLITE_FLOAT);
		if (is) {
			*value = sqlite3_column_double(stmt, 0);
			snprintf(unit, size, "%s", (const char *)sqlite3_column_text(stmt, 1));
		}
	}
	sqlite3_finalize(stmt);
	pthread_mutex_unlock(&record->lock);
	return is;
}
