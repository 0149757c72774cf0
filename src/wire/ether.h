/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ether.h - Ethernet, VLAN, IPv4, IPv6 and UDP headers, and priority flow control frames.
 *
 * As in transport.h: fixed sizes, the caller has made sure of the bytes, nothing can fail, and
 * every field is kept. What a field may hold is for the decoder of whole packets to check.
 */
#ifndef WF_WIRE_ETHER_H
#define WF_WIRE_ETHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WF_ETH_LEN 14
#define WF_VLAN_LEN 4
#define WF_IPV4_LEN 20 /* without options */
#define WF_IPV6_LEN 40 /* without extension headers; also of a GRH */
#define WF_UDP_LEN 8
#define WF_PFC_LEN 46 /* after the Ethernet header, padded */
#define WF_MAC_LEN 6
#define WF_GID_LEN 16

#define WF_ETHERTYPE_IPV4 0x0800
#define WF_ETHERTYPE_VLAN 0x8100
#define WF_ETHERTYPE_IPV6 0x86dd
#define WF_ETHERTYPE_CONTROL 0x8808 /* MAC control: PFC */
#define WF_ETHERTYPE_ROCE1 0x8915

#define WF_IP_PROTO_UDP 17
#define WF_IP_PROTO_IBA 0x1b /* GRH: a BTH follows */
#define WF_IPV4_DF 0x4000    /* in frag: don't fragment */
#define WF_UDP_PORT_ROCE 4791

/* RoCE v2 takes its source ports from here on: they are dynamic ports, and tell flows apart. */
#define WF_UDP_PORT_FIRST 0xc000
#define WF_UDP_PORTS 0x4000 /* how many there are; a power of two */

#define WF_ECN_NOT 0
#define WF_ECN_ECT1 1
#define WF_ECN_ECT0 2
#define WF_ECN_CE 3

struct wf_eth {
	uint8_t dst[WF_MAC_LEN];
	uint8_t src[WF_MAC_LEN];
	uint16_t type; /* ethertype: of what follows, or of a VLAN tag */
};

/* What follows the ethertype 0x8100. */
struct wf_vlan {
	uint8_t pcp; /* priority, 3 bits */
	bool dei;
	uint16_t vid;  /* 12 bits */
	uint16_t type; /* ethertype of what follows */
};

struct wf_ipv4 {
	uint8_t version; /* 4 */
	uint8_t ihl;     /* 5: words of header */
	uint8_t dscp;    /* 6 bits */
	uint8_t ecn;     /* 2 bits */
	uint16_t length; /* header and all that follows */
	uint16_t id;
	uint16_t frag; /* flags and fragment offset */
	uint8_t ttl;
	uint8_t proto;
	uint16_t checksum;
	uint32_t src;
	uint32_t dst;
};

/* An IPv6 header, or a GRH: the format is the same. */
struct wf_ipv6 {
	uint8_t version; /* 6 */
	uint8_t dscp;    /* 6 bits */
	uint8_t ecn;     /* 2 bits */
	uint32_t flow;   /* label, 20 bits */
	uint16_t length; /* of what follows the header */
	uint8_t next;    /* header */
	uint8_t hops;    /* limit */
	uint8_t src[WF_GID_LEN];
	uint8_t dst[WF_GID_LEN];
};

struct wf_udp {
	uint16_t src;
	uint16_t dst;
	uint16_t length; /* header and payload */
	uint16_t checksum;
};

/* 802.1Qbb: a MAC control frame with opcode 0x0101. */
struct wf_pfc {
	uint16_t opcode;    /* 0x0101 */
	uint16_t enabled;   /* bit n: time[n] is meant */
	uint16_t quanta[8]; /* 512 bit times; 0: resume */
};

/* The source port that stands for hash: its lower bits. */
static inline uint16_t wf_udp_source(uint64_t hash)
{
	return (uint16_t)(WF_UDP_PORT_FIRST | (hash & (WF_UDP_PORTS - 1)));
}

#define WF_PFC_OPCODE 0x0101
#define WF_PFC_PRIORITIES 8
#define WF_PFC_QUANTUM 64 /* bytes that take as long as a quantum, 512 bit times */

/* The address that every link control frame is sent to: 01:80:c2:00:00:01. */
extern const uint8_t wf_pfc_dst[WF_MAC_LEN];

void wf_eth_encode(const struct wf_eth *eth, uint8_t *p);
void wf_eth_decode(const uint8_t *p, struct wf_eth *eth_p);

void wf_vlan_encode(const struct wf_vlan *vlan, uint8_t *p);
void wf_vlan_decode(const uint8_t *p, struct wf_vlan *vlan_p);

void wf_ipv4_encode(const struct wf_ipv4 *ip, uint8_t *p);
void wf_ipv4_decode(const uint8_t *p, struct wf_ipv4 *ip_p);

/* The header checksum that ip should have; its checksum field does not matter. */
uint16_t wf_ipv4_checksum(const struct wf_ipv4 *ip);

void wf_ipv6_encode(const struct wf_ipv6 *ip, uint8_t *p);
void wf_ipv6_decode(const uint8_t *p, struct wf_ipv6 *ip_p);

void wf_udp_encode(const struct wf_udp *udp, uint8_t *p);
void wf_udp_decode(const uint8_t *p, struct wf_udp *udp_p);

/* Writes WF_PFC_LEN bytes, the pad as zeros. */
void wf_pfc_encode(const struct wf_pfc *pfc, uint8_t *p);
/* Reads the fields; the pad is not looked at. */
void wf_pfc_decode(const uint8_t *p, struct wf_pfc *pfc_p);

#endif
