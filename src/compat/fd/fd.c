/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.c - the table of emulated descriptors.
 *
 * Slots point to files; a slot counts as one reference. Files are never given back to the heap but
 * used again, so that a thread may look at one that it found in a slot, and has it once it could
 * add a reference and the slot is still the same:
 *
 *	free (0 references) -- wx_fd_open() --> used -- last reference --> release() --> free
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "compat/fd/fd.h"

#define MAX_FDS 65536
#define HIGH                                                                                       \
	512 /* where descriptors of our own go: out of the way of programs that count on low ones */

struct wx_file {
	struct wx_file *next; /* of all that ever were; set once */
	atomic_uint used;
	atomic_uint refs;
	/* What follows is set before the first reference and not changed while there is one. */
	const struct wx_fd_ops *ops;
	void *priv;
	pid_t pid; /* of the process that opened it */
	dev_t dev; /* of the pipe or socket */
	ino_t ino;
	/* The ends of it for ourselves, hidden from the program; both may be one number. */
	int own_rd, own_wr;
};

static _Atomic(struct wx_file *) slots[MAX_FDS];
static atomic_uint n_slots; /* that are not NULL */
static _Atomic(struct wx_file *) files;
static _Atomic(uint64_t) hidden[MAX_FDS / 64];
static pid_t owner; /* whose memory this is; a child of vfork() has another number */

static void after_fork(void)
{
	owner = getpid();
}

static void __attribute__((constructor)) begin(void)
{
	owner = getpid();
	(void)pthread_atfork(NULL, NULL, after_fork);
}

bool wx_fd_borrowed(void)
{
	return getpid() != owner;
}

bool wx_fd_any(void)
{
	return atomic_load_explicit(&n_slots, memory_order_relaxed) != 0;
}

static void set_hidden(int fd, bool is)
{
	uint64_t bit = UINT64_C(1) << (fd % 64);

	assert(fd >= 0 && fd < MAX_FDS);
	if (is)
		atomic_fetch_or(&hidden[fd / 64], bit);
	else
		atomic_fetch_and(&hidden[fd / 64], ~bit);
}

bool wx_fd_hidden(int fd)
{
	return fd >= 0 && fd < MAX_FDS &&
	       (atomic_load_explicit(&hidden[fd / 64], memory_order_relaxed) >> (fd % 64) & 1) != 0;
}

unsigned wx_fd_next(unsigned from, unsigned to)
{
	for (unsigned fd = from; fd <= to && fd < MAX_FDS; fd++) {
		if (atomic_load_explicit(&slots[fd], memory_order_relaxed) != NULL ||
		    wx_fd_hidden((int)fd))
			return fd;
	}
	return to + 1;
}

/* What is behind a descriptor: the system's word, not that of our own fstat(). */
static bool identify(int fd, dev_t *dev_p, ino_t *ino_p)
{
	int saved = errno;
	struct stat st;
	long ret = syscall(SYS_fstat, fd, &st);

	errno = saved;
	*dev_p = ret == 0 ? st.st_dev : 0;
	*ino_p = ret == 0 ? st.st_ino : 0;
	return ret == 0;
}

static bool is_behind(const struct wx_file *f, int fd)
{
	dev_t dev;
	ino_t ino;

	return identify(fd, &dev, &ino) && dev == f->dev && ino == f->ino;
}

static bool add_ref(struct wx_file *f)
{
	unsigned n = atomic_load_explicit(&f->refs, memory_order_relaxed);

	while (n != 0) {
		if (atomic_compare_exchange_weak_explicit(&f->refs, &n, n + 1, memory_order_acquire,
		                                          memory_order_relaxed))
			return true;
	}
	return false;
}

void wx_file_hold(struct wx_file *f)
{
	bool held = add_ref(f);

	assert(held);
	(void)held;
}

/* What holds of a file while somebody has a reference to it. */
static void assert_file(const struct wx_file *f)
{
	assert(atomic_load(&f->used) == 1 && atomic_load(&f->refs) > 0);
	assert(f->ops != NULL && f->ops->release != NULL);
	assert(f->own_rd >= 0 && f->own_rd < MAX_FDS && f->own_wr >= 0 && f->own_wr < MAX_FDS);
	assert(wx_fd_hidden(f->own_rd) && wx_fd_hidden(f->own_wr));
	(void)f;
}

static void close_own(struct wx_file *f)
{
	set_hidden(f->own_rd, false);
	set_hidden(f->own_wr, false);
	(void)syscall(SYS_close, f->own_rd);
	if (f->own_wr != f->own_rd)
		(void)syscall(SYS_close, f->own_wr);
	f->own_rd = f->own_wr = -1;
}

void wx_fd_put(struct wx_file *f)
{
	int saved = errno;
	unsigned before;

	assert_file(f);
	before = atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel);
	assert(before > 0);
	if (before != 1)
		return;
	f->ops->release(f->priv, wx_file_owned(f));
	close_own(f);
	atomic_store_explicit(&f->used, 0, memory_order_release);
	errno = saved;
}

