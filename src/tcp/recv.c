/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recv.c - what comes: in order, early, again; and when it is acknowledged.
 *
 * An acknowledgement goes at once for the second segment, for whatever is not in its order, for
 * the first segments of a connection, and when ECN's echo changes (RFC 8257, 3.2); else it waits
 * for more, for the program to read, or for its timer.
 */
#include "tcp/conn_priv.h"

/* ---- what came early ---- */

/* Puts a range first in what SACKs tell: RFC 2018, the one that changed last. */
static void note_changed(struct wf_tcp_conn *c, const struct range *r)
{
	struct range was = c->last[0];

	/* It has swallowed the first, or the first stays as the second. */
	if (was.to > was.from && (was.to < r->from || was.from > r->to))
		c->last[1] = was;
	if (c->last[1].to >= r->from && c->last[1].from <= r->to)
		c->last[1] = (struct range){ 0 };
	c->last[0] = *r;
}

/* Adds bytes to what came early, and joins what meets. */
static void keep_early(struct wf_tcp_conn *c, uint64_t from, uint64_t to)
{
	struct range **at = &c->early, *r, *next;

	while (*at != NULL && (*at)->to < from)
		at = &(*at)->next;
	r = *at;
	if (r == NULL || r->from > to) {
		r = wf_tcp_range_get(c->pool);
		if (r == NULL)
			return;
		*r = (struct range){ from, to, *at };
		*at = r;
	} else {
		r->from = wf_min_u64(r->from, from);
		r->to = wf_max_u64(r->to, to);
	}
	while ((next = r->next) != NULL && next->from <= r->to) {
		r->to = wf_max_u64(r->to, next->to);
		r->next = next->next;
		wf_tcp_range_put(c->pool, next);
	}
	note_changed(c, r);
}

/* What came early is in order now. */
static void take_early(struct wf_tcp_conn *c)
{
	struct range *r;

	while ((r = c->early) != NULL && r->from <= c->rcv_nxt) {
		c->rcv_nxt = wf_max_u64(c->rcv_nxt, r->to);
		c->early = r->next;
		wf_tcp_range_put(c->pool, r);
	}
	for (int i = 0; i < WF_TCP_BLOCKS_MAX; i++) {
		if (c->last[i].from <= c->rcv_nxt)
			c->last[i] = (struct range){ 0 };
	}
}

/* ---- the window ---- */

/* Bytes that may come besides those that wait for the program. */
static uint64_t room(const struct wf_tcp_conn *c)
{
	uint64_t unread = c->rcv_nxt - c->read;

	return unread < c->cfg->rmem ? c->cfg->rmem - unread : 0;
}

uint64_t wf_tcp_window(const struct wf_tcp_conn *c)
{
	uint64_t left = c->offered > c->rcv_nxt ? c->offered - c->rcv_nxt : 0;

	/* What was offered stays so. */
	return wf_max_u64(left, room(c) >> WF_TCP_SCALE << WF_TCP_SCALE);
}

uint64_t wf_tcp_conn_readable(const struct wf_tcp_conn *c)
{
	return c->rcv_nxt - c->read;
}

void wf_tcp_conn_read(struct wf_tcp_conn *c, uint64_t bytes)
{
	uint64_t left = c->offered > c->rcv_nxt ? c->offered - c->rcv_nxt : 0;
	bool owed = c->rcv_nxt > c->acked;

	assert(bytes <= wf_tcp_conn_readable(c));
	c->read += bytes;
	if (owed && (c->rcv_nxt - c->acked > c->cfg->mss || (c->pushed && c->read == c->rcv_nxt)))
		c->ack_now = true;
	/* Word of a window that is twice as large as the peer knows it. */
	if (2 * left <= c->cfg->rmem && room(c) >= 2 * left && room(c) >= c->cfg->mss)
		c->ack_now = true;
}

/* ---- ECN ---- */

static void take_ecn(struct wf_tcp_conn *c, const struct wf_packet *pkt)
{
	bool ce = (pkt->flags & WF_PACKET_CE) != 0;

	if (!c->cfg->ecn)
		return;
	count(c, WF_TCP_CTR_CE, ce);
	if (!c->cfg->cc->ecn) {
		/* RFC 3168: until the sender says that it has heard. */
		if ((pkt->opcode & WF_SEG_CWR) != 0)
			c->ece = false;
		c->ece |= ce;
		return;
	}
	if (ce == c->ece)
		return;
	/* What was not acknowledged yet has the mark that there was before. */
	if (c->rcv_nxt > c->acked) {
		c->ack_before = true;
		c->ack_before_seq = c->rcv_nxt;
	}
	c->ece = ce;
	c->ack_now = true;
}

/* ---- data ---- */

/* A segment, or several, came in order: whether that is said at once. */
static void owe_ack(struct wf_tcp_conn *c, const struct wf_packet *pkt, uint32_t len, wf_time now)
{
	c->pushed |= len % c->cfg->mss != 0 || (pkt->opcode & WF_SEG_PSH) != 0;
	if (now - c->last_came > c->rto)
		c->quick = WF_TCP_QUICK;
	if (c->quick > 0 || c->rcv_nxt - c->acked > c->cfg->mss || c->early != NULL)
		c->ack_now = true;
	else if (!c->ack_now && c->timer[TIMER_DELACK] == WF_TIME_NEVER)
		c->timer[TIMER_DELACK] = now + c->cfg->delack;
}

void wf_tcp_take_data(struct wf_tcp_conn *c, const struct wf_packet *pkt, uint64_t seq,
                      uint32_t len, wf_time now)
{
	uint64_t end = seq + len, before = c->rcv_nxt;

	take_ecn(c, pkt);
	if ((int64_t)(end - c->rcv_nxt) <= 0) {
		/* All of it has come before. */
		c->dsack = (struct range){ seq, end, NULL };
		c->ack_now = true;
		c->quick = WF_TCP_QUICK;
		count(c, WF_TCP_CTR_DSACKS, 1);
	} else if (end > c->offered) {
		c->ack_now = true; /* there is no room for it */
	} else if (seq > c->rcv_nxt) {
		keep_early(c, seq, end);
		c->ack_now = true;
		c->quick = WF_TCP_QUICK;
		count(c, WF_TCP_CTR_OFO_QUEUE, 1);
	} else {
		if (c->early != NULL)
			c->ack_now = true;
		c->rcv_nxt = end;
		take_early(c);
		owe_ack(c, pkt, len, now);
	}
	if (seq <= before)
		c->ts_recent = pkt->payload;
	c->last_came = now;
}
