/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - connections over one line, in virtual time: a rate, a delay each way, a queue that
 * marks and drops, and segments that are lost as a test says. Hosts take no time.
 *
 *	struct line l;
 *	line_init(&l, flows, &cfg);	... l.delay, l.rate, l.drop ...
 *	line_send(&l, flow, bytes);
 *	line_run(&l, until);
 *	line_fini(&l);
 */
#ifndef WF_TESTS_TCP_LINE_H
#define WF_TESTS_TCP_LINE_H

#include "check.h"

#include <stdio.h>
#include <string.h>

#include "line_events.h"

static inline void line_defaults(struct wf_tcp_conn_cfg *cfg, const char *cc)
{
	*cfg = (struct wf_tcp_conn_cfg){
		.cc = wf_tcp_cc_find(cc),
		.encap = WF_ENCAP_ROCE2_IPV4,
		.mss = 1448,
		.init_window = 10,
		.rmem = 6 << 20,
		.burst = 65536,
		.rto_min = 200 * WF_MS,
		.delack = 40 * WF_MS,
		.timestamps = true,
	};
	assert_non_null(cfg->cc);
	cfg->ecn = cfg->cc->ecn;
}

static inline void line_init(struct line *l, unsigned flows, const struct wf_tcp_conn_cfg *cfg)
{
	memset(l, 0, sizeof(*l));
	l->cfg = *cfg;
	l->flows = flows;
	l->reads = true;
	l->delay = 10 * WF_MS;
	l->shortest = UINT64_MAX;
	assert_int_equal(wf_tcp_pool_create(wf_mem_heap(), &l->pool), 0);
	l->heap = calloc(LINE_EVENTS, sizeof(*l->heap));
	l->log = calloc(LINE_LOG, sizeof(*l->log));
	for (unsigned i = 0; i < flows; i++) {
		struct wf_tcp_conn_attr a = { .host = 2 * i,
			                      .peer = 2 * i + 1,
			                      .peer_number = i,
			                      .client_port = (uint16_t)(50000 + i),
			                      .server_port = 5001,
			                      .isn = 0xfffff000u + i, /* it wraps */
			                      .peer_isn = 77,
			                      .peer_window = cfg->rmem };
		struct wf_tcp_conn_attr b = a;

		b.host = a.peer;
		b.peer = a.host;
		b.back = true;
		b.isn = a.peer_isn;
		b.peer_isn = a.isn;
		assert_int_equal(wf_tcp_conn_create(l->pool, &l->cfg, &a, l->count[0], &l->tx[i]),
		                 0);
		assert_int_equal(wf_tcp_conn_create(l->pool, &l->cfg, &b, l->count[1], &l->rx[i]),
		                 0);
	}
}

static inline void line_fini(struct line *l)
{
	wf_tcp_pool_destroy(l->pool);
	free(l->heap);
	free(l->log);
}

/* Bytes that wait for the line. */
static inline uint64_t line_queue(const struct line *l)
{
	if (l->rate == 0 || l->free_at <= l->now)
		return 0;
	return (uint64_t)((unsigned __int128)(uint64_t)(l->free_at - l->now) * l->rate / 8 / WF_S);
}

static inline void line_data(struct line *l, unsigned flow, const struct wf_packet *pkt)
{
	struct line_event e = { .kind = LINE_DATA, .flow = flow, .pkt = *pkt };
	uint64_t queue = line_queue(l);
	struct line_log note = {
		.at = l->now, .flow = flow, .len = pkt->length, .opcode = pkt->opcode
	};

	note.seq = (uint32_t)(pkt->psn - (l->tx[flow]->attr.isn + 1));
	note.lost = l->drop != NULL && l->drop(l, ++l->n_data);
	if (l->now >= l->watch_from) {
		l->longest = wf_max_u64(l->longest, queue);
		l->shortest = wf_min_u64(l->shortest, queue);
	}
	note.lost |= l->room != 0 && queue + pkt->size > l->room;
	line_note(l, &note);
	if (note.lost)
		return;
	if (l->marking != 0 && queue > l->marking && (pkt->flags & WF_PACKET_ECT) != 0)
		e.pkt.flags |= WF_PACKET_CE;
	l->free_at = wf_max_time(l->free_at, l->now);
	if (l->rate != 0)
		l->free_at += (wf_time)((unsigned __int128)pkt->size * 8 * WF_S / l->rate);
	e.at = l->free_at + l->delay;
	if (l->late_every != 0 && l->order % l->late_every == 0)
		e.at += l->late;
	line_push(l, &e);
}

