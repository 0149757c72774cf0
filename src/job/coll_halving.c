/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coll_halving.c - all-reduce by recursive halving and doubling (Rabenseifner).
 *
 * Among 2^k ranks, in step j partners at distance 2^(k-1-j) exchange halves of what they still have
 * to reduce; then the same way back, giving what is reduced. Ranks beyond the largest power of two
 * give their data to a partner first and get the result in the end. A step is one message each way;
 * what goes where is counted in blocks, 2^k of them.
 */
#include <string.h>

#include "job/coll_priv.h"

static void halving_start(const struct wf_part *part, union wf_gen_state *state)
{
	uint32_t n = part->coll.comm.n, bits = 0;

	state->halving.half = 1;
	while (state->halving.half * 2 <= n) {
		state->halving.half *= 2;
		bits++;
	}
	state->halving.n_steps = 2 * bits;
	state->halving.n = state->halving.half;
}

static uint64_t bytes_of(const struct wf_part *part, const union wf_gen_state *state, uint32_t lo,
                         uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += wf_share(part->bytes, state->halving.half, lo + i);
	return bytes;
}

static void exchange(const struct wf_part *part, const union wf_gen_state *state, struct wf_op *op,
                     bool sends, uint32_t with, uint32_t lo, uint32_t n, bool reduces)
{
	uint32_t rank = wf_comm_rank(&part->coll.comm, with);
	uint64_t bytes = bytes_of(part, state, lo, n);

	if (sends)
		wf_part_send(part, op, rank, bytes, lo);
	else
		wf_part_recv(part, op, rank, bytes, lo, reduces);
	op->blocks = n;
	op->tag = WF_TAG_HALVING + !reduces;
}

/* A rank beyond the power of two, and its partner before and after. */
static bool extra_next(const struct wf_part *part, union wf_gen_state *state, struct wf_op *op)
{
	uint32_t with = part->pos - state->halving.half, number = state->halving.number++;

	if (number > 1)
		return false;
	exchange(part, state, op, number == 0, with, 0, state->halving.half, number == 0);
	return true;
}

/*
 * Step j of the way there (halving) or back: with whom, what of the blocks is sent and what comes.
 * lo, n: what the rank has to reduce before step j there, or has reduced before step j back.
 */
static void step(const struct wf_part *part, union wf_gen_state *state, struct wf_op *op,
                 bool sends)
{
	uint32_t half = state->halving.n_steps / 2, j = state->halving.step;
	bool there = j < half;
	uint32_t distance = state->halving.half >> (there ? j + 1 : 2 * half - j);
	uint32_t with = part->pos ^ distance;
	uint32_t lo = state->halving.lo, n = state->halving.n;
	bool upper = (part->pos & distance) != 0;

	if (there) {
		/* The upper rank keeps the upper half. */
		exchange(part, state, op, sends, with, upper == sends ? lo : lo + n / 2, n / 2,
		         true);
	} else {
		uint32_t other = upper ? lo - n : lo + n;

		exchange(part, state, op, sends, with, sends ? lo : other, n, false);
	}
	if (sends)
		return;
	if (there) {
		state->halving.lo += upper ? n / 2 : 0;
		state->halving.n /= 2;
	} else {
		state->halving.lo -= upper ? n : 0;
		state->halving.n *= 2;
	}
	state->halving.step++;
}

/*
 * A send has all in it that came before. The receive of the step before is one number back; the
 * send before it, two back, has waited for the earlier ones.
 */
static void after_steps(struct wf_op *op, uint32_t number)
{
	if (number > 0)
		wf_gen_after(op, number - 1);
	if (number > 1) {
		wf_gen_after(op, number - 2);
		op->dep[op->n_deps - 1].on = WF_ON_START;
	}
}

static bool halving_next(const struct wf_part *part, union wf_gen_state *state, struct wf_op *op)
{
	uint32_t extra = part->coll.comm.n - state->halving.half, number;

	if (part->pos >= state->halving.half)
		return extra_next(part, state, op);
	number = state->halving.number;
	if (part->pos < extra && number == 0) {
		exchange(part, state, op, false, part->pos + state->halving.half, 0,
		         state->halving.half, true);
	} else if (state->halving.step < state->halving.n_steps) {
		bool sends = !state->halving.received;

		step(part, state, op, sends);
		state->halving.received = sends;
		if (sends)
			after_steps(op, number);
	} else if (part->pos < extra && state->halving.step == state->halving.n_steps) {
		exchange(part, state, op, true, part->pos + state->halving.half, 0,
		         state->halving.half, false);
		after_steps(op, number);
		state->halving.step++;
	} else {
		return false;
	}
	state->halving.number++;
	return true;
}

static void halving_peers(const struct wf_part *part, void (*fn)(void *arg, uint32_t peer),
                          void *arg)
{
	const struct wf_comm *comm = &part->coll.comm;
	union wf_gen_state state;
	uint32_t half;

	memset(&state, 0, sizeof(state));
	halving_start(part, &state);
	half = state.halving.half;
	if (part->pos >= half) {
		fn(arg, wf_comm_rank(comm, part->pos - half));
		return;
	}
	for (uint32_t d = 1; d < half; d *= 2)
		fn(arg, wf_comm_rank(comm, part->pos ^ d));
	if (part->pos < comm->n - half)
		fn(arg, wf_comm_rank(comm, part->pos + half));
}

/* All receives, so that nobody waits for an announcement. */
static uint32_t halving_window(const struct wf_part *part)
{
	(void)part;
	return 64;
}

const struct wf_gen_ops wf_gen_halving = {
	.start = halving_start,
	.next = halving_next,
	.peers = halving_peers,
	.window = halving_window,
};
