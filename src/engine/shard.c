/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.c - runs the nodes of a shard for one window.
 *
 * Keys (cells.h) are unique enough to order all events of a node (inputs are FIFOs), and a sorted
 * array of these plain integers is all the event queue there is.
 */
#include <string.h>

#include "engine/engine_priv.h"

/* A shard that takes less memory than this is in the cache anyway. */
#define CACHE_SIZE ((size_t)1 << 20)

static struct wf_shard_priv *to_priv(struct wf_shard *shard)
{
	return wf_container_of(shard, struct wf_shard_priv, shard);
}

/* Moves what is due to the start of the array, or takes a larger one. */
bool wf_shard_make_room(struct wf_shard *sh)
{
	struct wf_shard_priv *s = to_priv(sh);
	uint32_t n = sh->end - sh->first;
	uint64_t *key = sh->key;

	if (2 * n >= sh->room) {
		uint32_t room = sh->room == 0 ? 1024 : sh->room * 2;

		key = wf_arena_alloc(&s->arena, room * sizeof(*key), WF_CACHE_LINE);
		if (key == NULL) {
			s->no_memory = true;
			return false;
		}
		sh->room = room;
	}
	if (n > 0)
		memmove(key, sh->key + sh->first, n * sizeof(*key));
	sh->key = key;
	sh->first = 0;
	sh->end = n;
	return true;
}

static inline wf_time head_time(const struct wf_input *in)
{
	return __atomic_load_n(&in->chunk->cell[in->cell].at, __ATOMIC_ACQUIRE);
}

/* Collects what of the node is due in this run. */
static void node_collect(struct wf_shard *sh, struct wf_node *n)
{
	for (uint32_t w = 0; w * 64 < n->n_in; w++) {
		for (uint64_t bits = n->due[w]; bits != 0; bits &= bits - 1) {
			uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(bits);
			wf_time at = head_time(&n->in[i]);

			assert(at >= sh->base);
			if (at < sh->limit)
				wf_shard_due(sh, (uint64_t)(at - sh->base) << 16 | i);
		}
	}
	for (uint32_t w = 0; w * 64 < n->n_timers; w++) {
		for (uint64_t bits = n->armed[w]; bits != 0; bits &= bits - 1) {
			uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(bits);
			wf_time at = n->timer[i];

			assert(at >= sh->base);
			if (at >= sh->limit)
				continue;
			n->armed[w] &= ~(UINT64_C(1) << (i % 64));
			wf_shard_due(sh, (uint64_t)(at - sh->base) << 16 | WF_KEY_TIMER | i);
		}
	}
}

/* Has the cell behind the head fetched. */
static inline void fetch_behind(const struct wf_input *in)
{
	const struct wf_chunk *chunk = in->chunk;

	if (wf_likely(in->cell + 1 < WF_CHUNK_CELLS)) {
		__builtin_prefetch(&chunk->cell[in->cell + 1]);
		return;
	}
	chunk = __atomic_load_n(&chunk->next, __ATOMIC_RELAXED);
	if (chunk != NULL)
		__builtin_prefetch(&chunk->cell[0]);
}

/* Handles the head of input i, after listing the cell behind it. */
static void node_rx(struct wf_shard_priv *s, struct wf_node *n, uint32_t i, wf_time now)
{
	struct wf_shard *sh = &s->shard;
	struct wf_input *in = &n->in[i];
	struct wf_chunk *chunk = in->chunk;
	struct wf_cell *cell = &chunk->cell[in->cell];
	wf_time next;

	if (wf_unlikely(++in->cell == WF_CHUNK_CELLS)) {
		in->chunk = __atomic_load_n(&chunk->next, __ATOMIC_RELAXED);
		in->cell = 0;
	}
	next = head_time(in);
	fetch_behind(in);
	if (next < sh->limit)
		wf_shard_due(sh, (uint64_t)(next - sh->base) << 16 | i);

	n->ops->rx(n, i, cell, now);
	if (wf_unlikely(in->chunk != chunk))
		wf_pool_put(s, wf_container_of(chunk, union wf_object, chunk));
}

