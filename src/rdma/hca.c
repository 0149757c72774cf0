/* SPDX-License-Identifier: Apache-2.0 */
/* hca.c - the adapter: its tables, who sends next, where a received packet goes, time. */
#include "rdma/hca.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "rdma/apm_priv.h"
#include "rdma/cq_priv.h"
#include "rdma/lag_priv.h"
#include "rdma/mr.h"
#include "rdma/qp_flow.h"
#include "rdma/xrc.h"
#include "wire/size.h"

#define HCA_MAX_QP (UINT32_C(1) << 20)
#define HCA_MAX_MR (UINT32_C(1) << 20)
#define HCA_MAX_QUEUE (UINT32_C(1) << 24)
#define HCA_MAX_RD_ATOMIC 128
#define HCA_MAX_MCAST 65536
#define PKEY_FULL 0x8000
#define PKEY_BASE 0x7fff

void wf_hca_attr_defaults(struct wf_hca_attr *attr)
{
	*attr = (struct wf_hca_attr){
		.line_rate = UINT64_C(400000000000),
		.max_qp = 1024,
		.max_mr = 1024,
		.max_qp_wr = 32768,
		.max_sge = 30,
		.max_inline = 1024,
		.max_cqe = 1 << 22,
		.max_rd_atomic = 16,
		.max_mcast = 64,
		.max_events = 256,
		.srqn_bits = 12,
		.overhead = wf_size_around(WF_ENCAP_ROCE2_IPV4, false),
		.num_pkeys = 1,
		.data = true,
		.roce = true,
		.ports = 1,
	};
}

static bool qpns_are_valid(const struct wf_hca_attr *a)
{
	uint32_t n = UINT32_C(1) << (a->qpn_bits & 31);

	if (a->qpn_bits == 0)
		return a->qpn_base == 0;
	return a->qpn_bits <= 24 && a->max_qp + 2 <= n && (a->qpn_base & (n - 1)) == 0 &&
	       a->qpn_base <= WF_QPN_MASK;
}

static bool srqns_are_valid(const struct wf_hca_attr *a)
{
	uint32_t n = UINT32_C(1) << (a->srqn_bits & 31);

	return a->srqn_bits >= 1 && a->srqn_bits <= 16 && (a->srqn_base & (n - 1)) == 0 &&
	       a->srqn_base <= UINT16_MAX;
}

static bool attr_is_valid(const struct wf_hca_attr *a)
{
	return srqns_are_valid(a) && a->max_qp >= 1 && a->max_qp <= HCA_MAX_QP && a->max_mr >= 1 &&
	       a->max_mr <= HCA_MAX_MR && a->max_qp_wr >= 1 && a->max_qp_wr <= HCA_MAX_QUEUE &&
	       a->max_cqe >= 1 && a->max_cqe <= HCA_MAX_QUEUE && a->max_sge >= 1 &&
	       a->max_sge <= 64 && a->max_inline <= 4096 && a->max_rd_atomic >= 1 &&
	       a->max_rd_atomic <= HCA_MAX_RD_ATOMIC && a->max_events >= 1 &&
	       a->max_events <= HCA_MAX_QUEUE && a->num_pkeys >= 1 &&
	       a->num_pkeys <= WF_HCA_PKEYS && a->overhead <= 1024 && qpns_are_valid(a) &&
	       a->max_mcast <= HCA_MAX_MCAST && a->line_rate != 0 && a->ports >= 1 &&
	       a->ports <= WF_HCA_PORTS && (a->port_step == 0 || a->lag == WF_LAG_OWN);
}

static int hca_alloc_heaps(struct wf_hca *hca)
{
	struct wf_mem *mem = hca->mem;

	for (int i = 0; i < WF_HEAPS; i++) {
		hca->heap[i].item = mem->alloc(mem, hca->attr.max_qp * sizeof(*hca->heap[i].item));
		if (hca->heap[i].item == NULL)
			goto err_free_heaps;
	}
	return 0;

err_free_heaps:
	for (int i = 0; i < WF_HEAPS; i++)
		mem->free(mem, hca->heap[i].item);
	return -ENOMEM;
}

