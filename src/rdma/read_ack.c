/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_ack.c - READ responses are acknowledged, so that congestion control holds them too.
 *
 *	requester                                 responder
 *	    READ request  ----------------------->  job
 *	    <--------------------  responses, as many as the window lets out
 *	    came; came early; came trimmed  ----->  window, RTT, marks, telemetry;
 *	                                            a trimmed one is sent again
 *
 * InfiniBand's responder does not know what became of its responses: the requester asks again. That
 * does where the sender is slowed down by CNPs, but an algorithm that lives on acknowledgements
 * (HPCC, NSCC, Swift, DCTCP, TIMELY) needs them, and with trimming each packet has to be named. So
 * the requester sends what a responder sends for WRITEs: an ACK packet with a reserved kind of AETH
 * syndrome (0x40: it came, 0x41: it came trimmed), the first PSN that is missing in the PSN's place
 * and the one that is told of in the MSN's. It does so for each response that asks for it (the A
 * bit of the BTH), that comes early or comes trimmed. In Ultra Ethernet READ responses are packets
 * of the other direction with acknowledgements of their own, which is the same. Only when the
 * requester's timer runs out, or with go-back-N at a gap, the READ is asked for again from there:
 * the requester says with an ACK how far it came, and the responder's flight begins anew there.
 */
#include <assert.h>

#include "rdma/qp_flow.h"

void wf_read_came(struct wf_qp *qp, const struct wf_packet *pkt, bool trimmed)
{
	struct wf_flight *f = &qp->req.out;
	int32_t ahead = wf_psn_diff(pkt->psn, f->una);

	if (!qp->read_acks)
		return;
	if (qp->req.selective && (trimmed || ahead > 0) && ahead >= 0) {
		if (!wf_sack_reach(qp->hca, f, pkt->psn))
			return;
		/* A response that came whole before is still here if a copy comes trimmed. */
		wf_sack_note(f, pkt->psn,
		             trimmed && !wf_sack_received(f, pkt->psn) ? WF_SENT_CUT
		                                                       : WF_SENT_TELL);
	} else if (ahead < 0 || (pkt->flags & WF_PACKET_ACK_REQ) != 0) {
		qp->req.read_ack = true;
	}
	if (wf_read_ack_due(qp))
		wf_qp_kick_ack(qp);
}

void wf_read_make_ack(struct wf_qp *qp, struct wf_packet *pkt)
{
	const struct wf_qp_tune *tune = &qp->init.tune;
	struct wf_req *req = &qp->req;
	uint32_t psn = wf_psn_add(req->out.una, WF_PSN_MASK);
	uint8_t flag = WF_SENT_TELL;

	if (req->out.untold != 0)
		(void)wf_sack_told(&req->out, &psn, &flag);
	req->read_ack = false;
	wf_qp_fill(qp, wf_qp_op(qp, WF_OPERATION_ACK), req->out.una, pkt);
	pkt->u.aeth.syndrome = flag == WF_SENT_CUT ? WF_READ_TRIMMED : WF_READ_CAME;
	pkt->u.aeth.msn = psn;
	if (req->ce && tune->ecn_echo)
		pkt->flags |= WF_PACKET_BECN;
	req->ce = false;
	if (tune->ack_cls != 0)
		pkt->cls = tune->ack_cls & WF_PACKET_CLASS;
	if (req->echo != 0) {
		pkt->payload = req->echo;
		pkt->flags |= WF_PACKET_INT;
		pkt->size += tune->int_bytes;
		req->echo = 0;
	}
	wf_hca_count(qp->hca, WF_CTR_TX_ACKS);
}

bool wf_read_may_send(const struct wf_qp *qp)
{
	const struct wf_flight *f = &qp->resp.out;
	uint64_t inflight = wf_qp_inflight(qp);

	if (!qp->read_acks || inflight == 0 || inflight + wf_qp_mtu(qp) <= qp->cc->window)
		return true;
	/*
	 * If the window shrank and no response in flight asks for an ACK, one more goes that does.
	 */
	return f->una != f->next && qp->resp.since >= (uint32_t)wf_psn_diff(f->next, f->una);
}

