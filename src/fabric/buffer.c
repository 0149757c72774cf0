/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.c - who gets how much of a switch's packet buffer.
 */
#include "fabric/buffer.h"

#include <errno.h>

static void assert_buffer(const struct wf_buffer *b)
{
	assert(b->shared_used <= b->shared_size);
	assert(b->used <= b->size);
	(void)b;
}

int wf_buffer_init(struct wf_buffer *b, const struct wf_fabric_cfg *cfg, const char *name,
                   uint32_t n_lossless, uint64_t headroom, struct wf_err *err)
{
	uint64_t reserved = n_lossless * cfg->buffer_reserved;

	wf_buffer_set_cell(b, wf_narrow_u32(cfg->buffer_cell));
	b->reserved = wf_narrow_u32(cfg->buffer_reserved);
	b->xon = cfg->buffer_xon;
	b->size = cfg->buffer_size;
	if (reserved + headroom >= b->size)
		return wf_err_say(
			err,
			"buffer.size: %s needs %llu bytes for headroom (buffer.headroom) and "
			"%llu reserved (buffer.reserved), and has %llu; a larger buffer, fewer "
			"lossless classes or less headroom is needed",
			name, (unsigned long long)headroom, (unsigned long long)reserved,
			(unsigned long long)b->size);
	b->shared_size = b->size - reserved - headroom;
	b->shared_used = 0;
	b->used = 0;
	b->max_used = 0;
	return 0;
}

/* What of a lane's used bytes is shared. */
static uint64_t shared_part(const struct wf_buffer *b, uint64_t used)
{
	return used > b->reserved ? used - b->reserved : 0;
}

_Static_assert(WF_BUFFER_MAX <= UINT32_MAX && WF_ALPHA_MAX <= UINT32_MAX,
               "a lane's counters and threshold() hold a whole buffer");

static uint64_t threshold(uint64_t free, uint64_t alpha)
{
	return (free * alpha) >> 16;
}

static void note(struct wf_buffer *b, struct wf_lane *in, uint32_t cost)
{
	b->used += cost;
	if (b->used > b->max_used)
		b->max_used = b->used;
	if (in->used + in->headroom > in->max_used)
		in->max_used = in->used + in->headroom;
	assert_buffer(b);
}

enum wf_buffer_verdict wf_buffer_take(struct wf_buffer *b, struct wf_lane *in, uint32_t size)
{
	uint32_t cost = wf_buffer_cost(b, size);
	uint64_t free = b->shared_size - b->shared_used;
	uint64_t before = shared_part(b, in->used);
	uint64_t after = shared_part(b, (uint64_t)in->used + cost);
	uint64_t more = after - before;

	if (in->headroom == 0 &&
	    (more == 0 || (after <= threshold(free, in->alpha) && more <= free))) {
		in->used += cost;
		b->shared_used += more;
		note(b, in, cost);
		return after > 0 && after >= threshold(free - more, in->alpha) ? WF_BUFFER_XOFF
		                                                               : WF_BUFFER_OK;
	}
	if ((uint64_t)in->headroom + cost > in->capacity)
		return WF_BUFFER_FULL;
	in->headroom += cost;
	note(b, in, cost);
	return WF_BUFFER_XOFF;
}

void wf_buffer_give(struct wf_buffer *b, struct wf_lane *in, uint32_t size)
{
	uint32_t cost = wf_buffer_cost(b, size);
	uint32_t from_headroom = cost < in->headroom ? cost : in->headroom;
	uint32_t rest = cost - from_headroom;

	assert(in->used >= rest && b->used >= cost);
	in->headroom -= from_headroom;
	b->shared_used -= shared_part(b, in->used) - shared_part(b, in->used - rest);
	in->used -= rest;
	b->used -= cost;
	assert_buffer(b);
}

bool wf_buffer_is_low(const struct wf_buffer *b, const struct wf_lane *in)
{
	uint64_t shared = shared_part(b, in->used);

	return in->headroom == 0 &&
	       (shared == 0 ||
	        shared + b->xon <= threshold(b->shared_size - b->shared_used, in->alpha));
}

bool wf_buffer_take_lossy(struct wf_buffer *b, struct wf_lane *in, const struct wf_lane *out,
                          uint32_t size)
{
	uint32_t cost = wf_buffer_cost(b, size);
	uint64_t free = b->shared_size - b->shared_used;

	if (out->bytes + (uint64_t)cost > threshold(free, out->out_alpha) || cost > free)
		return false;
	b->shared_used += cost;
	in->used += cost;
	note(b, in, cost);
	return true;
}

void wf_buffer_give_lossy(struct wf_buffer *b, struct wf_lane *in, uint32_t size)
{
	uint32_t cost = wf_buffer_cost(b, size);

	assert(in->used >= cost && b->shared_used >= cost && b->used >= cost);
	b->shared_used -= cost;
	in->used -= cost;
	b->used -= cost;
}
