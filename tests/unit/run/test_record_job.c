/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_record_job.c - what an observed job does becomes spans, and what of it was exposed.
 */
#include "check.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/record_job.h"

/* Groups: 0 and 1 communicate, 2 computes. */
static void group(const struct wf_schedule *schedule, uint32_t number, struct wf_group *g)
{
	static const char *const names[] = { "a", "b", "forward" };

	(void)schedule;
	*g = (struct wf_group){ .name = names[number], .kind = names[number], .ranks = 1 };
	if (number < 2) {
		g->bytes = 1000;
		g->algorithm = "ring";
	}
}

static const struct wf_schedule_ops ops = { .name = "test", .group = group };

struct rig {
	char path[64];
	struct wf_record *record;
	struct wf_record_run *run;
	struct wf_schedule schedule;
	struct wf_cluster cluster;
	struct wf_record_job *rj;
	const struct wf_job_observer *o;
};

static void rig_init(struct rig *r, uint32_t ranks)
{
	static const struct wf_record_head head = {
		.label = "x", .fabric = "x", .scenario_file = "", .scenario = "", .overrides = ""
	};
	struct wf_err err = { "" };

	memset(r, 0, sizeof(*r));
	snprintf(r->path, sizeof(r->path), "/tmp/weft-record-job-XXXXXX");
	assert_true(close(mkstemp(r->path)) == 0);
	assert_int_equal(wf_record_open(r->path, "run", "test", &r->record, &err), 0);
	assert_int_equal(wf_record_begin(r->record, &head, &r->run, &err), 0);
	r->schedule = (struct wf_schedule){ .ops = &ops, .n_ranks = ranks, .n_groups = 3 };
	r->cluster = (struct wf_cluster){ .n_ranks = ranks, .gpus = 1, .nics = 1 };
	r->rj = wf_record_job_create(&r->schedule, &r->cluster);
	assert_non_null(r->rj);
	r->o = wf_record_job_observer(r->rj);
}

static void rig_end(struct rig *r, wf_time end)
{
	static struct wf_job_result result;
	static const struct wf_record_tail tail;
	struct wf_err err = { "" };

	result.end = end;
	wf_record_job_end(r->rj, r->run, &result, NULL, true);
	wf_record_job_destroy(r->rj);
	assert_int_equal(wf_record_end(r->run, &tail, &err), 0);
	assert_int_equal(wf_record_close(r->record, &err), 0);
}

static void compute(struct rig *r, uint32_t rank, wf_time begin, wf_time end)
{
	const struct wf_op op = {
		.kind = WF_OP_CALC, .unit = WF_UNIT_COMPUTE, .time = end - begin, .group = 2
	};

	r->o->op(r->o->arg, rank, 0, &op, 0, end); /* it was ready at 0, and waited */
}

static void check(const struct rig *r, const char *sql, const char *want)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	char got[1024] = "";

	assert_int_equal(sqlite3_open_v2(r->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(stmt); i++) {
			size_t n = strlen(got);

			snprintf(got + n, sizeof(got) - n, "%s%s",
			         (const char *)sqlite3_column_text(stmt, i),
			         i + 1 < sqlite3_column_count(stmt) ? " " : "; ");
		}
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	assert_string_equal(got, want);
}

/*
 *	compute       ####      ######            ##
 *	a          #########
 *	b                   ########            (never ends)
 *	exposed    ##     ###          ##       ...
 */
static void test_exposed(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 1);
	r.o->begin(r.o->arg, 0, 0, 10);
	compute(&r, 0, 12, 16);
	r.o->end(r.o->arg, 0, 0, 19);
	r.o->begin(r.o->arg, 0, 1, 19);
	wf_record_job_drain(r.rj, r.run);
	compute(&r, 0, 21, 25);
	r.o->end(r.o->arg, 0, 1, 27);
	r.o->begin(r.o->arg, 0, 1, 40);
	compute(&r, 0, 38, 42);
	rig_end(&r, 50);
	check(&r, "SELECT begin_ps, end_ps FROM span WHERE kind = 'exposed' ORDER BY 1",
	      "10 12; 16 21; 25 27; 42 50; ");
	check(&r, "SELECT begin_ps, end_ps, name FROM span WHERE kind = 'compute' ORDER BY 1",
	      "12 16 forward; 21 25 forward; 38 42 forward; ");
	check(&r,
	      "SELECT begin_ps, end_ps, name, stream FROM span WHERE kind = 'communication' ORDER "
	      "BY 1",
	      "10 19 a 1; 19 27 b 1; 40 50 b 1; ");
	unlink(r.path);
}

/* What overlaps is on streams of its own; of many ranks, some have a timeline. */
static void test_ranks(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 130);
	for (uint32_t i = 0; i < 130; i++) {
		r.o->begin(r.o->arg, i, 0, 1);
		r.o->begin(r.o->arg, i, 1, 2);
		r.o->end(r.o->arg, i, 0, 3);
		r.o->begin(r.o->arg, i, 0, 4);
		r.o->end(r.o->arg, i, 1, 5);
		r.o->end(r.o->arg, i, 0, 6);
	}
	rig_end(&r, 6);
	check(&r,
	      "SELECT begin_ps, end_ps, stream FROM span WHERE kind = 'communication' AND rank = 0 "
	      "ORDER BY 1",
	      "1 3 1; 2 5 2; 4 6 1; ");
	check(&r, "SELECT count(DISTINCT rank) FROM span", "44; ");
	check(&r, "SELECT count(DISTINCT rank) FROM collective_rank", "130; ");
	unlink(r.path);
}

/* Messages are thinned out evenly, however many there are. */
static void test_messages(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 2000);
	for (uint32_t i = 0; i < 100; i++)
		r.o->message(r.o->arg, 7, 3, i, i, i + 1, true);
	rig_end(&r, 200);
	check(&r, "SELECT src, dst, bytes, net FROM message ORDER BY bytes",
	      "7 3 0 1; 7 3 16 1; 7 3 32 1; 7 3 48 1; 7 3 64 1; 7 3 80 1; 7 3 96 1; ");
	check(&r, "SELECT value FROM value WHERE name = 'messages_sampled_1_of'", "16; ");
	unlink(r.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exposed),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
