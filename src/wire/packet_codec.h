/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet_codec.h - between the fabric's packet and bytes: for captures, live mode and checks.
 *
 * What of a struct wf_packet is on the wire, and where:
 *
 *	src, dst          addresses of addr.h
 *	cls               DSCP (and VLAN priority); InfiniBand: service level
 *	TRIMMED           RoCE v2: a DSCP of its own for each class; no payload, and lengths and
 *	                  checksums of what is left. Elsewhere such a packet has no form
 *	ECT, CE           RoCE v2: ECN bits of IP; CE is ECT, too. Else CE is FECN, ECT nothing
 *	BAD               a wrong ICRC (and VCRC)
 *	entropy           UDP source port; with a GRH its flow label; on InfiniBand without, nothing
 *	hops              RoCE v2: taken from the hop limit; else, and for atomics, nothing
 *	vl                InfiniBand: VL (an atomic, which has none, that of its service level)
 *	u.pause           PFC frame
 *	u.credit          flow control packet, limit modulo 4096; FCTBS is psn modulo 4096
 *	at, input, payload, size: nothing (decoding gives the size that it has on that link)
 *	srqn              XRC: XRCETH, which has 24 bits of it; of an atomic, which has none, 0
 *	all others        BTH and extended headers
 *
 * The simple windowed sender's packets look like RC SEND ONLY, ACK and NAK, and come back as those.
 * Segments of TCP are wire/tcp.h's; what is read of them fills no headers.
 * RD has headers that struct wf_packet has no place for, and so have XRC's requests for a receive
 * queue whose number is above 65535.
 */
#ifndef WF_WIRE_PACKET_CODEC_H
#define WF_WIRE_PACKET_CODEC_H

#include <stdbool.h>

#include "wire/addr.h"
#include "wire/headers.h"
#include "wire/packet.h"

#define WF_PACKET_BYTES_MAX 4352 /* of any packet but TCP's: WF_SEGMENT_BYTES_MAX */

/*
 * Writes the packet's bytes into buf of size bytes and their number into *len_p. src and dst are
 * the hosts' addresses, NULL: those of wf_wire_addr_init(); payload are the p->length bytes,
 * borrowed, NULL: zeros. Returns 0; -ENOSPC when size is too small; -EINVAL for a packet that has
 * no form on that link (RD, unknown opcodes, numbers of more than 24 bits, PFC on InfiniBand,
 * credits on Ethernet, a PFC frame for more than 7 priorities or above priority 7, trimmed packets
 * but on RoCE v2).
 */
int wf_packet_encode(const struct wf_packet *p, const struct wf_wire_conf *conf,
                     const struct wf_wire_addr *src, const struct wf_wire_addr *dst,
                     const void *payload, uint8_t *buf, size_t size, size_t *len_p) WF_MUST_USE;

/*
 * The same as decoded headers, without writing bytes: all but ICRC and VCRC is filled. BAD is not
 * looked at. Returns 0 or -EINVAL as above.
 */
int wf_packet_to_headers(const struct wf_packet *p, const struct wf_wire_conf *conf,
                         const struct wf_wire_addr *src, const struct wf_wire_addr *dst,
                         struct wf_headers *h_p) WF_MUST_USE;

/*
 * Reads a packet from bytes[0..len) and its headers, which say where the payload is. One with a
 * wrong checksum is flagged BAD. Hosts are WF_WIRE_HOST_NONE where the address is not of
 * wf_wire_addr_init(). Returns 0, or -EBADMSG with the reason for bytes that are no packet, or
 * none that struct wf_packet has a place for.
 */
int wf_packet_decode(const uint8_t *bytes, size_t len, const struct wf_wire_conf *conf,
                     struct wf_packet *p_p, struct wf_headers *h_p,
                     enum wf_reason *reason_p) WF_MUST_USE;

/* From headers alone. Returns 0, or -EBADMSG for one that struct wf_packet has no place for. */
int wf_packet_from_headers(const struct wf_headers *h, const struct wf_wire_conf *conf,
                           struct wf_packet *p_p) WF_MUST_USE;

/* Whether two packets are the same as far as the wire goes: see the list above. */
bool wf_packet_is_same(const struct wf_packet *a, const struct wf_packet *b,
                       const struct wf_wire_conf *conf);

#endif
