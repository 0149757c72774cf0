/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo_priv.h - what the files of topo share: a graph under construction, the tree that several
 * kinds are, and the words of a text file.
 */
#ifndef WF_TOPO_TOPO_PRIV_H
#define WF_TOPO_TOPO_PRIV_H

#include "topo/topo.h"

#define WF_TOPO_MAX_NODES (UINT32_C(1) << 20)
#define WF_TOPO_MAX_LINKS (UINT32_C(1) << 22)
#define WF_TOPO_SECTION "topology" /* what a message about a built topology begins with */

/*
 * The table of kinds, the only place that names them all: the row X(rail, "rail") is what
 * wf_topo_rail builds, in a file of its own, and what a scenario calls it. Declarations, the list
 * and the names that topology.kind may have are made from it.
 */
#define WF_TOPO_KINDS(X)                                                                           \
	X(auto, "auto")                                                                            \
	X(single, "single")                                                                        \
	X(leaf_spine, "leaf-spine")                                                                \
	X(fat_tree, "fat-tree")                                                                    \
	X(rail, "rail")                                                                            \
	X(dragonfly, "dragonfly")                                                                  \
	X(hpcc, "hpcc")                                                                            \
	X(htsim, "htsim")                                                                          \
	X(ibnetdiscover, "ibnetdiscover")

#define WF_TOPO_DECLARE(id, text) extern const struct wf_topo_ops wf_topo_##id;
WF_TOPO_KINDS(WF_TOPO_DECLARE)
#undef WF_TOPO_DECLARE

/* What one kind of link is like. */
struct wf_wire {
	uint64_t rate; /* bits/s */
	wf_time delay;
	uint64_t loss; /* chance, in units of 2^-32 */
	unsigned line;
};

/* The wires of a configuration: to hosts, between switches, to the core or between groups. */
struct wf_wires {
	struct wf_wire host;
	struct wf_wire fabric;
	struct wf_wire core;
};

/* Ports of a switch. 0: the fewest that do, which is also what auto means if nothing else says. */
static inline uint32_t wf_topo_radix(const struct wf_topo_cfg *cfg)
{
	return cfg->radix == WF_PARAM_AUTO ? 0 : wf_narrow_u32(cfg->radix);
}

void wf_wires_init(struct wf_wires *wires, const struct wf_topo_cfg *cfg);

/* Where the ports of a host lead. */
enum wf_homing {
	WF_HOMING_SAME,   /* to one leaf */
	WF_HOMING_PAIR,   /* to leaves that have the same hosts */
	WF_HOMING_PLANES, /* each to a network of its own */
};

#define WF_HOMING_BIT(homing) (1u << (homing))

extern const char *const wf_homing_names[]; /* in that order; ends with NULL */

/* How the hosts of a configuration are connected. */
struct wf_homed {
	enum wf_homing homing;
	uint32_t ports;      /* of a host */
	uint32_t leaf_ports; /* of a host, on one leaf */
	uint32_t twins;      /* leaves that have the same hosts */
	uint32_t planes;     /* networks that do not meet */
};

/*
 * Reads it off cfg, for a kind that can build those homings whose bits are in can (0: its hosts
 * have one port). Returns 0, or -EINVAL with err filled.
 */
int wf_homed_init(struct wf_homed *homed, const struct wf_topo_cfg *cfg, const char *kind,
                  unsigned can, struct wf_err *err) WF_MUST_USE;

/*
 * A graph under construction: nodes first, then links. The ports of a node are numbered in the
 * order in which its links are added.
 */
struct wf_graph {
	struct wf_topo *topo;
	uint32_t max_nodes;
	uint32_t max_links;
};

/*
 * Starts a graph of exactly nodes nodes and links links. Returns 0, -EINVAL with err filled when
 * that is more than a topology may have (name is for the message), or -ENOMEM. End with
 * wf_graph_finish() or wf_graph_abort().
 */
int wf_graph_init(struct wf_graph *graph, uint64_t nodes, uint64_t links, const char *name,
                  struct wf_mem *mem, struct wf_err *err) WF_MUST_USE;

/* Adds the next host, called h<node id>, and returns its node id. */
uint32_t wf_graph_add_host(struct wf_graph *graph, uint32_t server, uint32_t group);

