/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - maps the memory of a link, and wakes the other side. */
#define _GNU_SOURCE
#include "live/link.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

int wf_link_memory(void)
{
	return wf_ring_memory("weft-link", WF_LINK_BYTES);
}

static void unmap(struct wf_link *link)
{
	if (link->rx.base != NULL && link->rx.base != link->tx.base)
		wf_ring_unmap(link->rx.base, WF_RING_BYTES);
	if (link->tx.base != NULL)
		wf_ring_unmap(link->tx.base, WF_RING_BYTES);
	munmap(link->shared, WF_LINK_PAGE);
}

int wf_link_open(struct wf_link *link, int memory_fd, unsigned side, int wake_fd)
{
	off_t offset[2] = { WF_LINK_PAGE, WF_LINK_PAGE + (off_t)WF_RING_BYTES };

	if (!wf_ring_is_memory(memory_fd, WF_LINK_BYTES) || side > 1)
		return -EINVAL;
	*link = (struct wf_link){ .wake_fd = wake_fd, .side = side };
	link->shared = mmap(NULL, WF_LINK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
	if (link->shared == MAP_FAILED)
		return -errno;
	(void)madvise(link->shared, WF_LINK_PAGE, MADV_DONTFORK);
	link->tx.ctl = &link->shared->ring[side];
	link->rx.ctl = &link->shared->ring[1 - side];
	link->tx.mask = link->rx.mask = WF_RING_BYTES - 1;
	link->tx.max = link->rx.max = WF_RING_PAYLOAD;
	link->tx.base = wf_ring_map(memory_fd, offset[side], WF_RING_BYTES);
	link->rx.base = wf_ring_map(memory_fd, offset[1 - side], WF_RING_BYTES);
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
	wf_ring_unmap(link->rx.base, WF_RING_BYTES);
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
