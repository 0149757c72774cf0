/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_priv.h - an executor from the inside.
 */
#ifndef WF_JOB_EXEC_PRIV_H
#define WF_JOB_EXEC_PRIV_H

#include <assert.h>

#include "job/exec.h"

#define NONE UINT32_MAX
#define HANDLE_SHIFT 18 /* a handle: stream, and number in it modulo 2^18 */
#define HANDLE_MASK ((1u << HANDLE_SHIFT) - 1)
#define LINK_SHIFT 2 /* a link: the handle of who waits, and which of its dependencies */
#define LINK_MASK 3u
#define ROOM_MIN 8

enum op_state {
	OP_WAITING,   /* for dependencies */
	OP_WORKING,   /* its unit, or a delay */
	OP_OFFERED,   /* SEND: waits for an announcement */
	OP_POSTED,    /* SEND: on its way */
	OP_QUEUED,    /* RECV: waits for others of its connection to be filled */
	OP_ANNOUNCED, /* RECV: waits for its message */
	OP_MEETING,   /* MEET: waits for the others */
	OP_REDUCING,  /* REDUCE: waits for the network's result */
	OP_LOST,      /* has no connection */
	OP_DONE,
};

struct slot {
	struct wf_op op;
	wf_time start;
	uint32_t link[WF_OP_DEPS]; /* the next on the list on which dependency i waits */
	uint32_t waiters[2];       /* lists: for its end, for its start */
	uint32_t next;             /* in a queue */
	uint32_t end;              /* of its connection */
	uint8_t state;             /* enum op_state */
	uint8_t waits;             /* dependencies that are not met */
};

struct stream {
	struct slot *ring;
	uint32_t room; /* a power of two */
	uint32_t window;
	uint32_t base, loaded; /* numbers of the oldest unfinished operation, and of the next */
	uint32_t marks;
	uint32_t mark_waiters, future; /* lists of links */
	uint32_t last_waiter;          /* for a mark: the end of that list */
	uint32_t last_mark;            /* that it waits for */
	bool exhausted;
	void *cursor;
};

/* This rank's end of a connection. A list of sends that are offered, or of receives queued. */
struct end {
	uint32_t peer;
	uint16_t channel;
	bool sends;
	uint8_t n_announced;
	uint32_t conn;   /* the driver's number */
	uint32_t number; /* announcements so far */
	uint32_t head, tail;
	union {
		struct {
			uint32_t tag, number;
		} announced[WF_EXEC_RECEIVES];       /* sends: without a message yet */
		uint32_t expected[WF_EXEC_RECEIVES]; /* receives: handles by announcement */
	};
};

struct timer {
	wf_time at;
	uint64_t order; /* first set, first served */
	uint32_t handle;
};

/* A group that has begun on the rank and is not over; plans have one in a lane at most. */
#define OPEN_GROUPS 32

struct open_group {
	uint32_t group;
	wf_time begin;
};

struct wf_exec {
	const struct wf_schedule *schedule;
	const struct wf_exec_driver *driver;
	void *ctx;
	const struct wf_job_observer *observer;
	struct wf_exec_counts *counts;
	struct wf_mem *mem;
	uint32_t rank;
	uint32_t receives; /* announced on a connection at most */
	uint32_t n_streams;
	struct stream *streams;
	struct end *ends;
	uint32_t n_ends, ends_room;
	uint32_t *table; /* hash of the ends */
	uint32_t table_mask;
	wf_time *units; /* free from then on */
	uint32_t n_units;
	struct timer *timers; /* a heap */
	uint32_t n_timers, timers_room;
	uint64_t timers_set;
	uint32_t ready, ready_tail; /* queue of operations that may start */
	uint64_t unfinished;        /* operations loaded and not ended */
	wf_time now, end, busy;
	bool started, finished, no_memory;
	void *cursors;
	struct open_group open[OPEN_GROUPS];
	uint32_t n_open;
};

static inline struct slot *ring_slot(const struct stream *st, uint32_t number)
{
	return &st->ring[number & (st->room - 1)];
}

static inline struct slot *slot_of(const struct wf_exec *x, uint32_t handle)
{
	return ring_slot(&x->streams[handle >> HANDLE_SHIFT], handle & HANDLE_MASK);
}

static inline uint32_t handle_of(const struct wf_exec *x, const struct stream *st, uint32_t number)
{
	return (uint32_t)(st - x->streams) << HANDLE_SHIFT | (number & HANDLE_MASK);
}

/* Adds an operation at the end of a queue. */
static inline void append(struct wf_exec *x, uint32_t *head, uint32_t *tail, uint32_t handle)
{
	slot_of(x, handle)->next = NONE;
	if (*head == NONE)
		*head = handle;
	else
		slot_of(x, *tail)->next = handle;
	*tail = handle;
}

static inline void push_ready(struct wf_exec *x, uint32_t handle)
{
	append(x, &x->ready, &x->ready_tail, handle);
}

/* The end with that peer and channel; NONE: there is none. */
uint32_t wf_exec_find(const struct wf_exec *x, uint32_t peer, uint16_t channel, bool sends);

void wf_exec_set_timer(struct wf_exec *x, uint32_t handle, wf_time at);
uint32_t wf_exec_pop_timer(struct wf_exec *x);

#endif
