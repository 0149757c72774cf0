/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_eta.c - what the line of progress says.
 */
#include "check.h"

#include "run/eta.h"

#define S UINT64_C(1000000000)

static void test_text(void **state)
{
	static const struct {
		uint64_t spent;
		double share;
		uint64_t hops;
		const char *want;
	} rows[] = {
		{ 0, 0, 0, "0 %" },
		{ 2 * S, 0, 100, "0 %" },
		{ 2 * S, 0.004, 5000000, "2.5 million packet-hops/s, 0 %" },
		{ 2 * S, 0.25, 60000, "30,000 packet-hops/s, 25 %, 6 s left" },
		{ S / 10, 0.25, 60000, "600,000 packet-hops/s, 25 %" }, /* too early */
		{ 60 * S, 0.5, 60000000, "1.0 million packet-hops/s, 50 %, 60 s left" },
		{ 60 * S, 0.1, 0, "10 %, 9 min left" },
		{ 600 * S, 0.04, 0, "4 %, 4 h 0 min left" },
		{ 600 * S, 1, 0, "100 %" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		char buf[WF_ETA_TEXT];

		wf_eta_text(rows[i].spent, rows[i].share, rows[i].hops, buf, sizeof(buf));
		assert_string_equal(buf, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_text) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
