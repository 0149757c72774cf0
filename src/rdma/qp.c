/* SPDX-License-Identifier: Apache-2.0 */
/* qp.c - queue pairs: made, scheduled, failed, taken apart. */
#include "rdma/qp.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "rdma/lag_priv.h"
#include "rdma/qp_flow.h"

#define SEL_WINDOW_MIN 64
#define SEL_WINDOW_MAX WF_ROOM_MOST
#define SEL_WINDOW_DEFAULT 256
#define WINDOW_MAX ((UINT32_C(1) << 22) - 1) /* with one more message still below 2^23 */

/* The one block of memory of a queue pair: where each part of it lies. */
struct layout {
	size_t cc, sq, rq, wqe, job, res;
	size_t total;
	uint32_t sq_stride, sq_slots, rq_slots, rd_slots;
};

static size_t lay(struct layout *l, size_t bytes)
{
	size_t at = (l->total + WF_CACHE_LINE - 1) / WF_CACHE_LINE * WF_CACHE_LINE;

	l->total = at + bytes;
	return at;
}

static const struct wf_cc_ops *init_cc(const struct wf_qp_init *init)
{
	return init->tune.cc != NULL ? init->tune.cc : &wf_cc_none;
}

static void make_layout(const struct wf_hca *hca, const struct wf_qp_init *init, struct layout *l)
{
	const struct wf_qp_cap *cap = &init->cap;
	size_t sges = cap->max_send_sge > WF_SWQE_SGE_MIN ? cap->max_send_sge : WF_SWQE_SGE_MIN;
	size_t tail = wf_max_u64(sges * sizeof(struct wf_sge), cap->max_inline_data);

	memset(l, 0, sizeof(*l));
	lay(l, sizeof(struct wf_qp));
	l->cc = lay(l, init_cc(init)->size);
	l->sq_stride = (uint32_t)((sizeof(struct wf_swqe) + tail + 31) / 32 * 32);
	l->sq_slots = wf_pow2_ceil(cap->max_send_wr);
	l->sq = lay(l, (size_t)l->sq_slots * l->sq_stride);
	l->rq_slots = wf_pow2_ceil(cap->max_recv_wr);
	if (init->srq == NULL)
		l->rq = lay(l, (size_t)l->rq_slots * wf_rwqe_bytes(cap->max_recv_sge));
	l->wqe = lay(l, wf_rwqe_bytes(init->srq != NULL || init->xrcd != NULL ? hca->attr.max_sge
	                                                                      : cap->max_recv_sge));
	if (init->type == WF_QPT_RC || init->type == WF_QPT_XRC_RECV) {
		l->rd_slots = wf_pow2_ceil(hca->attr.max_rd_atomic);
		l->job = lay(l, 2 * (size_t)l->rd_slots * sizeof(struct wf_job));
		l->res = lay(l, (size_t)l->rd_slots * sizeof(struct wf_res));
	}
}

static bool tune_is_valid(const struct wf_qp_init *init)
{
	const struct wf_qp_tune *tune = &init->tune;
	uint32_t window = tune->window;

	if (tune->cnp_interval < 0 || (tune->read_acks && init->type != WF_QPT_RC))
		return false;
	if (tune->recovery == WF_RECOVERY_GO_BACK_N)
		return window <= WINDOW_MAX && tune->reorder == 0 && !tune->direct;
	if (tune->recovery != WF_RECOVERY_SELECTIVE || init->type != WF_QPT_RC || tune->credits)
		return false;
	if (window == 0)
		window = SEL_WINDOW_DEFAULT;
	return window >= SEL_WINDOW_MIN && window <= SEL_WINDOW_MAX &&
	       (window & (window - 1)) == 0 && tune->reorder < window;
}

/* Whether it has the completion queues that its type needs, and no others. */
static bool queues_are_valid(const struct wf_hca *hca, const struct wf_qp_init *init)
{
	bool sends = init->type != WF_QPT_XRC_RECV;
	bool receives = sends && init->type != WF_QPT_XRC_SEND;

	if ((init->send_cq != NULL) != sends || (init->recv_cq != NULL) != receives ||
	    (init->srq != NULL && !receives) || (init->xrcd != NULL) == sends)
		return false;
	return (!sends || init->send_cq->hca == hca) && (!receives || init->recv_cq->hca == hca) &&
	       (init->srq == NULL || (init->srq->pd->hca == hca && init->srq->xrcd == NULL)) &&
	       (init->xrcd == NULL || init->xrcd->pd->hca == hca);
}

