/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig.h - a few adapters and a tiny network between them, for tests.
 *
 * The network hands a packet over after a delay; it may lose, double, delay, trim or corrupt it,
 * with given probabilities, drawn from a key. Time jumps from event to event, as the adapters'
 * deadlines say. Everything is checked with rig_must(), so that fuzzers can use it, too.
 */
#ifndef WF_TESTS_RIG_H
#define WF_TESTS_RIG_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "rdma/cq.h"
#include "rdma/hca.h"
#include "rdma/mr.h"
#include "rdma/qp.h"
#include "rdma/srq.h"
#include "wire/opcode.h"

#define RIG_HOSTS 4
#define RIG_FLIGHT 4096
#define RIG_DELAY (1 * WF_US)
#define RIG_SLOT (100 * WF_NS) /* how long the port is busy with a packet */

#define rig_must(x) ((x) ? (void)0 : rig_die(__FILE__, __LINE__, #x))

static inline void rig_die(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
	abort();
}

struct rig_packet {
	wf_time at;
	uint64_t order;
	struct wf_packet pkt;
	uint8_t data[4096];
};

/* Probabilities of 2^32. */
struct rig_faults {
	uint32_t drop, twice, late, bad, mark, trim;
};

struct rig_host {
	struct wf_hca *hca;
	struct wf_pd *pd;
	struct wf_cq *cq;
	wf_time port_free;
};

struct rig {
	struct rig_host host[RIG_HOSTS];
	uint32_t hosts;
	wf_time now;
	struct rig_faults faults;
	uint64_t key;
	uint64_t draws;
	uint64_t order;
	uint64_t sent;
	/* Called with every packet before it goes; false loses it. */
	bool (*filter)(struct rig *rig, struct wf_packet *pkt);
	void *ctx;
	struct rig_packet *flight[RIG_FLIGHT]; /* a heap by (at, order) */
	uint32_t flights;
	struct rig_packet *spare;
};

static inline uint32_t rig_draw(struct rig *rig)
{
	return (uint32_t)(wf_rand64(rig->key, rig->draws++) >> 32);
}

