/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: tsan */
/*
 * test_record.c - every kind of row comes back as it was given, from one thread and from several;
 * a study is gone on with where what went into it is the same.
 */
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/build_id.h"
#include "results/record_find.h"
#include "results/record_priv.h"

static const struct wf_record_head head = {
	.label = "first",
	.fabric = "roce",
	.scenario_file = "s.yaml",
	.scenario = "name: it's\n",
	.overrides = "",
	.seed = 7,
	.until = 10 * WF_MS,
	.sample = WF_US,
	.digest = "d",
};

static const struct wf_record_tail tail = {
	.state = WF_RECORD_FINISHED,
	.end = 5 * WF_US,
	.cpu_s = 0.5,
	.wall_s = 0.25,
};

struct file {
	char path[64];
	struct wf_record *record;
};

static void open_file(struct file *f)
{
	struct wf_err err = { "" };

	snprintf(f->path, sizeof(f->path), "/tmp/weft-record-XXXXXX");
	assert_true(close(mkstemp(f->path)) == 0);
	if (wf_record_open(f->path, "run", "test", &f->record, &err) != 0)
		fail_msg("%s", err.text);
}

/* What a query says, its columns with | between them. */
static const char *ask(const struct file *f, const char *sql, char *buf, size_t size)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	size_t n = 0;

	buf[0] = '\0';
	assert_int_equal(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(stmt); i++) {
			const unsigned char *text = sqlite3_column_text(stmt, i);

			n += (size_t)snprintf(buf + n, size - n, "%s%s", i > 0 ? "|" : "",
			                      text != NULL ? (const char *)text : "-");
		}
		n += (size_t)snprintf(buf + n, size - n, "\n");
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return buf;
}

static void close_file(struct file *f)
{
	struct wf_err err = { "" };
	char shm[80];

	if (wf_record_close(f->record, &err) != 0)
		fail_msg("%s", err.text);
	snprintf(shm, sizeof(shm), "%s-wal", f->path);
	assert_int_not_equal(access(shm, F_OK), 0);
}

static void add_all(struct wf_record_run *run)
{
	static struct wf_hist hist;
	const struct wf_record_event event = {
		.at = 3,
		.kind = "pause",
		.node = 1,
		.port = 2,
		.queue = 3,
		.dur = 4,
		.src = WF_RECORD_NONE,
		.dst = WF_RECORD_NONE,
	};
	const struct wf_record_event drop = {
		.at = 5,
		.kind = "drop",
		.node = 1,
		.port = WF_RECORD_NONE,
		.queue = WF_RECORD_NONE,
		.dur = -1,
		.src = 8,
		.dst = 9,
		.detail = "buffer",
	};
	const struct wf_record_flow flow = { 0, 1, 2, 1000, 3, 4, WF_TIME_NEVER };
	const struct wf_record_collective c = {
		.id = 1,
		.name = "g",
		.kind = "all-reduce",
		.algorithm = "ring",
		.ranks = 8,
		.bytes = 64,
		.begin = 1,
		.end = 2,
		.took = 1,
		.algbw = 1.5,
		.busbw = 2.5,
	};
	const struct wf_record_collective open = {
		.id = 2,
		.name = "h",
		.kind = "all-gather",
		.algorithm = "ring",
		.ranks = 8,
		.bytes = 64,
		.begin = 3,
		.end = WF_TIME_NEVER,
	};
	const struct wf_record_span span = { 1, 2, "compute", "forward", 3, 4 };
	const struct wf_record_bandwidth point = { "all-reduce", "tree", 8, 1024, 99, 1.5, 2.5 };

	memset(&hist, 0, sizeof(hist));
	wf_hist_add(&hist, 10);
	wf_hist_add(&hist, 10);
	wf_hist_add(&hist, 1000000);
	wf_record_parameter(run, "a", "1", NULL);
	wf_record_parameter(run, "b", "it's", "f:1");
	wf_record_value(run, "u", UINT64_C(1) << 40, "bytes");
	wf_record_real(run, "r", 0.1, "");
	wf_record_text(run, "t", "words");
	wf_record_none(run, "z", "ps");
	wf_record_tick(run, 5);
	wf_record_sample(run, 5, 1, 2, 3, 4);
	wf_record_sample_real(run, 5, 1, 2, 4, 0.5);
	wf_record_event(run, &event);
	wf_record_event(run, &drop);
	wf_record_event_count(run, "drop", 9, 1);
	wf_record_flow(run, &flow);
	wf_record_flow_sample(run, 5, 0, 4096, 0, 65536);
	wf_record_flow_sample(run, 6, 0, 8192, 100, 0);
	wf_record_rank(run, 3, 4);
	wf_record_message(run, 1, 2, 3, 4, 5, true);
	wf_record_collective(run, &c);
	wf_record_collective(run, &open);
	wf_record_collective_rank(run, 1, 2, 3, WF_TIME_NEVER);
	wf_record_span(run, &span);
	wf_record_bandwidth(run, &point);
	wf_record_hist(run, "packet", &hist);
	wf_record_note(run, "note", "rule", "said");
}

