/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_err.c - messages: the form of the line, the first one wins, nothing unprintable.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static void test_forms(void **state)
{
	struct wf_err err = { "" };

	(void)state;
	assert_int_equal(wf_err_at(&err, "a.yaml", 3, 7, "no %s", "good"), -EINVAL);
	assert_string_equal(err.text, "a.yaml:3:7: no good");
	memset(&err, 0, sizeof(err));
	assert_int_equal(wf_err_at(&err, "a.yaml", 3, 0, "no"), -EINVAL);
	assert_string_equal(err.text, "a.yaml:3: no");
	memset(&err, 0, sizeof(err));
	assert_int_equal(wf_err_at(&err, "a.yaml", 0, 0, "no"), -EINVAL);
	assert_string_equal(err.text, "a.yaml: no");
	memset(&err, 0, sizeof(err));
	assert_int_equal(wf_err_byte(&err, "a.et", 12, "no %d", 1), -EINVAL);
	assert_string_equal(err.text, "a.et: byte 12: no 1");
	memset(&err, 0, sizeof(err));
	assert_int_equal(wf_err_say(&err, "%d hosts", 3), -EINVAL);
	assert_string_equal(err.text, "3 hosts");
}

static void test_first_wins(void **state)
{
	struct wf_err err = { "" };

	(void)state;
	assert_int_equal(wf_err_say(&err, "first"), -EINVAL);
	assert_int_equal(wf_err_say(&err, "second"), -EINVAL);
	assert_int_equal(wf_err_at(&err, "f", 1, 1, "third"), -EINVAL);
	assert_string_equal(err.text, "first");
}

static void test_nowhere(void **state)
{
	(void)state;
	assert_int_equal(wf_err_say(NULL, "lost"), -EINVAL);
	assert_int_equal(wf_err_at(NULL, "f", 1, 1, "lost"), -EINVAL);
}

static void test_printable(void **state)
{
	struct wf_err err = { "" };

	(void)state;
	wf_err_say(&err, "a\nb\x1b[31m\tc\x7f\xc2\xb5");
	assert_string_equal(err.text, "a?b?[31m?c?\xc2\xb5");
}

static void test_long(void **state)
{
	struct wf_err err = { "" };
	char path[4096];
	size_t len;

	(void)state;
	memset(path, 'p', sizeof(path) - 1);
	memcpy(path + sizeof(path) - 6, ".yaml", 6);
	wf_err_at(&err, path, 12, 34, "what is wrong");
	assert_memory_equal(err.text, "...ppp", 6);
	assert_non_null(strstr(err.text, "p.yaml:12:34: what is wrong"));

	/* 0xc3 0xa9 is one character; the text is cut between two of them. */
	memset(&err, 0, sizeof(err));
	for (size_t i = 0; i + 2 < sizeof(path); i += 2)
		memcpy(path + i, "\xc3\xa9", 3);
	wf_err_say(&err, "%s", path);
	len = strlen(err.text);
	assert_int_equal(len, WF_ERR_TEXT - 2);
	assert_int_equal((unsigned char)err.text[len - 1], 0xa9);
	memset(&err, 0, sizeof(err));
	wf_err_say(&err, "x%s", path);
	assert_int_equal(strlen(err.text), WF_ERR_TEXT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),   cmocka_unit_test(test_first_wins),
		cmocka_unit_test(test_nowhere), cmocka_unit_test(test_printable),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
