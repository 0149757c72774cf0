/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - adaptive routing in a managed fabric: the port of a LID's group that routing picks.
 *
 *	DLID --> forwarding table --> its port --------------------------------------> out
 *	                    |                                                           ^
 *	                    +--> group of the LID, if any --> ports that are active --> routing
 *
 * Ports that are not active are left out as soon as they are not; where none is left the forwarding
 * table's port is taken, as for LIDs without a group, and for management packets.
 */
#ifndef WF_FABRIC_GROUPS_H
#define WF_FABRIC_GROUPS_H

#include "fabric/station.h"

#define WF_PORT_GROUPS 254 /* of a switch, at the most */

/* A switch's. What a manager has set is borrowed. */
struct wf_port_groups {
	const uint8_t *of; /* by LID: number of its group; 0: none */
	uint32_t n_of;
	const uint64_t (*ports)[WF_STATION_WORDS]; /* of group i + 1; port 0 is the switch's own */
	unsigned n;
	bool on;
	bool stale;                     /* open is to be found anew */
	uint16_t *open[WF_PORT_GROUPS]; /* those ports that are active, as indices */
	uint16_t n_open[WF_PORT_GROUPS];
};

/* A switch of a managed fabric can have groups from now on. Returns 0 or -ENOMEM. */
int wf_port_groups_create(struct wf_station *st) WF_MUST_USE;

/*
 * A manager has set that: the members of set that are borrowed, and on. Without memory the run
 * ends.
 */
void wf_port_groups_set(struct wf_station *st, const struct wf_port_groups *set);

/* By which port a packet leaves, or what wf_station_way() says. */
uint32_t wf_port_groups_way(struct wf_switch *sw, const struct wf_packet *pkt, wf_time now);

#endif
