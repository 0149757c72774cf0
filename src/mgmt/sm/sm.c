/* SPDX-License-Identifier: Apache-2.0 */
/* sm.c - the subnet manager as others see it: packets and time in, events out. */
#include "mgmt/sm/sm.h"

#include <errno.h>
#include <string.h>

#include "mgmt/sm/steps_priv.h"

int wf_sm_create(const struct wf_sm_cfg *cfg, wf_sm_event_fn *event, void *arg, struct wf_mem *mem,
                 struct wf_sm **sm_p, struct wf_err *err)
{
	struct wf_sm *sm = mem->alloc(mem, sizeof(*sm));
	int ret;

	if (sm == NULL)
		return -ENOMEM;
	sm->mem = mem;
	sm->cfg = *cfg;
	sm->event = event;
	sm->arg = arg;
	sm->state = cfg->inactive ? WF_SM_NOT_ACTIVE : WF_SM_DISCOVERING;
	sm->next_sweep = cfg->inactive ? WF_TIME_NEVER : 0;
	sm->next_poll = WF_TIME_NEVER;
	ret = wf_sm_cfg_read(sm, err);
	if (ret == 0)
		ret = wf_parts_read(mem, cfg->partitions, cfg->partitions_name, &sm->parts, err);
	if (ret == 0)
		ret = wf_sm_wire_init(sm);
	sm->cfg.partitions = NULL;
	sm->cfg.partitions_name = NULL;
	if (ret != 0)
		wf_sm_destroy(sm);
	else
		*sm_p = sm;
	return ret;
}

void wf_sm_destroy(struct wf_sm *sm)
{
	if (sm == NULL)
		return;
	wf_sm_groups_free(sm);
	sm->mem->free(sm->mem, sm->mft);
	sm->mem->free(sm->mem, sm->lids.at);
	wf_sm_view_destroy(sm->next);
	wf_sm_view_destroy(sm->view);
	wf_sm_devs_free(sm, false);
	wf_sm_wire_fini(sm);
	wf_parts_destroy(sm->parts);
	sm->mem->free(sm->mem, sm);
}

/* ---- events ---- */

void wf_sm_event(struct wf_sm *sm, struct wf_sm_event *event)
{
	event->now = sm->now;
	event->state = sm->state;
	event->sweep = &sm->sweep;
	if (sm->event != NULL)
		sm->event(sm->arg, event);
}

void wf_sm_tell(struct wf_sm *sm, enum wf_sm_event_type type)
{
	struct wf_sm_event event = { .type = type, .guid = sm->guid, .lid = sm->lid };

	wf_sm_event(sm, &event);
}

void wf_sm_note(struct wf_sm *sm, const char *text)
{
	struct wf_sm_event event = { .type = WF_SM_EV_NOTE, .text = text };

	wf_sm_event(sm, &event);
}

/* A request of the sweep that was given up or refused. */
void wf_sm_tell_error(struct wf_sm *sm, const struct wf_sm_work *work, uint16_t status)
{
	struct wf_sm_event event = {
		.type = WF_SM_EV_ERROR,
		.kind = work->kind,
		.port = work->port,
		.status = status,
	};

	if (wf_sm_kinds[work->kind].vital)
		sm->sweep.errors++;
	else if (work->kind == WF_SM_GET_NODE_INFO)
		sm->sweep.silent++;
	if (work->node != WF_SUBNET_NONE)
		event.node_guid = sm->cur->subnet->nodes[work->node].guid;
	wf_sm_event(sm, &event);
}

/* ---- packets and time ---- */

/* Goes on with the sweep as far as nothing has to be waited for. */
static void go_on(struct wf_sm *sm)
{
	while (sm->phase != WF_SM_PHASE_IDLE && sm->queue.n == 0 && sm->under_way == 0)
		wf_sm_phase_over(sm);
	if (sm->phase != WF_SM_PHASE_IDLE || sm->state == WF_SM_STANDBY ||
	    sm->state == WF_SM_NOT_ACTIVE)
		return;
	if (sm->heavy_wanted || sm->light_wanted || sm->next_sweep <= sm->now) {
		bool heavy = sm->heavy_wanted || sm->state != WF_SM_MASTER || sm->erred ||
		             sm->first || sm->cfg.force_heavy_sweep || sm->view == NULL ||
		             sm->view->subnet->n_switches == 0;

		wf_sm_sweep_begin(sm, heavy);
	} else if (sm->mcast_wanted) {
		wf_sm_sweep_multicast(sm);
	}
}