static void test_rows(void **state)
{
	static const struct {
		const char *sql, *want;
	} rows[] = {
		{ "SELECT kind, name FROM study", "run|test\n" },
		{ "SELECT id, study, label, fabric, point, scenario_file, scenario, overrides, "
		  "seed, "
		  "state, end_ps, until_ps, sample_ps, cpu_s, wall_s FROM run",
		  "1|1|first|roce|-|s.yaml|name: "
		  "it's\n||7|finished|5000000|10000000000|1000000|0.5|"
		  "0.25\n" },
		{ "SELECT * FROM parameter", "1|a|1|-\n1|b|it's|f:1\n" },
		{ "SELECT * FROM value",
		  "1|r|0.1|\n1|t|words|\n1|u|1099511627776|bytes\n1|z|-|ps\n" },
		{ "SELECT * FROM tick", "1|5\n" },
		{ "SELECT * FROM sample", "1|5|1|2|3|4\n1|5|1|2|4|0.5\n" },
		{ "SELECT * FROM event", "1|3|pause|1|2|3|4|-|-|-\n1|5|drop|1|-|-|-|8|9|buffer\n" },
		{ "SELECT * FROM event_count", "1|drop|9|1\n" },
		{ "SELECT * FROM flow", "1|0|1|2|1000|3|4|-\n" },
		{ "SELECT * FROM flow_sample", "1|5|0|4096|-|65536\n1|6|0|8192|100|-\n" },
		{ "SELECT * FROM rank", "1|3|4\n" },
		{ "SELECT * FROM message", "1|1|2|3|4|5|1\n" },
		{ "SELECT * FROM collective", "1|1|g|all-reduce|ring|8|64|1|2|1|1.5|2.5\n"
		                              "1|2|h|all-gather|ring|8|64|3|-|-|-|-\n" },
		{ "SELECT * FROM collective_rank", "1|1|2|3|-\n" },
		{ "SELECT * FROM span", "1|1|2|compute|3|4|forward\n" },
		{ "SELECT * FROM bandwidth", "1|all-reduce|tree|8|1024|99|1.5|2.5\n" },
		{ "SELECT * FROM latency", "1|packet|10|2\n1|packet|1000000|1\n" },
		{ "SELECT what, le_ps, round(share, 3) FROM cdf",
		  "packet|10|0.667\npacket|1000000|1.0\n" },
		{ "SELECT * FROM note", "1|1|note|rule|said\n1|-|verdict|-|all is well\n" },
	};
	struct wf_record_run *run = NULL;
	struct wf_err err = { "" };
	struct file f;
	char buf[1024];

	(void)state;
	open_file(&f);
	assert_int_equal(wf_record_begin(f.record, &head, &run, &err), 0);
	assert_string_equal(ask(&f, "SELECT state FROM run", buf, sizeof(buf)), "running\n");
	add_all(run);
	assert_int_equal(wf_record_end(run, &tail, &err), 0);
	assert_int_equal(wf_record_study_note(f.record, "verdict", "all is well", &err), 0);
	close_file(&f);
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++)
		assert_string_equal(ask(&f, rows[i].sql, buf, sizeof(buf)), rows[i].want);
	unlink(f.path);
}

