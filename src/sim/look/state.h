/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - what a run left behind in a queue of a port, and how links fared: for diagnosis.
 */
#ifndef WF_SIM_LOOK_STATE_H
#define WF_SIM_LOOK_STATE_H

#include "fabric/watchdog.h"
#include "sim/sim.h"

struct wf_sim_lane_state {
	uint64_t rate;     /* bits/s of the port */
	uint64_t waiting;  /* bytes that wait to leave by it */
	bool stopped;      /* the peer told it to stop, or gives no credits */
	uint64_t capacity; /* bytes of headroom (pfc) or receive buffer (credit) of its input */
	uint64_t needed;   /* how much of that cable, rate and reaction need: no loss, no idling */
	uint64_t xoff;     /* pfc: bytes of one input that stop its peer, the buffer else empty */
};

/* Fills *state; false when there is no such port or queue. */
bool wf_sim_lane_state(const struct wf_sim *sim, uint32_t node, unsigned port, unsigned queue,
                       struct wf_sim_lane_state *state);

/* What became of the receive buffer of a host's adapter, up to now. */
struct wf_sim_intake_state {
	wf_time waited;   /* for how long there were packets in it */
	uint64_t bytes;   /* that left it in that time */
	uint64_t rate;    /* bits/s that it is set to be drained with now */
	uint64_t dropped; /* packets that found no room */
	bool drops;       /* it is set to: nic.rx_full drop */
};

/* Fills *state; false when host has none: what comes goes to the host at once. */
bool wf_sim_intake_state(const struct wf_sim *sim, uint32_t host,
                         struct wf_sim_intake_state *state);

/* How often a link was down up to now, and for how long in all. */
struct wf_sim_link_state {
	bool down;
	uint32_t times;
	wf_time time;
};

/* Fills *state; false when there is no such link. */
bool wf_sim_link_state(const struct wf_sim *sim, uint32_t link, struct wf_sim_link_state *state);

/* The watchdog of a queue of a switch, or of an adapter. */
struct wf_sim_watchdog {
	const char *rules; /* whose they are */
	enum wf_watchdog_action action;
	struct wf_watchdog_times times; /* as they are simulated */
	wf_time acted;                  /* for how long it has */
	wf_time repeat;                 /* a pause that lasts is said again so often there */
};

/* Fills *state; false when there is no such port or queue, or it has no watchdog. */
bool wf_sim_watchdog(const struct wf_sim *sim, uint32_t node, unsigned port, unsigned queue,
                     struct wf_sim_watchdog *state);
/* What a link does to packets that come in by a port, and what it does about it. */
struct wf_sim_port_link {
	uint64_t ber;       /* bit errors per 10^18 that the FEC leaves, as it is set now */
	uint64_t loss;      /* units of 2^-32: packets lost whatever their size, as it is set now */
	uint64_t raw_ber;   /* per 10^18 before the FEC, when that was nearest to limit; or 0 */
	uint64_t limit;     /* up to which the code loses hardly any frame */
	const char *fec;    /* the code, for people */
	uint64_t again;     /* times that the peer sent a packet again on its way here */
	wf_time again_time; /* for which that took the wire */
};

/* Fills *link; false when there is no such port. */
bool wf_sim_port_link(const struct wf_sim *sim, uint32_t node, unsigned port,
                      struct wf_sim_port_link *link);

#endif
