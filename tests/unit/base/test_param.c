/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_param.c - values as people write them: tables of what is right, what is wrong and what the
 * message says, and that what is written out reads back the same.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/param.h"
#include "base/rng.h"

struct config {
	bool on;
	uint32_t u32;
	uint64_t u64;
	char text[8];
	char name[8];
};

static const char *const names[] = { "pfc", "credit", "none", NULL };

/* A row of any number kind on the 64-bit field (or its own). */
static struct wf_param row_of(enum wf_param_kind kind)
{
	struct wf_param row = {
		.name = "x",
		.kind = kind,
		.offset = offsetof(struct config, u64),
		.size = sizeof(uint64_t),
		.max = INT64_MAX,
	};

	if (kind == WF_PARAM_BOOL) {
		row.offset = offsetof(struct config, on);
		row.size = sizeof(bool);
	} else if (kind == WF_PARAM_U32) {
		row.offset = offsetof(struct config, u32);
		row.size = sizeof(uint32_t);
		row.max = UINT32_MAX;
	} else if (kind == WF_PARAM_TEXT) {
		row.offset = offsetof(struct config, text);
		row.size = sizeof(((struct config *)0)->text);
	} else if (kind == WF_PARAM_NAME) {
		row.offset = offsetof(struct config, name);
		row.size = sizeof(((struct config *)0)->name);
		row.names = names;
	}
	return row;
}

static uint64_t value_of(enum wf_param_kind kind, const struct config *c)
{
	return kind == WF_PARAM_BOOL ? c->on : kind == WF_PARAM_U32 ? c->u32 : c->u64;
}

