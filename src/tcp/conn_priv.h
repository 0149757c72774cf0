/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn_priv.h - a connection from the inside.
 *
 * What was sent and is not acknowledged is a ring of segments, in the order of the stream; those of
 * them that may still come are linked in the order in which they were last sent, too, since that is
 * what tells a loss (RACK).
 */
#ifndef WF_TCP_CONN_PRIV_H
#define WF_TCP_CONN_PRIV_H

#include <assert.h>

#include "tcp/conn.h"

#define WF_TCP_NONE UINT32_MAX
#define WF_TCP_RING_MIN 16
#define WF_TCP_RING_MAX 32768
#define WF_TCP_RING_SIZES 12 /* 16 ... 32768 */
#define WF_TCP_DUPTHRESH 3
#define WF_TCP_QUICK 16
#define WF_TCP_TICKS (2 * WF_MS) /* the least time that Linux adds to short timers: two jiffies */
#define WF_TCP_RTO_MAX (120 * WF_S)
#define WF_TCP_DIVISOR 3 /* a burst waits until it is a third of the window */

#define SEG_SACKED 0x01
#define SEG_LOST 0x02
#define SEG_RESENT 0x04 /* and that has neither come nor is lost */
#define SEG_EVER 0x08   /* was sent again at some time */
#define SEG_LISTED 0x10 /* in the list by time */

struct seg {
	uint64_t seq;
	wf_time sent;        /* the last time */
	uint32_t prev, next; /* in the list by time: numbers; WF_TCP_NONE: ends */
	uint32_t turn;       /* of being sent the last time: what has a higher one was sent later */
	uint16_t len;
	uint8_t state;
};

/* Bytes that came before what is in front of them. */
struct range {
	uint64_t from, to;
	struct range *next;
};

enum timer { TIMER_RTO, TIMER_PROBE, TIMER_REORDER, TIMER_DELACK, TIMER_PERSIST, CONN_TIMERS };

struct wf_tcp_conn {
	const struct wf_tcp_conn_cfg *cfg;
	struct wf_tcp_pool *pool;
	uint64_t *counter;
	struct wf_tcp_conn_attr attr;
	struct wf_tcp_cc cc;

	/* sending */
	uint64_t una, nxt, end; /* acknowledged, sent, written before */
	uint64_t edge;          /* the peer takes bytes before this */
	struct seg *ring;
	uint32_t mask;           /* of the ring, whose size is a power of two */
	uint32_t head, n;        /* number of the first segment, and how many there are */
	uint32_t oldest, newest; /* of the list by time */
	uint32_t turns;          /* segments sent so far, each as often as it was */
	uint32_t sacked, lost, resent;
	uint32_t hint;        /* no lost segment before this number waits to be sent again */
	uint64_t high_sacked; /* the end of the highest segment that was SACKed */
	uint64_t high_seq;    /* recovery ends when this is acknowledged */
	enum wf_tcp_state state;
	bool limited;     /* the window, not the program, decided what was sent last */
	bool blocked;     /* a burst waits for an acknowledgement */
	bool cwr;         /* the next new data says that the window is smaller */
	uint32_t max_out; /* most segments out in the window that ends at usage_seq */
	uint64_t usage_seq;
	wf_time last_sent;
	struct {
		uint32_t prior, delivered, out; /* PRR, segments */
	} prr;
	struct {
		wf_time rtt; /* of the segment sent last of those that came */
		uint32_t turn;
		bool known, advanced, reordered;
	} rack;
	uint64_t probe_seq; /* a tail loss probe was sent, nxt was this; 0: none */
	bool probe_resent;  /* and it was a segment that had been sent before */

	/* round trip times; 0: not known */
	wf_time srtt, rttvar, min_rtt, rto;
	unsigned backoff;

	/* receiving */
	uint64_t read, rcv_nxt, acked; /* the program has, has come, was acknowledged before */
	uint64_t offered;              /* the peer may send bytes before this */
	struct range *early;           /* in order */
	struct range last[WF_TCP_BLOCKS_MAX]; /* the ranges that changed last; empty: none */
	struct range dsack;                   /* came again; empty: none */
	uint32_t ts_recent;
	uint32_t quick;
	wf_time last_came;
	bool ack_now;
	bool ask;        /* a probe of the window is due */
	bool probing;    /* a tail loss probe is due */
	bool ack_before; /* DCTCP: and one before, up to ack_before_seq, with the other ECE */
	bool ece;        /* what acknowledgements say */
	bool pushed;     /* a program's write ended in what came */
	uint64_t ack_before_seq;

