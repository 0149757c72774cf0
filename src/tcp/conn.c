/* SPDX-License-Identifier: Apache-2.0 */
/* conn.c - a connection's beginning, what it sends, and what it says of itself. */
#include "tcp/conn.h"

#include <errno.h>

#include "tcp/conn_priv.h"

int wf_tcp_conn_create(struct wf_tcp_pool *pool, const struct wf_tcp_conn_cfg *cfg,
                       const struct wf_tcp_conn_attr *attr, uint64_t *counters,
                       struct wf_tcp_conn **conn_p)
{
	struct wf_tcp_conn *c = wf_tcp_pool_take(pool, sizeof(*c));
	struct seg *ring = wf_tcp_ring_get(pool, WF_TCP_RING_MIN);

	if (c == NULL || ring == NULL)
		return -ENOMEM;
	assert(cfg->mss > 0 && cfg->init_window > 0 && cfg->rmem >= cfg->mss);
	c->cfg = cfg;
	c->pool = pool;
	c->counter = counters;
	c->attr = *attr;
	c->ring = ring;
	c->mask = WF_TCP_RING_MIN - 1;
	c->oldest = c->newest = WF_TCP_NONE;
	c->cc.ops = cfg->cc;
	c->cc.cwnd = (uint64_t)cfg->init_window * WF_TCP_CC_ONE;
	c->cc.ssthresh = WF_TCP_SSTHRESH_MAX;
	c->cc.ops->init(&c->cc);
	c->rto = wf_max_time(cfg->rto_min, WF_S / 1000);
	/* The SYNs have said how much may come. */
	c->offered = cfg->rmem >> WF_TCP_SCALE << WF_TCP_SCALE;
	c->edge = attr->peer_window >> WF_TCP_SCALE << WF_TCP_SCALE;
	c->quick = WF_TCP_QUICK;
	for (int i = 0; i < CONN_TIMERS; i++)
		c->timer[i] = WF_TIME_NEVER;
	*conn_p = c;
	return 0;
}

const struct wf_tcp_conn_attr *wf_tcp_conn_attr(const struct wf_tcp_conn *c)
{
	return &c->attr;
}

uint16_t wf_tcp_conn_mss(const struct wf_tcp_conn *c)
{
	return c->cfg->mss;
}

uint64_t wf_tcp_conn_written(const struct wf_tcp_conn *c)
{
	return c->end;
}

uint64_t wf_tcp_conn_acked(const struct wf_tcp_conn *c)
{
	return c->una;
}

/* A window that was not used for as long as a timeout says nothing of the path (RFC 2861). */
static void restart_idle(struct wf_tcp_conn *c, wf_time now)
{
	wf_time idle = now - c->last_sent;
	uint32_t cwnd = wf_tcp_cc_cwnd(&c->cc), least = c->cfg->init_window;

	if (!c->cfg->idle_restart || c->n > 0 || c->nxt == 0 || idle <= c->rto || cwnd <= least)
		return;
	if (c->cc.ssthresh < cwnd / 4 * 3)
		c->cc.ssthresh = cwnd / 4 * 3;
	for (; idle > c->rto && cwnd > least; idle -= c->rto)
		cwnd /= 2;
	c->cc.cwnd = (uint64_t)(cwnd > least ? cwnd : least) * WF_TCP_CC_ONE;
	c->cc.ops->restart(&c->cc);
	c->max_out = 0;
	count(c, WF_TCP_CTR_IDLE_RESTARTS, 1);
}

void wf_tcp_conn_write(struct wf_tcp_conn *c, uint64_t bytes, wf_time now)
{
	restart_idle(c, now);
	c->end += bytes;
	c->blocked = false;
}

/* ---- headers ---- */

