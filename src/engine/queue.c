/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c - one queue of events for all nodes: wf_engine_cfg.in_order.
 *
 * Time is in whole ticks. Each tick up to some way ahead has a list of what is due in it, and what is
 * asked for goes to the end of its list: events of a tick run in the order in which they were asked
 * for. What is due later than there are lists waits in a heap, by time and order, and joins the list
 * of its tick when that tick gets one, which is before anybody can ask for that list directly.
 */
#include <string.h>

#include "engine/engine_priv.h"

#define MIN_LISTS 64u
#define MAX_LISTS (1u << 16)
#define FIRST_ROOM 1024u
#define TIMER (1u << 31)

int wf_queue_init(struct wf_engine *e, wf_time horizon)
{
	struct wf_queue *q = &e->queue;
	struct wf_arena *arena = &e->shards[0].arena;

	q->lists = MIN_LISTS;
	while (q->lists < MAX_LISTS && q->lists <= (uint64_t)(horizon / e->window))
		q->lists *= 2;
	q->list = wf_arena_alloc(arena, q->lists * sizeof(*q->list), WF_CACHE_LINE);
	q->used = wf_arena_alloc(arena, q->lists / 8, WF_CACHE_LINE);
	/* No window is ever run: links tell of every cell, timers of every setting. */
	e->shards[0].shard.base = -1;
	return q->list == NULL || q->used == NULL ? -1 : 0;
}

/* Twice the room of an array of n; NULL when there is no more memory. */
static void *grow(struct wf_shard_priv *s, const void *old, uint32_t n, uint32_t *room_p,
                  size_t size)
{
	uint32_t room = n == 0 ? FIRST_ROOM : 2 * n;
	void *array = wf_arena_alloc(&s->arena, room * size, WF_CACHE_LINE);

	if (array == NULL) {
		s->no_memory = true;
		return NULL;
	}
	if (n > 0)
		memcpy(array, old, n * size);
	*room_p = room;
	return array;
}

/* A free event's number, or 0 when there is no more memory: none has that number. */
static uint32_t event_get(struct wf_shard_priv *s, struct wf_queue *q)
{
	uint32_t i = q->free;

	if (wf_likely(i != 0)) {
		q->free = q->event[i].next;
		return i;
	}
	if (q->n_events == q->events_room) {
		struct wf_queued *event =
			grow(s, q->event, q->n_events, &q->events_room, sizeof(*event));

		if (event == NULL)
			return 0;
		q->event = event;
		q->n_events += q->n_events == 0;
	}
	return q->n_events++;
}

/* Field by field: put together first, an event would be read before it is written, in the CPU. */
static inline void list_add(struct wf_shard_priv *s, struct wf_queue *q, int64_t tick,
                            uint32_t node, uint32_t what, uint32_t number)
{
	uint32_t slot = (uint32_t)tick & (q->lists - 1);
	struct wf_queue_list *list = &q->list[slot];
	uint32_t i = event_get(s, q);

	if (i == 0)
		return;
	q->event[i].next = 0;
	q->event[i].node = node;
	q->event[i].what = what;
	q->event[i].number = number;
	if (list->first == 0)
		list->first = i;
	else
		q->event[list->last].next = i;
	list->last = i;
	q->used[slot / 64] |= UINT64_C(1) << (slot % 64);
}

static bool far_before(const struct wf_queue_far *a, const struct wf_queue_far *b)
{
	return a->tick != b->tick ? a->tick < b->tick : a->number < b->number;
}

static void far_push(struct wf_shard_priv *s, struct wf_queue *q, int64_t tick, uint32_t node,
                     uint32_t what, uint32_t number)
{
	struct wf_queue_far far = {
		.tick = tick,
		.number = q->far_number++,
		.event = { .node = node, .what = what, .number = number },
	};
	uint32_t i;

	if (q->n_far == q->far_room) {
		struct wf_queue_far *heap = grow(s, q->far, q->n_far, &q->far_room, sizeof(*heap));

		if (heap == NULL)
			return;
		q->far = heap;
	}
	for (i = q->n_far++; i > 0 && far_before(&far, &q->far[(i - 1) / 2]); i = (i - 1) / 2)
		q->far[i] = q->far[(i - 1) / 2];
	q->far[i] = far;
}

