/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - routing engines: from a subnet's graph to its forwarding tables.
 *
 * They do what OpenSM's engines of the same names do, in the same order, so that the load of links
 * comes out alike. Only links between ports that are not down count. Each is a function of the graph
 * and its configuration: the same tables every time.
 */
#ifndef WF_SUBNET_ROUTE_H
#define WF_SUBNET_ROUTE_H

#include "base/err.h"
#include "subnet/tables.h"

#define WF_SM_MAX_VLS 15
#define WF_SM_ROUTE_NAME 16

struct wf_sm_route_cfg {
	const uint64_t *roots; /* node GUIDs of updn's and ftree's highest switches; NULL: found */
	uint32_t n_roots;
	unsigned vls; /* dfsssp: virtual lanes that there are, 1 to WF_SM_MAX_VLS; 0: 8 */
};

struct wf_sm_route_ops {
	const char *name;    /* "minhop" */
	const char *help;    /* one line */
	bool no_credit_loop; /* promises that there is none */
	/*
	 * Fills tables, which have no entry. Returns 0, -EINVAL with err filled where the subnet is
	 * none that it can route, or -ENOMEM.
	 */
	int (*route)(const struct wf_subnet *subnet, const struct wf_sm_route_cfg *cfg,
	             struct wf_tables *tables, struct wf_err *err);
};

/* The table of all engines; ends with NULL. */
const struct wf_sm_route_ops *const *wf_sm_route_all(void);

/* The engine called name, or NULL. */
const struct wf_sm_route_ops *wf_sm_route_find(const char *name);

/* Their names, for parameters; ends with NULL. */
extern const char *const wf_sm_route_names[];

/*
 * Makes the tables of a subnet whose ports have LIDs. Where the engine cannot, minhop does, as
 * with OpenSM, and tables->note says why; strict: -EINVAL instead, with err filled. On success
 * *tables_p is owned by the caller. Returns 0, -EINVAL or -ENOMEM.
 */
int wf_sm_route(const struct wf_subnet *subnet, const struct wf_sm_route_ops *ops,
                const struct wf_sm_route_cfg *cfg, bool strict, struct wf_tables **tables_p,
                struct wf_err *err) WF_MUST_USE;

#define WF_MFT_WORDS 4 /* of 64 bits: a bit for each port of a switch */

/*
 * The spanning tree of a multicast group, as OpenSM builds it: from the switch that is nearest to
 * the members on average, along the least hops. members are indices into ports. Sets in mft
 * [sw * WF_MFT_WORDS] the ports by which each switch sends the group's packets on (all it had is
 * cleared), and *root_p, the root's node id, WF_SUBNET_NONE with less than two members. Members that
 * cannot be reached are left out; *left_p says how many. Returns 0 or -ENOMEM.
 */
int wf_sm_mcast_tree(const struct wf_subnet *subnet, const uint32_t *members, uint32_t n_members,
                     uint64_t *mft, uint32_t *root_p, uint32_t *left_p) WF_MUST_USE;

#endif
