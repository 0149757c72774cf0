/* SPDX-License-Identifier: Apache-2.0 */
/* test_siphash.c - the vectors that SipHash's authors published. */
#include "base/siphash.h"

#include "check.h"

static void test_vectors(void **state)
{
	static const struct {
		size_t len;
		uint64_t hash;
	} rows[] = {
		{ 0, UINT64_C(0x726fdb47dd0e0e31) },  { 1, UINT64_C(0x74f839c593dc67fd) },
		{ 8, UINT64_C(0x93f5f5799a932462) },  { 15, UINT64_C(0xa129ca6149be45e5) },
		{ 16, UINT64_C(0x3f2acc7f57c29bdb) },
	};
	uint8_t key[WF_SIPHASH_KEY], data[16];

	(void)state;
	for (uint8_t i = 0; i < 16; i++)
		key[i] = data[i] = i;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(wf_siphash(key, data, rows[i].len), rows[i].hash);
	key[3] ^= 1;
	assert_int_not_equal(wf_siphash(key, data, 16), rows[4].hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
