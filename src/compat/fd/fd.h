/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.h - emulated descriptors: files that a program has opened and that are neither files nor
 * devices of the system.
 *
 * As in a kernel, a *file* is what one open() made, and descriptors refer to it: several after
 * dup() or SCM_RIGHTS. It goes with the last reference, and an operation that is under way in a
 * thread holds one, too.
 *
 *	open -> [referred to by descriptors and operations] -> the last goes -> release()
 *
 * A descriptor is the reading end of a pipe of the file's own, or of a socket. It can be read while
 * the file is signalled, so programs poll it with others; writing to it is an error wherever weft
 * does not see it (after exec(), in a process that got it in a message). A number is taken for a
 * file only while the pipe or socket behind it is the file's, so a plain file that got the number
 * is never touched, whichever way the number came to it. Nothing here takes a lock: it works in
 * signal handlers and after fork() as everywhere.
 *
 * In a child of fork(), files are its parent's: operations on them fail with EIO, and closing them
 * is nothing to the parent. A child of vfork() shares this memory but not the descriptors: nothing
 * that it does changes the table.
 */
#ifndef WF_COMPAT_FD_H
#define WF_COMPAT_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct wx_file;

/* What a kind of files does. All return -errno where they fail. */
struct wx_fd_ops {
	const char *name;
	unsigned major, minor; /* of the device, as fstat() tells */
	ssize_t (*read)(struct wx_file *f, void *buf, size_t n, bool nonblock);
	ssize_t (*write)(struct wx_file *f, const void *buf, size_t n, bool nonblock);
	int (*ioctl)(struct wx_file *f, unsigned long request, void *arg);
	/*
	 * The last reference is gone. owned: this process opened it; if not, it is a child that
	 * lets go of what it inherited. Called at most once in a process.
	 */
	void (*release)(void *priv, bool owned);
};

/*
 * Makes a file and a descriptor of it, flags as for open(). Sets *file_p, which is valid until
 * release(), before anybody can use the descriptor. Returns the descriptor or -errno.
 */
int wx_fd_open(const struct wx_fd_ops *ops, void *priv, int flags, struct wx_file **file_p);

/*
 * The same of a file whose descriptors are those of a socket, which it takes over in any case: they
 * can be read while the socket can, and that is not for wx_file_signal() and wx_file_clear().
 */
int wx_fd_open_socket(const struct wx_fd_ops *ops, void *priv, int sock, int flags,
                      struct wx_file **file_p);

/* The file behind a descriptor, with a reference to it; NULL: it is none of ours. */
struct wx_file *wx_fd_get(int fd);
void wx_fd_put(struct wx_file *f);
/* One reference more, of somebody who has one. */
void wx_file_hold(struct wx_file *f);

void *wx_file_priv(const struct wx_file *f);
const struct wx_fd_ops *wx_file_ops(const struct wx_file *f);
/* Whether this process opened it, and may use it. */
bool wx_file_owned(const struct wx_file *f);

/* From now on the descriptors can be read; and no longer. Not by two threads at a time. */
void wx_file_signal(struct wx_file *f);
void wx_file_clear(struct wx_file *f);
/* A descriptor of it that is weft's own, to read from where it is a socket. */
int wx_file_fd(const struct wx_file *f);
/*
 * Waits until it is signalled, or the socket can be read. A thread may be cancelled here, and
 * nowhere else in an operation: it must hold no lock, and own nothing but its reference. Returns 0
 * or -EINTR.
 */
int wx_file_wait(struct wx_file *f);

/*
 * What the C library's functions tell (compat/libc). wx_fd_any(): whether there are descriptors at
 * all; the others need not be called if not.
 */
bool wx_fd_any(void);
/* Before a descriptor is closed: whatever is there is taken out. The caller puts it. */
struct wx_file *wx_fd_take(int fd);
/* It was not closed after all. */
void wx_fd_untake(int fd, struct wx_file *f);
/* A descriptor has come by dup() or in a message: it may be of one of the files. */
void wx_fd_adopt(int fd);
/* Whether it is one of those that weft keeps for itself, which programs know nothing of. */
bool wx_fd_hidden(int fd);
/* Makes a descriptor one of those. Returns its number from now on, or -EMFILE, and it is closed. */
int wx_fd_hide(int fd);
/* Closes such a one; -1 is allowed. */
void wx_fd_close_hidden(int fd);
/* The first descriptor in [from, to] that is in the table or hidden; to + 1: none. */
unsigned wx_fd_next(unsigned from, unsigned to);
/* Whether this is a child of vfork(): memory and table are its parent's. */
bool wx_fd_borrowed(void);

#endif
