/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_live_model.c - a hostile program writes what it likes into its ring to the modelled fabric,
 * and anywhere in the memory that it shares with the daemon. The daemon must neither crash nor
 * deliver anything in another's name, and what another program sends must still arrive.
 */
#include <stddef.h>
#include <stdint.h>

#include "../tests/unit/live/rig_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * What has come to a host: from whom they are is true, and their form is right. Returns how many
 * are host 2's.
 */
static unsigned take(struct rig_model *r, uint32_t host)
{
	const void *payload;
	struct wf_packet pkt;
	unsigned n = 0;

	while (wf_ring_peek(&r->far[host].rx, &pkt, &payload)) {
		RIG_MUST(pkt.src == wf_live_program(0, RIG_SLOT) ||
		         pkt.src == wf_live_program(2, RIG_SLOT));
		RIG_MUST((pkt.flags & (WF_PACKET_BAD | WF_PACKET_INT)) == 0);
		RIG_MUST(!wf_op_has_payload(pkt.opcode) || pkt.length == pkt.input);
		n += pkt.src == wf_live_program(2, RIG_SLOT);
		wf_ring_consume(&r->far[host].rx);
	}
	(void)wf_ring_release(&r->far[host].rx);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool ib = size > 0 && (data[0] & 8) != 0;
	struct rig_model *r = rig_model_create(WF_LIVE_NONE, ib);
	struct wf_packet good = rig_model_packet(1, 100);

	while (size > 2) {
		bool raw = (data[0] & 2) != 0;
		struct wf_packet pkt = rig_model_packet(1 + (data[0] >> 2 & 1), 0);
		size_t bytes = data[1], header;

		data += 2;
		size -= 2;
		header = size < sizeof(pkt) - 8 ? size : sizeof(pkt) - 8;
		if (raw) {
			char *at =
				(data[0] & 1) != 0 ? (char *)r->far[0].shared : r->far[0].tx.base;

			memcpy(at + (header > 2 ? (size_t)(data[1] << 3) % 768 : 0), data, header);
		} else if (!r->far[0].tx.broken) {
			if ((bytes & 1) == 0)
				memcpy((char *)&pkt + 8, data, header);
			pkt.length = (bytes & 2) != 0 ? (uint16_t)bytes : pkt.length;
			(void)rig_model_send(r, 0, &pkt, (uint32_t)bytes);
		}
		data += header;
		size -= header;
		wf_model_serve(&r->d);
		(void)take(r, 1);
		(void)take(r, 2);
	}
	/* Between the others all is as it was. */
	RIG_MUST(rig_model_send(r, 2, &good, 100));
	for (unsigned i = 0; take(r, 1) == 0; i++) {
		RIG_MUST(i < 100000);
		wf_model_serve(&r->d);
	}
	rig_model_destroy(r);
	return 0;
}
