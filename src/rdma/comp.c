/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comp.c - the requester hears of its requests: acknowledgements, answers, timers; it completes
 * work requests, in order.
 *
 * What holds: every work request before cons is complete; una is the first PSN of at(cons) that is
 * not acknowledged (or answered: READ, atomics); exec is past every request that the responder is
 * known to have executed. When exec passes a READ whose answer is not here, the answer was lost: an
 * implied NAK.
 */
#include <assert.h>
#include <string.h>

#include "rdma/apm_priv.h"
#include "rdma/backoff_priv.h"
#include "rdma/lag_priv.h"
#include "rdma/qp_flow.h"
#include "rdma/sg_priv.h"
#include "rdma/wr_priv.h"

static const uint8_t wc_opcode[WF_WR_OPCODES] = {
	[WF_WR_RDMA_WRITE] = WF_WC_RDMA_WRITE,
	[WF_WR_RDMA_WRITE_WITH_IMM] = WF_WC_RDMA_WRITE,
	[WF_WR_SEND] = WF_WC_SEND,
	[WF_WR_SEND_WITH_IMM] = WF_WC_SEND,
	[WF_WR_RDMA_READ] = WF_WC_RDMA_READ,
	[WF_WR_ATOMIC_CMP_AND_SWP] = WF_WC_COMP_SWAP,
	[WF_WR_ATOMIC_FETCH_AND_ADD] = WF_WC_FETCH_ADD,
	[WF_WR_LOCAL_INV] = WF_WC_LOCAL_INV,
	[WF_WR_BIND_MW] = WF_WC_BIND_MW,
	[WF_WR_SEND_WITH_INV] = WF_WC_SEND,
	[WF_WR_ATOMIC_WRITE] = WF_WC_ATOMIC_WRITE,
};

static void complete(struct wf_qp *qp, const struct wf_swqe *wqe, enum wf_wc_status status,
                     uint8_t syndrome)
{
	struct wf_wc wc = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = (enum wf_wc_opcode)wc_opcode[wqe->opcode],
		.vendor_err = syndrome,
		.qp_num = qp->qpn,
		.time = qp->hca->now,
	};

	if (wf_wr_is_answered(wqe->opcode))
		wc.byte_len = wqe->length;
	if (status != WF_WC_SUCCESS) {
		wf_hca_count(qp->hca, WF_CTR_REQ_CQE_ERROR);
		if (status == WF_WC_WR_FLUSH_ERR)
			wf_hca_count(qp->hca, WF_CTR_REQ_CQE_FLUSH_ERROR);
		else if (status == WF_WC_REM_ACCESS_ERR)
			wf_hca_count(qp->hca, WF_CTR_REQ_REMOTE_ACCESS_ERRORS);
		else if (status == WF_WC_REM_INV_REQ_ERR)
			wf_hca_count(qp->hca, WF_CTR_REQ_REMOTE_INVALID_REQUEST);
		if (status != WF_WC_WR_FLUSH_ERR)
			qp->why = (uint8_t)status;
	}
	wf_qp_complete(qp, qp->send_cq, &wc, false);
}

void wf_comp_flush(struct wf_qp *qp)
{
	struct wf_req *req = &qp->req;

	assert(qp->state == WF_QPS_ERR || qp->state == WF_QPS_SQE);
	while (req->cons != req->prod) {
		const struct wf_swqe *wqe = wf_sq_at(req, req->cons++);

		complete(qp, wqe, WF_WC_WR_FLUSH_ERR, 0);
	}
	req->send = req->fresh = req->cons;
	req->rd_out = 0;
	req->rnr_wait = req->retrying = false;
	req->sample_tail = req->sample_head;
	wf_req_start(qp, req->out.next);
	wf_qp_set_timer(qp, WF_TIME_NEVER);
}

void wf_comp_fail(struct wf_qp *qp, enum wf_wc_status status, uint8_t syndrome)
{
	struct wf_req *req = &qp->req;

	assert(req->cons != req->prod && status != WF_WC_SUCCESS);
	complete(qp, wf_sq_at(req, req->cons), status, syndrome);
	if (qp->state == WF_QPS_ERR)
		return; /* the completion queue overflowed */
	req->cons++;
	if (qp->reliable) {
		wf_qp_to_error(qp);
		return;
	}
	/* IBTA 10.3.1.6: of an unreliable queue pair only the send queue stops. */
	qp->state = WF_QPS_SQE;
	wf_comp_flush(qp);
}

