/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_traffic.c - who sends to whom, how much and when; distributions; memory that runs out.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "mem_fail.h"
#include "sim/traffic/traffic.h"

#define RATE UINT64_C(400000000000)

static struct wf_traffic_cfg defaults(const char *kind)
{
	struct wf_traffic_cfg cfg = { 0 };
	struct wf_err err = { "" };

	if (wf_param_defaults(wf_traffic_params, wf_traffic_n_params, &cfg, &err) != 0)
		fail_msg("%s", err.text);
	snprintf(cfg.kind, sizeof(cfg.kind), "%s", kind);
	return cfg;
}

/* Lists cfg's flows, which must work. */
static struct wf_flow_list list_of(const struct wf_traffic_cfg *cfg, uint32_t hosts, uint64_t key)
{
	struct wf_flow_list list = { .mem = wf_mem_heap() };
	struct wf_err err = { "" };

	if (wf_traffic_find(cfg->kind)->list(cfg, hosts, RATE, key, &list, &err) != 0)
		fail_msg("%s: %s", cfg->kind, err.text);
	return list;
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; wf_traffic_kinds()[i] != NULL; i++) {
		const struct wf_traffic_ops *ops = wf_traffic_kinds()[i];

		assert_ptr_equal(wf_traffic_find(ops->name), ops);
		assert_non_null(ops->help);
		assert_non_null(ops->list);
	}
	assert_null(wf_traffic_find("chaos"));
}

static void test_permutation(void **state)
{
	struct wf_traffic_cfg cfg = defaults("permutation");

	(void)state;
	for (uint32_t hosts = 2; hosts < 40; hosts++) {
		for (uint64_t key = 0; key < 20; key++) {
			struct wf_flow_list list = list_of(&cfg, hosts, key);
			uint64_t received = 0;

			assert_int_equal(list.n, hosts);
			for (size_t i = 0; i < list.n; i++) {
				assert_int_equal(list.flow[i].src, i);
				assert_true(list.flow[i].dst < hosts && list.flow[i].dst != i);
				assert_false(received >> list.flow[i].dst & 1);
				received |= UINT64_C(1) << list.flow[i].dst;
			}
			wf_flow_list_fini(&list);
		}
	}
}

static void test_shift(void **state)
{
	struct wf_traffic_cfg cfg = defaults("shift");

	(void)state;
	for (cfg.distance = 0; cfg.distance < 9; cfg.distance++) {
		struct wf_flow_list list = list_of(&cfg, 9, 1);
		uint32_t distance = cfg.distance == 0 ? 4 : cfg.distance;

		assert_int_equal(list.n, 9);
		for (size_t i = 0; i < list.n; i++) {
			assert_int_equal(list.flow[i].src, i);
			assert_int_equal(list.flow[i].dst, (i + distance) % 9);
		}
		wf_flow_list_fini(&list);
	}
}

/* Each has one partner, whose partner it is; of an odd number one has none. */
static void test_pairs(void **state)
{
	struct wf_traffic_cfg cfg = defaults("pairs");
	uint32_t differ = 0;

	(void)state;
	for (uint32_t hosts = 2; hosts < 40; hosts++) {
		uint32_t first = UINT32_MAX;

		for (uint64_t key = 0; key < 20; key++) {
			struct wf_flow_list list = list_of(&cfg, hosts, key);
			uint32_t to[40];

			memset(to, 0xff, sizeof(to));
			assert_int_equal(list.n, hosts / 2 * 2);
			for (size_t i = 0; i < list.n; i++) {
				assert_int_equal(to[list.flow[i].src], UINT32_MAX);
				to[list.flow[i].src] = list.flow[i].dst;
			}
			for (size_t i = 0; i < list.n; i++) {
				assert_int_not_equal(list.flow[i].src, list.flow[i].dst);
				assert_int_equal(to[list.flow[i].dst], list.flow[i].src);
			}
			differ += first != UINT32_MAX && first != to[0];
			first = to[0];
			wf_flow_list_fini(&list);
		}
	}
	assert_true(differ > 500);
}

