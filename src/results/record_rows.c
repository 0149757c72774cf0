/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_rows.c - rows on their way to the file.
 *
 * A row is gathered as its table's number and its cells: a byte for the type, then the value. That
 * takes a few nanoseconds a cell on the thread that simulates; the statements run a batch at a
 * time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/record_priv.h"

#define ROW_MAX 512 /* bytes of a row without its texts, and more */

#define BULK 64 /* samples that one statement inserts */
#define SAMPLE_BYTES (1 + 6 * (1 + sizeof(int64_t)))

enum cell { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT };

static const struct {
	const char *name;
	unsigned columns;
} tables[] = {
	[WF_TABLE_INPUT] = { "input", 7 },
	[WF_TABLE_PARAMETER] = { "parameter", 4 },
	[WF_TABLE_VALUE] = { "value", 4 },
	[WF_TABLE_NODE] = { "node", 8 },
	[WF_TABLE_LINK] = { "link", 8 },
	[WF_TABLE_TICK] = { "tick", 2 },
	[WF_TABLE_SAMPLE] = { "sample", 6 },
	[WF_TABLE_EVENT] = { "event", 10 },
	[WF_TABLE_EVENT_COUNT] = { "event_count", 4 },
	[WF_TABLE_FLOW] = { "flow", 8 },
	[WF_TABLE_FLOW_SAMPLE] = { "flow_sample", 6 },
	[WF_TABLE_RANK] = { "rank", 3 },
	[WF_TABLE_MESSAGE] = { "message", 7 },
	[WF_TABLE_COLLECTIVE] = { "collective", 12 },
	[WF_TABLE_COLLECTIVE_RANK] = { "collective_rank", 5 },
	[WF_TABLE_SPAN] = { "span", 7 },
	[WF_TABLE_BANDWIDTH] = { "bandwidth", 8 },
	[WF_TABLE_LATENCY] = { "latency", 4 },
	[WF_TABLE_NOTE] = { "note", 5 },
};

_Static_assert(WF_ARRAY_SIZE(tables) == WF_RECORD_TABLES, "describe every table");

const char *wf_record_table_name(enum wf_record_table table)
{
	return tables[table].name;
}

/* A statement for many samples: half the cost of one for each. */
static int prepare_bulk(struct wf_record *record)
{
	char sql[64 + BULK * sizeof("(?,?,?,?,?,?),")] = "INSERT INTO sample VALUES (?,?,?,?,?,?)";
	size_t n = strlen(sql);

	for (unsigned i = 1; i < BULK; i++)
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, ",(?,?,?,?,?,?)");
	return sqlite3_prepare_v3(record->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &record->bulk,
	                          NULL);
}

int wf_record_rows_prepare(struct wf_record *record)
{
	for (unsigned i = 0; i < WF_RECORD_TABLES; i++) {
		char sql[128];
		int n = snprintf(sql, sizeof(sql), "INSERT OR REPLACE INTO %s VALUES (?",
		                 tables[i].name);
		int rc;

		for (unsigned c = 1; c < tables[i].columns; c++)
			n += snprintf(sql + n, sizeof(sql) - (size_t)n, ",?");
		snprintf(sql + n, sizeof(sql) - (size_t)n, ")");
		rc = sqlite3_prepare_v3(record->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
		                        &record->insert[i], NULL);
		if (rc != SQLITE_OK)
			return rc;
	}
	return prepare_bulk(record);
}

/* Binds the cell at p to column c; returns the cell behind it. */
static const unsigned char *bind(sqlite3_stmt *stmt, int c, const unsigned char *p, int *rc_p)
{
	enum cell type = (enum cell) * p++;
	uint32_t len;
	int64_t i;
	double d;

	switch (type) {
	case CELL_NULL:
		*rc_p = sqlite3_bind_null(stmt, c);
		return p;
	case CELL_INT:
		memcpy(&i, p, sizeof(i));
		*rc_p = sqlite3_bind_int64(stmt, c, i);
		return p + sizeof(i);
	case CELL_REAL:
		memcpy(&d, p, sizeof(d));
		*rc_p = sqlite3_bind_double(stmt, c, d);
		return p + sizeof(d);
	case CELL_TEXT:
		break;
	}
	memcpy(&len, p, sizeof(len));
	p += sizeof(len);
	*rc_p = sqlite3_bind_text(stmt, c, (const char *)p, (int)len, SQLITE_STATIC);
	return p + len;
}

/* Whether the next rows are as many samples as one statement inserts. */
static bool are_samples(const unsigned char *p, const unsigned char *end)
{
	if ((size_t)(end - p) < BULK * SAMPLE_BYTES)
		return false;
	for (size_t i = 0; i < BULK; i++) {
		if (p[i * SAMPLE_BYTES] != WF_TABLE_SAMPLE)
			return false;
	}
	return true;
}

