/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.h - trees of switches in which what hosts send is put together on its way.
 *
 * A tree is grown from a root over shortest paths: each switch has one parent, a link nearer to the
 * root. A group of hosts needs the part of it that joins them; what is above the lowest switch that
 * has all of them below it is cut off.
 *
 *	       spine        the root; two children, by two of its ports
 *	      /     \
 *	  leaf0     leaf1   children: hosts, or switches further down
 *	  /  \      /  \
 *	 h0  h1    h4  h5
 */
#ifndef WF_TOPO_REDUCE_H
#define WF_TOPO_REDUCE_H

#include "topo/topo.h"

#define WF_REDUCE_FAR UINT8_MAX /* level of what a root does not reach over switches */

/* A switch of a tree. */
struct wf_reduce_node {
	uint32_t id;         /* in the topology */
	uint32_t parent;     /* in the tree's nodes; WF_TOPO_NONE: it is the root */
	uint32_t first_down; /* in the tree's down: its ports to its children, ascending */
	uint16_t n_down;
	uint16_t up; /* its port to its parent; 0 at the root */
};

struct wf_reduce_tree {
	struct wf_mem *mem;
	struct wf_reduce_node *nodes;
	uint16_t *down;
	uint32_t n_nodes;
};

/*
 * The links between each switch and root, over switches alone, into level[n_nodes]; hosts, and what
 * is not reached in fewer, are WF_REDUCE_FAR. queue has room for n_nodes.
 */
void wf_reduce_levels(const struct wf_topo *topo, uint32_t root, uint8_t *level, uint32_t *queue);

/*
 * The tree of n hosts (1 or more, each once, with one port) for a root's levels. Where several
 * links lead nearer to the root, pick says which is taken, counted round. On success *tree_p is
 * owned by the caller. Returns 0, -ENOMEM, or -EHOSTUNREACH when the root does not reach a host's
 * switch.
 */
int wf_reduce_tree_create(const struct wf_topo *topo, const uint32_t *hosts, uint32_t n,
                          const uint8_t *level, uint32_t pick, struct wf_mem *mem,
                          struct wf_reduce_tree **tree_p) WF_MUST_USE;

/* NULL is allowed. */
void wf_reduce_tree_destroy(struct wf_reduce_tree *tree);

#endif
