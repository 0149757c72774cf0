/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rng.c - distributions.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"

#define ONE 4294967296.0

/* Of all ones it is -ln(1), of zeros -ln(2^-63), and in between what libm says. */
static void test_exp(void **state)
{
	(void)state;
	assert_int_equal(wf_rand_exp(UINT64_MAX), 0);
	assert_true(fabs((double)wf_rand_exp(0) / ONE - 63 * log(2)) < 1e-8);
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t bits = wf_rand64(wf_rand_key(1, 2, 3), i);
		double want = -log(((double)(bits >> 1) + 1) / 9223372036854775808.0);

		assert_true(fabs((double)wf_rand_exp(bits) / ONE - want) < 1e-8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_exp) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
