/* SPDX-License-Identifier: Apache-2.0 */
/* test_inside.c - times of collectives inside a server, against calculation by hand. */
#include <errno.h>

#include "check.h"
#include "job/inside.h"
#include "mem_fail.h"

static const struct wf_cluster cluster = { .n_ranks = 64, .gpus = 8, .nics = 8 };
/* 369 GB/s, what data gets of an H100's NVLink. */
static const struct wf_nvlink nvlink = { .rate = UINT64_C(2952000000000), .latency = 600 * WF_NS };

static wf_time time_of(enum wf_coll_kind kind, uint64_t bytes, uint32_t n, uint32_t base,
                       const struct wf_coll_cfg *cfg)
{
	const struct wf_coll coll = { .kind = (uint8_t)kind,
		                      .alg = WF_ALG_RING,
		                      .bytes = bytes,
		                      .comm = { .n = n, .base = base, .stride = 1 } };
	struct wf_inside *in;
	wf_time time;

	assert_int_equal(wf_inside_create(&cluster, cfg, &nvlink, wf_mem_heap(), &in), 0);
	assert_int_equal(wf_inside_learn(in, &coll), 0);
	assert_int_equal(wf_inside_learn(in, &coll), 0);
	time = wf_inside_time(in, &coll);
	wf_inside_destroy(in);
	return time;
}

static void defaults(struct wf_coll_cfg *cfg)
{
	struct wf_err err = { "" };

	assert_int_equal(wf_param_defaults(wf_coll_params, wf_coll_n_params, cfg, &err), 0);
}

/* 1 GiB: 2 * 7/8 of it pass each NVLink at 369 GB/s: 5.092 ms, and what it takes to begin. */
static void test_large(void **state)
{
	struct wf_coll_cfg cfg = { 0 };
	wf_time time;

	(void)state;
	defaults(&cfg);
	time = time_of(WF_COLL_ALL_REDUCE, UINT64_C(1) << 30, 8, 0, &cfg);
	assert_in_range(time, 5092 * WF_US, 5092 * WF_US * 102 / 100);
	time = time_of(WF_COLL_ALL_GATHER, UINT64_C(1) << 30, 8, 16, &cfg);
	assert_in_range(time, 2546 * WF_US, 2546 * WF_US * 102 / 100);
}

/* 8 bytes: the launch, and a step's latency and NVLink's for each of 2 * 7 steps. */
static void test_small(void **state)
{
	struct wf_coll_cfg cfg = { 0 };
	wf_time time;

	(void)state;
	defaults(&cfg);
	cfg.channels = 1;
	cfg.launch = 6600 * WF_NS;
	cfg.nvlink_ll = 100 * WF_NS;
	time = time_of(WF_COLL_ALL_REDUCE, 8, 8, 0, &cfg);
	assert_in_range(time, 6600 * WF_NS + 14 * 700 * WF_NS,
	                6600 * WF_NS + 14 * 700 * WF_NS + 700 * WF_NS);
}

static void test_groups(void **state)
{
	static const uint32_t list[] = { 8, 11, 15 };
	const struct wf_comm in = { .n = 8, .base = 8, .stride = 1 };
	const struct wf_comm out = { .n = 8, .base = 9, .stride = 1 };
	const struct wf_comm some = { .n = 3, .list = list };

	(void)state;
	assert_true(wf_inside_has(&cluster, &in));
	assert_false(wf_inside_has(&cluster, &out));
	assert_true(wf_inside_has(&cluster, &some));
}

/* Without memory nothing is learnt, and nothing is left behind. */
static void test_no_memory(void **state)
{
	const struct wf_coll coll = { .alg = WF_ALG_RING,
		                      .bytes = 100000,
		                      .comm = { .n = 2, .stride = 1 } };
	const struct wf_cluster small = { .n_ranks = 2, .gpus = 2, .nics = 1 };
	struct wf_coll_cfg cfg = { 0 };
	int ret = -ENOMEM;

	(void)state;
	defaults(&cfg);
	for (int n = 0; n < 1000 && ret != 0; n++) {
		struct mem_fail f = mem_fail_after(n);
		struct wf_inside *in;

		ret = wf_inside_create(&small, &cfg, &nvlink, &f.mem, &in);
		if (ret == 0) {
			ret = wf_inside_learn(in, &coll);
			wf_inside_destroy(in);
		}
		assert_true(ret == 0 || ret == -ENOMEM);
		assert_int_equal(f.held, 0);
	}
	assert_int_equal(ret, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