/* Registers what the node has left: inputs cut off by the limit, and its next timer. */
static void node_finish(struct wf_shard_priv *s, struct wf_node *n)
{
	struct wf_engine *e = s->engine;
	wf_time window_end = (e->k + 1) * e->window;
	wf_time next = WF_TIME_NEVER;

	for (uint32_t w = 0; w * 64 < n->n_in; w++) {
		if (wf_unlikely(e->limit < window_end)) {
			for (uint64_t bits = n->due[w]; bits != 0; bits &= bits - 1) {
				uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(bits);

				/* A late node may get more for it, and was told already. */
				if (n->ops->late || head_time(&n->in[i]) < window_end)
					wf_wheel_add(s, wf_node_half(n), e->k,
					             n->index << ENTRY_NODE_SHIFT | i);
			}
		}
		n->due[w] = 0;
	}
	for (uint32_t w = 0; w * 64 < n->n_timers; w++) {
		for (uint64_t bits = n->armed[w]; bits != 0; bits &= bits - 1) {
			uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(bits);

			if (n->timer[i] == WF_TIME_NEVER) /* it was moved into this window */
				n->armed[w] &= ~(UINT64_C(1) << (i % 64));
			next = wf_min_time(next, n->timer[i]);
		}
	}
	if (next < n->registered)
		wf_wheel_add_timer(s, n, next);
}

static void node_run(struct wf_shard_priv *s, struct wf_node *n)
{
	struct wf_shard *sh = &s->shard;

	sh->running = n;
	sh->first = 0;
	sh->end = 0;
	/* Its entry, if it had one in this window, brought us here. */
	if (n->registered < sh->base + s->engine->window)
		n->registered = WF_TIME_NEVER;
	node_collect(sh, n);
	while (sh->first < sh->end) {
		uint64_t key = sh->key[sh->first++];
		wf_time now = sh->base + (wf_time)(key >> 16);
		uint32_t i = (uint32_t)key & 0xffff;

		s->events++;
		if (i < WF_KEY_TIMER) {
			node_rx(s, n, i, now);
			continue;
		}
		i -= WF_KEY_TIMER;
		if (n->timer[i] != now)
			continue; /* cleared or set anew since */
		n->timer[i] = WF_TIME_NEVER;
		n->ops->timer(n, i, now);
	}
	node_finish(s, n);
	sh->running = NULL;
}

/* Marks everything due in this window, from the wheels of all shards. */
static void shard_collect(struct wf_shard_priv *s)
{
	struct wf_engine *e = s->engine;
	uint32_t half = 2 * (uint32_t)(s - e->shards) + e->late;
	uint32_t slot = (uint32_t)e->k & (e->slots - 1);

	for (uint32_t src = 0; src < e->n_shards; src++) {
		struct wf_block **list = &e->shards[src].wheel[(size_t)half * e->slots + slot];
		struct wf_block *b = *list;

		*list = NULL;
		while (b != NULL) {
			struct wf_block *next = b->next;

			for (uint32_t i = 0; i < b->n; i++) {
				uint32_t node = b->entry[i] >> ENTRY_NODE_SHIFT;
				uint32_t input = b->entry[i] & ENTRY_TIMERS;

				if (input != ENTRY_TIMERS)
					s->nodes[node]->due[input / 64] |= UINT64_C(1)
					                                   << (input % 64);
				if (b->entry[i] & ENTRY_AGAIN)
					s->nodes[node]->in[input].cell = 0;
				s->due_nodes[node / 64] |= UINT64_C(1) << (node % 64);
			}
			wf_pool_put(s, wf_container_of(b, union wf_object, block));
			b = next;
		}
	}
}

/* Lists the nodes with something due, in the order in which they lie in memory. */
static uint32_t list_due(struct wf_shard_priv *s)
{
	uint32_t n = 0;

	for (uint32_t w = 0; w < s->due_room; w++) {
		uint64_t bits = s->due_nodes[w];

		if (bits == 0)
			continue;
		s->due_nodes[w] = 0;
		for (; bits != 0; bits &= bits - 1)
			s->run[n++] = w * 64 + (uint32_t)__builtin_ctzll(bits);
	}
	return n;
}

static void fetch(const void *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += WF_CACHE_LINE)
		__builtin_prefetch((const char *)p + i);
}

/* What a node will read is fetched while others run, in three steps, since each needs the last. */
static void warm_inputs(const struct wf_node *n)
{
	for (uint32_t w = 0; w * 64 < n->n_in; w++) {
		for (uint64_t bits = n->due[w]; bits != 0; bits &= bits - 1) {
			uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(bits);
			const struct wf_input *in = &n->in[i];

			__builtin_prefetch(&in->chunk->cell[in->cell]);
			/* The line behind: the next cell, or the way to it. */
			__builtin_prefetch(&in->chunk->cell[in->cell] + 1);
			n->ops->warm(n, i);
		}
	}
	/* Timers of the lower numbers belong to the inputs' other direction. */
	for (uint64_t bits = n->armed[0]; bits != 0; bits &= bits - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(bits);

		if (i < n->n_in && !(n->due[0] >> i & 1))
			n->ops->warm(n, i);
	}
}

