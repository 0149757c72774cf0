/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_cm.c - queue pair 1 of a host on the wire. What is for no program is answered as a host's
 * operating system would: nobody listens, there is nothing to disconnect.
 */
#include <string.h>
#include <time.h>

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

	wf_cm_rx(d->wires->nobody, from, mad, 0);
	while (wf_cm_tx(d->wires->nobody, &to, out))
		send_mad(d, w, to, out);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Keeps a request for a while. Returns false when there is no room. */
static bool keep(struct wf_dwires *ws, uint32_t host, const struct wf_packet *pkt,
                 const uint8_t *mad)
{
	for (unsigned i = 0; i < WF_WIRE_WAITS; i++) {
		struct wf_wire_wait *k = &ws->wait[i];

		if (k->until != 0)
			continue;
		k->until = now_ms() + PATIENCE_MS;
		k->host = host;
		k->pkt = *pkt;
		memcpy(k->mad, mad, WF_MAD_LEN);
		return true;
	}
	return false;
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
		wf_wire_deliver(d, w, c, pkt, mad, WF_MAD_LEN);
	else if (!request || !keep(d->wires, w->host, pkt, mad))
		answer(d, w, pkt->src, mad);
}

int wf_wire_waits(struct wf_daemon *d)
{
	uint64_t now = 0, next = UINT64_MAX;

	for (unsigned i = 0; i < WF_WIRE_WAITS; i++) {
		struct wf_wire_wait *k = &d->wires->wait[i];
		struct wf_dclient *c;

		if (k->until == 0)
			continue;
		if (now == 0)
			now = now_ms();
		c = wf_daemon_listener(d, k->host, wf_gsi_service(k->mad));
		if (c != NULL)
			wf_wire_deliver(d, wf_wire_find(d, k->host), c, &k->pkt, k->mad,
			                WF_MAD_LEN);
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
                          const void *payload)
{
	return pkt->qpn == WF_QPN_GSI && pkt->u.deth.src_qpn == WF_QPN_GSI &&
	       pkt->opcode == WF_OP_UD_SEND_ONLY && pkt->length == WF_MAD_LEN &&
	       wf_gsi_is_from(payload, c->slot);
}
