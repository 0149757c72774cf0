/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.c - buffers for the payload of packets on their way.
 */
#include "sim/host/payload.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define BUFFER 4096
#define BLOCK_BITS 6 /* 64 buffers in a block */
#define BLOCK_SIZE (1u << BLOCK_BITS)
#define MAX_BLOCKS (1u << 16)

/* While it is free, a buffer begins with the number of the next. */
struct shard_list {
	uint32_t first;
	int64_t taken; /* less given back; may be negative in one shard */
} WF_ALIGNED(WF_CACHE_LINE);

struct wf_payload {
	unsigned n_shards;
	uint32_t n_blocks; /* claimed with an atomic add */
	struct shard_list *list;
	char *block[MAX_BLOCKS];
};

int wf_payload_create(unsigned n_shards, struct wf_payload **store_p)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_payload *s = mem->alloc(mem, sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	s->n_shards = n_shards;
	s->list = mem->alloc(mem, n_shards * sizeof(*s->list));
	if (s->list == NULL) {
		mem->free(mem, s);
		return -ENOMEM;
	}
	*store_p = s;
	return 0;
}

void wf_payload_destroy(struct wf_payload *s)
{
	struct wf_mem *mem = wf_mem_heap();

	if (s == NULL)
		return;
	for (uint32_t i = 0; i < s->n_blocks && i < MAX_BLOCKS; i++)
		mem->free(mem, s->block[i]);
	mem->free(mem, s->list);
	mem->free(mem, s);
}

/* Numbers start at 1. */
void *wf_payload_bytes(const struct wf_payload *s, uint32_t number)
{
	uint32_t i = number - 1;

	assert(number != 0);
	return s->block[i >> BLOCK_BITS] + (size_t)(i & (BLOCK_SIZE - 1)) * BUFFER;
}

static void list_add(struct wf_payload *s, unsigned shard, uint32_t number)
{
	memcpy(wf_payload_bytes(s, number), &s->list[shard].first, sizeof(uint32_t));
	s->list[shard].first = number;
}

static bool grow(struct wf_payload *s, unsigned shard)
{
	struct wf_mem *mem = wf_mem_heap();
	uint32_t b = __atomic_fetch_add(&s->n_blocks, 1, __ATOMIC_RELAXED);

	if (b >= MAX_BLOCKS)
		return false;
	s->block[b] = mem->alloc(mem, (size_t)BLOCK_SIZE * BUFFER);
	if (s->block[b] == NULL)
		return false;
	for (uint32_t i = BLOCK_SIZE; i-- > 0;)
		list_add(s, shard, (b << BLOCK_BITS) + i + 1);
	return true;
}

uint32_t wf_payload_get(struct wf_payload *s, unsigned shard)
{
	struct shard_list *list = &s->list[shard];
	uint32_t number;

	if (list->first == 0 && !grow(s, shard))
		return 0;
	number = list->first;
	memcpy(&list->first, wf_payload_bytes(s, number), sizeof(uint32_t));
	list->taken++;
	return number;
}

void wf_payload_put(struct wf_payload *s, unsigned shard, uint32_t number)
{
	if (number == 0)
		return;
	list_add(s, shard, number);
	s->list[shard].taken--;
}

uint64_t wf_payload_in_use(const struct wf_payload *s)
{
	int64_t n = 0;

	for (unsigned i = 0; i < s->n_shards; i++)
		n += s->list[i].taken;
	assert(n >= 0);
	return (uint64_t)n;
}
