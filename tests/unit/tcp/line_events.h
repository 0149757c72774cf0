/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_events.h - what line.h simulates: the line, its events in the order of time, and what was
 * noted of it.
 */
#ifndef WF_TESTS_TCP_LINE_EVENTS_H
#define WF_TESTS_TCP_LINE_EVENTS_H

#include "check.h"

#include "tcp/conn_priv.h"

#define LINE_FLOWS 32
#define LINE_EVENTS 65536
#define LINE_LOG 4096

enum line_kind { LINE_DATA, LINE_ACK, LINE_WRITE };

struct line_event {
	wf_time at;
	uint64_t order;
	enum line_kind kind;
	unsigned flow;
	uint64_t bytes;
	struct wf_packet pkt;
};

/* A segment as the sender sent it, or an acknowledgement as the receiver did. */
struct line_log {
	wf_time at;
	bool ack, lost;
	unsigned flow;
	uint64_t seq; /* of an acknowledgement: what it acknowledges */
	unsigned len, blocks;
	uint8_t opcode;
};

struct line {
	struct wf_tcp_conn_cfg cfg;
	struct wf_tcp_pool *pool;
	uint64_t count[2][WF_TCP_CTRS]; /* of senders, of receivers */
	unsigned flows;
	struct wf_tcp_conn *tx[LINE_FLOWS], *rx[LINE_FLOWS];
	bool reads; /* receivers' programs read at once */
	wf_time now, delay, free_at;
	uint64_t rate;          /* bits/s; 0: no end */
	uint64_t room, marking; /* bytes in the queue; 0: no end, none */
	uint64_t longest, shortest;
	wf_time watch_from; /* longest and shortest are from then on */
	/* Whether data segment n, from 1, is lost. */
	bool (*drop)(struct line *l, uint64_t n);
	bool (*drop_ack)(struct line *l, uint64_t n);
	uint64_t n_data, n_acks, period;
	unsigned late_every; /* so many data segments take late longer; 0: none does */
	wf_time late;
	const unsigned *losses; /* numbers of lost segments, 0 at the end */
	struct line_event *heap;
	unsigned n_events;
	uint64_t order;
	struct line_log *log;
	unsigned n_log;
};

static inline bool line_before(const struct line_event *a, const struct line_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static inline void line_push(struct line *l, const struct line_event *event)
{
	struct line_event e = *event;
	unsigned i = l->n_events++;

	assert_true(l->n_events < LINE_EVENTS);
	e.order = l->order++;
	for (; i > 0 && line_before(&e, &l->heap[(i - 1) / 2]); i = (i - 1) / 2)
		l->heap[i] = l->heap[(i - 1) / 2];
	l->heap[i] = e;
}

static inline struct line_event line_pop(struct line *l)
{
	struct line_event first = l->heap[0], e = l->heap[--l->n_events];
	unsigned i = 0;

	for (;;) {
		unsigned c = 2 * i + 1;

		if (c + 1 < l->n_events && line_before(&l->heap[c + 1], &l->heap[c]))
			c++;
		if (c >= l->n_events || !line_before(&l->heap[c], &e))
			break;
		l->heap[i] = l->heap[c];
		i = c;
	}
	l->heap[i] = e;
	return first;
}

static inline void line_note(struct line *l, const struct line_log *note)
{
	if (l->n_log < LINE_LOG)
		l->log[l->n_log++] = *note;
}

/* Segments (or acknowledgements) that were sent from a time to another. */
static inline unsigned line_sent(const struct line *l, bool acks, wf_time from, wf_time to)
{
	unsigned n = 0;

	for (unsigned i = 0; i < l->n_log; i++)
		n += l->log[i].ack == acks && l->log[i].at >= from && l->log[i].at < to;
	return n;
}

static inline bool line_drop_listed(struct line *l, uint64_t n)
{
	for (const unsigned *p = l->losses; *p != 0; p++) {
		if (*p == n)
			return true;
	}
	return false;
}

static inline bool line_drop_periodic(struct line *l, uint64_t n)
{
	return n % l->period == 0;
}

#endif
