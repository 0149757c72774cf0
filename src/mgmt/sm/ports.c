/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ports.c - PortInfo: what a port is told, in three steps: all but its state, then that it is
 * armed, then that it is active. What is sent is what the port said last, with what has to be
 * different.
 */
#include <string.h>

#include "mgmt/sm/steps_priv.h"

#define POLLING 2                           /* LinkDownDefaultState */
#define EXTENDED_SPEEDS (UINT32_C(1) << 31) /* of the modifier: LinkSpeedExtEnabled counts */
#define WIDTH_ALL 255
#define SPEED_ALL 15
#define SPEED_EXT_ALL 31

/* A port with what decides about it. */
struct port_at {
	const struct wf_sm_view *view;
	uint32_t index;
	unsigned number;
	uint32_t node;
	const struct wf_subnet_port *port, *peer; /* peer: NULL where there is none */
	bool is_switch, external, esp0;
};

static struct port_at port_at(const struct wf_sm *sm, uint32_t index)
{
	const struct wf_sm_view *view = sm->cur;
	struct port_at at = { .view = view, .index = index };

	at.port = &view->subnet->ports[index];
	at.node = at.port->node;
	at.number = wf_subnet_number(view->subnet, at.port);
	at.peer = wf_subnet_peer(view->subnet, at.port);
	at.is_switch = wf_subnet_is_switch(view->subnet, at.node);
	at.external = at.is_switch && at.number != 0;
	at.esp0 = at.is_switch && at.number == 0 &&
	          view->switches[view->subnet->nodes[at.node].sw].info.enhanced_port0;
	return at;
}

static uint8_t code(uint32_t value)
{
	return wf_narrow_u8(value);
}

static bool has_ext_speeds(const struct wf_sm_view *view, const struct wf_subnet_port *port)
{
	bool is_switch = wf_subnet_is_switch(view->subnet, port->node);
	uint32_t index = is_switch ? wf_sm_index(view, port->node, 0)
	                           : (uint32_t)(port - view->subnet->ports);
	struct wf_port_info info;

	wf_sm_port_info(view, index, &info);
	return (info.capability_mask & WF_CAP_EXTENDED_SPEEDS) != 0;
}

/* ---- all but the state ---- */

static void want_end(const struct wf_sm *sm, const struct port_at *at, struct wf_port_info *info)
{
	const struct wf_sm_cfg *cfg = &sm->cfg;

	info->mkey = sm->m_key;
	info->mkey_lease_period = wf_narrow_u16(cfg->m_key_lease_period);
	info->mkey_protect_bits = code(cfg->m_key_protection_level);
	info->gid_prefix = sm->prefix;
	info->lid = at->port->lid;
	info->lmc = at->port->lmc;
	info->master_sm_lid = sm->lid;
	info->master_sm_sl = code(cfg->sm_sl);
	info->subnet_timeout = code(cfg->subnet_timeout);
}

static void want_speeds(const struct wf_sm *sm, const struct port_at *at, struct wf_port_info *info)
{
	const struct wf_sm_cfg *cfg = &sm->cfg;

	if (cfg->force_link_width != 0 && (cfg->force_link_width != WIDTH_ALL ||
	                                   info->link_width_enabled != info->link_width_supported))
		info->link_width_enabled = code(cfg->force_link_width);
	if (cfg->force_link_speed != 0 && (cfg->force_link_speed != SPEED_ALL ||
	                                   info->link_speed_enabled != info->link_speed_supported))
		info->link_speed_enabled = code(cfg->force_link_speed);
	if (cfg->force_link_speed_ext != 0 && at->peer != NULL &&
	    has_ext_speeds(at->view, at->port) && has_ext_speeds(at->view, at->peer) &&
	    (cfg->force_link_speed_ext != SPEED_EXT_ALL ||
	     info->link_speed_ext_enabled != info->link_speed_ext_supported))
		info->link_speed_ext_enabled = code(cfg->force_link_speed_ext);
}

