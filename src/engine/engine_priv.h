/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_priv.h - shards, the wheel of windows, and the pool of 512-byte objects.
 */
#ifndef WF_ENGINE_ENGINE_PRIV_H
#define WF_ENGINE_ENGINE_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/cells.h"
#include "engine/order.h"
#include "engine/team.h"

/*
 * A wheel entry says that an input of a node has a cell in some window, or that its timers are due.
 * Node index in the upper 20 bits, then whether the link's chunk is used from its start again, and
 * the input in the lower 11.
 */
#define ENTRY_NODE_SHIFT 12
#define ENTRY_AGAIN (1u << 11)
#define ENTRY_TIMERS (ENTRY_AGAIN - 1)

_Static_assert(WF_ENGINE_MAX_INPUTS <= ENTRY_TIMERS, "inputs and the timer mark fit an entry");
_Static_assert(WF_ENGINE_MAX_INPUTS <= WF_KEY_TIMER, "inputs fit the lower half of a key");

/* With more than one thread: several, so that work can be shared. */
#define SHARDS_PER_THREAD 4

#define BLOCK_ENTRIES 124

/* Entries of one slot of a wheel. */
struct wf_block {
	struct wf_block *next;
	uint32_t n;
	uint32_t unused;
	uint32_t entry[BLOCK_ENTRIES];
};

/* Chunks and blocks come from one pool, so they have one size. */
union wf_object {
	struct wf_chunk chunk;
	struct wf_block block;
	union wf_object *next_free;
};

_Static_assert(sizeof(union wf_object) == 512, "chunks and blocks are 512 bytes");

/* A list of free objects. Each shard has one; the engine's is shared, behind a lock. */
struct wf_pool {
	union wf_object *first;
	uint32_t n;
};

/* A timer too far away for the wheel. */
struct wf_far {
	wf_time at;
	struct wf_node *node;
};

struct wf_shard_priv {
	struct wf_shard shard; /* the public part */
	struct wf_engine *engine;
	struct wf_arena arena;
	struct wf_node **nodes;
	uint32_t n_nodes, nodes_room;
	uint64_t *due_nodes; /* bit per node with something due in this window */
	uint32_t due_room;   /* words */
	uint32_t *run;       /* the nodes to run in this window, in order */
	struct wf_pool pool;

	/*
	 * What this shard knows to be due: wheel[half * slots + window % slots]. Each shard has two
	 * halves, 2 * shard for its nodes and 2 * shard + 1 for those that are late.
	 */
	struct wf_block **wheel;
	uint32_t *slot_entries; /* over all receivers */
	uint64_t *slot_used;    /* bit per slot with entries */
	struct wf_far *far;     /* heap by time */
	uint32_t far_n, far_room;

	uint64_t events;
	/*
	 * When there is no more memory, the run ends with the part of the window that is being run.
	 * Until then, links that need another chunk write all into spare, which nobody reads, and
	 * their receivers find the end, which nobody writes.
	 */
	bool no_memory;
	struct wf_chunk spare, end;
} WF_ALIGNED(WF_CACHE_LINE);

/* A function to call between windows: wf_engine_at(). */
struct wf_global {
	wf_time at;
	uint64_t number; /* breaks ties in the order of asking */
	wf_engine_fn *fn;
	void *arg;
};

struct wf_engine {
	struct wf_mem *mem;
	wf_time window;
	unsigned n_shards;
	unsigned threads;
	uint32_t slots; /* of the wheel; a power of two */
	struct wf_shard_priv *shards;

	struct wf_global *globals; /* sorted by (at, number), the soonest last */
	uint32_t n_globals, globals_room;
	uint64_t next_global;

	/* Written by the leader while the others wait. */
	wf_time now; /* everything before it has run */
	int64_t k;   /* the window being run, or in which now is */
	wf_time limit;
	bool late; /* the late nodes' part of it */
	bool has_late;
	const struct wf_engine_order_ops *order; /* the user's, instead of windows; or NULL */
	void *order_arg;
	uint64_t windows;

	pthread_mutex_t pool_lock;
	struct wf_pool pool;
	struct wf_team team;
};

/* Takes an object from the shard's pool. NULL: there is no more memory, and the run ends. */
union wf_object *wf_pool_get(struct wf_shard_priv *s);

/* Gives an object back. */
static inline void wf_pool_put(struct wf_shard_priv *s, union wf_object *o)
{
	o->next_free = s->pool.first;
	s->pool.first = o;
	s->pool.n++;
}

/* Hands what the shard's pool has too much of to the engine's. */
void wf_pool_trim(struct wf_shard_priv *s);

/* Puts entry for window k of a half of a shard into the wheel of s, if there is memory. */
void wf_wheel_add(struct wf_shard_priv *s, uint32_t half, int64_t k, uint32_t entry);

/* The half that a node is in. */
static inline uint32_t wf_node_half(const struct wf_node *node)
{
	const struct wf_shard_priv *s = node->shard->priv;

	return 2 * (uint32_t)(s - s->engine->shards) + node->ops->late;
}

/* The first window at or after k for which s knows something due; INT64_MAX if none. */
int64_t wf_wheel_next(const struct wf_shard_priv *s, int64_t k);

/* Registers the node's timers for time at, in the wheel or among the far ones. */
void wf_wheel_add_timer(struct wf_shard_priv *s, struct wf_node *node, wf_time at);

/* Moves every far timer that the wheel can now hold into it. */
void wf_wheel_turn(struct wf_shard_priv *s, int64_t k);

/* Runs the nodes of a shard, late ones or the others, for the engine's current window. */
void wf_shard_run(struct wf_shard_priv *s);

#endif
