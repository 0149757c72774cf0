/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c - what the responder sends: ACKs and NAKs, READ responses, atomic acknowledges, CNPs.
 *
 * Answers go out in the order of their PSNs. READs and atomics are a queue of jobs; one ACK or NAK
 * may wait behind them and is made when it is sent, so it speaks for all that came until then. What
 * is asked for again takes its place in that order: a READ goes back to where it is asked from.
 */
#include <assert.h>
#include <string.h>

#include "rdma/qp_flow.h"
#include "rdma/sg_priv.h"

static uint32_t job_slots(const struct wf_resp *resp)
{
	return 2 * (resp->rd_mask + 1);
}

void wf_answer_ack(struct wf_qp *qp, uint8_t syndrome)
{
	struct wf_resp *resp = &qp->resp;

	/* A NAK that waits to be sent acknowledges all packets before it, too. */
	if (resp->ack && wf_syndrome_is_ack(syndrome))
		return;
	resp->ack = true;
	resp->syndrome = syndrome;
	if (resp->jobs == 0)
		wf_qp_kick_ack(qp);
}

static void kick_answers(struct wf_qp *qp)
{
	if (wf_answer_ack_due(qp))
		wf_qp_kick_ack(qp);
	if (wf_answer_pending(qp))
		wf_qp_kick(qp);
}

bool wf_answer_add(struct wf_qp *qp, const struct wf_job *job)
{
	struct wf_resp *resp = &qp->resp;

	if (job->replay ? resp->replays > resp->rd_mask
	                : resp->jobs - resp->replays >= resp->max_rd)
		return false;
	assert(resp->jobs < job_slots(resp));
	resp->job[(resp->job_head + resp->jobs) & (job_slots(resp) - 1)] = *job;
	resp->jobs++;
	if (job->replay)
		resp->replays++;
	/* The response acknowledges all requests before it; one to a duplicate, fewer. */
	if (!job->replay && resp->ack && wf_syndrome_is_ack(resp->syndrome))
		resp->ack = false;
	kick_answers(qp);
	return true;
}

static struct wf_job *job_at(const struct wf_resp *resp, uint32_t i)
{
	return &resp->job[(resp->job_head + i) & (job_slots(resp) - 1)];
}

bool wf_answer_again(struct wf_qp *qp, const struct wf_job *job)
{
	struct wf_resp *resp = &qp->resp;
	uint32_t i = 0;
	struct wf_job *at;

	while (i < resp->jobs && wf_psn_diff(job->last_psn, job_at(resp, i)->last_psn) > 0)
		i++;
	at = job_at(resp, i);
	if (i < resp->jobs && at->last_psn == job->last_psn) {
		if (wf_psn_diff(job->psn, at->psn) >= 0)
			return false; /* it is still to be sent */
		at->va = job->va;
		at->left = job->left;
		at->psn = job->psn;
		at->started = false;
		kick_answers(qp);
		return true;
	}
	if (!wf_answer_add(qp, job))
		return false;
	for (uint32_t k = resp->jobs - 1; k > i; k--)
		*job_at(resp, k) = *job_at(resp, k - 1);
	*at = *job;
	kick_answers(qp); /* another one may be the first now */
	return true;
}

static void finish_job(struct wf_qp *qp)
{
	struct wf_resp *resp = &qp->resp;

	assert(resp->jobs > 0);
	if (resp->job[resp->job_head].replay)
		resp->replays--;
	resp->job_head = (resp->job_head + 1) & (job_slots(resp) - 1);
	resp->jobs--;
	kick_answers(qp);
}

/* The code for how many receive work requests wait. */
static uint8_t credit_code(const struct wf_qp *qp)
{
	if (!qp->init.tune.credits || qp->srq != NULL)
		return WF_CREDITS_INVALID;
	return wf_credits_code(wf_rq_waiting(&qp->rq));
}

