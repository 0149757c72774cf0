/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_axis.c - lists and ranges of values, and what is wrong with others.
 */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "study/axis.h"

static struct wf_axis axis;

/* The values with a blank between them. */
static const char *read(const char *text)
{
	static char all[4096];
	struct wf_err err = { "" };
	size_t len = 0;

	if (wf_axis_parse(&axis, text, &err) != 0)
		fail_msg("%s: %s", text, err.text);
	all[0] = '\0';
	for (unsigned i = 0; i < axis.n; i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i > 0 ? " " : "",
		                        axis.value[i]);
	return all;
}

static void test_values(void **state)
{
	(void)state;
	assert_string_equal(read("fabric.ecn.kmin=50KB,100KB"), "50KB 100KB");
	assert_string_equal(axis.name, "fabric.ecn.kmin");
	assert_string_equal(read("a=auto"), "auto");
	assert_string_equal(read("a=1..8"), "1 2 4 8");
	assert_string_equal(read("a=1..9"), "1 2 4 8");
	assert_string_equal(read("a=50KB..200KB"), "50KB 100KB 200KB");
	assert_string_equal(read("a=50..200KB"), "50KB 100KB 200KB");
	assert_string_equal(read("a=1..100*10"), "1 10 100");
	assert_string_equal(read("a=10us..50us+20us"), "10us 30us 50us");
	assert_string_equal(read("a=0..1+0.25"), "0 0.25 0.5 0.75 1");
	assert_string_equal(read("a=0.1..0.5+0.1"), "0.1 0.2 0.3 0.4 0.5");
	assert_string_equal(read("a=auto,1..4,7"), "auto 1 2 4 7");
	assert_string_equal(read("a=0.5%..2%"), "0.5% 1% 2%");
	assert_string_equal(read("b=x=y"), "x=y");
}

static void wrong(const char *text, const char *why)
{
	struct wf_err err = { "" };

	assert_int_not_equal(wf_axis_parse(&axis, text, &err), 0);
	if (strstr(err.text, why) == NULL)
		fail_msg("%s: '%s' does not say '%s'", text, err.text, why);
}

static void test_mistakes(void **state)
{
	(void)state;
	wrong("a", "write PARAMETER=VALUES");
	wrong("=1", "write PARAMETER=VALUES");
	wrong("a=", "write PARAMETER=VALUES");
	wrong("a=1,,2", "a value is missing");
	wrong("a=1,", "a value is missing");
	wrong("a=x..y", "no range");
	wrong("a=1..", "no range");
	wrong("a=1..2*x", "no range");
	wrong("a=1KB..2MB", "one unit");
	wrong("a=8..1", "does not get");
	wrong("a=0..8", "does not get");
	wrong("a=1..8*1", "does not get");
	wrong("a=1..8+0", "does not get");
	wrong("a=1..9999999+1", "more than 1000");
	wrong("a=1..1e308*1.0000001", "more than 1000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
