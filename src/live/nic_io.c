/* SPDX-License-Identifier: Apache-2.0 */
/* nic_io.c - packets between the transport and the rings. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "live/nic_priv.h"
#include "rdma/cq.h"
#include "rdma/xrc.h"
#include "wire/opcode.h"
#include "wire/size.h"

#define RX_BATCH 64 /* packets taken from a ring before the next one's turn */
#define TX_BATCH 64
#define PUBLISH_EVERY 1024                /* rounds of one that is never idle */
#define STREAM_MIN 2048                   /* bytes of payload that go past the caches */
#define NUDGE (4 * WF_US)                 /* a peer that polls takes in what it is sent in less */
#define NO_RECEIVE (100 * WF_US)          /* until it is looked again whether one was posted */
#define RELEASE_BYTES (WF_RING_BYTES / 8) /* the producer learns of room at least this often */

/* Where a packet goes that is not for a group; NULL: there is no way. */
static struct wf_nic_peer *way(struct wf_nic *nic, const struct wf_packet *pkt)
{
	struct wf_nic_peer *p = nic->last;
	uint32_t slot = wf_live_slot(pkt->qpn);

	if (wf_unlikely(nic->model != NULL) && pkt->dst != nic->host &&
	    (pkt->dst & WF_LIVE_REMOTE) == 0)
		return nic->model;
	if (wf_likely(p != NULL && p->host == pkt->dst && p->slot == slot))
		return p;
	return wf_nic_peer(nic, pkt->dst, slot);
}

void *wf_nic_place(void *arg, const struct wf_packet *pkt)
{
	struct wf_nic *nic = arg;
	struct wf_nic_peer *p = way(nic, pkt);
	void *at;

	nic->placed = NULL;
	if (p == NULL || !wf_nic_is_linked(p) || p->full)
		return NULL;
	at = wf_ring_reserve(&p->pipe.tx, pkt->length);
	if (at != NULL)
		nic->placed = p;
	return at;
}

bool wf_nic_copy_near(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	return true;
}

#ifdef __SSE2__
/*
 * Lines that another CPU has to fetch from this one's cache come many times slower, where the two
 * are far apart, than from memory, which it reads ahead. Small ones stay in the cache: there, delay
 * counts.
 */
bool wf_nic_copy_far(void *to, const void *from, size_t n)
{
	const char *f = from;
	char *t = to;
	size_t i;

	if (n < STREAM_MIN || ((uintptr_t)to & 15) != 0) {
		memcpy(to, from, n);
		return true;
	}
	for (i = 0; i + 64 <= n; i += 64) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)(f + i));
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(f + i + 16));
		__m128i c = _mm_loadu_si128((const __m128i *)(const void *)(f + i + 32));
		__m128i d = _mm_loadu_si128((const __m128i *)(const void *)(f + i + 48));

		_mm_stream_si128((__m128i *)(void *)(t + i), a);
		_mm_stream_si128((__m128i *)(void *)(t + i + 16), b);
		_mm_stream_si128((__m128i *)(void *)(t + i + 32), c);
		_mm_stream_si128((__m128i *)(void *)(t + i + 48), d);
	}
	memcpy(t + i, f + i, n - i);
	/* Before the stamp of the entry, which is an ordinary store. */
	_mm_sfence();
	return true;
}
#else
bool wf_nic_copy_far(void *to, const void *from, size_t n)
{
	return wf_nic_copy_near(to, from, n);
}
#endif

static void hold_sender(struct wf_nic *nic, struct wf_nic_peer *p)
{
	struct wf_qp *qp = wf_hca_sender(nic->hca);

	if (p->n_held == p->max_held) {
		uint32_t n = p->max_held != 0 ? 2 * p->max_held : 16;
		uint32_t *more = realloc(p->held, n * sizeof(*more));

		if (more == NULL)
			return; /* it goes on, and its packets are staged */
		p->held = more;
		p->max_held = n;
	}
	p->held[p->n_held++] = wf_qp_num(qp);
	wf_qp_hold(qp, true);
}

/*
 * Asks to be woken when a quarter of the ring is free: not for every small hole. Returns whether it
 * is already.
 */
static bool ask_for_room(struct wf_nic_peer *p)
{
	p->waits = true;
	return !wf_ring_want_space(&p->pipe.tx, wf_ring_room(&p->pipe.tx) / 4);
}

