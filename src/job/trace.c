/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c - a schedule whose operations all lie in memory.
 *
 * While it is made, operations of all ranks lie in one array in the order they came, and
 * dependencies in another. Finishing sorts the operations: ranks one after the other, in each an
 * order in which dependencies point backwards. Each rank has one stream.
 */
#include "job/trace.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/sort.h"

#define START (UINT32_C(1) << 31) /* in edge.dep: its start is enough */
#define FIRST_ROOM 256

struct node {
	uint64_t bytes;
	wf_time time;
	uint32_t peer, tag;
	uint32_t rank;
	uint32_t line;
	uint16_t unit;
	uint16_t channel;
	uint8_t kind;
};

struct edge {
	uint32_t op;
	uint32_t dep; /* number, with START */
};

struct wf_trace {
	struct wf_schedule schedule;
	struct wf_mem *mem;
	struct node *nodes;
	struct edge *edges;
	uint32_t n_nodes, room_nodes;
	uint32_t n_edges, room_edges;

	/* made by wf_trace_finish(); all but first are by place in the sorted order */
	uint32_t *first;        /* of each rank: place of its first operation; one more: the end */
	uint32_t *order;        /* which node it is */
	uint32_t *first_dep;    /* where its dependencies are in deps; one more: the end */
	struct wf_op_dep *deps; /* with their numbers in the stream */
};

struct cursor {
	uint32_t place; /* of the next operation */
	uint32_t end;
	uint32_t out;    /* how many of the operations that it becomes are out */
	uint32_t number; /* of the next operation in the stream */
};

/* ---- making one ---- */

int wf_trace_create(uint32_t n_ranks, struct wf_mem *mem, struct wf_trace **trace_p)
{
	struct wf_trace *trace = mem->alloc(mem, sizeof(*trace));

	assert(n_ranks >= 1 && n_ranks <= WF_TRACE_MAX_RANKS);
	if (trace == NULL)
		return -ENOMEM;
	trace->schedule.n_ranks = n_ranks;
	trace->mem = mem;
	*trace_p = trace;
	return 0;
}

void wf_trace_destroy(struct wf_trace *trace)
{
	struct wf_mem *mem;

	if (trace == NULL)
		return;
	mem = trace->mem;
	mem->free(mem, trace->nodes);
	mem->free(mem, trace->edges);
	mem->free(mem, trace->first);
	mem->free(mem, trace->order);
	mem->free(mem, trace->first_dep);
	mem->free(mem, trace->deps);
	mem->free(mem, trace);
}

/* Makes room for one more in an array of elements of size bytes: twice as many as there are. */
static int make_room(struct wf_mem *mem, void **array, size_t size, uint32_t n, uint32_t *room)
{
	uint32_t more = *room == 0 ? FIRST_ROOM : 2 * *room;
	void *larger;

	if (n < *room)
		return 0;
	if (n >= WF_TRACE_MAX_OPS)
		return -E2BIG;
	larger = mem->alloc(mem, more * size);
	if (larger == NULL)
		return -ENOMEM;
	if (n > 0)
		memcpy(larger, *array, n * size);
	mem->free(mem, *array);
	*array = larger;
	*room = more;
	return 0;
}

int wf_trace_op(struct wf_trace *trace, uint32_t rank, const struct wf_op *op, uint32_t line,
                uint32_t *number_p)
{
	void *array = trace->nodes;
	int ret = make_room(trace->mem, &array, sizeof(*trace->nodes), trace->n_nodes,
	                    &trace->room_nodes);

	assert(rank < trace->schedule.n_ranks);
	assert(op->kind == WF_OP_CALC || op->peer < trace->schedule.n_ranks);
	if (ret != 0)
		return ret;
	trace->nodes = array;
	trace->nodes[trace->n_nodes] = (struct node){
		.bytes = op->bytes,
		.time = op->time,
		.peer = op->peer,
		.tag = op->tag,
		.rank = rank,
		.line = line,
		.unit = op->unit,
		.kind = op->kind,
		.channel = op->channel,
	};
	if (op->kind == WF_OP_SEND)
		trace->schedule.max_message = wf_max_u64(trace->schedule.max_message, op->bytes);
	*number_p = trace->n_nodes++;
	return 0;
}