static void put_head(const struct wf_tcp_conn *c, uint64_t seq, wf_time now, struct wf_packet *pkt)
{
	const struct wf_tcp_conn_attr *a = &c->attr;

	*pkt = (struct wf_packet){
		.src = a->host,
		.dst = a->peer,
		.type = WF_PACKET_TCP,
		.cls = a->cls & WF_PACKET_CLASS,
		.opcode =
			(uint8_t)((a->back ? WF_SEG_BACK : 0) |
		                  (c->cfg->timestamps ? WF_SEG_TS : 0) | (c->ece ? WF_SEG_ECE : 0)),
		.entropy = a->client_port,
		.pkey = a->server_port,
		.qpn = a->peer_number,
		.psn = a->isn + 1 + (uint32_t)seq,
		.imm = a->peer_isn + 1 + (uint32_t)c->rcv_nxt,
	};
	pkt->srqn = (uint16_t)wf_min_u64(wf_tcp_window(c) >> WF_TCP_SCALE, UINT16_MAX);
	if (c->cfg->timestamps) {
		pkt->payload = (uint32_t)(now / WF_MS);
		pkt->u.tcp.ts_echo = c->ts_recent;
	}
}

/* Whatever leaves says what has come: no acknowledgement is owed any more. */
static void note_acked(struct wf_tcp_conn *c)
{
	c->acked = c->rcv_nxt;
	c->offered = wf_max_u64(c->offered, c->rcv_nxt + (wf_tcp_window(c)));
	c->ack_now = false;
	c->pushed = false;
	c->timer[TIMER_DELACK] = WF_TIME_NEVER;
	if (c->quick > 0)
		c->quick--;
}

/* ---- acknowledgements ---- */

/* What came again, and what came early. */
static void put_sack(struct wf_tcp_conn *c, struct wf_packet *pkt)
{
	uint32_t base = c->attr.peer_isn + 1;
	struct wf_tcp_block b;

	if (c->dsack.to > c->dsack.from) {
		b = (struct wf_tcp_block){ base + (uint32_t)c->dsack.from,
			                   base + (uint32_t)c->dsack.to };
		pkt->flags |= WF_PACKET_DSACK;
		if (!wf_tcp_add_sack(pkt, &b))
			pkt->flags &= (uint8_t)~WF_PACKET_DSACK;
		c->dsack = (struct range){ 0 };
	}
	for (int i = 0; i < WF_TCP_BLOCKS_MAX; i++) {
		const struct range *r = &c->last[i];

		b = (struct wf_tcp_block){ base + (uint32_t)r->from, base + (uint32_t)r->to };
		if (r->to > r->from && r->from > c->rcv_nxt && !wf_tcp_add_sack(pkt, &b))
			return;
	}
}

bool wf_tcp_conn_ack(struct wf_tcp_conn *c, wf_time now, struct wf_packet *pkt)
{
	bool before = c->ack_before;

	if (!before && !c->ack_now && !c->ask)
		return false;
	/* A probe of the window is a byte that was acknowledged, without the byte. */
	put_head(c, c->ask && !before && !c->ack_now ? c->nxt - 1 : c->nxt, now, pkt);
	if (before) {
		pkt->imm = c->attr.peer_isn + 1 + (uint32_t)c->ack_before_seq;
		pkt->opcode ^= WF_SEG_ECE;
		c->ack_before = false;
	} else {
		if (!c->ack_now)
			c->timer[TIMER_PERSIST] =
				now + wf_min_time(c->rto << c->backoff, WF_TCP_RTO_MAX);
		c->ask = false;
		put_sack(c, pkt);
		note_acked(c);
	}
	pkt->size = wf_tcp_size(pkt, c->cfg->encap);
	count(c, WF_TCP_CTR_OUT_SEGS, 1);
	count(c, WF_TCP_CTR_ACKS, 1);
	return true;
}

/* ---- data ---- */

/* Bytes of new data that windows allow; *cwnd_p: it is the own window that allows no more. */
static uint64_t allowed(const struct wf_tcp_conn *c, bool *cwnd_p)
{
	uint32_t cwnd = wf_tcp_cc_cwnd(&c->cc), out = in_flight(c);
	uint64_t own = cwnd > out ? (uint64_t)(cwnd - out) * c->cfg->mss : 0;
	uint64_t peer = c->edge > c->nxt ? c->edge - c->nxt : 0;

	*cwnd_p = own <= peer;
	return wf_min_u64(own, peer);
}

