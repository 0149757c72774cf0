/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_yaml.c - the tree: shapes, places, and what is refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/yaml.h"

static int setup(void **state)
{
	struct wf_arena *arena = malloc(sizeof(*arena));

	wf_arena_init(arena);
	*state = arena;
	return 0;
}

static int teardown(void **state)
{
	wf_arena_fini(*state);
	free(*state);
	return 0;
}

static void assert_at(const struct wf_ynode *node, unsigned line, unsigned column)
{
	assert_non_null(node);
	assert_int_equal(node->line, line);
	assert_int_equal(node->column, column);
	assert_string_equal(node->file, "x.yaml");
}

static void test_tree(void **state)
{
	static const char text[] = "# a comment\n"
				   "name: incast 32:1\n"
				   "list: [0:50, 'it''s', \"two\\n\"]\n"
				   "empty:\n"
				   "deep:\n"
				   "  - {a: 1, b: {c: 2}}\n"
				   "  - plain text\n";
	struct wf_ynode *root = NULL;
	struct wf_ynode *node;
	struct wf_err err = { "" };

	assert_int_equal(wf_yaml_parse(text, strlen(text), "x.yaml", *state, &root, &err), 0);
	assert_int_equal(root->kind, WF_YNODE_MAPPING);
	assert_int_equal(root->n, 4);
	node = wf_ynode_get(root, "name");
	assert_at(node, 2, 7);
	assert_at(node->key, 2, 1);
	assert_string_equal(node->text, "incast 32:1");
	node = wf_ynode_get(root, "list");
	assert_int_equal(node->kind, WF_YNODE_SEQUENCE);
	assert_int_equal(node->n, 3);
	assert_at(node->child, 3, 8);
	assert_string_equal(node->child->text, "0:50");
	assert_string_equal(node->child->next->text, "it's");
	assert_string_equal(node->child->next->next->text, "two\n");
	node = wf_ynode_get(root, "empty");
	assert_string_equal(node->text, "");
	assert_at(node, 4, 1);
	node = wf_ynode_get(root, "deep");
	assert_int_equal(node->n, 2);
	node = wf_ynode_get(wf_ynode_get(node->child, "b"), "c");
	assert_string_equal(node->text, "2");
	assert_at(node, 6, 19);
	assert_null(wf_ynode_get(root, "nothing"));
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{ "", "x.yaml: it is empty" },
		{ "# only a comment\n", "x.yaml: it is empty" },
		{ "a: 1\nb: 2\na: 3\n", "x.yaml:3:1: the key 'a' is there twice, first on line 1" },
		{ "a: &x 1\n", "x.yaml:1:5: an anchor cannot be used here" },
		{ "a: *x\n", "x.yaml:1:5: an alias cannot be used here" },
		{ "a: !!int 1\n", "x.yaml:1:4: a tag cannot be used here" },
		{ "a: 1\n---\nb: 2\n", "more than one document" },
		{ "? [1]\n: 2\n", "x.yaml:1:3: a key is a list" },
		{ "a:\n\tb: 1\n", "x.yaml:2:1: this is not YAML: tab character" },
		{ "a: [1, 2\n", "x.yaml:2:1: this is not YAML" },
		{ "a: \"open\n", "x.yaml:1:5: this is not YAML" },
		{ "a: b: c\n", "x.yaml:1:5: this is not YAML" },
		{ "a: \xc3\n", "x.yaml:1:4: the byte 0xc3 is no text" },
		{ "a: \xed\xa0\x80\n", "the byte 0xed is no text" },
		{ "a: \x01\n", "x.yaml:1:4: the byte 0x01 is no text" },
		{ "\"a\\0b\": 1\n", "there is a NUL in it" },
		{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
		  "x.yaml:1:33: it is nested more than 32 deep" },
	};

	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		struct wf_ynode *root = NULL;
		struct wf_err err = { "" };

		if (wf_yaml_parse(cases[i].text, strlen(cases[i].text), "x.yaml", *state, &root,
		                  &err) != -EINVAL)
			fail_msg("accepted: %s", cases[i].text);
		if (strstr(err.text, cases[i].says) == NULL)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_null(root);
	}
}

static void test_limits(void **state)
{
	size_t room = 8 * WF_YAML_MAX_NODES, len = 0;
	char *text = malloc(room);
	struct wf_ynode *root = NULL;
	struct wf_err err = { "" };

	for (unsigned i = 0; i <= WF_YAML_MAX_KEYS; i++)
		len += (size_t)snprintf(text + len, room - len, "k%u: 1\n", i);
	assert_int_equal(wf_yaml_parse(text, len, "x.yaml", *state, &root, &err), -EINVAL);
	assert_string_equal(err.text,
	                    "x.yaml:1001:1: the mapping has more than 1000 keys; write fewer");
	memset(&err, 0, sizeof(err));
	len = 0;
	for (unsigned i = 0; i <= WF_YAML_MAX_NODES; i++)
		len += (size_t)snprintf(text + len, room - len, "- 1\n");
	assert_int_equal(wf_yaml_parse(text, len, "x.yaml", *state, &root, &err), -EINVAL);
	assert_non_null(strstr(err.text, "more than 200000 values"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tree, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