/* Index 0 is not used: keys below 256, 0 among them, are never valid. */
static void hca_init_regions(struct wf_hca *hca)
{
	hca->free_region_tail = &hca->free_region;
	for (uint32_t i = 1; i <= hca->attr.max_mr; i++) {
		struct wf_region *r = &hca->regions[i];

		r->key = i << 8;
		*hca->free_region_tail = r;
		hca->free_region_tail = &r->parent;
	}
}

static void hca_init_lists(struct wf_hca *hca)
{
	wf_list_init(&hca->ack_ring);
	wf_list_init(&hca->tx_ring);
	wf_list_init(&hca->held_acks);
	wf_list_init(&hca->held_ring);
	wf_list_init(&hca->comps);
	wf_list_init(&hca->pds);
	wf_list_init(&hca->cqs);
	wf_list_init(&hca->srqs);
	wf_list_init(&hca->xrcds);
	wf_list_init(&hca->inlets);
	wf_list_init(&hca->ahs);
	if (hca->attr.pkeys == NULL)
		hca->pkey[0] = WF_PKEY_DEFAULT;
	else
		memcpy(hca->pkey, hca->attr.pkeys, hca->attr.num_pkeys * sizeof(hca->pkey[0]));
	hca->attr.pkeys = NULL;
}

int wf_hca_create(const struct wf_hca_attr *attr, struct wf_mem *mem, struct wf_hca **hca_p)
{
	struct wf_hca *hca;

	if (!attr_is_valid(attr))
		return -EINVAL;
	hca = mem->alloc(mem, sizeof(*hca));
	if (hca == NULL)
		return -ENOMEM;
	hca->mem = mem;
	hca->attr = *attr;
	/* Places 0 and 1 are the management queue pairs'. */
	hca->qp_mask = wf_pow2_ceil(attr->max_qp + 2) - 1;
	hca->next_qp = 2;
	hca->qps = mem->alloc(mem, ((size_t)hca->qp_mask + 1) * sizeof(struct wf_qp *));
	if (hca->qps == NULL)
		goto err_free_hca;
	hca->region_mask = wf_pow2_ceil(attr->max_mr + 1) - 1;
	hca->regions = mem->alloc(mem, ((size_t)hca->region_mask + 1) * sizeof(*hca->regions));
	if (hca->regions == NULL)
		goto err_free_qps;
	hca->event = mem->alloc(mem, attr->max_events * sizeof(*hca->event));
	if (hca->event == NULL)
		goto err_free_regions;
	hca->mcast = mem->alloc(mem, (attr->max_mcast + 1) * sizeof(*hca->mcast));
	if (hca->mcast == NULL)
		goto err_free_events;
	if (hca_alloc_heaps(hca) != 0)
		goto err_free_mcast;
	hca_init_regions(hca);
	hca_init_lists(hca);
	wf_lag_init(hca);
	*hca_p = hca;
	return 0;

err_free_mcast:
	mem->free(mem, hca->mcast);
err_free_events:
	mem->free(mem, hca->event);
err_free_regions:
	mem->free(mem, hca->regions);
err_free_qps:
	mem->free(mem, hca->qps);
err_free_hca:
	mem->free(mem, hca);
	return -ENOMEM;
}

