/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desc.c - the C library's functions that take a descriptor. Those of emulated files (compat/fd)
 * are looked after here; everything else goes on to the C library after a comparison.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/base.h"
#include "compat/fd/fd.h"
#include "compat/libc/libc.h"
#include "compat/libc/next.h"

/* Headers declare these for some programs and as macros for others, or not at all. */
int __fxstat(int version, int fd, struct stat *st);
int __fxstat64(int version, int fd, struct stat64 *st);
ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);

/* struct stat and struct stat64 are the same on the machines that weft runs on. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "64-bit files only");

static ssize_t fail(ssize_t ret)
{
	if (ret >= 0)
		return ret;
	errno = (int)-ret;
	return -1;
}

static bool is_nonblock(int fd)
{
	long flags = syscall(SYS_fcntl, fd, F_GETFL);

	return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

static void put(void *f)
{
	wx_fd_put(f);
}

/* One operation, which read() and write() are for the others. */
enum { OP_READ, OP_WRITE };

/*
 * Runs an operation on f and lets go of it. A thread is cancelled only where it waits for something
 * (wx_file_wait()), as in a system call that can be interrupted.
 */
static ssize_t operate(struct wx_file *f, int op, void *buf, size_t n, bool nonblock)
{
	const struct wx_fd_ops *ops = wx_file_ops(f);
	ssize_t ret = -EIO;
	int state;

	assert(ops->read != NULL && ops->write != NULL && (op == OP_READ || op == OP_WRITE));
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_cleanup_push(put, f);
	if (wx_file_owned(f))
		ret = op == OP_READ ? ops->read(f, buf, n, nonblock)
		                    : ops->write(f, buf, n, nonblock);
	pthread_cleanup_pop(1);
	(void)pthread_setcancelstate(state, NULL);
	return fail(ret);
}

/* The segments one after the other, until one is short. */
static ssize_t operate_all(struct wx_file *f, int op, const struct iovec *iov, int n, bool nonblock)
{
	ssize_t sum = 0;

	for (int i = 0; i < n; i++) {
		ssize_t ret;

		if (iov[i].iov_len == 0)
			continue;
		/* The next segment's reference: operate() lets go of one. */
		wx_file_hold(f);
		ret = operate(f, op, iov[i].iov_base, iov[i].iov_len, nonblock);
		if (ret < 0) {
			sum = sum != 0 ? sum : -1;
			break;
		}
		sum += ret;
		if ((size_t)ret < iov[i].iov_len)
			break;
	}
	wx_fd_put(f);
	return sum;
}

void wx_fd_stat(int fd, struct stat *st)
{
	struct wx_file *f = wx_fd_get(fd);

	if (wf_likely(f == NULL))
		return;
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = makedev(wx_file_ops(f)->major, wx_file_ops(f)->minor);
	st->st_nlink = 1;
	st->st_size = 0;
	wx_fd_put(f);
}

#define WRAP_FSTAT(name, params, ...)                                                              \
	int name params                                                                            \
	{                                                                                          \
		int ret = NEXT(name)(__VA_ARGS__);                                                 \
                                                                                                   \
		if (ret == 0 && wx_may_be_file(st->st_mode))                                       \
			wx_fd_stat(fd, (struct stat *)(void *)st);                                 \
		return ret;                                                                        \
	}

/* The headers' own names of parameters are not for us to use. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

WRAP_FSTAT(fstat, (int fd, struct stat *st), fd, st)
WRAP_FSTAT(fstat64, (int fd, struct stat64 *st), fd, st)
WRAP_FSTAT(__fxstat, (int version, int fd, struct stat *st), version, fd, st)
WRAP_FSTAT(__fxstat64, (int version, int fd, struct stat64 *st), version, fd, st)

ssize_t read(int fd, void *buf, size_t n)
{
	struct wx_file *f = wx_fd_get(fd);

	return wf_likely(f == NULL) ? NEXT(read)(fd, buf, n)
	                            : operate(f, OP_READ, buf, n, is_nonblock(fd));
}

ssize_t __read_chk(int fd, void *buf, size_t n, size_t room)
{
	struct wx_file *f = n <= room ? wx_fd_get(fd) : NULL;

	return wf_likely(f == NULL) ? NEXT(__read_chk)(fd, buf, n, room)
	                            : operate(f, OP_READ, buf, n, is_nonblock(fd));
}

ssize_t write(int fd, const void *buf, size_t n)
{
	struct wx_file *f = wx_fd_get(fd);

	return wf_likely(f == NULL)
	               ? NEXT(write)(fd, buf, n)
	               : operate(f, OP_WRITE, (void *)(uintptr_t)buf, n, is_nonblock(fd));
}

ssize_t readv(int fd, const struct iovec *iov, int n)
{
	struct wx_file *f = wx_fd_get(fd);

	return wf_likely(f == NULL) ? NEXT(readv)(fd, iov, n)
	                            : operate_all(f, OP_READ, iov, n, is_nonblock(fd));
}

ssize_t writev(int fd, const struct iovec *iov, int n)
{
	struct wx_file *f = wx_fd_get(fd);

	return wf_likely(f == NULL) ? NEXT(writev)(fd, iov, n)
	                            : operate_all(f, OP_WRITE, iov, n, is_nonblock(fd));
}

int ioctl(int fd, unsigned long request, ...)
{
	struct wx_file *f = wx_fd_get(fd);
	va_list args;
	int ret = -EIO;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	/* These are the descriptor's, whatever is behind it. */
	if (wf_likely(f == NULL) || request == FIOCLEX || request == FIONCLEX ||
	    request == FIONBIO) {
		if (f != NULL)
			wx_fd_put(f);
		return NEXT(ioctl)(fd, request, arg);
	}
	if (wx_file_owned(f))
		ret = wx_file_ops(f)->ioctl(f, request, arg);
	wx_fd_put(f);
	return (int)fail(ret);
}

