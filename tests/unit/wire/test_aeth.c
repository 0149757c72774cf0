/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_aeth.c - syndromes of acknowledgements, and the codes in them, against IBTA vol. 1.
 */
#include "wire_test.h"
#include "wire/aeth.h"

/* Table "AETH syndrome field" of 9.7.5.1.4: kinds in bits 7 to 5; 010 and 1xx are reserved. */
static void test_kinds(void **state)
{
	(void)state;
	assert_int_equal(wf_syndrome_make(WF_SYNDROME_ACK, WF_CREDITS_INVALID), 0x1f);
	assert_int_equal(wf_syndrome_make(WF_SYNDROME_RNR, 0x14), 0x34);
	assert_int_equal(WF_NAK_PSN_SEQUENCE, 0x60);
	assert_int_equal(WF_NAK_INVALID_REQUEST, 0x61);
	assert_int_equal(WF_NAK_REMOTE_ACCESS, 0x62);
	assert_int_equal(WF_NAK_REMOTE_OPERATION, 0x63);
	assert_int_equal(WF_NAK_INVALID_RD_REQUEST, 0x64);
	for (unsigned s = 0; s < 256; s++) {
		uint8_t b = (uint8_t)s;
		int kinds = wf_syndrome_is_ack(b) + wf_syndrome_is_rnr(b) + wf_syndrome_is_nak(b);

		assert_int_equal(kinds, b < 0x80 && (b & 0x60) != 0x40);
		assert_int_equal(wf_syndrome_is_read(b), (b & 0xe0) == 0x40);
		assert_int_equal(wf_syndrome_value(b), b & 0x1f);
	}
}

/* Table "End-to-end flow control credit encoding" of 9.7.7.2.2. */
static void test_credits(void **state)
{
	static const struct {
		uint8_t code;
		uint32_t count;
	} row[] = { { 0, 0 },    { 3, 3 },     { 4, 4 },      { 5, 6 },     { 6, 8 },
		    { 15, 192 }, { 20, 1024 }, { 29, 24576 }, { 30, 32768 } };

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++)
		assert_int_equal(wf_credits_count(row[i].code), row[i].count);
	for (uint8_t code = 0; code <= 30; code++)
		assert_int_equal(wf_credits_code(wf_credits_count(code)), code);
	/* Rounded down: no more than there are, and the next code would be too much. */
	for (uint32_t n = 0; n < 70000; n++) {
		uint8_t code = wf_credits_code(n);

		assert_true(wf_credits_count(code) <= n);
		assert_true(code == 30 || wf_credits_count((uint8_t)(code + 1)) > n);
	}
}

/* Table "Encoding for RNR NAK timer field" of 9.7.5.2.8. */
static void test_rnr(void **state)
{
	(void)state;
	assert_int_equal(wf_rnr_wait(0), 655360 * WF_US);
	assert_int_equal(wf_rnr_wait(1), 10 * WF_US);
	assert_int_equal(wf_rnr_wait(12), 640 * WF_US);
	assert_int_equal(wf_rnr_wait(31), 491520 * WF_US);
	for (uint8_t value = 1; value < 31; value++)
		assert_true(wf_rnr_wait(value) < wf_rnr_wait((uint8_t)(value + 1)));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_credits),
		cmocka_unit_test(test_rnr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
