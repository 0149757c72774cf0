/* SPDX-License-Identifier: Apache-2.0 */
/* test_handle.c - which objects are alive. */
#include <stdlib.h>

#include "check.h"
#include "compat/verbs/verbs_priv.h"

#define MANY 5000

static char thing[MANY];

static bool is_third(const void *handle, const void *arg)
{
	(void)arg;
	return handle == &thing[3];
}

static void test_handles(void **state)
{
	(void)state;
	assert_false(wv_handle_is(&thing[0], WV_PD));
	assert_false(wv_handle_is(NULL, WV_PD));
	for (int i = 0; i < MANY; i++)
		assert_int_equal(wv_handle_add(&thing[i], i % 2 == 0 ? WV_PD : WV_MR), 0);
	for (int i = 0; i < MANY; i++) {
		assert_true(wv_handle_is(&thing[i], i % 2 == 0 ? WV_PD : WV_MR));
		assert_false(wv_handle_is(&thing[i], i % 2 == 0 ? WV_MR : WV_PD));
	}
	assert_ptr_equal(wv_handle_find(WV_MR, is_third, NULL), &thing[3]);
	assert_null(wv_handle_find(WV_PD, is_third, NULL));
	for (int i = 0; i < MANY; i += 3)
		wv_handle_remove(&thing[i]);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(wv_handle_is(&thing[i], i % 2 == 0 ? WV_PD : WV_MR), i % 3 != 0);
	/* The same address is another object later. */
	assert_int_equal(wv_handle_add(&thing[0], WV_QP), 0);
	assert_true(wv_handle_is(&thing[0], WV_QP));
	for (int i = 0; i < MANY; i++)
		wv_handle_remove(&thing[i]);
}

/* Come and gone a thousand times over, it does not fill up. */
static void test_churn(void **state)
{
	(void)state;
	for (int i = 0; i < 100 * MANY; i++) {
		assert_int_equal(wv_handle_add(&thing[i % MANY], WV_CQ), 0);
		wv_handle_remove(&thing[i % MANY]);
		assert_false(wv_handle_is(&thing[i % MANY], WV_CQ));
	}
}

/* An object is alive from the beginning, and zeroed. */
static void test_make(void **state)
{
	char *made = wv_handle_make(MANY, WV_SRQ);

	(void)state;
	assert_non_null(made);
	assert_true(wv_handle_is(made, WV_SRQ));
	for (int i = 0; i < MANY; i++)
		assert_int_equal(made[i], 0);
	wv_handle_free(made);
	assert_false(wv_handle_is(made, WV_SRQ)); /* it only looks at the address */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
