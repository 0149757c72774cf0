/* SPDX-License-Identifier: Apache-2.0 */
/* claim.c - a lock file that is the same for all who come at the same time. */
#define _GNU_SOURCE
#include "live/claim.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/sysfs.h"

#define TRIES 100 /* times that somebody may remove the file just as we lock it */

static int lock_name(const char *path, char *name, size_t size)
{
	return snprintf(name, size, "%s.lock", path) >= (int)size ? -ENAMETOOLONG : 0;
}

/* Whether the file that fd is still has that name. */
static bool is_named(int fd, const char *name)
{
	struct stat own, named;

	return fstat(fd, &own) == 0 && lstat(name, &named) == 0 && own.st_dev == named.st_dev &&
	       own.st_ino == named.st_ino;
}

int wf_claim_take(const char *path)
{
	char name[256];
	int ret = lock_name(path, name, sizeof(name));

	for (int i = 0; i < TRIES && ret == 0; i++) {
		int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB) != 0)
			ret = errno == EWOULDBLOCK ? -EEXIST : -errno;
		else if (is_named(fd, name))
			return fd;
		/* Else its last owner has removed it: another file has the name, or none. */
		close(fd);
	}
	return ret != 0 ? ret : -EBUSY;
}

bool wf_claim_is_made(const char *path)
{
	char name[256];

	return lock_name(path, name, sizeof(name)) == 0 && access(name, F_OK) == 0;
}

void wf_claim_end(const char *path, int claim)
{
	char name[256];

	assert(claim >= 0);
	if (lock_name(path, name, sizeof(name)) == 0 && is_named(claim, name))
		(void)unlink(name);
	close(claim);
}

int wf_claim_clean(const char *path)
{
	int claim = wf_claim_take(path), ret = 0;

	if (claim < 0)
		return claim;
	wf_sysfs_remove(path);
	if (unlink(path) != 0)
		ret = -errno;
	wf_claim_end(path, claim);
	return ret;
}
