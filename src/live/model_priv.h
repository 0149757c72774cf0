/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_priv.h - the inside of the modelled fabric.
 */
#ifndef WF_LIVE_MODEL_PRIV_H
#define WF_LIVE_MODEL_PRIV_H

#include "live/model.h"
#include "sim/host/gated.h"
#include "sim/look/deadlock.h"
#include "sim/mgmt/managed.h"

/* A packet that is under way, or waits for room in the ring of who it is for. */
struct wf_dcarried {
	struct wf_dcarried *next; /* free, or in a backlog */
	struct wf_dclient *from;
	struct wf_packet pkt; /* as it will be received */
	uint32_t number;      /* under which the model knows it */
	uint32_t slot;        /* of the program for which it is */
	uint32_t bytes;
	uint32_t copies; /* that are under way: of one for a group, there may be many */
	char payload[WF_RING_PAYLOAD];
};

#define WF_MODEL_BLOCK 64 /* records that are made at a time */

struct wf_dmodel {
	struct wf_watch watch; /* of wake and timer: each round of the loop serves the model */
	struct wf_daemon *d;
	struct wf_sim *sim;
	const struct wf_topo *topo;
	struct wf_managed *managed; /* NULL: nobody manages the fabric, and routes are there */
	enum wf_live_pace pace;
	uint8_t cls;
	int wake;                    /* eventfd: programs have sent something */
	int timer;                   /* timerfd: something is due */
	struct wf_dclient **clients; /* by host: those with a link, whose turn it is first */
	struct wf_dcarried **blocks;
	uint32_t n_blocks;
	struct wf_dcarried *free;
	const struct wf_dgroup *group; /* whose packet came last */

	wf_time zero;   /* of the clock, when virtual time was 0; moves on by what slips */
	wf_time target; /* virtual; what the clock says in this turn */
	uint32_t clock; /* ns, of the system's clock, in this turn: what packets are stamped with */
	wf_time turn_end;  /* of the system's clock: a turn does not last longer */
	wf_time armed;     /* virtual: what the timer is set to; WF_TIME_NEVER: nothing */
	uint32_t windows;  /* of the engine, in this turn */
	bool stopped;      /* the turn ended before its target */
	bool moved;        /* a packet came or went in this turn */
	bool waiting;      /* at its beginning, a program had something to send */
	uint32_t backlogs; /* clients for whom everybody waits */

	const struct wf_daemon_words *words; /* NULL: nobody understands them */
	void *words_arg;
	uint32_t
		changes; /* of links and adapters that the table of hosts has: wf_gated_changes() */
	/* Deadlocks that the daemon has told of, by their place: how often, and their end. */
	struct {
		uint32_t times;
		bool ended;
	} told[WF_DEADLOCKS_MAX];
	bool looked;       /* since a packet last moved */
	uint32_t settings; /* of hosts' ports that the table has: wf_managed_changes() */

	uint64_t under_way, delivered, lost, unclaimed, refused;
	wf_time slip;
};

/* model.c: what the gates ask for and give. */
extern const struct wf_gate_ops wf_model_gates;

/* When a packet was sent, from its stamp, in virtual time; no later than this turn. */
wf_time wf_model_sent_at(const struct wf_dmodel *m, uint32_t stamp);

/* Puts what waits for a client into its ring; gives it up when it stands still for too long. */
void wf_model_flush(struct wf_dmodel *m, struct wf_dclient *c, wf_time clock);

/* model_port.c: what of a port, and of the whole, is management's. */
void wf_model_port_managed(const struct wf_dmodel *m, uint32_t node, struct wf_live_port *port);
void wf_model_managers(const struct wf_dmodel *m, struct wf_live_managers *ms);

/* model_deadlock.c: looks for deadlocks where nothing is due, and tells of news. */
void wf_model_watch(struct wf_dmodel *m);

/* model_clock.c */
wf_time wf_model_clock(void);
bool wf_model_go_on(void *arg, wf_time now);

/* Whether nothing happens soon, if nobody does anything. */
bool wf_model_is_quiet(const struct wf_dmodel *m);

#endif
