/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcapng.h - writes captures that Wireshark and tcpdump read: blocks of pcapng, into the caller's
 * memory.
 *
 * A capture is one section block, one interface block for every interface, then one packet block
 * for every packet; whoever owns the file writes them one after the other. Interfaces are numbered
 * from 0 in the order of their blocks. Times are nanoseconds: finer ones overflow inside Wireshark,
 * and packets keep the order of the file anyway.
 *
 * The InfiniBand link type is for packets that begin with an LRH. Flow control packets have none;
 * they go to an interface of type ERF, each after the header that wf_erf_encode() writes.
 */
#ifndef WF_WIRE_PCAPNG_H
#define WF_WIRE_PCAPNG_H

#include "base/base.h"

#define WF_LINKTYPE_ETHERNET 1
#define WF_LINKTYPE_ERF 197
#define WF_LINKTYPE_INFINIBAND 247

#define WF_PCAPNG_SNAPLEN 65535
#define WF_PCAPNG_TEXT 64       /* names longer than this are cut */
#define WF_PCAPNG_BLOCK_MAX 192 /* bytes of any block, without a packet's own */

#define WF_ERF_LEN 16
#define WF_ERF_INFINIBAND 21      /* what follows begins with an LRH */
#define WF_ERF_INFINIBAND_LINK 25 /* what follows is a flow control packet */

enum wf_pcapng_dir {
	WF_PCAPNG_DIR_NONE,
	WF_PCAPNG_DIR_IN,
	WF_PCAPNG_DIR_OUT,
};

struct wf_pcapng_interface {
	uint16_t link_type; /* WF_LINKTYPE_* */
	const char *name;   /* of the port; NULL: none */
};

struct wf_pcapng_packet {
	uint32_t interface;
	wf_time at; /* not negative */
	enum wf_pcapng_dir dir;
	const void *bytes;
	uint32_t captured; /* bytes that are in bytes */
	uint32_t original; /* bytes that the packet had; not fewer */
};

/*
 * Each writes one block into buf of size bytes, and its length, a multiple of 4, into *len_p.
 * Return 0, or -ENOSPC when size is too small, with nothing written. WF_PCAPNG_BLOCK_MAX bytes (and
 * for a packet its captured bytes) are always enough.
 */
int wf_pcapng_put_section(uint8_t *buf, size_t size, const char *application,
                          size_t *len_p) WF_MUST_USE;
int wf_pcapng_put_interface(uint8_t *buf, size_t size, const struct wf_pcapng_interface *interface,
                            size_t *len_p) WF_MUST_USE;
int wf_pcapng_put_packet(uint8_t *buf, size_t size, const struct wf_pcapng_packet *packet,
                         size_t *len_p) WF_MUST_USE;

/* Writes the WF_ERF_LEN bytes that go before a packet of len bytes; type is WF_ERF_*. */
void wf_erf_encode(uint8_t type, wf_time at, uint16_t len, uint8_t *p);

#endif