void wf_comp_drained(struct wf_qp *qp)
{
	struct wf_req *req = &qp->req;

	if (qp->state != WF_QPS_SQD || req->drained || req->cons != req->fresh)
		return;
	req->drained = true;
	if (qp->attr.en_sqd_async_notify)
		wf_qp_event(qp, WF_EVENT_SQ_DRAINED);
}

/* How far the message of wqe is acknowledged at psn, bytes. */
static uint32_t bytes_at(const struct wf_qp *qp, const struct wf_swqe *wqe, uint32_t psn)
{
	uint32_t bytes = (uint32_t)wf_psn_diff(psn, wqe->first_psn) << qp->mtu_shift;

	return bytes < wqe->length ? bytes : wqe->length;
}

/* Moves una to end, which is in wqe. Returns the bytes that were not known to be received. */
static uint32_t move_una(struct wf_qp *qp, const struct wf_swqe *wqe, uint32_t end)
{
	struct wf_req *req = &qp->req;
	uint32_t bytes = 0;

	if (wf_unlikely(req->selective)) {
		while (req->out.una != end)
			bytes += wf_sack_pass(&req->out);
		return bytes;
	}
	bytes = bytes_at(qp, wqe, end) - bytes_at(qp, wqe, req->out.una);
	req->out.inflight = req->out.inflight > bytes ? req->out.inflight - bytes : 0;
	req->out.una = end;
	return bytes;
}

/* Applies to wqe, which has PSNs, what exec says. Returns whether it is done. */
static bool advance_one(struct wf_qp *qp, const struct wf_swqe *wqe, uint32_t *acked)
{
	struct wf_req *req = &qp->req;
	uint32_t end = req->exec;

	if (wf_wr_is_answered(wqe->opcode)) {
		while (req->selective && wf_psn_diff(wqe->last_psn, req->out.una) >= 0 &&
		       wf_sack_received(&req->out, req->out.una))
			(void)wf_sack_pass(&req->out);
		return wf_psn_diff(req->out.una, wqe->last_psn) > 0;
	}
	if (wf_psn_diff(end, wqe->last_psn) > 0)
		end = wf_psn_add(wqe->last_psn, 1);
	if (wf_psn_diff(end, req->out.una) > 0)
		*acked += move_una(qp, wqe, end);
	return wf_psn_diff(req->out.una, wqe->last_psn) > 0;
}

uint32_t wf_comp_advance(struct wf_qp *qp)
{
	struct wf_req *req = &qp->req;
	uint32_t acked = 0;

	while (req->cons != req->prod) {
		const struct wf_swqe *wqe = wf_sq_at(req, req->cons);

		if (wf_unlikely(wqe->status != WF_WC_SUCCESS)) {
			wf_comp_fail(qp, (enum wf_wc_status)wqe->status, 0);
			return acked;
		}
		if (req->cons == req->fresh ||
		    (!wf_wr_is_local(wqe->opcode) && !advance_one(qp, wqe, &acked)))
			break;
		if (wf_wr_is_answered(wqe->opcode)) {
			assert(req->rd_out > 0);
			req->rd_out--;
		}
		if (qp->sq_sig_all || (wqe->flags & WF_SEND_SIGNALED) != 0) {
			complete(qp, wqe, WF_WC_SUCCESS, 0);
			if (wf_unlikely(qp->state == WF_QPS_ERR))
				return acked;
		}
		req->cons++;
	}
	/* What was to be sent again may have arrived after all. */
	if (wf_psn_diff(req->out.una, req->psn) > 0)
		req->psn = req->out.una;
	if ((int32_t)(req->cons - req->send) > 0)
		req->send = req->cons;
	if (wf_unlikely(qp->state == WF_QPS_SQD))
		wf_comp_drained(qp);
	return acked;
}

/* Whether something sent is neither acknowledged nor answered. */
static bool outstanding(const struct wf_req *req)
{
	return req->out.una != req->out.next;
}

static void raise_exec(struct wf_req *req, uint32_t psn)
{
	if (wf_psn_diff(psn, req->exec) > 0)
		req->exec = psn;
}

