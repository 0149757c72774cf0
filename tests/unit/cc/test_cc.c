/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of cc/cc.c and of what every congestion control algorithm promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cc/cc.h"

/* Every slot is filled, every name is found again, and a fresh instance can send. */
static void test_table(void **state)
{
	const struct wf_cc_ops *ops;
	size_t n = 0;

	(void)state;
	for (; (ops = wf_cc_at(n)) != NULL; n++) {
		struct wf_cc *cc = calloc(1, ops->size);
		struct wf_cc_ack ack = { .now = 9, .rtt = 5, .bytes = 4096 };

		assert_non_null(cc);
		assert_ptr_equal(wf_cc_find(ops->name), ops);
		assert_non_null(ops->help);
		wf_cc_init(cc, ops, NULL, 400000000000, 0);
		assert_true(cc->window >= 4096);
		ops->on_send(cc, 4096, 1);
		ops->on_ack(cc, &ack);
		ops->on_cnp(cc, 10);
		ops->on_loss(cc, WF_CC_LOSS_NAK, 11);
		ops->on_loss(cc, WF_CC_LOSS_TIMEOUT, 12);
		ops->on_timer(cc, 13);
		assert_true(cc->timer > 13);
		assert_true(cc->window > 0);
		free(cc);
	}
	assert_true(n >= 2);
	assert_null(wf_cc_find("no such thing"));
}

static void test_gap(void **state)
{
	static const struct {
		uint64_t rate;
		uint32_t bytes;
		wf_time want;
	} row[] = {
		{ 400000000000, 4096, 4096 * 20 },
		{ 800000000000, 1, 10 },
		{ 100000000000, 64, 64 * 80 },
		{ 8, 1, WF_S },
		{ 1, 1, WF_S }, /* no slower than one byte a second */
		{ 0, 4096, 0 },
		{ UINT64_MAX, 100, 1000 }, /* no faster than the line */
		{ 3000000000, 3, 8000 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_cc cc = { .line_rate = 800000000000 };

		wf_cc_set_rate(&cc, row[i].rate);
		assert_in_range(wf_cc_gap(&cc, row[i].bytes) + 1, row[i].want, row[i].want + 1);
	}
}

static void test_fixed(void **state)
{
	struct wf_cc_fixed_param param = { .rate = 50000000000, .window = 65536 };
	struct wf_cc cc;

	(void)state;
	wf_cc_init(&cc, &wf_cc_fixed, &param, 400000000000, 0);
	assert_int_equal(cc.rate, 50000000000);
	assert_int_equal(cc.window, 65536);
	wf_cc_init(&cc, &wf_cc_fixed, NULL, 400000000000, 0);
	assert_int_equal(cc.rate, 400000000000);
	assert_true(cc.window == WF_CC_NO_WINDOW);
	wf_cc_init(&cc, &wf_cc_none, NULL, 400000000000, 0);
	assert_int_equal(wf_cc_gap(&cc, 4096), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_fixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
