/* SPDX-License-Identifier: Apache-2.0 */
/* The models and GPUs that ship: they read, and have the published numbers of parameters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "job/model.h"
#include "scenario/profile.h"

static void read_preset(enum wf_profile_kind kind, const char *name, const struct wf_param *table,
                        size_t n, void *config)
{
	const struct wf_place place = { .file = NULL };
	struct wf_settings settings;
	struct wf_err err = { "" };
	static struct wf_paths paths;
	struct wf_arena arena;
	char dir[WF_PATH_MAX];

	snprintf(dir, sizeof(dir), "%s/profiles", getenv("WEFT_SOURCE_DIR"));
	wf_arena_init(&arena);
	if (wf_paths_init(&paths, dir, &err) != 0 ||
	    wf_settings_init(&settings, "", table, n, config, &arena, &err) != 0 ||
	    wf_profile_apply(&paths, kind, name, "", &place, NULL, &arena, &settings, &err) != 0)
		fail_msg("%s: %s", name, err.text);
	wf_arena_fini(&arena);
}

/* What the authors of each publish. */
static void test_models(void **state)
{
	static const struct {
		const char *name;
		uint64_t total;
	} models[] = {
		{ "llama3-8b", UINT64_C(8030261248) },
		{ "llama3-70b", UINT64_C(70553706496) },
		{ "llama3-405b", UINT64_C(405853388800) },
		{ "gpt-13b", UINT64_C(12853386240) },
		{ "gpt-175b", UINT64_C(174604259328) },
		{ "mixtral-8x7b", UINT64_C(46702792704) },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(models); i++) {
		struct wf_err err = { "" };
		struct wf_model_cfg model;

		read_preset(WF_PROFILE_MODEL, models[i].name, wf_model_params, wf_model_n_params,
		            &model);
		if (wf_model_check(&model, &err) != 0)
			fail_msg("%s: %s", models[i].name, err.text);
		if (wf_model_size(&model).total != models[i].total)
			fail_msg("%s has %llu parameters", models[i].name,
			         (unsigned long long)wf_model_size(&model).total);
	}
}

static void test_gpus(void **state)
{
	static const struct {
		const char *name;
		uint32_t tflops;
		uint64_t nvlink;
	} gpus[] = {
		{ "h100", 989, UINT64_C(3600000000000) },
		{ "h200", 989, UINT64_C(3600000000000) },
		{ "b200", 2250, UINT64_C(7200000000000) },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(gpus); i++) {
		struct wf_gpu_cfg gpu;

		read_preset(WF_PROFILE_GPU, gpus[i].name, wf_gpu_params, wf_gpu_n_params, &gpu);
		assert_int_equal(gpu.tflops, gpus[i].tflops);
		assert_int_equal(gpu.nvlink, gpus[i].nvlink);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