bool wf_nic_ask_for_room(struct wf_nic *nic)
{
	bool room = false;

	for (uint32_t i = 0; i < nic->n_peers; i++) {
		struct wf_nic_peer *p = nic->peers[i];

		/* What is broken is found out by who looks at it next. */
		if (wf_unlikely(p->full) && wf_nic_is_linked(p) &&
		    (ask_for_room(p) || p->pipe.tx.broken))
			room = true;
	}
	return room;
}

/* The ring is full: the packet waits outside, and whoever sent it sends no more. */
static void stage(struct wf_nic *nic, struct wf_nic_peer *p, const struct wf_packet *pkt,
                  const void *payload, uint32_t bytes)
{
	struct wf_nic_staged *s = malloc(sizeof(*s) + bytes);

	if (s == NULL) {
		nic->dropped++;
		return;
	}
	s->next = NULL;
	s->pkt = *pkt;
	s->bytes = bytes;
	memcpy(s->payload, payload, bytes);
	if (!p->full) {
		p->full = true;
		p->staged_tail = &p->staged;
	}
	*p->staged_tail = s;
	p->staged_tail = &s->next;
	hold_sender(nic, p);
	/* If there is room by now, whoever goes on from here sees it: wf_nic_progress(). */
	if (wf_nic_is_linked(p))
		(void)ask_for_room(p);
}

static inline void commit(struct wf_nic_peer *p, const struct wf_packet *pkt, uint32_t bytes)
{
	wf_ring_commit(&p->pipe.tx, pkt, bytes);
	p->touched = true;
}

/* Puts one packet on its way. */
static void send_to(struct wf_nic *nic, struct wf_nic_peer *p, const struct wf_packet *pkt,
                    const void *payload, uint32_t bytes)
{
	char *at;

	if (wf_unlikely(p == NULL || !wf_nic_is_linked(p))) {
		if (p != NULL && p->link == WF_NIC_ASKED)
			stage(nic, p, pkt, payload, bytes);
		else
			nic->dropped++;
		return;
	}
	at = p->full ? NULL : wf_ring_reserve(&p->pipe.tx, bytes);
	if (wf_unlikely(at == NULL)) {
		if (p->pipe.tx.broken)
			wf_nic_peer_break(nic, p);
		else
			stage(nic, p, pkt, payload, bytes);
		return;
	}
	memcpy(at, payload, bytes);
	commit(p, pkt, bytes);
}

/* The same to a program that its queue pair's number does not name. */
static void send_named(struct wf_nic *nic, struct wf_nic_peer *p, struct wf_packet *pkt,
                       uint32_t bytes)
{
	if (nic->model != NULL && p != NULL && p->host != nic->host && !wf_nic_is_wire(p)) {
		pkt->payload = wf_live_program(p->host, p->slot);
		p = nic->model;
	}
	send_to(nic, p, pkt, nic->bounce, bytes);
}

static void send_group(struct wf_nic *nic, struct wf_packet *pkt, uint32_t bytes)
{
	const struct wf_nic_group *g;
	struct wf_packet out = *pkt;

	/*
	 * Whoever has joined may say so by other ways, and those may be faster than the daemon's.
	 */
	wf_nic_events(nic);
	g = wf_nic_group(nic, pkt->dst);
	/* Where ports are managed: one for all others, which switches copy by its DLID. */
	if (nic->table->managed != 0)
		send_to(nic, nic->model, pkt, nic->bounce, bytes);
	for (uint32_t i = 0; g != NULL && i < g->n; i++) {
		if (nic->table->managed != 0 && g->port[i].host != nic->host)
			continue;
		send_named(nic, wf_nic_peer(nic, g->port[i].host, g->port[i].slot), pkt, bytes);
	}
	if (g == NULL || !wf_nic_is_outside(nic, g->gid))
		return;
	assert(nic->table->managed == 0);
	out.src = out.input; /* the traffic class */
	send_to(nic, wf_nic_peer(nic, WF_LIVE_REMOTE, 0), &out, nic->bounce, bytes);
}

/* Puts what was staged into the ring, as much as fits. Returns whether all of it did. */
static bool move_staged(struct wf_nic_peer *p)
{
	while (p->staged != NULL) {
		struct wf_nic_staged *s = p->staged;
		char *at = wf_ring_reserve(&p->pipe.tx, s->bytes);

		if (at == NULL && !p->pipe.tx.broken)
			return false;
		if (at != NULL) {
			memcpy(at, s->payload, s->bytes);
			commit(p, &s->pkt, s->bytes);
		}
		p->staged = s->next;
		free(s);
	}
	return true;
}

