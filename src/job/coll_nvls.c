/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coll_nvls.c - what switches reduce: NVLS inside a server, NVLSTree, CollNet (SHARP).
 *
 * An NVSwitch reads a piece of data from all GPUs of a server, added, or writes it to all of them;
 * each GPU (a head) does so for its part. This is calculated, not executed: the GPUs meet, wait for
 * the time that NCCL's model has for it, and go on together. Meeting is a round of small messages
 * over NVLink in which everybody hears of everybody (dissemination): in round r from the GPU 2^r
 * before.
 *
 *	NVLS       meet, calculate
 *	NVLSTree   meet, then for each chunk: calculate the reduction; receive from the heads of two
 *	           child servers, send to the parent's, receive from it, send to the children; meet
 *	CollNet    meet, then for each chunk: calculate the reduction in the server, have the
 *	           network's switches reduce it over the servers; meet
 *	           or, calculated: meet in the server, meet with the heads of the other servers,
 *	           calculate; meet
 *
 * Between servers NVLSTree has the two trees of coll_tree.c, even channels one and odd channels the
 * other, and each head's data goes by its own NIC. In CollNet the fabric's switches reduce. Where
 * the network has groups for that (job/reduce.h), a head's data goes through them; else it is
 * calculated (the NIC's rate, NCCL's latency), and only the meeting crosses the fabric.
 */
#include <string.h>

#include "job/coll_priv.h"

#define NONE UINT32_MAX
#define LINK_STEP (600 * WF_NS) /* of a round of meeting inside a server */
#define NET_STEP (2 * WF_US)    /* and between servers, about */

enum { TAG_IN = WF_TAG_NVLS, TAG_NET, TAG_OUT };

static uint32_t log2_up(uint32_t n)
{
	uint32_t r = 0;

	while (1u << r < n)
		r++;
	return r;
}

static bool is_tree(const struct wf_part *part)
{
	return part->coll.alg == WF_ALG_NVLS_TREE;
}

/* Whether data goes through switches that reduce. */
static bool is_reduced(const struct wf_part *part, const union wf_gen_state *state)
{
	return part->reducer != 0 && !is_tree(part) && state->nvls.servers > 1;
}

static bool is_head(const union wf_gen_state *state)
{
	return state->nvls.head != NONE;
}

/* Which head of its server a GPU is; NONE: it is none. Where data is sent, each has its own NIC. */
static uint32_t find_head(const struct wf_part *part, const union wf_gen_state *state)
{
	uint32_t size = state->nvls.size, index = state->nvls.index;

	if (!is_reduced(part, state))
		return index < part->heads ? index : NONE;
	for (uint32_t h = 0; h < part->heads; h++) {
		if (wf_coll_head(size, part->heads, h) == index)
			return h;
	}
	return NONE;
}

/* The data that this rank is the head of, and its chunks: of all of NCCL's channels together. */
static void set_chunks(const struct wf_part *part, union wf_gen_state *state)
{
	uint64_t chunk = part->chunk;

	state->nvls.chunks = 0;
	if (!is_head(state))
		return;
	if (!is_tree(part))
		chunk *= part->choice.channels;
	state->nvls.bytes = wf_part_share(part, part->bytes, part->heads, state->nvls.head);
	state->nvls.chunks = (uint32_t)wf_max_u64(1, (state->nvls.bytes + chunk - 1) / chunk);
}

/* The calculated algorithms meet again at the end only when servers had to meet. */
static uint32_t rounds_out(const struct wf_part *part, const union wf_gen_state *state)
{
	return is_tree(part) || state->nvls.servers > 1 ? state->nvls.rounds : 0;
}

static void nvls_start(const struct wf_part *part, union wf_gen_state *state)
{
	struct wf_run run = wf_part_run(part, part->pos);

	state->nvls.first = run.first;
	state->nvls.size = run.end - run.first;
	state->nvls.index = part->pos - run.first;
	state->nvls.rounds = log2_up(state->nvls.size);
	state->nvls.servers = wf_tree_servers(part, part->pos, &state->nvls.server);
	state->nvls.up = NONE;
	state->nvls.head = find_head(part, state);
	if (!is_tree(part) && !is_reduced(part, state) && is_head(state))
		state->nvls.net_rounds = log2_up(state->nvls.servers);
	state->nvls.body = 2 * (state->nvls.rounds + state->nvls.net_rounds);
	state->nvls.chunks = 1;
	state->nvls.n_ops = 1;
	if (is_reduced(part, state)) {
		set_chunks(part, state);
		state->nvls.n_ops = 2;
	}
	if (is_tree(part)) {
		set_chunks(part, state);
		if (is_head(state))
			state->nvls.n_down =
				wf_tree_around(part, part->channel % 2, state->nvls.index,
			                       &state->nvls.up, state->nvls.down);
		state->nvls.n_ops = 1 + 2 * state->nvls.n_down + (state->nvls.up != NONE ? 2 : 0);
	}
	/* Behind the chunks: what the multicast takes, and the meeting at the end. */
	state->nvls.end = state->nvls.body + state->nvls.chunks * state->nvls.n_ops + 1 +
	                  2 * rounds_out(part, state);
}

