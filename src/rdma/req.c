/* SPDX-License-Identifier: Apache-2.0 */
/*
 * req.c - the requester: which request packet goes out next.
 *
 * wf_req_tx() sends what is missing first (selective repeat), then goes on at the front:
 *
 *	at(send) is      local    -> carry it out, next work request
 *	                 failed   -> nothing: it completes when it is the oldest
 *	                 not begun-> may it begin? give it PSNs
 *	                 begun    -> is there room? build its packet at psn
 */
#include <assert.h>
#include <string.h>

#include "rdma/backoff_priv.h"
#include "rdma/qp_flow.h"
#include "rdma/sg_priv.h"
#include "rdma/wr_priv.h"

/* What holds between any two calls. */
static void assert_req(const struct wf_qp *qp)
{
	const struct wf_req *req = &qp->req;

	assert(req->prod - req->cons <= req->mask + 1);
	assert(req->send - req->cons <= req->prod - req->cons);
	assert(req->fresh - req->cons <= req->prod - req->cons);
	assert(req->send - req->cons <= req->fresh - req->cons);
	assert(wf_psn_diff(req->psn, req->out.una) >= 0);
	assert(wf_psn_diff(req->out.next, req->psn) >= 0);
	assert(wf_psn_diff(req->out.next, req->exec) >= 0);
	assert(req->room >= 1 && req->room <= req->limit);
	assert(qp->backoff || (req->room == req->limit && req->waits == 0));
	assert(!req->selective || req->out.una != req->out.next ||
	       (req->out.inflight | req->out.n_lost) == 0);
	(void)req;
}

void wf_req_start(struct wf_qp *qp, uint32_t psn)
{
	struct wf_req *req = &qp->req;

	assert(psn <= WF_PSN_MASK);
	wf_sack_clear(qp->hca, &req->out);
	wf_sack_start(&req->out, psn);
	req->psn = req->exec = psn;
}

void wf_req_reset(struct wf_qp *qp)
{
	struct wf_req *req = &qp->req;

	req->cons = req->send = req->fresh = req->prod = 0;
	req->rtx_wqe = 0;
	req->ssn = req->lsn = 0;
	req->since = 0;
	req->rd_out = 0;
	req->no_credit = true;
	req->retrying = req->rnr_wait = req->drained = false;
	req->read_ack = req->ce = req->resumed = false;
	wf_qp_forget_echo(qp, &req->echo);
	req->sample_head = req->sample_tail = 0;
	wf_backoff_end(req);
	qp->has_slot = false;
	qp->next_tx = 0;
	qp->timer_at = WF_TIME_NEVER;
	wf_req_start(qp, 0);
}

static bool consumes_recv(uint8_t opcode)
{
	return opcode == WF_WR_SEND || opcode == WF_WR_SEND_WITH_IMM ||
	       opcode == WF_WR_SEND_WITH_INV || opcode == WF_WR_RDMA_WRITE_WITH_IMM;
}

/* Whether the work request at send, which has no PSNs yet, may have them. */
static bool may_begin(const struct wf_qp *qp, const struct wf_swqe *wqe)
{
	const struct wf_req *req = &qp->req;

	if (qp->state != WF_QPS_RTS)
		return false;
	if ((wqe->flags & WF_SEND_FENCE) != 0 && req->rd_out != 0)
		return false;
	return !wf_wr_is_answered(wqe->opcode) || req->rd_out < req->max_rd || req->max_rd == 0;
}

/* Gives it its PSNs. Returns false when it cannot be carried out: then its status says why. */
static bool begin(struct wf_qp *qp, struct wf_swqe *wqe)
{
	struct wf_req *req = &qp->req;
	uint32_t packets = wf_qp_packets(qp, wqe->length);

	assert(req->psn == req->out.next && req->send == req->fresh);
	if (wf_wr_is_answered(wqe->opcode)) {
		if (req->max_rd == 0) {
			wqe->status = WF_WC_LOC_QP_OP_ERR;
			return false;
		}
		req->rd_out++;
		if (wqe->opcode != WF_WR_RDMA_READ)
			packets = 1;
	}
	wqe->first_psn = req->psn;
	wqe->last_psn = wf_psn_add(req->psn, packets - 1);
	wqe->ssn = req->ssn = wf_psn_add(req->ssn, 1);
	req->fresh++;
	return true;
}

