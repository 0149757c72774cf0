/* SPDX-License-Identifier: Apache-2.0 */
/*
 * size.h - how many bytes a packet takes on each kind of link.
 *
 * A size counts what struct wf_packet's size counts: every byte between the link's own framing,
 * from the first header to the last CRC. Ethernet's preamble and gap, 20 bytes, come on top.
 */
#ifndef WF_WIRE_SIZE_H
#define WF_WIRE_SIZE_H

#include <stdbool.h>

#include "base/base.h"
#include "wire/ether.h"
#include "wire/ib.h"

/* How a packet is wrapped. */
enum wf_encap {
	WF_ENCAP_ROCE2_IPV4, /* Ethernet, IPv4, UDP 4791 */
	WF_ENCAP_ROCE2_IPV6, /* Ethernet, IPv6, UDP 4791 */
	WF_ENCAP_ROCE1,      /* Ethernet 0x8915, GRH */
	WF_ENCAP_IB,         /* InfiniBand, LRH */
	WF_ENCAP_IB_GRH,     /* InfiniBand, LRH, GRH */
	WF_ENCAP_PFC,        /* Ethernet 0x8808, priority flow control */
	WF_ENCAP_FCP,        /* InfiniBand link flow control */
	WF_ENCAPS
};

#define WF_SIZE_ETH_MIN 64 /* with FCS */
#define WF_SIZE_FCS 4
#define WF_SIZE_ICRC 4
#define WF_SIZE_VCRC 2
#define WF_SIZE_PFC (WF_ETH_LEN + WF_PFC_LEN + WF_SIZE_FCS)

/*
 * What a flow control packet takes of an InfiniBand link: its bytes and the two symbols around it,
 * SLP before and EGP behind (IBTA vol. 2: start of a link packet, end of a good packet). Between
 * long data packets those two do not count; of so short a packet they are a quarter.
 */
#define WF_SIZE_FCP_ON_LINK (WF_FCP_LEN + 2)

/*
 * A reduction's own header, before its data: which group and tree, which part, what is done with
 * it. It is not public; this is an assumption.
 */
#define WF_SIZE_AGG 16

#define WF_MTU_MAX 4096 /* payload bytes */

/* Runs over Ethernet; else over InfiniBand. */
static inline bool wf_encap_is_eth(enum wf_encap encap)
{
	return encap != WF_ENCAP_IB && encap != WF_ENCAP_IB_GRH && encap != WF_ENCAP_FCP;
}

/* Its priority is in a VLAN tag: it has no IP header, and so no DSCP. */
static inline bool wf_encap_is_tagged(enum wf_encap encap)
{
	return encap == WF_ENCAP_ROCE1;
}

/* A link control frame: no transport headers in it. */
static inline bool wf_encap_is_control(enum wf_encap encap)
{
	return encap == WF_ENCAP_PFC || encap == WF_ENCAP_FCP;
}

/*
 * The bytes before the BTH (for control frames: of the whole frame without Ethernet's FCS). A VLAN
 * tag is for Ethernet only and else ignored.
 */
uint16_t wf_size_link_header(enum wf_encap encap, bool vlan);

/*
 * The bytes around BTH, extended headers, payload and pad: what comes before the BTH, and the CRCs.
 * For control frames, the whole frame.
 */
uint16_t wf_size_around(enum wf_encap encap, bool vlan);

/*
 * All that is neither payload nor pad: headers and CRCs, of a packet with that opcode. For control
 * frames, the whole frame; opcode and VLAN tag are ignored.
 */
uint16_t wf_size_overhead(enum wf_encap encap, bool vlan, uint8_t opcode);

/*
 * The largest overhead that a packet with payload can have: the largest packet of a path is this
 * and its MTU. Over all opcodes but those of reliable datagrams, which no adapter here sends.
 */
uint16_t wf_size_overhead_max(enum wf_encap encap, bool vlan);

/*
 * The bytes on the link of a packet with length payload bytes: overhead, payload, pad to 4 bytes,
 * and on Ethernet the padding to 64.
 */
uint16_t wf_size_packet(enum wf_encap encap, bool vlan, uint8_t opcode, uint16_t length);

/* The pad after length payload bytes, 0..3. */
static inline uint8_t wf_size_pad(uint32_t length)
{
	return (uint8_t)(-length & 3);
}

#endif