static void hca_destroy_objects(struct wf_hca *hca)
{
	int ret = 0;

	for (uint32_t i = 0; i <= hca->qp_mask; i++) {
		if (hca->qps[i] != NULL)
			wf_qp_destroy(hca->qps[i]);
	}
	assert(hca->num_qps == 0);
	while (!wf_list_empty(&hca->ahs))
		wf_ah_destroy(wf_container_of(hca->ahs.next, struct wf_ah, link));
	while (!wf_list_empty(&hca->srqs))
		ret |= wf_srq_destroy(wf_container_of(hca->srqs.next, struct wf_srq, link));
	while (!wf_list_empty(&hca->xrcds))
		ret |= wf_xrcd_destroy(wf_container_of(hca->xrcds.next, struct wf_xrcd, link));
	while (!wf_list_empty(&hca->cqs))
		ret |= wf_cq_destroy(wf_container_of(hca->cqs.next, struct wf_cq, link));
	while (!wf_list_empty(&hca->pds)) {
		struct wf_pd *pd = wf_container_of(hca->pds.next, struct wf_pd, link);

		pd->refs = 0; /* regions and windows go with the table */
		ret |= wf_pd_destroy(pd);
	}
	assert(ret == 0);
	(void)ret;
}

void wf_hca_destroy(struct wf_hca *hca)
{
	struct wf_mem *mem;

	if (hca == NULL)
		return;
	mem = hca->mem;
	hca_destroy_objects(hca);
	for (int i = 0; i < WF_HEAPS; i++) {
		assert(hca->heap[i].n == 0);
		mem->free(mem, hca->heap[i].item);
	}
	wf_room_fini(hca);
	mem->free(mem, hca->xsrqs);
	mem->free(mem, hca->cnp_hosts);
	mem->free(mem, hca->mcast);
	mem->free(mem, hca->event);
	mem->free(mem, hca->regions);
	mem->free(mem, hca->qps);
	mem->free(mem, hca);
}

/* IBTA 10.9.3: the same partition, and at least one of the two a full member. */
static bool pkey_matches(uint16_t a, uint16_t b)
{
	return ((a ^ b) & PKEY_BASE) == 0 && (a & PKEY_BASE) != 0 && ((a | b) & PKEY_FULL) != 0;
}

static bool check_pkey(struct wf_hca *hca, const struct wf_qp *qp, uint16_t index, uint16_t pkey)
{
	if (qp->type != WF_QPT_GSI)
		return pkey_matches(hca->pkey[index], pkey);
	for (uint32_t i = 0; i < hca->attr.num_pkeys; i++) {
		if (pkey_matches(hca->pkey[i], pkey))
			return true;
	}
	return false;
}

/* IBTA 9.6: the queue pair, whose P_Key is at index, can receive this. */
static WF_ALWAYS_INLINE bool check_content(struct wf_hca *hca, const struct wf_qp *qp,
                                           uint16_t index, const struct wf_packet *pkt)
{
	if (wf_op_service(pkt->opcode) != qp->service || !wf_op_is_known(pkt->opcode))
		return false;
	/* With XRC one end only sends requests and the other only answers. */
	if (wf_unlikely(qp->service == WF_SERVICE_XRC) &&
	    wf_op_is_response(pkt->opcode) != (qp->type == WF_QPT_XRC_SEND))
		return false;
	if (wf_unlikely(pkt->psn > WF_PSN_MASK))
		return false;
	if (wf_unlikely(pkt->length > 4096 && wf_op_has_payload(pkt->opcode)))
		return false;
	if (!check_pkey(hca, qp, index, pkt->pkey)) {
		wf_hca_count(hca, WF_CTR_PKEY_VIOLATIONS);
		return false;
	}
	return true;
}

/* A packet of a queue pair that has two paths, or an address for each port, is by one of them. */
static bool check_path(struct wf_hca *hca, struct wf_qp *qp, const struct wf_packet *pkt)
{
	enum wf_apm_way way = wf_apm_way(qp, pkt);
	uint16_t index = way == WF_APM_ALTERNATE ? qp->attr.alt_pkey_index : qp->pkey_index;

	if (way == WF_APM_NONE || !check_content(hca, qp, index, pkt))
		return false;
	wf_apm_came(qp, pkt, way);
	return true;
}

