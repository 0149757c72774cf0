/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.c - finding out what there is: breadth first from the manager's own port.
 *
 *	NodeInfo (behind a port)
 *	  a switch that is new:   NodeDescription, SwitchInfo -> (PortStateChange is cleared) ->
 *	                          PortInfo of ports 0 to n
 *	  an adapter's new port:  NodeDescription (of a new one), PortInfo
 *	PortInfo
 *	  of a switch's port with a link, whose other end is not known yet: NodeInfo behind it
 *	  of an end of paths: GUIDInfo, and SMInfo where there is a manager
 *
 * A switch's PortStateChange is cleared before its ports are looked at: what changes later sets it
 * again, and the next light sweep sees it.
 */
#include <string.h>

#include "mgmt/sm/steps_priv.h"

void wf_sm_discover(struct wf_sm *sm)
{
	sm->n_others = 0;
	wf_sm_push(sm, WF_SM_GET_NODE_INFO, WF_SUBNET_NONE, 0, 0);
}

/* ---- NodeInfo ---- */

static bool is_node(const struct wf_node_info *info)
{
	bool is_switch = info->node_type == WF_NODE_SWITCH;

	return info->node_type >= WF_NODE_CA && info->node_type <= WF_NODE_ROUTER &&
	       info->num_ports <= WF_SUBNET_MAX_PORTS && info->node_guid != 0 &&
	       info->local_port_num <= info->num_ports && (is_switch || info->local_port_num != 0);
}

/* A node that is there has to be the one that was found before by that GUID. */
static bool is_same(const struct wf_sm_view *view, uint32_t id, const struct wf_node_info *info)
{
	const struct wf_subnet_node *node = &view->subnet->nodes[id];

	return node->kind == info->node_type && node->n_ports == info->num_ports;
}

static int add_node(struct wf_sm *sm, const struct wf_node_info *info, uint32_t *id_p)
{
	struct wf_sm_view *view = sm->cur;
	int ret = wf_sm_view_add(view, info, id_p);

	if (ret != 0)
		return ret;
	if (info->node_type == WF_NODE_SWITCH) {
		struct wf_sm_switch *sw = &view->switches[view->subnet->nodes[*id_p].sw];

		*sw = (struct wf_sm_switch){ .dev = wf_sm_dev_get(sm, info->node_guid) };
		if (sw->dev == NULL)
			sm->sweep.errors++;
		ret = wf_subnet_set_guid(view->subnet, *id_p, 0, info->port_guid);
	}
	return ret;
}

/* What is asked of a node, or of an adapter's port, that was not known. */
static void ask(struct wf_sm *sm, uint32_t id, unsigned port, bool is_new)
{
	if (is_new)
		wf_sm_push(sm, WF_SM_GET_NODE_DESCRIPTION, id, port, 0);
	if (!wf_subnet_is_switch(sm->cur->subnet, id))
		wf_sm_push(sm, WF_SM_GET_PORT_INFO, id, port, 0);
	else if (is_new)
		wf_sm_push(sm, WF_SM_GET_SWITCH_INFO, id, 0, 0);
}

static void found_self(struct wf_sm *sm, const struct wf_node_info *info)
{
	uint32_t id;

	if (add_node(sm, info, &id) != 0) {
		sm->sweep.errors++;
		return;
	}
	sm->cur->self = id;
	sm->cur->self_port = info->node_type == WF_NODE_SWITCH ? 0 : info->local_port_num;
	sm->guid = info->port_guid;
	if (wf_subnet_set_guid(sm->cur->subnet, id, sm->cur->self_port, info->port_guid) != 0)
		sm->sweep.errors++;
	ask(sm, id, sm->cur->self_port, true);
}

/* A link whose ends are not those that were thought: it is left out until the next sweep. */
static void conflict(struct wf_sm *sm)
{
	sm->sweep.duplicates++;
	sm->sweep.errors++;
}

static void join(struct wf_sm *sm, const struct wf_sm_work *work, uint32_t id, unsigned number)
{
	struct wf_subnet *subnet = sm->cur->subnet;
	const struct wf_subnet_port *near = wf_subnet_port(subnet, work->node, work->port);
	const struct wf_subnet_port *far = wf_subnet_port(subnet, id, number);

	if (near->peer == WF_SUBNET_NONE && far->peer == WF_SUBNET_NONE)
		wf_subnet_join(subnet, work->node, work->port, id, number);
	else if (near->peer != id || near->peer_port != number)
		conflict(sm);
}

