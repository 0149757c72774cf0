/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site.h - what a node of a managed fabric has of management, and the way of MADs through it.
 *
 *	came in, or was made here --> waits for the agent --> directed route: goes on, by its path
 *	                                      |           \-> LID: goes on, to it
 *	                                      v
 *	                                    agent --> answer: out, or to the manager here
 *	                                      |
 *	                                      +--for a manager--> waits for it --> manager --> out
 *	                                      +--class 3 --------------"------> its SA  --> out
 */
#ifndef WF_SIM_MGMT_SITE_H
#define WF_SIM_MGMT_SITE_H

#include "fabric/station.h"
#include "mgmt/am.h"
#include "mgmt/ana.h"
#include "mgmt/cca.h"
#include "mgmt/pma.h"
#include "mgmt/route_dr.h"
#include "mgmt/sa/sa.h"
#include "mgmt/sma.h"
#include "sim/mgmt/managed.h"

/* What managers have made of a port's link. */
#define WF_MANAGED_DISABLED 1u /* it is to be down */
#define WF_MANAGED_BOUNCE 2u   /* it is to go down and come up at once */
#define WF_MANAGED_DOWN 4u     /* it is down for that */
#define WF_MANAGED_RESET 8u    /* it stays, and the other end is to begin anew */

#define WF_SITE_ROOM 128 /* MADs that wait for an agent */
#define WF_SITE_ROOM_MANAGER 8192
#define WF_SITE_LEAVE (20 * WF_US) /* for an answer to be on its way, and across the link */
#define WF_SITE_RESP_TIME 8        /* 4.096 us * 2^8, 1 ms: within which agents answer */

/* How a MAD came. */
struct wf_site_from {
	unsigned port; /* 0: from the node itself */
	uint16_t slid, dlid;
	uint8_t sl;
	uint16_t pkey;
	bool gmp; /* between queue pairs that are not 0, and: */
	uint32_t src_qpn, dst_qpn, qkey;
};

/* A MAD that waits. */
struct wf_site_mad {
	struct wf_site_mad *next;
	wf_time at; /* it is done then */
	struct wf_site_from from;
	uint8_t bytes[WF_MAD_LEN];
};

/* What works on one MAD after the other. */
struct wf_site_worker {
	struct wf_site_mad *head, *tail;
	uint32_t waiting, room;
	wf_time time; /* that it takes for one */
	wf_time free_at;
	uint64_t dropped;
};

/* What a manager has done. */
struct wf_site_deeds {
	wf_time up; /* WF_TIME_NEVER: not yet */
	uint32_t sweeps, reroutes;
	wf_time reroute_last, reroute_max;
	wf_time answered; /* the change that its tables answered last; WF_TIME_NEVER: none */
	wf_time begun;    /* of the sweep that goes on */
};

struct wf_site {
	struct wf_station st;
	struct wf_managed *all;
	struct wf_dr_node node;
	bool is_switch;
	unsigned changed; /* of a host's port: what wf_managed_take_changes() has not had yet */
	wf_time now;      /* of the call that goes on */
	struct wf_sma *sma;
	struct wf_pma *pma;
	struct wf_cca *cca;
	struct wf_ana *ana; /* of a switch that reduces; NULL */
	struct wf_am *am;   /* of the host that manages trees; NULL */
	uint32_t *downs;    /* by port: how often its link went down */
	/*
	 * By port: what is to become of its link (WF_MANAGED_*), at leave_at or later: not before
	 * the answer to who wanted that has left by it.
	 */
	uint8_t *leaves;
	wf_time leave_at; /* WF_TIME_NEVER: of none */
	struct wf_sm *sm; /* NULL: there is no manager here */
	struct wf_sa *sa; /* the manager's; NULL with it */
	wf_time sa_at;    /* its next MAD goes out then, or later */
	struct wf_site_deeds deeds;
	struct wf_site_worker agent, manager;
	uint16_t **pkeys;            /* by port: what the station has of its table */
	uint8_t **sl2vl;             /* the same, */
	struct wf_classes **classes; /* and of arbitration */
	uint16_t *dlid_of;           /* of a host */
};

/* What simulations with threads share without a lock: by shard. */
struct wf_site_shard {
	struct wf_site_mad *free;
	uint32_t changes;   /* of hosts' ports */
	uint32_t waiting;   /* MADs, for workers */
	bool lids_changed;  /* of a host */
	bool links_changed; /* a manager wants links down, or up again, */
	bool routed;        /* or has new tables, */
	bool swept;         /* or has swept the subnet, */
	bool trees;         /* or has set all trees up */
} WF_ALIGNED(WF_CACHE_LINE);

