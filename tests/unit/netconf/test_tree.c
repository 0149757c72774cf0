/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of trees: netconf/tree.c, tree_json.c, tree_yaml.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "netconf/tree.h"

typedef int read_fn(const char *text, size_t len, const char *name, struct wf_arena *arena,
                    struct wf_tree **root_p, struct wf_err *err);

/* What a tree says, on one line: {key@line:value,...}. */
static void put(const struct wf_tree *node, char *to, size_t size)
{
	size_t n = strlen(to);

	if (node->kind == WF_TREE_VALUE) {
		snprintf(to + n, size - n, "%s", node->text);
		return;
	}
	snprintf(to + n, size - n, "%s", node->kind == WF_TREE_MAP ? "{" : "[");
	for (const struct wf_tree *c = node->child; c != NULL; c = c->next) {
		n = strlen(to);
		assert_ptr_equal(c->parent, node);
		if (c->key != NULL)
			snprintf(to + n, size - n, "%s%s@%u:", c == node->child ? "" : ",", c->key,
			         (unsigned)c->line);
		else
			snprintf(to + n, size - n, "%s", c == node->child ? "" : ",");
		put(c, to, size);
	}
	n = strlen(to);
	snprintf(to + n, size - n, "%s", node->kind == WF_TREE_MAP ? "}" : "]");
}

/* Reads a copy of exactly these bytes, so that a sanitizer sees reads beyond them. */
static void check(read_fn *read, const char *text, const char *want)
{
	size_t len = strlen(text);
	char *copy = malloc(len == 0 ? 1 : len);
	struct wf_tree *root = NULL;
	struct wf_err err = { "" };
	struct wf_arena arena;
	char got[1024] = "";

	assert_non_null(copy);
	memcpy(copy, text, len);
	wf_arena_init(&arena);
	if (read(copy, len, "f", &arena, &root, &err) == 0)
		put(root, got, sizeof(got));
	else
		snprintf(got, sizeof(got), "%s", err.text);
	assert_string_equal(got, want);
	wf_arena_fini(&arena);
	free(copy);
}

static void test_json(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "{}", "{}" },
		{ " [ ] ", "[]" },
		{ "\xef\xbb\xbf{}", "{}" },
		{ "{\"a\": 1,\n\"b\": [true, null, -1.5e+3],\n \"c\": {\"d\": \"x\"}}",
		  "{a@1:1,b@2:[true,null,-1.5e+3],c@3:{d@3:x}}" },
		{ "{\"\\u00e9\\n\\\"\": \"\\ud83d\\ude00/\"}",
		  "{\xc3\xa9\n\"@1:\xf0\x9f\x98\x80/}" },
		{ "{\"a\": {\"x\": 1}, \"b\": {\"x\": 1}}", "{a@1:{x@1:1},b@1:{x@1:1}}" },
		{ "", "f:1:1: there is nothing in it" },
		{ "12", "f:1:1: here should be { or [" },
		{ "{\"a\": 1", "f:1:8: the file ends in the middle: a bracket is open" },
		{ "{\"a\"", "f:1:5: here should be : behind a key" },
		{ "{\"a\":", "f:1:6: the file ends where a value should be" },
		{ "{\"a\": 1,}", "f:1:9: here should be a key in quotes" },
		{ "[1,]", "f:1:4: here should be a value" },
		{ "[01]", "f:1:2: here should be a value" },
		{ "[1.]", "f:1:2: here should be a value" },
		{ "[1 2]", "f:1:4: here should be , or ]" },
		{ "[tru]", "f:1:2: here should be a value" },
		{ "{} {}", "f:1:4: something follows behind the last bracket" },
		{ "[\"\t\"]", "f:1:3: a line ends, or a control stands, in a text" },
		{ "[\"\\x\"]", "f:1:4: there is no such escape" },
		{ "[\"\\u12\"]", "f:1:5: \\u wants four hexadecimal digits" },
		{ "[\"\\u0000\"]", "f:1:9: a NUL in a text" },
		{ "[\"\\udc00\"]", "f:1:9: half of a character" },
		{ "[\"\\ud800\\u0041\"]", "f:1:15: half of a character" },
		{ "[\"abc", "f:1:6: the file ends in the middle of a text" },
		{ "{\"a\": 1,\n\n\"a\": 2}", "f:3: the key \"a\" is there twice, first in line 1" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++)
		check(wf_tree_read_json, rows[i].text, rows[i].want);
}