/* IBTA 9.9.2.1: sends again from what is missing, or gives up. */
static void retry(struct wf_qp *qp, enum wf_cc_loss loss, uint32_t end, wf_time now)
{
	struct wf_req *req = &qp->req;

	if (req->retry_left != 0) {
		req->retry_left--;
	} else if (!wf_apm_escape(qp)) {
		wf_comp_fail(qp, WF_WC_RETRY_EXC_ERR, 0);
		return;
	}
	req->retrying = loss == WF_CC_LOSS_NAK;
	req->resumed = false;
	if (loss == WF_CC_LOSS_TIMEOUT) {
		req->out.doubt = req->out.next;
		wf_backoff_timeout(qp);
	}
	qp->cc->ops->on_loss(qp->cc, loss, now);
	wf_qp_set_timer(qp, req->timeout != 0 ? now + wf_backoff_wait(req) : WF_TIME_NEVER);
	wf_req_resend(qp, end);
	/* What was lost may be the acknowledgement that its responder waits for. */
	if (qp->read_acks && wf_wr_is_read(wf_sq_at(req, req->cons)->opcode)) {
		req->read_ack = true;
		wf_qp_kick_ack(qp);
	}
}

/*
 * Selective repeat: what is missing before end is lost. Each PSN is sent again for this reason once
 * (mark is past them); if that is lost too, the timer finds out.
 */
static void resend_gaps(struct wf_qp *qp, uint32_t end, wf_time now)
{
	struct wf_req *req = &qp->req;
	uint32_t from = wf_psn_diff(req->out.mark, req->out.una) > 0 ? req->out.mark : req->out.una;

	/*
	 * Requests that were executed need no resending: they are acknowledged, or are READs whose
	 * answer is on its way.
	 */
	if (wf_psn_diff(req->exec, from) > 0)
		from = req->exec;
	end = wf_psn_add(end, 0 - qp->init.tune.reorder);
	if (wf_psn_diff(end, from) <= 0)
		return;
	req->out.mark = end;
	if (wf_req_lose_all(qp, from, end, false) == 0)
		return;
	qp->cc->ops->on_loss(qp->cc, WF_CC_LOSS_NAK, now);
	wf_qp_kick(qp);
}

/*
 * An implied NAK: an answer at una is missing although pkt, a later one, came. Since answers come
 * in order, one of READs that is early after the repeated ones began to come shows another gap.
 */
static void check_implied(struct wf_qp *qp, const struct wf_packet *pkt, wf_time now)
{
	struct wf_req *req = &qp->req;

	if (qp->state == WF_QPS_ERR || req->cons == req->fresh || req->rnr_wait ||
	    wf_psn_diff(req->exec, req->out.una) <= 0 || wf_psn_diff(pkt->psn, req->out.una) <= 0)
		return;
	assert(wf_wr_is_answered(wf_sq_at(req, req->cons)->opcode));
	if (req->selective)
		return; /* the responder hears which responses came and sends the others again */
	wf_hca_count(qp->hca, WF_CTR_IMPLIED_NAK_SEQ_ERR);
	if (!req->retrying || (req->resumed && wf_op_is_read_resp(pkt->opcode)))
		retry(qp, WF_CC_LOSS_NAK, req->out.next, now);
}

static void take_credits(struct wf_req *req, const struct wf_packet *pkt)
{
	uint8_t value = wf_syndrome_value(pkt->u.aeth.syndrome);
	uint32_t lsn;

	if (!wf_syndrome_is_ack(pkt->u.aeth.syndrome))
		return;
	req->no_credit = value == WF_CREDITS_INVALID;
	if (req->no_credit)
		return;
	lsn = wf_psn_add(pkt->u.aeth.msn & WF_PSN_MASK, wf_credits_count(value));
	if (wf_psn_diff(lsn, req->lsn) > 0)
		req->lsn = lsn;
}

/* The work request of a PSN that a NAK of selective repeat names; NULL: none, or out of reach. */
static const struct wf_swqe *named_wqe(const struct wf_req *req, uint32_t psn)
{
	uint32_t index = req->cons;

	if (wf_psn_diff(psn, req->out.una) < 0 || wf_psn_diff(psn, req->out.next) >= 0 ||
	    wf_psn_diff(psn, req->out.una) > (int32_t)req->out.mask)
		return NULL;
	return wf_req_find(req, psn, &index);
}