/*
 * Sends what was staged, and lets the queue pairs go on. Whoever leaves packets staged has asked
 * for room since the ring was last seen to be full: without that, nobody would wake a sender that
 * gets no answers.
 */
static void unstage(struct wf_nic *nic, struct wf_nic_peer *p)
{
	do {
		if (!ask_for_room(p) && !p->pipe.tx.broken)
			return;
	} while (!move_staged(p));
	wf_nic_unhold(nic, p);
}

static uint32_t payload_bytes(const struct wf_packet *pkt)
{
	return wf_op_has_payload(pkt->opcode) ? pkt->length : 0;
}

static inline void note_sent(struct wf_nic *nic, const struct wf_nic_peer *p)
{
	wf_nic_bound(nic, wf_qp_num(wf_hca_sender(nic->hca)))->sent = p->pipe.tx.pos;
}

/*
 * An adapter in hardware takes in what comes at once; one in a program, when that gets a CPU. It
 * gives the room of a packet back when it has answered it, so that here nothing is taken for lost
 * that only waits. What waits because of a fault is late all the same.
 */
bool wf_nic_underway(void *arg, const struct wf_qp *qp, wf_time timeout)
{
	struct wf_nic *nic = arg;
	struct wf_nic_bound *bound = wf_nic_bound(nic, wf_qp_num(qp));
	struct wf_nic_peer *p = bound->peer;

	if (p != NULL && p->link == WF_NIC_ASKED && p->full)
		return true;
	if (p == NULL || !wf_nic_is_linked(p) || wf_nic_holds_up(nic, p, timeout))
		return false;
	wf_ring_refresh(&p->pipe.tx);
	if (p->pipe.tx.broken || (!p->full && bound->sent <= p->pipe.tx.tail))
		return false;
	wf_pipe_nudge(&p->pipe);
	return true;
}

/* The payload that wf_nic_place() found room for. */
static const char *reserved(const struct wf_nic_peer *p)
{
	return wf_ring_at(&p->pipe.tx, p->pipe.tx.pos) + sizeof(struct wf_packet);
}

/* What a packet takes on the link. The transport reckons with RoCE v2, or InfiniBand. */
static uint32_t octets(const struct wf_nic *nic, const struct wf_packet *pkt)
{
	uint32_t more = 0;

	if (wf_unlikely((pkt->dst & WF_LIVE_GROUP) != 0) && nic->table->managed != 0)
		return pkt->size + WF_GRH_LEN;
	if (wf_unlikely(wf_packet_is_roce1(pkt)) && nic->table->layer == WF_LIVE_ROCE)
		more = wf_size_around(WF_ENCAP_ROCE1, true) -
		       wf_size_around(WF_ENCAP_ROCE2_IPV4, false);
	return pkt->size + more;
}

static unsigned transmit(struct wf_nic *nic, wf_time now)
{
	bool up = wf_nic_is_up(nic);
	uint32_t stamp = wf_nic_stamp(nic, now);
	struct wf_packet pkt;
	unsigned n = 0;

	nic->placed = NULL;
	while (n < TX_BATCH && wf_hca_tx_time(nic->hca) <= now &&
	       wf_hca_tx(nic->hca, now, &pkt, nic->bounce)) {
		uint32_t bytes = payload_bytes(&pkt);
		bool ud = wf_op_service(pkt.opcode) == WF_SERVICE_UD;

		n++;
		nic->tx_octets += octets(nic, &pkt);
		pkt.src = stamp;
		if (wf_unlikely(!up)) {
			nic->dropped++;
		} else if (wf_unlikely((pkt.dst & WF_LIVE_GROUP) != 0)) {
			if (wf_unlikely(nic->n_taps != 0))
				wf_nic_tap(nic, &pkt, nic->bounce, bytes, true);
			send_group(nic, &pkt, bytes);
		} else if (wf_unlikely(pkt.qpn == WF_QPN_GSI)) {
			uint32_t index;

			pkt.pkey = wf_live_common_pkey(nic->table, nic->host, pkt.dst, &index);
			if (wf_unlikely(nic->n_taps != 0))
				wf_nic_tap(nic, &pkt, nic->bounce, bytes, true);
			if (wf_unlikely((pkt.dst & WF_LIVE_REMOTE) != 0))
				pkt.src = pkt.input; /* the traffic class */
			send_named(nic, wf_nic_gsi_way(nic, &pkt, nic->bounce), &pkt, bytes);
		} else {
			struct wf_nic_peer *p = way(nic, &pkt);
			bool placed = bytes != 0 && !ud && p != NULL && nic->placed == p;

			if (wf_unlikely(nic->n_taps != 0))
				wf_nic_tap(nic, &pkt, placed ? reserved(p) : nic->bounce, bytes,
				           true);
			if (wf_unlikely((pkt.dst & WF_LIVE_REMOTE) != 0))
				pkt.src = pkt.input; /* the traffic class */
			if (placed)
				commit(p, &pkt, bytes);
			else
				send_to(nic, p, &pkt, nic->bounce, bytes);
			if (p != NULL && !ud && wf_nic_is_linked(p))
				note_sent(nic, p);
		}
	}
	return n;
}

