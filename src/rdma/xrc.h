/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xrc.h - extended reliable connections (IBTA vol. 1, annex A14).
 *
 * An XRC_SEND queue pair only sends and says with each work request which of its peer's shared
 * receive queues it is for; an XRC_RECV queue pair only receives, for all shared receive queues of
 * its domain. Completions of receives go to the queue's completion queue, and its protection domain
 * is the one that keys are checked against.
 *
 * Atomics carry no number of a receive queue here: they are checked against the queue that was used
 * last, or the domain's first.
 */
#ifndef WF_RDMA_XRC_H
#define WF_RDMA_XRC_H

#include "rdma/srq.h"

/* What a domain is known by to others; all zero: to nobody. */
struct wf_xrc_id {
	uint64_t dev, ino; /* of its file */
};

/* A domain. Returns 0 or -ENOMEM. */
int wf_xrcd_create(struct wf_hca *hca, struct wf_xrcd **xrcd_p) WF_MUST_USE;

/* Returns 0, or -EBUSY while a queue or a queue pair belongs to it. */
int wf_xrcd_destroy(struct wf_xrcd *xrcd) WF_MUST_USE;

/* Adapters that have domains with the same name share them: wf_hca_forward_fn, wf_xrc_take(). */
void wf_xrcd_set_id(struct wf_xrcd *xrcd, const struct wf_xrc_id *id);

/* The name of the domain of an XRC_RECV queue pair. */
struct wf_xrc_id wf_qp_xrc_id(const struct wf_qp *qp);

/*
 * Takes in a packet that another adapter's queue pair, number pkt->qpn, of the domain id received
 * for a queue of this one. Its receives complete with that number. Returns 0, -EAGAIN (no receive
 * is posted: try again), -EINVAL (it is for no queue of that domain, or does not fit: the rest of
 * its message is refused, too) or -ENOMEM.
 */
int wf_xrc_take(struct wf_hca *hca, const struct wf_xrc_id *id, const struct wf_packet *pkt,
                const void *payload, wf_time now) WF_MUST_USE;

/* Queue pairs with numbers [first, first + n) of another adapter are gone. */
void wf_xrc_forget(struct wf_hca *hca, uint32_t first, uint32_t n);

/* What XRC_RECV queue pairs are created in: they have no protection domain of their own. */
struct wf_pd *wf_xrcd_pd(struct wf_xrcd *xrcd);

/*
 * A shared receive queue of the domain; what it receives completes in cq. wf_srq_destroy() ends it:
 * a message that was being received is lost. Returns 0, -EINVAL or -ENOMEM (no memory, no number
 * left).
 */
int wf_xrc_srq_create(struct wf_pd *pd, const struct wf_srq_attr *attr, struct wf_xrcd *xrcd,
                      struct wf_cq *cq, struct wf_srq **srq_p) WF_MUST_USE;

/* Its number, for struct wf_send_wr.srqn; 0 for one that is of no domain. */
uint32_t wf_srq_num(const struct wf_srq *srq);

#endif
