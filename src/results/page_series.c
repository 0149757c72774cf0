/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_series.c - the counters of the ports over time, for the page: the same intervals for all
 * ports instead of samples only where something changed, and few enough of them.
 *
 * An interval begins and ends with a sample. Where there are too many samples some intervals are of
 * several: half of the number is spread over the time and half over the samples, which are close
 * together where something happens; a long time without a sample is an interval of its own. What
 * was counted between two samples is spread evenly over the time between them; of a queue the
 * largest value that was seen in an interval is kept.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "results/page_priv.h"

#define MAX_QUEUES 16     /* priorities or VLs; whole ports come after them */
#define MAX_INTERVALS 240 /* more than a chart can show apart on most screens */
#define MIN_INTERVALS 48  /* of many ports */
#define CELLS 1200000     /* ports times intervals of all runs that a page should have */
#define MAX_SOURCES 1024  /* counters of a file that are followed: each measure and queue has few */
#define MAX_SPARSE 64     /* numbers that a node may give to its ports, for each that there is */
#define SHARE_MAX 65535.0

enum quantity { TX, QUEUE, STOPPED, QUANTITIES };

static const struct {
	const char *key;     /* in the page */
	const char *measure; /* in table counter */
} quantities[QUANTITIES] = {
	[TX] = { "tx", "tx_bytes" },
	[QUEUE] = { "queue", "queue_bytes" },
	[STOPPED] = { "stopped", "stopped_ps" },
};

/* A counter of the file that is of one of the quantities. */
struct source {
	int64_t id;
	enum quantity quantity;
	unsigned queue; /* MAX_QUEUES: the whole port */
	double factor;
};

/* Where a counter of a port stood when it was last seen. */
struct last {
	double value;
	double at; /* ps */
};

/* One run. */
struct series {
	struct wf_page *page;
	struct wf_arena arena;
	size_t n_nodes, n_ports;
	uint32_t *first; /* of a node: where its ports begin in place[] */
	uint32_t *place; /* port of a node -> port of the page */
	double *rate;    /* of a port, bit/s */
	size_t n_sources;
	struct source *sources;
	struct last *last; /* [source * n_ports + port] */
	size_t n_ticks;
	double *ticks;
	size_t n;     /* intervals */
	double *edge; /* n + 1 times, the first is 0 */
	double end;
	double **rows[QUANTITIES][MAX_QUEUES + 1]; /* [port] -> n values; NULL where all are 0 */
};

static void *take(struct series *s, size_t size)
{
	void *p = wf_arena_alloc(&s->arena, size > 0 ? size : 1, 16);

	if (p == NULL && s->page->rc == 0)
		s->page->rc = -ENOMEM;
	return p;
}

/* Reads links, twice: once to see how many ports the nodes have, once to number them. */
static void read_ports(struct series *s, int64_t run)
{
	static const char sql[] =
		"SELECT node, port, 2 * link + (SELECT a != port.node OR a_port != "
		"port.port FROM link WHERE run = ?1 AND id = port.link) "
		"FROM port WHERE run = ?1";
	struct wf_page *page = s->page;
	sqlite3_stmt *stmt;

	/* They are numbered from 0 on; what a file says of others is nobody's. */
	s->n_nodes =
		(size_t)wf_page_number(page, "SELECT count(*) FROM node WHERE run = ?1", run, 0);
	s->n_ports = 2 * (size_t)wf_page_number(page, "SELECT count(*) FROM link WHERE run = ?1",
	                                        run, 0);
	s->first = take(s, (s->n_nodes + 1) * sizeof(*s->first));
	if (s->first == NULL)
		return;
	stmt = wf_page_query(page, sql, run, 0);
	while (wf_page_row(page, stmt)) {
		size_t node = (size_t)sqlite3_column_int64(stmt, 0);
		uint32_t ports = (uint32_t)sqlite3_column_int64(stmt, 1) + 1;

		if (node < s->n_nodes && ports <= 65536 && s->first[node + 1] < ports)
			s->first[node + 1] = ports;
	}
	for (size_t i = 0; i < s->n_nodes; i++) {
		s->first[i + 1] += s->first[i];
		if (s->first[i + 1] > MAX_SPARSE * s->n_ports && page->rc == 0)
			page->rc = wf_err_at(page->err, page->file, 0, 0,
			                     "cannot read it: its links have ports that no node "
			                     "can have");
		if (page->rc != 0)
			return;
	}
	s->place = take(s, s->first[s->n_nodes] * sizeof(*s->place));
	if (s->place == NULL)
		return;
	memset(s->place, 0xff, s->first[s->n_nodes] * sizeof(*s->place));
	stmt = wf_page_query(page, sql, run, 0);
	while (wf_page_row(page, stmt)) {
		size_t node = (size_t)sqlite3_column_int64(stmt, 0);
		size_t port = (size_t)sqlite3_column_int64(stmt, 1);

		if (node < s->n_nodes && port < s->first[node + 1] - s->first[node])
			s->place[s->first[node] + port] = (uint32_t)sqlite3_column_int64(stmt, 2);
	}
}

