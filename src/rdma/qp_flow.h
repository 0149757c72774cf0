/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp_flow.h - what the parts of a queue pair ask of each other, for src/rdma only.
 *
 *	hca.c  ->  comp.c   responses, timers          req.c, resp.c  ->  sg.c     memory
 *	       ->  resp.c   requests, their answers    all            ->  qp.c     errors, turns
 *	       ->  req.c    requests to send           req.c          ->  comp.c   completions
 */
#ifndef WF_RDMA_QP_FLOW_H
#define WF_RDMA_QP_FLOW_H

#include "rdma/answer_priv.h"
#include "rdma/qp_priv.h"
#include "wire/size.h"

static inline bool wf_qp_is_xrc(const struct wf_qp *qp)
{
	return qp->service == WF_SERVICE_XRC;
}

/* It takes in what another adapter's queue pair received (xrc.c). */
static inline bool wf_qp_is_inlet(const struct wf_qp *qp)
{
	return wf_qp_is_xrc(qp) && qp->inlet != 0;
}

/* The opcode of an operation of its service. */
static inline uint8_t wf_qp_op(const struct wf_qp *qp, enum wf_operation operation)
{
	return wf_opcode(qp->service, operation);
}

/* qp.c */

/* Lets wf_hca_tx() look at qp; does nothing where it already will. */
void wf_qp_kick(struct wf_qp *qp);

/* The same for acknowledgements and CNPs, which do not wait for pacing. */
void wf_qp_kick_ack(struct wf_qp *qp);

/* The rate has changed, and what is left of the wait changes with it (cc->repace). */
void wf_qp_repace(struct wf_qp *qp, wf_time now);

/* The timer of qp is due at at, WF_TIME_NEVER: not at all. */
void wf_qp_set_timer(struct wf_qp *qp, wf_time at);

/* Brings what packets are made of in line with the attributes that say where they go. */
void wf_qp_set_path(struct wf_qp *qp);

/* Moves to ERR and flushes both queues. A NAK that waits is still sent. */
void wf_qp_to_error(struct wf_qp *qp);

/* Tells whoever watches the adapter: see wf_hca_watch(). */
void wf_qp_tell(const struct wf_qp *qp, enum wf_hca_note note, wf_time now);

/* Adds a completion; a queue that overflows ends the queue pair. */
void wf_qp_complete(struct wf_qp *qp, struct wf_cq *cq, const struct wf_wc *wc, bool solicited);

/* Takes qp out of every list and heap. */
void wf_qp_unschedule(struct wf_qp *qp);

/* Raises an event about qp. */
void wf_qp_event(struct wf_qp *qp, enum wf_event_type type);

/* Fills in what all packets of a connected queue pair have in common, with no payload. */
void wf_qp_fill(const struct wf_qp *qp, uint8_t opcode, uint32_t psn, struct wf_packet *pkt);

/* Sets length and size of a packet whose opcode is set. */
static inline void wf_qp_set_length(const struct wf_qp *qp, struct wf_packet *pkt, uint32_t length)
{
	uint32_t size = (uint32_t)qp->hca->attr.overhead + wf_op_header_len(pkt->opcode) + length +
	                wf_size_pad(length);

	/* On Ethernet an empty SEND is padded. */
	if (wf_unlikely(size < WF_SIZE_ETH_MIN) && qp->hca->attr.roce)
		size = WF_SIZE_ETH_MIN;
	pkt->length = (uint16_t)length;
	pkt->size = (uint16_t)size;
}

/* req.c */

/* The next request packet. Returns false when none can be sent now. */
bool wf_req_tx(struct wf_qp *qp, wf_time now, struct wf_packet *pkt, void *payload);

/* Whether there is anything that wf_req_tx() might send; it errs on the side of true. */
static inline bool wf_req_pending(const struct wf_qp *qp)
{
	const struct wf_req *req = &qp->req;

	return req->send != req->prod || req->out.n_lost != 0;
}

/* Sends again from una on (go-back-N), or what is missing of [una, end) (selective repeat). */
void wf_req_resend(struct wf_qp *qp, uint32_t end);

/* The work request that holds psn, which was sent; *index is where to start, and is moved there. */
struct wf_swqe *wf_req_find(const struct wf_req *req, uint32_t psn, uint32_t *index);

/* Forgets everything that was posted. */
void wf_req_reset(struct wf_qp *qp);

/* Tells the driver that an echo will not come out, and clears it. */
void wf_qp_forget_echo(const struct wf_qp *qp, uint32_t *echo_p);

/* The first PSN is psn. */
void wf_req_start(struct wf_qp *qp, uint32_t psn);

/* Marks psn as lost, unless it was received. Returns whether it was not known to be. */
bool wf_req_lose(struct wf_qp *qp, uint32_t psn);

/*
 * Marks as lost all of [from, end) that was not received; with again, also what was sent more than
 * once already. Returns how many were not known to be lost.
 */
uint32_t wf_req_lose_all(struct wf_qp *qp, uint32_t from, uint32_t end, bool again);

/* comp.c */

/* A response packet: ACK, NAK, READ response, atomic acknowledge. */
void wf_comp_rx(struct wf_qp *qp, const struct wf_packet *pkt, const struct wf_hca_rx_extra *extra,
                wf_time now);

/* What is left of a response that was trimmed on its way. */
void wf_comp_trimmed(struct wf_qp *qp, const struct wf_packet *pkt, wf_time now);

