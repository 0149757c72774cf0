/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - opening, beginning, writing, ending and closing a results file.
 *
 * While it is written the file is in WAL mode: readers see the last batch and disturb nobody, and
 * what a killed process had committed is there. At the end it is put back, so that it is one file
 * again.
 */
#include "results/record.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "results/build_id.h"
#include "results/record_priv.h"

#ifndef WEFT_VERSION
#define WEFT_VERSION "0"
#endif

#define BUSY_MS 60000                /* how long to wait for another process that writes */
#define FLUSH_NS UINT64_C(500000000) /* rows wait no longer than this */
#define FLUSH_BYTES ((size_t)4 << 20)

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

double wf_record_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void wf_record_fail(struct wf_record *record)
{
	if (record->failed)
		return;
	record->failed = true;
	record->damaged = sqlite3_errcode(record->db) == SQLITE_CORRUPT;
	(void)wf_err_say(&record->why,
	                 "%s: %s; recording has stopped, what was written before is "
	                 "in the file",
	                 record->path, wf_record_why(record->db));
}

/* Runs a statement without results. Returns SQLITE_OK or what SQLite says. */
static int run_sql(struct wf_record *record, const char *sql)
{
	return sqlite3_exec(record->db, sql, NULL, NULL, NULL);
}

/* The number that a statement without parameters yields; fallback when it yields none. */
static int64_t ask(struct wf_record *record, const char *sql, int64_t fallback, int *rc_p)
{
	sqlite3_stmt *stmt = NULL;
	int64_t v = fallback;

	*rc_p = sqlite3_prepare_v2(record->db, sql, -1, &stmt, NULL);
	if (*rc_p == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
		v = sqlite3_column_int64(stmt, 0);
	if (*rc_p == SQLITE_OK)
		*rc_p = sqlite3_finalize(stmt);
	return v;
}

/* Says why a file cannot be recorded to. Returns -EINVAL or -ENOMEM. */
static int refuse(const struct wf_record *record, int rc, struct wf_err *err)
{
	if (rc == SQLITE_NOMEM || sqlite3_errcode(record->db) == SQLITE_NOMEM)
		return -ENOMEM;
	if (rc == SQLITE_NOTADB)
		return wf_err_say(err, "%s: this is not a results file of weft; name a new one",
		                  record->path);
	if (rc == SQLITE_CANTOPEN)
		return wf_err_say(err, "%s: cannot be created or written (is there such a folder?)",
		                  record->path);
	return wf_err_say(err, "%s: %s", record->path, wf_record_why(record->db));
}

/* Makes the tables, or finds that they are there. In a transaction of the caller's. */
static int make_tables(struct wf_record *record, struct wf_err *err)
{
	int rc;
	int64_t tables = ask(record, "SELECT count(*) FROM sqlite_schema", 0, &rc);
	int64_t id = rc == SQLITE_OK ? ask(record, "PRAGMA application_id", 0, &rc) : 0;
	int64_t version = rc == SQLITE_OK ? ask(record, "PRAGMA user_version", 0, &rc) : 0;

	if (rc != SQLITE_OK)
		return refuse(record, rc, err);
	if (tables != 0 && id != WF_RECORD_APPLICATION)
		return refuse(record, SQLITE_NOTADB, err);
	if (tables != 0 && wf_record_version_check(record->path, version, err) != 0)
		return -EINVAL;
	if (tables != 0)
		rc = wf_record_migrate(record->db, version);
	if (rc != SQLITE_OK)
		return refuse(record, rc, err);
	for (const char *const *sql = wf_record_schema; tables == 0 && *sql != NULL; sql++) {
		rc = run_sql(record, *sql);
		if (rc != SQLITE_OK)
			return refuse(record, rc, err);
	}
	return 0;
}

/* Runs that nobody is writing any more were interrupted. */
static int mark_dead(struct wf_record *record)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(record->db, "SELECT id FROM run WHERE state = 'running'", -1,
	                            &stmt, NULL);
	int found;

	while (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
		char sql[96];

		if (wf_record_lock_is_held(record, sqlite3_column_int64(stmt, 0)))
			continue;
		snprintf(sql, sizeof(sql), "UPDATE run SET state = 'interrupted' WHERE id = %lld",
		         sqlite3_column_int64(stmt, 0));
		rc = run_sql(record, sql);
	}
	found = sqlite3_finalize(stmt);
	return rc == SQLITE_OK ? found : rc;
}

