/* SPDX-License-Identifier: Apache-2.0 */
/*
 * only.c - runs only some tests of a program: those whose names match $WEFT_TEST_ONLY, a pattern as
 * cmocka takes it (* and ?). Without it, all.
 */
#include "check.h"

static void __attribute__((constructor)) read_filter(void)
{
	const char *only = getenv("WEFT_TEST_ONLY");

	if (only != NULL)
		cmocka_set_test_filter(only);
}
