/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c - what a run in a results file counted, as evidence. */
#include "results/evidence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/export_priv.h"

#define SQL 1400

struct reader {
	struct wf_export *ex;
	struct wf_evidence *ev;
	uint32_t file;
	unsigned when;
	int rc;
};

static int64_t number(sqlite3_stmt *row, int column)
{
	return sqlite3_column_int64(row, column);
}

static uint32_t port_of(struct reader *r, const char *node, int64_t port)
{
	uint32_t device = 0, id = 0;
	char name[24];

	snprintf(name, sizeof(name), "%" PRId64, port);
	if (r->rc == 0)
		r->rc = wf_evidence_device(r->ev, node, strlen(node), &device);
	if (r->rc == 0)
		r->rc = wf_evidence_port(r->ev, device, name, strlen(name), &id);
	return id;
}

/* name, kind, tier, port, rate, peer, peer_port */
static void take_port(void *arg, sqlite3_stmt *row)
{
	struct reader *r = arg;
	uint32_t a = port_of(r, wf_export_text(row, 0), number(row, 3));
	uint32_t b = port_of(r, wf_export_text(row, 5), number(row, 6));
	struct wf_ev_device *device;

	if (r->rc != 0)
		return;
	device = &r->ev->devices[r->ev->ports[a].device];
	device->kind = strcmp(wf_export_text(row, 1), "host") == 0 ? WF_EV_HOST : WF_EV_SWITCH;
	device->tier = (uint32_t)number(row, 2);
	r->ev->ports[a].rate = (uint64_t)number(row, 4);
	wf_evidence_link(r->ev, a, b);
}

static void put(struct reader *r, uint32_t port, const struct wf_ev_name *is, double value)
{
	const struct wf_ev_sample sample = {
		.port = port,
		.queue = (int16_t)is->queue,
		.counter = (uint16_t)is->counter,
		.file = r->file,
		.when = r->when != 0,
		.value = value <= 0 ? 0 : (uint64_t)(value * (double)is->by + 0.5),
	};

	if (r->rc == 0 && is->counter != WF_EV_PASSED)
		r->rc = wf_evidence_put(r->ev, &sample);
}

/* node, port, queue or -1, how many, which counter */
static void take_own(void *arg, sqlite3_stmt *row)
{
	struct reader *r = arg;
	const struct wf_ev_name is = {
		.counter = (enum wf_ev_counter)number(row, 4),
		.queue = (int)number(row, 2),
		.by = 1,
	};
	uint32_t port = port_of(r, wf_export_text(row, 0), number(row, 1));

	put(r, port, &is, sqlite3_column_double(row, 3));
}

static int read_own(struct reader *r, const char *select, enum wf_ev_counter counter,
                    struct wf_err *err)
{
	char sql[SQL];
	int rc;

	snprintf(sql, sizeof(sql), "SELECT *, %d FROM (%s)", (int)counter, select);
	rc = wf_export_each(r->ex, sql, take_own, r, err);
	return rc != 0 ? rc : r->rc;
}

/* What no counter has: links that went down, queues in a circle. */
static int read_events(struct reader *r, wf_time at, struct wf_err *err)
{
	static const struct {
		const char *kind;
		enum wf_ev_counter counter;
	} rows[] = {
		{ "link_down", WF_EV_link_downed },
		{ "deadlock", WF_EV_deadlocked },
	};
	int rc = 0;

	for (size_t i = 0; i < WF_ARRAY_SIZE(rows) && rc == 0; i++) {
		char sql[SQL];

		snprintf(sql, sizeof(sql),
		         "SELECT n.name, coalesce(e.port, 0), coalesce(e.queue, -1), count(*) "
		         "FROM event e JOIN node n ON n.run = e.run AND n.id = e.node "
		         "WHERE e.run = ?1 AND e.kind = '%s' AND e.t_ps <= %" PRId64
		         " GROUP BY 1, 2, 3",
		         rows[i].kind, at == 0 ? INT64_MAX : at);
		rc = read_own(r, sql, rows[i].counter, err);
	}
	return rc;
}

/* ---- samples ---- */

/* One counter of one port: what it came to, and how fast it ever grew. */
struct series {
	uint64_t key; /* node, port, counter; 0: none */
	double last, before, peak;
	bool has_before;
};

