/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: tsan */
/*
 * test_fd.c - emulated descriptors: what they refer to, when a file goes, and that a number that is
 * somebody else's is never taken for one of ours. close(), dup() and the others are weft's here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "compat/fd/fd.h"

static atomic_int releases, opens;
static atomic_bool last_owned;

static ssize_t read_one(struct wx_file *f, void *buf, size_t n, bool nonblock)
{
	(void)f;
	if (nonblock)
		return -EAGAIN;
	memset(buf, 'r', n);
	return (ssize_t)n;
}

static ssize_t write_one(struct wx_file *f, const void *buf, size_t n, bool nonblock)
{
	(void)buf;
	(void)nonblock;
	assert_ptr_equal(wx_file_priv(f), &releases);
	return n > 100 ? -EMSGSIZE : (ssize_t)n;
}

static int ioctl_one(struct wx_file *f, unsigned long request, void *arg)
{
	(void)f;
	*(unsigned long *)arg = request;
	return 5;
}

static void release_one(void *priv, bool owned)
{
	assert_ptr_equal(priv, &releases);
	atomic_store(&last_owned, owned);
	atomic_fetch_add(&releases, 1);
	errno = EXDEV; /* what a file does when it goes is not for who closes it */
}

static const struct wx_fd_ops ops = {
	.name = "one",
	.major = 10,
	.minor = 99,
	.read = read_one,
	.write = write_one,
	.ioctl = ioctl_one,
	.release = release_one,
};

static int open_with(const struct wx_fd_ops *with, int flags)
{
	struct wx_file *f = NULL;
	int fd = wx_fd_open(with, &releases, flags, &f);

	assert_true(fd >= 0);
	assert_non_null(f);
	atomic_fetch_add(&opens, 1);
	return fd;
}

static int open_one(int flags)
{
	return open_with(&ops, flags);
}

static bool is_ours(int fd)
{
	struct wx_file *f = wx_fd_get(fd);

	if (f == NULL)
		return false;
	assert_ptr_equal(wx_file_ops(f), &ops);
	wx_fd_put(f);
	return true;
}