/* And it comes from where it should. */
static bool check_packet(struct wf_hca *hca, struct wf_qp *qp, const struct wf_packet *pkt)
{
	if (qp->state < WF_QPS_RTR || qp->state == WF_QPS_ERR)
		return false;
	if (wf_op_is_cnp(pkt->opcode))
		return !wf_qp_is_ud(qp) && wf_apm_knows(qp, pkt->src);
	if (!wf_qp_is_ud(qp) && wf_unlikely(pkt->src != qp->from))
		return qp->from == WF_APM_LOOK && check_path(hca, qp, pkt);
	return check_content(hca, qp, qp->pkey_index, pkt);
}

/*
 * The time before which host gets no CNP. The table has a place for each queue pair. When all are
 * taken, by hosts of earlier connections, one that may get a CNP anyway makes room, else the last
 * looked at.
 */
static wf_time *cnp_next_of(struct wf_hca *hca, uint32_t host, wf_time now)
{
	uint32_t i = (uint32_t)wf_mix64(host) & hca->qp_mask;
	struct wf_cnp_host *e = &hca->cnp_hosts[i], *old = NULL;

	for (uint32_t n = 0; n <= hca->qp_mask && e->used && e->host != host; n++) {
		if (old == NULL && e->next <= now)
			old = e;
		i = (i + 1) & hca->qp_mask;
		e = &hca->cnp_hosts[i];
	}
	if (e->used && e->host != host && old != NULL)
		e = old;
	if (!e->used || e->host != host)
		*e = (struct wf_cnp_host){ .host = host, .used = true };
	return &e->next;
}

/* The notification point: a CNP back to the sender of a marked packet, not too often. */
static void note_mark(struct wf_qp *qp, wf_time now)
{
	struct wf_hca *hca = qp->hca;
	wf_time *next = &qp->resp.cnp_next;

	wf_hca_count(hca, WF_CTR_NP_ECN_MARKED_ROCE_PACKETS);
	if (qp->init.tune.cnp_interval == 0 || wf_qp_is_ud(qp))
		return;
	if (qp->init.tune.cnp_per == WF_CNP_PER_PORT)
		next = &hca->cnp_next;
	else if (qp->init.tune.cnp_per == WF_CNP_PER_HOST)
		next = cnp_next_of(hca, qp->dest, now);
	if (now < *next)
		return;
	*next = now + qp->init.tune.cnp_interval;
	qp->resp.cnp = true;
	wf_qp_kick_ack(qp);
}

/* The reaction point. */
static void handle_cnp(struct wf_qp *qp, wf_time now)
{
	/* Who has no congestion control that knows CNPs does not slow down. */
	if (qp->cc->ops->on_cnp == wf_cc_no_cnp) {
		wf_hca_count(qp->hca, WF_CTR_RP_CNP_IGNORED);
		return;
	}
	wf_hca_count(qp->hca, WF_CTR_RP_CNP_HANDLED);
	if (now >= qp->cc->timer)
		qp->cc->ops->on_timer(qp->cc, now);
	qp->cc->ops->on_cnp(qp->cc, now);
}

/* A copy for each queue pair in the group. */
static void rx_mcast(struct wf_hca *hca, const struct wf_packet *pkt,
                     const struct wf_hca_rx_extra *extra)
{
	for (uint32_t i = 0; i < hca->mcasts; i++) {
		struct wf_qp *qp = hca->mcast[i].qp;

		if (hca->mcast[i].group == pkt->dst && !wf_op_is_cnp(pkt->opcode) &&
		    check_packet(hca, qp, pkt))
			wf_ud_rx(qp, pkt, extra);
	}
}

/* Only the headers of a packet came. Without retransmission it is lost. */
static void rx_trimmed(struct wf_qp *qp, const struct wf_packet *pkt, wf_time now)
{
	wf_hca_count(qp->hca, WF_CTR_RX_TRIMMED);
	if (!qp->reliable)
		return;
	if (wf_op_is_response(pkt->opcode))
		wf_comp_trimmed(qp, pkt, now);
	else
		wf_resp_trimmed(qp, pkt);
}