struct walk {
	struct reader *r;
	struct series *series;
	size_t n, room; /* a power of two */
	wf_time from, to;
	int64_t *ticks;
	size_t n_ticks, max_ticks, tick; /* the last that is not behind the sample */
};

static struct series *series_at(struct walk *w, uint64_t key)
{
	size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20);

	for (;; at++) {
		struct series *s = &w->series[at & (w->room - 1)];

		if (s->key == key || s->key == 0)
			return s;
	}
}

static int make_room(struct walk *w)
{
	size_t old_room = w->room;
	struct series *old = w->series;

	if (2 * (w->n + 1) <= w->room)
		return 0;
	w->room = w->room == 0 ? 4096 : 2 * w->room;
	w->series = calloc(w->room, sizeof(*w->series));
	if (w->series == NULL) {
		w->series = old;
		w->room = old_room;
		return -ENOMEM;
	}
	for (size_t i = 0; i < old_room; i++) {
		if (old[i].key != 0)
			*series_at(w, old[i].key) = old[i];
	}
	free(old);
	return 0;
}

static void take_tick(void *arg, sqlite3_stmt *row)
{
	struct walk *w = arg;

	if (w->n_ticks == w->max_ticks) {
		size_t more = w->max_ticks == 0 ? 1024 : 2 * w->max_ticks;
		int64_t *to = realloc(w->ticks, more * sizeof(*to));

		if (to == NULL) {
			w->r->rc = -ENOMEM;
			return;
		}
		w->ticks = to;
		w->max_ticks = more;
	}
	w->ticks[w->n_ticks++] = number(row, 0);
}

/* Since when what a sample at t says has happened: what did not change has no sample. */
static int64_t since(struct walk *w, int64_t t)
{
	if (w->tick >= w->n_ticks || w->ticks[w->tick] > t)
		w->tick = 0;
	while (w->tick + 1 < w->n_ticks && w->ticks[w->tick + 1] <= t)
		w->tick++;
	return w->tick > 0 && w->ticks[w->tick] == t ? w->ticks[w->tick - 1] : 0;
}

/* node, port, counter, t, value: in the order of time. */
static void take_sample(void *arg, sqlite3_stmt *row)
{
	struct walk *w = arg;
	uint64_t key = ((uint64_t)number(row, 0) << 40 | (uint64_t)number(row, 1) << 24 |
	                (uint64_t)number(row, 2)) +
	               1;
	int64_t t = number(row, 3), before;
	double value = sqlite3_column_double(row, 4);
	struct series *s;

	if (w->r->rc == 0)
		w->r->rc = make_room(w);
	if (w->r->rc != 0)
		return;
	s = series_at(w, key);
	w->n += s->key == 0;
	s->key = key;
	before = since(w, t);
	if (t > before && (value - s->last) / (double)(t - before) > s->peak)
		s->peak = (value - s->last) / (double)(t - before);
	s->last = value;
	if (w->from > 0 && t <= w->from) {
		s->before = value;
		s->has_before = true;
	}
}

static void put_series(struct walk *w, const struct series *s, uint32_t port,
                       const struct wf_ev_name *is)
{
	struct reader *r = w->r;

	if (w->from > 0) {
		r->when = 0;
		put(r, port, is, s->has_before ? s->before : 0);
		r->when = 1;
	}
	put(r, port, is, s->last);
	if (is->counter == WF_EV_tx_bytes) {
		const struct wf_ev_name peak = { .counter = WF_EV_peak_rate,
			                         .queue = is->queue,
			                         .by = 1 };

		put(r, port, &peak, s->peak * (double)is->by * 8e12);
	}
}

/* What the walk found, with names: of nodes and counters there are few. */
struct lookup {
	char (*node)[64];
	struct wf_ev_name *counter;
	size_t nodes, counters;
};

static void take_node_name(void *arg, sqlite3_stmt *row)
{
	struct lookup *l = arg;
	size_t id = (size_t)number(row, 0);

	if (id < l->nodes)
		snprintf(l->node[id], sizeof(l->node[id]), "%s", wf_export_text(row, 1));
}

static void take_counter_name(void *arg, sqlite3_stmt *row)
{
	struct lookup *l = arg;
	size_t id = (size_t)number(row, 0);
	const char *name = wf_export_text(row, 1);

	/* Of a file of another version, there may be some that nobody knows any more. */
	if (id < l->counters && !wf_ev_name(WF_EV_WEFT, name, strlen(name), &l->counter[id]))
		l->counter[id].counter = WF_EV_PASSED;
}

