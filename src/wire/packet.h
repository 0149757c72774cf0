/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet.h - a packet as the fabric carries it: decoded header fields in one cache line.
 *
 * Bytes are made from it only at the edge (captures, live mode), and what belongs to it besides
 * (payload, telemetry) hangs off it by a number, never by an address. The first field is the
 * engine's: the time at which the packet is an event at the node that receives it. Switches read no
 * further than length.
 */
#ifndef WF_WIRE_PACKET_H
#define WF_WIRE_PACKET_H

#include "base/base.h"

enum wf_packet_type {
	WF_PACKET_DATA, /* of the simple windowed sender: qpn is the flow, u.born */
	WF_PACKET_ACK,  /* its acknowledgement; psn: next expected */
	WF_PACKET_NAK,  /* psn: resend from here */
	WF_PACKET_RDMA, /* of the transport: opcode says which */
	/* A packet of the transport that a switch had no room for: its payload was cut off. */
	WF_PACKET_TRIMMED,
	WF_PACKET_TCP,    /* a segment of TCP: wire/tcp.h says what is where */
	WF_PACKET_GMP,    /* a MAD for queue pair 1, in a managed fabric (fabric/station.h) */
	WF_PACKET_AGG,    /* of a reduction in switches (fabric/aggregate.h) */
	WF_PACKET_CREDIT, /* InfiniBand flow control packet: u.credit */
	WF_PACKET_PAUSE,  /* PFC frame: u.pause */
	WF_PACKET_SMP,    /* a MAD for queue pair 0, on VL15 */
	WF_PACKET_TYPES
};

/* Link control packets are made and consumed by the two ends of one link. */
static inline int wf_packet_is_control(uint8_t type)
{
	return type >= WF_PACKET_CREDIT;
}

#define WF_PACKET_ECT 0x01       /* ECN-capable transport */
#define WF_PACKET_CE 0x02        /* congestion experienced: ECN CE, or FECN */
#define WF_PACKET_BECN 0x04      /* BTH BECN */
#define WF_PACKET_ACK_REQ 0x08   /* BTH A: acknowledge this packet */
#define WF_PACKET_SOLICITED 0x10 /* BTH SE */
#define WF_PACKET_MIGRATED 0x20  /* BTH M */
#define WF_PACKET_INT 0x80       /* carries telemetry (fabric/telemetry.h) */
#define WF_PACKET_BAD 0x40       /* corrupted on the way: the receiver discards it */

/*
 * Where packets may circle, the upper bits of src count the switches that one has passed; whoever
 * asks who sent it asks wf_packet_src().
 */
#define WF_PACKET_SRC_BITS 24
#define WF_PACKET_HOPS_MAX 64 /* as IP's TTL of most hosts */

#define WF_PACKET_VL 15u    /* largest vl */
#define WF_PACKET_CLASS 15u /* and cls */

/* input of a packet on a link, once the link has gone down: no port has this number. */
#define WF_PACKET_GONE UINT16_MAX
/* The same, once the link has sent it again as often as it does. */
#define WF_PACKET_LOST (UINT16_MAX - 1)

