/* SPDX-License-Identifier: Apache-2.0 */
/*
 * telemetry.h - what switches write into packets on their way (in-band telemetry, INT).
 *
 * A packet with WF_PACKET_INT carries the address of a record in atomic_va, from the host that sent
 * it to the one that receives it and back in the acknowledgement. Whoever has the packet has the
 * record, so no two threads ever touch it at once.
 */
#ifndef WF_FABRIC_TELEMETRY_H
#define WF_FABRIC_TELEMETRY_H

#include "wire/packet.h"

#define WF_INT_HOPS 8

struct wf_int_hop {
	wf_time at;        /* when the packet left */
	uint64_t tx_bytes; /* sent by the port before it */
	uint64_t rate;     /* of the port, bits/s */
	uint64_t queued;   /* bytes that wait for the port behind it */
};

struct wf_int_record {
	struct wf_int_record *next; /* the owner's: among those that are free */
	uint32_t hops;              /* the last WF_INT_HOPS of them are there */
	struct wf_int_hop hop[WF_INT_HOPS];
};

static inline struct wf_int_record *wf_int_record(const struct wf_packet *pkt)
{
	return (struct wf_int_record *)(uintptr_t)pkt->atomic_va;
}

#endif