static int plain(void)
{
	int fd = memfd_create("plain", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Nothing is left of any test. */
static int check_end(void **state)
{
	(void)state;
	assert_int_equal(atomic_load(&releases), atomic_load(&opens));
	assert_false(wx_fd_any());
	for (int fd = 0; fd < 65536; fd++)
		assert_false(wx_fd_hidden(fd));
	return 0;
}

static void test_operations(void **state)
{
	int fd = open_one(O_CLOEXEC), other = open_one(O_NONBLOCK);
	struct iovec iov[3] = { { "ab", 2 }, { "", 0 }, { "cde", 3 } };
	unsigned long told = 0;
	char text[128] = "";
	struct stat st;

	(void)state;
	assert_int_equal(read(fd, text, 3), 3);
	assert_string_equal(text, "rrr");
	assert_int_equal(read(other, text, 3), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(write(fd, text, 7), 7);
	assert_int_equal(write(fd, text, 101), -1);
	assert_int_equal(errno, EMSGSIZE);
	assert_int_equal(writev(fd, iov, 3), 5);
	assert_int_equal(ioctl(fd, 1234, &told), 5);
	assert_int_equal(told, 1234);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(other, F_GETFD), 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(other), 0);
	assert_int_equal(close(fd), -1);
	assert_int_equal(errno, EBADF);
}

/* A program that tries all numbers finds weft's own, and they stay weft's own. */
static void test_same_number(void **state)
{
	int before = atomic_load(&releases), fd = open_one(0);

	(void)state;
	for (int i = 3; i < 1024; i++) {
		int ret = dup2(i, i);

		assert_true(ret == i || (ret == -1 && errno == EBADF));
		assert_true(!wx_fd_hidden(i) || !is_ours(i));
	}
	assert_true(is_ours(fd));
	assert_int_equal(close(fd), 0);
	assert_int_equal(atomic_load(&releases), before + 1);
}

static void test_references(void **state)
{
	int before = atomic_load(&releases), fd = open_one(0), copy = dup(fd);
	struct wx_file *f = wx_fd_get(fd);

	(void)state;
	assert_non_null(f);
	assert_true(is_ours(copy));
	assert_int_equal(close(fd), 0);
	assert_false(is_ours(fd));
	assert_true(is_ours(copy));
	assert_int_equal(dup2(copy, fd), fd);
	assert_int_equal(close(copy), 0);
	assert_true(is_ours(fd));
	assert_int_equal(close(fd), 0);
	/* An operation is under way. */
	assert_int_equal(atomic_load(&releases), before);
	wx_file_signal(f);
	wx_fd_put(f);
	assert_int_equal(atomic_load(&releases), before + 1);
	assert_true(atomic_load(&last_owned));
}

static void test_identity(void **state)
{
	int fd = open_one(0), file = plain(), before = atomic_load(&releases);

	(void)state;
	/* Behind our back. */
	assert_int_equal(syscall(SYS_dup3, file, fd, O_CLOEXEC), fd);
	assert_false(is_ours(fd));
	assert_int_equal(atomic_load(&releases), before + 1);
	assert_int_equal(write(fd, "plain", 5), 5);
	assert_int_equal(lseek(file, 0, SEEK_END), 5);
	assert_int_equal(close(fd), 0);
	/* A number that was closed so, and is a file again before anybody looked. */
	fd = open_one(0);
	assert_int_equal(syscall(SYS_close, fd), 0);
	assert_int_equal(open_one(0), fd);
	assert_true(is_ours(fd));
	assert_int_equal(atomic_load(&releases), before + 2);
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(file), 0);
}

static void test_overwrite(void **state)
{
	int fd = open_one(0), file = plain(), before = atomic_load(&releases);

	(void)state;
	assert_int_equal(dup2(60000, fd), -1);
	assert_true(is_ours(fd));
	assert_int_equal(dup2(fd, fd), fd);
	assert_true(is_ours(fd));
	assert_int_equal(dup3(file, fd, O_CLOEXEC), fd);
	assert_int_equal(atomic_load(&releases), before + 1);
	assert_false(is_ours(fd));
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(file), 0);
}

static int hidden_one(void)
{
	for (int fd = 0; fd < 65536; fd++) {
		if (wx_fd_hidden(fd))
			return fd;
	}
	return -1;
}

static void test_hidden(void **state)
{
	int fd = open_one(0), own = hidden_one();
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };
	struct wx_file *f = wx_fd_get(fd);

	(void)state;
	assert_true(own >= 0 && own != fd);
	assert_int_equal(close(own), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(dup2(fd, own), -1);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(close_range((unsigned)fd + 1, ~0U, 0), 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	wx_file_signal(f);
	wx_file_signal(f);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(p.revents, POLLIN);
	assert_int_equal(wx_file_wait(f), 0);
	wx_file_clear(f);
	assert_int_equal(poll(&p, 1, 0), 0);
	wx_file_clear(f);
	wx_fd_put(f);
	assert_int_equal(close_range((unsigned)fd, ~0U, 0), 0);
	assert_false(wx_fd_hidden(own));
	assert_int_equal(fcntl(own, F_GETFD), -1);
}

/* As test_hidden() has it of close_range(). */
static void test_closefrom(void **state)
{
	int before = atomic_load(&releases), fd = open_one(0), own = hidden_one();

	(void)state;
	closefrom(fd + 1);
	assert_true(is_ours(fd));
	assert_int_equal(fcntl(own, F_GETFD), FD_CLOEXEC);
	assert_int_equal(atomic_load(&releases), before);
	closefrom(fd);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(atomic_load(&releases), before + 1);
	assert_false(wx_fd_hidden(own));
}

/* A descriptor that comes in a message, alone or with others. */
static void test_messages(void **state)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = "" };
	char byte = 'x';
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
		              .msg_iovlen = 1,
		              .msg_control = &control,
		              .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int fd = open_one(0), before = atomic_load(&releases), sock[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock), 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	for (int i = 0; i < 2; i++) {
		struct mmsghdr list = { .msg_hdr = msg };
		int came;

		memcpy(CMSG_DATA(c), &fd, sizeof(int));
		assert_int_equal(sendmsg(sock[0], &msg, 0), 1);
		memset(CMSG_DATA(c), 0xff, sizeof(int));
		if (i == 0)
			assert_int_equal(recvmsg(sock[1], &msg, MSG_CMSG_CLOEXEC), 1);
		else
			assert_int_equal(recvmmsg(sock[1], &list, 1, MSG_CMSG_CLOEXEC, NULL), 1);
		memcpy(&came, CMSG_DATA(c), sizeof(int));
		assert_true(came >= 0 && came != fd && is_ours(came));
		assert_int_equal(close(fd), 0);
		fd = came;
	}
	assert_int_equal(close(fd), 0);
	assert_int_equal(atomic_load(&releases), before + 1);
	assert_int_equal(close(sock[0]), 0);
	assert_int_equal(close(sock[1]), 0);
}

