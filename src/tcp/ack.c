/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ack.c - what an acknowledgement changes: what is lost, and how large the window is.
 *
 *	        ECE                    something is lost
 *	OPEN --------> CWR      OPEN, CWR ------------> RECOVERY
 *	 ^  <-----------+             ^                     |     timeout
 *	 |  all before high_seq came  +---------------------+  any --------> LOSS
 *	 +---------------------------------------------------------------------+
 */
#include "tcp/conn_priv.h"

/* ---- round trip times ---- */

static void take_rtt(struct wf_tcp_conn *c, wf_time rtt)
{
	wf_time off;

	if (c->min_rtt == 0 || rtt < c->min_rtt)
		c->min_rtt = rtt;
	if (c->srtt == 0) {
		c->srtt = rtt;
		c->rttvar = rtt / 2;
	} else {
		off = rtt > c->srtt ? rtt - c->srtt : c->srtt - rtt;
		c->rttvar += (off - c->rttvar) / 4;
		c->srtt += (rtt - c->srtt) / 8;
	}
}

/* Linux's least timeout is the least of the variance's part: RTO = SRTT + max(4 RTTVAR, least). */
static void set_rto(struct wf_tcp_conn *c)
{
	c->rto = wf_min_time(c->srtt + wf_max_time(4 * c->rttvar, c->cfg->rto_min), WF_TCP_RTO_MAX);
}

/* ---- losses ---- */

/* How much later than others a segment may come without being taken for lost. */
static wf_time patience(const struct wf_tcp_conn *c)
{
	if (!c->rack.reordered && (c->state == WF_TCP_RECOVERY || c->state == WF_TCP_LOSS ||
	                           c->sacked >= WF_TCP_DUPTHRESH))
		return 0;
	return wf_min_time(c->min_rtt / 4, c->srtt);
}

void wf_tcp_find_losses(struct wf_tcp_conn *c, wf_time now)
{
	wf_time wait = patience(c), longest = 0;
	uint32_t i = c->oldest;

	c->rack.advanced = false;
	while (i != WF_TCP_NONE) {
		const struct seg *s = seg_at(c, i);
		uint32_t next = s->next;
		wf_time left = s->sent + c->rack.rtt + wait - now;

		if ((int32_t)(s->turn - c->rack.turn) >= 0)
			break;
		if (left <= 0)
			wf_tcp_seg_lose(c, i);
		else
			longest = wf_max_time(longest, left);
		i = next;
	}
	c->timer[TIMER_REORDER] = longest > 0 ? now + longest + WF_TCP_TICKS : WF_TIME_NEVER;
}

/* ---- the window ---- */

void wf_tcp_reduce(struct wf_tcp_conn *c, bool loss)
{
	/* A loss in a window that is going down already takes it no further. */
	if (!in_reduction(c)) {
		c->prr.prior = wf_tcp_cc_cwnd(&c->cc);
		c->prr.delivered = c->prr.out = 0;
		c->cc.ssthresh = c->cc.ops->reduce(&c->cc, loss);
		c->cwr = true;
	}
	c->state = loss ? WF_TCP_RECOVERY : WF_TCP_CWR;
	c->high_seq = c->nxt;
	c->probe_seq = 0;
}

static void set_cwnd(struct wf_tcp_conn *c, uint32_t segs)
{
	segs = segs < 1 ? 1 : segs > WF_TCP_RING_MAX ? WF_TCP_RING_MAX : segs;
	c->cc.cwnd = (uint64_t)segs * WF_TCP_CC_ONE;
}

/* PRR: what comes decides what may go, so that at the end as much is out as ssthresh says. */
static void reduce_in_proportion(struct wf_tcp_conn *c, const struct progress *p, bool more_lost)
{
	uint32_t out = in_flight(c), thresh = c->cc.ssthresh;
	uint64_t may;

	if (p->came == 0)
		return;
	c->prr.delivered += p->came;
	if (out > thresh) {
		uint64_t share =
			((uint64_t)thresh * c->prr.delivered + c->prr.prior - 1) / c->prr.prior;

		may = share > c->prr.out ? share - c->prr.out : 0;
	} else {
		may = c->prr.delivered > c->prr.out ? c->prr.delivered - c->prr.out : 0;
		may = wf_max_u64(may, p->came) + (p->segs > 0 && !more_lost ? 1 : 0);
		may = wf_min_u64(may, thresh - out);
	}
	if (may == 0 && c->prr.out == 0)
		may = 1; /* the first lost segment goes at once */
	set_cwnd(c, out + (uint32_t)may);
}

/* Whether the window, and not the program, is what bounds it. */
static bool is_limited(const struct wf_tcp_conn *c)
{
	uint32_t cwnd = wf_tcp_cc_cwnd(&c->cc);

	return c->limited || (cwnd < c->cc.ssthresh && cwnd < 2 * c->max_out);
}

