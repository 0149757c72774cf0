/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of job/model.c: published sizes of models, operations per token, times. */
#include <string.h>

#include "check.h"
#include "job/model.h"

static const struct wf_model_cfg llama3_8b = {
	.layers = 32,
	.hidden = 4096,
	.heads = 32,
	.kv_heads = 8,
	.ffn = 14336,
	.gated = true,
	.vocabulary = 128256,
	.sequence = 8192,
	.experts = 1,
	.top_k = 1,
};
static const struct wf_model_cfg gpt3_175b = {
	.layers = 96,
	.hidden = 12288,
	.heads = 96,
	.ffn = 49152,
	.bias = true,
	.tied = true,
	.vocabulary = 50257,
	.positions = 2048,
	.sequence = 2048,
	.experts = 1,
	.top_k = 1,
};
static const struct wf_model_cfg mixtral = {
	.layers = 32,
	.hidden = 4096,
	.heads = 32,
	.kv_heads = 8,
	.ffn = 14336,
	.gated = true,
	.vocabulary = 32000,
	.sequence = 32768,
	.experts = 8,
	.top_k = 2,
};

/* GPT-2 (124M): the table's defaults. */
static void test_defaults(void **state)
{
	struct wf_err err = { { 0 } };
	struct wf_model_cfg model;
	struct wf_gpu_cfg gpu;

	(void)state;
	assert_int_equal(wf_param_defaults(wf_model_params, wf_model_n_params, &model, &err), 0);
	assert_int_equal(wf_param_defaults(wf_gpu_params, wf_gpu_n_params, &gpu, &err), 0);
	assert_int_equal(wf_model_check(&model, &err), 0);
	assert_int_equal(wf_model_size(&model).total, 124439808);
	assert_int_equal(gpu.efficiency, WF_RATIO_ONE / 2);
}

/* Number for number what the published checkpoints hold. */
static void test_published_sizes(void **state)
{
	struct wf_model_cfg big = llama3_8b;
	struct wf_model_size size;

	(void)state;
	assert_int_equal(wf_model_size(&llama3_8b).total, 8030261248);
	big.layers = 80;
	big.hidden = 8192;
	big.heads = 64;
	big.ffn = 28672;
	assert_int_equal(wf_model_size(&big).total, 70553706496);
	big.layers = 126;
	big.hidden = 16384;
	big.heads = 128;
	big.ffn = 53248;
	assert_int_equal(wf_model_size(&big).total, 405853388800);
	assert_int_equal(wf_model_size(&gpt3_175b).total, 174604259328);
	size = wf_model_size(&mixtral);
	assert_int_equal(size.total, 46702792704);
	/* "12.9B active parameters" */
	assert_in_range(size.active, 12850000000, 12950000000);
	assert_int_equal(size.total, 32 * (size.attention + 8 * size.expert + size.router) +
	                                     size.embedding + size.head);
}

/*
 * GPT-3's paper has 3.14e23 operations for 300e9 tokens, 6 a parameter and no attention.
 * Megatron-LM counts 72 s L h^2 (1 + s/6h + V/12Lh) a sequence.
 */
static void test_flops(void **state)
{
	const struct wf_model_cfg *m = &gpt3_175b;
	double h = m->hidden, s = m->sequence, l = m->layers, v = m->vocabulary;
	double megatron = 72 * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
	double paper = 3.14e23 / 300e9;
	double ours = (double)wf_model_train_flops(m);

	(void)state;
	assert_true(ours / megatron > 0.999999 && ours / megatron < 1.000001);
	ours -= 12 * l * h * s;
	assert_true(ours / paper > 0.99 && ours / paper < 1.01);
}

/*
 * A dense model with 2 experts' worth of width costs as much as 2 of n experts, but for the router.
 */
static void test_moe_flops(void **state)
{
	struct wf_model_cfg dense = mixtral;

	(void)state;
	dense.experts = dense.top_k = 1;
	dense.ffn *= 2;
	assert_int_equal(wf_model_ffn_flops(&mixtral),
	                 wf_model_ffn_flops(&dense) + 2 * UINT64_C(4096) * 8);
	assert_int_equal(wf_model_attention_flops(&mixtral), wf_model_attention_flops(&dense));
}

static void test_times(void **state)
{
	struct wf_gpu_cfg gpu = { .tflops = 1000,
		                  .efficiency = WF_RATIO_ONE / 2,
		                  .memory = 4000000000000 };

	(void)state;
	assert_int_equal(wf_gpu_compute_time(&gpu, 500), 1);
	assert_int_equal(wf_gpu_compute_time(&gpu, 501), 2);
	/* 1e30 operations: no overflow on the way; 5e14 a second. */
	assert_int_equal(wf_gpu_compute_time(&gpu, (unsigned __int128)1000000000000000 * 1000000),
	                 2000000000000000000);
	assert_int_equal(wf_gpu_memory_time(&gpu, 4000), WF_NS);
	assert_int_equal(wf_gpu_memory_time(&gpu, 1), 1);
}

static void test_check(void **state)
{
	struct wf_model_cfg m = llama3_8b;
	struct wf_err err = { { 0 } };

	(void)state;
	m.heads = 33;
	assert_int_not_equal(wf_model_check(&m, &err), 0);
	assert_string_equal(err.text, "heads: 33 do not divide hidden 4096; set head_dim, or a "
	                              "number of heads that does");
	m.head_dim = 128;
	err.text[0] = '\0';
	assert_int_not_equal(wf_model_check(&m, &err), 0);
	assert_non_null(strstr(err.text, "kv_heads: 8 do not divide heads 33"));
	m = mixtral;
	m.top_k = 9;
	err.text[0] = '\0';
	assert_int_not_equal(wf_model_check(&m, &err), 0);
	assert_non_null(strstr(err.text, "top_k: a token cannot go to 9 of 8 experts"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_published_sizes),
		cmocka_unit_test(test_flops),    cmocka_unit_test(test_moe_flops),
		cmocka_unit_test(test_times),    cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