/* Takes f out of the slot if it is there; the slot's reference goes to the caller. */
static bool leave(int fd, struct wx_file *f)
{
	unsigned n;

	if (!atomic_compare_exchange_strong(&slots[fd], &f, NULL))
		return false;
	n = atomic_fetch_sub(&n_slots, 1);
	assert(n > 0);
	(void)n;
	return true;
}

/* Puts f into the slot, which takes the caller's reference over. */
static void enter(int fd, struct wx_file *f)
{
	struct wx_file *old;

	assert(fd >= 0 && fd < MAX_FDS && !wx_fd_hidden(fd));
	assert_file(f);
	atomic_fetch_add(&n_slots, 1);
	old = atomic_exchange(&slots[fd], f);
	if (old != NULL) { /* of a descriptor that was closed behind our back */
		atomic_fetch_sub(&n_slots, 1);
		wx_fd_put(old);
	}
}

struct wx_file *wx_fd_get(int fd)
{
	struct wx_file *f;

	if (wf_likely(!wx_fd_any()) || fd < 0 || fd >= MAX_FDS)
		return NULL;
	for (;;) {
		f = atomic_load_explicit(&slots[fd], memory_order_acquire);
		if (f == NULL)
			return NULL;
		if (!add_ref(f))
			continue; /* the slot has changed: it would hold a reference */
		if (atomic_load(&slots[fd]) == f)
			break;
		wx_fd_put(f);
	}
	if (is_behind(f, fd))
		return f;
	/* The number is something else's now. */
	if (!wx_fd_borrowed() && leave(fd, f))
		wx_fd_put(f);
	wx_fd_put(f);
	return NULL;
}

struct wx_file *wx_fd_take(int fd)
{
	struct wx_file *f = wx_fd_get(fd);
	bool left;

	if (f == NULL)
		return NULL;
	assert(!wx_fd_borrowed());
	left = leave(fd, f);
	wx_fd_put(f);
	return left ? f : NULL;
}

void wx_fd_untake(int fd, struct wx_file *f)
{
	if (is_behind(f, fd))
		enter(fd, f);
	else
		wx_fd_put(f);
}

void wx_fd_adopt(int fd)
{
	dev_t dev;
	ino_t ino;

	/* Our own come here by dup2() of a number to itself; nobody could close them again. */
	if (fd < 0 || fd >= MAX_FDS || wx_fd_borrowed() || wx_fd_hidden(fd) ||
	    !identify(fd, &dev, &ino))
		return;
	for (struct wx_file *f = atomic_load(&files); f != NULL; f = f->next) {
		if (!add_ref(f))
			continue;
		if (f->dev == dev && f->ino == ino) {
			enter(fd, f);
			return;
		}
		wx_fd_put(f);
	}
}

void *wx_file_priv(const struct wx_file *f)
{
	return f->priv;
}

const struct wx_fd_ops *wx_file_ops(const struct wx_file *f)
{
	return f->ops;
}

bool wx_file_owned(const struct wx_file *f)
{
	return f->pid == getpid();
}

static struct wx_file *new_file(void)
{
	struct wx_file *f;

	for (f = atomic_load(&files); f != NULL; f = f->next) {
		unsigned unused = 0;

		if (atomic_compare_exchange_strong(&f->used, &unused, 1))
			return f;
	}
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		return NULL;
	atomic_store(&f->used, 1);
	f->next = atomic_load(&files);
	while (!atomic_compare_exchange_weak(&files, &f->next, f))
		;
	return f;
}

/*
 * Another descriptor of what fd is, out of the way, in place of fd itself; fd where there is none.
 */
static int move_up(int fd)
{
	int high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH);

	if (high < 0)
		return fd;
	if (high >= MAX_FDS) {
		(void)syscall(SYS_close, high);
		return fd;
	}
	(void)syscall(SYS_close, fd);
	return high;
}

/*
 * Makes the descriptors of our own for a pipe. One does for both ends, opened anew so that it never
 * blocks; where /proc is not to be had (the program has changed its user), there are two. Takes the
 * writing end over.
 */
static int open_own(struct wx_file *f, const int ends[2])
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		(void)syscall(SYS_close, ends[1]);
		f->own_rd = f->own_wr = move_up(fd);
	} else {
		fd = (int)syscall(SYS_fcntl, ends[0], F_DUPFD_CLOEXEC, 0);
		if (fd < 0) {
			int error = errno;

			(void)syscall(SYS_close, ends[1]);
			return -error;
		}
		f->own_rd = move_up(fd);
		f->own_wr = move_up(ends[1]);
	}
	if (f->own_rd >= MAX_FDS || f->own_wr >= MAX_FDS) {
		(void)syscall(SYS_close, f->own_rd);
		if (f->own_wr != f->own_rd)
			(void)syscall(SYS_close, f->own_wr);
		return -EMFILE;
	}
	assert(!wx_fd_hidden(f->own_rd) && !wx_fd_hidden(f->own_wr));
	set_hidden(f->own_rd, true);
	set_hidden(f->own_wr, true);
	return 0;
}