/* Operation k of a meeting whose operations begin at first: sends and receives by turns. */
static void meet(const struct wf_part *part, const union wf_gen_state *state, struct wf_op *op,
                 uint32_t first, uint32_t k, uint32_t tag)
{
	uint32_t far = 1u << (k / 2), peer;

	if (tag == TAG_NET) {
		uint32_t n = state->nvls.servers, at = state->nvls.server;

		peer = wf_tree_member(part, k % 2 == 0 ? (at + far) % n : (at + n - far) % n,
		                      state->nvls.index);
	} else {
		uint32_t n = state->nvls.size, at = state->nvls.index;

		peer = wf_comm_rank(&part->coll.comm,
		                    state->nvls.first +
		                            (k % 2 == 0 ? (at + far) % n : (at + n - far) % n));
	}
	op->kind = k % 2 == 0 ? WF_OP_SEND : WF_OP_RECV;
	op->peer = peer;
	op->tag = tag;
	/*
	 * What was heard before is passed on; all of the first round wait for what is before them.
	 */
	if (k % 2 == 0 && first + k > 0)
		wf_gen_after(op, first + k - 1);
}

/* Of NCCL's time without bytes, what is not the network's, and of that what is not simulated. */
static wf_time reduced_delay(const struct wf_part *part)
{
	const struct wf_coll_cfg *cfg = part->cfg;
	wf_time inside = part->choice.latency - part->choice.net;
	wf_time net = wf_max_time(0, part->choice.net - NET_STEP);

	inside = (wf_time)wf_coll_scaled(cfg, (uint64_t)inside);
	if (cfg->collnet_net != WF_PARAM_AUTO)
		return inside + cfg->collnet_net;
	return inside + (wf_time)wf_coll_scaled(cfg, (uint64_t)net);
}

/* Of NCCL's time without bytes, what launch and meetings do not take. */
static wf_time delay(const struct wf_part *part, const union wf_gen_state *state)
{
	wf_time all = (wf_time)wf_coll_scaled(part->cfg, (uint64_t)part->choice.latency);
	wf_time less = (state->nvls.rounds + rounds_out(part, state)) * LINK_STEP;

	if (is_reduced(part, state))
		all = reduced_delay(part);
	else if (is_tree(part) || state->nvls.servers == 1)
		all = part->cfg->nvls;
	else
		less += log2_up(state->nvls.servers) * NET_STEP;
	less = (wf_time)wf_coll_scaled(part->cfg, (uint64_t)less) + part->cfg->launch;
	return wf_max_time(0, all - less);
}

/*
 * op waits for what the children sent of a chunk. Its own data is there as soon as the work on the
 * chunk before is over: a chunk is passed on while it is read.
 */
static void after_children(const union wf_gen_state *state, struct wf_op *op, uint32_t at)
{
	wf_gen_after(op, at);
	for (uint32_t i = 1; i <= state->nvls.n_down; i++)
		wf_gen_after(op, at + i);
}

/* An operation of a chunk: k is its place, at the number of the chunk's first. */
static void chunk_op(const struct wf_part *part, const union wf_gen_state *state, struct wf_op *op,
                     uint32_t chunk, uint32_t k, uint32_t at)
{
	uint32_t n_down = state->nvls.n_down, up = state->nvls.up;
	uint32_t behind = part->depth * state->nvls.n_ops, place = k;
	uint64_t bytes = wf_part_share(part, state->nvls.bytes, state->nvls.chunks, chunk);

	if (k == 0) {
		op->kind = WF_OP_CALC;
		op->unit = WF_UNIT_CHANNEL;
		op->time = wf_part_work(part->pace_q16, bytes * part->heads);
		wf_gen_after(op, state->nvls.body - 1);
		return;
	}
	if (--k < n_down) {
		wf_part_recv(part, op, state->nvls.down[k], bytes, chunk, true);
		op->tag = WF_TAG_TREE;
	} else if (up != NONE && k == n_down) {
		wf_part_send(part, op, up, bytes, chunk);
		op->tag = WF_TAG_TREE;
		after_children(state, op, at);
	} else if (up != NONE && k == n_down + 1) {
		wf_part_recv(part, op, up, bytes, chunk, false);
		op->tag = WF_TAG_TREE + 1;
	} else {
		wf_part_send(part, op, state->nvls.down[k - n_down - (up != NONE ? 2 : 0)], bytes,
		             chunk);
		op->tag = WF_TAG_TREE + 1;
		if (up != NONE)
			wf_gen_after(op, at + n_down + 2);
		else
			after_children(state, op, at);
	}
	op->unit = WF_UNIT_NONE;
	if (op->kind == WF_OP_RECV)
		op->time = 0; /* in NCCL's pace, which chunks came in with */
	else
		op->time = part->cfg->nvls_net;
	if (at + place >= state->nvls.body + behind)
		wf_gen_after(op, at + place - behind);
}

