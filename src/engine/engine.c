/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - building an engine, and the loop that goes from window to window.
 */
#include "engine/engine.h"

#include <errno.h>
#include <string.h>

#include "engine/engine_priv.h"

#define MIN_SLOTS 64u
#define MAX_SLOTS (1u << 20)
#define MAX_WHEELS (UINT64_C(1) << 30) /* bytes */

/* With fewer entries than this in a window, waking other threads costs more than it saves. */
#define LIGHT_WINDOW 256

unsigned wf_engine_shards_for(unsigned threads)
{
	return threads <= 1 ? 1 : threads * SHARDS_PER_THREAD;
}

static int slots_for(const struct wf_engine_cfg *cfg, uint32_t *slots_p)
{
	wf_time windows = cfg->order != NULL ? 0 : cfg->horizon / cfg->window + 3;
	uint32_t slots = MIN_SLOTS;

	if (windows > MAX_SLOTS)
		return -ERANGE;
	while (slots < (uint64_t)windows)
		slots *= 2;
	*slots_p = slots;
	return 0;
}

/* Bytes of the lists of all shards' wheels. */
static uint64_t wheel_bytes(uint32_t slots, unsigned shards)
{
	return UINT64_C(2) * shards * shards * slots * sizeof(struct wf_block *);
}

void wf_engine_fit(struct wf_engine_cfg *cfg)
{
	uint32_t slots;

	if (cfg->window < 1 || slots_for(cfg, &slots) != 0)
		return; /* wf_engine_create() refuses it */
	while (cfg->shards > 1 && wheel_bytes(slots, cfg->shards) > MAX_WHEELS)
		cfg->shards--;
	if (cfg->threads > cfg->shards)
		cfg->threads = cfg->shards;
}

static int shard_init(struct wf_engine *e, struct wf_shard_priv *s, size_t limit)
{
	size_t lists = 2 * (size_t)e->n_shards * e->slots;

	s->engine = e;
	s->shard.priv = s;
	wf_arena_init(&s->arena);
	s->arena.limit = limit;
	s->end.cell[0].at = WF_TIME_NEVER;
	s->wheel = wf_arena_alloc(&s->arena, lists * sizeof(*s->wheel), WF_CACHE_LINE);
	s->slot_entries = wf_arena_alloc(&s->arena, e->slots * sizeof(uint32_t), WF_CACHE_LINE);
	s->slot_used = wf_arena_alloc(&s->arena, e->slots / 8, WF_CACHE_LINE);
	if (s->wheel == NULL || s->slot_entries == NULL || s->slot_used == NULL)
		return -ENOMEM;
	return 0;
}

int wf_engine_create(const struct wf_engine_cfg *cfg, struct wf_engine **engine_p)
{
	struct wf_engine *e;
	uint32_t slots;
	int ret;

	if (cfg->window < 1 || cfg->horizon < cfg->window || cfg->threads < 1 ||
	    cfg->threads > WF_ENGINE_MAX_THREADS || cfg->shards < cfg->threads ||
	    (cfg->order != NULL && cfg->shards != 1))
		return -EINVAL;
	ret = slots_for(cfg, &slots);
	if (ret != 0)
		return ret;

	e = cfg->mem->alloc(cfg->mem, sizeof(*e));
	if (e == NULL)
		return -ENOMEM;
	e->mem = cfg->mem;
	e->window = cfg->window;
	e->threads = cfg->threads;
	e->slots = slots;
	e->order = cfg->order;
	e->order_arg = cfg->order_arg;
	e->n_shards = cfg->shards;
	pthread_mutex_init(&e->pool_lock, NULL);
	e->shards = cfg->mem->alloc(cfg->mem, cfg->shards * sizeof(*e->shards));
	if (e->shards == NULL) {
		ret = -ENOMEM;
		goto err_free;
	}
	for (unsigned i = 0; i < e->n_shards; i++) {
		ret = shard_init(e, &e->shards[i], cfg->max_memory);
		if (ret != 0)
			goto err_free;
	}
	/* No window is ever run then: links tell of every cell, timers of every setting. */
	if (e->order != NULL)
		e->shards[0].shard.base = -1;
	*engine_p = e;
	return 0;

err_free:
	wf_engine_destroy(e);
	return ret;
}

