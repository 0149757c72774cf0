/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coll_ring.c - rings: all-reduce, reduce-scatter, all-gather.
 *
 * Each channel has its own ring over all ranks. It enters a server at the GPU whose NIC the channel
 * takes (the head), goes from GPU to GPU over NVLink and leaves by the same NIC, so that channel c
 * of all servers is on rail c:
 *
 *	 NIC c -> GPU c -> c+1 -> ... -> c-1 --relay--> (GPU c) NIC c -> next server
 *
 * The last GPU's data goes over NVLink into the head's memory, from where the NIC sends it (NCCL's
 * PXN); with pxn off, the last GPU sends it with its own NIC, to the next server's head on another
 * rail. In step t a rank sends the block that it received in step t - 1 and receives the next one.
 * Block b, named for the rank (position) at which it ends up reduced, starts at the rank after b;
 * an all-gather's starts at b itself. So the block of step t + 1 is that of the predecessor of step
 * t's.
 *
 * All of a step and slice is a bundle of operations, always in the same order, so that numbers
 * follow from the bundle's: send, [receive to relay, relay], receive.
 */
#include "job/coll_priv.h"

enum { PHASE_SEND, PHASE_RELAY_RECV, PHASE_RELAY_SEND, PHASE_RECV };

uint32_t wf_ring_before(const struct wf_part *part, uint32_t pos)
{
	struct wf_run run = wf_part_run(part, pos);
	uint32_t n = part->coll.comm.n, head = wf_run_head(&run, part->channel);

	if (pos == head && run.end - run.first < n) {
		run = wf_part_run(part, run.first == 0 ? n - 1 : run.first - 1);
		pos = wf_run_head(&run, part->channel);
	}
	return pos == run.first ? run.end - 1 : pos - 1;
}

/* The head of the server before or after that of run; UINT32_MAX: there is one server only. */
static uint32_t other_head(const struct wf_part *part, const struct wf_run *run, bool after)
{
	uint32_t n = part->coll.comm.n, pos;
	struct wf_run other;

	if (run->end - run->first == n)
		return UINT32_MAX;
	pos = after ? run->end % n : (run->first == 0 ? n - 1 : run->first - 1);
	other = wf_part_run(part, pos);
	return wf_run_head(&other, part->channel);
}

void wf_ring_look(const struct wf_part *part, struct wf_around *a)
{
	struct wf_run run = wf_part_run(part, part->pos);
	uint32_t size = run.end - run.first, head = wf_run_head(&run, part->channel);
	uint32_t last = head == run.first ? run.end - 1 : head - 1;
	bool relays = part->cfg->pxn && size > 1 && size < part->coll.comm.n;

	a->next = part->pos + 1 == run.end ? run.first : part->pos + 1;
	a->prev = part->pos == run.first ? run.end - 1 : part->pos - 1;
	a->relay = a->relay_to = UINT32_MAX;
	a->relayed = part->pos == last && relays;
	if (size == part->coll.comm.n)
		return;
	if (part->pos == last && !relays)
		a->next = other_head(part, &run, true);
	if (part->pos == head) {
		/* The server before may have other GPUs in the group than this one. */
		uint32_t from = other_head(part, &run, false);
		struct wf_run there = wf_part_run(part, from);

		a->prev = part->cfg->pxn || there.end - there.first == 1
		                  ? from
		                  : (from == there.first ? there.end - 1 : from - 1);
	}
	if (part->pos == head && relays) {
		a->relay = last;
		a->relay_to = other_head(part, &run, true);
	}
}

static uint32_t n_steps(const struct wf_part *part)
{
	uint32_t n = part->coll.comm.n;

	return part->coll.kind == WF_COLL_ALL_REDUCE ? 2 * (n - 1) : n - 1;
}

static uint32_t first_block(const struct wf_part *part, uint32_t pos)
{
	return part->coll.kind == WF_COLL_ALL_GATHER ? pos : wf_ring_before(part, pos);
}