/*
 * Carries out a local operation when its turn has come. Invalidation waits until everything before
 * it is complete: a packet that has to be sent again still needs the key. Returns false when it has
 * to wait or failed.
 */
static bool run_local(struct wf_qp *qp, struct wf_swqe *wqe)
{
	struct wf_req *req = &qp->req;
	int ret;

	if (wqe->done)
		return true;
	if (!may_begin(qp, wqe))
		return false;
	if (wqe->opcode == WF_WR_LOCAL_INV) {
		if (req->cons != req->send)
			return false;
		ret = wf_region_invalidate(qp->hca, qp->pd, qp->qpn, wqe->imm);
		if (ret != 0)
			wqe->status = WF_WC_LOC_QP_OP_ERR;
	} else {
		const struct wf_swqe_bind *bind = wf_swqe_bind(wqe);

		ret = -1;
		if (bind->mr->key == bind->mr_key)
			ret = wf_mw_do_bind(bind->mw, wqe->rkey, bind->mr, wqe->addr, wqe->swap,
			                    bind->access, qp->pd, qp->qpn);
		if (ret != 0)
			wqe->status = WF_WC_MW_BIND_ERR;
	}
	if (ret != 0)
		return false;
	assert(req->fresh == req->send);
	req->fresh++;
	wqe->done = true;
	return true;
}

/* Whether the next packet of wqe fits the window, the limits and the peer's credits. */
static bool has_room(const struct wf_qp *qp, const struct wf_swqe *wqe)
{
	const struct wf_req *req = &qp->req;
	uint32_t out = (uint32_t)wf_psn_diff(req->psn, req->out.una);

	if (!qp->reliable)
		return true;
	if (out >= req->room)
		return false;
	/* If the window shrank and no packet in flight asks for an ACK, one more goes that does. */
	if (wf_qp_inflight(qp) + wf_qp_mtu(qp) > qp->cc->window && wf_qp_inflight(qp) != 0 &&
	    req->since < out && !wf_wr_is_answered(wqe->opcode))
		return false;
	/*
	 * IBTA 9.7.7.2: beyond the credits a single packet may be in flight, to learn of new ones.
	 */
	return req->no_credit || out == 0 || !consumes_recv(wqe->opcode) ||
	       wf_psn_diff(wqe->ssn, req->lsn) <= 0;
}

/* The operation of a packet of wqe. */
static enum wf_operation operation(const struct wf_swqe *wqe, bool first, bool last)
{
	switch ((enum wf_wr_opcode)wqe->opcode) {
	case WF_WR_RDMA_WRITE:
		return wf_operation_write(first, last, false);
	case WF_WR_RDMA_WRITE_WITH_IMM:
		return wf_operation_write(first, last, true);
	case WF_WR_SEND:
		return wf_operation_send(first, last, WF_OP_PLAIN);
	case WF_WR_SEND_WITH_IMM:
		return wf_operation_send(first, last, WF_OP_IMM);
	case WF_WR_SEND_WITH_INV:
		return wf_operation_send(first, last, WF_OP_INV);
	case WF_WR_RDMA_READ:
		return WF_OPERATION_READ_REQ;
	case WF_WR_ATOMIC_CMP_AND_SWP:
		return WF_OPERATION_CMP_SWAP;
	case WF_WR_ATOMIC_FETCH_AND_ADD:
		return WF_OPERATION_FETCH_ADD;
	case WF_WR_ATOMIC_WRITE:
		return WF_OPERATION_ATOMIC_WRITE;
	case WF_WR_LOCAL_INV:
	case WF_WR_BIND_MW:
	case WF_WR_OPCODES:
		break;
	}
	assert(false);
	return WF_OPERATION_SEND_ONLY;
}

