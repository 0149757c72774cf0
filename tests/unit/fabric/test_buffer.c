/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of fabric/buffer.c: reserved, shared, headroom, thresholds. */
#include "check.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "fabric/buffer.h"

#define CELL 100

static struct wf_fabric_cfg config(uint64_t size)
{
	struct wf_fabric_cfg cfg;

	memset(&cfg, 0, sizeof(cfg));
	cfg.buffer_size = size;
	cfg.buffer_cell = CELL;
	cfg.buffer_reserved = 1000;
	cfg.buffer_xon = 500;
	return cfg;
}

static void start(struct wf_buffer *b, uint64_t size, uint32_t lanes, uint64_t headroom)
{
	struct wf_fabric_cfg cfg = config(size);
	struct wf_err err = { "" };

	memset(b, 0, sizeof(*b));
	assert_int_equal(wf_buffer_init(b, &cfg, "sw", lanes, headroom, &err), 0);
}

static bool give(struct wf_buffer *b, struct wf_lane *in)
{
	wf_buffer_give(b, in, CELL);
	return wf_buffer_is_low(b, in);
}

static void test_too_small_is_an_error(void **state)
{
	struct wf_fabric_cfg cfg = config(4000);
	struct wf_buffer b = { 0 };
	struct wf_err err = { "" };

	(void)state;
	assert_int_equal(wf_buffer_init(&b, &cfg, "sw", 2, 2000, &err), -EINVAL);
	assert_non_null(strstr(err.text, "buffer.size: sw needs 2000 bytes for headroom"));
}

/* Every size that a packet can have, in every cell that buffer.cell allows, by plain division. */
static void test_cost_is_whole_cells(void **state)
{
	const struct wf_param *row =
		wf_param_find(wf_fabric_params, wf_fabric_n_params, "buffer.cell");
	struct wf_buffer b;

	(void)state;
	assert_int_equal(row->min, 1);
	assert_int_equal(row->max, WF_CELL_MAX);
	for (uint32_t cell = 1; cell <= WF_CELL_MAX; cell += cell < 300 || cell > 4000 ? 1 : 173) {
		uint32_t wrong = 0;

		wf_buffer_set_cell(&b, cell);
		for (uint32_t size = 1; size <= UINT16_MAX; size++)
			wrong += wf_buffer_cost(&b, size) != (size + cell - 1) / cell * cell;
		assert_int_equal(wrong, 0);
	}
}

/* The largest buffer, reserved and headroom that the rows allow come out as they are. */
static void test_the_largest_is_no_other(void **state)
{
	struct wf_fabric_cfg cfg = config(WF_BUFFER_MAX);
	struct wf_lane lane = { .capacity = UINT32_MAX, .alpha = WF_ALPHA_MAX };
	struct wf_buffer b = { 0 };
	struct wf_err err = { "" };

	(void)state;
	cfg.buffer_reserved = WF_BUFFER_MAX - 1000000;
	assert_int_equal(wf_buffer_init(&b, &cfg, "sw", 1, 500000, &err), 0);
	assert_int_equal(b.reserved, WF_BUFFER_MAX - 1000000);
	assert_int_equal(b.shared_size, 500000);
	cfg.buffer_reserved = WF_BUFFER_MAX;
	assert_int_equal(
		wf_buffer_init(&b, &cfg, "sw", 1024 * 8, 8192 * (uint64_t)WF_BUFFER_MAX, &err),
		-EINVAL);

	/* A lane that has all of it counts all of it. */
	cfg.buffer_reserved = 0;
	assert_int_equal(wf_buffer_init(&b, &cfg, "sw", 1, 0, &err), 0);
	for (uint64_t left = WF_BUFFER_MAX; left >= 2 * UINT16_MAX;
	     left -= wf_buffer_cost(&b, UINT16_MAX))
		assert_int_not_equal(wf_buffer_take(&b, &lane, UINT16_MAX), WF_BUFFER_FULL);
	assert_true(b.used == (uint64_t)lane.used + lane.headroom && b.used > INT32_MAX);
}

/*
 * One lane, alpha 1, 10,000 bytes shared: reserved first, then shared until it has as much as is
 * free (half), then headroom, then nothing more.
 */