static void ring_start(const struct wf_part *part, union wf_gen_state *state)
{
	const struct wf_comm *comm = &part->coll.comm;
	uint64_t all = part->chunk * comm->n, each;
	struct wf_around a;

	wf_ring_look(part, &a);
	state->ring.next = wf_comm_rank(comm, a.next);
	state->ring.prev = wf_comm_rank(comm, a.prev);
	state->ring.relay = a.relay == UINT32_MAX ? a.relay : wf_comm_rank(comm, a.relay);
	state->ring.relay_to = a.relay == UINT32_MAX ? a.relay : wf_comm_rank(comm, a.relay_to);
	state->ring.relayed = a.relayed;
	state->ring.relay_pos = a.relay;
	state->ring.bundle = a.relay == UINT32_MAX ? 2 : 4;
	state->ring.n_steps = n_steps(part);
	state->ring.loops = (uint32_t)wf_max_u64(1, (part->bytes + all - 1) / all);
	/* A slice has at least a 32nd of its slot's size, so that small chunks are one message. */
	each = part->bytes / state->ring.loops / comm->n;
	state->ring.slices = (uint32_t)wf_min_u64(
		part->slices, wf_max_u64(1, each / wf_max_u64(1, part->slice / 32)));
	state->ring.block = first_block(part, part->pos);
	if (a.relay != UINT32_MAX)
		state->ring.relay_block = first_block(part, a.relay);
}

static void next_step(const struct wf_part *part, union wf_gen_state *state)
{
	state->ring.phase = PHASE_SEND;
	if (++state->ring.slice < state->ring.slices)
		return;
	state->ring.slice = 0;
	state->ring.block = wf_ring_before(part, state->ring.block);
	if (state->ring.relay != UINT32_MAX)
		state->ring.relay_block = wf_ring_before(part, state->ring.relay_block);
	if (++state->ring.step < state->ring.n_steps)
		return;
	state->ring.step = 0;
	state->ring.loop++;
	state->ring.block = first_block(part, part->pos);
	if (state->ring.relay != UINT32_MAX)
		state->ring.relay_block = first_block(part, state->ring.relay_pos);
}

/* Bytes of the present slice of a block, and the number of that piece of data. */
static uint64_t piece(const struct wf_part *part, const union wf_gen_state *state, uint32_t block,
                      uint32_t *number_p)
{
	uint32_t n = part->coll.comm.n;
	uint64_t bytes = wf_part_share(part, part->bytes, state->ring.loops, state->ring.loop);

	*number_p = (state->ring.loop * state->ring.slices + state->ring.slice) * n + block;
	bytes = wf_part_share(part, bytes, n, block);
	return wf_part_share(part, bytes, state->ring.slices, state->ring.slice);
}

/* The operation must wait for that of number place in the bundle that is back before this one. */
static void after_bundle(const union wf_gen_state *state, struct wf_op *op, uint32_t back,
                         uint32_t place)
{
	uint32_t now =
		(state->ring.loop * state->ring.n_steps + state->ring.step) * state->ring.slices +
		state->ring.slice;

	if (now >= back)
		wf_gen_after(op, (now - back) * state->ring.bundle + place);
}

