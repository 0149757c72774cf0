/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.c - the C library's functions that take a path, for programs that look at their RDMA device
 * below /sys and /dev: what they find there is the device of their host (live/sysfs.h).
 *
 * A path below one of a few folders becomes one in the host's tree, whose folder $WEFT_SYSFS names;
 * all else is left alone. Files that change while the fabric runs are asked of the daemon when they
 * are opened. Programs that a program runs inherit this with its environment.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/base.h"
#include "compat/fd/fd.h"
#include "compat/files/tree.h"
#include "compat/libc/libc.h"
#include "compat/libc/next.h"
#include "live/sysfs.h"

/* Those that the headers declare only for some ways of compiling. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
int __xstat(int version, const char *path, struct stat *st);
int __lxstat(int version, const char *path, struct stat *st);
int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags);
int __xstat64(int version, const char *path, struct stat64 *st);
int __lxstat64(int version, const char *path, struct stat64 *st);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *st, int flags);
ssize_t __readlink_chk(const char *path, char *to, size_t size, size_t room);
char *__realpath_chk(const char *path, char *to, size_t room);

/* Where the path leads: into the tree (its place in buf), or where it says. */
static const char *way(const char *path, char buf[WX_PATH_MAX])
{
	return wx_translate(path, buf) ? buf : path;
}

/* An emulated device, or a file that changes and is made anew: its descriptor, or -1 and errno. */
static bool open_ours(int dir, const char *path, int flags, int *fd_p)
{
	if (wx_device_open(path, flags, fd_p)) {
		if (*fd_p < 0) {
			errno = -*fd_p;
			*fd_p = -1;
		}
		return true;
	}
	*fd_p = wx_open_live(dir, path, flags);
	return *fd_p >= 0;
}

/* The headers' own names of parameters are not for us to use. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

/*
 * Functions whose first argument is the path, and those that have it after a folder's descriptor.
 */
#define WRAP(type, name, params, ...)                                                              \
	type name params                                                                           \
	{                                                                                          \
		char buf[WX_PATH_MAX];                                                             \
                                                                                                   \
		return NEXT(name)(way(path, buf), ##__VA_ARGS__);                                  \
	}

#define WRAP_AT(type, name, params, ...)                                                           \
	type name params                                                                           \
	{                                                                                          \
		char buf[WX_PATH_MAX];                                                             \
                                                                                                   \
		return NEXT(name)(dir, way(path, buf), ##__VA_ARGS__);                             \
	}

/* Those that open a file. */
#define OPEN(name, at, ...)                                                                        \
	char buf[WX_PATH_MAX];                                                                     \
	int fd;                                                                                    \
                                                                                                   \
	if (wf_unlikely(wx_is_candidate(path))) {                                                  \
		if (open_ours(at, path, flags, &fd))                                               \
			return fd;                                                                 \
		path = way(path, buf);                                                             \
	}                                                                                          \
	return NEXT(name)(__VA_ARGS__)

#define WRAP_OPEN(name, at, params, ...)                                                           \
	int name params                                                                            \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, flags);                                                             \
		if (__OPEN_NEEDS_MODE(flags))                                                      \
			mode = va_arg(args, mode_t);                                               \
		va_end(args);                                                                      \
		OPEN(name, at, __VA_ARGS__);                                                       \
	}

#define WRAP_OPEN_2(name, at, params, ...)                                                         \
	int name params                                                                            \
	{                                                                                          \
		OPEN(name, at, __VA_ARGS__);                                                       \
	}

#define WRAP_FOPEN(name)                                                                           \
	FILE *name(const char *path, const char *mode)                                             \
	{                                                                                          \
		char buf[WX_PATH_MAX];                                                             \
		int fd = -1;                                                                       \
                                                                                                   \
		if (wf_unlikely(wx_is_candidate(path)) && mode[0] == 'r')                          \
			fd = wx_open_live(AT_FDCWD, path, O_RDONLY);                               \
		return fd >= 0 ? fdopen(fd, mode) : NEXT(name)(way(path, buf), mode);              \
	}

/* Those that tell what a file is: one of /dev is a device, as is one that is open. */
#define WRAP_STAT(name, fd, params, ...)                                                           \
	int name params                                                                            \
	{                                                                                          \
		char buf[WX_PATH_MAX];                                                             \
		unsigned major_, minor_;                                                           \
		int ret = NEXT(name)(__VA_ARGS__);                                                 \
                                                                                                   \
		if (ret == 0 && S_ISREG(st->st_mode) && wx_is_device(path, &major_, &minor_)) {    \
			st->st_mode = S_IFCHR | 0666;                                              \
			st->st_rdev = makedev(major_, minor_);                                     \
		}                                                                                  \
		if (ret == 0 && wx_may_be_file(st->st_mode) && (fd) >= 0)                          \
			wx_fd_stat(fd, (struct stat *)(void *)st);                                 \
		return ret;                                                                        \
	}

/* The descriptor that a call is about, which has it in place of a path; -1: none. */
static int only_fd(int dir, const char *path, int flags)
{
	return (flags & AT_EMPTY_PATH) != 0 && (path == NULL || path[0] == '\0') ? dir : -1;
}

