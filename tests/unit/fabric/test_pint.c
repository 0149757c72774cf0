/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of fabric/pint.c: codes against the formula, their mean, and a port's utilisation. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "fabric/telemetry.h"

#define Q32 4294967296.

static struct wf_pint make(uint64_t base)
{
	struct wf_fabric_cfg cfg = { .pint_base = base, .pint_rtt = 10 * WF_US };
	struct wf_pint pint = { 0 };
	struct wf_err err;

	assert_int_equal(wf_pint_init(&pint, &cfg, wf_mem_heap(), &err), 0);
	return pint;
}

static void test_codes(void **state)
{
	struct wf_pint pint = make(68813); /* 1.05 */

	(void)state;
	assert_in_range(pint.codes, 256, 258); /* a byte */
	for (uint32_t code = 0; code < 256; code++) {
		double v = pow(68813 / 65536., code) / 512;

		assert_true(fabs((double)wf_pint_decode(&pint, code) / Q32 / v - 1) < 1e-6);
	}
	assert_int_equal(wf_pint_decode(&pint, UINT32_MAX), wf_pint_decode(&pint, pint.codes - 1));
	assert_int_equal(wf_pint_encode(&pint, 0, 0), 0);
	assert_true(wf_pint_encode(&pint, UINT64_MAX, 0) <= 256);
	wf_pint_fini(&pint, wf_mem_heap());
}

/* Rounded at random, the mean is right; whole 1/512 are what is told apart. */
static void test_mean(void **state)
{
	struct wf_pint pint = make(68813);

	(void)state;
	for (uint64_t i = 1; i < 40; i++) {
		uint64_t u = (UINT64_C(1) << 32) / 512 * (i * 37);
		double sum = 0;

		for (uint64_t k = 0; k < 20000; k++) {
			uint32_t code = wf_pint_encode(&pint, u, wf_rand64(i, k));

			sum += (double)wf_pint_decode(&pint, code);
		}
		assert_true(fabs(sum / 20000 / (double)u - 1) < 1e-3);
	}
	wf_pint_fini(&pint, wf_mem_heap());
}

static void test_small_base(void **state)
{
	struct wf_fabric_cfg cfg = { .pint_base = WF_PINT_BASE_MIN, .pint_rtt = 10 * WF_US };
	struct wf_pint pint = make(66191); /* 1.01: eleven bits */
	struct wf_err err = { "" };

	(void)state;
	assert_in_range(pint.codes, 1200, 1300);
	wf_pint_fini(&pint, wf_mem_heap());
	memset(&pint, 0, sizeof(pint));
	assert_int_equal(wf_pint_init(&pint, &cfg, wf_mem_heap(), &err), 0);
	wf_pint_fini(&pint, wf_mem_heap());
	cfg.pint_base--; /* what the row does not allow */
	assert_int_not_equal(wf_pint_init(&pint, &cfg, wf_mem_heap(), &err), 0);
	assert_non_null(strstr(err.text, "switch.pint_base"));
	wf_pint_fini(&pint, wf_mem_heap());
}

/*
 * 1250 B take 100 ns of 100 Gb/s: back to back that is 1, every 200 ns a half, a queue adds to it.
 */
static void test_use(void **state)
{
	struct wf_pint pint = make(68813);
	struct wf_port port = { .per_byte = wf_rate_per_byte(UINT64_C(100000000000)) };
	wf_time now = 0;
	uint64_t u = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		port.last_bytes = 1250;
		port.last_left = now;
		now += (i < 1000 ? 100 : 200) * WF_NS;
		u = wf_pint_use(&pint, &port, i < 2000 ? 0 : 125000 / 2, now);
		if (i == 999)
			assert_true(fabs((double)u / Q32 - 1) < 1e-3);
		if (i == 1999)
			assert_true(fabs((double)u / Q32 - 0.5) < 1e-3);
	}
	assert_true(fabs((double)u / Q32 - 1) < 1e-3); /* a queue of half a RTT */
	now += WF_S;
	u = wf_pint_use(&pint, &port, 0, now);
	assert_true(fabs((double)u / Q32 - 0.01) < 1e-4); /* only the last packet */
	wf_pint_fini(&pint, wf_mem_heap());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_mean),
		cmocka_unit_test(test_small_base),
		cmocka_unit_test(test_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
