/* SPDX-License-Identifier: Apache-2.0 */
/* cm.c - connections: what users do with them, and what time does. */
#include "mgmt/cm.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "mgmt/cm_priv.h"
#include "wire/byte.h"

#define FIRST_CONNS 64
#define TICK WF_MS      /* timers that are this close are run together */
#define SIDR_TIMEOUT 20 /* as the RDMA CM of Linux has it */
#define SIDR_RETRIES 15
#define NO_PATH_TIMEOUT 17

int wf_cm_create(const struct wf_cm_cfg *cfg, struct wf_mem *mem, struct wf_cm **cm_p)
{
	struct wf_cm *cm = mem->alloc(mem, sizeof(*cm));

	assert((cfg->id_base & ((UINT32_C(1) << WF_CM_ID_SHIFT) - 1)) == 0);
	if (cm == NULL)
		return -ENOMEM;
	cm->mem = mem;
	cm->cfg = *cfg;
	cm->max = FIRST_CONNS;
	cm->out_tail = &cm->out;
	cm->deadline = WF_TIME_NEVER;
	cm->conns = mem->alloc(mem, cm->max * sizeof(struct wf_cm_conn *));
	if (cm->conns == NULL) {
		mem->free(mem, cm);
		return -ENOMEM;
	}
	*cm_p = cm;
	return 0;
}

void wf_cm_destroy(struct wf_cm *cm)
{
	struct wf_mem *mem;

	if (cm == NULL)
		return;
	mem = cm->mem;
	for (uint32_t i = 0; i < cm->max; i++)
		mem->free(mem, cm->conns[i]);
	while (cm->listeners != NULL) {
		struct wf_cm_listener *l = cm->listeners;

		cm->listeners = l->next;
		mem->free(mem, l);
	}
	while (cm->out != NULL) {
		struct wf_cm_out *o = cm->out;

		cm->out = o->next;
		mem->free(mem, o);
	}
	mem->free(mem, cm->conns);
	mem->free(mem, cm);
}

struct wf_cm_listener *wf_cm_find_listener(const struct wf_cm *cm, uint64_t service)
{
	struct wf_cm_listener *l = cm->listeners;

	while (l != NULL && l->service != service)
		l = l->next;
	return l;
}

int wf_cm_listen(struct wf_cm *cm, uint64_t service, void *user)
{
	struct wf_cm_listener *l;

	if (wf_cm_find_listener(cm, service) != NULL)
		return -EADDRINUSE;
	l = cm->mem->alloc(cm->mem, sizeof(*l));
	if (l == NULL)
		return -ENOMEM;
	l->service = service;
	l->user = user;
	l->next = cm->listeners;
	cm->listeners = l;
	return 0;
}

void wf_cm_unlisten(struct wf_cm *cm, uint64_t service)
{
	for (struct wf_cm_listener **at = &cm->listeners; *at != NULL; at = &(*at)->next) {
		struct wf_cm_listener *l = *at;

		if (l->service == service) {
			*at = l->next;
			cm->mem->free(cm->mem, l);
			return;
		}
	}
}

static bool grow(struct wf_cm *cm)
{
	struct wf_cm_conn **more;

	if (cm->max >= UINT32_C(1) << WF_CM_INDEX_BITS)
		return false;
	more = cm->mem->alloc(cm->mem, 2 * cm->max * sizeof(struct wf_cm_conn *));
	if (more == NULL)
		return false;
	memcpy(more, cm->conns, cm->max * sizeof(struct wf_cm_conn *));
	cm->mem->free(cm->mem, cm->conns);
	cm->conns = more;
	cm->max *= 2;
	return true;
}

static struct wf_cm_conn *make_conn(struct wf_cm *cm, uint32_t local_id)
{
	struct wf_cm_conn *conn = cm->mem->alloc(cm->mem, sizeof(*conn));
	uint32_t i = local_id & (cm->max - 1);

	if (conn == NULL)
		return NULL;
	assert(cm->conns[i] == NULL);
	conn->cm = cm;
	conn->at = WF_TIME_NEVER;
	conn->info.local_id = local_id;
	cm->conns[i] = conn;
	cm->n++;
	return conn;
}

