/* SPDX-License-Identifier: Apache-2.0 */
/* ucma_event.c - events, and what communication management has to tell. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat/cm/ucma_priv.h"
#include "compat/verbs/verbs_priv.h"

struct wv_ucma_event *wv_ucma_event(struct wv_ucma_id *id, enum wv_ucma_event_type type, int status)
{
	struct wv_ucma_event *event = calloc(1, sizeof(*event));

	if (event == NULL)
		return NULL;
	event->id = id;
	event->resp.uid = id->uid;
	event->resp.id = id->handle;
	event->resp.event = (uint32_t)type;
	event->resp.status = (uint32_t)status;
	return event;
}

static void add(struct wv_ucma_channel *ch, struct wv_ucma_event *event)
{
	bool first = ch->events == NULL;

	assert(wf_nic_is_locked(ch->nic) && event->id->channel == ch && *ch->tail == NULL);
	event->next = NULL;
	*ch->tail = event;
	ch->tail = &event->next;
	if (first)
		wx_file_signal(ch->file);
}

/* Takes it out of the list of its channel. */
static void take(struct wv_ucma_channel *ch, struct wv_ucma_event **at)
{
	struct wv_ucma_event *event = *at;

	assert(event != NULL);
	*at = event->next;
	if (ch->tail == &event->next)
		ch->tail = at;
	if (ch->events == NULL)
		wx_file_clear(ch->file);
}

void wv_ucma_post(struct wv_ucma_event *event)
{
	add(event->id->channel, event);
}

int wv_ucma_tell(struct wv_ucma_id *id, enum wv_ucma_event_type type, int status)
{
	struct wv_ucma_event *event = wv_ucma_event(id, type, status);

	if (event == NULL)
		return -ENOMEM;
	wv_ucma_post(event);
	return 0;
}

void wv_ucma_check(const struct wv_ucma_channel *ch)
{
#ifndef NDEBUG
	struct wv_ucma_event *const *at = &ch->events;

	for (; *at != NULL; at = &(*at)->next) {
		assert((*at)->id->channel == ch);
		assert((*at)->child == NULL ||
		       ((*at)->child->channel == ch && (*at)->child->unheard));
		assert((*at)->mc == NULL || (*at)->mc->id == (*at)->id);
	}
	assert(ch->tail == at);
#else
	(void)ch;
#endif
}

struct wv_ucma_event *wv_ucma_take(struct wv_ucma_channel *ch)
{
	struct wv_ucma_event *event = ch->events;

	assert(event != NULL && event->id->channel == ch);
	take(ch, &ch->events);
	event->id->events_reported++;
	if (event->mc != NULL)
		event->mc->events_reported++;
	if (event->child != NULL) {
		event->child->unheard = false;
		event->id->backlog++;
	}
	return event;
}

void wv_ucma_drop(struct wv_ucma_channel *ch, const struct wv_ucma_event *event)
{
	struct wv_ucma_event **at = &ch->events, *e;

	while (*at != event) {
		assert(*at != NULL); /* it waits */
		at = &(*at)->next;
	}
	e = *at;
	take(ch, at);
	free(e);
}

void wv_ucma_purge(struct wv_ucma_id *id)
{
	struct wv_ucma_channel *ch = id->channel;
	struct wv_ucma_event **at = &ch->events;

	while (*at != NULL) {
		struct wv_ucma_event *event = *at;

		if (event->id != id && event->child != id) {
			at = &event->next;
			continue;
		}
		take(ch, at);
		/* Nobody has heard of the connection yet, and nobody will. */
		if (event->child != NULL && event->child != id) {
			struct wv_ucma_id *child = event->child;

			event->child = NULL;
			free(event);
			wv_ucma_destroy(child);
			at = &ch->events; /* more may have gone with it */
			continue;
		}
		free(event);
	}
}

void wv_ucma_move_events(struct wv_ucma_id *id, struct wv_ucma_channel *to)
{
	struct wv_ucma_channel *from = id->channel;
	struct wv_ucma_event **at = &from->events;

	id->channel = to;
	while (*at != NULL) {
		struct wv_ucma_event *event = *at;

		if (event->id == id) {
			take(from, at);
			if (event->child != NULL)
				event->child->channel = to;
			add(to, event);
		} else {
			at = &event->next;
		}
	}
}

static void conn_param(const struct wf_cm_info *i, const uint8_t *data, unsigned length,
                       struct rdma_ucm_conn_param *p)
{
	p->qp_num = i->remote_qpn;
	p->srq = i->srq;
	p->responder_resources = i->responder_resources;
	p->initiator_depth = i->initiator_depth;
	p->flow_control = i->flow_control;
	p->retry_count = i->retry_count;
	p->rnr_retry_count = i->rnr_retry;
	assert(length < RDMA_MAX_PRIVATE_DATA);
	p->private_data_len = (uint8_t)length;
	if (length != 0)
		memcpy(p->private_data, data, length);
}

