/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_live_tap.c - a hostile program writes what it likes into the tap by which it is captured:
 * entries, raw bytes anywhere in shared memory. Whoever captures must neither crash nor write what
 * is no block.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/sniffer.h"
#include "live/tap.h"
#include "wire/packet_codec.h"

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct wf_sniffer *s)
{
	uint8_t block[WF_PACKET_BYTES_MAX + WF_PCAPNG_BLOCK_MAX];
	struct wf_pcapng_packet packet;
	size_t len;

	for (unsigned i = 0; i < 1000 && wf_sniffer_next(s, INT64_MAX, &packet); i++)
		MUST(wf_pcapng_put_packet(block, sizeof(block), &packet, &len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t hosts[] = { 0, 1 };
	const struct wf_sniffer_cfg cfg = { .hosts = hosts, .n_hosts = 2, .snaplen = 300 };
	struct wf_live_table *table = calloc(1, wf_live_table_bytes(2));
	struct wf_sniffer *s;
	struct wf_tap tap;
	int fd = wf_tap_memory();

	MUST(table != NULL && fd >= 0);
	table->n_hosts = 2;
	table->layer = size > 0 && (data[0] & 0x80) != 0 ? WF_LIVE_IB : WF_LIVE_ROCE;
	MUST(wf_sniffer_create(&cfg, table, &s) == 0);
	MUST(wf_tap_open(&tap, fd) == 0 && wf_sniffer_add(s, 1, 1, fd) == 0);
	close(fd);
	while (size > 2) {
		bool raw = (data[0] & 1) != 0;
		size_t n = data[1] < size - 2 ? data[1] : size - 2;
		struct wf_tap_note note = { .at = 0 };
		struct wf_packet pkt = { .length = (uint16_t)(n & 63) };

		if (raw) {
			memcpy((data[0] & 2) != 0 ? (char *)tap.shared : tap.ring.base, data + 2,
			       n);
		} else {
			memcpy((char *)&pkt + 8, data + 2, n < 56 ? n : 56);
			note.sent = (data[0] & 2) != 0;
			note.multicast = (data[0] & 4) != 0;
			note.outside = (data[0] & 8) != 0;
			wf_tap_put(&tap, &pkt, &note, data, (uint32_t)n);
		}
		data += 2 + n;
		size -= 2 + n;
		check(s);
	}
	wf_sniffer_close(s);
	wf_tap_close(&tap);
	free(table);
	return 0;
}
