/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - reads captures, classic pcap and pcapng, from memory.
 *
 * Both byte orders, microseconds and nanoseconds, any number of sections. Nothing in a file is
 * trusted: a length that does not fit ends the reading with an error, never a read beyond the end.
 */
#ifndef WF_WIRE_CAPTURE_H
#define WF_WIRE_CAPTURE_H

#include <stdbool.h>

#include "base/base.h"

#define WF_CAPTURE_INTERFACES 64 /* of a section; a file with more is refused */

struct wf_capture_interface {
	uint16_t link_type;
	uint8_t tsresol; /* as pcapng has it: 10^-n s, or with the top bit 2^-n s */
};

struct wf_capture {
	const uint8_t *bytes; /* borrowed */
	size_t len;
	size_t at;    /* offset of what comes next */
	bool ng;      /* pcapng */
	bool swapped; /* big-endian */
	uint32_t interfaces;
	struct wf_capture_interface interface[WF_CAPTURE_INTERFACES];
};

struct wf_capture_packet {
	uint16_t link_type;
	uint32_t interface;
	wf_time at;           /* 0 where the file has none, and at most WF_TIME_NEVER */
	const uint8_t *bytes; /* borrowed from the file */
	size_t captured;      /* how many there are */
	uint64_t original;    /* how many the packet had */
};

/*
 * Begins to read the file in bytes[0..len), which it borrows until the last wf_capture_next().
 * Returns 0, or -EBADMSG for what is no capture.
 */
int wf_capture_init(struct wf_capture *capture, const uint8_t *bytes, size_t len) WF_MUST_USE;

/* The next packet. Returns 0, -ENODATA at the end, or -EBADMSG where the file is broken. */
int wf_capture_next(struct wf_capture *capture, struct wf_capture_packet *packet_p) WF_MUST_USE;

#endif
