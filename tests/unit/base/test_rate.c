/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/rate.h: bytes take the time that the rate says, at every rate there can be. */
#include "check.h"

#include "base/rate.h"

/* Rates of real links, both ends of the range, and some that no byte divides. */
static const uint64_t rates[] = {
	WF_RATE_MIN,
	WF_RATE_MIN + 1,
	3000000,
	10000000,
	100000000,
	121999999,
	1000000000,
	UINT64_C(10312500000),
	UINT64_C(25000000000),
	UINT64_C(56000000000),
	UINT64_C(400000000000),
	UINT64_C(777777777777),
	UINT64_C(1300000000000),
	UINT64_C(1600000000000),
	UINT64_C(3333333333333),
	WF_RATE_MAX - 1,
	WF_RATE_MAX,
};

/* bytes * 8 / rate in picoseconds, exactly, of 2^40. */
static unsigned __int128 exact(uint64_t rate, uint64_t bytes)
{
	return ((unsigned __int128)bytes * 8 * (uint64_t)WF_S << 40) / rate;
}

/* A packet takes more than nothing, and the time that the rate says, cut off to a picosecond. */
static void test_every_packet(void **state)
{
	(void)state;
	for (size_t r = 0; r < WF_ARRAY_SIZE(rates); r++) {
		wf_ps_per_byte per_byte = wf_rate_per_byte(rates[r]);
		uint32_t wrong = 0;

		for (uint32_t bytes = 2; bytes <= UINT16_MAX + 256; bytes++) {
			unsigned __int128 want = exact(rates[r], bytes);
			wf_time t = wf_rate_time(per_byte, bytes);
			unsigned __int128 got = (unsigned __int128)(uint64_t)t << 40;

			wrong += t < 1 || got + (UINT64_C(1) << 40) < want ||
			         got > want + (want >> 20);
			if (bytes * 8 * (uint64_t)WF_S % rates[r] == 0)
				wrong += got != want;
			wrong += wf_rate_time_long(per_byte, bytes) != t;
		}
		assert_int_equal(wrong, 0);
	}
}

/* Many bytes at once: within a millionth. */
static void test_many_bytes(void **state)
{
	(void)state;
	for (size_t r = 0; r < WF_ARRAY_SIZE(rates); r++) {
		wf_ps_per_byte per_byte = wf_rate_per_byte(rates[r]);
		uint64_t bytes = rates[r] / 8 * 1000; /* a thousand seconds */
		wf_time t = wf_rate_time_long(per_byte, bytes);
		uint64_t back = wf_rate_bytes(per_byte, t);

		assert_in_range(t, 1000 * WF_S - WF_MS, 1000 * WF_S + WF_MS);
		assert_in_range(back, bytes - bytes / 1000000 - 1, bytes);
	}
}

/* By hand: 1,500 bytes at 10 Mb/s take 1.2 ms; 64 bytes at 10 Tb/s take 51.2 ps. */
static void test_by_hand(void **state)
{
	(void)state;
	assert_int_equal(wf_rate_time(wf_rate_per_byte(10000000), 1500), 1200 * WF_US);
	assert_int_equal(wf_rate_time(wf_rate_per_byte(WF_RATE_MAX), 64), 51);
	assert_int_equal(wf_rate_time(wf_rate_per_byte(WF_RATE_MIN), 1), 8 * WF_US);
	assert_int_equal(wf_rate_time(wf_rate_per_byte(UINT64_C(56000000000)), 7), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_packet),
		cmocka_unit_test(test_many_bytes),
		cmocka_unit_test(test_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