static void test_reserved_shared_headroom(void **state)
{
	struct wf_buffer b;
	struct wf_lane in = { .capacity = 300, .alpha = WF_RATIO_ONE };

	(void)state;
	start(&b, 11300, 1, 300);
	assert_int_equal(b.shared_size, 10000);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(wf_buffer_take(&b, &in, 100), WF_BUFFER_OK);
	assert_int_equal(b.shared_used, 0);
	for (unsigned i = 0; i < 49; i++)
		assert_int_equal(wf_buffer_take(&b, &in, 100), WF_BUFFER_OK);
	assert_int_equal(b.shared_used, 4900);
	/* 5000 used, 5000 free: at the threshold. */
	assert_int_equal(wf_buffer_take(&b, &in, 100), WF_BUFFER_XOFF);
	assert_int_equal(in.headroom, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(wf_buffer_take(&b, &in, 100), WF_BUFFER_XOFF);
	assert_int_equal(in.headroom, 300);
	assert_int_equal(wf_buffer_take(&b, &in, 1), WF_BUFFER_FULL);
	assert_int_equal(in.max_used, 6300);
	assert_int_equal(b.used, 6300);

	/* Headroom empties first; XON only when the shared part is xon below the threshold. */
	for (unsigned i = 0; i < 3; i++)
		assert_false(give(&b, &in));
	assert_int_equal(in.headroom, 0);
	assert_false(give(&b, &in)); /* 4900 + 500 > 5100 */
	assert_false(give(&b, &in)); /* 4800 + 500 > 5200 */
	assert_true(give(&b, &in));  /* 4700 + 500 <= 5300 */
	for (unsigned i = 0; i < 57; i++)
		assert_true(give(&b, &in));
	assert_int_equal(b.used, 0);
	assert_int_equal(b.shared_used, 0);
	assert_int_equal(in.used, 0);
}

/* The more lanes are active, the less each gets: the threshold is dynamic. */
static void test_threshold_shrinks(void **state)
{
	struct wf_buffer b;
	struct wf_lane a = { .capacity = 100, .alpha = WF_RATIO_ONE }, c = a;
	uint32_t first;

	(void)state;
	start(&b, 2 * 1000 + 200 + 9000, 2, 200);
	while (wf_buffer_take(&b, &a, 100) == WF_BUFFER_OK)
		;
	first = a.used;
	assert_int_equal(first, 1000 + 4500);
	while (wf_buffer_take(&b, &c, 100) == WF_BUFFER_OK)
		;
	/* 4500 free: c stops at half of that. */
	assert_in_range(c.used, 1000 + 2200, 1000 + 2300);
}

/* With alpha above 1 the pool still never runs over. */
static void test_large_alpha_stays_inside(void **state)
{
	struct wf_buffer b;
	struct wf_lane in[4];

	(void)state;
	memset(in, 0, sizeof(in));
	for (unsigned i = 0; i < WF_ARRAY_SIZE(in); i++)
		in[i].alpha = 64 * WF_RATIO_ONE;
	start(&b, 4 * 1000 + 5000, 4, 0);
	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t r = wf_rand64(1, i);
		struct wf_lane *lane = &in[r & 3];
		uint32_t size = 1 + (uint32_t)(r >> 8) % 500;

		if (r >> 60 < 10 && wf_buffer_take(&b, lane, size) == WF_BUFFER_FULL)
			assert_true(b.used + 500 > 4000);
		if (r >> 60 >= 10 && lane->used >= CELL)
			wf_buffer_give(&b, lane, CELL);
		assert_true(b.used <= b.size);
		assert_true(b.shared_used <= b.shared_size);
		assert_int_equal(b.used, in[0].used + in[1].used + in[2].used + in[3].used);
	}
}

static void test_lossy_threshold(void **state)
{
	struct wf_buffer b;
	struct wf_lane in = { 0 }, out = { .out_alpha = WF_RATIO_ONE };
	unsigned n = 0;

	(void)state;
	start(&b, 10000, 0, 0);
	while (wf_buffer_take_lossy(&b, &in, &out, 100)) {
		out.bytes += 100;
		n++;
	}
	assert_int_equal(n, 50);
	while (n-- > 0)
		wf_buffer_give_lossy(&b, &in, 100);
	assert_int_equal(b.used, 0);
	assert_int_equal(in.used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_small_is_an_error),
		cmocka_unit_test(test_cost_is_whole_cells),
		cmocka_unit_test(test_the_largest_is_no_other),
		cmocka_unit_test(test_reserved_shared_headroom),
		cmocka_unit_test(test_threshold_shrinks),
		cmocka_unit_test(test_large_alpha_stays_inside),
		cmocka_unit_test(test_lossy_threshold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
