/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_record_file.c - a results file among processes that live and die, and of older versions.
 */
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results/record_find.h"
#include "results/record_priv.h"
#include "text/file.h"

static const struct wf_record_head head = {
	.label = "first",
	.fabric = "roce",
	.scenario_file = "s.yaml",
	.scenario = "name: x\n",
	.overrides = "",
	.seed = 7,
	.digest = "d",
};

struct file {
	char path[64], lock[80];
};

static void make_file(struct file *f)
{
	snprintf(f->path, sizeof(f->path), "/tmp/weft-record-XXXXXX");
	assert_true(close(mkstemp(f->path)) == 0);
	snprintf(f->lock, sizeof(f->lock), "%s-lock", f->path);
}

static struct wf_record *open_file(const struct file *f)
{
	struct wf_record *record = NULL;
	struct wf_err err = { "" };

	if (wf_record_open(f->path, "run", "test", &record, &err) != 0)
		fail_msg("%s", err.text);
	return record;
}

static struct wf_record_run *begin(struct wf_record *record)
{
	struct wf_record_run *run = NULL;
	struct wf_err err = { "" };

	assert_int_equal(wf_record_begin(record, &head, &run, &err), 0);
	return run;
}

static void end(struct wf_record_run *run)
{
	const struct wf_record_tail tail = { .state = WF_RECORD_FINISHED };
	struct wf_err err = { "" };

	assert_int_equal(wf_record_end(run, &tail, &err), 0);
}

static void close_file(struct wf_record *record)
{
	struct wf_err err = { "" };

	assert_int_equal(wf_record_close(record, &err), 0);
}

/* The first column of the first row as text, "-" where there is none; runs statements as well. */
static const char *ask(const struct file *f, const char *sql, char buf[1024])
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	const unsigned char *text = NULL;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_busy_timeout(db, 60000), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	if (sqlite3_step(stmt) == SQLITE_ROW)
		text = sqlite3_column_text(stmt, 0);
	snprintf(buf, 1024, "%s", text != NULL ? (const char *)text : "-");
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return buf;
}

#define STATES "SELECT group_concat(state) FROM (SELECT state FROM run ORDER BY id)"