static inline bool rig_before(const struct rig_packet *a, const struct rig_packet *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static inline void rig_push(struct rig *rig, struct rig_packet *p)
{
	uint32_t i = rig->flights++;

	rig_must(i < RIG_FLIGHT);
	for (; i > 0 && rig_before(p, rig->flight[(i - 1) / 2]); i = (i - 1) / 2)
		rig->flight[i] = rig->flight[(i - 1) / 2];
	rig->flight[i] = p;
}

static inline struct rig_packet *rig_pop(struct rig *rig)
{
	struct rig_packet *top = rig->flight[0];
	struct rig_packet *last = rig->flight[--rig->flights];
	uint32_t i = 0;

	for (;;) {
		uint32_t c = 2 * i + 1;

		if (c >= rig->flights)
			break;
		if (c + 1 < rig->flights && rig_before(rig->flight[c + 1], rig->flight[c]))
			c++;
		if (!rig_before(rig->flight[c], last))
			break;
		rig->flight[i] = rig->flight[c];
		i = c;
	}
	if (rig->flights != 0)
		rig->flight[i] = last;
	return top;
}

static inline struct rig_packet *rig_packet_get(struct rig *rig)
{
	struct rig_packet *p = rig->spare;

	if (p != NULL) {
		rig->spare = NULL;
		return p;
	}
	p = malloc(sizeof(*p));
	rig_must(p != NULL);
	return p;
}

static inline void rig_packet_put(struct rig *rig, struct rig_packet *p)
{
	if (rig->spare == NULL)
		rig->spare = p;
	else
		free(p);
}

static inline void rig_init(struct rig *rig, uint32_t hosts, const struct wf_hca_attr *attr,
                            uint64_t seed)
{
	memset(rig, 0, sizeof(*rig));
	rig->hosts = hosts;
	rig->key = wf_rand_key(seed, 1, 1);
	for (uint32_t i = 0; i < hosts; i++) {
		struct wf_hca_attr a;

		wf_hca_attr_defaults(&a);
		a.max_qp = 64;
		a.max_mr = 256;
		if (attr != NULL)
			a = *attr;
		a.host = i;
		rig_must(wf_hca_create(&a, wf_mem_heap(), &rig->host[i].hca) == 0);
		rig_must(wf_pd_create(rig->host[i].hca, &rig->host[i].pd) == 0);
		rig_must(wf_cq_create(rig->host[i].hca, 4096, &rig->host[i].cq) == 0);
	}
}

static inline void rig_fini(struct rig *rig)
{
	for (uint32_t i = 0; i < rig->hosts; i++)
		wf_hca_destroy(rig->host[i].hca);
	for (uint32_t i = 0; i < rig->flights; i++)
		free(rig->flight[i]);
	free(rig->spare);
}

/* Hands p to the network, which owns it from then on. */
static inline void rig_send(struct rig *rig, struct rig_packet *p)
{
	const struct rig_faults *f = &rig->faults;
	struct rig_packet *twin;

	rig->sent++;
	p->at = rig->now + RIG_DELAY;
	p->order = rig->order++;
	if (rig->filter != NULL && !rig->filter(rig, &p->pkt)) {
		rig_packet_put(rig, p);
		return;
	}
	if (f->drop != 0 && rig_draw(rig) < f->drop) {
		rig_packet_put(rig, p);
		return;
	}
	if (f->mark != 0 && rig_draw(rig) < f->mark)
		p->pkt.flags |= WF_PACKET_CE;
	if (f->trim != 0 && p->pkt.length != 0 && !wf_op_is_atomic(p->pkt.opcode) &&
	    rig_draw(rig) < f->trim) {
		p->pkt.type = WF_PACKET_TRIMMED;
		p->pkt.length = 0;
		p->data[0] ^= 0x55;
	}
	if (f->late != 0 && rig_draw(rig) < f->late)
		p->at += wf_rand_below((uint64_t)rig_draw(rig) << 32, 4000) * WF_NS;
	if (f->twice != 0 && rig_draw(rig) < f->twice) {
		twin = malloc(sizeof(*twin));
		rig_must(twin != NULL);
		*twin = *p;
		twin->at += wf_rand_below((uint64_t)rig_draw(rig) << 32, 3000) * WF_NS;
		twin->order = rig->order++;
		rig_push(rig, twin);
	}
	if (f->bad != 0 && rig_draw(rig) < f->bad) {
		p->pkt.flags |= WF_PACKET_BAD;
		p->pkt.psn ^= rig_draw(rig);
		p->data[0] ^= 0x55;
	}
	rig_push(rig, p);
}

static inline void rig_deliver(struct rig *rig, struct rig_packet *p)
{
	struct wf_hca_rx_extra extra = { .payload = p->data };

	/* Of hosts with an address for each port, the second one's comes behind all firsts. */
	rig_must(p->pkt.dst < WF_HCA_PORTS * rig->hosts);
	wf_hca_rx(rig->host[p->pkt.dst % rig->hosts].hca, &p->pkt, &extra, rig->now);
	rig_packet_put(rig, p);
}

static inline wf_time rig_tx_time(const struct rig_host *h)
{
	if (wf_hca_attr(h->hca)->port_step == 0)
		return wf_hca_tx_time(h->hca);
	return wf_min_time(wf_hca_tx_time_by(h->hca, 0), wf_hca_tx_time_by(h->hca, 1));
}

/* Of two ports, whichever has something; what it has leaves by the address of that port. */
static inline bool rig_tx(struct rig *rig, struct rig_host *h, struct rig_packet *p)
{
	uint32_t number = (uint32_t)(h - rig->host);
	bool sent = false;

	if (wf_hca_attr(h->hca)->port_step == 0)
		return wf_hca_tx(h->hca, rig->now, &p->pkt, p->data);
	for (uint32_t port = 0; port < 2 && !sent; port++) {
		wf_hca_ask(h->hca, port, rig->now);
		sent = wf_hca_tx(h->hca, rig->now, &p->pkt, p->data);
		wf_hca_asked(h->hca);
		rig_must(!sent || p->pkt.src == number + port * rig->hosts);
	}
	return sent;
}

static inline wf_time rig_host_time(const struct rig *rig, const struct rig_host *h)
{
	wf_time tx = rig_tx_time(h);
	wf_time at = wf_hca_deadline(h->hca);

	if (tx != WF_TIME_NEVER)
		at = wf_min_time(at, wf_max_time(tx, h->port_free));
	return at == WF_TIME_NEVER ? at : wf_max_time(at, rig->now);
}

/* Does what is due next, not after end. Returns false when there is nothing. */
static inline bool rig_step(struct rig *rig, wf_time end)
{
	wf_time next = rig->flights != 0 ? rig->flight[0]->at : WF_TIME_NEVER;

	for (uint32_t i = 0; i < rig->hosts; i++)
		next = wf_min_time(next, rig_host_time(rig, &rig->host[i]));
	if (next == WF_TIME_NEVER || next > end)
		return false;
	rig->now = wf_max_time(rig->now, next);
	while (rig->flights != 0 && rig->flight[0]->at <= rig->now)
		rig_deliver(rig, rig_pop(rig));
	for (uint32_t i = 0; i < rig->hosts; i++) {
		struct rig_host *h = &rig->host[i];
		struct rig_packet *p;

		if (wf_hca_deadline(h->hca) <= rig->now)
			wf_hca_tick(h->hca, rig->now);
		if (h->port_free > rig->now || rig_tx_time(h) > rig->now)
			continue;
		p = rig_packet_get(rig);
		if (rig_tx(rig, h, p)) {
			h->port_free = rig->now + RIG_SLOT;
			rig_send(rig, p);
		} else {
			rig_packet_put(rig, p);
		}
	}
	return true;
}

/* Runs until nothing is left to do. */
static inline void rig_run(struct rig *rig)
{
	uint64_t steps = 0;

	while (rig_step(rig, WF_TIME_NEVER - 1))
		rig_must(++steps < 5000000);
}

#endif
