/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_goal.c - schedules in GOAL, the language of LogGOPSim and ATLAHS:
 *
 *	num_ranks 2
 *	rank 0 {
 *	l1: calc 100 cpu 0		nanoseconds
 *	l2: send 10b to 1 tag 7 cpu 0 nic 1
 *	l2 requires l1			l2 starts when l1 has ended,
 *	l2 irequires l1			... or when l1 has started
 *	}
 *	rank 1 { recv 10b from 0 tag 7
 *	}
 *
 * Comments are C's. A cpu does its calculations one after the other; the overheads that LogGOPSim
 * charges a cpu for messages are not, since here the adapter and the network take their own time. A
 * nic is a connection of its own between two ranks.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/sort.h"
#include "job/read.h"
#include "job/trace.h"

#define SHOWN 40 /* bytes of a token that a message quotes */

enum kind { T_WORD, T_NUMBER, T_ANY, T_COLON, T_OPEN, T_CLOSE, T_LINE, T_END, T_WRONG };

struct token {
	enum kind kind;
	const char *at;
	size_t len;
	uint64_t value; /* T_NUMBER; UINT64_MAX when it is larger */
	unsigned line, column;
};

struct label {
	const char *at;
	uint32_t len;
	uint32_t op;
};

/* "a requires b" of the rank that is being read. */
struct need {
	struct token who, what;
	bool start;
};

struct goal {
	const char *file;
	const char *at, *end, *line_start;
	unsigned line;
	struct token token; /* the next one */
	struct wf_err *err;
	struct wf_mem *mem;
	struct wf_trace *trace;
	uint32_t n_ranks;
	uint32_t rank;
	uint8_t *seen; /* of each rank: it was there */

	/* of the rank that is being read */
	struct label *labels;
	size_t n_labels, room_labels;
	struct need *needs;
	size_t n_needs, room_needs;
};

/* ---- tokens ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool looking_at(const struct goal *g, const char *two)
{
	return g->end - g->at >= 2 && g->at[0] == two[0] && g->at[1] == two[1];
}

/* Skips blanks and comments, but not the end of a line. */
static void skip(struct goal *g)
{
	while (g->at < g->end) {
		if (*g->at == ' ' || *g->at == '\t' || *g->at == '\r') {
			g->at++;
		} else if (looking_at(g, "//")) {
			while (g->at < g->end && *g->at != '\n')
				g->at++;
		} else if (looking_at(g, "/*")) {
			for (g->at += 2; g->at < g->end && !looking_at(g, "*/"); g->at++) {
				if (*g->at == '\n') {
					g->line++;
					g->line_start = g->at + 1;
				}
			}
			g->at = g->end - g->at < 2 ? g->end : g->at + 2;
		} else {
			return;
		}
	}
}

static void take_number(struct goal *g, struct token *t)
{
	t->kind = T_NUMBER;
	for (; g->at < g->end && is_digit(*g->at); g->at++) {
		unsigned digit = (unsigned)(*g->at - '0');

		t->value =
			t->value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : t->value * 10 + digit;
	}
}

/* Takes the next token into g->token. */
static void advance(struct goal *g)
{
	struct token t = { .kind = T_WRONG };

	skip(g);
	t.at = g->at;
	t.line = g->line;
	t.column = (unsigned)(g->at - g->line_start) + 1;
	if (g->at == g->end) {
		t.kind = T_END;
	} else if (is_letter(*g->at)) {
		t.kind = T_WORD;
		while (g->at < g->end && (is_letter(*g->at) || is_digit(*g->at) || *g->at == '_'))
			g->at++;
	} else if (is_digit(*g->at)) {
		take_number(g, &t);
	} else if (looking_at(g, "-1")) {
		t.kind = T_ANY;
		g->at += 2;
	} else {
		char c = *g->at++;

		if (c == ':')
			t.kind = T_COLON;
		else if (c == '{')
			t.kind = T_OPEN;
		else if (c == '}')
			t.kind = T_CLOSE;
		else if (c == '\n')
			t.kind = T_LINE;
	}
	t.len = (size_t)(g->at - t.at);
	if (t.kind == T_LINE) {
		g->line++;
		g->line_start = g->at;
	}
	g->token = t;
}

