/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_htsim.c - connection matrices of htsim (.cm):
 *
 *	Nodes 16
 *	Connections 2
 *	Triggers 1
 *	1->2 id 1 start 0 size 2000000 recv_done_trigger 1
 *	2->3 id 2 trigger 1 size 2000000
 *	trigger id 1 oneshot
 *
 * Nodes are ranks; start is in picoseconds. A trigger starts connections when others have ended:
 * oneshot and multishot for one connection, a barrier for as many as its count says. What passes
 * from node to node costs nothing in htsim; here it is a message without data.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/sort.h"
#include "base/text.h"
#include "job/flows.h"
#include "job/read.h"

#define SHOWN 40
#define MIN_LINE 8 /* bytes: "0->1\n" does not suffice for anything */
#define MAX_PS UINT64_C(1000000000000000000)

enum trigger_kind { ONESHOT, MULTISHOT, BARRIER };

struct conn {
	uint32_t trigger;  /* that starts it; 0: none */
	uint32_t fires[2]; /* triggers that its send's and its receive's end fire; 0: none */
	uint32_t line;
	bool has_start, has_size;
};

struct trigger {
	uint32_t id;
	uint32_t line;
	uint64_t count;
	enum trigger_kind kind;
};

/* That a trigger is fired by an operation, or starts one. */
struct link {
	uint32_t trigger; /* index */
	uint32_t op;
	uint32_t rank;
	uint32_t line;
	bool starts;
};

struct matrix {
	struct wf_text text;
	struct wf_mem *mem;
	uint32_t n_ranks;
	uint32_t n_conns, n_triggers; /* read so far */
	uint64_t want[3];             /* Connections, Triggers, Failures */
	struct wf_job_flow *flows;
	struct conn *conns;
	struct trigger *triggers;
	struct link *links;
	struct wf_trace *trace;
	uint32_t next_tag;
};

enum { WANT_CONNS, WANT_TRIGGERS, WANT_FAILURES };

static int number(struct matrix *m, const char *what, uint64_t min, uint64_t max, uint64_t *value_p)
{
	struct wf_word word;
	int ret = wf_text_expect(&m->text, what, &word);

	return ret != 0 ? ret : wf_text_number(&m->text, &word, what, min, max, value_p);
}

static int number32(struct matrix *m, const char *what, uint64_t min, uint64_t max,
                    uint32_t *value_p)
{
	uint64_t value = 0;
	int ret = number(m, what, min, max, &value);

	if (ret == 0)
		*value_p = (uint32_t)value;
	return ret;
}

/* ---- lines ---- */

/* A time may have a fraction of a picosecond, which is dropped. */
static int read_start(struct matrix *m, wf_time *start_p)
{
	struct wf_word word;
	uint64_t value = 0;
	const char *dot;
	int ret = wf_text_expect(&m->text, "the start in ps", &word);

	if (ret != 0)
		return ret;
	dot = memchr(word.at, '.', word.len);
	if (dot != NULL && dot > word.at)
		word.len = (size_t)(dot - word.at);
	ret = wf_text_number(&m->text, &word, "the start in ps", 0, MAX_PS, &value);
	*start_p = (wf_time)value;
	return ret;
}

/* "1->2" */
static int read_ends(struct matrix *m, const struct wf_word *word, struct wf_job_flow *flow)
{
	const char *arrow = memchr(word->at, '-', word->len);
	struct wf_word end = *word;
	uint64_t src = 0, dst = 0;
	int ret;

	end.len = (size_t)(arrow - word->at);
	ret = wf_text_number(&m->text, &end, "the source", 0, m->n_ranks - 1, &src);
	end.at = arrow + 2;
	end.len = word->len - (size_t)(end.at - word->at);
	end.column = word->column + (unsigned)(end.at - word->at);
	if (ret == 0)
		ret = wf_text_number(&m->text, &end, "the destination", 0, m->n_ranks - 1, &dst);
	if (ret == 0 && src == dst)
		return wf_err_at(
			m->text.err, m->text.name, word->line, word->column,
			"the connection goes from node %" PRIu64 " to itself; name two nodes", src);
	flow->src = (uint32_t)src;
	flow->dst = (uint32_t)dst;
	return ret;
}

