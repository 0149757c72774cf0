/* SPDX-License-Identifier: Apache-2.0 */
/*
 * master.c - several managers on a subnet: who is master (IBTA vol. 1, 14.4.1), and OpenSM's way
 * of getting there.
 *
 * The higher one has the higher priority, or the lower GUID. A manager that comes to a subnet
 * with a master becomes its standby, even if it is the higher one; it tells the master by trap
 * 144, who sweeps, finds it, and hands over. The standby looks at the master from time to time.
 * Two masters (of subnets that have been joined) find each other when they sweep: the lower one
 * hands over, and the higher one waits for it, looking.
 *
 * Others are believed when their SM_Key is ours, or when ours is 0.
 */
#include <string.h>

#include "mgmt/route_dr.h"
#include "mgmt/sm/steps_priv.h"

static bool is_higher(const struct wf_sm *sm, const struct wf_sm_info *other)
{
	if (other->priority != sm->cfg.priority)
		return other->priority > sm->cfg.priority;
	return other->guid < sm->guid;
}

void wf_sm_become(struct wf_sm *sm, enum wf_sm_state state)
{
	if (state == sm->state)
		return;
	sm->state = state;
	switch (state) {
	case WF_SM_MASTER:
		sm->next_poll = WF_TIME_NEVER;
		sm->polled.guid = 0;
		sm->first = true;
		break;
	case WF_SM_STANDBY:
		sm->polls_in_vain = 0;
		sm->next_poll = sm->now;
		break;
	case WF_SM_DISCOVERING:
		sm->next_poll = WF_TIME_NEVER;
		sm->polled.guid = 0;
		sm->heavy_wanted = true;
		break;
	case WF_SM_NOT_ACTIVE:
		sm->next_poll = WF_TIME_NEVER;
		sm->polled.guid = 0;
		break;
	}
	wf_sm_tell(sm, WF_SM_EV_STATE);
	if (state == WF_SM_STANDBY || state == WF_SM_NOT_ACTIVE)
		wf_sm_sweep_abort(sm);
}

/* ---- others that a sweep finds ---- */

static struct wf_sm_other *find(struct wf_sm *sm, uint64_t guid)
{
	for (uint32_t i = 0; i < sm->n_others; i++) {
		if (sm->others[i].guid == guid)
			return &sm->others[i];
	}
	return NULL;
}

/* A light sweep: whatever calls for a handover makes a heavy one follow. */
static void look_at(struct wf_sm *sm, const struct wf_sm_info *info)
{
	if (sm->phase != WF_SM_PHASE_LIGHT)
		return;
	if (info->sm_state == WF_SM_MASTER ||
	    (info->sm_state == WF_SM_STANDBY && is_higher(sm, info)))
		sm->heavy_wanted = true;
}

void wf_sm_done_sm_info(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	const struct wf_subnet_port *port = wf_subnet_port(sm->cur->subnet, work->node, work->port);
	struct wf_sm_other *other;
	struct wf_sm_info info;

	if (data == NULL)
		return;
	wf_sm_info_decode(data, &info);
	if (info.guid == sm->guid || info.guid != port->guid ||
	    (sm->sm_key != 0 && info.sm_key != sm->sm_key))
		return;
	look_at(sm, &info);
	other = find(sm, info.guid);
	if (other == NULL && sm->n_others < WF_SM_OTHERS)
		other = &sm->others[sm->n_others++];
	if (other == NULL)
		return;
	*other = (struct wf_sm_other){
		.info = info,
		.guid = info.guid,
		.node = work->node,
		.port = work->port,
		.lid = sm->cur->ports[wf_sm_index(sm->cur, work->node, work->port)].found_lid,
	};
}

