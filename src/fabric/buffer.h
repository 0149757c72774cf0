/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - the shared packet buffer of an Ethernet switch.
 *
 *	size = reserved of every port and lossless class
 *	     + headroom of every port and lossless class
 *	     + shared: what is left, taken by whoever needs it
 *
 * A lossless ingress class takes its reserved part first, then shared up to alpha times what is
 * free of it, then its headroom, which holds what arrives until the peer has stopped. A lossy
 * egress queue takes shared up to its own alpha times what is free. Sizes count in whole cells.
 */
#ifndef WF_FABRIC_BUFFER_H
#define WF_FABRIC_BUFFER_H

#include "fabric/device.h"

struct wf_buffer {
	uint32_t cell;
	uint64_t per_cell; /* 2^32 / cell, rounded up: dividing by multiplying */
	uint32_t reserved; /* bytes of each port and lossless class */
	uint64_t xon;      /* bytes below the threshold */
	uint64_t size;
	uint64_t shared_size;
	uint64_t shared_used;
	uint64_t used; /* all kinds */
	uint64_t max_used;
};

enum wf_buffer_verdict { WF_BUFFER_OK, WF_BUFFER_XOFF, WF_BUFFER_FULL };

/* Bytes a packet takes. */
static inline uint32_t wf_buffer_cost(const struct wf_buffer *b, uint32_t size)
{
	/*
	 * Exact for sizes below 2^17 and cells of at most 2^12: the rounding adds less than 2^-14.
	 */
	return (uint32_t)((size + (uint64_t)b->cell - 1) * b->per_cell >> 32) * b->cell;
}

/* Sets the size of a cell. */
static inline void wf_buffer_set_cell(struct wf_buffer *b, uint32_t cell)
{
	assert(cell >= 1 && cell <= WF_CELL_MAX);
	b->cell = cell;
	b->per_cell = ((UINT64_C(1) << 32) + cell - 1) / cell;
}

/*
 * Divides the buffer up for n_lossless lossless classes of ports, which need headroom bytes all
 * together. Returns 0 or -EINVAL with err filled.
 */
int wf_buffer_init(struct wf_buffer *b, const struct wf_fabric_cfg *cfg, const char *name,
                   uint32_t n_lossless, uint64_t headroom, struct wf_err *err) WF_MUST_USE;

/*
 * A packet comes into lossless lane in. OK and XOFF: it has its buffer; XOFF: the peer must stop.
 */
enum wf_buffer_verdict wf_buffer_take(struct wf_buffer *b, struct wf_lane *in, uint32_t size);

/* It leaves. */
void wf_buffer_give(struct wf_buffer *b, struct wf_lane *in, uint32_t size);

/* True when the lane is low enough for a peer that was stopped to go on. */
bool wf_buffer_is_low(const struct wf_buffer *b, const struct wf_lane *in);

/*
 * A packet wants to wait in lossy queue out, which may take out_alpha times what is free. Returns
 * false when it has to be dropped.
 */
bool wf_buffer_take_lossy(struct wf_buffer *b, struct wf_lane *in, const struct wf_lane *out,
                          uint32_t size);

/* It leaves. */
void wf_buffer_give_lossy(struct wf_buffer *b, struct wf_lane *in, uint32_t size);

#endif