static bool ring_next(const struct wf_part *part, union wf_gen_state *state, struct wf_op *op)
{
	uint32_t receive = state->ring.bundle - 1, number, block;
	bool reduces =
		part->coll.kind != WF_COLL_ALL_GATHER && state->ring.step < part->coll.comm.n - 1;
	uint64_t bytes;

	if (state->ring.loop == state->ring.loops)
		return false;
	switch (state->ring.phase) {
	case PHASE_SEND:
		bytes = piece(part, state, state->ring.block, &number);
		wf_part_send(part, op, state->ring.next, bytes, number);
		if (state->ring.relayed) {
			op->tag = WF_TAG_RELAY;
			op->time = part->step_net;
		}
		/* What came in the step before goes on, when there is a free slot. */
		after_bundle(state, op, state->ring.slices, receive);
		after_bundle(state, op, part->depth, PHASE_SEND);
		state->ring.phase = state->ring.relay != UINT32_MAX ? PHASE_RELAY_RECV : PHASE_RECV;
		break;
	case PHASE_RELAY_RECV:
		bytes = piece(part, state, state->ring.relay_block, &number);
		wf_part_recv(part, op, state->ring.relay, bytes, number, false);
		op->tag = WF_TAG_RELAY;
		op->unit = WF_UNIT_NONE; /* the last GPU's kernel has put it there */
		op->time = 0;
		op->flags = WF_OP_PASSES;
		after_bundle(state, op, part->depth, PHASE_RELAY_SEND);
		state->ring.phase = PHASE_RELAY_SEND;
		break;
	case PHASE_RELAY_SEND:
		bytes = piece(part, state, state->ring.relay_block, &number);
		wf_part_send(part, op, state->ring.relay_to, bytes, number);
		op->time = 0;
		op->flags = WF_OP_PASSES;
		after_bundle(state, op, 0, PHASE_RELAY_RECV);
		state->ring.phase = PHASE_RECV;
		break;
	default:
		block = wf_ring_before(part, state->ring.block);
		bytes = piece(part, state, block, &number);
		wf_part_recv(part, op, state->ring.prev, bytes, number, reduces);
		after_bundle(state, op, part->depth, receive);
		next_step(part, state);
		break;
	}
	return true;
}

static void ring_peers(const struct wf_part *part, void (*fn)(void *arg, uint32_t peer), void *arg)
{
	struct wf_around a;

	wf_ring_look(part, &a);
	fn(arg, wf_comm_rank(&part->coll.comm, a.next));
	if (a.relay != UINT32_MAX)
		fn(arg, wf_comm_rank(&part->coll.comm, a.relay_to));
}

/* Twice the messages that may be under way, in each of a bundle's places. */
static uint32_t ring_window(const struct wf_part *part)
{
	return 4 * part->cfg->steps;
}

const struct wf_gen_ops wf_gen_ring = {
	.start = ring_start,
	.next = ring_next,
	.peers = ring_peers,
	.window = ring_window,
};

/* ---- a server's GPUs as a line ---- */

/*
 * Nothing but the ring itself is on the NVLinks of its GPUs, so what happens between a block's
 * coming into the server and its leaving it is calculated: the block passes a line of GPUs, each of
 * which takes it over NVLink and adds its own. The head of the channel receives step k's block from
 * the network and sends it on in step k + g, g being the number of GPUs; what is sent in the first
 * g steps comes from the server's own GPUs, and what is received in the last g steps goes only as
 * far as there are steps.
 *
 *	network -> head -> 1 -> 2 -> ... -> g - 1 --relay--> network
 *
 * All channels share each GPU's NVLink: a message passes at the full rate, and occupies its place
 * in the line for as long as all channels' messages together take.
 *
 * A step and slice is a send and a receive, and in the last g steps what is left of the line.
 */
enum { LINE_SEND, LINE_RECV, LINE_TAIL };

static uint32_t line_size(const struct wf_part *part)
{
	struct wf_run run = wf_part_run(part, part->pos);

	return run.end - run.first;
}

/* The number of an operation of a loop's step and slice, counted through. */
static uint32_t line_number(const union wf_gen_state *state, uint32_t loop, uint32_t index,
                            uint32_t place)
{
	uint32_t g = state->ring.size, slices = state->ring.slices;
	uint32_t early = (state->ring.n_steps - g) * slices;
	uint32_t all = (2 * state->ring.n_steps + g) * slices;

	return loop * all + 2 * index + (index > early ? index - early : 0) + place;
}

/* A message's way over hops of the line from GPU first on. */
static void line_hops(const struct wf_part *part, struct wf_op *op, uint32_t first, uint32_t hops,
                      uint64_t bytes)
{
	wf_time transfer =
		wf_nv_duration(wf_nv_ps_q16(part->nvlink->rate), wf_part_wire(part, bytes));
	wf_time work = wf_part_time(part, bytes);

	op->line = (uint16_t)first;
	op->stages = (uint16_t)hops;
	op->pass = part->step_nvlink + part->nvlink->latency + transfer + work;
	op->busy = wf_max_time(part->active * transfer, work);
}

