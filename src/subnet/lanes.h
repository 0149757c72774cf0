/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - the channel dependency graph of forwarding tables: which link, on which virtual lane, a
 * packet on another waits for. A circle in it is a credit loop.
 *
 * Only links between switches are in it: nothing waits for a link from an adapter, and an adapter
 * takes in all that comes to it. Paths are those from switches with adapters to adapters' LIDs.
 */
#ifndef WF_SUBNET_LANES_H
#define WF_SUBNET_LANES_H

#include "subnet/route_priv.h"

/* The ways of all switches to one LID. */
struct wf_ways_to {
	const struct wf_sm_net *net;
	const struct wf_tables *tables;
	uint32_t *edge_of; /* by the subnet's port: the edge that begins there, or WF_SUBNET_NONE */
	uint32_t *out;     /* by switch: the edge by which it sends, or WF_SUBNET_NONE */
	uint32_t *inputs;  /* by switch: others that send to it, and are not in order */
	uint32_t *order;   /* switches, each behind all that send to it */
	uint32_t n_order;  /* those that are in a loop are not in it */
};

/* Returns 0 or -ENOMEM; undone by wf_ways_to_fini(). Borrows net and tables. */
int wf_ways_to_init(struct wf_ways_to *ways, const struct wf_sm_net *net,
                    const struct wf_tables *tables) WF_MUST_USE;
void wf_ways_to_fini(struct wf_ways_to *ways);
void wf_ways_to_find(struct wf_ways_to *ways, unsigned lid);

/* The edge by which a switch sends to any LID, or WF_SUBNET_NONE. */
uint32_t wf_ways_to_edge(const struct wf_ways_to *ways, uint32_t sw, unsigned lid);

/* What waits for what, on one lane. */
struct wf_cdg {
	const struct wf_sm_net *net;
	struct wf_ways_to ways;
	/* By edge: uses[first[edge] + k] paths go on from it by the k-th edge of where it leads. */
	size_t *first;
	uint32_t *uses;
	uint32_t *hosts;   /* by switch: LIDs of adapters at it */
	uint32_t *sources; /* by switch: paths through it to the LID at hand */
	/* Of the search for circles. */
	uint8_t *colour; /* by edge */
	uint32_t *stack; /* edges from where it began to where it is */
	uint32_t *next;  /* by place in stack: which successor comes next */
	uint32_t depth;
	uint32_t start; /* all edges before it have been searched */
};

/* Returns 0 or -ENOMEM; undone by wf_cdg_fini(). Borrows all. */
int wf_cdg_init(struct wf_cdg *cdg, const struct wf_sm_net *net,
                const struct wf_tables *tables) WF_MUST_USE;
void wf_cdg_fini(struct wf_cdg *cdg);

/*
 * Counts the paths of one lane. lane_of: by switch and LID as in tables, which lane a path has;
 * NULL: all have the same. Returns how many there are.
 */
uint64_t wf_cdg_count(struct wf_cdg *cdg, const uint8_t *lane_of, uint8_t lane);

/*
 * Finds a circle, from where the last search ended: circle[0 .. n - 1] are edges, each of which
 * waits for the next, and the last for the first. Returns n; 0: there is none. circle has room for
 * all edges.
 */
uint32_t wf_cdg_circle(struct wf_cdg *cdg, uint32_t *circle);

/* How many paths go from edge a to edge b, its successor. */
uint32_t *wf_cdg_uses(const struct wf_cdg *cdg, uint32_t a, uint32_t b);

/*
 * Gives each path of tables one of vls lanes, so that none has a circle: tables->sl and n_vls.
 * Returns 0; -EINVAL where they are too few, with at least how many are needed in *needed_p; or
 * -ENOMEM.
 */
int wf_lanes_assign(const struct wf_sm_net *net, struct wf_tables *tables, unsigned vls,
                    unsigned *needed_p) WF_MUST_USE;

#endif
