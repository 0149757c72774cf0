/* SPDX-License-Identifier: Apache-2.0 */
/* test_cpus.c - what is known of the CPUs: how many, and whether they share a cache. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/base.h"
#include "live/cpus.h"

static void stay_on(unsigned cpu, unsigned other)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CPU_SET(other, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* The CPUs that a process is kept to count, and no others. */
static void test_count(void **state)
{
	unsigned all = wf_cpus();
	cpu_set_t before;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(all, CPU_COUNT(&before));
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &before))
			continue;
		stay_on(cpu, cpu);
		assert_int_equal(wf_cpus(), 1);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* The number of the set in the text of a /sys file that says it in another way: a mask in hex. */
static int in_mask(unsigned cpu, unsigned cache, unsigned other)
{
	char path[96], text[1024];
	size_t digit = other / 4, n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_map",
	         cpu, cache);
	f = fopen(path, "re");
	if (f == NULL)
		return -1;
	for (int c = fgetc(f); c > ' ' && n < sizeof(text); c = fgetc(f)) {
		if (c != ',')
			text[n++] = (char)c;
	}
	fclose(f);
	if (digit >= n)
		return 0;
	digit = (size_t)text[n - 1 - digit];
	digit = digit >= 'a' ? digit - 'a' + 10 : digit - '0';
	return (int)(digit >> other % 4 & 1);
}

/*
 * Each pair of CPUs has a cache in common when one of the first's caches has the other in its mask;
 * a CPU has all of them in common with itself.
 */
static void test_pairs(void **state)
{
	cpu_set_t before;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	for (unsigned a = 0; a < 64; a++) {
		for (unsigned b = a; b < 64; b++) {
			bool expected = false;
			int in = 0;

			if (!CPU_ISSET(a, &before) || !CPU_ISSET(b, &before))
				continue;
			for (unsigned cache = 0; cache < 8 && in >= 0; cache++) {
				in = in_mask(a, cache, b);
				expected = expected || in == 1;
			}
			stay_on(a, b);
			assert_int_equal(wf_cpus_share_cache(), expected);
		}
	}
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
