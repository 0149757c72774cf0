/* SPDX-License-Identifier: Apache-2.0 */
/* model_packet.c - checks what programs put into their rings for the model. */
#include "live/model_packet.h"

#include "live/ring.h"
#include "wire/opcode.h"
#include "wire/size.h"

/* Flags that a sender sets. */
#define SENDERS                                                                                    \
	(WF_PACKET_ECT | WF_PACKET_BECN | WF_PACKET_ACK_REQ | WF_PACKET_SOLICITED |                \
	 WF_PACKET_MIGRATED)

/* Who it is for; those who send to queue pair 1 or a group have looked that up. */
static void find_way(const struct wf_live_table *t, uint32_t host, const struct wf_packet *pkt,
                     bool ud, struct wf_model_way *way)
{
	if (t->managed != 0 && wf_model_is_group(pkt)) {
		way->host = t->n_hosts;
		way->slot = wf_live_slot(pkt->u.deth.src_qpn);
	} else if (ud && (pkt->qpn == WF_QPN_GSI || pkt->qpn == WF_QPN_MULTICAST)) {
		way->host = wf_live_program_host(pkt->payload);
		way->slot = wf_live_program_slot(pkt->payload);
	} else {
		way->host = pkt->dst;
		way->slot = wf_live_slot(pkt->qpn);
	}
	/* The DLID leads, maybe nowhere: then it is said to be for any host. */
	if (t->managed != 0 && way->host == t->n_hosts && t->n_hosts > 1)
		way->host = host == 0 ? 1 : 0;
}

/*
 * Whether its headers and its payload agree, and no packet of the fabric is larger. Reliable
 * datagrams, which nobody here speaks, would have the longest headers of all.
 */
static bool is_whole(const struct wf_live_table *t, const struct wf_packet *pkt)
{
	if (!wf_op_is_known(pkt->opcode) || wf_op_is_rd(pkt->opcode))
		return false;
	if (pkt->input > WF_RING_PAYLOAD || pkt->input + wf_size_pad(pkt->input) > t->mtu)
		return false;
	return wf_op_has_payload(pkt->opcode) ? pkt->length == pkt->input : pkt->input == 0;
}

/* Where ports are managed, what is for a group has a multicast LID, and nothing else has. */
static bool is_addressed(const struct wf_live_table *t, const struct wf_packet *pkt, bool ud)
{
	bool group = ud && pkt->qpn == WF_QPN_MULTICAST && (pkt->dst & WF_LIVE_GROUP) != 0;

	return t->managed == 0 ||
	       group == (pkt->entropy >= WF_LID_MULTICAST && pkt->entropy < WF_LID_PERMISSIVE);
}

bool wf_model_accept(const struct wf_live_table *t, uint32_t host, uint32_t slot,
                     struct wf_packet *pkt, struct wf_model_way *way)
{
	bool ud = wf_op_service(pkt->opcode) == WF_SERVICE_UD;
	bool roce1 = t->layer == WF_LIVE_ROCE && wf_packet_is_roce1(pkt);
	enum wf_encap encap = t->layer == WF_LIVE_IB ? WF_ENCAP_IB : WF_ENCAP_ROCE2_IPV4;

	if (!is_whole(t, pkt))
		return false;
	if (ud && wf_live_slot(pkt->u.deth.src_qpn) != slot &&
	    !(pkt->u.deth.src_qpn == WF_QPN_GSI && pkt->qpn == WF_QPN_GSI))
		return false;
	if (!is_addressed(t, pkt, ud))
		return false;
	find_way(t, host, pkt, ud, way);
	if (way->host >= t->n_hosts || way->host == host || way->slot == 0 ||
	    way->slot >= WF_LIVE_SLOTS)
		return false;
	way->length = pkt->input;
	if (roce1)
		encap = WF_ENCAP_ROCE1;
	way->size = wf_size_packet(encap, wf_encap_is_tagged(encap), pkt->opcode, pkt->input);
	if (t->managed != 0 && wf_model_is_group(pkt))
		way->size += WF_GRH_LEN;
	pkt->type = WF_PACKET_RDMA;
	pkt->flags &= roce1 ? SENDERS & ~WF_PACKET_ECT : SENDERS;
	pkt->src = wf_live_program(host, slot);
	pkt->mark = 0; /* an adapter's to give */
	return true;
}