int wx_fd_hide(int fd)
{
	fd = move_up(fd);
	if (fd >= MAX_FDS) {
		(void)syscall(SYS_close, fd);
		return -EMFILE;
	}
	set_hidden(fd, true);
	return fd;
}

void wx_fd_close_hidden(int fd)
{
	int saved = errno;

	if (fd < 0)
		return;
	assert(wx_fd_hidden(fd));
	set_hidden(fd, false);
	(void)syscall(SYS_close, fd);
	errno = saved;
}

/* Gives a file that is a socket what it needs; the program's descriptor is sock. */
static int set_up_socket(struct wx_file *f, int sock, int flags)
{
	int own = -1;

	if (sock < MAX_FDS && identify(sock, &f->dev, &f->ino) &&
	    syscall(SYS_fcntl, sock, F_SETFL, flags & O_NONBLOCK) == 0 &&
	    syscall(SYS_fcntl, sock, F_SETFD, (flags & O_CLOEXEC) != 0 ? FD_CLOEXEC : 0) == 0)
		own = (int)syscall(SYS_fcntl, sock, F_DUPFD_CLOEXEC, 0);
	if (own >= 0)
		own = wx_fd_hide(own);
	if (own < 0) {
		(void)syscall(SYS_close, sock);
		return -EMFILE;
	}
	f->own_rd = f->own_wr = own;
	return sock;
}

/* Gives a file that nobody has seen yet what it needs. Returns a descriptor or -errno. */
static int set_up(struct wx_file *f, int flags)
{
	int ends[2], ret;

	if (pipe2(ends, O_CLOEXEC | (flags & O_NONBLOCK)) != 0)
		return -errno;
	ret = identify(ends[0], &f->dev, &f->ino) ? open_own(f, ends) : -EMFILE;
	if (ret == 0 && ends[0] >= MAX_FDS) {
		close_own(f);
		ret = -EMFILE;
	}
	if (ret != 0) {
		(void)syscall(SYS_close, ends[0]);
		return ret;
	}
	if ((flags & O_CLOEXEC) == 0)
		(void)syscall(SYS_fcntl, ends[0], F_SETFD, 0);
	return ends[0];
}

/* A file of its own pipe, or of sock; that is closed where there is no file. */
static int open_file(const struct wx_fd_ops *ops, void *priv, int sock, int flags,
                     struct wx_file **file_p)
{
	struct wx_file *f = wx_fd_borrowed() ? NULL : new_file();
	int fd;

	if (f == NULL) {
		if (sock >= 0)
			(void)syscall(SYS_close, sock);
		return wx_fd_borrowed() ? -EAGAIN : -ENOMEM;
	}
	assert(atomic_load(&f->refs) == 0);
	fd = sock >= 0 ? set_up_socket(f, sock, flags) : set_up(f, flags);
	if (fd < 0) {
		atomic_store(&f->used, 0);
		return fd;
	}
	f->ops = ops;
	f->priv = priv;
	f->pid = getpid();
	*file_p = f;
	atomic_store_explicit(&f->refs, 1, memory_order_release);
	enter(fd, f);
	return fd;
}

int wx_fd_open(const struct wx_fd_ops *ops, void *priv, int flags, struct wx_file **file_p)
{
	return open_file(ops, priv, -1, flags, file_p);
}

int wx_fd_open_socket(const struct wx_fd_ops *ops, void *priv, int sock, int flags,
                      struct wx_file **file_p)
{
	return open_file(ops, priv, sock, flags, file_p);
}

int wx_file_fd(const struct wx_file *f)
{
	return f->own_rd;
}

void wx_file_signal(struct wx_file *f)
{
	int saved = errno;

	assert(wx_fd_hidden(f->own_wr));
	/* A pipe that is full can be read. */
	(void)syscall(SYS_write, f->own_wr, "", 1);
	errno = saved;
}

void wx_file_clear(struct wx_file *f)
{
	struct pollfd p = { .fd = f->own_rd, .events = POLLIN };
	const struct timespec now = { .tv_sec = 0 };
	int saved = errno;
	char c[16];

	assert(wx_fd_hidden(f->own_rd));
	while (syscall(SYS_ppoll, &p, 1, &now, NULL, 0) == 1 && (p.revents & POLLIN) != 0) {
		if (syscall(SYS_read, f->own_rd, c, sizeof(c)) < 0)
			break;
	}
	errno = saved;
}

int wx_file_wait(struct wx_file *f)
{
	struct pollfd p = { .fd = f->own_rd, .events = POLLIN };
	int state, ret;

	assert(atomic_load(&f->refs) > 0);
	(void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	ret = poll(&p, 1, -1) < 0 ? -errno : 0;
	(void)pthread_setcancelstate(state, NULL);
	return ret;
}
