/* SPDX-License-Identifier: Apache-2.0 */
/* timer.c - a connection's timers: timeouts, tail loss probes, acknowledgements that wait. */
#include "tcp/conn_priv.h"

/* Whether a probe goes before a timeout: RFC 8985, 7.2. */
static bool may_probe(const struct wf_tcp_conn *c)
{
	return c->srtt != 0 && c->sacked + c->lost == 0 && c->probe_seq == 0 &&
	       (c->state == WF_TCP_OPEN || c->state == WF_TCP_CWR);
}

/* Has a probe or, where that is wrong, a timeout at rto; a probe comes no later than that. */
static void arm(struct wf_tcp_conn *c, wf_time now, wf_time rto)
{
	/* A receiver may wait with the acknowledgement of a single segment; and what Linux adds. */
	wf_time more = c->n == 1 ? c->cfg->rto_min : WF_TCP_TICKS;
	bool probes = may_probe(c);

	c->timer[TIMER_PROBE] = probes ? wf_min_time(now + 2 * c->srtt + more, rto) : WF_TIME_NEVER;
	c->timer[TIMER_RTO] = probes ? WF_TIME_NEVER : rto;
}

static wf_time backed_off(const struct wf_tcp_conn *c)
{
	return wf_min_time(c->rto << c->backoff, WF_TCP_RTO_MAX);
}

void wf_tcp_arm(struct wf_tcp_conn *c, wf_time now)
{
	if (c->n > 0)
		arm(c, now, now + backed_off(c));
	else
		c->timer[TIMER_RTO] = c->timer[TIMER_PROBE] = WF_TIME_NEVER;
}

void wf_tcp_arm_sent(struct wf_tcp_conn *c, wf_time now)
{
	if (c->timer[TIMER_RTO] == WF_TIME_NEVER && c->timer[TIMER_PROBE] != WF_TIME_NEVER)
		arm(c, now, wf_max_time(seg_at(c, c->head)->sent + backed_off(c), now));
}

/* Linux marks what was sent so recently that it may still come only when its time is over. */
static void lose_all(struct wf_tcp_conn *c, wf_time now)
{
	for (uint32_t i = c->head; i != c->head + c->n; i++) {
		const struct seg *s = seg_at(c, i);

		if ((s->state & SEG_SACKED) != 0 ||
		    (s->state & (SEG_LOST | SEG_RESENT)) == SEG_LOST)
			continue;
		if (i != c->head && s->sent + c->rack.rtt > now)
			continue;
		wf_tcp_seg_lose(c, i);
	}
}

static void timed_out(struct wf_tcp_conn *c, wf_time now)
{
	if (c->n == 0)
		return;
	count(c, WF_TCP_CTR_TIMEOUTS, 1);
	if (c->state == WF_TCP_OPEN || c->una >= c->high_seq ||
	    (c->state == WF_TCP_LOSS && c->backoff == 0)) {
		c->cc.ssthresh = c->cc.ops->reduce(&c->cc, true);
		c->cwr = true;
	}
	c->cc.ops->restart(&c->cc);
	lose_all(c, now);
	c->cc.cwnd = ((uint64_t)in_flight(c) + 1) * WF_TCP_CC_ONE;
	c->state = WF_TCP_LOSS;
	c->high_seq = c->nxt;
	c->probe_seq = 0;
	c->blocked = false;
	if (c->rto << c->backoff < WF_TCP_RTO_MAX)
		c->backoff++;
	c->timer[TIMER_REORDER] = WF_TIME_NEVER;
	wf_tcp_arm(c, now);
}

/*
 * Nothing has come for long: one segment more, new or the last, to make the peer say what it has.
 */
static void probe(struct wf_tcp_conn *c, wf_time now)
{
	if (c->n == 0)
		return;
	c->probing = true;
	count(c, WF_TCP_CTR_LOSS_PROBES, 1);
	c->timer[TIMER_RTO] = now + backed_off(c);
}

static void find_losses_late(struct wf_tcp_conn *c, wf_time now)
{
	if (c->n == 0)
		return;
	wf_tcp_find_losses(c, now);
	if (c->lost > 0 && (c->state == WF_TCP_OPEN || c->state == WF_TCP_CWR)) {
		wf_tcp_reduce(c, true);
		count(c, WF_TCP_CTR_SACK_RECOVERY, 1);
	}
	/*
	 * Nothing came with which the window could go down in proportion: the first goes all the
	 * same.
	 */
	if (in_reduction(c))
		c->cc.cwnd = ((uint64_t)in_flight(c) + 1) * WF_TCP_CC_ONE;
	wf_tcp_arm(c, now);
}

/* The peer's window is closed, and word that it is open may have been lost. */
static void probe_window(struct wf_tcp_conn *c, wf_time now)
{
	(void)now;
	if (c->n > 0 || c->nxt == c->end || c->nxt < c->edge)
		return;
	count(c, WF_TCP_CTR_WINDOW_PROBES, 1);
	c->ask = true;
	if (c->rto << c->backoff < WF_TCP_RTO_MAX)
		c->backoff++;
}

wf_time wf_tcp_conn_deadline(const struct wf_tcp_conn *c)
{
	wf_time first = WF_TIME_NEVER;

	for (int i = 0; i < CONN_TIMERS; i++)
		first = wf_min_time(first, c->timer[i]);
	return first;
}

void wf_tcp_conn_tick(struct wf_tcp_conn *c, wf_time now)
{
	for (int i = 0; i < CONN_TIMERS; i++) {
		if (c->timer[i] > now)
			continue;
		c->timer[i] = WF_TIME_NEVER;
		switch ((enum timer)i) {
		case TIMER_RTO:
			timed_out(c, now);
			break;
		case TIMER_PROBE:
			probe(c, now);
			break;
		case TIMER_REORDER:
			find_losses_late(c, now);
			break;
		case TIMER_DELACK:
			c->ack_now = true;
			count(c, WF_TCP_CTR_DELAYED_ACKS, 1);
			break;
		case TIMER_PERSIST:
			probe_window(c, now);
			break;
		case CONN_TIMERS:
			break;
		}
	}
}
