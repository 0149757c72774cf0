/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo.h - what is connected to what.
 *
 * A topology is a graph of hosts and switches with numbered ports. A host is one adapter of a
 * server (a NIC) with one address: it has one link, or all hosts have host_ports links, which may
 * lead to one switch or to several. Servers with several NICs are several hosts with the same
 * server number. Hosts have a dense index of their own, 0..n_hosts-1, which is their address in
 * packets; node ids run over hosts and switches together, in the order of the file that was read
 * or as the builder made them: hosts, leaves, spines or aggregation switches, cores. Ports are
 * numbered from 0: those of a built switch to hosts first, then to its own tier, then upwards.
 */
#ifndef WF_TOPO_TOPO_H
#define WF_TOPO_TOPO_H

#include <stdbool.h>

#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/param.h"

#define WF_TOPO_NAME 24
#define WF_TOPO_MAX_PORTS 1024 /* of one switch */
#define WF_TOPO_HOST_PORTS 2   /* of one host */
#define WF_TOPO_NONE UINT32_MAX

enum wf_topo_kind { WF_TOPO_HOST, WF_TOPO_SWITCH };

struct wf_topo_port {
	uint32_t peer;      /* node id at the other end */
	uint32_t link;      /* index into links */
	uint16_t peer_port; /* port number there */
	bool global;        /* between groups of a dragonfly */
};

struct wf_topo_node {
	enum wf_topo_kind kind;
	uint8_t tier;     /* 0 host, 1 leaf, 2 spine or aggregation, 3 core */
	uint32_t group;   /* pod, leaf or dragonfly group: what lies close together */
	uint32_t server;  /* hosts: which server; WF_TOPO_NONE for switches */
	uint32_t host;    /* hosts: dense host index; WF_TOPO_NONE for switches */
	bool has_latency; /* switches: a file says how long a packet takes through it */
	wf_time latency;  /* that time */
	uint32_t n_ports;
	uint32_t first_port;     /* ports[first_port .. first_port + n_ports) */
	char name[WF_TOPO_NAME]; /* "h12", "leaf3", "spine0", "pod2-agg1", "core7" */
};

struct wf_topo_link {
	uint32_t a, b; /* node ids */
	uint16_t a_port, b_port;
	uint64_t rate; /* bits/s each way */
	wf_time delay; /* propagation only */
	uint64_t loss; /* chance that it loses a packet (error_rate), in units of 2^-32 */
	unsigned line; /* of the file it was read from; 0 when built */
};

struct wf_topo {
	struct wf_mem *mem;
	uint32_t n_nodes, n_hosts, n_links, n_ports;
	uint32_t host_ports; /* of every host: 1 to WF_TOPO_HOST_PORTS */
	struct wf_topo_node *nodes;
	struct wf_topo_link *links;
	struct wf_topo_port *ports;
	uint32_t *host_node; /* host index -> node id */
};

/* What a builder is asked for. Which rows matter to which kind: docs and each row's help. */
struct wf_topo_cfg {
	char kind[24];           /* a name of wf_topo_kinds() */
	char file[256];          /* of kinds that read one, relative to the scenario */
	uint32_t hosts;          /* hosts (adapters) wanted */
	uint32_t ports;          /* of a host */
	char homing[8];          /* where they lead: a name of wf_homing_names */
	uint64_t radix;          /* ports of a switch; 0, auto: the fewest that do */
	uint64_t blocking;       /* downlink over uplink bandwidth of a leaf, in units of 2^-16 */
	uint64_t host_rate;      /* bits/s of each port of a host */
	uint64_t fabric_rate;    /* bits/s between switches; auto = host_rate */
	uint64_t host_cable;     /* mm */
	uint64_t fabric_cable;   /* mm, leaf to spine (and within a pod or group) */
	uint64_t core_cable;     /* mm, to the core, or between dragonfly groups */
	uint64_t cable_delay;    /* ps per metre */
	uint32_t gpus;           /* rail, auto: GPUs, and NICs, of a server */
	uint64_t leaf_rails;     /* rail: rails that share a leaf; auto = no leaf half empty */
	uint32_t group_switches; /* dragonfly: switches of a group (a); 0 = balanced */
	uint32_t switch_hosts;   /* dragonfly: hosts of a switch (p); 0 = balanced */
	uint32_t global_links;   /* dragonfly: global links of a switch (h); 0 = balanced */
};

extern const struct wf_param wf_topo_params[];
extern const size_t wf_topo_n_params;

/* Builds a topology, or says why it cannot be. One per kind, in its own file. */
struct wf_topo_ops {
	const char *name; /* "fat-tree" */
	const char *help; /* one line */
	/*
	 * Builds from cfg, or, for a reader (reads_file), from the len bytes of text, which were
	 * read from the file called name. On success *topo_p is owned by the caller. Returns 0,
	 * -EINVAL with err filled, or -ENOMEM.
	 */
	int (*build)(const struct wf_topo_cfg *cfg, const char *text, size_t len, const char *name,
	             struct wf_mem *mem, struct wf_topo **topo_p, struct wf_err *err);
	bool reads_file;
};

/* The table of all kinds; ends with NULL. */
const struct wf_topo_ops *const *wf_topo_kinds(void);

/* The kind called name, or NULL. */
const struct wf_topo_ops *wf_topo_find(const char *name);

/* Frees a topology. NULL is allowed. */
void wf_topo_destroy(struct wf_topo *topo);

/*
 * Checks that a topology closes: every port is connected, every host has its links and reaches
 * every other host. name is that of the file or scenario, for messages that name the line and both
 * ends. Every builder ends with it. Returns 0, -EINVAL with err filled, or -ENOMEM.
 */
int wf_topo_check(const struct wf_topo *topo, const char *name, struct wf_err *err) WF_MUST_USE;

/* The node called name, or WF_TOPO_NONE. */
uint32_t wf_topo_node_by_name(const struct wf_topo *topo, const char *name);

/*
 * Shares nodes out over parts by locality: order[0..n_nodes) lists node ids so that neighbours lie
 * close together, part[node id] says which of parts, 0..parts-1, has it; each part is a contiguous
 * run of order and the parts weigh about the same (by ports). A host lies next to its switch.
 * Deterministic. Returns 0, -EINVAL when parts is 0, or -ENOMEM.
 */
int wf_topo_partition(const struct wf_topo *topo, uint32_t parts, uint32_t *order,
                      uint32_t *part) WF_MUST_USE;

#endif