/*
 * Tells congestion control of acked bytes, of what pkt brought, and of rtt (0: not known). Then the
 * queue pair may be able to send.
 */
void wf_comp_tell_cc(struct wf_qp *qp, const struct wf_packet *pkt,
                     const struct wf_hca_rx_extra *extra, uint32_t acked, wf_time rtt, wf_time now);

/* The timer is due: an answer took too long, or the RNR wait is over. */
void wf_comp_timer(struct wf_qp *qp, wf_time now);

/*
 * Completes from cons on what is done. With a failed work request at cons: completes it with its
 * error, and the queue pair with it. Returns how many bytes were newly acknowledged.
 */
uint32_t wf_comp_advance(struct wf_qp *qp);

/* Completes the work request at cons with an error: RC goes to ERR, UC and UD to SQE. */
void wf_comp_fail(struct wf_qp *qp, enum wf_wc_status status, uint8_t syndrome);

/* Completes all of the send queue with WR_FLUSH_ERR. */
void wf_comp_flush(struct wf_qp *qp);

/* Raises SQ_DRAINED where it is due. */
void wf_comp_drained(struct wf_qp *qp);

/* resp.c */

/* A request packet. */
void wf_resp_rx(struct wf_qp *qp, const struct wf_packet *pkt, const struct wf_hca_rx_extra *extra,
                wf_time now);

/* What is left of a request that was trimmed on its way. */
void wf_resp_trimmed(struct wf_qp *qp, const struct wf_packet *pkt);

/* The READ or atomic that psn is a part of, if it is remembered; NULL otherwise. */
const struct wf_res *wf_resp_recall(const struct wf_resp *resp, uint32_t psn, bool atomic);

/* Completes what was being received and all that waits with WR_FLUSH_ERR. */
void wf_resp_flush(struct wf_qp *qp);

/* Forgets everything. */
void wf_resp_reset(struct wf_qp *qp);

/* Takes a receive work request into resp.wqe unless one is there. Returns false: none waits. */
bool wf_resp_take_recv(struct wf_qp *qp);

/* Completes the receive work request in progress. pkt: the packet that did it. */
void wf_resp_complete(struct wf_qp *qp, enum wf_wc_status status, const struct wf_packet *pkt);

/*
 * Refuses the packet with psn: a NAK of that syndrome, the receive work request in progress (if
 * any) completed with status, the queue pair in ERR, and event raised.
 */
void wf_resp_refuse(struct wf_qp *qp, uint8_t syndrome, enum wf_wc_status status,
                    enum wf_event_type event);

/*
 * A packet for an inlet (xrc.c), in the order of the queue pair that received it. Returns 0,
 * -EAGAIN or -EINVAL, as wf_xrc_take().
 */
int wf_resp_take(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload) WF_MUST_USE;

/* held.c: selective repeat */

/* A packet ahead of epsn. Keeps it where possible. */
void wf_held_add(struct wf_qp *qp, const struct wf_packet *pkt, const void *payload);

/* Removes the packet with the expected PSN. Returns NULL, or it, valid until the next add. */
struct wf_held *wf_held_take(struct wf_qp *qp, const void **payload_p);

/* Forgets what is before psn: a READ may pass PSNs that a wrong peer filled with packets. */
void wf_held_drop_passed(struct wf_resp *resp, uint32_t psn);

/* Gives the room for packets back when none is kept. */
void wf_held_rest(struct wf_qp *qp);

/* Forgets all of them. */
void wf_held_clear(struct wf_qp *qp);

/* The next PSN to report as received, or epsn when there is none. */
uint32_t wf_held_tell(struct wf_qp *qp);

/* The packet with psn, expected or ahead, came trimmed: it is to be reported. */
void wf_held_trim(struct wf_qp *qp, uint32_t psn);

/* The next PSN to report as trimmed; false: none. */
bool wf_held_next_trim(struct wf_resp *resp, uint32_t *psn_p);

/* read_ack.c: READ responses are acknowledged */

/* The response pkt, the expected one or a later one, has come, whole or trimmed, maybe again. */
void wf_read_came(struct wf_qp *qp, const struct wf_packet *pkt, bool trimmed);

/* Makes the packet that tells the responder of READ responses. */
void wf_read_make_ack(struct wf_qp *qp, struct wf_packet *pkt);

/* The responder learns which of its responses came. */
void wf_read_acked(struct wf_qp *qp, const struct wf_packet *pkt,
                   const struct wf_hca_rx_extra *extra, wf_time now);

/* A response was sent, for the first time or again. Sets WF_PACKET_ACK_REQ where it is due. */
void wf_read_sent(struct wf_qp *qp, struct wf_packet *pkt, bool again, wf_time now);

/* The requester asks for a READ again, from psn on. */
void wf_read_again(struct wf_qp *qp, uint32_t psn, uint32_t last_psn, wf_time now);

/* Whether the congestion window lets a response out. */
bool wf_read_may_send(const struct wf_qp *qp);

/* xrc.c */

/* An XRC_RECV queue pair receives for the queue that the packet names. False: there is none. */
bool wf_xrc_aim(struct wf_qp *qp, const struct wf_packet *pkt);

/* The queue goes: nobody receives for it any more. */
void wf_xrc_srq_forget(struct wf_srq *srq);

/* ud.c */

/* A packet for a UD queue pair. */
void wf_ud_rx(struct wf_qp *qp, const struct wf_packet *pkt, const struct wf_hca_rx_extra *extra);

#endif