/* One of the words behind the ends of a connection, and what follows it. */
static int read_attribute(struct matrix *m, const struct wf_word *word, struct conn *conn,
                          struct wf_job_flow *flow)
{
	uint64_t ignored;

	if (wf_word_is(word, "start")) {
		conn->has_start = true;
		return read_start(m, &flow->start);
	}
	if (wf_word_is(word, "size")) {
		conn->has_size = true;
		return number(m, "the size", 1, WF_READ_MAX_BYTES, &flow->bytes);
	}
	if (wf_word_is(word, "id"))
		return number(m, "the id", 1, UINT32_MAX, &ignored);
	if (wf_word_is(word, "prio"))
		return number(m, "the priority", 0, UINT64_MAX, &ignored);
	if (wf_word_is(word, "trigger"))
		return number32(m, "the trigger", 1, UINT32_MAX, &conn->trigger);
	if (wf_word_is(word, "send_done_trigger"))
		return number32(m, "the trigger", 1, UINT32_MAX, &conn->fires[0]);
	if (wf_word_is(word, "recv_done_trigger"))
		return number32(m, "the trigger", 1, UINT32_MAX, &conn->fires[1]);
	return wf_err_at(m->text.err, m->text.name, word->line, word->column,
	                 "\"%.*s\" is unknown; start, size, id, prio, trigger, send_done_trigger "
	                 "and recv_done_trigger are known",
	                 (int)wf_min_u64(word->len, SHOWN), word->at);
}

static int read_conn(struct matrix *m, const struct wf_word *ends)
{
	struct wf_job_flow *flow;
	struct conn *conn;
	struct wf_word word;
	int ret;

	if (m->n_conns == m->want[WANT_CONNS])
		return wf_err_at(m->text.err, m->text.name, ends->line, 0,
		                 "there are more connections than the %" PRIu64
		                 " that Connections says",
		                 m->want[WANT_CONNS]);
	conn = &m->conns[m->n_conns];
	flow = &m->flows[m->n_conns++];
	conn->line = flow->line = ends->line;
	ret = read_ends(m, ends, flow);
	while (ret == 0 && wf_text_word(&m->text, &word))
		ret = read_attribute(m, &word, conn, flow);
	if (ret != 0)
		return ret;
	if (!conn->has_size)
		return wf_err_at(m->text.err, m->text.name, conn->line, 0,
		                 "the connection has no size; endless ones are not supported");
	if (conn->has_start == (conn->trigger != 0))
		return wf_err_at(m->text.err, m->text.name, conn->line, 0,
		                 "the connection has %s; give one of them",
		                 conn->has_start ? "a start and a trigger"
		                                 : "neither a start nor a trigger");
	return 0;
}

static int read_trigger(struct matrix *m, unsigned line)
{
	struct trigger *t;
	struct wf_word word;
	bool has_kind = false;
	int ret = 0;

	if (m->n_triggers == m->want[WANT_TRIGGERS])
		return wf_err_at(m->text.err, m->text.name, line, 0,
		                 "there are more triggers than the %" PRIu64 " that Triggers says",
		                 m->want[WANT_TRIGGERS]);
	t = &m->triggers[m->n_triggers++];
	t->line = line;
	while (ret == 0 && wf_text_word(&m->text, &word)) {
		if (wf_word_is(&word, "id")) {
			ret = number32(m, "the id", 1, UINT32_MAX, &t->id);
		} else if (wf_word_is(&word, "count")) {
			ret = number(m, "the count", 1, UINT32_MAX, &t->count);
		} else if (wf_word_is(&word, "oneshot") || wf_word_is(&word, "multishot") ||
		           wf_word_is(&word, "barrier")) {
			has_kind = true;
			t->kind = wf_word_is(&word, "barrier")   ? BARRIER
			          : wf_word_is(&word, "oneshot") ? ONESHOT
			                                         : MULTISHOT;
		} else {
			ret = wf_err_at(m->text.err, m->text.name, word.line, word.column,
			                "\"%.*s\" is unknown; id, count, oneshot, multishot and "
			                "barrier are known",
			                (int)wf_min_u64(word.len, SHOWN), word.at);
		}
	}
	if (ret == 0 && (t->id == 0 || !has_kind))
		ret = wf_err_at(m->text.err, m->text.name, line, 0,
		                "the trigger has no %s; write e.g. trigger id 1 oneshot",
		                t->id == 0 ? "id" : "kind");
	return ret;
}