void wf_engine_destroy(struct wf_engine *e)
{
	struct wf_mem *mem;

	if (e == NULL)
		return;
	mem = e->mem;
	if (e->shards != NULL) {
		for (unsigned i = 0; i < e->n_shards; i++)
			wf_arena_fini(&e->shards[i].arena);
		mem->free(mem, e->shards);
	}
	mem->free(mem, e->globals);
	pthread_mutex_destroy(&e->pool_lock);
	mem->free(mem, e);
}

struct wf_shard *wf_engine_shard(struct wf_engine *e, unsigned n)
{
	assert(n < e->n_shards);
	return &e->shards[n].shard;
}

void *wf_shard_alloc(struct wf_shard *shard, size_t size)
{
	return wf_arena_alloc(&shard->priv->arena, size, WF_CACHE_LINE);
}

struct wf_mem *wf_shard_mem(struct wf_shard *shard)
{
	return &shard->priv->arena.mem;
}

void wf_shard_set_user(struct wf_shard *shard, void *user)
{
	shard->user = user;
}

void *wf_shard_user(const struct wf_shard *shard)
{
	return shard->user;
}

/* Makes room for one more node in the shard's tables. */
static int shard_grow(struct wf_shard_priv *s)
{
	uint32_t room = s->nodes_room == 0 ? 64 : s->nodes_room * 2;
	struct wf_node **nodes;
	uint64_t *due_nodes;
	uint32_t *run;

	if (s->n_nodes < s->nodes_room)
		return 0;
	nodes = wf_arena_alloc(&s->arena, room * sizeof(struct wf_node *), WF_CACHE_LINE);
	due_nodes = wf_arena_alloc(&s->arena, room / 8, WF_CACHE_LINE);
	run = wf_arena_alloc(&s->arena, room * sizeof(*run), WF_CACHE_LINE);
	if (nodes == NULL || due_nodes == NULL || run == NULL)
		return -ENOMEM;
	if (s->n_nodes > 0)
		memcpy(nodes, s->nodes, s->n_nodes * sizeof(*nodes));
	s->nodes = nodes;
	s->due_nodes = due_nodes;
	s->run = run;
	s->nodes_room = room;
	s->due_room = room / 64;
	return 0;
}

struct wf_node *wf_engine_add_node(struct wf_shard *shard, const struct wf_node_ops *ops,
                                   size_t size, unsigned n_in, unsigned n_timers)
{
	struct wf_shard_priv *s = shard->priv;
	size_t in_words = (n_in + 63) / 64, timer_words = (n_timers + 63) / 64;
	const struct wf_engine_order_ops *order = s->engine->order;
	size_t timer_size = sizeof(wf_time) + (order != NULL ? order->timer_size : 0);
	struct wf_node *n;

	assert(size >= sizeof(*n) && n_in <= WF_ENGINE_MAX_INPUTS && n_timers < WF_KEY_TIMER);
	if (s->n_nodes == WF_ENGINE_MAX_NODES || shard_grow(s) != 0)
		return NULL;
	n = wf_arena_alloc(&s->arena, size, WF_CACHE_LINE);
	if (n == NULL)
		return NULL;
	n->in = wf_arena_alloc(&s->arena, n_in * sizeof(*n->in) + (in_words + timer_words) * 8, 64);
	n->timer = wf_arena_alloc(&s->arena, n_timers * timer_size, 8);
	if (n->in == NULL || n->timer == NULL)
		return NULL;
	n->due = (uint64_t *)(n->in + n_in);
	n->armed = n->due + in_words;
	for (unsigned i = 0; i < n_timers; i++)
		n->timer[i] = WF_TIME_NEVER;
	n->ops = ops;
	n->shard = shard;
	n->registered = WF_TIME_NEVER;
	n->index = s->n_nodes;
	n->n_in = n_in;
	n->n_timers = n_timers;
	s->engine->has_late |= ops->late;
	s->nodes[s->n_nodes++] = n;
	return n;
}