/*
 * XRC: domains are shared by programs of a host that have them of the same file, and a program's
 * queue pair receives for queues of others. What it received goes to them by their ring, as it is,
 * with the number of that queue pair, and the file where the header of a SEND has nothing.
 */
enum wf_forward wf_nic_forward(void *arg, struct wf_qp *qp, const struct wf_packet *pkt,
                               const void *payload)
{
	struct wf_nic *nic = arg;
	uint32_t slot = pkt->srqn >> WF_LIVE_SRQN_BITS, bytes = payload_bytes(pkt);
	struct wf_xrc_id id = wf_qp_xrc_id(qp);
	struct wf_packet out = *pkt;
	struct wf_nic_peer *p;
	char *at;

	if (slot == nic->slot || slot == 0 || (id.dev | id.ino) == 0)
		return WF_FORWARD_NOBODY;
	p = wf_nic_peer(nic, nic->host, slot);
	if (p != NULL && p->link == WF_NIC_ASKED)
		return WF_FORWARD_LATER;
	if (p == NULL || !wf_nic_is_linked(p))
		return WF_FORWARD_NOBODY;
	at = p->full ? NULL : wf_ring_reserve(&p->pipe.tx, bytes);
	if (at == NULL)
		return p->pipe.tx.broken ? WF_FORWARD_NOBODY : WF_FORWARD_LATER;
	memcpy(at, payload, bytes);
	out.qpn = wf_qp_num(qp);
	out.u.atomic.swap_add = id.dev;
	out.u.atomic.compare = id.ino;
	commit(p, &out, bytes);
	return WF_FORWARD_DONE;
}

/* Whether a packet is one that another program of this host received for a queue of this one. */
static bool is_forwarded(const struct wf_nic *nic, const struct wf_nic_peer *p,
                         const struct wf_packet *pkt)
{
	return p->host == nic->host && p->slot != nic->slot && wf_live_slot(pkt->qpn) == p->slot &&
	       wf_op_service(pkt->opcode) == WF_SERVICE_XRC;
}

/* Takes it in. Returns false when it has to wait in its ring until a receive is posted. */
static bool take_forwarded(struct wf_nic *nic, struct wf_nic_peer *p, const struct wf_packet *pkt,
                           const void *payload, wf_time now)
{
	struct wf_xrc_id id = { pkt->u.atomic.swap_add, pkt->u.atomic.compare };
	int ret =
		pkt->length != pkt->input ? -EINVAL : wf_xrc_take(nic->hca, &id, pkt, payload, now);

	if (ret == -EAGAIN) {
		p->blocked = now + NO_RECEIVE;
		return false;
	}
	p->blocked = 0;
	if (ret != 0)
		nic->dropped++;
	return true;
}