/* Both ends of a link can do it. */
static void want_lanes_and_mtu(const struct wf_sm *sm, const struct port_at *at,
                               struct wf_port_info *info)
{
	struct wf_port_info far;
	uint8_t mtu = info->mtu_cap, vls = info->vl_cap;

	if (at->peer != NULL) {
		wf_sm_port_info(at->view, (uint32_t)(at->peer - at->view->subnet->ports), &far);
		mtu = far.mtu_cap < mtu ? far.mtu_cap : mtu;
		vls = far.vl_cap < vls ? far.vl_cap : vls;
	} else {
		vls = info->operational_vls;
		mtu = at->esp0 ? mtu : info->neighbor_mtu;
	}
	vls = vls == 0 ? 1 : vls;
	info->neighbor_mtu = mtu == 0 ? 1 : mtu;
	info->operational_vls = vls > sm->cfg.max_op_vls ? code(sm->cfg.max_op_vls) : vls;
}

static void want_lifetimes(const struct wf_sm *sm, const struct port_at *at,
                           struct wf_port_info *info)
{
	const struct wf_sm_cfg *cfg = &sm->cfg;
	bool leaf;

	if (at->view->subnet->nodes[at->node].kind == WF_SUBNET_ROUTER)
		info->hoq_life = code(cfg->leaf_head_of_queue_lifetime);
	if (!at->external || at->peer == NULL)
		return;
	leaf = !wf_subnet_is_switch(at->view->subnet, at->peer->node);
	info->hoq_life =
		code(leaf ? cfg->leaf_head_of_queue_lifetime : cfg->head_of_queue_lifetime);
	info->vl_stall_count = code(leaf ? cfg->leaf_vl_stall_count : cfg->vl_stall_count);
}

static void want_enforcement(const struct wf_sm *sm, const struct port_at *at,
                             struct wf_port_info *info)
{
	bool on = at->view->ports[at->index].enforce;
	const char *how = sm->cfg.part_enforce;

	if (!at->external)
		return;
	info->partition_enforcement_inbound =
		on && (strcmp(how, "both") == 0 || strcmp(how, "in") == 0);
	info->partition_enforcement_outbound =
		on && (strcmp(how, "both") == 0 || strcmp(how, "out") == 0);
}

static void want_config(const struct wf_sm *sm, const struct port_at *at, struct wf_port_info *info)
{
	uint8_t mtu = info->neighbor_mtu, vls = info->operational_vls;

	if (at->is_switch && !at->external && !at->esp0)
		return;
	want_speeds(sm, at, info);
	want_lanes_and_mtu(sm, at, info);
	want_lifetimes(sm, at, info);
	want_enforcement(sm, at, info);
	info->local_phy_errors = code(sm->cfg.local_phy_errors_threshold);
	info->overrun_errors = code(sm->cfg.overrun_errors_threshold);
	if (sm->cfg.qos)
		info->vl_high_limit = info->vl_cap <= 1 ? 0 : code(sm->cfg.qos_high_limit);
	/* A link that is in use has to be set up anew for these (7.2.7). */
	if (at->peer != NULL && (mtu != info->neighbor_mtu || vls != info->operational_vls) &&
	    at->port->state > WF_SUBNET_INIT)
		info->port_state = WF_PORT_DOWN;
}

/* ---- the three steps ---- */

/* What a port is to be sent; false when it needs nothing. */
static bool want(const struct wf_sm *sm, const struct port_at *at, enum wf_sm_stage stage,
                 struct wf_port_info *info)
{
	const struct wf_sm_port *port = &at->view->ports[at->index];
	struct wf_port_info was;
	uint8_t old[WF_SMP_DATA_LEN], new[WF_SMP_DATA_LEN];

