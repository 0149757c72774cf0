/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_perfetto.c - a run as a trace in Chrome's JSON format, which ui.perfetto.dev opens.
 *
 * Ranks are processes with their streams as threads; nodes are processes, too, with their counters,
 * and pauses on a thread for each port; collectives and flows are asynchronous slices of a process
 * of their own, since they overlap. Times are microseconds with six decimals: nothing is lost.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "results/export_priv.h"
#include "text/json.h"

/* Numbers of processes: ranks begin with 1. */
#define PID_JOB INT64_C(1000000)
#define PID_FLOWS INT64_C(1000001)
#define PID_NODE INT64_C(2000000)

#define EXPOSED 999 /* number of the thread of what was exposed */

struct trace {
	struct wf_json json;
	struct wf_err *err;
	int64_t node, port, counter, at; /* of the counter's row before */
	double value;
};

/* Sums of what a file says: any numbers, so they may wrap around. */
static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static void begin(struct trace *t, const char *phase, const char *name, int64_t pid, int64_t tid)
{
	wf_json_open(&t->json, NULL, '{');
	wf_json_text(&t->json, "ph", phase);
	wf_json_text(&t->json, "name", name);
	wf_json_u64(&t->json, "pid", (uint64_t)pid);
	wf_json_u64(&t->json, "tid", (uint64_t)tid);
}

static void end(struct trace *t)
{
	wf_json_close(&t->json, '{');
}

static void at(struct trace *t, const char *key, int64_t ps)
{
	wf_json_decimal(&t->json, key, ps, 6);
}

/* Names a process or one of its threads, and says where it stands. */
static void name_it(struct trace *t, const char *what, int64_t pid, int64_t tid, const char *name)
{
	begin(t, "M", what, pid, tid);
	wf_json_open(&t->json, "args", '{');
	wf_json_text(&t->json, "name", name);
	wf_json_close(&t->json, '{');
	end(t);
}

/* rank, name of its node */
static void put_rank(void *arg, sqlite3_stmt *row)
{
	char name[64];

	snprintf(name, sizeof(name), "rank %s (%s)", wf_export_text(row, 0),
	         wf_export_text(row, 1));
	name_it(arg, "process_name", plus(sqlite3_column_int64(row, 0), 1), 0, name);
}

/* rank, stream, kind: once each */
static void put_stream(void *arg, sqlite3_stmt *row)
{
	const char *kind = wf_export_text(row, 2);
	bool exposed = strcmp(kind, "exposed") == 0;
	char name[64];

	snprintf(name, sizeof(name), "%s %s", kind, exposed ? "" : wf_export_text(row, 1));
	name_it(arg, "thread_name", plus(sqlite3_column_int64(row, 0), 1),
	        exposed ? EXPOSED : sqlite3_column_int64(row, 1), name);
}

/* rank, stream, kind, begin, end, name */
static void put_span(void *arg, sqlite3_stmt *row)
{
	struct trace *t = arg;
	const char *kind = wf_export_text(row, 2);
	int64_t from = sqlite3_column_int64(row, 3);

	begin(t, "X", wf_export_text(row, 5), plus(sqlite3_column_int64(row, 0), 1),
	      strcmp(kind, "exposed") == 0 ? EXPOSED : sqlite3_column_int64(row, 1));
	wf_json_text(&t->json, "cat", kind);
	at(t, "ts", from);
	at(t, "dur", minus(sqlite3_column_int64(row, 4), from));
	end(t);
}

/* One end of an asynchronous slice. */
static void put_end(struct trace *t, const char *phase, const char *cat, const char *name,
                    int64_t pid, int64_t id, int64_t ps)
{
	begin(t, phase, name, pid, 0);
	wf_json_text(&t->json, "cat", cat);
	wf_json_u64(&t->json, "id", (uint64_t)id);
	at(t, "ts", ps);
}

