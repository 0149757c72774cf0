/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of job/train.c and job/train_stage.c: what can be said of a step without running it,
 * and that plans fit together: every send has its receive, every collective all its ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "job/train.h"

/* 8 layers, no output layer: every stage is the same. */
static const struct wf_model_cfg small = {
	.layers = 8,
	.hidden = 512,
	.heads = 8,
	.kv_heads = 8,
	.ffn = 2048,
	.gated = true,
	.vocabulary = 0,
	.sequence = 1024,
	.experts = 1,
	.top_k = 1,
};

/* Half of 1000 operations a picosecond. */
static const struct wf_gpu_cfg gpu = { .tflops = 1000,
	                               .efficiency = WF_RATIO_ONE / 2,
	                               .memory = 4000000000000 };

struct test {
	struct wf_train_cfg cfg;
	struct wf_model_cfg model;
	struct wf_cluster cluster;
	struct wf_plan *plan;
	struct wf_train_info info;
	struct wf_err err;
};

static void set_up(struct test *t, uint32_t ranks)
{
	memset(t, 0, sizeof(*t));
	t->model = small;
	t->cluster = (struct wf_cluster){ .n_ranks = ranks, .gpus = 8, .nics = 8 };
	assert_int_equal(wf_param_defaults(wf_train_params, wf_train_n_params, &t->cfg, &t->err),
	                 0);
	t->cfg.optimizer_bytes = 0;
}

static void make(struct test *t)
{
	if (wf_train_plan(&t->cfg, &t->model, &gpu, &t->cluster, wf_mem_heap(), &t->plan, &t->info,
	                  &t->err) != 0)
		fail_msg("%s", t->err.text);
}

static void tear_down(struct test *t)
{
	t->plan->ops->destroy(t->plan);
}

/* Time of one layer forwards on one of tp GPUs, as the model has it. */
static wf_time layer_time(const struct test *t)
{
	uint64_t tokens = (uint64_t)t->cfg.micro_batch * t->model.sequence;

	return wf_gpu_compute_time(&gpu, wf_model_attention_flops(&t->model) * tokens / t->cfg.tp) +
	       wf_gpu_compute_time(&gpu, wf_model_ffn_flops(&t->model) * tokens / t->cfg.tp);
}

/* 1F1B: m + p - 1 times a forward and a backward pass of a stage; a bubble of (p - 1) / m. */
static void test_bubble(void **state)
{
	static const uint32_t stages[] = { 1, 2, 4, 8 };
	static const uint32_t batches[] = { 1, 2, 3, 4, 8, 9, 32 };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(stages); i++) {
		for (size_t j = 0; j < WF_ARRAY_SIZE(batches); j++) {
			struct test t;
			wf_time pass;

			set_up(&t, 16 * stages[i]);
			t.cfg.pp = stages[i];
			t.cfg.tp = 8;
			t.cfg.micro_batches = batches[j];
			make(&t);
			pass = 3 * (small.layers / stages[i]) * layer_time(&t);
			assert_int_equal(t.info.dp, 2);
			assert_int_equal(t.info.compute, batches[j] * pass);
			assert_int_equal(t.info.ideal, (batches[j] + stages[i] - 1) * pass);
			assert_int_equal(t.info.bubble, (stages[i] - 1) * pass);
			tear_down(&t);
		}
	}
}

/* With v chunks a stage the bubble is (p - 1) / (m v). */
static void test_interleaved_bubble(void **state)
{
	static const struct {
		uint32_t p, v, m;
	} cases[] = {
		{ 2, 2, 2 }, { 2, 2, 8 }, { 2, 4, 4 }, { 4, 2, 4 }, { 4, 2, 16 }, { 3, 2, 6 }
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct test t;
		wf_time pass;

		set_up(&t, cases[i].p);
		t.model.layers = 48;
		t.cfg.pp = cases[i].p;
		t.cfg.interleave = cases[i].v;
		t.cfg.micro_batches = cases[i].m;
		make(&t);
		pass = 3 * (48 / cases[i].p / cases[i].v) * layer_time(&t);
		assert_int_equal(t.info.ideal, (cases[i].m * cases[i].v + cases[i].p - 1) * pass);
		tear_down(&t);
	}
}

