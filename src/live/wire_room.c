/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_room.c - packets for which a program's ring has no room.
 *
 *	     ring full           BACKLOG waits              PATIENCE_MS without room
 *	OPEN ---------> WAITING --------------> PAUSING ----------------------------> STUCK
 *	     <---------         <--------------         <----------------------------
 *	     all is in          less waits                  it has made room
 *
 * WAITING: what comes is kept here, in order. PAUSING: the host's sockets are not read, and their
 * buffers fill; the packets of the batch in hand still wait here, so none is lost. STUCK: what
 * comes for it is lost, and the others of the host go on.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "live/wire_priv.h"
#include "wire/opcode.h"

#define BACKLOG (8u << 20) /* bytes that wait for a program, and one batch more */
#define PATIENCE_MS 250

static void assert_own(const struct wf_wire_own *own)
{
	assert((own->first == NULL) == (own->waiting == 0));
	assert(own->first == NULL || *own->tail == NULL);
	assert(!own->stuck || own->waiting >= BACKLOG);
	assert(own->waiting <= BACKLOG + 2 * WF_WIRE_BATCH * wf_ring_entry_bytes(WF_RING_PAYLOAD));
	(void)own;
}

static bool is_pausing(const struct wf_wire_own *own)
{
	return own != NULL && own->waiting >= BACKLOG && !own->stuck;
}

/* Keeps a packet. Returns false when there is no memory, or it is of no use. */
static bool keep(struct wf_wire_own *own, uint64_t now, const struct wf_packet *pkt,
                 const uint8_t *payload, uint32_t bytes)
{
	struct wf_wire_waiting *k = own->stuck ? NULL : malloc(sizeof(*k) + bytes);

	if (k == NULL)
		return false;
	k->next = NULL;
	k->pkt = *pkt;
	k->bytes = bytes;
	memcpy(k->payload, payload, bytes);
	if (own->first == NULL) {
		own->tail = &own->first;
		own->moved = now;
	}
	*own->tail = k;
	own->tail = &k->next;
	own->waiting += wf_ring_entry_bytes(bytes);
	assert_own(own);
	return true;
}

/* Puts a packet into the ring. Returns false when there is no room. */
static bool put(struct wf_dclient *c, const struct wf_packet *pkt, const uint8_t *payload,
                uint32_t bytes)
{
	void *at = wf_ring_reserve(&c->wire.tx, bytes);

	if (at == NULL)
		return false;
	memcpy(at, payload, bytes);
	wf_ring_commit(&c->wire.tx, pkt, bytes);
	c->wire_touched = true;
	return true;
}

void wf_wire_deliver(struct wf_daemon *d, struct wf_dwire *w, struct wf_dclient *c,
                     const struct wf_packet *pkt, const uint8_t *payload, uint32_t bytes)
{
	uint8_t with_gid[WF_RING_PAYLOAD];

	/* Who sent a datagram is not known to the program, which has to tell its receiver. */
	if (wf_op_service(pkt->opcode) == WF_SERVICE_UD) {
		const struct wf_wire_remote *r = wf_wire_remotes_get(&d->wires->remotes, pkt->src);

		assert(r != NULL && bytes + WF_GID_LEN <= sizeof(with_gid));
		memcpy(with_gid, payload, bytes);
		memcpy(with_gid + bytes, r->gid, WF_GID_LEN);
		payload = with_gid;
		bytes += WF_GID_LEN;
	}
	if (!c->doomed && wf_wire_link(d, c) == 0) {
		if (c->own->first == NULL && put(c, pkt, payload, bytes))
			return;
		if (keep(c->own, d->wires->now, pkt, payload, bytes))
			return;
	}
	wf_wire_count(d, w->host, WF_LIVE_WIRE_RX_NO_ROOM);
}

void wf_wire_drop_waiting(struct wf_wire_own *own)
{
	while (own->first != NULL) {
		struct wf_wire_waiting *k = own->first;

		own->first = k->next;
		own->waiting -= wf_ring_entry_bytes(k->bytes);
		free(k);
	}
	own->stuck = false;
	assert_own(own);
}

/* What the program has to have free before more is moved: not for every small hole. */
static uint32_t step(const struct wf_dclient *c)
{
	return wf_ring_room(&c->wire.tx) / 4;
}

void wf_wire_drain(struct wf_daemon *d, struct wf_dclient *c)
{
	struct wf_wire_own *own = c->own;

	if (own == NULL || own->first == NULL)
		return;
	if (wf_ring_reserve(&c->wire.tx, step(c)) != NULL) {
		own->moved = d->wires->now;
		own->stuck = false;
		while (own->first != NULL) {
			struct wf_wire_waiting *k = own->first;

			if (!put(c, &k->pkt, k->payload, k->bytes))
				break;
			own->first = k->next;
			own->waiting -= wf_ring_entry_bytes(k->bytes);
			free(k);
		}
	} else if (is_pausing(own) && d->wires->now - own->moved >= PATIENCE_MS) {
		own->stuck = true;
	}
	if (c->wire.tx.broken)
		c->doomed = true;
	assert_own(own);
}

bool wf_wire_has_room(struct wf_dclient *c)
{
	return c->own != NULL && c->own->first != NULL && !c->wire.tx.broken &&
	       !wf_ring_want_space(&c->wire.tx, step(c));
}

void wf_wire_pause(struct wf_daemon *d, struct wf_dwire *w)
{
	bool pause = false;

	for (const struct wf_dclient *c = d->clients; c != NULL; c = c->next)
		pause = pause || (c->on_wire && c->host == w->host && is_pausing(c->own));
	if (pause == w->paused)
		return;
	w->paused = pause;
	(void)wf_watch_change(d->epoll, w->epoll, pause ? 0 : EPOLLIN, &w->watch);
}

int wf_wire_patience(const struct wf_daemon *d)
{
	uint64_t now = wf_daemon_now(), least = UINT64_MAX;

	for (const struct wf_dclient *c = d->clients; c != NULL; c = c->next) {
		if (!c->on_wire || !is_pausing(c->own))
			continue;
		least = wf_min_u64(least, now < c->own->moved + PATIENCE_MS
		                                  ? c->own->moved + PATIENCE_MS - now
		                                  : 0);
	}
	return least == UINT64_MAX ? -1 : (int)least;
}
