/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.h - the direct way between two processes: a sealed piece of shared memory with a ring for
 * each direction, and an eventfd to wake the other side.
 *
 * The daemon makes the memory and hands it to both; it takes no part in what passes. Layout:
 *
 *	page 0   struct wf_pipe_shared
 *	then     ring from side 0 to side 1, ring from side 1 to side 0
 */
#ifndef WF_LIVE_PIPE_H
#define WF_LIVE_PIPE_H

#include "live/ring.h"

#define WF_PIPE_PAGE 4096
#define WF_PIPE_BYTES (WF_PIPE_PAGE + 2 * (size_t)WF_RING_BYTES)

struct wf_pipe_shared {
	struct wf_ring_ctl ring[2]; /* by the producer's side */
	struct {
		_Atomic uint32_t asleep; /* this side sleeps: write to its eventfd */
		char pad[WF_CACHE_LINE - 4];
	} side[2];
};

_Static_assert(sizeof(struct wf_pipe_shared) <= WF_PIPE_PAGE, "it fits");

struct wf_pipe {
	struct wf_pipe_shared *shared;
	struct wf_ring tx, rx;
	int wake_fd;   /* eventfd of the other side; owned */
	unsigned side; /* ours */
};

/* New memory for a pipe: a file descriptor whose size cannot change. Returns it or -errno. */
int wf_pipe_memory(void) WF_MUST_USE;

/*
 * Maps the pipe in memory_fd, which stays the caller's, as side (0 or 1). Takes wake_fd over on
 * success. Returns 0 or -errno: -EINVAL when the memory is not what wf_pipe_memory() makes.
 */
int wf_pipe_open(struct wf_pipe *pipe, int memory_fd, unsigned side, int wake_fd) WF_MUST_USE;

/* A pipe from a process to itself: what it sends, it receives. */
int wf_pipe_open_self(struct wf_pipe *pipe) WF_MUST_USE;

void wf_pipe_close(struct wf_pipe *pipe);

/* This side goes to sleep or is awake again. After going to sleep, look at the ring once more. */
static inline void wf_pipe_set_asleep(struct wf_pipe *pipe, bool asleep)
{
	atomic_store_explicit(&pipe->shared->side[pipe->side].asleep, asleep, memory_order_relaxed);
}

/*
 * Wakes the other side if it sleeps. What it is to see must be written before, with a full fence
 * between (wf_pipe_fence()). Returns whether it slept.
 */
bool wf_pipe_wake(struct wf_pipe *pipe);

/* Wakes the other side's service thread, although the other side did not say that it sleeps. */
void wf_pipe_nudge(struct wf_pipe *pipe);

static inline void wf_pipe_fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

#endif
