/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coll_pairwise.c - all-to-all as NCCL's grouped sends and receives.
 *
 * In round i every rank sends to the rank i after it and receives from the one i before. What goes
 * to a GPU on another rail first goes over NVLink to the GPU of the own server on that rail, which
 * sends it on (PXN): messages between servers then never change rails, and two GPUs on one rail
 * need one connection. A pair's channel follows from how far apart their servers are, so that it is
 * the same for all that is relayed between the two.
 *
 * Of each round and piece a rank has, as far as they are on this channel: a send, then for each GPU
 * of its server whose message it relays a receive and a send, then a receive. Tags tell rounds
 * and pieces, since what is relayed may overtake.
 */
#include "job/coll_priv.h"

enum { PHASE_SEND, PHASE_RELAY_RECV, PHASE_RELAY_SEND, PHASE_RECV };

/* The position that passes on what goes from src to dst; UINT32_MAX: none does. */
static uint32_t relay_of(const struct wf_part *part, uint32_t src, uint32_t dst)
{
	const struct wf_comm *comm = &part->coll.comm;
	const struct wf_cluster *c = part->cluster;
	uint32_t from = wf_comm_rank(comm, src), to = wf_comm_rank(comm, dst);
	struct wf_run run;

	if (!part->cfg->pxn || wf_cluster_local(c, from, to) ||
	    wf_cluster_nic(c, from) == wf_cluster_nic(c, to))
		return UINT32_MAX;
	run = wf_part_run(part, src);
	/* Of several GPUs with that NIC, the one that is like dst if there is one. */
	for (uint32_t i = run.first; i < run.end; i++) {
		if (wf_comm_rank(comm, i) % c->gpus == to % c->gpus)
			return i;
	}
	for (uint32_t i = run.first; i < run.end; i++) {
		if (wf_cluster_nic(c, wf_comm_rank(comm, i)) == wf_cluster_nic(c, to))
			return i;
	}
	return UINT32_MAX;
}

static uint32_t channel_of(const struct wf_part *part, uint32_t src, uint32_t dst)
{
	const struct wf_comm *comm = &part->coll.comm;
	uint32_t a = wf_comm_rank(comm, src), b = wf_comm_rank(comm, dst);

	if (wf_cluster_local(part->cluster, a, b))
		return (b + part->cluster->gpus - a) % part->active;
	return (wf_cluster_server(part->cluster, a) + wf_cluster_server(part->cluster, b)) %
	       part->active;
}

/* Bytes of what src has for dst. */
static uint64_t pair_bytes(const struct wf_part *part, uint32_t dst)
{
	return wf_part_share(part, part->coll.bytes, part->coll.comm.n, dst);
}

static void pair_start(const struct wf_part *part, union wf_gen_state *state)
{
	uint64_t most = pair_bytes(part, 0), chunk = part->cfg->p2p_chunk;

	state->pair.round = 1;
	state->pair.pieces = (uint32_t)wf_max_u64(1, (most + chunk - 1) / chunk);
}

/* Whether the channel carries what goes from src to dst. */
static bool is_mine(const struct wf_part *part, uint32_t src, uint32_t dst)
{
	return channel_of(part, src, dst) == part->channel;
}

static uint32_t modulo(uint32_t x, uint32_t n)
{
	return x >= n ? x - n : x;
}

/* The next thing to do of this round and piece; false: nothing is left of it. */
static bool find_next(const struct wf_part *part, union wf_gen_state *state, uint32_t *src_p,
                      uint32_t *dst_p)
{
	uint32_t n = part->coll.comm.n, round = state->pair.round;
	struct wf_run run;

	if (state->pair.phase == PHASE_SEND) {
		*src_p = part->pos;
		*dst_p = modulo(part->pos + round, n);
		if (is_mine(part, *src_p, *dst_p))
			return true;
		state->pair.phase = PHASE_RELAY_RECV;
	}
	run = wf_part_run(part, part->pos);
	while (part->cfg->pxn && state->pair.phase == PHASE_RELAY_RECV &&
	       state->pair.from < run.end - run.first) {
		*src_p = run.first + state->pair.from;
		*dst_p = modulo(*src_p + round, n);
		if (relay_of(part, *src_p, *dst_p) == part->pos && is_mine(part, *src_p, *dst_p))
			return true;
		state->pair.from++;
	}
	if (state->pair.phase == PHASE_RELAY_RECV)
		state->pair.phase = PHASE_RECV;
	if (state->pair.phase == PHASE_RELAY_SEND) {
		*src_p = run.first + state->pair.from;
		*dst_p = modulo(*src_p + round, n);
		return true;
	}
	if (state->pair.phase == PHASE_RECV) {
		*src_p = modulo(part->pos + n - round, n);
		*dst_p = part->pos;
		if (is_mine(part, *src_p, *dst_p))
			return true;
	}
	return false;
}

