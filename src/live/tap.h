/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tap.h - copies of the packets that a program's adapter sends and receives, on their way to a
 * capture.
 *
 * A tap is a ring (ring.h) in sealed memory that the daemon makes and hands to both: the adapter
 * writes, the process that captures reads. An entry is the packet, a note about it, and as much of
 * the payload as is wanted. The adapter never waits: what finds no room is counted as missed.
 * Layout:
 *
 *	page 0   struct wf_tap_shared
 *	then     the ring
 *
 * An entry's packet.src and packet.dst are numbers of hosts, but for those that the note speaks of.
 * Neither side trusts the other: to the adapter, the reader is a position that is checked; to the
 * reader, entries are bytes that may say anything.
 */
#ifndef WF_LIVE_TAP_H
#define WF_LIVE_TAP_H

#include "live/proto.h"
#include "live/ring.h"

#define WF_TAP_PAGE 4096
#define WF_TAP_RING_BYTES (UINT32_C(4) << 20)
#define WF_TAP_BYTES (WF_TAP_PAGE + (size_t)WF_TAP_RING_BYTES)

struct wf_tap_shared {
	struct wf_ring_ctl ring;
	_Atomic uint32_t ready;  /* adapter: from now on every packet is in the ring or missed */
	_Atomic uint64_t missed; /* adapter: packets that found no room */
};

_Static_assert(sizeof(struct wf_tap_shared) <= WF_TAP_PAGE, "it fits");

/* What comes with a packet, before its payload; a line, so that the payload begins with one. */
struct wf_tap_note {
	int64_t at;        /* CLOCK_MONOTONIC, in ns: sent, or taken in */
	uint8_t sent;      /* by this adapter; else it came in */
	uint8_t outside;   /* the other side is not of the fabric: group is its address */
	uint8_t multicast; /* dst is a group, and group its GID */
	uint8_t group[16];
	char pad[WF_CACHE_LINE - 32];
};

_Static_assert(sizeof(struct wf_tap_note) == WF_CACHE_LINE, "a note is one cache line");

struct wf_tap {
	struct wf_tap_shared *shared;
	struct wf_ring ring;
};

/* New memory for a tap. Returns the file descriptor or -errno. */
int wf_tap_memory(void) WF_MUST_USE;

/*
 * Maps the tap in memory_fd, which stays the caller's. Returns 0, or -errno: -EINVAL when the
 * memory is not what wf_tap_memory() makes.
 */
int wf_tap_open(struct wf_tap *tap, int memory_fd) WF_MUST_USE;
void wf_tap_close(struct wf_tap *tap);

/*
 * Adapter: puts a packet with the first bytes of its payload into the ring, or counts it as missed.
 */
void wf_tap_put(struct wf_tap *tap, const struct wf_packet *pkt, const struct wf_tap_note *note,
                const void *payload, uint32_t bytes);

/* An entry as its reader has it: copies, but for the payload. */
struct wf_tap_entry {
	struct wf_packet pkt;
	struct wf_tap_note note;
	const void *payload; /* may change while it is read; stays until wf_ring_consume() */
	uint32_t bytes;      /* of it */
};

/*
 * Reader: the next entry, without taking it: wf_ring_consume(&tap->ring) does. Returns false when
 * there is none, or the ring is broken.
 */
bool wf_tap_peek(struct wf_tap *tap, struct wf_tap_entry *entry_p);

/*
 * The packet of an entry that a program on host wrote, as it is on the wire. Writes to buf, of
 * WF_PACKET_BYTES_MAX bytes; *len_p says how many the packet has, *have_p how many of them are
 * known (not all, when not all of the payload is in the entry). Returns 0, or -EINVAL for what is
 * no packet of this fabric.
 */
int wf_tap_encode(const struct wf_live_table *table, uint32_t host,
                  const struct wf_tap_entry *entry, uint8_t *buf, size_t *have_p,
                  size_t *len_p) WF_MUST_USE;

#endif
