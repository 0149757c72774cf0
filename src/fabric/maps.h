/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.h - what an Ethernet device makes of a packet and of a pause frame, as its maps say.
 *
 *	a packet:       DSCP, 802.1p, port --> traffic class --> priority group (where it is kept)
 *	                                                     --> queue (by which it leaves)
 *	a pause frame:  priority --> queue that stops
 *	                priority <-- priority group that is full
 *
 * Groups, queues and priorities have the same numbers, and a device's lanes stand for all three:
 * lane p is what belongs to priority p. A packet carries the class that its sender gave it and a
 * mark, which says what its DSCP is: with mark 0 what its class has anyway (wf_wire_dscp()), with
 * any other a row of the table that all devices of a fabric share.
 */
#ifndef WF_FABRIC_MAPS_H
#define WF_FABRIC_MAPS_H

#include "fabric/classes.h"

#define WF_PRIORITIES 8
#define WF_DSCPS 64
#define WF_MARKS 16 /* of a fabric's packets, 0 with them */
#define WF_NO_LANE 0xff

/* The maps of a device or port, from their text. */
struct wf_maps {
	bool same; /* every map leaves a packet in the class that it came in */
	enum { WF_TRUST_DSCP, WF_TRUST_PCP, WF_TRUST_PORT } trust;
	uint8_t port_tc;
	uint8_t dscp_tc[WF_DSCPS];
	uint8_t pcp_tc[WF_PRIORITIES];
	uint8_t tc_queue[WF_PRIORITIES]; /* priorities that stand for queues and groups */
	uint8_t tc_pg[WF_PRIORITIES];
	uint8_t pfc_queue[WF_PRIORITIES]; /* of the priorities in pfc_rx */
	uint8_t pfc_pg[WF_PRIORITIES];
	uint8_t pfc_tx, pfc_rx; /* masks of priorities */
	/* of a host's adapter */
	bool marks;                  /* its packets are not marked with 8 times their class */
	uint8_t dscp[WF_PRIORITIES]; /* by class */
	uint8_t cnp_dscp;            /* WF_DSCPS: by class */
	unsigned used;               /* mask of the priorities whose lanes the maps name */
};

/*
 * Compiles the maps of cfg; classes are its own. Returns 0, or -EINVAL with a message in err that
 * begins with the parameter's name.
 */
int wf_maps_parse(const struct wf_fabric_cfg *cfg, const struct wf_classes *classes,
                  struct wf_maps *maps, struct wf_err *err) WF_MUST_USE;

/* The fields of a packet that ECMP hashes. */
enum { WF_HASH_SRC = 1, WF_HASH_DST = 2, WF_HASH_SPORT = 4, WF_HASH_ALL = 7 };

/* Reads hash.fields. Returns as above. */
int wf_hash_parse(const char *text, unsigned *fields_p, struct wf_err *err) WF_MUST_USE;

#endif