/* At most WF_PAIR_DEPTH of each are under way: op waits for the one that many before it. */
static void after(const struct wf_part *part, struct wf_op *op, uint32_t *numbers, uint32_t *n,
                  uint32_t number, bool waits)
{
	uint32_t depth = part->depth < WF_PAIR_DEPTH ? part->depth : WF_PAIR_DEPTH;

	if (waits && *n >= depth)
		wf_gen_after(op, numbers[*n % depth]);
	numbers[(*n)++ % depth] = number;
}

static void make_op(const struct wf_part *part, union wf_gen_state *state, uint32_t src,
                    uint32_t dst, struct wf_op *op)
{
	const struct wf_comm *comm = &part->coll.comm;
	uint32_t n = comm->n, relay = relay_of(part, src, dst), number = state->pair.number++;
	uint32_t depth = part->depth < WF_PAIR_DEPTH ? part->depth : WF_PAIR_DEPTH;
	uint32_t block = state->pair.piece * n * n + src * n + dst;
	uint64_t bytes =
		wf_part_share(part, pair_bytes(part, dst), state->pair.pieces, state->pair.piece);

	switch (state->pair.phase) {
	case PHASE_SEND:
		wf_part_send(part, op, wf_comm_rank(comm, relay != UINT32_MAX ? relay : dst), bytes,
		             block);
		op->time = wf_cluster_local(part->cluster, wf_comm_rank(comm, src),
		                            wf_comm_rank(comm, dst))
		                   ? part->step_nvlink
		                   : part->step_net;
		after(part, op, state->pair.sent, &state->pair.sends, number, true);
		state->pair.phase = PHASE_RELAY_RECV;
		state->pair.from = 0;
		break;
	case PHASE_RELAY_RECV:
		wf_part_recv(part, op, wf_comm_rank(comm, src), bytes, block, false);
		op->unit = WF_UNIT_NONE;
		op->time = 0;
		op->flags = WF_OP_PASSES;
		if (state->pair.relays >= depth)
			wf_gen_after(op, state->pair.relayed[state->pair.relays % depth]);
		state->pair.relay_recv = number;
		state->pair.phase = PHASE_RELAY_SEND;
		break;
	case PHASE_RELAY_SEND:
		wf_part_send(part, op, wf_comm_rank(comm, dst), bytes, block);
		op->time = 0;
		op->flags = WF_OP_PASSES;
		wf_gen_after(op, state->pair.relay_recv);
		after(part, op, state->pair.relayed, &state->pair.relays, number, false);
		state->pair.phase = PHASE_RELAY_RECV;
		state->pair.from++;
		break;
	default:
		wf_part_recv(part, op, wf_comm_rank(comm, relay != UINT32_MAX ? relay : src), bytes,
		             block, false);
		after(part, op, state->pair.received, &state->pair.recvs, number, true);
		state->pair.phase = PHASE_RECV + 1;
		break;
	}
	op->tag = WF_TAG_BLOCKS + state->pair.round * state->pair.pieces + state->pair.piece;
}

static bool pair_next(const struct wf_part *part, union wf_gen_state *state, struct wf_op *op)
{
	uint32_t src = 0, dst = 0;

	while (state->pair.round < part->coll.comm.n) {
		if (find_next(part, state, &src, &dst)) {
			make_op(part, state, src, dst, op);
			return true;
		}
		state->pair.phase = PHASE_SEND;
		state->pair.from = 0;
		if (++state->pair.piece == state->pair.pieces) {
			state->pair.piece = 0;
			state->pair.round++;
		}
	}
	return false;
}

static void pair_peers(const struct wf_part *part, void (*fn)(void *arg, uint32_t peer), void *arg)
{
	const struct wf_comm *comm = &part->coll.comm;
	struct wf_run run = wf_part_run(part, part->pos);

	for (uint32_t i = 1; i < comm->n; i++) {
		uint32_t dst = modulo(part->pos + i, comm->n);
		uint32_t relay = relay_of(part, part->pos, dst);

		if (is_mine(part, part->pos, dst))
			fn(arg, wf_comm_rank(comm, relay != UINT32_MAX ? relay : dst));
		for (uint32_t src = run.first; src < run.end; src++) {
			dst = modulo(src + i, comm->n);
			if (relay_of(part, src, dst) == part->pos && is_mine(part, src, dst))
				fn(arg, wf_comm_rank(comm, dst));
		}
	}
}

static uint32_t pair_window(const struct wf_part *part)
{
	return 8 * part->cfg->steps;
}

const struct wf_gen_ops wf_gen_pairwise = {
	.start = pair_start,
	.next = pair_next,
	.peers = pair_peers,
	.window = pair_window,
};