struct wf_cm_conn *wf_cm_conn_create(struct wf_cm *cm, uint32_t host, enum wf_cm_state state)
{
	uint32_t own = (UINT32_C(1) << WF_CM_ID_SHIFT) - 1;
	struct wf_cm_conn *conn;

	/* A quarter stays free, so that a free place is found soon. */
	if (cm->n >= cm->max - cm->max / 4 && !grow(cm))
		return NULL;
	/*
	 * IDs follow each other: the upper part of the number counts the turns, so that the ID of a
	 * connection that ended is not soon another's. 0 is nobody's.
	 */
	do {
		cm->cursor = (cm->cursor + 1) & own;
		if ((cm->cursor & ((UINT32_C(1) << WF_CM_INDEX_BITS) - 1)) >= cm->max)
			cm->cursor =
				((cm->cursor >> WF_CM_INDEX_BITS) + 1) << WF_CM_INDEX_BITS & own;
	} while (cm->cursor == 0 || cm->conns[cm->cursor & (cm->max - 1)] != NULL);
	conn = make_conn(cm, cm->cfg.id_base | cm->cursor);
	if (conn == NULL)
		return NULL;
	conn->info.state = state;
	conn->info.host = host;
	return conn;
}

int wf_cm_adopt(struct wf_cm *cm, const struct wf_cm_info *info, struct wf_cm_conn **conn_p)
{
	uint32_t id = info->local_id, index = id & ((UINT32_C(1) << WF_CM_INDEX_BITS) - 1);
	struct wf_cm_conn *conn;

	if (id == 0) {
		conn = wf_cm_conn_create(cm, info->host, info->state);
	} else {
		if (id >> WF_CM_ID_SHIFT != cm->cfg.id_base >> WF_CM_ID_SHIFT)
			return -EINVAL;
		while (index >= cm->max) {
			if (!grow(cm))
				return -ENOMEM;
		}
		if (cm->conns[index] != NULL)
			return -EEXIST;
		conn = make_conn(cm, id);
	}
	if (conn == NULL)
		return -ENOMEM;
	id = conn->info.local_id;
	conn->info = *info;
	conn->info.local_id = id;
	if (info->state != WF_CM_REQ_SENT)
		wf_cm_conn_know(conn, info->remote_id);
	*conn_p = conn;
	return 0;
}

uint32_t wf_cm_count(const struct wf_cm *cm)
{
	return cm->n;
}

static struct wf_cm_conn **bucket(struct wf_cm *cm, uint32_t host, uint32_t remote_id)
{
	uint32_t hash = (remote_id ^ host * UINT32_C(2654435761)) * UINT32_C(2654435761);

	return &cm->bucket[hash % WF_CM_BUCKETS];
}

void wf_cm_conn_free(struct wf_cm_conn *conn)
{
	struct wf_cm *cm = conn->cm;

	if (conn->known) {
		struct wf_cm_conn **at = bucket(cm, conn->info.host, conn->info.remote_id);

		while (*at != conn)
			at = &(*at)->next;
		*at = conn->next;
	}
	assert(cm->conns[conn->info.local_id & (cm->max - 1)] == conn);
	cm->conns[conn->info.local_id & (cm->max - 1)] = NULL;
	cm->n--;
	cm->mem->free(cm->mem, conn);
}

void wf_cm_conn_know(struct wf_cm_conn *conn, uint32_t remote_id)
{
	struct wf_cm_conn **at = bucket(conn->cm, conn->info.host, remote_id);

	assert(!conn->known);
	conn->info.remote_id = remote_id;
	conn->known = true;
	conn->next = *at;
	*at = conn;
}

struct wf_cm_conn *wf_cm_find(const struct wf_cm *cm, uint32_t local_id)
{
	struct wf_cm_conn *conn = cm->conns[local_id & (cm->max - 1)];

	return conn != NULL && conn->info.local_id == local_id ? conn : NULL;
}