WRAP_OPEN(open, AT_FDCWD, (const char *path, int flags, ...), path, flags, mode)
WRAP_OPEN(open64, AT_FDCWD, (const char *path, int flags, ...), path, flags, mode)
WRAP_OPEN(openat, dir, (int dir, const char *path, int flags, ...), dir, path, flags, mode)
WRAP_OPEN(openat64, dir, (int dir, const char *path, int flags, ...), dir, path, flags, mode)
WRAP_OPEN_2(__open_2, AT_FDCWD, (const char *path, int flags), path, flags)
WRAP_OPEN_2(__open64_2, AT_FDCWD, (const char *path, int flags), path, flags)
WRAP_OPEN_2(__openat_2, dir, (int dir, const char *path, int flags), dir, path, flags)
WRAP_OPEN_2(__openat64_2, dir, (int dir, const char *path, int flags), dir, path, flags)
WRAP_FOPEN(fopen)
WRAP_FOPEN(fopen64)

WRAP_STAT(stat, -1, (const char *path, struct stat *st), way(path, buf), st)
WRAP_STAT(stat64, -1, (const char *path, struct stat64 *st), way(path, buf), st)
WRAP_STAT(lstat, -1, (const char *path, struct stat *st), way(path, buf), st)
WRAP_STAT(lstat64, -1, (const char *path, struct stat64 *st), way(path, buf), st)
WRAP_STAT(fstatat, only_fd(dir, path, flags),
          (int dir, const char *path, struct stat *st, int flags), dir, way(path, buf), st, flags)
WRAP_STAT(fstatat64, only_fd(dir, path, flags),
          (int dir, const char *path, struct stat64 *st, int flags), dir, way(path, buf), st, flags)
WRAP_STAT(__xstat, -1, (int v, const char *path, struct stat *st), v, way(path, buf), st)
WRAP_STAT(__xstat64, -1, (int v, const char *path, struct stat64 *st), v, way(path, buf), st)
WRAP_STAT(__lxstat, -1, (int v, const char *path, struct stat *st), v, way(path, buf), st)
WRAP_STAT(__lxstat64, -1, (int v, const char *path, struct stat64 *st), v, way(path, buf), st)
WRAP_STAT(__fxstatat, only_fd(dir, path, flags),
          (int v, int dir, const char *path, struct stat *st, int flags), v, dir, way(path, buf),
          st, flags)
WRAP_STAT(__fxstatat64, only_fd(dir, path, flags),
          (int v, int dir, const char *path, struct stat64 *st, int flags), v, dir, way(path, buf),
          st, flags)

int statx(int dir, const char *path, int flags, unsigned mask, struct statx *st)
{
	char buf[WX_PATH_MAX];
	int ret = NEXT(statx)(dir, way(path, buf), flags, mask, st);
	unsigned major_, minor_;
	struct wx_file *f;

	if (ret == 0 && S_ISREG(st->stx_mode) && wx_is_device(path, &major_, &minor_)) {
		st->stx_mode = S_IFCHR | 0666;
		st->stx_rdev_major = major_;
		st->stx_rdev_minor = minor_;
	}
	f = ret == 0 && wx_may_be_file(st->stx_mode) ? wx_fd_get(only_fd(dir, path, flags)) : NULL;
	if (f != NULL) {
		st->stx_mode = S_IFCHR | 0666;
		st->stx_rdev_major = wx_file_ops(f)->major;
		st->stx_rdev_minor = wx_file_ops(f)->minor;
		wx_fd_put(f);
	}
	return ret;
}

WRAP(int, access, (const char *path, int mode), mode)
WRAP(int, eaccess, (const char *path, int mode), mode)
WRAP(int, euidaccess, (const char *path, int mode), mode)
WRAP_AT(int, faccessat, (int dir, const char *path, int mode, int flags), mode, flags)
WRAP(int, chdir, (const char *path))
WRAP(DIR *, opendir, (const char *path))
WRAP(ssize_t, readlink, (const char *path, char *to, size_t size), to, size)
WRAP(ssize_t, __readlink_chk, (const char *path, char *to, size_t size, size_t room), to, size,
     room)
WRAP_AT(ssize_t, readlinkat, (int dir, const char *path, char *to, size_t size), to, size)
WRAP(char *, realpath, (const char *path, char *to), to)
WRAP(char *, __realpath_chk, (const char *path, char *to, size_t room), to, room)
WRAP(char *, canonicalize_file_name, (const char *path))
WRAP(int, scandir,
     (const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
      int (*compare)(const struct dirent **, const struct dirent **)),
     list, filter, compare)
WRAP(int, scandir64,
     (const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
      int (*compare)(const struct dirent64 **, const struct dirent64 **)),
     list, filter, compare)
WRAP(int, glob, (const char *path, int flags, int (*on_error)(const char *, int), glob_t *found),
     flags, on_error, found)
WRAP(int, glob64,
     (const char *path, int flags, int (*on_error)(const char *, int), glob64_t *found), flags,
     on_error, found)
WRAP(ssize_t, getxattr, (const char *path, const char *name, void *value, size_t size), name, value,
     size)
WRAP(ssize_t, lgetxattr, (const char *path, const char *name, void *value, size_t size), name,
     value, size)
WRAP(ssize_t, listxattr, (const char *path, char *list, size_t size), list, size)
WRAP(ssize_t, llistxattr, (const char *path, char *list, size_t size), list, size)

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
