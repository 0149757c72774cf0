/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc.h - TCP's congestion control: a window of segments, and what makes it larger and smaller.
 *
 * An algorithm is one const struct wf_tcp_cc_ops in its own file, listed in cc.c. The connection
 * (conn.h) does what all have in common: slow start, and bringing the window down to ssthresh
 * while it recovers. An algorithm says how the window grows above ssthresh, and what ssthresh
 * becomes.
 *
 * A window is kept in 65536ths of a segment, so that no growth is lost to rounding.
 */
#ifndef WF_TCP_CC_H
#define WF_TCP_CC_H

#include <stdbool.h>

#include "base/base.h"

#define WF_TCP_CC_ONE 65536 /* a segment */
#define WF_TCP_SSTHRESH_MAX 0x7fffffff

struct wf_tcp_cc {
	const struct wf_tcp_cc_ops *ops;
	uint64_t cwnd;     /* 65536ths of a segment; at least one segment */
	uint32_t ssthresh; /* segments */
	union {
		struct {
			wf_time epoch;   /* congestion avoidance began; WF_TIME_NEVER: not */
			uint64_t origin; /* the window at which the cubic is flat */
			uint64_t k;      /* us from epoch to there */
			uint64_t w_max;  /* window before the last reduction */
			uint64_t prior;  /* the same, as the growth of w_est knows it */
			uint64_t w_est;  /* what Reno would have */
		} cubic;
		struct {
			uint32_t alpha; /* of 2^10: how much of what came was marked */
			uint64_t until; /* the window that is being watched ends at this offset */
			uint64_t came, marked; /* in it: bytes acknowledged, and of them with ECE */
		} dctcp;
	};
};

/* What an acknowledgement tells. */
struct wf_tcp_cc_ack {
	wf_time now;
	wf_time srtt;   /* 0: not known yet */
	uint32_t segs;  /* newly acknowledged */
	uint64_t bytes; /* the same */
	uint64_t una;   /* everything before this has come */
	uint64_t nxt;   /* the next byte to send */
	bool ece;
};

struct wf_tcp_cc_ops {
	const char *name;
	bool ecn; /* has all packets ECN-capable, and each mark echoed (RFC 8257) */
	/* A connection begins, with cwnd and ssthresh set. */
	void (*init)(struct wf_tcp_cc *cc);
	/* Any acknowledgement of something new, before all else. */
	void (*came)(struct wf_tcp_cc *cc, const struct wf_tcp_cc_ack *ack);
	/* May grow cwnd: above ssthresh, nothing was lost, and the window was used. */
	void (*avoid)(struct wf_tcp_cc *cc, const struct wf_tcp_cc_ack *ack, uint32_t segs);
	/*
	 * Congestion: what ssthresh becomes, in segments. loss: for want of a packet, not for a
	 * mark.
	 */
	uint32_t (*reduce)(struct wf_tcp_cc *cc, bool loss);
	/* What was sent has come to nothing until a timeout, or nothing was sent for as long. */
	void (*restart)(struct wf_tcp_cc *cc);
};

extern const struct wf_tcp_cc_ops wf_tcp_cubic;
extern const struct wf_tcp_cc_ops wf_tcp_dctcp;
extern const struct wf_tcp_cc_ops wf_tcp_reno;

/* The i-th algorithm, or NULL. */
const struct wf_tcp_cc_ops *wf_tcp_cc_at(size_t i);

/* The algorithm called name, or NULL. */
const struct wf_tcp_cc_ops *wf_tcp_cc_find(const char *name);

static inline uint32_t wf_tcp_cc_cwnd(const struct wf_tcp_cc *cc)
{
	return (uint32_t)(cc->cwnd / WF_TCP_CC_ONE);
}

/*
 * One segment more for each window: what Reno does, and what others do where nothing else is
 * said.
 */
static inline void wf_tcp_cc_linear(struct wf_tcp_cc *cc, uint32_t segs)
{
	cc->cwnd += (uint64_t)segs * WF_TCP_CC_ONE * WF_TCP_CC_ONE / cc->cwnd;
}

void wf_tcp_cc_no_init(struct wf_tcp_cc *cc);
void wf_tcp_cc_no_came(struct wf_tcp_cc *cc, const struct wf_tcp_cc_ack *ack);

/*
 * The cubic's parts, for tests: the root, us, of an offset; the offset at a distance from the
 * root.
 */
uint64_t wf_tcp_cubic_k(uint64_t below);
uint64_t wf_tcp_cubic_offset(uint64_t us);

#endif
