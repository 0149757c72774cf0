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
	/* Where ports are managed: its state, as PortInfo's, else 0; its LID, or its switch's. */
	uint32_t state, lid;
	/* Faults of the link. */
	uint32_t down, unused;
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

#define WF_LIVE_DEADLOCK_LINKS 16 /* of a circle that are told; more are counted */

/*
 * Queues of switches that wait for one another in a circle: sim/look/deadlock.h. Virtual times, ps.
 */
struct wf_live_deadlock {
	uint64_t formed, found;
	uint64_t ended; /* 0: it stands */
	uint64_t packets;
	uint32_t queues, hosts; /* that wait for it, itself included */
	uint32_t times;
	uint32_t n, n_links; /* queues of the circle, and those that are told */
	uint32_t closed;     /* the one that stopped last */
	struct wf_live_deadlock_link {
		char node[WF_LIVE_NAME], peer[WF_LIVE_NAME];
		char src[WF_LIVE_NAME], dst[WF_LIVE_NAME]; /* of the first packet: hosts */
		uint64_t since, bytes;
		uint32_t number; /* of the port, from 1 */
		uint32_t id;     /* priority or VL */
		uint32_t packets, held;
		uint32_t valley, unused;
	} link[WF_LIVE_DEADLOCK_LINKS];
};

#define WF_LIVE_MANAGERS 4

/* Who manages the modelled fabric. */
struct wf_live_managers {
	uint32_t managed;          /* ports are; else routes are there by themselves */
	uint32_t n;                /* weft's managers; 0: who comes */
	uint32_t lid;              /* of the master, as ports have it; 0: none has any */
	char master[WF_LIVE_NAME]; /* whose LID that is; "": nobody's */
	struct {
		char host[WF_LIVE_NAME];
		uint32_t state; /* enum wf_sm_state */
		uint32_t priority;
	} manager[WF_LIVE_MANAGERS];
	uint32_t unused;
	uint64_t sweeps;    /* heavy ones, of weft's managers */
	uint64_t reroutes;  /* changes of links up to new tables everywhere: how many, */
	uint64_t last, max; /* and how long that took last, and at most; ps */
	uint64_t smps;      /* on wires, hop by hop */
	uint64_t smps_lost; /* for which there was no room */
};

/* The model as it is, in the file that answers WF_LIVE_PORTS. */
struct wf_live_model {
	uint32_t pace;        /* enum wf_live_pace */
	uint32_t n_ports;     /* switch after switch, then the hosts */
	uint32_t n_deadlocks; /* struct wf_live_deadlock, behind the ports */
	uint32_t standing;    /* deadlocks that stand */
	uint64_t time_ps;     /* virtual time */
	uint64_t slip_ps;     /* by which it has fallen behind the clock */
	uint64_t under_way;   /* packets in it now */
	uint64_t delivered;   /* packets, to programs */
	uint64_t lost;        /* packets, in it */
	uint64_t unclaimed;   /* packets that came to a host on which nobody waited for them */
	uint64_t refused;     /* packets that no program may send */
	struct wf_live_managers managers;
	struct wf_live_port port[];
};

_Static_assert(sizeof(struct wf_live_managers) % 8 == 0, "counters are aligned");
_Static_assert(sizeof(struct wf_live_port) % 8 == 0 && sizeof(struct wf_live_model) % 8 == 0,
               "what lies behind the ports is aligned");

/* Deadlock i of a model in its file. */
static inline const struct wf_live_deadlock *wf_live_deadlock(const struct wf_live_model *m,
                                                              uint32_t i)
{
	return (const struct wf_live_deadlock *)(const void *)(m->port + m->n_ports) + i;
}

#endif
