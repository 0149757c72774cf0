/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - packets from one process to another through memory they share.
 *
 * A ring has one producer and one consumer. An entry is a struct wf_packet (one cache line) and its
 * payload, rounded up to whole lines; positions count bytes and never wrap. The ring is mapped
 * twice in a row, so that an entry is always in one piece.
 *
 *	consumer                          producer
 *	  v                                 v
 *	| entry | entry | entry | entry | stop |          (free)          |
 *
 * The consumer needs no shared counter to see that an entry is there: its first word, packet.at, is
 * its stamp, position + 1, written last. The line behind the newest entry has no stamp; the
 * producer sees to that before it stamps an entry, so old payload is never taken for a header.
 *
 * The other side is not trusted. The consumer copies a header once (wf_ring_fetch()) and checks the
 * copy; payload is bytes to it, which may even change while it looks. The producer checks the
 * position that the consumer reports. What does not fit breaks the ring, and nothing else.
 */
#ifndef WF_LIVE_RING_H
#define WF_LIVE_RING_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

#include "base/base.h"
#include "wire/packet.h"

#define WF_RING_BYTES (UINT32_C(1) << 20) /* of a link's rings; a power of two, whole pages */
#define WF_RING_PAYLOAD 4096              /* bytes with a packet at most, in those */

/*
 * What the two sides tell each other, in shared memory. Each line has one writer, but for the
 * flags.
 */
struct wf_ring_ctl {
	_Atomic uint64_t tail; /* consumer: bytes before it are free */
	char pad1[WF_CACHE_LINE - 8];
	_Atomic uint32_t want_space; /* producer: wake me when tail moves; the consumer clears it */
	char pad2[WF_CACHE_LINE - 4];
};

/* One side's view; private memory. A ring is broken for good once broken is set. */
struct wf_ring {
	struct wf_ring_ctl *ctl;
	char *base;     /* mapped twice */
	uint64_t pos;   /* producer: next entry to write; consumer: next to read */
	uint64_t tail;  /* producer: what the consumer said last; consumer: what it said last */
	uint64_t mask;  /* bytes of the ring less one: they are a power of two, whole pages */
	uint32_t max;   /* bytes of payload at most */
	uint32_t lines; /* of the entry that was peeked */
	uint32_t less;  /* producer: bytes of the ring that it leaves alone */
	bool broken;
};

/* New memory for rings: a file descriptor whose size cannot change. Returns it or -errno. */
int wf_ring_memory(const char *name, size_t bytes) WF_MUST_USE;

/*
 * Whether fd is of that size and stays so: memory that can shrink would be a way to kill who reads
 * it.
 */
bool wf_ring_is_memory(int fd, size_t bytes);

/*
 * Maps [offset, offset + bytes) of fd twice in a row, not for children of this process. NULL: it
 * cannot.
 */
char *wf_ring_map(int fd, off_t offset, uint32_t bytes);
void wf_ring_unmap(char *base, uint32_t bytes);

static inline uint32_t wf_ring_entry_bytes(uint32_t payload)
{
	return (uint32_t)sizeof(struct wf_packet) + ((payload + 63) & ~UINT32_C(63));
}

static inline char *wf_ring_at(const struct wf_ring *r, uint64_t pos)
{
	return r->base + (pos & r->mask);
}

static inline _Atomic uint64_t *wf_ring_stamp(const struct wf_ring *r, uint64_t pos)
{
	return (_Atomic uint64_t *)(void *)wf_ring_at(r, pos);
}

/* Producer: bytes that may be in the ring. */
static inline uint32_t wf_ring_room(const struct wf_ring *r)
{
	return (uint32_t)(r->mask + 1 - r->less);
}

/* Producer: reads how far the consumer is. Breaks the ring when that cannot be. */
void wf_ring_refresh(struct wf_ring *r);

/*
 * Producer: where the payload of the next entry is to be written, payload bytes of it; NULL when
 * there is no room. Nothing happens until wf_ring_commit().
 */
