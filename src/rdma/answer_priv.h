/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_priv.h - what the responder sends (answer.c), for src/rdma only.
 */
#ifndef WF_RDMA_ANSWER_PRIV_H
#define WF_RDMA_ANSWER_PRIV_H

#include "rdma/qp_priv.h"

/* Has an answer with this syndrome sent; its PSN follows from epsn. */
void wf_answer_ack(struct wf_qp *qp, uint8_t syndrome);

/* Queues the response of a READ or an atomic. Returns false when there is no room. */
bool wf_answer_add(struct wf_qp *qp, const struct wf_job *job);

/*
 * The requester asks for a response again. One that is being sent goes back to where job begins,
 * and one that was sent is queued anew, before those with later PSNs: with go-back-N the requester
 * takes none of them before it. Returns false: it is still to be sent, or there is no room.
 */
bool wf_answer_again(struct wf_qp *qp, const struct wf_job *job);

/* The next small answer: ACK, NAK, atomic acknowledge, CNP. Returns false when none is due. */
bool wf_answer_tx_ack(struct wf_qp *qp, wf_time now, struct wf_packet *pkt);

/*
 * The next packet of a READ response, first of those that are lost. Returns false when none is due.
 */
bool wf_answer_tx_read(struct wf_qp *qp, wf_time now, struct wf_packet *pkt, void *payload);

/* Whether the responder of READs is to be told of responses. */
static inline bool wf_read_ack_due(const struct wf_qp *qp)
{
	return qp->req.read_ack || qp->req.out.untold != 0;
}

/* Whether wf_answer_tx_ack() has something to send. */
static inline bool wf_answer_ack_due(const struct wf_qp *qp)
{
	const struct wf_resp *resp = &qp->resp;

	if (resp->cnp || wf_read_ack_due(qp))
		return true;
	if (resp->jobs != 0)
		return resp->job[resp->job_head].atomic;
	return resp->ack || resp->untold != 0 || resp->n_trims != 0;
}

/* The class of the packet that wf_answer_tx_ack() would send. */
static inline uint8_t wf_answer_class(const struct wf_qp *qp)
{
	const struct wf_qp_tune *tune = &qp->init.tune;

	if (qp->resp.cnp)
		return tune->cnp_cls != 0 ? tune->cnp_cls : qp->cls;
	return tune->ack_cls != 0 && (qp->resp.jobs == 0 || wf_read_ack_due(qp)) ? tune->ack_cls
	                                                                         : qp->cls;
}

/* Whether the oldest response is of a READ. */
static inline bool wf_answer_has_read(const struct wf_qp *qp)
{
	return qp->resp.jobs != 0 && !qp->resp.job[qp->resp.job_head].atomic;
}

/* Whether wf_answer_tx_read() might have a packet. */
static inline bool wf_answer_pending(const struct wf_qp *qp)
{
	return wf_answer_has_read(qp) || qp->resp.out.n_lost != 0;
}

#endif
