/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_cm.c - queue pair 1 of a host on the wire. What is for no program is answered as a host's
 * operating system would: nobody listens, there is nothing to disconnect. The connections of a
 * program that is gone are ended by its ghost, which lives until its peers have answered or did not
 * often enough.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "live/gsi.h"
#include "live/wire_priv.h"
#include "wire/opcode.h"
#include "wire/transport.h"

#define ENTROPY 0xc001
#define PATIENCE_MS 64 /* as within a fabric: somebody may be about to listen (nic_gsi.c) */

static struct wf_dclient *client(struct wf_daemon *d, uint32_t host, uint32_t slot)
{
	struct wf_dclient *c = d->clients;

	while (c != NULL && (!c->attached || c->doomed || c->host != host || c->slot != slot))
		c = c->next;
	return c;
}

static void send_mad(struct wf_daemon *d, struct wf_dwire *w, uint32_t to, const uint8_t *mad)
{
	struct wf_packet pkt = {
		.dst = to,
		.type = WF_PACKET_RDMA,
		.opcode = WF_OP_UD_SEND_ONLY,
		.entropy = ENTROPY,
		.pkey = WF_PKEY_DEFAULT,
		.length = WF_MAD_LEN,
		.input = WF_MAD_LEN,
		.qpn = WF_QPN_GSI,
		.psn = d->wires->gsi_psn++ & WF_PSN_MASK,
	};

	pkt.u.deth.qkey = WF_QKEY_GMP;
	pkt.u.deth.src_qpn = WF_QPN_GSI;
	wf_wire_send_own(d, w, &pkt, mad);
}

/* It has no connections and no listeners, so there are no timers either. */
static void answer(struct wf_daemon *d, struct wf_dwire *w, uint32_t from, const uint8_t *mad)
{
	uint8_t out[WF_MAD_LEN];
	uint32_t to;

	assert(wf_cm_count(d->wires->nobody) == 0);
	wf_cm_rx(d->wires->nobody, from, mad, 0);
	while (wf_cm_tx(d->wires->nobody, &to, out))
		send_mad(d, w, to, out);
}

/* Keeps a request for a while. Returns false when there is no room. */
static bool keep(struct wf_dwires *ws, uint32_t host, const struct wf_packet *pkt,
                 const uint8_t *mad)
{
	for (unsigned i = 0; i < WF_WIRE_WAITS; i++) {
		struct wf_wire_wait *k = &ws->wait[i];

		if (k->until != 0)
			continue;
		k->until = ws->now + PATIENCE_MS;
		k->host = host;
		k->pkt = *pkt;
		memcpy(k->mad, mad, WF_MAD_LEN);
		return true;
	}
	return false;
}

/* Hands a message to a program. */
static void hand(struct wf_daemon *d, struct wf_dwire *w, struct wf_dclient *c,
                 const struct wf_packet *pkt, const uint8_t *mad)
{
	wf_wire_deliver(d, w, c, pkt, mad, WF_MAD_LEN);
	if (c->own != NULL)
		wf_wire_conns_got(&c->own->conns, pkt->src, mad);
}

static wf_time to_time(uint64_t ms)
{
	return (wf_time)ms * WF_MS;
}

/* What a ghost has to say. */
static void send_all(struct wf_daemon *d, struct wf_wire_ghost *g)
{
	struct wf_dwire *w = wf_wire_find(d, g->host);
	uint8_t mad[WF_MAD_LEN];
	uint32_t to;

	assert(w != NULL);
	while (wf_cm_tx(g->cm, &to, mad))
		send_mad(d, w, to, mad);
}

static struct wf_wire_ghost *find_ghost(struct wf_dwires *ws, uint32_t host, uint32_t slot)
{
	struct wf_wire_ghost *g = ws->ghosts;

	while (g != NULL && (g->host != host || g->slot != slot))
		g = g->next;
	return g;
}

static int on_event(void *arg, const struct wf_cm_event *event)
{
	(void)arg;
	(void)event;
	assert(0); /* connections that were released tell nobody */
	return 0;
}

/* The ghost of a program; NULL: no memory. */
static struct wf_wire_ghost *make_ghost(struct wf_daemon *d, uint32_t host, uint32_t slot)
{
	struct wf_cm_cfg cfg = {
		.ca_guid = d->table->host[host].guid,
		.id_base = slot << WF_CM_ID_SHIFT,
		.event = on_event,
	};
	struct wf_wire_ghost *g = calloc(1, sizeof(*g));

	if (g == NULL)
		return NULL;
	g->host = host;
	g->slot = slot;
	if (wf_cm_create(&cfg, wf_mem_heap(), &g->cm) != 0) {
		free(g);
		return NULL;
	}
	g->next = d->wires->ghosts;
	d->wires->ghosts = g;
	return g;
}