bool wf_record_study_set(struct wf_record *record, const char *kind, const char *name,
                         const char *scenario, const char *overrides)
{
	const char *const text[] = { kind, name, scenario, overrides };
	struct wf_record_study *about;
	size_t len = 0;
	char *p, *copy[WF_ARRAY_SIZE(text)] = { NULL };

	for (size_t i = 0; i < WF_ARRAY_SIZE(text); i++)
		len += text[i] != NULL ? strlen(text[i]) + 1 : 0;
	about = malloc(sizeof(*about) + len);
	if (about == NULL)
		return false;
	p = (char *)(about + 1);
	for (size_t i = 0; i < WF_ARRAY_SIZE(text); i++) {
		if (text[i] == NULL)
			continue;
		copy[i] = p;
		p = stpcpy(p, text[i]) + 1;
	}
	*about = (struct wf_record_study){ copy[0], copy[1], copy[2], copy[3] };
	free(record->about);
	record->about = about;
	return true;
}

int wf_record_study_begin(struct wf_record *record)
{
	const struct wf_record_study *about = record->about;
	const char *const text[] = { about->kind, about->name, about->scenario, about->overrides };
	double now = wf_record_now();
	sqlite3_stmt *stmt = NULL;
	int rc;

	/* Another process may have begun it since it was looked for. */
	if (record->study == 0 && record->resumed)
		record->study = wf_record_study_find(record);
	if (record->study != 0)
		return SQLITE_OK;
	rc = sqlite3_prepare_v2(record->db,
	                        "INSERT INTO study (kind, name, scenario, overrides, weft_version, "
	                        "started_unix, last_unix) "
	                        "VALUES (?, ?, ?, ?, '" WEFT_VERSION "', ?, ?)",
	                        -1, &stmt, NULL);
	if (rc != SQLITE_OK)
		return rc;
	for (int i = 0; i < (int)WF_ARRAY_SIZE(text); i++)
		sqlite3_bind_text(stmt, 1 + i, text[i], -1, SQLITE_STATIC);
	sqlite3_bind_double(stmt, 5, now);
	sqlite3_bind_double(stmt, 6, now);
	if (sqlite3_step(stmt) == SQLITE_DONE)
		record->study = sqlite3_last_insert_rowid(record->db);
	return sqlite3_finalize(stmt);
}

/* Turns WAL on. Another process may be about to turn it off, which takes a moment. */
static int turn_wal_on(struct wf_record *record)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	int rc = SQLITE_BUSY;

	for (int i = 0; i < 500 && rc == SQLITE_BUSY; i++) {
		rc = run_sql(record, "PRAGMA journal_mode = WAL");
		if (rc == SQLITE_BUSY)
			nanosleep(&pause, NULL);
	}
	return rc;
}

static int open_lock(struct wf_record *record, struct wf_err *err)
{
	int ret = wf_record_lock_open(record);

	if (ret == 0 || ret == -ENOMEM)
		return ret;
	return wf_err_say(err, "%s-lock: cannot lock it: %s", record->path, strerror(-ret));
}

/* From an open database to one that rows can be written to. */
static int set_up(struct wf_record *record, struct wf_err *err)
{
	int rc, ret;

	wf_record_distrust(record->db);
	sqlite3_busy_timeout(record->db, BUSY_MS);
	/* Looked at before anything is changed: it may be somebody else's. */
	(void)ask(record, "SELECT count(*) FROM sqlite_schema", 0, &rc);
	if (rc == SQLITE_OK)
		rc = run_sql(record, "BEGIN IMMEDIATE");
	if (rc != SQLITE_OK)
		return refuse(record, rc, err);
	ret = make_tables(record, err);
	if (ret == 0)
		ret = open_lock(record, err);
	if (ret == 0 && mark_dead(record) != SQLITE_OK)
		ret = refuse(record, SQLITE_ERROR, err);
	if (ret != 0) {
		(void)run_sql(record, "ROLLBACK");
		return ret;
	}
	rc = run_sql(record, "COMMIT");
	if (rc == SQLITE_OK)
		rc = turn_wal_on(record);
	if (rc == SQLITE_OK)
		rc = run_sql(record, "PRAGMA synchronous = OFF");
	if (rc == SQLITE_OK)
		rc = run_sql(record, "PRAGMA wal_autocheckpoint = 16384");
	if (rc == SQLITE_OK)
		rc = wf_record_rows_prepare(record);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v3(record->db, "UPDATE run SET end_ps = ? WHERE id = ?", -1,
		                        SQLITE_PREPARE_PERSISTENT, &record->progress, NULL);
	return rc == SQLITE_OK ? 0 : refuse(record, rc, err);
}

