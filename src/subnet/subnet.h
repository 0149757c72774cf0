/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subnet.h - an InfiniBand subnet as a graph: what a subnet manager finds out, or a file says of
 * it.
 *
 * Nodes are switches, adapters and routers. The ports of a node are numbered as InfiniBand has it:
 * from 1, and 0 is a switch's own, by which it is managed (an adapter's port 0 stands for nothing).
 * A switch has one LID, that of its port 0; the ports of adapters and routers have one each, or
 * 2^LMC in a row. What is connected to what is kept at both ends. Forwarding tables are not in the
 * graph but beside it (subnet/tables.h), so that several can be made for one.
 *
 * A graph may be wrong: GUIDs that come twice, LIDs that two ports want, one-sided links. It holds
 * what it was told, the first who wants a LID or a GUID is found by it, and subnet/check.h says
 * what is the matter. Ids are dense and never change; what has gone is disconnected.
 */
#ifndef WF_SUBNET_SUBNET_H
#define WF_SUBNET_SUBNET_H

#include <stdbool.h>

#include "base/base.h"
#include "base/mem.h"

#define WF_SUBNET_NONE UINT32_MAX
#define WF_SUBNET_MAX_PORTS 254 /* of one node, without port 0; in a table, 255 is no port */
#define WF_SUBNET_MAX_NODES (UINT32_C(1) << 20)
#define WF_SUBNET_DESC 65 /* bytes of a description, with a NUL behind it */
#define WF_SUBNET_MAX_LMC 7

#define WF_LID_MAX 0xbfff /* the last for one port; multicast follows */

enum wf_subnet_kind { WF_SUBNET_ADAPTER = 1, WF_SUBNET_SWITCH, WF_SUBNET_ROUTER }; /* NodeType */

/* Signalling of a lane. What there is of them: wf_subnet_speeds. */
enum wf_subnet_speed {
	WF_SUBNET_SPEED_NONE, /* not known */
	WF_SUBNET_SDR,
	WF_SUBNET_DDR,
	WF_SUBNET_QDR,
	WF_SUBNET_FDR10,
	WF_SUBNET_FDR,
	WF_SUBNET_EDR,
	WF_SUBNET_HDR,
	WF_SUBNET_NDR,
	WF_SUBNET_XDR,
};

/* PortInfo:PortState and PortPhysicalState; 0: not known. */
enum wf_subnet_state { WF_SUBNET_DOWN = 1, WF_SUBNET_INIT, WF_SUBNET_ARMED, WF_SUBNET_ACTIVE };

struct wf_subnet_speed_row {
	const char *name; /* as tools print it: "EDR" */
	uint64_t rate;    /* data bits/s of a lane, after its line code */
};

extern const struct wf_subnet_speed_row wf_subnet_speeds[]; /* by enum wf_subnet_speed */
#define WF_SUBNET_N_SPEEDS (WF_SUBNET_XDR + 1)

struct wf_subnet_port {
	uint64_t guid; /* of adapters' and routers' ports, and a switch's port 0; 0: not known */
	uint32_t node; /* whose it is */
	uint32_t peer; /* node at the other end; WF_SUBNET_NONE: nothing is connected */
	uint32_t line; /* of the file that says so; 0: none does */
	uint16_t lid;  /* 0: has none; of a switch, that of port 0 */
	uint8_t peer_port;  /* port number there */
	uint8_t lmc;        /* has 2^lmc LIDs, from lid on */
	uint8_t width;      /* lanes in use: 1, 2, 4, 8, 12; 0: not known */
	uint8_t speed;      /* enum wf_subnet_speed in use */
	uint8_t width_best; /* most lanes it can have; 0: not known */
	uint8_t speed_best; /* fastest it can do */
	uint8_t state;      /* enum wf_subnet_state; 0: not known */
	uint8_t phys;       /* PortPhysicalState: 2 polling, 3 disabled, 5 link up; 0: not known */
};

