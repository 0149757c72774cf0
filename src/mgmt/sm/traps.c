/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traps.c - what ports report: every trap is answered (TrapRepress), counted, told to
 * subscribers, and acted upon.
 *
 *	128 link state   a heavy sweep at once (sweep_on_trap)
 *	144 change       the description is read again; for anything else a heavy sweep
 *	129 to 131       a port with errors: a heavy sweep when it has reported ten times, and
 *	                 disabled at 250 with babbling_port_policy
 *	any other        a light sweep
 *
 * A trap that comes again and again (ten times, never more than five seconds apart; a minute for
 * 129 to 131) is answered and otherwise ignored.
 */
#include <string.h>

#include "mgmt/sm/steps_priv.h"

#define OFTEN 10
#define BABBLES 250
#define SUPPRESS (5 * WF_S)
#define SUPPRESS_PORT (60 * WF_S)
#define CHANGE_SM_PRIORITY 0x0008 /* ChangeFlags of trap 144 */

const uint16_t wf_sm_trap_numbers[WF_SM_TRAPS] = {
	WF_TRAP_LINK_STATE,      WF_TRAP_LINK_INTEGRITY, WF_TRAP_BUFFER_OVERRUN,
	WF_TRAP_FLOW_WATCHDOG,   WF_TRAP_LOCAL_CHANGE,   WF_TRAP_SYSTEM_IMAGE_GUID,
	WF_TRAP_BAD_MKEY,        WF_TRAP_BAD_PKEY,       WF_TRAP_BAD_QKEY,
	WF_TRAP_BAD_SWITCH_PKEY, WF_TRAP_GID_IN_SERVICE, WF_TRAP_GID_OUT_OF_SERVICE,
};

/* ---- how often ---- */