/* A counter has one id, whoever asks. */
static void test_counters(void **state)
{
	const struct wf_record_counter c[] = {
		{ "tx_prio3_bytes", 3, "tx_bytes", 1, "bytes", "counter", "ethtool", "sent", NULL },
		{ "port_xmit_data", -1, "tx_bytes", 4, "4 bytes", "counter", "infiniband", "sent",
		  "port_data_transmitted_bytes_total" },
	};
	struct wf_record_run *one = NULL, *two = NULL;
	struct wf_err err = { "" };
	uint32_t a[2] = { 0 }, b = 0;
	struct file f;
	char buf[512];

	(void)state;
	open_file(&f);
	assert_int_equal(wf_record_begin(f.record, &head, &one, &err), 0);
	assert_int_equal(wf_record_begin(f.record, &head, &two, &err), 0);
	assert_int_equal(wf_record_run_id(two), 2);
	assert_int_equal(wf_record_counters(one, c, 2, a, &err), 0);
	assert_int_equal(wf_record_counters(two, &c[1], 1, &b, &err), 0);
	assert_int_equal(a[1], b);
	assert_int_not_equal(a[0], a[1]);
	assert_int_equal(wf_record_end(one, &tail, &err), 0);
	assert_int_equal(wf_record_end(two, &tail, &err), 0);
	close_file(&f);
	assert_string_equal(
		ask(&f, "SELECT name, queue, factor, exporter FROM counter", buf, sizeof(buf)),
		"tx_prio3_bytes|3|1.0|-\n"
		"port_xmit_data|-|4.0|port_data_transmitted_bytes_total\n");
	unlink(f.path);
}

#define THREADS 4
#define ROWS 20000

static void *write_rows(void *arg)
{
	struct wf_record_run *run = NULL;
	struct wf_err err = { "" };

	if (wf_record_begin(arg, &head, &run, &err) != 0)
		return NULL;
	for (uint32_t i = 0; i < ROWS; i++) {
		wf_record_sample(run, i, i, 0, 1, i);
		if (i % 5000 == 0)
			wf_record_write(run, i);
	}
	return wf_record_end(run, &tail, &err) == 0 ? arg : NULL;
}

static void test_threads(void **state)
{
	pthread_t thread[THREADS];
	struct file f;
	char buf[512];

	(void)state;
	open_file(&f);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, write_rows, f.record), 0);
	for (int i = 0; i < THREADS; i++) {
		void *done = NULL;

		assert_int_equal(pthread_join(thread[i], &done), 0);
		assert_non_null(done);
	}
	close_file(&f);
	assert_string_equal(ask(&f, "SELECT count(DISTINCT run), count(*), sum(value) FROM sample",
	                        buf, sizeof(buf)),
	                    "4|80000|799960000\n");
	unlink(f.path);
}

/* Opens the file as a comparison of scenario and overrides, and begins and ends a run of it. */
static void compare_again(struct file *f, const char *overrides, enum wf_record_state how)
{
	struct wf_record_head h = head;
	struct wf_record_tail t = tail;
	struct wf_record_run *run = NULL;
	struct wf_err err = { "" };

	assert_int_equal(wf_record_open(f->path, "compare", "x", &f->record, &err), 0);
	assert_int_equal(wf_record_resume(f->record, "n", h.scenario, overrides, &err), 0);
	h.overrides = overrides;
	t.state = how;
	if (wf_record_find(f->record, &h) >= 0)
		return;
	assert_int_equal(wf_record_begin(f->record, &h, &run, &err), 0);
	add_all(run);
	assert_int_equal(wf_record_end(run, &t, &err), 0);
	assert_int_equal(wf_record_study_note(f->record, "verdict", "v", &err), 0);
}

