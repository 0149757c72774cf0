/* SPDX-License-Identifier: Apache-2.0 */
/* test_exec.c - the executor: what starts when, and what is said of a rank that gets stuck. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "job/exec.h"
#include "mem_fail.h"

#define MAX_OPS 16
#define MAX_STREAMS 3

/* A schedule of one rank that is a table. */
struct table {
	struct wf_schedule schedule;
	struct wf_op ops[MAX_STREAMS][MAX_OPS];
	uint32_t n[MAX_STREAMS];
	uint32_t window;
};

struct cursor {
	uint32_t stream, next;
};

static uint32_t table_streams(const struct wf_schedule *s, uint32_t rank)
{
	(void)s;
	(void)rank;
	return MAX_STREAMS;
}

static uint32_t table_window(const struct wf_schedule *s, uint32_t rank, uint32_t stream)
{
	(void)rank;
	(void)stream;
	return ((const struct table *)(const void *)s)->window;
}

static void table_start(const struct wf_schedule *s, uint32_t rank, uint32_t stream, void *cursor)
{
	struct cursor *c = cursor;

	(void)s;
	(void)rank;
	c->stream = stream;
}

static bool table_next(const struct wf_schedule *s, void *cursor, struct wf_op *op)
{
	const struct table *t = (const struct table *)(const void *)s;
	struct cursor *c = cursor;

	if (c->next == t->n[c->stream])
		return false;
	*op = t->ops[c->stream][c->next++];
	return true;
}

static int table_peers(const struct wf_schedule *s, uint32_t rank, wf_schedule_peer_fn *fn,
                       void *arg)
{
	(void)s;
	(void)rank;
	(void)fn;
	(void)arg;
	return 0;
}

static void table_group(const struct wf_schedule *s, uint32_t group, struct wf_group *g)
{
	(void)s;
	(void)group;
	g->name = g->kind = "group";
}

static void table_destroy(struct wf_schedule *s)
{
	(void)s;
}

static const struct wf_schedule_ops table_ops = {
	.name = "table",
	.cursor = sizeof(struct cursor),
	.streams = table_streams,
	.window = table_window,
	.start = table_start,
	.next = table_next,
	.peers = table_peers,
	.group = table_group,
	.destroy = table_destroy,
};

/* What came out of a run. */
struct seen {
	wf_time call_at;
	struct wf_post posts[MAX_OPS];
	unsigned n_posts;
	unsigned finished;
	unsigned meets;
	uint32_t met;
	struct {
		uint32_t handle, group;
		uint64_t bytes;
		wf_time at;
	} reduced[MAX_OPS];
	unsigned n_reduced;
	struct {
		uint32_t stream, tag;
		wf_time start, end;
	} ended[MAX_STREAMS * MAX_OPS];
	unsigned n_ended;
};

static void see_post(void *ctx, const struct wf_post *post, wf_time now)
{
	struct seen *seen = ctx;

	(void)now;
	seen->posts[seen->n_posts++] = *post;
}

static void see_call_at(void *ctx, wf_time at)
{
	struct seen *seen = ctx;

	seen->call_at = wf_min_time(seen->call_at, at);
}

static void see_meet(void *ctx, const struct wf_op *op, uint32_t handle, wf_time now)
{
	struct seen *seen = ctx;

	(void)now;
	assert_int_equal(op->kind, WF_OP_MEET);
	seen->met = handle;
	seen->meets++;
}

static void see_reduce(void *ctx, const struct wf_op *op, uint32_t handle, wf_time now)
{
	struct seen *seen = ctx;

	assert_int_equal(op->kind, WF_OP_REDUCE);
	seen->reduced[seen->n_reduced].handle = handle;
	seen->reduced[seen->n_reduced].group = op->peer;
	seen->reduced[seen->n_reduced].bytes = op->bytes;
	seen->reduced[seen->n_reduced++].at = now;
}

static void see_finished(void *ctx, wf_time now)
{
	struct seen *seen = ctx;

	(void)now;
	seen->finished++;
}

static const struct wf_exec_driver driver = {
	.post = see_post,
	.call_at = see_call_at,
	.meet = see_meet,
	.reduce = see_reduce,
	.finished = see_finished,
};

static void see_op(void *arg, uint32_t rank, uint32_t stream, const struct wf_op *op, wf_time start,
                   wf_time end)
{
	struct seen *seen = arg;

	(void)rank;
	seen->ended[seen->n_ended].stream = stream;
	seen->ended[seen->n_ended].tag = op->tag;
	seen->ended[seen->n_ended].start = start;
	seen->ended[seen->n_ended++].end = end;
}