static bool init_is_valid(const struct wf_hca *hca, const struct wf_qp_init *init)
{
	const struct wf_qp_cap *cap = &init->cap;
	const struct wf_hca_attr *a = &hca->attr;

	if ((init->type < WF_QPT_GSI || init->type > WF_QPT_UD) && init->type != WF_QPT_XRC_SEND &&
	    init->type != WF_QPT_XRC_RECV)
		return false;
	if (!queues_are_valid(hca, init))
		return false;
	return cap->max_send_wr <= a->max_qp_wr && cap->max_recv_wr <= a->max_qp_wr &&
	       cap->max_send_sge <= a->max_sge && cap->max_recv_sge <= a->max_sge &&
	       cap->max_inline_data <= a->max_inline && tune_is_valid(init);
}

/* Takes a number for qp: the next one whose place in the table is free. -ENOMEM: all are taken. */
static int take_qpn(struct wf_hca *hca, struct wf_qp *qp)
{
	uint32_t bits = hca->attr.qpn_bits != 0 ? hca->attr.qpn_bits : 24;
	uint32_t numbers = (UINT32_C(1) << bits) - 1;

	if (qp->type == WF_QPT_GSI) {
		if (hca->qps[WF_QPN_GSI] != NULL)
			return -EEXIST;
		qp->qpn = WF_QPN_GSI;
	} else {
		if (hca->num_qps >= hca->attr.max_qp)
			return -ENOMEM;
		do {
			qp->qpn = hca->attr.qpn_base | (hca->next_qp++ & numbers);
		} while ((qp->qpn & hca->qp_mask) < 2 || qp->qpn == WF_QPN_MULTICAST ||
		         hca->qps[qp->qpn & hca->qp_mask] != NULL);
	}
	if (hca->num_qps >= hca->attr.max_qp)
		return -ENOMEM;
	hca->qps[qp->qpn & hca->qp_mask] = qp;
	hca->num_qps++;
	return 0;
}

static void set_parts(struct wf_qp *qp, const struct layout *l, const struct wf_qp_init *init)
{
	char *base = (char *)qp;

	qp->cc = (struct wf_cc *)(void *)(base + l->cc);
	qp->req.sq = base + l->sq;
	qp->req.mask = l->sq_slots - 1;
	qp->req.stride = l->sq_stride;
	if (init->srq == NULL) {
		qp->rq.ring = base + l->rq;
		qp->rq.mask = l->rq_slots - 1;
		qp->rq.max_wr = init->cap.max_recv_wr;
		qp->rq.max_sge = init->cap.max_recv_sge;
		qp->rq.stride = wf_rwqe_bytes(qp->rq.max_sge);
	}
	qp->resp.wqe = (struct wf_rwqe *)(void *)(base + l->wqe);
	if (l->rd_slots != 0) {
		qp->resp.job = (struct wf_job *)(void *)(base + l->job);
		qp->resp.res = (struct wf_res *)(void *)(base + l->res);
		qp->resp.rd_mask = l->rd_slots - 1;
	}
	qp->req.selective = init->tune.recovery == WF_RECOVERY_SELECTIVE;
	qp->read_acks = qp->req.selective || init->tune.read_acks;
	qp->req.limit = qp->req.selective ? SEL_WINDOW_DEFAULT : WINDOW_MAX;
	if (init->tune.window != 0)
		qp->req.limit = init->tune.window;
	qp->req.room = qp->req.limit;
}

static void take_refs(struct wf_qp *qp, const struct wf_qp_init *init)
{
	qp->send_cq = init->send_cq;
	qp->recv_cq = init->recv_cq;
	qp->srq = init->srq;
	qp->pd->refs++;
	if (qp->send_cq != NULL)
		qp->send_cq->refs++;
	if (qp->recv_cq != NULL)
		qp->recv_cq->refs++;
	if (qp->srq != NULL)
		qp->srq->refs++;
}

/* The first queue pair that paces CNPs by host brings the adapter's table of hosts. */
static int make_cnp_table(struct wf_hca *hca, const struct wf_qp_tune *tune)
{
	if (tune->cnp_per != WF_CNP_PER_HOST || hca->cnp_hosts != NULL)
		return 0;
	hca->cnp_hosts =
		hca->mem->alloc(hca->mem, ((size_t)hca->qp_mask + 1) * sizeof(*hca->cnp_hosts));
	return hca->cnp_hosts == NULL ? -ENOMEM : 0;
}

