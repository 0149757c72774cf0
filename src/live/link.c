/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - maps the memory of a link, each ring twice in a row. */
#define _GNU_SOURCE
#include "live/link.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

int wf_link_memory(void)
{
	int fd = memfd_create("weft-link", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int ret;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)WF_LINK_BYTES) != 0 || fcntl(fd, F_ADD_SEALS, SEALS) != 0) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

/* Maps [offset, offset + WF_RING_BYTES) of fd twice in a row; NULL when it cannot. */
static char *map_twice(int fd, off_t offset)
{
	char *at = mmap(NULL, 2 * (size_t)WF_RING_BYTES, PROT_NONE,
	                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	for (int i = 0; i < 2; i++) {
		if (mmap(at + (size_t)i * WF_RING_BYTES, WF_RING_BYTES, PROT_READ | PROT_WRITE,
		         MAP_SHARED | MAP_FIXED, fd, offset) == MAP_FAILED) {
			munmap(at, 2 * (size_t)WF_RING_BYTES);
			return NULL;
		}
	}
	/* A child of this process has no business here. */
	(void)madvise(at, 2 * (size_t)WF_RING_BYTES, MADV_DONTFORK);
	return at;
}

static void unmap(struct wf_link *link)
{
	if (link->rx.base != NULL && link->rx.base != link->tx.base)
		munmap(link->rx.base, 2 * (size_t)WF_RING_BYTES);
	if (link->tx.base != NULL)
		munmap(link->tx.base, 2 * (size_t)WF_RING_BYTES);
	munmap(link->shared, WF_LINK_PAGE);
}

/* Memory that can shrink would be a way to kill who reads it. */
static bool is_sealed(int fd)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 &&
	       (size_t)st.st_size == WF_LINK_BYTES;
}

int wf_link_open(struct wf_link *link, int memory_fd, unsigned side, int wake_fd)
{
	off_t offset[2] = { WF_LINK_PAGE, WF_LINK_PAGE + (off_t)WF_RING_BYTES };

	if (!is_sealed(memory_fd) || side > 1)
		return -EINVAL;
	*link = (struct wf_link){ .wake_fd = wake_fd, .side = side };
	link->shared = mmap(NULL, WF_LINK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
	if (link->shared == MAP_FAILED)
		return -errno;
	(void)madvise(link->shared, WF_LINK_PAGE, MADV_DONTFORK);
	link->tx.ctl = &link->shared->ring[side];
	link->rx.ctl = &link->shared->ring[1 - side];
	link->tx.base = map_twice(memory_fd, offset[side]);
	link->rx.base = map_twice(memory_fd, offset[1 - side]);
	if (link->tx.base == NULL || link->rx.base == NULL) {
		unmap(link);
		return -ENOMEM;
	}
	return 0;
}

int wf_link_open_self(struct wf_link *link)
{
	int fd = wf_link_memory();
	int ret;

	if (fd < 0)
		return fd;
	ret = wf_link_open(link, fd, 0, -1);
	close(fd);
	if (ret != 0)
		return ret;
	munmap(link->rx.base, 2 * (size_t)WF_RING_BYTES);
	link->rx.base = link->tx.base;
	link->rx.ctl = link->tx.ctl;
	return 0;
}

void wf_link_close(struct wf_link *link)
{
	unmap(link);
	if (link->wake_fd >= 0)
		close(link->wake_fd);
}

void wf_link_nudge(struct wf_link *link)
{
	uint64_t one = 1;
	ssize_t n;

	if (link->wake_fd < 0)
		return;
	n = write(link->wake_fd, &one, sizeof(one));
	(void)n; /* full: it will wake anyway */
}

bool wf_link_wake(struct wf_link *link)
{
	_Atomic uint32_t *asleep = &link->shared->side[1 - link->side].asleep;

	if (atomic_load_explicit(asleep, memory_order_relaxed) == 0)
		return false;
	/* One write is enough: it clears the flag itself when it is awake. */
	if (atomic_exchange_explicit(asleep, 0, memory_order_relaxed) != 0)
		wf_link_nudge(link);
	return true;
}