static void line_send(const struct wf_part *part, const union wf_gen_state *state, struct wf_op *op)
{
	uint32_t g = state->ring.size, step = state->ring.step, loop = state->ring.loop;
	uint32_t slices = state->ring.slices, index = step * slices + state->ring.slice, number;
	uint64_t bytes = piece(part, state, state->ring.relay_block, &number);

	wf_part_send(part, op, state->ring.relay_to, bytes, number);
	/* The last GPU puts it into the head's memory. */
	op->time = part->step_net + part->nvlink->latency +
	           wf_nv_duration(wf_nv_ps_q16(part->nvlink->rate), op->bytes);
	if (step >= g) {
		line_hops(part, op, 0, g - 1, bytes);
		wf_gen_after(op, line_number(state, loop, index - g * slices, LINE_RECV));
		return;
	}
	line_hops(part, op, g - 1 - step, step, bytes);
	if (loop > 0)
		wf_gen_after(op,
		             line_number(state, loop - 1,
		                         index + (state->ring.n_steps - g) * slices, LINE_TAIL));
}

static void line_recv(const struct wf_part *part, const union wf_gen_state *state, struct wf_op *op)
{
	uint32_t step = state->ring.step, loop = state->ring.loop, number;
	uint32_t index = step * state->ring.slices + state->ring.slice;
	uint32_t in_loop = state->ring.n_steps * state->ring.slices;
	uint32_t block = wf_ring_before(part, state->ring.block);
	uint64_t bytes = piece(part, state, block, &number);
	bool reduces = part->coll.kind != WF_COLL_ALL_GATHER && step < part->coll.comm.n - 1;

	wf_part_recv(part, op, state->ring.prev, bytes, number, reduces);
	if (index >= part->depth)
		wf_gen_after(op, line_number(state, loop, index - part->depth, LINE_RECV));
	else if (loop > 0)
		wf_gen_after(
			op, line_number(state, loop - 1, index + in_loop - part->depth, LINE_RECV));
}

static void line_tail(const struct wf_part *part, const union wf_gen_state *state, struct wf_op *op)
{
	uint32_t index = state->ring.step * state->ring.slices + state->ring.slice, number;
	uint32_t block = wf_ring_before(part, state->ring.block);
	uint64_t bytes = piece(part, state, block, &number);

	op->kind = WF_OP_CALC;
	line_hops(part, op, 0, state->ring.n_steps - 1 - state->ring.step, bytes);
	wf_gen_after(op, line_number(state, state->ring.loop, index, LINE_RECV));
}

static void line_start(const struct wf_part *part, union wf_gen_state *state)
{
	ring_start(part, state);
	state->ring.size = line_size(part);
	assert(state->ring.size <= state->ring.n_steps && state->ring.relay_to != UINT32_MAX);
}

static bool line_next(const struct wf_part *part, union wf_gen_state *state, struct wf_op *op)
{
	if (state->ring.loop == state->ring.loops)
		return false;
	switch (state->ring.phase) {
	case LINE_SEND:
		line_send(part, state, op);
		state->ring.phase = LINE_RECV;
		return true;
	case LINE_RECV:
		line_recv(part, state, op);
		state->ring.phase = LINE_TAIL;
		if (state->ring.step >= state->ring.n_steps - state->ring.size)
			return true;
		break;
	default:
		line_tail(part, state, op);
		break;
	}
	next_step(part, state);
	return true;
}

static void line_peers(const struct wf_part *part, void (*fn)(void *arg, uint32_t peer), void *arg)
{
	struct wf_around a;

	wf_ring_look(part, &a);
	fn(arg, wf_comm_rank(&part->coll.comm, a.relay_to));
}

/* What is in the line, besides what may be under way. */
static uint32_t line_window(const struct wf_part *part)
{
	return 4 * part->cfg->steps + 3 * line_size(part) * part->slices;
}

/* Instead of wf_gen_ring, where wf_part_has_line(). */
const struct wf_gen_ops wf_gen_ring_line = {
	.start = line_start,
	.next = line_next,
	.peers = line_peers,
	.window = line_window,
};
