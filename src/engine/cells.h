/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h - the packet path of the engine: sending cells and setting timers, inline.
 *
 * To send, a node writes the body of the cell that wf_link_slot() returns and commits it:
 *
 *	struct wf_cell *cell = wf_link_slot(&port->link, node->shard);
 *	... fill cell->body ...
 *	wf_link_commit(&port->link, node->shard, now + delay);
 */
#ifndef WF_ENGINE_CELLS_H
#define WF_ENGINE_CELLS_H

#include "engine/engine.h"

/*
 * A key stands for an event of the node being run: time since the window's start in the upper 48
 * bits, then the input, or this plus the timer.
 */
#define WF_KEY_TIMER 0x8000u

/* The part of a shard that nodes use while they run. The rest is in engine_priv.h. */
struct wf_shard {
	struct wf_node *running; /* the node being run, or NULL */
	wf_time base;            /* start of the window that is run, or was the last to be run */
	wf_time limit;           /* end of what is run of it */
	void *user;
	uint64_t *key; /* what is due in this run: key[first .. end), ascending */
	uint32_t first, end, room;
	struct wf_shard_priv *priv;
};

/* Slow paths of the functions below. */
void wf_link_next_chunk(struct wf_link *link, struct wf_shard *shard);
void wf_link_notify(struct wf_link *link, struct wf_shard *shard, wf_time at);
void wf_node_wake(struct wf_node *node, unsigned slot, wf_time at);
bool wf_shard_make_room(struct wf_shard *shard);

/*
 * Puts a key where it belongs. What becomes due is mostly later than what is due already, so the
 * place is looked for from the end and found after a step or two.
 */
static inline void wf_shard_due(struct wf_shard *shard, uint64_t key)
{
	uint32_t i;

	if (wf_unlikely(shard->end == shard->room) && !wf_shard_make_room(shard))
		return;
	for (i = shard->end++; i > shard->first && shard->key[i - 1] > key; i--)
		shard->key[i] = shard->key[i - 1];
	shard->key[i] = key;
}

/*
 * Where the next cell of a link goes. Its at must not be touched.
 *
 * When everything sent so far arrived before this window, it has been received, and the chunk is
 * used from its start again: a link that is seldom used keeps to one or two lines of memory. The
 * receiver learns of it when it is told of the cell, as it must be.
 */
static inline struct wf_cell *wf_link_slot(struct wf_link *link, const struct wf_shard *shard)
{
	if (link->notified <= shard->base)
		link->cell = 0;
	return &link->chunk->cell[link->cell];
}

/* Sends the cell that wf_link_slot() returned, to arrive at at. Times on a link never go back. */
static inline void wf_link_commit(struct wf_link *link, struct wf_shard *shard, wf_time at)
{
	struct wf_cell *cell = &link->chunk->cell[link->cell];

	assert(shard->running == NULL || at >= shard->limit ||
	       (link->dst_half % 2 == 1 && !shard->running->ops->late));
	link->cell++;
	if (wf_unlikely(link->cell == WF_CHUNK_CELLS))
		wf_link_next_chunk(link, shard);
	else
		__atomic_store_n(&link->chunk->cell[link->cell].at, WF_TIME_NEVER,
		                 __ATOMIC_RELAXED);
	/* The reader may look at this cell any time; it must see the whole of it. */
	__atomic_store_n(&cell->at, at, __ATOMIC_RELEASE);
	if (wf_unlikely(at >= link->notified))
		wf_link_notify(link, shard, at);
}

/*
 * Sets a timer of a node, from its own handlers or while no node runs; a second set replaces the
 * first. A time that is over, while no node runs, means now: wf_engine_now().
 */
static inline void wf_timer_set(struct wf_node *node, unsigned slot, wf_time at)
{
	struct wf_shard *shard = node->shard;

	assert(slot < node->n_timers);
	assert(at != WF_TIME_NEVER && at >= 0);
	assert(shard->running != node || at >= shard->base);
	node->timer[slot] = at;
	if (wf_likely(shard->running == node && at < shard->limit)) {
		wf_shard_due(shard, (uint64_t)(at - shard->base) << 16 | WF_KEY_TIMER | slot);
		return;
	}
	node->armed[slot / 64] |= UINT64_C(1) << (slot % 64);
	if (wf_unlikely(shard->running != node))
		wf_node_wake(node, slot, at);
}

/* Turns a timer off. */
static inline void wf_timer_clear(struct wf_node *node, unsigned slot)
{
	node->timer[slot] = WF_TIME_NEVER;
	node->armed[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
}

static inline bool wf_timer_is_set(const struct wf_node *node, unsigned slot)
{
	return node->timer[slot] != WF_TIME_NEVER;
}

#endif