static void take_point(void *arg, const struct wf_record_bandwidth *p)
{
	snprintf(arg, 64, "%s %s %u %llu %.1f", p->collective, p->algorithm, p->ranks,
	         (unsigned long long)p->bytes, p->busbw);
}

static void take_note(void *arg, const char *kind, const char *rule, const char *text)
{
	snprintf(arg, 64, "%s %s %s", kind, rule, text);
}

/* A study is gone on with: what finished is read back, what did not is done again. */
static void test_resume(void **state)
{
	struct wf_err err = { "" };
	struct wf_record_head h = head;
	char buf[512], text[64];
	struct file f;
	double v = 0;

	(void)state;
	open_file(&f);
	close_file(&f);
	compare_again(&f, "", WF_RECORD_INTERRUPTED);
	close_file(&f);
	assert_string_equal(ask(&f, "SELECT id, kind, name FROM study", buf, sizeof(buf)),
	                    "1|compare|n\n");
	compare_again(&f, "", WF_RECORD_FINISHED);
	close_file(&f);
	assert_string_equal(ask(&f,
	                        "SELECT (SELECT group_concat(study || state) FROM run), "
	                        "(SELECT count(*) FROM sample), (SELECT count(*) FROM note)",
	                        buf, sizeof(buf)),
	                    "1finished|2|2\n");
	compare_again(&f, "other", WF_RECORD_FINISHED);
	h.overrides = "other";
	h.seed++;
	assert_int_equal(wf_record_find(f.record, &h), -1);
	h.seed--;
	h.place++;
	assert_int_equal(wf_record_find(f.record, &h), -1);
	close_file(&f);
	compare_again(&f, "", WF_RECORD_FINISHED);
	assert_int_equal(wf_record_find(f.record, &head), 1);
	assert_true(wf_record_read(f.record, 1, "r", &v, text, sizeof(text)));
	assert_true(v == 0.1);
	assert_false(wf_record_read(f.record, 1, "t", &v, text, sizeof(text)));
	assert_false(wf_record_read(f.record, 1, "none", &v, text, sizeof(text)));
	assert_true(wf_record_read_text(f.record, 1, "t", text, sizeof(text)));
	assert_string_equal(text, "words");
	assert_false(wf_record_read_text(f.record, 1, "r", text, sizeof(text)));
	wf_record_read_bandwidth(f.record, 1, take_point, text);
	assert_string_equal(text, "all-reduce tree 8 1024 2.5");
	wf_record_read_notes(f.record, 1, take_note, text);
	assert_string_equal(text, "note rule said");
	assert_int_equal(wf_record_study_note(f.record, "verdict", "w", &err), 0);
	close_file(&f);
	assert_string_equal(ask(&f, "SELECT study, text FROM note WHERE run IS NULL ORDER BY 1; ",
	                        buf, sizeof(buf)),
	                    "1|w\n2|v\n");
	/* Another kind has nothing to do with it. */
	assert_int_equal(wf_record_open(f.path, "sweep", "x", &f.record, &err), 0);
	assert_int_equal(wf_record_resume(f.record, "n", head.scenario, "", &err), 0);
	assert_int_equal(wf_record_find(f.record, &head), -1);
	close_file(&f);
	assert_string_equal(ask(&f, "SELECT count(*) FROM study", buf, sizeof(buf)), "2\n");
	unlink(f.path);
}

/* ---- what went in ---- */

