/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc.h - what the functions of the C library that are ours share.
 *
 * They are there for every program under weft exec, so they do what the C library's own would do
 * in all but the few cases that are about RDMA: a bad pointer is EFAULT and not a crash, errno is
 * left alone, threads with small stacks do, and a call costs some nanoseconds more.
 */
#ifndef WF_COMPAT_LIBC_H
#define WF_COMPAT_LIBC_H

#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Whether what the system says of a descriptor leaves it open that it is an emulated file. */
static inline bool wx_may_be_file(mode_t mode)
{
	return S_ISFIFO(mode) || S_ISSOCK(mode);
}

/* If fd is an emulated file, says so in *st, which the C library has filled. */
void wx_fd_stat(int fd, struct stat *st);

/*
 * A device that is opened by its path: if path is one, sets *fd_p to a descriptor of it or -errno,
 * and returns true.
 */
bool wx_device_open(const char *path, int flags, int *fd_p);

/* The C library's own sigaction(). */
int wx_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

#endif