/* A packet may come only from where its ring comes from; the transport checks the rest. */
static bool may_receive(const struct wf_nic *nic, const struct wf_nic_peer *p,
                        const struct wf_packet *pkt)
{
	if (wf_op_has_payload(pkt->opcode) && pkt->length != pkt->input)
		return false;
	if (wf_unlikely(p == NULL))
		return false;
	if (pkt->qpn == WF_QPN_MULTICAST)
		return (pkt->dst & WF_LIVE_GROUP) != 0 &&
		       (wf_nic_is_wire(p) || wf_live_slot(pkt->u.deth.src_qpn) == p->slot);
	if (pkt->qpn == WF_QPN_GSI && wf_op_service(pkt->opcode) == WF_SERVICE_UD)
		return wf_nic_gsi_may_receive(nic, pkt);
	if (wf_live_slot(pkt->qpn) != nic->slot || pkt->dst != nic->host)
		return false;
	if (wf_op_service(pkt->opcode) == WF_SERVICE_UD)
		return wf_nic_is_wire(p) || wf_live_slot(pkt->u.deth.src_qpn) == p->slot;
	return wf_nic_bound(nic, pkt->qpn)->peer == p;
}

static inline bool is_faulty(const struct wf_nic *nic)
{
	return atomic_load_explicit(&nic->table->faulty, memory_order_relaxed) != 0;
}

/* A capture sees all that arrives, what is corrupted or will be dropped included. */
static void tap_in(struct wf_nic *nic, const struct wf_packet *pkt, const void *payload,
                   enum wf_nic_verdict verdict)
{
	struct wf_packet copy = *pkt;

	if (verdict == WF_NIC_LOSE || !wf_nic_is_up(nic))
		return;
	if (verdict == WF_NIC_SPOIL)
		copy.flags |= WF_PACKET_BAD;
	wf_nic_tap(nic, &copy, payload, (uint32_t)wf_min_u64(payload_bytes(pkt), pkt->input),
	           false);
}

/*
 * A packet of the wire's ring: the daemon has put other things where hosts' numbers are, and the
 * GID of a datagram's sender behind its payload (wire.h).
 */
static void from_wire(struct wf_nic *nic, struct wf_packet *pkt, const void *payload)
{
	uint8_t gid[WF_GID_LEN];

	pkt->src = WF_LIVE_REMOTE | (pkt->src & (WF_LIVE_REMOTE_NUMBERS - 1));
	nic->ip_info = (pkt->dst & WF_LIVE_GROUP) != 0 ? 0 : pkt->dst;
	if ((pkt->dst & WF_LIVE_GROUP) == 0)
		pkt->dst = nic->host;
	if (wf_op_service(pkt->opcode) != WF_SERVICE_UD || pkt->input < WF_GID_LEN)
		return;
	pkt->input -= WF_GID_LEN;
	memcpy(gid, (const char *)payload + pkt->input, sizeof(gid));
	(void)!wf_nic_know_remote(nic, pkt->src, gid, false);
}

/* How long a packet that came through the model has waited here since it was due (model.c). */
static void note_late(struct wf_nic *nic, const struct wf_packet *pkt)
{
	uint32_t now = (uint32_t)((uint64_t)nic->clock / WF_NS);
	int32_t late = (int32_t)(now - pkt->payload);

	if (nic->table->pace != WF_LIVE_WALL || wf_op_is_atomic(pkt->opcode))
		return;
	nic->late_packets++;
	nic->late_ns += late > 0 ? (uint32_t)late : 0;
}

/* Who sent a packet that came through the model, which may have spoilt it; NULL: no memory. */
static struct wf_nic_peer *from_model(struct wf_nic *nic, struct wf_packet *pkt,
                                      enum wf_nic_verdict *verdict)
{
	struct wf_nic_peer *from = wf_nic_sender(nic, pkt->src);

	note_late(nic, pkt);
	if (pkt->type != WF_PACKET_TRIMMED)
		pkt->type = WF_PACKET_RDMA;
	if ((pkt->flags & WF_PACKET_BAD) != 0) {
		nic->icrc_errors++;
		*verdict = WF_NIC_SPOIL;
	}
	if (from != NULL)
		pkt->src = from->host;
	return from;
}

