/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ib_rate.c - InfiniBand's codes against numbers written down by hand: what the generations
 * are called by, the codes of enum ibv_rate, and IBTA's times.
 */
#include "wire_test.h"

#include "wire/ib_rate.h"

#define G UINT64_C(1000000000)

static void test_links(void **state)
{
	static const struct {
		uint64_t rate;
		unsigned width, speed;
		bool exact;
	} rows[] = {
		{ 800 * G, WF_WIDTH_4X, WF_SPEED_XDR, true },
		{ 400 * G, WF_WIDTH_4X, WF_SPEED_NDR, true },
		{ 200 * G, WF_WIDTH_4X, WF_SPEED_HDR, true },
		{ 100 * G, WF_WIDTH_4X, WF_SPEED_EDR, true },
		{ 56 * G, WF_WIDTH_4X, WF_SPEED_FDR, true },
		{ 50 * G, WF_WIDTH_2X, WF_SPEED_EDR, true },
		{ 40 * G, WF_WIDTH_4X, WF_SPEED_QDR, true },
		{ 25 * G, WF_WIDTH_1X, WF_SPEED_EDR, true },
		{ 20 * G, WF_WIDTH_4X, WF_SPEED_DDR, true },
		{ 10 * G, WF_WIDTH_4X, WF_SPEED_SDR, true },
		{ 5 * G / 2, WF_WIDTH_1X, WF_SPEED_SDR, true },
		{ 1600 * G, WF_WIDTH_8X, WF_SPEED_XDR, true },
		{ 2400 * G, WF_WIDTH_12X, WF_SPEED_XDR, true },
		{ 9000 * G, WF_WIDTH_12X, WF_SPEED_XDR, false },
		{ 399 * G, WF_WIDTH_12X, WF_SPEED_EDR, false }, /* 300 */
		{ 1 * G, WF_WIDTH_1X, WF_SPEED_SDR, false },
		{ 0, WF_WIDTH_1X, WF_SPEED_SDR, false },
	};
	unsigned width, speed;

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		assert_int_equal(wf_ib_rate_link(rows[i].rate, &width, &speed), rows[i].exact);
		assert_int_equal(width, rows[i].width);
		assert_int_equal(speed, rows[i].speed);
		if (rows[i].exact)
			assert_int_equal(wf_ib_rate(width, speed), rows[i].rate);
	}
	assert_int_equal(wf_ib_rate(WF_WIDTH_4X | WF_WIDTH_1X, WF_SPEED_EDR), 0);
	assert_int_equal(wf_ib_rate(WF_WIDTH_4X, 0), 0);
	assert_string_equal(wf_ib_speed_name(WF_SPEED_XDR), "XDR");
	assert_string_equal(wf_ib_speed_name(3), "?");
}