/* Keeps the way to a manager, to look at it later. */
static void remember(struct wf_sm *sm, const struct wf_sm_other *other)
{
	int hops = wf_sm_route_to(sm->cur, other->node, other->port, sm->polled.path);

	assert(hops >= 0); /* it has just answered */
	sm->polled.hops = (uint8_t)hops;
	sm->polled.guid = other->guid;
	sm->polled.work = (struct wf_sm_work){ .node = WF_SUBNET_NONE, .kind = WF_SM_GET_SM_INFO };
	sm->polled_lid = other->lid;
}

/* For whom a manager that discovers stands back: a master, or the highest that is higher. */
static const struct wf_sm_other *to_stand_by(const struct wf_sm *sm)
{
	const struct wf_sm_other *best = NULL;

	for (uint32_t i = 0; i < sm->n_others; i++) {
		const struct wf_sm_other *other = &sm->others[i];

		if (other->info.sm_state == WF_SM_MASTER)
			return other;
		if (other->info.sm_state == WF_SM_NOT_ACTIVE || !is_higher(sm, &other->info))
			continue;
		if (best == NULL || other->info.priority > best->info.priority ||
		    (other->info.priority == best->info.priority && other->guid < best->guid))
			best = other;
	}
	return best;
}

/* To whom a master hands over: the highest that is higher. */
static const struct wf_sm_other *to_hand_over(const struct wf_sm *sm)
{
	const struct wf_sm_other *best = NULL;

	for (uint32_t i = 0; i < sm->n_others; i++) {
		const struct wf_sm_other *other = &sm->others[i];

		if (other->info.sm_state == WF_SM_NOT_ACTIVE || !is_higher(sm, &other->info))
			continue;
		if (best == NULL || other->info.priority > best->info.priority ||
		    (other->info.priority == best->info.priority && other->guid < best->guid))
			best = other;
	}
	return best;
}

static const struct wf_sm_other *other_master(const struct wf_sm *sm)
{
	for (uint32_t i = 0; i < sm->n_others; i++) {
		if (sm->others[i].info.sm_state == WF_SM_MASTER)
			return &sm->others[i];
	}
	return NULL;
}

/* A manager that was discovering has read all. */
static enum wf_sm_verdict judge_discovering(struct wf_sm *sm)
{
	const struct wf_sm_other *other = to_stand_by(sm);
	uint16_t lid;

	if (other == NULL) {
		wf_sm_become(sm, WF_SM_MASTER);
		return WF_SM_GO_ON;
	}
	remember(sm, other);
	lid = other->lid;
	sm->lid = sm->cur->ports[wf_sm_self(sm->cur)].found_lid;
	wf_sm_become(sm, WF_SM_STANDBY);
	wf_sm_send_trap(sm, lid, false);
	return WF_SM_STOP;
}

enum wf_sm_verdict wf_sm_judge(struct wf_sm *sm)
{
	const struct wf_sm_other *other;

	if (sm->cfg.ignore_other_sm)
		sm->n_others = 0;
	if (sm->state == WF_SM_DISCOVERING)
		return judge_discovering(sm);
	other = to_hand_over(sm);
	if (other != NULL) {
		remember(sm, other);
		wf_sm_push(sm, WF_SM_SET_SM_INFO, other->node, other->port, WF_SM_HANDOVER);
		return WF_SM_HAND_OVER;
	}
	other = other_master(sm);
	if (other == NULL) {
		sm->polled.guid = 0;
		sm->next_poll = WF_TIME_NEVER;
		return WF_SM_GO_ON;
	}
	/* C14-60.2.1: the other one has to hand over its part of the subnet. */
	if (sm->polled.guid != other->guid) {
		remember(sm, other);
		sm->polls_in_vain = 0;
		sm->next_poll = sm->now;
	}
	sm->first = true;
	return WF_SM_STOP;
}

void wf_sm_fill_sm_info(struct wf_sm *sm, const struct wf_sm_work *work, uint8_t *data)
{
	struct wf_sm_info info;

	(void)work;
	wf_sm_info(sm, &info);
	wf_sm_info_encode(&info, data);
}