void wf_wire_bury(struct wf_daemon *d, struct wf_dclient *c)
{
	struct wf_wire_ghost *g = c->own->conns.n == 0 ? NULL : make_ghost(d, c->host, c->slot);

	if (g == NULL)
		return;
	assert(!c->on_wire && wf_wire_find(d, c->host) != NULL);
	g->held = c->own->held;
	c->own->held = (struct wf_wire_held){ .n = 0 };
	wf_wire_conns_bury(&c->own->conns, g->cm, to_time(wf_daemon_now()));
	send_all(d, g);
	wf_wire_flush(d);
}

static void drop_ghost(struct wf_dwires *ws, struct wf_wire_ghost **at)
{
	struct wf_wire_ghost *g = *at;

	*at = g->next;
	wf_wire_remotes_release(&ws->remotes, &g->held);
	assert(g->held.n == 0);
	wf_cm_destroy(g->cm);
	free(g);
}

void wf_wire_drop_ghosts(struct wf_dwires *ws)
{
	while (ws->ghosts != NULL)
		drop_ghost(ws, &ws->ghosts);
}

int wf_wire_haunt(struct wf_daemon *d)
{
	wf_time now = to_time(d->wires->now), next = WF_TIME_NEVER;
	struct wf_wire_ghost **at = &d->wires->ghosts;

	while (*at != NULL) {
		struct wf_wire_ghost *g = *at;

		wf_cm_tick(g->cm, now);
		send_all(d, g);
		if (wf_cm_count(g->cm) == 0) {
			drop_ghost(d->wires, at);
			continue;
		}
		next = wf_min_time(next, wf_cm_deadline(g->cm));
		at = &g->next;
	}
	return next == WF_TIME_NEVER ? -1 : (int)(wf_max_time(next - now, 0) / WF_MS) + 1;
}

/* Answers what is for no program: in the name of one that is gone, or of nobody. */
static void answer_for(struct wf_daemon *d, struct wf_dwire *w, const struct wf_packet *pkt,
                       const uint8_t *mad)
{
	struct wf_wire_ghost *g =
		wf_gsi_is_request(mad) ? NULL : find_ghost(d->wires, w->host, wf_gsi_slot(mad));

	if (g == NULL) {
		answer(d, w, pkt->src, mad);
		return;
	}
	wf_cm_rx(g->cm, pkt->src, mad, to_time(d->wires->now));
	send_all(d, g);
}

void wf_wire_mad(struct wf_daemon *d, struct wf_dwire *w, const struct wf_packet *pkt,
                 const uint8_t *mad)
{
	struct wf_dclient *c;
	struct wf_mad head;
	bool request = wf_gsi_is_request(mad);

	wf_mad_decode(mad, &head);
	if (head.mgmt_class != WF_MAD_CLASS_CM)
		return;
	c = request ? wf_daemon_listener(d, w->host, wf_gsi_service(mad))
	            : client(d, w->host, wf_gsi_slot(mad));
	if (c != NULL)
		hand(d, w, c, pkt, mad);
	else if (!request || !keep(d->wires, w->host, pkt, mad))
		answer_for(d, w, pkt, mad);
}

int wf_wire_waits(struct wf_daemon *d)
{
	uint64_t now = d->wires->now, next = UINT64_MAX;

	for (unsigned i = 0; i < WF_WIRE_WAITS; i++) {
		struct wf_wire_wait *k = &d->wires->wait[i];
		struct wf_dclient *c;

		if (k->until == 0)
			continue;
		assert(wf_wire_find(d, k->host) != NULL);
		c = wf_daemon_listener(d, k->host, wf_gsi_service(k->mad));
		if (c != NULL)
			hand(d, wf_wire_find(d, k->host), c, &k->pkt, k->mad);
		else if (k->until <= now)
			answer(d, wf_wire_find(d, k->host), k->pkt.src, k->mad);
		if (c != NULL || k->until <= now)
			k->until = 0;
		else
			next = wf_min_u64(next, k->until);
	}
	return next == UINT64_MAX ? -1 : (int)(next - now);
}

bool wf_wire_may_send_mad(const struct wf_dclient *c, const struct wf_packet *pkt,
                          const uint8_t *mad)
{
	return pkt->qpn == WF_QPN_GSI && pkt->u.deth.src_qpn == WF_QPN_GSI &&
	       pkt->opcode == WF_OP_UD_SEND_ONLY && pkt->length == WF_MAD_LEN &&
	       wf_gsi_is_from(mad, c->slot);
}
