/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coll_tree.c - all-reduce over two binary trees.
 *
 * Between servers there are two binary trees in which every server but one is an inner node of at
 * most one (Sanders, Speck, Traeff: two-tree algorithms, 2009), so that both together use the links
 * fully. As in NCCL the channels that its search found have one of them and their copies the other,
 * and so on by turns. Inside a server the channel's head talks to the heads of parent and children;
 * behind it the other GPUs are a chain.
 *
 * A chunk is reduced from the leaves to the root and comes back. Its operations are, on every rank
 * and in this order: a receive from each child, a send to the parent, a receive from the parent, a
 * send to each child. A rank without children has some work in the receive's place, with which
 * chunks come into the tree no faster than NCCL's model has them: what slows trees down is not
 * modelled rank by rank.
 */
#include <string.h>

#include "job/coll_priv.h"

#define LEAST_CHUNK (UINT64_C(32) << 10)
#define LL128_CHUNK (UINT64_C(36) << 10)
#define LL128_CHUNKS 16

uint32_t wf_tree_servers(const struct wf_part *part, uint32_t pos, uint32_t *index_p)
{
	const struct wf_comm *comm = &part->coll.comm;
	uint32_t n = 0;

	if (comm->list == NULL && comm->stride <= part->cluster->gpus) {
		/* A server between the first and the last has at least one of them. */
		uint32_t first = wf_cluster_server(part->cluster, comm->base);

		*index_p = wf_cluster_server(part->cluster, wf_comm_rank(comm, pos)) - first;
		return wf_cluster_server(part->cluster, wf_comm_rank(comm, comm->n - 1)) - first +
		       1;
	}
	for (uint32_t i = 0; i < comm->n; n++) {
		struct wf_run run = wf_part_run(part, i);

		if (pos >= run.first && pos < run.end)
			*index_p = n;
		i = run.end;
	}
	return n;
}

uint32_t wf_tree_member(const struct wf_part *part, uint32_t index, uint32_t member)
{
	const struct wf_comm *comm = &part->coll.comm;
	struct wf_run run = { 0 };

	if (comm->list == NULL && comm->stride <= part->cluster->gpus) {
		uint32_t server = wf_cluster_server(part->cluster, comm->base) + index;
		uint32_t first = server * part->cluster->gpus;
		uint32_t pos = first <= comm->base
		                       ? 0
		                       : (first - comm->base + comm->stride - 1) / comm->stride;

		run = wf_part_run(part, pos);
	} else {
		for (uint32_t i = 0;; index--) {
			run = wf_part_run(part, i);
			if (index == 0)
				break;
			i = run.end;
		}
	}
	return wf_comm_rank(comm, wf_run_head(&run, member));
}

/*
 * The binary tree whose root is 0 and in which x's distance to its children is half its lowest bit:
 * odd numbers are leaves.
 */
static void binary_tree(uint32_t n, uint32_t x, uint32_t *up, uint32_t *down, uint32_t *n_down)
{
	uint32_t bit = 1;

	while (bit < n && (x & bit) == 0)
		bit <<= 1;
	*n_down = 0;
	*up = UINT32_MAX;
	if (x != 0) {
		*up = (x ^ bit) | (bit << 1);
		if (*up >= n)
			*up = x ^ bit;
		if (bit > 1)
			down[(*n_down)++] = x - bit / 2;
	}
	for (bit /= 2; bit > 0 && x + bit >= n; bit /= 2)
		;
	if (bit > 0)
		down[(*n_down)++] = x + bit;
}

/* The second tree is the first one mirrored, or for an odd number moved on by one. */
static uint32_t to_tree(uint32_t n, unsigned tree, uint32_t server)
{
	if (tree == 0)
		return server;
	return n % 2 == 0 ? n - 1 - server : (server + n - 1) % n;
}

static uint32_t from_tree(uint32_t n, unsigned tree, uint32_t x)
{
	if (tree == 0)
		return x;
	return n % 2 == 0 ? n - 1 - x : (x + 1) % n;
}

uint32_t wf_tree_around(const struct wf_part *part, unsigned tree, uint32_t member, uint32_t *up_p,
                        uint32_t *down)
{
	uint32_t index = 0, n = wf_tree_servers(part, part->pos, &index), up, n_down;

	binary_tree(n, to_tree(n, tree, index), &up, down, &n_down);
	*up_p = up == UINT32_MAX ? up : wf_tree_member(part, from_tree(n, tree, up), member);
	for (uint32_t i = 0; i < n_down; i++)
		down[i] = wf_tree_member(part, from_tree(n, tree, down[i]), member);
	return n_down;
}

/* The ranks around this one: behind the head the other GPUs of the server are a chain. */
static void plant(const struct wf_part *part, union wf_gen_state *state)
{
	const struct wf_comm *comm = &part->coll.comm;
	struct wf_run run = wf_part_run(part, part->pos);
	uint32_t size = run.end - run.first, head = wf_run_head(&run, part->channel);
	uint32_t behind = (part->pos - head + size) % size; /* places behind the head */
	uint32_t *down = state->tree.down;
	uint32_t k = 0;

	state->tree.up = UINT32_MAX;
	if (behind + 1 < size)
		down[k++] =
			wf_comm_rank(comm, part->pos + 1 == run.end ? run.first : part->pos + 1);
	if (behind > 0) {
		state->tree.up =
			wf_comm_rank(comm, part->pos == run.first ? run.end - 1 : part->pos - 1);
	} else {
		k += wf_tree_around(part, part->channel / part->searched % 2, part->channel,
		                    &state->tree.up, down + k);
	}
	state->tree.n_down = k;
	state->tree.n_ops = (k == 0 ? 1 : 2 * k) + (state->tree.up != UINT32_MAX ? 2 : 0);
}

