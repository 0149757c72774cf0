/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - nodes that exchange cells over links, in windows of virtual time.
 *
 * Everything that passes between two nodes takes at least one window L (the smallest link delay),
 * so in the window [kL, (k+1)L) no node can hear of what another does in it. Each node therefore
 * runs a whole window at once: it merges the heads of its input FIFOs with its own timers in the
 * order (time, input, timer) and handles them while its state is in cache. Nodes with nothing due
 * are not visited, empty windows are jumped over, and nodes may be run by any number of threads:
 * what a node sees depends on none of that, so the results are the same, bit for bit.
 *
 *	               producer's shard                consumer's shard
 *	 node a  --->  struct wf_link  ==== chunks ====>  struct wf_input  --->  node b
 *	                     \------ "input i of node b is due in window k" ------/
 *
 * Late nodes run a window after all others have run it. What is on its way to them may therefore
 * take less than a window; what they send may not, and they exchange nothing with one another.
 * Hosts are late: links into hosts are the shortest, and without this they would make all windows
 * short.
 *
 * The engine knows no RDMA: a cell is 64 bytes of which it reads the first eight, a time.
 */
#ifndef WF_ENGINE_ENGINE_H
#define WF_ENGINE_ENGINE_H

#include <assert.h>
#include <stdbool.h>

#include "base/base.h"
#include "base/mem.h"

#define WF_ENGINE_MAX_INPUTS 1024
#define WF_ENGINE_MAX_NODES (1u << 20) /* of a shard */
#define WF_ENGINE_MAX_THREADS 64
#define WF_CHUNK_CELLS 7

struct wf_cell {
	wf_time at;       /* when it is an event at the receiver */
	uint64_t body[7]; /* the users', who read the cell as a struct of their own */
} WF_ALIGNED(WF_CACHE_LINE) WF_MAY_ALIAS;

/*
 * A piece of a link's FIFO, written by one thread and read by another. The cell after the last one
 * written always exists and has at == WF_TIME_NEVER: that is how the reader sees the end.
 */
struct wf_chunk {
	struct wf_cell cell[WF_CHUNK_CELLS];
	struct wf_chunk *next;
	uint64_t unused[7];
};

struct wf_engine;
struct wf_engine_order_ops;
struct wf_node;
struct wf_shard;

/* The producer's end of one direction of a link. Set up by wf_link_connect(). */
struct wf_link {
	struct wf_chunk *chunk; /* where the next cell goes */
	wf_time notified;       /* the receiver knows of arrivals before this */
	uint32_t dst;           /* receiver: index in its shard, and input, as in a wheel entry */
	uint16_t dst_half;      /* the half of a shard it is in: see struct wf_shard_priv */
	uint16_t cell;          /* index in chunk */
};

/* The consumer's end. */
struct wf_input {
	struct wf_chunk *chunk;
	uint32_t cell;
	uint32_t unused;
};

struct wf_node_ops {
	const char *name;
	bool late; /* runs a window after all that are not */
	/* A cell arrived; it is the node's to read and change until the call returns. */
	void (*rx)(struct wf_node *node, unsigned input, struct wf_cell *cell, wf_time now);
	/* Timer slot is due; it is off when this is called. */
	void (*timer)(struct wf_node *node, unsigned slot, wf_time now);
	/* The node will run soon: fetch what cells on input, or timer input, will need. */
	void (*warm)(const struct wf_node *node, unsigned input);
};

/* The engine's part of a node: the first member of every node's struct. */
struct wf_node {
	const struct wf_node_ops *ops;
	struct wf_shard *shard;
	struct wf_input *in;
	wf_time *timer;     /* when each is due; WF_TIME_NEVER: off */
	uint64_t *armed;    /* bit per timer that may be on after the window being run */
	uint64_t *due;      /* bit per input that has cells in the window being run */
	wf_time registered; /* earliest time for which the node's timers are in the wheel */
	uint32_t index;     /* in its shard */
	uint32_t n_in;
	uint32_t n_timers;
};

struct wf_engine_cfg {
	wf_time window;   /* L: no cell but to a late node arrives sooner after it was sent; >= 1 */
	wf_time horizon;  /* no cell arrives later than this after it was sent */
	unsigned threads; /* 1..WF_ENGINE_MAX_THREADS */
	unsigned shards;  /* >= threads; see wf_engine_shards_for() */
	size_t max_memory; /* bytes that each shard hands out at most; 0: what the system has */
	/* An order of events of the user's own, and its argument: see order.h. NULL: windows. */
	const struct wf_engine_order_ops *order;
	void *order_arg;
	struct wf_mem *mem; /* for the engine's own tables; must outlive it */
};

