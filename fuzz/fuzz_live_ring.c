/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_live_ring.c - two hostile programs write what they like into the rings of a third: packets,
 * raw bytes anywhere in shared memory. The third must neither crash nor let memory without remote
 * rights change.
 */
#include <stddef.h>
#include <stdint.h>

#include "../tests/unit/live/rig_nic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes in what the victim sends, as a peer that behaves would. */
static void take_in(struct rig *r)
{
	for (unsigned i = 0; i < RIG_PEERS; i++) {
		const void *payload;
		struct wf_packet pkt;

		while (wf_ring_peek(&r->far[i].rx, &pkt, &payload))
			wf_ring_consume(&r->far[i].rx);
		(void)wf_ring_release(&r->far[i].rx);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rig *r = rig_create();

	while (size > 2) {
		unsigned peer = data[0] & 1;
		bool raw = (data[0] & 2) != 0;
		struct wf_packet pkt = { .qpn = wf_qp_num((data[0] & 4) != 0 ? r->ud : r->rc),
			                 .pkey = 0xffff };
		size_t bytes = data[1];
		size_t header;

		data += 2;
		size -= 2;
		header = size < sizeof(pkt) - 8 ? size : sizeof(pkt) - 8;
		if (raw) {
			/* Anywhere: headers, stamps, positions, flags. */
			char *at = (data[0] & 1) != 0 ? (char *)r->far[peer].shared
			                              : r->far[peer].tx.base;
			size_t offset = header > 2 ? (size_t)(data[1] << 3) % 768 : 0;

			memcpy(at + offset, data, header);
		} else if (!r->far[peer].tx.broken) {
			memcpy((char *)&pkt + 8, data, header);
			if ((bytes & 1) != 0) {
				pkt.qpn = wf_qp_num((bytes & 2) != 0 ? r->ud : r->rc);
				pkt.dst = 0;
				pkt.pkey = 0xffff;
				pkt.length = (uint16_t)bytes;
			}
			if (wf_ring_reserve(&r->far[peer].tx, (uint32_t)bytes) != NULL)
				wf_ring_commit(&r->far[peer].tx, &pkt, (uint32_t)bytes);
		}
		data += header;
		size -= header;
		(void)wf_nic_progress(r->nic);
		take_in(r);
	}
	for (unsigned i = 0; i < RIG_BYTES; i++)
		rig_must(r->secret[i] == RIG_KEY_BYTE);
	rig_destroy(r);
	return 0;
}
