/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of copies whose last byte comes last. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/place.h"

#define MOST 700
#define ROUNDS 20000

/* Like memmove(), for all lengths, places and overlaps. */
static void test_as_memmove(void **state)
{
	static const int shifts[] = { -300, -9, -8, -7, -1, 0, 1, 3, 7, 8, 9, 64, 300 };
	uint8_t a[3 * MOST], b[3 * MOST];

	(void)state;
	for (size_t n = 0; n < MOST; n = n < 80 ? n + 1 : n + 37) {
		for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
			for (size_t k = 0; k < sizeof(a); k++)
				a[k] = b[k] = (uint8_t)(k * 7 + (k >> 8));
			memmove(a + MOST + shifts[i], a + MOST, n);
			wf_place(b + MOST + shifts[i], b + MOST, n);
			assert_memory_equal(a, b, sizeof(a));
		}
	}
}

/* What two threads share: a message, and the number that all of its bytes are. */
struct watched {
	uint8_t bytes[MOST];
	size_t n;
	_Atomic uint32_t seen; /* the reader has looked at so many */
	unsigned wrong;
};

/* Who waits for long may have the CPU that the other needs. */
static void rest(unsigned spins)
{
	if (spins % 256 == 0)
		sched_yield();
}

/* Waits for the last byte of each message, and looks at the others. */
static void *look(void *arg)
{
	struct watched *w = arg;
	volatile const uint8_t *bytes = w->bytes;

	for (uint32_t i = 1; i <= ROUNDS; i++) {
		for (unsigned spins = 1; bytes[w->n - 1] != (uint8_t)i; spins++)
			rest(spins);
		atomic_thread_fence(memory_order_acquire);
		for (size_t k = 0; k < w->n; k++)
			w->wrong += bytes[k] != (uint8_t)i;
		atomic_store_explicit(&w->seen, i, memory_order_release);
	}
	return NULL;
}

/* Whoever sees the last byte sees all of them. */
static void test_last_is_last(void **state)
{
	static const size_t sizes[] = { 13, 64, 100, 200, 368, 511, 640 };
	uint8_t message[MOST];

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		struct watched w = { .n = sizes[s] };
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, look, &w), 0);
		for (uint32_t i = 1; i <= ROUNDS; i++) {
			memset(message, (int)(i & 0xff), w.n);
			wf_place(w.bytes, message, w.n);
			for (unsigned spins = 1;
			     atomic_load_explicit(&w.seen, memory_order_acquire) != i; spins++)
				rest(spins);
		}
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(w.wrong, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_memmove),
		cmocka_unit_test(test_last_is_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
