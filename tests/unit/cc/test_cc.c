/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of cc/cc.c and of what every congestion control algorithm promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/param.h"
#include "base/rng.h"
#include "cc/cc_priv.h"

/* Every slot is filled, every name is found again, and a fresh instance can send. */
static void test_table(void **state)
{
	const struct wf_cc_ops *ops;
	size_t n = 0;

	(void)state;
	for (; (ops = wf_cc_at(n)) != NULL; n++) {
		struct wf_cc *cc = calloc(1, ops->size);
		struct wf_cc_ack ack = { .now = 9, .rtt = 5, .bytes = 4096 };

		assert_non_null(cc);
		assert_ptr_equal(wf_cc_find(ops->name), ops);
		assert_non_null(ops->help);
		wf_cc_init(cc, ops, NULL, 400000000000, 0);
		assert_true(cc->window >= 4096);
		ops->on_send(cc, 4096, 1);
		ops->on_ack(cc, &ack);
		ops->on_cnp(cc, 10);
		ops->on_loss(cc, WF_CC_LOSS_NAK, 11);
		ops->on_loss(cc, WF_CC_LOSS_TIMEOUT, 12);
		ops->on_timer(cc, 13);
		assert_true(cc->timer > 13);
		assert_true(cc->window > 0);
		free(cc);
	}
	assert_true(n >= 9);
	assert_null(wf_cc_find("no such thing"));
}

/* Every table's defaults parse, stay in the struct, and are what a NULL parameter means. */
static void test_params(void **state)
{
	const struct wf_cc_ops *ops;

	(void)state;
	for (size_t n = 0; (ops = wf_cc_at(n)) != NULL; n++) {
		char text[2048];
		struct wf_err err;
		struct wf_cc *a, *b;
		char *param;

		assert_true((ops->n_params == 0) == (ops->param_size == 0));
		assert_true(ops->param_size <= WF_CC_PARAM_MAX);
		if (ops->n_params == 0)
			continue;
		param = calloc(1, ops->param_size);
		a = calloc(2, ops->size);
		assert_non_null(param);
		assert_non_null(a);
		b = (struct wf_cc *)(void *)((char *)a + ops->size);
		assert_int_equal(wf_param_defaults(ops->params, ops->n_params, param, &err), 0);
		for (size_t i = 0; i < ops->n_params; i++) {
			const struct wf_param *row = &ops->params[i];

			assert_true(row->offset + row->size <= ops->param_size);
			assert_ptr_equal(wf_param_find(ops->params, ops->n_params, row->name), row);
			assert_true(row->help[0] != '\0');
			wf_param_format(row, param, text, sizeof(text));
			assert_int_equal(wf_param_set(row, param, text, &err), 0);
		}
		wf_cc_init(a, ops, NULL, 100000000000, 7);
		wf_cc_init(b, ops, param, 100000000000, 7);
		if (ops != &wf_cc_fixed) {
			assert_int_equal(a->rate, b->rate);
			assert_int_equal(a->gap, b->gap);
		}
		assert_true(a->window == b->window);
		free(a);
		free(param);
	}
}

/*
 * Whatever happens in whatever order: the rate is between 1 and the line rate, the window is not 0,
 * the timer is in the future, and the same events give the same state.
 */
static void random_events(const struct wf_cc_ops *ops, uint64_t seed, uint64_t line)
{
	struct wf_cc *a = calloc(2, ops->size);
	struct wf_cc *b = (struct wf_cc *)(void *)((char *)a + ops->size);
	struct wf_cc_int t = { .hops = 3 };
	uint64_t key = wf_rand_key(seed, 1, 0);
	wf_time now = 0;

	assert_non_null(a);
	wf_cc_init(a, ops, NULL, line, 0);
	wf_cc_init(b, ops, NULL, line, 0);
	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t r = wf_rand64(key, i);
		struct wf_cc *both[2] = { a, b };
		struct wf_cc_ack ack = {
			.rtt = r & 1024 ? (wf_time)(r >> 40) : 0,
			.inflight = (r >> 20) & 0xfffff,
			.bytes = (uint32_t)(r >> 12) & 0xffff,
			.ecn = (r & 2048) != 0,
			.telemetry = r & 4096 ? &t : NULL,
		};

		/* Mostly microseconds, now and then hours. */
		now += (r >> 8) % 1000 == 0 ? 3600 * WF_S : (wf_time)((r >> 16) % (5 * WF_US));
		for (uint32_t h = 0; h < t.hops; h++) {
			t.hop[h].at = now;
			t.hop[h].rate = line;
			t.hop[h].tx_bytes += (r >> h) & 0xffff;
			t.hop[h].queued = (r >> (2 * h)) & 0x3ffff;
		}
		ack.now = now;
		for (int k = 0; k < 2; k++) {
			struct wf_cc *cc = both[k];

			if (now >= cc->timer)
				ops->on_timer(cc, now);
			assert_true(cc->timer > now);
			switch (r % 16) {
			case 0:
				ops->on_cnp(cc, now);
				break;
			case 1:
				ops->on_loss(cc, r & 32 ? WF_CC_LOSS_NAK : WF_CC_LOSS_TIMEOUT, now);
				break;
			case 2:
				ops->on_timer(cc, now);
				break;
			case 3:
			case 4:
			case 5:
			case 6:
				ops->on_send(cc, ack.bytes, now);
				break;
			default:
				ops->on_ack(cc, &ack);
				break;
			}
			assert_in_range(cc->rate, 1, line);
			assert_true(cc->window > 0);
			assert_true(cc->timer > now);
		}
		assert_memory_equal(a, b, ops->size);
	}
	free(a);
}

