/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff_priv.h - how a requester's timeouts follow each other, for src/rdma only.
 */
#ifndef WF_RDMA_BACKOFF_PRIV_H
#define WF_RDMA_BACKOFF_PRIV_H

#include "rdma/qp_priv.h"

/* How long the next acknowledgement is waited for; the queue pair has a timeout. */
wf_time wf_backoff_wait(const struct wf_req *req);

/* The timer has run out, and what is unacknowledged is sent again. */
void wf_backoff_timeout(struct wf_qp *qp);

/*
 * una has moved, from old; psn is what was to be sent next before it did. To be called before doubt
 * moves.
 */
void wf_backoff_progress(struct wf_req *req, uint32_t old, uint32_t psn);

/* As if no timeout had been. */
static inline void wf_backoff_end(struct wf_req *req)
{
	req->waits = 0;
	req->room = req->limit;
}

#endif
