/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_packet.h - what a program may send into the modelled fabric.
 */
#ifndef WF_LIVE_MODEL_PACKET_H
#define WF_LIVE_MODEL_PACKET_H

#include <stdbool.h>

#include "live/proto.h"
#include "wire/ib.h"
#include "wire/transport.h"

/* Whose a packet is, and for whom. */
struct wf_model_way {
	uint32_t host, slot; /* the program for which it is */
	uint16_t size;       /* bytes on the link */
	uint16_t length;     /* payload bytes */
};

/* Where ports are managed: whether switches copy it to the members of a group, by its DLID. */
static inline bool wf_model_is_group(const struct wf_packet *pkt)
{
	return (pkt->dst & WF_LIVE_GROUP) != 0 && pkt->entropy >= WF_LID_MULTICAST &&
	       pkt->entropy < WF_LID_PERMISSIVE;
}

/*
 * Looks at a packet in a ring of program slot on host, with pkt->input bytes of payload behind it.
 * Returns whether it may be sent: its headers and its payload agree, the payload is within
 * the MTU of the fabric, it speaks in nobody else's name, and leaves the host for another one. Then
 * sets *way, and cleans what only the fabric may set in *pkt.
 */
bool wf_model_accept(const struct wf_live_table *table, uint32_t host, uint32_t slot,
                     struct wf_packet *pkt, struct wf_model_way *way);

#endif
