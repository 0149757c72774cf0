/* SPDX-License-Identifier: Apache-2.0 */
/* wire_conn.c - reads the messages that pass, and keeps which connections there are. */
#include "live/wire_conn.h"

#include <assert.h>
#include <stdlib.h>

#include "live/gsi.h"

static struct wf_wire_conn **local_bucket(struct wf_wire_conns *t, uint32_t id)
{
	return &t->local[id % WF_WIRE_CONN_BUCKETS];
}

static struct wf_wire_conn **remote_bucket(struct wf_wire_conns *t, uint32_t host, uint32_t id)
{
	uint32_t hash = (id ^ host * UINT32_C(2654435761)) * UINT32_C(2654435761);

	return &t->remote[hash >> 24];
}

_Static_assert(WF_WIRE_CONN_BUCKETS == 1 << 8, "the hash has eight bits");

/* What holds of each connection between messages. */
static void assert_conn(const struct wf_wire_conn *c)
{
	const struct wf_cm_info *i = &c->info;

	assert(i->state <= WF_CM_DREQ_RCVD);
	assert(i->state != WF_CM_REQ_SENT || (!i->passive && i->local_id != 0));
	assert(i->state != WF_CM_REQ_RCVD || i->passive);
	assert(i->state != WF_CM_REP_SENT || (i->passive && i->local_id != 0));
	assert(i->state != WF_CM_REP_RCVD || !i->passive);
	assert(i->local_id != 0 || i->state == WF_CM_REQ_RCVD);
	(void)i;
}

static struct wf_wire_conn *find_local(struct wf_wire_conns *t, uint32_t host, uint32_t id)
{
	struct wf_wire_conn *c = *local_bucket(t, id);

	while (c != NULL && (c->info.local_id != id || c->info.host != host))
		c = c->next_local;
	return c;
}

static bool knows_remote(const struct wf_wire_conn *c)
{
	return c->info.state != WF_CM_REQ_SENT;
}

static struct wf_wire_conn *find_remote(struct wf_wire_conns *t, uint32_t host, uint32_t id)
{
	struct wf_wire_conn *c = *remote_bucket(t, host, id);

	while (c != NULL && (c->info.remote_id != id || c->info.host != host))
		c = c->next_remote;
	return c;
}

static void set_local(struct wf_wire_conns *t, struct wf_wire_conn *c, uint32_t id)
{
	struct wf_wire_conn **at = local_bucket(t, id);

	assert(c->info.local_id == 0 && id != 0);
	c->info.local_id = id;
	c->next_local = *at;
	*at = c;
}

static void set_remote(struct wf_wire_conns *t, struct wf_wire_conn *c, uint32_t id)
{
	struct wf_wire_conn **at = remote_bucket(t, c->info.host, id);

	assert(knows_remote(c)); /* whoever drops it looks for it there */
	c->info.remote_id = id;
	c->next_remote = *at;
	*at = c;
}

static void drop(struct wf_wire_conns *t, struct wf_wire_conn *c)
{
	struct wf_wire_conn **at;

	if (c->info.local_id != 0) {
		at = local_bucket(t, c->info.local_id);
		while (*at != c) {
			assert(*at != NULL); /* it is there */
			at = &(*at)->next_local;
		}
		*at = c->next_local;
	}
	if (knows_remote(c)) {
		at = remote_bucket(t, c->info.host, c->info.remote_id);
		while (*at != c) {
			assert(*at != NULL);
			at = &(*at)->next_remote;
		}
		*at = c->next_remote;
	}
	assert(t->n > 0);
	t->n--;
	free(c);
}

/* Requests that a program never answered make room for others. */
static void make_room(struct wf_wire_conns *t)
{
	for (unsigned n = 0; n < WF_WIRE_CONN_BUCKETS && t->n >= WF_WIRE_CONNS_MAX; n++) {
		struct wf_wire_conn *c = t->remote[t->cursor++ % WF_WIRE_CONN_BUCKETS];

		while (c != NULL && c->info.state != WF_CM_REQ_RCVD)
			c = c->next_remote;
		if (c != NULL)
			drop(t, c);
	}
}

