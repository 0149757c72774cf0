/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet.h - a packet as the fabric carries it: decoded header fields in one cache line.
 *
 * Bytes are made from it only at the edge (captures, live mode). The first field is the engine's:
 * the time at which the packet is an event at the node that receives it.
 */
#ifndef WF_WIRE_PACKET_H
#define WF_WIRE_PACKET_H

#include "base/base.h"

enum wf_packet_type {
	WF_PACKET_DATA,
	WF_PACKET_ACK,    /* psn: next expected */
	WF_PACKET_NAK,    /* psn: resend from here */
	WF_PACKET_CREDIT, /* InfiniBand flow control packet: u.credit */
	WF_PACKET_PAUSE,  /* PFC frame: u.pause */
	WF_PACKET_TYPES
};

/* Link control packets are made and consumed by the two ends of one link. */
static inline int wf_packet_is_control(uint8_t type)
{
	return type >= WF_PACKET_CREDIT;
}

#define WF_PACKET_ECT 0x01  /* ECN-capable transport */
#define WF_PACKET_CE 0x02   /* congestion experienced (ECN), or FECN */
#define WF_PACKET_LAST 0x04 /* ends its message */

struct wf_packet {
	wf_time at;      /* event time at the receiver; the engine's */
	wf_time born;    /* when its first bit left the sending adapter */
	uint32_t src;    /* host index */
	uint32_t dst;    /* host index */
	uint16_t size;   /* bytes on the link: headers, payload, CRCs; not preamble and gap */
	uint16_t input;  /* port it came in by, while inside a switch */
	uint8_t type;    /* enum wf_packet_type */
	uint8_t cls;     /* priority or service level, 0..15 */
	uint8_t flags;   /* WF_PACKET_* */
	uint8_t hops;    /* switches passed */
	uint32_t flow;   /* flow or queue pair number */
	uint32_t hash;   /* what ECMP hashes: stands for the UDP source port */
	uint32_t psn;
	uint32_t length; /* payload bytes */
	union {
		struct {
			uint16_t mask;      /* classes this frame speaks of */
			uint16_t quanta[6]; /* of 512 bit times, in the order of mask's bits */
		} pause;
		struct {
			uint16_t vl;
			uint16_t pad;
			uint32_t limit; /* FCCL: blocks the sender may have sent in total */
		} credit;
		uint64_t raw[2];
	} u;
};

_Static_assert(sizeof(struct wf_packet) == 64, "a packet is one cache line");

#endif
