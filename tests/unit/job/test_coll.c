/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_coll.c - collectives do what they are for: who contributes to which data, and how often.
 *
 * All ranks' executors run over a network that delivers after random times. Each piece of data of
 * each rank is a count of every rank's contributions; a message takes what its sender has when it
 * is posted, a receive adds or replaces when it ends. So a missing dependency shows as a wrong
 * count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "base/rng.h"
#include "job/coll_priv.h"
#include "job/exec.h"
#include "job/exec_priv.h"
#include "job/plan_coll.h"

#define MAX_RANKS 40
#define TABLE (1u << 18)

struct piece {
	uint64_t key; /* 0: free */
	uint8_t count[MAX_RANKS];
};

struct message {
	struct message *next;
	uint64_t key;
	uint8_t count[MAX_RANKS][MAX_RANKS]; /* of each of its blocks */
};

struct event {
	wf_time at;
	uint64_t order;
	uint32_t rank, end, value, handle;
	wf_time posted;
	enum { EV_RUN, EV_ANNOUNCED, EV_ARRIVED, EV_SENT } kind;
};

struct conn {
	uint32_t rank[2], end[2]; /* 0 sends, 1 receives */
	wf_time fifo[3]; /* data, announcements, ends of sends: they do not overtake one another */
};

struct world {
	struct wf_coll coll;
	struct wf_cluster cluster;
	struct wf_schedule *schedule;
	struct wf_exec *exec[MAX_RANKS];
	struct rank {
		struct world *w;
		uint32_t number;
	} rank[MAX_RANKS];
	struct wf_exec_counts counts;
	struct wf_job_observer observer;
	struct piece *data, *passed;
	struct message *messages;
	struct event *heap;
	size_t n_events, room;
	uint64_t order;
	struct conn *conns;
	uint32_t n_conns, conns_room;
	uint64_t sent[MAX_RANKS]; /* bytes of own sends */
	uint64_t net;             /* bytes between servers */
	uint32_t finished;
	uint64_t random;
};

/* ---- data ---- */

static void first_value(const struct world *w, uint32_t rank, uint32_t block, uint8_t *count)
{
	uint32_t n = w->coll.comm.n, pos = wf_comm_pos(&w->coll.comm, rank);

	switch ((enum wf_coll_kind)w->coll.kind) {
	case WF_COLL_ALL_REDUCE:
	case WF_COLL_REDUCE_SCATTER:
	case WF_COLL_BARRIER:
		count[pos] = 1;
		break;
	case WF_COLL_ALL_GATHER:
		count[pos] = block % n == pos;
		break;
	case WF_COLL_ALL_TO_ALL:
		count[pos] = block % (n * n) / n == pos;
		break;
	case WF_COLL_BROADCAST:
		count[pos] = pos == w->coll.root;
		break;
	case WF_COLL_KINDS:
		break;
	}
}

static uint64_t key_of(uint32_t rank, uint32_t channel, uint32_t block)
{
	return (uint64_t)block << 20 | channel << 8 | (rank + 1);
}

static uint8_t *get(struct world *w, struct piece *table, uint32_t rank, uint32_t channel,
                    uint32_t block)
{
	uint64_t key = key_of(rank, channel, block);
	uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % TABLE;

	while (table[i].key != 0 && table[i].key != key)
		i = (i + 1) % TABLE;
	if (table[i].key == 0) {
		table[i].key = key;
		if (table == w->data)
			first_value(w, rank, block, table[i].count);
	}
	return table[i].count;
}

static uint32_t n_blocks(const struct wf_op *op)
{
	return op->blocks == 0 ? 1 : op->blocks;
}

static uint64_t message_key(uint32_t src, uint32_t dst, const struct wf_op *op)
{
	return (uint64_t)op->block << 40 | (uint64_t)op->channel << 32 | op->tag << 16 | src << 8 |
	       dst;
}

/* ---- the network ---- */