int wf_link_connect(struct wf_link *link, struct wf_node *src, struct wf_node *dst, unsigned input)
{
	union wf_object *o = wf_pool_get(src->shard->priv);
	struct wf_chunk *c;

	if (o == NULL)
		return -ENOMEM;
	c = &o->chunk;
	assert(input < dst->n_in && dst->in[input].chunk == NULL);
	c->cell[0].at = WF_TIME_NEVER;
	c->next = NULL;
	link->chunk = c;
	link->cell = 0;
	link->notified = 0;
	link->dst = dst->index << ENTRY_NODE_SHIFT | input;
	link->dst_half = (uint16_t)wf_node_half(dst);
	dst->in[input].chunk = c;
	dst->in[input].cell = 0;
	return 0;
}

static bool global_before(const struct wf_global *a, const struct wf_global *b)
{
	return a->at < b->at || (a->at == b->at && a->number < b->number);
}

int wf_engine_at(struct wf_engine *e, wf_time at, wf_engine_fn *fn, void *arg)
{
	struct wf_global g = { .at = at, .number = e->next_global++, .fn = fn, .arg = arg };
	uint32_t i;

	if (e->n_globals == e->globals_room) {
		uint32_t room = e->globals_room == 0 ? 16 : e->globals_room * 2;
		struct wf_global *list = e->mem->alloc(e->mem, room * sizeof(*list));

		if (list == NULL)
			return -ENOMEM;
		if (e->n_globals > 0)
			memcpy(list, e->globals, e->n_globals * sizeof(*list));
		e->mem->free(e->mem, e->globals);
		e->globals = list;
		e->globals_room = room;
	}
	/* Few and rare: a sorted array, soonest last. */
	for (i = e->n_globals++; i > 0 && global_before(&e->globals[i - 1], &g); i--)
		e->globals[i] = e->globals[i - 1];
	e->globals[i] = g;
	return 0;
}

static wf_time next_global(const struct wf_engine *e)
{
	return e->n_globals == 0 ? WF_TIME_NEVER : e->globals[e->n_globals - 1].at;
}

/* Everything before at has run. */
static void pass_time(struct wf_engine *e, wf_time at)
{
	e->now = wf_max_time(e->now, at);
	if (e->now / e->window > e->k)
		e->k = e->now / e->window;
}

static void run_global(struct wf_engine *e)
{
	struct wf_global g = e->globals[--e->n_globals];

	pass_time(e, g.at);
	g.fn(g.arg, e->now);
}

static void run_task(void *arg, unsigned task)
{
	struct wf_engine *e = arg;

	wf_shard_run(&e->shards[task]);
}

/* Runs the late nodes, or the others, with all threads or with this one. */
static void run_part(struct wf_engine *e, bool late, uint64_t entries)
{
	e->late = late;
	if (e->threads > 1 && entries >= LIGHT_WINDOW) {
		wf_team_round(&e->team, e->n_shards);
		return;
	}
	for (unsigned i = 0; i < e->n_shards; i++)
		wf_shard_run(&e->shards[i]);
}

/* Takes the number of entries for a slot, and begins to count anew. */
static uint64_t take_entries(struct wf_engine *e, uint32_t slot)
{
	uint64_t entries = 0;

	for (unsigned i = 0; i < e->n_shards; i++) {
		entries += e->shards[i].slot_entries[slot];
		e->shards[i].slot_entries[slot] = 0;
	}
	return entries;
}

