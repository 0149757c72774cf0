/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_state.h - what the daemon tells of a modelled fabric.
 */
#ifndef WF_LIVE_MODEL_STATE_H
#define WF_LIVE_MODEL_STATE_H

#include "live/proto.h"
#include "sim/look/counts.h"

/* A port of the model: one end of a link. */
struct wf_live_port {
	char node[WF_LIVE_NAME], peer[WF_LIVE_NAME];
	uint32_t number;    /* of the port, from 1 */
	uint32_t link;      /* of the model, from 0 */
	uint32_t is_switch; /* node is one, not a host */
	uint32_t both;      /* both ends are switches */
	uint64_t rate;      /* bits/s */
	/* Faults of the link. */
	uint32_t down;
	uint64_t loss, corrupt; /* units of 2^-32 */
	int64_t delay;
	/*
	 * Sums over the port's classes, and what is of the whole port. drops_error of hosts is with
	 * what came corrupted.
	 */
	struct wf_sim_counts counts;
};

/* A fault in a scenario's words, in the file that answers WF_LIVE_WORDS_LIST. */
struct wf_live_words {
	char on[80];        /* what it happens to */
	char word[16];      /* "down" */
	char settings[160]; /* of "set" */
	/*
	 * virtual times, ps; until: negative = for good; every and lasts: of a flap, else negative
	 */
	int64_t at, until, every, lasts;
};

/* The model as it is, in the file that answers WF_LIVE_PORTS. */
struct wf_live_model {
	uint32_t pace;      /* enum wf_live_pace */
	uint32_t n_ports;   /* switch after switch, then the hosts */
	uint64_t time_ps;   /* virtual time */
	uint64_t slip_ps;   /* by which it has fallen behind the clock */
	uint64_t under_way; /* packets in it now */
	uint64_t delivered; /* packets, to programs */
	uint64_t lost;      /* packets, in it */
	uint64_t unclaimed; /* packets that came to a host on which nobody waited for them */
	uint64_t refused;   /* packets that no program may send */
	struct wf_live_port port[];
};

#endif
