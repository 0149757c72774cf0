/* SPDX-License-Identifier: Apache-2.0 */
/* cm_rx.c - what comes in. Everything in a message is somebody's claim. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "mgmt/cm_priv.h"
#include "wire/byte.h"

static void send_mra(struct wf_cm_conn *conn, enum wf_cm_about about)
{
	struct wf_cm_mra mra = {
		.local_id = conn->info.local_id,
		.remote_id = conn->info.remote_id,
		.about = (uint8_t)about,
		.timeout = WF_CM_SERVICE_TIMEOUT,
	};
	uint8_t mad[WF_MAD_LEN] = { 0 };

	wf_cm_header(mad, WF_CM_MRA, (uint64_t)mra.local_id << 32 | WF_CM_MRA);
	wf_cm_mra_encode(&mra, mad);
	wf_cm_post(conn->cm, conn->info.host, mad);
}

/* A REQ that came before: our answer was lost, or its user takes long. */
static void repeated_req(struct wf_cm_conn *conn)
{
	if (!conn->info.passive)
		return;
	if (conn->info.state == WF_CM_REQ_RCVD)
		send_mra(conn, WF_CM_ABOUT_REQ);
	else if (conn->info.state == WF_CM_REP_SENT)
		wf_cm_post(conn->cm, conn->info.host, conn->msg);
}

static void fill_passive(struct wf_cm_info *i, const struct wf_cm_req *req)
{
	i->passive = true;
	i->req = *req;
	i->service = req->service;
	i->remote_qpn = req->qpn;
	i->remote_psn = req->psn;
	/* What the one may have under way, the other must be able to take. */
	i->responder_resources = req->initiator_depth;
	i->initiator_depth = req->responder_resources;
	i->retry_count = req->retry_count;
	i->rnr_retry = req->rnr_retry;
	i->flow_control = req->flow_control;
	i->srq = req->srq;
}

/* Has a listener hear of a new connection. Returns whether it wants it; otherwise conn is gone. */
static bool offer(struct wf_cm_conn *conn, const struct wf_cm_listener *l,
                  enum wf_cm_event_type type, const uint8_t *mad, wf_time now)
{
	conn->user = l->user;
	if (wf_cm_tell(conn, type, 0, mad) == 0)
		return true;
	wf_cm_release(conn, now);
	return false;
}

/*
 * The connection that the queue pair of a new one is in already: the peer has forgotten it, or uses
 * its queue pair again too soon.
 */
static struct wf_cm_conn *find_stale(const struct wf_cm *cm, uint32_t host, uint32_t qpn)
{
	for (uint32_t i = 0; i < cm->max && qpn != 0; i++) {
		struct wf_cm_conn *conn = cm->conns[i];

		if (conn != NULL && conn->known && conn->info.host == host &&
		    conn->info.remote_qpn == qpn && conn->info.state <= WF_CM_TIMEWAIT)
			return conn;
	}
	return NULL;
}

static void rx_req(struct wf_cm *cm, uint32_t host, const uint8_t *mad, wf_time now)
{
	const struct wf_cm_listener *l;
	struct wf_cm_conn *conn;
	struct wf_cm_req req;

	wf_cm_req_decode(mad, &req);
	conn = wf_cm_find_remote(cm, host, req.local_id);
	if (conn != NULL) {
		repeated_req(conn);
		return;
	}
	l = wf_cm_find_listener(cm, req.service);
	if (l == NULL || req.transport == WF_CM_RD) {
		wf_cm_send_rej(cm, host, 0, req.local_id, WF_CM_ABOUT_REQ,
		               l == NULL ? WF_CM_REJ_INVALID_SERVICE_ID
		                         : WF_CM_REJ_INVALID_TRANSPORT,
		               NULL, 0);
		return;
	}
	/*
	 * IBTA vol. 1, 12.9.8.3.1: the old one is ended, and the new one may be asked for again
	 * then.
	 */
	conn = find_stale(cm, host, req.qpn);
	if (conn != NULL) {
		wf_cm_send_rej(cm, host, 0, req.local_id, WF_CM_ABOUT_REQ,
		               WF_CM_REJ_STALE_CONNECTION, NULL, 0);
		if (conn->info.state == WF_CM_ESTABLISHED)
			(void)!wf_cm_disconnect(conn, now);
		return;
	}
	conn = wf_cm_conn_create(cm, host, WF_CM_REQ_RCVD);
	if (conn == NULL) {
		wf_cm_send_rej(cm, host, 0, req.local_id, WF_CM_ABOUT_REQ, WF_CM_REJ_NO_RESOURCES,
		               NULL, 0);
		return;
	}
	fill_passive(&conn->info, &req);
	wf_cm_conn_know(conn, req.local_id);
	(void)offer(conn, l, WF_CM_EV_REQ, mad, now);
}

