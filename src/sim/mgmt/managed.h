/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed.h - a simulated fabric of InfiniBand whose devices answer management packets, and its
 * subnet manager.
 *
 * Every switch and host has an agent (mgmt/sma.h) behind its station (fabric/station.h), and one or
 * more hosts have a manager (mgmt/sm/sm.h). They know of one another what MADs tell them, and MADs
 * take the way and the time that the modelled fabric gives them: an agent works on one at a time,
 * and so does a manager.
 *
 *	manager <--> station ==VL15== station ==VL15== station <--> agent
 *	    \_____________ a host's ______/      \________ a switch's ____/
 *
 * A manager's subnet administration (mgmt/sa/sa.h) has the requests of class 3 that come to queue
 * pair 1 of its host, and takes as long for one as the manager does.
 *
 * The first sweep may be over before anything else happens (cfg.cold is false): then MADs are
 * handed from device to device at time 0, without packets, until the subnet is up.
 *
 * Who makes one gives wf_managed_manager() to the simulation. Ports are InfiniBand's here: the
 * topology's port i is number i + 1.
 */
#ifndef WF_SIM_MGMT_MANAGED_H
#define WF_SIM_MGMT_MANAGED_H

#include "mgmt/am.h"
#include "mgmt/sa/sa.h"
#include "mgmt/sm/sm.h"
#include "sim/sim.h"

#define WF_MANAGERS 4        /* at the most */
#define WF_MANAGED_PORTS 254 /* of a switch, at the most */

struct wf_managed;

struct wf_managed_cfg {
	const struct wf_sm_cfg *sm;    /* borrowed until create returns; NULL: nobody manages it */
	uint32_t manager[WF_MANAGERS]; /* the hosts that have one, the first being the highest */
	unsigned n_managers;
	wf_time switch_time, host_time; /* that an agent takes for a MAD */
	wf_time manager_time;           /* and a manager */
	bool cold;                      /* the first sweep is a part of the simulation */
};

/* What the managers have done. */
struct wf_managed_result {
	uint32_t master;          /* host; WF_TOPO_NONE: none is */
	struct wf_sm_stats stats; /* of the master, or else of the first */
	wf_time up;               /* when the subnet was up first; WF_TIME_NEVER: it was not */
	uint32_t sweeps;          /* heavy ones, of all managers */
	/*
	 * Links that were lost or came back, up to when all switches had their new tables: how
	 * often, the last and the longest time. What changed after that has no tables yet: pending.
	 */
	uint32_t reroutes;
	wf_time reroute_last, reroute_max;
	bool pending;
	/*
	 * Trees for reductions: when all were set up (WF_TIME_NEVER: they are not, or there are
	 * none), requests that it took, groups whose trees lost a link and when the manager saw it.
	 */
	wf_time trees_up, trees_lost_at;
	uint32_t trees_lost;
	struct wf_am_stats trees;
	char no_groups
		[WF_TABLES_NOTE]; /* why adaptive routing is not set up; "": it is, or not asked */
	uint64_t smps; /* that were put on wires: of all agents and managers, hop by hop */
	uint64_t lost; /* for which there was no room on VL15 or at an agent */
};

/*
 * topo is borrowed for the life of the managed fabric. On success *m_p is owned by the caller, and
 * must outlive the simulation that it manages. Returns 0, -EINVAL with err filled, or -ENOMEM.
 */
int wf_managed_create(const struct wf_managed_cfg *cfg, const struct wf_topo *topo,
                      struct wf_mem *mem, struct wf_managed **m_p, struct wf_err *err) WF_MUST_USE;

/* Frees it, after its simulation. NULL is allowed. */
void wf_managed_destroy(struct wf_managed *m);

/* A MAD, and the way it goes or came. */
struct wf_managed_mad {
	bool gmp;     /* between queue pairs 1 (or any), else 0 */
	uint16_t lid; /* to or from that one; WF_LID_PERMISSIVE: a directed route, which is in it */
	uint16_t dlid; /* came: by that LID of the host's */
	uint8_t sl;
	uint16_t pkey;
	uint32_t qpn, qkey; /* gmp: the other side's */
	uint32_t own_qpn;
	uint8_t bytes[WF_MAD_LEN];
};

/* Programs outside of the simulation, on hosts. */
struct wf_managed_users {
	/*
	 * A MAD came to a host that no agent or manager of weft's takes: a response whose
	 * transaction ID has a bit set in its upper half, or a request. Called while the simulation
	 * runs.
	 */
	void (*mad)(void *arg, uint32_t host, const struct wf_managed_mad *mad, wf_time now);
	void *arg;
};

/* They are there from now on; users is borrowed. */
void wf_managed_set_users(struct wf_managed *m, const struct wf_managed_users *users);

/*
 * How many MADs of its programs a host has room for now, on VL15 or (gmp) among its data: more are
 * lost. Where no data may leave, there is room, and GMPs go nowhere.
 */
unsigned wf_managed_room(const struct wf_managed *m, uint32_t host, bool gmp);

/*
 * A program of a host sends a MAD, at now, while the simulation stands. It is lost where it has no
 * way. MADs for the host itself come back by users->mad.
 */
void wf_managed_send(struct wf_managed *m, uint32_t host, const struct wf_managed_mad *mad,
                     wf_time now);

/* The host's port is, or is not, one with a manager: PortInfo:IsSM, which issm sets. */
void wf_managed_set_is_sm(struct wf_managed *m, uint32_t host, bool on, wf_time now);

/*
 * The hosts that are in a multicast group, for all managers of weft's: as if each had joined it at
 * now, while the simulation stands. n 0: it is gone. Returns 0, -EINVAL when mlid is no multicast
 * LID, or -ENOMEM.
 */
int wf_managed_set_group(struct wf_managed *m, uint16_t mlid, const uint32_t *hosts, uint32_t n,
                         wf_time now) WF_MUST_USE;

/* What the simulation is to be given. */
const struct wf_sim_manager *wf_managed_manager(struct wf_managed *m);

/* While no node runs. */
void wf_managed_result(const struct wf_managed *m, struct wf_managed_result *result);

/*
 * While no node runs: whether management is under way, so that there will be more of it without
 * anybody doing something: a manager sweeps, or MADs wait for who is to answer them. What is on a
 * wire is not looked at.
 */
bool wf_managed_is_busy(const struct wf_managed *m);

/* How often something of a host's port has changed, as management sees it: grows. */
uint32_t wf_managed_changes(const struct wf_managed *m);

/* What has, since this was last asked: bits of enum wf_sma_change. */
unsigned wf_managed_take_changes(struct wf_managed *m, uint32_t host);

/* The agent of a node of the topology, to look at; the manager of a host, or NULL. */
const struct wf_sma *wf_managed_sma(const struct wf_managed *m, uint32_t node);
const struct wf_sm *wf_managed_sm(const struct wf_managed *m, uint32_t host);
const struct wf_sa *wf_managed_sa(const struct wf_managed *m, uint32_t host); /* its manager's */

#endif