int wf_record_rows_insert(struct wf_record *record, const struct wf_record_buf *buf)
{
	const unsigned char *p = buf->data, *end = p + buf->used;

	while (p != end) {
		bool bulk = are_samples(p, end);
		unsigned table = *p;
		sqlite3_stmt *stmt = bulk ? record->bulk : record->insert[table];
		unsigned rows = bulk ? BULK : 1;
		int c = 1, rc = SQLITE_OK, done;

		for (unsigned r = 0; r < rows; r++) {
			p++; /* the table's number */
			for (unsigned i = 0; i < tables[table].columns && rc == SQLITE_OK; i++)
				p = bind(stmt, c++, p, &rc);
		}
		done = sqlite3_step(stmt);
		(void)sqlite3_reset(stmt); /* says again what step said */
		if (rc != SQLITE_OK || done != SQLITE_DONE)
			return rc != SQLITE_OK ? rc : done;
	}
	return SQLITE_OK;
}

/* Room for n more bytes; false when there is no memory for them. */
static bool reserve(struct wf_record_buf *buf, size_t n)
{
	unsigned char *more;
	size_t room = buf->room == 0 ? 1 << 16 : buf->room;

	if (buf->room - buf->used >= n)
		return true;
	while (room - buf->used < n)
		room *= 2;
	more = realloc(buf->data, room);
	if (more == NULL) {
		buf->no_memory = true;
		return false;
	}
	buf->data = more;
	buf->room = room;
	return true;
}

static void put_int(struct wf_record_buf *buf, int64_t v)
{
	buf->data[buf->used++] = CELL_INT;
	memcpy(buf->data + buf->used, &v, sizeof(v));
	buf->used += sizeof(v);
}

static void put_real(struct wf_record_buf *buf, double v)
{
	buf->data[buf->used++] = CELL_REAL;
	memcpy(buf->data + buf->used, &v, sizeof(v));
	buf->used += sizeof(v);
}

static void put_null(struct wf_record_buf *buf)
{
	buf->data[buf->used++] = CELL_NULL;
}

/* text may be NULL. Room was reserved. */
static void put_text(struct wf_record_buf *buf, const char *text)
{
	uint32_t len;

	if (text == NULL) {
		put_null(buf);
		return;
	}
	len = (uint32_t)strlen(text);
	buf->data[buf->used++] = CELL_TEXT;
	memcpy(buf->data + buf->used, &len, sizeof(len));
	memcpy(buf->data + buf->used + sizeof(len), text, len);
	buf->used += sizeof(len) + len;
}

/* A number, or nothing where it is WF_RECORD_NONE. */
static void put_u32(struct wf_record_buf *buf, uint32_t v)
{
	if (v == WF_RECORD_NONE)
		put_null(buf);
	else
		put_int(buf, v);
}

/* A time, or nothing where it never came. */
static void put_time(struct wf_record_buf *buf, wf_time t)
{
	if (t == WF_TIME_NEVER)
		put_null(buf);
	else
		put_int(buf, t);
}

static size_t length(const char *text)
{
	return text == NULL ? 0 : strlen(text);
}

/* Begins a row with texts of so many bytes; NULL when there is no memory for it. */
static struct wf_record_buf *begin(struct wf_record_run *run, enum wf_record_table table,
                                   size_t texts)
{
	struct wf_record_buf *buf = &run->buf;

	if (!reserve(buf, ROW_MAX + texts))
		return NULL;
	buf->data[buf->used++] = (unsigned char)table;
	if (table != WF_TABLE_NOTE)
		put_int(buf, run->id);
	return buf;
}

void wf_record_inputs(struct wf_record_run *run, const struct wf_record_input *inputs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct wf_record_input *in = &inputs[i];
		struct wf_record_buf *buf = begin(run, WF_TABLE_INPUT,
		                                  strlen(in->kind) + strlen(in->name) +
		                                          strlen(in->file) + strlen(in->hash));

		if (buf == NULL)
			return;
		put_int(buf, (int64_t)i);
		put_text(buf, in->kind);
		put_text(buf, in->name);
		put_text(buf, in->file);
		put_text(buf, in->hash);
		put_int(buf, (int64_t)in->size);
	}
}

void wf_record_parameter(struct wf_record_run *run, const char *name, const char *value,
                         const char *source)
{
	struct wf_record_buf *buf =
		begin(run, WF_TABLE_PARAMETER, strlen(name) + strlen(value) + length(source));

	if (buf == NULL)
		return;
	put_text(buf, name);
	put_text(buf, value);
	put_text(buf, source);
}