static uint64_t mix(uint64_t h, uint64_t x)
{
	h ^= x;
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/* What makes two traps the same: who sent them, and every byte. */
static uint64_t key_of(uint16_t lid, const uint8_t *notice)
{
	uint64_t h = mix(0, lid);

	for (unsigned i = 0; i < WF_SMP_DATA_LEN; i += 8)
		h = mix(h, wf_be64_get(notice + i));
	return h | 1;
}

/* How often it came before this one; one more is remembered. */
static uint32_t times_before(struct wf_sm *sm, uint64_t key, wf_time keep)
{
	struct wf_sm_tracked *at = NULL;
	uint32_t n = 0;

	for (unsigned i = 0; i < WF_SM_TRACKED; i++) {
		struct wf_sm_tracked *t = &sm->tracked[i];

		if (t->key == key && t->until >= sm->now) {
			at = t;
			n = t->n;
			break;
		}
		if (at == NULL || t->until < at->until)
			at = t;
	}
	if (keep < SUPPRESS_PORT && n >= OFTEN && at->until - sm->now > SUPPRESS)
		keep = SUPPRESS_PORT;
	*at = (struct wf_sm_tracked){ .key = key, .until = sm->now + keep, .n = n + 1 };
	return n;
}

/* ---- what is done ---- */

static bool is_port_trap(uint16_t number)
{
	return number >= WF_TRAP_LINK_INTEGRITY && number <= WF_TRAP_FLOW_WATCHDOG;
}

/* An aside to a port of the view; false where there is no way to it. */
static bool aside_to(struct wf_sm *sm, const struct wf_subnet_port *port, enum wf_sm_kind kind,
                     struct wf_sm_aside *aside)
{
	int hops;

	*aside = (struct wf_sm_aside){ .work = { .node = WF_SUBNET_NONE, .kind = (uint8_t)kind },
		                       .guid = sm->view->subnet->nodes[port->node].guid };
	hops = wf_sm_route_to(sm->view, port->node, wf_subnet_number(sm->view->subnet, port),
	                      aside->path);
	aside->hops = (uint8_t)(hops < 0 ? 0 : hops);
	return hops >= 0;
}

/* A node's description, which it had announced, came. */
void wf_sm_described(struct wf_sm *sm, const struct wf_sm_aside *aside, const uint8_t *data)
{
	uint32_t id =
		sm->view == NULL ? WF_SUBNET_NONE : wf_subnet_find(sm->view->subnet, aside->guid);

	if (id == WF_SUBNET_NONE)
		return;
	memcpy(sm->view->subnet->nodes[id].desc, data, WF_NODE_DESCRIPTION_LEN);
	sm->view->subnet->nodes[id].desc[WF_NODE_DESCRIPTION_LEN] = '\0';
}

/* Trap 144 says that only the description has changed; true when that is all. */
static bool only_described(struct wf_sm *sm, uint16_t lid, const struct wf_notice *notice)
{
	struct wf_trap_change change;
	struct wf_sm_aside aside;
	struct wf_port_info info;
	uint32_t index;

	wf_trap_change_decode(notice->details, &change);
	index = sm->view == NULL ? WF_SUBNET_NONE : wf_subnet_by_lid(sm->view->subnet, lid);
	if (!change.other_local_changes ||
	    (change.change_flags & WF_CHANGE_NODE_DESCRIPTION) == 0 || index == WF_SUBNET_NONE ||
	    !aside_to(sm, &sm->view->subnet->ports[index], WF_SM_GET_NODE_DESCRIPTION, &aside))
		return false;
	wf_sm_push_aside(sm, &aside);
	wf_sm_port_info(sm->view, index, &info);
	return (change.change_flags & ~WF_CHANGE_NODE_DESCRIPTION) == 0 &&
	       change.capability_mask == info.capability_mask;
}

/* Disables the port that keeps reporting errors, or the end of its link that is nearer. */
static void disable(struct wf_sm *sm, const struct wf_notice *notice)
{
	const struct wf_sm_view *view = sm->view;
	const struct wf_subnet_port *port, *peer;
	uint8_t path[WF_SM_PATH];
	struct wf_sm_aside aside;
	struct wf_port_info info;
	struct wf_trap_port at;
	uint32_t index;

	wf_trap_port_decode(notice->details, &at);
	index = view == NULL ? WF_SUBNET_NONE : wf_subnet_by_lid(view->subnet, at.lid);
	if (index == WF_SUBNET_NONE ||
	    at.port > view->subnet->nodes[view->subnet->ports[index].node].n_ports)
		return;
	port = wf_subnet_port(view->subnet, view->subnet->ports[index].node, at.port);
	peer = wf_subnet_peer(view->subnet, port);
	if (peer != NULL && wf_sm_route_to(view, peer->node, wf_subnet_number(view->subnet, peer),
	                                   path) < wf_sm_route_to(view, port->node, at.port, path))
		port = peer;
	if (!aside_to(sm, port, WF_SM_SET_PORT_INFO, &aside))
		return;
	wf_sm_port_info(view, (uint32_t)(port - view->subnet->ports), &info);
	info.port_state = WF_PORT_DOWN;
	info.port_physical_state = WF_PHYS_DISABLED;
	aside.mod = wf_subnet_number(view->subnet, port);
	aside.has_data = true;
	wf_port_info_encode(&info, aside.data);
	wf_sm_push_aside(sm, &aside);
	sm->heavy_wanted = true;
}

static void act(struct wf_sm *sm, uint16_t lid, const struct wf_notice *notice, bool often)
{
	if (notice->is_generic && notice->trap_number == WF_TRAP_LOCAL_CHANGE &&
	    only_described(sm, lid, notice))
		return;
	if (notice->is_generic && notice->trap_number == WF_TRAP_SYSTEM_IMAGE_GUID)
		return;
	if (!sm->cfg.sweep_on_trap)
		return;
	if (notice->is_generic && (often || notice->trap_number == WF_TRAP_LINK_STATE ||
	                           notice->trap_number == WF_TRAP_LOCAL_CHANGE))
		sm->heavy_wanted = true;
	sm->light_wanted = true;
}

/* ---- in and out ---- */

static void repress(struct wf_sm *sm, const struct wf_sm_addr *from, const uint8_t *mad)
{
	uint8_t *reply = wf_sm_reply(sm, from);
	struct wf_mad head;

	if (reply == NULL)
		return;
	memcpy(reply, mad, WF_MAD_LEN);
	wf_mad_decode(reply, &head);
	head.method = WF_MAD_METHOD_TRAP_REPRESS;
	head.status = 0;
	wf_mad_encode(&head, reply);
	wf_smp_encode(&(struct wf_smp){ .mkey = sm->m_key }, reply);
}

static void count(struct wf_sm *sm, const struct wf_notice *notice)
{
	for (unsigned i = 0; i < WF_SM_TRAPS; i++) {
		if (notice->is_generic && notice->trap_number == wf_sm_trap_numbers[i]) {
			sm->stats.traps[i]++;
			return;
		}
	}
	sm->stats.traps[WF_SM_TRAPS]++;
}

void wf_sm_rx_trap(struct wf_sm *sm, const struct wf_sm_addr *from, const struct wf_mad *head,
                   const uint8_t *mad)
{
	struct wf_sm_addr to = *from;
	struct wf_notice notice;
	bool port_trap, often;
	uint32_t before;

	if (sm->state != WF_SM_MASTER || head->mgmt_class != WF_MAD_CLASS_SUBN_LID) {
		sm->stats.ignored++;
		return;
	}
	wf_notice_decode(mad + WF_SMP_DATA, &notice);
	if (to.lid == 0) /* of the manager's own node */
		to.lid = sm->lid;
	count(sm, &notice);
	repress(sm, &to, mad);
	port_trap = notice.is_generic && is_port_trap(notice.trap_number);
	before = times_before(sm, key_of(to.lid, mad + WF_SMP_DATA),
	                      port_trap ? SUPPRESS_PORT : SUPPRESS);
	often = port_trap && before == OFTEN;
	if (port_trap && before >= BABBLES && sm->cfg.babbling_port_policy)
		disable(sm, &notice);
	if (before >= OFTEN && !often) {
		sm->stats.traps_suppressed++;
		return;
	}
	act(sm, to.lid, &notice, often);
	if (!port_trap) {
		struct wf_sm_event event = { .type = WF_SM_EV_TRAP,
			                     .lid = to.lid,
			                     .notice = &notice };

		wf_sm_event(sm, &event);
	}
}

void wf_sm_send_trap(struct wf_sm *sm, uint16_t lid, bool priority)
{
	struct wf_sm_addr to = { .lid = lid, .sl = (uint8_t)sm->cfg.sm_sl };
	struct wf_trap_change change = {
		.lid = sm->lid,
		.other_local_changes = priority,
		.change_flags = priority ? CHANGE_SM_PRIORITY : 0,
	};
	struct wf_notice notice = {
		.is_generic = true,
		.type = WF_NOTICE_INFO,
		.producer_type = WF_NODE_CA,
		.trap_number = WF_TRAP_LOCAL_CHANGE,
		.issuer_lid = sm->lid,
	};
	struct wf_mad head = {
		.base_version = WF_MAD_BASE_VERSION,
		.mgmt_class = WF_MAD_CLASS_SUBN_LID,
		.class_version = 1,
		.method = WF_MAD_METHOD_TRAP,
		.attr_id = WF_SMP_NOTICE,
	};
	uint8_t *mad;

	if (lid == 0 || sm->lid == 0)
		return;
	mad = wf_sm_reply(sm, &to);
	if (mad == NULL)
		return;
	head.tid = UINT64_C(0x80000000) | ++sm->traps_sent;
	wf_mad_encode(&head, mad);
	wf_smp_encode(&(struct wf_smp){ .mkey = sm->m_key }, mad);
	wf_trap_change_encode(&change, notice.details);
	wf_notice_encode(&notice, mad + WF_SMP_DATA);
}
