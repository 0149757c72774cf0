/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/sort.c: every length, order kept among equals. */
#include "base/rng.h"
#include "base/sort.h"
#include "check.h"

struct item {
	uint32_t key, number;
	char pad[3];
};

static int by_key(const void *a, const void *b, const void *arg)
{
	const struct item *x = a, *y = b;
	uint32_t modulus = *(const uint32_t *)arg;

	return x->key % modulus < y->key % modulus ? -1 : x->key % modulus > y->key % modulus;
}

static void test_all_lengths(void **state)
{
	struct item items[130], room[130];

	(void)state;
	for (uint32_t modulus = 1; modulus < 1000; modulus = modulus * 7 + 1) {
		for (uint32_t n = 0; n <= 130; n++) {
			for (uint32_t i = 0; i < n; i++) {
				items[i].key = (uint32_t)wf_rand64(n, i) & 0xffff;
				items[i].number = i;
			}
			wf_sort(items, room, n, sizeof(items[0]), by_key, &modulus);
			for (uint32_t i = 1; i < n; i++) {
				uint32_t a = items[i - 1].key % modulus, b = items[i].key % modulus;

				assert_true(a < b ||
				            (a == b && items[i - 1].number < items[i].number));
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