static void read_rates(struct series *s, int64_t run)
{
	struct wf_page *page = s->page;
	sqlite3_stmt *stmt;

	s->rate = take(s, s->n_ports * sizeof(*s->rate));
	if (s->rate == NULL)
		return;
	stmt = wf_page_query(page, "SELECT id, rate FROM link WHERE run = ?1", run, 0);
	while (wf_page_row(page, stmt)) {
		size_t link = (size_t)sqlite3_column_int64(stmt, 0);

		if (2 * link + 1 < s->n_ports)
			s->rate[2 * link] = s->rate[2 * link + 1] = sqlite3_column_double(stmt, 1);
	}
}

static void read_sources(struct series *s)
{
	struct wf_page *page = s->page;
	size_t room = (size_t)wf_page_number(page, "SELECT count(*) FROM counter", 0, 0);
	sqlite3_stmt *stmt;

	room = room > MAX_SOURCES ? MAX_SOURCES : room;
	s->sources = take(s, room * sizeof(*s->sources));
	if (s->sources == NULL)
		return;
	stmt = wf_page_query(page, "SELECT id, measure, coalesce(queue, -1), factor FROM counter",
	                     0, 0);
	while (wf_page_row(page, stmt)) {
		const char *measure = (const char *)sqlite3_column_text(stmt, 1);
		int64_t queue = sqlite3_column_int64(stmt, 2);
		int q = 0;

		while (q < QUANTITIES &&
		       (measure == NULL || strcmp(quantities[q].measure, measure) != 0))
			q++;
		if (q == QUANTITIES || queue >= MAX_QUEUES || s->n_sources == room)
			continue;
		s->sources[s->n_sources++] = (struct source){
			.id = sqlite3_column_int64(stmt, 0),
			.quantity = (enum quantity)q,
			.queue = queue < 0 ? MAX_QUEUES : (unsigned)queue,
			.factor = sqlite3_column_double(stmt, 3),
		};
	}
	s->last = take(s, s->n_sources * s->n_ports * sizeof(*s->last));
}

static void read_ticks(struct series *s, int64_t run)
{
	struct wf_page *page = s->page;
	size_t room = (size_t)wf_page_number(
		page, "SELECT count(*) FROM tick WHERE run = ?1 AND t_ps > 0", run, 0);
	sqlite3_stmt *stmt;

	s->ticks = take(s, room * sizeof(*s->ticks));
	if (s->ticks == NULL)
		return;
	stmt = wf_page_query(
		page, "SELECT t_ps FROM tick WHERE run = ?1 AND t_ps > 0 ORDER BY t_ps", run, 0);
	while (wf_page_row(page, stmt)) {
		if (s->n_ticks < room)
			s->ticks[s->n_ticks++] = sqlite3_column_double(stmt, 0);
	}
	s->end = s->n_ticks > 0 ? s->ticks[s->n_ticks - 1] : 0;
}

/* The time of the sample before the one at t. */
static double tick_before(const struct series *s, double t)
{
	size_t low = 0, high = s->n_ticks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->ticks[middle] < t)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? s->ticks[low - 1] : 0;
}

