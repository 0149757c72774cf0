/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - which of the minimal ports a packet takes.
 */
#ifndef WF_FABRIC_ROUTE_ROUTE_H
#define WF_FABRIC_ROUTE_ROUTE_H

#include <stdbool.h>

#include "base/base.h"
#include "wire/packet.h"

struct wf_switch;

struct wf_route_ops {
	const char *name; /* "ecmp" */
	const char *help; /* one line */
	bool reorders;    /* packets of one flow may take different paths */
	bool any_ports;   /* the ports need not be those of the fabric's own routes */
	/* Picks one of the n >= 1 ports for pkt, which is not for a host of this switch. */
	unsigned (*pick)(struct wf_switch *sw, const uint16_t *ports, unsigned n,
	                 const struct wf_packet *pkt, wf_time now);
};

/* What graded needs of a switch whose ports are known. Returns 0 or -ENOMEM. */
struct wf_shard;
int wf_grades_create(struct wf_switch *sw, struct wf_shard *shard) WF_MUST_USE;

/* The table of all algorithms; ends with NULL. */
const struct wf_route_ops *const *wf_route_all(void);

/* The one called name, or NULL. */
const struct wf_route_ops *wf_route_find(const char *name);

extern const struct wf_route_ops wf_route_lft;
extern const struct wf_route_ops wf_route_ecmp;
extern const struct wf_route_ops wf_route_hashed; /* ecmp, where hash.fields leaves some out */
extern const struct wf_route_ops wf_route_adaptive;
extern const struct wf_route_ops wf_route_graded; /* adaptive, where adaptive.* are set */
extern const struct wf_route_ops wf_route_spray;
extern const struct wf_route_ops wf_route_source;

#endif