/* Smaller chunks for less data, so that the pipeline over the tree's depth fills. */
static uint64_t chunk_bytes(const struct wf_part *part)
{
	uint32_t index = 0, n = wf_tree_servers(part, part->pos, &index), depth = 1;
	uint64_t chunk = part->chunk;

	/*
	 * LL128 passes lines on as they come: larger chunks would wait for their ends at every GPU;
	 * and of many small ones not all that are on their way find room.
	 */
	if (part->coll.proto == WF_PROTO_LL128)
		return wf_min_u64(wf_max_u64(chunk, part->bytes / LL128_CHUNKS), LL128_CHUNK);
	while (n > 1u << depth)
		depth++;
	while (chunk > 4 * LEAST_CHUNK && part->bytes < chunk * depth * 8)
		chunk /= 2;
	while (chunk > 2 * LEAST_CHUNK && part->bytes < chunk * depth * 4)
		chunk /= 2;
	while (chunk > LEAST_CHUNK && part->bytes < chunk * depth)
		chunk /= 2;
	return chunk;
}

static void tree_start(const struct wf_part *part, union wf_gen_state *state)
{
	uint64_t chunk = chunk_bytes(part);

	plant(part, state);
	state->tree.chunks = (uint32_t)wf_max_u64(1, (part->bytes + chunk - 1) / chunk);
}

/* op waits for the operation at place of the chunk that is back before this one. */
static void after(const union wf_gen_state *state, struct wf_op *op, uint32_t back, uint32_t place)
{
	if (state->tree.chunk >= back)
		wf_gen_after(op, (state->tree.chunk - back) * state->tree.n_ops + place);
}

static bool tree_next(const struct wf_part *part, union wf_gen_state *state, struct wf_op *op)
{
	uint32_t place, n_down = state->tree.n_down, up = state->tree.up, chunk;
	uint64_t bytes;

	if (state->tree.place == state->tree.n_ops) {
		state->tree.place = 0;
		state->tree.chunk++;
	}
	chunk = state->tree.chunk;
	if (chunk == state->tree.chunks)
		return false;
	place = state->tree.place++;
	bytes = wf_part_share(part, part->bytes, state->tree.chunks, chunk);
	if (n_down == 0 && place == 0) {
		op->kind = WF_OP_CALC;
		op->unit = WF_UNIT_CHANNEL;
		op->time = wf_part_work(part->pace_q16, bytes) + (chunk == 0 ? part->late : 0);
		after(state, op, part->depth, 1); /* into a free slot */
		return true;
	}
	/* What is behind the work is where it would be behind one receive. */
	if (n_down == 0)
		n_down = 1;
	if (place < n_down) {
		wf_part_recv(part, op, state->tree.down[place], bytes, chunk, true);
		if (place > 0)
			op->time = 0; /* all children's are added at once */
		op->tag = WF_TAG_TREE;
	} else if (up != UINT32_MAX && place == n_down) {
		wf_part_send(part, op, up, bytes, chunk);
		op->tag = WF_TAG_TREE;
		for (uint32_t i = 0; i < n_down; i++)
			after(state, op, 0, i);
	} else if (up != UINT32_MAX && place == n_down + 1) {
		wf_part_recv(part, op, up, bytes, chunk, false);
		op->unit = WF_UNIT_BACK;
		op->tag = WF_TAG_TREE + 1;
	} else {
		uint32_t child = place - n_down - (up != UINT32_MAX ? 2 : 0);

		wf_part_send(part, op, state->tree.down[child], bytes, chunk);
		op->tag = WF_TAG_TREE + 1;
		if (up != UINT32_MAX)
			after(state, op, 0, n_down + 1);
		for (uint32_t i = 0; up == UINT32_MAX && i < n_down; i++)
			after(state, op, 0, i);
	}
	after(state, op, part->depth, place);
	return true;
}

static void tree_peers(const struct wf_part *part, void (*fn)(void *arg, uint32_t peer), void *arg)
{
	union wf_gen_state state;

	memset(&state, 0, sizeof(state));
	tree_start(part, &state);
	if (state.tree.up != UINT32_MAX)
		fn(arg, state.tree.up);
	for (uint32_t i = 0; i < state.tree.n_down; i++)
		fn(arg, state.tree.down[i]);
}

/*
 * What comes back of a chunk comes back late, and others go up meanwhile: so many that only the
 * slots of connections limit them, as in NCCL, where different threads send up and down.
 */
static uint32_t tree_window(const struct wf_part *part)
{
	return 64 * part->cfg->steps;
}

const struct wf_gen_ops wf_gen_tree = {
	.start = tree_start,
	.next = tree_next,
	.peers = tree_peers,
	.window = tree_window,
};
