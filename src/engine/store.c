/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - objects by number, and the way back to their owner.
 *
 * The objects of a shard lie in blocks, each twice as large as the one before, so that a number
 * leads to its object by one load, and no block ever moves. Free objects are a list. What other
 * shards give back is another list, to whose front they add one by one and of which the owner takes
 * all at once: neither has to wait, and no object can be on it twice while somebody looks.
 */
#include "engine/store.h"

#include <errno.h>

#include "engine/engine_priv.h"

#define INDEX_BITS 24
#define MAX_INDEX ((1u << INDEX_BITS) - 1)
#define FIRST_BITS 6 /* 64 objects in the first block */
#define BLOCKS (INDEX_BITS - FIRST_BITS)

_Static_assert(WF_STORE_MAX_SHARDS <= 1u << (32 - INDEX_BITS), "a number has room for the owner");
_Static_assert(WF_STORE_MAX_SHARDS >= WF_ENGINE_MAX_THREADS * SHARDS_PER_THREAD,
               "any engine's shards have room");

struct part {
	char *block[BLOCKS];
	uint32_t free;  /* number of the first that is free; 0: none */
	uint32_t made;  /* objects, from index 1 */
	int64_t in_use; /* taken, less given, by this shard; may be negative in one */
	struct wf_shard *shard;
	uint32_t back WF_ALIGNED(WF_CACHE_LINE); /* first of those that others gave back */
} WF_ALIGNED(WF_CACHE_LINE);

struct wf_store {
	size_t size;
	unsigned n_shards;
	struct part *part;
};

int wf_store_create(struct wf_engine *e, size_t size, struct wf_store **store_p)
{
	struct wf_shard *first = wf_engine_shard(e, 0);
	struct wf_store *store = wf_shard_alloc(first, sizeof(*store));

	assert(size >= sizeof(uint32_t) && size % 8 == 0);
	if (store == NULL)
		return -ENOMEM;
	store->size = size;
	store->n_shards = e->n_shards;
	store->part = wf_shard_alloc(first, e->n_shards * sizeof(*store->part));
	if (store->part == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < e->n_shards; i++)
		store->part[i].shard = wf_engine_shard(e, i);
	*store_p = store;
	return 0;
}

/* The block that an index is in. */
static inline unsigned block_of(uint32_t index)
{
	return 31 - FIRST_BITS - (unsigned)__builtin_clz(index - 1 + (1u << FIRST_BITS));
}

void *wf_store_at(const struct wf_store *store, uint32_t number)
{
	uint32_t index = number & MAX_INDEX;
	unsigned b = block_of(index);

	assert(index != 0 && number >> INDEX_BITS < store->n_shards);
	return store->part[number >> INDEX_BITS].block[b] +
	       (index - 1 + (1u << FIRST_BITS) - (1u << (FIRST_BITS + b))) * store->size;
}

static uint32_t *next_of(const struct wf_store *store, uint32_t number)
{
	return wf_store_at(store, number);
}

/* An object that was never in use; 0: there is no more memory. */
static uint32_t make(struct wf_store *store, struct part *p, unsigned shard)
{
	uint32_t index = p->made + 1;
	unsigned b = block_of(index);

	if (index > MAX_INDEX || b >= BLOCKS) {
		wf_shard_no_memory(p->shard);
		return 0;
	}
	if (p->block[b] == NULL) {
		p->block[b] = wf_shard_alloc(p->shard, (store->size << FIRST_BITS) << b);
		if (p->block[b] == NULL) {
			wf_shard_no_memory(p->shard);
			return 0;
		}
	}
	p->made = index;
	return (uint32_t)shard << INDEX_BITS | index;
}

uint32_t wf_store_get(struct wf_store *store, unsigned shard)
{
	struct part *p = &store->part[shard];
	uint32_t number;

	assert(shard < store->n_shards);
	if (p->free == 0)
		p->free = __atomic_exchange_n(&p->back, 0, __ATOMIC_ACQUIRE);
	number = p->free;
	if (wf_likely(number != 0))
		p->free = *next_of(store, number);
	else
		number = make(store, p, shard);
	p->in_use += number != 0;
	return number;
}

void wf_store_put(struct wf_store *store, unsigned shard, uint32_t number)
{
	uint32_t owner = number >> INDEX_BITS;
	struct part *p = &store->part[owner];
	uint32_t *next = next_of(store, number);

	assert(shard < store->n_shards);
	store->part[shard].in_use--;
	if (owner == shard) {
		*next = p->free;
		p->free = number;
		return;
	}
	*next = __atomic_load_n(&p->back, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&p->back, next, number, true, __ATOMIC_RELEASE,
	                                    __ATOMIC_RELAXED))
		;
}

uint64_t wf_store_in_use(const struct wf_store *store)
{
	int64_t n = 0;

	for (unsigned i = 0; i < store->n_shards; i++)
		n += store->part[i].in_use;
	assert(n >= 0);
	return (uint64_t)n;
}

uint64_t wf_store_made(const struct wf_store *store)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < store->n_shards; i++)
		n += store->part[i].made;
	return n;
}