void wf_sm_done_node_info(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	struct wf_sm_view *view = sm->cur;
	struct wf_node_info info;
	bool is_new;
	uint32_t id, number;

	if (data == NULL)
		return;
	wf_node_info_decode(data, &info);
	if (!is_node(&info)) {
		wf_sm_tell_error(sm, work, WF_MAD_INVALID_FIELD);
		return;
	}
	if (work->node == WF_SUBNET_NONE) {
		found_self(sm, &info);
		return;
	}
	if (info.local_port_num == 0) { /* no link leads to a switch's own port */
		wf_sm_tell_error(sm, work, WF_MAD_INVALID_FIELD);
		return;
	}
	id = wf_subnet_find(view->subnet, info.node_guid);
	is_new = id == WF_SUBNET_NONE;
	if (is_new && add_node(sm, &info, &id) != 0) {
		sm->sweep.errors++;
		return;
	}
	if (!is_new && !is_same(view, id, &info)) {
		conflict(sm);
		return;
	}
	if (is_new) {
		view->nodes[id].up = work->node;
		view->nodes[id].up_port = work->port;
	}
	number = info.local_port_num;
	join(sm, work, id, number);
	if (wf_subnet_is_switch(view->subnet, id)) {
		if (is_new)
			ask(sm, id, 0, true);
		return;
	}
	if (wf_subnet_port(view->subnet, id, number)->guid == 0 &&
	    wf_subnet_set_guid(view->subnet, id, number, info.port_guid) != 0)
		sm->sweep.errors++;
	if (!view->ports[wf_sm_index(view, id, number)].known)
		ask(sm, id, number, is_new);
}

void wf_sm_done_node_description(struct wf_sm *sm, const struct wf_sm_work *work,
                                 const uint8_t *data)
{
	struct wf_subnet_node *node = &sm->cur->subnet->nodes[work->node];

	if (data == NULL)
		return;
	memcpy(node->desc, data, WF_NODE_DESCRIPTION_LEN);
	node->desc[WF_NODE_DESCRIPTION_LEN] = '\0';
}

/* ---- switches ---- */

static void ask_ports(struct wf_sm *sm, uint32_t id)
{
	for (unsigned i = 0; i <= sm->cur->subnet->nodes[id].n_ports; i++)
		wf_sm_push(sm, WF_SM_GET_PORT_INFO, id, i, 0);
}

void wf_sm_done_switch_info(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	struct wf_subnet_node *node = &sm->cur->subnet->nodes[work->node];
	struct wf_sm_switch *sw = &sm->cur->switches[node->sw];

	if (data == NULL)
		return;
	wf_switch_info_decode(data, &sw->info);
	sm->cur->nodes[work->node].whole = true;
	node->enhanced = sw->info.enhanced_port0;
	if (sw->info.port_state_change)
		wf_sm_push(sm, WF_SM_CLEAR_CHANGE, work->node, 0, 0);
	else
		ask_ports(sm, work->node);
}

void wf_sm_done_clear(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	if (data != NULL)
		wf_sm_done_set_switch_info(sm, work, data);
	ask_ports(sm, work->node);
}

/* ---- ports ---- */

static void found_port(struct wf_sm *sm, const struct wf_sm_work *work)
{
	struct wf_sm_view *view = sm->cur;
	struct wf_subnet *subnet = view->subnet;
	uint32_t index = wf_sm_index(view, work->node, work->port);
	struct wf_sm_port *port = &view->ports[index];
	bool is_switch = wf_subnet_is_switch(subnet, work->node);
	bool is_self = index == wf_sm_self(view);
	struct wf_port_info info;

	wf_sm_port_info(view, index, &info);
	port->found_state = info.port_state;
	if (is_switch ? work->port == 0 : work->port != 0) {
		port->found_lid = info.lid;
		port->found_lmc = info.lmc;
		if (info.guid_cap > 1)
			wf_sm_push(sm, WF_SM_GET_GUID_INFO, work->node, work->port, 0);
		if ((info.capability_mask & WF_CAP_SM) != 0 && !is_self)
			wf_sm_push(sm, WF_SM_GET_SM_INFO, work->node, work->port, 0);
	}
	if (work->port != 0 && (is_switch || is_self) && info.port_state > WF_PORT_DOWN &&
	    subnet->ports[index].peer == WF_SUBNET_NONE)
		wf_sm_push(sm, WF_SM_GET_NODE_INFO, work->node, work->port, 0);
}