/*
 * An operation of a chunk that switches reduce, at number at: first what the server's GPUs take for
 * it, once there is room, then the network. Alone in its server a GPU has nothing to reduce before.
 */
static void reduced_op(const struct wf_part *part, const union wf_gen_state *state,
                       struct wf_op *op, uint32_t chunk, uint32_t at)
{
	uint64_t bytes = wf_part_share(part, state->nvls.bytes, state->nvls.chunks, chunk);
	uint32_t first = state->nvls.body + 2 * chunk;
	uint32_t depth = part->depth < WF_REDUCE_DEPTH ? part->depth : WF_REDUCE_DEPTH;

	if (at == first) {
		op->kind = WF_OP_CALC;
		op->unit = WF_UNIT_CHANNEL;
		if (state->nvls.size > 1)
			op->time = wf_part_work(part->inside_q16, bytes * part->heads);
		if (state->nvls.body > 0)
			wf_gen_after(op, state->nvls.body - 1);
		if (chunk >= depth)
			wf_gen_after(op, first - 2 * depth + 1);
		return;
	}
	op->kind = WF_OP_REDUCE;
	op->peer = part->reducer - 1 + state->nvls.head;
	op->bytes = bytes;
	op->block = chunk;
	wf_gen_after(op, first);
}

/* op waits until the last chunk is here, which is behind all others. */
static void after_data(const struct wf_part *part, const union wf_gen_state *state,
                       struct wf_op *op, uint32_t tail)
{
	uint32_t at = tail - state->nvls.n_ops, n_down = state->nvls.n_down;

	if (state->nvls.chunks == 0 || is_reduced(part, state))
		wf_gen_after(op, tail - 1);
	else {
		wf_gen_after(op, at);
		if (state->nvls.up != NONE)
			wf_gen_after(op, at + n_down + 2);
		for (uint32_t i = 1; state->nvls.up == NONE && i <= n_down; i++)
			wf_gen_after(op, at + i);
	}
}

static bool nvls_next(const struct wf_part *part, union wf_gen_state *state, struct wf_op *op)
{
	uint32_t number = state->nvls.number, data = state->nvls.body;
	uint32_t tail = data + state->nvls.chunks * state->nvls.n_ops;

	if (number == state->nvls.end)
		return false;
	state->nvls.number++;
	if (number < 2 * state->nvls.rounds) {
		meet(part, state, op, 0, number, TAG_IN);
	} else if (number < data) {
		uint32_t first = 2 * state->nvls.rounds;

		meet(part, state, op, first, number - first, TAG_NET);
	} else if (number < tail && is_tree(part)) {
		uint32_t chunk = (number - data) / state->nvls.n_ops;
		uint32_t at = data + chunk * state->nvls.n_ops;

		chunk_op(part, state, op, chunk, number - at, at);
	} else if (number < tail && is_reduced(part, state)) {
		reduced_op(part, state, op, (number - data) / 2, number);
	} else if (number < tail) {
		op->kind = WF_OP_CALC;
		op->unit = WF_UNIT_CHANNEL;
		op->time = wf_part_work(part->pace_q16, part->bytes);
		wf_gen_after(op, data - 1);
	} else if (number == tail) {
		op->kind = WF_OP_CALC;
		op->time = delay(part, state);
		after_data(part, state, op, tail);
	} else {
		meet(part, state, op, tail + 1, number - tail - 1, TAG_OUT);
	}
	return true;
}

static void nvls_peers(const struct wf_part *part, void (*fn)(void *arg, uint32_t peer), void *arg)
{
	union wf_gen_state state;

	memset(&state, 0, sizeof(state));
	nvls_start(part, &state);
	for (uint32_t i = 0; i < state.nvls.rounds; i++)
		fn(arg, wf_comm_rank(&part->coll.comm,
		                     state.nvls.first +
		                             (state.nvls.index + (1u << i)) % state.nvls.size));
	for (uint32_t i = 0; i < state.nvls.net_rounds; i++)
		fn(arg, wf_tree_member(part, (state.nvls.server + (1u << i)) % state.nvls.servers,
		                       state.nvls.index));
	if (state.nvls.up != NONE)
		fn(arg, state.nvls.up);
	for (uint32_t i = 0; i < state.nvls.n_down; i++)
		fn(arg, state.nvls.down[i]);
}

static uint32_t nvls_window(const struct wf_part *part)
{
	return 16 * part->cfg->steps;
}

const struct wf_gen_ops wf_gen_nvls = {
	.start = nvls_start,
	.next = nvls_next,
	.peers = nvls_peers,
	.window = nvls_window,
};