	wf_sm_port_info(at->view, at->index, info);
	info->port_state = WF_PORT_NOP;
	info->port_physical_state = WF_PHYS_NOP;
	info->client_reregister = false;
	was = *info;
	info->link_down_default_state = POLLING;
	/*
	 * Keys and LIDs are never those that a port says it has: a wrong key would stay for ever.
	 */
	if (!at->external)
		want_end(sm, at, info);
	switch (stage) {
	case WF_SM_STAGE_CONFIG:
		if (at->is_switch && !at->external && !at->esp0)
			info->link_down_default_state = was.link_down_default_state;
		want_config(sm, at, info);
		/* A switch's own port needs not become active first. */
		info->client_reregister = at->is_switch && port->reregister;
		wf_port_info_encode(&was, old);
		wf_port_info_encode(info, new);
		return memcmp(old, new, sizeof(old)) != 0;
	case WF_SM_STAGE_ARM:
		info->port_state = WF_PORT_ARMED;
		return at->peer != NULL && at->port->state == WF_SUBNET_INIT;
	case WF_SM_STAGE_ACTIVE:
		info->client_reregister = !at->is_switch && port->reregister;
		if (at->peer != NULL && at->port->state == WF_SUBNET_ARMED)
			info->port_state = WF_PORT_ACTIVE;
		return info->port_state == WF_PORT_ACTIVE || info->client_reregister;
	}
	return false;
}

/* Ends that are new here, or that had another manager or LID. */
static void note_reregister(struct wf_sm *sm, const struct port_at *at)
{
	struct wf_sm_port *port = &sm->cur->ports[at->index];
	struct wf_port_info info;

	if (at->external || sm->cfg.no_clients_rereg)
		return;
	wf_sm_port_info(at->view, at->index, &info);
	port->reregister = (info.capability_mask & WF_CAP_CLIENT_REREGISTER) != 0 &&
	                   (sm->first || port->fresh || info.master_sm_lid != sm->lid ||
	                    info.lid != at->port->lid);
}

void wf_sm_want_ports(struct wf_sm *sm, enum wf_sm_stage stage)
{
	struct wf_sm_view *view = sm->cur;
	struct wf_port_info info;

	for (uint32_t i = 0; i < view->subnet->n_ports; i++) {
		struct port_at at = port_at(sm, i);

		if (!view->ports[i].known)
			continue;
		if (at.external ? at.peer == NULL || at.port->state <= WF_SUBNET_DOWN
		                : !wf_sm_is_end_port(view, i))
			continue;
		if (stage == WF_SM_STAGE_CONFIG)
			note_reregister(sm, &at);
		if (want(sm, &at, stage, &info))
			wf_sm_push(sm, WF_SM_SET_PORT_INFO, at.node, at.number, stage);
	}
}

uint32_t wf_sm_port_modifier(const struct wf_sm *sm, const struct wf_sm_work *work)
{
	const struct wf_subnet_port *port = wf_subnet_port(sm->cur->subnet, work->node, work->port);

	return work->port | (has_ext_speeds(sm->cur, port) ? EXTENDED_SPEEDS : 0);
}

void wf_sm_fill_port_info(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data)
{
	struct port_at at = port_at(sm, wf_sm_index(sm->cur, work->node, work->port));
	struct wf_port_info info;

	(void)want(sm, &at, (enum wf_sm_stage)work->arg, &info);
	wf_port_info_encode(&info, data);
}

/* A link goes down at both ends. */
static void goes_down(struct wf_sm *sm, const struct port_at *at)
{
	struct wf_subnet_port *ports = sm->cur->subnet->ports;

	ports[at->index].state = WF_SUBNET_INIT;
	if (at->peer != NULL)
		ports[at->peer - ports].state = WF_SUBNET_INIT;
}

void wf_sm_done_set_port_info(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	struct port_at at = port_at(sm, wf_sm_index(sm->cur, work->node, work->port));
	struct wf_port_info info;

	if (data == NULL)
		return;
	(void)want(sm, &at, (enum wf_sm_stage)work->arg, &info);
	wf_sm_view_port(sm->cur, at.index, data);
	if (work->arg == WF_SM_STAGE_CONFIG && info.port_state == WF_PORT_DOWN)
		goes_down(sm, &at);
	if (work->arg == WF_SM_STAGE_ACTIVE && info.port_state == WF_PORT_ACTIVE) {
		if (at.port->state == WF_SUBNET_ACTIVE)
			sm->sweep.links_up++;
		else
			sm->sweep.errors++;
	}
}
