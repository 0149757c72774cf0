/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - cmocka with the headers it needs; which tests of a program are run, and how many cases.
 */
#ifndef WF_TESTS_CHECK_H
#define WF_TESTS_CHECK_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <stdlib.h>

/*
 * How far to go in a loop over many cases that cost much: to each of them, or where time is dear
 * (WEFT_TEST_SHORT: with sanitizers, in builds beside which the release build runs all) to every
 * step-th.
 */
static inline size_t check_step(size_t step)
{
	return getenv("WEFT_TEST_SHORT") != NULL ? step : 1;
}

/* The rest of the test is left to the build where time is not dear. */
static inline void check_is_long(void)
{
	if (getenv("WEFT_TEST_SHORT") != NULL)
		skip();
}

#endif
