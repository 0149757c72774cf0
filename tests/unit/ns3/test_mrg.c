/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of ns3/mrg.c: published numbers, and streams that follow one another. */
#include "ns3/mrg.h"
#include "check.h"

static void check(uint32_t seed, uint64_t stream, uint64_t substream, const uint32_t want[4])
{
	struct wf_mrg mrg;

	wf_mrg_init(&mrg, seed, stream, substream);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(wf_mrg_next(&mrg), want[i]);
}

static void test_numbers(void **state)
{
	/* The generator's authors start with 12345: 0.12701112204657714, 0.3185275653967945, ... */
	static const uint32_t first[] = { 545508589, 1368065410, 1327943761, 3546985096 };
	/* ns-3's stream 50 with RngRun 1 and 2, computed with whole numbers of any length. */
	static const uint32_t run1[] = { 1977370452, 243354834, 405169273, 3076813982 };
	static const uint32_t run2[] = { 1991466407, 2165452337, 3713660043, 1040309254 };

	(void)state;
	check(12345, 0, 0, first);
	check(1, (UINT64_C(1) << 63) + 50, 1, run1);
	check(1, (UINT64_C(1) << 63) + 50, 2, run2);
}

/* 2^51 substreams are a stream. */
static void test_streams(void **state)
{
	struct wf_mrg a, b;

	(void)state;
	wf_mrg_init(&a, 7, 3, 5);
	wf_mrg_init(&b, 7, 0, UINT64_C(3) << 51 | 5);
	assert_memory_equal(&a, &b, sizeof(a));
	wf_mrg_init(&b, 7, 3, 6);
	assert_memory_not_equal(&a, &b, sizeof(a));
}

/* A row has the first number of each stream. */
static void test_row(void **state)
{
	struct wf_mrg_row row;

	(void)state;
	wf_mrg_row_init(&row, 1, 26, 9);
	for (uint64_t stream = 26; stream < 60; stream++) {
		struct wf_mrg mrg;

		wf_mrg_init(&mrg, 1, stream, 9);
		assert_int_equal(wf_mrg_row_next(&row), wf_mrg_next(&mrg));
	}
}

/* Half of the numbers are in the lower half, and all are in range. */
static void test_range(void **state)
{
	struct wf_mrg mrg;
	unsigned low = 0;

	(void)state;
	wf_mrg_init(&mrg, 1, 0, 0);
	for (unsigned i = 0; i < 100000; i++) {
		uint32_t x = wf_mrg_next(&mrg);

		assert_in_range(x, 1, WF_MRG_M1);
		low += x < WF_MRG_M1 / 2;
	}
	assert_in_range(low, 49500, 50500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_row),
		cmocka_unit_test(test_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