/* id, name, begin, end, kind, bytes, algorithm, busbw */
static void put_collective(void *arg, sqlite3_stmt *row)
{
	struct trace *t = arg;
	const char *name = wf_export_text(row, 1);
	int64_t id = sqlite3_column_int64(row, 0);

	put_end(t, "b", "collective", name, PID_JOB, id, sqlite3_column_int64(row, 2));
	wf_json_open(&t->json, "args", '{');
	wf_json_text(&t->json, "kind", wf_export_text(row, 4));
	wf_json_u64(&t->json, "bytes", (uint64_t)sqlite3_column_int64(row, 5));
	wf_json_text(&t->json, "algorithm", wf_export_text(row, 6));
	wf_json_real(&t->json, "busbw_GBps", sqlite3_column_double(row, 7) / 1e9);
	wf_json_close(&t->json, '{');
	end(t);
	put_end(t, "e", "collective", name, PID_JOB, id, sqlite3_column_int64(row, 3));
	end(t);
}

/* id, source, destination, start, end, bytes */
static void put_flow(void *arg, sqlite3_stmt *row)
{
	struct trace *t = arg;
	int64_t id = sqlite3_column_int64(row, 0);
	char name[64];

	snprintf(name, sizeof(name), "%s to %s", wf_export_text(row, 1), wf_export_text(row, 2));
	put_end(t, "b", "flow", name, PID_FLOWS, id, sqlite3_column_int64(row, 3));
	wf_json_open(&t->json, "args", '{');
	wf_json_u64(&t->json, "bytes", (uint64_t)sqlite3_column_int64(row, 5));
	wf_json_close(&t->json, '{');
	end(t);
	put_end(t, "e", "flow", name, PID_FLOWS, id, sqlite3_column_int64(row, 4));
	end(t);
}

/* node, name */
static void put_node(void *arg, sqlite3_stmt *row)
{
	name_it(arg, "process_name", plus(PID_NODE, sqlite3_column_int64(row, 0)), 0,
	        wf_export_text(row, 1));
}

/* A value of a counter from a time on. */
static void put_point(struct trace *t, const char *name, int64_t ps, double value)
{
	begin(t, "C", name, plus(PID_NODE, t->node), 0);
	at(t, "ts", ps);
	wf_json_open(&t->json, "args", '{');
	wf_json_real(&t->json, "value", value);
	wf_json_close(&t->json, '{');
	end(t);
}

/*
 * node, port, counter, name, t, value, measure, factor, time of the sample before: in the order of
 * time for each counter. What was sent is shown as the rate between two samples.
 */
static void put_sample(void *arg, sqlite3_stmt *row)
{
	struct trace *t = arg;
	int64_t now = sqlite3_column_int64(row, 4), before = sqlite3_column_int64(row, 8);
	bool same = t->node == sqlite3_column_int64(row, 0) &&
	            t->port == sqlite3_column_int64(row, 1) &&
	            t->counter == sqlite3_column_int64(row, 2);
	bool rate = strcmp(wf_export_text(row, 6), "tx_bytes") == 0;
	double value = sqlite3_column_double(row, 5);
	double bits = (value - (same ? t->value : 0)) * sqlite3_column_double(row, 7) * 8;
	char name[96];

	t->node = sqlite3_column_int64(row, 0);
	t->port = sqlite3_column_int64(row, 1);
	t->counter = sqlite3_column_int64(row, 2);
	snprintf(name, sizeof(name), "port %lld %s%s", (long long)t->port, wf_export_text(row, 3),
	         rate ? " (Gb/s)" : "");
	if (!rate) {
		put_point(t, name, now, value);
	} else {
		/* Nothing was sent from its last row to the sample before this. */
		if (same && before > t->at)
			put_point(t, name, t->at, 0);
		put_point(t, name, before,
		          now > before ? bits * 1000 / (double)minus(now, before) : 0);
	}
	t->at = now;
	t->value = value;
}

