/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sack.c - selective repeat at the requester: what is known of each packet in the window.
 *
 *	          sent               reported received
 *	(none) ---------> in flight ------------------> received --+
 *	                   |   ^ sent again               ^        | una passes it
 *	    trimmed, a gap,|   |                          |        v
 *	    or too long    +-> lost ----------------------+      (none)
 *
 * Only packets in flight count against the congestion window. A packet that was sent again because the
 * first copy is known not to have come (trimmed, or a gap on a path that keeps the order) has a time
 * like any other: the answer is to the second. After a timeout nobody can say which of the two copies an
 * answer is to, and it has none (Karn's rule).
 */
#include <assert.h>

#include "rdma/qp_flow.h"
#include "rdma/wr_priv.h"

static bool test(const uint64_t *map, uint32_t bit)
{
	return (map[bit / 64] >> bit % 64 & 1) != 0;
}

static void put(uint64_t *map, uint32_t bit, bool on)
{
	if (on)
		map[bit / 64] |= UINT64_C(1) << bit % 64;
	else
		map[bit / 64] &= ~(UINT64_C(1) << bit % 64);
}

/* Payload of the packet of wqe with that PSN; READs and atomics have none. */
static uint32_t payload_of(const struct wf_qp *qp, const struct wf_swqe *wqe, uint32_t psn)
{
	uint32_t offset = (uint32_t)wf_psn_diff(psn, wqe->first_psn) << qp->mtu_shift;

	if (wf_wr_is_answered(wqe->opcode))
		return 0;
	return psn == wqe->last_psn ? wqe->length - offset : wf_qp_mtu(qp);
}

static void land(struct wf_req *req, uint32_t bytes)
{
	assert(req->inflight >= bytes);
	req->inflight -= bytes;
}

/* Takes psn off the list of those to be sent again. Returns whether it was there. */
static bool unlose(struct wf_req *req, uint32_t psn)
{
	uint32_t bit = psn & req->sack_mask;

	if (!test(req->lost, bit))
		return false;
	assert(req->n_lost > 0);
	put(req->lost, bit, false);
	req->n_lost--;
	return true;
}

bool wf_sack_received(const struct wf_req *req, uint32_t psn)
{
	return test(req->sacked, psn & req->sack_mask);
}

void wf_sack_sent(struct wf_qp *qp, const struct wf_swqe *wqe, uint32_t psn, bool again,
                  wf_time now)
{
	struct wf_req *req = &qp->req;

	(void)unlose(req, psn);
	/* A READ is asked for from there to its end. */
	for (uint32_t p = psn; again && wf_wr_is_answered(wqe->opcode) && req->n_lost != 0 &&
	                       p != wqe->last_psn &&
	                       wf_psn_diff(p, req->una) < (int32_t)req->sack_mask;) {
		p = wf_psn_add(p, 1);
		(void)unlose(req, p);
	}
	put(req->again, psn & req->sack_mask, again);
	req->sent_at[psn & req->sack_mask] = wf_psn_diff(psn, req->doubt) < 0 ? WF_TIME_NEVER : now;
	req->inflight += payload_of(qp, wqe, psn);
}

uint32_t wf_sack_take(struct wf_qp *qp, const struct wf_swqe *wqe, uint32_t psn)
{
	struct wf_req *req = &qp->req;
	uint32_t bit = psn & req->sack_mask, bytes = payload_of(qp, wqe, psn);

	if (test(req->sacked, bit))
		return 0;
	if (!unlose(req, psn))
		land(req, bytes);
	put(req->sacked, bit, true);
	/* Of a READ only the request's own PSN was ever sent. */
	if (!wf_wr_is_answered(wqe->opcode) || psn == wqe->first_psn)
		req->newest_at = req->sent_at[bit];
	return bytes;
}

uint32_t wf_sack_pass(struct wf_qp *qp, const struct wf_swqe *wqe)
{
	struct wf_req *req = &qp->req;
	uint32_t bytes = wf_sack_take(qp, wqe, req->una);

	put(req->sacked, req->una & req->sack_mask, false);
	req->una = wf_psn_add(req->una, 1);
	return bytes;
}

void wf_sack_forget(struct wf_qp *qp, const struct wf_swqe *wqe, uint32_t psn)
{
	struct wf_req *req = &qp->req;

	if (!wf_sack_received(req, psn))
		return;
	put(req->sacked, psn & req->sack_mask, false);
	req->inflight += payload_of(qp, wqe, psn);
}

bool wf_sack_lose(struct wf_qp *qp, const struct wf_swqe *wqe, uint32_t psn)
{
	struct wf_req *req = &qp->req;
	uint32_t bit = psn & req->sack_mask;

	if (test(req->sacked, bit) || test(req->lost, bit))
		return false;
	put(req->lost, bit, true);
	land(req, payload_of(qp, wqe, psn));
	if (req->n_lost++ == 0 || wf_psn_diff(psn, req->rtx) < 0) {
		req->rtx = psn;
		req->rtx_wqe = req->cons;
	}
	return true;
}

uint32_t wf_sack_lose_all(struct wf_qp *qp, uint32_t from, uint32_t end, bool again)
{
	struct wf_req *req = &qp->req;
	uint32_t limit = wf_psn_add(req->una, req->sack_mask + 1);
	uint32_t index = req->cons, n = 0;

	if (wf_psn_diff(end, limit) > 0)
		end = limit;
	for (uint32_t psn = from; wf_psn_diff(end, psn) > 0; psn = wf_psn_add(psn, 1)) {
		const struct wf_swqe *wqe = wf_req_find(req, psn, &index);
		bool answered, lost;

		if (wqe == NULL)
			break;
		answered = wf_wr_is_answered(wqe->opcode);
		if (!again && !answered && test(req->again, psn & req->sack_mask))
			continue;
		lost = wf_sack_lose(qp, wqe, psn);
		n += lost;
		/* A READ is asked for again from its first missing byte to its end, at once. */
		if (answered && lost)
			psn = wqe->last_psn;
	}
	return n;
}

struct wf_swqe *wf_sack_next(struct wf_qp *qp, uint32_t *psn_p)
{
	struct wf_req *req = &qp->req;

	if (wf_psn_diff(req->una, req->rtx) > 0)
		req->rtx = req->una;
	for (; req->n_lost != 0; req->rtx = wf_psn_add(req->rtx, 1)) {
		assert(wf_psn_diff(req->next, req->rtx) > 0);
		if (!test(req->lost, req->rtx & req->sack_mask))
			continue;
		*psn_p = req->rtx;
		if ((int32_t)(req->rtx_wqe - req->cons) < 0)
			req->rtx_wqe = req->cons;
		return wf_req_find(req, req->rtx, &req->rtx_wqe);
	}
	return NULL;
}