struct wf_packet {
	union {
		wf_time at;             /* event time at the receiver; the engine's */
		struct wf_packet *next; /* in a queue */
	};
	uint32_t src;     /* host index */
	uint32_t dst;     /* host index */
	uint16_t size;    /* bytes on the link: headers, payload, CRCs; not preamble and gap */
	uint16_t input;   /* port it came in by, inside a switch; on a link WF_PACKET_GONE, _LOST */
	uint8_t type : 4; /* enum wf_packet_type */
	uint8_t vl : 4;   /* queue (VL or traffic class) it takes on the link it is on */
	uint8_t cls : 4;  /* priority or service level, as its sender has it */
	uint8_t mark : 4; /* its DSCP: 0 for that of cls, else a number of the fabric's table */
	uint8_t flags;    /* WF_PACKET_* */
	uint8_t opcode;   /* BTH opcode */
	/*
	 * UDP source port: what ECMP hashes besides src and dst; 0: RoCE v1. In a managed fabric
	 * the DLID.
	 */
	uint16_t entropy;
	uint16_t pkey;
	union {
		struct {
			uint16_t length; /* payload bytes, without pad */
			uint16_t srqn;   /* XRC: which of the receiver's queues it is for */
		};
		uint32_t atomic_rkey; /* atomics have no payload */
	};
	uint32_t qpn; /* destination queue pair */
	uint32_t psn; /* its upper 8 bits: wf_packet_set_born() */
	union {
		struct {
			uint32_t imm;     /* immediate data, or the rkey to invalidate (IETH) */
			uint32_t payload; /* number of the payload in the driver's store; 0: none */
		};
		uint64_t atomic_va;
	};
	union {
		wf_time born; /* simple sender: when its first bit left */
		struct {
			uint64_t va;
			uint32_t rkey;
			uint32_t dma_len;
		} reth; /* WRITE first/only, READ request */
		struct {
			uint64_t swap_add;
			uint64_t compare;
		} atomic;
		struct {
			uint64_t orig;    /* ATOMIC acknowledge: value before */
			uint32_t msn;     /* 24 bits */
			uint8_t syndrome; /* AETH */
		} aeth;
		struct {
			uint32_t qkey;
			uint32_t src_qpn;
		} deth; /* UD */
		struct {
			uint32_t ts_echo; /* TSecr, of every segment */
			uint32_t none;
			wf_time born; /* when its first bit left */
		} tcp;                /* with payload */
		struct {
			uint32_t ts_echo;
			uint8_t sack[12]; /* distances from its acknowledgement: wf_tcp_sack() */
		} tcp_ack;                /* without */
		struct {
			uint64_t sum; /* in place of the data */
		} agg;
		struct {
			uint16_t mask; /* priorities this frame speaks of, bit n for priority n */
			uint16_t quanta[7]; /* 512 bit times each, in the order of mask's bits */
		} pause;
		struct {
			uint32_t vl;
			uint32_t limit; /* FCCL: blocks the sender may have sent in total */
		} credit;
	} u;
};

_Static_assert(sizeof(struct wf_packet) == 64, "a packet is one cache line");

static inline uint32_t wf_packet_src(const struct wf_packet *pkt)
{
	return pkt->src & ((1u << WF_PACKET_SRC_BITS) - 1);
}

/* On Ethernet: it has no IP header, which switches could mark. */
static inline int wf_packet_is_roce1(const struct wf_packet *pkt)
{
	return pkt->entropy == 0;
}

/*
 * When a packet of the transport without contents left its host, on its way through the fabric: in
 * steps of 2^step ps, the lower 32 bits where the number of its contents would be and 8 more above
 * the 24 of its PSN. With steps of 16 ps an age is right up to 17.5 s; fabrics with links so slow
 * that a packet could be older have longer steps. Whoever looks at the packet's own fields first
 * calls wf_packet_forget_born().
 */
#define WF_PACKET_BORN_STEP 4 /* the least step */
#define WF_PACKET_PSN_BITS 24

static inline void wf_packet_set_born(struct wf_packet *pkt, wf_time now, unsigned step)
{
	uint64_t steps = (uint64_t)now >> step;

	pkt->payload = (uint32_t)steps;
	pkt->psn |= (uint32_t)(steps >> 32) << WF_PACKET_PSN_BITS;
}

/* How old it is, a multiple of the step. */
static inline uint64_t wf_packet_age(const struct wf_packet *pkt, wf_time now, unsigned step)
{
	uint64_t born = (uint64_t)(pkt->psn >> WF_PACKET_PSN_BITS) << 32 | pkt->payload;
	uint64_t age = ((uint64_t)now >> step) - born;

	/* Of 40 bits. */
	return (age & ((UINT64_C(1) << 40) - 1)) << step;
}

static inline void wf_packet_forget_born(struct wf_packet *pkt)
{
	pkt->psn &= (1u << WF_PACKET_PSN_BITS) - 1;
}

#endif