void wf_sm_rx(struct wf_sm *sm, const struct wf_sm_addr *from, const uint8_t *mad, wf_time now)
{
	struct wf_mad head;

	assert(now >= sm->now);
	sm->now = now;
	wf_mad_decode(mad, &head);
	if (head.base_version != WF_MAD_BASE_VERSION || head.class_version != 1 ||
	    (head.mgmt_class != WF_MAD_CLASS_SUBN_LID && head.mgmt_class != WF_MAD_CLASS_SUBN_DR)) {
		sm->stats.ignored++;
		return;
	}
	if (head.method == WF_MAD_METHOD_TRAP && head.attr_id == WF_SMP_NOTICE)
		wf_sm_rx_trap(sm, from, &head, mad);
	else if (head.attr_id == WF_SMP_SM_INFO &&
	         (head.method == WF_MAD_METHOD_GET || head.method == WF_MAD_METHOD_SET))
		wf_sm_rx_sm_info(sm, from, &head, mad);
	else if (!wf_mad_is_response(head.method))
		sm->stats.ignored++;
	else if (head.method != WF_MAD_METHOD_TRAP_REPRESS && !wf_sm_answer(sm, &head, mad))
		sm->stats.stray++;
	go_on(sm);
}

void wf_sm_tick(struct wf_sm *sm, wf_time now)
{
	assert(now >= sm->now);
	sm->now = now;
	wf_sm_time_out(sm);
	if (sm->next_poll <= now)
		wf_sm_poll(sm);
	go_on(sm);
}

wf_time wf_sm_deadline(const struct wf_sm *sm)
{
	wf_time at = wf_min_time(wf_sm_wire_deadline(sm), sm->next_poll);

	if (sm->phase == WF_SM_PHASE_IDLE && sm->state != WF_SM_STANDBY &&
	    sm->state != WF_SM_NOT_ACTIVE)
		at = wf_min_time(at, sm->next_sweep);
	return at;
}

void wf_sm_resweep(struct wf_sm *sm, bool heavy, wf_time now)
{
	assert(now >= sm->now);
	sm->now = now;
	sm->heavy_wanted |= heavy;
	sm->light_wanted = true;
	go_on(sm);
}

void wf_sm_multicast(struct wf_sm *sm, wf_time now)
{
	assert(now >= sm->now);
	sm->now = now;
	sm->mcast_wanted = true;
	go_on(sm);
}

/* ---- what others look at ---- */

enum wf_sm_state wf_sm_state(const struct wf_sm *sm)
{
	return sm->state;
}

bool wf_sm_serves(const struct wf_sm *sm)
{
	return sm->state == WF_SM_MASTER && sm->view != NULL && !sm->first;
}

enum wf_sm_phase wf_sm_phase(const struct wf_sm *sm)
{
	return sm->phase;
}

const struct wf_sm_cfg *wf_sm_cfg(const struct wf_sm *sm)
{
	return &sm->cfg;
}

const struct wf_sm_view *wf_sm_view(const struct wf_sm *sm)
{
	return sm->view;
}

uint64_t wf_sm_guid(const struct wf_sm *sm)
{
	return sm->guid;
}

uint16_t wf_sm_lid(const struct wf_sm *sm)
{
	return sm->lid;
}

uint64_t wf_sm_prefix(const struct wf_sm *sm)
{
	return sm->prefix;
}

uint64_t wf_sm_key(const struct wf_sm *sm)
{
	return sm->sm_key;
}

void wf_sm_info(const struct wf_sm *sm, struct wf_sm_info *info)
{
	*info = (struct wf_sm_info){
		.guid = sm->guid,
		.sm_key = sm->sm_key,
		.act_count = sm->act_count,
		.priority = (uint8_t)sm->cfg.priority,
		.sm_state = (uint8_t)sm->state,
	};
}

bool wf_sm_other(const struct wf_sm *sm, uint32_t i, struct wf_sm_info *info)
{
	if (i >= sm->n_others)
		return false;
	*info = sm->others[i].info;
	return true;
}

const struct wf_parts *wf_sm_parts(const struct wf_sm *sm)
{
	return sm->parts;
}

int wf_sm_set_parts(struct wf_sm *sm, const char *text, const char *name, struct wf_err *err)
{
	struct wf_parts *parts;
	int ret = wf_parts_read(sm->mem, text, name, &parts, err);

	if (ret != 0)
		return ret;
	wf_parts_destroy(sm->parts);
	sm->parts = parts;
	return 0;
}

void wf_sm_stats(const struct wf_sm *sm, struct wf_sm_stats *stats_p)
{
	*stats_p = sm->stats;
}