/*
 * Selective repeat: the NAK names a packet that the responder keeps. Returns the bytes that were
 * not known to be received.
 */
static uint32_t take_sack(struct wf_qp *qp, const struct wf_packet *pkt)
{
	struct wf_req *req = &qp->req;
	uint32_t psn = pkt->u.aeth.msn & WF_PSN_MASK;
	const struct wf_swqe *wqe;

	if (pkt->u.aeth.syndrome != WF_NAK_PSN_SEQUENCE || !req->selective || req->rnr_wait)
		return 0;
	wqe = named_wqe(req, psn);
	if (wqe == NULL)
		return 0;
	if (wf_psn_diff(psn, req->out.high) >= 0 || wf_psn_diff(req->out.high, req->out.una) < 0)
		req->out.high = wf_psn_add(psn, 1);
	return wf_wr_is_answered(wqe->opcode) ? 0 : wf_sack_take(&req->out, psn);
}

static void rx_nak_seq(struct wf_qp *qp, wf_time now)
{
	struct wf_req *req = &qp->req;

	wf_hca_count(qp->hca, WF_CTR_PACKET_SEQ_ERR);
	if (req->rnr_wait || !outstanding(req))
		return;
	if (req->selective)
		resend_gaps(qp, wf_psn_add(req->out.high, WF_PSN_MASK), now);
	else if (!req->retrying)
		retry(qp, WF_CC_LOSS_NAK, req->out.next, now);
}

/* A packet was trimmed on its way: that one goes again. */
static void resend_trimmed(struct wf_qp *qp, uint32_t psn, wf_time now)
{
	struct wf_req *req = &qp->req;
	const struct wf_swqe *wqe;

	if (req->rnr_wait)
		return;
	wqe = named_wqe(req, psn);
	if (wqe == NULL || !wf_req_lose(qp, psn))
		return;
	qp->cc->ops->on_loss(qp->cc, WF_CC_LOSS_NAK, now);
	wf_qp_kick(qp);
}

/* Selective repeat: forgets that the packet at una was reported, so that it goes again. */
static void forget_una(struct wf_qp *qp)
{
	const struct wf_swqe *wqe =
		!qp->req.selective ? NULL : named_wqe(&qp->req, qp->req.out.una);

	if (wqe != NULL)
		wf_sack_forget(&qp->req.out, qp->req.out.una);
}

/* IBTA 9.7.5.2.8: wait, then ask again. */
static void rx_rnr(struct wf_qp *qp, const struct wf_packet *pkt, wf_time now)
{
	struct wf_req *req = &qp->req;
	uint8_t value = wf_syndrome_value(pkt->u.aeth.syndrome);

	wf_hca_count(qp->hca, WF_CTR_RNR_NAK_RETRY_ERR);
	if (req->rnr_wait || req->out.una != pkt->psn)
		return;
	if (req->rnr_left == 0) {
		wf_comp_fail(qp, WF_WC_RNR_RETRY_EXC_ERR, pkt->u.aeth.syndrome);
		return;
	}
	if (qp->attr.rnr_retry != 7)
		req->rnr_left--;
	req->retry_left = qp->attr.retry_cnt; /* the peer is there */
	req->waits = 0;
	forget_una(qp);
	wf_req_resend(qp, wf_psn_add(pkt->psn, 1));
	req->rnr_wait = true;
	wf_qp_set_timer(qp, now + wf_rnr_wait(value));
}

static void rx_nak_fatal(struct wf_qp *qp, const struct wf_packet *pkt)
{
	enum wf_wc_status status;

	/*
	 * The answer to an earlier READ was lost and will not come any more. The timer will tell.
	 */
	if (qp->req.out.una != pkt->psn || !outstanding(&qp->req))
		return;
	switch (pkt->u.aeth.syndrome) {
	case WF_NAK_INVALID_REQUEST:
		status = WF_WC_REM_INV_REQ_ERR;
		break;
	case WF_NAK_REMOTE_ACCESS:
		status = WF_WC_REM_ACCESS_ERR;
		break;
	case WF_NAK_REMOTE_OPERATION:
		status = WF_WC_REM_OP_ERR;
		break;
	case WF_NAK_INVALID_RD_REQUEST:
		status = WF_WC_REM_INV_RD_REQ_ERR;
		break;
	default:
		status = WF_WC_BAD_RESP_ERR;
		break;
	}
	wf_comp_fail(qp, status, pkt->u.aeth.syndrome);
}