/* How many shards serve n threads well: one, or several per thread so that work can be shared. */
unsigned wf_engine_shards_for(unsigned threads);

/*
 * Takes fewer shards than cfg has, and if need be fewer threads, so that the wheels of all of them
 * together stay within a gigabyte: each shard's has a list for every other and every window up to
 * the horizon. No result depends on either.
 */
void wf_engine_fit(struct wf_engine_cfg *cfg);

/*
 * Creates an engine without nodes. On success *engine_p is owned by the caller. Returns 0, -EINVAL
 * (cfg out of range), -ERANGE (horizon / window too large for the wheel) or -ENOMEM.
 */
int wf_engine_create(const struct wf_engine_cfg *cfg, struct wf_engine **engine_p) WF_MUST_USE;

/* Frees an engine with all its nodes. NULL is allowed. */
void wf_engine_destroy(struct wf_engine *engine);

/* The n-th shard. */
struct wf_shard *wf_engine_shard(struct wf_engine *engine, unsigned n);

/* Memory that lives as long as the engine, next to the shard's nodes. NULL: no more. */
void *wf_shard_alloc(struct wf_shard *shard, size_t size) WF_MUST_USE;

/* The same as something to allocate from; what is freed comes back with the engine. */
struct wf_mem *wf_shard_mem(struct wf_shard *shard);

/* A user of the shard has no more memory: the run ends as if the engine had none. */
void wf_shard_no_memory(struct wf_shard *shard);

/* The users' pointer of a shard. */
void wf_shard_set_user(struct wf_shard *shard, void *user);
void *wf_shard_user(const struct wf_shard *shard);

/*
 * Adds a node to a shard: size bytes, zeroed, that begin with a struct wf_node. Nodes of a shard
 * run in the order in which they were added. Returns NULL when there is no more memory.
 */
struct wf_node *wf_engine_add_node(struct wf_shard *shard, const struct wf_node_ops *ops,
                                   size_t size, unsigned n_in, unsigned n_timers) WF_MUST_USE;

/*
 * Connects link, which lives in the memory of node src, to input of node dst. Every input is
 * connected at most once. Returns 0 or -ENOMEM.
 */
int wf_link_connect(struct wf_link *link, struct wf_node *src, struct wf_node *dst,
                    unsigned input) WF_MUST_USE;

/*
 * Runs fn once at virtual time at, or now if that is over, on the thread that calls
 * wf_engine_run(), while no node runs and before any node's event at that time. Call while no node
 * runs. Returns 0 or -ENOMEM.
 */
typedef void wf_engine_fn(void *arg, wf_time now);
int wf_engine_at(struct wf_engine *engine, wf_time at, wf_engine_fn *fn, void *arg) WF_MUST_USE;

/*
 * Called after every window and after every function of wf_engine_at(), with wf_engine_now(); false
 * ends the run.
 */
typedef bool wf_engine_hook(void *arg, wf_time now);

/*
 * Runs until nothing is due, until virtual time until, or until hook (may be NULL) says so. Returns
 * 0, -EAGAIN when a thread cannot be started, or -ENOMEM when memory ran out, now or before.
 */
int wf_engine_run(struct wf_engine *engine, wf_time until, wf_engine_hook *hook,
                  void *arg) WF_MUST_USE;

/*
 * The time up to which everything has run: that of the engine, which all others read. It never goes
 * back. Whatever is asked for from outside for a time before it becomes due now.
 */
wf_time wf_engine_now(const struct wf_engine *engine);

/*
 * No event is due before this, while no node runs: the start of the next window that has one, or
 * the time of the next function; WF_TIME_NEVER when nothing is due. It may lie before
 * wf_engine_now(), when that is within the window.
 */
wf_time wf_engine_next(const struct wf_engine *engine);

/* Lets time pass without events, while no node runs: up to until, or to when something is due. */
void wf_engine_rest(struct wf_engine *engine, wf_time until);

/*
 * Calls fn for every cell that is on the link between link and input, while no node runs. fn may
 * change the cell's body. done is wf_engine_now(); with an earlier time fn may see cells that were
 * received already and that nobody reads any more.
 */
typedef void wf_link_fn(void *arg, struct wf_cell *cell);
void wf_link_walk(const struct wf_link *link, const struct wf_input *input, wf_time done,
                  wf_link_fn *fn, void *arg);

/* True when memory ran out inside the run: the results are not to be used. */
bool wf_engine_out_of_memory(const struct wf_engine *engine);

/* Windows run so far, events handled so far, bytes of memory mapped. */
uint64_t wf_engine_windows(const struct wf_engine *engine);
uint64_t wf_engine_events(const struct wf_engine *engine);
size_t wf_engine_memory(const struct wf_engine *engine);

#endif
