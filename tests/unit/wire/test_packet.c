/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of wire/packet.h: the time at which a packet left its host. */
#include "check.h"

#include "wire/packet.h"

/* Ages up to 17 s, at any time of a run of hours, and the PSN stays what it was. */
static void test_age(void **state)
{
	static const wf_time ages[] = { 0,          16,          2 * WF_US, 68 * WF_MS,
		                        69 * WF_MS, 457 * WF_MS, 10 * WF_S, 17 * WF_S };
	static const uint32_t psns[] = { 0, 1, 0x123456, 0xffffff };

	(void)state;
	for (wf_time now = 0; now < 20000 * WF_S; now += 977 * WF_S + 16 * 12345) {
		for (size_t i = 0; i < WF_ARRAY_SIZE(ages) * WF_ARRAY_SIZE(psns); i++) {
			wf_time age = ages[i / WF_ARRAY_SIZE(psns)];
			struct wf_packet pkt = { .psn = psns[i % WF_ARRAY_SIZE(psns)] };

			wf_packet_set_born(&pkt, now, WF_PACKET_BORN_STEP);
			assert_true(wf_packet_age(&pkt, now + age, WF_PACKET_BORN_STEP) ==
			            (uint64_t)age);
			wf_packet_forget_born(&pkt);
			assert_int_equal(pkt.psn, psns[i % WF_ARRAY_SIZE(psns)]);
		}
	}
}

/* Hours, in steps of 16 ns: the least that holds them. */
static void test_long_steps(void **state)
{
	struct wf_packet pkt = { .psn = 7 };

	(void)state;
	wf_packet_set_born(&pkt, 3 * WF_S, 14);
	assert_in_range(wf_packet_age(&pkt, 3603 * WF_S, 14), 3600 * WF_S - (1 << 14),
	                3600 * WF_S + (1 << 14));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_age),
		cmocka_unit_test(test_long_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