static void rx_nak(struct wf_qp *qp, const struct wf_packet *pkt, wf_time now)
{
	uint8_t syndrome = pkt->u.aeth.syndrome;

	assert(wf_syndrome_is_rnr(syndrome) || wf_syndrome_is_nak(syndrome));
	if (wf_syndrome_is_rnr(syndrome))
		rx_rnr(qp, pkt, now);
	else if (syndrome == WF_NAK_PSN_SEQUENCE)
		rx_nak_seq(qp, now);
	else if (syndrome == WF_NAK_TRIMMED && qp->req.selective)
		resend_trimmed(qp, pkt->u.aeth.msn & WF_PSN_MASK, now);
	else
		rx_nak_fatal(qp, pkt);
}

/* The work request that psn can be an answer to; NULL: none. */
static struct wf_swqe *answered_wqe(const struct wf_qp *qp, const struct wf_packet *pkt)
{
	const struct wf_req *req = &qp->req;

	for (uint32_t i = req->cons; i != req->fresh; i++) {
		struct wf_swqe *wqe = wf_sq_at(req, i);

		if (wf_wr_is_local(wqe->opcode) || wf_psn_diff(wqe->last_psn, pkt->psn) < 0)
			continue;
		if (!wf_wr_is_answered(wqe->opcode))
			return NULL;
		return wf_op_is_read_resp(pkt->opcode) == wf_wr_is_read(wqe->opcode) ? wqe : NULL;
	}
	return NULL;
}

/* Puts the answer where the work request wants it. */
static enum wf_wc_status place_answer(const struct wf_qp *qp, struct wf_swqe *wqe,
                                      const struct wf_packet *pkt, const void *payload)
{
	uint32_t offset = (uint32_t)wf_psn_diff(pkt->psn, wqe->first_psn) << qp->mtu_shift;
	uint32_t length = wqe->length - offset;
	const void *from = payload;

	if (wf_op_is_atomic_ack(pkt->opcode)) {
		from = &pkt->u.aeth.orig;
	} else {
		if (length > wf_qp_mtu(qp))
			length = wf_qp_mtu(qp);
		if (pkt->length != length)
			return WF_WC_BAD_RESP_ERR;
	}
	if (wf_sg_scatter(qp, wf_swqe_sge(wqe), wqe->num_sge, offset, length, from) != 0)
		return WF_WC_LOC_PROT_ERR;
	return WF_WC_SUCCESS;
}

/* A READ response or an atomic acknowledge. Everything before it was executed. */
static void rx_answer(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload)
{
	struct wf_req *req = &qp->req;
	int32_t ahead = wf_psn_diff(pkt->psn, req->out.una);
	enum wf_wc_status status;
	struct wf_swqe *wqe;

	assert(ahead >= 0);
	if (ahead > 0 && (!req->selective || !wf_sack_reach(qp->hca, &req->out, pkt->psn)))
		return; /* check_implied() asks for what is missing */
	if (req->selective && wf_sack_received(&req->out, pkt->psn)) {
		wf_read_came(qp, pkt, false);
		return;
	}
	wqe = answered_wqe(qp, pkt);
	if (wqe == NULL) {
		if (ahead == 0)
			wf_comp_fail(qp, WF_WC_BAD_RESP_ERR, 0);
		return;
	}
	status = place_answer(qp, wqe, pkt, payload);
	if (status != WF_WC_SUCCESS) {
		wqe->status = (uint8_t)status;
		return;
	}
	raise_exec(req, wf_psn_add(pkt->psn, 1));
	if (wf_op_is_read_resp(pkt->opcode))
		wf_read_came(qp, pkt, false);
	if (req->selective)
		(void)wf_sack_take(&req->out, pkt->psn);
	else
		req->out.una = wf_psn_add(pkt->psn, 1);
}

/*
 * The newest sample that una has passed, and with it those before; with selective repeat, that of
 * the packet acknowledged last. 0: there is none.
 */