static unsigned receive_from(struct wf_nic *nic, struct wf_nic_peer *p, wf_time now)
{
	struct wf_ring *rx = &p->pipe.rx;
	struct wf_hca_rx_extra extra = { 0 };
	struct wf_nic_peer *from;
	struct wf_packet pkt;
	unsigned n = 0;

	while (n < RX_BATCH && wf_ring_peek(rx, &pkt, &extra.payload)) {
		enum wf_nic_verdict verdict = WF_NIC_PASS;

		if (wf_unlikely(is_faulty(nic)) && !wf_nic_is_model(p))
			verdict = wf_nic_fault(nic, p, pkt.src, now);
		if (wf_unlikely(verdict == WF_NIC_WAIT))
			break;
		if (wf_unlikely(is_forwarded(nic, p, &pkt))) {
			if (!take_forwarded(nic, p, &pkt, extra.payload, now))
				break;
			n++;
			wf_ring_consume(rx);
			continue;
		}
		n++;
		from = p;
		if (wf_unlikely(wf_nic_is_model(p))) {
			from = from_model(nic, &pkt, &verdict);
		} else {
			pkt.type = WF_PACKET_RDMA;
			if (wf_likely(!wf_nic_is_wire(p)))
				pkt.src = p->host;
			else
				from_wire(nic, &pkt, extra.payload);
		}
		if (wf_unlikely(nic->n_taps != 0) && from != NULL)
			tap_in(nic, &pkt, extra.payload, verdict);
		if (wf_unlikely(!may_receive(nic, from, &pkt) || !wf_nic_is_up(nic)))
			nic->dropped++;
		else if (wf_likely(verdict == WF_NIC_PASS))
			wf_hca_rx(nic->hca, &pkt, &extra, now);
		if (wf_likely(verdict == WF_NIC_PASS))
			nic->rx_octets += octets(nic, &pkt);
		if (wf_unlikely(pkt.qpn == WF_QPN_GSI))
			wf_nic_gsi_receive(nic, from, now);
		wf_ring_consume(rx);
		if (rx->pos - rx->tail >= RELEASE_BYTES && wf_ring_release(rx))
			(void)wf_pipe_wake(&p->pipe);
	}
	if (n != 0)
		nic->taken = true;
	if (wf_unlikely(rx->broken))
		wf_nic_peer_break(nic, p);
	return n;
}

void wf_nic_drain(struct wf_nic *nic, struct wf_nic_peer *p)
{
	/* No more than fits: whoever still holds the memory might go on writing. */
	uint64_t end = p->pipe.rx.pos + WF_RING_BYTES;
	wf_time now = wf_nic_now(nic);

	while (wf_nic_is_linked(p) && p->pipe.rx.pos < end) {
		if (receive_from(nic, p, now) == 0)
			break;
	}
}

void wf_nic_catch_up(struct wf_nic *nic, const struct wf_qp *qp)
{
	enum wf_qp_state state = wf_qp_state(qp);

	if (state == WF_QPS_RESET || state == WF_QPS_INIT)
		return;
	for (uint32_t i = 0; i < nic->n_peers; i++)
		wf_nic_drain(nic, nic->peers[i]);
	(void)wf_nic_progress(nic);
}

void wf_nic_tell(struct wf_nic *nic)
{
	struct wf_event event;
	struct wf_cq *cq;

	while ((cq = wf_hca_next_comp(nic->hca)) != NULL)
		nic->cfg.completion(nic->cfg.arg, cq);
	while (wf_hca_next_event(nic->hca, &event))
		nic->cfg.event(nic->cfg.arg, &event);
}

void wf_nic_nudge(struct wf_nic *nic)
{
	wf_time now = wf_nic_now(nic);

	for (uint32_t i = 0; i < nic->n_peers; i++) {
		struct wf_nic_peer *p = nic->peers[i];

		if (!p->watched || !wf_nic_is_linked(p) || now - p->sent < NUDGE)
			continue;
		p->watched = false;
		wf_ring_refresh(&p->pipe.tx);
		if (p->pipe.tx.tail != p->pipe.tx.pos)
			wf_pipe_nudge(&p->pipe);
	}
}

static void wake_peers(struct wf_nic *nic, wf_time now)
{
	bool fenced = false;

	for (uint32_t i = 0; i < nic->n_peers; i++) {
		struct wf_nic_peer *p = nic->peers[i];

		if (!p->touched)
			continue;
		p->touched = false;
		if (!fenced)
			wf_pipe_fence();
		fenced = true;
		if (p == nic->self) {
			wf_drive_wake_self(nic);
		} else if (wf_nic_is_linked(p) && !wf_pipe_wake(&p->pipe) && !p->watched &&
		           !wf_nic_is_model(p)) {
			p->watched = true;
			p->sent = now;
		}
	}
}

