/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - one queue of events for all nodes, as the HPCC simulator and many others have it.
 *
 * Nodes run in the order of time, and what is due at the same time runs in the order in which it
 * was asked for. All times are whole multiples of a tick.
 *
 *	cfg.order = &wf_ns3_order_ops;
 *	cfg.order_arg = &order;
 *	... wf_engine_create(&cfg, &engine) ...
 *	... wf_ns3_order_init(&order, wf_engine_shard(engine, 0), tick, horizon) ...
 */
#ifndef WF_NS3_ORDER_H
#define WF_NS3_ORDER_H

#include "engine/order.h"

struct wf_ns3_event;
struct wf_ns3_far;

struct wf_ns3_order {
	struct wf_shard *shard; /* whose nodes it runs, and whose memory it takes */
	wf_time tick;
	int64_t now;    /* the tick being run */
	uint32_t lists; /* a power of two */
	struct wf_ns3_list {
		uint32_t first, last; /* 0: none */
	} * list;                     /* [tick % lists] */
	uint64_t *used;               /* bit per list with events */
	struct wf_ns3_event *event;   /* by number, from 1 */
	uint32_t n_events, events_room, free;
	struct wf_ns3_far *far; /* heap by (tick, number) */
	uint32_t n_far, far_room;
	uint64_t far_number;
	uint32_t timer_number;
};

extern const struct wf_engine_order_ops wf_ns3_order_ops;

/*
 * Sets up an order in the caller's memory, before nodes are added to the shard. What is due within
 * horizon is in lists; what is due later waits in a heap. Returns 0 or -ENOMEM.
 */
int wf_ns3_order_init(struct wf_ns3_order *q, struct wf_shard *shard, wf_time tick,
                      wf_time horizon) WF_MUST_USE;

#endif