/* Rounds of pairs are turns, all with the first one's start; one round is none. */
static void test_turns(void **state)
{
	struct wf_traffic_cfg cfg = defaults("pairs");
	struct wf_flow_list list;

	(void)state;
	cfg.start = 5 * WF_US;
	list = list_of(&cfg, 8, 1);
	assert_false(list.flow[0].turn);
	wf_flow_list_fini(&list);
	cfg.repeat = 3;
	snprintf(cfg.op, sizeof(cfg.op), "send");
	list = list_of(&cfg, 8, 1);
	assert_int_equal(list.n, 24);
	for (size_t i = 0; i < list.n; i++) {
		assert_true(list.flow[i].turn);
		assert_int_equal(list.flow[i].start, 5 * WF_US);
		assert_int_equal(list.flow[i].dst, list.flow[i % 8].dst);
	}
	wf_flow_list_fini(&list);
}

static void test_repeat(void **state)
{
	struct wf_traffic_cfg cfg = defaults("permutation");
	struct wf_flow_list list;

	(void)state;
	cfg.repeat = 3;
	cfg.start = 5 * WF_US;
	list = list_of(&cfg, 4, 7);
	assert_int_equal(list.n, 12);
	assert_int_equal(list.flow[0].start, 5 * WF_US);
	assert_int_equal(list.flow[4].start, 25 * WF_US); /* 1 MB at 400 Gb/s: 20 us */
	assert_int_equal(list.flow[8].start, 45 * WF_US);
	assert_int_equal(list.flow[1].dst, list.flow[9].dst);
	wf_flow_list_fini(&list);
}

static void test_incast(void **state)
{
	struct wf_traffic_cfg cfg = defaults("incast");
	struct wf_flow_list list;

	(void)state;
	cfg.target = 6;
	cfg.fanin = 3;
	cfg.cls = 5;
	list = list_of(&cfg, 8, 1);
	assert_int_equal(list.n, 3);
	assert_int_equal(list.flow[0].src, 7);
	assert_int_equal(list.flow[1].src, 0);
	assert_int_equal(list.flow[2].src, 1);
	assert_int_equal(list.flow[2].dst, 6);
	assert_int_equal(list.flow[2].cls, 5);
	assert_int_equal(list.flow[2].bytes, 1000000);
	wf_flow_list_fini(&list);
	cfg.fanin = 0;
	list = list_of(&cfg, 8, 1);
	assert_int_equal(list.n, 7);
	wf_flow_list_fini(&list);
}

static void test_all_to_all(void **state)
{
	struct wf_traffic_cfg cfg = defaults("all-to-all");
	struct wf_flow_list list = list_of(&cfg, 5, 1);

	(void)state;
	assert_int_equal(list.n, 20);
	for (size_t i = 0; i < list.n; i++)
		assert_int_equal(list.flow[i].dst, (list.flow[i].src + 1 + i / 5) % 5);
	wf_flow_list_fini(&list);
}

/* The load that was asked for, within what chance allows. */
static void test_random(void **state)
{
	struct wf_traffic_cfg cfg = defaults("random");
	static const char text[] = "0 0\n1000 50\n9000 100\n";
	const uint32_t hosts = 16;
	struct wf_flow_list list, again;
	uint64_t bytes = 0, want;
	uint32_t from[16] = { 0 };

	(void)state;
	assert_int_equal(wf_cdf_parse(text, sizeof(text) - 1, "x", &cfg.cdf, NULL), 0);
	cfg.start = WF_MS;
	list = list_of(&cfg, hosts, 3);
	for (size_t i = 0; i < list.n; i++) {
		const struct wf_flow_spec *f = &list.flow[i];

		assert_true(f->src != f->dst && f->src < hosts && f->dst < hosts);
		assert_true(f->start >= WF_MS && f->start < 2 * WF_MS);
		assert_true(i == 0 || f->start >= f[-1].start);
		assert_true(f->bytes >= 1 && f->bytes <= 9000);
		bytes += f->bytes;
		from[f->src]++;
	}
	want = RATE / 2 / 8 / 1000 * hosts; /* half of the links' rate for 1 ms */
	assert_in_range(bytes, want * 98 / 100, want * 102 / 100);
	for (uint32_t i = 0; i < hosts; i++)
		assert_in_range(from[i], list.n / hosts * 9 / 10, list.n / hosts * 11 / 10);
	again = list_of(&cfg, hosts, 3);
	assert_int_equal(again.n, list.n);
	assert_memory_equal(again.flow, list.flow, list.n * sizeof(*list.flow));
	wf_flow_list_fini(&list);
	wf_flow_list_fini(&again);
}