static wf_time take_rtt(struct wf_req *req, wf_time now)
{
	wf_time rtt = 0;

	if (req->selective)
		return req->out.newest_at == WF_TIME_NEVER ? 0 : now - req->out.newest_at;
	while (req->sample_tail != req->sample_head) {
		uint32_t slot = req->sample_tail & (WF_RTT_SAMPLES - 1);

		if (wf_psn_diff(req->out.una, req->sample[slot].psn) <= 0)
			break;
		rtt = now - req->sample[slot].at;
		req->sample_tail++;
	}
	return rtt;
}

/*
 * una has moved, from old, when psn was to be sent next: retries are counted anew, the timer starts
 * anew.
 */
static void progress(struct wf_qp *qp, uint32_t old, uint32_t psn, wf_time now)
{
	struct wf_req *req = &qp->req;
	wf_time at = WF_TIME_NEVER;

	req->retry_left = qp->attr.retry_cnt;
	req->rnr_left = qp->attr.rnr_retry;
	if (wf_unlikely(qp->backoff))
		wf_backoff_progress(req, old, psn);
	/* Until una has caught up with exec, retrying deals with what exec says. */
	req->retrying = req->retrying && wf_psn_diff(req->exec, req->out.una) > 0;
	req->resumed = true;
	req->rnr_wait = false;
	if (wf_psn_diff(req->out.una, req->out.high) > 0)
		req->out.high = req->out.una;
	if (wf_psn_diff(req->out.una, req->out.mark) > 0)
		req->out.mark = req->out.una;
	if (wf_psn_diff(req->out.una, req->out.doubt) > 0)
		req->out.doubt = req->out.una;
	if (req->timeout != 0 && outstanding(req))
		at = now + req->timeout;
	wf_qp_set_timer(qp, at);
	wf_sack_rest(qp->hca, &req->out);
}

void wf_comp_tell_cc(struct wf_qp *qp, const struct wf_packet *pkt,
                     const struct wf_hca_rx_extra *extra, uint32_t acked, wf_time rtt, wf_time now)
{
	uint8_t marks = wf_op_is_read_resp(pkt->opcode) && qp->read_acks
	                        ? WF_PACKET_BECN
	                        : WF_PACKET_BECN | WF_PACKET_CE;
	struct wf_cc_ack ack = {
		.now = now,
		.rtt = rtt,
		.inflight = wf_qp_inflight(qp),
		.bytes = acked,
		.ecn = (pkt->flags & marks) != 0,
		.telemetry = extra->telemetry,
	};

	if (now >= qp->cc->timer)
		qp->cc->ops->on_timer(qp->cc, now);
	qp->cc->ops->on_ack(qp->cc, &ack);
	if (qp->cc->repace)
		wf_qp_repace(qp, now);
	if (wf_req_pending(qp) || wf_answer_pending(qp))
		wf_qp_kick(qp);
}

/* Whether pkt counts even when it comes late: with selective repeat it names a packet. */
static bool names_psn(const struct wf_req *req, const struct wf_packet *pkt)
{
	return req->selective && wf_op_is_ack(pkt->opcode) &&
	       (pkt->u.aeth.syndrome == WF_NAK_PSN_SEQUENCE ||
	        pkt->u.aeth.syndrome == WF_NAK_TRIMMED);
}

/* Whether the syndrome of pkt is of a kind that the standard reserves: then it tells nothing. */
static bool is_reserved(const struct wf_packet *pkt)
{
	uint8_t syndrome = pkt->u.aeth.syndrome;

	return wf_op_is_ack(pkt->opcode) && !wf_syndrome_is_ack(syndrome) &&
	       !wf_syndrome_is_rnr(syndrome) && !wf_syndrome_is_nak(syndrome);
}

/* Keeps what a READ response brought for its sender, in place of an older echo not yet sent. */
static void take_echo(struct wf_req *req, const struct wf_packet *pkt,
                      const struct wf_hca_rx_extra *extra)
{
	if (extra->echo == 0 || !wf_op_is_read_resp(pkt->opcode))
		return;
	if (extra->spare != NULL)
		*extra->spare = req->echo;
	req->echo = extra->echo;
}