/* The values of a port, which are made when they are first needed. */
static double *row_of(struct series *s, enum quantity quantity, unsigned queue, size_t port)
{
	double ***rows = &s->rows[quantity][queue];

	if (*rows == NULL)
		*rows = take(s, s->n_ports * sizeof(**rows));
	if (*rows != NULL && (*rows)[port] == NULL)
		(*rows)[port] = take(s, s->n * sizeof(double));
	return *rows != NULL ? (*rows)[port] : NULL;
}

static double width(const struct series *s, size_t i)
{
	return s->edge[i + 1] - s->edge[i];
}

/* The interval that ends at t, or within which t is. */
static size_t interval(const struct series *s, double t)
{
	size_t low = 0, high = s->n - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->edge[middle + 1] < t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* v happened between from and to. */
static void spread(const struct series *s, double *row, double from, double to, double v)
{
	for (size_t i = interval(s, from); i < s->n && s->edge[i] < to; i++) {
		double low = fmax(from, s->edge[i]), high = fmin(to, s->edge[i + 1]);

		if (high > low)
			row[i] += v * (high - low) / (to - from);
	}
}

/* It was v from from to to. */
static void hold(const struct series *s, double *row, double from, double to, double v)
{
	for (size_t i = interval(s, from); i <= interval(s, to); i++)
		row[i] = fmax(row[i], v);
}

static void add_sample(struct series *s, size_t source, size_t port, double t, double value)
{
	const struct source *c = &s->sources[source];
	struct last *last = &s->last[source * s->n_ports + port];
	double *row = row_of(s, c->quantity, c->queue, port);
	double before = tick_before(s, t);

	if (row == NULL)
		return;
	if (c->quantity != QUEUE && value > last->value)
		spread(s, row, before, t, (value - last->value) * c->factor);
	else if (c->quantity == QUEUE && last->value > 0)
		hold(s, row, last->at, before, last->value * c->factor);
	if (c->quantity == QUEUE)
		hold(s, row, t, t, value * c->factor);
	*last = (struct last){ .value = value, .at = t };
}

static void read_samples(struct series *s, int64_t run)
{
	struct wf_page *page = s->page;
	sqlite3_stmt *stmt = wf_page_query(page,
	                                   "SELECT t_ps, node, port, counter, value FROM sample "
	                                   "WHERE run = ?1 ORDER BY rowid",
	                                   run, 0);

	while (wf_page_row(page, stmt)) {
		size_t node = (size_t)sqlite3_column_int64(stmt, 1);
		size_t port = (size_t)sqlite3_column_int64(stmt, 2);
		int64_t counter = sqlite3_column_int64(stmt, 3);
		size_t c = 0;

		while (c < s->n_sources && s->sources[c].id != counter)
			c++;
		if (c == s->n_sources || node >= s->n_nodes ||
		    port >= s->first[node + 1] - s->first[node])
			continue;
		port = s->place[s->first[node] + port];
		if (port < s->n_ports)
			add_sample(s, c, port, sqlite3_column_double(stmt, 0),
			           sqlite3_column_double(stmt, 4));
	}
	for (size_t c = 0; c < s->n_sources; c++) {
		for (size_t port = 0; port < s->n_ports && page->rc == 0; port++) {
			const struct last *last = &s->last[c * s->n_ports + port];

			if (s->sources[c].quantity == QUEUE && last->value > 0)
				hold(s, row_of(s, QUEUE, s->sources[c].queue, port), last->at,
				     s->end, last->value * s->sources[c].factor);
		}
	}
}

/*
 * Amounts become shares of the time. A pause is counted when it ends, so what does not fit into an
 * interval belongs to those before.
 */
static void scale_stopped(const struct series *s, double *row)
{
	double more = 0;

	for (size_t i = s->n; i-- > 0;) {
		double all = row[i] + more, part = fmin(all, width(s, i));

		row[i] = part / width(s, i);
		more = all - part;
	}
}

/* Amounts become rates: bit/s, and shares of the time. */
static void scale(struct series *s)
{
	for (unsigned queue = 0; queue <= MAX_QUEUES; queue++) {
		double **tx = s->rows[TX][queue], **stopped = s->rows[STOPPED][queue];

		for (size_t port = 0; port < s->n_ports; port++) {
			for (size_t i = 0; tx != NULL && tx[port] != NULL && i < s->n; i++)
				tx[port][i] *= 8e12 / width(s, i);
			if (stopped != NULL && stopped[port] != NULL)
				scale_stopped(s, stopped[port]);
		}
	}
}

/* Adds the queues up to whole ports; a port counts as stopped as much as its most stopped queue. */
static void add_up(struct series *s)
{
	for (int q = 0; q < QUANTITIES; q++) {
		for (unsigned queue = 0; queue < MAX_QUEUES; queue++) {
			double **rows = s->rows[q][queue];

			for (size_t port = 0; rows != NULL && port < s->n_ports; port++) {
				double *sum = rows[port] != NULL ? row_of(s, (enum quantity)q,
				                                          MAX_QUEUES, port)
				                                 : NULL;

				for (size_t i = 0; i < s->n && sum != NULL; i++)
					sum[i] = q == STOPPED ? fmax(sum[i], rows[port][i])
					                      : sum[i] + rows[port][i];
			}
		}
	}
}

/*
 * A packet is counted when it begins to leave, so an interval can have more than the link carries;
 * what is too much left in the next.
 */
static void level(const struct series *s)
{
	double **rows = s->rows[TX][MAX_QUEUES];

	for (size_t port = 0; rows != NULL && port < s->n_ports; port++) {
		double more = 0;

		for (size_t i = 0; rows[port] != NULL && i + 1 < s->n; i++) {
			double all = rows[port][i] * width(s, i) + more;
			double fits = fmin(all, s->rate[port] * width(s, i));

			rows[port][i] = fits / width(s, i);
			more = all - fits;
		}
		if (rows[port] != NULL)
			rows[port][s->n - 1] += more / width(s, s->n - 1);
	}
}

static double row_max(const struct series *s, const double *row)
{
	double most = 0;

	for (size_t i = 0; i < s->n && row != NULL; i++)
		most = fmax(most, row[i]);
	return most;
}

static bool any(const struct series *s, double *const *rows)
{
	for (size_t port = 0; rows != NULL && port < s->n_ports; port++) {
		if (row_max(s, rows[port]) > 0)
			return true;
	}
	return false;
}

static void put_row(struct wf_page *page, const double *row, size_t n, double max)
{
	for (size_t i = 0; i < n; i++) {
		unsigned v = (unsigned)lround(row[i] / max * SHARE_MAX);

		fputc((int)(v & 255), page->samples);
		fputc((int)(v >> 8), page->samples);
	}
	page->n_samples += n;
}

/* A queue's number, or null. */
static void put_queue(struct wf_json *json, const char *key, unsigned queue)
{
	if (queue == MAX_QUEUES)
		wf_json_null(json, key);
	else
		wf_json_u64(json, key, queue);
}

/*
 * One quantity of one queue, or of whole ports: its samples, and which they are. only is the one
 * queue that whole ports consist of, if there is one.
 */
static void put_rows(struct series *s, enum quantity quantity, unsigned queue, unsigned only)
{
	double *const *rows = s->rows[quantity][queue];
	struct wf_json *json = &s->page->json;

	wf_json_open(json, NULL, '{');
	wf_json_text(json, "key", quantities[quantity].key);
	put_queue(json, "queue", queue);
	put_queue(json, "only", only);
	wf_json_u64(json, "offset", s->page->n_samples);
	wf_json_open(json, "ports", '[');
	for (size_t port = 0; port < s->n_ports; port++) {
		if (row_max(s, rows[port]) > 0)
			wf_json_u64(json, NULL, port);
	}
	wf_json_close(json, '[');
	wf_json_open(json, "max", '[');
	for (size_t port = 0; port < s->n_ports; port++) {
		double max = row_max(s, rows[port]);

		if (max > 0) {
			wf_json_real(json, NULL, max);
			put_row(s->page, rows[port], s->n, max);
		}
	}
	wf_json_close(json, '[');
	wf_json_close(json, '{');
}

/* Single queues are worth their place only where there are several. */
static void put_quantity(struct series *s, enum quantity quantity)
{
	unsigned queues = 0, last = MAX_QUEUES;

	for (unsigned queue = 0; queue < MAX_QUEUES; queue++) {
		if (any(s, s->rows[quantity][queue])) {
			queues++;
			last = queue;
		}
	}
	if (any(s, s->rows[quantity][MAX_QUEUES]))
		put_rows(s, quantity, MAX_QUEUES, queues == 1 ? last : MAX_QUEUES);
	for (unsigned queue = 0; queue < MAX_QUEUES && queues > 1; queue++) {
		if (any(s, s->rows[quantity][queue]))
			put_rows(s, quantity, queue, queue);
	}
}

/*
 * Whether an interval ends with tick i, where some are needed: with parts steps through the time
 * and the ticks together, and before and after a time that is longer than one of them.
 */
static bool is_edge(const struct series *s, size_t i, double parts)
{
	double before = i > 0 ? s->ticks[i - 1] : 0;
	double at = s->ticks[i] / s->end + (double)(i + 1) / (double)s->n_ticks;
	double was = before / s->end + (double)i / (double)s->n_ticks;

	return i + 1 == s->n_ticks || floor(at / 2 * parts) > floor(was / 2 * parts) ||
	       (s->ticks[i] - before) * parts > s->end ||
	       (s->ticks[i + 1] - s->ticks[i]) * parts > s->end;
}

/* Chooses the intervals: as many as there are samples, or about most. */
static void choose_edges(struct series *s, double most)
{
	size_t count = s->n_ticks;
	double parts = INFINITY;

	while ((double)count > most) {
		parts = isinf(parts) ? most : parts * 0.9;
		count = 0;
		for (size_t i = 0; i < s->n_ticks; i++)
			count += is_edge(s, i, parts);
	}
	s->edge = take(s, (count + 1) * sizeof(*s->edge));
	if (s->edge == NULL)
		return;
	for (size_t i = 0; i < s->n_ticks; i++) {
		if (isinf(parts) || is_edge(s, i, parts))
			s->edge[++s->n] = s->ticks[i];
	}
}

static void put_run(struct wf_page *page, int64_t run, size_t n_runs)
{
	struct series s = { .page = page };
	double fit;

	wf_arena_init(&s.arena);
	read_ports(&s, run);
	read_rates(&s, run);
	read_sources(&s);
	read_ticks(&s, run);
	if (page->rc == 0 && s.n_ticks > 1 && s.n_ports > 0) {
		fit = fmax(CELLS / ((double)s.n_ports * (double)n_runs), MIN_INTERVALS);
		choose_edges(&s, fmin(fit, MAX_INTERVALS));
	}
	if (page->rc == 0 && s.n > 0)
		read_samples(&s, run);
	if (page->rc == 0 && s.n > 0) {
		scale(&s);
		add_up(&s);
		level(&s);
		wf_json_open(&page->json, NULL, '{');
		wf_json_u64(&page->json, "run", (uint64_t)run);
		wf_json_u64(&page->json, "n", s.n);
		wf_json_open(&page->json, "times_ps", '[');
		for (size_t i = 0; i <= s.n; i++)
			wf_json_real(&page->json, NULL, s.edge[i]);
		wf_json_close(&page->json, '[');
		wf_json_open(&page->json, "kinds", '[');
		for (int q = 0; q < QUANTITIES; q++)
			put_quantity(&s, (enum quantity)q);
		wf_json_close(&page->json, '[');
		wf_json_close(&page->json, '{');
	}
	wf_arena_fini(&s.arena);
}

void wf_page_put_series(struct wf_page *page)
{
	size_t n = (size_t)wf_page_number(page,
	                                  "SELECT count(*) FROM run WHERE study = ?1 AND "
	                                  "(SELECT count(*) FROM tick WHERE run = run.id) > 1",
	                                  page->study, 0);
	sqlite3_stmt *stmt = wf_page_query(
		page, "SELECT id FROM run WHERE study = ?1 ORDER BY place, id", page->study, 0);

	wf_json_open(&page->json, "series", '[');
	while (wf_page_row(page, stmt))
		put_run(page, sqlite3_column_int64(stmt, 0), n);
	wf_json_close(&page->json, '[');
}
