/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: long */
/*
 * A verdict does not change with the seed: four jobs, each judged from five seeds, beginning with
 * each of 8, or 20 with WEFT_TEST_ALL. What is taken must be the same, and in every state so must
 * be who is slower by what counts.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/compare.h"
#include "run/pool.h"

#define SEEDS 5
#define MAX_SETS 8

static void no_tasks(void *arg, size_t n)
{
	(void)arg;
	(void)n;
}

static void no_begin(void *arg, size_t task, const char *label)
{
	(void)arg;
	(void)task;
	(void)label;
}

static bool no_step(void *arg, size_t task, wf_time now, uint64_t hops, uint32_t done)
{
	(void)arg;
	(void)task;
	(void)now;
	(void)hops;
	(void)done;
	return true;
}

static void no_end(void *arg, size_t task)
{
	(void)arg;
	(void)task;
}

struct job {
	const char *file;
	const char *sets[MAX_SETS][2];
	enum wf_outcome outcome;
	const char *choice; /* NULL: either */
};

/* The figures of the reasons differ from seed to seed; what is said with them may not. */
static void words_of(const struct wf_verdict *v, char *buf, size_t size)
{
	size_t len = (size_t)snprintf(buf, size, "%d %d", v->outcome, v->choice);

	for (unsigned i = 0; i < v->n_reasons && len < size; i++) {
		const char *r = v->reason[i];
		const char *what = strstr(r, "no difference that counts") != NULL ? "alike"
		                   : strstr(r, "within the spread") != NULL       ? "alike"
		                                                                  : "slower";

		if (strncmp(r, "At their", 8) == 0 || strncmp(r, "As they", 7) == 0 ||
		    strncmp(r, "Neglected", 9) == 0)
			len += (size_t)snprintf(buf + len, size - len, " %.3s:%s", r, what);
	}
}

static void check(const struct job *job)
{
	const struct wf_watch watch = {
		.tasks = no_tasks, .begin = no_begin, .step = no_step, .end = no_end
	};
	struct wf_override sets[MAX_SETS + 1];
	char path[512], seeds[16], first[256], words[256];
	static struct wf_paths paths;
	struct wf_scenario_opts opts = { .paths = &paths, .overrides = sets };
	struct wf_compare_cfg cfg = { .at_once = wf_pool_cpus(), .watch = &watch };
	struct wf_compare *result = calloc(1, sizeof(*result));
	struct wf_verdict *verdict = calloc(1, sizeof(*verdict));
	bool whole = getenv("WEFT_WHOLE") != NULL;
	unsigned firsts = getenv("WEFT_TEST_ALL") != NULL ? 20 : 8;
	struct wf_scenario s;
	struct wf_err err = { "" };

	assert_non_null(result);
	assert_non_null(verdict);
	snprintf(path, sizeof(path), WEFT_SOURCE_DIR "/examples/%s", job->file);
	snprintf(seeds, sizeof(seeds), "%u", firsts + SEEDS - 1);
	for (; !whole && opts.n_overrides < MAX_SETS && job->sets[opts.n_overrides][0] != NULL;
	     opts.n_overrides++)
		sets[opts.n_overrides] =
			(struct wf_override){ "test", job->sets[opts.n_overrides][0],
			                      job->sets[opts.n_overrides][1] };
	sets[opts.n_overrides++] = (struct wf_override){ "test", "compare.seeds", seeds };
	assert_int_equal(wf_paths_init(&paths, NULL, &err), 0);
	if (wf_scenario_read(&s, path, &opts, &err) != 0 || wf_scenario_build(&s, &err) != 0)
		fail_msg("%s", err.text);
	cfg.scenario = &s;
	if (wf_compare(&cfg, result, &err) != 0)
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < firsts; i++) {
		wf_compare_judge(result, i, SEEDS, 0, verdict);
		words_of(verdict, i == 0 ? first : words, sizeof(words));
		if (i > 0 && strcmp(first, words) != 0)
			fail_msg("%s: seed 1 says %s, seed %u says %s: %s", job->file, first, i + 1,
			         words, verdict->text);
		if (whole && i == 0)
			print_message("%s: %s\n", job->file, verdict->text);
		if (whole)
			continue;
		assert_int_equal(verdict->outcome, job->outcome);
		if (job->choice != NULL)
			assert_string_equal(s.fabrics[verdict->choice].label, job->choice);
	}
	wf_compare_fini(result);
	wf_scenario_fini(&s);
	free(result);
	free(verdict);
}

/*
 * Jobs of the examples, made small, which makes delays larger beside them: InfiniBand's are
 * shorter, so that it is ahead in some where the whole job has no winner. With WEFT_WHOLE=1 in the
 * environment the jobs are as they are in the files, and only that nothing changes with the seed is
 * checked; that takes minutes.
 */
#define SMALL                                                                                      \
	{ "job.layers", "1" }, { "job.scale", "1/256" },                                           \
	{                                                                                          \
		"job.scale_error", "100"                                                           \
	}

static void test_own_networks(void **state)
{
	static const struct job job = {
		"train-64.yaml", { SMALL, { "compare.sizes", "none" } }, WF_OUTCOME_EITHER, NULL
	};

	(void)state;
	check(&job);
}

static void test_racks(void **state)
{
	static const struct job job = {
		"train-64-racks.yaml", { SMALL }, WF_OUTCOME_TAKE, "ib-ndr"
	};

	(void)state;
	check(&job);
}

static void test_experts(void **state)
{
	static const struct job job = { "train-mixtral.yaml",
		                        { { "job.layers", "1" },
		                          { "job.scale", "1/64" },
		                          { "job.scale_error", "100" },
		                          { "compare.sizes", "none" } },
		                        WF_OUTCOME_TAKE,
		                        "ib-ndr" };

	(void)state;
	check(&job);
}

static void test_permutation(void **state)
{
	static const struct job job = {
		"permutation.yaml", { { NULL, NULL } }, WF_OUTCOME_TAKE, "ib-ndr"
	};

	(void)state;
	check(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_networks),
		cmocka_unit_test(test_racks),
		cmocka_unit_test(test_experts),
		cmocka_unit_test(test_permutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
