/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_run.c - the run of a scenario on a fabric, and what it comes to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "load.h"
#include "run/run.h"

static struct wf_paths paths;

static int find_paths(void **state)
{
	(void)state;
	return wf_paths_init(&paths, NULL, NULL);
}

static const char mixed[] =
	"topology: {kind: leaf-spine, hosts: 8, radix: 8, host_rate: 100Gbps}\n"
	"fabric: roce-100g\n"
	"traffic: [{kind: incast, fanin: 3, size: 1KB}, {kind: permutation, size: 2KB, class: 0}]\n"
	"run: {until: 100ms}\n";

/* Two equal runs in one process, and what a run adds up. */
static void test_run(void **state)
{
	const struct wf_scenario_opts where = { .paths = &paths };
	const struct wf_run_opts opts = { .threads = 1 };
	struct wf_err err = { "" };
	struct wf_run *runs = calloc(2, sizeof(*runs));
	struct wf_scenario s;

	(void)state;
	assert_non_null(runs);
	load_scenario(&s, mixed, "x.yaml", &where);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(wf_run_fabric(&s, 0, &opts, &runs[i], &err), 0);
		assert_int_equal(runs[i].result.flows_done, 11);
		assert_int_equal(runs[i].lossless_drops, 0);
		assert_true(runs[i].completion > 0);
		assert_int_equal(runs[i].goodput,
		                 (3 * 1000 + 8 * 2000) * 8 * WF_S / (uint64_t)runs[i].completion);
	}
	assert_memory_equal(&runs[0].total, &runs[1].total, sizeof(runs[0].total));
	assert_int_equal(runs[0].result.hops, runs[1].result.hops);
	wf_run_fini(&runs[0]);
	wf_run_fini(&runs[1]);
	wf_scenario_fini(&s);
	free(runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run),
	};

	return cmocka_run_group_tests(tests, find_paths, NULL);
}
