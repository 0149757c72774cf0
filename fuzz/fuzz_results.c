/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz: runs=1/10 */
/*
 * fuzz_results.c - a stranger's results file: a page, exports and going on with it end with an
 * error or without, never a crash, a leak, a hang or memory out of proportion.
 *
 * Bytes changed at random are mostly found by SQLite. So half of the inputs are made by statements:
 * one that puts a value where nobody expects it, or makes a table that is another one.
 */
#include <sqlite3.h>

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/export.h"
#include "results/page.h"
#include "results/record_find.h"
#include "text/file.h"

#define MAX_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* ---- reading ---- */

static void take_warning(void *arg, const char *text)
{
	(void)arg;
	assert(text[0] != '\0' && strchr(text, '\n') == NULL);
}

static void check(int rc, const struct wf_err *err)
{
	assert(rc <= 0);
	assert(rc == 0 || rc == -ENOMEM || err->text[0] != '\0');
}

static void show(const char *path)
{
	static const char *const formats[] = { "perfetto", "nccl-tests", "prometheus" };
	const struct wf_page_request page = { .file = path, .out = "/dev/null" };
	struct wf_err err = { "" };

	check(wf_page_write(&page, &err), &err);
	err.text[0] = '\0';
	check(wf_page_warnings(&page, take_warning, NULL, &err), &err);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		for (int64_t run = 0; run < 2; run++) {
			struct wf_export *ex = NULL;

			err.text[0] = '\0';
			if (wf_export_open(path, run, &ex, &err) != 0)
				continue;
			check(wf_export_write(ex, wf_export_find(formats[i]), "/dev/null", &err),
			      &err);
			wf_export_close(ex);
		}
	}
}

/* ---- going on ---- */

static void take_point(void *arg, const struct wf_record_bandwidth *point)
{
	*(size_t *)arg += strlen(point->collective) + strlen(point->algorithm);
}

static void take_note(void *arg, const char *kind, const char *rule, const char *text)
{
	*(size_t *)arg += strlen(kind) + (rule != NULL ? strlen(rule) : 0) + strlen(text);
}

static void read_run(struct wf_record *record, int64_t id)
{
	char text[64];
	size_t n = 0;
	double v;

	(void)wf_record_read(record, id, "completion", &v, text, sizeof(text));
	(void)wf_record_read_text(record, id, "completion", text, sizeof(text));
	wf_record_read_bandwidth(record, id, take_point, &n);
	wf_record_read_notes(record, id, take_note, &n);
}

static void go_on(const char *path)
{
	static const struct wf_record_input input = { "profile", "a", "p/a.yaml", "00", 1 };
	const struct wf_record_head head = { .label = "a",
		                             .fabric = "roce-400g",
		                             .scenario_file = "s.yaml",
		                             .scenario = "x",
		                             .overrides = "",
		                             .seed = 1,
		                             .digest = "d",
		                             .inputs = &input,
		                             .n_inputs = 1 };
	const struct wf_record_tail tail = { .state = WF_RECORD_FINISHED };
	struct wf_record *record = NULL;
	struct wf_record_run *run = NULL;
	struct wf_err err = { "" };
	char what[64];

	if (wf_record_open(path, "sweep", "x", &record, &err) != 0) {
		assert(err.text[0] != '\0');
		return;
	}
	if (wf_record_resume(record, "x", "x", "", &err) == 0) {
		(void)wf_record_find(record, &head);
		(void)wf_record_stale(record, &head, what, sizeof(what));
		for (int64_t id = 1; id < 4; id++)
			read_run(record, id);
		if (wf_record_begin(record, &head, &run, &err) == 0) {
			wf_record_value(run, "completion", 1, "ps");
			(void)!wf_record_end(run, &tail, &err);
		}
	}
	(void)!wf_record_close(record, &err);
}

static const char *write_file(const uint8_t *data, size_t size, char path[64])
{
	FILE *file;

	snprintf(path, 64, "%s/weft-fuzz-results-%d.db",
	         access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
	file = fopen(path, "w");
	if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
		abort();
	return path;
}

static void remove_file(const char *path)
{
	static const char *const with[] = { "", "-journal", "-wal", "-shm", "-lock" };
	char name[96];

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, with[i]);
		unlink(name);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];

	if (size > MAX_BYTES)
		return 0;
	write_file(data, size, path);
	show(path);
	go_on(path);
	remove_file(path);
	return 0;
}

/* ---- making ---- */

