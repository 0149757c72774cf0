/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic_gsi.c - queue pair 1: the datagrams of communication management, and which of a host's
 * programs they are for.
 *
 * A host has one queue pair 1, but each of its programs has an adapter. So the sender looks whose a
 * message is: a communication ID begins with the number of the program that chose it, and the
 * daemon knows who listens for a service. Where nobody does, the host's operating system would say
 * no; the sender's adapter does it in its place. Not at once: a real host is asked for its address
 * and the way to it first, in which time a server that is about to listen does, and programs have
 * come to count on that.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/gsi.h"
#include "live/nic_priv.h"
#include "rdma/cq.h"
#include "rdma/mr.h"

#define RECEIVES 64 /* taken out again at once */
#define SENDS 256
#define RX_BYTES (WF_GRH_LEN + WF_MAD_LEN)

/* How long somebody may come to listen: 1 + 2 + 4 + ... + 32 ms. */
#define PATIENCE (1 * WF_MS)
#define NO_PATIENCE (64 * WF_MS)
/*
 * How long, where a program has bound the service and does not listen yet. Programs bind, tell the
 * others the number of the port, and then listen (qperf); between the last two they may have to
 * wait for a CPU, which an operating system that answers in their place does not.
 */
#define PATIENCE_BOUND (30 * WF_S)
#define FORGET (60 * WF_S)

/*
 * A REQ or SIDR_REQ of which it is not known who listens for it.
 *
 *	         nobody; 1, 2, .. 32 ms later       somebody
 *	ASKED ---------------------> RESTS   ASKED ----------> FOUND ---> sent, and forgotten
 *	      <---------------------                             for the 7th time nobody: refused
 *
 * Where somebody may still listen, every 32 ms, for PATIENCE_BOUND. One whose connection has been
 * given up meanwhile is forgotten.
 */
struct waiting {
	struct waiting *next;
	enum { ASKED, RESTS, FOUND } state;
	uint32_t host;
	uint32_t slot; /* FOUND: who listens */
	wf_time at;    /* RESTS: when the daemon is asked again; FOUND: since when */
	wf_time step;  /* how long the last rest was */
	wf_time since; /* it waits */
	uint8_t mad[WF_MAD_LEN];
};

struct wf_nic_gsi {
	struct waiting *waiting;
	struct wf_cm *cm;
	struct wf_pd *pd;
	struct wf_cq *send_cq, *recv_cq;
	struct wf_mr *mr;
	struct wf_qp *qp;
	uint8_t rx[RECEIVES][RX_BYTES];
};

static void forget(struct waiting **at)
{
	struct waiting *w = *at;

	assert(w->state <= FOUND && (w->state == FOUND) == (w->slot != 0));
	*at = w->next;
	free(w);
}

static int post_receive(struct wf_nic_gsi *g, uint64_t i)
{
	struct wf_sge sge = { (uintptr_t)g->rx[i], RX_BYTES, wf_mr_lkey(g->mr) };
	struct wf_recv_wr wr = { .wr_id = i, .sge = &sge, .num_sge = 1 };
	const struct wf_recv_wr *bad;

	return wf_qp_post_recv(g->qp, &wr, &bad);
}

static int start_qp(struct wf_nic_gsi *g)
{
	struct wf_qp_attr attr = { .qp_state = WF_QPS_INIT, .qkey = WF_QKEY_GMP };
	int ret;

	ret = wf_qp_modify(g->qp, &attr, WF_QP_STATE | WF_QP_PKEY_INDEX | WF_QP_QKEY);
	for (uint64_t i = 0; i < RECEIVES && ret == 0; i++)
		ret = post_receive(g, i);
	attr.qp_state = WF_QPS_RTR;
	if (ret == 0)
		ret = wf_qp_modify(g->qp, &attr, WF_QP_STATE);
	attr.qp_state = WF_QPS_RTS;
	if (ret == 0)
		ret = wf_qp_modify(g->qp, &attr, WF_QP_STATE | WF_QP_SQ_PSN);
	return ret;
}