/*
 * Whether to wait for more acknowledgements, so that a burst is worth it: for a third of the
 * window, as Linux, and while it is at work and the next one is near.
 */
static bool waits(const struct wf_tcp_conn *c, uint64_t may, uint64_t left, wf_time now)
{
	uint64_t third = (uint64_t)wf_tcp_cc_cwnd(&c->cc) * c->cfg->mss / WF_TCP_DIVISOR;

	return in_flight(c) > 0 && c->state == WF_TCP_OPEN && may < left && may < third &&
	       may < c->cfg->burst / c->cfg->mss * c->cfg->mss && now - c->last_sent <= WF_MS &&
	       now - seg_at(c, c->head)->sent >= c->srtt / 2;
}

/* How full the window was, as Linux notes it; full: no more may go. */
static void note_use(struct wf_tcp_conn *c, bool full)
{
	full |= in_flight(c) >= wf_tcp_cc_cwnd(&c->cc);
	if (c->una >= c->usage_seq || full || (!c->limited && c->n > c->max_out)) {
		c->limited = full;
		c->max_out = c->n;
		c->usage_seq = c->nxt;
	}
}

/* Bytes of the next burst of new data; 0: none may go. */
static uint64_t new_bytes(struct wf_tcp_conn *c, wf_time now)
{
	uint64_t left = c->end - c->nxt, may, mss = c->cfg->mss;
	bool own;

	assert(mss > 0);
	if (left == 0)
		return 0;
	may = allowed(c, &own);
	if (waits(c, may, left, now)) {
		c->blocked = true;
		if (own)
			note_use(c, true);
		return 0;
	}
	if (may >= left && left <= c->cfg->burst)
		return left;
	may = wf_min_u64(wf_min_u64(may, left), c->cfg->burst);
	if (may >= mss)
		return may / mss * mss;
	if (own || c->n > 0)
		return 0;
	/* The peer's window is nearly closed: what fits, or word of it after a while. */
	if (may == 0 && !c->ask && c->timer[TIMER_PERSIST] == WF_TIME_NEVER)
		c->timer[TIMER_PERSIST] = now + c->rto;
	return may;
}

static bool send_new(struct wf_tcp_conn *c, uint64_t bytes, wf_time now, struct wf_tcp_burst *burst)
{
	uint64_t seq = c->nxt, end = seq + bytes;

	while (c->nxt < end) {
		if (!wf_tcp_seg_add(c, (uint16_t)wf_min_u64(end - c->nxt, c->cfg->mss), now))
			break;
		c->prr.out++;
	}
	if (c->nxt == seq)
		return false;
	put_head(c, seq, now, &burst->pkt);
	burst->bytes = (uint32_t)(c->nxt - seq);
	burst->again = 0;
	if (c->nxt == c->end)
		burst->pkt.opcode |= WF_SEG_PSH;
	if (c->cwr && !c->cfg->cc->ecn && c->cfg->ecn)
		burst->pkt.opcode |= WF_SEG_CWR;
	c->cwr = false;
	return true;
}

/* Lost segments that lie in a row are sent again together. */
static void send_again(struct wf_tcp_conn *c, uint32_t first, uint32_t segs, wf_time now,
                       struct wf_tcp_burst *burst)
{
	uint64_t seq = seg_at(c, first)->seq, end;
	uint32_t i = first;

	do {
		wf_tcp_seg_resend(c, i, now);
		end = seg_end(seg_at(c, i));
		c->prr.out++;
		i++;
	} while (--segs > 0 && wf_tcp_seg_to_resend(c) == i &&
	         seg_end(seg_at(c, i)) - seq <= c->cfg->burst &&
	         seg_at(c, i - 1)->len == c->cfg->mss);
	put_head(c, seq, now, &burst->pkt);
	burst->bytes = (uint32_t)(end - seq);
	burst->again = i - first;
}

/* A tail loss probe: new data where there is some, else the last segment. */
static bool send_probe(struct wf_tcp_conn *c, wf_time now, struct wf_tcp_burst *burst)
{
	uint64_t new = wf_min_u64(c->end - c->nxt, c->cfg->mss);

	c->probe_resent = new == 0 || c->nxt + new > c->edge;
	if (c->probe_resent)
		send_again(c, c->head + c->n - 1, 1, now, burst);
	else if (!send_new(c, new, now, burst))
		return false;
	c->probe_seq = c->nxt;
	return true;
}