static const char *const names[] = {
	"study",   "run",         "parameter", "value",       "node",
	"link",    "counter",     "sample",    "tick",        "event",
	"input",   "event_count", "flow",      "flow_sample", "rank",
	"message", "latency",     "note",      "bandwidth",   "collective_rank",
	"span",    "collective",
};

/* What a column may be set to, besides another column. */
static const char *const values[] = {
	"NULL",
	"''",
	"-1",
	"0",
	"1",
	"2",
	"65535",
	"4294967295",
	"9223372036854775807",
	"-9223372036854775808",
	"1e308",
	"-1e308",
	"9e999",
	"-9e999",
	"0.5",
	"'x'",
	"x'00ff'",
	"zeroblob(1000)",
	"printf('%.2000c', 'a')",
	"'finished'",
	"'tx_bytes'",
	"'queue_bytes'",
	"'sweep'",
	"rowid",
	"id",
	"run",
	"id + 1",
	"abs(random())",
	"random() % 8",
	"char(1, 34, 60, 10, 8232)",
	"'\"<script>'",
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static unsigned draw(unsigned *seed, size_t n)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 8) % (unsigned)n;
}

/* A column of a table, by its place. */
static void column_of(sqlite3 *db, const char *table, unsigned at, char name[64])
{
	sqlite3_stmt *stmt = NULL;
	char sql[128];
	unsigned n = 0;

	snprintf(name, 64, "id");
	snprintf(sql, sizeof(sql), "SELECT name FROM pragma_table_info('%s')", table);
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK)
		while (n++ <= at && sqlite3_step(stmt) == SQLITE_ROW)
			snprintf(name, 64, "%s", (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
}

static void change(sqlite3 *db, unsigned seed)
{
	const char *table = names[draw(&seed, COUNT(names))];
	const char *value = values[draw(&seed, COUNT(values))];
	char sql[512], column[64], other[64];

	column_of(db, table, draw(&seed, 12), column);
	column_of(db, table, draw(&seed, 12), other);
	switch (draw(&seed, 8)) {
	case 0:
		snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE length(%s) %% 2 = 0", table,
		         column);
		break;
	case 1: /* without what the recorder's tables promise */
		snprintf(sql, sizeof(sql),
		         "CREATE TABLE was AS SELECT * FROM %s; DROP TABLE %s; ALTER TABLE was "
		         "RENAME TO %s",
		         table, table, table);
		break;
	case 2:
		snprintf(sql, sizeof(sql),
		         "DROP TABLE %s; CREATE VIEW %s AS WITH RECURSIVE c(run, id) AS (SELECT 1, "
		         "1 UNION ALL SELECT run, id + 1 FROM c) SELECT * FROM c",
		         table, table);
		break;
	case 3:
		snprintf(sql, sizeof(sql),
		         "CREATE TRIGGER t%u BEFORE INSERT ON %s BEGIN DELETE FROM run; END",
		         draw(&seed, 4), table);
		break;
	case 4:
		snprintf(sql, sizeof(sql), "UPDATE OR IGNORE %s SET %s = %s", table, column, other);
		break;
	case 5:
		snprintf(sql, sizeof(sql), "UPDATE OR REPLACE %s SET %s = %s", table, column,
		         value);
		break;
	default:
		snprintf(sql, sizeof(sql),
		         "UPDATE OR IGNORE %s SET %s = %s WHERE length(%s) %% 2 = %u", table,
		         column, value, other, draw(&seed, 2));
		break;
	}
	(void)sqlite3_exec(db, sql, NULL, NULL, NULL);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	sqlite3_int64 len = 0;
	unsigned char *copy, *out;
	sqlite3 *db = NULL;

	if (seed % 2 == 0)
		return LLVMFuzzerMutate(data, size, max);
	copy = sqlite3_malloc64(size + 1);
	if (copy == NULL || sqlite3_open(":memory:", &db) != SQLITE_OK)
		abort();
	memcpy(copy, data, size);
	(void)sqlite3_deserialize(db, "main", copy, (sqlite3_int64)size, (sqlite3_int64)size,
	                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
	/* What is made here is not to be run here either. */
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	for (unsigned i = 0; i < 1 + seed / 2 % 3; i++)
		change(db, seed + i);
	(void)sqlite3_exec(db, "VACUUM", NULL, NULL, NULL);
	out = sqlite3_serialize(db, "main", &len, 0);
	if (out != NULL && (size_t)len <= max) {
		memcpy(data, out, (size_t)len);
		size = (size_t)len;
	}
	sqlite3_free(out);
	sqlite3_close(db);
	return size;
}