int wf_qp_create(struct wf_pd *pd, const struct wf_qp_init *init, struct wf_qp **qp_p)
{
	static const uint8_t service[] = {
		[WF_QPT_GSI] = WF_SERVICE_UD,       [WF_QPT_RC] = WF_SERVICE_RC,
		[WF_QPT_UC] = WF_SERVICE_UC,        [WF_QPT_UD] = WF_SERVICE_UD,
		[WF_QPT_XRC_SEND] = WF_SERVICE_XRC, [WF_QPT_XRC_RECV] = WF_SERVICE_XRC,
	};
	struct wf_hca *hca = pd->hca;
	struct layout layout;
	struct wf_qp *qp;
	int ret;

	if (!init_is_valid(hca, init))
		return -EINVAL;
	make_layout(hca, init, &layout);
	qp = hca->mem->alloc(hca->mem, layout.total);
	if (qp == NULL)
		return -ENOMEM;
	qp->hca = hca;
	qp->pd = pd;
	qp->type = (uint8_t)init->type;
	qp->service = service[init->type];
	qp->reliable = qp->service == WF_SERVICE_RC || qp->service == WF_SERVICE_XRC;
	qp->init = *init;
	qp->sq_sig_all = init->sq_sig_all;
	qp->attr.path_mtu = WF_MTU_4096;
	qp->attr.cap = init->cap;
	qp->src = hca->attr.host;
	set_parts(qp, &layout, init);
	wf_list_init(&qp->ack_link);
	wf_list_init(&qp->tx_link);
	qp->heap_pos[WF_HEAP_TIMER] = qp->heap_pos[WF_HEAP_PACE] = WF_HEAP_NONE;
	ret = make_cnp_table(hca, &init->tune);
	if (ret == 0)
		ret = take_qpn(hca, qp);
	if (ret != 0)
		goto err_free_qp;
	take_refs(qp, init);
	wf_cc_init(qp->cc, init_cc(init), init->tune.cc_param, hca->attr.line_rate, hca->now);
	wf_req_reset(qp);
	wf_resp_reset(qp);
	if (hca->attr.ports > 1)
		wf_lag_add(qp);
	*qp_p = qp;
	return 0;

err_free_qp:
	hca->mem->free(hca->mem, qp);
	return ret;
}

void wf_qp_forget_echo(const struct wf_qp *qp, uint32_t *echo_p)
{
	const struct wf_hca_attr *attr = &qp->hca->attr;

	if (*echo_p != 0 && attr->forget != NULL)
		attr->forget(attr->forget_ctx, *echo_p);
	*echo_p = 0;
}

void wf_qp_destroy(struct wf_qp *qp)
{
	struct wf_hca *hca = qp->hca;

	assert(hca->qps[qp->qpn & hca->qp_mask] == qp);
	if (wf_unlikely(qp->inlet != 0))
		wf_list_remove(&qp->inlet_link);
	wf_qp_unschedule(qp);
	wf_event_purge(hca, qp);
	wf_mcast_purge(hca, qp);
	hca->qps[qp->qpn & hca->qp_mask] = NULL;
	hca->num_qps--;
	/*
	 * An XRC_RECV queue pair counts at its domain: qp->pd is that of the queue it receives for.
	 */
	(qp->init.xrcd != NULL ? qp->init.xrcd->pd : qp->pd)->refs--;
	if (qp->send_cq != NULL)
		qp->send_cq->refs--;
	if (qp->init.recv_cq != NULL)
		qp->recv_cq->refs--;
	if (qp->init.srq != NULL)
		qp->srq->refs--;
	wf_qp_forget_echo(qp, &qp->req.echo);
	wf_qp_forget_echo(qp, &qp->resp.echo);
	wf_sack_clear(hca, &qp->req.out);
	wf_sack_clear(hca, &qp->resp.out);
	wf_held_clear(qp);
	hca->mem->free(hca->mem, qp);
}

void wf_qp_kick(struct wf_qp *qp)
{
	if (qp->tx_where != WF_TX_NONE)
		return;
	qp->tx_where = WF_TX_RING;
	wf_list_append(&qp->hca->tx_ring, &qp->tx_link);
}

void wf_qp_kick_ack(struct wf_qp *qp)
{
	if (wf_list_empty(&qp->ack_link))
		wf_list_append(&qp->hca->ack_ring, &qp->ack_link);
}

void wf_qp_hold(struct wf_qp *qp, bool hold)
{
	qp->hold = hold;
	if (hold)
		return;
	if (qp->tx_where == WF_TX_PARKED) {
		qp->tx_where = WF_TX_NONE;
		wf_qp_kick(qp);
	}
	if (wf_answer_ack_due(qp))
		wf_qp_kick_ack(qp);
}

void wf_qp_set_timer(struct wf_qp *qp, wf_time at)
{
	struct wf_hca *hca = qp->hca;
	uint32_t pos = qp->heap_pos[WF_HEAP_TIMER];

	/* A place in the heap that is too early stays: wf_hca_tick() corrects it then. */
	qp->timer_at = at;
	if (at == WF_TIME_NEVER)
		return;
	if (pos == WF_HEAP_NONE || hca->heap[WF_HEAP_TIMER].item[pos].at > at)
		wf_heap_set(hca, WF_HEAP_TIMER, qp, at);
}

