/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file.c - reading what can be read, refusing the rest, writing whole files or none.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "text/file.h"

/* Every test has a folder of its own, and runs in it. */
static int setup(void **state)
{
	char *dir = strdup("/tmp/weft-test-XXXXXX");

	if (dir == NULL || mkdtemp(dir) == NULL || chdir(dir) != 0)
		return -1;
	*state = dir;
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
	free(*state);
	return chdir("/") != 0 || system(command) != 0 ? -1 : 0;
}

static void put(const char *path, const char *text, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* Reads path; the text, or NULL with the message in err. */
static char *get(const char *path, size_t limit, size_t *len, struct wf_err *err)
{
	char *text = NULL;

	memset(err, 0, sizeof(*err));
	if (wf_file_read(path, limit, wf_mem_heap(), &text, len, err) != 0)
		return NULL;
	return text;
}

static void test_read(void **state)
{
	struct wf_err err;
	size_t len = 0;
	char *text;

	(void)state;
	put("a", "hello\0there", 11);
	text = get("a", 100, &len, &err);
	assert_non_null(text);
	assert_int_equal(len, 11);
	assert_memory_equal(text, "hello\0there", 12);
	wf_mem_heap()->free(wf_mem_heap(), text);
	put("empty", "", 0);
	text = get("empty", 100, &len, &err);
	assert_non_null(text);
	assert_int_equal(len, 0);
	wf_mem_heap()->free(wf_mem_heap(), text);
	text = get("a", 11, &len, &err);
	assert_non_null(text);
	wf_mem_heap()->free(wf_mem_heap(), text);
}

static void test_refused(void **state)
{
	struct wf_err err;
	size_t len = 0;

	(void)state;
	assert_null(get("gone", 100, &len, &err));
	assert_string_equal(err.text, "gone: cannot open it: No such file or directory");
	assert_int_equal(mkdir("folder", 0777), 0);
	assert_null(get("folder", 100, &len, &err));
	assert_string_equal(err.text, "folder: it is a directory; name a file in it");
	assert_int_equal(mkfifo("pipe", 0666), 0);
	assert_null(get("pipe", 100, &len, &err));
	assert_non_null(strstr(err.text, "pipe: it is not a regular file"));
	assert_null(get("/dev/null", 100, &len, &err));
	assert_non_null(strstr(err.text, "not a regular file"));
	put("big", "12345678", 8);
	assert_null(get("big", 7, &len, &err));
	assert_string_equal(err.text, "big: it has 8 bytes; at most 0 MiB are read");
	/* A file that claims to be empty and is not is read to its end. */
	if (access("/proc/self/status", R_OK) == 0) {
		char *text = get("/proc/self/status", 1 << 20, &len, &err);

		assert_non_null(text);
		assert_true(len > 100);
		wf_mem_heap()->free(wf_mem_heap(), text);
		assert_null(get("/proc/self/status", 100, &len, &err));
		assert_non_null(strstr(err.text, "more than"));
	}
}

static void test_beside(void **state)
{
	char path[WF_PATH_MAX], longest[WF_PATH_MAX + 10];

	(void)state;
	assert_int_equal(wf_file_beside("a/b.yaml", "c.txt", path), 0);
	assert_string_equal(path, "a/c.txt");
	assert_int_equal(wf_file_beside("b.yaml", "c/d.txt", path), 0);
	assert_string_equal(path, "c/d.txt");
	assert_int_equal(wf_file_beside("/x/b.yaml", "/y/d.txt", path), 0);
	assert_string_equal(path, "/y/d.txt");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(wf_file_beside("a/b", longest, path), -ENAMETOOLONG);
}

static void test_write(void **state)
{
	struct wf_out out;
	struct wf_err err = { "" };
	struct stat st;
	size_t len = 0;
	char *text;

	(void)state;
	put("r", "old", 3);
	assert_int_equal(wf_out_open(&out, "r", &err), 0);
	fputs("new text", out.file);
	text = get("r", 100, &len, &err);
	assert_string_equal(text, "old"); /* until it is complete */
	wf_mem_heap()->free(wf_mem_heap(), text);
	assert_int_equal(wf_out_commit(&out, &err), 0);
	wf_out_abort(&out);
	text = get("r", 100, &len, &err);
	assert_string_equal(text, "new text");
	wf_mem_heap()->free(wf_mem_heap(), text);

	assert_int_equal(wf_out_open(&out, "q", &err), 0);
	fputs("half", out.file);
	assert_int_equal(stat(out.temp, &st), 0);
	wf_out_abort(&out);
	assert_false(wf_file_exists("q"));
	assert_int_equal(rmdir("nothing"), -1);

	assert_int_equal(wf_out_open(&out, "no/where", &err), -EINVAL);
	assert_string_equal(err.text, "no/where: cannot write it: No such file or directory");
	memset(&err, 0, sizeof(err));
	assert_int_equal(wf_out_open(&out, "", &err), -EINVAL);
	assert_string_equal(err.text, "\"\": cannot write it: No such file or directory");
	memset(&err, 0, sizeof(err));
	assert_int_equal(mkdir("folder", 0777), 0);
	assert_int_equal(wf_out_open(&out, "folder", &err), -EINVAL);
	assert_non_null(strstr(err.text, "folder: cannot write it: "));
	assert_int_equal(rmdir("folder"), 0);
	/* It was a place to write to at first, and is one no more at the end. */
	assert_int_equal(wf_out_open(&out, "folder", &err), 0);
	assert_int_equal(mkdir("folder", 0777), 0);
	assert_int_equal(wf_out_commit(&out, &err), -EIO);
	assert_int_equal(rmdir("folder"), 0);
	assert_int_equal(wf_file_refused("x", ENOSPC, &err), -EIO);
}

static void test_same(void **state)
{
	(void)state;
	put("r", "old", 3);
	put("s", "old", 3);
	assert_int_equal(symlink("r", "link"), 0);
	assert_true(wf_file_is_same("r", "r"));
	assert_true(wf_file_is_same("r", "./r"));
	assert_true(wf_file_is_same("link", "r"));
	assert_false(wf_file_is_same("r", "s"));
	assert_false(wf_file_is_same("r", "nothing"));
	assert_false(wf_file_is_same("nothing", "nothing"));
}

/* Nothing but r is left: no temporary file. */
static void test_no_leftovers(void **state)
{
	(void)state;
	test_write(state);
	assert_int_equal(system("test \"$(ls | tr '\\n' ' ')\" = 'r '"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_beside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_write, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_leftovers, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