static void set_aeth(struct wf_qp *qp, struct wf_packet *pkt, uint8_t syndrome, uint32_t msn)
{
	struct wf_resp *resp = &qp->resp;

	if (wf_syndrome_is_ack(syndrome))
		syndrome = wf_syndrome_make(WF_SYNDROME_ACK, credit_code(qp));
	pkt->u.aeth.syndrome = syndrome;
	pkt->u.aeth.msn = msn;
	if (resp->ce && qp->init.tune.ecn_echo)
		pkt->flags |= WF_PACKET_BECN;
	resp->ce = false;
}

static void make_cnp(struct wf_qp *qp, struct wf_packet *pkt)
{
	qp->resp.cnp = false;
	wf_qp_fill(qp, qp->hca->attr.roce ? WF_OP_CNP : WF_OP_CNP_IB, 0, pkt);
	pkt->flags = WF_PACKET_BECN;
	if (qp->init.tune.cnp_cls != 0)
		pkt->cls = qp->init.tune.cnp_cls & WF_PACKET_CLASS;
	wf_hca_count(qp->hca, WF_CTR_NP_CNP_SENT);
}

static void make_atomic_ack(struct wf_qp *qp, struct wf_packet *pkt)
{
	const struct wf_job *job = &qp->resp.job[qp->resp.job_head];

	wf_qp_fill(qp, wf_qp_op(qp, WF_OPERATION_ATOMIC_ACK), job->psn, pkt);
	set_aeth(qp, pkt, WF_SYNDROME_ACK, job->msn);
	pkt->u.aeth.orig = job->va;
	finish_job(qp);
}

static void make_ack(struct wf_qp *qp, struct wf_packet *pkt)
{
	struct wf_resp *resp = &qp->resp;
	uint8_t syndrome = resp->ack ? resp->syndrome : WF_SYNDROME_ACK;
	bool positive = wf_syndrome_is_ack(syndrome);
	uint32_t msn = resp->msn, psn;

	/*
	 * With selective repeat, a NAK names one packet that was trimmed or came, and the first
	 * missing.
	 */
	if (positive && wf_held_next_trim(resp, &psn)) {
		positive = false;
		syndrome = WF_NAK_TRIMMED;
		msn = psn;
	} else if (positive && resp->untold != 0) {
		positive = false;
		syndrome = WF_NAK_PSN_SEQUENCE;
		msn = wf_held_tell(qp);
	}
	resp->ack = false;
	wf_qp_fill(qp, wf_qp_op(qp, WF_OPERATION_ACK),
	           wf_psn_add(resp->epsn, positive ? WF_PSN_MASK : 0), pkt);
	set_aeth(qp, pkt, syndrome, msn);
	if (qp->init.tune.ack_cls != 0)
		pkt->cls = qp->init.tune.ack_cls & WF_PACKET_CLASS;
	if (resp->echo != 0) {
		pkt->payload = resp->echo;
		pkt->flags |= WF_PACKET_INT;
		pkt->size += qp->init.tune.int_bytes;
		resp->echo = 0;
	}
	wf_hca_count(qp->hca, WF_CTR_TX_ACKS);
}

bool wf_answer_tx_ack(struct wf_qp *qp, wf_time now, struct wf_packet *pkt)
{
	const struct wf_resp *resp = &qp->resp;

	(void)now;
	if (!wf_answer_ack_due(qp))
		return false;
	if (resp->cnp)
		make_cnp(qp, pkt);
	else if (wf_read_ack_due(qp))
		wf_read_make_ack(qp, pkt);
	else if (resp->jobs != 0)
		make_atomic_ack(qp, pkt);
	else
		make_ack(qp, pkt);
	return true;
}

/* The key, or the memory, went away under the response: the READ ends with a NAK where it was. */
static void abort_read(struct wf_qp *qp, uint32_t psn)
{
	struct wf_resp *resp = &qp->resp;

	resp->epsn = psn;
	resp->jobs = resp->replays = 0;
	wf_hca_count(qp->hca, WF_CTR_RESP_REMOTE_ACCESS_ERRORS);
	wf_resp_refuse(qp, WF_NAK_REMOTE_ACCESS, WF_WC_WR_FLUSH_ERR, WF_EVENT_QP_ACCESS_ERR);
}