static bool sooner(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void push(struct world *w, struct event e)
{
	size_t i;

	if (w->n_events == w->room) {
		w->room = w->room == 0 ? 1024 : 2 * w->room;
		w->heap = realloc(w->heap, w->room * sizeof(*w->heap));
		assert_non_null(w->heap);
	}
	e.order = w->order++;
	for (i = w->n_events++; i > 0 && sooner(&e, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = e;
}

static struct event pop(struct world *w)
{
	struct event first = w->heap[0], last = w->heap[--w->n_events];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < w->n_events) {
		if (child + 1 < w->n_events && sooner(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (!sooner(&w->heap[child], &last))
			break;
		w->heap[i] = w->heap[child];
		i = child;
	}
	w->heap[i] = last;
	return first;
}

static wf_time delay(struct world *w)
{
	return 1 + (wf_time)(wf_rand64(w->random, w->order) % 5000) * WF_NS;
}

static void net_post(void *ctx, const struct wf_post *post, wf_time now)
{
	struct rank *r = ctx;
	struct world *w = r->w;
	struct conn *c = &w->conns[post->conn];
	const struct wf_op *op;
	struct message *m;

	if (post->kind == WF_POST_ANNOUNCE) {
		c->fifo[1] = wf_max_time(c->fifo[1], now + delay(w));
		push(w, (struct event){ .kind = EV_ANNOUNCED,
		                        .at = c->fifo[1],
		                        .rank = c->rank[0],
		                        .end = c->end[0],
		                        .value = post->imm });
		return;
	}
	op = &slot_of(w->exec[r->number], post->handle)->op;
	m = calloc(1, sizeof(*m));
	assert_non_null(m);
	m->key = message_key(r->number, op->peer, op);
	for (uint32_t i = 0; i < n_blocks(op); i++)
		memcpy(m->count[i],
		       get(w, op->flags & WF_OP_PASSES ? w->passed : w->data, r->number,
		           op->channel, op->block + i),
		       sizeof(m->count[i]));
	m->next = w->messages;
	w->messages = m;
	if (!(op->flags & WF_OP_PASSES))
		w->sent[r->number] += post->bytes;
	if (!wf_cluster_local(&w->cluster, r->number, op->peer))
		w->net += post->bytes;
	c->fifo[0] = wf_max_time(c->fifo[0], now + delay(w));
	push(w, (struct event){ .kind = EV_ARRIVED,
	                        .at = c->fifo[0],
	                        .rank = c->rank[1],
	                        .end = c->end[1],
	                        .value = post->imm,
	                        .posted = now });
	c->fifo[2] = wf_max_time(c->fifo[2], now + delay(w));
	push(w, (struct event){ .kind = EV_SENT,
	                        .at = c->fifo[2],
	                        .rank = r->number,
	                        .handle = post->handle });
}

static void net_call_at(void *ctx, wf_time at)
{
	struct rank *r = ctx;

	push(r->w, (struct event){ .kind = EV_RUN, .at = at, .rank = r->number });
}

static void net_meet(void *ctx, const struct wf_op *op, uint32_t handle, wf_time now)
{
	(void)ctx;
	(void)op;
	(void)handle;
	(void)now;
	fail_msg("nothing here is calculated");
}

static void net_finished(void *ctx, wf_time now)
{
	struct rank *r = ctx;

	(void)now;
	r->w->finished++;
}

static const struct wf_exec_driver net_driver = {
	.post = net_post,
	.call_at = net_call_at,
	.meet = net_meet,
	.finished = net_finished,
};

/* The receive takes the oldest message of its kind. */
static void op_ended(void *arg, uint32_t rank, uint32_t stream, const struct wf_op *op,
                     wf_time start, wf_time end)
{
	struct world *w = arg;
	struct message **at, **oldest = NULL, *m;

	(void)stream;
	assert_true(start <= end);
	if (op->kind != WF_OP_RECV)
		return;
	for (at = &w->messages; *at != NULL; at = &(*at)->next) {
		if ((*at)->key == message_key(op->peer, rank, op))
			oldest = at;
	}
	assert_non_null(oldest);
	m = *oldest;
	*oldest = m->next;
	for (uint32_t b = 0; b < n_blocks(op); b++) {
		uint8_t *mine = get(w, op->flags & WF_OP_PASSES ? w->passed : w->data, rank,
		                    op->channel, op->block + b);

		for (uint32_t i = 0; i < MAX_RANKS; i++)
			mine[i] = (uint8_t)(m->count[b][i] +
			                    (op->flags & WF_OP_REDUCES ? mine[i] : 0));
	}
	free(m);
}

struct peer_arg {
	struct world *w;
	uint32_t rank;
};

static void connect_peer(void *arg, uint32_t peer, uint16_t channel)
{
	struct peer_arg *p = arg;
	struct world *w = p->w;
	struct conn *c;
	uint32_t end;

	if (w->n_conns == w->conns_room) {
		w->conns_room = w->conns_room == 0 ? 64 : 2 * w->conns_room;
		w->conns = realloc(w->conns, w->conns_room * sizeof(*w->conns));
		assert_non_null(w->conns);
	}
	if (wf_exec_connect(w->exec[p->rank], peer, channel, true, w->n_conns, &end) != 0)
		return;
	c = &w->conns[w->n_conns];
	*c = (struct conn){ .rank = { p->rank, peer }, .end = { end } };
	assert_int_equal(
		wf_exec_connect(w->exec[peer], p->rank, channel, false, w->n_conns, &c->end[1]), 0);
	w->n_conns++;
}

/* ---- a run ---- */

static void deliver(struct world *w, const struct event *e)
{
	struct wf_exec *x = w->exec[e->rank];

	switch (e->kind) {
	case EV_RUN:
		wf_exec_run(x, e->at);
		break;
	case EV_ANNOUNCED:
		wf_exec_announced(x, e->end, e->value, e->at);
		break;
	case EV_ARRIVED:
		wf_exec_arrived(x, e->end, e->value, e->posted, true, e->at);
		break;
	case EV_SENT:
		wf_exec_sent(x, e->handle, e->at);
		break;
	}
}

static void run_world(struct world *w, const struct wf_coll_cfg *cfg, uint32_t iterations)
{
	struct wf_mem *mem = wf_mem_heap();
	struct wf_plan *plan;
	struct wf_err err = { "" };

	assert_int_equal(wf_plan_coll_create(&w->cluster, &w->coll, iterations, mem, &plan), 0);
	assert_int_equal(wf_plan_schedule(plan, cfg, NULL, NULL, mem, &w->schedule), 0);
	w->data = calloc(TABLE, sizeof(*w->data));
	w->passed = calloc(TABLE, sizeof(*w->passed));
	w->counts.groups = calloc(iterations, sizeof(*w->counts.groups));
	w->observer = (struct wf_job_observer){ .arg = w, .op = op_ended };
	for (uint32_t r = 0; r < w->cluster.n_ranks; r++) {
		const struct wf_exec_cfg x = { .schedule = w->schedule,
			                       .driver = &net_driver,
			                       .ctx = &w->rank[r],
			                       .observer = &w->observer,
			                       .counts = &w->counts,
			                       .mem = mem,
			                       .rank = r };

		w->rank[r] = (struct rank){ .w = w, .number = r };
		assert_int_equal(wf_exec_create(&x, &w->exec[r]), 0);
	}
	for (uint32_t r = 0; r < w->cluster.n_ranks; r++) {
		struct peer_arg arg = { .w = w, .rank = r };

		assert_int_equal(w->schedule->ops->peers(w->schedule, r, connect_peer, &arg), 0);
	}
	for (uint32_t r = 0; r < w->cluster.n_ranks; r++)
		wf_exec_start(w->exec[r], 0);
	while (w->n_events > 0) {
		struct event e = pop(w);

		deliver(w, &e);
	}
	for (uint32_t r = 0; r < w->cluster.n_ranks; r++) {
		if (wf_exec_stuck(w->exec[r], &err))
			fail_msg("%s %s, %u ranks: %s", wf_coll_kind_name(w->coll.kind),
			         wf_coll_alg_name(w->coll.alg), w->coll.comm.n, err.text);
	}
	assert_int_equal(w->finished, w->cluster.n_ranks);
	assert_null(w->messages);
}

static void end_world(struct world *w)
{
	for (uint32_t r = 0; r < w->cluster.n_ranks; r++)
		wf_exec_destroy(w->exec[r]);
	wf_schedule_destroy(w->schedule);
	free(w->data);
	free(w->passed);
	free(w->counts.groups);
	free(w->heap);
	free(w->conns);
}

/* Whether rank has what it should of a piece that somebody has. */
static bool is_right(const struct world *w, uint32_t rank, uint32_t block, const uint8_t *count)
{
	uint32_t n = w->coll.comm.n, pos = wf_comm_pos(&w->coll.comm, rank);

	for (uint32_t i = 0; i < n; i++) {
		uint8_t want = 1;

		if (w->coll.kind == WF_COLL_REDUCE_SCATTER && block % n != pos)
			return true;
		if (w->coll.kind == WF_COLL_ALL_TO_ALL && block % n != pos)
			return true;
		if (w->coll.kind == WF_COLL_ALL_GATHER)
			want = block % n == i;
		if (w->coll.kind == WF_COLL_ALL_TO_ALL)
			want = block % (n * n) / n == i;
		if (w->coll.kind == WF_COLL_BROADCAST)
			want = i == w->coll.root;
		if (count[i] != want)
			return false;
	}
	return true;
}

static void check_data(struct world *w)
{
	uint32_t n_pieces = 0;

	for (uint32_t i = 0; i < TABLE; i++) {
		uint32_t block = (uint32_t)(w->data[i].key >> 20);
		uint32_t channel = (uint32_t)(w->data[i].key >> 8 & 0xfff);

		if (w->data[i].key == 0)
			continue;
		n_pieces++;
		for (uint32_t k = 0; k < w->coll.comm.n; k++) {
			uint32_t rank = wf_comm_rank(&w->coll.comm, k);
			const uint8_t *count;

			if ((w->data[i].key & 0xff) != wf_comm_rank(&w->coll.comm, 0) + 1 &&
			    w->coll.kind != WF_COLL_ALL_TO_ALL)
				break;
			count = get(w, w->data, rank, channel, block);
			if (!is_right(w, rank, block, count))
				fail_msg("%s %s, %u ranks, rank %u, channel %u, block %u: wrong",
				         wf_coll_kind_name(w->coll.kind),
				         wf_coll_alg_name(w->coll.alg), w->coll.comm.n, rank,
				         channel, block);
		}
	}
	assert_true(n_pieces > 0);
}

static void defaults(struct wf_coll_cfg *cfg)
{
	struct wf_err err = { "" };

	assert_int_equal(wf_param_defaults(wf_coll_params, wf_coll_n_params, cfg, &err), 0);
}

struct shape {
	uint32_t ranks, gpus, nics, channels;
	uint64_t bytes;
	bool pxn;
};

/*
 * What theory says is sent: by all ranks together to the byte, by each of a ring within rounding.
 */
static void check_bytes(const struct world *w, const struct shape *s, uint64_t packet)
{
	bool twice = w->coll.kind == WF_COLL_ALL_REDUCE || w->coll.kind == WF_COLL_BARRIER;
	uint64_t bytes = w->coll.kind == WF_COLL_BARRIER ? 4 : s->bytes, sum = 0;
	uint32_t n = w->coll.comm.n;
	uint64_t steps = (twice ? 2 : 1) * (n - 1), loops = 2;
	uint64_t off = 300 + packet * s->channels * loops * (twice ? 2 : 1);

	for (uint32_t r = 0; r < w->cluster.n_ranks; r++) {
		bool member = wf_comm_pos(&w->coll.comm, r) != UINT32_MAX;
		uint64_t want = member ? bytes * steps / n : 0;

		sum += w->sent[r];
		if (w->coll.alg == WF_ALG_RING && w->coll.kind != WF_COLL_BROADCAST)
			assert_in_range(w->sent[r], want > off ? want - off : 0, want + off);
	}
	assert_int_equal(sum, steps * bytes);
}

static void one_comm(enum wf_coll_kind kind, enum wf_coll_alg alg, const struct shape *s,
                     const struct wf_comm *comm, uint64_t seed)
{
	static struct world w;
	struct wf_coll_cfg cfg = { 0 };

	memset(&w, 0, sizeof(w));
	defaults(&cfg);
	cfg.channels = s->channels;
	cfg.scale = WF_RATIO_ONE / 1024; /* small data is worth all channels */
	cfg.buffer = 8192;               /* so that small data has several chunks and slices */
	cfg.p2p_chunk = 700;
	cfg.packet = seed % 2 * 128;
	cfg.pxn = s->pxn;
	w.random = wf_rand_key(seed, 1, s->ranks);
	w.cluster = (struct wf_cluster){ .n_ranks = s->ranks, .gpus = s->gpus, .nics = s->nics };
	w.coll = (struct wf_coll){ .kind = (uint8_t)kind,
		                   .alg = (uint8_t)alg,
		                   .proto = WF_PROTO_SIMPLE,
		                   .bytes = s->bytes,
		                   .root = (uint32_t)(seed % comm->n),
		                   .comm = *comm };
	run_world(&w, &cfg, 1);
	check_data(&w);
	check_bytes(&w, s, cfg.packet);
	end_world(&w);
}

static void one(enum wf_coll_kind kind, enum wf_coll_alg alg, const struct shape *s, uint64_t seed)
{
	const struct wf_comm all = { .n = s->ranks, .stride = 1 };

	one_comm(kind, alg, s, &all, seed);
}

static const struct shape shapes[] = {
	{ 2, 1, 1, 1, 10000, true },   { 3, 1, 1, 2, 1001, true },    { 5, 1, 1, 1, 4, true },
	{ 4, 4, 4, 4, 40000, true },   { 8, 4, 4, 4, 100000, true },  { 8, 4, 2, 2, 77777, true },
	{ 8, 4, 4, 3, 33333, false },  { 12, 4, 4, 4, 123457, true }, { 16, 8, 8, 8, 250000, true },
	{ 16, 2, 1, 1, 65536, false }, { 17, 1, 1, 3, 20011, true },  { 32, 8, 8, 2, 50000, true },
	{ 9, 3, 3, 3, 0, true },
};

static void all_shapes(enum wf_coll_kind kind, enum wf_coll_alg alg)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(shapes); i += check_step(3))
		one(kind, alg, &shapes[i], i);
	for (uint32_t n = 2; n <= 17; n += (uint32_t)check_step(7)) {
		struct shape s = { n, 1, 1, 2, 3000 + n, true };

		one(kind, alg, &s, n);
		s.gpus = s.nics = 4; /* the last server may be partly filled */
		one(kind, alg, &s, n + 100);
	}
}

/* Groups within a cluster: neighbours, one of each server, every second, and any. */
static void test_groups(void **state)
{
	static const uint32_t list[] = { 1, 2, 3, 7, 8, 15, 16, 17, 22, 23, 31 };
	static const struct wf_comm comms[] = {
		{ .n = 8, .base = 8, .stride = 1 },         { .n = 4, .base = 3, .stride = 8 },
		{ .n = 13, .base = 5, .stride = 2 },        { .n = 4, .base = 1, .stride = 9 },
		{ .n = WF_ARRAY_SIZE(list), .list = list }, { .n = 2, .base = 7, .stride = 1 },
	};
	static const struct {
		enum wf_coll_kind kind;
		enum wf_coll_alg alg;
	} ways[] = {
		{ WF_COLL_ALL_REDUCE, WF_ALG_RING },    { WF_COLL_ALL_REDUCE, WF_ALG_TREE },
		{ WF_COLL_ALL_REDUCE, WF_ALG_HALVING }, { WF_COLL_REDUCE_SCATTER, WF_ALG_RING },
		{ WF_COLL_ALL_GATHER, WF_ALG_RING },    { WF_COLL_ALL_TO_ALL, WF_ALG_PAIRWISE },
		{ WF_COLL_BROADCAST, WF_ALG_RING },
	};

	(void)state;
	for (size_t i = 0; i < WF_ARRAY_SIZE(comms); i++) {
		/* With a step, each group has other ways than the one before. */
		for (size_t k = i % check_step(3); k < WF_ARRAY_SIZE(ways); k += check_step(3)) {
			struct shape s = { 32, 8, 8, 4, 30011, true };

			one_comm(ways[k].kind, ways[k].alg, &s, &comms[i], i + k);
			s.pxn = false;
			s.nics = 2;
			one_comm(ways[k].kind, ways[k].alg, &s, &comms[i], i + k);
		}
	}
}

static void test_tree(void **state)
{
	(void)state;
	all_shapes(WF_COLL_ALL_REDUCE, WF_ALG_TREE);
	all_shapes(WF_COLL_BARRIER, WF_ALG_TREE);
}

/*
 * Servers that a group's rank has below it in the tree of a channel; -1: the channel has no part.
 */
static int below(const struct wf_coll_cfg *cfg, const struct wf_comm *comm, uint32_t rank,
                 uint32_t channel)
{
	const struct wf_cluster cluster = { .n_ranks = 128, .gpus = 8, .nics = 8 };
	const struct wf_coll coll = {
		.kind = WF_COLL_ALL_REDUCE, .alg = WF_ALG_TREE, .bytes = 1 << 30, .comm = *comm
	};
	union wf_gen_state state = { 0 };
	struct wf_part part = { 0 };
	const struct wf_gen_ops *gen;
	int n = 0;

	gen = wf_part_init(&part, &cluster, cfg, NULL, &coll, rank, channel);
	if (gen == NULL)
		return -1;
	gen->start(&part, &state);
	for (uint32_t i = 0; i < state.tree.n_down; i++)
		n += !wf_cluster_local(&cluster, rank, state.tree.down[i]);
	return n;
}

/*
 * NCCL (src/graph/connect.cc, connectTrees() and copyChannels()): each channel found has the first
 * tree, its first copy the second, further copies one and the other by turns. No server but one is
 * an inner node of both.
 */
static void test_two_trees(void **state)
{
	/*
	 * H100s: all of them, and the first of every server. With B200s and 800 Gb/s there are more
	 * copies.
	 */
	const struct {
		struct wf_comm comm;
		bool b200;
		uint32_t found, copies;
	} groups[] = {
		{ { .n = 128, .stride = 1 }, false, 8, 2 },
		{ { .n = 16, .stride = 8 }, false, 2, 2 },
		{ { .n = 16, .stride = 8 }, true, 2, 4 },
	};

	(void)state;
	for (size_t g = 0; g < WF_ARRAY_SIZE(groups); g++) {
		uint32_t both = 0, found = groups[g].found;
		struct wf_coll_cfg c = { 0 };

		defaults(&c);
		if (groups[g].b200) {
			snprintf(c.generation, sizeof(c.generation), "blackwell");
			c.nic_rate = c.pcie_rate = UINT64_C(800000000000);
			c.nvlink = UINT64_C(7200000000000);
		}
		for (uint32_t rank = 0; rank < 128; rank += 8) {
			int first = below(&c, &groups[g].comm, rank, 0);
			int second = below(&c, &groups[g].comm, rank, found);

			assert_true(first >= 0 && second >= 0);
			both += first > 0 && second > 0;
			for (uint32_t copy = 2; copy < groups[g].copies; copy++)
				assert_int_equal(below(&c, &groups[g].comm, rank, copy * found),
				                 copy % 2 == 0 ? first : second);
		}
		assert_in_range(both, 0, 1);
	}
}

static void test_halving(void **state)
{
	(void)state;
	all_shapes(WF_COLL_ALL_REDUCE, WF_ALG_HALVING);
}

static void test_pairwise(void **state)
{
	(void)state;
	all_shapes(WF_COLL_ALL_TO_ALL, WF_ALG_PAIRWISE);
}

static void test_broadcast(void **state)
{
	(void)state;
	all_shapes(WF_COLL_BROADCAST, WF_ALG_RING);
}

static void test_ring(void **state)
{
	(void)state;
	all_shapes(WF_COLL_ALL_REDUCE, WF_ALG_RING);
	all_shapes(WF_COLL_REDUCE_SCATTER, WF_ALG_RING);
	all_shapes(WF_COLL_ALL_GATHER, WF_ALG_RING);
}

/*
 * Whole packets where there are as many for each as is asked for; all is given out, and no two
 * parts differ by more than a packet and what is left over.
 */
static void test_packets(void **state)
{
	const uint64_t totals[] = { 0, 1, 4095, 28672, 40000, 57344, 57345, 1000000, 23168512 };
	const struct wf_part part = { .grain = 4096, .whole = 8192 }, any = { 0 };

	(void)state;
	for (size_t t = 0; t < WF_ARRAY_SIZE(totals); t++) {
		for (uint32_t n = 1; n <= 7; n++) {
			uint64_t sum = 0;

			for (uint32_t i = 0; i < n; i++) {
				uint64_t mean = totals[t] / n;
				uint64_t bytes = wf_part_share(&part, totals[t], n, i);

				sum += bytes;
				assert_int_equal(wf_part_share(&any, totals[t], n, i),
				                 wf_share(totals[t], n, i));
				if (mean < 8192) {
					assert_int_equal(bytes, wf_share(totals[t], n, i));
					continue;
				}
				assert_true(bytes > 0 && bytes < mean + 4097 &&
				            bytes + 4096 > mean);
				assert_true(i + 1 == n || bytes % 4096 == 0);
			}
			assert_int_equal(sum, totals[t]);
		}
	}
	/* 10 packets in 4 parts, in turn. */
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(wf_part_share(&part, 40960, 4, i), i % 2 == 0 ? 12288 : 8192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),      cmocka_unit_test(test_tree),
		cmocka_unit_test(test_halving),   cmocka_unit_test(test_pairwise),
		cmocka_unit_test(test_broadcast), cmocka_unit_test(test_groups),
		cmocka_unit_test(test_packets),   cmocka_unit_test(test_two_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