#define PROFILE(hash)                                                                              \
	{                                                                                          \
		"profile", "roce-400g", "p/roce-400g.yaml", hash, 10                               \
	}

static const struct wf_record_input first[] = {
	{ "scenario", "", "s.yaml", "aa", 5 },
	PROFILE("bb"),
};
static const struct wf_record_input edited[] = {
	{ "scenario", "", "s.yaml", "aa", 5 },
	PROFILE("cc"),
};
static const struct wf_record_input longer[] = {
	{ "scenario", "", "s.yaml", "aa", 5 },
	PROFILE("bb"),
	{ "trace", "t.goal", "t.goal", "dd", 5 },
};
static const struct wf_record_input between[] = {
	{ "scenario", "", "s.yaml", "aa", 5 },
	{ "topology", "t.txt", "x/t.txt", "ee", 5 },
	PROFILE("bb"),
};

static void set_inputs(struct wf_record_head *h, const char *digest,
                       const struct wf_record_input *inputs, size_t n)
{
	h->digest = digest;
	h->inputs = inputs;
	h->n_inputs = n;
}

/* Goes on with a sweep. */
static void sweep_again(struct file *f)
{
	struct wf_err err = { "" };

	assert_int_equal(wf_record_open(f->path, "sweep", "x", &f->record, &err), 0);
	assert_int_equal(wf_record_resume(f->record, "n", head.scenario, "", &err), 0);
}

static void do_run(struct file *f, const struct wf_record_head *h, enum wf_record_state how)
{
	struct wf_record_tail t = tail;
	struct wf_record_run *run = NULL;
	struct wf_err err = { "" };

	t.state = how;
	assert_int_equal(wf_record_begin(f->record, h, &run, &err), 0);
	wf_record_value(run, "u", h->n_inputs, "");
	assert_int_equal(wf_record_end(run, &t, &err), 0);
}

/* A run that something else went into is not found, it is said what, and it is replaced. */
static void test_stale(void **state)
{
	struct wf_record_head h = head, point = head;
	char buf[512], what[64];
	struct file f;

	(void)state;
	open_file(&f);
	close_file(&f);
	sweep_again(&f);
	point.point = "kmin=1";
	set_inputs(&point, "d1", first, 2);
	set_inputs(&h, "d1", first, 2);
	do_run(&f, &h, WF_RECORD_FINISHED);
	do_run(&f, &point, WF_RECORD_FINISHED);
	assert_int_equal(wf_record_find(f.record, &h), 1);
	set_inputs(&h, "d2", edited, 2);
	assert_int_equal(wf_record_find(f.record, &h), -1);
	assert_true(wf_record_stale(f.record, &h, what, sizeof(what)));
	assert_string_equal(what, "an older roce-400g.yaml");
	set_inputs(&h, "d3", longer, 3);
	assert_true(wf_record_stale(f.record, &h, what, sizeof(what)));
	assert_string_equal(what, "an older t.goal");
	set_inputs(&h, "d4", between, 3);
	assert_true(wf_record_stale(f.record, &h, what, sizeof(what)));
	assert_string_equal(what, "an older t.txt");
	set_inputs(&h, "d5", first, 1);
	assert_true(wf_record_stale(f.record, &h, what, sizeof(what)));
	assert_string_equal(what, "an older roce-400g.yaml");
	h.seed++;
	assert_false(wf_record_stale(f.record, &h, what, sizeof(what)));
	h.seed--;
	/* One that does not finish takes no other's place. */
	set_inputs(&h, "d2", edited, 2);
	do_run(&f, &h, WF_RECORD_INTERRUPTED);
	assert_string_equal(ask(&f, "SELECT group_concat(id) FROM run", buf, sizeof(buf)),
	                    "1,2,3\n");
	do_run(&f, &h, WF_RECORD_FINISHED);
	close_file(&f);
	assert_string_equal(ask(&f,
	                        "SELECT id, digest, build = (SELECT max(build) FROM run) FROM run",
	                        buf, sizeof(buf)),
	                    "2|d1|1\n3|d2|1\n4|d2|1\n");
	assert_string_equal(ask(&f, "SELECT * FROM input WHERE run <> 3", buf, sizeof(buf)),
	                    "2|0|scenario||s.yaml|aa|5\n"
	                    "2|1|profile|roce-400g|p/roce-400g.yaml|bb|10\n"
	                    "4|0|scenario||s.yaml|aa|5\n"
	                    "4|1|profile|roce-400g|p/roce-400g.yaml|cc|10\n");
	assert_string_equal(ask(&f, "SELECT run FROM value", buf, sizeof(buf)), "2\n3\n4\n");
	unlink(f.path);
}

