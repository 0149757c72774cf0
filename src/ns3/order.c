/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.c - one queue of events for all nodes.
 *
 * Time is in whole ticks. Each tick up to some way ahead has a list of what is due in it, and
 * what is asked for goes to the end of its list: events of a tick run in the order in which they
 * were asked for. What is due later than there are lists waits in a heap, by time and order, and
 * joins the list of its tick when that tick gets one, which is before anybody can ask for that
 * list directly.
 */
#include "ns3/order.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define MIN_LISTS 64u
#define MAX_LISTS (1u << 16)
#define FIRST_ROOM 1024u
#define TIMER (1u << 31)

struct wf_ns3_event {
	uint32_t next;   /* in its list, or among those that are free; 0: the last */
	uint32_t node;   /* index in the shard */
	uint32_t what;   /* input, or timer */
	uint32_t number; /* of a timer: which setting of it */
};

/* An event that is due later than there are lists. */
struct wf_ns3_far {
	int64_t tick;
	uint64_t number; /* the order of asking */
	struct wf_ns3_event event;
};

/* Where a timer is in the queue. */
struct place {
	wf_time at;
	uint32_t number; /* 0: nowhere */
};

int wf_ns3_order_init(struct wf_ns3_order *q, struct wf_shard *shard, wf_time tick, wf_time horizon)
{
	assert(tick > 0 && horizon >= 0);
	memset(q, 0, sizeof(*q));
	q->shard = shard;
	q->tick = tick;
	q->lists = MIN_LISTS;
	while (q->lists < MAX_LISTS && q->lists <= (uint64_t)(horizon / tick))
		q->lists *= 2;
	q->list = wf_shard_alloc(shard, q->lists * sizeof(*q->list));
	q->used = wf_shard_alloc(shard, q->lists / 8);
	return q->list == NULL || q->used == NULL ? -ENOMEM : 0;
}

/* Twice the room of an array of n; NULL when there is no more memory. */
static void *grow(struct wf_ns3_order *q, const void *old, uint32_t n, uint32_t *room_p,
                  size_t size)
{
	uint32_t room = n == 0 ? FIRST_ROOM : 2 * n;
	void *array = wf_shard_alloc(q->shard, room * size);

	if (array == NULL) {
		wf_shard_no_memory(q->shard);
		return NULL;
	}
	if (n > 0)
		memcpy(array, old, n * size);
	*room_p = room;
	return array;
}

/* A free event's number, or 0 when there is no more memory: none has that number. */
static uint32_t event_get(struct wf_ns3_order *q)
{
	uint32_t i = q->free;

	if (wf_likely(i != 0)) {
		q->free = q->event[i].next;
		return i;
	}
	if (q->n_events == q->events_room) {
		struct wf_ns3_event *event =
			grow(q, q->event, q->n_events, &q->events_room, sizeof(*event));

		if (event == NULL)
			return 0;
		q->event = event;
		q->n_events += q->n_events == 0;
	}
	return q->n_events++;
}

