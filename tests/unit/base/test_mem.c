/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/mem.c, base/hist.c and base/rng.h. */
#include "check.h"

#include <string.h>

#include "base/hist.h"
#include "base/mem.h"
#include "base/rng.h"

static void test_arena_aligns_and_zeroes(void **state)
{
	static const size_t align[] = { 1, 8, 64, 4096 };
	struct wf_arena arena;

	(void)state;
	wf_arena_init(&arena);
	for (size_t i = 0; i < 2000; i++) {
		size_t a = align[i % WF_ARRAY_SIZE(align)], size = 1 + i * 37 % 9000;
		unsigned char *p = wf_arena_alloc(&arena, size, a);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % a, 0);
		for (size_t k = 0; k < size; k++)
			assert_int_equal(p[k], 0);
		memset(p, 0xaa, size);
	}
	assert_true(arena.mapped >= arena.used);
	wf_arena_fini(&arena);
	assert_null(arena.blocks);
}

/* A block larger than usual, and a size that no machine has. */
static void test_arena_large(void **state)
{
	struct wf_arena arena;
	char *p;

	(void)state;
	wf_arena_init(&arena);
	p = wf_arena_alloc(&arena, (size_t)64 << 20, 64);
	assert_non_null(p);
	p[((size_t)64 << 20) - 1] = 1;
	assert_null(wf_arena_alloc(&arena, SIZE_MAX / 2, 64));
	assert_null(wf_arena_alloc(&arena, SIZE_MAX / 5, 64));
	assert_non_null(arena.mem.alloc(&arena.mem, 10));
	wf_arena_fini(&arena);
}

static void test_heap(void **state)
{
	struct wf_mem *mem = wf_mem_heap();
	char *p = mem->alloc(mem, 0), *q = mem->alloc(mem, 100);

	(void)state;
	assert_non_null(p);
	assert_int_equal((uintptr_t)q % WF_CACHE_LINE, 0);
	assert_int_equal(q[99], 0);
	assert_null(mem->alloc(mem, SIZE_MAX));
	mem->free(mem, p);
	mem->free(mem, q);
	mem->free(mem, NULL);
}

/* Every value lies in its bucket, and a quantile is within 1/64 of the value. */
static void test_hist_error(void **state)
{
	(void)state;
	for (uint64_t v = 1; v < UINT64_MAX / 3; v = v * 3 / 2 + 1) {
		struct wf_hist h = { 0 };

		wf_hist_add(&h, v);
		wf_hist_add(&h, v * 2);
		assert_true(wf_hist_bucket(v) < WF_HIST_BUCKETS);
		assert_true(wf_hist_quantile(&h, 500) >= v);
		assert_true(wf_hist_quantile(&h, 500) <= v + v / 64);
		assert_int_equal(wf_hist_quantile(&h, 1000), v * 2);
	}
	assert_true(wf_hist_bucket(UINT64_MAX) < WF_HIST_BUCKETS);
}

static void test_hist_quantiles_and_merge(void **state)
{
	static struct wf_hist a, b, empty;

	(void)state;
	for (uint64_t v = 1; v <= 100; v++)
		wf_hist_add(v % 2 ? &a : &b, v);
	wf_hist_merge(&a, &b);
	wf_hist_merge(&a, &empty);
	assert_int_equal(a.n, 100);
	assert_int_equal(a.min, 1);
	assert_int_equal(a.max, 100);
	assert_int_equal(wf_hist_mean(&a), 50);
	assert_int_equal(wf_hist_quantile(&a, 0), 1);
	assert_int_equal(wf_hist_quantile(&a, 500), 50);
	assert_int_equal(wf_hist_quantile(&a, 990), 99);
	assert_int_equal(wf_hist_quantile(&a, 1000), 100);
	assert_int_equal(wf_hist_quantile(&empty, 500), 0);
	assert_int_equal(wf_hist_mean(&empty), 0);
}

/* Draws of one key are spread evenly, and neighbouring keys have nothing in common. */
static void test_rng_is_uniform(void **state)
{
	unsigned count[16] = { 0 }, equal = 0;

	(void)state;
	for (uint64_t i = 0; i < 160000; i++) {
		uint64_t a = wf_rand64(wf_rand_key(1, 2, i), 0);
		uint64_t b = wf_rand64(wf_rand_key(1, 2, i + 1), 0);

		count[wf_rand_below(a, 16)]++;
		equal += (a ^ b) >> 60 == 0;
	}
	for (unsigned i = 0; i < 16; i++)
		assert_in_range(count[i], 9500, 10500);
	assert_in_range(equal, 9500, 10500);
	assert_int_not_equal(wf_rand_key(1, 2, 3), wf_rand_key(1, 3, 3));
	assert_int_not_equal(wf_rand_key(1, 2, 3), wf_rand_key(2, 2, 3));
	assert_int_equal(wf_rand_below(UINT64_MAX, 7), 6);
	assert_int_equal(wf_rand_below(0, 7), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena_aligns_and_zeroes),
		cmocka_unit_test(test_arena_large),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_hist_error),
		cmocka_unit_test(test_hist_quantiles_and_merge),
		cmocka_unit_test(test_rng_is_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