static void destroy(struct wf_record *record)
{
	for (unsigned i = 0; i < WF_RECORD_TABLES; i++)
		sqlite3_finalize(record->insert[i]);
	sqlite3_finalize(record->bulk);
	sqlite3_finalize(record->progress);
	wf_record_lock_close(record);
	sqlite3_close(record->db);
	pthread_mutex_destroy(&record->lock);
	free(record->about);
	free(record);
}

int wf_record_open(const char *path, const char *kind, const char *name,
                   struct wf_record **record_p, struct wf_err *err)
{
	struct wf_record *record = calloc(1, sizeof(*record) + strlen(path) + 1);
	int rc;

	if (record == NULL)
		return -ENOMEM;
	memcpy(record->path, path, strlen(path) + 1);
	record->lock_fd = -1;
	pthread_mutex_init(&record->lock, NULL);
	if (!wf_record_study_set(record, kind, name, NULL, NULL)) {
		destroy(record);
		return -ENOMEM;
	}
	rc = sqlite3_open_v2(path, &record->db,
	                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
	                     NULL);
	/* "" and ":memory:" would be gone with the process. */
	if (rc == SQLITE_OK && *sqlite3_db_filename(record->db, "main") == '\0')
		rc = wf_err_say(err, "'%s' is no name of a file; the results go to one",
		                record->path);
	else
		rc = rc == SQLITE_OK ? set_up(record, err) : refuse(record, rc, err);
	if (rc != 0) {
		destroy(record);
		return rc;
	}
	*record_p = record;
	return 0;
}

int wf_record_close(struct wf_record *record, struct wf_err *err)
{
	int ret;

	if (record == NULL)
		return 0;
	assert(record->open_runs == 0);
	/* One file again; when another process still writes or reads it, the last one does this. */
	sqlite3_busy_timeout(record->db, 0);
	(void)run_sql(record, "PRAGMA wal_checkpoint(TRUNCATE)");
	(void)run_sql(record, "PRAGMA journal_mode = DELETE");
	ret = wf_record_said(record, err);
	destroy(record);
	return ret;
}

int wf_record_said(const struct wf_record *record, struct wf_err *err)
{
	if (!record->failed)
		return 0;
	*err = record->why;
	return record->damaged ? -EINVAL : -EIO;
}

static int insert_run(struct wf_record *record, const struct wf_record_head *h)
{
	static const char sql[] =
		"INSERT INTO run (study, label, fabric, point, scenario_file, scenario, overrides, "
		"seed, weft_version, state, started_unix, end_ps, until_ps, sample_ps, pid, place, "
		"digest, build) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '" WEFT_VERSION
		"', 'running', ?, 0, ?, ?, ?, ?, ?, ?)";
	const char *const text[] = { h->label,         h->fabric,   h->point,
		                     h->scenario_file, h->scenario, h->overrides };
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(record->db, sql, -1, &stmt, NULL);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int64(stmt, 1, record->study);
	for (int i = 0; i < (int)WF_ARRAY_SIZE(text); i++)
		sqlite3_bind_text(stmt, 2 + i, text[i], -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 8, (int64_t)h->seed);
	sqlite3_bind_double(stmt, 9, wf_record_now());
	sqlite3_bind_int64(stmt, 10, h->until);
	sqlite3_bind_int64(stmt, 11, h->sample);
	sqlite3_bind_int64(stmt, 12, getpid());
	sqlite3_bind_int64(stmt, 13, h->place);
	sqlite3_bind_text(stmt, 14, h->digest, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 15, wf_build_id(), -1, SQLITE_STATIC);
	(void)sqlite3_step(stmt);
	return sqlite3_finalize(stmt);
}