static bool next_burst(struct wf_tcp_conn *c, wf_time now, struct wf_tcp_burst *burst)
{
	uint32_t cwnd = wf_tcp_cc_cwnd(&c->cc), out = in_flight(c), i;
	uint64_t bytes;

	if (c->probing) {
		c->probing = false;
		if (c->n > 0 && c->lost + c->sacked == 0)
			return send_probe(c, now, burst);
	}
	i = wf_tcp_seg_to_resend(c);
	if (i != WF_TCP_NONE) {
		if (out >= cwnd)
			return false;
		send_again(c, i, cwnd - out, now, burst);
		if (i == c->head)
			wf_tcp_arm(c, now);
		return true;
	}
	bytes = new_bytes(c, now);
	if (bytes == 0)
		return false;
	return send_new(c, bytes, now, burst);
}

bool wf_tcp_conn_wants_tx(const struct wf_tcp_conn *c)
{
	uint32_t cwnd = wf_tcp_cc_cwnd(&c->cc);

	if (c->probing)
		return true;
	if (in_flight(c) >= cwnd)
		return false;
	return c->lost > c->resent || (c->end > c->nxt && !c->blocked && c->edge > c->nxt) ||
	       (c->end > c->nxt && c->n == 0 && c->timer[TIMER_PERSIST] == WF_TIME_NEVER &&
	        !c->ask);
}

bool wf_tcp_conn_tx(struct wf_tcp_conn *c, wf_time now, struct wf_tcp_burst *burst)
{
	uint32_t were = c->n;
	unsigned segs;

	if (!next_burst(c, now, burst))
		return false;
	if (c->cfg->ecn)
		burst->pkt.flags |= WF_PACKET_ECT;
	/* What came early, or again, is told by an acknowledgement that has room for it. */
	if (c->early == NULL && c->dsack.to == c->dsack.from && !c->ack_before)
		note_acked(c);
	note_use(c, false);
	segs = (burst->bytes + c->cfg->mss - 1) / c->cfg->mss;
	count(c, WF_TCP_CTR_OUT_SEGS, segs);
	if (were == 0)
		wf_tcp_arm(c, now);
	else
		wf_tcp_arm_sent(c, now);
	return true;
}

void wf_tcp_conn_rx(struct wf_tcp_conn *c, const struct wf_packet *pkt, uint32_t len, wf_time now)
{
	uint64_t seq = c->rcv_nxt +
	               (uint64_t)(int64_t)(int32_t)(pkt->psn -
	                                            (uint32_t)(c->attr.peer_isn + 1 + c->rcv_nxt));

	wf_tcp_take_ack(c, pkt, now);
	if (len > 0)
		wf_tcp_take_data(c, pkt, seq, len, now);
	else if (seq + 1 == c->rcv_nxt)
		c->ack_now = true; /* a probe: what has come, and how much may? */
}

void wf_tcp_conn_state(const struct wf_tcp_conn *c, struct wf_tcp_conn_state *s)
{
	*s = (struct wf_tcp_conn_state){
		.state = c->state,
		.cwnd = wf_tcp_cc_cwnd(&c->cc),
		.ssthresh = c->cc.ssthresh,
		.out = c->n,
		.sacked = c->sacked,
		.lost = c->lost,
		.resent = c->resent,
		.una = c->una,
		.nxt = c->nxt,
		.rcv_nxt = c->rcv_nxt,
		.window = c->edge > c->una ? c->edge - c->una : 0,
		.srtt = c->srtt,
		.rttvar = c->rttvar,
		.min_rtt = c->min_rtt,
		.rto = c->rto,
		.alpha = c->cfg->cc == &wf_tcp_dctcp ? c->cc.dctcp.alpha : 0,
		.quick = c->quick,
	};
	for (const struct range *r = c->early; r != NULL; r = r->next)
		s->early++;
}
