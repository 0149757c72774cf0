/* SPDX-License-Identifier: Apache-2.0 */
/* test_client.c - what a client believes of a daemon, and of who says to be one. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "live/client.h"
#include "live/sock.h"

#define NOBODY 65534

/* A file of size bytes that says it is a table of n hosts. */
static int table_file(uint32_t n_hosts, size_t size)
{
	struct wf_live_table t = { .version = WF_LIVE_VERSION, .n_hosts = n_hosts };
	int fd = memfd_create("table", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	if (size >= sizeof(t))
		assert_int_equal(pwrite(fd, &t, sizeof(t), 0), sizeof(t));
	return fd;
}

static void test_table(void **state)
{
	static const struct {
		uint32_t n_hosts;
		size_t size;
		int ret;
	} cases[] = {
		{ 1, sizeof(struct wf_live_table) + sizeof(struct wf_live_host), 0 },
		{ 2, sizeof(struct wf_live_table) + 2 * sizeof(struct wf_live_host), 0 },
		/* More hosts than there is memory for, or fewer. */
		{ 3, sizeof(struct wf_live_table) + 2 * sizeof(struct wf_live_host), -EPROTO },
		{ 1, sizeof(struct wf_live_table) + 2 * sizeof(struct wf_live_host), -EPROTO },
		{ UINT32_MAX, sizeof(struct wf_live_table) + 2 * sizeof(struct wf_live_host),
		  -EPROTO },
		{ 0, sizeof(struct wf_live_table), -EPROTO },
		{ 1, 16, -EPROTO },
		{ 1, 0, -EPROTO },
		{ WF_LIVE_MAX_HOSTS + 1,
		  sizeof(struct wf_live_table) +
		          (WF_LIVE_MAX_HOSTS + 1) * sizeof(struct wf_live_host),
		  -EPROTO },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(cases); i++) {
		const struct wf_live_table *t = NULL;
		int fd = table_file(cases[i].n_hosts, cases[i].size);

		assert_int_equal(wf_client_table(fd, &t), cases[i].ret);
		assert_int_equal(close(fd), -1); /* it was closed */
		if (cases[i].ret == 0)
			assert_int_equal(t->n_hosts, cases[i].n_hosts);
		wf_client_free_table(t);
	}
	assert_int_equal(wf_client_table(-1, &(const struct wf_live_table *){ NULL }), -EPROTO);
}

/* Names end within their place, and versions agree. */
static void test_table_contents(void **state)
{
	const struct wf_live_table *t = NULL;
	size_t size = wf_live_table_bytes(2);
	uint32_t version = WF_LIVE_VERSION + 1;
	char name[WF_LIVE_NAME];
	int fd;

	(void)state;
	fd = table_file(2, size);
	assert_int_equal(pwrite(fd, &version, sizeof(version), 0), sizeof(version));
	assert_int_equal(wf_client_table(fd, &t), -EPROTO);
	memset(name, 'x', sizeof(name));
	fd = table_file(2, size);
	assert_int_equal(
		pwrite(fd, name, sizeof(name), (off_t)offsetof(struct wf_live_table, host[1].name)),
		sizeof(name));
	assert_int_equal(wf_client_table(fd, &t), -EPROTO);
	fd = table_file(2, size);
	assert_int_equal(
		pwrite(fd, name, sizeof(name), (off_t)offsetof(struct wf_live_table, fabric)),
		sizeof(name));
	assert_int_equal(wf_client_table(fd, &t), -EPROTO);
	assert_null(t);
}

/* What comes back when the other end says this, with so many descriptors, and closes. */
static int answered(const void *msg, size_t size, unsigned n_fds, struct wf_live_reply *reply)
{
	struct wf_live_req req = { .op = WF_LIVE_STATUS };
	int pair[2], fds[WF_LIVE_MAX_FDS], give[WF_LIVE_MAX_FDS] = { 0, 1, 2, 0 };
	int ret;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	if (size != 0)
		assert_int_equal(wf_sock_send(pair[1], msg, size, give, n_fds, true), 0);
	assert_int_equal(wf_sock_send(pair[0], &req, wf_live_req_bytes(&req), NULL, 0, true), 0);
	close(pair[1]); /* with a question that it has not read: the connection is reset */
	ret = wf_client_ask(pair[0], &req, reply, fds, WF_CLIENT_PATIENCE);
	assert_int_equal(req.version, WF_LIVE_VERSION);
	for (unsigned i = 0; i < WF_LIVE_MAX_FDS; i++) {
		assert_int_equal(fds[i] >= 0, i < reply->n_fds);
		if (fds[i] >= 0)
			assert_int_equal(close(fds[i]), 0);
	}
	close(pair[0]);
	return ret;
}

static void test_answers(void **state)
{
	struct wf_live_reply say = { .error = 0 }, reply;

	(void)state;
	assert_int_equal(answered(&say, WF_LIVE_REPLY_SHORT, 0, &reply), 0);
	say.n_fds = 2;
	assert_int_equal(answered(&say, WF_LIVE_REPLY_SHORT, 2, &reply), 0);
	assert_int_equal(reply.n_fds, 2);
	/* Not as many as it says, or none that anybody could mean. */
	assert_int_equal(answered(&say, WF_LIVE_REPLY_SHORT, 1, &reply), -EPROTO);
	assert_int_equal(reply.n_fds, 0);
	assert_int_equal(answered(&say, WF_LIVE_REPLY_SHORT, 3, &reply), -EPROTO);
	say.n_fds = UINT32_MAX;
	assert_int_equal(answered(&say, WF_LIVE_REPLY_SHORT, 0, &reply), -EPROTO);
	assert_int_equal(answered(&say, 4, 0, &reply), -EPROTO);
	assert_int_equal(answered(&say, sizeof(say), 0, &reply), -EPROTO);
	say.n_fds = 1;
	say.error = -EINVAL;
	assert_int_equal(answered(&say, WF_LIVE_REPLY_SHORT, 1, &reply), -EPROTO);
	assert_int_equal(reply.error, 0);
	/* Who is refused hears why, although the connection has ended. */
	say.n_fds = 0;
	say.error = -EPERM;
	assert_int_equal(answered(&say, WF_LIVE_REPLY_SHORT, 0, &reply), -EPERM);
	assert_int_equal(reply.error, -EPERM);
	assert_int_equal(answered(NULL, 0, 0, &reply), -ECONNRESET);
}

/* A folder that everybody may enter, with a place for a socket. */
static void make_place(char dir[32], char path[64])
{
	strcpy(dir, "/tmp/weft-test.XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0777), 0);
	snprintf(path, 64, "%s/s", dir);
}

static void remove_place(const char *dir, const char *path)
{
	(void)unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

static int listen_at(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(addr.sun_path, path, strlen(path));
	if (sock < 0 || bind(sock, (struct sockaddr *)&addr, sizeof(addr)) != 0 ||
	    chmod(path, 0666) != 0 || listen(sock, 4) != 0)
		return -1;
	return sock;
}

/* A child of that user that listens at path, and stays. */
static pid_t spawn_listener(const char *path, uid_t uid)
{
	int ready[2];
	char c = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (uid != getuid() && setuid(uid) != 0)
			_exit(1);
		if (listen_at(path) < 0 || write(ready[1], &c, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_child(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_connect(void **state)
{
	char dir[32], path[64];
	pid_t pid;
	int sock;

	(void)state;
	make_place(dir, path);
	assert_int_equal(wf_client_connect(path, 1000), -ENOENT);
	pid = spawn_listener(path, getuid());
	sock = wf_client_connect(path, 1000);
	assert_true(sock >= 0);
	close(sock);
	end_child(pid);
	assert_int_equal(wf_client_connect(path, 1000), -ECONNREFUSED);
	remove_place(dir, path);
}

/* A daemon of another user is not believed. */
static void test_whose(void **state)
{
	struct wf_live_req req = { .op = WF_LIVE_STATUS };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	char dir[32], path[64];
	pid_t pid;

	(void)state;
	if (getuid() != 0)
		skip(); /* there is nobody else whom we could be */
	make_place(dir, path);
	pid = spawn_listener(path, NOBODY);
	assert_int_equal(wf_client_ask_at(path, &req, &reply, fds, 1000), -EPERM);
	end_child(pid);
	remove_place(dir, path);
}

/* Those who wait for a process that is stopped are told. */
static void test_stopped(void **state)
{
	struct wf_live_req req = { .op = WF_LIVE_STATUS };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	char dir[32], path[64];
	int how;
	pid_t pid;

	(void)state;
	make_place(dir, path);
	pid = spawn_listener(path, getuid());
	assert_false(wf_client_is_stopped(pid));
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &how, WUNTRACED), pid);
	assert_true(WIFSTOPPED(how));
	assert_true(wf_client_is_stopped(pid));
	assert_int_equal(wf_client_ask_at(path, &req, &reply, fds, WF_CLIENT_PATIENCE), -ETIMEDOUT);
	assert_int_equal(reply.error, 0);
	end_child(pid);
	assert_false(wf_client_is_stopped(pid));
	remove_place(dir, path);
}

/* The folder of sockets is this user's alone, for those who only look, too. */
static void test_folder(void **state)
{
	char dir[32], path[64], found[128];

	(void)state;
	make_place(dir, path);
	assert_int_equal(setenv("WEFT_RUNTIME_DIR", dir, 1), 0);
	assert_int_equal(wf_sock_path("x", false, found, sizeof(found)), -EACCES);
	assert_int_equal(chmod(dir, 0700), 0);
	assert_int_equal(wf_sock_path("x", false, found, sizeof(found)), 0);
	assert_string_equal(found + strlen(dir), "/x.sock");
	if (getuid() == 0) {
		assert_int_equal(chown(dir, NOBODY, NOBODY), 0);
		assert_int_equal(wf_sock_path("x", false, found, sizeof(found)), -EACCES);
		assert_int_equal(wf_sock_path("x", true, found, sizeof(found)), -EACCES);
	}
	assert_int_equal(rmdir(dir), 0);
	/* Where there is none, there is no fabric, and that is all. */
	assert_int_equal(wf_sock_path("x", false, found, sizeof(found)), 0);
	assert_int_equal(symlink("/", dir), 0);
	assert_int_equal(wf_sock_path("x", false, found, sizeof(found)), -EACCES);
	assert_int_equal(unlink(dir), 0);
	assert_int_equal(unsetenv("WEFT_RUNTIME_DIR"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),   cmocka_unit_test(test_table_contents),
		cmocka_unit_test(test_answers), cmocka_unit_test(test_connect),
		cmocka_unit_test(test_whose),   cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
