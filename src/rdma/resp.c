/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resp.c - the responder: what a request packet does to memory, to the receive queue and to the
 * sender.
 *
 * A packet in order walks through these checks, each of one thing; the first that is not content
 * names the verdict (IBTA vol. 1, 9.7.4):
 *
 *	order -> rights -> length -> access -> recv -> execute -> go
 *	  |        |         |         |        |         |
 *	invalid request -----+     access error rnr    length (the receive is too small),
 *	                                               protection (of the receive's memory)
 *
 * A packet behind the expected one is a duplicate: acknowledged again, READs and atomics answered
 * again, nothing executed. One ahead is a gap: reported once (go-back-N) or kept (selective
 * repeat).
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "rdma/qp_flow.h"
#include "rdma/sg_priv.h"

enum verdict {
	GO,
	FORWARDED, /* it was handed on: what it completes, it completes elsewhere */
	INVALID,   /* NAK invalid request */
	ACCESS,    /* NAK remote access error */
	RNR,
	LENGTH,     /* does not fit the receive work request */
	PROTECTION, /* the receive work request's memory */
};

/* What holds between any two packets. */
static void assert_resp(const struct wf_qp *qp)
{
	const struct wf_resp *resp = &qp->resp;

	assert(resp->epsn <= WF_PSN_MASK && resp->msn <= WF_PSN_MASK);
	assert(resp->in_msg != WF_IN_SEND || resp->have_wqe);
	assert(resp->replays <= resp->jobs);
	assert(resp->untold <= resp->helds);
	(void)resp;
}

void wf_resp_reset(struct wf_qp *qp)
{
	struct wf_resp *resp = &qp->resp;

	resp->epsn = resp->msn = 0;
	resp->resid = resp->offset = 0;
	wf_qp_forget_echo(qp, &resp->echo);
	resp->in_msg = WF_IN_NONE;
	resp->ack = resp->nak_sent = resp->have_wqe = false;
	resp->comm_est = resp->ce = resp->cnp = resp->refused = false;
	resp->cnp_next = 0;
	resp->job_head = resp->jobs = resp->replays = 0;
	resp->res_next = 0;
	resp->since = 0;
	wf_sack_clear(qp->hca, &resp->out);
	wf_sack_start(&resp->out, 0);
	if (resp->res != NULL)
		memset(resp->res, 0, (resp->rd_mask + 1) * sizeof(*resp->res));
	wf_held_clear(qp);
	resp->n_early = 0;
	qp->rq.prod = qp->rq.cons = 0;
}

bool wf_resp_take_recv(struct wf_qp *qp)
{
	struct wf_resp *resp = &qp->resp;

	if (!resp->have_wqe)
		resp->have_wqe = qp->srq != NULL ? wf_srq_take(qp->srq, resp->wqe)
		                                 : wf_rq_take(&qp->rq, resp->wqe);
	return resp->have_wqe;
}

void wf_resp_complete(struct wf_qp *qp, enum wf_wc_status status, const struct wf_packet *pkt)
{
	struct wf_resp *resp = &qp->resp;
	struct wf_wc wc = {
		.wr_id = resp->wqe->wr_id,
		.status = status,
		.opcode = WF_WC_RECV,
		.byte_len = resp->offset,
		.qp_num = wf_qp_is_inlet(qp) ? qp->inlet : qp->qpn,
		.src_qp = qp->dest_qpn,
		.src = qp->dest,
		.pkey_index = qp->pkey_index,
		.sl = qp->cls,
		.time = qp->hca->now,
	};

	assert(resp->have_wqe);
	resp->have_wqe = false;
	if (pkt != NULL && wf_op_is_write(pkt->opcode))
		wc.opcode = WF_WC_RECV_RDMA_WITH_IMM;
	if (pkt != NULL && wf_op_has_imm(pkt->opcode)) {
		wc.imm = pkt->imm;
		wc.flags = WF_WC_WITH_IMM;
	} else if (pkt != NULL && wf_op_has_inv(pkt->opcode)) {
		wc.imm = pkt->imm;
		wc.flags = WF_WC_WITH_INV;
	}
	if (status != WF_WC_SUCCESS) {
		wf_hca_count(qp->hca, WF_CTR_RESP_CQE_ERROR);
		if (status == WF_WC_WR_FLUSH_ERR)
			wf_hca_count(qp->hca, WF_CTR_RESP_CQE_FLUSH_ERROR);
		else
			qp->why = (uint8_t)status;
	}
	wf_qp_complete(qp, qp->recv_cq, &wc,
	               pkt != NULL && (pkt->flags & WF_PACKET_SOLICITED) != 0);
}

void wf_resp_flush(struct wf_qp *qp)
{
	struct wf_resp *resp = &qp->resp;

	assert(qp->state == WF_QPS_ERR);
	resp->in_msg = WF_IN_NONE;
	resp->offset = 0;
	if (resp->have_wqe)
		wf_resp_complete(qp, WF_WC_WR_FLUSH_ERR, NULL);
	while (qp->srq == NULL && wf_rq_take(&qp->rq, resp->wqe)) {
		resp->have_wqe = true;
		wf_resp_complete(qp, WF_WC_WR_FLUSH_ERR, NULL);
	}
}

void wf_resp_refuse(struct wf_qp *qp, uint8_t syndrome, enum wf_wc_status status,
                    enum wf_event_type event)
{
	struct wf_resp *resp = &qp->resp;

	if (qp->reliable) {
		resp->ack = false;
		wf_answer_ack(qp, syndrome);
		resp->refused = true;
	}
	wf_qp_event(qp, event);
	resp->in_msg = WF_IN_NONE;
	if (resp->have_wqe && status != WF_WC_WR_FLUSH_ERR)
		wf_resp_complete(qp, status, NULL);
	wf_qp_to_error(qp);
}

/* A message starts after the one before has ended, and goes on with its own kind. */
static enum verdict check_order(const struct wf_qp *qp, const struct wf_packet *pkt)
{
	uint8_t kind = wf_op_is_send(pkt->opcode)    ? WF_IN_SEND
	               : wf_op_is_write(pkt->opcode) ? WF_IN_WRITE
	                                             : WF_IN_NONE;

	if (kind == WF_IN_NONE || wf_op_starts(pkt->opcode))
		return qp->resp.in_msg == WF_IN_NONE ? GO : INVALID;
	if (wf_unlikely(qp->resp.in_msg == WF_IN_FORWARD))
		return kind == WF_IN_SEND && pkt->srqn == qp->resp.srqn ? GO : INVALID;
	return qp->resp.in_msg == kind ? GO : INVALID;
}

/* The queue pair lets its peer do this at all. */
static enum verdict check_rights(const struct wf_qp *qp, const struct wf_packet *pkt)
{
	uint32_t need = 0;

	if (wf_op_is_write(pkt->opcode) || wf_op_is_atomic_write(pkt->opcode))
		need = WF_ACCESS_REMOTE_WRITE;
	else if (wf_op_is_read_req(pkt->opcode))
		need = WF_ACCESS_REMOTE_READ;
	else if (wf_op_is_atomic(pkt->opcode))
		need = WF_ACCESS_REMOTE_ATOMIC;
	return (qp->attr.qp_access_flags & need) == need ? GO : INVALID;
}

static enum verdict check_length(const struct wf_qp *qp, const struct wf_packet *pkt)
{
	uint32_t resid = qp->resp.resid;

	if (wf_op_is_atomic(pkt->opcode))
		return (pkt->atomic_va & 7) == 0 ? GO : INVALID;
	if (wf_op_is_read_req(pkt->opcode))
		return pkt->u.reth.dma_len <= UINT32_C(1) << 31 ? GO : INVALID;
	if (!wf_op_length_ok(pkt->opcode, pkt->length, wf_qp_mtu(qp)))
		return INVALID;
	if (wf_op_is_atomic_write(pkt->opcode))
		return pkt->u.reth.dma_len == pkt->length && (pkt->u.reth.va & 7) == 0 ? GO
		                                                                       : INVALID;
	if (!wf_op_is_write(pkt->opcode))
		return GO;
	if (wf_op_starts(pkt->opcode))
		resid = pkt->u.reth.dma_len;
	if (wf_op_ends(pkt->opcode))
		return pkt->length == resid ? GO : INVALID;
	return pkt->length < resid ? GO : INVALID;
}

/* The key opens all that the message will touch; an empty message touches nothing. */
static enum verdict check_access(const struct wf_qp *qp, const struct wf_packet *pkt,
                                 struct wf_region **region_p)
{
	uint64_t va = pkt->u.reth.va;
	uint64_t length = pkt->u.reth.dma_len;
	uint32_t rkey = pkt->u.reth.rkey;
	uint32_t need = WF_ACCESS_REMOTE_WRITE;

	if (wf_op_is_atomic(pkt->opcode)) {
		va = pkt->atomic_va;
		rkey = pkt->atomic_rkey;
		length = 8;
		need = WF_ACCESS_REMOTE_ATOMIC;
	} else if (wf_op_is_read_req(pkt->opcode)) {
		need = WF_ACCESS_REMOTE_READ;
	} else if (!wf_op_starts(pkt->opcode)) {
		va = qp->resp.va;
		rkey = qp->resp.rkey;
		length = pkt->length;
	}
	if (length == 0)
		return GO;
	*region_p = wf_region_check(qp->hca, qp->pd, qp->qpn, rkey, va, length, need, true);
	return *region_p != NULL ? GO : ACCESS;
}

static enum verdict execute_send(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload)
{
	struct wf_resp *resp = &qp->resp;

	if (wf_op_starts(pkt->opcode))
		resp->offset = 0;
	if (pkt->length > resp->wqe->length || resp->offset > resp->wqe->length - pkt->length)
		return LENGTH;
	if (wf_sg_scatter(qp, resp->wqe->sge, resp->wqe->num_sge, resp->offset, pkt->length,
	                  payload) != 0)
		return PROTECTION;
	if (wf_op_has_inv(pkt->opcode) &&
	    wf_region_invalidate(qp->hca, qp->pd, qp->qpn, pkt->imm) != 0)
		return ACCESS;
	resp->offset += pkt->length;
	resp->in_msg = wf_op_ends(pkt->opcode) ? WF_IN_NONE : WF_IN_SEND;
	return GO;
}

static enum verdict execute_write(struct wf_qp *qp, const struct wf_packet *pkt,
                                  const struct wf_region *region, const void *payload)
{
	struct wf_resp *resp = &qp->resp;

	if (wf_op_starts(pkt->opcode)) {
		resp->va = pkt->u.reth.va;
		resp->rkey = pkt->u.reth.rkey;
		resp->resid = pkt->u.reth.dma_len;
		resp->offset = 0;
		wf_hca_count(qp->hca, WF_CTR_RX_WRITE_REQUESTS);
	}
	if (region != NULL && payload != NULL) {
		char *to = wf_region_host(region, resp->va);

		if (to != NULL && wf_unlikely(!wf_qp_store(qp, to, payload, pkt->length)))
			return ACCESS;
	}
	resp->va += pkt->length;
	resp->resid -= pkt->length;
	resp->offset += pkt->length;
	resp->in_msg = wf_op_ends(pkt->opcode) ? WF_IN_NONE : WF_IN_WRITE;
	return GO;
}

static void remember(struct wf_resp *resp, const struct wf_res *res)
{
	/* The ring holds as many as the peer may have in flight. */
	resp->res[resp->res_next++ & resp->rd_mask] = *res;
}

static enum verdict execute_read(struct wf_qp *qp, const struct wf_packet *pkt)
{
	struct wf_resp *resp = &qp->resp;
	uint32_t packets = wf_qp_packets(qp, pkt->u.reth.dma_len);
	struct wf_job job = {
		.va = pkt->u.reth.va,
		.rkey = pkt->u.reth.rkey,
		.left = pkt->u.reth.dma_len,
		.psn = pkt->psn,
		.last_psn = wf_psn_add(pkt->psn, packets - 1),
		.msn = wf_psn_add(resp->msn, 1),
	};
	struct wf_res res = {
		.first_psn = job.psn,
		.last_psn = job.last_psn,
		.value = job.va,
		.rkey = job.rkey,
		.length = job.left,
	};

	if (!wf_answer_add(qp, &job))
		return INVALID;
	remember(resp, &res);
	/* One less, since the common path adds one. */
	resp->epsn = wf_psn_add(resp->epsn, packets - 1);
	if (wf_unlikely(resp->helds != 0))
		wf_held_drop_passed(resp, wf_psn_add(resp->epsn, 1));
	wf_hca_count(qp->hca, WF_CTR_RX_READ_REQUESTS);
	return GO;
}

/* Stores the value before the operation. Returns false where the memory is not there. */
static bool do_atomic(const struct wf_qp *qp, const struct wf_packet *pkt,
                      const struct wf_region *region, uint64_t *orig_p)
{
	char *at = wf_region_host(region, pkt->atomic_va);
	uint64_t value;

	*orig_p = 0;
	if (at == NULL)
		return true;
	if (!wf_qp_fetch(qp, orig_p, at, sizeof(*orig_p)))
		return false;
	value = *orig_p;
	if (wf_op_is_fetch_add(pkt->opcode))
		value += pkt->u.atomic.swap_add;
	else if (value == pkt->u.atomic.compare)
		value = pkt->u.atomic.swap_add;
	return wf_qp_store(qp, at, &value, sizeof(value));
}

static enum verdict execute_atomic(struct wf_qp *qp, const struct wf_packet *pkt,
                                   const struct wf_region *region)
{
	struct wf_resp *resp = &qp->resp;
	struct wf_job job = {
		.psn = pkt->psn,
		.last_psn = pkt->psn,
		.msn = wf_psn_add(resp->msn, 1),
		.atomic = true,
	};
	struct wf_res res = { .first_psn = pkt->psn, .last_psn = pkt->psn, .atomic = true };

	if (resp->jobs - resp->replays >= resp->max_rd)
		return INVALID;
	if (!do_atomic(qp, pkt, region, &res.value))
		return ACCESS;
	job.va = res.value;
	if (!wf_answer_add(qp, &job))
		return INVALID;
	remember(resp, &res);
	wf_hca_count(qp->hca, WF_CTR_RX_ATOMIC_REQUESTS);
	return GO;
}

static enum verdict execute_atomic_write(struct wf_qp *qp, const struct wf_packet *pkt,
                                         const struct wf_region *region, const void *payload)
{
	struct wf_resp *resp = &qp->resp;
	char *to = wf_region_host(region, pkt->u.reth.va);
	struct wf_job job = {
		.psn = pkt->psn,
		.last_psn = pkt->psn,
		.msn = wf_psn_add(resp->msn, 1),
	};
	struct wf_res res = { .first_psn = pkt->psn, .last_psn = pkt->psn };

	if (resp->jobs - resp->replays >= resp->max_rd)
		return INVALID;
	if (to != NULL && payload != NULL && !wf_qp_store(qp, to, payload, pkt->length))
		return ACCESS;
	if (!wf_answer_add(qp, &job))
		return INVALID;
	remember(resp, &res);
	wf_hca_count(qp->hca, WF_CTR_RX_ATOMIC_REQUESTS);
	return GO;
}

static enum verdict execute(struct wf_qp *qp, const struct wf_packet *pkt,
                            const struct wf_region *region, const void *payload)
{
	if (wf_op_is_write(pkt->opcode))
		return execute_write(qp, pkt, region, payload);
	if (wf_op_is_send(pkt->opcode))
		return execute_send(qp, pkt, payload);
	if (wf_op_is_read_req(pkt->opcode))
		return execute_read(qp, pkt);
	if (wf_op_is_atomic_write(pkt->opcode))
		return execute_atomic_write(qp, pkt, region, payload);
	return execute_atomic(qp, pkt, region);
}

/* XRC: the packet is for no queue of this adapter. One of another may be in the domain. */
static enum verdict forward(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload)
{
	const struct wf_hca_attr *attr = &qp->hca->attr;
	struct wf_resp *resp = &qp->resp;
	enum wf_forward done;

	/* A message is for one queue, all of it. */
	if (attr->forward == NULL || wf_qp_is_inlet(qp) || !wf_op_is_send(pkt->opcode) ||
	    wf_op_has_inv(pkt->opcode) || resp->in_msg == WF_IN_SEND || check_length(qp, pkt) != GO)
		return INVALID;
	done = attr->forward(attr->forward_ctx, qp, pkt, payload);
	if (done != WF_FORWARD_DONE)
		return done == WF_FORWARD_LATER ? RNR : INVALID;
	resp->srqn = pkt->srqn;
	resp->in_msg = wf_op_ends(pkt->opcode) ? WF_IN_NONE : WF_IN_FORWARD;
	return FORWARDED;
}

static enum verdict judge(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload)
{
	struct wf_region *region = NULL;
	enum verdict verdict = check_order(qp, pkt);

	if (verdict == GO && wf_unlikely(wf_qp_is_xrc(qp)) &&
	    (qp->resp.in_msg == WF_IN_FORWARD || !wf_xrc_aim(qp, pkt)))
		return forward(qp, pkt, payload);
	if (verdict == GO)
		verdict = check_rights(qp, pkt);
	if (verdict == GO && wf_likely(!wf_qp_is_inlet(qp)))
		verdict = check_length(qp, pkt);
	if (verdict == GO && !wf_op_is_send(pkt->opcode))
		verdict = check_access(qp, pkt, &region);
	if (verdict == GO && wf_op_takes_recv(pkt->opcode) && !wf_resp_take_recv(qp))
		verdict = RNR;
	if (verdict == GO)
		verdict = execute(qp, pkt, region, payload);
	return verdict;
}

/* Does what every executed packet needs besides: PSN, MSN, completion, acknowledgement. */
static void went(struct wf_qp *qp, const struct wf_packet *pkt, bool here)
{
	struct wf_resp *resp = &qp->resp;

	resp->epsn = wf_psn_add(resp->epsn, 1);
	resp->nak_sent = false;
	/* A NAK that was not sent yet is out of date; what it acknowledged stays so. */
	if (resp->ack)
		resp->syndrome = WF_SYNDROME_ACK;
	if (wf_op_ends(pkt->opcode)) {
		resp->msn = wf_psn_add(resp->msn, 1);
		if (wf_op_is_write(pkt->opcode))
			wf_hca_count(qp->hca, WF_CTR_RX_WRITES);
		if (wf_unlikely(resp->held_mask != 0))
			wf_held_rest(qp);
	}
	if ((pkt->flags & WF_PACKET_ACK_REQ) != 0 && !wf_op_is_answered(pkt->opcode))
		wf_answer_ack(qp, WF_SYNDROME_ACK);
	if (wf_op_completes_recv(pkt->opcode) && here)
		wf_resp_complete(qp, WF_WC_SUCCESS, pkt);
}

/* A packet with an error that ends the queue pair. */
static void refuse(struct wf_qp *qp, enum verdict verdict, const struct wf_packet *pkt)
{
	switch (verdict) {
	case INVALID:
		wf_resp_refuse(qp, WF_NAK_INVALID_REQUEST, WF_WC_REM_INV_REQ_ERR,
		               WF_EVENT_QP_REQ_ERR);
		break;
	case ACCESS:
		wf_hca_count(qp->hca, WF_CTR_RESP_REMOTE_ACCESS_ERRORS);
		/* The receive of its immediate data tells the program. */
		if (wf_op_is_write(pkt->opcode) && wf_op_has_imm(pkt->opcode))
			(void)wf_resp_take_recv(qp);
		wf_resp_refuse(qp, WF_NAK_REMOTE_ACCESS, WF_WC_LOC_ACCESS_ERR,
		               WF_EVENT_QP_ACCESS_ERR);
		break;
	case LENGTH:
		wf_hca_count(qp->hca, WF_CTR_RESP_LOCAL_LENGTH_ERROR);
		wf_resp_refuse(qp, WF_NAK_INVALID_REQUEST, WF_WC_LOC_LEN_ERR, WF_EVENT_QP_REQ_ERR);
		break;
	case PROTECTION:
		wf_resp_refuse(qp, WF_NAK_REMOTE_OPERATION, WF_WC_LOC_PROT_ERR, WF_EVENT_QP_FATAL);
		break;
	case GO:
	case FORWARDED:
	case RNR:
		assert(false);
		break;
	}
}

static void in_order(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload)
{
	enum verdict verdict = judge(qp, pkt, payload);

	if (wf_likely(verdict == GO || verdict == FORWARDED)) {
		went(qp, pkt, verdict == GO);
	} else if (verdict == RNR) {
		wf_hca_count(qp->hca, WF_CTR_OUT_OF_BUFFER);
		/* The packets in flight behind it draw no NAK of their own. */
		qp->resp.nak_sent = true;
		wf_answer_ack(qp, wf_syndrome_make(WF_SYNDROME_RNR, qp->attr.min_rnr_timer));
	} else {
		refuse(qp, verdict, pkt);
	}
}

int wf_resp_take(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload)
{
	enum verdict verdict;

	/* Who received it has begun anew, and the rest of the last message will not come. */
	if (wf_op_starts(pkt->opcode) && qp->resp.in_msg != WF_IN_NONE) {
		wf_resp_complete(qp, WF_WC_WR_FLUSH_ERR, NULL);
		qp->resp.in_msg = WF_IN_NONE;
	}
	verdict = judge(qp, pkt, payload);
	assert(wf_qp_is_inlet(qp) && verdict != FORWARDED);
	if (verdict == RNR)
		return -EAGAIN;
	if (verdict == GO) {
		if (wf_op_completes_recv(pkt->opcode))
			wf_resp_complete(qp, WF_WC_SUCCESS, pkt);
		return 0;
	}
	/* The sender has been told that all is well; whose queue it is, is told what is not. */
	if (qp->resp.have_wqe)
		wf_resp_complete(qp, verdict == LENGTH ? WF_WC_LOC_LEN_ERR : WF_WC_LOC_PROT_ERR,
		                 pkt);
	qp->resp.in_msg = WF_IN_NONE;
	return -EINVAL;
}

const struct wf_res *wf_resp_recall(const struct wf_resp *resp, uint32_t psn, bool atomic)
{
	for (uint32_t i = 0; i < resp->max_rd && i < resp->res_next; i++) {
		const struct wf_res *res = &resp->res[(resp->res_next - 1 - i) & resp->rd_mask];

		if (res->atomic == atomic && wf_psn_diff(psn, res->first_psn) >= 0 &&
		    wf_psn_diff(res->last_psn, psn) >= 0)
			return res;
	}
	return NULL;
}

/* READs and atomics that are asked for again are answered again. */
static void replay(struct wf_qp *qp, const struct wf_packet *pkt)
{
	struct wf_resp *resp = &qp->resp;
	bool atomic = wf_op_is_atomic(pkt->opcode);
	const struct wf_res *res = wf_resp_recall(resp, pkt->psn, atomic);
	struct wf_job job = { .psn = pkt->psn, .msn = resp->msn, .atomic = atomic, .replay = true };
	uint64_t skip;

	if (res == NULL)
		return;
	job.va = res->value;
	job.last_psn = res->last_psn;
	if (wf_op_is_read_req(pkt->opcode)) {
		/* It may begin anywhere in the message and end with it, but ask for nothing new. */
		skip = (uint64_t)wf_psn_diff(pkt->psn, res->first_psn) << qp->mtu_shift;
		job.va += skip;
		job.rkey = res->rkey;
		job.left = skip < res->length ? res->length - (uint32_t)skip : 0;
		if (pkt->u.reth.va != job.va || pkt->u.reth.dma_len != job.left ||
		    pkt->u.reth.rkey != job.rkey)
			return;
	} else if (!atomic && res->first_psn != res->last_psn) {
		return; /* it was no ATOMIC WRITE */
	}
	if (wf_answer_again(qp, &job) && wf_op_is_read_req(pkt->opcode))
		wf_read_again(qp, job.psn, job.last_psn, qp->hca->now);
}

static void duplicate(struct wf_qp *qp, const struct wf_packet *pkt)
{
	wf_hca_count(qp->hca, WF_CTR_DUPLICATE_REQUEST);
	if (wf_op_is_answered(pkt->opcode))
		replay(qp, pkt);
	else
		wf_answer_ack(qp, WF_SYNDROME_ACK);
}

static void gap(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload)
{
	wf_hca_count(qp->hca, WF_CTR_OUT_OF_SEQUENCE);
	if (qp->req.selective) {
		wf_held_add(qp, pkt, payload);
	} else if (!qp->resp.nak_sent) {
		qp->resp.nak_sent = true;
		wf_answer_ack(qp, WF_NAK_PSN_SEQUENCE);
	}
}

static void rx_rc(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload)
{
	int32_t ahead = wf_psn_diff(pkt->psn, qp->resp.epsn);
	struct wf_held *held;

	if (wf_unlikely(ahead < 0)) {
		duplicate(qp, pkt);
		return;
	}
	if (wf_unlikely(ahead > 0)) {
		gap(qp, pkt, payload);
		return;
	}
	in_order(qp, pkt, payload);
	while (qp->state != WF_QPS_ERR && (held = wf_held_take(qp, &payload)) != NULL) {
		struct wf_packet copy = held->pkt;

		in_order(qp, &copy, payload);
	}
}

void wf_resp_trimmed(struct wf_qp *qp, const struct wf_packet *pkt)
{
	if (wf_psn_diff(pkt->psn, qp->resp.epsn) < 0)
		wf_answer_ack(qp, WF_SYNDROME_ACK); /* a copy of what came before */
	else if (qp->req.selective)
		wf_held_trim(qp, pkt->psn);
	else
		gap(qp, pkt, NULL);
}

/* IBTA 9.8.2: a message with a packet missing is dropped whole; the next one starts anew. */
static void rx_uc(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload)
{
	struct wf_resp *resp = &qp->resp;
	enum verdict verdict;

	if (pkt->psn != resp->epsn) {
		wf_hca_count(qp->hca, WF_CTR_OUT_OF_SEQUENCE);
		resp->in_msg = WF_IN_NONE;
	}
	resp->epsn = pkt->psn;
	if (wf_op_starts(pkt->opcode))
		resp->in_msg = WF_IN_NONE;
	else if (resp->in_msg == WF_IN_NONE)
		goto next;
	verdict = judge(qp, pkt, payload);
	switch (verdict) {
	case GO:
		if (wf_op_completes_recv(pkt->opcode))
			wf_resp_complete(qp, WF_WC_SUCCESS, pkt);
		break;
	case RNR:
		wf_hca_count(qp->hca, WF_CTR_OUT_OF_BUFFER);
		resp->in_msg = WF_IN_NONE;
		break;
	case INVALID:
	case ACCESS:
		wf_hca_count(qp->hca, WF_CTR_RX_DISCARDS);
		resp->in_msg = WF_IN_NONE;
		break;
	case LENGTH:
	case PROTECTION:
		refuse(qp, verdict, pkt);
		break;
	case FORWARDED: /* XRC is reliable */
		assert(false);
		break;
	}
next:
	resp->epsn = wf_psn_add(pkt->psn, 1);
}

void wf_resp_rx(struct wf_qp *qp, const struct wf_packet *pkt, const struct wf_hca_rx_extra *extra,
                wf_time now)
{
	struct wf_resp *resp = &qp->resp;

	(void)now;
	assert_resp(qp);
	if (wf_unlikely(qp->state == WF_QPS_RTR) && !resp->comm_est) {
		resp->comm_est = true;
		wf_qp_event(qp, WF_EVENT_COMM_EST);
	}
	if (extra->echo != 0) {
		if (extra->spare != NULL)
			*extra->spare = resp->echo;
		resp->echo = extra->echo;
	}
	if (wf_likely(qp->reliable))
		rx_rc(qp, pkt, extra->payload);
	else
		rx_uc(qp, pkt, extra->payload);
	assert_resp(qp);
}
