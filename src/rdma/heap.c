/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.c - queue pairs by time, in a heap of four children a node.
 *
 * Ties go by the order of the calls alone, so a run repeats exactly. The array holds a place for
 * every queue pair from the start.
 */
#include <assert.h>

#include "rdma/hca_priv.h"
#include "rdma/qp_priv.h"

#define ARITY 4

static void heap_put(struct wf_heap *heap, enum wf_heap_id id, uint32_t pos,
                     const struct wf_heap_item *item)
{
	heap->item[pos] = *item;
	item->qp->heap_pos[id] = pos;
}

static void heap_up(struct wf_heap *heap, enum wf_heap_id id, uint32_t pos,
                    const struct wf_heap_item *item)
{
	while (pos > 0) {
		uint32_t parent = (pos - 1) / ARITY;

		if (heap->item[parent].at <= item->at)
			break;
		heap_put(heap, id, pos, &heap->item[parent]);
		pos = parent;
	}
	heap_put(heap, id, pos, item);
}

static void heap_down(struct wf_heap *heap, enum wf_heap_id id, uint32_t pos,
                      const struct wf_heap_item *item)
{
	for (;;) {
		uint32_t first = pos * ARITY + 1;
		uint32_t best = first;

		if (first >= heap->n)
			break;
		for (uint32_t c = first + 1; c < first + ARITY && c < heap->n; c++) {
			if (heap->item[c].at < heap->item[best].at)
				best = c;
		}
		if (item->at <= heap->item[best].at)
			break;
		heap_put(heap, id, pos, &heap->item[best]);
		pos = best;
	}
	heap_put(heap, id, pos, item);
}

static void heap_remove(struct wf_heap *heap, enum wf_heap_id id, struct wf_qp *qp)
{
	uint32_t pos = qp->heap_pos[id];
	struct wf_heap_item last;

	assert(pos < heap->n && heap->item[pos].qp == qp);
	last = heap->item[--heap->n];
	qp->heap_pos[id] = WF_HEAP_NONE;
	if (pos == heap->n)
		return;
	if (pos > 0 && last.at < heap->item[(pos - 1) / ARITY].at)
		heap_up(heap, id, pos, &last);
	else
		heap_down(heap, id, pos, &last);
}

void wf_heap_set(struct wf_hca *hca, enum wf_heap_id id, struct wf_qp *qp, wf_time at)
{
	struct wf_heap *heap = &hca->heap[id];
	struct wf_heap_item item = { .at = at, .qp = qp };
	uint32_t pos = qp->heap_pos[id];

	if (at == WF_TIME_NEVER) {
		if (pos != WF_HEAP_NONE)
			heap_remove(heap, id, qp);
		return;
	}
	if (pos == WF_HEAP_NONE) {
		heap_up(heap, id, heap->n++, &item);
		return;
	}
	assert(heap->item[pos].qp == qp);
	if (at < heap->item[pos].at)
		heap_up(heap, id, pos, &item);
	else
		heap_down(heap, id, pos, &item);
}