int wf_trace_after(struct wf_trace *trace, uint32_t number, uint32_t dep, bool start)
{
	void *array = trace->edges;
	int ret = make_room(trace->mem, &array, sizeof(*trace->edges), trace->n_edges,
	                    &trace->room_edges);

	assert(number < trace->n_nodes && dep < trace->n_nodes);
	assert(trace->nodes[number].rank == trace->nodes[dep].rank);
	if (ret != 0)
		return ret;
	trace->edges = array;
	trace->edges[trace->n_edges++] =
		(struct edge){ .op = number, .dep = dep | (start ? START : 0) };
	return 0;
}

/* ---- the order ---- */

/*
 * What finishing needs besides; all are freed at its end. Those that wait for node i are
 * heir[heirs[i]] to heir[heirs[i + 1]].
 */
struct work {
	uint32_t *heirs;
	uint32_t *heir;
	uint32_t *waits; /* for how many each node still waits; later: its number in the stream */
	uint32_t *queue; /* nodes in an order in which dependencies point backwards */
	uint32_t *other; /* room for sorting */
};

static void *alloc_u32(struct wf_mem *mem, size_t n)
{
	return mem->alloc(mem, (n + 1) * sizeof(uint32_t));
}

static int alloc_work(struct wf_trace *trace, struct work *w)
{
	struct wf_mem *mem = trace->mem;
	size_t n = trace->n_nodes;

	w->heirs = alloc_u32(mem, n + 1);
	w->heir = alloc_u32(mem, trace->n_edges);
	w->waits = alloc_u32(mem, n);
	w->queue = alloc_u32(mem, n);
	w->other = alloc_u32(mem, n);
	trace->first = alloc_u32(mem, trace->schedule.n_ranks);
	trace->order = alloc_u32(mem, n);
	trace->first_dep = alloc_u32(mem, n);
	trace->deps = mem->alloc(mem, (trace->n_edges + (size_t)1) * sizeof(*trace->deps));
	return w->heirs != NULL && w->heir != NULL && w->waits != NULL && w->queue != NULL &&
	                       w->other != NULL && trace->first != NULL && trace->order != NULL &&
	                       trace->first_dep != NULL && trace->deps != NULL
	               ? 0
	               : -ENOMEM;
}

static void free_work(struct wf_trace *trace, struct work *w)
{
	struct wf_mem *mem = trace->mem;

	mem->free(mem, w->heirs);
	mem->free(mem, w->heir);
	mem->free(mem, w->waits);
	mem->free(mem, w->queue);
	mem->free(mem, w->other);
}

static void list_heirs(const struct wf_trace *trace, struct work *w)
{
	for (uint32_t e = 0; e < trace->n_edges; e++) {
		w->heirs[(trace->edges[e].dep & ~START) + 2]++;
		w->waits[trace->edges[e].op]++;
	}
	for (uint32_t i = 2; i <= trace->n_nodes; i++)
		w->heirs[i] += w->heirs[i - 1];
	/* heirs[i + 1] is where node i's next heir goes; at the end, where they end. */
	for (uint32_t e = 0; e < trace->n_edges; e++)
		w->heir[w->heirs[(trace->edges[e].dep & ~START) + 1]++] = trace->edges[e].op;
}

/* Says which operation waits for itself: from one that was not reached, back to one met before. */
static int say_circle(const struct wf_trace *trace, struct work *w, const char *file,
                      struct wf_err *err)
{
	uint32_t at = 0;

