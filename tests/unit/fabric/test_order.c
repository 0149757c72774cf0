/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_order.c - the order of events within a nanosecond is that of their scheduling.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric/order.h"

static const struct wf_order order = { .bits = 37, .travel = 1044 };

static uint64_t ns_of(wf_time t)
{
	return (uint64_t)t >> order.bits;
}

static void test_time_is_kept(void **state)
{
	wf_time t = wf_order_first(&order, 5, 3);

	(void)state;
	assert_int_equal(ns_of(t), 5);
	t = wf_order_after(&order, t, 83);
	assert_int_equal(ns_of(t), 88);
	t = wf_order_arrival(&order, t, 83, 1000, 0);
	assert_int_equal(ns_of(t), 1171);
	for (int i = 0; i < 1000; i++)
		t = wf_order_after(&order, t, 83);
	assert_int_equal(ns_of(t), 1171 + 83000);
}

/* What was scheduled earlier comes first; packets, timers and starts in that order. */
static void test_older_first(void **state)
{
	wf_time start = wf_order_first(&order, 10000, 0);
	wf_time packet = wf_order_arrival(&order, wf_order_first(&order, 8917, 0), 83, 1000, 0);
	wf_time ack = wf_order_arrival(&order, wf_order_first(&order, 8996, 0), 4, 1000, 0);
	wf_time last = WF_TIME_NEVER;

	(void)state;
	assert_true(packet < ack);
	for (uint64_t ns = 0; ns < 128; ns++) {
		wf_time t = wf_order_after(&order, wf_order_first(&order, 10000 - ns, 0), ns);

		assert_true(t < last);
		assert_true(ack < t);
		assert_true(t <= start);
		last = t;
	}
	assert_true(wf_order_after(&order, wf_order_first(&order, 8000, 0), 2000) < packet);
}

/* Of packets that arrive together, the one on the longer link was sent first. */
static void test_longer_link_first(void **state)
{
	static const struct wf_order three = { .bits = 37, .delay_bits = 2, .travel = 1044 };
	wf_time a = wf_order_arrival(&three, wf_order_first(&three, 0, 0), 4, 3000, 0);
	wf_time b = wf_order_arrival(&three, wf_order_first(&three, 921, 0), 83, 2000, 1);
	wf_time c = wf_order_arrival(&three, wf_order_first(&three, 2000, 0), 4, 1000, 2);

	(void)state;
	assert_int_equal((uint64_t)a >> three.bits, 3004);
	assert_int_equal((uint64_t)b >> three.bits, 3004);
	assert_true(a < b && b < c);
	/* A timer that was set for longer than any of them comes first, a shorter one last. */
	assert_true(wf_order_after(&three, wf_order_first(&three, 0, 0), 3004) < a);
	assert_true(c < wf_order_after(&three, wf_order_first(&three, 2921, 0), 83));
}

static void test_rank_last(void **state)
{
	wf_time a = wf_order_first(&order, 100, 1), b = wf_order_first(&order, 100, 2);

	(void)state;
	for (int i = 0; i < 600; i++) {
		assert_true(a < b);
		a = i % 3 == 0 ? wf_order_arrival(&order, a, 83, 1000, 0)
		               : wf_order_after(&order, a, 83);
		b = i % 3 == 0 ? wf_order_arrival(&order, b, 83, 1000, 0)
		               : wf_order_after(&order, b, 83);
	}
	assert_int_equal(ns_of(a), ns_of(b));
}

/* Of two that have sent without a break, the one that began later, by a frame, is first. */
static void test_runs(void **state)
{
	wf_time early = wf_order_arrival(&order, wf_order_first(&order, 0, 0), 3, 1000, 0);
	wf_time late = wf_order_arrival(&order, wf_order_first(&order, 83 * 20, 1), 3, 1000, 0);

	(void)state;
	for (int i = 0; i < 20; i++)
		early = wf_order_after(&order, early, 83);
	assert_int_equal(ns_of(early), ns_of(late));
	for (int i = 0; i < 100; i++) {
		early = wf_order_after(&order, early, 83);
		late = wf_order_after(&order, late, 83);
		assert_int_equal(ns_of(early), ns_of(late));
		assert_true(late < early);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_is_kept),
		cmocka_unit_test(test_older_first),
		cmocka_unit_test(test_longer_link_first),
		cmocka_unit_test(test_rank_last),
		cmocka_unit_test(test_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