/* Everything that a sender may send. */
static inline void line_tx(struct line *l, unsigned flow)
{
	struct wf_tcp_burst b;

	while (wf_tcp_conn_tx(l->tx[flow], l->now, &b)) {
		for (uint32_t left = b.bytes; left > 0;) {
			struct wf_packet pkt = b.pkt;

			pkt.length = (uint16_t)(left < l->cfg.mss ? left : l->cfg.mss);
			pkt.size = wf_tcp_size(&pkt, l->cfg.encap);
			left -= pkt.length;
			if (left > 0)
				pkt.opcode &= (uint8_t)~WF_SEG_PSH;
			line_data(l, flow, &pkt);
			b.pkt.psn += pkt.length;
		}
	}
}

/* Everything that a receiver says. */
static inline void line_acks(struct line *l, unsigned flow)
{
	struct line_event e = { .kind = LINE_ACK, .flow = flow, .at = l->now + l->delay };
	struct wf_packet pkt;

	while (wf_tcp_conn_ack(l->rx[flow], l->now, &pkt)) {
		struct line_log note = {
			.at = l->now,
			.ack = true,
			.flow = flow,
			.seq = (uint32_t)(pkt.imm - (l->tx[flow]->attr.isn + 1)),
			.blocks = wf_tcp_blocks(&pkt),
			.opcode = pkt.opcode,
		};

		e.pkt = pkt;
		note.lost = l->drop_ack != NULL && l->drop_ack(l, ++l->n_acks);
		line_note(l, &note);
		if (!note.lost)
			line_push(l, &e);
	}
}

static inline void line_flow(struct line *l, unsigned flow)
{
	uint64_t may = wf_tcp_conn_readable(l->rx[flow]);
	struct wf_packet pkt;

	line_acks(l, flow);
	if (l->reads && may > 0)
		wf_tcp_conn_read(l->rx[flow], may);
	line_acks(l, flow);
	line_tx(l, flow);
	/* A probe of the window. */
	while (wf_tcp_conn_ack(l->tx[flow], l->now, &pkt)) {
		struct line_event e = {
			.kind = LINE_DATA, .flow = flow, .at = l->now + l->delay, .pkt = pkt
		};

		line_push(l, &e);
	}
}

static inline void line_send_at(struct line *l, unsigned flow, uint64_t bytes, wf_time at)
{
	struct line_event e = { .kind = LINE_WRITE, .flow = flow, .at = at, .bytes = bytes };

	line_push(l, &e);
}

static inline void line_send(struct line *l, unsigned flow, uint64_t bytes)
{
	line_send_at(l, flow, bytes, l->now);
}

/* The connection whose timer is due first. */
static inline wf_time line_timers(struct line *l, unsigned *flow_p)
{
	wf_time first = WF_TIME_NEVER;

	for (unsigned i = 0; i < l->flows; i++) {
		wf_time at =
			wf_min_time(wf_tcp_conn_deadline(l->tx[i]), wf_tcp_conn_deadline(l->rx[i]));

		if (at < first) {
			first = at;
			*flow_p = i;
		}
	}
	return first;
}

static inline void line_event_runs(struct line *l)
{
	struct line_event e = line_pop(l);

	l->now = e.at;
	switch (e.kind) {
	case LINE_DATA:
		wf_tcp_conn_rx(l->rx[e.flow], &e.pkt, e.pkt.length, l->now);
		break;
	case LINE_ACK:
		wf_tcp_conn_rx(l->tx[e.flow], &e.pkt, 0, l->now);
		break;
	case LINE_WRITE:
		wf_tcp_conn_write(l->tx[e.flow], e.bytes, l->now);
		break;
	}
	line_flow(l, e.flow);
}

/* Until nothing more is due, or until. */
static inline void line_run(struct line *l, wf_time until)
{
	for (;;) {
		unsigned flow = 0;
		wf_time timer = line_timers(l, &flow);
		wf_time event = l->n_events > 0 ? l->heap[0].at : WF_TIME_NEVER;

		if (wf_min_time(timer, event) > until || wf_min_time(timer, event) == WF_TIME_NEVER)
			break;
		if (event <= timer) {
			line_event_runs(l);
			continue;
		}
		l->now = timer;
		wf_tcp_conn_tick(l->tx[flow], l->now);
		wf_tcp_conn_tick(l->rx[flow], l->now);
		line_flow(l, flow);
	}
	if (until != WF_TIME_NEVER)
		l->now = until;
}

#endif