void wf_hca_rx(struct wf_hca *hca, const struct wf_packet *pkt, const struct wf_hca_rx_extra *extra,
               wf_time now)
{
	static const struct wf_hca_rx_extra nothing;
	struct wf_qp *qp;

	assert(now >= hca->now);
	hca->now = now;
	wf_hca_count(hca, WF_CTR_RX_PACKETS);
	if (wf_unlikely((pkt->flags & WF_PACKET_BAD) != 0)) {
		wf_hca_count(hca, WF_CTR_RX_BAD);
		return;
	}
	if (extra == NULL)
		extra = &nothing;
	if (wf_unlikely(pkt->qpn == WF_QPN_MULTICAST)) {
		rx_mcast(hca, pkt, extra);
		return;
	}
	qp = wf_hca_qp(hca, pkt->qpn);
	if (wf_unlikely(qp == NULL || !check_packet(hca, qp, pkt))) {
		wf_hca_count(hca, wf_op_is_cnp(pkt->opcode) ? WF_CTR_RP_CNP_IGNORED
		                                            : WF_CTR_RX_DISCARDS);
		return;
	}
	if (wf_op_is_cnp(pkt->opcode)) {
		handle_cnp(qp, now);
		return;
	}
	if ((pkt->flags & WF_PACKET_CE) != 0) {
		if (qp->read_acks && wf_op_is_read_resp(pkt->opcode))
			qp->req.ce = true;
		else
			qp->resp.ce = true;
		note_mark(qp, now);
	}
	if (wf_unlikely(pkt->type == WF_PACKET_TRIMMED)) {
		rx_trimmed(qp, pkt, now);
		return;
	}
	if (wf_op_has_payload(pkt->opcode))
		hca->counter[WF_CTR_RX_BYTES] += pkt->length;
	if (wf_op_is_response(pkt->opcode))
		wf_comp_rx(qp, pkt, extra, now);
	else if (wf_qp_is_ud(qp))
		wf_ud_rx(qp, pkt, extra);
	else
		wf_resp_rx(qp, pkt, extra, now);
}

static void count_tx(struct wf_hca *hca, const struct wf_packet *pkt)
{
	wf_hca_count(hca, WF_CTR_TX_PACKETS);
	if (wf_op_has_payload(pkt->opcode))
		hca->counter[WF_CTR_TX_BYTES] += pkt->length;
}

/*
 * The first slot that a packet sent now may take: this one, or one that passed before the driver
 * came. Slots that passed when qp had nothing to send, or was held, do not count.
 */
static wf_time first_slot(const struct wf_qp *qp, wf_time now)
{
	return qp->was_paced ? now - qp->init.tune.catch_up : now;
}

void wf_hca_set_messages(struct wf_hca *hca, wf_time gap, wf_time qp_gap)
{
	hca->message_gap = gap;
	hca->qp_message_gap = qp_gap;
	hca->limits_messages = (gap | qp_gap) != 0;
}

/* Whether the next packet of qp begins a message: nothing else is left to send. */
static bool begins_message(const struct wf_qp *qp)
{
	const struct wf_req *req = &qp->req;

	return req->send == req->fresh && req->send != req->prod && req->out.n_lost == 0 &&
	       !wf_answer_pending(qp);
}

/*
 * A queue pair that is to begin a message, and need not wait for anything else, gets a slot among
 * the adapter's messages; it waits for it as for its pacing.
 */
static void take_slot(struct wf_qp *qp, wf_time now)
{
	struct wf_hca *hca = qp->hca;
	wf_time at;

	if (qp->has_slot || qp->next_tx > now || !begins_message(qp))
		return;
	at = wf_max_time(now, hca->message_at);
	hca->message_at = at + hca->message_gap;
	qp->has_slot = true;
	qp->slot_of = qp->req.fresh;
	if (at > now) {
		qp->next_tx = at;
		qp->paced = 0;
	}
}

