/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bond.c - follows the links of a host's ports.
 */
#include "sim/host/bond.h"

#include <string.h>

#include "base/rng.h"

#define RNG_BOND 0x626f6e64u /* domain of the hash's key: "bond" */

static enum wf_lag find_lag(const char *name)
{
	if (strcmp(name, "hash") == 0)
		return WF_LAG_HASH;
	return strcmp(name, "active-backup") == 0 ? WF_LAG_BACKUP : WF_LAG_AFFINITY;
}

void wf_bond_init(struct wf_bond *bond, const struct wf_fabric *fabric,
                  const struct wf_fabric_cfg *cfg, unsigned n_ports)
{
	bond->up = bond->used = (1u << n_ports) - 1;
	bond->failover = cfg->nic_bond_failover;
	bond->back = cfg->nic_bond_return;
	bond->lag = find_lag(cfg->nic_bond);
	bond->key = wf_rand_key(fabric->seed, RNG_BOND, 0);
	for (unsigned i = 0; i < WF_TOPO_HOST_PORTS; i++)
		bond->due[i] = WF_TIME_NEVER;
}

void wf_bond_link(struct wf_bond *bond, unsigned port, bool up, wf_time now)
{
	uint32_t bit = 1u << port;

	bond->up = up ? bond->up | bit : bond->up & ~bit;
	if (((bond->used & bit) != 0) == up)
		bond->due[port] = WF_TIME_NEVER;
	else if (!up)
		bond->due[port] = now + bond->failover;
	else
		bond->due[port] = bond->used == 0 ? now : now + bond->back;
}

wf_time wf_bond_next(const struct wf_bond *bond)
{
	wf_time next = WF_TIME_NEVER;

	for (unsigned i = 0; i < WF_TOPO_HOST_PORTS; i++)
		next = wf_min_time(next, bond->due[i]);
	return next;
}

uint32_t wf_bond_follow(struct wf_bond *bond, wf_time now)
{
	uint32_t before = bond->used;

	for (unsigned i = 0; i < WF_TOPO_HOST_PORTS; i++) {
		if (bond->due[i] > now)
			continue;
		bond->due[i] = WF_TIME_NEVER;
		bond->used = (bond->used & ~(1u << i)) | (bond->up & 1u << i);
	}
	return before & ~bond->used;
}

unsigned wf_bond_port(const struct wf_bond *bond, uint32_t host, uint32_t peer, uint16_t entropy,
                      unsigned n_ports)
{
	uint32_t number = 0;

	if (bond->lag != WF_LAG_BACKUP)
		number = wf_lag_hash(bond->key, host, peer, entropy, n_ports);
	return wf_lag_port(number, bond->used);
}
