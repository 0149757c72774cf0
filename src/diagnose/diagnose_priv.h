/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose_priv.h - what rules look at: evidence by port and queue, brought together once. */
#ifndef WF_DIAGNOSE_DIAGNOSE_PRIV_H
#define WF_DIAGNOSE_DIAGNOSE_PRIV_H

#include "diagnose/diagnose.h"
#include "text/human.h"

/* Priorities and lanes that are looked at one by one, and behind them the port as a whole: for what
 * a source does not tell apart. */
#define WF_DIAG_WHOLE 16
#define WF_DIAG_QUEUES (WF_DIAG_WHOLE + 1)

/* Of a queue of a port. */
struct wf_diag_queue {
	uint64_t pause_tx, pause_rx;  /* frames */
	uint64_t stopped, pausing;    /* ps; of credits, too */
	uint64_t bytes, packets;      /* sent */
	uint64_t marks, drops;        /* drops: for want of room, where packets came in */
	uint64_t tail;                /* where they were to leave */
	uint64_t longest, fill, peak; /* bytes waiting to leave; that came in; bit/s */
	bool knows_marks, knows_bytes, knows_stopped;
};

struct wf_diag_port {
	struct wf_diag_queue q[WF_DIAG_QUEUES];
	struct wf_diag_queue all;
	uint32_t peer_device; /* WF_EV_NONE: not known */
	bool to_host;
};

struct wf_diag {
	const struct wf_evidence *ev;
	struct wf_diagnosis *d;
	struct wf_diag_port *ports;
	uint32_t *tier;              /* of switches, by device: 1 next to hosts; 0: not known */
	const struct wf_rule *rule;  /* whose turn it is */
	bool paused[WF_DIAG_QUEUES]; /* PFC has acted on it, anywhere */
	bool ethernet, credits;
	bool links;      /* some are known */
	uint32_t queues; /* one above the highest queue that is used */
	wf_time span;
};

/* A new finding of the rule whose turn it is, or NULL where there is no room. */
struct wf_found *wf_diag_find(struct wf_diag *c, enum wf_severity severity, uint32_t port,
                              int queue, const char *fmt, ...) WF_PRINTF(5, 6);

/* "priority 3", or "all priorities". */
#define WF_DIAG_CLASS 24
const char *wf_diag_class(unsigned q, char text[WF_DIAG_CLASS]);

/* Adds what a finding stands on: a counter of a port, where it is known. */
void wf_diag_stand(struct wf_diag *c, struct wf_found *f, uint32_t port, int queue,
                   enum wf_ev_counter counter);

/* The same of the whole port and all its queues, where it is more than 0. */
void wf_diag_stand_all(struct wf_diag *c, struct wf_found *f, uint32_t port,
                       enum wf_ev_counter counter);

/* The rule could not look. */
void wf_diag_lacks(struct wf_diag *c);

/* Names. */
static inline const struct wf_ev_device *wf_diag_device(const struct wf_diag *c, uint32_t port)
{
	return &c->ev->devices[c->ev->ports[port].device];
}

const char *wf_diag_name(const struct wf_diag *c, uint32_t device);

/* "leaf3 port 4 to spine0": static buffers are the caller's. */
#define WF_DIAG_WHERE 160
void wf_diag_where(const struct wf_diag *c, uint32_t port, char text[WF_DIAG_WHERE]);

static inline bool wf_diag_is_host(const struct wf_diag *c, uint32_t device)
{
	return device != WF_EV_NONE && c->ev->devices[device].kind == WF_EV_HOST;
}

/* Whether a port leads from one switch to another that is further from hosts. */
static inline bool wf_diag_is_up(const struct wf_diag *c, uint32_t p)
{
	uint32_t peer = c->ports[p].peer_device;

	return peer != WF_EV_NONE && c->tier[c->ev->ports[p].device] > 0 &&
	       c->tier[peer] > c->tier[c->ev->ports[p].device];
}

/* Whether a port of a switch is beside another: both lead to the same tier. */
bool wf_diag_is_beside(const struct wf_diag *c, uint32_t a, uint32_t b);

/* Whether a finding of that rule is there; about that device, where it is not WF_EV_NONE. */
bool wf_diag_has(const struct wf_diag *c, const char *rule, uint32_t device);

/* Share of the time in thousandths; 0 where the time is not known. */
unsigned wf_diag_share(const struct wf_diag *c, uint64_t ps);

/* A sum over all ports of a device. */
uint64_t wf_diag_total(const struct wf_diag *c, uint32_t device, enum wf_ev_counter counter);

/* The rules; the table in diagnose.c has their words. */
typedef void wf_diag_fn(struct wf_diag *c);
wf_diag_fn wf_diag_deadlock, wf_diag_storm, wf_diag_slow_receiver, wf_diag_watchdog;
wf_diag_fn wf_diag_mtu, wf_diag_loop, wf_diag_link_down, wf_diag_link_errors, wf_diag_ber;
wf_diag_fn wf_diag_class_moved, wf_diag_lossy_rdma, wf_diag_foreign, wf_diag_deaf;
wf_diag_fn wf_diag_headroom, wf_diag_cnp_class, wf_diag_cc_off, wf_diag_cnp_ignored;
wf_diag_fn wf_diag_cnp_lost, wf_diag_ecn_off, wf_diag_ecn_late, wf_diag_threshold;
wf_diag_fn wf_diag_polarised, wf_diag_slow_link, wf_diag_slow_host, wf_diag_collision;
wf_diag_fn wf_diag_congestion, wf_diag_credits, wf_diag_retransmit, wf_diag_lossy_drops;
wf_diag_fn wf_diag_global_pause, wf_diag_receive_queue, wf_diag_saturated, wf_diag_life;

#endif