/* Calls that succeed leave errno as it was, whatever is done for them. */
static void test_errno(void **state)
{
	int fd = open_one(0), file = plain();
	struct wx_file *f = wx_fd_get(fd);

	(void)state;
	errno = 7;
	assert_int_equal(write(fd, "", 1), 1);
	assert_int_equal(errno, 7);
	/* More signals than the pipe has room for. */
	for (int i = 0; i < 70000; i++)
		wx_file_signal(f);
	wx_file_clear(f);
	assert_int_equal(errno, 7);
	wx_fd_put(f);
	assert_int_equal(close(fd), 0);
	assert_int_equal(errno, 7);
	/* A number whose file has gone behind our back, and then is another's. */
	fd = open_one(0);
	assert_int_equal(syscall(SYS_close, fd), 0);
	assert_null(wx_fd_get(fd));
	assert_int_equal(errno, 7);
	fd = open_one(0);
	assert_int_equal(dup2(file, fd), fd);
	assert_int_equal(errno, 7);
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(file), 0);
}

static atomic_int n_in; /* threads that are in an operation */

static ssize_t read_waits(struct wx_file *f, void *buf, size_t n, bool nonblock)
{
	(void)buf;
	(void)nonblock;
	atomic_fetch_add(&n_in, 1);
	return wx_file_wait(f) == 0 ? (ssize_t)n : -EINTR;
}

/* It holds what nobody else could let go of, while it calls what may be a point of cancellation. */
static ssize_t write_tests(struct wx_file *f, const void *buf, size_t n, bool nonblock)
{
	(void)f;
	(void)buf;
	(void)nonblock;
	pthread_testcancel();
	return (ssize_t)n;
}

static const struct wx_fd_ops slow_ops = {
	.name = "slow",
	.read = read_waits,
	.write = write_tests,
	.ioctl = ioctl_one,
	.release = release_one,
};

static void *wait_for_it(void *arg)
{
	char c;

	(void)read(*(const int *)arg, &c, 1);
	return NULL;
}

static void *cancel_self(void *arg)
{
	int fd = *(int *)arg;

	*(int *)arg = -1;
	(void)pthread_cancel(pthread_self());
	*(int *)arg = (int)write(fd, "abc", 3);
	pthread_testcancel();
	return NULL;
}