static struct wf_queue_far far_pop(struct wf_queue *q)
{
	struct wf_queue_far top = q->far[0];
	struct wf_queue_far last = q->far[--q->n_far];
	uint32_t i = 0;

	for (;;) {
		uint32_t c = 2 * i + 1;

		if (c >= q->n_far)
			break;
		if (c + 1 < q->n_far && far_before(&q->far[c + 1], &q->far[c]))
			c++;
		if (!far_before(&q->far[c], &last))
			break;
		q->far[i] = q->far[c];
		i = c;
	}
	q->far[i] = last;
	return top;
}

static inline void add(struct wf_shard_priv *s, wf_time at, uint32_t node, uint32_t what,
                       uint32_t number)
{
	struct wf_queue *q = &s->engine->queue;
	int64_t tick = at / s->engine->window;

	assert(at % s->engine->window == 0 && tick >= q->tick);
	if (wf_likely(tick < q->tick + q->lists))
		list_add(s, q, tick, node, what, number);
	else
		far_push(s, q, tick, node, what, number);
}

void wf_queue_add_cell(struct wf_shard_priv *s, uint32_t node, uint32_t input, wf_time at)
{
	add(s, at, node, input, 0);
}

void wf_queue_add_timer(struct wf_node *node, unsigned slot, wf_time at)
{
	struct wf_shard_priv *s = node->shard->priv;
	struct wf_place *place = wf_node_place(node, slot);

	if (place->at == at)
		return;
	place->at = at;
	place->number = ++s->engine->queue.timer_number;
	add(s, at, node->index, TIMER | slot, place->number);
}

int64_t wf_queue_next(const struct wf_engine *e)
{
	const struct wf_queue *q = &e->queue;
	uint32_t slot = (uint32_t)q->tick & (q->lists - 1), word = slot / 64;
	uint64_t bits = q->used[word] & (UINT64_MAX << (slot % 64));

	/* One more than the words there are: the first is looked at again for its lower bits. */
	for (uint32_t i = 0; i <= q->lists / 64; i++) {
		if (bits != 0) {
			uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);

			return q->tick + ((found - slot) & (q->lists - 1));
		}
		word = (word + 1) & (q->lists / 64 - 1);
		bits = q->used[word];
	}
	return q->n_far > 0 ? q->far[0].tick : INT64_MAX;
}

static void run_cell(struct wf_shard_priv *s, struct wf_node *n, uint32_t i, wf_time now)
{
	struct wf_input *in = &n->in[i];
	struct wf_chunk *chunk = in->chunk;
	struct wf_cell *cell = &chunk->cell[in->cell];

	assert(cell->at == now);
	if (wf_unlikely(++in->cell == WF_CHUNK_CELLS)) {
		in->chunk = chunk->next;
		in->cell = 0;
	}
	n->ops->rx(n, i, cell, now);
	if (wf_unlikely(in->chunk != chunk))
		wf_pool_put(s, wf_container_of(chunk, union wf_object, chunk));
}

static void run_timer(struct wf_node *n, unsigned slot, uint32_t number, wf_time now)
{
	struct wf_place *place = wf_node_place(n, slot);

	if (place->number != number)
		return; /* set anew since */
	place->at = WF_TIME_NEVER;
	if (n->timer[slot] != now)
		return; /* cleared */
	n->timer[slot] = WF_TIME_NEVER;
	n->ops->timer(n, slot, now);
}

void wf_queue_run(struct wf_engine *e, int64_t tick)
{
	struct wf_queue *q = &e->queue;
	struct wf_shard_priv *s = &e->shards[0];
	uint32_t slot = (uint32_t)tick & (q->lists - 1);
	wf_time now = tick * e->window;

	q->tick = tick;
	while (q->n_far > 0 && q->far[0].tick < tick + q->lists) {
		struct wf_queue_far far = far_pop(q);

		list_add(s, q, far.tick, far.event.node, far.event.what, far.event.number);
	}
	while (q->list[slot].first != 0) {
		uint32_t i = q->list[slot].first;
		struct wf_queued *event = &q->event[i];
		struct wf_node *node = s->nodes[event->node];
		uint32_t what = event->what, number = event->number;

		q->list[slot].first = event->next;
		event->next = q->free;
		q->free = i;
		s->events++;
		if (what & TIMER)
			run_timer(node, what & ~TIMER, number, now);
		else
			run_cell(s, node, what, now);
	}
	q->used[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
}