	/* Each operation that was not reached waits for such a one: remember which. */
	for (uint32_t e = 0; e < trace->n_edges; e++) {
		if (w->waits[trace->edges[e].dep & ~START] != 0)
			w->other[trace->edges[e].op] = trace->edges[e].dep & ~START;
	}
	while (w->waits[at] == 0)
		at++;
	for (uint32_t i = 0; i < trace->n_nodes; i++)
		at = w->other[at];
	return wf_err_at(err, file, trace->nodes[at].line, 0,
	                 "this operation of rank %" PRIu32
	                 " waits for one that waits for it; dependencies may not form a circle",
	                 trace->nodes[at].rank);
}

/* Fills queue. */
static int sort_by_dependency(const struct wf_trace *trace, struct work *w, const char *file,
                              struct wf_err *err)
{
	uint32_t n = 0;

	list_heirs(trace, w);
	for (uint32_t i = 0; i < trace->n_nodes; i++) {
		if (w->waits[i] == 0)
			w->queue[n++] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = w->queue[i];

		for (uint32_t h = w->heirs[node]; h < w->heirs[node + 1]; h++) {
			if (--w->waits[w->heir[h]] == 0)
				w->queue[n++] = w->heir[h];
		}
	}
	return n == trace->n_nodes ? 0 : say_circle(trace, w, file, err);
}

/* Fills first and order: queue by ranks, otherwise as it is. */
static void sort_by_rank(struct wf_trace *trace, const struct work *w)
{
	uint32_t n_ranks = trace->schedule.n_ranks;
	uint32_t start = 0;

	for (uint32_t i = 0; i < trace->n_nodes; i++)
		trace->first[trace->nodes[i].rank]++;
	for (uint32_t r = 0; r <= n_ranks; r++) {
		uint32_t count = trace->first[r];

		trace->first[r] = start;
		start += count;
	}
	for (uint32_t i = 0; i < trace->n_nodes; i++)
		trace->order[trace->first[trace->nodes[w->queue[i]].rank]++] = w->queue[i];
	/* Now each is where the next rank begins. */
	for (uint32_t r = n_ranks; r > 0; r--)
		trace->first[r] = trace->first[r - 1];
	trace->first[0] = 0;
}

/*
 * A receive is started at once, as if there were room for every message before it is wanted; what
 * its dependencies hold back is that it ends. So a receive that waits for others becomes
 *
 *	joins, the last of which ends when they have: what waits for its start waits for this
 *	the receive
 *	an operation that waits for both: what waits for its end waits for this
 */
static bool is_split(const struct node *node, uint32_t n_deps)
{
	return node->kind == WF_OP_RECV && n_deps > 0;
}

/* How many operations of the stream a node becomes. */
static uint32_t ops_of(const struct node *node, uint32_t n_deps)
{
	return wf_op_joins(n_deps) + (is_split(node, n_deps) ? 2 : 0);
}

/*
 * Fills first_dep and deps; waits becomes the number of each node's last operation in its stream.
 */
static int number_deps(struct wf_trace *trace, struct work *w)
{
	uint32_t *count = w->other, *place = w->queue;
	uint64_t number = 0;

	memset(count, 0, trace->n_nodes * sizeof(*count));
	for (uint32_t e = 0; e < trace->n_edges; e++)
		count[trace->edges[e].op]++;
	for (uint32_t r = 0; r < trace->schedule.n_ranks; r++) {
		number = 0;
		for (uint32_t i = trace->first[r]; i < trace->first[r + 1]; i++) {
			uint32_t node = trace->order[i];

			number += ops_of(&trace->nodes[node], count[node]);
			if (number > WF_TRACE_MAX_OPS)
				return -E2BIG;
			w->waits[node] = (uint32_t)number - 1;
			trace->first_dep[i + 1] = trace->first_dep[i] + count[node];
			place[node] = trace->first_dep[i];
		}
	}
	for (uint32_t e = 0; e < trace->n_edges; e++) {
		uint32_t dep = trace->edges[e].dep & ~START;
		bool start = (trace->edges[e].dep & START) != 0;
		bool split = start && is_split(&trace->nodes[dep], count[dep]);

		trace->deps[place[trace->edges[e].op]++] =
			(struct wf_op_dep){ .number = w->waits[dep] - (split ? 2 : 0),
			                    .on = start && !split ? WF_ON_START : WF_ON_END };
	}
	return 0;
}

