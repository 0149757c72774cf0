/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - for users who bring an order of events of their own instead of windows.
 *
 * struct wf_engine_cfg names the functions below and their argument. The engine then tells the
 * order of every cell that is sent and of every timer that is set, asks it when something is due,
 * and has it run that; the order calls the nodes by wf_node_run_cell() and wf_node_run_timer(). It
 * takes one shard and one thread. All times are whole multiples of wf_engine_cfg.window. Cells may
 * arrive at once, and a node may set another's timers.
 */
#ifndef WF_ENGINE_ORDER_H
#define WF_ENGINE_ORDER_H

#include "engine/engine.h"

struct wf_engine_order_ops {
	size_t timer_size; /* bytes that the order keeps for each timer, a multiple of 8; zeroed */
	/* A cell was sent; it is due at input of the node with this index at time at. */
	void (*cell)(void *order, uint32_t node, unsigned input, wf_time at);
	/* A timer was set, for now or later; it replaces what it was set for before. */
	void (*timer)(void *order, struct wf_node *node, unsigned slot, wf_time at);
	/* The next time at which something is due; WF_TIME_NEVER: nothing is. */
	wf_time (*next)(const void *order);
	/* Runs what is due at now, which next() returned. Returns how many events that were. */
	uint64_t (*run)(void *order, wf_time now);
};

/* The node of a shard with this index. */
struct wf_node *wf_shard_node(const struct wf_shard *shard, uint32_t index);

/* What the order keeps for a timer; size is its timer_size. */
static inline void *wf_node_timer_data(const struct wf_node *node, unsigned slot, size_t size)
{
	assert(slot < node->n_timers);
	return (char *)(node->timer + node->n_timers) + slot * size;
}

/* Has the node handle the head cell of an input, which arrives now. */
void wf_node_run_cell(struct wf_node *node, unsigned input, wf_time now);

/* Has the node handle a timer, if it is still set for now. */
void wf_node_run_timer(struct wf_node *node, unsigned slot, wf_time now);

#endif