/* A ConnectX-7's PortInfo says NDR in byte 62 (88 of both sets), QDR in LinkSpeedActive. */
static void test_port_info(void **state)
{
	struct wf_port_info info = { .capability_mask2 = WF_CAP2_WIDTH_2X };
	unsigned all = 0x1f7;
	uint8_t bytes[64];

	(void)state;
	info.link_width_active = WF_WIDTH_4X;
	wf_ib_speed_put(&info, WF_SPEED_NDR, WF_SPEED_NDR, WF_SPEED_NDR);
	wf_port_info_encode(&info, bytes);
	assert_int_equal(bytes[62], 0x88);
	assert_int_equal(bytes[63], 0x08);
	assert_int_equal(bytes[35], 0x40);
	assert_int_equal(bytes[56], 0);
	assert_int_equal(info.capability_mask2, WF_CAP2_WIDTH_2X | WF_CAP2_NDR);
	assert_int_equal(info.capability_mask, WF_CAP_EXTENDED_SPEEDS | WF_CAP_CAP_MASK2);
	assert_int_equal(wf_ib_port_rate(&info, &info), 400 * G);
	/* the kernel of Linux takes bits 6 and 5 of byte 56 for XDR where the masks say so */
	wf_ib_speed_put(&info, all, all, WF_SPEED_XDR);
	wf_port_info_encode(&info, bytes);
	assert_int_equal(bytes[56] >> 4 & 6, 2);
	assert_int_equal(wf_ib_speed_supported(&info, &info), all);
	assert_int_equal(wf_ib_speed_enabled(&info, &info), all);
	assert_int_equal(wf_ib_speed_active(&info, &info), WF_SPEED_XDR);
	assert_int_equal(wf_ib_port_rate(&info, &info), 800 * G);
	/* fields whose capability is not there do not count */
	info.capability_mask2 &= (uint16_t)~WF_CAP2_EXTENDED_SPEEDS2;
	assert_int_equal(wf_ib_speed_supported(&info, &info), 0xf7);
	info.capability_mask = 0;
	assert_int_equal(wf_ib_speed_supported(&info, &info), 7);
	assert_int_equal(wf_ib_speed_active(&info, &info), WF_SPEED_QDR);
	info.capability_mask = WF_CAP_TRAP;
	wf_ib_speed_put(&info, 0x1ff & ~8U, 7, 0);
	assert_int_equal(info.capability_mask,
	                 WF_CAP_TRAP | WF_CAP_EXTENDED_SPEEDS | WF_CAP_CAP_MASK2);
	assert_int_equal(info.capability_mask2, WF_CAP2_WIDTH_2X | WF_CAP2_HDR | WF_CAP2_NDR |
	                                                WF_CAP2_EXTENDED_SPEEDS2 | WF_CAP2_XDR);
	wf_ib_speed_put(&info, 7, 7, 0);
	assert_int_equal(info.capability_mask & WF_CAP_EXTENDED_SPEEDS, 0);
	assert_int_equal(wf_ib_port_rate(&info, &info), 0);
}

static void test_codes(void **state)
{
	/* enum ibv_rate from 2 on; tenths of Gb/s */
	static const unsigned rates[] = { 25,   100, 300, 50,   200,  400,  600,  800,
		                          1200, 140, 560, 1120, 1680, 250,  1000, 2000,
		                          3000, 280, 500, 4000, 6000, 8000, 12000 };

	(void)state;
	for (unsigned i = 0; i < WF_ARRAY_SIZE(rates); i++) {
		uint64_t rate = rates[i] * (G / 10);

		assert_int_equal(wf_ib_rate_decode((uint8_t)(i + 2)), rate);
		assert_int_equal(wf_ib_rate_encode(rate), i + 2);
		assert_int_not_equal(wf_ib_rate_encode(rate - 1), i == 0 ? 0 : i + 2);
	}
	assert_int_equal(wf_ib_rate_encode(0), 2);
	assert_int_equal(wf_ib_rate_encode(99 * G), 9); /* 80 */
	assert_int_equal(wf_ib_rate_decode(0), 0);
	assert_int_equal(wf_ib_rate_decode(63), 0);
	for (uint8_t code = 1; code <= 5; code++) {
		assert_int_equal(wf_ib_mtu_decode(code), 128 << code);
		assert_int_equal(wf_ib_mtu_encode(128U << code), code);
	}
	assert_int_equal(wf_ib_mtu_decode(6), 0);
	assert_int_equal(wf_ib_mtu_encode(1500), 3);
	assert_int_equal(wf_ib_mtu_encode(9000), 5);
	assert_int_equal(wf_ib_mtu_encode(0), 1);
	assert_int_equal(wf_ib_time_decode(18), 4096 * WF_NS * 262144); /* 1.07 s */
	assert_int_equal(wf_ib_time_encode(WF_S), 18);
	assert_int_equal(wf_ib_time_encode(wf_ib_time_decode(14)), 14);
	assert_int_equal(wf_ib_time_encode(0), 0);
	assert_int_equal(wf_ib_time_encode(WF_TIME_FAR), 31);
	for (unsigned n = 0; n <= 16; n++)
		assert_int_equal(wf_ib_vls_decode(wf_ib_vls_encode(n)), n >= 15  ? 15
		                                                        : n >= 8 ? 8
		                                                        : n >= 4 ? 4
		                                                        : n >= 2 ? 2
		                                                                 : n);
	assert_int_equal(wf_ib_vls_decode(6), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_port_info),
		cmocka_unit_test(test_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