struct wf_cm_conn *wf_cm_find_remote(const struct wf_cm *cm, uint32_t host, uint32_t remote_id)
{
	struct wf_cm_conn *conn = *bucket((struct wf_cm *)(uintptr_t)cm, host, remote_id);

	while (conn != NULL && (conn->info.host != host || conn->info.remote_id != remote_id))
		conn = conn->next;
	return conn;
}

void wf_cm_set_timer(struct wf_cm_conn *conn, wf_time at)
{
	conn->at = at;
	conn->cm->deadline = wf_min_time(conn->cm->deadline, at);
}

void wf_cm_post(struct wf_cm *cm, uint32_t host, const uint8_t *mad)
{
	struct wf_cm_out *o = cm->mem->alloc(cm->mem, sizeof(*o));

	if (o == NULL)
		return;
	o->host = host;
	memcpy(o->mad, mad, WF_MAD_LEN);
	*cm->out_tail = o;
	cm->out_tail = &o->next;
}

bool wf_cm_tx(struct wf_cm *cm, uint32_t *host_p, uint8_t mad[WF_MAD_LEN])
{
	struct wf_cm_out *o = cm->out;

	if (o == NULL)
		return false;
	*host_p = o->host;
	memcpy(mad, o->mad, WF_MAD_LEN);
	cm->out = o->next;
	if (cm->out == NULL)
		cm->out_tail = &cm->out;
	cm->mem->free(cm->mem, o);
	return true;
}

bool wf_cm_has_tx(const struct wf_cm *cm)
{
	return cm->out != NULL;
}

void wf_cm_send(struct wf_cm_conn *conn, wf_time timeout, unsigned retries, wf_time now)
{
	conn->timeout = timeout;
	conn->max_tries = retries + 1;
	conn->tries = 1;
	wf_cm_post(conn->cm, conn->info.host, conn->msg);
	wf_cm_set_timer(conn, now + timeout);
}

/* Begins a message with its private data. Returns false when there is too much of it. */
static bool begin(uint8_t *mad, uint16_t attr_id, uint32_t local_id, const void *data,
                  unsigned length)
{
	unsigned room, at = wf_cm_private(attr_id, &room);

	if (length > room)
		return false;
	memset(mad, 0, WF_MAD_LEN);
	wf_cm_header(mad, attr_id, (uint64_t)local_id << 32 | attr_id);
	if (length != 0)
		memcpy(mad + at, data, length);
	return true;
}

void wf_cm_send_rej(struct wf_cm *cm, uint32_t host, uint32_t local_id, uint32_t remote_id,
                    enum wf_cm_about about, uint16_t reason, const void *data, unsigned length)
{
	struct wf_cm_rej rej = {
		.local_id = local_id,
		.remote_id = remote_id,
		.about = (uint8_t)about,
		.reason = reason,
	};
	uint8_t mad[WF_MAD_LEN];

	if (!begin(mad, WF_CM_REJ, local_id, data, length))
		return;
	/* Who gave up says which adapter it is: its peer may not know its ID (IBTA 12.6.7.2). */
	if (reason == WF_CM_REJ_TIMEOUT) {
		rej.info_length = 8;
		wf_be64_put(mad + WF_CM_REJ_INFO, cm->cfg.ca_guid);
	}
	wf_cm_rej_encode(&rej, mad);
	wf_cm_post(cm, host, mad);
}

void wf_cm_send_pair(struct wf_cm_conn *conn, uint16_t attr_id)
{
	struct wf_cm_pair pair = { conn->info.local_id, conn->info.remote_id, 0 };
	uint8_t mad[WF_MAD_LEN];

	(void)begin(mad, attr_id, pair.local_id, NULL, 0);
	wf_cm_pair_encode(&pair, mad);
	wf_cm_post(conn->cm, conn->info.host, mad);
}

/* How long an answer may take: the peer's own time and twice the way. */
static wf_time answer_time(const struct wf_cm_info *i)
{
	return wf_cm_time(i->passive ? i->req.local_timeout : i->req.remote_timeout) +
	       wf_cm_time(i->req.path.ack_timeout);
}