/* A SEND or WRITE packet. Returns false when the memory cannot be read. */
static bool build_data(struct wf_qp *qp, struct wf_swqe *wqe, uint32_t psn, struct wf_packet *pkt,
                       void *payload)
{
	uint32_t offset = (uint32_t)wf_psn_diff(psn, wqe->first_psn) << qp->mtu_shift;
	uint32_t left = wqe->length - offset;
	bool last = psn == wqe->last_psn;
	uint32_t length = last ? left : wf_qp_mtu(qp);
	bool write = wqe->opcode <= WF_WR_RDMA_WRITE_WITH_IMM;

	wf_qp_fill(qp, wf_qp_op(qp, operation(wqe, offset == 0, last)), psn, pkt);
	wf_qp_set_length(qp, pkt, length);
	pkt->srqn = wqe->srqn;
	if (qp->init.tune.int_bytes != 0 && length != 0 && qp->reliable) {
		pkt->flags |= WF_PACKET_INT;
		pkt->size += qp->init.tune.int_bytes;
	}
	if (write && offset == 0) {
		pkt->u.reth.va = wqe->addr;
		pkt->u.reth.rkey = wqe->rkey;
		pkt->u.reth.dma_len = wqe->length;
	}
	if (last) {
		pkt->flags |= WF_PACKET_ACK_REQ;
		if (wqe->opcode != WF_WR_RDMA_WRITE && wqe->opcode != WF_WR_SEND)
			pkt->imm = wqe->imm;
		if ((wqe->flags & WF_SEND_SOLICITED) != 0 && wqe->opcode != WF_WR_RDMA_WRITE)
			pkt->flags |= WF_PACKET_SOLICITED;
	}
	return length == 0 ||
	       wf_sg_gather(qp, wqe, offset, length, wf_qp_place(qp, pkt, payload)) == 0;
}

static void build_atomic_write(struct wf_qp *qp, const struct wf_swqe *wqe, struct wf_packet *pkt,
                               void *payload)
{
	wf_qp_set_length(qp, pkt, sizeof(wqe->swap));
	pkt->u.reth.va = wqe->addr;
	pkt->u.reth.rkey = wqe->rkey;
	pkt->u.reth.dma_len = sizeof(wqe->swap);
	payload = wf_qp_place(qp, pkt, payload);
	if (payload != NULL)
		memcpy(payload, &wqe->swap, sizeof(wqe->swap));
}

/* The packet of wqe with that PSN. Returns false when it cannot be made: wqe->status says why. */
static bool build(struct wf_qp *qp, struct wf_swqe *wqe, uint32_t psn, struct wf_packet *pkt,
                  void *payload)
{
	uint32_t offset;

	if (!wf_wr_is_answered(wqe->opcode)) {
		if (wf_likely(build_data(qp, wqe, psn, pkt, payload)))
			return true;
		wqe->status = WF_WC_LOC_PROT_ERR;
		return false;
	}
	wf_qp_fill(qp, wf_qp_op(qp, operation(wqe, true, true)), psn, pkt);
	pkt->flags |= WF_PACKET_ACK_REQ;
	if (wqe->opcode == WF_WR_RDMA_READ) {
		pkt->srqn = wqe->srqn;
		/* A READ that is repeated asks from its first missing byte on. */
		offset = (uint32_t)wf_psn_diff(psn, wqe->first_psn) << qp->mtu_shift;
		pkt->u.reth.va = wqe->addr + offset;
		pkt->u.reth.rkey = wqe->rkey;
		pkt->u.reth.dma_len = wqe->length - offset;
		return true;
	}
	if (wqe->opcode == WF_WR_ATOMIC_WRITE) {
		build_atomic_write(qp, wqe, pkt, payload);
		return true;
	}
	pkt->atomic_va = wqe->addr;
	pkt->atomic_rkey = wqe->rkey;
	pkt->u.atomic.compare = wqe->compare_add;
	pkt->u.atomic.swap_add = wqe->swap;
	if (wqe->opcode == WF_WR_ATOMIC_FETCH_AND_ADD) {
		pkt->u.atomic.compare = 0;
		pkt->u.atomic.swap_add = wqe->compare_add;
	}
	return true;
}