static void grow(struct wf_tcp_conn *c, const struct wf_tcp_cc_ack *ack)
{
	uint32_t cwnd = wf_tcp_cc_cwnd(&c->cc), segs = ack->segs, start = 0;

	if (segs == 0 || !is_limited(c) || cwnd >= WF_TCP_RING_MAX)
		return;
	if (cwnd < c->cc.ssthresh) {
		start = segs < c->cc.ssthresh - cwnd ? segs : c->cc.ssthresh - cwnd;
		c->cc.cwnd += (uint64_t)start * WF_TCP_CC_ONE;
	}
	if (segs > start)
		c->cc.ops->avoid(&c->cc, ack, segs - start);
	c->cc.cwnd = wf_min_u64(c->cc.cwnd, (uint64_t)WF_TCP_RING_MAX * WF_TCP_CC_ONE);
}

/* ---- the acknowledgement ---- */

/* What the blocks say has come. */
static void take_sack(struct wf_tcp_conn *c, const struct wf_packet *pkt, uint64_t ack, wf_time now,
                      struct progress *p)
{
	for (unsigned i = 0; pkt->length == 0 && i < wf_tcp_blocks(pkt); i++) {
		struct wf_tcp_block b = wf_tcp_sack(pkt, i);
		uint64_t from = ack + (uint64_t)(int64_t)(int32_t)(b.from - pkt->imm);
		uint64_t to = ack + (uint64_t)(int64_t)(int32_t)(b.to - pkt->imm);

		/* A duplicate's lies before the acknowledgement, and tells of nothing new. */
		if ((i > 0 || (pkt->flags & WF_PACKET_DSACK) == 0) && from >= c->una && to > from &&
		    to <= c->nxt)
			wf_tcp_seg_sack(c, from, to, now, p);
	}
}

/*
 * A tail loss probe repaired a loss that nothing else will tell of: the acknowledgement goes beyond
 * what was out when it was sent, and the probe was no duplicate.
 */
static void take_probe(struct wf_tcp_conn *c, const struct wf_packet *pkt, uint64_t ack)
{
	bool again = (pkt->flags & WF_PACKET_DSACK) != 0 && pkt->length == 0;

	if (c->probe_seq == 0 || ack < c->probe_seq)
		return;
	if (!c->probe_resent || again) {
		c->probe_seq = 0;
	} else if (ack > c->probe_seq) {
		wf_tcp_reduce(c, true);
		set_cwnd(c, c->cc.ssthresh);
		c->state = WF_TCP_OPEN;
	}
}

/* What was to come before the state ends has come. */
static void leave_state(struct wf_tcp_conn *c)
{
	if (c->state == WF_TCP_OPEN || c->una < c->high_seq)
		return;
	if (in_reduction(c))
		set_cwnd(c, c->cc.ssthresh);
	c->state = WF_TCP_OPEN;
}

static void take_window(struct wf_tcp_conn *c, const struct wf_packet *pkt, uint64_t ack)
{
	uint64_t edge = ack + ((uint64_t)pkt->srqn << WF_TCP_SCALE);

	if (edge <= c->edge)
		return;
	c->edge = edge;
	c->blocked = false;
	c->timer[TIMER_PERSIST] = WF_TIME_NEVER;
}

void wf_tcp_take_ack(struct wf_tcp_conn *c, const struct wf_packet *pkt, wf_time now)
{
	uint64_t ack = c->una + (uint64_t)(int64_t)(int32_t)(pkt->imm -
	                                                     (uint32_t)(c->attr.isn + 1 + c->una));
	bool ece = c->cfg->ecn && (pkt->opcode & WF_SEG_ECE) != 0;
	uint32_t lost = c->lost;
	struct progress p = { 0 };
	struct wf_tcp_cc_ack note;

	if ((int64_t)(ack - c->nxt) > 0 || (int64_t)ack < 0)
		return;
	take_window(c, pkt, ack);
	take_sack(c, pkt, ack, now, &p);
	if (ack > c->una)
		wf_tcp_seg_ack(c, ack, now, &p);
	if (p.came == 0 && p.segs == 0 && p.bytes == 0 && !ece && c->probe_seq == 0)
		return;
	if (p.again || p.rtt == 0)
		p.rtt = p.sack_rtt;
	if (p.rtt > 0)
		take_rtt(c, p.rtt);
	if (p.bytes > 0) {
		c->backoff = 0;
		if (c->srtt > 0)
			set_rto(c);
	}
	count(c, WF_TCP_CTR_ECE, ece);
	note = (struct wf_tcp_cc_ack){ .now = now,
		                       .srtt = c->srtt,
		                       .segs = p.segs,
		                       .bytes = p.bytes,
		                       .una = c->una,
		                       .nxt = c->nxt,
		                       .ece = ece };
	if (p.bytes > 0)
		c->cc.ops->came(&c->cc, &note);
	take_probe(c, pkt, ack);
	leave_state(c);
	if (c->rack.advanced)
		wf_tcp_find_losses(c, now);
	if (c->lost > 0 && (c->state == WF_TCP_OPEN || c->state == WF_TCP_CWR)) {
		wf_tcp_reduce(c, true);
		count(c, WF_TCP_CTR_SACK_RECOVERY, 1);
	} else if (ece && c->state == WF_TCP_OPEN && c->n > 0) {
		wf_tcp_reduce(c, false);
	}
	if (in_reduction(c))
		reduce_in_proportion(c, &p, c->lost > lost);
	else
		grow(c, &note);
	if (p.bytes > 0 || p.came > 0) {
		c->blocked = false;
		wf_tcp_arm(c, now);
	}
}
