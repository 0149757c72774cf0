/* SPDX-License-Identifier: Apache-2.0 */
/* model_port.c - what management has set of hosts' ports, for the table that programs read. */
#include <stdio.h>

#include "live/model_priv.h"
#include "mgmt/sma.h"
#include "wire/byte.h"

_Static_assert((unsigned)WF_PORT_ACTIVE == WF_LIVE_PORT_ACTIVE, "states keep their numbers");

/* Sets what is in the table to a value, and bit in what where that is another one. */
#define SET(field, value, bit)                                                                     \
	do {                                                                                       \
		if ((field) != (value)) {                                                          \
			(field) = (value);                                                         \
			what |= (bit);                                                             \
		}                                                                                  \
	} while (0)

static uint32_t set_pkeys(const struct wf_sma *sma, struct wf_live_ib *ib)
{
	unsigned n = wf_sma_node(sma)->partition_cap;
	uint32_t what = 0;

	for (unsigned i = 0; i < WF_LIVE_PKEYS && i < n; i++)
		SET(ib->pkey[i], wf_sma_pkey(sma, 1, i), WF_LIVE_PORT_PKEYS);
	return what;
}

uint32_t wf_model_host_port(const struct wf_daemon *d, uint32_t host, struct wf_live_host *h)
{
	const struct wf_dmodel *m = d->model;
	struct wf_live_ib *ib = &h->ib;
	const struct wf_port_info *info;
	const struct wf_sma *sma;
	uint32_t what;

	if (m->managed == NULL)
		return 0;
	sma = wf_managed_sma(m->managed, m->topo->host_node[host]);
	info = wf_sma_port(sma, 1);
	what = set_pkeys(sma, ib);
	SET(h->lid, info->lid, WF_LIVE_PORT_LID);
	SET(ib->lmc, info->lmc, WF_LIVE_PORT_LID);
	SET(ib->sm_lid, info->master_sm_lid, WF_LIVE_PORT_SM);
	SET(ib->sm_sl, info->master_sm_sl, WF_LIVE_PORT_SM);
	SET(ib->state, info->port_state, WF_LIVE_PORT_STATE);
	ib->phys = info->port_physical_state;
	ib->mtu = info->neighbor_mtu;
	ib->width = info->link_width_active;
	ib->speed = (uint16_t)wf_ib_speed_active(info, info);
	ib->timeout = info->subnet_timeout;
	ib->cap = info->capability_mask;
	ib->violations = info->pkey_violations;
	if (wf_be64_get(h->link_local) != info->gid_prefix) {
		wf_be64_put(h->link_local, info->gid_prefix);
		what |= WF_LIVE_PORT_GID;
	}
	if ((wf_managed_take_changes(m->managed, host) & WF_SMA_REREGISTER) != 0)
		what |= WF_LIVE_PORT_REREGISTER;
	return what;
}

void wf_model_port_managed(const struct wf_dmodel *m, uint32_t node, struct wf_live_port *port)
{
	const struct wf_sma *sma;

	if (m->managed == NULL)
		return;
	sma = wf_managed_sma(m->managed, node);
	port->state = wf_sma_port(sma, port->number)->port_state;
	port->lid = wf_sma_port(sma, port->is_switch != 0 ? 0 : port->number)->lid;
}

/* The master's LID, as most of those say who can send: the first whose port is active. */
static uint16_t master_lid(const struct wf_live_table *t)
{
	for (uint32_t i = 0; i < t->n_hosts; i++) {
		if (wf_live_is_active(t, i) && t->host[i].ib.sm_lid != 0)
			return t->host[i].ib.sm_lid;
	}
	return 0;
}

static void add_manager(const struct wf_dmodel *m, uint32_t host, struct wf_live_managers *ms)
{
	const struct wf_sm *sm = wf_managed_sm(m->managed, host);

	if (sm == NULL || ms->n == WF_LIVE_MANAGERS)
		return;
	snprintf(ms->manager[ms->n].host, sizeof(ms->manager[0].host), "%s",
	         m->d->table->host[host].name);
	ms->manager[ms->n].state = wf_sm_state(sm);
	ms->manager[ms->n].priority = wf_sm_cfg(sm)->priority;
	ms->n++;
}

void wf_model_managers(const struct wf_dmodel *m, struct wf_live_managers *ms)
{
	const struct wf_live_table *t = m->d->table;
	struct wf_managed_result result;
	int host;

	*ms = (struct wf_live_managers){ .managed = m->managed != NULL };
	if (m->managed == NULL)
		return;
	for (uint32_t i = 0; i < t->n_hosts; i++)
		add_manager(m, i, ms);
	ms->lid = master_lid(t);
	host = wf_live_host_of_lid(t, (uint16_t)ms->lid);
	if (host >= 0)
		snprintf(ms->master, sizeof(ms->master), "%s", t->host[host].name);
	wf_managed_result(m->managed, &result);
	ms->sweeps = result.sweeps;
	ms->reroutes = result.reroutes;
	ms->last = (uint64_t)result.reroute_last;
	ms->max = (uint64_t)result.reroute_max;
	ms->smps = result.smps;
	ms->smps_lost = result.lost;
}
