/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coll_chain.c - broadcast: along the ring of each channel, from the root to the rank before it.
 *
 * The data goes in slices, each passed on as soon as it is there. A bundle of operations is, in
 * this order, what the rank has of: receive, send, [receive to relay, relay].
 */
#include <string.h>

#include "job/coll_priv.h"

enum { PHASE_RECV, PHASE_SEND, PHASE_RELAY_RECV, PHASE_RELAY_SEND, PHASES };

static void chain_start(const struct wf_part *part, union wf_gen_state *state)
{
	const struct wf_comm *comm = &part->coll.comm;
	uint32_t end = wf_ring_before(part, part->coll.root); /* nobody comes after it */
	struct wf_around a;

	wf_ring_look(part, &a);
	state->chain.next = part->pos == end ? UINT32_MAX : wf_comm_rank(comm, a.next);
	state->chain.prev = part->pos == part->coll.root ? UINT32_MAX : wf_comm_rank(comm, a.prev);
	state->chain.relay = state->chain.relay_to = UINT32_MAX;
	state->chain.relayed = a.relayed;
	if (a.relay != UINT32_MAX && a.relay != end) {
		state->chain.relay = wf_comm_rank(comm, a.relay);
		state->chain.relay_to = wf_comm_rank(comm, a.relay_to);
	}
	state->chain.bundle = (state->chain.prev != UINT32_MAX) +
	                      (state->chain.next != UINT32_MAX) +
	                      2 * (state->chain.relay != UINT32_MAX);
	state->chain.slices =
		(uint32_t)wf_max_u64(1, (part->bytes + part->slice - 1) / part->slice);
}

static bool has_phase(const union wf_gen_state *state, uint32_t phase)
{
	switch (phase) {
	case PHASE_RECV:
		return state->chain.prev != UINT32_MAX;
	case PHASE_SEND:
		return state->chain.next != UINT32_MAX;
	default:
		return state->chain.relay != UINT32_MAX;
	}
}

/* The number of a phase's operation, back slices before this one. */
static void after(const union wf_gen_state *state, struct wf_op *op, uint32_t back, uint32_t phase)
{
	uint32_t place = 0;

	if (state->chain.slice < back || !has_phase(state, phase))
		return;
	for (uint32_t p = 0; p < phase; p++)
		place += has_phase(state, p);
	wf_gen_after(op, (state->chain.slice - back) * state->chain.bundle + place);
}

static bool chain_next(const struct wf_part *part, union wf_gen_state *state, struct wf_op *op)
{
	uint32_t slice, phase;
	uint64_t bytes;

	if (state->chain.bundle == 0)
		return false;
	while (state->chain.phase == PHASES || !has_phase(state, state->chain.phase)) {
		if (state->chain.phase++ < PHASES)
			continue;
		state->chain.phase = PHASE_RECV;
		state->chain.slice++;
	}
	slice = state->chain.slice;
	if (slice >= state->chain.slices)
		return false;
	bytes = wf_part_share(part, part->bytes, state->chain.slices, slice);
	phase = state->chain.phase++;
	switch (phase) {
	case PHASE_RECV:
		wf_part_recv(part, op, state->chain.prev, bytes, slice, false);
		after(state, op, part->depth, PHASE_RECV);
		break;
	case PHASE_SEND:
		wf_part_send(part, op, state->chain.next, bytes, slice);
		if (state->chain.relayed) {
			op->tag = WF_TAG_RELAY;
			op->time = part->step_net;
		}
		after(state, op, 0, PHASE_RECV);
		after(state, op, part->depth, PHASE_SEND);
		break;
	case PHASE_RELAY_RECV:
		wf_part_recv(part, op, state->chain.relay, bytes, slice, false);
		op->tag = WF_TAG_RELAY;
		op->unit = WF_UNIT_NONE;
		op->time = 0;
		op->flags = WF_OP_PASSES;
		after(state, op, part->depth, PHASE_RELAY_SEND);
		break;
	default:
		wf_part_send(part, op, state->chain.relay_to, bytes, slice);
		op->time = 0;
		op->flags = WF_OP_PASSES;
		after(state, op, 0, PHASE_RELAY_RECV);
		break;
	}
	return true;
}

static void chain_peers(const struct wf_part *part, void (*fn)(void *arg, uint32_t peer), void *arg)
{
	union wf_gen_state state;

	memset(&state, 0, sizeof(state));
	chain_start(part, &state);
	if (state.chain.next != UINT32_MAX)
		fn(arg, state.chain.next);
	if (state.chain.relay != UINT32_MAX)
		fn(arg, state.chain.relay_to);
}

static uint32_t chain_window(const struct wf_part *part)
{
	return 4 * part->cfg->steps;
}

const struct wf_gen_ops wf_gen_chain = {
	.start = chain_start,
	.next = chain_next,
	.peers = chain_peers,
	.window = chain_window,
};