static void test_yaml(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "a: 1\nb:\n  c: x y # why\n  'd': \"e: #f\"\ng:\n",
		  "{a@1:1,b@2:{c@3:x y,d@4:e: #f},g@5:}" },
		{ "---\n# nothing\na: {}\nb: [1, 'x, y', 2]\n", "{a@3:{},b@4:[1,x, y,2]}" },
		{ "- a: 1\n  b: 2\n- - 3\n  - 4\n- x\n", "[{a@1:1,b@2:2},[3,4],x]" },
		{ "a:\n- 1\n- 2\nb: 3\r\n", "{a@1:[1,2],b@4:3}" },
		{ "a:\n  - b:\n      c: 1\n  -\n    d: 2\n", "{a@1:[{b@2:{c@3:1}},{d@5:2}]}" },
		{ "", "f:1:1: there is nothing in it" },
		{ "word\n", "f:1:1: here should be keys, or a list" },
		{ "a: 1\na: 2\n", "f:2: the key \"a\" is there twice, first in line 1" },
		{ "a: &x 1\n",
		  "f:1:1: this form of YAML is not read here: plain and quoted values are" },
		{ "a: |\n  text\n",
		  "f:1:1: this form of YAML is not read here: plain and quoted values are" },
		{ "a: \"x\n", "f:1:1: a quote is open, or something follows behind it" },
		{ "a: 'x' y\n", "f:1:1: a quote is open, or something follows behind it" },
		{ "a:\n    b: 1\n  c: 2\n", "f:3:3: this is indented as nothing before it" },
		{ "a: 1\n- b\n", "f:2:1: a list and keys in one place" },
		{ "- a\nb: 1\n", "f:2:1: a list and keys in one place" },
		{ "a: 1\nword\n", "f:2:1: here should be a key and a colon" },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++)
		check(wf_tree_read_yaml, rows[i].text, rows[i].want);
}

/* What is too deep is an error, not an end of the stack. */
static void test_depth(void **state)
{
	char text[2001];

	(void)state;
	memset(text, '[', 1000);
	memset(text + 1000, ']', 1000);
	text[2000] = '\0';
	check(wf_tree_read_json, text, "f:1:33: this is too deep");
	for (size_t i = 0; i < 2000; i += 2)
		memcpy(text + i, "- ", 2);
	check(wf_tree_read_yaml, text, "f:1:65: this is too deep");
}

/* A text that is cut off anywhere is an error, but for YAML, where a part may be whole. */
static void test_cut(void **state)
{
	static const char text[] =
		"{\"PORT\": {\"Ethernet0\": {\"lanes\": \"0,1\", \"mtu\": 9100}}, "
		"\"x\": [\"\\u00e9\", -1.5e3, true]}";
	struct wf_arena arena;

	(void)state;
	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		char *copy = malloc(n + 1);
		struct wf_tree *root = NULL;
		struct wf_err err = { "" };

		assert_non_null(copy);
		memcpy(copy, text, n);
		wf_arena_init(&arena);
		assert_int_equal(wf_tree_read_json(copy, n, "f", &arena, &root, &err), -22);
		assert_string_not_equal(err.text, "");
		err.text[0] = '\0';
		root = NULL;
		if (wf_tree_read_yaml(copy, n, "f", &arena, &root, &err) == 0)
			assert_non_null(root);
		else
			assert_string_not_equal(err.text, "");
		wf_arena_fini(&arena);
		free(copy);
	}
}

static void test_get(void **state)
{
	static const char text[] = "{\"a\": {\"b\": \"c\"}, \"d\": [1]}";
	struct wf_tree *root = NULL;
	struct wf_err err = { "" };
	struct wf_arena arena;

	(void)state;
	wf_arena_init(&arena);
	assert_int_equal(wf_tree_read_json(text, sizeof(text) - 1, "f", &arena, &root, &err), 0);
	assert_string_equal(wf_tree_text(wf_tree_get(root, "a"), "b"), "c");
	assert_null(wf_tree_get(root, "b"));
	assert_null(wf_tree_text(root, "a"));
	assert_null(wf_tree_get(wf_tree_get(root, "d"), "a"));
	assert_null(wf_tree_get(NULL, "a"));
	wf_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),  cmocka_unit_test(test_yaml),
		cmocka_unit_test(test_depth), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_get),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