void wf_sm_done_port_info(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	if (data == NULL)
		return;
	wf_sm_view_port(sm->cur, wf_sm_index(sm->cur, work->node, work->port), data);
	found_port(sm, work);
}

void wf_sm_done_guid_info(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	struct wf_sm_port *port = &sm->cur->ports[wf_sm_index(sm->cur, work->node, work->port)];
	struct wf_guid_info info;

	if (data == NULL)
		return;
	wf_guid_info_decode(data, &info);
	if (port->guids == NULL)
		port->guids = sm->mem->alloc(sm->mem, sizeof(info.guid));
	if (port->guids != NULL)
		memcpy(port->guids, info.guid, sizeof(info.guid));
	else
		sm->sweep.errors++;
}

/* ---- what is asked when all links are known ---- */

static void ask_pkeys(struct wf_sm *sm, uint32_t node, unsigned number)
{
	struct wf_sm_port *port = &sm->cur->ports[wf_sm_index(sm->cur, node, number)];
	unsigned blocks = wf_sm_pkey_blocks(sm->cur, node, number);

	if (blocks == 0)
		return;
	assert(port->pkeys == NULL);
	port->pkeys =
		sm->mem->alloc(sm->mem, (size_t)blocks * WF_PKEYS_PER_BLOCK * sizeof(*port->pkeys));
	if (port->pkeys == NULL) {
		sm->sweep.errors++;
		return;
	}
	port->n_pkeys = (uint16_t)(blocks * WF_PKEYS_PER_BLOCK);
	for (unsigned i = 0; i < blocks; i++)
		wf_sm_push(sm, WF_SM_GET_PKEYS, node, number, i);
}

/* P_Key tables of ends, and of the ports of switches by which adapters and routers are reached. */
void wf_sm_ask_tables(struct wf_sm *sm)
{
	const struct wf_sm_view *view = sm->cur;
	bool enforce = strcmp(sm->cfg.part_enforce, "off") != 0;

	for (uint32_t i = 0; i < view->subnet->n_ports; i++) {
		const struct wf_subnet_port *port = &view->subnet->ports[i];
		const struct wf_subnet_port *peer;

		if (!wf_sm_is_end_port(view, i))
			continue;
		ask_pkeys(sm, port->node, wf_subnet_number(view->subnet, port));
		if (wf_subnet_is_switch(view->subnet, port->node))
			continue;
		peer = wf_subnet_peer(view->subnet, port);
		if (!enforce || peer == NULL || !wf_subnet_is_switch(view->subnet, peer->node))
			continue;
		ask_pkeys(sm, peer->node, port->peer_port);
	}
}

void wf_sm_done_get_pkeys(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	struct wf_sm_port *port = &sm->cur->ports[wf_sm_index(sm->cur, work->node, work->port)];
	struct wf_pkey_table table;

	if (data == NULL)
		return;
	assert((work->arg + 1u) * WF_PKEYS_PER_BLOCK <= port->n_pkeys);
	wf_pkey_table_decode(data, &table);
	memcpy(port->pkeys + (size_t)work->arg * WF_PKEYS_PER_BLOCK, table.pkey,
	       sizeof(table.pkey));
}

/*
 * Takes out the links of what did not answer: ports without PortInfo, switches without
 * SwitchInfo. The port at the other end is then one with a link and no peer, which light sweeps
 * try again.
 */
void wf_sm_drop_halves(struct wf_sm *sm)
{
	struct wf_sm_view *view = sm->cur;
	struct wf_subnet *subnet = view->subnet;

	for (uint32_t i = 0; i < subnet->n_ports; i++) {
		const struct wf_subnet_port *port = &subnet->ports[i];
		unsigned number = wf_subnet_number(subnet, port);
		bool whole =
			!wf_subnet_is_switch(subnet, port->node) || view->nodes[port->node].whole;

		if (port->peer != WF_SUBNET_NONE && (!view->ports[i].known || !whole))
			wf_subnet_part(subnet, port->node, number);
	}
}