/* Makes the row of a run; nobody sees it before it can be seen that somebody writes it. */
static int begin_run(struct wf_record *record, const struct wf_record_head *head, int64_t *id_p)
{
	int rc = run_sql(record, "BEGIN IMMEDIATE");

	if (rc == SQLITE_OK)
		rc = wf_record_study_begin(record);
	if (rc == SQLITE_OK)
		rc = insert_run(record, head);
	if (rc == SQLITE_OK) {
		*id_p = sqlite3_last_insert_rowid(record->db);
		(void)wf_record_lock_run(record, *id_p, true);
		rc = run_sql(record, "COMMIT");
	}
	return rc;
}

int wf_record_begin(struct wf_record *record, const struct wf_record_head *head,
                    struct wf_record_run **run_p, struct wf_err *err)
{
	struct wf_record_run *run = calloc(1, sizeof(*run));
	int ret;

	if (run == NULL)
		return -ENOMEM;
	run->record = record;
	run->flushed_ns = clock_ns();
	pthread_mutex_lock(&record->lock);
	if (!record->failed && begin_run(record, head, &run->id) != SQLITE_OK) {
		wf_record_fail(record);
		(void)run_sql(record, "ROLLBACK");
	}
	ret = wf_record_said(record, err);
	record->open_runs += ret == 0;
	pthread_mutex_unlock(&record->lock);
	if (ret != 0) {
		free(run);
		return ret;
	}
	wf_record_inputs(run, head->inputs, head->n_inputs);
	*run_p = run;
	return 0;
}

int64_t wf_record_run_id(const struct wf_record_run *run)
{
	return run->id;
}

/* Writes a batch in one transaction. The lock is held. */
static int write_batch(struct wf_record *record, const struct wf_record_run *run, wf_time now)
{
	int rc = run_sql(record, "BEGIN IMMEDIATE");

	if (rc != SQLITE_OK)
		return rc;
	rc = wf_record_rows_insert(record, &run->buf);
	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(record->progress, 1, now);
		sqlite3_bind_int64(record->progress, 2, run->id);
		(void)sqlite3_step(record->progress);
		rc = sqlite3_reset(record->progress);
	}
	return rc == SQLITE_OK ? run_sql(record, "COMMIT") : rc;
}

void wf_record_write(struct wf_record_run *run, wf_time now)
{
	struct wf_record *record = run->record;

	pthread_mutex_lock(&record->lock);
	if (run->buf.no_memory && !record->failed) {
		record->failed = true;
		(void)wf_err_say(&record->why, "%s: no memory; recording has stopped",
		                 record->path);
	}
	if (!record->failed && write_batch(record, run, now) != SQLITE_OK) {
		wf_record_fail(record);
		(void)run_sql(record, "ROLLBACK");
	}
	pthread_mutex_unlock(&record->lock);
	run->buf.used = 0;
	run->flushed_ns = clock_ns();
}

void wf_record_flush(struct wf_record_run *run, wf_time now)
{
	if (run->buf.used >= FLUSH_BYTES || clock_ns() - run->flushed_ns >= FLUSH_NS)
		wf_record_write(run, now);
}

static int finish_run(struct wf_record *record, const struct wf_record_run *run,
                      const struct wf_record_tail *tail)
{
	static const char *const state[] = {
		[WF_RECORD_FINISHED] = "finished",
		[WF_RECORD_INTERRUPTED] = "interrupted",
		[WF_RECORD_FAILED] = "failed",
	};
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(record->db,
	                            "UPDATE run SET state = ?, finished_unix = ?, end_ps = ?, "
	                            "cpu_s = ?, wall_s = ? WHERE id = ?",
	                            -1, &stmt, NULL);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_text(stmt, 1, state[tail->state], -1, SQLITE_STATIC);
	sqlite3_bind_double(stmt, 2, wf_record_now());
	sqlite3_bind_int64(stmt, 3, tail->end);
	sqlite3_bind_double(stmt, 4, tail->cpu_s);
	sqlite3_bind_double(stmt, 5, tail->wall_s);
	sqlite3_bind_int64(stmt, 6, run->id);
	(void)sqlite3_step(stmt);
	return sqlite3_finalize(stmt);
}