struct wf_subnet_node {
	uint64_t guid;
	uint64_t system;     /* GUID of what it is a part of; 0: not known */
	uint32_t vendor;     /* IEEE's number */
	uint32_t first_port; /* ports[first_port + number], number 0 to n_ports */
	uint32_t sw;         /* which of the switches it is; WF_SUBNET_NONE: no switch */
	uint32_t line;       /* of the file that has it; 0: none */
	uint16_t device;
	uint8_t kind; /* enum wf_subnet_kind */
	uint8_t n_ports;
	bool enhanced; /* a switch's port 0 is one */
	char desc[WF_SUBNET_DESC];
};

/* A link of which a file does not say the same at both ends. */
enum wf_subnet_doubt_kind {
	WF_SUBNET_ONE_SIDED,    /* the other end says nothing; it is connected all the same */
	WF_SUBNET_CONTRADICTED, /* the other end says it leads elsewhere; it is not connected */
};

struct wf_subnet_doubt {
	enum wf_subnet_doubt_kind kind;
	uint32_t line; /* where it says so */
	uint32_t a, b; /* port a_port of node a leads to port b_port of node b */
	uint8_t a_port, b_port;
};

struct wf_subnet_guids { /* a table from GUIDs to numbers; private */
	uint64_t *guid;
	uint32_t *value; /* WF_SUBNET_NONE: free */
	uint32_t n, size;
};

struct wf_subnet {
	struct wf_mem *mem;
	uint32_t n_nodes, n_switches, n_ports; /* ports with those numbered 0 */
	struct wf_subnet_node *nodes;
	struct wf_subnet_port *ports;
	uint32_t *switches; /* node id of each switch, in the order in which they were added */
	uint32_t *port_of;  /* by LID, to WF_LID_MAX: index into ports, or WF_SUBNET_NONE */
	uint16_t top_lid;   /* highest in use; 0: none is */
	struct wf_subnet_doubt *doubts;
	uint32_t n_doubts;
	struct wf_pm *pm; /* by index into ports: what they have counted; NULL: not known */
	uint32_t max_nodes, max_switches, max_ports, max_doubts; /* room; private */
	struct wf_subnet_guids node_guids, port_guids;
};

/* An empty graph. On success *subnet_p is owned by the caller. Returns 0 or -ENOMEM. */
int wf_subnet_create(struct wf_mem *mem, struct wf_subnet **subnet_p) WF_MUST_USE;

/* Frees it. NULL is allowed. */
void wf_subnet_destroy(struct wf_subnet *subnet);

/*
 * Adds a node that is like *like, whose kind, n_ports, GUIDs, numbers and description are used and
 * nothing else; nothing is connected to its ports yet. The GUID of a switch's port 0 is the node's
 * unless it is set afterwards. Returns 0 with its id in *id_p, -EINVAL when there are
 * WF_SUBNET_MAX_NODES or it has more than WF_SUBNET_MAX_PORTS, or -ENOMEM.
 */
int wf_subnet_add(struct wf_subnet *subnet, const struct wf_subnet_node *like,
                  uint32_t *id_p) WF_MUST_USE;

/* Port number of a node, 0 to its n_ports. */
static inline struct wf_subnet_port *wf_subnet_port(const struct wf_subnet *subnet, uint32_t id,
                                                    unsigned number)
{
	assert(id < subnet->n_nodes && number <= subnet->nodes[id].n_ports);
	return &subnet->ports[subnet->nodes[id].first_port + number];
}

static inline unsigned wf_subnet_number(const struct wf_subnet *subnet,
                                        const struct wf_subnet_port *port)
{
	return (unsigned)(port - subnet->ports) - subnet->nodes[port->node].first_port;
}

/* The port at the other end of a link, or NULL where nothing is connected. */
static inline struct wf_subnet_port *wf_subnet_peer(const struct wf_subnet *subnet,
                                                    const struct wf_subnet_port *port)
{
	return port->peer == WF_SUBNET_NONE ? NULL
	                                    : wf_subnet_port(subnet, port->peer, port->peer_port);
}

