/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wire_headers.c - whatever bytes decode as a packet encode to the same bytes again.
 *
 * The first byte of the input says which link; the others are the packet.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/headers.h"

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ethernet's padding comes back as zeros, and so does that of PFC frames. */
static size_t kept(const struct wf_headers *h, size_t len)
{
	return h->encap == WF_ENCAP_PFC ? WF_ETH_LEN + 20 : len - h->trailer_len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t again[1 << 20];
	enum wf_reason reason, unused;
	struct wf_headers h;
	size_t len;

	if (size == 0 || size > sizeof(again))
		return 0;
	if (wf_headers_decode(data + 1, size - 1, data[0] % WF_LINKS, &h, &reason) != 0) {
		MUST(reason != WF_REASON_NONE && strlen(wf_reason_text(reason)) > 0);
		return 0;
	}
	MUST(reason == WF_REASON_NONE);
	MUST(wf_headers_len(&h) == size - 1);
	MUST(h.payload_at + h.payload_len <= size - 1);
	MUST(wf_headers_encode(&h, data + 1 + h.payload_at, again, sizeof(again), &len) == 0);
	MUST(len == size - 1);
	MUST(memcmp(again, data + 1, kept(&h, len)) == 0);
	/* Signed, it is right, but for IPv4's own checksum. */
	wf_headers_sign(&h, again, len);
	if (wf_headers_verify(&h, again, len, &reason) != 0)
		MUST(reason == WF_REASON_IP_CHECKSUM || reason == WF_REASON_LPCRC);
	(void)!wf_headers_verify(&h, data + 1, size - 1, &unused);
	return 0;
}
