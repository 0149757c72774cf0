/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route_priv.h - what routing engines and analysis share: the switches as a graph of their own, the
 * ports that are ends of paths, hops, and spreading ends over equal ports.
 */
#ifndef WF_SUBNET_ROUTE_PRIV_H
#define WF_SUBNET_ROUTE_PRIV_H

#include "subnet/route.h"

#define WF_HOPS_NONE 255 /* no way */
#define WF_HOPS_MAX 254

/* The table of engines, the only place that names them all. */
#define WF_SM_ROUTES(X)                                                                            \
	X(minhop)                                                                                  \
	X(updn)                                                                                    \
	X(ftree)                                                                                   \
	X(dfsssp)

#define WF_SM_ROUTE_DECLARE(name) extern const struct wf_sm_route_ops wf_sm_route_##name;
WF_SM_ROUTES(WF_SM_ROUTE_DECLARE)
#undef WF_SM_ROUTE_DECLARE

/*
 * Lists the ports that are ends in OpenSM's order; the caller owns *ends_p. Returns 0 or -ENOMEM.
 */
int wf_sm_order_ends(const struct wf_subnet *subnet, uint32_t **ends_p, uint32_t *n_p) WF_MUST_USE;

/* A link from one switch to another. */
struct wf_sm_edge {
	uint32_t to; /* which of the switches */
	uint8_t port, to_port;
};

/* Where packets go to. */
struct wf_sm_end {
	uint32_t index; /* into the subnet's ports */
	uint32_t sw;    /* the switch that it is, or is connected to */
	uint16_t lid;
	uint8_t lmc;
	uint8_t port; /* of that switch; 0: it is the switch itself */
};

struct wf_sm_net {
	const struct wf_subnet *subnet;
	struct wf_mem *mem;
	uint32_t n;               /* switches */
	uint32_t *first;          /* by switch: edges[first[sw] .. first[sw + 1]), by port number */
	struct wf_sm_edge *edges; /* links that packets pass; none from a switch to itself */
	uint32_t *order;          /* switches in OpenSM's order */
	struct wf_sm_end *ends;   /* in OpenSM's order; those with a LID, at a switch */
	uint32_t n_ends;
	unsigned max_lmc;
};

/* Returns 0 or -ENOMEM. */
int wf_sm_net_init(struct wf_sm_net *net, const struct wf_subnet *subnet) WF_MUST_USE;
void wf_sm_net_fini(struct wf_sm_net *net);

static inline const struct wf_subnet_node *wf_sm_node(const struct wf_sm_net *net, uint32_t sw)
{
	return &net->subnet->nodes[net->subnet->switches[sw]];
}

/*
 * Ways to each switch: hops, and which neighbours are on them. Where falls is there, a switch
 * either has a way down all along, or may go up first.
 */
struct wf_sm_ways {
	const struct wf_sm_net *net;
	uint8_t *hops;        /* [to * n + from], WF_HOPS_NONE */
	uint8_t *falls;       /* [to * n + from]: down all along; NULL: any way will do */
	const uint32_t *rank; /* by switch, with falls: 0 is highest */
};

/* The least hops between all switches. Returns 0 or -ENOMEM; undone by wf_sm_ways_fini(). */
int wf_sm_ways_init(struct wf_sm_ways *ways, const struct wf_sm_net *net) WF_MUST_USE;

/* The least hops that never go up after having gone down; borrows rank. */
int wf_sm_ways_init_updn(struct wf_sm_ways *ways, const struct wf_sm_net *net,
                         const uint32_t *rank) WF_MUST_USE;
void wf_sm_ways_fini(struct wf_sm_ways *ways);

/* Whether a packet that goes from switch a to its neighbour b goes up. */
bool wf_sm_is_up(const struct wf_sm_net *net, const uint32_t *rank, uint32_t a, uint32_t b);

/* Lists the edges of from that are on the shortest ways to to; returns how many. */
unsigned wf_sm_ways_list(const struct wf_sm_ways *ways, uint32_t from, uint32_t to,
                         const struct wf_sm_edge *list[WF_SUBNET_MAX_PORTS]);

/*
 * Ranks switches by their distance from those that have rank 0 already; the others are UINT32_MAX,
 * and so remain those that cannot be reached. Returns 0 or -ENOMEM.
 */
int wf_sm_rank_down(const struct wf_sm_net *net, uint32_t *rank) WF_MUST_USE;

/* Gives rank 0 to the switches that cfg names as roots; returns how many there are. */
uint32_t wf_sm_take_roots(const struct wf_sm_net *net, const struct wf_sm_route_cfg *cfg,
                          uint32_t *rank);

/*
 * Fills tables: each switch shares ends out over its ports on shortest ways, in turn to the one
 * with the fewest so far. Returns 0 or -ENOMEM.
 */
int wf_sm_spread(const struct wf_sm_ways *ways, struct wf_tables *tables) WF_MUST_USE;

#endif
