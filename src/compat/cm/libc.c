/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc.c - functions of the C library that look whether they are about /dev/infiniband/rdma_cm
 * first. Everything else goes on to the C library, after a comparison or two.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

#include "compat/cm/ucma_priv.h"

#define DEVICE "/dev/infiniband/rdma_cm"
#define MISC_MAJOR 10
#define MINOR 58 /* any of those that Linux gives out as it likes */

/* Headers declare these for some programs and as macros for others. */
int __fxstat(int version, int fd, struct stat *st);
int __fxstat64(int version, int fd, struct stat64 *st);

/*
 * The C library's own function. As a drop-in library this one may come after the C library, where
 * there is no next.
 */
static void *find_next(const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	return next != NULL ? next : dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), name);
}

/* It is looked up once, or by several threads at a time. */
#define NEXT(name)                                                                                 \
	({                                                                                         \
		static __typeof__(&(name)) next;                                                   \
		__typeof__(&(name)) found = __atomic_load_n(&next, __ATOMIC_RELAXED);              \
		if (found == NULL) {                                                               \
			found = (__typeof__(&(name)))(uintptr_t)find_next(#name);                  \
			__atomic_store_n(&next, found, __ATOMIC_RELAXED);                          \
		}                                                                                  \
		found;                                                                             \
	})

static int fail(int ret)
{
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

static bool has_mode(int flags)
{
	return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

#define MODE(flags, last)                                                                          \
	({                                                                                         \
		mode_t mode_ = 0;                                                                  \
		if (has_mode(flags)) {                                                             \
			va_list args_;                                                             \
			va_start(args_, last);                                                     \
			mode_ = va_arg(args_, mode_t);                                             \
			va_end(args_);                                                             \
		}                                                                                  \
		mode_;                                                                             \
	})

static bool is_device(const char *path)
{
	return path != NULL && path[0] == '/' && path[1] == 'd' && strcmp(path, DEVICE) == 0;
}

/* The headers' own names of parameters are not for us to use. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

int open(const char *path, int flags, ...)
{
	mode_t mode = MODE(flags, flags);

	return is_device(path) ? fail(wv_ucma_open(flags)) : NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	mode_t mode = MODE(flags, flags);

	return is_device(path) ? fail(wv_ucma_open(flags)) : NEXT(open64)(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = MODE(flags, flags);

	return is_device(path) ? fail(wv_ucma_open(flags)) : NEXT(openat)(dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode = MODE(flags, flags);

	return is_device(path) ? fail(wv_ucma_open(flags)) : NEXT(openat64)(dir, path, flags, mode);
}

/* struct stat and struct stat64 are the same on the machines that weft runs on. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "64-bit files only");

static int device_stat(struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = makedev(MISC_MAJOR, MINOR);
	st->st_nlink = 1;
	return 0;
}

int fstat(int fd, struct stat *buf)
{
	return wv_ucma_is(fd) ? device_stat(buf) : NEXT(fstat)(fd, buf);
}

int fstat64(int fd, struct stat64 *buf)
{
	return wv_ucma_is(fd) ? device_stat((struct stat *)(void *)buf) : NEXT(fstat64)(fd, buf);
}

int __fxstat(int version, int fd, struct stat *st)
{
	return wv_ucma_is(fd) ? device_stat(st) : NEXT(__fxstat)(version, fd, st);
}

int __fxstat64(int version, int fd, struct stat64 *st)
{
	return wv_ucma_is(fd) ? device_stat((struct stat *)(void *)st)
	                      : NEXT(__fxstat64)(version, fd, st);
}

ssize_t write(int fd, const void *buf, size_t n)
{
	return wv_ucma_is(fd) ? wv_ucma_write(fd, buf, n) : NEXT(write)(fd, buf, n);
}

int close(int fd)
{
	/* What was there is gone before another thread can get the number. */
	if (wv_ucma_is(fd))
		(void)wv_ucma_close(fd);
	return NEXT(close)(fd);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
