/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oom.h - for tests whose mark `ctest:` has the word oom: what gives memory, descriptors and
 * threads fails when the test says so. The linker puts these functions in place of the C library's
 * (cmake/tests.cmake lists them), in the test and in weft, not in other libraries.
 *
 *	oom_arm(OOM_ONE, n);    the call after n others fails; OOM_ALL: and all behind it
 *	oom_begin(); … oom_end();   between these, and only in this thread and those it starts
 *	oom_disarm()            whether any has failed: if not, n was all there are
 */
#ifndef WF_TESTS_OOM_H
#define WF_TESTS_OOM_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/types.h>

enum oom_how { OOM_ONE, OOM_ALL };

static struct {
	atomic_long left; /* calls that still succeed */
	atomic_long failed;
	enum oom_how how;
	atomic_bool armed;
} oom;

static _Thread_local bool oom_counts;

static inline void oom_begin(void)
{
	oom_counts = true;
}

static inline void oom_end(void)
{
	oom_counts = false;
}

static inline void oom_arm(enum oom_how how, long n)
{
	atomic_store(&oom.left, n);
	atomic_store(&oom.failed, 0);
	oom.how = how;
	oom.armed = true;
}

static inline bool oom_disarm(void)
{
	oom.armed = false;
	return atomic_load(&oom.failed) != 0;
}

/* Whether this call is one that fails; errno says why. */
static inline bool oom_fails(int error)
{
	long left;

	if (!oom_counts || !oom.armed)
		return false;
	left = atomic_fetch_sub(&oom.left, 1);
	if (left > 0 || (left < 0 && oom.how == OOM_ONE))
		return false;
	atomic_fetch_add(&oom.failed, 1);
	errno = error;
	return true;
}

#define OOM_WRAP(type, name, params, args, error, failure)                                         \
	type __real_##name params;                                                                 \
	type __wrap_##name params;                                                                 \
	type __wrap_##name params                                                                  \
	{                                                                                          \
		return oom_fails(error) ? failure : __real_##name args;                            \
	}

OOM_WRAP(void *, malloc, (size_t size), (size), ENOMEM, NULL)
OOM_WRAP(void *, calloc, (size_t n, size_t size), (n, size), ENOMEM, NULL)
OOM_WRAP(void *, realloc, (void *ptr, size_t size), (ptr, size), ENOMEM, NULL)
OOM_WRAP(void *, aligned_alloc, (size_t align, size_t size), (align, size), ENOMEM, NULL)
OOM_WRAP(void *, mmap, (void *at, size_t size, int prot, int flags, int fd, off_t offset),
         (at, size, prot, flags, fd, offset), ENOMEM, MAP_FAILED)
OOM_WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags), EMFILE, -1)
OOM_WRAP(int, ftruncate, (int fd, off_t size), (fd, size), ENOSPC, -1)
OOM_WRAP(int, timerfd_create, (int clock, int flags), (clock, flags), EMFILE, -1)
OOM_WRAP(int, eventfd, (unsigned value, int flags), (value, flags), EMFILE, -1)
OOM_WRAP(int, epoll_create1, (int flags), (flags), EMFILE, -1)
OOM_WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol), EMFILE, -1)
OOM_WRAP(int, socketpair, (int domain, int type, int protocol, int pair[2]),
         (domain, type, protocol, pair), EMFILE, -1)

int __real_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	if (op == EPOLL_CTL_ADD && oom_fails(ENOSPC))
		return -1;
	return __real_epoll_ctl(epoll, op, fd, event);
}

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...)
{
	va_list more;
	long arg;

	va_start(more, command);
	arg = va_arg(more, long);
	va_end(more);
	if (command == F_DUPFD_CLOEXEC && oom_fails(EMFILE))
		return -1;
	return __real_fcntl(fd, command, arg);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);

struct oom_thread {
	void *(*run)(void *);
	void *arg;
};

static inline void *oom_run(void *arg)
{
	struct oom_thread t = *(struct oom_thread *)arg;

	free(arg);
	oom_begin();
	return t.run(t.arg);
}

/* A thread that is started by one for which calls may fail is such a one as well. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg)
{
	struct oom_thread *t;
	int ret;

	if (!oom_counts)
		return __real_pthread_create(thread, attr, run, arg);
	if (oom_fails(EAGAIN))
		return EAGAIN;
	t = __real_malloc(sizeof(*t));
	*t = (struct oom_thread){ run, arg };
	ret = __real_pthread_create(thread, attr, oom_run, t);
	if (ret != 0)
		free(t);
	return ret;
}

#endif
