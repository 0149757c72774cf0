/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlock.h - queues that wait for one another in a circle, and what closed it.
 *
 * A queue of a switch's port that is paused, or lacks credits, waits for the buffer that it leads
 * to; that is held by packets in queues of the next switch, which may wait likewise. Where that
 * goes round in a circle in which nobody can ever leave, it is a deadlock; where it ends at a host
 * that lets nobody send to it, it is not. stuck.h says what is proved, and how.
 *
 * Looking changes nothing: it happens at the end of a window, and windows are where they would be.
 */
#ifndef WF_SIM_LOOK_DEADLOCK_H
#define WF_SIM_LOOK_DEADLOCK_H

#include "sim/sim.h"

#define WF_DEADLOCKS_MAX 16 /* that are kept; more are counted */

/* What happened to the fabric: a fault, or switches that found new routes. */
enum wf_sim_change_kind {
	WF_SIM_CHANGE_NONE,
	WF_SIM_CHANGE_LINK_DOWN, /* what: a link of the topology */
	WF_SIM_CHANGE_LINK_UP,
	WF_SIM_CHANGE_STORM, /* what: a node, a host that lets nobody send to it from now on */
	WF_SIM_CHANGE_STORM_OVER,
	WF_SIM_CHANGE_NODE, /* what: a node that is set to something else */
	WF_SIM_CHANGE_PORT, /* what: the same of a port, by its number in the topology */
	WF_SIM_CHANGE_ROUTES,
	WF_SIM_CHANGES
};

struct wf_sim_change {
	wf_time at;
	enum wf_sim_change_kind kind;
	uint32_t what;
	/*
	 * Of routes: how many switches have the new ones, how many others do not, and one of these.
	 */
	uint32_t switches, behind, one_behind;
};

/* "link_down", "routes" ... */
const char *wf_sim_change_name(enum wf_sim_change_kind kind);

/* One queue of a circle, which waits for the next of the list, the last for the first. */
struct wf_deadlock_link {
	uint32_t node;
	uint16_t port;
	uint8_t queue;    /* its index */
	uint8_t id;       /* its priority or VL */
	wf_time since;    /* it has been stopped since */
	uint32_t packets; /* that wait in it */
	uint64_t bytes;
	uint32_t src, dst; /* hosts: of the first of them */
	/*
	 * Of them, those that came by the link before it: they hold the buffer that one waits for.
	 */
	uint32_t held;
	uint64_t held_bytes;
	uint32_t held_src, held_dst; /* hosts: of the first of these */
	bool valley; /* these came down to this switch from a higher tier, and go up again */
};

struct wf_deadlock {
	bool certain; /* nobody in it can ever leave; else they wait in a circle and stand still */
	wf_time formed; /* the last of its queues stopped */
	wf_time found;
	wf_time formed_last; /* where it formed several times; found, formed: the first time */
	wf_time ended;       /* it was found to be no more; WF_TIME_NEVER: it stands */
	uint32_t times;      /* that it formed */
	uint32_t n;          /* queues of the circle */
	uint32_t closed;     /* the one that stopped last */
	struct wf_deadlock_link *link; /* as they were when it was found */
	/* What waits for it, itself included: as it was when it was last looked at. */
	uint32_t queues, hosts;
	uint64_t packets;
	/* What had happened last when it formed; kind WF_SIM_CHANGE_NONE: nothing. */
	struct wf_sim_change fault, routes;
};

/*
 * Has the simulation look for deadlocks every so often of virtual time, before the run; 0: never.
 * With stop it ends when one is certain.
 */
void wf_sim_watch_deadlocks(struct wf_sim *sim, wf_time every, bool stop);

/*
 * Looks now, between windows, at all that is stopped, however short. With last, the run is over: a
 * circle that stands still without proof is noted as well. Returns 0 or -ENOMEM.
 */
int wf_sim_look_for_deadlocks(struct wf_sim *sim, bool last) WF_MUST_USE;

/* What was found, in the order in which it was found; *n_p: how many, at most WF_DEADLOCKS_MAX. */
const struct wf_deadlock *wf_sim_deadlocks(const struct wf_sim *sim, uint32_t *n_p);

/* How many were found in all, and how many stand. */
uint32_t wf_sim_deadlocks_found(const struct wf_sim *sim);
uint32_t wf_sim_deadlocks_standing(const struct wf_sim *sim);

/* Queues that stand still and wait, one for the other, for a host that lets nobody send to it. */
struct wf_standstill {
	uint32_t host;   /* by its number among hosts */
	uint32_t queues; /* of switches */
	uint64_t packets;
	wf_time since; /* the queue to the host has been stopped */
};

/*
 * Writes the trees of queues that have stood still for at least wait to list, max at most, that
 * with most queues first. Returns how many there are.
 */
uint32_t wf_sim_standstills(const struct wf_sim *sim, wf_time wait, struct wf_standstill *list,
                            uint32_t max);

#endif