/* What was made is the adapter's, and goes with it. */
static int make_qp(struct wf_nic *nic, struct wf_nic_gsi *g)
{
	struct wf_mr_attr mr = {
		.host = g->rx,
		.iova = (uintptr_t)g->rx,
		.length = sizeof(g->rx),
		.access = WF_ACCESS_LOCAL_WRITE,
	};
	struct wf_qp_init init = {
		.type = WF_QPT_GSI,
		.cap = { SENDS, RECEIVES, 1, 1, WF_MAD_LEN },
	};
	int ret;

	ret = wf_pd_create(nic->hca, &g->pd);
	if (ret == 0)
		ret = wf_cq_create(nic->hca, SENDS, &g->send_cq);
	if (ret == 0)
		ret = wf_cq_create(nic->hca, RECEIVES, &g->recv_cq);
	if (ret == 0)
		ret = wf_mr_reg(g->pd, &mr, &g->mr);
	init.send_cq = g->send_cq;
	init.recv_cq = g->recv_cq;
	if (ret == 0)
		ret = wf_qp_create(g->pd, &init, &g->qp);
	return ret == 0 ? start_qp(g) : ret;
}

int wf_nic_cm(struct wf_nic *nic, struct wf_cm **cm_p)
{
	struct wf_cm_cfg cfg = {
		.ca_guid = nic->table->host[nic->host].guid,
		.id_base = nic->slot << WF_CM_ID_SHIFT,
		.event = nic->cfg.cm_event,
		.arg = nic->cfg.arg,
	};
	struct wf_nic_gsi *g;
	int ret;

	if (nic->gsi == NULL) {
		g = calloc(1, sizeof(*g));
		if (g == NULL)
			return -ENOMEM;
		ret = make_qp(nic, g);
		if (ret == 0)
			ret = wf_cm_create(&cfg, wf_mem_heap(), &g->cm);
		/* A second try would find QPN 1 taken; there is none without memory anyway. */
		if (ret != 0) {
			free(g);
			return ret;
		}
		nic->gsi = g;
	}
	*cm_p = nic->gsi->cm;
	return 0;
}

void wf_nic_gsi_close(struct wf_nic *nic)
{
	if (nic->gsi == NULL)
		return;
	while (nic->gsi->waiting != NULL)
		forget(&nic->gsi->waiting);
	wf_cm_destroy(nic->gsi->cm);
	free(nic->gsi);
	nic->gsi = NULL;
}

wf_time wf_nic_deadline(const struct wf_nic *nic)
{
	wf_time at = wf_hca_deadline(nic->hca);

	if (nic->gsi == NULL)
		return at;
	for (const struct waiting *w = nic->gsi->waiting; w != NULL; w = w->next) {
		if (w->state == RESTS)
			at = wf_min_time(at, w->at);
	}
	return wf_min_time(at, wf_cm_deadline(nic->gsi->cm));
}

static int ask_service(struct wf_nic *nic, uint32_t op, uint64_t service, uint32_t flag,
                       struct wf_live_reply *reply)
{
	struct wf_live_req req = { .op = op };
	int fds[WF_LIVE_MAX_FDS];
	int ret;

	req.service.id = service;
	req.service.flag = flag;
	req.service.host = nic->host;
	wf_nic_asking(nic);
	ret = wf_nic_ask(nic, &req, reply, fds);
	wf_nic_asked(nic);
	return ret;
}

int wf_nic_service(struct wf_nic *nic, enum wf_live_op op, uint64_t *service, uint32_t flag)
{
	struct wf_live_reply reply;
	int ret = ask_service(nic, op, *service, flag, &reply);

	if (ret == 0)
		*service = reply.service.id;
	return ret;
}

int wf_nic_find_service(struct wf_nic *nic, uint64_t service, uint32_t *host_p)
{
	struct wf_live_reply reply;
	int ret = ask_service(nic, WF_LIVE_SERVICE_SEEK, service, 0, &reply);

	if (ret == 0)
		*host_p = reply.service.host;
	return ret;
}

/* Asks the daemon who listens; what cannot be asked now is asked after a rest. */
static void ask_listener(struct wf_nic *nic, struct waiting *w)
{
	struct wf_live_req req = { .op = WF_LIVE_SERVICE_FIND };

	req.service.id = wf_gsi_service(w->mad);
	req.service.host = w->host;
	w->state = wf_nic_murmur(nic, &req) == 0 ? ASKED : RESTS;
	w->at = wf_nic_now(nic) + w->step;
}

