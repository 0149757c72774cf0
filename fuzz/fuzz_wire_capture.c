/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wire_capture.c - reads any file as a capture, each packet in it as a packet, and writes and
 * reads again what was found.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/capture.h"
#include "wire/headers.h"
#include "wire/pcapng.h"

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The packet comes back from a file of our own. */
static void write_and_read(const struct wf_capture_packet *packet)
{
	static uint8_t file[1 << 20];
	struct wf_pcapng_interface interface = { .link_type = packet->link_type, .name = "x" };
	struct wf_pcapng_packet out = {
		.at = packet->at,
		.bytes = packet->bytes,
		.captured = (uint32_t)packet->captured,
		.original = (uint32_t)wf_max_u64(packet->original, packet->captured),
	};
	struct wf_capture_packet in;
	struct wf_capture capture;
	size_t at, n;

	MUST(wf_pcapng_put_section(file, sizeof(file), "fuzz", &at) == 0);
	MUST(wf_pcapng_put_interface(file + at, sizeof(file) - at, &interface, &n) == 0);
	at += n;
	if (wf_pcapng_put_packet(file + at, sizeof(file) - at, &out, &n) != 0)
		return;
	at += n;
	MUST(wf_capture_init(&capture, file, at) == 0);
	MUST(wf_capture_next(&capture, &in) == 0);
	MUST(in.link_type == packet->link_type && in.at == packet->at / WF_NS * WF_NS);
	MUST(in.captured == packet->captured);
	MUST(memcmp(in.bytes, packet->bytes, in.captured) == 0);
	MUST(wf_capture_next(&capture, &in) == -ENODATA);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wf_capture_packet packet;
	struct wf_capture capture;
	enum wf_reason reason;
	struct wf_headers h;
	size_t before = 0;

	if (wf_capture_init(&capture, data, size) != 0)
		return 0;
	while (wf_capture_next(&capture, &packet) == 0) {
		MUST(capture.at > before && capture.at <= size);
		before = capture.at;
		MUST(packet.at >= 0);
		MUST(packet.bytes >= data && packet.bytes + packet.captured <= data + size);
		write_and_read(&packet);
		(void)!wf_headers_decode(packet.bytes, packet.captured,
		                         packet.link_type == WF_LINKTYPE_ETHERNET
		                                 ? WF_LINK_ETHERNET
		                                 : WF_LINK_INFINIBAND,
		                         &h, &reason);
	}
	return 0;
}
