/* SPDX-License-Identifier: Apache-2.0 */
/*
 * light.c - looking whether anything has changed: switches say so themselves, descriptions are read
 * again, links whose other end did not answer are tried, and other managers are asked.
 */
#include <string.h>

#include "mgmt/sm/steps_priv.h"

static void look_behind(struct wf_sm *sm, uint32_t node)
{
	const struct wf_sm_view *view = sm->cur;
	const struct wf_subnet *subnet = view->subnet;

	if (!wf_subnet_is_switch(subnet, node) && node != view->self)
		return;
	for (unsigned i = 1; i <= subnet->nodes[node].n_ports; i++) {
		const struct wf_subnet_port *port = wf_subnet_port(subnet, node, i);

		if (node == view->self && !wf_subnet_is_switch(subnet, node) &&
		    i != view->self_port)
			continue;
		if (port->peer == WF_SUBNET_NONE && port->state > WF_SUBNET_DOWN)
			wf_sm_push(sm, WF_SM_GET_NODE_INFO, node, i, 0);
	}
}

/* The port by which a node is asked what does not depend on the port. */
static unsigned port_to(const struct wf_sm_view *view, uint32_t node)
{
	if (node == view->self)
		return view->self_port;
	if (wf_subnet_is_switch(view->subnet, node))
		return 0;
	for (unsigned i = 1; i <= view->subnet->nodes[node].n_ports; i++) {
		if (wf_subnet_port(view->subnet, node, i)->peer != WF_SUBNET_NONE)
			return i;
	}
	return 0;
}

void wf_sm_light(struct wf_sm *sm)
{
	const struct wf_subnet *subnet = sm->cur->subnet;

	for (uint32_t i = 0; i < subnet->n_switches; i++)
		wf_sm_push(sm, WF_SM_GET_SWITCH_INFO, subnet->switches[i], 0, 0);
	for (uint32_t i = 0; i < subnet->n_nodes; i++)
		wf_sm_push(sm, WF_SM_GET_NODE_DESCRIPTION, i, port_to(sm->cur, i), 0);
	for (uint32_t i = 0; i < subnet->n_nodes; i++)
		look_behind(sm, i);
	for (uint32_t i = 0; i < sm->n_others && !sm->cfg.ignore_other_sm; i++)
		wf_sm_push(sm, WF_SM_GET_SM_INFO, sm->others[i].node, sm->others[i].port, 0);
}

void wf_sm_light_done(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	struct wf_switch_info info;

	switch (work->kind) {
	case WF_SM_GET_SWITCH_INFO:
		if (data == NULL) {
			sm->heavy_wanted = true;
			break;
		}
		wf_switch_info_decode(data, &info);
		if (info.port_state_change)
			sm->heavy_wanted = true;
		break;
	case WF_SM_GET_NODE_DESCRIPTION:
		if (data == NULL)
			sm->erred = true;
		else
			wf_sm_done_node_description(sm, work, data);
		break;
	case WF_SM_GET_NODE_INFO:
		/* It answers now: there is something behind that port. */
		if (data != NULL)
			sm->heavy_wanted = true;
		break;
	case WF_SM_GET_SM_INFO:
		wf_sm_done_sm_info(sm, work, data);
		break;
	default: /* no other work is queued in a light sweep */
		assert(false);
		break;
	}
	if (sm->heavy_wanted) /* the rest need not be known */
		wf_sm_wire_drop(sm);
}