static bool token_is(const struct token *t, const char *word)
{
	return t->kind == T_WORD && t->len == strlen(word) && memcmp(t->at, word, t->len) == 0;
}

/* Says that the next token is wrong and what would be right. */
static int say_expected(struct goal *g, const char *what)
{
	const struct token *t = &g->token;

	if (t->kind == T_END || t->kind == T_LINE)
		return wf_err_at(g->err, g->file, t->line, t->column,
		                 "the %s ends here; %s is needed",
		                 t->kind == T_END ? "file" : "line", what);
	return wf_err_at(g->err, g->file, t->line, t->column,
	                 "\"%.*s\" is wrong here; %s is needed", (int)wf_min_u64(t->len, SHOWN),
	                 t->at, what);
}

static int take_value(struct goal *g, const char *what, uint64_t max, uint64_t *value_p)
{
	if (g->token.kind != T_NUMBER)
		return say_expected(g, what);
	if (g->token.value > max)
		return wf_err_at(g->err, g->file, g->token.line, g->token.column,
		                 "%s is %.*s; at most %" PRIu64 " is allowed", what,
		                 (int)wf_min_u64(g->token.len, SHOWN), g->token.at, max);
	*value_p = g->token.value;
	advance(g);
	return 0;
}

static int take_word(struct goal *g, const char *word, const char *what)
{
	if (!token_is(&g->token, word))
		return say_expected(g, what);
	advance(g);
	return 0;
}

/* ---- labels ---- */

/* Makes room for one more element. */
static int grow(struct wf_mem *mem, void **array, size_t size, size_t n, size_t *room)
{
	size_t more = *room == 0 ? 64 : 2 * *room;
	void *larger;

	if (n < *room)
		return 0;
	larger = mem->alloc(mem, more * size);
	if (larger == NULL)
		return -ENOMEM;
	if (n > 0)
		memcpy(larger, *array, n * size);
	mem->free(mem, *array);
	*array = larger;
	*room = more;
	return 0;
}

static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, wf_min_u64(a_len, b_len));

	return order != 0 ? order : a_len < b_len ? -1 : a_len > b_len;
}

static int by_name(const void *a, const void *b, const void *arg)
{
	const struct label *x = a, *y = b;

	(void)arg;
	return compare(x->at, x->len, y->at, y->len);
}

static int sort_labels(struct goal *g)
{
	struct label *room = g->mem->alloc(g->mem, (g->n_labels + 1) * sizeof(*room));

	if (room == NULL)
		return -ENOMEM;
	wf_sort(g->labels, room, g->n_labels, sizeof(*room), by_name, NULL);
	g->mem->free(g->mem, room);
	for (size_t i = 1; i < g->n_labels; i++) {
		const struct label *a = &g->labels[i - 1], *b = &g->labels[i];

		if (compare(a->at, a->len, b->at, b->len) == 0)
			return wf_err_at(g->err, g->file, g->line, 0,
			                 "rank %" PRIu32
			                 " has two operations called \"%.*s\"; a label names one",
			                 g->rank, (int)wf_min_u64(a->len, SHOWN), a->at);
	}
	return 0;
}

static int find_label(struct goal *g, const struct token *t, uint32_t *op_p)
{
	size_t low = 0, high = g->n_labels;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = compare(g->labels[mid].at, g->labels[mid].len, t->at, t->len);

		if (order == 0) {
			*op_p = g->labels[mid].op;
			return 0;
		}
		low = order < 0 ? mid + 1 : low;
		high = order < 0 ? high : mid;
	}
	return wf_err_at(g->err, g->file, t->line, t->column,
	                 "no operation of rank %" PRIu32 " is called \"%.*s\"", g->rank,
	                 (int)wf_min_u64(t->len, SHOWN), t->at);
}

/* The end of a rank: its labels are known. */
static int resolve(struct goal *g)
{
	uint32_t who = 0, what = 0;
	int ret = sort_labels(g);

	for (size_t i = 0; i < g->n_needs && ret == 0; i++) {
		ret = find_label(g, &g->needs[i].who, &who);
		if (ret == 0)
			ret = find_label(g, &g->needs[i].what, &what);
		if (ret == 0)
			ret = wf_trace_after(g->trace, who, what, g->needs[i].start);
	}
	g->n_labels = 0;
	g->n_needs = 0;
	return ret;
}