static struct wf_op *add(struct table *t, uint32_t stream, enum wf_op_kind kind, wf_time time,
                         uint16_t unit)
{
	struct wf_op *op = &t->ops[stream][t->n[stream]++];

	*op = (struct wf_op){ .kind = (uint8_t)kind,
		              .time = time,
		              .unit = unit,
		              .group = WF_GROUP_NONE,
		              .tag = stream * 100 + t->n[stream] - 1 };
	return op;
}

static void dep(struct wf_op *op, uint16_t stream, uint32_t number, enum wf_dep_on on)
{
	wf_op_after(op, stream, number);
	op->dep[op->n_deps - 1].on = (uint8_t)on;
}

struct world {
	struct table table;
	struct seen seen;
	struct wf_exec_counts counts;
	struct wf_group_time groups[2];
	struct wf_job_observer observer;
	struct wf_exec *exec;
};

static void create(struct world *w)
{
	const struct wf_exec_cfg cfg = { .schedule = &w->table.schedule,
		                         .driver = &driver,
		                         .ctx = &w->seen,
		                         .observer = &w->observer,
		                         .counts = &w->counts,
		                         .mem = wf_mem_heap() };

	w->table.schedule = (struct wf_schedule){ .ops = &table_ops, .n_ranks = 1, .n_groups = 2 };
	if (w->table.window == 0)
		w->table.window = WF_WINDOW_ALL;
	w->counts.groups = w->groups;
	for (int i = 0; i < 2; i++)
		w->groups[i] = (struct wf_group_time){ .begin = WF_TIME_NEVER, .end = -1 };
	w->observer = (struct wf_job_observer){ .arg = &w->seen, .op = see_op };
	w->seen.call_at = WF_TIME_NEVER;
	assert_int_equal(wf_exec_create(&cfg, &w->exec), 0);
}

/* Runs as long as it asks to be called. */
static void run(struct world *w)
{
	while (w->seen.call_at != WF_TIME_NEVER) {
		wf_time at = w->seen.call_at;

		w->seen.call_at = WF_TIME_NEVER;
		wf_exec_run(w->exec, at);
	}
}

/* When the operation with a tag ended; fails when it has not. */
static wf_time end_of(const struct world *w, uint32_t tag)
{
	for (unsigned i = 0; i < w->seen.n_ended; i++) {
		if (w->seen.ended[i].tag == tag)
			return w->seen.ended[i].end;
	}
	fail_msg("operation %u has not ended", tag);
	return -1;
}

static void test_dependencies(void **state)
{
	static struct world w;
	struct wf_exec_result result;
	struct wf_op *op;

	(void)state;
	memset(&w, 0, sizeof(w));
	add(&w.table, 0, WF_OP_CALC, 100, WF_UNIT_NONE);           /* 0: ends at 100 */
	add(&w.table, 0, WF_OP_CALC, 30, WF_UNIT_NONE)->marks = 1; /* 1: at 30; mark 0 at 100 */
	op = add(&w.table, 1, WF_OP_CALC, 5, WF_UNIT_NONE);        /* 100: after 0's start */
	dep(op, 0, 0, WF_ON_START);
	op = add(&w.table, 1, WF_OP_CALC, 7, WF_UNIT_NONE); /* 101: after 0's end */
	dep(op, 0, 0, WF_ON_END);
	op = add(&w.table, 1, WF_OP_CALC, 9, WF_UNIT_NONE); /* 102: after the mark */
	dep(op, 0, 0, WF_ON_MARK);
	op = add(&w.table, 1, WF_OP_CALC, 1, WF_UNIT_NONE); /* 103: of a later stream */
	dep(op, 2, 1, WF_ON_END);
	add(&w.table, 2, WF_OP_CALC, 50, WF_UNIT_COMPUTE);      /* 200: 0 to 50 */
	op = add(&w.table, 2, WF_OP_CALC, 50, WF_UNIT_COMPUTE); /* 201: 50 to 100 */
	op->group = 1;
	op->flags = WF_OP_BEGINS | WF_OP_ENDS;
	create(&w);
	wf_exec_start(w.exec, 0);
	run(&w);
	assert_int_equal(w.seen.finished, 1);
	assert_int_equal(end_of(&w, 0), 100);
	assert_int_equal(end_of(&w, 1), 30);
	assert_int_equal(end_of(&w, 100), 5);
	assert_int_equal(end_of(&w, 101), 107);
	assert_int_equal(end_of(&w, 102), 109);
	assert_int_equal(end_of(&w, 201), 100);
	assert_int_equal(end_of(&w, 103), 101);
	assert_int_equal(w.groups[1].end, 100);
	assert_int_equal(w.groups[1].ranks, 1);
	wf_exec_result(w.exec, &result);
	assert_true(result.finished);
	assert_int_equal(result.end, 109);
	assert_int_equal(result.busy, 100);
	wf_exec_destroy(w.exec);
}

