/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_priv.h - a simulation from the inside.
 */
#ifndef WF_SIM_SIM_PRIV_H
#define WF_SIM_SIM_PRIV_H

#include "fabric/fabric.h"
#include "fabric/network.h"
#include "fabric/switch.h"
#include "sim/host/adapter.h"
#include "sim/prog/app.h"
#include "sim/host/gate.h"
#include "sim/host/windowed.h"
#include "sim/prog/rc.h"
#include "sim/prog/tcp.h"
#include "sim/storage/storage.h"
#include "sim/sim.h"
#include "sim/look/deadlock.h"
#include "sim/look/watch.h"
#include "sim/look/wire_check.h"

#define WF_SIM_CHANGES_KEPT 64

struct wf_sim {
	struct wf_mem *mem;
	const struct wf_topo *topo;
	struct wf_fabric fabric;
	struct wf_engine *engine;
	unsigned n_shards;
	struct wf_network net;
	wf_time until;
	bool failed; /* memory ran out while it ran */

	/* Flows, whoever carries them. */
	uint32_t n_flows;
	uint64_t packets; /* that they need */

	/* Hosts that are windowed senders. */
	struct {
		struct wf_host_env env;
		uint32_t *first_tx;   /* by host: its first flow; while building */
		uint32_t *rx_of_spec; /* receiving side of each flow, in the caller's order */
	} windowed;

	/* Hosts that are adapters with programs: has_app. */
	bool has_app;
	bool app_done;                              /* all of them */
	struct wf_sim_app app[WF_ADAPTER_PROGRAMS]; /* the caller's, flows', storage's */
	unsigned n_apps;
	struct wf_rc *rc;             /* carries flows; NULL: none, or others do */
	struct wf_tcp_flows *tcp;     /* NULL: none goes over TCP */
	struct wf_storage *storage;   /* NULL: there is none */
	struct wf_adapter **adapters; /* by host index */
	struct wf_adapter_env adapter_env;

	/* Hosts whose programs are outside: gated.env.ops is not NULL. */
	struct {
		struct wf_gate_env env;
		struct wf_gated_fault *faults; /* by link */
		bool *storm;                   /* by host: wf_gated_storm() */
		wf_time delay_max;             /* of them */
	} gated;

	struct wf_flowctl_ops managed; /* of a managed fabric: its link layer, */
	struct wf_sim_manager manager; /* and who manages it; zeroes: nobody does */

	/* Links that change (faults.c). */
	struct {
		struct wf_sim_plan *plans;
		uint8_t *down;    /* by link */
		uint32_t changes; /* of links, and storms */
		struct wf_sim_outage {
			uint32_t times;
			wf_time since, before; /* down now: from when; and how long before that */
		} * outages;                   /* by link */
		wf_time reconverge;
		uint32_t *causes; /* by link: how many faults keep it down */
		uint32_t *storms; /* by host: how many have its adapter pause */
		struct wf_sim_slow {
			struct wf_sim_slow *next;
			uint64_t rate; /* bits/s */
		} * *slows; /* by host: those that have its adapter be slow, the newest first */
		struct wf_sim_table *tables;    /* of routes that a switch or the fabric uses */
		struct wf_sim_table *newest;    /* the fabric's */
		struct wf_sim_table **table_of; /* by node; NULL of hosts */
		struct wf_sim_group {
			struct wf_sim *sim;
			wf_time delay; /* from a change to new routes in its switches */
		} * groups;            /* of switches, by their delay */
		size_t n_groups;
	} faults;

	/* What happened to the fabric last (look/deadlock.c). */
	struct {
		struct wf_sim_change
			last[WF_SIM_CHANGES_KEPT]; /* change n is at n modulo their number */
		uint32_t n;
	} changes;

	/* Queues that wait for one another (look/deadlock.c). */
	struct {
		wf_time every, due; /* the next look; WF_TIME_NEVER: there is none */
		bool stop;          /* one that is certain ends the run */
		uint32_t stuck;     /* queues that can never move, at the last look */
		uint32_t found, standing;
		uint32_t n;
		struct wf_deadlock list[WF_DEADLOCKS_MAX];
	} deadlocks;

