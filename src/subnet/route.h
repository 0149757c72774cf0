/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - routing engines: from a subnet's graph to its forwarding tables.
 *
 * They do what OpenSM's engines of the same names do, in the same order, so that the load of links
 * comes out alike. Only links between ports that are not down count. Each is a function of the
 * graph and its configuration: the same tables every time.
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

/* What the trees of all multicast groups of a subnet have in common. */
struct wf_sm_trees;

/* On success *trees_p is owned by the caller; borrows the subnet. Returns 0 or -ENOMEM. */
int wf_sm_trees_create(const struct wf_subnet *subnet, struct wf_sm_trees **trees_p) WF_MUST_USE;

/* Frees it. NULL is allowed. */
void wf_sm_trees_destroy(struct wf_sm_trees *trees);

/* What came of a group. */
struct wf_sm_tree {
	uint32_t root; /* node id of the switch in its middle; WF_SUBNET_NONE: there is no tree */
	uint32_t left; /* members that cannot be reached, and are left out */
};

/*
 * The spanning tree of a multicast group, as OpenSM builds it: from the switch whose farthest
 * member is nearest, along the least hops, by the lowest port. members are indices into the
 * subnet's ports: adapters' ports and switches' ports 0. Sets in mft[sw * WF_MFT_WORDS] the ports
 * by which each switch sends the group's packets on; what was in it is cleared. Fewer than two
 * members need none.
 */
void wf_sm_trees_build(struct wf_sm_trees *trees, const uint32_t *members, uint32_t n_members,
                       uint64_t *mft, struct wf_sm_tree *tree);

#endif