/* A UD packet: its address is in the work request. */
static bool build_ud(struct wf_qp *qp, struct wf_swqe *wqe, uint32_t psn, struct wf_packet *pkt,
                     void *payload)
{
	if (wqe->length > wf_qp_mtu(qp)) {
		wqe->status = WF_WC_LOC_LEN_ERR;
		return false;
	}
	if (!build_data(qp, wqe, psn, pkt, payload)) {
		wqe->status = WF_WC_LOC_PROT_ERR;
		return false;
	}
	pkt->dst = wqe->ud.dest;
	pkt->qpn = wqe->ud.qpn;
	pkt->entropy = wqe->ud.entropy;
	pkt->cls = wqe->ud.cls & WF_PACKET_CLASS;
	pkt->input = wqe->ud.traffic_class;
	pkt->flags = (uint8_t)((pkt->flags & WF_PACKET_SOLICITED) | wqe->ud.ect);
	pkt->u.deth.qkey = wqe->ud.qkey;
	pkt->u.deth.src_qpn = qp->qpn;
	return true;
}

static void take_sample(struct wf_req *req, uint32_t psn, wf_time now)
{
	uint32_t slot = req->sample_head & (WF_RTT_SAMPLES - 1);

	if (req->sample_head - req->sample_tail == WF_RTT_SAMPLES)
		return;
	req->sample[slot].psn = psn;
	req->sample[slot].at = now;
	req->sample_head++;
}

/* Whether to ask for an ACK before the message's end. */
static bool wants_ack(const struct wf_qp *qp, const struct wf_swqe *wqe)
{
	const struct wf_req *req = &qp->req;
	uint32_t out = (uint32_t)wf_psn_diff(req->psn, req->out.una) + 1;

	if (qp->init.tune.ack_every != 0 && req->since + 1 >= qp->init.tune.ack_every)
		return true;
	return out >= req->room || (!req->no_credit && wf_psn_diff(wqe->ssn, req->lsn) > 0) ||
	       wf_qp_inflight(qp) + 2 * (uint64_t)wf_qp_mtu(qp) > qp->cc->window;
}

/* The bytes that a packet counts for in flight: none for READs and atomics. */
static uint32_t payload_of(const struct wf_swqe *wqe, const struct wf_packet *pkt)
{
	return wf_wr_is_answered(wqe->opcode) ? 0 : pkt->length;
}

/* Moves on after a packet at the front was built. */
static void sent_rc(struct wf_qp *qp, const struct wf_swqe *wqe, struct wf_packet *pkt, wf_time now)
{
	struct wf_req *req = &qp->req;
	uint32_t end = wqe->opcode == WF_WR_RDMA_READ ? wqe->last_psn : req->psn;
	/* The time of an answer that waits for a window says nothing of the way there. */
	bool timed = !qp->read_acks || !wf_wr_is_answered(wqe->opcode);

	if ((pkt->flags & WF_PACKET_ACK_REQ) == 0 && wants_ack(qp, wqe))
		pkt->flags |= WF_PACKET_ACK_REQ;
	if ((pkt->flags & WF_PACKET_ACK_REQ) != 0) {
		req->since = 0;
		/*
		 * A receiver that sent a NAK discards the first copies: the answer is to this one.
		 */
		if (!req->selective && timed && wf_psn_diff(req->psn, req->out.doubt) >= 0)
			take_sample(req, req->psn, now);
	} else {
		req->since++;
	}
	if (req->psn != req->out.next) {
		wf_hca_count(qp->hca, WF_CTR_TX_RETRANSMITS);
		wf_qp_tell(qp, WF_HCA_RETRANSMIT, now);
	}
	if (wf_unlikely(req->selective))
		wf_sack_sent(&req->out, req->psn, payload_of(wqe, pkt), false,
		             timed ? now : WF_TIME_NEVER);
	else
		req->out.inflight += payload_of(wqe, pkt);
	req->psn = wf_psn_add(end, 1);
	if (wf_psn_diff(req->psn, req->out.next) > 0)
		req->out.next = req->psn;
	if (end == wqe->last_psn)
		req->send++;
	if (qp->timer_at == WF_TIME_NEVER && req->timeout != 0)
		wf_qp_set_timer(qp, now + wf_backoff_wait(req));
}