static struct waiting **find_waiting(struct wf_nic_gsi *g, uint32_t host, const uint8_t *mad)
{
	struct waiting **at = &g->waiting;

	while (*at != NULL &&
	       ((*at)->host != host || wf_cm_local_id((*at)->mad) != wf_cm_local_id(mad)))
		at = &(*at)->next;
	return at;
}

/* Keeps a request until it is known who listens for it. */
static void keep_request(struct wf_nic *nic, uint32_t host, const uint8_t *mad)
{
	struct waiting *w = *find_waiting(nic->gsi, host, mad);

	assert(nic->locked && wf_gsi_is_request(mad));
	if (w != NULL)
		return; /* it is sent again, and waits already */
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return;
	w->host = host;
	w->step = PATIENCE;
	w->since = wf_nic_now(nic);
	memcpy(w->mad, mad, WF_MAD_LEN);
	w->next = nic->gsi->waiting;
	nic->gsi->waiting = w;
	ask_listener(nic, w);
}

/* Which program of a host the request is for; 0: it is not one that was kept. */
static uint32_t take_listener(struct wf_nic *nic, uint32_t host, const uint8_t *mad)
{
	struct waiting **at = find_waiting(nic->gsi, host, mad);
	uint32_t slot;

	if (*at == NULL || (*at)->state != FOUND)
		return 0;
	slot = (*at)->slot;
	forget(at);
	wf_cm_aim(nic->gsi->cm, mad, slot << WF_CM_ID_SHIFT);
	return slot;
}

struct wf_nic_peer *wf_nic_gsi_way(struct wf_nic *nic, const struct wf_packet *pkt,
                                   const void *payload)
{
	const struct wf_live_table *t = nic->table;
	uint32_t slot;

	if ((pkt->dst & WF_LIVE_REMOTE) != 0)
		return wf_nic_peer(nic, pkt->dst, 0);
	if (pkt->dst >= t->n_hosts || pkt->length != WF_MAD_LEN ||
	    !wf_live_is_active(t, pkt->dst) || nic->gsi == NULL)
		return NULL;
	slot = wf_gsi_is_request(payload) ? take_listener(nic, pkt->dst, payload)
	                                  : wf_gsi_slot(payload);
	return slot == 0 ? NULL : wf_nic_peer(nic, pkt->dst, slot);
}

bool wf_nic_gsi_may_receive(const struct wf_nic *nic, const struct wf_packet *pkt)
{
	return pkt->dst == nic->host && pkt->length == WF_MAD_LEN &&
	       pkt->u.deth.src_qpn == WF_QPN_GSI;
}

void wf_nic_gsi_receive(struct wf_nic *nic, const struct wf_nic_peer *from, wf_time now)
{
	struct wf_nic_gsi *g = nic->gsi;
	struct wf_wc wc;

	while (g != NULL && wf_cq_poll(g->recv_cq, 1, &wc) == 1) {
		const uint8_t *mad = g->rx[wc.wr_id] + WF_GRH_LEN;

		assert(from != NULL && wc.wr_id < RECEIVES);
		if (wc.status != WF_WC_SUCCESS || wc.byte_len != RX_BYTES)
			nic->dropped++;
		else if (wf_nic_is_wire(from) || wf_gsi_is_from(mad, from->slot))
			wf_cm_rx(g->cm, wc.src, mad, now);
		else
			nic->dropped++;
		(void)!post_receive(g, wc.wr_id);
	}
}

static int send_mad(struct wf_nic *nic, uint32_t host, const uint8_t *mad)
{
	struct wf_nic_gsi *g = nic->gsi;
	struct wf_ah_attr to = { .dest = host, .port_num = 1 };
	struct wf_sge sge = { (uintptr_t)mad, WF_MAD_LEN, 0 };
	struct wf_send_wr wr = {
		.sge = &sge,
		.num_sge = 1,
		.opcode = WF_WR_SEND,
		.flags = WF_SEND_INLINE,
	};
	const struct wf_send_wr *bad;
	struct wf_ah *ah;
	int ret;

	to.dlid = host < nic->table->n_hosts ? nic->table->host[host].lid : 0;
	to.by_lid = nic->table->managed != 0;
	to.is_global = nic->table->layer == WF_LIVE_ROCE;
	if (to.is_global)
		(void)wf_nic_gid_known(nic, host, WF_LIVE_GID_IPV4, to.dgid);
	ret = wf_ah_create(g->pd, &to, &ah);
	if (ret != 0)
		return ret;
	wr.ud.ah = ah;
	wr.ud.qpn = WF_QPN_GSI;
	wr.ud.qkey = WF_QKEY_GMP;
	ret = wf_qp_post_send(g->qp, &wr, &bad);
	wf_ah_destroy(ah);
	return ret;
}