static int put_all(struct walk *w, struct lookup *l, struct wf_err *err)
{
	struct wf_export *ex = w->r->ex;
	int rc = wf_export_each(ex, "SELECT id, name FROM node WHERE run = ?1", take_node_name, l,
	                        err);

	if (rc == 0)
		rc = wf_export_each(ex, "SELECT id, name FROM counter", take_counter_name, l, err);
	for (size_t i = 0; i < w->room && rc == 0; i++) {
		const struct series *s = &w->series[i];
		size_t node = (size_t)((s->key - 1) >> 40),
		       counter = (size_t)((s->key - 1) & 0xffffff);

		if (s->key == 0 || node >= l->nodes || counter >= l->counters ||
		    l->counter[counter].counter == WF_EV_PASSED)
			continue;
		put_series(w, s,
		           port_of(w->r, l->node[node], (int64_t)((s->key - 1) >> 24 & 0xffff)),
		           &l->counter[counter]);
		rc = w->r->rc;
	}
	return rc;
}

static void take_most(void *arg, sqlite3_stmt *row)
{
	struct lookup *l = arg;

	l->nodes = (size_t)number(row, 0) + 1;
	l->counters = (size_t)number(row, 1) + 1;
}

/* One pass over all samples, which come in the order of time. */
static int read_counters(struct reader *r, wf_time from, wf_time to, struct wf_err *err)
{
	struct walk w = { .r = r, .from = from, .to = to };
	struct lookup l = { .node = NULL };
	char sql[SQL];
	int rc = wf_export_each(r->ex, "SELECT t_ps FROM tick WHERE run = ?1 ORDER BY t_ps",
	                        take_tick, &w, err);

	snprintf(sql, sizeof(sql),
	         "SELECT node, port, counter, t_ps, value FROM sample WHERE run = ?1 AND t_ps <= "
	         "%" PRId64 " ORDER BY rowid",
	         to == 0 ? INT64_MAX : to);
	if (rc == 0)
		rc = r->rc;
	if (rc == 0)
		rc = wf_export_each(r->ex, sql, take_sample, &w, err);
	if (rc == 0)
		rc = r->rc;
	if (rc == 0)
		rc = wf_export_each(
			r->ex,
			"SELECT (SELECT coalesce(max(id), 0) FROM node WHERE run = ?1), "
			"(SELECT coalesce(max(id), 0) FROM counter)",
			take_most, &l, err);
	if (rc == 0 && (l.nodes > 1u << 20 || l.counters > 1u << 20))
		rc = wf_err_say(err, "%s: its numbers of nodes cannot be right", r->ex->path);
	if (rc == 0) {
		l.node = calloc(l.nodes, sizeof(*l.node));
		l.counter = calloc(l.counters, sizeof(*l.counter));
		rc = l.node == NULL || l.counter == NULL ? -ENOMEM : put_all(&w, &l, err);
	}
	free(l.node);
	free(l.counter);
	free(w.series);
	free(w.ticks);
	return rc;
}

/* end, label, infiniband, flows, not done, p99, step */
static void take_run(void *arg, sqlite3_stmt *row)
{
	struct wf_results_run *run = arg;

	run->end = number(row, 0);
	snprintf(run->label, sizeof(run->label), "%s", wf_export_text(row, 1));
	run->infiniband = number(row, 2) != 0;
	run->has_flows = number(row, 3) > 0;
	run->flows_undone = (uint64_t)number(row, 4);
	run->flow_p99 = number(row, 5);
	run->step = number(row, 6);
}

static int read_run(struct wf_export *ex, struct wf_results_run *run, struct wf_err *err)
{
	run->id = ex->run;
	return wf_export_each(
		ex,
		"SELECT coalesce(end_ps, 0), label, "
		"coalesce((SELECT value = 'infiniband' FROM parameter WHERE run = ?1 AND name = "
		"'fabric.link_layer'), 0), "
		"(SELECT count(*) FROM flow WHERE run = ?1), "
		"(SELECT count(*) FROM flow WHERE run = ?1 AND end_ps IS NULL), "
		"coalesce((SELECT t FROM (SELECT end_ps - start_ps AS t, "
		"row_number() OVER (ORDER BY end_ps - start_ps) AS i, count(*) OVER () AS n "
		"FROM flow WHERE run = ?1 AND end_ps IS NOT NULL) WHERE 100 * i >= 99 * n LIMIT "
		"1), "
		"0), "
		"coalesce((SELECT value FROM value WHERE run = ?1 AND name = 'step_time'), "
		"(SELECT avg(took_ps) FROM collective WHERE run = ?1), 0) "
		"FROM run WHERE id = ?1",
		take_run, run, err);
}

