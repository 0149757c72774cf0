/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheel.c - what is due in which window: slots of entries, far timers, and the pool of objects.
 *
 * Each shard writes only its own wheel, which has a list of entries for every receiving shard and
 * every window up to the horizon. A receiver empties the lists for a window when it runs that
 * window. Nobody adds to them then: what is sent in a window arrives in a later one, but for what
 * is sent to late nodes, and these have lists of their own that are emptied after all others have
 * run.
 */
#include <string.h>

#include "engine/engine_priv.h"

#define POOL_BATCH 64
#define POOL_KEEP 1024 /* free objects a shard keeps for itself */

/* Takes a batch from the engine's pool, or new memory. */
static bool pool_refill(struct wf_shard_priv *s)
{
	struct wf_engine *e = s->engine;
	union wf_object *o;

	pthread_mutex_lock(&e->pool_lock);
	for (int i = 0; i < POOL_BATCH && e->pool.first != NULL; i++) {
		o = e->pool.first;
		e->pool.first = o->next_free;
		e->pool.n--;
		wf_pool_put(s, o);
	}
	pthread_mutex_unlock(&e->pool_lock);
	if (s->pool.first != NULL)
		return true;

	o = wf_arena_alloc(&s->arena, POOL_BATCH * sizeof(*o), WF_CACHE_LINE);
	if (o == NULL)
		return false;
	for (int i = POOL_BATCH - 1; i >= 0; i--)
		wf_pool_put(s, &o[i]);
	return true;
}

union wf_object *wf_pool_get(struct wf_shard_priv *s)
{
	union wf_object *o;

	if (s->pool.first == NULL && !pool_refill(s)) {
		s->no_memory = true;
		return NULL;
	}
	o = s->pool.first;
	s->pool.first = o->next_free;
	s->pool.n--;
	return o;
}

void wf_pool_trim(struct wf_shard_priv *s)
{
	struct wf_engine *e = s->engine;

	if (s->pool.n <= 2 * POOL_KEEP || e->n_shards == 1)
		return;
	pthread_mutex_lock(&e->pool_lock);
	while (s->pool.n > POOL_KEEP) {
		union wf_object *o = s->pool.first;

		s->pool.first = o->next_free;
		s->pool.n--;
		o->next_free = e->pool.first;
		e->pool.first = o;
		e->pool.n++;
	}
	pthread_mutex_unlock(&e->pool_lock);
}

void wf_wheel_add(struct wf_shard_priv *s, uint32_t half, int64_t k, uint32_t entry)
{
	struct wf_engine *e = s->engine;
	uint32_t slot = (uint32_t)k & (e->slots - 1);
	struct wf_block **list = &s->wheel[(size_t)half * e->slots + slot];
	struct wf_block *b = *list;

	assert(k >= e->k && k < e->k + e->slots);
	if (b == NULL || b->n == BLOCK_ENTRIES) {
		union wf_object *o = wf_pool_get(s);

		if (o == NULL)
			return;
		b = &o->block;
		b->next = *list;
		b->n = 0;
		*list = b;
	}
	b->entry[b->n++] = entry;
	s->slot_entries[slot]++;
	/* What the late nodes get from this very window is not left for another visit. */
	if (k == e->k && half % 2 == 1 && s->shard.running != NULL && !e->late)
		return;
	s->slot_used[slot / 64] |= UINT64_C(1) << (slot % 64);
}

/* Distance from slot to the next used one, going round; slots if none is. */
static uint32_t next_used(const struct wf_shard_priv *s, uint32_t slot)
{
	uint32_t slots = s->engine->slots;
	uint32_t word = slot / 64;
	uint64_t bits = s->slot_used[word] & (UINT64_MAX << (slot % 64));

	/* One more than the words there are: the first is looked at again for its lower bits. */
	for (uint32_t i = 0; i <= slots / 64; i++) {
		if (bits != 0) {
			uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);

			return (found - slot) & (slots - 1);
		}
		word = (word + 1) & (slots / 64 - 1);
		bits = s->slot_used[word];
	}
	return slots;
}

int64_t wf_wheel_next(const struct wf_shard_priv *s, int64_t k)
{
	const struct wf_engine *e = s->engine;
	uint32_t d = next_used(s, (uint32_t)k & (e->slots - 1));
	int64_t next = d < e->slots ? k + d : INT64_MAX;

	if (s->far_n > 0 && s->far[0].at / e->window < next)
		next = s->far[0].at / e->window;
	return next;
}

static void far_push(struct wf_shard_priv *s, struct wf_node *node, wf_time at)
{
	uint32_t i;

	if (s->far_n == s->far_room) {
		uint32_t room = s->far_room == 0 ? 64 : s->far_room * 2;
		struct wf_far *far = wf_arena_alloc(&s->arena, room * sizeof(*far), 64);

		if (far == NULL) {
			s->no_memory = true;
			return;
		}
		if (s->far_n > 0)
			memcpy(far, s->far, s->far_n * sizeof(*far));
		s->far = far;
		s->far_room = room;
	}
	for (i = s->far_n++; i > 0 && s->far[(i - 1) / 2].at > at; i = (i - 1) / 2)
		s->far[i] = s->far[(i - 1) / 2];
	s->far[i].at = at;
	s->far[i].node = node;
}

static struct wf_far far_pop(struct wf_shard_priv *s)
{
	struct wf_far top = s->far[0];
	struct wf_far last = s->far[--s->far_n];
	uint32_t i = 0;

	for (;;) {
		uint32_t c = 2 * i + 1;

		if (c >= s->far_n)
			break;
		if (c + 1 < s->far_n && s->far[c + 1].at < s->far[c].at)
			c++;
		if (s->far[c].at >= last.at)
			break;
		s->far[i] = s->far[c];
		i = c;
	}
	s->far[i] = last;
	return top;
}

void wf_wheel_add_timer(struct wf_shard_priv *s, struct wf_node *node, wf_time at)
{
	struct wf_engine *e = s->engine;
	int64_t k = at / e->window;

	assert(k >= e->k);
	node->registered = at;
	if (k >= e->k + e->slots)
		far_push(s, node, at);
	else
		wf_wheel_add(s, wf_node_half(node), k,
		             node->index << ENTRY_NODE_SHIFT | ENTRY_TIMERS);
}

void wf_wheel_turn(struct wf_shard_priv *s, int64_t k)
{
	const struct wf_engine *e = s->engine;

	while (s->far_n > 0 && s->far[0].at / e->window < k + e->slots) {
		struct wf_far far = far_pop(s);

		wf_wheel_add(s, wf_node_half(far.node), far.at / e->window,
		             far.node->index << ENTRY_NODE_SHIFT | ENTRY_TIMERS);
	}
}
