/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcapng.h - writes captures that Wireshark and tcpdump read: blocks of pcapng, into the caller's
 * memory.
 *
 * A capture is one section block, one interface block for every interface, then one packet block
 * for every packet, and maybe a block of statistics for every interface; whoever owns the file
 * writes them one after the other. Interfaces are numbered from 0 in the order of their blocks.
 * Times are nanoseconds: finer ones overflow inside Wireshark, and packets keep the order of the
 * file anyway.
 *
 * For InfiniBand there is a choice of link types. Wireshark does not read the one that is called
 * so; it reads ERF, where every packet comes after a header of 16 bytes that says whether an LRH or
 * a flow control packet follows. So ERF is the one to write, unless another tool wants the other,
 * which has no place for flow control packets. Wireshark looks for an LRH even in front of those,
 * and finds them malformed when nothing follows their 6 bytes: they are followed by zeros.
 */
#ifndef WF_WIRE_PCAPNG_H
#define WF_WIRE_PCAPNG_H

#include "base/base.h"

#define WF_LINKTYPE_ETHERNET 1
#define WF_LINKTYPE_ERF 197        /* InfiniBand, for Wireshark */
#define WF_LINKTYPE_INFINIBAND 247 /* begins with the LRH */

#define WF_PCAPNG_SNAPLEN 65535
#define WF_PCAPNG_TEXT 64       /* names longer than this are cut */
#define WF_PCAPNG_BLOCK_MAX 192 /* bytes of any block, without a packet's own */

#define WF_ERF_LEN 16
#define WF_ERF_INFINIBAND 21      /* what follows begins with an LRH */
#define WF_ERF_INFINIBAND_LINK 25 /* what follows is a flow control packet */
#define WF_ERF_LINK_PADDED 48     /* bytes that a flow control packet takes in the file */

enum wf_pcapng_dir {
	WF_PCAPNG_DIR_NONE,
	WF_PCAPNG_DIR_IN,
	WF_PCAPNG_DIR_OUT,
};

struct wf_pcapng_interface {
	uint16_t link_type; /* WF_LINKTYPE_* */
	const char *name;   /* of the port; NULL: none */
	uint32_t snaplen;   /* bytes of a packet that are captured at most; 0: all */
};

struct wf_pcapng_packet {
	uint32_t interface;
	uint64_t epoch; /* ns since 1970 when virtual time began; 0: not known */
	wf_time at;     /* not negative */
	enum wf_pcapng_dir dir;
	/* On an interface of type ERF, WF_ERF_*: its header is put before bytes; else 0. */
	uint8_t erf;
	const void *bytes;
	uint32_t captured; /* bytes that are in bytes */
	uint32_t original; /* bytes that the packet had; not fewer, and with ERF at most 65519 */
};

/* What is said of an interface at the end. */
struct wf_pcapng_statistics {
	uint32_t interface;
	uint64_t epoch; /* as above */
	wf_time start, end;
	uint64_t received; /* packets, those that were missed included */
	uint64_t missed;
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
int wf_pcapng_put_statistics(uint8_t *buf, size_t size,
                             const struct wf_pcapng_statistics *statistics,
                             size_t *len_p) WF_MUST_USE;

#endif