void wf_record_value(struct wf_record_run *run, const char *name, uint64_t value, const char *unit)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_VALUE, strlen(name) + strlen(unit));

	if (buf == NULL)
		return;
	put_text(buf, name);
	put_int(buf, (int64_t)value);
	put_text(buf, unit);
}

void wf_record_real(struct wf_record_run *run, const char *name, double value, const char *unit)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_VALUE, strlen(name) + strlen(unit));

	if (buf == NULL)
		return;
	put_text(buf, name);
	put_real(buf, value);
	put_text(buf, unit);
}

void wf_record_text(struct wf_record_run *run, const char *name, const char *text)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_VALUE, strlen(name) + strlen(text));

	if (buf == NULL)
		return;
	put_text(buf, name);
	put_text(buf, text);
	put_text(buf, "");
}

void wf_record_none(struct wf_record_run *run, const char *name, const char *unit)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_VALUE, strlen(name) + strlen(unit));

	if (buf == NULL)
		return;
	put_text(buf, name);
	put_null(buf);
	put_text(buf, unit);
}

static void add_node(struct wf_record_run *run, uint32_t id, const struct wf_topo_node *node)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_NODE, sizeof(node->name));

	if (buf == NULL)
		return;
	put_int(buf, id);
	put_text(buf, node->name);
	put_text(buf, node->kind == WF_TOPO_HOST ? "host" : "switch");
	put_int(buf, node->tier);
	put_int(buf, node->group);
	put_u32(buf, node->server);
	put_u32(buf, node->host);
}

void wf_record_topo(struct wf_record_run *run, const struct wf_topo *topo)
{
	_Static_assert(WF_TOPO_NONE == WF_RECORD_NONE, "what is not there is NULL");
	for (uint32_t i = 0; i < topo->n_nodes; i++)
		add_node(run, i, &topo->nodes[i]);
	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct wf_topo_link *l = &topo->links[i];
		struct wf_record_buf *buf = begin(run, WF_TABLE_LINK, 0);

		if (buf == NULL)
			return;
		put_int(buf, i);
		put_int(buf, l->a);
		put_int(buf, l->a_port);
		put_int(buf, l->b);
		put_int(buf, l->b_port);
		put_int(buf, (int64_t)l->rate);
		put_int(buf, l->delay);
	}
}

void wf_record_tick(struct wf_record_run *run, wf_time t)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_TICK, 0);

	if (buf != NULL)
		put_int(buf, t);
}

static struct wf_record_buf *begin_sample(struct wf_record_run *run, wf_time t, uint32_t node,
                                          unsigned port, uint32_t counter)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_SAMPLE, 0);

	if (buf == NULL)
		return NULL;
	put_int(buf, t);
	put_int(buf, node);
	put_int(buf, port);
	put_int(buf, counter);
	return buf;
}

void wf_record_sample(struct wf_record_run *run, wf_time t, uint32_t node, unsigned port,
                      uint32_t counter, uint64_t value)
{
	struct wf_record_buf *buf = begin_sample(run, t, node, port, counter);

	if (buf != NULL)
		put_int(buf, (int64_t)value);
}

void wf_record_sample_real(struct wf_record_run *run, wf_time t, uint32_t node, unsigned port,
                           uint32_t counter, double value)
{
	struct wf_record_buf *buf = begin_sample(run, t, node, port, counter);

	if (buf != NULL)
		put_real(buf, value);
}

void wf_record_event(struct wf_record_run *run, const struct wf_record_event *e)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_EVENT, strlen(e->kind) + length(e->detail));

	if (buf == NULL)
		return;
	put_int(buf, e->at);
	put_text(buf, e->kind);
	put_int(buf, e->node);
	put_u32(buf, e->port);
	put_u32(buf, e->queue);
	put_time(buf, e->dur < 0 ? WF_TIME_NEVER : e->dur);
	put_u32(buf, e->src);
	put_u32(buf, e->dst);
	put_text(buf, e->detail);
}

void wf_record_event_count(struct wf_record_run *run, const char *kind, uint64_t n,
                           uint64_t recorded)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_EVENT_COUNT, strlen(kind));

	if (buf == NULL)
		return;
	put_text(buf, kind);
	put_int(buf, (int64_t)n);
	put_int(buf, (int64_t)recorded);
}

void wf_record_flow(struct wf_record_run *run, const struct wf_record_flow *flow)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_FLOW, 0);

	if (buf == NULL)
		return;
	put_int(buf, (int64_t)flow->id);
	put_int(buf, flow->src);
	put_int(buf, flow->dst);
	put_int(buf, (int64_t)flow->bytes);
	put_int(buf, flow->cls);
	put_int(buf, flow->start);
	put_time(buf, flow->end);
}

