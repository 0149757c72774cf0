/* SPDX-License-Identifier: Apache-2.0 */
/* umad.c - the agents of management programs: what they send, and what comes for them. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "live/umad_priv.h"
#include "mgmt/sma.h"
#include "wire/byte.h"

#define RMPP_VERSION 1
#define PERMISSIVE 0xffff
#define AGAIN (5 * WF_US) /* when the port may have room again */

/* What a program said of a MAD that it sent, until that has ended. */
struct said {
	uint8_t hdr[WF_UMAD_HDR];
};

static uint32_t get32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static void put32(uint8_t *p, uint32_t value)
{
	memcpy(p, &value, sizeof(value));
}

static uint16_t get16(const uint8_t *p)
{
	uint16_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/* What agents' timeouts are timed by: the model's time where it is the clock's. */
static wf_time clock_of(const struct wf_daemon *d)
{
	return wf_model_clock() - (d->model->pace == WF_LIVE_WALL ? d->model->zero : 0);
}

static const struct wf_sma *sma_of(const struct wf_daemon *d, uint32_t host)
{
	const struct wf_dmodel *m = d->model;

	return wf_managed_sma(m->managed, m->topo->host_node[host]);
}

/* ---- P_Keys ---- */

/* The key at a place of the host's table; places beyond it have none. */
static uint16_t pkey_at(const struct wf_daemon *d, uint32_t host, uint32_t index)
{
	const struct wf_sma *sma = sma_of(d, host);

	return index < wf_sma_node(sma)->partition_cap ? wf_sma_pkey(sma, 1, index) : 0;
}

/* The place of a key that came: of that key, or else of its partition. */
static uint16_t find_pkey(const struct wf_daemon *d, uint32_t host, uint16_t pkey)
{
	const struct wf_sma *sma = sma_of(d, host);
	uint16_t n = wf_sma_node(sma)->partition_cap, found = 0;

	for (uint16_t i = n; i-- > 0;) {
		uint16_t there = wf_sma_pkey(sma, 1, i);

		if (there == pkey)
			return i;
		if ((there & 0x7fff) == (pkey & 0x7fff))
			found = i;
	}
	return found;
}

/* ---- what comes ---- */

static void tell_received(struct wf_umad_agent *a, const struct wf_mux_event *event)
{
	const struct wf_mux_addr *from = event->addr;
	uint8_t hdr[WF_UMAD_HDR] = { 0 };

	put32(hdr + WF_UMAD_AT_ID, a->id);
	put32(hdr + WF_UMAD_AT_LENGTH, (uint32_t)(WF_UMAD_HDR + event->length));
	wf_be32_put(hdr + WF_UMAD_AT_QPN, from->qpn);
	wf_be16_put(hdr + WF_UMAD_AT_LID, from->lid);
	hdr[WF_UMAD_AT_SL] = from->sl;
	hdr[WF_UMAD_AT_PATH_BITS] = from->path_bits;
	memcpy(hdr + WF_UMAD_AT_PKEY_INDEX, &from->pkey_index, sizeof(from->pkey_index));
	wf_umad_queue(a->file, hdr, event->data, event->length, true);
}

/* What a program sent comes back to it: the head of it, and why. */
static void tell_failed(struct wf_umad_agent *a, const struct wf_mux_event *event)
{
	struct said *said = event->context;

	put32(said->hdr + WF_UMAD_AT_ID, a->id);
	put32(said->hdr + WF_UMAD_AT_STATUS, ETIMEDOUT);
	wf_umad_queue(a->file, said->hdr, event->data, event->length, false);
}

static void hear(void *arg, const struct wf_mux_event *event)
{
	struct wf_umad_agent *a = arg;

	if (event->type == WF_MUX_RECV)
		tell_received(a, event);
	else if (event->type == WF_MUX_FAILED)
		tell_failed(a, event);
	free(event->context);
}

/* The fabric has something for the programs of a host. */
static void arrive(void *arg, uint32_t host, const struct wf_managed_mad *mad, wf_time now)
{
	struct wf_daemon *d = arg;
	const struct wf_port_info *port = wf_sma_port(sma_of(d, host), 1);
	struct wf_mux *mux = wf_umad_mux(d, host);
	struct wf_mux_addr from = {
		.lid = mad->lid,
		.sl = mad->sl,
		.qpn = mad->qpn,
		.qkey = mad->qkey,
	};

	(void)now; /* of the model, to which agents' timeouts do not belong */
	/* Queue pair 1 takes what has its key; all others are for programs to make themselves. */
	if (mux == NULL || (mad->gmp && (mad->own_qpn != 1 || mad->qkey != WF_QKEY_GMP)))
		return;
	if (mad->dlid != PERMISSIVE)
		from.path_bits = (uint8_t)(mad->dlid & ((1u << port->lmc) - 1));
	if (mad->gmp)
		from.pkey_index = find_pkey(d, host, mad->pkey);
	wf_mux_rx(mux, mad->gmp, &from, mad->bytes, clock_of(d));
}

/* ---- what is sent ---- */

/* Where a MAD goes, as the program says. Returns 0 or -EINVAL. */
static int parse_addr(const uint8_t *hdr, struct wf_mux_addr *to)
{
	*to = (struct wf_mux_addr){
		.lid = wf_be16_get(hdr + WF_UMAD_AT_LID),
		.sl = hdr[WF_UMAD_AT_SL],
		.path_bits = hdr[WF_UMAD_AT_PATH_BITS],
		.pkey_index = get16(hdr + WF_UMAD_AT_PKEY_INDEX),
		.qpn = wf_be32_get(hdr + WF_UMAD_AT_QPN),
		/* As a kernel has it: that of queue pair 1, whatever the program says. */
		.qkey = WF_QKEY_GMP,
	};
	return to->sl < 16 && to->qpn <= 0xffffff ? 0 : -EINVAL;
}

int wf_umad_send(struct wf_dumad *f, const uint8_t *data, size_t length)
{
	struct wf_mux_addr to;
	struct said *said;
	uint32_t id, timeout;
	int ret;

	if (length < WF_UMAD_HDR + WF_UMAD_LEAST)
		return -EINVAL;
	id = get32(data + WF_UMAD_AT_ID);
	if (id >= WF_UMAD_AGENTS)
		return -EINVAL;
	if (f->agent[id].agent == NULL)
		return -EIO;
	ret = parse_addr(data, &to);
	if (ret != 0)
		return ret;
	said = malloc(sizeof(*said));
	if (said == NULL)
		return -ENOMEM;
	memcpy(said->hdr, data, sizeof(said->hdr));
	timeout = get32(data + WF_UMAD_AT_TIMEOUT);
	ret = wf_mux_send(f->agent[id].agent, &to, data + WF_UMAD_HDR, length - WF_UMAD_HDR,
	                  (wf_time)(timeout < INT_MAX ? timeout : INT_MAX) * WF_MS,
	                  get32(data + WF_UMAD_AT_RETRIES), said);
	if (ret != 0)
		free(said);
	return ret == -EEXIST ? -EINVAL : ret; /* as Linux calls it */
}

static void transmit(struct wf_daemon *d, uint32_t host, const struct wf_mux_packet *packet)
{
	const struct wf_mux_addr *to = &packet->addr;
	struct wf_managed_mad mad = {
		.gmp = packet->qp == 1,
		.lid = to->lid,
		.sl = to->sl,
		.pkey = pkey_at(d, host, packet->qp == 1 ? to->pkey_index : 0),
		.qpn = to->qpn,
		.qkey = WF_QKEY_GMP,
		.own_qpn = packet->qp,
	};

	memcpy(mad.bytes, packet->mad, WF_MAD_LEN);
	wf_managed_send(d->model->managed, host, &mad, wf_sim_now(d->model->sim));
}

/* Which queue pairs of a host have room for another MAD. */
static unsigned room_of(const struct wf_daemon *d, uint32_t host)
{
	const struct wf_managed *m = d->model->managed;

	return (wf_managed_room(m, host, false) > 0) | (wf_managed_room(m, host, true) > 0) << 1;
}

/* All that the port of a host has room for. */
static void transmit_all(struct wf_daemon *d, uint32_t host, wf_time now)
{
	struct wf_mux *mux = d->umads->host[host].mux;
	struct wf_mux_packet packet;

	while (wf_mux_has_tx(mux, WF_MUX_QPS) && wf_mux_tx(mux, room_of(d, host), now, &packet))
		transmit(d, host, &packet);
	d->umads->blocked |= wf_mux_has_tx(mux, WF_MUX_QPS);
}

void wf_umad_serve(struct wf_daemon *d)
{
	struct wf_dumads *all = d->umads;
	wf_time now;

	if (all == NULL || d->model == NULL || all->n_active == 0)
		return;
	now = clock_of(d);
	all->blocked = false;
	for (uint32_t i = 0; i < all->n_active; i++) {
		wf_mux_tick(all->host[all->active[i]].mux, now);
		transmit_all(d, all->active[i], now);
	}
}

wf_time wf_umad_next(const struct wf_daemon *d)
{
	const struct wf_dumads *all = d->umads;
	wf_time next = WF_TIME_NEVER;

	if (all == NULL || d->model == NULL)
		return next;
	for (uint32_t i = 0; i < all->n_active; i++)
		next = wf_min_time(next, wf_mux_deadline(all->host[all->active[i]].mux));
	if (all->blocked)
		next = wf_min_time(next, clock_of(d) + AGAIN);
	return next == WF_TIME_NEVER || d->model->pace == WF_LIVE_WALL ? next
	                                                               : next - d->model->zero;
}

/* ---- agents ---- */

static int make_all(struct wf_daemon *d)
{
	struct wf_dumads *all = calloc(1, sizeof(*all));

	if (all == NULL)
		return -ENOMEM;
	all->host = calloc(d->table->n_hosts, sizeof(*all->host));
	all->active = calloc(d->table->n_hosts, sizeof(*all->active));
	if (all->host == NULL || all->active == NULL) {
		free(all->host);
		free(all->active);
		free(all);
		return -ENOMEM;
	}
	all->users = (struct wf_managed_users){ arrive, d };
	d->umads = all;
	return 0;
}

int wf_umad_start(struct wf_daemon *d)
{
	int ret = make_all(d);

	if (ret != 0)
		return ret;
	wf_managed_set_users(d->model->managed, &d->umads->users);
	d->table->managed = true;
	return 0;
}

struct wf_mux *wf_umad_mux(struct wf_daemon *d, uint32_t host)
{
	struct wf_umad_host *h = &d->umads->host[host];

	if (h->mux == NULL && wf_mux_create(wf_mem_heap(), &h->mux) == 0)
		d->umads->active[d->umads->n_active++] = host;
	return h->mux;
}

void wf_umad_close(struct wf_daemon *d)
{
	struct wf_dumads *all = d->umads;

	if (all == NULL)
		return;
	for (uint32_t i = 0; i < all->n_active; i++)
		wf_mux_destroy(all->host[all->active[i]].mux);
	free(all->active);
	free(all->host);
	free(all);
	d->umads = NULL;
}

int wf_umad_register(struct wf_daemon *d, struct wf_dumad *f, const struct wf_umad_ask *ask,
                     uint32_t *id_p)
{
	struct wf_mux *mux = wf_umad_mux(d, f->host);
	struct wf_mux_agent_cfg cfg = {
		.qp = ask->agent.qpn,
		.mgmt_class = ask->agent.mgmt_class,
		.class_version = ask->agent.class_version,
		.oui = ask->agent.oui,
		.methods = { ask->agent.methods[0], ask->agent.methods[1] },
		.rmpp = ask->agent.rmpp != 0,
		.room = WF_UMAD_ROOM,
		.event = hear,
	};
	uint32_t id = 0;
	int ret;

	if (ask->agent.rmpp > RMPP_VERSION)
		return -EINVAL;
	while (id < WF_UMAD_AGENTS && f->agent[id].agent != NULL)
		id++;
	if (id == WF_UMAD_AGENTS || mux == NULL)
		return -ENOMEM;
	cfg.arg = &f->agent[id];
	ret = wf_mux_register(mux, &cfg, &f->agent[id].agent);
	/* What Linux says when somebody else has it. */
	if (ret != 0)
		return ret == -EADDRINUSE ? -EINVAL : ret;
	f->agent[id].file = f;
	f->agent[id].id = id;
	*id_p = id;
	return 0;
}

int wf_umad_unregister(struct wf_dumad *f, uint32_t id)
{
	if (id >= WF_UMAD_AGENTS || f->agent[id].agent == NULL)
		return -EINVAL;
	wf_mux_unregister(f->agent[id].agent);
	f->agent[id].agent = NULL;
	return 0;
}