/* node, port, kind, t, duration, queue, detail */
static void put_event(void *arg, sqlite3_stmt *row)
{
	struct trace *t = arg;
	bool lasts = sqlite3_column_type(row, 4) != SQLITE_NULL;
	const char *queue = wf_export_text(row, 5);
	char name[96];

	snprintf(name, sizeof(name), "%s%s%s %s", wf_export_text(row, 2),
	         queue[0] != '\0' ? " " : "", queue, wf_export_text(row, 6));
	begin(t, lasts ? "X" : "i", name, plus(PID_NODE, sqlite3_column_int64(row, 0)),
	      plus(sqlite3_column_int64(row, 1), 1));
	wf_json_text(&t->json, "cat", wf_export_text(row, 2));
	at(t, "ts", sqlite3_column_int64(row, 3));
	if (lasts)
		at(t, "dur", sqlite3_column_int64(row, 4));
	else
		wf_json_text(&t->json, "s", "t");
	end(t);
}

/* What is read, in this order. ?1 is the run; NULL: there is only one. */
static const struct {
	wf_export_row_fn *put;
	const char *sql;
} parts[] = {
	{ put_rank,
	  "SELECT k.id, n.name FROM rank k JOIN node n ON n.run = k.run AND n.id = k.node "
	  "WHERE ?1 IS NULL OR k.run = ?1 ORDER BY k.id" },
	{ put_stream, "SELECT DISTINCT rank, stream, kind FROM span WHERE ?1 IS NULL OR run = ?1 "
	              "ORDER BY rank, stream, kind" },
	{ put_span, "SELECT rank, stream, kind, begin_ps, end_ps, name FROM span "
	            "WHERE ?1 IS NULL OR run = ?1 ORDER BY begin_ps, rank, stream" },
	{ put_collective,
	  "SELECT id, name, begin_ps, end_ps, kind, bytes, algorithm, busbw FROM collective "
	  "WHERE (?1 IS NULL OR run = ?1) AND end_ps IS NOT NULL ORDER BY begin_ps, id" },
	{ put_flow, "SELECT f.id, a.name, b.name, f.start_ps, f.end_ps, f.bytes FROM flow f "
	            "JOIN node a ON a.run = f.run AND a.id = f.src "
	            "JOIN node b ON b.run = f.run AND b.id = f.dst "
	            "WHERE (?1 IS NULL OR f.run = ?1) AND f.end_ps IS NOT NULL ORDER BY f.id" },
	{ put_node, "SELECT id, name FROM node WHERE ?1 IS NULL OR run = ?1 ORDER BY id" },
	{ put_event, "SELECT node, port, kind, t_ps, dur_ps, queue, detail FROM event "
	             "WHERE ?1 IS NULL OR run = ?1 ORDER BY t_ps, node, port, queue, kind" },
	{ put_sample,
	  "SELECT s.node, s.port, s.counter, c.name, s.t_ps, s.value, c.measure, c.factor, "
	  "coalesce((SELECT max(k.t_ps) FROM tick k WHERE k.run = s.run AND k.t_ps < s.t_ps), 0) "
	  "FROM sample s JOIN counter c ON c.id = s.counter "
	  "WHERE (?1 IS NULL OR s.run = ?1) AND c.kind <> 'maximum' "
	  "ORDER BY s.node, s.port, c.name, s.t_ps" },
};

static int perfetto_write(struct wf_export *ex, const char *path, FILE *file, struct wf_err *err)
{
	struct trace t = { .node = -1 };
	int rc = 0;

	(void)path;
	wf_json_init(&t.json, file);
	t.json.flat = 2;
	wf_json_open(&t.json, NULL, '{');
	wf_json_text(&t.json, "displayTimeUnit", "ns");
	wf_json_open(&t.json, "traceEvents", '[');
	name_it(&t, "process_name", PID_JOB, 0, "collectives");
	name_it(&t, "process_name", PID_FLOWS, 0, "flows");
	for (size_t i = 0; i < WF_ARRAY_SIZE(parts) && rc == 0; i++)
		rc = wf_export_each(ex, parts[i].sql, parts[i].put, &t, err);
	wf_json_close(&t.json, '[');
	wf_json_close(&t.json, '{');
	return rc;
}

const struct wf_export_ops wf_export_perfetto = {
	.name = "perfetto",
	.help = "one run as a trace for ui.perfetto.dev and chrome://tracing (JSON)",
	.one_run = true,
	.write = perfetto_write,
};
