/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - the C library's functions that take a path, for programs that look at their RDMA device
 * below /sys and /dev: what they find there is the device of their host (live/sysfs.h).
 *
 * A path below one of a few folders becomes one in the host's tree, whose folder $WEFT_SYSFS names;
 * all else is left alone. Files that change while the fabric runs are asked of the daemon when they
 * are opened. Programs that a program runs inherit this with its environment.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "compat/files/files_priv.h"
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

/* The function that would be called without us. */
#define NEXT(name) ((__typeof__(&(name)))next_of(#name))

static void *next_of(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (f == NULL)
		abort(); /* it was linked: somebody has it */
	return f;
}

/* Where the path leads: into the tree (its place in buf), or where it says. */
static const char *way(const char *path, char buf[PATH_MAX])
{
	return wx_translate(path, buf) ? buf : path;
}

/* The headers' own names of parameters are not for us to use. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

/*
 * Functions whose first argument is the path, and those that have it after a folder's descriptor.
 */
#define WRAP(type, name, params, ...)                                                              \
	type name params                                                                           \
	{                                                                                          \
		char buf[PATH_MAX];                                                                \
                                                                                                   \
		return NEXT(name)(way(path, buf), ##__VA_ARGS__);                                  \
	}

#define WRAP_AT(type, name, params, ...)                                                           \
	type name params                                                                           \
	{                                                                                          \
		char buf[PATH_MAX];                                                                \
                                                                                                   \
		return NEXT(name)(dir, way(path, buf), ##__VA_ARGS__);                             \
	}

/* Those that open a file: one that changes is made anew. */
#define WRAP_OPEN(name, at, params, ...)                                                           \
	int name params                                                                            \
	{                                                                                          \
		char buf[PATH_MAX];                                                                \
		mode_t mode = 0;                                                                   \
		va_list args;                                                                      \
		int fd;                                                                            \
                                                                                                   \
		va_start(args, flags);                                                             \
		if (__OPEN_NEEDS_MODE(flags))                                                      \
			mode = va_arg(args, mode_t);                                               \
		va_end(args);                                                                      \
		fd = wx_open_live(at, path, flags);                                                \
		return fd >= 0 ? fd : NEXT(name)(__VA_ARGS__);                                     \
	}

#define WRAP_OPEN_2(name, at, params, ...)                                                         \
	int name params                                                                            \
	{                                                                                          \
		char buf[PATH_MAX];                                                                \
		int fd = wx_open_live(at, path, flags);                                            \
                                                                                                   \
		return fd >= 0 ? fd : NEXT(name)(__VA_ARGS__);                                     \
	}

#define WRAP_FOPEN(name)                                                                           \
	FILE *name(const char *path, const char *mode)                                             \
	{                                                                                          \
		char buf[PATH_MAX];                                                                \
		int fd = mode[0] == 'r' ? wx_open_live(AT_FDCWD, path, O_RDONLY) : -1;             \
                                                                                                   \
		return fd >= 0 ? fdopen(fd, mode) : NEXT(name)(way(path, buf), mode);              \
	}

/* Those that tell what a file is: one of /dev is a device. */
#define WRAP_STAT(name, params, ...)                                                               \
	int name params                                                                            \
	{                                                                                          \
		char buf[PATH_MAX];                                                                \
		int ret = NEXT(name)(__VA_ARGS__);                                                 \
                                                                                                   \
		if (ret == 0 && wx_is_device(path) && S_ISREG(st->st_mode)) {                      \
			st->st_mode = S_IFCHR | 0666;                                              \
			st->st_rdev = makedev(WF_SYSFS_UVERBS_MAJOR, WF_SYSFS_UVERBS_MINOR);       \
		}                                                                                  \
		return ret;                                                                        \
	}

WRAP_OPEN(open, AT_FDCWD, (const char *path, int flags, ...), way(path, buf), flags, mode)
WRAP_OPEN(open64, AT_FDCWD, (const char *path, int flags, ...), way(path, buf), flags, mode)
WRAP_OPEN(openat, dir, (int dir, const char *path, int flags, ...), dir, way(path, buf), flags,
          mode)
WRAP_OPEN(openat64, dir, (int dir, const char *path, int flags, ...), dir, way(path, buf), flags,
          mode)
WRAP_OPEN_2(__open_2, AT_FDCWD, (const char *path, int flags), way(path, buf), flags)
WRAP_OPEN_2(__open64_2, AT_FDCWD, (const char *path, int flags), way(path, buf), flags)
WRAP_OPEN_2(__openat_2, dir, (int dir, const char *path, int flags), dir, way(path, buf), flags)
WRAP_OPEN_2(__openat64_2, dir, (int dir, const char *path, int flags), dir, way(path, buf), flags)
WRAP_FOPEN(fopen)
WRAP_FOPEN(fopen64)

WRAP_STAT(stat, (const char *path, struct stat *st), way(path, buf), st)
WRAP_STAT(stat64, (const char *path, struct stat64 *st), way(path, buf), st)
WRAP_STAT(lstat, (const char *path, struct stat *st), way(path, buf), st)
WRAP_STAT(lstat64, (const char *path, struct stat64 *st), way(path, buf), st)
WRAP_STAT(fstatat, (int dir, const char *path, struct stat *st, int flags), dir, way(path, buf), st,
          flags)
WRAP_STAT(fstatat64, (int dir, const char *path, struct stat64 *st, int flags), dir, way(path, buf),
          st, flags)
WRAP_STAT(__xstat, (int v, const char *path, struct stat *st), v, way(path, buf), st)
WRAP_STAT(__xstat64, (int v, const char *path, struct stat64 *st), v, way(path, buf), st)
WRAP_STAT(__lxstat, (int v, const char *path, struct stat *st), v, way(path, buf), st)
WRAP_STAT(__lxstat64, (int v, const char *path, struct stat64 *st), v, way(path, buf), st)
WRAP_STAT(__fxstatat, (int v, int dir, const char *path, struct stat *st, int flags), v, dir,
          way(path, buf), st, flags)
WRAP_STAT(__fxstatat64, (int v, int dir, const char *path, struct stat64 *st, int flags), v, dir,
          way(path, buf), st, flags)

int statx(int dir, const char *path, int flags, unsigned mask, struct statx *st)
{
	char buf[PATH_MAX];
	int ret = NEXT(statx)(dir, way(path, buf), flags, mask, st);

	if (ret == 0 && wx_is_device(path) && S_ISREG(st->stx_mode)) {
		st->stx_mode = S_IFCHR | 0666;
		st->stx_rdev_major = WF_SYSFS_UVERBS_MAJOR;
		st->stx_rdev_minor = WF_SYSFS_UVERBS_MINOR;
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