/* Whether packets pass a port's link, as far as is known. */
static inline bool wf_subnet_goes(const struct wf_subnet *subnet, const struct wf_subnet_port *port)
{
	const struct wf_subnet_port *peer = wf_subnet_peer(subnet, port);

	return peer != NULL && port->state != WF_SUBNET_DOWN && peer->state != WF_SUBNET_DOWN;
}

/* Whether a port (index) is to have LIDs: a switch's port 0, another node's that is connected. */
bool wf_subnet_is_end(const struct wf_subnet *subnet, uint32_t index);

static inline bool wf_subnet_is_switch(const struct wf_subnet *subnet, uint32_t id)
{
	return subnet->nodes[id].sw != WF_SUBNET_NONE;
}

/* Connects two ports, each of which has nothing connected to it. A port may be its own peer's. */
void wf_subnet_join(struct wf_subnet *subnet, uint32_t a, unsigned a_port, uint32_t b,
                    unsigned b_port);

/* Takes out the link of a port, where it has one. */
void wf_subnet_part(struct wf_subnet *subnet, uint32_t id, unsigned number);

/*
 * Gives LIDs lid to lid + 2^lmc - 1 to a port (a switch's: number 0) instead of those it has; lid 0
 * takes them away. The port has them either way; where another has one of them already, that one
 * is still found by it, and -EEXIST is returned, else 0. -EINVAL, and nothing is done, where they
 * are not below WF_LID_MAX, or not a multiple of 2^lmc.
 */
int wf_subnet_set_lid(struct wf_subnet *subnet, uint32_t id, unsigned number, uint16_t lid,
                      uint8_t lmc);

/* Gives a port its GUID, by which it is then found. Returns 0 or -ENOMEM. */
int wf_subnet_set_guid(struct wf_subnet *subnet, uint32_t id, unsigned number,
                       uint64_t guid) WF_MUST_USE;

/* The node whose GUID it is, the first if there are several, or WF_SUBNET_NONE. */
uint32_t wf_subnet_find(const struct wf_subnet *subnet, uint64_t guid);

/* The port whose GUID it is: index into ports, or WF_SUBNET_NONE. */
uint32_t wf_subnet_find_port(const struct wf_subnet *subnet, uint64_t guid);

/* The port that has a LID: index into ports, or WF_SUBNET_NONE. */
static inline uint32_t wf_subnet_by_lid(const struct wf_subnet *subnet, unsigned lid)
{
	return lid > WF_LID_MAX ? WF_SUBNET_NONE : subnet->port_of[lid];
}

/* Keeps a doubt. Returns 0 or -ENOMEM. */
int wf_subnet_doubt(struct wf_subnet *subnet, const struct wf_subnet_doubt *doubt) WF_MUST_USE;

/* Makes room for what ports have counted: subnet->pm, nothing known. Returns 0 or -ENOMEM. */
int wf_subnet_want_pm(struct wf_subnet *subnet) WF_MUST_USE;

/* Data bits/s of width lanes at a speed; 0: not known. */
uint64_t wf_subnet_rate(unsigned width, unsigned speed);

/* Below 0 where a comes before b in OpenSM's tables: it compares GUIDs from the last byte on. */
int wf_subnet_guid_order(uint64_t a, uint64_t b);

/*
 * Gives LIDs to the ports that have none, or have them of another LMC or at the same time as
 * others, as OpenSM does: first to the port called first (index into ports; WF_SUBNET_NONE: to
 * none), then in the order of their GUIDs, each the lowest that are free (subnet/lids.h). All ports
 * get lmc but a switch's, unless it is enhanced and has it already. Returns 0, -ENOSPC when there
 * are too few, or -ENOMEM.
 */
int wf_subnet_assign_lids(struct wf_subnet *subnet, unsigned lmc, uint32_t first) WF_MUST_USE;

#endif