int close(int fd)
{
	struct wx_file *f;

	if (wf_likely(!wx_fd_any()) || wx_fd_borrowed())
		return NEXT(close)(fd);
	if (wx_fd_hidden(fd))
		return (int)fail(-EBADF);
	/* What was there is gone before another thread can get the number. */
	f = wx_fd_take(fd);
	if (f != NULL)
		wx_fd_put(f);
	return NEXT(close)(fd);
}

/* Closes what lies between the descriptors of our own. */
int close_range(unsigned first, unsigned last, int flags)
{
	int ret = 0;

	if (wf_likely(!wx_fd_any()) || wx_fd_borrowed() || first > last ||
	    (flags & CLOSE_RANGE_CLOEXEC) != 0)
		return NEXT(close_range)(first, last, flags);
	while (ret == 0 && first <= last) {
		unsigned fd = wx_fd_next(first, last);

		if (fd > first)
			ret = NEXT(close_range)(first, fd - 1, flags);
		if (fd > last || fd < first)
			break;
		if (!wx_fd_hidden((int)fd))
			(void)close((int)fd);
		first = fd + 1;
	}
	return ret;
}

void closefrom(int first)
{
	if (wf_likely(!wx_fd_any()) || wx_fd_borrowed())
		NEXT(closefrom)(first);
	else
		(void)close_range(first > 0 ? (unsigned)first : 0, UINT_MAX, 0);
}

/* A descriptor has come, and if there are files it may be of one. */
static int came(int fd)
{
	if (fd >= 0 && wf_unlikely(wx_fd_any()))
		wx_fd_adopt(fd);
	return fd;
}

int dup(int fd)
{
	return came(NEXT(dup)(fd));
}

/* Before a descriptor becomes another's; *f_p is what was there. Returns 0 or -errno. */
static int overwrite(int from, int to, struct wx_file **f_p)
{
	*f_p = NULL;
	if (wf_likely(!wx_fd_any()) || from == to || wx_fd_borrowed())
		return 0;
	if (wx_fd_hidden(to))
		return -EBUSY;
	*f_p = wx_fd_take(to);
	return 0;
}

static int overwritten(int ret, int to, struct wx_file *f)
{
	if (f != NULL && ret < 0)
		wx_fd_untake(to, f);
	else if (f != NULL)
		wx_fd_put(f);
	return came(ret);
}

int dup2(int from, int to)
{
	struct wx_file *f;
	int ret = overwrite(from, to, &f);

	return ret != 0 ? (int)fail(ret) : overwritten(NEXT(dup2)(from, to), to, f);
}

int dup3(int from, int to, int flags)
{
	struct wx_file *f;
	int ret = overwrite(from, to, &f);

	return ret != 0 ? (int)fail(ret) : overwritten(NEXT(dup3)(from, to, flags), to, f);
}

#define FCNTL(name)                                                                                \
	int name(int fd, int cmd, ...)                                                             \
	{                                                                                          \
		va_list args;                                                                      \
		void *arg;                                                                         \
		int ret;                                                                           \
                                                                                                   \
		va_start(args, cmd);                                                               \
		arg = va_arg(args, void *);                                                        \
		va_end(args);                                                                      \
		ret = NEXT(name)(fd, cmd, arg);                                                    \
		return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? came(ret) : ret;                 \
	}

FCNTL(fcntl)
FCNTL(fcntl64)

/* Descriptors in a message; the C library has checked that the control data are what they say. */
static void message_came(const struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL;
	     c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)msg, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0;
		     c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			(void)came(fd);
		}
	}
}

ssize_t recvmsg(int sock, struct msghdr *msg, int flags)
{
	ssize_t ret = NEXT(recvmsg)(sock, msg, flags);

	if (ret >= 0 && wf_unlikely(wx_fd_any()))
		message_came(msg);
	return ret;
}

int recvmmsg(int sock, struct mmsghdr *list, unsigned n, int flags, struct timespec *timeout)
{
	int ret = NEXT(recvmmsg)(sock, list, n, flags, timeout);

	for (int i = 0; i < ret && wf_unlikely(wx_fd_any()); i++)
		message_came(&list[i].msg_hdr);
	return ret;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