/* ---- messages ---- */

static uint32_t sender(const struct node *node)
{
	return node->kind == WF_OP_SEND ? node->rank : node->peer;
}

static uint32_t receiver(const struct node *node)
{
	return node->kind == WF_OP_SEND ? node->peer : node->rank;
}

/* Orders numbers of nodes by sender, receiver and tag. */
static int by_message(const void *a, const void *b, const void *arg)
{
	const struct node *nodes = arg;
	const struct node *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];

	if (sender(x) != sender(y))
		return sender(x) < sender(y) ? -1 : 1;
	if (receiver(x) != receiver(y))
		return receiver(x) < receiver(y) ? -1 : 1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static int say_unmatched(const struct node *node, const char *file, struct wf_err *err)
{
	bool send = node->kind == WF_OP_SEND;

	return wf_err_at(err, file, node->line, 0,
	                 "rank %" PRIu32 " %s rank %" PRIu32 " with tag %" PRIu32
	                 ", which has no such %s; each send needs its receive",
	                 node->rank, send ? "sends to" : "receives from", node->peer, node->tag,
	                 send ? "receive" : "send");
}

/*
 * Walks messages of one sender, receiver and tag, list[0] to list[n - 1], in the order of each
 * side: the k-th send belongs to the k-th receive.
 */
static int match_run(struct wf_trace *trace, const uint32_t *list, uint32_t n, const char *file,
                     struct wf_err *err)
{
	uint32_t send = 0, recv = 0;

	for (;;) {
		while (send < n && trace->nodes[list[send]].kind != WF_OP_SEND)
			send++;
		while (recv < n && trace->nodes[list[recv]].kind != WF_OP_RECV)
			recv++;
		if (send == n && recv == n)
			return 0;
		if (send == n || recv == n)
			return say_unmatched(&trace->nodes[list[wf_min_u64(send, recv)]], file,
			                     err);
		trace->nodes[list[recv]].bytes = trace->nodes[list[send]].bytes;
		trace->nodes[list[recv]].channel = trace->nodes[list[send]].channel;
		send++;
		recv++;
	}
}

/* Sees that every send has its receive. */
static int match_messages(struct wf_trace *trace, struct work *w, const char *file,
                          struct wf_err *err)
{
	uint32_t n = 0;
	int ret = 0;

	for (uint32_t i = 0; i < trace->n_nodes; i++) {
		if (trace->nodes[trace->order[i]].kind != WF_OP_CALC)
			w->queue[n++] = trace->order[i];
	}
	wf_sort(w->queue, w->other, n, sizeof(*w->queue), by_message, trace->nodes);
	for (uint32_t i = 0, end; i < n && ret == 0; i = end) {
		for (end = i + 1; end < n; end++) {
			if (by_message(&w->queue[i], &w->queue[end], trace->nodes) != 0)
				break;
		}
		ret = match_run(trace, w->queue + i, end - i, file, err);
	}
	return ret;
}

/* ---- the schedule ---- */

static struct wf_trace *trace_of(const struct wf_schedule *schedule)
{
	return wf_container_of(schedule, struct wf_trace, schedule);
}

static uint32_t trace_streams(const struct wf_schedule *schedule, uint32_t rank)
{
	(void)schedule;
	(void)rank;
	return 1;
}

static uint32_t trace_window(const struct wf_schedule *schedule, uint32_t rank, uint32_t stream)
{
	(void)schedule;
	(void)rank;
	(void)stream;
	return WF_WINDOW_ALL;
}