/* An answer to HANDOVER: the other one is master now. */
void wf_sm_done_set_sm_info(struct wf_sm *sm, const struct wf_sm_work *work, const uint8_t *data)
{
	if (data == NULL) {
		sm->erred = true;
		return;
	}
	if (work->arg == WF_SM_HANDOVER && sm->state == WF_SM_MASTER) {
		sm->sweep.handed_over = true;
		wf_sm_become(sm, WF_SM_STANDBY);
		/* The first look comes when the other one has had time to begin. */
		sm->next_poll = sm->now + sm->cfg.polling_timeout;
	}
}

/* ---- looking at the master ---- */

void wf_sm_poll(struct wf_sm *sm)
{
	sm->next_poll = sm->now + sm->cfg.polling_timeout;
	if (sm->polls_in_vain <= sm->cfg.polling_retry_number && sm->polled.guid != 0) {
		wf_sm_push_aside(sm, &sm->polled);
		sm->polls_in_vain++;
		return;
	}
	/* It is not there any more. */
	sm->polled.guid = 0;
	sm->next_poll = WF_TIME_NEVER;
	if (sm->state == WF_SM_STANDBY) {
		wf_sm_become(sm, WF_SM_DISCOVERING);
	} else {
		sm->first = true;
		sm->heavy_wanted = true;
	}
}

void wf_sm_polled(struct wf_sm *sm, const struct wf_sm_aside *aside, const uint8_t *data)
{
	struct wf_sm_info info;

	if (data == NULL || aside->guid != sm->polled.guid || sm->polled.guid == 0)
		return;
	wf_sm_info_decode(data, &info);
	if (info.guid != aside->guid || (sm->sm_key != 0 && info.sm_key != sm->sm_key))
		return;
	if (info.sm_state == WF_SM_MASTER)
		sm->polls_in_vain = 0;
	else if (info.sm_state == WF_SM_STANDBY && is_higher(sm, &info))
		sm->polls_in_vain = 0;
	if (info.sm_state != WF_SM_MASTER)
		return;
	if (sm->state == WF_SM_STANDBY && !is_higher(sm, &info))
		wf_sm_send_trap(sm, sm->polled_lid, true);
	else if (sm->state == WF_SM_MASTER && is_higher(sm, &info))
		sm->heavy_wanted = true;
	else if (sm->state == WF_SM_MASTER)
		wf_sm_send_trap(sm, sm->polled_lid, true);
}

/* ---- what others ask and tell ---- */

/* The way back to who sent a request, which came along the return path from its end. */
static void way_back(struct wf_sm_aside *aside, const uint8_t *mad)
{
	unsigned hops = mad[7] < WF_SM_PATH ? mad[7] : WF_SM_PATH - 1u;

	aside->hops = (uint8_t)hops;
	for (unsigned i = 1; i <= hops; i++)
		aside->path[i] = mad[WF_SMP_RETURN_PATH + hops + 1 - i];
}

static void answer(struct wf_sm *sm, const struct wf_sm_addr *from, const uint8_t *mad,
                   uint16_t status, bool with_key)
{
	struct wf_sm_addr to = *from;
	struct wf_sm_info info;
	struct wf_mad head;
	uint8_t *reply;

	if (mad[1] == WF_MAD_CLASS_SUBN_DR)
		to.lid = WF_LID_PERMISSIVE;
	reply = wf_sm_reply(sm, &to);

	if (reply == NULL)
		return;
	memcpy(reply, mad, WF_MAD_LEN);
	wf_mad_decode(reply, &head);
	head.method = WF_MAD_METHOD_GET_RESP;
	head.status = status;
	wf_mad_encode(&head, reply);
	wf_sm_info(sm, &info);
	if (!with_key)
		info.sm_key = 0;
	memset(reply + WF_SMP_DATA, 0, WF_SMP_DATA_LEN);
	wf_sm_info_encode(&info, reply + WF_SMP_DATA);
	if (head.mgmt_class == WF_MAD_CLASS_SUBN_DR)
		wf_dr_answer(reply);
}