void wf_qp_unschedule(struct wf_qp *qp)
{
	qp->timer_at = WF_TIME_NEVER;
	wf_heap_set(qp->hca, WF_HEAP_TIMER, qp, WF_TIME_NEVER);
	wf_heap_set(qp->hca, WF_HEAP_PACE, qp, WF_TIME_NEVER);
	wf_list_remove(&qp->tx_link);
	wf_list_remove(&qp->ack_link);
	qp->tx_where = WF_TX_NONE;
}

void wf_qp_event(struct wf_qp *qp, enum wf_event_type type)
{
	struct wf_event event = { .type = type, .qp = qp };

	wf_event_add(qp->hca, &event);
}

void wf_qp_complete(struct wf_qp *qp, struct wf_cq *cq, const struct wf_wc *wc, bool solicited)
{
	if (wf_likely(wf_cq_push(cq, wc, solicited) == 0) || qp->state == WF_QPS_ERR)
		return;
	/* IBTA 11.6.3.2: a queue pair whose completions are lost cannot go on. */
	wf_qp_event(qp, WF_EVENT_QP_FATAL);
	wf_qp_to_error(qp);
}

void wf_qp_tell(const struct wf_qp *qp, enum wf_hca_note note, wf_time now)
{
	const struct wf_hca *hca = qp->hca;

	if (hca->watch != NULL)
		hca->watch(hca->watch_ctx, note, qp->dest, (enum wf_wc_status)qp->why, now);
}

void wf_qp_to_error(struct wf_qp *qp)
{
	if (qp->state == WF_QPS_ERR || qp->state == WF_QPS_RESET)
		return;
	qp->state = WF_QPS_ERR;
	wf_qp_tell(qp, WF_HCA_QP_ERROR, qp->hca->now);
	wf_qp_unschedule(qp);
	if (!qp->resp.refused) {
		qp->resp.jobs = qp->resp.replays = 0;
		qp->resp.ack = false;
	}
	qp->resp.untold = 0;
	qp->resp.cnp = qp->req.read_ack = false;
	wf_sack_clear(qp->hca, &qp->resp.out);
	wf_sack_start(&qp->resp.out, 0);
	if (wf_answer_ack_due(qp))
		wf_qp_kick_ack(qp);
	if (wf_answer_pending(qp))
		wf_qp_kick(qp);
	wf_comp_flush(qp);
	wf_resp_flush(qp);
	if (qp->init.srq != NULL)
		wf_qp_event(qp, WF_EVENT_QP_LAST_WQE_REACHED);
}

void wf_qp_fail(struct wf_qp *qp, enum wf_wc_status status)
{
	if (qp->state == WF_QPS_ERR || qp->state == WF_QPS_RESET)
		return;
	wf_qp_event(qp, WF_EVENT_QP_FATAL);
	if (qp->req.cons != qp->req.prod)
		wf_comp_fail(qp, status, 0);
	wf_qp_to_error(qp);
}

void wf_qp_fill(const struct wf_qp *qp, uint8_t opcode, uint32_t psn, struct wf_packet *pkt)
{
	const struct wf_hca *hca = qp->hca;

	*pkt = (struct wf_packet){
		.src = qp->src,
		.dst = qp->dest,
		.size = (uint16_t)(hca->attr.overhead + wf_op_header_len(opcode)),
		.input = qp->traffic_class,
		.type = WF_PACKET_RDMA,
		.cls = qp->cls & WF_PACKET_CLASS,
		.flags = qp->marks,
		.opcode = opcode,
		.entropy = qp->entropy,
		.pkey = hca->pkey[qp->pkey_index],
		.qpn = qp->dest_qpn,
		.psn = psn,
	};
}

void wf_qp_set_patience(struct wf_qp *qp, unsigned shift)
{
	assert(shift <= 2);
	qp->req.timeout = qp->req.timeout >> qp->patience << shift;
	qp->patience = (uint8_t)shift;
}

uint32_t wf_qp_host(const struct wf_qp *qp)
{
	return qp->hca->attr.host;
}

uint32_t wf_qp_num(const struct wf_qp *qp)
{
	return qp->qpn;
}

enum wf_qp_state wf_qp_state(const struct wf_qp *qp)
{
	return (enum wf_qp_state)qp->state;
}

enum wf_qp_type wf_qp_type(const struct wf_qp *qp)
{
	return (enum wf_qp_type)qp->type;
}

uint64_t wf_qp_rate(const struct wf_qp *qp)
{
	return qp->cc->rate;
}

uint64_t wf_qp_window(const struct wf_qp *qp)
{
	return qp->cc->window;
}

uint32_t wf_qp_acked(const struct wf_qp *qp)
{
	return (qp->req.out.una - qp->attr.sq_psn) & WF_PSN_MASK;
}

void wf_qp_set_user(struct wf_qp *qp, void *user)
{
	qp->user = user;
}

void *wf_qp_user(const struct wf_qp *qp)
{
	return qp->user;
}
