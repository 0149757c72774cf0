/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sa.h - subnet administration: what a subnet manager knows, for whoever asks; multicast groups,
 * services, and reports of what happens.
 *
 *   MAD    wf_sa_rx()     ->  +-------+  ->  wf_sa_tx()        MAD
 *   time   wf_sa_tick()   ->  | wf_sa |  ->  wf_sa_deadline()  time
 *   subnet wf_sa_event()  ->  +-------+  ->  wf_sm_set_group() trees of multicast groups
 *
 * Without I/O. MADs are those of class 3 at queue pair 1 of the manager's port; answers of any
 * length go out in segments (RMPP), as GetMulti requests come in. What is answered, and what is
 * refused with which status, is as with OpenSM 3.3.23; docs/validation.md says where it differs.
 *
 *   NodeRecord PortInfoRecord SwitchInfoRecord GUIDInfoRecord     the graph, as the last sweep
 *   LinkRecord SMInfoRecord                                       has set it up (nodes.c)
 *   LinearForwardingTableRecord MulticastForwardingTableRecord    tables (tables.c)
 *   PKeyTableRecord SLtoVLMappingTableRecord VLArbitrationTableRecord
 *   PathRecord MultiPathRecord                                    path.c, query.c
 *   MCMemberRecord                                                groups.c, member.c
 *   ServiceRecord                                                 service.c
 *   InformInfo InformInfoRecord, and reports                      inform.c
 *
 * As long as the manager is not master, or has not set its subnet up once, nothing is answered
 * (C15-0.1.3). A requester sees what it shares a partition with. Requests with a key other than
 * the manager's SM_Key or 0 are dropped; those with it are trusted: they see who is in a group,
 * keys of services and of ports, and subscribe to traps of security.
 *
 * What clients have registered belongs to their port: it goes with it, and all of it when another
 * manager becomes master, which then has ports tell their clients (ClientReregister).
 */
#ifndef WF_MGMT_SA_SA_H
#define WF_MGMT_SA_SA_H

#include "mgmt/mux.h"
#include "mgmt/sm/sm.h"

struct wf_sa;

struct wf_sa_stats {
	uint64_t asked, answered; /* requests, and answers to them */
	uint64_t refused;         /* answered with a status */
	uint64_t ignored;         /* not master, a wrong key, nobody known, no such attribute */
	uint64_t records;         /* in answers */
	uint64_t reports, reports_lost; /* sent; not acknowledged, or not sent for want of memory */
	uint32_t groups, members, services, subscriptions; /* that there are */
};

/* On success *sa_p is owned by the caller, and sm must outlive it. Returns 0 or -ENOMEM. */
int wf_sa_create(struct wf_sm *sm, struct wf_mem *mem, struct wf_sa **sa_p) WF_MUST_USE;

/* Frees it, without a word to anybody. NULL is allowed. */
void wf_sa_destroy(struct wf_sa *sa);

/* A MAD of WF_MAD_LEN bytes came to queue pair 1; any bytes are allowed. */
void wf_sa_rx(struct wf_sa *sa, const struct wf_mux_addr *from, const uint8_t *mad, wf_time now);

/* The next MAD to be sent; false: there is none now. Answers may be long: call it as it goes. */
bool wf_sa_tx(struct wf_sa *sa, wf_time now, struct wf_mux_packet *packet_p);

/* wf_sa_tx() has something. */
bool wf_sa_has_tx(const struct wf_sa *sa);

/*
 * When wf_sa_tick() is due. Both it and wf_sa_rx() may give the manager work: wf_sm_tx() may have
 * something afterwards.
 */
wf_time wf_sa_deadline(const struct wf_sa *sa);
void wf_sa_tick(struct wf_sa *sa, wf_time now);

/* What the manager told: all of its events have to be passed on, from within. */
void wf_sa_event(struct wf_sa *sa, const struct wf_sm_event *event);

void wf_sa_stats(const struct wf_sa *sa, struct wf_sa_stats *stats_p);

#endif
