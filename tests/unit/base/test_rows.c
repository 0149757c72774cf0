/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rows.c - short tables in a parameter's text, right and wrong.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rows.h"

struct row {
	uint64_t rate;
	uint64_t bytes;
};

#define FIELD(field) .offset = offsetof(struct row, field), .size = sizeof(uint64_t)

static const struct wf_param fields[] = {
	{ .name = "rate", .kind = WF_PARAM_RATE, FIELD(rate), .min = 1, .max = INT64_MAX },
	{ .name = "bytes", .kind = WF_PARAM_BYTES, FIELD(bytes), .max = 1000 },
};

static struct wf_rows make(unsigned n_optional)
{
	return (struct wf_rows){ .name = "p",
		                 .what = "a table",
		                 .example = "rate:bytes",
		                 .fields = fields,
		                 .n_fields = 2,
		                 .n_optional = n_optional,
		                 .size = sizeof(struct row),
		                 .max = 3 };
}

static void test_good(void **state)
{
	struct wf_rows both = make(0), one = make(1);
	struct row row[3];
	struct wf_err err = { "" };
	unsigned n;

	(void)state;
	assert_int_equal(wf_rows_parse(&both, "  ", row, &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(wf_rows_parse(&both, " 1Gbps:10B , 2G : 1KB,3G:0", row, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_int_equal(row[0].rate, 1000000000);
	assert_int_equal(row[0].bytes, 10);
	assert_int_equal(row[1].bytes, 1000);
	assert_int_equal(row[2].rate, 3000000000);
	assert_int_equal(wf_rows_parse(&one, "5,1G:6", row, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(row[0].rate, 0);
	assert_int_equal(row[0].bytes, 5);
	assert_int_equal(row[1].rate, 1000000000);
	assert_int_equal(row[1].bytes, 6);
}

static void test_bad(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ ",",
		  "p: \",\" is not a table: entry 1: there is nothing in it; write rate:bytes" },
		{ "1G:1,", "p: \"1G:1,\" is not a table: entry 2: there is nothing in it; write" },
		{ "1G:1, ,2G:1", "entry 2: there is nothing in it" },
		{ "1G", "entry 1: a value is missing; write rate:bytes" },
		{ "1G:", "entry 1: a value is missing" },
		{ ":1", "entry 1: there is nothing in it" },
		{ "1G:1:1", "entry 1: it has too many values" },
		{ "1G:1 2G:1", "entry 1: a colon or a comma is missing" },
		{ "1G:1,2G:1001", "entry 2: \"1001\" is out of range; it may be 0B to 1KB" },
		{ "1G:1,2G:1,3G:1,4G:1", "entry 4: it is one too many; leave it out" },
		{ "1G:1,x:1", "entry 2: \"x\" is not a" },
		{ "1G:12345678901234567890123456789012", "entry 1: a value is too long" },
	};
	struct wf_rows table = make(0);

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(bad); i++) {
		struct wf_err err = { "" };
		struct row row[3];
		unsigned n;

		assert_int_equal(wf_rows_parse(&table, bad[i].text, row, &n, &err), -EINVAL);
		if (strstr(err.text, bad[i].says) == NULL)
			fail_msg("%s: %s", bad[i].text, err.text);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