void wf_cm_send_dreq(struct wf_cm_conn *conn, wf_time now)
{
	struct wf_cm_info *i = &conn->info;
	struct wf_cm_pair pair = { i->local_id, i->remote_id, i->remote_qpn };

	(void)begin(conn->msg, WF_CM_DREQ, pair.local_id, NULL, 0);
	wf_cm_pair_encode(&pair, conn->msg);
	i->state = WF_CM_DREQ_SENT;
	wf_cm_send(conn, answer_time(i), i->req.max_retries, now);
}

void wf_cm_timewait(struct wf_cm_conn *conn, wf_time now)
{
	uint8_t t = conn->info.req.path.ack_timeout;

	conn->info.state = WF_CM_TIMEWAIT;
	wf_cm_set_timer(conn, now + wf_cm_time(t != 0 ? t : NO_PATH_TIMEOUT));
}

int wf_cm_tell(struct wf_cm_conn *conn, enum wf_cm_event_type type, int status, const uint8_t *mad)
{
	struct wf_cm *cm = conn->cm;
	struct wf_cm_event event = {
		.type = type, .conn = conn, .user = conn->user, .status = status
	};

	wf_cm_assert(conn);
	if (conn->released)
		return 0;
	if (mad != NULL)
		event.data = mad + wf_cm_private(wf_be16_get(mad + 16), &event.length);
	if (type == WF_CM_EV_SIDR_REP) {
		struct wf_cm_sidr_rep rep;

		wf_cm_sidr_rep_decode(mad, &rep);
		event.qpn = rep.qpn;
		event.qkey = rep.qkey;
	}
	return cm->cfg.event(cm->cfg.arg, &event);
}

int wf_cm_connect(struct wf_cm *cm, uint32_t host, const struct wf_cm_req *req, const void *data,
                  unsigned length, void *user, wf_time now, struct wf_cm_conn **conn_p)
{
	struct wf_cm_conn *conn = wf_cm_conn_create(cm, host, WF_CM_REQ_SENT);
	struct wf_cm_info *i;

	if (conn == NULL)
		return -ENOMEM;
	i = &conn->info;
	if (!begin(conn->msg, WF_CM_REQ, i->local_id, data, length)) {
		wf_cm_conn_free(conn);
		return -EINVAL;
	}
	conn->user = user;
	i->req = *req;
	i->req.local_id = i->local_id;
	i->req.ca_guid = cm->cfg.ca_guid;
	i->service = req->service;
	i->local_qpn = req->qpn;
	i->local_psn = req->psn;
	i->responder_resources = req->responder_resources;
	i->initiator_depth = req->initiator_depth;
	i->retry_count = req->retry_count;
	i->rnr_retry = req->rnr_retry;
	wf_cm_req_encode(&i->req, conn->msg);
	wf_cm_send(conn, answer_time(i), req->max_retries, now);
	wf_cm_assert(conn);
	*conn_p = conn;
	return 0;
}

int wf_cm_resolve(struct wf_cm *cm, uint32_t host, uint64_t service, uint16_t pkey,
                  const void *data, unsigned length, void *user, wf_time now,
                  struct wf_cm_conn **conn_p)
{
	struct wf_cm_conn *conn = wf_cm_conn_create(cm, host, WF_CM_SIDR_SENT);
	struct wf_cm_sidr_req req = { .pkey = pkey, .service = service };

	if (conn == NULL)
		return -ENOMEM;
	if (!begin(conn->msg, WF_CM_SIDR_REQ, conn->info.local_id, data, length)) {
		wf_cm_conn_free(conn);
		return -EINVAL;
	}
	req.request = conn->info.local_id;
	conn->user = user;
	conn->info.service = service;
	wf_cm_sidr_req_encode(&req, conn->msg);
	wf_cm_send(conn, wf_cm_time(SIDR_TIMEOUT), SIDR_RETRIES, now);
	*conn_p = conn;
	return 0;
}