/* A process of its own that begins a run and is killed with it. */
static void be_killed(const struct file *f)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)begin(open_file(f));
		kill(getpid(), SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/*
 * Who is alive is told by locks, not by numbers of processes: those of another container, or of
 * another time, mean somebody else.
 */
static void test_alive(void **state)
{
	struct wf_record *one, *two;
	struct wf_record_run *run;
	struct file f;
	char sql[64], buf[1024];

	(void)state;
	make_file(&f);
	one = open_file(&f);
	run = begin(one);
	/* As another container has it: no such process here. */
	ask(&f, "UPDATE run SET pid = 2147483000", buf);
	two = open_file(&f);
	assert_string_equal(ask(&f, STATES, buf), "running");
	close_file(two);
	assert_string_equal(ask(&f, STATES, buf), "running");
	end(run);
	close_file(one);
	assert_string_equal(ask(&f, STATES, buf), "finished");
	/* A dead one whose number is somebody else's now. */
	be_killed(&f);
	snprintf(sql, sizeof(sql), "UPDATE run SET pid = %d WHERE id = 2", (int)getpid());
	ask(&f, sql, buf);
	assert_string_equal(ask(&f, STATES, buf), "finished,running");
	close_file(open_file(&f));
	assert_string_equal(ask(&f, STATES, buf), "finished,interrupted");
	unlink(f.path);
}

/* FILE-lock is there as long as anybody records, and goes with the last one. */
static void test_lock_file(void **state)
{
	static const char text[] = "mine";
	struct wf_record *one, *two;
	struct file f;
	FILE *file;

	(void)state;
	make_file(&f);
	one = open_file(&f);
	two = open_file(&f);
	close_file(one);
	assert_int_equal(access(f.lock, F_OK), 0);
	/* Whoever comes now is not alone. */
	one = open_file(&f);
	close_file(two);
	assert_int_equal(access(f.lock, F_OK), 0);
	close_file(one);
	assert_int_not_equal(access(f.lock, F_OK), 0);
	be_killed(&f);
	assert_int_equal(access(f.lock, F_OK), 0);
	close_file(open_file(&f));
	assert_int_not_equal(access(f.lock, F_OK), 0);
	/* One that has contents is not ours to take away. */
	file = fopen(f.lock, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
	close_file(open_file(&f));
	assert_int_equal(access(f.lock, F_OK), 0);
	unlink(f.lock);
	unlink(f.path);
}

/* All names of a file have the same locks. */
static void test_links(void **state)
{
	struct wf_record *one, *two;
	struct wf_record_run *run;
	struct file f, link;
	char buf[1024];

	(void)state;
	make_file(&f);
	link = f;
	memcpy(strchr(link.path, '\0'), "-link", sizeof("-link"));
	assert_int_equal(symlink(f.path, link.path), 0);
	one = open_file(&f);
	run = begin(one);
	two = open_file(&link);
	assert_string_equal(ask(&f, STATES, buf), "running");
	close_file(two);
	end(run);
	two = open_file(&link);
	run = begin(two);
	close_file(one);
	one = open_file(&f);
	assert_string_equal(ask(&f, STATES, buf), "finished,running");
	end(run);
	close_file(two);
	close_file(one);
	assert_int_not_equal(access(f.lock, F_OK), 0);
	unlink(link.path);
	unlink(f.path);
}

/* What goes to no file is not recorded. */
static void test_no_file(void **state)
{
	static const char *const names[] = { "", ":memory:", "/dev/null" };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(names); i++) {
		struct wf_record *record = NULL;
		struct wf_err err = { "" };

		assert_int_equal(wf_record_open(names[i], "run", "x", &record, &err), -EINVAL);
		assert_null(record);
		assert_true(err.text[0] != '\0');
	}
}

/* Whoever wrote it was killed in the middle of a change: readers see what was before. */
static void test_journal(void **state)
{
	const char *const journal = "PRAGMA journal_mode = PERSIST;";
	struct file f;
	sqlite3 *db = NULL;
	int status = 0;
	pid_t pid;

	(void)state;
	make_file(&f);
	close_file(open_file(&f));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (sqlite3_open(f.path, &db) == SQLITE_OK &&
		    sqlite3_exec(db, journal, NULL, NULL, NULL) == SQLITE_OK &&
		    sqlite3_exec(db,
		                 "PRAGMA cache_size = 1; BEGIN; CREATE TABLE x (y); "
		                 "INSERT INTO x WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 "
		                 "FROM n LIMIT 99) SELECT zeroblob(4000) FROM n",
		                 NULL, NULL, NULL) == SQLITE_OK)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(sqlite3_open_v2(f.path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "SELECT * FROM run", NULL, NULL, NULL), SQLITE_READONLY);
	sqlite3_close(db);
	assert_int_equal(wf_record_open_to_read(f.path, 1000, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "SELECT * FROM run", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "SELECT * FROM x", NULL, NULL, NULL), SQLITE_ERROR);
	sqlite3_close(db);
	unlink(f.path);
	snprintf(f.lock, sizeof(f.lock), "%s-journal", f.path);
	unlink(f.lock);
}

#define PROCESSES 4
#define TIMES 25

/* Many processes that come and go: none takes a lock that another one has for its own. */
static void test_many(void **state)
{
	pid_t pid[PROCESSES];
	struct file f;
	char buf[1024];

	(void)state;
	make_file(&f);
	for (int i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		for (int k = 0; pid[i] == 0 && k < TIMES; k++) {
			struct wf_record *record = open_file(&f);
			struct wf_record_run *run = begin(record);

			if (strcmp(ask(&f, "SELECT count(*) FROM run WHERE state = 'interrupted'",
			               buf),
			           "0") != 0)
				_exit(2);
			end(run);
			close_file(record);
		}
		if (pid[i] == 0)
			_exit(0);
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status = 1;

		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	assert_string_equal(ask(&f, "SELECT count(*) FROM run WHERE state = 'finished'", buf),
	                    "100");
	assert_int_not_equal(access(f.lock, F_OK), 0);
	unlink(f.path);
}

/* ---- older versions ---- */

static void copy_old(struct file *f)
{
	struct wf_mem *heap = wf_mem_heap();
	struct wf_err err = { "" };
	char *text = NULL;
	size_t len = 0;
	FILE *file;

	make_file(f);
	if (wf_file_read(WEFT_SOURCE_DIR "/tests/data/results/v6.sqlite", WF_FILE_MAX, heap, &text,
	                 &len, &err) != 0)
		fail_msg("%s", err.text);
	file = fopen(f->path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	heap->free(heap, text);
}

#define COLUMNS "SELECT group_concat(name || type) FROM pragma_table_info('run')"

/* A file of version 6 gets what it lacks, keeps what it has, and has the columns of a new one. */
static void test_migrate(void **state)
{
	struct file f, fresh;
	struct wf_record *record;
	char buf[1024], columns[1024], values[1024];

	(void)state;
	copy_old(&f);
	make_file(&fresh);
	close_file(open_file(&fresh));
	assert_string_equal(ask(&f, "PRAGMA user_version", buf), "6");
	ask(&f, "SELECT count(*) || total(value) FROM value", values);
	record = open_file(&f);
	end(begin(record));
	close_file(record);
	assert_string_equal(ask(&f, "PRAGMA user_version", buf), "7");
	assert_string_equal(ask(&f, "PRAGMA integrity_check", buf), "ok");
	assert_string_equal(ask(&f,
	                        "SELECT group_concat(id || coalesce(digest, '-')) FROM run "
	                        "WHERE build IS NULL OR id = 5",
	                        buf),
	                    "1-,2-,3-,4-,5d");
	assert_string_equal(ask(&f, COLUMNS, buf), ask(&fresh, COLUMNS, columns));
	assert_string_equal(
		ask(&f, "SELECT sql FROM sqlite_schema WHERE name = 'input'", buf),
		ask(&fresh, "SELECT sql FROM sqlite_schema WHERE name = 'input'", columns));
	assert_string_equal(ask(&f, "SELECT count(*) || total(value) FROM value", buf), values);
	/* What was called PortXmitDiscards is none of it. */
	assert_string_equal(ask(&f,
	                        "SELECT group_concat(name) FROM (SELECT name FROM counter WHERE "
	                        "source = 'infiniband' AND measure IN ('drops_buffer', "
	                        "'drops_life') ORDER BY measure)",
	                        buf),
	                    "port_buffer_overrun_errors,port_sw_hoq_lifetime_limit_discards");
	unlink(f.path);
	unlink(fresh.path);
}

/* Killed at any moment the file is of the old version or of the new one, and whole. */
static void test_migrate_killed(void **state)
{
	struct file f;
	char buf[1024];

	(void)state;
	for (long us = 0; us < 12000; us += 300) {
		const struct timespec wait = { .tv_nsec = us * 1000 };
		int status = 0;
		pid_t pid;
		bool is_new;

		copy_old(&f);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			(void)open_file(&f);
			pause();
		}
		nanosleep(&wait, NULL); /* time: it is killed at any */
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_string_equal(ask(&f, "PRAGMA integrity_check", buf), "ok");
		is_new = strcmp(ask(&f, "PRAGMA user_version", buf), "7") == 0;
		assert_true(is_new || strcmp(buf, "6") == 0);
		assert_string_equal(ask(&f,
		                        "SELECT count(*) FROM sqlite_schema WHERE name = 'input' "
		                        "OR (name = 'run' AND sql LIKE '%digest%build%')",
		                        buf),
		                    is_new ? "2" : "0");
		close_file(open_file(&f));
		assert_string_equal(ask(&f, "SELECT count(digest) || count(*) FROM run", buf),
		                    "04");
		unlink(f.path);
	}
}

/* What cannot be known is refused, with a word on what to do. */
static void test_versions(void **state)
{
	static const struct {
		const char *sql, *want;
	} rows[] = {
		{ "PRAGMA user_version = 8", "a newer weft wrote it: use that one" },
		{ "PRAGMA user_version = 5", "an older weft wrote it: use that one, or record it" },
		{ "PRAGMA user_version = -1", "an older weft wrote it" },
		{ "PRAGMA application_id = 1", "this is not a results file of weft" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		struct wf_record *record = NULL;
		struct wf_err err = { "" };
		struct file f;
		char buf[1024];

		copy_old(&f);
		ask(&f, rows[i].sql, buf);
		assert_int_equal(wf_record_open(f.path, "run", "x", &record, &err), -EINVAL);
		if (strstr(err.text, rows[i].want) == NULL)
			fail_msg("%s", err.text);
		assert_string_equal(ask(&f, "SELECT count(*) FROM run", buf), "4");
		assert_int_not_equal(access(f.lock, F_OK), 0);
		unlink(f.path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alive),    cmocka_unit_test(test_lock_file),
		cmocka_unit_test(test_many),     cmocka_unit_test(test_migrate),
		cmocka_unit_test(test_versions), cmocka_unit_test(test_migrate_killed),
		cmocka_unit_test(test_links),    cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