/* Nobody listens; somebody may come. Returns false when that took too long, and it is refused. */
static bool rest(struct wf_nic *nic, struct waiting *w, bool bound)
{
	wf_time now = wf_nic_now(nic);
	uint8_t answer[WF_MAD_LEN];

	assert(w->state == ASKED && w->step >= PATIENCE && w->step < NO_PATIENCE);
	if (w->step < NO_PATIENCE / 2 || !bound || now - w->since > PATIENCE_BOUND)
		w->step *= 2;
	w->at = now + w->step;
	w->state = RESTS;
	if (w->step < NO_PATIENCE)
		return true;
	if (wf_cm_refuse(w->mad, answer))
		wf_cm_rx(nic->gsi->cm, w->host, answer, now);
	return false;
}

void wf_nic_gsi_found(struct wf_nic *nic, uint32_t host, uint64_t service, uint32_t slot)
{
	struct waiting **at = nic->gsi == NULL ? NULL : &nic->gsi->waiting;

	while (at != NULL && *at != NULL) {
		struct waiting *w = *at;

		if (w->state == ASKED && w->host == host && wf_gsi_service(w->mad) == service) {
			if (!wf_cm_is_waiting(nic->gsi->cm, w->mad)) {
				forget(at);
				continue;
			}
			if (slot != 0 && slot != WF_LIVE_BOUND) {
				w->state = FOUND;
				w->slot = slot;
				w->at = wf_nic_now(nic);
				(void)!send_mad(nic, w->host, w->mad);
			} else if (!rest(nic, w, slot == WF_LIVE_BOUND)) {
				forget(at);
				continue;
			}
		}
		at = &w->next;
	}
}

void wf_nic_gsi_orphan(struct wf_nic *nic)
{
	if (nic->gsi == NULL)
		return;
	while (nic->gsi->waiting != NULL)
		forget(&nic->gsi->waiting);
	wf_cm_fail(nic->gsi->cm, wf_nic_now(nic));
}

static void run_waiting(struct wf_nic *nic, wf_time now)
{
	struct waiting **at = &nic->gsi->waiting;

	while (*at != NULL) {
		struct waiting *w = *at;

		if (w->state == RESTS && w->at <= now)
			ask_listener(nic, w);
		/* It could not be posted, and nobody sent it again: the connection was given up. */
		if (w->state == FOUND && now - w->at > FORGET)
			forget(at);
		else
			at = &w->next;
	}
}

void wf_nic_gsi_progress(struct wf_nic *nic, wf_time now)
{
	struct wf_nic_gsi *g = nic->gsi;
	uint8_t mad[WF_MAD_LEN];
	struct wf_wc wc;
	uint32_t host;

	assert(nic->locked && g != NULL);
	if (wf_cm_deadline(g->cm) <= now)
		wf_cm_tick(g->cm, now);
	if (wf_unlikely(g->waiting != NULL))
		run_waiting(nic, now);
	while (wf_cq_poll(g->send_cq, 1, &wc) == 1)
		;
	/* No more than fits: what is posted here is sent before we come back. */
	for (unsigned i = 0; i < SENDS / 4 && wf_cm_tx(g->cm, &host, mad); i++) {
		if (wf_gsi_is_request(mad) && (host & WF_LIVE_REMOTE) == 0)
			keep_request(nic, host, mad);
		else
			(void)!send_mad(nic, host, mad);
	}
}

bool wf_nic_gsi_pending(const struct wf_nic *nic)
{
	return nic->gsi != NULL && wf_cm_has_tx(nic->gsi->cm);
}

void wf_nic_gsi_gone(struct wf_nic *nic, uint32_t host, uint32_t slot)
{
	if (nic->gsi != NULL)
		wf_cm_gone(nic->gsi->cm, host, slot << WF_CM_ID_SHIFT, wf_nic_now(nic));
}
