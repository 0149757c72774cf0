/* SPDX-License-Identifier: Apache-2.0 */
/* test_claim.c - who may be the daemon at a path. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "live/claim.h"

static char dir[] = "/tmp/weft-test.XXXXXX", path[64], lock[80];

static int set_up(void **state)
{
	(void)state;
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(rmdir(dir), 0);
	return 0;
}

static void test_one_has_it(void **state)
{
	int claim = wf_claim_take(path);

	(void)state;
	assert_true(claim >= 0);
	assert_true(wf_claim_is_made(path));
	assert_int_equal(wf_claim_take(path), -EEXIST);
	assert_int_equal(wf_claim_clean(path), -EEXIST);
	wf_claim_end(path, claim);
	assert_false(wf_claim_is_made(path));
	claim = wf_claim_take(path);
	assert_true(claim >= 0);
	wf_claim_end(path, claim);
}

/* What a killed owner leaves is nobody's; a link that somebody put there is not followed. */
static void test_left(void **state)
{
	int status, fd;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		(void)!wf_claim_take(path);
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(wf_claim_is_made(path));
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600); /* its socket */
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(wf_claim_clean(path), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_false(wf_claim_is_made(path));
	assert_int_equal(wf_claim_clean(path), -ENOENT);
	assert_int_equal(symlink("/etc/passwd", lock), 0);
	assert_int_equal(wf_claim_take(path), -ELOOP);
	assert_int_equal(unlink(lock), 0);
}

#define ROUNDS 2000

/*
 * Takes it again and again; while one has it, a file that only its owner makes and removes is his.
 */
static void compete(const char *mark)
{
	for (int i = 0; i < ROUNDS; i++) {
		int claim = wf_claim_take(path), fd;

		if (claim == -EEXIST || claim == -EBUSY)
			continue;
		if (claim < 0)
			_exit(1);
		fd = open(mark, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0)
			_exit(2);
		close(fd);
		if (unlink(mark) != 0)
			_exit(3);
		wf_claim_end(path, claim);
	}
	_exit(0);
}

static void test_several_at_once(void **state)
{
	char mark[80];
	pid_t pid[4];
	int status;

	(void)state;
	snprintf(mark, sizeof(mark), "%s/mark", dir);
	for (int i = 0; i < 4; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			compete(mark);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	assert_false(wf_claim_is_made(path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_has_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_left, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_several_at_once, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