/* No communication, no bubble, no optimizer: MFU is the efficiency; with recomputing 3/4 of it. */
static void test_mfu(void **state)
{
	struct test t;
	double mfu;

	(void)state;
	set_up(&t, 4);
	t.model.vocabulary = 32000;
	t.cfg.micro_batches = 3;
	make(&t);
	mfu = wf_train_mfu(&t.info, &gpu, t.info.ideal);
	assert_true(mfu > 0.499999 && mfu < 0.500001);
	assert_int_equal(t.info.tokens, 4 * 3 * 1024);
	tear_down(&t);
	t.cfg.recompute = true;
	t.model.vocabulary = 0;
	make(&t);
	mfu = wf_train_mfu(&t.info, &gpu, t.info.ideal);
	assert_true(mfu > 0.374999 && mfu < 0.375001);
	tear_down(&t);
}

/* Everything is a tenth, so is the step; MFU stays. */
static void test_scale(void **state)
{
	struct test t;
	wf_time whole;
	uint64_t bytes;

	(void)state;
	set_up(&t, 4);
	t.cfg.optimizer_bytes = 30;
	make(&t);
	whole = t.info.ideal;
	bytes = t.info.dp_bytes;
	tear_down(&t);
	t.cfg.scale = WF_RATIO_ONE / 16;
	make(&t);
	assert_in_range(t.info.ideal, whole / 16, whole / 16 + 64);
	assert_in_range(t.info.dp_bytes, bytes / 16, bytes / 16 + 64);
	assert_in_range((uint64_t)(1e6 * wf_train_mfu(&t.info, &gpu, t.info.ideal)), 1, 499999);
	tear_down(&t);
}

/* ---- what the plans of all ranks say together ---- */

struct tally {
	uint64_t reduced, gathered,
		all_reduced; /* bytes of collectives of the data-parallel kind */
	uint64_t tp, ep, pp;
	uint32_t n_dp, n_tp, n_ep, n_send, n_recv;
	wf_time compute;
};

static void count_item(const struct wf_plan *plan, const struct wf_item *item, struct tally *sum)
{
	struct wf_group group;

	if (item->kind == WF_ITEM_CALC)
		sum->compute += item->time;
	if (item->kind == WF_ITEM_SEND) {
		sum->n_send++;
		sum->pp += item->bytes;
	}
	sum->n_recv += item->kind == WF_ITEM_RECV;
	if (item->kind != WF_ITEM_COLL)
		return;
	plan->ops->group(plan, item->group, &(struct wf_coll_cfg){ 0 }, &group);
	if (strcmp(group.kind, "tp") == 0) {
		sum->tp += item->coll.bytes;
		sum->n_tp++;
	} else if (strcmp(group.kind, "ep") == 0) {
		sum->ep += item->coll.bytes;
		sum->n_ep++;
	} else if (strcmp(group.kind, "dp") == 0) {
		sum->n_dp++;
		if (item->coll.kind == WF_COLL_ALL_GATHER)
			sum->gathered += item->coll.bytes;
		else if (item->coll.kind == WF_COLL_REDUCE_SCATTER)
			sum->reduced += item->coll.bytes;
		else
			sum->all_reduced += item->coll.bytes;
	}
}

/* Walks a rank's lane; fn may be NULL. */
typedef void item_fn(void *arg, uint32_t rank, uint32_t lane, const struct wf_item *item);

static void walk(const struct wf_plan *plan, uint32_t rank, struct tally *sum, item_fn *fn,
                 void *arg)
{
	void *cursor = malloc(plan->ops->cursor);

	assert_non_null(cursor);
	memset(sum, 0, sizeof(*sum));
	for (uint32_t lane = 0; lane < plan->n_lanes; lane++) {
		memset(cursor, 0, plan->ops->cursor);
		plan->ops->start(plan, rank, lane, cursor);
		for (;;) {
			struct wf_item item = { .group = WF_GROUP_NONE };

			if (!plan->ops->next(plan, cursor, &item))
				break;
			assert_in_range(item.n_deps, 0, WF_ITEM_DEPS);
			for (uint32_t d = 0; d < item.n_deps; d++)
				assert_in_range(item.dep[d].lane, 0, plan->n_lanes - 1);
			count_item(plan, &item, sum);
			if (fn != NULL)
				fn(arg, rank, lane, &item);
		}
	}
	free(cursor);
}

