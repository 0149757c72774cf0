/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_lock.c - who is alive: a lock for each run that is being written.
 *
 * A process that was killed leaves its runs behind as running. Its number says little: it is
 * another process's soon, and means another one in another container. So whoever writes run n holds
 * a lock on byte n + 1 of FILE-lock, which the kernel takes back with the process, and byte 0 is
 * shared by all who record. The last of them takes the file away; as with SQLite's FILE-wal, one
 * that was killed leaves it.
 *
 * The results file itself has SQLite's locks: the first close() of any descriptor of it would drop
 * those of the whole process.
 *
 * FILE is the name that SQLite knows it by, where symbolic links lead to: all have the same locks.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* F_OFD_SETLK */
#endif
#include "results/record_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where locks belong to processes, two records of one process do not see each other's. */
#ifndef F_OFD_SETLK
#define F_OFD_GETLK F_GETLK
#define F_OFD_SETLK F_SETLK
#define F_OFD_SETLKW F_SETLKW
#endif

/* "FILE-lock", to be freed; NULL without memory. */
static char *lock_name(const struct wf_record *record)
{
	const char *file = sqlite3_db_filename(record->db, "main");
	size_t size = strlen(file) + sizeof("-lock");
	char *name = malloc(size);

	if (name != NULL)
		snprintf(name, size, "%s-lock", file);
	return name;
}

/* Any number is a run's in a file that somebody else made. */
static off_t byte_of(int64_t run)
{
	return (off_t)((uint64_t)run & (INT64_MAX >> 1)) + 1;
}

static int set_lock(int fd, int cmd, short type, off_t at)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };
	int rc;

	do {
		rc = fcntl(fd, cmd, &lock);
	} while (rc != 0 && errno == EINTR);
	return rc == 0 ? 0 : -errno;
}

/* Whether fd is still what has the name: whoever was the last may just have taken it away. */
static bool has_name(int fd, const char *name)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(name, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

int wf_record_lock_open(struct wf_record *record)
{
	char *name = lock_name(record);
	int rc = name == NULL ? -ENOMEM : 0;

	while (rc == 0 && record->lock_fd < 0) {
		int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

		if (fd < 0) {
			rc = -errno;
			break;
		}
		rc = set_lock(fd, F_OFD_SETLKW, F_RDLCK, 0);
		if (rc == 0 && has_name(fd, name))
			record->lock_fd = fd;
		else
			close(fd);
	}
	free(name);
	return rc;
}

void wf_record_lock_close(struct wf_record *record)
{
	char *name;
	struct stat st;

	if (record->lock_fd < 0)
		return;
	name = lock_name(record);
	/* What has contents is somebody's file that happens to be called so. */
	if (name != NULL && fstat(record->lock_fd, &st) == 0 && st.st_size == 0 &&
	    set_lock(record->lock_fd, F_OFD_SETLK, F_WRLCK, 0) == 0)
		unlink(name);
	free(name);
	close(record->lock_fd);
	record->lock_fd = -1;
}

int wf_record_lock_run(struct wf_record *record, int64_t run, bool hold)
{
	return set_lock(record->lock_fd, F_OFD_SETLK, hold ? F_WRLCK : F_UNLCK, byte_of(run));
}

bool wf_record_lock_is_held(const struct wf_record *record, int64_t run)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte_of(run), .l_len = 1
	};

	return fcntl(record->lock_fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}
