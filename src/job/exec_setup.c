/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_setup.c - creating an executor, its connections and timers; what it says of itself.
 */
#include <errno.h>
#include <string.h>

#include "job/exec_priv.h"

#define WINDOW_MAX (1u << (HANDLE_SHIFT - 1))

static int make_streams(struct wf_exec *x)
{
	const struct wf_schedule_ops *ops = x->schedule->ops;
	size_t cursor = (ops->cursor + 15) / 16 * 16;

	x->streams = x->mem->alloc(x->mem, (x->n_streams + 1) * sizeof(*x->streams));
	x->cursors = x->mem->alloc(x->mem, x->n_streams * cursor + 1);
	if (x->streams == NULL || x->cursors == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->n_streams; i++) {
		struct stream *st = &x->streams[i];

		st->window = ops->window(x->schedule, x->rank, i);
		st->window = st->window > WINDOW_MAX ? WINDOW_MAX : st->window;
		st->room = ROOM_MIN;
		st->future = st->mark_waiters = NONE;
		st->cursor = (char *)x->cursors + i * cursor;
		st->ring = x->mem->alloc(x->mem, st->room * sizeof(*st->ring));
		if (st->ring == NULL)
			return -ENOMEM;
		ops->start(x->schedule, x->rank, i, st->cursor);
	}
	return 0;
}

int wf_exec_create(const struct wf_exec_cfg *cfg, struct wf_exec **exec_p)
{
	uint32_t n_streams = cfg->schedule->ops->streams(cfg->schedule, cfg->rank);
	struct wf_exec *x;
	int ret;

	if (n_streams > WF_SCHEDULE_MAX_STREAMS)
		return -EINVAL;
	x = cfg->mem->alloc(cfg->mem, sizeof(*x));
	if (x == NULL)
		return -ENOMEM;
	x->schedule = cfg->schedule;
	x->driver = cfg->driver;
	x->ctx = cfg->ctx;
	x->observer = cfg->observer;
	x->counts = cfg->counts;
	x->mem = cfg->mem;
	x->rank = cfg->rank;
	x->n_streams = n_streams;
	x->ready = NONE;
	x->receives = WF_EXEC_RECEIVES;
	ret = make_streams(x);
	if (ret != 0) {
		wf_exec_destroy(x);
		return ret;
	}
	*exec_p = x;
	return 0;
}

void wf_exec_set_counts(struct wf_exec *x, struct wf_exec_counts *counts)
{
	x->counts = counts;
}

void wf_exec_set_receives(struct wf_exec *x, uint32_t receives)
{
	assert(receives >= 1 && receives <= WF_EXEC_RECEIVES);
	x->receives = receives;
}

void wf_exec_destroy(struct wf_exec *x)
{
	struct wf_mem *mem;

	if (x == NULL)
		return;
	mem = x->mem;
	for (uint32_t i = 0; x->streams != NULL && i < x->n_streams; i++)
		mem->free(mem, x->streams[i].ring);
	mem->free(mem, x->streams);
	mem->free(mem, x->cursors);
	mem->free(mem, x->ends);
	mem->free(mem, x->table);
	mem->free(mem, x->units);
	mem->free(mem, x->timers);
	mem->free(mem, x);
}

/* ---- connections ---- */

static uint32_t hash(uint32_t peer, uint16_t channel, bool sends)
{
	uint32_t h = (peer * 8192u + channel * 2u + sends) * UINT32_C(2654435761);

	return h ^ h >> 15;
}

uint32_t wf_exec_find(const struct wf_exec *x, uint32_t peer, uint16_t channel, bool sends)
{
	if (x->table == NULL)
		return NONE;
	for (uint32_t i = hash(peer, channel, sends);; i++) {
		uint32_t end = x->table[i & x->table_mask];

		if (end == NONE)
			return NONE;
		if (x->ends[end].peer == peer && x->ends[end].channel == channel &&
		    x->ends[end].sends == sends)
			return end;
	}
}

static void insert(struct wf_exec *x, uint32_t end)
{
	const struct end *e = &x->ends[end];
	uint32_t i = hash(e->peer, e->channel, e->sends);

	while (x->table[i & x->table_mask] != NONE)
		i++;
	x->table[i & x->table_mask] = end;
}

/* Twice as much room for ends, and a table that is at most half full. */
static int more_ends(struct wf_exec *x)
{
	uint32_t room = x->ends_room == 0 ? 4 : 2 * x->ends_room;
	struct end *ends = x->mem->alloc(x->mem, room * sizeof(*ends));
	uint32_t *table = x->mem->alloc(x->mem, 2 * room * sizeof(*table));

	if (ends == NULL || table == NULL) {
		x->mem->free(x->mem, ends);
		x->mem->free(x->mem, table);
		return -ENOMEM;
	}
	if (x->n_ends > 0)
		memcpy(ends, x->ends, x->n_ends * sizeof(*ends));
	memset(table, 0xff, 2 * room * sizeof(*table));
	x->mem->free(x->mem, x->ends);
	x->mem->free(x->mem, x->table);
	x->ends = ends;
	x->table = table;
	x->ends_room = room;
	x->table_mask = 2 * room - 1;
	for (uint32_t i = 0; i < x->n_ends; i++)
		insert(x, i);
	return 0;
}