static inline void *wf_ring_reserve(struct wf_ring *r, uint32_t payload)
{
	/* One line more: the one that must have no stamp. */
	uint64_t last = r->pos + wf_ring_entry_bytes(payload) + WF_CACHE_LINE - 1;

	if (wf_unlikely(last - r->tail > r->mask - r->less)) {
		wf_ring_refresh(r);
		if (r->broken || last - r->tail > r->mask - r->less)
			return NULL;
	}
	return wf_ring_at(r, r->pos) + sizeof(struct wf_packet);
}

/* Producer: adds the entry whose room was reserved. pkt->at and pkt->input are not looked at. */
static inline void wf_ring_commit(struct wf_ring *r, const struct wf_packet *pkt, uint32_t payload)
{
	uint64_t next = r->pos + wf_ring_entry_bytes(payload);
	struct wf_packet *to = (struct wf_packet *)(void *)wf_ring_at(r, r->pos);
	struct wf_packet copy = *pkt;

	/* Within what was reserved, the line without a stamp included. */
	assert(payload <= r->max && next + WF_CACHE_LINE - 1 - r->tail <= r->mask - r->less);
	copy.input = (uint16_t)payload;
	atomic_store_explicit(wf_ring_stamp(r, next), 0, memory_order_relaxed);
	memcpy((char *)to + sizeof(copy.at), (const char *)&copy + sizeof(copy.at),
	       sizeof(copy) - sizeof(copy.at));
	atomic_store_explicit(wf_ring_stamp(r, r->pos), r->pos + 1, memory_order_release);
	r->pos = next;
}

/*
 * Copies a line that the other side may change at any time. Whoever looks at *to afterwards looks
 * at the copy: memcpy() alone would let the compiler look at the original again.
 */
static inline void wf_ring_fetch(void *to, const void *from)
{
	memcpy(to, from, WF_CACHE_LINE);
	__asm__ volatile("" : "+m"(*(char(*)[WF_CACHE_LINE])to));
}

_Static_assert(sizeof(struct wf_packet) == WF_CACHE_LINE, "a header is one line");
_Static_assert(offsetof(struct wf_packet, at) == 0, "the stamp comes first");
_Static_assert(sizeof(struct wf_ring_ctl) == 2 * WF_CACHE_LINE, "a line for each writer");
_Static_assert((WF_RING_BYTES & (WF_RING_BYTES - 1)) == 0 && WF_RING_PAYLOAD <= UINT16_MAX,
               "positions are masked, and an entry's length has its place");

/* Consumer: whether an entry waits. */
static inline bool wf_ring_ready(const struct wf_ring *r)
{
	return atomic_load_explicit(wf_ring_stamp(r, r->pos), memory_order_acquire) == r->pos + 1;
}

/*
 * Consumer: copies the header of the next entry to *pkt and sets *payload_p to its payload, which
 * stays valid until wf_ring_consume() and is pkt->input bytes long, at most r->max. Returns false
 * when there is none, or the ring is broken.
 */
static inline bool wf_ring_peek(struct wf_ring *r, struct wf_packet *pkt, const void **payload_p)
{
	if (!wf_ring_ready(r) || wf_unlikely(r->broken))
		return false;
	wf_ring_fetch(pkt, wf_ring_at(r, r->pos));
	if (wf_unlikely(pkt->input > r->max)) {
		r->broken = true;
		return false;
	}
	r->lines = wf_ring_entry_bytes(pkt->input);
	*payload_p = wf_ring_at(r, r->pos) + sizeof(*pkt);
	return true;
}

/*
 * Consumer: done with the entry that was peeked. The producer learns of it with wf_ring_release().
 */
static inline void wf_ring_consume(struct wf_ring *r)
{
	assert(r->lines >= sizeof(struct wf_packet) && r->lines % WF_CACHE_LINE == 0);
	r->pos += r->lines;
}

/*
 * Consumer: gives the room of all consumed entries back. Returns whether the producer waits for it.
 */
bool wf_ring_release(struct wf_ring *r);

/*
 * Producer: asks to be woken when there is room. Returns false when there is room after all for
 * payload bytes.
 */
bool wf_ring_want_space(struct wf_ring *r, uint32_t payload);

#endif
