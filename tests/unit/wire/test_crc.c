/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_crc.c - the CRC tables against the polynomials that they come from, and known values.
 */
#include "wire_test.h"

#include "wire/byte.h"
#include "wire/crc.h"

/* One bit at a time, lowest first: the definition. poly is reflected. */
static uint32_t crc_slow(uint32_t crc, uint32_t poly, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (crc & 1) != 0 ? crc >> 1 ^ poly : crc >> 1;
	}
	return crc;
}

static uint32_t reflect(uint32_t v, int bits)
{
	uint32_t r = 0;

	for (int i = 0; i < bits; i++)
		r |= (v >> i & 1) << (bits - 1 - i);
	return r;
}

/* A byte alone in a step of eight, from a CRC of 0, reads one entry of one table. */
static void test_every_table_entry(void **state)
{
	uint32_t poly32 = reflect(0x04c11db7, 32);
	uint32_t poly16 = reflect(0x100b, 16);

	(void)state;
	for (size_t k = 0; k < 8; k++) {
		for (unsigned b = 0; b < 256; b++) {
			uint8_t m[8] = { 0 };

			m[k] = (uint8_t)b;
			assert_int_equal(wf_crc32_update(0, m, 8), crc_slow(0, poly32, m, 8));
			assert_int_equal(wf_crc16_update(0, m, 8), crc_slow(0, poly16, m, 8));
		}
	}
}

/* All lengths and alignments, in one piece and in two. */
static void test_pieces(void **state)
{
	struct test_rnd r = test_rnd_seed(1);
	uint8_t m[96];

	(void)state;
	test_rnd_fill(&r, m, sizeof(m));
	for (size_t start = 0; start < 8; start++) {
		for (size_t len = 0; start + len <= sizeof(m); len++) {
			uint32_t want =
				crc_slow(WF_CRC32_START, reflect(0x04c11db7, 32), m + start, len);
			uint32_t want16 =
				crc_slow(WF_CRC16_START, reflect(0x100b, 16), m + start, len);
			size_t cut = len > 0 ? test_rnd_below(&r, (uint32_t)len) : 0;
			uint32_t two = wf_crc32_update(WF_CRC32_START, m + start, cut);
			uint16_t two16 = wf_crc16_update(WF_CRC16_START, m + start, cut);

			assert_int_equal(wf_crc32(m + start, len), ~want);
			assert_int_equal(wf_crc16(m + start, len), (uint16_t)~want16);
			assert_int_equal(wf_crc32_update(two, m + start + cut, len - cut), want);
			assert_int_equal(wf_crc16_update(two16, m + start + cut, len - cut),
			                 want16);
		}
	}
}

/* The CRC-32 check value that everybody lists; a frame with its FCS leaves the same remainder. */
static void test_known_values(void **state)
{
	static const uint8_t digits[] = "123456789";
	uint8_t frame[64] = { 0x01, 0x80, 0xc2 };

	(void)state;
	assert_int_equal(wf_crc_fcs(digits, 9), 0xcbf43926);
	wf_le32_put(frame + 60, wf_crc_fcs(frame, 60));
	assert_int_equal(wf_crc32_update(WF_CRC32_START, frame, 64), 0xdebb20e3);
}

/* A packet with its VCRC also leaves a remainder that does not depend on the packet. */
static void test_vcrc_remainder(void **state)
{
	struct test_rnd r = test_rnd_seed(2);
	uint16_t first = 0;

	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		uint8_t m[80];
		size_t len = test_rnd_below(&r, sizeof(m) - 2);
		uint16_t rest;

		test_rnd_fill(&r, m, len);
		wf_le16_put(m + len, wf_crc_vcrc(m, len));
		rest = wf_crc16_update(WF_CRC16_START, m, len + 2);
		if (i == 0)
			first = rest;
		assert_int_equal(rest, first);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_table_entry),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_vcrc_remainder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