/* Adds a switch called <word><i>, or <word><i><word2><j> if word2 is not NULL; its node id. */
uint32_t wf_graph_add_switch(struct wf_graph *graph, uint8_t tier, uint32_t group, const char *word,
                             uint32_t i, const char *word2, uint32_t j);

/* Puts <word><i>- before, or -<word><i> behind, the name of a node. */
void wf_graph_name_before(struct wf_graph *graph, uint32_t id, const char *word, uint32_t i);
void wf_graph_name_behind(struct wf_graph *graph, uint32_t id, const char *word, uint32_t i);

/* Adds a link between two nodes, each of which must have a port number left. */
void wf_graph_add_link(struct wf_graph *graph, uint32_t a, uint32_t b, const struct wf_wire *wire);

/* Lays out the ports. Nothing can be added after it. */
void wf_graph_lay_out(struct wf_graph *graph);

/*
 * Lays out the ports, checks that the graph closes and hands it over: on success *topo_p is owned
 * by the caller, on failure all is freed. name is for messages. Returns 0, -EINVAL with err filled,
 * or -ENOMEM.
 */
int wf_graph_finish(struct wf_graph *graph, const char *name, struct wf_topo **topo_p,
                    struct wf_err *err) WF_MUST_USE;

/* Frees a graph that was not finished. */
void wf_graph_abort(struct wf_graph *graph);

/*
 * Derives tier (hops to the nearest host) and group (what stays together without the top tier) for
 * a graph that was read rather than built. Call it after wf_graph_lay_out(). Returns 0 or -ENOMEM.
 */
int wf_locality_derive(struct wf_topo *topo) WF_MUST_USE;

/*
 * Two or three tiers of switches. The units of leaves (one leaf, or one rail group) are shared out
 * evenly over the pods; a leaf has agg_bundle links to each of the aggs of its pod; agg i of a pod
 * has core_bundle links to each of the cores i, aggs + i, 2 aggs + i, ... Hosts with several ports
 * have them on one leaf, on the twins of a leaf, or on several such networks.
 */
struct wf_tree {
	uint32_t hosts;
	struct wf_homed homed;
	uint32_t leaf_hosts; /* of a leaf, of each of its rails; the last ones may have fewer */
	uint32_t rails;      /* NICs of a server, or 1 */
	uint32_t leaf_rails; /* rails that share a leaf; with its twins, a unit has all of them */
	uint32_t units;      /* of leaves */
	uint32_t tiers;      /* 2 or 3 */
	uint32_t pods;       /* 1 with 2 tiers */
	uint32_t aggs;       /* of a pod; the spines with 2 tiers */
	uint32_t agg_bundle;
	uint32_t cores; /* for each of a pod's aggs; 0 with 2 tiers */
	uint32_t core_bundle;
	struct wf_tree_latency {
		bool said; /* by the file */
		wf_time time;
	} latency[3]; /* of leaves, aggs and cores */
	struct wf_wires wires;
};

/* What tree is asked for. */
struct wf_tree_ask {
	const char *what;    /* in messages */
	uint32_t rails;      /* NICs of a server, or 1 */
	uint32_t leaf_rails; /* that share a leaf; 0: the fewest with leaves more than half full */
	uint32_t tiers;      /* 2, 3, or 0 for whichever is the lower that fits */
};

/* Plans the smallest tree for cfg. Returns 0, or -EINVAL with err filled. */
int wf_tree_plan(struct wf_tree *tree, const struct wf_topo_cfg *cfg, const struct wf_tree_ask *ask,
                 struct wf_err *err) WF_MUST_USE;

/*
 * All hosts on one switch, or on one in each plane, gpus of them a server; ends as wf_tree_build()
 * does.
 */
int wf_single_build(const struct wf_topo_cfg *cfg, uint32_t gpus, struct wf_mem *mem,
                    struct wf_topo **topo_p, struct wf_err *err) WF_MUST_USE;

/* Builds a planned tree; ends with wf_graph_finish(), whose contract it has. */
int wf_tree_build(const struct wf_tree *tree, const char *name, struct wf_mem *mem,
                  struct wf_topo **topo_p, struct wf_err *err) WF_MUST_USE;

#endif