/* A line of the head, which ends before the first other line; false when it is none. */
static int read_head_line(struct matrix *m, const struct wf_word *word, bool *head_p)
{
	static const char *const names[] = { "Connections", "Triggers", "Failures" };
	/* A line of the file for each, so that a number alone does not take memory. */
	uint64_t max = (uint64_t)(m->text.end - m->text.at) / MIN_LINE + 1;
	int ret = 0;

	*head_p = true;
	if (wf_word_is(word, "Nodes")) {
		ret = number32(m, "the number of nodes", 1, WF_TRACE_MAX_RANKS, &m->n_ranks);
		return ret != 0 ? ret : wf_text_end_line(&m->text, "a name and a number");
	}
	for (unsigned i = 0; i < WF_ARRAY_SIZE(names); i++) {
		if (wf_word_is(word, names[i])) {
			ret = number(m, names[i], 0, max, &m->want[i]);
			return ret != 0 ? ret : wf_text_end_line(&m->text, "a name and a number");
		}
	}
	*head_p = false;
	return 0;
}

/* The head is read: everything that is to come has its place. */
static int end_head(struct matrix *m)
{
	struct wf_mem *mem = m->mem;

	if (m->n_ranks == 0)
		return wf_err_at(m->text.err, m->text.name, m->text.line, 0,
		                 "Nodes is missing; it comes first");
	if (m->want[WANT_FAILURES] != 0)
		return wf_err_at(m->text.err, m->text.name, 0, 0,
		                 "failures are not read from here; use faults of the scenario");
	m->flows = mem->alloc(mem, (m->want[WANT_CONNS] + 1) * sizeof(*m->flows));
	m->conns = mem->alloc(mem, (m->want[WANT_CONNS] + 1) * sizeof(*m->conns));
	m->triggers = mem->alloc(mem, (m->want[WANT_TRIGGERS] + 1) * sizeof(*m->triggers));
	m->links = mem->alloc(mem, (3 * m->want[WANT_CONNS] + 1) * sizeof(*m->links));
	return m->flows != NULL && m->conns != NULL && m->triggers != NULL && m->links != NULL
	               ? 0
	               : -ENOMEM;
}

static bool is_conn(const struct wf_word *word)
{
	const char *arrow = memchr(word->at, '-', word->len);

	return arrow != NULL && arrow + 1 < word->at + word->len && arrow[1] == '>';
}

static int read_lines(struct matrix *m)
{
	bool head = true;
	int ret = 0;

	while (ret == 0 && wf_text_seek(&m->text)) {
		struct wf_word word;

		(void)wf_text_word(&m->text, &word);
		if (head) {
			ret = read_head_line(m, &word, &head);
			if (ret != 0 || head)
				continue;
			ret = end_head(m);
			if (ret != 0)
				break;
		}
		if (is_conn(&word))
			ret = read_conn(m, &word);
		else if (wf_word_is(&word, "trigger"))
			ret = read_trigger(m, word.line);
		else
			ret = wf_err_at(m->text.err, m->text.name, word.line, word.column,
			                "\"%.*s\" is neither a connection (1->2) nor a trigger",
			                (int)wf_min_u64(word.len, SHOWN), word.at);
	}
	if (ret == 0 && head)
		ret = end_head(m);
	if (ret == 0 &&
	    (m->n_conns != m->want[WANT_CONNS] || m->n_triggers != m->want[WANT_TRIGGERS]))
		ret = wf_err_at(m->text.err, m->text.name, m->text.line, 0,
		                "the file ends after %" PRIu32 " of %" PRIu64
		                " connections and %" PRIu32 " of %" PRIu64 " triggers",
		                m->n_conns, m->want[WANT_CONNS], m->n_triggers,
		                m->want[WANT_TRIGGERS]);
	return ret;
}

