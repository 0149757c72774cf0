/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.h - a segment of TCP: where it is in a struct wf_packet, how many bytes it takes, and those
 * bytes.
 *
 * What of a WF_PACKET_TCP is what, besides src, dst, size, class and ECN:
 *
 *	entropy   port of the side that opened the connection; what ECMP hashes, both ways
 *	pkey      port of the side that waited for it
 *	opcode    flags (WF_SEG_*): which side sends, FIN, PSH, ECE, CWR, options
 *	psn, imm  sequence number and acknowledgement
 *	srqn      window, in steps of 2^WF_TCP_SCALE bytes
 *	length    payload bytes
 *	payload   TSval; u.tcp.ts_echo: TSecr
 *	u.tcp     with payload: when it left
 *	u.tcp_ack without: up to two SACK blocks
 *	qpn       the receiver's number of the connection; not on the wire
 *
 * On Ethernet a segment is IPv4 (IPv6 where RoCE uses it) without a VLAN tag, but where all
 * packets have one; on InfiniBand it is IPv4 in a UD packet, as IP over InfiniBand has it (RFC
 * 4391, datagram mode). Options are timestamps (RFC 7323) and SACK (RFC 2018), padded in front as
 * Linux does.
 */
#ifndef WF_WIRE_TCP_H
#define WF_WIRE_TCP_H

#include <stdbool.h>

#include "wire/addr.h"
#include "wire/headers.h"
#include "wire/packet.h"

#define WF_SEG_BACK 0x01 /* from the side that waited */
#define WF_SEG_FIN 0x02
#define WF_SEG_PSH 0x04
#define WF_SEG_ECE 0x08
#define WF_SEG_CWR 0x10
#define WF_SEG_TS 0x20     /* timestamps */
#define WF_SEG_BLOCKS 0xc0 /* how many SACK blocks: wf_tcp_blocks() */

/*
 * In flags of a segment without payload: the first block is a duplicate's, before the
 * acknowledgement.
 */
#define WF_PACKET_DSACK WF_PACKET_BECN

#define WF_TCP_SCALE 8        /* of the window: up to 16 MB */
#define WF_TCP_BLOCKS_MAX 2   /* that a packet has room for */
#define WF_TCP_HEADER 20      /* without options */
#define WF_TCP_TS_LEN 12      /* of timestamps with two NOPs */
#define WF_TCP_REACH 0xffffff /* a block ends at most so far from the acknowledgement */
#define WF_TCP_FLAGS_AT 13    /* offset of the flags in the header */
#define WF_TCP_IPOIB_LEN 4    /* of the header that says which protocol follows */
#define WF_TCP_IPOIB_QKEY 0x00000b1b
#define WF_TCP_QPN_MASK 0xffffffu

#define WF_IP_PROTO_TCP 6

#define WF_SEGMENT_BYTES_MAX 9216 /* of any segment, with jumbo frames */
#define WF_TCP_MTU_MAX 9000       /* the largest IP packet */
#define WF_TCP_MTU_MIN 576

/* Bytes from..to of a stream, as sequence numbers. */
struct wf_tcp_block {
	uint32_t from, to;
};

static inline unsigned wf_tcp_blocks(const struct wf_packet *pkt)
{
	return pkt->opcode >> 6;
}

/* Block i of a segment that has as many. */
struct wf_tcp_block wf_tcp_sack(const struct wf_packet *pkt, unsigned i);

/*
 * Adds a block. Returns false when it is too far from the acknowledgement, or there is no room:
 * then nothing has changed.
 */
bool wf_tcp_add_sack(struct wf_packet *pkt, const struct wf_tcp_block *block);

/* Header bytes of a segment: of TCP alone, options included. */
unsigned wf_tcp_header_len(const struct wf_packet *pkt);

/* Bytes on the link of a segment: as struct wf_packet.size counts them. */
uint16_t wf_tcp_size(const struct wf_packet *pkt, enum wf_encap encap);

/* The most payload that a segment has where no IP packet may be larger than mtu. */
uint16_t wf_tcp_mss(uint32_t mtu, enum wf_encap encap, bool timestamps);

/*
 * The largest IP packet that takes no more of the link than an RDMA packet with so many payload
 * bytes; what wf_tcp_size() comes to for it.
 */
uint32_t wf_tcp_mtu_as_rdma(uint32_t rdma_mtu, enum wf_encap encap);
uint32_t wf_tcp_largest(uint32_t mtu, enum wf_encap encap);

/* The ends of wf_packet_encode() and wf_packet_decode() for segments; arguments as there. */
int wf_tcp_encode(const struct wf_packet *p, const struct wf_wire_conf *conf,
                  const struct wf_wire_addr *src, const struct wf_wire_addr *dst,
                  const void *payload, uint8_t *buf, size_t size, size_t *len_p) WF_MUST_USE;
int wf_tcp_decode(const uint8_t *bytes, size_t len, const struct wf_wire_conf *conf,
                  struct wf_packet *p_p, enum wf_reason *reason_p) WF_MUST_USE;

/* Whether bytes are IP that carries TCP: which of the two ways to decode is right. */
bool wf_tcp_is(const uint8_t *bytes, size_t len, const struct wf_wire_conf *conf);

#endif