/* A small window makes operations wait that nothing else holds back. */
static void test_window(void **state)
{
	static struct world w;

	(void)state;
	memset(&w, 0, sizeof(w));
	w.table.window = 2;
	for (int i = 0; i < 6; i++)
		add(&w.table, 0, WF_OP_CALC, 10, WF_UNIT_NONE);
	create(&w);
	wf_exec_start(w.exec, 0);
	run(&w);
	assert_int_equal(end_of(&w, 1), 10);
	assert_int_equal(end_of(&w, 2), 20);
	assert_int_equal(end_of(&w, 5), 30);
	wf_exec_destroy(w.exec);
}

/* Messages leave in the order of announcements of their tag, and with their numbers. */
static void test_messages(void **state)
{
	static struct world w;
	struct wf_err err = { "" };
	uint32_t out, in;
	struct wf_op *op;

	(void)state;
	memset(&w, 0, sizeof(w));
	op = add(&w.table, 0, WF_OP_SEND, 0, WF_UNIT_NONE);
	op->tag = 1;
	op = add(&w.table, 0, WF_OP_SEND, 0, WF_UNIT_NONE);
	op->tag = 2;
	op = add(&w.table, 0, WF_OP_RECV, 40, WF_UNIT_NONE);
	op->tag = 3;
	op->peer = 5;
	op->bytes = 77;
	create(&w);
	assert_int_equal(wf_exec_connect(w.exec, 0, 0, true, 10, &out), 0);
	assert_int_equal(wf_exec_connect(w.exec, 5, 0, false, 11, &in), 0);
	assert_int_equal(wf_exec_connect(w.exec, 5, 0, false, 11, &in), -17); /* EEXIST */
	wf_exec_start(w.exec, 0);
	assert_int_equal(w.seen.n_posts, 1);
	assert_int_equal(w.seen.posts[0].kind, WF_POST_ANNOUNCE);
	assert_int_equal(w.seen.posts[0].imm, 3);
	assert_int_equal(w.seen.posts[0].conn, 11);
	wf_exec_announced(w.exec, out, 2, 10);
	assert_int_equal(w.seen.n_posts, 2);
	assert_int_equal(w.seen.posts[1].kind, WF_POST_DATA);
	assert_int_equal(w.seen.posts[1].imm, 0);
	wf_exec_announced(w.exec, out, 9, 11); /* nobody has that */
	wf_exec_announced(w.exec, out, 1, 12);
	assert_int_equal(w.seen.n_posts, 3);
	assert_int_equal(w.seen.posts[2].imm, 2);
	wf_exec_sent(w.exec, w.seen.posts[1].handle, 20);
	assert_int_equal(end_of(&w, 2), 20);
	assert_true(wf_exec_stuck(w.exec, &err));
	assert_non_null(strstr(err.text, "receive from rank 5"));
	assert_non_null(strstr(err.text, "tag 3, 77 bytes: waits for its message"));
	wf_exec_sent(w.exec, w.seen.posts[2].handle, 25);
	wf_exec_arrived(w.exec, in, 0, 5, true, 30);
	run(&w);
	assert_int_equal(end_of(&w, 3), 70);
	assert_int_equal(w.seen.finished, 1);
	assert_int_equal(w.counts.messages[1], 1);
	assert_int_equal(w.counts.latency[1].max, 25);
	assert_false(wf_exec_stuck(w.exec, &err));
	wf_exec_destroy(w.exec);
}

/* A meeting ends its time after the last of those who meet has begun, whenever that is known. */
static void test_meet(void **state)
{
	static struct world w;
	struct wf_err err = { "" };
	struct wf_op *op;

	(void)state;
	memset(&w, 0, sizeof(w));
	add(&w.table, 0, WF_OP_CALC, 10, WF_UNIT_NONE);
	op = add(&w.table, 0, WF_OP_MEET, 50, WF_UNIT_NONE);
	dep(op, 0, 0, WF_ON_END);
	op = add(&w.table, 0, WF_OP_CALC, 1, WF_UNIT_NONE);
	dep(op, 0, 1, WF_ON_END);
	create(&w);
	wf_exec_start(w.exec, 0);
	run(&w);
	assert_int_equal(w.seen.meets, 1);
	assert_true(wf_exec_stuck(w.exec, &err));
	assert_non_null(strstr(err.text, "other ranks of its server"));
	/* Another has begun at 30; word of it comes at 45. */
	wf_exec_met(w.exec, w.seen.met, 30, 45);
	run(&w);
	assert_int_equal(end_of(&w, 1), 80);
	assert_int_equal(end_of(&w, 2), 81);
	assert_int_equal(w.seen.finished, 1);
	wf_exec_destroy(w.exec);
}

