/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - what a subnet manager knows of its subnet: the graph (subnet/subnet.h), and beside it
 * what devices said and were told.
 *
 * A heavy sweep builds a new one, and only when all of it has been set does it take the place of
 * the last; so whoever looks at it (subnet administration) sees a subnet as a whole. All arrays
 * have the graph's numbers as index.
 */
#ifndef WF_MGMT_SM_VIEW_H
#define WF_MGMT_SM_VIEW_H

#include "subnet/groups.h"
#include "wire/smp.h"

struct wf_sm_node {
	struct wf_node_info info;
	uint32_t up; /* the node by which it was found; WF_SUBNET_NONE: it is the manager's own */
	uint8_t up_port; /* of that node: leads here */
	bool whole;      /* a switch whose SwitchInfo is known */
};

struct wf_sm_port {
	uint8_t info[WF_SMP_DATA_LEN]; /* PortInfo, as the port answered last */
	uint16_t *pkeys; /* its P_Key table as it is, n_pkeys entries; NULL: not read */
	uint64_t *guids; /* the first block of GUIDInfo; NULL: not read */
	uint16_t n_pkeys;
	uint16_t found_lid; /* that it had when it was found */
	uint8_t found_lmc;
	uint8_t found_state; /* enum wf_port_state */
	bool known;          /* PortInfo has been read */
	bool fresh;          /* an end of paths that was not there before this sweep */
	bool reregister;     /* its clients are to be told that they are forgotten */
	bool enforce;        /* a switch's: it is to have the P_Keys of the adapter behind it */
};

struct wf_sm_switch {
	struct wf_switch_info info;
	struct wf_sm_dev *dev; /* private: what its tables hold */
};

struct wf_sm_view {
	struct wf_mem *mem;
	struct wf_subnet *subnet;
	struct wf_groups *groups; /* for adaptive routing; NULL: none */
	struct wf_tables *tables; /* NULL: not yet routed */
	struct wf_sm_node *nodes;
	struct wf_sm_port *ports;
	struct wf_sm_switch *switches;
	uint32_t self; /* the node at which the manager is; WF_SUBNET_NONE: not yet known */
	uint8_t self_port;
	uint32_t max_nodes, max_ports, max_switches; /* room; private */
};

/* PortInfo of a port (index into the graph's), as it answered last. */
static inline void wf_sm_port_info(const struct wf_sm_view *view, uint32_t index,
                                   struct wf_port_info *info)
{
	wf_port_info_decode(view->ports[index].info, info);
}

/* Where the manager itself is: index into the graph's ports. */
static inline uint32_t wf_sm_self(const struct wf_sm_view *view)
{
	assert(view->self != WF_SUBNET_NONE);
	return view->subnet->nodes[view->self].first_port + view->self_port;
}

/*
 * Whether a port (index) is an end of paths that can be reached: a switch's port 0, another node's
 * that is connected, the manager's own.
 */
bool wf_sm_is_end_port(const struct wf_sm_view *view, uint32_t index);

/*
 * The directed route to a node by one of its ports (a switch: any): fills path[1] to path[hops].
 * Returns the hops, or -1 where there is no way.
 */
int wf_sm_route_to(const struct wf_sm_view *view, uint32_t node, unsigned port, uint8_t path[64]);

#endif