int wf_cm_accept(struct wf_cm_conn *conn, const struct wf_cm_rep *rep, const void *data,
                 unsigned length, wf_time now)
{
	struct wf_cm_info *i = &conn->info;
	struct wf_cm_rep r = *rep;

	if (i->state != WF_CM_REQ_RCVD || !begin(conn->msg, WF_CM_REP, i->local_id, data, length))
		return -EINVAL;
	r.local_id = i->local_id;
	r.remote_id = i->remote_id;
	r.ca_guid = conn->cm->cfg.ca_guid;
	i->local_qpn = r.qpn;
	i->local_psn = r.psn;
	i->responder_resources = r.responder_resources;
	i->initiator_depth = r.initiator_depth;
	i->state = WF_CM_REP_SENT;
	wf_cm_rep_encode(&r, conn->msg);
	wf_cm_send(conn, answer_time(i), i->req.max_retries, now);
	return 0;
}

int wf_cm_establish(struct wf_cm_conn *conn)
{
	struct wf_cm_info *i = &conn->info;

	if (i->state == WF_CM_REP_RCVD)
		wf_cm_send_pair(conn, WF_CM_RTU);
	else if (i->state != WF_CM_REP_SENT)
		return -EINVAL;
	i->state = WF_CM_ESTABLISHED;
	conn->at = WF_TIME_NEVER;
	return 0;
}

int wf_cm_reject(struct wf_cm_conn *conn, uint16_t reason, const void *data, unsigned length)
{
	struct wf_cm_info *i = &conn->info;
	unsigned room;

	(void)wf_cm_private(WF_CM_REJ, &room);
	if (length > room || (i->state != WF_CM_REQ_RCVD && i->state != WF_CM_REP_RCVD))
		return -EINVAL;
	wf_cm_send_rej(conn->cm, i->host, i->local_id, i->remote_id,
	               i->passive ? WF_CM_ABOUT_REQ : WF_CM_ABOUT_REP, reason, data, length);
	i->state = WF_CM_CLOSED;
	conn->at = WF_TIME_NEVER;
	return 0;
}

int wf_cm_resolved(struct wf_cm_conn *conn, enum wf_cm_sidr_status status, uint32_t qpn,
                   uint32_t qkey, const void *data, unsigned length)
{
	struct wf_cm_sidr_rep rep = {
		.request = conn->info.remote_id,
		.status = (uint8_t)status,
		.qpn = qpn,
		.service = conn->info.service,
		.qkey = qkey,
	};
	uint8_t mad[WF_MAD_LEN];

	if (conn->info.state != WF_CM_SIDR_RCVD ||
	    !begin(mad, WF_CM_SIDR_REP, rep.request, data, length))
		return -EINVAL;
	wf_cm_sidr_rep_encode(&rep, mad);
	wf_cm_post(conn->cm, conn->info.host, mad);
	conn->info.state = WF_CM_CLOSED;
	return 0;
}

int wf_cm_disconnect(struct wf_cm_conn *conn, wf_time now)
{
	switch (conn->info.state) {
	case WF_CM_ESTABLISHED:
	case WF_CM_REP_SENT:
		wf_cm_send_dreq(conn, now);
		return 0;
	case WF_CM_DREQ_RCVD:
		wf_cm_send_pair(conn, WF_CM_DREP);
		wf_cm_timewait(conn, now);
		return 0;
	case WF_CM_REQ_SENT:
	case WF_CM_REQ_RCVD:
	case WF_CM_REP_RCVD:
	case WF_CM_DREQ_SENT:
	case WF_CM_TIMEWAIT:
	case WF_CM_SIDR_SENT:
	case WF_CM_SIDR_RCVD:
	case WF_CM_CLOSED:
	case WF_CM_STATES:
		break;
	}
	return -EINVAL;
}