static void warm(const struct wf_shard_priv *s, uint32_t i, uint32_t n)
{
	if (i + 3 < n)
		fetch(s->nodes[s->run[i + 3]], 4 * WF_CACHE_LINE);
	if (i + 2 < n) {
		const struct wf_node *node = s->nodes[s->run[i + 2]];

		fetch(node->in, node->n_in * sizeof(*node->in) + 16);
		fetch(node->timer, node->n_timers * sizeof(*node->timer));
	}
	if (i + 1 < n)
		warm_inputs(s->nodes[s->run[i + 1]]);
}

void wf_shard_run(struct wf_shard_priv *s)
{
	struct wf_engine *e = s->engine;
	uint32_t n;

	s->shard.base = e->k * e->window;
	s->shard.limit = e->limit;
	shard_collect(s);
	n = list_due(s);
	for (uint32_t i = 0; i < n; i++) {
		if (s->arena.used > CACHE_SIZE)
			warm(s, i, n);
		node_run(s, s->nodes[s->run[i]]);
	}
	wf_pool_trim(s);
}

void wf_link_next_chunk(struct wf_link *link, struct wf_shard *shard)
{
	struct wf_shard_priv *s = to_priv(shard);
	union wf_object *o = wf_pool_get(s);
	struct wf_chunk *c = o != NULL ? &o->chunk : &s->spare;

	c->cell[0].at = WF_TIME_NEVER;
	c->next = NULL;
	if (link->chunk != &s->spare)
		__atomic_store_n(&link->chunk->next, o != NULL ? c : &s->end, __ATOMIC_RELAXED);
	link->chunk = c;
	link->cell = 0;
}

void wf_link_notify(struct wf_link *link, struct wf_shard *shard, wf_time at)
{
	struct wf_shard_priv *s = to_priv(shard);
	int64_t k = at / s->engine->window;

	if (wf_unlikely(s->engine->order != NULL)) {
		s->engine->order->cell(s->engine->order_arg, link->dst >> ENTRY_NODE_SHIFT,
		                       link->dst & ENTRY_TIMERS, at);
		return;
	}
	/* As wf_link_slot() decided. */
	wf_wheel_add(s, link->dst_half, k,
	             link->dst | (link->notified <= shard->base ? ENTRY_AGAIN : 0));
	link->notified = (k + 1) * s->engine->window;
	/*
	 * A late node told of this very window looks no further than what is run of it now. Between
	 * windows nothing is run, and the limit is that of a window which is over.
	 */
	if (k == s->engine->k && shard->running != NULL && shard->limit < link->notified)
		link->notified = shard->limit;
}

void wf_node_wake(struct wf_node *node, unsigned slot, wf_time at)
{
	struct wf_shard_priv *s = to_priv(node->shard);
	struct wf_engine *e = s->engine;

	/* Whoever is run now may be ahead of the node, or the node may be done with this window. */
	assert(s->shard.running == NULL);
	if (s->shard.running != NULL && at < s->shard.limit)
		node->timer[slot] = at = s->shard.limit;
	if (at < e->now) {
		at = e->order == NULL ? e->now : (e->now + e->window - 1) / e->window * e->window;
		node->timer[slot] = at;
	}
	if (e->order != NULL)
		e->order->timer(e->order_arg, node, slot, at);
	else if (at < node->registered)
		wf_wheel_add_timer(s, node, at);
}

/* ---- for an order of the user's own ---- */

struct wf_node *wf_shard_node(const struct wf_shard *shard, uint32_t index)
{
	assert(index < shard->priv->n_nodes);
	return shard->priv->nodes[index];
}

void wf_node_run_cell(struct wf_node *node, unsigned input, wf_time now)
{
	struct wf_input *in = &node->in[input];
	struct wf_chunk *chunk = in->chunk;
	struct wf_cell *cell = &chunk->cell[in->cell];

	assert(cell->at == now);
	if (wf_unlikely(++in->cell == WF_CHUNK_CELLS)) {
		in->chunk = chunk->next;
		in->cell = 0;
	}
	node->ops->rx(node, input, cell, now);
	if (wf_unlikely(in->chunk != chunk))
		wf_pool_put(to_priv(node->shard), wf_container_of(chunk, union wf_object, chunk));
}

void wf_node_run_timer(struct wf_node *node, unsigned slot, wf_time now)
{
	if (node->timer[slot] != now)
		return; /* cleared */
	node->timer[slot] = WF_TIME_NEVER;
	node->ops->timer(node, slot, now);
}

void wf_shard_no_memory(struct wf_shard *shard)
{
	to_priv(shard)->no_memory = true;
}
