/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held.c - selective repeat at the responder: packets that came too early are kept.
 *
 * The packet with PSN p is in place p modulo the ring's size, which grows with the distance from
 * the expected packet, until it is that one; then it goes the way of any packet, so what programs
 * see (memory, completions) is in order. The requester is told of each arrival, and of each packet
 * that came trimmed.
 *
 * With direct placement the payload of a WRITE goes to memory when it comes, if it is known where:
 * the packet with the address has come. All else (checks, completions) still waits for its turn.
 */
#include <assert.h>
#include <string.h>

#include "rdma/qp_flow.h"
#include "rdma/sg_priv.h"

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

/* The WRITE that is being received, from the expected packet on. */
static struct wf_early in_progress(const struct wf_qp *qp)
{
	const struct wf_resp *resp = &qp->resp;

	return (struct wf_early){
		.va = resp->va,
		.rkey = resp->rkey,
		.first_psn = resp->epsn,
		.last_psn = wf_psn_add(resp->epsn, wf_qp_packets(qp, resp->resid) - 1),
		.length = resp->resid,
	};
}

static void note_early(struct wf_qp *qp, const struct wf_packet *pkt)
{
	struct wf_resp *resp = &qp->resp;

	resp->early[resp->n_early++ % WF_EARLY_WRITES] = (struct wf_early){
		.va = pkt->u.reth.va,
		.rkey = pkt->u.reth.rkey,
		.first_psn = pkt->psn,
		.last_psn = wf_psn_add(pkt->psn, wf_qp_packets(qp, pkt->u.reth.dma_len) - 1),
		.length = pkt->u.reth.dma_len,
	};
}

/* Whether psn is of a WRITE whose address is known: then *write is that one. */
static bool find_early(const struct wf_qp *qp, uint32_t psn, struct wf_early *write)
{
	const struct wf_resp *resp = &qp->resp;

	*write = in_progress(qp);
	if (resp->in_msg == WF_IN_WRITE && wf_psn_diff(write->last_psn, psn) >= 0)
		return true;
	for (uint32_t i = 0; i < WF_EARLY_WRITES && i < resp->n_early; i++) {
		*write = resp->early[(resp->n_early - 1 - i) % WF_EARLY_WRITES];
		/* A WRITE that has begun in its turn is the one in progress, or over. */
		if (wf_psn_diff(write->first_psn, resp->epsn) > 0 &&
		    wf_psn_diff(psn, write->first_psn) >= 0 &&
		    wf_psn_diff(write->last_psn, psn) >= 0)
			return true;
	}
	return false;
}

/*
 * Puts the payload of an early packet where it belongs. Returns false when that is not known, or
 * something is wrong with it: its turn will show.
 */
static bool place(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload)
{
	const struct wf_region *region;
	struct wf_early write;
	uint32_t offset, length;
	char *to;

	if (!wf_op_is_write(pkt->opcode) ||
	    (qp->attr.qp_access_flags & WF_ACCESS_REMOTE_WRITE) == 0)
		return false;
	if (wf_op_starts(pkt->opcode))
		note_early(qp, pkt);
	if (!find_early(qp, pkt->psn, &write))
		return false;
	offset = (uint32_t)wf_psn_diff(pkt->psn, write.first_psn) << qp->mtu_shift;
	length = pkt->psn == write.last_psn ? write.length - offset : wf_qp_mtu(qp);
	if (pkt->length != length || wf_op_ends(pkt->opcode) != (pkt->psn == write.last_psn))
		return false;
	if (length == 0)
		return true;
	region = wf_region_check(qp->hca, qp->pd, qp->qpn, write.rkey, write.va + offset, length,
	                         WF_ACCESS_REMOTE_WRITE, true);
	if (region == NULL)
		return false;
	to = wf_region_host(region, write.va + offset);
	return to == NULL || payload == NULL || wf_qp_store(qp, to, payload, length);
}

static void drop_rings(struct wf_qp *qp)
{
	struct wf_resp *resp = &qp->resp;

	wf_room_put(qp->hca, WF_ROOM_HELD, resp->held, resp->held_mask + 1);
	wf_room_put(qp->hca, WF_ROOM_DATA, resp->held_data, resp->held_mask + 1);
	wf_room_put(qp->hca, WF_ROOM_PSN, resp->trims, resp->trim_slots);
	resp->held = NULL;
	resp->held_data = NULL;
	resp->trims = NULL;
	resp->held_mask = resp->trim_slots = 0;
}

void wf_held_rest(struct wf_qp *qp)
{
	if (qp->resp.helds == 0 && qp->resp.n_trims == 0)
		drop_rings(qp);
}

void wf_held_clear(struct wf_qp *qp)
{
	qp->resp.helds = qp->resp.untold = qp->resp.n_trims = 0;
	drop_rings(qp);
}

static void move_held(struct wf_resp *resp, struct wf_held *held, char *data, uint32_t mask)
{
	for (uint32_t i = 0; resp->held != NULL && i <= resp->held_mask; i++) {
		const struct wf_held *from = &resp->held[i];

		if (!from->used)
			continue;
		held[from->pkt.psn & mask] = *from;
		if (data != NULL)
			memcpy(data + (size_t)(from->pkt.psn & mask) * WF_HELD_BYTES,
			       resp->held_data + (size_t)i * WF_HELD_BYTES, WF_HELD_BYTES);
	}
}