/* Data parallel volume: gradients in 4 bytes, parameters in 2, of what a rank holds. */
static void test_dp_volume(void **state)
{
	struct wf_model_size size;
	struct tally sum;
	struct test t;

	(void)state;
	set_up(&t, 8);
	t.cfg.bucket = 5000000;
	t.cfg.tp = 2;
	t.model.vocabulary = 1000;
	size = wf_model_size(&t.model);
	make(&t);
	walk(t.plan, 3, &sum, NULL, NULL);
	/* Shares of each part are rounded up. */
	assert_in_range(sum.reduced, size.total / 2 * 4, size.total / 2 * 4 + 4 * 10);
	assert_in_range(sum.gathered, size.total / 2 * 2, size.total / 2 * 2 + 2 * 10);
	assert_int_equal(sum.all_reduced, 0);
	assert_int_equal(t.info.dp_bytes, sum.reduced + sum.gathered);
	assert_int_equal(t.info.rank_parameters * 4, sum.reduced);
	/* A layer's gradients are more than a bucket: one collective for each, and the ends. */
	assert_in_range(sum.n_dp, 2 * 8, 2 * 10);
	tear_down(&t);

	t.cfg.sharded = false;
	make(&t);
	walk(t.plan, 3, &sum, NULL, NULL);
	assert_in_range(sum.all_reduced, size.total / 2 * 4, size.total / 2 * 4 + 4 * 10);
	assert_int_equal(sum.reduced + sum.gathered, 0);
	tear_down(&t);

	/* Without overlap it is one collective. */
	t.cfg.overlap = false;
	make(&t);
	walk(t.plan, 3, &sum, NULL, NULL);
	assert_in_range(sum.all_reduced, size.total / 2 * 4, size.total / 2 * 4 + 4 * 10);
	assert_int_equal(sum.n_dp, 1);
	tear_down(&t);

	/* One replica has nothing to reduce. */
	t.cluster.n_ranks = 2;
	make(&t);
	walk(t.plan, 1, &sum, NULL, NULL);
	assert_int_equal(sum.n_dp, 0);
	tear_down(&t);
}

/* Megatron-LM: 4 all-reduces of b s h a layer and micro-batch, or as many pairs of half of it. */
static void test_tp_volume(void **state)
{
	uint64_t activation = UINT64_C(2) * 1024 * 512 * 2;
	struct tally sum;
	struct test t;

	(void)state;
	set_up(&t, 8);
	t.cfg.tp = 8;
	t.cfg.micro_batch = 2;
	t.cfg.micro_batches = 3;
	t.cfg.sequence_parallel = false;
	make(&t);
	walk(t.plan, 0, &sum, NULL, NULL);
	assert_int_equal(sum.n_tp, 4 * 8 * 3);
	assert_int_equal(sum.tp, 4 * 8 * 3 * activation);
	tear_down(&t);
	t.cfg.sequence_parallel = true;
	make(&t);
	walk(t.plan, 0, &sum, NULL, NULL);
	assert_int_equal(sum.n_tp, 8 * 8 * 3);
	assert_int_equal(sum.tp, 8 * 8 * 3 * activation);
	tear_down(&t);
}

/*
 * Every token goes to top_k experts and back, forwards and backwards; experts have fewer replicas.
 */
static void test_experts(void **state)
{
	struct wf_model_size size;
	struct tally sum;
	struct test t;

	(void)state;
	set_up(&t, 16);
	t.model.experts = 8;
	t.model.top_k = 2;
	t.cfg.ep = 4;
	t.cfg.tp = 2;
	t.cfg.bucket = 1;
	size = wf_model_size(&t.model);
	make(&t);
	walk(t.plan, 5, &sum, NULL, NULL);
	assert_int_equal(sum.n_ep, 4 * 8);
	assert_int_equal(sum.ep, 4 * 8 * (UINT64_C(1024) * 512 * 2 * 2 / 2));
	/* 2 of 8 experts on a rank, and half of everything for the other tensor-parallel rank. */
	assert_in_range(sum.reduced,
	                4 * (8 * (size.attention + size.router + 2 * size.expert) + size.head) / 2,
	                4 * (8 * (size.attention + size.router + 2 * size.expert) + size.head) / 2 +
	                        200);
	tear_down(&t);
}

struct match {
	uint32_t ranks;
	int64_t balance; /* a sum that is 0 when every send has its receive */
	uint64_t n;
};