/* A MAD on its way at the start, when there are no packets. */
struct wf_site_hop {
	struct wf_site_hop *next;
	struct wf_site *site; /* where it comes in */
	struct wf_site_from from;
	uint8_t bytes[WF_MAD_LEN];
};

struct wf_managed {
	struct wf_managed_cfg cfg;
	struct wf_mem *mem;
	const struct wf_topo *topo;
	struct wf_sim_manager manager;
	const struct wf_managed_users *users; /* NULL: there are none */
	struct wf_sim *sim;
	struct wf_site **site; /* by node id */
	struct wf_site_shard *shards;
	uint16_t *lid_of;   /* by address (topo/routes.h): of each port of each host */
	uint8_t *path_sl;   /* by switch and LID; NULL: paths have none */
	uint32_t n_path_sl; /* LIDs */
	uint8_t *disabled;  /* by port of the topology: WF_MANAGED_* */
	uint64_t *trained;  /* by link: wf_fabric.trained */
	bool starting;      /* MADs are handed on without packets */
	struct wf_site_hop *hops, *last_hop, *free_hops;
	struct wf_trees *trees; /* for reductions; NULL: there are none */
	wf_time changed, since; /* links: the last change, and the first that nobody answered */
};

/* ---- trees.c: those for reductions ---- */

/*
 * The agent of a switch, or the manager beside the first subnet manager. Returns 0, -ENOMEM, or
 * -EINVAL with err filled.
 */
int wf_trees_make_agent(struct wf_site *site) WF_MUST_USE;
int wf_trees_make_manager(struct wf_site *site, struct wf_err *err) WF_MUST_USE;

/* The manager does what is to be done: begins once the subnet is up. */
void wf_trees_work(struct wf_site *site);

/* Trees that are set up are used. While no node runs. */
void wf_trees_open(struct wf_managed *m, wf_time now);

/* After a sweep: groups whose trees have lost a link are told. While no node runs. */
void wf_trees_check(struct wf_managed *m, wf_time now);
void wf_trees_result(const struct wf_managed *m, struct wf_managed_result *result);
void wf_trees_destroy(struct wf_managed *m);

/* The view of the subnet's master; NULL: there is none. */
const struct wf_sm_view *wf_managed_view(const struct wf_managed *m);

extern const struct wf_station_ops wf_site_station;
extern const struct wf_pma_ops wf_site_counters;

/* A node's agent and what it needs. Returns 0, -ENOMEM, or -EINVAL with err filled. */
int wf_site_create(struct wf_managed *m, struct wf_device *dev, struct wf_store *mads,
                   struct wf_err *err) WF_MUST_USE;
void wf_site_destroy(struct wf_site *site);

/* Something of a host's port is not as it was: bits of enum wf_sma_change. */
void wf_site_note(struct wf_site *site, unsigned what);

/* A program of a host sends a MAD, which may be for the host itself. */
void wf_site_send(struct wf_site *site, const struct wf_managed_mad *mad, wf_time now);

/* A MAD comes in, at the start. */
void wf_site_take(struct wf_site *site, const struct wf_site_from *from, uint8_t *mad);

/* The other end of a port's link begins anew; while no node runs. */
void wf_site_reset(struct wf_site *site, unsigned port, wf_time now);

/* Has whoever has something to do at a site do it, now. */
void wf_site_work(struct wf_site *site, wf_time now);

/* When that is; WF_TIME_NEVER: not by itself. */
wf_time wf_site_deadline(const struct wf_site *site);

/* ---- obey.c ---- */

/* What a device's ports can have, of what is the agent's to say. */
void wf_site_sets(const struct wf_device *dev, struct wf_sma_cfg *cfg);

/* A port's agent says what the fabric does by itself. Returns 0 or -ENOMEM. */
int wf_site_preset(struct wf_site *site, unsigned port) WF_MUST_USE;

/* A manager has set that (enum wf_sma_change) of a port, or with 0 of the switch. */
void wf_site_obey(struct wf_site *site, unsigned port, unsigned what);

/*
 * How the link of a port trains. False: as the topology says, since both ends let it. Ends that
 * have nothing in common come up with 1x SDR.
 */
bool wf_site_trains(const struct wf_site *site, unsigned port, unsigned *width_p,
                    unsigned *speed_p);

/* wf_sim_manager.train */
void wf_managed_train(void *arg, uint32_t link, wf_time now);

#endif
