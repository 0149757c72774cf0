/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcast.h - datagrams to a multicast group: some hosts send, its members receive.
 *
 * Each sender has one UD queue pair and sends its datagrams one every so often, or as fast as the
 * port lets it. Each member has one that is attached to the group. A host that is both does not
 * get its own. Datagrams say whose they are and their number (as immediate data), so that a member
 * knows which it got, and how often. The group is the manager's to set up.
 */
#ifndef WF_SIM_PROG_MCAST_H
#define WF_SIM_PROG_MCAST_H

#include "sim/prog/app.h"

struct wf_mcast_cfg {
	uint16_t group;          /* its LID */
	const uint32_t *senders; /* hosts; both borrowed until create returns */
	const uint32_t *members;
	uint32_t n_senders, n_members;
	uint32_t datagrams; /* of each sender */
	uint32_t size;      /* bytes of each, at most the MTU */
	uint8_t cls;        /* service level */
	wf_time start;      /* of the first */
	wf_time every;      /* from one to the next; 0: as fast as they leave */
	bool data;          /* they have contents, which members look at */
};

struct wf_mcast;

/* On success *mcast_p is owned by the caller, for longer than the simulation. 0 or -ENOMEM. */
int wf_mcast_create(const struct wf_mcast_cfg *cfg, uint32_t n_hosts,
                    struct wf_mcast **mcast_p) WF_MUST_USE;
void wf_mcast_destroy(struct wf_mcast *mcast); /* NULL is allowed */

/* What the simulation is to be given; it ends when all members have all of the others'. */
void wf_mcast_app(struct wf_mcast *mcast, struct wf_sim_app *app);

/* How often a member got a datagram of a sender, by their places in the lists. */
uint32_t wf_mcast_got(const struct wf_mcast *mcast, uint32_t member, uint32_t sender,
                      uint32_t number);

/* Datagrams that came with contents that are not theirs. */
uint64_t wf_mcast_spoilt(const struct wf_mcast *mcast);

#endif
