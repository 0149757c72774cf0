/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc.h - congestion control, as the requester of a queue pair sees it.
 *
 * An algorithm is one const struct wf_cc_ops in its own file, listed in cc.c. It owns the bytes
 * behind struct wf_cc and nothing else: it sets a rate, a window or both, and cannot reach the
 * queue pair. It learns of the network through what is passed to its functions. Every function is
 * there; one that has nothing to do is a wf_cc_no_*() function, so callers never test for NULL.
 *
 * Timers are lazy: an algorithm writes into cc->timer when it wants on_timer() next, and the
 * requester calls it before the next packet of the queue pair, acknowledgement or notification at
 * or after that time, with the time that it is then. What nobody waits for is computed when
 * somebody looks, so an idle queue pair costs nothing.
 */
#ifndef WF_CC_CC_H
#define WF_CC_CC_H

#include <stdbool.h>

#include "base/base.h"

struct wf_param;

#define WF_CC_HOPS 8
#define WF_CC_PARAM_MAX 256 /* bytes; no algorithm's parameters take more */
#define WF_CC_NO_WINDOW UINT64_MAX
#define WF_CC_GAP_SHIFT 20
#define WF_CC_RATE_MIN 10000 /* bits/s; the slowest pace: the gap of 16 KB still fits 64 bits */

/* What one switch said of the port a packet left by (in-band telemetry). */
struct wf_cc_hop {
	wf_time at;        /* when the packet left */
	uint64_t tx_bytes; /* sent by the port so far */
	uint64_t rate;     /* of the port, bits/s */
	uint64_t queued;   /* bytes in its queue */
};

struct wf_cc_int {
	uint32_t hops;
	uint64_t
		use; /* of the busiest hop, Q32, where that is all that came (PINT); 0: it is not */
	struct wf_cc_hop hop[WF_CC_HOPS];
};

/* What an acknowledgement tells. */
struct wf_cc_ack {
	wf_time now;
	/*
	 * RTT of the newest packet that it covers. 0: not known, because the packet was sent again
	 * after a timeout or was not timed. It came all the same: a window that did not grow then
	 * would starve.
	 */
	wf_time rtt;
	uint64_t inflight;                 /* bytes not acknowledged after this one */
	uint32_t bytes;                    /* newly acknowledged payload */
	bool ecn;                          /* it echoes a congestion mark */
	const struct wf_cc_int *telemetry; /* borrowed; NULL: none */
	/*
	 * How long ago the acknowledgement was put on its last link. A timer that is due now but
	 * was set later than that is carried out after it, as in a simulator with one queue of
	 * events. 0: timers come first.
	 */
	wf_time asked;
};

/* Why a packet is sent again. */
enum wf_cc_loss { WF_CC_LOSS_NAK, WF_CC_LOSS_TIMEOUT };

struct wf_cc {
	const struct wf_cc_ops *ops;
	uint64_t line_rate; /* bits/s; of the port */
	uint64_t rate;      /* bits/s the requester may send at; wf_cc_set_rate() writes it */
	uint64_t gap;       /* ps per byte, times 2^WF_CC_GAP_SHIFT; 0: not paced */
	uint64_t window;    /* bytes that may be unacknowledged; WF_CC_NO_WINDOW: any number */
	wf_time timer;      /* when on_timer() is wanted; WF_TIME_NEVER: not at all */
	/*
	 * A new rate also counts for the gap after the last packet: its successor moves by the
	 * difference. Otherwise the rate counts from the next packet on.
	 */
	bool repace;
};

struct wf_cc_ops {
	const char *name; /* as written in a scenario: "dcqcn" */
	const char *help; /* one line */
	size_t size;      /* of the struct that starts with a struct wf_cc */
	bool telemetry;   /* it needs what switches write into packets */
	bool marks;       /* it lives on marks (ECN, FECN) */

	/* What can be set (base/param.h), and the size of the struct that the rows describe. */
	const struct wf_param *params;
	size_t n_params;
	size_t param_size; /* 0: nothing can be set */

	/*
	 * Sets everything behind *cc, which is zeroed but for ops and line_rate. param: the
	 * algorithm's own parameters, borrowed for as long as cc lives; NULL: its defaults.
	 */
	void (*start)(struct wf_cc *cc, const void *param, wf_time now);
	/* A packet of that many bytes on the link was handed to the port. */
	void (*on_send)(struct wf_cc *cc, uint32_t bytes, wf_time now);
	void (*on_ack)(struct wf_cc *cc, const struct wf_cc_ack *ack);
	/* A congestion notification packet arrived. */
	void (*on_cnp)(struct wf_cc *cc, wf_time now);
	void (*on_loss)(struct wf_cc *cc, enum wf_cc_loss loss, wf_time now);
	/* It is cc->timer or later; sets cc->timer anew. */
	void (*on_timer)(struct wf_cc *cc, wf_time now);
};

void wf_cc_no_send(struct wf_cc *cc, uint32_t bytes, wf_time now);
void wf_cc_no_ack(struct wf_cc *cc, const struct wf_cc_ack *ack);
void wf_cc_no_cnp(struct wf_cc *cc, wf_time now);
void wf_cc_no_loss(struct wf_cc *cc, enum wf_cc_loss loss, wf_time now);
void wf_cc_no_timer(struct wf_cc *cc, wf_time now);

/*
 * Starts the algorithm ops in *cc, of which ops->size bytes are the caller's: zeroes them, sets the
 * common part (no pacing, no window, no timer) and calls ops->start(). The line rate is not 0.
 */
void wf_cc_init(struct wf_cc *cc, const struct wf_cc_ops *ops, const void *param,
                uint64_t line_rate, wf_time now);

/*
 * Sets cc->rate, at most the line rate, and the gap that follows from it, rounded up; 0: not paced.
 */
void wf_cc_set_rate(struct wf_cc *cc, uint64_t rate);

/* How long bytes take at the rate; 0 when not paced. Needs no division. */
static inline wf_time wf_cc_gap(const struct wf_cc *cc, uint32_t bytes)
{
	return (wf_time)((bytes * cc->gap) >> WF_CC_GAP_SHIFT);
}

/* The algorithm called name, or NULL. */
const struct wf_cc_ops *wf_cc_find(const char *name);

/* The i-th algorithm, or NULL after the last. */
const struct wf_cc_ops *wf_cc_at(size_t i);

/* Sends as fast as the port takes it. */
extern const struct wf_cc_ops wf_cc_none;

/* Sends at a rate that never changes, within a window that never changes. */
extern const struct wf_cc_ops wf_cc_fixed;

struct wf_cc_fixed_param {
	uint64_t rate;   /* bits/s; 0: not paced */
	uint64_t window; /* bytes; 0: none */
};

#endif
