/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.c - the heap and the arena behind struct wf_mem.
 */
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BLOCK_SIZE ((size_t)4 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

/* Stands at the start of every mapped block. */
struct block {
	struct block *next;
	size_t size; /* bytes mapped, this header included */
};

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) & ~(to - 1);
}

static void *heap_alloc(struct wf_mem *mem, size_t size)
{
	void *ptr;

	(void)mem;
	if (size > SIZE_MAX - WF_CACHE_LINE)
		return NULL;
	size = round_up(size == 0 ? 1 : size, WF_CACHE_LINE);
	ptr = aligned_alloc(WF_CACHE_LINE, size);
	if (ptr != NULL)
		memset(ptr, 0, size);
	return ptr;
}

static void heap_free(struct wf_mem *mem, void *ptr)
{
	(void)mem;
	free(ptr);
}

struct wf_mem *wf_mem_heap(void)
{
	/* Two function pointers that never change; not const only because users pass it on. */
	static const struct wf_mem heap = { heap_alloc, heap_free };

	return (struct wf_mem *)(uintptr_t)&heap;
}

#ifdef MAP_ANONYMOUS

/*
 * Maps size bytes of zeros, a multiple of HUGE_PAGE and aligned to it so that huge pages fit: one
 * more is mapped and the unaligned ends are given back. NULL when there is no memory.
 */
static void *block_map(size_t size)
{
	size_t total = size + HUGE_PAGE;
	char *p = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *aligned;

	if (p == MAP_FAILED)
		return NULL;
	aligned = (char *)round_up((size_t)(uintptr_t)p, HUGE_PAGE);
	if (aligned != p)
		munmap(p, (size_t)(aligned - p));
	if (aligned + size != p + total)
		munmap(aligned + size, (size_t)(p + total - (aligned + size)));
#ifdef MADV_HUGEPAGE
	/* Advice only: a system without huge pages works as well, slower. */
	(void)madvise(aligned, size, MADV_HUGEPAGE);
#endif
	return aligned;
}

static void block_unmap(struct block *b)
{
	munmap(b, b->size);
}

#else /* POSIX has no memory of nobody's file to map. */

static void *block_map(size_t size)
{
	void *p = aligned_alloc(HUGE_PAGE, size);

	return p != NULL ? memset(p, 0, size) : NULL;
}

static void block_unmap(struct block *b)
{
	free(b);
}

#endif

static void *arena_mem_alloc(struct wf_mem *mem, size_t size)
{
	struct wf_arena *arena = wf_container_of(mem, struct wf_arena, mem);

	return wf_arena_alloc(arena, size, WF_CACHE_LINE);
}

static void arena_mem_free(struct wf_mem *mem, void *ptr)
{
	(void)mem;
	(void)ptr;
}

void wf_arena_init(struct wf_arena *arena)
{
	memset(arena, 0, sizeof(*arena));
	arena->mem.alloc = arena_mem_alloc;
	arena->mem.free = arena_mem_free;
}

void wf_arena_fini(struct wf_arena *arena)
{
	struct block *b = arena->blocks;

	while (b != NULL) {
		struct block *next = b->next;

		block_unmap(b);
		b = next;
	}
	wf_arena_init(arena);
}

/* Gets a block for at least size bytes. Returns 0, or -1 when there is no memory. */
static int arena_grow(struct wf_arena *arena, size_t size)
{
	size_t want = round_up(size + sizeof(struct block) + WF_CACHE_LINE, HUGE_PAGE);
	struct block *b;

	if (want < BLOCK_SIZE)
		want = BLOCK_SIZE;
	b = block_map(want);
	if (b == NULL)
		return -1;
	b->next = arena->blocks;
	b->size = want;
	arena->blocks = b;
	arena->next = (char *)b + round_up(sizeof(*b), WF_CACHE_LINE);
	arena->end = (char *)b + want;
	arena->mapped += want;
	return 0;
}

void *wf_arena_alloc(struct wf_arena *arena, size_t size, size_t align)
{
	char *p;

	assert(align != 0 && (align & (align - 1)) == 0 && align <= 4096);
	if (size > SIZE_MAX / 4 || (arena->limit != 0 && (arena->used > arena->limit ||
	                                                  size > arena->limit - arena->used)))
		return NULL;

	p = (char *)round_up((size_t)(uintptr_t)arena->next, align);
	if (arena->next == NULL || p > arena->end || size > (size_t)(arena->end - p)) {
		if (arena_grow(arena, size + align) != 0)
			return NULL;
		p = (char *)round_up((size_t)(uintptr_t)arena->next, align);
	}
	arena->next = p + size;
	arena->used += size;
	assert(arena->next <= arena->end);
	return p;
}
