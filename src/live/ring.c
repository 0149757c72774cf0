/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - the parts of a ring that are not on the way of every packet. */
#include "live/ring.h"

void wf_ring_refresh(struct wf_ring *r)
{
	uint64_t tail = atomic_load_explicit(&r->ctl->tail, memory_order_acquire);

	if (tail < r->tail || tail > r->pos)
		r->broken = true;
	else
		r->tail = tail;
}

bool wf_ring_release(struct wf_ring *r)
{
	if (r->tail == r->pos)
		return false;
	r->tail = r->pos;
	atomic_store_explicit(&r->ctl->tail, r->tail, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	if (wf_likely(atomic_load_explicit(&r->ctl->want_space, memory_order_relaxed) == 0))
		return false;
	atomic_store_explicit(&r->ctl->want_space, 0, memory_order_relaxed);
	return true;
}

bool wf_ring_want_space(struct wf_ring *r, uint32_t payload)
{
	atomic_store_explicit(&r->ctl->want_space, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	return wf_ring_reserve(r, payload) == NULL;
}
