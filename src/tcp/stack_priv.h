/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_priv.h - a host's TCP from the inside: cores and their jobs, sockets, the queue to the
 * adapter.
 */
#ifndef WF_TCP_STACK_PRIV_H
#define WF_TCP_STACK_PRIV_H

#include <assert.h>

#include "tcp/conn_priv.h"
#include "tcp/stack.h"

#define POLL_BUDGET 64 /* packets that are taken out of the ring at once (NAPI's weight) */
#define GRO_MAX 65536  /* bytes that are merged at most */
#define WF_TCP_CLASSES 16

/* What a core does. */
enum job_kind {
	JOB_POLL,  /* takes packets out of the ring, merges them, and gives them to TCP */
	JOB_TX,    /* a burst to the adapter */
	JOB_READ,  /* the program reads */
	JOB_WRITE, /* the program writes */
};

struct job {
	struct job *next;
	struct wf_tcp_sock *sock; /* NULL: of the core */
	uint8_t kind;             /* enum job_kind */
	bool queued;
};

/* A packet in the ring; or several that were merged. */
struct rx {
	struct wf_packet pkt;
	struct rx *next;
	struct wf_tcp_sock *sock;
	uint32_t bytes;
	uint32_t next_seq;
};

struct core {
	wf_time end;       /* of what it does; WF_TIME_NEVER: nothing */
	wf_time interrupt; /* the ring's; WF_TIME_NEVER: none is due */
	struct job *running, *first, *last;
	struct job poll;
	bool ending; /* a job ends: the next begins when all of that is done */
	struct rx *ring_first, *ring_last;
	struct rx *batch; /* what the poll that runs has taken */
	uint32_t in_ring;
	uint32_t polls;            /* so far: tells the merges of one from those of another */
	struct wf_tcp_burst burst; /* of the JOB_TX that runs */
	uint64_t chunk;            /* of the JOB_READ or JOB_WRITE that runs */
	wf_time debt;              /* what was done besides jobs, and is not charged yet */
	uint64_t busy;
};

struct wf_tcp_sock {
	struct wf_tcp_stack *stack;
	struct wf_tcp_conn *conn;
	const struct wf_tcp_user *user;
	void *arg;
	struct core *core;
	uint32_t number;
	struct job tx, read, write;
	struct rx *merge; /* what more may be merged with, in poll number merge_poll */
	uint32_t merge_poll;
	uint64_t to_write;   /* handed over by the program, not copied */
	uint64_t bytes_read; /* by the program */
	uint64_t told;       /* acknowledged bytes that the user knows of */
	uint64_t in_adapter; /* bytes in the queue to the adapter */
	bool lends;          /* its writer, instead of having bytes copied */
	bool digests;        /* its program makes and checks digests */
	bool asleep;         /* its reader waits */
	bool full;           /* its writer waits for room */
	bool throttled;      /* too much is in the queue to the adapter */
	uint32_t heap_pos;
};

/* A burst that waits for the wire; without bytes an acknowledgement. */
struct tx {
	struct wf_tcp_burst burst;
	struct wf_tcp_sock *sock;
	struct tx *next;
	wf_time ready;
	bool first; /* none of its packets has left */
};

struct timer_item {
	wf_time at;
	struct wf_tcp_sock *sock;
};

struct wf_tcp_stack {
	struct wf_tcp_stack_cfg cfg;
	struct wf_mem *mem;
	struct wf_tcp_pool *pool;
	struct core *cores;
	struct wf_tcp_sock **socks;
	struct timer_item *heap; /* by time; as many as there are sockets */
	uint32_t n_socks, room;
	struct {
		struct tx *first, *last;
	} queue[WF_TCP_CLASSES];
	uint32_t classes; /* bit per queue that is not empty */
	struct rx *free_rx;
	struct tx *free_tx;
	wf_tcp_watch_fn *watch; /* NULL: nobody */
	void *watch_ctx;
	uint64_t counter[WF_TCP_CTRS];
};

/* ---- cores.c ---- */

/* Has a core do a job when its turn comes. */
void wf_tcp_core_queue(struct core *core, struct job *job);

/* Begins the next job of a core that does nothing. */
void wf_tcp_core_go(struct wf_tcp_stack *stack, struct core *core, wf_time now);

/* What is due at a core. */
void wf_tcp_core_tick(struct wf_tcp_stack *stack, struct core *core, wf_time now);

/* ---- txq.c ---- */

/* Hands packets to the adapter. */
void wf_tcp_hand_over(struct wf_tcp_sock *sock, const struct wf_tcp_burst *burst, wf_time now);

/* ---- stack.c ---- */

/* After anything that may have changed what a connection wants. */
void wf_tcp_settle(struct wf_tcp_sock *sock, wf_time now);

#endif