static void rx_rep(struct wf_cm *cm, uint32_t host, const uint8_t *mad, wf_time now)
{
	struct wf_cm_conn *conn;
	struct wf_cm_info *i;
	struct wf_cm_rep rep;

	(void)now;
	wf_cm_rep_decode(mad, &rep);
	conn = wf_cm_find(cm, rep.remote_id);
	if (conn == NULL || conn->info.host != host || conn->info.passive) {
		wf_cm_send_rej(cm, host, rep.remote_id, rep.local_id, WF_CM_ABOUT_REP,
		               WF_CM_REJ_INVALID_COMM_ID, NULL, 0);
		return;
	}
	i = &conn->info;
	if (i->state == WF_CM_ESTABLISHED && i->remote_id == rep.local_id) {
		wf_cm_send_pair(conn, WF_CM_RTU);
		return;
	}
	if (i->state == WF_CM_REP_RCVD && i->remote_id == rep.local_id) {
		send_mra(conn, WF_CM_ABOUT_REP);
		return;
	}
	if (i->state != WF_CM_REQ_SENT)
		return;
	wf_cm_conn_know(conn, rep.local_id);
	i->state = WF_CM_REP_RCVD;
	i->remote_qpn = rep.qpn;
	i->remote_psn = rep.psn;
	i->responder_resources = rep.initiator_depth;
	i->initiator_depth = rep.responder_resources;
	i->rnr_retry = rep.rnr_retry;
	i->flow_control = rep.flow_control;
	i->srq = rep.srq;
	conn->at = WF_TIME_NEVER;
	(void)wf_cm_tell(conn, WF_CM_EV_REP, 0, mad);
}

/* The connection that a message of the second kind is about: both names are right. */
static struct wf_cm_conn *find_pair(struct wf_cm *cm, uint32_t host, const uint8_t *mad)
{
	struct wf_cm_conn *conn = wf_cm_find(cm, wf_cm_remote_id(mad));

	return conn != NULL && conn->info.host == host && conn->known &&
	                       conn->info.remote_id == wf_cm_local_id(mad)
	               ? conn
	               : NULL;
}

static void rx_rtu(struct wf_cm *cm, uint32_t host, const uint8_t *mad, wf_time now)
{
	struct wf_cm_conn *conn = find_pair(cm, host, mad);

	(void)now;
	if (conn == NULL || conn->info.state != WF_CM_REP_SENT)
		return;
	conn->info.state = WF_CM_ESTABLISHED;
	conn->at = WF_TIME_NEVER;
	(void)wf_cm_tell(conn, WF_CM_EV_ESTABLISHED, 0, mad);
}

static void rx_mra(struct wf_cm *cm, uint32_t host, const uint8_t *mad, wf_time now)
{
	struct wf_cm_conn *conn;
	struct wf_cm_mra mra;

	wf_cm_mra_decode(mad, &mra);
	conn = wf_cm_find(cm, mra.remote_id);
	if (conn == NULL || conn->info.host != host)
		return;
	if ((conn->info.state == WF_CM_REQ_SENT && mra.about == WF_CM_ABOUT_REQ) ||
	    (conn->info.state == WF_CM_REP_SENT && mra.about == WF_CM_ABOUT_REP))
		wf_cm_set_timer(conn, now + wf_cm_time(mra.timeout) + conn->timeout);
}