/* qp has sent a packet. Behind a whole message the next has to wait. */
static void charge_message(struct wf_qp *qp, wf_time now)
{
	if (qp->has_slot && qp->slot_of != qp->req.fresh) {
		qp->message_at = wf_max_time(qp->message_at, now) + qp->hca->qp_message_gap;
		qp->has_slot = false;
	}
	if (qp->req.send == qp->req.fresh && qp->next_tx < qp->message_at) {
		qp->next_tx = qp->message_at;
		qp->paced = 0;
	}
}

/* The next data packet of qp: a READ response before a request. Charges its pacing. */
static bool tx_data(struct wf_qp *qp, wf_time now, struct wf_packet *pkt, void *payload)
{
	struct wf_cc *cc = qp->cc;

	/*
	 * A READ response that waits for the window does not hold back a request that needs none.
	 */
	if (!(wf_answer_pending(qp) && wf_answer_tx_read(qp, now, pkt, payload)) &&
	    !wf_req_tx(qp, now, pkt, payload))
		return false;
	if (qp->init.tune.spray)
		pkt->entropy = wf_qp_spray(qp, qp->sprayed++);
	if (now >= cc->timer)
		cc->ops->on_timer(cc, now);
	cc->ops->on_send(cc, pkt->size, now);
	qp->paced = cc->gap;
	if (cc->gap != 0 && !(qp->init.tune.free && cc->rate == cc->line_rate))
		qp->next_tx =
			wf_max_time(qp->next_tx, first_slot(qp, now)) + wf_cc_gap(cc, pkt->size);
	if (wf_unlikely(qp->hca->limits_messages))
		charge_message(qp, now);
	return true;
}

static bool tx_ack(struct wf_hca *hca, wf_time now, struct wf_packet *pkt)
{
	while (!wf_list_empty(&hca->ack_ring)) {
		struct wf_qp *qp = wf_container_of(hca->ack_ring.next, struct wf_qp, ack_link);
		bool sent;

		if (wf_unlikely(qp->hold)) {
			wf_list_remove(&qp->ack_link); /* wf_qp_hold() puts it back */
			continue;
		}
		if (wf_unlikely(hca->held >> wf_answer_class(qp) & 1)) {
			wf_list_remove(&qp->ack_link);
			wf_list_append(&hca->held_acks, &qp->ack_link);
			continue;
		}
		/* qp stays listed while it answers; whether it owes more is found out below. */
		sent = wf_answer_tx_ack(qp, now, pkt);
		wf_list_remove(&qp->ack_link);
		if (sent) {
			if (wf_answer_ack_due(qp))
				wf_list_append(&hca->ack_ring, &qp->ack_link);
			hca->sender = qp;
			return true;
		}
	}
	return false;
}

/* Makes what is left of qp's wait as long as it takes at its present rate. */
static void rescale(struct wf_qp *qp, wf_time now)
{
	qp->next_tx =
		now + (wf_time)((unsigned __int128)(qp->next_tx - now) * qp->cc->gap / qp->paced);
	qp->paced = qp->cc->gap;
}

void wf_qp_repace(struct wf_qp *qp, wf_time now)
{
	if (qp->paced == 0 || qp->paced == qp->cc->gap || qp->next_tx <= now)
		return;
	rescale(qp, now);
	if (qp->tx_where == WF_TX_PACED)
		wf_heap_set(qp->hca, WF_HEAP_PACE, qp, qp->next_tx);
}

/*
 * Makes qp wait for its time to send; false: that has come. The rate may change meanwhile, and at a
 * low rate the wait is long: what is left of it shrinks as the rate grows, like a bucket that fills
 * faster.
 */