static void trace_start(const struct wf_schedule *schedule, uint32_t rank, uint32_t stream,
                        void *cursor)
{
	const struct wf_trace *trace = trace_of(schedule);
	struct cursor *c = cursor;

	(void)stream;
	c->place = trace->first[rank];
	c->end = trace->first[rank + 1];
}

/* Operation k of those that a node becomes, of which the first has the number first. */
static void make_op(const struct wf_trace *trace, uint32_t place, uint32_t k, uint32_t first,
                    struct wf_op *op)
{
	const struct node *node = &trace->nodes[trace->order[place]];
	uint32_t dep = trace->first_dep[place], n = trace->first_dep[place + 1] - dep;
	uint32_t joins = wf_op_joins(n), at = is_split(node, n) ? joins : joins - 1;

	if (k < joins)
		wf_op_join(op, k, trace->deps + dep, n, 0, first);
	if (k > at) {
		wf_op_after(op, 0, first + joins - 1);
		wf_op_after(op, 0, first + joins);
	}
	if (k != at)
		return; /* waits, and takes no time */
	op->kind = node->kind;
	op->bytes = node->bytes;
	op->time = node->time;
	op->peer = node->peer;
	op->tag = node->tag;
	op->unit = node->unit;
	op->channel = node->channel;
}

static bool trace_next(const struct wf_schedule *schedule, void *cursor, struct wf_op *op)
{
	const struct wf_trace *trace = trace_of(schedule);
	struct cursor *c = cursor;
	uint32_t n_deps;

	if (c->place == c->end)
		return false;
	n_deps = trace->first_dep[c->place + 1] - trace->first_dep[c->place];
	make_op(trace, c->place, c->out, c->number - c->out, op);
	c->number++;
	if (++c->out == ops_of(&trace->nodes[trace->order[c->place]], n_deps)) {
		c->out = 0;
		c->place++;
	}
	return true;
}

static int trace_peers(const struct wf_schedule *schedule, uint32_t rank, wf_schedule_peer_fn *fn,
                       void *arg)
{
	const struct wf_trace *trace = trace_of(schedule);

	for (uint32_t i = trace->first[rank]; i < trace->first[rank + 1]; i++) {
		const struct node *node = &trace->nodes[trace->order[i]];

		if (node->kind == WF_OP_SEND)
			fn(arg, node->peer, node->channel);
	}
	return 0;
}

static void trace_group(const struct wf_schedule *schedule, uint32_t group,
                        struct wf_group *group_p)
{
	(void)schedule;
	(void)group;
	memset(group_p, 0, sizeof(*group_p));
}

static void trace_free(struct wf_schedule *schedule)
{
	wf_trace_destroy(trace_of(schedule));
}

static const struct wf_schedule_ops trace_ops = {
	.name = "trace",
	.cursor = sizeof(struct cursor),
	.streams = trace_streams,
	.window = trace_window,
	.start = trace_start,
	.next = trace_next,
	.peers = trace_peers,
	.group = trace_group,
	.destroy = trace_free,
};

int wf_trace_finish(struct wf_trace *trace, const char *file, struct wf_schedule **schedule_p,
                    struct wf_err *err)
{
	struct work w = { 0 };
	int ret;

	assert(trace->first == NULL);
	ret = alloc_work(trace, &w);
	if (ret == 0)
		ret = sort_by_dependency(trace, &w, file, err);
	if (ret == 0) {
		sort_by_rank(trace, &w);
		ret = number_deps(trace, &w);
	}
	if (ret == -E2BIG)
		ret = wf_err_at(err, file, 0, 0, "there are more than 2^30 operations");
	if (ret == 0)
		ret = match_messages(trace, &w, file, err);
	free_work(trace, &w);
	if (ret != 0)
		return ret;
	trace->mem->free(trace->mem, trace->edges);
	trace->edges = NULL;
	trace->schedule.ops = &trace_ops;
	*schedule_p = &trace->schedule;
	return 0;
}