static void test_right(void **state)
{
	static const struct {
		enum wf_param_kind kind;
		const char *text;
		uint64_t want;
	} cases[] = {
		{ WF_PARAM_BOOL, "true", 1 },
		{ WF_PARAM_BOOL, "off", 0 },
		{ WF_PARAM_BOOL, "yes", 1 },
		{ WF_PARAM_U32, "4294967295", UINT32_MAX },
		{ WF_PARAM_U32, "1e6", 1000000 },
		{ WF_PARAM_U32, "007", 7 },
		{ WF_PARAM_U64, "100000000000000000", UINT64_C(100000000000000000) },
		{ WF_PARAM_BYTES, "0", 0 },
		{ WF_PARAM_BYTES, "1500", 1500 },
		{ WF_PARAM_BYTES, "1MB", 1000000 },
		{ WF_PARAM_BYTES, "1.5KiB", 1536 },
		{ WF_PARAM_BYTES, "64 KiB", 65536 },
		{ WF_PARAM_TIME, "0.125us", 125000 },
		{ WF_PARAM_TIME, "10us", 10000000 },
		{ WF_PARAM_TIME, "10\xc2\xb5s", 10000000 },
		{ WF_PARAM_TIME, "1e3ps", 1000 },
		{ WF_PARAM_TIME, "0.000000000001s", 1 },
		{ WF_PARAM_TIME, "100000000000000000000000e-20ns", 1000000 },
		{ WF_PARAM_RATE, "25.78125Gbps", UINT64_C(25781250000) },
		{ WF_PARAM_RATE, "400G", UINT64_C(400000000000) },
		{ WF_PARAM_RATE, "0.8Tb/s", UINT64_C(800000000000) },
		{ WF_PARAM_LENGTH, "2.5m", 2500 },
		{ WF_PARAM_LENGTH, "10km", 10000000 },
		{ WF_PARAM_PROB, "0", 0 },
		{ WF_PARAM_PROB, "1", WF_PROB_ONE },
		{ WF_PARAM_PROB, "50%", WF_PROB_ONE / 2 },
		{ WF_PARAM_PROB, "1e-6", 4295 },
		{ WF_PARAM_BER, "1e-12", 1000000 },
		{ WF_PARAM_BER, "2.5e-15", 2500 },
		{ WF_PARAM_RATIO, "1/8", WF_RATIO_ONE / 8 },
		{ WF_PARAM_RATIO, "0.125", WF_RATIO_ONE / 8 },
		{ WF_PARAM_RATIO, "12.5%", WF_RATIO_ONE / 8 },
		{ WF_PARAM_RATIO, "2:1", 2 * WF_RATIO_ONE },
		{ WF_PARAM_RATIO, "1.5:0.5", 3 * WF_RATIO_ONE },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct wf_param row = row_of(cases[i].kind);
		struct config c = { .u64 = 77 };
		struct wf_err err = { "" };

		if (wf_param_set(&row, &c, cases[i].text, &err) != 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		if (value_of(cases[i].kind, &c) != cases[i].want)
			fail_msg("%s is %llu", cases[i].text,
			         (unsigned long long)value_of(cases[i].kind, &c));
	}
}

static void test_wrong(void **state)
{
	static const struct {
		enum wf_param_kind kind;
		const char *text;
		const char *says;
	} cases[] = {
		{ WF_PARAM_TIME, "10km",
		  "\"10km\" is not a time; write it with ps, ns, us, ms or s, e.g. 10us" },
		{ WF_PARAM_TIME, "10", "not a time" },
		{ WF_PARAM_TIME, "", "not a time" },
		{ WF_PARAM_TIME, ".", "not a time" },
		{ WF_PARAM_TIME, "-1us", "not a time" },
		{ WF_PARAM_TIME, "1us2", "not a time" },
		{ WF_PARAM_TIME, "1.2.3us", "not a time" },
		{ WF_PARAM_TIME, "1eus", "not a time" },
		{ WF_PARAM_TIME, "0x10us", "not a time" },
		{ WF_PARAM_TIME, "nan", "not a time" },
		{ WF_PARAM_TIME, "0.5ps", "\"0.5ps\" is too fine; the smallest step is 1ps" },
		{ WF_PARAM_TIME, "1e-400s", "too fine" },
		{ WF_PARAM_TIME, "1e400s", "out of range" },
		{ WF_PARAM_TIME, "9999999999s", "out of range" },
		{ WF_PARAM_TIME, "9300000000000000000ps", "out of range" },
		{ WF_PARAM_TIME, "0.12345678901234567890123us", "too many digits" },
		{ WF_PARAM_BYTES, "1.5", "too fine" },
		{ WF_PARAM_BYTES, "10us", "write it with B, KB, MB, GB, KiB, MiB or GiB" },
		{ WF_PARAM_BYTES, "1TB", "not a size" },
		{ WF_PARAM_RATE, "400", "not a rate" },
		{ WF_PARAM_RATE, "400gbps", "write it with bps, kbps, Mbps, Gbps or Tbps" },
		{ WF_PARAM_LENGTH, "3", "not a length" },
		{ WF_PARAM_U32, "4294967296", "it may be 0 to 4294967295" },
		{ WF_PARAM_U32, "1.5", "too fine" },
		{ WF_PARAM_U32, "many", "not a whole number" },
		{ WF_PARAM_U64, "18446744073709551616", "too many digits" },
		{ WF_PARAM_PROB, "1%%", "not a probability" },
		{ WF_PARAM_PROB, "1e-12", "too fine" },
		{ WF_PARAM_BER, "1e-19", "too fine" },
		{ WF_PARAM_RATIO, "1/0", "not a ratio" },
		{ WF_PARAM_RATIO, "1/2%", "not a ratio" },
		{ WF_PARAM_RATIO, "1/", "not a ratio" },
		{ WF_PARAM_RATIO, "1/999999999999", "too fine" },
		{ WF_PARAM_BOOL, "maybe", "write true or false" },
		{ WF_PARAM_TEXT, "12345678", "has 8 characters; at most 7 are allowed" },
		{ WF_PARAM_NAME, "pcf", "\"pcf\" is not known; write pfc, credit or none" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct wf_param row = row_of(cases[i].kind);
		struct config c, before;
		struct wf_err err = { "" };

		memset(&c, 0x55, sizeof(c));
		before = c;
		if (wf_param_set(&row, &c, cases[i].text, &err) != -EINVAL)
			fail_msg("%s is accepted", cases[i].text);
		if (strstr(err.text, cases[i].says) == NULL)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_memory_equal(&c, &before, sizeof(c));
	}
}

static void test_range_and_auto(void **state)
{
	struct wf_param row = row_of(WF_PARAM_BYTES);
	struct config c = { .u64 = 0 };
	struct wf_err err = { "" };
	char text[64];

	(void)state;
	row.min = 64;
	row.max = 4096;
	assert_int_equal(wf_param_set(&row, &c, "64", &err), 0);
	assert_int_equal(wf_param_set(&row, &c, "4KiB", &err), 0);
	assert_int_equal(wf_param_set(&row, &c, "63B", &err), -EINVAL);
	assert_string_equal(err.text, "\"63B\" is out of range; it may be 64B to 4KiB");
	memset(&err, 0, sizeof(err));
	assert_int_equal(wf_param_set(&row, &c, "auto", &err), -EINVAL);

	row.has_auto = true;
	row.max = INT64_MAX;
	assert_int_equal(wf_param_set(&row, &c, "auto", NULL), 0);
	assert_true(c.u64 == WF_PARAM_AUTO);
	wf_param_format(&row, &c, text, sizeof(text));
	assert_string_equal(text, "auto");
	memset(&err, 0, sizeof(err));
	assert_int_equal(wf_param_set(&row, &c, "soon", &err), -EINVAL);
	assert_non_null(strstr(err.text, ", or auto"));
}

static void test_format(void **state)
{
	static const struct {
		enum wf_param_kind kind;
		uint64_t v;
		const char *want;
	} cases[] = {
		{ WF_PARAM_BOOL, 1, "true" },
		{ WF_PARAM_U32, 12, "12" },
		{ WF_PARAM_BYTES, 0, "0B" },
		{ WF_PARAM_BYTES, 1000000, "1MB" },
		{ WF_PARAM_BYTES, 4096, "4KiB" },
		{ WF_PARAM_BYTES, 1501500, "1501500B" },
		{ WF_PARAM_TIME, 0, "0ps" },
		{ WF_PARAM_TIME, 1500, "1.5ns" },
		{ WF_PARAM_TIME, 1000001, "1.000001us" },
		{ WF_PARAM_RATE, UINT64_C(25781250000), "25.78125Gbps" },
		{ WF_PARAM_LENGTH, 2500, "2.5m" },
		{ WF_PARAM_PROB, WF_PROB_ONE, "1" },
		{ WF_PARAM_PROB, WF_PROB_ONE / 5, "0.2" },
		{ WF_PARAM_BER, 1000000, "1e-12" },
		{ WF_PARAM_BER, 0, "0" },
		{ WF_PARAM_RATIO, WF_RATIO_ONE / 8, "0.125" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct wf_param row = row_of(cases[i].kind);
		struct config c = { .on = true, .u32 = 12, .u64 = cases[i].v };
		char text[64];

		wf_param_format(&row, &c, text, sizeof(text));
		assert_string_equal(text, cases[i].want);
	}
}

static void test_round_trip(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < WF_PARAM_KINDS; kind++) {
		struct wf_param row = row_of((enum wf_param_kind)kind);

		if (kind == WF_PARAM_TEXT || kind == WF_PARAM_NAME || kind == WF_PARAM_BOOL)
			continue;
		for (uint64_t i = 0; i < 20000; i++) {
			uint64_t v = wf_rand64(kind, i) >> (5 + i % 59);
			struct config c = { .u32 = (uint32_t)v, .u64 = v }, d = { .u64 = 1 };
			struct wf_err err = { "" };
			char text[64];

			if (kind == WF_PARAM_PROB && v > WF_PROB_ONE)
				continue;
			wf_param_format(&row, &c, text, sizeof(text));
			if (wf_param_set(&row, &d, text, &err) != 0)
				fail_msg("%s: %s", text, err.text);
			assert_true(value_of(row.kind, &c) == value_of(row.kind, &d));
		}
	}
}

static void test_table(void **state)
{
	struct wf_param table[3] = { row_of(WF_PARAM_U32), row_of(WF_PARAM_NAME),
		                     row_of(WF_PARAM_TEXT) };
	struct config c = { 0 };
	struct wf_err err = { "" };

	(void)state;
	table[0].name = "a";
	table[0].def = "3";
	table[1].name = "b.c";
	table[1].def = "none";
	table[2].name = "b.d";
	table[2].def = "";
	assert_int_equal(wf_param_defaults(table, 3, &c, &err), 0);
	assert_int_equal(c.u32, 3);
	assert_string_equal(c.name, "none");
	assert_ptr_equal(wf_param_find(table, 3, "b.c"), &table[1]);
	assert_null(wf_param_find(table, 3, "b"));
	table[1].def = "wrong";
	assert_int_equal(wf_param_defaults(table, 3, &c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "the default of b.c: "));
	assert_string_equal(wf_param_unit(WF_PARAM_TIME), "time");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),          cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_range_and_auto), cmocka_unit_test(test_format),
		cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