static void match_item(void *arg, uint32_t rank, uint32_t lane, const struct wf_item *item)
{
	struct match *m = arg;
	uint32_t src = item->kind == WF_ITEM_SEND ? rank : item->peer;
	uint32_t dst = item->kind == WF_ITEM_SEND ? item->peer : rank;
	int64_t key;

	if (item->kind == WF_ITEM_COLL) {
		assert_int_not_equal(wf_comm_pos(&item->coll.comm, rank), UINT32_MAX);
		for (uint32_t i = 0; i < item->coll.comm.n; i++)
			assert_in_range(wf_comm_rank(&item->coll.comm, i), 0, m->ranks - 1);
	}
	if (item->kind != WF_ITEM_SEND && item->kind != WF_ITEM_RECV)
		return;
	assert_in_range(item->peer, 0, m->ranks - 1);
	assert_int_not_equal(item->peer, rank);
	key = (int64_t)((((uint64_t)src * 131 + dst) * 137 + lane) * 1000003 + item->tag) + 7;
	m->balance += item->kind == WF_ITEM_SEND ? key : -key;
	m->n++;
}

/* Every shape of parallelism at once; each stage's pipeline fits its neighbours'. */
static void test_fits(void **state)
{
	static const struct {
		uint32_t tp, pp, v, m;
	} cases[] = {
		{ 1, 2, 1, 4 }, { 2, 4, 1, 2 }, { 2, 3, 2, 6 }, { 1, 3, 1, 5 }, { 4, 2, 3, 4 }
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct match match = { 0 };
		struct tally sum;
		struct test t;

		set_up(&t, cases[i].tp * cases[i].pp * 4);
		t.model.layers = 12;
		t.model.tied = true;
		t.model.vocabulary = 100;
		t.cfg.tp = cases[i].tp;
		t.cfg.pp = cases[i].pp;
		t.cfg.interleave = cases[i].v;
		t.cfg.micro_batches = cases[i].m;
		make(&t);
		match.ranks = t.cluster.n_ranks;
		for (uint32_t rank = 0; rank < t.cluster.n_ranks; rank++)
			walk(t.plan, rank, &sum, match_item, &match);
		assert_int_equal(match.balance, 0);
		/* Each replica's boundary between chunks, both ways, for each micro-batch. */
		assert_int_equal(match.n, 2 * 2 * (cases[i].pp * cases[i].v - 1) * cases[i].m *
		                                  cases[i].tp * 4);
		tear_down(&t);
	}
}

static void test_bad(void **state)
{
	struct test t;

	(void)state;
#define BAD(change, want)                                                                          \
	do {                                                                                       \
		set_up(&t, 16);                                                                    \
		change;                                                                            \
		assert_int_equal(wf_train_plan(&t.cfg, &t.model, &gpu, &t.cluster, wf_mem_heap(),  \
		                               &t.plan, &t.info, &t.err),                          \
		                 -22);                                                             \
		if (strstr(t.err.text, want) == NULL)                                              \
			fail_msg("\"%s\" does not say \"%s\"", t.err.text, want);                  \
	} while (0)
	BAD(t.cfg.tp = 3, "tp: 3 * pp 1 do not divide 16 GPUs");
	BAD(t.cfg.dp = 3, "dp: 3 replicas of tp 1 * pp 1 are not 16 GPUs; 16 are");
	BAD(t.cfg.ep = 3, "ep: 3 does not divide dp 16");
	BAD(t.cfg.ep = 2, "ep: 2 does not divide the model's 1 experts");
	BAD(t.cfg.tp = 16, "tp: 16 does not divide the model's 8 heads");
	BAD(t.cfg.pp = 16, "pp: 16 chunks of equal size cannot have the model's 8 layers");
	BAD(t.cfg.global_batch = 17, "global_batch: 17 is no multiple of dp 16 * micro_batch 1");
	BAD((t.cfg.global_batch = 32, t.cfg.micro_batches = 3), "leave one of them out");
	BAD(t.cfg.interleave = 2, "interleave: it takes pp > 1");
	BAD((t.cfg.pp = 4, t.cfg.interleave = 2, t.cfg.micro_batches = 6),
	    "a multiple of pp 4 micro-batches, not 6");
	BAD((t.model.layers = 9000, t.cfg.tp = 2, t.cfg.micro_batches = 60000),
	    "too much to simulate");
	BAD(t.model.top_k = 2, "top_k: a token cannot go to 2 of 1 experts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bubble),    cmocka_unit_test(test_interleaved_bubble),
		cmocka_unit_test(test_mfu),       cmocka_unit_test(test_scale),
		cmocka_unit_test(test_dp_volume), cmocka_unit_test(test_tp_volume),
		cmocka_unit_test(test_experts),   cmocka_unit_test(test_fits),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