/* The peer wants no connection, or none any more. */
static void rejected(struct wf_cm_conn *conn, int reason, const uint8_t *mad, wf_time now)
{
	enum wf_cm_state was = conn->info.state;

	switch (was) {
	case WF_CM_REQ_SENT:
	case WF_CM_REQ_RCVD:
	case WF_CM_REP_SENT:
	case WF_CM_REP_RCVD:
		conn->info.state = WF_CM_CLOSED;
		conn->at = WF_TIME_NEVER;
		break;
	case WF_CM_ESTABLISHED:
	case WF_CM_DREQ_SENT:
	case WF_CM_DREQ_RCVD:
		wf_cm_timewait(conn, now);
		break;
	case WF_CM_TIMEWAIT:
	case WF_CM_SIDR_SENT:
	case WF_CM_SIDR_RCVD:
	case WF_CM_CLOSED:
	case WF_CM_STATES:
		return;
	}
	if (was == WF_CM_DREQ_SENT)
		(void)wf_cm_tell(conn, WF_CM_EV_DISCONNECTED, 0, NULL);
	else if (was != WF_CM_DREQ_RCVD)
		(void)wf_cm_tell(conn, WF_CM_EV_REJECTED, reason, mad);
	if (conn->info.state == WF_CM_CLOSED && conn->released)
		wf_cm_conn_free(conn);
}

static void rx_rej(struct wf_cm *cm, uint32_t host, const uint8_t *mad, wf_time now)
{
	struct wf_cm_conn *conn;
	struct wf_cm_rej rej;

	wf_cm_rej_decode(mad, &rej);
	/* Who has given up before our REP came does not know our name. */
	conn = rej.remote_id == 0 && rej.reason == WF_CM_REJ_TIMEOUT
	               ? wf_cm_find_remote(cm, host, rej.local_id)
	               : wf_cm_find(cm, rej.remote_id);
	if (conn == NULL || conn->info.host != host ||
	    (conn->known && rej.local_id != 0 && conn->info.remote_id != rej.local_id))
		return;
	rejected(conn, rej.reason, mad, now);
}

/* A DREQ came, or would have. */
static void disconnected(struct wf_cm_conn *conn, const uint8_t *mad, wf_time now)
{
	conn->info.state = WF_CM_DREQ_RCVD;
	conn->at = WF_TIME_NEVER;
	if (conn->released)
		(void)!wf_cm_disconnect(conn, now);
	else
		(void)wf_cm_tell(conn, WF_CM_EV_DISCONNECTED, 0, mad);
}

/* There is nothing to disconnect; the peer shall not ask again. */
static void drep_to_nobody(struct wf_cm *cm, uint32_t host, const struct wf_cm_pair *dreq)
{
	struct wf_cm_pair pair = { dreq->remote_id, dreq->local_id, 0 };
	uint8_t mad[WF_MAD_LEN] = { 0 };

	wf_cm_header(mad, WF_CM_DREP, (uint64_t)pair.local_id << 32 | WF_CM_DREP);
	wf_cm_pair_encode(&pair, mad);
	wf_cm_post(cm, host, mad);
}

static void rx_dreq(struct wf_cm *cm, uint32_t host, const uint8_t *mad, wf_time now)
{
	struct wf_cm_conn *conn = find_pair(cm, host, mad);
	struct wf_cm_pair dreq;

	wf_cm_pair_decode(mad, &dreq);
	if (conn == NULL) {
		drep_to_nobody(cm, host, &dreq);
		return;
	}
	if (dreq.qpn != conn->info.local_qpn)
		return;
	switch (conn->info.state) {
	case WF_CM_REP_SENT:
	case WF_CM_ESTABLISHED:
	case WF_CM_DREQ_SENT:
		disconnected(conn, mad, now);
		break;
	case WF_CM_TIMEWAIT:
		wf_cm_send_pair(conn, WF_CM_DREP);
		break;
	case WF_CM_REQ_SENT:
	case WF_CM_REQ_RCVD:
	case WF_CM_REP_RCVD:
	case WF_CM_DREQ_RCVD:
	case WF_CM_SIDR_SENT:
	case WF_CM_SIDR_RCVD:
	case WF_CM_CLOSED:
	case WF_CM_STATES:
		break;
	}
}

