/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - the direct way between two processes: a sealed piece of shared memory with a ring for each
 * direction, and an eventfd to wake the other side.
 *
 * The daemon makes the memory and hands it to both; it takes no part in what passes. Layout:
 *
 *	page 0   struct wf_link_shared
 *	then     ring from side 0 to side 1, ring from side 1 to side 0
 */
#ifndef WF_LIVE_LINK_H
#define WF_LIVE_LINK_H

#include "live/ring.h"

#define WF_LINK_PAGE 4096
#define WF_LINK_BYTES (WF_LINK_PAGE + 2 * (size_t)WF_RING_BYTES)

struct wf_link_shared {
	struct wf_ring_ctl ring[2]; /* by the producer's side */
	struct {
		_Atomic uint32_t asleep; /* this side sleeps: write to its eventfd */
		char pad[WF_CACHE_LINE - 4];
	} side[2];
};

_Static_assert(sizeof(struct wf_link_shared) <= WF_LINK_PAGE, "it fits");

struct wf_link {
	struct wf_link_shared *shared;
	struct wf_ring tx, rx;
	int wake_fd;   /* eventfd of the other side; owned */
	unsigned side; /* ours */
};

/* New memory for a link: a file descriptor whose size cannot change. Returns it or -errno. */
int wf_link_memory(void) WF_MUST_USE;

/*
 * Maps the link in memory_fd, which stays the caller's, as side (0 or 1). Takes wake_fd over on
 * success. Returns 0 or -errno: -EINVAL when the memory is not what wf_link_memory() makes.
 */
int wf_link_open(struct wf_link *link, int memory_fd, unsigned side, int wake_fd) WF_MUST_USE;

/* A link of a process with itself: what it sends, it receives. */
int wf_link_open_self(struct wf_link *link) WF_MUST_USE;

void wf_link_close(struct wf_link *link);

/* This side goes to sleep or is awake again. After going to sleep, look at the ring once more. */
static inline void wf_link_set_asleep(struct wf_link *link, bool asleep)
{
	atomic_store_explicit(&link->shared->side[link->side].asleep, asleep, memory_order_relaxed);
}

/*
 * Wakes the other side if it sleeps. What it is to see must be written before, with a full fence
 * between (wf_link_fence()). Returns whether it slept.
 */
bool wf_link_wake(struct wf_link *link);

/* Wakes the other side's service thread, although the other side did not say that it sleeps. */
void wf_link_nudge(struct wf_link *link);

static inline void wf_link_fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

#endif
