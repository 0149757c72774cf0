/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.c - SL to VL and VL arbitration tables: as qos_* say, or, where the routing needs more
 * than one lane (dfsssp), service level i by lane i.
 *
 * A link's tables are written when it comes up, and when the manager has just become master; they
 * are not read.
 */
#include <string.h>

#include "mgmt/sm/steps_priv.h"

#define HALF WF_VL_ARB_PER_BLOCK

static bool lanes_needed(const struct wf_sm *sm, const struct wf_sm_view *view)
{
	return sm->cfg.qos || (view->tables != NULL && view->tables->n_vls > 1);
}

/* The lanes that a port has in use: 2^n, or fifteen. */
static unsigned lanes_of(const struct wf_port_info *info)
{
	unsigned n = info->operational_vls;

	return n == 0 ? 1 : n > 4 ? 15 : 1u << (n - 1);
}

/* A lane that a port has: OpenSM takes the lower bits. */
static uint8_t fold(uint8_t vl, const struct wf_port_info *info)
{
	unsigned n = lanes_of(info);

	return (uint8_t)(vl & (n == 15 ? 15 : n - 1));
}

static void make_mapping(const struct wf_sm *sm, const struct wf_sm_view *view, uint32_t index,
                         struct wf_sl_to_vl *table)
{
	unsigned lanes = view->tables != NULL ? view->tables->n_vls : 1;
	unsigned max = sm->cfg.qos_max_vls > 0 ? sm->cfg.qos_max_vls : 1;
	struct wf_port_info info;

	wf_sm_port_info(view, index, &info);
	for (unsigned sl = 0; sl < WF_SLS; sl++) {
		uint8_t vl = sm->sl2vl[sl];

		if (lanes > 1)
			vl = (uint8_t)(sl % lanes);
		if (vl != WF_VL_MGMT && vl >= max)
			vl = (uint8_t)(vl % max);
		table->vl[sl] = vl == WF_VL_MGMT ? vl : fold(vl, &info);
	}
}

static void make_arbitration(const struct wf_sm *sm, const struct wf_sm_view *view, uint32_t index,
                             unsigned block, struct wf_vl_arb *table)
{
	const struct wf_vl_arb_entry *from = block <= 2 ? sm->vlarb_low : sm->vlarb_high;
	bool second = block == 2 || block == 4;
	struct wf_port_info info;
	unsigned cap;

	wf_sm_port_info(view, index, &info);
	cap = block <= 2 ? info.vl_arb_low_cap : info.vl_arb_high_cap;
	memset(table, 0, sizeof(*table));
	for (unsigned i = 0; i < HALF && i + (second ? HALF : 0) < cap; i++) {
		table->entry[i] = from[i + (second ? HALF : 0)];
		table->entry[i].vl = fold(table->entry[i].vl, &info);
	}
}

void wf_sm_fill_sl_to_vl(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data)
{
	struct wf_sl_to_vl table;

	make_mapping(sm, sm->cur, wf_sm_index(sm->cur, work->node, work->port), &table);
	wf_sl_to_vl_encode(&table, data);
}

void wf_sm_fill_vl_arb(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data)
{
	struct wf_vl_arb table;

	make_arbitration(sm, sm->cur, wf_sm_index(sm->cur, work->node, work->port), work->arg,
	                 &table);
	wf_vl_arb_encode(&table, data);
}

/* Whether there are lanes to be set of a port. */
static bool is_set(const struct wf_sm *sm, uint32_t index)
{
	return lanes_needed(sm, sm->view) && sm->view->ports[index].known &&
	       sm->view->subnet->ports[index].peer != WF_SUBNET_NONE;
}

bool wf_sm_sl_to_vl(const struct wf_sm *sm, uint32_t index, struct wf_sl_to_vl *table)
{
	uint32_t node = sm->view->subnet->ports[index].node;
	struct wf_port_info own;

	if (!is_set(sm, index))
		return false;
	wf_sm_port_info(sm->view,
	                wf_subnet_is_switch(sm->view->subnet, node) ? wf_sm_index(sm->view, node, 0)
	                                                            : index,
	                &own);
	if ((own.capability_mask & WF_CAP_SL_MAPPING) == 0)
		return false;
	make_mapping(sm, sm->view, index, table);
	return true;
}

bool wf_sm_vl_arb(const struct wf_sm *sm, uint32_t index, unsigned block, struct wf_vl_arb *table)
{
	struct wf_port_info info;

	wf_sm_port_info(sm->view, index, &info);
	if (!is_set(sm, index) || !sm->cfg.qos || info.vl_cap <= 1)
		return false;
	make_arbitration(sm, sm->view, index, block, table);
	return true;
}

static void push_arbitration(struct wf_sm *sm, uint32_t node, unsigned port,
                             const struct wf_port_info *info)
{
	if (!sm->cfg.qos || info->vl_cap <= 1)
		return;
	for (unsigned i = 0; i < 2; i++) {
		if (info->vl_arb_low_cap > i * HALF)
			wf_sm_push(sm, WF_SM_SET_VL_ARB, node, port, 1 + i);
		if (info->vl_arb_high_cap > i * HALF)
			wf_sm_push(sm, WF_SM_SET_VL_ARB, node, port, 3 + i);
	}
}

static void push_mapping(struct wf_sm *sm, uint32_t node, unsigned port,
                         const struct wf_port_info *info)
{
	const struct wf_subnet *subnet = sm->cur->subnet;
	struct wf_port_info own = *info;

	if (wf_subnet_is_switch(subnet, node))
		wf_sm_port_info(sm->cur, wf_sm_index(sm->cur, node, 0), &own);
	if ((own.capability_mask & WF_CAP_SL_MAPPING) == 0)
		return;
	if (!wf_subnet_is_switch(subnet, node)) {
		wf_sm_push(sm, WF_SM_SET_SL_TO_VL, node, port, 0);
		return;
	}
	for (unsigned in = 0; in <= subnet->nodes[node].n_ports; in++)
		wf_sm_push(sm, WF_SM_SET_SL_TO_VL, node, port, in);
}

void wf_sm_want_lanes(struct wf_sm *sm)
{
	const struct wf_sm_view *view = sm->cur;
	bool others = sm->first || sm->erred || sm->view == NULL || sm->view->tables == NULL ||
	              (view->tables != NULL && sm->view->tables->n_vls != view->tables->n_vls);

	if (!lanes_needed(sm, view))
		return;
	for (uint32_t i = 0; i < view->subnet->n_ports; i++) {
		const struct wf_subnet_port *port = &view->subnet->ports[i];
		const struct wf_sm_port *has = &view->ports[i];
		struct wf_port_info info;

		if (!has->known || port->peer == WF_SUBNET_NONE ||
		    (!others && has->found_state == WF_PORT_ACTIVE))
			continue;
		wf_sm_port_info(view, i, &info);
		push_arbitration(sm, port->node, wf_subnet_number(view->subnet, port), &info);
		push_mapping(sm, port->node, wf_subnet_number(view->subnet, port), &info);
	}
}
