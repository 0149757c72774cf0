/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subnet.h - a topology as an InfiniBand subnet. The other way is a kind of topology,
 * ibnetdiscover.
 *
 * Port i of a node is port i + 1 there. Hosts are adapters, called "h12 weft0", whose GUIDs are
 * those that live fabrics give them; switches are called as they are here. Links get the width and
 * speed whose rate is the nearest that is not below theirs.
 */
#ifndef WF_TOPO_SUBNET_H
#define WF_TOPO_SUBNET_H

#include "subnet/subnet.h"
#include "topo/topo.h"

/*
 * Node GUIDs: of hosts by their index, of switches by their number among nodes. A host's first port
 * has the node's, and each further one is so much more. The agents of a managed fabric have the
 * same (wire/addr.h).
 */
#define WF_SUBNET_HOST_GUID(host) (UINT64_C(0x00c0defffe000000) + (uint64_t)(host) + 1)
#define WF_SUBNET_SWITCH_GUID(node) (UINT64_C(0x00c0defffe800000) + (uint64_t)(node))
#define WF_SUBNET_PORT_GUID(host, port)                                                            \
	(WF_SUBNET_HOST_GUID(host) + ((port)-1) * UINT64_C(0x400000))

/*
 * Nothing has a LID. name is for messages. On success *subnet_p is owned by the caller. Returns 0,
 * -EINVAL with err filled where a switch has more ports than InfiniBand has numbers, or -ENOMEM.
 */
int wf_topo_to_subnet(const struct wf_topo *topo, const char *name, struct wf_mem *mem,
                      struct wf_subnet **subnet_p, struct wf_err *err) WF_MUST_USE;

#endif