	wf_time timer[CONN_TIMERS];
};

struct wf_tcp_pool {
	struct wf_mem *mem;
	void *blocks;                   /* all that was taken, a list */
	void *rings[WF_TCP_RING_SIZES]; /* free ones, by size */
	struct range *ranges;           /* free ones */
	bool failed;
};

/* Memory that is given back with the pool; NULL, and the pool has failed, when there is none. */
void *wf_tcp_pool_take(struct wf_tcp_pool *pool, size_t size);

/* A ring of n segments, a power of two in WF_TCP_RING_MIN to WF_TCP_RING_MAX; NULL as above. */
struct seg *wf_tcp_ring_get(struct wf_tcp_pool *pool, uint32_t n);
void wf_tcp_ring_put(struct wf_tcp_pool *pool, struct seg *ring, uint32_t n);

struct range *wf_tcp_range_get(struct wf_tcp_pool *pool);
void wf_tcp_range_put(struct wf_tcp_pool *pool, struct range *r);

static inline void count(struct wf_tcp_conn *c, enum wf_tcp_counter id, uint64_t n)
{
	c->counter[id] += n;
}

static inline struct seg *seg_at(const struct wf_tcp_conn *c, uint32_t number)
{
	assert(number - c->head < c->n);
	return &c->ring[number & c->mask];
}

static inline uint64_t seg_end(const struct seg *s)
{
	return s->seq + s->len;
}

/* Segments that are taken to be on their way. */
static inline uint32_t in_flight(const struct wf_tcp_conn *c)
{
	return c->n - c->sacked - c->lost + c->resent;
}

static inline bool in_reduction(const struct wf_tcp_conn *c)
{
	return c->state == WF_TCP_CWR || c->state == WF_TCP_RECOVERY;
}

/* ---- scoreboard.c ---- */

/* Appends a segment that is sent now. Returns false when there is no memory, or no room. */
bool wf_tcp_seg_add(struct wf_tcp_conn *c, uint16_t len, wf_time now);

/* Sends a segment again now. */
void wf_tcp_seg_resend(struct wf_tcp_conn *c, uint32_t number, wf_time now);

void wf_tcp_seg_lose(struct wf_tcp_conn *c, uint32_t number);

/* The next lost segment to send again; WF_TCP_NONE: there is none. */
uint32_t wf_tcp_seg_to_resend(struct wf_tcp_conn *c);

/* What an acknowledgement brought. */
struct progress {
	uint64_t bytes; /* acknowledged for the first time, in order */
	uint32_t segs;  /* the same */
	uint32_t came;  /* segments of which it is new that they came, SACKed ones too */
	/* Of the oldest that was sent once, acknowledged in order and by SACK; 0: none was. */
	wf_time rtt, sack_rtt;
	bool again; /* what was acknowledged in order had been sent again: rtt tells nothing */
};

/* Everything before ack has come; what a block of a SACK says has come. */
void wf_tcp_seg_ack(struct wf_tcp_conn *c, uint64_t ack, wf_time now, struct progress *p);
void wf_tcp_seg_sack(struct wf_tcp_conn *c, uint64_t from, uint64_t to, wf_time now,
                     struct progress *p);

/* ---- ack.c ---- */

/* RACK: what was sent well before something that came is lost; arms the timer for the rest. */
void wf_tcp_find_losses(struct wf_tcp_conn *c, wf_time now);

/* Enters a state in which the window comes down; loss: RECOVERY, else CWR. */
void wf_tcp_reduce(struct wf_tcp_conn *c, bool loss);

void wf_tcp_take_ack(struct wf_tcp_conn *c, const struct wf_packet *pkt, wf_time now);

/* ---- recv.c ---- */

void wf_tcp_take_data(struct wf_tcp_conn *c, const struct wf_packet *pkt, uint64_t seq,
                      uint32_t len, wf_time now);

/* Bytes that the peer may send now. */
uint64_t wf_tcp_window(const struct wf_tcp_conn *c);

/* ---- timer.c ---- */

/* The timeout, or a probe before it, begins anew: something has come. */
void wf_tcp_arm(struct wf_tcp_conn *c, wf_time now);

/* The same of a probe, since more was sent; the timeout stays where it is. */
void wf_tcp_arm_sent(struct wf_tcp_conn *c, wf_time now);

#endif