/* Whether a manager in this state may be told so by one in that state. */
static bool is_legal(const struct wf_sm *sm, uint32_t control, const struct wf_sm_info *by)
{
	if (control == WF_SM_ACKNOWLEDGE)
		return by->sm_state == WF_SM_STANDBY || by->sm_state == WF_SM_MASTER;
	if (by->sm_state != WF_SM_MASTER)
		return false;
	switch (control) {
	case WF_SM_HANDOVER:
		return sm->state != WF_SM_NOT_ACTIVE;
	case WF_SM_DISABLE:
	case WF_SM_DISCOVER:
		return sm->state == WF_SM_STANDBY;
	case WF_SM_STANDBY_CONTROL:
		return sm->state == WF_SM_NOT_ACTIVE;
	default:
		return false;
	}
}

static void handed_over(struct wf_sm *sm, const struct wf_sm_aside *back)
{
	sm->polled.guid = 0;
	sm->next_poll = WF_TIME_NEVER;
	sm->heavy_wanted = true;
	if (sm->state == WF_SM_DISCOVERING)
		return;
	if (sm->state == WF_SM_STANDBY)
		wf_sm_become(sm, WF_SM_MASTER);
	sm->first = true;
	if (back != NULL)
		wf_sm_push_aside(sm, back);
}

static void told(struct wf_sm *sm, uint32_t control, const struct wf_sm_info *by,
                 const struct wf_sm_aside *back)
{
	switch (control) {
	case WF_SM_HANDOVER:
		handed_over(sm, back);
		break;
	case WF_SM_ACKNOWLEDGE:
		if (sm->phase == WF_SM_PHASE_HANDING_OVER && by->guid == sm->polled.guid) {
			sm->sweep.handed_over = true;
			wf_sm_become(sm, WF_SM_STANDBY);
		}
		break;
	case WF_SM_DISABLE:
		wf_sm_become(sm, WF_SM_NOT_ACTIVE);
		break;
	case WF_SM_DISCOVER:
		wf_sm_become(sm, WF_SM_DISCOVERING);
		break;
	case WF_SM_STANDBY_CONTROL:
		if (back != NULL) {
			sm->polled = *back;
			sm->polled.work.kind = WF_SM_GET_SM_INFO;
			sm->polled_lid = 0;
		}
		wf_sm_become(sm, WF_SM_STANDBY);
		break;
	default:
		break;
	}
}

void wf_sm_rx_sm_info(struct wf_sm *sm, const struct wf_sm_addr *from, const struct wf_mad *head,
                      const uint8_t *mad)
{
	struct wf_sm_aside back = { .work = { .node = WF_SUBNET_NONE,
		                              .kind = WF_SM_SET_SM_INFO,
		                              .arg = WF_SM_ACKNOWLEDGE } };
	bool directed = head->mgmt_class == WF_MAD_CLASS_SUBN_DR, has_key;
	struct wf_sm_info by;
	struct wf_smp smp;

	wf_smp_decode(mad, &smp);
	has_key = sm->m_key == 0 || smp.mkey == sm->m_key;
	if (!has_key && (head->method == WF_MAD_METHOD_SET || sm->cfg.m_key_protection_level > 1)) {
		sm->stats.ignored++;
		return;
	}
	sm->stats.sm_info_asked++;
	if (head->method == WF_MAD_METHOD_GET) {
		answer(sm, from, mad, WF_MAD_OK, has_key || sm->cfg.m_key_protection_level == 0);
		return;
	}
	wf_sm_info_decode(mad + WF_SMP_DATA, &by);
	if ((sm->sm_key != 0 && by.sm_key != sm->sm_key) || !is_legal(sm, head->attr_mod, &by)) {
		answer(sm, from, mad, WF_MAD_INVALID_FIELD, false);
		return;
	}
	answer(sm, from, mad, WF_MAD_OK, true);
	back.guid = by.guid;
	if (directed)
		way_back(&back, mad);
	told(sm, head->attr_mod, &by, directed ? &back : NULL);
}
