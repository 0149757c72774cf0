/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - the memory of a host's connections; and the names of what they count. */
#include <errno.h>

#include "tcp/conn_priv.h"

#define RANGES 32 /* that are taken at once */

const struct wf_tcp_counter_row wf_tcp_counters[WF_TCP_CTRS] = {
#define ROW(id, text, linux_name, what, row_title)                                                 \
	{ .name = (text), .nstat = (linux_name), .help = (what), .title = (row_title) },
	WF_TCP_COUNTERS(ROW)
#undef ROW
};

/* What stands before each piece of memory: all of it is given back at the end. */
struct block {
	struct block *next;
} WF_ALIGNED(WF_CACHE_LINE);

int wf_tcp_pool_create(struct wf_mem *mem, struct wf_tcp_pool **pool_p)
{
	struct wf_tcp_pool *pool = mem->alloc(mem, sizeof(*pool));

	if (pool == NULL)
		return -ENOMEM;
	pool->mem = mem;
	*pool_p = pool;
	return 0;
}

void wf_tcp_pool_destroy(struct wf_tcp_pool *pool)
{
	struct wf_mem *mem;

	if (pool == NULL)
		return;
	mem = pool->mem;
	for (struct block *b = pool->blocks, *next; b != NULL; b = next) {
		next = b->next;
		mem->free(mem, b);
	}
	mem->free(mem, pool);
}

bool wf_tcp_pool_failed(const struct wf_tcp_pool *pool)
{
	return pool->failed;
}

void *wf_tcp_pool_take(struct wf_tcp_pool *pool, size_t size)
{
	struct block *b = pool->mem->alloc(pool->mem, sizeof(*b) + size);

	if (b == NULL) {
		pool->failed = true;
		return NULL;
	}
	b->next = pool->blocks;
	pool->blocks = b;
	return b + 1;
}

/* Which list rings of n segments are in. */
static unsigned ring_list(uint32_t n)
{
	unsigned list = (unsigned)__builtin_ctz(n / WF_TCP_RING_MIN);

	assert(n >= WF_TCP_RING_MIN && n <= WF_TCP_RING_MAX && (n & (n - 1)) == 0);
	assert(list < WF_TCP_RING_SIZES);
	return list;
}

struct seg *wf_tcp_ring_get(struct wf_tcp_pool *pool, uint32_t n)
{
	void **list = &pool->rings[ring_list(n)];
	void *ring = *list;

	if (ring == NULL)
		return wf_tcp_pool_take(pool, n * sizeof(struct seg));
	*list = *(void **)ring;
	return ring;
}

void wf_tcp_ring_put(struct wf_tcp_pool *pool, struct seg *ring, uint32_t n)
{
	void **list = &pool->rings[ring_list(n)];

	*(void **)(void *)ring = *list;
	*list = ring;
}

struct range *wf_tcp_range_get(struct wf_tcp_pool *pool)
{
	struct range *r;

	if (pool->ranges == NULL) {
		r = wf_tcp_pool_take(pool, RANGES * sizeof(*r));
		for (int i = 0; r != NULL && i < RANGES; i++)
			wf_tcp_range_put(pool, r + i);
	}
	r = pool->ranges;
	if (r != NULL)
		pool->ranges = r->next;
	return r;
}

void wf_tcp_range_put(struct wf_tcp_pool *pool, struct range *r)
{
	r->next = pool->ranges;
	pool->ranges = r;
}
