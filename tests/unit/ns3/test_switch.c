/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of ns3/switch.c and ns3/hooks.c: turns, and time on the wire. */
#include "check.h"

#include "ns3/ns3_priv.h"

/*
 * Three queues take turns, whatever the sizes of their packets, and who may not send is passed
 * over.
 */
static void test_turns(void **state)
{
	static const unsigned want[] = { 1, 2, 0, 1, 2, 0 };
	unsigned last = 0;

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(want); i++) {
		last = wf_ns3_turn(3, last, 7);
		assert_int_equal(last, want[i]);
	}
	assert_int_equal(wf_ns3_turn(3, 0, 4), 2);
	assert_int_equal(wf_ns3_turn(3, 0, 1), 0);
	assert_int_equal(wf_ns3_turn(3, 2, 2), 1);
}

/*
 * Whole ns, by hand: 1,048 bytes take 83.84 ns at 100 Gb/s and 20.96 at 400 Gb/s. A whole number is
 * one less: 1,000 bytes take 80 ns at 100 Gb/s.
 */
static void test_wire_time(void **state)
{
	static const struct {
		uint32_t gbps, bytes;
		wf_time ns;
	} row[] = {
		{ 100, 1048, 83 }, { 400, 1048, 20 }, { 100, 1000, 79 }, { 100, 60, 4 },
		{ 400, 43, 0 },    { 100, 1, 0 },     { 25, 1048, 335 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		uint64_t rate = row[i].gbps * UINT64_C(1000000000);

		assert_int_equal(wf_ns3_time(rate, row[i].bytes), row[i].ns * WF_NS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_wire_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