void wf_comp_rx(struct wf_qp *qp, const struct wf_packet *pkt, const struct wf_hca_rx_extra *extra,
                wf_time now)
{
	struct wf_req *req = &qp->req;
	uint32_t una = req->out.una, psn = req->psn;
	bool nak = false;
	uint32_t acked;

	if (wf_op_has_aeth(pkt->opcode))
		take_credits(req, pkt);
	if (wf_op_is_ack(pkt->opcode) && wf_syndrome_is_read(pkt->u.aeth.syndrome) &&
	    qp->read_acks) {
		wf_read_acked(qp, pkt, extra, now);
		return;
	}
	if (wf_unlikely(is_reserved(pkt))) {
		wf_hca_count(qp->hca, WF_CTR_RX_DISCARDS);
		return;
	}
	/* A ghost: it comes too late, or answers something that was never sent. */
	if ((wf_psn_diff(pkt->psn, una) < 0 && !names_psn(req, pkt)) ||
	    wf_psn_diff(pkt->psn, req->out.next) >= 0) {
		if (!req->no_credit && wf_req_pending(qp))
			wf_qp_kick(qp);
		if (wf_op_is_read_resp(pkt->opcode) && wf_psn_diff(pkt->psn, una) < 0)
			wf_read_came(qp, pkt, false);
		return;
	}
	take_echo(req, pkt, extra);
	req->out.newest_at = WF_TIME_NEVER;
	if (wf_op_is_ack(pkt->opcode)) {
		nak = !wf_syndrome_is_ack(pkt->u.aeth.syndrome);
		if (wf_psn_diff(pkt->psn, una) >= 0)
			raise_exec(req, wf_psn_add(pkt->psn, nak ? 0 : 1));
		acked = wf_comp_advance(qp);
		if (nak && qp->state != WF_QPS_ERR)
			acked += take_sack(qp, pkt);
	} else {
		raise_exec(req, pkt->psn);
		acked = wf_comp_advance(qp);
		if (qp->state != WF_QPS_ERR)
			rx_answer(qp, pkt, extra->payload);
		if (qp->state != WF_QPS_ERR)
			acked += wf_comp_advance(qp);
	}
	if (qp->state == WF_QPS_ERR)
		return;
	if (req->out.una != una)
		progress(qp, una, psn, now);
	if (req->out.una != una || acked != 0) {
		/* What a READ response says of the network is for its sender. */
		if (acked != 0 || !qp->read_acks || !wf_op_is_read_resp(pkt->opcode))
			wf_comp_tell_cc(qp, pkt, extra, acked, take_rtt(req, now), now);
		else if (wf_req_pending(qp))
			wf_qp_kick(qp);
	}
	if (nak)
		rx_nak(qp, pkt, now);
	check_implied(qp, pkt, now);
}

void wf_comp_trimmed(struct wf_qp *qp, const struct wf_packet *pkt, wf_time now)
{
	const struct wf_req *req = &qp->req;

	if (!wf_op_is_read_resp(pkt->opcode) || req->rnr_wait ||
	    wf_psn_diff(pkt->psn, req->out.next) >= 0)
		return;
	if (req->selective) {
		if (wf_psn_diff(pkt->psn, req->out.una) < 0 || answered_wqe(qp, pkt) != NULL)
			wf_read_came(qp, pkt, true);
	} else if (wf_psn_diff(pkt->psn, req->out.una) >= 0 && !req->retrying) {
		retry(qp, WF_CC_LOSS_NAK, req->out.next, now);
	}
}

static bool is_underway(const struct wf_qp *qp)
{
	const struct wf_hca_attr *attr = wf_hca_attr(qp->hca);

	return attr->underway != NULL && attr->underway(attr->underway_ctx, qp, qp->req.timeout);
}

void wf_comp_timer(struct wf_qp *qp, wf_time now)
{
	struct wf_req *req = &qp->req;

	if (qp->state != WF_QPS_RTS && qp->state != WF_QPS_SQD)
		return;
	if (req->rnr_wait) {
		req->rnr_wait = false;
		wf_qp_kick(qp);
		return;
	}
	if (!outstanding(req))
		return;
	if (is_underway(qp)) {
		wf_qp_set_timer(qp, now + req->timeout);
		return;
	}
	wf_hca_count(qp->hca, WF_CTR_LOCAL_ACK_TIMEOUT_ERR);
	if (qp->hca->attr.ports > 1)
		wf_lag_lost(qp);
	/* One packet at least goes again, to draw an answer. */
	forget_una(qp);
	retry(qp, WF_CC_LOSS_TIMEOUT, req->out.next, now);
}