void wf_cm_release(struct wf_cm_conn *conn, wf_time now)
{
	struct wf_cm_info *i = &conn->info;

	wf_cm_assert(conn);
	assert(!conn->released);
	conn->released = true;
	switch (i->state) {
	case WF_CM_REQ_SENT:
		wf_cm_send_rej(conn->cm, i->host, i->local_id, 0, WF_CM_ABOUT_OTHER,
		               WF_CM_REJ_TIMEOUT, NULL, 0);
		break;
	case WF_CM_REQ_RCVD:
	case WF_CM_REP_RCVD:
		(void)!wf_cm_reject(conn, WF_CM_REJ_CONSUMER, NULL, 0);
		break;
	case WF_CM_REP_SENT:
		wf_cm_send_rej(conn->cm, i->host, i->local_id, i->remote_id, WF_CM_ABOUT_REQ,
		               WF_CM_REJ_CONSUMER, NULL, 0);
		break;
	case WF_CM_ESTABLISHED:
	case WF_CM_DREQ_RCVD:
		(void)!wf_cm_disconnect(conn, now);
		return; /* until the peer has answered, and time has passed */
	case WF_CM_DREQ_SENT:
	case WF_CM_TIMEWAIT:
		return;
	case WF_CM_SIDR_RCVD:
		(void)!wf_cm_resolved(conn, WF_CM_SIDR_REJECTED, 0, 0, NULL, 0);
		break;
	case WF_CM_SIDR_SENT:
	case WF_CM_CLOSED:
	case WF_CM_STATES:
		break;
	}
	wf_cm_conn_free(conn);
}

void wf_cm_set_user(struct wf_cm_conn *conn, void *user)
{
	conn->user = user;
}

const struct wf_cm_info *wf_cm_info(const struct wf_cm_conn *conn)
{
	return &conn->info;
}

void wf_cm_set_local(struct wf_cm_conn *conn, uint32_t psn)
{
	conn->info.local_psn = psn;
}

wf_time wf_cm_deadline(const struct wf_cm *cm)
{
	return cm->deadline;
}

/* Nobody answered, often enough. */
static void give_up(struct wf_cm_conn *conn, wf_time now)
{
	struct wf_cm_info *i = &conn->info;
	enum wf_cm_state was = i->state;

	if (was == WF_CM_DREQ_SENT) {
		wf_cm_timewait(conn, now);
		(void)wf_cm_tell(conn, WF_CM_EV_DISCONNECTED, -ETIMEDOUT, NULL);
		return;
	}
	if (was == WF_CM_REQ_SENT || was == WF_CM_REP_SENT)
		wf_cm_send_rej(conn->cm, i->host, i->local_id, i->remote_id,
		               was == WF_CM_REP_SENT ? WF_CM_ABOUT_REP : WF_CM_ABOUT_OTHER,
		               WF_CM_REJ_TIMEOUT, NULL, 0);
	i->state = WF_CM_CLOSED;
	(void)wf_cm_tell(conn, WF_CM_EV_UNREACHABLE, -ETIMEDOUT, NULL);
}

static void run_timer(struct wf_cm_conn *conn, wf_time now)
{
	conn->at = WF_TIME_NEVER;
	if (conn->info.state == WF_CM_TIMEWAIT) {
		conn->info.state = WF_CM_CLOSED;
		(void)wf_cm_tell(conn, WF_CM_EV_TIMEWAIT_EXIT, 0, NULL);
	} else if (conn->tries < conn->max_tries) {
		conn->tries++;
		wf_cm_post(conn->cm, conn->info.host, conn->msg);
		conn->at = now + conn->timeout;
	} else {
		give_up(conn, now);
	}
	wf_cm_assert(conn);
	if (conn->info.state == WF_CM_CLOSED && conn->released)
		wf_cm_conn_free(conn);
}

void wf_cm_tick(struct wf_cm *cm, wf_time now)
{
	wf_time next = WF_TIME_NEVER;

	if (cm->deadline > now)
		return;
	for (uint32_t i = 0; i < cm->max; i++) {
		if (cm->conns[i] != NULL && cm->conns[i]->at <= now)
			run_timer(cm->conns[i], now);
		if (cm->conns[i] != NULL)
			next = wf_min_time(next, cm->conns[i]->at);
	}
	cm->deadline = next == WF_TIME_NEVER ? next : wf_max_time(next, now + TICK);
}
