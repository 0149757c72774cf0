/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headers.h - a whole packet in decoded form: every field of every header, and where its payload
 * is.
 *
 * Decoding is strict about structure (lengths, versions, what follows what) and keeps the rest:
 * reserved fields, checksums and pad bytes come back as they were, so encoding what was decoded
 * gives the same bytes (only Ethernet's padding comes back as zeros). Whether the checksums are
 * right is a separate question, wf_headers_verify(), because tools want to look at damaged packets
 * too.
 *
 * To make a packet from nothing:
 *
 *	struct wf_headers h = { .encap = WF_ENCAP_ROCE2_IPV4, .bth.opcode = WF_OP_RC_SEND_ONLY, … };
 *
 *	ret = wf_headers_complete(&h, payload_len);         versions, lengths, pad, IPv4 checksum
 *	ret = wf_headers_encode(&h, payload, buf, size, &len);
 *	wf_headers_sign(&h, buf, len);                      ICRC and VCRC, in h and in buf
 */
#ifndef WF_WIRE_HEADERS_H
#define WF_WIRE_HEADERS_H

#include "base/base.h"
#include "wire/ether.h"
#include "wire/ib.h"
#include "wire/size.h"
#include "wire/transport.h"

/* What the first byte belongs to. */
enum wf_link_layer {
	WF_LINK_ETHERNET, /* destination MAC; without FCS */
	/* LRH, or, of exactly WF_FCP_LEN bytes, a flow control packet; with VCRC. */
	WF_LINK_INFINIBAND,
	WF_LINKS
};

/* Why bytes are no packet. */
enum wf_reason {
	WF_REASON_NONE,
	WF_REASON_SHORT,       /* ends inside a header */
	WF_REASON_ETHERTYPE,   /* neither IP, RoCE v1 nor PFC */
	WF_REASON_IP_VERSION,  /* the ethertype says another one, or GRH not 6 */
	WF_REASON_IP_OPTIONS,  /* IPv4 header longer than 20 bytes */
	WF_REASON_IP_FRAGMENT, /* a piece of a datagram */
	WF_REASON_IP_LENGTH,   /* says more bytes than there are, or fewer than its headers */
	WF_REASON_IP_PROTOCOL, /* not UDP; of a GRH: not a BTH */
	WF_REASON_IP_CHECKSUM, /* verify only */
	WF_REASON_UDP_PORT,    /* not 4791 */
	WF_REASON_UDP_LENGTH,  /* not what IP leaves it */
	WF_REASON_PFC,         /* MAC control, but not priority flow control */
	WF_REASON_LRH_VERSION,
	WF_REASON_LRH_NEXT,   /* a raw packet */
	WF_REASON_LRH_LENGTH, /* not the packet's */
	WF_REASON_FCP,        /* unknown flow control operation */
	WF_REASON_BTH_VERSION,
	WF_REASON_OPCODE, /* unknown */
	WF_REASON_LENGTH, /* payload where there is none, or over 4096 bytes */
	WF_REASON_PAD,    /* more pad than bytes, or not a multiple of 4 */
	WF_REASON_ICRC,   /* verify only, as are the next two */
	WF_REASON_VCRC,
	WF_REASON_LPCRC,
	WF_REASONS
};

struct wf_headers {
	enum wf_encap encap; /* says which of the following there are */
	bool has_vlan;
	struct wf_eth eth;
	struct wf_vlan vlan;
	struct wf_lrh lrh;
	struct wf_ipv4 ipv4;
	struct wf_ipv6 ipv6; /* or GRH */
	struct wf_udp udp;
	struct wf_pfc pfc;
	struct wf_fcp fcp;
	struct wf_bth bth; /* bth.opcode says which of the following there are */
	struct wf_rdeth rdeth;
	struct wf_xrceth xrceth;
	struct wf_deth deth;
	struct wf_reth reth;
	struct wf_atomiceth atomiceth;
	struct wf_aeth aeth;
	uint64_t atomic_orig; /* AtomicAckETH */
	uint32_t imm;
	uint32_t inv_rkey;       /* IETH */
	uint8_t cnp[WF_CNP_LEN]; /* reserved bytes of a CNP */
	uint8_t pad[3];          /* the pad's bytes; bth.pad of them */
	uint16_t bth_at;         /* offset of the BTH */
	uint16_t payload_at;     /* offset of the payload */
	uint16_t payload_len;    /* bytes, without pad */
	size_t trailer_len;      /* bytes after the packet: Ethernet's padding */
	uint32_t icrc;           /* as wf_crc32() gives it */
	uint16_t vcrc;           /* as wf_crc16() gives it */
};

/*
 * Decodes the packet that fills bytes[0..len). On success returns 0 and fills *h_p; payload is
 * borrowed from bytes by offset. Else returns -EBADMSG, says why in *reason_p, and *h_p holds
 * whatever was understood so far. No byte outside [0, len) is looked at, whatever they say.
 */
int wf_headers_decode(const uint8_t *bytes, size_t len, enum wf_link_layer link,
                      struct wf_headers *h_p, enum wf_reason *reason_p) WF_MUST_USE;

/*
 * Checks ICRC, VCRC, LPCRC and IPv4's header checksum, those that the packet has. bytes, len and h
 * are those of a successful wf_headers_decode(). Returns 0, or -EBADMSG and the reason.
 */
int wf_headers_verify(const struct wf_headers *h, const uint8_t *bytes, size_t len,
                      enum wf_reason *reason_p) WF_MUST_USE;

/*
 * Fills what follows from the rest: offsets, versions, types, lengths, next headers, pad (zeros),
 * IPv4's checksum, LPCRC; for Ethernet the trailer that fills a frame up to 60 bytes. Addresses,
 * priorities, ports and transport fields are the caller's. Returns 0, or -EINVAL for an opcode that
 * is unknown or cannot carry payload_len bytes.
 */
int wf_headers_complete(struct wf_headers *h, size_t payload_len) WF_MUST_USE;

/* The bytes that wf_headers_encode() writes. */
size_t wf_headers_len(const struct wf_headers *h);

/*
 * Writes the packet, its fields as they are, into buf of size bytes and its length into *len_p. h
 * comes from wf_headers_decode() or wf_headers_complete(). payload are h->payload_len bytes,
 * borrowed; NULL: zeros. Returns 0, or -ENOSPC when size is too small, with nothing written.
 */
int wf_headers_encode(const struct wf_headers *h, const void *payload, uint8_t *buf, size_t size,
                      size_t *len_p) WF_MUST_USE;

/* Computes ICRC and VCRC of the packet encoded in bytes, and puts them into *h and into bytes. */
void wf_headers_sign(struct wf_headers *h, uint8_t *bytes, size_t len);

/* The ICRC that the packet in bytes should have. Not for control frames. */
uint32_t wf_headers_icrc(const struct wf_headers *h, const uint8_t *bytes);

/* "ends inside a header", "wrong ICRC" …; static. */
const char *wf_reason_text(enum wf_reason reason);

#endif