/* Without acknowledgements, what is sent is done. */
static void sent_unreliable(struct wf_qp *qp, const struct wf_swqe *wqe, struct wf_packet *pkt)
{
	struct wf_req *req = &qp->req;
	bool last = req->psn == wqe->last_psn;

	pkt->flags &= (uint8_t)~WF_PACKET_ACK_REQ;
	req->psn = req->out.next = req->exec = wf_psn_add(req->psn, 1);
	if (last)
		req->send++;
	(void)wf_comp_advance(qp);
}

/* Completes a failed work request if it is the oldest. */
static void settle(struct wf_qp *qp)
{
	if (qp->req.cons == qp->req.send)
		(void)wf_comp_advance(qp);
}

/* The next packet at the front. */
static bool tx_front(struct wf_qp *qp, wf_time now, struct wf_packet *pkt, void *payload)
{
	struct wf_req *req = &qp->req;

	while (req->send != req->prod) {
		struct wf_swqe *wqe = wf_sq_at(req, req->send);

		if (wf_unlikely(wqe->status != WF_WC_SUCCESS))
			goto fail;
		if (wf_unlikely(wf_wr_is_local(wqe->opcode))) {
			if (!run_local(qp, wqe))
				goto fail;
			req->send++;
			if (req->cons + 1 == req->send)
				(void)wf_comp_advance(qp);
			continue;
		}
		if (req->send == req->fresh) {
			if (!may_begin(qp, wqe))
				return false;
			if (!begin(qp, wqe))
				goto fail;
		}
		if (!has_room(qp, wqe))
			return false;
		if (wf_unlikely(req->selective) && !wf_sack_reach(qp->hca, &req->out, req->psn)) {
			if (req->out.una != req->psn)
				return false; /* an acknowledgement makes room */
			wqe->status = WF_WC_LOC_QP_OP_ERR;
			goto fail;
		}
		if (wf_qp_is_ud(qp) ? !build_ud(qp, wqe, req->psn, pkt, payload)
		                    : !build(qp, wqe, req->psn, pkt, payload))
			goto fail;
		if (qp->reliable)
			sent_rc(qp, wqe, pkt, now);
		else
			sent_unreliable(qp, wqe, pkt);
		return true;
	}
	return false;

fail:
	settle(qp);
	return false;
}

struct wf_swqe *wf_req_find(const struct wf_req *req, uint32_t psn, uint32_t *index)
{
	for (; *index != req->fresh; (*index)++) {
		struct wf_swqe *wqe = wf_sq_at(req, *index);

		if (!wf_wr_is_local(wqe->opcode) && wf_psn_diff(wqe->last_psn, psn) >= 0)
			return wqe;
	}
	return NULL;
}

bool wf_req_lose(struct wf_qp *qp, uint32_t psn)
{
	struct wf_req *req = &qp->req;

	if (!wf_sack_lose(&req->out, psn))
		return false;
	if (req->out.rtx == psn)
		req->rtx_wqe = req->cons;
	return true;
}

