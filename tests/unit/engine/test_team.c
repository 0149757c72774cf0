/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of engine/team.c: every task of every round is done exactly once, whoever does it. */
#include "check.h"

#include "engine/team.h"

#define TASKS 37
#define ROUNDS 3000

struct work {
	atomic_uint done[TASKS];
	unsigned round; /* written between rounds, read in them */
	atomic_uint wrong;
};

static void do_task(void *arg, unsigned task)
{
	struct work *w = arg;

	if (atomic_fetch_add(&w->done[task], 1) != w->round)
		atomic_fetch_add(&w->wrong, 1);
}

static void run_team(unsigned threads)
{
	static struct wf_team team;
	static struct work w;

	for (unsigned i = 0; i < TASKS; i++)
		atomic_store(&w.done[i], 0);
	atomic_store(&w.wrong, 0);
	assert_int_equal(wf_team_start(&team, threads, do_task, &w), 0);
	for (w.round = 0; w.round < ROUNDS; w.round++)
		wf_team_round(&team, TASKS);
	wf_team_round(&team, 0);
	wf_team_stop(&team);
	assert_int_equal(atomic_load(&w.wrong), 0);
	for (unsigned i = 0; i < TASKS; i++)
		assert_int_equal(atomic_load(&w.done[i]), ROUNDS);
}

static void test_rounds(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 5; threads++)
		run_team(threads);
}

/* A team that is stopped without ever working, and one with less to do than threads. */
static void test_small(void **state)
{
	static struct wf_team team;
	static struct work w;

	(void)state;
	assert_int_equal(wf_team_start(&team, 4, do_task, &w), 0);
	wf_team_stop(&team);
	assert_int_equal(wf_team_start(&team, 4, do_task, &w), 0);
	wf_team_round(&team, 1);
	wf_team_stop(&team);
	assert_int_equal(atomic_load(&w.done[0]), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