static bool pace(struct wf_qp *qp, wf_time now)
{
	struct wf_cc *cc = qp->cc;

	if (qp->next_tx <= now)
		return false;
	if (now >= cc->timer)
		cc->ops->on_timer(cc, now);
	if (cc->gap < qp->paced) {
		rescale(qp, now);
		if (qp->next_tx <= now)
			return false;
	}
	qp->tx_where = WF_TX_PACED;
	wf_heap_set(qp->hca, WF_HEAP_PACE, qp,
	            cc->timer > now ? wf_min_time(qp->next_tx, cc->timer) : qp->next_tx);
	return true;
}

static WF_ALWAYS_INLINE void wake_paced(struct wf_hca *hca, wf_time now)
{
	struct wf_heap *heap = &hca->heap[WF_HEAP_PACE];

	while (heap->n != 0 && heap->item[0].at <= now) {
		struct wf_qp *qp = heap->item[0].qp;

		assert(qp->tx_where == WF_TX_PACED);
		if (pace(qp, now))
			continue;
		wf_heap_set(hca, WF_HEAP_PACE, qp, WF_TIME_NEVER);
		qp->tx_where = WF_TX_RING;
		qp->was_paced = true;
		wf_list_append(&hca->tx_ring, &qp->tx_link);
	}
}

void wf_hca_wake(struct wf_hca *hca, wf_time now)
{
	wake_paced(hca, now);
}

/* The class of the packet that tx_data() would send. */
static uint8_t data_class(const struct wf_qp *qp)
{
	const struct wf_req *req = &qp->req;

	if (wf_qp_is_ud(qp))
		return req->send != req->prod ? wf_sq_at(req, req->send)->ud.cls : qp->cls;
	return qp->cls;
}

uint32_t wf_hca_classes(const struct wf_hca *hca)
{
	return hca->data_classes;
}

void wf_hca_hold(struct wf_hca *hca, uint32_t classes)
{
	if (hca->held == classes)
		return;
	hca->held = classes;
	while (!wf_list_empty(&hca->held_acks)) {
		struct wf_list *l = hca->held_acks.next;

		wf_list_remove(l);
		wf_list_append(&hca->ack_ring, l);
	}
	while (!wf_list_empty(&hca->held_ring)) {
		struct wf_qp *qp = wf_container_of(hca->held_ring.next, struct wf_qp, tx_link);

		wf_list_remove(&qp->tx_link);
		wf_list_append(&hca->tx_ring, &qp->tx_link);
		qp->tx_where = WF_TX_RING;
	}
}

bool wf_hca_tx(struct wf_hca *hca, wf_time now, struct wf_packet *pkt, void *payload)
{
	assert(now >= hca->now);
	hca->now = now;
	if (wf_unlikely((hca->classes & ~hca->held) == 0))
		return false;
	if (!wf_list_empty(&hca->ack_ring) && tx_ack(hca, now, pkt)) {
		count_tx(hca, pkt);
		return true;
	}
	wake_paced(hca, now);
	while (!wf_list_empty(&hca->tx_ring)) {
		struct wf_qp *qp = wf_container_of(hca->tx_ring.next, struct wf_qp, tx_link);
		bool sent;

		wf_qp_warm(qp);
		assert(qp->tx_where == WF_TX_RING);
		wf_list_remove(&qp->tx_link);
		qp->tx_where = WF_TX_NONE;
		if (wf_unlikely(qp->hold)) {
			qp->tx_where = WF_TX_PARKED;
			qp->was_paced = false;
			continue;
		}
		if (wf_unlikely(hca->held >> data_class(qp) & 1)) {
			qp->tx_where = WF_TX_HELD;
			qp->was_paced = false;
			wf_list_append(&hca->held_ring, &qp->tx_link);
			continue;
		}
		if (wf_unlikely(hca->limits_messages))
			take_slot(qp, now);
		if (pace(qp, now))
			continue;
		sent = tx_data(qp, now, pkt, payload);
		if (sent && (wf_req_pending(qp) || wf_answer_pending(qp)))
			wf_qp_kick(qp);
		else
			qp->was_paced = false;
		if (sent) {
			count_tx(hca, pkt);
			hca->sender = qp;
			return true;
		}
	}
	return false;
}