int wf_exec_connect(struct wf_exec *x, uint32_t peer, uint16_t channel, bool sends, uint32_t conn,
                    uint32_t *end_p)
{
	struct end *e;

	if (wf_exec_find(x, peer, channel, sends) != NONE)
		return -EEXIST;
	if (x->n_ends == x->ends_room && more_ends(x) != 0)
		return -ENOMEM;
	e = &x->ends[x->n_ends];
	*e = (struct end){ .peer = peer,
		           .channel = channel,
		           .sends = sends,
		           .conn = conn,
		           .head = NONE,
		           .tail = NONE };
	if (!sends)
		memset(e->expected, 0xff, sizeof(e->expected));
	insert(x, x->n_ends);
	*end_p = x->n_ends++;
	return 0;
}

/* ---- timers ---- */

static bool before(const struct timer *a, const struct timer *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void wf_exec_set_timer(struct wf_exec *x, uint32_t handle, wf_time at)
{
	struct timer t = { .at = at, .order = x->timers_set++, .handle = handle };
	uint32_t i;

	if (x->n_timers == x->timers_room) {
		uint32_t room = x->timers_room == 0 ? 16 : 2 * x->timers_room;
		struct timer *more = x->mem->alloc(x->mem, room * sizeof(*more));

		if (more == NULL) {
			x->no_memory = true;
			return;
		}
		if (x->n_timers > 0)
			memcpy(more, x->timers, x->n_timers * sizeof(*more));
		x->mem->free(x->mem, x->timers);
		x->timers = more;
		x->timers_room = room;
	}
	for (i = x->n_timers++; i > 0 && before(&t, &x->timers[(i - 1) / 2]); i = (i - 1) / 2)
		x->timers[i] = x->timers[(i - 1) / 2];
	x->timers[i] = t;
}

uint32_t wf_exec_pop_timer(struct wf_exec *x)
{
	uint32_t handle = x->timers[0].handle, i = 0;
	struct timer last = x->timers[--x->n_timers];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= x->n_timers)
			break;
		if (child + 1 < x->n_timers && before(&x->timers[child + 1], &x->timers[child]))
			child++;
		if (!before(&x->timers[child], &last))
			break;
		x->timers[i] = x->timers[child];
		i = child;
	}
	x->timers[i] = last;
	return handle;
}

/* ---- what it says of itself ---- */

void wf_exec_result(const struct wf_exec *x, struct wf_exec_result *result)
{
	*result =
		(struct wf_exec_result){ .finished = x->finished, .end = x->end, .busy = x->busy };
}

bool wf_exec_out_of_memory(const struct wf_exec *x)
{
	return x->no_memory;
}

static const char *const state_names[] = {
	[OP_WAITING] = "waits for another operation",
	[OP_WORKING] = "is being worked on",
	[OP_OFFERED] = "waits for a receive with its tag to be started there",
	[OP_POSTED] = "is on its way",
	[OP_QUEUED] = "waits for earlier receives of its connection",
	[OP_ANNOUNCED] = "waits for its message",
	[OP_MEETING] = "waits for other ranks of its server to begin the same",
	[OP_REDUCING] = "waits for the result of the network's switches",
	[OP_LOST] = "has no connection to that rank: the schedule did not name it as a peer",
	[OP_DONE] = "has ended",
};

/* The state that says most about why a rank does not go on. */
static unsigned weight(const struct slot *s)
{
	static const unsigned weights[] = {
		[OP_WAITING] = 1,   [OP_WORKING] = 2,  [OP_OFFERED] = 5, [OP_POSTED] = 3,
		[OP_ANNOUNCED] = 4, [OP_QUEUED] = 2,   [OP_LOST] = 6,    [OP_DONE] = 0,
		[OP_MEETING] = 3,   [OP_REDUCING] = 5,
	};

	return weights[s->state];
}

bool wf_exec_stuck(const struct wf_exec *x, struct wf_err *err)
{
	const struct slot *worst = NULL;
	uint32_t stream = 0, number = 0;

	if (x->finished)
		return false;
	for (uint32_t i = 0; i < x->n_streams; i++) {
		const struct stream *st = &x->streams[i];

		for (uint32_t k = st->base; k != st->loaded; k++) {
			const struct slot *s = ring_slot(st, k);

			if (worst != NULL && weight(s) <= weight(worst))
				continue;
			worst = s;
			stream = i;
			number = k;
		}
	}
	if (worst == NULL)
		wf_err_say(err, "rank %u has nothing to wait for and is not over", x->rank);
	else if (worst->op.kind == WF_OP_CALC || worst->op.kind == WF_OP_MEET)
		wf_err_say(err, "rank %u, stream %u, operation %u: %s %s", x->rank, stream, number,
		           worst->op.kind == WF_OP_CALC ? "calc" : "collective",
		           state_names[worst->state]);
	else if (worst->op.kind == WF_OP_REDUCE)
		wf_err_say(err,
		           "rank %u, stream %u, operation %u: reduction of %llu bytes in group %u "
		           "of the network: %s",
		           x->rank, stream, number, (unsigned long long)worst->op.bytes,
		           worst->op.peer, state_names[worst->state]);
	else
		wf_err_say(err,
		           "rank %u, stream %u, operation %u: %s rank %u, channel %u, tag %u, %llu "
		           "bytes: %s",
		           x->rank, stream, number,
		           worst->op.kind == WF_OP_SEND ? "send to" : "receive from",
		           worst->op.peer, worst->op.channel, worst->op.tag,
		           (unsigned long long)worst->op.bytes, state_names[worst->state]);
	return true;
}