/* Field by field: put together first, an event would be read before it is written, in the CPU. */
static inline void list_add(struct wf_ns3_order *q, int64_t tick, uint32_t node, uint32_t what,
                            uint32_t number)
{
	uint32_t slot = (uint32_t)tick & (q->lists - 1);
	struct wf_ns3_list *list = &q->list[slot];
	uint32_t i = event_get(q);

	assert(tick >= q->now && tick < q->now + q->lists && i <= q->n_events);
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

static bool far_before(const struct wf_ns3_far *a, const struct wf_ns3_far *b)
{
	return a->tick != b->tick ? a->tick < b->tick : a->number < b->number;
}

static void far_push(struct wf_ns3_order *q, int64_t tick, uint32_t node, uint32_t what,
                     uint32_t number)
{
	struct wf_ns3_far far = {
		.tick = tick,
		.number = q->far_number++,
		.event = { .node = node, .what = what, .number = number },
	};
	uint32_t i;

	if (q->n_far == q->far_room) {
		struct wf_ns3_far *heap = grow(q, q->far, q->n_far, &q->far_room, sizeof(*heap));

		if (heap == NULL)
			return;
		q->far = heap;
	}
	for (i = q->n_far++; i > 0 && far_before(&far, &q->far[(i - 1) / 2]); i = (i - 1) / 2)
		q->far[i] = q->far[(i - 1) / 2];
	q->far[i] = far;
}

static struct wf_ns3_far far_pop(struct wf_ns3_order *q)
{
	struct wf_ns3_far top = q->far[0];
	struct wf_ns3_far last = q->far[--q->n_far];
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

static inline void add(struct wf_ns3_order *q, wf_time at, uint32_t node, uint32_t what,
                       uint32_t number)
{
	int64_t tick = at / q->tick;

	assert(at % q->tick == 0 && tick >= q->now);
	if (wf_likely(tick < q->now + q->lists))
		list_add(q, tick, node, what, number);
	else
		far_push(q, tick, node, what, number);
}

static void order_cell(void *order, uint32_t node, unsigned input, wf_time at)
{
	add(order, at, node, input, 0);
}

/* A timer that is set for that time already keeps its place. */
static void order_timer(void *order, struct wf_node *node, unsigned slot, wf_time at)
{
	struct wf_ns3_order *q = order;
	struct place *place = wf_node_timer_data(node, slot, sizeof(*place));

	if (place->at == at && place->number != 0)
		return;
	place->at = at;
	place->number = ++q->timer_number;
	add(q, at, node->index, TIMER | slot, place->number);
}

static wf_time order_next(const void *order)
{
	const struct wf_ns3_order *q = order;
	uint32_t slot = (uint32_t)q->now & (q->lists - 1), word = slot / 64;
	uint64_t bits = q->used[word] & (UINT64_MAX << (slot % 64));

	/* One more than the words there are: the first is looked at again for its lower bits. */
	for (uint32_t i = 0; i <= q->lists / 64; i++) {
		if (bits != 0) {
			uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);

			return (q->now + ((found - slot) & (q->lists - 1))) * q->tick;
		}
		word = (word + 1) & (q->lists / 64 - 1);
		bits = q->used[word];
	}
	return q->n_far > 0 ? q->far[0].tick * q->tick : WF_TIME_NEVER;
}

static void run_timer(struct wf_node *node, unsigned slot, uint32_t number, wf_time now)
{
	struct place *place = wf_node_timer_data(node, slot, sizeof(*place));

	if (place->number != number)
		return; /* set anew since */
	place->number = 0;
	wf_node_run_timer(node, slot, now);
}

static uint64_t order_run(void *order, wf_time now)
{
	struct wf_ns3_order *q = order;
	int64_t tick = now / q->tick;
	uint32_t slot = (uint32_t)tick & (q->lists - 1);
	uint64_t events = 0;

	assert(now % q->tick == 0 && tick >= q->now);
	q->now = tick;
	while (q->n_far > 0 && q->far[0].tick < tick + q->lists) {
		struct wf_ns3_far far = far_pop(q);

		list_add(q, far.tick, far.event.node, far.event.what, far.event.number);
	}
	while (q->list[slot].first != 0) {
		uint32_t i = q->list[slot].first;
		struct wf_ns3_event *event = &q->event[i];
		struct wf_node *node = wf_shard_node(q->shard, event->node);
		uint32_t what = event->what, number = event->number;

		q->list[slot].first = event->next;
		event->next = q->free;
		q->free = i;
		events++;
		if (what & TIMER)
			run_timer(node, what & ~TIMER, number, now);
		else
			wf_node_run_cell(node, what, now);
	}
	q->used[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
	return events;
}

const struct wf_engine_order_ops wf_ns3_order_ops = {
	.timer_size = sizeof(struct place),
	.cell = order_cell,
	.timer = order_timer,
	.next = order_next,
	.run = order_run,
};
