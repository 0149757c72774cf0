/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.c - what a requester does about timeouts whose peer may just be slow: it waits longer,
 * and sends less.
 *
 *	timeout                room is 1: only the packet at una goes again. The next timeout comes
 *	                       after twice the wait, three times at most, not beyond WAIT_MAX
 *	                       unless the timeout itself is longer.
 *	what went again is     room grows by as many, so that it doubles with each round trip, up
 *	acknowledged           to limit.
 *	more than that is      The peer has the first copies, and is slow: nothing was lost, and the
 *	acknowledged           copies of what it still has to take in would only keep it busy. room
 *	                       stays, so that a single packet goes again; if the rest was lost, its
 *	                       acknowledgement makes room.
 *	una moves at all       The wait is what the attribute says.
 *
 * From doubt on all is sent for the first time, and any acknowledgement makes room.
 *
 * Selective repeat waits longer, too, but sends all again: what a single packet draws there says
 * nothing of the others.
 */
#include <assert.h>

#include "rdma/backoff_priv.h"

#define WAITS 3
#define WAIT_MAX (4 * WF_S)

wf_time wf_backoff_wait(const struct wf_req *req)
{
	wf_time wait = req->timeout;

	assert(wait > 0 && req->waits <= WAITS);
	for (unsigned i = 0; i < req->waits && 2 * wait <= WAIT_MAX; i++)
		wait *= 2;
	return wait;
}

void wf_backoff_timeout(struct wf_qp *qp)
{
	struct wf_req *req = &qp->req;

	if (!qp->backoff)
		return;
	if (req->waits < WAITS)
		req->waits++;
	if (!req->selective)
		req->room = 1;
}

void wf_backoff_progress(struct wf_req *req, uint32_t old, uint32_t psn)
{
	int32_t moved = wf_psn_diff(req->out.una, old);
	bool again = wf_psn_diff(req->out.una, psn) <= 0; /* no more than what was sent again */

	assert(moved > 0);
	req->waits = 0;
	if (again || wf_psn_diff(old, req->out.doubt) >= 0)
		req->room = (uint32_t)wf_min_u64(req->limit, (uint64_t)req->room + (uint32_t)moved);
}

void wf_qp_set_backoff(struct wf_qp *qp, bool backoff)
{
	qp->backoff = backoff;
	wf_backoff_end(&qp->req);
}