int wf_results_evidence(struct wf_export *ex, wf_time from, wf_time to, struct wf_evidence *ev,
                        struct wf_results_run *run_p, struct wf_err *err)
{
	struct reader r = { .ex = ex, .ev = ev };
	int rc = wf_evidence_file(ev, ex->path, &r.file);

	*run_p = (struct wf_results_run){ .id = ex->run };
	ev->whole = true;
	if (rc == 0)
		rc = read_run(ex, run_p, err);
	if (rc == 0)
		rc = wf_export_each(ex,
		                    "SELECT n.name, n.kind, n.tier, p.port, p.rate, m.name, "
		                    "p.peer_port FROM port p "
		                    "JOIN node n ON n.run = p.run AND n.id = p.node "
		                    "JOIN node m ON m.run = p.run AND m.id = p.peer "
		                    "WHERE p.run = ?1 ORDER BY n.id, p.port",
		                    take_port, &r, err);
	if (rc == 0)
		rc = r.rc;
	ev->later = from > 0;
	if (rc == 0)
		rc = read_counters(&r, from, to, err);
	r.when = 0;
	if (rc == 0 && from > 0)
		rc = read_events(&r, from, err);
	r.when = from > 0;
	if (rc == 0)
		rc = read_events(&r, to, err);
	ev->interval = (to == 0 ? run_p->end : to) - from;
	return rc;
}

struct runs {
	int64_t first, last;
};

static void take_runs(void *arg, sqlite3_stmt *row)
{
	struct runs *runs = arg;

	runs->first = number(row, 0);
	runs->last = number(row, 1);
}

int wf_results_runs(struct wf_export *ex, int64_t *first_p, int64_t *last_p, struct wf_err *err)
{
	struct runs runs = { 0, 0 };
	int rc = wf_export_each(ex, "SELECT coalesce(min(id), 0), coalesce(max(id), 0) FROM run",
	                        take_runs, &runs, err);

	*first_p = runs.first;
	*last_p = runs.last;
	return rc;
}

/* ---- victims ---- */

struct victims {
	unsigned left;
	bool (*is_hot)(void *arg, const char *node);
	wf_results_flow_fn *fn;
	void *arg;
};

/* id, src, dst, bytes, took */
static void take_flow(void *arg, sqlite3_stmt *row)
{
	struct victims *v = arg;
	char src[96];

	if (v->left == 0)
		return;
	snprintf(src, sizeof(src), "%s", wf_export_text(row, 1));
	if (v->is_hot(v->arg, src) || v->is_hot(v->arg, wf_export_text(row, 2)))
		return;
	v->left--;
	v->fn(v->arg, (uint64_t)number(row, 0), src, wf_export_text(row, 2),
	      (uint64_t)number(row, 3), number(row, 4));
}

int wf_results_victims(struct wf_export *ex, unsigned n,
                       bool (*is_hot)(void *arg, const char *node), wf_results_flow_fn *fn,
                       void *arg, struct wf_err *err)
{
	struct victims v = { n, is_hot, fn, arg };

	return wf_export_each(
		ex,
		"WITH f AS (SELECT id, src, dst, bytes, coalesce(end_ps, (SELECT end_ps FROM run "
		"WHERE id = ?1)) - start_ps AS took FROM flow WHERE run = ?1), "
		"m AS (SELECT bytes, took FROM (SELECT bytes, took, row_number() OVER (PARTITION "
		"BY bytes ORDER BY took) AS i, count(*) OVER (PARTITION BY bytes) AS n FROM f) "
		"WHERE i = (n + 9) / 10) "
		"SELECT f.id, a.name, b.name, f.bytes, f.took FROM f JOIN m ON m.bytes = f.bytes "
		"JOIN node a ON a.run = ?1 AND a.id = f.src JOIN node b ON b.run = ?1 AND b.id = "
		"f.dst WHERE f.took > 5 * m.took ORDER BY f.took DESC, f.id",
		take_flow, &v, err);
}