/* ---- statements ---- */

/* What may follow an operation: "tag 1", "cpu 0", "nic 2". */
static int take_attributes(struct goal *g, struct wf_op *op)
{
	uint64_t value = 0;
	int ret = 0;

	while (ret == 0 && g->token.kind == T_WORD) {
		if (token_is(&g->token, "cpu")) {
			advance(g);
			ret = take_value(g, "the number of the cpu", UINT8_MAX, &value);
			if (op->kind == WF_OP_CALC)
				op->unit = (uint16_t)value;
		} else if (op->kind != WF_OP_CALC && token_is(&g->token, "tag")) {
			advance(g);
			if (g->token.kind == T_ANY)
				return wf_err_at(
					g->err, g->file, g->token.line, g->token.column,
					"a message with any tag is not supported; give the "
					"tag that its other side has");
			ret = take_value(g, "the tag", UINT32_MAX, &value);
			op->tag = (uint32_t)value;
		} else if (op->kind != WF_OP_CALC && token_is(&g->token, "nic")) {
			advance(g);
			ret = take_value(g, "the number of the nic", UINT8_MAX, &value);
			op->channel = (uint16_t)value;
		} else {
			return say_expected(g, op->kind == WF_OP_CALC
			                               ? "cpu or the end of the line"
			                               : "tag, cpu, nic or the end of "
			                                 "the line");
		}
	}
	return ret;
}

/* "send 10b to 3 ...": what follows the first word. */
static int take_message(struct goal *g, struct wf_op *op)
{
	bool send = op->kind == WF_OP_SEND;
	uint64_t peer = 0;
	int ret = take_value(g, "the number of bytes", WF_READ_MAX_BYTES, &op->bytes);

	if (ret == 0)
		ret = take_word(g, "b", "\"b\" for bytes");
	if (ret == 0)
		ret = take_word(g, send ? "to" : "from", send ? "\"to\"" : "\"from\"");
	if (ret != 0)
		return ret;
	if (!send && g->token.kind == T_ANY)
		return wf_err_at(g->err, g->file, g->token.line, g->token.column,
		                 "a receive from any rank is not supported; name the rank");
	if (g->token.kind == T_NUMBER && g->token.value == g->rank)
		return wf_err_at(g->err, g->file, g->token.line, g->token.column,
		                 "rank %" PRIu32 " has a message with itself; name another rank",
		                 g->rank);
	ret = take_value(g, "the other rank", g->n_ranks - 1, &peer);
	op->peer = (uint32_t)peer;
	return ret;
}

/* An operation; its first word is next. */
static int take_op(struct goal *g, uint32_t *number_p)
{
	struct wf_op op = { .unit = WF_UNIT_NONE };
	unsigned line = g->token.line;
	uint64_t ns = 0;
	int ret;

	op.kind = token_is(&g->token, "send")   ? WF_OP_SEND
	          : token_is(&g->token, "recv") ? WF_OP_RECV
	                                        : WF_OP_CALC;
	advance(g);
	if (op.kind == WF_OP_CALC) {
		op.unit = WF_UNIT_COMPUTE;
		ret = take_value(g, "the time in ns", WF_READ_MAX_NS, &ns);
		op.time = (wf_time)ns * WF_NS;
	} else {
		ret = take_message(g, &op);
	}
	if (ret == 0)
		ret = take_attributes(g, &op);
	return ret != 0 ? ret : wf_trace_op(g->trace, g->rank, &op, line, number_p);
}

static bool is_op(const struct token *t)
{
	return token_is(t, "send") || token_is(t, "recv") || token_is(t, "calc");
}

static int take_need(struct goal *g, const struct token *who)
{
	struct need need = { .who = *who, .start = token_is(&g->token, "irequires") };
	void *array = g->needs;
	int ret;

	advance(g);
	if (g->token.kind != T_WORD)
		return say_expected(g, "a label");
	need.what = g->token;
	advance(g);
	ret = grow(g->mem, &array, sizeof(*g->needs), g->n_needs, &g->room_needs);
	if (ret != 0)
		return ret;
	g->needs = array;
	g->needs[g->n_needs++] = need;
	return 0;
}

