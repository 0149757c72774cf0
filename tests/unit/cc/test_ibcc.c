/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of cc/ibcc.c: the table, the index up and down, laziness, whole flows. */
#include <errno.h>

#include "check.h"

#include "cc/bottleneck.h"

#define G UINT64_C(1000000000)
#define LINE (100 * G)

static void defaults(struct wf_cc_ibcc_param *p)
{
	struct wf_err err;

	assert_int_equal(wf_param_defaults(wf_cc_ibcc.params, wf_cc_ibcc.n_params, p, &err), 0);
}

static struct wf_cc *make(const struct wf_cc_ibcc_param *p)
{
	struct wf_cc *cc = calloc(1, wf_cc_ibcc.size);

	assert_non_null(cc);
	wf_cc_init(cc, &wf_cc_ibcc, p, LINE, 0);
	return cc;
}

/* The rate after so many BECNs at once. */
static void test_table(void **state)
{
	static const struct {
		const char *shape, *step, *cct;
		uint32_t becns;
		uint64_t rate;
	} row[] = {
		{ "linear", "1", "", 0, LINE },
		{ "linear", "1", "", 1, LINE / 2 },
		{ "linear", "1", "", 3, LINE / 4 },
		{ "linear", "0.25", "", 4, LINE / 2 },
		{ "linear", "1", "", 500, LINE / 128 },
		{ "exponential", "2", "", 1, LINE / 2 },
		{ "exponential", "2", "", 5, LINE / 32 },
		{ "exponential", "2", "", 127, LINE / 16384 },
		{ "exponential", "0.5", "", 9, LINE },
		{ "linear", "1", "0,1,4,9", 2, LINE / 5 },
		{ "linear", "1", "0, 1, 4, 9", 3, LINE / 10 },
		{ "linear", "1", "0,1,4,9", 100, LINE / 10 },
		{ "linear", "1", "0,1:2,2:12,16383", 1, LINE / 2 },
		{ "linear", "1", "0,1:2,2:12,16383", 2, LINE / 4 },
		{ "linear", "1", "0,1:2,2:12,16383", 3, LINE / 16384 },
		{ "linear", "1", " ", 3, LINE / 4 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_cc_ibcc_param p;
		struct wf_err err;
		struct wf_cc *cc;

		defaults(&p);
		strcpy(p.cct_shape, row[i].shape);
		assert_int_equal(
			wf_param_set(wf_param_find(wf_cc_ibcc.params, wf_cc_ibcc.n_params, "cct"),
		                     &p, row[i].cct, &err),
			0);
		assert_int_equal(wf_param_set(wf_param_find(wf_cc_ibcc.params, wf_cc_ibcc.n_params,
		                                            "cct_step"),
		                              &p, row[i].step, &err),
		                 0);
		cc = make(&p);
		for (uint32_t k = 0; k < row[i].becns; k++)
			cc->ops->on_cnp(cc, 1);
		assert_int_equal(cc->rate, row[i].rate);
		free(cc);
	}
}

/* A table that is none is refused, with the entry that is wrong. */
static void test_table_wrong(void **state)
{
	static const struct {
		const char *cct, *says;
	} row[] = {
		{ "nonsense", "\"nonsense\" is not a congestion control table: entry 1: "
		              "\"nonsense\" is not a whole number" },
		{ "0,1,2x", "entry 3: \"2x\" is not a whole number" },
		{ "0,16384", "entry 2: \"16384\" is out of range; it may be 0 to 16383" },
		{ "0,4:1", "entry 2: \"4\" is out of range; it may be 0 to 3" },
		{ "0,1:2:3", "entry 2: it has too many values; write multiplier or shift:mul" },
		{ "0,,1", "entry 2: there is nothing in it" },
		{ "0,1:", "entry 2: a value is missing" },
		{ "0,1,", "entry 3: there is nothing in it" },
		{ "0 1", "entry 1: a colon or a comma is missing" },
	};
	const struct wf_param *cct = wf_param_find(wf_cc_ibcc.params, wf_cc_ibcc.n_params, "cct");

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_cc_ibcc_param p = { .cct = "7" };
		struct wf_err err = { "" };

		assert_int_equal(wf_param_set(cct, &p, row[i].cct, &err), -EINVAL);
		if (strstr(err.text, row[i].says) == NULL)
			fail_msg("%s: %s", row[i].cct, err.text);
		assert_string_equal(p.cct, "7");
	}
}

