/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wire_packet.c - bytes to the fabric's packet and back: what decodes, encodes, and what that
 * decodes to is the same packet.
 *
 * The first byte of the input says how packets are wrapped; the others are the packet.
 */
#include <stdint.h>
#include <stdlib.h>

#include "wire/packet_codec.h"

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether the packet says all that the bytes did: known hosts and classes, and no control frame. */
static bool is_ours(const struct wf_packet *p, const struct wf_headers *h,
                    const struct wf_wire_conf *conf)
{
	if (wf_packet_is_control(p->type))
		return true;
	if (p->type == WF_PACKET_TCP && p->length > WF_MTU_MAX)
		return false; /* larger than the buffer */
	return p->src != WF_WIRE_HOST_NONE && p->dst != WF_WIRE_HOST_NONE &&
	       h->encap == conf->encap;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[WF_PACKET_BYTES_MAX];
	struct wf_wire_conf conf;
	struct wf_packet p, q;
	enum wf_reason reason;
	struct wf_headers h, g;
	size_t len;

	if (size == 0)
		return 0;
	wf_wire_conf_init(&conf, data[0] % WF_ENCAP_PFC);
	conf.vlan = (data[0] & 0x80) != 0;
	if (wf_packet_decode(data + 1, size - 1, &conf, &p, &h, &reason) != 0) {
		MUST(reason != WF_REASON_NONE);
		return 0;
	}
	MUST(p.type < WF_PACKET_TYPES);
	if (!is_ours(&p, &h, &conf))
		return 0;
	MUST(wf_packet_encode(&p, &conf, NULL, NULL, data + 1 + h.payload_at, bytes, sizeof(bytes),
	                      &len) == 0);
	MUST(wf_packet_decode(bytes, len, &conf, &q, &g, &reason) == 0);
	MUST(wf_packet_is_same(&p, &q, &conf));
	return 0;
}