void wf_record_flow_sample(struct wf_record_run *run, wf_time t, uint64_t flow, uint64_t acked,
                           uint64_t rate, uint64_t window)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_FLOW_SAMPLE, 0);

	if (buf == NULL)
		return;
	put_int(buf, t);
	put_int(buf, (int64_t)flow);
	put_int(buf, (int64_t)acked);
	if (rate != 0)
		put_int(buf, (int64_t)rate);
	else
		put_null(buf);
	if (window != 0)
		put_int(buf, (int64_t)window);
	else
		put_null(buf);
}

void wf_record_rank(struct wf_record_run *run, uint32_t rank, uint32_t node)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_RANK, 0);

	if (buf == NULL)
		return;
	put_int(buf, rank);
	put_int(buf, node);
}

void wf_record_message(struct wf_record_run *run, uint32_t src, uint32_t dst, uint64_t bytes,
                       wf_time begin_at, wf_time end, bool net)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_MESSAGE, 0);

	if (buf == NULL)
		return;
	put_int(buf, src);
	put_int(buf, dst);
	put_int(buf, (int64_t)bytes);
	put_int(buf, begin_at);
	put_int(buf, end);
	put_int(buf, net);
}

void wf_record_collective(struct wf_record_run *run, const struct wf_record_collective *c)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_COLLECTIVE,
	                                  strlen(c->name) + strlen(c->kind) + strlen(c->algorithm));

	if (buf == NULL)
		return;
	put_int(buf, (int64_t)c->id);
	put_text(buf, c->name);
	put_text(buf, c->kind);
	put_text(buf, c->algorithm);
	put_int(buf, c->ranks);
	put_int(buf, (int64_t)c->bytes);
	put_int(buf, c->begin);
	put_time(buf, c->end);
	if (c->end == WF_TIME_NEVER) {
		put_null(buf);
		put_null(buf);
		put_null(buf);
	} else {
		put_int(buf, c->took);
		put_real(buf, c->algbw);
		put_real(buf, c->busbw);
	}
}

void wf_record_collective_rank(struct wf_record_run *run, uint64_t collective, uint32_t rank,
                               wf_time begin_at, wf_time end)
{
	struct wf_record_buf *buf = begin(run, WF_TABLE_COLLECTIVE_RANK, 0);

	if (buf == NULL)
		return;
	put_int(buf, (int64_t)collective);
	put_int(buf, rank);
	put_int(buf, begin_at);
	put_time(buf, end);
}

void wf_record_span(struct wf_record_run *run, const struct wf_record_span *span)
{
	struct wf_record_buf *buf =
		begin(run, WF_TABLE_SPAN, strlen(span->kind) + strlen(span->name));

	if (buf == NULL)
		return;
	put_int(buf, span->rank);
	put_int(buf, span->stream);
	put_text(buf, span->kind);
	put_int(buf, span->begin);
	put_int(buf, span->end);
	put_text(buf, span->name);
}

void wf_record_bandwidth(struct wf_record_run *run, const struct wf_record_bandwidth *b)
{
	struct wf_record_buf *buf =
		begin(run, WF_TABLE_BANDWIDTH, strlen(b->collective) + strlen(b->algorithm));

	if (buf == NULL)
		return;
	put_text(buf, b->collective);
	put_text(buf, b->algorithm);
	put_int(buf, b->ranks);
	put_int(buf, (int64_t)b->bytes);
	put_int(buf, b->time);
	put_real(buf, b->algbw);
	put_real(buf, b->busbw);
}

void wf_record_hist(struct wf_record_run *run, const char *what, const struct wf_hist *hist)
{
	for (unsigned i = 0; i < WF_HIST_BUCKETS; i++) {
		struct wf_record_buf *buf;

		if (hist->bucket[i] == 0)
			continue;
		buf = begin(run, WF_TABLE_LATENCY, strlen(what));
		if (buf == NULL)
			return;
		put_text(buf, what);
		put_int(buf, (int64_t)wf_min_u64(wf_hist_bucket_end(i), hist->max));
		put_int(buf, (int64_t)hist->bucket[i]);
	}
}

void wf_record_note(struct wf_record_run *run, const char *kind, const char *rule, const char *text)
{
	struct wf_record_buf *buf =
		begin(run, WF_TABLE_NOTE, strlen(kind) + length(rule) + strlen(text));

	if (buf == NULL)
		return;
	put_int(buf, run->record->study);
	put_int(buf, run->id);
	put_text(buf, kind);
	put_text(buf, rule);
	put_text(buf, text);
}
