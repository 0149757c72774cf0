/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - where memory comes from.
 *
 * Every create function takes a struct wf_mem; tests pass one that fails on the n-th call. An arena
 * hands out memory that is freed all at once, from few large blocks on huge pages: objects created
 * one after the other lie one after the other.
 */
#ifndef WF_BASE_MEM_H
#define WF_BASE_MEM_H

#include "base/base.h"

struct wf_mem {
	/* Returns zeroed memory aligned to a cache line, or NULL. */
	void *(*alloc)(struct wf_mem *mem, size_t size);
	/* Gives back what alloc returned; NULL is allowed. */
	void (*free)(struct wf_mem *mem, void *ptr);
};

/* The process's heap. Never freed, safe to share between threads. */
struct wf_mem *wf_mem_heap(void);

struct wf_arena {
	struct wf_mem mem; /* free does nothing: all goes with wf_arena_fini() */
	char *next;
	char *end;
	void *blocks; /* list of mapped blocks */
	size_t used;  /* bytes handed out */
	size_t limit; /* of used; 0: as much as the system has */
	size_t mapped;
};

/* An empty arena in the caller's memory. Takes nothing until the first alloc. */
void wf_arena_init(struct wf_arena *arena);

/* Unmaps everything the arena handed out. */
void wf_arena_fini(struct wf_arena *arena);

/*
 * size bytes, zeroed, at a multiple of align (a power of two, at most 4096); NULL when the system
 * has no more memory, or above the arena's limit.
 */
void *wf_arena_alloc(struct wf_arena *arena, size_t size, size_t align) WF_MUST_USE;

#endif
