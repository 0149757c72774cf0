/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_verdict.c - which fabric is chosen, and that the reasons have the figures.
 */
#include "check.h"

#include <string.h>

#include "lab/verdict.h"

enum { IB, ROCE, BAD, LOSSY, TCP, N };

static struct wf_verdict_fabric fabrics[N];
static struct wf_verdict v;

static void reset(void)
{
	static const char *const labels[N] = { "ib", "roce", "bad", "lossy", "tcp" };
	static const enum wf_family families[N] = { WF_FAMILY_INFINIBAND, WF_FAMILY_ROCE,
		                                    WF_FAMILY_ROCE, WF_FAMILY_LOSSY,
		                                    WF_FAMILY_TCP };
	static const double steps[N] = { 100e9, 102e9, 160e9, 120e9, 300e9 };
	static const double small[N] = { 10e6, 16e6, 16e6, 16e6, 90e6 };

	for (int i = 0; i < N; i++) {
		fabrics[i] = (struct wf_verdict_fabric){ labels[i], families[i], true, { { 0 } } };
		wf_metrics_init(&fabrics[i].metrics);
		fabrics[i].metrics.value[WF_METRIC_STEP_TIME] = steps[i];
		fabrics[i].metrics.value[WF_METRIC_COLL_SMALL] = small[i];
		fabrics[i].metrics.value[WF_METRIC_MFU] = 45e9 / steps[i];
	}
}

static void judge(unsigned matters)
{
	wf_verdict(fabrics, N, matters, &v);
}

static bool says(const char *text)
{
	for (unsigned i = 0; i < v.n_reasons; i++) {
		if (strstr(v.reason[i], text) != NULL)
			return true;
	}
	return false;
}

static void test_choice(void **state)
{
	(void)state;
	reset();
	judge(0);
	assert_int_equal(v.choice, IB);
	judge(WF_MATTER_ETHERNET);
	assert_int_equal(v.choice, ROCE);
	assert_true(says("It has to be kept tuned: with the settings of bad"));
	judge(WF_MATTER_ETHERNET | WF_MATTER_STAFF); /* one each: the fastest */
	assert_int_equal(v.choice, IB);
	assert_true(says("takes 57 % longer; InfiniBand's credits"));
	judge(WF_MATTER_ETHERNET | WF_MATTER_COST | WF_MATTER_STAFF);
	assert_int_equal(v.choice, ROCE);
	judge(WF_MATTER_LATENCY);
	assert_int_equal(v.choice, IB);
	assert_true(says("(1.60 times)"));
}

/* Ethernet that is too slow is not taken even where it is wanted. */
static void test_limit(void **state)
{
	(void)state;
	reset();
	fabrics[ROCE].metrics.value[WF_METRIC_STEP_TIME] = 111e9;
	judge(WF_MATTER_ETHERNET);
	assert_int_equal(v.choice, IB);
	assert_true(says("more than the 10 %"));
	fabrics[ROCE].metrics.value[WF_METRIC_STEP_TIME] = 109e9;
	judge(WF_MATTER_ETHERNET);
	assert_int_equal(v.choice, ROCE);
}

/* Who loses what it promises to keep, or does not finish, is out. */
static void test_out(void **state)
{
	(void)state;
	reset();
	fabrics[IB].metrics.value[WF_METRIC_LOSSLESS_DROPS] = 3;
	judge(0);
	assert_int_equal(v.choice, ROCE);
	assert_true(says("loses packets that it promises to keep (3 packets lost"));
	fabrics[ROCE].finished = false;
	fabrics[ROCE].metrics.value[WF_METRIC_STEP_TIME] = (double)NAN;
	judge(0);
	assert_int_equal(v.choice, LOSSY);
	assert_true(says("roce did not finish"));
	for (int i = 0; i < N; i++)
		fabrics[i].finished = false;
	judge(WF_MATTER_COST);
	assert_int_equal(v.choice, -1);
}

/* Without training steps the job's time decides. */
static void test_job(void **state)
{
	(void)state;
	reset();
	for (int i = 0; i < N; i++) {
		fabrics[i].metrics.value[WF_METRIC_STEP_TIME] = (double)NAN;
		fabrics[i].metrics.value[WF_METRIC_MFU] = (double)NAN;
		fabrics[i].metrics.value[WF_METRIC_JOB_TIME] = 1e9 * (N - i);
	}
	judge(0);
	assert_int_equal(v.choice, TCP);
	assert_true(says("tcp is the fastest"));
	assert_false(says("MFU"));
}

static void test_words(void **state)
{
	struct wf_err err = { "" };
	unsigned m;

	(void)state;
	assert_int_equal(wf_matters_parse("", &m, &err), 0);
	assert_int_equal(m, 0);
	assert_int_equal(wf_matters_parse("[latency, staff]", &m, &err), 0);
	assert_int_equal(m, WF_MATTER_LATENCY | WF_MATTER_STAFF);
	assert_int_equal(wf_matters_parse("cost,money", &m, &err), -22);
	assert_non_null(strstr(err.text, "'money' is none of"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_out),    cmocka_unit_test(test_job),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
