/* SPDX-License-Identifier: Apache-2.0 */
/* pipe.c - maps the memory of a pipe, and wakes the other side. */
#define _GNU_SOURCE
#include "live/pipe.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

int wf_pipe_memory(void)
{
	return wf_ring_memory("weft-pipe", WF_PIPE_BYTES);
}

static void unmap(struct wf_pipe *pipe)
{
	assert(pipe->shared != NULL && pipe->side <= 1);
	if (pipe->rx.base != NULL && pipe->rx.base != pipe->tx.base)
		wf_ring_unmap(pipe->rx.base, WF_RING_BYTES);
	if (pipe->tx.base != NULL)
		wf_ring_unmap(pipe->tx.base, WF_RING_BYTES);
	munmap(pipe->shared, WF_PIPE_PAGE);
}

int wf_pipe_open(struct wf_pipe *pipe, int memory_fd, unsigned side, int wake_fd)
{
	off_t offset[2] = { WF_PIPE_PAGE, WF_PIPE_PAGE + (off_t)WF_RING_BYTES };

	if (!wf_ring_is_memory(memory_fd, WF_PIPE_BYTES) || side > 1)
		return -EINVAL;
	*pipe = (struct wf_pipe){ .wake_fd = wake_fd, .side = side };
	pipe->shared = mmap(NULL, WF_PIPE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
	if (pipe->shared == MAP_FAILED)
		return -errno;
	(void)madvise(pipe->shared, WF_PIPE_PAGE, MADV_DONTFORK);
	pipe->tx.ctl = &pipe->shared->ring[side];
	pipe->rx.ctl = &pipe->shared->ring[1 - side];
	pipe->tx.mask = pipe->rx.mask = WF_RING_BYTES - 1;
	pipe->tx.max = pipe->rx.max = WF_RING_PAYLOAD;
	pipe->tx.base = wf_ring_map(memory_fd, offset[side], WF_RING_BYTES);
	pipe->rx.base = wf_ring_map(memory_fd, offset[1 - side], WF_RING_BYTES);
	if (pipe->tx.base == NULL || pipe->rx.base == NULL) {
		unmap(pipe);
		return -ENOMEM;
	}
	return 0;
}

int wf_pipe_open_self(struct wf_pipe *pipe)
{
	int fd = wf_pipe_memory();
	int ret;

	if (fd < 0)
		return fd;
	ret = wf_pipe_open(pipe, fd, 0, -1);
	close(fd);
	if (ret != 0)
		return ret;
	wf_ring_unmap(pipe->rx.base, WF_RING_BYTES);
	pipe->rx.base = pipe->tx.base;
	pipe->rx.ctl = pipe->tx.ctl;
	return 0;
}

void wf_pipe_close(struct wf_pipe *pipe)
{
	unmap(pipe);
	if (pipe->wake_fd >= 0)
		close(pipe->wake_fd);
}

void wf_pipe_nudge(struct wf_pipe *pipe)
{
	uint64_t one = 1;
	ssize_t n;

	if (pipe->wake_fd < 0)
		return;
	n = write(pipe->wake_fd, &one, sizeof(one));
	(void)n; /* full: it will wake anyway */
}

bool wf_pipe_wake(struct wf_pipe *pipe)
{
	_Atomic uint32_t *asleep = &pipe->shared->side[1 - pipe->side].asleep;

	if (atomic_load_explicit(asleep, memory_order_relaxed) == 0)
		return false;
	/* One write is enough: it clears the flag itself when it is awake. */
	if (atomic_exchange_explicit(asleep, 0, memory_order_relaxed) != 0)
		wf_pipe_nudge(pipe);
	return true;
}