/*
 * Two processes that do the same at once have one study, each of its runs once, and both find them
 * at the end under the numbers they had.
 */
static void test_twice(void **state)
{
	struct wf_record_head h = head;
	struct wf_record_run *run = NULL;
	struct wf_err err = { "" };
	struct file f, other;
	char buf[512];

	(void)state;
	open_file(&f);
	close_file(&f);
	other = f;
	set_inputs(&h, "d1", first, 2);
	sweep_again(&f);
	sweep_again(&other);
	assert_int_equal(wf_record_begin(f.record, &h, &run, &err), 0);
	do_run(&other, &h, WF_RECORD_FINISHED);
	assert_int_equal(wf_record_find(f.record, &h), 2);
	assert_int_equal(wf_record_end(run, &tail, &err), 0);
	assert_int_equal(wf_record_find(f.record, &h), 2);
	/* Of other files it is another run, whoever was first. */
	set_inputs(&h, "d2", edited, 2);
	assert_int_equal(wf_record_begin(f.record, &h, &run, &err), 0);
	set_inputs(&h, "d1", first, 2);
	do_run(&other, &h, WF_RECORD_FINISHED);
	assert_int_equal(wf_record_end(run, &tail, &err), 0);
	set_inputs(&h, "d2", edited, 2);
	assert_int_equal(wf_record_find(f.record, &h), 3);
	assert_int_equal(wf_record_close(other.record, &err), 0);
	close_file(&f);
	assert_string_equal(ask(&f, "SELECT id, study, digest FROM run", buf, sizeof(buf)),
	                    "3|1|d2\n");
	assert_string_equal(ask(&f, "SELECT count(*) FROM study", buf, sizeof(buf)), "1\n");
	unlink(f.path);
}

static void change(const struct file *f, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_busy_timeout(db, 10000), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	sqlite3_close(db);
}

/* Nor is one of another build, or of which nobody knows what went in. */
static void test_build(void **state)
{
	struct wf_record_head h = head;
	char what[64];
	struct file f;

	(void)state;
	assert_int_equal(strlen(wf_build_id()), 64);
	assert_int_equal(strspn(wf_build_id(), "0123456789abcdef"), 64);
	open_file(&f);
	close_file(&f);
	sweep_again(&f);
	set_inputs(&h, "d1", first, 2);
	do_run(&f, &h, WF_RECORD_FINISHED);
	close_file(&f);
	sweep_again(&f);
	assert_int_equal(wf_record_find(f.record, &h), 1);
	h.digest = NULL;
	assert_int_equal(wf_record_find(f.record, &h), -1);
	close_file(&f);
	change(&f, "UPDATE run SET build = 'another'");
	sweep_again(&f);
	h.digest = "d1";
	assert_int_equal(wf_record_find(f.record, &h), -1);
	assert_true(wf_record_stale(f.record, &h, what, sizeof(what)));
	assert_string_equal(what, "another build of weft");
	close_file(&f);
	unlink(f.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),    cmocka_unit_test(test_counters),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_resume),
		cmocka_unit_test(test_stale),   cmocka_unit_test(test_twice),
		cmocka_unit_test(test_build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
