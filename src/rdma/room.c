/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room.c - blocks for what an adapter keeps of packets in flight, which nobody knows in advance.
 *
 * A queue pair takes a block when it needs one, a larger one when that is full, and gives it back
 * when it has nothing in flight. Blocks are powers of two of a kind's unit and stay with the
 * adapter, so that what it holds is the most that was ever in flight at a time.
 */
#include <assert.h>
#include <string.h>

#include "rdma/qp_flow.h"

static const size_t unit[WF_ROOMS] = {
	[WF_ROOM_SENT] = sizeof(struct wf_sent),
	[WF_ROOM_HELD] = sizeof(struct wf_held),
	[WF_ROOM_DATA] = WF_HELD_BYTES,
	[WF_ROOM_PSN] = sizeof(uint32_t),
};

/* A free block begins with the next one's address. */
static void **link_of(void *block)
{
	return block;
}

void *wf_room_get(struct wf_hca *hca, enum wf_room room, uint32_t n)
{
	uint32_t order = 31 - (uint32_t)__builtin_clz(n);
	void *block = hca->room[room][order];

	assert(n >= WF_ROOM_LEAST && n <= WF_ROOM_MOST && (n & (n - 1)) == 0);
	if (block == NULL)
		return hca->mem->alloc(hca->mem, (size_t)n * unit[room]);
	hca->room[room][order] = *link_of(block);
	*link_of(block) = NULL;
	return block;
}

void wf_room_put(struct wf_hca *hca, enum wf_room room, void *block, uint32_t n)
{
	uint32_t order = 31 - (uint32_t)__builtin_clz(n | 1);

	if (block == NULL)
		return;
	*link_of(block) = hca->room[room][order];
	hca->room[room][order] = block;
}

void wf_room_fini(struct wf_hca *hca)
{
	for (int room = 0; room < WF_ROOMS; room++) {
		for (uint32_t order = 0; order < WF_ROOM_ORDERS; order++) {
			while (hca->room[room][order] != NULL) {
				void *block = hca->room[room][order];

				hca->room[room][order] = *link_of(block);
				hca->mem->free(hca->mem, block);
			}
		}
	}
}
