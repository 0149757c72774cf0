/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.h - minimal paths: for every switch and destination, the ports that lie on a shortest
 * path.
 *
 * Hosts behind one switch (their leaf) share their routes, so the tables are indexed by leaf:
 *
 *	leaf = routes->leaf_of_host[dst];
 *	if (sw->leaf == leaf)	out = routes->port_of_host[dst];
 *	else			set = sw->set_of_leaf[leaf];
 *				out = one of sw->ports[sw->sets[set].first ... + n)
 *
 * Where several links run between two neighbours, each is a port of the set. Ports of a set are in
 * ascending order. A leaf that cannot be reached (links down) has the empty set, which is set 0 of
 * every switch, as has a switch's own leaf. Shortest counts links; a global link of a dragonfly
 * counts as three, so that minimal paths cross one of them and not two. leaf_of_host and
 * port_of_host stay what they are when a host's own link is down.
 *
 * Where hosts have several ports, a "leaf" is not a switch but what hosts have in common that are
 * reached by the same switches: those to which their links are up, or would be where none is. A set
 * then lies on shortest paths to any of these, and a switch that has a link to the host itself, by
 * wf_routes_links(), goes no further:
 *
 *	links = wf_routes_links(routes, dst, &n);
 *	some of links[0 ... + n) are of this switch?	out = the port of one of them
 *	else						as above; sw->leaf is WF_TOPO_NONE
 *
 * Or each of a host's ports is a destination by itself, as on InfiniBand: its address is the number
 * of the port times the number of hosts, and the host's, so that the first one's is the host's own.
 * What is said of hosts above is then true of addresses, each of which has one port.
 */
#ifndef WF_TOPO_ROUTES_H
#define WF_TOPO_ROUTES_H

#include "topo/topo.h"

struct wf_route_set {
	uint32_t first; /* into the switch's ports */
	uint32_t n;
};

struct wf_route_switch {
	uint32_t leaf; /* its leaf number; WF_TOPO_NONE without hosts, or where these have ports */
	uint32_t n_sets;
	uint16_t *set_of_leaf; /* n_leaves of them */
	struct wf_route_set *sets;
	uint16_t *ports;
	uint16_t *lft; /* by host: the one port, see wf_routes_fill_lft(); else NULL */
};

/* A link to a host, at its switch. */
struct wf_route_link {
	uint32_t node;
	uint16_t port;
};

struct wf_routes {
	struct wf_mem *mem;
	uint32_t n_leaves;
	uint32_t n_dests; /* hosts, or addresses */
	uint32_t *leaf_of_host;
	uint16_t *port_of_host;           /* on its leaf; the first one's, of several */
	struct wf_route_link *links;      /* NULL: hosts have one port */
	uint32_t *first_link;             /* host -> its first in links; one more at the end */
	struct wf_route_switch *switches; /* by node id; zeroes for hosts */
	uint16_t *lft;                    /* of all switches; NULL before wf_routes_fill_lft() */
};

/*
 * Computes the routes over all links for which down[link] is 0 (down NULL: all are up). On success
 * *routes_p is owned by the caller. Returns 0, -ENOMEM, or -EOVERFLOW when a switch would have more
 * than 65,536 different sets. Time: about (leaves x links) / 64 word operations for each tier; a
 * three-tier fat tree of 16,384 hosts takes some 15 ms.
 */
int wf_routes_create(const struct wf_topo *topo, const uint8_t *down, struct wf_mem *mem,
                     struct wf_routes **routes_p) WF_MUST_USE;

/* The same where each port of a host is a destination by itself. */
int wf_routes_create_by_port(const struct wf_topo *topo, const uint8_t *down, struct wf_mem *mem,
                             struct wf_routes **routes_p) WF_MUST_USE;

/* The links by which a host is reached, where hosts have several ports. */
static inline const struct wf_route_link *wf_routes_links(const struct wf_routes *routes,
                                                          uint32_t host, uint32_t *n_p)
{
	*n_p = routes->first_link[host + 1] - routes->first_link[host];
	return routes->links + routes->first_link[host];
}

/*
 * Fills in one port for each destination, d-mod-k on any graph (lft.c), once. A switch's own hosts
 * and those it cannot reach have port 0, which means nothing. Hosts have one port, or an address
 * for each. Returns 0 or -ENOMEM. Time: switches x hosts; a three-tier fat tree of 16,384 hosts
 * takes some 100 ms.
 */
int wf_routes_fill_lft(struct wf_routes *routes, const struct wf_topo *topo) WF_MUST_USE;

/* Frees routes. NULL is allowed. */
void wf_routes_destroy(struct wf_routes *routes);

#endif
