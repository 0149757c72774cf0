/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of job/scale.c: what the network's delays add to a scaled plan, by hand. */
#include <string.h>

#include "check.h"
#include "job/plan_coll.h"
#include "job/scale.h"

#define RATE INT64_C(400000000000) /* bits/s */
#define DELAY (2 * WF_US)

static wf_time latency(const void *arg, uint32_t from, uint32_t to)
{
	(void)arg;
	assert_int_not_equal(from, to);
	return DELAY;
}

static const struct wf_scale_net net = { .latency = latency, .rate = RATE };

/* The excess of a collective of bytes on single GPUs at a scale it was made at. */
static wf_time excess(enum wf_coll_kind kind, enum wf_coll_alg alg, uint32_t ranks, uint32_t gpus,
                      uint64_t bytes, uint64_t scale)
{
	const struct wf_cluster cluster = { .n_ranks = ranks, .gpus = gpus, .nics = gpus };
	const struct wf_coll coll = { .kind = (uint8_t)kind,
		                      .alg = (uint8_t)alg,
		                      .proto = WF_PROTO_SIMPLE,
		                      .bytes = bytes,
		                      .comm = { .n = ranks, .stride = 1 } };
	struct wf_scale_cost cost;
	struct wf_coll_cfg cfg = { 0 };
	struct wf_plan *plan;
	struct wf_err err;

	assert_int_equal(wf_param_defaults(wf_coll_params, wf_coll_n_params, &cfg, &err), 0);
	cfg.net_simple = cfg.tree_net_simple = 0;
	assert_int_equal(wf_plan_coll_create(&cluster, &coll, 1, wf_mem_heap(), &plan), 0);
	assert_int_equal(wf_plan_scale_cost(plan, &cfg, scale, scale, &net, wf_mem_heap(), &cost),
	                 0);
	plan->ops->destroy(plan);
	assert_int_equal(cost.compute, 0);
	return cost.excess;
}

/*
 * 80 MB over 16 ranks: 15/16 of it on the line take 1.5 ms, a quarter of it, one channel's, 375 us.
 * At 1/64 a sixty-fourth has come, so these are whole: 15 delays of 2 us are far below the line;
 * only the first is seen.
 */
static void test_line(void **state)
{
	const uint64_t scale = WF_RATIO_ONE / 64;

	(void)state;
	assert_int_equal(excess(WF_COLL_REDUCE_SCATTER, WF_ALG_RING, 16, 1, 80000000, scale),
	                 DELAY - DELAY / 64);
	assert_int_equal(excess(WF_COLL_REDUCE_SCATTER, WF_ALG_RING, 16, 1, 80000000, WF_RATIO_ONE),
	                 0);
}

/*
 * 800 KB: 15 us on the line, of four channels' one 3.75 us. The chain is 3.75 + 15 x 2 us; in the
 * unscaled step it is 3.75 + 30/64, below the line: 33.75 - 15 us, and the first delay.
 */
static void test_chain(void **state)
{
	const uint64_t scale = WF_RATIO_ONE / 64;

	(void)state;
	assert_int_equal(excess(WF_COLL_ALL_GATHER, WF_ALG_RING, 16, 1, 800000, scale),
	                 18750 * WF_NS + DELAY - DELAY / 64);
	/* Twice the bytes and twice the steps. */
	assert_int_equal(excess(WF_COLL_ALL_REDUCE, WF_ALG_RING, 16, 1, 800000, scale),
	                 2 * 18750 * WF_NS + DELAY - DELAY / 64);
}

/*
 * Two levels of a tree of four servers, up and down, on top of the bytes; inside a server there is
 * none.
 */
static void test_tree(void **state)
{
	const uint64_t scale = WF_RATIO_ONE / 4;

	(void)state;
	assert_int_equal(excess(WF_COLL_ALL_REDUCE, WF_ALG_TREE, 32, 8, 800000, scale),
	                 4 * (DELAY - DELAY / 4));
	assert_int_equal(excess(WF_COLL_ALL_REDUCE, WF_ALG_TREE, 8, 8, 800000, scale), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