/* A run that is finished takes the place of those that it was done anew for. */
static int end_run(struct wf_record *record, const struct wf_record_run *run,
                   const struct wf_record_tail *tail)
{
	int rc = run_sql(record, "BEGIN IMMEDIATE");

	if (rc == SQLITE_OK)
		rc = finish_run(record, run, tail);
	if (rc == SQLITE_OK && record->resumed && tail->state == WF_RECORD_FINISHED)
		rc = wf_record_replace(record, run->id);
	return rc == SQLITE_OK ? run_sql(record, "COMMIT") : rc;
}

int wf_record_end(struct wf_record_run *run, const struct wf_record_tail *tail, struct wf_err *err)
{
	struct wf_record *record = run->record;
	int ret;

	wf_record_write(run, tail->end);
	pthread_mutex_lock(&record->lock);
	if (!record->failed && end_run(record, run, tail) != SQLITE_OK) {
		wf_record_fail(record);
		(void)run_sql(record, "ROLLBACK");
	}
	(void)wf_record_lock_run(record, run->id, false);
	ret = wf_record_said(record, err);
	record->open_runs--;
	pthread_mutex_unlock(&record->lock);
	free(run->buf.data);
	free(run);
	return ret;
}

/* Finds or makes a counter. */
static int counter_id(struct wf_record *record, const struct wf_record_counter *c, uint32_t *id_p)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(
		record->db,
		"INSERT INTO counter (name, queue, measure, factor, unit, kind, source, help, "
		"exporter) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
		"ON CONFLICT (name) DO UPDATE SET exporter = excluded.exporter "
		"RETURNING id",
		-1, &stmt, NULL);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_text(stmt, 1, c->name, -1, SQLITE_STATIC);
	if (c->queue >= 0)
		sqlite3_bind_int(stmt, 2, c->queue);
	sqlite3_bind_text(stmt, 3, c->measure, -1, SQLITE_STATIC);
	sqlite3_bind_double(stmt, 4, c->factor);
	sqlite3_bind_text(stmt, 5, c->unit, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 6, c->kind, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 7, c->source, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 8, c->help, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 9, c->exporter, -1, SQLITE_STATIC);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		*id_p = (uint32_t)sqlite3_column_int64(stmt, 0);
	return sqlite3_finalize(stmt);
}

int wf_record_counters(struct wf_record_run *run, const struct wf_record_counter *counters,
                       size_t n, uint32_t *ids, struct wf_err *err)
{
	struct wf_record *record = run->record;
	int rc, ret;

	pthread_mutex_lock(&record->lock);
	rc = record->failed ? SQLITE_ERROR : run_sql(record, "BEGIN IMMEDIATE");
	for (size_t i = 0; i < n && rc == SQLITE_OK; i++)
		rc = counter_id(record, &counters[i], &ids[i]);
	if (rc == SQLITE_OK)
		rc = run_sql(record, "COMMIT");
	if (rc != SQLITE_OK) {
		wf_record_fail(record);
		(void)run_sql(record, "ROLLBACK");
	}
	ret = wf_record_said(record, err);
	pthread_mutex_unlock(&record->lock);
	return ret;
}

int wf_record_study_note(struct wf_record *record, const char *kind, const char *text,
                         struct wf_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc, ret;

	pthread_mutex_lock(&record->lock);
	rc = record->failed ? SQLITE_ERROR : wf_record_study_begin(record);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(record->db, "INSERT INTO note VALUES (?, NULL, ?, NULL, ?)",
		                        -1, &stmt, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(stmt, 1, record->study);
		sqlite3_bind_text(stmt, 2, kind, -1, SQLITE_STATIC);
		sqlite3_bind_text(stmt, 3, text, -1, SQLITE_STATIC);
		(void)sqlite3_step(stmt);
		rc = sqlite3_finalize(stmt);
	}
	if (rc != SQLITE_OK)
		wf_record_fail(record);
	ret = wf_record_said(record, err);
	pthread_mutex_unlock(&record->lock);
	return ret;
}