/* Increase, limit, minimum, and the timer. */
static void test_index(void **state)
{
	struct wf_cc_ack ack = { .now = WF_US, .ecn = true };
	struct wf_cc_ibcc_param p;
	struct wf_cc *cc;

	(void)state;
	defaults(&p);
	p.cct_step = WF_RATIO_ONE;
	p.ccti_increase = 4;
	p.ccti_limit = 9;
	p.ccti_min = 1;
	p.ccti_timer = 10 * WF_US;
	cc = make(&p);
	assert_int_equal(cc->rate, LINE / 2);
	assert_true(cc->timer == WF_TIME_NEVER);
	cc->ops->on_ack(cc, &ack); /* a BECN on an acknowledgement */
	assert_int_equal(cc->rate, LINE / 6);
	assert_true(cc->timer == 10 * WF_US);
	cc->ops->on_cnp(cc, 2 * WF_US);
	assert_int_equal(cc->rate, LINE / 10);
	cc->ops->on_timer(cc, 10 * WF_US);
	assert_int_equal(cc->rate, LINE / 9);
	cc->ops->on_timer(cc, 39 * WF_US);
	assert_int_equal(cc->rate, LINE / 7);
	assert_true(cc->timer == 40 * WF_US);
	cc->ops->on_timer(cc, 3600 * WF_S);
	assert_int_equal(cc->rate, LINE / 2);
	assert_true(cc->timer == WF_TIME_NEVER);
	free(cc);
	p.becn_on_ack = false;
	cc = make(&p);
	cc->ops->on_ack(cc, &ack);
	assert_int_equal(cc->rate, LINE / 2);
	free(cc);
}

static void test_lazy(void **state)
{
	struct wf_cc *a = make(NULL), *b = make(NULL);
	wf_time now = 0;

	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		uint64_t r = wf_rand64(9, i);
		wf_time gap = (wf_time)(r >> 20) % (r % 16 == 0 ? 20 * WF_MS : 60 * WF_US);

		for (int k = 1; k < 20; k++)
			a->ops->on_timer(a, now + gap * k / 20);
		now += gap;
		a->ops->on_timer(a, now);
		b->ops->on_timer(b, now);
		a->ops->on_cnp(a, now);
		b->ops->on_cnp(b, now);
		assert_memory_equal(a, b, wf_cc_ibcc.size);
	}
	free(a);
	free(b);
}

/*
 * Two flows with few BECNs, sixteen with one on each acknowledgement: fair, and the queue bounded.
 */
static void test_flows(void **state)
{
	static const struct {
		uint32_t flows;
		bool on_ack;
		wf_time becn, timer;
	} row[] = {
		{ 2, false, 10 * WF_US, 50 * WF_US },
		{ 16, true, 0, 150 * WF_US },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_cc_ibcc_param p;
		struct bottleneck b = {
			.ops = &wf_cc_ibcc,
			.param = &p,
			.flows = row[i].flows,
			.line = LINE,
			.rtt = 8 * WF_US,
			.stagger = 100 * WF_US,
			.kmin = 100000,
			.kmax = 100001,
			.pmax = WF_PROB_ONE,
			.cnp_interval = row[i].becn,
			.measure = 20 * WF_MS,
			.end = 60 * WF_MS,
		};

		defaults(&p);
		p.becn_on_ack = row[i].on_ack;
		p.ccti_timer = row[i].timer;
		bn_run(&b);
		assert_true(bn_jain(&b) > 950);
		assert_true(bn_used(&b) >= 75);
		assert_true(b.q_max < 1000000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table), cmocka_unit_test(test_table_wrong),
		cmocka_unit_test(test_index), cmocka_unit_test(test_lazy),
		cmocka_unit_test(test_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