static int take_label(struct goal *g)
{
	struct token name = g->token;
	void *array = g->labels;
	uint32_t number = 0;
	int ret;

	advance(g);
	if (token_is(&g->token, "requires") || token_is(&g->token, "irequires"))
		return take_need(g, &name);
	if (g->token.kind != T_COLON)
		return say_expected(g, "\":\", requires or irequires");
	advance(g);
	if (!is_op(&g->token))
		return say_expected(g, "send, recv or calc");
	ret = take_op(g, &number);
	if (ret == 0)
		ret = grow(g->mem, &array, sizeof(*g->labels), g->n_labels, &g->room_labels);
	if (ret != 0)
		return ret;
	g->labels = array;
	g->labels[g->n_labels++] =
		(struct label){ .at = name.at, .len = (uint32_t)name.len, .op = number };
	return 0;
}

static void skip_lines(struct goal *g)
{
	while (g->token.kind == T_LINE)
		advance(g);
}

/* What is between the braces of a rank. */
static int take_statements(struct goal *g)
{
	uint32_t number;
	int ret = 0;

	for (skip_lines(g); ret == 0 && g->token.kind != T_CLOSE; skip_lines(g)) {
		if (is_op(&g->token))
			ret = take_op(g, &number);
		else if (g->token.kind == T_WORD)
			ret = take_label(g);
		else
			ret = say_expected(g, "send, recv, calc, a label or \"}\"");
		if (ret == 0 && g->token.kind != T_LINE && g->token.kind != T_CLOSE)
			ret = say_expected(g, "the end of the line");
	}
	return ret;
}

static int take_rank(struct goal *g)
{
	uint64_t rank = 0;
	int ret = take_word(g, "rank", "rank");

	if (ret == 0)
		ret = take_value(g, "the number of the rank", g->n_ranks - 1, &rank);
	if (ret != 0)
		return ret;
	g->rank = (uint32_t)rank;
	if (g->seen[g->rank])
		return wf_err_at(g->err, g->file, g->token.line, 0,
		                 "rank %" PRIu32 " is there a second time", g->rank);
	g->seen[g->rank] = 1;
	skip_lines(g);
	if (g->token.kind != T_OPEN)
		return say_expected(g, "\"{\"");
	advance(g);
	ret = take_statements(g);
	if (ret == 0)
		ret = resolve(g);
	if (ret == 0)
		advance(g);
	return ret;
}

static int take_file(struct goal *g)
{
	uint64_t n = 0;
	int ret;

	advance(g);
	skip_lines(g);
	ret = take_word(g, "num_ranks", "num_ranks");
	if (ret == 0 && g->token.kind == T_NUMBER && g->token.value == 0)
		return say_expected(g, "at least one rank");
	if (ret == 0)
		ret = take_value(g, "the number of ranks", WF_TRACE_MAX_RANKS, &n);
	if (ret != 0)
		return ret;
	g->n_ranks = (uint32_t)n;
	g->seen = g->mem->alloc(g->mem, g->n_ranks);
	if (g->seen == NULL)
		return -ENOMEM;
	ret = wf_trace_create(g->n_ranks, g->mem, &g->trace);
	for (skip_lines(g); ret == 0 && g->token.kind != T_END; skip_lines(g))
		ret = take_rank(g);
	return ret;
}

int wf_read_goal(const char *text, size_t len, const char *file, struct wf_mem *mem,
                 struct wf_schedule **schedule_p, struct wf_err *err)
{
	struct goal g = { .file = file,
		          .at = text,
		          .end = text + len,
		          .line_start = text,
		          .line = 1,
		          .err = err,
		          .mem = mem };
	int ret = take_file(&g);

	if (ret == 0)
		ret = wf_trace_finish(g.trace, file, schedule_p, err);
	if (ret == -E2BIG)
		ret = wf_err_at(err, file, 0, 0, "there are more than 2^30 operations");
	if (ret != 0)
		wf_trace_destroy(g.trace);
	mem->free(mem, g.seen);
	mem->free(mem, g.labels);
	mem->free(mem, g.needs);
	return ret;
}