/* The distances between starts are exponential: their moments and a quantile say so. */
static void test_poisson(void **state)
{
	struct wf_traffic_cfg cfg = defaults("random");
	struct wf_flow_list list;
	uint64_t n, above = 0, mean = 20 * WF_US; /* 1 MB at 400 Gb/s, 2 hosts, half of the rate */
	wf_time last = 0;

	(void)state;
	cfg.duration = WF_S;
	list = list_of(&cfg, 2, 11);
	n = list.n;
	assert_in_range(n, 49000, 51000);
	for (size_t i = 0; i < n; i++) {
		above += list.flow[i].start - last > (wf_time)mean;
		last = list.flow[i].start;
	}
	/* exp(-1) = 0.368 */
	assert_in_range(above, n * 360 / 1000, n * 376 / 1000);
	wf_flow_list_fini(&list);
}

static void test_wrong(void **state)
{
	struct wf_traffic_cfg cases[8];
	static const char *const says[] = {
		"fanin: 8 hosts cannot send to one of 8; it may be at most 7",
		"target: there is no host 8; the hosts are 0 to 7",
		"repeat: 56 flows in each of 1000000 rounds",
		"duration: that would be more than",
		"repeat: the last of 1000000 rounds would start after",
		"distance: 8 leads round 8 hosts; it may be at most 7",
		"op: a host has to notice its partner's message",
	};

	(void)state;
	cases[0] = defaults("incast");
	cases[0].fanin = 8;
	cases[1] = defaults("incast");
	cases[1].target = 8;
	cases[2] = defaults("all-to-all");
	cases[2].repeat = 1000000;
	cases[3] = defaults("random");
	cases[3].size = 1;
	cases[3].duration = WF_S;
	cases[4] = defaults("permutation");
	cases[4].size = UINT64_C(1) << 40;
	cases[4].repeat = 1000000;
	cases[5] = defaults("shift");
	cases[5].distance = 8;
	cases[6] = defaults("pairs");
	cases[6].repeat = 2;
	for (size_t i = 0; i < WF_ARRAY_SIZE(says); i++) {
		struct wf_flow_list list = { .mem = wf_mem_heap() };
		struct wf_err err = { "" };

		assert_int_equal(
			wf_traffic_find(cases[i].kind)->list(&cases[i], 8, RATE, 1, &list, &err),
			-EINVAL);
		if (strstr(err.text, says[i]) == NULL)
			fail_msg("%s", err.text);
		wf_flow_list_fini(&list);
	}
	for (size_t i = 0; wf_traffic_kinds()[i] != NULL; i++) {
		struct wf_traffic_cfg cfg = defaults(wf_traffic_kinds()[i]->name);
		struct wf_flow_list list = { .mem = wf_mem_heap() };
		struct wf_err err = { "" };

		assert_int_equal(wf_traffic_kinds()[i]->list(&cfg, 1, RATE, 1, &list, &err),
		                 -EINVAL);
		assert_non_null(strstr(err.text, "two hosts"));
	}
}

/* Every allocation fails in turn; nothing is lost on the way out. */
static void test_no_memory(void **state)
{
	(void)state;
	for (size_t k = 0; wf_traffic_kinds()[k] != NULL; k++) {
		struct wf_traffic_cfg cfg = defaults(wf_traffic_kinds()[k]->name);
		int rc = -ENOMEM;

		snprintf(cfg.op, sizeof(cfg.op), "send"); /* as rounds of pairs need */
		cfg.repeat = 3;
		cfg.size = 10000;
		for (int n = 0; rc != 0; n++) {
			struct mem_fail f = mem_fail_after(n);
			struct wf_flow_list list = { .mem = &f.mem };

			rc = wf_traffic_kinds()[k]->list(&cfg, 100, RATE, 1, &list, NULL);
			assert_true(rc == 0 || rc == -ENOMEM);
			wf_flow_list_fini(&list);
			assert_int_equal(f.held, 0);
			assert_true(n < 100);
		}
	}
}