static void rx_drep(struct wf_cm *cm, uint32_t host, const uint8_t *mad, wf_time now)
{
	struct wf_cm_conn *conn = find_pair(cm, host, mad);
	enum wf_cm_state was;

	if (conn == NULL)
		return;
	was = conn->info.state;
	if (was != WF_CM_DREQ_SENT && was != WF_CM_DREQ_RCVD)
		return;
	wf_cm_timewait(conn, now);
	if (was == WF_CM_DREQ_SENT)
		(void)wf_cm_tell(conn, WF_CM_EV_DISCONNECTED, 0, mad);
}

static void rx_sidr_req(struct wf_cm *cm, uint32_t host, const uint8_t *mad, wf_time now)
{
	const struct wf_cm_listener *l;
	struct wf_cm_sidr_req req;
	struct wf_cm_conn *conn;
	uint8_t answer[WF_MAD_LEN];

	wf_cm_sidr_req_decode(mad, &req);
	if (wf_cm_find_remote(cm, host, req.request) != NULL)
		return; /* its user has it */
	l = wf_cm_find_listener(cm, req.service);
	conn = l == NULL ? NULL : wf_cm_conn_create(cm, host, WF_CM_SIDR_RCVD);
	if (conn == NULL) {
		(void)wf_cm_refuse(mad, answer);
		wf_cm_post(cm, host, answer);
		return;
	}
	conn->info.passive = true;
	conn->info.service = req.service;
	wf_cm_conn_know(conn, req.request);
	(void)offer(conn, l, WF_CM_EV_SIDR_REQ, mad, now);
}

static void rx_sidr_rep(struct wf_cm *cm, uint32_t host, const uint8_t *mad, wf_time now)
{
	struct wf_cm_sidr_rep rep;
	struct wf_cm_conn *conn;

	(void)now;
	wf_cm_sidr_rep_decode(mad, &rep);
	conn = wf_cm_find(cm, rep.request);
	if (conn == NULL || conn->info.host != host || conn->info.state != WF_CM_SIDR_SENT)
		return;
	conn->info.state = WF_CM_CLOSED;
	conn->info.remote_qpn = rep.qpn;
	conn->at = WF_TIME_NEVER;
	(void)wf_cm_tell(conn, WF_CM_EV_SIDR_REP, rep.status, mad);
}

void wf_cm_rx(struct wf_cm *cm, uint32_t host, const uint8_t *mad, wf_time now)
{
	static void (*const handlers[])(struct wf_cm *, uint32_t, const uint8_t *, wf_time) = {
		[0] = rx_req,
		[WF_CM_MRA - WF_CM_REQ] = rx_mra,
		[WF_CM_REJ - WF_CM_REQ] = rx_rej,
		[WF_CM_REP - WF_CM_REQ] = rx_rep,
		[WF_CM_RTU - WF_CM_REQ] = rx_rtu,
		[WF_CM_DREQ - WF_CM_REQ] = rx_dreq,
		[WF_CM_DREP - WF_CM_REQ] = rx_drep,
		[WF_CM_SIDR_REQ - WF_CM_REQ] = rx_sidr_req,
		[WF_CM_SIDR_REP - WF_CM_REQ] = rx_sidr_rep,
	};
	struct wf_mad header;

	wf_mad_decode(mad, &header);
	if (header.base_version != WF_MAD_BASE_VERSION || header.mgmt_class != WF_MAD_CLASS_CM ||
	    header.method != WF_MAD_METHOD_SEND || header.attr_id < WF_CM_REQ ||
	    header.attr_id > WF_CM_SIDR_REP)
		return;
	handlers[header.attr_id - WF_CM_REQ](cm, host, mad, now);
}

bool wf_cm_is_waiting(const struct wf_cm *cm, const uint8_t *mad)
{
	const struct wf_cm_conn *conn = wf_cm_find(cm, wf_cm_local_id(mad));

	return conn != NULL &&
	       (conn->info.state == WF_CM_REQ_SENT || conn->info.state == WF_CM_SIDR_SENT);
}

