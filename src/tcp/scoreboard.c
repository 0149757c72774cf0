/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scoreboard.c - what was sent and is not acknowledged: which of it has come, is lost, is sent
 * again.
 *
 * Each segment is in one of these states, and the counts of the connection follow from them:
 *
 *	on its way --SACK--> SACKED
 *	on its way --lose--> LOST --resend--> LOST RESENT --lose--> LOST
 *	                                      LOST RESENT --SACK--> SACKED
 *	LOST --SACK--> SACKED
 *	on its way --resend--> RESENT (a probe), from which it is lost or comes as the others
 */
#include "tcp/conn_priv.h"

static void assert_counts(const struct wf_tcp_conn *c)
{
	assert(c->sacked + c->lost <= c->n && c->resent <= c->n);
	assert((c->n == 0) == (c->una == c->nxt));
	assert(c->n == 0 || (seg_at(c, c->head)->seq == c->una &&
	                     seg_end(seg_at(c, c->head + c->n - 1)) == c->nxt));
	(void)c;
}

/* ---- the list by time ---- */

static void list_add(struct wf_tcp_conn *c, uint32_t number)
{
	struct seg *s = seg_at(c, number);

	assert((s->state & SEG_LISTED) == 0);
	s->state |= SEG_LISTED;
	s->prev = c->newest;
	s->next = WF_TCP_NONE;
	if (c->newest != WF_TCP_NONE)
		seg_at(c, c->newest)->next = number;
	else
		c->oldest = number;
	c->newest = number;
}

static void list_take(struct wf_tcp_conn *c, uint32_t number)
{
	struct seg *s = seg_at(c, number);

	if ((s->state & SEG_LISTED) == 0)
		return;
	s->state &= (uint8_t)~SEG_LISTED;
	if (s->prev != WF_TCP_NONE)
		seg_at(c, s->prev)->next = s->next;
	else
		c->oldest = s->next;
	if (s->next != WF_TCP_NONE)
		seg_at(c, s->next)->prev = s->prev;
	else
		c->newest = s->prev;
}

/* ---- sending ---- */

static bool ring_grow(struct wf_tcp_conn *c)
{
	uint32_t size = c->mask + 1;
	struct seg *more = size < WF_TCP_RING_MAX ? wf_tcp_ring_get(c->pool, 2 * size) : NULL;

	if (more == NULL)
		return false;
	for (uint32_t i = c->head; i != c->head + c->n; i++)
		more[i & (2 * size - 1)] = c->ring[i & c->mask];
	wf_tcp_ring_put(c->pool, c->ring, size);
	c->ring = more;
	c->mask = 2 * size - 1;
	return true;
}

bool wf_tcp_seg_add(struct wf_tcp_conn *c, uint16_t len, wf_time now)
{
	uint32_t number = c->head + c->n;

	if (c->n > c->mask && !ring_grow(c))
		return false;
	c->n++;
	*seg_at(c, number) =
		(struct seg){ .seq = c->nxt, .sent = now, .turn = c->turns++, .len = len };
	list_add(c, number);
	c->nxt += len;
	c->last_sent = now;
	assert_counts(c);
	return true;
}

void wf_tcp_seg_resend(struct wf_tcp_conn *c, uint32_t number, wf_time now)
{
	struct seg *s = seg_at(c, number);

	assert((s->state & SEG_SACKED) == 0);
	if ((s->state & SEG_RESENT) == 0)
		c->resent++;
	s->state |= SEG_RESENT | SEG_EVER;
	s->sent = now;
	s->turn = c->turns++;
	list_take(c, number);
	list_add(c, number);
	c->last_sent = now;
	count(c, WF_TCP_CTR_RETRANS_SEGS, 1);
	assert_counts(c);
}

void wf_tcp_seg_lose(struct wf_tcp_conn *c, uint32_t number)
{
	struct seg *s = seg_at(c, number);

	assert((s->state & SEG_SACKED) == 0);
	if ((s->state & SEG_RESENT) != 0)
		c->resent--;
	if ((s->state & SEG_LOST) == 0)
		c->lost++;
	s->state = (uint8_t)((s->state & ~SEG_RESENT) | SEG_LOST);
	list_take(c, number);
	if ((int32_t)(number - c->hint) < 0)
		c->hint = number;
	assert_counts(c);
}

