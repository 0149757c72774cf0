/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held.c - selective repeat at the responder: packets that came too early are kept.
 *
 * The packet with PSN p is in place p modulo the window, until it is the expected one; then it goes
 * the way of any packet, so what programs see (memory, completions) is in order. The requester is
 * told of each arrival.
 */
#include <assert.h>
#include <string.h>

#include "rdma/qp_flow.h"

#define DATA_BYTES 4096

static void release(struct wf_resp *resp, struct wf_held *held)
{
	assert(held->used && resp->helds > 0);
	held->used = false;
	resp->helds--;
	if (!held->told) {
		assert(resp->untold > 0);
		resp->untold--;
	}
}

static void untell(struct wf_qp *qp, struct wf_held *held)
{
	struct wf_resp *resp = &qp->resp;

	held->told = false;
	resp->untold++;
	if (resp->untold == 1 || wf_psn_diff(held->pkt.psn, resp->tell_psn) < 0)
		resp->tell_psn = held->pkt.psn;
	wf_qp_kick_ack(qp);
}

void wf_held_add(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload)
{
	struct wf_resp *resp = &qp->resp;
	uint32_t slot = pkt->psn & resp->held_mask;
	struct wf_held *held = &resp->held[slot];

	assert(wf_psn_diff(pkt->psn, resp->epsn) > 0);
	if (wf_psn_diff(pkt->psn, resp->epsn) > (int32_t)resp->held_mask)
		return;
	if (held->used && held->pkt.psn != pkt->psn)
		release(resp, held);
	if (held->used) {
		wf_hca_count(qp->hca, WF_CTR_DUPLICATE_REQUEST);
		if (held->told)
			untell(qp, held);
		return;
	}
	if (wf_op_has_payload(pkt->opcode) && payload != NULL && resp->held_data != NULL)
		memcpy(resp->held_data + (size_t)slot * DATA_BYTES, payload, pkt->length);
	held->used = true;
	held->pkt = *pkt;
	resp->helds++;
	wf_hca_count(qp->hca, WF_CTR_OOO_PLACED);
	untell(qp, held);
}

struct wf_held *wf_held_take(struct wf_qp *qp, const void **payload_p)
{
	struct wf_resp *resp = &qp->resp;
	uint32_t slot = resp->epsn & resp->held_mask;
	struct wf_held *held;

	if (resp->helds == 0)
		return NULL;
	held = &resp->held[slot];
	if (!held->used || held->pkt.psn != resp->epsn)
		return NULL;
	/* What was not told is now acknowledged like any other. */
	if (!held->told)
		wf_answer_ack(qp, WF_AETH_ACK);
	release(resp, held);
	*payload_p = resp->held_data == NULL ? NULL : resp->held_data + (size_t)slot * DATA_BYTES;
	return held;
}

/* A READ may pass PSNs that a wrong peer filled with packets; they will never be expected. */
static void drop_passed(struct wf_resp *resp)
{
	for (uint32_t i = 0; i <= resp->held_mask && resp->helds != 0; i++) {
		struct wf_held *held = &resp->held[i];

		if (!held->used || wf_psn_diff(held->pkt.psn, resp->epsn) >= 0)
			continue;
		release(resp, held);
	}
}

uint32_t wf_held_tell(struct wf_qp *qp)
{
	struct wf_resp *resp = &qp->resp;
	uint32_t psn = resp->tell_psn;

	drop_passed(resp);
	if (wf_psn_diff(psn, resp->epsn) < 0)
		psn = resp->epsn;
	for (uint32_t i = 0; resp->untold != 0 && i <= resp->held_mask; i++) {
		struct wf_held *held = &resp->held[psn & resp->held_mask];

		if (held->used && !held->told) {
			assert(held->pkt.psn == psn);
			held->told = true;
			resp->untold--;
			resp->tell_psn = wf_psn_add(psn, 1);
			return psn;
		}
		psn = wf_psn_add(psn, 1);
	}
	return resp->epsn;
}