struct wf_qp *wf_hca_sender(const struct wf_hca *hca)
{
	return hca->sender;
}

wf_time wf_hca_tx_time(const struct wf_hca *hca)
{
	const struct wf_heap *heap = &hca->heap[WF_HEAP_PACE];

	if ((hca->classes & ~hca->held) == 0)
		return WF_TIME_NEVER;
	if (!wf_list_empty(&hca->ack_ring) || !wf_list_empty(&hca->tx_ring))
		return 0;
	return heap->n != 0 ? heap->item[0].at : WF_TIME_NEVER;
}

wf_time wf_hca_deadline(const struct wf_hca *hca)
{
	const struct wf_heap *heap = &hca->heap[WF_HEAP_TIMER];

	return heap->n != 0 ? heap->item[0].at : WF_TIME_NEVER;
}

void wf_hca_tick(struct wf_hca *hca, wf_time now)
{
	struct wf_heap *heap = &hca->heap[WF_HEAP_TIMER];

	assert(now >= hca->now);
	hca->now = now;
	while (heap->n != 0 && heap->item[0].at <= now) {
		struct wf_qp *qp = heap->item[0].qp;

		/* The entry may be older than the timer, which has moved on since. */
		wf_heap_set(hca, WF_HEAP_TIMER, qp,
		            qp->timer_at > now ? qp->timer_at : WF_TIME_NEVER);
		if (qp->timer_at <= now) {
			qp->timer_at = WF_TIME_NEVER;
			wf_comp_timer(qp, now);
		}
	}
}

void wf_hca_watch(struct wf_hca *hca, wf_hca_watch_fn *fn, void *ctx)
{
	hca->watch = fn;
	hca->watch_ctx = ctx;
}

uint64_t wf_hca_counter(const struct wf_hca *hca, enum wf_counter counter)
{
	return hca->counter[counter];
}

const struct wf_hca_attr *wf_hca_attr(const struct wf_hca *hca)
{
	return &hca->attr;
}

uint16_t wf_hca_pkey(const struct wf_hca *hca, uint32_t index)
{
	return index < hca->attr.num_pkeys ? hca->pkey[index] : 0;
}

int wf_hca_set_pkey(struct wf_hca *hca, uint32_t index, uint16_t pkey)
{
	if (index >= hca->attr.num_pkeys)
		return -EINVAL;
	hca->pkey[index] = pkey;
	wf_hca_port_event(hca, WF_EVENT_PKEY_CHANGE);
	return 0;
}

void wf_hca_set_pkeys(struct wf_hca *hca, const uint16_t *keys, uint32_t n)
{
	bool changed = false;

	for (uint32_t i = 0; i < hca->attr.num_pkeys; i++) {
		uint16_t key = i < n ? keys[i] : 0;

		changed |= hca->pkey[i] != key;
		hca->pkey[i] = key;
	}
	if (changed)
		wf_hca_port_event(hca, WF_EVENT_PKEY_CHANGE);
}

void wf_hca_fail(struct wf_hca *hca)
{
	for (uint32_t i = 0; i <= hca->qp_mask; i++) {
		struct wf_qp *qp = hca->qps[i];

		if (qp != NULL && qp->init.type != WF_QPT_GSI)
			wf_qp_fail(qp, WF_WC_FATAL_ERR);
	}
}

struct wf_qp *wf_hca_qp(const struct wf_hca *hca, uint32_t qpn)
{
	struct wf_qp *qp = hca->qps[qpn & hca->qp_mask];

	if (wf_unlikely(qp == NULL))
		return NULL;
	wf_qp_warm(qp);
	return qp->qpn == qpn ? qp : NULL;
}