void wf_read_sent(struct wf_qp *qp, struct wf_packet *pkt, bool again, wf_time now)
{
	const struct wf_qp_tune *tune = &qp->init.tune;
	struct wf_resp *resp = &qp->resp;
	struct wf_flight *f = &resp->out;
	uint32_t next = wf_psn_add(pkt->psn, 1);

	if (!qp->read_acks)
		return;
	if (f->una == f->next)
		wf_sack_start(f, pkt->psn);
	again = again || wf_psn_diff(f->next, pkt->psn) > 0;
	if (wf_psn_diff(pkt->psn, f->una) >= 0 && wf_sack_reach(qp->hca, f, pkt->psn)) {
		wf_sack_sent(f, pkt->psn, pkt->length, again, now);
		if (wf_psn_diff(next, f->next) > 0)
			f->next = next;
	}
	resp->since++;
	if (again || wf_op_ends(pkt->opcode) ||
	    (tune->ack_every != 0 && resp->since >= tune->ack_every) ||
	    wf_qp_inflight(qp) + wf_qp_mtu(qp) > qp->cc->window) {
		pkt->flags |= WF_PACKET_ACK_REQ;
		resp->since = 0;
	}
}

void wf_read_again(struct wf_qp *qp, uint32_t psn, uint32_t last_psn, wf_time now)
{
	struct wf_flight *f = &qp->resp.out;

	if (!qp->read_acks)
		return;
	/* With go-back-N the requester discards all that was sent after psn, of later READs too. */
	if (!qp->req.selective && wf_psn_diff(f->next, last_psn) > 1)
		last_psn = wf_psn_add(f->next, WF_PSN_MASK);
	wf_sack_recall(f, psn, last_psn);
	/* The requester asks again after a timeout: what comes may be of either copy. */
	if (wf_psn_diff(last_psn, f->doubt) >= 0)
		f->doubt = wf_psn_add(last_psn, 1);
	qp->cc->ops->on_loss(qp->cc, WF_CC_LOSS_NAK, now);
}

/* Responses that so many others overtook are lost and go again, once. */
static uint32_t lose_gaps(struct wf_qp *qp)
{
	struct wf_flight *f = &qp->resp.out;
	uint32_t psn = wf_psn_diff(f->mark, f->una) > 0 ? f->mark : f->una, n = 0;
	uint32_t end = wf_psn_add(f->high, WF_PSN_MASK - qp->init.tune.reorder);

	if (!qp->req.selective || wf_psn_diff(f->high, f->una) <= 0)
		return 0;
	for (; wf_psn_diff(end, psn) > 0; psn = wf_psn_add(psn, 1)) {
		f->mark = wf_psn_add(psn, 1);
		if (wf_sack_is_out(f, psn) && !wf_sack_was_repeated(f, psn))
			n += wf_sack_lose(f, psn);
	}
	return n;
}

void wf_read_acked(struct wf_qp *qp, const struct wf_packet *pkt,
                   const struct wf_hca_rx_extra *extra, wf_time now)
{
	struct wf_flight *f = &qp->resp.out;
	uint32_t named = pkt->u.aeth.msn & WF_PSN_MASK, end = pkt->psn, acked = 0, lost = 0;

	if (f->una == f->next)
		return;
	f->newest_at = WF_TIME_NEVER;
	if (wf_psn_diff(end, f->next) > 0)
		end = f->next;
	while (wf_psn_diff(end, f->una) > 0)
		acked += wf_sack_pass(f);
	if (wf_psn_diff(named, f->una) >= 0 && wf_psn_diff(named, f->next) < 0) {
		if (pkt->u.aeth.syndrome == WF_READ_TRIMMED) {
			lost += wf_sack_is_out(f, named) && wf_sack_lose(f, named);
		} else {
			acked += wf_sack_take(f, named);
			if (wf_psn_diff(named, f->high) >= 0)
				f->high = wf_psn_add(named, 1);
		}
	}
	lost += lose_gaps(qp);
	wf_sack_rest(qp->hca, f);
	if (acked != 0)
		wf_comp_tell_cc(qp, pkt, extra, acked,
		                f->newest_at == WF_TIME_NEVER ? 0 : now - f->newest_at, now);
	if (lost != 0)
		qp->cc->ops->on_loss(qp->cc, WF_CC_LOSS_NAK, now);
	if (wf_answer_pending(qp))
		wf_qp_kick(qp);
}