static void test_random(void **state)
{
	const struct wf_cc_ops *ops;

	(void)state;
	for (size_t n = 0; (ops = wf_cc_at(n)) != NULL; n++) {
		random_events(ops, n, 400000000000);
		random_events(ops, n + 100, 1000000000);
	}
}

/* The arithmetic that the algorithms share, against 128-bit division. */
static void test_arithmetic(void **state)
{
	uint64_t key = wf_rand_key(5, 2, 0);

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t x = wf_rand64(key, 3 * i) >> (i % 60);
		uint64_t d = (wf_rand64(key, 3 * i + 1) >> (i % 63)) | 1;
		struct wf_recip r = wf_recip_of(d);
		uint64_t want = x / d;
		uint64_t line = (d >> 16) | 1024, bytes = (x >> 4) | 1;
		struct wf_cc cc = { .line_rate = line };
		struct wf_cc_win w;

		assert_in_range(wf_recip_mul(&r, x, 0) + 2, want, want + 2);
		cc.rate = line - wf_rand64(key, 3 * i + 2) % line;
		wf_cc_win_init(&w, &cc, bytes, 7, true);
		wf_cc_win_apply(&w, &cc);
		want = (uint64_t)((wf_u128)bytes * cc.rate / line);
		assert_int_equal(cc.window, wf_max_u64(want, 1) + 7);
	}
	assert_int_equal(wf_pow_q62(UINT64_C(1) << 61, 3), UINT64_C(1) << 59);
	assert_int_equal(wf_pow_q62(UINT64_C(1) << 62, UINT64_MAX), UINT64_C(1) << 62);
	assert_int_equal(wf_pow_q62((UINT64_C(1) << 62) - (1 << 20), UINT64_MAX), 0);
	assert_int_equal(wf_pow_q62(0, 0), UINT64_C(1) << 62);
	assert_int_equal(wf_mul_div(UINT64_MAX, UINT64_MAX, 1), UINT64_MAX);
	assert_int_equal(wf_mul_div(UINT64_MAX, 10, 20), UINT64_MAX / 2);
}

static void test_gap(void **state)
{
	static const struct {
		uint64_t rate;
		uint32_t bytes;
		wf_time want;
	} row[] = {
		{ 400000000000, 4096, 4096 * 20 },
		{ 800000000000, 1, 10 },
		{ 100000000000, 64, 64 * 80 },
		{ 8000000, 1000, WF_MS },
		{ 1, 1, 800 * WF_US }, /* no slower than WF_CC_RATE_MIN */
		{ 10000, 16000, 12800 * WF_MS },
		{ 0, 4096, 0 },
		{ UINT64_MAX, 100, 1000 }, /* no faster than the line */
		{ 3000000000, 3, 8000 },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(row); i++) {
		struct wf_cc cc = { .line_rate = 800000000000 };

		wf_cc_set_rate(&cc, row[i].rate);
		/* Never faster than the rate. */
		assert_in_range(wf_cc_gap(&cc, row[i].bytes), row[i].want, row[i].want + 1);
	}
}

static void test_fixed(void **state)
{
	struct wf_cc_fixed_param param = { .rate = 50000000000, .window = 65536 };
	struct wf_cc cc;

	(void)state;
	wf_cc_init(&cc, &wf_cc_fixed, &param, 400000000000, 0);
	assert_int_equal(cc.rate, 50000000000);
	assert_int_equal(cc.window, 65536);
	wf_cc_init(&cc, &wf_cc_fixed, NULL, 400000000000, 0);
	assert_int_equal(cc.rate, 400000000000);
	assert_true(cc.window == WF_CC_NO_WINDOW);
	wf_cc_init(&cc, &wf_cc_none, NULL, 400000000000, 0);
	assert_int_equal(wf_cc_gap(&cc, 4096), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),  cmocka_unit_test(test_params),
		cmocka_unit_test(test_random), cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_gap),    cmocka_unit_test(test_fixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