void wf_cm_aim(struct wf_cm *cm, const uint8_t *mad, uint32_t id_base)
{
	struct wf_cm_conn *conn = wf_cm_find(cm, wf_cm_local_id(mad));
	uint16_t attr_id = wf_be16_get(mad + 16);

	assert((id_base & ((UINT32_C(1) << WF_CM_ID_SHIFT) - 1)) == 0);
	if ((attr_id == WF_CM_REQ || attr_id == WF_CM_SIDR_REQ) && conn != NULL)
		conn->aim = id_base;
}

/* Whose connection it is at the other end: the upper bits of the IDs there. */
static uint32_t owner(const struct wf_cm_conn *conn)
{
	return (conn->known ? conn->info.remote_id : conn->aim) >> WF_CM_ID_SHIFT;
}

/* Nobody is there who could answer. */
static void unreachable(struct wf_cm_conn *conn, int status)
{
	assert(conn->info.state != WF_CM_ESTABLISHED && conn->info.state != WF_CM_CLOSED);
	conn->info.state = WF_CM_CLOSED;
	conn->at = WF_TIME_NEVER;
	(void)wf_cm_tell(conn, WF_CM_EV_UNREACHABLE, status, NULL);
	if (conn->released)
		wf_cm_conn_free(conn);
}

void wf_cm_gone(struct wf_cm *cm, uint32_t host, uint32_t id_base, wf_time now)
{
	for (uint32_t i = 0; i < cm->max; i++) {
		struct wf_cm_conn *conn = cm->conns[i];

		if (conn == NULL || conn->info.host != host ||
		    owner(conn) != id_base >> WF_CM_ID_SHIFT)
			continue;
		if (conn->info.state == WF_CM_ESTABLISHED)
			disconnected(conn, NULL, now);
		else if (conn->info.state == WF_CM_SIDR_SENT)
			unreachable(conn, -ECONNREFUSED);
		else
			rejected(conn, WF_CM_REJ_CONSUMER, NULL, now);
	}
}

static void fail(struct wf_cm_conn *conn, wf_time now)
{
	switch (conn->info.state) {
	case WF_CM_REQ_SENT:
	case WF_CM_REQ_RCVD:
	case WF_CM_REP_SENT:
	case WF_CM_REP_RCVD:
	case WF_CM_SIDR_SENT:
	case WF_CM_SIDR_RCVD:
		unreachable(conn, -ENODEV);
		break;
	case WF_CM_ESTABLISHED:
		disconnected(conn, NULL, now);
		break;
	case WF_CM_DREQ_SENT:
	case WF_CM_DREQ_RCVD:
		rejected(conn, WF_CM_REJ_CONSUMER, NULL, now);
		break;
	case WF_CM_TIMEWAIT:
	case WF_CM_CLOSED:
	case WF_CM_STATES:
		break;
	}
}

void wf_cm_fail(struct wf_cm *cm, wf_time now)
{
	for (uint32_t i = 0; i < cm->max; i++) {
		if (cm->conns[i] != NULL)
			fail(cm->conns[i], now);
	}
}

bool wf_cm_refuse(const uint8_t *mad, uint8_t answer[WF_MAD_LEN])
{
	uint16_t attr_id = wf_be16_get(mad + 16);

	memset(answer, 0, WF_MAD_LEN);
	if (attr_id == WF_CM_REQ) {
		struct wf_cm_rej rej = {
			.remote_id = wf_cm_local_id(mad),
			.about = WF_CM_ABOUT_REQ,
			.reason = WF_CM_REJ_INVALID_SERVICE_ID,
		};

		wf_cm_header(answer, WF_CM_REJ, WF_CM_REJ);
		wf_cm_rej_encode(&rej, answer);
		return true;
	}
	if (attr_id == WF_CM_SIDR_REQ) {
		struct wf_cm_sidr_req req;
		struct wf_cm_sidr_rep rep = { .status = WF_CM_SIDR_UNSUPPORTED };

		wf_cm_sidr_req_decode(mad, &req);
		rep.request = req.request;
		rep.service = req.service;
		wf_cm_header(answer, WF_CM_SIDR_REP, WF_CM_SIDR_REP);
		wf_cm_sidr_rep_encode(&rep, answer);
		return true;
	}
	return false;
}
