/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ecn.c - marking thresholds by rate, from their text.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/config.h"

static void test_good(void **state)
{
	struct wf_ecn_rate r[WF_ECN_RATES];
	struct wf_err err = { "" };
	unsigned n;

	(void)state;
	assert_int_equal(wf_ecn_parse("", r, &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(wf_ecn_parse("100Gbps:400KB:1600KB:0.2, 400Gbps:0:6400KB:1", r, &n, &err),
	                 0);
	assert_int_equal(n, 2);
	assert_int_equal(r[0].rate, UINT64_C(100000000000));
	assert_int_equal(r[0].ecn.kmin, 400000);
	assert_int_equal(r[0].ecn.kmax, 1600000);
	assert_int_equal(r[1].rate, UINT64_C(400000000000));
	assert_int_equal(r[1].ecn.kmin, 0);
	assert_int_equal(r[1].ecn.pmax, WF_PROB_ONE);
}

static void test_bad(void **state)
{
	static const char nine[] = "1Gbps:1:2:1,2Gbps:1:2:1,3Gbps:1:2:1,4Gbps:1:2:1,5Gbps:1:2:1,"
				   "6Gbps:1:2:1,7Gbps:1:2:1,8Gbps:1:2:1,9Gbps:1:2:1";
	static const char *const bad[] = {
		"100Gbps",
		"100Gbps:1KB:2KB",
		"100Gbps:1KB:2KB:0.2:3",
		":",
		"100Gbps:2KB:1KB:1",
		"100Gbps:1KB:2KB:1,",
		"100Gbps:1KB:2KB:2",
		"fast:1:2:1",
		nine,
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(bad); i++) {
		struct wf_ecn_rate r[WF_ECN_RATES];
		struct wf_err err = { "" };
		unsigned n;

		assert_int_equal(wf_ecn_parse(bad[i], r, &n, &err), -EINVAL);
		assert_ptr_equal(strstr(err.text, "ecn.by_rate: "), err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