uint32_t wf_req_lose_all(struct wf_qp *qp, uint32_t from, uint32_t end, bool again)
{
	struct wf_req *req = &qp->req;
	uint32_t limit = wf_psn_add(req->out.una, req->out.mask + 1);
	uint32_t index = req->cons, n = 0;

	if (wf_psn_diff(end, limit) > 0)
		end = limit;
	for (uint32_t psn = from; wf_psn_diff(end, psn) > 0; psn = wf_psn_add(psn, 1)) {
		const struct wf_swqe *wqe = wf_req_find(req, psn, &index);
		bool answered, lost;

		if (wqe == NULL)
			break;
		answered = wf_wr_is_answered(wqe->opcode);
		if (!again && !answered && wf_sack_was_repeated(&req->out, psn))
			continue;
		lost = wf_req_lose(qp, psn);
		n += lost;
		/* A READ is asked for again from its first missing byte to its end, at once. */
		if (answered && lost)
			psn = wqe->last_psn;
	}
	return n;
}

/* The work request of the first packet that is lost, or NULL. */
static struct wf_swqe *first_lost(struct wf_qp *qp, uint32_t *psn_p)
{
	struct wf_req *req = &qp->req;

	if (!wf_sack_next(&req->out, psn_p))
		return NULL;
	if ((int32_t)(req->rtx_wqe - req->cons) < 0)
		req->rtx_wqe = req->cons;
	return wf_req_find(req, *psn_p, &req->rtx_wqe);
}

/* Selective repeat: the first packet that is lost, as far as the congestion window allows. */
static bool tx_missing(struct wf_qp *qp, wf_time now, struct wf_packet *pkt, void *payload)
{
	struct wf_req *req = &qp->req;
	struct wf_swqe *wqe;
	uint32_t psn;

	for (;;) {
		wqe = first_lost(qp, &psn);
		if (wqe == NULL)
			return false;
		if (!wf_wr_is_answered(wqe->opcode) && wf_qp_inflight(qp) != 0 &&
		    wf_qp_inflight(qp) + wf_qp_mtu(qp) > qp->cc->window)
			return false;
		if (wqe->status == WF_WC_SUCCESS && build(qp, wqe, psn, pkt, payload))
			break;
		/* It cannot be sent: its work request fails when it is the oldest. */
		wf_sack_unlose(&req->out, psn, psn);
		if (req->rtx_wqe == req->cons) {
			(void)wf_comp_advance(qp);
			return false;
		}
	}
	wf_sack_sent(&req->out, psn, payload_of(wqe, pkt), true, now);
	if (wqe->opcode == WF_WR_RDMA_READ) {
		/* The repeated READ asks for all from there to its end. */
		wf_sack_unlose(&req->out, psn, wqe->last_psn);
		if (wf_psn_diff(wqe->last_psn, req->out.mark) >= 0)
			req->out.mark = wf_psn_add(wqe->last_psn, 1);
	}
	pkt->flags |= WF_PACKET_ACK_REQ;
	wf_hca_count(qp->hca, WF_CTR_TX_RETRANSMITS);
	wf_qp_tell(qp, WF_HCA_RETRANSMIT, now);
	if (qp->timer_at == WF_TIME_NEVER && req->timeout != 0)
		wf_qp_set_timer(qp, now + wf_backoff_wait(req));
	return true;
}

bool wf_req_tx(struct wf_qp *qp, wf_time now, struct wf_packet *pkt, void *payload)
{
	bool sent;

	assert_req(qp);
	if ((qp->state != WF_QPS_RTS && qp->state != WF_QPS_SQD) || qp->req.rnr_wait)
		return false;
	if (wf_unlikely(qp->req.out.n_lost != 0) && tx_missing(qp, now, pkt, payload))
		return true;
	sent = tx_front(qp, now, pkt, payload);
	assert_req(qp);
	return sent;
}

void wf_req_resend(struct wf_qp *qp, uint32_t end)
{
	struct wf_req *req = &qp->req;
	uint32_t index = req->cons;

	req->sample_tail = req->sample_head;
	if (req->selective) {
		(void)wf_req_lose_all(qp, req->out.una, end, true);
		if (wf_psn_diff(end, req->out.mark) > 0)
			req->out.mark = end;
	} else if (wf_req_find(req, req->out.una, &index) != NULL) {
		req->send = index;
		req->psn = req->out.una;
		req->out.inflight = 0;
	}
	wf_qp_kick(qp);
	assert_req(qp);
}
