/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bond.h - which ports of a host are in use, where it has several.
 *
 * A link goes down or comes up at once; the bond follows later: nic.bond_failover after a link went
 * down nothing is sent by it any more, and nic.bond_return after it came up it is used again. What
 * lasts for less than that is not noticed. Where no port is in use the first that comes up is, at
 * once.
 */
#ifndef WF_SIM_HOST_BOND_H
#define WF_SIM_HOST_BOND_H

#include "fabric/fabric.h"
#include "rdma/lag.h"

struct wf_bond {
	uint32_t up;                     /* bit per port whose link is up */
	uint32_t used;                   /* bit per port that is in use */
	wf_time due[WF_TOPO_HOST_PORTS]; /* when used follows; WF_TIME_NEVER: it has */
	wf_time failover, back;
	enum wf_lag lag;
	uint64_t key; /* of the hash */
};

/* All of n_ports are up. */
void wf_bond_init(struct wf_bond *bond, const struct wf_fabric *fabric,
                  const struct wf_fabric_cfg *cfg, unsigned n_ports);

/* The link of a port went down, or came up. */
void wf_bond_link(struct wf_bond *bond, unsigned port, bool up, wf_time now);

/* When the bond next follows; WF_TIME_NEVER: it is not behind. */
wf_time wf_bond_next(const struct wf_bond *bond);

/* It is now: the bond follows what is due. Returns the ports that are not in use any more. */
uint32_t wf_bond_follow(struct wf_bond *bond, wf_time now);

/* The port by which a flow leaves host now, of n_ports: by its hash, or the first in use. */
unsigned wf_bond_port(const struct wf_bond *bond, uint32_t host, uint32_t peer, uint16_t entropy,
                      unsigned n_ports);

#endif
