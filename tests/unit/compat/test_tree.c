/* SPDX-License-Identifier: Apache-2.0 */
/* test_tree.c - which paths lead into the tree of an RDMA device, whatever programs pass as one. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "compat/files/tree.h"

static bool is_device(const char *path)
{
	unsigned major = 0, minor = 0;
	bool is = wx_is_device(path, &major, &minor);

	assert_int_equal(major, is ? 231 : 0);
	assert_int_equal(minor, is ? 192 : 0);
	return is;
}

static void test_translate(void **state)
{
	static const struct {
		const char *path;
		bool ours;
	} cases[] = {
		{ "/sys/class/infiniband", true },
		{ "/sys/class/infiniband/weft0/ports/1/state", true },
		{ "/sys/class/infiniband_verbs/uverbs0", true },
		{ "/sys/class/infiniband_mad", true },
		{ "/sys/class/infinibandx", false },
		{ "/sys/class/net/lo", false },
		{ "/dev/infiniband", true },
		{ "/dev/infiniband/uverbs0", true },
		{ "/dev/infinibandit", false },
		{ "/dev/null", false },
		{ "/device", false },
		{ "/s", false },
		{ "/", false },
		{ "", false },
		{ "sys/class/infiniband", false },
		{ "/etc/passwd", false },
	};
	char buf[WX_PATH_MAX], expected[WX_PATH_MAX];

	(void)state;
	wx_tree_set("/run/tree");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(wx_translate(cases[i].path, buf), cases[i].ours);
		if (cases[i].ours) {
			strcpy(expected, "/run/tree");
			strcat(expected, cases[i].path);
			assert_string_equal(buf, expected);
		}
	}
	assert_true(is_device("/dev/infiniband/uverbs0"));
	assert_false(is_device("/dev/infiniband/uverbs01"));
	/* Without a tree, nothing is. */
	wx_tree_set(NULL);
	assert_false(wx_translate("/sys/class/infiniband", buf));
	assert_false(is_device("/dev/infiniband/uverbs0"));
	wx_tree_set("");
	assert_false(wx_translate("/sys/class/infiniband", buf));
}

static void test_long(void **state)
{
	char path[WX_PATH_MAX + 8], buf[WX_PATH_MAX], dir[WX_PATH_MAX + 8];

	(void)state;
	wx_tree_set("/t");
	memset(path, 'x', sizeof(path));
	memcpy(path, "/dev/infiniband/", 16);
	path[WX_PATH_MAX - 3] = '\0';
	assert_true(wx_translate(path, buf));
	assert_int_equal(strlen(buf), WX_PATH_MAX - 1);
	path[WX_PATH_MAX - 3] = 'x';
	path[WX_PATH_MAX - 2] = '\0';
	assert_false(wx_translate(path, buf));
	memset(dir, 'd', sizeof(dir));
	dir[WX_PATH_MAX] = '\0';
	wx_tree_set(dir);
	assert_false(wx_translate("/dev/infiniband", buf));
	wx_tree_set(NULL);
}

/* Pointers that lead nowhere, and strings that end where memory does. */
static void test_pointers(void **state)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char text[] = "/dev/infiniband/uverbs0";
	char buf[WX_PATH_MAX];

	(void)state;
	assert_true(page != MAP_FAILED);
	assert_int_equal(mprotect(page + 4096, 4096, PROT_NONE), 0);
	wx_tree_set("/t");
	assert_false(wx_is_candidate(NULL));
	assert_false(wx_is_candidate((const char *)1));
	assert_false(wx_is_candidate((const char *)-1));
	assert_false(wx_translate(page + 4096, buf));
	assert_false(wx_path_is(page + 4096, text));
	for (size_t cut = 0; cut <= sizeof(text); cut++) {
		char *at = page + 4096 - cut;

		/* Its first bytes, and then nothing; but all of it is with the last. */
		memcpy(at, text, cut < sizeof(text) ? cut : sizeof(text));
		assert_int_equal(wx_translate(at, buf), cut >= sizeof(text));
		assert_int_equal(wx_path_is(at, text), cut >= sizeof(text));
		errno = 0;
		if (cut < sizeof(text)) {
			assert_int_equal(open(at, O_RDONLY), -1);
			assert_int_equal(errno, EFAULT);
		}
	}
	wx_tree_set(NULL);
	errno = 3;
	assert_int_equal(wx_path_copy(page + 4096, buf, sizeof(buf)), -1);
	assert_int_equal(errno, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_translate),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