static void test_cdf(void **state)
{
	static const char text[] = "# sizes\n100 0\r\n200 25 # a quarter\n\n\t1KB,75%\n2000 100";
	struct wf_cdf cdf;
	struct wf_err err = { "" };

	(void)state;
	if (wf_cdf_parse(text, sizeof(text) - 1, "x", &cdf, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(cdf.n, 4);
	assert_int_equal(wf_cdf_mean(&cdf), (150 + 600 * 2 + 1500) / 4);
	assert_int_equal(wf_cdf_draw(&cdf, 0), 100);
	assert_int_equal(wf_cdf_draw(&cdf, UINT64_C(1) << 62), 200);
	assert_int_equal(wf_cdf_draw(&cdf, UINT64_C(1) << 63), 600);
	assert_int_equal(wf_cdf_draw(&cdf, UINT64_MAX), 1999);
	assert_int_equal(wf_cdf_parse("0 0\n0 100\n", 10, "x", &cdf, &err), 0);
	assert_int_equal(wf_cdf_draw(&cdf, 77), 1);
	assert_int_equal(wf_cdf_mean(&cdf), 1);
}

static void test_cdf_wrong(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{ "", "x: there is no distribution" },
		{ "# nothing\n\n", "x: there is no distribution" },
		{ "0 0\nten 100\n", "x:2:1: the size: \"ten\" is not a size" },
		{ "0 0\n10\n", "x:2:3: the per cent is missing" },
		{ "0 0\n10 ten\n", "x:2:4: the per cent: \"ten%\" is not a probability" },
		{ "0 0\n  10 50 60\n", "x:2:9: \"60\" is too much" },
		{ "0 10\n10 100\n", "x:1: the first point is not at 0" },
		{ "0 0\n10 60\n20 50\n", "x:3: the point is below" },
		{ "0 0\n10 60\n5 100\n", "x:3: the point is below" },
		{ "0 0\n10 60\n", "x:2: the last point is not at 100" },
		{ "0 0\n10 101\n", "out of range" },
		{ "0 0\n1111111111111111111111111111111111111111111111111111 1\n",
		  "too many digits" },
	};
	char many[WF_CDF_MAX * 8 + 64];
	struct wf_err err = { "" };
	struct wf_cdf cdf;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(
			wf_cdf_parse(cases[i].text, strlen(cases[i].text), "x", &cdf, &err),
			-EINVAL);
		if (strstr(err.text, cases[i].says) == NULL)
			fail_msg("%s: %s", cases[i].text, err.text);
	}
	for (unsigned i = 0; i <= WF_CDF_MAX; i++)
		n += (size_t)snprintf(many + n, sizeof(many) - n, "%u 0\n", i);
	memset(&err, 0, sizeof(err));
	assert_int_equal(wf_cdf_parse(many, n, "x", &cdf, &err), -EINVAL);
	assert_string_equal(err.text, "x:257: more than 256 points; write fewer");
	memset(&err, 0, sizeof(err));
	assert_int_equal(wf_cdf_parse("0 0\n1\0 100\n", 11, "x", &cdf, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),  cmocka_unit_test(test_permutation),
		cmocka_unit_test(test_turns),  cmocka_unit_test(test_shift),
		cmocka_unit_test(test_pairs),  cmocka_unit_test(test_repeat),
		cmocka_unit_test(test_incast), cmocka_unit_test(test_all_to_all),
		cmocka_unit_test(test_random), cmocka_unit_test(test_poisson),
		cmocka_unit_test(test_wrong),  cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_cdf),    cmocka_unit_test(test_cdf_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
