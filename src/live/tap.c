/* SPDX-License-Identifier: Apache-2.0 */
/* tap.c - the ring between an adapter and a capture. */
#include "live/tap.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>

int wf_tap_memory(void)
{
	return wf_ring_memory("weft-tap", WF_TAP_BYTES);
}

int wf_tap_open(struct wf_tap *tap, int memory_fd)
{
	if (!wf_ring_is_memory(memory_fd, WF_TAP_BYTES))
		return -EINVAL;
	*tap = (struct wf_tap){
		.ring = { .mask = WF_TAP_RING_BYTES - 1,
		          .max = sizeof(struct wf_tap_note) + WF_RING_PAYLOAD },
	};
	tap->shared = mmap(NULL, WF_TAP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
	if (tap->shared == MAP_FAILED)
		return -errno;
	(void)madvise(tap->shared, WF_TAP_PAGE, MADV_DONTFORK);
	tap->ring.ctl = &tap->shared->ring;
	tap->ring.base = wf_ring_map(memory_fd, WF_TAP_PAGE, WF_TAP_RING_BYTES);
	if (tap->ring.base == NULL) {
		munmap(tap->shared, WF_TAP_PAGE);
		return -ENOMEM;
	}
	return 0;
}

void wf_tap_close(struct wf_tap *tap)
{
	wf_ring_unmap(tap->ring.base, WF_TAP_RING_BYTES);
	munmap(tap->shared, WF_TAP_PAGE);
}

void wf_tap_put(struct wf_tap *tap, const struct wf_packet *pkt, const struct wf_tap_note *note,
                const void *payload, uint32_t bytes)
{
	uint32_t all = (uint32_t)sizeof(*note) + bytes;
	char *at = wf_ring_reserve(&tap->ring, all);

	assert(bytes <= WF_RING_PAYLOAD);
	if (at == NULL) {
		atomic_fetch_add_explicit(&tap->shared->missed, 1, memory_order_relaxed);
		return;
	}
	memcpy(at, note, sizeof(*note));
	memcpy(at + sizeof(*note), payload, bytes);
	wf_ring_commit(&tap->ring, pkt, all);
}

bool wf_tap_peek(struct wf_tap *tap, struct wf_tap_entry *e)
{
	const void *entry;

	if (!wf_ring_peek(&tap->ring, &e->pkt, &entry))
		return false;
	if (e->pkt.input < sizeof(e->note)) {
		tap->ring.broken = true;
		return false;
	}
	wf_ring_fetch(&e->note, entry);
	e->payload = (const char *)entry + sizeof(e->note);
	e->bytes = e->pkt.input - (uint32_t)sizeof(e->note);
	return true;
}