static struct wf_wire_conn *add(struct wf_wire_conns *t, uint32_t host, enum wf_cm_state state,
                                const uint8_t *mad)
{
	struct wf_wire_conn *c;

	make_room(t);
	c = t->n < WF_WIRE_CONNS_MAX ? calloc(1, sizeof(*c)) : NULL;
	if (c == NULL)
		return NULL;
	t->n++;
	c->info.state = state;
	c->info.host = host;
	wf_cm_req_decode(mad, &c->info.req);
	return c;
}

static void sent_req(struct wf_wire_conns *t, uint32_t host, const uint8_t *mad)
{
	struct wf_wire_conn *c = find_local(t, host, wf_cm_local_id(mad));

	/* A new one with the ID of one whose end was never answered. */
	if (c != NULL && c->info.state >= WF_CM_DREQ_SENT) {
		drop(t, c);
		c = NULL;
	}
	if (c != NULL || wf_cm_local_id(mad) == 0)
		return;
	c = add(t, host, WF_CM_REQ_SENT, mad);
	if (c == NULL)
		return;
	c->info.local_qpn = c->info.req.qpn;
	set_local(t, c, c->info.req.local_id);
	assert_conn(c);
}

/* REP or MRA: the program names its side of a request. */
static struct wf_wire_conn *named(struct wf_wire_conns *t, uint32_t host, const uint8_t *mad)
{
	struct wf_wire_conn *c = find_remote(t, host, wf_cm_remote_id(mad));

	if (c == NULL || !c->info.passive || wf_cm_local_id(mad) == 0)
		return NULL;
	if (c->info.local_id == 0)
		set_local(t, c, wf_cm_local_id(mad));
	return c->info.local_id == wf_cm_local_id(mad) ? c : NULL;
}

static void sent_rep(struct wf_wire_conns *t, uint32_t host, const uint8_t *mad)
{
	struct wf_wire_conn *c = named(t, host, mad);
	struct wf_cm_rep rep;

	if (c == NULL || c->info.state != WF_CM_REQ_RCVD)
		return;
	wf_cm_rep_decode(mad, &rep);
	c->info.local_qpn = rep.qpn;
	c->info.state = WF_CM_REP_SENT;
	assert_conn(c);
}

static void got_req(struct wf_wire_conns *t, uint32_t host, const uint8_t *mad)
{
	struct wf_wire_conn *c;

	if (find_remote(t, host, wf_cm_local_id(mad)) != NULL)
		return; /* again */
	c = add(t, host, WF_CM_REQ_RCVD, mad);
	if (c == NULL)
		return;
	c->info.passive = true;
	c->info.remote_qpn = c->info.req.qpn;
	set_remote(t, c, c->info.req.local_id);
	assert_conn(c);
}

static void got_rep(struct wf_wire_conns *t, uint32_t host, const uint8_t *mad)
{
	struct wf_wire_conn *c = find_local(t, host, wf_cm_remote_id(mad));
	struct wf_cm_rep rep;

	if (c == NULL || c->info.state != WF_CM_REQ_SENT)
		return;
	wf_cm_rep_decode(mad, &rep);
	c->info.remote_qpn = rep.qpn;
	c->info.state = WF_CM_REP_RCVD;
	set_remote(t, c, rep.local_id);
	assert_conn(c);
}

/* The connection that a message names on both sides. */
static struct wf_wire_conn *find_pair(struct wf_wire_conns *t, uint32_t host, uint32_t local,
                                      uint32_t remote)
{
	struct wf_wire_conn *c = find_local(t, host, local);

	return c != NULL && knows_remote(c) && c->info.remote_id == remote ? c : NULL;
}

/* The one that a REJ is about; it may know only one of the names. */
static struct wf_wire_conn *find_rejected(struct wf_wire_conns *t, uint32_t host, uint32_t local,
                                          uint32_t remote)
{
	struct wf_wire_conn *c = local != 0 ? find_local(t, host, local) : NULL;

	if (c == NULL && remote != 0)
		c = find_remote(t, host, remote);
	if (c != NULL && remote != 0 && knows_remote(c) && c->info.remote_id != remote)
		return NULL;
	return c;
}

