/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_live_ring.c - two hostile programs write what they like into the rings of a third: packets,
 * raw bytes anywhere in shared memory. One of them is on its host and in a domain of XRC with it,
 * and hands on what it says it received. The third must neither crash nor let memory without remote
 * rights change.
 */
#include <stddef.h>
#include <stdint.h>

#include "../tests/unit/live/rig_nic.h"
#include "rdma/xrc.h"
#include "wire/opcode.h"

#define NEIGHBOUR 1 /* the peer on the same host */

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

/* A queue in a domain that the neighbour shares. */
static struct wf_srq *share(struct rig *r)
{
	static const struct wf_xrc_id file = { 1, 1 };
	struct wf_srq_attr attr = { .max_wr = 16, .max_sge = 1 };
	struct wf_xrcd *xrcd;
	struct wf_srq *srq;

	r->nic->peers[NEIGHBOUR]->host = r->nic->host;
	rig_must(wf_xrcd_create(r->nic->hca, &xrcd) == 0);
	wf_xrcd_set_id(xrcd, &file);
	rig_must(wf_xrc_srq_create(r->pd, &attr, xrcd, r->cq, &srq) == 0);
	return srq;
}

/* A receive of so many bytes. */
static void post(struct rig *r, struct wf_srq *srq, uint32_t bytes)
{
	struct wf_sge sge = { (uintptr_t)r->memory, bytes, wf_mr_lkey(r->mr) };
	struct wf_recv_wr wr = { .sge = &sge, .num_sge = 1 };
	const struct wf_recv_wr *bad;

	(void)!wf_srq_post_recv(srq, &wr, &bad);
}

/* Makes of a packet one that the neighbour hands on, more or less. */
static void hand_on(struct rig *r, struct wf_packet *pkt, const struct wf_srq *srq)
{
	uint32_t slot = r->nic->peers[NEIGHBOUR]->slot;

	pkt->opcode = (uint8_t)wf_opcode(WF_SERVICE_XRC, (enum wf_operation)(pkt->opcode & 7));
	pkt->qpn = slot << WF_LIVE_QPN_BITS | (pkt->qpn & 3);
	pkt->srqn = (uint16_t)wf_srq_num(srq);
	pkt->u.atomic.swap_add = pkt->u.atomic.compare = 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rig *r = rig_create();
	struct wf_srq *srq = share(r);

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
			if ((bytes & 7) == 4)
				post(r, srq, (uint32_t)bytes);
			if ((bytes & 5) == 5)
				hand_on(r, &pkt, srq);
			if (wf_ring_reserve(&r->far[peer].tx, (uint32_t)bytes) != NULL)
				wf_ring_commit(&r->far[peer].tx, &pkt, (uint32_t)bytes);
		}
		data += header;
		size -= header;
		(void)wf_nic_progress(r->nic);
		take_in(r);
	}
	wf_xrc_forget(r->nic->hca, 0, UINT32_MAX);
	for (unsigned i = 0; i < RIG_BYTES; i++)
		rig_must(r->secret[i] == RIG_KEY_BYTE);
	rig_destroy(r);
	return 0;
}