/* The contents of a response. Returns false when they cannot be had. */
static bool fetch(struct wf_qp *qp, const struct wf_job *job, struct wf_packet *pkt, void *payload)
{
	const struct wf_region *r = wf_region_check(qp->hca, qp->pd, qp->qpn, job->rkey, job->va,
	                                            pkt->length, WF_ACCESS_REMOTE_READ, true);
	const char *from;

	if (r == NULL)
		return false;
	payload = wf_qp_place(qp, pkt, payload);
	if (payload == NULL)
		return true;
	from = wf_region_host(r, job->va);
	if (from != NULL)
		return wf_qp_fetch(qp, payload, from, pkt->length);
	memset(payload, 0, pkt->length);
	return true;
}

/* The next packet of job. Returns false when the READ had to be aborted. */
static bool make_response(struct wf_qp *qp, const struct wf_job *job, struct wf_packet *pkt,
                          void *payload)
{
	bool last = job->left <= wf_qp_mtu(qp);

	wf_qp_fill(qp, wf_qp_op(qp, wf_operation_read_resp(!job->started, last)), job->psn, pkt);
	wf_qp_set_length(qp, pkt, last ? job->left : wf_qp_mtu(qp));
	if (pkt->length != 0 && wf_unlikely(!fetch(qp, job, pkt, payload))) {
		abort_read(qp, job->psn);
		return false;
	}
	if (qp->read_acks && qp->init.tune.int_bytes != 0 && pkt->length != 0) {
		pkt->flags |= WF_PACKET_INT;
		pkt->size += qp->init.tune.int_bytes;
	}
	if (last || !job->started)
		set_aeth(qp, pkt, WF_SYNDROME_ACK, job->msn);
	return true;
}

/* Sends a lost response again if its READ is remembered; the requester's timer sees to others. */
static bool tx_lost(struct wf_qp *qp, wf_time now, struct wf_packet *pkt, void *payload)
{
	struct wf_resp *resp = &qp->resp;
	uint32_t psn, offset;

	while (wf_sack_next(&resp->out, &psn)) {
		const struct wf_res *res = wf_resp_recall(resp, psn, false);
		struct wf_job job = { .psn = psn, .msn = resp->msn };

		if (res == NULL) {
			wf_sack_unlose(&resp->out, psn, psn);
			continue;
		}
		offset = (uint32_t)wf_psn_diff(psn, res->first_psn) << qp->mtu_shift;
		job.va = res->value + offset;
		job.rkey = res->rkey;
		job.left = offset < res->length ? res->length - offset : 0;
		job.started = offset != 0;
		if (!make_response(qp, &job, pkt, payload))
			return false;
		wf_read_sent(qp, pkt, true, now);
		wf_hca_count(qp->hca, WF_CTR_TX_RETRANSMITS);
		wf_qp_tell(qp, WF_HCA_RETRANSMIT, now);
		return true;
	}
	return false;
}

bool wf_answer_tx_read(struct wf_qp *qp, wf_time now, struct wf_packet *pkt, void *payload)
{
	struct wf_job *job = &qp->resp.job[qp->resp.job_head];

	if (!wf_read_may_send(qp))
		return false;
	if (wf_unlikely(qp->resp.out.n_lost != 0) && tx_lost(qp, now, pkt, payload))
		return true;
	if (!wf_answer_has_read(qp) || !make_response(qp, job, pkt, payload))
		return false;
	wf_read_sent(qp, pkt, job->replay, now);
	job->started = true;
	job->va += pkt->length;
	job->left -= pkt->length;
	job->psn = wf_psn_add(job->psn, 1);
	if (wf_op_ends(pkt->opcode))
		finish_job(qp);
	return true;
}
