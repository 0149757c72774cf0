/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_text.c - what people and programs read: rounded numbers, suggestions, JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/human.h"
#include "text/json.h"
#include "text/suggest.h"

static void test_time(void **state)
{
	static const struct {
		uint64_t ps;
		const char *want;
	} cases[] = {
		{ 0, "0 ps" },
		{ 999, "999 ps" },
		{ 1000, "1.000 ns" },
		{ 12345, "12.35 ns" },
		{ 999940, "999.9 ns" },
		{ 999960, "1.000 us" },
		{ 1500000000, "1.500 ms" },
		{ 123456000000000, "123.5 s" },
		{ 12345600000000000, "12346 s" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		char text[WF_HUMAN];

		wf_human_time(cases[i].ps, text, sizeof(text));
		assert_string_equal(text, cases[i].want);
	}
}

static void test_bytes_and_counts(void **state)
{
	char text[WF_HUMAN];

	(void)state;
	wf_human_bytes(65536, text, sizeof(text));
	assert_string_equal(text, "65.54 KB");
	wf_human_bytes(UINT64_MAX, text, sizeof(text));
	assert_string_equal(text, "18446744 TB");
	wf_human_count(0, text, sizeof(text));
	assert_string_equal(text, "0");
	wf_human_count(999, text, sizeof(text));
	assert_string_equal(text, "999");
	wf_human_count(1000, text, sizeof(text));
	assert_string_equal(text, "1,000");
	wf_human_count(UINT64_MAX, text, sizeof(text));
	assert_string_equal(text, "18,446,744,073,709,551,615");
	wf_human_count(1234567, text, 6);
	assert_true(strlen(text) < 6);
}

static const char *suggestion(const char *wrong)
{
	static const char *const names[] = { "ecn.kmin", "ecn.kmax", "buffer.size", "mtu" };
	static struct wf_suggest s;

	wf_suggest_init(&s, wrong);
	for (size_t i = 0; i < WF_ARRAY_SIZE(names); i++)
		wf_suggest_offer(&s, names[i]);
	return wf_suggest_text(&s, "there are");
}

static void test_suggest(void **state)
{
	char name[300];
	struct wf_suggest s;

	(void)state;
	assert_string_equal(suggestion("ecn.kmim"), "; did you mean ecn.kmin?");
	assert_string_equal(suggestion("enc.kmax"), "; did you mean ecn.kmax?");
	assert_string_equal(suggestion("kmin"), "; did you mean ecn.kmin?");
	assert_string_equal(suggestion("mut"), "; did you mean mtu?");
	assert_string_equal(suggestion("MTU"), "; there are ecn.kmin, ecn.kmax, buffer.size, mtu");
	assert_string_equal(suggestion(""), "; there are ecn.kmin, ecn.kmax, buffer.size, mtu");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_string_equal(suggestion(name), "; there are ecn.kmin, ecn.kmax, buffer.size, mtu");

	wf_suggest_init(&s, "x");
	assert_string_equal(wf_suggest_text(&s, "there are"), "");
	for (int i = 0; i < 100; i++)
		wf_suggest_offer(&s, "something");
	assert_non_null(strstr(wf_suggest_text(&s, "there are"), "something, ..."));
	wf_suggest_init(&s, "x");
	wf_suggest_offer(&s, name);
	assert_string_equal(wf_suggest_text(&s, "there are"), "");
}

static void test_json(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&text, &len);
	struct wf_json j;

	(void)state;
	wf_json_init(&j, file);
	wf_json_open(&j, NULL, '{');
	wf_json_text(&j, "a\"b", "line\n\\ \xc3\xa9 \xff\xc3");
	wf_json_open(&j, "empty", '[');
	wf_json_close(&j, '[');
	wf_json_open(&j, "list", '[');
	wf_json_u64(&j, NULL, UINT64_MAX);
	wf_json_bool(&j, NULL, true);
	wf_json_null(&j, NULL);
	wf_json_close(&j, '[');
	wf_json_ratio(&j, "third", 1, 3);
	wf_json_ratio(&j, "none", 1, 0);
	wf_json_close(&j, '{');
	fclose(file);
	assert_string_equal(text, "{\n"
	                          "  \"a\\\"b\": \"line\\u000a\\\\ \xc3\xa9 \\ufffd\\ufffd\",\n"
	                          "  \"empty\": [],\n"
	                          "  \"list\": [\n"
	                          "    18446744073709551615,\n"
	                          "    true,\n"
	                          "    null\n"
	                          "  ],\n"
	                          "  \"third\": 0.333333,\n"
	                          "  \"none\": null\n"
	                          "}\n");
	free(text);
}

static void test_json_document(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&text, &len);
	struct wf_json j;

	(void)state;
	wf_json_init(&j, file);
	wf_json_document(&j, "weft.some", 12);
	wf_json_close(&j, '{');
	fclose(file);
	assert_string_equal(text, "{\n"
	                          "  \"schema\": \"weft.some/12\",\n"
	                          "  \"weft\": \"" WEFT_VERSION "\"\n"
	                          "}\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),          cmocka_unit_test(test_bytes_and_counts),
		cmocka_unit_test(test_suggest),       cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