/* Somebody wants a connection: an id for it, of which the listener's owner will hear. */
static int on_request(const struct wf_cm_event *ev)
{
	struct wv_ucma_id *l = ev->user, *id;
	const struct wf_cm_info *i = wf_cm_info(ev->conn);
	struct wv_ucma_event *event;
	struct wf_cm_ip ip;

	wf_cm_ip_decode(ev->data, &ip);
	if (l->backlog == 0 || ip.version != 0 || (ip.ip != 4 && ip.ip != 6))
		return -ECONNREFUSED;
	id = wv_ucma_create(l->channel, l->space, l->qp_type);
	event = id == NULL ? NULL : wv_ucma_event(l, WV_UCMA_CONNECT_REQUEST, 0);
	if (event == NULL) {
		if (id != NULL)
			wv_ucma_destroy(id);
		return -ENOMEM;
	}
	id->state = WV_UCMA_CONNECT;
	id->unheard = true;
	id->device = true;
	id->host = i->host;
	wv_ucma_from_ip(&ip, l, id);
	assert(l->state == WV_UCMA_LISTEN && l->backlog > 0 && ev->length >= WF_CM_IP_LEN);
	id->conn = ev->conn;
	wf_cm_set_user(ev->conn, id);
	wf_cm_set_local(ev->conn, id->psn);
	event->child = id;
	event->resp.id = id->handle;
	if (ev->type == WF_CM_EV_REQ) {
		id->tos = i->req.path.traffic_class;
		conn_param(i, ev->data + WF_CM_IP_LEN, ev->length - WF_CM_IP_LEN,
		           &event->resp.param.conn);
	} else {
		event->resp.param.ud.private_data_len = (uint8_t)(ev->length - WF_CM_IP_LEN);
		memcpy(event->resp.param.ud.private_data, ev->data + WF_CM_IP_LEN,
		       ev->length - WF_CM_IP_LEN);
	}
	l->backlog--;
	wv_ucma_post(event);
	return 0;
}

static void on_resolved(struct wv_ucma_id *id, const struct wf_cm_event *ev)
{
	struct wv_ucma_event *event;

	if (ev->status != WF_CM_SIDR_OK) {
		(void)wv_ucma_tell(id, WV_UCMA_UNREACHABLE, ev->status);
		return;
	}
	event = wv_ucma_event(id, WV_UCMA_ESTABLISHED, 0);
	if (event == NULL)
		return;
	event->resp.param.ud.qp_num = ev->qpn;
	event->resp.param.ud.qkey = ev->qkey;
	event->resp.param.ud.private_data_len = (uint8_t)ev->length;
	memcpy(event->resp.param.ud.private_data, ev->data, ev->length);
	wv_ucma_ah(id, id->dgid, wv_ucma_dlid(id), &event->resp.param.ud.ah_attr);
	wv_ucma_post(event);
}

int wv_on_cm_event(void *arg, const struct wf_cm_event *ev)
{
	static const enum wv_ucma_event_type types[] = {
		[WF_CM_EV_REP] = WV_UCMA_CONNECT_RESPONSE,
		[WF_CM_EV_ESTABLISHED] = WV_UCMA_ESTABLISHED,
		[WF_CM_EV_REJECTED] = WV_UCMA_REJECTED,
		[WF_CM_EV_UNREACHABLE] = WV_UCMA_UNREACHABLE,
		[WF_CM_EV_DISCONNECTED] = WV_UCMA_DISCONNECTED,
		[WF_CM_EV_TIMEWAIT_EXIT] = WV_UCMA_TIMEWAIT_EXIT,
	};
	struct wv_ucma_id *id = ev->user;
	struct wv_ucma_event *event;

	(void)arg;
	if (ev->type == WF_CM_EV_REQ || ev->type == WF_CM_EV_SIDR_REQ)
		return on_request(ev);
	if (ev->type == WF_CM_EV_DISCONNECTED)
		id->state = WV_UCMA_DISCONNECT;
	if (ev->type == WF_CM_EV_REJECTED || ev->type == WF_CM_EV_UNREACHABLE)
		id->state = WV_UCMA_ROUTE;
	/* Until a connection is accepted, its owner knows it by no name. */
	if (id->uid == 0)
		return 0;
	if (ev->type == WF_CM_EV_SIDR_REP) {
		on_resolved(id, ev);
		return 0;
	}
	assert(ev->type < WF_ARRAY_SIZE(types));
	event = wv_ucma_event(id, types[ev->type], ev->status);
	if (event == NULL)
		return 0;
	if (ev->type == WF_CM_EV_REP || ev->type == WF_CM_EV_REJECTED)
		conn_param(wf_cm_info(ev->conn), ev->data, ev->data == NULL ? 0 : ev->length,
		           &event->resp.param.conn);
	wv_ucma_post(event);
	return 0;
}