/* ---- triggers ---- */

static int by_id(const void *a, const void *b, const void *arg)
{
	const struct trigger *x = a, *y = b;

	(void)arg;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_trigger(const void *a, const void *b, const void *arg)
{
	const struct link *x = a, *y = b;

	(void)arg;
	if (x->trigger != y->trigger)
		return x->trigger < y->trigger ? -1 : 1;
	return (int)x->starts - (int)y->starts;
}

static int sort(struct matrix *m, void *items, size_t n, size_t size, wf_compare_fn *compare)
{
	void *room = m->mem->alloc(m->mem, (n + 1) * size);

	if (room == NULL)
		return -ENOMEM;
	wf_sort(items, room, n, size, compare, NULL);
	m->mem->free(m->mem, room);
	return 0;
}

static int find_trigger(struct matrix *m, uint32_t id, unsigned line, uint32_t *index_p)
{
	uint32_t low = 0, high = m->n_triggers;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (m->triggers[mid].id == id) {
			*index_p = mid;
			return 0;
		}
		if (m->triggers[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return wf_err_at(m->text.err, m->text.name, line, 0,
	                 "there is no trigger with the id %" PRIu32, id);
}

/* Lists who fires and who waits for triggers, by trigger, those that fire first. */
static int list_links(struct matrix *m, size_t *n_p)
{
	size_t n = 0;
	int ret = sort(m, m->triggers, m->n_triggers, sizeof(*m->triggers), by_id);

	for (uint32_t i = 1; ret == 0 && i < m->n_triggers; i++) {
		if (m->triggers[i - 1].id == m->triggers[i].id)
			ret = wf_err_at(m->text.err, m->text.name, m->triggers[i].line, 0,
			                "trigger %" PRIu32 " is there a second time",
			                m->triggers[i].id);
	}
	for (uint32_t i = 0; ret == 0 && i < m->n_conns; i++) {
		const struct wf_job_flow *flow = &m->flows[i];
		const uint32_t ids[3] = { m->conns[i].fires[0], m->conns[i].fires[1],
			                  m->conns[i].trigger };

		for (unsigned k = 0; ret == 0 && k < 3; k++) {
			struct link *link = &m->links[n];

			if (ids[k] == 0)
				continue;
			link->op = k == 1 ? flow->recv : flow->send;
			link->rank = k == 1 ? flow->dst : flow->src;
			link->starts = k == 2;
			link->line = flow->line;
			ret = find_trigger(m, ids[k], flow->line, &link->trigger);
			n++;
		}
	}
	*n_p = n;
	return ret != 0 ? ret : sort(m, m->links, n, sizeof(*m->links), by_trigger);
}

/*
 * An operation on rank that ends when op, on rank from, has: itself, or the receive of a message.
 */
static int carry(struct matrix *m, uint32_t op, uint32_t from, uint32_t rank, uint32_t line,
                 uint32_t *op_p)
{
	struct wf_op message = {
		.unit = WF_UNIT_NONE, .kind = WF_OP_SEND, .peer = rank, .tag = m->next_tag++
	};
	uint32_t send = 0;
	int ret;

	*op_p = op;
	if (from == rank)
		return 0;
	ret = wf_trace_op(m->trace, from, &message, line, &send);
	if (ret == 0)
		ret = wf_trace_after(m->trace, send, op, false);
	message.kind = WF_OP_RECV;
	message.peer = from;
	return ret != 0 ? ret : wf_trace_op(m->trace, rank, &message, line, op_p);
}

static int check_trigger(const struct matrix *m, const struct trigger *t, size_t sources,
                         size_t waiting)
{
	if (t->kind == BARRIER && sources != t->count)
		return wf_err_at(m->text.err, m->text.name, t->line, 0,
		                 "the barrier counts to %" PRIu64 " but %zu connections fire it",
		                 t->count, sources);
	if (t->kind != BARRIER && sources > 1)
		return wf_err_at(
			m->text.err, m->text.name, t->line, 0,
			"%zu connections fire the trigger, and which is first is not known "
			"before; only a barrier may have several",
			sources);
	if (t->kind == MULTISHOT && waiting > sources)
		return wf_err_at(m->text.err, m->text.name, t->line, 0,
		                 "%zu connections wait for a multishot trigger that is fired %zu "
		                 "times; each time starts one of them",
		                 waiting, sources);
	if (sources == 0 && waiting > 0)
		return wf_err_at(m->text.err, m->text.name, t->line, 0,
		                 "nothing fires the trigger; name it in send_done_trigger or "
		                 "recv_done_trigger of a connection");
	return 0;
}

/*
 * Ties links[0] to links[n - 1], all of one trigger, together on the rank of the first that waits.
 */
static int tie(struct matrix *m, const struct link *links, size_t n)
{
	struct wf_op join = { .unit = WF_UNIT_NONE, .kind = WF_OP_CALC };
	size_t sources = 0;
	uint32_t hub, at, op = 0;
	int ret;

	while (sources < n && !links[sources].starts)
		sources++;
	ret = check_trigger(m, &m->triggers[links[0].trigger], sources, n - sources);
	if (ret != 0 || sources == n)
		return ret;
	hub = links[sources].rank;
	ret = wf_trace_op(m->trace, hub, &join, links[0].line, &at);
	for (size_t i = 0; ret == 0 && i < sources; i++) {
		ret = carry(m, links[i].op, links[i].rank, hub, links[i].line, &op);
		if (ret == 0)
			ret = wf_trace_after(m->trace, at, op, false);
	}
	for (size_t i = sources; ret == 0 && i < n; i++) {
		ret = carry(m, at, hub, links[i].rank, links[i].line, &op);
		if (ret == 0)
			ret = wf_trace_after(m->trace, links[i].op, op, false);
	}
	return ret;
}

static int tie_triggers(struct matrix *m)
{
	size_t n = 0;
	int ret;

	m->next_tag = m->n_conns;
	ret = list_links(m, &n);
	for (size_t i = 0, end; ret == 0 && i < n; i = end) {
		for (end = i + 1; end < n && m->links[end].trigger == m->links[i].trigger;)
			end++;
		ret = tie(m, m->links + i, end - i);
	}
	return ret;
}

int wf_read_htsim(const char *text, size_t len, const char *file, struct wf_mem *mem,
                  struct wf_schedule **schedule_p, struct wf_err *err)
{
	struct matrix m = { .mem = mem };
	int ret;

	wf_text_init(&m.text, text, len, file, err);
	ret = read_lines(&m);
	if (ret == 0)
		ret = wf_trace_create(m.n_ranks, mem, &m.trace);
	if (ret == 0)
		ret = wf_flows_add(m.trace, m.flows, m.n_conns, mem);
	if (ret == 0)
		ret = tie_triggers(&m);
	if (ret == 0)
		ret = wf_trace_finish(m.trace, file, schedule_p, err);
	if (ret == -E2BIG)
		ret = wf_err_at(err, file, 0, 0, "there are more than 2^30 operations");
	if (ret != 0)
		wf_trace_destroy(m.trace);
	mem->free(mem, m.flows);
	mem->free(mem, m.conns);
	mem->free(mem, m.triggers);
	mem->free(mem, m.links);
	return ret;
}