	/* Who looks on. */
	wf_sim_progress_fn *progress;
	void *progress_arg;
	uint64_t windows_seen;
	wf_sim_tick_fn *tick; /* called from tick_at on; NULL: nobody */
	void *tick_arg;
	wf_time tick_at;
	struct wf_wire_check *check; /* NULL: bytes are not checked */
	wf_sim_tap_fn *tap;          /* NULL: nobody listens */
	void *tap_arg;
};

/* Makes the flows' two sides and the per-host shares. Returns 0, -EINVAL with err, or -ENOMEM. */
int wf_sim_make_flows(struct wf_sim *sim, const struct wf_sim_cfg *cfg,
                      struct wf_err *err) WF_MUST_USE;

/* Takes over the faults of cfg, and has them happen. Returns 0 or -ENOMEM. */
int wf_sim_make_faults(struct wf_sim *sim, const struct wf_sim_cfg *cfg) WF_MUST_USE;

/* It happens now, while no node runs; sim->failed: there was no memory. */
void wf_sim_happens(struct wf_sim *sim, const struct wf_sim_fault *f, wf_time now);

/* Has more happen, at times that are not over. Returns 0 or -ENOMEM. */
int wf_sim_plan_faults(struct wf_sim *sim, const struct wf_sim_fault *faults, size_t n) WF_MUST_USE;

/* What was planned of that link or host does not happen. */
void wf_sim_drop_fault(struct wf_sim *sim, enum wf_sim_fault_kind kind, uint32_t what);

/* What was planned does not happen: all of it, or what devices are set to alone. */
void wf_sim_drop_faults(struct wf_sim *sim, bool settings_alone);

/* Something keeps a link down from now on, or no longer does. Returns 0 or -ENOMEM. */
int wf_sim_link_fault(struct wf_sim *sim, uint32_t link, bool on, wf_time now) WF_MUST_USE;

/* Something has an adapter let nobody send to it from now on, or no longer does. */
void wf_sim_storm_fault(struct wf_sim *sim, uint32_t host, bool on, wf_time now);

/* The same for one that takes in no more than rate bits/s; of several the least counts. */
void wf_sim_slow_fault(struct wf_sim *sim, uint32_t host, bool on, uint64_t rate, wf_time now);

/* Gives back what faults took. */
void wf_sim_end_faults(struct wf_sim *sim);

/* A link changed: has every switch find new routes when its time has come. Returns 0 or -ENOMEM. */
int wf_sim_plan_routes(struct wf_sim *sim, wf_time now) WF_MUST_USE;

/* Takes a link down or up, now, while no node runs. */
void wf_sim_set_link(struct wf_sim *sim, uint32_t link, bool up, wf_time now);

/* Keeps in mind that something happened to the fabric: what, as its kind says. */
void wf_sim_changed(struct wf_sim *sim, enum wf_sim_change_kind kind, uint32_t what, wf_time now);

/* The time has come to look for deadlocks. Returns whether that ends the run. */
bool wf_sim_deadlocks_due(struct wf_sim *sim, wf_time now);

/* Notes the deadlocks that stand, as incidents that last until now. */
void wf_sim_end_deadlocks(const struct wf_sim *sim);

/* Gives back what deadlocks took. */
void wf_sim_free_deadlocks(struct wf_sim *sim);

/* Notes that the link changed, at both its ends. */
void wf_sim_incident_link(struct wf_sim *sim, uint32_t link, bool up, wf_time now);

/*
 * Checks what must hold between windows: packets sent = delivered + dropped + inside, per class,
 * counted by walking every queue and link; no buffer over its size; and on an empty fabric all
 * credits home. Returns 0 or -EINVAL with what does not hold in err.
 */
int wf_sim_check(const struct wf_sim *sim, struct wf_err *err) WF_MUST_USE;

#endif