/* Runs window k up to limit, unless memory runs out. */
static void run_window(struct wf_engine *e, int64_t k, wf_time limit)
{
	uint32_t slot = (uint32_t)k & (e->slots - 1);
	uint64_t entries;

	e->k = k;
	e->limit = limit;
	e->windows++;
	for (unsigned i = 0; i < e->n_shards; i++) {
		struct wf_shard_priv *s = &e->shards[i];

		wf_wheel_turn(s, k);
		s->slot_used[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
	}
	entries = take_entries(e, slot);
	run_part(e, false, entries);
	if (e->has_late && !wf_engine_out_of_memory(e))
		run_part(e, true, entries + take_entries(e, slot));
}

static int64_t next_window(const struct wf_engine *e)
{
	int64_t k = INT64_MAX;

	for (unsigned i = 0; i < e->n_shards; i++) {
		int64_t next = wf_wheel_next(&e->shards[i], e->k);

		k = next < k ? next : k;
	}
	return k;
}

static void run_loop(struct wf_engine *e, wf_time until, wf_engine_hook *hook, void *arg)
{
	do {
		int64_t k = next_window(e);
		wf_time start = k == INT64_MAX ? WF_TIME_NEVER : k * e->window;
		wf_time global = next_global(e), end;

		if (e->now >= until)
			return;
		if (global != WF_TIME_NEVER && global < until &&
		    global <= wf_max_time(start, e->now)) {
			run_global(e);
			continue;
		}
		if (start >= until)
			return;
		end = wf_min_time(start + e->window, wf_min_time(global, until));
		run_window(e, k, end);
		pass_time(e, end);
	} while (!wf_engine_out_of_memory(e) && (hook == NULL || hook(arg, e->now)));
}

/* The same in the order that the user brought. */
static void run_ordered(struct wf_engine *e, wf_time until, wf_engine_hook *hook, void *arg)
{
	do {
		wf_time at = e->order->next(e->order_arg);
		wf_time global = next_global(e);

		if (wf_min_time(at, global) >= until)
			return;
		if (global <= at) {
			run_global(e);
			continue;
		}
		e->windows++;
		e->now = at;
		e->shards[0].events += e->order->run(e->order_arg, at);
		e->now = at + 1;
	} while (!wf_engine_out_of_memory(e) && (hook == NULL || hook(arg, e->now)));
}

wf_time wf_engine_now(const struct wf_engine *e)
{
	return e->now;
}

void wf_engine_rest(struct wf_engine *e, wf_time until)
{
	pass_time(e, wf_min_time(until, wf_engine_next(e)));
}

wf_time wf_engine_next(const struct wf_engine *e)
{
	int64_t k;

	if (e->order != NULL)
		return wf_min_time(e->order->next(e->order_arg), next_global(e));
	k = next_window(e);
	return wf_min_time(k == INT64_MAX ? WF_TIME_NEVER : k * e->window, next_global(e));
}

/* Never inlined: make bench has callgrind count the instructions inside. */
__attribute__((noinline)) int wf_engine_run(struct wf_engine *e, wf_time until,
                                            wf_engine_hook *hook, void *arg)
{
	int ret;

	/* Memory taken while building may have run out without anybody noticing. */
	if (wf_engine_out_of_memory(e))
		return -ENOMEM;
	if (e->threads > 1) {
		ret = wf_team_start(&e->team, e->threads, run_task, e);
		if (ret != 0)
			return ret;
	}
	if (e->order != NULL)
		run_ordered(e, until, hook, arg);
	else
		run_loop(e, until, hook, arg);
	if (e->threads > 1)
		wf_team_stop(&e->team);
	return wf_engine_out_of_memory(e) ? -ENOMEM : 0;
}

bool wf_engine_out_of_memory(const struct wf_engine *e)
{
	for (unsigned i = 0; i < e->n_shards; i++) {
		if (e->shards[i].no_memory)
			return true;
	}
	return false;
}

uint64_t wf_engine_windows(const struct wf_engine *e)
{
	return e->windows;
}

uint64_t wf_engine_events(const struct wf_engine *e)
{
	uint64_t events = 0;

	for (unsigned i = 0; i < e->n_shards; i++)
		events += e->shards[i].events;
	return events;
}

size_t wf_engine_memory(const struct wf_engine *e)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < e->n_shards; i++)
		bytes += e->shards[i].arena.mapped;
	return bytes;
}

void wf_link_walk(const struct wf_link *link, const struct wf_input *input, wf_time done,
                  wf_link_fn *fn, void *arg)
{
	struct wf_chunk *chunk = input->chunk;

	/*
	 * Not from where the receiver stands: the sender may have begun its chunk again without the
	 * receiver knowing yet. What was received is older than done.
	 */
	for (; chunk != NULL; chunk = chunk->next) {
		uint32_t n = chunk == link->chunk ? link->cell : WF_CHUNK_CELLS;

		for (uint32_t i = 0; i < n; i++) {
			if (chunk->cell[i].at >= done)
				fn(arg, &chunk->cell[i]);
		}
		if (chunk == link->chunk)
			break;
	}
}