/* A thread is cancelled where it waits, and nowhere else; what it had is let go of. */
static void test_cancel(void **state)
{
	int before = atomic_load(&releases), fd = open_with(&slow_ops, 0), arg = fd;
	struct timespec until;
	void *how = NULL;
	pthread_t t;

	(void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	assert_int_equal(close(fd), 0);
	skip(); /* they have their own way with threads that end so */
#endif
	assert_int_equal(pthread_create(&t, NULL, cancel_self, &arg), 0);
	assert_int_equal(pthread_join(t, &how), 0);
	assert_ptr_equal(how, PTHREAD_CANCELED);
	assert_int_equal(arg, 3);
	atomic_store(&n_in, 0);
	assert_int_equal(pthread_create(&t, NULL, wait_for_it, &fd), 0);
	while (atomic_load(&n_in) == 0)
		(void)sched_yield();
	assert_int_equal(pthread_cancel(t), 0);
	assert_int_equal(clock_gettime(CLOCK_REALTIME, &until), 0);
	until.tv_sec += 120;
	assert_int_equal(pthread_timedjoin_np(t, &how, &until), 0);
	assert_ptr_equal(how, PTHREAD_CANCELED);
	assert_int_equal(close(fd), 0);
	assert_int_equal(atomic_load(&releases), before + 1);
}

/* What a child of vfork() does, with its parent's memory. Returns whether all of it went. */
static bool meddle(int fd, int copy, int file)
{
	struct wx_file *f;

	/* The thread sanitizer makes a fork() of it: then it may open what it likes. */
	return dup2(file, fd) == fd && write(fd, "x", 1) == 1 && dup3(file, copy, 0) == copy &&
	       write(copy, "x", 1) == 1 &&
	       (!wx_fd_borrowed() || wx_fd_open(&ops, &releases, 0, &f) == -EAGAIN);
}

static void test_children(void **state)
{
	int fd = open_one(0), copy = dup(fd), file = plain();
	int before = atomic_load(&releases), status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		bool right = write(fd, "", 1) == -1 && errno == EIO && close(fd) == 0 &&
		             close(copy) == 0 && atomic_load(&releases) == before + 1 &&
		             !atomic_load(&last_owned);

		_exit(right ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	pid = (pid_t)vfork();
	if (pid == 0) {
		(void)close(fd);
		(void)close_range(3, ~0U, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	pid = (pid_t)vfork();
	if (pid == 0)
		_exit(dup(copy) >= 0 && meddle(fd, copy, file) ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(atomic_load(&releases), before);
	assert_true(is_ours(fd) && is_ours(copy));
	assert_int_equal(close(copy), 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(atomic_load(&releases), before + 1);
	assert_int_equal(close(file), 0);
}

#define THREADS 4
#define ROUNDS 3000
#define NUMBERS 8
#define FIRST 300 /* numbers that nobody gets but by asking for them */

/* All threads open, use, copy and close the same few numbers, and put plain files over them. */
static void *disturb(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;
	int file = plain();

	for (int i = 0; i < ROUNDS; i++) {
		int at, fd;
		struct wx_file *f;

		seed = seed * 1103515245 + 12345;
		at = FIRST + (int)(seed >> 16) % NUMBERS;
		switch ((seed >> 8) % 5) {
		case 0:
			fd = open_one(0);
			(void)dup2(fd, at);
			(void)close(fd);
			break;
		case 1:
			(void)close(at);
			break;
		case 2:
			(void)dup2(file, at);
			break;
		case 3:
			f = wx_fd_get(at);
			if (f != NULL) {
				wx_file_signal(f);
				assert_ptr_equal(wx_file_priv(f), &releases);
				wx_fd_put(f);
			}
			break;
		default:
			(void)write(at, "abc", 3);
			break;
		}
	}
	assert_int_equal(close(file), 0);
	return NULL;
}

#ifdef __SANITIZE_THREAD__
/* That threads close each other's descriptors is what is tested: only of that nothing is said. */
const char *__tsan_default_suppressions(void) __attribute__((visibility("default")));
const char *__tsan_default_suppressions(void)
{
	return "race_top:sanitizer*interceptors\nrace_top:tsan_interceptors\n";
}
#endif

static void test_threads(void **state)
{
	pthread_t t[THREADS];

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, disturb, (void *)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
	for (int fd = FIRST; fd < FIRST + NUMBERS; fd++)
		(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_operations, check_end),
		cmocka_unit_test_teardown(test_same_number, check_end),
		cmocka_unit_test_teardown(test_references, check_end),
		cmocka_unit_test_teardown(test_identity, check_end),
		cmocka_unit_test_teardown(test_overwrite, check_end),
		cmocka_unit_test_teardown(test_hidden, check_end),
		cmocka_unit_test_teardown(test_closefrom, check_end),
		cmocka_unit_test_teardown(test_messages, check_end),
		cmocka_unit_test_teardown(test_errno, check_end),
		cmocka_unit_test_teardown(test_cancel, check_end),
		cmocka_unit_test_teardown(test_children, check_end),
		cmocka_unit_test_teardown(test_threads, check_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