uint32_t wf_tcp_seg_to_resend(struct wf_tcp_conn *c)
{
	if (c->lost == 0)
		return WF_TCP_NONE;
	if ((int32_t)(c->hint - c->head) < 0)
		c->hint = c->head;
	for (; c->hint != c->head + c->n; c->hint++) {
		uint8_t state = seg_at(c, c->hint)->state;

		if ((state & (SEG_LOST | SEG_RESENT)) == SEG_LOST)
			return c->hint;
	}
	return WF_TCP_NONE;
}

/* ---- what has come ---- */

/* RACK: the segment sent last of those that came. */
static void rack_note(struct wf_tcp_conn *c, const struct seg *s, wf_time now)
{
	wf_time rtt = now - s->sent;

	/* What was sent again may have come the first time. */
	if ((s->state & SEG_EVER) != 0 && rtt < c->min_rtt)
		return;
	c->rack.advanced = true;
	c->rack.rtt = rtt;
	if (!c->rack.known || (int32_t)(s->turn - c->rack.turn) > 0) {
		c->rack.known = true;
		c->rack.turn = s->turn;
	}
}

/* A segment that was not known to have come has; it is no longer counted in any state. */
static void came(struct wf_tcp_conn *c, uint32_t number, wf_time now, struct progress *p,
                 wf_time *rtt_p)
{
	struct seg *s = seg_at(c, number);

	assert((s->state & SEG_SACKED) == 0);
	rack_note(c, s, now);
	/* One that was sent once, and came after some that were sent later. */
	if ((s->state & SEG_EVER) == 0 && seg_end(s) < c->high_sacked)
		c->rack.reordered = true;
	if ((s->state & SEG_EVER) == 0 && *rtt_p == 0)
		*rtt_p = wf_max_time(now - s->sent, 1);
	if ((s->state & SEG_RESENT) != 0)
		c->resent--;
	if ((s->state & SEG_LOST) != 0)
		c->lost--;
	s->state &= (uint8_t) ~(SEG_RESENT | SEG_LOST);
	list_take(c, number);
	p->came++;
}

/* The peer has a part of the first segment. */
static void trim(struct seg *s, uint64_t ack, struct progress *p)
{
	uint16_t less = (uint16_t)(ack - s->seq);

	assert(less < s->len);
	s->seq += less;
	s->len = (uint16_t)(s->len - less);
	p->bytes += less;
}

void wf_tcp_seg_ack(struct wf_tcp_conn *c, uint64_t ack, wf_time now, struct progress *p)
{
	assert(ack > c->una && ack <= c->nxt);
	while (c->n > 0) {
		struct seg *s = seg_at(c, c->head);

		if (seg_end(s) > ack) {
			if (s->seq < ack)
				trim(s, ack, p);
			break;
		}
		if ((s->state & SEG_SACKED) != 0)
			c->sacked--;
		else
			came(c, c->head, now, p, &p->rtt);
		p->again |= (s->state & (SEG_SACKED | SEG_EVER)) == SEG_EVER;
		p->bytes += s->len;
		p->segs++;
		c->head++;
		c->n--;
	}
	c->una = ack;
	assert_counts(c);
}

/* The number of the first segment that ends behind seq. */
static uint32_t find(const struct wf_tcp_conn *c, uint64_t seq)
{
	uint32_t low = 0, high = c->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (seg_end(seg_at(c, c->head + mid)) <= seq)
			low = mid + 1;
		else
			high = mid;
	}
	return c->head + low;
}

void wf_tcp_seg_sack(struct wf_tcp_conn *c, uint64_t from, uint64_t to, wf_time now,
                     struct progress *p)
{
	uint64_t high = c->high_sacked;
	uint32_t i = find(c, from);

	for (; i != c->head + c->n && seg_end(seg_at(c, i)) <= to; i++) {
		struct seg *s = seg_at(c, i);

		if (s->seq < from || (s->state & SEG_SACKED) != 0)
			continue;
		came(c, i, now, p, &p->sack_rtt);
		s->state |= SEG_SACKED;
		c->sacked++;
		high = wf_max_u64(high, seg_end(s));
	}
	c->high_sacked = high;
	assert_counts(c);
}