/* A reduction leaves when its work is over, and ends when its result is there. */
static void test_reduce(void **state)
{
	static struct world w;
	struct wf_err err = { "" };
	struct wf_op *op;

	(void)state;
	memset(&w, 0, sizeof(w));
	for (unsigned i = 0; i < 2; i++) {
		op = add(&w.table, 0, WF_OP_REDUCE, i * 30, WF_UNIT_NONE);
		op->peer = 4 + i;
		op->bytes = 1000;
	}
	op = add(&w.table, 0, WF_OP_CALC, 1, WF_UNIT_NONE);
	dep(op, 0, 1, WF_ON_END);
	create(&w);
	wf_exec_start(w.exec, 0);
	assert_int_equal(w.seen.n_reduced, 1);
	assert_int_equal(w.seen.reduced[0].group, 4);
	run(&w);
	assert_int_equal(w.seen.n_reduced, 2);
	assert_int_equal(w.seen.reduced[1].group, 5);
	assert_int_equal(w.seen.reduced[1].bytes, 1000);
	assert_int_equal(w.seen.reduced[1].at, 30);
	assert_true(wf_exec_stuck(w.exec, &err));
	assert_non_null(strstr(err.text, "reduction of 1000 bytes in group 4"));
	/* The second is there first. */
	wf_exec_reduced(w.exec, w.seen.reduced[1].handle, 50);
	run(&w);
	assert_int_equal(end_of(&w, 1), 50);
	assert_int_equal(end_of(&w, 2), 51);
	wf_exec_reduced(w.exec, w.seen.reduced[0].handle, 90);
	run(&w);
	assert_int_equal(end_of(&w, 0), 90);
	assert_int_equal(w.seen.finished, 1);
	assert_int_equal(w.counts.messages[1], 2);
	assert_int_equal(w.counts.bytes[1], 2000);
	assert_int_equal(w.counts.latency[1].max, 90);
	wf_exec_destroy(w.exec);
}

static void test_lost(void **state)
{
	static struct world w;
	struct wf_err err = { "" };

	(void)state;
	memset(&w, 0, sizeof(w));
	add(&w.table, 0, WF_OP_SEND, 0, WF_UNIT_NONE)->peer = 9;
	create(&w);
	wf_exec_start(w.exec, 0);
	assert_int_equal(w.seen.finished, 0);
	assert_true(wf_exec_stuck(w.exec, &err));
	assert_non_null(strstr(err.text, "has no connection"));
	wf_exec_destroy(w.exec);
}

/* Every dependency is waited for by one of the joins, and each join by the next. */
static void test_joins(void **state)
{
	struct wf_op_dep deps[40];

	(void)state;
	for (uint32_t n = 1; n <= 40; n++) {
		uint32_t found = 0, joins = wf_op_joins(n);

		for (uint32_t i = 0; i < n; i++)
			deps[i] = (struct wf_op_dep){ .stream = 7, .number = i };
		for (uint32_t k = 0; k < joins; k++) {
			struct wf_op op = { 0 };

			wf_op_join(&op, k, deps, n, 3, 1000);
			for (unsigned d = 0; d < op.n_deps; d++) {
				if (op.dep[d].stream == 7)
					assert_int_equal(op.dep[d].number, found++);
				else
					assert_int_equal(op.dep[d].number, 1000 + k - 1);
			}
			assert_int_equal(op.dep[0].stream, k == 0 ? 7 : 3);
		}
		assert_int_equal(found, n);
	}
}

/* Without memory there is no executor, and nothing is left behind. */
static void test_no_memory(void **state)
{
	static struct world w;
	struct mem_fail f = mem_fail_after(0);
	struct wf_exec_cfg cfg = { .schedule = &w.table.schedule, .mem = &f.mem };
	struct wf_exec *exec = NULL;
	int n = 0, ret;

	(void)state;
	memset(&w, 0, sizeof(w));
	w.table.schedule = (struct wf_schedule){ .ops = &table_ops, .n_ranks = 1 };
	w.table.window = 4;
	do {
		f.left = n++;
		ret = wf_exec_create(&cfg, &exec);
		assert_true(ret == 0 || ret == -12); /* ENOMEM */
		assert_true(ret == 0 || f.held == 0);
	} while (ret != 0);
	assert_true(n > 3);
	wf_exec_destroy(exec);
	assert_int_equal(f.held, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dependencies), cmocka_unit_test(test_window),
		cmocka_unit_test(test_messages),     cmocka_unit_test(test_meet),
		cmocka_unit_test(test_reduce),       cmocka_unit_test(test_lost),
		cmocka_unit_test(test_joins),        cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