/* Makes room for a packet that many PSNs ahead of the expected one; false: there is none. */
static bool reach(struct wf_qp *qp, uint32_t ahead)
{
	struct wf_resp *resp = &qp->resp;
	uint32_t n = WF_ROOM_LEAST;
	struct wf_held *held;
	char *data = NULL;

	if (resp->held != NULL && ahead <= resp->held_mask)
		return true;
	if (ahead >= qp->req.limit)
		return false;
	while (n <= ahead)
		n *= 2;
	held = wf_room_get(qp->hca, WF_ROOM_HELD, n);
	if (held == NULL)
		return false;
	if (qp->hca->attr.data) {
		data = wf_room_get(qp->hca, WF_ROOM_DATA, n);
		if (data == NULL) {
			wf_room_put(qp->hca, WF_ROOM_HELD, held, n);
			return false;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		held[i].used = false;
	move_held(resp, held, data, n - 1);
	wf_room_put(qp->hca, WF_ROOM_HELD, resp->held, resp->held_mask + 1);
	wf_room_put(qp->hca, WF_ROOM_DATA, resp->held_data, resp->held_mask + 1);
	resp->held = held;
	resp->held_data = data;
	resp->held_mask = n - 1;
	return true;
}

/* The packet with psn, if it is kept; NULL otherwise. */
static struct wf_held *kept(const struct wf_resp *resp, uint32_t psn)
{
	struct wf_held *held;

	if (resp->helds == 0)
		return NULL;
	held = &resp->held[psn & resp->held_mask];
	return held->used && held->pkt.psn == psn ? held : NULL;
}

void wf_held_add(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload)
{
	struct wf_resp *resp = &qp->resp;
	struct wf_held *held;
	uint32_t slot;

	assert(wf_psn_diff(pkt->psn, resp->epsn) > 0);
	if (!reach(qp, (uint32_t)wf_psn_diff(pkt->psn, resp->epsn)))
		return;
	slot = pkt->psn & resp->held_mask;
	held = &resp->held[slot];
	if (held->used && held->pkt.psn != pkt->psn)
		release(resp, held);
	if (held->used) {
		wf_hca_count(qp->hca, WF_CTR_DUPLICATE_REQUEST);
		if (held->told)
			untell(qp, held);
		return;
	}
	held->placed = qp->init.tune.direct && place(qp, pkt, payload);
	if (!held->placed && wf_op_has_payload(pkt->opcode) && payload != NULL &&
	    resp->held_data != NULL)
		memcpy(resp->held_data + (size_t)slot * WF_HELD_BYTES, payload, pkt->length);
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
	struct wf_held *held = kept(resp, resp->epsn);

	if (held == NULL)
		return NULL;
	/* It is acknowledged like any other now, and need not be told. */
	if (!held->told)
		wf_answer_ack(qp, WF_SYNDROME_ACK);
	release(resp, held);
	*payload_p = NULL;
	if (!held->placed && resp->held_data != NULL)
		*payload_p = resp->held_data + (size_t)slot * WF_HELD_BYTES;
	return held;
}

void wf_held_drop_passed(struct wf_resp *resp, uint32_t psn)
{
	for (uint32_t i = 0; i <= resp->held_mask && resp->helds != 0; i++) {
		struct wf_held *held = &resp->held[i];

		if (!held->used || wf_psn_diff(held->pkt.psn, psn) >= 0)
			continue;
		release(resp, held);
	}
}

uint32_t wf_held_tell(struct wf_qp *qp)
{
	struct wf_resp *resp = &qp->resp;
	uint32_t psn = resp->tell_psn;

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

/* Room for one more PSN to be told; false: there is none. */
static bool reach_trim(struct wf_qp *qp)
{
	struct wf_resp *resp = &qp->resp;
	uint32_t n = resp->trim_slots == 0 ? WF_ROOM_LEAST : 2 * resp->trim_slots;
	uint32_t *trims;

	if (resp->n_trims < resp->trim_slots)
		return true;
	if (n > qp->req.limit)
		return false;
	trims = wf_room_get(qp->hca, WF_ROOM_PSN, n);
	if (trims == NULL)
		return false;
	for (uint32_t i = 0; i < resp->n_trims; i++)
		trims[i] = resp->trims[(resp->trim_head + i) & (resp->trim_slots - 1)];
	wf_room_put(qp->hca, WF_ROOM_PSN, resp->trims, resp->trim_slots);
	resp->trims = trims;
	resp->trim_slots = n;
	resp->trim_head = 0;
	return true;
}

void wf_held_trim(struct wf_qp *qp, uint32_t psn)
{
	struct wf_resp *resp = &qp->resp;
	struct wf_held *held = kept(resp, psn);

	if ((uint32_t)wf_psn_diff(psn, resp->epsn) >= qp->req.limit)
		return;
	if (held != NULL) {
		/*
		 * It came whole before. The requester, which repeats it, has not heard of that:
		 * tell it again.
		 */
		if (held->told)
			untell(qp, held);
		return;
	}
	if (!reach_trim(qp))
		return; /* the requester's timer finds out */
	resp->trims[(resp->trim_head + resp->n_trims++) & (resp->trim_slots - 1)] = psn;
	wf_qp_kick_ack(qp);
}

bool wf_held_next_trim(struct wf_resp *resp, uint32_t *psn_p)
{
	while (resp->n_trims != 0) {
		*psn_p = resp->trims[resp->trim_head++ & (resp->trim_slots - 1)];
		resp->n_trims--;
		if (wf_psn_diff(*psn_p, resp->epsn) >= 0)
			return true;
	}
	return false;
}