static void move(struct wf_wire_conn *c, enum wf_cm_state from, enum wf_cm_state to)
{
	if (c == NULL || (from != WF_CM_STATES && c->info.state != from))
		return;
	c->info.state = to;
	assert_conn(c);
}

/* What both directions have in common: local and remote are the program's IDs and its peer's. */
static void pass(struct wf_wire_conns *t, uint32_t host, const uint8_t *mad, uint32_t local,
                 uint32_t remote, bool sent)
{
	struct wf_wire_conn *c;

	switch (wf_gsi_attr(mad)) {
	case WF_CM_RTU:
		move(find_pair(t, host, local, remote), sent ? WF_CM_REP_RCVD : WF_CM_REP_SENT,
		     WF_CM_ESTABLISHED);
		break;
	case WF_CM_DREQ:
		move(find_pair(t, host, local, remote), WF_CM_STATES,
		     sent ? WF_CM_DREQ_SENT : WF_CM_DREQ_RCVD);
		break;
	case WF_CM_DREP:
		c = find_pair(t, host, local, remote);
		if (c != NULL)
			drop(t, c);
		break;
	case WF_CM_REJ:
		c = find_rejected(t, host, local, remote);
		if (c != NULL)
			drop(t, c);
		break;
	default:
		break;
	}
}

/* Other classes of management pass as they are. */
static bool is_cm(const uint8_t *mad)
{
	struct wf_mad head;

	wf_mad_decode(mad, &head);
	return head.mgmt_class == WF_MAD_CLASS_CM;
}

void wf_wire_conns_sent(struct wf_wire_conns *t, uint32_t host, const uint8_t *mad)
{
	if (!is_cm(mad))
		return;
	switch (wf_gsi_attr(mad)) {
	case WF_CM_REQ:
		sent_req(t, host, mad);
		break;
	case WF_CM_REP:
		sent_rep(t, host, mad);
		break;
	case WF_CM_MRA:
		(void)named(t, host, mad);
		break;
	default:
		pass(t, host, mad, wf_cm_local_id(mad), wf_cm_remote_id(mad), true);
		break;
	}
}

void wf_wire_conns_got(struct wf_wire_conns *t, uint32_t host, const uint8_t *mad)
{
	if (!is_cm(mad))
		return;
	switch (wf_gsi_attr(mad)) {
	case WF_CM_REQ:
		got_req(t, host, mad);
		break;
	case WF_CM_REP:
		got_rep(t, host, mad);
		break;
	default:
		pass(t, host, mad, wf_cm_remote_id(mad), wf_cm_local_id(mad), false);
		break;
	}
}

void wf_wire_conns_bury(struct wf_wire_conns *t, struct wf_cm *cm, wf_time now)
{
	struct wf_cm_conn *conn;

	for (unsigned i = 0; i < 2 * WF_WIRE_CONN_BUCKETS; i++) {
		struct wf_wire_conn **at = i < WF_WIRE_CONN_BUCKETS
		                                   ? &t->local[i]
		                                   : &t->remote[i - WF_WIRE_CONN_BUCKETS];

		while (*at != NULL) {
			/* The program may not have been answered: the same again. */
			if ((*at)->info.state == WF_CM_DREQ_SENT)
				(*at)->info.state = WF_CM_ESTABLISHED;
			if (wf_cm_adopt(cm, &(*at)->info, &conn) == 0)
				wf_cm_release(conn, now);
			drop(t, *at);
		}
	}
	assert(t->n == 0);
}

/* All of a bucket. */
static void drop_all(struct wf_wire_conns *t, struct wf_wire_conn **bucket)
{
	struct wf_wire_conn *c;

	while ((c = *bucket) != NULL) {
		drop(t, c);
		assert(*bucket != c);
	}
}

void wf_wire_conns_clear(struct wf_wire_conns *t)
{
	for (unsigned i = 0; i < WF_WIRE_CONN_BUCKETS; i++) {
		drop_all(t, &t->local[i]);
		drop_all(t, &t->remote[i]);
	}
	assert(t->n == 0);
}