void wf_nic_publish(struct wf_nic *nic)
{
	_Atomic uint64_t *count = nic->stats->count;

	for (int i = 0; i < WF_COUNTERS; i++)
		atomic_store_explicit(&count[i], wf_hca_counter(nic->hca, (enum wf_counter)i),
		                      memory_order_relaxed);
	atomic_store_explicit(&count[WF_LIVE_TX_OCTETS], nic->tx_octets, memory_order_relaxed);
	atomic_store_explicit(&count[WF_LIVE_RX_OCTETS], nic->rx_octets, memory_order_relaxed);
	atomic_store_explicit(&count[WF_LIVE_DROPPED], nic->dropped, memory_order_relaxed);
	atomic_store_explicit(&count[WF_LIVE_LOST], nic->lost, memory_order_relaxed);
	atomic_store_explicit(&count[WF_LIVE_ICRC_ERRORS], nic->icrc_errors, memory_order_relaxed);
	atomic_store_explicit(&count[WF_LIVE_LATE_PACKETS], nic->late_packets,
	                      memory_order_relaxed);
	atomic_store_explicit(&count[WF_LIVE_LATE_NS], nic->late_ns, memory_order_relaxed);
}

/*
 * Gives back the room of what was taken in, now that it is answered: until then its sender does not
 * take it for lost (wf_nic_underway()).
 */
static void release(struct wf_nic *nic)
{
	nic->taken = false;
	for (uint32_t i = 0; i < nic->n_peers; i++) {
		struct wf_nic_peer *p = nic->peers[i];

		if (wf_nic_is_linked(p) && wf_ring_release(&p->pipe.rx))
			(void)wf_pipe_wake(&p->pipe);
	}
}

/* Runs timers; but not while the answers that they wait for may be among what has come already. */
static void tick(struct wf_nic *nic, bool more, wf_time now)
{
	if (more && ++nic->late < WF_RING_BYTES / WF_CACHE_LINE / RX_BATCH)
		return;
	nic->late = 0;
	if (wf_hca_deadline(nic->hca) <= now)
		wf_hca_tick(nic->hca, now);
}

static wf_time look_at_clock(struct wf_nic *nic)
{
	nic->clock = wf_nic_clock();
	return nic->clock - nic->start;
}

unsigned wf_nic_progress(struct wf_nic *nic)
{
	wf_time now = look_at_clock(nic);
	unsigned rx = 0, tx;
	bool staged = false, more = false;

	/* Packets wait for links: who makes them is heard at once. */
	if (wf_unlikely(nic->n_asked != 0))
		wf_nic_events(nic);
	if (wf_unlikely(nic->reap))
		wf_nic_reap(nic);
	for (uint32_t i = 0; i < nic->n_peers; i++) {
		struct wf_nic_peer *p = nic->peers[i];

		if (wf_nic_is_linked(p) && wf_ring_ready(&p->pipe.rx) && p->blocked <= now) {
			unsigned n = receive_from(nic, p, now);

			rx += n;
			more = more || n == RX_BATCH;
		}
		if (wf_unlikely(p->full) && wf_nic_is_linked(p)) {
			unstage(nic, p);
			staged = staged || p->touched;
		}
	}
	tick(nic, more, now);
	if (wf_unlikely(nic->gsi != NULL))
		wf_nic_gsi_progress(nic, now);
	tx = transmit(nic, now);
	if (nic->taken)
		release(nic);
	if (rx + tx != 0 || staged)
		wake_peers(nic, now);
	/* What a program sends to itself does not wait for its next call: that may be its last. */
	if (wf_unlikely(nic->self != NULL) && wf_nic_is_linked(nic->self) &&
	    wf_ring_ready(&nic->self->pipe.rx) && nic->self->blocked <= now)
		rx += receive_from(nic, nic->self, now);
	if (wf_unlikely(++nic->rounds % PUBLISH_EVERY == 0)) {
		wf_nic_publish(nic);
		wf_nic_events(nic); /* a thread that is never idle does not look for them */
	}
	wf_nic_tell(nic);
	wf_nic_assert(nic);
	return rx + tx;
}

bool wf_nic_pending(const struct wf_nic *nic)
{
	for (uint32_t i = 0; i < nic->n_peers; i++) {
		const struct wf_nic_peer *p = nic->peers[i];

		if (wf_nic_is_linked(p) && wf_ring_ready(&p->pipe.rx) && p->blocked == 0)
			return true;
	}
	return wf_nic_gsi_pending(nic);
}
